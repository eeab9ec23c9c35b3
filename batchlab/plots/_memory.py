"""Figures of memory: what a step holds, by rows or event by event.

bytes by rows or by event  ->  Picture
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from batchlab import units
from batchlab.plots._canvas import (
    COLOURS,
    HATCH,
    HATCHES,
    INK,
    PAPER,
    Picture,
    blank,
    byte_unit,
    headline,
    many_rows,
    number,
    told,
)

__all__ = ["memory_stack", "timeline"]


def memory_stack(
    bytes_by_rows: Mapping[int, Mapping[str, float]],
    *,
    limit_bytes: float | None = None,
    measured_bytes: Mapping[int, float] | None = None,
    title: str = "Memory at the fullest moment of a step",
) -> Picture:
    """One upright bar for each number of rows, made of kinds; the limit and measured peaks."""
    unknown = sorted(set(measured_bytes or {}) - set(bytes_by_rows))
    if unknown or not bytes_by_rows:
        raise ValueError(
            f"measured rows without a bar: {unknown}" if unknown else "no rows to draw"
        )
    kinds = list(dict.fromkeys(kind for held in bytes_by_rows.values() for kind in held))
    totals = [sum(held.values()) for held in bytes_by_rows.values()]
    measured = measured_bytes or {}
    unit, name = byte_unit(max([*totals, *measured.values(), limit_bytes or 0]))
    figure, axes = blank(max(5.4, 0.8 * len(totals) + 3.2), 4)
    bottom = np.zeros(len(totals))
    for i, kind in enumerate(kinds):
        values = np.array([held.get(kind, 0.0) for held in bytes_by_rows.values()]) / unit
        axes.bar(
            range(len(totals)), values, bottom=bottom, width=0.72, label=kind,
            color=COLOURS[i % 7], hatch=HATCHES[i % 7], edgecolor=PAPER, linewidth=0.6,
        )  # fmt: skip
        bottom = bottom + values
    for at, (rows, total) in enumerate(zip(bytes_by_rows, totals, strict=True)):
        top, label = max(total, measured.get(rows, 0.0)) / unit, units.size(total)
        if rows in measured:
            label = f"sum {label}\nmeasured {units.size(measured[rows])}"
        axes.annotate(
            label, (at, top), xytext=(0, 8 if rows in measured else 4), fontsize=9,
            textcoords="offset points", ha="center", color=INK,
        )  # fmt: skip
    _mark_measured(axes, list(bytes_by_rows), measured, unit)
    if limit_bytes is not None:
        _mark_limit(axes, limit_bytes, unit)
    axes.set_xticks(range(len(totals)), [f"{rows:,}" for rows in bytes_by_rows])
    axes.grid(visible=False, axis="x")
    axes.set(xlabel="rows per micro-batch", ylabel=name, xlim=(-0.6, len(totals) - 0.4))
    axes.margins(y=0.1)
    headline(axes, title)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="outside right center", frameon=False, fontsize=9,
        labelcolor=INK,
    )  # fmt: skip
    return told(figure, _told_stack(bytes_by_rows, limit_bytes, measured))


def _mark_limit(axes: Axes, limit_bytes: float, unit: float) -> None:
    axes.axhline(limit_bytes / unit, color=INK, linestyle="--", linewidth=1.3)
    axes.annotate(
        f"limit {units.size(limit_bytes)}", (-0.58, limit_bytes / unit), xytext=(2, 4),
        textcoords="offset points", fontsize=9, color=INK,
    )  # fmt: skip


def _mark_measured(axes: Axes, rows: list[int], measured: Mapping[int, float], unit: float) -> None:
    if measured:
        places = [rows.index(one) for one in measured]
        axes.plot(
            places, [value / unit for value in measured.values()], "D", color=INK, markersize=7,
            markerfacecolor=PAPER, markeredgewidth=1.6, label="measured",
        )  # fmt: skip


def _told_stack(
    bytes_by_rows: Mapping[int, Mapping[str, float]],
    limit_bytes: float | None,
    measured: Mapping[int, float],
) -> str:
    bars = "; ".join(
        f"{units.size(sum(held.values()))} at {many_rows(rows)} ("
        + ", ".join(f"{kind} {units.size(value)}" for kind, value in held.items() if value)
        + (f", measured {units.size(measured[rows])}" if rows in measured else "")
        + ")"
        for rows, held in bytes_by_rows.items()
    )
    limit = f" The limit is {units.size(limit_bytes)}." if limit_bytes is not None else ""
    return f"Stacked bars of memory by rows: {bars}.{limit}"


def timeline(
    events: Sequence[tuple[str, Mapping[str, float]]],
    *,
    title: str,
    y: str = "MiB",
    limit: float | None = None,
) -> Picture:
    """What is held after each event of a step: one upright bar an event, in order.

    An event is its name and what it holds by category, such as memory while gradients accumulate.
    """
    parts = list(dict.fromkeys(part for _, held in events for part in held))
    figure, axes = blank(max(5.0, 0.62 * len(events) + 2.4), 4)
    bottom = np.zeros(len(events))
    for i, part in enumerate(parts):
        values = [held.get(part, 0.0) for _, held in events]
        axes.bar(
            range(len(events)), values, bottom=bottom, width=0.8, label=part,
            color=COLOURS[i % 7], hatch=HATCHES[i % 7], edgecolor=PAPER, linewidth=0.6,
        )  # fmt: skip
        bottom = bottom + np.asarray(values)
    if limit is not None:
        axes.axhline(limit, color=HATCH, linestyle="--", linewidth=1.5)
        axes.annotate(f"limit {number(limit)}", (-0.4, limit), xytext=(0, 4), color=INK,
                      textcoords="offset points", fontsize=9)  # fmt: skip
    axes.set_xticks(range(len(events)), [name for name, _ in events], rotation=35, ha="right")
    axes.grid(visible=False, axis="x")
    axes.set(ylabel=y)
    headline(axes, title)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9, labelcolor=INK)
    peak = int(np.argmax(bottom))
    totals = ", ".join(f"{name} {number(t)}" for (name, _), t in zip(events, bottom, strict=True))
    return told(figure, f"Bars of {y} after each event: {totals}; most after {events[peak][0]}.")
