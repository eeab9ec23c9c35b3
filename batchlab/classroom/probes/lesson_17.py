"""What lesson 17 needs beside its page: mistakes and their values, traces, a drawing, a widget.

an answer of the lesson  ->  what is wrong with it, in a thought; empty if nothing is
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from batchlab import data, serving
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown
from batchlab.classroom.probes.lesson_17_finder import LLAMA, PROMISE, fault_of_rate, finder, h100
from batchlab.classroom.probes.lesson_17_laws import (
    fault_of_counts,
    fault_of_refusal,
    fault_of_schedule,
    never_fit,
    told,
)
from batchlab.classroom.probes.lesson_17_live import live
from batchlab.classroom.probes.lesson_17_schedules import (
    MISTAKES,
    cases,
    drawn,
    ends,
    fresh_case,
    mine,
    right,
    static,
)
from batchlab.classroom.probes.lesson_17_versions import REPORT, RIGHT, WRONG

__all__ = [
    "LLAMA",
    "MISTAKES",
    "PROMISE",
    "REPORT",
    "RIGHT",
    "WRONG",
    "cases",
    "drawn",
    "ends",
    "fault_of_counts",
    "fault_of_rate",
    "fault_of_refusal",
    "fault_of_schedule",
    "finder",
    "fresh_case",
    "h100",
    "kept_from",
    "live",
    "long_tail",
    "mine",
    "mistakes",
    "mistakes_of_field",
    "never_fit",
    "real_requests",
    "refusal",
    "right",
    "served",
    "shown",
    "static",
    "told",
    "versions",
    "wrong_pairs",
]


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The numbers that wrong versions, and rounding, give for a case, by their thoughts."""
    want = RIGHT[name][0](*case)
    found = {value: why for value, why in mistakes_of(WRONG[name], *case) if value != want}
    return rounded(want) | found


def kept_from(name: str, before: Sequence[Any] | None) -> dict[Any, str]:
    """The number of an earlier call, if there was one: an answer that keeps it says it again."""
    thought = "the answer of an earlier call, in part or whole: compute all of it anew"
    return {RIGHT[name][0](*before): thought} if before else {}


def wrong_pairs(outputs: Sequence[int], rows: int) -> list[tuple[Any, str]]:
    """What wrong versions make of the row-steps of a case, by their thoughts."""
    want = RIGHT["row-steps"][0](outputs, rows)
    found = mistakes_of(WRONG["row-steps"], outputs, rows)
    return [(value, why) for value, why in found if tuple(value) != want]


def mistakes_of_field(field: str, served: Sequence[dict[str, Any]]) -> dict[Any, str]:
    """The numbers that wrong reports have in one field, where they are not the right one."""
    want = RIGHT["report"][0](served)[field]
    found = {value[field]: why for value, why in mistakes_of(WRONG["report"], served)}
    return rounded(want) | {
        value: why for value, why in found.items() if abs(value - want) > 1e-9 * abs(want)
    }


def long_tail(count: int, seed: int) -> list[int]:
    """Output lengths with a long tail: lognormal, median 55 tokens."""
    drawn_ = np.random.default_rng(seed).lognormal(4, 1, count)
    return [int(one) + 1 for one in drawn_]


def real_requests(count: int, rate: float, seed: int = 3) -> list[tuple[float, int, int]]:
    """Prompts and answers of the embedded documents, arriving at random, `rate` a second."""
    corpus = data.embedded().at_most(384)
    answers = corpus.lengths - corpus.prompts
    one = serving.poisson(rate, corpus.prompts, answers, requests=count, seed=seed)
    columns = (one.arrivals.tolist(), one.prompts.tolist(), one.outputs.tolist())
    return list(zip(*columns, strict=True))


def served(count: int, seed: int, *, busy: float = 4.0, short: float = 0.0) -> list[dict[str, Any]]:
    """What became of requests: as `latency_report` reads it.

    `short` is the share of requests for one token, beside those that come by chance.
    """
    random = np.random.default_rng(seed)
    arrivals = np.sort(random.integers(0, int(busy * count), count)) / 8
    outputs = np.minimum(random.geometric(0.15, count), 40)
    outputs[: int(short * count)] = 1
    random.shuffle(outputs)
    prompts = random.integers(1, 30, count)
    requests = [
        (float(a), int(p), int(o)) for a, p, o in zip(arrivals, prompts, outputs, strict=True)
    ]
    log = right(requests, 4, 10**6, 0.25, 1 / 64)
    found = ends(requests, log)
    for one in found:  # as if rows computed on for some passes, as those of a static batch do
        one["row_steps"] += int(random.integers(0, 9))
    order = random.permutation(count)
    return [found[n] for n in order]
