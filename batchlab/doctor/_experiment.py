"""The cheapest measurement that tells apart what a record cannot.

cell, what is open  ->  Experiment: the other settings, its seconds, how to run it
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from batchlab.records import Cell

__all__ = ["Experiment", "cheapest"]

STEPS = 4  # of each setting: the first warms up
PROBED = 6  # micro-batches of a probe, by slots: 4 whole ones, and 8 of a quarter


@dataclass(frozen=True)
class Experiment:
    """A few steps with other rows or lengths, into the same file."""

    settings: tuple[tuple[int, int], ...]  # rows, accumulation of each
    halved: bool  # documents cut to half their length, instead of other rows
    seconds: float
    probe: str  # the call that runs it inside the loop; empty: the loop is not at hand
    probe_seconds: float

    @property
    def text(self) -> str:
        """What to run, in words."""
        each = " and ".join(
            f"rows {rows} (accumulation {accumulation})" for rows, accumulation in self.settings
        )
        return f"{STEPS} steps with {each}" + self.halved * ", documents cut to half their length"


def cheapest(
    cell: Cell, open_causes: Collection[str], *, probed: bool = False
) -> Experiment | None:
    """The experiment for the causes that are open; None where nothing is, or it would not help.

    A run that has `probed` already is not told to probe again.
    """
    if not set(open_causes) & {"padding", "launch", "across", "recomputation"}:
        return None
    accumulation = cell.accumulation or max(1, round(cell.micro_batches / cell.steps))
    halved = "launch" not in open_causes and "recomputation" not in open_causes
    settings = [(cell.rows, accumulation)] if halved else _other_rows(cell.rows, accumulation)
    per_row = cell.mean_step_seconds / (cell.rows * accumulation)
    seconds = sum(STEPS * per_row * rows * more for rows, more in settings)
    call = {
        "trainer": "monitor.callback(RECORDS, probe=True)",
        "lightning": "monitor.lightning(RECORDS, probe=True)",
        "monitor": "monitor.watch(model, optimizer, RECORDS, probe=True)",
    }.get("" if probed or cell.world_size > 1 else cell.source or "", "")
    return Experiment(
        tuple(settings),
        halved,
        seconds / 2 if halved else seconds,
        call,
        PROBED * per_row * cell.rows,
    )


def _other_rows(rows: int, accumulation: int) -> list[tuple[int, int]]:
    """Two other rows that split the same step, as far apart as a factor of four; fewer first."""
    whole = rows * accumulation
    fits = [n for n in range(1, whole + 1) if whole % n == 0 and n != rows]
    near = sorted(fits, key=lambda n: (abs(abs(math.log(n / rows, 4)) - 0.5), n))[:2]
    if len(near) < 2:  # a step of one row, or of a prime number of rows
        near = [max(1, rows // 2), 2 * rows] if rows > 1 else [2, 3]
    return sorted((n, max(1, whole // n)) for n in near)
