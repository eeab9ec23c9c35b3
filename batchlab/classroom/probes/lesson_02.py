"""What lesson 02 needs beside its page: versions of its functions, and a setting to find.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    version   one way to write a function of the lesson: RIGHT, or WRONG under its thought
    held      documents that a loader keeps ready to be sorted: rows x window
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import comb
from typing import Any

import numpy as np

from batchlab import lengths, padding, units, widgets
from batchlab.classroom.probes import collators
from batchlab.classroom.probes.attempt import mistakes_of, shown
from batchlab.classroom.probes.collators import DOCUMENTS

__all__ = [
    "BUGS",
    "DOCUMENTS",
    "MOST_HELD",
    "MOST_WASTE",
    "RIGHT",
    "WRONG",
    "best_setting",
    "finder",
    "mistakes",
    "parts",
    "shown",
    "wastes",
    "wrong_settings",
]

ROWS = (2, 3, 5, 8, 12, 18, 27, 40)
WINDOWS = (1, 2, 3, 5, 8, 13, 21, 34, 55)
MOST_WASTE, MOST_HELD = 0.25, 400
Batches = Sequence[Sequence[int]]


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions give for a case, by their thoughts."""
    return dict(mistakes_of(WRONG[name], *case))


def parts(part: str, *case: Any) -> list[tuple[Any, str]]:
    """One tensor or count of each collator that gets it wrong, with its thought."""
    right = _part(part, collators.collate(*case))
    found = [(_part(part, one), why) for one, why in mistakes_of(WRONG["collate"], *case)]
    return [(value, why) for value, why in found if not np.array_equal(value, right)]


def _part(part: str, collated: collators.Collated) -> Any:
    tensors, counts = collated
    return counts[part] if part in counts else tensors[part].numpy()


@cache
def wastes() -> dict[tuple[int, int], float]:
    """The waste of the embedded documents at every (rows, window) that the widget offers."""
    tokens = lengths.embedded()
    found = {}
    for rows in ROWS:
        for window in WINDOWS:
            rng = np.random.default_rng(0)
            batches = padding.in_windows(tokens, rows, window=window, rng=rng)
            found[rows, window] = padding.measure(tokens, batches).waste
    return found


def best_setting() -> tuple[int, int]:
    """The most rows, then the smallest window, that keep both limits."""
    fits = [pair for pair in wastes() if not _why_not(*pair)]
    return max(fits, key=lambda pair: (pair[0], -pair[1]))


def finder() -> widgets.Explorer:
    """Rows and window against waste and the documents held; the goal is `best_setting`."""

    def scene(rows: int, window: int) -> dict[str, Any]:
        facts = {
            "waste": units.share(wastes()[rows, window]),
            "documents held": f"{rows * window:,}",
            "waste in random order": units.share(padding.expected_waste(tokens, rows)),
        }
        return {"facts": facts}

    tokens = lengths.embedded()
    controls = {
        "rows": ("rows", list(ROWS)),
        "window": ("window, in micro-batches", list(WINDOWS)),
    }
    goal = (
        f"The most rows, and then the smallest window, with at most {units.share(MOST_WASTE)} "
        f"waste and at most {MOST_HELD} documents held."
    )

    def found(rows: int, window: int) -> bool:
        return (rows, window) == best_setting()

    return widgets.finder("Rows, window, waste", controls, scene, goal=goal, where=found)


def wrong_settings() -> list[tuple[tuple[int, int], str]]:
    """Every other pair, with what is wrong with it."""
    best = best_setting()
    turned = [(best[::-1], "rows come first, then the window")]
    more = "it keeps both limits, but more rows do, too"
    smaller = "it keeps both limits, but a smaller window does, too"
    return turned + [
        (pair, _why_not(*pair) or (more if pair[0] < best[0] else smaller))
        for pair in wastes()
        if pair != best
    ]


