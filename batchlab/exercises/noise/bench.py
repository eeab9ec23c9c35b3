"""The bench of the noise meter: rows with planted gradients, and a step that notes who touches it.

    a meter, windows of rows  ->  what it said, and what it left behind, as plain data

Words
    row      given as its target tokens; a row of 0 is a prompt alone, which nothing trains
    window   the micro-batches of one optimizer step, each a list of rows
    PADDING  a row of padding from end to end
    POISON   a row that makes the gradient of its micro-batch nan
    HUGE     a row whose gradient is finite, and its square is not
    COUNTER  a row whose gradient is that of a huge one with the other sign
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab.counts import IGNORE
from batchlab.exercises.accumulation.bigram import RATE, VOCABULARY, Counting, weights_of
from batchlab.exercises.accumulation.take_step import take_step
from batchlab.exercises.accumulation.watch import altered

__all__ = ["made", "micro_batch", "seen", "windows_of"]

Window = Sequence[Sequence[int]]
POISON, HUGE, COUNTER, PADDING = -1, -2, -3, -4
TARGETS = 3  # of a row that poisons, is huge or is a counter
LONG, LONGER, LONGEST = 10, 12, 14  # slots: longer ones skip the bias; are huge; are counters
MOMENT = 1313  # the random state in which a meter starts


class Stopped(BaseException):
    """An exception that nobody has heard of."""


KINDS = {kind.__name__: kind for kind in (RuntimeError, ValueError, KeyboardInterrupt, Stopped)}


def micro_batch(rows: Sequence[int], seed: int) -> dict[str, Tensor]:
    """A micro-batch of rows with so many targets each; the last token poisons."""
    alike = list(rows) in ([HUGE], [COUNTER])  # the same tokens, so that both add up to nothing
    draw = torch.Generator().manual_seed(7000 + (0 if alike else seed))
    least = LONGEST if COUNTER in rows else LONGER if HUGE in rows else 4
    length = 1 + max([least, *rows])
    input_ids = torch.randint(VOCABULARY - 1, (len(rows), length), generator=draw)
    labels = input_ids.clone()  # the first label of a row is never read, and is no IGNORE here
    counts = [{PADDING: 0}.get(one, TARGETS if one < 0 else one) for one in rows]
    for row, (kind, targets) in enumerate(zip(rows, counts, strict=True)):
        if kind == POISON:
            input_ids[row, 0] = VOCABULARY - 1
        labels[row, 0 if kind == PADDING else 1 + targets :] = IGNORE
    # a row without targets has real tokens, too: a prompt alone, of which the mask says nothing
    held = torch.tensor([1 + max(one, 2) for one in counts])
    mask = (torch.arange(length) < held[:, None]).long()
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


def windows_of(windows: Sequence[Window]) -> list[list[dict[str, Tensor]]]:
    """Micro-batches of windows that are given as the target tokens of each row."""
    return [
        [micro_batch(rows, 100 * w + k) for k, rows in enumerate(window)]
        for w, window in enumerate(windows)
    ]


class Biased(Counting):
    """The bigram model with a bias, which micro-batches of more than LONG slots do not use.

    shapes  a number, a cube and four dimensions learn beside vector and tables
    """

    def __init__(self, shapes: bool) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-0.4, 0.7, VOCABULARY, dtype=torch.double))
        self.tied = self.bias  # one parameter under two names, as weights are tied
        self.more = nn.ParameterList()
        for shape in ((), (2, 3, 2), (3, 1, 2, 2)) if shapes else ():
            self.more.append(nn.Parameter(torch.full(shape, 1.5, dtype=torch.double)))

    def scores(self, input_ids: Tensor) -> Tensor:
        logits = super().scores(input_ids)
        if len(self.more):
            gain, cube, four = self.more
            logits = gain * logits + cube.flatten() + 2 * four.flatten()
        slots = input_ids.shape[1]
        if LONG < slots <= LONGER:
            return logits
        huge = 0.0 if slots <= LONGER else 1e200 if slots <= LONGEST else -1e200
        return logits + self.bias + huge * (self.bias - self.bias.detach())


def made(frozen: bool = False, shapes: bool = False) -> tuple[Biased, Any, Any]:
    """A model, plain gradient descent, and a schedule that changes nothing."""
    model = Biased(shapes)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    with torch.no_grad():
        model.embedding[VOCABULARY - 1] = torch.nan  # met by poisoned rows only
    model.embedding.requires_grad_(not frozen)
    return model, optimizer, schedule


def _careful(
    model: Any, optimizer: Any, schedule: Any, micro_batches: list[Any], max_norm: float
) -> float:
    """A step that leaves the weights alone where the gradient is not finite, and clears up."""
    before = [p.detach().clone() for p in model.parameters()]
    loss: float = take_step(model, optimizer, schedule, micro_batches, max_norm)
    if not all(
        bool(torch.isfinite(p.grad).all()) for p in model.parameters() if p.grad is not None
    ):
        with torch.no_grad():
            for p, old in zip(model.parameters(), before, strict=True):
                p.copy_(old)
    optimizer.zero_grad()
    return loss


class _Bench:
    """A model with its step, which note what somebody else changes."""

    def __init__(self, model: Biased, schedule: Any, step: str, fails: str, at: str) -> None:
        self.model, self.schedule, self.training = model, schedule, model.training
        self.chosen = {"take": take_step, "careful": _careful}[step]
        self.fails, self.at, self.calls = fails, at, 0
        self.touched: set[str] = set()
        self.ahead = False
        self._remember()
        self.theirs = [
            model.head.register_hook(lambda gradient: None),
            model.head.register_post_accumulate_grad_hook(lambda p: None),
        ]

    def step(
        self, model: Any, optimizer: Any, schedule: Any, micro_batches: list[Any], max_norm: float
    ) -> float:
        self.compare()
        if self.fails and self.at == "step" and self.calls == 1:
            raise KINDS[self.fails]("this step fails")
        self.calls += 1
        loss: float = self.chosen(model, optimizer, schedule, micro_batches, max_norm)
        torch.rand(3)  # as dropout draws
        self._remember()
        return loss

    def one_by_one(self, windows: list[Any]) -> Iterator[Any]:
        for number, window in enumerate(windows):
            self.ahead = self.ahead or self.calls < number
            if self.fails and self.at == "windows" and number == 1:
                raise KINDS[self.fails]("these windows fail")
            yield window

    def _remember(self) -> None:
        self.gradients, self.random = self._gradients(), torch.get_rng_state()

    def _gradients(self) -> list[Any]:
        return [None if p.grad is None else p.grad.clone() for p in self.model.parameters()]

    def compare(self) -> None:
        """Note what differs from what the steps themselves have left."""
        changed = {
            "mode (train or eval)": self.model.training != self.training,
            "schedule": self.schedule.last_epoch != self.calls,
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


def seen(
    meter: Callable[..., Any],
    windows: Sequence[Window],
    *,
    max_norm: float = math.inf,
    frozen: bool = False,
    shapes: bool = False,
    step: str = "take",
    stream: bool = False,
    before: bool = False,
    evaluating: bool = False,
    fails: str = "",
    at: str = "step",
) -> dict[str, Any]:
    """Run a meter, and say what came back and what it left behind, in order of judging.

    step    "take" is that of lesson 05, "careful" leaves the weights alone at nan
    stream  the windows come from a generator; before: old gradients stand in every .grad
    fails   what the second step raises, or the windows in its place (at="windows")
    """
    said, error = None, ""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(MOMENT)
        model, optimizer, schedule = made(frozen, shapes)
        model.train(not evaluating)
        for p in model.parameters():
            if before and p.requires_grad:
                p.grad = torch.full_like(p, 3.0)
        bench = _Bench(model, schedule, step, fails, at)
        given, kept = windows_of(windows), windows_of(windows)
        source = bench.one_by_one(given) if stream or at == "windows" else given
        model.calls.clear()
        try:
            said = meter(bench.step, model, optimizer, schedule, source, max_norm)
        except (Exception, KeyboardInterrupt, Stopped) as raised:
            if not fails and len(windows) > 1:
                raise
            error = type(raised).__name__
        bench.close()
    left = {"hooks left": _left(model, optimizer)}
    if fails or len(windows) < 2:
        return {"the exception": error or "none", **left}
    changes = [altered(*pair) for pair in zip(kept, given, strict=True)]
    return {
        "steps": bench.calls,
        "the windows": next((f"{one}: work on copies" for one in changes if one), ""),
        "forward passes": model.calls["forward"],
        **left,
        "changed beside the steps": sorted(bench.touched),
        "order": "a window is asked for before the one before is trained" * bench.ahead,
        "weights": np.array(weights_of(model)),
        **_plain(said),
    }


def _alike(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is None and new is None
    return torch.equal(old.nan_to_num(), new.nan_to_num())


def _left(model: Biased, optimizer: Any) -> list[str]:
    """Where hooks are still there."""
    found = []
    for p in model.parameters():
        if p._backward_hooks or p._post_accumulate_grad_hooks:
            found.append("on parameters")
    modules = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    found += ["on the model"] * any(getattr(model, name) for name in modules)
    steps = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    found += ["on the optimizer"] * any(getattr(optimizer, name) for name in steps)
    return sorted(set(found))


def _plain(said: Any) -> dict[str, Any]:
    """What a meter returned, of the four that are asked, as Python's own numbers."""
    wished = ("losses", "readings", "scale", "error")
    if not isinstance(said, dict):
        raise TypeError(f"a dictionary with {', '.join(wished)} is needed, not {said!r:.60}")
    found = {name: _number(said[name]) for name in wished if name in said}
    losses = found.get("losses")
    if isinstance(losses, list) and all(isinstance(one, float) for one in losses):
        found["losses"] = np.array(losses)
    return found


def _number(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_number(one) for one in value]
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
