"""Cases of lesson 04's checks: small ones, large ones, and calls that differ in one argument.

    an exercise  ->  what its function is called with, in words, and what a miss there means

Words
    what    how a message names the case; empty where the arguments say it
    likely  the thought behind a miss that no known mistake explains; empty where there is none
    rows    rows of this many slots
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_04_collator import documents

__all__ = [
    "KEPT",
    "LIMIT",
    "collated",
    "filled",
    "labelled",
    "laid_out",
    "refused",
    "segments",
    "steps",
    "too_long",
]

LIMIT = (
    "smaller cases are right: something ends or overflows here, such as the bits of a type, a cap, "
    "a window or a recursion"
)
KEPT = "an answer of an earlier call: whatever is remembered must be known by every argument"
Lengths = Any
Document = dict[str, list[int]]


def filled() -> list[tuple[Lengths, int, str, str]]:
    """Lengths and row length for first fit: (lengths, row_length, what, likely)."""
    small: list[tuple[Lengths, int]] = [
        ([6, 5, 4, 3], 10),
        ([6, 5, 4, 3], 12),
        ([3, 4, 6, 5], 10),
        ([5, 5, 5, 5], 10),
        ([4, 3, 7, 2, 5], 7),
        ([995, 5, 400, 600], 1000),
    ]
    narrow: list[tuple[np.ndarray, int]] = [
        (np.array([100, 60, 50, 40, 27], dtype=np.int8), 127),
        (np.array([200, 150, 100, 56, 50], dtype=np.uint8), 250),
        (np.array([60_000, 40_000, 25_000, 5_000], dtype=np.uint16), 65_000),
        (np.array([], dtype=np.int64), 10),
    ]
    wide = [
        ([70_000, 60_000, 40_000, 30_000, 20_001], 100_000),
        ([2_000_001, 1_000_000, 1_000_001], 3_000_001),
        ([1_500_000_000] * 3, 5_000_000_000),
        ([3_000_000_000, 2_500_000_001, 2_500_000_000, 2_000_000_000], 5_000_000_000),
    ]
    row = "the row that the last two share stands behind 1,099 others"
    return [
        *((lengths, size, "", "") for lengths, size in small),
        *((array, size, f"{array.tolist()}, given as {array.dtype}", "") for array, size in narrow),
        *((lengths, size, "", LIMIT) for lengths, size in wide),
        ([90] * 1099 + [60, 40], 100, "1,099 documents of 90 tokens, one of 60, one of 40", row),
        ([1] * 12_000, 4096, "12,000 documents of 1 token", LIMIT),
    ]


def too_long() -> list[tuple[Lengths, int, str]]:
    """Lengths of which some are longer than a row of 10, the number to name, and words."""
    short: list[tuple[Lengths, int]] = [
        ([12, 3], 12),
        ([3, 11, 2], 11),
        ([3, 2, 13], 13),
        (np.array([4, 2, 5, 14]), 14),
        ([11], 11),
        ([4, 20, 1], 20),
        ([45, 2], 45),
        ([13, 2, 13], 13),
    ]
    said = [(some, name, f"a document of {name} tokens in {some}") for some, name in short]
    behind = "a document of 12 tokens behind 1,200 of one token"
    return [*said, ([1] * 1200 + [12], 12, behind)]


def laid_out() -> list[tuple[list[list[int]], int, str, str]]:
    """Documents and slots of a row: (documents, row_length, what, likely)."""
    small = [
        ([[5, 6, 7], [8, 9]], 7),
        ([[5, 0, 7], [8, 0]], 7),  # the token of the tail stands in a document
        ([[5, 6, 7], [8]], 4),  # no tail
        ([[5, 6, 7], [8]], 5),  # a tail of one slot
        ([[5, 6], [7], [8, 9, 4]], 12),  # three documents, and a tail of six slots
        ([[5, 6, 5, 9], [7, 5, 4]], 7),  # a first token that comes again
        ([[5, 6], [8], [5, 6]], 6),  # equal documents
        ([[9]], 1),
        ([[70_000, 5], [150_000]], 4),
        ([[5, 6, 7, 8]], 4),  # one document
        ([[5, 6, 7, 8]], 9),  # one document and a tail
        ([[3, 2, 2, 1, 1, 3, 2]], 8),  # tokens that stand twice in a row
        ([[5], [6, 7, 8]], 7),
        ([[5, 6], [7, 8]], 7),  # the same tokens, another border
        ([[5, 6], [7, 8]], 30),  # the same documents, another row
        ([[5, 6, 7]] * 3, 9),  # equal neighbours
        ([[1, 2], [3], [4, 2, 6], [7, 8], [9, 9], [2]], 13),
    ]
    high = [[16_777_217, 262_145, 16_777_219], [33_554_433, 300_001]]
    long = [[*range(1, 35_001)], [*range(7, 307)]]
    many = [[1 + n % 7] * (1 + n % 3) for n in range(1500)]
    return [
        *((texts, size, "", "") for texts, size in small),
        (high, 6, "", "larger tokens lose digits or bits: keep them as whole numbers"),
        (long, 40_000, "documents of 35,000 and 300 tokens in a row of 40,000", LIMIT),
        (many, 3000, "1,500 documents of 1 to 3 tokens in a row of 3,000", LIMIT),
    ]


def segments() -> list[tuple[list[int], str]]:
    """Sizes of segments for the mask, and what a miss means."""
    small = ([3, 2], [1, 2, 1, 1], [2, 3], [6, 1, 2], [1], [4], [3, 3], [2, 5, 2, 2, 5, 1, 3], [20])
    large = ([1] * 300, [40, 9, 300, 1, 130, 40], [1] * 520 + [2] * 260, [1030])
    return [*((list(sizes), "") for sizes in small), *((list(sizes), LIMIT) for sizes in large)]


def steps() -> list[tuple[int, int, float, float]]:
    """Steps of packed rows: (rows, slots, fill, mean length)."""
    return [
        (4, 1000, 0.9, 150),
        (3, 1000, 0.9, 200),
        (7, 777, 0.8123, 41.7),
        (4, 1000, 0.6, 150),  # each differs in one argument from the first
        (4, 500, 0.9, 150),
        (9, 1000, 0.9, 150),
        (4, 1000, 0.9, 110.25),
        (1, 4096, 1.0, 4096),
        (1, 4096, 0.5, 1700.5),
        (2, 3000, 0.97654321, 2468.13579),
        (16, 8192, 0.31, 1234.5),
        (64, 2048, 0.987, 3.75),
        (3000, 2_000_000, 0.95, 41.7),
    ]


def _given(ids: Sequence[int], labels: Sequence[int] | None = None) -> Document:
    return {"input_ids": [*ids], "labels": [*(ids if labels is None else labels)]}


def labelled() -> list[tuple[list[Document], int, int, str, str]]:
    """Batches whose labels are judged: (documents, row_length, pad, what, likely)."""
    no = -100
    prompt, plain = _given([8, 6, 2, 7, 2], [no, no, 2, 7, 2]), _given([9, 5, 2])
    turns = [_given([8, 2, 3, 4, 5, 2], [no, 2, no, no, 5, 2]), _given([9, 6, 7], [9, no, 7])]
    other, silent = _given([10, 4, 5], [no, 40, 41]), _given([10, 4], [no, no])
    five = [_given([8 + n, 1 + n, 2, 7 - n]) for n in range(5)]
    spoken = _given([8, 1, 3, 4, 5, 6, 7, 1, 3], [no, 1, no, 4, no, 6, no, 1, 3])
    high = [
        _given([70_000, 16_777_217, 2, 50_000]),
        _given([90_000, 65_537, 131_073, 5], [no, no, 131_073, 33_554_433]),
    ]
    said = "documents with labels [-100 2 -100 -100 5 2] and [9 -100 7]"
    twice, bits = (
        "two documents of equal tokens keep labels of their own",
        ("large numbers lose digits or bits: tokens, labels and `pad` are int64"),
    )
    return [
        ([prompt, plain], 10, 2, "two documents, [8 6 2 7 2] with a prompt of 2 and [9 5 2]", ""),
        (turns, 12, 2, said, ""),
        (
            [*turns, other],
            12,
            2,
            "a third document whose labels [-100 40 41] are not its tokens",
            "",
        ),
        (
            [*turns, silent, turns[1], turns[1]],
            10,
            2,
            "three equal documents and one without a trained token",
            "",
        ),
        (
            [silent, plain, silent],
            8,
            2,
            "two equal documents without a trained token, and another",
            "",
        ),
        ([plain], 7, 2, "one document, all trained", ""),
        (five, 21, 0, "five documents of 4 tokens, all trained", "the fifth document is one, too"),
        ([spoken], 10, 0, "a document of five turns, the last of two tokens", "every turn counts"),
        ([plain, _given([9, 5, 2], [no, no, 2])], 7, 0, "equal tokens, labels unlike", twice),
        ([_given([9, 5, 2], [no, 5, no])], 7, 2, "a document met before, with other labels", KEPT),
        (high, 9, 100_003, "tokens, labels and `pad` above 65,535", bits),
    ]


def _drawn(lengths: Sequence[int], pad: int, seed: int = 4) -> list[Any]:
    return documents(lengths, np.random.default_rng(seed), pad)


def collated() -> list[tuple[list[Any], int, int, str, str]]:
    """Batches judged as a whole: (documents, row_length, pad, what, likely)."""
    cases: list[tuple[list[int], int, int, int, str]] = [
        ([7, 4, 6, 3, 5, 2, 1], 12, 3, 4, ""),
        ([6, 6], 6, 0, 4, ""),  # no tail
        ([4, 3], 6, 0, 5, ""),  # a batch of the same shape
        ([4, 4, 4, 8, 8, 8], 12, 2, 4, ""),
        ([5], 16, 3, 4, "one document alone makes a row as any other"),
        ([5, 5], 11, 1, 4, ""),  # equal lengths share an odd row
        ([3, 3, 3, 3], 12, 1, 4, ""),
        ([3, 3, 3, 3], 12, 1, 6, KEPT),  # the same lengths
        ([3, 3, 3, 3], 13, 1, 6, KEPT),  # the same documents, another row
        ([2] * 9 + [1, 1, 1], 21, 2, 4, "a row may hold any number of documents"),
        ([11, 9, 12, 8, 10, 7], 13, 0, 4, ""),
        ([11, 9, 12, 8, 10, 7], 13, 0, 9, KEPT),
    ]
    found = [
        (_drawn(sizes, pad, seed), row, pad, f"documents of {sizes} tokens", likely)
        for sizes, row, pad, seed, likely in cases
    ]
    again = _drawn([3, 4], 1)
    pair = [(again, 9, pad, f"the same two documents, pad {pad}", KEPT) for pad in (1, 5)]
    many = [1 + number % 3 for number in range(400)]
    long = "documents of 2,100, 300 and 20 tokens"  # a mask of the square must fit in memory
    return [
        *found,
        *pair,
        (_drawn(many, 2), 4, 2, "400 documents of 1 to 3 tokens", LIMIT),
        (_drawn([2_100, 300, 20], 2), 2_501, 2, long, LIMIT),
    ]


def refused() -> list[tuple[list[Any], int, str]]:
    """Batches for rows of 12 with a document that is too long, the number to name, and words."""
    short = ([4, 13, 2], [13, 4], [4, 2, 3, 13], [13], [13, 2, 13], [3, 24], [50, 1])
    found = [(_drawn(some, 0), max(some), f"documents of {some} tokens") for some in short]
    silent = [_given([8, 1, 2]), _given([9, *[3] * 12], [-100] * 13)]
    return [
        *found,
        (silent, 13, "a document of 13 tokens, none of them trained, behind one of 3"),
        (_drawn([2] * 80 + [13], 0), 13, "a document of 13 tokens behind 80 of 2"),
    ]
