"""Answers to 04_packing that look right and must be refused, and right ones written otherwise."""

# ruff: noqa: E501  (answers stand as their students wrote them)

SLOW = True  # minutes: `make slow` tries this bank

FIT = """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if lengths[number] > row_length:
            raise ValueError(f"a document of {lengths[number]} tokens")
        fits = [r for r in range(len(rows)) if room[r] >= lengths[number]]
        if not fits:
            fits = [len(rows)]
            rows.append([])
            room.append(row_length)
        row = fits[0]
        rows[row].append(number)
        room[row] -= lengths[number]
    return rows
"""

ROW = """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    ids += [0] * tail
    positions += range(tail)
    labels += [-100] * tail
    if tail:
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
"""

COLLATE = """
def collate(documents, row_length, pad):
    lengths = [len(one["input_ids"]) for one in documents]
    if max(lengths) > row_length:
        raise ValueError(f"{max(lengths)} tokens, a row has {row_length}")
    rows = packing.pack(lengths, row_length).rows
    ids, labels, positions = [], [], []
    for row in rows:
        i, y, p = [], [], []
        for number in row:
            tokens, own = documents[number]["input_ids"], documents[number]["labels"]
            i += tokens
            y += [-100] + own[1:]
            p += range(len(tokens))
        tail = row_length - len(i)
        ids.append(i + [pad] * tail)
        labels.append(y + [-100] * tail)
        positions.append(p + list(range(tail)))
    batch = {"input_ids": ids, "labels": labels, "position_ids": positions}
    return {name: torch.tensor(rows) for name, rows in batch.items()}
"""
BROKEN = """
def collate(documents, row_length, pad):
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
"""


def changed(code, *changes):
    """The right answer with some lines changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def fit(*changes):
    return changed(FIT, *changes)


def row(*changes):
    return changed(ROW, *changes)


def collate(*changes):
    return changed(COLLATE, *changes)


def behind(result):
    return f"def documents_behind(rows, row_length, fill, mean_length):\n    return {result}"


SORTED = "sorted(range(len(lengths)), key=lambda i: -lengths[i])"

MASK = """
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slot = np.arange(len(segment))
    return (segment[:, None] == segment) & (slot[:, None] >= slot)
"""
WINDOW = changed(MASK, (">= slot)", ">= slot) & (slot[:, None] - slot < 512)"))
TWINS = changed(
    MASK,
    (
        "    slot = ",
        "    size = np.bincount(segment)[segment]\n    segment = np.where(size > 1, -size, segment)\n    slot = ",
    ),
)


def tested(part):
    """The right test, of a part of the scores."""
    return f"""
def isolation_test(logits):
    texts = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    before = logits(texts)
    for changed in range(3):
        others = [[t + 20 for t in text] if i == changed else text for i, text in enumerate(texts)]
        after = logits(others)
        for i in range(3):
            if i != changed:
                assert abs(after[i] - before[i]){part}.max() < 1e-5
"""


WRONG = {
    "first-fit": {
        "rows end at 65,536 slots": (
            fit(
                (
                    "    rows, room = [], []\n",
                    "    rows, room, row_length = [], [], min(row_length, 65_536)\n",
                )
            ),
            "documents [70000",
        ),
        "only the first 400 rows are looked at": (
            fit(("for r in range(len(rows)) if", "for r in range(len(rows))[:400] if")),
            "behind 1,099 others",
        ),
        "rows are kept by the lengths alone": (
            "kept = {}\n"
            + fit(
                (
                    "    rows, room = [], []\n",
                    "    rows, room, key = [], [], tuple(map(int, lengths))\n",
                ),
                (
                    "    return rows\n",
                    "    if key and max(key) <= row_length:\n        rows = kept.setdefault(key, rows)\n    return [[*one] for one in rows]\n",
                ),
            ),
            "earlier call",
        ),
        "a too long document alone is packed": (
            fit(("> row_length:", "> row_length and len(lengths) > 1:")),
            "a document of 11 tokens in [11]",
        ),
        "half a row never shares one": (
            fit(
                (
                    "room[r] >= lengths[number]]",
                    "room[r] >= lengths[number] and 2 * lengths[number] != row_length]",
                )
            ),
            "fills a row exactly fits",
        ),
        "no sort": (fit((SORTED, "range(len(lengths))")), "order of the data"),
        "shortest first": (fit(("-lengths[i]", "lengths[i]")), "shortest first"),
        "next fit: only the last row": (
            fit(("for r in range(len(rows)) if", "for r in range(len(rows))[-1:] if")),
            "next fit",
        ),
        "next fit, unsorted": (
            fit(
                (SORTED, "range(len(lengths))"),
                ("for r in range(len(rows)) if", "for r in range(len(rows))[-1:] if"),
            ),
            "next fit, unsorted",
        ),
        "best fit": (
            fit(("fits[0]", "min(fits, key=lambda r: room[r] if r < len(room) else 0)")),
            "best fit",
        ),
        "worst fit": (fit(("fits[0]", "max(fits, key=lambda r: room[r])")), "worst fit"),
        "one slot too many": (
            fit(("room[r] >= lengths[number]", "room[r] + 1 >= lengths[number]")),
            "no row overflows",
        ),
        "an exact fit is refused": (
            fit(("room[r] >= lengths[number]", "room[r] > lengths[number]")),
            "fills a row exactly",
        ),
        "a document is split over two rows": (
            """
def first_fit_decreasing(lengths, row_length):
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
""",
            "split",
        ),
        "lengths instead of numbers": (
            """
def first_fit_decreasing(lengths, row_length):
    rows = []
    for length in sorted(lengths, reverse=True):
        for row in rows:
            if sum(row) + length <= row_length:
                row.append(length)
                break
        else:
            rows.append([length])
    return rows
""",
            "not lengths",
        ),
        "the row of each document": (
            "def first_fit_decreasing(lengths, row_length):\n    return [1, 0, 2, 2, 0, 0, 1]",
            "lists of document numbers",
        ),
        "numbers of the sorted list": (
            """
def first_fit_decreasing(lengths, row_length):
    rows = []
    lengths = sorted(lengths, reverse=True)
    for i, length in enumerate(lengths):
        if length > row_length:
            raise ValueError(f"{length} tokens")
        for row in rows:
            if sum(lengths[j] for j in row) + length <= row_length:
                row.append(i)
                break
        else:
            rows.append([i])
    return rows
