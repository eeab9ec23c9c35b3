"""Prices by least squares: none negative, every list of them that explains the steps as well.

    Steps  ->  Estimate: prices, and what they would have been with other luck

Three prices, so every subset is tried: the solutions of the subsets are the corners of all that
fits. Where a design cannot tell two prices apart (rows all of one length: slots and pairs grow
together), several corners explain the steps equally well, and all of them are kept.

Other luck is a wild bootstrap: sizes stay, and the residuals of each block are given back with a
random factor. Its mean is 0 and its variance that of Student's t for so many blocks, so that few
blocks make wide intervals. Visits have a luck of their own (in `cpu_sweep` 13 %, its steps 6 %):
a setting that was visited once cannot tell it, and it is taken to be that of the steps.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batchlab.doctor._steps import Floats, Steps

__all__ = ["Estimate", "estimate", "redrawn", "solutions", "sums"]

SHARES = np.linspace(0.0, 0.8, 81)  # of recomputation, tried where cells differ in it
ALIKE = 1e-9  # of the squares: solutions that explain the steps equally well
SINGULAR = 1e-10  # determinant of a correlation matrix: prices that cannot be told apart
OUTLIER = 4.5  # medians of the absolute error, 3 standard deviations of a normal one
PASSES = 3
MOST_PULL = 0.9  # of a block on its own prediction, that is corrected
ASSUMED_NOISE = 0.05  # of a step, where no step repeats another; rounds of `cpu_sweep` differ so
PRICES = 3


@dataclass(frozen=True)
class Estimate:
    """The prices behind some steps, and what they leave."""

    corners: Floats  # (k, 3): every list of prices that explains the steps equally well
    share: float  # of recomputation
    weight: Floats  # (n,) seconds: what an error of a step is measured in
    kept: Floats  # (n,) 1, or 0 for a step that no price explains
    error: Floats  # (n,) predicted - measured, over the weight

    @property
    def prices(self) -> Floats:
        return np.asarray(self.corners.mean(axis=0))


def estimate(steps: Steps, shares: Sequence[float]) -> Estimate:
    """Find the prices that explain the steps best; errors count relative to the step."""
    weight, kept = np.maximum(steps.seconds, steps.doubt), np.ones(len(steps.seconds))
    least = 1e-3 * float(np.median(weight))
    for _ in range(PASSES):
        right = [_right(steps, part, steps.seconds, weight, kept) for part in _kinds(steps)]
        corners, share = next(_best(_grams(steps, weight, kept), right, shares))
        predicted = _rate(steps, share) * (steps.size @ corners.mean(axis=0))
        error = (predicted - steps.seconds) / weight
        usual = max(OUTLIER * float(np.median(np.abs(error))), 0.02)
        within = (np.abs(error) <= usual).astype(float)  # a pause of the host is not a price
        kept = within if within.sum() >= 2 * PRICES else np.ones_like(within)
        # a measured time as weight would favour the steps that were lucky
        found, weight = (corners, share, weight, kept, error), np.maximum(predicted, steps.doubt)
        weight = np.maximum(weight, least)
    return Estimate(*found)


def redrawn(
    steps: Steps, found: Estimate, shares: Sequence[float], draws: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, float]]:
    """Corners and share of recomputation of each draw: what other luck would have found."""
    rate = _rate(steps, found.share)
    predicted = rate * (steps.size @ found.prices)
    residual, block = steps.seconds - predicted, steps.block
    weighted = steps.size * (found.kept / found.weight**2)[:, None]
    grams = _grams(steps, found.weight, found.kept)
    whole = grams[0] + (1 + found.share) ** 2 * grams[1]
    blocks = len(np.unique(block[found.kept > 0]))
    freedom: float = blocks - int(np.linalg.matrix_rank(_scaled(whole)[0])) - (len(shares) > 1)
    if freedom < 1:  # nothing repeats: the steps themselves cannot tell their noise
        residual, block = ASSUMED_NOISE * found.weight, np.arange(len(residual))
        luck = rng.standard_normal((draws, len(residual)))
    else:
        luck = rng.standard_normal((draws, block.max() + 1))
        spread = sums((weighted * (rate**2)[:, None])[:, :, None] * steps.size[:, None, :], block)
        freedom = min(freedom, _effective(spread, whole))
        luck *= np.sqrt(freedom / rng.chisquare(freedom, (draws, 1)))
    noise = float(np.sqrt(np.mean(found.error[found.kept > 0] ** 2)))
    visits = rng.standard_normal((draws, steps.lone.max() + 1))
    right = []
    for part in _kinds(steps):
        own = weighted * part[:, None]
        scores = sums(own * residual[:, None], block)
        if freedom >= 1:
            each = (own * (rate**2)[:, None])[:, :, None] * steps.size[:, None, :]
            scores = _unbiased(scores, sums(each, block), whole)
        shaken = luck @ scores + visits @ sums(own * (noise * predicted)[:, None], steps.lone)
        right.append(_right(steps, part, predicted, found.weight, found.kept) + shaken)
    yield from _best(grams, right, shares)


def sums(values: Floats, group: NDArray[np.int64]) -> Floats:
    """The sum of the rows of each group, from 0 on; a group below 0 counts nowhere."""
    found = np.zeros((group.max() + 1, *values.shape[1:]))
    np.add.at(found, group[group >= 0], values[group >= 0])
    return found


def _kinds(steps: Steps) -> tuple[Floats, Floats]:
    """Which steps compute once, and which compute their activations twice."""
    return (~steps.recomputed).astype(float), steps.recomputed.astype(float)


def _rate(steps: Steps, share: float) -> Floats:
    return 1 + share * steps.recomputed.astype(float)


def _grams(steps: Steps, weight: Floats, kept: Floats) -> list[Floats]:
    return [
        (steps.size * (part * kept / weight**2)[:, None]).T @ steps.size for part in _kinds(steps)
    ]


def _right(steps: Steps, part: Floats, seconds: Floats, weight: Floats, kept: Floats) -> Floats:
    """(1, 3) right side of the normal equations, of one kind of steps."""
    return np.asarray((part * kept * seconds / weight**2) @ steps.size)[None, :]


def _effective(each: Floats, gram: Floats) -> float:
    """How many blocks decide the price that the fewest decide (Satterthwaite's count)."""
    correlation, scale = _scaled(gram)
    inverse = np.linalg.pinv(correlation, rcond=1e-9) / np.outer(scale, scale)
    shares = np.einsum("ij,bjk,ki->bi", inverse, each, inverse)
    several: Floats = shares.sum(axis=0) ** 2 / np.maximum((shares**2).sum(axis=0), 1e-300)
    return max(1.0, float(several[several > 0].min(initial=np.inf)))


def _unbiased(scores: Floats, each: Floats, gram: Floats) -> Floats:
    """The scores of the blocks as they would be, had each block not pulled its own prediction.

    `each` (blocks, 3, 3) are the blocks' shares of `gram`: the jackknife's correction (CR3), short
    of a block that alone decides a price.
    """
    correlation, scale = _scaled(gram)
    inverse = np.linalg.pinv(correlation, rcond=1e-9) / np.outer(scale, scale)
    pull = np.eye(PRICES) - MOST_PULL * each @ inverse
    return np.asarray(np.linalg.solve(pull, scores[:, :, None])[:, :, 0])


def _scaled(gram: Floats) -> tuple[Floats, Floats]:
    """The matrix with ones on its diagonal, and the scale of each column."""
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1.0
    return gram / np.outer(scale, scale), scale


def _best(
    grams: Sequence[Floats], right: Sequence[Floats], shares: Sequence[float]
) -> Iterator[tuple[Floats, float]]:
    """For each row of the right sides: the corners at the share that explains most, and it."""
    explained, corners = [], []
    for share in shares:
        rate = 1 + share
        more, found = solutions(grams[0] + rate**2 * grams[1], right[0] + rate * right[1])
        explained.append(more)
        corners.append(found)
    every = np.array(explained)  # (shares, subsets, rows)
    chosen = every.max(axis=1).argmax(axis=0)
    for row, at in enumerate(chosen):
        of_subsets = every[at, :, row]
        alike = of_subsets >= of_subsets.max() * (1 - ALIKE)
        yield corners[at][alike, row], float(shares[at])


def solutions(gram: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The solution of every subset of prices: what it explains (-inf: not allowed), and it."""
    correlation, scale = _scaled(gram)
    wanted = right / scale
    explained, found = [np.zeros(len(right))], [np.zeros_like(right)]
    count = len(gram)
    for size in range(1, count + 1):
        for subset in itertools.combinations(range(count), size):
            inside = list(subset)
            part = correlation[np.ix_(inside, inside)]
            if np.linalg.det(part) <= SINGULAR:
                continue
            prices = np.linalg.solve(part, wanted[:, inside].T).T
            allowed = (prices >= 0).all(axis=1)
            explains = (prices * wanted[:, inside]).sum(axis=1)
            explained.append(np.where(allowed, explains, -np.inf))
            full = np.zeros_like(right)
            full[:, inside] = prices
            found.append(full / scale)
    return np.array(explained), np.array(found)
