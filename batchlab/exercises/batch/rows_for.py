"""How many rows make a gradient as quiet as wished: the law of the root, turned round."""

import numpy as np

from batchlab.exercises import Exercise


def noise(gradients, rows):
    """Root-mean-square error of the mean of `rows` random draws, as on the page."""
    spread_squared = ((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1).mean()
    return (spread_squared / rows) ** 0.5


def rows_for(gradients, share):
    """The fewest rows whose noise is at most `share` of the norm of the mean gradient."""
    from math import ceil

    wished = share * np.linalg.norm(gradients.mean(axis=0))
    return max(1, ceil((noise(gradients, 1) / wished) ** 2))


def drawn(rng):
    for _ in range(12):
        some = rng.normal(size=(40, 3)) * rng.uniform(0.5, 9) + rng.uniform(1, 3, 3)
        yield some, float(rng.uniform(0.1, 0.6))
    yield np.full((9, 2), 0.5), 0.1


exercise = Exercise(
    rows_for,
    points=3,
    whole=False,
    given=("noise",),
    asked=lambda gradients, share: f"rows for {share:.3g} of noise, {_said(gradients)}",
    hints=(
        "noise(gradients, 1) is the noise of one row; the wish is share x length of the mean",
        "noise falls with the root of the rows: rows = (noise of one row / wish) squared",
        "round up, and take at least one row",
    ),
    shown=[
        (np.array([[1.0], [3.0]]), 0.14),
        (np.array([[1.0], [3.0]]), 0.25),
        (np.array([[1.0, 0.0], [5.0, 2.0], [0.0, 4.0], [6.0, 6.0]]), 0.15),
        (np.full((3, 2), 0.5), 0.3),
    ],
    drawn=drawn,
    passed="Right: a quarter of the noise is two halvings, each at four times the rows.",
)


def _said(gradients):
    return (
        f"gradients {gradients.tolist()}" if gradients.size < 9 else f"{len(gradients)} gradients"
    )


WISHED, ROWS = (
    "share * np.linalg.norm(gradients.mean(axis=0))",
    "max(1, ceil((noise(gradients, 1) / wished) ** 2))",
)
SQUARE = "(noise(gradients, 1) / wished) ** 2"
for _thought, *_changes in [
    ("as if noise fell as 1/B: square the ratio", (SQUARE, "noise(gradients, 1) / wished")),
    ("the root the wrong way round: square the ratio", (SQUARE, f"({SQUARE}) ** 0.25")),
    ("upside down: more rows are less noisy", (SQUARE, "(wished / noise(gradients, 1)) ** 2")),
    ("rounded down: there the noise is still too large", (ROWS, f"max(1, int({SQUARE}))")),
    ("rounded to the nearest: round up", (ROWS, f"max(1, round({SQUARE}))")),
    ("a row is taken or not: round up", (ROWS, f"max(1, {SQUARE})")),
    ("what meets the wish exactly is enough", (ROWS, f"max(1, int({SQUARE}) + 1)")),
    ("one more, always", (ROWS, f"int({SQUARE}) + 2")),
    (
        "a share of the gradient: multiply by the length of the mean",
        (WISHED, "share"),
    ),
    (
        "the length of the mean gradient, not the mean of their lengths",
        (WISHED, "share * np.linalg.norm(gradients, axis=1).mean()"),
    ),
    (
        "the length is a root of a sum of squares, not a sum",
        (WISHED, "share * gradients.mean(axis=0).sum()"),
    ),
    ("a step has at least one row", (ROWS, f"ceil({SQUARE})")),
    (
        "the rows of the pool are no rows of a step",
        (SQUARE, "len(gradients) * (noise(gradients, 1) / wished) ** 2"),
    ),
]:
    exercise.edit(_thought, _changes)


@exercise.style
def tried_one_by_one(gradients, share):
    """tried one by one"""
    rows, wished = 1, share * (gradients.mean(axis=0) ** 2).sum() ** 0.5
    while noise(gradients, rows) > wished:
        rows += 1
    return rows


@exercise.style
def from_the_squares(gradients, share):
    """from the squares"""
    middle = gradients.mean(axis=0)
    spread = ((gradients - middle) ** 2).sum() / len(gradients)
    return int(max(1, np.ceil(spread / (share * share * (middle @ middle)))))
