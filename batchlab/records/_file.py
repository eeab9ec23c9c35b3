"""One measurement is one line of JSON, with its inputs, its units and its machine.

    measurement  <->  line of a .jsonl file

Units stand in the keys (`step_seconds`, `peak_bytes`). A line is written at once and flushed, so
that a killed run loses at most the line it was writing; such a torn last line is kept in the file,
reported by `read`, and never fatal.
"""

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from batchlab import reading

__all__ = ["Records", "append", "device_of", "environment", "now", "read", "require_same"]


class Records(list[dict[str, Any]]):
    """The records of one file, in order; `torn` is the text of a line cut off by a kill."""

    torn: str = ""


def append(path: str | Path, record: Mapping[str, Any]) -> None:
    """Add one line to `path`, whole: one write to a file opened for appending, then flushed.

    A torn line left by a killed run is ended first, so that it spoils itself only.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(record, allow_nan=False, default=_plain) + "\n"
    with path.open("ab+") as file:
        _lock(file)  # until it is closed: a sweep and a monitor may write to one file
        file.seek(0, os.SEEK_END)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read(source: str | Path) -> Records:
    """Read a file of records, or by its bare name the records that come with the library."""
    text, name = _text_of(source)
    found = Records()
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = reading.parsed(line)
        except reading.NotJson as error:
            if number == len(lines) or _is_torn(line, error):
                found.torn = line
                continue
            raise ValueError(f"{name}, line {number}: {error}") from None
        if not isinstance(record, dict):
            raise ValueError(
                f"{name}, line {number}: a record is a JSON object, got {line[:40].strip()}"
            )
        found.append(record)
    if not found and not found.torn:
        raise ValueError(f"{name}: no records in it")
    return found


def environment() -> dict[str, Any]:
    """What the measurement ran on: hardware, versions, commit and date."""
    names = ("torch", "transformers", "numpy")
    versions: dict[str, str | None] = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "date": now(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "versions": versions,
        "commit": _commit(),
        **_accelerator(),
    }


def device_of(record: Mapping[str, Any]) -> str | None:
    """The GPU that a record was measured on, else the processor; None where it does not say."""
    machine = record.get("environment") or {}
    name = machine.get("device")
    return machine.get("processor") if name in (None, "cpu") else name


def require_same(records: Iterable[Mapping[str, Any]], keys: Iterable[str], why: str) -> None:
    """Refuse records that differ in one of `keys`, or in the device that measured them."""
    records = list(records)
    found = {key: {str(record.get(key)) for record in records} for key in keys}
    found["device"] = {str(device_of(record)) for record in records}
    for key, values in found.items():
        if len(values) > 1:
            raise ValueError(f"the records differ in {key} ({', '.join(sorted(values))}): {why}")


def now() -> str:
    """The date of a measurement, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _accelerator() -> dict[str, Any]:
    """The GPU, if torch is loaded already: a record never loads it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return {"device": "cpu", "device_bytes": None, "cuda": None}
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "device": properties.name,
        "device_bytes": properties.total_memory,
        "cuda": torch.version.cuda,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(ln.split(":", 1)[1].strip() for ln in lines if ln.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _commit() -> str | None:
    """The commit of the library, where it runs from a clone."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _lock(file: IO[bytes]) -> None:
    """Wait until no other process writes to this file; closing it lets the next one in."""
    try:
        import fcntl
    except ImportError:  # Windows: one writer at a time is up to the caller
        return
    with contextlib.suppress(OSError):  # some network file systems know no locks
        fcntl.flock(file, fcntl.LOCK_EX)


def _text_of(source: str | Path) -> tuple[str, str]:
    path = Path(source)
    if path.suffix == "" and path.parent == Path():
        inside = files("batchlab") / "evidence" / f"{source}.jsonl"
        if inside.is_file():
            return inside.read_text(encoding="utf-8"), f"{source}.jsonl"
    if not path.exists():
        raise ValueError(f"{path}: no such file of records")
    return reading.text_of(path), str(path)


def _is_torn(line: str, error: reading.NotJson) -> bool:
    """A line that a kill cut off begins like a record and never ends."""
    text = line.strip()
    return text.startswith("{") and (not text.endswith("}") or error.at_end)


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand in a record: {value!r:.60}")
