"""Catch the bug: one test for eight wrong rules of growth."""

from batchlab.exercises import Exercise


def growth_test(next_step):
    """Fail (assert) for every wrong next_step(lows, sequences, most) -> sequences."""
    for lows, most, want in [
        ([20, 20, 20], 99, 20), ([50, 20, 20, 21], 20, 20), ([50, 20, 20, 21], 19, 10),
        ([99], 99, 10), ([99, 99], 99, 10), ([15, 99, 99], 99, 10), ([99, 15, 99], 99, 10),
        ([99, 99, 99, 5], 99, 10), ([5, 99, 99, 99], 99, 20), ([15, 15, 15], 99, 10),
        ([99, 99, 99], 15, 10), ([1, 1, 1], 99, 10), ([], 99, 10),
        ([99, 99, 99, 5, 99, 99], 99, 10),
    ]:  # fmt: skip
        assert next_step(lows, 10, most) == want


def next_step(lows, sequences, most):
    """Twice `sequences` if the last three lows are at least that, and it is at most `most`."""
    twice, row = 2 * sequences, lows[-3:]
    if len(row) == 3 and min(row) >= twice and twice <= most:
        return twice
    return sequences


of = Exercise(next_step)
LAST, ALL, COUNT, MOST = "lows[-3:]", "min(row) >= twice", "len(row) == 3", "twice <= most"
GROWN, HELD, FIRST = "        return twice\n", "    return sequences\n", "    twice, row = "
MEAN = "sum(row) / len(row) >= twice"
for _bug, *_changes in [
    ("one reading is enough for it", (LAST, "lows[-1:]"), (COUNT, "row")),
    ("the mean of three: one noisy reading moves it", (ALL, MEAN)),
    (
        "any three readings, not the last three",
        (ALL, "sum(low >= twice for low in lows) >= 3"),
    ),
    ("every reading there ever was must agree", (ALL, "min(lows) >= twice")),
    (
        "where there are fewer than three readings, those are enough for it",
        (COUNT + " and " + ALL, "all(low >= twice for low in row)"),
    ),
    ("of the last three readings it looks at the newer two", (ALL, "min(row[1:]) >= twice")),
    ("it grows past the maximum", (" and " + MOST, "")),
    ("a reading above the step of today is enough for it", (ALL, "min(row) >= sequences")),
]:
    of.edit(_bug, _changes)


@of.style
def counted(lows, sequences, most):
    """counts the row"""
    if 2 * sequences > most:
        return sequences
    row = 0
    for low in lows:
        row = row + 1 if low >= 2 * sequences else 0
    return sequences * (2 if row >= 3 else 1)


