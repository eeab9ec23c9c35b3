"""Laws fitted to intervals: a normal likelihood with one relative spread, and Newton's method.

    different intervals and their counts, law  ->  parameters, negative log-likelihood

A law gives the logarithms of the means and their slopes. The last parameter of a fit is always the
logarithm of the spread.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

__all__ = [
    "Data",
    "Interval",
    "Law",
    "bent",
    "fitted",
    "free",
    "hyperbola",
    "power",
    "profiled",
    "tail",
]

Interval: TypeAlias = tuple[float, float]
Law: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # logs, their slopes
NARROWEST, WIDEST = math.log(1e-3), 0.0  # of the logarithm of the spread


@dataclass(frozen=True)
class Data:
    """Different intervals, how often each was seen, and which of the batches it belongs to."""

    batches: np.ndarray  # of each interval
    least: np.ndarray
    most: np.ndarray
    count: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, points: Mapping[int, Sequence[Interval]]) -> "Data":
        lines = [(i, b, *one) for i, b in enumerate(sorted(points)) for one in points[b]]
        unique, count = np.unique(np.array(lines, float), axis=0, return_counts=True)
        place, batches, least, most = unique.T
        return cls(batches, least, most, count.astype(float), place.astype(int))


def hyperbola(batches: np.ndarray) -> Law:
    """least (1 + batch / critical): logarithms of least and critical."""

    def law(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio = batches * math.exp(-theta[1])
        return theta[0] + np.log1p(ratio), np.stack([np.ones_like(ratio), -ratio / (1 + ratio)])

    return law


def bent(batches: np.ndarray) -> Law:
    """least (1 + (batch / critical) ** bend): logarithms of least and critical, and bend."""

    def law(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        away = np.log(batches) - theta[1]
        ratio = np.exp(np.clip(theta[2] * away, -300, 300))
        part = ratio / (1 + ratio)
        slopes = [np.ones_like(ratio), -theta[2] * part, away * part]
        return theta[0] + np.log1p(ratio), np.stack(slopes)

    return law


def power(batches: np.ndarray) -> Law:
    """coefficient x batch ** exponent: logarithm of coefficient, and exponent."""

    def law(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return theta[0] + theta[1] * np.log(batches), np.stack(
            [np.ones_like(batches), np.log(batches)]
        )

    return law


def free(data: Data) -> Law:
    """One mean a batch: their logarithms."""
    slopes = np.equal.outer(np.arange(data.place.max() + 1), data.place).astype(float)
    return lambda theta: (theta[data.place], slopes)


def fitted(data: Data, law: Law, start: np.ndarray) -> tuple[np.ndarray, float]:
    """The parameters of a law and the logarithm of the spread; and their negative log-likelihood.

    Newton's method on the gradient, damped; a step that does not help is taken shorter.
    """
    theta, damping = np.array(start, float), 1e-3
    value, slope = _likelihood(data, law, theta)
    for _ in range(100):
        near = np.sqrt(np.finfo(float).eps) * 10
        curvature = np.stack([
            (_likelihood(data, law, theta + near * unit)[1] - slope) / near
            for unit in np.eye(len(theta))
        ])  # fmt: skip
        curvature = (curvature + curvature.T) / 2
        sizes, axes = np.linalg.eigh(curvature)
        while True:
            step = -axes @ ((axes.T @ slope) / (np.abs(sizes) + damping * (1 + np.abs(sizes))))
            step *= min(1.0, 1 / max(1e-12, float(np.abs(step).max())))  # a factor of e at most
            tried = theta + step
            tried[-1] = min(max(tried[-1], NARROWEST), WIDEST)
            found, slope_there = _likelihood(data, law, tried)
            if found <= value or damping > 1e8:
                break
            damping *= 10
        gained = value - found
        if gained < 0:
            break
        moved = float(np.abs(tried - theta).max())  # not the step: the spread has bounds
        theta, value, slope, damping = tried, found, slope_there, max(damping / 10, 1e-9)
        if gained < 1e-9 and moved < 1e-6:
            break
    return theta, value


def profiled(
    data: Data, law: Law, theta: np.ndarray, nearest: float, *, limit: float, farthest: float
) -> tuple[float, float]:
    """The values of a law's second parameter whose best likelihood is at most `limit` worse.

    `theta` and `nearest` are what `fitted` found. The ends are looked for up to `farthest` away,
    to a thousandth of their distance; an end that is not found is infinite.
    """

    def worse(shift: float, start: np.ndarray) -> tuple[float, np.ndarray]:
        def held(free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            logs, slopes = law(np.insert(free, 1, theta[1] + shift))
            return logs, np.delete(slopes, 1, axis=0)

        found, value = fitted(data, held, start)
        return value - nearest, found

    def end(sign: int) -> float:
        inside, step, start = 0.0, 0.02, np.delete(theta, 1)
        while inside < farthest:
            more, found = worse(sign * (inside + step), start)
            if more > limit:
                break
            inside, step, start = inside + step, step * 2, found
        else:
            return math.inf
        outside = inside + step
        while outside - inside > 1e-3 * outside:
            middle = (inside + outside) / 2
            more, found = worse(sign * middle, start)
            if more > limit:
                outside = middle
            else:
                inside, start = middle, found
        return outside

    return float(theta[1] - end(-1)), float(theta[1] + end(1))


def _likelihood(data: Data, law: Law, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """The negative log-likelihood of the intervals and its slope."""
    logs, slopes = law(theta[:-1])
    mean, spread = np.exp(logs), math.exp(theta[-1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        high = (data.most / mean - 1) / spread
        low = np.where(data.least > 0, (data.least / mean - 1) / spread, -np.inf)
        inside = _between(low, high)
        if not (inside > 0).all():
            return math.inf, np.zeros_like(theta)
        at_high, at_low = (np.exp(-z * z / 2) / math.sqrt(2 * math.pi) for z in (high, low))
        by_mean = -(at_high * data.most - at_low * data.least) / mean / spread / inside
        finite = np.where(np.isfinite(low), low, 0.0)
        by_spread = -(at_high * high - at_low * finite) / inside
    slope = np.append(slopes @ (data.count * by_mean), data.count @ by_spread)
    return -float(data.count @ np.log(inside)), -slope


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The normal probability of an interval, by the tail that is the smaller one."""
    flip = low > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    below = [math.erfc(-z / math.sqrt(2)) for z in b]
    above = [math.erfc(-z / math.sqrt(2)) for z in a]
    found: np.ndarray = (np.array(below) - np.array(above)) / 2
    return found


def tail(statistic: float, degrees: int) -> float:
    """The chance of a larger chi-square; nan without a degree of freedom.

    >>> round(tail(5.991464547, 2), 6), round(tail(7.814727903, 3), 6)
    (0.05, 0.05)
    """
    if degrees < 1:
        return math.nan
    half = max(0.0, statistic) / 2
    if degrees % 2:
        term, found = math.sqrt(half / math.pi) * math.exp(-half) * 2, math.erfc(math.sqrt(half))
        rest = 1.5
    else:
        term, found, rest = half * math.exp(-half), math.exp(-half), 2.0
    for _ in range((degrees - 1) // 2):
        found += term
        term *= half / rest
        rest += 1
    return min(1.0, found)
