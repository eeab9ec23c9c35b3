"""Lesson 04, tried as a student (s1). WRONG: truly wrong by the text. RIGHT: honest styles."""
FF = '''def first_fit_decreasing(lengths, row_length):
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
'''
IMPORTS = "import numpy as np\nimport torch\nfrom batchlab import packing, batches\n"
LAY = '''def lay_out(documents, row_length):
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
'''
MASK = '''def may_look(position_ids):
    segment = np.cumsum(np.asarray(position_ids) == 0)
    slots = np.arange(len(segment))
    return (segment[:, None] == segment) & (slots[:, None] >= slots)
'''
ISO = '''def isolation_test(logits):
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 64, n).tolist() for n in (5, 7, 4)]
    before = logits([list(t) for t in texts])
    for changed in range(len(texts)):
        new = [list(t) for t in texts]
        new[changed] = [(token + 1) % 64 for token in new[changed]]
        after = logits(new)
        for other in range(len(texts)):
            if other != changed:
                assert np.abs(np.asarray(before[other]) - np.asarray(after[other])).max() < 1e-5
'''
COL = '''def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    found = packing.pack(sizes, row_length)
    shape = len(found.rows), row_length
    batch = {"input_ids": torch.full(shape, pad), "labels": torch.full(shape, -100),
             "position_ids": torch.zeros(shape, dtype=torch.int64)}
    for row, numbers in enumerate(found.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            batch["input_ids"][row, start:end] = torch.tensor(documents[number]["input_ids"])
            batch["labels"][row, start:end] = torch.tensor(documents[number]["labels"])
            batch["labels"][row, start] = -100
            batch["position_ids"][row, start:end] = torch.arange(end - start)
            start = end
        batch["position_ids"][row, start:] = torch.arange(row_length - start)
    return batch
'''
def but(code, *pairs):
    for old, new in pairs:
        assert old in code, old
        code = code.replace(old, new)
    return IMPORTS + code
RIGHT = {
    "first-fit": {
        "loop": FF,
        "library": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
    return [row.tolist() for row in packing.pack(lengths, row_length, method="first_fit_decreasing").rows]
''',
        "argsort, tuples": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
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
''',
        "arrays, sums asked anew": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
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
''',
    },
    "row-found": {
        "int": "def row_found():\n    return 4864\n",
        "NumPy int": IMPORTS + "def row_found():\n    return np.int64(4864)\n",
        "computed": '''from batchlab import lengths, packing
def row_found():
    documents = lengths.embedded()
    for size in range(3072, 6401, 256):
        p = packing.pack(documents, size, method="next_fit", too_long="split")
        if p.cut_documents == 0 and p.row_count <= 1.05 * p.lower_bound:
            return size
''',
    },
    "lay-out": {
        "loop": LAY,
        "NumPy": IMPORTS + '''def lay_out(documents, row_length):
    sizes = [len(d) for d in documents]
    tail = row_length - sum(sizes)
    parts = sizes + ([tail] if tail else [])
    ids = np.concatenate([*map(np.asarray, documents), np.zeros(tail, dtype=int)]).astype(int)
    at = np.concatenate([np.arange(n) for n in parts])
    labels = np.where(at == 0, -100, ids)
    labels[sum(sizes):] = -100
    return dict(input_ids=ids, position_ids=at, labels=labels, cu_seqlens=np.cumsum([0] + parts))
''',
        "torch": IMPORTS + '''def lay_out(documents, row_length):
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
''',
        "tuples": '''def lay_out(documents, row_length):
    tail = row_length - sum(map(len, documents))
    segments = [tuple(d) for d in documents] + [(7,) * tail] * (tail > 0)
    borders = [0]
    for s in segments:
        borders.append(borders[-1] + len(s))
    labels = sum(((-100,) + s[1:] for s in segments[:len(documents)]), ()) + (-100,) * tail
    return {"input_ids": sum(segments, ()), "position_ids": tuple(i for s in segments for i in range(len(s))),
            "labels": labels, "cu_seqlens": tuple(borders)}
''',
        "library": IMPORTS + '''def lay_out(documents, row_length):
    batch = batches.packed(documents, [list(range(len(documents)))], row_length)
    names = "input_ids", "position_ids", "labels"
    return {**{n: batch[n][0] for n in names}, "cu_seqlens": batch["cu_seqlens"]}
''',
    },
    "may-look": {
        "cumsum": IMPORTS + MASK,
        "loop, lists of bool": '''def may_look(position_ids):
    n = len(position_ids)
    start = [i - int(p) for i, p in enumerate(position_ids)]
    return [[start[i] <= j <= i for j in range(n)] for i in range(n)]
''',
        "torch": IMPORTS + '''def may_look(position_ids):
    at = torch.as_tensor(position_ids)
    segment = torch.cumsum(at == 0, 0)
    return torch.tril(segment[:, None] == segment[None])
''',
        "blocks": IMPORTS + '''def may_look(position_ids):
    mask = np.zeros((len(position_ids),) * 2, dtype=bool)
    for i, p in enumerate(position_ids):
        mask[i, i - p:i + 1] = True
    return mask
''',
    },
    "isolation-test": {
        "each in turn": IMPORTS + ISO,
        "forward only": IMPORTS + '''def isolation_test(logits):
    texts = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10], [11, 12, 13, 14, 15], [16, 17, 18]]
    a = logits(texts)
    for i in range(len(texts)):
        b = logits([[63 - t for t in x] if k == i else x for k, x in enumerate(texts)])
        for k, (p, q) in enumerate(zip(a, b)):
            assert k == i or np.allclose(p, q, rtol=0, atol=1e-5), (i, k)
