"""Say in four short lines why an answer is refused.

    asked, got, likely, try  ->  CheckFailed, shown without a traceback

Words
    asked   what was asked, with the numbers: "waste of [5, 3]"
    got     what came, and what is right
    likely  the thought that usually leads there
    try     the next step
"""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from batchlab.classroom import plain

__all__ = ["CheckFailed", "plainly", "refuse"]


class CheckFailed(AssertionError):
    """Shown as its message alone: a learner needs the thought, not the stack."""

    def _render_traceback_(self) -> list[str]:  # read by IPython
        return [str(self)]


def refuse(asked: str, got: str, likely: str = "", try_this: str = "") -> NoReturn:
    """Stop the check cell with at most four lines; empty ones are left out."""
    sys.stdout.flush()  # what the answer printed stands above the verdict
    lines = {"asked": asked, "got": got, "likely": likely, "try": try_this}
    text = {word: " ".join(line.split()) for word, line in lines.items()}
    raise CheckFailed("\n".join(f"{word:<7} {line}" for word, line in text.items() if line))


def plainly(convert: Callable[[object], Any], got: object, asked: str, try_this: str) -> Any:
    """`got` as plain data, or the verdict that it is not."""
    try:
        return convert(got)
    except plain.NotPlain as problem:
        reason = problem
    refuse(asked, reason.got, reason.thought, try_this)
