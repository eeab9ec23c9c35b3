"""Watch a learner's optimizer step: what it calls, what it holds, where the weights go.

    a step function, target tokens of each micro-batch  ->  counts, weights, a timeline

The step is a function of (model, optimizer, schedule, micro_batches, max_norm), as lesson 05 asks
for it.
"""

import contextlib
import copy
import functools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch import Tensor

from batchlab.classroom.probes.bigram import (
    Counting,
    Layered,
    handed_over,
    left_behind,
    lone,
    made,
    planted,
    weights_of,
    windows_of,
)

__all__ = ["Step", "altered", "steps", "timeline"]

Step = Callable[..., Any]


def steps(
    step: Step,
    windows: Sequence[Sequence[int]],
    *,
    max_norm: float = math.inf,
    diverged: str = "",
    only: int | None = None,
    training: bool = True,
    loud: float = 1.0,
    late: int = 0,
) -> dict[str, Any]:
    """Run `step` on each window, given as target tokens per micro-batch, and say what was seen.

    weights          after each window, flat; losses: what the step returned
    returned         what kind of thing it returned; a tensor may hold its graph
    left             what of model and optimizer is otherwise than before, besides the weights
    optimizer_steps, schedule_steps, backward_calls, zero_grad_calls, forward_calls: over all
    order            "optimizer" and "schedule" in the order of their steps
    peak_live        most micro-batches that were live at once
    altered          what became of the list of micro-batches; empty: it is as it was
    training         the mode in which the model is handed over
    diverged="nan" or "inf" gives weights that make the loss so, as after a step too far; `only`
    is then the one micro-batch of the first window that it meets. `loud` makes losses and
    gradients long; `late` is the step at which the schedule stands.
    """
    model, optimizer, schedule = made(Layered(loud).handed(training))
    model.diverge(diverged, None if only is None else lone(windows_of(windows)[0], only, diverged))
    schedule.last_epoch = late
    planted(optimizer)
    handed = handed_over(model)
    weights, losses, returned, change = [], [], [], ""
    with _watched(model, optimizer, schedule):
        for window in windows_of(windows):
            before = copy.deepcopy(window)
            loss = step(model, optimizer, schedule, window, max_norm)
            returned.append(_kind(loss))
            losses.append(_number(loss))
            weights.append(weights_of(model))
            change = change or altered(before, window)
    order = [name for name in model.order if name in {"optimizer", "schedule"}]
    left = left_behind(model, optimizer, handed)
    more: dict[str, Any] = {"returned": returned, "altered": change, "order": order, "left": left}
    seen = {f"{name}_calls": model.calls[name] for name in ("forward", "backward", "zero_grad")}
    counts = {f"{name}_steps": model.calls[name] for name in ("optimizer", "schedule")}
    more |= {"weights": weights, "losses": losses, "peak_live": model.peak_live}
    return {**more, **seen, **counts}


def timeline(step: Step, window: Sequence[int]) -> list[tuple[str, dict[str, float]]]:
    """KiB of activations and of gradients that are held after each event of one step."""
    model, optimizer, schedule = made()
    with _watched(model, optimizer, schedule):
        step(model, optimizer, schedule, *windows_of([window]), math.inf)
    return model.events


def altered(before: list[dict[str, Tensor]], after: list[dict[str, Tensor]]) -> str:
    """What became of a list of micro-batches, in words; empty where it is as it was."""
    if len(before) != len(after):
        return f"it had {len(before)} micro-batches, and has {len(after)}"
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.keys() != new.keys():
            return f"micro-batch {number} has the keys {', '.join(new)}"
        for name in old:
            if not torch.equal(old[name], new[name]):
                return f"micro-batch {number} has other {name}"
    return ""


def _kind(loss: object) -> str:
    if isinstance(loss, Tensor):
        return "a tensor with its graph" if loss.requires_grad else "a tensor"
    return "a float" if isinstance(loss, float | np.floating) else type(loss).__name__


def _number(loss: object) -> object:
    return loss.detach().tolist() if isinstance(loss, Tensor) else loss


@contextlib.contextmanager
def _watched(model: Counting, optimizer: Any, schedule: Any) -> Iterator[None]:
    """Count the calls that matter, wherever they come from."""

    def counted(name: str, call: Callable[..., Any], event: str = "") -> Callable[..., Any]:
        @functools.wraps(call)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            model.calls[name] += 1
            model.order.append(name)
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
    with mock.patch("torch.autograd.backward", backward), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of the order, which `order` shows
        yield
