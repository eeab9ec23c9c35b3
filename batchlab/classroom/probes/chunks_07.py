"""Watch a learner's loss in chunks: its value, its gradients, and the logits that it keeps alive.

    a loss function, targets, slots in a chunk  ->  plain data, and what the whole loss gives

The function takes (hidden, head, labels, chunk) as lesson 07 asks for it. What stays alive is told
by the peak of a real forward and backward pass, counted by the profiler; how many rows of logits
are made at once, by a look at every tensor as PyTorch makes it.

Shapes, by suffix, in this file
    N  slots    D  hidden size    V  vocabulary
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from batchlab import loop
from batchlab.memory import trace

__all__ = [
    "VOCABULARY",
    "chunk_losses",
    "chunked",
    "frozen_body",
    "plain_loss",
    "rows_alive",
    "single_slots",
    "targets_of",
    "whole",
]

Loss = Callable[[Tensor, nn.Linear, Tensor, int], Any]
HIDDEN, VOCABULARY = 4, 2000  # so a tensor of 4 x 2,000 may be the head's, or its gradient
SCALE = 7  # the caller divides by target tokens before the backward pass


def targets_of(slots: int, lost: Sequence[int] = ()) -> list[int]:
    """A target for each slot; those at the places of `lost` are not counted."""
    drawn = np.random.default_rng(7).integers(0, VOCABULARY, slots)
    return [loop.IGNORE if place in lost else int(one) for place, one in enumerate(drawn)]


def chunked(
    answer: Loss,
    labels: Sequence[int],
    chunk: int,
    *,
    dtype: str = "float32",
    frozen: bool = False,
    bias: bool = False,
    large: bool = False,
    watched: bool = False,
) -> dict[str, Any]:
    """What came of one forward and backward pass through the loss.

    loss            as a float, or None; kind: what was returned, in words, empty for a scalar
    hidden, head    the gradients, over `SCALE`, beyond what `.grad` held; None where none arrived
    bias            the same; None in a head without one
    head_moved      whether requires_grad of the head was changed
    labels_moved    whether the caller's labels were changed
    rows            the most rows of logits in one tensor, forward and backward
    alive           peak bytes over those of a chunk's float32 logits; `watched` only
    """
    leaf, head, targets = _made(labels, dtype, frozen, bias, large)
    if not frozen:
        for part in head.parameters():
            part.grad = torch.ones_like(part)
    found: dict[str, Any] = {"loss": None, "kind": "", "hidden": None, "head": None, "bias": None}

    def step() -> None:
        loss = answer(leaf * 1.0, head, targets, chunk)
        found["kind"] = _fault(loss)
        if not found["kind"]:
            found["loss"] = loss.item()
            (loss / SCALE).backward()

    if watched:
        peak = trace.measure_peak(step)
        found["alive"] = peak / (chunk * VOCABULARY * 4)
    else:
        with _Rows() as seen:
            step()
        found["rows"] = seen.most
    found["hidden"] = None if leaf.grad is None else leaf.grad.float().numpy()
    for name, one in (("head", head.weight), ("bias", head.bias)):
        if one is not None and one.grad is not None and not frozen:
            found[name] = (one.grad - 1).float().numpy()
    found["head_moved"] = head.weight.requires_grad is frozen
    found["labels_moved"] = targets.tolist() != list(labels)
    return found


class _Rows(TorchDispatchMode):
    """Notes the most rows of a tensor with the vocabulary in its shape."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, Tensor) and VOCABULARY in one.shape:
                rows = one.numel() // VOCABULARY
                self.most = max(self.most, rows if rows != HIDDEN else 0)
        return made


