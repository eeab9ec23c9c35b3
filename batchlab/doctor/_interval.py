"""How sure a number is: the interval of what other luck would have given.

    values of many draws  ->  Interval

Words
    interval  nine times in ten it holds the true value; where steps cannot tell two things apart,
              it holds everything that explains them as well
    luck      which moments the measured steps met: other work on the machine, pauses, clocks
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchlab.doctor import _steps
from batchlab.doctor._steps import Floats
from batchlab.records import Cell

__all__ = ["COVERAGE", "Interval", "around", "of_mean", "of_values"]

COVERAGE = 0.9
DRAWS = 1000  # of a mean: they cost nothing


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, both within."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an interval needs low <= high, got {self.low} and {self.high}")

    @property
    def width(self) -> float:
        return self.high - self.low


def around(middle: float | None, lows: Sequence[float], highs: Sequence[float]) -> Interval:
    """The interval that `COVERAGE` of the draws agree on; it holds `middle`, where one is given.

    Each draw says a number from its low to its high.
    """
    inside = [] if middle is None else [middle]
    tail = (1 - COVERAGE) / 2
    low = [float(np.quantile(lows, tail))] if len(lows) else []
    high = [float(np.quantile(highs, 1 - tail))] if len(highs) else []
    return Interval(min(low + inside, default=0.0), max(high + inside, default=0.0))


def of_mean(visits: Sequence[Cell], part: str | None = None) -> Interval | None:
    """The interval of the seconds of a step, or of its `part`; None where nothing repeats.

    With times of every step their blocks are resampled, else the visits.
    """
    return of_values(*_values(visits, part))


def of_values(values: Floats, block: np.ndarray) -> Interval | None:
    """The interval of the mean of values, those of one block sharing their luck; None of one."""
    blocks = len(np.unique(block))
    if blocks < 2:
        return None
    mean = float(values.mean())
    rng = np.random.default_rng(0)
    scores = np.bincount(block, values - mean) / len(values) * (blocks / (blocks - 1)) ** 0.5
    luck = rng.standard_normal((DRAWS, len(scores)))
    luck *= np.sqrt((blocks - 1) / rng.chisquare(blocks - 1, (DRAWS, 1)))
    draws = np.maximum(mean + luck @ scores, 0.0).tolist()
    return around(mean, draws, draws)


def _values(visits: Sequence[Cell], part: str | None) -> tuple[Floats, np.ndarray]:
    """Seconds of each step, and the number of its block; else the means of the visits."""
    values: list[float] = []
    block: list[int] = []
    lists = [one.step_seconds if part is None else one.step_parts.get(part) for one in visits]
    if any(one is None for one in lists):
        sums = [one.seconds if part is None else dict(one.parts.items())[part] for one in visits]
        means = [total / one.steps for total, one in zip(sums, visits, strict=True)]
        return np.array(means), np.arange(len(visits))
    for seconds in lists:
        numbers = _steps.blocks_of(len(seconds or ()), alone=len(visits) == 1)
        block += [max(block, default=-1) + 1 + number for number in numbers]
        values += seconds or ()
    return np.array(values), np.array(block)
