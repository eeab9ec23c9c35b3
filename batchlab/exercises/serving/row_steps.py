"""Useful and computed row-steps of static batches."""

from batchlab.exercises import Exercise


def row_steps(outputs, rows):
    """(useful, computed) row-steps of static batches of `rows` requests."""
    computed = 0
    for start in range(0, len(outputs), rows):
        batch = outputs[start : start + rows]
        computed += len(batch) * (max(batch) - 1)
    return sum(outputs) - len(outputs), computed


def drawn(rng):
    for _ in range(15):
        outputs, rows = (
            rng.integers(1, 90, int(rng.integers(1, 60))).tolist(),
            int(rng.integers(1, 12)),
        )
        yield outputs, rows
        yield outputs, rows + 1
    yield [12], 8
    yield [5, 11, 3], 1
    yield [1, 1, 1], 2
    yield [3_000_000_000, 5, 1], 2
    yield rng.integers(1, 900, 1000).tolist(), 32


exercise = Exercise(
    row_steps,
    points=2,
    hints=(
        "cut the outputs into batches: outputs[start : start + rows]",
        "each row of a batch computes as many row-steps as the longest of the batch needs",
        "an output of n tokens needs n - 1 row-steps: the prompt's pass gives the first token",
    ),
    asked=lambda outputs, rows: (
        f"row-steps of {outputs if len(outputs) < 12 else f'{len(outputs)} outputs'}, rows {rows}"
    ),
    parts=("useful", "computed"),
    shown=[
        ([9, 2, 30, 4, 17, 8, 5, 21, 6, 3], 3),
        ([5, 1, 7, 1, 1, 9, 1], 3),
        ([], 4),
        ((3, 9, 2, 7), 3),
    ],
    drawn=drawn,
    passed="Right: a static batch pays the padding statistic, after training.",
)
USEFUL, COMPUTED = "sum(outputs) - len(outputs)", "len(batch) * (max(batch) - 1)"
START = "    computed = 0\n"
for _thought, *_changes in [
    ("every row-step counts as useful: a row that is done computes on", (USEFUL, "computed")),
    (
        "no padding at all: each row runs until its batch's longest is done",
        (COMPUTED, "sum(batch) - len(batch)"),
    ),
    (
        "the first token comes out of the prompt's pass: an output of n takes n - 1 row-steps",
        (USEFUL, "sum(outputs)"),
        (COMPUTED, "len(batch) * max(batch)"),
    ),
    (
        "the first token comes out of the prompt's pass: the longest takes one row-step less",
        (COMPUTED, "len(batch) * max(batch)"),
    ),
    (
        "the first token comes out of the prompt's pass: it is no useful row-step",
        (USEFUL, "sum(outputs)"),
    ),
    (
        "an output of 1 holds its row, too, until the longest of its batch is done",
        (COMPUTED, "sum(n > 1 for n in batch) * (max(batch) - 1)"),
    ),
    ("the last batch has only the rows that are left", (COMPUTED, "rows * (max(batch) - 1)")),
    (
        "the last batch is lost: it is short, and is served",
        (START, START + "    outputs = outputs[: len(outputs) // rows * rows]\n"),
    ),
    (
        "the last batch is lost: it is short, and is served",
        ("range(0, len(outputs), rows)", "range(0, len(outputs) - rows + 1, rows)"),
    ),
    (
        "each output has a first token of its own: take off one for each, not one a batch",
        (USEFUL, "sum(outputs) - -(-len(outputs) // rows)"),
    ),
    (
        "a new batch begins at every request: step by `rows`",
        (
            START,
            START
            + "    outputs = [n for at in range(len(outputs)) for n in outputs[at : at + rows]]\n",
        ),
    ),
    (
        "sorted first: requests are batched in the order given",
        (START, START + "    outputs = sorted(outputs)\n"),
    ),
    (
        "one longest for all: each batch runs to its own",
        (COMPUTED, "len(batch) * (max(outputs) - 1)"),
    ),
    (
        "passes: a pass computes one row-step for each row of the batch",
        (COMPUTED, "max(batch) - 1"),
    ),
    ("useful first, then computed", (f"{USEFUL}, computed", f"computed, {USEFUL}")),
    ("wasted in place of computed", (f"{USEFUL}, computed", f"{USEFUL}, computed - ({USEFUL})")),
    (
        "rows is the size of a batch, not the number of batches",
        (START, START + "    rows = -(-len(outputs) // rows) or 1\n"),
    ),
    ("the longest of a batch decides, not its last", (COMPUTED, "len(batch) * (batch[-1] - 1)")),
]:
    exercise.edit(_thought, _changes)
for _says, _thought, *_changes in [
    ("the float", "a ratio of floats is no count", (COMPUTED, "len(batch) * (max(batch) - 1) / 1")),
    ("2 things are needed", "one number", (f"{USEFUL}, computed", "computed")),
    (
        "no longest output",
        "no request has no longest output",
        (START, START + "    longest = max(outputs)\n"),
    ),
    (
        "changed from",
        "sorted first: requests are batched in the order given",
        (START, START + "    outputs.sort()\n"),
    ),
    ("TypeError", "a tuple is handed over, too", (START, START + "    outputs = outputs + []\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def one_loop(outputs, rows):
    """one loop, a list"""
    useful = computed = 0
    for start in range(0, len(outputs), rows):
        batch = list(outputs[start : start + rows])
        useful += sum(batch) - len(batch)
        computed += len(batch) * (max(batch) - 1)
    return [useful, computed]


@exercise.style
def arrays(outputs, rows):
    """arrays"""
    import numpy as np

    o = np.asarray(outputs, dtype=np.int64)
    ends = [o[i : i + rows] for i in range(0, o.size, rows)]
    return (o - 1).sum(), sum((p.size * (p.max() - 1) for p in ends), np.int64(0))
