"""What lesson 02 needs beside its page: versions of its functions, and a setting to find.

    a case of the lesson  ->  the right value, and what each known mistake makes of it

Words
    held   documents that a loader keeps ready to be sorted: rows x window
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from batchlab import lengths, padding, units, widgets
from batchlab.classroom import plain
from batchlab.classroom.probes import collators
from batchlab.classroom.probes.attempt import mistakes_of, shown
from batchlab.classroom.probes.collators import DOCUMENTS
from batchlab.classroom.probes.lesson_02_cases import (
    bound_cases,
    longest_cases,
    pair_waste_cases,
    waste_cases,
)
from batchlab.classroom.probes.lesson_02_rectangles import collate_cases, drawn_cases
from batchlab.classroom.probes.lesson_02_versions import BUGS, RIGHT, WRONG

__all__ = [
    "BUGS",
    "DOCUMENTS",
    "MOST_HELD",
    "MOST_WASTE",
    "RIGHT",
    "WRONG",
    "best_setting",
    "bound_cases",
    "collate_cases",
    "drawn_cases",
    "finder",
    "guesses",
    "likely",
    "longest_cases",
    "mistakes",
    "not_offered",
    "offered",
    "pair_waste_cases",
    "parts",
    "shown",
    "waste_cases",
    "wastes",
    "wrong_settings",
]

ROWS = (2, 3, 5, 8, 12, 18, 27, 40)
WINDOWS = (1, 2, 3, 5, 8, 13, 21, 34, 55)
MOST_WASTE, MOST_HELD = 0.25, 400
FIRST: dict[str, list[tuple[Any, ...]]] = {  # the cases in which most mistakes show
    "waste": [([[4, 4]],), ([[5, 3]],)],
    "bound": [(40, 100, 0.2)],
    "pair-waste": [([[4, 4]],), ([[5, 3]],)],
    "expected-longest": [([1, 2, 3], 2)],
}


def mistakes(name: str, *case: Any) -> dict[Any, str]:
    """The values that wrong versions give for a case, by their thoughts; the first one counts."""
    return dict(reversed(list(mistakes_of(WRONG[name], *case))))


def likely(name: str, got: object, thought: str, *case: Any) -> dict[Any, str]:
    """Known mistakes of a case, and `thought` where none of them gave what came.

    Only those that are right in the first cases: whoever made another one was refused there.

    Empty where it is right: wrong versions of a large case are worked out for a wrong answer only.

    >>> likely("waste", 0.2, "?", [[5, 3]]), likely("waste", 0.3, "?", [[5, 3]])[0.3]
    ({}, '?')
    """
    try:
        value = plain.number(got)
    except plain.NotPlain:
        return {}
    if math.isclose(value, RIGHT[name][0](*case), rel_tol=1e-9) or not math.isfinite(value):
        return {}
    first, right = FIRST[name], RIGHT[name][0]
    alive = {
        why: version
        for why, version in WRONG[name].items()
        if case in first or all(_agrees(version, right, *one) for one in first)
    }
    known = dict(reversed(list(mistakes_of(alive, *case))))
    if thought and not any(math.isclose(value, wrong, rel_tol=1e-5) for wrong in known):
        known[value] = thought
    return known


def _agrees(version: Callable[..., float], right: Callable[..., float], *case: Any) -> bool:
    found = [value for value, _ in mistakes_of({"": version}, *case)]
    return all(math.isclose(value, right(*case), abs_tol=1e-12) for value in found)


def guesses(part: str, got: object, thought: str, *case: Any) -> list[tuple[Any, str]]:
    """`parts` of a case, and `thought` for what came where none fits; empty where it is right."""
    try:
        value = plain.array(got)
    except plain.NotPlain:
        return []
    if np.array_equal(value, _part(part, collators.collate(*case))):
        return []
    came = value.item() if value.ndim == 0 else value
    known = parts(part, *case)
    named = not thought or any(np.array_equal(value, wrong) for wrong, _ in known)
    return known if named else [*known, (came, thought)]


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


def offered(returned: object) -> bool:
    """Whether it is one number of ROWS and one of WINDOWS, in either order; a set has none.

    >>> offered((12, 21)), offered([16, 23]), offered({12: 21}), offered({12, 21}), offered(12)
    (True, False, False, False, False)
    """
    if isinstance(returned, set | frozenset):
        return False
    try:
        pair = plain.nested(returned)
    except plain.NotPlain:
        return False
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    return any(one in ROWS and two in WINDOWS for one, two in (pair, pair[::-1]))


def not_offered(returned: object) -> str:
    """Why `offered` says no."""
    if isinstance(returned, set | frozenset):
        return "a set has no order: return rows, window"
    return "other numbers may keep the limits, too; asked is a setting of the sliders"


def finder() -> widgets.Explorer:
    """Rows and window against waste and the documents held; the goal is `best_setting`."""

    def scene(rows: int, window: int) -> dict[str, Any]:
        facts = {
            "waste of one order": units.share(wastes()[rows, window]),
            "documents held": f"{rows * window:,}",
            "random orders, on average": units.share(padding.expected_waste(tokens, rows)),
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
