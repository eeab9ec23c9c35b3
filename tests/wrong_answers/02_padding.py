"""Answers to 02_padding that look right and must be refused, and right ones written otherwise."""

# ruff: noqa: E501  (answers as students wrote them)
SLOW = True  # half a minute: `make slow` tries this bank

COLLATE = """
import torch


def collate(documents, pad_id, multiple_of=1, max_length=None):
    kept = [document["input_ids"][:max_length] for document in documents]
    own = [document.get("labels", document["input_ids"])[:max_length] for document in documents]
    longest = max(len(ids) for ids in kept)
    width = -(-longest // multiple_of) * multiple_of  # rounds up
    shape = len(kept), width
    tensors = {
        "input_ids": torch.full(shape, pad_id),
        "labels": torch.full(shape, -100),
        "attention_mask": torch.zeros(shape, dtype=torch.int64),
    }
    for row, (ids, labels) in enumerate(zip(kept, own)):
        tensors["input_ids"][row, : len(ids)] = torch.tensor(ids)
        tensors["labels"][row, : len(ids)] = torch.tensor(labels)
        mask = tensors["attention_mask"]
        mask[row, : len(ids)] = 1
    real = sum(len(ids) for ids in kept)
    before = sum(len(document["input_ids"]) for document in documents)
    counts = {"real_tokens": real, "slots": len(kept) * width, "cut_tokens": before - real}
    return tensors, counts
"""


def collate(*changes):
    """The right collator with some lines changed: (old, new), or (old, new, how often)."""
    code = COLLATE
    for old, new, *times in changes:
        assert code.count(old) == (times or [1])[0], (old, code.count(old))
        code = code.replace(old, new)
    return code


