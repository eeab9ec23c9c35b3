"""Checkpoints that prove themselves: what is damaged is named, and the one before is taken."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist
from tokenizers import Tokenizer
from torch.distributed.checkpoint.api import CheckpointException

from batchlab import cli, data, records
from batchlab.cli._proof import fault_of_records, proof
from batchlab.cluster import _alive as alive
from batchlab.cluster import _checkpoints as checkpoints
from batchlab.cluster import _curve as curves
from batchlab.cluster import _own, training
from batchlab.cluster import _pointer as pointer
from batchlab.cluster._made import fingerprint
from batchlab.cluster._verify import HALF
from batchlab.counts import Counts
from batchlab.records import Cell


@pytest.fixture
def alone():
    """A world of this process."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def grow(run, steps, loss=1):
    """A run of so many steps, as a process writes it: a checkpoint each step."""
    saved, kept = run / "checkpoints", []
    run.mkdir(exist_ok=True)
    alive.ask(run, {"steps": 9})
    for step in range(1, steps + 1):
        path = saved / checkpoints.name(step)
        (path / "part").mkdir(parents=True)
        (path / "weights").write_bytes(bytes(range(200)) * step)
        (path / "part" / "states").write_text(f"states of {step}")
        line = {"step": step, "tokens": 10 * step, "loss": loss / step}
        written = curves.Written(run)
        written.append(line, to_disk=False)
        of_curve = written.keep(path)
        one = pointer.Latest(
            path.name, step, "a run", [], "d0c5", line, of_curve, pointer.seen(path), "this"
        )
        checkpoints.rely(saved, one)
        kept.append(one)
    return saved, kept


def flip(path, at=-3):
    """One bit of a file."""
    held = bytearray(path.read_bytes())
    held[at] ^= 4
    path.write_bytes(held)


def test_two_are_kept_and_the_last_is_taken(tmp_path):
    saved, kept = grow(tmp_path, 4)
    assert pointer.whole(saved, "a run") == (kept[3], []) and kept[3].tokens == 40
    assert sorted(path.name for path in saved.glob("step_*")) == ["step_00000003", "step_00000004"]


