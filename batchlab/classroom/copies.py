"""Copy what a learner's function is given, and find what it changed.

    arguments  ->  copies to hand over; before, after  ->  where they differ, or nothing

Arrays, tensors, modules, optimizers, random generators and all nestings of lists, tuples, sets and
mappings are understood; torch is not imported. An object of another class is copied where that is
possible and never accused.

Words
    stream   what can be looped over once: a generator, an iterator; its items are copied one by one
    drawing  taking numbers from a random generator, which moves its state
"""

import copy
import dataclasses
import random
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from batchlab.classroom.showing import item, shown

__all__ = ["Change", "changed", "copied", "is_stream"]

ATOMS = {type(None), bool, int, float, complex, str, bytes, type, type(Ellipsis)}
LISTS = (list, tuple, deque)
SHORT = 8  # so many values are shown whole; of more, the first that differs
REORDERED = "a method such as .sort() or .reverse() works in place: sorted(...) makes a new list"
GROWN = "a method such as .append() or .extend(), or `+=`, adds to the list itself"
SHRUNK = "a method such as .pop() or .remove(), or `del`, takes from the list itself"
ASSIGNED = "an assignment such as x[i] = ... writes into the list itself"
KEY_ADDED = "setdefault(), update() or an assignment such as x[key] = ... adds to the dict itself"
KEY_RESIZED = (
    "x[key] = ... puts another list into the dict itself, or .append() or .pop() resizes it"
)
KEY_GONE = "a method such as .pop(), or `del`, takes from the dict itself"
KEY_ASSIGNED = "an assignment such as x[key] = ... writes into the dict itself"
MEMBERS = "a method such as .add() or .discard() changes the set itself"
FIELD = "an assignment such as x.name = ... writes into the object itself"
OVERWRITTEN = "x[i] = ..., `+=`, .sort() or .fill_() writes into the array itself"
METHODS = (REORDERED, GROWN, SHRUNK, MEMBERS)  # a method that does this returns None
TRAINED = "the weights were trained or overwritten in place"
SWITCHED = "eval() or train() was called and not taken back"


@dataclasses.dataclass(frozen=True)
class Change:
    """The first difference: where it is, what it is, and the thought that leads there."""

    where: str
    what: str
    thought: str = OVERWRITTEN

    def __str__(self) -> str:
        return f"{self.where} {self.what}"


