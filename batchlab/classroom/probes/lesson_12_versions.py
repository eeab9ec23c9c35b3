"""Right and wrong ways to move a rate, betas and decay, and to warm up.

    what an optimizer is told, two batches  ->  what it is told afterwards, by rule or by mistake

Words
    told     {"lr", "betas", "eps", "weight_decay"} as a group of torch's AdamW has them
    version  one way to write a function of the lesson: RIGHT, or WRONG under its thought
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG", "known_optimizer", "moved"]

Told = Mapping[str, Any]
OPTIMIZERS = ("sgd", "adam", "adamw")
SHORT = 1 - 1e-9  # in floats 10 * (1 - 0.9) is 0.9999999999999998


def known_optimizer(optimizer: str) -> None:
    """Refuse an optimizer for which no rule of the lesson was shown."""
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"no rule was shown for {optimizer}")


def _new_rate(rate: float, before: float, after: float, optimizer: str, noise: float) -> float:
    known_optimizer(optimizer)
    if max(before, after) > noise:
        raise ValueError(f"a batch of {max(before, after)} is above the noise scale {noise}")
    return float(rate * (after / before) ** (1.0 if optimizer == "sgd" else 0.5))


def _power(sgd: float, adam: float) -> Callable[..., float]:
    def version(rate: float, before: float, after: float, optimizer: str, noise: float) -> float:
        return float(rate * (after / before) ** (sgd if optimizer == "sgd" else adam))

    return version


def moved(
    told: Told,
    k: float,
    *,
    rate: Callable[[float], float] = lambda k: k**0.5,
    beta: Callable[[float, float], float] = lambda b, k: 1 - k * (1 - b),
    eps: Callable[[float], float] = lambda k: k**-0.5,
    decay: Callable[[float], float] = lambda k: k**0.5,
) -> dict[str, Any]:
    """What AdamW is told after the batch grew k times, by the rule or by another."""
    return {
        "lr": told["lr"] * rate(k),
        "betas": tuple(beta(b, k) for b in told["betas"]),
        "eps": told["eps"] * eps(k),
        "weight_decay": told["weight_decay"] * decay(k),
    }


def _adam_rule(told: Told, before: float, after: float) -> dict[str, Any]:
    k = after / before
    broken = [f"beta{n}" for n, b in enumerate(told["betas"], 1) if k * (1 - b) > SHORT]
    if broken:
        raise ValueError(f"k = {k:g} is past the limit of {' and '.join(broken)}")
    return moved(told, k)


def _told_with(**how: Any) -> Callable[..., Any]:
    return lambda told, before, after: moved(told, after / before, **how)


def _same_half_life(beta2: float, before: float, after: float) -> float:
    new = float(beta2 ** (after / before))
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would be {new:.3g}: a half-life below one step")
    return new


def _factors(steps: Sequence[int], warmup: float) -> list[float]:
    found, seen = [], 0
    for tokens in steps:
        found.append(min(1.0, seen / warmup) if warmup else 1.0)
        seen += tokens
    return found


def _factors_by_array(steps: Sequence[int], warmup: float) -> Any:
    seen = np.concatenate([[0], np.cumsum(steps)[:-1]]) if len(steps) else np.zeros(0)
    return np.minimum(1.0, seen / warmup) if warmup else np.ones(len(steps))


def _factors_by_iteration(steps: Sequence[int], warmup: float) -> Any:
    seen = itertools.accumulate(steps, initial=0)
    return tuple(
        1.0 if one >= warmup else one / warmup for one, _ in zip(seen, steps, strict=False)
    )


def _factors_by_shares(steps: Sequence[int], warmup: float) -> list[float]:
    """Right, and the last digits differ: shares of the warm-up are added, not tokens."""
    if not warmup:
        return [1.0] * len(steps)
    return [min(1.0, sum(one / warmup for one in steps[:i])) for i in range(len(steps))]


def _swapped(steps: Sequence[int], warmup: float) -> list[float]:
    found = _factors(steps, warmup)
    return [*found[:1], *found[2:3], *found[1:2], *found[3:]] if len(found) > 3 else found


def _seen(count: Callable[[Sequence[int], int], float], top: float = 1.0) -> Callable[..., Any]:
    """Factors where the tokens before step i are counted in another way."""

    def version(steps: Sequence[int], warmup: float) -> list[float]:
        each = [count(steps, i) for i in range(len(steps))]
        return [min(top, one / warmup) if warmup else 1.0 for one in each]

    return version


def _since_change(steps: Sequence[int], i: int) -> float:
    first = i
    while first and steps[first - 1] == steps[i]:
        first -= 1
    return sum(steps[first:i])


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "new-rate": (_new_rate,),
    "adam-rule": (_adam_rule,),
    "half-life": (_same_half_life,),
    "factors": (_factors, _factors_by_array, _factors_by_iteration, _factors_by_shares),
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "new-rate": {
        "linear for Adam: its rule is the square root": _power(1.0, 1.0),
        "the square root for SGD: its rule is linear": _power(0.5, 0.5),
        "nothing moved: the rate grows with the batch": _power(0.0, 0.0),
        "upside down: k is the new batch over the old": _power(-1.0, -0.5),
        "k squared": _power(2.0, 2.0),
        "the trend of one 30 M model is not the rule asked for": _power(1.0, 0.158),
        "whole numbers by //: divide with /": lambda rate, before, after, optimizer, noise: (
            rate * (after // before) ** (1.0 if optimizer == "sgd" else 0.5)
        ),
        "a batch may fall, too: then the rate falls": lambda rate, before, after, optimizer, n: (
            rate * max(1.0, after / before) ** (1.0 if optimizer == "sgd" else 0.5)
        ),
    },
    "adam-rule": {
        "linear for Adam: the rate takes the root of k": _told_with(rate=lambda k: k),
        "the rate is upside down: it grows with the batch": _told_with(rate=lambda k: k**-0.5),
        "nothing moved": _told_with(
            rate=lambda k: 1, beta=lambda b, k: b, eps=lambda k: 1, decay=lambda k: 1
        ),
        "betas by half-life: this rule is 1 - k (1 - beta)": _told_with(beta=lambda b, k: b**k),
        "k beta: it is 1 - beta that grows k times": _told_with(beta=lambda b, k: k * b),
        "betas with the root of k: only rate and eps take it": _told_with(
            beta=lambda b, k: 1 - k**0.5 * (1 - b)
        ),
        "betas upside down: a larger batch remembers fewer steps": _told_with(
            beta=lambda b, k: 1 - (1 - b) / k
        ),
        "eps is upside down: it falls by the root": _told_with(eps=lambda k: k**0.5),
        "eps falls by the root of k, not by k": _told_with(eps=lambda k: 1 / k),
        "decay times k is the rule at an unchanged rate: the rate grew, too": _told_with(
            decay=lambda k: k
        ),
        "decay is upside down: batch / (rate x decay) stays": _told_with(decay=lambda k: k**-0.5),
        "decay unchanged, although k over the root of k is left": _told_with(decay=lambda k: 1),
    },
    "half-life": {
        "the tangent 1 - k (1 - beta2): the half-life itself is asked": lambda b, x, y: (
            1 - y / x * (1 - b)
        ),
        "upside down: more tokens a step, fewer steps remembered": lambda b, x, y: b ** (x / y),
        "unchanged: that keeps the half-life in steps": lambda b, x, y: b,
        "the tangent, upside down": lambda b, x, y: 1 - (1 - b) * x / y,
        "the root of k: a half-life is in proportion to the batch": lambda b, x, y: (
            b ** ((y / x) ** 0.5)
        ),
        "k beta2: k stands in the exponent": lambda b, x, y: b * y / x,
        "whole numbers by //: divide with /": lambda b, x, y: b ** (y // x),
        "1 - beta2 to the power k: beta2 itself takes it": lambda b, x, y: 1 - (1 - b) ** (y / x),
    },
    "factors": {
        "the warm-up counts steps of the first size": _seen(lambda s, i: i * s[0]),
        "the warm-up counts steps of the mean size": _seen(lambda s, i: i * sum(s) / len(s)),
        "each step's own size, times the steps before it": _seen(lambda s, i: i * s[i]),
        "the step's own tokens are counted before it was taken": _seen(
            lambda s, i: sum(s[: i + 1])
        ),
        "the last step before it is not counted yet": _seen(lambda s, i: sum(s[: max(0, i - 1)])),
        "the factor goes on above 1": _seen(lambda s, i: sum(s[:i]), top=float("inf")),
        "a change of the batch begins the warm-up anew": _seen(_since_change),
        "whole numbers: no factor between 0 and 1": lambda steps, warmup: [
            float(one >= 1) for one in _factors(steps, warmup)
        ],
        "without warm-up nothing is learned: the factors stay 0": lambda steps, warmup: (
            _factors(steps, warmup) if warmup else [0.0] * len(steps)
        ),
        "the last step has no factor": lambda steps, warmup: _factors(steps, warmup)[:-1],
        "the largest step so far stands for all before": _seen(lambda s, i: i * max(s[: i + 1])),
        "two factors in the middle change places: look at each one": _swapped,
        "the smallest steps are counted first: let some steps shrink": _seen(
            lambda s, i: sum(sorted(s)[:i])
        ),
        "the largest steps are counted first: let some steps grow": _seen(
            lambda s, i: sum(sorted(s)[len(s) - i :])
        ),
        "each factor is 0.002 % too low: the tolerance is too wide": lambda steps, warmup: [
            0.99998 * one for one in _factors(steps, warmup)
        ],
    },
}
