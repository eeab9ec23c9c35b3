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

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked

__all__ = [
    "Batch",
    "Padding",
    "Pairs",
    "at_least_one",
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
    return Pairs(int(inside @ inside), int(rows @ widths**2))


def in_order(lengths: ArrayLike, rows: int) -> list[Batch]:
    """Batch the documents as they arrive; the last batch may be short.

    >>> in_order([5, 3, 8, 2, 9], rows=2)
    [[0, 1], [2, 3], [4]]
    """
    return _cut(range(len(checked(lengths))), rows)


def by_length(lengths: ArrayLike, rows: int) -> list[Batch]:
    """Sort, then batch, so that the rows of one batch are nearly equal.

    If `rows` divides the number of documents, no other split pads less. The price is order: every
    epoch walks from the shortest to the longest.

    >>> by_length([5, 3, 8, 2], rows=2)
    [[3, 1], [0, 2]]
    """
    return _cut(np.argsort(checked(lengths), kind="stable").tolist(), rows)


def in_windows(
    lengths: ArrayLike, rows: int, *, window: int, rng: np.random.Generator
) -> list[Batch]:
    """Shuffle, sort within windows of `window` batches, shuffle the batches.

    A dial between the other two: a window of one batch is plain shuffling, one window around all
    documents pads as little as `by_length`.
    """
    at_least_one(rows=rows, window=window)
    batches = _cut(window_order(checked(lengths), window * rows, rng).tolist(), rows)
    rng.shuffle(batches)  # else every window would run from short to long
    return batches


def window_order(keys: np.ndarray, documents: int, rng: np.random.Generator) -> np.ndarray:
    """Document numbers in random order, then sorted by `keys` inside windows of `documents`."""
    order = rng.permutation(len(keys))
    return order[np.lexsort((keys[order], np.arange(len(keys)) // documents))]


def expected_longest(lengths: ArrayLike, rows: int) -> float:
    """Tokens in the longest of `rows` documents drawn at random without replacement, on average.

    Exact, without sampling: the longest length, less each gap below it times the chance that the
    draw stays under that gap. A sum of positive terms, so any number of rows is safe.

    >>> round(expected_longest([1, 2, 3], rows=2), 9)  # pairs 12, 13, 23: longest 2, 3, 3
    2.666666667
    """
    tokens = checked(lengths)
    if not 1 <= rows <= len(tokens):
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
    j = N, N - 1, ... is C(N - k, rows) / C(N, rows) after k of them.
    """
    left = np.arange(documents, 0, -1)
    return np.cumprod(np.maximum(left - rows, 0) / left)


def joined(batches: Iterable[Sequence[int]], documents: int) -> tuple[np.ndarray, np.ndarray]:
    """All document numbers in one array, and where each batch begins in it."""
    parts = [np.asarray(batch) for batch in batches]
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    if not parts:
        raise ValueError("there are no batches: at least 1 is needed")
    if not sizes.all():
        empty = int(np.argmin(sizes))
        raise ValueError(f"batch {empty} is empty: a rectangle needs at least 1 row")
    numbers = np.concatenate(parts)
    if not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"batches hold document numbers, got values of type {numbers.dtype}")
    starts = np.cumsum(sizes) - sizes
    outside = (numbers < 0) | (numbers >= documents)
    if outside.any():
        place = int(np.argmax(outside))
        batch = int(np.searchsorted(starts, place, side="right")) - 1
        raise ValueError(
            f"batch {batch} names document {numbers[place]}; they are 0 to {documents - 1:,}"
        )
    return numbers, starts


def at_least_one(**options: int) -> None:
    """Refuse any option that is no whole number of at least 1, by its name."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def _rectangles(
    lengths: ArrayLike, batches: Iterable[Sequence[int]], round_to: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lengths inside all batches, and of each batch its rows and its width."""
    at_least_one(round_to=round_to)
    tokens = checked(lengths)
    numbers, starts = joined(batches, len(tokens))
    inside = tokens[numbers]
    widths = -(-np.maximum.reduceat(inside, starts) // round_to) * round_to
    return inside, np.diff(starts, append=len(inside)), widths


def _cut(order: Sequence[int], rows: int) -> list[Batch]:
    at_least_one(rows=rows)
    return [list(order[i : i + rows]) for i in range(0, len(order), rows)]
