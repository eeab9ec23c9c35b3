"""Catch the bug: one test for nineteen wrong bills of a toy device."""

from batchlab.exercises import Exercise


def bill(rows, length, accumulation, trained, frozen):
    """GB of a step."""
    states = trained * (2 + 2 + 12) + frozen * 2
    return (states + rows * length * (1_000_000 + 1_500_000)) / 1e9


of = Exercise(bill)
SLOTS, STATES = "rows * length", "states = trained * (2 + 2 + 12) + frozen * 2"
for _thought, _old, _new in [
    ("is a thousandth too high (a wide tolerance, or no abs())", "/ 1e9", "/ 1e9 * 1.001"),
    ("is a thousandth too low (a wide tolerance, or no abs())", "/ 1e9", "/ 1e9 * 0.999"),
    ("takes the accumulation for the rows", SLOTS, "accumulation * length"),
    ("takes the accumulation for the length", SLOTS, "rows * accumulation"),
    ("swaps trained and frozen", STATES, "states = frozen * (2 + 2 + 12) + trained * 2"),
    ("forgets the optimizer", " + 12)", ")"),
    ("forgets the gradients", "(2 + 2 + 12)", "(2 + 12)"),
    ("gives frozen weights states", "frozen * 2", "frozen * 16"),
    ("forgets the frozen weights", " + frozen * 2", ""),
    ("ignores the logits", " + 1_500_000)", ")"),
    ("ignores the layers", "(1_000_000 + ", "("),
    ("takes one row, however many there are", SLOTS, "length"),
    ("counts rows, and not their slots", SLOTS, "rows"),
    ("keeps all micro-batches alive", SLOTS, "rows * accumulation * length"),
    ("shares the rows among the micro-batches", SLOTS, "rows / accumulation * length"),
    ("writes GiB for GB", "/ 1e9", "/ 2**30"),
    ("rounds down to whole GB", "/ 1e9", "// 1e9"),
    ("has the states once a row", STATES, f"{STATES}\n    states *= rows"),
    ("has a gradient for each micro-batch", "(2 + 2 + 12)", "(2 + 2 * accumulation + 12)"),
]:
    of.edit(_thought, [(_old, _new)])


@of.style
def by_parts(rows, length, accumulation, trained, frozen):
    """by parts"""
    states = (trained + frozen) * 2 + trained * 14
    return states / 1e9 + rows * length * 1.5e6 / 1e9 + rows * length * 1e6 / 1e9


@of.style
def a_last_digit_off(rows, length, accumulation, trained, frozen):
    """a last digit off"""
    return (trained * 16 + frozen * 2 + rows * length * 2.5e6) / 1e9 * (1 + 9e-10)


def bill_test(bill):
    """Fail (assert) for every wrong bill(rows, length, accumulation, trained, frozen) -> GB."""
    assert abs(bill(3, 200, 4, 5 * 10**7, 7 * 10**8) - (0.8 + 1.4 + 1.5)) < 1e-6


exercise = Exercise(
    bill_test,
    hints=(
        "compute one bill by hand, with every argument above 1 and all different",
        "trained and frozen weights in one case, so that a wrong price shows",
        "a result that is no whole number of GB, compared to about six digits",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: nineteen wrong bills found, all three right ones passed.",
)
CLAIM = "abs(bill(3, 200, 4, 5 * 10**7, 7 * 10**8) - (0.8 + 1.4 + 1.5)) < 1e-6"
THROUGH = "no case of the test tells"
for _thought, _says, _claim in [
    ("states only", THROUGH, "abs(bill(0, 0, 1, 10**9, 0) - 16) < 1e-6"),
    ("one row", THROUGH, "abs(bill(1, 1000, 1, 10**8, 10**8) - 4.3) < 1e-6"),
    ("no accumulation", THROUGH, "abs(bill(3, 200, 1, 5e7, 7e8) - 3.7) < 1e-6"),
    ("no frozen weights", THROUGH, "abs(bill(3, 200, 4, 5e7, 0) - 2.3) < 1e-6"),
    ("a coarse comparison", "a wide tolerance", "abs(bill(3, 200, 4, 5e7, 7e8) - 3.7) < 0.05"),
    ("a wrong sum", "was stopped", "abs(bill(3, 200, 4, 5e7, 7e8) - 3.8) < 1e-6"),
    ("whole GB", THROUGH, "round(bill(4, 200, 2, 5e7, 6e8)) == 4"),
    ("larger is larger", THROUGH, "bill(4, 9, 1, 5, 5) > bill(2, 9, 1, 5, 5)"),
    ("a value, no bill", "never failed", "bill(3, 200, 4, 5e7, 7e8) is not None"),
    (
        "compares floats exactly",
        "compares floats",
        "bill(3, 7, 5, 1_300_000, 17_000_000) == 0.1073",
    ),
    ("no abs(): too low passes", "no abs()", CLAIM.replace("abs(bill", "(bill")),
]:
    exercise.edit(_thought, [(CLAIM, _claim)], says=_says)


@exercise.style
def returns(bill):
    """returns a truth value"""
    return abs(bill(3, 200, 4, 5e7, 7e8) - 3.7) < 1e-6


@exercise.style
def two_cases(bill):
    """two cases"""
    assert abs(bill(3, 200, 4, 5e7, 7e8) / 3.7 - 1) < 1e-5
    assert abs(bill(1, 10, 1, 10, 20) - (160 + 40 + 25_000_000) / 1e9) < 1e-10
