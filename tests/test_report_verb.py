"""`batchlab report`: the tables hold the library's numbers, and nothing is hidden or compared
that cannot be."""

import json

import pytest

from batchlab import cli, doctor, plots, records
from batchlab.cli import report as verb
from batchlab.doctor import throughput
from batchlab.report import figures
from tests.planted import at_speed, cell, change, ended, visits


def run(capsys, *words):
    code = cli.main(["report", *(str(word) for word in words)])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def write(tmp_path):
    def written(cells, name="runs.jsonl", torn=""):
        for one in cells:
            records.append(tmp_path / name, one)
        if torn:
            with (tmp_path / name).open("a") as file:
                file.write(torn)
        return tmp_path / name

    return written


PEAKS = [
    {"kind": "peak", "rows": rows, "length": 128, "checkpointing": False, "measured_bytes": 2**30,
     "predicted_bytes": int(2**30 * 1.02), "by_kind": {"parameters": 2**29, "logits": rows * 2**20}}
    for rows in (1, 2)
]  # fmt: skip


def test_the_report_holds_the_numbers_of_the_library(capsys, write):
    path = write(visits())
    code, out, _ = run(capsys, path, "--json")
    data = json.loads(out)
    found = throughput.summarize(visits())
    assert code == 0 and data["cut_off"] == []
    assert data["knee"]["rows"] == pytest.approx(found.knee_rows)
    rates = [one["useful_tokens_per_second"] for one in data["cells"]]
    assert rates == pytest.approx([line.rate for line in found.lines])
    assert len(data["predictions"]) == 4
    _, text, _ = run(capsys, path)
    assert f"{found.lines[0].rate:,.0f}" in text and "Knee: from" in text
    assert "slowest to fastest round" in text and "off by" in text
    assert max(map(len, text.splitlines())) <= 140


def test_a_cell_that_ran_out_of_memory_has_a_line_of_its_own(capsys, write):
    path = write([*visits(), ended(16), ended(8)])
    _, text, _ = run(capsys, path)
    lines = [line for line in text.splitlines() if line.startswith("padded")]
    assert "out of memory" in lines[4] and "0 of 1" in lines[4]
    assert "2 of 3" in lines[3], "one round of rows 8 failed, and it is said"


def test_restless_rounds_are_doubted_and_calm_ones_are_not(capsys, write):
    assert "Be careful" not in run(capsys, write(visits()))[1], "rounds a tenth apart are usual"
    restless = [*visits(1), at_speed(cell(4), 2)]
    _, text, _ = run(capsys, write(restless, "b.jsonl"))
    assert "Be careful: rounds of one cell differ by up to 2.0 x" in text


def test_the_best_cell_is_the_one_with_the_most_useful_tokens_a_second(capsys, write):
    """Made the fastest, a cell in the middle: it is not the first, the last or the widest."""
    measured = [at_speed(one, 1 / 3 if one.rows == 4 else 1) for one in visits(1)]
    found = throughput.summarize(measured)
    rates = {line.cell.rows: line.rate for line in found.lines}
    assert max(rates, key=rates.__getitem__) == 4 != min(rates, key=rates.__getitem__)
    _, text, _ = run(capsys, write(measured))
    ratio = f"{rates[4] / rates[1]:.2f} x the useful tokens/s of padded, rows 1."
    assert f"Best: padded, rows 4, {ratio}" in text
    slow = [at_speed(one, 3 if one.rows == 4 else 1) for one in visits(1)]
    _, text, _ = run(capsys, write(slow, "slow.jsonl"))
    assert "Best: padded, rows 8, " in text, "three times slower, it is the worst"


def test_a_torn_last_line_is_reported_and_never_fatal(capsys, write):
    path = write(visits(), torn='{"kind": "cell", "rows": 9')
    code, text, _ = run(capsys, path)
    assert code == 0 and f"A line of {path} was cut off by a kill" in text
    code, _, err = run(capsys, write([], "torn.jsonl", torn='{"kind": "cell", "ro'))
    assert code == 1 and "no line of it is a whole record" in err and err.count("\n") == 1


def test_measured_peaks_stand_in_the_table_and_missing_ones_are_said(capsys, write):
    path = write([change(one, peak_bytes=3 * 2**29) for one in visits()])
    assert "1.50 GiB" in run(capsys, path)[1]
    assert "counts no peak of memory; `batchlab memory --model NAME`" in run(
        capsys, write(visits(), "b.jsonl")
    )[1]  # fmt: skip


def test_predicted_and_measured_peaks_are_tabled_with_their_error(capsys, write):
    _, text, _ = run(capsys, write(PEAKS))
    assert "predicted peak" in text and text.count("+2.00 %") == 2
    code, _, err = run(capsys, write([{"kind": "peak", "rows": 1}], "bad.jsonl"))
    assert code == 1 and "peak record 1 lacks length, predicted_bytes, measured_bytes" in err
    for wrong, said in (
        ({"measured_bytes": -1, "rows": "4"}, "lacks rows, measured_bytes: numbers above 0"),
        ({"environment": 3}, "peak record 1: environment must be an object"),
    ):
        code, _, err = run(capsys, write([PEAKS[0] | wrong], f"{min(wrong)}.jsonl"))
        assert code == 1 and said in err


def test_records_that_cannot_be_compared_are_refused_across_files_too(capsys, write):
    one = write(visits(1))
    other = write([cell(2, model_fingerprint="x")], "other.jsonl")
    code, out, err = run(capsys, one, other)
    assert (code, out) == (1, "") and "the records differ in model_fingerprint (m, x)" in err
    assert err.count("\n") == 1
    assert run(capsys, one, write(visits(1), "again.jsonl"))[0] == 0
    peaks = write([PEAKS[0] | {"model_fingerprint": "x"}], "peaks.jsonl")
    code, _, err = run(capsys, one, peaks)
    assert code == 1 and "the records differ in model_fingerprint (m, x)" in err


