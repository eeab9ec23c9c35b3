"""The lanes of one process, which take turns.

what was asked  ->  blocks, the kind of a document  ->  a micro-batch of each lane, again and again
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from batchlab.data._documents import Kind
from batchlab.data._lane import Batch, Lane, Plan, Position
from batchlab.data._load import kind_of_first
from batchlab.data._shards import Shards
from batchlab.data._source import shards_of
from batchlab.data._tokens import Encoder

__all__ = ["opened", "turns"]


def opened(asked: Any, lanes: int, encoder: Encoder) -> tuple[Shards, Kind]:
    """The blocks of a source, and what a document of it is."""
    source, fields, split, document, left_out = asked
    shards = shards_of(source, lanes, split, document)
    first = shards.first()
    if first is None:
        raise ValueError(f"{shards.name}: no documents in it")
    if left_out:
        shards.leave_out(left_out)
    return shards, kind_of_first(first, fields, encoder)


def turns(
    shards: Shards, kind: Kind, encoder: Encoder, plan: Plan, positions: Mapping[int, Position]
) -> Iterator[tuple[int, Position, Batch | None]]:
    """Lane, its next position, and its micro-batch, lane after lane; None where a lane ends."""
    lanes = [Lane(shards, kind, encoder, plan, n, at) for n, at in sorted(positions.items())]
    while lanes:
        lane = min(lanes, key=lambda one: (one.position.batches, one.number))
        epoch = lane.position.epoch
        batch = lane.take()
        if lane.position.epoch > epoch and not plan.endless:
            lanes.remove(lane)
        yield lane.number, replace(lane.position), batch
