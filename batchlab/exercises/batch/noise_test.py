"""Catch the bug: one test for eight wrong laws of the noise."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.batch import noise as of


def noise_test(noise):
    """Fail (assert) for every wrong noise(gradients, rows), pass for every right one."""
    pulls = np.array([[0, 0], [0, 0], [0, 0], [4, 8]])  # mean (1, 2)
    # squared distances 5, 5, 5, 45: their mean is 15
    assert abs(noise(pulls, 4) - (15 / 4) ** 0.5) < 1e-9


BUGS = (
    "as_one_over_b",
    "variance",
    "length",
    "mean_distance",
    "first_parameter",
    "sum_of_squares",
    "around_the_median",
    "without_replacement",
)

exercise = Exercise(
    noise_test,
    hints=(
        "work one small example by hand and assert its number, within 1e-6",
        "take rows > 1, two parameters, and lines like (0, 0), (0, 0), (0, 0), (4, 8)",
    ),
    tests=(
        of.exercise,
        BUGS,
        (
            "the mean of squares, less the square of the mean, never below zero",
            "a sum in another order: its last digit differs",
        ),
    ),
    passed="Right: your test passes three right versions and stops eight wrong ones.",
)


@exercise.mistake(says="right implementation")
def no_tolerance(noise):
    """compares floats exactly"""
    pulls = np.array([[0.1, 0.7], [0.3, 0.2], [5.3, 0.9]])
    spread = np.sqrt(((pulls - pulls.mean(axis=0)) ** 2).sum(axis=1).mean() / 7)
    assert noise(pulls, 7) == spread


@exercise.mistake(says="got through")
def one_row(noise):
    """one row only: every number of rows would pass"""
    assert abs(noise(np.array([[1.0], [3.0]]), 1) - 1) < 1e-9


@exercise.mistake(says="got through")
def equally_far(noise):
    """two lines, equally far: the mean distance is right by chance"""
    assert abs(noise(np.array([[0.0, 0.0], [6.0, 8.0]]), 4) - 2.5) < 1e-9


@exercise.mistake(says="got through")
def only_the_law(noise):
    """only that four times the rows have half the noise"""
    pulls = np.array([[0.0, 1.0], [5.0, 2.0], [1.0, 7.0]])
    assert abs(noise(pulls, 4) - noise(pulls, 1) / 2) < 1e-9


@exercise.mistake(says="got through")
def upper_bound(noise):
    """an upper bound only"""
    assert noise(np.array([[0, 0], [0, 0], [0, 0], [4, 8]]), 4) < 1.9365


@exercise.mistake(says="right implementation")
def expects_one_over_b(noise):
    """expects 1/B"""
    assert abs(noise(np.array([[1.0], [3.0]]), 4) - 1 / 4) < 1e-9


@exercise.style
def laws_and_a_number(noise):
    """random lines, many rows"""
    g = np.random.default_rng(3).normal(size=(7, 3)) ** 2 + 2
    for rows in (1, 2, 5, 20):
        want = (g.var(axis=0).sum() / rows) ** 0.5
        assert abs(float(noise(g.copy(), rows)) - want) < 1e-6 * want


@exercise.style
def truth_value(noise):
    """returns a truth value"""
    g = np.array([[0, 0], [0, 0], [0, 0], [4.0, 8.0]])
    return bool(abs(noise(g, 16) - 15**0.5 / 4) < 1e-6)


@exercise.style
def judged_by_numpy(noise):
    """judged by NumPy's assert_allclose"""
    pulls = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
    np.testing.assert_allclose(noise(pulls, 4), (15 / 4) ** 0.5)
