"""Find what a learner's function remembers from one call to the next.

    a function, its inputs, what it returned  ->  what a second call found changed, or nothing

The same inputs must give the same result again, and a result that was handed out must stay as it is
when other inputs follow. Only inputs that are data can be handed over twice: a stream is used up, a
model was trained, and what is called back may count its calls.
"""

import inspect
import numbers
import random
import sys
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from batchlab.classroom.afar import lives_afar
from batchlab.classroom.copies import Change, changed, copied

__all__ = ["HANDED_OUT", "REMEMBERS", "alike", "handed_out_again", "keep", "repeatable"]

REMEMBERS = (
    "the function remembers earlier calls: a default value, a name outside it or a buffer keeps "
    "what the first call made"
)
HANDED_OUT = "the same list, array or tensor is handed out at every call: make a new one each time"
DATA = (type(None), bool, str, bytes, numbers.Number, random.Random, np.generic)
DRAWS = (np.random.Generator, np.random.RandomState)
_kept: list[tuple[Any, Any, Any]] = []  # the last function, what it returned, a copy of that


def repeatable(answer: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Whether a second call with copies of these inputs can be compared with the first.

    >>> repeatable(sum, ([1, 2],), {}), repeatable(sum, (iter([1, 2]),), {})
    (True, False)
    """
    if lives_afar(answer):
        return bool(
            answer.repeats and (arguments or options) and _is_data((arguments, dict(options)), 40)
        )
    owner = getattr(answer, "__self__", None)
    if isinstance(answer, type) or not (owner is None or inspect.ismodule(owner)):
        return False  # a class, or a method of an object with a state
    return bool(arguments or options) and _is_data((arguments, dict(options)), 40)


def keep(answer: Any, result: Any) -> Any:
    """Remember what a call returned; a copy of it."""
    _kept[:] = [(answer, result, copied(result))]
    return _kept[0][2]


def handed_out_again(answer: Any) -> Change | None:
    """What has become of the result before this one, if the same function returned it."""
    for before, result, copy in _kept:
        if before is answer:
            now = answer.now(result) if lives_afar(answer) else result
            return changed(copy, now, where="it")
    return None


def alike(first: Any, second: Any) -> bool:
    """Whether two results are equal, floats to a millionth of the largest: rounding may differ.

    Libraries add in another order where memory lies otherwise, so equal calls differ in last bits.

    >>> alike([0.1 + 0.2, {"a": 1}], [0.3, {"a": 1}]), alike([1.0, 2.0], [1.0, 2.1]), alike(1, 2)
    (True, False, False)
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        first, second = (one.detach().double().cpu().numpy() for one in (first, second))
    if type(first) is not type(second):
        return False
    if isinstance(first, Mapping):
        inside = zip(first, second, strict=False)
        same = len(first) == len(second) and all(a == b for a, b in inside)
        return same and all(alike(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)) and first and {*map(type, [*first, *second])} == {float}:
        first, second = np.array(first), np.array(second)
    if isinstance(first, (list, tuple, deque)):
        inside = zip(first, second, strict=False)
        return len(first) == len(second) and all(alike(a, b) for a, b in inside)
    if isinstance(first, (float, np.floating, np.ndarray)) and np.asarray(first).dtype.kind == "f":
        one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        if one.shape != other.shape:
            return False
        size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
        return bool(np.allclose(one, other, rtol=1e-6, atol=1e-6 * size, equal_nan=True))
    return changed(first, second) is None


def _is_data(value: Any, depth: int) -> bool:
    kind = type(value)
    if isinstance(value, DATA + DRAWS):
        return True
    if depth == 0:
        return False
    if kind is dict:
        return all(_is_data(item, depth - 1) for item in value.values())
    if kind in (list, tuple, set, frozenset, deque, range):
        return all(_is_data(item, depth - 1) for item in value)
    torch: Any = sys.modules.get("torch")
    if torch is not None and kind in (torch.Tensor, torch.nn.Parameter):
        return True
    return kind is np.ndarray and value.dtype.kind in "biufcU"
