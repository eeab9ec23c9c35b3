"""The parts of one step, with what is known of each: as lines that can be told apart.

    cell, prices and their draws  ->  Split: lines that add up to the step, bounds on what they hide

Words
    part    seconds of one step that have one reason
    line    a part, or several that the record cannot tell apart, as one
    bound   a part inside such a line: from what it costs at least to what it costs at most
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from batchlab.doctor import _interval, _shapes
from batchlab.doctor._interval import Interval
from batchlab.doctor._shapes import Shape
from batchlab.doctor._steps import Floats
from batchlab.doctor.prices import Draws, StepCost
from batchlab.records import Cell

__all__ = ["MEASURED", "PRICED", "Part", "Split", "parts_of", "split"]

TELL_APART = 0.2  # of the step: parts whose interval is wider are not shown apart

# The parts that a record holds in seconds, by the cause that they are a sign of.
MEASURED = {
    "optimizer": "optimizer",
    "input": "waiting for input",
    "host": "host stalls",
    "communication": "communication",
    "away": "process did not run",
    "generation": "generation",
    "scoring": "scoring without gradients",
    "waiting": "waiting for ranks",
}
LATER = ("generation", "scoring", "waiting")  # records without them are older: no part of theirs
PRICED = ("fitted", "modelled", "not told apart")  # how such a part is known

TOKENS, ATTENTION = "useful: real tokens", "useful: attention"
SLOTS, PAIRS, ACROSS = "padding: slots", "padding: attention", "attention across documents"


@dataclass(frozen=True)
class Part:
    """Seconds of one step with one reason."""

    name: str
    seconds: float  # per optimizer step
    cause: str  # key of CAUSES, "useful", "together" or "unexplained"
    source: str  # "measured", "fitted", "modelled", "not told apart" or "the rest"
    interval: Interval | None = None  # None: nothing repeats that could tell

    def share_of(self, total_seconds: float) -> float:
        return self.seconds / total_seconds


@dataclass(frozen=True)
class Split:
    """One step in parts."""

    whole: tuple[Part, ...]  # every part by itself
    draws: tuple[Floats, ...]  # (price lists, parts) seconds of `whole`, at the prices of each draw
    lines: tuple[Part, ...] = field(default=())  # they add up to the step
    bounds: tuple[Part, ...] = field(default=())  # what a line of several reasons hides
    shapes: tuple[Shape, ...] = field(default=())  # that the seconds may have
    measured: tuple[float, float] = (0.0, 0.0)  # slots of a micro-batch: the least and the most

    @property
    def bent(self) -> bool:
        """No line explains the steps as well as something else does."""
        return bool(self.shapes) and all(shape.name != "line" for shape in self.shapes)

    def span(self, chosen: Sequence[bool], middle: float | None = None) -> Interval:
        """The interval of the chosen parts together; it holds `middle`."""
        sums = [seconds[:, chosen].sum(axis=1) for seconds in self.draws]
        lows, highs = [one.min() for one in sums], [one.max() for one in sums]
        return _interval.around(middle, lows, highs)

    def of_cause(self, cause: str) -> Part:
        """All parts of one cause as one."""
        return self.joined(cause, [part.cause == cause for part in self.whole])

    def joined(self, name: str, chosen: Sequence[bool]) -> Part:
        """The chosen parts as one; measured parts keep the interval that they have."""
        inside = [part for part, yes in zip(self.whole, chosen, strict=True) if yes]
        if len(inside) == 1:
            return inside[0]
        seconds = sum(part.seconds for part in inside)
        causes = {part.cause for part in inside}
        cause = causes.pop() if len(causes) == 1 else "together"
        return Part(name, seconds, cause, "not told apart", self.span(chosen, seconds))


def parts_of(cell: Cell, cost: StepCost) -> tuple[Part, ...]:
    """The seconds of one step of `cell`; they add up to its measured time."""
    steps = cell.steps
    real, slots = cell.real_tokens / steps, cell.slots / steps
    real_pairs, pairs = cell.real_pairs / steps, cell.slot_pairs / steps
    fixed = cost.fixed_seconds * cell.micro_batches / steps
    slot, pair = cost.slot_seconds, cost.pair_seconds
    again = (fixed + slot * slots + pair * pairs) * cost.recompute_share * cell.checkpointing
    modelled = cell.checkpointing and not cost.recompute_is_fitted
    lost = (ACROSS, "across") if cell.layout == "packed" else (PAIRS, "padding")
    parts = [
        Part(TOKENS, slot * real, "useful", "fitted"),
        Part(ATTENTION, pair * real_pairs, "useful", "fitted"),
        Part(SLOTS, slot * (slots - real), "padding", "fitted"),
        Part(lost[0], pair * (pairs - real_pairs), lost[1], "fitted"),
        Part("recomputation", again, "recomputation", "modelled" if modelled else "fitted"),
        Part("fixed cost", fixed, "launch", "fitted"),
    ]
    seconds = dict(cell.parts.items())
    for cause, name in MEASURED.items():
        if cause in LATER and getattr(cell.parts, f"{cause}_seconds") is None:
            continue
        parts.append(Part(name, seconds[cause] / steps, cause, "measured"))
    rest = cell.seconds / steps - sum(part.seconds for part in parts)
    return (*parts, Part("unexplained", rest, "unexplained", "the rest"))


def split(visits: Sequence[Cell], cell: Cell, found: Draws) -> Split:
    """The parts of one step of `cell`, whose visits are `visits`, as far as they can be told."""
    draws = tuple(
        np.array([[part.seconds for part in parts_of(cell, one)] for one in lists])
        for lists in found.others
    )
    plain = Split(parts_of(cell, found.cost), draws)
    if cell.layout != "packed":
        plain = _shaped(plain, _shapes.shapes(cell, found))
    if found.steps is not None:
        sizes = found.steps.size[:, 1] / found.steps.size[:, 0]
        plain = replace(plain, measured=(float(sizes.min()), float(sizes.max())))
    plain = replace(plain, whole=tuple(_sure(plain, part, visits) for part in plain.whole))
    most = TELL_APART * cell.mean_step_seconds
    names = [part.name for part in plain.whole]
    if plain.span([name == "fixed cost" for name in names]).width > most:
        hidden = (SLOTS, PAIRS, ACROSS, "recomputation", "fixed cost")
        named = [part for part in plain.whole if part.name in hidden]
        bounds = [part for part in named if part.interval and part.interval.high > 0]
        padding = [name in (SLOTS, PAIRS) for name in names]
        if {SLOTS, PAIRS} <= {part.name for part in bounds}:
            bounds = [plain.joined("padding", padding), *bounds[2:]]
        everything = [part.source in PRICED for part in plain.whole]
        lines = _lines(plain, {"forward and backward": everything})
        together = _measured_together(lines[0], plain, _interval.of_mean(visits))
        return replace(plain, lines=(together, *lines[1:]), bounds=tuple(bounds))
    return replace(plain, lines=_lines(plain, _alike(plain, names, most)))


def _shaped(plain: Split, shapes: Sequence[Shape]) -> Split:
    """The parts as every plausible shape has them, not the line alone.

    The draws of each shape stand in the order of what is left without padding, so that the least
    and the most of each draw are the ends of the widest interval.
    """
    others = [shape for shape in shapes if shape.name != "line"]
    if not others:
        return replace(plain, shapes=tuple(shapes))
    left = [_left(plain, seconds)[0] for seconds in plain.draws]
    order = np.argsort(left)
    draws = []
    for rank, at in enumerate(order):
        lists = plain.draws[at]
        more = [_at(plain, lists, one.left[rank * len(one.left) // len(order)]) for one in others]
        straight = [lists] if len(others) < len(shapes) else []
        draws.append(np.concatenate([*straight, *more]))
    whole = np.array([[part.seconds for part in plain.whole]])
    middles = [_left(plain, whole)[0] if shape.name == "line" else np.median(shape.left)
               for shape in shapes]  # fmt: skip
    middle = np.average(np.log(middles), weights=[shape.probability for shape in shapes])
    seconds = _at(plain, whole, float(np.exp(middle)))[0].tolist()
    parts = [replace(part, seconds=one) for part, one in zip(plain.whole, seconds, strict=True)]
    return replace(plain, whole=tuple(parts), draws=tuple(draws), shapes=tuple(shapes))


def _left(plain: Split, seconds: Floats) -> Floats:
    """What is left of the priced seconds without padding, for each row of seconds of all parts."""
    padding, kept = _kinds(plain)
    left, lost = seconds[:, kept].sum(axis=1), seconds[:, padding].sum(axis=1)
    return np.asarray(left / np.maximum(left + lost, 1e-300))


def _at(plain: Split, seconds: Floats, left: float) -> Floats:
    """The same seconds, of which so much is left without padding."""
    padding, kept = _kinds(plain)
    now = np.maximum(_left(plain, seconds), 1e-9)[:, None]
    found = seconds.copy()
    found[:, kept] *= left / now
    found[:, padding] *= (1 - left) / np.maximum(1 - now, 1e-9)
    return found


def _kinds(plain: Split) -> tuple[list[bool], list[bool]]:
    """Which parts are padding, and which priced parts of the same passes stay without it."""
    padding = [part.cause == "padding" for part in plain.whole]
    kept = [part.cause in ("useful", "launch") for part in plain.whole]
    return padding, kept


def _sure(plain: Split, part: Part, visits: Sequence[Cell]) -> Part:
    """The part with its interval."""
    if part.cause in MEASURED:
        return replace(part, interval=_interval.of_mean(visits, part.cause))
    if part.cause == "unexplained":
        return part
    return replace(part, interval=plain.span([one is part for one in plain.whole], part.seconds))


def _measured_together(line: Part, plain: Split, step: Interval | None) -> Part:
    """The line with the interval of the measured step: together, these parts need no price."""
    sides = sum(part.seconds for part in plain.whole if part.cause in MEASURED)
    if step is None:
        return replace(line, interval=None)
    low, high = max(0.0, step.low - sides), max(0.0, step.high - sides)
    return replace(line, interval=Interval(min(low, line.seconds), max(high, line.seconds)))


def _alike(plain: Split, names: Sequence[str], most: float) -> dict[str, list[bool]]:
    """Slots and attention of one kind, where the price of one and of the other cannot be told."""
    attention = plain.span([name in (ATTENTION, PAIRS, ACROSS) for name in names])
    if attention.width <= most:
        return {}
    merged = {"useful: tokens and attention": [name in (TOKENS, ATTENTION) for name in names]}
    if PAIRS in names:
        merged["padding: slots and attention"] = [name in (SLOTS, PAIRS) for name in names]
    return merged


def _lines(plain: Split, merged: dict[str, list[bool]]) -> tuple[Part, ...]:
    """The parts in their order, each merged group as one line where its first part stands."""
    lines = {part.name: part for part in plain.whole}
    for name, chosen in merged.items():
        inside = [part.name for part, yes in zip(plain.whole, chosen, strict=True) if yes]
        lines[inside[0]] = plain.joined(name, chosen)
        for other in inside[1:]:
            del lines[other]
    return tuple(lines.values())
