"""Explorers of padding, packing and the step: every number comes from the tested rooms.

    lengths or offered values  ->  Explorer: sliders that work with a kernel and without

`explorer` and `finder` make further ones from plain data; they stand in `sliders`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from batchlab import packing, padding, plan, units
from batchlab.widgets._sliders import Explorer, explorer, finder

__all__ = ["Explorer", "calculator", "explorer", "finder", "packing_explorer", "padding_explorer"]

ROWS = (1, 2, 4, 8, 16, 32, 64)
WINDOWS = (1, 4, 16, 64, 256)
ROW_LENGTHS = (512, 1024, 2048, 4096, 8192)
METHODS = ("best_fit_decreasing", "first_fit_decreasing", "next_fit", "split")
REAL, NEXT, PAD = 0, 1, -1


def padding_explorer(
    lengths: ArrayLike,
    *,
    rows: Sequence[int] = ROWS,
    windows: Sequence[int] = WINDOWS,
    goal: str = "",
    most_waste: float | None = None,
    seed: int = 0,
) -> Explorer:
    """Rows and window against slots, waste, and the rectangle of a typical micro-batch.

    With `most_waste` there is a setting to find: the most rows, then the smallest window, that
    waste at most this share.
    """
    tokens = np.asarray(lengths)
    rows = [n for n in rows if n <= len(tokens)]
    measured: dict[tuple[int, int], padding.Padding] = {}

    def scene(rows: int, window: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        batches = padding.in_windows(tokens, rows, window=window, rng=rng)
        found = measured[rows, window] = padding.measure(tokens, batches)
        drawn = _typical(tokens, batches, found.waste)
        width, real = int(drawn.max()), int(drawn.sum())
        return {
            "facts": {
                "micro-batches": units.count(len(batches)),
                "slots": units.count(found.slots),
                "real tokens": units.count(found.real_tokens),
                "waste": units.share(found.waste),
                "random, exact": units.share(padding.expected_waste(tokens, rows)),
            },
            "rows": [[(REAL, n), *([(PAD, width - n)] if n < width else [])] for n in drawn],
            "alt": f"A micro-batch of {rows} rows, {width:,} slots wide: {real:,} of "
            f"{rows * width:,} slots hold real tokens, the rest is padding.",
            "note": f"Drawn: a typical micro-batch, rows x width = {len(drawn)} x {width:,} slots. "
            "Hatched slots are padding.",
        }

    controls = {"rows": ("rows", rows), "window": ("window, in micro-batches", list(windows))}
    title = "Padding: rows, and sorting in windows"
    if most_waste is None:
        start = {"rows": 8 if 8 in rows else rows[-1], "window": windows[0]}
        return explorer(title, controls, scene, start=start)
    made = explorer(title, controls, scene)
    fit = [key for key, found in measured.items() if found.waste <= most_waste]
    best = max(fit, key=lambda key: (key[0], -key[1]), default=None)
    goal = goal or (
        f"Find the most rows, and then the smallest window, that waste at most "
        f"{units.share(most_waste)}."
    )
    scenes = {key: made.state["table"][name] for key, name in zip(
        measured, made.state["table"], strict=True)}  # fmt: skip
    labels = made.state["labels"]
    return finder(
        title,
        controls,
        lambda rows, window: _again(scenes[rows, window], labels),
        goal=goal,
        where=lambda rows, window: (rows, window) == best,
    )


def _again(drawn: dict[str, Any], labels: list[str]) -> dict[str, Any]:
    """A scene that was computed already."""
    return {**drawn, "facts": dict(zip(labels, drawn["values"], strict=True))}


def _typical(tokens: np.ndarray, batches: list[list[int]], waste: float) -> np.ndarray:
    """Lengths of the full batch whose own waste is nearest to that of all, longest first."""
    full = [tokens[np.asarray(b)] for b in batches if len(b) == len(batches[0])]
    full = full or [tokens[np.asarray(batch)] for batch in batches]
    own = [abs(1 - inside.mean() / inside.max() - waste) for inside in full]
    return np.sort(full[int(np.argmin(own))])[::-1]


def packing_explorer(
    lengths: ArrayLike,
    *,
    row_lengths: Sequence[int] = ROW_LENGTHS,
    methods: Sequence[str] = METHODS,
    drawn_rows: int = 12,
    goal: str = "",
    where: Callable[[packing.Packing], bool] | None = None,
) -> Explorer:
    """Row length and method against rows, fill, the bound, and what is cut.

    Documents longer than a row are split, and the facts say how many. With `where` there is a
    setting to find: one whose packing fulfils it, and `goal` says so in words.
    """
    tokens = np.asarray(lengths)

    @cache
    def pack(row_length: int, method: str) -> packing.Packing:
        return packing.pack(tokens, row_length, method=method, too_long="split")

    def scene(row_length: int, method: str) -> dict[str, Any]:
        packed = pack(row_length, method)
        some = np.linspace(0, packed.row_count - 1, min(drawn_rows, packed.row_count))
        rows = [packed.piece_lengths[packed.rows[round(place)]].tolist() for place in some]
        return {
            "facts": {
                "rows": units.count(packed.row_count),
                "fill": f"{100 * packed.fill:.2f} %",
                "bound": units.count(packed.lower_bound),
                "proven optimal": "yes" if packed.is_optimal else "no",
                "documents cut": units.count(packed.cut_documents),
            },
            "rows": [_packed_row(row, row_length) for row in rows],
            "extent": row_length,
            "alt": f"{len(rows)} of {packed.row_count:,} rows of {row_length:,} slots, "
            f"{100 * packed.fill:.2f} % full over all.",
            "note": f"Drawn: {len(rows)} of {packed.row_count:,} rows. Shades tell documents "
            "apart; hatched slots are empty.",
        }

    controls: dict[str, tuple[str, Sequence[Any]]] = {
        "row_length": ("slots in a row", list(row_lengths)),
        "method": ("method", list(methods)),
    }
    title = "Packing: row length and method"
    if where is None:
        return explorer(title, controls, scene, show=_readable)
    fulfils = where

    def meets(row_length: int, method: str) -> bool:
        return fulfils(pack(row_length, method))

    return finder(title, controls, scene, goal=goal, where=meets, show=_readable)


def _packed_row(row: list[int], row_length: int) -> list[tuple[int, int]]:
    rest = row_length - sum(row)
    drawn = [(number % 3, length) for number, length in enumerate(row)]
    return [*drawn, (PAD, rest)] if rest else drawn


def _readable(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value).replace("_", " ")


def calculator(
    *,
    rows: Sequence[int] = (1, 2, 4, 8, 16),
    accumulation: Sequence[int] = (1, 2, 4, 8, 16),
    devices: Sequence[int] = (1, 8, 16, 64),
    tensor: Sequence[int] = (1, 2, 8),
    pipeline: Sequence[int] = (1, 4),
    length: Sequence[int] = (1024, 2048, 4096),
    slots: int | None = None,
) -> Explorer:
    """What one step sees; a GPU is not a replica where the model is split over several.

    With `slots` there is a setting to find: any that makes one step exactly this many slots.
    """
    offered = {
        "rows": ("rows", list(rows)),
        "accumulation": ("accumulation", list(accumulation)),
        "devices": ("devices", list(devices)),
        "tensor": ("tensor parallel", list(tensor)),
        "pipeline": ("pipeline parallel", list(pipeline)),
        "length": ("length", list(length)),
    }

    def step(
        rows: int, accumulation: int, devices: int, tensor: int, pipeline: int, length: int
    ) -> plan.Plan:
        degree = plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline)
        return plan.Plan(rows, accumulation, degree, length)

    def scene(**setting: int) -> dict[str, Any]:
        names = ("replicas", "sequences per step", "slots per step", "slots at once")
        try:
            one = step(**setting)
        except ValueError as error:
            return {"facts": dict.fromkeys(names, "-"), "note": str(error)}
        at_once = one.rows * one.length
        numbers = (one.data_parallel, one.sequences_per_step, one.slots_per_step, at_once)
        return {"facts": dict(zip(names, map(units.count, numbers), strict=True))}

    title = "The effective batch"
    if slots is None:  # one replica a device at first: what does not divide teaches later
        start = {name: values[len(values) // 2] for name, (_, values) in offered.items()}
        start |= {"tensor": min(tensor), "pipeline": min(pipeline)}
        return explorer(title, offered, scene, show=_readable, start=start)

    def meets(**setting: int) -> bool:
        try:
            return step(**setting).slots_per_step == slots
        except ValueError:
            return False

    goal = f"Find a setting whose step sees exactly {slots:,} slots."
    return finder(title, offered, scene, goal=goal, where=meets, show=_readable)
