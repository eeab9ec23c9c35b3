"""Small networks that are really trained: three tasks, many runs of one shape at a time.

runs (batch, rate, seed, steps)  ->  the same runs with training, validation and test loss
a table, or a number of seeds  ->  made-up losses for a check, where no network is needed

Words
    task     where the examples come from: a teacher network, whose labels may be partly wrong
    weights  {"W1", "b1", "W2", "b2"}: y = relu(x W1 + b1) W2 + b2
    seed     decides the teacher, the examples, the first weights and the order: runs of one seed
             share all of that whatever their batch, so their losses can be paired
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "EARLIER", "EXAMPLES", "TASKS", "Weights", "examples", "losses_of", "many_runs", "network",
    "output", "runs_of", "told", "trained", "tried",
]  # fmt: skip

EARLIER = "an answer of an earlier call: keep nothing between calls"
Weights = dict[str, np.ndarray]  # {"W1", "b1", "W2", "b2"}
INPUTS, HIDDEN, CLASSES = 8, 16, 3
EXAMPLES = 256  # of the training set of the first two tasks
_kept: dict[tuple[str, int, int, float, int], Weights] = {}
TASKS = {"noisy": 0.2, "clean": 0.0, "stream": 0.2}  # part of the labels drawn at random


def output(weights: Mapping[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Logits of the network, for one run or for a stack of runs."""
    hidden = np.maximum(x @ weights["W1"] + weights["b1"], 0)
    return np.asarray(hidden @ weights["W2"] + weights["b2"])


@cache
def examples(task: str, seed: int, count: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Inputs and labels to train on, to tune on and to judge on; one teacher for all three."""
    teacher = np.random.default_rng([seed, 1])
    first, second = teacher.normal(size=(INPUTS, 6)), teacher.normal(size=(6, CLASSES))

    def draw(which: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, 2, which])
        x = rng.normal(size=(size, INPUTS))
        labels = (np.maximum(x @ first * 2 / np.sqrt(INPUTS), 0) @ second).argmax(1)
        wrong = rng.random(size) < TASKS[task]
        labels[wrong] = rng.integers(0, CLASSES, int(wrong.sum()))
        return x, labels

    sizes = {"train": count, "validation": 1000, "test": 2000}
    return {name: draw(n, size) for n, (name, size) in enumerate(sizes.items())}


def tried(task: str, runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every run with its losses in nats an example: `train`, `validation`, `test`."""
    asked = [dict(run) for run in runs]
    shapes: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for run in asked:
        pairs = shapes.setdefault((int(run["batch"]), int(run["steps"])), [])
        pairs.append((float(run["rate"]), int(run["seed"])))
    found = {
        (*shape, *pair): losses
        for shape, pairs in shapes.items()
        for pair, losses in _trained(task, *shape, tuple(sorted(set(pairs))))[0].items()
    }
    return [
        run | found[int(run["batch"]), int(run["steps"]), float(run["rate"]), int(run["seed"])]
        for run in asked
    ]


def trained(task: str, batch: int, steps: int, rate: float, seed: int) -> Weights:
    """The weights at the end of one run; those of `tried` are not trained again."""
    known = _kept.get((task, batch, steps, float(rate), seed))
    return known or dict(_trained(task, batch, steps, ((float(rate), seed),))[1][float(rate), seed])


@cache
def _trained(task: str, batch: int, steps: int, pairs: tuple[tuple[float, int], ...]) -> Any:
    """Losses and weights by (rate, seed): plain SGD, the rate falls to zero in a line."""
    count = batch * steps if task == "stream" else EXAMPLES
    seeds = sorted({seed for _, seed in pairs})
    sets = {seed: examples(task, seed, count) for seed in seeds}
    place = np.array([seeds.index(seed) for _, seed in pairs])
    rates = np.array([rate for rate, _ in pairs])[:, None, None]
    inputs, labels = (np.stack([sets[s]["train"][k] for s in seeds]) for k in (0, 1))
    weights = _stacked([_first(seed) for _, seed in pairs])
    orders = [np.random.default_rng([seed, 4, batch]) for seed in seeds]
    every, each = np.arange(len(seeds))[:, None], max(1, count // batch)
    with np.errstate(all="ignore"):  # too high a rate is part of the experiment
        for step in range(steps):
            if step % each == 0:
                order = np.stack([rng.permutation(count) for rng in orders])
            here = order[:, step % each * batch : (step % each + 1) * batch]
            x, y = inputs[every, here][place], np.eye(CLASSES)[labels[every, here]][place]
            _move(weights, x, y, rates * (1 - step / steps))
        losses = {name: _losses(weights, [sets[s][name] for s in seeds], place)
                  for name in ("train", "validation", "test")}  # fmt: skip
    own = {pair: {k: w[n] for k, w in weights.items()} for n, pair in enumerate(pairs)}
    _kept.update({(task, batch, steps, *pair): one for pair, one in own.items()})
    said = {pair: {k: float(v[n]) for k, v in losses.items()} for n, pair in enumerate(pairs)}
    return said, own


def _first(seed: int) -> Weights:
    rng = np.random.default_rng([seed, 3])
    return {
        "W1": rng.normal(size=(INPUTS, HIDDEN)) * np.sqrt(2 / INPUTS), "b1": np.zeros((1, HIDDEN)),
        "W2": rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN), "b2": np.zeros((1, CLASSES)),
    }  # fmt: skip


def _stacked(several: Sequence[Weights]) -> Weights:
    return {name: np.stack([one[name] for one in several]) for name in several[0]}


def _move(weights: Weights, x: np.ndarray, y: np.ndarray, rate: np.ndarray) -> None:
    """One step of SGD, in place, for all runs of a stack."""
    before = x @ weights["W1"] + weights["b1"]
    hidden = np.maximum(before, 0)
    off = (_softmax(hidden @ weights["W2"] + weights["b2"]) - y) / x.shape[1]
    back = (off @ weights["W2"].transpose(0, 2, 1)) * (before > 0)
    weights["W2"] -= rate * (hidden.transpose(0, 2, 1) @ off)
    weights["b2"] -= rate * off.sum(1, keepdims=True)
    weights["W1"] -= rate * (x.transpose(0, 2, 1) @ back)
    weights["b1"] -= rate * back.sum(1, keepdims=True)


def _softmax(z: np.ndarray) -> np.ndarray:
    raised = np.exp(z - z.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def _losses(weights: Weights, sets: Sequence[Any], place: np.ndarray) -> np.ndarray:
    """Mean cross-entropy of each run on the set of its own seed."""
    found = []
    for run, which in enumerate(place):
        x, y = (part[:2000] for part in sets[which])
        z = output({name: value[run] for name, value in weights.items()}, x)
        z = z - z.max(-1, keepdims=True)
        chosen = z[np.arange(len(y)), y]
        found.append((np.log(np.exp(z).sum(-1)) - chosen).mean())
    return np.array(found)


def runs_of(
    table: Mapping[int, Mapping[float, Sequence[tuple[float, ...]]]],
) -> list[Any]:
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
