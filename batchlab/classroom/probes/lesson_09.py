"""What lesson 09 needs beside its page: mistakes and their values, settings in turns, a widget.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    setting  one way to do the work: a function without arguments
    round    every setting once, one after another
"""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab import records, roofline, units, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.device_09 import (
    Device,
    benched,
    device,
    fault_of_order,
    fault_of_stretches,
    needed,
    ratios,
)
from batchlab.classroom.probes.lesson_09_versions import RIGHT, WRONG

__all__ = [
    "EARLIER",
    "RIGHT",
    "WRONG",
    "benched",
    "compiled",
    "compiling",
    "controlled",
    "device",
    "fault_of_order",
    "fault_of_rows",
    "fault_of_stretches",
    "finder",
    "in_turns",
    "mistakes",
    "needed",
    "ratios",
    "refusal",
    "same_start",
    "shown",
    "versions",
    "wrong_arrays",
    "wrong_ranges",
]

ROW_TOKENS = 20  # of a row in the finder: short rows, as of questions and answers
LAYERS = {"1,024 x 4,096": (1024, 4096), "2,048 x 8,192": (2048, 8192),
          "4,096 x 16,384": (4096, 16384)}  # fmt: skip
ASKED = ("2,048 x 8,192", "H100 SXM")
ROWS = tuple(range(1, 49))
EARLIER = "the answer of an earlier call: keep nothing between calls"


def _near_line(rows: Sequence[float], seconds: Sequence[float]) -> Any:
    """A fit without what lies beyond three times the scatter, until nothing does."""
    found = start, slope, *_ = RIGHT["fit-step"][0](rows, seconds)
    left = [y - start - slope * x for x, y in zip(rows, seconds, strict=True)]
    most = 3 * math.sqrt(sum(one * one for one in left) / (len(left) - 2))
    near = [n for n, one in enumerate(left) if abs(one) <= most]
    if len(near) == len(left):
        return found
    return _near_line([rows[n] for n in near], [seconds[n] for n in near])


def _measured_once(rows: Sequence[float], seconds: Sequence[float]) -> Any:
    return RIGHT["fit-step"][0](*zip(*dict.fromkeys(zip(rows, seconds, strict=True)), strict=True))


# Mistakes that only some inputs tell from a right answer.
RARER: dict[str, dict[str, Callable[..., Any]]] = {
    "times-faster": {
        "the sign was dropped: clip nothing, turn nothing round": lambda t, u, r, k: (
            abs(k * (t + u * r) / (t + u * r * k))),
    },
    "fit-step": {
        "equal measurements counted once: every measurement counts": _measured_once,
        "tau clipped: noise may make it negative": lambda r, s: (
            [one if n != 1 else max(0.0, one) for n, one in enumerate(RIGHT["fit-step"][0](r, s))]),
        "the error of t0 cut at t0: clip nothing": lambda r, s: (
            [min(e, abs(t)) if n == 2 else e
             for t, *_ in [RIGHT["fit-step"][0](r, s)]
             for n, e in enumerate(RIGHT["fit-step"][0](r, s))]),
        "what lies far from the line was left out: every measurement counts": _near_line,
    },
    "useful-rate": {
        "three dropped as warm-up: their number is given": lambda n, w: (
            sum(x[2] for x in n[3:]) / sum(x[3] for x in n[3:])),
        "steps without padding left out: every step counts": lambda n, w: (
            sum(x[2] for x in n[w:] if x[2] < x[1]) / sum(x[3] for x in n[w:] if x[2] < x[1])),
    },
}  # fmt: skip


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    right = RIGHT[name][0](*case)
    versions = RARER.get(name, {}) | WRONG[name]
    found = {value: why for value, why in mistakes_of(versions, *case) if value != right}
    return rounded(right) | found


def wrong_arrays(name: str, *case: Any) -> list[tuple[Any, str]]:
    """The same for several values at once, rounding included."""
    right = RIGHT[name][0](*case)
    whole = "rounded to {} digits: keep them all"
    rough = [([round(one, n) for one in right], whole.format(n)) for n in range(5, -1, -1)]
    with np.errstate(divide="raise", invalid="raise"):  # a version that fails gives nothing
        return [*mistakes_of(WRONG[name] | RARER.get(name, {}), *case), *rough]


def same_start(got: object, want: Sequence[float], count: int) -> bool:
    """Whether the first `count` values are right, whatever came: then the others are to blame."""
    try:
        first = [float(one) for one in list(got)[:count]]  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return False
    return len(first) == count and bool(np.allclose(first, want[:count], rtol=1e-5, atol=0))