DAMAGES = {
    "a flipped bit": (lambda path: flip(path), "is damaged: its checksum is another one"),
    "cut": (lambda path: os.truncate(path, 7), "holds 7 bytes, and 800 were written"),
    "empty": (lambda path: path.write_text(""), "holds 0 bytes, and 800 were written"),
    "gone": (lambda path: path.unlink(), "No such file or directory"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_the_one_before_is_taken_and_the_damaged_file_named(tmp_path, kind):
    """The fault: three lives were spent on a cut file, and a flipped bit was trained on."""
    saved, kept = grow(tmp_path, 4)
    spoil, said = DAMAGES[kind]
    weights = saved / "step_00000004" / "weights"
    spoil(weights)
    found, (fault,) = pointer.whole(saved, "a run")
    assert found == kept[2]
    assert fault.startswith(str(weights)) and fault.endswith(said)


def test_a_record_that_was_copied_before_its_run_went_on_hides_no_checkpoint(tmp_path):
    """The fault: "no whole checkpoint is left … delete checkpoints", and two lay there whole."""
    saved, _ = grow(tmp_path, 2)
    old = (saved / pointer.LATEST).read_bytes()
    shutil.rmtree(tmp_path)
    saved, kept = grow(tmp_path, 4)
    (saved / pointer.LATEST).write_bytes(old)
    assert pointer.whole(saved, "a run") == (kept[3], [f"{saved / kept[1].name} is gone"])
    assert pointer.latest(saved) == kept[3]


def test_an_older_latest_over_a_run_that_went_on_repeats_no_step(tmp_path):
    """The fault: Monday's copy was laid over Tuesday's folder, and Tuesday was trained again."""
    saved, _ = grow(tmp_path, 3)
    old = {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()}
    shutil.rmtree(tmp_path)
    saved, kept = grow(tmp_path, 4)
    for path, held in old.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)
    assert pointer.whole(saved, "a run") == (kept[3], []) and pointer.latest(saved) == kept[3]
    flip(saved / kept[3].name / "weights")
    found, (fault,) = pointer.whole(saved, "a run")
    assert found == kept[2] and "4/weights is damaged" in fault
    line = {"step": 4, "tokens": 40, "loss": 0.25}
    checkpoints.rely(saved, replace(kept[2], line=line))
    assert not (saved / kept[3].name).exists(), "what was found damaged is not kept as a reserve"


def test_a_record_that_latest_alone_knows_is_named_by_verify_and_gone_on_from(tmp_path, capsys):
    """The fault: damage to the newest checkpoint's own record was seen when LATEST was gone too."""
    saved, kept = grow(tmp_path, 2)
    own = saved / kept[1].name / pointer.OWN
    for spoil, said in ((lambda: flip(own), "is damaged, or of an older"), (own.unlink, "is gone")):
        spoil()
        code, text = shown(tmp_path, capsys)
        assert code == 1 and f"{own} {said}" in text
        assert pointer.whole(saved, "a run") == (kept[1], [])


def test_a_checkpoint_whose_folder_is_gone_is_named_and_the_one_before_taken(tmp_path):
    """The fault: of a folder that somebody removed, a file in it was missed."""
    saved, kept = grow(tmp_path, 2)
    shutil.rmtree(saved / kept[1].name)
    assert pointer.whole(saved, "a run") == (kept[0], [f"{saved / kept[1].name} is gone"])
    shutil.rmtree(saved / kept[0].name)
    with pytest.raises(ValueError, match=r"no whole checkpoint .*_00000002 is gone; bring"):
        pointer.whole(saved, "a run")


@pytest.mark.parametrize("at", range(0, 900, 60))
def test_a_flipped_bit_anywhere_in_latest_is_seen(tmp_path, at):
    saved, kept = grow(tmp_path, 2)
    assert 900 > len((saved / "LATEST").read_bytes()) > 450
    flip(saved / "LATEST", at % len((saved / "LATEST").read_bytes()))
    found, (fault,) = pointer.whole(saved, "a run")
    assert found == kept[1], "its own record says the same"
    assert fault == f"{saved / 'LATEST'} is damaged, or of an older batchlab"


@pytest.mark.parametrize("garbage", [b"", b"\xff\x00", b"[]", b"3", b'{"name": "step_00000002"}'])
def test_garbage_in_latest_is_named(tmp_path, garbage):
    saved, kept = grow(tmp_path, 2)
    (saved / "LATEST").write_bytes(garbage)
    assert pointer.whole(saved, "a run")[0] == kept[1] == pointer.latest(saved)


def test_a_kill_before_latest_moved_leaves_the_checkpoint_before(tmp_path):
    saved, kept = grow(tmp_path, 2)
    third = saved / checkpoints.name(3)
    third.mkdir()
    (third / "weights").write_text("half of it")
    assert pointer.whole(saved, "a run") == (kept[1], [])


def test_where_none_is_whole_nothing_begins_anew_by_itself(tmp_path):
    saved, _ = grow(tmp_path, 3)
    for path in saved.glob("step_*/weights"):
        flip(path)
    told = r"no whole checkpoint is left: .*3/weights is .*2/weigh.*; bring one back"
    with pytest.raises(ValueError, match=told):
        pointer.whole(saved, "a run")
    assert pointer.whole(tmp_path / "nothing", "a run") == (None, [])


def test_a_copy_that_somebody_made_beside_the_checkpoints_stays(tmp_path):
    """The fault: step_00000002.best was taken for an old checkpoint, and removed."""
    saved, (first, second) = grow(tmp_path, 2)
    copies = [saved / name for name in ("step_00000001.best", "step_00000001 (copy)", "step_1")]
    for path in copies:
        shutil.copytree(saved / first.name, path)
    shutil.copytree(saved / second.name, saved / "step_00000003")
    third = replace(second, name="step_00000003", steps=3)
    checkpoints.rely(saved, third)  # and the one before is kept, not the first
    assert not (saved / first.name).exists() and all((path / "weights").exists() for path in copies)
    assert list(pointer.checkpoints(saved)) == [third, second]


def test_checkpoints_under_one_anothers_names_are_told_so(tmp_path):
    """The fault: both passed for damaged, and to delete them was the advice."""
    saved, _ = grow(tmp_path, 2)
    one, other, aside = saved / "step_00000001", saved / "step_00000002", saved / "aside"
    for path, to in ((one, aside), (other, one), (aside, other)):
        path.rename(to)
    with pytest.raises(ValueError, match=r"1 holds what was written as step_00000002: give it "):
        pointer.whole(saved, "a run")


def test_a_checkpoint_of_another_run_is_not_gone_on_with(tmp_path):
    """The fault: where the newest was damaged, an older one of any run was loaded."""
    saved, kept = grow(tmp_path, 2)
    other = replace(kept[0], run="another run")
    pointer.point(saved, other)
    pointer.point(saved, kept[1])
    assert pointer.whole(saved, "a run") == (kept[1], [])
    flip(saved / "step_00000002" / "weights")
    with pytest.raises(ValueError, match=r"no whole .*1 is of another run \(another run\)"):
        pointer.whole(saved, "a run")


def test_what_somebody_laid_into_a_checkpoint_outlives_it(tmp_path):
    """The fault: notes in the folder of a checkpoint went with it, without a word."""
    run = tmp_path / "run"
    saved, kept = grow(run, 2)
    (saved / kept[0].name / "notes.txt").write_text("mine")
    checkpoints.rely(saved, kept[1])
    shutil.copytree(saved / kept[1].name, copy := saved / "step_00000000")
    grow(tmp_path / "more", 3)
    shutil.copytree(tmp_path / "more/checkpoints/step_00000003", saved / "step_00000003")
    checkpoints.rely(saved, replace(kept[1], name="step_00000003", steps=3))
    (left,) = saved.glob("*.left_*")
    assert [(path.name, path.read_text()) for path in left.rglob("*") if path.is_file()] == [
        ("notes.txt", "mine")
    ]
    assert training.notes(run) == [f"{left} keeps notes.txt, which no run wrote"]
    assert not (saved / kept[0].name).exists() and copy.exists()
    (run / "monitor (1).jsonl").touch()
    assert _own.others(run) == [f"checkpoints/{left.name}", "monitor (1).jsonl"]


def test_a_checkpoint_of_a_copy_of_the_run_is_named_and_the_curve_is_not(tmp_path):
    """The fault: two copies went on, and were merged: the curve proved nothing, for good."""
    one, other = tmp_path / "one", tmp_path / "other"
    grow(one, 3)
    grow(other, 2, loss=2)
    shutil.rmtree(one / "checkpoints/step_00000002")
    shutil.copytree(other / "checkpoints/step_00000002", one / "checkpoints/step_00000002")
    looks = {look.what: look.fault for look in training.verify(one)}
    assert "copy of this run" in looks["step_00000002, 3 files"]
    assert not looks["step_00000003, 3 files"] and not looks["curve.jsonl"]


def test_what_is_trained_and_its_states_come_back_as_they_were(tmp_path, alone):
    rows = SimpleNamespace(fingerprint="d0c5", require=lambda *_: None)
    saved, _ = grow(tmp_path, 1)

    def made(seed):
        torch.manual_seed(seed)
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
        net[0].requires_grad_(requires_grad=False)
        return net, torch.optim.AdamW(net[1].parameters(), lr=0.1)

    def step(net, optimizer):
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        return [one.clone() for one in net.parameters()]

    first, second = made(1), made(2)
    step(*first)
    for net, optimizer in (first, first):  # the second time, what an earlier life left is replaced
        checkpoints.write(saved, net, optimizer, 2)
    name = checkpoints.name(2)
    line, seen = {"step": 2, "tokens": 20}, pointer.seen(saved / name)
    curve = pointer.measured(tmp_path / curves.CURVE)
    checkpoints.rely(saved, pointer.Latest(name, 2, "a", [], "d0c5", line, curve, seen, "this"))
    second[0][0].load_state_dict(first[0][0].state_dict())  # what is frozen is loaded anew
    found, faults = checkpoints.resume(saved, *second, rows, "a")
    assert (found.name, faults) == (name, [])
    ours, theirs = step(*first), step(*second)
    assert all(map(torch.equal, ours, theirs)), "weights, and the averages of AdamW"
    rows.fingerprint = "other"
    with pytest.raises(ValueError, match="holds a run of other documents or of another tok"):
        checkpoints.resume(saved, *second, rows, "a")


def test_the_curve_is_put_back_to_the_last_byte_of_its_checkpoint(tmp_path):
    _, (first, second, _) = grow(tmp_path, 3)
    whole = (tmp_path / curves.CURVE).read_bytes()
    assert curves.cut_back(tmp_path, second) == ""
    assert (tmp_path / curves.CURVE).read_bytes() == whole[: second.curve[0]]
    assert curves.cut_back(tmp_path, first) == "" and len(curves.curve(tmp_path)) == 1
    assert curves.cut_back(tmp_path, None) == "" and not curves.curve(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda held: held[:40] + b'{"step": 3, "tok',
        lambda held: held[:40],
        lambda held: held.replace(b"0.5", b"0.7"),
        lambda held: b"\xff" + held[1:],
        lambda held: b"",
    ],
    ids=["torn", "of an older backup", "a digit", "garbage", "empty"],
)
def test_a_curve_that_was_lost_or_changed_is_put_back_from_its_checkpoint(tmp_path, spoil):
    """The faults: of a backup that was taken mid-write steps were missing for ever; a digit that
    somebody changed was proven by the next checkpoint; after a bad byte no life began."""
    _, kept = grow(tmp_path, 3)
    path = tmp_path / curves.CURVE
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    said = curves.cut_back(tmp_path, kept[2])
    assert said == f"{path} was not as it was written up to step 3, and is so again"
    assert path.read_bytes() == whole


