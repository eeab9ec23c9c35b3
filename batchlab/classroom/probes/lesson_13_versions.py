"""Versions of the functions of lesson 13, right ones and wrong ones under their thoughts.

    squared norms, readings  ->  the right value, and what each mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    reading   (squared gradient, trace) of one optimizer step
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG", "noise_scale", "two_norms"]

Pair = tuple[float, float]
Readings = Sequence[Pair]


def two_norms(small: float, big: float, small_batch: float, big_batch: float) -> Pair:
    """Squared gradient and trace, without bias, from squared norms at two batch sizes."""
    if small_batch == big_batch:
        raise ValueError(f"both batches are {small_batch}: two sizes are needed")
    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    return squared, (small - big) / (1 / small_batch - 1 / big_batch)


def noise_scale(readings: Readings) -> Pair:
    """Ratio of the means of trace and squared gradient, and its standard error."""
    squared, trace = np.array(readings, dtype=float).T
    if len(squared) < 2:
        raise ValueError(f"{len(squared)} readings have no spread: two are needed")
    if squared.mean() <= 0:
        return math.inf, math.inf
    scale = trace.mean() / squared.mean()
    left = trace - scale * squared
    return float(scale), float(left.std(ddof=1) / len(left) ** 0.5 / squared.mean())


def _columns(readings: Readings) -> tuple[np.ndarray, np.ndarray]:
    squared, trace = np.array(readings, dtype=float).T
    return squared, trace


def _error(left: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Readings], Pair]:
    """The right scale with the standard error of other residuals."""

    def found(readings: Readings) -> Pair:
        squared, trace = _columns(readings)
        own = left(squared, trace)
        return noise_scale(readings)[0], float(own.std(ddof=1) / len(own) ** 0.5)

    return found


def _times(factor: Callable[[int], float]) -> Callable[[Readings], Pair]:
    """The right scale, its error too large by a factor of the number of readings."""
    return lambda readings: (
        noise_scale(readings)[0], noise_scale(readings)[1] * factor(len(readings))
    )  # fmt: skip


def _squares(readings: Readings) -> Pair:
    squared, trace = _columns(readings)
    scale, n = noise_scale(readings)[0], len(squared)
    parts = [one.std(ddof=1) / n**0.5 / one.mean() for one in (squared, trace)]
    return scale, abs(scale) * math.hypot(*parts)


def _lost_early(readings: Readings) -> Pair:
    return (math.inf, math.inf) if _columns(readings)[0].mean() <= 1e-8 else noise_scale(readings)


def _changed(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Readings], Pair]:
    def found(readings: Readings) -> Pair:
        rows = change(np.array(readings, dtype=float))
        return noise_scale([(float(a), float(b)) for a, b in rows])

    return found


def _of_ratios(readings: Readings) -> Pair:
    squared, trace = _columns(readings)
    ratios = trace / squared
    return float(ratios.mean()), float(ratios.std(ddof=1) / len(ratios) ** 0.5)


def _median(readings: Readings) -> Pair:
    squared, trace = _columns(readings)
    return float(np.median(trace / squared)), noise_scale(readings)[1]


def _upside_down(readings: Readings) -> Pair:
    return noise_scale([(trace, squared) for squared, trace in readings])


def _middles(readings: Readings) -> Pair:
    squared, trace = _columns(readings)
    return float(np.median(trace) / np.median(squared)), noise_scale(readings)[1]


def estimate(small: Sequence[float], big: Sequence[float], few: float, many: float) -> float:
    """The noise scale of squared norms at two batch sizes: both means first, then one ratio."""
    readings = [two_norms(s, b, few, many) for s, b in zip(small, big, strict=True)]
    return sum(trace for _, trace in readings) / sum(squared for squared, _ in readings)


def _of_means(small: Sequence[float], big: Sequence[float], few: float, many: float) -> float:
    s, b = float(np.mean(small)), float(np.mean(big))
    return (s - b) * few * many / (many * b - few * s)


def _each(change: Callable[[float, float], Pair | None]) -> Callable[..., float]:
    """An estimate of readings that were changed, or left out, one by one."""

    def found(small: Sequence[float], big: Sequence[float], few: float, many: float) -> float:
        readings = [two_norms(s, b, few, many) for s, b in zip(small, big, strict=True)]
        kept = [one for one in (change(*pair) for pair in readings) if one is not None]
        return sum(trace for _, trace in kept) / sum(squared for squared, _ in kept)

    return found


def _ratios(small: Sequence[float], big: Sequence[float], few: float, many: float) -> list[float]:
    readings = [two_norms(s, b, few, many) for s, b in zip(small, big, strict=True)]
    return [trace / squared for squared, trace in readings]


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "two-norms": (two_norms,),
    "noise-scale": (noise_scale,),
    "estimate": (
        estimate,
        _of_means,
        lambda s, b, few, many: estimate(s[::-1], b[::-1], few, many) * (1 + 1e-13),
    ),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "two-norms": {
        "exchanged: the squared gradient comes first": lambda *c: two_norms(*c)[::-1],
        "the trace has the wrong sign: the small batch has the longer gradient": lambda *c: (
            two_norms(*c)[0], -two_norms(*c)[1]
        ),
        "the big batch is still noisy: its norm, too, is too long": lambda s, b, few, many: (
            b, (s - b) / (1 / few - 1 / many)
        ),
        "all of the small norm is taken for noise": lambda s, b, few, many: (
            two_norms(s, b, few, many)[0], s * few
        ),
        "as if the big batch were all signal: it is noisy, too": lambda s, b, few, many: (
            b, (s - b) * few
        ),
        "the noise of the big batch was taken off the small norm": lambda s, b, few, many: (
            s - two_norms(s, b, few, many)[1] / many, two_norms(s, b, few, many)[1]
        ),
        "the root of the squared gradient: it stays squared": lambda s, b, few, many: (
            abs(two_norms(s, b, few, many)[0]) ** 0.5, two_norms(s, b, few, many)[1]
        ),
        "the noise scale in place of the trace: divide later": lambda s, b, few, many: (
            two_norms(s, b, few, many)[0],
            two_norms(s, b, few, many)[1] / two_norms(s, b, few, many)[0],
        ),
        "the difference of the norms is noise / b - noise / B: divide by 1/b - 1/B": (
            lambda s, b, few, many: (two_norms(s, b, few, many)[0], s - b)
        ),
        "noise falls as 1/B, so divide by 1/b - 1/B, not by the batches": lambda s, b, few, many: (
            two_norms(s, b, few, many)[0], (s - b) / (many - few)
        ),
        "times the difference of the batches: divide by 1/b - 1/B": lambda s, b, few, many: (
            two_norms(s, b, few, many)[0], (s - b) * (many - few)
        ),
        "as if the big batch had no noise: divide by 1/b - 1/B": lambda s, b, few, many: (
            two_norms(s, b, few, many)[0], (s - b) * few
        ),
        "the weights are exchanged: the big norm times the big batch": lambda s, b, few, many: (
            (few * b - many * s) / (few - many), two_norms(s, b, few, many)[1]
        ),
        "divided by the big batch: divide by B - b": lambda s, b, few, many: (
            (many * b - few * s) / many, two_norms(s, b, few, many)[1]
        ),
        "divided by the sum of the batches: divide by B - b": lambda s, b, few, many: (
            (many * b - few * s) / (many + few), two_norms(s, b, few, many)[1]
        ),
        "squared twice: these are squared norms already": lambda s, b, few, many: (
            two_norms(s * s, b * b, few, many)
        ),
        "the root was taken: squared norms add, norms do not": lambda s, b, few, many: (
            two_norms(math.sqrt(s), math.sqrt(b), few, many)
        ),
        "a reading may be below 0, by luck: cut there, the mean is too large": lambda *c: (
            max(0.0, two_norms(*c)[0]), max(0.0, two_norms(*c)[1])
        ),
        "the sign is part of a reading: no abs": lambda *c: (
            abs(two_norms(*c)[0]), abs(two_norms(*c)[1])
        ),
        "a small batch of 1: use small_batch": lambda s, b, few, many: two_norms(s, b, 1, many),
        "a norm of 0 is a norm like any other": lambda s, b, few, many: (
            two_norms(s, b, few, many) if s and b else (0.0, 0.0)
        ),
        "a batch below 1 was raised to 1: use it as it is": lambda s, b, few, many: (
            two_norms(s, b, max(few, 1), many)
        ),
        "batches were made whole, or cut to 32 bits": lambda s, b, few, many: two_norms(
            s, b, *(float(np.array(n).astype(np.int32)) or n for n in (few, many))
        ),
    },
    "noise-scale": {
        "the mean of ratios: add up first, divide once": _of_ratios,
        "the median of ratios: the ratio of two means is asked": _median,
        "the ratio of medians: means are without bias, medians are not": _middles,
        "upside down: noise over signal": _upside_down,
        "the first reading alone": lambda r: (r[0][1] / r[0][0], noise_scale(r)[1]),
        "the last reading alone": lambda r: (r[-1][1] / r[-1][0], noise_scale(r)[1]),
        "readings below 0 were left out: that is luck, too, and the mean needs it": _changed(
            lambda rows: rows[rows[:, 0] > 0]
        ),
        "readings below 0 were cut: that is luck, too, and the mean needs it": _changed(
            lambda rows: rows.clip(min=0)
        ),
        "readings without their sign: no abs": _changed(np.abs),
        "the last 1,000 readings: all of them count": _changed(lambda rows: rows[-1000:]),
        "the first 1,000 readings: all of them count": _changed(lambda rows: rows[:1000]),
        "a trace far from the others was cut: it is luck, too, and the mean needs it": _changed(
            lambda rows: rows[abs(rows[:, 1]) <= 100 * abs(np.median(rows[:, 1]))]
        ),
        "a squared gradient far from the others was cut: the mean needs it": _changed(
            lambda rows: rows[abs(rows[:, 0]) <= 100 * abs(np.median(rows[:, 0]))]
        ),
        "a mean above 0, however small, is no lost signal": _lost_early,
        "the spread of one reading: the mean of n is surer by the root of n": _times(
            lambda n: n**0.5
        ),
        "the square of the error: take the root": lambda r: (
            noise_scale(r)[0], noise_scale(r)[1] ** 2
        ),
        "the spread over n: over n - 1": _times(lambda n: ((n - 1) / n) ** 0.5),
        "the spread over n - 2: over n - 1": _times(
            lambda n: ((n - 1) / (n - 2)) ** 0.5 if n > 2 else 1.0
        ),
        "divided by n: the root of n": _times(lambda n: n**-0.5),
        "over the sum of the squared gradients: over their mean": _times(lambda n: 1 / n),
        "the variance of d in place of its standard deviation": lambda r: (
            noise_scale(r)[0], noise_scale(r)[1] ** 2 * len(r) ** 0.5 * _columns(r)[0].mean()
        ),
        "the last 200 readings: all of them count": _changed(lambda rows: rows[-200:]),
        "traces over n - 1: both means are over n": lambda r: (
            noise_scale(r)[0] * len(r) / (len(r) - 1), noise_scale(r)[1]
        ),
        "something was added to the mean squared gradient: nothing keeps it from 0": lambda r: (
            float(_columns(r)[1].mean() / (_columns(r)[0].mean() + 1e-12)), noise_scale(r)[1]
        ),
        "something tiny was added to the mean squared gradient: add nothing": lambda r: (
            float(_columns(r)[1].mean() / (_columns(r)[0].mean() + 1e-18)), noise_scale(r)[1]
        ),
        "the root of n - 1 under a spread over n - 1: the root of n": _times(
            lambda n: (n / (n - 1)) ** 0.5
        ),
        "the error of the mean d: divide it by the mean squared gradient": lambda r: (
            noise_scale(r)[0], noise_scale(r)[1] * float(np.mean(_columns(r)[0]))
        ),
        "the traces alone: the squared gradients are noisy, too": _error(
            lambda squared, trace: trace / squared.mean()
        ),
        "the squared gradients alone: the traces are noisy, too": _error(
            lambda squared, trace: trace.mean() / squared.mean() * squared / squared.mean()
        ),
        "relative errors added as squares: the two go together, d knows it": _squares,
        "the spread of ratios: that of d, over the mean squared gradient": _error(
            lambda squared, trace: trace / squared
        ),
        "two errors: one is asked": _times(lambda n: 2.0),
        "a 95 % interval: the standard error is asked": _times(lambda n: 1.96),
        "in per cent of the scale": lambda r: (
            noise_scale(r)[0], 100 * noise_scale(r)[1] / noise_scale(r)[0]
        ),
        "relative to the scale: the error itself is asked": lambda r: (
            noise_scale(r)[0], noise_scale(r)[1] / noise_scale(r)[0]
        ),
    },
    "estimate": {
        "the mean of the steps' own ratios": lambda *c: float(np.mean(_ratios(*c))),
        "the median of the steps' own ratios": lambda *c: float(np.median(_ratios(*c))),
        "steps with a squared gradient below 0 are left out": _each(
            lambda squared, trace: (squared, trace) if squared > 0 else None
        ),
        "a squared gradient below 0 is cut": _each(
            lambda squared, trace: (max(0.0, squared), trace)
        ),
        "the first step alone": lambda s, b, few, many: estimate(s[:1], b[:1], few, many),
        "the norm of the big batch is taken for the signal": lambda s, b, few, many: (
            float(np.mean(s) - np.mean(b)) / (1 / few - 1 / many) / float(np.mean(b))
        ),
        "all of the small norm is taken for noise": lambda s, b, few, many: (
            few * float(np.mean(s)) / float(np.mean([two_norms(x, y, few, many)[0]
                                                     for x, y in zip(s, b, strict=True)]))
        ),
        "upside down": lambda *c: 1 / estimate(*c),
        "batches of 1 and B: the small batch is forgotten": lambda s, b, few, many: (
            estimate(s, b, 1, many)
        ),
        "norms are squared again": lambda s, b, few, many: estimate(
            [x * x for x in s], [x * x for x in b], few, many
        ),
        "the batch of the step in place of the scale": lambda s, b, few, many: float(many),
    },
}  # fmt: skip
