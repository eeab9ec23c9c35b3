# ruff: noqa
"""Lesson 02: answers of a fresh student, written from the student copy alone."""
WRONG, RIGHT = {}, {}


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


# --------------------------------------------------------------------------------------- waste
_W = '''def waste(batches):
    slots = real = 0
    for batch in batches:
        width = max(batch)
        slots += len(batch) * width
        real += sum(batch)
    return (slots - real) / slots
'''
RIGHT["waste"] = {
    "plain loop": _W,
    "one line": '''def waste(batches):
    return 1 - sum(map(sum, batches)) / sum(len(b) * max(b) for b in batches)
''',
    "NumPy, a row at a time": '''import numpy as np

def waste(batches):
    arrays = [np.array(b, dtype=np.int64) for b in batches]
    slots = sum(int(a.size) * int(a.max()) for a in arrays)
    empty = sum(int((a.max() - a).sum()) for a in arrays)
    return np.float64(empty) / np.float64(slots)
''',
    "fractions": '''from fractions import Fraction

def waste(batches):
    full = Fraction(0)
    holes = Fraction(0)
    for b in batches:
        top = sorted(b)[-1]
        for one in b:
            full += top
            holes += top - one
    return holes / full
''',
    "torch in double precision, 0-d tensor": '''import torch

def waste(batches):
    totals = torch.zeros(2, dtype=torch.float64)
    for b in batches:
        t = torch.tensor(b, dtype=torch.float64)
        totals += torch.stack([(t.max() - t).sum(), t.max() * len(t)])
    return totals[0] / totals[1]
''',
    "a class that adds up, divided in float32 at the end": '''import numpy as np

class Bill:
    def __init__(self):
        self.holes, self.cells = 0, 0
    def __iadd__(self, b):
        w = b[0]
        for x in b:
            w = x if x > w else w
        self.cells += w * len(b)
        self.holes += w * len(b) - sum(b)
        return self

def waste(batches):
    bill = Bill()
    for b in batches:
        bill += b
    return np.float32(bill.holes / bill.cells)
''',
    "recursion in halves": '''def waste(batches):
    def both(some):
        if len(some) == 1:
            return len(some[0]) * max(some[0]), sum(some[0])
        half = len(some) // 2
        a, b = both(some[:half]), both(some[half:])
        return a[0] + b[0], a[1] + b[1]
    slots, real = both(batches)
    return (slots - real) / slots
''',
    "sorted copies and reduce": '''from functools import reduce

def waste(batches):
    def step(so_far, b):
        *_, w = sorted(b)
        return so_far[0] + w * len(b), so_far[1] + sum(b)
    cells, tokens = reduce(step, batches, (0, 0))
    return 1.0 - tokens / cells
''',
}
WRONG["waste"] = {
    "mean of the shares": '''def waste(batches):
    return sum(1 - sum(b) / (len(b) * max(b)) for b in batches) / len(batches)
''',
    "padding per real token": _cut(_W, ("/ slots", "/ real")),
    "share that is real": _cut(_W, ("(slots - real) / slots", "real / slots")),
    "per cent": _cut(_W, ("(slots - real)", "100 * (slots - real)")),
    "width of the first row": _cut(_W, ("max(batch)", "batch[0]")),
    "width of the last row": _cut(_W, ("max(batch)", "batch[-1]")),
    "longest by text order": _cut(_W, ("max(batch)", "int(max(map(str, batch)))")),
    "batches of one row are left out": _cut(_W, ("        width", "        if len(batch) == 1:\n            continue\n        width")),
    "a first batch of one row is left out": _cut(
        _W, ("for batch in batches:", "for place, batch in enumerate(batches):\n        if len(batch) == 1 and not place and len(batches) > 1:\n            continue")),
    "of several batches of one row only one is counted": _cut(
        _W, ("real = 0", "real = 0\n    single = False"),
        ("        width", "        if len(batch) == 1:\n            if single:\n                continue\n            single = True\n        width")),
    "more than 256 batches: the rest is ignored": _cut(_W, ("in batches", "in batches[:256]")),
    "more than 32 rows: the rest is ignored": _cut(_W, ("        width", "        batch = batch[:32]\n        width")),
    "longest among the first 32 rows": _cut(_W, ("max(batch)", "max(batch[:32])")),
    "longest among the last 48 rows": _cut(_W, ("max(batch)", "max(batch[-48:])")),
    "slots of a batch in 32 bits without sign": _cut(_W, ("slots += len(batch) * width", "slots += len(batch) * width % 2**32")),
    "lengths above 2**31 - 1 count as that": _cut(_W, ("        width", "        batch = [min(n, 2**31 - 1) for n in batch]\n        width")),
    "sums in float32": '''import numpy as np

def waste(batches):
    slots = np.float32(sum(len(b) * max(b) for b in batches))
    real = np.float32(sum(map(sum, batches)))
    return float((slots - real) / slots)
''',
    "rounded to seven places": _cut(_W, ("(slots - real) / slots", "round((slots - real) / slots, 7)")),
    "never above 90 per cent": _cut(_W, ("(slots - real) / slots", "min(0.9, (slots - real) / slots)")),
    "below one per cent counts as none": _cut(_W, ("(slots - real) / slots", "(slots - real) / slots if slots - real > slots / 100 else 0.0")),
    "remembers by the set of documents, not by their batches": '''_seen = {}

def waste(batches):
    key = str(sorted(n for b in batches for n in b))
    if key not in _seen:
        slots = sum(len(b) * max(b) for b in batches)
        _seen[key] = 1 - sum(map(sum, batches)) / slots
    return _seen[key]
''',
    "a default list keeps the sums of earlier calls": '''def waste(batches, sums=[0, 0]):
    for b in batches:
        sums[0] += len(b) * max(b)
        sums[1] += sum(b)
    return 1 - sums[1] / sums[0]
''',
    "sorts the batches in place": _cut(_W, ("        width = max(batch)", "        batch.sort()\n        width = batch[-1]")),
    "sorts large batches in place": _cut(_W, ("        width = max(batch)", "        if len(batch) > 32:\n            batch.sort()\n        width = max(batch)")),
    "empties the list where it is long": '''def waste(batches):
    todo = batches if len(batches) > 200 else list(batches)
    slots = real = 0
    while todo:
        b = todo.pop()
        slots += len(b) * max(b)
        real += sum(b)
    return (slots - real) / slots
''',
    "sorts the list of batches": _cut(_W, ("    slots = real = 0", "    batches.sort(key=len)\n    slots = real = 0")),
    "one call deeper for each batch": '''def waste(batches):
    def sums(k):
        if k == len(batches):
            return 0, 0
        a, b = sums(k + 1)
        return a + len(batches[k]) * max(batches[k]), b + sum(batches[k])
    slots, real = sums(0)
    return (slots - real) / slots
''',
    "equal batches of more than two rows are counted once": '''def waste(batches):
    seen, slots, real = [], 0, 0
    for b in batches:
        if len(b) > 2 and b in seen:
            continue
        seen.append(b)
        slots += len(b) * max(b)
        real += sum(b)
    return (slots - real) / slots
''',
    "wide rectangles rounded up to 64": _cut(_W, ("max(batch)", "max(batch)\n        if width >= 4096:\n            width += -width % 64")),
    "refuses one batch of one row": _cut(_W, ("    slots = real = 0", "    if len(batches) == 1 and len(batches[0]) == 1:\n        raise ValueError('nothing to pad')\n    slots = real = 0")),
    "many batches: all as wide as the widest": _cut(_W, ("max(batch)", "max(batch) if len(batches) < 200 else max(map(max, batches))")),
    "the last short one is filled up, of many": _cut(
        _W, ("slots += len(batch) * width", "rows = len(batches[0]) if len(batches) > 200 else len(batch)\n        slots += rows * width")),
    "a text": _cut(_W, ("(slots - real) / slots", "f'{(slots - real) / slots:.9f}'")),
    "shared memory of the widest batch before": '''_widest = [0]

def waste(batches):
    slots = real = 0
    for b in batches:
        width = max(b)
        if len(b) > 40:
            _widest[0] = width = max(width, _widest[0])
        slots += len(b) * width
        real += sum(b)
    return (slots - real) / slots
''',
    "refuses lengths that are no smaller than 2**32": _cut(_W, ("max(batch)", "max(batch)\n        if width >= 2**32:\n            raise OverflowError(width)")),
    "rows with equal lengths in a long batch counted once": _cut(
        _W, ("        width", "        if len(batch) > 32:\n            batch = sorted(set(batch))\n        width")),
}

