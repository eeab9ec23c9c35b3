import runpy
from pathlib import Path

PIECES = runpy.run_path(str(Path(__file__).with_name("s6_02_padding.py")))
globals().update({name: piece for name, piece in PIECES.items() if not name.startswith("__")})

ALL = RIGHT, WRONG
RIGHT = {"expected-longest": ALL[0]["expected-longest"], "collate": {"counts as 0-dim tensors (allowed?)": ALL[1]["collate"]["counts as tensors"]}}
RIGHT["expected-longest"]["mean over draws by the tail, reversed"] = """from math import comb

def expected_longest(lengths, rows):
    n = len(lengths)
    total = 0
    for place, one in enumerate(sorted(lengths, reverse=True)):
        total += comb(n - 1 - place, rows - 1) * one
    return total / comb(n, rows)
"""
WRONG = {
    "expected-longest": ALL[1]["expected-longest"],
    "setting": {
        # half the window at the right rows: padding too high
        "next smaller rows": "def setting():\n    r, w = probe.best_setting()\n    return 8, w\n",
        # the largest window of 400 documents at 8 rows
        "8 rows": "def setting():\n    return 8, 50\n",
        # 16 rows break a limit
        "16 rows": "def setting():\n    return 16, 25\n",
    },
    "collate": {
        # cut tokens of earlier calls counted again
        "cut tokens kept": "LOST = []\n" + but(C, ("    tensors =", "    LOST.append(cut)\n    cut = sum(LOST)\n    tensors =")),
        # an empty document is a row of padding
        "empty documents dropped": but(C, ("    ids =", "    documents = [d for d in documents if d['input_ids']]\n    ids =")),
        # labels of a document without labels: its tokens
        "no labels, no loss": but(C, ('d.get("labels", d["input_ids"])', 'd.get("labels", [-100] * len(d["input_ids"]))')),
        # keeps the end
        "cuts the beginning": but(C, ('d["input_ids"][:max_length]', '(d["input_ids"][-max_length:] if max_length else d["input_ids"])')),
        # labels of the whole batch are the tokens if one document has none
        "labels only if all have them": but(C, ('d.get("labels", d["input_ids"])', '(d["labels"] if all("labels" in e for e in documents) else d["input_ids"])')),
        # tokens of 8 bits
        "through int8": but(C, ("torch.tensor(r, dtype=torch.int64)", "torch.tensor(r, dtype=torch.uint8)")),
        # a limit of 2 is no limit
        "limit counted from 0": but(C, ("    ids =", "    max_length = max_length and max(max_length, 2)\n    ids =")),
        # the mask and the labels share memory with the tokens when nothing is padded
        "labels are the tokens' tensor if full": but(C, ("    tensors =", "    if torch.equal(x, y):\n        y = x\n    tensors =")),
    },
    "pair-waste": {
        # the lists sorted in place (not forbidden here in words)
        "7 decimals": but(P, ("return (pairs - real) / pairs", "return round((pairs - real) / pairs, 7)")),
        # padding counted twice
        "only pairs of one real, one empty": but(P, ("sum(n * n for n in b)", "sum(n * n + (max(b) - n) ** 2 for n in b)")),
    },
    "bound": {
        # no gain beyond the waste: fixed above a half is taken for 1
        "above 80 % taken for all": but(B, ("    return", "    fixed = 1 if fixed > 0.8 else fixed\n    return")),
    },
}
