"""Find the setting: the most rows, then the smallest window, within two limits."""

from functools import cache

import numpy as np

from batchlab import lengths, padding, units
from batchlab.exercises import Exercise

ROWS, WINDOWS = (2, 3, 5, 8, 12, 18, 27, 40), (1, 2, 3, 5, 8, 13, 21, 34, 55)
MOST_WASTE, MOST_HELD = 0.25, 400


@cache
def wastes():
    """The waste of the embedded documents at every (rows, window) that the sliders offer."""
    tokens = lengths.embedded()
    orders = {
        (r, w): padding.in_windows(tokens, r, window=w, rng=np.random.default_rng(0))
        for r in ROWS
        for w in WINDOWS
    }
    return {pair: padding.measure(tokens, batches).waste for pair, batches in orders.items()}


def setting():
    """The most rows, and then the smallest window, that keep both limits: (rows, window)."""
    return 12, 21


def best():
    return max(
        (pair for pair in wastes() if not broken(pair)), key=lambda pair: (pair[0], -pair[1])
    )


def broken(pair):
    if wastes()[pair] > MOST_WASTE:
        return f"it wastes more than {units.share(MOST_WASTE)}"
    return f"it holds more than {MOST_HELD} documents" if pair[0] * pair[1] > MOST_HELD else ""


def why(got):
    """What is wrong with any pair."""
    if isinstance(got, set | frozenset):
        return "a set has no order: return rows, window"
    pair = tuple(map(int, got)) if isinstance(got, tuple | list) and len(got) == 2 else ()
    if pair == best()[::-1]:
        return "rows come first, then the window"
    if pair not in wastes():
        return "asked are two numbers, rows and window, each one of its slider"
    more, smaller = (
        f"it keeps both limits, but {more} do{'' if more[0] == 'm' else 'es'}, too"
        for more in ("more rows", "a smaller window")
    )
    return broken(pair) or (more if pair[0] < best()[0] else smaller)


def scene(rows, window):
    """What the finder shows beside its sliders."""
    average = padding.expected_waste(lengths.embedded(), rows)
    return {
        "facts": {
            "waste of one order": units.share(wastes()[rows, window]),
            "documents held": f"{rows * window:,}",
            "random orders, on average": units.share(average),
        }
    }


def finder():
    from batchlab import widgets

    goal = (
        f"The most rows, and then the smallest window, with at most {units.share(MOST_WASTE)} waste and at most "
        f"{MOST_HELD} documents held."
    )
    controls = {"rows": ("rows", list(ROWS)), "window": ("window, in micro-batches", list(WINDOWS))}
    return widgets.finder(
        "Rows, window, waste",
        controls,
        scene,
        goal=goal,
        where=lambda rows, window: (rows, window) == best(),
    )


exercise = Exercise(
    setting,
    hints=("set the largest window that 400 documents allow, then raise the rows",),
    asked=lambda: "the most rows, then the smallest window, that keep both limits",
    shown=[()],
    secret=True,
    explain=why,
    passed="Right: both limits hold, and no larger number of rows keeps them.",
)
for _said, _value in {
    "it wastes more than 25.0 %": "18, 21",
    "more rows do": "8, 34",
    "more than 400 documents": "12, 34",
    "rows come first": "21, 12",
    "two numbers, rows and window": "12",
    "a set has no order": "{12, 21}",
}.items():
    exercise.edit(_said, [("12, 21", _value)])


@exercise.style
def as_a_list():
    """as a list"""
    return [12, 21]
