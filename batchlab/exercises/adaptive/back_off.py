"""Fewer rows, the same step: what to try after an out-of-memory."""

from batchlab.exercises import Exercise


def back_off(rows, accumulation):
    """(rows, accumulation) of the same step, with the most rows below `rows`."""
    whole = rows * accumulation
    for fewer in range(rows - 1, 0, -1):
        if whole % fewer == 0:
            return fewer, whole // fewer
    raise ValueError("1 row ran out of memory: shorten the rows")


def why(got, rows, accumulation):
    """What is wrong with any two numbers."""
    fewer, more = got
    if fewer * more != rows * accumulation:
        return f"the step drifts: {rows * accumulation} sequences before, {fewer * more:g} now"
    return "the step is kept; asked are the most rows that are fewer: begin at rows - 1"


def drawn(rng):
    for _ in range(20):
        yield int(rng.integers(2, 200)), int(rng.integers(1, 60))
    yield from [(30, 10_007), (97, 6), (11, 1), (2, 1), (1, 1)]


exercise = Exercise(
    back_off,
    points=2,
    parts=("rows", "accumulation"),
    asked=lambda rows, accumulation: f"back_off({rows}, {accumulation})",
    explain=why,
    drawn=drawn,
    hints=(
        "which numbers below `rows` divide rows x accumulation without a remainder?",
        "go down from rows - 1, and stop at the first that divides; 1 always does",
        "for fewer in range(rows - 1, 0, -1): if rows * accumulation % fewer == 0: return it and "
        "the quotient",
    ),
    shown=[(15, 40), (21, 20), (7, 1), (1, 8)],
    passed="Right: fewer rows, more accumulation, and the same sequences per step.",
)
LOOP, FIRST, RAISE = (
    "    for fewer in range(rows - 1, 0, -1):\n        if whole % fewer == 0:\n            return fewer, whole // fewer\n",
    "    whole = rows * accumulation\n",
    '    raise ValueError("1 row ran out of memory: shorten the rows")\n',
)
ONE = '    if rows == 1:\n        raise ValueError("1 row")\n'
for _thought, _rows, _accumulation in [
    (
        "nine tenths of the rows, the accumulation as it was: the step shrinks",
        "int(0.9 * rows)",
        "accumulation",
    ),
    (
        "one row less, the accumulation as it was: the step shrinks",
        "rows - 1",
        "accumulation",
    ),
    (
        "one row less for one piece more: sums stay so, products do not",
        "rows - 1",
        "accumulation + 1",
    ),
    (
        "half the rows, twice the accumulation: an odd number of rows loses some of the step",
        "rows // 2",
        "2 * accumulation",
    ),
    ("half the rows: more of them divide the step", "rows // 2", "whole // fewer"),
    (
        "one row less, the accumulation rounded down: the step shrinks",
        "rows - 1",
        "whole // fewer",
    ),
    (
        "one row less, the accumulation rounded up: the step grows",
        "rows - 1",
        "-(-whole // fewer)",
    ),
    (
        "nine tenths of the rows, the accumulation rounded up: the step grows",
        "int(0.9 * rows)",
        "-(-whole // fewer)",
    ),
    (
        "the rows that divide `rows`: they must divide rows x accumulation",
        "max(n for n in range(1, rows) if rows % n == 0)",
        "whole // fewer",
    ),
    ("the fewest rows: asked are the most that are fewer", "1", "whole"),
    ("the same rows again: they did not fit", "rows", "accumulation"),
    (
        "the next power of two below: others divide the step, too",
        "2 ** ((rows - 1).bit_length() - 1)",
        "whole // fewer",
    ),
]:
    exercise.edit(
        _thought,
        [
            (FIRST, FIRST + ONE),
            (LOOP, f"    fewer = {_rows}\n    return fewer, {_accumulation}\n"),
            (RAISE, ""),
        ],
    )
for _thought, _says, *_changes in [
    (
        "swapped: (rows, accumulation) is asked",
        "",
        ("fewer, whole // fewer", "whole // fewer, fewer"),
    ),
    (
        "begin at rows - 1: more rows than nine tenths may divide the step",
        "",
        ("range(rows - 1", "range(int(0.9 * rows)"),
    ),
    ("1 divides everything: go down to 1 row", "", ("- 1, 0, -1", "- 1, 1, -1")),
    ("0 rows are none", "ValueError is needed", (RAISE, "    return 0, whole\n")),
    ("the same row does not fit", "ValueError is needed", (RAISE, "    return 1, whole\n")),
    ("nothing is raised at 1 row: a ValueError is asked", "ValueError is needed", (RAISE, "")),
    ("floats: a count is an int", "a count is an int", ("whole // fewer", "whole / fewer")),
    ("the rows alone", "2 things are needed", ("fewer, whole // fewer", "fewer")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def largest_divisor(rows, accumulation):
    """the largest divisor, arrays, a list"""
    import numpy as np

    whole, fewer = np.int64(rows) * accumulation, np.arange(1, rows)
    if not fewer.size:
        raise ValueError("1 row")
    best = fewer[whole % fewer == 0].max()
    return [best, whole // best]


@exercise.style
def while_loop(rows, accumulation):
    """a while loop"""
    whole = rows * accumulation
    fewer = rows - 1
    while fewer > 0 and whole % fewer:
        fewer -= 1
    if fewer < 1:
        raise ValueError
    return fewer, whole // fewer


@exercise.style
def accumulation_up(rows, accumulation):
    """counts the accumulation up"""
    if rows == 1:
        raise ValueError("1 row")
    new = accumulation + 1
    while rows * accumulation % new:
        new += 1
    return rows * accumulation // new, new
