"""Lesson 16 on a real model: trained under a learner's controller, beside the same run with a constant step.

    controller, status, seed  ->  lines of a monitor, moves, steps and loss

Words
    held     rows that are never trained on
    watched  what `status` gets: micro-batches, gradient norms, seconds of the step by part
"""

import itertools
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from batchlab import data, loop, model
from batchlab.exercises.adaptive import grown, of

__all__ = ["compared", "constant", "ramped", "status", "trained"]

LENGTH, HELD, READINGS, WINDOW = 64, 256, 20, 40
RATE = 3e-3  # at 2 sequences a step


def status(step: Mapping[str, Any]) -> dict[str, Any]:
    """What a step held, its gradient's norm over the usual one, and where its time went."""
    *before, now = step["norms"]
    return {
        "sequences": sum(len(piece) for piece in step["micro_batches"]),
        "targets": sum(sum(piece) for piece in step["micro_batches"]),
        "norm": now / statistics.median(before) if before else 1.0,
        "slowest": max(step["seconds"], key=step["seconds"].get),
    }


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
    status: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """One run on the embedded corpus in rows of 64 tokens, from `first` sequences a step.

    `rate` is that of 2 sequences a step; `grown` moves it to `first`. With `status`, a line at each
    move.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _run(control, seed, tokens, most, grown(of(1, 2, rate=rate), first), status)
    finally:
        torch.set_num_threads(threads)


def compared(
    arms: Mapping[str, tuple[Callable[..., Any], int]],
    *,
    tokens: int,
    rates: Sequence[float],
    beside: str,
) -> None:
    """Print each arm's steps and loss at its better rate, beside another arm; three seeds.

    arms   {name: (controller, sequences of the first step)}; the first one prints its monitor
    """
    ends = {}
    for name, (controller, first) in arms.items():
        for rate in rates:
            told = not ends
            ends[name, rate] = [
                trained(controller, seed=seed, tokens=tokens, most=16, first=first, rate=rate,
                        status=status if told and seed == 0 else None)
                for seed in range(3)
            ]  # fmt: skip
    loss = {key: [one["loss"] for one in ran] for key, ran in ends.items()}
    best = {name: min(rates, key=lambda rate: sum(loss[name, rate])) for name in arms}
    alone = loss[beside, best[beside]]
    for name, rate in best.items():
        tried = " or ".join(f"{statistics.mean(loss[name, one]):.3f}" for one in rates)
        more = [a - b for a, b in zip(loss[name, rate], alone, strict=True)]
        error = statistics.stdev(more) / len(more) ** 0.5
        steps = statistics.mean(one["steps"] for one in ends[name, rate])
        print(
            f"{name:<13} {steps:3.0f} steps, loss {tried}; "
            f"at {rate:g}: {statistics.mean(more):+.3f} ± {error:.3f} beside {beside}"
        )


def _run(
    control: Any, seed: int, tokens: int, most: int, settings: dict[str, Any], status: Any
) -> dict[str, Any]:
    import torch

    from batchlab.noise.norms import Tracker

    train, held = _rows(seed)
    net = model.small(data.embedded().vocabulary, layers=1, hidden=64, heads=2, seed=seed)
    state: dict[str, Any] = {}
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings["rate"], weight_decay=0.0)
    seen, sizes, norms = 0, [], list[float]()
    with Tracker(net, optimizer, window=WINDOW) as tracker:
        while seen < tokens:
            clock = [time.perf_counter()]
            size, at = settings["rows"] * settings["accumulation"], seen // LENGTH
            for group in optimizer.param_groups:
                group.update(lr=settings["rate"], betas=(0.9, settings["beta2"]))
            ids = train[at : at + size].split(settings["rows"])
            pieces = [{"input_ids": one, "labels": one} for one in ids]
            clock.append(time.perf_counter())
            took = loop.train_step(net, optimizer, pieces, max_grad_norm=1.0)
            clock.append(time.perf_counter())
            seen += size * LENGTH
            sizes.append(size)
            norms.append(took.grad_norm)
            found = tracker.estimate() if len(sizes) >= READINGS else None
            reading = {"out_of_memory": False, "loss": took.loss, "data": "embedded",
                       "low": found.low if found else None}  # fmt: skip
            before = settings
            settings, state = control(settings, state, reading, most)
            clock.append(time.perf_counter())
            if status is not None and (settings != before or len(sizes) % 20 == 0):
                parts = [b - a for a, b in itertools.pairwise(clock)]
                watched = {
                    "micro_batches": [[LENGTH - 1] * len(one) for one in ids], "norms": norms[-20:],
                    "seconds": dict(zip(("input", "training", "control"), parts, strict=True)),
                }  # fmt: skip
                _print(len(sizes), status(watched), found, settings, before)
    loss = loop.evaluate(net, [{"input_ids": held, "labels": held}])
    return {"steps": len(sizes), "tokens": seen, "loss": loss, "sizes": sizes, "rates": settings}


def _print(step: int, told: Mapping[str, Any], found: Any, settings: Any, before: Any) -> None:
    noise = f"{found.low:5.1f} to {found.high:5.1f}" if found else "-"
    moved = "" if settings == before else "  -> " + " x ".join(
        str(settings[key]) for key in ("rows", "accumulation", "data_parallel")
    ) + f", rate {settings['rate']:.2g}"  # fmt: skip
    norm = told["norm"] if math.isfinite(told["norm"]) else math.nan
    print(
        f"step {step:>3}: {told['sequences']:>2} sequences, {told['targets']:>5,} targets, "
        f"norm {norm:.2f} x usual, noise scale {noise}, slowest: {told['slowest']}{moved}"
    )
