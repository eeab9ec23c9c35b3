"""Which records a figure is drawn from: the numbers that it is handed, without drawing it."""

import itertools
from types import SimpleNamespace

import pytest

from batchlab import data, model, plots
from batchlab.doctor import throughput
from batchlab.memory import trace
from batchlab.report import figures
from batchlab.report.figures import MAKERS, Material
from tests.planted import change, ended, visits, whole


@pytest.fixture(autouse=True)
def handed(monkeypatch):
    """What each plot is asked for, instead of a picture."""
    for name in ("throughput", "memory_stack", "predicted_measured"):
        monkeypatch.setattr(plots, name, lambda *words, **options: (*words, options))


@pytest.fixture
def saved(monkeypatch):
    """Figures are their names, and `memory` lacks its records."""
    kept = []
    monkeypatch.setattr(plots, "save", lambda figure, path: kept.append((figure, path)))
    made = {name: lambda _, name=name: name for name in figures.NAMES}

    def memory(_):
        raise ValueError("why")

    monkeypatch.setattr(figures, "MAKERS", made | {"memory": memory})
    return kept


@pytest.mark.parametrize("name", ["not/there", "with.dot"])
def test_a_folder_holds_each_figure_under_its_name_and_the_rest_is_missing(tmp_path, saved, name):
    (tmp_path / "with.dot").mkdir()
    wanted = [one for one in figures.NAMES if one != "memory"]
    for _ in range(2):
        drawn, missing = figures.draw(tmp_path / name, Material(None, []))
        assert missing == {"memory": "why"}
        assert drawn == [str(tmp_path / name / f"{one}.png") for one in wanted]
    assert saved == [(one, tmp_path / name / f"{one}.png") for one in wanted] * 2
    assert (tmp_path / name).is_dir()


def test_a_file_is_the_throughput_or_an_error(tmp_path, saved, monkeypatch):
    path = tmp_path / "a.svg"
    assert figures.draw(path, Material(None, [])) == ([str(path)], {})
    assert saved == [("throughput", path)]
    monkeypatch.setitem(figures.MAKERS, "throughput", figures.MAKERS["memory"])
    with pytest.raises(ValueError, match="throughput cannot be drawn: why"):
        figures.draw(path, Material(None, []))


def test_rates_by_rows_with_the_curve_from_the_fewest_to_the_most():
    found = throughput.summarize([*visits(), ended(16), ended(32)])
    measured, options = MAKERS["throughput"](Material(found, []))
    assert measured == {
        "padded": {
            line.cell.rows: (line.rate, line.slowest, line.fastest) for line in found.finished
        }
    }
    assert options["out_of_memory"] == {"padded": [16, 32]}
    assert options["knee_rows"] == found.knee_rows
    curve = options["without_padding"]
    places = list(curve)
    assert places[0] == 1 and places[-1] == pytest.approx(32)
    steps = [after / before for before, after in itertools.pairwise(places)]
    assert steps == pytest.approx([32 ** (1 / len(steps))] * len(steps)), "octaves are equally wide"
    assert curve[places[7]] == found.rate_without_padding(places[7])


def test_too_few_sizes_have_no_knee_and_no_cell_no_figure():
    few = throughput.summarize([whole(one) for one in visits(1)[:2]])
    _, options = MAKERS["throughput"](Material(few, []))
    assert options["knee_rows"] is None and options["without_padding"] is None
    for nothing in (None, throughput.summarize([ended(2)])):
        with pytest.raises(ValueError, match="no cell finished"):
            MAKERS["throughput"](Material(nothing, []))


def peak(rows, length=128, *, by_kind=True, **more):
    kinds = {"by_kind": {"logits": rows}} if by_kind else {}
    return {"rows": rows, "length": length, "measured_bytes": 10 * rows, **kinds, **more}


