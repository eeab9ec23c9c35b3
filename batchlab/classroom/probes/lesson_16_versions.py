"""Right and wrong versions of the small functions of lesson 16, each wrong one with its thought.

    name of an exercise  ->  versions

Words: as on the page. A stage is (from this many tokens on, so many tokens a step).
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab.classroom.probes import lesson_16_growth

__all__ = ["RIGHT", "WRONG"]

Stages = Sequence[tuple[int, int]]
Settings = Mapping[str, Any]
Version = Callable[..., Any]


def _back_off(rows: int, accumulation: int) -> tuple[int, int]:
    whole = rows * accumulation
    for fewer in range(rows - 1, 0, -1):
        if whole % fewer == 0:
            return fewer, whole // fewer
    raise ValueError("1 row cannot shrink")


def _split(choose: Callable[[int, int], int], *, up: bool = False) -> Version:
    """Rows by a rule, and the accumulation that keeps the step as near as whole numbers go."""

    def version(rows: int, accumulation: int) -> tuple[int, int]:
        if rows == 1:
            raise ValueError("1 row cannot shrink")
        fewer = choose(rows, accumulation)
        whole = rows * accumulation
        return fewer, -(-whole // fewer) if up else whole // fewer

    return version


def _ramp_steps(stages: Stages, total: int) -> int:
    seen = steps = 0
    while seen < total:
        size = [tokens for start, tokens in stages if start <= seen][-1]
        ahead = min([start for start, _ in stages if start > seen] + [total])
        more = -(-(min(ahead, total) - seen) // size)
        steps, seen = steps + more, seen + more * size
    return steps


def _walk(pick: Callable[[Stages, int], int], *, last: bool = True) -> Version:
    def version(stages: Stages, total: int) -> int:
        seen = steps = 0
        while seen < total:
            size = pick(stages, seen)
            if not last and seen + size > total:
                return steps
            seen, steps = seen + size, steps + 1
        return steps

    return version


def _inside(stages: Stages, seen: int) -> int:
    """The stage in which a step ends: the mistake of looking at the tokens after it."""
    size = [tokens for start, tokens in stages if start <= seen][-1]
    return [tokens for start, tokens in stages if start <= seen + size][-1]


def _strict(stages: Stages, seen: int) -> int:
    return ([tokens for start, tokens in stages if start < seen] or [stages[0][1]])[-1]


def _parts(stages: Stages, total: int) -> list[tuple[int, int]]:
    """(tokens, size of a step) of each stage."""
    ends = [*(start for start, _ in stages[1:]), total]
    parts = zip(stages, ends, strict=True)
    return [(min(end, total) - start, size) for (start, size), end in parts if end > start]


def _by_stage(stages: Stages, total: int) -> int:
    """Each stage by itself: what a step overshoots is counted again."""
    return sum(-(-tokens // size) for tokens, size in _parts(stages, total) if tokens > 0)


def _floors(stages: Stages, total: int) -> int:
    return sum(tokens // size for tokens, size in _parts(stages, total) if tokens > 0)


def _mean_size(stages: Stages, total: int) -> int:
    return math.ceil(total * len(stages) / sum(size for _, size in stages))


def _sequences(s: Settings) -> int:
    return int(s["rows"] * s["accumulation"] * s["data_parallel"])


def _grown(
    settings: Settings,
    sequences: int,
    *,
    rate: Callable[[float, float], float] = lambda rate, k: rate * math.sqrt(k),
    beta: Callable[[float, float], float] = lambda beta, k: beta**k,
    by: str = "accumulation",
) -> dict[str, Any]:
    other = {"accumulation": "rows", "rows": "accumulation", "data_parallel": "rows"}[by]
    third = ({"accumulation", "rows", "data_parallel"} - {by, other}).pop()
    each = settings[other] * settings[third]
    if sequences < 1 or sequences % each:
        raise ValueError(f"{sequences} is no multiple of {each}")
    k = sequences / _sequences(settings)
    moved = {"rate": rate(settings["rate"], k), "beta2": beta(settings["beta2"], k)}
    return {**settings, **moved, by: sequences // each}


def _with(**how: Any) -> Version:
    return lambda settings, sequences: _grown(settings, sequences, **how)


def _worth(sequences: float, base: float, noise_scale: float) -> float:
    return sequences / base * (noise_scale + base) / (noise_scale + sequences)


def _status(step: Mapping[str, Any]) -> dict[str, Any]:
    *before, now = step["norms"]
    seconds = step["seconds"]
    return {
        "sequences": sum(len(piece) for piece in step["micro_batches"]),
        "targets": sum(sum(piece) for piece in step["micro_batches"]),
        "norm": now / statistics.median(before) if before else 1.0,
        "slowest": max(seconds, key=seconds.get),
    }


def _part(name: str, value: Callable[[Mapping[str, Any]], Any]) -> Version:
    return lambda step: _status(step) | {name: value(step)}


def _norm(over: Callable[[Sequence[float]], float]) -> Version:
    def version(step: Mapping[str, Any]) -> dict[str, Any]:
        *before, now = step["norms"]
        return _status(step) | {"norm": now / over(before) if before else 1.0}

    return version


def _one_micro_batch(what: str, at: int) -> Version:
    count: Callable[[list[int]], int] = len if what == "sequences" else sum
    return _part(what, lambda s: count(s["micro_batches"][at]))


RIGHT: dict[str, Sequence[Version]] = {
    "back-off": (_back_off,),
    "ramp": (_ramp_steps, _walk(lambda s, seen: [t for at, t in s if at <= seen][-1])),
    "grown": (_grown,),
    "worth": (_worth,),
    "status": (_status,),
    "growth": lesson_16_growth.RIGHT,
}

WRONG: dict[str, Mapping[str, Version]] = {
    "back-off": {
        "nine tenths of the rows, the accumulation as it was: the step shrinks": (
            lambda rows, accumulation: (int(0.9 * rows), accumulation)
        ),
        "one row less, the accumulation as it was: the step shrinks": (
            lambda rows, accumulation: (rows - 1, accumulation)
        ),
        "half the rows, twice the accumulation: an odd number of rows loses some of the step": (
            lambda rows, accumulation: (rows // 2, 2 * accumulation)
        ),
        "half the rows: more of them divide the step": _split(lambda rows, _: rows // 2),
        "one row less, the accumulation rounded down: the step shrinks": _split(
            lambda rows, _: rows - 1
        ),
        "one row less, the accumulation rounded up: the step grows": _split(
            lambda rows, _: rows - 1, up=True
        ),
        "nine tenths of the rows, the accumulation rounded down": _split(
            lambda rows, _: int(0.9 * rows) or 1
        ),
        "nine tenths of the rows, the accumulation rounded up": _split(
            lambda rows, _: int(0.9 * rows) or 1, up=True
        ),
        "the rows that divide `rows`: they must divide rows x accumulation": _split(
            lambda rows, _: max(n for n in range(1, rows) if rows % n == 0)
        ),
        "the fewest rows: asked are the most that are fewer": _split(lambda rows, _: 1),
        "the same rows again: they did not fit": _split(lambda rows, _: rows),
        "swapped: (rows, accumulation) is asked": lambda rows, acc: _back_off(rows, acc)[::-1],
        "the next power of two below: others divide the step, too": _split(
            lambda rows, _: 2 ** ((rows - 1).bit_length() - 1)
        ),
    },
    "ramp": {
        "0 tokens are seen before any step: 0 steps": lambda s, n: max(1, _ramp_steps(s, n)),
        "only the first three stages: there may be more": lambda s, n: _ramp_steps(s[:3], n),
        "the first size all the way: the ramp is ignored": _walk(lambda s, seen: s[0][1]),
        "the last size all the way": _walk(lambda s, seen: s[-1][1]),
        "rounded down: the last step counts, too": _walk(
            lambda s, seen: [t for at, t in s if at <= seen][-1], last=False
        ),
        "rounded down in every stage": _floors,
        "each stage by itself: a step that crosses a start has eaten of the next stage": _by_stage,
        "the mean of the sizes: stages hold for different tokens": _mean_size,
        "a stage begins once its tokens are reached, not one step later": _walk(_strict),
        "the size of the stage in which the step ends: that of its beginning counts": _walk(
            _inside
        ),
        "one stage after the other, one step early: the next size from the start": _walk(
            lambda s, seen: [*[t for at, t in s if at <= seen], s[-1][1]][
                sum(at <= seen for at, _ in s)
            ]
        ),
    },
    "grown": {
        "beta2 was rounded: near 1 every digit counts": _with(
            beta=lambda beta, k: round(beta**k, 4)
        ),
        "k was cut off at 4: it has no upper limit": _with(
            rate=lambda rate, k: rate * math.sqrt(min(k, 4)), beta=lambda beta, k: beta ** min(k, 4)
        ),
        "k was cut off at 1/2: a step may shrink further": _with(
            rate=lambda rate, k: rate * math.sqrt(max(k, 0.5)),
            beta=lambda beta, k: beta ** max(k, 0.5),
        ),
        "the learning rate was not moved": _with(rate=lambda rate, k: rate),
        "the learning rate by k: asked is the square root": _with(rate=lambda rate, k: rate * k),
        "the learning rate the wrong way": _with(rate=lambda rate, k: rate / math.sqrt(k)),
        "beta2 was not moved: its half-life in tokens grows with the step": _with(
            beta=lambda beta, k: beta
        ),
        "1 - k (1 - beta2) is the tangent: asked is the power": _with(
            beta=lambda beta, k: 1 - k * (1 - beta)
        ),
        "beta2 ** (1 / k): the wrong way": _with(beta=lambda beta, k: beta ** (1 / k)),
        "beta2 ** root of k: tokens count, so the power is k": _with(
            beta=lambda beta, k: beta ** math.sqrt(k)
        ),
        "beta2 times k is no beta": _with(beta=lambda beta, k: beta * k),
        "the rows grew: memory grows with them": _with(by="rows"),
        "the replicas grew: nobody bought devices": _with(by="data_parallel"),
        "the replicas were forgotten: sequences = rows x accumulation x data_parallel": (
            lambda s, n: _grown(s, n) | {"accumulation": n // s["rows"]}
        ),
        "the rows were forgotten: sequences = rows x accumulation x data_parallel": (
            lambda s, n: _grown(s, n) | {"accumulation": n // s["data_parallel"]}
        ),
        "k counts the accumulation before against sequences after": (
            lambda s, n: _grown(s, n) | {"rate": s["rate"] * math.sqrt(n / s["accumulation"])}
        ),
    },
    "worth": {
        "the efficiency: how much each sequence is worth, not the step": (
            lambda m, base, phi: (phi + base) / (phi + m)
        ),
        "as many as sequences: noise is not averaged away for ever": lambda m, base, phi: m / base,
        "upside down": lambda m, base, phi: 1 / _worth(m, base, phi),
        "base and sequences swapped in the efficiency": (
            lambda m, base, phi: m / base * (phi + m) / (phi + base)
        ),
        "the square root of the factor: a learning-rate rule": lambda m, b, phi: (m / b) ** 0.5,
        "base left out: it is worth 1 by definition": lambda m, b, phi: m / b * phi / (phi + m),
        "base is 1 only in AdaScale's example": lambda m, b, phi: m * (phi + 1) / (phi + m),
        "noise scale taken per step of base: it is in sequences": (
            lambda m, base, phi: (phi + 1) / (phi / (m / base) + 1)
        ),
    },
    "status": {
        **{
            f"{what} of the {which} micro-batch only": _one_micro_batch(what, at)
            for what in ("sequences", "targets")
            for which, at in (("first", 0), ("last", -1))
        },
        "micro-batches counted, not sequences": _part(
            "sequences", lambda s: len(s["micro_batches"])
        ),
        "the first micro-batch times their number: they may hold different sequences": _part(
            "sequences", lambda s: len(s["micro_batches"]) * len(s["micro_batches"][0])
        ),
        "sequences without targets are sequences, too": _part(
            "sequences", lambda s: sum(bool(n) for piece in s["micro_batches"] for n in piece)
        ),
        "slots, not targets: the longest sequence for all": _part(
            "targets", lambda s: sum(len(p) * max(p, default=0) for p in s["micro_batches"])
        ),
        "the norm over the mean: one spike of the past hides the next": _norm(statistics.fmean),
        "a window of the last norms: all before count": _norm(
            lambda before: statistics.median(before[-10:])
        ),
        "the norm over the last one before: two spikes in a row look calm": _norm(
            lambda before: before[-1]
        ),
        "the norm over the largest before": _norm(max),
        "the norm over the smallest before": _norm(min),
        "the lower median: of an even number take the mean of the middle two": _norm(
            statistics.median_low
        ),
        "the upper median: of an even number take the mean of the middle two": _norm(
            statistics.median_high
        ),
        "the median with this step's own norm in it": _part(
            "norm", lambda s: s["norms"][-1] / statistics.median(s["norms"])
        ),
        "a norm below the usual is told as it is, not as 1": _part(
            "norm", lambda s: max(1.0, _status(s)["norm"])
        ),
        "the norm itself, over nothing": _part("norm", lambda s: s["norms"][-1]),
        "upside down: this step's norm over the median": _part(
            "norm", lambda s: 1 / _status(s)["norm"]
        ),
        "norms are in order of steps: the middle of them is not the median": _norm(
            lambda before: before[len(before) // 2]
        ),
    },
    "growth": lesson_16_growth.WRONG,
}
