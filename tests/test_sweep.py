"""A sweep does the same useful work in every cell, survives a kill, and repeats nothing."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from batchlab import attention, counts, model, records, stopwatch, sweep
from batchlab.doctor import prices as stepcost

DOCUMENTS = [[1 + (i + j) % 30 for j in range(5 + 7 * i % 40)] for i in range(64)]
IDENTITY = records.Identity(records.Model("tiny"), "m", "made", "d")


def make_model(precision, layout):
    made = model.small(32, hidden=16, heads=2, layers=1)
    return attention.prepare(made) if layout == "packed" else made


def run(path, cells=None, **options):
    cells = cells or [*sweep.grid([2, 4, 8], ["padded"]), sweep.Point(4, "packed")]
    settings = {"documents_per_step": 8, "steps": 2, "rounds": 2} | options
    return sweep.run(DOCUMENTS, make_model, cells, path=path, identity=IDENTITY, **settings)


@pytest.mark.slow
def test_every_cell_does_the_same_useful_work(tmp_path):
    merged = stepcost.merge(run(tmp_path / "s.jsonl"))
    assert len(merged) == 4 and {cell.steps for cell in merged} == {4}
    assert len({cell.real_tokens for cell in merged}) == 1
    assert len({cell.counts.target_tokens for cell in merged}) == 1
    by = {(cell.rows, cell.layout): cell for cell in merged}
    assert by[8, "padded"].slots > by[2, "padded"].slots > by[4, "packed"].slots
    assert by[4, "packed"].slots == by[4, "packed"].real_tokens
    assert by[4, "packed"].slot_pairs == by[4, "packed"].real_pairs
    for cell in merged:
        assert sum(cell.step_seconds) == pytest.approx(cell.seconds)
        assert 0 < cell.parts.optimizer_seconds < cell.seconds
        assert cell.micro_batches == 4 * 8 / cell.rows


def test_sorting_inside_the_step_pads_less_with_the_same_documents():
    padded, bucketed = (
        sweep.micro_batches_of(DOCUMENTS, range(16), sweep.Point(4, layout))
        for layout in ("padded", "bucketed")
    )
    assert sum(b["input_ids"].numel() for b in bucketed) < sum(
        b["input_ids"].numel() for b in padded
    )
    assert sum(int(b["attention_mask"].sum()) for b in bucketed) == sum(map(len, DOCUMENTS[:16]))


def test_counts_of_a_micro_batch_by_hand():
    padded, packed = (
        sweep.micro_batches_of([[1] * 5, [1] * 3], [0, 1], sweep.Point(2, layout))[0]
        for layout in ("padded", "packed")
    )
    assert counts.of(padded) == counts.Counts(2, 8, 10, 6, 34, 50)
    assert counts.of(packed, varlen=True).slot_pairs == 34
    assert counts.of(packed).slot_pairs == 64, "a mask computes them all"


def test_a_second_run_repeats_nothing_and_other_data_is_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    first = run(path)
    size = path.stat().st_size
    assert run(path) == first and path.stat().st_size == size
    with pytest.raises(ValueError, match="data_fingerprint = d, this sweep has other"):
        sweep.run(
            DOCUMENTS, make_model, [sweep.Point(2)], path=path,
            identity=replace(IDENTITY, data_fingerprint="other"), documents_per_step=8,
        )  # fmt: skip


@pytest.mark.slow
def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    path = tmp_path / "s.jsonl"
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom tests import test_sweep\n"
        "seen = []\n"
        "def progress(done, of, text):\n"
        "    seen.append(text)\n"
        "    if len(seen) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"test_sweep.run(Path({str(path)!r}), progress=progress)\n"
    )
    root = Path(__file__).parent.parent
    killed = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    before = records.read(path).cells()
    assert len(before) == 3
    visited = []
    after = run(path, progress=lambda *said: visited.append(said))
    assert len(visited) == 5 and after[:3] == before and len(after) == 8
    assert visited[0][:2] == (3, 8), "three visits are done, of eight"


def test_a_cell_that_runs_out_of_memory_is_recorded_and_the_sweep_goes_on(tmp_path, monkeypatch):
    real = stopwatch.loop.train_step

    def small_device(model, optimizer, batches, **options):
        if batches[0]["input_ids"].shape[0] == 8:
            raise RuntimeError("CUDA out of memory. Tried to allocate 1 GiB")
        return real(model, optimizer, batches, **options)

    monkeypatch.setattr(stopwatch.loop, "train_step", small_device)
    merged = stepcost.merge(run(tmp_path / "s.jsonl", sweep.grid([2, 4, 8])))
    status = {cell.rows: cell.status for cell in merged}
    assert status == {2: "ok", 4: "ok", 8: "out_of_memory"}
    monkeypatch.setattr(
        stopwatch.loop, "train_step", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("a bug"))
    )
    with pytest.raises(RuntimeError, match="a bug"):
        run(tmp_path / "t.jsonl")


def test_only_float16_trains_with_a_scaler(tmp_path, monkeypatch):
    """Without one, small gradients of float16 would be zeros, and the step another."""
    real, seen = stopwatch.loop.train_step, {}

    def watched(model, optimizer, batches, **options):
        scaler = options["scaler"]
        seen.setdefault(options["autocast"], set()).add(scaler and scaler.is_enabled())
        return real(model, optimizer, batches, **options)

    monkeypatch.setattr(stopwatch.loop, "train_step", watched)
    precisions = ["float32", "autocast-bfloat16", "autocast-float16"]
    cells = run(tmp_path / "s.jsonl", sweep.grid([4], precisions=precisions), rounds=1)
    assert seen == {None: {None}, torch.bfloat16: {None}, torch.float16: {True}}
    assert [cell.status for cell in cells] == ["ok"] * 3


def test_one_model_at_a_time_is_on_the_device():
    """Peaks are absolute: a second model there would be counted as a part of every later visit."""
    places = {}

    class Model:
        def __init__(self, kind):
            self.kind = kind

        def to(self, device):
            places[self.kind] = device
            return self

    models = {}
    for layout in ("padded", "packed", "bucketed", "packed"):
        point = sweep.Point(1, layout)
        used = sweep._model_for(point, models, lambda *kind: Model(kind), "cuda")
        assert [kind for kind, place in places.items() if place == "cuda"] == [used.kind]
    assert len(models) == 2, "padded and bucketed rows share one"


def test_the_largest_micro_batch_of_a_point_warms_a_gpu_up():
    documents = [[1] * n for n in (9, 9, 2, 10, 1, 1)]
    groups = [[0, 1], [2, 3], [4, 5]]
    assert sweep._largest(documents, groups, sweep.Point(2)) == [2, 3], "2 rows of 10 slots"
    packed = sweep.Point(2, "packed")
    assert sweep._largest(documents, groups, packed) == [0, 1], "18 slots, and not 12"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sweep.Point(0), "rows must be at least 1, got 0"),
        (lambda: sweep.Point(2, "round"), "unknown layout 'round'"),
        (lambda: sweep.Point(2, precision="int3"), "unknown precision 'int3'"),
        (lambda: sweep.step_groups(10, 8, 2), "2 steps of 8 documents need 16, the data has 10"),
        (lambda: run("unused.jsonl", [sweep.Point(3)]), "8 documents per step do not divide"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
