"""What one micro-batch holds: counted once, here, by every room that asks.

    MicroBatch  ->  Taken (small tensors, still on the device)  ->  Counts

On a GPU nothing may wait inside a step: `take` reduces a micro-batch to six numbers where it lies,
and `Taken.read` fetches them later. `of` does both at once.

Words
    segment   slots that attend to each other: a row, or what follows a position that restarts
    document  a segment that holds a real token; the empty tail of a packed row is none
    pair      one (query, key) position of attention, masked or not
"""

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["IGNORE", "Counts", "MicroBatch", "Taken", "carry", "of", "real_tokens", "show", "shown",
           "starts", "take", "target_tokens"]  # fmt: skip

IGNORE = -100  # the label of a position that is not trained; PyTorch's default

OF_ROWS = ("input_ids", "attention_mask", "labels", "row_tokens", "decoder_input_ids",
           "decoder_attention_mask")  # fmt: skip

MicroBatch = Mapping[str, "Tensor"]  # its entries stand in batchlab.batches

_SHOWN: ContextVar[MicroBatch | None] = ContextVar("micro-batch", default=None)


@dataclass(frozen=True)
class Counts:
    """Totals of one or several micro-batches; None where nobody knows.

    >>> Counts(real_tokens=9, slots=10) + Counts(real_tokens=50, slots=100)
    ... # doctest: +ELLIPSIS
    Counts(documents=None, real_tokens=59, slots=110, ...)
    """

    documents: int | None = None
    real_tokens: int | None = None
    slots: int | None = None
    target_tokens: int | None = None
    real_pairs: int | None = None  # inside documents
    slot_pairs: int | None = None  # that attention computes

    def __add__(self, other: "Counts") -> "Counts":
        """Totals add; a total of something unknown is unknown."""
        sides = zip(vars(self).values(), vars(other).values(), strict=True)
        return Counts(*(None if a is None or b is None else a + b for a, b in sides))

    @property
    def waste(self) -> float | None:
        """Padding slots / slots."""
        if self.real_tokens is None or not self.slots:
            return None
        return 1 - self.real_tokens / self.slots

    @property
    def target_share(self) -> float | None:
        """Target tokens / real tokens: what is neither a prompt nor a first token."""
        if self.target_tokens is None or not self.real_tokens:
            return None
        return self.target_tokens / self.real_tokens


@dataclass(frozen=True)
class Taken:
    """The counts of one micro-batch, not yet read: reading waits for its device."""

    rows: int
    width: int
    sums: Any  # (5,) int64, a Tensor or an array: documents, real tokens, real and segment pairs,
    # targets
    has_targets: bool
    decoder_width: int = 0  # slots of a row of the decoder, where there is one beside the encoder

    def read(self, *, varlen: bool = False) -> Counts:
        """The numbers; with `varlen` attention, pairs are computed inside segments only."""
        documents, real, real_pairs, segment_pairs, targets = self.sums.tolist()
        return Counts(
            documents=documents,
            real_tokens=real,
            slots=self.rows * (self.width + self.decoder_width),
            target_tokens=targets if self.has_targets else None,
            real_pairs=real_pairs,
            slot_pairs=segment_pairs
            if varlen
            else self.rows * _pairs(self.width, self.decoder_width),
        )


def of(batch: MicroBatch, *, varlen: bool = False, shifted: bool = True) -> Counts:
    """Count one micro-batch, and wait for the numbers if it lies on a GPU.

    It has `input_ids` (B, T) and may have `position_ids`, `attention_mask` and `labels` (B, T), and
    `row_tokens` (B,). Beside a decoder, `decoder_input_ids` (B, D), and its
    `decoder_attention_mask`, those are the encoder's. Without `labels`, or with labels of a shape
    that is not known here, the target tokens are unknown; `shifted` says that the loss compares
    `labels[:, 1:]`, as that of a causal model does. With `varlen` attention, pairs are computed
    inside segments only; otherwise in the whole row.

    >>> import torch
    >>> ids = torch.tensor([[5, 6, 7, 8, 9, 0]])
    >>> packed = {"input_ids": ids, "position_ids": torch.tensor([[0, 1, 2, 0, 1, 0]])}
    >>> one = of(packed | {"row_tokens": torch.tensor([5])}, varlen=True)
    >>> one.documents, one.real_tokens, one.slots, one.real_pairs, one.slot_pairs
    (2, 5, 6, 13, 14)
    >>> of({"input_ids": ids, "labels": torch.tensor([1])}).target_tokens  # a class of each row
    1
    """
    return take(batch, shifted=shifted).read(varlen=varlen)


