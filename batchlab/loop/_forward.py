"""Call a model on a micro-batch in the one way that keeps documents apart.

    model, MicroBatch  ->  logits, and the summed loss over its targets

transformers separates the documents of a packed row only if positions restart, no attention mask
is given and no cache is used. Anything else lets them attend to each other without a word, so it
is refused here.

Words
    packed   a row holds several documents: `cu_seqlens` says so, or positions that restart
    borders  where documents begin in the flattened slots, and the end: (0, ..., B * T)

Shapes, by suffix, in this file
    B  rows of a micro-batch    T  positions in a row    V  vocabulary entries
"""

import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab import counts
from batchlab.counts import IGNORE, MicroBatch
from batchlab.model import VARLEN, require_packable

__all__ = ["carried", "logits_of", "prepare", "run", "shifted", "summed_loss", "summed_over"]

_NOT_FOR_THE_MODEL = ("labels", "cu_seqlens", "max_length", "row_tokens")
_BUILD_THEIR_MASK = ("sdpa", "eager", "flex_attention")  # from positions that restart


def logits_of(
    model: nn.Module, batch: MicroBatch, *, autocast: torch.dtype | None = None
) -> Tensor:
    """Call the model on one micro-batch: no cache, no labels, documents apart."""
    with counts.show(batch):
        return run(model, prepare(model, batch), autocast=autocast)


def prepare(model: nn.Module, batch: MicroBatch) -> dict[str, Any]:
    """Check a micro-batch, and give the arguments to call the model with.

    Whatever the host must read of it is read here, so that `run` waits for no device. Tensors
    stay where they are.
    """
    inputs: dict[str, Any] = {k: v for k, v in batch.items() if k not in _NOT_FOR_THE_MODEL}
    attention = _attention_of(model)
    borders = _borders(batch)
    if borders is None:
        return _whole_rows(inputs) if attention == VARLEN else inputs
    require_packable(getattr(model, "module", model))
    if "attention_mask" in inputs:
        raise ValueError(
            "a packed micro-batch must not carry an attention_mask: the model would let its "
            "documents attend to each other; batches.packed gives none"
        )
    if attention == VARLEN:
        return inputs | _lengths(borders)
    if "flash" in attention:
        cu_seqlens = torch.tensor(borders, dtype=torch.int32)
        longest = _longest(borders)
        inputs |= {"cu_seq_lens_q": cu_seqlens, "max_length_q": longest}
        return inputs | {"cu_seq_lens_k": cu_seqlens, "max_length_k": longest}
    if attention and attention not in _BUILD_THEIR_MASK:
        raise ValueError(
            f"packed rows are refused with attention {attention!r}: nothing says that it keeps "
            f"documents apart; use {', '.join(_BUILD_THEIR_MASK)}, {VARLEN} or flash attention"
        )
    return inputs


def run(
    model: nn.Module, inputs: Mapping[str, Any], *, autocast: torch.dtype | None = None
) -> Tensor:
    """Call the model with what `prepare` gave; returns logits (B, T, V)."""
    device = next(model.parameters()).device
    context = torch.autocast(device.type, autocast) if autocast else contextlib.nullcontext()
    with context:
        output = model(**carried(inputs, device), use_cache=False)
    logits: Tensor = getattr(output, "logits", output)
    return logits


def summed_loss(logits_BTV: Tensor, labels_BT: Tensor) -> Tensor:
    """Cross-entropy in nats, summed (not averaged) over the target tokens."""
    return summed_over(logits_BTV.flatten(0, 1), shifted(labels_BT))


def summed_over(logits: Tensor, targets: Tensor) -> Tensor:
    """The summed cross-entropy of slots whose targets stand beside them."""
    if logits.dtype in (torch.bfloat16, torch.float16):
        logits = logits.float()
    return F.cross_entropy(logits, targets, ignore_index=IGNORE, reduction="sum")


def shifted(labels_BT: Tensor) -> Tensor:
    """The target of each slot, flat: labels move, for to cut logits would copy them all."""
    return F.pad(labels_BT[:, 1:], (0, 1), value=IGNORE).flatten()


def carried(inputs: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    """The arguments of the model, on its device."""
    return {
        name: counts.carry(value, device) if isinstance(value, Tensor) else value
        for name, value in inputs.items()
    }


def _attention_of(model: nn.Module) -> str:
    inner = getattr(model, "module", model)  # under DistributedDataParallel
    return getattr(getattr(inner, "config", None), "_attn_implementation", None) or ""


def _borders(batch: MicroBatch) -> tuple[int, ...] | None:
    """Where documents begin, and the end; None if each row holds a single document."""
    given, starts = batch.get("cu_seqlens"), _starts(batch)
    rows, slots = batch["input_ids"].shape
    if given is None:
        return (*starts, rows * slots) if starts and len(starts) > rows else None
    borders = tuple(given.tolist())
    if borders[:1] != (0,) or borders[-1] != rows * slots:
        raise ValueError(
            f"cu_seqlens must run from 0 to the {rows * slots} slots of the micro-batch, "
            f"got {borders[0]} to {borders[-1]}"
        )
    if starts is None:
        raise ValueError("a packed micro-batch needs position_ids that restart in each document")
    wrong = sorted(set(starts) ^ (set(borders) - {rows * slots}))
    if wrong:
        raise ValueError(
            "position_ids must restart where cu_seqlens begins a document and nowhere else; "
            f"they disagree at slot {wrong[0]} of {rows * slots}"
        )
    return borders


def _starts(batch: MicroBatch) -> list[int] | None:
    """Slots at which positions restart, row starts included; None without positions."""
    positions, mask = batch.get("position_ids"), batch.get("attention_mask")
    if positions is None or positions.ndim != 2:
        return None
    positions = positions.expand_as(batch["input_ids"])
    real = mask if mask is not None and mask.ndim == 2 else None
    real = None if real is None else counts.carry(real, positions.device) != 0
    starts = counts.starts(positions, real)
    found: list[int] = starts.flatten().nonzero().flatten().tolist()
    return found


def _whole_rows(inputs: dict[str, Any]) -> dict[str, Any]:
    """Each row as one document: padding on the right comes after every real token."""
    mask = inputs.get("attention_mask")
    if mask is not None and not bool((mask[:, 0] == 1).all() & (mask.diff(dim=1) <= 0).all()):
        raise ValueError(f"left padding is refused by {VARLEN}: pad rows on the right")
    rows, slots = inputs["input_ids"].shape
    return inputs | _lengths(tuple(range(0, rows * slots + 1, slots)))


def _lengths(borders: tuple[int, ...]) -> dict[str, Any]:
    """What the registered attention takes: plain integers, which no layer has to read back.

    The empty mask of 4 dimensions tells transformers to build none, and not to look whether
    positions restart: it would wait for the device to find out.
    """
    nothing = torch.empty((0,) * 4, dtype=torch.bool)
    return {"cu_seq_lens_q": borders, "attention_mask": nothing}


def _longest(borders: tuple[int, ...]) -> int:
    return max(end - start for start, end in itertools.pairwise(borders))
