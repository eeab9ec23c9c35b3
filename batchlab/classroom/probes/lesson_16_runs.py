"""Planted runs for a controller of lesson 16, and what is wrong with one of its decisions.

    a scenario  ->  settings and readings step by step  ->  the first wrong decision, in a thought

A run is made once with the reference: a step that needs more rows than fit brings no reading and is
repeated. The learner's controller meets the same settings and readings, so that one wrong decision
is named where it happens.

Words
    low    lower end of the noise scale's interval, in sequences; None or nan: nothing measured
    row    readings, one after the other, that all ask for a larger step
    fits   the most rows that memory holds
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from batchlab.classroom import plain
from batchlab.classroom.probes.lesson_16_growth import PATIENCE
from batchlab.classroom.probes.lesson_16_versions import RIGHT

__all__ = [
    "DIVERGED",
    "Scenario",
    "beginning",
    "control",
    "saved",
    "sequences",
    "strangers",
]

DIVERGED = 0.5  # nats above the best loss
Settings = Mapping[str, Any]
Reading = Mapping[str, Any]
State = Mapping[str, Any]
Control = Callable[[Settings, State, Reading, int], tuple[Settings, State]]


def sequences(settings: Settings) -> int:
    """Sequences of one step."""
    return int(settings["rows"] * settings["accumulation"] * settings["data_parallel"])


def control(
    settings: Settings, state: State, reading: Reading, most: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The next settings and state: the reference."""
    known = state if state.get("data") == reading["data"] else {}
    row, best = known.get("row", 0), known.get("best")
    new, now = dict(settings), sequences(settings)
    loss, low = reading["loss"], reading["low"]
    if _finite(loss):
        best = loss if best is None else min(best, loss)
    if reading["out_of_memory"]:
        new["rows"], new["accumulation"] = RIGHT["back-off"][0](
            settings["rows"], settings["accumulation"]
        )
    calm = _finite(loss) and best is not None and loss <= best + DIVERGED
    row = row + 1 if low is not None and low >= 2 * now and calm else 0
    if row >= PATIENCE and 2 * now <= most:
        new, row = RIGHT["grown"][0](settings, 2 * now), 0
    return new, {"row": row, "best": best, "data": reading["data"]}


def _finite(loss: float | None) -> bool:
    return loss is not None and math.isfinite(loss)


def beginning(rows: int, accumulation: int, data_parallel: int = 1, **more: Any) -> dict[str, Any]:
    """Settings that a run begins with."""
    return {
        "rows": rows, "accumulation": accumulation, "data_parallel": data_parallel,
        "rate": 1e-3, "beta2": 0.99, **more,
    }  # fmt: skip


def strangers() -> tuple[tuple[Settings, State, Reading, int], ...]:
    """Calls of another run with data of the same names: nothing of them may be remembered."""
    reading = {"out_of_memory": False, "loss": 0.1, "low": 900.0}
    return tuple(
        (beginning(4, 2), {}, {**reading, "data": name}, 64) for name in ("web", "code", "web")
    )


def saved(state: object) -> Any:
    """A state as a killed run finds it again: written as JSON and read."""
    return json.loads(json.dumps(plain.nested(state)))


