"""Ways to take one optimizer step over several micro-batches: the right one and known wrong ones.

    a recipe, target tokens of each micro-batch  ->  weights, losses

Words
    recipe     a way to take the step: "right", or a name of MISTAKES
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab import loop
from batchlab.classroom.probes.bigram import (
    IGNORE,
    Layered,
    made,
    targets_of,
    weights_of,
    windows_of,
)

__all__ = ["COUNTS", "MISTAKES", "divided_twice_step", "popular_step", "recipe", "undivided_step"]

MISTAKES = {
    "mean of means": "the mean of the micro-batches' means: divide each sum by the step's targets",
    "no division": "the sum over all tokens: divide by the target tokens of the step",
    "divided twice": "divided by the target tokens and by the number of micro-batches as well",
    "last only": "only the last micro-batch arrived: zero_grad() inside the loop wipes the others",
    "largest": "the targets of the largest micro-batch, times their number: add up those of each",
    "unshifted": "all labels are counted: the first label of a row has no token before it",
    "left over": "the gradient of the window before is still in it: zero_grad() once a window",
    "left in part": "some parameters keep the gradient of the window before: zero_grad() takes all",
    "unclipped": "the gradient was not clipped",
    "clip each": "clipped after each micro-batch: the norm that counts is that of the whole step",
    "clip first": "clipped before the division: the norm that counts is that of the mean gradient",
    "clip values": "each entry was cut on its own: clip_grad_norm_ keeps the direction",
    "clip tensors": "each weight was clipped by its own norm: one norm counts, that of all",
    "clip some": "some weights were clipped: the norm is that of all of model.parameters()",
    "clip largest": "the norm is the root of the sum of squares, not the largest entry",
    "clip always": "scaled up to the largest norm: clipping only ever makes a gradient shorter",
    "step each": "one optimizer step per micro-batch: these are small batches",
    "gap": "counted up to the first -100: targets may follow, as an answer follows a prompt",
    "slots": "all slots are counted: those with the label -100 are no targets",
}
COUNTS = {  # mistakes of which only large, equal or empty counts tell
    "8 bits": "a count of 8 bits ends at 255: use Python integers",
    "16 bits": "a count of 16 bits ends at 65,535: use Python integers",
    "bf16": "a count in bf16 has 8 bits: from 256 on it is rounded",
    "equal": "micro-batches with equally many targets are still several: a key is met twice",
    "undivided": "not divided: a step of one micro-batch is divided by its targets as well",
    "no step": "no step was taken: other micro-batches have targets",
    "stops": "it stops at a micro-batch without targets: others follow",
}


def popular_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, micro_batches: Sequence[dict[str, Tensor]]
) -> float:
    """The step of many tutorials: each micro-batch's mean, divided by their number."""
    return _means_divided_by(len(micro_batches), model, optimizer, micro_batches)


def undivided_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, micro_batches: Sequence[dict[str, Tensor]]
) -> float:
    """A step that adds the micro-batches' means: what a head does that drops the token count."""
    return _means_divided_by(1, model, optimizer, micro_batches)


def divided_twice_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, micro_batches: Sequence[dict[str, Tensor]]
) -> float:
    """A step that divides the token mean by the accumulation once more; its loss looks right."""
    tokens, reported = sum(map(targets_of, micro_batches)), 0.0
    optimizer.zero_grad()
    for one in micro_batches:
        loss = loop.summed_loss(loop.logits_of(model, one), one["labels"]) / tokens
        (loss / len(micro_batches)).backward()
        reported += loss.item()
    optimizer.step()
    return reported


def _means_divided_by(
    parts: int, model: nn.Module, optimizer: Any, micro_batches: Sequence[dict[str, Tensor]]
) -> float:
    reported = 0.0
    optimizer.zero_grad()
    for one in micro_batches:
        loss = loop.summed_loss(loop.logits_of(model, one), one["labels"]) / targets_of(one)
        (loss / parts).backward()
        reported += loss.item() / parts
    optimizer.step()
    return reported


