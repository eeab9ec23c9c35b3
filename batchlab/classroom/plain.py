"""Make plain data of what a learner returned, or say what it is instead.

    number, NumPy scalar, array, tensor, list  ->  int, float, ndarray; else NotPlain

Only plain types are judged. A subclass of float can claim to equal everything, so the type
is looked at before the value is asked. Tensors are met by their methods: torch is not imported.

Words
    plain      None, bool, int, float, str, list, tuple, dict, set, NumPy arrays, CPU tensors
    a thought  what someone who returned this value probably had in mind
"""

import copy
import math
from typing import Any

import numpy as np

__all__ = ["NotPlain", "array", "frozen", "is_tensor", "nested", "not_finite", "number", "shown"]


class NotPlain(Exception):
    """`got` is what to show, `thought` the likely reason."""

    def __init__(self, got: str, thought: str = "") -> None:
        super().__init__(got)
        self.got, self.thought = got, thought


def shown(value: object) -> str:
    """A value in at most 60 characters, as a learner would name it.

    >>> shown(None), shown(0.1 + 0.2), shown([1, 2]), shown(print)
    ('nothing (None)', '0.3', 'list [1, 2]', 'the function print, not its result')
    """
    if value is None:
        return "nothing (None)"
    if type(value) is bool:
        return f"the truth value {value}"
    if callable(value):
        return f"the function {getattr(value, '__name__', '?')}, not its result"
    if type(value) is float or isinstance(value, np.floating):
        return f"{float(value):.6g}"
    if type(value) is int or isinstance(value, np.integer):
        return f"{int(value)}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a broken __repr__ must not break the message about it
        text = "?"
    return f"{type(value).__name__} {text if len(text) <= 48 else text[:45] + '...'}"


def is_tensor(value: object) -> bool:
    """A plain torch tensor or parameter, told without importing torch."""
    kind = type(value)
    return kind.__module__.split(".")[0] == "torch" and kind.__name__ in {"Tensor", "Parameter"}


def number(value: object) -> int | float:
    """An int or a float, from Python, NumPy or a tensor without dimensions.

    >>> number(np.float32(0.5)), number(np.array(7))
    (0.5, 7)
    """
    if is_tensor(value):
        value = _of_tensor(value)
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic) and type(value).__module__ == "numpy":
        value = value.item()
    if type(value) is int or type(value) is float:
        return value
    thoughts: dict[Any, str] = {
        type(None): "the function ends without `return`",
        bool: "a comparison was returned where a number was asked",
        str: "text was returned where a number was asked",
    }
    thought = thoughts.get(type(value), "")
    if type(value) in (list, tuple, np.ndarray) or is_tensor(value):
        thought = "several values where one number was asked"
    elif callable(value):
        thought = "the brackets of the call are missing"
    raise NotPlain(f"{shown(value)}; a number is needed", thought)


def not_finite(value: int | float) -> str:
    """The usual reason of a value that is no finite number; empty for a finite one."""
    if math.isnan(value):
        return "zero divided by zero, or the mean of nothing"
    if math.isinf(value):
        return "a division by zero"
    return ""


def array(value: object) -> np.ndarray:
    """A numeric array from a list, a tuple, an array or a tensor.

    >>> array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if is_tensor(value):
        return _of_tensor(value)
    if type(value) is np.ndarray:
        found = value
    elif type(value) in (list, tuple, range, int, float) or isinstance(value, np.generic):
        try:
            found = np.asarray(nested(value))
        except ValueError:
            raise NotPlain(
                f"{shown(value)}; rows of one length are needed", "the rows differ in length"
            ) from None
    else:
        thought = "the function ends without `return`" if value is None else ""
        raise NotPlain(f"{shown(value)}; an array or a list is needed", thought)
    if found.dtype.kind not in "biuf":
        raise NotPlain(f"an array of {found.dtype}; numbers are needed")
    return found


def nested(value: object) -> Any:
    """Lists, tuples, sets, arrays and tensors as lists; NumPy scalars as Python's own numbers.

    >>> nested([np.array([1, 2]), (3,)])
    [[1, 2], [3]]
    """
    if is_tensor(value):
        value = _of_tensor(value)
    if type(value) is np.ndarray or (
        isinstance(value, np.generic) and type(value).__module__ == "numpy"
    ):
        return value.tolist()
    if type(value) in (list, tuple, range):
        return [nested(item) for item in value]  # type: ignore[attr-defined]
    if type(value) in (set, frozenset):
        return sorted((nested(item) for item in value), key=repr)  # type: ignore[attr-defined]
    if type(value) is dict:
        return {nested(key): nested(item) for key, item in value.items()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    thought = "a generator runs only when asked: wrap it in list(...)"
    raise NotPlain(
        f"{shown(value)}; plain lists and numbers are needed",
        thought if hasattr(value, "__next__") else "",
    )


def frozen(value: object) -> Any:
    """A copy to compare with later; what is not plain is copied by `copy.deepcopy`."""
    try:
        return copy.deepcopy(nested(value))
    except NotPlain:
        return copy.deepcopy(value)


def _of_tensor(value: Any) -> np.ndarray:
    value = value.detach().cpu()
    if str(value.dtype) == "torch.bfloat16":  # NumPy has no such type; float32 holds it exactly
        value = value.float()
    return value.numpy()
