"""Figures of what a batch does to learning: steps against examples, noise along a run, rules.

curves, estimates, rates by batch  ->  Picture
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from batchlab.plots._canvas import (
    COLOURS,
    HATCH,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    Picture,
    blank,
    headline,
    number,
    told,
)

if TYPE_CHECKING:
    from batchlab.noise import NoiseScale, StepsToTarget

__all__ = ["noise_along", "plain_logs", "rules", "steps_and_examples"]


def steps_and_examples(
    curve: "StepsToTarget",
    measured: Mapping[int, float] | None = None,
    *,
    title: str = "Fewer steps cost more examples",
    unit: str = "sequences",
) -> Picture:
    """Steps against examples to one target, both logarithmic; the bend is the critical batch.

    `measured` are {batch: steps}; each point is labelled with its batch.
    """
    figure, axes = blank(7, 4.4)
    points = dict(measured or {})
    ends = [*points, curve.critical_batch / 30, curve.critical_batch * 30]
    batches = np.geomspace(min(ends), max(ends), 200)
    steps = np.array([curve.steps(b) for b in batches])
    axes.plot(batches * steps, steps, color=REAL, linewidth=2, label="steps = a + b / batch")
    axes.axhline(curve.least_steps, color=INK, linestyle=":", linewidth=1)
    axes.axvline(curve.least_examples, color=INK, linestyle=":", linewidth=1)
    axes.plot(
        [2 * curve.least_examples], [2 * curve.least_steps], "D", color=HATCH, markersize=8,
        label=f"critical batch {number(round(curve.critical_batch))}: both twice their least",
    )  # fmt: skip
    if points:
        axes.plot(
            [b * s for b, s in points.items()], list(points.values()), "o", color=INK,
            markerfacecolor=PAPER, markeredgewidth=1.5, markersize=6, label="measured, by batch",
        )  # fmt: skip
        for batch, count in points.items():
            axes.annotate(
                number(batch), (batch * count, count), xytext=(6, 5), color=INK, fontsize=8.5,
                textcoords="offset points",
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel=f"{unit} to the target", ylabel="optimizer steps")
    plain_logs(axes)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    seen = "; ".join(f"batch {number(b)}: {number(s)} steps" for b, s in points.items())
    return told(
        figure,
        f"Hyperbola of optimizer steps against {unit} to one target: at least "
        f"{number(curve.least_steps)} steps and {number(curve.least_examples)} {unit}, critical "
        f"batch {number(round(curve.critical_batch))}. {seen}",
    )


def noise_along(
    estimates: Mapping[int, "NoiseScale"],
    *,
    exact: Mapping[int, float] | None = None,
    batch: float | None = None,
    title: str = "Gradient noise along training",
    x: str = "optimizer steps",
) -> Picture:
    """Noise scales with their intervals; an arrow where an interval has no upper end.

    `exact` are known values, `batch` the sequences of a step that the run really takes.
    """
    figure, axes = blank(7, 4.2)
    drawn = {at: one for at, one in estimates.items() if one.scale > 0}
    highest = max(
        [one.high if one.enough else max(one.low, one.scale) for one in drawn.values()], default=1.0
    )
    for at, one in drawn.items():
        low = max(one.low, one.scale / 100)
        top = one.high if one.enough else 2 * highest
        axes.plot([at, at], [low, top], color=REAL, linewidth=1.6)
        axes.plot([at], [top], "_" if one.enough else "^", color=REAL, markersize=8)
        axes.plot([at], [low], "_", color=REAL, markersize=8)
    axes.plot(
        list(drawn), [one.scale for one in drawn.values()], "o-", color=REAL, linewidth=1.2,
        markerfacecolor=PAPER, markeredgewidth=1.6, label="estimate and its interval",
    )  # fmt: skip
    if exact:
        axes.plot(list(exact), list(exact.values()), "D", color=HATCH, label="exact")
    if batch is not None:
        axes.axhline(batch, color=INK, linestyle="--", linewidth=1.2,
                     label=f"batch of this run: {number(batch)} sequences")  # fmt: skip
    axes.set(xlabel=x, ylabel="noise scale, sequences", yscale="log")
    plain_logs(axes, y_only=True)
    axes.xaxis.set_major_formatter("{x:,g}")
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    said = "; ".join(
        f"{at}: {number(one.scale)} ({number(one.low)} to "
        f"{number(one.high) if one.enough else 'no upper end'})"
        for at, one in estimates.items()
    )
    return told(figure, f"Noise scale in sequences against {x}, with intervals. {said}.")


def rules(
    rates: Mapping[str, Mapping[float, float]],
    *,
    refused: Sequence[str] = (),
    title: str = "What each rule makes of the learning rate",
    x: str = "sequences per step",
) -> Picture:
    """Learning rates by batch, one line a rule: {rule: {batch: rate}}.

    A line ends in a cross where its rule is refused before the last batch; `refused` names rules
    that hold nowhere here.
    """
    if not rates:
        raise ValueError("no rule holds for this change, so there is nothing to draw")
    figure, axes = blank(7, 4.2)
    last = max(max(points) for points in rates.values())
    for i, (name, points) in enumerate(rates.items()):
        at, values = list(points), list(points.values())
        axes.plot(at, values, STYLES[i % 7], color=COLOURS[i % 7], linewidth=1.9, label=name)
        ends = max(points) < last
        axes.plot(
            at[-1:], values[-1:], "X" if ends else MARKERS[i % 7], color=COLOURS[i % 7],
            markersize=9 if ends else 6, markeredgecolor=INK if ends else COLOURS[i % 7],
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel="learning rate")
    plain_logs(axes)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    if refused:
        axes.annotate(
            f"refused here: {', '.join(refused)}", (0.99, 0.02), xycoords="axes fraction",
            ha="right", fontsize=8.5, color=INK,
        )  # fmt: skip
    said = "; ".join(
        f"{name} {number(list(points.values())[-1])} at {number(max(points))}"
        + (" and refused beyond" if max(points) < last else "")
        for name, points in rates.items()
    )
    return told(figure, f"Learning rate against {x}, one line a rule: {said}.")


def plain_logs(axes: Axes, *, x_only: bool = False, y_only: bool = False) -> None:
    """Logarithmic axes with numbers that people read: no powers of ten."""
    for axis in (*([] if x_only else [axes.yaxis]), *([] if y_only else [axes.xaxis])):
        low, high = axis.get_view_interval()
        span = high / low
        steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if span < 15 else (1, 2, 5) if span < 200 else (1,)
        ticks = [
            m * 10.0**n
            for n in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for m in steps
        ]
        axis.set_ticks([t for t in ticks if low * 0.999 <= t <= high * 1.001])
        axis.set_major_formatter(lambda value, _: _short(value))
        axis.set_minor_locator(NullLocator())


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:g} {letter}"
    return f"{value:,g}"
