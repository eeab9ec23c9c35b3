# ruff: noqa
"""Lesson 04: answers of a fresh student, written from the student copy alone."""

WRONG, RIGHT = {}, {}


def _cut(base, *swaps):
    """The base with each (old, new) replaced; every old text stands there exactly once."""
    for old, new in swaps:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


# ---------------------------------------------------------------------------------- first-fit

_FF = '''def first_fit_decreasing(lengths, row_length):
    """Rows as lists of document numbers: longest first, each into the first row with room."""
    sizes = [int(n) for n in lengths]
    for n in sizes:
        if n > row_length:
            raise ValueError(f"a document of {n} tokens does not fit into a row of {row_length}")
    rows, room = [], []
    for number in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        for row, left in enumerate(room):
            if left >= sizes[number]:
                rows[row].append(number)
                room[row] -= sizes[number]
                break
        else:
            rows.append([number])
            room.append(row_length - sizes[number])
    return rows
'''
_FF_HEAD = "    rows, room = [], []\n"
_FF_NAMES = "    sizes = [int(n) for n in lengths]\n"
_FF_TEST = "        if n > row_length:\n"
_FF_RAISE = 'raise ValueError(f"a document of {n} tokens does not fit into a row of {row_length}")'
_FF_ROOM = "            if left >= sizes[number]:\n"
_FF_ORDER = "sorted(range(len(sizes)), key=lambda i: -sizes[i])"
_FF_SCAN = "        for row, left in enumerate(room):\n"

RIGHT["first-fit"] = {
    "two loops with for-else": _FF,
    "NumPy: argsort and argmax over the rooms": '''import numpy as np


def first_fit_decreasing(lengths, row_length):
    sizes = np.asarray(lengths, dtype=np.int64).reshape(-1)
    if sizes.size and sizes.max() > row_length:
        raise ValueError(f"longest document: {sizes.max()} tokens, row: {row_length} slots")
    room = np.full(len(sizes), row_length, dtype=np.int64)
    rows = [[] for _ in sizes]
    for number in np.argsort(-sizes, kind="stable"):
        where = int(np.argmax(room >= sizes[number]))
        room[where] -= sizes[number]
        rows[where].append(number)
    return [row for row in rows if row]
''',
    "a class of rows, next() with a default": '''class Shelf:
    def __init__(self, width):
        self.left, self.books = width, []

    def take(self, number, width):
        self.left -= width
        self.books.append(number)


def first_fit_decreasing(lengths, row_length):
    shelves = []
    pairs = [(int(size), number) for number, size in enumerate(lengths)]
    for size, number in sorted(pairs, reverse=True):
        if size > row_length:
            raise ValueError("too long: " + str(size))
        shelf = next((s for s in shelves if s.left >= size), None)
        if shelf is None:
            shelf = Shelf(row_length)
            shelves.append(shelf)
        shelf.take(number, size)
    return [shelf.books for shelf in shelves]
''',
    "segment tree over the rooms, rows returned last to first": '''def first_fit_decreasing(lengths, row_length):
    w = list(map(int, lengths))
    if not w:
        return []
    if max(w) > row_length:
        raise ValueError("%d tokens are more than a row has" % max(w))
    leaves = 1
    while leaves < len(w):
        leaves *= 2
    tree = [row_length] * (2 * leaves)
    out = {}
    for k in sorted(range(len(w)), key=w.__getitem__, reverse=True):
        node = 1
        while node < leaves:
            node = 2 * node if tree[2 * node] >= w[k] else 2 * node + 1
        out.setdefault(node, []).append(k)
        tree[node] -= w[k]
        while node > 1:
            node //= 2
            tree[node] = max(tree[2 * node], tree[2 * node + 1])
    return [out[node] for node in sorted(out, reverse=True)]
''',
    "torch, sums of rows taken anew": '''import torch


def first_fit_decreasing(lengths, row_length):
    sizes = torch.tensor([int(n) for n in lengths], dtype=torch.int64)
    too_long = sizes[sizes > row_length]
    if len(too_long):
        raise ValueError(f"{int(too_long[0])} tokens in a row of {row_length}")
    used, rows = torch.zeros(len(sizes), dtype=torch.int64), []
    for number in torch.argsort(sizes, descending=True).tolist():
        fits = torch.nonzero(used + sizes[number] <= row_length)
        row = int(fits[0, 0])
        if row == len(rows):
            rows.append([])
        rows[row].append(number)
        used[row] += sizes[number]
    return rows
''',
    "one pass per row: fill a row, hand the rest on": '''def first_fit_decreasing(lengths, row_length):
    size = dict(enumerate(int(n) for n in lengths))
    for number, n in size.items():
        if n > row_length:
            raise ValueError(f"document {number} is {n} tokens long")
    waiting, rows = sorted(size, key=size.get, reverse=True), []
    while waiting:
        row, rest, left = [], [], row_length
        for number in waiting:
            if size[number] <= left:
                row.append(number)
                left -= size[number]
            else:
                rest.append(number)
        rows.append(row)
        waiting = rest
    return rows
''',
}

