"""One device of several that share each layer: tensor parallel, and experts spread over devices.

    config, degree            ->  the config of what one device holds: traced as any other
    bytes by phase, degree    ->  the same where each device keeps its share of the experts

Tensor parallel (Shoeybi et al. 2019): heads, the middle of an MLP, and the vocabulary are divided;
norms and the stream between layers are whole on each device. Experts (Lepikhin et al. 2021): each
device keeps whole experts, and with tokens that spread evenly it computes as many as before. What
an exchange holds for a moment is not counted.
"""

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from batchlab.memory._shards import Shard

__all__ = ["expert_share", "of_experts", "rank_of"]

EXPERT = re.compile(r"\.experts\.")
HEADS, KEYS = "num_attention_heads", "num_key_value_heads"
DIVIDED = ("intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size")


def rank_of(config: Any, degree: int) -> Any:
    """The config of one of `degree` devices; refused where the model does not divide."""
    if degree == 1:
        return config
    made = copy.deepcopy(config)
    heads, vocabulary = getattr(config, HEADS, None), config.vocab_size
    if heads is None or (getattr(config, "layer_types", None) and _mixes(config)):
        raise ValueError(f"{config.model_type}: how its layers divide over devices is not known")
    sizes = {HEADS: heads}
    sizes |= {name: size for name in DIVIDED if isinstance(size := getattr(config, name, 0), int)}
    for name, size in sizes.items():
        if size % degree:
            raise ValueError(f"{name} {size:,} is not a multiple of {degree} devices that share it")
        if size:
            setattr(made, name, size // degree)
    keys = getattr(config, KEYS, None) or heads
    if max(keys, degree) % min(keys, degree):
        raise ValueError(f"{KEYS} {keys:,} and {degree} devices do not divide each other")
    setattr(made, KEYS, max(keys // degree, 1))  # fewer heads than devices are held twice
    made.head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    made.vocab_size = -(-vocabulary // degree)
    for name in ("pad_token_id", "bos_token_id", "eos_token_id"):
        setattr(made, name, 0 if getattr(config, name, None) is not None else None)
    return made


def _mixes(config: Any) -> bool:
    """Whether some layers are no attention: theirs is another division."""
    return any("attention" not in str(one) for one in config.layer_types)


def expert_share(named: Iterable[tuple[str, Tensor]]) -> float:
    """Of the bytes of all weights, those of experts."""
    sizes = [(bool(EXPERT.search(name)), one.nbytes) for name, one in named]
    total = sum(size for _, size in sizes)
    return sum(size for expert, size in sizes if expert) / total if total else 0.0


def of_experts(
    by_phase: Mapping[str, Mapping[str, int]], share: float, degree: int, shard: Shard | None
) -> dict[str, dict[str, int]]:
    """Every phase with a share of the experts; what ZeRO divides already stays as it is."""
    stage = shard.stage if shard else 0
    whole = {"optimizer": 1, "gradients": 2, "parameters": 3}
    kept = 1 - share + share / degree
    return {
        phase: {
            kind: int(size * kept) if kind in whole and stage < whole[kind] else size
            for kind, size in kinds.items()
        }
        for phase, kinds in by_phase.items()
    }
