"""Versions of lesson 18's catch-the-bug: seconds of a run, foretold from a trial.

    trial of (slots, seconds) a step, slots of the run  ->  seconds

The first step of a trial warms up and is not counted: neither its slots nor its seconds.
"""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["RIGHT", "WRONG", "foretold"]

Trial = Sequence[tuple[float, float]]
Version = Callable[..., Any]


def foretold(trial: Trial, slots: float) -> float:
    """Seconds for so many slots, at the rate of all counted steps together."""
    counted = trial[1:]
    return slots * sum(s for _, s in counted) / sum(n for n, _ in counted)


def _by_mean_step(trial: Trial, slots: float) -> float:
    """The same: the mean step has the mean slots."""
    each, seconds = zip(*trial[1:], strict=True)
    found = slots / statistics.fmean(each) * statistics.fmean(seconds)
    whole = round(found)
    return whole if abs(found - whole) < 1e-12 * found else found  # 2 and 2.0 are both right


def _by_rate(trial: Trial, slots: float) -> float:
    seconds = tokens = 0.0
    for number, (n, s) in enumerate(trial):
        if number:
            tokens, seconds = tokens + n, seconds + s
    return slots / (tokens / seconds)


def _prices(trial: Trial) -> list[float]:
    return [s / n for n, s in trial[1:]]


RIGHT: list[Version] = [foretold, _by_mean_step, _by_rate]
WRONG: dict[str, Version] = {
    "the warm-up is counted": lambda t, n: foretold([t[0], *t], n),
    "the warm-up's seconds are dropped, its slots kept": lambda t, n: (
        n * sum(s for _, s in t[1:]) / sum(one for one, _ in t)
    ),
    "the warm-up's slots are dropped, its seconds kept": lambda t, n: (
        n * sum(s for _, s in t) / sum(one for one, _ in t[1:])
    ),
    "the mean of the steps' own seconds a slot": lambda t, n: n * statistics.fmean(_prices(t)),
    "the mean of the steps' own slots a second": lambda t, n: (
        n / statistics.fmean(1 / one for one in _prices(t))
    ),
    "the median step": lambda t, n: n * statistics.median(_prices(t)),
    "the fastest step": lambda t, n: n * min(_prices(t)),
    "the slowest step": lambda t, n: n * max(_prices(t)),
    "the last step alone": lambda t, n: n * _prices(t)[-1],
    "the first counted step alone": lambda t, n: n * _prices(t)[0],
    "the last step is dropped as well": lambda t, n: (
        foretold(t[:-1], n) if len(t) > 2 else foretold(t, n)
    ),
    "the slowest step is dropped in place of the first": lambda t, n: foretold(
        sorted(t, key=lambda one: -one[1]), n
    ),
    "a run of as many steps as the trial": lambda t, n: sum(s for _, s in t[1:]),
    "the seconds of the warm-up come on top": lambda t, n: t[0][1] + foretold(t, n),
    "whole steps only": lambda t, n: (
        n // statistics.fmean(one for one, _ in t[1:]) * statistics.fmean(s for _, s in t[1:])
    ),
    "slots a second: the rate, not the seconds": lambda t, n: n / foretold(t, n),
}
