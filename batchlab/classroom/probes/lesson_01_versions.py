"""Versions of the functions of lesson 01, right ones and wrong ones under their thoughts.

    gradients, rows or target tokens  ->  the noise, or the gradient of all parts
    the same  ->  what a limit that nobody asked for makes of them, with its thought

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    limit     an end that the text does not set: the first eight parts, at most 1,000 target tokens
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = [
    "RIGHT",
    "WRONG",
    "cut_gradients",
    "cut_measures",
    "cut_noises",
    "old_gradients",
    "total_and_spread",
]

Noise = Callable[[Any, int], float]
FIRST = (3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 50, 64, 100, 128, 256, 400, 500, 512, 1000, 1024)
MOST = (32, 50, 64, 100, 128, 256, 500, 512, 1000, 1024, 1600, 4096, 10_000, 32_767, 65_535)
LONGEST = (1.0, 10.0, 60.0, 100.0, 1000.0)
HELD = "an answer of an earlier call: keep nothing between calls"


def _squares(gradients: Any) -> np.ndarray:
    """Squared distance of each row's gradient from their mean."""
    pulls = np.asarray(gradients, dtype=float)
    squares: np.ndarray = ((pulls - pulls.mean(axis=0)) ** 2).sum(axis=1)
    return squares


def _textbook(gradients: Any, rows: int) -> float:
    return float(np.sqrt(_squares(gradients).mean() / rows))


def _by_moments(gradients: Any, rows: int) -> float:
    pulls = np.asarray(gradients, dtype=float)
    squared = (pulls**2).sum(axis=1).mean() - (pulls.mean(axis=0) ** 2).sum()
    return math.sqrt(max(0.0, float(squared)) / rows)


def _by_parameter(gradients: Any, rows: int) -> float:
    """A sum in another order: its last digit always differs from that of the textbook."""
    columns = zip(*np.asarray(gradients, dtype=float).tolist(), strict=True)
    found = math.sqrt(sum(np.var(column) for column in columns) / rows)
    return max(found, math.nextafter(_textbook(gradients, rows), math.inf)) if found else found


def _around_the_median(gradients: Any, rows: int) -> float:
    pulls = np.asarray(gradients, dtype=float)
    return float(np.sqrt(((pulls - np.median(pulls, axis=0)) ** 2).sum(axis=1).mean() / rows))


def _without_replacement(gradients: Any, rows: int) -> float:
    count = len(gradients)
    return _textbook(gradients, rows) * math.sqrt(max(0.0, (count - rows) / (count - 1)))


def _weighted(gradients: np.ndarray, weights: Any) -> np.ndarray:
    mean: np.ndarray = weights @ gradients / weights.sum()
    return mean


