"""The processes that share one step, as the step sees them.

    counts, micro-batches, gradients of this process  ->  those of all

`loop` knows no process group: `cluster.distributed.world` makes such an object for plain
processes, DistributedDataParallel and FSDP2.
"""

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from batchlab.counts import IGNORE, MicroBatch

__all__ = ["StepWorld", "filler", "the_world"]

WRAPPERS = {"DistributedDataParallel": "ddp", "FSDPModule": "fsdp"}


class StepWorld:
    """One process alone; a subclass says what is different with several.

    loss_factor  multiplies each loss, for a wrapper that divides gradients by its processes
    wide         whether gradients may be added in a wider dtype before they are summed
    several      whether another process may have what this one lacks: a missing gradient is 0
    """

    loss_factor = 1.0
    wide = True
    several = False

    def sum(self, value: Tensor) -> Tensor:
        """A small tensor summed over processes, in which each of them must ask for it."""
        return value

    def micro_batches(self, own: int) -> int:
        """How many this process must run, `own` or more: the rest are fillers without targets."""
        return own

    def piece(self, last: bool) -> AbstractContextManager[None]:
        """Stands around forward and backward of a micro-batch; gradients travel at the last."""
        return contextlib.nullcontext()

    def gradients(self, own: Sequence[Tensor]) -> list[Tensor]:
        """Gradients summed over processes, in the order of the parameters."""
        return list(own)


class _Summed(StepWorld):
    """Processes that sum by one function, a tensor at a time."""

    several = True

    def __init__(self, total: Callable[[Tensor], Tensor]) -> None:
        self._total = total

    def sum(self, value: Tensor) -> Tensor:
        return self._total(value)

    def gradients(self, own: Sequence[Tensor]) -> list[Tensor]:
        return [self._total(one) for one in own]


def the_world(
    model: nn.Module, world: StepWorld | None, total: Callable[[Tensor], Tensor] | None
) -> StepWorld:
    """The world of a step; a model that talks by itself to other processes must come with it."""
    if world is not None and total is not None:
        raise ValueError("give world or sum_over_processes: each sums over all processes")
    if world is not None:
        return world
    named = {WRAPPERS[one.__name__] for one in type(model).__mro__ if one.__name__ in WRAPPERS}
    if named and torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
        raise ValueError(
            f"a model under {named.pop().upper()} sums gradients by itself, in every backward: "
            "with unequal micro-batches it would wait for ever. Give "
            "world=batchlab.cluster.distributed.world(model)"
        )
    return _Summed(total) if total else StepWorld()


def filler(like: MicroBatch | None) -> MicroBatch:
    """A micro-batch that trains nothing: one row of `like` (or one slot) without a target."""
    ids = like["input_ids"][:1, :1] if like else torch.zeros(1, 1, dtype=torch.int64)
    return {"input_ids": torch.zeros_like(ids), "labels": torch.full_like(ids, IGNORE)}
