"""How many rows are enough: from the seconds of a step to the rows that saturate."""

from batchlab.exercises import Exercise


def enough_rows(t0, tau, share):
    """The fewest whole rows whose rate is `share` of the best that any number of rows reaches."""
    import math

    return max(1, math.ceil(share / (1 - share) * t0 / tau - 1e-9))


def drawn(rng):
    """Fits of all kinds, far enough from a whole number that rounding decides nothing."""
    for _ in range(40):
        t0, tau = float(rng.uniform(0.01, 9)), float(rng.uniform(0.005, 3))
        share = float(rng.choice([0.5, 0.7, 0.8, 0.9, 0.95]))
        rows = share / (1 - share) * t0 / tau
        if abs(rows - round(rows)) > 1e-3:
            yield t0, tau, share
    yield from [(-0.3, 2.0, 0.9), (0.0, 1.5, 0.9), (0.001, 4.0, 0.8)]


exercise = Exercise(
    enough_rows,
    points=3,
    hints=(
        "b rows take t0 + tau * b seconds: how many rows a second is that, and where does it end?",
        "the best rate is 1 / tau; ask b / (t0 + tau * b) >= share / tau, and solve for b",
        "round share / (1 - share) * t0 / tau up (in floats 0.9 / (1 - 0.9) is a little above 9: "
        "take 1e-9 off), or try b = 1, 2, 3 ... until it is enough",
    ),
    asked="the fewest rows at t0 {}, tau {} for a share of {}".format,
    shown=[(29, 8, 0.75), (61, 7, 0.9), (6, 2, 0.5), (-0.5, 2.0, 0.9)],
    drawn=drawn,
    passed="Right: the knee is a quotient of t0 and tau. A faster row needs more of them.",
)
WHOLE = "max(1, math.ceil(share / (1 - share) * t0 / tau - 1e-9))"
for _thought, _value in {
    "rounded down: these rows do not reach the share yet": WHOLE.replace("ceil", "floor"),
    "rounded to the nearest: the share is to be reached": WHOLE.replace("math.ceil", "round"),
    "one row too many: ceil is the first that reaches it": f"{WHOLE} + 1",
    "t0 and tau are exchanged: a dear start wants more rows": WHOLE.replace("t0 / tau", "tau / t0 if t0 else 1"),
    "nine tenths, whatever the share": WHOLE.replace("share / (1 - share)", "9"),
    "share and what is missing of it are exchanged": WHOLE.replace("share / (1 - share)", "(1 - share) / share"),
    "divided by what is missing alone: the share is missing above": WHOLE.replace("share / (1", "1 / (1"),
    "the share of the time that rows take: compare rates, b / (t0 + tau b) with 1 / tau": WHOLE.replace(" / (1 - share)", ""),
    "a noisy t0 below 0 gives no rows at all: one is the fewest": "math.ceil(share / (1 - share) * t0 / tau - 1e-9)",
    "t0 without its sign: below 0 one row is enough": WHOLE.replace("* t0", "* abs(t0)"),
    "one more than is whole already: 3 rows reach exactly half": "max(1, 1 + int(share / (1 - share) * t0 / tau))",
    "two rows at least: one may be enough": WHOLE.replace("max(1", "max(2"),
    "the next power of two: no rule asks for it": f"2 ** math.ceil(math.log2({WHOLE}))",
    "not whole: rows are": "max(1.0, share / (1 - share) * t0 / tau)",
}.items():  # fmt: skip
    exercise.edit(_thought, [(WHOLE, _value)])


@exercise.style
def one_by_one(t0, tau, share):
    """one row more until it is enough"""
    rows = 1
    while rows / (t0 + tau * rows) < share / tau:
        rows += 1
    return rows


@exercise.style
def numpy(t0, tau, share):
    """NumPy"""
    import numpy as np

    return int(np.clip(np.ceil(t0 * share / (tau * (1 - share))), 1, None))
