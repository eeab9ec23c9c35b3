"""Hear of the passes of a watched model: what each one is, what it held, when it ran backward.

calls of the model, backward passes of what it gave  ->  a step's micro-batches, parts of a clock
"""

import sys
import threading
from typing import Any

import torch
from torch import nn

from batchlab import counts
from batchlab.counts import Taken
from batchlab.monitor import _calls as calls
from batchlab.monitor._calls import Hook
from batchlab.monitor._clock import Clock
from batchlab.monitor._guard import guarded, tell
from batchlab.monitor._probe import Call
from batchlab.monitor._ranks import Cores
from batchlab.monitor._signals import Signals, loss_of
from batchlab.monitor._steps import OUTSIDE, REST, Step, World
from batchlab.monitor._unwrapped import autocast_of, called_inside, mixes_documents

__all__ = ["Passes", "name_of"]

TAIL = "after a pass of generation"  # more of it, if another such pass follows


class Passes:
    """Notes what a model does in the step and on the clock that a recorder gives it."""

    def __init__(self, model: nn.Module, stack: str, *, probe: bool) -> None:
        self.called, self.model, self.stack = model, model, stack
        self.lost: dict[str, str] = {}
        self.device, self.precision, self.world = torch.device("cpu"), "unknown", World()
        self._clock, self._cores = Clock(cuda=False), Cores()
        self._step, self._hooks = Step(), list[Any]()
        self._home, self._lacked = threading.get_ident(), 0.0
        self._shifted, self._decodes, self._known = True, False, False
        self._backward = torch.compiler.disable(lambda _: self.backward_begins())
        self._backward.__torch_unserializable__ = True  # who saves an output needs no warning
        self._depth, self._kind, self._before_tail = 0, "", ""
        self._at_work = self._evaluated = self._closed = False
        self._suspect = self._trains_in_eval = False
        self._before = 0  # micro-batches of the step before this pass
        self._suspected = 0  # how often a pass was suspect
        self._held: tuple[list[Taken], list[bool]] = [], []
        self._to_probe, self._call = probe, Call((), {})
        self._signals, self._number = Signals(), 0  # of the last step that ended
        self.hears_losses, self._is_mean = True, False  # of the passes; a trainer logs its own

    def _watch(self) -> None:
        for one in called_inside(self.called):
            begins: Any = Hook(one, self.call_begins)
            ended: Any = Hook(one, self.call_ended)
            self._hooks += [
                one.register_forward_pre_hook(begins, with_kwargs=True),
                one.register_forward_hook(ended, always_call=True),
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
        before = self._before = len(self._step.taken)
        self._is_mean = kwargs.get("num_items_in_batch") is None  # else its losses add
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
        inside = None if self._known else autocast_of(self.model)
        self._known = True
        if inside or torch.is_autocast_enabled(self.device.type):
            dtype = inside or torch.get_autocast_dtype(self.device.type)
            self.precision = f"autocast-{name_of(dtype)}"

    @guarded("tokens and slots of a micro-batch", again=True)
    def _count(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the pass has token ids; their counts are kept."""
        named = calls.given(args, kwargs)
        batch = calls.micro_batch(named, decodes=self._decodes)
        if batch is None:
            return False
        if self._to_probe:
            self._call = Call(args, kwargs)
        self._step.taken.append(counts.take(batch, shifted=self._shifted))
        bordered = "position_ids" in batch or "cu_seqlens" in batch
        self._step.mixes.append(bordered and mixes_documents(self.model, named))
        return True

    @guarded("forward passes")
    def call_ended(self, module: nn.Module, args: Any, output: Any = None) -> None:
        """The call returned, or failed."""
        self._depth = max(0, self._depth - 1)
        if self._depth or not self._kind:
            return
        self._clock.leave(self._kind)
        if self._kind == calls.GENERATION and self._clock.base != TAIL:
            self._before_tail, self._clock.base = self._clock.base, TAIL
        if self._kind in (calls.TRAINING, calls.SUSPECT):
            if output is None and sys.exc_info()[0]:  # it failed: nothing of it trains
                del self._step.taken[self._before :], self._step.mixes[self._before :]
            self._hear(output)
            self._await_backward(output)
        self._kind = ""

    @guarded("loss")
    def _hear(self, output: Any) -> None:
        """The loss that comes with an output is the mean over the targets of the micro-batch."""
        if not (self.hears_losses and self._is_mean and self._kind == calls.TRAINING):
            return
        loss = loss_of(output)
        if loss is not None and len(self._step.taken) > self._before:
            last = self._step.taken[-1]
            weight = last.sums[4] if last.has_targets else 1
            self._signals.told("loss", self._number + 1, loss, weight)

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
        several = self.world.size > 1
        _after_backward(lambda: self.backward_ended(again=several))

    @guarded("backward")
    def backward_ended(self, *, again: bool) -> None:
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

    def _acquit(self) -> None:
        """A pass with gradients in evaluation mode and no backward pass was an evaluation."""
        if self._suspect:
            self._clock.rename(calls.SUSPECT, "evaluation")
            self._suspect, self._evaluated = False, True


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _after_backward(call: Any) -> None:
    """Let the engine call this once the backward pass that runs now is over."""
    torch.autograd.Variable._execution_engine.queue_callback(call)


def _in_backward() -> bool:
    """Whether a backward pass runs on this thread: what is called in it is computed again."""
    running: int = torch._C._current_graph_task_id()
    return running != -1
