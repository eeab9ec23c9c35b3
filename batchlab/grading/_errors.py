"""Exceptions that cross: their names, their message, and the line that raised them.

an exception  ->  plain data  ->  an exception of the same names, with its story
"""

import builtins
from typing import Any

from batchlab.classroom.afar import Story
from batchlab.classroom.behaviour import complaint, innermost
from batchlab.classroom.showing import worded
from batchlab.classroom.verdict import CheckFailed

__all__ = ["made", "told"]

STOPS = {"KeyboardInterrupt", "GeneratorExit", "SystemExit"}  # they would stop who judges


def told(error: BaseException) -> dict[str, Any]:
    """An exception as plain data."""
    names = [base.__name__ for base in type(error).__mro__]
    return {
        "names": [name for name in names if type(name) is str][:20],
        "text": worded(error)[:4000],
        "bare": not error.args,
        "complaint": complaint(error)[:4000],
        "innermost": innermost(error)[:80],
    }


def made(story: Any) -> BaseException:
    """The exception of a story: of the nearest class that Python itself has."""
    if type(story) is not dict:
        story = {}
    names = [one for one in _list(story.get("names")) if type(one) is str][:20]
    text = _text(story.get("text"))
    if "CheckFailed" in names:
        return CheckFailed(text)
    name = names[0] if names else "Exception"
    bases = (getattr(builtins, one, None) for one in names if one not in STOPS)
    base = next(
        (one for one in bases if isinstance(one, type) and issubclass(one, Exception)), Exception
    )
    kind = base if base.__name__ == name else type(name[:80], (_Worded, base), {})
    error: Any = _of(kind, text, bare=story.get("bare") is True)
    error.story = Story(_text(story.get("complaint")), _text(story.get("innermost")))
    made_here: BaseException = error
    return made_here


class _Worded:
    """Its message is its first argument, whatever its base makes of it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # type: ignore[attr-defined]


def _of(kind: type, text: str, *, bare: bool) -> Any:
    arguments = () if bare else (text,)
    try:
        error = kind(*arguments)
    except Exception:  # UnicodeDecodeError and others want more
        error = type(kind.__name__, (_Worded, Exception), {})(*arguments)
    if str(error) != text and not bare:  # KeyError shows the repr of its argument
        error = type(kind.__name__, (_Worded, kind), {})(*arguments)
    return error


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _text(value: Any) -> str:
    return value if type(value) is str else ""
