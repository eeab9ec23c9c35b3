def but(code, *pairs):
    for old, new in pairs:
        assert old in code, (old, code)
        code = code.replace(old, new)
    return code


W = '''def waste(batches):
    real = slots = 0
    for b in batches:
        real += sum(b)
        slots += len(b) * max(b)
    return (slots - real) / slots
'''
P = '''def pair_waste(batches):
    real = pairs = 0
    for b in batches:
        real += sum(n * n for n in b)
        pairs += len(b) * max(b) ** 2
    return (pairs - real) / pairs
'''
X = '''from math import comb

def expected_longest(lengths, rows):
    ways = [comb(i, rows - 1) for i in range(len(lengths))]
    return sum(n * w for n, w in zip(sorted(lengths), ways)) / comb(len(lengths), rows)
'''
B = "def bound(real_tokens, slots, fixed):\n    return 1 / (fixed + (1 - fixed) * real_tokens / slots)\n"
C = '''def collate(documents, pad_id, multiple_of=1, max_length=None):
    ids = [d["input_ids"][:max_length] for d in documents]
    labels = [d.get("labels", d["input_ids"])[:max_length] for d in documents]
    longest = max(len(r) for r in ids)
    width = -(-longest // multiple_of) * multiple_of
    shape = (len(ids), width)
    x = torch.full(shape, pad_id, dtype=torch.int64)
    y = torch.full(shape, -100, dtype=torch.int64)
    m = torch.zeros(shape, dtype=torch.int64)
    for i, (r, l) in enumerate(zip(ids, labels)):
        x[i, :len(r)] = torch.tensor(r, dtype=torch.int64)
        y[i, :len(r)] = torch.tensor(l, dtype=torch.int64)
        m[i, :len(r)] = 1
    real = sum(map(len, ids))
    cut = sum(len(d["input_ids"]) for d in documents) - real
    tensors = {"input_ids": x, "attention_mask": m, "labels": y}
    return tensors, {"real_tokens": real, "slots": len(ids) * width, "cut_tokens": cut}
'''
T = '''def waste_test(waste):
    def same(batches, want):
        assert abs(waste(batches) - want) < 1e-9
'''
RIGHT = {
    "waste": {
        "loop": W,
        "numpy float32": '''def waste(batches):
    real = np.sum([np.sum(b) for b in batches]).astype(np.float32)
    slots = np.float32(sum(np.size(b) * np.max(b) for b in batches))
    return 1 - real / slots
''',
        "torch, padding summed": '''def waste(batches):
    rows = [torch.tensor(b) for b in batches]
    pad = sum((r.max() - r).sum() for r in rows)
    return float(pad) / float(sum(r.numel() * r.max() for r in rows))
''',
        "weighted mean of shares": '''def waste(batches):
    slots = [len(b) * max(b) for b in batches]
    shares = [1 - sum(b) / s for b, s in zip(batches, slots)]
    return float(np.average(shares, weights=slots))
''',
    },
    "setting": {
        "tuple": "def setting():\n    return tuple(probe.best_setting())\n",
        "list": "def setting():\n    return list(probe.best_setting())\n",
        "names": "def setting():\n    rows, window = probe.best_setting()\n    return int(rows), int(window)\n",
    },
    "bound": {
        "formula": B,
        "times": "def bound(real_tokens, slots, fixed):\n    per_slot = (1 - fixed) / slots\n    return (fixed + slots * per_slot) / (fixed + real_tokens * per_slot)\n",
        "waste first": "def bound(real_tokens, slots, fixed):\n    w = (slots - real_tokens) / slots\n    return np.divide(1.0, 1 - w * (1 - fixed))\n",
        "float32": "def bound(real_tokens, slots, fixed):\n    f = np.float32(fixed)\n    return slots / (f * np.float32(slots) + (1 - f) * np.float32(real_tokens))\n",
    },
    "pair-waste": {
        "loop": P,
        "numpy": "def pair_waste(batches):\n    a = [np.array(b, dtype=np.int64) for b in batches]\n    return 1 - sum(int((x * x).sum()) for x in a) / sum(len(x) * int(x.max()) ** 2 for x in a)\n",
        "torch float64": "def pair_waste(batches):\n    a = [torch.tensor(b, dtype=torch.float64) for b in batches]\n    n = sum(x.numel() * x.max() ** 2 for x in a)\n    return sum((x.max() ** 2 - x ** 2).sum() for x in a).item() / n.item()\n",
    },
    "expected-longest": {
        "comb": X,
        "fractions": "from math import comb\nfrom fractions import Fraction\ndef expected_longest(lengths, rows):\n    s = sorted(map(int, lengths))\n    return float(Fraction(sum(n * comb(i, rows - 1) for i, n in enumerate(s)), comb(len(s), rows)))\n",
        "from the longest down, floats": "def expected_longest(lengths, rows):\n    n, p, mean = len(lengths), rows / len(lengths), 0.0\n    for i, one in enumerate(sorted(lengths, reverse=True)):\n        mean += p * one\n        p *= (n - i - rows) / (n - i - 1) if n - i > 1 else 0\n    return mean\n",
    },
    "waste-test": {
        "cases": T + '''    same([[5, 3]], 0.2)
    same([[5, 3], [8, 2]], 8 / 26)
    same([[2, 1], [30, 30]], 1 / 64)
    same([[3, 6, 4], [1]], 5 / 19)
    same([[1], [2], [7, 3]], 4 / 17)
    same([[1, 2], [5, 3], [5, 3], [4, 4]], 5 / 32)
    mine = [[1, 5, 3], [2, 9], [4]]
    waste(mine)
    assert mine == [[1, 5, 3], [2, 9], [4]]
''',
        "random against a definition": T + '''    import random
    r = random.Random(0)
    for _ in range(50):
        case = [[r.randint(1, 40) for _ in range(r.randint(1, 5))] for _ in range(r.randint(1, 5))]
        before = [list(b) for b in case]
        slots = sum(len(b) * max(b) for b in case)
        same(case, 1 - sum(map(sum, case)) / slots)
        assert case == before
''',
        "returns a verdict": '''def waste_test(waste):
    case = [[2, 7, 3], [4], [1, 1], [30, 10], [30, 10]]
    before = str(case)
    first, second = waste(case), waste(case)
    return abs(first - 49 / 147) < 1e-9 and abs(second - first) < 1e-9 and str(case) == before and abs(waste([[6, 6]])) < 1e-9
''',
    },
    "collate": {
        "fill": C,
        "lists": '''def collate(documents, pad_id, multiple_of=1, max_length=None):
    rows = [list(d["input_ids"])[:max_length] for d in documents]
    marks = [list(d["labels"] if "labels" in d else d["input_ids"])[:max_length] for d in documents]
    width = max(map(len, rows))
    while width % multiple_of:
        width += 1
    tensors = {
        "labels": torch.tensor([m + [-100] * (width - len(m)) for m in marks]),
        "input_ids": torch.tensor([r + [pad_id] * (width - len(r)) for r in rows]),
        "attention_mask": torch.tensor([[1] * len(r) + [0] * (width - len(r)) for r in rows]),
    }
    return [tensors, {
        "cut_tokens": sum(len(d["input_ids"]) - len(r) for d, r in zip(documents, rows)),
        "real_tokens": sum(map(len, rows)), "slots": width * len(rows)}]
''',
        "numpy": '''def collate(documents, pad_id, multiple_of=1, max_length=None):
    cut = np.array([len(d["input_ids"]) if max_length is None else min(len(d["input_ids"]), max_length) for d in documents])
    width = int(np.ceil(cut.max() / multiple_of)) * multiple_of
    m = np.arange(width)[None] < cut[:, None]
    x, y = np.full(m.shape, pad_id), np.full(m.shape, -100)
    x[m] = np.concatenate([d["input_ids"][:n] for d, n in zip(documents, cut)])
    y[m] = np.concatenate([d.get("labels", d["input_ids"])[:n] for d, n in zip(documents, cut)])
    t = {"input_ids": x, "labels": y, "attention_mask": m}
    lost = sum(len(d["input_ids"]) for d in documents) - int(cut.sum())
    return {k: torch.from_numpy(v.astype(np.int64)) for k, v in t.items()}, {
        "real_tokens": int(m.sum()), "slots": m.size, "cut_tokens": lost}
''',
    },
}
WRONG = {
    "waste": {
        # the lists are sorted: they must stay as they are
        "sorts the lists": but(W, ("        real", "        b.sort()\n        real"), ("max(b)", "b[-1]")),
        # the outer list is emptied
        "pops the batches": but(W, ("for b in batches:", "while batches:"), ("        real", "        b = batches.pop()\n        real")),
        # an order of the batches is changed
        "sorts the batches": but(W, ("    real = slots", "    batches.sort(key=len)\n    real = slots")),
        # six decimals
        "6 decimals": but(W, ("return (slots - real) / slots", "return round((slots - real) / slots, 6)")),
        # longest of all batches
        "longest of all": but(W, ("max(b)", "max(map(max, batches))")),
        # sums stay between calls
        "sums kept": "def waste(batches, total=[0, 0]):\n    for b in batches:\n        total[0] += sum(b)\n        total[1] += len(b) * max(b)\n    return 1 - total[0] / total[1]\n",
        # remembers by the number of batches
        "cached by size": "SEEN = {}\ndef waste(batches):\n    key = (len(batches), sum(map(sum, batches)), sum(map(len, batches)))\n    if key not in SEEN:\n        SEEN[key] = 1 - key[1] / sum(len(b) * max(b) for b in batches)\n    return SEEN[key]\n",
        # longest is first or last
        "first or last": but(W, ("max(b)", "max(b[0], b[-1])")),
        # a percentage
        "percent": but(W, ("/ slots\n", "/ slots * 100\n")),
        # rows of one token taken for padding
        "rows of one token": but(W, ("sum(b)", "sum(n for n in b if n > 1)")),
        # slots wrapped at 32 bits: a large data set
        "int32": "def waste(batches):\n    slots = np.array([len(b) * max(b) for b in batches], np.int32).sum(dtype=np.int32)\n    real = np.array([sum(b) for b in batches], np.int32).sum(dtype=np.int32)\n    return float(slots - real) / float(slots)\n",
    },
    "setting": {
        # window first
        "swapped": "def setting():\n    return tuple(probe.best_setting())[::-1]\n",
        # fewer rows
        "half the rows": "def setting():\n    r, w = probe.best_setting()\n    return r // 2, w\n",
        # larger window than needed
        "double window": "def setting():\n    r, w = probe.best_setting()\n    return r, w * 2\n",
        # one number
        "rows only": "def setting():\n    return probe.best_setting()[0]\n",
        # text
        "text": "def setting():\n    return '%d rows, window %d' % tuple(probe.best_setting())\n",
        # no padding rule
        "most rows": "def setting():\n    return 32, 8\n",
    },
    "bound": {
        # the share that is fixed shrinks
        "swapped share": but(B, ("fixed + (1 - fixed) * real_tokens / slots", "(1 - fixed) + fixed * real_tokens / slots")),
        # whole tokens
        "integer division": but(B, ("(1 - fixed) * real_tokens / slots", "(1 - fixed) * (real_tokens * 100 // slots) / 100")),
        # rounded
        "2 decimals": but(B, ("return 1 / (fixed + (1 - fixed) * real_tokens / slots)", "return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 2)")),
        "6 decimals": but(B, ("return 1 / (fixed + (1 - fixed) * real_tokens / slots)", "return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 6)")),
        # fixed left out
        "not fixed": but(B, ("1 / (fixed + (1 - fixed) * real_tokens / slots)", "slots / max(real_tokens, 1)")),
        # gain averaged in place of time
        "speeds averaged": "def bound(real_tokens, slots, fixed):\n    return fixed + (1 - fixed) * slots / max(real_tokens, 1)\n",
        # inverse
        "inverse": "def bound(real_tokens, slots, fixed):\n    return fixed + (1 - fixed) * real_tokens / slots\n",
        # gain in place of the ratio
        "gain": but(B, ("slots)\n", "slots) - 1\n")),
        # fixed over real time only: capped at 100
        "capped at 50": but(B, ("return 1 / (fixed + (1 - fixed) * real_tokens / slots)", "return min(100, 1 / (fixed + (1 - fixed) * real_tokens / slots))")),
        # zero fixed taken for not given
        "fixed or 10 %": but(B, ("    return", "    fixed = fixed or 0.1\n    return")),
    },
    "pair-waste": {
        # the square of the sum
        "square of sums": but(P, ("sum(n * n for n in b)", "sum(b) ** 2")),
        # the square of the waste
        "waste squared": "def pair_waste(batches):\n    s = sum(len(b) * max(b) for b in batches)\n    return ((s - sum(map(sum, batches))) / s) ** 2\n",
        # a pair wastes only if both are padding
        "both padding": but(P, ("n * n", "max(b) ** 2 - (max(b) - n) ** 2")),
        # rows squared too
        "rows squared": but(P, ("len(b) * max(b) ** 2", "(len(b) * max(b)) ** 2")),
        # mean of shares
        "mean of shares": "def pair_waste(batches):\n    return sum(1 - sum(n * n for n in b) / (len(b) * max(b) ** 2) for b in batches) / len(batches)\n",
        # weighted by slots, not by pairs
        "weighted by slots": "def pair_waste(batches):\n    s = [len(b) * max(b) for b in batches]\n    return float(np.average([1 - sum(n * n for n in b) / (len(b) * max(b) ** 2) for b in batches], weights=s))\n",
        # 32 bits
        "int32": "def pair_waste(batches):\n    a = [np.array(b, np.int32) for b in batches]\n    return 1 - sum((x * x).sum(dtype=np.int32) for x in a) / sum(np.int32(len(x)) * x.max() ** 2 for x in a)\n",
        # triangle including the diagonal
        "causal": but(P, ("n * n for", "n * (n + 1) // 2 for"), ("len(b) * max(b) ** 2", "len(b) * max(b) * (max(b) + 1) // 2")),
        # rounded
        "6 decimals": but(P, ("return (pairs - real) / pairs", "return round((pairs - real) / pairs, 6)")),
        # longest of all
        "longest of all": but(P, ("max(b)", "max(map(max, batches))")),
        # sum kept
        "one-row batches skipped": but(P, ("        real", "        if len(b) == 1:\n            continue\n        real")),
    },
    "expected-longest": {
        # off by one place
        "places from 1": but(X, ("comb(i, rows - 1)", "comb(i + 1, rows - 1)")),
        # B of i
        "rows, not rows - 1": but(X, ("comb(i, rows - 1)", "comb(i, rows)")),
        # unsorted
        "unsorted": but(X, ("sorted(lengths)", "lengths")),
        # equal lengths have a place each
        "set": but(X, ("    ways", "    lengths = set(lengths)\n    ways")),
        # with replacement
        "with replacement": "def expected_longest(lengths, rows):\n    n = len(lengths)\n    return sum(one * ((i + 1) ** rows - i ** rows) for i, one in enumerate(sorted(lengths))) / n ** rows\n",
        # whole tokens
        "integer division": but(X, (" / comb(len", " // comb(len")),
        # sampled
        "sampled": "def expected_longest(lengths, rows):\n    r = np.random.default_rng(0)\n    return np.mean([r.choice(lengths, rows, replace=False).max() for _ in range(2000)])\n",
        # divides each term: floats
        "floats overflow": but(X, ("n * w for", "float(n) * float(w) for")),
        # all but the shortest: rows = 1 treated as mean of the rest
        "starts at rows": but(X, ("for i in range(len(lengths))]", "if i >= rows else 0 for i in range(len(lengths))]")),
        # rounded
        "3 decimals": but(X, ("return sum(n * w for n, w in zip(sorted(lengths), ways)) / comb(len(lengths), rows)", "return round(sum(n * w for n, w in zip(sorted(lengths), ways)) / comb(len(lengths), rows), 3)")),
    },
    "waste-test": {
        # one batch only
        "one batch": T + "    same([[5, 3]], 0.2)\n    same([[3, 5]], 0.2)\n",
        # equal sizes
        "equal batches": T + "    same([[5, 3], [5, 3]], 0.2)\n",
        # tolerance too wide
        "wide": but(T, ("1e-9", "0.2")) + "    same([[2, 7, 3], [4], [30, 10]], 29 / 85)\n",
        # no tolerance
        "exact": "def waste_test(waste):\n    for c in ([[5, 3, 9], [7, 2]], [[2, 1], [30, 29]], [[1, 6, 4], [1], [3, 7]]):\n        s = sum(len(b) * max(b) for b in c)\n        assert waste(c) == (s - sum(map(sum, c))) / s and waste(c) == 1 - sum(map(sum, c)) / s\n",
        # bounds only
        "between 0 and 1": "def waste_test(waste):\n    assert 0 <= waste([[5, 3], [8, 2]]) < 1\n    assert waste([[4, 4]]) == 0\n",
        # swallowed
        "swallows": T + "    try:\n        same([[2, 7, 3], [4], [30, 10]], 0.5)\n    except AssertionError:\n        return None\n",
        # compares the caller's own waste, which may be wrong too
        "against itself": "def waste_test(waste):\n    c = [[2, 7, 3], [4], [30, 10]]\n    assert waste(c) == waste([list(b) for b in c])\n",
        # refuses all
        "refuses all": "def waste_test(waste):\n    assert False\n",
        # wrong by hand: single rows left out
        "single rows left out": T + "    same([[2, 7, 3], [4], [30, 10]], 29 / 81)\n",
        # prints in place of failing
        "prints": "def waste_test(waste):\n    if abs(waste([[2, 7, 3], [4], [30, 10]]) - 29 / 85) > 1e-9:\n        print('wrong')\n",
    },
    "collate": {
        # 0 may be a real token
        "mask from pad_id": but(C, ("    real =", "    m = (x != pad_id).long()\n    real =")),
        # -100 for padding only
        "labels from pad_id": but(C, ("    real =", "    y[x == pad_id] = -100\n    real =")),
        # documents cut in place
        "cuts the documents": but(C, ("    ids =", "    before = sum(len(d['input_ids']) for d in documents)\n    for d in documents:\n        if max_length is not None:\n            del d['input_ids'][max_length:]\n    ids ="), ("sum(len(d[\"input_ids\"]) for d in documents) - real", "before - real")),
        # labels written into the documents
        "adds labels to the documents": but(C, ("d.get(\"labels\", d[\"input_ids\"])", "d.setdefault(\"labels\", d[\"input_ids\"])")),
        # a buffer by shape, reused: earlier results change
        "buffers reused": "BUFFERS = {}\n" + but(C, ("    x = torch.full(shape, pad_id, dtype=torch.int64)\n    y = torch.full(shape, -100, dtype=torch.int64)\n    m = torch.zeros(shape, dtype=torch.int64)\n", "    if shape not in BUFFERS:\n        BUFFERS[shape] = [torch.zeros(shape, dtype=torch.int64) for _ in range(3)]\n    x, y, m = BUFFERS[shape]\n    x.fill_(pad_id), y.fill_(-100), m.zero_()\n")),
        # the counts dictionary is the same one each time
        "counts dictionary reused": "BILL = {}\n" + but(C, ('return tensors, {"real', 'BILL.update({"real'), ('cut}', 'cut})\n    return tensors, BILL')),
        # a limit of 1 is no limit
        "limit of 1 ignored": but(C, ("    ids =", "    max_length = max_length if max_length and max_length > 1 else None\n    ids =")),
        # labels of the first document decide for all
        "first document decides": but(C, ("d.get(\"labels\", d[\"input_ids\"])", "(d.get('labels', d['input_ids']) if 'labels' in documents[0] else d['input_ids'])")),
        # tokens of more than 16 bits
        "through int16": but(C, ("torch.tensor(r, dtype=torch.int64)", "torch.from_numpy(np.array(r).astype(np.int16)).long()")),
        # width not above the limit
        "width limited": but(C, ("    shape", "    width = min(width, max_length or width)\n    shape"), ("x[i, :len(r)]", "x[i, :len(r)]")),
        # one multiple too many where it fits
        "one multiple more": but(C, ("-(-longest // multiple_of)", "(longest // multiple_of + 1)")),
        # counts whole numbers
        "counts as floats": but(C, ('"slots": len(ids) * width', '"slots": float(len(ids) * width)')),
        # counts as tensors
        "counts as tensors": but(C, ("real = sum(map(len, ids))", "real = m.sum()")),
        # a mask of booleans
        "bool mask": but(C, ('"attention_mask": m', '"attention_mask": m.bool()')),
        # cut counted in documents
        "cut documents": but(C, ('sum(len(d["input_ids"]) for d in documents) - real', 'sum(len(d["input_ids"]) > (max_length or 10**9) for d in documents)')),
        # trained tokens for real tokens
        "real from labels": but(C, ("real = sum(map(len, ids))", "real = int((y != -100).sum())")),
        # documents sorted
        "list sorted": but(C, ("    ids =", "    documents.sort(key=lambda d: len(d['input_ids']))\n    ids =")),
        # cut from the limit rounded up
        "limit rounded up": but(C, ("    ids =", "    max_length = max_length and -(-max_length // multiple_of) * multiple_of\n    ids =")),
    },
}
