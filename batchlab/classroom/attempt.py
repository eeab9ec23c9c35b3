"""Show what a learner's function gives, or go on without it: a blank stops no later cell.

    a drawing, or a function and its substitute  ->  the result, or one line that says why not
    wrong versions, a case  ->  what each gives for it, with the thought that leads to it
    a right number  ->  what rounding makes of it; any number  ->  whether it is finite

Right and wrong versions of a lesson's functions stand in its probe: a page holds no answer.
"""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from batchlab.classroom.behaviour import quietly

__all__ = ["finite", "mistakes_of", "refusal", "rounded", "shown", "working"]

T = TypeVar("T")


def shown(draw: Callable[[], T]) -> T | None:
    """What `draw` gives; None and one printed line where the learner's part is blank or fails.

    >>> shown(lambda: 1 / 0)
    Nothing to draw: ZeroDivisionError: division by zero
    """
    try:
        return draw()
    except Exception as error:
        print(f"Nothing to draw: {_said(error)}")
        return None


def working(
    name: str, yours: Callable[..., T], otherwise: Callable[..., T], tries: Callable[..., object]
) -> Callable[..., T]:
    """`yours` if `tries(yours)` is true, else `otherwise`; prints which, in one line.

    >>> working("half", lambda x: x, lambda x: x / 2, tries=lambda f: f(4) == 2)(6)
    The next cells take the library's way: half does not give what it should yet.
    3.0
    """
    try:
        passed, why = bool(tries(yours)), f"{name} does not give what it should yet."
    except Exception as error:
        passed, why = False, f"{name}: {_said(error)}"
    if passed:
        print(f"The next cells run on your {name}.")
        return yours
    print(f"The next cells take the library's way: {why}")
    return otherwise


def mistakes_of(wrong: Mapping[str, Callable[..., Any]], *case: Any) -> Iterator[tuple[Any, str]]:
    """What each wrong version gives for a case, with its thought; one that fails gives nothing.

    >>> list(mistakes_of({"the sum": sum, "the first": min}, [2, 1]))
    [(3, 'the sum'), (1, 'the first')]
    """
    for thought, version in wrong.items():
        try:
            yield version(*case), thought
        except (ArithmeticError, IndexError, TypeError, ValueError):
            continue


def refusal(answer: Callable[..., object], *arguments: object) -> str:
    """The text of the ValueError that `answer` raises for copies of `arguments`.

    Empty for a result, and for any other error: `check.call` shows that one.

    >>> refusal(int, "x").startswith("invalid literal"), refusal(int, "5"), refusal(int, [])
    (True, '', '')
    """
    try:
        with quietly():
            answer(*copy.deepcopy(arguments))
    except Exception as error:
        if "ValueError" in {base.__name__ for base in type(error).__mro__}:  # from afar, too
            return str(error) or "ValueError"
    return ""


def finite(value: Any) -> bool:
    """Whether a value is none of nan, infinity and complex; what is no number at all passes.

    >>> finite(0.5), finite(float("nan")), finite(1j), finite("a")
    (True, False, False, True)
    """
    try:
        return not isinstance(value, complex) and math.isfinite(value)
    except (TypeError, ValueError):
        return True


def rounded(right: float) -> dict[float, str]:
    """What rounding makes of a right number: to decimal places, or to the bits of a narrow float.

    >>> rounded(1.2345678)[1.235], rounded(1.2345678)[1.234375]
    ('rounded to 3 digits: keep them all', 'in half precision: use float32 or wider')
    """
    found: dict[float, str] = {}
    if right and math.isfinite(right):
        for bits in (8, 11):  # bf16 and float16: the nearest, and what a few roundings away is
            unit = 2.0 ** (math.frexp(right)[1] - bits)
            nearest = round(right / unit)
            for away in range(-4, 5):
                found[(nearest + away) * unit] = "in half precision: use float32 or wider"
        found |= dict.fromkeys((math.floor(right), math.ceil(right)), "whole: keep all digits")
    for digits in range(9, 0, -1):
        found[round(float(right), digits)] = f"rounded to {digits} digits: keep them all"
    return found


def _said(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "an exercise above is still blank. Write it, then run this cell again."
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
