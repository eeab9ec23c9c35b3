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
    "by_length",
    "expected_longest",
    "expected_waste",
    "in_order",
    "in_windows",
    "measure",
    "measure_pairs",
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
    tokens, total = checked(lengths), Padding(0, 0)
    for inside in _inside(tokens, batches):
        width = _width(inside, round_to)
        total += Padding(int(inside.sum()), len(inside) * width)
    return total


def measure_pairs(
    lengths: ArrayLike, batches: Iterable[Sequence[int]], *, round_to: int = 1
) -> Pairs:
    """Count attention pairs: the sum of squared lengths against rows times squared width.

    Causal attention computes half of either, so the waste is the same.

    >>> measure_pairs([5, 3], [[0, 1]])
    Pairs(real_pairs=34, slot_pairs=50)
    """
    tokens, total = checked(lengths), Pairs(0, 0)
    for inside in _inside(tokens, batches):
        width = _width(inside, round_to)
        total += Pairs(int((inside**2).sum()), len(inside) * width**2)
    return total


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
    tokens = checked(lengths)
    if window < 1:
        raise ValueError(f"a window holds at least 1 batch, got {window}")
    windows = _cut(rng.permutation(len(tokens)).tolist(), window * rows)
    order = [i for part in windows for i in sorted(part, key=tokens.__getitem__)]
    batches = _cut(order, rows)
    rng.shuffle(batches)  # else every window would run from short to long
    return batches


def expected_longest(lengths: ArrayLike, rows: int) -> float:
    """Tokens in the longest of `rows` documents drawn at random without replacement, on average.

    Exact, without sampling: with the N lengths in order, the i-th smallest (from 0) is the longest
    of the draw with probability C(i, rows - 1) / C(N, rows). Equal lengths may be in any order.

    >>> round(expected_longest([1, 2, 3], rows=2), 9)  # pairs 12, 13, 23: longest 2, 3, 3
    2.666666667
    """
    tokens = checked(lengths)
    _check_draw(rows, len(tokens))
    values, counts = np.unique(tokens, return_counts=True)
    upto = np.cumsum(counts)  # documents no longer than each value
    not_longer = _chance_not_longer(upto, rows, len(tokens))
    chance = np.diff(not_longer, prepend=0.0)
    return float(chance @ values / chance.sum())


def expected_waste(lengths: ArrayLike, rows: int) -> float:
    """Expected share of padding in random batches of `rows`, pooled: 1 - E[L] / E[Lmax].

    A ratio of totals, which is what throughput sees; the mean of the batches' own shares is less.

    >>> round(expected_waste([1, 2, 3], rows=2), 9)
    0.25
    """
    return 1 - float(checked(lengths).mean()) / expected_longest(lengths, rows)


def _chance_not_longer(upto: np.ndarray, rows: int, documents: int) -> np.ndarray:
    """C(upto, rows) / C(documents, rows): the whole draw falls among the `upto` shortest."""
    if rows * len(upto) <= 4_000_000:
        chance = np.ones(len(upto))
        for drawn in range(rows):
            chance *= np.maximum(upto - drawn, 0) / (documents - drawn)
        return chance
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, documents + 1)))])
    chance = np.zeros(len(upto))
    enough = upto >= rows
    left = log_factorial[upto[enough]] - log_factorial[upto[enough] - rows]
    chance[enough] = np.exp(left - log_factorial[documents] + log_factorial[documents - rows])
    return chance


def _check_draw(rows: int, documents: int) -> None:
    if not 1 <= rows <= documents:
        raise ValueError(f"rows must be between 1 and the {documents:,} documents, got {rows:,}")


def _inside(tokens: np.ndarray, batches: Iterable[Sequence[int]]) -> Iterable[np.ndarray]:
    for number, batch in enumerate(batches):
        if len(batch) == 0:
            raise ValueError(f"batch {number} is empty: a rectangle needs at least 1 row")
        yield tokens[np.asarray(batch)]


def _width(inside: np.ndarray, round_to: int) -> int:
    if round_to < 1:
        raise ValueError(f"round_to must be at least 1, got {round_to}")
    return -(-int(inside.max()) // round_to) * round_to


def _cut(order: Sequence[int], rows: int) -> list[Batch]:
    if rows < 1:
        raise ValueError(f"a batch needs at least 1 row, got {rows}")
    return [list(order[i : i + rows]) for i in range(0, len(order), rows)]
