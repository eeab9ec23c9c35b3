"""Where the time of a larger micro-batch went, cause by cause.

    cell records  ->  prices   ->  parts of the step  ->  causes and what to change

Every part of a step is a number of seconds: measured where the record has it, otherwise priced by
the fit over all cells. The parts add up to the measured time; what they do not explain is shown
as a part of its own and is never hidden. For a prediction the priced parts share that rest: where
this cell ran slower than its prices, so does whatever a change removes from it.

One setting is enough. What it cannot tell apart stands as one line, with bounds on what is inside
and the cheapest experiment that would tell.

Words
    subject   the cell under diagnosis: by default the one with the most rows
    baseline  the cell with the fewest rows of the same layout
    stalled   a step that took twice what a step of its size usually takes
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from batchlab.doctor import _causes, _experiment, _interval, _load, _parts, _ranks, prices
from batchlab.doctor._causes import BARS, Cause
from batchlab.doctor._experiment import Experiment
from batchlab.doctor._interval import COVERAGE, Interval
from batchlab.doctor._parts import Part, Split
from batchlab.doctor._ranks import Straggler
from batchlab.doctor.prices import PROBE, StepCost
from batchlab.records import LAYOUTS, Cell, require_same

__all__ = ["Diagnosis", "Steps", "diagnose", "layout_order", "steps_of", "useful_rate"]

STALLED = 2.0  # times the usual time of a step of its size


@dataclass(frozen=True)
class Steps:
    """How the steps of the subject differ."""

    number: int
    shortest_seconds: float
    longest_seconds: float
    stalled: tuple[int, ...]  # their numbers, from 0
    stalled_seconds: float  # beyond what steps of their size usually take


@dataclass(frozen=True)
class Diagnosis:
    """The parts of one step of the subject, and the causes that stand out."""

    subject: Cell
    baseline: Cell
    parts: tuple[Part, ...]  # lines that can be told apart: they add up to the step
    bounds: tuple[Part, ...]  # what a line of several reasons hides
    causes: tuple[Cause, ...]  # their intervals clear the bar; largest gain first
    possible: tuple[Part, ...]  # these may clear it: only an experiment can tell
    experiment: Experiment | None  # the cheapest one that would
    cost: StepCost
    sizes: int  # of micro-batches, behind the prices
    split: Split  # every part by itself, and at the prices of other luck
    step_interval: Interval | None  # of the seconds of a step
    steps: Steps | None  # None: the record holds no times of single steps
    straggler: Straggler | None = None  # the rank that the others wait for

    bars = BARS  # by cause: the share of the step that the low end of its interval must reach
    coverage = COVERAGE  # how often an interval holds the truth

    @property
    def step_seconds(self) -> float:
        return self.subject.mean_step_seconds

    @property
    def speedup(self) -> float | None:
        """Useful tokens per second of the subject, relative to the baseline; None without any."""
        before = useful_rate(self.baseline)
        return useful_rate(self.subject) / before if before else None

    def of_cause(self, cause: str) -> Part:
        """All that one cause takes of a step, as one part with its interval."""
        return self.split.of_cause(cause)

    @property
    def unexplained_seconds(self) -> float:
        return next(part.seconds for part in self.parts if part.cause == "unexplained")

    @property
    def larger_is_right(self) -> bool:
        """More rows would pay: the fixed cost per micro-batch is what is left to save."""
        return any(cause.name == "launch" for cause in self.causes)


def useful_rate(cell: Cell) -> float:
    """Real tokens per second, of all ranks that are in the cell: padding is no work."""
    return cell.real_tokens / cell.seconds * len(cell.ranks)


def diagnose(
    visits: Iterable[Cell], *, rows: int | None = None, most_fixed: float | None = None
) -> Diagnosis:
    """Say where the time of the cell with the most rows (or `rows`) went, and how sure that is.

    Give the visits as they were recorded, in any order: each has its date; those of one setting
    are added. Cells that ran out of memory stay out of the fit, those of a probe serve the prices
    only. `most_fixed` bounds the fixed cost of a micro-batch, in seconds, where it is known.
    Records of different models or data are refused.

    Visits of several ranks are read together: seconds are those of a mean rank, rates those of all.
    """
    # what is drawn, and whom a rank waited for, goes by the order of the dates
    every = _ranks.together(sorted(visits, key=attrgetter("date")))
    _require_one_run(every)
    done = [cell for cell in every if cell.finished]
    own = [cell for cell in done if cell.source != PROBE]
    if not own:
        raise ValueError(f"none of the {len(every)} cells finished: nothing to diagnose")
    merged = prices.merge(own)
    subject = _subject(merged, rows)
    alike = [cell for cell in merged if cell.layout == subject.layout]
    baseline = min(alike, key=lambda cell: (cell.rows, cell.checkpointing))
    found = prices.draw(done, most_fixed=most_fixed)
    its_visits = [cell for cell in own if cell.setting == subject.setting]
    of_mean_rank = _ranks.averaged(its_visits)
    parts = _parts.split(of_mean_rank, subject, found)
    load = _load.load(own, subject)
    possible = _causes.possible(subject, parts, load)
    probed = any(cell.source == PROBE for cell in done)
    return Diagnosis(
        subject,
        baseline,
        parts.lines,
        parts.bounds,
        _causes.certain(subject, parts, load, of_mean_rank),
        possible,
        _experiment.cheapest(subject, [part.cause for part in possible], probed=probed),
        found.cost,
        found.sizes,
        parts,
        _interval.of_mean(of_mean_rank),
        steps_of(prices.merge([one for one in its_visits if one.ranks == its_visits[0].ranks])[0]),
        _ranks.straggler(its_visits),
    )


def steps_of(cell: Cell) -> Steps | None:
    """How the steps differ, and those that took twice what their slots and pairs ask for."""
    if cell.step_seconds is None:
        return None
    usual = statistics.median(cell.step_seconds)
    sizes = [each for each in (cell.step_slots, cell.step_slot_pairs) if each and any(each)]
    middle = [max(statistics.median(each), 1) for each in sizes]
    larger = [[n / m for n in each] for each, m in zip(sizes, middle, strict=True)]
    asked = [
        usual * max(each) for each in zip([1.0] * len(cell.step_seconds), *larger, strict=True)
    ]
    beyond = {
        step: seconds - asked[step]
        for step, seconds in enumerate(cell.step_seconds)
        if seconds > STALLED * asked[step]
    }
    shortest, longest = min(cell.step_seconds), max(cell.step_seconds)
    return Steps(cell.steps, shortest, longest, tuple(beyond), sum(beyond.values()))


def _require_one_run(cells: list[Cell]) -> None:
    if not cells:
        raise ValueError("no cell records: run `batchlab sweep`, or record a run with `monitor`")
    why = "one diagnosis compares one model on the same data, device and precision"
    require_same(cells, why, precision=True)


def _subject(done: list[Cell], rows: int | None) -> Cell:
    if rows is not None:
        done = [cell for cell in done if cell.rows == rows] or _no_such_rows(done, rows)
    most = max(cell.rows for cell in done)
    largest = [cell for cell in done if cell.rows == most]
    return min(largest, key=lambda cell: layout_order(cell.layout))


def layout_order(layout: str) -> int:
    """Where a layout stands in a table; one that is not known here stands last."""
    return LAYOUTS.index(layout) if layout in LAYOUTS else len(LAYOUTS)


def _no_such_rows(done: list[Cell], rows: int) -> list[Cell]:
    there = ", ".join(str(n) for n in sorted({cell.rows for cell in done}))
    raise ValueError(f"no finished cell has rows = {rows}; there are {there}")
