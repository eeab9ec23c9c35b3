"""Record a Lightning Trainer with one callback.

    Trainer(..., callbacks=[monitor.lightning("run.jsonl")])

Lightning runs forward and backward in a closure inside `optimizer.step`; the clock of the recorder
subtracts what runs inside.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from torch import nn

from batchlab.monitor._guard import guarded
from batchlab.monitor._logs import To, asked
from batchlab.monitor._recorder import Recorder
from batchlab.monitor._unwrapped import inner_optimizer, stack_of
from batchlab.monitor._watch import asks, checked, clip_of, hooked

__all__ = ["lightning"]

NAMES = ("lightning.pytorch", "pytorch_lightning")  # the same library under two names
NEXT = ".train_dataloader_next"  # how its profiler calls the wait for a batch
MOST = 0.9  # of the weights: a part of the module that holds as many is the model


def lightning(path: str | Path, *, every: int = 50, probe: bool = False, to: To = ()) -> Any:
    """A callback for Lightning's Trainer that records its steps for `doctor`; see `watch`.

    The model is the part of the LightningModule that holds nearly all weights, else the module
    itself: it must be called (`self.model(...)`), not its `forward`.
    """
    checked(every)
    how: dict[str, Any] = {"every": every, "probe": probe, "to": asked(to)}
    base: Any = _library().Callback

    class Listener(base):  # type: ignore[misc]
        """Hears of batches, validation and checkpoints; hooks tell the rest."""

        def __init__(self) -> None:
            self.stack, self.lost = "Lightning", dict[str, str]()
            self.recorder: Recorder | None = None
            self.hooks: list[Any] = []
            self.each = False  # micro-batch is a step: its loss is that of the step

        @guarded("the run")
        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            model = _model_in(pl_module)
            self.stack = f"Lightning Trainer ({stack_of(model)})"
            optimizer = inner_optimizer(trainer.optimizers[0])
            self.recorder = Recorder(model, path, source="lightning", stack=self.stack, **how)
            self.recorder.step_before = trainer.global_step  # of a checkpoint that it goes on from
            self.hooks = hooked(self.recorder, optimizer)
            self.hooks.append(_Fetches(trainer, self.recorder))
            by_norm = trainer.gradient_clip_algorithm in (None, "norm")
            self.recorder.clip = clip_of(trainer.gradient_clip_val) if by_norm else None
            self.each = trainer.accumulate_grad_batches == 1

        on_train_batch_start = asks("leave", "saving")
        on_validation_start = asks("enter", "evaluation")
        on_validation_end = asks("leave", "evaluation")
        on_save_checkpoint = asks("enter", "saving")  # until the next batch begins

        def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
            if self.recorder:  # before they are clipped
                self.recorder.gradients(inner_optimizer(optimizer))

        @guarded("loss")
        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *_: Any) -> None:
            if self.recorder and self.each and isinstance(outputs, dict):
                self.recorder.told("loss", outputs.get("loss"), unless_heard=True)

        def on_train_end(self, *_: Any, **__: Any) -> None:
            if one := self._end():
                one.tell_if_empty()

        def on_exception(self, *_: Any, **__: Any) -> None:
            self._end()

        @guarded("the end")
        def _end(self) -> Recorder | None:
            one, self.recorder = self.recorder, None
            if one:
                one.close()
            while self.hooks:
                self.hooks.pop().remove()
            return one

    return Listener()


class _Fetches:
    """Times the next batch, of which Lightning tells its profiler alone."""

    def __init__(self, trainer: Any, one: Recorder) -> None:
        self._profiler = profiler = trainer.profiler
        start, stop = profiler.start, profiler.stop

        def begins(name: Any) -> None:
            start(name)
            if str(name).endswith(NEXT):
                one.enter("input")

        def ends(name: Any) -> None:
            if str(name).endswith(NEXT):
                one.leave("input")
            stop(name)

        profiler.start, profiler.stop = begins, ends

    def remove(self) -> None:
        for name in ("start", "stop"):  # unless somebody has put back the class's own
            vars(self._profiler).pop(name, None)


def _library() -> Any:
    """Lightning, under the name by which the loop has imported it."""
    for name in (*(one for one in NAMES if one in sys.modules), *NAMES):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError("Lightning is not installed: pip install lightning")


def _model_in(module: nn.Module) -> nn.Module:
    def size(one: nn.Module) -> int:
        return sum(weights.numel() for weights in one.parameters())

    largest = max(module.children(), key=size, default=module)
    return largest if size(largest) >= MOST * size(module) else module
