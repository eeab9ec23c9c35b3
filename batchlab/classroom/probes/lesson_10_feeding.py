"""Lesson 10, feeding a step: slow documents that workers can import, and a loader simulated.

    texts, seconds a file  ->  documents that wait and are tokenized when they are read
    seconds to build each micro-batch, workers, prefetch  ->  seconds that the loop waits for each

A worker that is started afresh (spawn, the way of Windows and macOS; forkserver from Python 3.14
on) imports what it runs, and cannot import a notebook: what workers run stands here.

Words
    build   making one micro-batch: reading, tokenizing, padding
"""

import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch.utils.data

from batchlab import lengths

__all__ = ["BUILDS", "STEP_SECONDS", "Numbers", "SlowTexts", "pipelines", "simulated", "waiting"]

STEP_SECONDS, BUILDS = 0.040, 400  # of the simulation
SECONDS_PER_TOKEN, ROWS, FULL = 1e-4, 8, 40  # so many micro-batches pass before waits are counted


class SlowTexts(Sequence[Any]):
    """Documents that are fetched, for `seconds` each, and tokenized whenever they are read."""

    def __init__(self, texts: Sequence[str], tokenizer: Any, seconds: float) -> None:
        self.texts, self.tokenizer, self.seconds = list(texts), tokenizer, seconds
        self.fingerprint = f"{len(self.texts)} texts"  # else a loader would read them all first

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: Any) -> Any:
        time.sleep(self.seconds)  # a file far away: the process waits and computes nothing
        return {"input_ids": np.array(self.tokenizer.encode(self.texts[number]).ids)}


class Numbers(torch.utils.data.IterableDataset[int]):
    """A stream of 0, 1, ... `count` - 1: as naive as most first streams."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


def pipelines() -> Iterator[tuple[float, float, float, int]]:
    """Cases (build, take, step, workers) of any size; building sets the pace in every second.

    One worker to 70,000, steps of a microsecond to hours, and taking over shorter or longer than
    the step.
    """
    for number, workers in enumerate([*range(1, 26), 31, 48, 64, 100, 500, 1001, 70_000]):
        scale = 10.0 ** (number % 12 - 6)
        take, step = (0.21 * scale, 0.72 * scale) if number % 3 else (0.83 * scale, 0.34 * scale)
        for pace in (0.6, 1.7):
            yield pace * workers * (take + step), take, step, workers


def simulated(
    builds: Sequence[float], step_seconds: float, workers: int, prefetch: int
) -> list[float]:
    """Seconds that the loop waits for each micro-batch, with the rules of torch's DataLoader.

    Micro-batch i is built by worker i % workers and handed out in order. At most `prefetch` of each
    worker are under way or ready; a new one is begun when one is taken.

    >>> simulated([3, 1, 1, 1], 1, workers=1, prefetch=2)
    [3.0, 0.0, 0.0, 0.0]
    """
    free, now = [0.0] * workers, 0.0
    taken: list[float] = []
    waits: list[float] = []
    for number, seconds in enumerate(builds):
        before = number - workers * prefetch
        begun = max(free[number % workers], taken[before] if before >= 0 else 0.0)
        free[number % workers] = ready = begun + seconds
        waits.append(max(0.0, ready - now))
        now = max(now, ready)
        taken.append(now)
        now += step_seconds
    return waits


@cache
def _build_seconds() -> tuple[float, ...]:
    """Of micro-batches of 8 random documents, at 0.1 ms a token."""
    rng = np.random.default_rng(10)
    tokens = lengths.embedded()
    order = rng.permutation(len(tokens))[: BUILDS * ROWS].reshape(BUILDS, ROWS)
    return tuple((SECONDS_PER_TOKEN * tokens[order].sum(axis=1)).tolist())


@cache
def waiting(workers: int, prefetch: int) -> float:
    """Share of the time that the simulated loop waits, once the loader has filled up."""
    waits = simulated(_build_seconds(), STEP_SECONDS, workers, prefetch)[FULL:]
    return sum(waits) / (sum(waits) + STEP_SECONDS * len(waits))
