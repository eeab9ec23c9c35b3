"""What a file was when it was read, so that whatever happened to it meanwhile is told by line.

    path, block  ->  its bytes, held against the index  |  ValueError: which lines are other ones

A block is a stretch of bytes, and the lines that begin in it: where a block lies needs no look at
the file, and no byte belongs to two. The index has a checksum and the number of lines of each block
that was read, 12 bytes of at least 2 KiB. It lies beside the file (`NAME.index`), or in the cache
folder where that cannot be written; a smaller file has none on disk.

Words
    identity  bytes of a file, and a checksum of its first and last 64 KiB
"""

import contextlib
import copy
import hashlib
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from batchlab.data._corpus import cache_folder

__all__ = ["Indexed", "identity", "story"]

ENDS = 2**16  # bytes at either end that an identity looks at
LEAST, MOST, WANTED = 2**9, 2**20, 2**8  # bytes of a block, and blocks of a file
SMALLEST = 2**11  # bytes of a block that an index is written for: 12 bytes are 0.6 % of it
HEADER = struct.Struct("<8sqqq16s")
MAGIC = b"blindex1"
SLOT = np.dtype([("sum", "<u4"), ("lines", "<u4"), ("proof", "<u4")])
LOOKED_AT = 8  # blocks that are read before a state is loaded, at most
STEP = 2**20  # bytes that are looked at together

Identity = tuple[int, str]


