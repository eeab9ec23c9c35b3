"""Where documents lie, in blocks of which each can be read by itself.

    a file, a folder, a sequence, a data set  ->  Shards: so many blocks, the rows of each

Words
    shard  a file, or all of a sequence
    block  of a file, as `_file_shards` cuts it; of a sequence, 256 rows; of what has no numbers,
           every n-th row
"""

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from batchlab.data._file_shards import File, Groups, Lines, Rows, Strides
from batchlab.data._files import Row, arrow_rows, form_of
from batchlab.data._index import Identity
from batchlab.reading import require_target

__all__ = ["Rows", "Shards", "of_files", "of_iterable", "of_sequence"]

RANGE = 256  # rows of a sequence that are one block
FEW = 4  # blocks that every lane should have at least, where files are no more
NAMED = 64  # files whose identities a state holds, one by one
LOOKED_AT = 64  # rows of a sequence, evenly spaced, that tell it from others


class Shard(Protocol):
    """Blocks that lie together."""

    blocks: int

    def rows(self, block: int, skip: int) -> Rows: ...


class Shards:
    """All blocks of a source, numbered through."""

    def __init__(
        self,
        name: str,
        shards: Sequence[Shard],
        mark: str,
        files: Sequence[File] = (),
        once: "_Once | None" = None,
    ) -> None:
        self.name, self.fingerprint, self._once = name, mark, once
        self._shards, self._files = shards, files
        self._ends = np.cumsum([one.blocks for one in shards])
        self._first, self._left = 0, 0  # where the documents behind those that are left out begin

    def __len__(self) -> int:
        return int(self._ends[-1])

    def rows(self, block: int, skip: int = 0) -> Rows:
        """The rows of a block, each with its place, but the first `skip`."""
        shard = int(np.searchsorted(self._ends, block, side="right"))
        begin = int(self._ends[shard - 1]) if shard else 0
        left = self._left if block == self._first else 0
        return self._shards[shard].rows(block - begin, skip + left)

    def every(self) -> Rows:
        """All rows, block after block."""
        return itertools.chain.from_iterable(map(self.rows, range(len(self))))

    def first(self) -> tuple[Any, Row] | None:
        """The first row; a source that can be read once only still has it afterwards."""
        found = next(self.every(), None)
        if found and self._once is not None:
            self._once.ahead.append(found[1])
        return found

    def leave_out(self, documents: int) -> None:
        """Have no part any more in the first documents."""
        for block in range(len(self)):
            there = sum(1 for _ in itertools.islice(self.rows(block), documents))
            if there == documents:
                self._first, self._left = block, documents
                return
            documents -= there
        self._first = len(self)

    def order(self, seed: int | None, epoch: int) -> np.ndarray:
        """The blocks of an epoch; without a seed, in the order of the source."""
        blocks = np.arange(self._first, len(self))
        return blocks if seed is None else np.random.default_rng([seed, epoch]).permutation(blocks)

    def identities(self) -> dict[str, Identity]:
        """Bytes and checksum of each file, where they are few: what a state holds of them."""
        few = self._files[: NAMED + 1]
        return {one.path.name: one.identity for one in few} if len(few) <= NAMED else {}

    def keep(self, folder: Path) -> None:
        """Copy the index of each file, where a state holds the files one by one."""
        for one in self._files[:NAMED]:
            one.keep(folder)

    def adopt(self, fingerprint: str, files: Mapping[str, Any], kept: Path | None = None) -> None:
        """ValueError, with the line if it can be, unless a state's fingerprint is that of these."""
        if fingerprint == self.fingerprint:
            for one in self._files:
                one.adopt(kept)
            return
        for one in self._files:
            was = files.get(one.path.name)
            if was and (told := one.story((int(was[0]), str(was[1])))):
                raise ValueError(f"{told}; a run goes on with the documents that it began with")
        raise ValueError(f"{self.name}: the state belongs to other documents than these")


class _Ranges:
    """A sequence, or a `datasets.Dataset`: a block is some rows that follow one another."""

    def __init__(self, source: Sequence[Any], name: str) -> None:
        self.source, self.name = source, name
        self.blocks = -(-len(source) // RANGE)

    def rows(self, block: int, skip: int) -> Rows:
        begin, end = block * RANGE + skip, min((block + 1) * RANGE, len(self.source))
        rows = self._part(begin, end) if begin < end else ()
        for number, row in enumerate(rows, start=begin):
            row = row if isinstance(row, Mapping) else {"input_ids": row}
            yield (self.name, "document", number), row

    def _part(self, begin: int, end: int) -> Iterable[Any]:
        form = getattr(self.source, "format", None)
        if isinstance(form, dict) and form.get("type") is None:
            return arrow_rows(self.source.with_format("arrow")[begin:end])  # type: ignore[attr-defined]
        return (self.source[number] for number in range(begin, end))


class _Parts:
    """What can only be read from its beginning: block n of `blocks` is a reader of its own."""

    def __init__(self, part: Callable[[int], Iterable[Any]], blocks: int, name: str) -> None:
        self._part, self.blocks, self.name = part, blocks, name

    def rows(self, block: int, skip: int) -> Rows:
        for number, row in itertools.islice(enumerate(self._part(block)), skip, None):
            row = row if isinstance(row, Mapping) else {"input_ids": row}
            yield (f"{self.name}, part {block}", "document", number), row


def of_files(name: str, paths: Sequence[Path], lanes: int, unit: str) -> Shards:
    """The blocks of files; of those that are read from their beginning, enough for all lanes."""
    strides = min(lanes, -(-FEW * lanes // len(paths)))
    made: list[Any] = []
    for path in paths:
        require_target(path)
        if not path.is_file():
            raise ValueError(f"{path}: no such file")
        if form_of(path) == ".jsonl":
            made.append(Lines(path))
        elif form_of(path) == ".parquet":
            made.append(Groups(path))
        else:
            made.append(Strides(path, strides, unit))
    mark = _mark([[one.path.name, *one.identity] for one in made])
    return Shards(name, made, mark, made)


def of_sequence(source: Sequence[Any], name: str) -> Shards:
    """The blocks of rows that can be asked for by their number."""
    own = getattr(source, "fingerprint", None) or getattr(source, "_fingerprint", None)
    if not own:
        few = range(0, len(source), max(1, -(-len(source) // LOOKED_AT)))
        own = [str(source[number]) for number in few]
    return Shards(name, [_Ranges(source, name)], _mark([len(source), own]))


def of_iterable(source: Iterable[Any], name: str, lanes: int) -> Shards:
    """A source without numbers: every lane reads all of it, or its own shards, for its part."""
    once = None
    if hasattr(source, "n_shards") and hasattr(source, "load_state_dict"):
        from datasets.distributed import split_dataset_by_node

        def part(block: int) -> Iterable[Any]:
            own: Iterable[Any] = split_dataset_by_node(source, rank=block, world_size=lanes)
            return own

    else:
        if iter(source) is source:
            if lanes > 1:
                raise ValueError(f"{name} can be read once only: give lanes=1, or what begins anew")
            source = once = _Once(source)

        def part(block: int) -> Iterable[Any]:
            return itertools.islice(source, block, None, lanes)

    return Shards(name, [_Parts(part, lanes, name)], _mark([name, lanes]), once=once)


class _Once:
    """What can be read once, with what was looked at ahead."""

    def __init__(self, source: Iterable[Any]) -> None:
        self.ahead: list[Any] = []
        self._source = iter(source)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.ahead.pop(0) if self.ahead else next(self._source)


def _mark(what: Any) -> str:
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