def copied(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """A deep copy; what two arguments share, their copies share. A stream copies each item.

    >>> given = [[3, 5], np.array([2, 1])]
    >>> copied(given)[0].reverse(), given[0]
    (None, [3, 5])
    """
    try:
        return _copied(value, {} if memo is None else memo)
    except RecursionError:  # nested too deep to be copied
        return value


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in ATOMS:
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind is list:
        memo[id(value)] = result = []
        result += [_copied(item, memo) for item in value]
        return result
    if kind is dict:
        mapping: dict[Any, Any] = {}
        memo[id(value)] = mapping
        mapping.update((_copied(key, memo), _copied(item, memo)) for key, item in value.items())
        return mapping
    if kind is tuple:
        made: Any = tuple(_copied(item, memo) for item in value)
    elif _is(value, "torch", "Tensor") and (value.requires_grad and not value.is_leaf):
        made = value.detach().clone().requires_grad_()  # deepcopy refuses a tensor with a graph
    elif _is(value, "torch", "Generator"):
        made = kind(device=value.device)
        made.set_state(value.get_state())
    elif is_stream(value):
        made = (copied(item) for item in value)
    else:
        made = _by_deepcopy(value, memo)
    memo[id(value)] = made
    return made


def _by_deepcopy(value: Any, memo: dict[int, Any]) -> Any:
    """What `copy.deepcopy` makes of it; the thing itself where that fails (locks, files, ...)."""
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        return value


def is_stream(value: object) -> bool:
    """Whether it is one of Python's own iterators: their items come once, and in order."""
    kind = type(value)
    return issubclass(kind, Iterator) and kind.__module__ in {"builtins", "itertools"}


def changed(before: Any, after: Any, *, drawing: bool = True, where: str = "") -> Change | None:
    """The first place where `after` is no longer `before`; None where they agree. NaN equals NaN.

    `drawing=False` lets a random generator move on: drawing is what it was handed over for. What
    cannot be compared is taken as unchanged.

    >>> changed({"a": [1, 2]}, {"a": [1, 3]}).what
    'changed from list [1, 2] to list [1, 3]'
    """
    try:
        return _Comparison(drawing).of(before, after, where)
    except Exception:  # nested too deep, or a comparison that fails
        return None


class _Comparison:
    """Looks at each pair of things once, so that a list may hold itself."""

    def __init__(self, drawing: bool) -> None:
        self.drawing = drawing
        self.seen: set[tuple[int, int]] = set()

    def of(self, before: Any, after: Any, where: str) -> Change | None:
        kind = type(before)
        if is_stream(before):
            return None
        if kind is not type(after):
            return Change(where, _from_to(before, after), "")
        if kind not in ATOMS:
            if (id(before), id(after)) in self.seen:
                return None
            self.seen.add((id(before), id(after)))
        if issubclass(kind, Mapping):
            return self.of_mappings(before, after, where)
        if issubclass(kind, LISTS):
            return self.of_lists(before, after, where)
        if dataclasses.is_dataclass(kind):
            return self.of_fields(before, after, where)
        if _is(before, "torch.nn", "Module"):
            return _of_modules(before, after, where)
        if _is(before, "torch.optim", "Optimizer"):
            return self.of(before.state_dict(), after.state_dict(), f"{where}.state_dict()")
        if (states := _states(before, after)) is not None:
            moved = self.drawing and changed(*states)
            return Change(where, "moved on: numbers were drawn from it") if moved else None
        return _of_values(before, after, where)

    def of_mappings(self, before: Any, after: Any, where: str) -> Change | None:
        keys, new_keys = list(before), list(after)
        if _Comparison(self.drawing).of(keys, new_keys, "") is not None:
            thought = KEY_ADDED if len(new_keys) > len(keys) else KEY_GONE
            thought = thought if len(new_keys) != len(keys) else KEY_ASSIGNED
            return Change(
                where, f"changed its keys from {shown(keys)} to {shown(new_keys)}", thought
            )
        for key, new_key in zip(keys, new_keys, strict=True):
            inside = f"{where}[{item(key, 40)}]"
            if found := self.of(before[key], after[new_key], inside):
                resized = found.where == inside and found.thought in (GROWN, SHRUNK)
                thought = KEY_RESIZED if resized else KEY_ASSIGNED
                return _thought_of(found, thought, always=resized)
        return None

    def of_fields(self, before: Any, after: Any, where: str) -> Change | None:
        for name in (field.name for field in dataclasses.fields(before)):
            old, new = getattr(before, name, None), getattr(after, name, None)
            if found := self.of(old, new, f"{where}.{name}"):
                return _thought_of(found, FIELD)
        return None

    def of_lists(self, before: Any, after: Any, where: str) -> Change | None:
        whole = max(len(before), len(after)) <= SHORT
        if len(before) != len(after):
            counts = f"had {len(before)} items and has {len(after)}"
            thought = GROWN if len(after) > len(before) else SHRUNK
            return Change(where, _from_to(before, after) if whole else counts, thought)
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            if old is new and type(old) in ATOMS:
                continue
            if found := self.of(old, new, f"{where}[{number}]"):
                thought = REORDERED if _reordered(before, after) else ASSIGNED
                if whole and type(old) in ATOMS:
                    return Change(where, _from_to(before, after), thought)
                return _thought_of(found, thought, always=thought == REORDERED)
        return None


def _thought_of(found: Change, thought: str, always: bool = False) -> Change:
    """The change with a thought, unless it has one from further inside."""
    return dataclasses.replace(found, thought=thought) if always or not found.thought else found


def _reordered(before: Any, after: Any) -> bool:
    return sorted(map(repr, before)) == sorted(map(repr, after))


def _from_to(before: Any, after: Any) -> str:
    old, new = shown(before), shown(after)
    if old == new and type(before) is not type(after):  # 4 and 4.0 are written alike
        old, new = (f"{type(one).__name__} {one!r}" for one in (before, after))
    return f"changed from {old} to {new}"


def _of_modules(before: Any, after: Any, where: str) -> Change | None:
    """Weights, buffers, and the mode of every part; gradients may come and go."""
    for tensors in ("named_parameters", "named_buffers"):
        old, new = dict(getattr(before, tensors)()), dict(getattr(after, tensors)())
        for name in {**old, **new}:
            if name not in old or name not in new or not _same_tensor(old[name], new[name]):
                return Change(f"{where}.{name}", "holds other values than before", TRAINED)
    after_modes = {name: part.training for name, part in after.named_modules()}
    for name, part in before.named_modules():
        if (mode := after_modes.get(name)) is not part.training:
            came, is_now = (f"{'train' if one else 'eval'} mode" for one in (part.training, mode))
            inside = f"{where}.{name}" if name else where
            return Change(inside, f"came in {came} and is left in {is_now}", SWITCHED)
    return None


def _states(before: Any, after: Any) -> tuple[Any, Any] | None:
    """The states of two random generators; None for anything else."""
    if isinstance(before, np.random.Generator):
        return before.bit_generator.state, after.bit_generator.state
    if isinstance(before, np.random.RandomState):
        return before.get_state(legacy=False), after.get_state(legacy=False)
    if isinstance(before, random.Random):
        return before.getstate(), after.getstate()
    if _is(before, "torch", "Generator"):
        return before.get_state(), after.get_state()
    return None


def _of_values(before: Any, after: Any, where: str) -> Change | None:
    """Arrays, tensors, sets and single values."""
    if _is(before, "torch", "Tensor"):
        if _same_tensor(before, after):
            return None
        if before.numel() > SHORT and before.shape == after.shape and not before.is_sparse:
            old, new = (one.detach().cpu().flatten().tolist() for one in (before, after))
            inside = changed(old, new, where=where)
            return inside and dataclasses.replace(inside, thought=OVERWRITTEN)
        return Change(where, _from_to(before, after))
    if isinstance(before, np.ndarray):
        if _same_array(before, after):
            return None
        long = before.size > SHORT and before.shape == after.shape
        if long and (found := changed(before.ravel().tolist(), after.ravel().tolist())):
            return Change(f"{where}{found.where}", found.what)
        return Change(where, _from_to(before, after))
    kind = type(before)
    single = kind in ATOMS or issubclass(kind, set | frozenset | bytearray | np.generic)
    if not single or before == after or (before != before and after != after):
        return None
    return Change(where, _from_to(before, after), MEMBERS if issubclass(kind, set) else "")


def _same_array(before: np.ndarray, after: np.ndarray) -> bool:
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    if before.dtype.kind == "O":
        return changed(before.tolist(), after.tolist()) is None
    same = before == after
    return bool((same | ((before != before) & (after != after))).all())


def _same_tensor(before: Any, after: Any) -> bool:
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    if before.is_meta:  # it has no values
        return True
    try:
        return bool(((before == after) | ((before != before) & (after != after))).all())
    except (RuntimeError, NotImplementedError):  # sparse and other layouts
        return True


def _is(value: object, module: str, name: str) -> bool:
    """Whether `value` is of a class of torch, told by the class itself; torch is not imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and issubclass(type(value), kind)
