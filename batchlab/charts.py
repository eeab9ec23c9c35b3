"""Figures of memory and speed: what is held, by rows or by event, and useful tokens per second.

    bytes or rates by rows  ->  Picture

Nothing is predicted or priced here: `trace` and `throughput` did that, and `report` prints the same
numbers. `plots` is the door; the paper is that of `canvas`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from batchlab import units
from batchlab.canvas import (
    COLOURS,
    HATCH,
    HATCHES,
    INK,
    MARKERS,
    PAPER,
    STYLES,
    Picture,
    blank,
    headline,
    number,
    told,
)  # fmt: skip

__all__ = ["byte_unit", "memory_stack", "throughput", "timeline"]

DODGE = 0.05  # octaves between the marks of two layouts at the same rows
Rate = tuple[float, float, float]  # of a cell: overall, and of its slowest and fastest round


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
        top = max(total, measured.get(rows, 0.0)) / unit
        axes.annotate(
            units.size(total), (at, top), xytext=(0, 8 if rows in measured else 4), fontsize=9,
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
        f"{units.size(sum(held.values()))} at {_rows(rows)} ("
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


def throughput(
    measured: Mapping[str, Mapping[int, Rate]],
    *,
    knee_rows: float | None = None,
    without_padding: Mapping[float, float] | None = None,
    out_of_memory: Mapping[str, Sequence[int]] | None = None,
    title: str = "Useful tokens per second, by rows",
) -> Picture:
    """Rates of each layout with their spread, the knee, and where memory ended.

    `without_padding` is the priced rate if no slot were padding: {rows: tokens per second}.
    """
    figure, axes = blank(7, 4.2)
    for i, (layout, points) in enumerate(measured.items()):
        rates = np.array(list(points.values())).reshape(-1, 3)
        aside = 2 ** (DODGE * (i - (len(measured) - 1) / 2))  # else spreads hide each other
        axes.errorbar(
            [rows * aside for rows in points], rates[:, 0],
            yerr=[rates[:, 0] - rates[:, 1], rates[:, 2] - rates[:, 0]],
            fmt=STYLES[i % 7], color=COLOURS[i % 7], marker=MARKERS[i % 7], markersize=6,
            linewidth=1.8, capsize=3, elinewidth=1, label=layout,
        )  # fmt: skip
    if without_padding:
        axes.plot(
            list(without_padding), list(without_padding.values()), ":", color=INK, linewidth=1.4,
            label="priced: no slot is padding",
        )  # fmt: skip
    rows = sorted({r for points in measured.values() for r in points} | _ends(out_of_memory))
    for i, ended in enumerate((out_of_memory or {}).values()):
        axes.plot(
            ended, [0.0] * len(ended), "X", color=COLOURS[5], markersize=9, clip_on=False, zorder=3,
            markeredgecolor=INK, markeredgewidth=0.8, label="out of memory" if not i else None,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xticks(rows, [f"{n:,}" for n in rows])
    axes.minorticks_off()
    axes.set(xlabel="rows per micro-batch", ylabel="useful tokens/s", ylim=(0, None))
    axes.yaxis.set_major_formatter(lambda value, _: units.count(value))
    axes.set_ylim(0, axes.get_ylim()[1] * 1.12)  # room for the name of the knee
    if knee_rows is not None:
        _mark_knee(axes, knee_rows, rows)
    headline(axes, title)
    by_name = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    names = sorted(by_name, key=lambda name: name not in measured)  # the layouts first
    figure.legend(
        [by_name[name] for name in names], names, loc="outside lower center", ncols=4,
        frameon=False, fontsize=9, labelcolor=INK,
    )  # fmt: skip
    return told(figure, _told_throughput(measured, knee_rows, out_of_memory))


def _mark_knee(axes: Axes, knee: float, rows: Sequence[int]) -> None:
    """A line where it lies inside; an arrow to the side where it does not."""
    text = f"knee: {_knee(knee)}"
    style: dict[str, Any] = {"fontsize": 9, "color": INK, "va": "top"}
    if rows[0] / 1.2 <= knee <= rows[-1] * 2:
        axes.axvline(knee, color=HATCH, linestyle="--", linewidth=1.4)
        left = knee > (rows[0] * rows[-1]) ** 0.5
        axes.annotate(
            text, (knee, 0.99), xycoords=("data", "axes fraction"),
            xytext=(-5 if left else 5, 0), textcoords="offset points",
            ha="right" if left else "left", **style,
        )  # fmt: skip
    elif knee < rows[0]:
        axes.annotate(f"← {text}", (0.01, 0.99), xycoords="axes fraction", **style)
    else:
        axes.annotate(f"{text} →", (0.99, 0.99), xycoords="axes fraction", ha="right", **style)


def _told_throughput(
    measured: Mapping[str, Mapping[int, Rate]],
    knee: float | None,
    out_of_memory: Mapping[str, Sequence[int]] | None,
) -> str:
    lines = "; ".join(
        f"{layout} " + ", ".join(f"{units.count(rate[0])} at {_rows(n)}" for n, rate in p.items())
        for layout, p in measured.items()
    )
    ended = "".join(
        f" Out of memory, {layout}: {', '.join(_rows(n) for n in rows)}."
        for layout, rows in (out_of_memory or {}).items()
    )
    knees = f" The knee lies at {_knee(knee)}." if knee is not None else ""
    return f"Lines of useful tokens per second against rows: {lines}.{knees}{ended}"


def byte_unit(largest: float) -> tuple[float, str]:
    """What an axis of so many bytes is divided by, and its name."""
    return (units.GIB, "GiB") if largest >= units.GIB else (units.MIB, "MiB")


def _ends(out_of_memory: Mapping[str, Sequence[int]] | None) -> set[int]:
    return {rows for ended in (out_of_memory or {}).values() for rows in ended}


def _rows(rows: float) -> str:
    return f"{rows:,} row" + "s" * (rows != 1)


def _knee(rows: float) -> str:
    """Two digits are enough."""
    if rows < 1:
        return "below 1 row"
    return f"{units.count(rows) if rows >= 10 else f'{rows:.2g}'} rows"
