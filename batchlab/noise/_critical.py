"""Steps and examples to a target, the four batches that are called critical, and the fastest one.

    {batch: steps to a target}  ->  StepsToTarget  ->  critical batches, seconds to the target

Steps fall as a + b / batch: few examples at small batches, few steps at large ones. Four papers
call four different batches critical; each has its own name here, and they are never mixed.

Words
    batch  sequences (or tokens) of one optimizer step, one unit throughout
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from batchlab.noise._formula import student
from batchlab.units import real

__all__ = ["DEFINITIONS", "StepsToTarget", "TimeToTarget", "fastest", "fastest_batch", "fit_steps",
           "lowest_loss", "more_steps", "same_loss", "twice_the_examples"]  # fmt: skip

DEFINITIONS: Mapping[str, tuple[str, str]] = {  # name: what it is, key of the bibliography
    "twice_the_examples": (
        "the batch that needs twice the fewest examples, and twice the fewest steps",
        "mccandlish2018empirical",
    ),
    "more_steps": (
        "the batch that needs 20 % more steps than perfect scaling from a reference batch",
        "zhang2025critical",
    ),
    "same_loss": (
        "the largest batch whose branched run stays within 0.01 of the loss",
        "merrill2025critical",
    ),
    "lowest_loss": (
        "the batch with the lowest final loss of a fixed model and data: no limit of speed",
        "bergsma2025power",
    ),
}


@dataclass(frozen=True)
class StepsToTarget:
    """steps = least_steps x (1 + critical_batch / batch), with the error of a fit, if any.

    >>> curve = StepsToTarget(least_steps=1000, critical_batch=250)
    >>> curve.steps(25), curve.examples(25), curve.examples(250) / curve.least_examples
    (11000.0, 275000.0, 2.0)
    """

    least_steps: float
    critical_batch: float
    log_error: float = 0.0  # standard error of the logarithm of critical_batch
    worst: float = 0.0  # largest relative miss of the fit
    measured: int = 0  # batches behind the fit

    def __post_init__(self) -> None:
        real(self.least_steps, "least_steps", above=0)
        real(self.critical_batch, "critical_batch", above=0)

    @property
    def least_examples(self) -> float:
        return self.least_steps * self.critical_batch

    def steps(self, batch: float) -> float:
        """Return the steps to the target."""
        return self.least_steps * (1 + self.critical_batch / real(batch, "batch", above=0))

    def examples(self, batch: float) -> float:
        """Return the examples to the target, in the unit of the batch."""
        return self.steps(batch) * batch

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of `critical_batch`; it needs a fit of three batches or more."""
        if self.measured < 3:
            raise ValueError(
                f"{self.measured} batches leave nothing to tell the error from: measure 3 or more"
            )
        factor = math.exp(student(confidence, self.measured - 2) * self.log_error)
        return self.critical_batch / factor, self.critical_batch * factor


def fit_steps(steps: Mapping[int, float]) -> StepsToTarget:
    """Return the curve through {batch: steps to a target}, fitted to the logarithms of steps.

    Relative errors count alike at all batches. At least two batches are needed, three for an error.

    >>> found = fit_steps({25: 11_000, 250: 2_000, 2_500: 1_100})
    >>> round(found.least_steps, 3), round(found.critical_batch, 3)
    (1000.0, 250.0)
    """
    batches = np.array([real(b, "batch", above=0) for b in steps])
    counts = np.array([real(s, "steps", above=0) for s in steps.values()])
    if len(batches) < 2:
        raise ValueError(f"2 batches or more are needed for a curve, got {len(batches)}")
    logs = np.array([math.log(counts.min()), math.log((counts * batches).min())])
    best, damping = _misses(logs, batches, counts), 1e-3
    for _ in range(200):
        model = np.exp(logs[0]) + np.exp(logs[1]) / batches
        slopes = np.stack([np.exp(logs[0]) / model, np.exp(logs[1]) / batches / model], axis=1)
        normal = slopes.T @ slopes
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slopes.T @ best)
        tried = _misses(logs + step, batches, counts)
        if tried @ tried <= best @ best:
            logs, best, damping = logs + step, tried, damping / 10
            if np.abs(step).max() < 1e-12:
                break
        else:
            damping *= 10
    flat = logs[1] - logs[0] - math.log(batches.max()), logs[0] + math.log(batches.min()) - logs[1]
    if max(flat) > math.log(1e4) or damping > 1e12:
        raise ValueError(
            "these steps show no bend: they are one regime only (steps x batch constant, or steps "
            "constant); measure smaller and larger batches"
        )
    spare = max(1, len(batches) - 2)
    covariance = np.linalg.inv(normal) * (best @ best) / spare
    ends = np.array([-1.0, 1.0])
    return StepsToTarget(
        math.exp(logs[0]), math.exp(logs[1] - logs[0]),
        math.sqrt(max(0.0, float(ends @ covariance @ ends))), float(np.abs(np.expm1(best)).max()),
        len(batches),
    )  # fmt: skip