""",
            "not in the sorted list",
        ),
        "the rows and their room": (
            fit(("return rows", "return rows, [room]")),
            "lists of document numbers",
        ),
        "the refusal names no length": (
            fit(('f"a document of {lengths[number]} tokens"', '"too long"')),
            "its length in the text",
        ),
        "a long document is put into a row of its own": (
            fit(("lengths[number] > row_length", "lengths[number] < 0")),
            "refuse it, never cut it",
        ),
        "a document that fills a row alone is refused": (
            fit(("lengths[number] > row_length", "lengths[number] >= row_length")),
            "10",
        ),
        "asks whether the lengths are empty, as only a list can": (
            fit(
                (
                    "    rows, room = [], []\n",
                    "    rows, room = [], []\n    if not lengths:\n        return []\n",
                )
            ),
            "NumPy array",
        ),
        "a document cut to the row": (
            fit(
                (
                    '            raise ValueError(f"a document of {lengths[number]} tokens")',
                    "            lengths = [min(n, row_length) for n in lengths]",
                )
            ),
            "never cut it",
        ),
        "sorts what it was given": (
            fit(
                ("    rows, room = [], []\n", "    rows, room = [], []\n    given = [*lengths]\n"),
                ("    return rows", "    lengths.sort()\n    return rows"),
            ),
            "changed",
        ),
        "the caller's list is used up": (
            """
def first_fit_decreasing(lengths, row_length):
    if max(lengths) > row_length:
        raise ValueError(f"{max(lengths)} tokens are too many")
    rows, room = [], []
    for _ in range(len(lengths)):
        n = max(lengths)
        i = list(lengths).index(n)
        lengths[i] = -1
        for r in range(len(rows)):
            if room[r] >= n:
                rows[r].append(i); room[r] -= n
                break
        else:
            rows.append([i]); room.append(row_length - n)
    return rows
""",
            "an assignment such as x[i] = ... writes into the list itself",
        ),
        "refusal names the document number, not the length": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for i, n in enumerate(lengths):
        if n > row_length:
            raise ValueError(f"document {i} does not fit {row_length} slots")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "refuse it, never cut it: raise ValueError, with its length",
        ),
        "refuses a row's exact length": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n >= row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "ValueError: a document of 10 tokens does not fit a r",
        ),
        "library default, best fit": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    return [row.tolist() for row in packing.pack(lengths, row_length).rows]
""",
            "best fit: the fullest row with room",
        ),
        "long documents are left out": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            pass
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        if lengths[i] > row_length:
            continue
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "refuse it, never cut it: raise ValueError, with its length",
        ),
        "last row that fits": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in reversed(list(enumerate(room))):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "the last row with room",
        ),
        "starts with an empty row: [] gives [[]]": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [[]], [row_length]
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "a row opens when a document needs it",
        ),
        "sums in the dtype of the array: int8 overflows": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    sizes = np.asarray(lengths)
    if (sizes > row_length).any():
        raise ValueError(f"{sizes.max()} tokens, rows of {row_length}")
    rows, used = [], np.zeros(len(sizes), dtype=sizes.dtype)
    for i in np.argsort(sizes)[::-1]:
        r = int(np.argmax(used + sizes[i] <= row_length))
        if r == len(rows):
            rows.append([])
        rows[r].append(i)
        used[r] += sizes[i]
    return rows
""",
            "a sum left the range of the array's type: take int(...)",
        ),
        "used summed in the dtype of the array": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    rows, used = [], []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i], reverse=True):
        n = lengths[i]
        if n > row_length:
            raise ValueError(f"{n} tokens, rows of {row_length}")
        for r in range(len(rows)):
            if used[r] + n <= row_length:
                rows[r].append(i); used[r] = used[r] + n
                break
        else:
            rows.append([i]); used.append(n)
    return rows
""",
            "a sum left the range of the array's type: take int(...)",
        ),
        "equal lengths: index() finds the first twice": (
            """
def first_fit_decreasing(lengths, row_length):
    lengths = list(lengths)
    rows, room = [], []
    for n in sorted(lengths, reverse=True):
        if n > row_length:
            raise ValueError(f"{n}")
        i = lengths.index(n)
        for r in range(len(rows)):
            if room[r] >= n:
                rows[r].append(i); room[r] -= n
                break
        else:
            rows.append([i]); room.append(row_length - n)
    return rows
""",
            "two documents of equal length are still two",
        ),
        "shares state: rows kept between calls": (
            """
import numpy as np
import torch
from batchlab import packing, batches
rows, room = [], []
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
            "the function remembers earlier calls: a default value, a",
        ),
        "numbers counted from 1": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return [[i + 1 for i in row] for row in rows]
""",
            "numbers are counted from 0",
        ),
        "rows hold lengths": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return [[int(lengths[i]) for i in row] for row in rows]
""",
            "the lengths were sorted, not their places:",
        ),
        "a full row's worth is refused (>= for >)": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length >= row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "ValueError: a document of 10 tokens is longer than a",
        ),
        "nearly full rows are closed (2 % of the slots)": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length and left > row_length // 50:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "every open row counts, however full, old or many documents",
        ),
        "only the 100 rows opened last are looked at": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length and row >= len(room) - 100:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "every open row counts, however full, old or many documents",
        ),
        "rows are kept between calls (mutable default)": (
            """
def first_fit_decreasing(lengths, row_length, rows=[], room=[]):
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "the function remembers earlier calls: a default value, a",
        ),
        "rows share one list ([[]] * n)": (
            """
def first_fit_decreasing(lengths, row_length):
    if max(lengths) > row_length:
        raise ValueError(f"{max(lengths)} tokens do not fit")
    rows, room = [[]] * len(lengths), [row_length] * len(lengths)
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next(r for r in range(len(room)) if room[r] >= lengths[i])
        rows[row].append(i)
        room[row] -= lengths[i]
    return [row for row in rows if row]
""",
            "the rows are one and the same list",
        ),
        "rows that were never used are returned empty": (
            """
def first_fit_decreasing(lengths, row_length):
    if max(lengths) > row_length:
        raise ValueError(f"{max(lengths)} tokens do not fit")
    rows, room = [[] for _ in lengths], [row_length] * len(lengths)
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next(r for r in range(len(room)) if room[r] >= lengths[i])
        rows[row].append(i)
        room[row] -= lengths[i]
    return rows
""",
            "a row opens when a document needs it",
        ),
        "no documents at all end in an error of max()": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    if max(lengths) > row_length:
        raise ValueError(f'{max(lengths)} tokens do not fit')
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "there may be nothing to choose from: ask for it first",
        ),
        "numbers by lengths.index: equal lengths are one document": (
            """
def first_fit_decreasing(lengths, row_length):
    lengths = list(lengths)
    rows, room = [], []
    for length in sorted(lengths, reverse=True):
        if length > row_length:
            raise ValueError(f"{length} tokens do not fit")
        for row in range(len(room)):
            if room[row] >= length:
                break
        else:
            rows.append([])
            room.append(row_length)
            row = len(rows) - 1
        rows[row].append(lengths.index(length))
        room[row] -= length
    return rows
""",
            "two documents of equal length are still two",
        ),
        "used lengths are struck out in the array that was given": (
            """
import numpy as np

def first_fit_decreasing(lengths, row_length):
    lengths = np.asarray(lengths)
    if lengths.max() > row_length:
        raise ValueError(f"{lengths.max()} tokens do not fit")
    rows, room = [], []
    while lengths.max() > 0:
        i = int(lengths.argmax())
        for row in range(len(room)):
            if room[row] >= lengths[i]:
                break
        else:
            rows.append([])
            room.append(row_length)
            row = len(rows) - 1
        rows[row].append(i)
        room[row] -= lengths[i]
        lengths[i] = 0
    return rows
""",
            "writes into the array itself",
        ),
        "counted from 1": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in enumerate(room):
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return [[i + 1 for i in row] for row in rows]
""",
            "numbers are counted from 0",
        ),
        "last fit: the last row with room": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in reversed(list(enumerate(room))):
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "the last row with room",
        ),
        "next fit decreasing": (
            """
