"""Which known mistake of accumulation a gradient equals, by arithmetic on inner products.

    inner products of split, whole and single pieces  ->  the weight of each piece, by name

A step over pieces gives the sum of `weight * gradient of the piece alone`. Right weights are the
pieces' shares of what the loss counts; every known mistake gives weights of its own.

Words
    piece  one micro-batch of the split; alone it is a step of its own
    share  what the loss counts in a piece / in all: target tokens, or documents
    scale  the gradient of all in one piece / the gradient of the mean over target tokens
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

__all__ = ["KNOWN", "Found", "find", "named_scale", "shares_of"]

Names: TypeAlias = tuple[str, ...]  # keys of KNOWN

KNOWN = {
    "mean of means": "each micro-batch counts alike: divide all by the target tokens of the step",
    "dropped tail": "the last micro-batch is missing: step on what is left at the end, too",
    "clip per micro-batch": "gradients are clipped before their sum is complete: clip the sum",
    "scaled by ranks": "multiplied by the number of ranks: divide by the tokens of all ranks, once",
    "bf16 sum": "gradients are added in bfloat16: add them in float32",
    "no division": "a sum where a mean is due: divide by the target tokens of the step",
    "scaled by accumulation": "multiplied by the number of micro-batches: do not",
    "1/accumulation": "divided by the number of micro-batches once too often: the loss hides it",
}

LEAST_TOLERANCE = 1e-6  # of float32, where a step is exact to about 1e-7
PER_ROUNDING = 4  # the split rounds more often than the pieces alone, whose error is known
SAME_SCALE = 0.02  # bfloat16 moves it less
OWN_LOSS = 0.05  # pieces that miss the whole by more have a loss that is no mean over them
BF16 = 2.0**-8  # of a value: what adding two bfloat16 may lose, twice over


@dataclass(frozen=True)
class Found:
    """How the split weighs its pieces."""

    counted: str | None  # what the loss is a mean of; None: of neither tokens nor documents
    rounding: float  # what the pieces alone, added up, miss the whole by
    tolerance: float
    mistakes: Names = ()
    named: bool = True  # right or a known mistake; else it equals neither


def shares_of(counted: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    """Shares of each piece, (pieces,), by what may be counted."""
    return {name: np.array(each) / sum(each) for name, each in counted.items() if sum(each)}


def named_scale(scale: float | None, pieces: int, ranks: int) -> float:
    """The scale where a mistake explains it, exactly; else 1: only the split is judged."""
    for known in (float(ranks), 1 / pieces, ranks / pieces):
        if scale and abs(scale / known - 1) < SAME_SCALE:
            return known
    return 1.0


def find(
    inner: np.ndarray,
    shares: Mapping[str, np.ndarray],
    *,
    scale: float,
    ranks: int,
    in_bf16: bool,
    of_bf16: bool,
) -> Found:
    """Name what the split is, from inner products of (split, whole, each piece alone).

    inner   (2 + pieces, 2 + pieces), from runs in which nothing was clipped
    scale   1 where it is not known
    in_bf16 whether every value of the split is a bfloat16 number
    of_bf16 whether that is so because the weights are: then only a larger error is a mistake
    """
    pieces = len(inner) - 2
    sums = {"nothing": np.ones(pieces)}  # a loss that is a sum
    misses = {name: _miss(inner, 1, share) for name, share in {**shares, **sums}.items()}
    counted = min(misses, key=misses.__getitem__)
    rounding = misses[counted]
    tolerance = max(LEAST_TOLERANCE, PER_ROUNDING * rounding)
    if rounding > OWN_LOSS:
        apart = np.array([1.0, -1.0])
        difference = np.sqrt(max(0.0, apart @ inner[:2, :2] @ apart) / inner[1, 1])
        return Found(None, rounding, LEAST_TOLERANCE, named=bool(difference <= LEAST_TOLERANCE))
    if counted == "nothing":
        known: list[tuple[Names, np.ndarray]] = [(("no division",), sums["nothing"])]
    else:
        _require_different(inner, shares[counted], tolerance)
        known = _known(shares[counted], scale, ranks)
    off = [(names, _miss(inner, 0, weights)) for names, weights in known]
    for names, miss in off:
        if miss <= tolerance:
            narrow = ("bf16 sum",) if in_bf16 and not of_bf16 else ()
            return Found(counted, rounding, tolerance, (*names, *narrow))
    nearest, miss = min(off, key=lambda one: one[1])
    if in_bf16 and miss <= pieces * BF16:
        return Found(counted, rounding, tolerance, (*nearest, "bf16 sum"))
    return Found(counted, rounding, tolerance, named=False)


def _known(share: np.ndarray, scale: float, ranks: int) -> list[tuple[Names, np.ndarray]]:
    """Mistakes and the weights that they lead to, the simplest first; () is the right step."""
    pieces = len(share)
    alike, kept = np.full(pieces, 1 / pieces), np.arange(pieces) < pieces - 1
    ways: list[tuple[Names, np.ndarray]] = [
        ((), share),
        (("mean of means",), alike),
        (("no division",), np.ones(pieces)),
        (("dropped tail",), share * kept),
        (("dropped tail",), share * kept / share[kept].sum()),  # over what is left
        (("dropped tail", "mean of means"), alike * kept),
        (("dropped tail", "mean of means"), kept / kept.sum()),
        (("dropped tail", "no division"), 1.0 * kept),
    ]
    by_ranks: dict[Names, float] = {(): 1.0, ("scaled by ranks",): float(ranks)}  # 1 has no name
    found = [
        ((*way, *factor, *rank), weights * number * more / scale)
        for way, weights in ways
        for factor, number in _factors(way, pieces).items()
        for rank, more in by_ranks.items()
    ]
    return sorted(found, key=lambda one: len(one[0]))


def _factors(way: Names, pieces: int) -> dict[Names, float]:
    """What may multiply the weights besides; means times their number have a name already."""
    factors: dict[Names, float] = {(): 1.0}
    if "no division" not in way:
        factors["1/accumulation",] = 1 / pieces
        if "mean of means" not in way:
            factors["scaled by accumulation",] = float(pieces)
    return factors


def _miss(inner: np.ndarray, row: int, weights: np.ndarray) -> float:
    """How far the weighted pieces are from the gradient in `row`, over its norm."""
    apart = np.zeros(len(inner))
    apart[row] = 1
    apart[2:] = -weights
    square = max(0.0, float(apart @ inner @ apart))
    return float(np.sqrt(square / inner[row, row])) if inner[row, row] else float("inf")


def _require_different(inner: np.ndarray, share: np.ndarray, tolerance: float) -> None:
    """Pieces that count alike cannot tell a mean of means from the right step."""
    apart = share - 1 / len(share)
    difference = np.sqrt(max(0.0, float(apart @ inner[2:, 2:] @ apart)) / inner[1, 1])
    if difference <= 2 * tolerance:
        raise ValueError(
            "the pieces count alike, so a mean of means would look right: give documents of more "
            "different lengths, or a number that divides into unequal pieces"
        )
