"""Versions of the functions of lesson 01, right ones and wrong ones under their thoughts.

    gradients, rows or target tokens  ->  the noise, or the gradient of all parts

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG"]

Noise = Callable[[Any, int], float]


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
    columns = zip(*np.asarray(gradients, dtype=float).tolist(), strict=True)
    return math.sqrt(sum(np.var(column) for column in columns) / rows)


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
