"""What lesson 10 needs beside its page: waits by formula and simulated, and lives of a stream.

    a case of the lesson  ->  what each known mistake makes of it, by its thought

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    life      a process from its start until it is killed; the next one begins from a saved state
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from batchlab import widgets
from batchlab.classroom import plain
from batchlab.classroom.probes import lesson_10_readers as readers
from batchlab.classroom.probes.attempt import mistakes_of, rounded, shown, working
from batchlab.classroom.probes.lesson_10_feeding import (
    STEP_SECONDS,
    Numbers,
    SlowTexts,
    pipelines,
    simulated,
    waiting,
)
from batchlab.classroom.probes.lesson_10_rows import (
    fault_of_lives,
    fed,
    handed,
    refusal_of,
    rows_of,
    wrong_rows,
)
from batchlab.classroom.probes.lesson_10_streams import (
    Packer,
    far_apart,
    parts,
    shuffled,
    shuffles,
    wrong_parts,
)

__all__ = [
    "EARLIER",
    "RIGHT",
    "WRONG",
    "Numbers",
    "Packer",
    "SlowTexts",
    "far_apart",
    "fault_of_lives",
    "fault_of_prefetch",
    "fed",
    "finder",
    "handed",
    "mistakes",
    "packer_works",
    "parts",
    "pipelines",
    "refusal_of",
    "rows_of",
    "shown",
    "shuffle_works",
    "shuffled",
    "shuffles",
    "simulated",
    "versions",
    "working",
    "wrong_parts",
    "wrong_rows",
]

EARLIER = "an answer of an earlier call: keep nothing between calls"
WORKERS, PREFETCH, GOAL = tuple(range(1, 9)), tuple(range(1, 13)), 0.01
Seen = Sequence[tuple[float, float, float]]


def packer_works(yours: Callable[..., Any]) -> bool:
    """Whether a learner's packer gives the rows of the page, also after a kill."""
    lengths = [5, 3, 2, 4, 8, 3, 1, 7]
    return all(
        fed(yours, lengths, 8, 4, kills=[kill])["rows"] == rows_of(lengths, 8, 4)
        for kill in range(4)
    )


def shuffle_works(yours: Callable[..., Any]) -> bool:
    """Whether a learner's shuffle gives out every document once, also after a kill."""
    whole = shuffles(yours, 20, 6, 0, 0)["out"]
    again = [*whole[:9], *shuffles(yours, 20, 6, 0, 0, 9)["out"]]
    return sorted(whole) == list(range(20)) and again == whole


def _share(seen: Seen, warmup: int) -> float:
    waited = sum(one[0] for one in seen[warmup:])
    return waited / (waited + sum(one[1] for one in seen[warmup:]))


def _shares(seen: Seen, warmup: int) -> list[float]:
    return [one[0] / (one[0] + one[1]) for one in seen[warmup:]]


def _sums(seen: Seen, warmup: int) -> tuple[float, float, float]:
    waited, stepped, built = (sum(column) for column in zip(*seen[warmup:], strict=True))
    return waited, stepped, built


def _built_of_all(seen: Seen, warmup: int) -> float:
    _, stepped, built = _sums(seen, warmup)
    return built / (built + stepped)


def _all_counted(seen: Seen, warmup: int) -> float:
    waited, stepped, built = _sums(seen, warmup)
    return waited / (waited + stepped + built)


def _per_step_second(seen: Seen, warmup: int) -> float:
    waited, stepped, _ = _sums(seen, warmup)
    return waited / stepped


def _of_building(seen: Seen, warmup: int) -> float:
    waited, _, built = _sums(seen, warmup)
    return waited / built


def _seconds(build: float, take: float, step: float, workers: int) -> float:
    return max(take + step, build / workers) if workers else build + step


def _few_help(most: int, build: float, take: float, step: float, workers: int) -> float:
    return _seconds(build, take, step, min(workers, most))


