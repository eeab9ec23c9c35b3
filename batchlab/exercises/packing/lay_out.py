"""Four lists make a packed row."""

from collections.abc import Mapping

import numpy as np

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.packing import nested


def lay_out(documents, row_length):
    """A dict of the four lists of a row: input_ids, position_ids, labels, cu_seqlens."""
    row = {"input_ids": [], "position_ids": [], "labels": [], "cu_seqlens": [0]}
    tail = [0] * (row_length - sum(map(len, documents)))
    for tokens in [*documents, tail] if tail else documents:
        row["input_ids"] += tokens
        row["position_ids"] += range(len(tokens))
        row["labels"] += [-100, *tokens[1:]]
        row["cu_seqlens"].append(len(row["input_ids"]))
    row["labels"][row_length - len(tail) :] = [-100] * len(tail)
    return row


right = lay_out
NAMES = "input_ids", "cu_seqlens", "position_ids", "labels"


def fault(got, documents, row_length):
    """What is wrong with a row, in words; the first of its lists that is wrong."""
    if not isinstance(got, Mapping) or {*got} != {*NAMES}:
        keys = f"keys {[*got]}" if isinstance(got, Mapping) else plain.shown(got)
        return f"{keys}; a dict with {', '.join(NAMES)} is needed"
    real, want = sum(map(len, documents)), right(documents, row_length)
    for name in NAMES:
        own = nested(got[name])
        if not isinstance(own, list) or any(type(one) is not int for one in own):
            return f"{name} are {plain.shown(got[name])}; a list of whole numbers is needed"
        free = name == "input_ids" and len(own) == row_length and min(own) >= 0
        wished = own[real:] if free else want[name][real:]  # any token stands in the tail
        wished = [*want[name][:real], *wished]
        if own != wished:
            return f"{name} are {_some(own)}, right is {_some(wished)}"
    return ""


def _some(numbers):
    return f"{numbers}" if len(numbers) < 20 else f"{str(numbers[:18])[:-1]}, ...]"


def explain(got, documents, row_length):
    """What a list of another form or length means."""
    shapes = [np.asarray(nested(got[name])) for name in NAMES]
    if any(one.ndim > 1 for one in shapes):
        return BATCH
    floats = any(one.dtype.kind == "f" for one in shapes)
    return "tokens are whole numbers, and so are labels" if floats else ""


def asked(documents, row_length):
    some = f"{documents}" if sum(map(len, documents)) < 25 else f"{len(documents)} documents"
    return f"lay_out({some}, {row_length})"


def drawn(rng):
    """Any documents with no tail, one of one slot and one of four; large tokens; many documents."""
    every = [[[4], [5], [6], [7]], [[9]], [[70_000, 5, 16_777_217], [150_000, 33_554_433]]]
    for _ in range(12):
        sizes = rng.integers(1, 6, int(rng.integers(1, 6)))
        every.append([rng.integers(0, 60, size).tolist() for size in sizes])
    for texts in [*every, [[1 + n % 7] * (1 + n % 3) for n in range(150)], [[*range(1, 401)]]]:
        for more in (0, 1, 4):
            yield texts, sum(map(len, texts)) + more


