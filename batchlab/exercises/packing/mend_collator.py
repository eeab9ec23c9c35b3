"""Build: mend a collator that packs. PyTorch is imported where it is used."""

import numpy as np

from batchlab import packing
from batchlab.exercises import Exercise
from batchlab.exercises.packing import bench, unnamed
from batchlab.exercises.packing.first_fit import first_fit_decreasing


def collate(documents, row_length, pad):
    """Rows of packed documents: input_ids, labels and position_ids, (rows, row_length) int64."""
    import torch

    packed = packing.pack([len(one["input_ids"]) for one in documents], row_length)
    shape = packed.row_count, row_length
    batch = {
        "input_ids": torch.full(shape, pad),
        "labels": torch.full(shape, -100),
        "position_ids": torch.zeros(shape, dtype=torch.int64),
    }
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            ids = torch.as_tensor(documents[number]["input_ids"])
            end = start + len(ids)
            batch["input_ids"][row, start:end] = ids
            batch["position_ids"][row, start:end] = torch.arange(len(ids))
            batch["labels"][row, start:end] = torch.as_tensor(documents[number]["labels"])
            batch["labels"][row, start] = -100  # else the document before would predict it
            start = end
        batch["position_ids"][row, start:] = torch.arange(row_length - start)
    return batch


def broken_collate(documents, row_length, pad):
    """Rows of packed documents. It runs, the loss falls, and five things are wrong."""
    import torch

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


right = collate


def explain(got, documents, row_length, pad):
    """The usual cause where no mistake of ours gives the same."""
    if bench.form(got, row_length):
        return CALLER if "use_cache" in got else _of_form(got, row_length)
    rows = bench.standing(got, documents, pad)
    if isinstance(rows, str):
        return "whole documents from slot 0 on, one behind the other; then `pad` alone"
    flat = [number for row in rows for number in row]
    if len({*flat}) < len(documents):
        return "every document stands in a row, the last ones and equal ones, too"
    best = packing.pack([len(one["input_ids"]) for one in documents], row_length)
    if len(rows) > best.row_count:
        return "several documents share a row, and the longest come first"
    return MASK if "attention_mask" in got else ""


def _of_form(got, row_length):
    """Another dtype where all else is right, or no tensors of rows."""
    import torch

    whole = all(isinstance(got[name], torch.Tensor) for name in bench.NAMES)
    changed = whole and {name: got[name].long() for name in bench.NAMES}
    return DTYPE if changed and not bench.form(changed, row_length) else TENSORS


def asked(documents, row_length, pad):
    sizes = [len(one["input_ids"]) for one in documents]
    some = f"documents of {sizes} tokens" if len(sizes) < 13 else f"{len(sizes)} documents"
    if sum(sizes) < 10:
        some = f"documents {[one['input_ids'] for one in documents]}"
    return f"{some}, rows of {row_length}, pad {pad}"


def drawn(rng):
    """Few documents, many, equal ones, large tokens, and one that is too long."""
    for _ in range(8):
        sizes, pad = rng.integers(1, 13, int(rng.integers(1, 12))).tolist(), int(rng.integers(0, 8))
        yield bench.documents(sizes, rng, pad), 12, pad
    yield bench.documents([2] * 9 + [1] * 3, rng, 2), 21, 2
    yield bench.documents([1 + number % 3 for number in range(150)], rng, 2), 4, 2
    yield (
        [given([70_000, 16_777_217, 2]), given([90_000, 65_537, 5], [-100, 65_537, -100])],
        8,
        9**6,
    )
    yield [given([9, 5, 2]), given([9, 5, 2], [-100, -100, 2]), given([9, 5, 2])], 7, 0
    yield bench.documents([4, 2, int(rng.integers(13, 40)), 14], rng, 0), 12, 0
    yield [given([8, 1, 2]), given([9, *[3] * 12], [-100] * 13)], 12, 0


def given(ids, labels=None):
    return {"input_ids": [*ids], "labels": [*(ids if labels is None else labels)]}