WRONG["first-fit"] = {
    "best fit instead of first fit": _cut(_FF, (_FF_SCAN, "        for row, left in sorted(enumerate(room), key=lambda pair: pair[1]):\n")),
    "worst fit: the emptiest row": _cut(_FF, (_FF_SCAN, "        for row, left in sorted(enumerate(room), key=lambda pair: -pair[1]):\n")),
    "last fit: newest row first": _cut(_FF, (_FF_SCAN, "        for row, left in list(enumerate(room))[::-1]:\n")),
    "next fit decreasing: only the last row is open": _cut(_FF, (_FF_SCAN, "        for row, left in list(enumerate(room))[-1:]:\n")),
    "order of the data": _cut(_FF, (_FF_ORDER, "range(len(sizes))")),
    "shortest first": _cut(_FF, ("-sizes[i]", "sizes[i]")),
    "sorted as text": _cut(_FF, (_FF_ORDER, "sorted(range(len(sizes)), key=lambda i: str(sizes[i]), reverse=True)")),
    "only the 64 newest rows stay open": _cut(_FF, (_FF_SCAN, "        for row, left in list(enumerate(room))[-64:]:\n")),
    "only the first 400 rows are looked at": _cut(_FF, (_FF_SCAN, "        for row, left in list(enumerate(room))[:400]:\n")),
    "at most 100 documents in a row": _cut(_FF, (_FF_ROOM, "            if left >= sizes[number] and len(rows[row]) < 100:\n")),
    "at most 11 documents in a row": _cut(_FF, (_FF_ROOM, "            if left >= sizes[number] and len(rows[row]) < 11:\n")),
    "a room that fits exactly is not used": _cut(_FF, ("left >= sizes", "left > sizes")),
    "one slot too many": _cut(_FF, ("left >= sizes[number]", "left + 1 >= sizes[number]")),
    "an odd row loses its last slot": _cut(_FF, (_FF_HEAD, "    row_length -= row_length % 2 and max(sizes, default=0) < row_length\n" + _FF_HEAD)),
    "rows over 65,536 slots count as 65,536": _cut(_FF, (_FF_HEAD, _FF_HEAD + "    row_length = min(row_length, 65_536)\n")),
    "rows over 1,000,000 slots are rounded up to 1,024": _cut(_FF, (_FF_HEAD, _FF_HEAD + "    row_length = -(-row_length // 1024) * 1024 if row_length > 1_000_000 else row_length\n")),
    "lengths taken modulo 65,536": _cut(_FF, ("[int(n) for n in lengths]", "[int(n) & 0xFFFF for n in lengths]")),
    "float32 room: wrong above 2**24": _cut("import numpy as np\n\n\n" + _FF, ("room.append(row_length - sizes[number])", "room.append(np.float32(row_length) - np.float32(sizes[number]))"), ("room[row] -= sizes[number]", "room[row] = np.float32(room[row] - np.float32(sizes[number]))")),
    "32-bit room overflows": _cut("import numpy as np\n\n\n" + _FF, ("room.append(row_length - sizes[number])", "room.append(int(np.int64(row_length - sizes[number]).astype(np.int32)))")),
    "only int16 is widened: int8 and uint8 overflow": '''import numpy as np


def first_fit_decreasing(lengths, row_length):
    if getattr(lengths, "dtype", None) == np.int16:
        lengths = lengths.astype(np.int64)
    rows, used = [], []
    for n in lengths:
        if n > row_length:
            raise ValueError(f"{n} tokens")
    for number in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for row in range(len(rows)):
            if used[row] + lengths[number] <= row_length:
                used[row] = used[row] + lengths[number]
                rows[row].append(number)
                break
        else:
            rows.append([number])
            used.append(lengths[number])
    return rows
''',
    "sums stay in the type of the array": '''def first_fit_decreasing(lengths, row_length):
    rows, used = [], []
    for n in lengths:
        if n > row_length:
            raise ValueError(f"{n} tokens")
    for number in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        for row in range(len(rows)):
            if used[row] + lengths[number] <= row_length:
                used[row] = used[row] + lengths[number]
                rows[row].append(number)
                break
        else:
            rows.append([number])
            used.append(lengths[number])
    return rows
''',
    "an empty list makes one empty row": _cut(_FF, ("    return rows\n", "    return rows or [[]]\n")),
    "an empty list raises": _cut(_FF, (_FF_NAMES, _FF_NAMES + "    longest = max(sizes)\n")),
    "an empty array makes one empty row": _cut(_FF, (_FF_NAMES, "    if not isinstance(lengths, list) and len(lengths) == 0:\n        return [[]]\n" + _FF_NAMES)),
    "truth value of the array": _cut(_FF, (_FF_NAMES, "    if not lengths:\n        return []\n" + _FF_NAMES)),
    "the long document is cut": _cut(_FF, (_FF_NAMES, "    sizes = [min(int(n), row_length) for n in lengths]\n")),
    "the long document is dropped": _cut(_FF, (_FF_RAISE, "sizes[sizes.index(n)] = 0")),
    "a document as long as the row is refused": _cut(_FF, ("n > row_length", "n >= row_length")),
    "only the first document is looked at for its length": _cut(_FF, ("for n in sizes:", "for n in sizes[:1]:")),
    "too long is seen among the first 1,000 documents only": _cut(_FF, ("for n in sizes:", "for n in sizes[:1000]:")),
    "too long is seen only up to twice the row": _cut(_FF, (_FF_TEST, "        if row_length < n < 2 * row_length:\n")),
    "a too long document alone is packed": _cut(_FF, (_FF_TEST, "        if n > row_length and len(sizes) > 1:\n")),
    "two too long documents are packed": _cut(_FF, (_FF_TEST, "        if n > row_length and sum(k > row_length for k in sizes) == 1:\n")),
    "two too long documents: the message names the sum of both": _cut(_FF, ("a document of {n} tokens", "documents of {sum(k for k in sizes if k > row_length)} tokens")),
    "the message names the row only": _cut(_FF, (_FF_RAISE, 'raise ValueError(f"a document is longer than {row_length}")')),
    "the message names the number of the document": _cut(_FF, (_FF_RAISE, 'raise ValueError(f"document {sizes.index(n)} is longer than a row")')),
    "the message names the excess": _cut(_FF, (_FF_RAISE, 'raise ValueError(f"{n - row_length} tokens too many")')),
    "an assert instead of ValueError": _cut(_FF, (_FF_RAISE, 'assert False, f"{n} tokens"')),
    "IndexError": _cut(_FF, ("ValueError", "IndexError")),
    "lengths in the rows": _cut(_FF, ("    return rows\n", "    return [[sizes[i] for i in row] for row in rows]\n")),
    "counted from 1": _cut(_FF, ("    return rows\n", "    return [[i + 1 for i in row] for row in rows]\n")),
    "places in the sorted list": _cut(_FF, (_FF_NAMES, "    sizes = sorted((int(n) for n in lengths), reverse=True)\n")),
    "sorts its input": _cut(_FF, (_FF_HEAD, "    lengths.sort()\n    sizes = [int(n) for n in lengths]\n" + _FF_HEAD)),
    "sorts only an array in place": _cut(_FF, (_FF_HEAD, "    if not isinstance(lengths, list):\n        lengths[::-1].sort()\n" + _FF_HEAD)),
    "index() finds the first of equal lengths": _cut(_FF, (_FF_ORDER, "[sizes.index(n) for n in sorted(sizes, reverse=True)]")),
    "remembers by the lengths, not by the row": '''_known = {}


def first_fit_decreasing(lengths, row_length):
    key = tuple(int(n) for n in lengths)
    if any(n > row_length for n in key):
        raise ValueError(f"{max(key)} tokens")
    if key not in _known:
        rows, room = [], []
        for number in sorted(range(len(key)), key=lambda i: -key[i]):
            for row, left in enumerate(room):
                if left >= key[number]:
                    rows[row].append(number)
                    room[row] -= key[number]
                    break
            else:
                rows.append([number])
                room.append(row_length - key[number])
        _known[key] = rows
    return [list(row) for row in _known[key]]
''',
    "remembers by the sorted lengths": '''_known = {}


def first_fit_decreasing(lengths, row_length):
    sizes = [int(n) for n in lengths]
    if any(n > row_length for n in sizes):
        raise ValueError(f"{max(sizes)} tokens")
    key = (*sorted(sizes), row_length)
    if key not in _known:
        rows, room = [], []
        for number in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
            for row, left in enumerate(room):
                if left >= sizes[number]:
                    rows[row].append(number)
                    room[row] -= sizes[number]
                    break
            else:
                rows.append([number])
                room.append(row_length - sizes[number])
        _known[key] = rows
    return [list(row) for row in _known[key]]
''',
    "rows of earlier calls stay": _cut(_FF, ("def first", "rows, room = [], []\n\n\ndef first"), ("\n" + _FF_HEAD, "\n")),
    "all rows are one list": _cut(_FF, ("rows.append([number])", "rows.append(rows[0] if rows else [number])")),
    "more than 10,000 documents: the rest is ignored": _cut(_FF, (_FF_ORDER, _FF_ORDER + "[:10_000]")),
    "recursion ends at a thousand rows": '''def first_fit_decreasing(lengths, row_length):
    sizes = [int(n) for n in lengths]
    if any(n > row_length for n in sizes):
        raise ValueError(f"{max(sizes)} tokens in one document")

    def rest(waiting):
        if not waiting:
            return []
        row, later, left = [], [], row_length
        for number in waiting:
            if sizes[number] <= left:
                row.append(number)
                left -= sizes[number]
            else:
                later.append(number)
        return [row, *rest(later)]

    return rest(sorted(range(len(sizes)), key=lambda i: -sizes[i]))
''',
    "the library's rows: no documents raise": '''from batchlab import packing


def first_fit_decreasing(lengths, row_length):
    return [row.tolist() for row in packing.pack(lengths, row_length, method="first_fit_decreasing").rows]
''',
    "the library's default, best fit": '''from batchlab import packing


def first_fit_decreasing(lengths, row_length):
    if len(lengths) == 0:
        return []
    return [row.tolist() for row in packing.pack(lengths, row_length).rows]
''',
    "a document of half a row always opens one": _cut(_FF, (_FF_ROOM, "            if left >= sizes[number] and 2 * sizes[number] != row_length:\n")),
    "full rows are closed too early: room under 1 % of a row is lost": _cut(_FF, (_FF_ROOM, "            if left >= sizes[number] and 101 * left > row_length:\n")),
    "a generator": _cut(_FF, ("    return rows\n", "    return (row for row in rows)\n")),
    "row number of each document": _cut(_FF, ("    return rows\n", "    return [next(r for r, row in enumerate(rows) if i in row) for i in range(len(sizes))]\n")),
    "prints": _cut(_FF, ("    return rows\n", "    print(rows)\n")),
}

# ---------------------------------------------------------------------------------- row-found


def _row(value, before=""):
    return f'''{before}def row_found():
    """Slots of the shortest row with which next fit meets the goal."""
    return {value}
'''


_ROW_SEARCH = '''def row_found():
    """Slots of the shortest row with which next fit meets the goal."""
    for size in range(3072, 6401, 256):
        p = packing.pack(documents, size, method="next_fit", too_long="split")
        if p.cut_documents == 0 and p.row_count <= 1.05 * p.lower_bound:
            return size
'''

RIGHT["row-found"] = {
    "a constant": _row("4864"),
    "a NumPy integer": _row("np.int16(4864)", "import numpy as np\n\n\n"),
    "a search with the library": _ROW_SEARCH,
    "a fraction": _row("Fraction(19 * 256, 1)", "from fractions import Fraction\n\n\n"),
    "a tensor without dimensions": _row("torch.tensor(4864)", "import torch\n\n\n"),
    "next fit by hand, in integers": '''def _rows_of(sizes, width):
    count, left = 0, 0
    for n in sizes:
        if n > left:
            count, left = count + 1, width
        left -= n
    return count


def row_found():
    sizes = [int(n) for n in documents]
    for width in range(3072, 6401, 256):
        if width >= max(sizes) and 100 * _rows_of(sizes, width) <= 105 * packing.lower_bound(sizes, width):
            return width
    raise ValueError("no row length on the slider meets the goal")
''',
    "a lambda": "row_found = lambda: (lambda steps: 3072 + steps * 256)(7)\n",
}

WRONG["row-found"] = {
    "the first without a cut": _row("3328"),
    "the shortest at all": _row("3072"),
    "at most 6 %": _row("4096"),
    "nearest below the goal, 5.6 %": _row("4352"),
    "the one before": _row("4608"),
    "rounded 5.1 % down, taken as the shortest that stays": _row("5120"),
    "from where on each longer row meets the goal": _row("5376"),
    "at most 4 % as the goal": _row("6144"),
    "the longest": _row("6400"),
    "the best ratio but one": _row("5632"),
    "one slot more": _row("4865"),
    "one slot less": _row("4863"),
    "rows, not slots": _row("237"),
    "the bound": _row("226"),
    "the longest document": _row("3121"),
    "place on the slider": _row("7"),
    "the ratio": _row("1.0486725663716814"),
    "in thousands": _row("4.864"),
    "in text": _row("'4864'"),
    "in text with a unit": _row("'4,864 slots'"),
    "a list": _row("[4864]"),
    "two answers": _row("(4864, 5376)"),
    "all that meet the goal": _row("[4864, 5376, 5632, 5888, 6144, 6400]"),
    "a range": _row("range(4864, 6401, 256)"),
    "negative": _row("-4864"),
    "true": _row("True"),
    "infinite": _row("float('inf')"),
    "no return": 'def row_found():\n    print(4864)\n',
    "eight bits": _row("np.array(4864).astype(np.uint8)", "import numpy as np\n\n\n"),
    "a function": _row("lambda: 4864"),
    "needs an argument": "def row_found(documents):\n    return 4864\n",
    "refuses": 'def row_found():\n    raise ValueError("no row meets the goal")\n',
    "another answer with each call": '''_calls = [4096, 4608]


def row_found():
    _calls.append(_calls[-1] + 256)
    return _calls[-3]
''',
    "a number and no function": "row_found = 4864\n",
    "strictly over L1 + 10 %": _cut(_ROW_SEARCH, ("1.05", "1.10")),
    "cuts are allowed and the goal is 10 %": _cut(_ROW_SEARCH, ("p.cut_documents == 0 and ", ""), ("1.05", "1.10")),
    "first fit decreasing instead of next fit": _cut(_ROW_SEARCH, ('"next_fit"', '"first_fit_decreasing"')),
    "split instead of next fit": _cut(_ROW_SEARCH, ('"next_fit"', '"split"'), ("p.cut_documents == 0 and ", "")),
    "the longest row instead of the shortest": _cut(_ROW_SEARCH, ("range(3072, 6401, 256)", "range(6400, 3071, -256)")),
    "fill of 95 % of the slots": _cut(_ROW_SEARCH, ("p.row_count <= 1.05 * p.lower_bound", "p.fill >= 0.96")),
    "powers of two only": _cut(_ROW_SEARCH, ("range(3072, 6401, 256)", "(2048, 4096, 8192)")),
}

