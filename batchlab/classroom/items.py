"""Judge collections, choices and laws.

what came, what is right, known mistakes  ->  nothing, or four short lines
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain
from batchlab.classroom.showing import item, shown
from batchlab.classroom.values import REL, near
from batchlab.classroom.verdict import Hints, plainly, refuse

__all__ = ["choice", "keys", "law", "same"]


def same(
    got: object,
    want: object,
    *,
    asked: str,
    order: bool = True,
    groups: bool = False,
    mistakes: Sequence[tuple[object, str]] = (),
    try_this: Hints = "",
    constant: bool = False,
) -> None:
    """Refuse `got` unless it holds the items of `want`; fractions to a relative 1e-5.

    `order=False` forgets the order (twice is still twice); `groups=True` compares a partition:
    lists of lists, where neither the order of the lists nor the order inside them counts.
    `constant=True` never shows a right item.

    >>> same([[2], [1, 0]], [[0, 1], [2]], asked="documents by row", groups=True)
    >>> same([3, 1, 1], [1, 2, 3], asked="every document once", order=False)
    Traceback (most recent call last):
        ...
    batchlab.classroom.verdict.CheckFailed: asked   every document once
    got     missing: 2; too often: 1
    """
    value, right = plainly(plain.nested, got, asked, try_this), plain.nested(want)
    kinds = (int, float) if type(right) in (int, float) else (type(right),)
    if type(value) not in kinds:
        thought = "the function ends without `return`" if value is None else ""
        kind = type(right).__name__
        refuse(asked, f"{shown(got)}; a {kind} is needed", thought, try_this)

    def canonical(data: Any) -> Any:
        if groups and isinstance(data, list):
            inside = (sorted(g, key=plain.text) if isinstance(g, list) else [g] for g in data)
            return sorted(inside, key=plain.text)
        return data if order or not isinstance(data, list) else sorted(data, key=plain.text)

    mine, theirs = canonical(value), canonical(right)
    if _alike(mine, theirs):
        return
    likely = next((t for wrong, t in mistakes if _alike(mine, canonical(plain.nested(wrong)))), "")
    if constant:
        refuse(asked, f"{shown(got)}, which is not it", likely, try_this)
    refuse(asked, _difference(mine, theirs, order and not groups), likely, try_this)


def keys(
    got: object,
    names: Sequence[str],
    *,
    asked: str,
    more: bool = False,
    try_this: Hints = "",
) -> None:
    """Refuse `got` unless it is a dict, or another mapping, with these keys in any order.

    `more=True` allows other keys beside them.

    >>> keys({"a": 1, "b": 2}, ["a"], asked="a dict with the key a", more=True)
    """
    if not issubclass(type(got), Mapping):
        thought = "the function ends without `return`" if got is None else ""
        refuse(asked, f"{shown(got)}; a dict with {', '.join(names)} is needed", thought, try_this)
    have = list(got)  # type: ignore[call-overload]
    missing = [name for name in names if name not in have]
    beside = [] if more else [name for name in have if name not in names]
    if missing or beside:
        parts = {"missing": missing, "too many": beside}
        said = "; ".join(f"{what}: {item(some, 60)}" for what, some in parts.items() if some)
        refuse(asked, f"keys {item(have, 80)}; {said}", "", try_this)


def choice(
    got: object,
    right: str,
    *,
    asked: str,
    mistakes: Mapping[str, str] | None = None,
    try_this: Hints = "",
) -> None:
    """Refuse `got` unless it is the text `right`; case and outer blanks do not count.

    >>> choice(" B", "b", asked="which run is the slow one")
    """
    if type(got) is np.str_:
        got = str(got)
    if type(got) is not str or not got.strip():
        refuse(asked, f"{shown(got)}; one of the offered words is needed", "", try_this)
    said = got.strip().casefold()
    if said == right.strip().casefold():
        return
    thoughts = {key.strip().casefold(): thought for key, thought in (mistakes or {}).items()}
    refuse(asked, f"{got.strip()[:40]!r}, which is not it", thoughts.get(said, ""), try_this)


def law(
    name: str, holds: object, *, case: object = "", likely: str = "", try_this: Hints = ""
) -> None:
    """Refuse an answer that breaks the law `name`; `case` shows where it breaks.

    >>> law("no document is lost", len([1, 2]) == 2)
    """
    if (plain.is_tensor(holds) or type(holds) is np.ndarray) and holds.shape == ():  # type: ignore[attr-defined]
        holds = holds.item()  # type: ignore[attr-defined]
    if type(holds) not in (bool, np.bool_):
        raise TypeError(f"law {name!r}: a truth value is needed, not {shown(holds)}")
    if not holds:
        told = case if type(case) is str else shown(case)
        refuse(f"the law: {name}", told or "it does not hold", likely, try_this)


def _alike(mine: Any, theirs: Any) -> bool:
    """Whether plain data agree: floats within the tolerance, NaN with NaN, all else exactly."""
    if isinstance(theirs, list):
        return (
            isinstance(mine, list)
            and len(mine) == len(theirs)
            and all(_alike(a, b) for a, b in zip(mine, theirs, strict=True))
        )
    if isinstance(theirs, dict):
        return (
            isinstance(mine, dict)
            and mine.keys() == theirs.keys()
            and all(_alike(mine[key], value) for key, value in theirs.items())
        )
    if isinstance(theirs, float) and isinstance(mine, int | float):
        both_nan = math.isnan(theirs) and mine != mine
        return both_nan or near(mine, theirs, REL, 0.0)
    return bool(mine == theirs)


def _difference(mine: Any, theirs: Any, ordered: bool) -> str:
    """Where two collections part: the first place, or what is missing and what is too much."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if mine.keys() != theirs.keys():
            return f"keys {_difference(list(mine), list(theirs), False)}"
        key = next(key for key in theirs if not _alike(mine[key], theirs[key]))
        return f"{item(mine[key], 60)} at [{item(key, 40)}], right is {item(theirs[key], 60)}"
    if not isinstance(mine, list):
        return f"{shown(mine)}, right is {shown(theirs)}"
    if ordered and len(mine) == len(theirs):
        place = next(
            i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if not _alike(a, b)
        )
        return f"{item(mine[place], 60)} at [{place}], right is {item(theirs[place], 60)}"
    have, need = (Counter(item(one, 60) for one in side) for side in (mine, theirs))
    parts = [
        f"{word}: {', '.join(list(items)[:5])}{' ...' if len(items) > 5 else ''}"
        for word, items in (("missing", need - have), ("too often", have - need))
        if items
    ]
    return "; ".join(parts) or "the right items in another order"
