"""What one optimizer step sees, and how a machine splits it.

    rows, accumulation, data-parallel degree, length  <->  sequences and slots per step

Nothing is rounded: a wish that does not divide is refused with the nearest that do.

Words
    rows                sequences in one forward pass on one device: the micro-batch
    accumulation        micro-batches per optimizer step on one device
    data_parallel       replicas that share one step: devices / (tensor x pipeline x context)
    sequences_per_step  rows x accumulation x data_parallel: the effective batch in sequences
    slots_per_step      sequences_per_step x length: known before a token is read
"""

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from batchlab import units

if TYPE_CHECKING:
    from batchlab.launch import Launch
    from batchlab.launch_text import Config

__all__ = ["Plan", "data_parallel_degree", "for_slots_per_step", "from_config", "splits"]


@dataclass(frozen=True)
class Plan:
    """One optimizer step, as numbers.

    >>> Plan(rows=4, accumulation=8, data_parallel=2, length=2048).slots_per_step
    131072
    """

    rows: int
    accumulation: int
    data_parallel: int
    length: int

    def __post_init__(self) -> None:
        for name in ("rows", "accumulation", "data_parallel", "length"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))

    @property
    def sequences_per_step(self) -> int:
        return self.rows * self.accumulation * self.data_parallel

    @property
    def slots_per_step(self) -> int:
        return self.sequences_per_step * self.length

    def target_tokens_per_step(self, fill: float, target_share: float) -> float:
        """Tokens that the loss counts behind one update: an expectation, so a float.

        `fill` is real tokens / slots and `target_share` is trained tokens / real tokens. Both are
        measured over many steps, never assumed; one step counts its own targets exactly.
        """
        for name, value in (("fill", fill), ("target_share", target_share)):
            if not 0 < value <= 1:  # NaN too is not between them
                raise ValueError(f"{name} must be above 0 and at most 1, got {value}")
        return self.slots_per_step * fill * target_share


def check_positive(name: str, value: object) -> int:
    """Return a whole number of at least 1 (NumPy's too), or refuse it by name."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex) or index(value) < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return index(value)


def nearest(value: int, step: int) -> str:
    """Say which multiples of `step` lie around a `value` that is none.

    >>> nearest(1_000_000, 65_536)
    'the nearest are 983,040 and 1,048,576'
    """
    below, above = units.neighbours(value, step)
    return f"the nearest are {below:,} and {above:,}" if below else f"the nearest is {above:,}"


def for_slots_per_step(slots: int, *, rows: int, length: int, data_parallel: int) -> Plan:
    """Find the accumulation that makes one step exactly `slots` slots.

    >>> for_slots_per_step(1_048_576, rows=8, length=1024, data_parallel=8).accumulation
    16
    """
    check_positive("slots", slots)
    one = Plan(rows, 1, data_parallel, length)
    if slots % one.slots_per_step:
        raise ValueError(
            f"{slots:,} slots per step is not a multiple of {one.slots_per_step:,} "
            f"({rows:,} rows x {length:,} tokens x {data_parallel:,} devices); "
            f"{nearest(slots, one.slots_per_step)}"
        )
    return Plan(rows, slots // one.slots_per_step, data_parallel, length)


def splits(slots: int, *, length: int, data_parallel: int, most_rows: int) -> list[Plan]:
    """Every exact split of `slots` over this machine, most rows first.

    >>> [(p.rows, p.accumulation) for p in splits(64, length=4, data_parallel=2, most_rows=4)]
    [(4, 2), (2, 4), (1, 8)]
    """
    check_positive("slots", slots)
    check_positive("most_rows", most_rows)
    share = Plan(1, 1, data_parallel, length).slots_per_step
    if slots % share:
        for_slots_per_step(slots, rows=1, length=length, data_parallel=data_parallel)  # refuses
    micro_batches = slots // share
    return [
        Plan(rows, micro_batches // rows, data_parallel, length)
        for rows in range(min(most_rows, micro_batches), 0, -1)
        if micro_batches % rows == 0
    ]


def data_parallel_degree(
    devices: int, *, tensor: int = 1, pipeline: int = 1, context: int = 1
) -> int:
    """Replicas on `devices`: a GPU is not a replica when the model is split over several.

    >>> data_parallel_degree(16_384, tensor=8, pipeline=16)  # Llama 3 405B, Table 4
    128
    """
    degrees = {"devices": devices, "tensor": tensor, "pipeline": pipeline, "context": context}
    for name, value in degrees.items():
        check_positive(name, value)
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(
            f"{devices:,} devices do not divide into replicas of {one:,} (tensor {tensor} x "
            f"pipeline {pipeline} x context {context}); {nearest(devices, one)}"
        )
    return devices // one


def from_config(
    config: "Config",
    *beside: "Config",
    devices: int | None = None,
    length: int | None = None,
    tool: str | None = None,
) -> "Launch":
    """Read the config of a trainer, and of a launcher beside it: `batchlab.launch.from_config`.

    >>> config = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8}
    >>> from_config(config, devices=2, length=2048).plan.slots_per_step
    131072
    """
    from batchlab import launch

    return launch.from_config(config, *beside, devices=devices, length=length, tool=tool)
