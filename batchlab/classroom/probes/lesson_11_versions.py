"""Right and wrong ways to compare visits, to split a step, and to say what a cure gains.

    visits as plain dictionaries  ->  a speed-up, parts of a step, a gain, shares

Words
    visit    one cell of a sweep in one round: totals over its steps
    version  one way to write a function of the lesson: RIGHT, or WRONG under its thought
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom.probes import lesson_11_shares

__all__ = ["RIGHT", "WRONG", "apart", "visit", "visits"]

Visit = Mapping[str, Any]
SAME = ("model", "data", "device")
SIDES = ("input", "host", "optimizer")


def visit(**totals: Any) -> dict[str, Any]:
    """A visit with some totals, and small ones of its own for the others."""
    base = {
        "model": "m", "data": "d", "device": "cpu", "round": 0, "rows": 4, "checkpointing": False,
        "steps": 2, "micro_batches": 4, "documents": 8, "real_tokens": 100, "slots": 200,
        "seconds": 1.0, "input_seconds": 0.0, "host_seconds": 0.0, "optimizer_seconds": 0.0,
        "retries": 0, "busy": 0.97,
    }  # fmt: skip
    return base | totals


def visits(
    rng: np.random.Generator, number: int, *, tokens: int = 1, seconds: float = 1.0
) -> list[dict[str, Any]]:
    """Visits of one run that differ in all else; tokens and seconds so many times as large."""
    made, names = [], {key: f"{rng.integers(16**8):08x}" for key in SAME}
    for n in range(number):
        real, steps, *more = (int(one) for one in rng.integers(1, 1000, 6))
        made.append(visit(
            **names, round=n % 7, rows=2 ** (n % 5), checkpointing=bool(more[0] % 2), steps=steps,
            micro_batches=steps * more[1], documents=more[2], real_tokens=tokens * real,
            slots=tokens * (real + more[3]), seconds=seconds * float(rng.uniform(1, 9)),
            input_seconds=seconds * float(rng.uniform(0, 0.5)), retries=n % 3,
            busy=float(rng.uniform(0.5, 1)),
        ))  # fmt: skip
    return made


def apart(visit: Visit, names: Sequence[str]) -> dict[str, Any]:
    """The visit of a run whose names differ in their last letter."""
    return {**visit, **{key: visit[key][:-1] + chr(ord(visit[key][-1]) + 1) for key in names}}


def _sum(visits: Sequence[Visit], key: str) -> Any:
    return sum(one[key] for one in visits)


def _speed_up(before: Sequence[Visit], after: Sequence[Visit], key: str = "real_tokens") -> float:
    differ = [name for name in SAME if len({one[name] for one in [*before, *after]}) > 1]
    if differ:
        raise ValueError(f"visits of two runs: they differ in {', '.join(differ)}")
    rates = [_sum(visits, key) / _sum(visits, "seconds") for visits in (before, after)]
    return float(rates[1] / rates[0])


def _mean_rate(visits: Sequence[Visit]) -> float:
    return float(sum(one["real_tokens"] / one["seconds"] for one in visits) / len(visits))


def _without(visits: Sequence[Visit], sides: Sequence[str]) -> float:
    aside = sum(_sum(visits, f"{side}_seconds") for side in sides)
    return float(_sum(visits, "real_tokens") / (_sum(visits, "seconds") - aside))


def _parts(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
    steps = visit["steps"]
    found = {
        "useful": slot * visit["real_tokens"] / steps,
        "padding": slot * (visit["slots"] - visit["real_tokens"]) / steps,
        "launch": fixed * visit["micro_batches"] / steps,
    }
    found["recomputation"] = sum(found.values()) / 3 if visit["checkpointing"] else 0.0
    found |= {side: visit[f"{side}_seconds"] / steps for side in SIDES}
    return found | {"unexplained": visit["seconds"] / steps - sum(found.values())}


def _parts_with(**other: Callable[[Visit, float, float], float]) -> Callable[..., Any]:
    """The parts with some of them computed in another way; the rest is what is left."""

    def version(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
        found = _parts(visit, fixed, slot)
        found |= {name: make(visit, fixed, slot) for name, make in other.items()}
        if "unexplained" not in other:
            named = sum(value for name, value in found.items() if name != "unexplained")
            found["unexplained"] = visit["seconds"] / visit["steps"] - named
        return found

    return version


def _totals(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
    return {k: v * visit["steps"] for k, v in _parts(visit, fixed, slot).items()}


def _shares_of_step(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
    whole = visit["seconds"] / visit["steps"]
    return {k: v / whole for k, v in _parts(visit, fixed, slot).items()}


def _per_micro_batch(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
    times = visit["steps"] / visit["micro_batches"]
    return {k: v * times for k, v in _parts(visit, fixed, slot).items()}


def _parts_of_whole(visit: Visit, fixed: float, slot: float) -> dict[str, float]:
    counts = ("micro_batches", "slots", "real_tokens")
    whole = {key: visit[key] // visit["steps"] * visit["steps"] for key in counts}
    return _parts({**visit, **whole}, fixed, slot)


def _fb(visit: Visit, fixed: float, slot: float) -> float:
    return float(slot * visit["slots"] + fixed * visit["micro_batches"]) / float(visit["steps"])


def _waste_of_all(visit: Visit, fixed: float, slot: float) -> float:
    return float(visit["seconds"] / visit["steps"] * (1 - visit["real_tokens"] / visit["slots"]))


def _gain(parts: Mapping[str, float], keep: Mapping[str, float]) -> float:
    whole = sum(parts.values())
    return whole / sum(seconds * keep.get(name, 1) for name, seconds in parts.items()) - 1


def _gain_packed(parts: Mapping[str, float], keep: Mapping[str, float]) -> float:
    """The gain if recomputation shrinks with the padding."""
    work = sum(parts.get(name, 0.0) for name in ("useful", "padding", "launch"))
    gone = parts.get("padding", 0.0) * (1 - keep.get("padding", 1)) / work
    return _gain(parts, {"recomputation": 1 - gone, **keep})


def _removed(parts: Mapping[str, float], keep: Mapping[str, float]) -> float:
    return sum(parts[name] * (1 - left) for name, left in keep.items() if name in parts)


def _each(parts: Mapping[str, float], keep: Mapping[str, float]) -> list[float]:
    return [_gain(parts, {name: left}) for name, left in keep.items()]


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "speed-up": (_speed_up,),
    "parts": (_parts,),
    "gain": (_gain,),
    "shares": lesson_11_shares.RIGHT,
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "speed-up": {
        "slots per second: padding is no work": lambda b, a: _speed_up(b, a, "slots"),
        "waits belong to the time: take no input, host or optimizer off": lambda b, a: (
            _without(a, SIDES) / _without(b, SIDES)
        ),
        "waits belong to the time: take no input off": lambda b, a: (
            _without(a, ("input",)) / _without(b, ("input",))
        ),
        "host and optimizer belong to the time: take nothing off": lambda b, a: (
            _without(a, ("host", "optimizer")) / _without(b, ("host", "optimizer"))
        ),
        "documents per second: they differ in length": lambda b, a: _speed_up(b, a, "documents"),
        "steps per second: steps may hold other tokens": lambda b, a: _speed_up(b, a, "steps"),
        "upside down: after over before": lambda b, a: _speed_up(a, b),
        "the gain: a speed-up of 1 is no change": lambda b, a: _speed_up(b, a) - 1,
        "the mean of rates: add tokens and seconds first": lambda b, a: (
            _mean_rate(a) / _mean_rate(b)
        ),
        "the first visits only: add all": lambda b, a: _speed_up(b[:1], a[:1]),
        "the last visits only: add all": lambda b, a: _speed_up(b[-1:], a[-1:]),
        "seconds alone: the tokens differ, too": lambda b, a: (
            _sum(b, "seconds") / _sum(a, "seconds")
        ),
        "tokens alone: the seconds differ, too": lambda b, a: (
            _sum(a, "real_tokens") / _sum(b, "real_tokens")
        ),
        "of the whole run, not of the change": lambda b, a: _speed_up(b, [*b, *a]),
    },
    "parts": {
        "whole numbers by //: divide with /": _parts_of_whole,
        "the two prices are swapped": lambda v, f, s: _parts(v, s, f),
        "recomputation repeats padding and launches as well": _parts_with(
            recomputation=lambda v, f, s: s * v["real_tokens"] / v["steps"] / 3 * v["checkpointing"]
        ),
        "a quarter of the measured step: a third of useful, padding and launch": _parts_with(
            recomputation=lambda v, f, s: v["seconds"] / v["steps"] / 4 * v["checkpointing"]
        ),
        "the rest is of one step, too: seconds / steps first": _parts_with(
            unexplained=lambda v, f, s: (
                v["seconds"] - v["seconds"] / v["steps"] + _parts(v, f, s)["unexplained"]
            )
        ),
        "totals: divide by the steps": _totals,
        "per micro-batch: asked is one step": _per_micro_batch,
        "shares: asked are seconds": _shares_of_step,
        "padding is the waste of the whole step: input and optimizer pad nothing": _parts_with(
            padding=_waste_of_all
        ),
        "useful counts slots: padding would be counted twice": _parts_with(
            useful=lambda v, f, s: s * v["slots"] / v["steps"]
        ),
        "padding counts all slots: take the real tokens off": _parts_with(
            padding=lambda v, f, s: s * v["slots"] / v["steps"]
        ),
        "launch is paid for each micro-batch, not once a step": _parts_with(
            launch=lambda v, f, s: f
        ),
        "launch is paid for each micro-batch, not for each document": _parts_with(
            launch=lambda v, f, s: f * v["documents"] / v["steps"]
        ),
        "recomputation repeats launches as well": _parts_with(
            recomputation=lambda v, f, s: s * v["slots"] / v["steps"] / 3 * v["checkpointing"]
        ),
        "recomputation repeats padding as well": _parts_with(
            recomputation=lambda v, f, s: (
                (_fb(v, f, s) - s * (v["slots"] - v["real_tokens"]) / v["steps"])
                / 3
                * v["checkpointing"]
            )
        ),
        "a third of the measured step: only forward and backward are repeated": _parts_with(
            recomputation=lambda v, f, s: v["seconds"] / v["steps"] / 3 * v["checkpointing"]
        ),
        "a quarter: the prices are those without recomputation, it adds a third": _parts_with(
            recomputation=lambda v, f, s: _fb(v, f, s) / 4 * v["checkpointing"]
        ),
        "recomputation doubles nothing: one forward pass is a third": _parts_with(
            recomputation=lambda v, f, s: _fb(v, f, s) * v["checkpointing"]
        ),
        "recomputation although checkpointing is off": _parts_with(
            recomputation=lambda v, f, s: _fb(v, f, s) / 3
        ),
        "recomputation is missing where checkpointing is on": _parts_with(
            recomputation=lambda v, f, s: 0.0
        ),
        "nothing is unexplained: the rest is hidden": _parts_with(unexplained=lambda v, f, s: 0.0),
        "the rest without its sign: below zero the prices promise too much": _parts_with(
            unexplained=lambda v, f, s: abs(_parts(v, f, s)["unexplained"])
        ),
        "a rest below zero is shown, too: else the parts exceed the step": _parts_with(
            unexplained=lambda v, f, s: max(0.0, _parts(v, f, s)["unexplained"])
        ),
        "the whole step is no rest: take the parts off": _parts_with(
            unexplained=lambda v, f, s: v["seconds"] / v["steps"]
        ),
    },
    "gain": {
        "a cure may cost: a gain below zero is one, too": lambda p, k: max(0.0, _gain(p, k)),
        "0 is left of a part: `keep.get(name) or 1` reads it as 1": lambda p, k: _gain(
            p, {name: left or 1 for name, left in k.items()}
        ),
        "packing ends padding alone: recomputation stays, `keep` does not name it": _gain_packed,
        "what `keep` does not name stays whole, only the useful part did": lambda p, k: _gain(
            p, {name: k.get(name, float(name == "useful")) for name in p}
        ),
        "the share that goes: what is left is faster by more than that": lambda p, k: (
            _removed(p, k) / sum(p.values())
        ),
        "`keep` says what is left, not what goes": lambda p, k: _gain(
            p, {name: 1 - left for name, left in k.items()}
        ),
        "gains do not add: remove all parts, divide once": lambda p, k: sum(_each(p, k)),
        "gains do not multiply: remove all parts, divide once": lambda p, k: (
            float(np.prod([1 + one for one in _each(p, k)])) - 1
        ),
        "the speed-up: take off 1": lambda p, k: _gain(p, k) + 1,
        "upside down: time before over time after": lambda p, k: 1 / (1 + _gain(p, k)) - 1,
        "in per cent: 0.25 is asked, not 25": lambda p, k: 100 * _gain(p, k),
        "seconds, not a share": _removed,
        "the parts go whole: `keep` leaves some of them": lambda p, k: _gain(
            p, dict.fromkeys(k, 0.0)
        ),
        "the rest belongs to the step: the unexplained stays, it does not vanish": lambda p, k: (
            _gain({name: s for name, s in p.items() if name != "unexplained"}, k)
        ),
        "the unexplained without its sign": lambda p, k: _gain(
            {name: abs(s) for name, s in p.items()}, k
        ),
        "only the first of the parts in `keep`": lambda p, k: _each(p, k)[0],
        "only the last of the parts in `keep`": lambda p, k: _each(p, k)[-1],
        "what `keep` does not name stays whole": lambda p, k: _gain(
            p, {name: k.get(name, 0.0) for name in p}
        ),
    },
    "shares": lesson_11_shares.WRONG,
}
