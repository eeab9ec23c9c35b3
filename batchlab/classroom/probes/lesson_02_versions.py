"""Versions of lesson 02's functions, right and wrong.

    a case of the lesson  ->  the right value, and what a known mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import Any

import numpy as np

from batchlab import padding
from batchlab.classroom.probes import collators

__all__ = ["BUGS", "RIGHT", "WRONG"]

Batches = Sequence[Sequence[int]]


def _tokens(batches: Batches) -> int:
    return sum(sum(batch) for batch in batches)


def _slots(batches: Batches) -> int:
    return sum(len(batch) * max(batch) for batch in batches)


def _waste(batches: Batches) -> float:
    return 1 - _tokens(batches) / _slots(batches)


def _waste_row_by_row(batches: Batches) -> float:
    pad = sum(max(batch) - tokens for batch in batches for tokens in batch)
    return pad / sum(max(batch) for batch in batches for _ in batch)


def _waste_of_arrays(batches: Batches) -> float:
    arrays = [np.array(batch, dtype=np.int64) for batch in batches]
    slots = sum(rows.size * rows.max() for rows in arrays)
    return (slots - sum(rows.sum() for rows in arrays)) / slots  # type: ignore[no-any-return]


def _waste_from_padding_per_token(batches: list[list[int]]) -> float:
    flat: list[int] = sum(batches, [])  # noqa: RUF017  (lists of lists, and nothing else)
    per_token = _slots(batches) / sum(flat) - 1
    return per_token / (1 + per_token)


def _pair_waste(batches: Batches) -> float:
    return 1 - _squares(batches) / sum(len(batch) * max(batch) ** 2 for batch in batches)


def _squares(batches: Batches) -> int:
    return sum(tokens**2 for batch in batches for tokens in batch)


def _bound(real_tokens: float, slots: float, fixed: float) -> float:
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)


def _expected_longest(tokens: Sequence[int], rows: int, first: int = 0) -> float:
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(sorted(map(int, tokens)), first))
    return total / comb(len(tokens), rows)


def _with_replacement(tokens: Sequence[int], rows: int) -> float:
    count = len(tokens)
    chances = (((i + 1) / count) ** rows - (i / count) ** rows for i in range(count))
    return sum(n * chance for n, chance in zip(sorted(tokens), chances, strict=True))


def _wrapped(batches: Batches, kind: Any) -> Batches:
    """The lengths as an integer type of NumPy holds them."""
    return [np.asarray(batch).astype(kind).tolist() for batch in batches]


def _squares_in_32_bits(batches: Batches) -> float:
    squared = [[tokens**2 for tokens in batch] for batch in batches]
    wide = [[max(batch) ** 2] * len(batch) for batch in batches]
    return 1 - _tokens(_wrapped(squared, np.int32)) / _tokens(_wrapped(wide, np.int32))


def _rounded(right: Callable[..., float], *digits: int) -> dict[str, Callable[..., float]]:
    return {
        f"rounded to {some} digits: give all of them": lambda *case, some=some: round(
            right(*case), some
        )
        for some in digits
    }


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "waste": (_waste, _waste_row_by_row, _waste_of_arrays, _waste_from_padding_per_token),
    "bound": (_bound,),
    "pair-waste": (_pair_waste,),
    "expected-longest": (padding.expected_longest, _expected_longest),
    "collate": (collators.collate,),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "waste": {
        "the mean of the batches' own shares: a tiny batch counts like a large one": lambda bs: (
            sum(_waste([b]) for b in bs) / len(bs)
        ),
        "padding per real token: divide by the slots": lambda bs: _slots(bs) / _tokens(bs) - 1,
        "one rectangle around all the data: each batch has its own width": lambda bs: _waste(
            [[n for b in bs for n in b]]
        ),
        "the last batch is forgotten": lambda bs: _waste(bs[:-1]),
        "a batch is as wide as its longest row, not as its first": lambda bs: (
            1 - _tokens(bs) / sum(len(b) * b[0] for b in bs)
        ),
        "batches of one row are left out: they waste nothing, but their slots count": lambda bs: (
            _waste([b for b in bs if len(b) > 1] or bs)
        ),
        "the share that is real: the rest is waste": lambda bs: 1 - _waste(bs),
        "in per cent: a share lies between 0 and 1": lambda bs: 100 * _waste(bs),
        "a whole division: `//` drops what stands behind the point": lambda bs: float(
            (_slots(bs) - _tokens(bs)) // _slots(bs)
        ),
        "padding slots, not a share": lambda bs: _slots(bs) - _tokens(bs),
        "the rows of a batch are its documents, len(batch), not the number of batches": lambda bs: (
            1 - _tokens(bs) / sum(len(bs) * max(b) for b in bs)
        ),
        "rounded: give all digits, and round only what you show": lambda bs: round(_waste(bs), 2),
        "the longest row may stand anywhere, not first or last only": lambda bs: (
            1 - _tokens(bs) / sum(len(b) * max(b[0], b[-1]) for b in bs)
        ),
        "a batch that comes again counts again": lambda bs: _waste(
            [list(b) for b in dict.fromkeys(tuple(sorted(b)) for b in bs)]
        ),
        "a batch is as wide as its longest row, not as its last": lambda bs: (
            1 - _tokens(bs) / sum(len(b) * b[-1] for b in bs)
        ),
        "16 bits hold no length above 32,767": lambda bs: _waste(_wrapped(bs, np.int16)),
        **_rounded(_waste, 4, 6),
    },
    "bound": {
        "all padding: the fixed share is left, so it is 1 / fixed": lambda real, slots, fixed: (
            _bound(real, slots, fixed) if real else 1.0
        ),
        "the fixed share is forgotten": lambda real, slots, fixed: slots / real,
        "the mean of two speed-ups: add times, then divide": lambda real, slots, fixed: (
            fixed + (1 - fixed) * slots / real
        ),
        "the shares are exchanged: `fixed` is the part that stays": lambda real, slots, fixed: (
            _bound(real, slots, 1 - fixed)
        ),
        "the time that is left: the speed-up is one over it": lambda real, slots, fixed: (
            1 / _bound(real, slots, fixed)
        ),
        "the waste in place of the real share": lambda real, slots, fixed: _bound(
            slots - real, slots, fixed
        ),
        "real tokens and slots are exchanged": lambda real, slots, fixed: _bound(
            slots, real, fixed
        ),
        "in per cent: a factor is asked": lambda real, slots, fixed: (
            100 * _bound(real, slots, fixed)
        ),
        "`fixed` is no part of the rest: only 1 - fixed shrinks": lambda real, slots, fixed: (
            1 / (fixed + real / slots)
        ),
        "times add, factors do not: write down the time that is left": lambda real, slots, fixed: (
            (1 - fixed) * slots / real
        ),
        "the numbers of the first batch: take those that are handed over": (
            lambda real, slots, fixed: 32000 / 8012
        ),
        "the time that is saved: the factor is asked": lambda real, slots, fixed: (
            1 - 1 / _bound(real, slots, fixed)
        ),
        "capped: a small fixed share allows any factor": lambda real, slots, fixed: min(
            4, _bound(real, slots, fixed)
        ),
        "`fixed` is a share, never per cent": lambda real, slots, fixed: _bound(
            real, slots, fixed / 100 if fixed > 0.5 else fixed
        ),
        "the share of real tokens was rounded: give all digits": lambda real, slots, fixed: _bound(
            round(real / slots, 2), 1, fixed
        ),
        **_rounded(_bound, 2, 4),
        "by how much more: the whole factor is asked": lambda real, slots, fixed: (
            _bound(real, slots, fixed) - 1
        ),
    },
    "pair-waste": {
        "slots, not pairs: square the lengths": _waste,
        "rows do not attend to each other: square each row on its own": lambda bs: (
            1 - sum(sum(b) ** 2 for b in bs) / sum((len(b) * max(b)) ** 2 for b in bs)
        ),
        "the square of a sum is no sum of squares: square each length": lambda bs: (
            1 - sum(sum(b) ** 2 for b in bs) / sum(len(b) * max(b) ** 2 for b in bs)
        ),
        "a row attends to itself alone: rows x width squared, rows are not squared": lambda bs: (
            1 - _squares(bs) / sum((len(b) * max(b)) ** 2 for b in bs)
        ),
        "in per cent: a share lies between 0 and 1": lambda bs: 100 * _pair_waste(bs),
        "per real pair: divide by all pairs": lambda bs: 1 / (1 - _pair_waste(bs)) - 1,
        "causal pairs: here count all, width squared": lambda bs: (
            1
            - sum(n * (n + 1) for b in bs for n in b)
            / sum(len(b) * max(b) * (max(b) + 1) for b in bs)
        ),
        "the mean of the batches' own shares: add first, divide once": lambda bs: (
            sum(_pair_waste([b]) for b in bs) / len(bs)
        ),
        "one rectangle around all the data: each batch has its own width": lambda bs: _pair_waste(
            [[n for b in bs for n in b]]
        ),
        "a pair of one real and one empty slot touches padding, too": lambda bs: (
            sum((max(b) - n) ** 2 for b in bs for n in b) / sum(len(b) * max(b) ** 2 for b in bs)
        ),
        "the share of real pairs: the rest is waste": lambda bs: 1 - _pair_waste(bs),
        "the waste of slots, squared: square the lengths": lambda bs: _waste(bs) ** 2,
        "batches of one row are left out: their pairs count": lambda bs: _pair_waste(
            [b for b in bs if len(b) > 1] or bs
        ),
        "the longest row may stand anywhere, not first or last only": lambda bs: (
            1 - _squares(bs) / sum(len(b) * max(b[0], b[-1]) ** 2 for b in bs)
        ),
        "every batch has rows of its own, not as many as the first": lambda bs: (
            1 - _squares(bs) / sum(len(bs[0]) * max(b) ** 2 for b in bs)
        ),
        "two batches only: add over all of them": lambda bs: _pair_waste(bs[:2]),
        "32 bits hold no square above 2,147,483,647": lambda bs: _squares_in_32_bits(bs),
        **_rounded(_pair_waste, 5),
    },
    "expected-longest": {
        "drawn with replacement: a document cannot stand in a batch twice": _with_replacement,
        "the mean length, whatever the rows": lambda ns, rows: sum(ns) / len(ns),
        "the longest of all, not of each draw": lambda ns, rows: float(max(ns)),
        "a formula for uniform lengths, not for these": lambda ns, rows: (
            (max(ns) + 1) * rows / (rows + 1)
        ),
        "one place too late: count the places from 0, so that i stand before it": (
            lambda ns, rows: _expected_longest(ns, rows, first=1)
        ),
        "the lengths come unsorted: sort them first": lambda ns, rows: (
            sum(n * comb(i, rows - 1) for i, n in enumerate(ns)) / comb(len(ns), rows)
        ),
        "equal lengths are thrown together: each document has its own place": lambda ns, rows: (
            _expected_longest(sorted(set(ns)), rows)
        ),
        "the shortest of each draw: sort from short to long": lambda ns, rows: (
            -_expected_longest([-n for n in ns], rows)
        ),
        "the document itself is one of the draw: B - 1 come from before it": lambda ns, rows: (
            sum(n * comb(i, rows) for i, n in enumerate(sorted(ns))) / comb(len(ns), rows)
        ),
        **_rounded(_expected_longest, 3),
        "all draws of B - 1: divide by the draws of B": lambda ns, rows: (
            _expected_longest(ns, rows) * comb(len(ns), rows) / comb(len(ns), rows - 1)
        ),
    },
    "collate": collators.WRONG,
}

BUGS = dict(list(WRONG["waste"].items())[:6])  # what a test of waste must find
