"""What a cell takes for granted, what a line may hold, and what a machine says of itself."""

import datetime
import importlib.metadata
import math
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from batchlab import cli, records
from batchlab.counts import Counts
from batchlab.records import Cell, Parts, _environment, require_same
from tests.planted import cell, change, ended

SETTING = {"rows": 1, "layout": "padded", "checkpointing": False, "precision": "float32"}
LEAST = {"steps": 1, "micro_batches": 1, "seconds": 1e-9, "counts": Counts(0, 0, 1, None, 0, 0)}


def test_a_cell_that_holds_nothing_holds_zeros_on_one_device():
    one = Cell(**SETTING, status="out_of_memory")
    assert (one.steps, one.warmup_steps, one.micro_batches, one.seconds) == (0, 0, 0, 0.0)
    assert (one.data_parallel, one.repeats) == (1, 1) and not one.finished
    assert one.parts.total_seconds == 0.0
    with pytest.raises(ValueError, match="a cell that did not finish has no slots"):
        _ = one.slots


def test_one_step_of_one_slot_is_the_least_that_finishes():
    one = Cell(**SETTING, **LEAST)
    assert (one.slots, one.real_tokens, one.documents, one.mean_step_seconds) == (1, 0, 0, 1e-9)


@pytest.mark.parametrize("name", ["steps", "micro_batches", "seconds"])
def test_a_finished_cell_has_some_of_everything(name):
    with pytest.raises(ValueError, match=f"{name} of a finished cell must be above 0, got 0"):
        Cell(**SETTING, **LEAST | {name: 0})
    with pytest.raises(ValueError, match="slots of a finished cell must be above 0, got 0"):
        Cell(**SETTING, **LEAST | {"counts": Counts(0, 0, 0, None, 0, 0)})


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"rows": 0}, "rows must be at least 1, got 0"),
        ({"rows": -1}, "rows must be a whole number >= 0, got -1"),
        ({"rows": True}, "rows must be a whole number >= 0, got True"),
        ({"rows": 1.0}, "rows must be a whole number >= 0, got 1.0"),
        ({"seconds": math.inf}, "seconds must be a finite number >= 0, got inf"),
        ({"seconds": math.nan}, "seconds must be a finite number >= 0, got nan"),
        ({"seconds": True}, "seconds must be a finite number >= 0, got True"),
        ({"layout": 3}, "layout must be a text, got 3"),
        ({"checkpointing": 1}, "checkpointing must be true or false, got 1"),
        ({"environment": []}, r"environment must be an object, got \[\]"),
        ({"step_seconds": (1.0, -1.0)}, "step_seconds must be a list, each entry a finite number"),
        ({"step_slots": (1.0,)}, "step_slots must be a list, each entry a whole number"),
        ({"step_slots": [1]}, "step_slots must be a list, each entry a whole number"),
        ({"step_slots": (1, 2)}, "step_slots has 2 entries for 1 steps"),
        ({"step_slot_pairs": ()}, "step_slot_pairs has 0 entries for 1 steps"),
        ({"counts": Counts(0, 0, 1, -1, 0, 0)}, "target_tokens must be a whole number >= 0"),
        ({"counts": Counts(0, None, 1, 1, 0, None)}, "cell lacks real_tokens, slot_pairs"),
        ({"step_parts": {"sleep": (0.0,)}}, "step_parts has no part 'sleep'; there are input, "),
        ({"step_parts": {"input": (0.0, 1.0)}}, "step_parts of input has 2 entries for 1 steps"),
        ({"step_parts": {"input": (-1.0,)}}, "step_parts of input must be a list, each entry"),
        ({"step_parts": {"input": [1.0]}}, "step_parts of input must be a list, each entry"),
    ],
)
def test_no_field_of_a_cell_is_beyond_its_limit(new, message):
    with pytest.raises(ValueError, match=message):
        Cell(**SETTING | LEAST | new)


def test_numbers_that_are_zero_and_fields_that_are_unknown_are_allowed():
    one = Cell(
        **SETTING, **LEAST, step_seconds=(0,), step_slots=(0,), step_slot_pairs=(0,),
        step_parts={"input": (0,)}, outside_seconds=0, peak_bytes=0,
    )  # fmt: skip
    assert one.step_seconds == (0,) and Cell(**SETTING, **LEAST, accumulation=None).finished


def test_parts_add_where_both_sides_timed_them():
    both = Parts(input_seconds=1.0, host_seconds=2.0) + Parts(input_seconds=0.5)
    assert both == Parts(input_seconds=1.5) and both.total_seconds == 1.5


def test_what_two_visits_share_stays_and_the_rest_adds():
    one = change(
        cell(2), round=1, run="a", peak_bytes=5, outside_seconds=1.0, allocator_retries=2,
        warmup_steps=3,
    )  # fmt: skip
    other = replace(one, round=2, run="b", peak_bytes=7, warmup_steps=1)
    both = one + other
    assert (both.round, both.run, both.peak_bytes) == (None, None, 7)
    assert (both.outside_seconds, both.allocator_retries, both.warmup_steps) == (2.0, 4, 4)
    assert both.repeats == 2 and (both + one).repeats == 3 and (both + both).repeats == 4
    assert both.steps == 2 * one.steps and both.micro_batches == 2 * one.micro_batches
    same = one + one
    assert (same.round, same.run) == (1, "a")
    assert (one + replace(one, peak_bytes=None)).peak_bytes == 5
    assert (replace(one, peak_bytes=None) + replace(one, peak_bytes=None)).peak_bytes is None


