"""A sweep by default, and what one visit leaves behind: nothing but its line."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from batchlab import data, records, stopwatch, sweep
from batchlab.cli import _source
from tests.test_sweep import DOCUMENTS, IDENTITY, make_model, run

PADDED = sweep.Point(4)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Nobody asks git for the commit, and no garbage is collected."""
    monkeypatch.setenv("BATCHLAB_COMMIT", "none")
    monkeypatch.setattr(sweep, "collect_memory", lambda device: None)


@pytest.fixture
def taken(monkeypatch):
    """Each step that a sweep takes: its optimizer, and the rows of its micro-batches; no work."""
    steps = []

    def train_step(model, optimizer, micro_batches, **options):
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        steps.append((optimizer, [len(one["input_ids"]) for one in micro_batches]))

    monkeypatch.setattr(stopwatch.loop, "train_step", train_step)
    return steps


def test_a_point_is_padded_float32_without_checkpointing_by_default():
    assert sweep.grid([2]) == [sweep.Point(2)] == [sweep.Point(2, "padded", False, "float32")]
    both = sweep.grid([1, 2], ["padded", "packed"], [False, True])
    assert len(both) == 8 and both[1] == sweep.Point(1, "padded", True)


def test_groups_may_take_every_document_once():
    groups = sweep.step_groups(6, 2, 3)
    assert [len(group) for group in groups] == [2, 2, 2]
    assert sorted(number for group in groups for number in group) == list(range(6))
    assert groups == sweep.step_groups(6, 2, 3, seed=0) != sweep.step_groups(6, 2, 3, seed=1)
    with pytest.raises(ValueError, match="3 steps of 2 documents need 6, the data has 5"):
        sweep.step_groups(5, 2, 3)


def test_by_default_a_point_is_visited_three_times_for_two_steps_of_sixteen_documents(
    taken, tmp_path
):
    said = []
    cells = sweep.run(
        DOCUMENTS, make_model, [sweep.Point(16)], path=tmp_path / "s.jsonl", identity=IDENTITY,
        device="cpu", progress=lambda *words: said.append(words),
    )  # fmt: skip
    assert said == [(done, 3, "rows 16, padded") for done in range(3)]
    assert [rows for _, rows in taken] == [[16]] * 9, "each visit warms up with a step"
    assert [cell.round for cell in cells] == [0, 1, 2]
    for cell in cells:
        assert (cell.steps, cell.warmup_steps, cell.documents, cell.accumulation) == (2, 1, 32, 1)
        assert (cell.documents_per_step, cell.seed, cell.source) == (16, 0, "sweep")
        assert cell.environment["attention"] == "sdpa" and cell.device_type == "cpu"
        assert (cell.peak_bytes, cell.repeats) == (None, 1)
    assert len({cell.real_tokens for cell in cells}) == 1


def test_a_visit_hardly_moves_the_weights_and_leaves_no_gradient(taken, tmp_path):
    made = []

    def kept(precision, layout):
        made.append(make_model(precision, layout))
        return made[-1]

    sweep.run(
        DOCUMENTS, kept, sweep.grid([4, 8]), path=tmp_path / "s.jsonl", identity=IDENTITY,
        documents_per_step=8, steps=1, rounds=1, device="cpu",
    )  # fmt: skip
    (net,) = made
    assert all(parameter.grad is None for parameter in net.parameters()) and net.training
    assert sorted(rows for _, rows in taken) == [[4, 4], [4, 4], [8], [8]]
    assert {group["lr"] <= 1e-4 for one, _ in taken for group in one.param_groups} == {True}


def test_the_last_micro_batch_of_a_layout_holds_what_is_left():
    documents = [[1] * n for n in (3, 1, 2)]
    for layout, widths in [("padded", [3, 2]), ("bucketed", [2, 3])]:
        made = sweep.micro_batches_of(documents, [0, 1, 2], sweep.Point(2, layout))
        assert [one["input_ids"].shape[1] for one in made] == widths
    packed = sweep.micro_batches_of(documents, [0, 1, 2], sweep.Point(2, "packed"))
    assert [one["input_ids"].shape for one in packed] == [(1, 4), (1, 2)]


