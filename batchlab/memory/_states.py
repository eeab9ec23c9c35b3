"""What training holds before the first row: weights, gradients and optimizer, in any dtype.

    model or config, dtype, optimizer  ->  Held: bytes, and those of the largest layer

The optimizer makes its states on fake tensors; nothing is allocated, and no step is taken.
"""

from dataclasses import dataclass
from typing import Any

from batchlab.memory._layers import extrapolated
from batchlab.memory._models import config_of, depths, model_of, units_of, without_memory
from batchlab.memory._step import Setting, make_states, states_of
from batchlab.memory._tasks import task_of

__all__ = ["Held", "predict_states"]


@dataclass(frozen=True)
class Held:
    """Bytes that no number of rows changes."""

    parameters: int
    gradients: int
    optimizer: int
    largest_layer: int  # what must be whole at once where weights are loaded or gathered

    @property
    def total_bytes(self) -> int:
        return self.parameters + self.gradients + self.optimizer


def predict_states(source: Any, **options: Any) -> Held:
    """Bytes of weights, gradients and optimizer states; the options are those of `predict_peak`.

    A model whose weights are all frozen holds its weights alone.
    """
    setting = Setting(rows=1, length=2, task=task_of(source), **options)
    shallow = depths(source, setting)
    found = [_held(source, setting, depth) for depth in shallow]
    kinds = found[0]
    if len(found) > 1:
        traced = [{"held": one} for one in found]
        layers = int(config_of(source).num_hidden_layers)
        kinds = extrapolated(traced, shallow, layers)["held"]
    units = units_of(model_of(source, setting, shallow[0]))
    return Held(**kinds, largest_layer=max(one.parameters for one in units))


def _held(source: Any, setting: Setting, depth: int) -> dict[str, int]:
    from torch._subclasses.fake_tensor import FakeTensorMode

    model = model_of(source, setting, depth)
    with FakeTensorMode(allow_non_fake_inputs=True), without_memory(model, depth):
        trained = [one for one in model.parameters() if one.requires_grad]
        states: list[Any] = []
        if trained:
            optimizer = setting.optimizer(model, together=False)
            make_states(optimizer)
            states = [one for one in states_of(optimizer) if hasattr(one, "nbytes")]
        return {
            "parameters": sum(one.nbytes for one in model.parameters()),
            "gradients": sum(one.nbytes for one in trained),
            "optimizer": sum(one.nbytes for one in states),
        }
