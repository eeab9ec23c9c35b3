"""Lesson 03: colleagues' orders, scenes of the window's slider, a bench for batch samplers.

    a sampler class, lengths, ranks  ->  what each rank was handed out, before and after a restart

Words
    window    micro-batches that are sorted together
    pool      documents that are sorted together: what a budget has in place of a window
    handed out  batches that a sampler has yielded, whether or not they were trained
"""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch.utils.data import DataLoader

from batchlab import padding, units, widgets
from batchlab.classroom.probes.attempt import shown
from batchlab.classroom.probes.orders_03 import ORDERS, POINTS, ROWS, curve, documents, order

__all__ = [
    "GOAL",
    "OFFERED",
    "ORDERS",
    "POINTS",
    "RIGHT",
    "ROWS",
    "WRONG",
    "as_batches",
    "curve",
    "cut",
    "documents",
    "finder",
    "handed_out",
    "least",
    "loaded",
    "order",
    "resumed",
    "shown",
    "typical",
    "waste_of",
]

OFFERED = sorted({round(1.12**power) for power in range(55)})  # micro-batches, each 12 % more
GOAL = 0.08  # waste that the slider is asked to get down to
Batches = list[list[int]]
Make = Callable[[Sequence[int], int, int, int, int], Batches]
Sampler = Callable[..., Any]


def as_batches(made: Any) -> Batches | None:
    """Lists of document numbers as lists of ints; None for anything else, or an empty batch."""
    try:
        found = [[int(number) for number in batch] for batch in made]
        same = all(int(n) == n for batch in made for n in batch)
    except (TypeError, ValueError):
        return None
    return found if same and found and all(found) else None


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


def waste_of(lengths: ArrayLike, window: int, rows: int = 16) -> float:
    """Waste of micro-batches sorted in windows, at a fixed shuffle."""
    return padding.measure(
        lengths, padding.in_windows(lengths, rows, window=window, rng=_new(0))
    ).waste


def least(lengths: ArrayLike) -> int:
    """The smallest window of the slider that wastes at most GOAL."""
    return next(window for window in OFFERED if waste_of(lengths, window) <= GOAL)


def finder(kinds: dict[str, np.ndarray]) -> widgets.Explorer:
    """Window against waste, for documents by name; the first name has the goal."""
    first = next(iter(kinds))

    def scene(data: str, window: int) -> dict[str, Any]:
        made = padding.in_windows(kinds[data], 16, window=window, rng=_new(0))
        inside = [kinds[data][batch] for batch in made[:24]]
        bars = [(int(one.mean()), int(one.max() - one.mean())) for one in inside]
        facts = {
            "documents sorted together": units.count(16 * window),
            "waste": units.share(padding.measure(kinds[data], made).waste),
            "widest drawn": f"{max(map(sum, bars)):,} tokens",
        }
        return {
            "facts": facts,
            "rows": [[(0, real), (-1, rest)] for real, rest in bars],
            "alt": f"24 micro-batches, (mean length, padding): {bars}.",
            "note": "Solid: mean length of the 16 documents. Hatched: padding up to the longest.",
        }

    best = least(kinds[first])
    return widgets.finder(
        "Padding against order, 16 rows",
        {"data": ("documents", list(kinds)), "window": ("window, in micro-batches", OFFERED)},
        scene,
        goal=f"{first.capitalize()}: the smallest window that wastes at most {units.share(GOAL)}.",
        where=lambda data, window: (data, window) == (first, best),
    )


def cut(lengths: Sequence[int], order: Iterable[int], slots: int) -> Batches:
    """Batches cut from `order` under a budget, the plain way: look, then add."""
    found: Batches = []
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"document {number} alone takes {lengths[number]} of {slots} slots")
        joined = [*found[-1], int(number)] if found else []
        if joined and len(joined) * max(lengths[n] for n in joined) <= slots:
            found[-1] = joined
        else:
            found.append([int(number)])
    return found


def typical(
    lengths: Sequence[int], slots: int, pool: int, seeds: int = 20
) -> tuple[float, float, float]:
    """What sorting in pools wastes under a budget: least, most, and the most micro-batches.

    Rising or falling inside a pool is both right, and not the same: four standard deviations
    around the mean of either.
    """
    tokens, low, high, number = np.asarray(lengths), 1.0, 0.0, 0.0
    for keys in (tokens, -tokens):
        placed = [padding.window_order(keys, pool, _new(seed)) for seed in range(seeds)]
        made = [cut(lengths, order.tolist(), slots) for order in placed]
        wastes = [padding.measure(tokens, batches).waste for batches in made]
        middle, spread = float(np.mean(wastes)), float(np.std(wastes))
        low, high = min(low, middle - 4 * spread), max(high, middle + 4 * spread)
        number = max(number, float(np.mean([len(batches) for batches in made])))
    return low, high, number


def handed_out(
    sampler: Sampler,
    lengths: Sequence[int],
    slots: int,
    pool: int,
    seed: int = 0,
    *,
    ranks: int = 1,
    epochs: int = 1,
) -> list[list[Batches]]:
    """For each rank, for each epoch, the batches that the sampler yields."""
    made = [sampler(lengths, slots, pool, seed, rank, ranks) for rank in range(ranks)]
    return [[_taken(one, len(lengths)) for _ in range(epochs)] for one in made]


def resumed(
    sampler: Sampler,
    lengths: Sequence[int],
    slots: int,
    pool: int,
    *,
    epoch: int,
    stop: int,
    ranks: int = 1,
    rank: int = 0,
) -> dict[str, Any]:
    """Stop after `stop` batches of an epoch, save, and go on with a new sampler.

    before, after  what was handed out in this epoch before the stop, and after the restart
    next           the epoch behind it; left: len() of the new sampler after the restart
    state          what was saved, as JSON text
    """
    first = sampler(lengths, slots, pool, 3, rank, ranks)
    for _ in range(epoch):
        _taken(first, len(lengths))
    before = _taken(itertools.islice(iter(first), stop), len(lengths))
    state = json.dumps(first.state_dict())
    fresh = sampler(lengths, slots, pool, 3, rank, ranks)
    fresh.load_state_dict(json.loads(state))
    left = len(fresh)
    after, following = (_taken(fresh, len(lengths)) for _ in range(2))
    return {"before": before, "after": after, "next": following, "left": left, "state": state}


def loaded(sampler: Sampler, lengths: Sequence[int], slots: int, pool: int) -> Batches:
    """What a DataLoader collects when the sampler is its `batch_sampler`."""
    made = sampler(lengths, slots, pool, 3, 0, 1)
    data: Any = range(len(lengths))  # a DataLoader takes whatever has a length and places
    loader: Any = DataLoader(data, batch_sampler=made, collate_fn=list)
    return _taken(loader, len(lengths))


def _taken(batches: Iterable[Any], documents: int) -> Batches:
    """Batches as lists of ints, and not more of them than there can be."""
    found = [[int(n) for n in batch] for batch in itertools.islice(batches, 2 * documents + 9)]
    if len(found) > 2 * documents + 8:
        raise RuntimeError("the sampler never stops: after the last batch of an epoch it returns")
    return found
