"""Run one step on several ranks in this process, as threads, and say what each of them did.

    a step function, target tokens of each rank's micro-batches  ->  plain data by name

The step is a function of (model, optimizer, micro_batches, max_norm, over_ranks), as the Build of
lesson 05 asks for it. `over_ranks(tensor)` gives the sum over all ranks, once all have called it;
a rank that waits for one that has left is refused, where real ranks would wait for ever.

Words
    rank       one of several processes that take a step together, here a thread
"""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab import loop
from batchlab.classroom import plain
from batchlab.exercises.accumulation.bigram import (
    Layered,
    erased,
    handed_over,
    left_behind,
    lone,
    micro_batch,
    planted,
    weights_of,
)
from batchlab.exercises.accumulation.watch import altered
from batchlab.exercises.accumulation.world import at_once

__all__ = ["diverged", "in_low_precision", "on_ranks", "refusals"]

RATE = 0.5
Counts = Sequence[Sequence[int]]  # target tokens by rank and micro-batch


def on_ranks(
    step: Callable[..., Any],
    counts: Counts,
    *,
    max_norm: float = math.inf,
    training: bool = True,
    loud: float = 1.0,
) -> dict[str, Any]:
    """Take one step on every rank at once, and say what was seen, in the order of judging.

    `training` is the mode in which the model is handed over; `loud` makes losses and gradients
    long.
    """
    seen, change = _stepped(step, counts, max_norm=max_norm, training=training, loud=loud)
    returned = [one["returned"] for one in seen]
    kinds = [f"{shown}: two floats are needed" for shown in map(_not_floats, returned) if shown]
    left = next((one["left"] for one in seen if one["left"]), [])
    told = next((f"on rank {rank}, {one}" for rank, one in enumerate(change) if one), "")
    unerased = [rank for rank, one in enumerate(seen) if not one["erased"]]
    return {
        "optimizer steps by rank": [len(one["given"]) for one in seen],
        "gradients after the step": f"some are left on rank {unerased[0]}" if unerased else "",
        "what is returned": kinds[0] if kinds else "",
        "weights by rank": np.array([one["weights"] for one in seen]),
        "loss by rank": np.array([0.0 if kinds else float(loss) for loss, _ in _pairs(returned)]),
        "norm by rank": np.array([0.0 if kinds else float(norm) for _, norm in _pairs(returned)]),
        "model and optimizer": ", ".join(left),
        "the micro-batches": f"{told}: work on copies" if told else "",
        "forward passes beyond one each": sum(
            max(0, one["forward_calls"] - len(own)) for one, own in zip(seen, counts, strict=True)
        ),
        "micro-batches held at once": max(one["peak_live"] for one in seen),
    }


def in_low_precision(step: Callable[..., Any], counts: Counts, kind: str) -> dict[str, Any]:
    """The same with weights of a narrow dtype; all micro-batches have the same tokens."""
    dtype = getattr(torch, kind)
    seen, _ = _stepped(step, counts, dtype=dtype, equal=True)
    gradient = _together(counts, dtype)
    off = np.subtract(seen[0]["given"][-1] if seen[0]["given"] else 0.0, gradient)
    share = float(np.linalg.norm(off) / np.linalg.norm(gradient))
    narrow = sorted({name for one in seen for name in one["narrow"]})
    piled = sum(one["piled"] for one in seen)
    left = next((one["left"] for one in seen if one["left"]), [])
    returned = next(iter(_pairs([seen[0]["returned"]])))
    norm = abs(float(returned[1]) / np.linalg.norm(gradient) - 1)
    return {
        "model and optimizer": ", ".join(left),
        "what over_ranks is given": f"tensors of {', '.join(narrow)}" if narrow else "",
        "additions in the dtype of the weights": piled,
        "the optimizer's gradient": f"{share:.0%} off" if not share < 0.02 else "",
        "loss": float(returned[0]),
        "norm": f"{norm:.0%} off" if not norm < 0.02 else "",
    }


def diverged(
    step: Callable[..., Any], counts: Counts, how: str, only: int | None
) -> dict[str, Any]:
    """What ranks say and do where a weight, or a micro-batch of rank 0, gives nan or inf."""
    seen, _ = _stepped(step, counts, how=how, only=only)
    loss, _ = next(iter(_pairs([seen[0]["returned"]])))
    sound = np.isnan(seen[0]["weights"]).sum() <= 1 and seen[0]["given"]
    mended = "a step was taken, and its weights look sound" if sound else ""
    return {"loss": float(loss), "the step": mended}


