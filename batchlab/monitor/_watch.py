"""Record the training that you already have, so that `doctor` can read it.

    a loop of your own, or a transformers Trainer  ->  cell records

Two lines around any loop:

    with monitor.watch(model, optimizer, "run.jsonl") as watch:
        for batch in watch(loader):
            ...

or one callback: `Trainer(..., callbacks=[monitor.callback("run.jsonl")])`. Shapes are read from the
inputs of the model's forward pass and from the optimizer's steps. A loop that calls collectives by
itself may name them: `with watch.part("communication"): ...`.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from batchlab.monitor._recorder import Recorder
from batchlab.monitor._unwrapped import inner_optimizer

__all__ = ["callback", "watch"]


@contextlib.contextmanager
def watch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    path: str | Path,
    *,
    every: int = 50,
    probe: bool = False,
) -> Iterator[Recorder]:
    """Record a loop of your own while it runs; what was seen is written even if the loop fails.

    Give the model that the loop calls and the optimizer that it steps, as accelerate,
    DistributedDataParallel, torch.compile or PEFT wrapped them.

    With `probe`, a few forward and backward passes of other sizes run once, after the first steps,
    on rows of the loop's own micro-batch: they tell fixed cost, slots and attention apart.
    Parameters, gradients, buffers, optimizer and random state are afterwards what they were.
    """
    updates = inner_optimizer(optimizer)
    one = Recorder(model, path, every=_checked(every), source="monitor", probe=probe)

    def ended(*_: Any) -> None:
        one.optimizer_ended()
        one.stepped()

    hooks = [
        updates.register_step_pre_hook(lambda *_: one.optimizer_begins()),
        updates.register_step_post_hook(ended),
    ]
    try:
        yield one
    finally:
        for hook in hooks:
            hook.remove()
        one.close()
    one.warn_if_empty()  # not after a failure: that has its own reason


def callback(path: str | Path, *, every: int = 50, probe: bool = False) -> Any:
    """A callback for transformers' Trainer that records its steps for `doctor`; see `watch`."""
    from transformers import TrainerCallback

    _checked(every)

    class Listener(TrainerCallback):
        """What lies between two steps is logging, evaluation, saving, and waiting for input."""

        recorder: Recorder | None = None
        heard = 0.0

        def since(self) -> float:
            """Seconds since this was last asked."""
            before, self.heard = self.heard, time.perf_counter()
            return self.heard - before

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.recorder = Recorder(
                kwargs["model"], path, every=every, source="trainer", probe=probe
            )
            if args.bf16 or args.fp16:  # its autocast region lies inside the forward pass
                self.recorder.precision = "autocast-bfloat16" if args.bf16 else "autocast-float16"
            self.since()

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder:
                self.recorder.add("input", self.since())

        def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.optimizer_begins()

        def on_optimizer_step(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.optimizer_ended()

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder:
                self.recorder.stepped()
                self.since()

        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder and any(name.startswith("eval") for name in kwargs.get("logs") or {}):
                self.recorder.leave_out(self.since())  # an evaluation logs before it ends
            elif self.recorder:
                self.recorder.add("host", self.since())

        def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder:
                self.recorder.leave_out(self.since())

        on_save = on_evaluate

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder:
                self.recorder.close()
                self.recorder.warn_if_empty()

    return Listener()


def _checked(every: int) -> int:
    if every < 1:
        raise ValueError(f"every must be at least 1 step, got {every}")
    return every
