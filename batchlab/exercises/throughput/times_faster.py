"""A napkin formula: one micro-batch against the same rows in pieces."""

from batchlab.exercises import Exercise


def times_faster(t0, tau, rows, pieces):
    """How many times as fast one micro-batch is as `pieces` micro-batches of `rows` rows."""
    return pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)


def drawn(rng):
    for _ in range(20):
        case = *rng.uniform(0.01, 9, 2).tolist(), *map(int, rng.integers(2, 40, 2))
        yield from (case, (*case[:3], case[3] + 1), (case[0] / 3, *case[1:]))
    yield from [(0, 3, 4, 5), (9, 0, 4, 5), (1e-5, 2e-6, 6000, 70_001)]


exercise = Exercise(
    times_faster,
    hints=(
        "write both times down: the pieces one after another, and the large one",
        "pieces * (t0 + tau * rows), and t0 + tau * rows * pieces",
        "the seconds of the pieces divided by those of the large one",
    ),
    asked="t0 {}, tau {}: one micro-batch against pieces, rows {} and pieces {}".format,
    shown=[(60, 2, 3, 8), (-2, 9, 2, 3), (6, -0.5, 4, 2), (9, 0, 4, 5), (-9, 1, 4, 5)],
    drawn=drawn,
    passed="Right: 2.96 times if launch-bound, 1.04 times if saturated, by one formula.",
)
VALUE = "pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)"
for _thought, _value in {
    "upside down: seconds of the pieces over seconds of the large one": f"1 / ({VALUE})",
    "one piece against the large one: there are several": f"{VALUE} / pieces",
    "the fixed seconds of the pieces were counted once": "1.0",
    "as many times as there are pieces: only if a row cost nothing": "pieces",
    "rows and pieces are exchanged": "rows * (t0 + tau * pieces) / (t0 + tau * rows * pieces)",
    "the difference in seconds: asked is a quotient": "t0 * (pieces - 1)",
    "the gain: asked is how many times as fast, 1 is no gain": f"{VALUE} - 1",
    "one row a piece: each has several": "pieces * (t0 + tau) / (t0 + tau * pieces)",
    "the large one without its fixed seconds": "(t0 + tau * rows) / (tau * rows)",
    "4 pieces: their number is given": "4 * (t0 + tau * rows) / (t0 + tau * rows * 4)",
    "t0 and tau are exchanged": "pieces * (tau + t0 * rows) / (tau + t0 * rows * pieces)",
    "1 + the saving over the seconds of the pieces: divide by the large one": (
        "1 + (pieces - 1) * t0 / (pieces * (t0 + tau * rows))"
    ),
    "rows of all pieces are given, and divided": (
        "pieces * (t0 + tau * rows / pieces) / (t0 + tau * rows)"
    ),
    "rounded: give all digits": f"round({VALUE}, 2)",
    "never below 1: with a negative t0 the pieces win, and nothing is to be clipped": (
        f"max(1.0, {VALUE})"
    ),
    "a negative tau clipped: clip nothing": VALUE.replace("tau", "max(tau, 0)"),
    "the sign was dropped: clip nothing, turn nothing round": f"abs({VALUE})",
}.items():
    exercise.edit(_thought, [(VALUE, _value)])
exercise.edit(
    "divided by tau, which may be 0: a row may cost nothing",
    [(VALUE, "pieces * (t0 / tau + rows) / (t0 / tau + rows * pieces)")],
)


@exercise.style
def both_times(t0, tau, rows, pieces):
    """both times, piece by piece"""
    return sum(t0 + tau * rows for _ in range(pieces)) / (t0 + tau * rows * pieces)


@exercise.style
def float32(t0, tau, rows, pieces):
    """float32"""
    import numpy as np

    return np.float32(pieces * (t0 + tau * rows)) / np.float32(t0 + tau * rows * pieces)
