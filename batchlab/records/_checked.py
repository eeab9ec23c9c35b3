"""Values that hold only what their fields are declared with.

class with types  ->  Checked: a wrong value is refused with the name of its field
"""

import math
import types
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import chain
from typing import Any, get_args, get_origin

__all__ = ["SAYS", "Checked", "are_numbers", "is_of", "says"]

SAYS = {
    int: "a whole number >= 0",
    float: "a finite number >= 0",
    str: "a text",
    bool: "true or false",
}


class Checked:
    """A value whose fields are of the types that they are declared with."""

    def __post_init__(self) -> None:
        own: Any = type(self)  # a class is hashable, whatever its values are
        for name, kind in _declared(own):
            value = getattr(self, name)
            if not is_of(value, kind):
                raise ValueError(f"{name} must be {says(kind)}, got {value!r:.40}")


@cache
def _declared(kind: type) -> list[tuple[str, Any]]:
    return [(one.name, one.type) for one in fields(kind)]


def is_of(value: object, kind: object) -> bool:
    """Whether a value is of a declared type; numbers are finite and not negative."""
    return any(fits(value) for fits in _tests(kind))


@cache
def _tests(kind: Any) -> list[Callable[[Any], bool]]:
    """What a value of a declared type passes one of: a long run has a million values of it."""
    if isinstance(kind, types.UnionType):
        return list(chain(*map(_tests, get_args(kind))))
    if get_origin(kind) is tuple:
        inside = get_args(kind)[0]
        return [lambda value: isinstance(value, tuple) and are_numbers(value, inside)]
    if kind in (int, float):
        return [lambda value: are_numbers((value,), kind)]
    held = get_origin(kind) or kind
    return [lambda value: isinstance(value, held)]


def are_numbers(values: tuple[Any, ...], kind: object) -> bool:
    """Whether all are of a declared type of number; a record has thousands of them."""
    wanted = (int,) if kind is int else (int, float)
    kinds = set(map(type, values))
    if not kinds.issubset(wanted) and not all(  # a number of NumPy is one, too
        issubclass(one, wanted) and one is not bool for one in kinds
    ):
        return False
    return all(map(math.inf.__gt__, values)) and min(values, default=0) >= 0


def says(kind: object) -> str:
    if isinstance(kind, types.UnionType):
        return next(says(one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        return f"a list, each entry {says(get_args(kind)[0])}"
    return SAYS.get(kind, "an object")  # type: ignore[call-overload, no-any-return]
