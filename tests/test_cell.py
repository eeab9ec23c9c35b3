"""A cell is read as it was written, refused with its place where it is none, and added exactly."""

import json
from dataclasses import replace

import pytest

from batchlab import records
from batchlab.counts import Counts
from batchlab.memory import limits
from batchlab.records import Cell, Identity, Model, Parts, as_record
from tests.planted import at_speed, cell, change, ended, visits

LINE = {
    "rows": 2, "layout": "padded", "checkpointing": False, "precision": "float32", "status": "ok",
    "steps": 2, "micro_batches": 4, "seconds": 0.5, "step_seconds": [0.2, 0.3],
    "documents": 8, "real_tokens": 30, "slots": 40, "real_pairs": 300, "slot_pairs": 400,
    "model": {"name": "small", "parameters": 7}, "input_seconds": 0.1,
}  # fmt: skip


def written(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return records.read(path)


def test_a_line_is_read_by_hand():
    one = records.cell(LINE)
    assert (one.rows, one.layout, one.steps, one.seconds) == (2, "padded", 2, 0.5)
    assert one.counts == Counts(8, 30, 40, None, 300, 400)
    assert one.identity == Identity(Model("small", 7, None))
    assert one.parts == Parts(input_seconds=0.1) and one.parts.total_seconds == 0.1
    assert one.step_seconds == (0.2, 0.3) and one.step_slots is None
    assert one.waste == 0.25 and one.mean_step_seconds == 0.25 and one.device is None


@pytest.mark.parametrize("one", [cell(4), ended(4), *visits(1), records.cell(LINE)])
def test_what_was_written_is_read_back_equal(one, tmp_path):
    records.append(tmp_path / "a.jsonl", one)
    assert records.read(tmp_path / "a.jsonl").cells() == [one]
    assert as_record(one)["schema"] == records.SCHEMA


def test_records_without_a_schema_number_hold_what_they_held():
    """The committed sweep is older than cells; the goldens hold what the verbs make of it."""
    lines = records.read("cpu_sweep")
    cells = lines.cells()
    assert len(cells) == len(lines) == 60 and "schema" not in lines[0]
    for line, one in zip(lines, cells, strict=True):
        again = as_record(one)
        assert {name: again[name] for name in line} == line, "nothing is lost"
        assert one.more == {}


def test_what_is_not_known_here_is_kept_and_written_back():
    one = records.cell(LINE | {"watts": 300, "note": {"by": "me"}})
    assert one.more == {"watts": 300, "note": {"by": "me"}}
    assert records.cell(as_record(one)) == one and as_record(one)["watts"] == 300


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"seconds": "fast"}, "seconds must be a finite number >= 0, got 'fast'"),
        ({"seconds": float("nan")}, "seconds must be a finite number >= 0, got nan"),
        ({"seconds": 0.0}, "seconds of a finished cell must be above 0"),
        ({"micro_batches": 0}, "micro_batches of a finished cell must be above 0, got 0"),
        ({"steps": True}, "steps must be a whole number >= 0, got True"),
        ({"slots": -40}, "slots must be a whole number >= 0, got -40"),
        ({"real_tokens": 1.5}, "real_tokens must be a whole number >= 0, got 1.5"),
        ({"real_tokens": None}, "a finished cell lacks real_tokens"),
        ({"step_seconds": [0.5]}, "step_seconds has 1 entries for 2 steps"),
        ({"step_seconds": [0.2, "x"]}, "step_seconds must be a list, each entry a finite number"),
        ({"step_seconds": 0.5}, "step_seconds must be a list"),
        ({"input_seconds": float("inf")}, "input_seconds must be a finite number >= 0, got inf"),
        (
            {"step_parts": {"tea": [1, 2]}},
            "step_parts has no part 'tea'; there are input, optimizer",
        ),
        ({"step_parts": {"host": [1]}}, "step_parts of host has 1 entries for 2 steps"),
        ({"step_parts": {"host": [1, -2]}}, "step_parts of host must be a list, each entry a fin"),
        ({"step_parts": {"host": 0.5}}, "step_parts of host must be a list"),
        ({"rows": 0}, "rows must be at least 1, got 0"),
        ({"checkpointing": "no"}, "checkpointing must be true or false, got 'no'"),
        ({"status": "fine"}, "status must be ok or out_of_memory, got 'fine'"),
        ({"model": "gpt2"}, "model must be an object, got 'gpt2'"),
        ({"model": {"parameters": "many"}}, "parameters must be a whole number >= 0, got 'many'"),
        ({"rows": None, "layout": None}, "no cell, it lacks rows, layout; `batchlab sweep`"),
        ({"schema": 99}, "schema 99 is newer than the 2 that this version of batchlab reads"),
    ],
)
def test_what_is_no_cell_is_refused_in_one_line_with_its_place(new, message, tmp_path):
    """None of these may reach the arithmetic: there it is a traceback, or a wrong price."""
    found = written(tmp_path / "run.jsonl", LINE, {"kind": "peak"}, LINE | new)
    with pytest.raises(ValueError) as refused:
        found.cells()
    assert str(refused.value).startswith(f"{tmp_path / 'run.jsonl'}, line 3: {message}")
    assert "\n" not in str(refused.value)


