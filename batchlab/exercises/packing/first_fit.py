"""Whole documents into rows: first fit decreasing."""

import numpy as np

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.packing import nested, unnamed


def first_fit_decreasing(lengths, row_length):
    """Rows as lists of document numbers: longest first, each into the first row with room."""
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        length = int(lengths[number])
        if length > row_length:
            raise ValueError(f"a document of {length} tokens, a row of {row_length} slots")
        for row, left in enumerate(room):
            if left >= length:
                break
        else:
            row = len(rows)
            rows.append([])
            room.append(row_length)
        rows[row].append(number)
        room[row] -= length
    return rows


right = first_fit_decreasing


def by_lengths(rows, lengths):
    """The lengths in each row, sorted: the order of rows is free, and equal lengths are alike."""
    return sorted(sorted(int(lengths[number]) for number in row) for row in rows)


def fault(got, lengths, row_length):
    """What is wrong with rows, in words."""
    rows, every = nested(got), list(range(len(lengths)))
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and all(type(number) is int for number in row) for row in rows
    ):
        return f"{plain.shown(got)}; a list of lists of document numbers is needed"
    if not all(rows):
        return f"a row without a document in {plain.shown(rows)}"
    if sorted(number for row in rows for number in row) != every:
        return f"{plain.shown(rows)}; each of the numbers 0 to {len(every) - 1} once is needed"
    found, want = by_lengths(rows, lengths), by_lengths(right(lengths, row_length), lengths)
    for row in found:
        if sum(row) > row_length:
            return f"a row of lengths {row}: {sum(row)} tokens"
    return "" if found == want else f"rows of lengths {found}, right is {want}"


def explain(got, lengths, row_length):
    """The usual cause of numbers that are no partition, or of other rows."""
    flat = sorted(number for row in nested(got) for number in row)
    if flat and flat == sorted(int(one) for one in lengths):
        return LENGTHS
    if flat and flat == list(range(1, len(lengths) + 1)):
        return "numbers are counted from 0"
    if set(flat) < set(range(len(lengths))) and len(flat) == len(lengths):
        return INDEX
    if len(flat) > len(lengths):
        return "a document went into several rows: the first with room is enough (`break`)"
    return "every open row counts, the oldest first; it takes what its room still holds"


def asked(lengths, row_length):
    some = lengths.tolist() if isinstance(lengths, np.ndarray) else lengths
    said = f"{some}" if len(some) < 20 else f"{len(some)} documents"
    kind = f", given as {lengths.dtype}" if isinstance(lengths, np.ndarray) else ""
    return f"first_fit_decreasing({said}, {row_length}){kind}"