RIGHT: dict[str, Callable[..., Any]] = {"input-share": _share, "loop-seconds": _seconds}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "input-share": {
        "equal steps are counted once: each step counts": (
            lambda seen, warmup: _share(sorted(set(seen[warmup:])), 0)
        ),
        "the steps of the longest waits are left out: warm-up are the first": (
            lambda seen, warmup: _share(sorted(seen, reverse=True), warmup)
        ),
        "the times are cut to whole seconds: keep them as they are": (
            lambda seen, warmup: _share([(int(w), int(s), b) for w, s, b in seen], warmup)
        ),
        "the times are rounded to tenths of a millisecond: add them as they are": (
            lambda seen, warmup: _share([(round(w, 4), round(s, 4), b) for w, s, b in seen], warmup)
        ),
        "where nothing was stepped, all of the time was waiting": (
            lambda seen, warmup: 0 if _share(seen, warmup) == 1 else _share(seen, warmup)
        ),
        "the warm-up is counted: the workers' start is no part of a running step": (
            lambda seen, warmup: _share(seen, 0)
        ),
        "only one step is left out: `warmup` of them are": lambda seen, warmup: _share(seen, 1),
        "one step too many is left out": lambda seen, warmup: _share(seen, warmup + 1),
        "the mean of the steps' own shares: add first, divide once": (
            lambda seen, warmup: sum(_shares(seen, warmup)) / len(_shares(seen, warmup))
        ),
        "the workers' seconds stand in it: they build beside the step": _built_of_all,
        "the workers' seconds are added to the time: they pass beside the step": _all_counted,
        "waiting per second of step: asked is its share of both": _per_step_second,
        "the share of the building that was waited for: asked is the share of the loop's time": (
            _of_building
        ),
        "the share of the step: asked is that of the waiting": (
            lambda seen, warmup: 1 - _share(seen, warmup)
        ),
        "in per cent: a share is asked": lambda seen, warmup: 100 * _share(seen, warmup),
        "the warm-up is left out of the waiting alone: leave it out of both sums": (
            lambda seen, warmup: _sums(seen, warmup)[0] / (_sums(seen, 0)[0] + _sums(seen, 0)[1])
        ),
        "the last steps are left out: warm-up are the first": (
            lambda seen, warmup: _share(seen[: len(seen) - warmup], 0)
        ),
        "only the last steps: all but the first `warmup` count": (
            lambda seen, warmup: _share(seen[-warmup:] if warmup else seen, 0)
        ),
    },
    "loop-seconds": {
        **{
            f"more workers than {most} still share the building": partial(_few_help, most)
            for most in (4, 8, 12, 16, 24, 32, 64, 100, 1000)
        },
        "the workers may be the slower side, however many they are": lambda b, t, s, w: t + s,
        "taking over may be longer than the step: add both": (
            lambda b, t, s, w: max(min(t, s) + s, b / w) if w else b + max(t, s)
        ),
        "the sum: workers build while the step runs": lambda b, t, s, w: t + s + b / w,
        "the sum, as if nothing ran side by side": lambda b, t, s, w: b + t + s,
        "without workers nothing is handed over: no `take`": (
            lambda b, t, s, w: _seconds(b, t, s, w) if w else b + t + s
        ),
        "no worker is not one: without workers the loop builds, and then steps": (
            lambda b, t, s, w: _seconds(b, t, s, max(1, w))
        ),
        "`take` is forgotten: the loop itself takes each micro-batch over": (
            lambda b, t, s, w: max(s, b / w) if w else b + s
        ),
        "workers share the building, not the taking over": (
            lambda b, t, s, w: max(s + t / w, b / w)
        ),
        "`take` belongs to the loop, not to the workers": lambda b, t, s, w: max(s, t + b / w),
        "the workers do not help: divide the building by them": (
            lambda b, t, s, w: max(t + s, b) if w else b + s
        ),
        "the smaller of the two: the slower side sets the pace": (
            lambda b, t, s, w: min(t + s, b / w)
        ),
        "workers do not share the step": lambda b, t, s, w: max((t + s) / w, b / w),
        "the seconds of waiting alone: asked is the time of a micro-batch": (
            lambda b, t, s, w: max(0.0, b / w - t - s) if w else b
        ),
        "the loop builds nothing where there are workers: divide by them alone": (
            lambda b, t, s, w: max(t + s, b / (w + 1)) if w else b + s
        ),
        "`take` is no work of the workers: the loop takes over, before its step": (
            lambda b, t, s, w: max(s, (b + t) / w) if w else b + s
        ),
        "`take` and `step` are swapped: without workers it is build + step": (
            lambda b, t, s, w: max(t + s, b / w) if w else b + t
        ),
        "one worker builds beside the step, too: only without any the loop builds": (
            lambda b, t, s, w: max(t + s, b / w) if w > 1 else b + s
        ),
        "the cores of this machine: every worker has one of its own": (
            lambda b, t, s, w: max(t + s, b / min(w, os.cpu_count() or 1)) if w else b + s
        ),
        "a float is halved by `//`: divide with `/`": lambda b, t, s, w: max(t + s, b // w),
    },
}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions, and rounding, give for a case, by their thoughts."""
    return rounded(RIGHT[name](*case)) | dict(mistakes_of(WRONG[name], *case))


def versions() -> dict[str, Any]:
    """Right and wrong readers, as `check.finds_bugs` takes them."""
    return {"right": readers.RIGHT, "wrong": readers.WRONG}


def _fewest() -> tuple[int, int]:
    """(workers, prefetch): the fewest workers that reach the goal, then the least prefetch."""
    return min((w, p) for w in WORKERS for p in PREFETCH if waiting(w, p) < GOAL)


def fault_of_prefetch(answer: object) -> str:
    """What is wrong with a prefetch as the setting that `finder` asks for; empty if right."""
    try:
        given = plain.number(answer)
    except plain.NotPlain as problem:
        return problem.thought or "one number is asked: the prefetch of a worker"
    workers, least = _fewest()
    if given == least:
        return ""
    if given == workers:
        return "this is a number of workers, or of too few micro-batches: asked is the prefetch"
    if given == workers * least:
        return "these are all micro-batches held: asked is the prefetch of one worker"
    if given not in PREFETCH:
        return "the slider does not offer it: asked is a place of the slider"
    if given > least:
        return "less prefetch is enough with as many workers"
    fits = [w for w in WORKERS if waiting(w, int(given)) < GOAL]
    more = f"{fits[0]} workers reach it so, but fewer can, too" if fits else ""
    return more or "the loop still waits 1 % or more of its time"


def finder() -> widgets.Explorer:
    """Workers and prefetch against the share that the loop waits; the goal is the cheapest."""

    def scene(workers: int, prefetch: int) -> dict[str, Any]:
        share = waiting(workers, prefetch)
        facts = {
            "the loop waits": f"{100 * share:.2f} % of its time",
            "seconds a micro-batch": f"{STEP_SECONDS / (1 - share):.4f}",
            "held at most": f"{workers * prefetch} micro-batches",
        }
        step, wait = round(100 * (1 - share)), round(100 * share)
        alt = f"A bar of 100: {step} of step, {wait} of waiting."
        return {"facts": facts, "rows": [[(0, step), (-1, wait)]], "alt": alt, "extent": 100}

    def found(workers: int, prefetch: int) -> bool:
        return (workers, prefetch) == _fewest()

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "workers": ("workers", list(WORKERS)),
        "prefetch": ("prefetch of each worker", list(PREFETCH)),
    }
    goal = "The fewest workers with which the loop waits less than 1 %, then the least prefetch."
    title = "Steps of 40 ms, micro-batches of unequal building time"
    return widgets.finder(
        title,
        controls,
        scene,
        goal=goal,
        where=found,
        down=lambda bars: "1 step",
        across="{} % of its time".format,
    )
