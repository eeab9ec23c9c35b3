"""What the page of lesson 10 runs: slow documents, a naive stream, and what to go on with.

A worker that is started afresh (spawn, the way of Windows and macOS; forkserver from Python 3.14
on) imports what it runs, and cannot import a notebook: what workers run stands here.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch.utils.data

from batchlab.exercises.feeding import packer as packing
from batchlab.exercises.feeding.shuffled import scene, shuffled

__all__ = [
    "Numbers", "Packer", "SlowRows", "packer_works", "shuffle_works", "shuffled",
]  # fmt: skip

Packer = packing.StreamingPacker


class SlowRows(Sequence[Any]):
    """Rows of the reader's own script, each of which takes `seconds` to arrive."""

    def __init__(self, rows: Sequence[Any], seconds: float) -> None:
        self.rows, self.seconds = list(rows), seconds

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: Any) -> Any:
        time.sleep(self.seconds)
        return self.rows[number]


class Numbers(torch.utils.data.IterableDataset[int]):
    """A stream of 0, 1, ... `count` - 1: as naive as most first streams."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


def packer_works(yours: Any) -> bool:
    """Whether a learner's packer gives the rows of the page, also after a kill."""
    lengths = [5, 3, 2, 4, 8, 3, 1, 7]
    return all(
        packing.scene(yours, lengths, 8, 4, kills=[kill])["rows"]
        == packing.scene(Packer, lengths, 8, 4)["rows"]
        for kill in range(4)
    )


def shuffle_works(yours: Any) -> bool:
    """Whether a learner's shuffle gives out every document once, also after a kill."""
    whole, rest, _ = (one["out"] for one in scene(yours, [*range(20)], 6, [(0, 0, 0), (0, 0, 9)]))
    return sorted(whole) == list(range(20)) and whole[9:] == rest
