"""Figures of predictions: each beside its measurement, and how far it was off.

pairs (predicted, measured)  ->  Picture
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from batchlab.plots._canvas import (
    COLOURS,
    FAINT,
    INK,
    MARKERS,
    Picture,
    blank,
    byte_unit,
    headline,
    second_unit,
    told,
)

__all__ = ["predicted_measured"]


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
    unit, name = (byte_unit if of == "bytes" else second_unit)(float(every.max()))
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