NO = -100
SPOKEN, PROMPT, PLAIN = given([9, 5, 2, 7, 2]), given([8, 6, 2], [NO, NO, 2]), given([9, 5, 2])
TURNS = [given([8, 2, 3, 4, 5, 2], [NO, 2, NO, NO, 5, 2]), given([10, 4, 5], [NO, 40, 41])]
SILENT = given([10, 4], [NO, NO])
MANY = bench.documents([7, 6, 5, 6, 8, 4, 2], np.random.default_rng(4), 3)
exercise = Exercise(
    collate,
    points=4,
    given=("packing", "first_fit_decreasing"),
    asked=asked,
    fault=bench.fault,
    explain=explain,
    misnamed=lambda text, documents, row_length, pad: unnamed(
        text, [len(one["input_ids"]) for one in documents], row_length
    ),
    drawn=drawn,
    hints=(
        "run it on two short documents, print the three tensors, and compare slot by slot with "
        "the text",
        "two faults concern labels, two concern who sees whom, one loses tokens",
        "start from the text's list: what happens at a first token, at a pad inside a document, "
        "in the tail, to a mask beside positions, to a document that is too long?",
    ),
    shown=[
        ([SPOKEN, PROMPT], 12, 2),
        ([*TURNS, PLAIN], 12, 2),
        ([SILENT, PLAIN, SILENT], 8, 2),
        (MANY, 12, 3),
        (bench.documents([4, 13, 2], np.random.default_rng(4), 0), 12, 0),
    ],
    passed="Right: whole documents, each on its own, and nothing is lost in silence.",
)
CALLER = "a key twice in the call is a TypeError: `use_cache` is the caller's, not the batch's"
DTYPE = "the dtype: int64 is needed"
TENSORS = "int64 tensors of rows x row_length: torch.tensor(rows) of lists of whole numbers"
MASK = (
    "a mask replaces the borders that positions draw: one of ones or of the real slots has none, "
    "so give no mask"
)
PACK = '    packed = packing.pack([len(one["input_ids"]) for one in documents], row_length)\n'
OWN, FIRST = (
    'torch.as_tensor(documents[number]["labels"])\n',
    '            batch["labels"][row, start] = -100  # else the document before would predict it\n',
)
PLACES, END = "torch.arange(len(ids))", "    return batch\n"
TAIL = '        batch["position_ids"][row, start:] = torch.arange(row_length - start)\n'
AT_PAD = '    batch["labels"][batch["input_ids"] == pad] = -100\n'
SILENCE = "cut or dropped in silence: tokens would be lost; refuse, with the length in the message"
TOKENS = "the tail is known by its place, not by its token: a document may end in `pad`"
ROWS = "several documents share a row, and the longest come first"
BLOCKS = (
    '    segment = (batch["position_ids"] == 0).cumsum(1)\n'
    '    batch["attention_mask"] = (segment[:, :, None] == segment[:, None])[:, None]\n'
)
for _thought, *_changes in [
    ("a label crosses: each document's first token is not trained", (FIRST, "")),
    (
        "a label crosses: not only the row's first token",
        (FIRST, '            batch["labels"][row, 0] = -100\n'),
    ),
    (
        "labels are lost wherever the token is `pad`: the model never learns to end",
        (END, AT_PAD + END),
    ),
    (
        "labels are lost wherever the token is `pad`, and a first label crosses",
        (FIRST, ""),
        (END, AT_PAD + END),
    ),
    ("the prompt is trained: take the labels as they are given", (OWN, "ids\n")),
    (
        "the prompt is trained, and a label crosses: take the labels as they are given",
        (OWN, "ids\n"),
        (FIRST, ""),
    ),
    (
        "labels are not always the tokens, and a prompt may come again: take them as they are given",
        (
            OWN,
            OWN + '            told = (batch["labels"][row, start:end] != -100).cumsum(0) > 0\n'
            '            batch["labels"][row, start:end] = torch.where(told, ids, -100)\n',
        ),
    ),
    (
        "the last token of a document is trained",
        (FIRST, FIRST + FIRST.replace("start]", "end - 1]")),
    ),
    (
        "the first label of a document is -100, not its last",
        (FIRST, FIRST.replace("start]", "end - 1]")),
    ),
    (
        "shifted: the loss shifts, the labels do not",
        (OWN, 'torch.tensor([*documents[number]["labels"][1:], -100])\n'),
    ),
    (
        "shifted: the loss shifts, the labels do not",
        (OWN, 'torch.tensor([*documents[number]["labels"][1:], -100])\n'),
        (FIRST, ""),
    ),
    ("the tail is trained", ("torch.full(shape, -100)", "torch.full(shape, pad)")),
    ("the tail holds the token `pad`", ("torch.full(shape, pad)", "torch.full(shape, 0)")),
    (
        MASK,
        (END, '    batch["attention_mask"] = torch.ones(shape, dtype=torch.int64)\n' + END),
    ),
    (MASK, (END, '    batch["attention_mask"] = (batch["input_ids"] != pad).long()\n' + END)),
    ("under this mask a token sees what comes after it", (END, BLOCKS + END)),
    (
        "under this mask a token does not see itself",
        (END, BLOCKS + '    batch["attention_mask"] = batch["attention_mask"].tril(-1)\n' + END),
    ),
    (
        "positions run on: they restart at 0 in each document",
        (TAIL, '        batch["position_ids"][row] = torch.arange(row_length)\n'),
    ),
    ("positions run on from document to document", (PLACES, "torch.arange(start, end)")),
    ("the tail counts 0, 1, ... too", (TAIL, "")),
    (
        "the tail restarts at 0, too",
        (TAIL, TAIL.replace("row_length - start", "start, row_length")),
    ),
    (
        "the tail restarts at 0, too",
        (TAIL, TAIL.replace("row_length - start", "len(ids), len(ids) + row_length - start")),
    ),
    (
        "a `pad` inside a document is a token: positions go on behind it",
        (
            PLACES,
            "torch.tensor([i - max([j + 1 for j in range(i) if ids[j] == pad], default=0) "
            "for i in range(len(ids))])",
        ),
    ),
    (
        TOKENS,
        (
            TAIL,
            '        start = int((batch["input_ids"][row] != pad).nonzero().max()) + 1\n'
            '        batch["labels"][row, start:] = -100\n' + TAIL,
        ),
    ),
    (
        SILENCE,
        (PACK, PACK.replace('len(one["input_ids"])', 'min(row_length, len(one["input_ids"]))')),
        ('["input_ids"])\n            end', '["input_ids"][:row_length])\n            end'),
        (OWN, OWN.replace('"])', '"][:row_length])')),
    ),
    (
        SILENCE,
        (
            PACK,
            '    documents = [one for one in documents if len(one["input_ids"]) <= row_length]\n'
            + PACK,
        ),
    ),
    (
        "equal documents are several: a dict, or a set, keeps one of them",
        (
            PACK,
            '    documents = [*{tuple(one["input_ids"]): one for one in documents}.values()]\n'
            + PACK,
        ),
    ),
    (
        "a document of which nothing is trained stands in a row, too",
        (PACK, '    documents = [one for one in documents if max(one["labels"]) >= 0]\n' + PACK),
    ),
    (
        "the last row is lost: it is one, however full",
        ("packed.row_count, row_length", "max(1, packed.row_count - 1), row_length"),
        ("packed.rows)", "packed.rows[: shape[0]])"),
    ),
    (
        ROWS,
        ("packed.row_count, row_length", "len(documents), row_length"),
        ("packed.rows)", "[[number] for number in range(len(documents))])"),
    ),
    (ROWS, (PACK, PACK.replace("row_length)", 'row_length, method="next_fit")'))),
    (CALLER, (END, '    batch["use_cache"] = False\n' + END)),
    (TENSORS, (END, "    return {name: one.tolist() for name, one in batch.items()}\n")),
    (DTYPE, (END, "    return {name: one.int() for name, one in batch.items()}\n")),
    (DTYPE, (END, '    batch["labels"] = batch["labels"].int()\n' + END)),
    (DTYPE, (END, '    batch["input_ids"] = batch["input_ids"].float()\n' + END)),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "a refusal without the length",
        "must stand in the text",
        (
            PACK,
            '    if any(len(one["input_ids"]) > row_length for one in documents):\n'
            '        raise ValueError("a document is too long")\n' + PACK,
        ),
    ),
    (
        "writes -100 into what it was given",
        "changed",
        (PLACES, PLACES + '\n            documents[number]["labels"][0] = -100'),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="changed at this call")
