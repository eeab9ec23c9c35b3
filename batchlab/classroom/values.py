"""Judge numbers and arrays of numbers.

    what came, what is right, known mistakes  ->  nothing, or four short lines

Words
    exact      a whole number is right only as itself, unless a tolerance is given, even 1e-5
    near       within the tolerance: relative 1e-5, which float32 keeps, if none is given
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain
from batchlab.classroom.showing import figures
from batchlab.classroom.verdict import Hints, plainly, refuse

__all__ = ["REL", "array", "equal", "near"]

REL = 1e-5  # float32 has a relative rounding of 6e-8; a sum of a hundred values loses a few digits


def equal(
    got: object,
    want: float,
    *,
    asked: str,
    mistakes: Mapping[float, str] | None = None,
    try_this: Hints = "",
    rel: float | None = None,
    abs: float = 0.0,
    whole: bool = False,
    constant: bool = False,
) -> None:
    """Refuse `got` unless it is the number `want`: an int exactly, unless `rel` or `abs` is given.

    `whole=True` also refuses a float that happens to be whole, such as 4.0 for a count.
    `constant=True` tells the direction of the miss and never the right value.

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
        needed = "a finite number is needed" if constant else f"right is {figures(right)}"
        refuse(asked, f"{value}, {needed}", reason, try_this)
    if whole and type(value) is float:
        thought = "a count is an int: `/` gives a float, `//` or int() a whole number"
        needed = "an int is needed" if constant else f"right is the int {figures(right)}"
        refuse(asked, f"the float {value}, {needed}", thought, try_this)
    exact = type(right) is int and rel is None and abs == 0.0
    within = REL if rel is None else rel
    if value == right or (not exact and near(value, right, within, abs)):
        return
    likely = _thought(value, mistakes or {}, 1e-9 if exact else max(within, 1e-9), abs)
    if not likely and exact and near(value, right, 1e-6, 0.0):
        likely = "rounding: count in whole numbers, divide last"
    if constant:
        refuse(asked, f"{figures(value)}, which is {_direction(value, right)}", likely, try_this)
    refuse(asked, f"{_apart(value, right)}, right is {_apart(right, value)}", likely, try_this)


def array(
    got: object,
    want: object,
    *,
    asked: str,
    mistakes: Sequence[tuple[object, str]] = (),
    try_this: Hints = "",
    rel: float | None = None,
    abs: float = 0.0,
    dtype: str = "",
) -> None:
    """Refuse `got` unless it has the shape and the values of `want`; whole numbers exactly.

    Lists, arrays and tensors are all accepted, unless `dtype` asks for one ("int64", or a
    family: "int", "float", "bool"). `mistakes` are pairs of a wrong array and its thought. Where
    `want` is NaN, NaN is right.

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
    off = ~_isclose(value, right, rel, abs)
    if not off.any():
        return
    first = tuple(int(i) for i in np.argwhere(off)[0])
    place = f"[{', '.join(map(str, first))}]" if first else "the value"
    a, b = value[first].item(), right[first].item()
    wrong = f"{_apart(a, b)} at {place}, right is {_apart(b, a)}"
    if right.size > 1:
        wrong += f" ({int(off.sum())} of {right.size} differ)"
    if not likely and isinstance(a, float):
        likely = plain.not_finite(a)
    refuse(asked, wrong, likely, try_this)


def near(a: float, b: float, rel: float, abs: float) -> bool:
    """Whether two numbers agree within a tolerance, whole numbers of any size included."""
    try:
        return math.isclose(a, b, rel_tol=rel, abs_tol=abs)
    except OverflowError:  # a whole number that no float holds
        return a == b


def _thought(value: float, mistakes: Mapping[float, str], rel: float, abs: float) -> str:
    """The thought of the nearest known mistake that agrees with the value."""
    fits = [wrong for wrong in mistakes if near(value, wrong, rel, abs)]
    return mistakes[min(fits, key=lambda wrong: math.fabs(value - wrong))] if fits else ""


def _direction(value: float, right: float) -> str:
    if right and value and (value < 0) != (right < 0):
        return "of the wrong sign"
    return "too large" if value > right else "too small"


def _apart(value: Any, other: Any) -> str:
    """Enough digits of `value` to tell it from `other`."""
    short = figures(value)
    alike = short == figures(other) or (type(value) is float and float(short) == other)
    if value == other or not alike:
        return short
    try:
        text = repr(value)
    except ValueError:  # more digits than Python writes
        return short
    return text if len(text) <= 60 else f"{text[:28]}...{text[-28:]}"


def _isclose(a: np.ndarray, b: np.ndarray, rel: float | None, abs: float) -> np.ndarray:
    """Where `a` is `b`; a whole `b` exactly, unless a tolerance is given."""
    if b.dtype.kind in "biu" and rel is None and abs == 0.0:
        if a.dtype.kind == "f":  # Python compares a float and a whole number by their values
            return np.asarray(a.astype(object) == b.astype(object), dtype=bool)
        same: np.ndarray = np.equal(a, b)
        return same
    close: np.ndarray = np.isclose(
        a.astype(float), b.astype(float), rtol=REL if rel is None else rel, atol=abs, equal_nan=True
    )
    return close


def _close(a: np.ndarray, b: np.ndarray, rel: float | None, abs: float) -> bool:
    return a.shape == b.shape and bool(_isclose(a, b, rel, abs).all())


def _row(values: np.ndarray) -> str:
    first = ", ".join(map(figures, values.ravel()[:12].tolist()))
    return f"[{first}]" if values.size <= 12 else f"[{first}, ...]"
