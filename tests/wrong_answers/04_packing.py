"""Answers to 04_packing that look right and must be refused, and right ones written otherwise."""

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
        "sorts what it was given": (
            fit(
                ("    rows, room = [], []\n", "    rows, room = [], []\n    given = [*lengths]\n"),
                ("    return rows", "    lengths.sort()\n    return rows"),
            ),
            "changed",
        ),
    },
    "fewest-rows": {
        "rounded down": (
            "def fewest_rows(lengths, row_length):\n    return sum(lengths) // row_length",
            "rounded down",
        ),
        "not rounded": (
            "def fewest_rows(lengths, row_length):\n    return sum(lengths) / row_length",
            "round up",
        ),
        "always one more": (
            "def fewest_rows(lengths, row_length):\n    return sum(lengths) // row_length + 1",
            "what is left over",
        ),
        "a row for each document": (
            "def fewest_rows(lengths, row_length):\n"
            "    return sum(-(-x // row_length) for x in lengths)",
            "row for each document",
        ),
        "the rows of a packing": (
            "def fewest_rows(lengths, row_length):\n"
            "    return len(first_fit_decreasing(lengths, row_length))",
            "rows of whole documents",
        ),
        "a float": (
            "def fewest_rows(lengths, row_length):\n"
            "    return float(np.ceil(sum(lengths) / row_length))",
            "a count is an int",
        ),
    },
    "row-found": {
        "a row that cuts": (
            'def row_found():\n    return 2048, "first_fit_decreasing"',
            "it cuts",
        ),
        "not proven": (
            'def row_found():\n    return 4096, "next_fit"',
            "fewer rows may be possible",
        ),
        "splits": ('def row_found():\n    return 4096, "split"', "it cuts"),
        "longer than needed": (
            'def row_found():\n    return 8192, "best_fit_decreasing"',
            "a shorter row does too",
        ),
        "the row alone": ("def row_found():\n    return 4096", "a row and a method"),
        "method before row": (
            'def row_found():\n    return "best_fit_decreasing", 4096',
            "the row comes first",
        ),
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
            "work on a copy",
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
        "one document a row": ("def documents_behind():\n    return 16", "padded step"),
        "one row": ("def documents_behind():\n    return 4096 * 0.998 / 182", "one row"),
        "slots": ("def documents_behind():\n    return 16 * 4096", "not documents"),
        "per cent": ("def documents_behind():\n    return 16 * 4096 * 99.8 / 182", "0.998"),
        "whole documents a row": (
            "def documents_behind():\n    return 16 * int(4096 * 0.998 / 182)",
            "rounded too early",
        ),
    },
}

HIDDEN = {
    "first-fit": {
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
    },
    "lay-out": {
        "an empty segment behind a full row": (
            row(
                (
                    "    if tail:\n        borders.append(row_length)\n",
                    "    borders.append(row_length)\n",
                )
            ),
            "cu_seqlens of documents",
        ),
    },
    "may-look": {
        "a border is where positions fall": (
            """
def may_look(position_ids):
    p = np.asarray(position_ids)
    segment = np.concatenate([[0], np.cumsum(np.diff(p) < 0)])
    slot = np.arange(len(p))
    return (segment[:, None] == segment) & (slot[:, None] >= slot)
""",
            "segments of",
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
            "segments of",
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
    return packing.pack(lengths, row_length, method="first_fit_decreasing").rows
""",
    },
    "fewest-rows": {
        "math.ceil": """
import math


def fewest_rows(lengths, row_length):
    return math.ceil(sum(lengths) / row_length)
""",
    },
    "row-found": {
        "best fit is as good": 'def row_found():\n    return [4096, "best_fit_decreasing"]',
        "as the widget writes it": 'def row_found():\n    return 4096, "first fit decreasing"',
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
    "documents-behind": {"rounded": "def documents_behind():\n    return 360"},
}