@dataclass(frozen=True)
class Scenario:
    """A planted run: what is measured at each step, and how many rows fit into memory then."""

    name: str
    start: Settings
    most: int
    lows: Sequence[float | None]
    losses: Sequence[float] = ()
    data: Sequence[str] = ()
    fits: Sequence[int] = ()
    measured: bool = False  # a step out of memory brings the low end of those before it

    def reading(self, step: int) -> dict[str, Any]:
        loss = self.losses[step] if self.losses else 4.0
        data = self.data[step] if self.data else "web"
        return {"out_of_memory": False, "loss": loss, "low": self.lows[step], "data": data}

    @cached_property
    def steps(self) -> tuple[tuple[Settings, Reading, Settings], ...]:
        """Settings before, reading, and settings after, by the reference."""
        found: list[tuple[Settings, Reading, Settings]] = []
        settings, state, step = self.start, dict[str, Any](), 0
        while step < len(self.lows):
            reading = self.reading(step)
            if self.fits and settings["rows"] > self.fits[step]:
                low = reading["low"] if self.measured else None
                reading |= {"out_of_memory": True, "loss": None, "low": low}
            else:
                step += 1
            after, state = control(settings, state, reading, self.most)
            found.append((settings, reading, after))
            settings = after
        return tuple(found)

    def fault(self, place: int, got: object) -> str:
        """What is wrong with settings and state after this step; empty if nothing is."""
        try:
            pair = plain.nested(got)
        except plain.NotPlain as problem:
            return problem.thought or "settings and state are plain data: numbers, texts, dicts"
        if not isinstance(pair, list) or len(pair) != 2:
            return "two things are asked: return settings, state"
        new, state = pair
        if _holds_a_set(got):
            return "the state cannot be written as JSON: a set cannot, a list can"
        if not isinstance(new, dict) or not isinstance(state, dict):
            return "settings and state are both dictionaries: return settings, state"
        before, reading, after = self.steps[place]
        if new.keys() != after.keys():
            return f"the settings keep their keys: {', '.join(after)}"
        try:
            saved(state)
        except (TypeError, ValueError):
            return "the state cannot be written as JSON: numbers, texts, lists and dicts can"
        try:
            json.dumps(got[1])  # type: ignore[index]
        except (TypeError, ValueError):
            return "json.dumps writes plain numbers only: int() or float() makes one of NumPy's"
        return self._fault(place, before, reading, after, new)

    def _fault(self, place: int, before: Any, reading: Any, after: Any, new: Any) -> str:
        try:
            numbers = {key: plain.number(new[key]) for key in NUMBERS}
        except plain.NotPlain as problem:
            return problem.thought or "every setting is a number"
        for key in ("rows", "accumulation", "data_parallel"):
            if type(numbers[key]) is not int:
                return f"{key} is a count: an int is asked, `//` gives one"
        if any(new[key] != before[key] for key in before if key not in MOVABLE):
            return (
                "only rows, accumulation, rate and beta2 may move: the replicas and all else stay"
            )
        if reading["out_of_memory"]:
            return _fault_of_back_off(before, after, numbers)
        if sequences(numbers) != sequences(after):
            return self._fault_of_size(place, before, after, numbers)
        if numbers["rows"] != after["rows"]:
            if sequences(after) == sequences(before):
                return "rows move only where memory runs out, and are never raised again"
            return "the rows moved: a larger step takes more accumulation, memory stays as it is"
        return _fault_of_coupling(before, after, numbers)

    def _fault_of_size(self, place: int, before: Any, after: Any, numbers: Any) -> str:
        was, asked, said = (sequences(one) for one in (before, after, numbers))
        reading = self.steps[place][1]
        if said > was and said > self.most:
            return f"grows past the maximum: {said} sequences, {self.most} are the most"
        if asked == was:
            return self._why_not(place, was, reading, said)
        if said == was:
            return self._why_grow(place)
        return f"one doubling at a time: {was} -> {said} sequences"

    def _why_grow(self, place: int) -> str:
        """Why the step was to grow, although it stayed."""
        held = "three readings in a row ask for twice the step, and it holds"
        readings = [step[1] for step in self.steps[: place + 1]]
        if len({one["data"] for one in readings}) > 1:
            return (
                "three readings in a row ask for it, and it holds: which of them ended the row? "
                "With new data the best loss begins again, too"
            )
        if readings[-1]["low"] == math.inf:
            return f"{held}: an infinite low is at least twice the step"
        losses = [one["loss"] for one in readings if one["loss"] is not None]
        if not all(map(math.isfinite, losses)):
            return f"{held}: a loss that is not finite is never the best"
        row, best = losses[-PATIENCE:], min(losses)
        moves = sum(sequences(one[0]) != sequences(one[2]) for one in self.steps[:place])
        if moves > 4:
            return f"{held}: it grew {moves} times before, and no number of moves is the last"
        if best > 9:
            return f"{held}: the best so far is one of the losses so far, however large they are"
        if min(row) < losses[0] - DIVERGED:
            return f"{held}: a loss that falls is calm, however far it falls"
        if max(row) > best + DIVERGED - 1e-3:
            return f"{held}: exactly {DIVERGED} nats above the best is calm; do not round the best"
        return held

    def _best(self, place: int) -> int:
        """The place of the best loss so far on the data of this step."""
        first = place
        data = self.steps[place][1]["data"]
        while first and self.steps[first - 1][1]["data"] == data:
            first -= 1
        places = [n for n in range(first, place + 1) if _finite(self.steps[n][1]["loss"])]
        return min(places, key=lambda n: self.steps[n][1]["loss"])

    def _why_not_calm(self, place: int) -> str:
        """Which mistake takes the loss for calm."""
        said = "it grows while the loss is more than 0.5 nats above its best, or just after"
        at = self._best(place)
        before, reading, _ = self.steps[at]
        if reading["loss"] == 0:
            return f"{said}: the best is 0.0 here; ask `is None`, for 0.0 is false"
        low = reading["low"]
        if low is None or not low >= 2 * sequences(before):
            return f"{said}: a reading that does not ask for growth has a best loss, too"
        if any(sequences(step[0]) != sequences(step[2]) for step in self.steps[at:place]):
            return f"{said}: the best loss stays after a move"
        if at and self.steps[at - 1][1]["data"] != reading["data"]:
            return f"{said}: the first loss of new data may be their best"
        if place - at > 4:
            return f"{said}: the best stands {place - at} readings back, and is the best still"
        return said

    def _why_not(self, place: int, was: int, reading: Reading, said: int) -> str:
        """Why the step was to stay as it is, although it moved."""
        if said > was and 2 * was > self.most:
            return "it grows, although twice the step exceeds the maximum"
        if said < was:
            return "the step shrinks: tokens per step drift, and nothing asked for that"
        low, loss = reading["low"], reading["loss"]
        if low is None or low != low:
            return "it grows with nothing measured: None, or nan, is no reading"
        if low < 2 * was:
            return "it grows although the newest reading lies below twice the step"
        if not _finite(loss):
            return "it grows while the loss is no number"
        row = self._row(place)
        if any(one[1]["data"] != reading["data"] for one in row):
            return "readings of other data count: with new data the row begins again"
        if any(one[1]["out_of_memory"] for one in row):
            return "a step that ran out of memory ends the row"
        if any(sequences(one[2]) != was for one in row[:-1]):
            return "readings from before the last move count: after a move the row begins again"
        if any(one[1]["low"] is None or one[1]["low"] != one[1]["low"] for one in row):
            return "a step without a reading ends the row"
        if not all(_finite(one[1]["loss"]) for one in row):
            return "a loss that is not finite ends the row"
        if all(one[1]["low"] >= 2 * was for one in row) and len(row) == PATIENCE:
            return self._why_not_calm(place)
        return "it reacts to too few readings: three in a row must ask for it"

    def _row(self, place: int) -> Sequence[tuple[Settings, Reading, Settings]]:
        return self.steps[max(0, place + 1 - PATIENCE) : place + 1]


