"""A run's folder that somebody else moves, links or writes to: the run stops, and proves no lie."""

import os
import re
import signal
from dataclasses import asdict, replace

import pytest

from batchlab import cli
from batchlab.cluster import _alive as alive
from batchlab.cluster import _curve as curves
from batchlab.cluster import _own, _process, training

posix = pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")


def begun(run):
    """A curve of two steps, and who writes it."""
    run.mkdir()
    written = curves.Written(run)
    for step in (1, 2):
        written.append({"step": step, "tokens": 10 * step}, to_disk=False)
    return written


def pointed_elsewhere(run):
    """RUN is a link, and leads to another folder now."""
    begun(run.with_name("other")).append({"step": 3, "tokens": 30}, to_disk=False)
    run.rename(run.with_name("first"))
    run.symlink_to("other")


@posix
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda run: (run / curves.CURVE).unlink(), "is gone"),
        (lambda run: run.rename(run.with_name("elsewhere")), "is gone"),
        (lambda run: curves.Written(run).append({"step": 9}, to_disk=False), "is not as"),
        (pointed_elsewhere, "is not as"),
    ],
    ids=["deleted", "moved", "written to", "pointed elsewhere"],
)
def test_a_curve_that_is_touched_while_it_grows_ends_the_run(tmp_path, change, what):
    """The fault: the curve began late, and the run ended as if all were well."""
    run = tmp_path / "run"
    written = begun(run)
    change(run)
    path = re.escape(str(run / curves.CURVE))
    with pytest.raises(ValueError, match=rf"^{path} {what}.* behind the last checkpoint$"):
        written.append({"step": 3, "tokens": 30}, to_disk=False)


def test_a_digit_that_somebody_changed_is_not_proven_by_the_next_checkpoint(tmp_path):
    """The fault: its length was right, and the checkpoint sealed what it found."""
    run, checkpoint = tmp_path / "run", tmp_path / "checkpoint"
    checkpoint.mkdir()
    written, path = begun(run), run / curves.CURVE
    assert written.keep(checkpoint) == curves._measured(path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"20", b"21"))
    with pytest.raises(ValueError, match="is not as the run left it"):
        written.keep(checkpoint)
    assert b"20" in (checkpoint / curves.CURVE).read_bytes()


@pytest.mark.slow
@posix
def test_a_run_that_is_moved_while_it_trains_says_so_and_goes_on_in_its_place(tmp_path):
    run, there = tmp_path / "run", tmp_path / "there"

    def move(lines):
        if len(lines) >= 2 and not there.exists():
            run.rename(there)

    settings = training.Settings(rows=1, length=64)
    with pytest.raises(RuntimeError, match=r"run was moved or removed while it trained: with the"):
        training.launch(run, settings, steps=8, processes=1, heard=move)
    assert not (run / curves.CURVE).exists() and not (run / "model").exists()
    lines = training.launch(there, settings, steps=9, processes=1)
    assert [line["step"] for line in lines] == list(range(1, 10))


@pytest.mark.slow
@posix
def test_checkpoints_that_are_moved_away_do_not_make_the_next_life_begin_anew(tmp_path):
    """The fault: a rank that died behind them trained all steps again, and not a word was said."""
    run, there = tmp_path / "run", tmp_path / "there"

    def move(lines):
        if not there.exists() and len(lines) > training.kept(run) > 0:
            (run / "checkpoints").rename(there)
            os.kill(int((run / "alive_0_life_0").read_text()), signal.SIGKILL)

    settings, how = training.Settings(rows=1, length=64), {"steps": 40, "processes": 1}
    with pytest.raises(RuntimeError, match=r"steps, and its checkpoints are gone: bring them back"):
        training.launch(run, settings, **how, heard=move)
    there.rename(run / "checkpoints")
    lines = training.launch(run, settings, **how)
    assert [line["step"] for line in lines] == list(range(1, 41))


def test_a_model_whose_run_is_gone_does_not_pass_for_the_one_of_a_new_run(tmp_path, capsys):
    """The fault: other documents were trained beside it, and until their end it was theirs."""
    (tmp_path / alive.ASKED).write_text("of that run")
    (tmp_path / "model").mkdir()
    (tmp_path / "model/model.safetensors").write_text("weights")
    assert cli.main(["train", str(tmp_path), "--steps", "1"]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path / 'model'} is of an earlier run, whose checkpoints are gone: move" in said
    assert said.count("\n") == 1 and (tmp_path / "model/model.safetensors").exists()


@posix
def test_a_copy_by_hard_links_does_not_grow_with_the_run(tmp_path):
    """The fault: a run went on in such a copy, and wrote its steps into the curve of both."""
    run, copy = tmp_path / "run", tmp_path / "copy"
    begun(run)
    (run / "monitor.jsonl").write_text("{}\n")
    copy.mkdir()
    for path in list(run.iterdir()):
        os.link(path, copy / path.name)
    held = {path.name: path.read_bytes() for path in run.iterdir()}
    curves.cut_back(copy, None)
    _own.separate(copy)
    for name in held:
        with (copy / name).open("ab") as file:
            file.write(b"more")
    assert held == {path.name: path.read_bytes() for path in run.iterdir()}


@posix
def test_what_this_user_may_not_write_or_read_is_refused_before_the_run(tmp_path, monkeypatch):
    """The faults: after a start by root, old checkpoints ended the run at every start, a monitor
    file stayed without its records, and a link in the place of the model was met at the end. What
    may not be read counted as damaged: the run went back to the checkpoint before.
    """
    run = tmp_path / "run"
    begun(run)
    step, records = run / "checkpoints/step_00000001", run / "monitor.jsonl"
    step.mkdir(parents=True)
    records.touch()
    (weights := step / "weights").touch()
    (latest := run / "checkpoints/LATEST").touch()
    closed = [(os.W_OK, "write", records), (os.W_OK, "write", step)]
    closed += [(os.R_OK, "read", latest), (os.R_OK, "read", weights)]
    for may, how, theirs in closed:
        with monkeypatch.context() as other:
            other.setattr(_own.os, "access", lambda *asked, no=(theirs, may): asked != no)
            with pytest.raises(ValueError, match=f"may not {how} {theirs}, with which the run"):
                _own.require_writable(run)
    _own.require_writable(run)
    (run / "model").symlink_to(step)
    with pytest.raises(ValueError, match="model is a link, and the trained model is written in"):
        _own.require_alone(run / "model")


def test_weights_under_adapters_that_change_while_they_are_trained_end_the_run(tmp_path):
    """The fault: they are mapped from their file, and the next checkpoint relied on others."""
    base = tmp_path / "base"
    base.mkdir()
    for name in ("config.json", "model.safetensors"):
        (base / name).write_text("before")
    settings = training.Settings(model=str(base), lora=4)
    asked = {"settings": asdict(settings), "run": settings.named()}
    written = begun(tmp_path / "run")
    _process._require_same(written, asked)
    (base / "model.safetensors").write_text("after")
    with pytest.raises(ValueError, match=r"base was written to after the run began: bring it back"):
        _process._require_same(written, asked)
    whole = {"settings": asdict(replace(settings, lora=None)), "run": "another"}
    _process._require_same(written, whole)  # its checkpoints hold all weights
