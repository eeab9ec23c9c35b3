"""Take a real step that leaves nothing behind: its peak, or that memory ended.

    model, micro-batches  ->  peak bytes, or None and what the device said

The optimizer is real and holds its states; its learning rate and weight decay are 0, so no weight
moves. Gradients, states and cached blocks are gone afterwards, whether the step ended or failed,
and the random state is what it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from batchlab import loop
from batchlab.loop import MicroBatch
from batchlab.memory._counter import measure_peak
from batchlab.memory.limits import collect_memory, out_of_memory
from batchlab.memory.trace import make_states

__all__ = ["MakeOptimizer", "Rehearsal"]

MakeOptimizer = Callable[[Any], torch.optim.Optimizer]


@dataclass(frozen=True)
class Rehearsal:
    """The step of one model; `make_optimizer` takes parameters, AdamW if not given."""

    model: nn.Module
    make_optimizer: MakeOptimizer | None = None
    autocast: torch.dtype | None = None
    accumulate_in: torch.dtype | None = None

    def peak(self, micro_batches: Sequence[MicroBatch]) -> tuple[int | None, str]:
        """Peak bytes and "", or None and what the device said when its memory ended."""
        device = next(self.model.parameters()).device
        collect_memory(str(device))
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            found = self._take(micro_batches, device)
        self.model.zero_grad(set_to_none=True)
        collect_memory(str(device))  # only here are the frames of a failed step gone
        return found

    def _take(
        self, micro_batches: Sequence[MicroBatch], device: torch.device
    ) -> tuple[int | None, str]:
        try:
            optimizer = self._optimizer()
            make_states(self.model, optimizer)
            states = [value for state in optimizer.state.values() for value in state.values()]
            held = [*self.model.parameters(), *self.model.buffers(), *states]
            held += micro_batches[0].values()
            how: Any = {"autocast": self.autocast, "accumulate_in": self.accumulate_in}

            def step() -> None:
                loop.train_step(self.model, optimizer, micro_batches, **how)

            return measure_peak(step, device, held=held), ""
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            return None, (str(error) or "MemoryError").splitlines()[0]

    def _optimizer(self) -> torch.optim.Optimizer:
        optimizer = (self.make_optimizer or torch.optim.AdamW)(self.model.parameters())
        for group in optimizer.param_groups:
            group.update({name: 0.0 for name in ("lr", "weight_decay") if name in group})
        return optimizer
