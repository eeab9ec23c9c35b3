"""Read what a packing collator of lesson 04 returns: which documents stand where, who sees whom.

    tensors of rows, the documents  ->  document numbers, rows as they should be, a leak

`broken_collate` is the collator that the lesson asks to mend: its five faults are on purpose.

Words
    leak   the largest change of one document's logits when another document of its row changes
    alone  in a row of its own, without a tail
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from batchlab import batches, model, packing

__all__ = [
    "OTHER",
    "VOCABULARY",
    "broken_collate",
    "documents",
    "label_mistakes",
    "laid",
    "leak",
    "network",
    "position_mistakes",
    "standing",
    "unlike_alone",
]

VOCABULARY = 64
OTHER = 32  # documents draw tokens below it; a changed one takes tokens from it on
KNOWN_BY_TOKEN = "the tail is known by its place, not by its token: a document may end in `pad`"
PAD_IS_A_TOKEN = "a `pad` inside a document is a token: positions go on behind it"
Document = Mapping[str, Sequence[int]]
Batch = Mapping[str, Tensor]


@functools.cache
def network() -> Any:
    """One layer with random weights: milliseconds a call."""
    return model.small(VOCABULARY, layers=1, hidden=32, heads=2, longest=1024, seed=4).eval()


def broken_collate(
    documents: list[dict[str, list[int]]], row_length: int, pad: int
) -> dict[str, torch.Tensor]:
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
    """SFT documents of these lengths, with turns that are not trained; some are not trained at all.

    `pad` also stands inside a document and ends most of them. First tokens are 8, 9, ...; all
    others are below 8.
    """
    made: list[Document] = []
    for number, length in enumerate(lengths):
        ids = [8 + number, *rng.integers(0, 8, length - 1).tolist()]
        ids[length // 2 : length // 2 + 1] = [pad] if length > 2 else ids[length // 2 :][:1]
        ids[1:] = [*ids[1:-1], pad] if length > 1 else []
        prompt = int(rng.integers(0, length + 1))
        later = rng.random(length) < 0.3
        hidden = [slot < prompt or later[slot] for slot in range(length)]
        labels = [-100 if one else token for one, token in zip(hidden, ids, strict=True)]
        made.append({"input_ids": ids, "labels": labels})
    return made


def standing(
    input_ids: Sequence[Sequence[int]],
    given: Sequence[Document],
    pad: int,
    labels: Sequence[Sequence[int]] = (),
) -> list[list[int]] | str:
    """The document numbers of each row in their order, or what is wrong with the rows in words.

    Of documents with equal tokens, each stands for one: for one with its labels, else in the order
    of the rows.
    """
    by_first: dict[int, list[int]] = {}
    for number, document in enumerate(given):
        by_first.setdefault(document["input_ids"][0], []).append(number)
    rows, used = [], set()
    for row, ids in enumerate(input_ids):
        place, numbers = 0, []
        while place < len(ids) and ids[place] in by_first:
            same = [one for one in by_first[ids[place]] if _begins(ids, place, given[one])]
            if not same:
                number = by_first[ids[place]][0]
                return f"row {row} holds a part of document {number}, or other tokens"
            marks = labels[row][place:] if labels else []
            number = min(same, key=lambda one: (one in used, not _marked(marks, given[one])))
            numbers.append(number)
            used.add(number)
            place += len(given[number]["input_ids"])
        if any(token != pad for token in ids[place:]):
            return f"row {row} has tokens behind its documents that are not {pad}: {ids[place:]}"
        rows.append(numbers)
    return rows


def _begins(ids: Sequence[int], place: int, document: Document) -> bool:
    tokens = list(document["input_ids"])
    return list(ids[place : place + len(tokens)]) == tokens


def _marked(labels: Sequence[int], document: Document) -> bool:
    """Whether these labels begin with those of the document, its first one left out."""
    own = list(document["labels"])
    return list(labels[1 : len(own)]) == own[1:]


def laid(given: Sequence[Document], rows: Sequence[Sequence[int]], row_length: int) -> Batch:
    """Labels and positions of these documents in these rows, as they should be."""
    batch = batches.packed(given, rows, row_length)
    return {name: batch[name] for name in ("labels", "position_ids")}


def _told(batch: Batch) -> dict[str, Tensor]:
    """What a model gets of a batch beside its tokens, and no labels."""
    return {name: batch[name] for name in ("position_ids", "attention_mask") if name in batch}


def _ends(given: Sequence[Document], numbers: Sequence[int]) -> list[int]:
    """Where each document of a row begins, and where the last one ends."""
    return [0, *np.cumsum([len(given[number]["input_ids"]) for number in numbers]).tolist()]


def leak(batch: Batch, given: Sequence[Document], rows: Sequence[Sequence[int]]) -> float:
    """How far logits of any document move at most when another one of its row changes.

    The model gets what the collator returned beside labels, and no cache.
    """
    worst = 0.0
    with torch.no_grad():
        before = network()(input_ids=batch["input_ids"], use_cache=False, **_told(batch)).logits
        for changed in range(max(map(len, rows))):
            ids = batch["input_ids"].clone()
            keep = torch.zeros_like(ids, dtype=torch.bool)
            for row, numbers in enumerate(rows):
                ends = _ends(given, numbers)
                keep[row, : ends[-1]] = True
                if changed < len(numbers):
                    inside = slice(ends[changed], ends[changed + 1])
                    ids[row, inside] = OTHER + ids[row, inside] % OTHER
                    keep[row, inside] = False
            after = network()(input_ids=ids, use_cache=False, **_told(batch)).logits
            moved = (after - before).abs().amax(dim=-1)[keep]
            worst = max(worst, float(moved.max()) if len(moved) else 0.0)
    return worst


def unlike_alone(batch: Batch, given: Sequence[Document], rows: Sequence[Sequence[int]]) -> float:
    """How far logits of any document differ at most from those that it gets alone."""
    worst = 0.0
    with torch.no_grad():
        packed = network()(input_ids=batch["input_ids"], use_cache=False, **_told(batch)).logits
        for row, numbers in enumerate(rows):
            ends = _ends(given, numbers)
            for place, number in enumerate(numbers):
                ids = torch.tensor([list(given[number]["input_ids"])])
                alone = network()(input_ids=ids, use_cache=False).logits[0]
                here = packed[row, ends[place] : ends[place + 1]]
                worst = max(worst, float((here - alone).abs().max()))
    return worst


def position_mistakes(
    ids: Tensor, given: Sequence[Document], rows: Sequence[Sequence[int]], pad: int
) -> list[tuple[Tensor, str]]:
    """Positions of these rows as known mistakes give them, with the thought behind each."""
    right = laid(given, rows, ids.shape[1])["position_ids"]
    slot = torch.arange(ids.shape[1]).expand(ids.shape)
    filled = torch.tensor([_ends(given, numbers)[-1:] for numbers in rows])
    tail = slot >= filled
    last = torch.where(ids != pad, slot, -1).amax(dim=1, keepdim=True)
    second = torch.tensor([_ends(given, numbers)[1:2] for numbers in rows])
    two = torch.where(slot < second, slot, slot - second)
    seen = torch.where(ids == pad, slot, -1).cummax(dim=1).values
    behind = torch.cat([torch.full_like(seen[:, :1], -1), seen[:, :-1]], dim=1)
    at_pad = torch.minimum(right, slot - behind - 1)
    return [
        (slot, "positions run on: they restart at 0 in each document"),
        (torch.where(tail, right, slot), "positions run on from document to document"),
        (torch.where(tail, 0, right), "the tail counts 0, 1, ... too"),
        (torch.where(tail, slot, right), "the tail restarts at 0, too"),
        (torch.where(slot > last, slot - last - 1, right), KNOWN_BY_TOKEN),
        (torch.where(tail, right, at_pad), PAD_IS_A_TOKEN),
        (at_pad, PAD_IS_A_TOKEN),
        (torch.where(tail, right, two), "every document restarts, not two only"),
    ]


def label_mistakes(
    ids: Tensor, given: Sequence[Document], rows: Sequence[Sequence[int]], pad: int
) -> list[tuple[Tensor, str]]:
    """Labels of these rows as known mistakes give them, with the thought behind each."""
    right = laid(given, rows, ids.shape[1])["labels"]
    own, first, last, turns = (torch.full_like(right, -100) for _ in range(4))
    for row, numbers in enumerate(rows):
        ends = _ends(given, numbers)
        for number, start, end in zip(numbers, ends, ends[1:], strict=False):
            labels = list(given[number]["labels"])
            own[row, start:end] = torch.tensor(labels)
            first[row, start], last[row, end - 1] = 1, 1
            spoken = [slot for slot, label in enumerate(labels) if label != -100]
            begin = start + (spoken[0] if spoken else len(labels))
            turns[row, begin:end] = ids[row, begin:end]
    slot = torch.arange(ids.shape[1]).expand(ids.shape)
    tail = slot >= torch.tensor([_ends(given, numbers)[-1:] for numbers in rows])
    firsts, prompts = first == 1, (own == -100) & ~tail
    lost = torch.where(ids == pad, -100, right)
    known = torch.where(slot > torch.where(ids != pad, slot, -1).amax(1, keepdim=True), -100, right)
    trained = torch.where(firsts | tail, -100, ids)
    return [
        (own, "a label crosses: each document's first token is not trained"),
        (torch.where(slot == 0, -100, own), "a label crosses: not only the row's first token"),
        (lost, "labels are lost wherever the token is `pad`: the model never learns to end"),
        (
            torch.where(firsts, own, lost),
            "labels are lost wherever the token is `pad`, and a first label crosses",
        ),
        (trained, "the prompt is trained: take the labels as they are given"),
        (
            torch.where(tail, -100, ids),
            "the prompt is trained, and a label crosses: take the labels as they are given",
        ),
        (
            torch.where(firsts, -100, turns),
            "a prompt may come again: every given -100 is kept, not only the first ones",
        ),
        (
            torch.where(prompts | firsts | tail, -100, ids),
            "labels are taken from the tokens: take them as they are given",
        ),
        (torch.where(tail, ids, right), "the tail is trained"),
        (known, KNOWN_BY_TOKEN),
        (torch.where(last == 1, -100, right), "the last token of a document is trained"),
        (torch.where(firsts.roll(1, 1), -100, right), "only the first token's label is taken off"),
        (torch.cat([right[:, 1:], right[:, :1]], 1), "shifted: the loss shifts, the labels do not"),
    ]
