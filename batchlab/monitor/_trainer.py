"""Record a transformers or TRL trainer with one callback.

Trainer(..., callbacks=[monitor.callback("run.jsonl")])
"""

import atexit
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from batchlab.monitor._guard import guarded
from batchlab.monitor._logs import To, asked
from batchlab.monitor._recorder import Recorder
from batchlab.monitor._tools import TOOLS
from batchlab.monitor._unwrapped import stack_of
from batchlab.monitor._watch import asks, checked, clip_of, timed

__all__ = ["callback"]

BETWEEN = "between two steps"  # logging, evaluation, saving, or waiting for input


def _reported(args: Any) -> list[str]:
    """The tools that a trainer reports to, as far as there is an adapter."""
    given = args.report_to
    return [one for one in ([given] if isinstance(given, str) else given or ()) if one in TOOLS]


def _name(args: Any) -> str:
    """The trainer, by its arguments."""
    name = type(args).__name__
    return name.replace("TrainingArguments", "Trainer").replace("Config", "Trainer")


def _hear(one: Recorder, logs: Mapping[str, Any]) -> None:
    """What a trainer logs, and that it was logging, or evaluating, until now."""
    evaluated = any(str(name).startswith("eval") for name in logs)  # before it ends
    one.was("evaluation" if evaluated else "host")
    one.told("loss", logs.get("loss"))
    one.told("gradient_norm", logs.get("grad_norm"))


class _Ends:
    """What ends a recording once, whoever asks for it."""

    stack = "Trainer"
    recorder: Recorder | None = None
    untimed: Callable[[], None] | None = None

    @guarded("the end")
    def _end(self) -> Recorder | None:
        atexit.unregister(self._end)
        one, self.recorder = self.recorder, None
        untimed, self.untimed = self.untimed, None
        if one:
            one.close()
        if untimed:
            untimed()
        return one


def callback(
    path: str | Path, *, every: int = 50, probe: bool = False, to: To | None = None
) -> Any:
    """A callback for the trainers of transformers and TRL that records their steps for `doctor`.

    It takes what `watch` takes and promises the same: whatever fails in it ends no training. It
    logs `to` the tools that the trainer reports to, unless you say which. A trainer tells nobody
    that it failed: what was seen of that training is written when the next one begins or Python
    ends.
    """
    from transformers import TrainerCallback

    checked(every)
    named = None if to is None else asked(to)

    class Listener(_Ends, TrainerCallback):
        """Hears of the steps, and of what lay between two of them once it is over."""

        def __init__(self) -> None:
            self.lost: dict[str, str] = {}

        @guarded("the run")
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self._end()  # of a training that failed
            atexit.register(self._end)
            model, self.stack = kwargs["model"], _name(args)
            self.recorder = one = Recorder(
                model, path, every=every, source="trainer", probe=probe,
                to=_reported(args) if named is None else named,
                stack=f"{self.stack} ({stack_of(model)})",
            )  # fmt: skip
            if args.bf16 or args.fp16:  # its autocast region lies inside the forward pass
                one.precision = "autocast-bfloat16" if args.bf16 else "autocast-float16"
            one.hears_losses, one.clip = False, clip_of(args.max_grad_norm)
            one.step_before = state.global_step
            one.between(BETWEEN)
            self.untimed = timed(kwargs["train_dataloader"], one)

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            if one := self.recorder:  # a loader that nobody times is all that is between
                one.was("host" if one.heard("input") else "input")
                one.begin_host()

        on_pre_optimizer_step = asks("optimizer_begins")
        on_optimizer_step = asks("optimizer_ended")
        on_step_end = asks("stepped")

        @guarded("parts between two steps")
        def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.recorder:
                _hear(self.recorder, kwargs.get("logs") or {})

        on_evaluate = on_predict = asks("was", "evaluation")
        on_save = asks("was", "saving")

        def on_train_end(self, *_: Any, **__: Any) -> None:
            if one := self._end():
                one.tell_if_empty()

    return Listener()
