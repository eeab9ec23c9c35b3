"""Let activations wait on the host between the forward and the backward pass.

    with to_host(model): a step  ->  the same step, its saved activations not on the device

What the backward pass needs is copied to the host as soon as it is saved, and comes back when it is
asked for. Weights stay where they are, and so does what is too small to be worth a copy.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor

__all__ = ["to_host"]

LEAST_BYTES = 1024  # as in torchtune and TRL


@contextlib.contextmanager
def to_host(model: nn.Module) -> Iterator[None]:
    """Steps that are taken inside keep their activations on the host.

    On a GPU the copies are in pinned memory. On the CPU, where device and host are one, they leave
    PyTorch's allocator, so that a rehearsal measures what a device would hold.
    """
    stays = {one.untyped_storage()._cdata for one in (*model.parameters(), *model.buffers())}

    def pack(saved: Tensor) -> Any:
        small = saved.numel() * saved.element_size() < LEAST_BYTES
        return saved if small or saved.untyped_storage()._cdata in stays else _parked(saved)

    def unpack(kept: Any) -> Tensor:
        return kept.back() if isinstance(kept, _Parked) else kept

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        yield


@dataclass(frozen=True)
class _Parked:
    """A tensor on the host: pinned beside a GPU, NumPy's beside the CPU, nothing if it is fake."""

    host: Any
    shape: torch.Size
    dtype: torch.dtype
    device: torch.device

    def back(self) -> Tensor:
        if isinstance(self.host, Tensor):
            return self.host.to(self.device)
        made = torch.empty(self.shape, dtype=self.dtype, device=self.device)
        if self.host is not None:
            made.flatten().view(torch.uint8).numpy()[:] = self.host
        return made


def _parked(saved: Tensor) -> _Parked:
    whole = saved.detach().contiguous()
    host: Any = None
    if whole.is_cuda:
        host = torch.empty(whole.shape, dtype=whole.dtype, pin_memory=True).copy_(whole)
    elif not isinstance(whole, FakeTensor):
        host = whole.flatten().view(torch.uint8).numpy().copy()
    return _Parked(host, saved.shape, saved.dtype, saved.device)