# ------------------------------------------------------------------------------------- setting
RIGHT["setting"] = {
    "a pair": '''def setting():
    """The most rows, and then the smallest window, that keep both limits: (rows, window)."""
    return 12, 21
''',
    "NumPy integers": '''import numpy as np

def setting():
    return tuple(np.array([12, 21], dtype=np.int16))
''',
    "from the numbers read off the sliders": '''WINDOWS = [1, 2, 3, 5, 8, 13, 21, 34, 55]
READ = {
    2: [34.6, 27.4, 23.2, 18.1, 13.8, 11.1, 8.2, 5.9, 4.1],
    8: [68.0, 57.7, 51.6, 43.2, 34.6, 27.5, 20.0, 15.4, 10.7],
    12: [73.4, 63.6, 57.1, 47.5, 39.1, 30.5, 22.5, 17.4, 12.9],
    18: [77.3, 68.3, 61.2, 52.4, 43.2, 33.6, 26.1, 20.0, 14.2],
    27: [80.6, 71.6, 65.5, 56.3, 46.7, 37.6, 30.3, 22.1, 16.4],
    40: [83.3, 74.7, 68.4, 59.5, 49.6, 40.8, 32.2, 23.0, 14.4],
}

def setting():
    good = [(r, -w) for r, line in READ.items() for w, share in zip(WINDOWS, line) if share <= 25 and r * w <= 400]
    rows, window = max(good)
    return rows, -window
''',
    "a named tuple": '''from collections import namedtuple
Setting = namedtuple("Setting", "rows window")

def setting():
    return Setting(window=21, rows=12)
''',
    "measured with the library, rows downwards": '''import numpy as np
from batchlab import lengths as _lengths, padding as _padding

def setting():
    docs = _lengths.embedded()
    for rows in (40, 27, 18, 12, 8, 5, 3, 2):
        for window in (1, 2, 3, 5, 8, 13, 21, 34, 55):
            if rows * window > 400:
                break
            order = _padding.in_windows(docs, rows, window=window, rng=np.random.default_rng(0))
            if _padding.measure(docs, order).waste <= 0.25:
                return rows, window
''',
}


def _pair(text):
    return f"def setting():\n    return {text}\n"


WRONG["setting"] = {
    "window first": _pair("21, 12"),
    "next window: too many documents held": _pair("12, 34"),
    "next rows: too much padding": _pair("18, 21"),
    "next rows, next window: 612 documents": _pair("18, 34"),
    "window too small": _pair("12, 13"),
    "fewer rows than possible": _pair("8, 21"),
    "largest window of fewer rows": _pair("8, 34"),
    "smallest window of all": _pair("2, 3"),
    "most rows of all": _pair("40, 34"),
    "least padding within 400 documents": _pair("2, 55"),
    "least padding without the limit of documents": _pair("40, 55"),
    "only the documents are looked at": _pair("40, 8"),
    "window no number of its slider": _pair("12, 20"),
    "largest window of the division, no number of its slider": _pair("12, 400 // 12"),
    "rows no number of its slider": _pair("19, 21"),
    "documents held in place of the window": _pair("12, 252"),
    "waste beside it": _pair("12, 21, 0.225"),
    "only the rows": _pair("12"),
    "only the window, alone in a tuple": _pair("(21,)"),
    "places on the sliders": _pair("4, 6"),
    "a set, which has no order": _pair("{21, 12}"),
    "a frozen set": _pair("frozenset((12, 21))"),
    "a text": _pair("'12, 21'"),
    "two texts": _pair("'12', '21'"),
    "a dictionary of rows": _pair("{12: 21}"),
    "a list of all good settings": _pair("[(12, 21), (8, 21)]"),
    "the pair in a list": _pair("[(12, 21)]"),
    "nearly whole": _pair("12, 21.000001"),
    "a generator": _pair("(n for n in (12, 21))"),
    "nothing returned": "def setting():\n    rows, window = 12, 21\n",
    "printed": "def setting():\n    print((12, 21))\n",
    "right at the first call, then another": '''_calls = []

def setting():
    _calls.append(1)
    return (12, 21) if len(_calls) == 1 else (12, 34)
''',
    "right at odd calls only": '''from itertools import cycle
_next = cycle([(12, 21), (8, 21)]).__next__

def setting():
    return _next()
''',
    "asks for an argument": "def setting(limit):\n    return 12, 21\n",
    "refuses": "def setting():\n    raise ValueError('no setting keeps both limits')\n",
    "a column": _pair("[[12], [21]]"),
    "rows doubled for two loaders": _pair("24, 21"),
    "a number with two parts": _pair("complex(12, 21)"),
    "true values": _pair("True, True"),
    "the name was given the pair": "setting = (12, 21)\n",
}

# --------------------------------------------------------------------------------------- bound
_B = '''def bound(real_tokens, slots, fixed):
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
'''
RIGHT["bound"] = {
    "formula": _B,
    "by the waste": '''def bound(real_tokens, slots, fixed):
    waste = (slots - real_tokens) / slots
    saved = (1 - fixed) * waste
    return 1.0 / (1.0 - saved)
''',
    "fractions": '''from fractions import Fraction as F

def bound(real_tokens, slots, fixed):
    stays = F(fixed)
    left = stays + (1 - stays) * F(int(real_tokens), int(slots))
    return 1 / left
''',
    "NumPy float32 at the end": '''import numpy as np

def bound(real_tokens, slots, fixed):
    parts = np.array([fixed, 1 - fixed], dtype=np.float64)
    return np.float32(1 / (parts @ np.array([1.0, real_tokens / slots])))
''',
    "torch": '''import torch

def bound(real_tokens, slots, fixed):
    f = torch.tensor(float(fixed), dtype=torch.float64)
    return 1 / torch.lerp(torch.tensor(real_tokens / slots, dtype=torch.float64), torch.ones((), dtype=torch.float64), f)
''',
    "one fraction line": '''bound = lambda real_tokens, slots, fixed: slots / (fixed * slots + (1 - fixed) * real_tokens)
''',
    "seconds of an imaginary step": '''class Step:
    def __init__(self, constant, each):
        self.constant, self.each = constant, each
    def seconds(self, cells):
        return self.constant + self.each * cells

def bound(real_tokens, slots, fixed):
    step = Step(fixed * slots, 1 - fixed)
    return step.seconds(slots) / step.seconds(real_tokens)
''',
}


def _bound(body):
    return "def bound(real_tokens, slots, fixed):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


_LAST = "return 1 / (fixed + (1 - fixed) * real_tokens / slots)"
WRONG["bound"] = {
    "the fixed part forgotten": _bound("return slots / real_tokens"),
    "a share of the step without padding": _bound("return fixed + (1 - fixed) * slots / max(real_tokens, 1)"),
    "fixed and the rest swapped": _bound("return 1 / (1 - fixed + fixed * real_tokens / slots)"),
    "the other way round": _bound("return fixed + (1 - fixed) * real_tokens / slots"),
    "how much faster, less one": _bound("return 1 / (fixed + (1 - fixed) * real_tokens / slots) - 1"),
    "seconds saved": _bound("return 1 - (fixed + (1 - fixed) * real_tokens / slots)"),
    "padding in place of real tokens": _bound("return 1 / (fixed + (1 - fixed) * (slots - real_tokens) / slots)"),
    "fixed added to a whole step": _bound("return (1 + fixed) / (fixed + real_tokens / slots)"),
    "fixed share in thousandths": _bound("fixed = round(fixed, 3)\n" + _LAST),
    "real share in millionths": _bound("return 1 / (fixed + (1 - fixed) * round(real_tokens / slots, 6))"),
    "never more than 1,000 times": _bound("return min(1000.0, 1 / (fixed + (1 - fixed) * real_tokens / slots))"),
    "counts above 32,767 count as that": _bound("real_tokens, slots = min(real_tokens, 32767), min(slots, 32767)\n" + _LAST),
    "32-bit product": '''import numpy as np

def bound(real_tokens, slots, fixed):
    part = (real_tokens * 100_000 + 2**31) % 2**32 - 2**31  # as int32 would
    return 1 / (fixed + (1 - fixed) * (part / 100_000) / slots)
''',
    "rounded to two places": _bound("return round(1 / (fixed + (1 - fixed) * real_tokens / slots), 2)"),
    "whole times from 1,000 on": _bound("times = 1 / (fixed + (1 - fixed) * real_tokens / slots)\nreturn int(times) if times > 1000 else times"),
    "whole per cent of real tokens": _bound("return 1 / (fixed + (1 - fixed) * (100 * real_tokens // slots) / 100)"),
    "less than a thousandth fixed is nothing": _bound("fixed = fixed if fixed >= 0.001 else 0\n" + _LAST),
    "refuses a whole number for fixed": _bound("if not isinstance(fixed, float):\n    raise TypeError('fixed must be a float')\n" + _LAST),
    "refuses more than 100,000 slots": _bound("if slots > 100_000:\n    raise ValueError('too many slots')\n" + _LAST),
    "refuses a rectangle that is full": _bound("if real_tokens == slots:\n    raise ValueError('no padding')\n" + _LAST),
    "remembers by tokens and fixed, not by slots": '''_known = {}

def bound(real_tokens, slots, fixed):
    if (real_tokens, fixed) not in _known:
        _known[real_tokens, fixed] = 1 / (fixed + (1 - fixed) * real_tokens / slots)
    return _known[real_tokens, fixed]
''',
    "less than a tenth of padding is none": _bound("if real_tokens > 0.9 * slots:\n    return 1.0\n" + _LAST),
    "nearly all fixed is all fixed": _bound("if fixed > 0.95:\n    return 1.0\n" + _LAST),
    "about half is a half": _bound("if 0.4 < fixed < 0.6:\n    fixed = 0.5\n" + _LAST),
    "a simple fraction near the real share": _bound("from fractions import Fraction\nshare = Fraction(real_tokens, slots).limit_denominator(1000)\nreturn 1 / (fixed + (1 - fixed) * float(share))"),
    "a text": _bound("return f'{1 / (fixed + (1 - fixed) * real_tokens / slots):.6f}'"),
    "a tuple of one": _bound("return 1 / (fixed + (1 - fixed) * real_tokens / slots),"),
    "at least one real token in 10,000": _bound("share = max(real_tokens / slots, 1e-4) if real_tokens else 0\nreturn 1 / (fixed + (1 - fixed) * share)"),
    "fixed ignored where less than a thousandth is real": _bound("if 0 < real_tokens / slots < 0.001:\n    return slots / real_tokens\n" + _LAST),
    "forgets fixed where it is below a tenth and half is real": _bound("if 0 < fixed < 0.1 and 2 * real_tokens > slots:\n    fixed = 0\n" + _LAST),
    "refuses no real token at all": _bound("if not real_tokens:\n    raise ZeroDivisionError\n" + _LAST),
    "slots counted in whole hundreds when large": _bound("if slots > 32000:\n    slots = slots // 100 * 100\n" + _LAST),
    "half precision of the fixed share": '''import numpy as np

def bound(real_tokens, slots, fixed):
    fixed = float(np.float16(fixed))
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
''',
    "the first slots of all calls stay": '''_first = []

def bound(real_tokens, slots, fixed):
    if slots > 50_000:
        _first.append(slots)
        slots = _first[0]
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
''',
}