''',
        "against alone": but(ISO, ("after = logits(new)", "after = logits(tuple(new))")),
        "torch compare, many draws": IMPORTS + '''def isolation_test(logits):
    rng = np.random.default_rng(1)
    for _ in range(3):
        texts = [rng.integers(0, 64, int(rng.integers(2, 9))).tolist() for _ in range(4)]
        base = logits(texts)
        for i in range(4):
            other = list(texts)
            other[i] = [(t + 17) % 64 for t in texts[i]]
            for k, (p, q) in enumerate(zip(base, logits(other))):
                if k != i and not torch.allclose(torch.tensor(p), torch.tensor(q), rtol=0, atol=2e-5):
                    raise AssertionError(f"document {k} sees document {i}")
''',
    },
    "mend-collator": {
        "mended": IMPORTS + COL,
        "own packing, lists": IMPORTS + FF + '''
def collate(documents, row_length, pad):
    rows = first_fit_decreasing([len(d["input_ids"]) for d in documents], row_length)
    out = {"input_ids": [], "labels": [], "position_ids": []}
    for row in rows:
        ids, labels, at = [], [], []
        for n in row:
            d = documents[n]
            ids += list(d["input_ids"]); labels += [-100, *d["labels"][1:]]; at += range(len(d["input_ids"]))
        tail = row_length - len(ids)
        out["input_ids"].append(ids + [pad] * tail)
        out["labels"].append(labels + [-100] * tail)
        out["position_ids"].append(at + list(range(tail)))
    return {k: torch.tensor(v, dtype=torch.int64) for k, v in out.items()}
''',
        "library": IMPORTS + '''def collate(documents, row_length, pad):
    rows = packing.pack([len(d["input_ids"]) for d in documents], row_length).rows
    batch = batches.packed(documents, rows, row_length, pad_id=pad)
    return {n: batch[n] for n in ("input_ids", "labels", "position_ids")}
''',
        "a mask in blocks, 4 dimensions, bool": but(COL, ("    return batch", '''    segment = torch.cumsum(batch["position_ids"] == 0, 1)
    own = segment[:, :, None] == segment[:, None, :]
    batch["attention_mask"] = torch.tril(own)[:, None]
    return batch''')),
        "a mask in blocks, 4 dimensions, float": but(COL, ("    return batch", '''    segment = torch.cumsum(batch["position_ids"] == 0, 1)
    own = torch.tril(segment[:, :, None] == segment[:, None, :])[:, None]
    batch["attention_mask"] = torch.zeros(own.shape).masked_fill(~own, torch.finfo(torch.float32).min)
    return batch''')),
        "rows shuffled": but(COL, ("found = packing.pack(sizes, row_length)", '''found = packing.pack(sizes, row_length, method="first_fit_decreasing")'''),
                             ("enumerate(found.rows)", "enumerate(reversed(found.rows))")),
    },
    "documents-behind": {
        "plain": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * fill / mean_length\n",
        "Fraction": '''from fractions import Fraction
def documents_behind(rows, row_length, fill, mean_length):
    return Fraction(rows * row_length) * Fraction(fill) / Fraction(mean_length)
