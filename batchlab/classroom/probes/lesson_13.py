"""What lesson 13 needs beside its page: mistakes and their values, reports, a bench, a finder.

    an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is

Words
    report   one sentence in which somebody names a batch; WORDS are what it may be
    way      how a meter goes about it (`lesson_13_ways`)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain as data_of
from batchlab.classroom.probes.attempt import finite, mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_13_curves import LIMITS, as_if
from batchlab.classroom.probes.lesson_13_curves import RIGHT as CURVES
from batchlab.classroom.probes.lesson_13_curves import WRONG as WRONG_CURVES
from batchlab.classroom.probes.lesson_13_meter import meter, stops
from batchlab.classroom.probes.lesson_13_rows import careful_step, take_step
from batchlab.classroom.probes.lesson_13_runs import (
    examples_of,
    fault_of_batch,
    finder,
    steps_to_target,
)
from batchlab.classroom.probes.lesson_13_versions import RIGHT as NORMS
from batchlab.classroom.probes.lesson_13_versions import WRONG as WRONG_NORMS
from batchlab.classroom.probes.lesson_13_ways import SHAPES, WAYS, run
from batchlab.noise import DEFINITIONS

__all__ = [
    "MANY",
    "REPORTS",
    "RIGHT",
    "WAYS",
    "WORDS",
    "WRONG",
    "careful_step",
    "examples_of",
    "fault_of_batch",
    "fault_of_report",
    "fault_of_scale",
    "finder",
    "finite",
    "losses_by_mistake",
    "meter",
    "mistakes",
    "mistakes_of_pair",
    "mistakes_of_scale",
    "of_the_run",
    "one_changed",
    "refusal",
    "run",
    "shown",
    "steps_to_target",
    "stops",
    "take_step",
    "versions",
    "weights_by_mistake",
]

RIGHT, WRONG = NORMS | CURVES, WRONG_NORMS | WRONG_CURVES
INFINITE = (
    "the small norms are too long (pieces of earlier windows, sums so far), or the big ones too "
    "short (clipped, or the last piece only)"
)
RUNS = ("max_norm", "frozen", "loud", "quiet", "shapes")
WORDS = (*DEFINITIONS, "noise_scale")

EARLIER = "an answer of an earlier call: keep nothing between calls"
MANY = [  # readings of all sizes, more than any window that keeps "enough" of them
    (
        (1 - 2 * (k % 5 == 0)) * 10.0 ** (k % 13 - 4) * (1 + k**2 % 7) * (1 + k / 9000),
        (1 - 2 * (k % 7 == 0)) * 10.0 ** (k % 11 - 2) * (1 + k % 3) * (2 - k / 9000),
    )
    for k in range(12_000)
]

REPORTS = {
    "A": "Nine runs to a loss of 3.0, from 64 to 16,384 sequences. We take 747: from there on a "
    "run needs over a fifth more updates than those of 256 sequences, divided by the growth.",
    "B": "From one checkpoint we went on with 2, 4 and 8 times the sequences. Four times ended "
    "0.004 nats above the old run, eight times 0.03. So it is four times.",
    "C": "One model, 10 billion tokens each: 2.61 nats at the end with 128 sequences, 2.58 with "
    "256, 2.60 with 512. So it is 256.",
    "D": "Over 200 updates of four micro-batches, the mean trace is 2,300 times the mean squared "
    "gradient. So it is 2,300.",
    "E": "Updates to a loss of 3.0 follow 1,300 + 2,860,000 / sequences. At 2,200 both terms are "
    "equal. So it is 2,200.",
}
_TRUTH = dict(zip("ABCDE", ("more_steps", "same_loss", "lowest_loss", "noise_scale",
                            "twice_the_examples"), strict=True))  # fmt: skip
_CLUES = {
    "A": "a fifth more than perfect scaling from a reference batch",
    "B": "branches off one checkpoint, and a tolerance on their loss",
    "C": "the data are fixed, and the losses at the end are compared",
    "D": "nothing was trained to a target: these are norms of gradients",
    "E": "where both terms of a curve are equal, both are twice their least",
}


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    if name != "estimate":
        return {"right": RIGHT[name], "wrong": WRONG[name]}
    return {
        "right": [_named(one, strict=True) for one in RIGHT[name]],
        "wrong": {thought: _named(one, strict=False) for thought, one in WRONG[name].items()},
    }


def _named(version: Callable[..., float], *, strict: bool) -> Callable[..., float]:
    """A version of `estimate` with the names of the task; a strict one refuses a lost signal."""

    def estimate(small: Any, big: Any, small_batch: float, big_batch: float) -> float:
        if strict:
            mean = (big_batch * np.mean(big) - small_batch * np.mean(small)) / (
                big_batch - small_batch
            )
            if mean <= 0:
                raise ValueError(
                    f"the mean squared gradient of this case is {mean:.4g}: it must be above 0"
                )
        return version(list(small), list(big), small_batch, big_batch)

    return estimate


def one_changed(case: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A case, and for each argument the same case with that argument from the other."""
    return [tuple(case)] + [
        (*case[:place], value, *case[place + 1 :]) for place, value in enumerate(other)
    ]


