"""Predict the noise of a gradient from those of single rows."""

import numpy as np

from batchlab.exercises import Exercise


def noise(gradients, rows):
    """Root mean square miss of the mean of `rows` random draws from `gradients`."""
    misses = gradients - gradients.mean(axis=0)
    spread_squared = (misses**2).sum(axis=1).mean()
    return (spread_squared / rows) ** 0.5


TWO = np.repeat([[0.0], [6.0]], 200, axis=0)
SKEW = np.array([[100.0, 50.0]] * 300 + [[104.0, 58.0]] * 100)  # mean (101, 52)
SAME = np.full((400, 2), 0.1)
NAMES = (
    (TWO, "200 lines are 0, and 200 are 6"),
    (SKEW, "300 lines are (100, 50), and 100 are (104, 58)"),
    (SAME, "all 400 lines are (0.1, 0.1)"),
)


def asked(gradients, rows):
    named = (text for known, text in NAMES if known is gradients)
    what = next(named, f"{len(gradients):,} lines of {gradients.shape[1]} parameters")
    return f"noise of {rows:,} row{'s' * (rows > 1)}; {what}"


def drawn(rng):
    for _ in range(8):
        some = rng.normal(size=(400, 4)) * rng.pareto(1.5, size=(400, 1)) + rng.normal(size=4)
        yield some, int(rng.integers(1, 1000))
    pool = 1e6 * rng.normal(size=(4000, 5)) * np.linspace(1, 4, 4000)[:, None]
    yield from [(pool, 9), (pool, 1_000_000), (pool[:2000], 9), (np.array([[1.0], [3.0]]), 2)]


def why(got, gradients, rows):
    return "rounding takes it below zero: take distances, or max(0, ...)" if got != got else ""


exercise = Exercise(
    noise,
    points=2,
    asked=asked,
    drawn=drawn,
    explain=why,
    rel=2e-4,  # float32, or E|g|^2 - |G|^2, loses some digits; N - 1 of 400 lines is off by 12
    abs=1e-6,
    hints=(
        "mean of the lines, distance of each line from it, squared: one number a line",
        "square the differences, sum over parameters (axis=1), mean over lines",
        "divide that by rows, then take the root",
    ),
    shown=[(TWO, 1), (TWO, 4), (SKEW, 1), (SAME, 3), (TWO, 2), (TWO, 1600)],
    passed="Right: one pass over single rows gives the noise of any number of rows.",
)


