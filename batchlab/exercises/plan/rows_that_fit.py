"""The most rows at once that a device holds, from the bytes of a run."""

from batchlab.exercises import Exercise
from batchlab.exercises.plan import run_bytes as formula
from batchlab.exercises.plan.offers import KINDS


def run_bytes(sheet, tuning, slots):
    """The bytes of the page."""
    return formula.run_bytes(sheet, tuning, slots)


def rows_that_fit(sheet, tuning, row, room):
    """The most rows of `row` slots whose bytes are at most `room`; 0 if none."""
    none, one = (sum(run_bytes(sheet, tuning, n * row).values()) for n in (0, 1))
    return max(0, int((room - none) // (one - none)))


SMALL = {
    "linear": 6400, "other": 1000, "adapter": 70, "layers": 3, "kept": 300, "vocabulary": 120,
    "flops": 44_400,
}  # fmt: skip


def tuned(kind, rank):
    return {"kind": kind, "rank": rank}


def needed(sheet, tuning, slots):
    return sum(formula.run_bytes(sheet, tuning, slots).values())


def drawn(rng):
    for kind in KINDS * 6:
        sheet = {name: int(rng.integers(9, 10**4)) for name in SMALL}
        sheet["linear"] *= 64  # whole blocks
        tuning, row = tuned(kind, int(rng.integers(1, 200))), int(rng.integers(2, 900))
        rows = int(rng.integers(1, 40))
        yield sheet, tuning, row, int(needed(sheet, tuning, rows * row))
        yield sheet, tuning, row, int(needed(sheet, tuning, rows * row)) - 1
        yield sheet, tuning, row, int(needed(sheet, tuning, 0)) // 2


def asked(sheet, tuning, row, room):
    return f"{tuning['kind']}, rank {tuning['rank']}, rows of {row} slots, {room} bytes, {sheet}"


FEW = needed(SMALL, tuned("full", 4), 0)
exercise = Exercise(
    rows_that_fit,
    points=2,
    given=("run_bytes",),
    hints=(
        "sum(run_bytes(sheet, tuning, rows * row).values()) are the bytes of some rows",
        "without rows something is left: weights, gradients, optimizer",
        "what the room leaves beside them, divided by the bytes of one row, rounded down",
    ),
    asked=asked,
    shown=[
        (SMALL, tuned("full", 4), 10, FEW + 140_400),
        (SMALL, tuned("full", 4), 10, FEW + 121_680),
        (SMALL, tuned("4-bit", 60), 10, FEW + 58_000),
        (SMALL, tuned("4-bit", 30), 10, FEW + 30_780),
        (SMALL, tuned("full", 5), 10, FEW // 3),
    ],
    drawn=drawn,
    passed="Right: first what must always be there, then row after row.",
)
FOUND = "int((room - none) // (one - none))"
for _thought, _old, _new in [
    ("weights, gradients and optimizer are there before the first row", FOUND, "int(room // (one - none))"),
    ("the states once, not once a row", FOUND, "int(room // one)"),
    ("bytes equal to the room fit: at most, not below", FOUND, "int((room - 1 - none) // (one - none))"),
    ("the first number that does not fit: one less does", "max(0, " + FOUND + ")", "max(0, " + FOUND + ") + 1"),
    ("beside the weights stand gradients and optimizer", FOUND, 'int((room - run_bytes(sheet, tuning, 0)["weights"]) // (one - none))'),
    ("gradients are there before the first row, too", FOUND, 'int((room - none + run_bytes(sheet, tuning, 0)["gradients"]) // (one - none))'),
    ("rounded up: the last row is not whole", FOUND, "-int(-(room - none) // (one - none))"),
    ("rounded: the last row is not whole", FOUND, "round((room - none) / (one - none))"),
    ("a negative number of rows: 0 if none fits", "max(0, " + FOUND + ")", FOUND),
    ("less than one row fits: 0", "max(0, " + FOUND + ")", "int((room - none) / (one - none))"),
    ("in slots: asked are rows", "(sum(run_bytes(sheet, tuning, n * row)", "(sum(run_bytes(sheet, tuning, n)"),
    ("only the activations: the logits belong to a row, too", "(one - none)", '(row * sheet["layers"] * sheet["kept"])'),
    ("only the logits: the layers keep something, too", "(one - none)", '(row * 12 * sheet["vocabulary"])'),
    ("the bytes of full tuning, whatever is asked", "run_bytes(sheet, tuning,", 'run_bytes(sheet, {**tuning, "kind": "full"},'),
    ("the rank is changed: the tuning says it", "run_bytes(sheet, tuning,", 'run_bytes(sheet, {**tuning, "rank": 1},'),
    ("a power of two is a habit: more rows fit", "max(0, " + FOUND + ")", "1 << max(0, " + FOUND + ").bit_length() >> 1"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "0 if not even one row fits: nothing is refused",
    [
        (
            "    return max",
            "    if one > room:\n        raise ValueError(f'{one} bytes')\n    return max",
        )
    ],
    says="ValueError",
)
exercise.edit("a count is an int", [(FOUND, "float((room - none) // (one - none))")])


@exercise.style
def one_more_row(sheet, tuning, row, room):
    """row after row until they do not fit"""
    rows = 0
    while sum(run_bytes(sheet, tuning, (rows + 1) * row).values()) <= room:
        rows += 1
    return rows


@exercise.style
def halves(sheet, tuning, row, room):
    """by bisection"""
    import bisect

    def total(rows):
        return sum(run_bytes(sheet, tuning, rows * row).values())

    return max(0, bisect.bisect_right(range(1_000_000), room, key=total) - 1)
