"""A tree and its buffers as the value that was sent: nothing that arrives can run.

    tagged lists, bytes  ->  values of plain types, or Garbage

Types and shapes are looked at before memory is taken for them, and a stranger's value has an end:
what is shared counts as often as it stands there (`Flood`).
"""

import base64
import collections
import functools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from batchlab.grading._values import (
    BY_NAME,
    CLASSES,
    DEEPEST,
    LONGEST,
    MOST_BYTES,
    MOST_VALUES,
    PLAIN,
    TENSORS,
    Connection,
    Flood,
    Garbage,
    Offered,
    Stand,
    drawer,
    is_class_of,
    named,
)

__all__ = ["Unpacking"]

ALIKE = 200  # keys of one hash
DTYPE = re.compile(r"[<>|=][biufcSUMmV]\d{1,9}(\[[a-zA-Z0-9]{1,8}\])?")


class Unpacking:
    """One message on its way in: `value` reads a tree."""

    def __init__(
        self, codec: Connection, stand_in: Callable[[Stand], Any], blob: memoryview
    ) -> None:
        self.codec, self.make, self.blob = codec, stand_in, blob
        self.seen: list[Any] = []
        self.costs: dict[int, int] = {}  # by place in `seen`: values in it, once it is whole
        self.left = MOST_VALUES if codec.strict else 1 << 60
        self.room = MOST_BYTES if codec.strict else 1 << 60

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise Flood("more values than a check looks through")

    def value(self, tree: Any, depth: int) -> Any:
        self.spend(1)
        if type(tree) is not list:
            if type(tree) not in PLAIN:
                raise Garbage("an object where a value is needed")
            return tree
        if depth > DEEPEST + 4 or not tree or type(tree[0]) is not str:
            raise Garbage("no tag, or nested too deep")
        read = READERS.get(tree[0])
        if read is None:
            raise Garbage(f"unknown tag {tree[0][:8]!r}")
        before, place = self.left, len(self.seen)
        found = read(self, tree, depth)
        self.costs.setdefault(place, before - self.left)
        return found

    def again(self, tree: Any, depth: int) -> Any:
        """What stood there before; a check reads all of it once more."""
        found = self.seen[tree[1]]
        if self.codec.strict and tree[1] not in self.costs:
            raise Flood("a list that holds itself")
        self.spend(self.costs.get(tree[1], 0))
        return found

    def keep(self, made: Any) -> Any:
        self.seen.append(made)
        return made

    def spread(self, keys: list[Any]) -> list[Any]:
        """Keys, or members of a set; many of one hash would keep every look-up busy."""
        many = self.codec.strict and len(keys) > ALIKE
        if many and max(collections.Counter(map(hash, keys)).values()) > ALIKE:
            raise Flood("many keys of one hash")
        return keys

    def members(self, tree: Any, depth: int) -> list[Any]:
        return self.spread([self.value(one, depth + 1) for one in tree[1:]])

    def set(self, tree: Any, depth: int) -> Any:
        made: Any = self.keep(set())
        made.update(self.members(tree, depth))
        return made

    def filled(self, made: Any, method: str, tree: Any, depth: int) -> Any:
        add = getattr(self.keep(made), method)
        for one in tree[1:]:
            add(self.value(one, depth + 1))
        return made

    def plain_list(self, tree: Any, depth: int) -> Any:
        if type(tree[1]) is not list or any(type(one) not in PLAIN for one in tree[1]):
            raise Garbage("a list of plain values holds others")
        self.spend(len(tree[1]))
        return self.keep(tree[1])

    def dictionary(self, tree: Any, depth: int) -> Any:
        made = self.keep({})
        pairs = [(self.value(k, depth + 1), self.value(v, depth + 1)) for k, v in tree[1:]]
        self.spread([key for key, _ in pairs])
        made.update(pairs)
        return made

    def raw(self, place: Any) -> memoryview:
        start, size = place
        if type(start) is not int or type(size) is not int or start < 0 or size < 0:
            raise Garbage("a buffer lies nowhere")
        if start + size > len(self.blob):
            raise Garbage("a buffer ends behind the message")
        self.room -= size
        if self.room < 0:
            raise Flood("more bytes than a check looks through")
        return self.blob[start : start + size]

    def array(self, tree: Any, depth: int) -> Any:
        _, kind, shape, place = tree
        dtype = _dtype(kind)
        raw = self.raw(place)
        if _size(shape) * dtype.itemsize != len(raw):
            raise Garbage("an array of another size than its shape says")
        self.rows(shape)
        return self.keep(np.frombuffer(bytearray(raw), dtype=dtype).reshape(shape))

    def rows(self, shape: list[int]) -> None:
        """Refuse rows without number that hold nothing."""
        if self.codec.strict and math.prod(filter(None, shape)) > MOST_BYTES // 8:
            raise Flood("more rows than a check looks through")

    def objects(self, tree: Any, depth: int) -> Any:
        self.spend(_size(tree[1]))
        made = np.empty(_size(tree[1]), dtype=object)
        self.keep(made)
        inside = self.value(tree[2], depth + 1)
        if type(inside) is not list or len(inside) != made.size:
            raise Garbage("an array of another size than its shape says")
        made[:] = inside
        made.shape = tree[1]
        return made

    def whole(self, tree: Any, depth: int) -> Any:
        if self.codec.strict and len(tree[1]) > LONGEST // 4 + 4:
            raise Flood("a whole number of very many digits")
        return int(tree[1], 16)

    def span(self, tree: Any, depth: int) -> Any:
        found = range(tree[1], tree[2], tree[3])
        self.spend((tree[2] - tree[1]) // tree[3] if found else 0)
        return found

    def scalar(self, tree: Any, depth: int) -> Any:
        raw, dtype = bytes.fromhex(tree[2]), _dtype(tree[1])
        if len(raw) != dtype.itemsize:
            raise Garbage("a number of another size than its type says")
        return np.frombuffer(raw, dtype=dtype)[0]

    def tensor(self, tree: Any, depth: int) -> Any:
        import torch

        kind, name, shape, place, grad = tree
        if name not in TENSORS:
            raise Garbage(f"a tensor of {name!r}")
        dtype, raw = getattr(torch, name), self.raw(place)
        if _size(shape) * dtype.itemsize != len(raw):
            raise Garbage("a tensor of another size than its shape says")
        self.rows(shape)
        made = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        made = made.reshape(shape)
        if kind == "p":
            return self.keep(torch.nn.Parameter(made, requires_grad=bool(grad)))
        return self.keep(made.requires_grad_() if grad else made)

    def stand_in(self, tree: Any, depth: int) -> Any:
        _, ref, kind, name, text = tree
        if type(ref) is not int or not all(type(one) is str for one in (kind, name, text)):
            raise Garbage("a stand-in without a number or a name")
        self.codec.pretended |= kind.endswith("!")
        return self.make(Stand(ref, kind[:1], name[:80], text[:80]))

    def own(self, tree: Any, depth: int) -> Any:
        if type(tree[1]) is not int or not 0 <= tree[1] < len(self.codec.own):
            raise Garbage("a number that was never handed out")
        return self.codec.own[tree[1]]

    def offered(self, tree: Any, depth: int) -> Any:
        if self.codec.strict:
            raise Garbage("an object with methods")
        return Offered({name: self.value(one, depth + 1) for name, one in tree[1:]})

    def named(self, tree: Any, depth: int) -> Any:
        _, module, name = tree
        root = module.partition(".")[0]
        if root not in (CLASSES if self.codec.strict else BY_NAME):
            raise Garbage(f"{module} is not known here")
        found = named(module, name, load=not self.codec.strict)
        if found is None or (self.codec.strict and not is_class_of(found, CLASSES)):
            raise Garbage(f"{module}.{name} is not known here")
        return found

    def typed(self, tree: Any, depth: int) -> Any:
        _, kind, name = tree
        if kind == "np":
            return _dtype(name)
        import torch

        if kind == "dtype" and name in TENSORS:
            return getattr(torch, name)
        if kind == "device" and name == "cpu":
            return torch.device("cpu")
        raise Garbage(f"{kind} {name!r}")

    def generator(self, tree: Any, depth: int) -> Any:
        return drawer(tree[1], self.value(tree[2], depth + 1))

    def sequence(self, tree: Any, depth: int) -> Any:
        _, name, text, fixed, inside = tree
        return self.shaped(name, text, tuple if fixed else collections.UserList, inside, depth)

    def map(self, tree: Any, depth: int) -> Any:
        _, name, text, inside = tree
        return self.shaped(name, text, collections.UserDict, inside, depth)

    def shaped(self, name: Any, text: Any, base: type, inside: Any, depth: int) -> Any:
        """Something with the name and the looks of a class that lives elsewhere."""
        if type(name) is not str or type(text) is not str:
            raise Garbage("a class without a name")
        made = _class(name[:80], base)(self.value(inside, depth + 1))
        made.looks = text[:80]
        return made


@functools.lru_cache(256)
def _class(name: str, base: type) -> Any:
    """The same class for the same name: two results of one function are of one type."""
    return type(name, (base,), {"__repr__": lambda self: self.looks})


def _dtype(text: Any) -> np.dtype:
    if type(text) is not str or not DTYPE.fullmatch(text):
        raise Garbage(f"numbers of {str(text)[:20]!r}")
    return np.dtype(text)


def _size(shape: Any) -> int:
    size = 1
    if type(shape) is not list or len(shape) > 32:
        raise Garbage("no shape")
    for one in shape:
        if type(one) is not int or not 0 <= one <= 2**40:
            raise Garbage("no shape")
        size *= one
    return size


READERS: dict[str, Callable[[Unpacking, Any, int], Any]] = {
    "L": Unpacking.plain_list,
    "l": lambda of, t, d: of.filled([], "append", t, d),
    "u": lambda of, t, d: tuple(of.value(one, d + 1) for one in t[1:]),
    "S": Unpacking.set,
    "Z": lambda of, t, d: frozenset(of.members(t, d)),
    "D": lambda of, t, d: of.filled(collections.deque(), "append", t, d),
    "d": Unpacking.dictionary,
    "r": Unpacking.again,
    "a": Unpacking.array,
    "o": Unpacking.objects,
    "n": Unpacking.scalar,
    "t": Unpacking.tensor,
    "p": Unpacking.tensor,
    "f": Unpacking.stand_in,
    "F": Unpacking.own,
    "N": Unpacking.named,
    "O": Unpacking.offered,
    "y": Unpacking.typed,
    "R": Unpacking.generator,
    "q": Unpacking.sequence,
    "m": Unpacking.map,
    "I": Unpacking.whole,
    "c": lambda of, t, d: complex(t[1], t[2]),
    "b": lambda of, t, d: base64.b64decode(t[1]),
    "g": Unpacking.span,
    "/": lambda of, t, d: slice(*(of.value(one, d + 1) for one in t[1:])),
    "%": lambda of, t, d: Fraction(of.value(t[1], d + 1), of.value(t[2], d + 1)),
    "...": lambda of, t, d: ...,
}
