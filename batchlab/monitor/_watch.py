"""Record a loop of your own with two lines around it.

    with monitor.watch(model, optimizer, "run.jsonl") as watch:
        for batch in watch(loader):
            ...

Shapes are read from the inputs of the model's forward pass and from the optimizer's steps. What a
loop does besides may be named: `with watch.part("saving"): ...`.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from batchlab.monitor._guard import tell
from batchlab.monitor._logs import To, asked
from batchlab.monitor._recorder import Recorder
from batchlab.monitor._steps import PARTS
from batchlab.monitor._unwrapped import inner_optimizer, stack_of

__all__ = ["Watch", "asks", "checked", "clip_of", "hooked", "timed", "watch"]


@contextlib.contextmanager
def watch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    path: str | Path,
    *,
    every: int = 50,
    probe: bool = False,
    to: To = (),
) -> Iterator["Watch"]:
    """Record a loop of your own while it runs; what was seen is written even if the loop fails.

    Give the model that the loop calls and the optimizer that it steps, as accelerate,
    DistributedDataParallel, FSDP, torch.compile or PEFT wrapped them. Among several ranks each one
    writes a file of its own: `run.rank0.jsonl`, `run.rank1.jsonl`, ...

    A record is written `every` so many steps, and at the end: a process that is killed loses those
    since the last one.

    Whatever fails inside the recorder is told in one line and left out of the record; the loop goes
    on as if nobody watched.

    What is recorded goes `to` TensorBoard, W&B, MLflow and trackio as well, by their names in small
    letters, or to a function of (metrics, step); `batchlab.monitor.metrics` says the names.

    With `probe`, a few forward and backward passes of other sizes run once, after the first steps,
    on rows of the loop's own micro-batch: they tell fixed cost, slots and attention apart.
    Parameters, gradients, buffers, optimizer and random state are afterwards what they were.
    """
    updates, every, to = inner_optimizer(optimizer), checked(every), asked(to)
    stack = f"a loop of your own ({stack_of(model)})"
    one = Recorder(model, path, every=every, source="monitor", stack=stack, probe=probe, to=to)
    hooks = [*hooked(one, updates), updates.register_step_pre_hook(_tells_gradients(one))]
    try:
        yield Watch(one)
    finally:
        for hook in hooks:
            hook.remove()
        one.close()
    one.tell_if_empty()  # not after a failure: that has its own reason


def hooked(one: Recorder, optimizer: torch.optim.Optimizer) -> list[Any]:
    """Let a recorder hear of an optimizer's steps; returns the hooks, to be removed."""

    def ended(*_: Any) -> None:
        one.optimizer_ended()
        one.stepped()

    return [
        optimizer.register_step_pre_hook(lambda *_: one.optimizer_begins()),
        optimizer.register_step_post_hook(ended),
    ]


def _tells_gradients(one: Recorder) -> Callable[..., None]:
    def about_to_step(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if len(args) < 2 and not kwargs:  # a closure would compute them only now
            one.gradients(optimizer)

    return about_to_step


def asks(verb: str, *told: str) -> Any:
    """A method of a listener that asks its recorder, while it has one."""

    def method(self: Any, *_: Any, **__: Any) -> None:
        if self.recorder:
            getattr(self.recorder, verb)(*told)

    return method


def clip_of(asked: float | None) -> float | None:
    """The norm at which a trainer clips; None where it does not."""
    return float(asked) if asked else None


def checked(every: int) -> int:
    if every < 1:
        raise ValueError(f"every must be at least 1 step, got {every}")
    return every


def timed(loader: Any, recorder: Recorder) -> Callable[[], None]:
    """Time a loader that somebody else iterates over; returns what ends that.

    It stays what it is, of a class that differs in `__iter__` only.
    """
    kind = type(loader)

    def batches(self: Any) -> "_Batches":
        return _begun(lambda: kind.__iter__(self), recorder)

    # accelerate's loaders have a property of that name, which nobody can set
    become = vars(object)["__class__"].__set__
    become(loader, type(kind.__name__, (kind,), {"__iter__": batches}))
    return lambda: become(loader, kind)


class Watch:
    """What a loop holds while it is recorded."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __call__(self, loader: Iterable[Any]) -> "_Timed":
        """The same loader, which times how long each of its batches is waited for."""
        return _Timed(loader, self._recorder)

    def log(
        self,
        *,
        loss: Any = None,
        gradient_norm: Any = None,
        clip: float | None = None,
        held_out: Any = None,
    ) -> None:
        """Note numbers of the step that is under way; a tensor is read with the next record.

        The loss that a model gives with its output is heard anyway, and so is the norm of the
        gradients that reach the optimizer, now and then. `clip` is the norm at which they are
        clipped; then give `gradient_norm` as it was before. `held_out`: the loss of an evaluation.
        """
        self._recorder.told("loss", loss)
        self._recorder.told("gradient_norm", gradient_norm)
        self._recorder.told("held_out", held_out)
        self._recorder.clipped(clip)

    def goes_on(self, steps: int) -> None:
        """Say how many steps were done before, of a run that goes on from a checkpoint: tools and
        page then know steps that are taken again.
        """
        self._recorder.step_before = steps

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Give the seconds spent inside a name: input, host, communication, generation,
        evaluation or saving; what runs inside and has a name of its own is not in them.

        On a GPU the seconds are those of the host: put only what it waits for inside.
        """
        if name not in PARTS:
            tell(f"unknown part {name!r}, not recorded; there are {', '.join(PARTS)}")
            yield
            return
        self._recorder.enter(name)
        try:
            yield
        finally:
            self._recorder.leave(name)


class _Timed:
    """A loader as it is, but for iteration, which is timed."""

    def __init__(self, loader: Iterable[Any], recorder: Recorder) -> None:
        self._loader, self._recorder = loader, recorder
        self._own: _Batches | None = None

    def __iter__(self) -> "_Batches":
        return _begun(lambda: iter(self._loader), self._recorder)

    def __next__(self) -> Any:
        self._own = self._own or iter(self)
        return next(self._own)

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _begun(iterate: Callable[[], Iterator[Any]], recorder: Recorder) -> "_Batches":
    recorder.enter("input")
    try:
        return _Batches(iterate(), recorder)
    finally:
        recorder.leave("input")


class _Batches:
    """An iterator as it is, but for the clock around each step of it."""

    def __init__(self, batches: Iterator[Any], recorder: Recorder) -> None:
        self._batches, self._recorder = batches, recorder

    def __iter__(self) -> "_Batches":
        return self

    def __next__(self) -> Any:
        self._recorder.enter("input")
        try:
            return next(self._batches)
        finally:
            self._recorder.leave("input")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)
