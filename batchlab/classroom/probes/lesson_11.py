"""What lesson 11 needs beside its page: a ward of slow runs, mistakes and their values.

    an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is

Words
    cause     one of CAUSES: what makes a run slow, or that nothing does
    range     the lowest and the highest gain that a learner predicts for a cure
    panel     planted sweeps, some of each cause, that nobody has seen
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab import doctor
from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_11_doctors import (
    CURES,
    MISTAKES,
    T90,
    diagnosis,
    fit_step,
    prices,
    told,
)
from batchlab.classroom.probes.lesson_11_exact import Exact, exact_panel
from batchlab.classroom.probes.lesson_11_finder import fault_of_rows, finder
from batchlab.classroom.probes.lesson_11_live import live_sweep
from batchlab.classroom.probes.lesson_11_versions import RIGHT, WRONG, apart, visit, visits
from batchlab.classroom.probes.lesson_11_ward import CAUSES, Run, plain, planted, ward

__all__ = [
    "CAUSES",
    "CHANGES",
    "CURES",
    "MISTAKES",
    "PARTS",
    "RIGHT",
    "TOTALS",
    "WRONG",
    "apart",
    "apply",
    "contest",
    "diagnosis",
    "exact_panel",
    "fault_of_cause",
    "fault_of_diagnosis",
    "fault_of_interval",
    "fault_of_range",
    "fault_of_rows",
    "finder",
    "fit_step",
    "fits",
    "held",
    "is_triple",
    "live_sweep",
    "mistakes",
    "mistakes_of_part",
    "panel",
    "plain",
    "planted",
    "prices",
    "refusal",
    "shown",
    "table",
    "told",
    "versions",
    "visit",
    "visits",
    "ward",
]

TOTALS = ("real_tokens", "slots", "documents", "steps", "seconds")
PARTS = ("useful", "padding", "launch", "recomputation", "input", "host", "optimizer",
         "unexplained")  # fmt: skip
CLOSE = 0.06  # of 1 + gain: what two right doctors may differ by, three times over
WIDEST = 1.2  # a range of the ward: (1 + high) / (1 + low)
EXACT = 0.02  # the same, of a sweep without noise: a mean of logarithms still passes
NARROW, WIDE = 0.85, 1.15  # an interval without noise over that of the lesson's formula

CHANGES = {
    "padding": "the same documents, packed",
    "recomputation": "checkpointing off, the same rows",
    "saturation": "twice the rows",
    "memory": "half the rows, twice the accumulation",
    "input": "loader workers that keep up",
    "host": "no stalls between the steps",
    "launch": "twice the rows",
}


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for a case, by their thoughts."""
    return rounded(RIGHT[name][0](*case)) | dict(mistakes_of(WRONG[name], *case))


def mistakes_of_part(part: str, *case: Any) -> dict[Any, str]:
    """The seconds of one part by wrong versions, where they are not the right ones."""
    right = RIGHT["parts"][0](*case)[part]
    found = {value[part]: thought for value, thought in mistakes_of(WRONG["parts"], *case)}
    wrong = {value: why for value, why in found.items() if abs(value - right) > 1e-9}
    return rounded(right) | wrong


def fits(yours: Callable[..., Any]) -> bool:
    """Whether a learner's fit of lesson 09 finds t0 = 0.5 and tau = 0.01 from exact times."""
    fixed, each = list(yours([10, 20, 40, 80], [0.6, 0.7, 0.9, 1.3]))[:2]
    return abs(float(fixed) - 0.5) < 1e-3 and abs(float(each) - 0.01) < 1e-4


def table(run: Run) -> str:
    """The sweep of a run as a reader would print it, all rounds together."""
    said = [f"{'rows':>6} {'useful tokens/s':>16} {'waste':>7} {'busy':>6} {'retries':>8}"]
    visits = run.sweep()
    for rows in run.grid:
        mine = [one for one in visits if one["rows"] == rows]
        total = {key: sum(one[key] for one in mine) for key in ("real_tokens", "slots", "seconds")}
        rate, waste = (
            total["real_tokens"] / total["seconds"],
            1 - total["real_tokens"] / total["slots"],
        )
        busy = sum(one["busy"] for one in mine) / len(mine)
        retries = sum(one["retries"] for one in mine)
        said.append(f"{rows:>6} {rate:>16,.0f} {waste:>7.1%} {busy:>6.0%} {retries:>8}")
    return "\n".join(said) + "\n" + "checkpointing is on" * run.checkpointing


