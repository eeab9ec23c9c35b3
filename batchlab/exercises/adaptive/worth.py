"""What a step is worth, in steps of a base size: the gain of AdaScale by the noise scale."""

from batchlab.exercises import Exercise


def worth(sequences, base, noise_scale):
    """Steps of `base` sequences that one step of `sequences` is worth."""
    return (noise_scale / base + 1) / (noise_scale / sequences + 1)


def asked(sequences, base, noise_scale):
    return f"worth of a step of {sequences:,} in steps of {base:,}, at a noise scale of {noise_scale:,}"


def drawn(rng):
    for _ in range(12):
        yield (
            int(rng.integers(1, 5000)),
            int(rng.integers(1, 300)),
            float(rng.uniform(0.5, 3000)),
        )
    yield from [(5, 40, 70), (640, 16, 0), (64, 16, 1e9), (2**40, 2**33, 3 * 2**35), (300, 7, 0.25)]


exercise = Exercise(
    worth,
    asked=asked,
    drawn=drawn,
    hints=(
        "divide the numerator and the denominator of r by mu^2",
        "sigma^2 / mu^2 = noise_scale / base, and S = sequences / base",
        "(noise_scale / base + 1) / (noise_scale / sequences + 1)",
    ),
    shown=[(960, 12, 250.5), (640, 16, 0), (5, 40, 70)],
    passed="Right: far below the noise scale k times the step is worth k steps, far above it hardly more.",
)
VALUE = "(noise_scale / base + 1) / (noise_scale / sequences + 1)"
for _thought, _value in {
    "the efficiency: how much each sequence is worth, not the step": "(noise_scale + base) / (noise_scale + sequences)",
    "as many as sequences: noise is not averaged away for ever": "sequences / base",
    "upside down": "(noise_scale / sequences + 1) / (noise_scale / base + 1)",
    "base and sequences swapped in the efficiency": "sequences / base * (noise_scale + sequences) / (noise_scale + base)",
    "the square root of the factor: a learning-rate rule": "(sequences / base) ** 0.5",
    "base left out: it is worth 1 by definition": "sequences / base * noise_scale / (noise_scale + sequences)",
    "base is 1 only in AdaScale's example": "(noise_scale + 1) / (noise_scale / sequences + 1)",
    "noise scale taken per step of base: it is in sequences": "(noise_scale + 1) / (noise_scale * base / sequences + 1)",
    "whole numbers by //: divide with /": "(noise_scale // base + 1) / (noise_scale / sequences + 1)",
    "rounded to 3 digits: keep them all": f"round({VALUE}, 3)",
    "a step below the base is worth less than 1": f"max(1.0, {VALUE})",
    "the gain over 1: asked is the whole worth": f"{VALUE} - 1",
    "the noise scale as a limit: a step of that size is worth half of it, and more steps more": "min(sequences, noise_scale) / base",
}.items():
    exercise.edit(_thought, [(VALUE, _value)])
exercise.edit(
    "the noise scale may be 0",
    [(VALUE, "(1 / base + 1 / noise_scale) / (1 / sequences + 1 / noise_scale)")],
    says="ZeroDivisionError",
)


@exercise.style
def by_efficiency(sequences, base, noise_scale):
    """by the efficiency"""
    return sequences / base * (noise_scale + base) / (noise_scale + sequences)


@exercise.style
def of_numpy(sequences, base, noise_scale):
    """in float32"""
    import numpy as np

    return np.float32(1 + noise_scale / base) / np.float32(1 + noise_scale / sequences)