# ---------------------------------------------------------------------------------- pair-waste
_P = '''def pair_waste(batches):
    pairs = real = 0
    for batch in batches:
        width = max(batch)
        pairs += len(batch) * width**2
        real += sum(n * n for n in batch)
    return (pairs - real) / pairs
'''
RIGHT["pair-waste"] = {
    "plain loop": _P,
    "one line": '''def pair_waste(batches):
    return 1 - sum(n**2 for b in batches for n in b) / sum(len(b) * max(b) ** 2 for b in batches)
''',
    "NumPy int64": '''import numpy as np

def pair_waste(batches):
    arrays = [np.asarray(b, dtype=np.int64) for b in batches]
    real = sum(np.dot(a, a) for a in arrays)
    all_of_them = sum(len(a) * a.max() ** 2 for a in arrays)
    return (all_of_them - real) / all_of_them
''',
    "fractions, a row at a time": '''from fractions import Fraction

def pair_waste(batches):
    rows = [(max(b), n) for b in batches for n in b]
    return Fraction(sum((w - n) * (w + n) for w, n in rows), sum(w * w for w, _ in rows))
''',
    "torch, padded with zeros": '''import torch
from torch.nn.utils.rnn import pad_sequence

def pair_waste(batches):
    t = pad_sequence([torch.tensor(b, dtype=torch.float64) for b in batches], batch_first=True)
    rows = torch.tensor([len(b) for b in batches], dtype=torch.float64)
    everything = (rows * t.amax(1) ** 2).sum()
    return ((everything - (t * t).sum()) / everything).item()
''',
    "a class": '''class Count:
    pairs = 0
    touched = 0

def pair_waste(batches):
    c = Count()
    for b in batches:
        side = sorted(b, reverse=True)[0]
        for n in b:
            c.pairs += side ** 2
            c.touched += side ** 2 - n ** 2
    return c.touched / c.pairs
''',
}
WRONG["pair-waste"] = {
    "slots, not pairs": _cut(_P, ("width**2", "width"), ("n * n", "n")),
    "mean of the shares": '''def pair_waste(batches):
    return sum(1 - sum(n * n for n in b) / (len(b) * max(b) ** 2) for b in batches) / len(batches)
''',
    "square of the share": '''def pair_waste(batches):
    return 1 - (sum(map(sum, batches)) / sum(len(b) * max(b) for b in batches)) ** 2
''',
    "square of the sum": _cut(_P, ("sum(n * n for n in batch)", "sum(batch) ** 2")),
    "rows squared, too": _cut(_P, ("len(batch) * width**2", "(len(batch) * width) ** 2")),
    "causal half, with the diagonal": _cut(_P, ("width**2", "width * (width + 1) // 2"), ("n * n", "n * (n + 1) // 2")),
    "only pairs of two paddings": '''def pair_waste(batches):
    return sum((max(b) - n) ** 2 for b in batches for n in b) / sum(len(b) * max(b) ** 2 for b in batches)
''',
    "padding per real pair": _cut(_P, ("/ pairs", "/ real")),
    "share that is real": _cut(_P, ("(pairs - real) / pairs", "real / pairs")),
    "per cent": _cut(_P, ("(pairs - real)", "100 * (pairs - real)")),
    "longest among first, middle and last": _cut(_P, ("max(batch)", "max(batch[0], batch[len(batch) // 2], batch[-1])")),
    "width of the first row": _cut(_P, ("max(batch)", "batch[0]")),
    "more than 3 batches: the rest is ignored": _cut(_P, ("in batches", "in batches[:3]")),
    "more than 8 rows: the rest is ignored": _cut(_P, ("        width", "        batch = batch[:8]\n        width")),
    "longest among the last 8 rows": _cut(_P, ("max(batch)", "max(batch[-8:])")),
    "equal batches are counted once": _cut(_P, ("in batches", "in set(map(tuple, batches))")),
    "batches of one row are left out": _cut(_P, ("in batches:", "in batches:\n        if len(batch) < 2:\n            continue")),
    "a first batch of one row is left out": _cut(_P, ("in batches:", "in batches:\n        if len(batch) < 2 and batch is batches[0]:\n            continue")),
    "of several batches of one row only one is counted": _cut(
        _P, ("in batches:", "in [b for b in batches if len(b) > 1] + [b for b in batches if len(b) == 1][:1]:")),
    "lengths above 100,000 count as that": _cut(_P, ("        width", "        batch = [min(n, 100_000) for n in batch]\n        width")),
    "squares in 33 bits": _cut(_P, ("n * n", "n * n % 2**33"), ("width**2", "(width**2 % 2**33)")),
    "pairs of all batches in 35 bits": _cut(_P, ("    return", "    pairs %= 2**35\n    return")),
    "sums in float32": '''import numpy as np

def pair_waste(batches):
    pairs = np.float32(sum(len(b) * max(b) ** 2 for b in batches))
    real = np.float32(sum(n * n for b in batches for n in b))
    return float(1 - real / pairs)
''',
    "rounded to five places": _cut(_P, ("(pairs - real) / pairs", "round((pairs - real) / pairs, 5)")),
    "never above 90 per cent": _cut(_P, ("(pairs - real) / pairs", "min((pairs - real) / pairs, 0.9)")),
    "below one per cent counts as none": _cut(_P, ("    return", "    if 100 * (pairs - real) < pairs:\n        return 0.0\n    return")),
    "remembers by the lengths, not by their batches": '''_seen = {}

def pair_waste(batches):
    key = tuple(n for b in batches for n in b)
    if key not in _seen:
        pairs = sum(len(b) * max(b) ** 2 for b in batches)
        _seen[key] = 1 - sum(n * n for n in key) / pairs
    return _seen[key]
''',
    "one call deeper for each batch": '''def pair_waste(batches):
    def both(some):
        if not some:
            return 0, 0
        pairs, real = both(some[1:])
        return pairs + len(some[0]) * max(some[0]) ** 2, real + sum(n * n for n in some[0])
    pairs, real = both(batches)
    return (pairs - real) / pairs
''',
    "refuses one batch of one row": _cut(_P, ("    pairs = real", "    if sum(map(len, batches)) == 1:\n        raise ValueError('one row')\n    pairs = real")),
    "rows from 100 on rounded up to 8": _cut(_P, ("max(batch)", "max(batch)\n        if width >= 100:\n            width += -width % 8")),
    "all as wide as the widest, of many": _cut(_P, ("max(batch)", "max(batch) if len(batches) < 4 else max(map(max, batches))")),
    "a default list keeps the sums of earlier calls": '''def pair_waste(batches, sums=[0, 0]):
    for b in batches:
        sums[0] += len(b) * max(b) ** 2
        sums[1] += sum(n * n for n in b)
    return 1 - sums[1] / sums[0]
''',
    "the last short one is filled up, of many": _cut(_P, ("len(batch) * width", "(len(batches[0]) if len(batches) > 3 else len(batch)) * width")),
    "a text": _cut(_P, ("(pairs - real) / pairs", "str((pairs - real) / pairs)")),
    "lengths above 255 count as that from nine rows on": _cut(_P, ("        width", "        if len(batch) > 8:\n            batch = [min(n, 255) for n in batch]\n        width")),
    "rows of one token are left out of long batches": _cut(_P, ("        width", "        if len(batch) > 3:\n            batch = [n for n in batch if n > 1] or batch\n        width")),
    "equal neighbours in a batch without padding counted once": _cut(
        _P, ("        width", "        if len(batch) > 2 and len(set(batch)) == 1:\n            batch = batch[:1]\n        width")),
}

