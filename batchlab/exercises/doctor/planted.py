"""Training runs of a planted machine: why each is slow is known, and so is what a cure gains.

    cause, seed  ->  Run: a sweep of it as cells, and the gain of its cure without noise

Seconds are planted, none is measured: 4 numbers of rows, some rounds, 8 steps of the same 64
documents. A step costs `fixed` a micro-batch and `slot` a slot, a third more with recomputation,
and what it waits.

Words
    cure   the change that a cause asks for: pack, switch checkpointing off, twice or half the rows
    visit  a cell in one round, as a plain dictionary of totals
    busy   share of the time in which a utilisation meter sees the device at work
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from batchlab.counts import Counts
from batchlab.exercises.doctor.sweeps import CAUSES
from batchlab.records import Cell, Identity, Model, Parts

__all__ = ["Run", "panel", "plain", "planted", "ward"]

DOCUMENTS, STEPS = 64, 8
GRIDS = ((2, 4, 8, 16), (1, 2, 4, 8), (4, 8, 16, 32))
RECOMPUTE = 1 / 3
DRIFT, NOISE = 0.05, 0.05  # of a round, all its cells alike; of a step


@dataclass(frozen=True)
class Run:
    """One training run; all seconds are of one step, but those of the two prices."""

    cause: str
    seed: int
    fixed: float = 4e-3  # seconds a micro-batch
    slot: float = 20e-6  # seconds a slot
    checkpointing: bool = False
    full: bool = True  # all documents of one length
    spread: float = 0.0  # of the logarithm of the lengths
    input: float = 0.0
    host: float = 0.0
    optimizer: float = 0.0
    retried: float = 1.0  # the step with the most rows takes so many times as long
    packed: bool = False
    grid: tuple[int, ...] = GRIDS[0]
    rounds: tuple[int, ...] = (0, 1, 2, 3, 4)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(steps, documents) tokens."""
        rng = np.random.default_rng([self.seed, 1])
        if self.full:
            return np.full((STEPS, DOCUMENTS), 512)
        drawn = 300 * np.exp(self.spread * rng.standard_normal((STEPS, DOCUMENTS)))
        return np.asarray(np.clip(drawn, 16, 2048).astype(int))

    def sizes(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots and attention pairs of each step, cut into micro-batches of `rows`."""
        width = (
            self.lengths.reshape(STEPS, -1, rows).max(axis=2) if not self.packed else self.lengths
        )
        times = 1 if self.packed else rows
        return (times * width).sum(axis=1), (times * width**2).sum(axis=1)

    def step_seconds(self, rows: int) -> np.ndarray:
        """Forward and backward seconds of each step, without noise."""
        work = self.fixed * (DOCUMENTS // rows) + self.slot * self.sizes(rows)[0]
        again = work * (1 + RECOMPUTE * self.checkpointing)
        return np.asarray(again * (self.retried if rows == self.grid[-1] else 1.0))

    def whole_seconds(self, rows: int) -> float:
        """Seconds of all steps, without noise."""
        aside = STEPS * (self.input + self.host + self.optimizer)
        return float(self.step_seconds(rows).sum()) + aside

    def gain_of(self, cause: str) -> float:
        """What the cure of a cause gains here, measured without noise."""
        rows, cured = self.grid[-1], self
        if cause == "padding":
            cured = replace(self, packed=True)
        elif cause == "recomputation":
            cured = replace(self, checkpointing=False)
        elif cause == "input":
            cured = replace(self, input=0.0)
        elif cause == "host":
            cured = replace(self, host=0.0)
        elif cause == "memory":
            rows = self.grid[-2]
        else:
            rows = 2 * self.grid[-1]
        return self.whole_seconds(self.grid[-1]) / cured.whole_seconds(rows) - 1

    @property
    def gain(self) -> float:
        """What the cure of its own cause gains; of saturation: what twice the rows gain."""
        return self.gain_of(self.cause)

    @cached_property
    def cells(self) -> list[Cell]:
        """The sweep: every number of rows in every round, in no order."""
        rng = np.random.default_rng([self.seed, 2])
        made = list(self._visits(rng))
        return [made[n] for n in rng.permutation(len(made))]

    def _visits(self, rng: np.random.Generator) -> Iterator[Cell]:
        for number in self.rounds:
            drift = 1 + DRIFT * rng.standard_normal()
            for rows in self.grid:
                yield self._visit(rows, number, drift, rng)

    def _visit(self, rows: int, number: int, drift: float, rng: np.random.Generator) -> Cell:
        own = drift * self.step_seconds(rows) * (1 + NOISE * rng.standard_normal(STEPS))
        aside = [drift * STEPS * part for part in (self.input, self.optimizer, self.host)]
        parts = Parts(aside[0], aside[1], aside[2], communication_seconds=0.0, away_seconds=0.0)
        slots, pairs = self.sizes(rows)
        whole = float(own.sum()) + sum(aside)
        retries = int(rng.integers(3, 20)) if self.retried > 1 and rows == self.grid[-1] else 0
        busy = 1 - (aside[0] + aside[2]) / whole - float(rng.uniform(0.0, 0.02))
        micro = DOCUMENTS // rows
        real, real_pairs = int(self.lengths.sum()), int((self.lengths**2).sum())
        return Cell(
            rows, "padded", self.checkpointing, "bfloat16", micro, source="sweep", round=number,
            identity=Identity(Model("planted"), "planted", "planted", f"{self.seed}"),
            steps=STEPS, micro_batches=micro * STEPS, seconds=whole,
            counts=Counts(DOCUMENTS * STEPS, real, int(slots.sum()), real,
                          real_pairs, int(pairs.sum())),
            parts=parts,
            step_seconds=tuple((own + sum(aside) / STEPS).tolist()),
            step_slots=tuple(slots.tolist()), step_slot_pairs=tuple(pairs.tolist()),
            allocator_retries=retries, environment={"device": "planted"},
            more={"busy": round(busy, 3)},
        )  # fmt: skip

    def sweep(self) -> list[dict[str, Any]]:
        """The visits of the sweep as plain dictionaries."""
        return [plain(cell) for cell in self.cells]


def plain(cell: Cell) -> dict[str, Any]:
    """A visit as this lesson writes it: totals over its steps, and what it is of.

    Seconds in which others had the cores of a CPU are taken off.
    """
    seconds = dict(cell.parts.items())
    sides = {f"{name}_seconds": seconds[name] for name in ("input", "host", "optimizer")}
    named = {
        "model": cell.identity.model_fingerprint,
        "data": cell.identity.data_fingerprint,
        "device": cell.device,
        "round": cell.round or 0,
        "rows": cell.rows,
        "checkpointing": cell.checkpointing,
        "steps": cell.steps,
        "micro_batches": cell.micro_batches,
        "documents": cell.documents,
        "real_tokens": cell.real_tokens,
        "slots": cell.slots,
        "seconds": cell.seconds - seconds["away"],
        **sides,
        "retries": cell.allocator_retries or 0,
    }
    return named | {key: cell.more[key] for key in ("busy",) if key in cell.more}


@cache
def planted(cause: str, seed: int) -> Run:
    """A run whose main cause is `cause`; others are there, and small."""
    rng = np.random.default_rng([seed, CAUSES.index(cause)])
    grid = GRIDS[int(rng.integers(len(GRIDS)))]
    first, number = (int(n) for n in rng.integers((0, 4), (4, 7)))
    full = cause in ("saturation", "launch")
    run = Run(
        cause, seed, full=full, spread=0.0 if full else 0.008, grid=grid,
        rounds=tuple(range(first, first + number)), input=float(rng.uniform(0.002, 0.012)),
        host=float(rng.uniform(0.002, 0.012)), optimizer=float(rng.uniform(0.01, 0.03)),
    )  # fmt: skip
    severe = float(rng.uniform(0.0, 1.0))
    if cause == "padding":
        return replace(run, spread=0.4 + 0.6 * severe)
    if cause == "recomputation":
        return replace(run, checkpointing=True)
    if cause == "memory":
        return replace(run, retried=1.25 + 0.65 * severe)
    if cause == "launch":  # a quarter to a half of forward and backward
        work, share = run.slot * 512 * DOCUMENTS, 0.25 + 0.25 * severe
        return replace(run, fixed=share / (1 - share) * work * grid[-1] / DOCUMENTS)
    if cause in ("input", "host"):
        wait = 0.12 + 0.5 * severe
        if seed % 2:  # the launches take a quarter more, but twice the rows end only half of them
            run = replace(run, fixed=1.25 * wait * grid[-1] / DOCUMENTS)
        return replace(run, input=wait) if cause == "input" else replace(run, host=wait)
    return run


@cache
def ward() -> dict[str, Run]:
    """The seven runs of the lesson, A to G."""
    order = ("input", "padding", "launch", "memory", "saturation", "host", "recomputation")
    runs = [replace(planted(cause, 1100 + 2 * n), grid=GRIDS[0]) for n, cause in enumerate(order)]
    return dict(zip("ABCDEFG", runs, strict=True))


def panel(each: int, seed: int) -> list[Run]:
    """Planted sweeps, `each` of every cause, in an order that tells nothing."""
    runs = [planted(cause, seed + n) for n in range(each) for cause in CAUSES]
    return [runs[n] for n in np.random.default_rng(seed).permutation(len(runs))]