@pytest.mark.parametrize("ours", [True, False])
def test_a_cell_that_ran_out_of_memory_is_not_added_on_either_side(ours):
    one, gone = cell(2), ended(2)
    with pytest.raises(ValueError, match="ran out of memory holds nothing to add"):
        gone + one if ours else one + gone


def test_cells_that_differ_are_refused_by_what_they_differ_in():
    one = cell(2)
    require_same([], "why")
    require_same([one, cell(4)], "why")
    require_same([one, replace(one, precision="bfloat16")], "why")
    message = r"the records differ in precision \(bfloat16, float32\): why"
    with pytest.raises(ValueError, match=message):
        require_same([one, replace(one, precision="bfloat16")], "why", precision=True)
    with pytest.raises(ValueError, match=r"differ in data_parallel \(1, 2\): why"):
        require_same(iter([one, replace(one, data_parallel=2)]), "why")
    require_same([one, one], "why", precision=True)


# lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "accepted"), [(None, True), (1, True), (2, True), (3, False), ("2", False)]
)
def test_a_schema_up_to_this_one_is_read(schema, accepted):
    line = records.as_record(Cell(**SETTING, **LEAST)) | {"schema": schema}
    if schema is None:
        del line["schema"]
    if accepted:
        assert records.cell(line).steps == 1
    else:
        with pytest.raises(ValueError, match="is newer than the 2 that this version of batchlab"):
            records.cell(line)


def test_a_file_of_one_byte_and_a_line_that_was_torn_are_ended_first(tmp_path):
    path = tmp_path / "a.jsonl"
    for before, after in [("", ""), ("\n", "\n"), ("x", "x\n"), ('{"a": 1}', '{"a": 1}\n')]:
        path.write_text(before)
        records.append(path, {"b": 2})
        assert path.read_text() == after + '{"b": 2}\n'


def test_zeros_that_a_power_cut_left_are_a_torn_line(tmp_path):
    """The fault: one such block, with the records of the next launch behind it, and no record of
    the file was read any more."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"a": 1}\n' + bytes(512))
    records.append(path, {"a": 2})
    found = records.read(path)
    assert found == [{"a": 1}, {"a": 2}] and found.torn == ["\0" * 512]
    (tmp_path / "link.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(ValueError, match=r"link\.jsonl: a link to gone\.jsonl, which is not there"):
        records.read(tmp_path / "link.jsonl")


def test_a_folder_inside_a_folder_is_made_for_the_first_line(tmp_path):
    records.append(tmp_path / "not" / "there" / "a.jsonl", {"b": 2})
    records.append(tmp_path / "not" / "there" / "a.jsonl", {"b": 3})
    assert len(records.read(tmp_path / "not" / "there" / "a.jsonl")) == 2


def test_a_name_with_a_folder_or_a_suffix_is_a_file_here(tmp_path, monkeypatch):
    """The mistake beside the law: the library's own sweep for a file that is missing."""
    monkeypatch.chdir(tmp_path)
    for name in ("runs/sweep", "sweep.jsonl", "./runs/cpu_sweep", "../evidence/cpu_sweep"):
        with pytest.raises(ValueError, match="no such file of records"):
            records.read(name)
    records.append("runs/sweep", {"b": 2})
    assert records.read("runs/sweep") == [{"b": 2}]
    records.append("sweep", {"a": 1})
    with pytest.raises(ValueError, match=r"^sweep: a file here and records of the library"):
        records.read("sweep")
    assert records.begun("sweep") == records.read(Path("sweep").resolve()) == [{"a": 1}]


@pytest.mark.parametrize("name", ["seconds", "slots", "slot_pairs", "host_seconds"])
def test_a_line_of_which_one_number_was_changed_is_refused(tmp_path, name):
    """The fault: a record of half the seconds was read as measured."""
    path = tmp_path / "run.jsonl"
    measured = next(one for one in records.read("own_run") if one["source"] != "probe")
    records.append(path, measured)
    assert records.read(path).cells()
    records.append(path, measured | {name: measured[name] * 2 + 1})
    with pytest.raises(
        ValueError, match=rf"run\.jsonl, line 2: {name} is \S+, its steps add up to"
    ):
        records.read(path).cells()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full, of Linux")
def test_a_full_disk_names_the_file():
    """The fault: `sweep` and `fit` ended with "No space left on device", of which disk unsaid."""
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        records.append("/dev/full", {"kind": "line"})


