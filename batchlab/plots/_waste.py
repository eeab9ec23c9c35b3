"""Figures of documents: how long they are, and what padding them costs.

lengths  ->  Figure
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from batchlab import padding, units
from batchlab.plots._canvas import (
    COLOURS,
    FAINT,
    HATCH,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    blank,
    headline,
    told,
)

__all__ = ["lengths_histogram", "waste_by_rows"]


def waste_by_rows(
    lengths: ArrayLike,
    rows: Sequence[int],
    *,
    measured: Mapping[int, float] | Mapping[str, Mapping[int, float]] | None = None,
    title: str = "Waste grows with the rows, then saturates",
) -> Figure:
    """The exact expected waste for each number of rows, the limit, and measured points.

    `measured` is {rows: waste}, or several of them by name.
    """
    tokens = np.asarray(lengths)
    expected = [padding.expected_waste(tokens, n) for n in rows]
    limit = 1 - float(tokens.mean()) / float(tokens.max())
    figure, axes = blank(7, 4)
    axes.plot(rows, expected, "-", color=REAL, linewidth=2, marker="o", label="random, exact")
    for i, (name, points) in enumerate(_by_name(measured).items(), start=1):
        axes.plot(
            list(points), list(points.values()), STYLES[i % 7] if len(points) > 2 else "",
            color=COLOURS[(i * 5) % 7], marker=MARKERS[i % 7], markersize=7, linewidth=1.2,
            markerfacecolor=PAPER, markeredgewidth=1.6, label=name,
        )  # fmt: skip
    axes.axhline(limit, color=FAINT, linestyle=(0, (4, 3)), linewidth=1)
    axes.annotate(
        f"one rectangle for all: {units.share(limit)}", (rows[0], limit), xytext=(0, 4),
        textcoords="offset points", fontsize=9, color=FAINT,
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(xlabel="rows per micro-batch", ylabel="waste: padding slots / slots", ylim=(0, 1.06))
    axes.set_xticks(list(rows), [str(n) for n in rows])
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.minorticks_off()
    headline(axes, title)
    axes.legend(loc="best", fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    told_points = _told_wastes(dict(zip(rows, expected, strict=True)))
    others = "".join(
        f" {name}: {_told_wastes(points)}." for name, points in _by_name(measured).items()
    )
    return told(
        figure,
        f"Waste against rows. Random batches, exact: {told_points}; the limit is "
        f"{units.share(limit)}.{others}",
    )


def _told_wastes(wastes: Mapping[int, float]) -> str:
    return ", ".join(
        f"{n} {'row' if n == 1 else 'rows'} {units.share(w)}" for n, w in wastes.items()
    )


def _by_name(measured: Mapping[Any, Any] | None) -> Mapping[str, Mapping[int, float]]:
    if not measured:
        return {}
    if any(isinstance(points, Mapping) for points in measured.values()):
        return measured
    return {"measured": measured}


def lengths_histogram(lengths: ArrayLike, *, title: str = "Tokens per document") -> Figure:
    """How many documents have which length, on a logarithmic axis."""
    tokens = np.asarray(lengths)
    figure, axes = blank(7, 3.4)
    edges = np.geomspace(max(1, tokens.min()), tokens.max() + 1, 40)
    axes.hist(tokens, bins=edges.tolist(), color=REAL, edgecolor=PAPER, linewidth=0.6)
    median, p90 = np.percentile(tokens, [50, 90])
    top = axes.get_ylim()[1] * 1.3
    marks = (
        (median, "median", "--"),
        (p90, "90th percentile", "-."),
        (tokens.max(), "longest", ":"),
    )
    for line, (value, name, style) in enumerate(marks):
        height = top * (0.99 - 0.075 * line)  # one below the other: close values stay readable
        axes.plot([value, value], [0, height], color=HATCH, linestyle=style, linewidth=1.5)
        axes.annotate(
            f" {name} {value:,.0f} ", (float(value), height), va="top", fontsize=9, color=INK,
            ha="right" if name == "longest" else "left",
        )  # fmt: skip
    axes.set_xscale("log")
    decades = [n for n in (1, 10, 100, 1000, 10_000, 100_000) if edges[0] <= n <= edges[-1]]
    axes.set_xticks(decades, [f"{n:,}" for n in decades])
    axes.set(xlabel="tokens in a document", ylabel="documents", ylim=(0, top))
    headline(axes, title)
    return told(
        figure,
        f"Histogram of {len(tokens):,} lengths: median {median:,.0f}, 90th percentile "
        f"{p90:,.0f}, longest {tokens.max():,}.",
    )
