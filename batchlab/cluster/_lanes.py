"""Rows of documents that are read while they are trained: more than any memory holds.

    a source  ->  eight lanes, a block of documents each at a time  ->  the pieces of a step

Whose lane a document is, is a matter of its place in the source and not of the processes: any
number of them sees every document once, and a run that was killed goes on behind the last one.

Words
    lane      a part of the source; it gives one piece of every step
    position  of a lane: its pass through the source, documents of it before the block that is
              held, rows of that block that were taken
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch.distributed as dist

from batchlab import batches, data, packing
from batchlab.cluster._made import tokenizer_of
from batchlab.cluster.training import PIECES, Settings

__all__ = ["Lane", "Streamed"]

HELD_OUT = 16  # first documents of each lane, never trained on
BLOCK = 1024  # documents that a lane holds: 0.3 to 1.6 % more rows (record `packing_shards`)


class Lane:
    """One part of the source, packed a block at a time."""

    def __init__(self, settings: Settings, number: int, position: list[int]) -> None:
        self.settings, self.number, self.position = settings, number, list(position)
        self.model: Any = None  # whose vocabulary every block is held against
        self._blocks: Iterator[data.Corpus] | None = None
        self._corpus: Any = None
        self._rows: list[np.ndarray] = []

    def take(self, count: int) -> Any:
        """The next rows as a micro-batch."""
        documents: list[Any] = []
        rows: list[list[int]] = []
        while len(rows) < count:
            if self._corpus is None or self.position[2] >= len(self._rows):
                self._read_on()
                continue
            row = self._rows[self.position[2]]
            rows.append(list(range(len(documents), len(documents) + len(row))))
            documents += [self._corpus[int(one)] for one in row]
            self.position[2] += 1
        return batches.packed(documents, rows, self.settings.length)

    def _read_on(self) -> None:
        """Hold the next block; behind the last one, the first again."""
        if self._corpus is not None:
            self.position[1:] = [self.position[1] + len(self._corpus), 0]
            self._corpus, self._rows = None, []
        if self._blocks is None:
            behind = HELD_OUT + self.position[1]
            self._blocks = data.blocks(
                self.settings.documents, part=self.number, parts=PIECES, skip=behind, size=BLOCK,
                tokenizer=tokenizer_of(self.settings),
            )  # fmt: skip
            self._useful = self.position[1] > 0
        block = next(self._blocks, None)
        if block is None:
            if not self._useful:
                raise ValueError(
                    f"{self.settings.documents}: too few documents of at most "
                    f"{self.settings.length:,} tokens for a stream of {PIECES} parts, of which "
                    f"each holds {HELD_OUT} out: longer rows, or no stream"
                )
            self.position, self._blocks = [self.position[0] + 1, 0, 0], None
            return
        if self.model is not None:
            data.require_vocabulary(block, self.model)
        self._corpus = block
        fits = np.flatnonzero(block.lengths <= self.settings.length)
        if len(fits):
            self._useful = True
            packed = packing.pack(block.lengths[fits], self.settings.length)
            order = [self.settings.seed, self.number, *self.position[:2]]
            where = np.random.default_rng(order).permutation(packed.row_count)
            self._rows = [fits[packed.rows[int(one)]] for one in where]


class Streamed:
    """What a run asks of its rows, where they are read while it trains."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        heads = [self._head(number) for number in range(PIECES)]
        self.corpus = heads[0]
        self.fingerprint = "-".join(head.fingerprint[:4] for head in heads)
        self._held = [
            one for head in heads for one in head if len(one["input_ids"]) <= settings.length
        ]
        if not self._held:
            raise ValueError(
                f"{settings.documents}: none of the first {PIECES * HELD_OUT} documents has at "
                f"most {settings.length:,} tokens"
            )
        lengths = [len(one["input_ids"]) for one in self._held]
        self.held_out = [row.tolist() for row in packing.pack(lengths, settings.length).rows]
        self._lanes: dict[int, Lane] = {}

    def _head(self, number: int) -> data.Corpus:
        """The first documents of a lane: held out, and a look at what they are."""
        source = self.settings.documents
        words = tokenizer_of(self.settings)
        blocks = data.blocks(source, part=number, parts=PIECES, size=HELD_OUT, tokenizer=words)
        head = next(blocks, None)
        if head is None:
            raise ValueError(f"{source}: fewer than {PIECES} documents in it")
        if head.tokenizer is None and self.settings.model is None:
            raise ValueError(
                f"{source}: token ids in a stream; how many entries a vocabulary has, they do not "
                "say before the end: give --model"
            )
        return head

    def begin(self, model: Any, positions: list[list[int]], rank: int, ranks: int) -> None:
        """Open the lanes of this process where an earlier life left them."""
        for number in range(rank, PIECES, ranks):
            at = positions[number] if positions else [0, 0, 0]
            self._lanes[number] = Lane(self.settings, number, at)
            self._lanes[number].model = model

    def of_step(self, step: int, rank: int, ranks: int) -> list[Any]:
        """The next micro-batch of each lane of this process."""
        return [lane.take(self.settings.rows) for lane in self._lanes.values()]

    def held(self, rows: list[list[int]]) -> Any:
        """Rows that are held out, as a micro-batch."""
        return batches.packed(self._held, rows, self.settings.length)

    def positions(self) -> list[list[int]]:
        """How far every lane is, whoever reads it; every process calls this."""
        own = {number: lane.position for number, lane in self._lanes.items()}
        shares: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(shares, own)
        found = {number: at for share in shares for number, at in share.items()}
        return [found[number] for number in range(PIECES)]
