"""Catch the bug: one test for six wrong versions of waste."""

from batchlab.exercises import Exercise
from batchlab.exercises.padding import waste as of


def waste_test(waste):
    """Fail (assert) for every wrong implementation of waste, pass for every right one."""
    assert abs(waste([[2, 1], [30, 30]]) - 1 / 64) < 1e-9
    assert abs(waste([[3, 5], [7], [2, 2]]) - 2 / 21) < 1e-9


BUGS = (
    "mean_of_shares",
    "per_token",
    "one_rectangle",
    "last_forgotten",
    "first_row",
    "single_rows_skipped",
)
exercise = Exercise(
    waste_test,
    hints=(
        "count a small case by hand, and assert its waste",
        "several batches of unequal size, one of a single row, one with its longest row last",
    ),
    tests=(
        of.exercise,
        BUGS,
        (
            "with arrays",
            "padding counted row by row",
            "from the padding per token: other last digits, and lists that are lists",
        ),
    ),
    passed="Right: six wrong versions found, every right one passed.",
)
exercise.edit(
    "one micro-batch only",
    [
        ("    assert abs(waste([[2, 1], [30, 30]]) - 1 / 64) < 1e-9\n", ""),
        ("[[3, 5], [7], [2, 2]]) - 2 / 21", "[[5, 3]]) - 0.2"),
    ],
    says="mean of the micro-batches",
)
exercise.edit("a wrong expectation", [("1 / 64", "1 / 8")], says="right implementation")
exercise.edit(
    "looks for too much only",
    [
        ("abs(waste([[2, 1], [30, 30]]) - 1 / 64)", "(waste([[2, 1], [30, 30]]) - 1 / 64)"),
        ("abs(waste([[3, 5], [7], [2, 2]]) - 2 / 21)", "(waste([[3, 5], [7], [2, 2]]) - 2 / 21)"),
    ],
    says="got through",
)
exercise.edit(
    "always the longest first",
    [("[3, 5]", "[5, 3]"), ("[2, 1]", "[1, 2]"), ("[[1, 2], [30, 30]]", "[[2, 1], [30, 30]]")],
    says="not as its first",
)
exercise.edit(
    "too coarse",
    [("1 / 64) < 1e-9", "1 / 64) < 0.5"), ("2 / 21) < 1e-9", "2 / 21) < 0.5")],
    says="never failed",
)


@exercise.mistake(says="right implementation")
def no_tolerance(waste):
    """compares floats exactly"""
    assert waste([[5, 3]]) == 0.2
    assert waste([[3, 5], [7], [2, 2]]) == 2 / 21


@exercise.mistake(says="got through")
def between(waste):
    """a share between 0 and 1 says little"""
    assert 0 <= waste([[2, 1], [30, 30], [1, 7]]) <= 1


@exercise.mistake(says="right implementation")
def asks_for_a_float(waste):
    """asks for a type: the value alone is judged"""
    waste_is = waste([[3, 5], [7], [2, 2]])
    assert abs(waste_is - 2 / 21) < 1e-9 and abs(waste([[2, 1], [30, 30]]) - 1 / 64) < 1e-9
    assert type(waste_is) is float


@exercise.mistake(says="never failed")
def counts_its_calls(waste):
    """counts its calls: each version meets a fresh test"""
    waste_test.calls = getattr(waste_test, "calls", 0) + 1
    assert waste_test.calls <= 2


@exercise.style
def truth_value(waste):
    """returns a truth value"""
    cases = {1 / 71: [[1, 2], [7], [30, 30]], 2 / 17: [[5, 3], [7]], 1 / 64: [[2, 1], [30, 30]]}
    return all(abs(waste(case) - right) < 1e-9 for right, case in cases.items())
