"""One document at a width: what its padding is, in ids, labels and mask."""

import numpy as np

from batchlab.exercises import Exercise


def row(document, width, pad_id):
    """The document as a row of `width` slots: its input_ids, labels and attention_mask."""
    ids = document["input_ids"]
    labels = document.get("labels", ids)
    empty = width - len(ids)
    if empty < 0:
        raise ValueError(f"{len(ids)} tokens do not fit into {width} slots")
    return {
        "input_ids": ids + [pad_id] * empty,
        "labels": labels + [-100] * empty,
        "attention_mask": [1] * len(ids) + [0] * empty,
    }


def drawn(rng):
    """Short documents at widths around their length, with labels of their own or without."""
    for at in range(40):
        ids = rng.integers(0, 6, int(rng.integers(0, 12))).tolist()
        own = [one if rng.random() < 0.6 else -100 for one in rng.integers(0, 6, len(ids)).tolist()]
        document = {"input_ids": ids, "labels": own} if at % 2 else {"input_ids": ids}
        yield document, max(1, len(ids) + int(rng.integers(-1, 6))), int(rng.integers(0, 6))


exercise = Exercise(
    row,
    points=2,
    hints=(
        "empty = width - len(ids) says how many slots the padding has",
        "add `empty` entries behind each list: pad_id, -100, and 0 for the mask",
        'document.get("labels", ids) takes the tokens where a document brings no labels',
    ),
    shown=[
        ({"input_ids": [5, 0, 7], "labels": [-100, 0, 7]}, 4, 7),
        ({"input_ids": [3, 7, 4]}, 5, 0),
        ({"input_ids": [6, 2, 9]}, 2, 0),
    ],
    drawn=drawn,
    mentions=lambda document, width, pad_id: (len(document["input_ids"]),),
    passed="Right: padding is known by its place, not by its token, and it is never a target.",
)
IDS, LABELS = "ids + [pad_id] * empty", "labels + [-100] * empty"
MASK = "[1] * len(ids) + [0] * empty"
OWN = 'document.get("labels", ids)'
LONG = '        raise ValueError(f"{len(ids)} tokens do not fit into {width} slots")\n'
for _thought, *_changes in [
    (
        "padding is told by its token: that may be an ordinary token, too",
        (MASK, "[int(one != pad_id) for one in ids + [pad_id] * empty]"),
    ),
    (
        "a prompt is real as well: the mask is 1 for every token",
        (MASK, "[int(one != -100) for one in labels] + [0] * empty"),
    ),
    (
        "a token that equals pad_id keeps its label: only padding has none",
        (LABELS, "[-100 if i == pad_id else x for i, x in zip(ids, labels)] + [-100] * empty"),
    ),
    ("the padding is trained: its label is -100", (LABELS, "labels + [pad_id] * empty")),
    ("-100 is a label; as a token it is pad_id", (IDS, "ids + [-100] * empty")),
    ("the document's own labels are not used", (OWN, "ids")),
    (
        "labels are optional: document.get(...) takes the tokens where there are none",
        (OWN, 'document["labels"]'),
    ),
    ("own labels are taken as they are: 0 is a token", (OWN, f"[x or -100 for x in {OWN}]")),
    (
        "padded at the left: tokens come first",
        (IDS, "[pad_id] * empty + ids"),
        (LABELS, "[-100] * empty + labels"),
        (MASK, "[0] * empty + [1] * len(ids)"),
    ),
    (
        "a label stands under its own token: the model shifts",
        (LABELS, "labels[1:] + [-100] * (empty + (len(ids) > 0))"),
    ),
    ("the mask is upside down: 1 is a real token", (MASK, "[0] * len(ids) + [1] * empty")),
    ("`width` slots in all, not `width` more", ("empty = width - len(ids)", "empty = width")),
    (
        "cut without a word: a document that does not fit is a ValueError",
        (LONG, "        ids, labels = ids[:width], labels[:width]\n"),
    ),
    (
        "left longer than the row: a document that does not fit is a ValueError",
        (LONG, "        pass\n"),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "pads the document itself",
    [("    return {", "    ids += [pad_id] * empty\n    ids = ids[: width - empty]\n    return {")],
    says="changed",
)


@exercise.style
def filled(document, width, pad_id):
    """full rows first, then written over"""
    ids, many = document["input_ids"], len(document["input_ids"])
    if many > width:
        raise ValueError(f"a document of {many} tokens in a row of {width}")
    tokens, labels = np.full(width, pad_id), np.full(width, -100)
    tokens[:many], labels[:many] = ids, document["labels"] if "labels" in document else ids
    return {"input_ids": tokens, "labels": labels, "attention_mask": np.arange(width) < many}


@exercise.style
def slot_by_slot(document, width, pad_id):
    """slot by slot"""
    ids = document["input_ids"]
    labels = document["labels"] if "labels" in document else ids
    if len(ids) > width:
        raise ValueError(f"{len(ids)} > {width}")
    made = {"input_ids": [], "labels": [], "attention_mask": []}
    for slot in range(width):
        real = slot < len(ids)
        made["input_ids"].append(ids[slot] if real else pad_id)
        made["labels"].append(labels[slot] if real else -100)
        made["attention_mask"].append(int(real))
    return made
