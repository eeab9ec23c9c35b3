"""What the page of lesson 13 shows: a noisy quadratic, a softmax regression, the step of lesson 05.

batch  ->  steps to a target;  step of training  ->  the gradient of every example
"""

from functools import cache
from math import inf

import numpy as np

from batchlab.exercises.accumulation.take_step import take_step

__all__ = ["examples_of", "steps_to_target", "stops", "take_step"]


def steps_to_target():
    """{batch: steps} of a noisy quadratic of 200 directions, each batch at its own best rate.

    The expected loss is known in closed form, so that no seed is in these numbers. Setting: Zhang
    et al. 2019, noise as large as the curvature; loss 0.02 from 0.5 x the sum of the curvatures.
    """
    curvature = 1 / np.arange(1, 201)
    return {2**k: _fewest(2**k, curvature) for k in range(13)}


def _fewest(batch, curvature, target=0.02, most=60_000):
    fewest = most
    for rate in np.geomspace(0.01, 1.99, 60):
        shrink = (1 - rate * curvature) ** 2
        rest = rate**2 * curvature / batch / (1 - shrink)  # what the noise keeps up

        def loss(steps, shrink=shrink, rest=rest):
            return float(0.5 * (curvature * (rest + (1 - rest) * shrink**steps)).sum())

        low, high = 1, fewest
        if loss(high) > target:
            continue
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if loss(middle) <= target else (middle + 1, high)
        fewest = low
    return fewest


@cache
def _regression():
    rng = np.random.default_rng(0)
    x, true = rng.normal(size=(20_000, 20)), rng.normal(size=(20, 5))
    odds = np.exp(x @ true)
    sums = (odds / odds.sum(1, keepdims=True)).cumsum(1)
    labels = (sums / sums[:, -1:] <= rng.random(20_000)[:, None]).sum(1)
    weights, along = np.zeros((20, 5)), {}
    for step in range(61):
        odds = np.exp(x @ weights)
        miss = odds / odds.sum(1, keepdims=True) - np.eye(5)[labels]
        if step in (0, 5, 20, 60):
            along[step] = (x[:, :, None] * miss[:, None]).reshape(20_000, 100)
            along[step].flags.writeable = False
        weights = weights - x.T @ miss / 20_000
    return along


def examples_of(step):
    """Gradients of all 20,000 examples of a softmax regression, after 0, 5, 20 or 60 steps."""
    return _regression()[step]


def stops(yours):
    """Whether a learner's step of lesson 05 makes its gradients by `backward`, as hooks need."""
    from batchlab.exercises.accumulation import bigram

    model, optimizer, schedule = bigram.made()
    heard = []
    hook = model.head.register_post_accumulate_grad_hook(heard.append)
    (window,) = bigram.windows_of([[7, 2]])
    yours(model, optimizer, schedule, window, inf)
    hook.remove()
    return len(heard) == 2
