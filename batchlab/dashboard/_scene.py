"""What the page shows of a run, as plain data.

lines of records  ->  Scene: timeline, launches, verdict  ->  a mapping for JSON, of bounded size
"""

import math
import time
from typing import Any

import numpy as np

from batchlab import doctor, records
from batchlab.dashboard._follow import Follower, Look
from batchlab.dashboard._launches import Launches, seconds_of
from batchlab.dashboard._timeline import Bucket, Sums, Timeline, sums_of
from batchlab.dashboard._verdict import Verdict
from batchlab.doctor.prices import PROBE
from batchlab.records import Cell

__all__ = ["PARTS", "Scene"]

PARTS = (  # of a step, in the order in which they are stacked, with what is in them
    ("useful tokens", ()),
    ("padding", ()),
    ("waiting for input", ("input",)),
    ("waiting for ranks", ("waiting",)),
    ("communication", ("communication",)),
    ("optimizer", ("optimizer",)),
    ("generation, scoring", ("generation", "scoring")),
    ("host", ("host",)),
    ("process did not run", ("away",)),
    ("unexplained", ()),
)
RECENT = 5  # lines of each rank: what "now" means
DIGITS = 5
BYTES = ("peak_bytes", "reserved_bytes", "resident_bytes")


class Scene:
    """All that is known of a run so far."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._timeline, self._launches, self._verdict = Timeline(), Launches(), Verdict()
        self._cell: Cell | None = None  # the last one
        self._written, self._broken = 0.0, 0
        self._replicated = True
        self._last, self.read = 0, 1.0  # share of the bytes that are there

    def follow(self, follower: Follower, most_seconds: float = math.inf) -> None:
        """Take all that there is, or what can be taken in so many seconds."""
        begin, more = time.monotonic(), True
        while more:
            look = follower.look()
            self.take(look)
            more = look.more and time.monotonic() - begin < most_seconds
        self.read = follower.share

    def take(self, look: Look) -> bool:
        """Add what a look has found; returns whether there was anything."""
        if look.again:
            self._begin()
        self._broken += look.broken
        for line in look.lines:
            if line.get("kind", "cell") != "cell":
                continue
            try:
                cell = records.cell(line)
                if cell.finished:
                    self._add(cell)
            except (ValueError, TypeError, KeyError):
                self._broken += 1
        return look.again or bool(look.lines)

    def _add(self, cell: Cell) -> None:
        launch, last = self._launches.place(cell) if cell.source != PROBE else (None, 0)
        self._verdict.add(cell, launch.number if launch else len(self._launches))
        if launch is None:
            return
        self._timeline.add(cell, launch, last)
        self._cell, self._last = cell, max(self._last, last)
        self._written = seconds_of(cell)
        self._replicated = cell.data_parallel == cell.world_size

    def as_data(self, *, settled: bool = False) -> dict[str, Any]:
        """What the page shows; `settled`, with the doctor's newest word."""
        self._verdict.consult(self._last, now=settled)
        cell, buckets = self._cell, self._timeline.buckets
        if cell is None:
            return {"steps": 0, "broken": self._broken, "read": self.read}
        ranks = sorted({rank for one in buckets for rank in one.ranks})
        shared = len(ranks) if self._replicated else 1
        points = [_point(one, shared) for one in buckets]
        tokens = _count_tokens(points)
        parts = [_parts(_over(one)) for one in buckets]
        shown = [at for at in range(len(PARTS)) if any(one and one[at] > 0 for one in parts)]
        return {
            "steps": self._last,
            "tokens": tokens,
            "written": self._written,
            "broken": self._broken,
            "read": self.read,
            "model": cell.identity.model.name,
            "device": cell.device or "unknown device",
            "precision": cell.precision,
            "setting": {"rows": cell.rows, "accumulation": cell.accumulation,
                        "layout": cell.layout, "ranks": ranks, "world": cell.world_size},
            "line_steps": cell.steps,
            "clip": cell.more.get("clip"),
            "clipped": self._timeline.clipped,
            "whole": self._replicated,
            "launches": [one.base for one in self._launches[1:]],
            "again": sum(one.again for one in self._launches),
            "points": _columns(points),
            "parts": {"names": [PARTS[at][0] for at in shown],
                      "seconds": [[_short(one[at]) if one else None for one in parts]
                                  for at in shown]},
            "now": self._now(shared),
            "ranks": self._ranks(),
            "verdict": {"text": self._verdict.text, "details": self._verdict.details,
                        "steps": self._verdict.steps, "history": self._verdict.history},
        }  # fmt: skip

    def _now(self, shared: int) -> dict[str, Any]:
        """The last lines of all ranks as one point."""
        found = Bucket(self._last, self._last)
        for rank, cells in self._verdict.cells.items():
            found.ranks[rank] = Sums()
            for cell in cells[-RECENT:]:
                found.ranks[rank].join(sums_of(cell, doctor.steps_of(cell)))
        return {name: _short(one) for name, one in _point(found, shared).items()}

    def _ranks(self) -> list[dict[str, Any]]:
        """The last lines of each rank, side by side."""
        found = []
        for rank, cells in self._verdict.cells.items():
            sums = Sums()
            for cell in cells[-RECENT:]:
                sums.join(sums_of(cell, doctor.steps_of(cell)))
            found.append({
                "rank": rank,
                "step": self._launches[-1].base + self._launches[-1].steps.get(rank, 0),
                "seconds": _short(sums["seconds"] / sums["steps"]),
                "waiting": _short(sums["waiting"] / sums["steps"]),
                "input": _short(sums["input"] / sums["steps"]),
                "rate": _short(sums["real"] / sums["seconds"]),
                "waste": _short(1 - sums["real"] / sums["slots"]),
                "last": rank == self._verdict.straggler,
            })  # fmt: skip
        return found


