"""The most rows that fit a budget and leave the step as it is."""

from batchlab.exercises import Exercise


def fitting_rows(budget, states, slot, length, sequences):
    """Return the most rows of `length` slots that fit `budget` bytes and divide `sequences`.

    `states`: bytes that do not depend on the rows. `slot`: bytes of one slot.
    """
    for rows in range(sequences, 0, -1):
        if sequences % rows == 0 and states + rows * length * slot <= budget:
            return rows
    raise ValueError(f"one row needs {states + length * slot} bytes, there are {budget}")


def drawn(rng):
    for _ in range(12):
        slot, length, sequences = (int(one) for one in rng.integers(2, 50, 3))
        states, rows = int(rng.integers(0, 9_000)), int(rng.integers(1, 60))
        yield states + rows * length * slot, states, slot, length, sequences
        yield states + rows * length * slot + 1, states, slot, length, 12
        yield states + rows * length * slot - 1, states, slot, length, 2 * sequences
        yield states + length * slot - 1, states, slot, length, sequences
    yield 24 * 2**30, 8 * 10**9, 1_208_448, 2048, 40


exercise = Exercise(
    fitting_rows,
    points=3,
    hints=(
        "what is left of the budget beside the states, and how many rows fit into that?",
        "of the rows that fit, which divide the sequences without a remainder?",
        "try rows from `sequences` downwards, and return the first that fits and divides",
    ),
    asked=lambda budget, states, slot, length, sequences: (
        f"rows of {length:,} slots of {slot:,} bytes beside {states:,} in {budget:,}; "
        f"{sequences} sequences"
    ),
    mentions=lambda budget, states, slot, length, sequences: (states + length * slot,),
    shown=[
        (1_060, 50, 2, 50, 30),
        (890, 50, 2, 50, 18),
        (500, 200, 2, 50, 7),
        (1_000, 200, 2, 50, 20),
        (1_150, 150, 2, 50, 30),
        (9_000, 200, 2, 50, 6),
        (290, 200, 2, 50, 6),
    ],
    drawn=drawn,
    passed="Right: the most rows that fit, and the step stays: fewer rows come with more accumulation.",
)
LOOP, DIVIDES = "range(sequences, 0, -1)", "sequences % rows == 0 and "
FITS, BACK = "states + rows * length * slot <= budget", "return rows\n"
REFUSE = 'raise ValueError(f"one row needs {states + length * slot} bytes, there are {budget}")'
for _thought, _says, *_changes in [
    (
        "8 rows fit, and 18 sequences are no multiple of 8: the step would change",
        "",
        (DIVIDES, ""),
    ),
    ("the states are there as well, whatever the rows", "", (FITS, FITS.replace("states + ", ""))),
    (
        "sequences // (sequences // most) may be more rows than fit: look for a divisor",
        "",
        (
            "    for rows in range(sequences, 0, -1):\n",
            "    most = (budget - states) // (length * slot)\n    if 0 < most < sequences:\n"
            "        return sequences // (sequences // most)\n"
            "    for rows in range(sequences, 0, -1):\n",
        ),
    ),
    (
        "rounded twice: the accumulation is rounded up, and the rows down",
        "",
        (
            "    for rows in range(sequences, 0, -1):\n",
            "    most = (budget - states) // (length * slot)\n    if most > 0:\n"
            "        return sequences // -(-sequences // most)\n"
            "    for rows in range(sequences, 0, -1):\n",
        ),
    ),
    (
        "gcd(rows, sequences) divides both: asked is a divisor of the sequences that is not above rows",
        "",
        (
            "    for rows in range(sequences, 0, -1):\n",
            "    import math\n\n    if budget >= states + length * slot:\n"
            "        return math.gcd((budget - states) // (length * slot), sequences)\n"
            "    for rows in range(sequences, 0, -1):\n",
        ),
    ),
    (
        "the states are there once, not once a row",
        "",
        (FITS, "rows * (states + length * slot) <= budget"),
    ),
    ("1 is a divisor, too: a range ends before its stop", "", (LOOP, "range(sequences, 1, -1)")),
    ("a row has `length` slots, not one", "", (FITS, FITS.replace(" * length", ""))),
    (
        "powers of two are a habit, not a rule",
        "",
        (DIVIDES, DIVIDES + "rows & (rows - 1) == 0 and "),
    ),
    ("what fits exactly, fits", "", (FITS, FITS.replace("<=", "<"))),
    ("the accumulation: the rows are asked", "", (BACK, "return sequences // rows\n")),
    ("the fewest: go down from the most", "", (LOOP, "range(1, sequences + 1)")),
    (
        "all sequences in one micro-batch fit, too: it divides them",
        "",
        (LOOP, "range(sequences - 1, 0, -1)"),
    ),
    (
        "more rows than a step has sequences",
        "",
        (LOOP, "range(50 * sequences, 0, -1)"),
        (DIVIDES, "(sequences % rows == 0 or rows % sequences == 0) and "),
    ),
    ("a float: a count is an int", "a count is an int", (BACK, "return rows / 1\n")),
    ("0 rows train nothing: refuse", "", (REFUSE, "return 0")),
    (
        "nothing is returned where no row fits: raise a ValueError",
        "",
        (REFUSE, "return None"),
    ),
    (
        "an assertion is no ValueError: raise one",
        "",
        (REFUSE, "assert False, f'one row needs {states + length * slot}'"),
    ),
    ("one row is tried although it does not fit: refuse", "", (REFUSE, "return 1")),
    (
        "refuses, and does not say how much one row needs",
        "without 300",
        (REFUSE, 'raise ValueError("nothing fits")'),
    ),
    (
        "what a row needs is its states, too",
        "without 300",
        (REFUSE, 'raise ValueError(f"one row needs {length * slot} bytes")'),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def largest_divisor(budget, states, slot, length, sequences):
    """the largest divisor that fits"""
    most = (budget - states) // (length * slot)
    if most < 1:
        raise ValueError(f"{states + length * slot:,} bytes are needed")
    return max(one for one in range(1, sequences + 1) if sequences % one == 0 and one <= most)


@exercise.style
def downwards(budget, states, slot, length, sequences):
    """downwards, with while"""
    rows = min(sequences, (budget - states) // (length * slot))
    while rows > 0 and sequences % rows:
        rows -= 1
    if rows <= 0:
        raise ValueError(f"not even one row: it takes {states + length * slot}")
    return rows
