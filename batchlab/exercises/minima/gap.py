"""A napkin formula: the paired gap, with its 90 % interval."""

import math

import numpy as np

from batchlab.exercises import Exercise

nan, inf = math.nan, math.inf
# Student's t, 90 % of it inside, by the number of values
T90 = {
    2: 6.31,
    3: 2.92,
    4: 2.35,
    5: 2.13,
    6: 2.02,
    7: 1.94,
    8: 1.90,
    9: 1.86,
    10: 1.83,
    11: 1.81,
    12: 1.80,
}


def gap(small, large):
    """(gap, low, high): large minus small, paired by seed, with its 90 % interval."""
    if set(small) != set(large) or len(small) < 2:
        raise ValueError(f"the same two or more seeds are needed: {list(small)}, {list(large)}")
    apart = np.array([large[seed] - small[seed] for seed in small])
    if not np.isfinite(apart).all():
        raise ValueError("a run diverged: its loss is not finite")
    half = T90[len(apart)] * apart.std(ddof=1) / len(apart) ** 0.5
    return apart.mean(), apart.mean() - half, apart.mean() + half


def asked(small, large):
    case = f"{small} and {large}" if len(small) < 8 else f"losses of {len(small)} seeds"
    return f"(gap, low, high) of {case}"


def losses_of(count, rng, size=1.0):
    """Losses {seed: loss} of this size for two batches, each in an order of its own."""
    seeds = rng.choice(10**6, count, replace=False).tolist()
    luck = rng.uniform(1, 3, count)
    small, large = (size * (luck + add + 0.3 * rng.normal(size=count)) for add in (0.5, 0.8))
    other = rng.permutation(count)
    return dict(zip(seeds, small.tolist())), {seeds[n]: float(large[n]) for n in other}


def drawn(rng):
    for count in range(2, 13):
        yield losses_of(count, rng)
    for size in (2e4, 1e-2):
        yield losses_of(int(rng.integers(3, 13)), rng, size)
    yield {5: 0.0, 1: 0.5, 3: 0.0}, {1: 0.0, 3: 0.0, 5: 1.0}


