"""What real GPU runs say in single lessons: four more questions, and what a choice of devices lost.

name of a question  ->  Asked: what is known before, the truth, the rows that show it

pipeline  lesson 15: 405B, fewer micro-batches behind one layout
spread    lesson 14: 8B, the spread over seeds at a larger batch
ramp      lesson 16: 8B, a batch that grows along two measured curves
choice    lesson 18: 8B, the fastest run for a budget of device-hours
"""

from collections.abc import Callable, Sequence
from statistics import mean

import numpy as np

from batchlab import noise, records, report, units
from batchlab.classroom.real_runs import FLORIDA, Asked

__all__ = ["BUDGET", "QUESTIONS", "asked", "lost"]

BUDGET = 20.0  # device-hours
GROWN_AT = 4.0  # nats, in lesson 16
FEW, MANY = 16, 64  # sequences a step, in lesson 16


def asked(name: str) -> Asked:
    """Return one of `QUESTIONS`.

    >>> one = asked("pipeline")
    >>> round(one.known), round(one.truth), one.unit
    (743, 694, 'tokens per second and device')
    """
    if name not in QUESTIONS:
        raise ValueError(f"no question {name!r:.40}; there are {', '.join(QUESTIONS)}")
    return QUESTIONS[name]()


def lost(devices: int, batch: int, *, budget: float = BUDGET) -> tuple[float, float]:
    """Return the minutes behind the best recorded choice, and the device-hours over the budget.

    The choices are the 8B runs on B200. Of several submissions with the same devices and batch the
    fastest counts; what nobody ran is refused with what there is.

    >>> lost(64, 32)
    (0.0, 0.0)
    """
    _, some = _choices()
    mine = [one for one in some if (one.devices, one.batch) == (devices, batch)]
    if not mine:
        known = sorted({(one.devices, one.batch) for one in some})
        told = ", ".join(f"{n} with {b}" for n, b in known)
        raise ValueError(f"nobody ran {devices} devices with a batch of {batch}; there are {told}")
    best = min(_minutes(one) for one in some if _hours(one) <= budget)
    fastest = min(mine, key=_minutes)
    return _minutes(fastest) - best, max(0.0, _hours(fastest) - budget)


def _pipeline() -> Asked:
    """405B on GB200: one layout, from 112 to 32 micro-batches a replica."""
    found = records.public_runs(benchmark="llama31_405b", device="GB200", round="5.0")
    some = [one for one in found.submissions if one.submitter == "IBM+CoreWeave+NVIDIA"]
    some.sort(key=lambda one: one.devices)
    length = found.benchmarks["llama31_405b"].length or 0
    speeds = [(one.samples_per_second or 0) * length / one.devices for one in some]
    lines = [
        (one, [f"{one.batch:,}", one.accumulation, _minutes_said(one), f"{speed:.0f}"])
        for one, speed in zip(some, speeds, strict=True)
    ]
    heads = ["batch", "micro-batches", "minutes", "tokens/s a device"]
    table = report.public_table(found, lines, heads)
    said = (
        "7 % less. Eight stages that each hold one piece of the model would be idle for 7 of 119 "
        "turns with 112 micro-batches, and for 7 of 39 with 32: 13 % less. These runs cut the "
        "stages finer (interleaved), so the bubble is smaller. The minutes fall to a quarter with "
        "4.9 times the devices."
    )
    unit = "tokens per second and device"
    return Asked("15-pipeline", unit, speeds[0], speeds[-1], table, said)


def _spread() -> Asked:
    """8B: the spread of the samples over 20 seeds, by batch."""
    found = records.public_runs(benchmark="llama31_8b", round="5.1")
    fit = noise.fit_critical(found.seeds())
    lines = [
        (
            [one for one in found.references if one.batch == batch],
            [batch, f"{share:.1%}", fit.seeds[batch]],
        )
        for batch, share in fit.spreads.items()
    ]
    table = report.public_table(found, lines, ["batch", "spread of the samples", "seeds"])
    said = (
        "It grows. A larger batch has less noise in each gradient. But a run of it takes fewer "
        "steps, at a higher rate, and here its samples to the target differ more from seed to "
        "seed. Why, these runs do not say. Whoever compares two large batches needs more seeds, "
        "not fewer."
    )
    first, last = (100 * fit.spreads[batch] for batch in (min(fit.spreads), max(fit.spreads)))
    return Asked("14-spread", "% of the mean, at a batch of 128", first, last, table, said)


