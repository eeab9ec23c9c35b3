"""Deal micro-batches to ranks: each rank gets equally many, and none is left out."""

from batchlab.exercises import Exercise

SEVEN = [[9, 4], [2], [7, 1], [3], [8, 5], [0], [6]]


def dealt(made, rank, ranks):
    """The micro-batches of one rank: dealt in turn, the first once more where some are missing."""
    missing = -len(made) % ranks
    filled = made + (made * ranks)[:missing]
    return filled[rank::ranks]


def drawn(rng):
    for _ in range(30):
        many, ranks = int(rng.integers(1, 12)), int(rng.integers(1, 9))
        made = [rng.integers(0, 99, int(rng.integers(1, 4))).tolist() for _ in range(many)]
        yield made, int(rng.integers(ranks)), ranks


exercise = Exercise(
    dealt,
    points=2,
    hints=(
        "first make their number divide by `ranks`, then take every ranks-th of them",
        "-len(made) % ranks are missing",
        "filled[rank::ranks] begins at `rank` and takes every ranks-th",
    ),
    shown=[
        (SEVEN, 0, 3),
        (SEVEN, 1, 3),
        (SEVEN, 2, 3),
        (SEVEN[:6], 1, 3),
        (SEVEN[:1], 2, 4),
    ],
    drawn=drawn,
    passed="Right: every rank has equally many, so none waits for another until the time-out.",
)
FILLED, TAKEN = "made + (made * ranks)[:missing]", "filled[rank::ranks]"
for _thought, *_changes in [
    ("one rank has fewer: the others would wait until the time-out", (FILLED, "made")),
    (
        "the rest is dropped: fill up with the first ones",
        (FILLED, "made[: len(made) // ranks * ranks]"),
    ),
    ("filled up from the end: the first ones come again", (FILLED, "made + made[-missing:]")),
    (
        "the last one, again and again: the first ones come again",
        (FILLED, "made + made[-1:] * missing"),
    ),
    (
        "one too many where it divides: nothing is missing then",
        ("-len(made) % ranks", "ranks - len(made) % ranks"),
    ),
    (
        "too few micro-batches to fill up once: go through them again",
        (FILLED, "made + made[:missing]"),
    ),
    (
        "cut in blocks: deal them in turn",
        (TAKEN, "filled[rank * len(filled) // ranks : (rank + 1) * len(filled) // ranks]"),
    ),
    ("ranks are counted from 0", (TAKEN, "filled[rank - 1 :: ranks]")),
    (
        "ranks are counted from 0: no - 1",
        (
            TAKEN,
            "[made[(k * ranks + rank - 1) % len(made)] for k in range(len(filled) // ranks)]",
        ),
    ),
    ("ranks are counted from 0: no + 1", (TAKEN, "filled[rank + 1 :: ranks]")),
    (
        "the rank repeats its own first: the next ones of the list come again, from the front",
        (TAKEN, "made[rank::ranks] + made[rank::ranks][: rank >= len(made) % ranks > 0]"),
    ),
    (
        "always the very first: where two are missing, the first two come again",
        (FILLED, "made + made[:1] * missing"),
    ),
    ("every rank gets all of them", (TAKEN, "filled")),
    (
        "a micro-batch is dealt whole: its documents stay together",
        (FILLED, "[[n] for one in made for n in one]"),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "fills up the list that it was given",
    [(FILLED, "made"), ("    filled", "    made += (made * ranks)[:missing]\n    filled")],
    says="had 7 items",
)


@exercise.style
def round_by_round(made, rank, ranks):
    """round by round"""
    rounds = -(-len(made) // ranks)
    return [made[(number * ranks + rank) % len(made)] for number in range(rounds)]


@exercise.style
def with_cycle(made, rank, ranks):
    """with itertools"""
    from itertools import cycle, islice

    return list(islice(cycle(made), rank, -(-len(made) // ranks) * ranks, ranks))
