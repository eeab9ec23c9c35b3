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
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from batchlab import counts, records
from batchlab.counts import Counts, MicroBatch, Taken
from batchlab.model import has_varlen, recomputes
from batchlab.monitor._probe import Call, probed
from batchlab.monitor._unwrapped import autocast_of, inner_model, mixes_documents
from batchlab.records import Cell, Identity, Model, Parts
from batchlab.timing import Away, Pauses, Spans

__all__ = ["PARTS", "Recorder"]

PARTS = ("input", "host", "communication")
PROBE_AFTER = 3  # steps: the first ones warm up


@dataclass
class _Step:
    """What one optimizer step did, while it is under way and after."""

    seconds: float = 0.0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    taken: list[Taken] = field(default_factory=list)
    mixes: list[bool] = field(default_factory=list)  # of each, if several documents share a row
    away: float = 0.0


class Recorder:
    """Hears of forward passes and steps; `monitor` connects it to a loop or to a Trainer."""

    def __init__(
        self, model: nn.Module, path: str | Path, *, every: int, source: str, probe: bool = False
    ) -> None:
        self.path, self.every, self.source = Path(path), every, source
        self.called, self.model = model, inner_model(model)
        self.run = uuid.uuid4().hex[:12]
        weight = next(model.parameters())
        self.device, self.precision = weight.device, _name(weight.dtype)
        self._hook = self._watch()
        self._environment = _environment(self.model)
        self._retries = _retries(self.device)
        self._pauses = Pauses()
        self._optimizer = Spans(cuda=self.device.type == "cuda")
        self._away = Away()
        self._done: list[_Step] = []
        self._outside = 0.0  # seconds between steps that belong to none
        self._evaluated = False  # a forward pass in evaluation mode, since the last step
        self._to_probe, self._call = probe, Call((), {})
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
        self._away.pause()
        try:
            yield
        finally:
            self._away.resume()
            self.add(name, time.perf_counter() - begin)

    def add(self, name: str, seconds: float) -> None:
        self._step.parts[name] += seconds

    def _note_autocast(self) -> None:
        """Note the precision of an autocast region, if this is one."""
        inside = autocast_of(self.model)
        if inside or torch.is_autocast_enabled(self.device.type):
            dtype = inside or torch.get_autocast_dtype(self.device.type)
            self.precision = f"autocast-{_name(dtype)}"

    def leave_out(self, seconds: float) -> None:
        """Evaluation and saving belong to no step."""
        self._began += seconds
        self._outside += seconds

    def optimizer_begins(self) -> None:
        self._optimizer.begin()
        self._away.pause()

    def optimizer_ended(self) -> None:
        self._optimizer.end()
        self._away.resume()

    def stepped(self) -> None:
        """One optimizer step has ended."""
        now, paused = self._now(), self._pauses.take()
        if self._step.taken:
            self._step.seconds = now - self._began
            if self.device.type != "cuda":  # there a pause may hide behind the queue
                self.add("host", paused)
                self._step.away = self._away.seconds()
            self._done.append(self._step)
        self._step, self._began, self._at_work = _Step(), now, False
        self._evaluated = False
        if self._to_probe and len(self._done) > PROBE_AFTER:
            self._probe()
        if len(self._done) > self.every:
            self.write()
        self._began = self._now()  # writing belongs to no step

    def _probe(self) -> None:
        """Take a few passes of other sizes on the last micro-batch, and leave nothing behind."""
        self._to_probe, hook = False, self._hook
        hook.remove()
        try:
            for cell in probed(self.called, self._call, precision=self.precision):
                when = {**self._environment, "date": records.now()}
                whose = _identity(self.model)
                cell = replace(cell, run=self.run, identity=whose, environment=when)
                records.append(self.path, cell)
        finally:
            self._hook = self._watch()
            self._pauses.take()

    def write(self) -> None:
        """Write what was seen since the last record; the first step of a run is left out."""
        first = int(self._first)
        steps, optimizer = self._done[first:], self._optimizer.take()[first:]
        if steps:
            records.append(self.path, self._record(steps, optimizer))
            self._done, self._first, self._outside = [], False, 0.0

    def _watch(self) -> RemovableHandle:
        hook = torch.compiler.disable(self._forward)  # a clock would break a compiled graph
        return self.called.register_forward_pre_hook(hook, with_kwargs=True)

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
        given = {**({"input_ids": args[0]} if args else {}), **kwargs}
        batch = _seen(given) if self.model.training else None
        if batch is None:
            self._evaluated = self._evaluated or not self.model.training
            return  # evaluation is no training step
        if self._to_probe:
            self._call = Call(args, kwargs)
        if not self._at_work:
            between = time.perf_counter() - self._began - sum(self._step.parts.values())
            if self._evaluated:
                self.leave_out(max(0.0, between))
            else:
                self.add("host", max(0.0, between))
            self._pauses.take()  # what was paused until here is in it
            self._away.begin()
            self._at_work = True
            self._note_autocast()
        self._step.taken.append(counts.take(batch))
        self._step.mixes.append(mixes_documents(self.model, given))

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _record(self, steps: list[_Step], optimizer: list[float]) -> Cell:
        each = [_counts(step, varlen=has_varlen(self.model)) for step in steps]
        rows = sum(one.rows for step in steps for one in step.taken)
        total = reduce(add, each)
        packed = (total.documents or 0) > rows
        before, self._retries = self._retries, _retries(self.device)
        named = {name: tuple(one.parts[name] for one in steps) for name in PARTS}
        if self.device.type != "cuda":
            named["away"] = tuple(one.away for one in steps)
        if len(optimizer) == len(steps):  # a step may have failed
            named["optimizer"] = tuple(optimizer)
        return Cell(
            source=self.source,
            run=self.run,
            identity=_identity(self.model),
            layout="packed" if packed else "padded",
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
            step_parts=named,
            parts=Parts(**{f"{name}_seconds": sum(each) for name, each in named.items()}),
            outside_seconds=self._outside,
            peak_bytes=_peak_bytes(self.device),
            allocator_retries=None if before is None else (self._retries or 0) - before,
            environment={**self._environment, "date": records.now()},
            more={"documents_mixed": any(any(step.mixes) for step in steps)} if packed else {},
        )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _seen(given: dict[str, Any]) -> MicroBatch | None:
    """The micro-batch behind a call of the model: shown by its loop, else its own arguments."""
    ids = given.get("input_ids")
    if not isinstance(ids, Tensor) or ids.ndim != 2:
        return None
    names = {name: name for name in ("input_ids", "position_ids", "attention_mask", "labels")}
    names["cu_seq_lens_q"] = "cu_seqlens"  # as flash attention calls them
    return counts.shown() or {
        ours: given[theirs]
        for theirs, ours in names.items()
        if isinstance(given.get(theirs), Tensor)
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
