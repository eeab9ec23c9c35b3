"""What lesson 16 needs beside its page: mistakes and their values, planted runs, pictures of them.

    an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is
    a controller  ->  what it does along planted runs, beside the library's

Words
    settings  rows, accumulation, data_parallel, rate and beta2 of the next step
    scenario  a planted run: what is measured at each of its steps
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from batchlab import adapt, plots, rates
from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_16_finder import fault_of_step, finder
from batchlab.classroom.probes.lesson_16_live import trained
from batchlab.classroom.probes.lesson_16_runs import (
    Scenario,
    control,
    saved,
    sequences,
    strangers,
)
from batchlab.classroom.probes.lesson_16_scenarios import fresh, scenarios
from batchlab.classroom.probes.lesson_16_versions import RIGHT, WRONG
from batchlab.noise import NoiseScale
from batchlab.plan import Plan

__all__ = [
    "PALM",
    "RIGHT",
    "WRONG",
    "contest",
    "control",
    "drawn",
    "fault_of_settings",
    "fault_of_split",
    "fault_of_step",
    "finder",
    "fresh",
    "library",
    "mistakes",
    "of_part",
    "ramps",
    "refusal",
    "said",
    "saved",
    "scenarios",
    "sequences",
    "shown",
    "strangers",
    "trained",
    "versions",
]

PALM = tuple((s.from_tokens, s.tokens_per_step) for s in rates.PUBLISHED["palm-540b"].stages)


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for a case, by their thoughts."""
    right = RIGHT[name][0](*case)
    known = rounded(right) if isinstance(right, float) else {}
    return known | {value: why for value, why in mistakes_of(WRONG[name], *case) if value != right}


def of_part(name: str, part: str, *case: Any) -> dict[Any, str]:
    """The values of one part by wrong versions, where they are not the right one."""
    right = RIGHT[name][0](*case)[part]
    known = rounded(right) if isinstance(right, float) else {}
    wrong = {found[part]: why for found, why in mistakes_of(WRONG[name], *case)}
    return known | {value: why for value, why in wrong.items() if value != right}


def fault_of_split(rows: int, accumulation: int, got: object) -> str:
    """What is wrong with rows and accumulation after an out-of-memory; empty if nothing is."""
    try:
        pair = data_of.nested(got)
    except data_of.NotPlain as problem:
        return problem.thought or "two numbers are asked: rows, accumulation"
    if not isinstance(pair, list) or len(pair) != 2:
        return "two numbers are asked: return rows, accumulation"
    if any(type(one) is not int for one in pair):
        return "rows and accumulation are counts, so ints: `//` gives one"
    if tuple(pair) == RIGHT["back-off"][0](rows, accumulation):
        return ""
    for found, thought in mistakes_of(WRONG["back-off"], rows, accumulation):
        if list(found) == pair:
            return thought
    whole = rows * accumulation
    if whole >= 2**53 and pair[0] * pair[1] != whole:
        return "the step drifts: floats skip whole numbers from 2**53 on, ints do not"
    if pair[0] * pair[1] != whole:
        return f"the step drifts: {rows * accumulation} sequences before, {pair[0] * pair[1]} now"
    return "the step is kept; asked are the most rows that are fewer: begin at rows - 1"


def fault_of_settings(settings: Mapping[str, Any], sequences: int, got: Any) -> str:
    """What is wrong with the settings of a step of so many sequences; empty if nothing is."""
    want = RIGHT["grown"][0](settings, sequences)
    new = data_of.nested(got)
    for found, thought in mistakes_of(WRONG["grown"], settings, sequences):
        apart = not all(_near(value, want[key]) for key, value in found.items())
        if apart and all(_near(new[key], value) for key, value in found.items()):
            return thought
    for key, right in want.items():
        value = new[key]
        if isinstance(right, float):
            same = isinstance(value, int | float) and math.isclose(value, right, rel_tol=1e-5)
        else:
            same = value == right and type(value) is type(right)
        if not same:
            return _thought_of(key, value, settings, sequences, right)
    return ""


def _near(value: object, other: object) -> bool:
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=1e-5)
    return value == other


def _thought_of(key: str, value: object, settings: Any, sequences: int, right: Any) -> str:
    if isinstance(right, int) and isinstance(value, float) and value == right:
        return f"{key} is a count, so an int: `//` gives one"
    for found, thought in mistakes_of(WRONG["grown"], settings, sequences):
        wrong = found[key]
        if wrong == right:
            continue
        if isinstance(value, int | float) and math.isclose(value, wrong, rel_tol=1e-5):
            return thought
    if settings[key] == right:
        return f"{key} stays as it is"
    if key == "accumulation" and isinstance(value, int):
        said = value * settings["rows"] * settings["data_parallel"]
        return f"with this accumulation a step has {said} sequences, asked are {sequences}"
    return _thought_of_k(key, value, settings, sequences)


