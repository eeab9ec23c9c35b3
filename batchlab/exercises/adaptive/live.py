"""Lesson 16 on a real model: trained under a learner's controller, beside the same run with a constant step.

    controller, seed  ->  sizes of its steps, and the loss at the end

Words
    held     rows that are never trained on
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab import data, loop, model
from batchlab.exercises.adaptive import grown, of

__all__ = ["compared", "constant", "ramped", "trained"]

LENGTH, HELD, READINGS, WINDOW = 64, 256, 20, 40
RATE = 3e-3  # at 2 sequences a step
T_90 = 2.92  # half of a 90 % interval in standard errors, of three seeds


def constant(settings: Any, state: Any, reading: Any, most: int) -> tuple[Any, Any]:
    """The controller that never moves."""
    return settings, state


def ramped(stages: Any) -> Callable[..., Any]:
    """A controller that follows a plan: (from_tokens, sequences) in order, whatever it reads."""

    def control(settings: Any, state: Any, reading: Any, most: int) -> tuple[Any, Any]:
        now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
        seen = state.get("seen", 0) + now * LENGTH
        asked = [size for start, size in stages if start <= seen][-1]
        return (grown(settings, asked) if asked != now else settings), {"seen": seen}

    return control


def _rows(seed: int) -> tuple[Any, Any]:
    import torch

    tokens = torch.from_numpy(data.embedded().tokens.astype("int64"))
    rows = tokens[: len(tokens) // LENGTH * LENGTH].view(-1, LENGTH)
    rows = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]
    order = torch.randperm(len(rows) - HELD, generator=torch.Generator().manual_seed(seed))
    return rows[HELD:][order], rows[:HELD]


def trained(
    control: Callable[..., Any],
    *,
    seed: int,
    tokens: int,
    most: int,
    first: int = 2,
    rate: float = RATE,
) -> dict[str, Any]:
    """One run on the embedded corpus in rows of 64 tokens, from `first` sequences a step.

    `rate` is that of 2 sequences a step; `grown` moves it to `first`.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _run(control, seed, tokens, most, grown(of(1, 2, rate=rate), first))
    finally:
        torch.set_num_threads(threads)


def compared(
    arms: Mapping[str, tuple[Callable[..., Any], int]],
    *,
    tokens: int,
    rates: Sequence[float],
    beside: str,
) -> dict[str, float]:
    """Print each arm's steps and loss at its better rate, beside another arm; return the steps.

    arms   {name: (controller, sequences of the first step)}; three seeds of each
    """
    ends = {
        (name, rate): [
            trained(controller, seed=seed, tokens=tokens, most=16, first=first, rate=rate)
            for seed in range(3)
        ]
        for name, (controller, first) in arms.items()
        for rate in rates
    }
    loss = {key: [one["loss"] for one in ran] for key, ran in ends.items()}
    best = {name: min(rates, key=lambda rate: sum(loss[name, rate])) for name in arms}
    alone, steps = loss[beside, best[beside]], {}
    for name, rate in best.items():
        tried = " or ".join(f"{statistics.mean(loss[name, one]):.3f}" for one in rates)
        steps[name] = statistics.mean(len(one["sizes"]) for one in ends[name, rate])
        told = f"{name:<13} {steps[name]:3.0f} steps, loss {tried}; at {rate:g}"
        if name != beside:
            more = [a - b for a, b in zip(loss[name, rate], alone, strict=True)]
            middle, wide = statistics.mean(more), T_90 * statistics.stdev(more) / len(more) ** 0.5
            low, high = middle - wide, middle + wide
            holds = "holds 0" if low <= 0 <= high else "does not hold 0"
            told += (
                f": {middle:+.3f} beside {beside}, 90 % interval {low:+.3f} to {high:+.3f} {holds}"
            )
        print(told)
    return steps


def _run(
    control: Any, seed: int, tokens: int, most: int, settings: dict[str, Any]
) -> dict[str, Any]:
    import torch

    from batchlab.noise.norms import Tracker

    train, held = _rows(seed)
    net = model.small(data.embedded().vocabulary, layers=1, hidden=64, heads=2, seed=seed)
    state: dict[str, Any] = {}
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings["rate"], weight_decay=0.0)
    seen, sizes = 0, list[int]()
    with Tracker(net, optimizer, window=WINDOW) as tracker:
        while seen < tokens:
            size, at = settings["rows"] * settings["accumulation"], seen // LENGTH
            for group in optimizer.param_groups:
                group.update(lr=settings["rate"], betas=(0.9, settings["beta2"]))
            ids = train[at : at + size].split(settings["rows"])
            pieces = [{"input_ids": one, "labels": one} for one in ids]
            took = loop.train_step(net, optimizer, pieces, max_grad_norm=1.0)
            seen += size * LENGTH
            sizes.append(size)
            found = tracker.estimate() if len(sizes) >= READINGS else None
            reading = {"out_of_memory": False, "loss": took.loss, "data": "embedded",
                       "low": found.low if found else None}  # fmt: skip
            settings, state = control(settings, state, reading, most)
    loss = loop.evaluate(net, [{"input_ids": held, "labels": held}])
    return {"tokens": seen, "loss": loss, "sizes": sizes, "rates": settings}
