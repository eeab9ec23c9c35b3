"""The processes of a `torch.distributed` world, as `loop.train_step` needs them.

    a model: plain, under DistributedDataParallel, or under FSDP2  ->  StepWorld

The gradient of a step is a sum over its target tokens, whoever holds them. Wrappers divide by the
number of processes instead; here each loss is multiplied by it, or the division is switched off.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from batchlab.loop import StepWorld

__all__ = ["Plain", "Replicated", "Sharded", "world"]

BUCKET_BYTES = 64 * 2**20  # of one all-reduce: one by one, 20 small gradients take 25 times as long


class Plain(StepWorld):
    """Every process holds the whole model; gradients are summed once a step, in flat buckets."""

    several = True

    def sum(self, value: Tensor) -> Tensor:
        value = value.clone()
        dist.all_reduce(value)
        return value

    def gradients(self, own: Sequence[Tensor]) -> list[Tensor]:
        for bucket in _buckets(own):
            flat = torch.cat([one.flatten() for one in bucket])
            dist.all_reduce(flat)
            for one, summed in zip(bucket, flat.split([o.numel() for o in bucket]), strict=True):
                one.copy_(summed.view_as(one))
        return list(own)


class _Wrapped(Plain):
    """A wrapper sums the gradients itself, during the last backward."""

    wide = False

    def gradients(self, own: Sequence[Tensor]) -> list[Tensor]:
        return list(own)


class Replicated(_Wrapped):
    """DistributedDataParallel: it averages, and is silent until the last micro-batch.

    A process without a micro-batch runs one filler: its replica must take part in the sum.
    """

    def __init__(self, model: DistributedDataParallel) -> None:
        self._model = model
        self.loss_factor = float(dist.get_world_size())

    def micro_batches(self, own: int) -> int:
        return max(own, 1)

    @contextlib.contextmanager
    def piece(self, last: bool) -> Iterator[None]:
        with contextlib.nullcontext() if last else self._model.no_sync():
            yield


class Sharded(_Wrapped):
    """FSDP2: weights are gathered in every micro-batch, so all processes run equally many.

    every  reduce gradients in every micro-batch: more traffic, and no whole gradient is held
    """

    def __init__(self, model: nn.Module, *, every: bool = False) -> None:
        self._parts: list[Any] = [one for one in model.modules() if hasattr(one, "unshard")]
        self._every = every
        for part in self._parts:  # neither setter reaches the modules inside
            part.set_force_sum_reduction_for_comms(True)
            part.set_gradient_divide_factor(1.0)

    def micro_batches(self, own: int) -> int:
        most = torch.tensor(max(own, 1), device=_device_of_the_group())
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
        return int(most)

    @contextlib.contextmanager
    def piece(self, last: bool) -> Iterator[None]:
        for part in self._parts:
            part.set_requires_gradient_sync(last or self._every, recurse=False)
            part.set_is_last_backward(last)
        yield


def world(model: nn.Module, *, reduce_every: bool = False) -> StepWorld:
    """The world of this process, for `loop.train_step(..., world=...)`; one process is a world too.

    model         plain, DistributedDataParallel, or sharded by `fully_shard`
    reduce_every  FSDP2 only: sum gradients in every micro-batch, so that none is held whole

    The step is exact for unequal micro-batches and target tokens, and for a process that has none.
    `torch.distributed` must be initialised, as under torchrun; else this is one process alone.
    """
    sharded = any(hasattr(one, "unshard") for one in model.modules())
    if reduce_every and not sharded:
        raise ValueError("reduce_every is for a model under fully_shard: others hold whole sums")
    if not dist.is_initialized():
        return StepWorld()
    if isinstance(model, DistributedDataParallel):
        return Replicated(model)
    return Sharded(model, every=reduce_every) if sharded else Plain()


def _buckets(gradients: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Gradients of one dtype together, up to the size of a bucket, in their order."""
    held: list[Tensor] = []
    for one in gradients:
        bytes_held = sum(other.numel() * other.element_size() for other in held)
        if held and (one.dtype != held[0].dtype or bytes_held > BUCKET_BYTES):
            yield held
            held = []
        held.append(one)
    if held:
        yield held


def _device_of_the_group() -> torch.device:
    gpu = dist.get_backend() == "nccl"
    return torch.device("cuda", torch.cuda.current_device()) if gpu else torch.device("cpu")
