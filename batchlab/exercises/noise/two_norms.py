"""One reading: signal and noise from squared norms at two batch sizes."""

import numpy as np

from batchlab.exercises import Exercise


def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if small_batch == big_batch:
        raise ValueError(f"both batches are {small_batch}: two sizes are needed")
    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    trace = (small - big) / (1 / small_batch - 1 / big_batch)
    return squared, trace


def asked(small, big, small_batch, big_batch):
    return f"squared norms {small:g}, {big:g} at {small_batch:g}, {big_batch:g} sequences"


def drawn(rng):
    for sign in (1, -1, 1, 1, -1, 1):
        squared, trace = sign * float(rng.uniform(0.5, 8)), float(rng.uniform(50, 300))
        b = int(rng.integers(1, 60))
        B = b + int(rng.integers(4, 500))
        yield squared + trace / b, squared + trace / B, b, B
    yield from [(5.0, 3.0, 4, 20), (7.0, 3.0, 4, 20), (5.0, 2.0, 4, 20), (5.0, 3.0, 6, 20)]
    yield from [(5.0, 3.0, 4, 32), (0.0, 3.0, 4, 12), (3.0, 0.0, 2, 8), (6.0, 2.0, 0.25, 4)]
    yield from [(2.0, 900_000.5, 3, 5_000_000), (2.0, 1.5, 5, 6), (3.5, 3.25, 0.25, 0.25)]


exercise = Exercise(
    two_norms,
    points=2,
    asked=asked,
    drawn=drawn,
    parts=("squared gradient", "trace"),
    rel=1e-4,  # float32 keeps about five digits of a difference
    hints=(
        "subtract the two equations: the signal goes, and the trace is left",
        "multiply each equation by its batch, and subtract: the trace goes",
        "(B big - b small) / (B - b), and (small - big) / (1 / b - 1 / B)",
    ),
    mentions=lambda small, big, small_batch, big_batch: (small_batch,),
    shown=[
        (129.0, 19.625, 8, 64),
        (40.0, 2.0, 2, 32),
        (2.0, 2.5, 4, 12),
        (0.9, 0.7, 2.4, 12.5),
        (0.5, 0.2, 5, 7),
        (6.0, 2.0, 0.5, 4),
        (2.0, 1.5, 5, 6),
        (3.5, 3.25, 8, 8),
        (3.5, 3.25, 2.5, 2.5),
    ],
    passed="Right: two sizes, two unknowns, no bias.",
)
SQUARED = "(big_batch * big - small_batch * small) / (big_batch - small_batch)"
TRACE, END = "(small - big) / (1 / small_batch - 1 / big_batch)", "return squared, trace"
START, EQUAL = f"    squared = {SQUARED}", "if small_batch == big_batch:"
REFUSAL = (
    '    if small_batch == big_batch:\n        raise ValueError(f"both batches are {small_batch}: '
    'two sizes are needed")\n'
)
for _thought, *_changes in [
    ("exchanged: the squared gradient comes first", (END, "return trace, squared")),
    (
        "the trace has the wrong sign: the small batch has the longer gradient",
        (TRACE, TRACE.replace("small - big", "big - small")),
    ),
    ("the big batch is still noisy: its norm, too, is too long", (SQUARED, "big")),
    ("all of the small norm is taken for noise", (TRACE, "small * small_batch")),
    (
        "the difference of the norms is noise / b - noise / B: divide by 1/b - 1/B",
        (TRACE, "small - big"),
    ),
    (
        "noise falls as 1/B, so divide by 1/b - 1/B, not by the batches",
        (TRACE, "(small - big) / (big_batch - small_batch)"),
    ),
    (
        "times the difference of the batches: divide by 1/b - 1/B",
        (TRACE, "(small - big) * (big_batch - small_batch)"),
    ),
    (
        "as if the big batch had no noise: divide by 1/b - 1/B",
        (TRACE, "(small - big) * small_batch"),
    ),
    (
        "the weights are exchanged: the big norm times the big batch",
        (SQUARED, "(small_batch * big - big_batch * small) / (small_batch - big_batch)"),
    ),
    (
        "divided by the big batch: divide by B - b",
        (SQUARED, "(big_batch * big - small_batch * small) / big_batch"),
    ),
    (
        "divided by the sum of the batches: divide by B - b",
        (SQUARED, "(big_batch * big - small_batch * small) / (big_batch + small_batch)"),
    ),
    (
        "divided by B - b alone: weigh each norm by its batch first",
        (SQUARED, "(big - small) / (big_batch - small_batch)"),
    ),
    (
        "squared twice: these are squared norms already",
        (START, "    small, big = small**2, big**2\n" + START),
    ),
    (
        "the root was taken: squared norms add, norms do not",
        (START, "    small, big = small**0.5, big**0.5\n" + START),
    ),
    (
        "the root of the squared gradient: it stays squared",
        (END, "return abs(squared) ** 0.5, trace"),
    ),
    (
        "the noise scale in place of the trace: divide later",
        (END, "return squared, trace / squared"),
    ),
    (
        "a reading may be below 0, by luck: cut there, the mean is too large",
        (END, "return max(0.0, squared), max(0.0, trace)"),
    ),
    ("the sign is part of a reading: no abs", (END, "return abs(squared), abs(trace)")),
    (
        "a batch below 1 was raised to 1: use small_batch as it is",
        (START, "    small_batch = max(small_batch, 1)\n" + START),
    ),
    ("a small batch of 1: use small_batch", (START, "    small_batch = 1\n" + START)),
    (
        "batches were made whole: they need not be",
        (START, "    small_batch, big_batch = int(small_batch), int(big_batch)\n" + START),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("one size gives one equation: refuse it", "one equation", (REFUSAL, "")),
    (
        "one size gives no numbers: refuse it",
        "ValueError is needed",
        (REFUSAL, "    if small_batch == big_batch:\n        return 0.0, 0.0\n"),
    ),
    ("the message names no size", "without 8", ("both batches are {small_batch}", "one size")),
    (
        "the size was made whole in the message",
        "without 2.5",
        ("{small_batch}:", "{int(small_batch)}:"),
    ),
    (
        "only equal sizes are refused, near ones are not",
        "ValueError",
        (EQUAL, "if big_batch < 2 * small_batch:"),
    ),
    (
        "only equal sizes are refused, neighbours are not",
        "ValueError",
        (EQUAL, "if big_batch - small_batch < 2:"),
    ),
    (
        "noise that seems below 0 is luck: only equal sizes are refused",
        "ValueError",
        (EQUAL, "if small_batch == big_batch or small < big:"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def trace_first(small, big, small_batch, big_batch):
    """the trace first"""
    b, B = small_batch, big_batch
    if b >= B:
        raise ValueError(f"{b}, {B}: a smaller and a larger batch are needed")
    trace = (small - big) * b * B / (B - b)
    return big - trace / B, trace


@exercise.style
def linear_algebra(small, big, small_batch, big_batch):
    """linear algebra"""
    if not small_batch - big_batch:
        raise ValueError("both are " + str(big_batch))
    return np.linalg.solve([[1, 1 / small_batch], [1, 1 / big_batch]], [small, big])


@exercise.style
def single(small, big, small_batch, big_batch):
    """float32, as a list"""
    if small_batch == big_batch:
        raise ValueError(f"both are {small_batch}")
    s, g, b, B = (np.float32(x) for x in (small, big, small_batch, big_batch))
    return [(B * g - b * s) / (B - b), (s - g) / (1 / b - 1 / B)]
