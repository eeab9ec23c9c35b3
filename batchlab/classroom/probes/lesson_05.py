"""Watch a learner's optimizer step: what it calls, what it holds, where the weights go.

    a step function, target tokens of each micro-batch  ->  counts, weights, a timeline

The step is a function of (model, optimizer, schedule, micro_batches, max_norm), as lesson 05 asks
for it. The model is a bigram table in float64: small enough to be judged to the last digits.

Words
    window     the micro-batches of one optimizer step
    live       a micro-batch whose saved activations have not been freed
    recipe     a way to take the step, the right one or a known wrong one
"""

import contextlib
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab import loop
from batchlab.loop import IGNORE

__all__ = ["MISTAKES", "micro_batch", "popular_step", "recipe", "steps", "timeline"]

VOCABULARY, WIDTH, RATE = 12, 6, 0.5
Step = Callable[..., Any]

MISTAKES = {
    "mean of means": "the mean of the micro-batches' means: divide each sum by the step's targets",
    "no division": "the sum over all tokens: divide by the target tokens of the step",
    "divided twice": "divided by the target tokens and by the number of micro-batches as well",
    "last only": "only the last micro-batch arrived: zero_grad() inside the loop wipes the others",
    "left over": "the gradient of the window before is still in it: zero_grad() once a window",
    "unclipped": "the gradient was not clipped",
    "clip each": "clipped after each micro-batch: the norm that counts is that of the whole step",
    "clip first": "clipped before the division: the norm that counts is that of the mean gradient",
    "step each": "one optimizer step per micro-batch: these are small batches",
}


class Counting(nn.Module):
    """A bigram model that notes each forward pass and what it keeps for the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        draw = functools.partial(torch.randn, generator=torch.Generator().manual_seed(5))
        self.embedding = nn.Parameter(draw(VOCABULARY, WIDTH).double())
        self.head = nn.Parameter(draw(VOCABULARY, WIDTH).double())
        self.calls: Counter[str] = Counter()
        self.held: Counter[int] = Counter()  # bytes kept, by number of the forward pass
        self.peak_live = 0
        self.events: list[tuple[str, dict[str, float]]] = []

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        number = self.calls["forward"]
        self.calls["forward"] += 1

        def keep(value: Tensor) -> "_Kept":
            own = all(value.data_ptr() != p.data_ptr() for p in self.parameters())
            # a clone: the value itself may hold the graph that holds it
            return _Kept(self.held, number, value.clone(), value.nbytes if own else 0)

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept.value):
            logits = torch.tanh(F.embedding(input_ids, self.embedding)) @ self.head.T
        self.peak_live = max(self.peak_live, len(+self.held))
        self.note("forward")
        return logits

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.calls["zero_grad"] += 1
        super().zero_grad(set_to_none)

    def note(self, event: str) -> None:
        grads = sum(p.grad.nbytes for p in self.parameters() if p.grad is not None)
        held = {"activations": sum(self.held.values()) / 1024, "gradients": grads / 1024}
        self.events.append((event, held))


class _Kept:
    """A saved tensor that is taken off the list when autograd lets go of it."""

    def __init__(self, held: Counter[int], number: int, value: Tensor, size: int) -> None:
        self.held, self.number, self.value, self.size = held, number, value, size
        held[number] += size

    def __del__(self) -> None:
        self.held[self.number] -= self.size


def micro_batch(targets: int, seed: int, *, rows: int = 2) -> dict[str, Tensor]:
    """Rows of random tokens with exactly `targets` target tokens, all in the first rows.

    >>> int((micro_batch(7, seed=0)["labels"][:, 1:] != IGNORE).sum())
    7
    """
    draw = torch.Generator().manual_seed(1000 + seed)
    length = 1 + max(4, -(-targets // rows))
    input_ids = torch.randint(VOCABULARY, (rows, length), generator=draw)
    labels = input_ids.clone()
    labels[:, 0] = IGNORE
    flat = labels[:, 1:].reshape(-1)
    flat[targets:] = IGNORE
    labels[:, 1:] = flat.view(rows, length - 1)
    return {"input_ids": input_ids, "labels": labels}


def steps(
    step: Step, windows: Sequence[Sequence[int]], *, max_norm: float = math.inf
) -> dict[str, Any]:
    """Run `step` on each window, given as target tokens per micro-batch, and say what was seen.

    weights          after each window, flat; losses: what the step returned
    optimizer_steps, schedule_steps, backward_calls, zero_grad_calls, forward_calls: over all
    peak_live        most micro-batches that were live at once
    """
    model, optimizer, schedule = _made()
    weights, losses = [], []
    with _watched(model, optimizer, schedule):
        for window in _data(windows):
            losses.append(_number(step(model, optimizer, schedule, window, max_norm)))
            weights.append(_flat(model))
    seen = {f"{name}_calls": model.calls[name] for name in ("forward", "backward", "zero_grad")}
    counts = {f"{name}_steps": model.calls[name] for name in ("optimizer", "schedule")}
    return {"weights": weights, "losses": losses, "peak_live": model.peak_live, **seen, **counts}


def timeline(step: Step, window: Sequence[int]) -> list[tuple[str, dict[str, float]]]:
    """KiB of activations and of gradients that are held after each event of one step."""
    model, optimizer, schedule = _made()
    with _watched(model, optimizer, schedule):
        step(model, optimizer, schedule, *_data([window]), math.inf)
    return model.events


def popular_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, micro_batches: Sequence[dict[str, Tensor]]
) -> float:
    """The step of many tutorials: each micro-batch's mean, divided by their number."""
    reported = 0.0
    optimizer.zero_grad()
    for one in micro_batches:
        loss = loop.summed_loss(loop.logits_of(model, one), one["labels"]) / _targets(one)
        (loss / len(micro_batches)).backward()
        reported += loss.item() / len(micro_batches)
    optimizer.step()
    return reported


