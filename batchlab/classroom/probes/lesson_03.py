"""Lesson 03: faults of an order, scenes of the window's slider, a bench for batch samplers.

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
from batchlab.classroom import plain
from batchlab.classroom.probes.attempt import mistakes_of, refusal, rounded, shown, working
from batchlab.classroom.probes.lesson_03_versions import (
    PLACES,
    RIGHT,
    WRONG,
    elsewhere,
    narrow,
    orders,
    reach,
    waiting,
)
from batchlab.classroom.probes.orders_03 import ORDERS, POINTS, ROWS, curve, documents, order

__all__ = [
    "EARLIER",
    "FAR",
    "GOAL",
    "OFFERED",
    "ORDERS",
    "PLACES",
    "POINTS",
    "RIGHT",
    "ROWS",
    "WRONG",
    "as_batches",
    "closed_wrongly",
    "curve",
    "cutter",
    "documents",
    "elsewhere",
    "fault_of_windows",
    "finder",
    "handed_out",
    "loaded",
    "mistakes_of",
    "narrow",
    "order",
    "orders",
    "reach",
    "refusal",
    "resumed",
    "rounded",
    "shown",
    "twins",
    "typical",
    "versions",
    "waiting",
    "waste_of",
]

OFFERED = sorted({round(1.12**power) for power in range(55)})  # micro-batches, each 12 % more
GOAL = 0.08  # waste that the slider is asked to get down to
FAR = [*range(140), 200, 256, 365, 512, 1000, 1001, 1024, 2000, 2001, 2048, 4095, 4096]  # epochs
EARLIER = "an answer of an earlier call: keep nothing between calls"
Batches = list[list[int]]
Sampler = Callable[..., Any]


def as_batches(made: Any) -> Batches | None:
    """Lists of document numbers as lists of ints; None for anything else, or an empty batch."""
    try:
        found = [[int(number) for number in batch] for batch in made]
        same = all(int(n) == n for batch in made for n in batch)
    except (TypeError, ValueError):
        return None
    return found if same and found and all(found) else None


def versions(name: str) -> dict[str, Any]:
    """Right and wrong versions of a function, as `check.finds_bugs` takes them."""
    return {"right": RIGHT[name], "wrong": WRONG[name]}


def twins(
    answer: Callable[..., Any], most: int, together: int, pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The first two (seed, epoch) that share an order of 30 documents; empty if none do.

    >>> twins(lambda lens, rows, window, seed, epoch: [[epoch % 8]], 2, 15, [(0, 1), (0, 9)])
    [(0, 1), (0, 9)]
    """
    seen: dict[str, tuple[int, int]] = {}
    lengths = [101 + 7 * n % 30 for n in range(30)]
    for pair, made in zip(pairs, orders(answer, lengths, most, together, pairs), strict=True):
        if seen.setdefault(str(made), pair) != pair:
            return [seen[str(made)], pair]
    return []


def waste_of(lengths: ArrayLike, window: int, rows: int = 16) -> float:
    """Waste of micro-batches sorted in windows, at a fixed shuffle."""
    return padding.measure(
        lengths, padding.in_windows(lengths, rows, window=window, rng=np.random.default_rng([0]))
    ).waste


def _least(lengths: ArrayLike) -> int:
    """The smallest window of the slider that wastes at most GOAL."""
    return next(window for window in OFFERED if waste_of(lengths, window) <= GOAL)


def fault_of_windows(answer: Any, kinds: dict[str, np.ndarray]) -> str:
    """What is wrong with a pair of windows as what `finder` asks for; empty if right."""
    if isinstance(answer, set | frozenset):
        return "a set forgets which number is whose: a pair, functions first"
    try:
        found = plain.nested(answer)
    except plain.NotPlain as problem:
        return problem.thought or "two numbers are asked"
    if type(found) is not list or len(found) != len(kinds):
        return "one number for each kind of documents: a pair"
    if not all(type(one) in (int, float) for one in found):
        return "two numbers are asked"
    best = [_least(tokens) for tokens in kinds.values()]
    if found == best[::-1]:
        return "functions come first, then the problems"
    if found in ([16 * one for one in best], [16 * one for one in best[::-1]]):
        return "these are documents: the slider counts micro-batches"
    faults = []
    for name, one, right in zip(kinds, found, best, strict=True):
        if one != right and one not in OFFERED:
            faults.append(f"{name}: the slider does not offer {one}")
        elif one != right:
            less = f"{name} still waste more than {units.share(GOAL)}"
            faults.append(less if one < right else f"{name}: a smaller window is enough")
    return "; ".join(faults)