# ------------------------------------------------------------------------------------ lay-out

_LO = '''def lay_out(documents, row_length):
    """A dict of the four lists of a row: input_ids, position_ids, labels, cu_seqlens."""
    ids, at, labels, ends = [], [], [], [0]
    for text in documents:
        ids += text
        at += range(len(text))
        labels += [-100, *text[1:]]
        ends.append(len(ids))
    tail = row_length - len(ids)
    if tail > 0:
        ids += [0] * tail
        at += range(tail)
        labels += [-100] * tail
        ends.append(row_length)
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": ends}
'''
_LO_TAIL_AT = "        at += range(tail)\n"
_LO_TAIL_IDS = "        ids += [0] * tail\n"
_LO_DOC_AT = "        at += range(len(text))\n"
_LO_LAB = "        labels += [-100, *text[1:]]\n"
_LO_RET = '    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": ends}\n'
_LO_TAIL = "    tail = row_length - len(ids)\n"
_LO_END = "        ends.append(len(ids))\n"

RIGHT["lay-out"] = {
    "lists": _LO,
    "NumPy": '''import numpy as np


def lay_out(documents, row_length):
    sizes = [len(text) for text in documents]
    rest = row_length - sum(sizes)
    cu = np.cumsum([0, *sizes] + [rest] * (rest > 0))
    ids = np.concatenate([*map(np.asarray, documents), np.zeros(rest, dtype=np.int64)]).astype(np.int64)
    at = np.arange(row_length) - np.repeat(cu[:-1], np.diff(cu))
    labels = np.where(at == 0, -100, ids)
    labels[sum(sizes):] = -100
    return {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": cu.astype(np.int32)}
''',
    "torch, the tail holds 7": '''import torch


def lay_out(documents, row_length):
    ids = torch.full((row_length,), 7, dtype=torch.int64)
    labels = torch.full((row_length,), -100, dtype=torch.int64)
    at, cu = torch.zeros(row_length, dtype=torch.int64), [0]
    for text in documents:
        a = cu[-1]
        b = a + len(text)
        ids[a:b] = torch.tensor(text)
        labels[a + 1 : b] = ids[a + 1 : b]
        at[a:b] = torch.arange(b - a)
        cu.append(b)
    if cu[-1] < row_length:
        at[cu[-1]:] = torch.arange(row_length - cu[-1])
        cu.append(row_length)
    return dict(input_ids=ids, position_ids=at, labels=labels, cu_seqlens=torch.tensor(cu))
''',
    "recursion over segments": '''def _glue(left, right):
    return [a + b for a, b in zip(left, right)]


def _segment(tokens, trained):
    marks = [-100] + tokens[1:] if trained else [-100] * len(tokens)
    return [list(tokens), list(range(len(tokens))), marks, [len(tokens)]]


def _all(texts, left):
    if left:
        return _glue(_all(texts, 0), _segment([1] * left, False))
    if len(texts) == 1:
        return _segment(list(texts[0]), True)
    half = len(texts) // 2
    return _glue(_all(texts[:half], 0), _all(texts[half:], 0))


def lay_out(documents, row_length):
    ids, at, marks, sizes = _all(documents, row_length - sum(map(len, documents)))
    return {"cu_seqlens": [sum(sizes[:i]) for i in range(len(sizes) + 1)], "labels": marks,
            "position_ids": at, "input_ids": ids}
''',
    "slot by slot, with tuples": '''from itertools import accumulate, chain


def lay_out(documents, row_length):
    used = sum(map(len, documents))
    parts = [*documents, [0] * (row_length - used)]
    parts = [part for part in parts if part]
    slots = [(token, place, token if place and number < len(documents) else -100)
             for number, part in enumerate(parts) for place, token in enumerate(part)]
    ids, at, labels = zip(*slots)
    return {"input_ids": ids, "position_ids": at, "labels": labels,
            "cu_seqlens": tuple(accumulate(chain([0], map(len, parts))))}
''',
    "from the library's batch": '''from batchlab import batches


def lay_out(documents, row_length):
    batch = batches.packed(documents, [range(len(documents))], row_length)
    row = {name: batch[name][0] for name in ("input_ids", "position_ids", "labels")}
    return {**row, "cu_seqlens": batch["cu_seqlens"]}
''',
}

WRONG["lay-out"] = {
    "positions of the tail run on": _cut(_LO, (_LO_TAIL_AT, "        at += range(at[-1] + 1, at[-1] + 1 + tail)\n")),
    "positions of the tail are zeros": _cut(_LO, (_LO_TAIL_AT, "        at += [0] * tail\n")),
    "positions do not restart": _cut(_LO, (_LO_DOC_AT, "        at += range(len(at), len(at) + len(text))\n")),
    "positions count from 1": _cut(_LO, (_LO_DOC_AT, "        at += range(1, len(text) + 1)\n")),
    "positions wrap at 256": _cut(_LO, (_LO_DOC_AT, "        at += [p & 255 for p in range(len(text))]\n")),
    "positions end at 2,047": _cut(_LO, (_LO_DOC_AT, "        at += [min(p, 2047) for p in range(len(text))]\n")),
    "positions of a tail over eight slots restart every eight": _cut(_LO, (_LO_TAIL_AT, "        at += [p % 8 for p in range(tail)]\n")),
    "a tail over ten slots is cut to ten": _cut(_LO, (_LO_TAIL_AT, "        tail = min(tail, 10)\n" + _LO_TAIL_AT), (_LO_TAIL_IDS, "        ids += [0] * min(tail, 10)\n")),
    "a tail over 64 slots becomes segments of 64": _cut(_LO, ("        ends.append(row_length)\n", "        ends += [*range(ends[-1] + 64, row_length, 64), row_length]\n")),
    "one document and a tail: the tail belongs to it": _cut(_LO, ("        ends.append(row_length)\n", "        ends[len(ends) - (len(documents) == 1):] = [row_length]\n")),
    "one document: its first label is trained": _cut(_LO, (_LO_LAB, "        labels += [-100, *text[1:]] if len(documents) > 1 or len(text) == 1 else text\n")),
    "one document: positions run on through the tail": _cut(_LO, (_LO_TAIL_AT, "        at += range(tail) if len(documents) > 1 else range(len(at), row_length)\n")),
    "the fifth token of a document and later ones are not trained": _cut(_LO, (_LO_LAB, "        labels += [-100, *text[1:4], *[-100] * len(text[4:])]\n")),
    "the tail is no segment": _cut(_LO, ("        ends.append(row_length)\n", "")),
    "the last end twice where there is no tail": _cut(_LO, ("    if tail > 0:\n", "    if tail >= 0:\n")),
    "a tail of one slot belongs to the last document": _cut(_LO, ("        ends.append(row_length)\n", "        ends[len(ends) - (tail == 1):] = [row_length]\n")),
    "cumulative lengths without the 0": _cut(_LO, (', "cu_seqlens": ends', ', "cu_seqlens": ends[1:]')),
    "cumulative lengths without the end": _cut(_LO, (', "cu_seqlens": ends', ', "cu_seqlens": ends[:-1]')),
    "lengths that are not cumulative": _cut(_LO, (_LO_END, "        ends.append(len(text))\n")),
    "cumulative lengths of 16 bits": _cut("import numpy as np\n\n\n" + _LO, (', "cu_seqlens": ends', ', "cu_seqlens": np.array(ends).astype(np.int16)')),
    "the first label is trained": _cut(_LO, (_LO_LAB, "        labels += text\n")),
    "the first label is trained in the first document": _cut(_LO, (_LO_LAB, "        labels += [-100 if labels else text[0], *text[1:]]\n")),
    "first labels are -100 in the first three documents only": _cut(_LO, (_LO_LAB, "        labels += [-100 if len(ends) < 4 else text[0], *text[1:]]\n")),
    "the last label is -100, not the first": _cut(_LO, (_LO_LAB, "        labels += [*text[:-1], -100]\n")),
    "labels are shifted": _cut(_LO, (_LO_LAB, "        labels += [*text[1:], -100]\n")),
    "all labels equal to a first token are -100": _cut(_LO, (_LO_LAB, "        labels += [-100 if t == text[0] else t for t in text]\n")),
    "labels 0 are -100": _cut(_LO, (_LO_LAB, "        labels += [-100, *(t or -100 for t in text[1:])]\n")),
    "labels 2, the usual end, are -100": _cut(_LO, (_LO_LAB, "        labels += [-100, *(-100 if t == 2 else t for t in text[1:])]\n")),
    "labels equal to the token before are -100": _cut(_LO, (_LO_LAB, "        labels += [-100, *(-100 if a == b else b for a, b in zip(text, text[1:]))]\n")),
    "the tail is trained": _cut(_LO, ("        labels += [-100] * tail\n", "        labels += [0] * tail\n")),
    "the tail holds -100": _cut(_LO, (_LO_TAIL_IDS, "        ids += [-100] * tail\n")),
    "tokens of 16 bits": _cut("import numpy as np\n\n\n" + _LO, ('"input_ids": ids', '"input_ids": np.array(ids).astype(np.uint16)')),
    "labels over 200,000 are not trained": _cut(_LO, (_LO_LAB, "        labels += [-100, *(t if t < 200_000 else -100 for t in text[1:])]\n")),
    "tokens of 18 bits": _cut(_LO, ("        ids += text\n", "        ids += [t % 2**18 for t in text]\n")),
    "tokens by way of float32": _cut("import numpy as np\n\n\n" + _LO, ('"labels": labels', '"labels": np.array(labels, dtype=np.float32).astype(np.int64)')),
    "labels are floats": _cut("import numpy as np\n\n\n" + _LO, ('"labels": labels', '"labels": np.array(labels, dtype=np.float32)')),
    "more than eight documents: the rest is left out": _cut(_LO, ("    for text in documents:", "    for text in documents[:8]:")),
    "equal documents once": _cut(_LO, ("    for text in documents:", "    for text in dict.fromkeys(map(tuple, documents)):")),
    "four documents and more: the first label of the second is trained": _cut(_LO, (_LO_LAB, "        labels += [-100, *text[1:]] if documents.index(text) != 1 or len(documents) < 4 else text\n")),
    "equal neighbours of three tokens and more are one segment": _cut(_LO, (_LO_END, "        if len(ends) > 1 and text == documents[len(ends) - 2] and len(text) > 2:\n            ends.pop()\n" + _LO_END)),
    "changes the documents": _cut(_LO, (_LO_LAB, "        text[0] = -100\n        labels += text\n")),
    "appends the tail to the last document": _cut(_LO, (_LO_TAIL_IDS, "        documents[-1].extend([0] * tail)\n" + _LO_TAIL_IDS)),
    "remembers by tokens and row, borders aside": '''_made = {}


def lay_out(documents, row_length):
    key = (*(t for text in documents for t in text), "in", row_length)
    if key not in _made:
        ids, at, labels, ends = [], [], [], [0]
        for text in documents:
            ids += text
            at += range(len(text))
            labels += [-100, *text[1:]]
            ends.append(len(ids))
        tail = row_length - len(ids)
        if tail:
            ids += [0] * tail
            at += range(tail)
            labels += [-100] * tail
            ends.append(row_length)
        _made[key] = {"input_ids": ids, "position_ids": at, "labels": labels, "cu_seqlens": ends}
    return {name: list(values) for name, values in _made[key].items()}
''',
    "a batch of one": _cut(_LO, (_LO_RET, '    return {"input_ids": [ids], "position_ids": [at], "labels": [labels], "cu_seqlens": ends}\n')),
    "a tuple": _cut(_LO, (_LO_RET, "    return ids, at, labels, ends\n")),
    "another name": _cut(_LO, ('"position_ids"', '"positions"')),
    "rows over 4,096 slots are refused": _cut(_LO, (_LO_TAIL, _LO_TAIL + '    if row_length > 4096:\n        raise ValueError("row too long")\n')),
    "a full row is refused": _cut(_LO, (_LO_TAIL, _LO_TAIL + '    if tail == 0:\n        raise ValueError("no room")\n')),
    "recursion: more than 900 documents raise": _cut(_LO, (_LO_TAIL, '''    def count(texts):
        return len(texts[0]) + count(texts[1:]) if texts else 0

    tail = row_length - count(documents)
''')),
}

