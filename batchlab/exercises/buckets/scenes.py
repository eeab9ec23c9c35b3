"""What the page of lesson 03 trains: the same documents in other orders, at equal target tokens.

    batches of document numbers, a seed  ->  held-out loss against target tokens seen

Only the order may speak. So every step takes the same number of target tokens, to one document:
the batches are laid end to end and cut anew. Inside a step the order cannot matter (lesson 05), and
padding changes no loss, only the bill.

Words
    point   the loss on held-out documents after an eighth of the training tokens
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from batchlab import padding
from batchlab.classroom.attempt import working
from batchlab.exercises.buckets.under_budget import under_budget as cut

LONGEST, TRAINED, HELD_OUT = 256, 1024, 96
ROWS, WINDOW, POINTS, RATE = 16, 16, 8, 5e-3
ORDERS = (
    "shuffled",
    "windows, mixed",
    "sorted, mixed",
    "sorted in fours, mixed",
    "shortest first",
    "longest first",
)
_kept: dict[str, Any] = {}


def cutter(yours: Callable[..., Any]) -> Callable[..., Any]:
    """A learner's `under_budget` where it cuts a small case right, else the library's way."""
    return working(
        "under_budget",
        yours,
        otherwise=cut,
        tries=lambda made: made([2, 2, 7, 8, 1], [4, 0, 1, 2, 3], 16) == [[4, 0, 1], [2, 3]],
    )


def documents() -> np.ndarray:
    """Lengths of the documents that are trained: the batches of `curve` name their places."""
    lengths: np.ndarray = _corpus()["lengths"]
    return lengths


def order(name: str, seed: int) -> list[list[int]]:
    """Batches of 16 rows in one of ORDERS; fours are 4 rows, and about 4 of them make a step."""
    lengths, rng = documents(), np.random.default_rng(seed)
    by_length = padding.by_length(lengths, 4 if "fours" in name else ROWS)
    if name.startswith("sorted"):
        return [by_length[number] for number in rng.permutation(len(by_length))]
    if name in ("shortest first", "longest first"):
        return by_length if name == "shortest first" else by_length[::-1]
    window = {"shuffled": 1, "windows, mixed": WINDOW}[name]
    return padding.in_windows(lengths, ROWS, window=window, rng=rng)


def waiting(steps: Sequence[Sequence[int]]) -> float:
    """Share of all ranks' time spent waiting; each step is the slots of its ranks."""
    return 1 - sum(map(sum, steps)) / sum(len(slots) * max(slots) for slots in steps)


def busy(lengths: np.ndarray, order: Sequence[Sequence[int]], ranks: int) -> tuple[float, float]:
    """Waste inside the rectangles, and the share of the time that ranks wait for the largest."""
    order = order[: len(order) // ranks * ranks]
    slots = [len(batch) * int(lengths[list(batch)].max()) for batch in order]
    steps = [slots[start : start + ranks] for start in range(0, len(slots), ranks)]
    return padding.measure(lengths, order).waste, float(waiting(steps))


def curve(ordered: Sequence[Sequence[int]], seed: int) -> tuple[list[int], list[float]]:
    """Target tokens seen and held-out loss (nats per target token) at each point.

    On one thread, like the record: matrices this small gain nothing from two.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _curve(ordered, seed)
    finally:
        torch.set_num_threads(threads)


def _curve(ordered: Sequence[Sequence[int]], seed: int) -> tuple[list[int], list[float]]:
    import torch

    from batchlab import loop, model

    given = _corpus()
    steps = _steps(np.concatenate([np.asarray(batch) for batch in ordered]), given["targets"])
    learner = model.small(given["corpus"].vocabulary, layers=1, hidden=32, heads=2, seed=seed)
    optimizer = torch.optim.AdamW(learner.parameters(), lr=RATE)
    seen: list[int] = []
    losses: list[float] = []
    tokens = 0
    for number, step in enumerate(steps, start=1):
        loop.train_step(learner, optimizer, _micro_batches(step), max_grad_norm=1.0)
        tokens += int(given["targets"][step].sum())
        if number * POINTS // len(steps) > (number - 1) * POINTS // len(steps):
            seen.append(tokens)
            losses.append(loop.evaluate(learner, given["held_out"]))
    return seen, losses


def _steps(numbers: np.ndarray, targets: np.ndarray) -> list[np.ndarray]:
    """The documents in steps of equally many target tokens, to one document."""
    count = -(-len(numbers) // ROWS)
    before = np.cumsum(targets[numbers]) - targets[numbers]
    step = before * count // targets[numbers].sum()
    return [numbers[step == number] for number in np.unique(step)]


def _micro_batches(step: np.ndarray) -> list[Any]:
    """A step in two micro-batches, short and long documents: less padding, the same gradient."""
    from batchlab import batches

    given = _corpus()
    by_length = step[np.argsort(given["lengths"][step], kind="stable")]
    halves = [half for half in np.array_split(by_length, 2) if len(half)]
    return [batches.padded(given["corpus"], given["trained"][half].tolist()) for half in halves]


def _corpus() -> dict[str, Any]:
    """The documents, read once: those up to LONGEST tokens, drawn with a fixed seed."""
    from batchlab import batches, data, loop

    if not _kept:
        corpus = data.embedded()
        lengths = np.asarray(corpus.lengths)
        drawn = np.random.default_rng(3).permutation(np.flatnonzero(lengths <= LONGEST))
        trained, held = drawn[:TRAINED], drawn[TRAINED : TRAINED + HELD_OUT]
        held = held[np.argsort(lengths[held], kind="stable")]
        labels = [corpus[int(number)]["labels"][1:] for number in trained]
        _kept.update(
            corpus=corpus,
            trained=trained,
            lengths=lengths[trained],
            targets=np.array([int((np.asarray(one) != loop.IGNORE).sum()) for one in labels]),
            held_out=[batches.padded(corpus, part.tolist()) for part in np.array_split(held, 6)],
        )
    return _kept
