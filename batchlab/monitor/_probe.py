"""A few passes of other sizes inside a running loop, which then goes on as if nothing had been.

    the last call of the model  ->  cells of other sizes: what is fixed, what grows with slots

Forward and backward run on rows of the loop's own micro-batch; the optimizer is not touched.
Gradients are put aside and back as the same tensors; buffers and random states are copied back.

Words
    call    the arguments of one forward pass
    size    (rows, slots of a row) of a micro-batch: the loop's own, fewer rows, fewer slots
"""

import contextlib
import random
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab import counts
from batchlab.counts import Counts
from batchlab.memory.limits import out_of_memory
from batchlab.model import has_varlen, recomputes
from batchlab.monitor._unwrapped import inner_model
from batchlab.records import Cell, Parts
from batchlab.timing import Away

__all__ = ["Call", "probed"]

STEPS = 4  # of each size: the first warms up
CUT = ("input_ids", "attention_mask", "position_ids", "labels", "token_type_ids")
SHORTEST = 8  # slots of a row: it is not cut to fewer


@dataclass(frozen=True)
class Call:
    """The arguments of one forward pass."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def of_size(self, rows: int, slots: int) -> "Call":
        """The same call on other rows, taken in turns, and on the first slots of each."""

        def cut(value: Tensor) -> Tensor:
            return value[torch.arange(rows, device=value.device) % len(value), :slots]

        inside = {name: cut(v) if name in CUT and v is not None else v
                  for name, v in self.kwargs.items()}  # fmt: skip
        return Call((cut(self.args[0]), *self.args[1:]) if self.args else (), inside)

    @property
    def batch(self) -> dict[str, Tensor]:
        """What `counts` reads of it."""
        given = {"input_ids": self.args[0]} if self.args else {}
        given |= {name: v for name, v in self.kwargs.items() if name in CUT}
        return {name: value for name, value in given.items() if isinstance(value, Tensor)}


def probed(model: nn.Module, call: Call, *, precision: str) -> list[Cell]:
    """Cells of the loop's own size, of a quarter of its rows and of its slots, four passes of each.

    A model or a call that cannot be probed safely is left alone, with a warning that says why.
    """
    if reason := _unsafe(model, call):
        warnings.warn(f"no probe: {reason}", stacklevel=4)
        return []
    rows, slots = call.batch["input_ids"].shape
    sizes = [(rows, slots), (max(1, rows // 4) if rows > 1 else 4, slots)]
    if slots > SHORTEST:
        sizes.append((rows, max(SHORTEST, slots // 4)))
    with _as_before(model):
        try:
            passes = _timed(model, call, sizes, precision)
        except RuntimeError as error:
            if not out_of_memory(error):
                raise
            warnings.warn(f"no probe: {str(error).splitlines()[0]}", stacklevel=4)
            return []
    return [_cell(model, one, seconds, precision) for one, seconds in passes]


def _unsafe(model: nn.Module, call: Call) -> str:
    """Why other sizes must not run inside this loop; empty where they may."""
    ids = call.batch.get("input_ids")
    if ids is None or ids.ndim != 2 or len(call.args) > 1:
        return "the model is called without token ids (rows, slots) as its only plain argument"
    shapes = [v.shape for v in call.batch.values() if v.ndim != 2 or v.shape != ids.shape]
    others = [
        name for name, v in call.kwargs.items()
        if name not in CUT and isinstance(v, Tensor) and v.ndim
    ]  # fmt: skip
    if shapes or others:
        return f"no rows can be taken from {', '.join(others) or 'arguments of other shapes'}"
    if getattr(model, "_compiled_call_impl", None) or hasattr(model, "_orig_mod"):
        return "a compiled model would be compiled anew for other sizes"
    if any(one._post_accumulate_grad_hooks or one._backward_hooks for one in model.parameters()):
        return "a hook of its gradients would take the probe for training"
    return ""


def _timed(
    model: nn.Module, call: Call, sizes: list[tuple[int, int]], precision: str
) -> list[tuple[Call, list[tuple[float, float]]]]:
    """Seconds of each pass of each size, in turns, without the first, and of them those away."""
    away = Away()
    passes: list[tuple[Call, list[tuple[float, float]]]] = [
        (call.of_size(*size), []) for size in sizes
    ]
    for turn in range(STEPS):
        for one, seconds in passes:
            model.zero_grad(set_to_none=True)
            begin = _now(model)
            away.begin()
            _pass(model, one, precision)
            slept = away.seconds()
            if turn:
                seconds.append((_now(model) - begin, slept))
    return passes


def _pass(model: nn.Module, call: Call, precision: str) -> None:
    """One forward and backward pass, as a loop takes it."""
    device = next(model.parameters()).device.type
    name = precision.removeprefix("autocast-")
    autocast = torch.autocast(device, getattr(torch, name)) if name != precision else None
    with torch.enable_grad():
        with autocast or contextlib.nullcontext():
            found = model(*call.args, **call.kwargs)
            loss = getattr(found, "loss", None)
            if loss is None:
                logits = getattr(found, "logits", found)
                wanted = call.batch["input_ids"][:, 1:].flatten()
                loss = F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), wanted)
        loss.backward()


@contextlib.contextmanager
def _as_before(model: nn.Module) -> Iterator[None]:
    """Whatever passes change is put back: gradients, buffers, random states."""
    gradients = [(one, one.grad) for one in model.parameters()]
    buffers = [(one, one.clone()) for one in model.buffers()]
    python, cpu = random.getstate(), torch.get_rng_state()
    numbers = np.random.get_state()  # noqa: NPY002
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    try:
        yield
    finally:
        for parameter, gradient in gradients:
            parameter.grad = gradient
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        random.setstate(python)
        np.random.set_state(numbers)  # noqa: NPY002
        torch.set_rng_state(cpu)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)


def _cell(model: nn.Module, call: Call, timed: list[tuple[float, float]], precision: str) -> Cell:
    seconds = [wall for wall, _ in timed]
    on_cpu = next(model.parameters()).device.type != "cuda"  # elsewhere the host may wait
    away = tuple(slept for _, slept in timed) if on_cpu else None
    one = counts.of(call.batch, varlen=has_varlen(inner_model(model)))
    total: Counts = reduce(add, [one] * len(seconds))
    rows = call.batch["input_ids"].shape[0]
    return Cell(
        source="probe",
        rows=rows,
        layout="packed" if (one.documents or 0) > rows else "padded",
        accumulation=1,
        checkpointing=recomputes(inner_model(model)),
        precision=precision,
        warmup_steps=1,
        steps=len(seconds),
        micro_batches=len(seconds),
        counts=total,
        seconds=sum(seconds),
        step_seconds=tuple(seconds),
        step_slots=(one.slots or 0,) * len(seconds),
        step_slot_pairs=(one.slot_pairs or 0,) * len(seconds),
        parts=Parts(0.0, 0.0, 0.0, away_seconds=None if away is None else sum(away)),
        step_parts={} if away is None else {"away": away},
    )


def _now(model: nn.Module) -> float:
    device = next(model.parameters()).device
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()
