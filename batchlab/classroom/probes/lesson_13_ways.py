"""A run of lesson 13's meter by hand, in the right way and in every wrong one.

    windows of rows, a way  ->  losses, readings, scale and error that a meter says then

Words
    way    how a meter goes about it: one of WAYS, "right" among them
    piece  the gradients of all parameters that one micro-batch makes
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from batchlab import loop
from batchlab.classroom.probes.bigram import RATE, weights_of
from batchlab.classroom.probes.lesson_13_rows import Window, made, targets, windows_of
from batchlab.classroom.probes.lesson_13_versions import noise_scale, two_norms
from batchlab.counts import IGNORE

__all__ = ["SHAPES", "WAYS", "run"]

WAYS = {
    "clipped": "the big norm was read after clipping: hear it before, when the last backward ends",
    "own means": "each micro-batch's own mean gradient: what backward made is its share of the sum",
    "token means": "own means weighted by tokens miss the noise of unequal lengths",
    "not summed": "the mean of the squared norms of the pieces: their sum, over s",
    "no share": "the sum of the squared norms is not divided by s",
    "running": "the sum so far is not the gradient of one micro-batch: hear the gradient itself",
    "last": "the gradient of the last micro-batch is not that of the step",
    "rows": "a row without a target is no sequence: padding is in the count",
    "labels": "the first label of a row is never read: it makes no sequence of padding",
    "tokens": "target tokens are not sequences",
    "slots": "slots are not sequences: padding is in the count",
    "micro-batches": "micro-batches are not sequences: multiply by the rows with targets",
    "unequal": "micro-batches may hold unlike numbers of sequences: s is not 1/K",
    "of ratios": "the mean of the windows' own ratios: both means first",
    "norms": "norms in place of squared norms",
    "first": "only the first parameter: squared norms of all of them add up",
    "last parameter": "only the last parameter: squared norms of all of them add up",
    "matrices": "parameters of one dimension have gradients, too",
    "two names": "a parameter with two names is one parameter: count it once",
    "stale": "a parameter without a gradient in this window still has its old norm: empty the sums",
    "largest": "the largest of the passes: the last one has left the gradient of the step",
    "every pass": "the sums so far were added up: the last one is the gradient of the step",
    "exchanged": "the two norms, or the two sizes, are exchanged",
    "first size": "the small batch is s B, not the size of the first micro-batch",
    "mean size": "the small batch is s B, not the mean size",
    "K": "the small norm is the sum over s, also where micro-batches are unequal",
    "token 0": "token 0 is a target like any other: only loop.IGNORE is none",
    "two targets": "a row with one target is a sequence, too",
    "half": "norms in half precision: use float64, or the gradient's own numbers",
    "below 0": "readings below 0 are luck, too: keep them",
    "first window": "only the first window was read",
    "since the start": "pieces of the windows before are still in the sum: begin anew",
    "all together": "one reading from all windows together: each window gives its own",
}
SHAPES = dict.fromkeys(  # ways that only a model with such parameters tells apart
    ("no numbers", "flat", "no four"),
    "parameters of no dimension, and of three or four, have gradients, too",
)


def run(
    windows: Sequence[Window],
    *,
    way: str = "right",
    max_norm: float = math.inf,
    frozen: bool = False,
    loud: float = 0.0,
    quiet: float = 1.0,
    shapes: bool = False,
) -> dict[str, Any]:
    """What a meter that goes a way says of a run; the run itself is the right one, by hand."""
    model, _, _ = made(frozen, loud, quiet, shapes)
    learning = [p for p in model.parameters() if p.requires_grad]
    readings: list[tuple[float, float]] = []
    losses: list[float] = []
    before: list[Any] = []
    old: dict[int, float] = {}  # squared norms of each parameter, the last that was heard
    for window in windows_of(windows):
        pieces, loss, heard = _passes(model, learning, window)
        whole = [sum(parts) for parts in zip(*pieces, strict=True)]
        norm = math.sqrt(_square(whole))
        scale = min(1.0, max_norm / (norm + 1e-6)) if math.isfinite(norm) else 0.0
        losses.append(loss)
        before = [*before, *pieces] if way == "since the start" else pieces
        old |= {p: _square([whole[p]]) for p in heard}
        found = _reading(way, _Heard(
            before, whole, _sizes(way, window), list(map(targets, window)), scale,
            sum(old.values())))  # fmt: skip
        if found is not None and not (way == "first window" and readings):
            readings.append(found)
        if scale:
            with torch.no_grad():
                for p, g in zip(learning, whole, strict=True):
                    p.sub_(RATE * scale * g)
    below = sum(min(one) <= 0 for one in readings)
    if way == "below 0":
        readings = [one for one in readings if min(one) > 0]
    said = _ratio(way, readings)
    return {"losses": losses, "readings": len(readings), "below": below,
            "scale": said[0], "error": said[1], "weights": weights_of(model)}  # fmt: skip


def _passes(
    model: Any, learning: list[Any], window: list[dict[str, Tensor]]
) -> tuple[list[Any], float, set[int]]:
    """The piece of each micro-batch, the loss, and the numbers of the parameters that were used."""
    tokens = sum(map(targets, window))
    pieces, loss, heard = [], 0.0, set[int]()
    for micro in window:
        part = loop.summed_loss(loop.logits_of(model, micro), micro["labels"]) / tokens
        grads = torch.autograd.grad(part, learning, allow_unused=True)
        pieces.append([
            torch.zeros_like(p) if g is None else g.detach()
            for g, p in zip(grads, learning, strict=True)
        ])  # fmt: skip
        heard |= {p for p, g in enumerate(grads) if g is not None}
        loss += part.item()
    return pieces, loss, heard


def _square(parts: Sequence[Any]) -> float:
    return float(sum((one.double() ** 2).sum() for one in parts))


def _sizes(way: str, window: list[dict[str, Tensor]]) -> list[int]:
    """What a way counts as the sequences of each micro-batch."""
    counted = [
        micro["labels"] > 0 if way == "token 0" else micro["labels"] != IGNORE for micro in window
    ]
    return [
        {"rows": one.shape[0], "labels": int(one.any(1).sum()), "slots": one.numel(),
         "two targets": int((one[:, 1:].sum(1) > 1).sum()),
         "tokens": int(one[:, 1:].sum()), "micro-batches": int(one[:, 1:].any())}.get(
            way, int(one[:, 1:].any(1).sum()))
        for one in counted
    ]  # fmt: skip


def _part(way: str, parts: Sequence[Any]) -> float:
    """The squared norm that a way finds in the gradients of all parameters."""
    if way == "half":
        return float(sum(float(one.bfloat16().square().sum()) for one in parts))
    chosen = {"first": parts[:1], "last parameter": parts[-1:],
              "matrices": [one for one in parts if one.ndim > 1],
              "two names": [*parts, *(one for one in parts if one.ndim == 1)],
              "no numbers": [one for one in parts if one.ndim],
              "flat": [one for one in parts if one.ndim < 3],
              "no four": [one for one in parts if one.ndim < 4]}  # fmt: skip
    return _square(chosen.get(way, parts))


@dataclass(frozen=True)
class _Heard:
    """What one window lets hear."""

    pieces: list[Any]
    whole: list[Any]
    sizes: list[int]
    own_tokens: list[int]
    clipped: float  # what clipping leaves of the gradient
    last_heard: float  # the squared norms that were heard last, of every parameter

    def so_far(self) -> list[list[Any]]:
        """The sum after each backward pass."""
        return [
            [sum(some) for some in zip(*self.pieces[: k + 1], strict=True)]
            for k in range(len(self.pieces))
        ]


def _small(way: str, heard: _Heard, share: float) -> float:
    """The squared norm that a way gives the micro-batches."""
    own = [_part(way, piece) for piece in heard.pieces]
    count, tokens = len(heard.sizes), sum(heard.own_tokens)
    weights = [n / tokens for n in heard.own_tokens]
    pairs = [(w, one / w**2) for w, one in zip(weights, own, strict=False) if w]
    found: dict[str, Callable[[], float]] = {
        "own means": lambda: sum(mean for _, mean in pairs) / len(pairs),
        "token means": lambda: sum(w * mean for w, mean in pairs),
        "not summed": lambda: sum(own) / len(own),
        "no share": lambda: sum(own),
        "running": lambda: sum(map(_square, heard.so_far())) / share,
        "unequal": lambda: sum(own) * count,
        "K": lambda: sum(own) * count,
    }
    return float(found.get(way, lambda: sum(own) / share)())


def _big(way: str, heard: _Heard) -> float:
    """The squared norm that a way gives the step."""
    if way in ("largest", "every pass"):
        each = [[_square([one]) for one in sums] for sums in heard.so_far()]
        pick = max if way == "largest" else sum
        return float(sum(pick(some) for some in zip(*each, strict=True)))
    found: dict[str, Callable[[], float]] = {
        "stale": lambda: heard.last_heard,
        "clipped": lambda: _square(heard.whole) * heard.clipped**2,
        "last": lambda: _square(heard.pieces[-1]),
    }
    return float(found.get(way, lambda: _part(way, heard.whole))())


def _reading(way: str, heard: _Heard) -> tuple[float, float] | None:
    """One window's squared gradient and trace; None where it gives no reading."""
    batch = sum(heard.sizes)
    share = sum(n * n for n in heard.sizes) / batch**2
    norms = [_square(one) for one in (*heard.pieces, heard.whole)]
    if share >= 1 or not math.isfinite(sum(norms)):
        return None
    small, big = _small(way, heard, share), _big(way, heard)
    few = {"unequal": batch / len(heard.sizes), "mean size": batch / len(heard.sizes),
           "first size": heard.sizes[0] or 1}.get(way, share * batch)  # fmt: skip
    if way == "norms":
        small, big = math.sqrt(small), math.sqrt(big)
    if way == "exchanged":
        small, big = big, small
    return two_norms(small, big, few, batch)


def _ratio(way: str, readings: list[tuple[float, float]]) -> tuple[float, float]:
    if way == "of ratios":
        ratios = [trace / squared for squared, trace in readings]
        return sum(ratios) / len(ratios), math.nan
    if way == "all together":
        return noise_scale(readings)[0], 0.0
    if way == "first window":
        return readings[0][1] / readings[0][0], math.nan
    return noise_scale(readings)
