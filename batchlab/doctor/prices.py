"""What one step costs: a fixed part per micro-batch, a part per slot, a part per attention pair.

    cell records  ->  StepCost  ->  seconds of a step that was never run

The time that forward and backward passes take is, to a good approximation, a sum

    fixed * micro-batches  +  slot * slots  +  pair * attention pairs  (+ recomputation)

with four prices that belong to one model on one device. The prices are never negative, so they
are found by non-negative least squares on every measured step, each weighted by its own time
(an error of 3 % counts the same in a short step and in a long one). Records hold the side parts
(input, host, optimizer) as sums, so a step's own share of them is known on average only: where
they are longer than what is left, they are the weight. Else the few steps that happened to stall
least would say what all cost.

Words
    cell    one setting of a sweep, measured over several steps (see `records`)
    slot    one cell of the rectangle, real or padding
    pair    one (query, key) position that attention computed, masked or not
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from batchlab.records import Cell

__all__ = ["RECOMPUTE_SHARE", "StepCost", "fit", "merge"]

# Full recomputation runs the forward pass once more; forward : backward = 1 : 2 in FLOPs, so it
# adds a third (Korthikanti et al. 2023 measured +39 % on one layer, +29 to 32 % end to end).
RECOMPUTE_SHARE = 1 / 3

LONG_SHARE = 0.05  # a shorter part of a step is not worth a word


@dataclass(frozen=True)
class StepCost:
    """Prices of forward and backward, in seconds, and how well they explain the steps."""

    fixed_seconds: float  # per micro-batch: launches, Python, small kernels
    slot_seconds: float
    pair_seconds: float
    recompute_share: float  # added to slots and pairs when activations are recomputed
    recompute_is_fitted: bool  # False: no cell without checkpointing to compare with
    relative_error: float  # median of |predicted - measured| / weight over the steps
    steps: int

    def seconds(
        self, *, micro_batches: float, slots: float, pairs: float, checkpointing: bool = False
    ) -> float:
        """Forward and backward seconds of such a step."""
        rate = 1 + self.recompute_share * checkpointing
        return self.fixed_seconds * micro_batches + rate * (
            self.slot_seconds * slots + self.pair_seconds * pairs
        )


def merge(visits: Iterable[Cell]) -> list[Cell]:
    """Add the finished visits of each setting together; of one that never finished, keep the first.

    Visits of another model, data set or accumulation are another cell, never added to this one.
    """
    groups: dict[object, list[Cell]] = {}
    for visit in visits:
        groups.setdefault(visit.setting, []).append(visit)
    return [
        reduce(add, [visit for visit in group if visit.finished] or group[:1])
        for group in groups.values()
    ]


def fit(cells: Iterable[Cell]) -> StepCost:
    """Find the prices that explain the measured steps of `cells` best.

    At least three different sizes are needed: fewer cannot tell a fixed cost from a cost per slot.
    """
    cells = list(cells)
    # More accumulation takes more of the same: it tells no fixed cost from a cost per slot.
    sizes = {slots * c.steps / c.micro_batches for c in cells for slots in _slots_of(c)}
    if len(sizes) < 3:
        raise ValueError(
            f"micro-batches of {len(sizes)} {'size' if len(sizes) == 1 else 'sizes'}; at least 3 "
            "are needed to tell fixed cost from cost per slot: measure more values of rows into "
            f"the same file{_already_known(cells)}"
        )
    with_recompute = [cell for cell in cells if cell.checkpointing]
    contrast = 0 < len(with_recompute) < len(cells)
    share = _recompute_share(cells) if contrast else RECOMPUTE_SHARE
    features, wanted = _observations(cells, share)
    prices = _non_negative(features, wanted)
    error = np.abs(features @ prices - wanted)
    kept = error <= max(3 * float(np.median(error)), 0.02)  # a pause of the host is not a price
    if kept.sum() >= 2 * features.shape[1]:
        prices = _non_negative(features[kept], wanted[kept])
        error = np.abs(features @ prices - wanted)
    fixed, slot, pair = (float(price) for price in prices)
    return StepCost(fixed, slot, pair, share, contrast, float(np.median(error)), len(wanted))


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


def _observations(cells: list[Cell], recompute_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Micro-batches, slots and pairs of each step, and its forward and backward seconds.

    Both divided by the weight of the step.
    """
    features, wanted = [], []
    for cell in cells:
        steps = cell.steps
        side = cell.parts.total_seconds / steps
        rate = 1 + recompute_share * bool(cell.checkpointing)
        each = cell.step_seconds or [cell.seconds / steps] * steps
        slots = _slots_of(cell)
        pairs = cell.step_slot_pairs or [cell.slot_pairs / steps] * steps
        micro = cell.micro_batches / steps
        for step_seconds, step_slots, step_pairs in zip(each, slots, pairs, strict=True):
            work = np.array([micro, rate * step_slots, rate * step_pairs], dtype=float)
            own = step_seconds - side  # below 0 where side parts vary: kept, so as not to lean
            weight = max(own, side)
            if weight > 0:
                features.append(work / weight)
                wanted.append(own / weight)
    if max(wanted, default=0.0) <= 0:
        raise ValueError("no step is longer than its own input, optimizer and host seconds")
    return np.array(features), np.array(wanted)


def _slots_of(cell: Cell) -> Sequence[float]:
    return cell.step_slots or [cell.slots / cell.steps] * cell.steps


def _recompute_share(cells: list[Cell]) -> float:
    """The share that makes cells with and without recomputation agree best."""
    tried = np.linspace(0.0, 0.8, 81)

    def misfit(share: float) -> float:
        features, wanted = _observations(cells, share)
        return float(np.abs(features @ _non_negative(features, wanted) - wanted).mean())

    return float(min(tried, key=misfit))


def _non_negative(features: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Non-negative least squares: with three prices, try every subset."""
    scale = np.abs(features).max(axis=0)
    scale[scale == 0] = 1.0
    best, least = np.zeros(features.shape[1]), float((wanted**2).sum())
    for size in range(1, features.shape[1] + 1):
        for chosen in itertools.combinations(range(features.shape[1]), size):
            part = (features / scale)[:, chosen]
            found = np.linalg.lstsq(part, wanted, rcond=None)[0]
            misfit = float(((part @ found - wanted) ** 2).sum())
            if (found >= 0).all() and misfit < least:
                best, least = np.zeros(features.shape[1]), misfit
                best[list(chosen)] = found
    prices: np.ndarray = best / scale
    return prices