# ----------------------------------------------------------------------------------- may-look

_ML = '''import numpy as np


def may_look(position_ids):
    """(slots, slots) truth values: may the slot of this row look at the slot of this column?"""
    at = np.asarray(position_ids)
    segment = np.cumsum(at == 0)
    slot = np.arange(len(at))
    same = segment[:, None] == segment
    earlier = slot[None, :] <= slot[:, None]
    return same & earlier
'''
_ML_AT = "    at = np.asarray(position_ids)\n"
_ML_SEG = "    segment = np.cumsum(at == 0)\n"
_ML_RET = "    return same & earlier\n"
_ML_SAME = "    same = segment[:, None] == segment\n"
_ML_EARLY = "    earlier = slot[None, :] <= slot[:, None]\n"

RIGHT["may-look"] = {
    "NumPy cumsum": _ML,
    "lists of lists": '''def may_look(position_ids):
    at = [int(p) for p in position_ids]
    return [[i - at[i] <= j <= i for j in range(len(at))] for i in range(len(at))]
''',
    "torch block_diag of triangles": '''import torch


def may_look(position_ids):
    starts = [i for i, p in enumerate(position_ids) if p == 0] + [len(position_ids)]
    blocks = [torch.ones(b - a, b - a).tril() for a, b in zip(starts, starts[1:])]
    return torch.block_diag(*blocks).bool()
''',
    "row from the row above": '''def may_look(position_ids):
    def lines():
        line = []
        for slot, position in enumerate(position_ids):
            if int(position) == 0:
                line = [False] * slot
            line = [*line, True]
            yield tuple(line + [False] * (len(position_ids) - slot - 1))

    return tuple(lines())
''',
    "written block by block": '''import numpy as np


class Squares:
    def __init__(self, size):
        self.board = np.zeros((size, size), dtype=np.bool_)

    def draw(self, begin, end):
        self.board[begin:end, begin:end] = np.tri(end - begin, dtype=bool)


def may_look(position_ids):
    zeros = np.flatnonzero(np.asarray(position_ids) == 0).tolist()
    squares = Squares(len(position_ids))
    for begin, end in zip(zeros, [*zeros[1:], len(position_ids)]):
        squares.draw(begin, end)
    return squares.board
''',
    "one line of searchsorted": '''import numpy as np


def may_look(position_ids):
    n, z = len(position_ids), np.flatnonzero(np.array(position_ids) == 0)
    return np.tri(n, dtype=bool) & np.equal.outer(*[np.searchsorted(z, np.arange(n), side="right")] * 2)
''',
}

WRONG["may-look"] = {
    "not causal": _cut(_ML, (_ML_RET, "    return same\n")),
    "causal, no blocks": _cut(_ML, (_ML_RET, "    return earlier\n")),
    "or instead of and": _cut(_ML, (_ML_RET, "    return same | earlier\n")),
    "transposed": _cut(_ML, (_ML_RET, "    return (same & earlier).T\n")),
    "a slot does not see itself": _cut(_ML, ("<= slot[:, None]", "< slot[:, None]")),
    "the whole mask the other way round": _cut(_ML, (_ML_RET, "    return ~(same & earlier)\n")),
    "also the segment before": _cut(_ML, (_ML_SAME, "    same = segment[:, None] - segment <= 1\n")),
    "earlier segments and not its own": _cut(_ML, (_ML_SAME, "    same = segment[:, None] > segment\n")),
    "a segment begins after its zero": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(np.roll(at == 0, 1))\n")),
    "eight bits of segments": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(at == 0).astype(np.uint8)\n")),
    "segments beyond 400 are one": _cut(_ML, (_ML_SEG, "    segment = np.minimum(np.cumsum(at == 0), 400)\n")),
    "segments beyond 300 see nothing": _cut(_ML, (_ML_RET, "    return same & earlier & (segment[:, None] <= 300)\n")),
    "segments numbered modulo 512": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(at == 0) % 512\n")),
    "a window of eight slots": _cut(_ML, (_ML_RET, "    return same & earlier & (slot[:, None] - slot < 8)\n")),
    "a window of 1,024 slots": _cut(_ML, (_ML_RET, "    return same & earlier & (slot[:, None] - slot < 1024)\n")),
    "a segment of more than 16 slots is cut into sixteens": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(at % 16 == 0)\n")),
    "positions of eight bits: 256 begins a segment": _cut(_ML, (_ML_AT, "    at = np.asarray(position_ids).astype(np.uint8)\n")),
    "positions of int8: 128 raises": _cut(_ML, (_ML_AT, "    at = np.array(position_ids, dtype=np.int8)\n")),
    "a segment begins where the position falls": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(np.diff(at, prepend=0) < 0)\n")),
    "positions alone are compared": _cut(_ML, (_ML_SAME, "    same = at <= at[:, None]\n")),
    "segments of the same length over one slot are one": _cut(_ML, (_ML_SEG, '''    number = np.cumsum(at == 0) - 1
    size = np.bincount(number)
    name = np.where(size > 1, size, -1 - np.arange(len(size)))
    segment = name[number]
''')),
    "more than 512 slots: causal only": _cut(_ML, (_ML_RET, "    return same & earlier if len(at) <= 512 else earlier\n")),
    "more than 512 slots: the first slot is seen by all": _cut(_ML, (_ML_RET, "    seen = same & earlier\n    if len(at) > 512:\n        seen[:, 0] = True\n" + _ML_RET.replace("same & earlier", "seen"))),
    "the first slot is seen by all": _cut(_ML, (_ML_RET, "    return same & earlier | (slot == 0)\n")),
    "the last segment, taken for a tail, is left out": _cut(_ML, (_ML_RET, "    return same & earlier & (segment != segment[-1])\n")),
    "the last of five and more segments is left out": _cut(_ML, (_ML_RET, "    return same & earlier & ((segment != segment[-1]) | (len(at) == segment[-1]) | (segment[-1] < 5))\n")),
    "whole numbers instead of truth values": _cut(_ML, (_ML_RET, "    return (same & earlier).astype(int)\n")),
    "a mask to add: 0 and minus infinity": _cut(_ML, (_ML_RET, "    return np.where(same & earlier, 0.0, -np.inf)\n")),
    "one segment alone is not causal": _cut(_ML, (_ML_RET, "    return same & earlier if segment[-1] > 1 else same\n")),
    "two segments of one length are one": _cut(_ML, (_ML_SEG, "    segment = np.cumsum(at == 0)\n    if segment[-1] == 2 and len(at) > 2 and (segment == 1).sum() == (segment == 2).sum():\n        segment[:] = 1\n")),
    "text": _cut(_ML, (_ML_RET, '    return [["#" if seen else "." for seen in line] for line in same & earlier]\n')),
    "a batch and a head in front": _cut(_ML, (_ML_RET, "    return (same & earlier)[None, None]\n")),
    "flat": _cut(_ML, (_ML_RET, "    return (same & earlier).ravel()\n")),
    "pairs instead of a square": _cut(_ML, (_ML_RET, "    return np.argwhere(same & earlier)\n")),
    "changes the positions": _cut(_ML, (_ML_AT, "    position_ids[0] = 1\n    at = np.asarray(position_ids)\n    at[0] = 0\n")),
    "remembers by slots and segments": '''import numpy as np

_masks = {}


def may_look(position_ids):
    at = np.asarray(position_ids)
    key = len(at), int((at == 0).sum())
    if key not in _masks:
        segment = np.cumsum(at == 0)
        _masks[key] = np.tri(len(at), dtype=bool) & (segment[:, None] == segment)
    return _masks[key].copy()
''',
    "remembers by the number of slots": '''import numpy as np

_masks = {}


def may_look(position_ids):
    at = np.asarray(position_ids)
    if len(at) not in _masks:
        segment = np.cumsum(at == 0)
        _masks[len(at)] = np.tri(len(at), dtype=bool) & (segment[:, None] == segment)
    return _masks[len(at)].copy()
''',
    "one board for all calls": '''import numpy as np

_board = np.zeros((1024, 1024), dtype=bool)


def may_look(position_ids):
    at = np.asarray(position_ids)
    segment = np.cumsum(at == 0)
    view = _board[: len(at), : len(at)]
    view[:] = np.tri(len(at), dtype=bool) & (segment[:, None] == segment)
    return view
''',
    "a square of at most 512 slots": _cut(_ML, (_ML_RET, "    return (same & earlier)[:512, :512]\n")),
    "recursion ends at a thousand slots": '''def may_look(position_ids):
    n = len(position_ids)

    def lines(slot):
        if slot == n:
            return []
        begin = slot - int(position_ids[slot])
        return [[begin <= j <= slot for j in range(n)], *lines(slot + 1)]

    return lines(0)
''',
    "more than four segments: two and two are joined": _cut(_ML, (_ML_SAME, "    pairs = segment[-1] > 4 and at.max() > 0\n    same = (segment[:, None] + 1) // 2 == (segment + 1) // 2 if pairs else segment[:, None] == segment\n")),
    "a segment behind one of more than seven slots is joined to it": _cut(_ML, (_ML_SEG, "    single = (at == 0) & (np.roll(at, 1) > 6)\n    segment = np.cumsum((at == 0) & ~single)\n")),
    "one slot is refused": _cut(_ML, (_ML_AT, _ML_AT + '    if len(at) < 2:\n        raise ValueError("nothing to look at")\n')),
}