def _misses(logs: np.ndarray, batches: np.ndarray, counts: np.ndarray) -> np.ndarray:
    misses: np.ndarray = np.log(np.exp(logs[0]) + np.exp(logs[1]) / batches) - np.log(counts)
    return misses


def twice_the_examples(curve: StepsToTarget) -> float:
    """Return the critical batch of McCandlish et al. 2018: examples are twice their minimum."""
    return curve.critical_batch


def more_steps(curve: StepsToTarget, *, from_batch: float = 256, share: float = 0.2) -> float:
    """Return the critical batch of Zhang et al. 2025: `share` more steps than perfect scaling.

    Perfect scaling from `from_batch` would divide its steps by the growth of the batch; on the
    curve the batch is (1 + share) x from_batch + share x critical_batch.

    >>> more_steps(StepsToTarget(1293.8, 2190.6))
    745.3199999999999
    """
    share = real(share, "share", above=0)
    return (1 + share) * real(from_batch, "from_batch", above=0) + share * curve.critical_batch


def same_loss(losses: Mapping[int, float], *, reference: float, tolerance: float = 0.01) -> int:
    """Return the critical batch of Merrill et al. 2025: the largest that keeps the loss.

    `losses` are those of runs that branch off one checkpoint with other batches, `reference` the
    loss of the run that they left; every smaller batch must keep it too.

    >>> same_loss({512: 2.501, 1024: 2.503, 2048: 2.508, 4096: 2.53}, reference=2.5)
    2048
    """
    tolerance = real(tolerance, "tolerance", least=0)
    found = None
    for batch in sorted(losses):
        if not losses[batch] <= real(reference, "reference") + tolerance:  # nan as well
            break
        found = batch
    if found is None:
        raise ValueError(
            f"no batch stays within {tolerance:g} of the loss {reference:g}: branch smaller ones"
        )
    if found == max(losses):
        raise ValueError(
            f"all batches up to {found:,} keep the loss: the critical one is larger, branch more"
        )
    return found


def lowest_loss(losses: Mapping[int, float]) -> int:
    """Return the batch of the lowest final loss, {batch: loss}, of a fixed model and data.

    >>> lowest_loss({128: 2.61, 256: 2.58, 512: 2.6})
    256
    """
    if len(losses) < 3 or not all(map(math.isfinite, losses.values())):
        raise ValueError("3 batches or more with finite losses show a lowest one between others")
    best = min(losses, key=lambda batch: losses[batch])
    if best in (min(losses), max(losses)):
        raise ValueError(f"the lowest loss is at {best:,}, the edge of what was measured: go on")
    return best


@dataclass(frozen=True)
class TimeToTarget:
    """Seconds to the target for each measured batch, and which are the fastest."""

    seconds: Mapping[int, float]
    examples_per_second: Mapping[int, float]

    @property
    def batch(self) -> int:
        """The fastest to the target."""
        return min(self.seconds, key=lambda batch: self.seconds[batch])

    @property
    def batch_per_epoch(self) -> int:
        """The fastest per epoch, which says nothing about the target."""
        return max(self.examples_per_second, key=lambda batch: self.examples_per_second[batch])

    @property
    def price(self) -> float:
        """Seconds to the target with the batch that is fastest per epoch / with the fastest."""
        return self.seconds[self.batch_per_epoch] / self.seconds[self.batch]


def fastest(curve: StepsToTarget, step_seconds: Mapping[int, float]) -> TimeToTarget:
    """Return the time to the target on a measured throughput curve {batch: seconds of a step}.

    >>> found = fastest(StepsToTarget(1000, 250), {16: 0.0082, 79: 0.0208, 512: 0.1074})
    >>> found.batch, round(found.seconds[79], 1), found.batch_per_epoch, round(found.price, 2)
    (79, 86.6, 512, 1.85)
    """
    if not step_seconds:
        raise ValueError("no measured steps: give {batch: seconds of a step}")
    timed = {batch: real(s, "seconds of a step", above=0) for batch, s in step_seconds.items()}
    return TimeToTarget(
        {batch: curve.steps(batch) * seconds for batch, seconds in timed.items()},
        {batch: batch / seconds for batch, seconds in timed.items()},
    )


def fastest_batch(
    curve: StepsToTarget, *, fixed_seconds: float, seconds_per_sequence: float
) -> float:
    """Return the batch that is fastest to the target if a step takes fixed + batch x per sequence.

    It is sqrt(critical_batch x fixed / per sequence): more where steps cost much by themselves.

    >>> round(fastest_batch(StepsToTarget(1000, 250), fixed_seconds=5e-3,
    ...                     seconds_per_sequence=2e-4), 3)
    79.057
    """
    fixed = real(fixed_seconds, "fixed_seconds", least=0)
    each = real(seconds_per_sequence, "seconds_per_sequence", above=0)
    return math.sqrt(curve.critical_batch * fixed / each)
