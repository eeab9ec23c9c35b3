"""Versions of lesson 04's packed row, and the mistakes of all its exercises.

    a case of the lesson  ->  the right lists, mask or number, and what known mistakes give

A wrong version gives what a known mistake would give; its name is the thought behind it.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from batchlab import batches
from batchlab.classroom.probes.attempt import mistakes_of
from batchlab.classroom.probes.lesson_04_cases import KEPT
from batchlab.classroom.probes.lesson_04_fits import FITS, first_fits, numbered
from batchlab.classroom.probes.lesson_04_masks import BEHIND, LOOKS, behind, looks

__all__ = ["NAMES", "known", "mistakes", "row"]

NAMES = ("input_ids", "position_ids", "labels", "cu_seqlens")
LARGE = 600  # slots or documents above which the wrong versions would take seconds
Documents = Sequence[Sequence[int]]
_earlier: dict[str, deque[Any]] = {}  # the last cases of each exercise: an answer may keep them


def mistakes(name: str, *case: Any) -> list[tuple[Any, str]]:
    """What each wrong version gives for a case, with its thought, where that is not right."""
    right = _RIGHT[name](*case)
    found = mistakes_of(_WRONG[name], *case)
    return [(value, thought) for value, thought in found if not _same(value, right)]


def _slots(documents: Any, size: float) -> float:
    return size


def known(name: str, *case: Any) -> list[tuple[Any, str]]:
    """`mistakes`, and what an answer that keeps one of the last cases gives; none if large."""
    size: Callable[..., float] = _SIZES.get(name, _slots)
    if size(*case) > LARGE:
        return []
    right, met = _RIGHT[name](*case), _earlier.setdefault(name, deque(maxlen=8))
    kept = [_recalled(name, one, case) for one in met]
    met.append(case)
    found = [(one, KEPT) for one in kept if one is not None and not _same(one, right)]
    return [*mistakes(name, *case), *found]


def _recalled(name: str, earlier: tuple[Any, ...], case: tuple[Any, ...]) -> Any:
    """The right answer of an earlier case as it looks in this one; None where it does not fit."""
    if name != "first-fit":
        return _RIGHT[name](*earlier)
    if len(earlier[0]) != len(case[0]):
        return None
    rows = numbered(*earlier)
    return sorted(sorted(int(case[0][number]) for number in row) for row in rows)


def _same(value: Any, right: Any) -> bool:
    if isinstance(right, np.ndarray):
        return np.array_equal(value, right)
    return bool(value == right)


def row(documents: Documents, row_length: int) -> dict[str, list[int]]:
    """The four lists of a row, its tail filled with 0."""
    batch = batches.packed(documents, [range(len(documents))], row_length)
    lists = {name: batch[name][0].tolist() for name in NAMES[:3]}
    return {**lists, "cu_seqlens": batch["cu_seqlens"].tolist()}


def _segments(documents: Documents, row_length: int) -> list[list[int]]:
    tail = [0] * (row_length - sum(map(len, documents)))
    return [list(one) for one in (*documents, tail) if len(one)]


def _sizes(documents: Documents, row_length: int) -> list[int]:
    return [len(one) for one in _segments(documents, row_length)]


def _borders(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()]


_BORDERS: dict[str, Callable[..., list[int]]] = {
    "the 0 before them is missing: a segment lies between two numbers": lambda ds, n: _borders(
        _sizes(ds, n)
    )[1:],
    "the tail is a segment too: the last number is the end of the row": lambda ds, n: _borders(
        [len(d) for d in ds]
    ),
    "the 0 before them is missing, and the tail behind them": lambda ds, n: _borders(
        [len(d) for d in ds]
    )[1:],
    "lengths, not their running sum": lambda ds, n: [0, *_sizes(ds, n)],
    "lengths, not sums": _sizes,
    "lengths, and the end of the row": lambda ds, n: [0, *(len(d) for d in ds), n],
    "an empty segment: where no slot is left there is no tail": lambda ds, n: [
        *_borders([len(d) for d in ds]),
        n,
    ],
    "a tail of one slot is a segment, too": lambda ds, n: _borders(
        [size for size in _sizes(ds, n) if size > 1 or n == sum(map(len, ds))]
    ),
    "the tail is one segment": lambda ds, n: [
        *_borders([len(d) for d in ds]),
        *range(sum(map(len, ds)) + 2, n + 1, 2),
    ],
    "only the first border: every document is a segment": lambda ds, n: sorted(
        {0, len(ds[0]), sum(map(len, ds)), n}
    ),
    "a document of one token is a segment, too": lambda ds, n: [
        0,
        *(end for d, end in zip(ds, _borders([len(d) for d in ds])[1:], strict=True) if len(d) > 1),
        *([n] if n > sum(map(len, ds)) else []),
    ],
}


def _positions(sizes: Sequence[int], start: int = 0) -> list[int]:
    return [slot + start for size in sizes for slot in range(size)]


_POSITIONS: dict[str, Callable[..., list[int]]] = {
    "positions run on: they restart at 0 in each segment": lambda ds, n: list(range(n)),
    "the tail counts on from the last document: it restarts too": lambda ds, n: _positions(
        [*(len(d) for d in ds[:-1]), n - sum(len(d) for d in ds[:-1])]
    ),
    "positions run on from one document into the next": lambda ds, n: _positions(
        [sum(map(len, ds)), n - sum(map(len, ds))]
    ),
    "positions start at 0": lambda ds, n: _positions(_sizes(ds, n), 1),
    "each 0 begins a segment: the tail counts 0, 1, ... too": lambda ds, n: (
        _positions([len(d) for d in ds]) + [0] * (n - sum(map(len, ds)))
    ),
    "the tail is one segment": lambda ds, n: (
        _positions([len(d) for d in ds]) + [slot % 2 for slot in range(n - sum(map(len, ds)))]
    ),
    "only the first border: every document is a segment": lambda ds, n: _positions(
        [len(ds[0]), sum(map(len, ds[1:])), n - sum(map(len, ds))]
    ),
}


def _labels(documents: Documents, row_length: int, tail: int = -100) -> list[int]:
    return [
        *(label for text in documents for label in [-100, *text[1:]]),
        *[tail] * (row_length - sum(map(len, documents))),
    ]


def _crossing(documents: Documents, row_length: int, tail: int = -100) -> list[int]:
    flat = [token for text in documents for token in text]
    return flat + [tail] * (row_length - len(flat))


def _ids(documents: Documents, row_length: int, kind: Any = np.int64) -> list[int]:
    flat = np.asarray([token for text in documents for token in text]).astype(kind).tolist()
    return [*flat, *[0] * (row_length - len(flat))]


def _by_index(documents: Documents, row_length: int) -> list[int]:
    starts, ids = _borders([len(one) for one in documents]), [0] * row_length
    for text in documents:
        start = starts[list(documents).index(text)]
        ids[start : start + len(text)] = text
    return ids


_IDS: dict[str, Callable[..., list[int]]] = {
    "the tail is missing: a row has all its slots": lambda ds, n: _ids(ds, sum(map(len, ds))),
    "labels written into the documents: input_ids keep their tokens": lambda ds, n: _labels(
        ds, n, 0
    ),
    "labels written into the whole row: input_ids keep their tokens": lambda ds, n: _labels(ds, n),
    "equal documents have a place each: .index() finds the first": _by_index,
    "two documents only: a row may hold any number": lambda ds, n: _ids(ds[:2], n),
    "16 bits hold no token above 65,535": lambda ds, n: _ids(ds, n, np.uint16),
    "16 bits hold no token above 32,767": lambda ds, n: _ids(ds, n, np.int16),
}
_LABELS: dict[str, Callable[..., list[int]]] = {
    "the tail is known by its place: the last document may end in its token": lambda ds, n: [
        label if any(_ids(ds, n)[slot:]) else -100 for slot, label in enumerate(_labels(ds, n))
    ],
    "know a first token by its place: it may stand again in its document": lambda ds, n: [
        *(-100 if token == text[0] else token for text in ds for token in text),
        *[-100] * (n - sum(map(len, ds))),
    ],
    "a label crosses: -100 at each document's first token": _crossing,
    "a label crosses: only the row's first token is left out": lambda ds, n: [
        -100,
        *_crossing(ds, n)[1:],
    ],
    "the first document's first token is not trained either": lambda ds, n: [
        ds[0][0],
        *_labels(ds, n)[1:],
    ],
    "a document's first token crosses, not its last": lambda ds, n: [
        *(label for text in ds for label in [*text[:-1], -100]),
        *[-100] * (n - sum(map(len, ds))),
    ],
    "every token but the first is trained, the last one, too": lambda ds, n: [
        *(label for text in ds for label in [-100, *text[1:-1], -100][: len(text)]),
        *[-100] * (n - sum(map(len, ds))),
    ],
    "the tail is trained, and a label crosses": lambda ds, n: _crossing(ds, n, 0),
    "the tail is trained": lambda ds, n: _labels(ds, n, 0),
    "the tail is trained from its second slot on": lambda ds, n: [
        label if slot <= sum(map(len, ds)) else 0 for slot, label in enumerate(_labels(ds, n))
    ],
    "shifted: the loss shifts, the labels do not": lambda ds, n: [*_labels(ds, n)[1:], -100],
    "shifted, and a label crosses": lambda ds, n: [*_crossing(ds, n)[1:], -100],
    "a 0 inside a document is a token: know the tail by its place, not by its token": (
        lambda ds, n: [label or -100 for label in _labels(ds, n)]
    ),
    "labels[-0:] is the whole list: a row may have no tail": lambda ds, n: [-100] * n,
    "know a first token by its place: its number may stand again in a document": lambda ds, n: [
        -100 if label in {text[0] for text in ds} else label for label in _labels(ds, n)
    ],
}


_SIZES: Mapping[str, Callable[..., float]] = {
    "first-fit": lambda lengths, slots: len(lengths),
    "may-look": sum,
    "documents-behind": lambda *case: 0.0,
}
_RIGHT: Mapping[str, Callable[..., Any]] = {
    "first-fit": first_fits,
    "input_ids": lambda documents, size: row(documents, size)["input_ids"],
    "cu_seqlens": lambda documents, size: row(documents, size)["cu_seqlens"],
    "position_ids": lambda documents, size: row(documents, size)["position_ids"],
    "labels": lambda documents, size: row(documents, size)["labels"],
    "may-look": lambda sizes: looks(sizes)[0],
    "documents-behind": behind,
}
_WRONG: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "first-fit": FITS,
    "input_ids": _IDS,
    "cu_seqlens": _BORDERS,
    "position_ids": _POSITIONS,
    "labels": _LABELS,
    "may-look": LOOKS,
    "documents-behind": BEHIND,
}
