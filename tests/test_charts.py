"""Figures of what a step costs draw the bytes, rates and seconds they were given, and say them."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from batchlab import doctor, plots, units
from batchlab.plots import _canvas as canvas
from tests.planted import cell, change, full, sweep, with_side

STACK = {
    1: {"parameters": 4 * units.MIB, "activations": 2 * units.MIB},
    4: {"parameters": 4 * units.MIB, "activations": 8 * units.MIB, "logits": 1 * units.MIB},
}
RATES = {
    "padded": {1: (90.0, 80.0, 95.0), 2: (120.0, 120.0, 120.0)},
    "packed": {1: (90.0, 90.0, 90.0), 2: (150.0, 140.0, 155.0), 4: (200.0, 190.0, 201.0)},
}
SIDE = {"optimizer_seconds": 0.1, "input_seconds": 0.05}


def diagnosis(noise=0.0):
    return doctor.diagnose([with_side(one, **SIDE) for one in sweep(cell, noise=noise)])


FIGURES = {
    "memory": lambda: plots.memory_stack(STACK, limit_bytes=10 * units.MIB),
    "throughput": lambda: plots.throughput(RATES, knee_rows=2.5),
    "lost time": lambda: plots.lost_time(diagnosis()),
    "predicted": lambda: plots.predicted_measured({"a": [(2e6, 2e6)]}),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_cost_can_be_saved_and_has_its_text(name, tmp_path):
    figure = FIGURES[name]()
    plots.save(figure, tmp_path / "a.png")
    plots.save(figure, tmp_path / "a.svg")
    assert len(figure.batchlab_alt) > 60
    for axes in figure.axes:
        assert axes.get_xlabel() and axes.get_title(loc="left")


def heights(axes):
    return np.array([bar.get_height() for bar in axes.patches])


def test_the_stack_holds_every_kind_and_ends_at_its_peak():
    (axes,) = plots.memory_stack(STACK).axes
    by_kind = heights(axes).reshape(3, 2)
    assert by_kind.tolist() == [[4, 4], [2, 8], [0, 1]]
    tops = [bar.get_y() + bar.get_height() for bar in axes.patches[-2:]]
    assert tops == [6, 13], "each kind stands on the one before"
    assert [text.get_text() for text in axes.texts] == ["6.00 MiB", "13.00 MiB"]


def test_kinds_differ_in_grey_too():
    """Neighbours of a stack differ in hatching; colour alone would vanish on paper."""
    (axes,) = plots.memory_stack(STACK).axes
    hatches = [bar.get_hatch() for bar in axes.patches[::2]]
    assert len(set(hatches)) == 3
    grey = [np.dot(to_rgb(colour), (0.299, 0.587, 0.114)) for colour in canvas.COLOURS[:3]]
    assert abs(grey[0] - grey[1]) > 0.2, "the first two differ in brightness as well"


def test_the_limit_and_measured_peaks_stand_beside_the_prediction():
    figure = plots.memory_stack(STACK, limit_bytes=10 * units.MIB, measured_bytes={4: 12e6})
    (axes,) = figure.axes
    marks = next(line for line in axes.lines if line.get_label() == "measured")
    assert marks.get_xdata().tolist() == [1] and marks.get_ydata()[0] == 12e6 / units.MIB
    assert "limit is 10.00 MiB" in figure.batchlab_alt
    assert "measured 11.44 MiB" in figure.batchlab_alt
    with pytest.raises(ValueError, match=r"measured rows without a bar: \[8\]"):
        plots.memory_stack(STACK, measured_bytes={8: 1.0})


def test_throughput_draws_each_rate_with_its_spread():
    figure = plots.throughput(RATES, knee_rows=2.5)
    (axes,) = figure.axes
    drawn = {c.get_label(): c.lines[0].get_xydata() for c in axes.containers}
    assert drawn["packed"][:, 1].tolist() == [90, 150, 200]
    assert drawn["packed"][:, 0] == pytest.approx([1, 2, 4], rel=0.02)
    assert drawn["padded"][0, 0] < 1 < drawn["packed"][0, 0], "spreads stand side by side"
    ends = axes.containers[0].lines[2][0].get_segments()[0]
    assert ends[:, 1].tolist() == [80, 95], "from the slowest to the fastest round"
    assert "padded 90 at 1 row, 120 at 2 rows" in figure.batchlab_alt
    assert "The knee lies at 2.5 rows" in figure.batchlab_alt


@pytest.mark.parametrize(
    ("knee", "shown", "drawn"),
    [(2.5, "knee: 2.5 rows", True), (0.2, "← knee: below 1 row", False),
     (300.0, "knee: 300 rows →", False)],
)  # fmt: skip
def test_a_knee_outside_the_figure_is_an_arrow_and_not_a_line(knee, shown, drawn):
    (axes,) = plots.throughput(RATES, knee_rows=knee).axes
    assert [text.get_text() for text in axes.texts] == [shown]
    lines = [line.get_xdata() for line in axes.lines if line.get_linestyle() == "--"]
    assert ([knee, knee] in [list(one) for one in lines]) == drawn
    assert axes.get_xlim()[1] < 10, "the rows stay readable"


def test_a_cell_that_ran_out_of_memory_is_a_cross_and_no_rate():
    figure = plots.throughput(RATES, out_of_memory={"padded": [4, 8]})
    (axes,) = figure.axes
    crosses = next(line for line in axes.lines if line.get_label() == "out of memory")
    assert list(crosses.get_xdata()) == [4, 8]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "4", "8"]
    assert "Out of memory, padded: 4 rows, 8 rows." in figure.batchlab_alt


def test_the_waterfall_falls_from_the_measured_step_to_useful_compute():
    found = diagnosis(noise=0.02)
    (axes,) = plots.lost_time(found).axes
    bars = axes.patches
    total = found.step_seconds * 1e3  # milliseconds
    assert bars[0].get_width() == pytest.approx(total)
    for above, below in itertools.pairwise(bars[1:-1]):
        assert below.get_x() == pytest.approx(above.get_x() + above.get_width())
    useful = sum(p.seconds for p in found.parts if p.cause == "useful") * 1e3
    assert bars[-1].get_width() == pytest.approx(useful)
    assert bars[-2].get_x() + bars[-2].get_width() == pytest.approx(useful)
    lost = sum(bar.get_width() for bar in bars[1:-1])
    assert total + lost == pytest.approx(useful), "the bars add up"
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "measured step" and names[-2:] == ["unexplained", "useful compute"]
    assert names[1] == "optimizer", "the largest loss first"


def test_what_is_not_explained_is_shown_in_either_direction():
    for seconds, sign in ((1.02, "−"), (0.98, "+")):
        cells = [with_side(one, **SIDE) for one in sweep(full)]
        cells[-1] = change(cells[-1], seconds=cells[-1].seconds * seconds)
        found = doctor.diagnose(cells)
        figure = plots.lost_time(found)
        (axes,) = figure.axes
        bar = axes.patches[-2]
        assert bar.get_width() == pytest.approx(-1e3 * found.unexplained_seconds)
        assert axes.texts[-2].get_text().startswith(sign) and bar.get_hatch()
        assert ("more than measured" in figure.batchlab_alt) == (sign == "+")


def test_predictions_stand_beside_the_diagonal_with_their_error_in_per_cent():
    figure = plots.predicted_measured({"a": [(110.0, 100.0), (95.0, 100.0)]}, of="seconds")
    left, right = figure.axes
    assert left.lines[0].get_xydata().tolist() == [[110, 100], [95, 100]]
    assert right.lines[0].get_ydata() == pytest.approx([10, -5])
    ends = next(line for line in left.lines if line.get_label() == "predicted = measured")
    assert ends.get_xdata().tolist() == ends.get_ydata().tolist()
    assert "Off by 7.5 % (median), +10.0 % at worst" in right.get_title(loc="left")
    assert "+10.0 %, -5.0 %" in figure.batchlab_alt


@pytest.mark.parametrize("largest", [7, 9, 500])
def test_near_and_far_values_get_an_axis_with_numbers_on_it(largest):
    figure = plots.predicted_measured({"a": [(1.0, 1.01), (float(largest), 1.02 * largest)]})
    figure.canvas.draw()
    for axes in figure.axes:
        assert sum(bool(text.get_text()) for text in axes.get_xticklabels()) >= 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.predicted_measured({}), "pairs of positive bytes are needed"),
        (lambda: plots.predicted_measured({"a": [(0.0, 1.0)]}), "pairs of positive bytes"),
        (lambda: plots.predicted_measured({"a": [(1, 1)]}, of="m"), "bytes or seconds, got 'm'"),
        (lambda: plots.memory_stack({}), "no rows to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