@pytest.mark.parametrize("bad", [b'{"step": 2, "tokens": "\xff"}', b"\xff", b"[2]", b"{}", b""])
def test_a_bad_byte_in_a_curve_is_named_with_its_file_and_line(tmp_path, bad):
    good = b'{"step": 1, "tokens": 9}\n'
    (tmp_path / curves.CURVE).write_bytes(good + bad + b"\n" + good)
    with pytest.raises(ValueError, match=rf"{curves.CURVE}, line 2: not a step of a curve"):
        curves.curve(tmp_path)


def test_what_torch_raises_of_a_checkpoint_is_one_line():
    """The fault: it is no Exception, so nobody caught it, and nobody said what was wrong."""
    assert not issubclass(CheckpointException, Exception)
    cause = OSError("Input/output error\nand more")
    with (
        pytest.raises(ValueError, match=r"^step_1: OSError: Input/output error$"),
        checkpoints._in_one_line(Path("step_1"), ValueError),
    ):
        raise CheckpointException("read", {0: (cause, None)})


def test_a_checkpoint_that_cannot_be_written_says_what_the_disk_says(tmp_path):
    """The fault: "unexpected pos 704 vs 598" of a full disk, three times over."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    of_torch = CheckpointException("write", {0: (RuntimeError("unexpected pos"), None)})
    written = checkpoints._in_one_line(tmp_path / "step_1", OSError)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"step_1: OSError: \[Errno 27\] File too large"), written:
            raise of_torch
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with (
        pytest.raises(
            OSError,
            match=r"step_1: RuntimeError: unexpected pos \(torch says so where a disk is full",
        ),
        checkpoints._in_one_line(tmp_path / "step_1", OSError),
    ):
        raise of_torch
    assert not [*tmp_path.iterdir()]


def test_processes_that_read_other_documents_do_not_train_together(tmp_path, monkeypatch):
    """The fault: a file that changed while they read it was another one for each of them."""

    def from_the_first(told):
        told[:] = [None, [], "", "before"]

    monkeypatch.setattr(checkpoints.dist, "get_rank", lambda: 1)
    monkeypatch.setattr(checkpoints.dist, "broadcast_object_list", from_the_first)
    assert checkpoints._agreed(tmp_path, "before", "a") == (None, [])
    with pytest.raises(ValueError, match="the documents changed while"):
        checkpoints._agreed(tmp_path, "after", "a")


def shown(run, capsys):
    code = cli.main(["train", str(run), "--verify"])
    out, err = capsys.readouterr()
    return code, out + err


def test_verify_shows_that_curve_and_checkpoints_agree(tmp_path, capsys):
    grow(tmp_path, 3)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, said = shown(tmp_path, capsys)
    assert (
        code == 0
        and "3 steps, 30 target tokens; nothing is wrong; not here: model, monitor" in said
    )
    assert "step_00000003, 3 files" in said and "step_00000002, 3 files" in said
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda run: flip(run / "checkpoints/step_00000002/weights"), "2/weights is damaged"),
        (lambda run: shutil.rmtree(run / "checkpoints/step_00000003"), "step_00000003 is gone"),
        (lambda run: flip(run / "checkpoints/LATEST"), "LATEST is damaged"),
        (lambda run: flip(run / curves.CURVE, 30), "is not as it was written up to step 3"),
        (lambda run: (run / curves.CURVE).unlink(), "curve.jsonl is gone"),
        (lambda run: (run / alive.ASKED).write_text("{"), "asked.json is damaged"),
        (
            lambda run: (run / alive.ASKED).write_text(
                (run / alive.ASKED).read_text().replace(": 9", ": 8")
            ),
            "asked.json is damaged",
        ),
        (lambda run: (run / alive.ASKED).unlink(), "asked.json is gone"),
        (
            lambda run: curves.Written(run).append({"step": 3, "tokens": 31}, to_disk=False),
            "line 4: step",
        ),
    ],
)
def test_verify_names_what_is_wrong(tmp_path, capsys, spoil, said):
    grow(tmp_path, 3)
    spoil(tmp_path)
    code, text = shown(tmp_path, capsys)
    assert code == 1 and said in text and ", 1 is wrong or cannot be read" in text


def test_verify_holds_the_model_against_its_record_and_says_how_old_it_is(tmp_path, capsys):
    """The fault: what an earlier end left in RUN/model passed for the model of this run."""
    grow(tmp_path, 3)
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_text("weights")
    code, said = shown(tmp_path, capsys)
    assert code == 1 and "whole.json is gone, so nothing proves the model" in said
    told = {"steps": 2, "files": pointer.seen(model)}
    (model / pointer.OWN).write_text(json.dumps(told | {"run": "another run"}))
    code, said = shown(tmp_path, capsys)
    assert code == 1 and "model is of another run (another run)" in said
    (model / pointer.OWN).write_text(json.dumps(told | {"run": "a run"}))
    code, said = shown(tmp_path, capsys)
    assert code == 0 and "after 2 steps; the last checkpoint is of step 3" in said
    for loss, wanted in ((1 / 2, 0), (0.4, 1)):  # of a twin on other documents, with equal words
        line = {"step": 2, "tokens": 20, "loss": loss}
        (model / pointer.OWN).write_text(json.dumps(told | {"run": "a run", "line": line}))
        code, said = shown(tmp_path, capsys)
        assert code == wanted
    assert "model is of another training: its last step is none of this curve" in said
    (model / pointer.OWN).write_text(
        json.dumps(told | {"run": "a run", "line": line | {"loss": 1 / 2}})
    )
    held = (tmp_path / curves.CURVE).read_bytes()
    for other in (held.splitlines(keepends=True)[0], held.replace(b"0.5", b"0.6")):
        (tmp_path / curves.CURVE).write_bytes(other)
        code, said = shown(tmp_path, capsys)
        assert code == 1 and "of 4, 1 is wrong" in said, "a wrong curve accuses itself alone"
    (tmp_path / curves.CURVE).write_bytes(held)
    for asked, steps in ((3, 2), (9, 4)):  # of a run that is done; of one that was set back
        alive.ask(tmp_path, {"steps": asked})
        (model / pointer.OWN).write_text(json.dumps(told | {"run": "a run", "steps": steps}))
        code, said = shown(tmp_path, capsys)
        assert code == 1 and f"is of another moment, after {steps} steps; the last" in said
    (model / "adapter_model.safetensors").write_text("mine")
    code, said = shown(tmp_path, capsys)
    assert code == 1 and f"no run wrote adapter_model.safetensors in {model}" in said
    flip(model / "model.safetensors")
    code, said = shown(tmp_path, capsys)
    assert code == 1 and "model.safetensors is damaged" in said
    (model / pointer.OWN).write_text("{")
    assert "whole.json is damaged" in shown(tmp_path, capsys)[1]


def test_a_run_that_is_done_and_has_no_model_is_told_so(tmp_path, capsys):
    """The fault: its model was removed, and nothing was wrong."""
    grow(tmp_path, 3)
    for steps, wanted in ((4, 0), (3, 1)):
        alive.ask(tmp_path, {"steps": steps})
        code, said = shown(tmp_path, capsys)
        assert code == wanted
    assert f"{tmp_path / 'model'} is not there: the same command writes it anew" in said


def test_verify_says_where_nothing_proves_the_curve_and_what_is_not_there(tmp_path, capsys):
    """The faults: a line that somebody added was proven, and so was a run without checkpoints."""
    grow(tmp_path, 3)
    assert "nothing proves" not in shown(tmp_path, capsys)[1]
    curves.Written(tmp_path).append({"step": 4, "tokens": 99}, to_disk=False)
    code, said = shown(tmp_path, capsys)
    assert code == 0 and "up to step 3; nothing proves the 1 later" in said
    assert "monitor, 0 files" in said and "no life to compare" in said
    for number in (5, 6):
        line = {"step": number, "tokens": 100 * number, "held_out": 2.0}
        curves.Written(tmp_path).append(line, to_disk=False)
    shutil.rmtree(tmp_path / "checkpoints")
    code, said = shown(tmp_path, capsys)
    assert code == 1 and "goes on after a checkpoint, and there is none" in said


@pytest.mark.parametrize(
    ("words", "documents", "said"),
    [
        ("another run", "documents", "of another run (another run)"),
        ("a run", "others", "of other documents or another tokenizer than this run"),
    ],
)
def test_a_checkpoint_of_another_run_is_named_and_accuses_nothing_else(
    tmp_path, capsys, words, documents, said
):
    """The fault: the curve was wrong, and the foreign checkpoint "as it was written"."""
    run = tmp_path / "run"
    own, _ = grow(run, 3)
    alive.ask(run, {"steps": 9, "run": "a run"})
    saved, (*_, last) = grow(tmp_path / "other", 4, loss=2)
    shutil.copytree(saved / last.name, own / last.name)
    latest = (own / pointer.LATEST).read_bytes()
    pointer.point(own, replace(last, run=words, data=documents))
    (own / pointer.LATEST).write_bytes(latest)
    code, text = shown(run, capsys)
    assert code == 1 and said in text and ", 1 is wrong or cannot be read" in text


def test_asked_json_and_latest_of_another_run_are_named(tmp_path, capsys):
    """The fault: of the first nothing was said, and of the second a healthy model accused."""
    run = tmp_path / "run"
    saved, kept = grow(run, 3)
    alive.ask(run, {"steps": 9, "run": "another run"})
    code, text = shown(run, capsys)
    assert code == 1 and "asked.json is of another run (another run)" in text
    assert ", 1 is wrong or cannot be read" in text
    alive.ask(run, {"steps": 9, "run": "a run"})
    other, _ = grow(tmp_path / "other", 3, loss=2)
    shutil.copy(other / pointer.LATEST, saved)
    code, text = shown(run, capsys)
    assert code == 1 and "LATEST is no copy of" in text and ", 1 is wrong or cannot" in text
    assert pointer.latest(saved) == kept[-1], "what lies beside the weights counts"
    pointer.point(saved, kept[-1])
    held = (saved / pointer.LATEST).read_bytes()
    pointer.point(saved, replace(kept[-1], files={name: [1, "0"] for name in kept[-1].files}))
    (saved / pointer.LATEST).write_bytes(held)
    code, text = shown(run, capsys)
    assert code == 1 and f"{pointer.OWN} does not tell of the files beside it" in text
    assert ", 1 is wrong or cannot" in text and pointer.latest(saved) == kept[-1]


def test_half_a_line_is_no_fault_of_a_run_that_was_killed_and_one_of_a_run_that_is_done(
    tmp_path, capsys
):
    """The fault: what somebody added to a curve without an end was never mentioned."""
    grow(tmp_path, 3)
    with (tmp_path / curves.CURVE).open("a") as file:
        file.write('{"step": 4, "tok')
    code, said = shown(tmp_path, capsys)
    assert code == 0 and "its last line has no end" in said
    alive.ask(tmp_path, {"steps": 3})
    assert "holds more than the run wrote, behind its last step" in shown(tmp_path, capsys)[1]


def test_verify_says_what_lies_there_and_was_not_looked_at(tmp_path, capsys):
    """The fault: a copy that a tool of synchronisation left beside a file was never mentioned."""
    grow(tmp_path, 3)
    for name in ("log.txt", "lock", "lives", "found_damaged.txt"):
        (tmp_path / name).touch()
    assert "not looked at" not in shown(tmp_path, capsys)[1]
    theirs = ["checkpoints/LATEST (conflicted copy)", "checkpoints/step_00000003.best",
              "checkpoints/step_00000003/mine", "curve (conflicted copy).jsonl"]  # fmt: skip
    for name in theirs:
        (tmp_path / name).touch()
    code, said = shown(tmp_path, capsys)
    assert code == 0 and f"not looked at, as no run wrote it: {', '.join(theirs)}\n" in said


def test_verify_of_no_run_is_refused(tmp_path, capsys):
    assert shown(tmp_path, capsys) == (1, f"batchlab: {tmp_path}: no run in this folder\n")
    (tmp_path / "file").write_text("of something else")
    assert shown(tmp_path / "file", capsys)[1].endswith("file is a file, and a run has a folder\n")


@pytest.mark.parametrize("name", ["model", "checkpoints", "checkpoints/step_00000003"])
def test_a_part_of_a_run_is_no_run(tmp_path, capsys, name):
    """The fault: a run began anew inside the checkpoint that it was to go on from."""
    grow(tmp_path, 3)
    (tmp_path / "model").mkdir()
    wanted = f"{tmp_path / name} lies in a run: give {tmp_path} to go on with it"
    for words in ([], ["--verify"]):
        assert cli.main(["train", str(tmp_path / name), *words]) == 1
        assert wanted in capsys.readouterr().err


def test_a_checkpoint_without_a_record_is_named_and_no_fault(tmp_path, capsys):
    """The fault: one that could not be gone on from stood nowhere. A kill leaves such ones."""
    grow(tmp_path, 3)
    (tmp_path / "checkpoints/step_00000002" / pointer.OWN).unlink()
    code, said = shown(tmp_path, capsys)
    assert code == 0 and "step_00000002" in said and HALF in said


def test_a_record_of_a_step_that_the_curve_has_not_heard_of_is_no_fault(tmp_path):
    """The fault: of a run that was stopped while it saved, --verify said that it is wrong."""
    lines = [{"step": step, "tokens": 10 * step * step, "loss": step} for step in range(1, 7)]
    for step in (4, 5, 6):  # launched behind step 3; its first step warms up
        one = Cell(
            rows=1, layout="packed", checkpointing=False, precision="float32", run="a", steps=1,
            micro_batches=1, seconds=1.0, more={"step_before": 2, "last_step": step - 2},
            counts=Counts(1, 9, 9, 20 * step - 10, 9, 9), warmup_steps=int(step == 4),
        )  # fmt: skip
        records.append(tmp_path / "monitor.jsonl", one)
    files = [tmp_path / "monitor.jsonl"]
    assert fault_of_records(lines, files) == fault_of_records(lines[:5], files) == ""
    assert "in 2 steps" in fault_of_records([*lines[:4], {"step": 5, "tokens": 999}], files)
    assert fault_of_records(lines, files, done=True) == ""
    later = [*lines, {"step": 7, "tokens": 490}]
    assert fault_of_records(later, files) == "", "a run that was killed"
    said = "monitor.jsonl ends at step 6, and the run at 7"
    assert fault_of_records(later, files, done=True).endswith(said), "cut, of a run that is done"
    behind = [*later[:-2], later[-2] | {"held_out": 1.0}, later[-1]]
    assert fault_of_records(behind, files, done=True) == "", (
        "a life of one step behind a checkpoint"
    )
    skipped = [*lines, lines[-1] | {"step": 7, "skipped": True}]
    assert fault_of_records(skipped, files, done=True) == "", "no record hears of that step"
    held = files[0].read_text().splitlines(keepends=True)
    for loss, said in (
        (5.000001, ""),
        (5.01, "is of another run: loss 5.01 in step 5, and 5 in the curve"),
    ):
        told = json.loads(held[2]) | {"signals": {"loss": [[3, loss]]}}
        files[0].write_text("".join([*held[:2], json.dumps(told) + "\n"]))
        assert fault_of_records(lines, files).endswith(said), "as many tokens, of other steps"
    files[0].write_text("".join([*held, held[2]]))
    assert fault_of_records(lines, files).endswith("its steps 4 to 4 stand twice")
    alone = [json.dumps(json.loads(one) | {"world_size": 2}) + "\n" for one in held]
    files[0].write_text("".join(alone))
    assert fault_of_records(lines, files) is None, "a life that was killed before the other wrote"
    said = "monitor.jsonl of 2 processes: others are gone"
    assert fault_of_records(lines, files, done=True) == said
    before = tmp_path / "monitor.rank2.jsonl"  # of a life on three
    third = [json.dumps(json.loads(one) | {"world_size": 3, "ranks": [2]}) + "\n" for one in held]
    before.write_text("".join(third))
    assert fault_of_records(lines, [*files, before], done=True) == said
    files[0].write_text("".join(held))
    assert fault_of_records(lines, [*files, before], done=True) == "", "one goes on alone"
    before.write_text(
        "".join(json.dumps(json.loads(one) | {"ranks": [1]}) + "\n" for one in alone[:2])
    )
    files[0].write_text("".join(alone))
    said = "monitor.rank2.jsonl ends at step 5, and the run at 6"
    assert fault_of_records(lines, [*files, before], done=True).endswith(said), "the short one"
    unknown = [json.dumps(json.loads(one) | {"target_tokens": None}) + "\n" for one in held]
    files[0].write_text("".join(unknown))
    assert fault_of_records(lines, files, done=True) == "", "a filler has no targets"
    for kept, said in ((held[1:], "its steps 1 to 2"), ([held[0], held[2]], "its steps 3 to 3")):
        files[0].write_text("".join(kept))
        assert fault_of_records(lines, files).endswith(f"no record of the life holds {said}")


@pytest.mark.slow
def test_a_run_goes_on_from_the_checkpoint_before_and_lies_on_the_undisturbed_one(tmp_path):
    settings = training.Settings(rows=1, length=64)
    calm, hurt = tmp_path / "calm", tmp_path / "hurt"
    training.launch(calm, settings, steps=4, processes=1)
    training.launch(hurt, settings, steps=3, processes=1)
    weights = next((hurt / "checkpoints" / checkpoints.name(3)).glob("*.distcp"))
    flip(weights, weights.stat().st_size // 2)
    training.launch(hurt, settings, steps=4, processes=1, restarts=0)
    (said,) = training.notes(hurt)
    assert said == f"{weights} is damaged: its checksum is another one; the run went on from step 2"
    same = [
        [{name: line[name] for name in ("step", "tokens", "loss", "held_out")} for line in lines]
        for lines in map(training.curve, (calm, hurt))
    ]
    assert same[0] == same[1], json.dumps(same)
    for run in (calm, hurt):
        agreed = proof(run)
        assert agreed.code == 0 and "agrees with the curve" in agreed.text
    files = [hurt / "monitor.jsonl"]
    fewer = [line | {"tokens": line["tokens"] // 2} for line in training.curve(hurt)]
    assert "target tokens in" in fault_of_records(fewer, files), "the mistake beside it"


def test_an_entry_of_the_vocabulary_that_no_document_uses_is_part_of_the_run():
    """Such an exchange changes no step, and the model that is left would come with another one."""
    corpus = data.load()
    told = json.loads(corpus.tokenizer.to_str())
    words = told["model"]["vocab"]
    seen = set(corpus.tokens.tolist())
    one, other = [word for word in words if words[word] not in seen][:2]
    merges = told["model"]["merges"]
    fewer = told | {"model": told["model"] | {"merges": merges[:-1]}}
    swapped = told | {
        "model": told["model"] | {"vocab": words | {one: words[other], other: words[one]}}
    }
    for changed in (fewer, swapped):
        now = replace(corpus, tokenizer=Tokenizer.from_str(json.dumps(changed)))
        assert now.fingerprint == corpus.fingerprint
        assert fingerprint(now) != fingerprint(corpus) == fingerprint(data.load())