def refusals(step: Callable[..., Any], counts: Counts) -> dict[str, Any]:
    """What each rank raises, by name, and whether the refusal left something behind."""
    data = _data_of(counts, equal=False)

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        model = _model_of(torch.float64)
        optimizer, given = _noting(model)
        before, error = weights_of(model), "no error"
        try:
            step(model, optimizer, data[rank], math.inf, over_ranks)
        except NotImplementedError:  # a blank
            raise
        except Exception as problem:
            kinds = [kind.__name__ for kind in type(problem).__mro__]
            error = "ValueError" if "ValueError" in kinds else f"{kinds[0]}: {problem}"
        return {
            "error": error,
            "moved": bool(given) or weights_of(model) != before,
            "left": not erased(model),
        }

    seen = at_once(program, len(counts))
    errors = ["" if one["error"] == "ValueError" else one["error"] for one in seen]
    wrong = next(
        (f"rank {k}: {one}; a ValueError is needed" for k, one in enumerate(errors) if one), ""
    )
    moved = [rank for rank, one in enumerate(seen) if one["moved"]]
    left = [rank for rank, one in enumerate(seen) if one["left"]]
    return {
        "the refusal": wrong,
        "the optimizer": f"rank {moved[0]} has stepped before it raises" if moved else "",
        "gradients after the refusal": f"some are left on rank {left[0]}" if left else "",
    }


def _stepped(
    step: Callable[..., Any],
    counts: Counts,
    *,
    max_norm: float = math.inf,
    dtype: torch.dtype = torch.float64,
    equal: bool = False,
    training: bool = True,
    loud: float = 1.0,
    how: str = "",
    only: int | None = None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """What each rank did at one step, and what became of its micro-batches.

    equal=True gives every micro-batch the same tokens; with `how` a weight makes the loss nan or
    inf, or micro-batch `only` of rank 0 alone.
    """
    data = _data_of(counts, equal)
    copies = copy.deepcopy(data)
    token = None if only is None else lone([*itertools.chain(*data)], only, how)

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        narrow: list[str] = []

        def total(value: Tensor) -> Tensor:
            if isinstance(value, Tensor) and value.is_floating_point() and value.itemsize < 4:
                narrow.append(str(value.dtype).removeprefix("torch."))
            return over_ranks(value)

        model = _model_of(dtype, loud)
        model.diverge(how, token)
        model.handed(training)
        optimizer, given = _noting(model)
        planted(optimizer)
        piled, handed = _piles(model), handed_over(model)
        model.calls.clear()
        returned = step(model, optimizer, data[rank], max_norm, total)
        return {
            "weights": weights_of(model),
            "given": given,
            "returned": returned,
            "erased": erased(model),
            "piled": len(piled),
            "narrow": narrow,
            "left": left_behind(model, optimizer, handed),
            "forward_calls": model.calls["forward"],
            "peak_live": model.peak_live,
        }

    seen = at_once(program, len(counts))
    return seen, [altered(old, new) for old, new in zip(copies, data, strict=True)]


def _not_floats(returned: Any) -> str:
    """What a rank returned, if it is no pair of floats."""
    if type(returned) not in (tuple, list) or len(returned) != 2:
        return plain.shown(returned)
    kinds = [type(one).__name__ for one in returned]
    fine = all(isinstance(one, int | float | np.floating) for one in returned)
    return "" if fine else " and ".join(kinds)


def _pairs(returned: list[Any]) -> list[Any]:
    return [one if type(one) in (tuple, list) and len(one) == 2 else (0.0, 0.0) for one in returned]


def _model_of(dtype: torch.dtype, loud: float = 1.0) -> Layered:
    """The model of every rank."""
    return Layered(loud).to(dtype)


def _data_of(counts: Counts, equal: bool) -> list[list[dict[str, Tensor]]]:
    """Micro-batches by rank; `equal` ones have the same tokens."""
    if equal:
        return [[micro_batch(int(n), 0) for n in own[:1]] * len(own) for own in counts]
    return [
        [micro_batch(int(n), 1000 * rank + k) for k, n in enumerate(own)]
        for rank, own in enumerate(counts)
    ]


def _together(counts: Counts, dtype: torch.dtype) -> list[float]:
    """The gradient of all ranks in one piece, added in float64."""
    model = _model_of(dtype)
    total, tokens = 0.0, sum(map(sum, counts))
    for own, data in zip(counts, _data_of(counts, equal=True), strict=True):
        for one in data[:1]:  # all of a rank are the same
            part = loop.summed_loss(loop.logits_of(model, one), one["labels"])
            gradients = torch.autograd.grad(part, list(model.parameters()))
            total += len(own) * torch.cat([one.double().flatten() for one in gradients])
    return (total / tokens).tolist()


def _piles(model: nn.Module) -> list[str]:
    """Notes each gradient that is about to be added to another one in less than float32."""
    piled: list[str] = []

    def watch(parameter: nn.Parameter, _: Tensor) -> None:
        if parameter.grad is not None and parameter.grad.any():
            piled.append(str(parameter.dtype))

    for parameter in model.parameters():
        if parameter.itemsize < 4:
            parameter.register_hook(functools.partial(watch, parameter))
    return piled


def _noting(model: nn.Module) -> tuple[Any, list[list[float]]]:
    """Plain gradient descent, and a list of the gradients that its steps were given."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    given: list[list[float]] = []
    plain_step = optimizer.step

    def taken(*arguments: Any) -> Any:
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]
        given.append(torch.cat([grad.double().flatten() for grad in grads]).tolist())
        return plain_step(*arguments)

    optimizer.step = taken  # type: ignore[assignment]
    return optimizer, given
