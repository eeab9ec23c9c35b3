"""Fit a step: a straight line by least squares, with the standard errors of both numbers."""

import numpy as np

from batchlab.exercises import Exercise


def fit_step(rows, seconds):
    """t0, tau and their standard errors, from rows and seconds of single micro-batches."""
    b, t = np.asarray(rows, dtype=float), np.asarray(seconds, dtype=float)
    if len(b) < 3 or len(set(b)) < 2:
        raise ValueError("a fit needs three measurements, of two sizes at least")
    apart = b - b.mean()
    spread = (apart**2).sum()
    tau = (apart * t).sum() / spread
    t0 = t.mean() - tau * b.mean()
    noise = np.sqrt(((t - t0 - tau * b) ** 2).sum() / (len(b) - 2))
    errors = [noise * np.sqrt(1 / len(b) + b.mean() ** 2 / spread), noise / np.sqrt(spread)]
    return np.array([t0, tau, *errors])


def drawn(rng):
    """Lines with scatter, some of few measurements, some of equal sizes; one of many."""
    for _ in range(20):
        rows = [1, *rng.integers(2, 60, int(rng.integers(2, 9))).tolist()]
        line = rng.uniform(0.1, 9) + rng.uniform(0.1, 2) * np.array(rows)
        seconds = (line + rng.uniform(-1, 1, len(rows))).round(4).tolist()
        yield rows, seconds
        yield rows, [one + 3 for one in seconds]
        yield [2 * one for one in rows], seconds
    many = rng.integers(1, 300, 2000)
    yield many.tolist(), (2 + 0.1 * many + rng.uniform(-1, 1, 2000)).tolist()
    yield from [([5], [1.0]), ([1, 300], [1.0, 9.0]), ([7] * 5, [1.0, 1.1, 1.3, 1.2, 1.0])]


def asked(rows, seconds):
    if len(rows) > 12:
        return f"t0, tau and errors of {len(rows)} measurements"
    return f"t0, tau and errors of rows {rows}, seconds {seconds}"


