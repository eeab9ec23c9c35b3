"""`batchlab train`: what a step sees is fixed by the seed, and a kill changes nothing."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from batchlab import cli, records
from batchlab.cluster import _alive as alive
from batchlab.cluster import training
from batchlab.cluster._heard import Heard, say
from batchlab.cluster._process import dealt, pieces


def test_every_row_is_trained_once_an_epoch_and_each_epoch_has_its_own_order():
    epochs = [
        [row for step in steps for one in pieces(40, 2, 0, step) for row in one]
        for steps in (range(2), range(2, 4))
    ]
    assert all(len(set(one)) == 32 for one in epochs), "40 rows are two steps of 16, 8 wait"
    assert epochs[0] != epochs[1] and pieces(40, 2, 0, 3) == pieces(40, 2, 0, 3)
    assert pieces(40, 2, 1, 0) != pieces(40, 2, 0, 0)


def test_too_few_rows_for_a_step_are_refused():
    with pytest.raises(ValueError, match="15 rows to train on, and a step takes 16"):
        pieces(15, 2, 0, 0)


def test_pieces_are_dealt_by_their_cost():
    assert dealt([9, 1, 1, 1, 1, 5], 2) == [[0], [5, 1, 2, 3, 4]]
    shares = dealt([7, 3, 3, 3, 2, 2, 2, 2], 3)
    assert sorted(one for share in shares for one in share) == list(range(8))
    assert dealt([4] * 8, 3) == [[0, 3, 6], [1, 4, 7], [2, 5]]


def test_what_cannot_run_is_refused_before_a_process_starts(tmp_path):
    with pytest.raises(ValueError, match="form must be one of ddp, fsdp, plain"):
        training.launch(tmp_path, training.Settings(form="zero"), steps=1, processes=1)
    with pytest.raises(ValueError, match="9 processes: a step has 8 pieces"):
        training.launch(tmp_path, training.Settings(), steps=1, processes=9)


def heard(folder, *lines):
    """What a launcher hears of processes that print these lines."""
    found = Heard(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), folder / "log.txt")
    found.wait()
    return found


@pytest.mark.parametrize(
    "echo",
    [
        "RuntimeError: Connection closed by peer [127.0.0.1]:49846.",
        "raised RuntimeError: Application timeout caused pair closure",
    ],
)
def test_the_reason_names_who_failed_first_and_what_is_done(tmp_path, echo, monkeypatch):
    (tmp_path / "curve.jsonl").write_text('{"step": 3, "tokens": 9}\n{"step": 4')
    lines = [
        f"batchlab: process 0 {echo}",
        "E api.py failed (exitcode: -9) local_rank: 1 (pid: 7)",
    ]
    killed = training._reason(tmp_path, heard(tmp_path, *lines))
    assert killed.startswith("process 1 was killed by signal 9") and "; 3 steps done;" in killed
    lines.append("batchlab: process 1 raised ValueError: no")
    mistake = training._reason(tmp_path, heard(tmp_path, *lines))
    assert mistake.startswith("process 1 raised ValueError: no; 3 steps")
    assert killed.endswith(". The same command begins anew") and "command" not in mistake
    held = '{"step": 3, "tokens": 9, "held_out": 1}\n{"step": 4, "tokens": 12}\n'
    (tmp_path / "curve.jsonl").write_text(held)  # the fault: that command is refused
    gone = training._reason(tmp_path, heard(tmp_path, lines[1]))
    assert gone.endswith("Its checkpoints are gone: bring them back, or give another folder")
    (tmp_path / "curve.jsonl").write_text('{"step": 3, "tokens": 9}\n')
    monkeypatch.setattr(training, "kept", lambda _: 2)
    again = training._reason(tmp_path, heard(tmp_path, *lines[:2]))
    assert again.endswith(". The same command goes on from step 2")
    alone = training._reason(tmp_path, heard(tmp_path, *lines[:2]), -9)  # they were outlived
    assert alone.startswith("torchrun was killed by signal 9 (9 is often the system, short of")
    assert training._reason(tmp_path, heard(tmp_path, *lines[:2]), 1) == again


def test_last_words_behind_a_bar_of_progress_are_heard(tmp_path, capfd):
    """The fault: a file that was read slowly left a bar, and the run was said to have ended before
    it could join, whatever it had said.
    """
    os.write(2, b"\rsome.jsonl: 3,000 documents\r                 \r")
    say(1, "raised ValueError: no\nand more")
    found = heard(tmp_path, capfd.readouterr().err)
    assert found.said == {"1": "raised ValueError: no"}


def test_who_is_silent_and_who_never_came(tmp_path):
    alive.ask(tmp_path, {"launch": "this"})
    alive.beat(tmp_path, 0, os.getpid(), "this")
    (beating,) = tmp_path.glob("alive_0_*")
    quiet = beating.with_name(beating.name.replace("alive_0", "alive_1"))
    quiet.touch()  # nobody beats for it
    os.utime(quiet, (0, 0))
    found = alive.silent(tmp_path, 0, 3, 5.0)
    assert found.keys() == {1, 2} and found[1] > 1e6 and found[2] is None
    assert not alive.silent(tmp_path, 0, 1, 5.0)


def test_a_process_that_ended_before_it_could_say_why_is_named(tmp_path):
    told = heard(tmp_path, "E api.py failed (exitcode: 1) local_rank: 1 (pid: 7)")
    reason = training._reason(tmp_path, told)
    assert reason.startswith("process 1 ended with exit code 1 before it")
    assert "failed (exitcode: 1)" in (tmp_path / "log.txt").read_text()


def members(folder):
    """Process numbers of torchrun and the ranks of a run."""
    words = ["pgrep", "-f", f"_member [0-9a-f]+ {folder}$"]
    found = subprocess.run(words, capture_output=True, text=True)
    return [int(one) for one in found.stdout.split()]


def took(folder):
    return [
        (line["step"], line["tokens"], line["loss"], line["grad_norm"], line.get("held_out"))
        for line in training.curve(folder)
    ]


@pytest.mark.deep
@pytest.mark.parametrize("form", ["ddp", "fsdp"])
def test_a_killed_run_lies_on_the_undisturbed_one_and_goes_on_with_other_processes(tmp_path, form):
    settings = training.Settings(rows=1, length=64, form=form)
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    training.launch(calm, settings, steps=8, processes=2)
    deaths = []

    def kill(lines):
        if len(lines) >= 3 and not deaths:
            deaths.append(members(killed)[-1])
            os.kill(deaths[0], signal.SIGKILL)

    training.launch(killed, settings, steps=6, processes=2, heard=kill)
    assert deaths and took(killed)[:5] == took(calm)[:5], "bit for bit"
    training.launch(killed, settings, steps=8, processes=3)
    for ours, theirs in zip(took(killed), took(calm), strict=True):
        assert ours[:4] == pytest.approx(theirs[:4], rel=1e-4)
    with pytest.raises(ValueError, match=r"holds another run, with rows 1 and not 2: give"):
        training.launch(calm, training.Settings(rows=2, length=64), steps=12, processes=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stream", "told"),
    [
        pytest.param(False, "holds a run of other documents", marks=pytest.mark.deep),
        (True, "some.jsonl changed and grew"),
    ],
)
def test_other_documents_under_the_same_name_are_refused(tmp_path, stream, told):
    """The mistake: the file was written anew, and the run went on as if it were the same."""
    file = tmp_path / "some.jsonl"
    settings = training.Settings(str(file), rows=1, length=64, stream=stream)

    def run(words, steps):
        lines = [json.dumps({"text": f"{number} {words} of a document"}) for number in range(900)]
        file.write_text("\n".join(lines))
        return training.launch(tmp_path / "run", settings, steps=steps, processes=1, restarts=0)

    assert len(run("words", 2)) == 2 and len(run("words", 3)) == 3
    with pytest.raises(RuntimeError, match=told):
        run("other words", 4)
    starts = (tmp_path / "run/log.txt").read_text().count(", to step ")
    assert starts == 3, "each start has its lines in one log"


@pytest.mark.slow
def test_two_processes_from_the_command_line_leave_what_the_doctor_reads(tmp_path, capsys):
    words = [
        "train",
        str(tmp_path),
        "--nproc",
        "2",
        "--steps",
        "6",
        "--rows",
        "1",
        "--length",
        "64",
    ]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "6 steps of 8 packed rows of 64 slots" in said and "held out" in said
    files = records.files_of(tmp_path / "monitor.jsonl")
    (cell, other) = [records.read(one).cells()[0] for one in files]
    assert cell.rows == 1 and (cell.ranks, other.ranks) == ((0,), (1,))
    assert cli.main(["doctor", str(tmp_path / "monitor.jsonl")]) == 0
    assert "useful tokens/s" in capsys.readouterr().out


@pytest.mark.slow
def test_a_process_that_raises_is_named_and_nobody_hangs(tmp_path):
    few = tmp_path / "few.txt"
    few.write_text("one line only\n")
    settings = training.Settings(str(few))
    with pytest.raises(RuntimeError, match="rows to train on, and a step takes 16"):
        training.launch(tmp_path / "run", settings, steps=3, processes=2, restarts=0)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [0, 2], ids=["before it joins", "between two steps"])
def test_a_process_that_stands_still_is_named_and_ended(tmp_path, steps):
    stopped = []

    def stop(lines):
        there = len(list(tmp_path.glob("alive_*"))) == 2
        if not stopped and there and len(lines) >= steps:
            stopped.append(members(tmp_path)[-1])
            os.kill(stopped[0], signal.SIGSTOP)

    settings = training.Settings(rows=1, length=64)
    how = {"steps": 999, "processes": 2, "restarts": 0, "timeout": 30.0}
    with pytest.raises(RuntimeError, match=r"^process \d fell silent \d+ s ago \(stopped\?\); "):
        training.launch(tmp_path, settings, heard=stop, **how)
    assert stopped and not members(tmp_path), "nobody is left behind"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
def test_a_process_out_of_memory_is_named(tmp_path):
    import resource

    hit = []

    def take_memory(lines):
        if lines and not hit:
            hit.append(members(tmp_path)[-1])
            resource.prlimit(hit[0], resource.RLIMIT_AS, (4096, 4096))

    settings = training.Settings(rows=1, length=64)
    with pytest.raises(
        RuntimeError, match=r"^process \d (raised .*memory|was killed by signal|fell silent)"
    ):
        training.launch(
            tmp_path, settings, steps=999, processes=2, restarts=0, timeout=120.0, heard=take_memory
        )
    assert hit and not members(tmp_path)


@pytest.mark.slow
def test_without_its_launcher_a_run_ends(tmp_path):
    code = "import sys; from pathlib import Path; from batchlab.cluster import training as t; "
    code += "t.launch(Path(sys.argv[1]), t.Settings(rows=1, length=64), steps=9999, processes=2)"
    launcher = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        wait_until(lambda: training.curve(tmp_path))
    finally:
        launcher.kill()
        launcher.wait()
    wait_until(lambda: not members(tmp_path))


def wait_until(so, seconds=600):  # a busy machine takes its time
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)
