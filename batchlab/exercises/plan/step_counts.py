"""Tokens and targets of every step of a packed run."""

import numpy as np

from batchlab.exercises import Exercise


def step_counts(lengths, rows, sequences):
    """[(real tokens, target tokens)] of each step of `sequences` rows."""
    found = []
    for start in range(0, len(rows), sequences):
        inside = [int(lengths[n]) for row in rows[start : start + sequences] for n in row]
        found.append((sum(inside), sum(inside) - len(inside)))
    return found


def asked(lengths, rows, sequences):
    what = f"lengths of {lengths.dtype} " if type(lengths) is np.ndarray else "lengths "
    some = [int(n) for n in lengths]
    many = f"{what}{some}" if len(some) < 9 else f"{len(some)} documents"
    return f"steps of {sequences} rows: {many}, rows {rows if len(rows) < 9 else len(rows)}"


def dealt(rng, documents):
    """Documents in rows of one to four, in any order."""
    order = rng.permutation(documents).tolist()
    rows = []
    while order:
        rows.append([order.pop() for _ in range(min(len(order), int(rng.integers(1, 5))))])
    return rows


def drawn(rng):
    for _ in range(20):
        lengths = rng.integers(1, 40, int(rng.integers(3, 25))).tolist()
        yield lengths, dealt(rng, len(lengths)), int(rng.integers(1, 7))
    yield [2_000_000_000, 2_000_000_000], [[0], [1]], 2
    yield [16_777_217, 4, 8], [[0, 2], [1]], 2
    yield np.array([30_000, 9, 20_000], dtype=np.int16), [[1], [2, 0]], 3


exercise = Exercise(
    step_counts,
    hints=(
        "for start in range(0, len(rows), sequences): the rows of one step are a slice",
        "add up the lengths of all documents in these rows",
        "one target fewer than tokens in each document",
    ),
    asked=asked,
    shown=[
        ([5, 3, 2, 4, 1], [[3, 1], [0], [4, 2]], 2),
        ([4, 8], [], 3),
        (np.array([30_000, 20_000, 9], dtype=np.int16), [[0], [1, 2]], 2),
    ],
    drawn=drawn,
    passed="Right: slots, tokens and targets of a step are three numbers.",
)
INSIDE = "[int(lengths[n]) for row in rows[start : start + sequences] for n in row]"
BOTH = "(sum(inside), sum(inside) - len(inside))"
for _thought, *_changes in [
    (
        "the last, shorter step is dropped",
        ("range(0, len(rows), sequences)", "range(0, len(rows) - sequences + 1, sequences)"),
    ),
    ("the first token of every document is no target", (" - len(inside))", ")")),
    (
        "one token a row is taken off: each document has a first token of its own",
        ("- len(inside))", "- len(rows[start : start + sequences]))"),
    ),
    (
        "one token a step is taken off: each document has a first token of its own",
        ("- len(inside))", "- 1)"),
    ),
    ("the number of documents, not their tokens", (BOTH, "(len(inside), 0)")),
    (
        "slots, not tokens: padding is counted",
        ("    found = []", "    width = max([sum(lengths[n] for n in r) for r in rows] or [0])\n    found = []"),
        (BOTH, "(width * len(rows[start : start + sequences]), sum(inside) - len(inside))"),
    ),
    (
        "`rows` are rows of documents: look up the numbers in each",
        ("len(rows), sequences)", "len(lengths), sequences)"),
        (INSIDE, "[int(n) for n in lengths[start : start + sequences]]"),
    ),
    (
        "documents of a row add up: the longest one is not the row",
        (BOTH, "(max(inside), max(inside) - len(inside))"),
    ),
    ("int16 ends at 32,767: make each length an int before the sum", ("int(lengths[n])", "lengths[n]")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
exercise.edit(
    "no rows make no steps", [("    found = []", "    rows[0]\n    found = []")], says="IndexError"
)


@exercise.style
def loops(lengths, rows, sequences):
    """loops, lists in place of tuples"""
    found = []
    for at in range(0, len(rows), sequences):
        tokens = targets = 0
        for row in rows[at : at + sequences]:
            for number in row:
                tokens += int(lengths[number])
                targets += int(lengths[number]) - 1
        found.append([tokens, targets])
    return found


@exercise.style
def numpy(lengths, rows, sequences):
    """NumPy, row by row"""
    tokens = [sum(int(lengths[n]) for n in row) for row in rows]
    targets = [t - len(row) for t, row in zip(tokens, rows)]
    cut = range(0, len(rows), sequences)
    return [
        np.array([sum(tokens[i : i + sequences]), sum(targets[i : i + sequences])]) for i in cut
    ]
