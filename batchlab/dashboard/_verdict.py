"""What the doctor says of a run while it grows, and how that changed.

cells of the newest launch  ->  Verdict: a sentence, its reasons, after how many steps
"""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from batchlab import doctor, units
from batchlab.doctor import Diagnosis
from batchlab.doctor.prices import PROBE
from batchlab.records import Cell

__all__ = ["Verdict", "sentence"]

WINDOW = 40  # lines of each rank: what lies before is forgotten, as a run changes
MOST = 12  # sentences that are kept
REST = 20  # times as long as the doctor took he is left in peace
UNSURE = "No cause is certain yet: more steps, or other sizes, would tell."
NONE = "No cause stands out: nothing that a change could remove is that large."


@dataclass
class Verdict:
    """The doctor's sentence, of the last lines of the newest launch."""

    text: str = ""
    details: list[str] = field(default_factory=list)
    steps: int = 0  # that it was made of
    history: list[dict[str, Any]] = field(default_factory=list)
    straggler: int | None = None
    _launch: int = 0
    _cells: dict[int, deque[Cell]] = field(default_factory=dict)
    _probes: list[Cell] = field(default_factory=list)
    _new: bool = False
    _not_before: float = 0.0

    def add(self, cell: Cell, launch: int) -> None:
        """Take a cell; one of a newer launch ends what was known of the one before."""
        if launch != self._launch:
            self._launch, self._cells, self._probes = launch, {}, []
            self._not_before = 0.0
        if cell.source == PROBE:
            self._probes = [*self._probes, cell][-WINDOW:]
        else:
            self._cells.setdefault(cell.ranks[0], deque(maxlen=WINDOW)).append(cell)
        self._new = True

    @property
    def cells(self) -> dict[int, list[Cell]]:
        """The last lines of each rank."""
        return {rank: list(held) for rank, held in sorted(self._cells.items())}

    def consult(self, position: int, *, now: bool = False) -> None:
        """Ask the doctor anew where there is something new, and he had his rest; `now`, anyway."""
        begin = time.monotonic()
        if not self._new or not self._cells or (begin < self._not_before and not now):
            return
        held = [one for each in self._cells.values() for one in each]
        self.steps = sum(one.steps for one in next(iter(self._cells.values())))
        try:
            found = doctor.diagnose([*held, *self._probes])
            text, self.details = sentence(found)
            self.straggler = found.straggler.rank if found.straggler else None
        except ValueError as error:
            text, self.details, self.straggler = f"No diagnosis: {error}", [], None
        self.text, self._new = text, False
        head = text.partition(":")[0]
        if not self.history or self.history[-1]["head"] != head:
            self.history = [*self.history, {"step": position, "head": head}][-MOST:]
        self._not_before = time.monotonic() + REST * (time.monotonic() - begin)


def sentence(found: Diagnosis) -> tuple[str, list[str]]:
    """What stands out in a diagnosis, in a sentence or two, and what else is to say."""
    total, details = found.step_seconds, []
    text = ""
    for cause in found.causes:
        line = f"{doctor.CAUSES[cause.name]}{_share(found, cause.name)}. {_cure(cause)}"
        if text:
            details.append(line)
        else:
            text = line[:1].upper() + line[1:]
    open_ones = [
        f"{part.cause} ({units.share(part.interval.low / total)} to "
        f"{units.share(part.interval.high / total)} of a step)"
        for part in found.possible
        if part.interval
    ]
    if open_ones:
        details.append(f"not certain yet: {', '.join(open_ones)}")
        if found.experiment:
            details.append(f"to tell: {found.experiment.text}")
    if last := found.straggler:
        details.append(
            f"rank {last.rank} comes last in {units.share(last.share)} of the steps: the others "
            f"wait {units.duration(last.seconds)} a step for it"
        )
    return text or (UNSURE if open_ones else NONE), details


def _share(found: Diagnosis, cause: str) -> str:
    """What a cause takes of a step, where it takes anything of it."""
    part, total = found.of_cause(cause), found.step_seconds
    if part.seconds <= 0:
        return ""
    between = ""
    if part.interval:
        low, high = units.share(part.interval.low / total), units.share(part.interval.high / total)
        between = f" ({low.removesuffix(' %')} to {high})"
    return f": {units.share(part.share_of(total))} of a step{between}"


def _cure(cause: doctor.Cause) -> str:
    """What to do, and what it is worth."""
    advice = cause.advice[:1].upper() + cause.advice[1:]
    if cause.refused or not cause.gain:
        return f"{advice}."
    between = ""
    if cause.interval:
        between = f" ({100 * cause.interval.low:.0f} to {100 * cause.interval.high:.0f} %)"
    return f"{advice}. Predicted gain {100 * cause.gain:.0f} %{between}."
