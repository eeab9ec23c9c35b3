"""A run of any length in a bounded number of buckets.

cells at their positions  ->  at most MOST buckets of equal width, which doubles when they are full

Words
    bucket  steps side by side on the axis: sums and extremes of all that was recorded of them
    sums    of one rank in one bucket, by name
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from batchlab import doctor
from batchlab.dashboard._launches import Launch
from batchlab.records import Cell

__all__ = ["MOST", "Bucket", "Spread", "Sums", "Timeline", "sums_of"]

MOST = 400  # buckets: about as many as a screen has columns for
STUCK = 1e-4  # of a clip: norms so near below it were clipped to it


class Sums(dict[str, float]):
    """Totals by name, 0 where nothing was added."""

    def __missing__(self, name: str) -> float:
        return 0.0

    def join(self, other: Mapping[str, float]) -> None:
        for name, value in other.items():
            self[name] += value


@dataclass
class Spread:
    """Some numbers: their weighted mean and their ends."""

    total: float = 0.0
    weight: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")

    def join(self, other: "Spread") -> None:
        self.total, self.weight = self.total + other.total, self.weight + other.weight
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)

    @property
    def mean(self) -> float | None:
        return self.total / self.weight if self.weight else None


@dataclass
class Bucket:
    """What was recorded of some steps side by side."""

    first: int
    last: int
    ranks: dict[int, Sums] = field(default_factory=dict)  # sums
    most: dict[str, float] = field(default_factory=dict)  # bytes, and seconds of a stalled step
    signals: dict[str, Spread] = field(default_factory=dict)
    events: Sums = field(default_factory=Sums)  # norms, clipped, not_finite

    def join(self, other: "Bucket") -> None:
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        for rank, sums in other.ranks.items():
            self.ranks.setdefault(rank, Sums()).join(sums)
        for name, value in other.most.items():
            self.most[name] = max(value, self.most.get(name, value))
        for name, spread in other.signals.items():
            self.signals.setdefault(name, Spread()).join(spread)
        self.events.join(other.events)


class Timeline:
    """All steps of all ranks, in at most MOST buckets."""

    def __init__(self) -> None:
        self.width = 1  # steps of a bucket
        self._buckets: dict[int, Bucket] = {}

    @property
    def buckets(self) -> list[Bucket]:
        return [self._buckets[at] for at in sorted(self._buckets)]

    @property
    def clipped(self) -> float | None:
        """Of all norms that were told, the share that was clipped; None without any."""
        events = Sums()
        for one in self._buckets.values():
            events.join(one.events)
        return events["clipped"] / events["norms"] if events["norms"] else None

    def add(self, cell: Cell, launch: Launch, last: int) -> None:
        """Take a cell whose last step stands at position `last`."""
        self._at(last).join(_bucket_of(cell, last))
        weight = cell.counts.target_tokens or cell.real_tokens
        for name, pairs in _signals(cell).items():
            for _, some in groupby(pairs, lambda one: (launch.base + one[0]) // self.width):
                steps, values = zip(*some, strict=True)
                here = self._at(launch.base + steps[0])
                here.signals.setdefault(name, Spread()).join(_spread_of(values, weight))
                if name == "gradient_norm":
                    here.events["norms"] += len(values)
                    clip = cell.more.get("clip")
                    here.events["clipped"] += sum(_is_clipped(one, clip) for one in values)

    def _at(self, position: int) -> Bucket:
        while position // self.width >= MOST:
            self.width *= 2
            before, self._buckets = self._buckets, {}
            for at, bucket in before.items():
                if at // 2 in self._buckets:
                    self._buckets[at // 2].join(bucket)
                else:
                    self._buckets[at // 2] = bucket
        return self._buckets.setdefault(position // self.width, Bucket(position, position))


def _bucket_of(cell: Cell, last: int) -> Bucket:
    steps = doctor.steps_of(cell)
    found = Bucket(last - cell.steps + 1, last, {cell.ranks[0]: sums_of(cell, steps)})
    if steps and steps.stalled and cell.step_seconds:
        found.most["stalled"] = max(cell.step_seconds[one] for one in steps.stalled)
    for name in ("resident_bytes", "reserved_bytes"):
        value = cell.more.get(name)
        if isinstance(value, int):
            found.most[name] = value
    if cell.peak_bytes is not None:
        found.most["peak_bytes"] = cell.peak_bytes
    broken = cell.more.get("not_finite")
    if isinstance(broken, dict):
        found.events["not_finite"] = sum(one for one in broken.values() if isinstance(one, int))
    return found


def sums_of(cell: Cell, steps: doctor.Steps | None) -> Sums:
    """The sums of one cell, by name; what it does not know is in none."""
    targets = cell.counts.target_tokens
    found = Sums(cell.parts.items())
    found |= {
        "steps": cell.steps,
        "seconds": cell.seconds,
        "sequences": cell.rows * cell.micro_batches,
        "slots": cell.slots,
        "real": cell.real_tokens,
        "work": (cell.forward_seconds or 0.0) + (cell.backward_seconds or 0.0),
        "outside": cell.outside_seconds or 0.0,
        "stalled": len(steps.stalled) if steps else 0,
        "stalled_seconds": steps.stalled_seconds if steps else 0.0,
    }
    if targets is not None:
        found |= {"targets": targets, "told_steps": cell.steps}
    return found


def _signals(cell: Cell) -> dict[str, list[tuple[int, float]]]:
    """The signals of a line, as far as they are what the recorder writes."""
    found = cell.more.get("signals")
    if not isinstance(found, dict):
        return {}
    return {
        name: [(int(step), float(value)) for step, value in pairs] for name, pairs in found.items()
    }


def _spread_of(values: Sequence[float], weight: float) -> Spread:
    """Some numbers of the same weight."""
    return Spread(sum(values) * weight, len(values) * weight, min(values), max(values))


def _is_clipped(norm: float, clip: object) -> bool:
    """Whether a norm, before or after clipping, shows that it was clipped."""
    return isinstance(clip, int | float) and norm >= clip * (1 - STUCK)
