"""Attention wastes more: pairs of slots."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.padding import drawn, several


def pair_waste(batches):
    """Share of the attention pairs that touches padding, over all batches together."""
    real = sum(length**2 for batch in batches for length in batch)
    pairs = sum(len(batch) * max(batch) ** 2 for batch in batches)
    return (pairs - real) / pairs


REAL = "length**2 for batch in batches for length in batch"
PAIRS = "len(batch) * max(batch) ** 2 for batch in batches"
exercise = Exercise(
    pair_waste,
    hints=(
        "the real pairs are a sum of squared lengths",
        "the pairs of a batch are len(batch) * max(batch) ** 2",
        "add both over all batches, then (pairs - real) / pairs",
    ),
    asked=lambda batches: f"pair waste of {several(batches)}",
    shown=[([[4, 4], [6, 5]],), ([[2, 3, 1], [7], [5, 4], [5, 4]],), ([[1000, 999], [400]],)],
    drawn=drawn,
    share="the share that is real: the rest is waste",
    passed="Right: the wasted share of pairs is larger than that of slots.",
)
exercise.edit("slots, not pairs: square the lengths", [("length**2", "length"), (") ** 2", ")")])
exercise.edit(
    "rows do not attend to each other: square each row on its own",
    [
        (REAL, "sum(batch) ** 2 for batch in batches"),
        (PAIRS, "(len(batch) * max(batch)) ** 2 for batch in batches"),
    ],
)
exercise.edit(
    "the square of a sum is no sum of squares: square each length",
    [(REAL, "sum(batch) ** 2 for batch in batches")],
)
exercise.edit(
    "a row attends to itself alone: rows x width squared, rows are not squared",
    [(PAIRS, "(len(batch) * max(batch)) ** 2 for batch in batches")],
)
exercise.edit(
    "causal pairs: here count all, width squared",
    [("length**2", "length * (length + 1)"), ("max(batch) ** 2", "max(batch) * (max(batch) + 1)")],
)
exercise.edit("per real pair: divide by all pairs", [("/ pairs", "/ real")])
exercise.edit(
    "one rectangle around all the data: each batch has its own width",
    [("max(batch) ** 2", "max(map(max, batches)) ** 2")],
)
exercise.edit(
    "every batch has rows of its own, not as many as the first", [("len(batch)", "len(batches[0])")]
)
exercise.edit(
    "two batches only: add over all of them",
    [(REAL, "length**2 for batch in batches[:2] for length in batch"), (PAIRS, PAIRS + "[:2]")],
)
exercise.edit(
    "a batch that comes again counts again",
    [("    real =", "    batches = set(map(tuple, batches))\n    real =")],
)
exercise.edit(
    "batches of one row are left out: their pairs count",
    [("    real =", "    batches = [b for b in batches if len(b) > 1] or batches\n    real =")],
)
exercise.edit(
    "squares the lengths that it was given",
    [
        (
            "    real = sum(length**2 for",
            "    for b in batches:\n        b[:] = [n * n for n in b]\n    real = sum(length for",
        ),
        (") ** 2", ")"),
    ],
    says="changed",
)


@exercise.mistake
def mean_of_shares(batches):
    """the mean of the batches' own shares: add first, divide once"""
    return sum(1 - sum(x * x for x in b) / (len(b) * max(b) ** 2) for b in batches) / len(batches)


@exercise.mistake
def own_pairs_only(batches):
    """a pair of one real and one empty slot touches padding, too"""
    return sum((max(b) - x) ** 2 for b in batches for x in b) / sum(
        len(b) * max(b) ** 2 for b in batches
    )


@exercise.style
def vectorised(batches):
    """with arrays, of Python's own integers where squares are long"""
    real = sum((np.asarray(b, dtype=object) ** 2).sum() for b in batches)
    return float(1 - real / sum(len(b) * max(b) ** 2 for b in batches))


@exercise.style
def pair_by_pair(batches):
    """pair by pair"""
    touched = sum(max(b) ** 2 - x**2 for b in batches for x in b)
    return touched / sum(max(b) ** 2 for b in batches for x in b)