def take(batch: MicroBatch, *, shifted: bool = True) -> Taken:
    """Count one micro-batch where its `input_ids` lie; nothing waits for that device."""
    import torch

    ids = batch["input_ids"]
    rows, width = ids.shape
    if "decoder_input_ids" in batch or not {"position_ids", "cu_seqlens"} & set(batch):
        return _take_rows(batch, shifted=shifted)
    wanted = _targets(batch, shifted=shifted)
    targets = ids.new_zeros(()) if wanted is None else carry(wanted, ids.device)
    segment = _starts_of(batch).flatten().cumsum(0) - 1  # number of the segment, slot by slot
    is_real = _is_real(batch).flatten().to(torch.int64)
    none = torch.zeros_like(segment)
    slots_of = none.index_add(0, segment, torch.ones_like(segment))
    real_of = none.index_add(0, segment, is_real)
    sums = (real_of > 0).sum(), real_of.sum(), (real_of**2).sum(), (slots_of**2).sum(), targets
    return Taken(rows, width, torch.stack(sums), wanted is not None)


def _take_rows(batch: MicroBatch, *, shifted: bool) -> Taken:
    """The same where each row is one segment, on the CPU by NumPy: its calls cost a fifth."""
    import numpy as np
    import torch

    held: Any = {name: batch[name] for name in OF_ROWS if name in batch}
    on_cpu = all(value.device.type == "cpu" for value in held.values())
    if on_cpu:  # what NumPy cannot hold stays as it is
        other = torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2
        held = {name: value if value.dtype in other or value.requires_grad else value.numpy()
                for name, value in held.items()}  # fmt: skip
    ids, decoded = batch["input_ids"], held.get("decoder_input_ids")
    wanted, real = _targets(held, shifted=shifted), _row_tokens(held)
    ends, both, pairs = 0, real, real * real
    if decoded is not None:
        more = _decoder_tokens(held)
        ends, both, pairs = decoded.shape[1], real + more, _pairs(real, more)
    whole, targets = len(ids) * _pairs(ids.shape[1], ends), 0 if wanted is None else wanted
    sums = [(real > 0).sum(), both.sum(), pairs.sum(), whole, targets]
    if on_cpu:
        exact = np.array([int(one) for one in sums])
        return Taken(len(ids), ids.shape[1], exact, wanted is not None, ends)
    place = ids.device
    each = [carry(torch.as_tensor(one), place).to(torch.int64) for one in sums]
    return Taken(len(ids), ids.shape[1], torch.stack(each), wanted is not None, ends)


def starts(position_ids: "Tensor", real: "Tensor | None" = None) -> "Tensor":
    """Where segments begin, (B, T) bool: at each row, and where a position is not the next one.

    Without `real` this is the rule of transformers (`find_packed_sequence_indices`). Where `real`,
    (B, T) bool, marks the tokens of padded rows, positions of padding begin nothing.
    """
    import torch

    begins = torch.ones_like(position_ids, dtype=torch.bool)
    begins[:, 1:] = position_ids.diff(dim=1) != 1
    if real is not None:
        begins[:, 1:] &= real[:, 1:] & real[:, :-1]
    return begins


def target_tokens(labels: "Tensor", *, shifted: bool = True) -> "Tensor":
    """How many labels (B, T) the loss counts, () int64: `shifted`, it compares `labels[:, 1:]`."""
    return ((labels[:, 1:] if shifted else labels) != IGNORE).sum()


