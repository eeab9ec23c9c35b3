"""Draw what no line should join: single measurements, and means with their errors.

named points, or named means with standard errors  ->  matplotlib Figure with `batchlab_alt`
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from batchlab.plots._canvas import COLOURS, INK, MARKERS, PAPER, blank, headline, number, tidy, told

__all__ = ["intervals", "scatter"]


def scatter(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, x: str, y: str
) -> Figure:
    """Named points (x, y) that are not joined: one micro-batch says nothing of the next."""
    figure, axes = blank(7, 4)
    for i, (name, (xs, ys)) in enumerate(series.items()):
        axes.plot(xs, ys, linestyle="none", color=COLOURS[i % 7], marker=MARKERS[i % 7],
                  markersize=4, alpha=0.8, label=name)  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    axes.set(xlabel=x, ylabel=y)
    axes.set_ylim(bottom=0)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    most = "; ".join(f"{name} reaches {number(max(ys))}" for name, (_, ys) in series.items())
    return told(figure, f"Points of {y} for each {x}: {most}.")


def intervals(
    measured: Mapping[str, tuple[float, ...]], *, title: str, x: str, margin: float = 0.0
) -> Figure:
    """Means with their standard errors {name: (mean, error)} and a line at zero.

    A bar is two standard errors to each side: where it crosses zero, zero is not ruled out. With
    {name: (mean, low, high)} it is the interval that a verdict was made of. `margin` is drawn as a
    band about zero: what lies inside it does not matter.
    """
    figure, axes = blank(7, 0.45 * len(measured) + 1.2)
    given = [tuple(map(float, one)) for one in measured.values()]
    ends = [(m, m - 2 * rest[0], m + 2 * rest[0]) if len(rest) == 1 else (m, *rest)
            for m, *rest in given]  # fmt: skip
    means, lows, highs = np.array(ends).T
    places = range(len(measured))
    if margin:
        axes.axvspan(-margin, margin, color=COLOURS[0], alpha=0.15, linewidth=0)
    axes.axvline(0, color=INK, linewidth=1)
    axes.errorbar(
        means, places, xerr=[means - lows, highs - means], fmt="o", color=INK, markersize=6,
        capsize=4, markerfacecolor=PAPER, markeredgewidth=1.6,
    )  # fmt: skip
    axes.set_yticks(list(places), list(measured))
    axes.invert_yaxis()
    axes.set(xlabel=x)
    axes.margins(y=0.25)
    tidy(axes)
    headline(axes, title)
    said = "; ".join(
        f"{name} {number(m)} ± {rest[0]:.2g}" if len(rest) == 1
        else f"{name} {number(m)}, {number(rest[0])} to {number(rest[1])}"
        for name, (m, *rest) in zip(measured, given, strict=True)
    )  # fmt: skip
    kind = "with standard errors" if len(given[0]) == 2 else "with intervals"
    band = f" A margin of {margin:g} to each side of zero is shaded." if margin else ""
    return told(figure, f"{x}, {kind}: {said}.{band}")
