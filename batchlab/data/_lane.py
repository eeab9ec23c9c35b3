"""One lane of a stream: its blocks, read a window at a time, packed, and handed out row by row.

    blocks, a position  ->  windows of documents  ->  packed rows  ->  Batch, the next position

What a lane gives follows from the plan, its number and its position: who reads it, and what other
lanes do, changes nothing.

Words
    window    documents that are packed together: 1,024, or fewer that fill 128 rows
    position  where the window begins that is held, and how many of its rows were taken
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from batchlab.data._columns import Columns
from batchlab.data._corpus import Corpus
from batchlab.data._documents import Kind
from batchlab.data._files import where
from batchlab.data._load import add
from batchlab.data._shards import Rows, Shards
from batchlab.data._tokens import Encoder
from batchlab.packing import pack

__all__ = ["Batch", "Lane", "Plan", "Position"]

WINDOW, FILLED = 1024, 128  # documents, rows: 0.3 to 1.6 % more rows (record `packing_shards`)
CHUNK = 128  # documents that are turned into tokens in one call


@dataclass(frozen=True, eq=False)
class Batch:
    """Documents of a micro-batch, and which of them share a row of `length` slots.

    It is what `batches.packed` takes: `batches.packed(batch.documents, batch.rows, batch.length)`.
    """

    documents: Corpus
    rows: list[list[int]]
    length: int


@dataclass(frozen=True)
class Plan:
    """What two streams must agree on to give the same."""

    length: int
    rows: int
    lanes: int
    seed: int | None
    endless: bool
    too_long: str


@dataclass
class Position:
    """Of a lane: epoch, blocks of it and documents of the next block before the window that is
    held, rows of this window that were taken; and what was handed out so far."""

    epoch: int = 0
    block: int = 0
    document: int = 0
    row: int = 0
    row_count: int = 0  # of the window
    behind: int = 0  # the block behind the window
    batches: int = 0
    documents: int = 0
    tokens: int = 0

    @property
    def blocks(self) -> float:
        """Blocks of the epoch that were handed out, a share of the last ones."""
        window = self.behind - self.block if self.row_count else 0
        return self.block + window * self.row / max(1, self.row_count)


class Lane:
    """Every `lanes`-th block of an epoch's order."""

    def __init__(
        self, shards: Shards, kind: Kind, encoder: Encoder, plan: Plan, number: int, at: Position
    ) -> None:
        self.shards, self.kind, self.encoder = shards, kind, encoder
        self.plan, self.number, self.position = plan, number, replace(at)
        self._source: Rows | None = None  # of the epoch, behind the window that is held
        self._read = (at.block, at.document)  # how far it is
        self._held: Corpus | None = None
        self._rows: list[np.ndarray] = []
        self._useful = at.batches > 0  # whether a pass over the blocks gave any row

    def take(self) -> Batch | None:
        """The next micro-batch; None, once, where an epoch ends that is not followed by another."""
        parts: list[Corpus] = []
        sizes: list[int] = []
        at = self.position
        while len(sizes) < self.plan.rows:
            if self._held is None or at.row >= len(self._rows):
                if self._read_on():
                    continue
                self._next_epoch()
                if self.plan.endless:
                    continue
                if not sizes:
                    return None
                break
            taken = self._rows[at.row :][: self.plan.rows - len(sizes)]
            at.row += len(taken)
            sizes += map(len, taken)
            parts.append(self._held.select(np.concatenate(taken)))
        documents = _joined(parts)
        at.batches += 1
        at.documents += len(documents)
        at.tokens += len(documents.tokens)
        numbers = iter(range(len(documents)))
        return Batch(
            documents, [list(itertools.islice(numbers, n)) for n in sizes], self.plan.length
        )

    def _read_on(self) -> bool:
        """Hold and pack the next window; False behind the last one of the epoch."""
        at = self.position
        if self._source is None:
            self._source = self._documents()
        else:
            at.block, at.document = self._read
            at.row = 0
        self._held, self._rows = None, []
        columns, documents = Columns(), 0
        while documents < WINDOW and len(columns.tokens) < FILLED * self.plan.length:
            places = add(
                columns, itertools.islice(self._source, CHUNK), self.kind, self.shards.name
            )
            if not places:
                break
            self._refuse_long(columns, documents, places)
            documents += len(places)
        if not documents:
            return False
        self._pack(self._cut(columns))
        at.row_count, at.behind = len(self._rows), self._read[0] + 1
        return True

    def _documents(self) -> Rows:
        """Rows from the position on to the end of the epoch."""
        at = self.position
        mine = self.shards.order(self.plan.seed, at.epoch)[self.number :: self.plan.lanes]
        begin = at.document
        for number, block in enumerate(mine.tolist()[at.block :], start=at.block):
            self._read = (number, begin)
            for document, row in enumerate(self.shards.rows(block, begin), start=begin + 1):
                self._read = (number, document)
                yield row
            begin = 0

    def _next_epoch(self) -> None:
        at = self.position
        if self.plan.endless and not self._useful:
            raise ValueError(
                f"{self.shards.name}: too few documents of at most {self.plan.length:,} tokens for "
                f"a stream of {self.plan.lanes} lanes: longer rows, fewer lanes, or no stream"
            )
        self._useful = False
        at.epoch, at.block, at.document, at.row, at.row_count = at.epoch + 1, 0, 0, 0, 0
        at.batches = at.batches if self.plan.endless else 0
        self._source, self._read, self._held, self._rows = None, (0, 0), None, []

    def _refuse_long(self, columns: Columns, before: int, places: list[Any]) -> None:
        if self.plan.too_long != "refuse":
            return
        sizes = np.diff(np.array(columns.ends[before:]))
        if sizes.max() > self.plan.length:
            at = int(np.argmax(sizes > self.plan.length))
            raise ValueError(
                f"{where(places[at])}: it has {sizes[at]:,} tokens, a row has {self.plan.length:,} "
                f"slots; choose too_long: truncate, split or drop"
            )

    def _cut(self, columns: Columns) -> Corpus:
        """The window's documents, or pieces of them that fit into a row."""
        made = columns.corpus(
            self.shards.name, vocabulary=self.encoder.vocabulary, tokenizer=self.encoder.used
        )
        if self.plan.too_long == "drop":  # by numbers, in `_pack`: a window may hold none that fits
            return made
        return made.fitted(self.plan.length, self.plan.too_long)

    def _pack(self, held: Corpus) -> None:
        self._held = held
        fits = np.flatnonzero(held.lengths <= self.plan.length)
        if not len(fits):
            return
        self._useful = True
        at = self.position
        packed = pack(held.lengths[fits], self.plan.length)
        key = [self.plan.seed or 0, self.number, at.epoch, at.block, at.document]
        order = np.random.default_rng(key).permutation(packed.row_count)
        self._rows = [fits[packed.rows[int(row)]] for row in order]


def _joined(parts: list[Corpus]) -> Corpus:
    """Documents of several windows as one corpus."""
    if len(parts) == 1:
        return parts[0]
    trained = None
    if any(one.trained is not None for one in parts):
        trained = np.concatenate(
            [np.ones(len(o.tokens), bool) if o.trained is None else o.trained for o in parts]
        )
    return replace(
        parts[0],
        tokens=np.concatenate([one.tokens for one in parts]),
        starts=np.append(0, np.cumsum(np.concatenate([one.lengths for one in parts]))),
        prompts=np.concatenate([one.prompts for one in parts]),
        vocabulary=max(one.vocabulary for one in parts),
        trained=trained,
    )
