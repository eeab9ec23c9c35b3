"""The ladder of hints: a named cause comes alone, a hint where none is named or it comes again.

a refusal of an exercise  ->  the same, with the next hint or without
"""

from collections import Counter

from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._words import lines_of, restated

__all__ = ["forget", "hinted"]

_given: Counter[str] = Counter()  # hints given in this process, by exercise
_told: dict[str, str] = {}  # the cause that was told last, by exercise


def hinted(name: str, hints: tuple[str, ...], refused: CheckFailed) -> CheckFailed:
    """The refusal with the next hint, unless it tells a new cause; a blank uses up none."""
    lines = lines_of(refused)
    if not hints or refused.kind == "blank" or "try" in lines:
        return restated(refused)
    cause, before = lines.get("likely", ""), _told.get(name, "")
    _told[name] = cause
    if cause and cause != before:
        return restated(refused)
    hint = hints[min(_given[name], len(hints) - 1)]
    _given[name] += 1
    return restated(refused, hint=hint)


def forget(name: str) -> None:
    """Begin with the first hint of an exercise again."""
    _given.pop(name, None)
    _told.pop(name, None)
