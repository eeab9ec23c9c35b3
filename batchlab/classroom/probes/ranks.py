"""Run one step on several ranks in this process, as threads, and say what each of them did.

    a step function, target tokens of each rank's micro-batches  ->  weights, losses, waits

The step is a function of (model, optimizer, micro_batches, max_norm, over_ranks), as the Build of
lesson 05 asks for it. `over_ranks(tensor)` gives the sum over all ranks, once all have called it;
a rank that waits for one that has left is refused, where real ranks would wait for ever.

Words
    rank       one of several processes that take a step together, here a thread
"""

import copy
import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab import loop
from batchlab.classroom.probes.bigram import (
    Counting,
    erased,
    left_behind,
    micro_batch,
    planted,
    weights_of,
)
from batchlab.classroom.probes.watch import altered

__all__ = ["MISTAKES", "at_once", "on_ranks", "refusals", "together"]

RATE = 0.5
Counts = Sequence[Sequence[int]]  # target tokens by rank and micro-batch

MISTAKES = {
    "one rank": "the gradient of this rank alone: over_ranks returns the sum, the argument stays",
    "own counts": "each rank divides by its own targets: count the targets of all ranks first",
    "own count": "all gradients, divided by the targets of one rank: over_ranks the count, too",
    "mean of ranks": "the mean of the ranks' own means: divide by the targets of all ranks",
    "divided twice": "divided by the targets and by the number of ranks as well",
    "no division": "the sum over all tokens: divide by the target tokens of all ranks",
    "unshifted": "all labels are counted: the first label of a row has no token before it",
    "unclipped": "the gradient was not clipped",
    "clip tensors": "each tensor was clipped by its own norm: one norm counts, that of all",
    "clip always": "scaled up to the largest norm: clipping only ever makes a gradient shorter",
    "clip each": "each rank clipped its own part: the norm that counts is that of the sum",
    "clip first": "clipped before the division: the norm that counts is that of the mean gradient",
}


class _World:
    """The meeting place of some ranks: the n-th call of each is added to the n-th of the others."""

    def __init__(self, size: int) -> None:
        self.size, self.calls, self.left = size, [0] * size, [False] * size
        self.sent: dict[int, dict[int, Tensor]] = {}
        self.changed = threading.Condition()

    def total(self, rank: int, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(f"over_ranks adds tensors, not {type(value).__name__}: torch.tensor()")
        with self.changed:
            number = self.calls[rank]
            self.calls[rank] += 1
            here = self.sent.setdefault(number, {})
            here[rank] = value.detach().clone()
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(here) == self.size or self._gone(number))
            if len(here) < self.size:
                gone = next(r for r in range(self.size) if r not in here)
                raise RuntimeError(
                    f"rank {rank} waits for ever: it calls over_ranks a {number + 1}. time, rank "
                    f"{gone} left after {self.calls[gone]} calls"
                )
        parts = [here[other] for other in range(self.size)]
        if len({part.shape for part in parts}) > 1:
            shapes = " and ".join(str(tuple(part.shape)) for part in parts)
            raise RuntimeError(
                f"call {number + 1} of over_ranks meets shapes {shapes}: the ranks "
                "call it in another order"
            )
        return torch.stack(parts).sum(0).to(value.dtype)

    def leave(self, rank: int) -> None:
        with self.changed:
            self.left[rank] = True
            self.changed.notify_all()

    def _gone(self, number: int) -> bool:
        return any(left and self.calls[r] <= number for r, left in enumerate(self.left))


def on_ranks(
    step: Callable[..., Any],
    counts: Counts,
    *,
    max_norm: float = math.inf,
    dtype: torch.dtype = torch.float64,
    equal: bool = False,
    diverged: str = "",
    training: bool = True,
) -> dict[str, Any]:
    """Take one step on every rank at once, and say what was seen, by rank.

    weights, gradients  flat, after the step; the gradient is that which the optimizer was given
    returned            what the step returned, where it is a pair
    narrow              dtypes below float32 in which it called over_ranks
    steps               of the optimizer; erased: whether no gradient was left behind
    forward_calls, peak_live, altered, left: as in `watch.steps`, as is `training`
    equal=True gives every micro-batch the same tokens; diverged as in `watch.steps`.
    """
    data = _data(counts, equal)
    before = copy.deepcopy(data)
    narrow: list[list[str]] = [[] for _ in counts]

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        def total(value: Tensor) -> Tensor:
            if isinstance(value, Tensor) and value.is_floating_point() and value.itemsize < 4:
                narrow[rank].append(str(value.dtype).removeprefix("torch."))
            return over_ranks(value)

        model = _model(dtype, diverged).train(training)
        return _one(step, model, data[rank], max_norm, total)

    seen = at_once(program, len(counts))
    found = {name: [one[name] for one in seen] for name in seen[0]}
    change = [altered(old, new) for old, new in zip(before, data, strict=True)]
    return found | {"narrow": narrow, "altered": change}


def refusals(step: Callable[..., Any], counts: Counts) -> list[dict[str, Any]]:
    """For each rank: the error that the step raised, and whether the weights have moved.

    error   its type by name, empty where the step returned; said: type and message
    steps   of the optimizer; erased: whether no gradient was left behind
    """
    data = _data(counts, equal=False)

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        model = _model(torch.float64, "")
        optimizer, given = _noting(model)
        before, error, said = weights_of(model), "", "no error"
        try:
            step(model, optimizer, data[rank], math.inf, over_ranks)
        except NotImplementedError:  # a blank
            raise
        except Exception as problem:
            error, said = type(problem).__name__, f"{type(problem).__name__}: {problem}"
        moved = weights_of(model) != before
        ended = {"steps": len(given), "moved": moved, "erased": erased(model)}
        return {"error": error, "said": said, **ended}

    return at_once(program, len(counts))