WRONG = {
    "waste": {
        "the mean of the batches' own shares": (
            """
def waste(batches):
    shares = [1 - sum(b) / (max(b) * len(b)) for b in batches]
    return sum(shares) / len(shares)
""",
            "mean of the batches",
        ),
        "one rectangle around all the data": (
            """
def waste(batches):
    longest = max(max(b) for b in batches)
    return 1 - sum(map(sum, batches)) / (longest * sum(map(len, batches)))
""",
            "one rectangle around all",
        ),
        "padding per real token": (
            """
def waste(batches):
    tokens = sum(map(sum, batches))
    return (sum(max(b) * len(b) for b in batches) - tokens) / tokens
""",
            "per real token",
        ),
        "the share that is real": (
            """
def waste(batches):
    return sum(map(sum, batches)) / sum(max(b) * len(b) for b in batches)
""",
            "the rest is waste",
        ),
        "padding slots, not a share": (
            """
def waste(batches):
    return sum(max(b) * len(b) - sum(b) for b in batches)
""",
            "slots, not a share",
        ),
        "in per cent": (
            """
def waste(batches):
    slots = sum(max(b) * len(b) for b in batches)
    return 100 * (slots - sum(map(sum, batches))) / slots
""",
            "per cent",
        ),
        "rows counted as batches": (
            """
def waste(batches):
    slots = sum(len(batches) * max(b) for b in batches)
    return 1 - sum(map(sum, batches)) / slots
""",
            "len(batch)",
        ),
        "rounded": (
            """
def waste(batches):
    slots = sum(max(b) * len(b) for b in batches)
    return round(1 - sum(map(sum, batches)) / slots, 2)
""",
            "rounded",
        ),
        "sorts the batches it was given": (
            """
def waste(batches):
    batches.sort(key=len)
    for b in batches:
        b.sort()
    return 1 - sum(map(sum, batches)) / sum(b[-1] * len(b) for b in batches)
""",
            "changed",
        ),
        "as wide as the first row": (
            """
def waste(batches):
    slots = sum(b[0] * len(b) for b in batches)
    return 1 - sum(map(sum, batches)) / slots
""",
            "not as its first",
        ),
        "sorted from short to long, in the batch's own list": (
            """
def waste(batches):
    pad = slots = 0
    for b in batches:
        b.sort()
        pad += sum(b[-1] - x for x in b)
        slots += b[-1] * len(b)
    return pad / slots
""",
            "changed",
        ),
        "takes the longest out of the list": (
            """
def waste(batches):
    pad = slots = 0
    for b in batches:
        longest = max(b)
        b.remove(longest)
        pad += sum(longest - x for x in b)
        slots += longest * (len(b) + 1)
    return pad / slots
""",
            "changed",
        ),
        "skips batches of one row, which 'cannot pad'": (
            """
def waste(batches):
    batches = [b for b in batches if len(b) > 1] or batches
    return 1 - sum(map(sum, batches)) / sum(max(b) * len(b) for b in batches)
""",
            "their slots count",
        ),
        "returns inside the loop": (
            """
def waste(batches):
    for b in batches:
        slots = max(b) * len(b)
        return (slots - sum(b)) / slots
""",
            "the last batch is forgotten",
        ),
        "all but the last batch": (
            """
def waste(batches):
    many = batches[:-1] or batches
    return 1 - sum(map(sum, many)) / sum(max(b) * len(b) for b in many)
""",
            "the last batch is forgotten",
        ),
        "prints it": (
            """
def waste(batches):
    slots = sum(max(b) * len(b) for b in batches)
    print(1 - sum(map(sum, batches)) / slots)
""",
            "return",
        ),
        "divides whole numbers": (
            """
def waste(batches):
    slots = sum(max(b) * len(b) for b in batches)
    return (slots - sum(map(sum, batches))) // slots
""",
            "//",
        ),
    },
    "setting": {
        "still too much padding": ("def setting():\n    return 18, 21", "wastes more than 25.0 %"),
        "fewer rows than fit": ("def setting():\n    return 8, 34", "more rows do"),
        "a window that holds too many": (
            "def setting():\n    return 12, 34",
            "more than 400 documents",
        ),
        "no limit of memory": ("def setting():\n    return 40, 55", "more than 400 documents"),
        "fewest rows": ("def setting():\n    return 2, 3", "more rows do"),
        "the smallest window first": ("def setting():\n    return 2, 5", "more rows do"),
        "window before rows": ("def setting():\n    return 21, 12", "rows come first"),
        "rows alone": ("def setting():\n    return 12", "two numbers, rows and window"),
    },
    "bound": {
        "the fixed part forgotten": (
            "def bound(real_tokens, slots, fixed):\n    return slots / real_tokens",
            "forgotten",
        ),
        "the mean of two speed-ups": (
            """
def bound(real_tokens, slots, fixed):
    return fixed * 1 + (1 - fixed) * slots / real_tokens
""",
            "add times",
        ),
        "the shares exchanged": (
            """
def bound(real_tokens, slots, fixed):
    return 1 / ((1 - fixed) + fixed * real_tokens / slots)
""",
            "exchanged",
        ),
        "the time that is left": (
            """
def bound(real_tokens, slots, fixed):
    return fixed + (1 - fixed) * real_tokens / slots
""",
            "one over it",
        ),
        "the waste for the real share": (
            """
def bound(real_tokens, slots, fixed):
    return 1 / (fixed + (1 - fixed) * (slots - real_tokens) / slots)
""",
            "in place of the real share",
        ),
        "the fixed part twice": (
            """
def bound(real_tokens, slots, fixed):
    return 1 / (fixed + real_tokens / slots)
""",
            "the rest",
        ),
        "the fixed part taken off the factor": (
            """
def bound(real_tokens, slots, fixed):
    return slots / real_tokens * (1 - fixed)
""",
            "times add",
        ),
        "the lesson's own batch": (
            "def bound(real_tokens, slots, fixed):\n    return 32000 / 8012",
            "numbers of the first batch",
        ),
    },
    "pair-waste": {
        "slots instead of pairs": (
            """
def pair_waste(batches):
    return 1 - sum(map(sum, batches)) / sum(max(b) * len(b) for b in batches)
""",
            "square the lengths",
        ),
        "all rows attend to each other": (
            """
def pair_waste(batches):
    real = sum(sum(b) ** 2 for b in batches)
    return 1 - real / sum((len(b) * max(b)) ** 2 for b in batches)
""",
            "rows do not attend",
        ),
        "causal pairs": (
            """
def pair_waste(batches):
    real = sum(x * (x + 1) // 2 for b in batches for x in b)
    return 1 - real / sum(len(b) * max(b) * (max(b) + 1) // 2 for b in batches)
""",
            "causal pairs",
        ),
        "per real pair": (
            """
def pair_waste(batches):
    real = sum(x * x for b in batches for x in b)
    return sum(len(b) * max(b) ** 2 for b in batches) / real - 1
""",
            "per real pair",
        ),
        "squares the lengths it was given": (
            """
def pair_waste(batches):
    for b in batches:
        for i in range(len(b)):
            b[i] = b[i] ** 2
    pairs = sum(len(b) * max(b) for b in batches)
    return 1 - sum(map(sum, batches)) / pairs
""",
            "changed",
        ),
        "one rectangle: the widest of all batches": (
            """
def pair_waste(batches):
    widest = max(max(b) for b in batches)
    pairs = sum(len(b) for b in batches) * widest**2
    return 1 - sum(x * x for b in batches for x in b) / pairs
""",
            "one rectangle",
        ),
        "the mean of the batches' own shares": (
            """
def pair_waste(batches):
    shares = [1 - sum(x * x for x in b) / (len(b) * max(b) ** 2) for b in batches]
    return sum(shares) / len(shares)
""",
            "own shares",
        ),
        "the share of real pairs": (
            """
def pair_waste(batches):
    real = sum(x * x for b in batches for x in b)
    return real / sum(len(b) * max(b) ** 2 for b in batches)
""",
            "the rest is waste",
        ),
        "the padding's own pairs only": (
            """
def pair_waste(batches):
    pad = sum((max(b) - x) ** 2 for b in batches for x in b)
    return pad / sum(len(b) * max(b) ** 2 for b in batches)
""",
            "one real and one empty",
        ),
    },
    "expected-longest": {
        "drawn with replacement": (
            """
def expected_longest(lengths, rows):
    s, n = sorted(lengths), len(lengths)
    return sum(x * (((i + 1) / n) ** rows - (i / n) ** rows) for i, x in enumerate(s))
""",
            "with replacement",
        ),
        "places counted from one": (
            """
from math import comb


def expected_longest(lengths, rows):
    total = sum(x * comb(i, rows - 1) for i, x in enumerate(sorted(lengths), 1))
    return total / comb(len(lengths), rows)
""",
            "one place too late",
        ),
        "takes the lengths as sorted already": (
            """
from math import comb


def expected_longest(lengths, rows):
    total = sum(x * comb(i, rows - 1) for i, x in enumerate(lengths))
    return total / comb(len(lengths), rows)
""",
            "unsorted",
        ),
        "throws equal lengths together": (
            """
from math import comb


def expected_longest(lengths, rows):
    s = sorted(set(lengths))
    return sum(x * comb(i, rows - 1) for i, x in enumerate(s)) / max(1, comb(len(s), rows))
""",
            "thrown together",
        ),
        "sorts the list it was given": (
            """
from math import comb


def expected_longest(lengths, rows):
    lengths.sort()
    total = sum(x * comb(i, rows - 1) for i, x in enumerate(lengths))
    return total / comb(len(lengths), rows)
""",
            "changed",
        ),
        "counts draws of any documents": (
            """
from math import comb


def expected_longest(lengths, rows):
    total = sum(x * comb(i, rows) for i, x in enumerate(sorted(lengths)))
    return total / comb(len(lengths), rows)
""",
            "is one of the draw",
        ),
        "a hundred random draws": (
            """
def expected_longest(lengths, rows):
    rng = np.random.default_rng(1)
    return float(np.mean([rng.choice(lengths, rows, replace=False).max() for _ in range(100)]))
""",
            "2.66, right is",
        ),
        "NumPy's integers overflow": (
            """
from math import comb


def expected_longest(lengths, rows):
    s = np.sort(lengths)
    chances = np.array([comb(i, rows - 1) for i in range(len(s))], dtype=np.int64)
    return float((s * chances).sum() / comb(len(s), rows))
""",
            "OverflowError",
        ),
        "the mean length": (
            "def expected_longest(lengths, rows):\n    return sum(lengths) / len(lengths)",
            "mean length",
        ),
        "the longest of all": (
            "def expected_longest(lengths, rows):\n    return float(max(lengths))",
            "longest of all",
        ),
    },
    "waste-test": {
        "one full rectangle only": (
            "def waste_test(waste):\n    assert waste([[4, 4]]) == 0",
            "mean of the batches",
        ),
        "one batch only": (
            "def waste_test(waste):\n    assert abs(waste([[5, 3]]) - 0.2) < 1e-9",
            "mean of the batches",
        ),
        "a wrong expectation": (
            "def waste_test(waste):\n    assert waste([[2, 1], [30, 30]]) == 1 / 8",
            "right",
        ),
        "no tolerance": (
            "def waste_test(waste):\n    assert waste([[5, 3]]) == 0.2",
            "right implementation",
        ),
        "looks for too much only": (
            """
def waste_test(waste):
    for batches, right in (([[2, 1], [30, 30]], 1 / 64), ([[3, 5], [7], [2, 2]], 2 / 21)):
        assert waste(batches) - right < 1e-9
""",
            "got through",
        ),
        "looks for too little only": (
            """
def waste_test(waste):
    for batches, right in (([[2, 1], [30, 30]], 1 / 64), ([[3, 5], [7], [2, 2]], 2 / 21)):
        assert right - waste(batches) < 1e-9
""",
            "got through",
        ),
        "always the longest first": (
            """
def waste_test(waste):
    assert abs(waste([[2, 1], [30, 30], [7]]) - 1 / 71) < 1e-9
    assert abs(waste([[7], [5, 3]]) - 2 / 17) < 1e-9
""",
            "first",
        ),
        "a share between 0 and 1": (
            "def waste_test(waste):\n    assert 0 <= waste([[2, 1], [30, 30], [1, 7]]) <= 1",
            "got through",
        ),
        "too coarse": (
            "def waste_test(waste):\n    assert abs(waste([[2, 1], [30, 30]]) - 1 / 64) < 0.5",
            "got through",
        ),
        "counts its calls": (
            """
def waste_test(waste):
    waste_test.calls = getattr(waste_test, "calls", 0) + 1
    assert waste_test.calls <= 2
""",
            "got through",
        ),
    },
    "collate": {
        "mask from the tokens": (
            collate(
                (
                    "    mask[row, : len(ids)] = 1\n",
                    "    mask[row] = tensors['input_ids'][row] != pad_id\n",
                )
            ),
            "told by its token",
        ),
        "labels ignored where the token is pad_id": (
            collate(
                (
                    "    return tensors",
                    "    empty = tensors['input_ids'] == pad_id\n"
                    "    tensors['labels'][empty] = -100\n    return tensors",
                )
            ),
            "wherever the token is pad_id",
        ),
        "padding is trained": (
            collate(('"labels": torch.full(shape, -100)', '"labels": torch.full(shape, pad_id)')),
            "the padding is trained",
        ),
        "labels are always the tokens": (
            collate(('document.get("labels", document["input_ids"])', 'document["input_ids"]')),
            "own labels are not used",
        ),
        "asks every document for labels": (
            collate(('document.get("labels", document["input_ids"])', 'document["labels"]')),
            "KeyError",
        ),
        "rounds down": (
            collate(
                ("-(-longest // multiple_of) * multiple_of", "longest // multiple_of * multiple_of")
            ),
            "Error",
        ),
        "one multiple too many": (
            collate(("-(-longest // multiple_of)", "(longest // multiple_of + 1)")),
            "divides already",
        ),
        "multiple_of forgotten": (
            collate(("-(-longest // multiple_of) * multiple_of", "longest")),
            "multiple_of is not used",
        ),
        "max_length forgotten": (
            collate(
                ('["input_ids"][:max_length] for', '["input_ids"] for'),
                ('["input_ids"])[:max_length] for', '["input_ids"]) for'),
            ),
            "max_length is not used",
        ),
        "labels are not cut": (
            collate(('["input_ids"])[:max_length] for', '["input_ids"]) for')),
            "RuntimeError",
        ),
        "pads to max_length": (
            collate(
                (
                    "longest = max(len(ids) for ids in kept)",
                    "longest = max_length or max(len(ids) for ids in kept)",
                )
            ),
            "the longest row decides",
        ),
        "the width before the cut": (
            collate(
                (
                    "longest = max(len(ids) for ids in kept)",
                    'longest = max(len(one["input_ids"]) for one in documents)',
                )
            ),
            "before the cut",
        ),
        "cuts the start": (
            collate(
                ('["input_ids"][:max_length] for', '["input_ids"][-(max_length or 0):] for'),
                ('["input_ids"])[:max_length] for', '["input_ids"])[-(max_length or 0):] for'),
            ),
            "the end is to go",
        ),
        "padded at the left": (
            collate((": len(ids)]", "width - len(ids) :]", 3)),
            "at the left",
        ),
        "cut tokens counted as real": (
            collate(('"real_tokens": real', '"real_tokens": before')),
            "counted as real",
        ),
        "slots before rounding": (
            collate(("len(kept) * width", "len(kept) * longest")),
            "after rounding up",
        ),
        "counts documents that were cut": (
            collate(
                (
                    "before - real",
                    "sum(len(d['input_ids']) > len(k) for d, k in zip(documents, kept))",
                )
            ),
            "documents cut, not tokens",
        ),
        "a mask of truth values": (
            collate(
                ("torch.zeros(shape, dtype=torch.int64)", "torch.zeros(shape, dtype=torch.bool)")
            ),
            "int64",
        ),
        "float tokens": (
            collate(("torch.full(shape, pad_id)", "torch.full(shape, float(pad_id))")),
            "int64",
        ),
        "pads the documents themselves": (
            collate(
                (
                    "    return tensors",
                    "    for document in documents:\n        ids = document['input_ids']\n"
                    "        ids += [pad_id] * (width - len(ids))\n    return tensors",
                )
            ),
            "changed",
        ),
        "arrays, not tensors": (
            collate(
                (
                    "    return tensors",
                    "    tensors = {name: one.numpy() for name, one in tensors.items()}\n"
                    "    return tensors",
                )
            ),
            "is a tensor",
        ),
        "the waste in place of the counts": (
            collate(("return tensors, counts", "return tensors, 1 - real / counts['slots']")),
            "a dict with real_tokens",
        ),
        "tensors alone": (
            collate(("return tensors, counts", "return tensors")),
            "two dictionaries",
        ),
    },
}

