"""Right and wrong ways to take a mean over ranks, to count what ZeRO needs, to time a pipeline.

    a case of the lesson  ->  what each version of a function gives

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    report    what a sharded step tells of each rank: see the exercise `report-test`
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from batchlab.classroom.probes import lesson_15_reports

__all__ = ["RIGHT", "WRONG"]

STATES = {"parameters": 2, "gradients": 2, "optimizer": 12}


def _mean(losses: Sequence[float], tokens: Sequence[int]) -> float:
    return sum(losses) / sum(tokens)


def _means(losses: Sequence[float], tokens: Sequence[int]) -> list[float]:
    return [one / n if n else 0.0 for one, n in zip(losses, tokens, strict=True)]


def _kept(p: int, ranks: int, stage: int, accumulation: int, units: Sequence[float] = ()) -> float:
    shards = [stage >= 3, stage >= 2, stage >= 1]
    sizes = units or STATES.values()
    return sum(p * one / (ranks if shard else 1) for one, shard in zip(sizes, shards, strict=True))


def _passes(stage: int, accumulation: int) -> int:
    return {0: 2, 1: 2, 2: accumulation + 1, 3: 3 * accumulation}[stage]


def _sent(p: int, ranks: int, stage: int, accumulation: int) -> float:
    return _passes(stage, accumulation) * 2 * p * (ranks - 1) / ranks


def _sent_with(passes: Callable[[int, int], float]) -> Callable[..., float]:
    def version(p: int, ranks: int, stage: int, accumulation: int) -> float:
        return passes(stage, accumulation) * 2 * p * (ranks - 1) / ranks

    return version


def _kept_with(*stages: int) -> Callable[..., float]:
    """Parameters, gradients, optimizer are sharded from these stages on."""

    def version(p: int, ranks: int, stage: int, accumulation: int) -> float:
        parts = zip(STATES.values(), stages, strict=True)
        return sum(p * one / (ranks if stage >= first else 1) for one, first in parts)

    return version


def _seconds(stages: int, sequences: int, rows: int, fixed: float, each: float) -> float:
    return (sequences // rows + stages - 1) * (fixed + each * rows)


def _idle(stages: int, sequences: int, rows: int, fixed: float, each: float) -> float:
    return (stages - 1) / (sequences // rows + stages - 1)


def _seconds_of(turns: Callable[[int, int], float]) -> Callable[..., float]:
    def version(stages: int, sequences: int, rows: int, fixed: float, each: float) -> float:
        return turns(stages, sequences // rows) * (fixed + each * rows)

    return version


def _idle_of(share: Callable[[int, int], float]) -> Callable[..., float]:
    def version(stages: int, sequences: int, rows: int, fixed: float, each: float) -> float:
        return share(stages, sequences // rows)

    return version


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "mean": (_mean,),
    "kept": (_kept,),
    "sent": (_sent,),
    "seconds": (_seconds,),
    "idle": (_idle,),
    "report": lesson_15_reports.RIGHT,
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "mean": {
        "the mean over ranks: ten tokens count as much as a hundred": lambda x, n: (
            sum(_means(x, n)) / len(n)
        ),
        "the mean over the ranks that have tokens: every token counts the same": lambda x, n: (
            sum(_means(x, n)) / sum(k > 0 for k in n)
        ),
        "the sum of the ranks' means: add losses and tokens, divide once": lambda x, n: sum(
            _means(x, n)
        ),
        "divided by the number of ranks as well": lambda x, n: _mean(x, n) / len(n),
        "the tokens are not in it: divide by those of all ranks": lambda x, n: sum(x),
        "divided by the ranks: asked is the loss of a token": lambda x, n: sum(x) / len(n),
        "all losses over the tokens of one rank: add the tokens, too": lambda x, n: sum(x) / n[0],
        "all losses over the tokens of one rank: add the tokens of all": lambda x, n: (
            sum(x) / n[-1]
        ),
        "a rank whose loss is 0 has tokens all the same: they count": lambda x, n: (
            sum(x) / max(1, sum(k for one, k in zip(x, n, strict=True) if one))
        ),
        "two ranks with the same sums count once: add both": lambda x, n: (
            sum(one for one, _ in {*zip(x, n, strict=True)})
            / max(1, sum(k for _, k in {*zip(x, n, strict=True)}))
        ),
        "upside down: loss over tokens": lambda x, n: sum(n) / max(sum(x), 1e-300),
    },
    "kept": {
        "every rank keeps everything: from which stage on is which state cut?": lambda p, n, s, a: (
            16 * p
        ),
        "before stage 3 the parameters stay whole": lambda p, n, s, a: 16 * p / n,
        "the gradients are sharded one stage too early": _kept_with(3, 1, 1),
        "the gradients are sharded from stage 2 on": _kept_with(3, 3, 1),
        "the optimizer is sharded from stage 1 on": _kept_with(3, 2, 2),
        "the parameters are sharded from stage 3 on, not before": _kept_with(2, 2, 1),
        "the order is optimizer, gradients, parameters": _kept_with(1, 2, 3),
        "the optimizer's 12 bytes are missing": lambda p, n, s, a: _kept(p, n, s, a, (2, 2, 0)),
        "8 bytes for the optimizer: the 32-bit master copy is 4 more": lambda p, n, s, a: _kept(
            p, n, s, a, (2, 2, 8)
        ),
        "the gradients are missing": lambda p, n, s, a: _kept(p, n, s, a, (2, 0, 12)),
        "states in 32 bits: here parameters and gradients have 2 bytes each": lambda p, n, s, a: (
            _kept(p, n, s, a, (4, 4, 8))
        ),
        "of all ranks together: asked is one rank": lambda p, n, s, a: n * _kept(p, n, s, a),
        "whole bytes, rounded down: fractions are meant, it is an average": lambda p, n, s, a: (
            math.floor(_kept(p, n, s, a))
        ),
        "whole bytes, rounded up: fractions are meant, it is an average": lambda p, n, s, a: (
            math.ceil(_kept(p, n, s, a))
        ),
        "in GB: asked are bytes": lambda p, n, s, a: _kept(p, n, s, a) / 1e9,
        "in GiB: asked are bytes": lambda p, n, s, a: _kept(p, n, s, a) / 2**30,
        "whole gradients are kept once for every micro-batch: they are added": lambda p, n, s, a: (
            _kept(p, n, s, a) + 2 * p * (a - 1)
        ),
    },
    "sent": {
        "no_sync forgotten: stages 0 and 1 wait for the last micro-batch": _sent_with(
            lambda s, a: [2 * a, a + 1, a + 1, 3 * a][s]
        ),
        "no_sync forgotten: stage 0 reduces once": _sent_with(
            lambda s, a: [2 * a, 2, a + 1, 3 * a][s]
        ),
        "accumulation saves traffic for stages 0 and 1 only": _sent_with(
            lambda s, a: [2, 2, 2, 3][s]
        ),
        "stage 2 keeps a piece of the gradient: each micro-batch is reduced": _sent_with(
            lambda s, a: [2, 2, 2, 3 * a][s]
        ),
        "stage 2 gathers the weights once a step: it keeps them whole meanwhile": _sent_with(
            lambda s, a: [2, 2, 2 * a, 3 * a][s]
        ),
        "stage 3 gathers for backward as well: what forward gathered is gone": _sent_with(
            lambda s, a: [2, 2, a + 1, 2 * a][s]
        ),
        "stage 3 reduces for every micro-batch, too": _sent_with(
            lambda s, a: [2, 2, a + 1, 2 * a + 1][s]
        ),
        "stage 3 gathers for every micro-batch": _sent_with(lambda s, a: [2, 2, a + 1, a + 2][s]),
        "half of it: an all-reduce is two passes, and a number has 2 bytes": _sent_with(
            lambda s, a: [1, 2, a + 1, 3 * a][s]
        ),
        "stage 1 gathers the new weights: two passes": _sent_with(lambda s, a: [2, 1, a, 3 * a][s]),
        "each reduce counts as an all-reduce: a piece needs one pass": _sent_with(
            lambda s, a: [2, 3, 2 * a + 1, 4 * a][s]
        ),
        "the ring leaves out one rank's own part: (n-1)/n": lambda p, n, s, a: (
            _passes(s, a) * 2 * p
        ),
        "(n-1)/n of the bytes, not n/(n-1)": lambda p, n, s, a: _passes(s, a) * 2 * p * n / (n - 1),
        "n - 1 messages, each of a piece of 1/n": lambda p, n, s, a: _sent(p, n, s, a) * n,
        "a piece is sent n - 1 times": lambda p, n, s, a: _passes(s, a) * 2 * p / n,
        "a number has 2 bytes here": lambda p, n, s, a: _sent(p, n, s, a) / 2,
        "a number has 2 bytes here, not 4": lambda p, n, s, a: _sent(p, n, s, a) * 2,
        "whole bytes, rounded down: fractions are meant, it is an average": lambda p, n, s, a: (
            math.floor(_sent(p, n, s, a))
        ),
        "whole bytes, rounded up: fractions are meant, it is an average": lambda p, n, s, a: (
            math.ceil(_sent(p, n, s, a))
        ),
        "in GB: asked are bytes": lambda p, n, s, a: _sent(p, n, s, a) / 1e9,
    },
    "seconds": {
        "the stages wait for the first and the last micro-batch: m + p - 1 turns": _seconds_of(
            lambda p, m: m
        ),
        "one turn too many: the first stage begins at once": _seconds_of(lambda p, m: m + p),
        "one turn too few": _seconds_of(lambda p, m: m + p - 2),
        "the stages work at the same time: micro-batches do not wait for each other": _seconds_of(
            lambda p, m: m * p
        ),
        "more stages do not divide the turns: the first micro-batch passes them all": _seconds_of(
            lambda p, m: m / p
        ),
        "one row a turn: a turn takes fixed + each x rows": lambda p, g, b, f, e: (
            (g // b + p - 1) * (f + e)
        ),
        "the fixed cost is paid every turn": lambda p, g, b, f, e: f + (g // b + p - 1) * e * b,
        "without the fixed cost": lambda p, g, b, f, e: (g // b + p - 1) * e * b,
        "the fixed cost is paid once a turn, not once a row": lambda p, g, b, f, e: (
            (g // b + p - 1) * (f + e) * b
        ),
        "rows and micro-batches changed places": lambda p, g, b, f, e: (
            (b + p - 1) * (f + e * (g // b))
        ),
        "micro-batches are sequences over rows": lambda p, g, b, f, e: (g + p - 1) * (f + e * b),
    },
    "idle": {
        "the bubble over the ideal time: asked is its share of the whole time": _idle_of(
            lambda p, m: (p - 1) / m
        ),
        "p stages wait p - 1 turns": _idle_of(lambda p, m: p / (m + p)),
        "over m + p: the whole time is m + p - 1 turns": _idle_of(lambda p, m: (p - 1) / (m + p)),
        "p stages wait p - 1 turns, not p": _idle_of(lambda p, m: p / (m + p - 1)),
        "the busy share: asked is the idle one": _idle_of(lambda p, m: m / (m + p - 1)),
        "the bubble over m, with p stages": _idle_of(lambda p, m: p / m),
        "in per cent: a share is at most 1": _idle_of(lambda p, m: 100 * (p - 1) / (m + p - 1)),
        "in seconds: asked is a share": lambda p, g, b, f, e: (p - 1) * (f + e * b),
        "the whole time over the idle one": _idle_of(lambda p, m: (m + p - 1) / (p - 1)),
        "micro-batches are sequences over rows": lambda p, g, b, f, e: (p - 1) / (g + p - 1),
        "rows are not micro-batches": lambda p, g, b, f, e: (p - 1) / (b + p - 1),
        "in a step the bubble comes once, not for every stage": _idle_of(
            lambda p, m: math.prod([p, p - 1]) / (m + p * (p - 1))
        ),
    },
    "report": lesson_15_reports.WRONG,
}