''',
        "float32": IMPORTS + "def documents_behind(rows, row_length, fill, mean_length):\n    return np.float32(row_length) / np.float32(mean_length) * np.float32(fill) * rows\n",
        "a row at a time": '''def documents_behind(rows, row_length, fill, mean_length):
    total = 0.0
    for _ in range(rows):
        total += fill * row_length / mean_length
    return total
''',
    },
}
WRONG = {
    "first-fit": {
        "the caller's list is used up": '''def first_fit_decreasing(lengths, row_length):
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
''',
        "refusal names the document number, not the length": but(FF, ('for n in lengths:\n        if n > row_length:\n            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")',
            'for i, n in enumerate(lengths):\n        if n > row_length:\n            raise ValueError(f"document {i} does not fit {row_length} slots")')),
        "refuses a row's exact length": but(FF, ("if n > row_length:", "if n >= row_length:")),
        "library default, best fit": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
    return [row.tolist() for row in packing.pack(lengths, row_length).rows]
''',
        "long documents are left out": but(FF, ('            raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")', '            pass'),
                                           ("key=lambda i: -int(lengths[i])):", "key=lambda i: -int(lengths[i])):\n        if lengths[i] > row_length:\n            continue")),
        "last row that fits": but(FF, ("in enumerate(room):", "in reversed(list(enumerate(room))):")),
        "starts with an empty row: [] gives [[]]": but(FF, ("rows, room = [], []", "rows, room = [[]], [row_length]")),
        "sums in the dtype of the array: int8 overflows": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
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
''',
        "used summed in the dtype of the array": IMPORTS + '''def first_fit_decreasing(lengths, row_length):
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
''',
        "equal lengths: index() finds the first twice": '''def first_fit_decreasing(lengths, row_length):
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
''',
        "assert instead of ValueError": but(FF, ('raise ValueError(f"a document of {n} tokens does not fit a row of {row_length}")', 'assert False, n')),
        "only the first document is looked at for the refusal": but(FF, ("for n in lengths:", "for n in list(lengths)[1:2]:")),
        "shares state: rows kept between calls": but(FF, ("def first_fit_decreasing(lengths, row_length):", "rows, room = [], []\ndef first_fit_decreasing(lengths, row_length):"), ("    rows, room = [], []\n    for", "    for")),
        "rows as a dictionary's lengths": but(FF, ("return rows", "return [[int(lengths[i]) for i in row] for row in rows]")),
        "fails on a NumPy array: if not lengths": but(FF, ("    for n in lengths:", "    if not lengths:\n        return []\n    for n in lengths:")),
        "numbers counted from 1": but(FF, ("return rows", "return [[i + 1 for i in row] for row in rows]")),
    },
    "row-found": {
        "5 % more than the tokens, not the bound": "def row_found():\n    return 5632\n",
        "found from above, stopped at the first failure": "def row_found():\n    return 5376\n",
        "the rows of the text": "def row_found():\n    return 4096\n",
        "nearest below": "def row_found():\n    return 4608\n",
        "the count of rows": "def row_found():\n    return 237\n",
        "off the slider": "def row_found():\n    return 4700\n",
        "the longest": "def row_found():\n    return 6400\n",
        "as text": "def row_found():\n    return '4,864'\n",
        "cuts": "def row_found():\n    return 3072\n",
        "no return": "def row_found():\n    4864\n",
    },
    "lay-out": {
        "appends the tail to the caller's list": but(LAY, ("    ids, at,", "    size = row_length - sum(map(len, documents))\n    ids, at,"), ("    tail = row_length - len(ids)\n", "    tail = size\n"), ("        ids += [0] * tail\n", "        documents.append([0] * tail)\n        ids += documents[-1]\n")),
        "labels written into the caller's documents": '''def lay_out(documents, row_length):
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
''',
        "ids grow in the first document": '''def lay_out(documents, row_length):
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
''',
        "only the first border: a third document runs on": '''def lay_out(documents, row_length):
    first, *others = documents
    rest = [t for d in others for t in d]
    tail = row_length - len(first) - len(rest)
    borders = [0, len(first)] + ([len(first) + len(rest)] if rest else []) + ([row_length] if tail else [])
    return {"input_ids": first + rest + [0] * tail,
            "position_ids": [*range(len(first)), *range(len(rest)), *range(tail)],
            "labels": [-100, *first[1:]] + ([-100] + rest[1:] if rest else []) + [-100] * tail,
            "cu_seqlens": borders}
