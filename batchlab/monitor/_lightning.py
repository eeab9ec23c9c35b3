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
from batchlab.monitor._recorder import Recorder
from batchlab.monitor._unwrapped import inner_optimizer, stack_of
from batchlab.monitor._watch import checked, hooked

__all__ = ["lightning"]

NAMES = ("lightning.pytorch", "pytorch_lightning")  # the same library under two names
NEXT = ".train_dataloader_next"  # how its profiler calls the wait for a batch
MOST = 0.9  # of the weights: a part of the module that holds as many is the model


def lightning(path: str | Path, *, every: int = 50, probe: bool = False) -> Any:
    """A callback for Lightning's Trainer that records its steps for `doctor`; see `watch`.

    The model is the part of the LightningModule that holds nearly all weights, else the module
    itself: it must be called (`self.model(...)`), not its `forward`.
    """
    checked(every)
    base: Any = _library().Callback

    class Listener(base):  # type: ignore[misc]
        """Hears of batches, validation and checkpoints; hooks tell the rest."""

        def __init__(self) -> None:
            self.stack, self.lost = "Lightning", dict[str, str]()
            self.recorder: Recorder | None = None
            self.hooks: list[Any] = []

        @guarded("the run")
        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            model = _model_in(pl_module)
            self.stack = f"Lightning Trainer ({stack_of(model)})"
            optimizer = inner_optimizer(trainer.optimizers[0])
            self.recorder = Recorder(
                model, path, every=every, source="lightning", stack=self.stack, probe=probe
            )
            self.hooks = hooked(self.recorder, optimizer)
            self.hooks.append(_Fetches(trainer, self.recorder))

        def on_train_batch_start(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.leave("saving")

        def on_validation_start(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.enter("evaluation")

        def on_validation_end(self, *_: Any, **__: Any) -> None:
            if self.recorder:
                self.recorder.leave("evaluation")

        def on_save_checkpoint(self, *_: Any, **__: Any) -> None:
            if self.recorder:  # until the next batch begins
                self.recorder.enter("saving")

        def on_train_end(self, *_: Any, **__: Any) -> None:
            if one := self._end():
                one.tell_if_empty()

        def on_exception(self, *_: Any, **__: Any) -> None:
            self._end()

        def _end(self) -> Recorder | None:
            one, self.recorder = self.recorder, None
            while self.hooks:
                self.hooks.pop().remove()
            if one:
                one.close()
            return one

    return Listener()


class _Fetches:
    """Times the next batch, of which Lightning tells its profiler alone."""

    def __init__(self, trainer: Any, one: Recorder) -> None:
        self._profiler = profiler = trainer.profiler
        start, stop = profiler.start, profiler.stop

        def begins(name: str) -> None:
            start(name)
            if name.endswith(NEXT):
                one.enter("input")

        def ends(name: str) -> None:
            if name.endswith(NEXT):
                one.leave("input")
            stop(name)

        profiler.start, profiler.stop = begins, ends

    def remove(self) -> None:
        del self._profiler.start, self._profiler.stop


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