MOVABLE = ("rows", "accumulation", "rate", "beta2")
NUMBERS = (*MOVABLE, "data_parallel")


def _holds_a_set(value: object) -> bool:
    if isinstance(value, set | frozenset):
        return True
    if isinstance(value, Mapping):
        return any(map(_holds_a_set, value.values()))
    return isinstance(value, list | tuple) and any(map(_holds_a_set, value))


def _fault_of_back_off(before: Any, after: Any, numbers: Any) -> str:
    was, said = sequences(before), sequences(numbers)
    if said != was:
        return f"tokens per step drift: {was} sequences were asked, now they are {said}"
    if numbers["rows"] >= before["rows"]:
        return "it never shrinks after out-of-memory: the same rows run out again"
    if numbers["rows"] != after["rows"]:
        return "fewer rows than needed: more of them divide the step, too"
    if _differs(numbers["rate"], after["rate"]) or _differs(numbers["beta2"], after["beta2"]):
        return "the step stays, so its rate and beta2 stay"
    return ""


def _fault_of_coupling(before: Any, after: Any, numbers: Any) -> str:
    k = sequences(after) / sequences(before)
    if _differs(numbers["rate"], after["rate"]):
        if k == 1:
            return "the step stays, so its rate stays"
        if not _differs(numbers["rate"], before["rate"]):
            return "the learning rate was not moved with the step"
        linear = not _differs(numbers["rate"], before["rate"] * k)
        return f"the learning rate moves by the root of k{', not by k' if linear else ''}"
    if _differs(numbers["beta2"], after["beta2"]):
        if k == 1:
            return "the step stays, so beta2 stays"
        if not _differs(numbers["beta2"], before["beta2"]):
            return "beta2 was not moved: its half-life in tokens doubled"
        return "beta2 moves to its k-th power"
    return ""


def _differs(a: float, b: float) -> bool:
    return not math.isclose(a, b, rel_tol=1e-5)