''',
        "first tokens masked by value": IMPORTS + '''def lay_out(documents, row_length):
    ids = [t for d in documents for t in d]
    tail = row_length - len(ids)
    firsts = {d[0] for d in documents}
    labels = [-100 if t in firsts else t for t in ids] + [-100] * tail
    at = [i for d in documents for i in range(len(d))] + list(range(tail))
    borders = np.cumsum([0] + [len(d) for d in documents] + ([tail] if tail else [])).tolist()
    return {"input_ids": ids + [0] * tail, "position_ids": at, "labels": labels, "cu_seqlens": borders}
''',
        "tail token is None": but(LAY, ("ids += [0] * tail", "ids += [None] * tail")),
        "tail token is a float NaN-free -100": but(LAY, ("ids += [0] * tail", "ids += [-100] * tail")),
        "the tail is a document: trained from its second slot": but(LAY, ("labels += [-100] * tail", "labels += [-100] + [0] * (tail - 1)")),
        "tail positions all 0": but(LAY, ("at += range(tail)", "at += [0] * tail")),
        "an empty tail is a segment": but(LAY, ("    if tail:\n", "    if True:\n")),
        "cu_seqlens without the end": but(LAY, ("        borders.append(row_length)\n", "")),
        "position tail counts on": but(LAY, ("at += range(tail)", "at += range(at[-1] + 1, at[-1] + 1 + tail)")),
        "a row of batch and slots: one dimension too many": but(LAY, ("return {", "wrap = lambda x: [x]\n    return {"), ('"input_ids": ids', '"input_ids": wrap(ids)')),
        "labels as floats with NaN for -100": but(LAY, ("return {", "labels = [float('nan') if v == -100 else v for v in labels]\n    return {")),
        "a document of one token is masked away, border lost": but(LAY, ("        borders.append(len(ids))\n    tail", "        if len(text) > 1:\n            borders.append(len(ids))\n    tail")),
        "labels of an empty row crash (max of nothing)": but(LAY, ("    tail = row_length - len(ids)\n", "    tail = row_length - borders[1] - sum(map(len, documents[1:]))\n")),
    },
    "may-look": {
        "first token of a segment left out": '''def may_look(position_ids):
    n = len(position_ids)
    return [[i - position_ids[i] < j <= i for j in range(n)] for i in range(n)]
''',
        "strictly earlier": but(MASK, ("slots[:, None] >= slots", "slots[:, None] > slots")),
        "borders where positions fall": but(MASK, ("np.cumsum(np.asarray(position_ids) == 0)", "np.cumsum(np.r_[1, np.diff(position_ids) < 0])")),
        "at most three segments": but(MASK, ("np.cumsum(np.asarray(position_ids) == 0)", "np.minimum(np.cumsum(np.asarray(position_ids) == 0), 3)")),
        "int8 instead of truth": but(MASK, ("(slots[:, None] >= slots)", "(slots[:, None] >= slots)\n    return mask.astype(np.int8)"), ("return (segment", "mask = (segment")),
        "additive mask": but(MASK, ("return (segment[:, None] == segment) & (slots[:, None] >= slots)", "return np.where((segment[:, None] == segment) & (slots[:, None] >= slots), 0.0, -np.inf)")),
        "counts segments in uint8: 256 documents wrap": but(MASK, ("== 0)", "== 0, dtype=np.uint8)")),
        "window: at most 3 back": but(MASK, ("(slots[:, None] >= slots)", "(slots[:, None] >= slots) & (slots[:, None] - slots < 3)")),
        "at most 64 slots": but(MASK, ("(slots[:, None] >= slots)", "(slots[:, None] >= slots) & (slots[:, None] < 64)")),
        "turned over": but(MASK, ("slots[:, None] >= slots", "slots[:, None] <= slots")),
        "positions zeroed in the caller's list": '''def may_look(position_ids):
    n, segment = len(position_ids), 0
    for i in range(n):
        segment += position_ids[i] == 0
        position_ids[i] = segment
    return [[position_ids[i] == position_ids[j] and j <= i for j in range(n)] for i in range(n)]
''',
        "neighbour's segment by length of the last": '''def may_look(position_ids):
    n = len(position_ids)
    return [[j <= i and position_ids[j] <= position_ids[i] and i - j <= position_ids[i] for j in range(n)] for i in range(n - 1)] + [[position_ids[-1] >= n - 1 - j for j in range(n)]]
