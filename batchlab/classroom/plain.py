"""Make plain data of what a learner returned, or say what it is instead.

    number, NumPy scalar, array, tensor, list  ->  int, float, ndarray; else NotPlain

Only plain types are judged. A subclass of float can claim to equal everything, so the type
is looked at before the value is asked, and a type is known by itself and never by its name. A
sequence or a mapping of any class is read item by item, and its items are judged.

Words
    plain      None, bool, int, float, Fraction, str, sequences, mappings, sets, NumPy, CPU tensors
    a thought  what someone who returned this value probably had in mind
"""

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from batchlab.classroom.showing import figures, shown, worded

__all__ = [
    "NotPlain",
    "array",
    "is_false",
    "is_tensor",
    "nested",
    "not_finite",
    "number",
    "shown",
    "text",
    "usual_reason",
]

SCALARS = frozenset(np.sctypeDict.values())
DEEPEST, MOST = 40, 5_000_000  # nested lists are judged up to this depth and this many values

REASONS = (
    (NameError, "", "a typo, or a cell above that was not run"),
    (TypeError, "argument", "it is called with other arguments than its signature takes"),
    (TypeError, "unhashable type: 'slice'", "only what has places can be sliced: loop over it"),
    (TypeError, "unhashable", "a list is no key: make it a tuple"),
    (ZeroDivisionError, "", "a count that may be zero stands below the line"),
    (IndexError, "", "a place past the end: lists are empty, short, or count from 0"),
    (KeyError, "", "a key that the mapping does not have here"),
    (AttributeError, "'list'", "the input is a plain list here: np.asarray makes an array of it"),
    (AttributeError, "'NoneType'", "a method that works in place returns None"),
    (ValueError, "truth value", "an array has no single truth value: .any() or .all() gives one"),
    (ValueError, "empty sequence", "there may be nothing to choose from: ask for it first"),
    (ValueError, "zero-size array", "there may be nothing to choose from: ask for it first"),
    (RecursionError, "", "the function calls itself without an end"),
    (RuntimeError, "must match the existing size", "what is written is not as long as its place"),
    (OverflowError, "too large to convert to float", "floats end at about 1e308: divide integers"),
    (RuntimeError, "does not require grad", "the loss was cut from its graph: .item(), detach()"),
    (RuntimeError, "backward through the graph", "one graph serves one backward()"),
)


class NotPlain(Exception):
    """`got` is what to show, `thought` the likely reason."""

    def __init__(self, got: str, thought: str = "") -> None:
        super().__init__(got)
        self.got, self.thought = got, thought


def is_tensor(value: object) -> bool:
    """A torch tensor or parameter and no subclass of one; torch is not imported."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter)


def is_false(value: object) -> bool:
    """Whether a test returned False: Python's, NumPy's or a tensor's, but not None or 0."""
    if is_tensor(value) or type(value) is np.ndarray:
        try:
            value = _of(value).item()
        except (NotPlain, ValueError):  # several values, or a type that NumPy does not know
            return False
    return type(value) in (bool, np.bool_) and not value


def number(value: object) -> int | float:
    """An int or a float, from Python, NumPy, a fraction or a tensor without dimensions.

    >>> number(np.float32(0.5)), number(np.array(7)), number(Fraction(1, 4))
    (0.5, 7, 0.25)
    """
    given = value
    if is_tensor(value):
        value = _of(value)
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    if type(value) in SCALARS:
        value = _of_scalar(value)
    if type(value) is Fraction:
        value = _of_fraction(value)
    if type(value) is int or type(value) is float:
        return value
    thoughts: dict[Any, str] = {
        type(None): "the function ends without `return`",
        bool: "a comparison was returned where a number was asked",
        str: "text was returned where a number was asked",
    }
    thought = thoughts.get(type(value), "")
    if type(value) in (list, tuple, np.ndarray):
        thought = "several values where one number was asked"
    elif _can_be_called(value):
        thought = "the brackets of the call are missing"
    raise NotPlain(f"{shown(given)}; a number is needed", thought)


def not_finite(value: int | float) -> str:
    """The usual reason of a value that is no finite number; empty for a finite one."""
    if type(value) is int:
        return ""
    if math.isnan(value):
        return "zero divided by zero, infinity by infinity, or the mean of nothing"
    if math.isinf(value):
        return "a division by zero"
    return ""


def usual_reason(error: BaseException) -> str:
    """What usually leads to an exception; empty for one that speaks for itself."""
    said = worded(error)
    fits = (why for kind, words, why in REASONS if isinstance(error, kind) and words in said)
    return next(fits, "")


