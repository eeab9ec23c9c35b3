"""Batches of similar length under a budget, in an order that every rank agrees on.

    lengths, budget, seed, epoch  ->  batches of document numbers

Sorting inside windows brings documents of similar length together; a budget of slots instead of a
fixed number of rows keeps the rectangles equally large. Nothing is lost or repeated: a batch that
does not fill its budget is kept unless `drop_last` asks otherwise.

Words
    budget   most slots of one rectangle: rows x width
    window   documents that are sorted together; a dial between random order and full sorting
    cost     what a rank computes: tokens (linear layers) or pairs (attention, squared lengths)
"""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked
from batchlab.padding import Batch, at_least_one, joined, window_order

__all__ = ["COSTS", "balance", "by_token_budget", "by_two_budgets"]

COSTS = ("tokens", "pairs")


def by_token_budget(
    lengths: ArrayLike,
    slots: int,
    *,
    max_rows: int | None = None,
    round_to: int = 1,
    window: int = 4096,
    seed: int = 0,
    epoch: int = 0,
    drop_last: bool = False,
) -> list[Batch]:
    """Batches whose rectangles, widths rounded up to `round_to`, take at most `slots`.

    Documents are shuffled by (seed, epoch), sorted inside windows of `window` documents, and cut
    greedily; the order of the batches is shuffled again. The same arguments give the same batches
    on every rank.

    >>> sorted(map(sorted, by_token_budget([2, 2, 7, 8, 1], 16)))
    [[0, 1, 4], [2, 3]]
    """
    tokens = checked(lengths)
    at_least_one(slots=slots, round_to=round_to, window=window, max_rows=_or_all(max_rows, tokens))
    widths = -(-tokens // round_to) * round_to
    _fits(widths, tokens, slots, "slots")
    order, rng = _windows(tokens, window, seed, epoch)
    return _finished(_cut(order, [(widths, slots)], max_rows), rng, drop_last)


def by_two_budgets(
    text_lengths: ArrayLike,
    image_lengths: ArrayLike,
    text_slots: int,
    image_slots: int,
    *,
    max_rows: int | None = None,
    window: int = 4096,
    seed: int = 0,
    epoch: int = 0,
    drop_last: bool = False,
) -> list[Batch]:
    """Batches that keep both a text and an image rectangle inside their own budget.

    Two lengths belong to each example (an example without an image has length 1 there, its
    placeholder). Windows are sorted by the larger share of its budget.
    """
    text, image = checked(text_lengths), checked(image_lengths)
    if len(text) != len(image):
        raise ValueError(f"{len(text):,} text lengths but {len(image):,} image lengths")
    at_least_one(text_slots=text_slots, image_slots=image_slots)
    at_least_one(window=window, max_rows=_or_all(max_rows, text))
    _fits(text, text, text_slots, "text slots")
    _fits(image, image, image_slots, "image slots")
    share = np.maximum(text / text_slots, image / image_slots)
    order, rng = _windows(share, window, seed, epoch)
    batches = _cut(order, [(text, text_slots), (image, image_slots)], max_rows)
    return _finished(batches, rng, drop_last)


def balance(
    lengths: ArrayLike, batches: Sequence[Sequence[int]], ranks: int, *, cost: str = "tokens"
) -> list[list[Batch]]:
    """Deal batches to ranks: equally many each, in steps of nearly equal cost.

    Returns for each rank its batches, in order of the steps. Batches of similar cost meet in one
    step, so that no rank waits long for another; steps come in a random order of their own.
    Refuses a number of batches that does not divide: a rank without a batch would hang the others.
    """
    tokens = checked(lengths)
    at_least_one(ranks=ranks)
    if cost not in COSTS:
        raise ValueError(f"unknown cost {cost!r}; there are {', '.join(COSTS)}")
    if len(batches) % ranks:
        below = len(batches) // ranks * ranks
        raise ValueError(
            f"{len(batches):,} batches do not divide over {ranks:,} ranks: drop "
            f"{len(batches) - below:,} or add {below + ranks - len(batches):,}"
        )
    numbers, starts = joined(batches, len(tokens))
    costs = np.add.reduceat(tokens[numbers] ** (1 if cost == "tokens" else 2), starts)
    by_cost = np.argsort(costs, kind="stable")
    steps = by_cost.reshape(-1, ranks)
    steps = steps[np.random.default_rng(len(batches)).permutation(len(steps))]
    return _dealt(steps, costs, batches, ranks)


def _dealt(
    steps: np.ndarray, costs: np.ndarray, batches: Sequence[Sequence[int]], ranks: int
) -> list[list[Batch]]:
    """Inside each step the rank with the least so far takes the costliest batch."""
    totals = [(0, rank) for rank in range(ranks)]
    dealt: list[list[Batch]] = [[] for _ in range(ranks)]
    for step in steps:
        heapq.heapify(totals)
        ready = [heapq.heappop(totals) for _ in range(ranks)]
        costliest_first = sorted(step.tolist(), key=lambda number: -int(costs[number]))
        for (total, rank), number in zip(ready, costliest_first, strict=True):
            dealt[rank].append(list(batches[number]))
            totals.append((total + int(costs[number]), rank))
    return dealt


def _windows(
    keys: np.ndarray, window: int, seed: int, epoch: int
) -> tuple[np.ndarray, np.random.Generator]:
    """Document numbers, shuffled and then sorted by key inside windows."""
    rng = np.random.default_rng([seed, epoch])
    return window_order(keys, window, rng), rng


def _cut(
    order: np.ndarray, limits: list[tuple[np.ndarray, int]], max_rows: int | None
) -> list[Batch]:
    """Close a batch as soon as one more row would break a budget."""
    columns = [(sizes[order].tolist(), budget) for sizes, budget in limits]
    most = _or_all(max_rows, order)
    batches: list[Batch] = []
    batch: Batch = []
    widest = [0] * len(columns)
    for place, number in enumerate(order.tolist()):
        wider = [max(w, sizes[place]) for w, (sizes, _) in zip(widest, columns, strict=True)]
        rows = len(batch) + 1
        fits = all(rows * w <= budget for w, (_, budget) in zip(wider, columns, strict=True))
        if batch and (rows > most or not fits):
            batches.append(batch)
            batch, wider = [], [sizes[place] for sizes, _ in columns]
        batch.append(number)
        widest = wider
    return [*batches, batch]


def _finished(batches: list[Batch], rng: np.random.Generator, drop_last: bool) -> list[Batch]:
    if drop_last:
        batches = batches[:-1]  # the only one that the end of the data cut short
    order = rng.permutation(len(batches))
    return [batches[number] for number in order]


def _fits(widths: np.ndarray, lengths: np.ndarray, budget: int, what: str) -> None:
    if int(widths.max()) > budget:
        where = int(np.argmax(widths > budget))
        raise ValueError(
            f"document {where} has {lengths[where]:,} tokens and takes {widths[where]:,} slots "
            f"alone; the budget is {budget:,} {what}"
        )


def _or_all(max_rows: int | None, documents: np.ndarray) -> int:
    return len(documents) if max_rows is None else max_rows
