"""Files, in blocks of which each can be read by itself.

    .jsonl    stretches of its bytes
    .parquet  row groups
    others    every n-th row of them: they are read from their beginning for each block

A file that is written to while it is read is a `ValueError`, with the line where it can be found.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batchlab import reading
from batchlab.data._files import Row, json_row, parquet_rows, rows_of_file
from batchlab.data._index import Identity, Indexed, identity, story

__all__ = ["File", "Groups", "Lines", "Rows", "Strides"]

LOOK = 256  # rows of a file, after which its date is looked at again
Rows = Iterator[tuple[Any, Row]]


class File:
    """A file that is not written to while it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.identity = identity(path)
        self._stamp = self._now()

    def _now(self) -> tuple[int, int]:
        state = self.path.stat()
        return state.st_size, state.st_mtime_ns

    def require_same(self) -> None:
        if not self.path.is_file() or self._now() != self._stamp:
            told = story(self.path, self.identity)
            raise ValueError(told or f"{self.path} was written to while it was read")

    def story(self, was: Identity) -> str:
        return story(self.path, was)

    def adopt(self, kept: Path | None = None) -> None:
        """Nothing: what holds of its blocks is not known."""

    def keep(self, folder: Path) -> None:
        """Nothing: there is no index."""


class Lines(File):
    """JSON lines: a block is a stretch of bytes."""

    def __init__(self, path: Path) -> None:
        self._index = Indexed(path)
        self.path, self.identity, self.blocks = path, self._index.identity, self._index.blocks

    def rows(self, block: int, skip: int) -> Rows:
        begin, data = self._index.read(block)
        lines = self._text(begin, data).split("\n")
        there = ((at, line) for at, line in enumerate(lines) if line and not line.isspace())
        for at, line in itertools.islice(there, skip, None):
            place = self.path, "line", _Line(self._index, begin, at)
            try:
                value = reading.parsed(line)
            except reading.NotJson as error:
                raise ValueError(f"{self.path}, line {place[2]():,}: {error}") from None
            yield place, json_row(line, value, place)

    def _text(self, begin: int, data: bytes) -> str:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._index.line(begin) + data.count(b"\n", 0, error.start)
            column = error.start - data.rfind(b"\n", 0, error.start)
            raise ValueError(
                f"{self.path}, line {line}: cannot be read as UTF-8 (byte "
                f"0x{data[error.start]:02x} at column {column})"
            ) from None
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.removeprefix("\ufeff") if begin == 0 else text

    def story(self, was: Identity) -> str:
        return story(self.path, was, self._index.remembered(was))

    def adopt(self, kept: Path | None = None) -> None:
        if kept:
            self._index.recall(kept / f"{self.path.name}.index")
        self._index.adopt()

    def keep(self, folder: Path) -> None:
        self._index.keep(folder / f"{self.path.name}.index")


class _Line:
    """The number of a line, counted only if somebody asks."""

    __slots__ = ("at", "begin", "index")

    def __init__(self, index: Indexed, begin: int, at: int) -> None:
        self.index, self.begin, self.at = index, begin, at

    def __call__(self) -> int:
        return self.index.line(self.begin) + self.at


class Groups(File):
    """Parquet: a block is a row group."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        super().__init__(path)
        try:
            with parquet.ParquetFile(path) as table:
                sizes = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
        except Exception as error:  # pyarrow has a dozen kinds; all mean that the file is broken
            why = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{path}: not a Parquet file ({why:.120})") from None
        self.blocks = len(sizes)
        self._begins = [0, *itertools.accumulate(sizes)]

    def rows(self, block: int, skip: int) -> Rows:
        first = self._begins[block]
        found = parquet_rows(self.path, [block], first)
        for number, one in enumerate(itertools.islice(found, skip, None)):
            if not number % LOOK:
                self.require_same()
            yield one


class Strides(File):
    """Any other file: block n of `blocks` is every `blocks`-th row from row n on."""

    def __init__(self, path: Path, blocks: int, unit: str) -> None:
        super().__init__(path)
        self.blocks, self._unit = blocks, unit

    def rows(self, block: int, skip: int) -> Rows:
        start = block + skip * self.blocks
        for number, one in enumerate(rows_of_file(self.path, self._unit, start, self.blocks)):
            if not number % LOOK:
                self.require_same()
            yield one
