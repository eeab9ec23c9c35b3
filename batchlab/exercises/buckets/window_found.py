"""Find the setting: the smallest window that wastes at most 8 %, for two kinds of documents."""

from functools import cache

import numpy as np

from batchlab import lengths, padding, units
from batchlab.exercises import Exercise

OFFERED = sorted({round(1.12**power) for power in range(55)})  # micro-batches, each 12 % more
GOAL = 0.08  # waste that the slider is asked to get down to


def window_found():
    """The smallest windows on the slider that waste at most 8 %: (functions, problems)."""
    return 131, 14


def waste_of(lengths, window, rows=16):
    """Waste of micro-batches sorted in windows, at a fixed shuffle."""
    made = padding.in_windows(lengths, rows, window=window, rng=np.random.default_rng([0]))
    return padding.measure(lengths, made).waste


def least(lengths):
    """The smallest window of the slider that wastes at most GOAL."""
    return next(window for window in OFFERED if waste_of(lengths, window) <= GOAL)


@cache
def best():
    return {"functions": least(lengths.embedded()), "problems": least(lengths.gsm8k())}


def fault(got):
    """What is wrong with a pair of windows; empty if right."""
    if isinstance(got, set | frozenset):
        return "a set forgets which number is whose: a pair is asked, functions first"
    try:
        found = [float(one) for one in got if not isinstance(one, str)]
    except (TypeError, ValueError):
        found = []
    right = [*best().values()]
    if found == right:
        return ""
    if len(found) != 2:
        return f"{got!r}; two numbers are asked, one for each kind of documents: a pair"
    if found == right[::-1]:
        return f"{got}: functions come first, then the problems"
    if found in ([16 * one for one in right], [16 * one for one in right[::-1]]):
        return f"{got}: these are documents, the slider counts micro-batches"
    faults = []
    for name, one, least in zip(best(), found, right):
        if one != least and one not in OFFERED:
            faults.append(f"{name}: the slider does not offer {one:g}")
        elif one != least:
            still = f"{name}: {one:g} still wastes more than {units.share(GOAL)}"
            faults.append(still if one < least else f"{name}: a smaller window is enough")
    return "; ".join(faults)


def finder(kinds):
    """Window against waste, for documents by name; the first name has the goal."""
    from batchlab import widgets

    first = next(iter(kinds))

    def scene(data, window):
        made = padding.in_windows(kinds[data], 16, window=window, rng=np.random.default_rng([0]))
        inside = [kinds[data][batch] for batch in made[:24]]
        bars = [(int(one.mean()), int(one.max() - one.mean())) for one in inside]
        facts = {
            "documents sorted together": units.count(16 * window),
            "waste": units.share(padding.measure(kinds[data], made).waste),
            "widest drawn": f"{max(map(sum, bars)):,} tokens",
        }
        return {
            "facts": facts,
            "rows": [[(0, real), (-1, rest)] for real, rest in bars],
            "alt": f"24 micro-batches, (mean length, padding): {bars}.",
            "note": "Solid: mean length of the 16 documents. Hatched: padding up to the longest.",
        }

    smallest = least(kinds[first])
    return widgets.finder(
        "Padding against order, 16 rows",
        {"data": ("documents", list(kinds)), "window": ("window, in micro-batches", OFFERED)},
        scene,
        goal=f"{first.capitalize()}: the smallest window that wastes at most {units.share(GOAL)}.",
        where=lambda data, window: (data, window) == (first, smallest),
        down=lambda bars: f"{bars} micro-batches",
        across="{:,} tokens long".format,
    )


exercise = Exercise(
    window_found,
    hints=(
        "move the window until the waste passes 8 %, then one place back: it must be above again",
        "two numbers as a pair: first the functions, then, by the other slider, the problems",
    ),
    asked=lambda: (
        "the smallest windows on the slider that waste at most 8 %, (functions, problems)"
    ),
    shown=[()],
    fault=fault,
    passed="Right: where few documents are far longer than the rest, the window must be large.",
)
for _thought, _says, _value in (
    ("one place too early", "still wastes more", "117, 14"),
    ("more order is given up than needed", "a smaller window is enough", "258, 14"),
    ("the problems are one place too early", "problems: 12 still", "131, 12"),
    ("exchanged", "functions come first", "14, 131"),
    ("documents, not micro-batches", "these are documents", "2096, 224"),
    ("not on the slider", "does not offer 128", "128, 16"),
    ("the functions only", "a pair", "131"),
):
    exercise.edit(_thought, [("131, 14", _value)], says=_says)


@exercise.style
def searched():
    """searched"""
    return [least(lengths.embedded()), least(lengths.gsm8k())]


@exercise.style
def with_numpy():
    """NumPy's own numbers"""
    return np.array([131, 14])
