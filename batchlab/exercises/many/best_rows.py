"""The rows of a micro-batch with the shortest step of a pipeline: bubble against fixed cost."""

from batchlab.exercises import Exercise


def best_rows(stages, sequences, fixed, each):
    """The rows that divide `sequences` and give the shortest step."""

    def seconds(rows):
        return (sequences // rows + stages - 1) * (fixed + each * rows)

    return min((n for n in range(1, sequences + 1) if sequences % n == 0), key=seconds)


def seconds_of(stages, sequences, rows, fixed, each):
    """The seconds of one step, and the share of the whole time that a stage is idle."""
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns


def two_best(stages, sequences, fixed, each):
    """Whether two numbers of rows are nearly equally fast: then no case."""
    rows = [n for n in range(1, sequences + 1) if sequences % n == 0]
    first, second = sorted(seconds_of(stages, sequences, n, fixed, each)[0] for n in rows)[:2]
    return second < first * 1.0001


def explain(got, stages, sequences, fixed, each):
    """Rows that are no choice."""
    return "the rows divide the sequences" if sequences % got else ""


def drawn(rng):
    count = 0
    while count < 20:
        sequences = int(rng.choice([60, 84, 96, 120, 180, 210, 360, 420]))
        case = (int(rng.integers(1, 33)), sequences, *rng.uniform(0.001, 0.2, 2).round(3).tolist())
        if not two_best(*case):
            count += 1
            yield case


exercise = Exercise(
    best_rows,
    points=2,
    hints=(
        "m = sequences / rows micro-batches take m + p - 1 turns, each of fixed + each * rows",
        "only rows that divide the sequences",
        "the rows, not the seconds: min(..., key=...)",
    ),
    explain=explain,
    asked="{} stages, {} sequences, {} s a turn and {} s a row".format,
    shown=[
        (9, 420, 0.02, 0.008),  # each wrong thought gives rows of its own
        (1, 60, 0.05, 0.01),  # one stage: all rows in one turn
        (4, 12, 0.2, 0.01),  # the square root lies nearer to 6
        (4, 7, 1.0, 0.2),  # 4 rows in two turns would be the fastest, and do not divide 7
    ],
    drawn=drawn,
    passed="Right: neither the smallest bubble nor the fewest turns.",
)
TIME = "(sequences // rows + stages - 1) * (fixed + each * rows)"
SMALLEST = (
    "the smallest bubble is not the shortest step: each turn pays `fixed` once, whatever its rows"
)
FEWEST = (
    "the fewest turns are not the shortest step: with more rows each turn of waiting takes longer"
)
ROOT = "the root of `sequences`: which rows are fast depends on stages, fixed and each; compare seconds"
for _thought, _old, _new in [
    (SMALLEST, TIME, "rows"),
    (FEWEST, TIME, "-rows"),
    (FEWEST, TIME, "sequences // rows * (fixed + each * rows)"),
    (SMALLEST, TIME, "fixed + (sequences // rows + stages - 1) * each * rows"),
    (SMALLEST, TIME, "(sequences // rows + stages - 1) * each * rows"),
    (SMALLEST, TIME, "(stages - 1) / (sequences // rows + stages - 1) + rows * 1e-9"),
    (FEWEST, TIME, "(sequences // rows * stages) * (fixed + each * rows)"),
    (FEWEST, TIME, "sequences // rows * (fixed + each * rows) + (stages - 1) * fixed"),
    (SMALLEST, TIME, "(sequences // rows + stages - 1) * (fixed + each) * rows"),
    (ROOT, TIME, "abs(rows - sequences**0.5)"),
    (ROOT, TIME, "-rows if rows**2 <= sequences else rows"),
    ("m micro-batches take m + p - 1 turns, not m + p", TIME, "(sequences // rows + stages) * (fixed + each * rows)"),
    ("a turn pays both, fixed + each * rows: brackets around the sum", TIME, "(sequences // rows + stages - 1) * fixed + each * rows"),
    ("a turn pays both, fixed + each * rows: brackets around the sum", TIME, "(sequences // rows * fixed + each * rows) * stages"),
    ("`fixed` seconds are of a turn, `each` of a row", TIME, "(sequences // rows + stages - 1) * (fixed * rows + each)"),
    ("the bubble is added to the ideal time: (p - 1) / m of it, not (p - 1) / (m + p - 1)", TIME, "sequences // rows * (fixed + each * rows) * (1 + (stages - 1) / (sequences // rows + stages - 1))"),
    ("there may be fewer micro-batches than stages: more rows are a choice, too", "range(1, sequences + 1) if", "range(1, max(1, sequences // stages) + 1) if"),
    ("the rows divide the sequences", "for n in range(1, sequences + 1) if sequences % n == 0)", "for n in range(1, sequences + 1))"),
    ("divisors above the root divide, too: try all rows up to `sequences`", "range(1, sequences + 1)", "range(1, int(sequences**0.5) + 1)"),
    ("powers of two are a habit: other rows divide as well", "sequences % n == 0)", "sequences % n == 0 and n & (n - 1) == 0)"),
    ("rows must not divide the stages, but the sequences", "sequences % n == 0)", "n % stages == 0 and sequences % n == 0)"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "the seconds: asked are the rows",
    [("return min((n for", "return min((seconds(n) for"), ("sequences % n == 0), key=seconds)", "sequences % n == 0))")],
)  # fmt: skip
exercise.edit(
    "the number of micro-batches: asked are the rows",
    [("return min(", "return sequences // min(")],
)

RANGE = "range(1, sequences + 1) if"
for _most in ("max(sequences, 2)", "max(sequences // 2, 1) + 1"):
    exercise.edit(
        "`sequences` divides itself: with one stage, all rows in one turn are the fastest",
        [(RANGE, f"range(1, {_most}) if")],
    )
exercise.edit(
    "a short last micro-batch is none of the choices: the rows divide the sequences",
    [("(sequences // rows +", "(-(-sequences // rows) +"), (" if sequences % n == 0)", ")")],
)


@exercise.mistake
def nearest_root(stages, sequences, fixed, each):
    """the divisor nearest to the square root is not always the fastest: compare the seconds"""
    root = (sequences * fixed / (max(stages - 1, 1e-9) * each)) ** 0.5
    return min(
        (n for n in range(1, sequences + 1) if sequences % n == 0), key=lambda n: abs(n - root)
    )


@exercise.style
def loops(stages, sequences, fixed, each):
    """a loop over the micro-batches"""
    found = None
    for many in range(1, sequences + 1):
        if sequences % many:
            continue
        rows = sequences / many
        time = (many + stages - 1) * (fixed + each * rows)
        if found is None or time < found[0]:
            found = time, rows
    return int(found[1])


@exercise.style
def numpy(stages, sequences, fixed, each):
    """NumPy"""
    import numpy as np

    rows = np.arange(1, sequences + 1)
    rows = rows[sequences % rows == 0]
    return rows[np.argmin((sequences / rows + stages - 1) * (fixed + each * rows))]
