"""Say in four short lines why an answer is refused.

    asked, got, likely, try  ->  CheckFailed, shown without a traceback

Words
    asked   what was asked, with the numbers: "waste of [5, 3]"
    got     what came, and what is right
    likely  the thought that usually leads there
    try     the next step; of a list of hints, one more with each failed try
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from batchlab.classroom import plain

__all__ = ["CheckFailed", "Hints", "plainly", "refuse"]

Hints = str | Sequence[str]
_tries: Counter[tuple[str, ...]] = Counter()  # failed tries in this kernel, by list of hints


class CheckFailed(AssertionError):
    """Shown as its message alone: a learner needs the thought, not the stack."""

    kind = ""  # "blank" of a stub, "raised" where the answer raised, "slow" past its limit
    error: BaseException | None = None  # what the answer raised
    fresh: str | None = None  # of a case that no page shows: the known thought behind it, or none

    def _render_traceback_(self) -> list[str]:  # read by IPython
        return [str(self)]


def refuse(
    asked: str,
    got: str,
    likely: str = "",
    try_this: Hints = "",
    *,
    kind: str = "",
    error: BaseException | None = None,
) -> NoReturn:
    """Stop the check cell with at most four lines; empty ones are left out."""
    sys.stdout.flush()  # what the answer printed stands above the verdict
    lines = {"asked": asked, "got": got, "likely": likely, "try": _hint(try_this)}
    text = {word: " ".join(line.split()) for word, line in lines.items()}
    said = "\n".join(f"{word:<7} {line}" for word, line in text.items() if line)
    failed = CheckFailed(said.encode("utf-8", "backslashreplace").decode())  # half of UTF-16
    failed.kind, failed.error = kind, error
    raise failed


def _hint(try_this: Hints) -> str:
    """A plain text as it is; of a list the first hints, one more with each failed try."""
    if isinstance(try_this, str):
        return try_this
    hints = tuple(try_this)
    _tries[hints] += 1
    return "; ".join(hint.rstrip(" .;") for hint in hints[: _tries[hints]])


def plainly(convert: Callable[[object], Any], got: object, asked: str, try_this: Hints) -> Any:
    """`got` as plain data, or the verdict that it is not."""
    try:
        return convert(got)
    except plain.NotPlain as problem:
        reason = problem
    refuse(asked, reason.got, reason.thought, try_this)
