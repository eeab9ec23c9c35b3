"""What the page of lesson 13 shows: a noisy quadratic, and a meter that listens to a training.

batch  ->  steps to a target;  a meter, a model  ->  its hooks
"""

from contextlib import contextmanager

import numpy as np

from batchlab import noise

__all__ = ["in_trainer", "listening", "scale_of", "steps_to_target", "train"]


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


@contextmanager
def listening(meter, network):
    """Hand the gradients of every parameter that learns to `meter`; no hook is left behind."""
    learning = [p for p in network.parameters() if p.requires_grad]
    hooks = [p.register_hook(meter.made) for p in learning]
    hooks += [p.register_post_accumulate_grad_hook(meter.added) for p in learning]
    try:
        yield meter
    finally:  # also after an error
        for hook in hooks:
            hook.remove()


def train(meter, steps=80):
    """Let `meter` listen to a small model: steps of 4 micro-batches of 4 short documents."""
    import torch

    from batchlab import batches, data, loop, model

    corpus, rng = data.embedded(), np.random.default_rng(13)
    short = np.flatnonzero(np.asarray(corpus.lengths) <= 128)
    network = model.small(corpus.vocabulary, layers=1, hidden=32, heads=2)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    with listening(meter, network):
        for _ in range(steps):
            some = rng.choice(short, 16, replace=False).tolist()
            window = [batches.padded(corpus, some[i : i + 4]) for i in range(0, 16, 4)]
            loop.train_step(network, optimizer, window, max_grad_norm=1.0)
            meter.stepped(4, 4)


def in_trainer(meter):
    """A callback for transformers' Trainer that lets `meter` listen to a training."""
    from transformers import TrainerCallback

    class Listening(TrainerCallback):
        def on_train_begin(self, args, state, control, model=None, **more):
            self.ears = listening(meter, model)
            self.ears.__enter__()

        def on_step_end(self, args, state, control, **more):
            meter.stepped(args.gradient_accumulation_steps, args.per_device_train_batch_size)

        def on_train_end(self, args, state, control, **more):
            self.ears.__exit__(None, None, None)

    return Listening()


def scale_of(readings, batch, small_batch):
    """The library's noise scale, with its interval, of pairs (|G|², trace)."""
    squared, trace = np.array(readings, dtype=float).T
    norms = squared + trace / small_batch, squared + trace / batch
    return noise.from_norms(*norms, small_batch=small_batch, big_batch=batch)
