"""The step of several ranks in one piece, and where each known mistake ends.

target tokens of each rank's micro-batches  ->  weights, gradients, losses, norms
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import loop
from batchlab.classroom.probes.bigram import Layered, micro_batch, weights_of

__all__ = ["MISTAKES", "RATE", "Counts", "data_of", "model_of", "together"]

RATE, SIZES = 0.5, [parameter.numel() for parameter in Layered().parameters()]
Counts = Sequence[Sequence[int]]  # target tokens by rank and micro-batch

MISTAKES = {
    "one rank": "the gradient of this rank alone: over_ranks returns the sum, the argument stays",
    "own counts": "each rank divides by its own targets: count the targets of all ranks first",
    "own count": "all gradients, divided by the targets of one rank: over_ranks the count, too",
    "mean of ranks": "the mean of the ranks' own means: divide by the targets of all ranks",
    "divided twice": "divided by the targets and by the number of ranks as well",
    "no ranks": "one rank alone: divide by its targets and clip, as with several",
    "no division": "the sum over all tokens: divide by the target tokens of all ranks",
    "unshifted": "all labels are counted: the first label of a row has no token before it",
    "16 bits": "a count of 16 bits ends at 65,535: use Python integers",
    "bf16": "a count in bf16 has 8 bits: from 256 on it is rounded",
    "unclipped": "the gradient was not clipped",
    "clip tensors": "each tensor was clipped by its own norm: one norm counts, that of all",
    "clip always": "scaled up to the largest norm: clipping only ever makes a gradient shorter",
    "clip each": "each rank clipped its own part: the norm that counts is that of the sum",
    "clip some": "some weights were clipped: the norm is that of all of model.parameters()",
    "clip first": "clipped before the division: the norm that counts is that of the mean gradient",
}


def together(
    counts: Counts,
    mistake: str = "",
    *,
    max_norm: float = math.inf,
    dtype: torch.dtype = torch.float64,
    equal: bool = False,
    sum_in: torch.dtype = torch.float64,
    loud: float = 1.0,
) -> dict[str, Any]:
    """The step of all ranks in one piece, or with `mistake` that of rank 0 under it.

    `sum_in` is the dtype in which the gradients of the micro-batches are added.
    """
    ranks = _sums(tuple(tuple(map(int, rank)) for rank in counts), dtype, equal, sum_in, loud)
    tokens = [max(1, sum(map(int, rank))) for rank in counts]
    everything = sum(sum(map(int, rank)) for rank in counts)
    sums = [one for one, _ in ranks]
    labels = 2 * sum(map(len, counts))  # the first label of each of the two rows
    narrow = torch.tensor(float(everything)).bfloat16().item()
    parts = {
        "one rank": [sums[0] / everything],
        "own counts": [one / n for one, n in zip(sums, tokens, strict=True)],
        "own count": [one / tokens[0] for one in sums],
        "mean of ranks": [one / n / len(sums) for one, n in zip(sums, tokens, strict=True)],
        "divided twice": [one / everything / len(sums) for one in sums],
        "no division": sums,
        "no ranks": [sums[0] if len(sums) == 1 else sums[0] / everything, *sums[1:]],
        "16 bits": [one / max(1, everything % 2**16) for one in sums],
        "bf16": [one / narrow for one in sums],
        "unshifted": [one / (everything + labels) for one in sums],  # the first of each row
    }.get(mistake, [one / everything for one in sums])
    if mistake == "clip each":
        parts = [_clipped(part, max_norm) for part in parts]
    gradient = torch.stack(parts).sum(0)
    norm = float(gradient.norm())
    if mistake == "clip first":
        gradient = _clipped(gradient * everything, max_norm) / everything
    elif mistake == "clip tensors":
        gradient = torch.cat([_clipped(part, max_norm) for part in gradient.split(SIZES)])
    elif mistake == "clip some":
        first = _clipped(gradient[: sum(SIZES[:2])], max_norm)
        gradient = torch.cat([first, gradient[sum(SIZES[:2]) :]])
    elif mistake == "clip always" and math.isfinite(max_norm):
        gradient = gradient * max_norm / norm
    elif mistake not in {"unclipped", "clip each"}:
        gradient = _clipped(gradient, max_norm)
    weights = torch.tensor(weights_of(model_of(dtype, loud)), dtype=torch.float64)
    loss = sum(part for _, part in ranks) / everything
    ends = {"weights": (weights - RATE * gradient).tolist(), "gradients": gradient.tolist()}
    own = [part / n for (_, part), n in zip(ranks, tokens, strict=True)]
    norms = [float(one.norm()) / everything for one in sums]
    return ends | {"loss": loss, "norm": norm, "own_losses": own, "own_norms": norms}


def model_of(dtype: torch.dtype, loud: float = 1.0) -> Layered:
    """The model of every rank."""
    return Layered(loud).to(dtype)


def data_of(counts: Counts, equal: bool) -> list[list[dict[str, Tensor]]]:
    """Micro-batches by rank; `equal` ones have the same tokens."""
    if equal:
        return [[micro_batch(int(n), 0) for n in own[:1]] * len(own) for own in counts]
    return [
        [micro_batch(int(n), 1000 * rank + k) for k, n in enumerate(own)]
        for rank, own in enumerate(counts)
    ]


@functools.cache
def _sums(
    counts: tuple[tuple[int, ...], ...],
    dtype: torch.dtype,
    equal: bool,
    sum_in: torch.dtype,
    loud: float,
) -> list[tuple[Tensor, float]]:
    """Gradient and loss of each rank, summed over its target tokens; the sum kept in `sum_in`."""
    model, found = model_of(dtype, loud), []
    for micro_batches in data_of(counts, equal):
        total = torch.zeros(sum(p.numel() for p in model.parameters()), dtype=sum_in)
        loss, known = 0.0, {}
        for one in micro_batches:
            if id(one) not in known:
                known[id(one)] = _of_one(model, one)
            gradient, part = known[id(one)]
            total += gradient
            loss += part
        found.append((total.double(), loss))
    return found


def _of_one(model: nn.Module, one: dict[str, Tensor]) -> tuple[Tensor, float]:
    part = loop.summed_loss(loop.logits_of(model, one), one["labels"])
    gradients = torch.autograd.grad(part, list(model.parameters()))
    return torch.cat([gradient.flatten() for gradient in gradients]), part.item()


def _clipped(gradient: Tensor, max_norm: float) -> Tensor:
    return gradient * min(1.0, max_norm / (float(gradient.norm()) + 1e-6))