def _why_not(rows: int, window: int) -> str:
    if wastes()[rows, window] > MOST_WASTE:
        return f"it wastes more than {units.share(MOST_WASTE)}"
    return f"it holds more than {MOST_HELD} documents" if rows * window > MOST_HELD else ""


def _tokens(batches: Batches) -> int:
    return sum(sum(batch) for batch in batches)


def _slots(batches: Batches) -> int:
    return sum(len(batch) * max(batch) for batch in batches)


def _waste(batches: Batches) -> float:
    return 1 - _tokens(batches) / _slots(batches)


def _waste_row_by_row(batches: Batches) -> float:
    pad = sum(max(batch) - tokens for batch in batches for tokens in batch)
    return pad / sum(max(batch) for batch in batches for _ in batch)


def _pair_waste(batches: Batches) -> float:
    return 1 - _squares(batches) / sum(len(batch) * max(batch) ** 2 for batch in batches)


def _squares(batches: Batches) -> int:
    return sum(tokens**2 for batch in batches for tokens in batch)


def _bound(real_tokens: float, slots: float, fixed: float) -> float:
    return 1 / (fixed + (1 - fixed) * real_tokens / slots)


def _expected_longest(tokens: Sequence[int], rows: int, first: int = 0) -> float:
    total = sum(n * comb(i, rows - 1) for i, n in enumerate(sorted(map(int, tokens)), first))
    return total / comb(len(tokens), rows)


def _with_replacement(tokens: Sequence[int], rows: int) -> float:
    count = len(tokens)
    chances = (((i + 1) / count) ** rows - (i / count) ** rows for i in range(count))
    return sum(n * chance for n, chance in zip(sorted(tokens), chances, strict=True))


RIGHT: dict[str, tuple[Callable[..., Any], ...]] = {
    "waste": (_waste, _waste_row_by_row),
    "bound": (_bound,),
    "pair-waste": (_pair_waste,),
    "expected-longest": (padding.expected_longest, _expected_longest),
    "collate": (collators.collate,),
}

WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "waste": {
        "the mean of the batches' own shares: a tiny batch counts like a large one": lambda bs: (
            sum(_waste([b]) for b in bs) / len(bs)
        ),
        "padding per real token: divide by the slots": lambda bs: _slots(bs) / _tokens(bs) - 1,
        "one rectangle around all the data: each batch has its own width": lambda bs: _waste(
            [[n for b in bs for n in b]]
        ),
        "the last batch is forgotten": lambda bs: _waste(bs[:-1]),
        "a batch is as wide as its longest row, not as its first": lambda bs: (
            1 - _tokens(bs) / sum(len(b) * b[0] for b in bs)
        ),
        "batches of one row are left out: they waste nothing, but their slots count": lambda bs: (
            _waste([b for b in bs if len(b) > 1] or bs)
        ),
        "the share that is real: the rest is waste": lambda bs: 1 - _waste(bs),
        "in per cent: a share lies between 0 and 1": lambda bs: 100 * _waste(bs),
        "a whole division: `//` drops what stands behind the point": lambda bs: float(
            (_slots(bs) - _tokens(bs)) // _slots(bs)
        ),
        "padding slots, not a share": lambda bs: _slots(bs) - _tokens(bs),
        "the rows of a batch are its documents, len(batch), not the number of batches": lambda bs: (
            1 - _tokens(bs) / sum(len(bs) * max(b) for b in bs)
        ),
        "rounded: give all digits, and round only what you show": lambda bs: round(_waste(bs), 2),
    },
    "bound": {
        "the fixed share is forgotten": lambda real, slots, fixed: slots / real,
        "the mean of two speed-ups: add times, then divide": lambda real, slots, fixed: (
            fixed + (1 - fixed) * slots / real
        ),
        "the shares are exchanged: `fixed` is the part that stays": lambda real, slots, fixed: (
            _bound(real, slots, 1 - fixed)
        ),
        "the time that is left: the speed-up is one over it": lambda real, slots, fixed: (
            1 / _bound(real, slots, fixed)
        ),
        "the waste in place of the real share": lambda real, slots, fixed: _bound(
            slots - real, slots, fixed
        ),
        "real tokens and slots are exchanged": lambda real, slots, fixed: _bound(
            slots, real, fixed
        ),
        "in per cent: a factor is asked": lambda real, slots, fixed: (
            100 * _bound(real, slots, fixed)
        ),
        "`fixed` is no part of the rest: only 1 - fixed shrinks": lambda real, slots, fixed: (
            1 / (fixed + real / slots)
        ),
        "times add, factors do not: write down the time that is left": lambda real, slots, fixed: (
            (1 - fixed) * slots / real
        ),
        "the numbers of the first batch: take those that are handed over": (
            lambda real, slots, fixed: 32000 / 8012
        ),
        "by how much more: the whole factor is asked": lambda real, slots, fixed: (
            _bound(real, slots, fixed) - 1
        ),
    },
    "pair-waste": {
        "slots, not pairs: square the lengths": _waste,
        "rows do not attend to each other: square each row on its own": lambda bs: (
            1 - sum(sum(b) ** 2 for b in bs) / sum((len(b) * max(b)) ** 2 for b in bs)
        ),
        "per real pair: divide by all pairs": lambda bs: 1 / (1 - _pair_waste(bs)) - 1,
        "causal pairs: here count all, width squared": lambda bs: (
            1
            - sum(n * (n + 1) for b in bs for n in b)
            / sum(len(b) * max(b) * (max(b) + 1) for b in bs)
        ),
        "the mean of the batches' own shares: add first, divide once": lambda bs: (
            sum(_pair_waste([b]) for b in bs) / len(bs)
        ),
        "one rectangle around all the data: each batch has its own width": lambda bs: _pair_waste(
            [[n for b in bs for n in b]]
        ),
        "a pair of one real and one empty slot touches padding, too": lambda bs: (
            sum((max(b) - n) ** 2 for b in bs for n in b) / sum(len(b) * max(b) ** 2 for b in bs)
        ),
        "the share of real pairs: the rest is waste": lambda bs: 1 - _pair_waste(bs),
        "the waste of slots, squared: square the lengths": lambda bs: _waste(bs) ** 2,
    },
    "expected-longest": {
        "drawn with replacement: a document cannot stand in a batch twice": _with_replacement,
        "the mean length, whatever the rows": lambda ns, rows: sum(ns) / len(ns),
        "the longest of all, not of each draw": lambda ns, rows: float(max(ns)),
        "a formula for uniform lengths, not for these": lambda ns, rows: (
            (max(ns) + 1) * rows / (rows + 1)
        ),
        "one place too late: count the places from 0, so that i stand before it": (
            lambda ns, rows: _expected_longest(ns, rows, first=1)
        ),
        "the lengths come unsorted: sort them first": lambda ns, rows: (
            sum(n * comb(i, rows - 1) for i, n in enumerate(ns)) / comb(len(ns), rows)
        ),
        "equal lengths are thrown together: each document has its own place": lambda ns, rows: (
            _expected_longest(sorted(set(ns)), rows)
        ),
        "the shortest of each draw: sort from short to long": lambda ns, rows: (
            -_expected_longest([-n for n in ns], rows)
        ),
        "the document itself is one of the draw: B - 1 come from before it": lambda ns, rows: (
            sum(n * comb(i, rows) for i, n in enumerate(sorted(ns))) / comb(len(ns), rows)
        ),
        "all draws of B - 1: divide by the draws of B": lambda ns, rows: (
            _expected_longest(ns, rows) * comb(len(ns), rows) / comb(len(ns), rows - 1)
        ),
    },
    "collate": collators.WRONG,
}

BUGS = dict(list(WRONG["waste"].items())[:6])  # what a test of waste must find