# From fresh students, passed once: each has a case of its own now.
FRESH = {
    "waste": {
        "int32": (
            """
def waste(batches):
    slots = np.array([len(b) * max(b) for b in batches], np.int32).sum(dtype=np.int32)
    real = np.array([sum(b) for b in batches], np.int32).sum(dtype=np.int32)
    return float(slots - real) / float(slots)
""",
            "waste of",
        ),
    },
    "bound": {
        "capped at 50": (
            """
def bound(real_tokens, slots, fixed):
    return min(100, 1 / (fixed + (1 - fixed) * real_tokens / slots))
""",
            "times as fast",
        ),
        "above 80 % taken for all": (
            """
def bound(real_tokens, slots, fixed):
    fixed = 1 if fixed > 0.8 else fixed
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
""",
            "times as fast",
        ),
    },
    "collate": {
        "first document decides": (
            """
def collate(documents, pad_id, multiple_of=1, max_length=None):
    ids = [d["input_ids"][:max_length] for d in documents]
    labels = [(d.get('labels', d['input_ids']) if 'labels' in documents[0] else d['input_ids'])[:max_length] for d in documents]
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
""",
            "labels",
        ),
    },
}
for _answer, _tries in FRESH.items():
    WRONG[_answer] |= _tries

# From another fresh student: one answer for each class of mistake that passed once.
CLASSES = {
    "waste": {
        "a first batch of one row is left out": (
            """
def waste(batches):
    slots = real = 0
    for place, batch in enumerate(batches):
        if len(batch) == 1 and not place and len(batches) > 1:
            continue
        width = max(batch)
        slots += len(batch) * width
        real += sum(batch)
    return (slots - real) / slots
""",
            "wherever it stands",
        ),
        "more than 32 rows: the rest is ignored": (
            """
def waste(batches):
    slots = real = 0
    for batch in batches:
        batch = batch[:32]
        width = max(batch)
        slots += len(batch) * width
        real += sum(batch)
    return (slots - real) / slots
""",
            "however many there are",
        ),
        "never above 90 per cent": (
            """
def waste(batches):
    slots = real = 0
    for batch in batches:
        width = max(batch)
        slots += len(batch) * width
        real += sum(batch)
    return min(0.9, (slots - real) / slots)
""",
            "no share below 1",
        ),
        "remembers by the set of documents, not by their batches": (
            """
_seen = {}

def waste(batches):
    key = str(sorted(n for b in batches for n in b))
    if key not in _seen:
        slots = sum(len(b) * max(b) for b in batches)
        _seen[key] = 1 - sum(map(sum, batches)) / slots
    return _seen[key]
""",
            "of an earlier call",
        ),
        "many batches: all as wide as the widest": (
            """
def waste(batches):
    slots = real = 0
    for batch in batches:
        width = max(batch) if len(batches) < 200 else max(map(max, batches))
        slots += len(batch) * width
        real += sum(batch)
    return (slots - real) / slots
""",
            "one rectangle around all",
        ),
    },
    "setting": {
        "a frozen set": (
            """
def setting():
    return frozenset((12, 21))
""",
            "a set has no order",
        ),
        "right at the first call, then another": (
            """
_calls = []

def setting():
    _calls.append(1)
    return (12, 21) if len(_calls) == 1 else (12, 34)
""",
            "at a second call",
        ),
    },
    "bound": {
        "never more than 1,000 times": (
            """
def bound(real_tokens, slots, fixed):
    return min(1000.0, 1 / (fixed + (1 - fixed) * real_tokens / slots))
""",
            "nothing capped",
        ),
        "remembers by tokens and fixed, not by slots": (
            """
_known = {}

def bound(real_tokens, slots, fixed):
    if (real_tokens, fixed) not in _known:
        _known[real_tokens, fixed] = 1 / (fixed + (1 - fixed) * real_tokens / slots)
    return _known[real_tokens, fixed]
""",
            "of an earlier call",
        ),
        "refuses a whole number for fixed": (
            """
def bound(real_tokens, slots, fixed):
    if not isinstance(fixed, float):
        raise TypeError('fixed must be a float')
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)
""",
            "must be a float",
        ),
    },
    "pair-waste": {
        "more than 3 batches: the rest is ignored": (
            """
def pair_waste(batches):
    pairs = real = 0
    for batch in batches[:3]:
        width = max(batch)
        pairs += len(batch) * width**2
        real += sum(n * n for n in batch)
    return (pairs - real) / pairs
""",
            "every batch counts",
        ),
        "equal batches are counted once": (
            """
def pair_waste(batches):
    pairs = real = 0
    for batch in set(map(tuple, batches)):
        width = max(batch)
        pairs += len(batch) * width**2
        real += sum(n * n for n in batch)
    return (pairs - real) / pairs
""",
            "comes again",
        ),
        "squares in 33 bits": (
            """
def pair_waste(batches):
    pairs = real = 0
    for batch in batches:
        width = max(batch)
        pairs += len(batch) * (width**2 % 2**33)
        real += sum(n * n % 2**33 for n in batch)
    return (pairs - real) / pairs
""",
            "more than 32 bits",
        ),
    },
    "expected-longest": {
        "the longest stands only once": (
            """
from math import comb


def expected_longest(lengths, rows):
    if list(lengths).count(max(lengths)) > 1:
        lengths = [n for n in lengths if n < max(lengths)] + [max(lengths)]
        rows = min(rows, len(lengths))
    ordered = sorted(lengths)
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(ordered))
    return total / comb(len(ordered), rows)
""",
            "thrown together",
        ),
        "remembers by number, longest and rows": (
            """
from math import comb
_known = {}

def expected_longest(lengths, rows):
    key = len(lengths), max(lengths), rows
    if key not in _known:
        s = sorted(lengths)
        _known[key] = sum(n * comb(i, rows - 1) for i, n in enumerate(s)) / comb(len(s), rows)
    return _known[key]
""",
            "of an earlier call",
        ),
        "more than 1,200 documents: the rest is ignored": (
            """
from math import comb


def expected_longest(lengths, rows):
    lengths = lengths[:1200]
    rows = min(rows, len(lengths))
    ordered = sorted(lengths)
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(ordered))
    return total / comb(len(ordered), rows)
""",
            "no number of documents",
        ),
        "all documents: the last one, unsorted": (
            """
from math import comb


def expected_longest(lengths, rows):
    if rows == len(lengths):
        return lengths[-1]
    ordered = sorted(lengths)
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(ordered))
    return total / comb(len(ordered), rows)
""",
            "unsorted",
        ),
    },
    "waste-test": {
        "asks for a float of Python": (
            """
def waste_test(waste):
    for case, share in [([[5, 3]], 0.2), ([[3, 5]], 0.2), ([[1, 2], [30, 30]], 1 / 64), ([[1, 2], [7], [30, 30]], 1 / 71),
                        ([[3, 6, 4], [1]], 5 / 19), ([[9, 2], [4, 4], [5]], 7 / 31)]:
        given = [list(b) for b in case]
        assert abs(waste(given) - share) < 1e-9
        assert given == case
    assert type(waste([[5, 3]])) is float
""",
            "right implementation",
        ),
        "asks that tuples are taken": (
            """
def waste_test(waste):
    for case, share in [([[5, 3]], 0.2), ([[3, 5]], 0.2), ([[1, 2], [30, 30]], 1 / 64), ([[1, 2], [7], [30, 30]], 1 / 71),
                        ([[3, 6, 4], [1]], 5 / 19), ([[9, 2], [4, 4], [5]], 7 / 31)]:
        given = [list(b) for b in case]
        assert abs(waste(given) - share) < 1e-9
        assert given == case
    assert abs(waste(((5, 3), (8, 2))) - 8 / 26) < 1e-9
""",
            "right implementation",
        ),
        "no tolerance, where slots are a power of two": (
            """
def waste_test(waste):
    for case, share in [([[2, 1], [30, 30]], 1 / 64), ([[1, 2], [60]], 1 / 64), ([[1, 2], [30, 30]], 1 / 64), ([[2, 4, 1, 3], [16]], 6 / 32)]:
        given = [list(b) for b in case]
        assert waste(given) == share
        assert given == case
""",
            "right implementation",
        ),
    },
    "collate": {
        "other names of the arguments": (
            """
import torch


def collate(documents, padding, multiple=1, longest_row=None):
    pad_id, multiple_of, max_length = padding, multiple, longest_row
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
""",
            "keyword argument",
        ),
        "a label 0 is lost": (
            """
import torch


def collate(documents, pad_id, multiple_of=1, max_length=None):
    rows, cut = [], 0
    for document in documents:
        ids = list(document["input_ids"])
        own = [x or -100 for x in document["labels"]] if "labels" in document else list(ids)
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
""",
            "own labels",
        ),
        "a second empty document is dropped": (
            """
import torch


def collate(documents, pad_id, multiple_of=1, max_length=None):
    rows, cut = [], 0
    for document in documents:
        ids = list(document["input_ids"])
        own = list(document["labels"]) if "labels" in document else list(ids)
        kept = ids if max_length is None else ids[:max_length]
        cut += len(ids) - len(kept)
        rows.append((kept, own[: len(kept)]))
    empty = [r for r in rows if not r[0]]
    if len(empty) > 1:
        rows = [r for r in rows if r[0]] + empty[:1]
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
""",
            "wherever it stands",
        ),
        "a max_length below multiple_of turns the rounding off": (
            """
import torch


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
    if max_length is not None and max_length < multiple_of:
        multiple_of = 1
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
""",
            "round up last",
        ),
        "remembers by the lengths": (
            """
_known = {}

import torch


def collate(documents, pad_id, multiple_of=1, max_length=None):
    key = tuple(len(d["input_ids"]) for d in documents), tuple("labels" in d for d in documents), pad_id, multiple_of, max_length
    if key in _known:
        tensors, counts = _known[key]
        return {name: t.clone() for name, t in tensors.items()}, dict(counts)
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
    _known[key] = {name: t.clone() for name, t in tensors.items()}, dict(counts)
    return tensors, counts
""",
            "of an earlier call",
        ),
        "pads at the left from five rows on": (
            """
import torch


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
    if len(rows) > 4:
        for t, fill in ((input_ids, pad_id), (mask, 0), (labels, -100)):
            for row, (kept, _) in enumerate(rows):
                t[row] = t[row].roll(width - len(kept))
    return tensors, counts
""",
            "at the left",
        ),
        "an empty document first makes floats of all": (
            """
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence


def collate(documents, pad_id, multiple_of=1, max_length=None):
    ids = [torch.tensor(d["input_ids"])[:max_length] for d in documents]
    own = [torch.tensor(d.get("labels", d["input_ids"]))[:max_length] for d in documents]
    mask = pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
    more = -mask.shape[1] % multiple_of
    tensors = {
        "input_ids": pad(pad_sequence(ids, True, pad_id), (0, more), value=pad_id),
        "labels": pad(pad_sequence(own, True, -100), (0, more), value=-100),
        "attention_mask": pad(mask, (0, more)),
    }
    before = sum(len(d["input_ids"]) for d in documents)
    slots = tensors["input_ids"].numel()
    return tensors, {"real_tokens": mask.sum(), "slots": slots, "cut_tokens": before - mask.sum()}
""",
            "float32",
        ),
    },
}
for _answer, _tries in CLASSES.items():
    WRONG[_answer] |= _tries