exercise = Exercise(
    growth_test,
    points=2,
    hints=(
        "one case for each word of the rule: last, three, all, at least, twice, does not exceed",
        "give every condition a case just at its edge and one just beyond: lows of 20 and of 19 for "
        "a step of 10",
        "five readings or more, with the low ones first, in the middle, last; and a maximum of "
        "exactly twice the step",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: eight wrong versions found, both right ones passed.",
)
ASSERT, LOOP = "        assert next_step(lows, 10, most) == want\n", "([], 99, 10),"
for _thought, _says, *_changes in [
    (
        "nothing is asserted",
        "never failed",
        ("assert next_step(lows, 10, most) == want", "next_step(lows, 10, most)"),
    ),
    ("compared, without assert", "never failed", ("assert next", "next")),
    ("growth only", "got through", ("== want", "== want or want == 10")),
    ("no growth", "got through", ("== want", "== want or want == 20")),
    (
        "never fewer than three",
        "those are enough",
        ("([99], 99, 10), ([99, 99], 99, 10), ", ""),
        (LOOP, ""),
    ),
    (
        "no maximum",
        "maximum",
        ("([50, 20, 20, 21], 19, 10),\n", "\n"),
        ("([99, 99, 99], 15, 10), ", ""),
    ),
    ("no old low reading", "got through", ("([5, 99, 99, 99], 99, 20), ", "")),
    (
        "no newest low reading",
        "got through",
        ("([99, 99, 99, 5], 99, 10), ", ""),
        ("        ([99, 99, 99, 5, 99, 99], 99, 10),\n", ""),
    ),
    (
        "no readings between the step and its double",
        "step of today",
        ("([15, 15, 15], 99, 10)", "([5, 5, 5], 99, 10)"),
        ("[15, 99, 99]", "[5, 99, 99]"),
        ("[99, 15, 99]", "[99, 5, 99]"),
    ),
    (
        "the low one always last",
        "the newer two",
        ("([15, 99, 99], 99, 10), ([99, 15, 99], 99, 10),", ""),
        ("        ([99, 99, 99, 5, 99, 99], 99, 10),\n", ""),
    ),
    ("a number is wrong", "was stopped", ("([20, 20, 20], 99, 20)", "([19, 20, 20], 99, 20)")),
    ("one reading is to be enough", "was stopped", ("([99], 99, 10)", "([99], 99, 20)")),
    ("it is to stay below the maximum", "was stopped", ("21], 20, 20)", "21], 20, 10)")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="was stopped")
def must_be_refused(next_step):
    """fewer than three readings must be refused"""
    try:
        next_step([50], 10, 100)
    except ValueError:
        return
    raise AssertionError


@exercise.mistake(says="never failed")
def swallowed(next_step):
    """it swallows its own failure"""
    try:
        assert next_step([20, 20, 20], 10, 100) == 20
    except AssertionError:
        pass


@exercise.style
def line_by_line(f):
    """line by line, few cases"""
    assert f([20, 20, 20], 10, 99) == 20
    assert f([19, 20, 20], 10, 99) == f([20, 19, 20], 10, 99) == f([20, 20, 19], 10, 99) == 10
    assert f([5, 5, 40, 40, 40], 10, 99) == 20
    assert f([40, 40, 40, 5, 5], 10, 99) == 10
    assert f([40, 40, 5, 40, 40], 10, 99) == 10
    assert f([40, 5, 40, 40, 40], 10, 99) == 20
    assert f([40, 40, 40], 10, 20) == 20
    assert f([40, 40, 40], 10, 19) == 10
    assert f([40, 40], 10, 99) == f([40], 10, 99) == f([], 10, 99) == 10
    assert f([900, 900, 19, 900, 19], 10, 9999) == 10


@exercise.style
def at_random(next_step):
    """at random, against a rule of its own; another error"""
    import random

    r = random.Random(0)
    for _ in range(4000):
        m = r.choice([1, 3, 8, 10, 32])
        lows = [r.choice([0.5, 1, 1.5, 2, 2, 2, 2.5, 3, 4, 40]) * m for _ in range(r.randrange(8))]
        if r.random() < 0.3:
            lows = lows[:3]
        most = r.choice([m, 2 * m - 1, 2 * m, 2 * m + 1, 3 * m, 4 * m, 100 * m])
        last = lows[-3:]
        grows = len(last) == 3 and all(low >= 2 * m for low in last) and 2 * m <= most
        if next_step(lows, m, most) != (2 * m if grows else m):
            raise ValueError(lows)


@exercise.style
def a_verdict(next_step):
    """returns a verdict, other numbers"""
    grows = [
        ([64, 64, 64], 64),
        ([3, 70, 65, 64], 64),
        ([900, 3, 90, 65, 64], 1000),
        ([900, 300, 400], 1000),
    ]
    holds = [
        ([64, 64], 99),
        ([64], 99),
        ([], 99),
        ([63, 64, 64], 99),
        ([64, 63, 64], 99),
        ([200, 200, 200, 63], 99),
        ([200, 200, 200], 63),
        ([40, 40, 40], 99),
        ([2, 2, 2], 99),
        ([90, 90, 3, 90, 90], 99),
        ([63, 90, 90], 99),
        ([200, 20, 200], 99),
    ]
    return all(next_step(lows, 32, most) == 64 for lows, most in grows) and all(
        next_step(lows, 32, most) == 32 for lows, most in holds
    )
