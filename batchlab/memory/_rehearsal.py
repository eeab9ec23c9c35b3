"""Take a real step that leaves nothing behind: its peak, or that memory ended.

    model, micro-batches  ->  peak bytes, or None and what the device said

The optimizer is real and holds its states; its learning rate and weight decay are 0, so no weight
moves. Gradients, states and cached blocks are gone afterwards, whether the step ended or failed,
and the random state is what it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from batchlab.loop import MicroBatch
from batchlab.memory._counter import measure_peak
from batchlab.memory._step import How, make_states, states_of
from batchlab.memory.limits import collect_memory, out_of_memory

__all__ = ["Rehearsal"]


@dataclass(frozen=True)
class Rehearsal:
    """The step of one model."""

    model: nn.Module
    how: How

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
            optimizer = self.how.optimizer(self.model, together=device.type == "cuda")
            make_states(optimizer)
            scaler = None
            if self.how.autocast == torch.float16:  # a scale of 1 skips no step here
                scaler = torch.amp.GradScaler(device.type, init_scale=1.0)
            held = [*self.model.parameters(), *self.model.buffers(), *states_of(optimizer)]
            held += [value for batch in micro_batches for value in batch.values()]

            def step() -> None:
                self.how.take(self.model, optimizer, micro_batches, scaler=scaler)

            return measure_peak(step, device, held=held), ""
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
            return None, (str(error) or "MemoryError").splitlines()[0]
