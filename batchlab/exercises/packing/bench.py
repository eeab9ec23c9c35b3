"""A small model that is given rows of several documents, and what a collator's rows hold.

    documents in one row  ->  logits of each;  a batch  ->  which documents stand where, who sees whom

Words
    leak   the largest change of one document's logits when another document of its row changes
    alone  in a row of its own, without a tail
"""

import functools
from collections.abc import Mapping

import numpy as np

from batchlab import packing

__all__ = ["OTHER", "VOCABULARY", "apart", "called", "documents", "fault", "leak", "network"]
__all__ += ["standing", "starts_of", "unlike_alone"]

VOCABULARY = 64
OTHER = 32  # documents draw tokens below it; a changed one takes tokens from it on
NAMES = "input_ids", "labels", "position_ids"


@functools.cache
def network(prepared=False):
    """One layer with random weights: milliseconds a call. `prepared` as the library does it."""
    from batchlab import attention, model

    made = model.small(VOCABULARY, layers=1, hidden=32, heads=2, longest=1024, seed=4).eval()
    return attention.prepare(made) if prepared else made


def starts_of(documents):
    """Where each document begins in one row."""
    return [0, *np.cumsum([len(one) for one in documents]).tolist()[:-1]]


def called(documents, starts, **options):
    """Logits of each document from one row whose positions restart at `starts`."""
    import torch

    tokens = [[int(token) for token in one] for one in documents]
    for one in tokens:
        if not one or min(one) < 0 or max(one) >= VOCABULARY:
            raise ValueError(f"a document is a list of tokens from 0 to {VOCABULARY - 1}: {one}")
    ids = [token for one in tokens for token in one]
    at = [n for a, b in zip(starts, [*starts[1:], len(ids)]) for n in range(b - a)]
    given = {"input_ids": torch.tensor([ids]), "position_ids": torch.tensor([at])}
    with torch.no_grad():
        logits = network()(**given, **options).logits[0]
    return [part.numpy() for part in logits.split([len(one) for one in tokens])]


def apart(documents):
    """Logits of each document, all in one row and none seen by another."""
    return [one.copy() for one in _apart(tuple(tuple(map(int, one)) for one in documents))]


@functools.lru_cache(64)
def _apart(documents):
    return called(documents, starts_of(documents), use_cache=False)


