"""Figures of public runs, with the notice that belongs to them: it cannot be left out.

a part of `records.PublicRuns`  ->  Credited picture
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from batchlab.plots._canvas import (
    COLOURS,
    HATCH,
    INK,
    MARKERS,
    PAPER,
    REAL,
    STYLES,
    Credited,
    blank,
    headline,
    number,
    told,
)
from batchlab.plots._learning import plain_logs
from batchlab.records import Curve, PublicRuns, Submission
from batchlab.roofline import utilisation

if TYPE_CHECKING:
    from batchlab.noise import CriticalFit

__all__ = ["public_curves", "public_ladder", "public_samples", "public_utilisation"]

DERIVED = "(derived, unverified)"


def public_ladder(
    record: PublicRuns, *, title: str = "More devices: fewer minutes, more device-hours"
) -> Credited:
    """Minutes, and device-hours below them, by devices; both axes logarithmic.

    Every submission of the record, which must be of one benchmark. Those of one submitter and
    device at three numbers of devices or more are joined; at four or more with the batch at each.
    """
    some = [one for one in record.submissions if one.minutes is not None]
    _one_benchmark(some)
    figure, (top, low) = _paper(record, some, 7, 6.6, nrows=2, sharex=True)
    devices = sorted({one.device for one in some})
    for i, device in enumerate(devices):
        look: dict[str, Any] = {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "markersize": 5}
        look["markerfacecolor"] = look["color"] if i < 7 else PAPER
        here = [one for one in some if one.device == device]
        for axes, value in ((top, "minutes"), (low, "device_hours")):
            axes.plot([one.devices for one in here], [getattr(one, value) for one in here],
                      linestyle="none", alpha=0.8, label=device, **look)  # fmt: skip
        for line in _ladders(here):
            at = [one.devices for one in line]
            top.plot(at, [one.minutes for one in line], color=look["color"], linewidth=1.3)
            low.plot(at, [one.device_hours for one in line], color=look["color"], linewidth=1.3)
            for one in line if len(line) > 3 else ():
                top.annotate(f"B {one.batch}", (one.devices, one.minutes), xytext=(5, 5),
                             textcoords="offset points", fontsize=8.5, color=INK)  # fmt: skip
    top.set(xscale="log", yscale="log", ylabel="minutes to the target")
    low.set(xscale="log", yscale="log", xlabel="devices", ylabel=f"device-hours {DERIVED}")
    for axes in (top, low):
        plain_logs(axes)
    headline(top, title)
    headline(low, "B: sequences of a step")
    top.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    said = "; ".join(
        f"{one.label}, batch {one.batch}: {number(one.minutes or 0)} minutes, "
        f"{number(one.device_hours or 0)} device-hours"
        for one in some
    )
    return told(figure, f"Minutes and device-hours by devices. {said}.")  # type: ignore[return-value]


def public_samples(
    record: PublicRuns, fit: "CriticalFit", *, title: str = "Samples to the target grow"
) -> Credited:
    """Samples to the target by batch: a bar from evaluation to evaluation a seed, and the laws.

    The seeds are the references of the record, which `fit` was fitted to.
    """
    points = record.seeds()
    if sorted(points) != sorted(fit.seeds):
        raise ValueError(
            f"the fit is of batches {sorted(fit.seeds)}, the record has {sorted(points)}"
        )
    figure, axes = _paper(record, record.references, 7, 4.2)
    for batch, some in points.items():
        for place, (least, most) in enumerate(sorted(some)):
            at = batch * 1.012 ** (place - len(some) / 2)
            axes.plot([at, at], [least, most], color=REAL, linewidth=1.4, alpha=0.6)
    batches = np.geomspace(min(points) / 1.3, max(points) * 1.3, 200)
    axes.plot(batches, [fit.curve.examples(b) for b in batches], STYLES[0], color=INK,
              label=f"hyperbola, p = {fit.p_hyperbola:.2g}")  # fmt: skip
    axes.plot(batches, [fit.power(b) for b in batches], STYLES[1], color=HATCH,
              label=f"power law, p = {fit.p_power:.2g}")  # fmt: skip
    axes.axvline(fit.critical_batch, color=INK, linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="sequences of a step",
             ylabel=f"sequences to the target {DERIVED}")  # fmt: skip
    plain_logs(axes)
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    said = "; ".join(
        f"batch {b}: {number(float(np.min(some)))} to {number(float(np.max(some)))}"
        for b, some in points.items()
    )
    return told(figure, f"Sequences to the target by batch, with {fit}. Seeds: {said}.")  # type: ignore[return-value]


def public_curves(
    record: PublicRuns, curves: Sequence[Curve], *, title: str = "Loss by samples, and by minutes"
) -> Credited:
    """Validation loss of some runs by sequences, and below by minutes; the target is a line."""
    curves = sorted(curves, key=lambda one: (one.run.batch, one.run.devices))
    _one_benchmark([one.run for one in curves])
    target = record.benchmarks[curves[0].run.benchmark].target
    figure, (top, low) = _paper(record, curves, 7, 6.6, nrows=2)
    for i, one in enumerate(curves):
        look: dict[str, Any] = {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "markersize": 4}
        name = f"batch {one.run.batch}, {one.run.devices:,} {one.run.device}"
        top.plot(one.samples, one.losses, STYLES[i % 7], label=name, **look)
        low.plot([s / 60 for s in one.seconds], one.losses, STYLES[i % 7], **look)
    for axes in (top, low):
        axes.axhline(target, color=INK, linestyle=":", linewidth=1)
        axes.set_ylabel("validation loss")
        axes.xaxis.set_major_formatter("{x:,g}")
    top.set_xlabel("sequences")
    low.set(xlabel="minutes", xscale="log")
    plain_logs(low, x_only=True)
    headline(top, title)
    headline(low, "The same runs")
    top.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    said = "; ".join(
        f"{one.label}, batch {one.run.batch}: {number(one.samples[-1])} sequences and "
        f"{number(one.seconds[-1] / 60)} minutes to {one.losses[-1]:.3f}"
        for one in curves
    )
    return told(figure, f"Loss curves down to {target}. {said}.")  # type: ignore[return-value]


def public_utilisation(
    record: PublicRuns, *, title: str = "Work of a device and step decides"
) -> Credited:
    """Share of the bf16 peak by the FLOPs that a device has in a step; hollow: FP4.

    Devices without a sourced peak are left out.
    """
    some = [one for one in record.submissions
            if one.device in utilisation.NAMES and one.samples_per_second]  # fmt: skip
    figure, axes = _paper(record, some, 7, 4.4)
    for i, device in enumerate(sorted({one.device for one in some})):
        for four in (False, True):
            here = [one for one in some
                    if one.device == device and (one.precision == "FP4") == four]  # fmt: skip
            axes.plot(
                [_work(record, one) for one in here], [utilisation.of(one) for one in here],
                linestyle="none", marker=MARKERS[i % 7], color=COLOURS[i % 7], markersize=6,
                markerfacecolor=PAPER if four else COLOURS[i % 7], alpha=0.8,
                label=None if four else device,
            )  # fmt: skip
    axes.set(xscale="log", ylabel=f"share of the bf16 peak {DERIVED}",
             xlabel="FLOPs of a device and step, in units of 10¹²")  # fmt: skip
    plain_logs(axes, x_only=True)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    headline(axes, title)
    axes.legend(fontsize=9, framealpha=0.9, edgecolor="none", labelcolor=INK)
    said = "; ".join(f"{one.label}: {100 * utilisation.of(one):.0f} %" for one in some)
    return told(figure, f"Utilisation by the work of a device and step. {said}.")  # type: ignore[return-value]


def _paper(
    record: PublicRuns, rows: Sequence[Any], width: float, height: float, **grid: Any
) -> tuple[Credited, Any]:
    """Paper with the notice and the rows that are drawn."""
    if not rows:
        raise ValueError("no public run is left to draw: ask for less at once")
    figure, axes = blank(width, height, kind=Credited, **grid)
    credit = record.credit(rows)
    figure.batchlab_credit, figure.batchlab_below = credit.text, credit.html
    return figure, axes


def _one_benchmark(rows: Sequence[Any]) -> None:
    names = sorted({one.benchmark for one in rows})
    if len(names) > 1:
        raise ValueError(f"{', '.join(names)} are never compared: ask for one `benchmark`")


def _ladders(some: Sequence[Submission]) -> list[list[Submission]]:
    """The submissions of one submitter and round at three numbers of devices or more."""
    found: dict[tuple[str, str], list[Submission]] = defaultdict(list)
    for one in sorted(some, key=lambda one: one.devices):
        found[one.submitter, one.round].append(one)
    return [line for line in found.values() if len({one.devices for one in line}) >= 3]


def _work(record: PublicRuns, one: Submission) -> float:
    return (record.benchmarks[one.benchmark].teraflops or 0) * one.batch / one.devices