def apply(name: str, cause: str) -> None:
    """Print what the cure of a cause gains in a run of the ward, measured."""
    gain = ward()[name].gain_of(cause)
    print(f"{name}: {CHANGES[cause]}: {gain:+.1%} useful tokens per second")


def _evidence(run: Run | Exact, said: str) -> str:
    """What the sweep of a run says against a cause."""
    visits = [one for one in run.sweep() if one["rows"] == run.grid[-1]]
    parts = RIGHT["parts"][0](visits[0], *prices(run.sweep()))
    share = parts.get(said, 0.0) / sum(parts.values())
    if said in ("input", "host", "padding", "launch"):
        of = f"{said} is {share:.0%} of the step with the most rows"
        if isinstance(run, Exact):
            return f"{of} in one round: the largest mean gain over the rounds decides"
        return f"{of}: another cure gains more" if share > 0.05 else of
    return {
        "recomputation": "checkpointing is on here, but another cure gains more"
        if run.checkpointing
        else "checkpointing is off here: nothing is recomputed",
        "memory": "the subject never retried: retries of fewer rows do not count"
        if any(one["retries"] for one in run.sweep())
        else "the allocator never retried in this run",
        "saturation": "a cure of this run gains more than 5 %",
    }[said]


def fault_of_cause(name: str, said: object) -> str:
    """What is wrong with a cause that a learner names for a run of the ward; empty if right."""
    run = ward()[name]
    if not isinstance(said, str) or said.strip().casefold() not in CAUSES:
        return f"one of these words is asked: {', '.join(CAUSES)}"
    return "" if said.strip().casefold() == run.cause else _evidence(run, said.strip().casefold())


def fault_of_range(name: str, low: object, high: object) -> str:
    """What is wrong with a range of gains for a run of the ward; empty if it holds the gain."""
    try:
        least, most = float(data_of.number(low)), float(data_of.number(high))
    except data_of.NotPlain as problem:
        return problem.thought or "two numbers are asked: the lowest gain and the highest"
    gain = ward()[name].gain
    if not -1 < least <= most < 1e6:
        return "the lowest gain comes first, and no gain is below -1"
    if (1 + most) / (1 + least) > WIDEST:
        return f"too wide to be of use: (1 + high) / (1 + low) is at most {WIDEST}"
    share = gain / (1 + gain)
    named = _wrong_range(name, least, most)
    if named and not least <= gain <= most:
        return named
    if gain > most and least <= share <= most:
        return "that is the share of the step: what is left runs faster by more than that"
    if gain > most and least <= 100 * gain:
        return "the measured gain lies above your range" + " (0.5 is half as fast again)"
    return "" if least <= gain <= most else "the measured gain lies below your range"


def _wrong_range(name: str, least: float, most: float) -> str:
    """The mistake whose gain a range of the ward holds; empty if none is known."""
    run = ward()[name]
    rate = {one["rows"]: one["real_tokens"] / one["seconds"] for one in run.sweep()}
    known = {
        1 + run.gain: "that is the speed-up: the gain is 1 less",
        1 / (1 + run.gain) - 1: "upside down: with the cure over without it, minus 1",
    }
    if run.cause == "memory":
        known[rate[run.grid[0]] / rate[run.grid[-1]] - 1] = "half the rows, not the fewest"
    if run.cause == "launch":
        seconds = run.whole_seconds(run.grid[-1])
        work = run.fixed * 64 / run.grid[-1] * 8
        known[seconds / (seconds - work) - 1] = "twice the rows halve the launches, not end them"
    if least > 4 * run.gain and least > 1.5:
        return "in per cent: fractions are asked, 0.2 for 20 %"
    for value, thought in known.items():
        if least <= value <= most and abs(value) > 0.05:
            return thought
    return ""


def panel(each: int, seed: int) -> list[Run]:
    """Planted sweeps, `each` of every cause, in an order that tells nothing."""
    runs = [planted(cause, seed + n) for n in range(each) for cause in CAUSES]
    return [runs[n] for n in np.random.default_rng(seed).permutation(len(runs))]