def documents(lengths, rng, pad):
    """SFT documents of these lengths, with turns that are not trained; some are not trained at all.

    `pad` also stands inside a document and ends most of them. First tokens are 8, 9, ...; all
    others are below 8.
    """
    made = []
    for number, length in enumerate(lengths):
        ids = [8 + number, *rng.integers(0, 8, length - 1).tolist()]
        if length > 2:
            ids[length // 2] = pad
        if length > 1:
            ids[-1] = pad
        prompt, later = int(rng.integers(0, length + 1)), rng.random(length) < 0.3
        hidden = [slot < prompt or later[slot] for slot in range(length)]
        labels = [-100 if one else token for one, token in zip(hidden, ids)]
        made.append({"input_ids": ids, "labels": labels})
    return made


def form(batch, row_length):
    """What is wrong with the form of a batch; empty if it holds int64 tensors of such rows."""
    import torch

    if not isinstance(batch, Mapping) or {*NAMES} - {*batch}:
        keys = f"keys {[*batch]}" if isinstance(batch, Mapping) else f"a {type(batch).__name__}"
        return f"{keys}; a dict with {', '.join(NAMES)} is needed"
    if "use_cache" in batch:
        return "a key use_cache; model(**batch, use_cache=False) then gets it twice"
    rows = len(batch["input_ids"])
    for name in NAMES:
        one, shape = batch[name], (rows, row_length)
        tensor = isinstance(one, torch.Tensor)
        if not tensor or one.dtype != torch.int64 or tuple(one.shape) != shape:
            came = (
                f"{one.dtype} of shape {tuple(one.shape)}" if tensor else f"a {type(one).__name__}"
            )
            return f"{name}: {came}; an int64 tensor of shape {shape} is needed"
    return ""


def standing(batch, given, pad):
    """The document numbers of each row in their order, or what is wrong with the rows in words.

    Of documents with equal tokens, each stands for one: for one with its labels, else in the order
    of the rows.
    """
    rows, used = [], set()
    for row, (ids, labels) in enumerate(zip(batch["input_ids"].tolist(), batch["labels"].tolist())):
        place, numbers = 0, []
        while same := [n for n, one in enumerate(given) if _begins(ids[place:], one["input_ids"])]:
            own = [n for n in same if _begins(labels[place + 1 :], given[n]["labels"][1:])]
            number = min(same, key=lambda n: (n in used, n not in own))
            numbers.append(number)
            used.add(number)
            place += len(given[number]["input_ids"])
        if rest := [token for token in ids[place:] if token != pad]:
            return f"row {row}: tokens {rest[:8]} behind {len(numbers)} whole documents"
        rows.append(numbers)
    return rows


def _begins(some, tokens):
    return some[: len(tokens)] == list(tokens) and len(some) >= len(tokens) > 0 or not len(tokens)


def _ends(given, numbers):
    """Where each document of a row begins, and where the last one ends."""
    return [0, *np.cumsum([len(given[number]["input_ids"]) for number in numbers]).tolist()]


def _logits(batch, ids):
    """The model's logits: it gets positions and mask of the batch, no cache and no labels."""
    told = {name: batch[name] for name in ("position_ids", "attention_mask") if name in batch}
    return network()(input_ids=ids, use_cache=False, **told).logits


def leak(batch, given, rows):
    """How far logits of any document move at most when another one of its row changes."""
    import torch

    worst = 0.0
    with torch.no_grad():
        before = _logits(batch, batch["input_ids"])
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
            moved = (_logits(batch, ids) - before).abs().amax(dim=-1)[keep]
            worst = max(worst, float(moved.nan_to_num(np.inf).max()) if len(moved) else 0.0)
    return worst


def unlike_alone(batch, given, rows):
    """How far logits of any document differ at most from those that it gets alone."""
    import torch

    worst = 0.0
    with torch.no_grad():
        packed = _logits(batch, batch["input_ids"])
    for row, numbers in enumerate(rows):
        ends = _ends(given, numbers)
        for place, number in enumerate(numbers):
            (alone,) = called([given[number]["input_ids"]], [0], use_cache=False)
            here = packed[row, ends[place] : ends[place + 1]].numpy()
            worst = max(worst, float(np.nan_to_num(abs(here - alone), nan=np.inf).max()))
    return worst


def fault(got, documents, row_length, pad):
    """What is wrong with a batch, in words: its form, rows, labels, positions, who sees whom."""
    from batchlab import batches

    if said := form(got, row_length):
        return said
    rows = standing(got, documents, pad)
    if isinstance(rows, str):
        return rows
    if said := _dealt(rows, [len(one["input_ids"]) for one in documents], row_length):
        return said
    want = batches.packed(documents, rows, row_length)
    for name in ("labels", "position_ids"):
        if said := _unlike(name, got[name].tolist(), want[name].tolist(), documents, rows):
            return said
    if int(got["input_ids"].max()) >= OTHER:
        return ""
    try:
        if (off := leak(got, documents, rows)) >= 1e-5:
            return f"logits move by {off:.1g} when another document of the row changes"
        if (off := unlike_alone(got, documents, rows)) >= 1e-4:
            return f"logits differ by {off:.1g} from those that a document gets alone"
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        return f"the model fails on it: {type(error).__name__}: {str(error)[:80]}"
    return ""


def _dealt(rows, lengths, row_length):
    """What is wrong with which documents stand in which rows."""
    flat = sorted(number for row in rows for number in row)
    if flat != [*range(len(lengths))]:
        return f"documents in each row: {rows}; each of the {len(lengths)} once is needed"
    if not all(rows):
        return f"documents in each row: {rows}; a row is empty"
    most = max(
        packing.pack(lengths, row_length, method=f"{one}_fit_decreasing").row_count
        for one in ("first", "best")
    )
    return f"{len(rows)} rows, first fit decreasing takes {most}" if len(rows) > most else ""


def _unlike(name, own, want, documents, rows):
    """Where labels or positions differ: by document, then in the tails; empty if nowhere."""
    parts = {}
    for row, numbers in enumerate(rows):
        start = 0
        for number in numbers:
            end = start + len(documents[number]["input_ids"])
            parts[number] = own[row][start:end], want[row][start:end]
            start = end
        parts[len(documents) + row] = own[row][start:], want[row][start:]
    for number in sorted(parts):
        came, right = parts[number]
        if came != right:
            where = "the tail" if number >= len(documents) else f"document {number}"
            return f"{name} of {where} are {_some(came)}, right is {_some(right)}"
    return ""


def _some(numbers):
    return f"{numbers}" if len(numbers) < 10 else f"{str(numbers[:9])[:-1]}, ...]"
