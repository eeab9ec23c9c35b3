"""Fill rows of a fixed length with whole documents.

    lengths  ->  row number of every document  ->  Packing

Lengths are small integers, and rows with equal room left are interchangeable. So documents of one
length move as a block onto a block of rows: the work grows with the number of different lengths,
not of documents, and what remains is one counting sort (`benchmarks/packing.py` measures it).

Words
    row        `row_length` slots, trained as one sequence
    room       slots of a row that no document uses yet
    fill       real tokens / slots, over all rows
    piece      what lies in a row: a document, or a part of one where a policy cut it
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked
from batchlab.packing._fit_rules import best_fit, first_fit, next_fit, sorted_order

__all__ = ["METHODS", "TOO_LONG", "Packing", "lower_bound", "pack"]

METHODS = ("best_fit_decreasing", "first_fit_decreasing", "next_fit", "split")
TOO_LONG = ("refuse", "truncate", "split", "drop")

Fit = Callable[[np.ndarray, int], tuple[np.ndarray, int]]


@dataclass(frozen=True, eq=False)
class Packing:
    """Which row each piece lies in.

    Unless documents were cut, piece i is document i. A dropped document has row -1.

    >>> pack([5, 3, 8, 2], row_length=8).row_of.tolist()
    [1, 1, 0, 2]
    """

    row_length: int
    row_of: np.ndarray  # (pieces,) int32, -1 where dropped
    row_count: int
    piece_lengths: np.ndarray  # (pieces,) tokens that lie in a row
    piece_documents: np.ndarray | None = None  # (pieces,) None: piece i is document i
    piece_starts: np.ndarray | None = None  # (pieces,) first token inside the document
    cut_tokens: int = 0  # truncated away
    dropped: int = 0  # documents
    cut_documents: int = 0  # truncated, or split into several pieces
    method: str = field(default="best_fit_decreasing")

    @property
    def real_tokens(self) -> int:
        return int(self.piece_lengths[self.row_of >= 0].sum())

    @property
    def slots(self) -> int:
        return self.row_count * self.row_length

    @property
    def fill(self) -> float:
        """Real tokens / slots, between 0 and 1."""
        return self.real_tokens / self.slots

    @cached_property
    def lower_bound(self) -> int:
        """Rows that no packing of these pieces can do without (Martello and Toth's L2)."""
        return lower_bound(self.piece_lengths[self.row_of >= 0], self.row_length)

    @property
    def is_optimal(self) -> bool:
        """True proves that fewer rows are impossible; False proves nothing."""
        return self.row_count == self.lower_bound

    @cached_property
    def rows(self) -> list[np.ndarray]:
        """Piece numbers of each row, in the order of the data."""
        kept = np.flatnonzero(self.row_of >= 0)
        order = kept[sorted_order(self.row_of[kept])]
        ends = np.cumsum(np.bincount(self.row_of[kept], minlength=self.row_count))
        return np.split(order, ends[:-1])

    def shuffled_rows(self, seed: int) -> list[np.ndarray]:
        """The rows in an order drawn from `seed`; the documents inside a row stay together."""
        order = np.random.default_rng(seed).permutation(self.row_count)
        return [self.rows[number] for number in order]


def pack(
    lengths: ArrayLike,
    row_length: int,
    *,
    method: str = "best_fit_decreasing",
    too_long: str = "refuse",
) -> Packing:
    """Put documents into as few rows of `row_length` as `method` can.

    best_fit_decreasing   longest first, each into the fullest row that has room
    first_fit_decreasing  longest first, each into the first row that has room
    next_fit              in the order of the data, only the last row is open
    split                 concatenate and cut: every row full, documents cut at row ends

    Longest first undoes the shuffling of the data: shuffle the rows afterwards. Documents longer
    than a row are refused unless `too_long` says to truncate, split or drop them; the Packing
    reports how many tokens and documents that touched.

    >>> found = pack([7, 7, 7, 7, 7], row_length=10)
    >>> found.row_count, found.lower_bound, found.is_optimal, found.fill
    (5, 5, True, 0.7)
    """
    tokens = checked(lengths)
    _check_options(row_length, method, too_long)
    if method == "split":
        return _split_everything(tokens, row_length)
    if int(tokens.max()) <= row_length:
        row_of, count = _FITS[method](tokens, row_length)
        return Packing(row_length, row_of, count, tokens, method=method)
    return _with_policy(tokens, row_length, method, too_long)


_FITS: dict[str, Fit] = {
    "best_fit_decreasing": best_fit,
    "first_fit_decreasing": first_fit,
    "next_fit": next_fit,
}


def _with_policy(tokens: np.ndarray, row_length: int, method: str, too_long: str) -> Packing:
    """Pack although some documents are longer than a row, as the policy says."""
    long = tokens > row_length
    many = int(long.sum())
    if too_long == "refuse":
        where = int(np.argmax(long))
        raise ValueError(
            f"document {where} has {tokens[where]:,} tokens, a row has {row_length:,} slots "
            f"({many:,} documents are too long); choose too_long: truncate, split or drop"
        )
    if too_long == "truncate":
        row_of, count = _FITS[method](np.minimum(tokens, row_length), row_length)
        cut = int((tokens[long] - row_length).sum())
        pieces = np.minimum(tokens, row_length)
        return Packing(
            row_length, row_of, count, pieces, cut_tokens=cut, cut_documents=many, method=method
        )
    if too_long == "drop":
        if many == len(tokens):
            raise ValueError(f"every document is longer than a row of {row_length:,} slots")
        row_of = np.full(len(tokens), -1, dtype=np.int32)
        row_of[~long], count = _FITS[method](tokens[~long], row_length)
        return Packing(row_length, row_of, count, tokens, dropped=many, method=method)
    parts = -(-tokens // row_length)
    documents = np.repeat(np.arange(len(tokens)), parts)
    starts = row_length * (np.arange(len(documents)) - np.repeat(np.cumsum(parts) - parts, parts))
    pieces = np.minimum(tokens[documents] - starts, row_length)
    row_of, count = _FITS[method](pieces, row_length)
    return Packing(
        row_length, row_of, count, pieces, documents, starts, cut_documents=many, method=method
    )


def _split_everything(tokens: np.ndarray, row_length: int) -> Packing:
    """Concatenate all documents and cut the stream every `row_length` tokens."""
    ends = np.cumsum(tokens)
    total = int(ends[-1])
    row_count = -(-total // row_length)
    borders = np.unique(np.concatenate([ends, np.arange(row_length, total, row_length)]))
    first = np.concatenate([[0], borders[:-1]])  # where each piece begins in the stream
    documents = np.searchsorted(ends, first, side="right")
    return Packing(
        row_length,
        (first // row_length).astype(np.int32),
        row_count,
        borders - first,
        documents,
        first - (ends - tokens)[documents],
        cut_documents=int((np.bincount(documents) > 1).sum()),
        method="split",
    )


def lower_bound(lengths: ArrayLike, row_length: int) -> int:
    """Rows that every packing needs: the bound L2 of Martello and Toth (1990).

    For each threshold a, documents over row_length - a stand alone, those over half a row need a
    row each, and the ones from a to half a row can only use the room that the latter leave. The
    threshold 0 counts every token, so L2 is never below tokens / row_length.

    >>> lower_bound([7, 7, 7, 7, 7], 10)
    5
    """
    tokens = checked(lengths)
    if int(tokens.max()) > row_length:
        raise ValueError(f"a document has {int(tokens.max()):,} tokens, a row {row_length:,}")
    half = row_length // 2
    counts = np.bincount(tokens, minlength=row_length + 1)
    documents_upto = np.cumsum(counts)
    tokens_upto = np.cumsum(counts * np.arange(row_length + 1))
    a = np.arange(half + 1)
    over_half = int(documents_upto[-1] - documents_upto[half])
    middle = documents_upto[row_length - a] - documents_upto[half]  # half < l <= row_length - a
    room = middle * row_length - (tokens_upto[row_length - a] - tokens_upto[half])
    below_a = np.concatenate([[0], tokens_upto])[a]
    small = tokens_upto[half] - below_a  # a <= l <= half
    return int((over_half + np.maximum(0, -((room - small) // row_length))).max())


def _check_options(row_length: int, method: str, too_long: str) -> None:
    if isinstance(row_length, bool) or not isinstance(row_length, int | np.integer):
        raise ValueError(f"row_length must be a whole number, got {row_length!r}")
    if row_length < 1:
        raise ValueError(f"a row needs at least 1 slot, got {row_length}")
    if method not in METHODS:
        raise ValueError(f"unknown packing method {method!r}; there are {', '.join(METHODS)}")
    if too_long not in TOO_LONG:
        raise ValueError(f"unknown policy {too_long!r}; there are {', '.join(TOO_LONG)}")
