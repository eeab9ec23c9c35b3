"""Second derivatives of the small network: products with the Hessian, its trace, rescaling.

    weights, task, seed  ->  v -> H v, without H

Words
    H          second derivatives of the training loss by all weights of the network
    sharpness  the largest eigenvalue of H
    adaptive   the same of D H D, with D = the sizes of the weights: no rescaling of layers moves it
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from batchlab.classroom.probes import lesson_14_world as world

__all__ = ["eigenvalue", "flat", "product", "rescaled", "test_loss", "trace"]

NAMES = ("W1", "b1", "W2", "b2")


def flat(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """All weights in one row, W1 first."""
    return np.concatenate([np.ravel(weights[name]) for name in NAMES])


def product(
    weights: Mapping[str, np.ndarray], task: str, seed: int, *, adaptive: bool = False
) -> Callable[[np.ndarray], np.ndarray]:
    """A function v -> H v of the training loss: two backward passes, no matrix.

    `adaptive` gives D H D v instead.
    """
    import torch

    x, y = world.examples(task, seed, world.EXAMPLES)["train"]
    inputs, labels = torch.tensor(x), torch.tensor(y)
    own = [torch.tensor(np.asarray(weights[n], dtype=float), requires_grad=True) for n in NAMES]
    hidden = torch.relu(inputs @ own[0] + own[1])
    loss = torch.nn.functional.cross_entropy(hidden @ own[2] + own[3], labels)
    slope = torch.cat([g.ravel() for g in torch.autograd.grad(loss, own, create_graph=True)])
    size = np.abs(flat(weights)) if adaptive else np.ones(len(slope))

    def multiplied(v: Any) -> np.ndarray:
        along = torch.tensor(np.asarray(v, dtype=float) * size)
        parts = torch.autograd.grad(slope @ along, own, retain_graph=True)
        return np.asarray(size * torch.cat([part.ravel() for part in parts]).numpy())

    return multiplied


def eigenvalue(multiplied: Callable[[np.ndarray], np.ndarray], size: int, steps: int = 60) -> float:
    """The eigenvalue of the largest magnitude, by power iteration from a fixed start."""
    v = np.random.default_rng(0).normal(size=size)
    for _ in range(steps):
        v = multiplied(v / np.linalg.norm(v))
    v /= np.linalg.norm(v)
    return float(v @ multiplied(v))


def trace(
    multiplied: Callable[[np.ndarray], np.ndarray], size: int, draws: int = 50
) -> tuple[float, float]:
    """Hutchinson's estimate of the sum of all eigenvalues, and its standard error.

    v has random signs: the mean of v . H v is the trace.
    """
    rng = np.random.default_rng(0)
    values = [v @ multiplied(v) for v in rng.choice([-1.0, 1.0], size=(draws, size))]
    return float(np.mean(values)), float(np.std(values, ddof=1) / draws**0.5)


def rescaled(weights: Mapping[str, np.ndarray], alpha: float) -> dict[str, np.ndarray]:
    """The same function by other weights: the first layer times alpha, the second over it."""
    return {
        "W1": weights["W1"] * alpha, "b1": weights["b1"] * alpha,
        "W2": weights["W2"] / alpha, "b2": weights["b2"].copy(),
    }  # fmt: skip


def test_loss(weights: Mapping[str, np.ndarray], task: str, seed: int) -> float:
    """Mean cross-entropy on the test set, in nats."""
    x, y = world.examples(task, seed, world.EXAMPLES)["test"]
    z = world.output(weights, x)
    z = z - z.max(-1, keepdims=True)
    return float((np.log(np.exp(z).sum(-1)) - z[np.arange(len(y)), y]).mean())
