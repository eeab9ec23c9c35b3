"""Right and wrong versions of the functions of lesson 17, by the thought behind each.

    a function of the lesson  ->  RIGHT: ways that are right; WRONG: {thought: version}

The names of WRONG are shown to a learner whose value is that of the version.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab.classroom.probes.lesson_17_admissions import RIGHT_ADMISSIONS, WRONG_ADMISSIONS

__all__ = ["REPORT", "RIGHT", "WRONG"]

REPORT = ("latency_p50", "latency_p99", "first_token_p99", "per_token_p99", "tokens_per_second")


def _row_steps(
    outputs: Sequence[int], rows: int, *, first: int = 1, full: bool = False, by_size: bool = False
) -> tuple[int, int]:
    """Useful and computed row-steps of static batches, or one of their mistakes."""
    order = sorted(outputs) if by_size else list(outputs)
    computed = 0
    for at in range(0, len(order), rows):
        batch = order[at : at + rows]
        computed += (rows if full else len(batch)) * (max(batch) - first)
    return sum(order) - first * len(order), computed


def _ones_leave(outputs: Sequence[int], rows: int) -> tuple[int, int]:
    """A request of one token holds no row while its batch decodes."""
    batches = [outputs[at : at + rows] for at in range(0, len(outputs), rows)]
    computed = sum(sum(n > 1 for n in one) * (max(one) - 1) for one in batches)
    return _row_steps(outputs, rows)[0], computed


def _full_batches(outputs: Sequence[int], rows: int) -> tuple[int, int]:
    return _row_steps(list(outputs)[: len(outputs) // rows * rows], rows)


def _decode(b: Any, c: Any, w: Any, kv: Any, n: Any, bw: Any, peak: Any) -> float:
    return float(max((w + b * c * kv) / bw, 2 * n * b / peak))


def _rank(values: Sequence[float], percent: int) -> float:
    """The smallest of the values that `percent` of 100 of them do not exceed."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


def _report(
    served: Sequence[Mapping[str, Any]],
    *,
    since: str = "arrival",
    at: Callable[[Sequence[float], int], float] = _rank,
    gaps: int = 1,
    tokens: str = "output",
    ends: Callable[[Any], Any] = max,
    begins: Callable[[Any], Any] = min,
) -> dict[str, float]:
    """The report of the lesson, or one of its mistakes."""
    latency = [one["last"] - one[since] for one in served]
    first = [one["first"] - one[since] for one in served]
    each = [
        (one["last"] - one["first"]) / (one["output"] - gaps) for one in served if one["output"] > 1
    ]
    seconds = ends(one["last"] for one in served) - begins(one["arrival"] for one in served)
    rate = sum(one[tokens] for one in served) / seconds
    return dict(zip(REPORT, (at(latency, 50), at(latency, 99), at(first, 99), at(each, 99), rate),
                    strict=True))  # fmt: skip


