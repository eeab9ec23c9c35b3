"""Where the time of a larger micro-batch went, cause by cause.

    cell records  ->  prices   ->  parts of the step  ->  causes and what to change

Every part of a step is a number of seconds: measured where the record has it, otherwise priced by
the fit over all cells. The parts add up to the measured time; what they do not explain is shown
as a part of its own and is never hidden. For a prediction the priced parts share that rest: where
this cell ran slower than its prices, so does whatever a change removes from it.

Words
    subject   the cell under diagnosis: by default the one with the most rows
    baseline  the cell with the fewest rows of the same layout
    part      seconds of one step that have one reason
    cause     a part (or a regime) large enough to answer "why is it not faster"
    gain      what the run would be faster without the part: time / (time - part) - 1
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from batchlab.doctor import prices
from batchlab.doctor.prices import StepCost
from batchlab.records import LAYOUTS, Cell, Json, require_same

__all__ = ["ADVICE", "CAUSES", "Cause", "Diagnosis", "Part", "diagnose", "useful_rate"]

LEAST_SHARE = 0.05  # a smaller part of the step is not worth a change
SATURATED_FIXED = 0.10  # b_90: nine tenths of the step is work that grows with rows
SATURATED_USEFUL = 0.75
PRICE_ERROR = 0.25

# The parts that a record holds in seconds, by the cause that they are a sign of.
MEASURED = {
    "optimizer": "optimizer",
    "input": "waiting for input",
    "host": "host stalls",
    "communication": "communication",
}

CAUSES = {
    "padding": "padding: the rectangle is stretched to the longest row",
    "recomputation": "recomputation: activations are computed twice to save memory",
    "saturation": "saturation: the device is busy with real tokens already",
    "memory": "memory pressure: the allocator retries near the limit",
    "input": "input: the device waits for its next micro-batch",
    "host": "host: Python, synchronisation or garbage collection stalls the device",
    "launch": "launch-bound: a fixed cost per micro-batch that more rows would share",
    "optimizer": "optimizer: the update is a large part of a small step",
    "communication": "communication that no computation hides",
}


@dataclass(frozen=True)
class Part:
    """Seconds of one step with one reason."""

    name: str
    seconds: float  # per optimizer step
    cause: str  # key of CAUSES, "useful" or "unexplained"
    source: str  # "measured", "fitted" or "modelled"

    def share_of(self, total_seconds: float) -> float:
        return self.seconds / total_seconds


@dataclass(frozen=True)
class Cause:
    """A reason that holds for this run, with what to change and what that is worth."""

    name: str
    seconds: float  # of one step, that the change removes
    gain: float  # predicted: useful tokens per second grow by this fraction
    advice: str
    change: Mapping[str, Json]  # settings of the cell that the change sets; empty: by hand


@dataclass(frozen=True)
class Diagnosis:
    """The parts of one step of the subject, and the causes that stand out."""

    subject: Cell
    baseline: Cell
    parts: tuple[Part, ...]
    baseline_parts: tuple[Part, ...]
    causes: tuple[Cause, ...]  # largest gain first
    cost: StepCost

    @property
    def step_seconds(self) -> float:
        return self.subject.mean_step_seconds

    @property
    def speedup(self) -> float:
        """Useful tokens per second of the subject, relative to the baseline."""
        return useful_rate(self.subject) / useful_rate(self.baseline)

    @property
    def unexplained_seconds(self) -> float:
        return next(part.seconds for part in self.parts if part.cause == "unexplained")

    @property
    def larger_is_right(self) -> bool:
        """More rows would pay: the fixed cost per micro-batch is what is left to save."""
        return any(cause.name == "launch" for cause in self.causes)


def useful_rate(cell: Cell) -> float:
    """Real tokens per second: padding does not count as work."""
    return cell.real_tokens / cell.seconds


def diagnose(cells: Iterable[Cell], *, rows: int | None = None) -> Diagnosis:
    """Say where the time of the cell with the most rows (or `rows`) went.

    Cells that ran out of memory stay out of the fit. Records of different models or data are
    refused, and so are fewer than three sizes.
    """
    cells = list(cells)
    _require_one_run(cells)
    done = [cell for cell in cells if cell.finished]
    if not done:
        raise ValueError(f"none of the {len(cells)} cells finished: nothing to diagnose")
    cost = prices.fit(done)
    subject = _subject(done, rows)
    alike = [cell for cell in done if cell.layout == subject.layout]
    baseline = min(alike, key=lambda cell: (cell.rows, cell.checkpointing))
    parts = parts_of(subject, cost)
    return Diagnosis(
        subject, baseline, parts, parts_of(baseline, cost), _causes(subject, parts, cost), cost
    )


def parts_of(cell: Cell, cost: StepCost) -> tuple[Part, ...]:
    """The seconds of one step of `cell`; they add up to its measured time."""
    steps = cell.steps
    real, slots = cell.real_tokens / steps, cell.slots / steps
    real_pairs, pairs = cell.real_pairs / steps, cell.slot_pairs / steps
    once = cost.slot_seconds * slots + cost.pair_seconds * pairs
    recompute, source = _recompute_seconds(cell, once, cost)
    parts = [
        Part("useful: real tokens", cost.slot_seconds * real, "useful", "fitted"),
        Part("useful: attention", cost.pair_seconds * real_pairs, "useful", "fitted"),
        Part("padding: slots", cost.slot_seconds * (slots - real), "padding", "fitted"),
        Part("padding: attention", cost.pair_seconds * (pairs - real_pairs), "padding", "fitted"),
        Part("recomputation", recompute, "recomputation", source),
        Part("fixed cost", cost.fixed_seconds * cell.micro_batches / steps, "launch", "fitted"),
    ]
    seconds = dict(cell.parts.items())
    for cause, name in MEASURED.items():
        parts.append(Part(name, seconds[cause] / steps, cause, "measured"))
    rest = cell.seconds / steps - sum(part.seconds for part in parts)
    return (*parts, Part("unexplained", rest, "unexplained", "the rest"))


def _recompute_seconds(cell: Cell, once: float, cost: StepCost) -> tuple[float, str]:
    if not cell.checkpointing:
        return 0.0, "measured"
    return once * cost.recompute_share, "fitted" if cost.recompute_is_fitted else "modelled"


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


def _causes(subject: Cell, parts: tuple[Part, ...], cost: StepCost) -> tuple[Cause, ...]:
    total = subject.seconds / subject.steps
    stretch = _stretch(parts)
    lost: dict[str, float] = {}
    removed: dict[str, float] = {}
    for part in parts:
        if part.cause not in ("useful", "unexplained"):
            lost[part.cause] = lost.get(part.cause, 0.0) + part.seconds
            slower = stretch if part.source in PRICED else 1.0
            removed[part.cause] = removed.get(part.cause, 0.0) + part.seconds * slower
    noise = max(LEAST_SHARE, 2 * cost.relative_error)
    least = {cause: noise if cause in FITTED else LEAST_SHARE for cause in lost}
    least["launch"] = max(SATURATED_FIXED, noise)
    found = [
        _lost_time(cause, removed[cause], total, subject)
        for cause, seconds in lost.items()
        if seconds / total >= least[cause]
    ]
    if (subject.allocator_retries or 0) > 0:  # what they cost, no record shows
        found.append(_lost_time("memory", 0.0, total, subject))
    useful = sum(part.seconds for part in parts if part.cause == "useful")
    if useful / total >= SATURATED_USEFUL and lost["launch"] / total < SATURATED_FIXED:
        found.append(Cause("saturation", 0.0, 0.0, _saturation(lost["launch"] / total), {}))
    return tuple(sorted(found, key=lambda cause: -cause.gain))


FITTED = ("padding", "recomputation", "launch")  # priced by the fit: its error counts
PRICED = ("fitted", "modelled")  # how such a part is known


def _stretch(parts: tuple[Part, ...]) -> float:
    """Seconds that the priced parts took together, the rest included, over their price.

    Prices are good to about a quarter: a larger rest has a reason of its own, which stays.
    """
    priced = sum(part.seconds for part in parts if part.source in PRICED)
    rest = sum(part.seconds for part in parts if part.cause == "unexplained")
    most = PRICE_ERROR * priced
    return 1 + min(max(rest, -most), most) / priced if priced else 1.0


def _lost_time(cause: str, seconds: float, total: float, subject: Cell) -> Cause:
    removable = seconds
    change: dict[str, Json] = {}
    if cause == "launch":  # twice the rows share the same launches: half of it goes
        removable, change = seconds / 2, {"rows": 2 * subject.rows}
    elif cause == "padding":
        change = {"layout": "packed"}
    elif cause == "recomputation":
        change = {"checkpointing": False}
    elif cause == "memory":
        change = {"rows": max(1, subject.rows // 2)}
    gain = total / (total - removable) - 1
    return Cause(cause, removable, gain, ADVICE[cause], change)


ADVICE = {
    "padding": "pack documents into rows (or batch by length): same tokens, fewer slots",
    "recomputation": "switch checkpointing off and take fewer rows with more accumulation",
    "memory": "take fewer rows with more accumulation, or expandable segments in the allocator",
    "input": "add loader workers and prefetch, tokenize ahead of training",
    "host": "remove .item(), print and logging from the loop; collect garbage between steps",
    "launch": "more rows, less accumulation: a larger micro-batch is right here; or compile",
    "optimizer": "use a fused or foreach optimizer, or more accumulation per update",
    "communication": "all-reduce once per step (no_sync), or raise accumulation",
}


def _saturation(fixed_share: float) -> str:
    return (
        f"only {fixed_share:.1%} of the step is fixed cost: more rows can save no more "
        "than that; choose rows by memory and accumulation by the optimizer"
    )
