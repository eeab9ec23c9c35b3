"""Every exact split: rows times accumulation, or a refusal with its neighbours."""

import re

from batchlab.exercises import Exercise
from batchlab.exercises.effective import near, offers_none


def splits(slots, length, replicas, most_rows):
    """All (rows, accumulation) that make one step exactly `slots` slots, in any order."""
    share, left = divmod(slots, length * replicas)  # sequences of one replica
    if left:
        below, above = slots - left, slots - left + length * replicas
        raise ValueError(f"{slots} slots: try {below or ''} {above}")
    fitting = range(1, min(most_rows, share) + 1)
    return [(rows, share // rows) for rows in fitting if share % rows == 0]


def drawn(rng):
    """Small steps of every kind, some that do not divide, calls that differ in one number."""
    for _ in range(20):
        share, most, length, n = (int(v) for v in rng.integers(2, 20, 4))
        part = length * n
        yield share * part, length, n, most
        yield share * part, length, n, 2 * most
        yield 2 * share * part, length, n, most
        yield 2 * share * part, 2 * length, n, most
        yield 2 * share * part, length, 2 * n, most
        yield part, length, n, most
        yield share * part + int(rng.integers(1, part)), length, n, most
        yield int(rng.integers(1, part)), length, n, most
    yield 144 * 8, 4, 2, 200
    yield 210 * 12 * 2, 12, 2, 40


def misnamed(said, slots, length, replicas, most_rows):
    """What is wrong with the offers of a message, by its numbers."""
    part = length * replicas
    offered = near(slots, part)
    if offers_none(said, offered[-1]):
        return "a step of 0 slots trains nothing: 0 slots are no offer"
    named = {int(one) for one in re.findall(r"\d+", re.sub(r"(?<=\d)[,_](?=\d{3})", "", said))}
    if named & {*offered}:
        return "" if {*offered} <= named else "only one neighbour: name the one below and above"
    for each, why in {
        part: "these count rounds of micro-batches: name the size of the step, in slots",
        length: "these are sequences: name the size of the step, in slots",
    }.items():
        if {number // each for number in offered} <= named:
            return why
    if {*near(slots, part * most_rows)} <= named:
        return "rows may be fewer than `most_rows`: a nearer step exists"
    for each, why in {
        length: "multiples of the length alone: the replicas share the step, too",
        replicas: "multiples of the replicas alone: rows are whole, too",
    }.items():
        if slots % each and {*near(slots, each)} <= named:
            return why
    return ""


exercise = Exercise(
    splits,
    points=2,
    hints=(
        "how many sequences must one replica see in a step?",
        "that number is rows x accumulation: which rows divide it without a remainder?",
        "share = slots // (length * replicas), if nothing is left over; try rows up to both limits",
    ),
    asked=lambda slots, length, replicas, most: (
        f"splits of {slots:,} slots, rows of {length:,}, {replicas} replicas, at most {most} rows"
    ),
    order=False,
    ints=True,
    mentions=lambda slots, length, replicas, _: near(slots, length * replicas),
    misnamed=misnamed,
    shown=[
        (288, 4, 3, 8),
        (32, 4, 2, 5),
        (280, 4, 1, 40),
        (47, 6, 4, 16),
        (50, 6, 4, 16),
        (42, 6, 4, 16),
        (44, 6, 4, 16),
        (36, 6, 4, 16),
        (5000, 1024, 8, 16),
    ],
    drawn=drawn,
    passed="Right: every exact split; what does not divide is handed back, with its neighbours.",
)
SHARE, PART = "divmod(slots, length * replicas)", "length * replicas"
EVEN, PAIR = " if share % rows == 0", "(rows, share // rows)"
LIMIT, LEFT = "min(most_rows, share) + 1", "    if left:"
for _thought, _says, *_changes in [
    (
        "the replicas are forgotten: they share the step",
        "",
        (SHARE, "divmod(slots, length)"),
        ("+ length * replicas", "+ length"),
    ),
    (
        "the length is forgotten: a row is `length` slots",
        "",
        (SHARE, "divmod(slots, replicas)"),
        ("+ length * replicas\n", "+ replicas\n"),
    ),
    ("rows begin at 1", "", ("range(1,", "range(0,")),
    (
        "rows may be fewer than `most_rows`: a nearer step exists",
        "",
        (
            "slots - left, slots - left + length * replicas",
            "(n * most_rows * length * replicas + slots // (most_rows * length * replicas)"
            " * most_rows * length * replicas for n in (0, 1))",
        ),
    ),
    ("most_rows is ignored", "", (LIMIT, "share + 1")),
    ("at most 8 rows: 8 counts", "", (LIMIT, "min(most_rows, share + 1)")),
    ("rows and accumulation are exchanged", "", (PAIR, "(share // rows, rows)")),
    ("5 rows x 4 is 20 of 24 sequences: a silent floor", "", (EVEN, "")),
    (
        "5 rows x 5 is 25 sequences, not 24: rounded",
        "",
        (PAIR, "(rows, round(share / rows + 0.01))"),
        (EVEN, ""),
    ),
    (
        "rows may be more than the root: (6, 4) is another pair than (4, 6)",
        "",
        (EVEN, EVEN + " and rows * rows <= share"),
    ),
    (
        "powers of two are a habit, not a rule",
        "",
        (EVEN, EVEN + " and rows & (rows - 1) == 0"),
    ),
    (
        "factors of two and three are not all: 5 and 7 divide, too",
        "",
        (EVEN, EVEN + " and 6**9 % rows == 0"),
    ),
    (
        "more rows than one replica has: not one micro-batch",
        "",
        (LIMIT, "most_rows + 1"),
        (EVEN, EVEN + " or rows > share"),
    ),
    (
        "more rows than one replica has sequences: too large a step",
        "",
        (LIMIT, "most_rows + 1"),
        (PAIR, "(rows, max(1, share // rows))"),
        (EVEN, EVEN + " or rows > share"),
    ),
    (
        "the rows of all replicas: most_rows are those of one",
        "",
        (LIMIT, "min(most_rows // replicas, share) + 1"),
    ),
    ("an accumulation of 1 counts", "", (EVEN, EVEN + " and share > rows")),
    ("floats: a count is an int", "a count is an int", (PAIR, "(rows, share / rows)")),
    (
        "a wish that does not divide is floored in silence: refuse it",
        "",
        (LEFT, "    if False:"),
    ),
    (
        "rows divide the slots, but the replicas cannot share them: look at length * replicas",
        "",
        (LEFT, "    if slots % length:"),
    ),
    (
        "the replicas divide the slots, but rows are whole: look at length * replicas",
        "",
        (LEFT, "    if slots % replicas:"),
    ),
    (
        "length and replicas both divide, but their product does not",
        "",
        (LEFT, "    if slots % length or slots % replicas:"),
    ),
    (
        "below is one step too low, or above too high",
        "",
        ("+ length * replicas\n", "+ 2 * length * replicas\n"),
    ),
    ("refuses, and does not say what would do", "", ("try {below or ''} {above}", "no split")),
    (
        "only one neighbour: name the one below and above",
        "",
        ("{below or ''} {above}", "{above}"),
    ),
    (
        "these count rounds of micro-batches: name the size of the step, in slots",
        "",
        ("try {below or ''} {above}", "accumulate {share or ''} or {share + 1} times"),
    ),
    (
        "these are sequences: name the size of the step, in slots",
        "",
        (
            "try {below or ''} {above}",
            "take {share * replicas or ''} or {(share + 1) * replicas} sequences",
        ),
    ),
    (
        "multiples of the length alone: the replicas share the step, too",
        "",
        (
            "slots - left, slots - left + length * replicas",
            "slots // length * length, slots // length * length + length",
        ),
    ),
    ("0 slots are no offer: name only the step above", "", ("below or ''", "below")),
    ("too small a step has no split: refuse it, too", "", (LEFT, "    if left and share:")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def square_twice(slots, length, replicas, most_rows):
    """the pair of a square stands there twice: both ways round it is the same"""
    share, left = divmod(slots, length * replicas)
    if left:
        raise ValueError([n for n in (slots - left, slots - left + length * replicas) if n])
    low = [n for n in range(1, share + 1) if n * n <= share and share % n == 0]
    pairs = [(n, share // n) for n in low] + [(share // n, n) for n in low]
    return [pair for pair in pairs if pair[0] <= most_rows]


@exercise.mistake
def last_division_only(slots, length, replicas, most_rows):
    """only the last division is tested: what the first one leaves is lost"""
    rows, left = slots // length, slots // length % replicas
    if left:
        part = length * replicas
        raise ValueError([n for n in (slots // part * part, slots // part * part + part) if n])
    share = rows // replicas
    return [(n, share // n) for n in range(1, min(most_rows, share) + 1) if share % n == 0]


@exercise.mistake
def empty_list(slots, length, replicas, most_rows):
    """an empty list: refuse what has no split, and name the nearest"""
    part = length * replicas
    return [(r, slots // (r * part)) for r in range(1, most_rows + 1) if slots % (r * part) == 0]


@exercise.style
def library(slots, length, replicas, most_rows):
    """the library"""
    from batchlab import plan

    found = plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)
    return [(p.rows, p.accumulation) for p in found]


@exercise.style
def two_loops(slots, length, replicas, most_rows):
    """two loops, as lists"""
    share, left = divmod(slots, length * replicas)
    if left:
        step = length * replicas
        near = [f"{n * step:,}" for n in (share, share + 1) if n]
        raise ValueError(f"{slots:,} is no step; try {' or '.join(near)}")
    return [[r, a] for a in range(1, share + 1) for r in range(1, most_rows + 1) if r * a == share]


@exercise.style
def falling(slots, length, replicas, most_rows):
    """from many rows to few"""
    part = length * replicas
    if slots % part:
        low = slots // part * part
        raise ValueError(f"{slots}: try {low or ''} or {low + part}")
    return [(r, slots // part // r) for r in range(most_rows, 0, -1) if slots // part % r == 0]