def _over(bucket: Bucket) -> Sums:
    """Sums over the ranks of a bucket."""
    found = Sums()
    for sums in bucket.ranks.values():
        found.join(sums)
    return found


def _point(bucket: Bucket, shared: int) -> dict[str, Any]:
    """A bucket as numbers of one step; `shared` ranks, each as the mean of those that are here."""
    sums, steps = _over(bucket), max((one["steps"] for one in bucket.ranks.values()), default=0)
    found: dict[str, Any] = {"step": bucket.last, "read": 0.0}
    if sums["steps"]:
        each = shared / sums["steps"]
        found |= {
            "read": sums["real"] * each * steps,
            "sequences": sums["sequences"] * each,
            "slots": sums["slots"] * each,
            "targets": sums["targets"] / sums["told_steps"] * shared
            if sums["told_steps"]
            else None,
            "seconds": sums["seconds"] / sums["steps"],
            "rate": sums["real"] * shared / sums["seconds"],
            "waste": 1 - sums["real"] / sums["slots"],
            "outside": sums["outside"] / sums["steps"],
            "stalls": sums["stalled"],
        }
    for name in ("loss", "gradient_norm"):
        if one := bucket.signals.get(name):
            found |= {name: one.mean, f"{name}_least": one.least, f"{name}_most": one.most}
    found |= {name: bucket.most.get(name) for name in (*BYTES, "stalled")}
    norms = bucket.events["norms"]
    found["clipped"] = bucket.events["clipped"] / norms if norms else None
    found["not_finite"] = bucket.events["not_finite"]
    return found


def _parts(sums: Sums) -> list[float] | None:
    """Seconds of a mean step by PARTS; padding has its share of the slots in what is computed."""
    if not sums["steps"]:
        return None
    named = [sum(sums[one] for one in inside) for _, inside in PARTS]
    work = max(0.0, sums["work"] - sums["away"] - sums["waiting"])
    padding = work * (1 - sums["real"] / sums["slots"])
    named[0], named[1] = work - padding, padding
    named[-1] = max(0.0, sums["seconds"] - sum(named))
    return [one / sums["steps"] for one in named]


def _count_tokens(points: list[dict[str, Any]]) -> float:
    """Give each point the useful tokens so far; between two lines they grow with the steps."""
    told = [(0.0, 0.0)]
    for one in points:
        if read := one.pop("read"):
            told.append((one["step"], told[-1][1] + read))
    steps, tokens = zip(*told, strict=True)
    for one in points:
        one["tokens"] = float(np.interp(one["step"], steps, tokens))
    return told[-1][1]


def _columns(points: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Points as one list a name, without names that no point has."""
    names = dict.fromkeys(name for one in points for name in one)
    found = {name: [_short(one.get(name)) for one in points] for name in names}
    return {name: each for name, each in found.items() if any(one is not None for one in each)}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")
