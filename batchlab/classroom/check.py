"""Judge an answer in one line, and say what was probably thought.

    what came, what is right, known mistakes  ->  nothing, or four short lines

A value that is wrong in a known way names the thought behind it: choose the case so that every
known mistake gives a value of its own. A learner's function is called through `call`, always. No
check but `call` returns anything, because nbgrader reads the value of a check cell's last line as
points. Results are judged as plain data, never by identity, so a check also works when the
learner's function lives in another process.

Words
    constant   an answer that is one bare number or word: its refusal never shows the right one
    try_this   the next step: a text, or a list of hints, one more of them with each failed try
"""

import hashlib
import sys
from typing import Any

import numpy as np

from batchlab.classroom import term
from batchlab.classroom.behaviour import call, function, raises, unchanged
from batchlab.classroom.items import choice, keys, law, same
from batchlab.classroom.planted import finds_bugs
from batchlab.classroom.values import array, equal
from batchlab.classroom.verdict import CheckFailed

__all__ = [
    "CheckFailed",
    "array",
    "call",
    "choice",
    "equal",
    "finds_bugs",
    "function",
    "judge",
    "keys",
    "law",
    "passed",
    "raises",
    "rng",
    "same",
    "unchanged",
]


def judge(name: str, answer: Any) -> None:
    """Judge an answer to an exercise by its name, such as padding/waste: a whole check cell."""
    from batchlab import exercises

    exercises.judge(name, answer)


def passed(said: str) -> None:
    """Print the one line of success, the last of a check cell: what the learner can now say.

    >>> passed("Right: 80.1 % of the slots are padding at 32 rows.")
    Right: 80.1 % of the slots are padding at 32 rows.
    """
    print(" ".join(said.split()))
    sys.stdout.flush()


def rng(grade_id: str) -> np.random.Generator:
    """Fresh inputs for one graded cell: from the term's secret seed and the cell's id.

    >>> bool(rng("check-waste").random() == rng("check-waste").random())
    True
    """
    term.give()
    digest = hashlib.sha256(f"{term.seed()}\n{grade_id}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
