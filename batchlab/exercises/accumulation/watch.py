"""Watch a learner's optimizer step: what it calls, what it holds, where the weights go.

    a step function, target tokens of each micro-batch  ->  plain data by name, in order of judging

The step is a function of (model, optimizer, schedule, micro_batches, max_norm), as lesson 05 asks
for it. A text that is empty says that nothing is wrong.
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

from batchlab.exercises.accumulation.bigram import (
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

__all__ = ["Step", "altered", "diverged", "steps", "timeline"]

Step = Callable[..., Any]


def steps(
    step: Step,
    windows: Sequence[Sequence[int]],
    passes: Any = None,
    *,
    max_norm: float = math.inf,
    training: bool = True,
    loud: float = 1.0,
    momentum: float = 0.0,
    decay: float = 1.0,
) -> dict[str, Any]:
    """Run `step` on each window, given as target tokens per micro-batch, and say what was seen.

    Two equal windows in a row are one list, handed over twice: what a step did to it shows in the
    weights. `passes` makes the model's passes; `training` is the mode in which the model is handed
    over; `loud` makes losses and gradients long.
    """
    model = Layered(loud, passes).handed(training)
    _, optimizer, schedule = made(model, momentum=momentum, decay=decay)
    planted(optimizer)
    handed = handed_over(model)
    weights, losses, change = [], [], ""
    with _watched(model, optimizer, schedule):
        for window in _handed(windows):
            before = copy.deepcopy(window)
            losses.append(step(model, optimizer, schedule, window, max_norm))
            weights.append(weights_of(model))
            change = change or altered(before, window)
    kinds = {_kind(loss) for loss in losses} - {""}
    order = [name for name in model.order if name in {"optimizer", "schedule"}]
    late = order == ["schedule", "optimizer"] * len(windows)
    return {
        "optimizer steps": model.calls["optimizer"],
        "the micro-batches": f"{change}: work on copies" if change else "",
        "weights": np.array(weights),
        "model and optimizer": ", ".join(left_behind(model, optimizer, handed)),
        "what is returned": ", ".join(kinds),
        "loss per target token": np.array(losses if not kinds else 0.0, float),
        "steps of the schedule": model.calls["schedule"],
        "the schedule": "it came before the optimizer" if late else "",
    }


def _handed(windows: Sequence[Sequence[int]]) -> list[list[dict[str, Tensor]]]:
    found = windows_of(windows)
    for at in range(1, len(found)):
        if windows[at] == windows[at - 1]:
            found[at] = found[at - 1]
    return found


def diverged(
    step: Step, window: Sequence[int], passes: Any, how: str, only: int | None
) -> dict[str, Any]:
    """What a step says and does where a weight, or micro-batch `only` alone, gives nan or inf."""
    model, optimizer, schedule = made(Layered(passes=passes))
    (data,) = windows_of([window])
    model.diverge(how, None if only is None else lone(data, only, how))
    with _watched(model, optimizer, schedule):
        loss = step(model, optimizer, schedule, data, math.inf)
    sound = np.isnan(weights_of(model)).sum() <= 1 and model.calls["optimizer"]
    mended = "a step was taken, and its weights look sound" if sound else ""
    return {"loss": math.nan if _kind(loss) or loss != loss else float(loss), "the step": mended}


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
    """What a returned loss is, if it is no float."""
    if isinstance(loss, Tensor):
        graph = " with its graph" if loss.requires_grad else ""
        return f"a tensor{graph}: .item() makes a float of it"
    return "" if isinstance(loss, float | np.floating) else f"{type(loss).__name__}, no float"


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
    schedule.step = counted("schedule", schedule.step)
    model.calls.clear()
    with mock.patch("torch.autograd.backward", backward), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of the order, which is noted
        yield
