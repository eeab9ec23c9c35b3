"""The forms that seconds may have, and the steps that tell which: a line, or two pieces.

    Steps  ->  Data: seconds over those of the line, without outliers
    Data, the cured step  ->  Form: what each of its prices is paid for

A record knows the slots of a step, not those of each of its micro-batches. Their spread is told by
how the steps differ: where a piece begins inside the spread, a step holds some of both.

Words
    kink    slots of a micro-batch where a floor ends, or the price of a slot changes
    spread  standard deviation of the micro-batches of a step, over their mean
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from batchlab.doctor import _solve
from batchlab.doctor._solve import Estimate
from batchlab.doctor._steps import Floats, Steps

__all__ = ["Data", "Form", "forms", "relative", "spread_of"]

KINKS = (0.25, 0.5, 0.8, 1.2, 1.8, 2.7)  # over the size of the cured micro-batch
LOW = 0.7  # of that size: a floor that ends below it does not reach the cured step
MOST = 200  # steps; more are averaged with their like
NEAR = 9  # steps of like size, whose median tells an outlier
LEAST_SIDE = 2  # sizes that tell a piece


@dataclass(frozen=True)
class Data:
    """Steps relative to what the line says of them."""

    size: Floats  # (n, 3)
    seconds: Floats  # (n,) over `weight`
    weight: Floats  # (n,)
    visit: Floats  # (n, n) 1 where two steps are of one visit
    spread: Floats  # (n, 2) of the micro-batches of a step: slots, pairs; relative
    visits: int

    @property
    def logs(self) -> Floats:
        return np.asarray(np.log(self.size[:, 1] / self.size[:, 0]))


@dataclass(frozen=True)
class Form:
    """A set of columns whose prices are not negative."""

    name: str
    kink: float = 0.0  # slots; 0: none
    pairs: float = 0.0  # of a micro-batch at the kink of a floor

    def columns(self, size: Floats, spread: Floats) -> Floats:
        """(n, k) what each price is paid for."""
        micro, slots, pairs = size.T
        if not self.kink:
            return size
        low = micro * _below(slots / micro, spread[:, 0], self.kink)
        if not self.pairs:
            return np.stack([micro, low, slots - low, pairs], axis=1)
        over = pairs - micro * _below(pairs / micro, spread[:, 1], self.pairs)
        return np.stack([micro, slots - low, over], axis=1)


def relative(steps: Steps, found: Estimate) -> Data:
    """The steps that are no outliers among steps of like size, averaged where they are many."""
    rate = 1 + found.share * steps.recomputed
    seconds = steps.seconds / rate
    weight = np.maximum(steps.size @ found.prices, steps.doubt)
    weight = np.maximum(weight, 1e-3 * np.median(weight))
    relative, size = seconds / weight, steps.size[:, 1] / steps.size[:, 0]
    order = np.argsort(size, kind="stable")
    usual = np.empty(len(order))
    for at, step in enumerate(order):
        first = max(0, min(at - NEAR // 2, len(order) - NEAR))
        usual[step] = np.median(relative[order[first : first + NEAR]])
    error = np.abs(relative - usual) / np.maximum(usual, 1e-9)
    kept = np.flatnonzero(error <= max(_solve.OUTLIER * float(np.median(error)), 0.02))
    visit = np.where(steps.lone >= 0, -1 - steps.lone, steps.block)
    kept = kept[np.lexsort((size[kept], visit[kept]))]
    spread = np.stack([_spread(steps, 1), _spread(steps, 2)], axis=1)
    each = -(-len(kept) // MOST)
    new = np.diff(visit[kept], prepend=visit[kept][0]) != 0
    group = np.cumsum(new | (np.arange(len(kept)) % each == 0)) - 1
    number = np.bincount(group)

    def mean(values: Floats) -> Floats:
        return np.asarray(_solve.sums(values[kept], group).T / number).T

    visits = np.rint(mean(visit.astype(float)))
    return Data(
        mean(steps.size), mean(seconds) / mean(weight), mean(weight),
        (visits[:, None] == visits[None, :]).astype(float), mean(spread), len(np.unique(visits)),
    )  # fmt: skip


def _spread(steps: Steps, column: int) -> Floats:
    """(n,) how the micro-batches of one step differ, relative: told by how steps of one setting do.

    The mean of m micro-batches varies by a root of m less than they do.
    """
    spread = np.zeros(len(steps.seconds))
    for setting in np.unique(steps.setting):
        own = steps.setting == setting
        micro = steps.size[own][0, 0]
        values = steps.size[own, column]
        if own.sum() > 1 and micro > 1 and values.mean() > 0:
            spread[own] = values.std(ddof=1) / values.mean() * math.sqrt(max(micro - 1, 0))
    return spread


def spread_of(values: Sequence[float] | None, micro: float) -> float:
    """How all micro-batches of a setting differ, relative, within its steps and between them."""
    if values is None or len(values) < 2 or not any(values):
        return 0.0
    return float(np.std(values, ddof=1) / np.mean(values) * math.sqrt(micro))


def _below(mean: Floats, spread: Floats, kink: float) -> Floats:
    """What lies below the kink on average, of sizes that are lognormal."""
    log_variance = np.log1p(spread**2)
    sigma = np.sqrt(np.maximum(log_variance, 1e-12))
    mean = np.maximum(mean, 1e-9)
    z = (math.log(kink) - np.log(mean) + log_variance / 2) / sigma
    return np.asarray(mean * _normal(z - sigma) + kink * (1 - _normal(z)))


def _normal(z: Floats) -> Floats:
    return np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in z])


def forms(data: Data, targets: Floats) -> list[Form]:
    """The line, and two pieces for each kink that has at least two sizes on either side."""
    logs = data.logs
    pairs = np.log(np.maximum(data.size[:, 2] / data.size[:, 0], 1))
    sizes = np.unique(np.round(logs, 2))  # to a hundredth
    found = [Form("line")]
    if len(sizes) < 2 * LEAST_SIDE:
        return found
    slope, at_zero = np.polyfit(logs, pairs, 1)
    for times in KINKS:
        kink = times * targets[1, 1] / targets[1, 0]
        if LEAST_SIDE <= int((sizes < math.log(kink)).sum()) <= len(sizes) - LEAST_SIDE:
            floor = "low floor" if times < LOW else "floor"
            found += [Form("kink", kink)]
            found += [Form(floor, kink, math.exp(at_zero + slope * math.log(kink)))]
    return found
