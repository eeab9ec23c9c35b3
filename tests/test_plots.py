"""Figures draw what they are given, say it in words, and load no window system."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from batchlab import lengths as ln
from batchlab import packing, padding, plots, records
from batchlab.doctor import throughput
from batchlab.report import figures

LENGTHS = [5, 3, 8, 2]
EVENTS = [("forward", {"weights": 1, "activations": 2}), ("backward", {"weights": 1})]
FIGURES = {
    "rectangle": lambda: plots.rectangle(LENGTHS),
    "two rectangles": lambda: plots.rectangle(LENGTHS, [[0, 1], [2, 3]]),
    "waste": lambda: plots.waste_by_rows(ln.gsm8k(), [1, 2, 4, 8], measured={8: 0.37}),
    "histogram": lambda: plots.lengths_histogram(ln.gsm8k()),
    "packed": lambda: plots.packed_rows([[5, 3], [8]], 8),
    "packing": lambda: plots.packing_rows(packing.pack(ln.gsm8k(), 2048)),
    "lines": lambda: plots.lines({"a": ([1, 2], [3, 4])}, title="t", x="x", y="y", log_x=True),
    "loss": lambda: plots.loss_curves({"a": [3, 2.5], "b": ([1, 4], [3, 2.4])}),
    "law": lambda: plots.law(
        {"l": ([1, 4], [2, 1])}, {1: (2.1, 0.1), 4: (1.0, 0.02)}, title="t", x="rows", y="noise"
    ),
    "bars": lambda: plots.bars({"a": 0.5, "b": 0.2}, title="t", x="share", of_one=True),
    "before": lambda: plots.before_after({"padded": (3, 2.5)}, title="t", x="seconds"),
    "stacked": lambda: plots.stacked({"p": [1, 2], "q": [3, 4]}, ["a", "b"], title="t", x="s"),
    "strips": lambda: plots.step_strips({"2 x 3": [2, 2, 2]}, 6, title="t", x="rows"),
    "timeline": lambda: plots.timeline(EVENTS, title="t", limit=2.5),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_can_be_drawn_and_has_its_text(name):
    figure = FIGURES[name]()
    target = io.BytesIO()
    figure.savefig(target, format="png")
    assert len(target.getvalue()) > 2000
    assert len(figure.batchlab_alt) > 20
    (axes,) = figure.axes
    assert axes.get_xlabel() or axes.get_ylabel()
    assert axes.get_title(loc="left")


def widths(axes):
    return np.array([bar.get_width() for bar in axes.patches])


def test_a_law_of_one_half_is_a_straight_line_and_a_bar_is_two_standard_errors():
    rows, noise = [1, 4, 16], [4, 2, 1]
    (axes,) = plots.law({"l": (rows, noise)}, {4: (2.2, 0.3)}, title="t", x="x", y="y").axes
    drawn = axes.transScale.transform(axes.lines[0].get_xydata())
    slopes = np.diff(drawn[:, 1]) / np.diff(drawn[:, 0])
    assert np.allclose(slopes, slopes[0])
    (low, high) = axes.collections[0].get_segments()[0][:, 1]
    assert np.allclose([low, high], [1.6, 2.8])


def test_the_rectangle_draws_real_tokens_and_padding_to_one_width():
    (axes,) = plots.rectangle(LENGTHS).axes
    real, pads = widths(axes).reshape(2, 4)
    assert real.tolist() == LENGTHS
    assert (real + pads).tolist() == [8, 8, 8, 8]
    assert "43.8 % of 32" in axes.get_title(loc="left")


def test_each_rectangle_is_as_wide_as_its_own_longest_row():
    """The mistake beside the law: one width for the whole data set."""
    (axes,) = plots.rectangle(LENGTHS, [[0, 1], [2, 3]]).axes
    first, second = widths(axes).reshape(2, 2, 2)
    assert first.sum(axis=0).tolist() == [5, 5] and second.sum(axis=0).tolist() == [8, 8]
    counted = padding.measure(LENGTHS, [[0, 1], [2, 3]])
    assert widths(axes).sum() == counted.slots


def test_padding_is_hatched_so_that_it_shows_in_grey():
    (axes,) = plots.rectangle(LENGTHS).axes
    assert [bool(bar.get_hatch()) for bar in axes.patches] == [False] * 4 + [True] * 4


def test_packed_rows_draw_every_token_and_every_free_slot_once():
    packed = packing.pack([5, 3, 8, 2, 4], 8)
    figure = plots.packing_rows(packed)
    bars = figure.axes[0].patches
    assert sum(bar.get_width() for bar in bars) == packed.slots
    assert sum(bar.get_width() for bar in bars if not bar.get_hatch()) == packed.real_tokens
    assert "91.67 % full" in figure.batchlab_alt
    assert "fewer than 3 rows" in figure.batchlab_alt


def test_a_split_that_does_not_fill_the_step_shows_what_is_missing():
    figure = plots.step_strips({"4 x 2": [4, 4], "8 x 2": [8, 8]}, 10, title="t", x="rows")
    hatched = [bar.get_width() for bar in figure.axes[0].patches if bar.get_hatch()]
    assert hatched == [2]
    assert "4 x 2: 2 micro-batches, 8 rows" in figure.batchlab_alt
    assert figure.axes[0].get_xlim()[1] > 16, "what is too much is drawn as well"


def test_a_large_packing_shows_its_own_fill_and_not_that_of_the_drawn_rows():
    packed = packing.pack(ln.gsm8k(), 2048)
    figure = plots.packing_rows(packed, most=4)
    assert f"{100 * packed.fill:.2f} % full" in figure.axes[0].get_title(loc="left")
    assert f"(4 of {packed.row_count:,} drawn)" in figure.axes[0].get_title(loc="left")


def test_the_overview_compares_the_same_documents_and_its_bars_are_their_slots():
    tokens = ln.embedded()
    figure = plots.overview(tokens, rows=8, row_length=2048)
    shuffled, sorted_, packed = (figure.axes[i] for i in (1, 3, 5))
    kept = tokens[tokens <= 2048]
    for axes in (shuffled, sorted_, packed):
        assert round(widths(axes)[0] * 1e6) == kept.sum()
    assert widths(shuffled).sum() > widths(sorted_).sum() > widths(packed).sum()
    slots = packing.pack(kept, 2048).slots
    assert round(widths(packed).sum() * 1e6) == slots
    assert f"packed: {slots:,} slots" in figure.batchlab_alt


def test_the_readme_says_in_words_what_its_figure_shows():
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    assert f'alt="{plots.overview(ln.embedded()).batchlab_alt}"' in readme
    cells = throughput.summarize(records.read("cpu_sweep").cells())
    by_rows = figures.make("throughput", figures.Material(cells, []))
    assert f'alt="{by_rows.batchlab_alt}"' in readme


def test_the_curve_of_waste_is_the_exact_expectation():
    (axes,) = plots.waste_by_rows(LENGTHS, [1, 2, 4], measured={"sorted": {2: 0.1}}).axes
    exact = [padding.expected_waste(LENGTHS, n) for n in (1, 2, 4)]
    assert axes.lines[0].get_ydata() == pytest.approx(exact)
    assert axes.lines[1].get_label() == "sorted" and list(axes.lines[1].get_ydata()) == [0.1]


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_saving_twice_gives_the_same_bytes(tmp_path, kind):
    for name in ("a", "b"):
        plots.save(FIGURES["rectangle"](), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_a_saved_figure_carries_its_text(tmp_path):
    plots.save(FIGURES["rectangle"](), tmp_path / "a.svg")
    assert "18 of 32 slots hold real tokens" in (tmp_path / "a.svg").read_text()


def test_an_unknown_format_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"a\.bmp: figures are written as \.png, \.svg, \.pdf"):
        plots.save(FIGURES["rectangle"](), tmp_path / "a.bmp")


def test_a_notebook_and_the_book_show_an_image_with_its_text():
    figure = FIGURES["rectangle"]()
    figure.batchlab_alt = 'a "quoted" <text>'
    shown = figure._repr_html_()
    assert shown.startswith('<img src="data:image/png;base64,')
    assert 'alt="a &quot;quoted&quot; &lt;text&gt;"' in shown
    assert plots.show(figure)._repr_html_() == shown


def test_a_figure_that_says_nothing_is_refused():
    from matplotlib.figure import Figure

    with pytest.raises(ValueError, match="says nothing"):
        plots.show(Figure())


def test_drawing_needs_no_pyplot():
    code = "import sys; from batchlab import plots; plots.rectangle([3, 2]); "
    code += "print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
