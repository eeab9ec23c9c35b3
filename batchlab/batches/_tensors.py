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

WIDTHS = (np.dtype(np.int32), np.dtype(np.int64))
Document = tuple[np.ndarray, np.ndarray]  # its token ids and its labels


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
    for row, (ids, labels) in enumerate(read):
        arrays["input_ids"][row, : len(ids)] = ids
        arrays["labels"][row, 1 : len(ids)] = labels[1:]
    slots, sizes = np.arange(shape[1]), np.array([len(ids) for ids, _ in read])
    real = slots < sizes[:, None]
    arrays |= {"position_ids": slots * real, "attention_mask": real.astype(np.int64)}
    return _tensors(arrays)


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
    for row, numbers in enumerate(rows):
        _at_least_one(numbers, f"row {row}")
    read = [[_document(documents, number) for number in numbers] for numbers in rows]
    return _filled(read, rows, row_length, pad_id)


def flattened(documents: Sequence[Any], row: Sequence[int]) -> MicroBatch:
    """All documents of `row` in one row without a padding slot: padding-free, (1, T)."""
    _at_least_one(row, "a flattened batch")
    read = [_document(documents, number) for number in row]
    return _filled([read], [row], sum(len(ids) for ids, _ in read), 0)


def _filled(
    read: list[list[Document]], rows: Sequence[Sequence[int]], row_length: int, pad_id: int
) -> MicroBatch:
    """Rows of documents that were read; their numbers in `rows` name one that does not fit."""
    used = [sum(len(ids) for ids, _ in row) for row in read]
    for row, tokens in enumerate(used):
        if tokens > row_length:
            raise ValueError(_overflow(row, rows[row], read[row], row_length))
    sizes = list[int]()
    for whole, tokens in zip(read, used, strict=True):
        sizes += [len(ids) for ids, _ in whole]
        sizes += [row_length - tokens] * (tokens < row_length)  # the tail attends to itself only
    segments = np.array(sizes)
    ends = np.cumsum(segments)
    starts = ends - segments
    arrays = _blank((len(read), row_length), pad_id)
    for row, whole in enumerate(read):
        inside = row, slice(used[row])
        np.concatenate([ids for ids, _ in whole], out=arrays["input_ids"][inside])
        np.concatenate([labels for _, labels in whole], out=arrays["labels"][inside])
    arrays["labels"].reshape(-1)[starts] = IGNORE
    positions = np.arange(len(read) * row_length) - np.repeat(starts, segments)
    return {
        **_tensors(arrays),
        "position_ids": torch.from_numpy(positions.reshape(len(read), row_length)),
        "cu_seqlens": torch.from_numpy(np.append(0, ends).astype(np.int32)),
        "max_length": torch.tensor(max(sizes), dtype=torch.int32),
        "row_tokens": torch.tensor(used),
    }


def _overflow(row: int, numbers: Sequence[int], read: list[Document], row_length: int) -> str:
    ends = np.cumsum([len(ids) for ids, _ in read])
    first = int(np.searchsorted(ends, row_length, side="right"))
    size = len(read[first][0])
    return (
        f"row {row} overflows at document {numbers[first]}: {int(ends[first]) - size:,} + {size:,} "
        f"tokens do not fit into {row_length:,} slots"
    )


def _document(documents: Sequence[Any], number: int) -> Document:
    """Token ids and labels of one document as they are given; whoever writes ignores the first."""
    document = documents[int(number)]
    ids = _integers(lengths.ids_of(document))
    if ids.ndim != 1 or len(ids) == 0:
        raise ValueError(f"document {number} must be a flat list of tokens, got shape {ids.shape}")
    given = document.get("labels") if isinstance(document, dict | Mapping) else None
    if given is None:
        return ids, ids
    labels = _integers(given)
    if labels.shape != ids.shape:
        raise ValueError(f"document {number} has {len(ids):,} tokens but {labels.size:,} labels")
    return ids, labels


def _integers(values: Any) -> np.ndarray:
    """An array that is written into one of 64 bits; of these two widths it is the one given."""
    array = np.asarray(values)
    return array if array.dtype in WIDTHS else np.asarray(values, dtype=np.int64)


def _blank(shape: tuple[int, int], pad_id: int) -> dict[str, np.ndarray]:
    return {
        "input_ids": np.full(shape, pad_id, dtype=np.int64),
        "labels": np.full(shape, IGNORE, dtype=np.int64),
    }


def _tensors(arrays: dict[str, np.ndarray]) -> MicroBatch:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _at_least_one(numbers: Sequence[Any], what: str) -> None:
    if len(numbers) == 0:
        raise ValueError(f"{what} needs at least 1 document")
