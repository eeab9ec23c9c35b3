"""Hear of the passes and steps of a running loop, and write them as cell records.

    passes, optimizer steps, what the loop waits for  ->  records, one line every few steps

Between the end of one step and the first forward pass of the next the device has nothing to do:
what of that has no name is called host. On a GPU each step ends synchronised; no tensor is read
back before a record is written. Every method that a training calls is guarded: see `_guard`.
"""

import gc
import threading
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from batchlab import counts, records
from batchlab.counts import Taken
from batchlab.monitor import _calls as calls
from batchlab.monitor._calls import Hook
from batchlab.monitor._clock import Clock
from batchlab.monitor._guard import guarded, tell
from batchlab.monitor._probe import Call, probed
from batchlab.monitor._ranks import Cores, rank_and_world, replicas
from batchlab.monitor._steps import (
    OUTSIDE,
    REST,
    Step,
    World,
    cell_of,
    environment_of,
    identity_of,
    retries_of,
)
from batchlab.monitor._unwrapped import autocast_of, inner_model, mixes_documents
from batchlab.records import Cell

__all__ = ["Recorder"]

PROBE_AFTER = 3  # steps: the first ones warm up
TAIL = "after a pass of generation"  # more of it, if another such pass follows
COLLECTOR, YOUNG = "collector", 0  # the collection of the youngest is too short to time


