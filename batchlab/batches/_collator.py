"""What stands behind `data_collator=` and `collate_fn=`: a list of documents becomes tensors.

    documents, or rows of `packing.pack_dataset`  ->  tensors that a model of transformers takes

The tensors are those of `padded`, `packed` and `flattened`, under the names that models take. Where
documents share a row there is no attention mask: transformers keeps them apart by positions that
begin anew, and does not look at them where it is given a mask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from batchlab import lengths, packing
from batchlab.batches._tensors import MicroBatch, flattened, packed, padded
from batchlab.units import whole

__all__ = ["KINDS", "Collator", "collator"]

KINDS = ("padded", "packed", "flattened", "rows")
TAKEN = ("input_ids", "labels", "position_ids", "attention_mask")  # by models
DOCUMENTS = packing.BOUNDARIES


def collator(
    kind: str,
    *,
    row_length: int | None = None,
    pad_id: int = 0,
    round_to: int = 1,
    flash: bool = False,
) -> "Collator":
    """A function of a list of documents for `Trainer`, `SFTTrainer`, `DataLoader`, Lightning.

    padded     a document a row, as wide as the longest, rounded up to `round_to`; attention_mask
    packed     documents into as few rows of `row_length` as best fit needs
    flattened  all documents in one row (1, T), without a padding slot
    rows       of `packing.pack_dataset`: in one row (1, T), or as (B, `row_length`)

    Labels are not shifted; padding and the first token of each document are ignored. Where
    documents share a row, position_ids begin anew with each. With `flash` there are cu_seq_lens_q,
    cu_seq_lens_k (documents + 1,) int32 and max_length_q, max_length_k, too, as flash attention
    takes them. `Trainer` takes `seq_lengths` away unless remove_unused_columns=False is set; rows
    without it are refused.

    >>> batch = collator("flattened")([{"input_ids": [5, 6, 7]}, {"input_ids": [8, 9]}])
    >>> batch["labels"].tolist(), batch["position_ids"].tolist()
    ([[-100, 6, 7, -100, 9]], [[0, 1, 2, 0, 1]])
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; there are {', '.join(KINDS)}")
    if row_length is None and kind == "packed":
        raise ValueError("packed rows have a length: give row_length")
    if row_length is not None and kind in ("padded", "flattened"):
        raise ValueError(f"a {kind} batch is as wide as its documents: row_length says nothing")
    if kind == "padded" and flash:
        raise ValueError("cu_seq_lens stand beside documents that share a row, not beside padding")
    length = None if row_length is None else whole(row_length, "row_length")
    return Collator(kind, length, pad_id, whole(round_to, "round_to"), flash)


@dataclass(frozen=True)
class Collator:
    """Documents to tensors; `collator` makes one. It travels to the workers of a loader."""

    kind: str
    row_length: int | None = None
    pad_id: int = 0
    round_to: int = 1
    flash: bool = False

    def __call__(self, features: Sequence[Any]) -> dict[str, Any]:
        """The tensors of these documents or rows, by the names that a model takes."""
        if not len(features):
            raise ValueError("a batch needs at least 1 document")
        _refuse_padding(features)
        made = self._rows(features) if self.kind == "rows" else self._documents(features)
        taken: dict[str, Any] = {name: made[name] for name in TAKEN if name in made}
        if self.kind == "padded":
            del taken["position_ids"]  # every model counts them by itself, and some take none
        if self.flash:
            taken |= _varlen(made)
        return taken

    def _documents(self, features: Sequence[Any]) -> MicroBatch:
        if any(isinstance(one, Mapping) and DOCUMENTS in one for one in features):
            raise ValueError(f'these rows have {DOCUMENTS}: they are packed; use collator("rows")')
        everything = range(len(features))
        if self.kind == "padded":
            return padded(features, everything, pad_id=self.pad_id, round_to=self.round_to)
        if self.kind == "flattened":
            return flattened(features, everything)
        assert self.row_length is not None
        sizes = [lengths.of(one) for one in features]
        rows = packing.pack(sizes, self.row_length).rows
        numbers = [row.tolist() for row in rows]
        return packed(features, numbers, self.row_length, pad_id=self.pad_id)

    def _rows(self, features: Sequence[Any]) -> MicroBatch:
        documents: list[dict[str, Any]] = []
        rows: list[range] = []
        for one in features:
            inside = _documents_of(one)
            rows.append(range(len(documents), len(documents) + len(inside)))
            documents += inside
        if self.row_length is None:
            return flattened(documents, range(len(documents)))
        return packed(documents, rows, self.row_length, pad_id=self.pad_id)


def _documents_of(row: Any) -> list[dict[str, Any]]:
    """The documents of a packed row."""
    if not isinstance(row, Mapping) or DOCUMENTS not in row:
        raise ValueError(
            f"a row does not say where its documents end: {DOCUMENTS} is missing. "
            "packing.pack_dataset makes it; Trainer keeps it with remove_unused_columns=False"
        )
    sizes = np.asarray(row[DOCUMENTS])
    ends = np.cumsum(sizes).tolist()
    names = [name for name in ("input_ids", "labels") if row.get(name) is not None]
    values = {name: np.asarray(row[name]) for name in names}
    if not ends or ends[-1] != len(values["input_ids"]):
        raise ValueError(
            f"{DOCUMENTS} adds up to {ends[-1] if ends else 0:,} tokens, the row has "
            f"{len(values['input_ids']):,}"
        )
    return [
        {name: value[begin:end] for name, value in values.items()}
        for begin, end in zip([0, *ends], ends, strict=False)
    ]


def _refuse_padding(features: Sequence[Any]) -> None:
    """A document that was padded before would bring its padding along as text."""
    for number, one in enumerate(features):
        mask = one.get("attention_mask") if isinstance(one, Mapping) else None
        if mask is not None and not np.asarray(mask).all():
            raise ValueError(
                f"document {number} of this batch is padded already (attention_mask has 0): "
                "tokenize without padding"
            )


def _varlen(made: MicroBatch) -> dict[str, Tensor | int]:
    ends, longest = made["cu_seqlens"], int(made["max_length"])
    return {"cu_seq_lens_q": ends, "cu_seq_lens_k": ends,
            "max_length_q": longest, "max_length_k": longest}  # fmt: skip
