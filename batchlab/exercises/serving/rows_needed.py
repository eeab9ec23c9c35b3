"""The rows that carry a load: Little's law where a pass is slower with more rows."""

import math

from batchlab.exercises import Exercise


def rows_needed(rate, output, fixed, each):
    """The fewest rows for `rate` requests a second; a pass takes fixed + each * rows seconds."""
    left = 1 - rate * output * each
    if left <= 0:
        raise ValueError("more rows make each pass slower by more than they carry")
    return math.ceil(rate * output * fixed / left)


def drawn(rng):
    count = 0
    while count < 24:
        fixed, each = float(rng.uniform(1e-3, 3e-2)), float(rng.uniform(1e-5, 3e-4))
        output = int(rng.integers(20, 900))
        share = float(rng.uniform(0.05, 1.6))
        rate = share / (output * each)
        exact = rate * output * fixed / (1 - share)
        if abs(share - 1) > 1e-3 and abs(exact - round(exact)) > 1e-3 and exact < 900:
            count += 1
            yield rate, output, fixed, each


def explain(got, rate, output, fixed, each):
    """What so many rows carry."""
    if got != int(got) or got < 1 or rate * output * each >= 1:
        return ""
    carried = got / (output * (fixed + each * got))
    if carried < rate:
        return f"a pass of {got} rows takes {fixed + each * got:.3g} s, so they carry {carried:.3g} requests a second"
    return f"fewer rows keep up, too: {got} carry {carried:.3g} requests a second"


exercise = Exercise(
    rows_needed,
    points=2,
    given=("math",),
    hints=(
        "a request holds its row for `output` passes; so rows / (output * seconds of a pass) leave a second",
        "rows >= rate * output * (fixed + each * rows): bring the rows to one side",
        "1 - rate * output * each must be above 0: else no number of rows is enough",
    ),
    explain=explain,
    asked="rate {:g} a second, outputs of {}, {:g} + {:g} x rows seconds a pass".format,
    shown=[
        (45, 200, 0.0045, 0.00008),
        (31, 200, 0.0045, 0.00008),
        (80, 200, 0.0045, 0.00008),
        (61.9, 200, 0.0045, 0.00008),
        (4, 64, 0.25, 1 / 256),
        (16, 32, 1 / 512, 1 / 1024),
    ],
    drawn=drawn,
    passed="Right: each row slows all others, so there is a load that no rows carry.",
)
LEFT, END = "1 - rate * output * each", "math.ceil(rate * output * fixed / left)"
for _thought, _old, _new in [
    ("a pass of one row: with more rows each pass is slower", LEFT, "1 - each"),
    ("tokens a second: each takes a row for the seconds of a pass", END, "math.ceil(rate * output)"),
    ("twice as many until it is enough: the smallest number is asked", END, "1 << (math.ceil(rate * output * fixed / left) - 1).bit_length()"),
    ("rounded down: those rows do not carry the load", END, "int(rate * output * fixed / left)"),
    ("rounded: those rows may not carry the load", END, "round(rate * output * fixed / left) or 1"),
    ("one pass: a request holds its row for all of its output", "rate * output * fixed", "rate * fixed"),
    ("the fixed seconds are forgotten", END, "math.ceil(rate * output * each / left)"),
    ("a row too many: the smallest number is asked", END, END + " + 1"),
    ("the requests in flight at one pass a request: multiply, do not divide", END, "math.ceil(rate / (output * fixed) / left)"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])
MANY = "no row leaves anything over at the limit itself, too: refuse at 0 as well"
ENOUGH = "exactly as many as come is enough: no row more"
exercise.edit(MANY, [("if left <= 0:", "if left < 0:")])
exercise.edit(ENOUGH, [(END, "int(rate * output * fixed / left) + 1")])
exercise.edit(
    "n - 1 passes: the prompt's pass gives a token, too, and holds the row",
    [
        (LEFT, "1 - rate * (output - 1) * each"),
        (END, "math.ceil(rate * (output - 1) * fixed / left)"),
    ],
)
exercise.edit(
    "`output` passes in all: the prompt's pass is one of them",
    [
        (LEFT, "1 - rate * (output + 1) * each"),
        (END, "math.ceil(rate * (output + 1) * fixed / left)"),
    ],
)
exercise.edit(
    "a pass of one row: with more rows each pass is slower",
    [(END, "math.ceil(rate * output * (fixed + each))")],
)
exercise.edit("no number of rows is enough: refuse", [("    if left <= 0:", "    if False:")])
exercise.edit("rows are whole: an int", [(END, "float(" + END + ")")])


@exercise.mistake
def one_more(rate, output, fixed, each):
    """exactly as many as come is enough: no row more"""
    if rate * output * each >= 1:
        raise ValueError("never enough")
    rows = 1
    while rows / (output * (fixed + each * rows)) <= rate:
        rows += 1
    return rows


@exercise.mistake
def up_to_a_thousand(rate, output, fixed, each):
    """a search that gives up at 1,000 rows: near 1 / `each` tokens a second more are needed"""
    for rows in range(1, 1001):
        if rows >= rate * output * (fixed + each * rows):
            return rows
    raise ValueError("never enough")


@exercise.style
def one_by_one(rate, output, fixed, each):
    """one row after the other"""
    if rate * output * each >= 1:
        raise ValueError("never enough")
    rows = 1
    while rows < rate * output * (fixed + each * rows):
        rows += 1
    return rows


@exercise.style
def numpy(rate, output, fixed, each):
    """NumPy"""
    import numpy as np

    held = np.float64(output) * rate
    if not held * each < 1:
        raise ValueError(f"{rate} a second are too many")
    return int(np.ceil(held * fixed / (1 - held * each)))
