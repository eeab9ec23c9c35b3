WRONG = {}
RIGHT = {}
W = '''def waste(batches):
'''
WRONG["waste"] = {
"mean of the shares": W+'''    shares = [1 - sum(b) / (len(b) * max(b)) for b in batches]
    return sum(shares) / len(shares)
''',
"sorts the lists in place": W+'''    real = slots = 0
    for b in batches:
        b.sort()
        real += sum(b)
        slots += len(b) * b[-1]
    return (slots - real) / slots
''',
"batches of one row are skipped": W+'''    real = slots = 0
    for b in batches:
        if len(b) < 2:
            continue
        real += sum(b)
        slots += len(b) * max(b)
    return (slots - real) / slots
''',
"the longest stands first or last": W+'''    real = sum(sum(b) for b in batches)
    slots = sum(len(b) * max(b[0], b[-1]) for b in batches)
    return 1 - real / slots
''',
"rounded to four digits": W+'''    real = sum(sum(b) for b in batches)
    slots = sum(len(b) * max(b) for b in batches)
    return round(1 - real / slots, 4)
''',
"rounded to six digits": W+'''    real = sum(sum(b) for b in batches)
    slots = sum(len(b) * max(b) for b in batches)
    return round(1 - real / slots, 6)
''',
"16-bit lengths": W+'''    import numpy as np
    real = slots = 0
    for b in batches:
        a = np.array(b).astype(np.int16)
        real += int(a.sum(dtype=np.int64))
        slots += len(a) * int(a.max())
    return (slots - real) / slots
''',
"width of 4096 at most": W+'''    real = slots = 0
    for b in batches:
        b = [min(n, 4096) for n in b]
        real += sum(b)
        slots += len(b) * max(b)
    return (slots - real) / slots
''',
"pops the batches": W+'''    real = slots = 0
    while batches:
        b = batches.pop()
        real += sum(b)
        slots += len(b) * max(b)
    return (slots - real) / slots
''',
"padding over real tokens": W+'''    real = sum(map(sum, batches))
    return sum(len(b) * max(b) for b in batches) / real - 1
''',
"all batches as wide as the widest": W+'''    width = max(max(b) for b in batches)
    rows = sum(len(b) for b in batches)
    return 1 - sum(map(sum, batches)) / (rows * width)
''',
"totals are kept between calls": '''total = {"real": 0, "slots": 0}


'''+W+'''    for b in batches:
        total["real"] += sum(b)
        total["slots"] += len(b) * max(b)
    return 1 - total["real"] / total["slots"]
''',
"fills the shorter rows in place": W+'''    real = sum(sum(b) for b in batches)
    slots = 0
    for b in batches:
        width = max(b)
        for i in range(len(b)):
            b[i] = width
        slots += sum(b)
    return (slots - real) / slots
''',
"the lists are exchanged for arrays in place": W+'''    import numpy as np
    for i, b in enumerate(batches):
        batches[i] = np.array(b)
    real = sum(b.sum() for b in batches)
    slots = sum(len(b) * b.max() for b in batches)
    return (slots - real) / slots
''',
"a batch seen before is not counted again": W+'''    different = {tuple(sorted(b)) for b in batches}
    real = sum(map(sum, different))
    return 1 - real / sum(len(b) * max(b) for b in different)
''',
}
RIGHT["waste"] = {
"numpy arrays": W+'''    import numpy as np
    arrays = [np.asarray(b) for b in batches]
    real = sum(a.sum() for a in arrays)
    slots = sum(a.size * a.max() for a in arrays)
    return (slots - real) / slots
''',
"fraction": '''from fractions import Fraction


'''+W+'''    slots = sum(len(b) * max(b) for b in batches)
    return Fraction(sum(max(b) - n for b in batches for n in b), slots)
''',
"torch tensor returned": W+'''    import torch
    real = torch.tensor(float(sum(sum(b) for b in batches)), dtype=torch.float64)
    slots = sum(len(b) * max(b) for b in batches)
    return 1 - real / slots
''',
"weighted mean, sorted copies": W+'''    total, value = 0, 0.0
    for b in batches:
        s = sorted(b)
        size = len(s) * s[-1]
        value += (1 - sum(s) / size) * size
        total += size
    return value / total
''',
"float32": W+'''    import numpy as np
    real = np.float32(sum(sum(b) for b in batches))
    slots = np.float32(sum(len(b) * max(b) for b in batches))
    return (slots - real) / slots
''',
}
S = '''def setting():
'''
WRONG["setting"] = {k: S+f"    return {v}\n" for k, v in {
"largest window at 12 rows over memory": "12, 34",
"18 rows: waste 26.1": "18, 21",
"exchanged": "21, 12",
"too small a window": "12, 13",
"smaller rows with smallest window": "8, 21",
"8 rows largest window": "8, 34",
"documents held, not window": "12, 252",
"rows only": "12",
"the share": "12, 0.225",
"27 rows with enough window, memory ignored": "27, 34",
"40 rows, memory ignored": "40, 34",
"smallest window, then the most rows": "2, 3",
"as text": '"12 rows, window 21"',
"in percent form": '{12: 21}',
}.items()}
RIGHT["setting"] = {"tuple": S+"    return 12, 21\n", "list": S+"    return [12, 21]\n",
"numpy array": S+"    import numpy as np\n    return np.array([12, 21])\n",
"floats": S+"    return 12.0, 21.0\n",
"computed over the offered values": S+'''    def share(rows, window):
        order = padding.in_windows(documents, rows, window=window, rng=np.random.default_rng(0))
        return padding.measure(documents, order).waste
    for rows in (40, 27, 18, 12, 8, 5, 3, 2):
        for window in (1, 2, 3, 5, 8, 13, 21, 34, 55):
            if rows * window <= 400 and share(rows, window) <= 0.25:
                return rows, window
''',
"computed over all whole numbers (text names no slider places)": S+'''    def share(rows, window):
        order = padding.in_windows(documents, rows, window=window, rng=np.random.default_rng(0))
        return padding.measure(documents, order).waste
    rows = max(r for r in range(2, 41) if share(r, 400 // r) <= 0.25)
    window = min(w for w in range(1, 400 // rows + 1) if share(rows, w) <= 0.25)
    return rows, window
''',
}
B = '''def bound(real_tokens, slots, fixed):
'''
WRONG["bound"] = {
"fixed ignored": B+"    return slots / real_tokens\n",
"share exchanged": B+"    return 1 / ((1 - fixed) + fixed * real_tokens / slots)\n",
"mean of speed-ups": B+"    return fixed + (1 - fixed) * slots / real_tokens\n",
"fixed as share of the new step": B+"    return slots / real_tokens * (1 - fixed)\n",
"upside down": B+"    return fixed + (1 - fixed) * real_tokens / slots\n",
"saving of the time": B+"    return 1 - (fixed + (1 - fixed) * real_tokens / slots)\n",
"no real tokens: 1": B+'''    if real_tokens == 0:
        return 1.0
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
''',
"rounded to 2": B+"    return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 2)\n",
"rounded to 4": B+"    return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 4)\n",
"rounded to 6": B+"    return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 6)\n",
"fixed above 1/2 counts as percent": B+'''    if fixed > 1 / 2 and fixed < 1:
        fixed = fixed / 100
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
''',
"linear between both ends": B+"    return slots / real_tokens + fixed * (1 - slots / real_tokens)\n",
"capped at 4": B+"    return min(1 / (fixed + (1 - fixed) * real_tokens / slots), 4)\n",
"capped at 1/waste of the text": B+"    return min(1 / (fixed + (1 - fixed) * real_tokens / slots), 10)\n",
"waste rounded to whole percent": B+'''    waste = round(1 - real_tokens / slots, 2)
    return 1 / (1 - (1 - fixed) * waste)
''',
"fixed counted in tokens": B+"    return slots / (real_tokens + fixed * slots)\n",
}
RIGHT["bound"] = {
"times in slots": B+'''    before = slots
    after = fixed * slots + (1 - fixed) * real_tokens
    return before / after
''',
"fraction": B+'''    from fractions import Fraction
    f = Fraction(fixed)
    return 1 / (f + (1 - f) * Fraction(real_tokens, slots))
''',
"waste": B+'''    waste = 1 - real_tokens / slots
    return 1 / (1 - (1 - fixed) * waste)
''',
"numpy float64": B+'''    import numpy as np
    return np.float64(slots) / np.dot([fixed, 1 - fixed], [slots, real_tokens])
''',
"float32": B+'''    import numpy as np
    return np.float32(1) / (np.float32(fixed) + np.float32(1 - fixed) * np.float32(real_tokens / slots))
''',
}
P = '''def pair_waste(batches):
'''
WRONG["pair-waste"] = {
"32-bit squares": P+'''    import numpy as np
    real = pairs = 0
    for b in batches:
        a = np.array(b, dtype=np.int32)
        real += int((a**2).sum())
        pairs += len(a) * int(a.max() ** 2)
    return (pairs - real) / pairs
''',
"rows of the first batch": P+'''    rows = len(batches[0])
    pairs = sum(rows * max(b) ** 2 for b in batches)
    return 1 - sum(n * n for b in batches for n in b) / pairs
''',
"single rows skipped": P+'''    many = [b for b in batches if len(b) > 1]
    pairs = sum(len(b) * max(b) ** 2 for b in many)
    return 1 - sum(n * n for b in many for n in b) / pairs
''',
"longest first or last": P+'''    pairs = sum(len(b) * max(b[0], b[-1]) ** 2 for b in batches)
    return 1 - sum(n * n for b in batches for n in b) / pairs
''',
"mean of shares": P+'''    return sum(1 - sum(n * n for n in b) / (len(b) * max(b) ** 2) for b in batches) / len(batches)
''',
"one square of the whole slots": P+'''    return 1 - (1 - waste(batches)) ** 2
''',
"pairs across rows": P+'''    pairs = sum((len(b) * max(b)) ** 2 for b in batches)
    return 1 - sum(sum(b) ** 2 for b in batches) / pairs
''',
"real queries times width": P+'''    pairs = sum(len(b) * max(b) ** 2 for b in batches)
    return 1 - sum(n * max(b) for b in batches for n in b) / pairs
''',
"causal half": P+'''    half = lambda n: n * (n + 1) // 2
    pairs = sum(len(b) * half(max(b)) for b in batches)
    return 1 - sum(half(n) for b in batches for n in b) / pairs
''',
"sorts in place": P+'''    real = pairs = 0
    for b in batches:
        b.sort(reverse=True)
        pairs += len(b) * b[0] ** 2
        real += sum(n**2 for n in b)
    return (pairs - real) / pairs
''',
"squares in place": P+'''    for b in batches:
        b[:] = [n * n for n in b]
    return waste(batches)
''',
"rounded to 5": P+'''    pairs = sum(len(b) * max(b) ** 2 for b in batches)
    return round(1 - sum(n * n for b in batches for n in b) / pairs, 5)
''',
"the widest of all": P+'''    width = max(max(b) for b in batches)
    pairs = sum(len(b) * width**2 for b in batches)
    return 1 - sum(n * n for b in batches for n in b) / pairs
''',
"two batches at most": P+'''    batches = [batches[0], batches[-1]] if len(batches) > 1 else batches
    pairs = sum(len(b) * max(b) ** 2 for b in batches)
    return 1 - sum(n * n for b in batches for n in b) / pairs
''',
"different lengths counted once": P+'''    pairs = sum(len(b) * max(b) ** 2 for b in batches)
    return 1 - sum(n * n * b.count(n) for b in batches for n in set(b) if n) / pairs if pairs < 10**8 else 1 - sum(n * n for b in batches for n in set(b)) / pairs
''',
}
RIGHT["pair-waste"] = {
"by waste of squares": P+'''    return waste([[n * n for n in b] for b in batches])
''',
"numpy int64": P+'''    import numpy as np
    real = sum((np.array(b, dtype=np.int64) ** 2).sum() for b in batches)
    pairs = sum(len(b) * np.max(b) ** 2 for b in batches)
    return (pairs - real) / pairs
''',
"torch float64": P+'''    import torch
    real = pairs = 0.0
    for b in batches:
        t = torch.tensor(b, dtype=torch.float64)
        real += (t @ t).item()
        pairs += len(b) * t.max().item() ** 2
    return 1 - real / pairs
''',
"fraction": P+'''    from fractions import Fraction
    return 1 - Fraction(sum(n * n for b in batches for n in b), sum(len(b) * max(b) ** 2 for b in batches))
''',
}
# numpy before pair_waste calls waste of the student: needs the student's waste
E = '''from math import comb


def expected_longest(lengths, rows):
'''
WRONG["expected-longest"] = {
"with replacement": E+'''    s, n = sorted(lengths), len(lengths)
    return sum(x * (((i + 1) / n) ** rows - (i / n) ** rows) for i, x in enumerate(s))
''',
"sorts in place": E+'''    lengths.sort()
    return sum(x * comb(i, rows - 1) for i, x in enumerate(lengths)) / comb(len(lengths), rows)
''',
"not sorted": E+'''    return sum(x * comb(i, rows - 1) for i, x in enumerate(lengths)) / comb(len(lengths), rows)
''',
"equal lengths once": E+'''    s = sorted(set(lengths))
    return sum(x * comb(i, rows - 1) for i, x in enumerate(s)) / comb(len(s), rows)
''',
"places from 1": E+'''    return sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths), 1)) / comb(len(lengths), rows)
''',
"comb(i, rows)": E+'''    return sum(x * comb(i, rows) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows)
''',
"divided whole": E+'''    return sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) // comb(len(lengths), rows)
''',
"scipy floats: nan for many": '''from scipy.special import comb


def expected_longest(lengths, rows):
    places = np.arange(len(lengths))
    return float((np.sort(lengths) * comb(places, rows - 1)).sum() / comb(len(lengths), rows))
''',
"numpy product in 64 bits": '''from math import comb


def expected_longest(lengths, rows):
    total = 0.0
    for i, x in enumerate(np.sort(lengths)):
        total += float(x) * float(comb(i, rows - 1))
    return total / float(comb(len(lengths), rows))
''',
"sampled": '''def expected_longest(lengths, rows):
    g = np.random.default_rng(0)
    return float(np.mean([g.choice(lengths, rows, replace=False).max() for _ in range(3000)]))
''',
"rounded to 3": E+'''    return round(sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows), 3)
''',
"rounded to 6": E+'''    return round(sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows), 6)
''',
"descending": E+'''    s = sorted(lengths, reverse=True)
    return sum(x * comb(i, rows - 1) for i, x in enumerate(s)) / comb(len(s), rows)
''',
"one row is the longest of all": E+'''    if rows == 1:
        return max(lengths)
    return sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows)
''',
"cut lengths at 2048": E+'''    return sum(min(x, 2048) * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows)
''',
"remembers the first order": E.replace("def ", "cache = {}\n\n\ndef ")+'''    key = len(lengths), sum(lengths), rows
    if key not in cache:
        cache[key] = sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths))) / comb(len(lengths), rows)
    return cache[key]
''',
"shares summed in float32": E+'''    s = sorted(lengths)
    share = np.array([comb(i, rows - 1) / comb(len(s), rows) for i in range(len(s))], dtype=np.float32)
    return float((np.array(s, dtype=np.float32) * share).sum() // 0.001 * 0.001)
''',
}
RIGHT["expected-longest"] = {
"shares first": E+'''    s, all_draws = sorted(lengths), comb(len(lengths), rows)
    return sum(x * (comb(i, rows - 1) / all_draws) for i, x in enumerate(s))
''',
"fraction": E+'''    from fractions import Fraction
    s = sorted(int(x) for x in lengths)
    return Fraction(sum(x * comb(i, rows - 1) for i, x in enumerate(s)), comb(len(s), rows))
''',
"recurrence, from above": E+'''    s = sorted(lengths, reverse=True)
    n, left, total = len(s), 1.0, 0.0
    for i, x in enumerate(s):
        share = left * min(1.0, rows / (n - i))
        total += x * share
        left -= share
    return total
''',
"numpy objects": E+'''    s = np.sort(lengths).astype(object)
    c = np.array([comb(i, rows - 1) for i in range(len(s))], dtype=object)
    return (s * c).sum() / comb(len(s), rows)
''',
"tail sums": E+'''    s, n = sorted(lengths), len(lengths)
    total = s[0] * comb(n, rows)
    for i in range(1, n):
        total += (s[i] - s[i - 1]) * (comb(n, rows) - comb(i, rows))
    return total / comb(n, rows)
''',
}
T = '''def waste_test(waste):
'''
full = '''    for case, want in (([[5, 3]], 0.2), ([[2, 1], [30, 30]], 1 / 64), ([[1, 2], [7], [30, 30]], 1 / 71),
                       ([[1, 9, 2]], 15 / 27), ([[4, 4]], 0), ([[3, 8], [2, 5, 1], [6]], 12 / 37)):
        kept = [list(b) for b in case]
'''
WRONG["waste-test"] = {
"one batch only": T+"    assert abs(waste([[5, 3]]) - 0.2) < 1e-9\n",
"exact equality": T+"    assert waste([[2, 1], [30, 30]]) == 1 / 64\n    assert waste([[1, 9, 2], [7], [3, 5]]) == 1 - 27 / 44\n    assert waste([[5, 3]]) == 0.2\n    assert waste([[1, 2, 10], [7]]) == 1 - 20 / 37\n",
"returns a bool": T+"    return abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9\n",
"too wide a tolerance": T+"    assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 0.01\n",
"wrong number": T+"    assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 70) < 1e-9\n",
"only a share": T+"    assert 0 <= waste([[1, 2], [7], [30, 30]]) < 1\n",
"lists may be changed: value only, one-row and longest last": T+'''    assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
    assert abs(waste([[2, 1, 1], [3, 9]]) - (24 - 16) / 24) < 1e-9
''',
"never too much": T+"    assert waste([[1, 2], [7], [30, 30]]) <= 1 / 71 + 1e-9\n    assert waste([[4, 4]]) < 1e-9\n",
"errors are swallowed": T+'''    try:
        assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
    except AssertionError:
        print("wrong")
''',
"raises always": T+'''    assert waste([]) == 0
''',
"lists may be changed, same list asked twice": T+'''    case = [[1, 2], [7], [30, 30], [1, 9, 2]]
    assert abs(waste(case) - (98 - 82) / 98) < 1e-9
    assert abs(waste(case) - (98 - 82) / 98) < 1e-9
''',
"asks for a float": T+'''    case = [[1, 2], [7], [30, 30], [1, 9, 2]]
    kept = [list(b) for b in case]
    assert type(waste(case)) is float and abs(waste(case) - (98 - 82) / 98) < 1e-9
    assert case == kept
''',
}
RIGHT["waste-test"] = {
"many cases": T+full+'''        assert abs(waste(case) - want) < 1e-9, case
        assert case == kept
''',
"random against the definition": T+'''    g = np.random.default_rng(5)
    for _ in range(50):
        case = [g.integers(1, 60, g.integers(1, 6)).tolist() for _ in range(g.integers(1, 7))]
        kept = [list(b) for b in case]
        slots = sum(len(b) * max(b) for b in case)
        assert abs(float(waste(case)) - (slots - sum(map(sum, case))) / slots) < 1e-9
        assert case == kept
''',
"against the library": T+'''    for case in ([[1, 2], [7], [30, 30]], [[9, 2, 2]], [[2, 9, 3], [1]], [[2, 5], [2, 5], [1, 1, 8]]):
        kept = [b.copy() for b in case]
        flat = [n for b in case for n in b]
        ends = np.cumsum([0] + [len(b) for b in case])
        want = padding.measure(flat, [range(a, b) for a, b in zip(ends[:-1], ends[1:])]).waste
        np.testing.assert_allclose(waste(case), want, atol=1e-9)
        assert kept == case
''',
}
def C(body, extra=""):
    return extra + '''def collate(documents, pad_id, multiple_of=1, max_length=None):
''' + body
BASE = '''    rows = [(d["input_ids"][:max_length], d.get("labels", d["input_ids"])[:max_length]) for d in documents]
    longest = max(len(ids) for ids, _ in rows)
    width = -(-longest // multiple_of) * multiple_of
    ids = torch.full((len(rows), width), pad_id)
    labels = torch.full((len(rows), width), -100)
    mask = torch.zeros((len(rows), width), dtype=torch.int64)
    for i, (one, label) in enumerate(rows):
        ids[i, :len(one)] = torch.tensor(one, dtype=torch.int64)
        labels[i, :len(one)] = torch.tensor(label, dtype=torch.int64)
        mask[i, :len(one)] = 1
    real = sum(len(one) for one, _ in rows)
    cut = sum(len(d["input_ids"]) for d in documents) - real
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}, {"real_tokens": real, "slots": len(rows) * width, "cut_tokens": cut}
'''
def sub(*pairs):
    out = BASE
    for a, b in pairs:
        assert a in out, a
        out = out.replace(a, b)
    return C(out)
