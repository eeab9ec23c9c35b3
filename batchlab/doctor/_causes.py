"""Which parts of a step answer "why is it not faster", and what a change of them is worth.

    Split  ->  causes that are certain, and those that only an experiment can tell

Words
    cause   a part (or a regime) large enough to answer "why is it not faster"
    bar     the share of the step that the low end of its interval must reach to be named
    gain    what the run would be faster without the part: time / (time - part) - 1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from batchlab.doctor import _interval
from batchlab.doctor._interval import Interval
from batchlab.doctor._load import Load
from batchlab.doctor._parts import PRICED, Part, Split
from batchlab.doctor._steps import Floats
from batchlab.records import Cell, Json

__all__ = ["ADVICE", "BARS", "CAUSES", "Cause", "certain", "possible"]

LEAST_SHARE = 0.05  # a smaller part of the step is not worth a change
SATURATED_FIXED = 0.10  # b_90: nine tenths of the step is work that grows with rows
SATURATED_USEFUL = 0.75
PRICE_ERROR = 0.25
MOST_DOUBT = 2.0  # the rate at the high end over that at the low one: a wider interval says nothing
BEYOND = 1.25  # times the largest or the smallest size measured: no curve is known farther out
REFUSED = "sizes do not follow a line here; measure packed once: `--verify`"
LEAST_LEFT = 0.01  # of a step, whatever is removed from it: no gain is above a hundred times

CAUSES = {
    "padding": "padding: the rectangle is stretched to the longest row",
    "across": "attention across documents: a packed row is computed as if it were one document",
    "recomputation": "recomputation: activations are computed twice to save memory",
    "saturation": "saturation: the device is busy with real tokens already",
    "memory": "memory pressure: the allocator retries near the limit",
    "input": "input: the device waits for its next micro-batch",
    "host": "host: Python, synchronisation or garbage collection stalls the device",
    "away": "away: the process did not run: others had its cores, or it slept",
    "launch": "launch-bound: a fixed cost per micro-batch that more rows would share",
    "optimizer": "optimizer: the update is a large part of a small step",
    "communication": "communication that no computation hides",
    "generation": "generation: the policy writes before it learns",
    "scoring": "scoring: passes without gradients, of a reference or of an old policy",
    "waiting": "waiting for ranks: another one was not ready",
    "evaluation": "evaluation: time between the steps",
    "saving": "saving: checkpoints are written between the steps",
}
ADVICE = {
    "padding": "pack documents into rows (or batch by length): same tokens, fewer slots",
    "across": "attention that keeps documents apart (varlen): fewer pairs, same slots",
    "recomputation": "switch checkpointing off and take fewer rows with more accumulation",
    "memory": "take fewer rows with more accumulation, or expandable segments in the allocator",
    "input": "add loader workers and prefetch, tokenize ahead of training",
    "host": "remove .item(), print and logging from the loop; collect garbage between steps",
    "away": "measure on a machine with nothing else to do; look for a sleep or a lock in the step",
    "launch": "more rows, less accumulation: a larger micro-batch is right here; or compile",
    "optimizer": "use a fused or foreach optimizer, or more accumulation per update",
    "communication": "all-reduce once per step (no_sync), or raise accumulation",
    "generation": "generate with an engine made for it, more prompts at once, or beside training",
    "scoring": "compute a reference's numbers once, ahead of training, or go without it",
    "waiting": "give every rank the same slots, and look at what slows the last one",
    "evaluation": "evaluate less often, or on fewer documents",
    "saving": "save less often, or in the background",
}
BETWEEN = ("evaluation", "saving")
BARS = dict.fromkeys(CAUSES, LEAST_SHARE) | {"launch": SATURATED_FIXED}


@dataclass(frozen=True)
class Cause:
    """A reason that holds for this run, with what to change and what that is worth."""

    name: str
    seconds: float  # of one step, that the change removes
    gain: float  # predicted: useful tokens per second grow by this fraction
    advice: str
    change: Mapping[str, Json]  # settings of the cell that the change sets; empty: by hand
    interval: Interval | None = field(default=None)  # of the gain
    refused: str = ""  # why no gain is told; then `gain` is 0, and there is no interval


def certain(subject: Cell, parts: Split, load: Load, visits: Sequence[Cell]) -> tuple[Cause, ...]:
    """Causes whose interval clears the bar; the largest gain first. `visits` are the subject's."""
    total = subject.mean_step_seconds
    found = [
        _lost_time(cause, parts, subject, load)
        for cause in _lost(parts)
        if _low(parts.of_cause(cause)) * _load_of(cause, parts, total, load, load.most_fixed)
        >= BARS[cause] * total
    ]
    if (subject.allocator_retries or 0) > 0:  # what they cost, no record shows
        change: dict[str, Json] = {"rows": max(1, subject.rows // 2)}
        found.append(Cause("memory", 0.0, 0.0, ADVICE["memory"], change))
    for name in BETWEEN:
        each = [_between(visit, name) / visit.steps for visit in visits]
        lost = _between(subject, name) / subject.steps
        if lost >= BARS[name] * (total + (subject.outside_seconds or 0.0) / subject.steps):
            sure = _interval.of_values(np.array(each), np.arange(len(each)))
            ends = sure and Interval(min(lost, sure.low) / total, max(lost, sure.high) / total)
            found.append(Cause(name, lost, lost / total, ADVICE[name], {}, ends))
    launch = parts.of_cause("launch")
    most = launch.interval.high if launch.interval else launch.seconds
    if _low(parts.of_cause("useful")) >= SATURATED_USEFUL * total and most < BARS["launch"] * total:
        found.append(Cause("saturation", 0.0, 0.0, _saturation(most / total), {}))
    found = sorted(found, key=lambda cause: -cause.gain)
    return tuple(_told(cause, parts, subject) for cause in found)


def possible(subject: Cell, parts: Split, load: Load) -> tuple[Part, ...]:
    """Parts that may clear the bar or not: only an experiment can tell."""
    total, found = subject.mean_step_seconds, []
    for cause in _lost(parts):
        part = parts.of_cause(cause)
        if part.interval:
            low = part.interval.low * _load_of(cause, parts, total, load, load.most_fixed)
            high = part.interval.high * _load_of(cause, parts, total, load, load.least_fixed)
            if low < BARS[cause] * total <= high:
                found.append(part)
    return tuple(found)


def _load_of(cause: str, parts: Split, total: float, load: Load, fixed: float) -> float:
    """A part with the load that goes with it, over the part: on a busy machine work costs more.

    What was timed by a clock of its own holds its load already.
    """
    if not any(part.cause == cause and part.source in PRICED for part in parts.whole):
        return 1.0
    return float(_with_load(np.ones(1), total, load, fixed)[0])


def _between(cell: Cell, name: str) -> float:
    """Seconds of evaluation or of saving, which no step holds."""
    saving = cell.saving_seconds or 0.0
    return saving if name == "saving" else (cell.outside_seconds or 0.0) - saving


def _lost(parts: Split) -> list[str]:
    """The causes that some part has, in the order of the parts."""
    return [cause for cause in dict.fromkeys(part.cause for part in parts.whole) if cause in CAUSES]


def _low(part: Part) -> float:
    return part.seconds if part.interval is None else part.interval.low


def _told(cause: Cause, parts: Split, subject: Cell) -> Cause:
    """The cause, without its gain where no line holds and nothing else tells it well enough."""
    if cause.name != "padding" or not parts.bent or cause.interval is None:
        return cause
    cured = subject.real_tokens / subject.micro_batches
    known = parts.measured[0] / BEYOND <= cured <= parts.measured[1] * BEYOND
    if known and 1 + cause.interval.high <= MOST_DOUBT * (1 + cause.interval.low):
        return cause
    return replace(cause, gain=0.0, interval=None, refused=REFUSED)


def _lost_time(cause: str, parts: Split, subject: Cell, load: Load) -> Cause:
    change: dict[str, Json] = {}
    if cause == "launch":
        change = {"rows": 2 * subject.rows}
    elif cause == "padding" and subject.layout != "packed":
        change = {"layout": "packed"}
    elif cause == "recomputation":
        change = {"checkpointing": False}
    total, chosen = subject.mean_step_seconds, [part.cause == cause for part in parts.whole]
    priced = [part.source in PRICED for part in parts.whole]
    twice = [part.cause == "recomputation" for part in parts.whole]
    middle = _with_recomputed(np.array([[p.seconds for p in parts.whole]]), chosen, priced, twice)
    removed = _removed(cause, middle, chosen, priced, total)
    part = parts.of_cause(cause)
    if any(yes and known for yes, known in zip(chosen, priced, strict=True)):
        each = [_with_recomputed(one, chosen, priced, twice) for one in parts.draws]
        draws = [_removed(cause, one, chosen, priced, total) for one in each]
        gain = float(_gain(_with_load(removed, total, load, load.least_fixed), total)[0])
        low = [_gain(_with_load(one, total, load, load.most_fixed), total).min() for one in draws]
        high = [_gain(_with_load(one, total, load, load.least_fixed), total).max() for one in draws]
        interval = _interval.around(gain, low, high)
        removed = _with_load(removed, total, load, load.least_fixed)
        return Cause(cause, float(removed[0]), gain, ADVICE[cause], change, interval)
    gain = float(_gain(removed, total)[0])
    if not part.interval:
        return Cause(cause, float(removed[0]), gain, ADVICE[cause], change)
    ends = _gain(np.array([part.interval.low, part.interval.high]), total).tolist()
    interval = Interval(min(gain, ends[0]), max(gain, ends[1]))
    return Cause(cause, float(removed[0]), gain, ADVICE[cause], change, interval)


def _with_load(removed: Floats, total: float, load: Load, fixed: float) -> Floats:
    """The seconds that go, with those of the load that go with them."""
    worked = max(total - load.seconds, LEAST_LEFT * total)
    return np.asarray(removed * (1 + (load.seconds - fixed) / worked))


def _with_recomputed(
    seconds: Floats, chosen: Sequence[bool], priced: Sequence[bool], twice: Sequence[bool]
) -> Floats:
    """The parts, with what is computed twice of the chosen ones counted as theirs.

    Who removes a slot removes its recomputation as well: a share of all that the prices tell.
    """
    mine = np.array(chosen) & np.array(priced) & ~np.array(twice)
    again = np.array(priced) & np.array(twice)
    if not (mine.any() and again.any()):
        return seconds
    once = seconds[:, np.array(priced) & ~np.array(twice)].sum(axis=1, keepdims=True)
    share = seconds[:, again].sum(axis=1, keepdims=True) / np.maximum(once, 1e-300)
    moved = seconds.copy()
    moved[:, mine] *= 1 + share
    moved[:, again] -= (moved - seconds)[:, mine].sum(axis=1, keepdims=True) / again.sum()
    return moved


def _removed(
    cause: str, seconds: Floats, chosen: Sequence[bool], priced: Sequence[bool], total: float
) -> Floats:
    """Seconds of a step that go with a cause, for each row of `seconds` of all parts.

    Priced parts share the rest: where this cell ran slower than its prices, so does whatever a
    change removes from it. Prices are good to about a quarter: a larger rest has a reason of its
    own, which stays. Parts that are more than the step together are as much smaller.
    """
    part = seconds[:, chosen].sum(axis=1)
    if any(yes and known for yes, known in zip(chosen, priced, strict=True)):
        price = np.maximum(seconds[:, priced].sum(axis=1), 1e-12 * total)
        other = ~np.array(priced)
        other[-1] = False  # the rest itself
        rest = total - price - seconds[:, other].sum(axis=1)
        part = part * np.clip(1 + rest / price, 0.0, 1 + PRICE_ERROR)
    return np.asarray(
        part / 2 if cause == "launch" else part
    )  # twice the rows share the same launches


def _gain(removed: Floats, total: float) -> Floats:
    """What is faster by that much: never negative, and never without anything left to do."""
    return np.asarray(total / np.clip(total - removed, LEAST_LEFT * total, total) - 1)


def _saturation(fixed_share: float) -> str:
    return (
        f"at most {fixed_share:.1%} of the step is fixed cost: more rows can save no more "
        "than that; choose rows by memory and accumulation by the optimizer"
    )
