"""Wrong versions of lesson 18's calibration, by the thought that leads to each.

CALIBRATION[thought]: pairs of (guess, truth)  ->  {"typical", "bias", "within_two"}
"""

import math
import statistics
from collections.abc import Callable
from typing import Any

from batchlab.classroom.probes.lesson_18_versions import calibration, revised

__all__ = ["CALIBRATION", "wrapped"]

Version = Callable[..., Any]


def wrapped(number: float, bits: int) -> int:
    """What a whole number becomes in an integer of so many bits."""
    half: int = 2 ** (bits - 1)
    return (int(number) + half) % (2 * half) - half


def _logs(pairs: Any) -> list[float]:
    return [math.log(guess / truth) for guess, truth in _usable(pairs)]


def _off(pairs: Any) -> list[float]:
    return [math.exp(abs(one)) for one in _logs(pairs)]


def _usable(pairs: Any) -> list[tuple[float, float]]:
    return [(g, t) for g, t in pairs if (g > 0 < t) or (g < 0 > t)]


def _above_zero(of: Callable[[float], float]) -> Version:
    """A calibration of the pairs whose product, as `of` makes it, is above 0."""
    return lambda p: calibration([(g, t) for g, t in p if of(g * t) > 0])


def _near(pairs: Any) -> Any:
    """Without the pairs that are off by more than 1,000."""
    return [(g, t) for g, t in _usable(pairs) if 1e-3 <= g / t <= 1e3]


CALIBRATION: dict[str, Version] = {
    "a guess that is far off counts, too: only zeros and other signs are left out": (
        lambda p: calibration(_near(p))
    ),
    "guess x truth became 0, or left 64 bits and its sign: compare the two signs": (
        _above_zero(lambda one: wrapped(one, 64) if one == int(one) else one)
    ),
    "a factor of exactly 2 is not below 2": revised(
        calibration, within_two=lambda p: sum(one <= 2 for one in _off(p)) / len(_usable(p))
    ),
    "the mean of the factors: one wild guess moves it": revised(
        calibration, typical=lambda p: statistics.fmean(_off(p))
    ),
    "the geometric mean: asked is the median": revised(
        calibration, typical=lambda p: math.exp(statistics.fmean(map(abs, _logs(p))))
    ),
    "2 too low must count as 2: take the factor that is at least 1": revised(
        calibration,
        typical=lambda p: statistics.median([math.exp(one) for one in _logs(p)]),
    ),
    "of two in the middle the geometric mean: factors multiply": revised(
        calibration, typical=lambda p: statistics.median(_off(p))
    ),
    "the larger of two in the middle": revised(
        calibration, typical=lambda p: statistics.median_high(_off(p))
    ),
    "the smaller of two in the middle": revised(
        calibration, typical=lambda p: statistics.median_low(_off(p))
    ),
    "in logarithms: asked is the factor": revised(
        calibration, typical=lambda p: statistics.median(map(abs, _logs(p)))
    ),
    "the mean of guess / truth: 2 and 1/2 would not cancel": revised(
        calibration, bias=lambda p: statistics.fmean(g / t for g, t in _usable(p))
    ),
    "truth / guess: a bias above 1 means guesses too high": revised(
        calibration, bias=lambda p: 1 / calibration(p)["bias"]
    ),
    "the bias has a side: the factors that are at least 1 have none": revised(
        calibration, bias=lambda p: math.exp(statistics.fmean(map(abs, _logs(p))))
    ),
    "a share of the guesses that can be compared, not of all": revised(
        calibration,
        within_two=lambda p: sum(one < 2 for one in _off(p)) / len(p),
    ),
    "too low counts, too: guess / truth below 2 is not enough": revised(
        calibration,
        within_two=lambda p: sum(one < math.log(2) for one in _logs(p)) / len(_usable(p)),
    ),
    "a number of guesses: asked is a share": revised(
        calibration, within_two=lambda p: sum(one < 2 for one in _off(p))
    ),
    "the share outside: asked is the one within": revised(
        calibration, within_two=lambda p: 1 - calibration(p)["within_two"]
    ),
}
