"""Read what a packing collator of lesson 04 returns: which documents stand where, who sees whom.

    tensors of rows, the documents  ->  document numbers, rows as they should be, a leak

`broken_collate` is the collator that the lesson asks to mend: its five faults are on purpose.

Words
    leak   the largest change of one document's logits when another document of its row changes
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from batchlab import batches, model, packing

__all__ = ["VOCABULARY", "broken_collate", "documents", "laid", "leak", "network", "standing"]

VOCABULARY = 64
OTHER = 32  # documents draw tokens below it; a changed one takes tokens from it on
Document = Mapping[str, Sequence[int]]
Batch = Mapping[str, Tensor]


@functools.cache
def network() -> Any:
    """One layer with random weights: milliseconds a call."""
    return model.small(VOCABULARY, layers=1, hidden=32, heads=2, longest=1024, seed=4).eval()


def broken_collate(documents: Sequence[Document], row_length: int, pad: int) -> Batch:
    """Rows of packed documents. It runs, the loss falls, and five things are wrong."""
    ids = [document["input_ids"][:row_length] for document in documents]
    labels = [document["labels"][:row_length] for document in documents]
    packed = packing.pack([len(one) for one in ids], row_length)
    shape = packed.row_count, row_length
    batch = {
        "input_ids": torch.full(shape, pad),
        "attention_mask": torch.ones(shape, dtype=torch.int64),
        "position_ids": torch.arange(row_length).repeat(packed.row_count, 1),
        "labels": torch.full(shape, -100),
    }
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + len(ids[number])
            batch["input_ids"][row, start:end] = torch.tensor(ids[number])
            batch["labels"][row, start:end] = torch.tensor(labels[number])
            start = end
    batch["labels"][batch["input_ids"] == pad] = -100
    return batch


def documents(lengths: Sequence[int], rng: np.random.Generator, pad: int) -> list[Document]:
    """SFT documents of these lengths, prompts ignored; no two begin with the same token.

    `pad` also stands inside a document and ends most of them. First tokens are 8, 9, ...; all
    others are below 8.
    """
    made: list[Document] = []
    for number, length in enumerate(lengths):
        ids = [8 + number, *rng.integers(0, 8, length - 1).tolist()]
        ids[length // 2 : length // 2 + 1] = [pad] if length > 2 else ids[length // 2 :][:1]
        ids[1:] = [*ids[1:-1], pad] if length > 1 else []
        prompt = int(rng.integers(0, length))
        made.append({"input_ids": ids, "labels": [-100] * prompt + ids[prompt:]})
    return made


def standing(
    input_ids: Sequence[Sequence[int]], given: Sequence[Document], pad: int
) -> list[list[int]] | str:
    """The document numbers of each row in their order, or what is wrong with the rows in words."""
    first = {document["input_ids"][0]: number for number, document in enumerate(given)}
    rows = []
    for row, ids in enumerate(input_ids):
        place, numbers = 0, []
        while place < len(ids) and ids[place] in first:
            number = first[ids[place]]
            tokens = list(given[number]["input_ids"])
            if list(ids[place : place + len(tokens)]) != tokens:
                return f"row {row} holds a part of document {number}, or other tokens"
            numbers.append(number)
            place += len(tokens)
        if any(token != pad for token in ids[place:]):
            return f"row {row} has tokens behind its documents that are not {pad}: {ids[place:]}"
        rows.append(numbers)
    return rows


def laid(given: Sequence[Document], rows: Sequence[Sequence[int]], row_length: int) -> Batch:
    """Labels and positions of these documents in these rows, as they should be."""
    batch = batches.packed(given, rows, row_length)
    return {name: batch[name] for name in ("labels", "position_ids")}


def leak(batch: Batch, given: Sequence[Document], rows: Sequence[Sequence[int]]) -> float:
    """How far logits of any document move at most when another one of its row changes.

    The model gets what the collator returned beside labels, and no cache.
    """
    options = {name: batch[name] for name in ("position_ids", "attention_mask") if name in batch}
    worst = 0.0
    with torch.no_grad():
        before = network()(input_ids=batch["input_ids"], use_cache=False, **options).logits
        for changed in range(max(map(len, rows))):
            ids = batch["input_ids"].clone()
            keep = torch.zeros_like(ids, dtype=torch.bool)
            for row, numbers in enumerate(rows):
                ends = np.cumsum([0, *(len(given[number]["input_ids"]) for number in numbers)])
                keep[row, : ends[-1]] = True
                if changed < len(numbers):
                    inside = slice(int(ends[changed]), int(ends[changed + 1]))
                    ids[row, inside] = OTHER + ids[row, inside] % OTHER
                    keep[row, inside] = False
            after = network()(input_ids=ids, use_cache=False, **options).logits
            moved = (after - before).abs().amax(dim=-1)[keep]
            worst = max(worst, float(moved.max()) if len(moved) else 0.0)
    return worst