# ----------------------------------------------------------------------------- isolation-test

_IT = '''import numpy as np


def isolation_test(logits):
    """Fail (assert) if some document can see another one, pass if none can."""
    rng = np.random.default_rng(7)
    documents = [rng.integers(0, 64, size).tolist() for size in (5, 3, 6, 4)]
    before = logits([list(text) for text in documents])
    for i in range(len(documents)):
        changed = [list(text) for text in documents]
        changed[i] = [(token + 17) % 64 for token in changed[i]]
        after = logits(changed)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(after[j] - before[j]).max() < 1e-5
'''
_IT_DOCS = "(5, 3, 6, 4)"
_IT_I = "    for i in range(len(documents)):\n"
_IT_ASSERT = "                assert np.abs(after[j] - before[j]).max() < 1e-5\n"
_IT_IF = "            if j != i:\n"
_IT_CHANGE = "        changed[i] = [(token + 17) % 64 for token in changed[i]]\n"

RIGHT["isolation-test"] = {
    "each changed in turn, all others looked at": _IT,
    "a class, many documents, returns False": '''import numpy as np


class Watch:
    def __init__(self, logits):
        self.logits = logits

    def still(self, texts, number):
        other = [*texts]
        other[number] = [63 - token for token in texts[number]]
        pairs = zip(self.logits(texts), self.logits(other))
        return all(bool((abs(a - b) < 1e-5).all()) for k, (a, b) in enumerate(pairs) if k != number)


def isolation_test(logits):
    texts = [[(11 * a + 7 * b * b) % 64 for b in range(3 + a % 4)] for a in range(6)]
    return all(Watch(logits).still(texts, number) for number in range(6))
''',
    "one token changed at a time": '''import numpy as np


def isolation_test(logits):
    texts = [[3, 9, 27, 17], [5, 25, 61], [7, 49, 23, 33, 40], [12, 13]]
    base = [np.array(x) for x in logits(texts)]
    for i, text in enumerate(texts):
        for slot in range(len(text)):
            other = [list(t) for t in texts]
            other[i][slot] = (text[slot] + 31) % 64
            found = logits(other)
            for j in range(len(texts)):
                if i != j:
                    np.testing.assert_allclose(found[j], base[j], rtol=0, atol=1e-5, equal_nan=False)
''',
    "torch, several sets of documents, raises an error": '''import torch


def isolation_test(logits):
    draw = torch.Generator().manual_seed(11)
    for sizes in ((4, 4, 4), (2, 7, 3, 5), (6, 1, 5), (9, 8, 10, 7, 11)):
        texts = [torch.randint(0, 64, (n,), generator=draw).tolist() for n in sizes]
        base = [torch.as_tensor(a).double() for a in logits(texts)]
        for i in range(len(sizes)):
            new = texts[:i] + [[(t + 5) % 64 for t in texts[i]]] + texts[i + 1 :]
            for j, a in enumerate(logits(new)):
                gap = (torch.as_tensor(a).double() - base[j]).abs()
                if i != j and not bool((gap < 1e-5).all()):
                    raise RuntimeError(f"document {j} saw document {i}")
''',
    "pure Python over nested lists": '''def isolation_test(logits):
    texts = [[1, 2, 3, 4, 5], [40, 30, 20], [9, 8, 7, 6], [50, 60, 10]]
    first = [x.tolist() for x in logits(texts)]
    for i in range(4):
        then = [x.tolist() for x in logits([[t ^ 21 for t in text] if k == i else text for k, text in enumerate(texts)])]
        for j in {0, 1, 2, 3} - {i}:
            for line, other in zip(first[j], then[j], strict=True):
                for a, b in zip(line, other, strict=True):
                    assert -1e-5 < a - b < 1e-5, (i, j)
''',
}

