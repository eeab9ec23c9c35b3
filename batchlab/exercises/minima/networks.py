"""Small networks that are really trained: three tasks, many runs of one shape at a time.

    runs (batch, rate, seed, steps)  ->  the same runs with training, validation and test loss

Words
    task     where the examples come from: a teacher network, whose labels may be partly wrong
    weights  {"W1", "b1", "W2", "b2"}: y = relu(x W1 + b1) W2 + b2
    seed     decides the teacher, the examples, the first weights and the order: runs of one seed
             share all of that whatever their batch, so their losses can be paired
"""

import math
from functools import cache

import numpy as np

from batchlab.exercises.minima.judge import judge
from batchlab.exercises.minima.plan import plan

__all__ = [
    "EXAMPLES", "LABORATORY", "TASKS", "examples", "laboratory", "losses", "output", "table",
    "trained", "tried", "tuned_rate",
]  # fmt: skip

INPUTS, HIDDEN, CLASSES = 8, 16, 3
EXAMPLES = 256  # of the training set of the first two tasks
TASKS = {"noisy": 0.2, "clean": 0.0, "stream": 0.2}  # part of the labels drawn at random
SETS = {"train": 0, "validation": 1, "test": 2}
# small batch, large batch, rates, examples of an equal-examples run
LABORATORY = {
    "noisy": (8, 128, (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2), 5120),
    "clean": (8, 128, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4), 5120),
    "stream": (8, 64, (0.1, 0.2, 0.4, 0.8, 1.6, 3.2), 4096),
}
_kept = {}  # weights of runs that were trained, by task, batch, steps, rate and seed


@cache
def laboratory(task):
    """Every run of a task's plan with ten seeds, trained here and now; do not change it."""
    small, large, rates, count = LABORATORY[task]
    return tried(task, plan(small, large, rates, list(range(10)), count))


def tuned_rate(runs):
    """The rate with the lowest mean validation loss of the large batch, with equal examples."""
    return max(judge(runs, 0.01)["examples"]["rates"].items())[1]


def output(weights, x):
    """Logits of the network, for one run or for a stack of runs."""
    hidden = np.maximum(x @ weights["W1"] + weights["b1"], 0)
    return np.asarray(hidden @ weights["W2"] + weights["b2"])


@cache
def examples(task, seed, count):
    """Inputs and labels to train on, to tune on and to judge on; one teacher for all three."""
    teacher = np.random.default_rng([seed, 1])
    first, second = teacher.normal(size=(INPUTS, 6)), teacher.normal(size=(6, CLASSES))

    def draw(which, size):
        rng = np.random.default_rng([seed, 2, which])
        x = rng.normal(size=(size, INPUTS))
        labels = (np.maximum(x @ first * 2 / np.sqrt(INPUTS), 0) @ second).argmax(1)
        wrong = rng.random(size) < TASKS[task]
        labels[wrong] = rng.integers(0, CLASSES, int(wrong.sum()))
        return x, labels

    return {name: draw(n, (count, 1000, 2000)[n]) for name, n in SETS.items()}


def tried(task, runs):
    """Every run with its losses in nats an example: `train`, `validation`, `test`."""
    asked, shapes = [dict(run) for run in runs], {}
    for run in asked:
        pairs = shapes.setdefault((int(run["batch"]), int(run["steps"])), [])
        pairs.append((float(run["rate"]), int(run["seed"])))
    found = {
        (*shape, *pair): own
        for shape, pairs in shapes.items()
        for pair, own in _trained(task, *shape, tuple(sorted(set(pairs))))[0].items()
    }
    return [
        run | found[int(run["batch"]), int(run["steps"]), float(run["rate"]), int(run["seed"])]
        for run in asked
    ]


def trained(task, batch, steps, rate, seed):
    """The weights at the end of one run; those of `tried` are not trained again."""
    known = _kept.get((task, batch, steps, float(rate), seed))
    return known or dict(_trained(task, batch, steps, ((float(rate), seed),))[1][float(rate), seed])


def table(results, key="validation", most=math.inf):
    """{shape in words: (rates, mean losses)} of results, for a figure, up to a mean of `most`."""
    found = {}
    for batch, steps in sorted({(one["batch"], one["steps"]) for one in results}):
        rates, means = [], []
        for rate in sorted({one["rate"] for one in results}):
            own = [*losses(results, batch, rate, steps, key).values()]
            if own and np.isfinite(own).all() and np.mean(own) <= most:
                rates.append(rate)
                means.append(float(np.mean(own)))
        found[f"batch {batch}, {steps} steps"] = (rates, means)
    return found


def losses(results, batch, rate, steps, key="test"):
    """{seed: loss} of the runs of one batch, rate and number of steps."""
    shape = (batch, rate, steps)
    return {
        one["seed"]: one[key]
        for one in results
        if (one["batch"], one["rate"], one["steps"]) == shape
    }


@cache
def _trained(task, batch, steps, pairs):
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
        ends = {name: _losses(weights, [sets[s][name] for s in seeds], place) for name in SETS}
    own = {pair: {k: w[n] for k, w in weights.items()} for n, pair in enumerate(pairs)}
    _kept.update({(task, batch, steps, *pair): one for pair, one in own.items()})
    said = {pair: {k: float(v[n]) for k, v in ends.items()} for n, pair in enumerate(pairs)}
    return said, own


def _first(seed):
    rng = np.random.default_rng([seed, 3])
    return {
        "W1": rng.normal(size=(INPUTS, HIDDEN)) * np.sqrt(2 / INPUTS),
        "b1": np.zeros((1, HIDDEN)),
        "W2": rng.normal(size=(HIDDEN, CLASSES)) / np.sqrt(HIDDEN),
        "b2": np.zeros((1, CLASSES)),
    }


def _stacked(several):
    return {name: np.stack([one[name] for one in several]) for name in several[0]}


def _move(weights, x, y, rate):
    """One step of SGD, in place, for all runs of a stack."""
    before = x @ weights["W1"] + weights["b1"]
    hidden = np.maximum(before, 0)
    off = (_softmax(hidden @ weights["W2"] + weights["b2"]) - y) / x.shape[1]
    back = (off @ weights["W2"].transpose(0, 2, 1)) * (before > 0)
    weights["W2"] -= rate * (hidden.transpose(0, 2, 1) @ off)
    weights["b2"] -= rate * off.sum(1, keepdims=True)
    weights["W1"] -= rate * (x.transpose(0, 2, 1) @ back)
    weights["b1"] -= rate * back.sum(1, keepdims=True)


def _softmax(z):
    raised = np.exp(z - z.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def _losses(weights, sets, place):
    """Mean cross-entropy of each run on the set of its own seed."""
    own = ({name: value[run] for name, value in weights.items()} for run in range(len(place)))
    return np.array([cross_entropy(one, *sets[w]) for one, w in zip(own, place, strict=True)])


def cross_entropy(weights, x, y):
    """Mean loss of a network on at most 2,000 examples, in nats."""
    x, y = x[:2000], y[:2000]
    z = output(weights, x)
    z = z - z.max(-1, keepdims=True)
    return float((np.log(np.exp(z).sum(-1)) - z[np.arange(len(y)), y]).mean())