def recipe(
    name: str, windows: Sequence[Sequence[int]], *, max_norm: float = math.inf
) -> dict[str, list]:
    """Weights and losses after each window by one recipe: "right", or a name of MISTAKES.

    The right one has no loop: PyTorch's own mean over the targets of the whole window. `losses`
    are per target token, `means` the means of the micro-batches' means.
    """
    model, optimizer, _ = _made()
    weights, losses, averages = [], [], []
    for window in _data(windows):
        means = [_loss(model, [one]) for one in window]
        if name != "left over":
            optimizer.zero_grad()
        if name in {"clip each", "step each"}:
            _piece_by_piece(name, model, optimizer, window, max_norm)
        else:
            _scaled(name, model, window).backward()
            if name != "unclipped":
                # to clip the sum and then divide is to clip the mean to a fraction of the norm
                tokens = sum(map(_targets, window)) if name == "clip first" else 1
                nn.utils.clip_grad_norm_(model.parameters(), max_norm / tokens)
            optimizer.step()
        losses.append(float(_whole(means, window)))
        averages.append(float(torch.stack(means).detach().mean()))
        weights.append(_flat(model))
    return {"weights": weights, "losses": losses, "means": averages}


def _scaled(name: str, model: nn.Module, window: list[dict[str, Tensor]]) -> Tensor:
    """The loss whose gradient a recipe follows."""
    tokens = sum(map(_targets, window))
    factor = {"no division": tokens, "divided twice": 1 / len(window)}.get(name, 1)
    if name == "mean of means":
        return torch.stack([_loss(model, [one]) for one in window]).mean()
    if name == "last only":
        return _loss(model, window[-1:]) * _targets(window[-1]) / tokens
    return _loss(model, window) * factor


def _piece_by_piece(
    name: str, model: nn.Module, optimizer: Any, window: list[dict[str, Tensor]], max_norm: float
) -> None:
    tokens = sum(map(_targets, window))
    for one in window:
        (_loss(model, [one]) * _targets(one) / tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        if name == "step each":
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()


def _whole(means: list[Tensor], window: list[dict[str, Tensor]]) -> Tensor:
    counts = torch.tensor([_targets(one) for one in window]).double()
    return (torch.stack(means).detach().nan_to_num() * counts).sum() / counts.sum()


def _loss(model: nn.Module, window: list[dict[str, Tensor]]) -> Tensor:
    """PyTorch's mean over all targets of some micro-batches together."""
    logits = [model(one["input_ids"])[:, :-1].flatten(0, 1) for one in window]
    labels = [one["labels"][:, 1:].flatten() for one in window]
    return F.cross_entropy(torch.cat(logits), torch.cat(labels), ignore_index=IGNORE)


def _targets(one: dict[str, Tensor]) -> int:
    return int((one["labels"][:, 1:] != IGNORE).sum())


def _data(windows: Sequence[Sequence[int]]) -> list[list[dict[str, Tensor]]]:
    return [
        [micro_batch(int(targets), 100 * w + k) for k, targets in enumerate(window)]
        for w, window in enumerate(windows)
    ]


def _made() -> tuple[Counting, torch.optim.Optimizer, Any]:
    model = Counting()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


def _flat(model: nn.Module) -> list[float]:
    flat: list[float] = nn.utils.parameters_to_vector(model.parameters()).tolist()
    return flat


def _number(loss: object) -> object:
    return loss.detach().tolist() if isinstance(loss, Tensor) else loss


@contextlib.contextmanager
def _watched(model: Counting, optimizer: Any, schedule: Any) -> Iterator[None]:
    """Count the calls that matter, wherever they come from."""

    def counted(name: str, call: Callable[..., Any], event: str = "") -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            model.calls[name] += 1
            result = call(*arguments, **options)
            if event:
                model.note(event)
            return result

        return wrapper

    backward = counted("backward", torch.autograd.backward, "backward")
    optimizer.step = counted("optimizer", optimizer.step, "step")
    optimizer.zero_grad = counted("zero_grad", optimizer.zero_grad)
    schedule.step = counted("schedule", schedule.step)
    model.calls.clear()
    with mock.patch("torch.autograd.backward", backward):
        yield
