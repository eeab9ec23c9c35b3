"""The rules of AdamW against AdamW: a quadratic where noise dominates, 100 runs side by side."""

import numpy as np
import pytest

from batchlab import rates
from batchlab.rates import Hyperparameters

STEPS, NOISE = 4096, 30.0
TOLD = Hyperparameters(2e-3, 0.9, 0.99, 1e-8, 0.0)
CURVATURE = np.geomspace(1, 0.05, 40)


def mean_loss(told, batch, seed):
    """The loss along a run over the same examples, at sixteen places."""
    rng = np.random.default_rng(seed)
    weights = np.ones((100, 40))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    steps, found = STEPS // batch, []
    for step in range(1, steps + 1):
        noise = NOISE / np.sqrt(batch) * rng.normal(size=weights.shape)
        gradient = CURVATURE * weights + noise
        first += (1 - told.beta1) * (gradient - first)
        second += (1 - told.beta2) * (gradient**2 - second)
        size = np.sqrt(second / (1 - told.beta2**step)) + told.epsilon
        moved = first / (1 - told.beta1**step) / size + told.weight_decay * weights
        weights -= told.rate * moved
        if step % (steps // 16) == 0:
            found.append((CURVATURE * weights**2).sum(1).mean() / 2)
    return np.array(found)


def apart(after, before, k):
    """Mean distance of two curves, in logarithms."""
    runs = mean_loss(after, k, 1), mean_loss(before, 1, 0)
    return float(np.abs(np.log(runs[0] / runs[1])).mean())


@pytest.mark.slow
@pytest.mark.parametrize("k", [4, 8])
def test_the_root_alone_follows_as_closely_as_the_full_rule_and_betas_do_not_carry_it(k):
    """The mistakes beside the law: the rate left as it was, and the rule of SGD."""
    full = rates.adam_square_root(TOLD, 1, k)
    root = Hyperparameters(full.rate, TOLD.beta1, TOLD.beta2, TOLD.epsilon, 0.0)
    assert apart(root, TOLD, k) < 0.015 and apart(full, TOLD, k) < 0.02
    for wrong in (TOLD.rate, TOLD.rate * k):
        told = Hyperparameters(wrong, TOLD.beta1, TOLD.beta2, TOLD.epsilon, 0.0)
        assert apart(told, TOLD, k) > 0.05


def test_a_rate_by_the_root_goes_with_a_decay_by_the_root():
    """The mistakes beside the law: the decay left as it was, and x k."""
    before = Hyperparameters(2e-3, 0.9, 0.99, 1e-8, 0.25)
    end = mean_loss(before, 1, 0)[-1]
    after = rates.adam_square_root(before, 1, 4)
    assert after.weight_decay == pytest.approx(0.5)
    right = mean_loss(after, 4, 1)[-1] / end
    same, times_k = (
        mean_loss(Hyperparameters(after.rate, after.beta1, after.beta2, 5e-9, decay), 4, 1)[-1]
        / end
        for decay in (0.25, 1.0)
    )
    assert right == pytest.approx(1, abs=0.15)
    assert same > 3 and times_k < 0.3
