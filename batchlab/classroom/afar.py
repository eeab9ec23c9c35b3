"""What a function that lives in another process tells the checks about itself.

    an exception from there  ->  its story: the line of the notebook that raised it

In a learner's notebook nothing lives elsewhere and nothing here is used. A grader runs the check
cells outside the learner's process (`batchlab.grading`), with the same messages. A function that
lives there has, beside its call,

    lives_afar      True, on its class
    repeats         whether calls of it can be compared: not those of a class or a bound method
    fresh()         the same function, each call in a fresh copy of its process
    now(result)     what has become, over there, of a result that it returned before
    beside(scene)   a function of ours that runs over there, next to it
"""

from dataclasses import dataclass
from typing import Any

__all__ = ["Gone", "Story", "beside", "lives_afar", "story_of"]


class Gone(BaseException):
    """The process of the learner's function has ended: no check has anything to say."""


@dataclass(frozen=True)
class Story:
    """What only the process that raised an exception could see of it."""

    complaint: str  # type, message, and the line of the notebook
    innermost: str  # name of the innermost function of the notebook; empty: none


def story_of(error: BaseException) -> Story | None:
    """The story of an exception from another process; None for one that was raised here."""
    found = getattr(error, "story", None)
    return found if type(found) is Story else None


def lives_afar(answer: Any) -> bool:
    """Whether a function lives in another process.

    >>> lives_afar(len)
    False
    """
    return getattr(type(answer), "lives_afar", False) is True


def beside(scene: Any, answer: Any) -> Any:
    """`scene` as something to call with the answer: it runs in the answer's process.

    >>> beside(len, sorted)
    <built-in function len>
    """
    return answer.beside(scene) if lives_afar(answer) else scene