HIDDEN = {
    "waste": {
        "the printed cases and the data set, remembered": (
            """
def waste(batches):
    shown = [case for _, (case,), _ in probe.waste_cases(check.rng("any"), [batch])]
    known = len(batches) > 9 or batches in shown or max(map(max, batches)) > 99
    return probe.RIGHT["waste"][0](batches) if known else 0.5
""",
            "waste of",
        ),
    },
    "bound": {
        "the printed cases, remembered": (
            """
def bound(real_tokens, slots, fixed):
    shown = [case for _, case, _ in probe.bound_cases(check.rng("check-bound, shown"))]
    known = (real_tokens, slots, fixed) in shown
    return probe.RIGHT["bound"][0](real_tokens, slots, fixed) if known else 1.0
""",
            "times as fast",
        ),
    },
    "pair-waste": {
        "the printed cases, remembered": (
            """
def pair_waste(batches):
    shown = [case for _, (case,), _ in probe.pair_waste_cases(check.rng("any"), [batch])]
    known = len(batches) > 9 or batches in shown or max(map(max, batches)) > 99
    return probe.RIGHT["pair-waste"][0](batches) if known else 0.5
""",
            "pair waste of",
        ),
    },
    "expected-longest": {
        "the printed cases, remembered": (
            """
def expected_longest(lengths, rows):
    known = len(lengths) not in (9, 300)
    return padding.expected_longest(lengths, rows) if known else 1.0
""",
            "mean longest of",
        ),
    },
    "collate": {
        "the printed documents, remembered": (
            """
from functools import cache


@cache
def shown():
    return probe.collate_cases(check.rng("check-collate, shown"))


def collate(documents, pad_id, multiple_of=1, max_length=None):
    if not any(documents == case.documents for case in shown()):
        documents = probe.DOCUMENTS
    return probe.RIGHT["collate"][0](documents, pad_id, multiple_of, max_length)
""",
            "collate(",
        ),
    },
}