class Recorder:
    """Hears of forward passes and steps; `monitor` connects it to a loop or to a trainer."""

    def __init__(
        self, model: nn.Module, path: str | Path, *,
        every: int, source: str, stack: str, probe: bool = False,
    ) -> None:  # fmt: skip
        self.path, self.every, self.source, self.stack = Path(path), every, source, stack
        self.lost: dict[str, str] = {}
        self.called, self.model = model, model
        self.run = uuid.uuid4().hex[:12]
        self.device, self.precision, self.world = torch.device("cpu"), "unknown", World()
        self._hooks, self._to_probe = list[Any](), probe
        self._step, self._done = Step(), list[Step]()
        self._outside = dict.fromkeys(OUTSIDE, 0.0)  # seconds between steps that belong to none
        self._first = True  # the first step of a run warms up
        self._depth, self._kind, self._suspect = 0, "", False
        self._at_work = self._evaluated = self._trains_in_eval = self._closed = False
        self._before_tail, self._between = "", "host"
        self._call, self._suspected = Call((), {}), 0  # how often such a pass was seen
        self._held: tuple[list[Taken], list[bool]] = [], []
        self._clock = Clock(cuda=False)
        self._open()

    @guarded("the model")
    def _open(self) -> None:
        self.path = self.path.absolute()
        self.model = inner_model(self.called)
        weight = next(self.model.parameters())
        self.device, self.precision = weight.device, _name(weight.dtype)
        rank, size = rank_and_world()
        self.world = World(rank, size, replicas(self.called, size))
        self._environment = environment_of(self.model)
        self._retries = retries_of(self.device)
        self._cores, self._lacked, self._shifted = Cores(), 0.0, calls.shifts(self.model)
        self._home = threading.get_ident()
        self._backward = torch.compiler.disable(lambda _: self.backward_begins())
        self._backward.__torch_unserializable__ = True  # who saves an output needs no warning
        self._clock = Clock(cuda=self.device.type == "cuda")
        self._watch()
        gc.callbacks.append(self._collects)

    def _watch(self) -> None:
        begins: Any = Hook(self.called, self.call_begins)
        ended: Any = Hook(self.called, self.call_ended)
        self._hooks += [
            self.called.register_forward_pre_hook(begins, with_kwargs=True),
            self.called.register_forward_hook(ended, always_call=True),
        ]

    def _unwatch(self) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    @guarded("forward passes")
    def call_begins(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        """A watched model is called; what it calls of itself belongs to that."""
        self._depth += 1
        if self._depth > 1 or self._closed:
            return
        self._kind = "" if self._skips() else calls.kind_of(module, kwargs)
        if self._kind == calls.SUSPECT and self._trains_in_eval:
            self._kind = calls.TRAINING
        if not self._kind:
            return
        self._home = threading.get_ident()
        if self._kind == calls.GENERATION:
            self._clock.rename(TAIL, calls.GENERATION)
        else:
            self._settle()
        if self._kind in (calls.TRAINING, calls.SUSPECT):
            self._trains(args, kwargs)
        elif self._kind == calls.EVALUATION:
            self._evaluated = True
        self._clock.enter(self._kind)

    def _skips(self) -> bool:
        """Whether this pass is none of a loop: computed again, captured, or in a named part."""
        if self.device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            return True
        if _in_backward():
            return True
        self._clock.leave("backward")  # one that failed never ended
        return any(self._clock.inside(name) for name in OUTSIDE)

    def _trains(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Count the micro-batch of this pass; in evaluation mode it is not yet known for one."""
        before = len(self._step.taken)
        training = self._kind == calls.TRAINING
        if training and not self._at_work:
            self._begin_work()
        counted = self._count(args, kwargs)
        if counted is None:  # a fault, told already
            self._step.uncounted = True
        elif not counted:
            self._kind = calls.EVALUATION if not training else self._kind
        elif not training:
            self._suspect, self._suspected = True, self._suspected + 1
            self._held = self._step.taken[before:], self._step.mixes[before:]
            del self._step.taken[before:], self._step.mixes[before:]

    def _begin_work(self) -> None:
        self._acquit()
        if self._evaluated:
            self._clock.rename("host", "evaluation")
        self._clock.base, self._at_work = REST, True
        if self.world.size > 1:
            self._lacked = self._cores.lacked()
        inside = autocast_of(self.model)
        if inside or torch.is_autocast_enabled(self.device.type):
            dtype = inside or torch.get_autocast_dtype(self.device.type)
            self.precision = f"autocast-{_name(dtype)}"

    @guarded("tokens and slots of a micro-batch", again=True)
    def _count(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the pass has token ids; their counts are kept."""
        named = calls.given(args, kwargs)
        batch = calls.micro_batch(self.model, named)
        if batch is None:
            return False
        if self._to_probe:
            self._call = Call(args, kwargs)
        self._step.taken.append(counts.take(batch, shifted=self._shifted))
        self._step.mixes.append(mixes_documents(self.model, named))
        return True

    @guarded("forward passes")
    def call_ended(self, module: nn.Module, args: Any, output: Any = None) -> None:
        """The call returned, or failed."""
        self._depth = max(0, self._depth - 1)
        if self._depth or not self._kind or self._closed:
            return
        self._clock.leave(self._kind)
        if self._kind == calls.GENERATION and self._clock.base != TAIL:
            self._before_tail, self._clock.base = self._clock.base, TAIL
        if self._kind in (calls.TRAINING, calls.SUSPECT):
            self._await_backward(output)
        self._kind = ""

    @guarded("backward")
    def _await_backward(self, output: Any) -> None:
        calls.before_backward(output, self._backward)

    @guarded("backward")
    def backward_begins(self) -> None:
        if self._closed or self._clock.inside("backward"):
            return
        if self._suspect:
            self._confirm()
        self._settle()
        self._clock.enter("backward")
        _after_backward(self.backward_ended)

    @guarded("backward")
    def backward_ended(self, *, again: bool = True) -> None:
        """All gradients are there; what waits for other ranks is queued by now, and comes first."""
        if again:
            _after_backward(lambda: self.backward_ended(again=False))
        else:
            self._clock.leave("backward")

    def _confirm(self) -> None:
        """A pass in evaluation mode has a backward pass: it trains, and that is worth a word."""
        self._trains_in_eval, self._suspect = True, False
        self._clock.rename(calls.SUSPECT, calls.TRAINING)
        self._begin_work()
        taken, mixes = self._held
        self._step.taken += taken
        self._step.mixes += mixes
        tell(
            f"batchlab monitor on {self.stack}: the model trains in evaluation mode, without "
            "dropout; if that is not meant, call model.train() before the loop"
        )

    def _settle(self) -> None:
        """Generation is over: what came after its last pass is none of it."""
        if self._clock.base == TAIL:
            self._clock.base = self._before_tail
            self._clock.rename(TAIL, self._before_tail)

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
        self._clock.rename(COLLECTOR, "host")
        for name in OUTSIDE:
            self._outside[name] += self._clock.wall.get(name, 0.0)
        if self._step.taken and not self._step.uncounted:
            ranks = self.world.size
            lacked = self._cores.lacked() - self._lacked if ranks > 1 else 0.0
            self._step.end(self._clock, cuda=cuda, ranks=ranks, lacked=lacked)
            self._done.append(self._step)
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

    def _acquit(self) -> None:
        """A pass with gradients in evaluation mode and no backward pass was an evaluation."""
        if self._suspect:
            self._clock.rename(calls.SUSPECT, "evaluation")
            self._suspect, self._evaluated = False, True

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
        """Write what was seen since the last record; the first step of a run is left out."""
        steps, first = self._done[int(self._first) :], self._first
        if not steps:
            return
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
        )
        self._append(cell)
        self._first = False

    def _append(self, cell: Cell) -> None:
        path = records.of_rank(self.path, self.world.rank, self.world.size)
        records.append(path, cell, to_disk=False)

    @guarded("the end")
    def close(self) -> None:
        """Take all hooks away, and write what is left."""
        self._closed = True
        self._unwatch()
        if self._collects in gc.callbacks:
            gc.callbacks.remove(self._collects)
            self._cores.close()
        self.write()

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


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _after_backward(call: Any) -> None:
    """Let the engine call this once the backward pass that runs now is over."""
    torch.autograd.Variable._execution_engine.queue_callback(call)  # type: ignore[attr-defined]


def _in_backward() -> bool:
    """Whether a backward pass runs on this thread: what is called in it is computed again."""
    running: int = torch._C._current_graph_task_id()
    return running != -1
