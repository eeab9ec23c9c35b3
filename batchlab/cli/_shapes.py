"""The sizes of a model from its config, without its weights.

a folder, a config or a hub name  ->  ModelShape
"""

from batchlab import model
from batchlab.memory import ModelShape

__all__ = ["LLAMA_8B", "shape_of"]

# Llama 3 8B: Grattafiori et al. 2024, Table 3
LLAMA_8B = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)


def shape_of(name: str | None) -> tuple[str, ModelShape]:
    """Name and sizes of a model; without a name, of Llama 3 8B."""
    return (
        ("Llama 3 8B", LLAMA_8B)
        if name is None
        else (name, ModelShape.from_config(model.config_of(name)))
    )
