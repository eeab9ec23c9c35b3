"""Schedules of lesson 17: what the library's scheduler does, known mistakes, and laws.

    requests, rows, cache, prices of a pass  ->  [(start, end, reads, decodes), ...]

Words
    reads    requests whose prompts a pass reads; each gets its first token from it
    decodes  requests that get one more token from it
    case     (requests, rows, cache, fixed, each); a request is (arrival, prompt, output)
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from batchlab import serving

__all__ = ["MISTAKES", "cases", "drawn", "ends", "fresh_case", "mine", "right", "static"]

Request = tuple[float, int, int]
Case = tuple[list[Request], int, int, float, float]
Log = list[tuple[float, float, list[int], list[int]]]


def right(
    requests: Sequence[Request], rows: int, cache: int, fixed: float, each: float,
    policy: str = "continuous", *, gone_is_free: bool = False,
) -> Log:  # fmt: skip
    """The passes of the library's own scheduler, with the numbers of the list given.

    In a static batch a row is computed on until the batch ends, unless `gone_is_free`.
    """
    order = sorted(range(len(requests)), key=lambda n: requests[n][0])
    scheduler = serving.Scheduler(policy, rows, cache, cache + rows)
    now, came, log = 0.0, 0, Log()
    while True:
        while came < len(order) and requests[order[came]][0] <= now:
            _, prompt, output = requests[order[came]]
            scheduler.arrive(order[came], prompt, output)
            came += 1
        step = scheduler.next()
        if step is None:
            if came == len(order):
                return log
            now = requests[order[came]][0]
            continue
        idle = 0 if gone_is_free else len(step.idle)
        end = now + fixed + each * (step.tokens - len(step.idle) + idle)
        reads = [chunk.running.request for chunk in step.chunks]
        log.append((now, end, reads, [one.request for one in step.decoding]))
        scheduler.done(step)
        now = end


def static(requests: Sequence[Request], rows: int, cache: int, fixed: float, each: float) -> Log:
    """The same requests in static batches."""
    return right(requests, rows, cache, fixed, each, policy="static")


def mine(
    requests: Sequence[Request], rows: int, cache: int, fixed: float, each: float, *,
    need: Callable[[Request], int] = lambda one: one[1] + one[2],
    key: Callable[[Request], Any] = lambda one: one[0],
    came: Callable[[float, float], bool] = lambda arrival, now: arrival <= now,
    price: Callable[[list[int]], int] = sum,
    skip: bool = False, strict: bool = False, alone: bool = False, late: bool = False,
    extra: int = 0, more: int = 0, growing: bool = False, together: bool = False,
) -> Log:  # fmt: skip
    """The schedule in one loop; each option is a mistake."""
    waiting = sorted(range(len(requests)), key=lambda n: key(requests[n]))
    left: dict[int, int] = {}
    leaving: list[int] = []
    now, log = 0.0, Log()

    def held() -> int:
        if growing:
            return sum(sum(requests[n][1:]) - left[n] for n in left)
        return sum(need(requests[n]) for n in left)

    while waiting or left:
        new: list[int] = []
        for n in [n for n in waiting if came(requests[n][0], now)]:
            if len(left) >= rows + extra or (alone and new):
                break
            total = held() + need(requests[n])
            if total >= cache if strict else total > cache:
                if skip:
                    continue
                break
            waiting.remove(n)
            left[n] = requests[n][2] + more
            new.append(n)
        gone, leaving = leaving, []
        for n in gone:
            left.pop(n)
        if not left and gone and waiting:
            continue
        if not left:
            later = [requests[n][0] for n in waiting if not came(requests[n][0], now)]
            if not later:
                return log
            now = min(later) if came(min(later), min(later)) else np.nextafter(min(later), np.inf)
            continue
        decodes = [n for n in left if n not in new] if together or not new else []
        tokens = (price([requests[n][1] for n in new]) if new else 0) + len(decodes)
        log.append((now, now + fixed + each * tokens, new, decodes))
        now = log[-1][1]
        for n in [*new, *decodes]:
            left[n] -= 1
        over = [n for n in [*new, *decodes] if left[n] <= 0]
        leaving = over if late else []
        for n in [] if late else over:
            left.pop(n)
    return log


def _grouped(*case: Any) -> Log:
    """One prompt a pass: each waits for the pass of the one before."""
    return mine(*case, alone=True)


def _static_free(
    requests: Sequence[Request], rows: int, cache: int, fixed: float, each: float
) -> Log:
    return right(requests, rows, cache, fixed, each, policy="static", gone_is_free=True)


def _arrival_late(requests: Sequence[Request], *case: Any) -> Log:
    return mine(requests, *case, came=lambda arrival, now: arrival < now or now == arrival == 0)


MISTAKES: dict[str, Callable[..., Log]] = {
    "static: the next requests wait until the whole batch is empty": _static_free,
    "a request reserves its prompt only: prompt + output is asked": lambda *c: mine(
        *c, need=lambda one: one[1]
    ),
    "a request reserves its output only: prompt + output is asked": lambda *c: mine(
        *c, need=lambda one: one[2]
    ),
    "who runs is counted with what its cache holds now, not with prompt + output": lambda *c: mine(
        *c, growing=True
    ),
    "the cache is not looked at": lambda *c: mine(*c, need=lambda one: 0),
    "what does not fit is skipped: nobody behind it may start first": lambda *c: mine(
        *c, skip=True
    ),
    "the shortest first: the order is that of arrival": lambda *c: mine(
        *c, key=lambda one: one[1] + one[2]
    ),
    "the shortest prompt first: the order is that of arrival": lambda *c: mine(
        *c, key=lambda one: one[1]
    ),
    "the order of the list: the order is that of arrival": lambda *c: mine(*c, key=lambda one: 0),
    "what fits exactly, fits": lambda *c: mine(*c, strict=True),
    "one row too many": lambda *c: mine(*c, extra=1),
    "one row is never used": lambda *c: mine(*c, extra=-1) if c[1] > 1 else [],
    "one prompt a pass: all that may start are read together": _grouped,
    "who arrives at the very moment when a pass starts is there": _arrival_late,
    "a row is free as soon as its last token is out: the next pass fills it": lambda *c: mine(
        *c, late=True
    ),
    "the prompt's pass gives the first token: n - 1 passes follow": lambda *c: mine(*c, more=1),
    "a prompt of n tokens costs n tokens, not one": lambda *c: mine(*c, price=len),
    "padded prompts: a pass costs the prompts' own tokens": lambda *c: mine(
        *c, price=lambda prompts: max(prompts) * len(prompts)
    ),
    "prompts and decoding in one pass: while prompts are read, nobody decodes": lambda *c: mine(
        *c, together=True
    ),
}


def ends(requests: Sequence[Request], log: Log) -> list[dict[str, Any]]:
    """What became of each request, as `latency_report` reads it."""
    found = [
        {"arrival": arrival, "start": 0.0, "first": 0.0, "last": 0.0, "output": output,
         "row_steps": output - 1}
        for arrival, _, output in requests
    ]  # fmt: skip
    for start, end, reads, decodes in log:
        for n in reads:
            found[n]["start"], found[n]["first"] = start, end
        for n in [*reads, *decodes]:
            found[n]["last"] = end
    return found


def cases() -> list[Case]:
    """Traces in numbers that floats add exactly, each for a rule of its own."""
    prices = (0.5, 0.125)
    return [
        ([(0.0, 2, 3)], 1, 5, 1.0, 0.5),
        ([(0.0, 3, 2), (0.0, 5, 4), (0.0, 2, 2)], 2, 100, *prices),
        ([(0.0, 1, 1), (0.0, 7, 1), (2.0, 3, 2)], 2, 50, *prices),
        ([(8.0, 4, 2), (0.0, 2, 6), (1.0, 3, 3), (1.0, 1, 2)], 2, 60, *prices),
        ([(0.0, 8, 4), (0.0, 6, 6), (0.0, 2, 2), (0.0, 1, 1)], 4, 20, *prices),
        ([(0.0, 4, 6), (0.0, 3, 7), (0.0, 5, 5)], 3, 20, *prices),
        ([(0.0, 6, 2), (0.25, 16, 4), *((0.5 + n / 4, 2, 2) for n in range(12))], 3, 24, *prices),
        ([(0.0, 2, 9), (0.0, 2, 2), (3.0, 9, 3), (3.0, 1, 4), (3.0, 4, 1)], 3, 40, 0.25, 0.25),
        ([(2.0, 4, 4), (40.0, 3, 3)], 2, 30, *prices),
        ([(3.0, 2, 2), (0.0, 4, 6), (1.0, 3, 5), (0.5, 2, 2), (1.0, 3, 1)], 1, 12, *prices),
        ([(0.0, 3_000_000_000, 2), (0.0, 5, 2), (1.0, 4, 2)], 3, 3_000_000_010, 1.0, 2.0**-20),
        ([(1.0, 4, 4)] * 5, 2, 16, *prices),
        ([], 2, 30, *prices),
        ([(0.0, 3, 5), (1.0, 4, 3), (1.0, 2, 2)], 1, 30, 0.5, 0.125),
        ([(0.0, 2, 2), (1.0, 3, 3)], 2, 30, 0.75, 0.125),
        ([(0.0, 2, 4), (1.5, 3, 3), (2.0, 5, 2)], 4, 60, 0.5, 0.25),
        ([(0.0, 1, 8), (0.0, 1, 1), (0.5, 3, 6), (0.5, 7, 2), (0.5, 1, 3)], 2, 17, 0.25, 0.0),
    ]


def fresh_case(random: np.random.Generator, most: int = 24) -> Case:
    """A trace that nobody has seen, in sixteenths of a second."""
    count = int(random.integers(2, most))
    arrivals = random.integers(0, 12 * count, count) / 16
    requests = [
        (float(a), int(p), int(o))
        for a, p, o in zip(arrivals, random.integers(1, 30, count), random.integers(1, 16, count),
                           strict=True)
    ]  # fmt: skip
    cache = max(p + o for _, p, o in requests) + int(random.integers(0, 60))
    fixed, each = int(random.integers(1, 16)) / 16, int(random.integers(0, 8)) / 64
    return requests, int(random.integers(1, 7)), cache, fixed, each


def drawn(requests: Sequence[Request], log: Log) -> str:
    """One line a request, one column a pass: P its prompt is read, # a token, . it waits."""
    lines = []
    for n, (arrival, prompt, output) in enumerate(requests):
        marks = ""
        last = max((at for at, one in enumerate(log) if n in [*one[2], *one[3]]), default=-1)
        for at, (start, _, reads, decodes) in enumerate(log):
            here = "P" if n in reads else "#" if n in decodes else "."
            marks += here if at <= last and start >= arrival else " "
        lines.append(f"{n:>3}  prompt {prompt:>3}, output {output:>3}  {marks}".rstrip())
    return "\n".join(lines)