def wrong_ranges(found: Mapping[str, Sequence[float]], name: str) -> list[tuple[Any, str]]:
    """What known mistakes make of the ratios of one setting, by their thoughts."""
    own, first = np.array(found[name]), np.array(next(iter(found.values())))
    names = list(found)
    before = np.array(found[names[max(0, names.index(name) - 1)]])
    alphabet, quick = found[min(found)], min(found.values(), key=statistics.median)

    def three(ratio: Any) -> tuple[float, float, float]:
        return float(np.min(ratio)), float(np.median(ratio)), float(np.max(ratio))

    low, middle, high = three(own / first)
    ordered = sorted(own / first)
    medians = float(np.median(own) / np.median(first))
    bad = [
        ((own.min() / first.max(), middle, own.max() / first.min()),
         "lowest over highest: compare inside a round"),
        ((own.min() / first.min(), medians, own.max() / first.max()),
         "ratios of the minima, medians, maxima: compare inside a round"),
        ((low, medians, high), "the ratio of medians: asked is the median of ratios"),
        ((low, (own / first).mean(), high), "the mean: one disturbed round moves it"),
        ((low, own.sum() / first.sum(), high), "the ratio of sums: one slow round decides it"),
        (three(first / own), "upside down: the first setting goes below the line"),
        (three((own / first)[1:]), "the first round was left out: every round counts"),
        (three((own / first)[:-1]), "the last round was left out: every round counts"),
        ((low, ordered[len(own) // 2], high), "the upper of the middle two: take their mean"),
        ((low, ordered[(len(own) - 1) // 2], high), "the lower of the middle two: take their mean"),
        (three(own), "the seconds themselves: asked are ratios to the first setting"),
        (three(own - first), "differences: asked are ratios"),
        (three(own / alphabet), "the first by the alphabet: asked is the first of the dict"),
        (three(own / before), "ratios to the setting before: asked is the first one"),
        (three(own / quick), "ratios to the fastest: asked is the first one"),
        (three(np.sort(own) / np.sort(first)), "sorted before the division: rounds are mixed"),
        ((high, middle, low), "lowest first, then median, then highest"),
        ((middle, low, high), "lowest first, then median, then highest"),
        ((low, high, middle), "lowest first, then median, then highest"),
    ]  # fmt: skip
    return [(w, why) for w, why in bad if not np.allclose(w, (low, middle, high), rtol=1e-5)]


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def in_turns(
    settings: Mapping[str, Callable[[], object]],
    wait: Callable[[], object],
    clock: Callable[[], float],
    rounds: int,
) -> dict[str, list[float]]:
    """Seconds of each setting in each round; the first two calls of each do not count."""
    for call in settings.values():
        call()
        call()
    found: dict[str, list[float]] = {name: [] for name in settings}
    for number in range(rounds):
        for name in list(settings)[:: -1 if number % 2 else 1]:
            wait()
            begin = clock()
            settings[name]()
            wait()
            found[name].append(clock() - begin)
    return found


def controlled(
    benchmark: Callable[..., Any], seconds: Mapping[Any, float], rounds: int, least: float
) -> Any:
    """What a benchmark finds where settings of equal seconds are one function, under any names."""
    made = Device({f"{own}": own for own in seconds.values()})
    calls = {name: made.setting(name) for name in made.seconds}
    settings = {name: calls[f"{own}"] for name, own in seconds.items()}
    return benchmark(settings, made.wait, made.clock, rounds, least)


def compiled() -> dict[str, dict[int, float]]:
    """The record `compile_knee`: {"eager" or "compiled": {rows: median seconds}}."""
    found: dict[str, dict[int, float]] = {}
    for one in records.read("compile_knee"):
        found.setdefault(one["mode"], {})[one["rows"]] = statistics.median(one["process_seconds"])
    return found


def compiling() -> float:
    """Seconds of the first calls of all compiled shapes in that record: compilation."""
    own = [one for one in records.read("compile_knee") if one["mode"] == "compiled"]
    return float(sum(one["first_seconds"] for one in own))


def _fewest_rows(layer: str, name: str) -> int:
    """The fewest rows whose tokens bring the layer to the ridge of the device."""
    tokens = roofline.tokens_to_saturate(roofline.DEVICES[name], *LAYERS[layer])
    return -(-tokens // ROW_TOKENS)


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    right = _fewest_rows(*ASKED)
    try:
        rows = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: rows of the micro-batch"
    if rows == right:
        return ""
    if rows not in ROWS:
        tokens = "those are tokens: asked are rows. " if rows > max(ROWS) else ""
        return f"{tokens}The slider does not offer it: asked is a place of the slider"
    for layer, name in itertools.product(LAYERS, roofline.DEVICES):
        if rows == _fewest_rows(layer, name):
            return f"that is the layer of {layer} on {name}: look at both other sliders"
    short = rows < right
    return "with these rows the layer still waits for memory" if short else "fewer rows do, too"


def finder() -> widgets.Explorer:
    """Rows, layer and device against the ridge; the goal is the fewest rows that reach it."""

    def scene(rows: int, layer: str, device: str) -> dict[str, Any]:
        tokens, ridge = rows * ROW_TOKENS, roofline.DEVICES[device].ridge
        reached = roofline.intensity(tokens, *LAYERS[layer])
        facts = {
            "tokens": units.count(tokens),
            "FLOPs per byte": f"{reached:.1f}",
            "ridge of the device": f"{ridge:.1f}",
            "share of the peak": f"at most {units.share(min(1.0, reached / ridge))}",
            "it waits for": "memory" if reached < ridge else "nothing: it computes",
        }
        return {"facts": facts, "rows": [[(0, ROW_TOKENS)] for _ in range(min(rows, 12))],
                "alt": f"{rows} rows of {ROW_TOKENS} tokens."}  # fmt: skip

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": (f"rows of {ROW_TOKENS} tokens", list(ROWS)),
        "layer": ("linear layer, in x out", list(LAYERS)),
        "device": ("device", list(roofline.DEVICES)),
    }
    goal = f"{ASKED[0]} on {ASKED[1]}: the fewest rows with which the layer computes all the time."
    return widgets.finder(
        "Roofline: when does a layer stop waiting for memory?",
        controls,
        scene,
        goal=goal,
        where=lambda rows, layer, device: (layer, device) == ASKED and rows == _fewest_rows(*ASKED),
    )
