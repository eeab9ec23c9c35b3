"""Figures of plain numbers: lines, bars, a law beside what was measured.

names and numbers  ->  Figure
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from batchlab import units
from batchlab.plots._canvas import (
    COLOURS,
    HATCHES,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    blank,
    headline,
    number,
    told,
)

__all__ = ["bars", "before_after", "law", "lines", "loss_curves", "stacked"]

Series = tuple[Sequence[float], Sequence[float]]


def lines(
    series: Mapping[str, Series],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Figure:
    """Named lines of (x, y): throughput against rows, loss against tokens.

    On a logarithmic axis equal ways are equal factors; `log_y` leaves room for names at the top.
    """
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
    if log_y:
        axes.set_yscale("log", base=2)
        axes.set_ylim(top=4 * axes.get_ylim()[1])
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
    figure.legend(
        loc="outside lower center", ncols=2, frameon=False, fontsize=9, labelcolor=INK,
    )  # fmt: skip
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
