"""Versions of what lesson 13 asks of a curve of steps, right ones and wrong ones.

    a curve, prices of a step  ->  the right value, and what each known mistake makes of it
    a version, what came       ->  the one argument that was taken for another, if that explains it

Words
    curve   steps = least x (1 + critical / batch)
"""

import math
from collections.abc import Callable
from typing import Any

__all__ = ["NAMES", "RIGHT", "WRONG", "as_if"]

Pair = tuple[float, float]


def critical_batch(critical: float, from_batch: float, share: float) -> float:
    """The batch with a share more steps than perfect scaling from another batch."""
    return (1 + share) * from_batch + share * critical


def fastest(least: float, critical: float, fixed: float, each: float) -> Pair:
    """The batch with the fewest seconds to the target, and these seconds."""
    batch = math.sqrt(critical * fixed / each)
    return batch, least * (1 + critical / batch) * (fixed + each * batch)


def _at(batch: Callable[..., float]) -> Callable[..., Pair]:
    """Another batch, and the seconds to the target that it really takes."""

    def found(least: float, critical: float, fixed: float, each: float) -> Pair:
        b = batch(least, critical, fixed, each)
        return b, least * (1 + critical / b) * (fixed + each * b)

    return found


def _seconds(seconds: Callable[..., float]) -> Callable[..., Pair]:
    """The right batch, and other seconds: a function of it and of the four numbers."""

    def found(least: float, critical: float, fixed: float, each: float) -> Pair:
        batch = math.sqrt(critical * fixed / each)
        return batch, seconds(batch, least, critical, fixed, each)

    return found


NAMES = {  # of the arguments, as the page has them
    "critical-batch": ("critical", "from_batch", "share"),
    "fastest": ("least_steps", "critical", "fixed", "each"),
    "two-norms": ("small", "big", "small_batch", "big_batch"),
}
LIMITS = [d * 10.0**k for k in range(-9, 11) for d in (1, 1.5, 2, 2.5, 3, 4, 5)] + [
    2.0**k for k in range(36)
]


def as_if(name: str, version: Callable[..., Any], got: Any, case: tuple[float, ...]) -> str:
    """Which argument, cut, rounded or in another unit, makes a right version give what came.

    >>> as_if("critical-batch", critical_batch, 820.0, (60, 20, 30))
    'as if share were 10: take it as it is, whatever its size'
    """
    for place, name_of in enumerate(NAMES[name]):
        for other in _instead(case, place):
            changed = (*case[:place], other, *case[place + 1 :])
            try:
                value = version(*changed)
            except (ArithmeticError, ValueError):
                continue
            if _alike(value, got):
                return f"as if {name_of} were {other:g}: take it as it is, whatever its size"
    return ""


def _instead(case: tuple[float, ...], place: int) -> list[float]:
    """What a limit, a rounding, another unit or another argument makes of one argument."""
    own, rest = case[place], [*case[:place], *case[place + 1 :]]
    short = [float(int(own)), *(round(own, digits) for digits in range(4)), 0.0]
    times = [one * factor for one in rest for factor in (1, 2, 4, 8, 10, 16, 32, 64, 100)]
    return [one for one in [*short, own / 100, own / 1000, *LIMITS, *times] if one != own]