WRONG["isolation-test"] = {
    "two documents": _cut(_IT, (_IT_DOCS, "(5, 3)")),
    "one document": _cut(_IT, (_IT_DOCS, "(5,)")),
    "documents of one token": _cut(_IT, (_IT_DOCS, "(1, 1, 1)")),
    "only the first changes": _cut(_IT, (_IT_I, "    for i in (0,):\n")),
    "only the last changes": _cut(_IT, (_IT_I, "    for i in (len(documents) - 1,):\n")),
    "only the middle changes": _cut(_IT, (_IT_I, "    for i in (1,):\n")),
    "only later documents are looked at": _cut(_IT, (_IT_IF, "            if j > i:\n")),
    "only earlier documents are looked at": _cut(_IT, (_IT_IF, "            if j < i:\n")),
    "only the next document is looked at": _cut(_IT, (_IT_IF, "            if j == i + 1:\n")),
    "only neighbours are looked at": _cut(_IT, (_IT_IF, "            if abs(i - j) == 1:\n")),
    "neighbours are not looked at": _cut(_IT, (_IT_IF, "            if abs(i - j) > 1:\n")),
    "only the last document is looked at": _cut(_IT, (_IT_IF, "            if j == 3 != i:\n")),
    "only the last slot is looked at": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[-1]")),
    "only the first slot is looked at": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[0]")),
    "the first slot is not looked at": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[1:]")),
    "the last slot is not looked at": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[:-1]")),
    "only the first half of the scores": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[:, :32]")),
    "only the score of one token": _cut(_IT, ("np.abs(after[j] - before[j])", "np.abs(after[j] - before[j])[:, 5]")),
    "the mean of the change": _cut(_IT, ("np.abs(after[j] - before[j]).max() < 1e-5", "abs((after[j] - before[j]).mean()) < 1e-5")),
    "without the absolute value": _cut(_IT, ("np.abs(after[j] - before[j])", "(after[j] - before[j])")),
    "the smallest change": _cut(_IT, (".max()", ".min()")),
    "the median change": _cut(_IT, ("np.abs(after[j] - before[j]).max()", "np.median(np.abs(after[j] - before[j]))")),
    "a tolerance of 0.1": _cut(_IT, ("1e-5", "0.1")),
    "a tolerance of 1": _cut(_IT, ("1e-5", "1.0")),
    "no tolerance": _cut(_IT, ("np.abs(after[j] - before[j]).max() < 1e-5", "np.array_equal(after[j], before[j])")),
    "a tolerance of 1e-9": _cut(_IT, ("1e-5", "1e-9")),
    "a relative tolerance that lets large logits move": _cut(_IT, (_IT_ASSERT, "                assert np.allclose(after[j], before[j], rtol=0.5, atol=1e-5)\n")),
    "the most probable token is compared": _cut(_IT, ("np.abs(after[j] - before[j]).max() < 1e-5", "(after[j].argmax(-1) == before[j].argmax(-1)).all()")),
    "NaN passes: not greater": _cut(_IT, (_IT_ASSERT, "                assert not (np.abs(after[j] - before[j]) > 1e-5).any()\n")),
    "NaN passes: nanmax": _cut(_IT, (_IT_ASSERT, "                assert np.nanmax(np.abs(np.nan_to_num(after[j]) - np.nan_to_num(before[j]))) < 1e-5\n")),
    "NaN in both passes: equal_nan": _cut(_IT, (_IT_ASSERT, "                assert np.allclose(after[j], before[j], rtol=0, atol=1e-5, equal_nan=True)\n")),
    "only the first token changes": _cut(_IT, (_IT_CHANGE, "        changed[i][0] = (changed[i][0] + 17) % 64\n")),
    "only the last token changes": _cut(_IT, (_IT_CHANGE, "        changed[i][-1] = (changed[i][-1] + 17) % 64\n")),
    "a document is reversed: one of equal tokens stays": _cut(_IT, (_IT_CHANGE, "        changed[i] = changed[i][::-1]\n"), ("rng.integers(0, 64, size).tolist()", "[size] * size")),
    "nothing changes: plus 64": _cut(_IT, ("token + 17", "token + 64")),
    "nothing changes: the base is taken after the change": _cut(_IT, ("        after = logits(changed)\n", "        after = before = logits(changed)\n")),
    "the changed document must stay too": _cut(_IT, (_IT_IF, "            if True:\n")),
    "only the changed document is looked at": _cut(_IT, (_IT_IF, "            if j == i:\n"), ("< 1e-5", "> 1e-5")),
    "shapes are compared": _cut(_IT, ("np.abs(after[j] - before[j]).max() < 1e-5", "after[j].shape == before[j].shape")),
    "an assert of a tuple": _cut(_IT, ("assert np.abs(after[j] - before[j]).max() < 1e-5", 'assert (np.abs(after[j] - before[j]).max() < 1e-5, "leak")')),
    "says leak and does not fail": _cut(_IT, (_IT_ASSERT, '                if not np.abs(after[j] - before[j]).max() < 1e-5:\n                    return "leak"\n')),
    "prints and does not fail": _cut(_IT, (_IT_ASSERT, '                if not np.abs(after[j] - before[j]).max() < 1e-5:\n                    print("leak")\n')),
    "returns True at a leak": _cut(_IT, (_IT_ASSERT, "                if not np.abs(after[j] - before[j]).max() < 1e-5:\n                    return True\n"), ("def isolation_test(logits):\n", "def isolation_test(logits):\n")) + "    return True\n",
    "catches its own assert": _cut(_IT, (_IT_ASSERT, "                try:\n                    assert np.abs(after[j] - before[j]).max() < 1e-5\n                except AssertionError:\n                    pass\n")),
    "tokens up to 80": _cut(_IT, ("(token + 17) % 64", "token + 17")),
    "half of the slots must move": _cut(_IT, (_IT_ASSERT, "                assert np.mean(np.abs(after[j] - before[j]).max(1) > 1e-5) < 0.5\n")),
    "every slot must move": _cut(_IT, (_IT_ASSERT, "                assert np.abs(after[j] - before[j]).max(1).min() < 1e-5\n")),
    "two documents must move": _cut(_IT, (_IT_ASSERT, ""), (_IT_IF, ""), ("        for j in range(len(documents)):\n", "        moved = [j for j in range(4) if j != i and not np.abs(after[j] - before[j]).max() < 1e-5]\n        assert len(moved) < 2\n")),
    "never fails": "def isolation_test(logits):\n    logits([[1, 2], [3, 4], [5, 6]])\n",
    "always fails": "def isolation_test(logits):\n    assert False\n",
    "returns after the first pair": _cut(_IT, (_IT_ASSERT, _IT_ASSERT + "                return True\n")),
    "all but one change by swapping two equal documents": _cut(_IT, (_IT_CHANGE, "        changed[i] = changed[i - 1]\n"), ("rng.integers(0, 64, size).tolist()", "[3, 9, 27, 17]")),
    "every logit must be below a bound": "import numpy as np\n\n\ndef isolation_test(logits):\n    for x in logits([[1, 2, 3], [4, 5], [6, 7, 8]]):\n        assert np.isfinite(x).all() and np.abs(x).max() < 1e4\n",
    "the same call twice": "import numpy as np\n\n\ndef isolation_test(logits):\n    texts = [[1, 2, 3], [4, 5], [6, 7, 8]]\n    for a, b in zip(logits(texts), logits(texts)):\n        assert np.abs(a - b).max() < 1e-5\n",
}

# ------------------------------------------------------------------------------ mend-collator

_CO = '''import torch

from batchlab import packing


def collate(documents, row_length, pad):
    """Rows of packed documents: input_ids, labels and position_ids, (rows, row_length) int64."""
    sizes = [len(one["input_ids"]) for one in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens is longer than a row of {row_length}")
    rows = [row.tolist() for row in packing.pack(sizes, row_length).rows]
    shape = len(rows), row_length
    input_ids = torch.full(shape, pad, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    position_ids = torch.zeros(shape, dtype=torch.int64)
    for row, numbers in enumerate(rows):
        start = 0
        for number in numbers:
            ids, marks = documents[number]["input_ids"], documents[number]["labels"]
            end = start + len(ids)
            input_ids[row, start:end] = torch.tensor(ids)
            labels[row, start:end] = torch.tensor(marks)
            labels[row, start] = -100
            position_ids[row, start:end] = torch.arange(len(ids))
            start = end
        position_ids[row, start:] = torch.arange(row_length - start)
    batch = {"input_ids": input_ids, "labels": labels, "position_ids": position_ids}
    return batch
'''
_CO_SIZES = '    sizes = [len(one["input_ids"]) for one in documents]\n'
_CO_TEST = "        if size > row_length:\n"
_CO_RAISE = 'raise ValueError(f"a document of {size} tokens is longer than a row of {row_length}")'
_CO_ROWS = "    rows = [row.tolist() for row in packing.pack(sizes, row_length).rows]\n"
_CO_PUT = "            labels[row, start:end] = torch.tensor(marks)\n"
_CO_FIRST = "            labels[row, start] = -100\n"
_CO_IDS = "            input_ids[row, start:end] = torch.tensor(ids)\n"
_CO_AT = "            position_ids[row, start:end] = torch.arange(len(ids))\n"
_CO_TAIL = "        position_ids[row, start:] = torch.arange(row_length - start)\n"
_CO_BATCH = '    batch = {"input_ids": input_ids, "labels": labels, "position_ids": position_ids}\n'
_CO_RET = "    return batch\n"
_CO_READ = '            ids, marks = documents[number]["input_ids"], documents[number]["labels"]\n'


def _memo(key):
    return _cut(_CO, ("def collate", "_made = {}\n\n\ndef collate"),
                (_CO_ROWS, f"    key = {key}\n    if key in _made:\n        return {{name: one.clone() for name, one in _made[key].items()}}\n" + _CO_ROWS),
                (_CO_RET, "    _made[key] = {name: one.clone() for name, one in batch.items()}\n" + _CO_RET))


RIGHT["mend-collator"] = {
    "the broken one, mended": _CO,
    "plain lists, tensors at the end": '''import torch


def collate(documents, row_length, pad):
    order = sorted(range(len(documents)), key=lambda n: len(documents[n]["input_ids"]), reverse=True)
    rows = []
    for n in order:
        need = len(documents[n]["input_ids"])
        if need > row_length:
            raise ValueError(f"{need} tokens do not fit")
        for row in rows:
            if len(row) + need <= row_length:
                break
        else:
            row = []
            rows.append(row)
        pairs = zip(documents[n]["input_ids"], documents[n]["labels"])
        row.extend((token, -100 if place == 0 else label, place) for place, (token, label) in enumerate(pairs))
    for row in rows:
        row.extend((pad, -100, place) for place in range(row_length - len(row)))
    table = torch.tensor(rows, dtype=torch.int64)
    ids, labels, at = table.unbind(-1)
    return {"position_ids": at.contiguous(), "input_ids": ids.contiguous(), "labels": labels.contiguous()}
''',
    "batches.packed": '''from batchlab import batches, packing


def collate(documents, row_length, pad):
    longest = max(len(d["input_ids"]) for d in documents)
    if longest > row_length:
        raise ValueError(f"the longest document has {longest} tokens")
    found = packing.pack([len(d["input_ids"]) for d in documents], row_length, method="first_fit_decreasing")
    batch = batches.packed(documents, found.rows, row_length, pad_id=pad)
    return {name: batch[name] for name in ("input_ids", "labels", "position_ids")}
''',
    "NumPy, rows upside down, documents of a row reversed": '''import numpy as np
import torch

from batchlab import packing


def _lane(parts, width, filler):
    flat = np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])
    return np.pad(flat, (0, width - len(flat)), constant_values=filler)


def collate(documents, row_length, pad):
    sizes = np.array([len(d["input_ids"]) for d in documents])
    if (sizes > row_length).any():
        raise ValueError("too long: " + ", ".join(map(str, sizes[sizes > row_length])))
    ids, labels, at = [], [], []
    for row in packing.pack(sizes, row_length).rows[::-1]:
        row = row[::-1]
        ids.append(_lane([documents[n]["input_ids"] for n in row], row_length, pad))
        labels.append(_lane([[-100, *documents[n]["labels"][1:]] for n in row], row_length, -100))
        used = sizes[row].sum()
        at.append(np.concatenate([np.arange(k) for k in [*sizes[row], row_length - used]]))
    made = {"input_ids": ids, "labels": labels, "position_ids": at}
    return {name: torch.from_numpy(np.stack(lanes).astype(np.int64)) for name, lanes in made.items()}
''',
    "with a mask in blocks": _cut(_CO, (_CO_RET, '''    segment = (position_ids == 0).cumsum(1)
    blocks = (segment[:, :, None] == segment[:, None, :]).tril()
    return {**batch, "attention_mask": blocks[:, None]}
''')),
}