def _running(gradients: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """A running mean that knows the target tokens of the part before only."""
    mean, seen = gradients[0], targets[0]
    for one, n in zip(gradients[1:], targets[1:], strict=True):
        mean, seen = (mean * seen + one * n) / (seen + n), n
    return np.asarray(mean)


def _at_most(length: float, mean: np.ndarray) -> np.ndarray:
    clipped: np.ndarray = mean * min(1.0, length / float(np.linalg.norm(mean)))
    return clipped


RIGHT: dict[str, tuple[Noise, ...]] = {"noise": (_textbook, _by_moments, _by_parameter)}
WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "batch-gradient": {
        "equal weights: a token of a small part counts more": lambda g, n: g.mean(axis=0),
        "the weights are exchanged": lambda g, n: _weighted(g, n[::-1]),
        "the targets were sorted: line k belongs to count k": lambda g, n: _weighted(
            g, np.sort(n)[::-1]
        ),
        "the sum: divide by all target tokens": lambda g, n: n @ g,
        "divided by the number of parts: divide by all target tokens": lambda g, n: n @ g / len(n),
        "the plain sum: nothing is averaged": lambda g, n: g.sum(axis=0),
        "divided by the target tokens and by the parts": lambda g, n: _weighted(g, n) / len(n),
        "a line is a part: targets[:, None] gives each line its weight": lambda g, n: (
            (g * n).sum(axis=0) / n.sum()
        ),
        "weighted by parameter: a line is a part, a column a parameter": lambda g, n: (
            g @ n / n.sum()
        ),
        "one parameter only: the gradient has as many numbers as a line": lambda g, n: _weighted(
            g, n
        )[:1],
        "one number for all parameters: average over the lines only, axis=0": lambda g, n: (
            _weighted(g, n).mean()
        ),
        "each is per target token already: weigh, do not divide": lambda g, n: (g / n[:, None]).sum(
            axis=0
        ),
        "weighted by the root: the root belongs to the noise, not to the mean": lambda g, n: (
            _weighted(g, np.sqrt(n))
        ),
        "weighted by the square of the target tokens": lambda g, n: _weighted(g, n**2),
        "a running mean holds the tokens of all parts so far, not only of the one before": _running,
        "the middle parts are missing: there may be more than two": lambda g, n: _weighted(
            g[[0, -1]], n[[0, -1]]
        ),
        "the last part is missing: there may be more than two": lambda g, n: _weighted(
            g[:-1], n[:-1]
        ),
        "the first three parts only: there may be more": lambda g, n: _weighted(g[:3], n[:3]),
        "parts of few target tokens are left out: each token counts": lambda g, n: _weighted(
            g[n > 0.02 * n.sum()], n[n > 0.02 * n.sum()]
        ),
        "a part of one target token is left out: it counts as one": lambda g, n: _weighted(
            g[n > 1], n[n > 1]
        ),
        "counts of 8 bits: 300 target tokens become 44": lambda g, n: _weighted(
            g, n.astype(np.uint8)
        ),
        "clipped: asked is the gradient as it is": lambda g, n: _at_most(10, _weighted(g, n)),
        "clipped to length 1: asked is the gradient as it is": lambda g, n: _at_most(
            1, _weighted(g, n)
        ),
        "whole numbers: a mean of whole gradients is seldom whole": lambda g, n: np.trunc(
            g * (n / n.sum())[:, None]
        ).sum(axis=0),
        "rounded down: a mean of whole gradients is seldom whole": lambda g, n: np.floor(
            _weighted(g, n)
        ),
        "in half precision: use float32 or wider": lambda g, n: (
            (n / n.sum()).astype(np.float16).astype(float) @ g
        ),
    }
    | {
        f"rounded to {digits} digits: keep them all": (
            lambda g, n, digits=digits: np.round(_weighted(g, n), digits)
        )
        for digits in range(5)
    },
    "noise": {
        "falls as 1/B": lambda g, rows: _textbook(g, 1) / rows,
        "the variance, not its root": lambda g, rows: _textbook(g, rows) ** 2,
        "the length of the gradients, not their spread": lambda g, rows: float(
            np.sqrt((np.asarray(g, dtype=float) ** 2).sum(axis=1).mean() / rows)
        ),
        "the mean distance: not squared before the mean": lambda g, rows: float(
            np.sqrt(_squares(g)).mean() / rows**0.5
        ),
        "the first parameter only": lambda g, rows: _textbook(np.asarray(g)[:, :1], rows),
        "the sum over the rows of the pool, not their mean": lambda g, rows: float(
            np.sqrt(_squares(g).sum() / rows)
        ),
        "distances from the median, not from the mean": _around_the_median,
        "drawn without replacement": _without_replacement,
    },
}


def cut_gradients(g: np.ndarray, n: np.ndarray) -> Iterator[tuple[Any, str]]:
    """What a limit that nobody asked for makes of the gradient of parts g of n target tokens."""
    for most in FIRST:
        yield _weighted(g[:most], n[:most]), "the first parts only: there may be thousands"
    for most in MOST:
        cut = np.minimum(n, most)
        yield _weighted(g, cut), "a large part is cut: all of its target tokens pull"
    for kind in (np.int16, np.uint16):
        narrow = n.astype(kind).astype(float)
        yield _weighted(g, narrow), "counts of 16 bits: 70,001 target tokens become 4,465"
    for longest in LONGEST:
        cut = np.clip(g, -longest, longest)
        yield _weighted(cut, n), "large pulls are cut: asked is the gradient as it is"
    for digits in range(2, 13):
        yield np.round(_weighted(g, n), digits), f"rounded to {digits} digits: keep them all"
        shares = np.round(n / n.sum(), digits)
        yield shares @ g, "the shares of the parts are rounded: keep all digits"
    pulling = np.any(g != 0, axis=1)
    yield (
        _weighted(g[pulling], n[pulling]),
        "a part that pulls with 0 has target tokens: they count",
    )
    for order in (1, -1):  # the first count of equal lines is kept, or the last
        once = dict(zip(map(tuple, g[::order].tolist()), n[::order].tolist(), strict=True))
        lines, counts = np.array(list(once)), np.array(list(once.values()))
        yield _weighted(lines, counts), "two parts with the same gradient are two parts"
    yield g, "a line is asked, not a table of one line"
    yield g.sum(axis=0) / n.sum(), "a line is a mean: multiply it by its target tokens first"
    yield _weighted(g, n).sum(), "one number for all parameters: sum over the lines only, axis=0"
    summed = (g * n[:, None]).sum(axis=1) / n.sum()
    yield summed, "summed over the parameters: a line is a part, axis=0"


