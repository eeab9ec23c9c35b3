"""The rows below which recomputing pays: small micro-batches leave a device idle."""

from batchlab.exercises import Exercise


def pays_below(fixed, per_row, times, share):
    """Return the rows below which `times` as many rows, recomputed, are faster per row; else 0.

    A micro-batch of b rows takes fixed + per_row * b; recomputed it takes 1 + share times as long.
    """
    rows = fixed * (times - 1 - share) / (per_row * times * share)
    return max(0.0, rows)


def drawn(rng):
    for _ in range(16):
        fixed, per_row = rng.uniform(0.5, 90, 2).tolist()
        times, share = float(rng.integers(2, 9)), float(rng.uniform(0.1, 0.9))
        yield fixed, per_row, times, share
        yield fixed, per_row, 1.0 + share / 2, share
    yield 47.0, 3.0, 1.5, 1 / 3


exercise = Exercise(
    pays_below,
    points=2,
    rel=1e-6,
    hints=(
        "write the time of one row, without recomputing at b rows and with it at times * b",
        "set the two equal: fixed/b + per_row = (1 + share) * (fixed/(times*b) + per_row)",
        "solve for b: fixed * (times - 1 - share) / (per_row * times * share), and 0 if negative",
    ),
    asked="{:g} + {:g} a row, {:g} times the rows, a share {:.3g} longer".format,
    shown=[(60, 2, 4, 1 / 3), (5, 25, 8, 0.25), (60, 2, 1.2, 0.5)],
    drawn=drawn,
    passed="Right: below it the device was idle enough to pay for a second forward pass.",
)
ROWS, END = (
    "fixed * (times - 1 - share) / (per_row * times * share)",
    "return max(0.0, rows)",
)
for _thought, _value in {
    "the recomputation is forgotten in what is won: it is longer by the share, too": (
        "fixed * (times - 1) / (per_row * times * share)"
    ),
    "the share adds to 1: 1 + share times as long": "fixed * (times - share) / (per_row * times * share)",
    "the rows of the large micro-batch: asked are those without recomputing": (
        "fixed * (times - 1 - share) / (per_row * share)"
    ),
    "always a third: take the share that is given": (
        "fixed * (times - 4 / 3) / (per_row * times / 3)"
    ),
    "the growing time is recomputed, too: all of it takes the share longer": (
        "fixed * (times - 1 - share) / (per_row * times)"
    ),
    "turned over": "(per_row * times * share) / (fixed * (times - 1 - share))",
    "fixed and growing time are alike there: compare the time of one row": "fixed / per_row",
    "the cost is doubled: one forward pass of three is added": (
        "fixed * (times - 2) / (per_row * times)"
    ),
    "whole rows: keep the fraction": f"{ROWS} // 1",
    "rounded: keep all digits": f"round({ROWS}, 2)",
}.items():
    exercise.edit(_thought, [(ROWS, _value)])
exercise.edit("where it never pays, the rows are 0, not negative", [(END, "return rows")])
exercise.edit("one row at least: 0 where it never pays", [("max(0.0", "max(1.0")])


@exercise.style
def balanced(fixed, per_row, times, share):
    """what is won against what is lost"""
    won = fixed * (1 - (1 + share) / times)  # ms a row, times the rows
    lost = share * per_row
    return won / lost if won > 0 else 0


@exercise.style
def halved(fixed, per_row, times, share):
    """by halving"""

    def pays(rows):
        before = fixed / rows + per_row
        return (1 + share) * (fixed / (times * rows) + per_row) < before

    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if pays(middle) else (low, middle)
    return low if low > 1e-12 else 0.0
