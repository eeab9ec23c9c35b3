"""Tune each batch: the rate with the lowest mean validation loss."""

import math
from itertools import groupby

import numpy as np

from batchlab.exercises import Exercise

nan, inf = math.nan, math.inf


def tuned(runs):
    """{batch: rate with the lowest mean validation loss}."""
    losses = {}
    for run in runs:
        losses.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    found = {}
    for batch, by_rate in losses.items():
        means = {r: np.mean(v) for r, v in sorted(by_rate.items()) if np.isfinite(v).all()}
        if not means:
            raise ValueError(f"every rate of batch {batch} diverged")
        found[batch] = min(means, key=means.get)
    return found


def runs_of(table):
    """Runs from {batch: {rate: losses of each seed}}, seed by seed.

    The loss of a seed is its validation loss, or (validation, test), or (validation, test, train).
    """
    found = []
    for batch, by_rate in table.items():
        for rate, losses in by_rate.items():
            for seed, own in enumerate(losses):
                own = own if isinstance(own, tuple) else (own,)
                own += (own[0], own[0] - 0.3 * rate)[len(own) - 1 :]
                own = dict(zip(("validation", "test", "train"), own))
                found.append({"batch": batch, "rate": rate, "seed": seed, **own})
    return sorted(found, key=lambda run: run["seed"])


def asked(runs):
    """The validation losses, by batch and rate."""
    table = {}
    for run in runs:
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    said = "; ".join(f"batch {batch}: {str(by_rate)[1:-1]}" for batch, by_rate in table.items())
    return f"tuned rates; validation losses of {said}"


def numbers(runs):
    """The batch of which every rate diverged."""
    for batch in {run["batch"] for run in runs}:
        own = [run for run in runs if run["batch"] == batch]
        bad = {run["rate"] for run in own if not math.isfinite(run["validation"])}
        if bad == {run["rate"] for run in own}:
            return (batch,)
    return ()


def drawn(rng):
    for size in (1.0, 3e-6, 2e7):
        table = {}
        for batch in (rng.choice(10**5, 3, replace=False) + 1).tolist():
            rates = rng.permutation(np.geomspace(1e-6, 1, 6)).tolist()
            table[batch] = {
                rate: [tuple(one) for one in (size * rng.gamma(1.5, 1.0, (seeds, 3))).tolist()]
                for rate, seeds in zip(rates, rng.integers(2, 9, 6).tolist())
            }
        yield (runs_of(table),)
        bad = table[batch][rates[0]]
        bad[0] = (float(rng.choice([nan, inf, -inf])), *bad[0][1:])
        yield (runs_of(table),)
    yield (runs_of({4: {0.5: [-2.0, 1.0], 0.25: [0.0, 0.0]}, 9: {0.5: [0.0], 0.25: [1e-7]}}),)


AGREE = {
    8: {0.1: [(2.8, 3, 2)] * 2, 0.3: [(1, 4, 3)] * 2, 0.9: [(3, 1, 1)] * 2},
    32: {0.1: [(3, 5, 2)] * 2, 0.3: [(3.1, 4, 2)] * 2, 0.9: [(2.5, 6, 3)] * 2},
    64: {0.1: [(1, 5, 2)] * 2, 0.3: [(9, 4, 2)] * 2, 0.9: [(1.2, 3, 1)] * 2},
}
SCORES = {
    0.1: [1, 0.6, 0.5, 0.3, 0.3],  # the lowest mean
    0.2: [0.3, 0.3, 0.2, 1, 1.1],  # the lowest median
    0.3: [0.7, 0.1, 1, 1.1, 0.7],  # the best seed
    0.4: [0.8, 0.7, 0.6, 0.7, 0.6],  # the best worst seed
    0.5: [0.7, 0.8, 0.2, 0.4, 0.9],  # the lowest middle of both ends
    0.6: [0.2, 0.3, 0.9, 0.9, 1],  # the best first seed
    0.7: [0.4, 0.5, 0.9, 0.6, 0.4],  # the lowest mean and deviation
    0.8: [0.9, 0.6, 0.3, 1.1, 0.2],  # the best last seed
}
SEEDS = {0.2: [3], 0.4: [2.6, 1.2], 0.5: [2.5, 2.6], 0.8: [4] * 3}

