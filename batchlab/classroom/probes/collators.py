"""Right and wrong collators for lesson 02: documents to a rectangle and its counts.

    documents, padding token, multiple, longest  ->  tensors, counts

A wrong one gives what a known mistake would give; its name is the thought behind it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from batchlab.counts import IGNORE

__all__ = ["DOCUMENTS", "IGNORE", "WRONG", "Collated", "collate", "collates"]

DOCUMENTS = [  # token 0 is an ordinary token, and one document brings labels of its own
    {"input_ids": [5, 0, 7, 8, 9], "labels": [IGNORE, IGNORE, 7, 8, 9]},
    {"input_ids": [3, 0, 4]},
]
Document = Mapping[str, Sequence[int]]
Collated = tuple[dict[str, Tensor], dict[str, int]]


def collate(
    documents: Sequence[Document],
    pad_id: int,
    multiple_of: int = 1,
    max_length: int | None = None,
    width: int = 0,
) -> Collated:
    """The rectangle of some documents, at least `width` slots wide, and its counts."""
    kept = [list(one["input_ids"])[:max_length] for one in documents]
    own = [list(one.get("labels", one["input_ids"]))[:max_length] for one in documents]
    width = width or -(-max(map(len, kept)) // multiple_of) * multiple_of
    real = sum(map(len, kept))
    tensors = {
        "input_ids": torch.tensor([ids + [pad_id] * (width - len(ids)) for ids in kept]),
        "labels": torch.tensor([row + [IGNORE] * (width - len(row)) for row in own]),
        "attention_mask": torch.tensor([[1] * len(i) + [0] * (width - len(i)) for i in kept]),
    }
    cut = sum(len(one["input_ids"]) for one in documents) - real
    return tensors, {"real_tokens": real, "slots": len(kept) * width, "cut_tokens": cut}


def collates(yours: Callable[..., Collated]) -> bool:
    """Whether a learner's collator still makes the right rectangle of the documents."""
    tensors, right = yours(DOCUMENTS, 0)[0], collate(DOCUMENTS, 0)[0]
    return all(torch.equal(tensors[name], right[name]) for name in right)


def _mask_by_token(documents: Sequence[Document], pad_id: int, *rest: Any) -> Collated:
    tensors, counts = collate(documents, pad_id, *rest)
    mask = (tensors["input_ids"] != pad_id).long()
    return {**tensors, "attention_mask": mask}, {**counts, "real_tokens": int(mask.sum())}


def _labels_by_token(documents: Sequence[Document], pad_id: int, *rest: Any) -> Collated:
    tensors, counts = collate(documents, pad_id, *rest)
    labels = tensors["labels"].masked_fill(tensors["input_ids"] == pad_id, IGNORE)
    return {**tensors, "labels": labels}, counts


def _padding_trained(documents: Sequence[Document], pad_id: int, *rest: Any) -> Collated:
    tensors, counts = collate(documents, pad_id, *rest)
    labels = tensors["labels"].masked_fill(tensors["attention_mask"] == 0, pad_id)
    return {**tensors, "labels": labels}, counts


def _prompts_trained(documents: Sequence[Document], *rest: Any) -> Collated:
    return collate([{"input_ids": one["input_ids"]} for one in documents], *rest)


def _padded_left(documents: Sequence[Document], *rest: Any) -> Collated:
    tensors, counts = collate(documents, *rest)
    empty = (tensors["attention_mask"] == 0).sum(1).tolist()
    left = {
        name: torch.stack([row.roll(n) for row, n in zip(rows, empty, strict=True)])
        for name, rows in tensors.items()
    }
    return left, counts


def _cut_at_the_start(
    documents: Sequence[Document], pad_id: int, multiple_of: int = 1, longest: int | None = None
) -> Collated:
    ends = [{name: row[-(longest or 0) :] for name, row in one.items()} for one in documents]
    tensors, counts = collate(ends, pad_id, multiple_of)
    cut = sum(len(one["input_ids"]) for one in documents) - counts["real_tokens"]
    return tensors, {**counts, "cut_tokens": cut}


def _of_width(width: Callable[[int, int, int | None], int]) -> Callable[..., Collated]:
    """A collator whose width is another function of (longest kept, multiple, most)."""

    def version(
        documents: Sequence[Document], pad_id: int, multiple: int = 1, most: int | None = None
    ) -> Collated:
        longest = max(len(one["input_ids"][:most]) for one in documents)
        return collate(documents, pad_id, multiple, most, width(longest, multiple, most))

    return version


