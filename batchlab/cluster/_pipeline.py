"""Devices that wait: for the pipeline to fill, and for the rank with the longest documents.

    stages, micro-batches      ->  Bubble: idle time as a ratio to work and as a share of all
    costs of documents, ranks  ->  Stragglers: how much longer the slowest rank takes than the mean

The bubble is quoted in two ways that differ by half at small sizes: over the ideal time
(Narayanan et al. 2021: (p-1)/m) and over the whole time ((p-1)/(m+p-1)). Both have a name here.

Words
    stages         devices in a row, each with a part of the layers: the pipeline degree
    micro_batches  what flows through the stages behind one optimizer step: the accumulation
    interleaved    parts of the model on each stage; 1 is the plain schedule
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from batchlab.units import whole

__all__ = ["Bubble", "Stragglers", "bubble", "stragglers"]


@dataclass(frozen=True)
class Bubble:
    """Idle time of a pipeline with equal stages, in units of one stage's micro-batch.

    >>> one = bubble(stages=12, micro_batches=24)
    >>> round(one.over_ideal, 3), round(one.share, 3)
    (0.458, 0.314)
    """

    stages: int
    micro_batches: int
    interleaved: int = 1

    @property
    def over_ideal(self) -> float:
        """Idle time over working time: (p-1)/(v m), as the papers print it."""
        return (self.stages - 1) / (self.interleaved * self.micro_batches)

    @property
    def share(self) -> float:
        """Idle time over the whole time: (p-1)/(v m + p-1). This is what a utilisation loses."""
        return (self.stages - 1) / (self.interleaved * self.micro_batches + self.stages - 1)


def bubble(stages: int, micro_batches: int, *, interleaved: int = 1) -> Bubble:
    """The bubble of GPipe and 1F1B (plain) or of Megatron's interleaved schedule.

    The interleaved schedule passes micro-batches in groups of `stages`: other numbers are refused,
    as Megatron does.
    """
    stages, micro_batches = whole(stages, "stages"), whole(micro_batches, "micro_batches")
    interleaved = whole(interleaved, "interleaved")
    if interleaved > 1 and micro_batches % stages:
        raise ValueError(
            f"{micro_batches} micro-batches cannot be interleaved over {stages} stages: "
            f"take a multiple of {stages}, or interleaved=1"
        )
    return Bubble(stages, micro_batches, interleaved)


@dataclass(frozen=True)
class Stragglers:
    """Cost of a synchronised step on the mean rank and on the slowest one, over drawn steps."""

    ranks: int
    mean_cost: float
    slowest_cost: float
    slowest_error: float  # standard error of slowest_cost over the draws
    draws: int

    @property
    def slowdown(self) -> float:
        """How many times as long as the mean rank every rank takes, since it waits."""
        return self.slowest_cost / self.mean_cost

    @property
    def waiting(self) -> float:
        """Share of all device time that is spent waiting for the slowest rank."""
        return 1 - self.mean_cost / self.slowest_cost


def stragglers(
    costs: ArrayLike,
    ranks: int,
    *,
    per_rank: int = 1,
    draws: int = 1000,
    seed: int = 0,
) -> Stragglers:
    """How long the slowest of `ranks` takes if each draws `per_rank` documents for a step.

    costs     one number above 0 per document: its tokens, or tokens and pairs at your prices
    per_rank  documents of one rank behind one step: rows x accumulation (a sum: it averages out)
    draws     simulated steps; `slowest_error` says how sure they make the result

    Documents are drawn with replacement. With documents of one length nobody waits.

    >>> stragglers([5, 5, 5], ranks=8).waiting
    0.0
    """
    each = _costs(costs)
    ranks, per_rank = whole(ranks, "ranks"), whole(per_rank, "per_rank")
    draws = whole(draws, "draws", least=2)
    random = np.random.default_rng(whole(seed, "seed", least=0))
    slowest = np.empty(draws)
    for at in range(draws):
        drawn = random.integers(len(each), size=(ranks, per_rank))
        slowest[at] = each[drawn].sum(axis=1).max()
    return Stragglers(
        ranks,
        per_rank * float(each.mean()),
        float(slowest.mean()),
        float(slowest.std(ddof=1) / math.sqrt(draws)),
        draws,
    )


def _costs(costs: ArrayLike) -> np.ndarray:
    try:
        each = np.asarray(costs, dtype=float)
    except (TypeError, ValueError, OverflowError):
        each = np.empty(0)
    if each.ndim != 1 or not len(each) or not np.isfinite(each).all() or each.min() <= 0:
        raise ValueError("costs must be a flat list of finite numbers above 0, one a document")
    return each
