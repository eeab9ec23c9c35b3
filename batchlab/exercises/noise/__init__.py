"""Noise: what a batch is worth. The exercises in the order of the page."""

import numpy as np

ORDER = ("thrifty", "which-way", "step-meter")


def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, as on the page."""
    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    return squared, (small - big) / (1 / small_batch - 1 / big_batch)


def noise_scale(readings):
    """Noise scale and its standard error from pairs (squared gradient, trace), as on the page."""
    if len(readings) < 2:
        raise ValueError(f"{len(readings)} readings have no spread: two are needed")
    squared, trace = np.array(readings, dtype=float).T
    if squared.mean() <= 0:
        return np.inf, np.inf
    scale = trace.mean() / squared.mean()
    misses = trace - scale * squared
    return scale, misses.std(ddof=1) / len(misses) ** 0.5 / squared.mean()
