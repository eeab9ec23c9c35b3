"""Figures of padding, packing, time and memory: readable in grey, with text for who cannot see.

    results  ->  matplotlib Figure with `batchlab_alt`

Every figure takes what other rooms computed and draws it; nothing is computed here that `report`
could not print. The drawn slots stand in `pictures`, what a step costs in `charts` and `findings`,
the paper in `canvas`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from batchlab import padding, units
from batchlab.canvas import (
    COLOURS,
    FAINT,
    HATCH,
    HATCHES,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    blank,
    headline,
    number,
    save,
    show,
    told,
)  # fmt: skip
from batchlab.charts import memory_stack, throughput, timeline
from batchlab.dots import intervals, scatter
from batchlab.findings import lost_time, predicted_measured
from batchlab.pictures import overview, packed_rows, packing_rows, rectangle, step_strips

__all__ = [
    "bars",
    "before_after",
    "intervals",
    "law",
    "lengths_histogram",
    "lines",
    "loss_curves",
    "lost_time",
    "memory_stack",
    "overview",
    "packed_rows",
    "packing_rows",
    "predicted_measured",
    "rectangle",
    "save",
    "scatter",
    "show",
    "stacked",
    "step_strips",
    "throughput",
    "timeline",
    "waste_by_rows",
]

Series = tuple[Sequence[float], Sequence[float]]


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


def _by_name(measured: Mapping | None) -> Mapping[str, Mapping[int, float]]:
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


def lines(
    series: Mapping[str, Series], *, title: str, x: str, y: str, log_x: bool = False
) -> Figure:
    """Named lines of (x, y): throughput against rows, loss against tokens."""
    figure, axes = blank(7, 4)
    for i, (name, (xs, ys)) in enumerate(series.items()):
        axes.plot(
            xs, ys, STYLES[i % 7], color=COLOURS[i % 7], linewidth=1.8, marker=MARKERS[i % 7],
            markevery=max(1, len(xs) // 12), markersize=5, label=name,
        )  # fmt: skip
    if log_x:
        axes.set_xscale("log", base=2)
        ticks = sorted({value for xs, _ in series.values() for value in xs})
        axes.set_xticks(ticks, [f"{value:g}" for value in ticks])
        axes.minorticks_off()
    for axis in (axes.yaxis, *([] if log_x else [axes.xaxis])):
        axis.set_major_formatter("{x:,g}")
    axes.set(xlabel=x, ylabel=y)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    ends = "; ".join(f"{name} ends at {number(ys[-1])}" for name, (_, ys) in series.items())
    return told(figure, f"Lines of {y} against {x}: {ends}.")


def law(
    lines: Mapping[str, Series],
    measured: Mapping[float, tuple[float, float]],
    *,
    title: str,
    x: str,
    y: str,
) -> Figure:
    """Laws as lines, measured {x: (value, standard error)} as points; both axes logarithmic.

    A bar is two standard errors to each side. Equal steps on such axes are equal factors.
    """
    figure, axes = blank(7, 4)
    for i, (name, (xs, ys)) in enumerate(lines.items()):
        axes.plot(xs, ys, STYLES[i % 7], color=COLOURS[i % 7], linewidth=1.8, label=name)
    values, errors = zip(*measured.values(), strict=True)
    bars = [2 * error for error in errors]
    axes.errorbar(
        list(measured), values, yerr=bars, fmt="o", color=INK, markersize=6, capsize=4,
        markerfacecolor=PAPER, markeredgewidth=1.6, label="measured, ± 2 standard errors",
    )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(list(measured), [f"{at:g}" for at in measured])
    axes.yaxis.set_major_formatter(lambda value, _: number(value))
    axes.minorticks_off()
    axes.set(xlabel=x, ylabel=y)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    points = ", ".join(f"{at:g}: {number(v)} ± {e:.2g}" for at, (v, e) in measured.items())
    ends = "; ".join(f"{name} ends at {number(ys[-1])}" for name, (_, ys) in lines.items())
    return told(figure, f"{y} against {x}, measured with standard errors: {points}. {ends}.")


def loss_curves(
    runs: Mapping[str, Sequence[float] | Series],
    *,
    title: str = "Training loss",
    x: str = "optimizer step",
    y: str = "loss per target token",
) -> Figure:
    """Loss of each run, step by step; a run is its losses, or the pair (x, losses)."""
    return lines({name: _curve(run) for name, run in runs.items()}, title=title, x=x, y=y)


def _curve(run: Sequence[float] | Series) -> Series:
    if isinstance(run, tuple) and len(run) == 2 and np.ndim(run[0]) == 1:
        return run  # type: ignore[return-value]
    losses = np.asarray(run, dtype=float).tolist()
    return range(1, len(losses) + 1), losses


def bars(values: Mapping[str, float], *, title: str, x: str, of_one: bool = False) -> Figure:
    """Named horizontal bars with their values written beside them."""
    figure, axes = blank(7, 0.45 * len(values) + 1.2)
    drawn = axes.barh(list(values), list(values.values()), height=0.65, color=REAL)
    texts = [units.share(v) if of_one else number(v) for v in values.values()]
    axes.bar_label(drawn, texts, padding=5, fontsize=9.5, color=INK)
    _lie_down(axes)
    if of_one:
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    axes.set(xlabel=x)
    axes.margins(x=0.18)
    headline(axes, title)
    told_values = ", ".join(f"{name} {text}" for name, text in zip(values, texts, strict=True))
    return told(figure, f"Bars of {x}: {told_values}.")


def before_after(
    pairs: Mapping[str, tuple[float, float]],
    *,
    title: str,
    x: str,
    names: tuple[str, str] = ("before", "after"),
) -> Figure:
    """Two bars for each name, so that a change is seen as a length."""
    figure, axes = blank(7, 0.72 * len(pairs) + 1.4)
    places = np.arange(len(pairs))
    looks = ({"color": "#B9C4CF", "hatch": "///", "edgecolor": "#7A8793"}, {"color": REAL})
    for side, look in enumerate(looks):
        values = [pair[side] for pair in pairs.values()]
        at = places + (side - 0.5) * 0.38
        drawn = axes.barh(at, values, height=0.36, linewidth=0, label=names[side], **look)
        axes.bar_label(drawn, [number(v) for v in values], padding=5, fontsize=9, color=INK)
    axes.set_yticks(places, list(pairs))
    _lie_down(axes)
    axes.set(xlabel=x)
    axes.margins(x=0.18)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    changes = "; ".join(
        f"{name} {names[0]} {number(old)}, {names[1]} {number(new)}"
        for name, (old, new) in pairs.items()
    )
    return told(figure, f"Pairs of bars of {x}: {changes}.")


def stacked(
    parts: Mapping[str, Sequence[float]], names: Sequence[str], *, title: str, x: str
) -> Figure:
    """Horizontal bars made of parts: slots, seconds or bytes by what they are spent on."""
    figure, axes = blank(7.6, 0.5 * len(names) + 1.7)
    left = np.zeros(len(names))
    for i, (part, values) in enumerate(parts.items()):
        axes.barh(
            list(names), list(values), left=left.tolist(), height=0.68, label=part,
            color=COLOURS[i % 7], hatch=HATCHES[i % 7], edgecolor=PAPER, linewidth=0.6,
        )  # fmt: skip
        left = left + np.asarray(values, dtype=float)
    _lie_down(axes)
    axes.set(xlabel=x)
    headline(axes, title)
    figure.legend(
        loc="outside lower center", ncols=min(4, len(parts)), frameon=False, fontsize=9,
        labelcolor=INK,
    )  # fmt: skip
    told_parts = "; ".join(
        f"{name}: " + ", ".join(f"{part} {number(values[i])}" for part, values in parts.items())
        for i, name in enumerate(names)
    )
    return told(figure, f"Stacked bars of {x}. {told_parts}.")


def _lie_down(axes) -> None:  # type: ignore[no-untyped-def]
    """Names on the left, first one on top, a grid only along the values."""
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0, labelsize=9.5, labelcolor=INK)
