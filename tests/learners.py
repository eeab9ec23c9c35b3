"""A language model so small that a step takes a millisecond, and documents for it."""

import numpy as np
import torch
from torch import nn

from batchlab import batches


class Small(nn.Module):
    """A language model of two layers and a norm: parameters of several sizes."""

    def __init__(self, vocabulary=24, width=8, seed=0):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.words = nn.Embedding(vocabulary, width)
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids, **_):
        return self.head(self.norm(self.words(input_ids)).tanh())


def documents(count, seed=0, longest=30):
    """Sequences of unlike lengths and unlike words: some are of few words only."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, longest, size=count)
    return [rng.integers(0, rng.integers(3, 24), size=n).tolist() for n in lengths]


def micro_batches(some, numbers, rows):
    return [batches.padded(some, numbers[i : i + rows]) for i in range(0, len(numbers), rows)]
