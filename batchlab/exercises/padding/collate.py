"""Build: a collator that reports its waste."""

import numpy as np

from batchlab.exercises import By, Exercise

TWO = [{"input_ids": [5, 6, 7, 8, 9], "labels": [-100, -100, 7, 8, 9]}, {"input_ids": [3, 0, 4]}]
OTHER = [
    {"input_ids": [1, 2, 3, 4, 5]},
    {"input_ids": [6, 3, 0], "labels": [-100, -1, 2]},
]  # of the same shape
EMPTY = {"input_ids": []}


def collate(documents, pad_id, multiple_of=1, max_length=None):
    """Two dictionaries: the rectangle around some documents as arrays, and its counts."""
    kept = [document["input_ids"][:max_length] for document in documents]
    own = [document.get("labels", document["input_ids"])[:max_length] for document in documents]
    longest = max(len(ids) for ids in kept)
    width = -(-longest // multiple_of) * multiple_of  # rounds up
    shape = len(kept), width
    arrays = {
        "input_ids": np.full(shape, pad_id, dtype=np.int64),
        "labels": np.full(shape, -100, dtype=np.int64),
        "attention_mask": np.zeros(shape, dtype=np.int64),
    }
    for row, (ids, labels) in enumerate(zip(kept, own)):
        arrays["input_ids"][row, : len(ids)] = ids
        arrays["labels"][row, : len(ids)] = labels
        arrays["attention_mask"][row, : len(ids)] = 1
    real = sum(len(ids) for ids in kept)
    before = sum(len(document["input_ids"]) for document in documents)
    counts = {"real_tokens": real, "slots": len(kept) * width, "cut_tokens": before - real}
    return arrays, counts


def drawn(rng):
    """A few short documents with any options, then many rows, long rows and large tokens."""
    for many, longest, top in [(1, 9, 5), (5, 20, 5)] * 20 + [
        (40, 60, 9),
        (9, 400, 300),
        (3, 3000, 5 * 10**9),
    ]:
        documents = []
        for _ in range(int(rng.integers(1, many + 1))):
            ids = rng.integers(0, top, int(rng.integers(1, longest))).tolist()
            own = [int(x) if rng.random() < 0.7 else -100 for x in rng.integers(0, top, len(ids))]
            documents.append(
                {"input_ids": ids, "labels": own} if rng.random() < 0.5 else {"input_ids": ids}
            )
        documents += [EMPTY] * int(rng.integers(0, 3))
        rng.shuffle(documents)
        cut = int(rng.integers(1, longest + 5)) if rng.random() < 0.5 else None
        yield documents, int(rng.integers(0, 5)), int(rng.integers(1, 9)), cut


def asked(documents, pad_id, multiple_of=1, max_length=None):
    many = (
        documents
        if sum(len(one["input_ids"]) for one in documents) <= 16
        else f"{len(documents)} documents"
    )
    more = (f", multiple_of={multiple_of}" if multiple_of > 1 else "") + (
        f", max_length={max_length}" if max_length else ""
    )
    return f"collate({'two documents' if documents == TWO else many}, {pad_id}{more})"


def explain(got, *_, **__):
    return "exchanged: the arrays come first, then the counts" if "slots" in got[0] else ""


exercise = Exercise(
    collate,
    explain=explain,
    asked=asked,
    drawn=drawn,
    parts=("arrays", "counts"),
    points=5,
    hints=(
        "cut first, then measure the longest row, then round up, then fill",
        "begin with np.full((rows, width), pad_id, dtype=np.int64), and write each document over its row",
        "the mask and the labels are filled at the same places, from 0 and -100",
    ),
    shown=[
        (TWO, 0),
        (OTHER, 0),
        (TWO, 0, 4),
        (TWO, 1, 1, 3),
        (TWO, 0, 4, 3),
        (TWO, 0, 1, 60),
        ([TWO[0], EMPTY, EMPTY], 0),
        ([EMPTY, {"input_ids": [6, 0], "labels": [0, 6]}], 0),
        By(TWO, pad_id=7, multiple_of=4, max_length=3),
    ],
    passed="Right: a rectangle with its bill.",
)
right = collate
LONGEST, WIDTH = "max(len(ids) for ids in kept)", "-(-longest // multiple_of) * multiple_of"
MASK, END = '        arrays["attention_mask"][row, : len(ids)] = 1\n', "    return arrays, counts"
OWN = 'document.get("labels", document["input_ids"])'
for _thought, *_changes in [
    (
        "real tokens are counted by their token: pad_id may be an ordinary token, too",
        ('"real_tokens": real', '"real_tokens": int((arrays["input_ids"] != pad_id).sum())'),
    ),
    (
        "no labels means all tokens are targets: -100 would train none",
        (OWN, 'document.get("labels", [-100] * len(document["input_ids"]))'),
    ),
    (
        "the padding is trained: its label is -100",
        (
            END,
            "    for row, one in enumerate(documents):\n"
            "        if 'labels' not in one:\n"
            "            arrays['labels'][row] = arrays['input_ids'][row]\n" + END,
        ),
    ),
    (
        "in order of length: rows stay in the order of the documents",
        (
            "    kept = [",
            "    documents = sorted(documents, key=lambda one: len(one['input_ids']))\n    kept = [",
        ),
    ),
    (
        "one slot is kept free: a document may have max_length tokens",
        ('["input_ids"][:max_length] for', '["input_ids"][: max_length and max_length - 1] for'),
        ("])[:max_length] for", "])[: max_length and max_length - 1] for"),
    ),
    (
        "max_length is rounded up before the cut: cut at max_length, then round the width",
        (
            "    kept = [",
            "    max_length = max_length and -(-max_length // multiple_of) * multiple_of\n    kept = [",
        ),
    ),
    (
        "rounded down: the longest row no longer fits, and is cut",
        (
            "    shape =",
            "    width = max(1, longest // multiple_of) * multiple_of\n    kept, own = [one[:width] for one in kept], [one[:width] for one in own]\n    shape =",
        ),
    ),
    (
        "padding is told by its token: that may be an ordinary token, too",
        (MASK, '        arrays["attention_mask"][row] = arrays["input_ids"][row] != pad_id\n'),
    ),
    (
        "a prompt is real as well: the mask is 1 for every token",
        (MASK, '        arrays["attention_mask"][row] = arrays["labels"][row] != -100\n'),
    ),
    (
        "labels are ignored wherever the token is pad_id: only padding is",
        (END, '    arrays["labels"][arrays["input_ids"] == pad_id] = -100\n' + END),
    ),
    (
        "the padding is trained: its label is -100",
        ('"labels": np.full(shape, -100', '"labels": np.full(shape, pad_id'),
    ),
    (
        "the padding is not masked: the mask is 0 there",
        ("np.zeros(shape, dtype=np.int64)", "np.ones(shape, dtype=np.int64)"),
    ),
    ("the document's own labels are not used", (OWN, 'document["input_ids"]')),
    (
        "labels are optional: document.get(...) takes the tokens where there are none",
        (OWN, 'document["labels"]'),
    ),
    (
        "the first document decides for all whether there are labels",
        (
            OWN,
            '(document.get("labels", document["input_ids"]) if "labels" in documents[0] else document["input_ids"])',
        ),
    ),
    (
        "own labels are taken as they are: 0 is a token",
        (
            OWN,
            '([x or -100 for x in document["labels"]] if "labels" in document else document["input_ids"])',
        ),
    ),
    (
        "rounded down: the longest row no longer fits",
        (WIDTH, "longest // multiple_of * multiple_of"),
    ),
    (
        "rounded up although it divides already",
        ("-(-longest // multiple_of)", "(longest // multiple_of + 1)"),
    ),
    ("multiple_of is not used: it is the third argument", (WIDTH, "longest")),
    (
        "max_length is not used",
        ('["input_ids"][:max_length] for', '["input_ids"] for'),
        ("])[:max_length] for", "]) for"),
    ),
    (
        "max_length holds for the documents, not for the width: round up last",
        (WIDTH, "min(-(-longest // multiple_of) * multiple_of, max_length or 10**9)"),
    ),
    ("the labels are cut with their tokens", ("])[:max_length] for", "]) for")),
    ("as wide as max_length: the longest row decides", (LONGEST, "max_length or " + LONGEST)),
    (
        "the width is taken before the cut",
        (LONGEST, 'max(len(one["input_ids"]) for one in documents)'),
    ),
    (
        "cut at the start: the end is to go",
        ('["input_ids"][:max_length]', '["input_ids"][-(max_length or 0):]'),
        ("])[:max_length]", "])[-(max_length or 0):]"),
    ),
    (
        "padded at the left: tokens come first",
        ('["input_ids"][row, : len(ids)]', '["input_ids"][row, width - len(ids) :]'),
        ('["labels"][row, : len(ids)]', '["labels"][row, width - len(ids) :]'),
        ('["attention_mask"][row, : len(ids)]', '["attention_mask"][row, width - len(ids) :]'),
    ),
    (
        "a label stands under its own token: the model shifts",
        ("] = labels\n", "] = [*labels[1:], -100][: len(ids)]\n"),
    ),
    (
        "an empty document is a row, too",
        (
            "    own =",
            "    documents = [one for one in documents if one['input_ids']]\n    kept = [one for one in kept if one]\n    own =",
        ),
    ),
    (
        "an empty document has no real token",
        (END, '    arrays["attention_mask"][:, 0] = 1\n' + END),
    ),
    ("what was cut is counted as real", ('"real_tokens": real', '"real_tokens": before')),
    (
        "target tokens, not real ones",
        ('"real_tokens": real', '"real_tokens": sum(x != -100 for one in own for x in one)'),
    ),
    ("the slots are rows x width, after rounding up", ("len(kept) * width", "len(kept) * longest")),
    (
        "padding is no name for the slots: they are all cells, rows x width",
        ("len(kept) * width", "len(kept) * width - real"),
    ),
    (
        "documents cut, not tokens",
        ("before - real}", "sum(len(d['input_ids']) > len(k) for d, k in zip(documents, kept))}"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "pads the documents themselves",
        "changed",
        (END, "    for one in documents:\n        one['input_ids'] += [pad_id]\n" + END),
    ),
    (
        "the waste in place of the counts",
        "a dict with real_tokens",
        (END, "    return arrays, 1 - real / counts['slots']"),
    ),
    ("arrays alone", "2 things", (END, "    return arrays")),
    (
        "without dtype=np.int64, arrays hold floats",
        "of float64; whole numbers are needed",
        ("np.zeros(shape, dtype=np.int64)", "np.zeros(shape)"),
    ),
    (
        "exchanged",
        "the arrays come first",
        (END, "    return counts, arrays"),
    ),
    (
        "cuts the documents themselves",
        "puts another list",
        (
            "    kept = [",
            "    for one in documents:\n        one['input_ids'] = one['input_ids'][:max_length]\n    kept = [",
        ),
    ),
    (
        "other names of the arguments",
        "keyword argument",
        (
            "multiple_of=1, max_length=None):",
            "multiple=1, longest_row=None):\n    multiple_of, max_length = multiple, longest_row",
        ),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="changed at this call")
def one_buffer(documents, pad_id, multiple_of=1, max_length=None, _kept={}):
    """one buffer for all calls: the arrays of an earlier call are overwritten"""
    arrays, counts = right(documents, pad_id, multiple_of, max_length)
    for name, one in arrays.items():
        kept = arrays[name] = _kept.setdefault((name, one.shape), one)
        kept[:] = one
    return arrays, counts


@exercise.style
def lists_first(documents, pad_id, multiple_of=1, max_length=None):
    """lists first, tensors of them"""
    import torch

    ids = [d["input_ids"][:max_length] for d in documents]
    labels = [(d["labels"] if "labels" in d else d["input_ids"])[:max_length] for d in documents]
    width = max(map(len, ids))
    while width % multiple_of:
        width += 1
    counts = {"real_tokens": sum(map(len, ids)), "slots": len(ids) * width}
    counts["cut_tokens"] = sum(len(d["input_ids"]) for d in documents) - counts["real_tokens"]
    named = {
        "input_ids": [one + [pad_id] * (width - len(one)) for one in ids],
        "labels": [one + [-100] * (width - len(one)) for one in labels],
        "attention_mask": [[1] * len(one) + [0] * (width - len(one)) for one in ids],
    }
    return {name: torch.tensor(rows) for name, rows in named.items()}, counts


@exercise.style
def own_padding(documents, pad_id, multiple_of=1, max_length=None):
    """PyTorch's own padding, counts from the mask"""
    import torch
    from torch.nn.functional import pad
    from torch.nn.utils.rnn import pad_sequence

    ids = [torch.tensor(d["input_ids"], dtype=torch.int64)[:max_length] for d in documents]
    own = [
        torch.tensor(d.get("labels", d["input_ids"]), dtype=torch.int64)[:max_length]
        for d in documents
    ]
    mask = pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
    more = -mask.shape[1] % multiple_of
    tensors = {
        "input_ids": pad(pad_sequence(ids, True, pad_id), (0, more), value=pad_id),
        "labels": pad(pad_sequence(own, True, -100), (0, more), value=-100),
        "attention_mask": pad(mask, (0, more)),
    }
    before = sum(len(d["input_ids"]) for d in documents)
    return tensors, {
        "real_tokens": mask.sum(),
        "slots": tensors["input_ids"].numel(),
        "cut_tokens": before - mask.sum(),
    }
