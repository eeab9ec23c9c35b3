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

from dataclasses import dataclass, replace
from math import isqrt

from batchlab import units

__all__ = ["Plan", "data_parallel_degree", "for_slots_per_step", "splits"]


MOST_TRIED = 10**6  # divisors that `splits` tries: 0.1 s; enough for 10**12 sequences


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
            object.__setattr__(self, name, units.whole(getattr(self, name), name))

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
        fill = units.real(fill, "fill", above=0, most=1)
        target_share = units.real(target_share, "target_share", above=0, most=1)
        return self.slots_per_step * fill * target_share


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
    slots = units.whole(slots, "slots")
    one = Plan(rows, 1, data_parallel, length)
    if slots % one.slots_per_step:
        raise ValueError(
            f"{slots:,} slots per step is not a multiple of {one.slots_per_step:,} "
            f"({one.rows:,} rows x {one.length:,} tokens x {one.data_parallel:,} devices); "
            f"{nearest(slots, one.slots_per_step)}"
        )
    return replace(one, accumulation=slots // one.slots_per_step)


def splits(slots: int, *, length: int, data_parallel: int, most_rows: int) -> list[Plan]:
    """Every exact split of `slots` over this machine, most rows first.

    >>> [(p.rows, p.accumulation) for p in splits(64, length=4, data_parallel=2, most_rows=4)]
    [(4, 2), (2, 4), (1, 8)]
    """
    most_rows = units.whole(most_rows, "most_rows")
    one = for_slots_per_step(slots, rows=1, length=length, data_parallel=data_parallel)
    sequences = one.accumulation  # on one device
    tried = min(most_rows, isqrt(sequences))
    if tried > MOST_TRIED:
        raise ValueError(
            f"{sequences:,} sequences on a device are too many to find every split; "
            f"with most_rows up to {MOST_TRIED:,} they are found"
        )
    small = [rows for rows in range(1, tried + 1) if sequences % rows == 0]
    both = {*small, *(sequences // rows for rows in small)}
    return [
        replace(one, rows=rows, accumulation=sequences // rows)
        for rows in sorted(both, reverse=True)
        if rows <= most_rows
    ]


def data_parallel_degree(
    devices: int, *, tensor: int = 1, pipeline: int = 1, context: int = 1
) -> int:
    """Replicas on `devices`: a GPU is not a replica when the model is split over several.

    >>> data_parallel_degree(16_384, tensor=8, pipeline=16)  # Llama 3 405B, Table 4
    128
    """
    devices, tensor = units.whole(devices, "devices"), units.whole(tensor, "tensor")
    pipeline, context = units.whole(pipeline, "pipeline"), units.whole(context, "context")
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(
            f"{devices:,} devices do not divide into replicas of {one:,} (tensor {tensor} x "
            f"pipeline {pipeline} x context {context}); {nearest(devices, one)}"
        )
    return devices // one
