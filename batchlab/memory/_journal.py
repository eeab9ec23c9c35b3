"""Remember what was tried, so that a search that was killed goes on where it stopped.

    rows, peak or failure  <->  lines of a journal

A try is written down before it begins: where the system kills the process for its memory, nobody
is left to say so afterwards. A try that began and never ended is tried once more, since something
else may have ended the process; the second time it counts as too large.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from batchlab import records

__all__ = ["Journal"]

STATUSES = ("began", "ok", "out_of_memory", "interrupted")


class Journal:
    """The tries of one search; without a path, for this process only."""

    def __init__(self, path: str | Path | None, setting: Mapping[str, Any]) -> None:
        self.path = Path(path) if path else None
        self.setting = {name: _plain(value) for name, value in setting.items()}
        self._peaks: dict[int, int | None] = {}
        self._begun: dict[int, int] = {}
        if self.path:
            found = records.begun(self.path)
            for place, record in zip(found.places, found, strict=True):
                self._require_same_search(record, f"{self.path}, line {place}")
                self._take(record)

    def has(self, rows: int) -> bool:
        return rows in self._peaks or self.killed(rows)

    def killed(self, rows: int) -> bool:
        """Whether its tries began twice and never ended; nobody can say for which reason."""
        return self._begun.get(rows, 0) >= 2

    def peak_bytes(self, rows: int) -> int | None:
        """The peak of a try that ended; None where memory ended first."""
        return self._peaks.get(rows)

    def began(self, rows: int) -> None:
        self._write(rows, "began")

    def ended(self, rows: int, peak_bytes: int | None, error: str = "") -> None:
        status = "ok" if peak_bytes is not None else "out_of_memory"
        self._write(rows, status, peak_bytes=peak_bytes, error=error or None)

    def interrupted(self, rows: int) -> None:
        """The try ended for a reason of its own; it says nothing about memory."""
        self._write(rows, "interrupted")

    def _write(self, rows: int, status: str, **more: Any) -> None:
        record = {"kind": "try", "rows": rows, "status": status, **more, "setting": self.setting}
        self._take(record)
        if self.path:
            if status != "began":
                record["environment"] = records.environment()
            records.append(self.path, record)

    def _take(self, record: Mapping[str, Any]) -> None:
        rows = record["rows"]
        if record["status"] == "began":
            self._begun[rows] = self._begun.get(rows, 0) + 1
            return
        self._begun.pop(rows, None)
        if record["status"] != "interrupted":
            self._peaks[rows] = record.get("peak_bytes")

    def _require_same_search(self, record: Mapping[str, Any], where: str) -> None:
        if record.get("kind") != "try":
            raise ValueError(f"{where}: not a journal of tries but of {record.get('kind')!r}")
        rows, status, peak = (record.get(name) for name in ("rows", "status", "peak_bytes"))
        if type(rows) is not int or rows < 1 or status not in STATUSES:
            raise ValueError(f"{where}: no try, rows {rows!r} with status {status!r}")
        if not (type(peak) is int and peak > 0 if status == "ok" else peak is None):
            raise ValueError(f"{where}: no try, status {status!r} with a peak of {peak!r} bytes")
        if not isinstance(found := record.get("setting"), dict):
            raise ValueError(f"{where}: a try lacks its setting")
        for name in {**found, **self.setting}:
            if found.get(name) != self.setting.get(name):
                raise ValueError(
                    f"{self.path}: its tries had {name} = {found.get(name)}, this search has "
                    f"{self.setting.get(name)}; give another file or that setting"
                )


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else str(value)
