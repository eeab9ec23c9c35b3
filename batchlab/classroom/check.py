"""Judge an answer in one line, and say what was probably thought.

    what came, what is right, known mistakes  ->  nothing, or four short lines

A value that is wrong in a known way names the thought behind it: choose the case so that every
known mistake gives a value of its own. Every check returns None, because nbgrader reads the value
of a check cell's last line as points. Results are judged as plain data, never by identity, so a
check also works when the learner's function lives in another process.
"""

import hashlib
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain
from batchlab.classroom.behaviour import finds_bugs, function, raises, unchanged
from batchlab.classroom.verdict import CheckFailed, plainly, refuse

__all__ = [
    "CheckFailed",
    "array",
    "choice",
    "equal",
    "finds_bugs",
    "function",
    "law",
    "raises",
    "rng",
    "same",
    "unchanged",
]

DEFAULT_SEED = "the effective batch"  # public; a term's secret stands in BATCHLAB_GRADING_SEED


def equal(
    got: object,
    want: float,
    *,
    asked: str,
    mistakes: Mapping[float, str] | None = None,
    try_this: str = "",
    rel: float = 1e-9,
    abs: float = 0.0,
    whole: bool = False,
) -> None:
    """Refuse `got` unless it is the number `want`: an int exactly, unless `rel` or `abs` is given.

    `whole=True` also refuses a float that happens to be whole, such as 4.0 for a count.

    >>> equal(2 / 10, 0.2, asked="waste of one batch of 5 and 3 tokens")
    >>> equal(2 / 8, 0.2, asked="waste of one batch of 5 and 3 tokens",
    ...       mistakes={2 / 8: "padding per real token, not per slot"})
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   waste of one batch of 5 and 3 tokens
    got     0.25, right is 0.2
    likely  padding per real token, not per slot
    """
    value = plainly(plain.number, got, asked, try_this)
    right = plain.number(want)
    if reason := plain.not_finite(value):
        refuse(asked, f"{value}, right is {_figures(right)}", reason, try_this)
    if whole and type(value) is float:
        thought = "a count is an int: `/` gives a float, `//` or int() a whole number"
        refuse(asked, f"the float {value}, right is the int {right}", thought, try_this)
    exact = type(right) is int and rel == 1e-9 and abs == 0.0
    if value == right or (not exact and math.isclose(value, right, rel_tol=rel, abs_tol=abs)):
        return
    near = max(rel, 1e-9)
    known = (
        thought
        for wrong, thought in (mistakes or {}).items()
        if math.isclose(value, wrong, rel_tol=near, abs_tol=abs)
    )
    likely = next(known, "")
    if not likely and exact and math.isclose(value, right, rel_tol=1e-6):
        likely = "rounding: count in whole numbers, divide last"
    refuse(asked, f"{_apart(value, right)}, right is {_apart(right, value)}", likely, try_this)


def array(
    got: object,
    want: object,
    *,
    asked: str,
    mistakes: Sequence[tuple[object, str]] = (),
    try_this: str = "",
    rel: float = 1e-6,
    abs: float = 0.0,
    dtype: str = "",
) -> None:
    """Refuse `got` unless it has the shape and the values of `want`; whole numbers exactly.

    Lists, arrays and tensors are all accepted, unless `dtype` asks for one ("int64", or a
    family: "int", "float", "bool"). `mistakes` are pairs of a wrong array and its thought.

    >>> array([0, 3], [0, 3, 8], asked="cumulative lengths of 3 and 5 tokens",
    ...       mistakes=[([0, 3], "the last end is missing")])
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   cumulative lengths of 3 and 5 tokens
    got     shape (2,), right is (3,): [0, 3], right is [0, 3, 8]
    likely  the last end is missing
    """
    value = plainly(plain.array, got, asked, try_this)
    right = plain.array(want)
    pairs = [(plain.array(wrong), thought) for wrong, thought in mistakes]
    likely = next((t for wrong, t in pairs if _close(value, wrong, rel, abs)), "")
    if value.shape != right.shape:
        shapes = f"shape {value.shape}, right is {right.shape}"
        both = f"{_row(value)}, right is {_row(right)}"
        refuse(asked, f"{shapes}: {both}" if right.size <= 12 else shapes, likely, try_this)
    if dtype and dtype not in {value.dtype.name, value.dtype.name.rstrip("0123456789")}:
        refuse(asked, f"numbers of {value.dtype}, asked was {dtype}", likely, try_this)
    if _close(value, right, rel, abs):
        return
    off = ~_isclose(value, right, rel, abs)
    first = tuple(int(i) for i in np.argwhere(off)[0])
    place = f"[{', '.join(map(str, first))}]" if first else "the value"
    a, b = value[first].item(), right[first].item()
    wrong = f"{_apart(a, b)} at {place}, right is {_apart(b, a)}"
    if right.size > 1:
        wrong += f" ({int(off.sum())} of {right.size} differ)"
    if not likely and isinstance(a, float):
        likely = plain.not_finite(a)
    refuse(asked, wrong, likely, try_this)


