"""A world of ranks inside one process: what each computes, sends, holds and waits for.

    a function of one rank, world size, link  ->  results, bytes, peak memory, seconds, timeline

The function runs once per rank, each in a thread of its own, and exactly one thread is awake at a
time: the world switches only where a rank waits for another. So a run is deterministic, its clock
is simulated (`Link`), a deadlock is seen at once, and a refusal names the ranks and their lines.
The same function runs over real processes with `cluster.distributed.run`: the same bytes travel and
ranks are added up in the same order, to the same bits. What a rank computes by itself is equal to
rounding: with another number of threads, NumPy's matrix products add in another order.

Words
    clock     seconds that the link and `compute` would take; what Python takes is not in it
    held      bytes of arrays that a rank keeps (NumPy and Python; torch allocates out of sight)
"""

import copy
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from batchlab.cluster._baton import Switch
from batchlab.cluster._collectives import Link
from batchlab.cluster._ring import Rank
from batchlab.cluster._simulated import Event, RankError, Simulated
from batchlab.units import real, whole

__all__ = ["FREE", "Event", "Rank", "RankError", "World", "run"]

FREE = Link("free", 1e30, "a link that costs nothing: only results and bytes are asked for")


@dataclass(frozen=True)
class World:
    """What a world of ranks did; lists have one entry a rank."""

    results: list[Any]
    sent_bytes: list[int]
    peak_bytes: list[int]
    seconds: list[float]  # each rank's clock when it returned
    timeline: list[Event]

    @property
    def total_bytes(self) -> int:
        return sum(self.sent_bytes)

    @property
    def makespan(self) -> float:
        """Seconds until the last rank returned."""
        return max(self.seconds)


def run(
    function: Callable[..., Any],
    world_size: int,
    *arguments: Any,
    profile: Link = FREE,
    patience: float = 10.0,
) -> World:
    """Run `function(rank, *arguments)` on every rank and return what happened.

    arguments  copied for each rank, as processes would have them
    profile    the link of every rank: latency and bytes per second
    patience   wall seconds that a rank may run without communicating before it is ended

    What a rank function does wrong raises `RankError`, which names the rank and the line: an
    exception of its own, a deadlock, a collective that differs from the other ranks', a message of
    another shape, a rank that never comes back.

    >>> import numpy as np
    >>> def average(rank, values):
    ...     return rank.all_reduce(values[rank.rank]) / rank.world_size
    >>> world = run(average, 2, np.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> world.results[0], world.sent_bytes
    (array([2., 4.]), [16, 16])
    """
    world_size = whole(world_size, "world_size", most=4096)
    patience = real(patience, "patience", above=0)
    switch = Switch(world_size, profile, patience)

    def started(rank: Simulated) -> Any:
        return function(rank, *copy.deepcopy(arguments))

    with _memory_traced():
        results = switch.run(started)
    ranks = switch.ranks
    return World(
        results,
        [rank.sent_bytes for rank in ranks],
        [rank.peak_bytes for rank in ranks],
        [rank.clock for rank in ranks],
        switch.timeline,
    )


@contextmanager
def _memory_traced() -> Iterator[None]:
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    try:
        yield
    finally:
        if not already:
            tracemalloc.stop()
