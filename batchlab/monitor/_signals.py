"""Loss, gradient norm and memory of a run: kept where they lie until a record is written.

    losses of passes, gradients at the optimizer, what a trainer logs  ->  {name: [[step, number]]}

Nothing is read back from a device inside a step. The norm of gradients is taken of one step in
ten at most, and less often where it would take more than a 500th of the time of the run.

Words
    signal  a number of some steps: loss, gradient_norm
    clip    the largest norm of gradients that the loop lets through
"""

import contextlib
import math
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from batchlab.records import Json

__all__ = ["Signals", "loss_of", "memory_of", "sharded"]

SPARSE = 10  # steps from one norm to the next, at least
DIGITS = 7  # of a number: as many as a float32 holds
SHARE = 0.002  # of the seconds of the run, for norms
PAGES = Path("/proc/self/statm")  # where Linux says how many pages a process holds


class Signals:
    """Numbers of single steps, by name; steps are counted from 1 in the run."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[int, Any, Any]]] = {}
        self._began, self._spent, self._last = time.perf_counter(), 0.0, 0

    def told(self, name: str, step: int, value: Any, weight: Any = 1) -> None:
        """Keep a number of a step; of several of one step the mean counts, by their weights."""
        if isinstance(value, Tensor):  # what it came from need not live on
            value = value.item() if value.device.type == "cpu" else value.detach().clone()
        self._kept.setdefault(name, []).append((step, value, weight))

    def norm(self, step: int, optimizer: torch.optim.Optimizer) -> None:
        """Keep the norm of the gradients that an optimizer is about to take, now and then."""
        begin = time.perf_counter()
        if step < self._last + SPARSE or self._spent > SHARE * (begin - self._began):
            return
        held = [one.grad for group in optimizer.param_groups for one in group["params"]
                if one.grad is not None]  # fmt: skip
        if not held:
            return
        self._last = step
        value = nn.utils.get_total_norm(held)
        scale = getattr(optimizer, "grad_scale", None)  # of a fused optimizer under a GradScaler
        self.told("gradient_norm", step, value if scale is None else value / scale)
        self._spent += time.perf_counter() - begin

    def has(self, name: str, step: int) -> bool:
        """Whether a number of this step is kept."""
        return self._kept.get(name, [(0, 0, 0)])[-1][0] == step

    def take(self) -> dict[str, Json]:
        """All that was kept, read back at once, and forgotten here: ready for a record.

        What is no finite number is counted by name, and stands in no list.
        """
        kept, self._kept = self._kept, {}
        lists: dict[str, Json] = {}
        broken: dict[str, Json] = {}
        for name, told in kept.items():
            sums: dict[int, list[float]] = {}
            values, weights = _read([one for _, one, _ in told]), _read([one for *_, one in told])
            for (step, *_), value, weight in zip(told, values, weights, strict=True):
                before = sums.setdefault(step, [0.0, 0.0])
                before[0] += value * weight
                before[1] += weight
            means = {step: value / weight for step, (value, weight) in sums.items() if weight > 0}
            whole = {step: one for step, one in means.items() if math.isfinite(one)}
            lists[name] = [[step, float(f"{one:.{DIGITS}g}")] for step, one in whole.items()]
            if len(whole) < len(means):
                broken[name] = len(means) - len(whole)
        found: dict[str, Json] = {"signals": lists, "not_finite": broken}
        return {name: one for name, one in found.items() if one}


def _read(values: list[Any]) -> list[float]:
    """Numbers and tensors of one number as floats, with one wait for the device."""
    tensors = [one.reshape(()).float() for one in values if isinstance(one, Tensor)]
    read: Iterable[float] = iter(torch.stack(tensors).tolist() if tensors else ())
    return [next(read) if isinstance(one, Tensor) else float(one) for one in values]  # type: ignore[call-overload]


def loss_of(output: Any) -> Tensor | None:
    """The loss that a model gives with its output, if it gives one."""
    found = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    return found if isinstance(found, Tensor) and found.numel() == 1 else None


def sharded(model: nn.Module) -> bool:
    """Whether this process holds a part of each gradient only: its norm says nothing."""
    parts = ("FullyShardedDataParallel", "FSDPModule")
    return any(one.__name__ in parts for part in model.modules() for one in type(part).__mro__)


def memory_of(device: torch.device) -> dict[str, Json]:
    """Bytes that the process holds: of the host, and of a GPU as its allocator reserved them."""
    found: dict[str, Json] = {}
    with contextlib.suppress(OSError):  # another system: nobody counts
        pages = int(PAGES.read_text().split()[1])
        found["resident_bytes"] = pages * os.sysconf("SC_PAGE_SIZE")
    if device.type == "cuda":
        found["reserved_bytes"] = torch.cuda.memory_reserved(device)
    return found
