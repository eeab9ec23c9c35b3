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
    "isolation-test": ["only the first token is changed", "only the last token is changed", "documents of one token",
                       "documents of equal length", "all documents the same"],
    "documents-behind": ["never more documents than slots, at least one a row"],
}.items():
    for _one in _gone:
        del WRONG[_exercise][_one]
