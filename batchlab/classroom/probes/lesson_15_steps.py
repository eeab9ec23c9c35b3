"""The steps of lesson 15 on one device: what many ranks must give, and what each mistake gives.

    micro-batches by rank, weights  ->  the step of all of them in one piece, or under a mistake
    layers, rows by rank            ->  the step of a chain of layers that nobody shards

Words
    mistake  a name of MISTAKES; the result under it is that of rank `at`
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_15_model import summed

__all__ = ["CHAIN", "MISTAKES", "chain_step", "in_one_piece", "pieces_of", "wrong_chains",
           "wrong_losses", "wrong_steps"]  # fmt: skip

MISTAKES = {
    "own": "this rank's gradient alone: all_reduce returns the sum, the argument stays as it was",
    "own part": "this rank's sum alone, over all tokens: the ranks were not added",
    "mean of ranks": "the mean over ranks: a rank with few tokens counts as much as one with many",
    "mean of full": "the mean over the ranks that have tokens: every token counts the same",
    "mean of micro": "the mean over micro-batches: short ones count as much as long ones",
    "own counts": "each rank divided by its own tokens: the tokens of all ranks count",
    "own count": "the sum of all ranks over the tokens of one: add the counts, too",
    "divided twice": "divided by the number of ranks as well: the tokens are the whole division",
    "divided by micro": "divided by the number of micro-batches as well: the tokens are enough",
    "no division": "the sum was not divided: divide by the target tokens of all ranks",
    "all labels": "targets of -100 were counted: summed() returns the count",
    "unclipped": "the gradient was not clipped to max_norm",
    "clip each": "each rank clipped its own part: asked is the norm of the whole gradient",
    "clip tensors": "each array was clipped by its own norm: one norm counts, that of all",
    "clip always": "scaled up to max_norm: clipping only ever makes a gradient shorter",
    "clip first": "clipped before the division: the norm that counts is that of the mean gradient",
    "uphill": "the weights moved up the gradient: the step goes against it",
    "no rate": "the rate is missing",
    "dict order": "the arrays travelled in the order of each rank's own dictionary, which differs: "
    "agree on an order, such as sorted names",
    "first letter": "names with the same first letter travelled in another order on each rank: "
    "sort by the whole name",
    "last micro": "only the last micro-batch of each rank was kept: add their gradients",
}


def in_one_piece(
    parts: Sequence[Sequence[Any]],
    orders: Sequence[Sequence[str]],
    weights: Mapping[str, np.ndarray],
    rate: float,
    max_norm: float,
    mistake: str = "",
    at: int = 0,
    extra: float = 1e-6,
) -> tuple[list[float], float]:
    """Weights (flat, in the order of sorted names) and loss after the step of all ranks.

    extra  what PyTorch adds to the norm before it divides by it; 0 is as right
    """
    names = sorted(weights)
    found = [[summed(weights, micro) for micro in own] for own in parts]
    order = [_order(own, mistake) for own in orders]
    sizes = sum(one.size for one in weights.values())
    own = [
        sum((_flat(g, names_) for _, g, _ in some), np.zeros(sizes))
        for some, names_ in zip(found, order, strict=True)
    ]
    if mistake == "last micro":
        last = (_flat(some[-1][1], names) for some in found if some)
        own = [sum(last, np.zeros(sizes))]
        own += [np.zeros(sizes)] * (len(parts) - 1)
    counts = [sum(n for _, _, n in some) for some in found]
    losses = [sum(one for one, _, _ in some) for some in found]
    everything, ranks = sum(counts), len(parts)
    if mistake == "all labels":
        everything = sum(len(micro["targets"]) for one in parts for micro in one)
    means = [g / max(n, 1) for g, n in zip(own, counts, strict=True)]
    micro_means = [_flat(g, names) / max(n, 1) for some in found for _, g, n in some]
    scaled = {
        "own": means[at],
        "own part": own[at] / everything,
        "mean of ranks": sum(means) / ranks,
        "mean of full": sum(means) / max(1, sum(n > 0 for n in counts)),
        "mean of micro": sum(micro_means) / max(1, len(micro_means)),
        "own counts": sum(means),
        "own count": sum(own) / max(1, counts[at]),
        "divided twice": sum(own) / everything / ranks,
        "divided by micro": sum(own) / everything / max(1, len(parts[at])),
        "no division": sum(own),
        "clip each": sum(_clipped(g / everything, max_norm) for g in own),
        "clip first": _clipped(np.asarray(sum(own)), max_norm) / everything,
    }
    gradient = np.asarray(scaled.get(mistake, sum(own) / everything))
    if mistake == "clip tensors":
        ends = np.cumsum([weights[name].size for name in names])[:-1]
        gradient = np.concatenate([_clipped(one, max_norm) for one in np.split(gradient, ends)])
    elif mistake == "clip always":
        gradient = gradient * min(max_norm, 1e9) / np.linalg.norm(gradient)
    elif mistake not in ("unclipped", "clip each", "clip first"):
        gradient = _clipped(gradient, max_norm, extra)
    if mistake in ("dict order", "first letter"):
        gradient = _reordered(gradient, order[at], names, weights)
    way = {"uphill": -rate, "no rate": 1.0}.get(mistake, rate)
    return (_flat(weights, names) - way * gradient).tolist(), sum(losses) / everything


def wrong_steps(case: Any, at: int = 0) -> list[tuple[list[float], str]]:
    """Weights of rank `at` under each known mistake, where they are not the right ones."""
    parts, orders, weights, rate, norm = case

    def under(mistake: str) -> list[float]:
        return in_one_piece(parts, orders, weights, rate, norm, mistake, at)[0]

    right = np.array(under(""))
    found = [(under(name), why) for name, why in MISTAKES.items()]
    return [(one, why) for one, why in found if np.abs(np.array(one) - right).max() > 1e-7]


def wrong_losses(case: Any, at: int = 0) -> dict[float, str]:
    """The loss of rank `at` under each known mistake."""
    parts, _, weights, _, _ = case
    found = [[summed(weights, micro)[::2] for micro in own] for own in parts]
    losses = [sum(one for one, _ in own) for own in found]
    counts = [sum(n for _, n in own) for own in found]
    means = [one / max(1, n) for one, n in zip(losses, counts, strict=True)]
    right = sum(losses) / sum(counts)
    known = {
        means[at]: "the loss of this rank alone: add losses and tokens over the ranks",
        losses[at] / sum(counts): "this rank's losses over all tokens: add the losses, too",
        sum(means) / len(means): "the mean over ranks: every token counts the same",
        sum(losses) / max(1, counts[at]): "all losses over the tokens of one rank",
        sum(losses): "the losses of all ranks were not divided",
        right / len(parts): "divided by the number of ranks as well",
    }
    return {value: why for value, why in known.items() if abs(value - right) > 1e-9}


def pieces_of(layers: Sequence[np.ndarray], ranks: int, rank: int) -> list[np.ndarray]:
    """The piece of each layer that a rank keeps."""
    return [np.array_split(layer.ravel(), ranks)[rank].copy() for layer in layers]


CHAIN = {
    "mean": "divided by the number of ranks: down is divided by the rows of all ranks already",
    "own": "this rank's gradient alone: reduce_scatter adds those of all ranks",
    "own rows": "divided by the rows of this rank: `rows` are those of all ranks",
    "undivided": "not divided by the rows",
    "reversed": "the layers came back in the order of the backward pass: turn the list round",
    "uphill": "the weights moved up the gradient: the step goes against it",
    "no rate": "the rate is missing",
    "inputs": "each gradient needs what *its* layer was given in the forward pass",
    "transposed": "down goes through the transpose of the layer",
}


def chain_step(
    layers: Sequence[np.ndarray],
    inputs: Sequence[np.ndarray],
    rate: float,
    mistake: str = "",
    at: int = 0,
) -> list[np.ndarray]:
    """The layers after one step of all rows: inputs are those of each rank."""
    rows = sum(len(one) for one in inputs)
    total = [np.zeros_like(layer) for layer in layers]
    for number, own in enumerate(inputs):
        kept = [own]
        for layer in layers:
            kept.append(kept[-1] @ layer)
        divisor = {"own rows": max(1, len(own)), "undivided": 1}.get(mistake, rows)
        down = kept.pop() / divisor
        for depth in reversed(range(len(layers))):
            x = kept[0] if mistake == "inputs" else kept[depth]
            if mistake != "own" or number == at:
                total[depth] += x.T @ down
            down = down @ (layers[depth] if mistake == "transposed" else layers[depth].T)
    way = {"uphill": -rate, "no rate": 1.0, "mean": rate / len(inputs)}.get(mistake, rate)
    after = [layer - way * g for layer, g in zip(layers, total, strict=True)]
    return after[::-1] if mistake == "reversed" else after


def wrong_chains(
    layers: Sequence[np.ndarray], inputs: Sequence[np.ndarray], rate: float, at: int
) -> list[tuple[np.ndarray, str]]:
    """Pieces of rank `at`, joined, under each known mistake, where they are not the right ones."""
    ranks = len(inputs)
    right = np.concatenate(pieces_of(chain_step(layers, inputs, rate), ranks, at))
    found = []
    for name, why in CHAIN.items():
        wrong = pieces_of(chain_step(layers, inputs, rate, name, at), ranks, at)
        one = np.concatenate(wrong)
        if one.shape != right.shape or np.abs(one - right).max(initial=0.0) > 1e-9:
            found.append((one, why))
    return found


def _order(own: Sequence[str], mistake: str) -> Sequence[str]:
    """The names of a rank's dictionary in the order in which they travel."""
    if mistake == "first letter":
        return sorted(own, key=lambda name: name[0])
    return own if mistake == "dict order" else sorted(own)


def _flat(arrays: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    return np.concatenate([arrays[name].ravel() for name in names])


def _reordered(
    flat: np.ndarray, order: Sequence[str], names: Sequence[str], shapes: Mapping[str, np.ndarray]
) -> np.ndarray:
    """A flat gradient, read in the order of a rank's own dictionary, in that of sorted names."""
    ends = np.cumsum([shapes[name].size for name in order])[:-1]
    parts = dict(zip(order, np.split(flat, ends), strict=True))
    return np.concatenate([parts[name] for name in names])


def _clipped(gradient: np.ndarray, max_norm: float, extra: float = 1e-6) -> np.ndarray:
    norm = float(np.linalg.norm(gradient))
    return gradient if norm <= max_norm else gradient * (max_norm / (norm + extra))
