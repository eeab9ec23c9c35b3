"""What the doctor says of a planted run, beside what happened when the cause was taken out.

    a stack, causes  ->  one line of records a cell: verdict, share, gain, both with intervals

The runs of a cell take turns, planted and cured, so that what else the machine does meets both. The
doctor reads the planted runs alone; for what has no clock of its own also passes of other sizes: by
a probe, or where a stack allows none, a run with other rows, as the doctor itself asks for.

Words
    named     the doctor names the cause; `refused` if it tells no gain, `open` if it says that only
              an experiment would tell, `overlooked` if it says neither
    achieved  the gain in documents a second without the plant; its interval is that of the turns
    worked    the same in seconds in which the process ran: others' turns are not in it
    share     of the time, that the plant took by its own clock; where it has none, by what the
              process ran longer with it, and of waiting for ranks by the gain
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch.distributed as dist

from batchlab import doctor, records
from batchlab.doctor import Diagnosis
from benchmarks.stacks_plants import STEPS, WAYS, Timed, Way

__all__ = ["cells", "judged", "told"]

OUTSIDE = ("evaluation", "saving")  # of no step
PRICED = ("padding", "launch", "recomputation")  # told by passes of other sizes
OTHER_ROWS = (2, 4)
Run = Callable[[Way, Path], Timed]


def cells(
    run: Run, causes: Sequence[str], folder: Path, *, rounds: int, probes: bool
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Run all causes in turns, and judge each."""
    ways = WAYS | getattr(run, "ways", {})  # where a cause is planted otherwise
    pairs = {cause: ways[cause] for cause in causes}
    every = dict.fromkeys(way for pair in pairs.values() for way in pair)
    names = {way: folder / f"{number}.jsonl" for number, way in enumerate(every)}
    run(Way(), folder / "warm.jsonl")
    for way, path in names.items():
        if way in [planted for cause, (planted, _) in pairs.items() if cause in PRICED]:
            for one in others(way, probes):
                run(one, path)
    took: dict[Way, list[Timed]] = {way: [] for way in every}
    for _ in range(rounds):
        for way, path in names.items():
            took[way].append(run(way, path))
    if dist.is_initialized():
        dist.barrier()  # each rank writes its own file
    for cause, (planted, cured) in pairs.items():
        yield {"cause": cause} | judged(
            cause, planted, visits(names[planted]), took[planted], took[cured]
        )


def others(way: Way, probes: bool) -> list[Way]:
    """Runs that tell the prices of the passes apart."""
    if probes:
        return [Way(**vars(way) | {"probe": True})]
    return [way.at(rows) for rows in OTHER_ROWS if rows != way.rows]


def visits(path: Path) -> list[records.Cell]:
    return [cell for one in records.files_of(path) for cell in records.read(one).cells()]


def judged(
    cause: str, way: Way, cells: Sequence[records.Cell], planted: Sequence[Timed],
    cured: Sequence[Timed],
) -> dict[str, Any]:  # fmt: skip
    """The line of one cell, without its place in the table."""
    pairs = list(zip(planted, cured, strict=True))
    turns = [a.seconds / b.seconds - 1 for a, b in pairs]
    worked = [a.ran / b.ran - 1 for a, b in pairs]
    before, after = sum(one.seconds for one in planted), sum(one.seconds for one in cured)
    achieved, spent = before / after - 1, sum(one.spent for one in planted)
    ran = sum(one.ran for one in planted)
    share = spent / before if spent else (ran - sum(one.ran for one in cured)) / before
    if cause == "away":
        share = 1 - ran / before  # whoever had the cores
    if cause == "waiting":
        share = achieved / (1 + achieved)
    if cause == "launch":
        share *= 2  # twice the rows share the same launches
    found = {
        "achieved": achieved, "achieved_low": min(turns), "achieved_high": max(turns),
        "worked": ran / sum(one.ran for one in cured) - 1,
        "worked_low": min(worked), "worked_high": max(worked), "share": share, "ran": ran / before,
        "step_seconds": before / len(planted) / (STEPS - 1),
    }  # fmt: skip
    return found | told(cause, doctor.diagnose(cells, rows=rows_of(way, cells)))


def rows_of(way: Way, cells: Sequence[records.Cell]) -> int:
    """The rows of the planted runs as the record counts them: a pair is two, a flat row one."""
    own = [cell.rows for cell in cells if cell.source != "probe"]
    return max(own) if way.rows != 1 else min(own)


def told(cause: str, said: Diagnosis) -> dict[str, Any]:
    """What the doctor says of one cause, and which others it names."""
    others = [one.name for one in said.causes if one.name not in (cause, "saturation")]
    named = next((one for one in said.causes if one.name == cause), None)
    verdict = "named" if named else "overlooked"
    if cause in [part.cause for part in said.possible]:
        verdict = "open"
    found: dict[str, Any] = {"others": others}
    if cause not in OUTSIDE:
        part, step = said.of_cause(cause), said.step_seconds
        found |= _ends("said", part.seconds, part.interval, lambda seconds: seconds / step)
    if named and named.refused:
        verdict = "refused"
    elif named:
        found |= _ends("gain", named.gain, named.interval, float)
        if cause in OUTSIDE:
            found |= _ends("said", named.gain, named.interval, lambda gain: gain / (1 + gain))
    return {"verdict": verdict} | found


def _ends(
    name: str, value: float, interval: doctor.Interval | None, unit: Callable[[float], float]
) -> dict[str, float]:
    """A number with its interval, where it has one."""
    found = {name: unit(value)}
    if interval:
        found |= {f"{name}_low": unit(interval.low), f"{name}_high": unit(interval.high)}
    return found
