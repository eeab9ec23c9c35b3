"""Catch the bug: one test for twelve wrong versions of fit."""

from batchlab.exercises import Exercise


def fit(slots, rows, length, replicas):
    """The accumulation that makes one step exactly `slots` slots, or a ValueError."""
    part = rows * length * replicas
    if slots % part or not slots:
        raise ValueError(f"{slots} is no multiple of {part}, or 0")
    return slots // part


of = Exercise(fit)
PART, END = "rows * length * replicas", "    return slots // part\n"
REFUSE = "    if slots % part or not slots:\n"
for _thought, *_changes in [
    ("floors in silence", (REFUSE, "    if False:\n")),
    ("floors, but refuses 0", (REFUSE, "    if slots < part:\n")),
    ("rounds up", (REFUSE, "    if False:\n"), (END, "    return -(-slots // part)\n")),
    (
        "rounds to the nearest",
        (REFUSE, "    if not round(slots / part):\n"),
        (END, "    return round(slots / part)\n"),
    ),
    ("forgets the replicas", (PART, "rows * length")),
    ("counts sequences, not slots", (PART, "rows * replicas")),
    (
        "takes powers of two only",
        (REFUSE, "    if slots % part or (slots // part) & (slots // part - 1):\n"),
    ),
    ("takes the length for the replicas", (PART, "rows * length * length")),
    ("takes the rows for the replicas", (PART, "rows * length * rows")),
    (
        "floors where less than half is left",
        (REFUSE, "    if 2 * (slots % part) >= part or slots < part:\n"),
    ),
    (
        "rounds up where half is there",
        (REFUSE, "    if 2 * (slots % part) < part and slots % part:\n"),
        (END, "    return -(-slots // part)\n"),
    ),
    (
        "takes at least one micro-batch",
        (REFUSE, "    if slots > part and slots % part:\n"),
        (END, "    return max(1, slots // part)\n"),
    ),
]:
    of.edit(_thought, _changes)


@of.style
def counted(slots, rows, length, replicas):
    """counted"""
    times, seen = 0, 0
    while seen < slots:
        times, seen = times + 1, seen + rows * length * replicas
    if seen != slots or not times:
        raise ValueError("no step")
    return times


def fit_test(fit):
    """Fail (assert) for every wrong fit(slots, rows, length, replicas) -> accumulation."""
    assert fit(72, 2, 4, 3) == 3
    for wish in (12, 80, 90):
        try:
            fit(wish, 2, 4, 3)
        except ValueError:
            continue
        raise AssertionError(f"{wish} slots are no multiple of 24, and were not refused")


REMAINDERS = (
    "remainders: try less than half a round, more than half, and fewer slots than one round"
)
ODD = "a step that fits is refused: try one whose accumulation is no power of two, as 3"
NUMBERS = "a step that fits: let rows, length, replicas and accumulation be four different numbers"
SILENT = (
    "nothing fails where no error is raised; and a bare `except` also catches your own "
    "AssertionError: write `except ValueError`"
)
LACKS = {  # what lets a bug through
    "floors in silence": SILENT,
    "floors, but refuses 0": SILENT,
    "rounds up": REMAINDERS,
    "rounds to the nearest": REMAINDERS,
    "forgets the replicas": NUMBERS,
    "counts sequences, not slots": NUMBERS,
    "takes powers of two only": ODD,
    "takes the length for the replicas": NUMBERS,
    "takes the rows for the replicas": NUMBERS,
    "floors where less than half is left": REMAINDERS,
    "rounds up where half is there": REMAINDERS,
    "takes at least one micro-batch": REMAINDERS,
}


def lacks(got):
    """What a test lacks, by the first bug that got through."""
    through = got.partition("got through: ")[2]
    if "returned True" in got:
        return "`return` ends a test at once: assert every case, and return nothing"
    return LACKS.get(through, "")


exercise = Exercise(
    fit_test,
    points=2,
    explain=lacks,
    hints=(
        "one step that fits is not enough: what must be refused?",
        "let all four be different numbers, the accumulation no power of two",
        "also try wishes just above and just below a multiple, and one below the smallest step",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), ("counted",)),
    passed="Right: two versions pass your test, twelve do not.",
)
BEFORE, AFTER = "    assert fit(72, 2, 4, 3) == 3\n", "(12, 80, 90)"
for _thought, _says, *_changes in [
    ("only a wish below one micro-batch", "refuses 0", (AFTER, "(12,)")),
    (
        "a power of two",
        "takes powers of two only",
        (BEFORE, "    assert fit(96, 2, 4, 3) == 4\n"),
    ),
    ("expects a floor", "right implementation", (BEFORE, "    assert fit(80, 2, 4, 3) == 3\n")),
    (
        "one replica only",
        "forgets the replicas",
        (BEFORE, "    assert fit(24, 2, 4, 1) == 3\n"),
        (AFTER, "(4, 28, 30)"),
        ("fit(wish, 2, 4, 3)", "fit(wish, 2, 4, 1)"),
    ),
    ("one slot too many only", "rounds up where half", (AFTER, "(73, 97)")),
    ("nothing below the smallest step", "at least one micro-batch", (AFTER, "(73, 80, 90, 95)")),
    ("never asks for a step that fits", "powers of two", (BEFORE, "")),
    (
        "no refusal is looked for",
        "got through",
        (
            '        raise AssertionError(f"{wish} slots are no multiple of 24, and were not refused")\n',
            "",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="write `except ValueError`")
def only_what_divides(fit):
    """only what divides"""
    assert fit(72, 2, 4, 3) == 3


@exercise.mistake(says="`return` ends a test at once")
def returned(fit):
    """returned, not asserted"""
    try:
        return fit(72, 2, 4, 3) == 3
    except ValueError:
        return True


@exercise.mistake(says="got through")
def any_error(fit):
    """any error is a refusal"""
    try:
        assert fit(72, 2, 4, 3) == 3
        fit(80, 2, 4, 3)
    except Exception:
        return
    assert False


@exercise.style
def own_formula(fit):
    """against a formula"""
    for slots in (6, 24, 30, 48, 60, 72, 100, 120):
        try:
            got = fit(slots, 2, 3, 4)
        except ValueError:
            got = None
        assert got == (slots // 24 if slots % 24 == 0 else None)


@exercise.style
def with_pytest(fit):
    """with pytest"""
    import pytest

    assert fit(72, 2, 4, 3) == 3
    for wish in (1, 23, 73, 95):
        with pytest.raises(ValueError):
            fit(wish, 2, 4, 3)