BATCH = "one row, no batch of one: each of the four is a plain list"
exercise = Exercise(
    lay_out,
    points=2,
    asked=asked,
    fault=fault,
    explain=explain,
    drawn=drawn,
    hints=(
        "write the four lists of the example under each other, and compare slot by slot",
        "go segment by segment: documents, then the tail if there is one; only labels treat the "
        "tail otherwise",
        "each segment adds its tokens, its positions from 0, its labels and its end; look at the "
        "example for what the first label is",
    ),
    shown=[
        ([[5, 6, 7], [8, 9]], 7),
        ([[5, 0, 7], [8, 0]], 7),
        ([[5, 6, 7], [8]], 4),
        ([[5, 6], [7], [8, 9, 4]], 9),
        ([[5, 6, 5, 9], [7, 5, 4]], 8),
        ([[5, 6], [8], [5, 6]], 6),
    ],
    passed="Right: four lists, and no label crosses a border.",
)
SEGMENTS, LABELS = "[*documents, tail] if tail else documents", "[-100, *tokens[1:]]"
TAIL, PLACES = "[0] * (row_length - sum(map(len, documents)))", "range(len(tokens))"
LAST, END = (
    '    row["labels"][row_length - len(tail) :] = [-100] * len(tail)\n',
    "    return row\n",
)
RUN_ON = "positions run on: they restart at 0 in each segment"
RESTARTS = "each 0 begins a segment: the tail counts 0, 1, ... too"
ENDS = "the tail is a segment too: the last number is the end of the row"
BY_PLACE = "know the tail by its place: a document may hold its token, also at its end"
CROSSES = "a label crosses: -100 at each document's first token"
OWN = "labels written into the documents: input_ids keep their tokens"
for _thought, *_changes in [
    (
        "the 0 before them is missing: a segment lies between two numbers",
        ('"cu_seqlens": [0]', '"cu_seqlens": []'),
    ),
    (ENDS, (END, '    del row["cu_seqlens"][len(documents) + 1 :]\n' + END)),
    (ENDS, (END, '    row["cu_seqlens"].pop()\n' + END)),
    (
        "the tail is a segment of its own: the last document ends where the tail begins",
        (END, '    del row["cu_seqlens"][len(documents) : len(documents) + bool(tail)]\n' + END),
    ),
    ("lengths, not their running sum", ('len(row["input_ids"])', "len(tokens)")),
    (
        "lengths, not their running sum",
        ('len(row["input_ids"])', "row_length if tokens is tail else len(tokens)"),
    ),
    ("an empty segment: where no slot is left there is no tail", (SEGMENTS, "[*documents, tail]")),
    (RUN_ON, (END, '    row["position_ids"] = list(range(row_length))\n' + END)),
    (
        RUN_ON,
        (
            END,
            '    row["position_ids"] = [*range(row_length - len(tail)), *range(len(tail))]\n' + END,
        ),
    ),
    (
        RUN_ON,
        (
            END,
            '    row["position_ids"] = [*range(row_length - len(tail)), *[0] * len(tail)]\n' + END,
        ),
    ),
    (
        "the tail counts on from the last document: it restarts too",
        (
            PLACES,
            "range(len(documents[-1]), row_length)[:len(tail)] if tokens is tail else " + PLACES,
        ),
    ),
    (RESTARTS, (PLACES, "[0] * len(tail) if tokens is tail else " + PLACES)),
    ("positions start at 0", (PLACES, "range(1, len(tokens) + 1)")),
    (
        "only the first border: every document is a segment",
        (SEGMENTS, "filter(None, [documents[0], sum(documents[1:], []), tail])"),
    ),
    (CROSSES, (LABELS, "tokens")),
    (
        "a label crosses: not only the row's first token is left out",
        (LABELS, '[*tokens[:1], *tokens[1:]] if row["labels"] else ' + LABELS),
    ),
    (
        "the first document's first token is not trained either",
        (LABELS, LABELS + ' if row["labels"] else tokens'),
    ),
    ("a document's first token crosses, not its last", (LABELS, "[*tokens[:-1], -100]")),
    (
        "every token but the first is trained, the last one, too",
        (LABELS, "[-100, *tokens[1:-1], -100][: len(tokens)]"),
    ),
    ("shifted: the loss shifts, the labels do not", (LABELS, "[*tokens[1:], -100]")),
    ("the tail is trained from its second slot on", (LAST, "")),
    ("the tail is trained", (LAST, LAST.replace("[-100] *", "[0] *"))),
    (
        "labels[-0:] is the whole list: a row may have no tail",
        ("row_length - len(tail) :", "-len(tail) :"),
    ),
    (
        "labels[-0:] is the whole list: a row may have no tail",
        (
            LAST,
            '    row["labels"] = np.array(row["labels"])\n    row["labels"][-len(tail) :] = -100\n',
        ),
    ),
    (
        BY_PLACE,
        (
            LAST,
            '    row["labels"] = [y if t else -100 for t, y in zip(row["input_ids"], row["labels"])]\n',
        ),
    ),
    (
        BY_PLACE,
        (
            END,
            '    for slot in range(row_length)[::-1]:\n        if row["input_ids"][slot]:\n            break\n'
            '        row["labels"][slot] = -100\n' + END,
        ),
    ),
    (
        "know a first token by its place: it may stand again in its document",
        (LABELS, "[-100 if token == tokens[0] else token for token in tokens]"),
    ),
    (
        "know a first token by its place: another document may hold it",
        (
            LABELS,
            "[-100 if token in [d[0] for d in documents] else token for token in tokens]",
        ),
    ),
    ("-100 is a label: the model has no token of that number", (TAIL, TAIL.replace("0", "-100"))),
    (OWN, (END, '    row["input_ids"] = row["labels"]\n' + END)),
    (
        OWN,
        (END, '    row["input_ids"] = row["labels"][: row_length - len(tail)] + tail\n' + END),
    ),
    ("the tail is missing: a row has all its slots", (TAIL, "[]")),
    (BATCH, (END, "    return {name: [one] for name, one in row.items()}\n")),
    (
        "tokens are whole numbers, and so are labels",
        (END, "    return {name: np.array(one, dtype=float) for name, one in row.items()}\n"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("another key", "is needed", (END, '    row["cu_seq_lens"] = row.pop("cu_seqlens")\n' + END)),
    (
        "labels written into the caller's documents",
        "changed",
        (LABELS, "tokens"),
        (
            LAST,
            LAST + "    for text in documents:\n        text[0] = -100\n"
            '    row["labels"] = sum(documents, []) + [-100] * len(tail)\n',
        ),
    ),
    (
        "the borders are kept between calls (mutable default)",
        "remembers earlier calls",
        ("(documents, row_length)", "(documents, row_length, borders=[0])"),
        ('"cu_seqlens": [0]', '"cu_seqlens": borders'),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def by_index(documents, row_length):
    """equal documents have a place each: .index() finds the first"""
    row = {"input_ids": [0] * row_length, "position_ids": [0] * row_length}
    row |= {"labels": [-100] * row_length, "cu_seqlens": [0]}
    for tokens in documents:
        start = sum(len(one) for one in documents[: documents.index(tokens)])
        end = start + len(tokens)
        row["input_ids"][start:end], row["position_ids"][start:end] = tokens, range(len(tokens))
        row["labels"][start + 1 : end] = tokens[1:]
        row["cu_seqlens"].append(end)
    if end < row_length:
        row["position_ids"][end:] = range(row_length - end)
        row["cu_seqlens"].append(row_length)
    return row


@exercise.style
def arrays(documents, row_length):
    """NumPy, another token in the tail"""
    sizes = [len(tokens) for tokens in documents]
    tail = row_length - sum(sizes)
    sizes += [tail] if tail else []
    at = np.concatenate([np.arange(n) for n in sizes])
    ids = np.concatenate([*documents, np.full(tail, 63)]).astype(int)
    labels = np.where((np.arange(row_length) < row_length - tail) & (at > 0), ids, -100)
    return dict(input_ids=ids, position_ids=at, labels=labels, cu_seqlens=np.cumsum([0, *sizes]))


@exercise.style
def tuples(documents, row_length):
    """tuples"""
    tail = row_length - sum(map(len, documents))
    segments = [tuple(d) for d in documents] + [(7,) * tail] * (tail > 0)
    borders = [0]
    for s in segments:
        borders.append(borders[-1] + len(s))
    labels = sum(((-100,) + s[1:] for s in segments[: len(documents)]), ()) + (-100,) * tail
    return {
        "input_ids": sum(segments, ()),
        "position_ids": tuple(i for s in segments for i in range(len(s))),
        "labels": labels,
        "cu_seqlens": tuple(borders),
    }


@exercise.style
def library(documents, row_length):
    """the library, as tensors"""
    from batchlab import batches

    batch = batches.packed(documents, [range(len(documents))], row_length)
    row = {name: batch[name][0] for name in ("input_ids", "position_ids", "labels")}
    return {**row, "cu_seqlens": batch["cu_seqlens"]}