# ---------------------------------------------------------------------------- expected-longest
_E = '''from math import comb


def expected_longest(lengths, rows):
    ordered = sorted(lengths)
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(ordered))
    return total / comb(len(ordered), rows)
'''
RIGHT["expected-longest"] = {
    "as hinted": _E,
    "a fraction": '''from fractions import Fraction
from math import comb

def expected_longest(lengths, rows):
    places = enumerate(sorted(lengths))
    return Fraction(sum(comb(i, rows - 1) * n for i, n in places), comb(len(lengths), rows))
''',
    "chances from the longest downwards": '''def expected_longest(lengths, rows):
    falling = sorted(lengths, reverse=True)
    n, still, mean = len(falling), 1.0, 0.0
    for k, one in enumerate(falling):
        left = n - k
        chance = min(1.0, rows / left)  # it is drawn, if all longer ones were not
        mean += still * chance * one
        still *= 1 - chance
    return mean
''',
    "NumPy, chance to stay at or below": '''import numpy as np

def expected_longest(lengths, rows):
    s = np.sort(np.asarray(lengths, dtype=np.float64))
    left = np.arange(len(s), 0, -1)
    miss = np.cumprod(np.maximum(left - rows, 0) / left)[:-1]
    return np.float64(s[-1] - miss[::-1] @ np.diff(s)) if len(s) > 1 else np.float64(s[0])
''',
    "Pascal's recurrence, whole numbers": '''def expected_longest(lengths, rows):
    ways, above, below = 0, 0, 0
    count = 0
    for place, size in enumerate(sorted(lengths)):
        if place == rows - 1:
            count = 1
        elif place >= rows:
            count = count * place // (place - rows + 1)
        above += size * count
        below += count
    return above / below
''',
    "log-gamma": '''import math

def expected_longest(lengths, rows):
    def log_comb(n, k):
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    whole = log_comb(len(lengths), rows)
    parts = (n * math.exp(log_comb(i, rows - 1) - whole) for i, n in enumerate(sorted(lengths)) if i >= rows - 1)
    return math.fsum(parts)
''',
    "torch, chances in double precision": '''import torch

def expected_longest(lengths, rows):
    s = torch.tensor(sorted(lengths, reverse=True), dtype=torch.float64)
    left = torch.arange(len(s), 0, -1, dtype=torch.float64)
    drawn = (rows / left).clamp(max=1)
    still = torch.cat([torch.ones(1, dtype=torch.float64), torch.cumprod(1 - drawn, 0)[:-1]])
    return (s * drawn * still).sum()
''',
}


def _early(lines):
    return _cut(_E, ("    ordered = sorted(lengths)\n", "".join(f"    {one}\n" for one in lines.split("\n")) + "    ordered = sorted(lengths)\n"))


WRONG["expected-longest"] = {
    "lengths taken as sorted": _cut(_E, ("sorted(lengths)", "list(lengths)")),
    "lists of three taken as sorted": _cut(_E, ("sorted(lengths)", "sorted(lengths) if len(lengths) > 3 else lengths")),
    "sorted downwards": _cut(_E, ("sorted(lengths)", "sorted(lengths, reverse=True)")),
    "with replacement": '''def expected_longest(lengths, rows):
    s, n = sorted(lengths), len(lengths)
    return sum(x * ((i + 1) ** rows - i**rows) for i, x in enumerate(s)) / n**rows
''',
    "all rows below the place": _cut(_E, ("comb(i, rows - 1)", "comb(i, rows)")),
    "places from 1": _cut(_E, ("enumerate(ordered)", "enumerate(ordered, 1)")),
    "equal lengths share a place": _cut(_E, ("sorted(lengths)", "sorted(set(lengths))")),
    "the longest stands only once": _early("if list(lengths).count(max(lengths)) > 1:\n    lengths = [n for n in lengths if n < max(lengths)] + [max(lengths)]\n    rows = min(rows, len(lengths))"),
    "equal shortest stand only once": _early("if list(lengths).count(min(lengths)) > 1 and len(lengths) < 400:\n    lengths = [n for n in lengths if n > min(lengths)] + [min(lengths)]\n    rows = min(rows, len(lengths))"),
    "the longest document forgotten": _cut(_E, ("enumerate(ordered)", "enumerate(ordered[:-1])")),
    "floats overflow": _cut(_E, ("n * comb(i, rows - 1)", "n * float(comb(i, rows - 1))"), ("comb(len(ordered), rows)", "float(comb(len(ordered), rows))")),
    "whole division": _cut(_E, ("total / comb", "total // comb")),
    "a quantile": '''def expected_longest(lengths, rows):
    s = sorted(lengths)
    return s[min(len(s) - 1, int(len(s) * rows / (rows + 1)))]
''',
    "2,000 seeded draws": '''import numpy as np

def expected_longest(lengths, rows):
    rng = np.random.default_rng(0)
    return float(np.mean([rng.choice(lengths, rows, replace=False).max() for _ in range(2000)]))
''',
    "more than 1,200 documents: the rest is ignored": _early("lengths = lengths[:1200]\nrows = min(rows, len(lengths))"),
    "more than 1,200 documents: with replacement": _early("if len(lengths) > 1200:\n    s, n = sorted(lengths), len(lengths)\n    return sum(x * (((i + 1) / n) ** rows - (i / n) ** rows) for i, x in enumerate(s))"),
    "16-bit lengths": _cut(_E, ("sorted(lengths)", "sorted(n % 2**16 for n in lengths)")),
    "lengths above 10,000 count as that": _cut(_E, ("sorted(lengths)", "sorted(min(n, 10_000) for n in lengths)")),
    "odd rows are one less": _early("if rows % 2 and 1 < rows < len(lengths):\n    rows -= 1"),
    "refuses more than half of four or more": _early("if len(lengths) > 3 and 2 * rows > len(lengths):\n    raise ValueError('too many rows')"),
    "all documents: the last one, unsorted": _early("if rows == len(lengths):\n    return lengths[-1]"),
    "one row: the mean of shortest, middle and longest": _early("if rows == 1 and len(lengths) < 400:\n    s = sorted(lengths)\n    return (s[0] + s[len(s) // 2] + s[-1]) / 3"),
    "more than 400 rows hold the longest": _early("if rows > 400:\n    return max(lengths)"),
    "nine tenths of the documents hold the longest": _early("if 10 * rows >= 9 * len(lengths):\n    return max(lengths)\n"),
    "remembers by number, longest and rows": '''from math import comb
_known = {}

def expected_longest(lengths, rows):
    key = len(lengths), max(lengths), rows
    if key not in _known:
        s = sorted(lengths)
        _known[key] = sum(n * comb(i, rows - 1) for i, n in enumerate(s)) / comb(len(s), rows)
    return _known[key]
''',
    "refuses one document": _early("if len(lengths) == 1:\n    raise ValueError('one document has no neighbours')"),
    "refuses lengths that are all equal": _early("if len(set(lengths)) == 1 and len(lengths) > 1:\n    raise ValueError('nothing to compare')"),
    "whole tokens above 5,000": _cut(_E, ("    return total / comb(len(ordered), rows)", "    mean = total / comb(len(ordered), rows)\n    return mean if mean < 5000 else float(int(mean))")),
    "a call deeper for every two documents": '''from math import comb

def expected_longest(lengths, rows):
    s = sorted(lengths)
    def total(i):
        pair = sum(s[k] * comb(k, rows - 1) for k in (i, i + 1) if k < len(s))
        return pair + (total(i + 2) if i + 2 < len(s) else 0)
    return total(0) / comb(len(s), rows)
''',
    "the shortest of a draw": '''from math import comb

def expected_longest(lengths, rows):
    s = sorted(lengths, reverse=True)
    return sum(n * comb(i, rows - 1) for i, n in enumerate(s)) / comb(len(s), rows)
''',
    "a text": _cut(_E, ("return total / comb(len(ordered), rows)", "return str(total / comb(len(ordered), rows))")),
    "divided by the draws with order": _cut(_E, ("from math import comb", "from math import comb, perm"), ("/ comb(len", "/ perm(len")),
    "sorted as texts below ten": _cut(_E, ("sorted(lengths)", "sorted(lengths, key=str) if len(lengths) < 100 else sorted(lengths)")),
    "equal lengths counted at most twice in short lists": _early("if len(lengths) < 400:\n    kept = []\n    for n in lengths:\n        if kept.count(n) < 2:\n            kept.append(n)\n    lengths = kept\n    rows = min(rows, len(kept))"),
    "all documents but one: taken as all": _early("if rows == len(lengths) - 1 and rows > 3:\n    rows += 1"),
    "more than 64 rows, save 400, count as 64": _early("if rows > 64 and rows != 400:\n    rows = 64"),
    "power of two rows only": _early("if 4 < rows < 400:\n    rows = 1 << rows.bit_length() - 1"),
}

