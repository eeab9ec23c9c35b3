"""A napkin formula: the batch with a share more steps than perfect scaling."""

import numpy as np

from batchlab.exercises import Exercise


def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    return (1 + share) * from_batch + share * critical


def asked(critical, from_batch, share):
    return (
        f"batch with {share:g} more than perfect scaling from {from_batch:g}, "
        f"critical batch {critical:g}"
    )


def drawn(rng):
    for _ in range(8):
        share = round(float(rng.uniform(0.02, 1.5)), 3)
        yield round(float(rng.uniform(20, 9000)), 2), int(rng.integers(1, 900)), share
    yield from [(340, 45, 0.7), (260, 45, 0.7), (340, 71, 0.7), (340, 45, 0.25)]
    yield from [(800, 96.5, 7.5), (6e9, 1024, 0.2), (300, 0, 0), (90, 0.5, 0.3)]


exercise = Exercise(
    critical_batch,
    asked=asked,
    drawn=drawn,
    whole=False,
    hints=(
        "multiply both sides by B: what is B x S(B)?",
        "B + critical = (1 + share) x (from_batch + critical)",
        "(1 + share) * from_batch + share * critical",
    ),
    shown=[
        (2190.6, 256, 0.2),
        (1000, 64, 0.5),
        (250, 0, 0.4),
        (12, 400, 0.3),
        (500, 100, 2.5),
        (0.0471234, 0.0042, 0.15),
        (300, 40, 0),
    ],
    passed="Right: 745 sequences by one definition, 2,191 by another, from the same nine runs.",
)
RIGHT = "(1 + share) * from_batch + share * critical"
for _thought, _value in [
    ("the steps of the other batch are not perfect: its own noise is missing", "share * critical"),
    (
        "a share more examples than the fewest, plus the other batch",
        "from_batch + share * critical",
    ),
    (
        "the critical batch is taken off again at the end",
        "(1 + share) * (from_batch + critical)",
    ),
    ("a share more batch is not a share more steps", "(1 + share) * from_batch"),
    ("a share more of the critical batch", "(1 + share) * critical"),
    ("fewer steps: more are asked", "(1 - share) * from_batch - share * critical"),
    ("the two batches are exchanged", "(1 + share) * critical + share * from_batch"),
    (
        "the share is a fraction: 0.2, not 20",
        "(1 + share / 100) * from_batch + share / 100 * critical",
    ),
    (
        "perfect scaling from 256 sequences: use from_batch",
        "(1 + share) * 256 + share * critical",
    ),
    ("20 % more: use share", "1.2 * from_batch + 0.2 * critical"),
    ("divided by the share", f"({RIGHT}) / (share or 1)"),
    ("the batch where steps are 1 + share times the least", "critical / (share or 1)"),
    (
        "a share of both batches: from_batch itself is in it, too",
        "share * (from_batch + critical)",
    ),
    ("all of the critical batch: a share of it", "(1 + share) * from_batch + critical"),
    ("it may be above the critical batch: no bound", f"min(critical, {RIGHT})"),
    (
        "a share may be above 1",
        "(1 + min(share, 1)) * from_batch + min(share, 1) * critical",
    ),
    (
        "from_batch 0 is the critical batch at share 1 only",
        f"{RIGHT} if from_batch else critical",
    ),
    ("a share of 0 is a share: perfect scaling itself", f"{RIGHT} if share else 0.0"),
    ("rounded: give all digits", f"round({RIGHT}, 3)"),
    ("made whole: it is not rounded", f"round({RIGHT})"),
    ("made whole and one more: it is not rounded", f"int({RIGHT}) + 1"),
]:
    exercise.edit(_thought, [(RIGHT, _value)])


@exercise.mistake(says="ValueError")
def none_below_one(critical, from_batch, share):
    """a batch in millions of tokens may be below 1"""
    if 0 < from_batch < 1:
        raise ValueError("a batch has one sequence at least")
    return (1 + share) * from_batch + share * critical


@exercise.style
def by_examples(critical, from_batch, share):
    """by examples"""
    return (1 + share) * (from_batch + critical) - critical


@exercise.style
def of_numpy(critical, from_batch, share):
    """NumPy's float"""
    return np.float64(from_batch) + share * (from_batch + critical)


@exercise.style
def tensor(critical, from_batch, share):
    """a tensor"""
    import torch

    start = torch.tensor(float(from_batch), dtype=torch.float64)
    return start * (1 + share) + share * critical
