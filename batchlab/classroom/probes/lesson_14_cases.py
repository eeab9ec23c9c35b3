"""Cases of lesson 14's exercises: small ones by hand, and large ones that no page could print.

a table, a size or a draw  ->  runs, losses by seed, weights

Words
    spread  sizes from a millionth to a thousand million in one case
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["EARLIER", "losses_of", "many_runs", "network", "runs_of", "told"]

EARLIER = "an answer of an earlier call: keep nothing between calls"
Losses = Mapping[int, Mapping[float, Sequence[tuple[float, ...]]]]


def runs_of(table: Losses) -> list[Any]:
    """Runs from {batch: {rate: losses of each seed}}, rates of a batch interleaved.

    The losses of a seed are (validation, test) or (validation, test, training).
    """
    found = [
        {"batch": batch, "rate": rate, "seed": seed, "validation": own[0], "test": own[1],
         "train": own[2] if len(own) > 2 else own[0] - 0.3 * rate}
        for batch, by_rate in table.items()
        for rate, losses in by_rate.items()
        for seed, own in enumerate(losses)
    ]  # fmt: skip
    return found[::2] + found[1::2]


def many_runs(batches: int = 30) -> list[dict[str, Any]]:
    """Runs of many batches with 6 rates of 3 to 12 seeds each, losses spread, in no order.

    The best rate of each batch is better than the next by more than half a per cent.
    """
    rng = np.random.default_rng(14)
    found = []
    for batch in (rng.choice(200_000, batches, replace=False) + 1).tolist():
        size = 10 ** rng.uniform(-6, 9)
        for rate in (10 ** rng.uniform(-6, 1.5, size=6)).tolist():
            seeds = rng.choice(10**6, int(rng.integers(3, 13)), replace=False).tolist()
            losses = size * rng.gamma(1.5, 1.0, size=(len(seeds), 3))
            found += [
                {"batch": batch, "rate": rate, "seed": seed, "validation": own[0], "test": own[1],
                 "train": own[2]}
                for seed, own in zip(seeds, losses.tolist(), strict=True)
            ]  # fmt: skip
    return [found[n] for n in rng.permutation(len(found))]


def losses_of(count: int, size: float = 1.0) -> tuple[dict[int, float], dict[int, float]]:
    """Losses {seed: loss} of this size for two batches, each in an order of its own."""
    rng = np.random.default_rng([14, count])
    seeds = (rng.choice(10**6, count, replace=False) + 2**32).tolist()
    luck = rng.uniform(1, 3, size=count)
    small, large = (luck + shift + 0.3 * rng.normal(size=count) for shift in (0.5, 0.8))
    other = rng.permutation(count).tolist()
    return (
        {seed: float(loss) * size for seed, loss in zip(seeds, small, strict=True)},
        {seeds[n]: float(large[n]) * size for n in other},
    )


def told(values: Sequence[Any]) -> str:
    """A list in words: whole if it is short.

    >>> told([1, 2]), told(range(100))
    ('[1, 2]', '100 values from 0 to 99')
    """
    some = np.asarray(values).tolist()
    return str(some) if len(some) < 10 else f"{len(some)} values from {min(some)} to {max(some)}"


def network(
    rng: np.random.Generator, inputs: int, hidden: int, classes: int, spread: bool = False
) -> dict[str, Any]:
    """Weights of some network with two layers, no bias of which is zero."""
    shapes = {"W1": (inputs, hidden), "b1": (hidden,), "W2": (hidden, classes), "b2": (classes,)}
    found = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    if spread:
        found = {name: one * 10 ** rng.uniform(-6, 9, one.shape) for name, one in found.items()}
    return found
