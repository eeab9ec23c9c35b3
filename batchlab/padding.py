"""What it costs that a batch of documents must be a rectangle.

Every row is stretched to the longest row beside it. The stretch is stored and multiplied like
text, and then thrown away:

    lengths  ->  batches of document numbers  ->  Padding, Pairs

Lengths alone decide the rectangle, so nothing here needs a tensor, a tokenizer or a model.

Words
    rows    documents side by side in one rectangle
    slot    one cell of the rectangle, holding a real token or padding
    waste   padding slots / slots, over everything counted: a ratio of sums
    pair    one (query, key) position of attention: a rectangle has rows x width x width
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked, exact, no_truth_values
from batchlab.units import whole

__all__ = [
    "Batch",
    "Padding",
    "Pairs",
    "by_length",
    "expected_longest",
    "expected_waste",
    "in_order",
    "in_windows",
    "joined",
    "measure",
    "measure_pairs",
    "window_order",
]

Batch = list[int]  # document numbers, one for each row of the rectangle


@dataclass(frozen=True)
class Padding:
    """Slots spent by one rectangle, or by many added together.

    Totals are kept because ratios do not add: 10 % and 50 % are 30 % only of equal rectangles.

    >>> small, large = Padding(real_tokens=9, slots=10), Padding(real_tokens=50, slots=100)
    >>> round((small + large).waste, 3)
    0.464
    """

    real_tokens: int
    slots: int

    @property
    def pad_tokens(self) -> int:
        return self.slots - self.real_tokens

    @property
    def waste(self) -> float:
        """Share of the slots that hold padding; 0.0 is a full rectangle."""
        return self.pad_tokens / self.slots

    def __add__(self, other: "Padding") -> "Padding":
        return Padding(self.real_tokens + other.real_tokens, self.slots + other.slots)


@dataclass(frozen=True)
class Pairs:
    """Attention pairs inside documents, and in the rectangles around them."""

    real_pairs: int
    slot_pairs: int

    @property
    def waste(self) -> float:
        """Share of the attention pairs that touch padding."""
        return (self.slot_pairs - self.real_pairs) / self.slot_pairs

    def __add__(self, other: "Pairs") -> "Pairs":
        return Pairs(self.real_pairs + other.real_pairs, self.slot_pairs + other.slot_pairs)


def measure(lengths: ArrayLike, batches: Iterable[Sequence[int]], *, round_to: int = 1) -> Padding:
    """Count the slots when each batch is stretched to its own longest row.

    Widths are rounded up to a multiple of `round_to`, which hardware likes and which costs slots.

    >>> measure([5, 3, 8, 2], [[0, 1], [2, 3]])
    Padding(real_tokens=18, slots=26)
    >>> measure([5, 3, 8, 2], [[0, 1], [2, 3]], round_to=8)
    Padding(real_tokens=18, slots=32)
    """
    inside, rows, widths = _rectangles(lengths, batches, round_to)
    widths = exact(widths, len(inside) * int(widths.max()))
    return Padding(int(inside.sum()), int(rows @ widths))


def measure_pairs(
    lengths: ArrayLike, batches: Iterable[Sequence[int]], *, round_to: int = 1
) -> Pairs:
    """Count attention pairs: the sum of squared lengths against rows times squared width.

    Causal attention computes half of either, so the waste is the same.

    >>> measure_pairs([5, 3], [[0, 1]])
    Pairs(real_pairs=34, slot_pairs=50)
    """
    inside, rows, widths = _rectangles(lengths, batches, round_to)
    most = len(inside) * int(widths.max()) ** 2
    inside, widths = exact(inside, most), exact(widths, most)
    return Pairs(int(inside @ inside), int(rows @ widths**2))


def in_order(lengths: ArrayLike, rows: int) -> list[Batch]:
    """Batch the documents as they arrive; the last batch may be short.

    >>> in_order([5, 3, 8, 2, 9], rows=2)
    [[0, 1], [2, 3], [4]]
    """
    return _cut(np.arange(len(checked(lengths))), rows)


def by_length(lengths: ArrayLike, rows: int) -> list[Batch]:
    """Sort, then batch, so that the rows of one batch are nearly equal.

    If `rows` divides the number of documents, no other split pads less. The price is order: every
    epoch walks from the shortest to the longest.

    >>> by_length([5, 3, 8, 2], rows=2)
    [[3, 1], [0, 2]]
    """
    return _cut(np.argsort(checked(lengths), kind="stable"), rows)


def in_windows(
    lengths: ArrayLike, rows: int, *, window: int, rng: "np.random.Generator"
) -> list[Batch]:
    """Shuffle, sort within windows of `window` batches, shuffle the batches.

    A dial between the other two: a window of one batch is plain shuffling, one window around all
    documents pads as little as `by_length`.
    """
    rows, window = whole(rows, "rows"), whole(window, "window")
    batches = _cut(window_order(checked(lengths), window * rows, rng), rows)
    rng.shuffle(batches)  # else every window would run from short to long
    return batches


def window_order(keys: np.ndarray, documents: int, rng: "np.random.Generator") -> np.ndarray:
    """Document numbers in random order, then sorted by `keys` inside windows of `documents`."""
    order = rng.permutation(len(keys))
    documents = min(documents, len(keys))
    if documents >= 256 and keys.dtype.kind == "i" and int(keys.max()) < 2**16:
        keys = keys.astype(np.uint16)  # which NumPy sorts by counting: ten times faster
    full = len(keys) // documents * documents
    for part in (order[:full].reshape(-1, documents), order[full:].reshape(1, -1)):
        within = np.argsort(keys[part], axis=1, kind="stable")
        part[:] = np.take_along_axis(part, within, axis=1)
    return order


def expected_longest(lengths: ArrayLike, rows: int) -> float:
    """Tokens in the longest of `rows` documents drawn at random without replacement, on average.

    Exact, without sampling: the longest length, less each gap below it times the chance that the
    draw stays under that gap. A sum of positive terms, so any number of rows is safe.

    >>> round(expected_longest([1, 2, 3], rows=2), 9)  # pairs 12, 13, 23: longest 2, 3, 3
    2.666666667
    """
    tokens, rows = checked(lengths), whole(rows, "rows")
    if rows > len(tokens):
        raise ValueError(f"rows must be between 1 and the {len(tokens):,} documents, got {rows:,}")
    values, counts = np.unique(tokens, return_counts=True)
    above = len(tokens) - np.cumsum(counts)[:-1]  # documents over each gap between two values
    under = _chance_to_miss_the_longest(rows, len(tokens))[above - 1]
    return float(values[-1] - under @ np.diff(values))


def expected_waste(lengths: ArrayLike, rows: int) -> float:
    """Expected share of padding in random batches of `rows`, pooled: 1 - E[L] / E[Lmax].

    A ratio of totals, which is what throughput sees; the mean of the batches' own shares is less.

    >>> round(expected_waste([1, 2, 3], rows=2), 9)
    0.25
    """
    waste = 1 - float(checked(lengths).mean()) / expected_longest(lengths, rows)
    return max(0.0, waste)  # rounding may leave -1e-16 of one row


def _chance_to_miss_the_longest(rows: int, documents: int) -> np.ndarray:
    """The chance that a draw misses the longest document, the two longest, and so on.

    Of j documents left the next one is missed with probability (j - rows) / j; the product over
    j = N, N - 1, ... is C(N - k, rows) / C(N, rows) after k of them, and 0 from j = rows on.
    """
    left = np.arange(documents, 0, -1)
    return np.cumprod((left - rows) / left)


def joined(batches: Iterable[Sequence[int]], documents: int) -> tuple[np.ndarray, np.ndarray]:
    """All document numbers in one array, and where each batch begins in it.

    A 2-D array of equally many rows a batch is not copied.
    """
    if isinstance(batches, np.ndarray) and batches.ndim == 2:
        numbers, sizes = batches.reshape(-1), np.full(len(batches), batches.shape[1])
    else:
        parts = list(batches)
        numbers, sizes = _flat(parts), np.fromiter(map(len, parts), np.int64, len(parts))
    if not len(sizes):
        raise ValueError("there are no batches: at least 1 is needed")
    if not sizes.all():
        empty = int(np.argmin(sizes))
        raise ValueError(f"batch {empty} is empty: a rectangle needs at least 1 row")
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"batches hold document numbers, got values of type {numbers.dtype}")
    starts = (np.cumsum(sizes) - sizes).astype(np.intp, copy=False)  # what reduceat takes
    if int(numbers.min()) < 0 or int(numbers.max()) >= documents:
        place = int(np.argmax((numbers < 0) | (numbers >= documents)))
        batch = int(np.searchsorted(starts, place, side="right")) - 1
        raise ValueError(
            f"batch {batch} names document {numbers[place]}; they are 0 to {documents - 1:,}"
        )
    return numbers, starts


def _flat(parts: list[Sequence[int]]) -> np.ndarray:
    """The entries of all parts in one array."""
    if parts and all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    flat = list(chain.from_iterable(parts))
    numbers = np.array(flat)
    if numbers.dtype.kind in "iu":
        no_truth_values(flat, numbers, "document numbers")
    return numbers


def _rectangles(
    lengths: ArrayLike, batches: Iterable[Sequence[int]], round_to: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lengths inside all batches, and of each batch its rows and its width."""
    round_to = whole(round_to, "round_to")
    tokens = checked(lengths)
    numbers, starts = joined(batches, len(tokens))
    inside = tokens[numbers]
    widths = -(-np.maximum.reduceat(inside, starts) // round_to) * round_to
    return inside, np.diff(starts, append=len(inside)), widths


def _cut(order: np.ndarray, rows: int) -> list[Batch]:
    rows = min(whole(rows, "rows"), len(order))
    full = len(order) // rows * rows
    batches: list[Batch] = order[:full].reshape(-1, rows).tolist()
    return [*batches, order[full:].tolist()] if full < len(order) else batches