exercise = Exercise(
    gap,
    points=2,
    asked=asked,
    parts=("gap", "low", "high"),
    given=("T90",),
    hints=(
        "one difference for each seed: large[seed] - small[seed]",
        "statistics.mean and statistics.stdev of the differences",
        "half = T90[n] * stdev / n ** 0.5",
    ),
    shown=[
        ({0: 1.0, 1: 2.0, 2: 1.8}, {0: 1.1, 1: 2.2, 2: 2.4}),
        ({7: 1.0, 3: 2.0, 5: 0.25, 11: 0.75}, {11: 1.0, 5: 0.75, 7: 0.875, 3: 2.5}),
        (
            {n: 12.0 + n % 5 / 8 for n in range(12)},
            {n: 12.0 + n % 7 / 4 for n in range(11, -1, -1)},
        ),
        (dict.fromkeys(range(7), 1.0), dict.fromkeys(range(7), 1.7)),
        ({0: 1.0}, {0: 2.0}),
        ({0: 1.0, 1: 2.0}, {0: 2.0, 1: 1.0, 2: 3.0}),
        ({0: 1.0, 1: 2.0, 2: 1.5}, {0: nan, 1: 1.0, 2: 2.0}),
        ({0: 1.0, 1: 2.0, 2: 1.5}, {0: 1.0, 1: -inf, 2: 2.0}),
        ({0: 1.0, 1: inf, 2: 1.0}, {0: 2.0, 1: inf, 2: 1.0}),
    ],
    drawn=drawn,
    passed="Right: what a seed does to both batches is no error of their difference.",
)
PAIRED = "large[seed] - small[seed]"
EVERY = f"[{PAIRED} for seed in small]"
MIDDLE = "return apart.mean(), apart.mean() - half, apart.mean() + half"
SPREAD = "apart.std(ddof=1)"
AROUND = "return middle, middle - half, middle + half"
SEEDS = "set(small) != set(large) or len(small) < 2"
FINITE = "not np.isfinite(apart).all()"
for _thought, *_changes in [
    ("turned round: large minus small", (PAIRED, "small[seed] - large[seed]")),
    (
        "by place in the dictionaries: look a loss up by its seed",
        (EVERY, "[b - a for a, b in zip(small.values(), large.values())]"),
    ),
    (
        "sorted losses were paired: look a loss up by its seed",
        (EVERY, "np.sort([*large.values()]) - np.sort([*small.values()])"),
    ),
    (
        "the best of seeds against the best: take the mean of the differences",
        (MIDDLE, "middle = min(large.values()) - min(small.values())\n    " + AROUND),
    ),
    ("the median difference: take the mean", (MIDDLE, "middle = np.median(apart)\n    " + AROUND)),
    (
        "not paired: the spread of both sides, and not that of the differences",
        (SPREAD, "(np.var([*small.values()], ddof=1) + np.var([*large.values()], ddof=1)) ** 0.5"),
    ),
    ("the spread of one run: divide by the root of n", (" / len(apart) ** 0.5", "")),
    ("divided by n, not by its root", ("** 0.5", "")),
    ("the standard error alone: times T90[n]", ("T90[len(apart)] * ", "")),
    ("1.96 in place of T90[n]: few seeds need more", ("T90[len(apart)]", "1.96")),
    ("1.64 in place of T90[n]: few seeds need more", ("T90[len(apart)]", "1.64")),
    ("1.64 in place of T90[n]: few seeds need more", ("T90[len(apart)]", "1.645")),
    (
        "T90 of n - 1: it goes by the number of seeds",
        ("T90[len(apart)]", "T90[max(len(apart) - 1, 2)]"),
    ),
    (
        "T90 of n + 1: it goes by the number of seeds",
        ("T90[len(apart)]", "T90[min(len(apart) + 1, 12)]"),
    ),
    ("the standard deviation is over n - 1", (SPREAD, "apart.std()")),
    ("the variance: its root is the standard deviation", (SPREAD, "apart.var(ddof=1)")),
    ("sizes of the differences: keep their signs", (PAIRED, f"abs({PAIRED})")),
    ("a part of the loss: the gap is in nats", (PAIRED, f"({PAIRED}) / small[seed]")),
    (
        "a part of the loss: the gap is in nats",
        (MIDDLE, "middle = apart.mean() / np.mean([*small.values()])\n    " + AROUND),
    ),
    (
        "the half-width alone: low and high lie around the gap",
        (MIDDLE, "return apart.mean(), -half, half"),
    ),
    ("high before low", (MIDDLE, "return apart.mean(), apart.mean() + half, apart.mean() - half")),
    (
        "low, gap, high: the gap comes first",
        (MIDDLE, "return apart.mean() - half, apart.mean(), apart.mean() + half"),
    ),
    (
        "a low end below 0 was cut: the large batch may be better",
        (MIDDLE, "return apart.mean(), max(apart.mean() - half, 0.0), apart.mean() + half"),
    ),
    (
        "rounded to four digits: keep them all",
        (
            MIDDLE,
            "return tuple(np.round((apart.mean(), apart.mean() - half, apart.mean() + half), 4))",
        ),
    ),
    ("a high loss is finite: that run did not diverge", (FINITE, "not max(large.values()) < 10")),
    ("one seed has no interval: refuse", (" or len(small) < 2", "")),
    (
        "the common seeds alone: refuse different ones",
        (SEEDS, "len(small) < 2"),
        ("in small]", "in small if seed in large]"),
    ),
    (
        "a diverged run was averaged away: refuse a loss that is not finite",
        (f"{PAIRED} for seed in small]", f"{PAIRED} for seed in small if np.isfinite({PAIRED})]"),
    ),
    ("nan is no loss: refuse it", (FINITE, "np.isinf(apart).any()")),
    ("a loss of inf or -inf is not finite: refuse it", (FINITE, "np.isnan(apart).any()")),
    (
        "a seed that diverged with both batches is refused, too",
        ("in small]", "in small if not small[seed] == large[seed] == np.inf]"),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "in one pass: rounding makes the variance of equal differences negative",
    [(SPREAD, "(float(apart @ apart - len(apart) * apart.mean() ** 2) / (len(apart) - 1)) ** 0.5")],
    says="complex",
)
exercise.edit(
    "the gap is missing",
    [(MIDDLE, "return apart.mean() - half, apart.mean() + half")],
    says="3 things",
)


@exercise.style
def counted(small, large):
    """by hand, sorted seeds"""
    if small.keys() != large.keys() or len(small) < 2:
        raise ValueError("two or more seeds, the same for both")
    apart = [large[seed] - small[seed] for seed in sorted(small)]
    n = len(apart)
    mean = sum(apart) / n
    if not np.isfinite(mean):
        raise ValueError("a loss is not finite")
    s = (sum((one - mean) ** 2 for one in apart) / (n - 1)) ** 0.5
    half = T90[n] * s / n**0.5
    return mean, mean - half, mean + half


@exercise.style
def by_statistics(small, large):
    """the statistics module, a list"""
    import math
    import statistics

    if sorted(small) != sorted(large):
        raise ValueError("seeds differ")
    if not all(map(math.isfinite, [*small.values(), *large.values()])):
        raise ValueError("diverged")
    values = [large[k] - small[k] for k in large]
    if len(values) == 1 or not values:
        raise ValueError("seeds")
    m, half = statistics.fmean(values), T90[len(values)] * statistics.stdev(values)
    return [m, m - half / math.sqrt(len(values)), m + half / math.sqrt(len(values))]


@exercise.style
def tensors(small, large):
    """a tensor of PyTorch"""
    import torch

    if set(small) ^ set(large) or len(large) <= 1:
        raise ValueError("seeds")
    d = torch.tensor([large[k] - small[k] for k in small], dtype=torch.float64)
    if not torch.isfinite(d).all():
        raise ValueError("diverged")
    half = T90[len(d)] * d.std() / len(d) ** 0.5
    return torch.stack([d.mean(), d.mean() - half, d.mean() + half])
