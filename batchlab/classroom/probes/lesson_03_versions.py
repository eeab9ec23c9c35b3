"""Versions of the functions of lesson 03, right ones and wrong ones under their thoughts.

    lengths, rows, window, seed, epoch  ->  batches of document numbers

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG"]

Batches = list[list[int]]
Make = Callable[[Sequence[int], int, int, int, int], Batches]


def _batches(lengths: Sequence[int], rows: int, window: int, rng: np.random.Generator) -> Batches:
    """Shuffled, sorted in windows, cut, mixed."""
    found = _ordered(lengths, rows, window, rng, epoch=0)
    return [found[int(k)] for k in rng.permutation(len(found))]


def _ordered(
    lengths: Sequence[int], rows: int, window: int, rng: np.random.Generator, epoch: int
) -> Batches:
    """Never mixed, short first; in odd epochs the short micro-batch of a window is its first."""
    own, found = [int(n) for n in lengths], []
    numbers = [int(n) for n in rng.permutation(len(own))]
    for start in range(0, len(own), rows * window):
        inside = sorted(numbers[start : start + rows * window], key=own.__getitem__)
        first = len(inside) % rows if epoch % 2 else 0
        found += [inside[:first]] if first else []
        found += [inside[i : i + rows] for i in range(first, len(inside), rows)]
    return found


def _new(*seed: int) -> np.random.Generator:
    return np.random.default_rng(list(seed))


def _twice(made: Batches) -> Batches:
    """Document 0 in the place of the largest number: once too often, and another never."""
    last = max(number for batch in made for number in batch)
    return [[0 if number == last else number for number in batch] for batch in made]


RIGHT: dict[str, tuple[Make, ...]] = {
    "windowed": (
        lambda lens, rows, window, seed, epoch: _batches(lens, rows, window, _new(seed, epoch)),
        lambda lens, rows, window, seed, epoch: _batches(lens, rows, window, _new(epoch, 5, seed)),
        lambda lens, rows, window, seed, epoch: _batches(
            [-int(n) for n in lens], rows, window, _new(seed, epoch, 1)
        ),
        lambda lens, rows, window, seed, epoch: [
            list(np.asarray(batch)) for batch in _batches(lens, rows, window, _new(7, seed, epoch))
        ],
    )
}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "windowed": {
        "drops the last batch": lambda lens, rows, window, seed, epoch: [
            batch for batch in _batches(lens, rows, window, _new(seed, epoch)) if len(batch) == rows
        ],
        "fills the last batch up with documents of the first": (
            lambda lens, rows, window, seed, epoch: [
                (batch + list(range(rows)))[:rows]
                for batch in _batches(lens, rows, window, _new(seed, epoch))
            ]
        ),
        "trains one document twice and another never": lambda lens, rows, window, seed, epoch: (
            _twice(_batches(lens, rows, window, _new(seed, epoch)))
        ),
        "puts one row more into a batch": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows + 1, window, _new(seed, epoch)
        ),
        "the same order in every epoch": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows, window, _new(seed)
        ),
        "draws anew on every rank": lambda lens, rows, window, seed, epoch: _batches(
            lens, rows, window, np.random.default_rng()
        ),
        "leaves the batches in length order, short first": (
            lambda lens, rows, window, seed, epoch: _ordered(
                lens, rows, window, _new(seed, epoch), epoch
            )
        ),
        "leaves the batches in length order, long first": (
            lambda lens, rows, window, seed, epoch: _ordered(
                lens, rows, window, _new(seed, epoch), epoch
            )[::-1]
        ),
    },
    "both-fit": {
        "the image tokens are forgotten": lambda t, i, a, b: len(t) * max(t) <= a,
        "an example without an image takes a slot for its placeholder: each is a row": (
            lambda t, i, a, b: len(t) * max(t) <= a and sum(n > 1 for n in i) * max(i) <= b
        ),
        "the image of the longest text is not always the longest image": (
            lambda t, i, a, b: len(t) * max(t) <= a and len(t) * i[t.index(max(t))] <= b
        ),
        "one row too many: the example has joined already": (
            lambda t, i, a, b: (len(t) + 1) * max(t) <= a and (len(t) + 1) * max(i) <= b
        ),
        "the text is forgotten": lambda t, i, a, b: len(t) * max(i) <= b,
        "a budget on real tokens: each rectangle is rows x its longest": (
            lambda t, i, a, b: sum(t) <= a and sum(i) <= b
        ),
        "one budget for both: each rectangle has its own": (
            lambda t, i, a, b: len(t) * max(x + y for x, y in zip(t, i, strict=True)) <= a + b
        ),
        "the two budgets are added up: each rectangle has its own": (
            lambda t, i, a, b: len(t) * (max(t) + max(i)) <= a + b
        ),
        "one of the two is not enough: both must fit": (
            lambda t, i, a, b: len(t) * max(t) <= a or len(t) * max(i) <= b
        ),
        "the rows are forgotten: a rectangle is rows x its longest": (
            lambda t, i, a, b: max(t) <= a and max(i) <= b
        ),
        "the two budgets are swapped": lambda t, i, a, b: (
            len(t) * max(t) <= b and len(t) * max(i) <= a
        ),
        "a full rectangle fits: at most, not less than": (
            lambda t, i, a, b: len(t) * max(t) < a and len(t) * max(i) < b
        ),
        "the first image is not always the longest": (
            lambda t, i, a, b: len(t) * max(t) <= a and len(t) * i[0] <= b
        ),
        "the first of each is not always the longest": (
            lambda t, i, a, b: len(t) * t[0] <= a and len(t) * i[0] <= b
        ),
        "the last of each is not always the longest": (
            lambda t, i, a, b: len(t) * t[-1] <= a and len(t) * i[-1] <= b
        ),
    },
}
