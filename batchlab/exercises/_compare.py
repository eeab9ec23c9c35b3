"""Compare what came with what is right: the right value says how.

a float near, an int exactly, a tensor by dtype, shape and values, a dict
key by key; an empty text means that nothing is wrong, another one says what is
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from batchlab.classroom import check, plain, verdict
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._words import restated

__all__ = ["How", "alike", "compare"]

Known = Callable[[], Iterable[tuple[Any, str]]]  # values of wrong versions, with their thoughts


@dataclass(frozen=True)
class How:
    """How the values of an exercise are compared."""

    rel: float | None = None  # None: 1e-5 for floats, which float32 keeps
    abs: float = 2e-7
    whole: bool = True  # a count is an int: 3.0 is refused
    secret: bool = False  # a refusal never shows the right value
    parts: tuple[str, ...] = ()  # names of the members of a returned tuple
    order: bool = True  # False: the order of a list does not count
    groups: bool = False  # a partition: neither the order of the lists nor that inside them
    ints: bool = False  # every number of a list must be an int
    diverges: bool = False  # nan for inf and inf for nan: either shows that a training diverged


def compare(
    got: Any, want: Any, asked: str, how: How, known: Known, because: Callable[[], str] = str
) -> None:
    """Refuse `got` unless it is `want`; `known` and `because` are asked only of a wrong one.

    A thought is named only if its value is right in all that was judged before in this case; one
    whose whole value came, before others.
    """
    passed: list[tuple[tuple[Any, ...], Any]] = []
    given, wished = got, want

    def part(got: Any, want: Any, asked: str, at: tuple[Any, ...]) -> None:
        if isinstance(want, tuple) and how.parts and not at:
            _members(got, want, asked, how)
            for i, name in enumerate(how.parts):
                part(got[i], want[i], f"{name} of {asked}", (i,))
        elif isinstance(want, dict) and all(isinstance(key, str) for key in want):
            check.keys(got, list(want), asked=asked)
            for key, one in want.items():
                whole = asked if len(at) == 0 else asked.partition(" of ")[2]
                part(got[key], one, f"{key} of {whole}", (*at, key))
        else:
            leaf(got, want, asked, at)

    def leaf(got: Any, want: Any, asked: str, at: tuple[Any, ...]) -> None:
        try:
            _judged(got, want, asked, how)
        except CheckFailed as refused:
            fits = [
                (value, thought)
                for value, thought in known()
                if _same(got, value, at, want, how)
                and all(_same(right, value, there, right, how) for there, right in passed)
            ]
            whole = [one for one in fits if _same(given, one[0], (), wished, how)]
            thoughts = dict.fromkeys(thought for _, thought in whole or fits)
            likely = " - or: ".join(list(thoughts)[:2]) or because()
            likely = likely or ("None stands there: a value is asked" if at and got is None else "")
            raise restated(refused, likely=likely) from None
        passed.append((at, want))

    try:
        part(got, want, asked, ())
    except CheckFailed as refused:
        if "\nlikely  " in str(refused):
            raise
        raise restated(refused, likely=because()) from None


def _members(got: Any, want: Any, asked: str, how: How) -> None:
    rows = plain.is_tensor(got) or type(got) is np.ndarray
    if (type(got) in (tuple, list) or (rows and got.ndim)) and len(got) == len(want):
        return
    wished = f"{len(want)} things are needed: {', '.join(how.parts)}"
    verdict.refuse(asked, f"{plain.shown(got)}; {wished}")


def _judged(got: Any, want: Any, asked: str, how: How) -> None:
    """Refuse one value unless it is the right one, by the kind of the right one."""
    if plain.is_tensor(want):
        if not plain.is_tensor(got):
            verdict.refuse(asked, f"{plain.shown(got)}; a tensor is needed", "torch.tensor(...)")
        kind = str(want.dtype).rpartition(".")[2]
        check.array(got, want, asked=asked, dtype=kind, rel=how.rel)
    elif type(want) is np.ndarray:
        near = how.abs if want.dtype.kind == "f" else 0
        kind = "bool" if want.dtype == bool else ""
        check.array(got, want, asked=asked, dtype=kind, rel=how.rel, abs=near)
        if want.dtype.kind in "iu" and (found := plain.array(got).dtype).kind == "f":
            wanted = f"numbers of {found}; whole numbers are needed"
            verdict.refuse(asked, wanted, f"without dtype=np.{want.dtype}, arrays hold floats")
    elif type(want) is int:
        check.equal(got, want, asked=asked, whole=how.whole, constant=how.secret)
    elif isinstance(want, float) and not math.isfinite(want):
        value = verdict.plainly(plain.number, got, asked, "")
        same = value == want or (value != value and want != want)
        if not (same or (how.diverges and plain.not_finite(value))):
            needed = "nan or inf" if how.diverges else f"{want}"
            verdict.refuse(asked, f"{plain.shown(value)}, right is {needed}")
    elif isinstance(want, float):
        check.equal(got, want, asked=asked, rel=how.rel, abs=how.abs, constant=how.secret)
    elif want == "" and type(got) is str:
        if got:
            verdict.refuse(asked, got)
    elif type(want) is str:
        check.choice(got, want, asked=asked)
    elif want == [] and isinstance(got, list) and got:
        verdict.refuse(asked, f"{', '.join(map(str, got))[:80]}; right is none")
    else:
        if type(want) in (tuple, list) and isinstance(got, set | frozenset) and how.order:
            verdict.refuse(asked, f"{got}, a set", "a set has no order")
        order, groups = how.order, how.groups
        check.same(got, want, asked=asked, constant=how.secret, order=order, groups=groups)
        for one in _numbers(got) if how.ints else ():
            check.equal(one, int(one), asked=f"the numbers of {asked}", whole=True)


def alike(got: Any, value: Any, how: How) -> bool:
    """Whether what came is the whole value of a version."""
    return _same(got, value, (), value, how)


def _same(got: Any, wrong: Any, at: tuple[Any, ...], want: Any, how: How) -> bool:
    """Whether a wrong version's value is what came, by the judge of the right one."""
    try:
        for key in at:
            wrong = wrong[key]
        if isinstance(wrong, float) and isinstance(want, int) and not isinstance(got, float):
            return False
        _judged(got, wrong, "", replace(how, secret=False, parts=()))
    except Exception:
        return False
    return True


def _numbers(nested: Any) -> Iterable[Any]:
    """All numbers of a list of lists, in order."""
    if isinstance(nested, list | tuple | set | np.ndarray) or plain.is_tensor(nested):
        for one in nested:
            yield from _numbers(one)
    else:
        yield nested
