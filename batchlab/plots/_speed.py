"""Figures of speed: useful tokens per second by rows, and where the time of one step went.

rates by rows, a diagnosis  ->  Picture
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from batchlab import units
from batchlab.plots._canvas import (
    COLOURS,
    FAINT,
    HATCH,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    Picture,
    blank,
    headline,
    many_rows,
    pad_style,
    second_unit,
    told,
)

if TYPE_CHECKING:
    from batchlab.doctor import Diagnosis

__all__ = ["lost_time", "throughput"]

SMALLEST = 0.0005  # share of a step below which a part is not drawn, as in `report`
DODGE = 0.05  # octaves between the marks of two layouts at the same rows
Rate = tuple[float, float, float]  # of a cell: overall, and of its slowest and fastest round


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
        f"{layout} "
        + ", ".join(f"{units.count(rate[0])} at {many_rows(n)}" for n, rate in p.items())
        for layout, p in measured.items()
    )
    ended = "".join(
        f" Out of memory, {layout}: {', '.join(many_rows(n) for n in rows)}."
        for layout, rows in (out_of_memory or {}).items()
    )
    knees = f" The knee lies at {_knee(knee)}." if knee is not None else ""
    return f"Lines of useful tokens per second against rows: {lines}.{knees}{ended}"


def _ends(out_of_memory: Mapping[str, Sequence[int]] | None) -> set[int]:
    return {rows for ended in (out_of_memory or {}).values() for rows in ended}


def _knee(rows: float) -> str:
    """Two digits are enough."""
    if rows < 1:
        return "below 1 row"
    return f"{units.count(rows) if rows >= 10 else f'{rows:.2g}'} rows"


def lost_time(diagnosis: "Diagnosis", *, title: str = "") -> Picture:
    """From the measured step down to useful compute: each part that was lost, and what is left.

    The unexplained rest is a bar of its own. It points back where prices add up to more than was
    measured.
    """
    total, subject = diagnosis.step_seconds, diagnosis.subject
    kept = ("useful", "together")  # a line of several reasons holds the useful work, too
    lost = [p for p in diagnosis.parts if p.cause not in (*kept, "unexplained")]
    lost = sorted((p for p in lost if p.seconds >= SMALLEST * total), key=lambda p: -p.seconds)
    useful = sum(p.seconds for p in diagnosis.parts if p.cause in kept)
    last = "forward and backward" if diagnosis.bounds else "useful compute"
    bars: list[tuple[str, float, float, dict[str, Any]]] = [
        ("measured step", 0.0, total, {"color": "#8A949E"})
    ]
    left = total
    for part in lost:
        style = {"color": COLOURS[5], "hatch": "///", "edgecolor": PAPER, "linewidth": 0}
        bars.append((part.name, left, -part.seconds, style))
        left -= part.seconds
    rest = useful - left if abs(useful - left) > 1e-9 * total else 0.0  # of rounding
    bars.append(("unexplained", left, rest, pad_style()))
    bars.append((last, 0.0, useful, {"color": REAL}))
    figure, axes = blank(7.6, 0.42 * len(bars) + 1.5)
    unit, name = second_unit(total)
    _draw_waterfall(axes, bars, unit, total)
    axes.set_xlabel(f"{name} of one step")
    headline(axes, title or f"Where one step goes: rows {subject.rows}, {subject.layout}")
    shown = ", ".join(
        f"{text} {units.duration(abs(width))} ({units.share(abs(width) / total)})"
        + (" more than measured" if text == "unexplained" and width > 0 else "")
        for text, _, width, _ in bars
    )
    return told(figure, f"Waterfall from the measured step down to {last}: {shown}.")


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
