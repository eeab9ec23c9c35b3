"""The bench of lesson 13's meter: runs small enough to be known to their last digits.

    a learner's meter, windows of rows  ->  what it said, and what it left behind

Words
    touched  what else of the training a meter changed: mode, schedule, gradients, random state,
             hooks of others
    ahead    a window was asked for before the one before it had been trained
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from batchlab.classroom.probes.bigram import Counting, weights_of
from batchlab.classroom.probes.bigram import made as made_plain
from batchlab.classroom.probes.lesson_13_rows import (
    Biased,
    Window,
    careful_step,
    made,
    micro_batch,
    take_step,
    windows_of,
)

__all__ = ["meter", "stops"]

MOMENT = 1313  # the random state in which a meter starts
STEPS = {"take": take_step, "careful": careful_step}


class Stopped(BaseException):
    """An exception that nobody has heard of."""


KINDS = {kind.__name__: kind for kind in (RuntimeError, ValueError, KeyboardInterrupt, Stopped)}


def stops(yours: Callable[..., Any]) -> bool:
    """Whether a learner's step of lesson 05 makes its gradients by `backward`, as hooks need."""
    model, optimizer, schedule = made_plain()
    heard = []
    hook = model.head.register_post_accumulate_grad_hook(lambda p: heard.append(p))
    yours(model, optimizer, schedule, [micro_batch([3, 4], 1), micro_batch([2], 2)], math.inf)
    hook.remove()
    return len(heard) == 2


class _Bench:
    """A model with its step, which note what somebody else changes."""

    def __init__(
        self,
        model: Biased,
        schedule: Any,
        step: str,
        fails_at: int | None,
        fails_with: str,
        breaks: int | None,
    ) -> None:
        self.model, self.schedule, self.train = model, schedule, model.training
        self.chosen, self.fails_at, self.fails_with = STEPS[step], fails_at, KINDS[fails_with]
        self.calls, self.breaks = 0, breaks
        self.touched: set[str] = set()
        self.ahead = False
        self.gradients, self.random = self._gradients(), torch.get_rng_state()
        self.theirs = [
            model.head.register_hook(lambda gradient: None),
            model.head.register_post_accumulate_grad_hook(lambda p: None),
        ]

    def step(
        self, model: Any, optimizer: Any, schedule: Any, micro_batches: list[Any], max_norm: float
    ) -> float:
        self.compare()
        self.calls += 1
        if self.calls == self.fails_at:
            raise self.fails_with("this step fails")
        loss = self.chosen(model, optimizer, schedule, micro_batches, max_norm)
        torch.rand(3)  # as dropout draws
        self.gradients, self.random = self._gradients(), torch.get_rng_state()
        return loss

    def one_by_one(self, windows: list[Any]) -> Iterator[Any]:
        for number, window in enumerate(windows):
            self.ahead = self.ahead or self.calls < number
            if self.breaks == number + 1:
                raise self.fails_with("these windows fail")
            yield window

    def _gradients(self) -> list[Any]:
        return [None if p.grad is None else p.grad.clone() for p in self.model.parameters()]

    def compare(self) -> None:
        """Note what differs from what the steps themselves have left."""
        trained = self.calls - (self.calls == self.fails_at)
        changed = {
            "mode (train or eval)": self.model.training != self.train,
            "schedule": self.schedule.last_epoch != trained,
            "random state": not torch.equal(self.random, torch.get_rng_state()),
            "gradients between the steps": not all(map(_alike, self.gradients, self._gradients())),
        }
        self.touched |= {what for what, is_so in changed.items() if is_so}

    def close(self) -> None:
        """Compare a last time, and take the hooks of others off."""
        self.compare()
        there = (self.model.head._backward_hooks, self.model.head._post_accumulate_grad_hooks)
        if not all(one and h.id in one for one, h in zip(there, self.theirs, strict=True)):
            self.touched.add("hooks of others")
        for hook in self.theirs:
            hook.remove()


def meter(
    yours: Callable[..., Any],
    windows: Sequence[Window],
    *,
    max_norm: float = math.inf,
    frozen: bool = False,
    loud: float = 0.0,
    quiet: float = 1.0,
    shapes: bool = False,
    step: str = "take",
    fails_at: int | None = None,
    fails_with: str = "RuntimeError",
    breaks: int | None = None,
    refuses: bool = False,
    stream: bool = False,
    before: bool = False,
    evaluating: bool = False,
) -> dict[str, Any]:
    """Run a learner's meter, and say what came back and what it left behind.

    step        "take" is that of lesson 05, "careful" leaves the weights alone at nan
    fails_at    the step of this number raises what fails_with names; refuses: a ValueError is right
    breaks      so do the windows, in place of that number
    stream      the windows come from a generator
    before      a gradient of an earlier step stands in every .grad
    evaluating  the model is in eval mode
    loud, quiet, shapes: of the model, see `lesson_13_rows.Biased`
    said        what it returned; error: the exception in words, empty for none; left: what it left
    """
    awaited = tuple(
        kind
        for kind, is_so in ((ValueError, refuses), (KINDS[fails_with], fails_at or breaks))
        if is_so
    )
    said, error = None, ""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(MOMENT)
        model, optimizer, schedule = made(frozen, loud, quiet, shapes)
        model.train(not evaluating)
        for p in model.parameters():
            if before and p.requires_grad:
                p.grad = torch.full_like(p, 3.0)
        bench = _Bench(model, schedule, step, fails_at, fails_with, breaks)
        given, kept = windows_of(windows), windows_of(windows)
        source = bench.one_by_one(given) if stream or breaks else given
        model.calls.clear()
        try:
            said = yours(bench.step, model, optimizer, schedule, source, max_norm)
        except awaited as raised:
            error = f"{type(raised).__name__}: {raised}"
        except Exception as raised:
            if not (fails_at or breaks):
                raise
            error = f"{type(raised).__name__}: {raised}"
        bench.close()
    return {
        "said": _plain(said), "error": error, "left": _left(model, optimizer, schedule),
        "touched": sorted(bench.touched), "ahead": bench.ahead, "weights": weights_of(model),
        "calls": bench.calls, "forward_calls": model.calls["forward"],
        "altered": not _same_windows(kept, given),
    }  # fmt: skip


def _alike(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is None and new is None
    return torch.equal(old.nan_to_num(), new.nan_to_num())


def _same_windows(kept: list[Any], given: list[Any]) -> bool:
    return all(
        len(a) == len(b) and all(
            x.keys() == y.keys() and all(torch.equal(x[k], y[k]) for k in x)
            for x, y in zip(a, b, strict=True))
        for a, b in zip(kept, given, strict=True))  # fmt: skip


def _left(model: Counting, optimizer: Any, schedule: Any) -> list[str]:
    """Hooks and patches that are still there."""
    found = []
    for p in model.parameters():
        hooks = [getattr(p, name, None) for name in ("_backward_hooks",
                                                     "_post_accumulate_grad_hooks")]  # fmt: skip
        found += ["hooks on parameters"] * any(map(bool, hooks))
    modules = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    found += ["hooks on the model"] * any(getattr(model, name) for name in modules)
    steps = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    found += ["hooks on the optimizer"] * any(getattr(optimizer, name) for name in steps)
    return sorted(set(found))


def _plain(said: Any) -> Any:
    """A dictionary as it came, tensors as Python's own numbers."""
    if type(said) is not dict:
        return said
    return {key: _number(value) for key, value in said.items()}


def _number(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().tolist()
    if isinstance(value, list | tuple):
        return [_number(one) for one in value]
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
