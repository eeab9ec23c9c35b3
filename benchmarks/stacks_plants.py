"""What is planted into a training so that it can be taken out again, with a clock of its own.

    cause  ->  two ways to run: planted, and cured;  Plant: where time goes, step by step

Every run takes the same documents: one step of 8 to warm up, then 12 steps of 8 documents of equal
length, of 12 lengths. So nothing is padded, but where padding is planted: there they are mixed.

Words
    plant   spends time at one site of a training, as storage, a lock or slow code would
    window  from the end of the first step to that of the last
"""

import contextlib
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

__all__ = ["EACH", "LENGTHS", "STEPS", "VOCABULARY", "WAYS", "Plant", "Timed", "Update", "Way",
           "documents"]  # fmt: skip

LENGTHS = (16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128)
EACH = 8  # documents of a step
STEPS = 1 + len(LENGTHS)
VOCABULARY = 256
SECONDS = 0.015  # that a plant spends on a step
BETWEEN = 4  # steps from one evaluation, or checkpoint, to the next


@dataclass(frozen=True)
class Way:
    """One way to run a training."""

    plant: str = ""  # the cause that a `Plant` acts for; "": it does nothing
    rows: int = EACH
    mixed: bool = False
    checkpointing: bool = False
    probe: bool = False

    @property
    def accumulation(self) -> int:
        return EACH // self.rows

    def at(self, rows: int) -> "Way":
        return replace(self, rows=rows)


WAYS = {cause: (Way(cause), Way()) for cause in (
    "input", "optimizer", "host", "away", "evaluation", "saving", "generation",
)} | {
    "waiting": (Way("waiting"), Way("balanced")),  # the last rank computes more; or each half of it
    "padding": (Way(mixed=True), Way()),
    "launch": (Way(rows=1), Way(rows=2)),
    "recomputation": (Way(checkpointing=True), Way()),
}  # fmt: skip


def documents(way: Way, multiple: int = 1) -> list[list[int]]:
    """Token ids of all documents in the order of a run; `multiple` makes each so much longer."""
    warm = [LENGTHS[len(LENGTHS) // 2]] * EACH
    lengths = [length for length in LENGTHS for _ in range(EACH)]
    order = random.Random(7)
    if way.mixed:
        order.shuffle(lengths)
    return [
        [4 + (31 * number + place) % (VOCABULARY - 4) for place in range(length * multiple)]
        for number, length in enumerate(warm + lengths)
    ]


@dataclass(frozen=True)
class Timed:
    """The window of one run."""

    seconds: float
    ran: float  # of them, those in which the process ran
    spent: float  # of them, those that the plant spent


class Plant:
    """Spends time at its site, and notes when each step ended."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self._spent: list[tuple[float, float]] = []
        self._ends: list[tuple[float, float]] = []

    def sleep(self, site: str) -> None:
        """Wait at this site, if it is the planted one: no core is needed."""
        if self.way.plant == site:
            with self.timed(site):
                time.sleep(SECONDS / self.way.accumulation)

    def work(self, site: str, share: float = 1.0) -> None:
        """Compute at this site, if it is the planted one: as long as it takes to run so long."""
        if self.way.plant == site:
            with self.timed(site):
                end = time.process_time() + share * SECONDS
                while time.process_time() < end:
                    pass

    @contextlib.contextmanager
    def timed(self, site: str) -> Iterator[None]:
        """What runs inside is of this site: its seconds count if it is the planted one."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            if self.way.plant == site:
                self._spent.append((begin, time.perf_counter()))

    def due(self, site: str, step: int) -> bool:
        """Whether something that is done every few steps comes after this one, from 1."""
        return self.way.plant == site and step % BETWEEN == 0

    def step_ended(self, *_: Any) -> None:
        self._ends.append((time.perf_counter(), time.process_time()))

    def window(self) -> Timed:
        assert len(self._ends) == STEPS, f"{len(self._ends)} steps instead of {STEPS}"
        (first, ran), (last, ran_last) = self._ends[0], self._ends[-1]
        spent = sum(max(0.0, min(end, last) - max(at, first)) for at, end in self._spent)
        return Timed(last - first, ran_last - ran, spent)


class Update(torch.optim.Optimizer):
    """Plain gradient descent, whose step the plant may make slow."""

    def __init__(self, parameters: Any, plant: Plant) -> None:
        super().__init__(parameters, {"lr": 1e-4})
        self.plant = plant
        self.register_step_post_hook(plant.step_ended)

    def step(self, closure: Any = None) -> Any:
        loss = closure() if closure else None
        with torch.no_grad():
            for group in self.param_groups:
                for one in group["params"]:
                    if one.grad is not None:
                        one.add_(one.grad, alpha=-group["lr"])
        self.plant.work("optimizer")
        return loss
