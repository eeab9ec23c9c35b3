"""Lesson 10: a function of the page as another process would run it.

    a function, the number of a process  ->  its copy, without what earlier calls have left behind

What differs from process to process: the hash of texts, the state of the generators that belong to
everybody, and all that a program keeps in memory.

Words
    alone   without lists, dictionaries, caches and generators that others share
"""

import builtins
import copy
import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np
import torch

__all__ = ["alone", "process"]

Function = Callable[..., Any]
KEPT = (dict, list, set, random.Random, np.random.Generator, np.random.RandomState)


def alone(function: Function) -> Function:
    """The function with a copy of every list, dictionary, set and generator that it can reach.

    >>> seen = []
    >>> def count():
    ...     seen.append(1)
    ...     return len(seen)
    >>> alone(count)(), alone(count)(), len(seen)
    (1, 1, 0)
    """
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        return function
    around = dict(function.__globals__)
    for name in _reached(function):
        around[name] = _copied(function.__globals__[name], function, around)
    return _bound(function, around)


def _reached(function: FunctionType) -> set[str]:
    """Names of the page that the function, or a function that it calls, reads."""
    page, reached, ahead = function.__globals__, set[str](), [function]
    while ahead:
        one = ahead.pop()
        codes = [one.__code__]
        while codes:
            code = codes.pop()
            codes += [inner for inner in code.co_consts if inspect.iscode(inner)]
            for name in set(code.co_names) & page.keys() - reached:
                reached.add(name)
                other = inspect.unwrap(page[name]) if callable(page[name]) else None
                if isinstance(other, FunctionType) and other.__globals__ is page:
                    ahead.append(other)
    return reached


def _copied(value: Any, function: FunctionType, around: dict[str, Any]) -> Any:
    if isinstance(value, KEPT):
        return copy.deepcopy(value)
    inner = inspect.unwrap(value) if callable(value) else value
    same = isinstance(inner, FunctionType) and inner.__globals__ is function.__globals__
    return _bound(inner, around) if same else value


def _bound(function: FunctionType, around: dict[str, Any]) -> FunctionType:
    defaults = copy.deepcopy(function.__defaults__)
    code, cells = function.__code__, function.__closure__
    made = FunctionType(code, around, function.__name__, defaults, cells)
    made.__kwdefaults__ = copy.deepcopy(function.__kwdefaults__)
    return made


@contextmanager
def process(number: int) -> Iterator[None]:
    """Inside, texts hash as in process `number`, and everybody's generators begin there.

    >>> with process(1):
    ...     one = hash("a"), hash((1, 2))
    >>> with process(2):
    ...     hash("a") == one[0], hash((1, 2)) == one[1]
    (False, True)
    """
    numpy_before = np.random.get_state()  # noqa: NPY002
    before = random.getstate(), torch.get_rng_state()
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    torch.manual_seed(number)
    usual = builtins.hash

    def other(value: Any) -> int:
        return usual((number, usual(value))) if _has_text(value) else usual(value)

    try:
        with mock.patch.object(builtins, "hash", other):
            yield
    finally:
        random.setstate(before[0])
        np.random.set_state(numpy_before)  # noqa: NPY002
        torch.set_rng_state(before[1])


def _has_text(value: Any) -> bool:
    inside = isinstance(value, (tuple, frozenset)) and any(map(_has_text, value))
    return isinstance(value, (str, bytes)) or inside
