"""Catch the bug: one test for eight wrong forecasts of a run from its trial."""

from batchlab.exercises import Exercise


def foretold(trial, slots):
    """Seconds for so many slots, at the rate of all counted steps together."""
    counted = trial[1:]
    return slots * sum(s for _, s in counted) / sum(n for n, _ in counted)


of = Exercise(foretold)
RATE = "sum(s for _, s in counted) / sum(n for n, _ in counted)"
LAST = f"    return slots * {RATE}"
for _thought, _old, _new in [
    ("the warm-up is counted", "trial[1:]", "trial"),
    ("the warm-up's seconds are dropped, its slots kept", "for n, _ in counted", "for n, _ in trial"),
    ("the mean of the steps' own seconds a slot", RATE, "sum(s / n for n, s in counted) / len(counted)"),
    ("the median step", RATE, "sorted(s / n for n, s in counted)[len(counted) // 2]"),
    ("the last step is dropped as well", "trial[1:]", "trial[1:-1] or trial[1:]"),
    ("the slowest step is dropped in place of the first", "trial[1:]", "sorted(trial, key=lambda one: -one[1])[1:]"),
    ("a run of as many steps as the trial", LAST, "    return sum(s for _, s in counted)"),
    ("slots a second: the rate, not the seconds", LAST, f"    return 1 / ({RATE})"),
]:  # fmt: skip
    of.edit(_thought, [(_old, _new)])


@of.style
def mean_step(trial, slots):
    """by the mean step: 2 and 2.0 are both right"""
    slots_of, seconds = zip(*trial[1:])
    found = slots / (sum(slots_of) / len(slots_of)) * (sum(seconds) / len(seconds))
    return round(found) if abs(found - round(found)) < 1e-12 * found else found


@of.style
def by_rate(trial, slots):
    """by slots a second"""
    seconds = tokens = 0.0
    for number, (n, s) in enumerate(trial):
        if number:
            tokens, seconds = tokens + n, seconds + s
    return slots / (tokens / seconds)


@of.style
def last_bit(trial, slots):
    """as right as the others, but for the last bit: sums in another order differ there"""
    import math

    counted = trial[1:]
    found = slots * sum(s for _, s in counted) / sum(n for n, _ in counted)
    return math.nextafter(found, math.inf)


LACKS = {
    "the warm-up": "let the first step have another rate than all others together",
    "the mean of": "let the steps differ in slots and in seconds a slot",
    "the median": "let the steps differ in slots and in seconds a slot",
    "the last step": "let the last step have another rate than the others",
    "the slowest": "let another step than the first be the slowest",
    "a run of": "ask for another number of slots than the trial has",
    "slots a second": "say the number that is right, not a bound",
}


def explain(got, *_):
    """What the test lacks that let a version through, or why it stopped a right one."""
    if "never failed" in got:
        return ""
    if "right implementation 4 was stopped" in got:  # and no other right one
        return "floats are compared exactly: a right answer may differ in its last bit"
    through = got.partition("this one got through: ")[2]
    return next((lacks for bug, lacks in LACKS.items() if through.startswith(bug)), "")


def foretold_test(foretold):
    """Fail (assert) for every wrong foretold(trial, slots) -> seconds."""
    trial = [(50, 4), (10, 3), (20, 9), (70, 8)]
    assert abs(foretold(trial, 250) - 50) < 1e-9
    assert abs(foretold(trial, 1) - 0.2) < 1e-9


exercise = Exercise(
    foretold_test,
    points=2,
    hints=(
        "steps of different slots, and of different seconds a slot: compute the answer by hand",
        "let neither the first nor the last step be the slowest one, and ask for more than a step",
        "one trial of four unequal steps can do all of it",
    ),
    explain=explain,
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: eight wrong forecasts found, four right ones passed.",
)
TRIAL = "[(50, 4), (10, 3), (20, 9), (70, 8)]"
MANY, ONE = (
    "abs(foretold(trial, 250) - 50) < 1e-9",
    "    assert abs(foretold(trial, 1) - 0.2) < 1e-9\n",
)
for _thought, _says, *_changes in [
    ("nothing is asserted", "never failed", ("    assert " + MANY, "    foretold(trial, 250)"), (ONE, "")),
    ("a comparison without assert", "never failed", ("assert " + MANY, MANY), (ONE, "")),
    ("the example alone", "got through", (TRIAL, "[(8, 9), (10, 1), (30, 3)]"), (MANY, "abs(foretold(trial, 20) - 2) < 1e-9"), (ONE, "")),
    ("steps of equal slots", "got through", (TRIAL, "[(10, 9), (10, 1), (10, 3), (10, 2)]"), (ONE, "")),
    ("steps of equal rates", "got through", (TRIAL, "[(10, 9), (20, 2), (30, 3), (10, 1)]"), (MANY, "abs(foretold(trial, 45) - 4.5) < 1e-9"), (ONE, "")),
    ("the slowest step comes first", "got through", ("(50, 4)", "(50, 400)")),
    ("one counted step", "got through", (TRIAL, "[(50, 4), (10, 3)]"), (MANY, "abs(foretold(trial, 35) - 10.5) < 1e-9"), (ONE, "")),
    ("a wide range", "got through", (MANY, "0 < foretold(trial, 250) < 1000"), (ONE, "")),
    ("an upper bound alone", "got through", (MANY, "foretold(trial, 250) < 50.1"), (ONE, "")),
    ("a lower bound alone", "got through", (MANY, "foretold(trial, 250) > 49.9"), (ONE, "")),
    ("the warm-up counts in the number asked", "was stopped", (TRIAL, "[(50, 4), (10, 3), (20, 9)]"), (MANY, "abs(foretold(trial, 80) - 16) < 1e-9"), (ONE, "")),
    ("compared exactly", "last bit", (MANY, "foretold(trial, 250) == 50"), (ONE, "")),
    ("floats compared exactly", "was stopped", (TRIAL, "[(1, 1), (3, 0.1), (7, 0.2)]"), (MANY, "foretold(trial, 13) == 0.39"), (ONE, "")),
    ("a float is asked", "was stopped", (MANY, "isinstance(foretold(trial, 250), float)")),
]:  # fmt: skip
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def one_slot(foretold):
    """one slot alone"""
    assert abs(foretold([(50, 4), (10, 3), (20, 9), (70, 8)], 1) - 0.2) < 1e-9


@exercise.style
def truth_value(foretold):
    """a relative tolerance, returns a truth value"""
    import math

    trial = [(40, 4), (10, 3), (20, 9), (70, 8)]
    return all(math.isclose(foretold(trial, n), n / 5, rel_tol=1e-6) for n in (251, 3))