def at_once(program: Callable[[int, Callable[[Tensor], Tensor]], Any], size: int) -> list[Any]:
    """What program(rank, over_ranks) returns on each of `size` ranks, run at the same time.

    >>> at_once(lambda rank, over_ranks: over_ranks(torch.tensor(rank + 1)).item(), 3)
    [6, 6, 6]
    """
    world = _World(size)
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            results[rank] = program(rank, functools.partial(world.total, rank))
        except BaseException as error:
            errors.append(error)
        finally:
            world.leave(rank)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def together(
    counts: Counts,
    mistake: str = "",
    *,
    max_norm: float = math.inf,
    dtype: torch.dtype = torch.float64,
    equal: bool = False,
    sum_in: torch.dtype = torch.float64,
) -> dict[str, Any]:
    """The step of all ranks in one piece, or with `mistake` that of rank 0 under it.

    `sum_in` is the dtype in which the gradients of the micro-batches are added.
    """
    ranks = _sums(tuple(tuple(map(int, rank)) for rank in counts), dtype, equal, sum_in)
    tokens = [max(1, sum(map(int, rank))) for rank in counts]
    everything = sum(sum(map(int, rank)) for rank in counts)
    sums = [one for one, _ in ranks]
    labels = sum(one["labels"].shape[0] for own in _data(counts, equal) for one in own)
    parts = {
        "one rank": [sums[0] / everything],
        "own counts": [one / n for one, n in zip(sums, tokens, strict=True)],
        "own count": [one / tokens[0] for one in sums],
        "mean of ranks": [one / n / len(sums) for one, n in zip(sums, tokens, strict=True)],
        "divided twice": [one / everything / len(sums) for one in sums],
        "no division": sums,
        "unshifted": [one / (everything + labels) for one in sums],  # the first of each row
    }.get(mistake, [one / everything for one in sums])
    if mistake == "clip each":
        parts = [_clipped(part, max_norm) for part in parts]
    gradient = torch.stack(parts).sum(0)
    norm = float(gradient.norm())
    if mistake == "clip first":
        gradient = _clipped(gradient * everything, max_norm) / everything
    elif mistake == "clip tensors":
        gradient = torch.cat([_clipped(part, max_norm) for part in gradient.chunk(2)])
    elif mistake == "clip always" and math.isfinite(max_norm):
        gradient = gradient * max_norm / norm
    elif mistake not in {"unclipped", "clip each"}:
        gradient = _clipped(gradient, max_norm)
    weights = torch.tensor(weights_of(_model(dtype, "")), dtype=torch.float64)
    loss = sum(part for _, part in ranks) / everything
    ends = {"weights": (weights - RATE * gradient).tolist(), "gradients": gradient.tolist()}
    own = [part / n for (_, part), n in zip(ranks, tokens, strict=True)]
    norms = [float(one.norm()) / everything for one in sums]
    return ends | {"loss": loss, "norm": norm, "own_losses": own, "own_norms": norms}


def _one(
    step: Callable[..., Any], model: Counting, data: list[Any], max_norm: float, total: Any
) -> dict[str, Any]:
    optimizer, given = _noting(model)
    planted(optimizer)
    training = model.training
    model.calls.clear()
    returned = step(model, optimizer, data, max_norm, total)
    return {
        "weights": weights_of(model),
        "gradients": given[-1] if given else [],
        "returned": [_plain(one) for one in returned] if type(returned) in (tuple, list) else [],
        "steps": len(given),
        "erased": erased(model),
        "left": left_behind(model, optimizer, training),
        "forward_calls": model.calls["forward"],
        "peak_live": model.peak_live,
    }


def _noting(model: Counting) -> tuple[Any, list[list[float]]]:
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


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "a tensor with its graph" if value.requires_grad else "a tensor"
    return float(value) if isinstance(value, np.floating) else value


def _model(dtype: torch.dtype, diverged: str) -> Counting:
    model = Counting().to(dtype)
    model.diverge(diverged)
    return model


def _data(counts: Counts, equal: bool) -> list[list[dict[str, Tensor]]]:
    if equal:
        return [[micro_batch(int(own[0]), 0)] * len(own) for own in counts]
    return [
        [micro_batch(int(n), 1000 * rank + k) for k, n in enumerate(own)]
        for rank, own in enumerate(counts)
    ]


@functools.cache
def _sums(
    counts: tuple[tuple[int, ...], ...], dtype: torch.dtype, equal: bool, sum_in: torch.dtype
) -> list[tuple[Tensor, float]]:
    """Gradient and loss of each rank, summed over its target tokens; the sum kept in `sum_in`."""
    model, found = _model(dtype, ""), []
    for micro_batches in _data(counts, equal):
        total = torch.zeros(sum(p.numel() for p in model.parameters()), dtype=sum_in)
        loss, known = 0.0, {}
        for one in micro_batches:
            if id(one) not in known:
                known[id(one)] = _of_one(model, one)
            gradient, part = known[id(one)]
            total += gradient
            loss += part
        found.append((total.double(), loss))
    return found


def _of_one(model: nn.Module, one: dict[str, Tensor]) -> tuple[Tensor, float]:
    part = loop.summed_loss(loop.logits_of(model, one), one["labels"])
    gradients = torch.autograd.grad(part, list(model.parameters()))
    return torch.cat([gradient.flatten() for gradient in gradients]), part.item()


def _clipped(gradient: Tensor, max_norm: float) -> Tensor:
    return gradient * min(1.0, max_norm / (float(gradient.norm()) + 1e-6))
