"""How often the doctor's intervals hold the truth: planted machines, with noise, many times.

    python benchmarks/calibration.py [--worlds N] [--machines N] [--output FILE]

Each run is the record that a user has: padded micro-batches at a few sizes, of a machine whose
prices are known, the cure unmeasured. A sweep is four rows in four rounds of three steps; others
are 24 steps at two rows, or at one. Every step is longer or shorter by a random factor of 0, 5
or 15 %, every visit by another. The doctor then says an interval that should hold the planted
value nine times in ten. In every second run visits have no luck of their own.

Of a machine whose seconds follow the doctor's three prices, all parts are judged. `MACHINES` and
`OTHERS` do not: they have floors, knees, curves, drift, load or heavy tails, and the gain of
packing is judged against what packing brings there. A refusal is counted by itself: it is honest,
and holds nothing. The shapes of the doctor were chosen with all of these machines in sight.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batchlab import doctor, records
from batchlab.counts import Counts
from batchlab.records import Cell, Parts

Floats = NDArray[np.float64]

FIXED, SLOT, PAIR = 0.030, 20e-6, 5e-9  # seconds of a micro-batch, a slot, a pair
NOISE = (0.0, 0.05, 0.15)
DESIGNS = {"sweep": ((1, 2, 4, 8), 4, 3), "two rows": ((2, 8), 1, 24), "one row": ((8,), 1, 24)}
QUANTITIES = ("fixed cost", "padding", "useful", "gain of packing")
LONGEST = 2048  # slots of a row
VERDICTS = ("held", "missed", "refused", "not named")


def work(slots: Floats, pairs: Floats) -> Floats:
    """Seconds of micro-batches but for their launch, as the doctor's prices have it."""
    return np.asarray(SLOT * slots + PAIR * pairs)


def line(slots: Floats, pairs: Floats) -> Floats:
    return FIXED + work(slots, pairs)


@dataclass(frozen=True)
class Machine:
    """What micro-batches cost, and what happens to the steps meanwhile."""

    cost: Callable[[Floats, Floats], Floats] = line
    drift: float = 0.0  # slower at the end of the run than at its start, by this share
    load: float = 0.0  # seconds that others take, for each second of work in a burst
    sleep: float = 0.0  # seconds of every step in which the process does not run
    tails: bool = False  # the noise has three degrees of freedom: a step in a hundred is far out


def floor(times: float) -> Callable[[Floats, Floats], Floats]:
    """A micro-batch lasts at least as long as its launches, `times` its fixed cost."""
    return lambda slots, pairs: np.maximum(times * FIXED, line(slots, pairs))


def curve(power: float) -> Callable[[Floats, Floats], Floats]:
    """Slots cost more or less the more there are; 2,000 cost what they cost on a line."""
    return lambda slots, pairs: line(2000 * (slots / 2000) ** power, pairs)


def knee(slots: Floats, pairs: Floats) -> Floats:
    """Every slot above 6,000 is 35 % dearer: the activations left the cache."""
    return line(slots, pairs) + 0.35 * SLOT * np.maximum(slots - 6000, 0)


MACHINES = {
    "line": Machine(),
    "floor x 2": Machine(floor(2)),
    "floor x 4": Machine(floor(4)),
    "launch or work": Machine(lambda slots, pairs: np.maximum(2 * FIXED, work(slots, pairs))),
    "knee": Machine(knee),
    "slots ^ 1.1": Machine(curve(1.1)),
    "drift": Machine(drift=0.3),
    "load": Machine(load=1.0),
    "heavy tails": Machine(tails=True),
}
OTHERS = {
    "slots ^ 0.9": Machine(curve(0.9)),
    "stairs": Machine(lambda slots, pairs: line(1024 * np.ceil(slots / 1024), pairs)),
    "floor, curve": Machine(lambda s, p: np.maximum(3 * FIXED, curve(1.15)(s, p))),
    "load, floor": Machine(floor(3), load=0.5, drift=0.1),
    "sleep": Machine(sleep=0.060),
}


@dataclass(frozen=True)
class Visit:
    """What was recorded, and the planted seconds without noise: as it is, and packed."""

    cell: Cell
    padded: float
    packed: float


def visit(
    rows: int,
    steps: int,
    noise: float,
    rng: np.random.Generator,
    machine: Machine,
    when: float,
    moody: bool,
) -> Visit:
    """16 documents a step, padded in micro-batches; `when` in the run, from 0 to 1."""
    micro = 16 // rows
    lengths = np.clip(rng.lognormal(5.5, 0.8, (steps, micro, rows)), 16, LONGEST).astype(int)
    widths, real = lengths.max(axis=2), lengths.sum(axis=2)
    slots, pairs, real_pairs = rows * widths, rows * widths**2, (lengths**2).sum(axis=2)
    planted = machine.cost(slots, pairs).sum(axis=1)
    luck = rng.standard_t(3, steps) / 3**0.5 if machine.tails else rng.standard_normal(steps)
    seconds = planted * np.exp(noise * luck + noise * rng.standard_normal() * moody)
    seconds *= 1 + machine.drift * when
    burst = machine.load * (rng.random() < 0.5)  # of one visit: others come and go
    away = machine.sleep + burst * rng.uniform(0.5, 1.5, steps) * seconds
    seconds = seconds * (1 + 0.1 * burst) + away
    tokens, squares = (int(real.sum()), int(slots.sum())), (int(real_pairs.sum()), int(pairs.sum()))
    cell = Cell(
        rows=rows, layout="padded", checkpointing=False, precision="float32", accumulation=micro,
        steps=steps, micro_batches=micro * steps, seconds=float(seconds.sum()),
        counts=Counts(16 * steps, *tokens, None, *squares),
        parts=Parts(away_seconds=float(away.sum())), step_parts={"away": tuple(away.tolist())},
        step_seconds=tuple(seconds.tolist()), step_slots=tuple(slots.sum(axis=1).tolist()),
        step_slot_pairs=tuple(pairs.sum(axis=1).tolist()),
    )  # fmt: skip
    packed = micro * machine.cost(real.mean(axis=1), real_pairs.mean(axis=1))
    busy, sleep = 1 + machine.load * 0.5 * 1.1, machine.sleep * steps
    return Visit(cell, busy * float(planted.sum()) + sleep, busy * float(packed.sum()) + sleep)


