"""What the page of lesson 04 shows and goes on with: a faulty collator, and substitutes.

a learner's function  ->  itself where it works, else the library's way
"""

import numpy as np

from batchlab.classroom.attempt import working
from batchlab.exercises.packing.lay_out import lay_out
from batchlab.exercises.packing.may_look import may_look
from batchlab.exercises.packing.mend_collator import broken_collate, collate

__all__ = ["ROW_LENGTHS", "broken_collate", "your"]

ROW_LENGTHS = tuple(range(3072, 6401, 256))
_TWO = [{"input_ids": [5, 6, 7], "labels": [-100, 6, 7]}, {"input_ids": [8, 9], "labels": [8, 9]}]
_PIECES = {
    "lay_out": (lay_out, ([[5, 6, 7], [8, 9]], 7)),
    "may_look": (may_look, ([0, 1, 2, 0, 1],)),
    "collate": (collate, (_TWO, 7, 0)),
}


def your(name, yours):
    """The learner's function of this name if it agrees with ours on a small case, else ours."""
    ours, case = _PIECES[name]
    return working(name, yours, ours, lambda f: _plain(f(*case)) == _plain(ours(*case)))


def _plain(value):
    """Rows by what they hold: the tail of input_ids may be any token."""
    if isinstance(value, dict):
        return {key: np.asarray(value[key]).tolist() for key in ("labels", "position_ids")}
    return [np.asarray(row).tolist() for row in value]
