"""A value as a tree for JSON and raw buffers.

    lists, mappings, arrays, tensors, generators, functions  ->  tagged lists, bytes

What two lists share is shared again. A stranger's value has an end, counted as a check reads it:
what is shared counts as often as it stands there (`TooLarge`). What is no plain data is handed over
as a number.

Words
    tag      first item of a list in the tree; it says how to read the rest
    frozen   packed only to be compared with later: nothing is handed over
"""

import base64
import collections
import contextlib
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from batchlab.classroom.showing import item
from batchlab.grading._values import (
    BY_NAME,
    CLASSES,
    DEEPEST,
    LONGEST,
    LONGEST_INT,
    MOST_BYTES,
    MOST_VALUES,
    PLAIN,
    Connection,
    Far,
    TooLarge,
    named,
)

__all__ = ["Packing"]

MOST = 8_000_000  # items of one message of our own
OURS = "batchlab.exercises."
PRETENDS = (int, float, complex, str, np.ndarray, np.generic)
CONTAINERS = {list, dict, set, collections.deque}


class Packing:
    """One value on its way out: `tree` gives it, and fills `buffers`."""

    def __init__(self, codec: Connection, frozen: bool) -> None:
        self.codec, self.frozen = codec, frozen
        self.buffers: list[bytes] = []
        self.size = 0
        self.seen: dict[int, int] = {}
        self.costs: dict[int, int] = {}  # by number of `seen`: values in it, once it is whole
        self.kept: list[Any] = []
        self.left = MOST if codec.strict else MOST_VALUES
        self.refuses = not (codec.strict or frozen)

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if _short(value):
            return value
        if kind is int:
            return self.whole(value)
        self.spend(1)
        if depth > DEEPEST or self.left < 0:
            return self.far("x", value)
        if (number := self.seen.get(id(value))) is not None:
            return self.again(number)
        before, number = self.left, len(self.seen)
        found = self.fresh(value, kind, depth)
        self.costs.setdefault(number, before - self.left)
        return found

    def whole(self, value: int) -> Any:
        if value.bit_length() > LONGEST and not self.codec.strict:
            if self.refuses:
                raise TooLarge
            return ["=", id(value)]
        return ["I", hex(value)]

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0 and self.refuses:
            raise TooLarge

    def again(self, number: int) -> Any:
        """What was packed before; a check reads all of it once more."""
        if number not in self.costs and self.refuses:
            raise TooLarge  # it holds itself
        self.spend(self.costs.get(number, 0))
        return ["r", number]

    def fresh(self, value: Any, kind: type, depth: int) -> Any:
        """A value that stands here for the first time."""
        torch: Any = sys.modules.get("torch")
        tensor = torch is not None and kind in (torch.Tensor, torch.nn.Parameter)
        if tensor and (value.layout != torch.strided or value.device.type != "cpu"):
            return self.far("x", value)
        if tensor or kind in CONTAINERS or (kind is np.ndarray and value.dtype.kind != "V"):
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)
        if tensor:
            return self.tensor(value)
        if (pack := PACKERS.get(kind)) is not None:
            return pack(self, value, depth)
        if isinstance(value, np.generic) and kind.__module__ == "numpy":
            return ["n", value.dtype.str, value.tobytes().hex()]
        return self.other(value, kind, depth)

    def items(self, tag: str, value: Any, depth: int) -> Any:
        if len(value) > self.left:
            self.spend(len(value))
            self.seen.pop(id(value), None)  # the other side keeps no stand-in for later
            return self.far("x", value)
        if tag == "l" and _all_short(value):
            self.left -= len(value)
            return ["L", list(value)]
        return [tag, *[self.tree(one, depth + 1) for one in value]]

    def mapping(self, value: Any, depth: int) -> Any:
        pairs = [[self.tree(k, depth + 1), self.tree(v, depth + 1)] for k, v in value.items()]
        return ["d", *pairs]

    def array(self, value: np.ndarray, depth: int) -> Any:
        self.measured(value.shape, value.nbytes)
        if value.dtype.kind == "O":
            return ["o", list(value.shape), self.tree(value.ravel().tolist(), depth + 1)]
        if value.dtype.kind == "V":
            return self.far("x", value)
        return ["a", value.dtype.str, list(value.shape), self.buffer(value.tobytes())]

    def tensor(self, value: Any) -> Any:
        torch: Any = sys.modules["torch"]
        self.measured(value.shape, value.numel() * value.element_size())
        flat = value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        raw = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        name = str(value.dtype).removeprefix("torch.")
        kind = "p" if type(value) is torch.nn.Parameter else "t"
        return [kind, name, list(value.shape), self.buffer(raw), bool(value.requires_grad)]

    def measured(self, shape: Sequence[int], size: int) -> None:
        """Refuse an array that no check would look through, before it is copied."""
        rows = math.prod(filter(None, shape))  # `tolist` makes them even if they are empty
        if self.refuses and (self.size + size > MOST_BYTES or rows > MOST_BYTES // 8):
            raise TooLarge

    def buffer(self, raw: bytes) -> list[int]:
        self.buffers.append(raw)
        self.size += len(raw)
        return [self.size - len(raw), len(raw)]

    def other(self, value: Any, kind: type, depth: int) -> Any:
        """What has no tag of its own: by its class, else as a number."""
        with contextlib.suppress(Exception):
            if isinstance(value, Far) and (number := value.packed_back(self.codec)) is not None:
                return ["F", number]
            if (named := self.by_name(value)) is not None:
                return named
            if (state := _drawing(value)) is not None:
                return ["R", state[0], self.tree(state[1], depth + 1)]
            if hasattr(kind, "__next__"):
                return self.far("s", value)
            if issubclass(kind, Mapping):
                return [
                    "m",
                    kind.__name__,
                    item(value, 80),
                    self.tree(dict(value.items()), depth + 1),
                ]
            if issubclass(kind, Sequence) and not issubclass(kind, str | bytes | memoryview):
                text = item(value, 80)
                fixed, inside = issubclass(kind, tuple), self.tree(list(value), depth + 1)
                return ["q", kind.__name__, text, fixed, inside]
            if self.codec.strict and kind.__module__.startswith(OURS):
                return self.methods(value, depth)
            if callable(value):
                kinds = "c" if isinstance(value, type) else "f"
                bound = getattr(value, "__self__", None)
                return self.far("b" if kinds == "f" and _is_object(bound) else kinds, value)
        return self.far("x", value)

    def span(self, value: range) -> Any:
        self.spend((value.stop - value.start) // value.step if value else 0)
        return ["g", value.start, value.stop, value.step]

    def methods(self, value: Any, depth: int) -> Any:
        """An object that an exercise made: its public methods can be called, and nothing else."""
        if self.frozen:
            return ["=", id(value)]
        names = [n for n in dir(value) if n == "__iter__" or not n.startswith("_")]
        found = [(name, getattr(value, name)) for name in names]
        return ["O", *([name, self.tree(one, depth + 1)] for name, one in found if callable(one))]

    def by_name(self, value: Any) -> Any:
        """A class or function that both sides can import; only the trusted side sends functions."""
        kind = type(value)
        if kind.__module__ == "torch" and kind.__name__ in {"dtype", "device"}:
            return ["y", kind.__name__, str(value).removeprefix("torch.")]
        if isinstance(value, np.dtype):
            return ["y", "np", value.str]
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if type(module) is not str or type(name) is not str or not callable(value):
            return None
        allowed = CLASSES if self.codec.strict is False else BY_NAME
        if module.partition(".")[0] not in allowed or not (
            isinstance(value, type) or self.codec.strict
        ):
            return None
        if f"{module}.".startswith(OURS):  # beside an answer stands no exercise: see `_driver`
            return None
        return ["N", module, name] if named(module, name) is value else None

    def far(self, kind: str, value: Any) -> Any:
        if self.frozen:
            return ["=", id(value)]
        name = getattr(value, "__name__", None) if kind in "fcb" else type(value).__name__
        name = name if type(name) is str else type(value).__name__
        pretends = "!" if kind == "x" and isinstance(value, (*PRETENDS, *_tensor())) else ""
        text = item(value, 80) if kind in "xs" else ""
        return ["f", self.codec.register(value), kind + pretends, name[:80], text]


def _short(value: Any) -> bool:
    """Whether JSON holds it as it is."""
    kind = type(value)
    return kind in PLAIN and (kind is not int or abs(value) < LONGEST_INT)


def _all_short(values: Any) -> bool:
    """Whether that holds for every value of a list; told from the types alone where that can be."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return bool(max(values) < LONGEST_INT and min(values) > -LONGEST_INT)
    return kinds <= PLAIN and (int not in kinds or all(map(_short, values)))


def _is_object(bound: Any) -> bool:
    return bound is not None and not isinstance(bound, type(sys))


def _tensor() -> tuple[type, ...]:
    torch = sys.modules.get("torch")
    return () if torch is None else (torch.Tensor,)


def _drawing(value: Any) -> tuple[str, Any] | None:
    """Kind and state of a random generator; None for anything else."""
    if type(value) is np.random.Generator:
        return type(value.bit_generator).__name__, value.bit_generator.state
    if type(value) is np.random.RandomState:
        return "RandomState", value.get_state(legacy=False)
    if type(value) is random.Random:
        return "random", value.getstate()
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Generator:
        return "torch", value.get_state()
    return None


PACKERS: dict[type, Callable[[Packing, Any, int], Any]] = {
    list: lambda to, v, d: to.items("l", v, d),
    tuple: lambda to, v, d: to.items("u", v, d),
    set: lambda to, v, d: to.items("S", v, d),
    frozenset: lambda to, v, d: to.items("Z", v, d),
    collections.deque: lambda to, v, d: to.items("D", v, d),
    dict: lambda to, v, d: to.mapping(v, d),
    np.ndarray: lambda to, v, d: to.array(v, d),
    complex: lambda to, v, d: ["c", v.real, v.imag],
    bytes: lambda to, v, d: ["b", base64.b64encode(v).decode()],
    range: lambda to, v, d: to.span(v),
    slice: lambda to, v, d: ["/", *(to.tree(one, d + 1) for one in (v.start, v.stop, v.step))],
    Fraction: lambda to, v, d: ["%", to.tree(v.numerator, d), to.tree(v.denominator, d)],
    type(Ellipsis): lambda to, v, d: ["..."],
}