def test_peaks_of_the_most_frequent_length_stand_by_rows():
    peaks = [peak(4), peak(1), peak(2, 512), peak(8, 1024, checkpointing=True)]
    stack, options = MAKERS["memory"](Material(None, peaks))
    assert list(stack.items()) == [(1, {"logits": 1}), (4, {"logits": 4})]
    assert options["measured_bytes"] == {1: 10, 4: 40}
    assert options["title"] == "Memory of a step, rows of 128 slots"
    tied = [peak(4), peak(1, 2048)]
    stack, options = MAKERS["memory"](Material(None, tied))
    assert list(stack) == [1] and "rows of 2,048 slots" in options["title"], "the longer of two"
    only = [peak(4, checkpointing=True), peak(2, by_kind=False, checkpointing=True)]
    stack, options = MAKERS["memory"](Material(None, only))
    assert list(stack) == [4] and options["measured_bytes"] == {4: 40}


def test_without_kinds_the_prediction_is_drawn_and_without_one_what_was_measured():
    predicted = {2: {"logits": 5}}
    stack, options = MAKERS["memory"](Material(None, [peak(2, by_kind=False)], predicted))
    assert stack == predicted
    assert options["title"] == f"Predicted memory of a step, rows of {data.DEFAULT_LONGEST} slots"
    cells = [change(one, peak_bytes=one.rows * 100) for one in visits(1)]
    cells[0] = change(cells[0], peak_bytes=None)
    cells.append(change(cells[1], layout="packed", peak_bytes=7))
    found = throughput.summarize(cells)
    stack, options = MAKERS["memory"](Material(found, []))
    assert stack == {rows: {"measured peak": 100.0 * rows} for rows in (2, 4, 8)}
    assert options["title"] == "Peak memory of a step, padded"
    mixed = [cells[1], *(change(one, layout="packed", peak_bytes=7) for one in visits(1))]
    stack, options = MAKERS["memory"](Material(throughput.summarize(mixed), []))
    assert list(stack) == [2] and options["title"].endswith("padded"), "the first of them"


def test_memory_is_predicted_for_the_embedded_model_and_corpus_alone(monkeypatch):
    asked = []

    def predict_peak(config, **given):
        asked.append(given)
        return SimpleNamespace(by_kind={"logits": given["rows"]})

    monkeypatch.setattr(trace, "predict_peak", predict_peak)
    monkeypatch.setattr(model, "load", lambda _: SimpleNamespace(config=None))
    own = {"model": {"name": "small"}, "data": "stdlib"}
    cells = [change(one, **own) for one in visits(1)[::-1]]
    cells[1] = change(cells[1], accumulation=None)
    cells = [change(one, accumulation=1) if one.rows == 8 else one for one in cells]
    found = figures.predicted_memory(throughput.summarize(cells))
    assert list(found.items()) == [(rows, {"logits": rows}) for rows in (1, 2, 4, 8)]
    assert [one["accumulation"] for one in asked] == [2, 2, 1, 1]
    assert {one["length"] for one in asked} == {data.DEFAULT_LONGEST}
    for other in ({"data": "mine"}, {"model": {"name": "large"}}, {"precision": "bfloat16"}):
        strange = [change(one, **other) for one in cells]
        assert figures.predicted_memory(throughput.summarize(strange)) is None


def test_predictions_are_pairs_of_predicted_and_measured():
    found = throughput.summarize(visits())
    pairs, options = MAKERS["predicted_steps"](Material(found, []))
    wanted = [(one.predicted_seconds, one.measured_seconds) for one in found.predictions]
    assert pairs == {"padded": wanted} and options["of"] == "seconds"
    with pytest.raises(ValueError, match="fewer than three sizes are left"):
        MAKERS["predicted_steps"](Material(throughput.summarize(visits()[:1]), []))
    peaks = [peak(1, predicted_bytes=9), peak(2, predicted_bytes=21, checkpointing=True)]
    pairs, _ = MAKERS["predicted_peaks"](Material(None, peaks))
    assert pairs == {"activations kept": [(9, 10)], "checkpointing": [(21, 20)]}
    with pytest.raises(ValueError, match="no records of predicted and measured peaks"):
        MAKERS["predicted_peaks"](Material(None, []))
