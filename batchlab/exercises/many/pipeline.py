"""A pipeline's step: its seconds, and the share that a stage is idle."""

from batchlab.exercises import Exercise


def pipeline(stages, sequences, rows, fixed, each):
    """(seconds of one step, idle share of the whole time)."""
    if sequences % rows:
        raise ValueError(f"{sequences} sequences do not divide into micro-batches of {rows} rows")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns


def drawn(rng):
    for _ in range(10):
        rows = int(rng.integers(1, 20))
        case = int(rng.integers(2, 40)), rows * int(rng.integers(1, 90)), rows
        yield *case, *rng.uniform(0.01, 0.9, 2).round(3).tolist()
        yield *case, *rng.uniform(0.01, 0.9, 2).round(3).tolist()
    yield 1, 30, 5, 0.05, 0.01
    yield 9, 6, 6, 0.02, 0.5
    yield 3, 100, 1, 0.0, 0.25
    yield 2, 3_000_000_000, 3, 0.5, 0.25
    yield 4, 100, 8, 0.1, 0.2


exercise = Exercise(
    pipeline,
    hints=(
        "m = sequences / rows micro-batches, m + p - 1 turns",
        "each turn costs fixed + each * rows, once",
        "idle: p - 1 of the m + p - 1 turns",
    ),
    asked=lambda *case: (
        "{} stages, {} sequences in micro-batches of {}, {:g} s + {:g} s a row".format(*case)
    ),
    parts=("seconds", "idle"),
    rel=1e-6,
    mentions=lambda stages, sequences, rows, *_: (sequences, rows),
    shown=[
        (12, 48, 2, 0.018, 0.02),
        (5, 14, 7, 0.2, 0.07),
        (12, 48, 2, 0.40007, 0.00037),
        (4, 7, 14, 0.1, 0.2),
    ],
    drawn=drawn,
    passed="Right: the bubble is a share of the whole time, and rows that do not divide are refused.",
)
SECONDS, IDLE, TURN = (
    "turns * (fixed + each * rows)",
    "(stages - 1) / turns",
    "(fixed + each * rows)",
)
REFUSE = '    if sequences % rows:\n        raise ValueError(f"{sequences} sequences do not divide into micro-batches of {rows} rows")\n'
M = "(sequences // rows)"
for _thought, _old, _new in [
    (
        "the stages wait for the first and the last micro-batch: m + p - 1 turns",
        SECONDS,
        f"{M} * {TURN}",
    ),
    ("one turn too many: the first stage begins at once", SECONDS, f"(turns + 1) * {TURN}"),
    ("one turn too few", SECONDS, f"(turns - 1) * {TURN}"),
    (
        "the stages work at the same time: micro-batches do not wait for each other",
        SECONDS,
        f"{M} * stages * {TURN}",
    ),
    (
        "more stages do not divide the turns: the first micro-batch passes them all",
        SECONDS,
        f"{M} / stages * {TURN}",
    ),
    ("one row a turn: a turn takes fixed + each x rows", SECONDS, "turns * (fixed + each)"),
    ("the fixed cost is paid every turn", SECONDS, "fixed + turns * each * rows"),
    ("without the fixed cost", SECONDS, "turns * each * rows"),
    (
        "the fixed cost is paid once a turn, not once a row",
        SECONDS,
        "turns * (fixed + each) * rows",
    ),
    (
        "rows and micro-batches changed places",
        SECONDS,
        f"(rows + stages - 1) * (fixed + each * {M})",
    ),
    ("rounded to 2 digits: keep them all", SECONDS, f"round({SECONDS}, 2)"),
    ("rounded to 3 digits: keep them all", SECONDS, f"round({SECONDS}, 3)"),
    (
        "the bubble over the ideal time: asked is its share of the whole time",
        IDLE,
        f"(stages - 1) / {M}",
    ),
    ("over m + p: the whole time is m + p - 1 turns", IDLE, "(stages - 1) / (turns + 1)"),
    ("p stages wait p - 1 turns, not p", IDLE, "stages / turns"),
    ("the busy share: asked is the idle one", IDLE, f"{M} / turns"),
    ("in per cent: a share is at most 1", IDLE, "100 * (stages - 1) / turns"),
    ("in seconds: asked is a share", IDLE, f"(stages - 1) * {TURN}"),
    ("a part of a micro-batch: refuse it, and name both numbers", REFUSE, ""),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "rounds up: a part of a micro-batch is refused, and both numbers named",
    [(REFUSE, ""), ("sequences // rows", "-(-sequences // rows)")],
)
for _says, _thought, _old, _new in [
    ("2 things are needed", "the seconds alone", ", " + IDLE, ""),
    ("without 14", "a message without the rows", " into micro-batches of {rows} rows", ""),
    (
        "AssertionError",
        "an assert",
        REFUSE,
        "    assert sequences % rows == 0, (sequences, rows)\n",
    ),
    (
        "ValueError: 14 seq",
        "refuses fewer micro-batches than stages",
        "if sequences % rows:",
        "if sequences % rows or sequences // rows < stages:",
    ),
]:
    exercise.edit(_thought, [(_old, _new)], says=_says)


@exercise.style
def by_divmod(stages, sequences, rows, fixed, each):
    """a list, by divmod"""
    micro, left = divmod(sequences, rows)
    if left:
        raise ValueError(f"{rows} rows do not divide {sequences:,} sequences")
    busy, idle = micro * (fixed + each * rows), (stages - 1) * (fixed + each * rows)
    return [busy + idle, idle / (busy + idle)]


@exercise.style
def library(stages, sequences, rows, fixed, each):
    """the library"""
    from batchlab import cluster

    if sequences / rows != int(sequences / rows):
        raise ValueError(f"{sequences} over {rows}")
    one = cluster.bubble(stages, sequences // rows)
    return (1 + one.over_ideal) * one.micro_batches * (fixed + each * rows), one.share