exercise = Exercise(
    fit_step,
    points=2,
    hints=(
        "(tau, t0), cov = np.polyfit(rows, seconds, 1, cov=True): the slope comes first",
        "variances stand on the diagonal of the covariance, that of tau first",
        "refuse what polyfit cannot say: fewer than three, or all of one size",
    ),
    asked=asked,
    abs=1e-5,
    shown=[
        ([1, 2, 4, 8], [11.5, 14.0, 17.0, 30.5]),
        ([8, 1, 4, 1, 2, 8, 8, 8], [30.5, 11.5, 17.0, 12.5, 14.0, 29.0, 33.0, 33.0]),
        ([2, 6, 2], [13.0, 30.0, 17.0]),
        ([1, 2, 3, 4], [0.7, 3.1, 4.2, 7.4]),
        ([1, 2, 4, 8], [30.5, 17.0, 14.0, 11.5]),
        ([*range(1, 16)], [3, 5, 7, 9, 11, 13, 15, 90.0, 19, 21, 23, 25, 27, 29, 31]),
        ([4, 8], [1.0, 2.0]),
        ([4, 4, 4], [1.0, 1.1, 1.3]),
    ],
    drawn=drawn,
    passed="Right: two numbers and their errors, from as many measurements as you like.",
)
OFFSET, BACK = "1 / len(b) + b.mean() ** 2 / spread", "    return np.array([t0, tau, *errors])"
SLOPE, START = "(apart * t).sum() / spread", "t.mean() - tau * b.mean()"
KEPT = "    apart = b - b.mean()"
ENDS = "(t[-1] - t[0]) / ((b[-1] - b[0]) or 1)"
for _thought, *_changes in [
    ("divided by n: two numbers were fitted, n - 2 are left", ("(len(b) - 2)", "len(b)")),
    ("divided by n - 1: two numbers were fitted", ("(len(b) - 2)", "(len(b) - 1)")),
    ("variances: a standard error is their root", ("*errors]", "errors[0] ** 2, errors[1] ** 2]")),
    (
        "the error of t0 lacks the mean of the rows: 0 rows are far from it",
        (OFFSET, "1 / len(b)"),
    ),
    ("the error of t0 lacks 1 / n", (OFFSET, "b.mean() ** 2 / spread")),
    (
        "the mean of the squared rows: asked is the square of their mean",
        (OFFSET, "1 / len(b) + (b**2).mean() / spread"),
    ),
    ("the noise of one measurement: the fit has seen them all", ("*errors]", "noise, noise]")),
    ("two standard errors: asked is one", ("*errors]", "2 * errors[0], 2 * errors[1]]")),
    ("errors of 0: measured seconds scatter", ("*errors]", "0.0, 0.0]")),
    ("a covariance without the scatter: multiply by s", ("noise = np.sqrt(", "noise = 1  # (")),
    (
        "a line through zero: t0 is what does not vanish with the rows",
        (SLOPE, "(b * t).sum() / (b * b).sum()"),
        (START, "0.0"),
        ("- 2))", "- 1))"),
        (OFFSET, "0"),
        ("noise / np.sqrt(spread)", "noise / np.sqrt((b * b).sum())"),
    ),
    ("only the first and the last measurement", (SLOPE, ENDS), (START, "t[0] - tau * b[0]")),
    ("the slope of the first and the last measurement: all of them count", (SLOPE, ENDS)),
    (
        "tau first: asked are t0, tau and their errors",
        ("[t0, tau, *errors]", "[tau, t0, *errors[::-1]]"),
    ),
    ("the errors are exchanged", ("*errors]", "*errors[::-1]]")),
    (
        "tau stands where t0 is asked: polyfit gives the slope first",
        ("[t0, tau, *errors]", "[tau, t0, *errors]"),
    ),
    (
        "weighted: every measurement counts the same",
        (
            BACK,
            "    (tau, t0), cov = np.polyfit(b, t, 1, w=1 / t, cov=True)\n"
            "    return np.array([t0, tau, cov[1, 1] ** 0.5, cov[0, 0] ** 0.5])",
        ),
    ),
    (
        "every size counts once: every measurement counts",
        (
            KEPT,
            "    own = {x: t[b == x].mean() for x in sorted(set(b))}\n"
            "    b, t = np.array(list(own)), np.array(list(own.values()))\n" + KEPT,
        ),
        ("(len(b) - 2)", "max(1, len(b) - 2)"),
    ),
    (
        "only the last of each size: every measurement counts",
        (
            KEPT,
            "    last = dict(zip(b, t))\n"
            "    b, t = np.array(list(last)), np.array(list(last.values()))\n" + KEPT,
        ),
        ("(len(b) - 2)", "max(1, len(b) - 2)"),
    ),
    (
        "only the best of each size: every measurement counts",
        (
            KEPT,
            "    best = {x: t[b == x].min() for x in sorted(set(b))}\n"
            "    b, t = np.array(list(best)), np.array(list(best.values()))\n" + KEPT,
        ),
        ("(len(b) - 2)", "max(1, len(b) - 2)"),
    ),
    (
        "equal measurements counted once: every measurement counts",
        (
            KEPT,
            "    b, t = (np.array(one) for one in zip(*dict.fromkeys(zip(b, t))))\n" + KEPT,
        ),
    ),
    ("t0 clipped: noise may make it negative", ("[t0, tau, *", "[max(t0, 0.0), tau, *")),
    (
        "t0 clipped, and residuals taken from that",
        ("    noise =", "    t0 = max(t0, 0.0)\n    noise ="),
    ),
    ("tau clipped: noise may make it negative", ("[t0, tau, *", "[t0, max(tau, 0.0), *")),
    (
        "what lies far from the line was left out: every measurement counts",
        (
            BACK,
            "    near = abs(t - t0 - tau * b) <= 3 * noise\n"
            "    return np.array([t0, tau, *errors]) if near.all() else fit_step(b[near], t[near])",
        ),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "two points say nothing of the scatter: refuse them",
        "two points say",
        ("len(b) < 3 or ", ""),
        ("(len(b) - 2)", "max(1, len(b) - 2)"),
    ),
    (
        "one size says nothing of a row: refuse it",
        "one size says",
        (" or len(set(b)) < 2", ""),
        ("spread = (apart**2).sum()", "spread = (apart**2).sum() or 1"),
    ),
    ("three sizes are asked: two are enough", "three sizes", ("(set(b)) < 2", "(set(b)) < 3")),
    ("sorts its arguments", "changed", ("    b, t =", "    rows.sort()\n    b, t =")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_hand(rows, seconds):
    """by hand"""
    n = len(rows)
    if n < 3 or len(set(rows)) < 2:
        raise ValueError("three measurements of two sizes are needed")
    b, t = sum(rows) / n, sum(seconds) / n
    spread = sum((x - b) ** 2 for x in rows)
    tau = sum((x - b) * (y - t) for x, y in zip(rows, seconds)) / spread
    t0 = t - tau * b
    noise = (sum((y - t0 - tau * x) ** 2 for x, y in zip(rows, seconds)) / (n - 2)) ** 0.5
    return t0, tau, noise * (1 / n + b * b / spread) ** 0.5, noise / spread**0.5


@exercise.style
def matrices(rows, seconds):
    """matrices"""
    x = np.stack([np.ones(len(rows)), rows], axis=1)
    if len(rows) < 3 or np.linalg.matrix_rank(x) < 2:
        raise ValueError("too few")
    y = np.asarray(seconds, float)
    best = np.linalg.solve(x.T @ x, x.T @ y)
    noise = ((y - x @ best) ** 2).sum() / (len(rows) - 2)
    return np.concatenate([best, np.sqrt(noise * np.diag(np.linalg.inv(x.T @ x)))])


@exercise.style
def tensors(rows, seconds):
    """tensors"""
    import torch

    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("too few")
    b, t = torch.tensor(rows).double(), torch.tensor(seconds).double()
    s = ((b - b.mean()) ** 2).sum()
    tau = ((b - b.mean()) * t).sum() / s
    t0 = t.mean() - tau * b.mean()
    noise = (((t - t0 - tau * b) ** 2).sum() / (len(b) - 2)).sqrt()
    return torch.stack([t0, tau, noise * (1 / len(b) + b.mean() ** 2 / s).sqrt(), noise / s.sqrt()])
