"""One measurement is one line of JSON, with its inputs, its units and its machine.

    measurement  <->  line of a .jsonl file

Units stand in the keys (`step_seconds`, `peak_bytes`). A line is written at once and flushed, so
that a killed run loses at most the line it was writing; such a torn last line is kept in the file,
reported by `read`, and never fatal.
"""

import contextlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, Any

from batchlab import reading
from batchlab.records._cell import Cell
from batchlab.records._schema import as_record, cell, is_cell, require_sums

__all__ = ["Records", "append", "begun", "read", "sole"]


class Records(list[dict[str, Any]]):
    """The lines of one file, in order, each as plain data."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.torn: list[str] = []  # lines cut off by a kill
        self.places: list[int] = []  # line numbers, from 1

    def left_out(self) -> str:
        """One line about what a kill cut off, where it did."""
        some = len(self.torn)
        cut = f"A line of {self.name} was" if some == 1 else f"{some} lines of {self.name} were"
        return f"{cut} cut off by a kill and left out."

    def cells(self) -> list[Cell]:
        """The cells among the lines; a line that is no valid cell, or whose steps do not
        add up to its totals, is refused with its place."""
        found = []
        for place, record in zip(self.places, self, strict=True):
            if is_cell(record):
                where = f"{self.name}, line {place}"
                found.append(cell(record, where=where))
                require_sums(found[-1], where)
        return found


def append(
    path: str | Path,
    record: Mapping[str, Any] | Cell,
    *,
    to_disk: bool = True,
    patience: float = math.inf,
) -> None:
    """Add one line to `path`, whole: one write to a file opened for appending, then flushed.

    A torn line left by a killed run is ended first, so that it spoils itself only. `to_disk` waits
    for the disk: without it a line survives the process, but not the machine. Another writer is
    waited for; TimeoutError if it does not end within `patience` seconds.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = as_record(record) if isinstance(record, Cell) else record
    line = json.dumps(plain, allow_nan=False, default=_plain) + "\n"
    try:
        with path.open("ab+") as file:
            _lock(file, patience)  # until it is closed: a sweep and a monitor may write to one file
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = "\n" + line
            file.write(line.encode())
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
    except OSError as error:  # a full disk does not say whose line it refused
        if error.errno and not error.filename:
            error.filename = str(path)
        raise


def read(source: str | Path) -> Records:
    """Read a file of records, or by its bare name the records that come with the library.

    Without its machine the name means those of a GPU where they exist, else those of a CPU: "sweep"
    is gpu_sweep, or cpu_sweep.
    """
    return _records(*_text_of(source))


def begun(path: str | Path) -> Records:
    """What stands in the file that a measurement goes on with; nothing in one that is empty yet.

    A disk that is full may leave such a file: nothing was measured into it.
    """
    path = Path(path)
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return Records(str(path))
    return _records(reading.text_of(path), str(path))


def _records(text: str, name: str) -> Records:
    found = Records(name)
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = reading.parsed(line)
        except reading.NotJson as error:
            if number == len(lines) or _is_torn(line, error):
                found.torn.append(line)
                continue
            raise ValueError(f"{name}, line {number}: {error}") from None
        if not isinstance(record, dict):
            raise ValueError(
                f"{name}, line {number}: a record is a JSON object, got {line[:40].strip()}"
            )
        found.append(record)
        found.places.append(number)
    if not found and not found.torn:
        raise ValueError(f"{name}: no records in it")
    return found


@contextlib.contextmanager
def sole(path: str | Path | None) -> Iterator[None]:
    """Hold a file of records for as long as something is measured into it; None holds nothing.

    Two measurements at once would take each other's cores, and each line twice. ValueError names
    the process that has the file. The lock is the system's, on `.NAME.lock` beside it, and ends
    with its process.
    Example: `with records.sole("cells.jsonl"): ...`
    """
    if path is None:
        yield
        return
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(f".{path.name}.lock").open("ab+") as file:
        try:
            _lock(file, 0.0)
        except TimeoutError:
            file.seek(0)
            who = file.read().decode() or "another process"
            raise ValueError(
                f"{path} is in use by {who}: one measurement at a time, or another file"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}".encode())
        file.flush()
        yield


def _lock(file: IO[bytes], patience: float) -> None:
    """Wait until no other process writes to this file; closing it lets the next one in."""
    try:
        import fcntl
    except ImportError:  # Windows: one writer at a time is up to the caller
        return
    end = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise TimeoutError(f"{file.name}: another process holds it") from None
        except OSError:  # some network file systems know no locks
            return None
        time.sleep(0.01)


def _text_of(source: str | Path) -> tuple[str, str]:
    path = Path(source)
    if path.suffix == "" and path.parent == Path():
        for name in (f"{machine}{source}.jsonl" for machine in ("", "gpu_", "cpu_")):
            if (inside := _evidence() / name).is_file():
                if path.is_file():
                    raise ValueError(
                        f"{path}: a file here and records of the library ({name}): "
                        "give the whole path of the file, or name it otherwise"
                    )
                return inside.read_text(encoding="utf-8"), name
    reading.require_target(path)
    if not path.exists():
        raise ValueError(f"{path}: no such file of records")
    return reading.text_of(path), str(path)


def _evidence() -> Traversable:
    return files("batchlab") / "evidence"


def _is_torn(line: str, error: reading.NotJson) -> bool:
    """A line that a kill cut off begins like a record and never ends; a power cut leaves zeros."""
    text = line.strip("\0 \t\r")
    return not text or (text.startswith("{") and (not text.endswith("}") or error.at_end))


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand in a record: {value!r:.60}")