def real_tokens(batch: MicroBatch) -> "Tensor":
    """How many slots hold no padding, () int64; without a mask or `row_tokens`, all of them."""
    import torch

    if "row_tokens" in batch:
        return batch["row_tokens"].sum()
    mask = _mask(batch)
    return torch.tensor(batch["input_ids"].numel()) if mask is None else (mask != 0).sum()


def carry(tensor: "Tensor", device: "torch.device") -> "Tensor":
    """The tensor on `device`; only a copy *to* the CPU is waited for.

    Such a copy with `non_blocking=True` returns at once with memory that is not yet filled.
    """
    return tensor.to(device, non_blocking=device.type != "cpu")


@contextlib.contextmanager
def show(batch: MicroBatch) -> Iterator[None]:
    """Let whoever watches the model see the whole micro-batch, not only what the model takes."""
    before = _SHOWN.set(batch)
    try:
        yield
    finally:
        _SHOWN.reset(before)


def shown() -> MicroBatch | None:
    """The micro-batch that the model runs on right now, where its caller shows it."""
    return _SHOWN.get()


def _targets(batch: Any, *, shifted: bool) -> Any:
    """How many targets the labels hold, () int64; None without labels, or of another shape."""
    labels, ids = batch.get("labels"), batch["input_ids"]
    decoded = batch.get("decoder_input_ids")
    if labels is None:
        return None
    if decoded is not None:  # its inputs are shifted already
        return target_tokens(labels, shifted=False) if labels.shape == decoded.shape else None
    if labels.shape == ids.shape:
        return target_tokens(labels, shifted=shifted)
    one_a_row = labels.shape in ((len(ids),), (len(ids), 1))  # a class, or a number
    return (labels != IGNORE).sum() if one_a_row else None


def _row_tokens(batch: Any) -> Any:
    """Real tokens of each row, (B,) whole numbers."""
    if "row_tokens" in batch:
        return batch["row_tokens"]
    return _real_of_rows(batch["input_ids"], _mask(batch))


def _decoder_tokens(batch: Any) -> Any:
    """Real tokens of each row of the decoder, (B,) whole numbers."""
    return _real_of_rows(batch["decoder_input_ids"], batch.get("decoder_attention_mask"))


def _real_of_rows(ids: Any, mask: Any) -> Any:
    return (ids > ids).sum(1) + ids.shape[1] if mask is None else (mask != 0).sum(1)


def _pairs(encoder: Any, decoder: Any) -> Any:
    """Pairs of a row: each side attends to itself, and the decoder to the encoder."""
    return encoder * encoder + decoder * decoder + decoder * encoder


def _mask(batch: Any) -> Any:
    mask = batch.get("attention_mask")
    return mask if mask is not None and mask.shape == batch["input_ids"].shape else None


def _is_real(batch: MicroBatch) -> "Tensor":
    """Which slots hold a token of a document, (B, T) bool."""
    import torch

    ids, mask = batch["input_ids"], _mask(batch)
    if "row_tokens" in batch:
        filled = carry(batch["row_tokens"], ids.device)
        return torch.arange(ids.shape[1], device=ids.device) < filled[:, None]
    return torch.ones_like(ids, dtype=torch.bool) if mask is None else carry(mask, ids.device) != 0


def _starts_of(batch: MicroBatch) -> "Tensor":
    """Where segments begin, (B, T) bool: by positions, else by `cu_seqlens`, else row by row."""
    import torch

    ids, positions, mask = batch["input_ids"], batch.get("position_ids"), _mask(batch)
    if positions is not None and positions.ndim == 2:
        real = None if mask is None else carry(mask, ids.device) != 0
        return starts(carry(positions, ids.device).expand_as(ids), real)
    begins = torch.zeros_like(ids, dtype=torch.bool)
    begins[:, 0] = True
    if "cu_seqlens" in batch:
        places = carry(batch["cu_seqlens"], ids.device)[:-1].long()
        begins = begins.flatten().index_fill(0, places, True).view_as(ids)
    return begins
