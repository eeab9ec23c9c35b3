"""The ZeRO stage that sends least: what it frees makes rows larger, so that it reduces less often."""

import math

from batchlab.exercises import Exercise


def kept(parameters, ranks, stage):
    """Bytes of states that one rank keeps: weights, gradients, optimizer."""
    weights, gradients, optimizer = (ranks if stage >= first else 1 for first in (3, 2, 1))
    return parameters * (2 / weights + 2 / gradients + 12 / optimizer)


def passes(stage, accumulation):
    """Passes of one optimizer step."""
    return (2, 2, accumulation + 1, 3 * accumulation)[stage]


def best_stage(parameters, ranks, room, each, rows):
    """(stage, accumulation) with the fewest passes in a step of `rows` rows a rank."""
    found = []
    for stage in range(4):
        fit = int((room - kept(parameters, ranks, stage)) // each)
        if fit > 0:
            accumulation = math.ceil(rows / fit)
            found.append((passes(stage, accumulation), stage, accumulation))
    if not found:
        raise ValueError("not one row fits in any stage")
    return min(found)[1:]


def drawn(rng):
    count = 0
    while count < 24:
        parameters, ranks = int(rng.integers(10**8, 10**11)), int(rng.integers(1, 200))
        room = int(kept(parameters, ranks, int(rng.integers(0, 4))) * rng.uniform(0.9, 1.5)) + 1
        each, rows = max(1, room // int(rng.integers(2, 40))), int(rng.integers(1, 60))
        fits = [(room - kept(parameters, ranks, stage)) / each for stage in range(4)]
        if all(abs(one - round(one)) > 1e-6 for one in fits):  # else float decides
            count += 1
            yield parameters, ranks, room, each, rows


exercise = Exercise(
    best_stage,
    points=2,
    given=("math", "kept", "passes"),
    hints=(
        "for each stage: what `room` leaves beside kept(...), divided by `each`, rounded down: the rows that fit",
        "accumulation: rows of the step / rows that fit, rounded up; a stage without a row is none",
        "min of (passes, stage, accumulation) takes the lower stage of two equal ones",
    ),
    asked=lambda p, n, room, each, rows: (
        f"{p / 1e9:g} billion parameters, {n} ranks, {room / 1e9:g} GB, "
        f"{each / 1e9:g} GB a row, {rows} rows"
    ),
    parts=("the stage", "the accumulation"),
    shown=[
        (20 * 10**9, 8, 96 * 10**9, 9 * 10**9, 11),
        (20 * 10**9, 8, 80 * 10**9, 14 * 10**9, 10),
        (8 * 10**9, 8, 80 * 10**9, 9 * 10**9, 10),
        (10**9, 8, 24 * 10**9, 8 * 10**9, 3),
        (40 * 10**9, 8, 80 * 10**9, 10**9, 4),
    ],
    drawn=drawn,
    passed="Right: the stage with the smallest states may send less, since more rows fit at once.",
)
FIT, SKIP = "int((room - kept(parameters, ranks, stage)) // each)", "if fit > 0:"
MICRO, LEAST = "math.ceil(rows / fit)", "min(found)[1:]"
REFUSE = 'raise ValueError("not one row fits in any stage")'
HIGHER = "the lowest stage that holds a row: a higher one, 3 included, may hold more, and reduce less often"
FEWER = "one row a micro-batch, or only equal ones: take as many rows as fit, and the last one may have fewer"
LOWER = "of equal passes the lower stage, and 0 is one"
for _thought, _old, _new in [
    (HIGHER, LEAST, "min(found, key=lambda one: one[1])[1:]"),
    (HIGHER, "range(4)", "range(3)"),
    ("the fewest micro-batches: asked are the fewest passes", LEAST, "min(found, key=lambda one: (one[2], one[1]))[1:]"),
    ("the smallest states: stage 3 sends three passes for every micro-batch", LEAST, "max(found, key=lambda one: one[1])[1:]"),
    (LOWER, LEAST, "min(found, key=lambda one: (one[0], -one[1]))[1:]"),
    (LOWER, "range(4)", "range(1, 4)"),
    ("the passes in place of the micro-batches", LEAST, "min(found)[1], min(found)[0]"),
    ("the stage first, then the accumulation", LEAST, "min(found)[2], min(found)[1]"),
    ("the states are there before the first row: take them off the room", FIT, "int(room // each)"),
    ("the states of all ranks: each device holds those of one", FIT, "int((room - ranks * kept(parameters, ranks, stage)) // each)"),
    ("the room of all ranks: each device has its own", FIT, "int((ranks * room - kept(parameters, ranks, stage)) // each)"),
    ("rows are whole: round down what fits", FIT, "(room - kept(parameters, ranks, stage)) / each"),
    ("rounded up: the last row does not fit", FIT, "math.ceil((room - kept(parameters, ranks, stage)) / each)"),
    ("what fills the room exactly, fits", FIT, "math.ceil((room - kept(parameters, ranks, stage)) / each) - 1"),
    ("the rows that are left need a micro-batch, too: round up", MICRO, "max(1, rows // fit)"),
    (FEWER, MICRO, "rows"),
    (FEWER, MICRO, "next(n for n in range(1, rows + 1) if rows % n == 0 and rows <= n * fit)"),
    ("the rows that fit, not the micro-batches", MICRO, "fit"),
    ("`rows` are those of one rank already", MICRO, "math.ceil(rows / ranks / fit)"),
    ("`rows` are those of one rank already", MICRO, "math.ceil(rows * ranks / fit)"),
    ("a negative number of rows is none: that stage does not fit", SKIP, "if fit:"),
    ("not one row fits: refuse", REFUSE, "return 3, rows"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])
exercise.edit("a stage without a row", [(SKIP, "if fit >= 0:")], says="ZeroDivisionError")


@exercise.style
def step_by_step(parameters, ranks, room, each, rows):
    """the best so far, row after row, a list"""
    best = None
    for stage in range(4):
        free, fit = room - kept(parameters, ranks, stage), 0
        while fit < rows and (fit + 1) * each <= free:
            fit += 1
        if fit == 0:
            continue
        many = -(-rows // fit)
        sent = passes(stage, many)
        if best is None or sent < best:
            best, answer = sent, [stage, many]
    if best is None:
        raise ValueError
    return answer


@exercise.style
def numpy(parameters, ranks, room, each, rows):
    """NumPy, the library's passes"""
    import numpy as np

    left = np.array([room - kept(parameters, ranks, stage) for stage in range(4)])
    fit = np.floor(left / each)
    if fit.max() < 1:
        raise ValueError(f"no stage has room: {left}")
    micro = np.ceil(rows / np.where(fit < 1, 1e-12, fit))
    sent = np.array([2, 2, 1, 0]) + np.array([0, 0, 1, 3]) * micro
    sent[fit < 1] = np.inf
    stage = int(np.argmin(sent))
    return stage, int(micro[stage])
