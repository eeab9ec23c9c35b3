"""Answers to 02_padding that look right and must be refused, and right ones written otherwise."""

WRONG = {
    "waste": {
        "the mean of the batches' own shares": (
            """
def waste(batches):
    shares = [1 - sum(b) / (max(b) * len(b)) for b in batches]
    return sum(shares) / len(shares)
""",
            "mean of the two shares",
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
            "full rectangle",
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
    },
    "setting": {
        "still too much padding": ("def setting():\n    return 32, 16", "more than 15 %"),
        "fewer rows than fit": ("def setting():\n    return 16, 64", "more rows fit too"),
        "a window larger than needed": (
            "def setting():\n    return 32, 256",
            "a smaller window fits too",
        ),
        "window before rows": ("def setting():\n    return 64, 32", "rows come first"),
    },
    "bound": {
        "the waste itself": ("def bound():\n    return 0.7496", "1 / (1 - waste)"),
        "one over the waste": ("def bound():\n    return 32000 / 23988", "use 1 - waste"),
        "per cent": ("def bound():\n    return 75", "in per cent"),
        "padding per real token": ("def bound():\n    return 23988 / 8012", "all slots"),
        "the number of rows": ("def bound():\n    return 8.0", "number of rows"),
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
    },
}

HIDDEN = {
    "pair-waste": {
        "one rectangle: the widest of all batches": (
            """
def pair_waste(batches):
    widest = max(max(b) for b in batches)
    pairs = sum(len(b) for b in batches) * widest**2
    return 1 - sum(x * x for b in batches for x in b) / pairs
""",
            "pair waste of",
        ),
    },
    "waste": {
        "skips batches of one row, which 'cannot pad'": (
            """
def waste(batches):
    batches = [b for b in batches if len(b) > 1] or batches
    return 1 - sum(map(sum, batches)) / sum(max(b) * len(b) for b in batches)
""",
            "waste of",
        ),
    },
    "expected-longest": {
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
            "ties",
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
    },
    "setting": {
        "as a list": "def setting():\n    return [32, 64]",
        "searched with the library": """
def setting():
    for rows in (32, 16, 8, 4, 2, 1):
        for window in (1, 4, 16, 64, 256):
            rng = np.random.default_rng(0)
            order = padding.in_windows(documents, rows, window=window, rng=rng)
            if padding.measure(documents, order).waste <= 0.15:
                return rows, window
""",
    },
    "bound": {"from the waste": "def bound():\n    return 1 / (1 - 0.749625)"},
    "pair-waste": {
        "numpy": """
import numpy as np


def pair_waste(batches):
    real = sum((np.asarray(b) ** 2).sum() for b in batches)
    return float(1 - real / sum(len(b) * max(b) ** 2 for b in batches))
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
    },
}
