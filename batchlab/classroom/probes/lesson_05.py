"""What lesson 05 needs beside its page: versions of its functions, steps under watch, a widget.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    window    the micro-batches of one optimizer step
    recipe    a way to take the step: "right", or a name of MISTAKES
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from batchlab import data, loop, widgets
from batchlab.classroom.probes import ranks
from batchlab.classroom.probes.attempt import mistakes_of, shown
from batchlab.classroom.probes.bigram import micro_batch
from batchlab.classroom.probes.collators import collate, collates
from batchlab.classroom.probes.ranks import at_once, on_ranks, together
from batchlab.classroom.probes.recipes import (
    MISTAKES,
    divided_twice_step,
    popular_step,
    recipe,
    undivided_step,
)
from batchlab.classroom.probes.watch import steps, timeline

__all__ = [
    "MISTAKES",
    "RIGHT",
    "WRONG",
    "at_once",
    "collate",
    "collates",
    "divided_twice_step",
    "finder",
    "micro_batch",
    "mistakes",
    "most_unfair_rows",
    "on_ranks",
    "popular_step",
    "recipe",
    "shown",
    "steps",
    "timeline",
    "together",
    "undivided_step",
    "wrong_ends",
    "wrong_rows",
    "wrong_windows",
]

DOCUMENTS, LIMIT = 60, 3  # documents of a step; how often its fair share is too often
ROWS = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
TRAINED = ("code only", "docstring and code")
Windows = Sequence[Sequence[float]]


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions give for a case, by their thoughts."""
    return dict(mistakes_of(WRONG[name], *case))


def wrong_windows(micro_batches: Sequence[Any], accumulation: int) -> list[tuple[Any, str]]:
    """The windows of each wrong version, where they are not the right ones."""
    right = _windows(micro_batches, accumulation)
    found = mistakes_of(WRONG["windows"], micro_batches, accumulation)
    return [(value, why) for value, why in found if value != right]


def wrong_ends(
    counts: Sequence[Sequence[int]], part: str = "weights", **given: Any
) -> list[tuple[Any, str]]:
    """Where each known mistake of several ranks ends: "weights" or "gradients" of rank 0."""
    right = np.asarray(together(counts, **given)[part])
    ends = [(together(counts, name, **given)[part], why) for name, why in ranks.MISTAKES.items()]
    return [(end, why) for end, why in ends if not np.allclose(end, right, rtol=1e-6, atol=1e-9)]


@cache
def _typical_steps() -> dict[tuple[int, str], tuple[float, list[int]]]:
    """How often its fair share the heaviest token of a typical step counts, and that step."""
    corpus = data.embedded()
    code = np.array([sum(n != loop.IGNORE for n in one["labels"][1:]) for one in corpus])
    counted = dict(zip(TRAINED, (code, np.asarray(corpus.lengths) - 1), strict=True))
    order = np.random.default_rng(5).permutation(len(corpus))
    order = order[: len(order) // DOCUMENTS * DOCUMENTS]
    found = {}
    for rows, trained in itertools.product(ROWS, TRAINED):
        n = counted[trained][order].reshape(-1, DOCUMENTS // rows, rows).sum(axis=2)
        heaviest = n.mean(axis=1) / n.min(axis=1)
        typical = int(np.argsort(heaviest)[len(heaviest) // 2])
        found[rows, trained] = float(heaviest[typical]), n[typical].tolist()
    return found


def most_unfair_rows(trained: str = "code only") -> int:
    """The most rows with which some token of a typical step counts more than three times."""
    return max(rows for rows in ROWS if _typical_steps()[rows, trained][0] > LIMIT)


def wrong_rows() -> dict[float, str]:
    """Every other number of rows on the slider, with what is wrong with it."""
    right, other = most_unfair_rows(), most_unfair_rows("docstring and code")
    less = "with these rows every token counts at most three times its share"
    more = "some token counts more than three times its share, but more rows do that, too"
    why = {float(rows): more if rows < right else less for rows in ROWS if rows != right}
    return why | {other: f"{more}; or the docstrings are trained as well"} | {60: "one micro-batch"}


def finder() -> widgets.Explorer:
    """Rows and what is trained against the heaviest token; the goal is `most_unfair_rows`."""

    def scene(rows: int, trained: str) -> dict[str, Any]:
        weight, n = _typical_steps()[rows, trained]
        facts = {"micro-batches": f"{len(n)}", "heaviest token": f"{weight:.2f} x its share"}
        alt = f"Target tokens of each micro-batch: {n}."
        return {"facts": facts, "rows": [[(0, count)] for count in n], "alt": alt}

    def found(rows: int, trained: str) -> bool:
        return (rows, trained) == (most_unfair_rows(), "code only")

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows per micro-batch", list(ROWS)),
        "trained": ("tokens that are trained", list(TRAINED)),
    }
    goal = "Code only: the most rows with which some token counts more than three times its share."
    title = f"The popular loop, {DOCUMENTS} documents a step"
    return widgets.finder(title, controls, scene, goal=goal, where=found)


def _token_mean(means: Sequence[float], counts: Sequence[int]) -> float:
    return sum(m * n for m, n in zip(means, counts, strict=True) if n) / sum(counts)


def _windows(micro_batches: Iterable[Any], accumulation: int) -> list[list[Any]]:
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
        for window in _windows(micro_batches, accumulation):
            w -= pull(w, window, accumulation)
            path.append(float(w))
        return path

    return epoch


def _epoch(micro_batches: Windows, accumulation: int) -> list[float]:
    return [sum(_flat(g)) / len(_flat(g)) for g in _windows(micro_batches, accumulation)]


def _tail_joined(micro_batches: Sequence[Any], accumulation: int) -> list[list[Any]]:
    *full, last = _windows(micro_batches, accumulation)
    return [*full[:-1], full[-1] + last] if full and len(last) < accumulation else [*full, last]


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "token-mean": (_token_mean,),
    "windows": (_windows,),
    "adding-time": (_adding_time,),
    "epoch": (_epoch, _walk(lambda w, g, k: float(np.mean([w - x for x in _flat(g)])))),
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
            one for one in _windows(many, k) if len(one) == k
        ],
        "an empty window: a step without micro-batches": lambda many, k: (
            _windows(many, k) + [[]] * (len(many) % k == 0)
        ),
        "dealt out like cards: a window holds neighbours": lambda many, k: [
            list(many[i :: -(-len(many) // k)]) for i in range(-(-len(many) // k))
        ],
        "the window closes one too early: number 0 is the first": lambda many, k: [
            *_windows(many[:1], k),
            *_windows(many[1:], k),
        ],
        "clear() empties the window that was handed over: begin a new list": lambda many, k: [
            [] for _ in _windows(many, k)
        ],
        "the tail joins a full window: too large a step": _tail_joined,
        "so many windows, asked were windows of so many": lambda many, k: [
            one.tolist() for one in np.array_split(np.asarray(many), k)
        ],
        "a short window first: the last is the short one": lambda many, k: [
            one[::-1] for one in _windows(many[::-1], k)[::-1]
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
