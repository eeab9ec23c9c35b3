"""A napkin formula: the seconds of one decoding pass."""

from batchlab.exercises import Exercise


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    """Seconds of a decoding pass: `weights` in bytes, `kv` in bytes a token, others as in the text."""
    moving = (weights + rows * context * kv) / bandwidth
    multiplying = 2 * parameters * rows / peak
    return max(moving, multiplying)


H100 = 15.01e9, 131_072, 7.50e9, 3.35e12, 989.4e12


def drawn(rng):
    for _ in range(20):
        case = [
            float(x) for x in 10 ** rng.uniform([9, 4, 9, 11, 12], [11, 6, 10.5, 13, 15]).round(3)
        ]
        yield int(rng.integers(1, 900)), int(rng.integers(1, 9000)), *case
    yield int(rng.integers(1, 900)), 7, *case
    yield 5, 0, 300.0, 2.0, 40.0, 100.0, 1000.0
    yield 1, 2048, *H100
    yield 700, 16, *H100


exercise = Exercise(
    decode_step,
    hints=(
        "bytes: the weights once, and kv bytes for each token of context of each row",
        "FLOPs: 2 x parameters for each row",
        "max(bytes / bandwidth, FLOPs / peak)",
    ),
    asked=lambda *case: (
        "seconds of rows {}, context {}, weights {:g}, kv {:g}, parameters {:g}, bandwidth {:g}, peak {:g}".format(
            *case
        )
    ),
    shown=[
        (3, 10, 600.0, 4.0, 50.0, 90.0, 1000.0),
        (40, 2, 600.0, 3.0, 70.0, 40_000.0, 900.0),
        (64, 2048, *H100),
    ],
    drawn=drawn,
    passed="Right: one row or thirty, the weights are read once.",
)
MOVED, MULTIPLIED, END = (
    "(weights + rows * context * kv)",
    "2 * parameters * rows / peak",
    "max(moving, multiplying)",
)
for _thought, _old, _new in [
    (
        "the sum: moving and multiplying overlap, the slower of both counts",
        END,
        "moving + multiplying",
    ),
    (
        "multiplying alone, or the faster of both: the pass waits for the slower",
        END,
        "min(moving, multiplying)",
    ),
    ("the weights are read once a pass, not once a row", MOVED, "rows * (weights + context * kv)"),
    ("without the caches: every pass reads those of all rows", MOVED, "weights"),
    ("the cache of one row: every row has its own", MOVED, "(weights + context * kv)"),
    ("one token of each cache: all of its context is read", MOVED, "(weights + rows * kv)"),
    ("without the weights", MOVED, "rows * context * kv"),
    ("one row multiplied: every row computes a token", MULTIPLIED, "2 * parameters / peak"),
    (
        "the whole context multiplied: a decoding row computes one token",
        MULTIPLIED,
        "2 * parameters * rows * context / peak",
    ),
    (
        "6 N is a training step: a forward pass takes 2 N FLOPs a token",
        MULTIPLIED,
        "6 * parameters * rows / peak",
    ),
    ("N FLOPs: a weight is multiplied and added, 2 N", MULTIPLIED, "parameters * rows / peak"),
    ("memory alone: with enough rows, multiplying takes longer", END, "moving"),
    ("multiplying alone, or the faster of both: the pass waits for the slower", END, "multiplying"),
    ("tokens per second: asked are the seconds of a pass", END, "rows / max(moving, multiplying)"),
    ("milliseconds: asked are seconds", END, "1e3 * max(moving, multiplying)"),
    ("upside down: bytes over bytes per second", END, "1 / max(moving, multiplying)"),
    ("seconds of one row: the pass serves all of them", END, "max(moving, multiplying) / rows"),
    ("rounded to 4 digits: keep them all", END, "round(max(moving, multiplying), 4)"),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "bandwidth and peak are exchanged",
    [("kv) / bandwidth", "kv) / peak"), (MULTIPLIED, "2 * parameters * rows / bandwidth")],
)


@exercise.style
def library(rows, context, weights, kv, parameters, bandwidth, peak):
    """of NumPy"""
    import numpy as np

    return np.maximum(
        (np.float64(weights) + np.float64(kv) * context * rows) / bandwidth,
        2.0 * parameters * rows / peak,
    )


@exercise.style
def of_torch(rows, context, weights, kv, parameters, bandwidth, peak):
    """of torch, float32"""
    import torch

    return torch.tensor(
        [(weights + rows * context * kv) / bandwidth, 2 * parameters * rows / peak]
    ).max()