def old_gradients(
    g: np.ndarray, n: np.ndarray, before: np.ndarray, counts: np.ndarray
) -> Iterator[tuple[Any, str]]:
    """What is held of an earlier call: its gradients, its counts, their sum, or its answer."""
    yield _weighted(before, counts), HELD
    yield _weighted(g, counts), HELD
    yield _weighted(before, n), HELD
    yield n @ g / counts.sum(), HELD
    yield n @ before / counts.sum(), HELD


def cut_noises(gradients: Any, rows: int) -> Iterator[tuple[float, str]]:
    """What a limit that nobody asked for, or N - 1, makes of a noise."""
    g = np.asarray(gradients, dtype=float)
    if len(g) > 1:
        less = _textbook(g, rows) * math.sqrt(len(g) / (len(g) - 1))
        yield less, "divided by N - 1: the formula above divides by N, the pool is all there is"
    yield _textbook(np.abs(g), rows), "a pull has a sign: it is lost here"
    for digits in range(1, 10):
        yield round(_textbook(g, rows), digits), f"rounded to {digits} digits: keep them all"
    for most in range(1, g.shape[1]):
        yield _textbook(g[:, :most], rows), "the first parameters only: take all"
    for most in FIRST:
        yield _textbook(g[:most], rows), "the first lines only: take the whole pool"
    for most in (*MOST, len(g), 100_000):
        if rows > most:
            yield _textbook(g, most), "from some number of rows on it falls no more: it always does"
    narrow = g.astype(np.float16).astype(float)
    yield _textbook(narrow, rows), "in half precision: use float32 or wider"
    for longest in LONGEST:
        cut = np.minimum(_squares(g), longest**2)
        yield float(np.sqrt(cut.mean() / rows)), "long distances are cut: take them as they are"


def total_and_spread(lines: np.ndarray, n: np.ndarray, less: float = 1.0) -> tuple[float, float]:
    """Length of G, and the spread s of one target token, from gradients per target token."""
    middle = _weighted(lines, n)
    off = float(n @ ((lines - middle) ** 2).sum(axis=1))
    return float(np.linalg.norm(middle)), math.sqrt(off / (len(n) - less))


def cut_measures(lines: np.ndarray, n: np.ndarray) -> Iterator[tuple[tuple[float, float], str]]:
    """Lengths and spreads as a limit that nobody asked for makes them of micro-batches."""
    length, spread = total_and_spread(lines, n)
    yield (length, total_and_spread(lines, n, less=0)[1]), "divided by K: always by K - 1"
    for most in FIRST:
        if most < len(n):
            some = total_and_spread(lines[:most], n[:most])
            yield some, "the first micro-batches only: go through all"
    for most in MOST:
        cut = np.minimum(n, most)
        yield (
            total_and_spread(lines, cut),
            "a large micro-batch is cut: all its target tokens count",
        )
        # |n g|^2 is divided by the cut n, the tokens are not cut
        squares = float(((n / cut * n) * (lines**2).sum(axis=1)).sum())
        rest = max(0.0, squares - float(n.sum()) * length**2)
        cause = "a large micro-batch is cut: all its target tokens count"
        yield (length, math.sqrt(rest / (len(n) - 1))), cause
    for longest in LONGEST:
        sizes = np.linalg.norm(lines, axis=1)
        for scale in (sizes, sizes * n):  # of the mean, or of the sum
            kept = lines * np.minimum(1.0, longest / np.maximum(scale, 1e-300))[:, None]
            yield total_and_spread(kept, n), "a gradient is clipped: take it as it is"
    for digits in range(2, 13):
        whole = (round(length, digits), round(spread, digits))
        yield whole, f"rounded to {digits} digits: keep them all"