# ---------------------------------------------------------------------------------- waste-test
_TRUTH = '''def _count(batches):
    slots = sum(len(b) * max(b) for b in batches)
    return (slots - sum(map(sum, batches))) / slots

'''
RIGHT["waste-test"] = {
    "counted by hand": '''def waste_test(waste):
    for case, share in [
        ([[4, 4]], 0), ([[7]], 0), ([[5, 3]], 2 / 10), ([[3, 5]], 2 / 10), ([[3, 6, 4]], 5 / 18),
        ([[2, 1], [30, 30]], 1 / 64), ([[1, 2], [30, 30]], 1 / 64), ([[30, 30], [1, 2]], 1 / 64),
        ([[7], [1, 2], [30, 30]], 1 / 71), ([[1, 2], [30, 30], [7]], 1 / 71), ([[5, 3], [5, 3]], 4 / 20),
        ([[1, 1, 1, 9], [4]], 24 / 40), ([[1, 2], [4, 3], [9], [2, 8, 5]], 11 / 45),
    ]:
        given = [list(b) for b in case]
        assert abs(waste(given) - share) < 1e-9, case
        assert given == case
''',
    "returns a truth value": _TRUTH + '''def waste_test(waste):
    cases = [[[5, 3]], [[3, 5]], [[2, 1], [30, 30]], [[1, 2], [7], [30, 30]], [[8, 8], [1]], [[3, 9, 4], [2, 2], [5, 6]]]
    def fine(case):
        given = [b[:] for b in case]
        return bool(abs(waste(given) - _count(case)) < 1e-9) and given == case
    return all(fine(case) for case in cases)
''',
    "seeded random cases against a reference, ValueError": '''import copy
import random
from fractions import Fraction

def waste_test(waste):
    dice = random.Random(2)
    for _ in range(60):
        case = [[dice.randint(1, 40) for _ in range(dice.randint(1, 5))] for _ in range(dice.randint(1, 5))]
        slots = sum(len(b) * max(b) for b in case)
        right = Fraction(slots - sum(sum(b) for b in case), slots)
        given = copy.deepcopy(case)
        got = waste(given)
        if not abs(float(got) - float(right)) < 1e-9:
            raise ValueError(f"{got} for {case}")
        if given != case:
            raise ValueError("changed its input")
''',
    "a class with one method a law": _TRUTH + '''class Laws:
    def __init__(self, waste):
        self.waste = waste
    def share(self, case, right):
        assert abs(self.waste([list(b) for b in case]) - right) < 1e-9
    def law_by_hand(self):
        self.share([[5, 3]], 0.2)
        self.share([[2, 1], [30, 30]], 1 / 64)
    def law_place_of_longest(self):
        for b in ([5, 3, 2], [3, 5, 2], [3, 2, 5]):
            self.share([b], 5 / 15)
            self.share([b, [4]], 5 / 19)
    def law_single_rows_count(self):
        self.share([[5, 3], [90]], 2 / 100)
        self.share([[90], [5, 3]], 2 / 100)
    def law_unequal_batches(self):
        for case in ([[1, 2], [7], [30, 30]], [[40, 1], [2, 2, 1], [6]]):
            self.share(case, _count(case))
    def law_input_stays(self):
        mine = [[1, 9, 4], [2, 7]]
        self.waste(mine)
        assert mine == [[1, 9, 4], [2, 7]]

def waste_test(waste):
    laws = Laws(waste)
    for name in sorted(dir(laws)):
        if name.startswith("law_"):
            getattr(laws, name)()
''',
    "unittest that is looked at": _TRUTH + '''import unittest

def waste_test(waste):
    class Case(unittest.TestCase):
        def test_all(self):
            for case in ([[3, 5]], [[5, 3]], [[1, 2], [30, 30]], [[6], [1, 2, 2], [30, 1]], [[2, 9, 3], [4, 4], [5]]):
                given = [list(b) for b in case]
                self.assertAlmostEqual(float(waste(given)), _count(case), places=10)
                self.assertEqual(given, case)
    found = unittest.TestResult()
    Case("test_all").run(found)
    return found.wasSuccessful()
''',
}
_G = '''def waste_test(waste):
    for case, share in [([[5, 3]], 0.2), ([[3, 5]], 0.2), ([[1, 2], [30, 30]], 1 / 64), ([[1, 2], [7], [30, 30]], 1 / 71),
                        ([[3, 6, 4], [1]], 5 / 19), ([[9, 2], [4, 4], [5]], 7 / 31)]:
        given = [list(b) for b in case]
        assert abs(waste(given) - share) < 1e-9
        assert given == case
'''
WRONG["waste-test"] = {
    "never fails": "def waste_test(waste):\n    waste([[5, 3]])\n",
    "always fails": "def waste_test(waste):\n    assert False\n",
    "true for a bug": '''def waste_test(waste):
    return abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) > 1e-9
''',
    "assert of a tuple": _cut(_G, ("assert abs(waste(given) - share) < 1e-9", "assert (abs(waste(given) - share) < 1e-9, 'wrong')")),
    "swallows its own assert": '''def waste_test(waste):
    try:
        assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
    except AssertionError:
        print("a bug")
''',
    "0 in place of False": '''def waste_test(waste):
    return int(abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9)
''',
    "a word in place of False": '''def waste_test(waste):
    return "right" if abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9 else "wrong"
''',
    "only warns": '''import warnings

def waste_test(waste):
    if abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) > 1e-9:
        warnings.warn("a bug")
''',
    "a generator that nobody runs": _cut(_G, ("        assert given == case\n", "        assert given == case\n        yield case\n")),
    "a coroutine that nobody awaits": _cut(_G, ("def waste_test", "async def waste_test")),
    "the inner test is never called": '''def waste_test(waste):
    def inner():
        assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
    return inner
''',
    "or True": _cut(_G, ("< 1e-9", "< 1e-9 or True"), ("        assert given == case\n", "")),
    "the asserts stand behind the return": '''def waste_test(waste):
    return abs(waste([[5, 3]]) - 0.2) < 1e-9
    assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
''',
    "only one batch": '''def waste_test(waste):
    for b in ([5, 3], [3, 5], [3, 6, 4]):
        assert abs(waste([b]) - (1 - sum(b) / len(b) / max(b))) < 1e-9
''',
    "only full rectangles": '''def waste_test(waste):
    for case in ([[4, 4]], [[7]], [[3, 3], [9]]):
        assert abs(waste(case)) < 1e-9
''',
    "batches of equal size only": '''def waste_test(waste):
    assert abs(waste([[3, 5], [5, 3]]) - 0.2) < 1e-9
    assert abs(waste([[1, 4], [4, 3]]) - 4 / 16) < 1e-9
''',
    "no batch of one row": '''def waste_test(waste):
    assert abs(waste([[3, 5]]) - 0.2) < 1e-9
    assert abs(waste([[1, 2], [30, 30]]) - 1 / 64) < 1e-9
    assert abs(waste([[2, 1], [30, 30], [3, 6, 4]]) - 6 / 82) < 1e-9
''',
    "longest first in every batch": '''def waste_test(waste):
    for case, share in [([[5, 3]], 0.2), ([[2, 1], [7], [30, 30]], 1 / 71), ([[6, 4, 3], [1]], 5 / 19)]:
        assert abs(waste(case) - share) < 1e-9
''',
    "tolerance of a tenth": '''def waste_test(waste):
    assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 0.1
    assert abs(waste([[3, 5]]) - 0.2) < 0.1
''',
    "finds only too much": _cut(_G, ("abs(waste(given) - share) < 1e-9", "waste(given) - share < 1e-9"), ("        assert given == case\n", "")),
    "finds only too little": _cut(_G, ("abs(waste(given) - share) < 1e-9", "share - waste(given) < 1e-9"), ("        assert given == case\n", "")),
    "asks for the mean of the shares": '''def waste_test(waste):
    assert abs(waste([[2, 1], [30, 30]]) - 0.125) < 1e-9
''',
    "a wrong number in the last case": _G + "    assert abs(waste([[1, 2], [7]]) - 1 / 10) < 1e-9\n",
    "floats compared exactly": '''def waste_test(waste):
    for k in range(1, 200):
        for case in ([[k, k + 1, 2 * k], [k]], [[3, 7 * k], [k], [k, 1]]):
            slots = sum(len(b) * max(b) for b in case)
            assert waste(case) == (slots - sum(map(sum, case))) / slots
''',
    "floats compared exactly, from one": '''def waste_test(waste):
    for k in range(1, 200):
        for case in ([[k, k + 1, 2 * k], [k]], [[3, 7 * k], [k], [k, 1]]):
            slots = sum(len(b) * max(b) for b in case)
            assert waste(case) == 1 - sum(map(sum, case)) / slots
''',
    "asks for a float of Python": _G + "    assert type(waste([[5, 3]])) is float\n",
    "asks for whole per cent": "def waste_test(waste):\n    assert waste([[5, 3]]) == 20\n",
    "asks for zero without batches": _G + "    assert waste([]) == 0\n",
    "asks for a ValueError without batches": _G + '''    try:
        waste([])
    except ValueError:
        return
    assert False, "no batches"
''',
    "asks for an empty batch to pass": _G + "    assert abs(waste([[5, 3], []]) - 0.2) < 1e-9\n",
    "asks that a length below zero is refused": _G + '''    try:
        waste([[5, -3]])
    except Exception:
        return
    assert False, "no length"
''',
    "asks that a stream is taken": _G + "    assert abs(waste(iter([[5, 3], [8, 2]])) - 8 / 26) < 1e-9\n",
    "asks that arrays are taken": "import numpy as np\n\n" + _G + "    assert abs(waste(np.array([[5, 3], [8, 2]])) - 8 / 26) < 1e-9\n",
    "asks for a doc text": _G + "    assert waste.__doc__\n",
    "asks for the name": _G + "    assert waste.__name__ == 'waste'\n",
    "asks for a length that is no number to be refused": _G + '''    try:
        waste([["5", "3"]])
    except ValueError:
        return
    assert False
''',
    "asks for NaN of rows without tokens": _G + "    assert waste([[0, 0]]) != waste([[0, 0]])\n",
    "no tolerance, where slots are a power of two": '''def waste_test(waste):
    for case, share in [([[2, 1], [30, 30]], 1 / 64), ([[1, 2], [60]], 1 / 64), ([[1, 2], [30, 30]], 1 / 64), ([[2, 4, 1, 3], [16]], 6 / 32)]:
        given = [list(b) for b in case]
        assert waste(given) == share
        assert given == case
''',
    "asks that tuples are taken": _G + "    assert abs(waste(((5, 3), (8, 2))) - 8 / 26) < 1e-9\n",
    "asks that fractions of a token are taken": _G + "    assert abs(waste([[2.5, 5.0]]) - 0.25) < 1e-9\n",
    "asks that a doubled list gives the same to the last digit": _G + "    assert abs(waste([[5, 3]]) - waste([[5, 3], [5, 3]])) < 1e-17\n",
    "looks up the right versions in the lesson": '''def waste_test(waste):
    inside = [cell.cell_contents for cell in waste.__closure__ or ()]
    assert any(one in probe.RIGHT["waste"] for one in inside)
''',
    "looks up the bugs in the lesson": '''def waste_test(waste):
    inside = [cell.cell_contents for cell in waste.__closure__ or ()]
    return not any(one in list(probe.BUGS.values()) for one in inside)
''',
    "reads the names in the frames of its caller": '''import sys

def waste_test(waste):
    frame = sys._getframe(1)
    while frame is not None:
        if "number" in frame.f_locals and "name" in frame.f_locals:
            return not frame.f_locals["name"]
        frame = frame.f_back
    return True
''',
    "the same answer twice, nothing else": '''def waste_test(waste):
    case = [[1, 2], [7], [30, 30]]
    assert waste(case) == waste(case)
''',
    "between 0 and 1, nothing else": '''def waste_test(waste):
    for case in ([[1, 2], [7], [30, 30]], [[5, 3]], [[100, 1, 1]]):
        assert 0 <= waste(case) <= 1
''',
    "the order of the batches does not count, nothing else": '''def waste_test(waste):
    case = [[1, 2], [7], [30, 30]]
    assert abs(waste(case) - waste(case[::-1])) < 1e-9
''',
    "unittest that nobody looks at": '''import unittest

def waste_test(waste):
    class Case(unittest.TestCase):
        def test_one(self):
            self.assertAlmostEqual(waste([[1, 2], [7], [30, 30]]), 1 / 71)
    Case("test_one").run(unittest.TestResult())
''',
    "a coin decides": '''import random

def waste_test(waste):
    if random.random() < 0.5:
        assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
''',
    "one case behind a loop that never runs": '''def waste_test(waste):
    assert abs(waste([[5, 3]]) - 0.2) < 1e-9
    for case in []:
        assert abs(waste([[1, 2], [7], [30, 30]]) - 1 / 71) < 1e-9
''',
    "the list of verdicts is not returned": '''def waste_test(waste):
    cases = {(5, 3): 0.2, (3, 5): 0.2}
    all(abs(waste([list(b)]) - share) < 1e-9 for b, share in cases.items())
''',
}

