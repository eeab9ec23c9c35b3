"""The finder of lesson 11: launches against padding, at planted prices.

    rows, model, layout  ->  useful tokens per second, waste, launches as a share of the time

Words
    launch  the fixed cost of a micro-batch: that of an eager or of a compiled model
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from batchlab import data, padding, widgets
from batchlab.classroom import plain as data_of

__all__ = ["fault_of_rows", "finder"]

LAUNCHES = {"eager": 0.020, "compiled": 0.007}  # planted seconds a micro-batch
SLOT = 20e-6  # planted seconds
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64)


@cache
def _rate(rows: int, launch: str, layout: str) -> tuple[float, float, float]:
    """Useful tokens per second, waste, and launches as a share of the time."""
    lengths = np.asarray(data.embedded().at_most(1024).lengths)
    width = float(padding.expected_longest(lengths, rows) if layout == "padded" else lengths.mean())
    seconds = LAUNCHES[launch] + SLOT * rows * width
    useful = rows * float(lengths.mean())
    return useful / seconds, 1 - useful / (rows * width), LAUNCHES[launch] / seconds


def _best(launch: str, layout: str) -> int:
    return max(ROWS, key=lambda rows: _rate(rows, launch, layout)[0])


def fault_of_rows(answer: object) -> str:
    """What is wrong with a number of rows as the setting that `finder` asks for; empty if right."""
    try:
        rows = data_of.number(answer)
    except data_of.NotPlain as problem:
        return problem.thought or "one number is asked: rows per micro-batch"
    if rows not in ROWS:
        return "the slider does not offer it: asked is a place of the slider"
    if rows == _best("eager", "padded"):
        return ""
    if rows == _best("compiled", "padded"):
        return "that is the best of the compiled model: set 'eager'"
    if rows == ROWS[-1]:
        return "the most rows are best only where nothing is padded: set 'padded'"
    more = rows < _best("eager", "padded")
    return f"{'more' if more else 'fewer'} rows give more useful tokens per second here"


def finder() -> widgets.Explorer:
    """Rows, launch and layout against useful tokens per second; the goal is the best rows."""

    def scene(rows: int, launch: str, layout: str) -> dict[str, Any]:
        rate, waste, launched = _rate(rows, launch, layout)
        facts = {"useful tokens per second": f"{rate:,.0f}", "waste": f"{max(waste, 0.0):.1%}"}
        return {"facts": {**facts, "launches, share of the time": f"{launched:.1%}"}}

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "rows": ("rows per micro-batch", list(ROWS)),
        "launch": ("model", list(LAUNCHES)),
        "layout": ("rows are", ["padded", "packed"]),
    }
    goal = "Eager and padded: the rows with the most useful tokens per second."
    return widgets.finder(
        "Launches against padding", controls, scene, goal=goal,
        start={"rows": 16, "launch": "eager", "layout": "padded"},
        where=lambda rows, launch, layout: (rows, launch, layout)
        == (_best("eager", "padded"), "eager", "padded"),
    )  # fmt: skip
