"""The folder of `batchlab train`: one start at a time, and what is damaged is named."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchlab import cli, data, model
from batchlab.cli import _progress
from batchlab.cluster import _alive as alive
from batchlab.cluster import _curve as curves
from batchlab.cluster import _lock as lock
from batchlab.cluster import _member, _name, _own, _pointer, training

HOLD = """
import sys, time
from pathlib import Path
from batchlab.cluster import _lock as lock
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""

LIFE = """
import sys, time
from pathlib import Path
from batchlab.cluster import _alive as alive, _lock as lock
folder, launcher = Path(sys.argv[1]), int(sys.argv[2])
lock.stay(folder)
alive.beat(folder, 0, launcher, "first")
print("beats", flush=True)
time.sleep(60)
"""


def test_what_replaces_a_file_is_on_the_disk_before_it_does(tmp_path, monkeypatch):
    """The mistake: what still lies in the buffer of Python is not what the disk is asked for."""
    path, part, held = tmp_path / "LATEST", tmp_path / "LATEST.part", []
    path.write_text("before")

    def look(_):
        held.append((part.read_text(), path.read_text()))

    monkeypatch.setattr(_pointer.os, "fsync", look)
    _pointer.replace(path, b"told")
    assert held == [("told", "before")]
    assert path.read_text() == "told" and not part.exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGSTOP")
def test_what_stands_still_is_not_waited_for_without_end(tmp_path, monkeypatch):
    """The mistake: Ctrl-C waited for a torchrun that was stopped, and for ever."""
    monkeypatch.setattr(training, "PATIENCE", 0.1)
    sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
    torchrun, member = subprocess.Popen(sleeps), subprocess.Popen(sleeps)
    for one in (torchrun, member):
        one.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, one.pid, os.WSTOPPED)
    (tmp_path / "alive_0_life_1").write_text(str(member.pid))
    training._ended(torchrun, tmp_path)
    assert torchrun.returncode == -signal.SIGKILL == member.wait(10)


@pytest.fixture
def holder(tmp_path):
    """A process that holds the folder."""
    words = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_a_second_start_is_refused_in_one_line_that_names_the_first(tmp_path, holder, capsys):
    """The fault: two starts trained in one folder, and both said that all was well."""
    (tmp_path / "asked.json").write_text("of the first")
    assert cli.main(["train", str(tmp_path), "--steps", "1"]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path} is in use by process {holder.pid} on " in said and said.count("\n") == 1
    assert (tmp_path / "asked.json").read_text() == "of the first"
    with pytest.raises(ValueError, match=r", since 2\d{3}-\d\d-\d\d \d\d:"):
        lock.require_free(tmp_path)


def test_the_lock_of_a_dead_process_is_no_obstacle(tmp_path, holder):
    holder.kill()
    holder.wait()
    lock.require_free(tmp_path)
    with lock.held(tmp_path):
        assert "process" in (tmp_path / "lock").read_text()


def test_what_is_refused_frees_the_folder(tmp_path):
    with pytest.raises(ValueError, match="form must be"):
        training.launch(tmp_path, training.Settings(form="zero"), steps=1, processes=1)
    with pytest.raises(ZeroDivisionError), lock.held(tmp_path):
        1 / 0  # noqa: B018
    lock.require_free(tmp_path)


def test_a_life_leaves_when_the_folder_names_another_launch_and_the_next_waits_for_it(tmp_path):
    """The fault: a launcher that was killed and started again trained beside its predecessor."""
    alive.ask(tmp_path, {"launch": "first"})
    words = [sys.executable, "-c", LIFE, str(tmp_path), str(os.getpid())]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        (tmp_path / alive.ASKED).write_text('{"lau')  # it goes on to look
        with pytest.raises(ValueError, match=rf"do not leave: end them \({process.pid}\), and st"):
            lock.alone(tmp_path, patience=1.0)
        alive.ask(tmp_path, {"launch": "second"})
        lock.alone(tmp_path)
        assert process.wait(5) == 0, "no fault: torchrun would start it anew"


