"""Values that hold only what their fields are declared with.

class with types  ->  Checked: a wrong value is refused with the name of its field
"""

import math
import types
from dataclasses import fields
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
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if not is_of(value, one.type):
                raise ValueError(f"{one.name} must be {says(one.type)}, got {value!r:.40}")


def is_of(value: object, kind: object) -> bool:
    """Whether a value is of a declared type; numbers are finite and not negative."""
    if isinstance(kind, types.UnionType):
        return any(is_of(value, one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and are_numbers(value, get_args(kind)[0])
    if kind in (int, float):
        return are_numbers((value,), kind)
    return isinstance(value, get_origin(kind) or kind)  # type: ignore[arg-type]


def are_numbers(values: tuple[Any, ...], kind: object) -> bool:
    """Whether all are of a declared type of number; a record has thousands of them."""
    wanted = (int,) if kind is int else (int, float)
    if not all(issubclass(one, wanted) and one is not bool for one in set(map(type, values))):
        return False
    return all(map(math.inf.__gt__, values)) and min(values, default=0) >= 0


def says(kind: object) -> str:
    if isinstance(kind, types.UnionType):
        return next(says(one) for one in get_args(kind))
    if get_origin(kind) is tuple:
        return f"a list, each entry {says(get_args(kind)[0])}"
    return SAYS.get(kind, "an object")  # type: ignore[call-overload, no-any-return]