def recipe(
    name: str,
    windows: Sequence[Sequence[int]],
    *,
    max_norm: float = math.inf,
    loud: float = 1.0,
) -> dict[str, list[Any]]:
    """Weights and losses after each window by one recipe: "right", or a name of MISTAKES or COUNTS.

    The right one has no loop: PyTorch's own mean over the targets of the whole window. `losses`
    are per target token, `sums` over all of them, `means` the means of the micro-batches' means.
    """
    model, optimizer, _ = made(Layered(loud))
    weights, losses, averages = [], [], []
    for window in windows_of(windows):
        means = [_loss(model, [one]) for one in window]
        if name == "left in part":
            model.embedding.grad = None
        elif name != "left over":
            optimizer.zero_grad()
        if name in {"clip each", "step each"}:
            _piece_by_piece(name, model, optimizer, window, max_norm)
        else:
            _scaled(name, model, window).backward()
            if name == "clip always" and math.isfinite(max_norm):
                _scale_to(max_norm, [p.grad for p in model.parameters() if p.grad is not None])
            elif name == "clip values":
                nn.utils.clip_grad_value_(model.parameters(), max_norm)
            elif name == "clip tensors":
                for parameter in model.parameters():
                    nn.utils.clip_grad_norm_([parameter], max_norm)
            elif name == "clip some":
                nn.utils.clip_grad_norm_(list(model.parameters())[:2], max_norm)
            elif name == "clip largest":
                nn.utils.clip_grad_norm_(model.parameters(), max_norm, norm_type=math.inf)
            elif name != "unclipped":
                # to clip the sum and then divide is to clip the mean to a fraction of the norm
                tokens = sum(map(targets_of, window)) if name == "clip first" else 1
                nn.utils.clip_grad_norm_(model.parameters(), max_norm / tokens)
            if name != "no step":
                optimizer.step()
        losses.append(float(_whole(means, window)))
        averages.append(float(torch.stack(means).detach().mean()))
        weights.append(weights_of(model))
    counts = [sum(map(int, window)) for window in windows]
    sums = [loss * count for loss, count in zip(losses, counts, strict=True)]
    return {"weights": weights, "losses": losses, "means": averages, "sums": sums}


def _scaled(name: str, model: nn.Module, window: list[dict[str, Tensor]]) -> Tensor:
    """The loss whose gradient a recipe follows."""
    tokens = sum(map(targets_of, window))
    factor = {"no division": tokens, "divided twice": 1 / len(window)}.get(name, 1)
    if name == "undivided":
        factor = tokens if len(window) == 1 else 1
    if name == "largest":
        return _loss(model, window) * tokens / (len(window) * max(map(targets_of, window)))
    if name == "mean of means":
        return torch.stack([_loss(model, [one]) for one in window]).mean()
    if name in {"unshifted", "gap", "slots", "8 bits", "16 bits", "bf16"}:
        return _loss(model, window) * tokens / max(1, _miscounted(name, tokens, window))
    if name == "equal":
        return _loss(model, list({targets_of(one): one for one in window}.values()))
    if name == "stops":  # at the first micro-batch without targets
        kept = list(itertools.takewhile(targets_of, window))
        return _loss(model, kept or window) * sum(map(targets_of, kept)) / tokens
    if name == "last only":
        return _loss(model, window[-1:]) * targets_of(window[-1]) / tokens
    return _loss(model, window) * factor


def _miscounted(name: str, tokens: int, window: list[dict[str, Tensor]]) -> float:
    """The target tokens of a window, counted in a wrong way."""
    counted = [one["labels"] != IGNORE for one in window]
    if name == "gap":
        return sum(int(labels.long().cumprod(1)[:, 1:].sum()) for labels in counted)
    if name == "unshifted":
        return sum(int(labels.sum()) for labels in counted)
    if name == "slots":
        return sum(labels[:, 1:].numel() for labels in counted)
    if name == "bf16":
        return torch.tensor(float(tokens), dtype=torch.bfloat16).item()
    return float(tokens % (2**8 if name == "8 bits" else 2**16))


def _piece_by_piece(
    name: str, model: nn.Module, optimizer: Any, window: list[dict[str, Tensor]], max_norm: float
) -> None:
    tokens = sum(map(targets_of, window))
    for one in window:
        (_loss(model, [one]) * targets_of(one) / tokens).backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        if name == "step each":
            optimizer.step()
            optimizer.zero_grad()
    optimizer.step()


def _scale_to(norm: float, grads: list[Tensor]) -> None:
    factor = norm / float(nn.utils.get_total_norm(grads))
    for grad in grads:
        grad.mul_(factor)


def _whole(means: list[Tensor], window: list[dict[str, Tensor]]) -> Tensor:
    counts = torch.tensor([targets_of(one) for one in window]).double()
    return (torch.stack(means).detach().nan_to_num() * counts).sum() / counts.sum()


def _loss(model: nn.Module, window: list[dict[str, Tensor]]) -> Tensor:
    """PyTorch's mean over all targets of some micro-batches together."""
    logits = [model(one["input_ids"])[:, :-1].flatten(0, 1) for one in window]
    labels = [one["labels"][:, 1:].flatten() for one in window]
    return F.cross_entropy(torch.cat(logits), torch.cat(labels), ignore_index=IGNORE)