def record(design: str, noise: float, seed: int, machine: Machine) -> list[Visit]:
    """The visits of one run, in the order in which they were measured."""
    rng = np.random.default_rng(seed)
    every, rounds, steps = DESIGNS[design]
    order = [rows for _ in range(rounds) for rows in every]
    return [
        visit(rows, steps, noise, rng, machine, place / len(order), seed % 2 == 0)
        for place, rows in enumerate(order)
    ]


def truth(cell: Cell) -> dict[str, float]:
    """The planted seconds of a step of the subject of a line, and what packing is worth."""
    fixed = FIXED * cell.micro_batches / cell.steps
    whole = (SLOT * cell.slots + PAIR * cell.slot_pairs) / cell.steps
    useful = (SLOT * cell.real_tokens + PAIR * cell.real_pairs) / cell.steps
    gain = (fixed + whole) / (fixed + useful) - 1
    return dict(zip(QUANTITIES, (fixed, whole - useful, useful, gain), strict=True))


def held(design: str, noise: float, seed: int) -> dict[str, bool]:
    """Whether the interval of each quantity holds the truth, on a machine that is a line."""
    said = doctor.diagnose(one.cell for one in record(design, noise, seed, MACHINES["line"]))
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


@dataclass(frozen=True)
class Told:
    """What was said of packing on one machine: held, missed, refused, or not named at all."""

    verdict: str
    truth: float
    interval: doctor.Interval | None


def told(machine: Machine, noise: float, seed: int, design: str = "sweep") -> Told:
    """What the doctor says of packing, from one run on this machine."""
    visits = record(design, noise, seed, machine)
    said = doctor.diagnose(one.cell for one in visits)
    own = [one for one in visits if one.cell.rows == said.subject.rows]
    gain = sum(one.padded for one in own) / sum(one.packed for one in own) - 1
    cause = next((cause for cause in said.causes if cause.name == "padding"), None)
    if cause is None:
        return Told("not named", gain, None)
    if cause.refused:
        return Told("refused", gain, None)
    verdict = "held" if holds(cause.interval, gain) else "missed"
    return Told(verdict, gain, cause.interval)


def line_table(worlds: int) -> None:
    print(f"{'record':10} {'noise':>6}  " + "  ".join(f"{name:>15}" for name in QUANTITIES))
    for design in DESIGNS:
        for noise in NOISE:
            found = [held(design, noise, seed) for seed in range(worlds)]
            shares = [sum(one[name] for one in found) / worlds for name in QUANTITIES]
            print(f"{design:10} {noise:>6.0%}  " + "  ".join(f"{s:>15.1%}" for s in shares))


def counted(name: str, noise: float, design: str, worlds: int) -> dict[str, Any]:
    """Of one machine: how many of `worlds` held, missed, were refused; the gain, and the width."""
    machine = (MACHINES | OTHERS)[name]
    found = [told(machine, noise, seed, design) for seed in range(worlds)]
    widths = [one.interval.width for one in found if one.interval]
    return {
        "kind": "calibration", "record": design, "machine": name, "noise": noise, "runs": worlds,
        **{head: sum(one.verdict == head for one in found) for head in VERDICTS},
        "gain": float(np.median([one.truth for one in found])),
        "width": float(np.median(widths)) if widths else None,
    }  # fmt: skip


def machine_table(worlds: int, design: str, output: Path) -> None:
    """All machines; those that the file holds are not run again."""
    heads = ("noise", *VERDICTS, "gain", "width")
    print(f"\n{design:15}" + "".join(f"{head:>10}" for head in heads))
    key = ("record", "machine", "noise", "runs")
    there = list(records.read(output)) if output.exists() else []
    known = {tuple(one[name] for name in key): one for one in there}
    for name in MACHINES | OTHERS:
        for noise in NOISE[1:]:
            line = known.get((design, name, noise, worlds))
            if line is None:
                line = counted(name, noise, design, worlds) | {"environment": environment()}
                records.append(output, line)
            said = "".join(f"{line[head]:>10}" for head in VERDICTS)
            width = np.nan if line["width"] is None else line["width"]
            print(f"{name:15}{noise:>10.0%}{said}{line['gain']:>10.0%}{width:>10.0%}", flush=True)


def environment() -> dict[str, Any]:
    known = records.environment()
    return {name: known[name] for name in ("date", "python", "commit")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300, help="of each line (300)")
    parser.add_argument("--machines", type=int, default=60, help="runs of each machine (60)")
    parser.add_argument("--records", nargs="+", choices=DESIGNS, default=list(DESIGNS)[:2])
    parser.add_argument("--output", type=Path, default=Path("calibration.jsonl"))
    given = parser.parse_args()
    if given.worlds:
        line_table(given.worlds)
    for design in given.records:
        machine_table(given.machines, design, given.output)


if __name__ == "__main__":
    main()
