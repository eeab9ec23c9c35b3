"""What lesson 01 measures: a mean of B gradients misses by the root of B less, on a real model.

A small Llama, random rows of tokens, and micro-batches drawn with replacement. The law is exact, so
the tolerance is that of the draws alone: five standard errors.
"""

import numpy as np
import pytest
import torch

from batchlab import batches, loop, model

ROWS, DRAWS = (1, 4, 16), 60


def gradient(network, some):
    micro = batches.padded(some, range(len(some)))
    network.zero_grad()
    targets = sum(len(one) - 1 for one in some)
    loss = loop.summed_loss(loop.logits_of(network, micro), micro["labels"])
    (loss / targets).backward()
    return torch.cat([p.grad.flatten() for p in network.parameters()]).double().numpy()


@pytest.fixture(
    scope="module", params=[0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def measured(request):
    """The spread of single rows, and {rows: mean squared miss, its standard error}."""
    rng = np.random.default_rng(request.param)
    network = model.small(64, layers=1, hidden=16, heads=2, seed=request.param)
    pool = rng.integers(0, 64, size=(48, 9)) // rng.integers(1, 9, size=(48, 1))  # unlike rows
    each = np.stack([gradient(network, [one]) for one in pool])
    goal = each.mean(axis=0)
    found = {}
    for rows in ROWS:
        drawn = (pool[rng.choice(len(pool), rows)] for _ in range(DRAWS))
        squares = [((gradient(network, list(some)) - goal) ** 2).sum() for some in drawn]
        found[rows] = np.mean(squares), np.std(squares, ddof=1) / DRAWS**0.5
    return ((each - goal) ** 2).sum(axis=1).mean(), found


def test_the_noise_of_a_gradient_is_the_spread_over_the_root_of_the_rows(measured):
    squared_spread, found = measured
    for rows, (square, error) in found.items():
        assert abs(square - squared_spread / rows) < 5 * error


def test_noise_that_falls_with_the_rows_themselves_would_be_far_outside(measured):
    """The mistake beside the law: 1/B for the noise, hence 1/B^2 for its square."""
    squared_spread, found = measured
    for rows in ROWS[1:]:
        square, error = found[rows]
        assert abs(square - squared_spread / rows**2) > 10 * error