def drawn(rng):
    """Few and many documents, lists and narrow arrays, some with a document that is too long."""
    for _ in range(10):
        some = rng.integers(1, 11, int(rng.integers(1, 30))).tolist()
        yield from [(some, 10), (some, 12), (some[::-1], 10)]
    for kind, row_length in ((np.int8, 127), (np.uint8, 250), (np.uint16, 65_000)):
        yield rng.integers(row_length // 9, row_length, 12).astype(kind), row_length
    yield rng.integers(1, 60, 120).tolist(), 100
    yield [1] * 150 + [90] * 100, 100
    yield [3_000_000_000, 2_500_000_001, 2_500_000_000, 2_000_000_000], 5_000_000_000
    yield from [([6], 10), ([10], 10), ([5] * 7, 10), ([9, 1, 10, 1], 10), ([11], 10)]
    yield [*rng.integers(1, 11, 8).tolist(), int(rng.integers(11, 60))], 10
    yield np.array([4, 14, 2, 12]), 10


LENGTHS = "the lengths were sorted, not their places: sorted(range(len(lengths)), key=...)"
INDEX = "two documents of equal length are still two: .index() finds the first one twice"
exercise = Exercise(
    first_fit_decreasing,
    points=3,
    asked=asked,
    fault=fault,
    explain=explain,
    misnamed=unnamed,
    drawn=drawn,
    hints=(
        "take the longest document first, and look at every open row, the oldest first",
        "keep the room that is left of each row; the first row whose room is at least the length "
        "takes it",
        "two loops: over the numbers, longest first, and inside it over the open rows, which stops "
        "at the first with room; a `for` may have an `else`",
    ),
    shown=[
        ([1, 5, 8, 2, 1, 7, 4], 10),
        ([10, 3, 10, 7], 10),
        (np.array([20_000, 18_000, 11_000, 9_000], dtype=np.int16), 32_000),
        ([3, 11, 2], 10),
    ],
    passed="Right: whole documents, each once, in few rows.",
)
SORTED, LOOK, FITS = (
    "for number in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):",
    "enumerate(room)",
    "left >= length",
)
START, LENGTH, END = (
    "    rows, room = [], []\n",
    "length = int(lengths[number])",
    "    return rows\n",
)
RAISE = (
    '            raise ValueError(f"a document of {length} tokens, a row of {row_length} slots")\n'
)
PUT, LESS = "rows[row].append(number)", "        room[row] -= length\n"
SILENT = "cut, dropped or packed in silence: raise ValueError, with its length in the text"
ALL_OPEN = (START, "    rows, room = [[] for _ in lengths], [row_length for _ in lengths]\n")
for _thought, *_changes in [
    (
        "in the order of the data: sort, longest first",
        (SORTED, "for number in range(len(lengths)):"),
    ),
    ("shortest first: the long documents find no gap any more", ("-int", "int")),
    ("next fit: look at every open row, not at the last only", (LOOK, "[*enumerate(room)][-1:]")),
    (
        "next fit, unsorted: sort, and look at every open row",
        (SORTED, "for number in range(len(lengths)):"),
        (LOOK, "[*enumerate(room)][-1:]"),
    ),
    ("the last row with room; asked is the first", (LOOK, "[*enumerate(room)][::-1]")),
    (
        "best fit: the fullest row with room; asked is the first",
        (LOOK, "sorted(enumerate(room), key=lambda one: one[1])"),
    ),
    (
        "worst fit: the emptiest row; asked is the first with room",
        (LOOK, "sorted(enumerate(room), key=lambda one: -one[1])"),
    ),
    ("a document that fills a row exactly fits, too", (FITS, "left > length")),
    ("it fits if the room left is at least its length", (FITS, "left + 1 >= length")),
    ("the room shrinks with each document", (LESS, "")),
    (
        "a sum left the range of the array's type: take int(...) before you add",
        (LENGTH, "length = lengths[number]"),
        (FITS, "left + length <= row_length"),
        ("room.append(row_length)", "room.append(0 * length)"),
        ("room[row] -= length", "room[row] += length"),
    ),
    (LENGTHS, (PUT, "rows[row].append(length)")),
    ("numbers are counted from 0", (PUT, "rows[row].append(number + 1)")),
    (
        "numbers are places in `lengths` as given, not in the sorted list",
        (START, "    lengths = sorted(lengths, reverse=True)\n" + START),
    ),
    (
        INDEX,
        (SORTED, "for length in sorted(map(int, lengths), reverse=True):"),
        (LENGTH, "number = [*lengths].index(length)"),
    ),
    (
        "the row of each document: asked are the documents of each row",
        (END, "    return [[n in r for r in rows].index(True) for n in range(len(lengths))]\n"),
    ),
    ("the rows alone are asked, without their room", (END, "    return rows, room\n")),
    ("a row opens when a document needs it: rows are left without one", ALL_OPEN),
    (
        "the rows are one and the same list: [[]] * n does not make n of them",
        (START, "    rows, room = [[]] * len(lengths), [row_length] * len(lengths)\n"),
        (END, "    return [row for row in rows if row]\n"),
    ),
    (
        "an array has no truth value: ask for its len()",
        (START, START + "    if not lengths:\n        return []\n"),
    ),
    (SILENT, (RAISE, "            pass\n")),
    (SILENT, (RAISE, "            length = row_length\n")),
    (SILENT, (RAISE, "            continue\n")),
    (
        "a document as long as a row fits: refuse longer ones only",
        ("length > row_length", "length >= row_length"),
    ),
    ("its length is asked in the text, not its number", ("of {length} tokens", "{number}")),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("a refusal without a number", "must stand in the text", (RAISE, RAISE.split("(")[0] + "\n")),
    (
        "rows are kept between calls (mutable default)",
        "remembers earlier calls",
        ("(lengths, row_length)", "(lengths, row_length, rows=[], room=[])"),
        (START, ""),
    ),
    ("sorts what it was given", "changed", (END, "    lengths.sort()\n" + END)),
    ("strikes out what is packed", "changed", (LESS, LESS + "        lengths[number] = 0\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake
def split(lengths, row_length):
    """every document lies in one row: it is never split"""
    rows, room = [[]], row_length
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        left = lengths[number]
        while left > 0:
            if room == 0:
                rows.append([])
                room = row_length
            rows[-1].append(number)
            part = min(left, room)
            left, room = left - part, room - part
    return rows


@exercise.style
def sums(lengths, row_length):
    """equal lengths the other way round, sums in place of room"""
    lengths = [int(length) for length in lengths]
    if max(lengths, default=0) > row_length:
        raise ValueError(f"{max(lengths):,} tokens do not fit")
    rows = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i), reverse=True):
        for row in rows:
            if sum(lengths[j] for j in row) + lengths[i] <= row_length:
                row.append(i)
                break
        else:
            rows.append([i])
    return rows


@exercise.style
def arrays(lengths, row_length):
    """NumPy"""
    lengths = np.asarray(lengths, dtype=np.int64)
    if (lengths > row_length).any():
        raise ValueError(f"too long: {lengths[lengths > row_length].tolist()}")
    rows, used = [], np.zeros(len(lengths), dtype=np.int64)
    for i in np.argsort(lengths)[::-1]:
        r = int(np.argmax(used + lengths[i] <= row_length))
        if r == len(rows):
            rows.append(())
        rows[r] += (i,)
        used[r] += lengths[i]
    return tuple(np.array(row) for row in rows)
