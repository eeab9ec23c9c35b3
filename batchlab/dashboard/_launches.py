"""Which lines belong together: a run that is started again goes on behind what was there.

line of a rank  ->  its launch, and the place of its last step on the axis of all steps

Words
    launch    one start of a training, with all its ranks
    before    steps that the training had done when a launch began, if that is told
    again     steps that an earlier launch had recorded, and this one took once more
    position  a step counted over all launches of a file
"""

from dataclasses import dataclass, field
from datetime import datetime

from batchlab.records import Cell

__all__ = ["Launch", "Launches", "seconds_of"]


@dataclass
class Launch:
    """One start of a training."""

    number: int
    base: int  # position of its last step before it
    began: float
    latest: float
    before: int = 0
    again: int = 0
    runs: dict[int, str | None] = field(default_factory=dict)  # by rank
    steps: dict[int, int] = field(default_factory=dict)  # by rank, as far as they are told


class Launches(list[Launch]):
    """The launches of a run, in their order."""

    def place(self, cell: Cell) -> tuple[Launch, int]:
        """The launch of a cell, and the position of its last step; give cells in order of time."""
        rank, date = cell.ranks[0], seconds_of(cell)
        began = cell.more.get("began")
        began = float(began) if isinstance(began, int | float) else date - cell.seconds
        launch = self._of(rank, cell.run, began)
        if launch is None:
            end = max((one.base + max(one.steps.values()) for one in self), default=0)
            launch = Launch(len(self) + 1, end, began, date)
            before = cell.more.get("step_before")
            if self and isinstance(before, int):
                launch.before = before
                done = self[-1].before + max(self[-1].steps.values())
                launch.again = max(0, done - before)
            self.append(launch)
        launch.runs[rank], launch.latest = cell.run, max(launch.latest, date)
        last = cell.more.get("last_step")
        last = last if isinstance(last, int) else launch.steps.get(rank, 0) + cell.steps
        launch.steps[rank] = max(last, launch.steps.get(rank, 0))
        return launch, launch.base + last

    def _of(self, rank: int, run: str | None, began: float) -> Launch | None:
        for one in reversed(self):
            if rank in one.runs and one.runs[rank] == run:
                return one
        near = [one for one in self if rank not in one.runs]
        near = [one for one in near if began <= one.latest + 1]  # its line has whole seconds
        return min(near, key=lambda one: abs(one.began - began), default=None)


def seconds_of(cell: Cell) -> float:
    """When a line was written, in seconds since 1970; 0 where it does not say."""
    try:
        return datetime.fromisoformat(str(cell.environment["date"])).timestamp()
    except (KeyError, ValueError):
        return 0.0
