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
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab.classroom.probes.bigram import (
    Layered,
    erased,
    handed_over,
    left_behind,
    lone,
    planted,
    weights_of,
)
from batchlab.classroom.probes.ranks_whole import RATE, Counts, data_of, model_of
from batchlab.classroom.probes.watch import altered

__all__ = ["at_once", "on_ranks", "refusals"]


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
    only: int | None = None,
    training: bool = True,
    loud: float = 1.0,
    before: Counts = (),
) -> dict[str, Any]:
    """Take one step on every rank at once, and say what was seen, by rank.

    weights, gradients  flat, after the step; the gradient is that which the optimizer was given
    returned            what the step returned, where it is a pair
    narrow              dtypes below float32 in which it called over_ranks
    piled               how often a gradient was added to another in such a dtype
    steps               of the optimizer; erased: whether no gradient was left behind
    forward_calls, peak_live, altered, left: as in `watch.steps`, as is `training`
    equal=True gives every micro-batch the same tokens; diverged and loud as in `watch.steps`, only
    is a micro-batch of rank 0. With `before`, the same model has taken a step of these counts, and
    its weights were put back.
    """
    data, earlier = data_of(counts, equal), data_of(before or [[] for _ in counts], equal)
    copies = copy.deepcopy(data)
    token = None if only is None else lone([*itertools.chain(*data)], only, diverged)
    narrow: list[list[str]] = [[] for _ in counts]

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        def total(value: Tensor) -> Tensor:
            if isinstance(value, Tensor) and value.is_floating_point() and value.itemsize < 4:
                narrow[rank].append(str(value.dtype).removeprefix("torch."))
            return over_ranks(value)

        model = model_of(dtype, loud)
        model.diverge(diverged, token)
        past = earlier[rank] if before else None
        return _one(step, model.handed(training), data[rank], max_norm, total, past)

    seen = at_once(program, len(counts))
    found = {name: [one[name] for one in seen] for name in seen[0]}
    change = [altered(old, new) for old, new in zip(copies, data, strict=True)]
    return found | {"narrow": narrow, "altered": change}


def refusals(step: Callable[..., Any], counts: Counts) -> list[dict[str, Any]]:
    """For each rank: the error that the step raised, and whether the weights have moved.

    error   its type by name, empty where the step returned; said: type and message
    steps   of the optimizer; erased: whether no gradient was left behind
    """
    data = data_of(counts, equal=False)

    def program(rank: int, over_ranks: Callable[[Tensor], Tensor]) -> dict[str, Any]:
        model = model_of(torch.float64)
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


def _one(
    step: Callable[..., Any],
    model: Layered,
    data: list[Any],
    max_norm: float,
    total: Any,
    earlier: list[Any] | None,
) -> dict[str, Any]:
    optimizer, given = _noting(model)
    if earlier is not None:
        start = copy.deepcopy(model.state_dict())
        step(model, optimizer, earlier, max_norm, total)
        model.load_state_dict(start)
        given.clear()
    planted(optimizer)
    piled = _piles(model)
    handed = handed_over(model)
    model.calls.clear()
    returned = step(model, optimizer, data, max_norm, total)
    return {
        "weights": weights_of(model),
        "gradients": given[-1] if given else [],
        "returned": [_plain(one) for one in returned] if type(returned) in (tuple, list) else [],
        "steps": len(given),
        "erased": erased(model),
        "piled": len(piled),
        "left": left_behind(model, optimizer, handed),
        "forward_calls": model.calls["forward"],
        "peak_live": model.peak_live,
    }


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


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return "a tensor with its graph" if value.requires_grad else "a tensor"
    return float(value) if isinstance(value, np.floating) else value
