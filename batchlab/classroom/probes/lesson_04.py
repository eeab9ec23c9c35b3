"""Lesson 04: ways of calling transformers on a packed row, right and leaking; substitutes.

    token lists of documents  ->  one array of logits (tokens, vocabulary) for each document

The lesson asks for a test that tells these ways apart. The model is a Llama of one layer with
random weights: small enough for milliseconds, and called directly, because `batchlab.calling`
refuses the wrong ways. What reads a collator's rows stands in `lesson_04_collator`.

Words
    way    a function from documents to their logits, all computed in one row unless it says so
    leaks  one document's tokens move another's logits
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from batchlab import attention, batches, loop, model, packing, widgets
from batchlab.classroom.probes import attempt
from batchlab.classroom.probes.attempt import shown
from batchlab.classroom.probes.lesson_04_collator import (
    VOCABULARY,
    broken_collate,
    documents,
    laid,
    leak,
    network,
    standing,
)

__all__ = [
    "LEAKS",
    "RIGHT",
    "ROW_LENGTHS",
    "SEPARATE",
    "VOCABULARY",
    "WRONG",
    "broken_collate",
    "documents",
    "first_fits",
    "laid",
    "leak",
    "row_finder",
    "rows_refused",
    "shown",
    "standing",
    "way",
    "your",
]

ROW_LENGTHS = tuple(range(3072, 6401, 256))
MOST_ROWS = 1.05  # times the bound
Documents = Sequence[Sequence[int]]
Way = Callable[[Documents], list[np.ndarray]]

SEPARATE = ("positions restart, no cache", "each document in a row of its own", "the library")
LEAKS = (
    "positions restart, default cache",
    "no cache, but an attention mask of ones",
    "no cache, but positions run on",
    "no cache, but of three documents or more the last border is missing",
    "default cache, and the row is filled from the back",
)


def way(name: str) -> Way:
    """The way of one name of SEPARATE or LEAKS.

    >>> [one.shape for one in way("the library")([[5, 6, 7], [8, 9]])]
    [(3, 64), (2, 64)]
    """
    if name not in _WAYS:
        raise ValueError(f"no way {name!r}; there are {', '.join(_WAYS)}")
    return _WAYS[name]


def _called(documents: Documents, starts: Sequence[int], **options: Any) -> list[np.ndarray]:
    """Call the model on one row whose positions restart at `starts`, and cut the row apart."""
    tokens = [_checked(document) for document in documents]
    ids = [token for document in tokens for token in document]
    ends = [*starts[1:], len(ids)]
    positions = [p for a, b in zip(starts, ends, strict=True) for p in range(b - a)]
    with torch.no_grad():
        logits = network()(
            input_ids=torch.tensor([ids]), position_ids=torch.tensor([positions]), **options
        ).logits[0]
    return [part.numpy() for part in logits.split([len(document) for document in tokens])]


def _checked(document: Sequence[int]) -> list[int]:
    tokens = [int(token) for token in document]
    if not tokens or min(tokens) < 0 or max(tokens) >= VOCABULARY:
        raise ValueError(f"a document is a list of tokens from 0 to {VOCABULARY - 1}: {tokens}")
    return tokens


def _starts(documents: Documents) -> list[int]:
    ends = np.cumsum([len(document) for document in documents])
    return [0, *(int(end) for end in ends[:-1])]


def _apart(documents: Documents) -> list[np.ndarray]:
    return _called(documents, _starts(documents), use_cache=False)


def _alone(documents: Documents) -> list[np.ndarray]:
    return [_called([document], [0], use_cache=False)[0] for document in documents]


def _library(documents: Documents) -> list[np.ndarray]:
    tokens = [_checked(document) for document in documents]
    prepared = attention.prepare(model.small(VOCABULARY, layers=1, hidden=32, heads=2, seed=4))
    batch = batches.flattened(tokens, range(len(tokens)))
    with torch.no_grad():
        logits = loop.logits_of(prepared, batch)[0]
    return [part.numpy() for part in logits.split([len(document) for document in tokens])]


def _default(documents: Documents) -> list[np.ndarray]:
    return _called(documents, _starts(documents))


def _mask_of_ones(documents: Documents) -> list[np.ndarray]:
    ones = torch.ones(1, sum(len(document) for document in documents), dtype=torch.int64)
    return _called(documents, _starts(documents), use_cache=False, attention_mask=ones)


def _run_on(documents: Documents) -> list[np.ndarray]:
    return _called(documents, [0], use_cache=False)


def _last_border_missing(documents: Documents) -> list[np.ndarray]:
    starts = _starts(documents)
    return _called(documents, starts[:-1] if len(starts) > 2 else starts, use_cache=False)


def _from_the_back(documents: Documents) -> list[np.ndarray]:
    return _default(documents[::-1])[::-1]


_WAYS: dict[str, Way] = dict(
    zip(
        (*SEPARATE, *LEAKS),
        (_apart, _alone, _library, _default, _mask_of_ones, _run_on, _last_border_missing,
         _from_the_back),
        strict=True,
    )
)  # fmt: skip

RIGHT = {"isolation": tuple(_WAYS[name] for name in SEPARATE)}
WRONG = {"isolation": {name: _WAYS[name] for name in LEAKS}}


def first_fits(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """First fit decreasing as lengths in each row, sorted: with sums instead of room left.

    >>> first_fits([4, 7, 3, 6], 10)
    [[3, 7], [4, 6]]
    """
    rows: list[list[int]] = []
    for length in sorted(map(int, lengths), reverse=True):
        fits = [row for row in rows if sum(row) + length <= row_length]
        if fits:
            fits[0].append(length)
        else:
            rows.append([length])
    return sorted(map(sorted, rows))


def rows_refused(lengths: Sequence[int]) -> dict[int, str]:
    """Why each of ROW_LENGTHS is not the one to find with next fit; the one to find is left out."""
    why, shorter = {}, False
    for size in ROW_LENGTHS:
        found = packing.pack(lengths, size, method="next_fit", too_long="split")
        if found.cut_documents:
            why[size] = "it cuts a document"
        elif found.row_count > MOST_ROWS * found.lower_bound:
            why[size] = f"there next fit takes more than {MOST_ROWS} times the rows of the bound"
        elif shorter:
            why[size] = "it meets the goal, but a shorter row does too"
        else:
            shorter = True
    return why


def row_finder(lengths: Sequence[int]) -> widgets.Explorer:
    """Row length and method, and the goal that `rows_refused` judges."""
    (best,) = set(ROW_LENGTHS) - set(rows_refused(lengths))
    return widgets.packing_explorer(
        lengths,
        row_lengths=ROW_LENGTHS,
        goal="Next fit: the shortest row that cuts nothing and takes at most 5 % more rows than "
        "the bound.",
        where=lambda found: (found.row_length, found.method) == (best, "next_fit"),
    )


def _pack(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [[int(number) for number in row] for row in found.rows]


def _lay_out(given: Sequence[Sequence[int]], row_length: int) -> dict[str, list[int]]:
    batch = batches.packed(given, [range(len(given))], row_length)
    row = {name: batch[name][0].tolist() for name in ("input_ids", "position_ids", "labels")}
    return {**row, "cu_seqlens": batch["cu_seqlens"].tolist()}


def _may_look(position_ids: Sequence[int]) -> np.ndarray:
    segment = np.cumsum(np.asarray(position_ids) == 0)
    looks: np.ndarray = np.equal.outer(segment, segment) & np.tri(len(segment), dtype=bool)
    return looks


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
    "lay_out": (_lay_out, ([[5, 6, 7], [8, 9]], 7)),
    "may_look": (_may_look, ([0, 1, 2, 0, 1],)),
    "collate": (_collate, (_TWO, 7, 0)),
}
