"""Show a value in one short line, whatever it is.

    anything  ->  at most 60 characters

A broken `__repr__`, a list that holds itself and a number of a thousand digits must not break the
message about them.
"""

import reprlib
from typing import Any

import numpy as np

__all__ = ["figures", "item", "shown", "worded"]

LONGEST = 10**30  # whole numbers from here on are rounded for the eye


def shown(value: object) -> str:
    """A value as a learner would name it.

    >>> shown(None), shown(0.1 + 0.2), shown([1, 2]), shown(print)
    ('nothing (None)', '0.3', 'list [1, 2]', 'the function print, not its result')
    """
    kind = type(value)
    if value is None:
        return "nothing (None)"
    if kind is bool:
        return f"the truth value {value}"
    if kind in (int, float) or isinstance(value, np.integer | np.floating):
        return figures(value)
    try:
        if callable(value) and not hasattr(kind, "__len__"):
            name = getattr(value, "__name__", None)
            return f"the function {name if type(name) is str else kind.__name__}, not its result"
        if hasattr(kind, "dtype") and len(repr(value)) > 48:  # the end would be cut, where it says
            what = f"{kind.__name__} of {value.dtype}, shape {tuple(value.shape)}"  # type: ignore[attr-defined]
            return f"{what}: {item(value.tolist(), 30)}"  # type: ignore[attr-defined]
        return f"{kind.__name__} {item(value, 48)}"[:80]
    except Exception:
        return "something that cannot be shown"


def figures(value: Any) -> str:
    """A number: six digits of a float, all of a whole number unless they are very many.

    >>> figures(0.1 + 0.2), figures(10**6), figures(10**400)
    ('0.3', '1000000', 'about 10**400')
    """
    try:
        if isinstance(value, bool):
            return str(value)
        if isinstance(value, int | np.integer):
            whole = int(value)
            if abs(whole) < LONGEST:
                return str(whole)
            sign = "-" if whole < 0 else ""
            return f"about {sign}10**{round(abs(whole).bit_length() * 0.30103)}"
        return f"{float(value):.6g}"
    except Exception:
        return "something that cannot be shown"


def item(value: object, most: int) -> str:
    """The `repr` of a value on one line, cut to `most` characters."""
    try:
        text = " ".join(_short.repr(value).split())
    except Exception:
        text = "?"
    return text if len(text) <= most else text[: most - 3] + "..."


def worded(error: BaseException) -> str:
    """The message of an exception on one line; empty where it has none."""
    try:
        return " ".join(str(error).split())
    except Exception:
        return ""


class _Short(reprlib.Repr):
    """Looks at the beginning of long things only; knows whole numbers of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = 24
        self.maxdict, self.maxarray, self.maxstring, self.maxother = 12, 24, 60, 60

    def repr_int(self, x: int, level: int) -> str:
        return figures(x)

    def repr_instance(self, x: object, level: int) -> str:
        if isinstance(x, dict):  # its own repr would follow all that it holds, however often
            return f"{type(x).__name__}({self.repr_dict(dict(x), level)})"
        return super().repr_instance(x, level)

    def repr_ndarray(self, x: np.ndarray, level: int) -> str:
        return repr(x[(slice(0, 24),) * x.ndim])


_short = _Short()
