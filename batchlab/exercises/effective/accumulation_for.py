"""The accumulation with which a step of another launch keeps its target tokens."""

import numpy as np

from batchlab.exercises import Exercise


def accumulation_for(targets, launch, measured):
    """The accumulation with which a step comes nearest to `targets` target tokens, at least 1.

    launch: rows, devices, tensor, pipeline, context; measured: (rows, target tokens) of each
    micro-batch that was counted.
    """
    replicas = launch["devices"] // (launch["tensor"] * launch["pipeline"] * launch["context"])
    a_row = sum(found for _, found in measured) / sum(rows for rows, _ in measured)
    return max(1, round(targets / (launch["rows"] * replicas * a_row)))


def of(rows, devices, tensor=1, pipeline=1, context=1):
    """A launch of these numbers."""
    return {
        "rows": rows, "devices": devices, "tensor": tensor, "pipeline": pipeline,
        "context": context,
    }  # fmt: skip


def drawn(rng):
    for _ in range(20):
        rows, replicas, *degrees = (int(n) for n in rng.integers(1, 6, 5))
        parts = rng.integers(1, 9, int(rng.integers(1, 7)))
        measured = [(int(part), int(rng.integers(1, 90 * part))) for part in parts]
        a_round = rows * replicas * sum(t for _, t in measured) / int(parts.sum())
        targets = max(1, int((int(rng.integers(0, 30)) + float(rng.uniform(-0.4, 0.4))) * a_round))
        launch = of(rows, replicas * degrees[0] * degrees[1] * degrees[2], *degrees)
        if not (2 * targets / a_round) % 1 == 0:  # a tie may be rounded either way
            yield targets, launch, measured


exercise = Exercise(
    accumulation_for,
    points=2,
    hints=(
        "how many rows do all replicas take in one round of micro-batches?",
        "target tokens of a row: all that were counted / all rows that were counted",
        "targets / (rows * replicas * target tokens of a row), rounded to the nearest, at least 1",
    ),
    asked=lambda targets, launch, measured: (
        f"{targets:,} targets; "
        + ", ".join(f"{name} {value}" for name, value in launch.items())
        + f"; counted {measured}"
    ),
    shown=[
        (1150, of(2, 32, tensor=8), [(4, 60), (1, 40)]),
        (9000, of(2, 48, tensor=2, pipeline=3, context=2), [(4, 50), (4, 30), (2, 70)]),
        (350, of(4, 2), [(4, 90)]),
        (100, of(8, 8), [(8, 700), (3, 10)]),
        (64, of(2, 2), [(3, 4)]),
    ],
    drawn=drawn,
    passed="Right: GPUs of one replica share its rows, and a row has the targets that you counted.",
)
REPLICAS = '(launch["tensor"] * launch["pipeline"] * launch["context"])'
A_ROW = "sum(found for _, found in measured) / sum(rows for rows, _ in measured)"
END = 'max(1, round(targets / (launch["rows"] * replicas * a_row)))'
for _thought, *_changes in [
    ("a GPU is no replica: those of one share a copy of the model", (REPLICAS, "1")),
    (
        "pipeline stages work on the same rows: they divide the devices, too",
        (REPLICAS, '(launch["tensor"] * launch["context"])'),
    ),
    (
        "context parallel GPUs share a sequence: they divide the devices, too",
        (REPLICAS, '(launch["tensor"] * launch["pipeline"])'),
    ),
    (
        "only tensor divides here: pipeline and context share a replica, too",
        (REPLICAS, 'launch["tensor"]'),
    ),
    (
        "the degrees multiply; they are not added",
        (REPLICAS, '(launch["tensor"] + launch["pipeline"] + launch["context"])'),
    ),
    (
        "the mean of ratios: a short micro-batch counts like a full one. Divide the sums",
        (A_ROW, "sum(found / rows for rows, found in measured) / len(measured)"),
    ),
    (
        "target tokens of a micro-batch: how many rows did it have? Count them a row",
        (A_ROW, "sum(found for _, found in measured) / len(measured)"),
        ('launch["rows"] * ', ""),
    ),
    (
        "a micro-batch of the launch has its own rows: targets a row, times these rows",
        (A_ROW, "sum(found for _, found in measured) / len(measured)"),
    ),
    *(
        ("the targets of a row were rounded: a mean may have a fraction", (A_ROW, whole))
        for whole in (f"round({A_ROW})", A_ROW.replace(" / ", " // "))
    ),
    (
        "the rows of the launch are forgotten",
        ('launch["rows"] * ', ""),
    ),
    (
        "the replicas are forgotten: all of them share the step",
        ("* replicas * a_row", "* a_row"),
    ),
    ("rounded down: the nearest is asked", (END, END.replace("round(", "int("))),
    ("no step at all: at least one micro-batch is taken", (END, END[7:-1])),
]:
    exercise.edit(_thought, _changes)


@exercise.mistake
def rounded_up(targets, launch, measured):
    """rounded up: the nearest is asked"""
    import math

    replicas = launch["devices"] // (launch["tensor"] * launch["pipeline"] * launch["context"])
    a_row = sum(found for _, found in measured) / sum(rows for rows, _ in measured)
    return math.ceil(targets / (launch["rows"] * replicas * a_row))


@exercise.mistake(says="a count is an int")
def no_int(targets, launch, measured):
    """a float: a count is an int"""
    replicas = launch["devices"] // (launch["tensor"] * launch["pipeline"] * launch["context"])
    a_row = sum(found for _, found in measured) / sum(rows for rows, _ in measured)
    return targets / (launch["rows"] * replicas * a_row)


@exercise.style
def tried(targets, launch, measured):
    """tried, from 1 upwards"""
    rows = counted = 0
    for some, found in measured:
        rows, counted = rows + some, counted + found
    devices = launch["tensor"] * launch["pipeline"] * launch["context"]
    once = launch["rows"] * (launch["devices"] / devices) * counted / rows
    times = 1
    while abs((times + 1) * once - targets) < abs(times * once - targets):
        times += 1
    return times


@exercise.style
def with_numpy(targets, launch, measured):
    """NumPy"""
    rows, counted = np.array(measured).T
    replicas = launch["devices"] / np.prod(
        [launch[one] for one in ("tensor", "pipeline", "context")]
    )
    return max(1, int(np.rint(targets / (launch["rows"] * replicas * counted.sum() / rows.sum()))))
