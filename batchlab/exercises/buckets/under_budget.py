"""Under a budget: rows x longest of each batch is at most `slots`."""

import numpy as np

from batchlab.exercises import Exercise


def under_budget(lengths, order, slots):
    """Batches cut from `order`, in order: rows x longest of each is at most `slots`."""
    batches, longest = [], 0
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"document {number} alone takes {lengths[number]} of {slots} slots")
        longest = max(longest, lengths[number])
        if batches and (len(batches[-1]) + 1) * longest <= slots:
            batches[-1].append(number)
        else:
            batches.append([number])
            longest = lengths[number]
    return batches


def drawn(rng):
    """Parts of documents in any order; a budget that a document fills; one too long; many."""
    for _ in range(25):
        some = rng.integers(1, 20, int(rng.integers(1, 30))).tolist()
        order = rng.permutation(len(some))[: rng.integers(1, 30)].tolist()
        slots = int(rng.integers(19, 300))
        yield some, order, slots
        yield some, order[::-1], slots
        yield some, order, 19
        place = int(rng.integers(len(order)))
        yield [slots + 1 if n == order[place] else one for n, one in enumerate(some)], order, slots
    yield [3, 4], [], 12
    yield [1 + n * n % 3 for n in range(2500)], list(range(2500)), 4000
    many = [int(10 ** (n * 7919 % 9001 / 1000)) for n in range(700)]
    yield many, list(range(699, -1, -1)), 4 * 10**9


def asked(lengths, order, slots):
    some = [lengths[n] for n in order]
    said = f"{some}, in this order," if len(some) < 20 else f"{len(some):,} documents"
    return f"batches of {said} under {slots:,} slots"