def one_buffer(documents, row_length, pad, _kept={}):
    """one buffer for all calls: the tensors of an earlier call are overwritten"""
    batch = right(documents, row_length, pad)
    for name, one in batch.items():
        batch[name] = _kept.setdefault((name, one.shape), one).copy_(one)
    return batch


@exercise.style
def row_by_row(documents, row_length, pad):
    """row by row, in lists; rows of one's own first fit"""
    import torch

    rows = first_fit_decreasing([len(one["input_ids"]) for one in documents], row_length)
    batch = {"input_ids": [], "labels": [], "position_ids": []}
    for row in rows:
        i, y, p = [], [], []
        for number in row:
            tokens, own = documents[number]["input_ids"], documents[number]["labels"]
            i += tokens
            y += [-100] + own[1:]
            p += range(len(tokens))
        tail = row_length - len(i)
        batch["input_ids"].append(i + [pad] * tail)
        batch["labels"].append(y + [-100] * tail)
        batch["position_ids"].append(p + list(range(tail)))
    return {name: torch.tensor(rows) for name, rows in batch.items()}


@exercise.style
def library(documents, row_length, pad):
    """the library"""
    from batchlab import batches

    rows = packing.pack([len(one["input_ids"]) for one in documents], row_length).rows
    return batches.packed(documents, rows, row_length, pad_id=pad)


@exercise.style
def with_a_mask(documents, row_length, pad):
    """with a mask that draws the blocks"""
    import torch

    batch = right(documents, row_length, pad)
    segment = torch.cumsum(batch["position_ids"] == 0, 1)
    blocks = torch.tril(segment[:, :, None] == segment[:, None, :])
    return {**batch, "attention_mask": blocks[:, None]}
