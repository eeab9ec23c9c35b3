"""What crosses between two processes, and what stands for the rest.

    a value  ->  plain data, or the number of an object that stays where it is

Words
    own      objects of this side that the other side knows by number
    strict   the side that reads what a stranger sends: it takes no names of modules
"""

import contextlib
import random
import sys
from typing import Any

import numpy as np

from batchlab.classroom.afar import Gone

__all__ = [
    "BY_NAME",
    "CLASSES",
    "DEEPEST",
    "LONGEST",
    "LONGEST_INT",
    "MOST_BYTES",
    "MOST_VALUES",
    "PLAIN",
    "TENSORS",
    "Connection",
    "Far",
    "Flood",
    "Garbage",
    "Offered",
    "Stand",
    "TooLarge",
    "drawer",
    "is_class_of",
    "named",
]

PLAIN = {bool, int, float, str, type(None)}
DEEPEST = 200
LONGEST_INT = 10**4000  # what JSON's reader takes without a complaint
LONGEST = 1 << 17  # bits of one whole number that a stranger may send
MOST_VALUES = 200_000  # of one message of a stranger; what stands twice counts twice
MOST_BYTES = 32 << 20  # of its arrays and tensors
CLASSES = {"builtins", "numpy", "torch", "fractions", "collections", "decimal"}
BY_NAME = CLASSES | {"math", "itertools", "functools", "operator", "batchlab"}
TENSORS = frozenset({"float64", "float32", "float16", "bfloat16", "complex64", "complex128"})
TENSORS |= frozenset({"int64", "int32", "int16", "int8", "uint8", "bool"})


class Garbage(ValueError):
    """What arrived is no message: the sender is no longer listened to."""


class TooLarge(Exception):
    """A value that no check would look through: the side that sends it says so."""

    def __init__(self) -> None:
        super().__init__(
            f"the value is too large to be checked: over {MOST_VALUES:,} items, "
            f"{MOST_BYTES >> 20} MiB or {LONGEST * 3 // 10:,} digits, or a list that holds itself"
        )


class Flood(Gone):
    """A stranger sends more than one message may hold."""


class Stand:
    """What a stand-in is made from: the number that the other side knows it by, and its looks."""

    def __init__(self, ref: int, kind: str, name: str, text: str = "") -> None:
        self.ref, self.kind, self.name, self.text = ref, kind, name, text


class Connection:
    """What both directions share: who reads a stranger, and the objects handed over by number."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.own: list[Any] = []
        self.pretended = False  # something arrived that only claims to be a number
        self._numbers: dict[int, int] = {}

    def register(self, value: Any) -> int:
        """The number of an own object; the same one again for the same object."""
        found = self._numbers.get(id(value))
        if found is None:
            found = self._numbers[id(value)] = len(self.own)
            self.own.append(value)
        return found


class Far:
    """A stand-in: it is packed as the number that its own side knows it by."""

    stand: Stand
    codec: Connection

    def packed_back(self, codec: Connection) -> int | None:
        """That number, on the connection that it came by."""
        return self.stand.ref if codec is self.codec else None


class Offered:
    """An object of the trusted side, by its public methods: what a maker of readers returns."""

    def __init__(self, methods: dict[str, Any]) -> None:
        self.__dict__.update(methods)

    def __iter__(self) -> Any:
        if "__iter__" not in self.__dict__:
            raise TypeError("the object is not iterable")
        return self.__dict__["__iter__"]()


def named(module: str, name: str, *, load: bool = False) -> Any:
    """What a module calls by a name, None if nothing; `load` imports the module first."""
    if load and module not in sys.modules:
        with contextlib.suppress(ImportError):
            __import__(module)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def is_class_of(found: Any, packages: set[str]) -> bool:
    """Whether this is a class that one of these packages defines, and not one that it imports."""
    return isinstance(found, type) and found.__module__.partition(".")[0] in packages


def drawer(kind: Any, state: Any) -> Any:
    """A random generator in a state; Garbage where there is no such kind."""
    if kind == "random":
        made = random.Random()
        made.setstate(state)
        return made
    if kind == "RandomState":
        old = np.random.RandomState()
        old.set_state(state)
        return old
    if kind == "torch":
        import torch

        return torch.Generator().set_state(state)
    if kind not in {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}:
        raise Garbage(f"a generator {str(kind)[:20]!r}")
    bits = getattr(np.random, kind)()
    bits.state = state
    return np.random.Generator(bits)
