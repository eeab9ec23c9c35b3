"""The bench of the noise meter: rows with planted gradients, and steps that it listens to.

    a meter, windows of rows  ->  its readings, and whether the training went on as without it

Words
    row     given as its target tokens
    window  the micro-batches of one optimizer step, equally many rows in each
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from batchlab.counts import IGNORE
from batchlab.exercises.accumulation.bigram import RATE, VOCABULARY, Counting, weights_of
from batchlab.exercises.accumulation.take_step import take_step
from batchlab.exercises.noise.scenes import listening

__all__ = ["made", "micro_batch", "seen", "windows_of"]

Window = Sequence[Sequence[int]]
LONG = 10  # slots: longer micro-batches leave the bias alone


def micro_batch(rows: Sequence[int], seed: int) -> dict[str, Tensor]:
    """A micro-batch of rows with so many targets each."""
    draw = torch.Generator().manual_seed(7000 + seed)
    length = 1 + max([4, *rows])
    input_ids = torch.randint(VOCABULARY, (len(rows), length), generator=draw)
    labels = input_ids.clone()
    for row, targets in enumerate(rows):
        labels[row, 1 + targets :] = IGNORE
    held = torch.tensor([1 + one for one in rows])
    mask = (torch.arange(length) < held[:, None]).long()
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


def windows_of(windows: Sequence[Window]) -> list[list[dict[str, Tensor]]]:
    """Micro-batches of windows that are given as the target tokens of each row."""
    return [
        [micro_batch(rows, 100 * w + k) for k, rows in enumerate(window)]
        for w, window in enumerate(windows)
    ]


class Biased(Counting):
    """The bigram model with a bias, which micro-batches of more than LONG slots do not use."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.linspace(-0.4, 0.7, VOCABULARY, dtype=torch.double))
        self.tied = self.bias  # one parameter under two names, as weights are tied
        self.gain = nn.Parameter(torch.tensor(1.5, dtype=torch.double))

    def scores(self, input_ids: Tensor) -> Tensor:
        logits = self.gain * super().scores(input_ids)
        return logits if input_ids.shape[1] > LONG else logits + self.bias


def made() -> tuple[Biased, Any, Any]:
    """A model, plain gradient descent, and a schedule that changes nothing."""
    model = Biased()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


def seen(
    meter: Callable[[], Any], windows: Sequence[Window], *, max_norm: float = math.inf
) -> dict[str, Any]:
    """Train with a meter beside the step of lesson 05; say what it read, in order of judging."""
    model, optimizer, schedule = made()
    listener = meter()
    with listening(listener, model):
        for window in windows_of(windows):
            take_step(model, optimizer, schedule, window, max_norm)
            listener.stepped(len(window), len(window[0]["labels"]))
    squared, trace = _pairs(listener.readings, len(windows))
    return {"weights": np.array(weights_of(model)), "trace": trace, "|G|²": squared}


def _pairs(readings: Any, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """|G|² and trace of each reading; ValueError where there is not one pair for each step."""
    try:
        found = np.array([[float(one) for one in pair] for pair in readings])
    except TypeError:
        raise ValueError("self.readings holds no pairs (|G|², trace)") from None
    if len(found) != steps:
        raise ValueError(f"self.readings holds {len(found)} readings after {steps} steps")
    if found.shape != (steps, 2):
        raise ValueError("self.readings holds no pairs (|G|², trace)")
    return found[:, 0], found[:, 1]
