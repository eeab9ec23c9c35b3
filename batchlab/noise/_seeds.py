"""The critical batch from seeds that were evaluated now and then: intervals, never points.

    {batch: (least, most) samples of each seed}  ->  CriticalFit: curve, interval, p of each law

A run that is evaluated every 12,288 samples crosses its target somewhere in the 12,288 before the
evaluation that shows it. The likelihood is that of the interval: normal over seeds, with one
relative spread for all batches. Each law is compared with one free mean a batch (the saturated
model); the p-value is that of the likelihood ratio, chi-square with (batches - parameters) degrees.

The interval holds every critical batch whose best likelihood is near enough to the best of all. How
near is Student's t, as many degrees as seeds less two. Of 500 planted hyperbolas each, 95 in 100
intervals of 95 % held the truth with 20 seeds at five batches, 94 with 6 at six, 95 with 6 and 97
with 3 at three, and 95 to 96 where the spread grows with the batch, which the law does not know.
Seeds drawn again (the bootstrap) hold 84 and 79 with 6: where all seeds of a batch end at one
evaluation, it sees no spread. The hyperbola that holds gets p < 0.05 in 6 of 100 with 20 seeds, 8
with 6, 12 with 3.

Words
    ruler      the samples between two evaluations
    spread     standard deviation over seeds, as a share of the mean
    hyperbola  samples = least (1 + batch / critical): two parameters, as `StepsToTarget`
    bend       its exponent, samples = least (1 + (batch / critical) ** bend): 1 is the hyperbola
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from batchlab.noise import _censored as censored
from batchlab.noise._censored import Data, Interval, fitted, profiled
from batchlab.noise._critical import StepsToTarget
from batchlab.noise._formula import student
from batchlab.noise._published import PowerLaw
from batchlab.units import real

__all__ = ["CriticalFit", "fit_critical"]

START = math.log(0.03)  # of the logarithm of the spread
FEW = 6  # seeds of a batch: with fewer a law that holds is refused too often
FAR = math.log(1e4)  # a critical batch further out than this is no bend


@dataclass(frozen=True)
class CriticalFit:
    """The curve of several seeds at several batches, and how well each law fits.

    low, high    of the critical batch, by its likelihood; 0 or infinite where no end is found
    p_hyperbola  of a worse likelihood ratio if the hyperbola holds; nan with two batches. p_power
                 is the same of `power`, samples = coefficient x batch ** exponent
    bend         nan with fewer than four batches
    spread       of one run over seeds, common to all batches
    spreads      of each batch alone, middles of intervals; never below what the ruler makes
    residuals    free mean of each batch over the hyperbola, less one
    remarks      what the numbers cannot say: upper bounds, rulers longer than the spread
    """

    curve: StepsToTarget
    low: float
    high: float
    power: PowerLaw
    p_hyperbola: float
    p_power: float
    bend: float
    spread: float
    spreads: Mapping[int, float]
    residuals: Mapping[int, float]
    seeds: Mapping[int, int]
    remarks: tuple[str, ...] = ()
    confidence: float = 0.95

    @property
    def critical_batch(self) -> float:
        return self.curve.critical_batch

    def __str__(self) -> str:
        return (
            f"critical batch {self.critical_batch:,.4g} ({self.low:,.4g} to {self.high:,.4g}, "
            f"{100 * self.confidence:g} % over seeds); hyperbola p = {self.p_hyperbola:.2g}, "
            f"power law p = {self.p_power:.2g}"
        )


def fit_critical(
    points: Mapping[int, Sequence[Interval]],
    *,
    confidence: float = 0.95,
) -> CriticalFit:
    """Return the critical batch behind {batch: (least, most) samples to the target of each seed}.

    The target was crossed above `least` and by `most`; `least` is 0 where a run reached it at its
    first evaluation. Refused are fewer than two batches or two seeds, points that are upper bounds
    only, seeds that all end at one evaluation at every batch, and curves without a bend.

    >>> found = fit_critical({b: [(s - 500, s) for s in (1e5 * (1 + b / 64) + d for d in
    ...     (-2000, -500, 800, 2100))] for b in (16, 64, 256)})
    >>> round(found.critical_batch), found.p_hyperbola > 0.9, found.p_power < 0.001
    (64, True, True)
    """
    _refuse(points)
    share = real(confidence, "confidence", above=0, below=1)
    batches, data = np.array(sorted(points), float), Data.of(points)
    hyperbola, away = fitted(data, censored.hyperbola(data.batches), _start(points))
    power, power_away = fitted(data, censored.power(data.batches), _line(points))
    free, nearest = fitted(data, censored.free(data), np.append(_middles(points), START))
    lowest, highest = math.log(batches[0]) - FAR, math.log(batches[-1]) + FAR
    if not lowest < hyperbola[1] < highest:
        raise ValueError(
            "these samples show no bend: they are one regime only (samples constant, or in "
            "proportion to the batch); measure smaller and larger batches"
        )
    seeds = sum(map(len, points.values()))
    near = student(share, seeds - 2)
    limit = seeds / 2 * math.log1p(near**2 / (seeds - 2))
    ends = {"limit": limit, "farthest": FAR + math.log(batches[-1] / batches[0])}
    low, high = profiled(data, censored.hyperbola(data.batches), hyperbola, away, **ends)
    slow, fast = profiled(data, censored.power(data.batches), power, power_away, **ends)
    residuals = np.expm1(free[:-1] - censored.hyperbola(batches)(hyperbola[:-1])[0])
    least, critical = map(float, np.exp(hyperbola[:2]))
    spare, worst = len(points) - 2, float(np.abs(residuals).max())
    return CriticalFit(
        curve=StepsToTarget(
            least / critical, critical, (high - low) / 2 / near, worst, len(points)
        ),
        low=math.exp(low),
        high=math.exp(high),
        power=PowerLaw(math.exp(power[0]), float(power[1]), (fast - slow) / 2 / near),
        p_hyperbola=censored.tail(2 * (away - nearest), spare),
        p_power=censored.tail(2 * (power_away - nearest), spare),
        bend=_bend(data, hyperbola) if spare > 1 else math.nan,
        spread=math.exp(hyperbola[-1]),
        spreads={b: _spread(points[b]) for b in sorted(points)},
        residuals=dict(zip(sorted(points), map(float, residuals), strict=True)),
        seeds={b: len(points[b]) for b in sorted(points)},
        remarks=tuple(_remarks(points)),
        confidence=share,
    )


def _middles(points: Mapping[int, Sequence[Interval]]) -> np.ndarray:
    found: np.ndarray = np.log([np.mean(points[b]) for b in sorted(points)])
    return found


def _line(points: Mapping[int, Sequence[Interval]]) -> np.ndarray:
    slope, level = np.polyfit(np.log(sorted(points)), _middles(points), 1)
    return np.array([level, slope, START])


def _start(points: Mapping[int, Sequence[Interval]]) -> np.ndarray:
    """The straight line through the means, as a hyperbola."""
    batches, means = np.array(sorted(points), float), np.exp(_middles(points))
    slope, level = np.polyfit(batches, means, 1)
    least = max(level, means[0] * 0.05)
    critical = least / slope if slope > 0 else batches[-1] * 100
    return np.array([math.log(least), math.log(critical), START])


def _bend(data: Data, hyperbola: np.ndarray) -> float:
    start = np.array([hyperbola[0], hyperbola[1], 1.0, hyperbola[2]])
    return float(fitted(data, censored.bent(data.batches), start)[0][2])


def _spread(some: Sequence[Interval]) -> float:
    middles = np.mean(some, axis=1)
    ruler = max(most - least for least, most in some) / math.sqrt(12)
    return float(max(middles.std(ddof=1), ruler) / middles.mean())


def _remarks(points: Mapping[int, Sequence[Interval]]) -> list[str]:
    found = []
    for batch, some in sorted(points.items()):
        first = sum(least == 0 for least, _ in some)
        if first:
            found.append(
                f"batch {batch:,}: upper bound only, {first} of {len(some)} seeds reached the "
                "target at their first evaluation"
            )
            continue
        ends = [most for _, most in some]
        ruler = max(most - least for least, most in some)
        if max(ends) - min(ends) <= ruler:
            found.append(
                f"batch {batch:,}: the ruler is longer than the spread, all {len(some)} seeds end "
                f"within {ruler:,.0f} samples, one evaluation interval"
            )
    few = min(map(len, points.values()))
    if few < FEW:
        found.append(f"{few} seeds at a batch are few: p is too small")
    return found


def _refuse(points: Mapping[int, Sequence[Interval]]) -> None:
    if len(points) < 2:
        raise ValueError(f"2 batches or more are needed for a curve, got {len(points)}")
    for batch, some in points.items():
        real(batch, "batch", above=0)
        if len(some) < 2:
            raise ValueError(f"batch {batch:,}: 2 seeds or more show a spread, got {len(some)}")
        for least, most in some:
            if not 0 <= least < most < math.inf:
                raise ValueError(
                    f"batch {batch:,}: a seed crossed between least and most samples, "
                    f"got {least:g} to {most:g}"
                )
    every = [one for some in points.values() for one in some]
    if all(least == 0 for least, _ in every):
        raise ValueError(
            f"upper bound only: all {len(every)} seeds reached the target at their first "
            "evaluation; evaluate earlier and more often"
        )
    if all(len(set(some)) == 1 for some in points.values()):
        raise ValueError(
            "the ruler is longer than the spread at every batch: all seeds of a batch end at the "
            "same evaluation; evaluate more often"
        )
