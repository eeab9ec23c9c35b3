"""How often the doctor's intervals hold the truth: planted prices, with noise, many times.

    python benchmarks/calibration.py [--worlds N]

Each world is a record of a machine whose prices are known: a sweep of four rows in four rounds of
three steps, or runs of 24 steps at two rows, or at one. Every step is longer or shorter by a
normal factor of 0, 5 or 15 %, every visit by another. The doctor then says of
each quantity an interval that should hold the planted value nine times in ten.
"""

import argparse

import numpy as np

from batchlab import doctor
from batchlab.counts import Counts
from batchlab.records import Cell

FIXED, SLOT, PAIR = 0.030, 20e-6, 5e-9  # seconds of a micro-batch, a slot, a pair
NOISE = (0.0, 0.05, 0.15)
DESIGNS = {"sweep": ((1, 2, 4, 8), 4, 3), "two rows": ((2, 8), 1, 24), "one row": ((8,), 1, 24)}
QUANTITIES = ("fixed cost", "padding", "useful", "gain of packing")
REAL = 0.6  # of the slots, and its square of the pairs


def visit(rows: int, steps: int, noise: float, rng: np.random.Generator) -> Cell:
    """16 documents a step in micro-batches of widths that vary."""
    micro = 16 // rows
    widths = rng.integers(200, 1200, size=(steps, micro))
    slots, pairs = rows * widths.sum(axis=1), rows * (widths**2).sum(axis=1)
    seconds = FIXED * micro + SLOT * slots + PAIR * pairs
    seconds = seconds * np.exp(noise * rng.standard_normal(steps) + noise * rng.standard_normal())
    total, squares = int(slots.sum()), int(pairs.sum())
    return Cell(
        rows=rows, layout="padded", checkpointing=False, precision="float32", accumulation=micro,
        steps=steps, micro_batches=micro * steps, seconds=float(seconds.sum()),
        counts=Counts(16 * steps, int(REAL * total), total, None, int(REAL**2 * squares), squares),
        step_seconds=tuple(seconds.tolist()), step_slots=tuple(slots.tolist()),
        step_slot_pairs=tuple(pairs.tolist()),
    )  # fmt: skip


def truth(cell: Cell) -> dict[str, float]:
    """The planted seconds of a step of the subject, and what packing is worth."""
    fixed = FIXED * cell.micro_batches / cell.steps
    work = (SLOT * cell.slots + PAIR * cell.slot_pairs) / cell.steps
    useful = (SLOT * cell.real_tokens + PAIR * cell.real_pairs) / cell.steps
    gain = (fixed + work) / (fixed + useful) - 1
    return dict(zip(QUANTITIES, (fixed, work - useful, useful, gain), strict=True))


def held(design: str, noise: float, seed: int) -> dict[str, bool]:
    """Whether the interval of each quantity holds the truth, in one world."""
    rng = np.random.default_rng(seed)
    every, rounds, steps = DESIGNS[design]
    visits = [visit(rows, steps, noise, rng) for _ in range(rounds) for rows in every]
    said = doctor.diagnose(visits)
    planted = truth(said.subject)
    found = dict.fromkeys(QUANTITIES, False)
    for name, cause in (("fixed cost", "launch"), ("padding", "padding"), ("useful", "useful")):
        found[name] = holds(said.of_cause(cause).interval, planted[name])
    gains = [cause for cause in said.causes if cause.name == "padding"]
    if gains:
        found["gain of packing"] = holds(gains[0].interval, planted["gain of packing"])
    return found


def holds(interval: doctor.Interval | None, value: float) -> bool:
    if interval is None:
        return False
    slack = 1e-6 * abs(value)  # of rounding, where nothing is noise
    return interval.low - slack <= value <= interval.high + slack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300, help="of each line (300)")
    worlds = parser.parse_args().worlds
    print(f"{'record':10} {'noise':>6}  " + "  ".join(f"{name:>15}" for name in QUANTITIES))
    for design in DESIGNS:
        for noise in NOISE:
            found = [held(design, noise, seed) for seed in range(worlds)]
            shares = [sum(one[name] for one in found) / worlds for name in QUANTITIES]
            print(f"{design:10} {noise:>6.0%}  " + "  ".join(f"{s:>15.1%}" for s in shares))


if __name__ == "__main__":
    main()
