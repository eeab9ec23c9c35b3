"""Other weights, the same function: the first layer times alpha, the second over it."""

import math

import numpy as np

from batchlab.exercises import Exercise


def rescale(weights, alpha):
    """The same function, with the first layer multiplied by alpha."""
    if not alpha > 0:
        raise ValueError(f"alpha must be above 0, got {alpha}")
    return {
        "W1": weights["W1"] * alpha,
        "b1": weights["b1"] * alpha,
        "W2": weights["W2"] / alpha,
        "b2": weights["b2"].copy(),
    }


def network(rng, inputs, hidden, classes):
    """Weights of some network with two layers, no bias of which is zero."""
    shapes = {"W1": (inputs, hidden), "b1": (hidden,), "W2": (hidden, classes), "b2": (classes,)}
    return {name: rng.normal(size=shape).round(3) for name, shape in shapes.items()}


def asked(weights, alpha):
    sizes = [len(weights["W1"]), len(weights["b1"]), len(weights["b2"])]
    return f"rescale of a network of {sizes[0]} inputs, {sizes[1]} hidden, {sizes[2]} outputs, alpha {alpha}"


def drawn(rng):
    for _ in range(10):
        yield network(rng, *rng.integers(1, 7, 3)), float(rng.uniform(0.05, 20))
    for alpha in (1e-7, 1e5, 1, 3):
        yield network(rng, 3, 2, 2), alpha
    yield network(rng, 120, 300, 70), 0.7
    yield dict(reversed(network(rng, 4, 4, 4).items())), 2.5


exercise = Exercise(
    rescale,
    asked=asked,
    abs=0,
    hints=(
        "what enters the ReLU is x @ W1 + b1: both times alpha",
        "what leaves it is alpha times as large: W2 takes that back",
        "b2 is added after that: it stays",
    ),
    shown=[
        (network(np.random.default_rng(3), 2, 2, 2), 2.0),
        (dict(reversed(network(np.random.default_rng(4), 2, 2, 2).items())), 0.3),
        (network(np.random.default_rng(5), 2, 2, 1), 0),
        (network(np.random.default_rng(5), 2, 2, 1), -1.0),
        (network(np.random.default_rng(5), 2, 2, 1), math.nan),
    ],
    drawn=drawn,
    points=2,
    passed="Right: other weights, the same function.",
)
W1, B1, W2, B2 = (
    'weights["W1"] * alpha',
    'weights["b1"] * alpha',
    'weights["W2"] / alpha',
    'weights["b2"].copy()',
)
REFUSED, START = "not alpha > 0", "    if not"
for _thought, *_changes in [
    (
        "only W1: then the function changes",
        (B1, 'weights["b1"].copy()'),
        (W2, 'weights["W2"].copy()'),
    ),
    (
        "nothing was rescaled",
        (W1, 'weights["W1"].copy()'),
        (B1, 'weights["b1"].copy()'),
        (W2, 'weights["W2"].copy()'),
    ),
    ("b1 left as it is: it enters the ReLU, too", (B1, 'weights["b1"].copy()')),
    ("b1 over alpha: it enters the ReLU with x @ W1", (B1, 'weights["b1"] / alpha')),
    ("W2 left as it is: it takes alpha back", (W2, 'weights["W2"].copy()')),
    ("W2 times alpha: it takes alpha back", (W2, 'weights["W2"] * alpha')),
    (
        "W2 over alpha twice: what leaves the ReLU is alpha times as large, once",
        (W2, 'weights["W2"] / alpha**2'),
    ),
    (
        "the other way round: W1 times alpha",
        (W1, 'weights["W1"] / alpha'),
        (B1, 'weights["b1"] / alpha'),
        (W2, 'weights["W2"] * alpha'),
    ),
    ("times the root of alpha: W1 is times alpha", (W1, 'weights["W1"] * alpha**0.5')),
    ("b2 over alpha: it is added behind the second layer, it stays", (B2, 'weights["b2"] / alpha')),
    (
        "b2 times alpha: it is added behind the second layer, it stays",
        (B2, 'weights["b2"] * alpha'),
    ),
    (
        "by place: look up each weight by its name",
        (START, '    weights = dict(zip(("W1", "b1", "W2", "b2"), weights.values()))\n' + START),
    ),
    (
        "alpha need not be whole",
        (START, "    alpha = int(alpha) or alpha\n" + START),
        (W2, 'weights["W2"] / (int(alpha) or 1)'),
    ),
    ("alpha below 1 is a factor, too", (REFUSED, "not alpha >= 1")),
    ("a ReLU passes positive factors only: refuse 0", (REFUSED, "not alpha >= 0")),
    (
        "a ReLU passes positive factors only: refuse negative ones",
        (REFUSED, "alpha == 0 or alpha != alpha"),
    ),
    ("nan is not above 0: refuse it, too", (REFUSED, "alpha <= 0")),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("in place", "changed", (START, '    weights["W1"] *= 1\n    weights["b1"] += 1\n' + START)),
    ("b2 is missing", "missing", ('        "b2": weights["b2"].copy(),\n', "")),
    ("a tuple", "a dict", ("return {", "return tuple({"), ("    }\n", "    }.values())\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_powers(weights, alpha):
    """powers of alpha, by name"""
    if not alpha > 0:
        raise ValueError(alpha)
    power = {"W1": 1, "b1": 1, "W2": -1, "b2": 0}
    return {name: value * float(alpha) ** power[name] for name, value in weights.items()}


@exercise.style
def copies(weights, alpha):
    """copies, changed in place"""
    if alpha != alpha or alpha <= 0:
        raise ValueError("only factors above 0 pass a ReLU")
    new = {name: np.array(value) for name, value in weights.items()}
    new["W1"] *= alpha
    new["b1"] *= alpha
    new["W2"] /= alpha
    return new
