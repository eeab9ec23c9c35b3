"""What one step costs: a fixed part per micro-batch, a part per slot, a part per attention pair.

    cell records  ->  StepCost  ->  seconds of a step that was never run
    cell records  ->  Draws: the price lists that other luck would have found

The time that forward and backward passes take is, to a good approximation, a sum

    fixed * micro-batches  +  slot * slots  +  pair * attention pairs

with prices that belong to one model on one device, times one plus a share where activations are
recomputed: the forward pass is run again, launches included. The prices are never negative, so
they are found by non-negative least squares on every measured step, each weighted by its own time
(an error of 3 % counts the same in a short step and in a long one). Where records hold the side
parts (input, host, optimizer) as sums only, a step's own share of them is known on average: where
they are longer than what is left, they are the weight. Else the few steps that happened to stall
least would say what all cost.

Words
    cell    one setting of a sweep, measured over several steps (see `records`)
    slot    one cell of the rectangle, real or padding
    pair    one (query, key) position that attention computed, masked or not
    draw    the prices of one resample; several lists where the steps cannot tell them apart
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from batchlab.doctor import _solve, _steps
from batchlab.doctor._steps import PROBE, Floats, Steps
from batchlab.records import Cell

__all__ = [
    "MODELLED_SHARES",
    "PROBE",
    "RECOMPUTE_SHARE",
    "Draws",
    "StepCost",
    "draw",
    "fit",
    "merge",
]

# Full recomputation runs the forward pass once more; forward : backward = 1 : 2 in FLOPs, so it
# adds a third (Korthikanti et al. 2023 measured +39 % on one layer, +29 to 32 % end to end).
RECOMPUTE_SHARE = 1 / 3
MODELLED_SHARES = (0.25, 0.40)  # the same, and 20 % of throughput (Bekman, ml-engineering)

LONG_SHARE = 0.05  # a shorter part of a step is not worth a word
DRAWS = 300
LEAST_SIZES = 3


@dataclass(frozen=True)
class StepCost:
    """Prices of forward and backward, in seconds, and how well they explain the steps."""

    fixed_seconds: float  # per micro-batch: launches, Python, small kernels
    slot_seconds: float
    pair_seconds: float
    recompute_share: float  # added to all three when activations are recomputed
    recompute_is_fitted: bool  # False: no cell without checkpointing to compare with
    relative_error: float  # median of |predicted - measured| / weight over the steps
    steps: int

    def seconds(
        self, *, micro_batches: float, slots: float, pairs: float, checkpointing: bool = False
    ) -> float:
        """Forward and backward seconds of such a step."""
        rate = 1 + self.recompute_share * checkpointing
        return rate * (
            self.fixed_seconds * micro_batches
            + self.slot_seconds * slots
            + self.pair_seconds * pairs
        )


@dataclass(frozen=True)
class Draws:
    """The prices, and what they would have been with other luck."""

    cost: StepCost
    others: tuple[tuple[StepCost, ...], ...]  # one entry a draw: every list that fits it as well
    sizes: int  # of micro-batches, behind them
    steps: _steps.Steps | None = None  # behind them; None where no step has time of its own
    found: _solve.Estimate | None = None


def merge(visits: Iterable[Cell]) -> list[Cell]:
    """Add the finished visits of each setting together; of one that never finished, keep the first.

    Visits of another model, data set or accumulation are another cell, never added to this one;
    nor are those of a probe, which take no optimizer step.
    """
    groups: dict[object, list[Cell]] = {}
    for visit in visits:
        groups.setdefault((visit.setting, visit.source == PROBE), []).append(visit)
    return [
        reduce(add, [visit for visit in group if visit.finished] or group[:1])
        for group in groups.values()
    ]


def fit(cells: Iterable[Cell]) -> StepCost:
    """Find the prices that explain the measured steps of `cells` best.

    At least three different sizes are needed: fewer cannot tell a fixed cost from a cost per slot.
    """
    cells = list(cells)
    steps = _steps.of(cells)
    if not len(steps.seconds) or steps.seconds.max() <= 0:
        raise ValueError("no step is longer than its own input, optimizer and host seconds")
    if steps.sizes < LEAST_SIZES:
        raise ValueError(
            f"micro-batches of {steps.sizes} {'size' if steps.sizes == 1 else 'sizes'}; at least "
            f"{LEAST_SIZES} are needed to tell fixed cost from cost per slot: measure more values "
            f"of rows into the same file{_already_known(cells)}"
        )
    return _cost(steps, _solve.estimate(steps, _shares(steps)))


def draw(visits: Iterable[Cell], *, most_fixed: float | None = None, draws: int = DRAWS) -> Draws:
    """Find the prices and what `draws` resamples of the steps would have found, of any sizes.

    Give the visits as they were recorded: rounds that differ say more than steps that do not.
    `most_fixed` is a bound, in seconds, on the fixed cost of a micro-batch that is known from
    elsewhere. Where no step has time of its own, all prices are 0.
    """
    steps = _steps.of(visits)
    if not len(steps.seconds) or steps.seconds.max() <= 0:
        return Draws(StepCost(0.0, 0.0, 0.0, RECOMPUTE_SHARE, False, 0.0, 0), (), 0)
    shares = _shares(steps)
    found = _solve.estimate(steps, shares)
    modelled = MODELLED_SHARES if steps.recomputed.all() else None
    others = []
    for corners, share in _solve.redrawn(steps, found, shares, draws, np.random.default_rng(0)):
        lists = [
            StepCost(fixed, slot, pair, one, len(shares) > 1, 0.0, len(steps.seconds))
            for one in modelled or (share,)
            for fixed, slot, pair in (
                _below(corners, most_fixed) * (1 + share) / (1 + one)
            ).tolist()
        ]
        others.append(tuple(lists))
    return Draws(_cost(steps, found, most_fixed), tuple(others), steps.sizes, steps, found)


def _shares(steps: Steps) -> Sequence[float]:
    """The shares of recomputation to try: one, where no cell tells another."""
    contrast = 0 < steps.recomputed.sum() < len(steps.recomputed)
    return _solve.SHARES.tolist() if contrast else [RECOMPUTE_SHARE]


def _cost(steps: Steps, found: _solve.Estimate, most_fixed: float | None = None) -> StepCost:
    fixed, slot, pair = _below(found.corners, most_fixed).mean(axis=0).tolist()
    contrast = len(_shares(steps)) > 1
    error = float(np.median(np.abs(found.error[found.kept > 0])))
    return StepCost(fixed, slot, pair, found.share, contrast, error, len(steps.seconds))


def _below(corners: Floats, most_fixed: float | None) -> Floats:
    """The corners of the same price lists with no fixed cost above a bound."""
    if most_fixed is None or (corners[:, 0] <= most_fixed).all():
        return corners
    below = corners[corners[:, 0] <= most_fixed]
    if not len(below):
        return corners  # the steps say otherwise
    cut = [
        one + (most_fixed - one[0]) / (other[0] - one[0]) * (other - one)
        for one in below
        for other in corners[corners[:, 0] > most_fixed]
    ]
    return np.concatenate([below, np.array(cut)])


def _already_known(cells: list[Cell]) -> str:
    """The side parts that are long: they are measured, and need no prices."""
    total = sum(cell.seconds for cell in cells)
    parts = reduce(add, (cell.parts for cell in cells)).items()
    long = [
        f"{name} {100 * seconds / total:.0f} %"
        for name, seconds in sorted(parts, key=lambda part: -part[1])
        if seconds / total >= LONG_SHARE
    ]
    return f" (known already, of these steps: {', '.join(long)})" if long else ""