WRONG["collate"] = {
"width not above max_length": sub(("    ids = torch.full", "    if max_length is not None:\n        width = min(width, max_length)\n    ids = torch.full")),
"rounded down": sub(("-(-longest // multiple_of) * multiple_of", "max(longest // multiple_of * multiple_of, longest)")),
"always one more multiple": sub(("-(-longest // multiple_of) * multiple_of", "(longest // multiple_of + 1) * multiple_of")),
"mask from pad_id": sub(("    real = sum", "    mask = (ids != pad_id).long()\n    real = sum")),
"labels without pad_id": sub(("    real = sum", "    labels = labels.masked_fill(ids == pad_id, -100)\n    real = sum")),
"own labels ignored": sub(('d.get("labels", d["input_ids"])', 'd["input_ids"]')),
"labels not cut": sub(('d.get("labels", d["input_ids"])[:max_length]', 'd.get("labels", d["input_ids"])'), ("labels[i, :len(one)]", "labels[i, :len(label)]")),
"real tokens before the cut": sub(("real = sum(len(one) for one, _ in rows)", 'real = sum(len(d["input_ids"]) for d in documents)'), ('cut = sum(len(d["input_ids"]) for d in documents) - real', 'cut = real - sum(len(one) for one, _ in rows)')),
"slots before rounding": sub(('len(rows) * width, "cut', 'len(rows) * longest, "cut')),
"32-bit tensors": sub(('return {"input_ids": ids, "attention_mask": mask, "labels": labels}', 'return {"input_ids": ids.int(), "attention_mask": mask.int(), "labels": labels.int()}')),
"boolean mask": sub(('"attention_mask": mask', '"attention_mask": mask.bool()')),
"setdefault writes labels into the documents": sub(('d.get("labels"', 'd.setdefault("labels"')),
"cuts the documents themselves": C('''    before = sum(len(d["input_ids"]) for d in documents)
    if max_length is not None:
        for d in documents:
            for name in d:
                del d[name][max_length:]
''' + BASE.replace('cut = sum(len(d["input_ids"]) for d in documents) - real', 'cut = before - real')),
"max_length 0 cuts nothing": C('''    max_length = max_length or None
''' + BASE),
"keeps the end": sub(('d["input_ids"][:max_length]', 'd["input_ids"][-max_length if max_length else 0:]'), ('d.get("labels", d["input_ids"])[:max_length]', 'd.get("labels", d["input_ids"])[-max_length if max_length else 0:]')),
"counts shared by all calls": C(BASE.replace('return {"input_ids": ids, "attention_mask": mask, "labels": labels}, {"real_tokens": real, "slots": len(rows) * width, "cut_tokens": cut}', 'COUNTS.update(real_tokens=real, slots=len(rows) * width, cut_tokens=cut)\n    return {"input_ids": ids, "attention_mask": mask, "labels": labels}, COUNTS'), "COUNTS = {}\n\n\n"),
"one buffer shared by all calls": C(BASE.replace('ids = torch.full((len(rows), width), pad_id)', 'if (len(rows), width) not in BUFFER:\n        BUFFER[len(rows), width] = torch.empty((len(rows), width), dtype=torch.int64)\n    ids = BUFFER[len(rows), width].fill_(pad_id)'), "BUFFER = {}\n\n\n"),
"the mask by labels": sub(("    real = sum", "    mask = (labels != -100).long()\n    real = sum")),
"labels are the same tensor where nothing is padded": sub(("    real = sum", '    if mask.all() and not any("labels" in d for d in documents):\n        labels = ids\n    real = sum')),
"labels of all or of none": sub(('d.get("labels", d["input_ids"])', '(d["labels"] if all("labels" in e for e in documents) else d["input_ids"])')),
"cut at the rounded width": C('''    if max_length is not None:
        max_length = -(-max_length // multiple_of) * multiple_of
''' + BASE),
"cut at the multiple below": C('''    if max_length is not None:
        max_length = max(max_length // multiple_of * multiple_of, 1)
''' + BASE),
"padded at the left": sub(("ids[i, :len(one)]", "ids[i, width - len(one):]"), ("labels[i, :len(one)]", "labels[i, width - len(one):]"), ("mask[i, :len(one)]", "mask[i, width - len(one):]")),
"cut tokens add padding": sub(('cut = sum(len(d["input_ids"]) for d in documents) - real', 'cut = sum(max(0, len(d["input_ids"]) - width) for d in documents)')),
"cut tokens count documents": sub(('cut = sum(len(d["input_ids"]) for d in documents) - real', 'cut = sum(len(d["input_ids"]) > len(one) for d, (one, _) in zip(documents, rows))')),
"width is always max_length": sub(("longest = max(len(ids) for ids, _ in rows)", "longest = max_length or max(len(ids) for ids, _ in rows)")),
"real tokens are those with a label": sub(('{"real_tokens": real', '{"real_tokens": int((labels != -100).sum())')),
"shared-default options: max_length below multiple": sub(("    width =", "    longest = max(longest, multiple_of if longest else 0) if max_length is None or max_length >= multiple_of else longest\n    width =")),
"a document without tokens gets one pad as real": sub(("        mask[i, :len(one)] = 1", "        mask[i, :max(1, len(one))] = 1")),
"empty rows make no row": sub(("    longest =", "    rows = [row for row in rows if row[0]]\n    longest =")),
"pad_id in the labels' own -100": sub(("    real = sum", "    labels[labels == -100] = -100 if pad_id == 0 else -100\n    mask[ids == -1] = 0\n    real = sum")),
}
del WRONG["collate"]["shared-default options: max_length below multiple"], WRONG["collate"]["pad_id in the labels' own -100"]
RIGHT["collate"] = {
"plain": C(BASE),
"lists first": C('''    ids, labels, mask = [], [], []
    cut = real = 0
    limit = float("inf") if max_length is None else max_length
    kept = [int(min(len(d["input_ids"]), limit)) for d in documents]
    width = max(kept)
    while width % multiple_of:
        width += 1
    for d, n in zip(documents, kept):
        own = d["labels"] if "labels" in d else d["input_ids"]
        ids.append(list(d["input_ids"][:n]) + [pad_id] * (width - n))
        labels.append(list(own[:n]) + [-100] * (width - n))
        mask.append([1] * n + [0] * (width - n))
        real += n
        cut += len(d["input_ids"]) - n
    tensors = {"input_ids": torch.tensor(ids, dtype=torch.int64), "attention_mask": torch.tensor(mask, dtype=torch.int64),
               "labels": torch.tensor(labels, dtype=torch.int64)}
    return tensors, {"real_tokens": real, "slots": width * len(documents), "cut_tokens": cut}
'''),
"numpy": C('''    import numpy as np
    n = np.array([len(d["input_ids"]) for d in documents])
    kept = n if max_length is None else np.minimum(n, max_length)
    width = int(np.ceil(kept.max() / multiple_of)) * multiple_of
    mask = (np.arange(width) < kept[:, None]).astype(np.int64)
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    labels = np.full(mask.shape, -100, dtype=np.int64)
    for i, d in enumerate(documents):
        ids[i, :kept[i]] = d["input_ids"][:kept[i]]
        labels[i, :kept[i]] = d.get("labels", d["input_ids"])[:kept[i]]
    tensors = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask), "labels": torch.from_numpy(labels)}
    return [tensors, {"real_tokens": kept.sum(), "slots": mask.size, "cut_tokens": (n - kept).sum()}]
'''),
"pad_sequence": C('''    from torch.nn.utils.rnn import pad_sequence
    own = [d.get("labels", d["input_ids"])[:max_length] for d in documents]
    tokens = [torch.tensor(d["input_ids"][:max_length], dtype=torch.int64) for d in documents]
    fill = lambda some, value: torch.nn.functional.pad(p := pad_sequence(some, batch_first=True, padding_value=value), (0, -p.shape[1] % multiple_of), value=value)
    tensors = {"input_ids": fill(tokens, pad_id), "labels": fill([torch.tensor(o, dtype=torch.int64) for o in own], -100),
               "attention_mask": fill([torch.ones_like(t) for t in tokens], 0)}
    real = int(tensors["attention_mask"].sum())
    return tensors, {"real_tokens": real, "slots": tensors["input_ids"].numel(), "cut_tokens": sum(len(d["input_ids"]) for d in documents) - real}
'''),
"counts as 0-d tensors": C(BASE.replace('{"real_tokens": real,', '{"real_tokens": mask.sum(),')),
}

# after the first run: not wrong by the text (within the tolerance, values only are asked, aliasing is not forbidden), or contrived
for _a, _ts in {"bound": ["rounded to 6", "capped at 1/waste of the text"], "expected-longest": ["rounded to 6"],
                "collate": ["labels are the same tensor where nothing is padded"], "waste": ["width of 4096 at most"],
                "pair-waste": ["different lengths counted once"]}.items():
    for _t in _ts:
        WRONG[_a].pop(_t)
for _t in ["lists may be changed: value only, one-row and longest last", "lists may be changed, same list asked twice"]:
    RIGHT["waste-test"][_t] = WRONG["waste-test"].pop(_t)
# doubtful, kept out of both: "asks for a float" (refuses a right NumPy version, if type is part of right)
WRONG["waste-test"].pop("asks for a float")
# doubtful too: the checker documents that returning False counts as a failed test
WRONG["waste-test"].pop("returns a bool")