def test_every_round_visits_all_points_in_an_order_of_its_own(taken, tmp_path):
    cells = run(tmp_path / "s.jsonl", sweep.grid([2, 4, 8]), rounds=4, steps=1)
    assert [cell.round for cell in cells] == [n // 3 for n in range(12)]
    orders = [tuple(cell.rows for cell in cells[n : n + 3]) for n in range(0, 12, 3)]
    assert {tuple(sorted(order)) for order in orders} == {(2, 4, 8)}
    assert len(set(orders)) > 1, "the mistake: one order favours the same point in every round"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 1}, "have seed = 0, this sweep has 1: choose another file"),
        ({"documents_per_step": 4}, "have documents_per_step = 8, this sweep has 4"),
        ({"device": "meta"}, "have device_type = cpu, this sweep has meta"),
        ({"steps": 3}, "have steps = 2, this sweep has 3"),  # groups of 3 steps are other documents
        ({"identity": replace(IDENTITY, model_fingerprint="n")}, "model_fingerprint = m, this"),
    ],
)
def test_a_sweep_with_other_settings_does_not_go_on_with_the_file(taken, tmp_path, other, message):
    given = {
        "path": tmp_path / "s.jsonl", "identity": IDENTITY, "documents_per_step": 8, "rounds": 1,
        "device": "cpu",
    }  # fmt: skip
    given["path"].touch()  # by a disk that was full
    sweep.run(DOCUMENTS, make_model, [PADDED], **given)
    with pytest.raises(ValueError, match=message):
        sweep.run(DOCUMENTS, make_model, [PADDED], **given | other)
    assert len(records.read(tmp_path / "s.jsonl")) == 1


def test_data_and_model_are_the_same_however_the_way_to_them_is_spelled(tmp_path, monkeypatch):
    """The fault: `--model ./tiny` did not go on with the sweep of `--model tiny`."""
    monkeypatch.chdir(tmp_path)
    for name in ("tiny", "other"):
        Path(name).mkdir()
        Path(name, "docs.jsonl").write_text(f'{{"input_ids": [1, 2, {len(name)}]}}\n')
    Path("link").symlink_to("tiny")
    ways = ["tiny", "./tiny", "other/../tiny", "link", str(tmp_path / "tiny")]
    assert {_source.model_name(way) for way in ways} == {"tiny"}
    told = {data.load(f"{way}/docs.jsonl").fingerprint for way in ways}
    assert len(told) == 1 and data.load("other/docs.jsonl").fingerprint not in told
    for name in ("org/tiny", "gpt2"):
        assert _source.model_name(name) == name, "a name of a hub is no way"


def test_a_sweep_does_not_go_on_on_another_gpu(taken, tmp_path, monkeypatch):
    """The mistake: rounds of two machines in one cell, as if one had measured them."""
    path, now = tmp_path / "s.jsonl", {"device": "NVIDIA H100"}
    monkeypatch.setattr(sweep.records, "environment", lambda **_: now)
    first = run(path, [PADDED], rounds=1, device="cpu")
    assert run(path, [PADDED], rounds=1, device="cpu") == first
    now = {"device": "NVIDIA H200"}
    with pytest.raises(ValueError, match="have device = NVIDIA H100, this sweep has NVIDIA H200"):
        run(path, [PADDED], rounds=2, device="cpu")


def test_a_visit_without_memory_keeps_the_first_line_of_the_error(tmp_path, monkeypatch):
    def train_step(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")

    monkeypatch.setattr(stopwatch.loop, "train_step", train_step)
    (cell,) = run(tmp_path / "s.jsonl", [PADDED], rounds=1)
    assert (cell.status, cell.error, cell.steps) == ("out_of_memory", "CUDA out of memory.", 0)
    assert cell.warmup_steps == 1 and cell.documents_per_step == 8


@pytest.mark.parametrize("seed", range(4))
def test_on_a_processor_the_first_group_warms_up_and_the_others_count(monkeypatch, tmp_path, seed):
    sums = []

    def train_step(model, optimizer, micro_batches, **options):
        sums.append(sum(int(one["input_ids"].sum()) for one in micro_batches))
        optimizer.step()

    monkeypatch.setattr(stopwatch.loop, "train_step", train_step)
    run(tmp_path / "s.jsonl", [PADDED], rounds=1, seed=seed, device="cpu")
    groups = sweep.step_groups(len(DOCUMENTS), 8, 3, seed=seed)
    assert sums == [sum(sum(DOCUMENTS[number]) for number in group) for group in groups]


def test_the_largest_group_is_that_of_the_largest_micro_batch():
    documents = [[1] * n for n in (10, 1, 6, 6)]
    assert sweep._largest(documents, [[2, 3], [0, 1]], sweep.Point(1)) == [0, 1], "10, and not 6"
