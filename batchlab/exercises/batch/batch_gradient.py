"""Unequal parts: the mean weighted by target tokens."""

import numpy as np

from batchlab.exercises import Exercise


def batch_gradient(gradients, targets):
    """Gradient per target token of all parts together, from that of each part."""
    return targets @ gradients / targets.sum()


def asked(gradients, targets):
    many, width = gradients.shape
    if gradients.size > 6:
        return f"gradient of {many:,} parts, {width} parameters, target tokens {shortly(targets)}"
    return f"gradients {gradients.tolist()} of {shortly(targets)} target tokens"


def shortly(targets):
    return str(targets.tolist()) if len(targets) < 8 else f"up to {targets.max():,}"


def drawn(rng):
    for parts in (1, 3, 4, 6, 2, 2):
        yield rng.normal(size=(parts, 5)), rng.integers(1, 90, parts)
    pulls, counts = rng.normal(size=(300, 6)) * [1e-6, 1, 1e3, 1e6, 1, 1], rng.integers(1, 999, 300)
    counts[7] = 70_001
    yield from [(pulls, counts), (pulls, counts[::-1].copy()), (pulls[::-1].copy(), counts)]


exercise = Exercise(
    batch_gradient,
    asked=asked,
    drawn=drawn,
    hints=(
        "how many target tokens pull with each line? Write the mean over all of them",
        "sum over lines of target tokens times line, then divide once by all target tokens",
    ),
    shown=[
        (np.array([[1.0, 0.0], [5.0, 2.0]]), np.array([8, 24])),
        (np.array([[2.0, 1.0, 0.0], [4.0, 1.0, 3.0], [8.0, 1.0, 0.0]]), np.array([6, 3, 1])),
        (np.array([[1, 3], [2, 8]]), np.array([1, 2])),
        (np.array([[90.0, 7.0], [-3.0, 40.0], [5.0, 6.0], [70.0, 7.0]]), np.array([1, 300, 40, 2])),
        (np.array([[0.0, 0.0], [4.0, 2.0], [1.0, 5.0], [4.0, 2.0]]), np.array([6, 2, 5, 3])),
    ],
    passed="Right: every target token counts once, whatever part it stands in.",
)


@exercise.mistake
def equal_weights(gradients, targets):
    """equal weights: a token of a small part counts more"""
    return gradients.mean(axis=0)


@exercise.mistake
def weighted_sum(gradients, targets):
    """the sum: divide by all target tokens"""
    return targets @ gradients


@exercise.mistake
def divided_by_parts(gradients, targets):
    """divided by the number of parts: divide by all target tokens"""
    return targets @ gradients / len(targets)


@exercise.mistake
def plain_sum(gradients, targets):
    """the plain sum: nothing is averaged"""
    return gradients.sum(axis=0)


@exercise.mistake
def averaged_twice(gradients, targets):
    """divided by the target tokens and by the parts"""
    return targets @ gradients / targets.sum() / len(targets)


@exercise.mistake
def exchanged(gradients, targets):
    """the weights are exchanged: line k belongs to count k"""
    return targets[::-1] @ gradients / targets.sum()


@exercise.mistake
def by_the_root(gradients, targets):
    """weighted by the root: the root belongs to the noise, not to the mean"""
    return np.average(gradients, axis=0, weights=np.sqrt(targets))


@exercise.mistake
def by_the_square(gradients, targets):
    """weighted by the square of the target tokens"""
    return np.average(gradients, axis=0, weights=targets**2)


@exercise.mistake
def on_the_columns(gradients, targets):
    """a line is a part: targets[:, None] gives each line its weight"""
    return (gradients * targets).sum(axis=0) / targets.sum()


@exercise.mistake
def by_parameter(gradients, targets):
    """weighted by parameter: a line is a part, a column a parameter"""
    return gradients @ targets / targets.sum()


@exercise.mistake
def one_number(gradients, targets):
    """one number for all parameters: average over the lines only, axis=0"""
    return (targets @ gradients / targets.sum()).mean()


@exercise.mistake
def divided_by_own(gradients, targets):
    """each is per target token already: weigh, do not divide"""
    return (gradients / targets[:, None]).sum(axis=0)


@exercise.mistake
def first_and_last(gradients, targets):
    """the middle parts are missing: there may be more than two"""
    return (targets[0] * gradients[0] + targets[-1] * gradients[-1]) / (targets[0] + targets[-1])


@exercise.mistake
def running(gradients, targets):
    """a running mean holds the tokens of all parts so far, not only of the one before"""
    mean, before = gradients[0], targets[0]
    for one, now in zip(gradients[1:], targets[1:]):
        mean, before = (before * mean + now * one) / (before + now), now
    return mean


@exercise.mistake
def small_left_out(gradients, targets):
    """a part of few target tokens is left out: each token counts"""
    keep = targets > 0.02 * targets.sum()
    return np.average(gradients[keep], axis=0, weights=targets[keep])


@exercise.mistake
def whole_numbers(gradients, targets):
    """whole numbers: a mean of whole gradients is seldom whole"""
    total = np.zeros_like(gradients[0])
    for one, n in zip(gradients, targets):
        total += (one * n / targets.sum()).astype(total.dtype)
    return total


@exercise.mistake
def in_a_dictionary(gradients, targets):
    """two parts with the same gradient are two parts"""
    tokens = {tuple(line): n for line, n in zip(gradients.tolist(), targets)}
    return np.average(list(tokens), axis=0, weights=list(tokens.values()))


@exercise.mistake(says="changed")
def works_on_the_given(gradients, targets):
    """changes the gradients that it was given"""
    gradients *= targets[:, None]
    return gradients.sum(axis=0) / targets.sum()


@exercise.style
def average(gradients, targets):
    """NumPy's own"""
    return np.average(gradients, axis=0, weights=targets)


@exercise.style
def single(gradients, targets):
    """float32"""
    share = np.asarray(targets, np.float32) / np.float32(np.sum(targets))
    return share @ np.asarray(gradients, np.float32)


@exercise.style
def loop(gradients, targets):
    """a loop, as a list"""
    total = [0.0] * len(gradients[0])
    for one, n in zip(gradients, targets):
        total = [a + n * b for a, b in zip(total, one)]
    return [value / sum(targets) for value in total]


@exercise.style
def tensor(gradients, targets):
    """as a tensor"""
    import torch

    n = torch.as_tensor(targets, dtype=torch.float64)
    return (n[:, None] * torch.as_tensor(gradients, dtype=torch.float64)).sum(0) / n.sum()