def first_fit_decreasing(lengths, row_length):
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        length = lengths[number]
        if length > row_length:
            raise ValueError(f"a document of {length} tokens is longer than a row of {row_length}")
        for row, left in list(enumerate(room))[-1:]:
            if left >= length:
                rows[row].append(number)
                room[row] -= length
                break
        else:
            rows.append([number])
            room.append(row_length - length)
    return rows
""",
            "next fit: look at every open row, not at the last only",
        ),
    },
    "row-found": {
        "a row that cuts": ("def row_found():\n    return 3072", "it cuts"),
        "the shortest that cuts nothing": ("def row_found():\n    return 3328", "more than 1.05"),
        "just too short": ("def row_found():\n    return 4608", "more than 1.05"),
        "a round number": ("def row_found():\n    return 4096", "more than 1.05"),
        "longer, and yet above the bound": ("def row_found():\n    return 5120", "more than 1.05"),
        "longer than needed": ("def row_found():\n    return 5376", "a shorter row does too"),
        "not on the slider": ("def row_found():\n    return 5000", "on the slider"),
        "with its method": ('def row_found():\n    return 4864, "next_fit"', "one number"),
    },
    "lay-out": {
        "positions of eight bits": (
            row(
                (
                    "positions += range(len(tokens))",
                    "positions += [n % 256 for n in range(len(tokens))]",
                )
            ),
            "smaller cases are right",
        ),
        "labels by way of float32": (
            row(("    return {", "    labels = np.float32(labels).astype(int)\n    return {")),
            "larger tokens lose digits",
        ),
        "no leading 0": (
            row(("labels, borders = [], [], [], [0]", "labels, borders = [], [], [], []")),
            "0 before them",
        ),
        "no border for the tail": (
            row(("    if tail:\n        borders.append(row_length)\n", "")),
            "the tail is a segment too",
        ),
        "lengths, not sums": (
            row(
                ("borders.append(len(ids))", "borders.append(len(tokens))"),
                ("borders.append(row_length)", "borders.append(tail)"),
            ),
            "running sum",
        ),
        "positions run on": (
            row(("    positions += range(tail)\n", "    positions = list(range(row_length))\n")),
            "positions run on",
        ),
        "the tail counts on": (
            row(("positions += range(tail)", "positions += range(len(documents[-1]), 99)[:tail]")),
            "the tail counts on",
        ),
        "the tail has position 0": (
            row(("positions += range(tail)", "positions += [0] * tail")),
            "each 0 begins a segment",
        ),
        "no tail at all": (
            row(("    tail = row_length - len(ids)\n", "    tail = 0\n")),
            "the tail is missing",
        ),
        "labels cross": (row(("[-100] + tokens[1:]", "tokens")), "a label crosses"),
        "only the first document's first label": (
            row(("[-100] + tokens[1:]", "[tokens[0] if labels else -100] + tokens[1:]")),
            "a label crosses",
        ),
        "shifted labels": (row(("[-100] + tokens[1:]", "tokens[1:] + [-100]")), "shifted"),
        "only the borders between documents": (
            row(("[-100] + tokens[1:]", "[-100 if labels else tokens[0]] + tokens[1:]")),
            "first document's first token",
        ),
        "each document's last label": (
            row(("[-100] + tokens[1:]", "tokens[:-1] + [-100]")),
            "not its last",
        ),
        "labels written into the documents": (
            row(("labels += [-100] + tokens[1:]", "tokens[0] = -100\n        labels += tokens")),
            "changed",
        ),
        "-100 wherever the token is 0": (
            row(
                (
                    "    return {",
                    "    labels = [y if t else -100 for t, y in zip(ids, labels)]\n    return {",
                )
            ),
            "by its place",
        ),
        "a tail of -100 in input_ids": (
            row(("ids += [0] * tail", "ids += [-100] * tail")),
            "-100 is a label",
        ),
        "input_ids carry the labels": (
            row(('{"input_ids": ids', '{"input_ids": list(labels)')),
            "labels written into",
        ),
        "an empty segment behind a full row": (
            row(
                (
                    "    if tail:\n        borders.append(row_length)\n",
                    "    borders.append(row_length)\n",
                )
            ),
            "an empty segment",
        ),
        "labels[-0:] of a full row": (
            row(
                (
                    "labels += [-100] * tail",
                    "labels += [0] * tail\n    labels[-tail:] = [-100] * len(labels[-tail:])",
                ),
            ),
            "may have no tail",
        ),
        "the tail is trained": (
            row(("labels += [-100] * tail", "labels += [0] * tail")),
            "trained",
        ),
        "appends the tail to the caller's list": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    size = row_length - sum(map(len, documents))
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = size
    if tail:
        documents.append([0] * tail)
        ids += documents[-1]
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "a method such as .append() or .extend(), or `+=`, adds to",
        ),
        "labels written into the caller's documents": (
            """
def lay_out(documents, row_length):
    ids = [t for d in documents for t in d]
    at = [i for d in documents for i in range(len(d))]
    borders = [0]
    for d in documents:
        borders.append(borders[-1] + len(d))
        d[0] = -100
    labels = [t for d in documents for t in d]
    tail = row_length - len(ids)
    if tail:
        borders.append(row_length)
    return {"input_ids": ids + [0] * tail, "position_ids": at + list(range(tail)), "labels": labels + [-100] * tail, "cu_seqlens": borders}
""",
            "an assignment such as x[i] = ... writes into the list itself",
        ),
        "ids grow in the first document": (
            """
