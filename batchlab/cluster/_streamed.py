"""Rows of documents that are read while they are trained: more than any memory holds.

    a source  ->  `data.Stream` with a lane for each piece of a step  ->  the pieces of this process

What a lane gives follows from its number and place alone: any number of processes sees every
document once, and a run that was killed goes on behind the last one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch.distributed as dist

from batchlab import batches, data, packing
from batchlab.cluster._made import fingerprint, read, tokenizer_of
from batchlab.cluster.training import PIECES, Settings

__all__ = ["Streamed"]

HELD_OUT = 128  # first documents, never trained on
WORKERS = 1  # processes that read ahead, for each that trains


class Streamed:
    """What a run asks of its rows, where they are read while it trains."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        stream = self._opened(0, 1)
        self.corpus = stream.first(HELD_OUT)
        if self.corpus.tokenizer is None and settings.model is None:
            raise ValueError(
                f"{settings.documents}: token ids in a stream; how many entries a vocabulary has, "
                "they do not say before the end: give --model"
            )
        self.fingerprint = fingerprint(self.corpus)
        self.read = f"of the first documents: {read(self.corpus, settings)}"
        self._held = self.corpus.fitted(settings.length, settings.too_long)
        packed = packing.pack(self._held.lengths, settings.length)
        self.held_out = [row.tolist() for row in packed.rows]
        self._stream = stream
        self._taken: Iterator[data.Batch] | None = None
        self._model: Any = None

    def _opened(self, rank: int, ranks: int) -> data.Stream:
        asked = self.settings
        return data.Stream(
            asked.documents,
            asked.length,
            rows=asked.rows,
            lanes=PIECES,
            rank=rank,
            ranks=ranks,
            workers=WORKERS,
            seed=asked.seed,
            endless=True,
            leave_out=HELD_OUT,
            too_long=asked.too_long,
            tokenizer=tokenizer_of(asked),
            **asked.read(),
        )

    def require(self, states: list[Any], checkpoint: Path | None = None) -> None:
        """ValueError, with the line, if a checkpoint's documents are not these any more."""
        if states:
            self._stream.load_state_dict(states, checkpoint)

    def keep(self, checkpoint: Path) -> None:
        """Lay the index of the files beside the weights: who loses it is not believed blindly."""
        self._stream.keep_index(checkpoint)

    def begin(self, model: Any, states: list[Any], rank: int, ranks: int) -> None:
        """Open the lanes of this process where an earlier life left them."""
        self._stream, self._model = self._opened(rank, ranks), model
        if states:
            self._stream.load_state_dict(states)
        self._pieces = len(range(rank, PIECES, ranks))
        self._taken = iter(self._stream)

    def of_step(self, step: int, rank: int, ranks: int) -> list[Any]:
        """The next micro-batch of each lane of this process."""
        assert self._taken is not None
        return [self._piece(next(self._taken)) for _ in range(self._pieces)]

    def _piece(self, one: data.Batch) -> Any:
        if self._model is not None:
            data.require_vocabulary(one.documents, self._model)
        return batches.packed(one.documents, one.rows, one.length)

    def held(self, rows: list[list[int]]) -> Any:
        """Rows that are held out, as a micro-batch."""
        return batches.packed(self._held, rows, self.settings.length)

    def states(self) -> list[Any]:
        """The place of every process's stream; every process calls this."""
        every: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(every, self._stream.state_dict())
        return every

    def end(self) -> None:
        """Let the process that reads ahead go."""
        self._taken = None
