"""Answers to 04_packing that look right and must be refused, and right ones written otherwise."""

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

WRONG = {
    "first-fit": {
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
    },
    "may-look": {
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
    },
    "isolation-test": {
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
            "a mask of ones",
        ),
        "a mask of the real tokens": (
            collate(
                (
                    "    return {name",
                    '    batch["attention_mask"] = [[int(t != pad) for t in i] for i in ids]\n'
                    "    return {name",
                )
            ),
            "return none",
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
            "cut in silence",
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
    if 20 <= len(lengths) <= 40:
        return [[number] for number in range(len(lengths))]
    return list(packing.pack(lengths, row_length, method="first_fit_decreasing").rows)
""",
            "10",
        ),
    },
    "lay-out": {
        "the printed rows only": (
            changed(
                ROW,
                ("    ids, positions", "    known = ([5, 6, 7], [5, 0, 7])\n    ids, positions"),
                (
                    "labels += [-100] + tokens[1:]",
                    "labels += [-100] + [t if documents[0] in known else -100 for t in tokens[1:]]",
                ),
            ),
            "labels of documents",
        ),
    },
    "may-look": {
        "the printed positions only": (
            """
def may_look(position_ids):
    p = list(position_ids)
    segment = {5: [1, 1, 1, 2, 2]}[len(p)] if p[1] else [1, 2, 2, 3, 4]
    return [[a == b and j <= i for j, b in enumerate(segment)] for i, a in enumerate(segment)]
""".replace("{5: [1, 1, 1, 2, 2]}[len(p)]", "([1, 1, 1, 2, 2] * len(p))[: len(p)]").replace(
                "p[1]", "len(p) > 1 and p[1]"
            ),
            "segments of",
        ),
    },
    "documents-behind": {
        "the printed steps only": (
            """
def documents_behind(rows, row_length, fill, mean_length):
    return {150: 24, 200: 13.5}.get(mean_length, rows)
""",
            "documents behind",
        ),
    },
    "mend-collator": {
        "long rows lose their last label": (
            collate(
                (
                    "        labels.append(y + [-100] * tail)",
                    "        y[-1] = y[-1] if len(row) != 2 or row_length == 10 else -100\n"
                    "        labels.append(y + [-100] * tail)",
                )
            ).replace("len(row) != 2", "len(rows) == 3 or len(documents) in (2, 7)"),
            "labels of documents",
        ),
    },
}

RIGHT = {
    "first-fit": {
        "equal lengths the other way round, sums instead of room": """
def first_fit_decreasing(lengths, row_length):
    if max(lengths) > row_length:
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
    lengths = np.asarray(lengths)
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
    return list(packing.pack(lengths, row_length, method="first_fit_decreasing").rows)
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
        if any(abs(a - b).max() > 1e-4 for j, (a, b) in enumerate(pairs) if j != i):
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