def array(value: object) -> np.ndarray:
    """A numeric array from a list, a tuple, an array or a tensor.

    >>> array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if is_tensor(value):
        found = _of(value)
    elif type(value) is np.ndarray:
        found = value
    elif _is_sequence(type(value)) or type(value) in (int, float, Fraction, *SCALARS):
        try:
            found = np.asarray(nested(value))
        except ValueError:
            raise NotPlain(
                f"{shown(value)}; rows of one length are needed", "the rows differ in length"
            ) from None
    else:
        thought = "the function ends without `return`" if value is None else _stream(value)
        raise NotPlain(f"{shown(value)}; an array or a list is needed", thought)
    if found.dtype.kind not in "biuf":
        raise NotPlain(f"an array of {found.dtype}; numbers are needed")
    return found


def nested(value: object) -> Any:
    """Sequences, sets, arrays, tensors as lists; mappings as dicts; scalars as Python's numbers.

    >>> nested([np.array([1, 2]), (3,)])
    [[1, 2], [3]]
    """
    return _nested(value, DEEPEST, [MOST])


def _nested(value: Any, depth: int, left: list[int]) -> Any:
    kind = type(value)
    left[0] -= 1
    if value is None or kind in (bool, int, float, str):
        return value
    if depth == 0 or left[0] < 0:
        raise NotPlain(f"lists nested more than {DEEPEST} deep, or more than {MOST:,} values")
    if is_tensor(value):
        value, kind = _of(value), np.ndarray
    if kind is np.ndarray:
        if value.dtype.kind in "biufU":
            return value.tolist()
        if value.dtype.kind != "O":
            raise NotPlain(f"an array of {value.dtype}; plain lists and numbers are needed")
        value, kind = value.tolist(), list
        if type(value) is not list:
            return _nested(value, depth - 1, left)
    if kind in SCALARS:
        return _of_scalar(value)
    if kind is Fraction:
        return _of_fraction(value)
    if kind in (list, tuple, range):
        return [_nested(item, depth - 1, left) for item in value]
    if kind is dict:
        return {
            _key(_nested(key, depth - 1, left)): _nested(item, depth - 1, left)
            for key, item in value.items()
        }
    if _is_sequence(kind) or issubclass(kind, Mapping):
        return _nested(_read(value), depth, left)
    if kind in (set, frozenset):
        return sorted((_nested(item, depth - 1, left) for item in value), key=text)
    raise NotPlain(f"{shown(value)}; plain lists and numbers are needed", _stream(value))


def text(plain: Any) -> str:
    """What plain values are sorted by; Python writes no number of more than 4,300 digits."""
    try:
        return repr(plain)
    except ValueError:
        if isinstance(plain, dict):
            plain = [[key, item] for key, item in plain.items()]
        return f"[{', '.join(map(text, plain))}]" if isinstance(plain, list) else hex(plain)


def _is_sequence(kind: type) -> bool:
    """A class whose values are read by number; text and bytes are values of their own."""
    return issubclass(kind, Sequence) and not issubclass(kind, str | bytes | bytearray | memoryview)


def _read(value: Any) -> Any:
    """A list of the items of a sequence, or a dict of those of a mapping, of any class."""
    try:
        if issubclass(type(value), Mapping):
            return {key: value[key] for key in itertools.islice(value, MOST)}
        return list(itertools.islice(value, MOST))
    except Exception as error:
        raise NotPlain(f"{shown(value)}; reading it fails: {worded(error)}") from None


def _key(plain: Any) -> Any:
    """A key as data that can be a key again: lists become tuples."""
    return tuple(_key(item) for item in plain) if type(plain) is list else plain


def _of(value: Any) -> np.ndarray:
    """The array in a tensor (or the array itself)."""
    if type(value) is np.ndarray:
        return value
    torch: Any = sys.modules["torch"]
    try:
        value = value.detach().cpu()
        if value.dtype in {torch.bfloat16}:  # NumPy has no such type; float32 holds it exactly
            value = value.float()
        found: np.ndarray = value.resolve_conj().resolve_neg().numpy()
    except (RuntimeError, TypeError, NotImplementedError):
        raise NotPlain(f"{shown(value)}; a dense tensor of numbers is needed") from None
    return found


def _of_scalar(value: Any) -> Any:
    """Python's own number or text in a NumPy scalar."""
    found = float(value) if type(value) is np.longdouble else value.item()
    if type(found) in (bool, int, float, str):
        return found
    raise NotPlain(f"{shown(value)}; a number is needed")


def _of_fraction(value: Any) -> int | float:
    if value.denominator == 1:
        return int(value.numerator)
    try:
        return float(value)
    except OverflowError:
        raise NotPlain(f"a fraction of about {figures(int(value))}; a number is needed") from None


def _stream(value: object) -> str:
    try:
        streams = hasattr(type(value), "__next__")
    except Exception:
        streams = False
    return "a generator runs only when asked: wrap it in list(...)" if streams else ""


def _can_be_called(value: object) -> bool:
    try:
        return callable(value)
    except Exception:
        return False