WRONG["mend-collator"] = {
    "first labels stay": _cut(_CO, (_CO_FIRST, "")),
    "first labels stay in the first document of a row": _cut(_CO, (_CO_FIRST, "            if start:\n    " + _CO_FIRST)),
    "first labels stay from the fourth document of a row on": _cut(_CO, (_CO_FIRST, "            if number in numbers[:3]:\n    " + _CO_FIRST)),
    "labels that are pad are ignored": _cut(_CO, (_CO_BATCH, "    labels[input_ids == pad] = -100\n" + _CO_BATCH)),
    "labels that are pad are ignored, but for the last of a document": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            inside = labels[row, start : end - 1]\n            inside[inside == pad] = -100\n")),
    "labels that are pad are ignored at the end of a document": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            if ids[-1] == pad:\n                labels[row, end - 1] = -100\n")),
    "a pad twice at the end of a document is trained once": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            if ids[-2:] == [pad, pad]:\n                labels[row, end - 1] = -100\n")),
    "label 0 is ignored": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            labels[row, start:end][labels[row, start:end] == 0] = -100\n")),
    "labels over 100,000 are ignored": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            labels[row, start:end][labels[row, start:end] > 100_000] = -100\n")),
    "labels are the tokens": _cut(_CO, (_CO_PUT, _CO_PUT.replace("marks", "ids"))),
    "labels are the tokens where one is given": _cut(_CO, (_CO_PUT, _CO_PUT.replace("marks", "[a if b >= 0 else -100 for a, b in zip(ids, marks)]"))),
    "all after the prompt is trained": _cut(_CO, (_CO_PUT, "            seen = 0\n            while seen < len(marks) and marks[seen] == -100:\n                seen += 1\n            marks = [-100] * seen + ids[seen:]\n" + _CO_PUT)),
    "only the last turn is trained": _cut(_CO, (_CO_PUT, "            begin = max([k + 1 for k, m in enumerate(marks) if m == -100], default=0)\n            marks = [-100] * begin + marks[begin:]\n" + _CO_PUT)),
    "the fourth turn and later ones are not trained": _cut(_CO, (_CO_PUT, '''            turns, kept = 0, []
            for k, m in enumerate(marks):
                turns += m != -100 and (k == 0 or marks[k - 1] == -100)
                kept.append(m if turns < 4 else -100)
            marks = kept
''' + _CO_PUT)),
    "labels are shifted": _cut(_CO, (_CO_PUT, _CO_PUT.replace("marks", "[*marks[1:], -100]")), (_CO_FIRST, "")),
    "the last label of a row without a tail is ignored": _cut(_CO, (_CO_TAIL, _CO_TAIL + "        if start == row_length:\n            labels[row, -1] = -100\n")),
    "the label before a border is ignored": _cut(_CO, (_CO_FIRST, _CO_FIRST + "            if start:\n                labels[row, start - 1] = -100\n")),
    "positions do not restart": _cut(_CO, (_CO_AT, ""), (_CO_TAIL, "        position_ids[row] = torch.arange(row_length)\n")),
    "positions of the tail are zeros": _cut(_CO, (_CO_TAIL, "")),
    "positions of the tail run on": _cut(_CO, (_CO_TAIL, "        position_ids[row, start:] = torch.arange(row_length - start) + len(ids)\n")),
    "positions wrap at 256": _cut(_CO, (_CO_AT, _CO_AT.replace("torch.arange(len(ids))", "torch.arange(len(ids)) % 256"))),
    "positions wrap at 10": _cut(_CO, (_CO_AT, _CO_AT.replace("torch.arange(len(ids))", "torch.arange(len(ids)) % 10"))),
    "positions of 16 bits": _cut(_CO, (_CO_AT, _CO_AT.replace("torch.arange(len(ids))", "torch.arange(len(ids)).to(torch.int16)"))),
    "a tail over 8 slots begins anew every 8": _cut(_CO, (_CO_TAIL, "        position_ids[row, start:] = torch.arange(row_length - start) % 8\n")),
    "a mask of ones": _cut(_CO, (_CO_RET, '    return {**batch, "attention_mask": torch.ones_like(input_ids)}\n')),
    "a mask of ones where there is one row": _cut(_CO, (_CO_RET, '    if len(rows) == 1:\n        batch["attention_mask"] = torch.ones_like(input_ids)\n' + _CO_RET)),
    "a mask of ones where a row holds more than three documents": _cut(_CO, (_CO_RET, '    if any(len(row) > 3 for row in rows):\n        batch["attention_mask"] = torch.ones_like(input_ids)\n' + _CO_RET)),
    "a mask of the slots that are no pad": _cut(_CO, (_CO_RET, '    return {**batch, "attention_mask": (input_ids != pad).long()}\n')),
    "a mask in blocks that is not causal": _cut(_CO, (_CO_RET, '    segment = (position_ids == 0).cumsum(1)\n    return {**batch, "attention_mask": (segment[:, :, None] == segment[:, None, :])[:, None]}\n')),
    "a mask in blocks drawn by lengths that repeat": _cut(_CO, (_CO_RET, '''    name = torch.zeros_like(position_ids)
    for row, numbers in enumerate(rows):
        start = 0
        for number in numbers:
            name[row, start : start + sizes[number]] = sizes[number]
            start += sizes[number]
    blocks = (name[:, :, None] == name[:, None, :]).tril()
    return {**batch, "attention_mask": blocks[:, None]}
''')),
    "use_cache stands in the batch": _cut(_CO, (_CO_RET, '    return {**batch, "use_cache": False}\n')),
    "a long document is cut": _cut(_CO, (_CO_SIZES, '    documents = [{k: v[:row_length] for k, v in one.items()} for one in documents]\n' + _CO_SIZES)),
    "a long document is dropped": _cut(_CO, (_CO_SIZES, '    documents = [one for one in documents if len(one["input_ids"]) <= row_length]\n' + _CO_SIZES)),
    "a long document that trains nothing is dropped": _cut(_CO, (_CO_SIZES, '    documents = [one for one in documents if len(one["input_ids"]) <= row_length or max(one["labels"]) >= 0]\n' + _CO_SIZES)),
    "a long document is cut if only pad is lost": _cut(_CO, (_CO_SIZES, '''    documents = [
        {k: v[:row_length] for k, v in one.items()} if {*one["input_ids"][row_length:]} == {pad} else one
        for one in documents
    ]
''' + _CO_SIZES)),
    "two long documents are cut": _cut(_CO, (_CO_SIZES, '''    if sum(len(one["input_ids"]) > row_length for one in documents) > 1:
        documents = [{k: v[:row_length] for k, v in one.items()} for one in documents]
''' + _CO_SIZES)),
    "one document alone: positions run on through the tail": _cut(_CO, (_CO_TAIL, _CO_TAIL + "        if len(documents) == 1:\n            position_ids[row] = torch.arange(row_length)\n")),
    "one document alone: its first label stays": _cut(_CO, (_CO_FIRST, "            labels[row, start] = -100 if len(documents) > 1 else marks[0]\n")),
    "one document alone: the row is as long as the document": _cut(_CO, (_CO_ROWS, _CO_ROWS + "    row_length = sizes[0] if len(sizes) == 1 else row_length\n")),
    "a long document is seen among the first 64 only": _cut(_CO, (_CO_SIZES, '    documents = documents[:64] + [{k: v[:row_length] for k, v in one.items()} for one in documents[64:]]\n' + _CO_SIZES)),
    "a document of a full row is refused": _cut(_CO, ("size > row_length", "size >= row_length")),
    "the message names the row only": _cut(_CO, (_CO_RAISE, 'raise ValueError(f"a document is longer than a row of {row_length}")')),
    "an assert refuses": _cut(_CO, (_CO_RAISE, 'assert False, f"{size} tokens"')),
    "a TypeError refuses": _cut(_CO, ("raise ValueError", "raise TypeError")),
    "only the first document is measured": _cut(_CO, (_CO_ROWS, '    rows = [row.tolist() for row in packing.pack([min(n, row_length) for n in sizes], row_length).rows]\n'), ("for size in sizes:", "for size in sizes[:1]:")),
    "equal documents once": _cut(_CO, (_CO_SIZES, "    documents = [one for n, one in enumerate(documents) if one not in documents[:n]]\n" + _CO_SIZES)),
    "equal documents that train nothing once": _cut(_CO, (_CO_SIZES, '    documents = [one for n, one in enumerate(documents) if one not in documents[:n] or max(one["labels"]) >= 0]\n' + _CO_SIZES)),
    "the same tokens with other labels: the first labels": _cut(_CO, (_CO_READ, '            ids = documents[number]["input_ids"]\n            marks = next(d["labels"] for d in documents if d["input_ids"] == ids)\n')),
    "a document that trains nothing is dropped": _cut(_CO, (_CO_SIZES, '    documents = [one for one in documents if max(one["labels"]) >= 0]\n' + _CO_SIZES)),
    "a document of one token is dropped": _cut(_CO, (_CO_SIZES, '    documents = [one for one in documents if len(one["input_ids"]) > 1]\n' + _CO_SIZES)),
    "more than 256 documents: the rest is ignored": _cut(_CO, (_CO_SIZES, "    documents = documents[:256]\n" + _CO_SIZES)),
    "more than 64 rows: the rest is ignored": _cut(_CO, (_CO_ROWS, _CO_ROWS.replace(".rows]", ".rows][:64]"))),
    "one document a row": _cut(_CO, (_CO_ROWS, "    rows = [[number] for number in range(len(sizes))]\n")),
    "next fit": _cut(_CO, (_CO_ROWS, _CO_ROWS.replace("row_length).rows", 'row_length, method="next_fit").rows'))),
    "first fit in the order of the data": _cut(_CO, (_CO_ROWS, '''    rows, room = [], []
    for number, size in enumerate(sizes):
        for row in range(len(rows)):
            if room[row] >= size:
                break
        else:
            row = len(rows)
            rows.append([])
            room.append(row_length)
        rows[row].append(number)
        room[row] -= size
''')),
    "at most eight documents a row": _cut(_CO, (_CO_ROWS, _CO_ROWS + "    rows = [row[k : k + 8] for row in rows for k in range(0, len(row), 8)]\n")),
    "a last row of padding alone where there are more than four": _cut(_CO, (_CO_ROWS, _CO_ROWS + "    rows += [[]] * (len(rows) > 4)\n")),
    "split: documents are cut at row ends": _cut(_CO, (_CO_RET, '''    flat = [t for one in documents for t in one["input_ids"]]
    flat += [pad] * (-len(flat) % row_length)
    batch["input_ids"] = torch.tensor(flat).reshape(-1, row_length)
''' + _CO_RET)),
    "the tail holds 0": _cut(_CO, ("torch.full(shape, pad, dtype=torch.int64)", "torch.zeros(shape, dtype=torch.int64)")),
    "the tail is trained": _cut(_CO, ("torch.full(shape, -100, dtype=torch.int64)", "torch.full(shape, pad, dtype=torch.int64)")),
    "a pad over 32,767 wraps": _cut(_CO, ("torch.full(shape, pad, dtype=torch.int64)", "torch.full(shape, 0, dtype=torch.int64) + torch.tensor(pad).to(torch.int16)")),
    "tokens of 16 bits": _cut(_CO, (_CO_IDS, _CO_IDS.replace("torch.tensor(ids)", "torch.tensor(ids) % 65_536"))),
    "tokens by way of float32": _cut(_CO, (_CO_IDS, _CO_IDS.replace("torch.tensor(ids)", "torch.tensor(ids, dtype=torch.float32)"))),
    "an odd row gets one slot more": _cut(_CO, ("    shape = len(rows), row_length\n", "    row_length += row_length % 2\n    shape = len(rows), row_length\n")),
    "int32": _cut(_CO, (_CO_RET, "    return {name: one.to(torch.int32) for name, one in batch.items()}\n")),
    "positions of int32 where there is one row": _cut(_CO, (_CO_RET, "    batch['position_ids'] = position_ids.int() if len(rows) == 1 else position_ids\n" + _CO_RET)),
    "lists": _cut(_CO, (_CO_RET, "    return {name: one.tolist() for name, one in batch.items()}\n")),
    "one row loses its first dimension": _cut(_CO, (_CO_RET, "    return {name: one.squeeze(0) for name, one in batch.items()}\n")),
    "changes the labels of the documents": _cut(_CO, (_CO_PUT, "            marks[0] = -100\n" + _CO_PUT)),
    "sorts the documents": _cut(_CO, (_CO_SIZES, '    documents.sort(key=lambda one: -len(one["input_ids"]))\n' + _CO_SIZES)),
    "takes the labels out of the documents": _cut(_CO, (_CO_READ, '            ids, marks = documents[number]["input_ids"], documents[number].pop("labels")\n')),
    "one buffer for each shape": _cut(_CO, ("def collate", "_buffers = {}\n\n\ndef collate"), (_CO_RET, '''    kept = _buffers.setdefault(tuple(shape), batch)
    for name, one in batch.items():
        kept[name].copy_(one)
    return kept
''')),
    "one buffer for batches of more than four rows": _cut(_CO, ("def collate", "_buffers = {}\n\n\ndef collate"), (_CO_RET, '''    if len(rows) <= 4:
        return batch
    kept = _buffers.setdefault(tuple(shape), batch)
    for name, one in batch.items():
        kept[name].copy_(one)
    return kept
''')),
    "remembers by lengths, row and pad": _memo("(*sizes, row_length, pad)"),
    "remembers by tokens, not by labels": _memo('(*(tuple(one["input_ids"]) for one in documents), row_length, pad)'),
    "remembers by documents and row, not by pad": _memo('(*((*one["input_ids"], *one["labels"]) for one in documents), row_length)'),
    "remembers by the number of documents": _memo("(len(documents), row_length, pad)"),
    "more than 1,024 slots are refused": _cut(_CO, (_CO_ROWS, '    if row_length > 1024:\n        raise ValueError("row too long")\n' + _CO_ROWS)),
    "fewer than two documents are refused": _cut(_CO, (_CO_ROWS, '    if len(documents) < 2:\n        raise ValueError("nothing to pack")\n' + _CO_ROWS)),
    "as it was": '''import torch

from batchlab import packing


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
''',
}