def same(
    got: object,
    want: object,
    *,
    asked: str,
    order: bool = True,
    groups: bool = False,
    mistakes: Sequence[tuple[object, str]] = (),
    try_this: str = "",
) -> None:
    """Refuse `got` unless it holds the items of `want`.

    `order=False` forgets the order (twice is still twice); `groups=True` compares a partition:
    lists of lists, where neither the order of the lists nor the order inside them counts.

    >>> same([[2], [1, 0]], [[0, 1], [2]], asked="documents by row", groups=True)
    >>> same([3, 1, 1], [1, 2, 3], asked="every document once", order=False)
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   every document once
    got     missing: 2; too often: 1
    """
    value, right = plainly(plain.nested, got, asked, try_this), plain.nested(want)
    if not isinstance(value, type(right)):
        thought = "the function ends without `return`" if value is None else ""
        kind = type(right).__name__
        refuse(asked, f"{plain.shown(got)}; a {kind} is needed", thought, try_this)

    def canonical(data: Any) -> Any:
        if groups and isinstance(data, list):
            return sorted((sorted(g) if isinstance(g, list) else [g] for g in data), key=repr)
        return data if order or not isinstance(data, list) else sorted(data, key=repr)

    mine, theirs = canonical(value), canonical(right)
    if mine == theirs:
        return
    likely = next((t for wrong, t in mistakes if canonical(plain.nested(wrong)) == mine), "")
    refuse(asked, _difference(mine, theirs, order and not groups), likely, try_this)


def choice(
    got: object,
    right: str,
    *,
    asked: str,
    mistakes: Mapping[str, str] | None = None,
    try_this: str = "",
) -> None:
    """Refuse `got` unless it is the text `right`; case and outer blanks do not count.

    >>> choice(" B", "b", asked="which run is the slow one")
    """
    if type(got) is not str or not got.strip():
        refuse(asked, f"{plain.shown(got)}; one of the offered words is needed", "", try_this)
    said = got.strip().casefold()
    if said == right.strip().casefold():
        return
    thoughts = {key.strip().casefold(): thought for key, thought in (mistakes or {}).items()}
    refuse(asked, f"{got.strip()[:40]!r}, which is not it", thoughts.get(said, ""), try_this)


def law(
    name: str, holds: object, *, case: object = "", likely: str = "", try_this: str = ""
) -> None:
    """Refuse an answer that breaks the law `name`; `case` shows where it breaks.

    >>> law("no document is lost", len([1, 2]) == 2)
    """
    if type(holds) not in (bool, np.bool_):
        raise TypeError(f"law {name!r}: a truth value is needed, not {plain.shown(holds)}")
    if not holds:
        seen = (
            f"broken for {case if type(case) is str else plain.shown(case)}"
            if case != ""
            else "broken"
        )
        refuse(f"the law: {name}", seen, likely, try_this)


def rng(grade_id: str) -> np.random.Generator:
    """Fresh inputs for one graded cell: from the term's secret seed and the cell's id.

    >>> bool(rng("check-waste").random() == rng("check-waste").random())
    True
    """
    seed = os.environ.get("BATCHLAB_GRADING_SEED") or DEFAULT_SEED
    digest = hashlib.sha256(f"{seed}\n{grade_id}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def _figures(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value}"


def _apart(value: object, other: object) -> str:
    """Enough digits of `value` to tell it from `other`."""
    short = _figures(value)
    return short if short != _figures(other) or value == other else repr(value)


def _isclose(a: np.ndarray, b: np.ndarray, rel: float, abs: float) -> np.ndarray:
    if a.dtype.kind in "biu" and b.dtype.kind in "biu":
        return np.equal(a, b)
    close: np.ndarray = np.isclose(a.astype(float), b.astype(float), rtol=rel, atol=abs)
    return close


def _close(a: np.ndarray, b: np.ndarray, rel: float, abs: float) -> bool:
    return a.shape == b.shape and bool(_isclose(a, b, rel, abs).all())


def _row(values: np.ndarray) -> str:
    return " ".join(np.array2string(values.ravel()[:12], separator=", ", precision=4).split())


def _difference(mine: Any, theirs: Any, ordered: bool) -> str:
    """Where two collections part: the first place, or what is missing and what is too much."""
    if not isinstance(mine, list):
        return f"{plain.shown(mine)}, right is {plain.shown(theirs)}"
    if ordered and len(mine) == len(theirs):
        place = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
        return f"{mine[place]!r:.60} at [{place}], right is {theirs[place]!r:.60}"
    have, need = Counter(map(repr, mine)), Counter(map(repr, theirs))
    missing, extra = need - have, have - need
    parts = [
        f"{word}: {', '.join(list(items)[:5])}{' ...' if len(items) > 5 else ''}"
        for word, items in (("missing", missing), ("too often", extra))
        if items
    ]
    return "; ".join(parts) or "the right items in another order"
