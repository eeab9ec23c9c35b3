"""Hear of the passes and steps of a running loop, and write them as cell records.

    passes, optimizer steps, what the loop waits for  ->  records, one line every few steps

Between the end of one step and the first forward pass of the next the device has nothing to do:
what of that has no name is called host. On a GPU each step ends synchronised; no tensor is read
back before a record is written. Every method that a training calls is guarded: see `_guard`.
"""

import gc
import os
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from batchlab import records
from batchlab.monitor import _calls as calls
from batchlab.monitor._clock import Clock
from batchlab.monitor._guard import guarded, tell
from batchlab.monitor._logs import Logs
from batchlab.monitor._metrics import metrics
from batchlab.monitor._passes import Passes, name_of
from batchlab.monitor._probe import Call, probed
from batchlab.monitor._ranks import rank_and_world, replicas
from batchlab.monitor._signals import memory_of, sharded
from batchlab.monitor._steps import (
    COLLECTOR,
    OUTSIDE,
    Step,
    World,
    cell_of,
    environment_of,
    identity_of,
    retries_of,
)
from batchlab.monitor._unwrapped import inner_model
from batchlab.records import Cell

__all__ = ["Recorder"]

PROBE_AFTER = 3  # steps: the first ones warm up
PATIENCE = 1.0  # seconds for another writer of the file: a training does not wait for it
YOUNG = 0  # the generation of objects whose collection is too short to time