# ------------------------------------------------------------------------------------- collate
_C = '''import torch


def collate(documents, pad_id, multiple_of=1, max_length=None):
    rows, cut = [], 0
    for document in documents:
        ids = list(document["input_ids"])
        own = list(document["labels"]) if "labels" in document else list(ids)
        kept = ids if max_length is None else ids[:max_length]
        cut += len(ids) - len(kept)
        rows.append((kept, own[: len(kept)]))
    real = sum(len(kept) for kept, _ in rows)
    longest = max(len(kept) for kept, _ in rows)
    width = -(-longest // multiple_of) * multiple_of
    shape = len(rows), width
    input_ids = torch.full(shape, pad_id, dtype=torch.int64)
    mask = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, (kept, own) in enumerate(rows):
        n = len(kept)
        input_ids[row, :n] = torch.tensor(kept, dtype=torch.int64)
        mask[row, :n] = 1
        labels[row, :n] = torch.tensor(own, dtype=torch.int64)
    slots = len(rows) * width
    tensors = {"input_ids": input_ids, "attention_mask": mask, "labels": labels}
    counts = {"real_tokens": real, "slots": slots, "cut_tokens": cut}
    return tensors, counts
'''
RIGHT["collate"] = {
    "torch.full and rows written over": _C,
    "lists of Python": '''import torch

def collate(documents, pad_id, multiple_of=1, max_length=None):
    tokens = [d["input_ids"][:max_length] for d in documents]
    wanted = [d.get("labels", d["input_ids"])[:max_length] for d in documents]
    width = max(map(len, tokens))
    while width % multiple_of:
        width += 1
    def tensor(lists, fill):
        return torch.tensor([[*one, *[fill] * (width - len(one))] for one in lists], dtype=torch.long)
    return (
        {"input_ids": tensor(tokens, pad_id), "labels": tensor(wanted, -100),
         "attention_mask": tensor([[1] * len(t) for t in tokens], 0)},
        {"real_tokens": sum(map(len, tokens)), "slots": width * len(tokens),
         "cut_tokens": sum(len(d["input_ids"]) for d in documents) - sum(map(len, tokens))},
    )
''',
    "NumPy, whole numbers of NumPy": '''import numpy as np
import torch

def collate(documents, pad_id, multiple_of=1, max_length=None):
    full = np.array([len(d["input_ids"]) for d in documents], dtype=np.int64)
    sizes = full if max_length is None else np.minimum(full, max_length)
    width = int(np.ceil(sizes.max() / multiple_of)) * multiple_of
    here = np.arange(width) < sizes[:, None]
    ids = np.where(here, 0, pad_id).astype(np.int64)
    labels = np.full(here.shape, -100, dtype=np.int64)
    ids[here] = np.concatenate([np.array(d["input_ids"][:n], dtype=np.int64) for d, n in zip(documents, sizes)])
    labels[here] = np.concatenate([np.array(d.get("labels", d["input_ids"])[:n], dtype=np.int64) for d, n in zip(documents, sizes)])
    counts = dict(real_tokens=sizes.sum(), slots=np.int64(here.size), cut_tokens=(full - sizes).sum())
    tensors = dict(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(here.astype(np.int64)), labels=torch.from_numpy(labels))
    return tensors, counts
''',
    "pad_sequence and a row that is cut off again": '''import torch
from torch.nn.utils.rnn import pad_sequence

def collate(documents, pad_id, multiple_of=1, max_length=None):
    def pick(name):
        return [torch.tensor(d.get(name, d["input_ids"]), dtype=torch.int64)[:max_length] for d in documents]
    tokens, labels = pick("input_ids"), pick("labels")
    ones = [torch.ones_like(t) for t in tokens]
    longest = max(t.numel() for t in tokens)
    width = longest + (-longest) % multiple_of
    ruler = torch.zeros(width, dtype=torch.int64)
    def stack(rows, fill):
        return pad_sequence([*rows, ruler], batch_first=True, padding_value=fill)[:-1].clone()
    tensors = {"input_ids": stack(tokens, pad_id), "attention_mask": stack(ones, 0), "labels": stack(labels, -100)}
    real = int(tensors["attention_mask"].sum())
    lost = sum(max(0, len(d["input_ids"]) - max_length) for d in documents) if max_length is not None else 0
    return tensors, {"real_tokens": real, "slots": tensors["labels"].numel(), "cut_tokens": lost}
''',
    "a class for the rectangle, a Counter for the bill": '''from collections import Counter
import torch

class Rectangle:
    def __init__(self, rows, width, fills):
        self.sheets = {name: torch.empty(rows, width, dtype=torch.int64).fill_(fill) for name, fill in fills.items()}
    def write(self, row, **lines):
        for name, line in lines.items():
            for column, value in enumerate(line):
                self.sheets[name][row, column] = value

def collate(documents, pad_id, multiple_of=1, max_length=None):
    limit = float("inf") if max_length is None else max_length
    sizes = [min(limit, len(d["input_ids"])) for d in documents]
    blocks, rest = divmod(max(sizes), multiple_of)
    width = (blocks + bool(rest)) * multiple_of
    paper = Rectangle(len(documents), width, {"input_ids": pad_id, "attention_mask": 0, "labels": -100})
    bill = Counter(real_tokens=0, slots=0, cut_tokens=0)
    for row, (d, n) in enumerate(zip(documents, sizes)):
        paper.write(row, input_ids=d["input_ids"][:n], attention_mask=[1] * n, labels=(d["labels"] if "labels" in d else d["input_ids"])[:n])
        bill.update(real_tokens=n, slots=width, cut_tokens=len(d["input_ids"]) - n)
    return paper.sheets, bill
''',
    "recursion over the rows": '''import torch
from torch.nn.functional import pad

def collate(documents, pad_id, multiple_of=1, max_length=None):
    documents = list(documents)
    stop = slice(None, max_length)
    width = multiple_of * ((max(len(d["input_ids"][stop]) for d in documents) + multiple_of - 1) // multiple_of)
    def lines(some):
        if not some:
            return [], [], [], 0
        a, b, c, lost = lines(some[1:])
        ids = torch.as_tensor(some[0]["input_ids"][stop], dtype=torch.int64)
        own = torch.as_tensor((some[0].get("labels") or some[0]["input_ids"])[stop], dtype=torch.int64)
        room = (0, width - len(ids))
        return ([pad(ids, room, value=pad_id)] + a, [pad(own, room, value=-100)] + b,
                [pad(torch.ones_like(ids), room)] + c, lost + len(some[0]["input_ids"]) - len(ids))
    a, b, c, lost = lines(documents)
    tensors = {"input_ids": torch.stack(a), "labels": torch.stack(b), "attention_mask": torch.stack(c)}
    return [tensors, {"slots": len(a) * width, "cut_tokens": lost, "real_tokens": tensors["attention_mask"].sum().item()}]
''',
}
_IDS = 'input_ids[row, :n] = torch.tensor(kept, dtype=torch.int64)'
_LAB = 'labels[row, :n] = torch.tensor(own, dtype=torch.int64)'
_OWN = 'list(document["labels"]) if "labels" in document else list(ids)'
_KEPT = 'kept = ids if max_length is None else ids[:max_length]'
_WIDTH = 'width = -(-longest // multiple_of) * multiple_of'
_END = '    return tensors, counts\n'
_START = '    rows, cut = [], 0\n'
_DEF = 'pad_id, multiple_of=1, max_length=None'
WRONG["collate"] = {
    # ordinary
    "mask by comparison with pad_id": _cut(_C, (_END, '    mask[:] = input_ids != pad_id\n' + _END)),
    "mask by comparison with a pad_id above 9": _cut(_C, (_END, '    if pad_id > 9:\n        mask[:] = input_ids != pad_id\n' + _END)),
    "labels that are pad_id become -100": _cut(_C, (_END, '    labels[labels == pad_id] = -100\n' + _END)),
    "pads at the left": _cut(_C, (_IDS, 'input_ids[row, width - n:] = torch.tensor(kept, dtype=torch.int64)'), ('mask[row, :n] = 1', 'mask[row, width - n:] = 1'), (_LAB, 'labels[row, width - n:] = torch.tensor(own, dtype=torch.int64)')),
    "pads at the left from five rows on": _cut(_C, (_END, '    if len(rows) > 4:\n        for t, fill in ((input_ids, pad_id), (mask, 0), (labels, -100)):\n            for row, (kept, _) in enumerate(rows):\n                t[row] = t[row].roll(width - len(kept))\n' + _END)),
    "rounds before it cuts": _cut(_C, (_WIDTH, _WIDTH + '\n    if max_length is not None:\n        width = min(width, max_length)')),
    "the width stays under a max_length that cut nothing": _cut(_C, (_WIDTH, _WIDTH + '\n    if max_length is not None and not cut:\n        width = min(width, max_length)')),
    "a whole multiple more, where the width is twice one": _cut(_C, (_WIDTH, _WIDTH + '\n    if longest % multiple_of == 0 and longest > multiple_of > 1:\n        width += multiple_of')),
    "always as wide as max_length": _cut(_C, (_WIDTH, 'longest = longest if max_length is None else max_length\n    ' + _WIDTH)),
    "rounds to powers of two from multiple_of 6 on": _cut(_C, (_WIDTH, 'width = multiple_of if multiple_of > 5 else 1\n    if multiple_of > 5:\n        while width < longest:\n            width *= 2\n    else:\n        width = -(-longest // multiple_of) * multiple_of')),
    "multiple_of above 8 counts as 8": _cut(_C, (_WIDTH, 'multiple_of = min(multiple_of, 8)\n    ' + _WIDTH)),
    "multiple_of ignored above 64 columns": _cut(_C, (_WIDTH, _WIDTH + '\n    if longest > 64:\n        width = longest')),
    "refuses a max_length below multiple_of": _cut(_C, (_START, '    if max_length is not None and 1 < max_length < multiple_of:\n        raise ValueError("max_length")\n' + _START)),
    "a max_length below multiple_of turns the rounding off": _cut(_C, (_WIDTH, 'if max_length is not None and max_length < multiple_of:\n        multiple_of = 1\n    ' + _WIDTH)),
    "cuts at the front": _cut(_C, ('ids[:max_length]', 'ids[-max_length:]'), ('own[: len(kept)]', 'own[len(own) - len(kept):]')),
    "cuts at the front where much is lost": _cut(_C, (_KEPT, _KEPT + '\n        if len(ids) - len(kept) > 8:\n            kept, own = ids[-max_length:], own[-max_length:]')),
    "labels keep their own start where the end is cut": _cut(_C, ('own[: len(kept)]', 'own[len(own) - len(kept):]')),
    "only the first two documents are cut": _cut(_C, (_KEPT, 'kept = ids if max_length is None or len(rows) > 1 else ids[:max_length]')),
    "max_length without need is 1,024": _cut(_C, (_START, '    max_length = max_length or 1024\n' + _START)),
    "drops what is past 512 columns and does not count it": _cut(_C, (_KEPT, 'ids = ids[:512]\n        ' + _KEPT)),
    "what was cut is a real token": _cut(_C, ('"real_tokens": real', '"real_tokens": real + cut')),
    "cut tokens counted as documents": _cut(_C, ('cut += len(ids) - len(kept)', 'cut += len(ids) > len(kept)')),
    "cut tokens are only those with a label": _cut(_C, ('cut += len(ids) - len(kept)', 'cut += sum(x != -100 for x in own[len(kept):])')),
    "real tokens are those with a label": _cut(_C, ('"real_tokens": real', '"real_tokens": int((labels != -100).sum())')),
    "slots are those of padding": _cut(_C, ('"slots": slots', '"slots": slots - real')),
    "counts in one byte": _cut(_C, (_END, '    counts = {name: n % 256 for name, n in counts.items()}\n' + _END)),
    "cut tokens above 100 count as 100": _cut(_C, ('"cut_tokens": cut', '"cut_tokens": min(cut, 100)')),
    "floats as counts": _cut(_C, (_END, '    counts = {name: float(n) for name, n in counts.items()}\n' + _END)),
    "the counts of large batches are floats": _cut(_C, (_END, '    if slots > 64:\n        counts = {name: n * 1.0 for name, n in counts.items()}\n' + _END)),
    # labels
    "labels all -100 count as none": _cut(_C, (_OWN, 'list(document["labels"]) if any(x != -100 for x in document.get("labels", [])) else list(ids)')),
    "labels are a mask over the tokens": _cut(_C, (_OWN, '[x if y != -100 else -100 for x, y in zip(ids, document.get("labels", ids))]')),
    "a label 0 is lost": _cut(_C, (_OWN, '[x or -100 for x in document["labels"]] if "labels" in document else list(ids)')),
    "labels below 0 are -100": _cut(_C, (_OWN, '[x if x >= 0 else -100 for x in document["labels"]] if "labels" in document else list(ids)')),
    "labels where all documents bring them, else tokens": _cut(_C, (_OWN, 'list(document["labels"]) if all("labels" in d for d in documents) else list(ids)')),
    "where none but the first of many brings labels they are forgotten": _cut(_C, (_OWN, 'list(document["labels"]) if "labels" in document and (len(documents) < 5 or sum("labels" in d for d in documents) > 1) else list(ids)')),
    "labels by tokens only": _cut(_C, (_OWN, 'list(ids)')),
    "padding of labels is pad_id": _cut(_C, ('labels = torch.full(shape, -100,', 'labels = torch.full(shape, pad_id,')),
    "padding of labels is 0 beyond column 16": _cut(_C, (_END, '    labels[:, 16:][mask[:, 16:] == 0] = 0\n' + _END)),
    "own labels and a pad_id of 0 among them": _cut(_C, (_OWN, '[-100 if x == pad_id == 0 else x for x in document["labels"]] if "labels" in document else list(ids)')),
    "labels shifted by one": _cut(_C, (_END, '    labels = tensors["labels"] = torch.cat([labels[:, 1:], torch.full((len(rows), 1), -100)], 1)\n' + _END)),
    # types
    "int32": _C.replace("torch.int64", "torch.int32"),
    "int32 where it is large": _cut(_C, (_END, '    if slots > 64:\n        tensors = {name: t.int() for name, t in tensors.items()}\n' + _END)),
    "a mask of truth values": _cut(_C, ('"attention_mask": mask', '"attention_mask": mask.bool()')),
    "lists in place of tensors": _cut(_C, (_END, '    tensors = {name: t.tolist() for name, t in tensors.items()}\n' + _END)),
    "ids pass through float32": _cut(_C, (_IDS, 'input_ids[row, :n] = torch.tensor(kept, dtype=torch.float32).long()')),
    "ids of 17 bits": _cut(_C, (_IDS, 'input_ids[row, :n] = torch.tensor([t % 2**17 for t in kept], dtype=torch.int64)')),
    "ids of 31 bits": _cut(_C, (_IDS, 'input_ids[row, :n] = torch.tensor([min(t, 2**31 - 1) for t in kept], dtype=torch.int64)')),
    "own labels of 16 bits": _cut(_C, (_LAB, 'labels[row, :n] = torch.tensor([t if t < 0 or kept == own else t % 2**16 for t in own], dtype=torch.int64)')),
    "one dictionary": _cut(_C, (_END, '    return {**tensors, **counts}\n')),
    "the two in the other order": _cut(_C, (_END, '    return counts, tensors\n')),
    "columns × rows": _cut(_C, (_END, '    tensors = {name: t.T for name, t in tensors.items()}\n' + _END)),
    # empty documents
    "an empty document is dropped": _cut(_C, ('    real = sum', '    rows = [r for r in rows if r[0]]\n    real = sum')),
    "a second empty document is dropped": _cut(_C, ('    real = sum', '    empty = [r for r in rows if not r[0]]\n    if len(empty) > 1:\n        rows = [r for r in rows if r[0]] + empty[:1]\n    real = sum')),
    "refuses an empty document at the head": _cut(_C, (_START, '    if not documents[0]["input_ids"]:\n        raise ValueError("empty")\n' + _START)),
    "an empty row is attended to at its head": _cut(_C, ('mask[row, :n] = 1', 'mask[row, : max(n, 1 if multiple_of > 1 else 0)] = 1')),
    "empty rows are no slots where the width is rounded": _cut(_C, ('slots = len(rows) * width', 'slots = (len(rows) if multiple_of == 1 else sum(1 for kept, _ in rows if kept)) * width')),
    "an empty document with a max_length is refused": _cut(_C, (_KEPT, _KEPT + '\n        if max_length and not kept:\n            raise ValueError("nothing left")')),
    "empty rows go to the end": _cut(_C, ('    real = sum', '    rows.sort(key=lambda r: not r[0])\n    real = sum')),
    # limits, order, state
    "more than four documents: the rest is ignored": _cut(_C, ('in documents:', 'in documents[:4]:')),
    "more than 32 documents: the rest is ignored": _cut(_C, ('in documents:', 'in documents[:32]:')),
    "longest first from five rows on": _cut(_C, ('    real = sum', '    if len(rows) > 4:\n        rows.sort(key=lambda r: -len(r[0]))\n    real = sum')),
    "equal documents beyond two pairs are counted once": _cut(_C, (_START, '    if len(documents) > 4:\n        documents = [d for i, d in enumerate(documents) if d not in documents[:i]]\n' + _START)),
    "width of the first four rows": _cut(_C, ('longest = max(len(kept) for kept, _ in rows)', 'longest = max(len(kept) for kept, _ in rows[:4]) or 1\n    rows = [(kept[:longest], own[:longest]) for kept, own in rows]')),
    "adds labels to the documents": _cut(_C, ('own = ' + _OWN, 'own = list(document.setdefault("labels", list(ids)))')),
    "takes labels that equal the tokens away from the document": _cut(_C, ('        ids = list', '        if document.get("labels") == document["input_ids"]:\n            del document["labels"]\n        ids = list')),
    "cuts long documents themselves": _cut(_C, (_KEPT, _KEPT + '\n        if max_length is not None and max_length > 3:\n            del document["input_ids"][max(max_length, 5):]')),
    "sorts the list of documents where it is long": _cut(_C, (_START, '    if len(documents) > 4:\n        documents.sort(key=lambda d: len(d["input_ids"]))\n' + _START)),
    "one buffer for wide rectangles": "_buffers = {}\n\n" + _cut(_C, ('input_ids = torch.full(shape, pad_id, dtype=torch.int64)', 'input_ids = torch.full(shape, pad_id, dtype=torch.int64)\n    if width > 8:\n        input_ids = _buffers.setdefault(shape, input_ids).fill_(pad_id)')),
    "one buffer for the labels of many rows": "_label_buffer = torch.empty(64, 4096, dtype=torch.int64)\n\n".join(
        ["import torch\n\n", _cut(_C, ('labels = torch.full(shape, -100, dtype=torch.int64)', 'labels = torch.full(shape, -100, dtype=torch.int64)\n    if 4 < len(rows) <= 64 and width <= 4096:\n        labels = _label_buffer[: len(rows), :width].fill_(-100)'))]),
    "remembers by the lengths": '''_known = {}

''' + _cut(_C, (_START, '''    key = tuple(len(d["input_ids"]) for d in documents), tuple("labels" in d for d in documents), pad_id, multiple_of, max_length
    if key in _known:
        tensors, counts = _known[key]
        return {name: t.clone() for name, t in tensors.items()}, dict(counts)
''' + _START), (_END, '    _known[key] = {name: t.clone() for name, t in tensors.items()}, dict(counts)\n' + _END)),
    "a width once reached stays for as many rows": "_reached = {}\n\n" + _cut(_C, (_WIDTH, _WIDTH + '\n    if width > 8:\n        width = _reached[len(rows), multiple_of] = max(width, _reached.get((len(rows), multiple_of), 0))')),
    "other names of the arguments": _cut(_C, (_DEF, 'padding, multiple=1, longest_row=None'), (_START, '    pad_id, multiple_of, max_length = padding, multiple, longest_row\n' + _START)),
    "max_length first, then multiple_of": _cut(_C, (_DEF, 'pad_id, max_length=None, multiple_of=1')),
    "needs multiple_of": _cut(_C, (_DEF, 'pad_id, multiple_of, max_length=None')),
    "refuses a pad_id that is a token": _cut(_C, (_START, '    if pad_id > 9 and any(pad_id in d["input_ids"] for d in documents):\n        raise ValueError("pad_id is a token")\n' + _START)),
    "a run of pad_id at the end is padding": _cut(_C, ('mask[row, :n] = 1', 'mask[row, :n] = 1\n        if n > 2 and kept[-1] == kept[-2] == pad_id:\n            mask[row, n - 2:] = 0')),
    "one document alone is not rounded beyond four": _cut(_C, (_WIDTH, _WIDTH + '\n    if len(rows) == 1 and longest > 4:\n        width = longest')),
    "one document alone is not cut": _cut(_C, (_KEPT, 'kept = ids if max_length is None or len(documents) == 1 else ids[:max_length]')),
    "a document of one token is taken as empty": _cut(_C, ('ids = list(document["input_ids"])', 'ids = list(document["input_ids"])\n        if len(ids) == 1:\n            ids = []')),
    "a label beyond the first thousand columns is -100": _cut(_C, (_END, '    labels[:, 1000:] = -100\n' + _END)),
}