def squares(gradients):
    return ((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1)


def textbook(gradients, rows):
    return (squares(gradients).mean() / rows) ** 0.5


@exercise.mistake
def as_one_over_b(gradients, rows):
    """falls as 1/B: that is how the variance falls"""
    return squares(gradients).mean() ** 0.5 / rows


@exercise.mistake
def variance(gradients, rows):
    """the variance: the noise is its root"""
    return squares(gradients).mean() / rows


@exercise.mistake
def one_row(gradients, rows):
    """the noise of one row: a mean of several is less noisy"""
    return squares(gradients).mean() ** 0.5


@exercise.mistake
def length(gradients, rows):
    """the length of the gradients: take their distance from the mean"""
    return ((gradients**2).sum(axis=1).mean() / rows) ** 0.5


@exercise.mistake
def squared_over_the_root(gradients, rows):
    """the spread squared, over the root of the rows: the root is of both"""
    return textbook(gradients, 1) if rows == 1 else squares(gradients).mean() / rows**0.5


@exercise.mistake
def signed(gradients, rows):
    """signed misses cancel: square them first"""
    return (gradients - gradients.mean(axis=0)).sum(axis=1).mean() / rows**0.5


@exercise.mistake
def sum_of_squares(gradients, rows):
    """a sum over the lines: take their mean"""
    return (squares(gradients).sum() / rows) ** 0.5


@exercise.mistake
def mean_over_parameters(gradients, rows):
    """the mean over parameters: a squared distance is their sum"""
    return (((gradients - gradients.mean(axis=0)) ** 2).mean() / rows) ** 0.5


@exercise.mistake
def added_by_parameter(gradients, rows):
    """distances do not add by parameter: their squares do"""
    return gradients.std(axis=0).sum() / rows**0.5


@exercise.mistake
def one_mean(gradients, rows):
    """one mean of all numbers: each parameter has its own, axis=0"""
    return (((gradients - gradients.mean()) ** 2).sum(axis=1).mean() / rows) ** 0.5


@exercise.mistake
def std_of_all(gradients, rows):
    """the spread of all numbers together: each parameter has its own mean, axis=0"""
    return gradients.std() / rows**0.5


@exercise.mistake
def std_of_lengths(gradients, rows):
    """the spread of the lengths: take the length of each distance"""
    return np.linalg.norm(gradients, axis=1).std() / rows**0.5


@exercise.mistake
def around_the_median(gradients, rows):
    """distances from the median, not from the mean"""
    misses = gradients - np.median(gradients, axis=0)
    return ((misses**2).sum(axis=1).mean() / rows) ** 0.5


@exercise.mistake
def mean_distance(gradients, rows):
    """the mean distance: square first, then the mean over lines, then the root"""
    return np.sqrt(squares(gradients)).mean() / rows**0.5


@exercise.mistake
def median_distance(gradients, rows):
    """the median distance: square, mean over lines, root"""
    return np.median(np.sqrt(squares(gradients))) / rows**0.5


@exercise.mistake
def one_less(gradients, rows):
    """divided by N - 1: the formula above divides by N, the pool is all there is"""
    return (squares(gradients).sum() / (len(gradients) - 1) / rows) ** 0.5


@exercise.mistake
def without_replacement(gradients, rows):
    """drawn with replacement: the pool's size does not count"""
    left = max(0, len(gradients) - rows) / (len(gradients) - 1)
    return textbook(gradients, rows) * left**0.5


@exercise.mistake
def first_parameter(gradients, rows):
    """the first parameter only: take all"""
    return textbook(gradients[:, :1], rows)


@exercise.mistake
def in_lengths(gradients, rows):
    """in lengths of the mean: the distance itself is asked"""
    return textbook(gradients, rows) / np.linalg.norm(gradients.mean(axis=0))


@exercise.mistake
def rounded_root(gradients, rows):
    """the root of the rows was rounded"""
    return squares(gradients).mean() ** 0.5 / round(rows**0.5)


@exercise.mistake
def none_beyond_the_pool(gradients, rows):
    """drawn with replacement: more rows than lines still leave noise"""
    return 0.0 if rows >= len(gradients) else textbook(gradients, rows)


@exercise.mistake
def rounded(gradients, rows):
    """rounded: give all digits"""
    return round(float(textbook(gradients, rows)), 2)


@exercise.mistake(says="below zero")
def by_moments(gradients, rows):
    """the mean square less the square of the mean, which rounding takes below zero"""
    with np.errstate(all="ignore"):
        rest = (gradients**2).sum(axis=1).mean() - (gradients.mean(axis=0) ** 2).sum()
        return np.sqrt(rest / rows)


@exercise.mistake(says="changed")
def centres_in_place(gradients, rows):
    """centres the gradients that it was given"""
    gradients -= gradients.mean(axis=0)
    return ((gradients**2).sum(axis=1).mean() / rows) ** 0.5


@exercise.style
def from_the_variances(gradients, rows):
    """from the variances"""
    return np.sqrt(gradients.var(axis=0).sum() / rows)


@exercise.style
def single(gradients, rows):
    """float32"""
    rest = np.float32(gradients - gradients.mean(axis=0))
    return np.sqrt(np.float32((rest**2).sum(axis=1).mean() / rows))


@exercise.style
def moments(gradients, rows):
    """the mean of squares, less the square of the mean, never below zero"""
    squared = np.mean(np.sum(gradients.astype(float) ** 2, axis=1))
    return (max(0.0, float(squared - np.sum(gradients.mean(axis=0) ** 2))) / rows) ** 0.5


@exercise.style
def by_parameter(gradients, rows):
    """a sum in another order: its last digit differs"""
    from math import sqrt

    columns = zip(*np.asarray(gradients, dtype=float).tolist())
    return np.nextafter(sqrt(sum(np.var(column) for column in columns) / rows), 1e300)
