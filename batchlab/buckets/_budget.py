"""Batches of similar length under a budget, in an order that every rank agrees on.

    lengths, budget, seed, epoch  ->  batches of document numbers

Sorting inside pools brings documents of similar length together; a budget of slots instead of a
fixed number of rows keeps the rectangles equally large. Nothing is lost or repeated: a last batch
that the end of the data cut short is kept unless `drop_last` asks otherwise.

Words
    budget   most slots of one rectangle: rows x width
    pool     documents that are sorted together; a dial between random order and full sorting
    limit    most rows of a rectangle as wide as one document: budget // width
    cost     what a rank computes: tokens (linear layers) or pairs (attention, squared lengths)
"""

import heapq
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked, exact
from batchlab.padding import Batch, joined, window_order
from batchlab.units import whole

__all__ = ["COSTS", "balance", "by_token_budget", "by_two_budgets"]

COSTS = ("tokens", "pairs")


def by_token_budget(
    lengths: ArrayLike,
    slots: int,
    *,
    max_rows: int | None = None,
    round_to: int = 1,
    pool: int = 4096,
    seed: int = 0,
    epoch: int = 0,
    drop_last: bool = False,
) -> list[Batch]:
    """Batches whose rectangles, widths rounded up to `round_to`, take at most `slots`.

    Documents are shuffled by (seed, epoch), sorted inside pools of `pool` documents, and cut
    greedily; the order of the batches is shuffled again. The same arguments give the same batches
    on every rank.

    >>> sorted(map(sorted, by_token_budget([2, 2, 7, 8, 1], 16)))
    [[0, 1, 4], [2, 3]]
    """
    tokens = checked(lengths)
    slots, round_to = whole(slots, "slots"), whole(round_to, "round_to")
    limits = _limits(-(-tokens // round_to) * round_to, tokens, slots, "slots")
    return _batches(tokens, limits, max_rows, pool, seed, epoch, drop_last)


def by_two_budgets(
    text_lengths: ArrayLike,
    image_lengths: ArrayLike,
    text_slots: int,
    image_slots: int,
    *,
    max_rows: int | None = None,
    pool: int = 4096,
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
    text_slots, image_slots = whole(text_slots, "text_slots"), whole(image_slots, "image_slots")
    limits = np.minimum(
        _limits(text, text, text_slots, "text slots"),
        _limits(image, image, image_slots, "image slots"),
    )
    share = np.maximum(text / text_slots, image / image_slots)
    return _batches(share, limits, max_rows, pool, seed, epoch, drop_last)


def balance(
    lengths: ArrayLike, batches: Sequence[Sequence[int]], ranks: int, *, cost: str = "tokens"
) -> list[list[Batch]]:
    """Deal batches to ranks: equally many each, in steps of nearly equal cost.

    Returns for each rank its batches, in order of the steps. Batches of similar cost meet in one
    step, so that no rank waits long for another; steps come in a random order of their own.
    Refuses a number of batches that does not divide: a rank without a batch would hang the others.
    """
    tokens = checked(lengths)
    ranks = whole(ranks, "ranks")
    if cost not in COSTS:
        raise ValueError(f"unknown cost {cost!r}; there are {', '.join(COSTS)}")
    if len(batches) % ranks:
        below = len(batches) // ranks * ranks
        raise ValueError(
            f"{len(batches):,} batches do not divide over {ranks:,} ranks: drop "
            f"{len(batches) - below:,} or add {below + ranks - len(batches):,}"
        )
    numbers, starts = joined(batches, len(tokens))
    inside, power = tokens[numbers], COSTS.index(cost) + 1
    inside = exact(inside, len(inside) * int(inside.max()) ** power)
    costs = np.add.reduceat(inside**power, starts)
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


def _limits(widths: np.ndarray, lengths: np.ndarray, budget: int, what: str) -> np.ndarray:
    """How many rows as wide as each document the budget holds; 0 is refused."""
    if int(widths.max()) > budget:
        where = int(np.argmax(widths > budget))
        raise ValueError(
            f"document {where} has {lengths[where]:,} tokens and takes {widths[where]:,} slots "
            f"alone; the budget is {budget:,} {what}"
        )
    return budget // widths


def _batches(
    keys: np.ndarray,
    limits: np.ndarray,
    max_rows: int | None,
    pool: int,
    seed: int,
    epoch: int,
    drop_last: bool,
) -> list[Batch]:
    """Shuffle, sort by key inside pools, cut, shuffle the batches."""
    if max_rows is not None:
        limits = np.minimum(limits, whole(max_rows, "max_rows"))
    rng = np.random.default_rng([whole(seed, "seed", 0, None), whole(epoch, "epoch", 0, None)])
    order = window_order(keys, whole(pool, "pool"), rng)
    sizes, last_is_short = _cut(limits[order].tolist())
    if drop_last and last_is_short:
        sizes.pop()
    shuffled = rng.permutation(len(sizes))
    return _taken(order, np.array(sizes, dtype=np.intp), shuffled)


def _taken(order: np.ndarray, sizes: np.ndarray, shuffled: np.ndarray) -> list[Batch]:
    """The batches that lie one after another in `order`, in shuffled order."""
    begins = (np.cumsum(sizes) - sizes)[shuffled]
    sizes = sizes[shuffled]
    ends = np.cumsum(sizes)
    places = np.arange(sizes.sum()) + np.repeat(begins - (ends - sizes), sizes)
    numbers, borders = order[places].tolist(), [0, *ends.tolist()]
    return [numbers[begin:end] for begin, end in pairwise(borders)]


def _cut(limits: list[int]) -> tuple[list[int], bool]:
    """How many rows each batch has, and whether the last would take one more of its width.

    A batch is closed when one more document would be a row too many for the widest of them.
    """
    sizes: list[int] = []
    rows, fewest = 0, limits[0]
    for limit in limits:
        if limit < fewest:
            fewest = limit
        if rows >= fewest:
            sizes.append(rows)
            rows, fewest = 0, limit
        rows += 1
    return [*sizes, rows], rows < fewest
