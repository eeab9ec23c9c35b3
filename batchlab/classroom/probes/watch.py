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

import torch
from torch import Tensor

from batchlab.classroom.probes.bigram import Counting, made, weights_of, windows_of

__all__ = ["Step", "same", "steps", "timeline"]

Step = Callable[..., Any]


def steps(
    step: Step,
    windows: Sequence[Sequence[int]],
    *,
    max_norm: float = math.inf,
    diverged: bool = False,
) -> dict[str, Any]:
    """Run `step` on each window, given as target tokens per micro-batch, and say what was seen.

    weights          after each window, flat; losses: what the step returned
    returned         what kind of thing it returned; a tensor may hold its graph
    optimizer_steps, schedule_steps, backward_calls, zero_grad_calls, forward_calls: over all
    order            "optimizer" and "schedule" in the order of their steps
    peak_live        most micro-batches that were live at once
    kept             whether the list of micro-batches and their tensors are as they were
    diverged=True gives a weight that is nan, as after a step too far.
    """
    model, optimizer, schedule = made()
    if diverged:
        with torch.no_grad():
            model.head[3, 0] = math.nan
    weights, losses, returned, kept = [], [], [], True
    with _watched(model, optimizer, schedule):
        for window in windows_of(windows):
            before = copy.deepcopy(window)
            loss = step(model, optimizer, schedule, window, max_norm)
            returned.append(_kind(loss))
            losses.append(_number(loss))
            weights.append(weights_of(model))
            kept = kept and same(before, window)
    order = [name for name in model.order if name in {"optimizer", "schedule"}]
    more = {"returned": returned, "kept": kept, "order": order}
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


def same(before: list[dict[str, Tensor]], after: list[dict[str, Tensor]]) -> bool:
    """Whether a list of micro-batches is as it was, tensor by tensor."""
    return len(before) == len(after) and all(
        one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
        for one, other in zip(before, after, strict=True)
    )


def _kind(loss: object) -> str:
    if isinstance(loss, Tensor):
        return "a tensor with its graph" if loss.requires_grad else "a tensor"
    return type(loss).__name__


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