exercise = Exercise(
    tuned,
    points=2,
    asked=asked,
    mentions=numbers,
    hints=(
        "gather the validation losses of each batch and rate",
        "np.isfinite(losses).all() keeps a rate; np.mean(losses) is its score",
        "min over the rates in rising order takes the first of a tie",
    ),
    shown=[
        (runs_of(AGREE),),
        (runs_of({4: SCORES}),),
        (runs_of({16: {0.6: [1, 2], 0.3: [2, 1], 0.7: [1.5, 1.5]}}),),
        (runs_of({4: SEEDS, 5: {0.2: [2.0003] * 2, 0.4: [2.0001] * 2}}),),
        (runs_of({2: {0.01: [9, nan], 0.02: [4, 4], 0.04: [1, nan]}, 6: {0.02: [3], 0.04: [1]}}),),
        (runs_of({2: {0.01: [5, 5], 0.02: [4, 4], 0.04: [-inf, 9]}}),),
        (runs_of({4: {0.2: [1700, 200], 0.4: [1100, 1100]}}),),
        (runs_of({4: {0.2: [(1, nan, nan), (1, 2)], 0.4: [(2, 3), (2, 3)]}}),),
        (runs_of({8: {0.1: [1, 1]}, 48: {0.1: [nan], 0.2: [inf]}}),),
    ],
    drawn=drawn,
    passed="Right: each batch has its own rate, and the test set chose none of them.",
)
MEAN, KEPT, LEAST = "np.mean(v)", "if np.isfinite(v).all()", "min(means, key=means.get)"
ADDED, RETURN = '.append(run["validation"])', "    return found"
NONE = '            raise ValueError(f"every rate of batch {batch} diverged")\n'
START = "    losses = {}\n"
TOGETHER = """    every = {}
    for run in runs:
        every.setdefault(run["rate"], []).append(run["validation"])
    rate = min(every, key=lambda one: sum(every[one]))
"""
OUT = """    bad = {run["rate"] for run in runs if not np.isfinite(run["validation"])}
    runs = [run for run in runs if run["rate"] not in bad] or runs
"""
COMMON = """        common = min(map(len, by_rate.values()))
        by_rate = {rate: v[:common] for rate, v in by_rate.items()}
"""
for _thought, *_changes in [
    ("tuned on the test set: what judges later must not choose", ('"validation"', '"test"')),
    ("the training loss chose", ('"validation"', '"train"')),
    ("the highest loss", (LEAST, "max(means, key=means.get)")),
    ("the loss in place of its rate", (LEAST, "min(means.values())")),
    (
        "one rate for all: each batch has its own",
        (RETURN, "    return dict.fromkeys(found, found[min(found)])"),
    ),
    (
        "one rate for all: each batch has its own",
        (RETURN, "    return dict.fromkeys(found, found[max(found)])"),
    ),
    (
        "one rate for all: each batch has its own",
        (START, START + TOGETHER),
        (LEAST, "rate"),
    ),
    ("the median seed: take the mean", (MEAN, "np.median(v)")),
    ("the best seed chose: take the mean over the seeds", (MEAN, "min(v)")),
    ("the worst seed chose: take the mean over the seeds", (MEAN, "max(v)")),
    ("the middle between the best and the worst seed: take the mean", (MEAN, "min(v) + max(v)")),
    ("only the first seed: take the mean over all", (MEAN, "v[0]")),
    ("only the last seed: take the mean over all", (MEAN, "v[-1]")),
    ("the spread is no part of the score: the mean alone", (MEAN, "np.mean(v) + np.std(v)")),
    ("a tie goes to the smaller rate", ("sorted(by_rate.items())", "by_rate.items()")),
    (
        "the larger rate of a tie: it goes to the smaller",
        ("sorted(by_rate.items())", "sorted(by_rate.items(), reverse=True)"),
    ),
    ("the sum: rates may have different numbers of seeds, take the mean", (MEAN, "sum(v)")),
    (
        "only the seeds that all rates have: take the mean over all seeds of a rate",
        ("        means = {", COMMON + "        means = {"),
    ),
    ("the means were rounded: keep all digits", (MEAN, "round(np.mean(v), 3)")),
    (
        "diverged runs were skipped: a rate at which one seed diverges is out",
        (MEAN, "np.mean([one for one in v if np.isfinite(one)])"),
        (KEPT, "if np.isfinite(v).any()"),
    ),
    (
        "diverged runs were skipped: a rate at which one seed diverges is out",
        (MEAN, "np.nanmean(v)"),
        (KEPT, "if not np.isnan(v).all()"),
    ),
    ("divergence was never tested: a rate with nan is out", (KEPT, "")),
    ("a rate that diverged with one batch is out for that batch only", (START, OUT + START)),
    ("minus infinity is no low loss: that run diverged", (KEPT, "if not np.isnan(v).any()")),
    (
        "a high loss was taken for divergence: only nan, inf and -inf are",
        (KEPT, "if np.isfinite(v).all() and max(v) < 1000"),
    ),
    (
        "the test or training loss was asked for divergence: only the validation loss is",
        (ADDED, '.append(run["validation"] + 0 * run["test"] + 0 * run["train"])'),
    ),
    (
        "no rate is left: refuse, and name the batch",
        (NONE, "            found[batch] = min(by_rate)\n            continue\n"),
    ),
    ("no rate is left: refuse, and name the batch", (NONE, "            continue\n")),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "the refusal does not name the batch",
        "without",
        (' of batch {batch} diverged"', ' diverged"'),
    ),
    (
        "min of nothing: its error does not name the batch",
        "without",
        ("if not means:", "if False:"),
    ),
    ("a batch is an int", "keys missing", ("found[batch] =", "found[str(batch)] =")),
    (
        "sorts in place",
        "changed from",
        (START, START + '    runs.sort(key=lambda run: run["rate"])\n'),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def neighbours(runs):
    """`groupby` joins neighbours only: sort first, or gather in a dictionary"""
    found = {}
    for batch, own in groupby(runs, key=lambda run: run["batch"]):
        by_rate = {}
        for run in own:
            by_rate.setdefault(run["rate"], []).append(run["validation"])
        means = {r: np.mean(v) for r, v in sorted(by_rate.items()) if np.isfinite(v).all()}
        if not means:
            raise ValueError(f"every rate of batch {batch} diverged")
        found[batch] = min(means, key=means.get)
    return found


@exercise.style
def arrays(runs):
    """arrays, rates of NumPy"""
    found = {}
    for batch in sorted({r["batch"] for r in runs}):
        own = [r for r in runs if r["batch"] == batch]
        rates = sorted({r["rate"] for r in own})
        means = [np.mean([r["validation"] for r in own if r["rate"] == rate]) for rate in rates]
        means = np.where(np.isfinite(means), means, np.inf)
        if np.isinf(means).all():
            raise ValueError("nothing is left of batch %d" % batch)
        found[batch] = np.float64(rates[int(means.argmin())])
    return found


@exercise.style
def loops(runs):
    """pairs of mean and rate"""
    best = {}
    for batch in {run["batch"] for run in runs}:
        own = [run for run in runs if run["batch"] == batch]
        scores = []
        for rate in {run["rate"] for run in own}:
            losses = [run["validation"] for run in own if run["rate"] == rate]
            mean = sum(losses) / len(losses)
            if np.isfinite(mean):
                scores.append((mean, rate))
        if not scores:
            raise ValueError(f"batch {batch} diverged at every rate")
        best[batch] = min(scores)[1]
    return best