def _ramp() -> Asked:
    """8B: from 16 to 64 sequences a step at a loss of 4, on measured curves."""
    found = records.public_runs(benchmark="llama31_8b", device="B200", round="5.1")
    target = found.benchmarks["llama31_8b"].target
    some = [one for one in found.curves if one.run.submitter == FLORIDA]
    few = [one for one in some if one.run.batch == FEW and one.run.devices == 8]
    many = [one for one in some if one.run.batch == MANY]
    lines, seen = [], []
    for batch, curves in ((FEW, few), (MANY, many)):
        owner = next(one for one in found.submissions if one.submission == curves[0].run.submission)
        early, end = (_samples_at(curves, loss) for loss in (GROWN_AT, target))
        cells = [round(early), round(end), round(end / batch)]
        lines.append((owner, [batch, f"{owner.rate:g}", *map(units.count, cells)]))
        seen.append((early, end))
    heads = ["batch", "rate", "samples to a loss of 4", "samples to the target", "steps"]
    table = report.public_table(found, lines, heads)
    (early, small), (late, large) = seen
    samples, steps = early + large - late, early / FEW + (large - late) / MANY
    said = (
        f"{round(early):,} / {FEW} + ({round(large):,} - {round(late):,}) / {MANY} = "
        f"{round(steps):,} steps. From {FEW} to {MANY} sequences at a loss of 4: "
        f"{1 - steps * FEW / small:.0%} of the "
        f"steps of batch {FEW} are saved, for {samples / small - 1:.0%} more samples. "
        f"Beside {MANY} throughout it is {round(steps - large / MANY):,} steps more, and "
        f"{1 - samples / large:.0%} of the samples fewer. That is no run: two measured "
        "curves are joined where their loss is 4, as if the loss alone decided how training goes "
        "on. The two runs differ in rate and devices as well."
    )
    return Asked("16-ramp", "steps with growth", small / FEW, steps, table, said)


def _choice() -> Asked:
    """8B on B200: the fastest run within the budget."""
    found, some = _choices()
    some = sorted(some, key=lambda one: (one.devices, _minutes(one)))
    lines = [
        (one, [one.batch, one.precision or "", _minutes_said(one), f"{_hours(one):.1f}"])
        for one in some
    ]
    heads = ["batch", "matrix products", "minutes", "device-hours"]
    table = report.public_table(found, lines, heads)
    within = [_minutes(one) for one in some if _hours(one) <= BUDGET]
    said = (
        "64 devices with a batch of 32, below the critical batch of 79. 128 devices save 6 more "
        "minutes and cost 5 device-hours more; 32 devices with a batch of 32 take 10 minutes more "
        "and cost a quarter less. Those of 8 devices are the cheapest, and the slowest."
    )
    slowest = max(_minutes(one) for one in some if one.devices == 8)
    unit = f"minutes, within {BUDGET:g} device-hours"
    return Asked("18-choice", unit, slowest, min(within), table, said)


QUESTIONS: dict[str, Callable[[], Asked]] = {
    "pipeline": _pipeline,
    "spread": _spread,
    "ramp": _ramp,
    "choice": _choice,
}


def _choices() -> tuple[records.PublicRuns, list[records.Submission]]:
    found = records.public_runs(benchmark="llama31_8b", device="B200", round="5.1")
    return found, [one for one in found.submissions if one.minutes is not None]


def _minutes(one: records.Submission) -> float:
    return one.minutes or 0.0


def _hours(one: records.Submission) -> float:
    return one.device_hours or 0.0


def _minutes_said(one: records.Submission) -> str:
    return f"{_minutes(one):#.3g}"


def _samples_at(curves: Sequence[records.Curve], loss: float) -> float:
    """The mean number of samples at which curves first reach a loss, between two evaluations."""

    def reached(one: records.Curve) -> float:
        at = next(i for i, here in enumerate(one.losses) if here <= loss)
        ends = one.losses[at], one.losses[at - 1]
        return float(np.interp(loss, ends, (one.samples[at], one.samples[at - 1])))

    return mean(map(reached, curves))