def _thought_of_k(key: str, value: object, settings: Any, sequences: int) -> str:
    """Which k a rate or a beta2 moved by, where that can be told."""
    k = sequences / (settings["rows"] * settings["accumulation"] * settings["data_parallel"])
    if not isinstance(value, int | float) or not 0 < value < math.inf or settings[key] <= 0:
        return f"{key} is another: look at what of it k moves"
    if key == "rate":
        moved = (value / settings["rate"]) ** 2
    elif key == "beta2" and 0 < settings["beta2"] < 1:
        moved = math.log(value) / math.log(settings["beta2"])
    else:
        return f"{key} is another: look at what of it k moves"
    if math.isclose(moved, k, rel_tol=1e-2):
        return f"{key} is off in a late digit: near 1 every digit counts"
    limits = ": no limit is asked" if abs(math.log(moved)) < abs(math.log(k)) else ""
    return f"{key} moved as for k = {moved:.4g}, and here k is {k:.4g}{limits}"


def said(settings: Mapping[str, Any], reading: Mapping[str, Any]) -> str:
    """A step of a planted run in a few words."""
    size = "{rows} x {accumulation} x {data_parallel}".format(**settings)
    if reading["out_of_memory"]:
        return f"{size} ran out of memory"
    low = reading["low"]
    low = low if low is None else f"{low:g}"
    return f"{size}, low {low}, loss {reading['loss']:.4g}, data {reading['data']!r}"


def ramps() -> str:
    """The published ramps as a table: first and last step, and whether the source was read."""
    lines = [f"{'run':<14}{'from':>14}{'to':>14}   reached at   source"]
    for name, ramp in rates.PUBLISHED.items():
        first, last = ramp.stages[0], ramp.last
        kind = "straight line" if ramp.straight else f"{len(ramp.stages)} stages"
        read = "quoted by others" if ramp.second_hand else "read"
        lines.append(
            f"{name:<14}{first.tokens_per_step:>14,}{last.tokens_per_step:>14,}"
            f"{last.from_tokens / 1e9:>10,.1f} B   {read}; {kind}"
        )
    return "\n".join(lines)


def _followed(controller: Callable[..., Any], run: Scenario) -> list[Mapping[str, Any]]:
    """The settings after every step of a planted run; the run is that of the reference."""
    state: Any = {}
    found = []
    for settings, reading, _ in run.steps:
        new, state = controller(dict(settings), state, dict(reading), run.most)
        state = saved(state)
        found.append(new)
    return found


def library(run: Scenario) -> list[tuple[int, int]]:
    """Rows and accumulation by the library's controllers along the same steps."""
    guided = adapt.NoiseGuided(most=run.most, readings=2)
    asked = [guided, adapt.BackOff()]
    found = []
    for number, (settings, reading, _) in enumerate(run.steps):
        low = reading["low"]
        scale = None
        if low is not None and low == low:
            scale = NoiseScale(low, 1.0, 0.0, 0.0, 0.0, 40, 0)  # an interval of no width
        rows, accumulation, replicas = (
            settings[key] for key in ("rows", "accumulation", "data_parallel")
        )
        made = adapt.in_turn(asked, adapt.Signals(
            number, number, Plan(rows, accumulation, replicas, 64), settings["rate"],
            loss=reading["loss"],
            noise=scale, out_of_memory=reading["out_of_memory"],
        ))  # fmt: skip
        found.append((made.plan.rows, made.plan.accumulation))
    return found


def drawn(controller: Callable[..., Any], name: str) -> Any:
    """Readings along a planted run, and the sequences of the next step by a controller."""
    (run,) = (one for one in scenarios() if one.name == name)
    sizes = [sequences(one) for one in _followed(controller, run)]
    steps = range(1, len(sizes) + 1)
    lows = [math.nan if one[1]["low"] is None else one[1]["low"] for one in run.steps]
    lines: dict[str, Any] = {
        "lower end of the noise scale": (steps, lows), "your next step": (steps, sizes),
    }  # fmt: skip
    title = f"Your controller: {name}"
    return plots.lines(lines, title=title, x="step", y="sequences")


def contest(controller: Callable[..., Any]) -> None:
    """Print where a controller and the library's part, run by run."""
    print(f"{'planted run':<36} {'yours ends at':>16} {'the library at':>16}   differs in")
    for run in scenarios():
        if run.start["accumulation"] > 2**20:
            continue
        yours = [(int(one["rows"]), int(one["accumulation"]))
                 for one in _followed(controller, run)]  # fmt: skip
        theirs = library(run)
        apart = sum(a != b for a, b in zip(yours, theirs, strict=True))
        ends = (f"{one[-1][0]} x {one[-1][1]}" for one in (yours, theirs))
        first, second = ends
        print(f"{run.name:<36} {first:>16} {second:>16}   {apart} of {len(yours)} steps")
