"""Faults at random moments, through the real launcher: nothing is lost, doubled or falsified.

A run that was killed, frozen, cut, flipped, started twice or left without room ends with the curve
of one that was left alone, bit by bit, and its folder proves itself.
"""

import os
import random
import signal
import subprocess
import sys

import pytest

from batchlab.cluster import _pointer as pointer
from batchlab.cluster import training
from tests import faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
STEPS = 24  # a checkpoint every second one
SMALL = ["--steps", STEPS, "--rows", "1", "--length", "64"]


def words(run, processes=1):
    return ["train", run, *SMALL, "--nproc", processes]


def seen(run):
    """The curve without what a clock says."""
    keys = ("step", "tokens", "loss", "grad_norm", "held_out")
    return [{key: line.get(key) for key in keys} for line in training.curve(run)]


def saved(run):
    """Steps of the last checkpoint."""
    last = pointer.latest(run / "checkpoints")
    return last.steps if last else 0


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """The curve of a run that nothing happens to, by its processes."""
    known = {}

    def of(processes):
        if processes not in known:
            run = tmp_path_factory.mktemp("calm") / "run"
            code, _, err = faults.told(words(run, processes), run)
            assert code == 0, err
            known[processes] = seen(run)
        return known[processes]

    return of


def begun(run, processes, drawn, more=None, **options):
    """A start at a random moment: while it loads, or some checkpoints further."""
    process = faults.begin(words(run, processes), run, **options)
    wanted = saved(run) + (drawn.randint(0, 6) if more is None else more)
    faults.until(process, lambda: saved(run) >= wanted)
    moment = drawn.random() * drawn.choice([0.2, 5.0])  # seconds of CPU: any line may be the last
    if wanted == saved(run) and more is None:
        burnt = faults.burnt(run) + moment
        faults.until(process, lambda: faults.burnt(run) >= burnt)
    return process


def launcher_killed(run, processes, drawn):
    faults.killed(begun(run, processes, drawn))
    assert faults.gone(run), "nobody trains on without a launcher"


def all_killed(run, processes, drawn):
    process = begun(run, processes, drawn)
    faults.everybody(run, signal.SIGKILL)
    faults.killed(process)


def one_killed(run, processes, drawn):
    """Torchrun or a process of the run: the rest begins anew, or says why it ends."""
    process = begun(run, processes, drawn)
    victims = [one for one in faults.left(run) if one != process.pid]
    if victims:
        os.kill(drawn.choice(victims), signal.SIGKILL)
    code, _, err = faults.ended(process)
    assert code == 0 or "The same command" in err, err
    assert faults.gone(run)


def one_frozen(run, processes, drawn):
    process = begun(run, processes, drawn)
    faults.frozen(run, drawn)
    faults.killed(process)
    assert faults.gone(run)


def no_room(run, processes, drawn):
    """The fault: no reason at all, since the file that would tell it was as little written."""
    done = saved(run) == STEPS
    code, _, err = faults.told(words(run, processes), run, preexec_fn=faults.small_files)
    assert faults.gone(run)
    assert done or (code == 1 and "File too large" in err.splitlines()[-1]), err


def clock_jumped(run, processes, drawn):
    """Each look at the clock tells another day."""
    (run.parent / "sitecustomize.py").write_text(faults.JUMPS)
    path = os.pathsep.join([str(run.parent), os.environ.get("PYTHONPATH", "")])
    faults.killed(begun(run, processes, drawn, env={"PYTHONPATH": path}))
    assert faults.gone(run)


def damaged(kind):
    def spoilt(run, processes, drawn):
        faults.killed(begun(run, processes, drawn, more=4))
        assert faults.gone(run)
        newest = pointer.latest(run / "checkpoints")
        name = drawn.choice([*sorted(newest.files), "", "../LATEST", "../../curve.jsonl"])
        faults.DAMAGES[kind](run / "checkpoints" / newest.name / (name or pointer.OWN))

    return spoilt


