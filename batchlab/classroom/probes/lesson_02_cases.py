"""Cases of lesson 02's checks: small ones, pairs, and large ones over many orders of magnitude.

    a random generator  ->  (what is asked, arguments, what a wrong answer probably overlooks)

Words
    pair   two cases that differ in one thing: who remembers the first is wrong in the second
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "EARLIER",
    "bound_cases",
    "longest_cases",
    "pair_waste_cases",
    "waste_cases",
]

Batches = list[list[int]]
Case = tuple[str, tuple[Any, ...], str]

EARLIER = "a call counts what it is given: nothing of an earlier call may stay"
EVERY_BATCH = "every batch counts, wherever it stands, however often it comes, and by its own width"
EVERY_ROW = "every row counts, however many there are, and the longest may stand anywhere"
SMALL = [  # batches for waste and pair-waste, and the thought where no known mistake fits
    ([[4, 4]], "a full rectangle wastes nothing, whatever was counted in earlier calls"),
    ([[7]], "a single row may come alone: it wastes nothing"),
    ([[5, 3]], "a batch is as wide as its longest row: count it by hand"),
    ([[3, 6, 4], [1]], EVERY_ROW),
    ([[3, 6, 2], [7], [5, 4]], EVERY_BATCH),
    ([[5, 3], [8, 2], [4, 1], [6, 5], [7, 3]], EVERY_BATCH),
    ([[9], [8], [3, 5], [1]], "a batch of one row counts wherever it stands, however often"),
    ([[6, 4, 3], [6, 4, 3], [8, 8], [6, 4, 3]], "a batch that comes again counts again"),
    ([[5, 5, 5], [2, 9], [6, 6, 2]], "rows of one length count one by one"),
    ([[1, 9, 1, 2, 3, 1], [2, 2, 1, 8, 1]], EVERY_ROW),
    ([[5, 3], [8, 2]], EVERY_BATCH),
    ([[5, 3, 8], [2]], "other batches of the same lengths: " + EARLIER),
    ([[5], [3, 8, 2]], "other batches of the same lengths: " + EARLIER),
    ([[5, 3], [2, 8]], EARLIER),
    ([[20 + 37 * (7 * i % 31) for i in range(50)]], EVERY_ROW),
    ([[5001, 4999, 7], [130, 99]], "a width is that of the longest row: not rounded up, not cut"),
    ([[1] * 20 + [5001] + [1] * 20], "nearly all may be padding: no share below 1 is too large"),
    ([[1000, 999], [401]], "a small share is a share, too: keep its digits"),
]


def waste_cases(rng: np.random.Generator, *more: Batches) -> list[Case]:
    """Batches for waste: lengths up to 6,000,000,000, up to 3,000 batches of up to 300 rows."""
    pages = [[[2, 1], [30, 30]], [[1, 2], [7], [30, 30]], [[5, 3], [5, 3], [4, 4]]]
    wide = [[[40_000, 300], [2]], [[2_000_000_000, 1_000_000_000], [2_000_000_000]]]
    found = [("waste", case, thought) for case, thought in SMALL[:3]]
    found += [("waste", case, EVERY_BATCH) for case in (*more, *pages)]
    found += [("waste", case, thought) for case, thought in SMALL[3:]]
    found += [
        ("waste", case, "lengths may be of any size: count in whole numbers") for case in wide
    ]
    return [_asked(*one) for one in found] + _large("waste", rng, 6_000_000_001)


def pair_waste_cases(rng: np.random.Generator, *more: Batches) -> list[Case]:
    """Batches for pair-waste: lengths whose squares are far beyond 32 bits."""
    pages = [[[6, 6]], *more, [[1, 2], [30, 20]]]
    found = [("pair waste", case, thought) for case, thought in SMALL[:3]]
    found += [("pair waste", case, EVERY_BATCH) for case in pages]
    found += [("pair waste", case, thought) for case, thought in SMALL[3:]]
    large = "squares of long rows need more than 32 bits: count in whole numbers"
    found += [("pair waste", [[50_000, 300], [70_000]], large)]
    found += [("pair waste", [[100_001, 200_003, 99_999], [300]], large)]
    return [_asked(*one) for one in found] + _large("pair waste", rng, 3_000_001)


def _asked(what: str, case: Batches, thought: str) -> Case:
    if sum(map(len, case)) > 20:
        rows = f"one batch of {len(case[0])} rows, {min(case[0])} to {max(case[0]):,} tokens"
        return f"{what} of {rows}", (case,), thought
    return f"{what} of {case}", (case,), thought


def _large(what: str, rng: np.random.Generator, longest: int) -> list[Case]:
    """Many batches, then long ones, then a pair of each."""
    many = [_lengths(rng, int(rows), 20_000) for rows in rng.integers(1, 9, 3000)]
    many[0], many[-1] = _lengths(rng, 8, 20_000), [19_999, 1]
    changed = [[n * 50 for n in batch] if i % 2 else batch for i, batch in enumerate(many)]
    long = [_lengths(rng, int(rows), longest) for rows in rng.integers(100, 300, 12)]
    flat = [[min(n, 5003) for n in batch] for batch in long]
    rows = f"{what} of 12 batches of 100 to 300 rows"
    return [
        (f"{what} of 3,000 batches of 1 to 8 rows", (many,), EVERY_BATCH),
        (f"{what} of them, every second one 50 times as long", (changed,), EARLIER),
        (f"{rows}, up to {longest:,} tokens", (long,), EVERY_ROW),
        (f"{rows}, none above 5,003 tokens", (flat,), EARLIER),
    ]


def _lengths(rng: np.random.Generator, rows: int, longest: int) -> list[int]:
    """Lengths spread evenly over the orders of magnitude, in random order."""
    found: list[int] = np.exp(rng.uniform(0, np.log(longest), rows)).astype(np.int64).tolist()
    return found


def bound_cases(rng: np.random.Generator) -> list[Case]:
    """Real tokens, slots and a fixed share: the ends, pairs, and factors up to 10 million."""
    every = "every share counts, however small or large: nothing is rounded and nothing capped"
    whole = "`fixed` may be a whole number: 0 or 1"
    pair = "two calls that differ in one argument: " + EARLIER
    cases = [
        ((40, 100, 0.2), every),
        ((40, 160, 0.2), "other slots: " + pair),
        ((40, 160, 0.3), "another fixed share: " + pair),
        ((50, 160, 0.3), "other real tokens: " + pair),
        ((40, 100, 0.0), every),
        ((40, 100, 0), whole),
        ((40, 100, 1), whole),
        ((8012, 32000, 0.1), every),
        ((8012, 32000, 1.0), every),
        ((70, 70, 0.3), "without padding nothing changes"),
        ((20, 100, 0.7), every),
        ((30, 100, 0.9), every),
        ((0, 100, 0.2), every),
        ((1, 1000, 0.001), every),
        ((97, 100, 0.04), every),
        ((3, 100, 0.97), every),
        ((30, 100, 0.45), every),
        ((12_345, 54_321, 0.0123456), every),
        ((1, 3_000_000_000, 1e-7), every),
        ((7, 10_000_019, 0.0003), every),
        ((6_000_000_001, 9_999_999_967, 0.04), "counts may be of any size"),
        ((3_123, 31_999_999, 0), whole),
        ((1_024, 31_999, 0), whole),
    ]
    for _ in range(40):
        slots = int(10 ** rng.uniform(2, 10))
        real = max(1, int(slots * 10 ** rng.uniform(-5, 0)))
        cases.append(((real, slots, float(10 ** rng.uniform(-6, 0))), every))
    words = "{:,} real tokens in {:,} slots, a share {} fixed: times as fast"
    return [(words.format(*case), case, thought) for case, thought in cases]


def longest_cases(rng: np.random.Generator, documents: Sequence[int]) -> list[Case]:
    """Lengths and rows: ties, one row, all rows, and all of the documents."""
    ties = "of equal lengths each has a place of its own"
    ends = "from one row to all documents: every number of rows is counted alike"
    order = "the lengths come unsorted, and are sorted as numbers"
    small = [
        ([1, 2, 3], 2, "the three pairs have 2, 3 and 3 as their longest"),
        ([3, 1, 2], 2, order),
        ([5003, 9001, 7005], 2, "all digits of the mean count, however long the documents"),
        ([9, 4, 7], 3, ends),
        ([5, 6, 8], 1, ends),
        ([7], 1, "one document alone is the longest of its draw"),
        ([8, 2, 5, 3], 2, order),
        ([8, 7, 6, 3], 2, "other lengths, as many, with the same longest: " + EARLIER),
        ([8, 7, 6, 3], 3, "more rows of the same lengths: " + ends + "; " + EARLIER),
        ([4, 4, 1, 9], 2, ties),
        ([9, 1, 9, 4], 1, ties),
        ([4, 1, 1, 9], 1, ties),
        ([2, 5, 2, 2, 5, 5, 5], 2, ties),
        ([6, 6, 6], 2, "equal lengths are lengths, too"),
        ([100, 9, 10, 2], 2, order),
        ([5, 40, 3, 9, 1], 5, ends),
        ([5, 40, 3, 9, 1], 4, ends),
        ([5, 40, 3, 9, 1], 3, ends),
        ([11, 2, 50, 7, 30, 1, 5], 1, ends),
    ]
    found: list[Case] = [
        (f"mean longest of {rows} out of {lengths}", (lengths, rows), thought)
        for lengths, rows, thought in small
    ]
    long = _lengths(rng, 700, 3_000_000_000)
    for what, lengths, rows in (
        ("the first 400 documents", list(documents[:400]), 64),
        ("the first 1,200 documents", list(documents[:1200]), 400),
        *(("700 documents of up to 3,000,000,000 tokens", long, n) for n in (7, 65, 101)),
        *(("700 documents of up to 3,000,000,000 tokens", long, n) for n in (401, 640, 699)),
        (f"all {len(documents):,} documents", list(documents), 7),
        (f"all {len(documents):,} documents", list(documents), 8),
    ):
        thought = "no number of documents, rows or tokens is too large: count in whole numbers"
        found.append((f"mean longest of {rows} out of {what}", (lengths, rows), thought))
    return found
