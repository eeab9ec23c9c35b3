"""Follow record files that grow, are begun anew, or are not there yet.

run.jsonl  ->  lines that were added since the last look, of all its ranks, in the order of time

Lines of one file stand in the order in which they were written, also where a clock was set back.

Words
    look   one visit of the files; what has no line end yet waits for the next one
    again  a file was replaced or cut: everything is read from its beginning
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from batchlab import records

__all__ = ["Follower", "Look"]

CHUNK = 2**20  # bytes of a file that one look takes
KNOWN = 256  # bytes before the place of reading, by which a file is known again


@dataclass
class Look:
    """What one visit found."""

    again: bool = False
    lines: list[dict[str, Any]] = field(default_factory=list)
    broken: int = 0  # lines that are no record: cut off by a kill, or not ours
    more: bool = False  # there is more than one look takes


@dataclass
class _File:
    """How far one file was read."""

    read: int = 0
    size: int = 0
    last: bytes = b""  # before that place
    rest: bytes = b""  # a line without its end
    latest: str = ""  # date of its lines so far


class Follower:
    """Reads what a run adds to its files; a run that was killed and comes back is followed on."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._files: dict[Path, _File] = {}

    @property
    def files(self) -> list[Path]:
        """The files that were there at the last look."""
        return list(self._files)

    @property
    def share(self) -> float:
        """Of the bytes that were there at the last look, those that were read."""
        there = sum(max(one.read, one.size) for one in self._files.values())
        return sum(one.read for one in self._files.values()) / there if there else 1.0

    def look(self) -> Look:
        """The lines since the last look, whole ones only, in the order of their dates."""
        there = [one for one in records.files_of(self._path) if one.is_file()]
        again = bool(self._files) and (
            not set(self._files) <= set(there) or any(map(self._is_another, there))
        )
        if again:
            self._files.clear()
        found, dated = Look(again), list[tuple[str, dict[str, Any]]]()
        for path in there:
            dated += self._read(path, self._files.setdefault(path, _File()), found)
        found.lines = [line for _, line in sorted(dated, key=itemgetter(0))]
        return found

    def _is_another(self, path: Path) -> bool:
        """Whether a file is not the one that was read here before."""
        known = self._files.get(path)
        if known is None:
            return False
        with path.open("rb") as file:
            file.seek(known.read - len(known.last))
            return file.read(len(known.last)) != known.last

    def _read(self, path: Path, known: _File, found: Look) -> Iterator[tuple[str, dict[str, Any]]]:
        """Its new lines, each with the latest date up to it."""
        with path.open("rb") as file:
            known.size = os.fstat(file.fileno()).st_size
            file.seek(known.read)
            added = file.read(CHUNK)
        found.more |= len(added) == CHUNK
        known.read, known.last = known.read + len(added), (known.last + added)[-KNOWN:]
        *whole, known.rest = (known.rest + added).split(b"\n")
        for line in filter(bytes.strip, whole):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if isinstance(record, dict):
                known.latest = max(known.latest, _date(record))
                yield known.latest, record
            else:
                found.broken += 1


def _date(record: dict[str, Any]) -> str:
    about = record.get("environment")
    return str(about.get("date") or "") if isinstance(about, dict) else ""
