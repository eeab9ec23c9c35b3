"""Show what a learner's function gives, or go on without it: a blank stops no later cell.

    a drawing, or a function and its substitute  ->  the result, or one line that says why not
    wrong versions, a case  ->  what each gives for it, with the thought that leads to it

Right and wrong versions of a lesson's functions stand in its probe: a page holds no answer.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

__all__ = ["mistakes_of", "shown", "working"]

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
        except (ArithmeticError, IndexError, ValueError):
            continue


def _said(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "an exercise above is still blank. Write it, then run this cell again."
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
