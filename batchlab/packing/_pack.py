"""Fill rows of a fixed length with whole documents.

    lengths  ->  row number of every document  ->  Packing

Eight documents or ten million, rows of 512 or of 131,072 slots: the work follows the documents, and
where many have the same length, the different lengths (`benchmarks/packing.py` measures it).

Words
    row        `row_length` slots, trained as one sequence
    room       slots of a row that no document uses yet
    fill       real tokens / slots, over all rows
    piece      what lies in a row: a document, or a part of one where a policy cut it
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import bounded
from batchlab.packing._bound import lower_bound
from batchlab.packing._fit_rules import best_fit, first_fit, next_fit, sorted_order
from batchlab.units import several, whole

__all__ = ["METHODS", "TOO_LONG", "Packing", "Rows", "pack"]

METHODS = ("best_fit_decreasing", "first_fit_decreasing", "next_fit", "split")
TOO_LONG = ("refuse", "truncate", "split", "drop")
MOST_PIECES = 10**8  # that documents may be cut into: 28 bytes each are 2.6 GiB

FitRule = Callable[[np.ndarray, int], tuple[np.ndarray, int]]


class Rows(Sequence[np.ndarray]):
    """The piece numbers of each row: a sequence of arrays, each cut out when it is asked for.

    >>> rows = pack([5, 3, 8, 2], row_length=8).rows
    >>> len(rows), rows[1].tolist(), [row.tolist() for row in rows]
    (3, [0, 1], [[2], [0, 1], [3]])
    """

    def __init__(self, pieces: np.ndarray, sizes: np.ndarray) -> None:
        self.pieces = pieces  # of the first row, of the second, and so on
        self.borders = np.concatenate([[0], np.cumsum(sizes)])

    def __len__(self) -> int:
        return len(self.borders) - 1

    @overload
    def __getitem__(self, number: SupportsIndex) -> np.ndarray: ...
    @overload
    def __getitem__(self, number: slice) -> list[np.ndarray]: ...
    def __getitem__(self, number: SupportsIndex | slice) -> np.ndarray | list[np.ndarray]:
        found = range(len(self))[number]
        if isinstance(found, range):
            return [self[one] for one in found]
        return self.pieces[self.borders[found] : self.borders[found + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        pieces = self.pieces
        return (pieces[begin:end] for begin, end in pairwise(self.borders.tolist()))

    def __repr__(self) -> str:
        return repr(list(self))


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
    document_lengths: np.ndarray | None = None  # (documents,) None: nothing was truncated
    method: str = "best_fit_decreasing"

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

    @property
    def dropped(self) -> int:
        """Documents that lie in no row."""
        return int(np.count_nonzero(self.row_of < 0))

    @property
    def cut_documents(self) -> int:
        """Documents that were truncated, or split into several pieces."""
        if self.document_lengths is not None:
            return int(np.count_nonzero(self.document_lengths > self.piece_lengths))
        if self.piece_documents is None:
            return 0
        return int(np.count_nonzero(np.bincount(self.piece_documents) > 1))

    @property
    def cut_tokens(self) -> int:
        """Tokens that were truncated away."""
        if self.document_lengths is None:
            return 0
        return int(self.document_lengths.sum() - self.piece_lengths.sum())

    @cached_property
    def lower_bound(self) -> int:
        """Rows that no packing of these pieces can do without (Martello and Toth's L2)."""
        return lower_bound(self.piece_lengths[self.row_of >= 0], self.row_length)

    @property
    def is_optimal(self) -> bool:
        """True proves that fewer rows are impossible; False proves nothing."""
        return self.row_count == self.lower_bound

    @cached_property
    def rows(self) -> Rows:
        """Piece numbers of each row, in the order of the data."""
        order = sorted_order(self.row_of + 1)[self.dropped :]  # dropped documents come first
        sizes = np.bincount(self.row_of + 1, minlength=self.row_count + 1)[1:]
        return Rows(order, sizes)

    def shuffled_rows(self, seed: int) -> list[np.ndarray]:
        """The rows in an order drawn from `seed`; the documents inside a row stay together."""
        rng = np.random.default_rng(whole(seed, "seed", least=0, most=None))
        return [self.rows[number] for number in rng.permutation(self.row_count).tolist()]


def pack(
    lengths: ArrayLike,
    row_length: int,
    *,
    method: str = "best_fit_decreasing",
    too_long: str = "refuse",
) -> Packing:
    """Put documents into as few rows of `row_length` as `method` can.

    best_fit_decreasing   longest first, each into the fullest row that has room; of equally full
                          rows into the first
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
    tokens, _, longest = bounded(lengths)
    row_length = whole(row_length, "row_length")
    if method not in METHODS:
        raise ValueError(f"unknown packing method {method!r}; there are {', '.join(METHODS)}")
    if too_long not in TOO_LONG:
        raise ValueError(f"unknown policy {too_long!r}; there are {', '.join(TOO_LONG)}")
    if method == "split":
        return _split_everything(tokens, row_length)
    if longest <= row_length:
        row_of, count = _FITS[method](tokens, row_length)
        return _packing(
            row_length=row_length,
            row_of=row_of,
            row_count=count,
            piece_lengths=tokens,
            method=method,
        )
    return _with_policy(tokens, row_length, method, too_long)


_FITS: dict[str, FitRule] = {
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
            f"({several(many, 'document')} too long); choose too_long: truncate, split or drop"
        )
    if too_long == "truncate":
        pieces = np.minimum(tokens, row_length)
        row_of, count = _FITS[method](pieces, row_length)
        return Packing(row_length, row_of, count, pieces, document_lengths=tokens, method=method)
    if too_long == "drop":
        if many == len(tokens):
            raise ValueError(f"every document is longer than a row of {row_length:,} slots")
        row_of = np.full(len(tokens), -1, dtype=np.int32)
        row_of[~long], count = _FITS[method](tokens[~long], row_length)
        return Packing(row_length, row_of, count, tokens, method=method)
    parts = -(-tokens // row_length)
    _check_pieces(int(parts.sum()), row_length)
    parts = parts.astype(np.intp)  # what repeat takes
    documents = np.repeat(np.arange(len(tokens)), parts)
    place = np.arange(len(documents)) - np.repeat(np.cumsum(parts) - parts, parts)
    starts = row_length * place.astype(np.int64)
    pieces = np.minimum(tokens[documents] - starts, row_length)
    row_of, count = _FITS[method](pieces, row_length)
    return Packing(row_length, row_of, count, pieces, documents, starts, method=method)


def _split_everything(tokens: np.ndarray, row_length: int) -> Packing:
    """Concatenate all documents and cut the stream every `row_length` tokens."""
    ends = np.cumsum(tokens)
    total = int(ends[-1])
    row_count = -(-total // row_length)
    _check_pieces(len(tokens) + row_count, row_length)
    borders = np.arange(row_length, total, row_length)
    cut = np.cumsum(np.bincount(ends // row_length))[: len(borders)]  # documents that end before
    stops = ends[cut]
    inside = stops > borders  # the document there is cut; else it ends there
    next_row = cut + np.cumsum(inside) + ~inside  # the piece that begins at each border
    if not inside.all():
        borders, cut, stops = borders[inside], cut[inside], stops[inside]
    rest = next_row[inside]
    pieces = len(tokens) + len(cut)
    row_of = np.zeros(pieces, dtype=np.int32)
    row_of[next_row] = 1
    np.cumsum(row_of, out=row_of)
    documents = np.ones(pieces, dtype=np.int32)
    documents[0] = documents[rest] = 0  # these pieces begin no document but the first
    np.cumsum(documents, out=documents)
    sizes, starts = tokens[documents], np.zeros(pieces, dtype=np.int64)
    begins = stops - tokens[cut]
    starts[rest] = borders - begins
    sizes[rest] = stops - borders  # unless this piece reaches the next border as well
    sizes[rest - 1] = borders - np.maximum(borders - row_length, begins)
    return Packing(row_length, row_of, row_count, sizes, documents, starts, method="split")


def _packing(**fields: Any) -> Packing:
    """A Packing, its fields written at once: for few documents a frozen class is slow in it."""
    packing = Packing.__new__(Packing)
    packing.__dict__.update(fields)
    return packing


def _check_pieces(pieces: int, row_length: int) -> None:
    if pieces > MOST_PIECES:
        raise ValueError(
            f"rows of {row_length:,} slots cut these documents into about {pieces:,} pieces; "
            f"at most {MOST_PIECES:,} are handled"
        )
