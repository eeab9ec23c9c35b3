"""Noise: what a batch is worth. The exercises in the order of the page."""

import numpy as np

ORDER = ("thrifty", "which-way", "step-meter")


def two_norms(small, big, small_batch, big_batch):
    """One reading, (|G|², trace), from squared norms at two batch sizes, as on the page."""
    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    return squared, (small - big) / (1 / small_batch - 1 / big_batch)


def noise_scale(readings):
    """The noise scale: the mean trace over the mean |G|², as on the page."""
    squared, trace = np.mean(readings, axis=0)
    return trace / squared