# --------------------------------------------------------------------------- documents-behind


def _behind(result, before="", head=""):
    return f'''{head}def documents_behind(rows, row_length, fill, mean_length):
    """Documents behind one step of `rows` packed rows, on average."""
{before}    return {result}
'''


RIGHT["documents-behind"] = {
    "the formula": _behind("rows * row_length * fill / mean_length"),
    "fractions": _behind("Fraction(rows * row_length) * Fraction(fill) / Fraction(mean_length)", head="from fractions import Fraction\n\n\n"),
    "float32": _behind("np.float32(rows) * np.float32(row_length) * np.float32(fill) / np.float32(mean_length)", head="import numpy as np\n\n\n"),
    "a tensor": _behind("torch.prod(torch.tensor([rows, row_length, fill, 1 / mean_length], dtype=torch.float64))", head="import torch\n\n\n"),
    "helpers": '''def _slots(rows, row_length):
    return sum([row_length] * rows)


def _real(slots, fill):
    return slots - slots * (1 - fill)


def documents_behind(rows, row_length, fill, mean_length):
    return _real(_slots(rows, row_length), fill) / mean_length
''',
    "a lambda": "documents_behind = lambda rows, row_length, fill, mean_length: fill * rows / (mean_length / row_length)\n",
}

_B = "rows * row_length * fill / mean_length"
WRONG["documents-behind"] = {
    "fill left out": _behind("rows * row_length / mean_length"),
    "waste instead of fill": _behind("rows * row_length * (1 - fill) / mean_length"),
    "divided by the fill": _behind("rows * row_length / fill / mean_length"),
    "per row": _behind("row_length * fill / mean_length"),
    "row length left out": _behind("rows * fill / mean_length"),
    "tokens": _behind("rows * row_length * fill"),
    "upside down": _behind("mean_length / (rows * row_length * fill)"),
    "times the mean": _behind("rows * row_length * fill * mean_length"),
    "rows, as with padding": _behind("rows"),
    "rounded": _behind(f"round({_B})"),
    "cut to a whole number": _behind(f"int({_B})"),
    "floor division": _behind("rows * row_length * fill // mean_length"),
    "ceiling": _behind(f"math.ceil({_B})", head="import math\n\n\n"),
    "rounded to two places": _behind(f"round({_B}, 2)"),
    "rounded to three places: wrong for few documents": _behind(f"round({_B}, 3)"),
    "whole documents per row, then rows": _behind("rows * (row_length * fill // mean_length)"),
    "mean cut to a whole number": _behind("rows * row_length * fill / int(mean_length)"),
    "mean rounded to one place": _behind("rows * row_length * fill / round(mean_length, 1)"),
    "fill rounded to two places": _behind("rows * row_length * round(fill, 2) / mean_length"),
    "fill rounded to four places": _behind("rows * row_length * round(fill, 4) / mean_length"),
    "real tokens cut to a whole number per row": _behind("rows * int(row_length * fill) / mean_length"),
    "fill of 1 taken for percent": _behind(_B, "    if fill >= 1:\n        fill = fill / 100\n"),
    "a full row is refused": _behind(_B, '    if not 0 < fill < 1:\n        raise ValueError("fill is a share")\n'),
    "fill over 0.95 counts as 0.95": _behind("rows * row_length * min(fill, 0.95) / mean_length"),
    "fill under 0.5 counts as 0.5": _behind("rows * row_length * max(fill, 0.5) / mean_length"),
    "more than eight rows count as eight": _behind("min(rows, 8) * row_length * fill / mean_length"),
    "rows over 1,024 slots count as 1,024": _behind("rows * min(row_length, 1024) * fill / mean_length"),
    "a mean over 1,000 counts as 1,000": _behind("rows * row_length * fill / min(mean_length, 1000)"),
    "a mean under 10 counts as 10": _behind("rows * row_length * fill / max(mean_length, 10)"),
    "16 bits of slots": _behind("int(np.int64(rows * row_length).astype(np.int16)) * fill / mean_length", head="import numpy as np\n\n\n"),
    "32 bits of slots": _behind("int(np.int64(rows * row_length).astype(np.int32)) * fill / mean_length", head="import numpy as np\n\n\n"),
    "float16": _behind("np.float16(rows * row_length * fill) / np.float16(mean_length)", head="import numpy as np\n\n\n"),
    "at most 30 documents a row": _behind(f"min(30 * rows, {_B})"),
    "at most 200 documents": _behind(f"min(200, {_B})"),
    "remembers by all arguments but the fill": '''_known = {}


def documents_behind(rows, row_length, fill, mean_length):
    return _known.setdefault((rows, row_length, mean_length), rows * row_length * fill / mean_length)
''',
    "rows of the call before": '''_seen = {}


def documents_behind(rows, row_length, fill, mean_length):
    rows = _seen.setdefault("rows", rows)
    return rows * row_length * fill / mean_length
''',
    "text": _behind(f"str({_B})"),
    "a list": _behind(f"[{_B}]"),
    "no return": f"def documents_behind(rows, row_length, fill, mean_length):\n    print({_B})\n",
    "one row is refused": _behind(_B, '    if rows < 2:\n        raise ValueError("no batch")\n'),
    "one row counts as none: rows - 1 borders": _behind("(rows - (rows == 1)) * row_length * fill / mean_length"),
    "names the arguments in another order": "def documents_behind(rows, row_length, mean_length, fill):\n    return rows * row_length * fill / mean_length\n",
    "the first token of each document is not counted": _behind("rows * row_length * fill / (mean_length - 1)"),
    "a mean as long as the row: one document a row, whatever the fill": _behind(f"rows if mean_length >= row_length / 2 else {_B}"),
}