def lay_out(documents, row_length):
    ids = documents[0]
    at, labels, borders = list(range(len(ids))), [-100] + ids[1:], [0, len(ids)]
    for d in documents[1:]:
        ids += d
        at += range(len(d))
        labels += [-100] + d[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail; at += range(tail); labels += [-100] * tail; borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "a method such as .append() or .extend(), or `+=`, adds to",
        ),
        "only the first border: a third document runs on": (
            """
def lay_out(documents, row_length):
    first, *others = documents
    rest = [t for d in others for t in d]
    tail = row_length - len(first) - len(rest)
    borders = [0, len(first)] + ([len(first) + len(rest)] if rest else []) + ([row_length] if tail else [])
    return {"input_ids": first + rest + [0] * tail,
            "position_ids": [*range(len(first)), *range(len(rest)), *range(tail)],
            "labels": [-100, *first[1:]] + ([-100] + rest[1:] if rest else []) + [-100] * tail,
            "cu_seqlens": borders}
""",
            "only the first border",
        ),
        "first tokens masked by value": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids = [t for d in documents for t in d]
    tail = row_length - len(ids)
    firsts = {d[0] for d in documents}
    labels = [-100 if t in firsts else t for t in ids] + [-100] * tail
    at = [i for d in documents for i in range(len(d))] + list(range(tail))
    borders = np.cumsum([0] + [len(d) for d in documents] + ([tail] if tail else [])).tolist()
    return {"input_ids": ids + [0] * tail, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "know a first token by its place: its number may stand",
        ),
        "tail token is None": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [None] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "an array of object; numbers are needed",
        ),
        "tail token is a float NaN-free -100": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [-100] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "-100 is a label: the model has no token of that number",
        ),
        "the tail is a document: trained from its second slot": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] + [0] * (tail - 1)
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "the tail is trained from its second slot on",
        ),
        "tail positions all 0": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += [0] * tail
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "each 0 begins a segment: the tail counts 0, 1, ... too",
        ),
        "an empty tail is a segment": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if True:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "an empty segment: where no slot is left there is no tail",
        ),
        "cu_seqlens without the end": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "the tail is a segment too: the last number is the end of",
        ),
        "position tail counts on": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(at[-1] + 1, at[-1] + 1 + tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "the tail counts on from the last document: it restarts too",
        ),
        "a row of batch and slots: one dimension too many": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    wrap = lambda x: [x]
    return {"input_ids": wrap(ids), "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "one row, no batch of one",
        ),
        "labels as floats with NaN for -100": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    labels = [float('nan') if v == -100 else v for v in labels]
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "numbers of float64",
        ),
        "a document of one token is masked away, border lost": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        if len(text) > 1:
            borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
            "a document of one token is a segment, too",
        ),
        "first token known by its value: it loses its label wherever it comes again": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100 if t == tokens[0] else t for t in tokens]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "know a first token by its place: it may stand again in its",
        ),
        "a document's place by documents.index: equal documents share one": (
            """
def lay_out(documents, row_length):
    ids = [0] * row_length
    positions, labels = list(range(row_length)), [-100] * row_length
    borders = [0]
    for tokens in documents:
        start = sum(len(d) for d in documents[:documents.index(tokens)])
        end = start + len(tokens)
        ids[start:end] = tokens
        positions[start:end] = range(len(tokens))
        labels[start + 1:end] = tokens[1:]
        borders.append(end)
    if borders[-1] < row_length:
        positions[borders[-1]:] = range(row_length - borders[-1])
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "equal documents have a place each",
        ),
        "a tail of one slot is no segment": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        if tail > 1:
            borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "the tail is a segment too: the last number is the end of",
        ),
        "the tail is several segments of two slots": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders += range(len(ids) - tail + 2, row_length, 2)
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "the tail is one segment",
        ),
        "float arrays (np.zeros)": (
            """
import numpy as np

def lay_out(documents, row_length):
    ids, positions, labels = np.zeros(row_length), np.zeros(row_length), np.full(row_length, -100.0)
    ends = np.cumsum([len(d) for d in documents])
    for tokens, end in zip(documents, ends):
        start = end - len(tokens)
        ids[start:end], positions[start:end] = tokens, np.arange(len(tokens))
        labels[start + 1:end] = tokens[1:]
    end = ends[-1]
    positions[end:] = np.arange(row_length - end)
    borders = [0, *ends] + ([row_length] if end < row_length else [])
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": np.array(borders, dtype=float)}
""",
            "numbers of float64",
        ),
        "labels are input_ids under another name": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    labels = ids
    for border in borders[:-1]:
        labels[border] = -100
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "labels written into the documents: input_ids keep their",
        ),
        "the borders are kept between calls (mutable default)": (
            """
def lay_out(documents, row_length, borders=[0]):
    ids, positions, labels = [], [], []
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "the function remembers earlier calls: a default value, a",
        ),
        "the last token of each document is not trained": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:-1] + [-100] * (len(tokens) > 1)
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "every token but the first is trained, the last one, too",
        ),
        "cu_seqlens of the documents only, row_length behind in any case": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if not tail:
        borders.append(row_length)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "an empty segment: where no slot is left there is no tail",
        ),
        "the tail holds -100": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [-100] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "-100 is a label: the model has no token of that number",
        ),
        "the tail's labels are lost by token 0": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    labels = [-100 if t == 0 else l for t, l in zip(ids, labels)]
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "a 0 inside a document is a token: know the tail by its",
        ),
        "only two documents are laid out": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents[:2]:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "two documents only: a row may hold any number",
        ),
        "a batch of one row (one dimension too many)": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": [ids], "position_ids": [positions], "labels": [labels], "cu_seqlens": [borders]}
""",
            "one row, no batch of one",
        ),
        "cu_seqlens under another key": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seq_lens": borders}
""",
            "keys ['input_ids', 'position_ids', 'labels', 'cu_s",
        ),
        "the four lists are kept and returned again (state between calls)": (
            """
kept = {}

def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    kept.setdefault(row_length, {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders})
    return kept[row_length]
""",
            "6 at [1], right is 0 (2 of 7 differ)",
        ),
        "one dict is returned at every call (aliasing between calls)": (
            """
row = {}

def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    row.update({"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders})
    return row
""",
            "the same list, array or tensor is handed out at every call:",
        ),
        "tokens are squeezed into 16 bits: 40,000 becomes negative": (
            """
import numpy as np

def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": np.asarray(ids).astype(np.int16), "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "16 bits hold no token above 65,535",
        ),
        "labels end where the tail's token begins: strips trailing zeros": (
            """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    last = row_length
    while last and ids[last - 1] == 0:
        last -= 1
    labels[last:] = [-100] * (row_length - last)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
            "the tail is known by its place: the last document may end",
        ),
    },
    "may-look": {
        "a window of 512 slots": (WINDOW, "smaller cases are right"),
        "segments of equal length are joined": (TWINS, "the second document sees the first"),
        "causal without documents": (
            """
def may_look(position_ids):
    return np.tri(len(position_ids), dtype=bool)
""",
            "the second document sees the first",
        ),
        "documents without causality": (
            """
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    return segment[:, None] == segment
""",
            "what comes after",
        ),
        "smaller positions of earlier slots": (
            """
def may_look(position_ids):
    p = np.asarray(position_ids)
    return (p[:, None] >= p) & np.tri(len(p), dtype=bool)
""",
            "do not tell documents apart",
        ),
        "a list compared with 0": (
            """
def may_look(position_ids):
    segment = np.cumsum(position_ids == 0)
    return (segment[:, None] == segment) & np.tri(len(position_ids), dtype=bool)
""",
            "of a list",
        ),
        "turned over": (
            """
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slot = np.arange(len(segment))
    return (segment[:, None] == segment) & (slot[:, None] <= slot)
""",
            "turned over",
        ),
        "positions compared": (
            """
def may_look(position_ids):
    p = np.asarray(position_ids)
    return p[:, None] >= p
""",
            "positions compared",
        ),
        "a border is where positions fall": (
            """
def may_look(position_ids):
    p = np.asarray(position_ids)
    segment = np.concatenate([[0], np.cumsum(np.diff(p) < 0)])
    slot = np.arange(len(p))
    return (segment[:, None] == segment) & (slot[:, None] >= slot)
""",
            "not only where positions fall",
        ),
        "two documents only": (
            """
def may_look(position_ids):
    p = list(position_ids)
    border = p.index(0, 1) if 0 in p[1:] else len(p)
    mask = np.tri(len(p), dtype=bool)
    mask[border:, :border] = False
    return mask
""",
            "only the first border",
        ),
        "numbers instead of truth values": (
            """
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    return np.tri(len(segment)) * (segment[:, None] == segment)
""",
            "asked was bool",
        ),
        "not at itself": (
            """
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slot = np.arange(len(segment))
    return (segment[:, None] == segment) & (slot[:, None] > slot)
""",
            "look at itself",
        ),
        "first token of a segment left out": (
            """
def may_look(position_ids):
    n = len(position_ids)
    return [[i - position_ids[i] < j <= i for j in range(n)] for i in range(n)]
""",
            "the first token of a segment is seen, too",
        ),
        "strictly earlier": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] > slots)