def fault_of_diagnosis(run: Run | Exact, got: Mapping[str, Any]) -> str:
    """What is wrong with a diagnosis of a planted sweep; empty if nothing is."""
    said = str(got["cause"]).strip().casefold()
    if said not in CAUSES:
        return f"a cause is one of {', '.join(CAUSES)}"
    try:
        gain, low, high = (float(data_of.number(got[key])) for key in ("gain", "low", "high"))
    except data_of.NotPlain as problem:
        return problem.thought or "gain, low and high are numbers"
    close = EXACT if isinstance(run, Exact) else CLOSE
    if said == run.cause and abs((1 + gain) / (1 + run.gain) - 1) <= close:
        if not low <= gain <= high:
            return "the gain lies outside its own interval: low <= gain <= high"
        return "" if low < high else "a point: rounds differ, so low is below high"
    visits = run.sweep()
    for thought, version in MISTAKES.items():
        known = version(visits)
        if known["cause"] == said and abs(known["gain"] - gain) <= 1e-4 * (1 + abs(gain)):
            return thought
    if said != run.cause:
        return _evidence(run, said)
    if said == "saturation":
        return "the cause is right; for saturation the gain of `launch` is asked: twice the rows"
    return _unit(gain, run.gain) or (
        "the cause is right, its gain is another: take the mean over this sweep's own rounds, "
        "and useful tokens, not steps, per second"
    )


def _unit(said: float, gain: float) -> str:
    """The unit in which a gain was said, if it is another than asked; or where it was cut off."""
    if gain < -0.02 and abs(said) < 1e-9:
        return "a gain below 0 is one, too: fewer rows may be slower"
    units = {
        100 * gain: "in per cent: a fraction is asked, 0.25 for 25 %",
        1 + gain: "the speed-up: the gain is 1 less",
        1 / (1 + gain) - 1: "upside down: the rate after the cure over the rate before, minus 1",
        -gain: "upside down: the rate after the cure over the rate before, minus 1",
    }
    for value, thought in units.items():
        if abs(said - value) <= 0.03 * abs(value) and abs(value - gain) > 0.02:
            return thought
    return ""


def fault_of_interval(run: Exact, got: Mapping[str, Any]) -> str:
    """What is wrong with the interval of a sweep without noise; empty if nothing is."""
    gain, low, high = (float(data_of.number(got[key])) for key in ("gain", "low", "high"))
    right = run.diagnosis()
    half = right["high"] - right["gain"]
    lower, upper = (gain - low) / half, (high - gain) / half
    if all(NARROW <= one <= WIDE for one in (lower, upper)):
        return ""
    if low == 0 > right["low"]:
        return "low may be below 0: it is not cut off there"
    if abs(lower - upper) > 0.05 * max(lower, upper):
        return "gain is the middle: as much below it as above"
    n = len(run.rounds)
    known = {
        n**0.5: "the spread of one round: the mean of n is surer by the root of n",
        1 / T90[n]: "the standard error alone: with few rounds it is itself unsure, times T90[n]",
        n**0.5 / T90[n]: "the standard deviation alone: T90[n] and the root of n are missing",
        T90.get(n - 1, 0) / T90[n]: "T90 goes by the number of rounds n, not n - 1",
        ((n - 1) / n) ** 0.5: "the standard deviation over n - 1, not n",
    }
    for ratio, thought in known.items():
        if abs(lower / ratio - 1) < 0.01:
            return thought
    for thought, version in MISTAKES.items():
        if abs(version(run.visits)["low"] - low) < 1e-6:
            return thought
    return f"{lower:.2g} times as wide as T90[{n}] s / root of {n} over the {n} rounds of this run"


def held(runs: Sequence[Run], results: Sequence[Mapping[str, Any]]) -> int:
    """How many intervals hold what the cure gained."""
    pairs = zip(runs, results, strict=True)
    return sum(float(got["low"]) <= run.gain <= float(got["high"]) for run, got in pairs)


def contest(diagnose: Callable[..., Mapping[str, Any]], seed: int) -> None:
    """Print what two doctors say of sweeps that neither has seen, and what the cure gained."""
    print(f"{'yours':<15} {'gain':>18}   {'the library':<15} {'gain':>18}   measured")
    for run in panel(1, seed):
        yours, library = diagnose(run.sweep()), doctor.diagnose(run.cells)
        first = library.causes[0] if library.causes else None
        between = first.interval if first else None
        theirs = f"{between.low:.0%} to {between.high:.0%}" if between else "no number"
        mine = f"{yours['low']:.0%} to {yours['high']:.0%}"
        named = first.name if first else "none"
        print(f"{yours['cause']:<15} {mine:>18}   {named:<15} {theirs:>18}   {run.gain:>8.1%}")


def is_triple(value: object) -> bool:
    """Whether a value is a tuple or a list of three."""
    return isinstance(value, tuple | list) and len(value) == 3