def _between(values: Sequence[float], percent: int) -> float:
    place = (len(values) - 1) * percent / 100
    low, high = sorted(values)[math.floor(place)], sorted(values)[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def _ones(served: Any) -> dict[str, float]:
    each = [
        (one["last"] - one["first"]) / (one["output"] - 1) if one["output"] > 1 else 0.0
        for one in served
    ]
    return _report(served) | {"per_token_p99": _rank(each, 99)}


def _latency_per_token(served: Any, since: str) -> dict[str, float]:
    several = [one for one in served if one["output"] > 1]
    each = [(one["last"] - one[since]) / one["output"] for one in several]
    return _report(served) | {"per_token_p99": _rank(each, 99)}


def _busy_rate(served: Any) -> dict[str, float]:
    alone = sum(one["output"] for one in served) / sum(one["last"] - one["start"] for one in served)
    return _report(served) | {"tokens_per_second": alone}


def _requests_rate(served: Any) -> dict[str, float]:
    right = _report(served)
    tokens = sum(one["output"] for one in served)
    return right | {"tokens_per_second": right["tokens_per_second"] * len(served) / tokens}


def _clock_rate(served: Any) -> dict[str, float]:
    tokens = sum(one["output"] for one in served)
    return _report(served) | {"tokens_per_second": tokens / max(one["last"] for one in served)}


def _waited_alone(served: Any) -> dict[str, float]:
    waits = [one["start"] - one["arrival"] for one in served]
    return _report(served) | {"first_token_p99": _rank(waits, 99)}


def _minutes(
    rows: float, first: float, each: float, output: float, *, gaps: int = 1, unit: float = 60_000
) -> float:
    return unit * rows / (first + (output - gaps) * each)


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "row-steps": (_row_steps,),
    "decode-step": (_decode,),
    "report": (_report,),
    "most-per-minute": (_minutes,),
    "admit": RIGHT_ADMISSIONS,
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "row-steps": {
        "every row-step counts as useful: a row that is done computes on": lambda o, b: (
            (_row_steps(o, b)[1],) * 2),
        "no padding at all: each row runs until its batch's longest is done": lambda o, b: (
            (_row_steps(o, b)[0],) * 2),
        "the first token comes out of the prompt's pass: an output of n takes n - 1 row-steps": (
            lambda o, b: _row_steps(o, b, first=0)),
        "an output of 1 holds its row, too, until the longest of its batch is done": _ones_leave,
        "the last batch has only the rows that are left": lambda o, b: _row_steps(o, b, full=True),
        "the last batch is lost: it is short, and is served": _full_batches,
        "sorted first: requests are batched in the order given": lambda o, b: (
            _row_steps(o, b, by_size=True)),
        "one longest for all: each batch runs to its own": lambda o, b: (
            sum(o) - len(o), len(o) * (max(o) - 1)),
        "passes: a pass computes one row-step for each row of the batch": lambda o, b: (
            sum(o) - len(o), _row_steps(o, b)[1] // b),
        "useful first, then computed": lambda o, b: _row_steps(o, b)[::-1],
        "wasted in place of computed": lambda o, b: (
            _row_steps(o, b)[0], _row_steps(o, b)[1] - _row_steps(o, b)[0]),
        "rows is the size of a batch, not the number of batches": lambda o, b: (
            _row_steps(o, -(-len(o) // b))),
    },
    "decode-step": {
        "the sum: moving and multiplying overlap, the slower of both counts": (
            lambda b, c, w, kv, n, bw, p: (w + b * c * kv) / bw + 2 * n * b / p),
        "the faster of both: the pass waits for the slower": (
            lambda b, c, w, kv, n, bw, p: min((w + b * c * kv) / bw, 2 * n * b / p)),
        "the weights are read once a pass, not once a row": (
            lambda b, c, w, kv, n, bw, p: max(b * (w + c * kv) / bw, 2 * n * b / p)),
        "without the caches: every pass reads those of all rows": (
            lambda b, c, w, kv, n, bw, p: max(w / bw, 2 * n * b / p)),
        "the cache of one row: every row has its own": (
            lambda b, c, w, kv, n, bw, p: max((w + c * kv) / bw, 2 * n * b / p)),
        "one token of each cache: all of its context is read": (
            lambda b, c, w, kv, n, bw, p: max((w + b * kv) / bw, 2 * n * b / p)),
        "without the weights": lambda b, c, w, kv, n, bw, p: max(b * c * kv / bw, 2 * n * b / p),
        "one row multiplied: every row computes a token": (
            lambda b, c, w, kv, n, bw, p: max((w + b * c * kv) / bw, 2 * n / p)),
        "the whole context multiplied: a decoding row computes one token": (
            lambda b, c, w, kv, n, bw, p: max((w + b * c * kv) / bw, 2 * n * b * c / p)),
        "6 N is a training step: a forward pass takes 2 N FLOPs a token": (
            lambda b, c, w, kv, n, bw, p: max((w + b * c * kv) / bw, 6 * n * b / p)),
        "N FLOPs: a weight is multiplied and added, 2 N": (
            lambda b, c, w, kv, n, bw, p: max((w + b * c * kv) / bw, n * b / p)),
        "memory alone: with enough rows, multiplying takes longer": (
            lambda b, c, w, kv, n, bw, p: (w + b * c * kv) / bw),
        "multiplying alone, or the faster of both: the pass waits for the slower": (
            lambda b, c, w, kv, n, bw, p: 2 * n * b / p),
        "tokens per second: asked are the seconds of a pass": lambda *x: x[0] / _decode(*x),
        "milliseconds: asked are seconds": lambda *x: 1e3 * _decode(*x),
        "upside down: bytes over bytes per second": lambda *x: 1 / _decode(*x),
        "bandwidth and peak are exchanged": lambda b, c, w, kv, n, bw, p: (
            _decode(b, c, w, kv, n, p, bw)),
        "seconds of one row: the pass serves all of them": lambda *x: _decode(*x) / x[0],
    },
    "report": {
        "the mean: it says little of the slowest hundredth": lambda s: (
            _report(s, at=lambda values, percent: statistics.fmean(values))),
        "the mean for the middle: asked is the 50th percentile": lambda s: (
            _report(s, at=lambda v, p: statistics.fmean(v) if p == 50 else _rank(v, p))),
        "the largest: one in a hundred may be slower than the 99th percentile": lambda s: (
            _report(s, at=lambda v, p: max(v) if p == 99 else _rank(v, p))),
        "from the start of service: whoever waits counts from the arrival": lambda s: (
            _report(s, since="start")),
        "interpolated between two requests: take the smallest value that is enough": lambda s: (
            _report(s, at=_between)),
        "one place too low: 99 of 100 must not exceed it": lambda s: (
            _report(s, at=lambda v, p: sorted(v)[max(0, -(-p * len(v) // 100) - 2)])),
        "one place too high: sorted(...)[k] is number k + 1": lambda s: (
            _report(s, at=lambda v, p: sorted(v)[min(len(v) - 1, -(-p * len(v) // 100))])),
        "not sorted: the place in the list says nothing": lambda s: (
            _report(s, at=lambda v, p: v[-(-p * len(v) // 100) - 1])),
        "row-steps of idle rows counted as tokens": lambda s: _report(s, tokens="row_steps"),
        "the first token is no gap: n tokens have n - 1 between them": lambda s: (
            _report(s, gaps=0)),
        "one token has no gap: leave those requests out": _ones,
        "the wait for the first token is no time per token": lambda s: (
            _latency_per_token(s, "arrival")),
        "the prompt is no time per token: from first to last token": lambda s: (
            _latency_per_token(s, "start")),
        "the sum of all latencies: requests run side by side": _busy_rate,
        "requests per second: asked are tokens": _requests_rate,
        "since 0: the clock begins at the first arrival": _clock_rate,
        "the wait for a row: the first token comes after the prompt's pass": _waited_alone,
        "up to the last token of the last in the list: another may end later": lambda s: (
            _report(s, ends=lambda lasts: list(lasts)[-1])),
        "from the arrival of the first in the list: another may have come earlier": lambda s: (
            _report(s, begins=next)),
        "equal values are several requests: each counts": lambda s: (
            _report(s, at=lambda values, percent: _rank(list(set(values)), percent))),
    },
    "most-per-minute": {
        "n tokens: the first is in first_token_ms, n - 1 follow": lambda *x: _minutes(*x, gaps=0),
        "without the first token: its row is held meanwhile": lambda b, f, e, n: (
            _minutes(b, 0, e, n)),
        "per second: asked are requests per minute": lambda *x: _minutes(*x, unit=1000),
        "milliseconds taken for seconds": lambda *x: _minutes(*x, unit=60),
        "per millisecond: the units do not match": lambda *x: _minutes(*x, unit=1),
        "per hour": lambda *x: _minutes(*x, unit=3_600_000),
        "one row: each row carries as many": lambda b, *x: _minutes(1, *x),
        "upside down: rows over the seconds of a request": lambda *x: 1 / _minutes(*x),
        "tokens per minute: asked are requests": lambda *x: x[3] * _minutes(*x),
        "one token: each request has n of them": lambda b, f, e, n: _minutes(b, f, e, 2),
        "requests in flight at one a minute: solve for the rate": lambda b, f, e, n: (
            (f + (n - 1) * e) / 60_000 * b),
        "whole requests: a rate need not be whole": lambda *x: float(math.floor(_minutes(*x))),
    },
    "admit": WRONG_ADMISSIONS,
}  # fmt: skip
