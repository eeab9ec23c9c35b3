"""Count and time the steps of a running loop, and write them as cell records.

    forward passes, optimizer steps, what the loop waits for  ->  records, one line every few steps

Between the end of one step and the first forward pass of the next the device has nothing to do:
what of that was not waiting for input is called host. On a GPU each step ends synchronised; no
tensor is read back before a record is written.

Words
    part      seconds of a step with a name of their own: input, host, communication, optimizer
    taken     the counts of a micro-batch, still on its device until a record is written
"""

import contextlib
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import counts, records
from batchlab.counts import Counts, MicroBatch, Taken
from batchlab.model import has_varlen, recomputes
from batchlab.records import Cell, Identity, Model, Parts
from batchlab.timing import Pauses, Spans

__all__ = ["PARTS", "Recorder"]

PARTS = ("input", "host", "communication")


@dataclass
class _Step:
    """What one optimizer step did, while it is under way and after."""

    seconds: float = 0.0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    taken: list[Taken] = field(default_factory=list)


class Recorder:
    """Hears of forward passes and steps; `monitor` connects it to a loop or to a Trainer."""

    def __init__(self, model: nn.Module, path: str | Path, *, every: int, source: str) -> None:
        self.model, self.path, self.every, self.source = model, Path(path), every, source
        self.run = uuid.uuid4().hex[:12]
        weight = next(model.parameters())
        self.device, self.precision = weight.device, _name(weight.dtype)
        self._hook = model.register_forward_pre_hook(self._forward, with_kwargs=True)
        self._environment = _environment(model)
        self._retries = _retries(self.device)
        self._pauses = Pauses()
        self._optimizer = Spans(cuda=self.device.type == "cuda")
        self._done: list[_Step] = []
        self._first = True  # the first step of a run warms up
        self._at_work = False
        self._step, self._began = _Step(), self._now()

    def __call__(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Pass the loader's batches through, and time how long each is waited for."""
        batches = iter(loader)
        while True:
            try:
                with self.part("input"):
                    batch = next(batches)
            except StopIteration:
                return
            yield batch

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Give the seconds spent inside a name: input, host or communication.

        On a GPU the seconds are those of the host: put only what it waits for inside.
        """
        if name not in PARTS:
            raise ValueError(f"unknown part {name!r}; there are {', '.join(PARTS)}")
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - begin)

    def add(self, name: str, seconds: float) -> None:
        self._step.parts[name] += seconds

    def _note_autocast(self) -> None:
        """Note the precision of an autocast region, if this is one."""
        if torch.is_autocast_enabled(self.device.type):
            self.precision = f"autocast-{_name(torch.get_autocast_dtype(self.device.type))}"

    def leave_out(self, seconds: float) -> None:
        """Evaluation and saving belong to no step."""
        self._began += seconds

    def optimizer_begins(self) -> None:
        self._optimizer.begin()

    def optimizer_ended(self) -> None:
        self._optimizer.end()

    def stepped(self) -> None:
        """One optimizer step has ended."""
        now, paused = self._now(), self._pauses.take()
        if self._step.taken:
            self._step.seconds = now - self._began
            if self.device.type != "cuda":  # there a pause may hide behind the queue
                self.add("host", paused)
            self._done.append(self._step)
        self._step, self._began, self._at_work = _Step(), now, False
        if len(self._done) > self.every:
            self.write()
            self._began = self._now()  # writing belongs to no step

    def write(self) -> None:
        """Write what was seen since the last record; the first step of a run is left out."""
        first = int(self._first)
        steps, optimizer = self._done[first:], self._optimizer.take()[first:]
        if steps:
            optimizer_seconds = sum(optimizer) if len(optimizer) == len(steps) else None
            records.append(self.path, self._record(steps, optimizer_seconds))
            self._done, self._first = [], False

    def close(self) -> None:
        self._hook.remove()
        self._pauses.close()
        self.write()

    def warn_if_empty(self) -> None:
        """Say that nothing was written, and what is asked for: a missing file says neither."""
        if self._first:
            warnings.warn(
                f"{self.path}: nothing recorded. Optimizer steps seen after a forward pass of the "
                f"watched model in training mode, with token ids (rows, slots) as input_ids or "
                f"first argument: {len(self._done)}. At least 2 are needed: the first warms up",
                stacklevel=4,
            )

    def _forward(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        batch = _seen(args, kwargs) if self.model.training else None
        if batch is None:
            return  # evaluation is no training step
        if not self._at_work:
            between = time.perf_counter() - self._began - sum(self._step.parts.values())
            self.add("host", max(0.0, between))
            self._pauses.take()  # what was paused until here is in it
            self._at_work = True
            self._note_autocast()
        self._step.taken.append(counts.take(batch))

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _record(self, steps: list[_Step], optimizer_seconds: float | None) -> Cell:
        each = [_counts(step, varlen=has_varlen(self.model)) for step in steps]
        rows = sum(one.rows for step in steps for one in step.taken)
        total = reduce(add, each)
        before, self._retries = self._retries, _retries(self.device)
        named = {f"{name}_seconds": sum(one.parts[name] for one in steps) for name in PARTS}
        return Cell(
            source=self.source,
            run=self.run,
            identity=_identity(self.model),
            layout="packed" if (total.documents or 0) > rows else "padded",
            rows=steps[0].taken[0].rows,
            accumulation=len(steps[0].taken),
            checkpointing=recomputes(self.model),
            precision=self.precision,
            warmup_steps=int(self._first),
            steps=len(steps),
            micro_batches=sum(len(step.taken) for step in steps),
            counts=total,
            seconds=sum(step.seconds for step in steps),
            step_seconds=tuple(step.seconds for step in steps),
            step_slots=tuple(one.slots or 0 for one in each),
            step_slot_pairs=tuple(one.slot_pairs or 0 for one in each),
            parts=Parts(**named, optimizer_seconds=optimizer_seconds),
            peak_bytes=_peak_bytes(self.device),
            allocator_retries=None if before is None else (self._retries or 0) - before,
            environment={**self._environment, "date": records.now()},
        )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _seen(args: tuple[Any, ...], kwargs: dict[str, Any]) -> MicroBatch | None:
    """The micro-batch behind a call of the model: shown by its loop, else its own arguments."""
    given = {**({"input_ids": args[0]} if args else {}), **kwargs}
    ids = given.get("input_ids")
    if not isinstance(ids, Tensor) or ids.ndim != 2:
        return None
    names = ("input_ids", "position_ids", "attention_mask", "labels")
    return counts.shown() or {
        name: given[name] for name in names if isinstance(given.get(name), Tensor)
    }


def _counts(step: _Step, *, varlen: bool) -> Counts:
    return reduce(add, (one.read(varlen=varlen) for one in step.taken))


def _identity(model: nn.Module) -> Identity:
    """Fingerprints are equal for models of equal shape: the weights do not matter to time."""
    parameters = list(model.parameters())
    total = sum(one.numel() for one in parameters)
    name = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
    fingerprint = f"{type(model).__name__}-{total}-{len(parameters)}"
    return Identity(Model(name), fingerprint, "unknown", "unknown")


def _environment(model: nn.Module) -> dict[str, records.Json]:
    config = getattr(model, "config", None)
    return records.environment(attention=getattr(config, "_attn_implementation", None))


def _peak_bytes(device: torch.device) -> int | None:
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None


def _retries(device: torch.device) -> int | None:
    """How often the allocator of a GPU gave cached blocks back and asked anew, so far."""
    if device.type != "cuda":
        return None
    retries: int = torch.cuda.memory_stats(device).get("num_alloc_retries", 0)
    return retries