''',
        "the last segment is the tail: sees nothing": but(MASK, ("& (slots[:, None] >= slots)", "& (slots[:, None] >= slots) & (segment < max(segment.max(), 4))")),
    },
    "isolation-test": {
        "two documents only": but(ISO, ("(5, 7, 4)", "(5, 7)")),
        "only the first changes": but(ISO, ("range(len(texts)):\n        new =", "[0]:\n        new =")),
        "only the last changes": but(ISO, ("range(len(texts)):\n        new =", "[2]:\n        new =")),
        "only the neighbour behind is looked at": but(ISO, ("if other != changed:", "if other == changed + 1:")),
        "exactly equal": but(ISO, (".max() < 1e-5", ".max() == 0")),
        "too coarse": but(ISO, ("< 1e-5", "< 1.0")),
        "sign forgotten": but(ISO, ("np.abs(np.asarray(before[other]) - np.asarray(after[other])).max()", "(np.asarray(before[other]) - np.asarray(after[other])).max()")),
        "means compared": but(ISO, ("np.abs(np.asarray(before[other]) - np.asarray(after[other])).max()", "abs(before[other].mean() - after[other].mean())")),
        "returns instead of asserting": but(ISO, ("                assert np", "                return np")),
        "a NaN passes": but(ISO, ("assert np.abs(np.asarray(before[other]) - np.asarray(after[other])).max() < 1e-5", "assert not np.abs(np.asarray(before[other]) - np.asarray(after[other])).max() >= 1e-5")),
        "only the last slot of a document is looked at": but(ISO, ("np.asarray(before[other]) - np.asarray(after[other])", "before[other][-1] - after[other][-1]")),
        "only the first token is changed": but(ISO, ("[(token + 1) % 64 for token in new[changed]]", "[(new[changed][0] + 1) % 64, *new[changed][1:]]")),
        "only the last token is changed": but(ISO, ("[(token + 1) % 64 for token in new[changed]]", "[*new[changed][:-1], (new[changed][-1] + 1) % 64]")),
        "documents of one token": but(ISO, ("(5, 7, 4)", "(1, 1, 1)")),
        "documents of equal length": but(ISO, ("(5, 7, 4)", "(4, 4, 4)")),
        "all documents the same": but(ISO, ("[rng.integers(0, 64, n).tolist() for n in (5, 7, 4)]", "[[3, 3, 3]] * 3")),
        "changes nothing: the same list": but(ISO, ("(token + 1) % 64", "token")),
    },
    "mend-collator": {
        "as it was, first labels mended only": but(COL, ("    return batch", '    batch["attention_mask"] = torch.ones(shape, dtype=torch.int64)\n    return batch')),
        "mask 0 in the tail": but(COL, ("    return batch", '    batch["attention_mask"] = torch.ones(shape, dtype=torch.int64)\n    for r, numbers in enumerate(found.rows):\n        batch["attention_mask"][r, sum(sizes[n] for n in numbers):] = 0\n    return batch')),
        "labels lost at every pad token": but(COL, ("    return batch", '    batch["labels"][batch["input_ids"] == pad] = -100\n    return batch')),
        "tail found by value from the right: a document's end is lost": but(COL, ("    return batch", '    for r in range(shape[0]):\n        c = row_length\n        while c and batch["input_ids"][r, c - 1] == pad:\n            c -= 1\n        batch["labels"][r, c:] = -100\n        batch["position_ids"][r, c:] = torch.arange(row_length - c)\n    return batch')),
        "cut in silence": but(COL, ('len(document["input_ids"]) for document in documents]', 'min(row_length, len(document["input_ids"])) for document in documents]'), ('documents[number]["input_ids"])', 'documents[number]["input_ids"][:row_length])'), ('documents[number]["labels"])', 'documents[number]["labels"][:row_length])')),
        "dropped in silence": but(COL, ("    sizes =", '    documents = [d for d in documents if len(d["input_ids"]) <= row_length]\n    sizes =')),
        "the caller's labels are changed": but(COL, ("            end = start", '            documents[number]["labels"][0] = -100\n            end = start')),
        "first label -100 only where a row begins": but(COL, ('batch["labels"][row, start] = -100', 'batch["labels"][row, 0] = -100')),
        "next fit": but(COL, ("packing.pack(sizes, row_length)", 'packing.pack(sizes, row_length, method="next_fit")')),
        "a row each": but(COL, ("found = packing.pack(sizes, row_length)", "packing.pack(sizes, row_length)\n    from types import SimpleNamespace\n    found = SimpleNamespace(rows=[[n] for n in range(len(sizes))])")),
        "tail positions 0": but(COL, ('        batch["position_ids"][row, start:] = torch.arange(row_length - start)\n', "")),
        "int32": but(COL, ("    return batch", "    return {k: v.int() for k, v in batch.items()}")),
        "labels made from the ids": but(COL, ('torch.tensor(documents[number]["labels"])', 'torch.tensor(documents[number]["input_ids"])')),
        "a mask of documents, not causal": but(COL, ("    return batch", '    segment = torch.cumsum(batch["position_ids"] == 0, 1)\n    batch["attention_mask"] = (segment[:, :, None] == segment[:, None, :])[:, None]\n    return batch')),
        "a causal mask without borders, 4 dimensions": but(COL, ("    return batch", '    batch["attention_mask"] = torch.tril(torch.ones(shape[0], 1, row_length, row_length, dtype=torch.bool))\n    return batch')),
        "refusal names the row, not the length": but(COL, ("    found =", "    if max(sizes) > row_length:\n        raise ValueError(f'a document is longer than {row_length}')\n    found =")),
        "sees the first border only": but(COL, ('batch["position_ids"][row, start:end] = torch.arange(end - start)', 'batch["position_ids"][row, start:end] = torch.arange(end - start) + (start - sizes[numbers[0]] if start > sizes[numbers[0]] else 0)')),
        "pad is 0 always": but(COL, ("torch.full(shape, pad)", "torch.zeros(shape, dtype=torch.int64)")),
        "given labels of -100 at a document's first tokens shift": but(COL, ('batch["labels"][row, start] = -100', 'batch["labels"][row, start:start + 2] = -100')),
        "a document of one row length is refused": but(COL, ("    found =", "    for n in sizes:\n        if n >= row_length:\n            raise ValueError(f'{n} tokens')\n    found =")),
        "last row dropped if not full": but(COL, ("    return batch", "    if sum(sizes[n] for n in found.rows[-1]) < row_length // 2 and len(found.rows) > 1:\n        batch = {k: v[:-1] for k, v in batch.items()}\n    return batch")),
        "labels trained again where they were -100": but(COL, ('            batch["labels"][row, start] = -100', '            batch["labels"][row, start:end] = torch.where(batch["labels"][row, start:end] == -100, batch["input_ids"][row, start:end], batch["labels"][row, start:end])\n            batch["labels"][row, start] = -100')),
        "cache forgotten: returns use_cache True": but(COL, ("    return batch", '    batch["use_cache"] = True\n    return batch')),
    },
    "documents-behind": {
        "rounded to one digit": "def documents_behind(rows, row_length, fill, mean_length):\n    return round(rows * row_length * fill / mean_length, 1)\n",
        "real tokens made whole": "def documents_behind(rows, row_length, fill, mean_length):\n    return int(rows * row_length * fill) / mean_length\n",
        "mean length made whole": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * fill / int(mean_length)\n",
        "floor": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * fill // mean_length\n",
        "fill forgotten": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length / mean_length\n",
        "a row's": "def documents_behind(rows, row_length, fill, mean_length):\n    return row_length * fill / mean_length\n",
        "real tokens a row made whole": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * round(row_length * fill) / mean_length\n",
        "half documents": "def documents_behind(rows, row_length, fill, mean_length):\n    return round(2 * rows * row_length * fill / mean_length) / 2\n",
        "fill rounded to per cent": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * round(fill, 2) / mean_length\n",
        "fill taken in per cent": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * fill / 100 / mean_length\n",
        "never more documents than slots, at least one a row": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * max(1, row_length * fill / mean_length)\n",
        "the waste": "def documents_behind(rows, row_length, fill, mean_length):\n    return rows * row_length * (1 - fill) / mean_length\n",
    },
}

# tried, and not wrong by the text (or not clearly): kept out of the bank
for _exercise, _gone in {
    "lay-out": ["labels of an empty row crash (max of nothing)"],
    "may-look": ["neighbour's segment by length of the last"],
    "isolation-test": ["only the first token is changed", "only the last token is changed", "documents of one token",
                       "documents of equal length", "all documents the same"],
    "documents-behind": ["never more documents than slots, at least one a row"],
}.items():
    for _one in _gone:
        del WRONG[_exercise][_one]
WRONG["first-fit"]["only document 1 is looked at for the refusal"] = WRONG["first-fit"].pop("only the first document is looked at for the refusal")
WRONG["first-fit"]["rows hold lengths"] = WRONG["first-fit"].pop("rows as a dictionary's lengths")
