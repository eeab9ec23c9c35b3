"""A cell: what some steps at one setting held, how long they took, and on what machine.

    setting, counts, seconds by part  ->  Cell;  cells of one setting add
Words
    setting  rows, accumulation, layout, checkpointing, precision, data_parallel, and of what model,
             data and device: cells that agree in all of these may be added
    part     seconds of the steps with a name of their own: input, optimizer, host, communication
    finished its steps ended; a cell that ran out of memory holds no counts
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias, TypeVar

from batchlab.counts import Counts
from batchlab.records._checked import SAYS, Checked, are_numbers, is_of, says

__all__ = ["LAYOUTS", "Cell", "Identity", "Json", "Model", "Parts"]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Number = TypeVar("Number", int, float)

STATUS = ("ok", "out_of_memory")
LAYOUTS = ("padded", "bucketed", "packed")  # in the order of tables


@dataclass(frozen=True)
class Model(Checked):
    """What is known of a model by name."""

    name: str = "unknown"
    parameters: int | None = None
    family: str | None = None


@dataclass(frozen=True)
class Identity(Checked):
    """Which model was trained on which data; fingerprints are equal for equal ones."""

    model: Model = field(default_factory=Model)
    model_fingerprint: str | None = None
    data: str | None = None
    data_fingerprint: str | None = None


@dataclass(frozen=True)
class Parts(Checked):
    """Seconds of the measured steps that were neither forward nor backward; None: nobody timed."""

    input_seconds: float | None = None
    optimizer_seconds: float | None = None
    host_seconds: float | None = None
    communication_seconds: float | None = None
    away_seconds: float | None = (
        None  # the process did not run, on the CPU: others did, or it slept
    )
    generation_seconds: float | None = None  # passes that write tokens, and what is between them
    scoring_seconds: float | None = None  # other passes without gradients: a reference's
    waiting_seconds: float | None = None  # for other ranks, inside forward and backward

    def __add__(self, other: "Parts") -> "Parts":
        """Seconds add; what one side did not time is not known of both."""
        names = [one.name for one in fields(self)]
        return Parts(**{name: _sum(getattr(self, name), getattr(other, name)) for name in names})

    def items(self) -> list[tuple[str, float]]:
        """Each part by its name (input, optimizer, ...), 0 where nobody timed it."""
        return [(name, getattr(self, f"{name}_seconds") or 0.0) for name in PARTS]

    @property
    def total_seconds(self) -> float:
        return sum(seconds for _, seconds in self.items())


PARTS = tuple(one.name.removesuffix("_seconds") for one in fields(Parts))


@dataclass(frozen=True)
class Cell(Checked):
    """Totals over the measured steps of one setting. No invalid cell can be made."""

    rows: int
    layout: str
    checkpointing: bool
    precision: str
    accumulation: int | None = None
    data_parallel: int | None = 1
    ranks: tuple[int, ...] = (0,)  # whose steps these are: those of several ranks add
    world_size: int = 1
    identity: Identity = field(default_factory=Identity)
    status: str = "ok"
    error: str | None = None
    steps: int = 0
    warmup_steps: int = 0  # taken before, and counted nowhere
    micro_batches: int = 0
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)
    parts: Parts = field(default_factory=Parts)
    step_seconds: tuple[float, ...] | None = None  # one entry a step
    step_slots: tuple[int, ...] | None = None
    step_slot_pairs: tuple[int, ...] | None = None
    step_parts: Mapping[str, Sequence[float]] = field(
        default_factory=dict
    )  # part: one entry a step
    forward_seconds: float | None = None  # with what was waited for inside; None: nobody timed
    backward_seconds: float | None = None
    outside_seconds: float | None = None  # evaluation and saving, between these steps
    saving_seconds: float | None = None  # of them
    peak_bytes: int | None = None  # None where the device counts none
    allocator_retries: int | None = None
    source: str | None = None  # sweep, monitor or trainer
    run: str | None = None
    round: int | None = None
    documents_per_step: int | None = None
    seed: int | None = None
    device_type: str | None = None
    repeats: int = 1  # cells that were added to make this one
    environment: Mapping[str, Json] = field(default_factory=dict)
    more: Mapping[str, Json] = field(default_factory=dict)  # what the file holds besides

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, count in vars(self.counts).items():
            if not is_of(count, int | None):
                raise ValueError(f"{name} must be {SAYS[int]}, got {count!r:.40}")
        if self.status not in STATUS:
            raise ValueError(f"status must be {' or '.join(STATUS)}, got {self.status!r:.40}")
        if self.rows < 1:
            raise ValueError(f"rows must be at least 1, got {self.rows}")
        for name in ("step_seconds", "step_slots", "step_slot_pairs"):
            entries = getattr(self, name)
            if entries is not None and len(entries) != self.steps:
                raise ValueError(f"{name} has {len(entries)} entries for {self.steps} steps")
        for name, seconds in self.step_parts.items():
            _require_seconds(name, seconds, self.steps)
        if self.finished:
            self._require_counts()

    def _require_counts(self) -> None:
        lacks = [name for name, count in vars(self.counts).items() if count is None]
        lacks = [name for name in lacks if name != "target_tokens"]
        if lacks:
            raise ValueError(f"a finished cell lacks {', '.join(lacks)}")
        for name in ("steps", "micro_batches", "seconds", "slots"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} of a finished cell must be above 0, got 0")

    @property
    def date(self) -> str:
        """When it was recorded, as text that sorts by time; empty where the file does not say."""
        return str(self.environment.get("date") or "")

    @property
    def finished(self) -> bool:
        return self.status == "ok"

    @property
    def documents(self) -> int:
        return self._known("documents")

    @property
    def real_tokens(self) -> int:
        return self._known("real_tokens")

    @property
    def slots(self) -> int:
        return self._known("slots")

    @property
    def real_pairs(self) -> int:
        return self._known("real_pairs")

    @property
    def slot_pairs(self) -> int:
        return self._known("slot_pairs")

    @property
    def waste(self) -> float:
        """Padding slots / slots."""
        return 1 - self.real_tokens / self.slots

    @property
    def mean_step_seconds(self) -> float:
        return self.seconds / self.steps

    @property
    def device(self) -> str | None:
        """The GPU that this was measured on, else the processor; None where it does not say."""
        return device_of(self.environment)

    @property
    def setting(self) -> tuple[tuple[str, object], ...]:
        """All in which cells must agree to be added, by name."""
        names = ("rows", "accumulation", "layout", "checkpointing", "precision", "data_parallel")
        own = [(name, getattr(self, name)) for name in names]
        return (
            *own,
            ("model_fingerprint", self.identity.model_fingerprint),
            ("data_fingerprint", self.identity.data_fingerprint),
            ("device", self.device),
        )

    def __add__(self, other: "Cell") -> "Cell":
        """Totals add and step lists join; what one side does not know is not known of both."""
        for (name, ours), (_, theirs) in zip(self.setting, other.setting, strict=True):
            if ours != theirs:
                raise ValueError(f"cells of two settings do not add: {name} {ours} and {theirs}")
        if not (self.finished and other.finished):
            raise ValueError("a cell that ran out of memory holds nothing to add")
        return replace(
            self,
            steps=self.steps + other.steps,
            warmup_steps=self.warmup_steps + other.warmup_steps,
            micro_batches=self.micro_batches + other.micro_batches,
            seconds=self.seconds + other.seconds,
            counts=self.counts + other.counts,
            parts=self.parts + other.parts,
            step_seconds=_joined(self.step_seconds, other.step_seconds),
            step_slots=_joined(self.step_slots, other.step_slots),
            step_slot_pairs=_joined(self.step_slot_pairs, other.step_slot_pairs),
            step_parts={
                name: (*ours, *other.step_parts[name])
                for name, ours in self.step_parts.items()
                if name in other.step_parts
            },
            ranks=tuple(sorted({*self.ranks, *other.ranks})),
            forward_seconds=_sum(self.forward_seconds, other.forward_seconds),
            backward_seconds=_sum(self.backward_seconds, other.backward_seconds),
            outside_seconds=_sum(self.outside_seconds, other.outside_seconds),
            saving_seconds=_sum(self.saving_seconds, other.saving_seconds),
            peak_bytes=max(filter(None, (self.peak_bytes, other.peak_bytes)), default=None),
            allocator_retries=_sum(self.allocator_retries, other.allocator_retries),
            round=self.round if self.round == other.round else None,
            run=self.run if self.run == other.run else None,
            repeats=self.repeats + other.repeats,
        )

    def _known(self, name: str) -> int:
        count = getattr(self.counts, name)
        if not isinstance(count, int):
            raise ValueError(f"a cell that did not finish has no {name}")
        return count


def device_of(environment: Mapping[str, Json]) -> str | None:
    """The GPU of an environment, else its processor; None where it names neither."""
    name = environment.get("device")
    found = environment.get("processor") if name in (None, "cpu") else name
    return None if found is None else str(found)


def _sum(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else one + other


def _require_seconds(part: str, seconds: Sequence[float], steps: int) -> None:
    """Refuse a list of a part that is not one number of seconds a step."""
    if part not in PARTS:
        raise ValueError(f"step_parts has no part {part!r:.40}; there are {', '.join(PARTS)}")
    if not isinstance(seconds, tuple) or not are_numbers(seconds, float):
        raise ValueError(f"step_parts of {part} must be {says(tuple[float, ...])}")
    if len(seconds) != steps:
        raise ValueError(f"step_parts of {part} has {len(seconds)} entries for {steps} steps")


def _joined(
    one: tuple[Number, ...] | None, other: tuple[Number, ...] | None
) -> tuple[Number, ...] | None:
    return None if one is None or other is None else one + other