""",
            "a slot may look at itself",
        ),
        "borders where positions fall": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.r_[1, np.diff(position_ids) < 0])
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots)
""",
            "a border is where a 0 stands, not only where positions fall",
        ),
        "at most three segments": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.minimum(np.cumsum(np.asarray(position_ids) == 0), 3)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots)
""",
            "3 segments at most: every 0 begins one",
        ),
        "int8 instead of truth": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    mask = (segment[:, None] == segment) & (slots[:, None] >= slots)
    return mask.astype(np.int8)
""",
            "numbers of int8",
        ),
        "additive mask": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return np.where((segment[:, None] == segment) & (slots[:, None] >= slots), 0.0, -np.inf)
""",
            "numbers of float64",
        ),
        "counts segments in uint8: 256 documents wrap": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0, dtype=np.uint8)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots)
""",
            "segments counted in 8 bits: the 257th gets the number of",
        ),
        "window: at most 3 back": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots) & (slots[:, None] - slots < 3)
""",
            "back: a slot sees all of its segment",
        ),
        "at most 64 slots": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots) & (slots[:, None] < 64)
""",
            "only the first 64 slots look: a row has as many slots as",
        ),
        "positions zeroed in the caller's list": (
            """
def may_look(position_ids):
    n, segment = len(position_ids), 0
    for i in range(n):
        segment += position_ids[i] == 0
        position_ids[i] = segment
    return [[position_ids[i] == position_ids[j] and j <= i for j in range(n)] for i in range(n)]
""",
            "an assignment such as x[i] = ... writes into the list itself",
        ),
        "the last segment is the tail: sees nothing": (
            """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots) & (segment < max(segment.max(), 4))
""",
            "the last segment is one as any other, tail or not",
        ),
        "segments by parity: every second one is the same": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0) % 2
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool)
""",
            "segments by turns: the third is not the first",
        ),
        "off by one: a document's first token is not seen": (
            """
def may_look(position_ids):
    n = len(position_ids)
    return [[i == j or 0 <= i - j < position_ids[i] for j in range(n)] for i in range(n)]
""",
            "the first token of a segment is seen by those behind it",
        ),
        "later documents are seen, earlier are not": (
            """
def may_look(position_ids):
    n = len(position_ids)
    return [[i - j <= position_ids[i] for j in range(n)] for i in range(n)]
""",
            "later documents are seen",
        ),
        "whole numbers 0 and 1": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return 1 * (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool)
""",
            "numbers of int64",
        ),
        "an attention bias: 0 and minus infinity": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return np.where((segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool), 0.0, -np.inf)
""",
            "numbers of float64",
        ),
        "always 5 slots": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = 5
    return (segment[:5, None] == segment[None, :5]) & np.tri(n, dtype=bool)
""",
            "shape (5, 5), right is (9, 9)",
        ),
        "only the slot before and itself": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool) & ~np.tri(n, k=-2, dtype=bool)
""",
            "back: a slot sees all of its segment",
        ),
        "positions compared with the column's place": (
            """
import numpy as np

def may_look(position_ids):
    at = np.asarray(position_ids)
    place = np.arange(len(at))
    return (place[None, :] <= place[:, None]) & (place[:, None] - place[None, :] <= at[:, None] + 1)
""",
            "True at [3, 2], right is False (2 of 25 ",
        ),
        "segments numbered in 8 bits: the 257th is the first again": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0, dtype=np.uint8)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool)
""",
            "segments counted in 8 bits: the 257th gets the number of",
        ),
        "three segments at most": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.minimum(np.cumsum(np.asarray(position_ids) == 0), 4)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool)
