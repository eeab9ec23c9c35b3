"""Versions of the functions of lesson 05, right ones and wrong ones under their thoughts.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    window    the micro-batches of one optimizer step
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["RIGHT", "WRONG", "windows_of"]

Windows = Sequence[Sequence[float]]


def _token_mean(means: Sequence[float], counts: Sequence[int]) -> float:
    return sum(m * n for m, n in zip(means, counts, strict=True) if n) / sum(counts)


def _pairs(means: Sequence[float], counts: Sequence[int]) -> list[tuple[float, int]]:
    return [(m, n) for m, n in zip(means, counts, strict=True) if n]


def _halves(counts: Sequence[int]) -> list[int]:
    """Counts as float16 keeps them; none where one is past its largest."""
    return [int(np.float16(n)) for n in counts] if max(counts) <= 65_504 else []


def windows_of(micro_batches: Iterable[Any], accumulation: int) -> list[list[Any]]:
    """Windows of so many micro-batches in order; the last may be shorter, none is empty."""
    stream = iter(micro_batches)
    return list(iter(lambda: list(itertools.islice(stream, accumulation)), []))


def _adding_time(parameters: float, sum_bytes: float, new_bytes: float, bandwidth: float) -> float:
    return 1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth


def _flat(window: Windows) -> list[float]:
    return [x for micro in window for x in micro]


def _walk(pull: Callable[[float, Windows, int], float]) -> Callable[[Windows, int], list[float]]:
    """An epoch that takes w - pull(w, window, accumulation) for each window."""

    def epoch(micro_batches: Windows, accumulation: int) -> list[float]:
        w, path = 0.0, []
        for window in windows_of(micro_batches, accumulation):
            w -= pull(w, window, accumulation)
            path.append(float(w))
        return path

    return epoch


def _epoch(micro_batches: Windows, accumulation: int) -> list[float]:
    return [sum(_flat(g)) / len(_flat(g)) for g in windows_of(micro_batches, accumulation)]


def _tail_joined(micro_batches: Sequence[Any], accumulation: int) -> list[list[Any]]:
    *full, last = windows_of(micro_batches, accumulation)
    return [*full[:-1], full[-1] + last] if full and len(last) < accumulation else [*full, last]


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "token-mean": (_token_mean,),
    "windows": (windows_of,),
    "adding-time": (_adding_time,),
    "epoch": (
        _epoch,
        _walk(lambda w, g, k: float(np.mean([w - x for x in _flat(g)]))),
        lambda many, k: [w * (1 + 1e-14) for w in _epoch(many, k)],  # another order of rounding
    ),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "token-mean": {
        "the mean of the means: a token of a short micro-batch weighs too much": (
            lambda means, counts: sum(means) / len(means)
        ),
        "the counts are exchanged": lambda means, counts: _token_mean(means, counts[::-1]),
        "the sum: divide by the target tokens": lambda means, counts: (
            _token_mean(means, counts) * sum(counts)
        ),
        "divided by the micro-batches: divide by the target tokens": lambda means, counts: (
            _token_mean(means, counts) * sum(counts) / len(counts)
        ),
        "a mean is divided already: multiply each by its count first": lambda means, counts: (
            sum(means) / sum(counts)
        ),
        "divided by the tokens and by the micro-batches": lambda means, counts: (
            _token_mean(means, counts) / len(counts)
        ),
        "the means of the means, divided by the tokens": lambda means, counts: (
            sum(means) / len(means) / sum(counts)
        ),
        "nothing times nan is nan: leave out what has no targets": lambda means, counts: (
            sum(m * n for m, n in zip(means, counts, strict=True)) / sum(counts)
        ),
        "a loss of 0 is a loss: skip by the count, not by the mean": lambda means, counts: (
            sum(m * n for m, n in zip(means, counts, strict=True) if m and n)
            / sum(n for m, n in zip(means, counts, strict=True) if m and n)
        ),
        "counts or their sum leave 16 bits: use Python integers": lambda means, counts: (
            sum(m * n for m, n in zip(means, counts, strict=True) if n)
            / int(np.sum(counts, dtype=np.int16))
        ),
        "counts in float16, which is exact only up to 2,048": lambda means, counts: _token_mean(
            means, _halves(counts)
        ),
        "counts or their sum leave 32 bits: use Python integers": lambda means, counts: (
            sum(m * n for m, n in zip(means, counts, strict=True) if n)
            / int(np.sum(counts, dtype=np.int32))
        ),
        "equal means are kept once: a dictionary drops a key that comes again": (
            lambda means, counts: _token_mean(
                *zip(*dict(_pairs(means, counts)).items(), strict=True)
            )
        ),
        "equal counts are kept once: a dictionary drops a key that comes again": (
            lambda means, counts: _token_mean(
                *zip(
                    *((m, n) for n, m in {n: m for m, n in _pairs(means, counts)}.items()),
                    strict=True,
                )
            )
        ),
        "a micro-batch without targets counts as a token: it changes nothing": (
            lambda means, counts: (
                _token_mean(means, counts) * sum(counts) / sum(max(n, 1) for n in counts)
            )
        ),
        "one token less each: target tokens are counted already": lambda means, counts: _token_mean(
            means, [n - 1 for n in counts]
        ),
        "it stops at a micro-batch without targets: others may follow": lambda means, counts: (
            _token_mean(
                *zip(
                    *itertools.takewhile(lambda p: p[1], zip(means, counts, strict=True)),
                    strict=True,
                )
            )
        ),
    },
    "windows": {
        "the tail is lost: these micro-batches never count": lambda many, k: [
            one for one in windows_of(many, k) if len(one) == k
        ],
        "an empty window: a step without micro-batches": lambda many, k: (
            windows_of(many, k) + [[]] * (len(many) % k == 0)
        ),
        "dealt out like cards: a window holds neighbours": lambda many, k: [
            list(many[i :: -(-len(many) // k)]) for i in range(-(-len(many) // k))
        ],
        "the window closes one too early: number 0 is the first": lambda many, k: [
            *windows_of(many[:1], k),
            *windows_of(many[1:], k),
        ],
        "clear() empties the window that was handed over: begin a new list": lambda many, k: [
            [] for _ in windows_of(many, k)
        ],
        "the tail joins a full window: too large a step": _tail_joined,
        "so many windows, asked were windows of so many": lambda many, k: [
            one.tolist() for one in np.array_split(np.asarray(many), k)
        ],
        "sorted: keep the order in which they come": lambda many, k: windows_of(sorted(many), k),
        "looked up by its value: equal micro-batches are still two": lambda many, k: [
            [one for one in many if many.index(one) // k == w]
            for w in sorted({many.index(one) // k for one in many})
        ],
        "even shares: only the last window may be short": lambda many, k: [
            part.tolist() for part in np.array_split(np.asarray(many), -(-len(many) // k))
        ],
        "a short window first: the last is the short one": lambda many, k: [
            one[::-1] for one in windows_of(many[::-1], k)[::-1]
        ],
    },
    "adding-time": {
        "moved once: the sum is read and written, too": lambda p, old, new, speed: (
            1e3 * p * new / speed
        ),
        "the sum is read as well as written": lambda p, old, new, speed: (
            1e3 * p * (old + new) / speed
        ),
        "the new gradient has its own bytes": lambda p, old, new, speed: 1e3 * p * 3 * old / speed,
        "the sum has its own bytes": lambda p, old, new, speed: 1e3 * p * 3 * new / speed,
        "the two are exchanged: the sum moves twice": lambda p, old, new, speed: (
            1e3 * p * (old + 2 * new) / speed
        ),
        "the sum is read and written, and the new gradient is read": lambda p, old, new, speed: (
            1e3 * p * 2 * old / speed
        ),
        "the sum and the gradient are both written: only the sum is": lambda p, old, new, speed: (
            1e3 * p * 2 * (old + new) / speed
        ),
        "bits: both are given in bytes": lambda p, old, new, speed: (
            8 * _adding_time(p, old, new, speed)
        ),
        "gibibytes: the bandwidth is in bytes per second": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) * 1e9 / 2**30
        ),
        "a thousand milliseconds are a second, not 1,024": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) * 1.024
        ),
        "a fixed time is added: asked is bytes over bandwidth": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) + 5e-3
        ),
        "the sum moves once where it is the narrower": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) - 1e3 * p * old * (old < new) / speed
        ),
        "the gradient is widened first: its own bytes are read": lambda p, old, new, speed: (
            _adding_time(p, old, max(old, new), speed)
        ),
        "bytes were cut at 4: a value may have 8": lambda p, old, new, speed: _adding_time(
            p, min(old, 4), min(new, 4), speed
        ),
        "seconds: a thousand milliseconds each": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) / 1e3
        ),
        "microseconds: a thousandth of a millisecond each": lambda p, old, new, speed: (
            _adding_time(p, old, new, speed) * 1e3
        ),
        "turned over: bytes / (bytes per second) are seconds": lambda p, old, new, speed: (
            speed / (p * (2 * old + new))
        ),
        "the numbers of the H100: take those that are handed over": lambda p, old, new, speed: (
            _adding_time(8.03e9, 2, 2, 3.35e12)
        ),
    },
    "epoch": {
        "mean of the micro-batches' means": _walk(
            lambda w, g, k: float(np.mean([w - np.mean(micro) for micro in g]))
        ),
        "forgets the tail": lambda many, k: _epoch(many[: len(many) // k * k], k),
        "divides the tail as if it were full": _walk(
            lambda w, g, k: (w - float(np.mean(_flat(g)))) * len(g) / k
        ),
        "zero_grad inside the loop": _walk(
            lambda w, g, k: sum(w - x for x in g[-1]) / len(_flat(g))
        ),
        "steps at every micro-batch": lambda many, k: [float(np.mean(micro)) for micro in many],
        "the tail joins the window before it": lambda many, k: [
            sum(_flat(g)) / len(_flat(g)) for g in _tail_joined(many, k)
        ],
    },
}
