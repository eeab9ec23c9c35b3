"""Lesson 04: what its page takes from beside it, a row length to find, substitutes.

    the lesson's lengths  ->  the row length to find, and why each other one is not it
    a learner's function  ->  itself where it works, else the library's

Ways to logits, versions of the exercises and readers of what comes back have files of their own.

Words
    piece   a function that later cells run on
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from batchlab import batches, packing, widgets
from batchlab.classroom.probes import attempt
from batchlab.classroom.probes.attempt import shown
from batchlab.classroom.probes.lesson_04_cases import (
    collated,
    filled,
    labelled,
    laid_out,
    refused,
    segments,
    steps,
    too_long,
)
from batchlab.classroom.probes.lesson_04_collator import (
    OTHER,
    VOCABULARY,
    broken_collate,
    documents,
    label_mistakes,
    laid,
    leak,
    position_mistakes,
    standing,
    unlike_alone,
)
from batchlab.classroom.probes.lesson_04_fits import first_fits, rows_of
from batchlab.classroom.probes.lesson_04_masks import behind, looks
from batchlab.classroom.probes.lesson_04_rows import NAMES, known, mistakes, row
from batchlab.classroom.probes.lesson_04_ways import LEAKS, SEPARATE, leaking, separate, way

__all__ = [
    "LEAKS",
    "NAMES",
    "OTHER",
    "ROW_LENGTHS",
    "SEPARATE",
    "VOCABULARY",
    "behind",
    "broken_collate",
    "collated",
    "documents",
    "filled",
    "first_fits",
    "known",
    "label_mistakes",
    "labelled",
    "laid",
    "laid_out",
    "leak",
    "leaking",
    "looks",
    "mistakes",
    "position_mistakes",
    "refused",
    "row",
    "row_finder",
    "row_to_find",
    "rows_of",
    "rows_refused",
    "segments",
    "separate",
    "shown",
    "standing",
    "steps",
    "too_long",
    "unlike_alone",
    "way",
    "your",
]

ROW_LENGTHS = tuple(range(3072, 6401, 256))
MOST_ROWS = 1.05  # times the bound


def rows_refused(lengths: Sequence[int]) -> dict[int, str]:
    """Why each of ROW_LENGTHS is not the one to find with next fit; the one to find is left out."""
    why, shorter = {}, False
    for size in ROW_LENGTHS:
        found = packing.pack(lengths, size, method="next_fit", too_long="split")
        if found.cut_documents:
            why[size] = "it cuts a document"
        elif found.row_count > MOST_ROWS * found.lower_bound:
            why[size] = f"there next fit takes more than {MOST_ROWS} times the rows of the bound L2"
        elif shorter:
            why[size] = "it meets the goal, but a shorter row does too"
        else:
            shorter = True
    return why


def row_to_find(lengths: Sequence[int]) -> int:
    """The one of ROW_LENGTHS that `rows_refused` leaves out."""
    (best,) = set(ROW_LENGTHS) - set(rows_refused(lengths))
    return best


def row_finder(lengths: Sequence[int]) -> widgets.Explorer:
    """Row length and method, and the goal that `rows_refused` judges."""
    best = row_to_find(lengths)
    return widgets.packing_explorer(
        lengths,
        row_lengths=ROW_LENGTHS,
        goal="Next fit: the shortest row that cuts nothing and takes at most 5 % more rows than "
        "the bound L2.",
        where=lambda found: (found.row_length, found.method) == (best, "next_fit"),
    )


def _pack(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [[int(number) for number in row] for row in found.rows]


def _may_look(position_ids: Sequence[int]) -> np.ndarray:
    begins = [slot for slot, position in enumerate(position_ids) if position == 0]
    return looks(np.diff([*begins, len(position_ids)]).tolist())[0]


def _collate(given: Sequence[Any], row_length: int, pad: int) -> Any:
    rows = _pack([len(document["input_ids"]) for document in given], row_length)
    batch = batches.packed(given, rows, row_length, pad_id=pad)
    return {name: batch[name] for name in ("input_ids", "labels", "position_ids")}


def your(name: str, yours: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function of this name if it agrees with the library's, else the library's."""
    otherwise, case = _PIECES[name]
    return attempt.working(
        name, yours, otherwise, lambda f: _plain(f(*case)) == _plain(otherwise(*case))
    )


def _plain(value: Any) -> Any:
    """Rows by what they hold: the tail of input_ids may be any token."""
    if isinstance(value, dict):
        return {key: np.asarray(value[key]).tolist() for key in ("labels", "position_ids")}
    return [np.asarray(row).tolist() for row in value]


_TWO = [{"input_ids": [5, 6, 7], "labels": [-100, 6, 7]}, {"input_ids": [8, 9], "labels": [8, 9]}]
_PIECES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "first_fit_decreasing": (_pack, ([7, 4, 3, 6], 10)),
    "lay_out": (row, ([[5, 6, 7], [8, 9]], 7)),
    "may_look": (_may_look, ([0, 1, 2, 0, 1],)),
    "collate": (_collate, (_TWO, 7, 0)),
}
