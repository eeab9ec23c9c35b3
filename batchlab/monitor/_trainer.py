"""Record a transformers or TRL trainer with one callback.

Trainer(..., callbacks=[monitor.callback("run.jsonl")])
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from batchlab.monitor._guard import guarded
from batchlab.monitor._recorder import Recorder
from batchlab.monitor._unwrapped import stack_of
from batchlab.monitor._watch import checked, timed

__all__ = ["callback"]

BETWEEN = "between two steps"  # logging, evaluation, saving, or waiting for input


def _asks(verb: str, *told: str) -> Any:
    """A method of a listener that asks its recorder, while it has one."""

    def method(self: Any, *_: Any, **__: Any) -> None:
        if self.recorder:
            getattr(self.recorder, verb)(*told)

    return method


def callback(path: str | Path, *, every: int = 50, probe: bool = False) -> Any:
    """A callback for the trainers of transformers and TRL that records their steps for `doctor`.

    It takes what `watch` takes and promises the same: whatever fails in it ends no training.
    """
    from transformers import TrainerCallback

    checked(every)

    class Listener(TrainerCallback):
        """Hears of the steps, and of what lay between two of them once it is over."""

        stack, recorder = "Trainer", None

        def __init__(self) -> None:
            self.lost: dict[str, str] = {}
            self.untimed: Callable[[], None] | None = None

        @guarded("the run")
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            model, name = kwargs["model"], type(args).__name__
            self.stack = name.replace("TrainingArguments", "Trainer").replace("Config", "Trainer")
            self.recorder = one = Recorder(
                model, path, every=every, source="trainer", probe=probe,
                stack=f"{self.stack} ({stack_of(model)})",
            )  # fmt: skip
            if args.bf16 or args.fp16:  # its autocast region lies inside the forward pass
                one.precision = "autocast-bfloat16" if args.bf16 else "autocast-float16"
            one.between(BETWEEN)
            self.untimed = timed(kwargs["train_dataloader"], one)

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            if one := self.recorder:  # a loader that nobody times is all that is between
                one.was("host" if one.heard("input") else "input")
                one.begin_host()

        on_pre_optimizer_step = _asks("optimizer_begins")
        on_optimizer_step = _asks("optimizer_ended")
        on_step_end = _asks("stepped")

        @guarded("parts between two steps")
        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            names = kwargs.get("logs") or {}
            evaluated = any(str(name).startswith("eval") for name in names)  # before it ends
            if self.recorder:
                self.recorder.was("evaluation" if evaluated else "host")

        on_evaluate = on_predict = _asks("was", "evaluation")
        on_save = _asks("was", "saving")

        def on_train_end(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.close()
                self.recorder.tell_if_empty()
                self.recorder = None
            if self.untimed:
                self.untimed()

    return Listener()