""",
            "4 segments at most: every 0 begins one",
        ),
        "upper triangle by triu": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.triu(np.ones((n, n), dtype=bool))
""",
            "turned over: the row says who looks, the column at whom",
        ),
        "the last segment (taken for the tail) sees nothing": (
            """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool) & (segment != segment[-1])[:, None]
""",
            "the last segment is one as any other, tail or not",
        ),
        "the positions are numbered over in place": (
            """
import numpy as np

def may_look(position_ids):
    number = 0
    for i in range(len(position_ids)):
        number += position_ids[i] == 0
        position_ids[i] = number
    segment = np.asarray(position_ids)
    return np.equal.outer(segment, segment) & np.tri(len(segment), dtype=bool)
""",
            "an assignment such as x[i] = ... writes into the list itself",
        ),
    },
    "isolation-test": {
        "half of the scores": (tested("[:, :32]"), "score of one token"),
        "a relative tolerance": (
            tested("").replace(
                "abs(after[i] - before[i]).max() < 1e-5",
                "np.allclose(after[i], before[i], rtol=0.5, atol=1e-5)",
            ),
            "relative tolerance",
        ),
        "only the first token changes": (
            tested("").replace("[t + 20 for t in text]", "[text[0] + 20, *text[1:]]"),
            "too early",
        ),
        "changes the last, looks at the first": (
            """
def isolation_test(logits):
    before = logits([[5, 6, 7], [8, 9]])
    after = logits([[5, 6, 7], [18, 19]])
    assert abs(after[0] - before[0]).max() < 1e-5
""",
            "default cache",
        ),
        "two documents only": (
            """
def isolation_test(logits):
    before = logits([[5, 6, 7], [8, 9]])
    assert abs(logits([[15, 16, 17], [8, 9]])[1] - before[1]).max() < 1e-5
    assert abs(logits([[5, 6, 7], [18, 19]])[0] - before[0]).max() < 1e-5
""",
            "last border",
        ),
        "never looks at what lies before the change": (
            """
def isolation_test(logits):
    texts = [[5, 6, 7], [8, 9], [10, 11]]
    before = logits(texts)
    after = logits([[15, 16, 17], *texts[1:]])
    assert abs(after[1] - before[1]).max() < 1e-5
    assert abs(after[2] - before[2]).max() < 1e-5
""",
            "last border",
        ),
        "a tolerance that no leak exceeds": (
            """
def isolation_test(logits):
    texts = [[5, 6, 7], [8, 9], [10, 11, 12]]
    for i in range(3):
        after = logits([[t + 20 for t in x] if i == j else x for j, x in enumerate(texts)])
        for j, (a, b) in enumerate(zip(after, logits(texts))):
            assert i == j or abs(a - b).max() < 50
""",
            "got through",
        ),
        "shapes only": (
            """
def isolation_test(logits):
    assert [len(one) for one in logits([[5, 6, 7], [8, 9]])] == [3, 2]
""",
            "got through",
        ),
        "nothing may move, not even what was changed": (
            """
def isolation_test(logits):
    before = logits([[5, 6, 7], [8, 9]])
    after = logits([[15, 16, 17], [8, 9]])
    assert all(abs(a - b).max() < 1e-5 for a, b in zip(after, before))
""",
            "right implementation",
        ),
    },
    "documents-behind": {
        "a fill of 1 taken for one per cent": (
            behind("rows * row_length * (fill if fill < 1 else fill / 100) / mean_length"),
            "no per cent",
        ),
        "three digits": (behind("round(rows * row_length * fill / mean_length, 3)"), "3 digits"),
        "one document a row": (behind("rows"), "padded step"),
        "one row": (behind("row_length * fill / mean_length"), "of one row"),
        "slots": (behind("rows * row_length"), "slots, not documents"),
        "tokens": (behind("rows * row_length * fill"), "tokens, not documents"),
        "the fill forgotten": (behind("rows * row_length / mean_length"), "fill is forgotten"),
        "divided by the fill": (
            behind("rows * row_length / fill / mean_length"),
            "divided by the fill",
        ),
        "whole documents a row": (
            behind("rows * int(row_length * fill / mean_length)"),
            "rounded too early",
        ),
        "rounded down": (behind("int(rows * row_length * fill / mean_length)"), "rounded down"),
        "upside down": (behind("rows * mean_length / (row_length * fill)"), "upside down"),
    },
    "mend-collator": {
        "the fifth document of a row keeps its first label": (
            collate(
                ("y += [-100] + own[1:]", "y += ([-100] if len(y) < 16 else own[:1]) + own[1:]")
            ),
            "fifth document",
        ),
        "a too long document that trains nothing is dropped": (
            collate(
                (
                    "    lengths = [",
                    '    documents = [one for one in documents if len(one["labels"]) <= row_length or max(one["labels"]) >= 0]\n    lengths = [',
                )
            ),
            "none of them trained",
        ),
        "as it was": (BROKEN, "wherever the token is `pad`"),
        "only the two of labels mended": (
            changed(
                BROKEN,
                ('    batch["labels"][batch["input_ids"] == pad] = -100\n', ""),
                (
                    "            start = end\n",
                    '            batch["labels"][row, start] = -100\n            start = end\n',
                ),
            ),
            "positions run on",
        ),
        "a label crosses": (collate(("[-100] + own[1:]", "own")), "a label crosses"),
        "labels lost wherever the token is pad": (
            collate(
                (
                    "    return {name",
                    '    batch["labels"] = [\n'
                    "        [-100 if t == pad else y for t, y in zip(*pair)]\n"
                    "        for pair in zip(ids, labels)\n"
                    "    ]\n"
                    "    return {name",
                )
            ),
            "never learns to end",
        ),
        "the prompt is trained": (
            collate(("[-100] + own[1:]", "[-100] + tokens[1:]")),
            "the prompt is trained",
        ),
        "the tail is trained": (collate(("y + [-100] * tail", "y + [pad] * tail")), "the tail is"),
        "a mask of ones": (
            collate(
                (
                    "    return {name",
                    '    batch["attention_mask"] = [[1] * row_length for row in rows]\n'
                    "    return {name",
                )
            ),
            "one of ones or of the real slots has none",
        ),
        "a mask of the real tokens": (
            collate(
                (
                    "    return {name",
                    '    batch["attention_mask"] = [[int(t != pad) for t in i] for i in ids]\n'
                    "    return {name",
                )
            ),
            "one of ones or of the real slots has none",
        ),
        "positions run on": (
            collate(("p += range(len(tokens))", "p += range(len(p), len(p) + len(tokens))")),
            "position_ids of",
        ),
        "positions run on to the end": (
            collate(("p + list(range(tail))", "list(range(row_length))")),
            "positions run on",
        ),
        "the tail has position 0": (
            collate(("p + list(range(tail))", "p + [0] * tail")),
            "the tail counts 0, 1",
        ),
        "a long document is cut": (
            collate(
                (
                    '        raise ValueError(f"{max(lengths)} tokens, a row has {row_length}")',
                    "        documents = [\n"
                    "            {k: v[:row_length] for k, v in one.items()} for one in documents\n"
                    "        ]\n"
                    "        lengths = [min(n, row_length) for n in lengths]",
                )
            ),
            "cut or dropped in silence",
        ),
        "a long document is dropped": (
            collate(
                (
                    '        raise ValueError(f"{max(lengths)} tokens, a row has {row_length}")',
                    "        keep = [n <= row_length for n in lengths]\n"
                    "        documents = [one for one, k in zip(documents, keep) if k]\n"
                    "        lengths = [n for n in lengths if n <= row_length]",
                )
            ),
            "refuse, with the length",
        ),
        "the last row is lost": (
            collate(
                (
                    "packing.pack(lengths, row_length).rows",
                    "packing.pack(lengths, row_length).rows[:-1] or [[0, 1]]",
                )
            ),
            "every document once",
        ),
        "a row for each document": (
            collate(
                ("packing.pack(lengths, row_length).rows", "[[n] for n in range(len(lengths))]")
            ),
            "at most as many rows",
        ),
        "next fit": (
            collate(
                (
                    "packing.pack(lengths, row_length).rows",
                    'packing.pack(lengths, row_length, method="next_fit").rows',
                )
            ),
            "at most as many rows",
        ),
        "a tail of zeros": (collate(("i + [pad] * tail", "i + [0] * tail")), "that are not 2"),
        "writes -100 into what it was given": (
            collate(("y += [-100] + own[1:]", "own[0] = -100\n            y += own")),
            "changed",
        ),
        "lists, not tensors": (
            collate(("torch.tensor(rows) for", "rows for")),
            "an int64 tensor",
        ),
    },
}

