"""A model of two tables in NumPy: what each rank of lesson 15 computes on its micro-batches.

    weights, a micro-batch  ->  loss, gradients and target tokens, each summed, never divided

It imports NumPy alone, so that a process which a notebook starts has it at once.

Words
    micro-batch  {"inputs": ids, "targets": ids}: flat, equally long; a target of -100 counts not
    table_shift  an array that some weights have: added to every row of the table; bias: some
"""

from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["IGNORE", "fresh_weights", "micro_batch", "of_documents", "summed"]

IGNORE = -100
Weights = Mapping[str, np.ndarray]
Micro = Mapping[str, np.ndarray]


def summed(weights: Weights, micro: Micro) -> tuple[float, dict[str, np.ndarray], int]:
    """Loss, gradients by name, and target tokens of a micro-batch: sums over its target tokens.

    >>> loss, gradients, tokens = summed(fresh_weights(5, 2), micro_batch(3, seed=1, vocabulary=5))
    >>> tokens, gradients["head"].shape
    (3, (5, 2))
    """
    counted = np.asarray(micro["targets"]) != IGNORE
    inputs = np.asarray(micro["inputs"])[counted]
    targets = np.asarray(micro["targets"])[counted]
    rows = weights["table"][inputs] + weights.get("table_shift", 0.0)
    logits = rows @ weights["head"].T + weights.get("bias", 0.0)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    places = np.arange(len(targets)), targets
    loss = float(-np.log(chances[places]).sum())
    chances[places] -= 1
    table = np.zeros_like(weights["table"])
    np.add.at(table, inputs, chances @ weights["head"])
    gradients = {"table": table, "head": chances.T @ rows}
    if "bias" in weights:
        gradients["bias"] = chances.sum(axis=0)
    if "table_shift" in weights:
        gradients["table_shift"] = (chances @ weights["head"]).sum(axis=0)
    return loss, gradients, len(targets)


def fresh_weights(vocabulary: int, width: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Two tables of one shape, and a bias: replicas start from the same seed."""
    random = np.random.default_rng(seed)
    return {
        "table": random.normal(0, 1, (vocabulary, width)),
        "head": random.normal(0, 1, (vocabulary, width)),
        "bias": random.normal(0, 0.3, vocabulary),
    }


def micro_batch(tokens: int, seed: int, vocabulary: int = 7, ignored: int = 2) -> Micro:
    """`tokens` drawn targets, and some more that are not counted."""
    random = np.random.default_rng([seed, tokens])
    targets = random.integers(vocabulary, size=tokens + ignored) ** 2 % vocabulary
    targets[random.permutation(tokens + ignored)[:ignored]] = IGNORE
    return {"inputs": random.integers(vocabulary, size=tokens + ignored), "targets": targets}


def of_documents(documents: Sequence[Mapping[str, np.ndarray]]) -> Micro:
    """One flat micro-batch of documents: each token predicts the next of its own document."""
    return {
        "inputs": np.concatenate([np.asarray(one["input_ids"])[:-1] for one in documents]),
        "targets": np.concatenate([np.asarray(one["labels"])[1:] for one in documents]),
    }
