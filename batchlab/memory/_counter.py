"""Measure the peak of allocated memory with the device's own counter.

    step()  ->  bytes at the fullest moment

Nothing here knows how a peak is predicted: a judge shares no code with what is judged. The CPU has
no counter of its own; there the profiler's memory events are added up.
"""

import contextlib
import functools
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

__all__ = [
    "CUDA_BLOCK",
    "bytes_held",
    "free_bytes",
    "has_product_scratch",
    "measure_peak",
    "workspace_bytes",
]

CUDA_BLOCK = 512  # bytes that the caching allocator of CUDA rounds up to (kMinBlockSize)


def measure_peak(
    step: Callable[[], Any], device: str | torch.device = "cpu", *, held: Any = ()
) -> int:
    """Peak bytes while `step()` runs, counted independently of the prediction.

    Counted are what is `held` before (tensors, models, optimizers with their states) and whatever
    the step allocates; what others hold on the device, and the workspaces of cuBLAS, are not. On a
    GPU the allocator's own counter tells. The CPU has none: there the profiler's memory events are
    added up.
    """
    place = torch.device(device)
    if place.type == "cuda":
        return _cuda_peak(step, place, held)
    if place.type != "cpu":
        raise ValueError(f"device {place.type!r} has no memory counter; there are cpu and cuda")
    gc.collect()
    alive = most = bytes_held(held)
    activity = [torch.profiler.ProfilerActivity.CPU]
    # one cycle, so its events are all events; torch 2.11 warns of cycles unless it is told so
    profiler = torch.profiler.profile(activities=activity, profile_memory=True, acc_events=True)
    with _no_native_messages():
        profiler.start()
    try:
        step()
    finally:
        with _no_native_messages():
            profiler.stop()
    events = profiler.profiler.kineto_results.events()  # type: ignore[union-attr]
    for event in sorted(events, key=lambda one: one.start_ns()):
        if event.name() == "[memory]":
            alive += event.nbytes()
            most = max(most, alive)
    return most


def _cuda_peak(step: Callable[[], Any], place: torch.device, held: Any) -> int:
    _start_cublas(place)
    torch.cuda.synchronize(place)
    others = torch.cuda.memory_allocated(place) - bytes_held(held, block=CUDA_BLOCK)
    torch.cuda.reset_peak_memory_stats(place)
    step()
    torch.cuda.synchronize(place)
    return torch.cuda.max_memory_allocated(place) - others


def workspace_bytes(device: str | torch.device) -> int:
    """Bytes that cuBLAS keeps for itself on this device: 0 on the CPU.

    Each pair of handle and stream has a workspace (32 MiB on sm90, about 8 MiB elsewhere), and the
    backward thread has a handle of its own. They are allocated as tensors are, and stay.
    """
    place = torch.device(device)
    if place.type != "cuda":
        return 0
    _start_cublas(place)
    torch.cuda.synchronize(place)
    before = torch.cuda.memory_allocated(place)
    torch._C._cuda_clearCublasWorkspaces()
    kept = before - torch.cuda.memory_allocated(place)
    _start_cublas(place)
    return kept


def _start_cublas(place: torch.device) -> None:
    """One product forward and backward, so that both threads have their workspaces."""
    for dtype in (torch.float32, torch.float16):
        one = torch.ones(16, 16, device=place, dtype=dtype, requires_grad=True)
        (one @ one).sum().backward()


@functools.cache
def has_product_scratch() -> bool:
    """Whether products in bf16 take a float32 copy of their result for a moment on this CPU.

    oneDNN does so where the processor has no bf16 products of its own (measured: AVX512, torch
    2.13; 4 bytes a value and 128). Where it has, the second operand is packed into tiles: at most
    its bytes and 6 KiB, for the moment of the product, which no prediction counts; with AMX this
    comes instead of the copy, with AVX512-BF16 beside it.
    """
    one = torch.ones(64, 64, dtype=torch.bfloat16)
    return measure_peak(lambda: one @ one) >= (2 + 4) * one.numel()


def free_bytes(model: Any) -> int:
    """Bytes of tensors that the device of `model` can hold, those of the model included."""
    place = next(model.parameters()).device
    if place.type == "cuda":
        reserved = torch.cuda.memory_reserved(place)
        return torch.cuda.mem_get_info(place)[0] + reserved - workspace_bytes(place)
    if place.type != "cpu":
        raise ValueError(f"device {place.type!r} has no memory counter; there are cpu and cuda")
    held = bytes_held([*model.parameters(), *model.buffers()])
    return held + min(_free_memory(), _free_address_space())


def bytes_held(tensors: Iterable[Any], *, block: int = 1) -> int:
    """Bytes of the distinct storages behind these tensors, each rounded up to whole blocks.

    A model stands for its parameters, their gradients and its buffers, an optimizer for its
    parameters and states. What else is no tensor holds none; on a GPU, tensors of the CPU neither.
    """
    there = [one for value in tensors for one in _inside(value) if isinstance(one, Tensor)]
    if block > 1:
        there = [value for value in there if value.is_cuda]
    storages = (value.untyped_storage() for value in there)
    return sum({one.data_ptr(): -(-one.nbytes() // block) * block for one in storages}.values())


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, nn.Module):
        weights = list(value.parameters())
        return [*weights, *value.buffers(), *(one.grad for one in weights)]
    if isinstance(value, torch.optim.Optimizer):
        weights = [one for group in value.param_groups for one in group["params"]]
        return [*weights, *(one for state in value.state.values() for one in state.values())]
    return [value]


def _free_memory() -> int:
    """What the system could give without swapping."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        known = dict(line.split(":", 1) for line in lines)
        return int(known["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        raise ValueError(
            "this system does not say how much memory is free: give a budget"
        ) from None


def _free_address_space() -> int:
    """What a limit set by `ulimit -v` leaves to this process."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return max(0, limit - pages * resource.getpagesize())


@contextlib.contextmanager
def _no_native_messages() -> Iterator[None]:
    """The profiler's native code writes to stderr that it starts and stops; a notebook shows it."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
