"""How far off the time to a target is, foretold for public runs that the fit has not seen.

    public runs  ->  minutes foretold and needed, and the miss of half and of nine in ten

Minutes are samples to the target over samples a second, and the evaluations. Samples are those of
the benchmark's reference runs at this batch, which submitted no time; the speed is that of
`roofline.utilisation`, fitted without the configuration, its model or its device; evaluations take
the share that they took in the other configurations. Derived, verified by nobody.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

import numpy as np

from batchlab import records
from batchlab.roofline import DEVICES, utilisation

__all__ = ["Miss", "time_to_target"]

BEYOND = 1.2  # times the least or the most batch of the references, as far as they are believed


@dataclass(frozen=True)
class Miss:
    """Relative misses of the minutes: of half of the configurations, of nine in ten."""

    configurations: int
    half: float
    nine_in_ten: float
    lean: float  # the middle miss with its sign: below 0 is told too short


@dataclass(frozen=True)
class _Run:
    benchmark: str
    device: str
    told: float  # minutes without evaluations
    needed: float
    evaluations: float  # share of the needed minutes


def time_to_target(*, by: str = "configuration") -> dict[str, Miss]:
    """Return the misses of each benchmark and of "all"; `by` is that of `utilisation.left_out`.

    >>> time_to_target()["llama31_8b"].configurations
    14
    """
    found = _runs(by)
    misses: dict[str, list[float]] = defaultdict(list)
    for one in found:
        others = [
            other.evaluations
            for other in found
            if other is not one
            and (other.benchmark == one.benchmark) == (by != "model")
            and (by != "device" or other.device != one.device)
        ]
        miss = math.log(one.told / (1 - median(others)) / one.needed)
        misses[one.benchmark].append(miss)
        misses["all"].append(miss)
    return {name: _miss(misses[name]) for name in (*sorted(set(misses) - {"all"}), "all")}


def _miss(logs: Sequence[float]) -> Miss:
    half, most = np.expm1(np.quantile(np.abs(logs), [0.5, 0.9]))
    return Miss(len(logs), float(half), float(most), math.expm1(median(logs)))


@cache
def _runs(by: str) -> tuple[_Run, ...]:
    """Each configuration of each round that has references, its minutes told and needed."""
    found = []
    evaluations = _evaluations()
    benchmarks = records.public_runs().benchmarks
    for submissions, share in utilisation.foretold(by=by):
        for round in sorted({one.round for one in submissions}):
            runs = [one for one in submissions if one.round == round and one.minutes]
            if not runs or (samples := _samples(runs[0])) is None:
                continue
            first = runs[0]
            flops = benchmarks[first.benchmark].teraflops
            assert flops is not None, "utilisation asked for it"
            peak = DEVICES[utilisation.NAMES[first.device]].flops_per_second
            minutes = samples * 1e12 * flops / (share * first.devices * peak) / 60
            spent = [part for one in runs for part in evaluations[one.submission]]
            needed = median(one.minutes for one in runs if one.minutes)
            found.append(
                _Run(first.benchmark, first.device, minutes, needed, median(spent))
            )  # fmt: skip
    return tuple(found)


@cache
def _evaluations() -> dict[str, list[float]]:
    """The share of each run's minutes that its evaluations took, by submission."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in records.public_runs().runs:
        if one.minutes:
            found[one.submission].append(one.eval_minutes / one.minutes)
    return found


def _samples(run: records.Submission) -> float | None:
    """Samples to the target at this batch, between the references of its round; None beyond."""
    at = {batch: median(each) for batch, each in _references(run.benchmark, run.round).items()}
    if not at or not min(at) / BEYOND <= run.batch <= max(at) * BEYOND:
        return None
    batches = sorted(at)
    logs = np.interp(math.log(run.batch), np.log(batches), np.log([at[one] for one in batches]))
    return math.exp(float(logs))


@cache
def _references(benchmark: str, round: str) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for one in records.public_runs(benchmark=benchmark).references:
        if round in one.rounds.split():
            found[one.batch].append(one.samples)
    return found
