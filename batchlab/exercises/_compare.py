"""Compare what came with what is right: the right value says how.

a float near (nan or inf: either), an int exactly, a tensor by dtype, shape and values, a dict
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

__all__ = ["How", "compare"]

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


def compare(got: Any, want: Any, asked: str, how: How, known: Known, explain: str = "") -> None:
    """Refuse `got` unless it is `want`; `known` is asked only for a wrong one.

    A thought is named only if its value is right in all that was judged before in this case.
    """
    passed: list[tuple[tuple[Any, ...], Any]] = []

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
                thought
                for value, thought in known()
                if _same(got, value, at, want, how)
                and all(_same(right, value, there, right, how) for there, right in passed)
            ]
            likely = " - or: ".join(list(dict.fromkeys(fits))[:2]) or explain
            raise restated(refused, likely=likely) from None
        passed.append((at, want))

    try:
        part(got, want, asked, ())
    except CheckFailed as refused:
        if explain and "\nlikely  " not in str(refused):
            raise restated(refused, likely=explain) from None
        raise


def _members(got: Any, want: Any, asked: str, how: How) -> None:
    row = type(got) is np.ndarray and got.ndim > 0
    if (row or type(got) in (tuple, list)) and len(got) == len(want):
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
        check.array(
            got, want, asked=asked, rel=how.rel, abs=how.abs if want.dtype.kind == "f" else 0
        )
    elif type(want) is int:
        check.equal(got, want, asked=asked, whole=how.whole, constant=how.secret)
    elif isinstance(want, float) and not math.isfinite(want):
        value = verdict.plainly(plain.number, got, asked, "")
        if not plain.not_finite(value):
            verdict.refuse(asked, f"{plain.shown(value)}; nan or inf is right")
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


def _same(got: Any, wrong: Any, at: tuple[Any, ...], want: Any, how: How) -> bool:
    """Whether a wrong version's value is what came, by the judge of the right one."""
    try:
        for key in at:
            wrong = wrong[key]
        if isinstance(wrong, float) and isinstance(want, int) and not isinstance(got, float):
            return False
        _judged(got, wrong, "", replace(how, secret=False, parts=()))
    except (CheckFailed, Exception):
        return False
    return True


def _numbers(nested: Any) -> Iterable[Any]:
    """All numbers of a list of lists, in order."""
    if isinstance(nested, list | tuple | set | np.ndarray) or plain.is_tensor(nested):
        for one in nested:
            yield from _numbers(one)
    else:
        yield nested