FAULTS = [launcher_killed, all_killed, one_killed, one_frozen, no_room, clock_jumped]
FAULTS += [damaged(kind) for kind in faults.DAMAGES]
TWO = [
    pytest.param(1, [no_room, clock_jumped, damaged("cut")], marks=pytest.mark.deep),
    (2, [all_killed, damaged("flip"), one_frozen]),
]
MANY = [
    pytest.param(processes, seed, marks=pytest.mark.deep)
    for processes in (1, 2)
    for seed in range(8)
]


def survives(run, processes, calm, some, drawn):
    for fault in some:
        fault(run, processes, drawn)
    code, _, err = faults.told(words(run, processes), run)
    assert code == 0, err
    assert seen(run) == calm(processes)
    code, out, err = faults.told(["train", run, "--verify"], run)
    assert (code, err) == (0, ""), out
    assert faults.gone(run)


@pytest.mark.parametrize(("processes", "some"), TWO)
def test_after_one_fault_and_another_a_run_is_as_if_nothing_had_been(
    tmp_path, calm, processes, some
):
    survives(tmp_path / "run", processes, calm, some, random.Random(processes))


@pytest.mark.parametrize(("processes", "seed"), MANY)
def test_after_four_faults_that_are_drawn(tmp_path, calm, processes, seed):
    """Two in three are kills: thirty moments and more in all."""
    drawn = random.Random(f"{processes} {seed}")
    some = [drawn.choice(drawn.choice([FAULTS[:3], FAULTS])) for _ in range(4)]
    survives(tmp_path / "run", processes, calm, some, drawn)


def test_two_starts_at_once_are_one_run(tmp_path, calm):
    """The fault: 199 lines for 150 steps, and both said that all was well."""
    run = tmp_path / "run"
    both = [faults.begin(words(run), run) for _ in range(2)]
    (first, _, said), (second, _, other) = sorted(faults.ended(one) for one in both)
    assert (first, second) == (0, 1), said + other
    assert "is in use by process" in other and other.count("\n") == 1
    assert seen(run) == calm(1)


def under_nohup():
    """Ctrl-C is heard, and a terminal that is closed is not."""
    faults.hears_ctrl_c()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_who_asks_a_run_to_end_hears_what_is_kept_and_nohup_holds(tmp_path, calm):
    """The fault: torchrun ended at the SIGHUP that `nohup` had the launcher ignore."""
    run, drawn, own = tmp_path / "run", random.Random(0), {"preexec_fn": under_nohup}
    for what, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = begun(run, 1, drawn, more=2, start_new_session=True, **own)
        os.killpg(process.pid, what)
        assert faults.ended(process) == (
            code, "",
            f"batchlab: stopped; {saved(run)} of {STEPS} steps are kept in {run}: the same command "
            "goes on there\n",
        )  # fmt: skip
        assert faults.gone(run, within=1)
    process = begun(run, 1, drawn, more=2, start_new_session=True, **own)
    os.killpg(process.pid, signal.SIGHUP)
    code, _, err = faults.ended(process)
    assert code == 0, err
    assert seen(run) == calm(1)


@pytest.fixture
def four_mebibytes(tmp_path):
    """A disk of its own, where the system lends one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_without_one_byte_left_is_the_reason_as_well(four_mebibytes):
    run = four_mebibytes / "run"
    code, _, err = faults.told(words(run), run)
    assert code == 1 and faults.gone(run)
    assert "No space left on device" in err.splitlines()[-1], err


def test_a_folder_that_vanishes_ends_the_run_with_its_name(tmp_path):
    run = tmp_path / "run"
    process = faults.begin(words(run), run)
    faults.until(process, lambda: saved(run) >= 2)
    run.rename(tmp_path / "elsewhere")
    code, _, err = faults.ended(process)
    assert code == 1 and faults.gone(run)
    assert f"{run} was moved or removed while it trained" in err.splitlines()[-1], err
