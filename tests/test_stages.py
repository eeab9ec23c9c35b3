"""Records of a GPU run have readers: each shows what was measured, and on whose machine."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from batchlab import cli, records, report
from batchlab.records import _file
from batchlab.report import figures
from tests.planted import change, visits

ROOT = Path(__file__).parent.parent
H100 = {"device": "NVIDIA H100 80GB HBM3", "date": "2026-12-01T09:00:00+00:00", "cores": 16}
NAMED = "NVIDIA H100 80GB HBM3, 2026-12-01"
LINES = [
    {"stage": "knee", "tokens": 4096, "seconds": 0.0512, "peak_bytes": 3 * 2**30,
     "step_seconds": [0.05, 0.06]},
    {"stage": "backend", "backend": "flash", "reason": "flash_attn is not installed"},
    {"stage": "backend", "backend": "sdpa", "tokens": 8192, "first_seconds": 0.9, "seconds": 2e-3},
    {"stage": "done", "name": "knee", "seconds": 12.0},
    {"stage": "knee", "tokens": 16384, "seconds": 0.2, "peak_bytes": 9 * 2**30,
     "step_seconds": [0.2]},
    {"stage": "same_step", "rows": 16, "layout": "packed", "checkpointing": True, "waste": 0.25},
    {"stage": "flops", "compiled": False, "flops_per_second": 4.123e14},
    {"stage": "failed", "name": "limit", "error": "RuntimeError: x"},
]  # fmt: skip
LINES = [{"kind": "gpu", "small": False, **line, "environment": H100} for line in LINES]
PEAK = {"kind": "peak", "rows": 1, "length": 128, "predicted_bytes": 2**30 + 2**20,
        "measured_bytes": 2**30, "environment": H100}  # fmt: skip


def said(capsys, *words):
    assert cli.main(["report", *map(str, words)]) == 0
    return capsys.readouterr().out


@pytest.fixture
def evidence(tmp_path, monkeypatch):
    """A folder of records that come with the library, empty so far."""
    monkeypatch.setattr(_file, "_evidence", lambda: tmp_path)

    def plant(name, lines):
        for line in lines:
            records.append(tmp_path / f"{name}.jsonl", line)

    return plant


def test_a_stage_is_a_table_whose_units_stand_in_its_keys():
    found = report.stages(LINES)
    assert list(found) == ["knee", "backend", "same_step", "flops"], "and not how a stage ended"
    assert report.stage_text(found["knee"]).splitlines() == [
        f"knee, on {NAMED}:",
        "",
        "tokens  seconds  peak bytes",
        "------  -------  ----------",
        " 4,096  51.2 ms    3.00 GiB",
        "16,384   200 ms    9.00 GiB",
    ]
    text = report.stage_text(found["backend"])
    assert "flash_attn is not installed" in text and "2.00 ms" in text and "None" not in text
    assert "25.0 %" in report.stage_text(found["same_step"]), "a share is no number of its own"
    assert "4.12e+14/s" in report.stage_text(found["flops"])


def test_a_rehearsal_is_told_from_a_measurement():
    small = [line | {"small": True} for line in LINES]
    for lines, wanted in ((small, True), (LINES, False)):
        text = report.stage_text(report.stages(lines)["knee"])
        assert ("its numbers mean nothing" in text) == wanted


def test_a_name_without_its_machine_is_the_gpus_record_where_there_is_one(evidence):
    evidence("cpu_sweep", [{"whose": "cpu"}])
    assert records.read("sweep") == [{"whose": "cpu"}]
    evidence("gpu_sweep", [{"whose": "gpu"}])
    assert records.read("sweep") == [{"whose": "gpu"}] and records.read("sweep").name[:3] == "gpu"
    assert records.read("cpu_sweep") == [{"whose": "cpu"}], "who names the machine gets that one"
    with pytest.raises(ValueError, match="none: no such file of records"):
        records.read("none")


def test_every_reader_says_whose_machine_it_was(capsys, evidence):
    """A box of a lesson replays a stage, `report` shows cells, peaks and stages."""
    assert "No record of knee comes with the library yet" in report.replay("knee")
    evidence("gpu_run", LINES)
    assert report.replay("knee") == report.stage_text(report.stages(LINES)["knee"])
    assert "No record of limit" in report.replay("limit"), "it failed"
    assert said(capsys, "run").count(f", on {NAMED}") == 4
    data = json.loads(said(capsys, "gpu_run", "--json"))
    assert list(data["stages"]) == ["knee", "backend", "same_step", "flops"]
    evidence("cpu_sweep", visits())
    evidence("gpu_sweep", [change(one, environment=H100) for one in visits()])
    assert NAMED in said(capsys, "sweep") and NAMED not in said(capsys, "cpu_sweep")
    evidence("gpu_peaks", [PEAK])
    assert f"Peaks of memory, on {NAMED}:" in said(capsys, "peaks")


def test_the_figures_of_the_book_are_drawn_from_whichever_record_there_is(evidence):
    from batchlab.doctor import throughput

    drawn = {}
    for name in ("cpu", "gpu"):
        faster = 10 if name == "gpu" else 1
        cells = [
            change(one, environment=H100 if name == "gpu" else {}, seconds=one.seconds / faster,
                   step_seconds=[each / faster for each in one.step_seconds])
            for one in visits()
        ]  # fmt: skip
        evidence(f"{name}_sweep", cells)
        table = throughput.summarize(records.read("sweep").cells())
        drawn[name] = figures.make("throughput", figures.Material(table, [])).batchlab_alt
    assert drawn["cpu"] != drawn["gpu"], "the same call; the second time of the GPU"


def test_the_run_fits_into_one_call_of_a_lent_machine():
    """The table adds up and names the stages in order; the last may begin at the deadline."""
    tree = ast.parse((ROOT / "benchmarks" / "gpu_run.py").read_text())
    table = re.findall(
        r"^    ([\w/]+) +(\d+)  \S", ast.get_docstring(tree, clean=False) or "", re.M
    )
    budget = {name: int(seconds) for name, seconds in table}
    (stages,) = (
        [key.value for key in node.value.keys]
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "STAGES"
    )
    assert list(budget) == ["tests/gpu", "start", *stages]
    assert sum(budget.values()) <= 590
    command = next(
        line for line in (ROOT / "Makefile").read_text().splitlines() if "--seconds" in line
    )
    deadline = int(command.split("--seconds ")[1].split("'")[0])
    assert sum(budget[name] for name in ["start", *stages[:-1]]) <= deadline
    assert budget["tests/gpu"] + deadline + budget[stages[-1]] <= 590


@pytest.mark.deep  # minutes of two cores; `test_bare` rehearses short stages in CI
def test_a_rehearsal_of_the_run_is_read_as_if_it_came_from_a_gpu(tmp_path, capsys, evidence):
    """The stages themselves write the lines; only the name of the device is another."""
    stages = ["device", "peaks", "knee", "same_step", "sweeps", "backends", "launch_bound"]
    script = ROOT / "benchmarks" / "gpu_run.py"
    words = ["--output", str(tmp_path / "runs"), "--small", "--only", *stages]
    subprocess.run([sys.executable, str(script), *words], cwd=ROOT, check=True, timeout=900)
    assert len(list((tmp_path / "runs").iterdir())) <= 8, "files that come back from a lent machine"
    lines = records.read(tmp_path / "runs" / "run.jsonl")
    ended = {line["name"]: line["stage"] for line in lines if "name" in line}
    assert ended == dict.fromkeys(stages, "done")
    evidence("gpu_run", [line | {"environment": line["environment"] | H100} for line in lines])
    for stage in ("knee", "same_step", "backend", "launch_bound"):
        text = report.replay(stage)
        assert f", on {NAMED} (a rehearsal" in text and len(text.splitlines()) >= 5
    assert said(capsys, "run").count(NAMED) == 4
    for name in ("sweep_stdlib", "sweep_stdlib_long", "peaks"):
        found = records.read(tmp_path / "runs" / f"{name}.jsonl")
        evidence(f"gpu_{name}", [one | {"environment": one["environment"] | H100} for one in found])
        assert NAMED in said(capsys, name)