def rows_alive(rows: int, slots: int, chunk: int) -> str:
    """What is wrong with the most rows of logits made at once, in words; empty if nothing is.

    >>> rows_alive(16, 95, 16), rows_alive(17, 95, 16)
    ('', '17 slots at once: the slice of a chunk ends before i + chunk')
    """
    if rows <= chunk:
        return ""
    rest = slots % chunk
    known = {
        -(-slots // max(1, slots // chunk)): "the number of chunks is rounded down: round it up",
        chunk + rest: "a short rest is a chunk of its own: do not join it to another",
        -(-slots // chunk): "`chunk` is the slots of a chunk, not the number of chunks",
        chunk + 1: "the slice of a chunk ends before i + chunk",
        slots: "all logits are made at once, or a chunk is larger than asked",
    }
    return f"{rows} slots at once: " + known.get(rows, "a chunk is larger than asked")


def whole(
    labels: Sequence[int],
    *,
    dtype: str = "float32",
    frozen: bool = False,
    bias: bool = False,
    large: bool = False,
) -> dict[str, Any]:
    """The right value and gradients, from all logits at once in float64."""
    leaf, head, targets = _made(labels, dtype, frozen, bias, large)
    wide = leaf.detach().double().requires_grad_()
    weight = head.weight.detach().double().requires_grad_()
    shift = head.bias.detach().double().requires_grad_() if bias else None
    loss = functional.cross_entropy(
        functional.linear(wide, weight, shift), targets, ignore_index=loop.IGNORE, reduction="sum"
    )
    (loss / SCALE).backward()
    assert wide.grad is not None and weight.grad is not None
    found = {"loss": loss.item(), "hidden": wide.grad.numpy(), "head": weight.grad.numpy()}
    if shift is not None and shift.grad is not None:
        found["bias"] = shift.grad.numpy()
    return found


def plain_loss(hidden: Tensor, head: nn.Linear, labels: Tensor, chunk: int) -> Tensor:
    """All logits at once, whatever `chunk` says."""
    logits = head(hidden).float()
    return functional.cross_entropy(logits, labels, ignore_index=loop.IGNORE, reduction="sum")


def frozen_body(answer: Loss, slots: int, chunk: int) -> tuple[Any, Any]:
    """The head's gradient where hidden needs none, None if none arrived; and the right one."""
    drawn = torch.Generator().manual_seed(7)
    head = nn.Linear(6, 50, bias=False)
    with torch.no_grad():
        head.weight.copy_(torch.randn(50, 6, generator=drawn))
    body, targets = torch.randn(slots, 6, generator=drawn), torch.arange(slots) % 50
    loss = answer(body, head, targets, chunk)
    if not isinstance(loss, Tensor) or not loss.requires_grad:
        return None, []
    loss.backward()
    want = torch.autograd.grad(plain_loss(body, head, targets, slots), head.weight)[0]
    return None if head.weight.grad is None else head.weight.grad.numpy(), want.numpy()


def single_slots(answer: Loss, slots: int) -> float:
    """The loss of many chunks of one slot each."""
    return float(answer(torch.ones(slots, 2), nn.Linear(2, 3), torch.zeros(slots).long(), 1))


def chunk_losses(
    labels: Sequence[int], chunk: int, *, bias: bool = False, large: bool = False
) -> dict[float, str]:
    """What known mistakes make of the summed loss, by their thoughts."""
    leaf, head, targets = _made(labels, "float32", False, bias, large)
    with torch.no_grad():
        each = functional.cross_entropy(
            head(leaf), targets, ignore_index=loop.IGNORE, reduction="none"
        ).numpy()
    counted = np.array([one != loop.IGNORE for one in labels])
    pieces = [slice(at, at + chunk) for at in range(0, len(labels), chunk)]
    sums = [float(each[one].sum()) for one in pieces]
    counts = [int(counted[one].sum()) for one in pieces]
    masked = torch.where(targets < 0, 0, targets)
    with torch.no_grad():
        every = functional.cross_entropy(head(leaf), masked, reduction="sum").item()
        straight = functional.linear(leaf, head.weight)
        straight_loss = functional.cross_entropy(straight, targets, reduction="sum").item()
        shifted = functional.cross_entropy(head(leaf[:-1]), targets[1:], reduction="sum").item()
    known = {
        every: "a slot without a target is counted: leave loop.IGNORE out",
        straight_loss: "the head may have a bias: call head(...)",
        shifted: "the labels are shifted already",
        sum(
            s / max(1, n) * len(labels[one]) for s, n, one in zip(sums, counts, pieces, strict=True)
        ): ("the mean times the slots: a slot without a target is no part of the mean"),
        sum(sums) / len(labels): "divided by the slots",
        sum(sums) / max(1, sum(counts)): "the mean: the sum over the target tokens is asked",
        sum(s / n for s, n in zip(sums, counts, strict=True) if n): (
            "means of chunks added up: sum inside each chunk"
        ),
        sum(sums) / len(sums): "divided by the number of chunks",
        sum(sums[: len(labels) // chunk]): "the last, short chunk is missing",
        sums[0]: "the first chunk only",
        sums[-1]: "the last chunk only",
    }
    counted_sum = float(each.sum())
    return {value: why for value, why in known.items() if abs(value - counted_sum) > 1e-3}


def _made(
    labels: Sequence[int], dtype: str, frozen: bool, bias: bool = False, large: bool = False
) -> tuple[Tensor, nn.Linear, Tensor]:
    """Hidden states, a head and targets: the same at each call; large logits reach hundreds."""
    generator = torch.Generator().manual_seed(7)
    wide = torch.randn(len(labels), HIDDEN, generator=generator) * (64 if large else 1)
    weight = torch.randn(VOCABULARY, HIDDEN, generator=generator) / 2
    kind = getattr(torch, dtype)
    head = nn.Linear(HIDDEN, VOCABULARY, bias=bias, dtype=kind)
    with torch.no_grad():
        head.weight.copy_(weight)
        if bias:
            head.bias.copy_(torch.randn(VOCABULARY, generator=generator))
    head.requires_grad_(not frozen)
    return wide.to(kind).requires_grad_(), head, torch.tensor(labels)


def _fault(loss: object) -> str:
    """What is returned in place of a loss that can go backward; empty for a good one."""
    if not isinstance(loss, Tensor):
        return f"{type(loss).__name__}, no tensor"
    if loss.shape != ():
        return f"a tensor of shape {tuple(loss.shape)}"
    if not loss.requires_grad:
        return "a tensor without a graph"
    return "" if loss.dtype == torch.float32 else f"a tensor of {loss.dtype}"
