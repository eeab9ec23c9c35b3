"""Second derivatives of the small network: products with the Hessian, and its sharpness.

    weights, task, seed  ->  v -> H v, without H

Words
    H          second derivatives of the training loss by all weights of the network
    sharpness  the eigenvalue of H that is largest in size
    adaptive   the same of D H D, with D = the sizes of the weights: no rescaling of layers moves it
"""

import numpy as np

from batchlab.exercises.minima import networks

__all__ = ["by_alpha", "flat", "loss_of", "points", "product", "sharpness"]

NAMES = ("W1", "b1", "W2", "b2")
ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)


def flat(weights):
    """All weights in one row, W1 first."""
    return np.concatenate([np.ravel(weights[name]) for name in NAMES])


def product(weights, task, seed, *, adaptive=False):
    """A function v -> H v of the training loss: two backward passes, no matrix.

    `adaptive` gives D H D v instead.
    """
    import torch

    x, y = networks.examples(task, seed, networks.EXAMPLES)["train"]
    inputs, labels = torch.tensor(x), torch.tensor(y)
    own = [torch.tensor(np.asarray(weights[n], dtype=float), requires_grad=True) for n in NAMES]
    hidden = torch.relu(inputs @ own[0] + own[1])
    loss = torch.nn.functional.cross_entropy(hidden @ own[2] + own[3], labels)
    slope = torch.cat([g.ravel() for g in torch.autograd.grad(loss, own, create_graph=True)])
    size = np.abs(flat(weights)) if adaptive else np.ones(len(slope))

    def multiplied(v):
        along = torch.tensor(np.asarray(v, dtype=float) * size)
        parts = torch.autograd.grad(slope @ along, own, retain_graph=True)
        return np.asarray(size * torch.cat([part.ravel() for part in parts]).numpy())

    return multiplied


def loss_of(weights, task, seed):
    """Mean cross-entropy on the test set, in nats."""
    return networks.cross_entropy(
        weights, *networks.examples(task, seed, networks.EXAMPLES)["test"]
    )


def sharpness(multiplied, start, steps):
    """The eigenvalue that is largest in size, by power iteration; `multiplied(v)` gives H v."""
    v = start / np.linalg.norm(start)
    for _ in range(steps):
        v = multiplied(v)
        v = v / np.linalg.norm(v)
    return float(v @ multiplied(v))


def points(sharpest, task="noisy", seeds=range(3)):
    """{batch and rate: (sharpness, test loss) of each seed}, equal steps, for a figure."""
    start, found = np.random.default_rng(5).normal(size=195), {}
    for batch in (8, 128):
        for rate in (0.1, 0.8):
            own = [(networks.trained(task, batch, 640, rate, seed), seed) for seed in seeds]
            sharp = [sharpest(product(weights, task, seed), start, 40) for weights, seed in own]
            losses = [loss_of(weights, task, seed) for weights, seed in own]
            found[f"batch {batch}, rate {rate}"] = (sharp, losses)
    return found


def by_alpha(sharpest, rescale, seed=0):
    """{network and measure: (alphas, sharpness)}, for a figure, and {network: its test losses}."""
    start, lines, losses = np.random.default_rng(0).normal(size=195), {}, {}
    for batch in (8, 128):
        weights = networks.trained("noisy", batch, 640, 0.1, seed)
        others = [rescale(weights, alpha) for alpha in ALPHAS]
        losses[f"batch {batch}"] = [loss_of(other, "noisy", seed) for other in others]
        for adaptive in (False, True):
            products = [product(other, "noisy", seed, adaptive=adaptive) for other in others]
            name = f"batch {batch}, {'adaptive' if adaptive else 'plain'}"
            lines[name] = (ALPHAS, [sharpest(one, start, 40) for one in products])
    return lines, losses
