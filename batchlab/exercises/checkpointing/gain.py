"""Gain or loss: large rows, recomputed, against small rows without."""

from batchlab.exercises import Exercise


def gain(fixed, per_row, small, large, share):
    """Rows per second of `large` rows, `share` longer by recomputing, over those of `small`."""
    before = small / (fixed + per_row * small)
    after = large / (fixed + per_row * large)
    return after / (1 + share) / before


def drawn(rng):
    for _ in range(12):
        fixed, per_row = rng.uniform(1, 90, 2).tolist()
        small, more = (int(n) for n in rng.integers(2, 30, 2))
        share = float(rng.uniform(0, 1))
        yield fixed, per_row, small, small + more, share
        yield fixed, per_row, small, small + more + 1, share
    yield 0, 3, 6, 18, 1


exercise = Exercise(
    gain,
    hints=(
        "rows per second are rows / seconds, for both",
        "the large micro-batch takes (1 + share) * (fixed + per_row * large)",
        "divide the large speed by the small one",
    ),
    asked="gain with {:g} + {:g} a row, from {} to {} rows, share {:.3g}".format,
    shown=[(5, 25, 4, 20, 0.2)],
    drawn=drawn,
    passed="Right: above 1 it pays; on a saturated device it is 1 / (1 + share).",
)
VALUE = "after / (1 + share) / before"
for _thought, _value in {
    "the recomputation is forgotten": "after / before",
    "cost doubled: only the forward pass runs again": "after / 2 / before",
    "the share is lost, not added: a third more time is a quarter less speed": (
        "(1 - share) * after / before"
    ),
    "always a third: take the share that is given": "after / before * 3 / 4",
    "turned over: a gain above 1 says that the large rows are faster": f"1 / ({VALUE})",
    "micro-batches per second: asked are rows per second": f"{VALUE} * small / large",
    "the fixed time is recomputed, too: all of it takes the share longer": (
        "large / (fixed + (1 + share) * per_row * large) / before"
    ),
    "the fixed time is forgotten": "1 / (1 + share)",
    "the difference to 1: asked is the ratio": f"{VALUE} - 1",
    "in per cent: asked is the ratio": f"100 * {VALUE}",
    "never below 1: a loss is a gain below 1": f"max(1, {VALUE})",
    "only the rows: larger micro-batches take longer, too": "large / small / (1 + share)",
    "small and large rows are exchanged": "before / (1 + share) / after",
}.items():
    exercise.edit(_thought, [(VALUE, _value)])


@exercise.style
def time_per_row(fixed, per_row, small, large, share):
    """time per row"""
    return (fixed / small + per_row) / (fixed / large + per_row) / (1 + share)


@exercise.style
def numpy(fixed, per_row, small, large, share):
    """NumPy"""
    import numpy as np

    rows, longer = np.array([small, large]), np.array([1, 1 + share])
    speed = rows / (longer * (fixed + per_row * rows))
    return speed[1] / speed[0]