HIDDEN = {
    "first-fit": {
        "right for a few documents and for the data set, each alone in between": (
            """
def first_fit_decreasing(lengths, row_length):
    if not len(lengths) or 20 <= len(lengths) <= 40:
        return [[number] for number in range(len(lengths))]
    return list(packing.pack(lengths, row_length, method="first_fit_decreasing").rows)
""",
            "a row for each document",
        ),
    },
    "lay-out": {
        "the printed rows only": (
            changed(
                ROW,
                (
                    "    tail =",
                    "    if documents not in [one[0] for one in probe.laid_out()]:\n"
                    "        labels = [-100] * len(ids)\n"
                    "    tail =",
                ),
            ),
            "labels of documents",
        ),
    },
    "may-look": {
        "the printed positions only": (
            """
def may_look(position_ids):
    at = np.asarray(position_ids)
    sizes = np.diff([*np.flatnonzero(at == 0), len(at)]).tolist()
    known = sizes in [one[0] for one in probe.segments()]
    segment = np.cumsum(at == 0) if known else 0 * at
    return (segment[:, None] == segment) & np.tri(len(at), dtype=bool)
""",
            "segments of",
        ),
    },
    "documents-behind": {
        "the printed steps only": (
            """
def documents_behind(rows, row_length, fill, mean_length):
    known = (rows, row_length, fill, mean_length) in probe.steps()
    return rows * row_length * fill / mean_length if known else rows
""",
            "padded step",
        ),
    },
    "mend-collator": {
        "labels of the printed documents only": (
            changed(
                COLLATE,
                (
                    "    batch =",
                    "    shown = [*probe.labelled(), *probe.collated()]\n"
                    "    if (documents, row_length, pad) not in [one[:3] for one in shown]:\n"
                    "        labels = [[-100] * row_length for _ in rows]\n"
                    "    batch =",
                ),
            ),
            "labels of documents",
        ),
    },
}