def _width_before_the_cut(
    documents: Sequence[Document], pad_id: int, multiple: int = 1, most: int | None = None
) -> Collated:
    longest = max(len(one["input_ids"]) for one in documents)
    return collate(documents, pad_id, multiple, most, -(-longest // multiple) * multiple)


def _counted(change: Callable[[Sequence[Document], dict[str, int], Tensor], dict[str, int]]) -> Any:
    """A collator with right tensors and other counts."""

    def version(documents: Sequence[Document], *rest: Any) -> Collated:
        tensors, counts = collate(documents, *rest)
        return tensors, {**counts, **change(documents, counts, tensors["attention_mask"])}

    return version


def _mask_by_label(documents: Sequence[Document], *rest: Any) -> Collated:
    tensors, counts = collate(documents, *rest)
    return {**tensors, "attention_mask": (tensors["labels"] != IGNORE).long()}, counts


def _no_empty_rows(documents: Sequence[Document], *rest: Any) -> Collated:
    return collate([one for one in documents if len(one["input_ids"])], *rest)


def _one_slot_each(documents: Sequence[Document], *rest: Any) -> Collated:
    tensors, counts = collate(documents, *rest)
    mask = tensors["attention_mask"].clone()
    mask[:, 0] = 1
    return {**tensors, "attention_mask": mask}, counts


def _labels_shifted(documents: Sequence[Document], *rest: Any) -> Collated:
    tensors, counts = collate(documents, *rest)
    labels = tensors["labels"].roll(-1, 1)
    labels[:, -1] = IGNORE
    return {**tensors, "labels": labels}, counts


WRONG: dict[str, Callable[..., Collated]] = {
    "a prompt is real as well: the mask is 1 for every token": _mask_by_label,
    "an empty document is a row, too": _no_empty_rows,
    "an empty document has no real token": _one_slot_each,
    "padding is told by its token: that may be an ordinary token, too": _mask_by_token,
    "labels are ignored wherever the token is pad_id: only padding is": _labels_by_token,
    "the padding is trained: its label is -100": _padding_trained,
    "the document's own labels are not used": _prompts_trained,
    "padded at the left: tokens come first": _padded_left,
    "cut at the start: the end is to go": _cut_at_the_start,
    "max_length is not used": lambda documents, pad_id, multiple=1, most=None: collate(
        documents, pad_id, multiple
    ),
    "max_length holds for the documents, not for the width: round up last": _of_width(
        lambda longest, multiple, most: min(
            -(-longest // multiple) * multiple, max(longest, most or longest + multiple)
        )
    ),
    "multiple_of is not used: it is the third argument": _of_width(
        lambda longest, multiple, most: longest
    ),
    "rounded up although it divides already": _of_width(
        lambda longest, multiple, most: (longest // multiple + 1) * multiple
    ),
    "the width is taken before the cut": _width_before_the_cut,
    "as wide as max_length: the longest row decides": _of_width(
        lambda longest, multiple, most: -(-(most or longest) // multiple) * multiple
    ),
    "what was cut is counted as real": _counted(
        lambda documents, counts, mask: {
            "real_tokens": counts["real_tokens"] + counts["cut_tokens"]
        }
    ),
    "the slots are rows x width, after rounding up": _counted(
        lambda documents, counts, mask: {"slots": len(mask) * int(mask.sum(1).max())}
    ),
    "a label stands under its own token: the model shifts": _labels_shifted,
    "padding is no name for the slots: they are all cells, rows x width": _counted(
        lambda documents, counts, mask: {"slots": counts["slots"] - counts["real_tokens"]}
    ),
    "documents cut, not tokens": _counted(
        lambda documents, counts, mask: {
            "cut_tokens": sum(
                len(one["input_ids"]) > int(row.sum())
                for one, row in zip(documents, mask, strict=True)
            )
        }
    ),
    "target tokens, not real ones": _counted(
        lambda documents, counts, mask: {
            "real_tokens": sum(
                label != IGNORE
                for one, row in zip(documents, mask, strict=True)
                for label in list(one.get("labels", one["input_ids"]))[: int(row.sum())]
            )
        }
    ),
}
