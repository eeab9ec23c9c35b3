"""Figures draw what they are given, say it in words, and load no window system."""

import io
import subprocess
import sys

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab import plots

LENGTHS = [5, 3, 8, 2]
FIGURES = {
    "rectangle": lambda: plots.rectangle(LENGTHS),
    "waste": lambda: plots.waste_by_rows(ln.gsm8k(), [1, 2, 4, 8], measured={8: 0.37}),
    "histogram": lambda: plots.lengths_histogram(ln.gsm8k()),
    "packed": lambda: plots.packed_rows([[5, 3], [8]], 8),
    "lines": lambda: plots.lines({"a": ([1, 2], [3, 4])}, title="t", x="x", y="y", log_x=True),
    "bars": lambda: plots.bars({"a": 0.5, "b": 0.2}, title="t", x="share", of_one=True),
    "stacked": lambda: plots.stacked({"p": [1, 2], "q": [3, 4]}, ["a", "b"], title="t", x="s"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_has_its_text(name):
    figure = FIGURES[name]()
    target = io.BytesIO()
    figure.savefig(target, format="png")
    assert len(target.getvalue()) > 2000
    assert len(figure.batchlab_alt) > 20
    (axes,) = figure.axes
    assert axes.get_xlabel() and axes.get_title()


def test_the_rectangle_draws_real_tokens_and_padding_to_one_width():
    (axes,) = plots.rectangle(LENGTHS).axes
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(2, 4)
    assert widths[0].tolist() == LENGTHS
    assert widths.sum(axis=0).tolist() == [8, 8, 8, 8]
    assert "14 of 32" not in axes.get_title() and "43.8 %" in axes.get_title()


def test_the_numbers_of_the_text_are_those_of_the_data():
    assert "18 of 32 slots hold real tokens" in plots.rectangle(LENGTHS).batchlab_alt


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for name in ("a.svg", "b.svg"):
        plots.save(FIGURES["rectangle"](), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_drawing_needs_no_pyplot():
    code = "import sys; from batchlab import plots; plots.rectangle([3, 2]); "
    code += "print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
