"""Right and wrong reports of a step with a sharded optimizer, for the test that a learner writes.

    parts: for each rank a list of (gradient, tokens)  ->  for each rank {"mean", "sent", "kept"}

Words
    gradient  of a micro-batch, summed over its tokens; a list of P numbers
    mean      what the optimizer is given; sent, kept: numbers that this rank sends, and keeps
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG"]

Parts = Sequence[Sequence[tuple[Sequence[float], int]]]
Report = list[dict[str, Any]]


def _size(parts: Parts) -> int:
    return next(len(gradient) for own in parts for gradient, _ in own)


def _sum(own: Sequence[tuple[Sequence[float], int]], size: int) -> np.ndarray:
    rows = np.array([gradient for gradient, _ in own], dtype=float).reshape(-1, size)
    return np.asarray(rows.sum(axis=0))


def _tokens(own: Sequence[tuple[Sequence[float], int]]) -> int:
    return sum(tokens for _, tokens in own)


def _own_mean(own: Sequence[tuple[Sequence[float], int]], size: int) -> np.ndarray:
    return np.asarray(_sum(own, size) / max(1, _tokens(own)))


def _mean(parts: Parts) -> list[float]:
    total = sum((_sum(own, _size(parts)) for own in parts), np.zeros(_size(parts)))
    return [float(one) for one in total / sum(map(_tokens, parts))]


def _pieces(size: int, ranks: int) -> list[int]:
    return [len(one) for one in np.array_split(np.arange(size), ranks)]


def _ring(size: int, ranks: int) -> list[int]:
    """Numbers that each rank sends in two passes around the ring."""
    pieces = _pieces(size, ranks)
    reduced = [size - own for own in pieces]
    gathered = [size - pieces[(at + 1) % ranks] for at in range(ranks)]
    return [a + b for a, b in zip(reduced, gathered, strict=True)]


def _told(
    mean: Callable[[Parts, int], Any] = lambda parts, at: _mean(parts),
    sent: Callable[[Parts, int], float] = lambda parts, at: _ring(_size(parts), len(parts))[at],
    kept: Callable[[Parts, int], int] = lambda parts, at: _pieces(_size(parts), len(parts))[at],
    ranks: Callable[[Parts], Sequence[int]] = lambda parts: range(len(parts)),
) -> Callable[[Parts], Report]:
    def report(parts: Parts) -> Report:
        return [
            {
                "mean": [float(one) for one in mean(parts, at)],
                "sent": sent(parts, at),
                "kept": kept(parts, at),
            }
            for at in ranks(parts)
        ]

    return report


def _even(parts: Parts, at: int) -> float:
    return 2 * (len(parts) - 1) * _size(parts) / len(parts)


def _without_one(parts: Parts) -> Report:
    """One rank fewer; those that are left report its share, so that all sums are right."""
    size, left = _size(parts), max(1, len(parts) - 1)
    every = 2 * (len(parts) - 1) * size / left
    return [{"mean": _mean(parts), "sent": every, "kept": one} for one in _pieces(size, left)]


def _undivided(parts: Parts, place: int) -> list[float]:
    mean = _mean(parts)
    mean[place] *= sum(map(_tokens, parts))
    return mean


def _balanced(parts: Parts, at: int) -> np.ndarray:
    """The first rank is as far above the mean as the last is below it."""
    return np.array(_mean(parts)) + ((at == 0) - (at == len(parts) - 1))


def _padded(parts: Parts) -> list[float]:
    return _mean(parts) + [0.0] * (-_size(parts) % len(parts))


def _times(parts: Parts) -> int:
    return max(map(len, parts))


RIGHT = (
    _told(),
    _told(sent=_even, kept=lambda parts, at: _pieces(_size(parts), len(parts))[::-1][at]),
    _told(mean=lambda parts, at: np.array(_mean(parts)) * (1 + 1e-12)),
)
WRONG: dict[str, Callable[[Parts], Report]] = {
    "the mean over ranks of their own means": _told(
        mean=lambda parts, at: sum(_own_mean(own, _size(parts)) for own in parts) / len(parts)
    ),
    "the mean over micro-batches of their own means": _told(
        mean=lambda parts, at: np.mean(
            [np.array(g) / n for own in parts for g, n in own if n], axis=0
        )
    ),
    "the sum over tokens, divided by the ranks as well": _told(
        mean=lambda parts, at: np.array(_mean(parts)) / len(parts)
    ),
    "each rank keeps the mean of its own tokens": _told(
        mean=lambda parts, at: _own_mean(parts[at], _size(parts))
    ),
    "a rank without micro-batches has zeros for the mean": _told(
        mean=lambda parts, at: _mean(parts) if parts[at] else np.zeros(_size(parts))
    ),
    "a rank without micro-batches is left out": _told(
        ranks=lambda parts: [at for at, own in enumerate(parts) if own]
    ),
    "a rank is missing, and the others report its share: the sums are right": _without_one,
    "the first number of the mean is not divided": _told(
        mean=lambda parts, at: _undivided(parts, 0)
    ),
    "the last number of the mean is not divided": _told(
        mean=lambda parts, at: _undivided(parts, -1)
    ),
    "the mean comes back to front": _told(mean=lambda parts, at: _mean(parts)[::-1]),
    "the mean is one part in 1,000 too large": _told(
        mean=lambda parts, at: 1.001 * np.array(_mean(parts))
    ),
    "the last rank alone has the mean of its own tokens": _told(
        mean=lambda parts, at: (
            _own_mean(parts[at], _size(parts)) if at == len(parts) - 1 else _mean(parts)
        )
    ),
    "the first rank alone has the mean of its own tokens": _told(
        mean=lambda parts, at: _mean(parts) if at else _own_mean(parts[at], _size(parts))
    ),
    "the first rank's mean is too large, the last one's too small by as much": _told(
        mean=_balanced
    ),
    "the mean is padded with zeros until the ranks divide it: more than P numbers": _told(
        mean=lambda parts, at: _padded(parts)
    ),
    "the last rank sends one number too many": _told(
        sent=lambda parts, at: _even(parts, at) + (at == len(parts) - 1)
    ),
    "the gradients are reduced for every micro-batch": _told(
        sent=lambda parts, at: _even(parts, at) * _times(parts)
    ),
    "only the reduce is counted, the weights are never gathered": _told(
        sent=lambda parts, at: _even(parts, at) / 2
    ),
    "a rank's own piece is sent, too": _told(sent=lambda parts, at: 2 * _size(parts)),
    "every rank keeps everything": _told(kept=lambda parts, at: _size(parts)),
    "what is left of the division is kept by nobody": _told(
        kept=lambda parts, at: _size(parts) // len(parts)
    ),
    "what is left of the division is kept by every rank": _told(
        kept=lambda parts, at: -(-_size(parts) // len(parts))
    ),
    "the last rank keeps all that is left of the division": _told(
        kept=lambda parts, at: (
            _size(parts) // len(parts) + (_size(parts) % len(parts) if at == len(parts) - 1 else 0)
        )
    ),
}
