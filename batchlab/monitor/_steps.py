"""What was seen of some steps, as a cell.

    steps: counts of their micro-batches, seconds by part  ->  Cell

Words
    part   seconds of a step with a name of their own, beside forward and backward
    taken  the counts of a micro-batch, still on its device until a record is written
    rest   what a step does after its first forward pass that has no name: the loss, clipping, logs
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn

from batchlab import records
from batchlab.counts import Counts, Taken
from batchlab.model import has_varlen, recomputes
from batchlab.monitor._clock import Clock
from batchlab.records import Cell, Identity, Model, Parts

__all__ = ["COLLECTOR", "OUTSIDE", "PARTS", "Step", "World", "cell_of", "environment_of",
           "identity_of", "retries_of"]  # fmt: skip

INSIDE = ("input", "host", "communication", "generation", "scoring", "optimizer")
OUTSIDE = ("evaluation", "saving")  # they belong to no step
PARTS = ("input", "host", "communication", "generation", *OUTSIDE)  # that a loop may name
REST, COLLECTOR = "rest", "collector"


@dataclass(frozen=True)
class World:
    """Which rank of how many, and how many of them share a step by data."""

    rank: int = 0
    size: int = 1
    replicas: int | None = 1


@dataclass
class Step:
    """What one optimizer step did, while it is under way and after."""

    taken: list[Taken] = field(default_factory=list)
    mixes: list[bool] = field(default_factory=list)  # of each, if several documents share a row
    uncounted: bool = False  # a micro-batch of it could not be counted
    seconds: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)  # forward and backward

    def end(self, clock: Clock, *, cuda: bool, ranks: int, lacked: float) -> None:
        """Take the seconds of the step from its clock.

        `lacked` are seconds for which the thread was ready and had no core: among several `ranks`
        these are no wait for another one.
        """
        wall = dict(clock.wall)  # the collector may add to it at any time
        self.seconds = sum(spent for name, spent in wall.items() if name not in OUTSIDE)
        self.parts = {name: wall.get(name, 0.0) for name in INSIDE}
        self.parts["host"] += wall.get(COLLECTOR, 0.0)
        timed = wall
        if cuda:
            timed = clock.device()
            self.parts["optimizer"] = timed.get("optimizer", 0.0)
        else:  # on a GPU the host may wait behind the queue
            busy = clock.idle("forward") + clock.idle("backward")
            waited = max(0.0, busy - lacked) if ranks > 1 else 0.0
            self.parts["away"] = clock.idle(REST) + busy - waited
            if ranks > 1:
                self.parts["waiting"] = waited
        self.work = {name: timed.get(name, 0.0) for name in ("forward", "backward")}


def cell_of(
    steps: Sequence[Step], model: nn.Module, *,
    lost: Sequence[str], world: World, more: dict[str, Any], **known: Any,
) -> Cell:  # fmt: skip
    """The steps as one cell; quantities that were `lost` on the way are unknown in it."""
    varlen = has_varlen(model)
    each = [reduce(add, (one.read(varlen=varlen) for one in step.taken)) for step in steps]
    total: Counts = reduce(add, each)
    rows = sum(one.rows for step in steps for one in step.taken)
    packed = (total.documents or 0) > rows
    names = [name for name in steps[0].parts if name not in lost]
    named = {name: tuple(one.parts[name] for one in steps) for name in names}
    work = {name: sum(step.work[name] for step in steps)
            for name in ("forward", "backward") if name not in lost}  # fmt: skip
    return Cell(
        layout="packed" if packed else "padded",
        rows=steps[0].taken[0].rows,
        accumulation=len(steps[0].taken),
        data_parallel=world.replicas,
        ranks=(world.rank,),
        world_size=world.size,
        checkpointing=recomputes(model),
        steps=len(steps),
        micro_batches=sum(len(step.taken) for step in steps),
        counts=total,
        seconds=sum(step.seconds for step in steps),
        step_seconds=tuple(step.seconds for step in steps),
        step_slots=tuple(one.slots or 0 for one in each),
        step_slot_pairs=tuple(one.slot_pairs or 0 for one in each),
        step_parts=named,
        parts=Parts(**{f"{name}_seconds": sum(spent) for name, spent in named.items()}),
        identity=identity_of(model),
        more=({"documents_mixed": any(any(step.mixes) for step in steps)} if packed else {}) | more,
        forward_seconds=work.get("forward"),
        backward_seconds=work.get("backward"),
        **known,
    )


def identity_of(model: nn.Module) -> Identity:
    """Fingerprints are equal for models of equal shape: the weights do not matter to time."""
    parameters = list(model.parameters())
    total = sum(one.numel() for one in parameters)
    name = getattr(getattr(model, "config", None), "model_type", None)
    fingerprint = f"{type(model).__name__}-{total}-{len(parameters)}"
    named = name if isinstance(name, str) else type(model).__name__
    return Identity(Model(named), fingerprint, "unknown", "unknown")


def environment_of(model: nn.Module) -> dict[str, records.Json]:
    attention = getattr(getattr(model, "config", None), "_attn_implementation", None)
    return records.environment(attention=attention if isinstance(attention, str) else None)


def retries_of(device: torch.device) -> int | None:
    """How often the allocator of a GPU gave cached blocks back and asked anew, so far."""
    if device.type != "cuda":
        return None
    retries: int = torch.cuda.memory_stats(device).get("num_alloc_retries", 0)
    return retries
