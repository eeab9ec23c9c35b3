"""Figures of what was found: the time that a step lost, and predictions beside measurements.

    a diagnosis, or pairs (predicted, measured)  ->  Picture

The parts of a step come from `doctor`, predictions from `trace` or `stepcost`; here they are only
added up and divided. `plots` is the door; the paper is that of `canvas`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from batchlab import units
from batchlab.canvas import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    PAPER,
    REAL,
    Picture,
    blank,
    headline,
    pad_style,
    told,
)  # fmt: skip
from batchlab.charts import byte_unit

__all__ = ["lost_time", "predicted_measured"]

SMALLEST = 0.0005  # share of a step below which a part is not drawn, as in `report`


def lost_time(diagnosis: Any, *, title: str = "") -> Picture:
    """From the measured step down to useful compute: each part that was lost, and what is left.

    The unexplained rest is a bar of its own. It points back where prices add up to more than was
    measured.
    """
    total, subject = diagnosis.step_seconds, diagnosis.subject
    lost = [p for p in diagnosis.parts if p.cause not in ("useful", "unexplained")]
    lost = sorted((p for p in lost if p.seconds >= SMALLEST * total), key=lambda p: -p.seconds)
    useful = sum(p.seconds for p in diagnosis.parts if p.cause == "useful")
    bars: list[tuple[str, float, float, dict[str, Any]]] = [
        ("measured step", 0.0, total, {"color": "#8A949E"})
    ]
    left = total
    for part in lost:
        style = {"color": COLOURS[5], "hatch": "///", "edgecolor": PAPER, "linewidth": 0}
        bars.append((part.name, left, -part.seconds, style))
        left -= part.seconds
    bars.append(("unexplained", left, useful - left, pad_style()))
    bars.append(("useful compute", 0.0, useful, {"color": REAL}))
    figure, axes = blank(7.6, 0.42 * len(bars) + 1.5)
    unit, name = _second_unit(total)
    _draw_waterfall(axes, bars, unit, total)
    axes.set_xlabel(f"{name} of one step")
    headline(axes, title or f"Where one step goes: rows {subject['rows']}, {subject['layout']}")
    shown = ", ".join(
        f"{text} {units.duration(abs(width))} ({units.share(abs(width) / total)})"
        + (" more than measured" if text == "unexplained" and width > 0 else "")
        for text, _, width, _ in bars
    )
    return told(figure, f"Waterfall from the measured step down to useful compute: {shown}.")


def _draw_waterfall(
    axes: Axes, bars: Sequence[tuple[str, float, float, dict[str, Any]]], unit: float, total: float
) -> None:
    for at, (_, start, width, style) in enumerate(bars):
        axes.barh(at, width / unit, left=start / unit, height=0.68, **style)
        end = (start + width if at else total) / unit
        if 0 < at < len(bars) - 1 or not at:  # the next bar begins where this one ends
            axes.plot([end, end], [at - 0.34, at + 1.34], color=FAINT, linewidth=0.8)
        sign = "" if at in (0, len(bars) - 1) else "−" if width <= 0 else "+"
        text = f"{sign}{units.duration(abs(width))}  {units.share(abs(width) / total)}"
        axes.annotate(
            text, (max(start, start + width) / unit, at), xytext=(6, 0), va="center",
            textcoords="offset points", fontsize=9, color=INK,
        )  # fmt: skip
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(0, 1.28 * max(max(s, s + w) for _, s, w, _ in bars) / unit)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, labelsize=9.5, labelcolor=INK)


def predicted_measured(
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    *,
    of: str = "bytes",
    title: str = "Predicted against measured",
) -> Picture:
    """Left, each (predicted, measured) beside the diagonal; right, what is off, in per cent.

    `of` is bytes or seconds; both are positive.
    """
    if of not in ("bytes", "seconds"):
        raise ValueError(f"of is bytes or seconds, got {of!r}")
    every = np.array([pair for points in pairs.values() for pair in points], dtype=float)
    if not every.size or (every <= 0).any():
        raise ValueError(f"pairs of positive {of} are needed, got {every.tolist()[:4]}")
    unit, name = (byte_unit if of == "bytes" else _second_unit)(float(every.max()))
    figure, (left, right) = blank(8.6, 4.2, ncols=2)
    for i, (label, points) in enumerate(pairs.items()):
        guess, truth = np.array(points, dtype=float).T
        look = {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "markersize": 7,
                "linestyle": "none", "markeredgecolor": INK, "markeredgewidth": 0.7}  # fmt: skip
        left.plot(guess / unit, truth / unit, label=label, **look)
        right.plot(truth / unit, 100 * (guess / truth - 1), **look)
    _diagonal(left, every / unit, name)
    right.axhline(0, color=FAINT, linewidth=1, linestyle="--")
    right.set(xlabel=f"measured, {name}", ylabel="predicted / measured − 1, %")
    _log_if_wide(right.xaxis, every[:, 1] / unit)
    right.margins(x=0.12)
    off = 100 * (every[:, 0] / every[:, 1] - 1)
    right.set_ylim(*(1.25 * max(1.0, np.abs(off).max()) * np.array([-1, 1])))
    headline(left, title)
    worst = float(off[np.abs(off).argmax()])
    digits = 1 if abs(worst) >= 1 else 2
    median = float(np.median(np.abs(off)))
    headline(right, f"Off by {median:.{digits}f} % (median), {worst:+.{digits}f} % at worst")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9, labelcolor=INK)
    errors = "; ".join(
        f"{label} " + ", ".join(f"{100 * (p / m - 1):+.1f} %" for p, m in points)
        for label, points in pairs.items()
    )
    return told(
        figure,
        f"{len(every)} predicted {of} against measured ones beside the diagonal, and predicted / "
        f"measured − 1: {errors}.",
    )


def _diagonal(axes: Axes, every: np.ndarray, name: str) -> None:
    wide = every.max() / every.min() > 8
    ends = np.array([every.min() / 1.25 if wide else 0.0, every.max() * 1.25])
    axes.plot(ends, ends, "--", color=FAINT, linewidth=1, label="predicted = measured", zorder=1)
    _log_if_wide(axes.xaxis, every)
    _log_if_wide(axes.yaxis, every)
    axes.set(xlim=ends, ylim=ends, xlabel=f"predicted, {name}", ylabel=f"measured, {name}")
    axes.set_aspect("equal")


def _log_if_wide(axis: Any, values: np.ndarray) -> None:
    """A logarithmic axis with plain numbers where the values span much, else a linear one."""
    span = float(values.max() / values.min())
    if span > 8:
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if span < 100 else (1,)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:,g}")


def _second_unit(largest: float) -> tuple[float, str]:
    return (1.0, "seconds") if largest >= 1 else (1e-3, "milliseconds")