def mistakes(name: str, got: Any, *case: Any, earlier: Sequence[Any] = ()) -> dict[Any, str]:
    """The numbers that mistakes give for a case, by their thoughts; none where `got` is right."""
    right = RIGHT[name][0]
    value = _row(got)
    if len(value) == 1 and math.isclose(value[0], right(*case), rel_tol=1e-6):
        return {}
    found = rounded(right(*case)) | dict(mistakes_of(WRONG[name], *case))
    if earlier:
        found[right(*earlier)] = EARLIER
    known = any(math.isclose(one, two, rel_tol=1e-5) for one in found for two in value)
    if len(value) == 1 and not known:
        found[value[0]] = as_if(name, right, value[0], case)
    return found


def mistakes_of_pair(
    name: str, got: Any, *case: Any, earlier: Sequence[Any] = ()
) -> list[tuple[Any, str]]:
    """The pairs that mistakes give for a case, with their thoughts; none where `got` is right."""
    right, value = RIGHT[name][0](*case), _row(got)
    if len(value) == 2 and _same(value, right):
        return []
    found = [(RIGHT[name][0](*earlier), EARLIER)] if earlier else []
    with np.errstate(all="ignore"):
        found += mistakes_of(WRONG[name], *case)
    for digits in range(9, -1, -1):
        short = tuple(round(one, digits) for one in right)
        for pair in (short, (short[0], right[1]), (right[0], short[1])):
            found.append((pair, f"rounded to {digits} digits: keep all"))
    if len(value) == 2 and name != "noise-scale":
        found += [(value, thought) for thought in [_limit(name, value, right, case)] if thought]
    return [(pair, thought) for pair, thought in found if not _same(pair, right)]


def _limit(name: str, value: Any, right: Any, case: tuple[Any, ...]) -> str:
    """The limit that was set to an argument, or to a part of the result; empty if it is none."""
    for part, other in ((0, 1), (1, 0)):
        if math.isclose(value[other], right[other], rel_tol=1e-5):
            for limit in (one for size in LIMITS for one in (size, -size)):
                if math.isclose(value[part], limit):
                    return f"as if there were a limit at {limit:g}: either may be any number"
    if name == "fastest" and any(math.isclose(value[0], limit) for limit in LIMITS):
        return f"as if a batch had a limit at {value[0]:g}: it has none"
    return as_if(name, RIGHT[name][0], value, case)


def mistakes_of_scale(
    readings: Sequence[Any], got: Any, *, earlier: Sequence[Any] = ()
) -> dict[Any, str]:
    """The scales of wrong versions, whatever error they go with; none where `got` is right."""
    version = RIGHT["noise-scale"][0]
    right, value = version(readings)[0], _row(got)
    if len(value) == 1 and math.isclose(value[0], right, rel_tol=1e-6):
        return {}
    found: dict[Any, str] = {version(earlier)[0]: EARLIER} if earlier else {}
    with np.errstate(all="ignore"):
        for pair, thought in mistakes_of(WRONG["noise-scale"], readings):
            if not math.isclose(pair[0], right, rel_tol=1e-5):
                found.setdefault(pair[0], thought)
        for fewer, thought in _fewer(readings):
            for pair, _ in mistakes_of({"": version}, fewer):
                found.setdefault(pair[0], thought)
    return rounded(right) | found