def _alike(value: Any, got: Any) -> bool:
    """Whether two numbers, or two pairs, agree to what float32 keeps."""
    pairs = zip(value, got, strict=True) if isinstance(value, tuple) else [(value, got)]
    return all(math.isclose(a, b, rel_tol=1e-5) for a, b in pairs)


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "critical-batch": (critical_batch,),
    "fastest": (fastest,),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "critical-batch": {
        "the steps of the other batch are not perfect: its own noise is missing": (
            lambda critical, start, share: share * critical
        ),
        "a share more examples than the fewest, plus the other batch": (
            lambda critical, start, share: start + share * critical
        ),
        "the critical batch is taken off again at the end": lambda critical, start, share: (
            (1 + share) * (start + critical)
        ),
        "a share more batch is not a share more steps": lambda critical, start, share: (
            (1 + share) * start
        ),
        "a share more of the critical batch": lambda critical, start, share: (1 + share) * critical,
        "fewer steps: more are asked": lambda critical, start, share: (
            (1 - share) * start - share * critical
        ),
        "the two batches are exchanged": lambda critical, start, share: (
            (1 + share) * critical + share * start
        ),
        "the share is a fraction: 0.2, not 20": lambda critical, start, share: critical_batch(
            critical, start, share / 100
        ),
        "perfect scaling from 256 sequences: use from_batch": lambda critical, start, share: (
            critical_batch(critical, 256, share)
        ),
        "20 % more: use share": lambda critical, start, share: critical_batch(critical, start, 0.2),
        "divided by the share": lambda critical, start, share: (
            critical_batch(critical, start, share) / share
        ),
        "the batch where steps are 1 + share times the least": lambda critical, start, share: (
            critical / share
        ),
        "a share of both batches: from_batch itself is in it, too": lambda critical, start, share: (
            share * (start + critical)
        ),
        "all of the critical batch: a share of it": lambda critical, start, share: (
            (1 + share) * start + critical
        ),
        "it may be above the critical batch: no bound": lambda critical, start, share: min(
            critical, critical_batch(critical, start, share)
        ),
        "it may be below twice from_batch: no bound": lambda critical, start, share: max(
            2 * start, critical_batch(critical, start, share)
        ),
        "the critical batch was made whole: keep its digits": lambda critical, start, share: (
            critical_batch(int(critical), start, share)
        ),
        "a share may be above 1": lambda critical, start, share: critical_batch(
            critical, start, min(share, 1)
        ),
        "from_batch 0 is the critical batch at share 1 only": lambda critical, start, share: (
            critical_batch(critical, start, share) if start else critical
        ),
        "a batch below 1 was raised to 1: use it as it is": lambda critical, start, share: (
            critical_batch(critical, max(start, 1), share)
        ),
        "in units of from_batch: sequences are asked": lambda critical, start, share: (
            critical_batch(critical, start, share) / (start or 3)
        ),
    },
    "fastest": {
        "the root is missing": _at(lambda least, bc, t0, tau: bc * t0 / tau),
        "upside down: a higher fixed cost asks for a larger batch": _at(
            lambda least, bc, t0, tau: math.sqrt(bc * tau / t0)
        ),
        "the critical batch, whatever a step costs": _at(lambda least, bc, t0, tau: bc),
        "raised to 1: the formula may give a batch below 1": _at(
            lambda least, bc, t0, tau: max(1.0, math.sqrt(bc * t0 / tau))
        ),
        "where both parts of a step take equally long: steps count, too": _at(
            lambda least, bc, t0, tau: t0 / tau
        ),
        "the root of the prices alone": _at(lambda least, bc, t0, tau: math.sqrt(t0 / tau)),
        "the critical batch belongs under the root": _at(
            lambda least, bc, t0, tau: bc * math.sqrt(t0 / tau)
        ),
        "the mean of both: their product under the root": _at(
            lambda least, bc, t0, tau: (bc + t0 / tau) / 2
        ),
        "the steps are in the batch: they cancel": _at(
            lambda least, bc, t0, tau: math.sqrt(least * t0 / tau)
        ),
        "the seconds of one step: times the steps": _seconds(
            lambda b, least, bc, t0, tau: t0 + tau * b
        ),
        "least steps, or fixed time alone: this batch takes more of both": _seconds(
            lambda b, least, bc, t0, tau: least * (t0 + tau * b)
        ),
        "the steps: times the seconds of one": _seconds(
            lambda b, least, bc, t0, tau: least * (1 + bc / b)
        ),
        "perfect scaling, or no fixed time: least steps and fixed both count": _seconds(
            lambda b, least, bc, t0, tau: least * bc / b * (t0 + tau * b)
        ),
        "upside down: steps fall with the batch": _seconds(
            lambda b, least, bc, t0, tau: least * (1 + b / bc) * (t0 + tau * b)
        ),
        "one sequence for a step: each x batch": _seconds(
            lambda b, least, bc, t0, tau: least * (1 + bc / b) * (t0 + tau)
        ),
        "milliseconds: seconds are asked": _seconds(
            lambda b, least, bc, t0, tau: 1e3 * least * (1 + bc / b) * (t0 + tau * b)
        ),
        "minutes: seconds are asked": _seconds(
            lambda b, least, bc, t0, tau: least * (1 + bc / b) * (t0 + tau * b) / 60
        ),
        "hours: seconds are asked": _seconds(
            lambda b, least, bc, t0, tau: least * (1 + bc / b) * (t0 + tau * b) / 3600
        ),
        "the two terms with the batch alone: multiplied out, there are two more": _seconds(
            lambda b, least, bc, t0, tau: least * (tau * b + bc * t0 / b)
        ),
        "one of the two equal terms is missing": _seconds(
            lambda b, least, bc, t0, tau: least * (t0 + tau * bc + tau * b)
        ),
        "the steps were made whole: the curve's are not": _seconds(
            lambda b, least, bc, t0, tau: math.ceil(least * (1 + bc / b)) * (t0 + tau * b)
        ),
        "exchanged: the batch comes first": lambda *c: fastest(*c)[::-1],
    },
}  # fmt: skip