class Recorder(Passes):
    """Hears of forward passes and steps; `monitor` connects it to a loop or to a trainer."""

    def __init__(
        self, model: nn.Module, path: str | Path, *,
        every: int, source: str, stack: str, probe: bool = False, to: Iterable[Any] = (),
    ) -> None:  # fmt: skip
        super().__init__(model, stack, probe=probe)
        self.path, self.every, self.source = Path(path), every, source
        self.run, self._process = uuid.uuid4().hex[:12], os.getpid()
        self._done, self._unwritten = list[Step](), list[Cell]()
        self._outside = dict.fromkeys(OUTSIDE, 0.0)  # seconds between steps that belong to none
        self._first = True  # the first step of a run warms up
        self._began, self._to, self._logs = time.time(), to, Logs((), self.path, "", stack)
        self.step_before = 0  # of a training that was begun before this run
        self.clip: float | None = None  # the norm at which gradients are clipped, where it is known
        self._between, self._whole = "host", False  # whether gradients lie here in whole
        self._open()

    @guarded("the model")
    def _open(self) -> None:
        self.path = self.path.absolute()
        self.model = inner_model(self.called)
        weight = next(self.model.parameters())
        self.device, self.precision = weight.device, name_of(weight.dtype)
        rank, size = rank_and_world()
        self.world = World(rank, size, replicas(self.called, size))
        self._environment = environment_of(self.model)
        self._retries, self._whole = retries_of(self.device), not sharded(self.called)
        self._shifted, self._decodes = calls.shifts(self.model), calls.decodes(self.model)
        self._clock = Clock(cuda=self.device.type == "cuda")
        if rank == 0:  # it speaks for all
            self._logs = Logs(self._to, self.path, self.run, self.stack)
        self._watch()
        gc.callbacks.append(self._collects)

    @guarded("gradient norm")
    def gradients(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to take its gradients; they are whole and scaled as they should."""
        if self._whole:
            self._signals.norm(self._number + 1, optimizer)

    @guarded("what the loop logs")
    def told(self, name: str, value: Any, *, unless_heard: bool = False) -> None:
        """A number of the step that is under way, else of the one before."""
        step = self._number + bool(self._step.taken)
        if value is not None and not (unless_heard and self._signals.has(name, step)):
            self._signals.told(name, step, value)

    @guarded("the norm at which gradients are clipped")
    def clipped(self, at: float | None) -> None:
        self.clip = self.clip if at is None else float(at)

    @guarded("optimizer")
    def optimizer_begins(self, *_: Any) -> None:
        self._settle()
        self._clock.enter("optimizer")

    @guarded("optimizer")
    def optimizer_ended(self, *_: Any) -> None:
        self._clock.leave("optimizer")

    @guarded("parts that the loop names")
    def enter(self, part: str) -> None:
        self._settle()
        self._clock.enter(part)

    @guarded("parts that the loop names")
    def leave(self, part: str) -> None:
        self._clock.leave(part)

    @guarded("parts between two steps")
    def was(self, part: str) -> None:
        """What had no name since the last step was this part."""
        self._settle()
        self._clock.rename(self._between, part)
        if part in OUTSIDE:
            for name in (calls.GENERATION, calls.SCORING):
                self._clock.rename(name, part)

    @guarded("parts between two steps")
    def begin_host(self) -> None:
        """Whatever lay between two steps is over; what comes until the first pass is the host."""
        self._clock.base = "host"

    def heard(self, part: str) -> bool:
        """Whether this part was timed since the last step."""
        return part in self._clock.wall

    def between(self, name: str) -> None:
        """What the time after a step is called until somebody says what it was."""
        self._between = self._clock.base = name

    def _collects(self, phase: str, info: dict[str, int]) -> None:
        """The collector holds the process: on the CPU that is the host, whatever it interrupts."""
        if phase == "stop":
            self._clock.leave(COLLECTOR)
        elif not (
            self.device.type == "cuda"  # there a pause may hide behind the queue
            or info["generation"] == YOUNG
            or self._clock.turning
            or threading.get_ident() != self._home
        ):
            self._clock.enter(COLLECTOR)

    @guarded("steps")
    def stepped(self) -> None:
        """One optimizer step has ended."""
        cuda = self.device.type == "cuda"
        if cuda and torch.cuda.is_current_stream_capturing():
            return
        if cuda:
            torch.cuda.synchronize(self.device)
        self._settle()
        self._acquit()
        self._clock.turn()
        for name in OUTSIDE:
            self._outside[name] += self._clock.wall.get(name, 0.0)
        if self._step.taken and not self._step.uncounted:
            ranks = self.world.size
            lacked = self._cores.lacked() - self._lacked if ranks > 1 else 0.0
            self._step.end(self._clock, cuda=cuda, ranks=ranks, lacked=lacked)
            self._done.append(self._step)
        self._number += 1
        if self._to_probe and len(self._done) > PROBE_AFTER:
            self._probe()
        if len(self._done) > self.every:
            self.write()
        self._begin_step()

    def _begin_step(self) -> None:
        """Whatever failed on the way is forgotten; writing belongs to no step."""
        self._step, self._depth, self._kind = Step(), 0, ""
        self._at_work = self._evaluated = False
        self._clock.restart(self._between)

    @guarded("a probe")
    def _probe(self) -> None:
        """Take a few passes of other sizes on the last micro-batch, and leave nothing behind."""
        self._to_probe = False
        self._unwatch()
        try:
            if self.world.size > 1:
                raise NotImplementedError("all ranks would have to take these passes together")
            for cell in probed(self.called, self._call, precision=self.precision):
                when = {**self._environment, "date": records.now()}
                cell = replace(cell, run=self.run, identity=identity_of(self.model))
                self._append(replace(cell, environment=when))
        finally:
            self._call = Call((), {})
            self._watch()

    @guarded("the file", again=True)
    def write(self) -> None:
        """Write what was seen since the last record; the first step of a run is left out.

        What a full disk or another writer keeps out of the file waits for the next time.
        """
        if self._is_copy():
            return
        if steps := self._done[int(self._first) :]:
            self._unwritten.append(self._cell(steps))
        while self._unwritten:
            self._append(self._unwritten[0])
            del self._unwritten[0]

    def _cell(self, steps: list[Step]) -> Cell:
        """The record of these steps; with it begins the next one."""
        first, self._first = self._first, False
        self._done, outside = [], self._outside
        self._outside = dict.fromkeys(OUTSIDE, 0.0)
        before, self._retries = self._retries, retries_of(self.device)
        cuda = self.device.type == "cuda"
        cell = cell_of(
            steps,
            self.model,
            lost=tuple(self.lost),
            world=self.world,
            source=self.source,
            run=self.run,
            precision=self.precision,
            warmup_steps=int(first),
            outside_seconds=sum(outside.values()),
            saving_seconds=outside["saving"],
            peak_bytes=torch.cuda.max_memory_allocated(self.device) if cuda else None,
            allocator_retries=None if before is None else (self._retries or 0) - before,
            environment={**self._environment, "date": records.now()},
            more=self._more(),
        )
        self._logs.send(metrics(cell), self.step_before + self._number)
        return cell

    def _more(self) -> dict[str, Any]:
        """What a record holds beside its cell, for who follows the run."""
        found = {"last_step": self._number, "began": self._began, **memory_of(self.device)}
        clip = {"clip": self.clip} if self.clip is not None else {}
        before = {"step_before": self.step_before} if self.step_before else {}
        return found | before | clip | self._signals.take()

    def _is_copy(self) -> bool:
        """Whether this is a child that the loop forked: its steps are none of the run's."""
        return os.getpid() != self._process

    def _append(self, cell: Cell) -> None:
        path = records.of_rank(self.path, self.world.rank, self.world.size)
        records.append(path, cell, to_disk=False, patience=PATIENCE)

    @guarded("the end")
    def close(self) -> None:
        """Take all hooks away, and write what is left."""
        self._closed = True
        if self._is_copy():
            return
        self._unwatch()
        self._cores.close()
        if self._collects in gc.callbacks:
            gc.callbacks.remove(self._collects)
        self.write()
        self._logs.close()

    @guarded("the end")
    def tell_if_empty(self) -> None:
        """Say that nothing was written, and what is asked for: a missing file says neither."""
        if self._first and not self.lost:
            seen = " All its passes were in evaluation mode." * (self._suspected > 0)
            tell(
                f"{self.path}: nothing recorded. Optimizer steps seen after a forward pass of the "
                f"watched model in training mode, with token ids (rows, slots) as input_ids or "
                f"first argument: {len(self._done)}. At least 2 are needed: the first warms up."
                f"{seen}"
            )