def identity(path: Path, size: int | None = None) -> Identity:
    """Bytes of a file, or of its first `size`, and a checksum of their ends."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size if size is None else size
        digest = hashlib.sha256(file.read(min(ENDS, size)))
        file.seek(max(0, size - ENDS))
        digest.update(file.read(min(ENDS, size)))
    return size, digest.hexdigest()[:16]


def story(path: Path, was: Identity, index: "Indexed | None" = None) -> str:
    """What happened to a file since it was `was`, in one line; "" if nothing that can be seen."""
    if not path.is_file():
        return f"{path} is gone"
    now = identity(path)
    lines = index.changed_lines(min(was[0], now[0])) if index else ""
    if lines:
        return f"{path} changed since it was first read: {lines} are other ones"
    if now[0] < was[0]:
        ends = _lines_before(path, now[0]) + 1
        return f"{path} shrank from {was[0]:,} to {now[0]:,} bytes: it ends in line {ends:,} now"
    if now[0] > was[0] and identity(path, was[0]) == was:
        new = _lines_before(path, was[0]) + 1
        return f"{path} grew from {was[0]:,} to {now[0]:,} bytes: line {new:,} is new"
    if now == was:
        return ""
    if now[0] > was[0]:
        return f"{path} changed and grew, from {was[0]:,} to {now[0]:,} bytes"
    return f"{path} changed in its first or last {min(ENDS, was[0]):,} bytes"


class Indexed:
    """A file that is read by blocks; whoever reads one tells the index, and is told by it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        state = path.stat()
        self._stamp = state.st_size, state.st_mtime_ns
        self._measure(identity(path))
        self.slots = np.zeros(self.blocks, SLOT)
        self._older = self.slots  # of the same file before its date changed
        self._laid: tuple[Path, bytes] | None = None  # where they lay, and the whole index
        self._before: tuple[Identity, bytes] | None = None  # another file, and its slots
        self._place: Path | None = None
        self._open()

    def _measure(self, of: Identity) -> None:
        self.identity, self.size = of, of[0]
        wanted = 1 << max(0, self.size // WANTED).bit_length()
        self.step = min(max(wanted, LEAST), MOST)
        self.blocks = -(-self.size // self.step)

    def read(self, block: int) -> tuple[int, bytes]:
        """Where the first line of a block begins, and all lines that begin in it."""
        try:
            begin, data = self._read(block)
        except OSError as error:
            self.require_same()
            raise ValueError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        self.require_same()
        found = _slot(data)
        if not self.slots[block]["proof"]:
            self.slots[block] = found
            self._write(block)
        elif self.slots[block] != found:
            told = story(self.path, self.identity, self)
            raise ValueError(told or f"{self.path} changed while it was read")
        return begin, data

    def line(self, byte: int) -> int:
        """The number of the line that begins at a byte."""
        return _lines_before(self.path, byte) + 1

    def require_same(self) -> None:
        """ValueError if the file was written to since it was opened, with the line."""
        try:
            state = self.path.stat()
            if (state.st_size, state.st_mtime_ns) == self._stamp:
                return
        except OSError:
            pass
        told = story(self.path, self.identity, self)
        raise ValueError(told or f"{self.path} was written to while it was read; {self._known()}")

    def changed_lines(self, within: int) -> str:
        """The lines of the first known block that is another one now; "" if all are the same."""
        for block in np.flatnonzero(self.slots["proof"]).tolist():
            if (block + 1) * self.step > within and within < self.size:
                break
            begin, data = self._read(block)
            if within < self.size and data and data[-1:] != b"\n":
                break  # its last line was cut
            if _slot(data) != self.slots[block]:
                first = _lines_before(self.path, begin) + 1
                last = first + max(1, int(self.slots[block]["lines"])) - 1
                return f"lines {first:,} to {last:,}" if last > first else f"line {first:,} and on"
        return ""

    def _known(self) -> str:
        known = int(np.count_nonzero(self.slots["proof"]))
        return f"the {known:,} of {self.blocks:,} blocks that were read before are as they were"

    def _read(self, block: int) -> tuple[int, bytes]:
        begin, end = block * self.step, min((block + 1) * self.step, self.size)
        with self.path.open("rb") as file:
            before = min(1, begin)  # a line begins at `begin` if a line ends before it
            file.seek(begin - before)
            data = file.read(end - begin + before)
            first = data.find(b"\n") + 1 if before else 0
            if (before and not first) or first == len(data):
                return end, b""
            parts = [data[first:] if first else data]
            while parts[-1][-1:] != b"\n":  # the last line, to its end
                more = file.readline(min(ENDS, self.size - file.tell()))
                if not more:
                    break
                parts.append(more)
        return begin - before + first, b"".join(parts) if parts[1:] else parts[0]

    def remembered(self, was: Identity) -> "Indexed | None":
        """The file as an index knew it that lay here before, if it was this one."""
        if was == self.identity:
            self.adopt()
            return self
        if self._before is None or self._before[0] != was:
            return None
        made = copy.copy(self)
        made._measure(was)
        made.slots = np.zeros(made.blocks, SLOT)
        found = np.frombuffer(self._before[1], SLOT, len(self._before[1]) // SLOT.itemsize)
        made.slots[: len(found)] = found[: made.blocks]
        made.slots[made.slots["proof"] != _proof(made.slots["sum"], made.slots["lines"])] = 0
        return made

    def keep(self, path: Path) -> None:
        """Copy the index as it lies on the disk, if it does."""
        for place in self._places:
            with contextlib.suppress(OSError):
                if (held := place.read_bytes()).startswith(self._header):
                    path.write_bytes(held)
                    return

    def recall(self, path: Path) -> None:
        """Hold the file against a copy that was kept, as far as its own index is gone."""
        if self._laid or not self._places or not path.exists():
            return
        held = path.read_bytes()
        known = self._slots_in(held)
        if known is not None and (known != self.slots)[known["proof"] != 0].any():
            self._older, self._laid = known, (self._place or self._places[0], held)

    def adopt(self) -> None:
        """Hold the file against what an index of it says that has another date.

        At once: whoever opens the file next finds an index of this date. A refusal leaves the older
        one in its place, so that the next start is refused as well.
        """
        if self._laid is None:
            return
        path, mine = self._laid[0], self.slots
        self.slots = self._older
        if lines := self.changed_lines(self.size):
            _replace(*self._laid)
            raise ValueError(f"{self.path} changed since it was first read: {lines} are other ones")
        self._laid, new = None, mine["proof"] != 0
        self.slots[new] = mine[new]
        with contextlib.suppress(OSError):
            _replace(path, self._header + self.slots.tobytes())

    def _open(self) -> None:
        """Take what an earlier reader of the same file left, else begin anew."""
        self._header = HEADER.pack(MAGIC, self.step, self.size, self._stamp[1], self._ends())
        self._places = self._all_places() if self.step >= SMALLEST else []
        for path in self._places:
            try:
                held = path.read_bytes()
                known = self._slots_in(held)
                if known is None:
                    begin = HEADER.unpack_from(held)
                    if begin[0] == MAGIC:
                        slots = held[HEADER.size :]
                        slots = slots[: len(slots) // SLOT.itemsize * SLOT.itemsize]
                        self._before = (begin[2], begin[4][:8].hex()), slots
                    continue
            except (OSError, struct.error, ValueError):
                continue
            self._older = known
            if held.startswith(self._header):
                self.slots, self._place = known, path
            elif known["proof"].any():
                self._laid = path, held
            return

    def _slots_in(self, held: bytes) -> Any:
        """What an index says of this file, whatever its date; None if it is of another one."""
        magic, step, size, _, ends = HEADER.unpack_from(held)
        if (magic, step, size, ends) != (MAGIC, self.step, self.size, self._ends()):
            return None
        known = np.frombuffer(held[HEADER.size :], SLOT, self.blocks).copy()
        known[known["proof"] != _proof(known["sum"], known["lines"])] = 0
        return known

    def _ends(self) -> bytes:
        return bytes.fromhex(self.identity[1]).ljust(16, b"\0")

    def _all_places(self) -> list[Path]:
        name = hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:16]
        beside = self.path.with_name(self.path.name + ".index")
        return [beside, cache_folder() / "index" / name]

    def _write(self, block: int) -> None:
        """Note a block; several processes may do so at once, each writes its own 12 bytes.

        Who only looks at the first documents lays no index over an older one.
        """
        if self._laid and np.count_nonzero(self.slots["proof"]) <= LOOKED_AT:
            return
        for path in [self._place] if self._place else list(self._places):
            try:
                if self._place is None:
                    self._begin(path)
                with path.open("r+b", buffering=0) as file:
                    file.seek(HEADER.size + block * SLOT.itemsize)
                    file.write(self.slots[block].tobytes())
                self._place = path
                return
            except OSError:
                self._place = None
        self._places = []  # it cannot be kept: the run knows what it read itself

    def _begin(self, path: Path) -> None:
        """An index with what is known so far, unless another process has begun it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("rb") as file:
                if file.read(HEADER.size) == self._header:
                    return
        except FileNotFoundError:
            pass
        _replace(path, self._header + self.slots.tobytes())


def _replace(path: Path, held: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(held)
    part.replace(path)


def _slot(data: bytes) -> Any:
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    found = np.zeros((), SLOT)
    found["sum"], found["lines"] = zlib.crc32(data), lines
    found["proof"] = _proof(found["sum"], found["lines"])
    return found


def _proof(sums: Any, lines: Any) -> Any:
    """A number beside a slot that a torn or an empty one does not have; never 0."""
    mixed = np.bitwise_xor(sums, np.multiply(lines, np.uint32(2654435761), dtype=np.uint32))
    return np.maximum(mixed, np.uint32(1))


def _lines_before(path: Path, byte: int) -> int:
    """Ends of lines in the first bytes of a file."""
    found = 0
    with path.open("rb") as file:
        while byte > 0 and (data := file.read(min(STEP, byte))):
            found += data.count(b"\n")
            byte -= len(data)
    return found