def test_empty_and_torn_lines_do_not_move_the_place(tmp_path):
    path = tmp_path / "run.jsonl"
    bad = json.dumps(LINE | {"steps": -1})
    path.write_text(f'{json.dumps(LINE)}\n\n{{"rows": 2, "sec\n{bad}\n')
    with pytest.raises(ValueError, match=r"run\.jsonl, line 4: steps must be"):
        records.read(path).cells()


def test_no_invalid_cell_can_be_made_by_hand_either():
    with pytest.raises(ValueError, match="a finished cell lacks documents, real_tokens, slots"):
        Cell(rows=1, layout="padded", checkpointing=False, precision="float32")
    with pytest.raises(ValueError, match="steps must be a whole number"):
        replace(cell(4), steps=-1)
    with pytest.raises(ValueError, match="a cell that did not finish has no slots"):
        _ = ended(4).slots


def test_parts_step_by_step_are_read_back_and_join_where_both_know_them():
    one = records.cell(LINE | {"step_parts": {"input": [0.0, 0.1], "host": [0.01, 0.0]}})
    assert one.step_parts == {"input": (0.0, 0.1), "host": (0.01, 0.0)}
    assert records.cell(json.loads(json.dumps(as_record(one)))) == one
    other = replace(one, step_parts={"input": (0.2, 0.3)}, outside_seconds=1.5)
    assert (one + other).step_parts == {"input": (0.0, 0.1, 0.2, 0.3)}
    assert (one + other).outside_seconds is None and (other + other).outside_seconds == 3.0


def test_cells_of_one_setting_add():
    first, second = cell(4), at_speed(cell(4), 2)
    both = first + second
    assert both.counts == first.counts + second.counts and both.repeats == 2
    assert both.seconds == pytest.approx(3 * first.seconds)
    assert both.step_seconds == first.step_seconds + second.step_seconds
    assert (both.steps, both.micro_batches) == (12, 48)
    assert records.cell(as_record(both)) == both


def test_what_one_side_does_not_know_is_not_known_of_both():
    timed = change(cell(4), input_seconds=0.5, optimizer_seconds=0.25, allocator_retries=3)
    untimed = change(cell(4), input_seconds=0.5, peak_bytes=7)
    both = timed + untimed
    assert both.parts == Parts(input_seconds=1.0), "the mistake: an optimizer of 0.25 s"
    assert both.allocator_retries is None and both.peak_bytes == 7
    assert (change(cell(4), step_slots=None) + cell(4)).step_slots is None


@pytest.mark.parametrize(
    "new", [{"rows": 8}, {"accumulation": 9}, {"model_fingerprint": "x"}, {"precision": "int3"}]
)
def test_cells_of_two_settings_do_not_add(new):
    (name,) = new
    with pytest.raises(ValueError, match=f"cells of two settings do not add: {name}"):
        _ = cell(4) + change(cell(4), **new)
    with pytest.raises(ValueError, match="ran out of memory holds nothing to add"):
        _ = cell(4) + ended(4)


def test_the_environment_says_what_a_measurement_on_a_gpu_depends_on(monkeypatch):
    monkeypatch.setenv("BATCHLAB_COMMIT", "abc1234")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    found = records.environment(attention="sdpa")
    assert (found["commit"], found["attention"]) == ("abc1234", "sdpa")
    assert found["allocator"] == "expandable_segments:True"
    assert {"driver", "cudnn", "capability", "cuda", "device_bytes"} <= set(found)
    if found["device"] == "cpu":
        assert found["driver"] is found["cudnn"] is found["capability"] is None


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    ],
)
def test_a_library_of_the_gpu_that_finds_no_memory_is_out_of_memory(text):
    assert limits.out_of_memory(RuntimeError(text))
    assert not limits.out_of_memory(RuntimeError("CUBLAS_STATUS_EXECUTION_FAILED"))
