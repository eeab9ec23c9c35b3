"""What figures and pictures draw today, mark for mark: a change of one is looked at.

A line of the record is a figure and a kind of mark: how many there are, and a checksum of where and
how they are drawn, to four digits. After a change that is wanted, `python -m tests.test_drawings`
writes the record anew, and the commit says why it changed.
"""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from batchlab import lengths, plots
from batchlab.cluster import Link, ranks
from tests import test_charts, test_learning_figures, test_pictures, test_plots, test_real_runs

GOLDEN = Path(__file__).parent / "golden" / "drawings.txt"
LEARNING = test_learning_figures
SCALES = {20: LEARNING.scale(50.0), 40: LEARNING.scale(200.0, faint=True)}
RULES = {"a": {1.0: 1e-3, 2.0: 2e-3, 4.0: 4e-3}, "b": {1.0: 1e-3, 2.0: 1.4e-3}}
SERVED = [
    {"policy": policy, "rate": rate, "first_token_p99_seconds": rate / 100, "overloaded": rate > 1}
    for policy in ("static", "chunked") for rate in (1.0, 2.0)
]  # fmt: skip
FIGURES = test_plots.FIGURES | test_charts.FIGURES | test_real_runs.FIGURES
FIGURES |= {
    "intervals": lambda: plots.intervals({"a": (0.02, 0.015)}, title="t", x="nats", margin=0.01),
    "noise": lambda: plots.noise_along(SCALES, exact={20: 48.0}, batch=16),
    "overview": lambda: plots.overview(lengths.embedded(), rows=8, row_length=2048),
    "points": lambda: plots.scatter({"a": ([1, 2], [5, 9])}, title="t", x="x", y="y"),
    "rules": lambda: plots.rules(RULES, refused=["c"]),
    "served": lambda: plots.served(SERVED),
    "steps": lambda: plots.steps_and_examples(LEARNING.CURVE, {25: 11_000, 2500: 1_100}),
    "world": lambda: plots.world(world()),
}
PICTURES = {f"picture of {name}": made for name, made in test_pictures.MADE.items()}
MARKS = (Line2D, Patch, Collection, Text)


def world():
    def passed_on(rank):
        rank.compute(0.3 if rank.rank else 0.1)
        rank.all_reduce([1.0] * 8)

    return ranks.run(passed_on, 3, profile=Link("drawn", 1e3, "by hand"))


def digits(numbers):
    return [f"{0.0 + one:.4g}" for one in np.asarray(numbers, float).ravel()]


def colours(found):
    return [to_hex(one, keep_alpha=True) for one in found]


def looks(mark):
    """Where and how a mark is drawn."""
    drawn = [mark.get_zorder(), mark.get_alpha(), mark.get_visible()]
    match mark:
        case Text():
            drawn += [mark.get_text(), *digits([*mark.get_position(), mark.get_fontsize()])]
            drawn += [mark.get_ha(), mark.get_va(), mark.get_rotation(), mark.get_fontweight()]
            drawn += [mark.get_color(), *digits(getattr(mark, "xy", []))]
        case Line2D():
            drawn += [*digits(mark.get_xydata()), mark.get_linestyle(), mark.get_marker()]
            drawn += [*colours([mark.get_color(), mark.get_markerfacecolor()])]
            drawn += digits([mark.get_linewidth(), mark.get_markersize()])
        case Patch():
            path = mark.get_patch_transform().transform_path(mark.get_path())
            drawn += [*digits(path.vertices), *digits(mark.get_linewidth()), mark.get_hatch()]
            drawn += colours([mark.get_facecolor(), mark.get_edgecolor()])
        case Collection():
            for path in mark.get_paths():
                drawn += digits(path.vertices)
            drawn += [*digits(mark.get_offsets()), *digits(mark.get_linewidth()), mark.get_hatch()]
            drawn += colours([*mark.get_facecolor(), *mark.get_edgecolor()])
    return drawn


def frame(axes):
    """What axes are besides their marks: labels, scales, limits that were set, places of ticks."""
    drawn = [axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")]
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        drawn += [axis.get_scale(), *digits(limits), axis.get_tick_params().items()]
        if isinstance(axis.get_major_locator(), FixedLocator):
            places = axis.get_ticklocs()
            drawn += [*digits(places), *axis.get_major_formatter().format_ticks(places)]
    if legend := axes.get_legend():
        drawn += [one.get_text() for one in legend.get_texts()]
        drawn += [*digits(legend.get_texts()[0].get_fontsize()), legend.get_frame_on()]
    return drawn


def noted(name, kind, drawn):
    held = hashlib.sha256(repr(drawn).encode()).hexdigest()[:8]
    return f"{name}, {kind}: {len(drawn)}, {held}"


def lines_of(name):
    """The lines of one figure or picture."""
    if name in PICTURES:
        picture = PICTURES[name]()
        drawings = [drawing.svg(words, "key") for drawing, words in picture.frames]
        return [noted(name, "drawings", drawings)]
    figure = FIGURES[name]()
    size = digits(figure.get_size_inches())
    lines = [noted(name, "words", [figure.batchlab_alt]), noted(name, "inches", size)]
    lines.append(noted(name, "axes", [frame(axes) for axes in figure.axes]))
    for kind in MARKS:
        marks = [mark for axes in figure.axes for mark in axes.get_children()]
        drawn = [looks(mark) for mark in marks if isinstance(mark, kind)]
        lines.append(noted(name, kind.__name__, drawn))
    return lines


@pytest.mark.parametrize("name", [*FIGURES, *PICTURES])
def test_every_mark_is_drawn_as_it_was(name):
    golden = [one for one in GOLDEN.read_text().splitlines() if one.startswith(f"{name}, ")]
    assert lines_of(name) == golden


def test_the_mistakes_beside_it_are_seen():
    def drawn(**bars):
        figure = plots.bars(bars, title="t", x="share")
        return figure, [looks(mark) for mark in figure.axes[0].patches]

    figure, before = drawn(a=0.5, b=0.2)
    assert drawn(a=0.5, b=0.2)[1] == before != drawn(a=0.5, b=0.2001)[1]
    figure.axes[0].patches[0].set_hatch("x")
    assert [looks(mark) for mark in figure.axes[0].patches] != before


if __name__ == "__main__":
    made = [line for name in [*FIGURES, *PICTURES] for line in lines_of(name)]
    GOLDEN.write_text("\n".join(made) + "\n")
    print(f"wrote: {GOLDEN}")