def finder(kinds: dict[str, np.ndarray]) -> widgets.Explorer:
    """Window against waste, for documents by name; the first name has the goal."""
    first = next(iter(kinds))

    def scene(data: str, window: int) -> dict[str, Any]:
        made = padding.in_windows(kinds[data], 16, window=window, rng=np.random.default_rng([0]))
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

    best = _least(kinds[first])
    return widgets.finder(
        "Padding against order, 16 rows",
        {"data": ("documents", list(kinds)), "window": ("window, in micro-batches", OFFERED)},
        scene,
        goal=f"{first.capitalize()}: the smallest window that wastes at most {units.share(GOAL)}.",
        where=lambda data, window: (data, window) == (first, best),
        down=lambda bars: f"{bars} micro-batches",
        across="{:,} tokens long".format,
    )


def cutter(yours: Callable[..., Any]) -> Callable[..., Any]:
    """A learner's `under_budget` where it cuts a small case right, else the library's way."""
    return working(
        "under_budget",
        yours,
        otherwise=_cut,
        tries=lambda cut: cut([2, 2, 7, 8, 1], [4, 0, 1, 2, 3], 16) == [[4, 0, 1], [2, 3]],
    )


def closed_wrongly(made: Batches, lengths: Sequence[int], slots: int) -> str:
    """The first batch that takes more than `slots`, or that its follower would have fitted into."""
    batches = [[int(lengths[int(n)]) for n in batch] for batch in made]
    for number, (batch, *following) in enumerate(zip(batches, [*batches[1:], []], strict=True)):
        if len(batch) * max(batch) > slots:
            return f"batch {number}, lengths {batch}: over the budget"
        joined = [*batch, *following[0][:1]]
        if following[0] and len(joined) * max(joined) <= slots:
            return f"batch {number} was closed before the length {joined[-1]}, which fits in"
    return ""


def _cut(lengths: Sequence[int], order: Iterable[int], slots: int) -> Batches:
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
        draws = map(np.random.default_rng, range(seeds))
        placed = [padding.window_order(keys, pool, rng) for rng in draws]
        made = [_cut(lengths, order.tolist(), slots) for order in placed]
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
    place: str = "",
) -> list[list[Batches]]:
    """For each rank, for each epoch, the batches that the sampler yields, here or at a place."""

    def taken() -> list[list[Batches]]:
        made = [sampler(lengths, slots, pool, seed, rank, ranks) for rank in range(ranks)]
        return [[_taken(one, len(lengths)) for _ in range(epochs)] for one in made]

    return elsewhere(taken, place=place) if place else taken()


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
    """Stop after `stop` batches of an epoch, save, and go on: a new sampler, then the old one.

    before, after  what was handed out in this epoch before the stop, and after the restart
    next           the epoch behind it; left: len() of the new sampler after the restart
    again, here    what the old sampler hands out in its next loop; its len() before that
    state          what was saved, as JSON text; state_kept: loading left the dictionary as it was
    frozen         neither dictionary moved on when its sampler did
    """
    first = sampler(lengths, slots, pool, 3, rank, ranks)
    for _ in range(epoch):
        _taken(first, len(lengths))
    before = _taken(itertools.islice(iter(first), stop), len(lengths))
    saved = first.state_dict()
    state = json.dumps(saved)
    fresh = sampler(lengths, slots, pool, 3, rank, ranks)
    len(fresh)  # whoever asks before loading must not be told of another epoch afterwards
    loaded_from = json.loads(state)
    fresh.load_state_dict(loaded_from)
    kept = loaded_from == json.loads(state)
    left, here = len(fresh), len(first)
    after, following = (_taken(fresh, len(lengths)) for _ in range(2))
    again = _taken(first, len(lengths))
    frozen = json.dumps(saved) == state and loaded_from == json.loads(state)
    found = {"before": before, "after": after, "next": following, "left": left, "state": state}
    return found | {"state_kept": kept, "again": again, "here": here, "frozen": frozen}


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
