"""How far Adam's full rule reaches: the factor at which a beta would be none."""

from batchlab.exercises import Exercise


def most_growth(betas):
    """The factor k by which the batch grows until the full rule has no beta left for one of them."""
    return 1 / (1 - min(betas))


def drawn(rng):
    for _ in range(20):
        yield (tuple(rng.uniform(0.5, 0.9999, 2).round(4).tolist()),)
    yield from [((0.9, 0.9),), ((0.0, 0.5),)]


exercise = Exercise(
    most_growth,
    hints=(
        "the rule asks for 1 - k (1 - beta): for which k is that 0?",
        "k = 1 / (1 - beta), for each beta; the rule ends where the first of them ends",
    ),
    asked="the growth at which the rule ends, betas {}".format,
    shown=[((0.9, 0.999),), ((0.99, 0.93),)],
    drawn=drawn,
    passed="Right: beta1 = 0.9 ends it at 10, in one growth or in ten.",
)
VALUE = "1 / (1 - min(betas))"
for _thought, _value in {
    "the larger beta lasts longer: the rule ends with the first": "1 / (1 - max(betas))",
    "beta1 alone: beta2 may be the smaller one": "1 / (1 - betas[0])",
    "beta itself does not grow: 1 - beta does, k times": "1 / min(betas)",
    "1 - beta is left: for which k does k (1 - beta) reach 1?": "1 - min(betas)",
    "both together: each beta has a limit of its own": "1 / (1 - betas[0] * betas[1])",
    "the mean of both: the first to end decides": "(1 / (1 - betas[0]) + 1 / (1 - betas[1])) / 2",
    "the root of k is the rate's: the betas take k": "(1 / (1 - min(betas))) ** 0.5",
    "the half-life in steps: asked is the factor at which no beta is left": (
        "__import__('math').log(0.5) / __import__('math').log(min(betas) or 0.5)"
    ),
    "whole numbers: a batch may grow by a fraction, keep all digits": "round(1 / (1 - min(betas)))",
}.items():
    exercise.edit(_thought, [(VALUE, _value)])


@exercise.style
def smallest_limit(betas):
    """the smaller of two limits"""
    beta1, beta2 = betas
    return min(1 / (1 - beta1), 1 / (1 - beta2))


@exercise.style
def arrays(betas):
    """arrays"""
    import numpy as np

    return float(np.min(1 / (1 - np.asarray(betas, dtype=float))))
