"""Tensors from documents: padded rows, packed rows, or one flat row without padding.

    documents, document numbers  ->  MicroBatch

A MicroBatch is a mapping of tensors that any supported causal language model takes:

    input_ids       (B, T) int64
    labels          (B, T) int64, not shifted: the loss compares logits[:, :-1] with labels[:, 1:]
    position_ids    (B, T) int64, restarting at 0 in each document
    attention_mask  (B, T) int64, only where rows are padded
    cu_seqlens      (documents + 1,) int32 over the flattened B * T slots, only where rows hold
                    several documents; the unused tail of a row is a segment of its own
    max_length      () int32, the longest segment, beside cu_seqlens
    row_tokens      (B,) int64, the tokens of each row before its unused tail, beside cu_seqlens

`IGNORE` marks what is not trained: padding, prompts, and the first token of every document (else
the last token of one document would be trained to predict the first of the next).

A document is a mapping with `input_ids` and perhaps `labels`, the convention of `datasets`; or a
plain sequence of token ids. Which documents share a row is decided elsewhere (`padding`,
`buckets`, `packing`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from batchlab import lengths
from batchlab.counts import IGNORE, MicroBatch

__all__ = ["IGNORE", "MicroBatch", "flattened", "packed", "padded"]


def padded(
    documents: Sequence[Any], rows: Sequence[int], *, pad_id: int = 0, round_to: int = 1
) -> MicroBatch:
    """One document a row, each stretched to the longest (rounded up to `round_to`).

    >>> batch = padded([[5, 6, 7], [8]], rows=[0, 1])
    >>> batch["labels"].tolist()
    [[-100, 6, 7], [-100, -100, -100]]
    """
    _at_least_one(rows, "a padded batch")
    if round_to < 1:
        raise ValueError(f"round_to must be at least 1, got {round_to}")
    read = [_document(documents, number) for number in rows]
    longest = max(len(ids) for ids, _ in read)
    shape = len(read), -(-longest // round_to) * round_to
    arrays = _blank(shape, pad_id)
    mask = np.zeros(shape, dtype=np.int64)
    for row, (ids, labels) in enumerate(read):
        _write(arrays, row, 0, ids, labels)
        mask[row, : len(ids)] = 1
    return {**_tensors(arrays), "attention_mask": torch.from_numpy(mask)}


def packed(
    documents: Sequence[Any], rows: Sequence[Sequence[int]], row_length: int, *, pad_id: int = 0
) -> MicroBatch:
    """Several whole documents a row, one after another; `rows` lists the numbers in each row.

    >>> batch = packed([[5, 6, 7], [8, 9], [4]], rows=[[0, 1], [2]], row_length=6)
    >>> batch["position_ids"].tolist()
    [[0, 1, 2, 0, 1, 0], [0, 0, 1, 2, 3, 4]]
    >>> batch["cu_seqlens"].tolist()
    [0, 3, 5, 6, 7, 12]
    """
    _at_least_one(rows, "a packed batch")
    arrays = _blank((len(rows), row_length), pad_id)
    segments: list[int] = []
    row_tokens: list[int] = []
    for row, numbers in enumerate(rows):
        _at_least_one(numbers, f"row {row}")
        start = 0
        for number in numbers:
            ids, labels = _document(documents, number)
            if start + len(ids) > row_length:
                raise ValueError(
                    f"row {row} overflows at document {number}: {start:,} + {len(ids):,} tokens "
                    f"do not fit into {row_length:,} slots"
                )
            _write(arrays, row, start, ids, labels)
            segments.append(len(ids))
            start += len(ids)
        row_tokens.append(start)
        if start < row_length:  # the tail attends to itself only
            arrays["position_ids"][row, start:] = np.arange(row_length - start)
            segments.append(row_length - start)
    real = {"row_tokens": torch.tensor(row_tokens)}
    return {**_tensors(arrays), **_segments(segments), **real}


def flattened(documents: Sequence[Any], row: Sequence[int]) -> MicroBatch:
    """All documents of `row` in one row without a padding slot: padding-free, (1, T)."""
    _at_least_one(row, "a flattened batch")
    read = [_document(documents, number) for number in row]
    return packed(documents, [row], sum(len(ids) for ids, _ in read))


def _document(documents: Sequence[Any], number: int) -> tuple[np.ndarray, np.ndarray]:
    """Token ids and labels of one document, the first label ignored."""
    document = documents[int(number)]
    ids = np.asarray(lengths.ids_of(document), dtype=np.int64)
    if ids.ndim != 1 or len(ids) == 0:
        raise ValueError(f"document {number} must be a flat list of tokens, got shape {ids.shape}")
    given = document.get("labels") if isinstance(document, Mapping) else None
    labels = np.array(ids if given is None else given, dtype=np.int64)
    if labels.shape != ids.shape:
        raise ValueError(f"document {number} has {len(ids):,} tokens but {labels.size:,} labels")
    labels[0] = IGNORE
    return ids, labels


def _blank(shape: tuple[int, int], pad_id: int) -> dict[str, np.ndarray]:
    return {
        "input_ids": np.full(shape, pad_id, dtype=np.int64),
        "labels": np.full(shape, IGNORE, dtype=np.int64),
        "position_ids": np.zeros(shape, dtype=np.int64),
    }


def _write(
    arrays: dict[str, np.ndarray], row: int, start: int, ids: np.ndarray, labels: np.ndarray
) -> None:
    inside = row, slice(start, start + len(ids))
    arrays["input_ids"][inside] = ids
    arrays["labels"][inside] = labels
    arrays["position_ids"][inside] = np.arange(len(ids))


def _segments(slots: list[int]) -> MicroBatch:
    cu_seqlens = np.concatenate([[0], np.cumsum(slots)]).astype(np.int32)
    return {
        "cu_seqlens": torch.from_numpy(cu_seqlens),
        "max_length": torch.tensor(max(slots), dtype=torch.int32),
    }


def _tensors(arrays: dict[str, np.ndarray]) -> MicroBatch:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _at_least_one(numbers: Sequence[Any], what: str) -> None:
    if len(numbers) == 0:
        raise ValueError(f"{what} needs at least 1 document")
