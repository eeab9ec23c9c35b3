"""Points stay apart, and a mean is drawn with its error."""

import pytest

from batchlab import plots


def test_points_are_not_joined_and_each_is_drawn():
    figure = plots.scatter({"a": ([1, 2, 3], [5, 1, 9])}, title="Slots", x="micro-batch", y="slots")
    (line,) = figure.axes[0].lines
    assert line.get_linestyle() == "None" and line.get_marker() not in ("", "None", None)
    assert line.get_xydata().tolist() == [[1, 5], [2, 1], [3, 9]]
    assert figure.batchlab_alt == "Points of slots for each micro-batch: a reaches 9."


def test_an_interval_is_two_standard_errors_to_each_side():
    measured = {"windows": (0.02, 0.015), "longest first": (0.5, 0.02)}
    figure = plots.intervals(measured, title="Above shuffled", x="nats")
    (bars,) = figure.axes[0].containers
    drawn = [segment[:, 0].tolist() for segment in bars.lines[2][0].get_segments()]
    assert drawn == [pytest.approx([-0.01, 0.05]), pytest.approx([0.46, 0.54])]
    assert figure.batchlab_alt == (
        "nats, with standard errors: windows 0.02 ± 0.015; longest first 0.5 ± 0.02."
    )


def test_an_interval_of_a_verdict_is_drawn_as_it_is_with_its_margin():
    """The mistake beside the law: two errors where Student's t decided."""
    measured = {"equal steps": (0.037, -0.002, 0.075)}
    figure = plots.intervals(measured, title="Large minus small", x="gap", margin=0.01)
    (bars,) = figure.axes[0].containers
    ((low, high),) = [one[:, 0].tolist() for one in bars.lines[2][0].get_segments()]
    assert (low, high) == pytest.approx((-0.002, 0.075))
    (band,) = figure.axes[0].patches
    assert band.get_extents().width > 0 and band.get_x() == pytest.approx(-0.01)
    assert figure.batchlab_alt == (
        "gap, with intervals: equal steps 0.037, -0.002 to 0.075. "
        "A margin of 0.01 to each side of zero is shaded."
    )