def test_a_file_that_is_empty_is_begun_and_not_read(tmp_path):
    """The fault: what a full disk left behind, a file without a byte, stopped a sweep for good."""
    path = tmp_path / "cells.jsonl"
    assert records.begun(path) == [] and not path.exists()
    path.touch()
    assert records.begun(path) == []
    records.append(path, {"a": 1})
    assert records.begun(path) == records.read(path) != []
    for text, opened in (("", records.read), ("\n", records.begun)):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"cells\.jsonl: no records in it"):
            opened(path)


# the machine ---------------------------------------------------------------------------------


def test_the_date_is_now_in_utc_to_the_second():
    said = datetime.datetime.fromisoformat(records.now())
    assert said.utcoffset() == datetime.timedelta(0) and said.microsecond == 0
    assert abs(said.timestamp() - time.time()) < 60


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(_environment, "_commit", lambda: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda who: {0: {3, 5, 6}}[who], raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert records.environment()["cores"] == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert records.environment()["cores"] == 64


def test_versions_are_those_of_the_packages_and_none_of_what_is_missing(monkeypatch):
    monkeypatch.setattr(_environment, "_commit", lambda: None)
    found = records.environment(attention="sdpa")
    assert found["versions"]["numpy"] == importlib.metadata.version("numpy")
    assert found["attention"] == "sdpa"
    assert _environment._version("no-such-package-here") is None


def test_the_commit_is_the_one_that_is_told_else_that_of_the_clone(monkeypatch):
    monkeypatch.setattr(
        _environment, "_said", lambda command: "abc" if "describe" in command else None
    )
    monkeypatch.setenv("BATCHLAB_COMMIT", "mine")
    assert records.environment()["commit"] == "mine"
    monkeypatch.delenv("BATCHLAB_COMMIT")
    assert records.environment()["commit"] == "abc"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cpu family\t: 6\nmodel name\t: A: fast one \nmodel name\t: B\n", "A: fast one"),
        ("cpu family\t: 6\n", "plain"),
        (None, "plain"),
    ],
)
def test_the_processor_is_the_name_of_its_model(monkeypatch, text, wanted):
    def read_text(path):
        if text is None:
            raise FileNotFoundError(path)
        return text

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(_environment.platform, "processor", lambda: "plain")
    assert _environment._processor() == wanted
    monkeypatch.setattr(_environment.platform, "processor", lambda: "")
    assert _environment._processor() == (wanted if text and "model" in text else "unknown")


def test_a_gpu_is_told_where_torch_is_loaded_and_sees_one(monkeypatch):
    cuda = SimpleNamespace(
        is_available=lambda: True, current_device=lambda: 1,
        get_device_properties=lambda at: SimpleNamespace(name=f"gpu {at}", total_memory=2**36),
        get_device_capability=lambda at: (9, at),
    )  # fmt: skip
    version = SimpleNamespace(cuda="13.0")
    backends = SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91_000))
    loaded = SimpleNamespace(cuda=cuda, version=version, backends=backends)
    monkeypatch.setitem(sys.modules, "torch", loaded)
    monkeypatch.setattr(_environment, "_said", lambda command: command[0])
    assert _environment._accelerator() == {
        "device": "gpu 1", "device_bytes": 2**36, "cuda": "13.0", "cudnn": 91_000,
        "capability": "9.1", "driver": "nvidia-smi",
    }  # fmt: skip
    cuda.is_available = lambda: False
    none = dict.fromkeys(("device_bytes", "cuda", "cudnn", "capability", "driver"))
    assert _environment._accelerator() == {"device": "cpu", **none}
    monkeypatch.delitem(sys.modules, "torch")
    assert _environment._accelerator() == {"device": "cpu", **none}


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (["printf", "one\\ntwo"], "one"),
        (["printf", "  \\n one"], "one"),
        (["true"], None),
        (["no-such-command-here"], None),
    ],
)
def test_a_command_says_its_first_line_or_nothing(command, wanted):
    assert _environment._said(command) == wanted


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "unknown device"),
        ({"date": "2026-11-22T09:00:00"}, "unknown device, 2026-11-22"),
        ({"device": "cpu", "processor": "A"}, "A"),
        ({"device": "H100", "processor": "A", "date": None}, "H100"),
        ({"processor": "A", "date": "2026-11-22"}, "A, 2026-11-22"),
    ],
)
def test_a_machine_is_its_gpu_else_its_processor_and_the_day(environment, said):
    assert records.machine(environment) == said


def test_two_measurements_do_not_share_a_file(tmp_path, capsys):
    """The fault: two sweeps timed each other and wrote each cell twice; of two searches each took
    what the other was trying for what had killed a process."""
    pytest.importorskip("fcntl")
    path = tmp_path / "deep" / "cells.jsonl"
    with records.sole(path):
        records.append(path, {"kind": "note"})
        for verb in ("sweep", "fit"):
            assert cli.main([verb, "--device", "cpu", "--output", str(path)]) == 1
            said = f"batchlab: {path} is in use by process {os.getpid()}: one measurement at a time"
            assert capsys.readouterr().err == f"{said}, or another file\n"
    with records.sole(path), records.sole(None):
        assert len(records.read(path)) == 1
