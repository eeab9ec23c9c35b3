"""What is wrong with a schedule, in a thought: the laws that it breaks, then the right passes.

    a case, a learner's passes, the right ones  ->  a thought, and where; both empty if right

Words
    promised  prompt + output: the cache that a request will have filled with its last token
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from batchlab.classroom import plain

__all__ = ["fault_of_schedule"]

Request = tuple[float, int, int]
Case = tuple[list[Request], int, int, float, float]
Log = list[tuple[float, float, list[int], list[int]]]

FORM = "a list of passes (start, end, reads, decodes): two numbers, two lists of request numbers"
NUMBERS = "numbers are places in the list that was handed over, not in the order of arrival"
CHANGED = "the list that you returned was changed afterwards: append `list(running)`"
BESIDE = "a pass that reads costs the tokens of its prompts: no row costs one beside them"
IDLE = "a row whose request is done is computed on: it leaves, and costs nothing more"
CLOSE = 1e-5


def fault_of_schedule(case: Case, got: object, want: Log) -> tuple[str, str]:
    """The thought behind what is wrong with a schedule, and where it shows; both empty if right."""
    log = _plain(got)
    if log is None:
        return FORM, plain.shown(got)
    if _same(log, want):
        return "", ""
    if not log:
        exact = any(prompt + output == case[2] for _, prompt, output in case[0])
        return "no request was served" + ": what fills the cache exactly, fits" * exact, "no passes"
    if _same(_numbered(case, log), want):
        return NUMBERS, _first_difference(log, want)
    if found := _counted(case, log) or _timed(case, log) or _limited(case, log):
        return found
    return _why(case, log, want), _first_difference(log, want)


def _numbered(case: Case, log: Log) -> Log:
    """The passes, if their numbers are places in the order of arrival."""
    order = sorted(range(len(case[0])), key=lambda n: case[0][n][0])
    places = dict(enumerate(order))
    return [
        (start, end, [places.get(n, n) for n in reads], [places.get(n, n) for n in decodes])
        for start, end, reads, decodes in log
    ]


def _plain(got: object) -> Log | None:
    """Passes as plain tuples; None if they have another form."""
    try:
        passes: Sequence[Any] = list(got)  # type: ignore[call-overload]
        log = Log()
        for start, end, reads, decodes in passes:
            times = float(plain.number(start)), float(plain.number(end))
            numbers = [[plain.number(n) for n in one] for one in (reads, decodes)]
            if not all(map(math.isfinite, times)) or any(
                type(n) is not int for one in numbers for n in one
            ):
                return None
            log.append((*times, *([int(n) for n in one] for one in numbers)))  # type: ignore[arg-type]
    except (TypeError, ValueError, plain.NotPlain):
        return None
    return log


def _shown(at: int, one: tuple[float, float, list[int], list[int]]) -> str:
    start, end, reads, decodes = one
    return f"pass {at} ({start:g} s to {end:g} s, reads {reads}, decodes {decodes})"


def _counted(case: Case, log: Log) -> tuple[str, str] | None:
    """Nothing lost, nothing twice, nothing before its prompt."""
    requests = case[0]
    made: dict[int, int] = {}
    for at, one in enumerate(log):
        both, where = [*one[2], *one[3]], _shown(at, one)
        if not both:
            if made and _worked(case, one):
                return CHANGED, where
            return "a pass without work: let the clock go on to the next arrival", where
        if len(set(both)) < len(both):
            return "one request stands twice in a pass: its prompt gives its first token", where
        if bad := [n for n in both if not 0 <= n < len(requests)]:
            return f"there is no request {bad[0]}: numbers are places in the list", where
        if one[2] and one[3]:
            return "a pass reads prompts or decodes: while prompts are read, nobody decodes", where
        if bad := [n for n in one[2] if n in made]:
            return f"the prompt of request {bad[0]} is read twice", where
        if bad := [n for n in one[3] if n not in made]:
            return f"request {bad[0]} decodes before its prompt was read", where
        for n in both:
            made[n] = made.get(n, 0) + 1
            if made[n] > requests[n][2]:
                return (
                    f"request {n} gets more tokens than it asked for: the prompt's pass gives the "
                    "first one, and a request that is done leaves its row"
                ), where
    for n, (_, _, output) in enumerate(requests):
        if made.get(n, 0) < output:
            return f"request {n} is lost: it got {made.get(n, 0)} of its {output} tokens", "the end"
    return None


def _worked(case: Case, one: tuple[float, float, list[int], list[int]]) -> bool:
    """Whether a pass that names nobody lasted as long as one with some decoding rows."""
    _, rows, _, fixed, per_token = case
    seconds = one[1] - one[0]
    prices = (fixed + per_token * count for count in range(1, rows + 1))
    return any(abs(seconds - price) <= CLOSE * (1 + abs(one[1])) for price in prices)


def _timed(case: Case, log: Log) -> tuple[str, str] | None:
    """Nothing early; one pass after another; each as long as its price."""
    requests, _, _, fixed, per_token = case
    before = -math.inf
    for at, one in enumerate(log):
        start, end, reads, decodes = one
        where = _shown(at, one)
        if early := [n for n in reads if requests[n][0] > start + CLOSE * (1 + abs(start))]:
            came = requests[early[0]][0]
            return f"request {early[0]} is served before it arrives, at {came:g} s", where
        if start < before - CLOSE * (1 + abs(before)):
            return "it starts before the pass before it has ended", where
        price = fixed + per_token * (sum(requests[n][1] for n in reads) + len(decodes))
        if abs(end - start - price) > CLOSE * (1 + abs(end)):
            return _price(case, one, price), where
        before = end
    return None


def _price(case: Case, one: tuple[float, float, list[int], list[int]], price: float) -> str:
    """Why the seconds of a pass are not its price."""
    requests, rows, _, fixed, per_token = case
    start, end, reads, decodes = one
    prompts = [requests[n][1] for n in reads]
    known = {
        fixed + per_token * len(reads): "a prompt of n tokens costs n tokens, not one",
        fixed + per_token * max(prompts, default=0) * len(prompts): (
            "padded prompts: a pass costs the prompts' own tokens"),
        fixed: "a decoding row costs one token",
        per_token * (sum(prompts) + len(decodes)): "the fixed seconds are missing",
        fixed * len([*reads, *decodes]) + per_token * (sum(prompts) + len(decodes)): (
            "the fixed seconds count once a pass"),
        fixed + per_token * sum(requests[n][1] for n in [*reads, *decodes]): (
            "prompts are read once: a decoding row costs one token"),
    }  # fmt: skip
    if decodes:
        known[fixed + per_token] = "each decoding row costs a token"
    for seconds, thought in known.items():
        if abs(end - start - seconds) <= CLOSE * (1 + abs(end)) and seconds != price:
            return thought
    if start + price < end <= start + price + per_token * rows + CLOSE:
        return BESIDE if reads else IDLE
    return (
        "a pass takes fixed + per_token x tokens: the tokens of its prompts, or its decoding rows"
    )


def _states(case: Case, log: Log) -> Iterator[tuple[int, dict[int, int]]]:
    """Place of each pass, and the tokens that each running request has after it."""
    made: dict[int, int] = {}
    for at, (_, _, reads, decodes) in enumerate(log):
        for n in [*reads, *decodes]:
            made[n] = made.get(n, 0) + 1
        yield at, dict(made)
        made = {n: count for n, count in made.items() if count < case[0][n][2]}


def _limited(case: Case, log: Log) -> tuple[str, str] | None:
    """Rows and cache keep their limits; nobody is overtaken."""
    requests, rows, cache, _, _ = case
    for at, made in _states(case, log):
        where = _shown(at, log[at])
        if len(made) > rows:
            return f"{len(made)} requests run, there are {rows} rows", where
        held = sum(requests[n][1] + count for n, count in made.items())
        if held > cache:
            return (
                f"the caches hold {held} tokens, there is room for {cache}: they grow with every "
                "token, so reserve prompt + output before a request starts"
            ), where
    first = [n for _, _, reads, _ in log for n in sorted(reads, key=lambda n: (requests[n][0], n))]
    for before, after in itertools.pairwise(first):
        if (requests[after][0], after) < (requests[before][0], before):
            return (
                f"request {before} overtakes request {after}, which came first: skipped so, a long "
                "one waits for as long as shorter ones come"
            ), f"prompts were read in the order {first}"
    return None


def _same(log: Log, want: Log) -> bool:
    return len(log) == len(want) and not any(
        _differ(one, other) for one, other in zip(log, want, strict=True)
    )


def _differ(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    times = any(abs(a - b) > CLOSE * (1 + abs(b)) for a, b in zip(one[:2], other[:2], strict=True))
    return times or any(sorted(a) != sorted(b) for a, b in zip(one[2:], other[2:], strict=True))


def _first_difference(log: Log, want: Log) -> str:
    at = _place(log, want)
    return _shown(at, log[at]) if at < len(log) else "the end"


def _place(log: Log, want: Log) -> int:
    pairs: Callable[..., Any] = zip
    return next(
        (at for at, (a, b) in enumerate(pairs(log, want)) if _differ(a, b)),
        min(len(log), len(want)),
    )


def _why(case: Case, log: Log, want: Log) -> str:
    """What a schedule that keeps all limits does not do at the first pass that differs."""
    at = _place(log, want)
    (start, _, reads, decodes), (when, _, should, going) = log[at], want[at]
    if start > when + CLOSE * (1 + abs(when)):
        return "the device stands still although somebody could be served"
    if left := [n for n in should if n not in reads]:
        return f"request {left[0]} waits although it is next, and there are a row and cache for it"
    if more := [n for n in reads if n not in should]:
        return (
            f"request {more[0]} starts although prompt + output of all that run would not fit then"
        )
    if stopped := [n for n in going if n not in decodes]:
        return f"request {stopped[0]} runs, and gets no token from this pass"
    return "another pass than the rules give"