exercise = Exercise(
    under_budget,
    points=2,
    hints=(
        "keep the longest of the open batch; before adding, ask: does it still fit?",
        "(rows + 1) x longest, newcomer included, within slots?",
        "if not, the newcomer opens a new batch, and the longest is its own length again",
    ),
    asked=asked,
    mentions=lambda lengths, order, slots: tuple(lengths[n] for n in order if lengths[n] > slots)[
        :1
    ],
    shown=[
        ([9, 5, 2, 2, 6, 1], [0, 1, 2, 3, 4, 5], 10),
        ([2, 2, 7, 8, 1], [4, 0, 1, 2, 3], 16),
        ([1, 6, 1, 1, 1], [0, 1, 2, 3, 4], 18),
        ([4, 9, 1], [0, 1, 2], 9),
        ([9, 11, 3, 2, 12, 5], [4, 2, 3, 5], 12),
        ([3, 40, 2], [2, 0], 10),
        ([41, 3, 3], [0, 1, 2], 30),
        ([3, 3, 41], [0, 1, 2], 30),
        ([5, 2], [], 9),
    ],
    drawn=drawn,
    passed="Right: no rectangle takes more than the budget, and none is closed too early.",
)
FITS, CAN = "(len(batches[-1]) + 1) * longest <= slots", "        if lengths[number] > slots:\n"
WIDEST, END = "longest = max(longest, lengths[number])", "    return batches"
NEVER = "a document longer than the budget can never fit: refuse it, with its length"
for _thought, _says, *_changes in [
    ("closed one document too early: a full rectangle fits", "", (FITS, FITS.replace("<=", "<"))),
    (
        "rows x the newcomer: the longest row decides the width",
        "",
        (FITS, "(len(batches[-1]) + 1) * lengths[number] <= slots"),
    ),
    (
        "the width of the batch before is kept: start anew",
        "",
        ("            longest = lengths[number]\n", ""),
    ),
    (
        "the newcomer is a row, too: rows + 1",
        "",
        (FITS, "len(batches[-1]) * longest <= slots"),
    ),
    (
        "an empty order gives no batch, not an empty one",
        "",
        (END, "    return batches or [[]]"),
    ),
    ("the last batch is lost", "", (END, "    return batches[:-1]")),
    (
        "an empty batch at the start",
        "",
        ("batches, longest = [], 0", "batches, longest = [[]], 0"),
        ("if batches and ", "if "),
        (FITS, FITS + " and batches[-1]"),
    ),
    (
        "these are lengths: return document numbers",
        "",
        ("batches[-1].append(number)", "batches[-1].append(lengths[number])"),
        ("batches.append([number])", "batches.append([lengths[number]])"),
    ),
    (
        "these are places in `order`: return the numbers that stand there",
        "",
        (
            "    for number in order:",
            "    lengths = [lengths[n] for n in order]\n    for number in range(len(order)):",
        ),
    ),
    (
        "sorted first: cut `order` as it comes",
        "",
        ("for number in order:", "for number in sorted(order, key=lambda n: lengths[n]):"),
    ),
    (
        "cut in the order of the numbers: go through `order`",
        "",
        ("for number in order:", "for number in range(len(lengths)):"),
    ),
    (
        "neither the first nor the last row decides the width: the longest does",
        "",
        (
            WIDEST,
            "first = batches[-1][0] if batches else number\n"
            "        longest = max(lengths[first], lengths[number])",
        ),
    ),
    (
        "the newcomer may be the longest: its width counts, too",
        "",
        (WIDEST, "newcomer = lengths[number]"),
        (
            "            batches[-1].append(number)\n",
            "            batches[-1].append(number)\n            longest = max(longest, newcomer)\n",
        ),
    ),
    (
        "a document of exactly the budget is a batch of one row: at most, not less than",
        "",
        (CAN, "        if lengths[number] >= slots:\n"),
    ),
    (
        "a document outside `order` is refused: nobody asks for it",
        "",
        (
            "    for number",
            "    if max(lengths) > slots:\n        raise ValueError(f'{max(lengths)} of {slots}')\n    for number",
        ),
    ),
    (
        "all documents: cut only those that `order` names",
        "",
        (
            "for number in order:",
            "for number in [*order, *(n for n in range(len(lengths)) if n not in order)]:",
        ),
    ),
    (NEVER, "", (CAN, "        if False:\n")),
    (
        "only the first document is looked at: one too long may stand anywhere",
        "",
        (CAN, "        if not batches and lengths[number] > slots:\n"),
    ),
    (
        "what is too long is left out in silence: refuse it, with its length",
        "",
        (
            f'{CAN}            raise ValueError(f"document {{number}} alone takes {{lengths[number]}} of {{slots}} slots")\n',
            CAN + "            continue\n",
        ),
    ),
    (
        "names the number, not the length",
        "without 41",
        ("takes {lengths[number]} of", "is too long for"),
    ),
    (
        "empties the order that it was given",
        "changed",
        ("    for number in order:\n", "    while order:\n        number = order.pop(0)\n"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def real_tokens(lengths, order, slots):
    """a budget on real tokens: padding takes slots too"""
    batches, tokens = [], 0
    for number in order:
        if batches and tokens + lengths[number] <= slots:
            batches[-1].append(number)
            tokens += lengths[number]
        else:
            batches.append([number])
            tokens = lengths[number]
    return batches


@exercise.mistake
def too_late(lengths, order, slots):
    """closed one document too late: look before you add"""
    batches, batch = [], []
    for number in order:
        batch.append(number)
        if len(batch) * max(lengths[n] for n in batch) >= slots:
            batches.append(batch)
            batch = []
    return batches + [batch] if batch else batches


@exercise.mistake
def newcomer_lost(lengths, order, slots):
    """the document that closes a batch is lost: it opens the next"""
    batches, batch = [], []
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"{lengths[number]} tokens do not fit into {slots}")
        if batch and (len(batch) + 1) * max(lengths[n] for n in batch + [number]) > slots:
            batches.append(batch)
            batch = []
        else:
            batch.append(number)
    return batches + [batch] if batch else batches


@exercise.mistake
def first_fit(lengths, order, slots):
    """a batch that is closed stays closed: `order` goes on"""
    made = []
    for n in order:
        if lengths[n] > slots:
            raise ValueError(str(lengths[n]))
        for b in made:
            if (len(b) + 1) * max(lengths[k] for k in [*b, n]) <= slots:
                b.append(n)
                break
        else:
            made.append([n])
    return made


@exercise.mistake(says="an assertion is no ValueError")
def asserts(lengths, order, slots):
    """an assertion is no ValueError"""
    assert all(lengths[n] <= slots for n in order), max(lengths[n] for n in order)
    return under_budget(lengths, order, slots)


@exercise.style
def checks_first(lengths, order, slots):
    """checks first, then looks back"""
    lengths, order = np.asarray(lengths), np.asarray(order, dtype=int)
    if not len(order):
        return []
    if lengths[order].max() > slots:
        raise ValueError(f"longest is {lengths[order].max()}")
    made, start = [], 0
    for end in range(1, len(order) + 1):
        if lengths[order[start:end]].max() * (end - start) > slots:
            made.append(order[start : end - 1].tolist())
            start = end - 1
    return [*made, order[start:].tolist()]


@exercise.style
def looked_up_anew(lengths, order, slots):
    """widest row looked up anew, as arrays"""
    batches, batch = [], []
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"{lengths[number]} tokens do not fit into {slots}")
        if batch and max(lengths[n] for n in batch + [number]) * (len(batch) + 1) > slots:
            batches.append(batch)
            batch = []
        batch = batch + [number]
    return [np.array(one) for one in [*batches, batch] if one]


@exercise.style
def tuples(lengths, order, slots):
    """tuples, NumPy's own numbers"""
    found, widest = [], np.int64(0)
    for number in np.asarray(order, dtype=int):
        length = np.asarray(lengths)[number]
        if length > slots:
            raise ValueError(f"a document of {length:,} tokens is longer than {slots:,} slots")
        widest = np.maximum(widest, length)
        if not found or (len(found[-1]) + 1) * widest > slots:
            found.append(())
            widest = length
        found[-1] = (*found[-1], number)
    return found