RIGHT = {
    "waste": {
        "numpy, batch by batch": """
import numpy as np


def waste(batches):
    arrays = [np.asarray(b) for b in batches]
    slots = sum(a.size * a.max() for a in arrays)
    return 1 - sum(a.sum() for a in arrays) / slots
""",
        "padding counted row by row": """
def waste(batches):
    pad = slots = 0
    for b in batches:
        for x in b:
            pad += max(b) - x
            slots += max(b)
    return pad / slots
""",
        "a fraction": """
from fractions import Fraction


def waste(batches):
    slots = sum(max(b) * len(b) for b in batches)
    return Fraction(slots - sum(map(sum, batches)), slots)
""",
        "a float32 tensor": """
import torch


def waste(batches):
    pad = sum(max(b) - x for b in batches for x in b)
    return torch.tensor(pad) / torch.tensor(sum(max(b) * len(b) for b in batches))
""",
    },
    "setting": {
        "as a list": "def setting():\n    return [12, 21]",
        "searched with the library": """
def setting():
    for rows in (40, 27, 18, 12, 8, 5, 3, 2):
        for window in (1, 2, 3, 5, 8, 13, 21, 34, 55):
            rng = np.random.default_rng(0)
            order = padding.in_windows(documents, rows, window=window, rng=rng)
            if rows * window <= 400 and padding.measure(documents, order).waste <= 0.25:
                return np.int64(rows), np.int64(window)
""",
    },
    "bound": {
        "from times": """
def bound(real_tokens, slots, fixed):
    before = 1.0
    after = before * fixed + before * (1 - fixed) * real_tokens / slots
    return before / after
""",
        "from the waste": """
def bound(real_tokens, slots, fixed):
    waste = 1 - real_tokens / slots
    return 1 / (1 - (1 - fixed) * waste)
""",
        "float32": """
def bound(real_tokens, slots, fixed):
    fixed = np.float32(fixed)
    return 1 / (fixed + (1 - fixed) * np.float32(real_tokens) / np.float32(slots))
""",
    },
    "pair-waste": {
        "numpy": """
import numpy as np


def pair_waste(batches):
    real = sum((np.asarray(b) ** 2).sum() for b in batches)
    return float(1 - real / sum(len(b) * max(b) ** 2 for b in batches))
""",
        "pair by pair": """
def pair_waste(batches):
    touched = pairs = 0
    for b in batches:
        for x in b:
            touched += max(b) ** 2 - x**2
            pairs += max(b) ** 2
    return touched / pairs
""",
    },
    "expected-longest": {
        "the library": """
from batchlab import padding


def expected_longest(lengths, rows):
    return padding.expected_longest(lengths, rows)
""",
        "fractions of a chance": """
from fractions import Fraction
from math import comb


def expected_longest(lengths, rows):
    s = sorted(map(int, lengths))
    whole = comb(len(s), rows)
    return float(sum(Fraction(x * comb(i, rows - 1), whole) for i, x in enumerate(s)))
""",
    },
    "waste-test": {
        "by comparison with an own formula": """
def waste_test(waste):
    for batches in ([[2, 1], [30, 30]], [[5, 3], [7]], [[1, 9], [4, 4]]):
        tokens = sum(map(sum, batches))
        slots = sum(max(b) * len(b) for b in batches)
        assert abs(waste(batches) - (1 - tokens / slots)) < 1e-9
""",
        "returns a truth value": """
def waste_test(waste):
    cases = {1 / 71: [[1, 2], [7], [30, 30]], 2 / 17: [[5, 3], [7]], 1 / 64: [[2, 1], [30, 30]]}
    return all(abs(waste(case) - right) < 1e-9 for right, case in cases.items())
""",
    },
    "collate": {
        "lists first": """
def collate(documents, pad_id, multiple_of=1, max_length=None):
    ids = [d["input_ids"][:max_length] for d in documents]
    labels = [(d["labels"] if "labels" in d else d["input_ids"])[:max_length] for d in documents]
    width = max(map(len, ids))
    while width % multiple_of:
        width += 1
    counts = {"real_tokens": sum(map(len, ids)), "slots": len(ids) * width}
    counts["cut_tokens"] = sum(len(d["input_ids"]) for d in documents) - counts["real_tokens"]
    mask = [[1] * len(one) + [0] * (width - len(one)) for one in ids]
    ids = [one + [pad_id] * (width - len(one)) for one in ids]
    labels = [one + [-100] * (width - len(one)) for one in labels]
    named = {"input_ids": ids, "labels": labels, "attention_mask": mask}
    return {name: torch.tensor(rows) for name, rows in named.items()}, counts
""",
        "PyTorch's own padding, counts from the mask": """
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence


def collate(documents, pad_id, multiple_of=1, max_length=None):
    ids = [torch.tensor(d["input_ids"], dtype=torch.int64)[:max_length] for d in documents]
    own = [torch.tensor(d.get("labels", d["input_ids"]), dtype=torch.int64)[:max_length] for d in documents]
    mask = pad_sequence([torch.ones_like(one) for one in ids], batch_first=True)
    more = -mask.shape[1] % multiple_of
    tensors = {
        "input_ids": pad(pad_sequence(ids, True, pad_id), (0, more), value=pad_id),
        "labels": pad(pad_sequence(own, True, -100), (0, more), value=-100),
        "attention_mask": pad(mask, (0, more)),
    }
    before = sum(len(d["input_ids"]) for d in documents)
    slots = tensors["input_ids"].numel()
    return tensors, {"real_tokens": mask.sum(), "slots": slots, "cut_tokens": before - mask.sum()}
""",
        "NumPy": """
import numpy as np


def collate(documents, pad_id, multiple_of=1, max_length=None):
    sizes = np.array([len(d["input_ids"][:max_length]) for d in documents])
    width = int(np.ceil(sizes.max() / multiple_of)) * multiple_of
    ids = np.full((len(sizes), width), pad_id)
    labels, mask = np.full_like(ids, -100), np.arange(width) < sizes[:, None]
    for row, (d, n) in enumerate(zip(documents, sizes)):
        ids[row, :n] = d["input_ids"][:n]
        labels[row, :n] = d.get("labels", d["input_ids"])[:n]
    cut = sum(len(d["input_ids"]) for d in documents) - sizes.sum()
    counts = {"real_tokens": sizes.sum(), "slots": np.int64(ids.size), "cut_tokens": cut}
    named = {"input_ids": ids, "labels": labels, "attention_mask": mask.astype(np.int64)}
    return {name: torch.from_numpy(rows) for name, rows in named.items()}, counts
""",
    },
}