def _fewer(readings: Sequence[Any]) -> list[tuple[list[Any], str]]:
    """Readings of which some are missing, and what is thought then."""
    all_of = list(readings)
    sizes = sorted({int(size) for size in LIMITS if 1 < size < len(all_of)})
    apart = [one for one, before in zip(all_of, [None, *all_of], strict=False) if one != before]
    return [
        (apart, "equal readings are readings of their own: all count"),
        (all_of[::2], "every second reading was skipped: all count"),
        *((all_of[:size], f"the first {size}: all of them count") for size in sizes),
        *((all_of[-size:], f"the last {size}: all of them count") for size in sizes),
    ]


def _row(got: Any) -> tuple[float, ...]:
    """The numbers of an answer; empty where it holds none."""
    try:
        return tuple(np.asarray(data_of.array(got), dtype=float).ravel().tolist())
    except (data_of.NotPlain, TypeError, ValueError):
        return ()


def _same(pair: Sequence[float], right: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(pair, right, strict=True))


def fault_of_report(name: str, said: object) -> str:
    """What is wrong with the word for a report; empty if it is right."""
    if not isinstance(said, str) or said.strip().casefold() not in WORDS:
        return f"one of these words is asked: {', '.join(WORDS)}"
    return "" if said.strip().casefold() == _TRUTH[name] else f"look again: {_CLUES[name]}"


def losses_by_mistake(right: Sequence[float], windows: Sequence[Any]) -> list[tuple[Any, str]]:
    """What a meter may hand back in place of the list of the steps' losses."""
    some = [loss for loss, window in zip(right, windows, strict=True) if len(window) > 1]
    counted = [loss for loss, window in zip(right, windows, strict=True) if _holding(window) > 1]
    found: list[tuple[Any, str]] = [
        (sum(right), "one loss of each window, in a list: no sum"),
        (sum(right) / len(right), "one loss of each window, in a list: no mean"),
        *((one, "windows without a reading have a loss, too") for one in (some, counted)),
    ]
    rounded_to = [
        ([round(one, n) for one in right], "the losses were rounded") for n in range(1, 6)
    ]
    return [one for one in found + rounded_to if one[0] != right]


def _holding(window: Sequence[Any]) -> int:
    """How many micro-batches of a window hold sequences."""
    return sum(any(rows) for rows in window)


def of_the_run(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those options of a bench that change what a right run says."""
    return {key: value for key, value in options.items() if key in RUNS}


def weights_by_mistake(
    got: Sequence[float], right: Sequence[float], windows: Sequence[Any], **options: Any
) -> list[tuple[Any, str]]:
    """Weights that a meter leaves behind by mistake; these come last, none if they are right."""
    if len(got) == len(right) and np.allclose(got, right, rtol=0, atol=1e-9, equal_nan=True):
        return []
    known = of_the_run(options)
    clip = known.pop("max_norm", math.inf)
    clips = {math.inf: "the step was not clipped at max_norm", 1.0: "max_norm is not always 1"}
    found = [
        (run(windows, max_norm=other, **known)["weights"], thought)
        for other, thought in clips.items()
        if other != clip
    ]
    if options.get("frozen"):
        thawed = run(windows, max_norm=clip)["weights"]
        found.append((thawed, "frozen parameters were trained"))
    other = "a gradient was changed on its way, or windows came in another order"
    return [*found, (list(got), other)]


def fault_of_scale(
    said: Mapping[str, Any], right: Mapping[str, Any], windows: Sequence[Any], **options: Any
) -> tuple[str, str]:
    """What is wrong with a meter's scale and error: which of them, and the likely thought."""
    options = of_the_run(options)
    try:
        said = {name: float(data_of.number(said[name])) for name in ("scale", "error")}
    except data_of.NotPlain as problem:
        return "scale", problem.thought or "scale and error are numbers"
    off = [
        name
        for name in ("scale", "error")
        if not math.isclose(said[name], right[name], rel_tol=1e-4)
    ]
    if not off:
        return "", ""
    if math.isinf(said[off[0]]):
        return off[0], INFINITE
    for way, thought in (WAYS | (SHAPES if options.get("shapes") else {})).items():
        try:
            known = run(windows, way=way, **options)
        except (ArithmeticError, ValueError, IndexError):
            continue
        if not math.isclose(known[off[0]], right[off[0]], rel_tol=1e-3) and (
            known[off[0]] == said[off[0]] or math.isclose(known[off[0]], said[off[0]], rel_tol=1e-4)
        ):
            return off[0], thought
    if off == ["error"]:
        return "error", "the scale is right: its error is that of noise_scale(readings)"
    return off[0], ""