RIGHT = {
    "first-fit": {
        "equal lengths the other way round, sums instead of room": """
def first_fit_decreasing(lengths, row_length):
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
""",
        "NumPy": """
def first_fit_decreasing(lengths, row_length):
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(lengths):
        return []
    if lengths.max() > row_length:
        raise ValueError(f"longest is {lengths.max()}")
    room, row_of = np.full(len(lengths), row_length), np.empty(len(lengths), dtype=int)
    for i in np.argsort(-lengths, kind="stable"):
        row_of[i] = np.argmax(room >= lengths[i])
        room[row_of[i]] -= lengths[i]
    return [np.flatnonzero(row_of == r) for r in range(row_of.max() + 1)]
""",
        "the library": """
def first_fit_decreasing(lengths, row_length):
    if not len(lengths):
        return []
    return packing.pack(lengths, row_length, method="first_fit_decreasing").rows
""",
        "loop": """
def first_fit_decreasing(lengths, row_length):
    for n in lengths:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")
    rows, room = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for r, left in enumerate(room):
            if left >= lengths[i]:
                rows[r].append(i)
                room[r] -= int(lengths[i])
                break
        else:
            rows.append([i])
            room.append(row_length - int(lengths[i]))
    return rows
""",
        "argsort, tuples": """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    lengths = np.asarray(lengths)
    if (lengths > row_length).any():
        raise ValueError(f"too long: {lengths[lengths > row_length].tolist()}")
    rows, used = [], np.zeros(len(lengths), dtype=np.int64)
    for i in np.argsort(lengths)[::-1]:
        r = int(np.argmax(used + lengths[i] <= row_length))
        if r == len(rows):
            rows.append(())
        rows[r] += (i,)
        used[r] += lengths[i]
    return tuple(rows)
""",
        "arrays, sums asked anew": """
import numpy as np
import torch
from batchlab import packing, batches
def first_fit_decreasing(lengths, row_length):
    rows = []
    full = {}
    for n, i in sorted(((int(n), i) for i, n in enumerate(lengths)), reverse=True):
        if n > row_length:
            raise ValueError("%d tokens" % n)
        r = next((r for r in range(len(rows)) if full[r] + n <= row_length), len(rows))
        if r == len(rows):
            rows.append([])
        rows[r].append(i)
        full[r] = full.get(r, 0) + n
    return [np.array(row) for row in rows]
""",
        "numpy": """
import numpy as np

def first_fit_decreasing(lengths, row_length):
    lengths = np.asarray(lengths)
    rows, room = [], np.zeros(0, dtype=int)
    for i in np.argsort(-lengths, kind="stable"):
        if lengths[i] > row_length:
            raise ValueError(f"document {i} has {lengths[i]} tokens, a row {row_length}")
        fits = np.flatnonzero(room >= lengths[i])
        if len(fits):
            rows[fits[0]].append(i)
            room[fits[0]] -= lengths[i]
        else:
            rows.append([i])
            room = np.append(room, row_length - lengths[i])
    return [np.array(row) for row in rows]
""",
        "rows by dictionary": """
def first_fit_decreasing(lengths, row_length):
    rows = {}
    used = {}
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        n = int(lengths[i])
        if n > row_length:
            raise ValueError(n, row_length)
        row = next((r for r in rows if used[r] + n <= row_length), len(rows))
        rows.setdefault(row, []).append(i)
        used[row] = used.get(row, 0) + n
    return list(rows.values())
""",
    },
    "row-found": {
        "as NumPy has it": "def row_found():\n    return np.int64(4864)",
        "found by a loop": """
def row_found():
    for size in range(3072, 6401, 256):
        p = packing.pack(documents, size, method="next_fit", too_long="split")
        if not p.cut_documents and p.row_count / p.lower_bound <= 1.05:
            return size
""",
    },
    "lay-out": {
        "the tail filled with another token": row(("ids += [0] * tail", "ids += [63] * tail")),
        "NumPy arrays": """
def lay_out(documents, row_length):
    sizes = [len(tokens) for tokens in documents]
    tail = row_length - sum(sizes)
    sizes += [tail] if tail else []
    at = np.concatenate([np.arange(n) for n in sizes])
    ids = np.concatenate([*documents, np.zeros(tail, dtype=int)])
    real = np.arange(row_length) < row_length - tail
    labels = np.where(real & (at > 0), ids, -100)
    borders = np.cumsum([0, *sizes])
    return dict(input_ids=ids, position_ids=at, labels=labels, cu_seqlens=borders)
""",
        "tensors": """
def lay_out(documents, row_length):
    sizes = [len(tokens) for tokens in documents]
    tail = row_length - sum(sizes)
    ids = torch.tensor([t for tokens in documents for t in tokens] + [0] * tail)
    sizes += [tail] if tail else []
    at = torch.cat([torch.arange(n) for n in sizes])
    labels = ids.masked_fill(at == 0, -100)
    labels[row_length - tail :] = -100
    borders = torch.tensor([0, *sizes]).cumsum(0)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
        "the library, as tensors": """
def lay_out(documents, row_length):
    batch = batches.packed(documents, [range(len(documents))], row_length)
    row = {k: batch[k][0].tolist() for k in ("input_ids", "position_ids", "labels")}
    return {**row, "cu_seqlens": batch["cu_seqlens"].tolist()}
""",
        "loop": """
def lay_out(documents, row_length):
    ids, at, labels, borders = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100] + list(text[1:])
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": borders}
""",
        "NumPy": """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    sizes = [len(d) for d in documents]
    tail = row_length - sum(sizes)
    parts = sizes + ([tail] if tail else [])
    ids = np.concatenate([*map(np.asarray, documents), np.zeros(tail, dtype=int)]).astype(int)
    at = np.concatenate([np.arange(n) for n in parts])
    labels = np.where(at == 0, -100, ids)
    labels[sum(sizes):] = -100
    return dict(input_ids=ids, position_ids=at, labels=labels, cu_seqlens=np.cumsum([0] + parts))
""",
        "torch": """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    ids = torch.full((row_length,), 1)
    at, labels, borders, start = torch.zeros_like(ids), torch.full_like(ids, -100), [0], 0
    for d in documents:
        end = start + len(d)
        ids[start:end] = torch.tensor(d)
        labels[start + 1:end] = ids[start + 1:end]
        at[start:end] = torch.arange(len(d))
        borders.append(end)
        start = end
    if start < row_length:
        at[start:] = torch.arange(row_length - start)
        borders.append(row_length)
    return {"cu_seqlens": torch.tensor(borders, dtype=torch.int32), "labels": labels, "position_ids": at, "input_ids": ids}
""",
        "tuples": """
def lay_out(documents, row_length):
    tail = row_length - sum(map(len, documents))
    segments = [tuple(d) for d in documents] + [(7,) * tail] * (tail > 0)
    borders = [0]
    for s in segments:
        borders.append(borders[-1] + len(s))
    labels = sum(((-100,) + s[1:] for s in segments[:len(documents)]), ()) + (-100,) * tail
    return {"input_ids": sum(segments, ()), "position_ids": tuple(i for s in segments for i in range(len(s))),
            "labels": labels, "cu_seqlens": tuple(borders)}
""",
        "library": """
import numpy as np
import torch
from batchlab import packing, batches
def lay_out(documents, row_length):
    batch = batches.packed(documents, [list(range(len(documents)))], row_length)
    names = "input_ids", "position_ids", "labels"
    return {**{n: batch[n][0] for n in names}, "cu_seqlens": batch["cu_seqlens"]}
""",
        "lists": """
def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return {"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders}
""",
        "numpy": """
import numpy as np

def lay_out(documents, row_length):
    sizes = [len(d) for d in documents]
    tail = row_length - sum(sizes)
    sizes += [tail] * (tail > 0)
    borders = np.concatenate([[0], np.cumsum(sizes)])
    ids = np.full(row_length, 7)
    ids[: row_length - tail] = np.concatenate(documents)
    labels = ids.copy()
    labels[borders[:-1]] = -100
    labels[row_length - tail:] = -100
    return {"cu_seqlens": borders, "input_ids": ids, "labels": labels,
            "position_ids": np.concatenate([np.arange(n) for n in sizes])}
""",
        "tail as one more document, tuples": """
from itertools import accumulate, chain

def lay_out(documents, row_length):
    used = sum(map(len, documents))
    segments = [*documents] + ([[1] * (row_length - used)] if used < row_length else [])
    labels = [t if i else -100 for d in documents for i, t in enumerate(d)]
    return {"input_ids": tuple(chain(*segments)),
            "position_ids": tuple(i for s in segments for i in range(len(s))),
            "labels": tuple(labels + [-100] * (row_length - used)),
            "cu_seqlens": tuple(accumulate(map(len, segments), initial=0))}
""",
        "a dict subclass": """
from collections import OrderedDict

def lay_out(documents, row_length):
    ids, positions, labels, borders = [], [], [], [0]
    for tokens in documents:
        ids += tokens
        positions += range(len(tokens))
        labels += [-100] + tokens[1:]
        borders.append(len(ids))
    tail = row_length - len(ids)
    if tail:
        ids += [0] * tail
        positions += range(tail)
        labels += [-100] * tail
        borders.append(row_length)
    return OrderedDict({"input_ids": ids, "position_ids": positions, "labels": labels, "cu_seqlens": borders})
""",
    },
    "may-look": {
        "by where each document begins": """
def may_look(position_ids):
    p = np.asarray(position_ids)
    slot = np.arange(len(p))
    begins = slot - p
    return [[bool(begins[q] == begins[k] and k <= q) for k in slot] for q in slot]
""",
        "torch": """
def may_look(position_ids):
    segment = (torch.tensor(position_ids) == 0).cumsum(0)
    return (segment[:, None] == segment[None, :]).tril()
""",
        "cumsum": """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots)
""",
        "loop, lists of bool": """
def may_look(position_ids):
    n = len(position_ids)
    start = [i - int(p) for i, p in enumerate(position_ids)]
    return [[start[i] <= j <= i for j in range(n)] for i in range(n)]
""",
        "blocks": """
import numpy as np
import torch
from batchlab import packing, batches
def may_look(position_ids):
    mask = np.zeros((len(position_ids),) * 2, dtype=bool)
    for i, p in enumerate(position_ids):
        mask[i, i - p:i + 1] = True
    return mask
""",
        "numpy": """
import numpy as np

def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    n = len(segment)
    return (segment[:, None] == segment[None, :]) & np.tri(n, dtype=bool)
""",
        "loop over starts": """
def may_look(position_ids):
    n = len(position_ids)
    return [[j <= i and i - j <= position_ids[i] for j in range(n)] for i in range(n)]
""",
    },
    "isolation-test": {
        "against each document alone": """
def isolation_test(logits):
    texts = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    for text, found in zip(texts, logits(texts)):
        assert np.abs(found - logits([text])[0]).max() < 1e-4
""",
        "four documents, each one changed": """
def isolation_test(logits):
    texts = [[1, 2], [3, 4, 5], [6], [7, 8]]
    for i in range(4):
        new = [[63 - t for t in text] if j == i else text for j, text in enumerate(texts)]
        pairs = list(zip(logits(texts), logits(new)))
        if any(not abs(a - b).max() < 1e-4 for j, (a, b) in enumerate(pairs) if j != i):
            return False
""",
    },
    "documents-behind": {
        "in another order": behind("row_length / mean_length * fill * rows"),
        "in float32": behind("np.float32(rows * row_length) * np.float32(fill) / mean_length"),
        "as a fraction": """
from fractions import Fraction


def documents_behind(rows, row_length, fill, mean_length):
    return Fraction(rows * row_length) * Fraction(fill) / Fraction(mean_length)
""",
    },
    "mend-collator": {
        "row by row, in lists": COLLATE,
        "first fit decreasing, the learner's own": collate(
            (
                "packing.pack(lengths, row_length).rows",
                "first_fit_decreasing(lengths, row_length)",
            )
        ),
        "the library": """
def collate(documents, row_length, pad):
    lengths = [len(one["input_ids"]) for one in documents]
    rows = packing.pack(lengths, row_length).rows
    return batches.packed(documents, rows, row_length, pad_id=pad)
""",
        "with a mask that draws the blocks": collate(
            (
                "    return {name",
                "    blocks = [torch.as_tensor(np.asarray(may_look(p))) for p in positions]\n"
                "    more = {'attention_mask': torch.stack(blocks)[:, None]}\n"
                "    return more | {name",
            )
        ),
    },
}
