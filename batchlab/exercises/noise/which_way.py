"""Which way is a meter off that reads one thing otherwise? And what three such meters measure."""

import numpy as np

from batchlab.exercises import Exercise, worded
from batchlab.exercises.noise import noise_scale, two_norms

CASES = {
    "A": "reads the norm of the step after clipping, which often shortens it",
    "B": "throws away each reading whose |G|² is below 0",
    "C": "multiplies each loss by 1,024 before backward, and never divides",
}
WORDS = ("too high", "too low", "right")
WHY = {
    "A": "the big norm is too short: the trace becomes larger, and |G|² smaller",
    "B": "what is left are the readings with a large |G|²: their mean is too large",
    "C": "each gradient is 1,024 times as long, signal and noise alike: look at their ratio",
}


def which_way():
    """{meter: "too high", "too low" or "right"} for the noise scales of the meters A to C."""
    return {
        "A": "too high",
        "B": "too low",
        "C": "right",
    }


def measured(steps=3000, seed=0):
    """{meter: noise scale}, of simulated gradients with |G|² of 4 and a trace of 1,000; "right", too."""
    rng, width = np.random.default_rng(seed), 100
    signal = np.full(width, (4 / width) ** 0.5)
    noise = rng.normal(size=(steps, 8, width)) * (1000 / width / 8) ** 0.5
    parts = signal + noise  # mean gradients of micro-batches of 8 sequences
    small, big = (parts**2).sum(axis=2).mean(axis=1), (parts.mean(axis=1) ** 2).sum(axis=1)

    def scale(small, big):
        return noise_scale(np.transpose(two_norms(small, big, 8, 64)))

    readings = np.transpose(two_norms(small, big, 8, 64))
    return {
        "right": scale(small, big),
        "A": scale(small, np.minimum(big, 4.2**2)),
        "B": noise_scale(readings[readings[:, 0] >= 0]),
        "C": scale(1024**2 * small, 1024**2 * big),
    }


exercise = Exercise(
    which_way,
    points=3,
    hints=(
        "which number that goes in, or which mean, is wrong? Too large or too small?",
        "put numbers in: norms of 129 and 19.625 at 8 and 64 are the scale 1000 / 4 = 250",
        "two_norms(129.0, 17.0, 8, 64) is a meter A; two_norms(4 * 129.0, 4 * 19.625, 8, 64) one like C",
    ),
    asked=lambda: "the ways of the meters",
    shown=[()],
    passed="Right: of each slip you know the direction, before anything is measured.",
)
worded(
    exercise,
    WORDS,
    WHY,
    {
        "A": "too low",
        "B": "too high",
        "C": "too high",
    },
)


@exercise.style
def in_capitals():
    """in capitals"""
    return dict(zip("ABC", (" TOO high", "Too low", "Right")))
