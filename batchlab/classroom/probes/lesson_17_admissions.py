"""Right and wrong versions of `admit` of lesson 17, by the thought behind each wrong one.

those that wait, those that run, rows, cache  ->  how many of those that wait may start
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["RIGHT_ADMISSIONS", "WRONG_ADMISSIONS"]

Request = tuple[int, int]
Requests = Sequence[Request]
Size = Callable[[Request], int]


def _admit(
    waiting: Requests,
    running: Requests,
    rows: int,
    cache: int,
    *,
    new: Size = sum,
    kept: Size | None = None,
    old: Size = sum,
    skip: bool = False,
    slack: int = 0,
    most: int | None = None,
    extra: int = 0,
    count: bool = True,
) -> int:
    """How many of those that wait may start, or one of the mistakes.

    `new` is what is looked for when one starts, `kept` what it reserves then; the same if None.
    """
    held, taken = sum(old(one) for one in running), 0
    for one in waiting:
        if taken + (len(running) if count else 0) >= rows + extra or taken == most:
            break
        if held + new(one) > cache + slack:
            if skip:
                continue
            break
        held, taken = held + (kept or new)(one), taken + 1
    return taken


def _by_sums(waiting: Requests, running: Requests, rows: int, cache: int) -> int:
    free = cache - sum(map(sum, running))
    totals = itertools.accumulate(map(sum, waiting))
    fitting = len(list(itertools.takewhile(lambda total: total <= free, totals)))
    return max(0, min(fitting, rows - len(running)))


def _by_trying(waiting: Requests, running: Requests, rows: int, cache: int) -> int:
    for count in range(len(waiting), 0, -1):
        some = [*running, *waiting[:count]]
        if len(some) <= rows and sum(a + b for a, b in some) <= cache:
            return count
    return 0


def _with(**mistake: Any) -> Callable[..., int]:
    return lambda *case: _admit(*case, **mistake)


def _read(see: Callable[..., tuple[Requests, Requests, int, int]]) -> Callable[..., int]:
    """The rule on a case that was read wrongly."""
    return lambda *case: _admit(*see(*case))


def _said(tell: Callable[..., Any]) -> Callable[..., Any]:
    """The right number, told wrongly."""
    return lambda *case: tell(_admit(*case), *case)


def _last_kept(waiting: Requests, running: Requests, rows: int, cache: int, *, upto: int) -> int:
    """Beside those that run, only the last `upto` that started are reserved; or -1: the first."""
    taken = 0
    while taken < min(len(waiting), rows - len(running)):
        beside = waiting[:1] if upto < 0 else waiting[max(0, taken - upto) : taken]
        seen = [*running, *(beside if taken else []), waiting[taken]]
        if sum(map(sum, seen)) > cache:
            break
        taken += 1
    return taken


def _prompt(one: Request) -> int:
    return one[0]


def _output(one: Request) -> int:
    return one[1]


def _prompts(one: Request) -> int:
    return 2 * one[0]


def _outputs(one: Request) -> int:
    return 2 * one[1]


def _less(one: Request) -> int:
    return sum(one) - 1


def _without_first(w: Requests, r: Requests, rows: int, cache: int) -> Any:
    return (w[1:] if w and sum(map(sum, [*r, w[0]])) > cache else w), r, rows, cache


def _largest_alone(w: Requests, r: Requests, rows: int, cache: int) -> Any:
    spare = sum(map(sum, r)) - max(map(sum, r), default=0)
    return w, r, rows, cache + spare


RIGHT_ADMISSIONS: tuple[Callable[..., int], ...] = (_admit, _by_sums, _by_trying)

WRONG_ADMISSIONS: dict[str, Callable[..., Any]] = {
    "too many: the cache grows with the output, and overflows later": _with(
        new=_prompt, old=_prompt),
    "too many: the prompts are in the cache, too": _with(new=_output, old=_output),
    "too many: those that wait reserve their prompt only": _with(new=_prompt),
    "too many: those that wait reserve their output only": _with(new=_output),
    "too many: whoever waits is let in by its prompt, and reserves all only then": _with(
        new=_prompt, kept=sum),
    "too many: whoever waits is let in by its output, and reserves all only then": _with(
        new=_output, kept=sum),
    "too many: whoever just started reserves its prompt only": _with(kept=_prompt),
    "too many: whoever just started reserves its output only": _with(kept=_output),
    "too many: whoever just started reserves one token too few": _with(kept=_less),
    "too many: one token more than the cache": _with(slack=1),
    "too many: those that run are counted with their prompt only": _with(old=_prompt),
    "too many: those that run are counted with their output only": _with(old=_output),
    "too many: those that run reserve one token too few": _with(old=_less),
    "too many: those that run hold cache, too": _with(old=lambda one: 0),
    "too many: of those that run only the largest is counted": _read(_largest_alone),
    "too many: the first that runs reserves nothing": lambda w, r, rows, cache: _admit(
        w, r, rows, cache + sum(map(sum, r[:1]))),
    "too many: the last that runs reserves nothing": lambda w, r, rows, cache: _admit(
        w, r, rows, cache + sum(map(sum, r[-1:]))),
    "too many: two equal ones that run reserve once": lambda w, r, rows, cache: _admit(
        w, r, rows, cache + sum(map(sum, r)) - sum(map(sum, set(map(tuple, r))))),
    "too many: two equal ones that run hold one row": lambda w, r, rows, cache: _admit(
        w, r, rows + len(r) - len(set(map(tuple, r))), cache),
    "too many: those that run hold rows, too": _with(count=False),
    "too many: one more than there are rows": _with(extra=1),
    "too many: one starts although all rows are held": _said(lambda n, w, r, rows, cache: (
        min(1, len(w)) if len(r) >= rows else n)),
    "too many: the cache is never looked at": _with(slack=10**18),
    "too many: each is compared with what is free now, as if it came alone": _with(
        kept=lambda one: 0),
    "too many: of those that just started only the last is reserved": (
        lambda *case: _last_kept(*case, upto=1)),
    "too many: of those that just started only the first is reserved": (
        lambda *case: _last_kept(*case, upto=-1)),
    "too many: the first starts if nobody runs, even where it does not fit": _said(
        lambda n, w, r, rows, cache: n or int(bool(w) and not r)),
    "too many or too few: each reserves twice its prompt, whatever its output": _with(
        new=_prompts, old=_prompts),
    "too many or too few: each reserves twice its output, whatever its prompt": _with(
        new=_outputs, old=_outputs),
    "unfair: what does not fit is skipped, and waits as long as shorter ones come": _with(
        skip=True),
    "unfair: the first is skipped where it does not fit": _read(_without_first),
    "unfair: the shortest first": _read(lambda w, *x: (sorted(w, key=sum), *x)),
    "unfair: from the back": _read(lambda w, *x: (w[::-1], *x)),
    "too few: what fits exactly, fits": _with(slack=-1),
    "too few: one at a time": _with(most=1),
    "too few: two at a time": _with(most=2),
    "too few: nobody while others run, as in a static batch": _said(
        lambda n, w, r, *x: 0 if r else n),
    "too few: a row is left free": _with(extra=-1),
    "too few: a row is left free when more wait than there are rows": (
        lambda w, r, rows, cache: _admit(w, r, rows - (len(w) > rows), cache)),
    "too few: all that wait, or nobody": _said(lambda n, w, *x: n if n == len(w) else 0),
    "too few: all free rows are filled, or none": _said(lambda n, w, r, rows, cache: (
        n if n == min(rows - len(r), len(w)) else 0)),
    "nobody waits: None in place of 0": _said(lambda n, w, *x: n if w else None),
    "nobody waits: -1 in place of 0": _said(lambda n, w, *x: n if w else -1),
}  # fmt: skip