def test_a_curve_whose_checkpoints_are_gone_is_not_begun_anew(tmp_path, capsys):
    """The fault: the same command in a folder without its checkpoints emptied the curve."""
    told = [{"step": 1, "tokens": 9}, {"step": 2, "tokens": 18, "held_out": 1.5}]
    (tmp_path / alive.ASKED).write_text("of that run")
    for line in told:
        curves.Written(tmp_path).append(line, to_disk=False)
    _own.require_saved(tmp_path)  # killed before its first checkpoint was named
    curves.Written(tmp_path).append({"step": 3, "tokens": 27}, to_disk=False)
    assert cli.main(["train", str(tmp_path), "--steps", "3"]) == 1
    said = capsys.readouterr().err
    assert "a curve of 3 steps, and its checkpoints are gone" in said and said.count("\n") == 1
    assert len(training.curve(tmp_path)) == 3


def test_a_folder_of_no_run_keeps_what_lies_in_it(tmp_path, capsys):
    """The fault: RUN was `.`, and the notes, the model and old checkpoints there were deleted."""
    own = ["notes.txt", "log.txt", "model/config.json", "checkpoints/step_5000/weights"]
    for name in own:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    assert cli.main(["train", str(tmp_path), "--steps", "1"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.endswith(
        "is no folder of a run, and a run would write over checkpoints, log.txt, model in it"
        ": give a new one\n"
    )
    found = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(map(str, found)) == sorted(own)


def test_what_somebody_laid_beside_the_trained_model_is_not_lost(tmp_path, capsys):
    """The fault: the same command again removed a model.gguf that was made in RUN/model."""
    model = tmp_path / "model"
    model.mkdir()
    for name in ("model.safetensors", ".hidden"):
        (model / name).write_text("written")
    (tmp_path / alive.ASKED).write_text("of that run")
    _own.require_alone(model)  # of an older batchlab: nothing says what a run wrote
    (model / "whole.json").write_text('{"files": {"model.safetensors": [7, "proof"]}}')
    _own.require_alone(model)
    (model / "model.gguf").write_text("mine")
    assert cli.main(["train", str(tmp_path), "--steps", "1"]) == 1
    said = capsys.readouterr().err
    assert f"{model} is written anew at the end" in said and said.count("\n") == 1
    assert "no run wrote model.gguf in it" in said and (model / "model.gguf").exists()


def test_a_name_to_which_no_model_can_be_written_is_refused_before_the_run(tmp_path, capsys):
    """The fault: all steps were trained, and then the weights had nowhere to go."""
    assert cli.main(["train", str(tmp_path / "run\udcff"), "--steps", "1"]) == 1
    said = capsys.readouterr().err
    assert "the name of a run's folder is UTF-8, got " in said
    assert said.count("\n") == 1 and not list(tmp_path.iterdir())
    _own.require_own(tmp_path / "Läufe 走")


def test_a_folder_without_a_name_is_refused(tmp_path, monkeypatch, capsys):
    """The fault: RUN="$UNSET" trained into the folder here, among its files."""
    monkeypatch.chdir(tmp_path)
    for words in (["train", ""], ["train", "--verify", " "]):
        with pytest.raises(SystemExit):
            cli.main(words)
        assert "RUN is empty: give a folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_whole_disk_is_no_folder_of_a_run(monkeypatch, capsys):
    """The fault: RUN was "$HOME_OF_RUNS/", and a run spread over the root of the disk."""
    with pytest.raises(SystemExit):
        cli.main(["train", "/"])
    assert "all of this disk: give a folder in it" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["--data", "--model"])
def test_a_variable_that_is_not_set_is_no_default(tmp_path, capsys, word):
    """The fault: --data "$DATA" trained on the embedded documents."""
    with pytest.raises(SystemExit):
        cli.main(["train", str(tmp_path), word, ""])
    assert f"{word}: it is empty: leave the option out for its def" in capsys.readouterr().err


def test_a_field_without_documents_is_refused(tmp_path, capsys):
    assert cli.main(["train", str(tmp_path / "run"), "--field", "content"]) == 1
    assert "--field goes with your own documents: give --data" in capsys.readouterr().err


def test_tokens_without_a_schedule_are_refused(tmp_path, capsys):
    """The fault: --tokens 1000 trained 5,824."""
    assert cli.main(["train", str(tmp_path / "run"), "--tokens", "1e3"]) == 1
    assert "--tokens is where a --schedule ends, and the rate is con" in capsys.readouterr().err


def test_a_schedule_without_an_end_asks_for_it_by_its_word(tmp_path, capsys):
    assert cli.main(["train", str(tmp_path / "run"), "--schedule", "cosine"]) == 1
    assert "--schedule cosine ends at 0: give --tokens, after how" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_tool_that_is_not_installed_is_refused_before_the_run(tmp_path, monkeypatch, capsys):
    """The fault: a long run ended without its log, and only log.txt had said so."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert cli.main(["train", str(tmp_path / "run"), "--report-to", "wandb"]) == 1
    assert "this needs the package wandb: pip install wandb" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_what_differs_from_the_run_in_the_folder_is_named():
    """The fault: "other documents, model, rows or rate", with the very words that were given."""
    assert _name.differing("model net", "model None") == ["model net and not the default"]
    held = training.Settings("a, b.jsonl", lora=4).named()
    now = training.Settings("a, b.jsonl", warmup_tokens=500, rows=4).named()
    assert _name.differing(held, now) == [
        "rows 2 and not 4", "lora 4 and not the default", "warmup_tokens the default and not 500",
    ]  # fmt: skip


def test_what_is_compared_is_what_files_hold_and_not_where_they_lie(tmp_path, monkeypatch):
    """The fault: "other documents", of one file that was spelled in another way."""
    monkeypatch.chdir(tmp_path)
    Path("net").mkdir()
    Path("net/config.json").write_text("{}")
    words = ("a.jsonl", "net"), (f"{tmp_path}/a.jsonl", "./net/"), ("b", "a/net")
    one, other, hub = (training.Settings(given, model=name).named() for given, name in words)
    Path("net/config.json").write_text('{"x": 1}')
    changed = training.Settings("a.jsonl", model="net").named()
    Path("net/config.json").unlink()
    gone = training.Settings("a.jsonl", model="net").named()
    assert _name.same(one, other) and one != other
    (said,) = _name.differing(one, hub)
    assert said.startswith("model net (") and said.endswith(") and not a/net")
    (said,) = _name.differing(one, changed)
    assert said.startswith("model net (") and said.endswith("): its files were changed")
    (said,) = _name.differing(one, gone)
    assert said.startswith("model net (") and said.endswith("), and no net lies on this disk now")


def test_what_changes_rounding_alone_is_told(tmp_path, monkeypatch):
    """The fault: compiled from here on, "bit for bit", and not a word."""
    monkeypatch.setattr(training, "kept", lambda folder: 6)
    asked = {"settings": {"form": "ddp", "compile": False, "rows": 2}}
    assert training._rounded(tmp_path, asked) == ""
    alive.ask(tmp_path, asked)
    assert training._rounded(tmp_path, asked) == ""
    now = {"settings": {"form": "fsdp", "compile": True, "rows": 4}}
    assert training._rounded(tmp_path, now) == (
        "form ddp before, fsdp now; compile False before, True now: equal up to rounding from step "
        "6 on"
    )
    monkeypatch.setattr(training, "kept", lambda folder: 0)
    assert training._rounded(tmp_path, now) == "", "nothing goes on"


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_folder_of_documents_is_no_folder_of_a_run(tmp_path, capsys):
    """The fault: the curve was read as a document by the next start."""
    (tmp_path / "a.txt").write_text("a word")
    (tmp_path / "link").symlink_to(tmp_path)
    for run in (tmp_path, tmp_path / "link"):
        assert cli.main(["train", str(run), "--data", str(tmp_path), "--steps", "1"]) == 1
        said = capsys.readouterr().err
        assert f"{run} is where the documents are sought" in said and said.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize(
    "words",
    [
        ["train", "run", "--data", "link"],
        ["train", "run", "--model", "link"],
        ["train", "link"],
        ["train", "link/run"],
        ["train", "--verify", "link"],
        ["pack", "--data", "link"],
        ["padding", "--data", "folder"],
    ],
    ids=" ".join,
)
def test_a_link_that_leads_nowhere_is_told_so(tmp_path, monkeypatch, capsys, words):
    """The fault: it was taken for the name of a hub, and asked for there."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for path in (Path("link"), Path("folder", "a.jsonl")):
        path.symlink_to("gone")
    assert cli.main(words) == 1
    path = "folder/a.jsonl" if "folder" in words else "link"
    said = (
        f"batchlab: {path}: a link to gone, which is not there: point the link elsewhere, or give"
    )
    assert capsys.readouterr().err == f"{said} the path itself\n"
    assert not Path("run").exists()


def test_a_name_that_is_not_utf_8_is_refused_before_a_process_starts(tmp_path, capsys):
    """The fault: the processes of the run died of it, and the same command was advised."""
    name = os.fsdecode(b"donn\xe9es.jsonl")
    assert cli.main(["train", str(tmp_path / "run"), "--data", name]) == 1
    said = capsys.readouterr().err
    assert (
        said == f"batchlab: {name!r}: the name is not UTF-8, so no record can hold it: rename it\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_closed_stderr_ends_no_training(monkeypatch):
    """The fault: `2>&-` ended it without a word, in the bar of progress."""
    monkeypatch.setattr(sys, "stderr", None)
    with _progress.bar() as said:
        said(1, 2, "step")


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
@pytest.mark.parametrize("door", [data.load, model.load, lambda name: data.Stream(name, 8)])
def test_a_link_that_leads_nowhere_is_no_name_of_a_hub(tmp_path, monkeypatch, door):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("gone")
    with pytest.raises(ValueError, match=r"^link: a link to gone, which is not there"):
        door("link")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full, of Linux")
def test_a_full_disk_names_the_file(tmp_path):
    """The mistake: an open file is written without its name, and so is its error."""
    written = curves.Written(tmp_path)
    (tmp_path / curves.CURVE).unlink()
    for name in ("asked.json.part", curves.CURVE, "lock"):
        (tmp_path / name).symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/asked\.json\.part'"):
        _pointer.replace(tmp_path / "asked.json", b"told")
    with pytest.raises(OSError, match=r"No space left on device: '.*/curve\.jsonl'"):
        written.append({"step": 1}, to_disk=False)
    with pytest.raises(OSError, match=r"'.*/lock'"), lock.held(tmp_path):
        pytest.fail("a lock that nobody can read")


def test_a_model_on_this_disk_is_named_with_its_config(tmp_path):
    """The fault: a run went on after its model's config was written anew."""
    config = tmp_path / "config.json"
    config.write_text('{"rope_theta": 10000}')
    names = [training.Settings(model=str(path)).named() for path in (tmp_path, config, tmp_path)]
    assert names[0] == names[2] and f"model {tmp_path} (" in names[0]
    config.write_text('{"rope_theta": 500000}')
    assert training.Settings(model=str(tmp_path)).named() != names[0]
    assert "model a/hub-name, " in training.Settings(model="a/hub-name").named()


def test_other_first_weights_are_another_run(tmp_path):
    """The fault: a run went on above exchanged frozen ones; and, where all are trained, from its
    own checkpoint under the name of a model that it never saw.
    """
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_text("before")
    kinds = [training.Settings(model=str(tmp_path), lora=rank) for rank in (None, 4)]
    before = [one.named() for one in kinds]
    (tmp_path / "model.safetensors").write_text("after")
    for one, was in zip(kinds, before, strict=True):
        assert one.named() != was and f"model {tmp_path} (" in was


def test_a_life_that_comes_late_does_not_begin(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    alive.ask(tmp_path, {"launch": "second"})
    monkeypatch.setattr(_member, "beat", lambda *_: pytest.fail("it took the folder"))
    _member.main("first", tmp_path)


@pytest.mark.slow
def test_a_launcher_that_is_killed_and_started_again_trains_alone(tmp_path):
    code = "import sys; from pathlib import Path; from batchlab.cluster import training as t; "
    code += "t.launch(Path(sys.argv[1]), t.Settings(rows=1, length=64), steps=30, processes=2)"
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as first:
        while len(training.curve(tmp_path)) < 4:
            time.sleep(0.1)
        first.kill()
    lines = training.launch(
        tmp_path, training.Settings(rows=1, length=64), steps=30, processes=2, restarts=0
    )
    assert [line["step"] for line in lines] == list(range(1, 31)), "each step once"
