"""A sweep does the same useful work in every cell, survives a kill, and repeats nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from batchlab import attention, doctor, model, monitor, records, stepcost, stopwatch, sweep

DOCUMENTS = [[1 + (i + j) % 30 for j in range(5 + 7 * i % 40)] for i in range(64)]
IDENTITY = {
    "model": {"name": "tiny"},
    "model_fingerprint": "m",
    "data": "made",
    "data_fingerprint": "d",
}


def make_model(precision, layout):
    made = model.small(32, hidden=16, heads=2, layers=1)
    return attention.prepare(made) if layout == "packed" else made


def run(path, cells=None, **options):
    cells = cells or [*sweep.grid([2, 4, 8], ["padded"]), sweep.Cell(4, "packed")]
    settings = {"documents_per_step": 8, "steps": 2, "rounds": 2} | options
    return sweep.run(DOCUMENTS, make_model, cells, path=path, identity=IDENTITY, **settings)


def test_every_cell_does_the_same_useful_work(tmp_path):
    merged = stepcost.merge(run(tmp_path / "s.jsonl"))
    assert len(merged) == 4 and {cell["steps"] for cell in merged} == {4}
    assert len({cell["real_tokens"] for cell in merged}) == 1
    assert len({cell["target_tokens"] for cell in merged}) == 1
    by = {(cell["rows"], cell["layout"]): cell for cell in merged}
    assert by[8, "padded"]["slots"] > by[2, "padded"]["slots"] > by[4, "packed"]["slots"]
    assert by[4, "packed"]["slots"] == by[4, "packed"]["real_tokens"]
    assert by[4, "packed"]["slot_pairs"] == by[4, "packed"]["real_pairs"]
    for cell in merged:
        assert sum(cell["step_seconds"]) == pytest.approx(cell["seconds"])
        assert 0 < cell["optimizer_seconds"] < cell["seconds"]
        assert cell["micro_batches"] == 4 * 8 / cell["rows"]


def test_sorting_inside_the_step_pads_less_with_the_same_documents():
    padded, bucketed = (
        sweep.micro_batches_of(DOCUMENTS, range(16), sweep.Cell(4, layout))
        for layout in ("padded", "bucketed")
    )
    assert sum(b["input_ids"].numel() for b in bucketed) < sum(
        b["input_ids"].numel() for b in padded
    )
    assert sum(int(b["attention_mask"].sum()) for b in bucketed) == sum(map(len, DOCUMENTS[:16]))


def test_counts_of_a_micro_batch_by_hand():
    padded, packed = (
        sweep.micro_batches_of([[1] * 5, [1] * 3], [0, 1], sweep.Cell(2, layout))[0]
        for layout in ("padded", "packed")
    )
    one = stopwatch.count(padded, varlen=False)
    assert (one["slots"], one["real_tokens"], one["target_tokens"]) == (10, 8, 6)
    assert (one["slot_pairs"], one["real_pairs"]) == (50, 34)
    assert stopwatch.count(packed, varlen=True)["slot_pairs"] == 34
    assert stopwatch.count(packed, varlen=False)["slot_pairs"] == 64, "a mask computes them all"


def test_a_second_run_repeats_nothing_and_other_data_is_refused(tmp_path):
    path = tmp_path / "s.jsonl"
    first = run(path)
    size = path.stat().st_size
    assert run(path) == first and path.stat().st_size == size
    with pytest.raises(ValueError, match="data_fingerprint = d, this sweep has other"):
        sweep.run(
            DOCUMENTS, make_model, [sweep.Cell(2)], path=path,
            identity=IDENTITY | {"data_fingerprint": "other"}, documents_per_step=8,
        )  # fmt: skip


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
    before = [json.loads(line) for line in path.read_text().splitlines()]
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
    status = {cell["rows"]: cell["status"] for cell in merged}
    assert status == {2: "ok", 4: "ok", 8: "out_of_memory"}
    monkeypatch.setattr(
        stopwatch.loop, "train_step", lambda *a, **k: (_ for _ in ()).throw(RuntimeError("a bug"))
    )
    with pytest.raises(RuntimeError, match="a bug"):
        run(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sweep.Cell(0), "rows must be at least 1, got 0"),
        (lambda: sweep.Cell(2, "round"), "unknown layout 'round'"),
        (lambda: sweep.Cell(2, precision="int3"), "unknown precision 'int3'"),
        (lambda: sweep.step_groups(10, 8, 2), "2 steps of 8 documents need 16, the data has 10"),
        (lambda: run("unused.jsonl", [sweep.Cell(3)]), "8 documents per step do not divide"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def batches(rows, steps, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for step in range(steps):
        width = 8 + 8 * (step % 4)
        ids = torch.randint(1, 32, (rows, width), generator=generator)
        mask = torch.ones_like(ids)
        mask[1:, 5:] = 0
        yield {"input_ids": ids, "attention_mask": mask, "labels": ids}


def test_a_loop_of_your_own_is_recorded_with_two_lines(tmp_path):
    small = make_model("float32", "padded")
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    path = tmp_path / "run.jsonl"
    with monitor.watch(small, optimizer, path, every=5) as watch:
        for batch in watch(batches(4, 12)):
            small(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    found = records.read(path)
    assert sum(record["steps"] for record in found) == 11, "the first step warms up"
    widths = [8 + 8 * (step % 4) for step in range(1, 12)]
    assert sum(record["slots"] for record in found) == sum(4 * width for width in widths)
    assert sum(record["real_tokens"] for record in found) == sum(w + 3 * 5 for w in widths)
    assert all(0 <= record["input_seconds"] < record["seconds"] for record in found)
    assert not small._forward_pre_hooks, "nothing is left on the model"
    merged = stepcost.merge(found)
    assert stepcost.fit(merged).steps == 11
    assert doctor.diagnose(merged).subject["rows"] == 4


def test_a_slow_loader_is_what_the_doctor_finds(tmp_path):
    import time

    def slow():
        for batch in batches(4, 9):
            time.sleep(0.05)
            yield batch

    small = make_model("float32", "padded")
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with monitor.watch(small, optimizer, tmp_path / "run.jsonl") as watch:
        for batch in watch(slow()):
            small(**batch).loss.backward()
            optimizer.step()
    found = doctor.diagnose(stepcost.merge(records.read(watch.path)))
    assert found.causes[0].name == "input"
    assert found.causes[0].seconds == pytest.approx(0.05, rel=0.2)  # sleep may oversleep a little


def test_the_loop_may_fail_and_what_was_seen_is_written(tmp_path):
    small = make_model("float32", "padded")
    optimizer = torch.optim.SGD(small.parameters(), lr=0.1)
    with (
        pytest.raises(ZeroDivisionError),
        monitor.watch(small, optimizer, tmp_path / "run.jsonl") as watch,
    ):
        for number, batch in enumerate(watch(batches(2, 9))):
            small(**batch).loss.backward()
            optimizer.step()
            if number == 4:
                raise ZeroDivisionError
    assert records.read(tmp_path / "run.jsonl")[0]["steps"] == 4


def test_a_transformers_trainer_is_recorded_with_one_callback(tmp_path):
    from datasets import Dataset
    from transformers import Trainer, TrainingArguments

    ids = [[1 + (i + j) % 30 for j in range(8 + 8 * (i // 4 % 3))] for i in range(48)]
    rows = Dataset.from_dict({"input_ids": ids, "labels": ids})

    def collate(items):
        width = max(len(item["input_ids"]) for item in items)
        padded = [item["input_ids"] + [0] * (width - len(item["input_ids"])) for item in items]
        mask = [
            [1] * len(item["input_ids"]) + [0] * (width - len(item["input_ids"])) for item in items
        ]
        batch = {"input_ids": padded, "labels": padded, "attention_mask": mask}
        return {name: torch.tensor(values) for name, values in batch.items()}

    path = tmp_path / "run.jsonl"
    arguments = TrainingArguments(
        output_dir=str(tmp_path), per_device_train_batch_size=2, gradient_accumulation_steps=2,
        max_steps=10, report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
        use_cpu=True,
    )  # fmt: skip
    Trainer(
        model=make_model("float32", "padded"),
        args=arguments,
        train_dataset=rows,
        data_collator=collate,
        callbacks=[monitor.callback(path, every=4)],
    ).train()
    found = records.read(path)
    assert sum(record["steps"] for record in found) == 9, "the first step warms up"
    assert all(record["source"] == "trainer" for record in found)
    assert {(record["rows"], record["accumulation"]) for record in found} == {(2, 2)}
    assert all(record["real_tokens"] <= record["slots"] for record in found)
    assert doctor.diagnose(stepcost.merge(found)).subject["rows"] == 2
