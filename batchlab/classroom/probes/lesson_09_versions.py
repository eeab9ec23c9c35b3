"""Right and wrong versions of the functions of lesson 09, by the thought behind each.

    a function of the lesson  ->  RIGHT: ways that are right; WRONG: {thought: version}

The names of WRONG are shown to a learner whose value is that of the version.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG"]

Numbers = Sequence[float]
Fit = tuple[float, float, float, float]
Calls = tuple[Callable[[], None], Callable[[], None], Callable[[], float], int]


def _fit(
    rows: Numbers, seconds: Numbers, *, free: int = 2, offset: bool = True, root: bool = True
) -> Fit:
    """A straight line by least squares with its standard errors, or one of its mistakes."""
    x, y = np.asarray(rows, dtype=float), np.asarray(seconds, dtype=float)
    far = x - x.mean()
    slope = float((far * y).sum() / (far**2).sum())
    start = float(y.mean() - slope * x.mean())
    left = y - start - slope * x
    noise = (left**2).sum() / (len(x) - free)
    variances = (noise * (1 / len(x) + offset * x.mean() ** 2 / (far**2).sum()),
                 noise / (far**2).sum())  # fmt: skip
    errors = [math.sqrt(one) if root else float(one) for one in variances]
    return start, slope, float(errors[0]), float(errors[1])


def _residual_as_error(rows: Numbers, seconds: Numbers) -> Fit:
    start, slope, *_ = _fit(rows, seconds)
    left = np.asarray(seconds) - start - slope * np.asarray(rows)
    noise = float(np.sqrt((left**2).sum() / (len(left) - 2)))
    return start, slope, noise, noise


def _through_zero(rows: Numbers, seconds: Numbers) -> Fit:
    x, y = np.asarray(rows, dtype=float), np.asarray(seconds, dtype=float)
    slope = float((x * y).sum() / (x * x).sum())
    noise = ((y - slope * x) ** 2).sum() / (len(x) - 1)
    return 0.0, slope, 0.0, float(np.sqrt(noise / (x * x).sum()))


def _of_means(rows: Numbers, seconds: Numbers) -> Fit:
    own: dict[float, list[float]] = {}
    for size, second in zip(rows, seconds, strict=True):
        own.setdefault(size, []).append(second)
    return _fit(list(own), [math.fsum(one) / len(one) for one in own.values()])


def _last_of_each(rows: Numbers, seconds: Numbers) -> Fit:
    last = dict(zip(rows, seconds, strict=True))
    return _fit(list(last), list(last.values()))


def _line(rows: Numbers, seconds: Numbers, start: float, slope: float) -> Fit:
    """Any line, with the errors that its own residuals would give."""
    x, y = np.asarray(rows, dtype=float), np.asarray(seconds, dtype=float)
    noise = ((y - start - slope * x) ** 2).sum() / (len(x) - 2)
    spread = ((x - x.mean()) ** 2).sum()
    errors = np.sqrt(noise * np.array([1 / len(x) + x.mean() ** 2 / spread, 1 / spread]))
    return start, slope, float(errors[0]), float(errors[1])


def _two_ends(rows: Numbers, seconds: Numbers) -> Fit:
    slope = (seconds[-1] - seconds[0]) / (rows[-1] - rows[0])
    return _line(rows, seconds, seconds[0] - slope * rows[0], slope)


def _weighted(rows: Numbers, seconds: Numbers) -> Fit:
    (slope, start), cov = np.polyfit(rows, seconds, 1, w=1 / np.asarray(seconds), cov=True)
    return float(start), float(slope), float(cov[1, 1] ** 0.5), float(cov[0, 0] ** 0.5)


def _error_of_t0(rows: Numbers, seconds: Numbers, inside: Callable[[Any, float], float]) -> Fit:
    """The right fit, with another expression under the root of the error of t0."""
    start, slope, _, error = _fit(rows, seconds)
    x = np.asarray(rows, dtype=float)
    spread = float(((x - x.mean()) ** 2).sum())
    return start, slope, error * math.sqrt(spread * inside(x, spread)), error


def _timer(
    call: Callable[[], None],
    wait: Callable[[], None],
    clock: Callable[[], float],
    calls: int,
    *,
    warm: bool = True,
    before: bool = True,
    after: bool = True,
    each: bool = False,
    late: bool = False,
) -> float:
    if warm:
        call()
    if before:
        wait()
    begin = clock()
    for _ in range(calls):
        call()
        if each:
            wait()
    if late:
        end = clock()
        wait()
        return (end - begin) / calls
    if after:
        wait()
    return (clock() - begin) / calls


def _by_sums(call: Any, wait: Any, clock: Any, calls: int) -> float:
    call(), call(), wait()
    begin = clock()
    [call() for _ in range(calls)]
    wait()
    seconds: float = clock() - begin
    return seconds / calls


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "times-faster": (lambda t0, tau, rows, pieces: (
        pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)),),
    "fit-step": (_fit,),
    "useful-rate": (lambda seen, warmup: (
        sum(real for _, _, real, _ in seen[warmup:]) / sum(s for *_, s in seen[warmup:])),),
    "mfu": (lambda rate, n, layers, width, length, peak: tuple(
        rate * (6 * n + a * layers * width * length) / peak for a in (0, 6, 12)),),
    "timer": (_timer, _by_sums),
}  # fmt: skip


def _after_seconds(seen: Sequence[tuple[int, int, int, float]], warmup: float) -> float:
    begun = itertools.accumulate((x[3] for x in seen), initial=0.0)
    kept = [x for x, begin in zip(seen, begun, strict=False) if begin >= warmup]
    return sum(x[2] for x in kept) / sum(x[3] for x in kept)


def _mfu(rate: float, n: float, extra: float, peak: float, most: float = 6) -> tuple[float, ...]:
    return tuple(rate * (most * n + a * extra) / peak for a in (0, 6, 12))


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "times-faster": {
        "upside down: seconds of the pieces over seconds of the large one": lambda t, u, r, k: (
            (t + u * r * k) / (k * (t + u * r))),
        "one piece against the large one: there are several": lambda t, u, r, k: (
            (t + u * r) / (t + u * r * k)),
        "the large one against one piece": lambda t, u, r, k: (t + u * r * k) / (t + u * r),
        "the fixed seconds of the pieces were counted once": lambda t, u, r, k: 1.0,
        "as many times as there are pieces: only if a row cost nothing": lambda t, u, r, k: k,
        "rows and pieces are exchanged": lambda t, u, r, k: r * (t + u * k) / (t + u * k * r),
        "the difference in seconds: asked is a quotient": lambda t, u, r, k: t * (k - 1),
        "the gain: asked is how many times as fast, 1 is no gain": lambda t, u, r, k: (
            k * (t + u * r) / (t + u * r * k) - 1),
        "one row a piece: each has several": lambda t, u, r, k: k * (t + u) / (t + u * k),
        "the large one without its fixed seconds": lambda t, u, r, k: (
            k * (t + u * r) / (u * r * k)),
        "4 pieces: their number is given": lambda t, u, r, k: 4 * (t + u * r) / (t + 4 * u * r),
        "t0 and tau are exchanged": lambda t, u, r, k: k * (u + t * r) / (u + t * r * k),
        "1 + the saving over the seconds of the pieces: divide by the large one": (
            lambda t, u, r, k: 1 + (k - 1) * t / (k * (t + u * r))),
        "rows of all pieces are given, and divided": lambda t, u, r, k: (
            k * (t + u * r / k) / (t + u * r)),
    },
    "fit-step": {
        "divided by n: two numbers were fitted, n - 2 are left": lambda r, s: _fit(r, s, free=0),
        "divided by n - 1: two numbers were fitted": lambda r, s: _fit(r, s, free=1),
        "variances: a standard error is their root": lambda r, s: _fit(r, s, root=False),
        "the error of t0 lacks the mean of the rows: 0 rows are far from it": lambda r, s: (
            _fit(r, s, offset=False)),
        "the noise of one measurement: the fit has seen them all": _residual_as_error,
        "a line through zero: t0 is what does not vanish with the rows": _through_zero,
        "every size counts once: every measurement counts": _of_means,
        "only the last of each size: every measurement counts": _last_of_each,
        "only the first and the last measurement": _two_ends,
        "weighted: every measurement counts the same": _weighted,
        "t0 clipped: noise may make it negative": lambda r, s: (
            max(0.0, _fit(r, s)[0]), *_fit(r, s)[1:]),
        "t0 clipped, and residuals taken from that": lambda r, s: (
            _line(r, s, max(0.0, _fit(r, s)[0]), _fit(r, s)[1])),
        "the error of t0 lacks 1 / n": lambda r, s: (
            _error_of_t0(r, s, lambda x, spread: x.mean() ** 2 / spread)),
        "the mean of the squared rows: asked is the square of their mean": lambda r, s: (
            _error_of_t0(r, s, lambda x, spread: 1 / len(x) + (x**2).mean() / spread)),
        "tau first: asked are t0, tau and their errors": lambda r, s: (
            _fit(r, s)[1], _fit(r, s)[0], _fit(r, s)[3], _fit(r, s)[2]),
        "the errors are exchanged": lambda r, s: (*_fit(r, s)[:2], *_fit(r, s)[:1:-1]),
        "rows fitted to seconds: seconds follow from rows": lambda r, s: _fit(s, r),
        "two standard errors: asked is one": lambda r, s: (
            *_fit(r, s)[:2], 2 * _fit(r, s)[2], 2 * _fit(r, s)[3]),
        "errors of 0: measured seconds scatter": lambda r, s: (*_fit(r, s)[:2], 0.0, 0.0),
    },
    "useful-rate": {
        "slots per second: padding is no work": lambda n, w: (
            sum(x[1] for x in n[w:]) / sum(x[3] for x in n[w:])),
        "documents per second: their lengths differ": lambda n, w: (
            sum(x[0] for x in n[w:]) / sum(x[3] for x in n[w:])),
        "the mean of the rates: add first, divide once": lambda n, w: (
            sum(x[2] / x[3] for x in n[w:]) / len(n[w:])),
        "the warm-up is counted": lambda n, w: sum(x[2] for x in n) / sum(x[3] for x in n),
        "the warm-up's tokens are counted, its seconds are not": lambda n, w: (
            sum(x[2] for x in n) / sum(x[3] for x in n[w:])),
        "the warm-up's seconds are counted, its tokens are not": lambda n, w: (
            sum(x[2] for x in n[w:]) / sum(x[3] for x in n)),
        "one too few dropped as warm-up": lambda n, w: (
            sum(x[2] for x in n[max(0, w - 1) :]) / sum(x[3] for x in n[max(0, w - 1) :])),
        "one too many dropped as warm-up": lambda n, w: (
            sum(x[2] for x in n[w + 1 :]) / sum(x[3] for x in n[w + 1 :])),
        "only the first is dropped: the warm-up may be longer": lambda n, w: (
            sum(x[2] for x in n[1:]) / sum(x[3] for x in n[1:])),
        "the last are dropped: the warm-up comes first": lambda n, w: (
            sum(x[2] for x in n[: len(n) - w]) / sum(x[3] for x in n[: len(n) - w])),
        "the last `warmup` steps alone: drop the first ones": lambda n, w: (
            sum(x[2] for x in n[-w:]) / sum(x[3] for x in n[-w:])),
        "warm-up taken as seconds: it is a number of steps": lambda n, w: _after_seconds(n, w),
        "equal steps counted once: two equal steps are two": lambda n, w: (
            sum(x[2] for x in set(n[w:])) / sum(x[3] for x in set(n[w:]))),
        "steps without real tokens left out: their seconds count": lambda n, w: (
            sum(x[2] for x in n[w:]) / sum(x[3] for x in n[w:] if x[2])),
        "the median of the rates: add first, divide once": lambda n, w: (
            statistics.median(x[2] / x[3] for x in n[w:])),
        "the warm-up alone": lambda n, w: sum(x[2] for x in n[:w]) / sum(x[3] for x in n[:w]),
        "upside down: tokens over seconds": lambda n, w: (
            sum(x[3] for x in n[w:]) / sum(x[2] for x in n[w:])),
        "divided by the steps, too": lambda n, w: (
            sum(x[2] for x in n[w:]) / sum(x[3] for x in n[w:]) / len(n[w:])),
        "the tokens alone": lambda n, w: sum(x[2] for x in n[w:]),
        "padding per second": lambda n, w: (
            sum(x[1] - x[2] for x in n[w:]) / sum(x[3] for x in n[w:])),
        "the best step: asked are all": lambda n, w: max(x[2] / x[3] for x in n[w:]),
        "the last step alone": lambda n, w: n[-1][2] / n[-1][3],
    },
    "mfu": {
        "2 N is the forward pass alone: the backward takes 4 N more": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * s, p, 2)),
        "2 N and a third of the attention: the forward pass alone": lambda t, n, k, h, s, p: (
            tuple(one / 3 for one in _mfu(t, n, k * h * s, p))),
        "8 N counts a recomputed forward pass: that is HFU": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * s, p, 8)),
        "recomputation counted: that is HFU": lambda t, n, k, h, s, p: (
            tuple(one * 4 / 3 for one in _mfu(t, n, k * h * s, p))),
        "the layers are forgotten in the attention": lambda t, n, k, h, s, p: (
            _mfu(t, n, h * s, p)),
        "the length is forgotten in the attention": lambda t, n, k, h, s, p: _mfu(t, n, k * h, p),
        "the width is forgotten in the attention": lambda t, n, k, h, s, p: _mfu(t, n, k * s, p),
        "the length is squared: this is per token, not per row": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * s * s, p)),
        "the width is squared: that is in N already": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * h * s, p)),
        "12 and 6 are exchanged: causal counts half of the pairs": lambda t, n, k, h, s, p: (
            tuple(np.asarray(_mfu(t, n, k * h * s, p))[[0, 2, 1]].tolist())),
        "the width is squared, the length forgotten": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * h, p)),
        "three times the attention: forward and backward are in a already": (
            lambda t, n, k, h, s, p: _mfu(t, n, 3 * k * h * s, p)),
        "all pairs first: the order of the table is parameters, causal, all pairs": (
            lambda t, n, k, h, s, p: _mfu(t, n, k * h * s, p)[::-1]),
        "peak taken as TFLOP/s: it is given in FLOPs per second": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * s, 1e12 * p)),
        "in per cent: asked is a share": lambda t, n, k, h, s, p: (
            tuple(100 * one for one in _mfu(t, n, k * h * s, p))),
        "upside down: reached over peak": lambda t, n, k, h, s, p: (
            tuple(1 / one for one in _mfu(t, n, k * h * s, p))),
        "FLOPs of one row: tokens per second are no rows": lambda t, n, k, h, s, p: (
            tuple(s * one for one in _mfu(t, n, k * h * s, p))),
        "samples as tokens: the rate is divided by the length": lambda t, n, k, h, s, p: (
            tuple(one / s for one in _mfu(t, n, k * h * s, p))),
        "FLOPs per second: divide by the peak": lambda t, n, k, h, s, p: (
            _mfu(t, n, k * h * s, 1.0)),
        "the attention alone: 6 N is missing": lambda t, n, k, h, s, p: (
            _mfu(t, 0, k * h * s, p)),
        "causal attention counted in all three": lambda t, n, k, h, s, p: (
            (_mfu(t, n, k * h * s, p)[1],) * 3),
        "no attention in any": lambda t, n, k, h, s, p: (_mfu(t, n, k * h * s, p)[0],) * 3,
    },
    "timer": {
        "reads the clock without waiting for the queue": lambda *given: (
            _timer(*given, after=False)),
        "waits, but after it has read the clock": lambda *given: _timer(*given, late=True),
        "counts the first call": lambda *given: _timer(*given, warm=False),
        "begins while the first call is still in the queue": lambda *given: (
            _timer(*given, before=False)),
        "waits after every call": lambda *given: _timer(*given, each=True),
        "gives the seconds of all calls": lambda *given: given[3] * _timer(*given),
        "divides by the calls and the first one": lambda *given: (
            _timer(*given) * given[3] / (given[3] + 1)),
    },
}  # fmt: skip