def test_few_sizes_have_a_table_and_no_knee(capsys, write):
    code, text, _ = run(capsys, write([cell(16, steps=2)]))
    assert code == 0 and "No knee: micro-batches of 2 sizes; at least 3 are needed" in text


def test_records_of_another_kind_are_named(capsys, write):
    code, _, err = run(capsys, write([{"kind": "try", "rows": 1}]))
    assert code == 1 and "no records of cells or peaks, only try" in err
    _, text, _ = run(capsys, write([*visits(1), {"kind": "device"}], "b.jsonl"))
    assert "Left out: records of kind device." in text


@pytest.mark.slow
def test_a_folder_gets_every_figure_that_the_records_allow(capsys, write, tmp_path):
    folder = tmp_path / "figures"
    code, text, _ = run(capsys, write([*visits(), *PEAKS, ended(16)]), "--figure", folder)
    assert code == 0
    assert {path.stem for path in folder.iterdir()} == set(figures.NAMES)
    assert all(f"Drawn: {path}" in text for path in folder.iterdir())
    _, text, _ = run(capsys, write(PEAKS, "peaks.jsonl"), "--figure", tmp_path / "peaks")
    assert "Not drawn: throughput (no cell finished)" in text
    assert {path.stem for path in (tmp_path / "peaks").iterdir()} == {"memory", "predicted_peaks"}


def test_a_file_gets_the_throughput(capsys, write, tmp_path):
    path = write(visits())
    assert run(capsys, path, "--figure", tmp_path / "a.svg")[0] == 0
    assert "The knee lies at" in (tmp_path / "a.svg").read_text()
    code, out, err = run(capsys, path, "--figure", tmp_path / "a.bmp")
    assert (code, out) == (1, "") and "figures are written as .png, .svg, .pdf" in err
    code, _, err = run(capsys, write(PEAKS, "p.jsonl"), "--figure", tmp_path / "b.png")
    assert code == 1 and "throughput cannot be drawn: no cell finished" in err


def test_the_memory_figure_shows_the_length_with_the_most_rows():
    """The mistake beside the law: the longest rows alone may be a single bar."""
    more = [PEAKS[0] | {"length": 4096}, PEAKS[1] | {"checkpointing": True}]
    figure = figures.MAKERS["memory"](figures.Material(None, [*more, *PEAKS[::-1]]))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2"]
    assert "rows of 128 slots" in axes.get_title(loc="left")
    assert "measured 1.00 GiB" in figure.batchlab_alt


def test_the_memory_of_the_cells_is_drawn_as_measured_where_nothing_is_predicted():
    found = throughput.summarize([change(one, peak_bytes=2**20) for one in visits(1)])
    figure = figures.MAKERS["memory"](figures.Material(found, []))
    assert "1.00 MiB at 8 rows (measured peak 1.00 MiB)" in figure.batchlab_alt
    with pytest.raises(ValueError, match="no record holds a peak"):
        figures.MAKERS["memory"](figures.Material(throughput.summarize(visits(1)), []))


def test_without_records_the_last_sweep_is_shown_else_one_is_measured(
    capsys, write, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verb, "_measured", lambda: visits(1))
    assert "Records: measured now" in run(capsys)[1]
    write(visits(), "runs/sweep.jsonl")
    assert "Records: runs/sweep.jsonl" in run(capsys)[1]


def test_the_waterfall_is_that_of_the_doctor():
    found = throughput.summarize(visits())
    figure = figures.MAKERS["lost_time"](figures.Material(found, []))
    diagnosis = doctor.diagnose(line.cell for line in found.lines)
    assert figure.batchlab_alt == plots.lost_time(diagnosis).batchlab_alt
    (axes,) = figures.MAKERS["throughput"](figures.Material(found, [])).axes
    (priced,) = (one for one in axes.lines if "priced" in str(one.get_label()))
    steps = figures.MAKERS["predicted_steps"](figures.Material(found, []))
    assert steps.axes[1].get_xlabel() == "measured, milliseconds"
    ends = [found.lines[0].cell.rows, found.lines[-1].cell.rows]
    assert [priced.get_xdata()[0], priced.get_xdata()[-1]] == pytest.approx(ends)


def test_the_records_of_a_running_loop_are_read_as_well(capsys, tmp_path):
    import torch

    from batchlab import loop, model, monitor

    path = tmp_path / "own.jsonl"
    made = model.small(32, hidden=16, heads=2, layers=1)
    optimizer = torch.optim.SGD(made.parameters(), lr=0.1)
    with monitor.watch(made, optimizer, path) as watch:
        for width in watch([4, 5, 6, 7, 8]):
            ids = torch.ones(2, width, dtype=torch.int64)
            loop.train_step(made, optimizer, [{"input_ids": ids, "labels": ids}])
    code, text, err = run(capsys, path)
    assert code == 0, err
    assert "padded     2" in text and "llama on unknown" in text


@pytest.mark.slow
def test_the_embedded_default_is_measured_and_its_memory_predicted(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verb, "ROWS", (1, 2, 4))
    monkeypatch.setattr(verb, "DOCUMENTS", 4)
    code, out, err = run(capsys, "--json")
    data = json.loads(out)
    assert code == 0, err
    assert len(data["cells"]) == 6 and data["knee"]["rows"] >= 0
    peaks = {int(rows): sum(held.values()) for rows, held in data["predicted_peak_bytes"].items()}
    assert peaks[4] > peaks[2] > peaks[1]
