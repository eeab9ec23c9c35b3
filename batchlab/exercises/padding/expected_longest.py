"""Predict without sampling: the mean longest of a draw."""

from math import comb  # for the versions below: an answer imports its own

from batchlab.exercises import Exercise


def expected_longest(lengths, rows):
    """Mean length of the longest of `rows` documents, over all draws without replacement."""
    from math import comb

    in_order = sorted(int(length) for length in lengths)
    total = sum(length * comb(i, rows - 1) for i, length in enumerate(in_order))
    return total / comb(len(in_order), rows)


def asked(lengths, rows):
    said = (
        f"{lengths}"
        if len(lengths) <= 12
        else f"{len(lengths):,} documents of up to {max(lengths):,} tokens"
    )
    return f"mean longest of {rows} out of {said}"


def drawn(rng):
    small = [(rng.integers(1, 12, n).tolist(), int(rng.integers(1, n + 1))) for n in range(2, 22)]
    many = rng.integers(1, 3 * 10**9, 1500).tolist()
    return [*small, ([7], 1), ([4, 4, 4], 2), (many, 64), (many, 700), (many[::2], 64)]


def endless(lengths, rows):
    return (
        f"too many draws to list: comb({len(lengths)}, {rows}) has {len(str(comb(len(lengths), rows)))}"
        " digits. Count for each place instead"
    )


def explain(got, lengths, rows):
    """A mean of random draws: near, and a count of draws makes it a whole number."""
    near = abs(got / expected_longest(lengths, rows) - 1) < 0.1
    drawn = any(abs(got * n - round(got * n)) < 1e-6 * n for n in (1000, 5000, 10**4, 10**5))
    exact = abs(got * 60 - round(got * 60)) < 1e-9
    return "a mean of some random draws: count all of them" if near and drawn and not exact else ""


exercise = Exercise(
    expected_longest,
    endless=endless,
    explain=explain,
    seconds=3.0,
    twice=False,  # random draws are named by `explain`
    points=3,
    hints=(
        "sorted(lengths), and enumerate() for the places",
        "comb(i, rows - 1) draws have the document at place i as their longest",
        "sum of length * comb(i, rows - 1), divided by comb(len(lengths), rows)",
    ),
    asked=asked,
    shown=[([2, 3, 7, 12], 2), ([3, 9, 1], 2), ([9, 4, 4, 1], 2), ([3, 1, 1, 2] * 20, 40)],
    drawn=drawn,
    passed="Right, to the last digit that 2,000 draws cannot give.",
)
exercise.edit(
    "the lengths come unsorted: sort them first",
    [("sorted(int(length) for length in lengths)", "list(lengths)")],
)
exercise.edit(
    "one place too late: count the places from 0, so that i stand before it",
    [("(in_order))\n", "(in_order, 1))\n")],
)
exercise.edit(
    "equal lengths are thrown together: each document has its own place",
    [("in lengths)", "in set(lengths))")],
)
exercise.edit(
    "equal lengths get one place: .index() finds the first, enumerate() has each",
    [
        (
            "length in enumerate(in_order))\n",
            "length in ((in_order.index(x), x) for x in in_order))\n",
        )
    ],
)
exercise.edit(
    "a whole division: `//` drops what stands behind the point",
    [("total / comb", "total // comb")],
)
exercise.edit(
    "the shortest of each draw: sort from short to long", [("in lengths)", "in lengths)[::-1]")]
)
exercise.edit(
    "the document itself is one of the draw: B - 1 come from before it", [("rows - 1", "rows")]
)
exercise.edit(
    "all draws of B - 1: divide by the draws of B",
    [("len(in_order), rows)", "len(in_order), rows - 1)")],
)
exercise.edit(
    "rounded: give all digits",
    [("total / comb(len(in_order), rows)", "round(total / comb(len(in_order), rows), 2)")],
)
exercise.edit(
    "sorts the list that it was given",
    [
        (
            "in_order = sorted(int(length) for length in lengths)",
            "in_order = lengths\n    lengths.sort()",
        )
    ],
    says="changed",
)


@exercise.mistake
def with_replacement(lengths, rows):
    """drawn with replacement: a document cannot stand in a batch twice"""
    s, n = sorted(lengths), len(lengths)
    return sum(x * (((i + 1) / n) ** rows - (i / n) ** rows) for i, x in enumerate(s))


@exercise.mistake
def mean(lengths, rows):
    """the mean length, whatever the rows"""
    return sum(lengths) / len(lengths)


@exercise.mistake
def longest(lengths, rows):
    """the longest of all, not of each draw"""
    return float(max(lengths))


@exercise.mistake
def uniform(lengths, rows):
    """a formula for uniform lengths, not for these"""
    return (max(lengths) + 1) * rows / (rows + 1)


@exercise.mistake
def sampled(lengths, rows):
    """a mean of some random draws: count all of them"""
    import random

    rng = random.Random(1)
    return sum(max(rng.sample(lengths, rows)) for _ in range(100)) / 100


@exercise.mistake
def chunks(lengths, rows):
    """neighbours only: any `rows` of the documents may be drawn together"""
    kept = [lengths[i : i + rows] for i in range(0, len(lengths) - rows + 1, rows)]
    return sum(map(max, kept)) / len(kept)


@exercise.mistake
def chunks_with_rest(lengths, rows):
    """neighbours only: any `rows` of the documents may be drawn together"""
    kept = [lengths[i : i + rows] for i in range(0, len(lengths), rows)]
    return sum(map(max, kept)) / len(kept)


@exercise.mistake
def overflows(lengths, rows):
    """NumPy's integers end at 2**63: counts of draws need Python's own"""
    import numpy as np

    s = np.sort(lengths)
    chances = np.array([comb(i, rows - 1) for i in range(len(s))], dtype=np.int64)
    return float((s * chances).sum() / comb(len(s), rows))


@exercise.style
def library(lengths, rows):
    """the library"""
    from batchlab import padding

    return padding.expected_longest(lengths, rows)


@exercise.style
def fractions_of_a_chance(lengths, rows):
    """fractions of a chance"""
    from fractions import Fraction

    s = sorted(map(int, lengths))
    whole = comb(len(s), rows)
    return float(sum(Fraction(x * comb(i, rows - 1), whole) for i, x in enumerate(s)))
