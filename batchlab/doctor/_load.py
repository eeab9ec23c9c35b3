"""What others took of a step, and how much of that stays whatever the work.

    visits, cell  ->  Load: seconds of a step in which the process did not run, least and most fixed

A sleep or a lock takes the same from every step. A busy machine takes more from a longer one: what
shortens the work shortens that, too. What even the luckiest step waited may be a sleep; where small
steps waited less than large ones, it is not.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from batchlab.doctor._steps import PROBE
from batchlab.records import Cell

__all__ = ["Load", "load"]


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
    smallest = min(every, key=lambda steps: sum(ran for _, ran in steps) / len(steps))
    (most, work), (least, smaller) = min(_steps(cell)), min(smallest)
    if work <= smaller:
        return Load(away, 0.0, min(most, away))
    growth = max(0.0, most - least) / (work - smaller)
    least = max(0.0, least - growth * smaller)
    return Load(away, min(least, most, away), min(most, away))


def _steps(visit: Cell) -> list[tuple[float, float]]:
    """Of each step the seconds away and those that it ran; of one that nobody timed, the mean."""
    away = visit.step_parts.get("away")
    if away is None or visit.step_seconds is None:
        mean = (visit.parts.away_seconds or 0.0) / visit.steps
        return [(mean, visit.mean_step_seconds - mean)]
    return [(one, each - one) for one, each in zip(away, visit.step_seconds, strict=True)]
