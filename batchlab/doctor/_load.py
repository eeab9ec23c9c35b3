"""What others took of a step, and how much of that stays whatever the work.

    visits, cell  ->  Load: seconds of a step in which the process did not run, least and most fixed

A sleep or a lock takes the same from every step. A busy machine takes more from a longer one: what
shortens the work shortens that, too. What differs less than the work is fixed. Else only what even
the luckiest step waited may be a sleep; where small steps waited less than large ones, it is not.
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from batchlab.doctor._steps import PROBE
from batchlab.records import Cell

__all__ = ["Load", "load"]

CALM = 0.5  # of the unrest of the work: what differs less does not go with it


@dataclass(frozen=True)
class Load:
    """Seconds of one step in which the process did not run."""

    seconds: float
    least_fixed: float  # of them, those that no change of the work removes
    most_fixed: float


def load(visits: Iterable[Cell], cell: Cell) -> Load:
    """The load on a step of `cell`, told by all visits: those of the least work beside its own."""
    away = (cell.parts.away_seconds or 0.0) / cell.steps
    if not away:
        return Load(0.0, 0.0, 0.0)
    every = [_steps(visit) for visit in visits if visit.source != PROBE]
    if _unrest([out for steps in every for out, _ in steps]) < CALM * _unrest(
        [ran for steps in every for _, ran in steps]
    ):  # what does not differ where the work does
        return Load(away, away, away)
    smallest = min(every, key=lambda steps: sum(ran for _, ran in steps) / len(steps))
    (most, work), (least, smaller) = min(_steps(cell)), min(smallest)
    if work <= smaller:
        return Load(away, 0.0, min(most, away))
    growth = max(0.0, most - least) / (work - smaller)
    least = max(0.0, least - growth * smaller)
    return Load(away, min(least, most, away), min(most, away))


def _unrest(values: list[float]) -> float:
    """The standard deviation over the mean."""
    return statistics.pstdev(values) / max(statistics.fmean(values), 1e-300)


def _steps(visit: Cell) -> list[tuple[float, float]]:
    """Of each step the seconds away and those that it ran; of one that nobody timed, the mean."""
    away = visit.step_parts.get("away")
    if away is None or visit.step_seconds is None:
        mean = (visit.parts.away_seconds or 0.0) / visit.steps
        return [(mean, visit.mean_step_seconds - mean)]
    return [(one, each - one) for one, each in zip(away, visit.step_seconds, strict=True)]
