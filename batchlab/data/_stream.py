"""Packed rows of documents of any number, read while they are trained; exact on any ranks.

    a source, a plan  ->  lanes of blocks  ->  Batch after Batch, and a state to go on from

Words
    lane    every n-th block of an epoch's order; lanes are dealt to ranks, and take turns
    window  documents that are packed together
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from batchlab.data._columns import Columns
from batchlab.data._corpus import Corpus
from batchlab.data._feeder import Feeders
from batchlab.data._lane import Batch, Plan, Position
from batchlab.data._load import add, fields_of
from batchlab.data._tokens import Encoder
from batchlab.data._turns import opened, turns
from batchlab.packing import TOO_LONG
from batchlab.units import whole

__all__ = ["Batch", "Standing", "Stream"]

LANES = 8
Told = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """How far a stream is, on this rank.

    epoch      of the lane that is furthest behind, from 0
    share      of this epoch's blocks that were read, 0 to 1
    documents  handed out so far; a document that was cut counts as its pieces
    tokens     of these documents
    """

    epoch: int
    share: float
    documents: int
    tokens: int

    def __str__(self) -> str:
        return (
            f"epoch {self.epoch}, {self.share:.1%} of its blocks; {self.documents:,} documents, "
            f"{self.tokens:,} tokens handed out"
        )


class Stream:
    """Iterate over micro-batches of packed rows; `state_dict` and `load_state_dict` hold the place.

    source       as `load` takes it; a hub name is streamed. Files may be larger than memory. A
                 source that can be read once only, as a generator, needs lanes=1
    length       slots of a row
    rows         of a micro-batch; the last one of a lane's epoch may have fewer
    lanes        parts that are read side by side, each with a window of its own. Micro-batches
                 come from lane 0, 1, ... in turn
    rank, ranks  this process has lanes rank, rank + ranks, ... What a lane gives is the same on any
                 number of ranks and workers: every document lies in one lane
    workers      processes that read, tokenize and pack ahead; 0 does it here
    prefetch     micro-batches that each worker keeps ready
    seed         of the order of blocks, anew each epoch, and of rows; None keeps the source's order
    endless      go on with the next epoch. Else a loop is one epoch, and the next loop the next;
                 ranks may then have unequal numbers of micro-batches
    leave_out    first documents of the source, which are not handed out; `first` reads them
    too_long     of documents longer than a row: "refuse", "truncate", "split" or "drop"

    The other options are those of `load`.

    A file is held against its index (`NAME.index` beside it, or in the cache folder; at most 1 % of
    its size): one that grew, shrank or changed is a `ValueError` with the line, as is whatever else
    cannot be read. Of what was not read yet, and of files that are not .jsonl, a state holds the
    size and the first and last 64 KiB: between two lives no other change of them is seen.
    RuntimeError says which worker died.

    >>> stream = Stream([[7]] * 5, length=2, lanes=1)
    >>> [len(batch.documents) for batch in stream], len(stream.state_dict()["lanes"])
    ([2, 2, 1], 1)
    """

    def __init__(
        self,
        source: Any,
        length: int,
        *,
        rows: int = 1,
        lanes: int = LANES,
        rank: int = 0,
        ranks: int = 1,
        workers: int = 0,
        prefetch: int = 2,
        seed: int | None = 0,
        endless: bool = False,
        leave_out: int = 0,
        too_long: str = "refuse",
        field: str | Sequence[str] | None = None,
        prompt_field: str | Sequence[str] | None = None,
        answer_field: str | Sequence[str] | None = None,
        answers_only: bool = False,
        tokenizer: Any = None,
        split: str | None = None,
        document: str | None = None,
    ) -> None:
        length, rows, lanes = whole(length, "length"), whole(rows, "rows"), whole(lanes, "lanes")
        ranks, prefetch = whole(ranks, "ranks", most=lanes), whole(prefetch, "prefetch")
        rank = whole(rank, "rank", least=0, most=ranks - 1)
        self.workers, self.prefetch = whole(workers, "workers", least=0), prefetch
        if seed is not None:
            seed = whole(seed, "seed", least=0)
        if too_long not in TOO_LONG:
            raise ValueError(f"unknown policy {too_long!r}; there are {', '.join(TOO_LONG)}")
        self.plan = Plan(length, rows, lanes, seed, endless, too_long)
        fields = fields_of(field, prompt_field, answer_field, answers_only)
        left_out = whole(leave_out, "leave_out", least=0)
        self._asked = (source, fields, split, document, left_out)
        self._encoder = Encoder(tokenizer)
        self._positions = {number: Position() for number in range(rank, lanes, ranks)}
        self._shards, self._kind = opened(self._asked, self.plan.lanes, self._encoder)

    @property
    def fingerprint(self) -> str:
        """A short name of the source: equal for files of the same names, sizes and ends."""
        return self._shards.fingerprint

    @property
    def tokenizer(self) -> Any:
        """The tokenizer that was given or needed; None where the tokens came without one."""
        return self._encoder.used

    @cached_property
    def _own(self) -> dict[int, int]:
        """Blocks of an epoch in each lane of this rank."""
        blocks = len(self._shards.order(None, 0))
        return {n: len(range(n, blocks, self.plan.lanes)) for n in self._positions}

    @property
    def _epoch(self) -> int:
        """Of the lane that is behind; a worker beyond the lanes has none, and nothing to do."""
        return min((at.epoch for at in self._positions.values()), default=0)

    @property
    def standing(self) -> Standing:
        """How far this rank is."""
        at = self._positions.values()
        epoch = self._epoch
        read = sum(
            self._own[n] if one.epoch > epoch else one.blocks for n, one in self._positions.items()
        )
        return Standing(
            epoch,
            read / max(1, sum(self._own.values())),
            sum(one.documents for one in at),
            sum(one.tokens for one in at),
        )

    def first(self, documents: int) -> Corpus:
        """The first documents of the source, in the order of its blocks."""
        shards, kind = opened((*self._asked[:4], 0), self.plan.lanes, self._encoder)
        columns = Columns()
        rows = itertools.islice(shards.every(), whole(documents, "documents"))
        add(columns, rows, kind, shards.name)
        return columns.corpus(
            shards.name, vocabulary=self._encoder.vocabulary, tokenizer=self._encoder.used
        )

    def __iter__(self) -> Iterator[Batch]:
        """Micro-batches from the place on, to the end of the epoch or without end."""
        epoch = self._epoch
        here = {
            n: at for n, at in self._positions.items() if at.epoch == epoch or self.plan.endless
        }
        if self.workers:
            feeders = Feeders(
                self._asked, self.plan, self._encoder, here, self.workers, self.prefetch,
                self.fingerprint,
            )  # fmt: skip
            with closing(feeders):
                for number, at, batch in feeders:
                    self._positions[number] = at
                    if batch is not None:
                        tokenizer = self._encoder.used
                        yield replace(
                            batch, documents=replace(batch.documents, tokenizer=tokenizer)
                        )
            return
        for number, at, batch in turns(self._shards, self._kind, self._encoder, self.plan, here):
            self._positions[number] = at
            if batch is not None:
                yield batch

    def take_part(self, part: int, parts: int) -> None:
        """Keep only the lanes of one of several readers of this rank, as workers are."""
        parts = whole(parts, "parts")
        kept = sorted(self._positions)[whole(part, "part", least=0, most=parts - 1) :: parts]
        self._positions = {number: self._positions[number] for number in kept}
        self.__dict__.pop("_own", None)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_shards", "_kind")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._shards, self._kind = opened(self._asked, self.plan.lanes, self._encoder)

    def state_dict(self) -> dict[str, Any]:
        """The place as plain data, after the last micro-batch that was handed out.

        It has the lanes of this rank. A run over several ranks saves the states of all of them.
        """
        return {
            "fingerprint": self.fingerprint,
            "files": {name: list(one) for name, one in self._shards.identities().items()},
            "plan": asdict(self.plan),
            "left_out": self._asked[4],
            "lanes": {str(number): list(astuple(at)) for number, at in self._positions.items()},
        }

    def keep_index(self, folder: Path) -> None:
        """Copy the indices of the files into a folder, for `load_state_dict`."""
        self._shards.keep(folder)

    def load_state_dict(self, state: Told | Sequence[Told], index: Path | None = None) -> None:
        """Go on at a state, or at those of all ranks of a run that may have had another number.

        index  a folder of `keep_index`: what was read is held against it if an index is lost

        Other documents, and another plan, are a `ValueError`; so is a lane that no state has.
        """
        states = [state] if isinstance(state, Mapping) else list(state)
        lanes: dict[str, list[int]] = {}
        for one in states:
            self._shards.adopt(str(one["fingerprint"]), one["files"], index)
            if (one["plan"], one["left_out"]) != (asdict(self.plan), self._asked[4]):
                raise ValueError(
                    f"the state belongs to another plan: {one['plan']}, here {asdict(self.plan)}"
                )
            lanes |= one["lanes"]
        missing = [number for number in self._positions if str(number) not in lanes]
        if missing:
            raise ValueError(
                f"no state has lane {missing[0]} of {self.plan.lanes}: give the states of all "
                f"ranks as one list"
            )
        for number in self._positions:
            self._positions[number] = Position(*lanes[str(number)])
