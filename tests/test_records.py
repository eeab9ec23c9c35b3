"""Records: what was written is read back, and a kill costs at most one line."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from batchlab import records


def test_what_was_written_is_read_back(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    records.append(path, {"step_seconds": [0.1, 0.2], "rows": np.int64(8)})
    records.append(path, {"step_seconds": [0.3], "rows": 4})
    assert records.read(path) == [
        {"step_seconds": [0.1, 0.2], "rows": 8},
        {"step_seconds": [0.3], "rows": 4},
    ]


def test_a_torn_last_line_is_kept_and_reported_and_the_next_line_stays_whole(tmp_path):
    path = tmp_path / "runs.jsonl"
    records.append(path, {"rows": 1})
    with path.open("a") as file:
        file.write('{"rows": 2, "sec')
    found = records.read(path)
    assert found == [{"rows": 1}] and found.torn == ['{"rows": 2, "sec']
    records.append(path, {"rows": 3})
    again = records.read(path)
    assert again == [{"rows": 1}, {"rows": 3}] and again.torn == ['{"rows": 2, "sec']
    with path.open("a") as file:
        file.write('{"rows": 4, "sec')
    said = "were cut off by a kill and left out."
    assert records.read(path).left_out() == f"2 lines of {path} {said}", "the last one was told"


@pytest.mark.parametrize("cut", range(1, 50))
def test_a_record_torn_anywhere_is_reported_and_never_fatal(tmp_path, cut):
    path = tmp_path / "runs.jsonl"
    whole = json.dumps({"a": {"b": "\u00fc", "c": [1.5, None]}, "d": {"e": {}}, "f": True})
    path.write_text('{"rows": 1}\n' + whole[:cut])
    assert cut < len(whole)
    assert records.read(path) == [{"rows": 1}] and records.read(path).torn == [whole[:cut]]
    records.append(path, {"rows": 2})
    found = records.read(path)
    assert found == [{"rows": 1}, {"rows": 2}] and found.torn == [whole[:cut]]


@pytest.mark.parametrize("written", ["a}", "{}", '"}', "\\", "\u00fc}", "}" * 40])
def test_a_record_cut_inside_a_string_and_appended_to_stays_readable(tmp_path, written):
    """A brace inside a string ends no record: the line behind it was refused with its file."""
    path = tmp_path / "runs.jsonl"
    whole = json.dumps({"note": written + "..."})
    for cut in range(1, len(whole)):
        path.write_text('{"rows": 1}\n' + whole[:cut])
        records.append(path, {"rows": 2})
        found = records.read(path)
        assert found == [{"rows": 1}, {"rows": 2}] and found.torn == [whole[:cut]], whole[:cut]


def test_a_byte_order_mark_is_no_part_of_a_record(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"rows": 1}\n', encoding="utf-8-sig")
    records.append(path, {"rows": 2})
    assert records.read(path) == [{"rows": 1}, {"rows": 2}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "\n{}\n", "line 1: not JSON .*nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}\n{}\n", "line 1: not JSON .*thousands of digits"),
        ('{"rows": 1} x}\n{}\n', "line 1: not JSON .Extra data"),
    ],
)
def test_a_record_that_no_reader_can_hold_is_one_line(tmp_path, text, message):
    path = tmp_path / "runs.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        records.read(path)
    assert len(str(caught.value)) < 300


def test_writers_at_the_same_time_tear_nothing(tmp_path):
    path = tmp_path / "runs.jsonl"
    code = (
        "import sys; from batchlab import records\n"
        f"for i in range(40): records.append({str(path)!r}, "
        "{'by': sys.argv[1], 'i': i, 'x': 'y' * 9000})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    found = records.read(path)
    assert not found.torn and len(found) == 120
    for name in "abc":
        assert [record["i"] for record in found if record["by"] == name] == list(range(40))


def test_a_broken_line_in_the_middle_that_no_kill_can_leave_is_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"rows": 1}\nnonsense\n{"rows": 2}\n')
    with pytest.raises(ValueError, match="line 2: not JSON"):
        records.read(path)


def test_a_killed_writer_loses_at_most_its_last_line(tmp_path):
    path = tmp_path / "runs.jsonl"
    code = (
        "import itertools; from batchlab import records\n"
        f"for i in itertools.count(): records.append({str(path)!r}, {{'i': i, 'x': 'y' * 5000}})"
    )
    writer = subprocess.Popen([sys.executable, "-c", code])
    while not path.exists() or path.stat().st_size < 100_000:
        time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    found = records.read(path)
    assert [record["i"] for record in found] == list(range(len(found)))


@pytest.mark.parametrize("to_disk", [True, False])
def test_a_line_is_on_the_disk_when_the_call_returns_unless_it_need_not_be(
    tmp_path, monkeypatch, to_disk
):
    """The mistake: a line that survives its process, and not the machine."""
    path, on_disk = tmp_path / "runs.jsonl", []
    monkeypatch.setattr(os, "fsync", lambda _: on_disk.append(path.read_bytes()))
    records.append(path, {"rows": 1}, **({} if to_disk else {"to_disk": False}))
    assert path.read_bytes() == b'{"rows": 1}\n'
    assert on_disk == ([b'{"rows": 1}\n'] if to_disk else [])


def test_a_record_refuses_what_json_cannot_hold(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        records.append(tmp_path / "x.jsonl", {"loss": float("nan")})
    with pytest.raises(TypeError, match="object cannot stand in a record"):
        records.append(tmp_path / "x.jsonl", {"loss": object()})


@pytest.mark.parametrize(
    ("text", "message"), [("", "no records"), ("[1]\n", "a record is a JSON object")]
)
def test_files_without_records_are_refused(tmp_path, text, message):
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        records.read(path)
    with pytest.raises(ValueError, match="no such file"):
        records.read(tmp_path / "missing.jsonl")


def test_the_environment_names_the_machine_and_loads_no_torch():
    code = (
        "import json, sys; from batchlab import records; e = records.environment(); "
        "print(json.dumps(e)); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["cores"] >= 1 and found["versions"]["torch"] and found["date"].startswith("20")
