"""Kills and Ctrl-C at random moments of every verb that takes long: no process, no half file.

`course grade` is killed at ten moments in `test_grading_class`.
"""

import json
import random
import signal
import sys

import pytest

from batchlab import records
from tests import faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
SWEEP = ["sweep", "--device", "cpu", "--rows", "2", "--layout", "packed"]
FIT = ["fit", "--device", "cpu", "--budget", "0.3"]
KILLS = [1, pytest.param(6, marks=pytest.mark.deep)]
LONG = {
    "sweep": [*SWEEP, "--output", "cells.jsonl"],
    "fit": [*FIT, "--output", "tries.jsonl"],
    "doctor": ["doctor", "--device", "cpu", "--verify", "--rows", "1", "2"],
    "train": ["train", "run", "--steps", "60", "--rows", "1", "--length", "64", "--nproc", "2"],
    "noise": ["noise"],
}


def cut(words, token, drawn, what, most, **options):
    """The verb at a random moment of its life, ended by a signal; its code and what it said."""
    process = faults.begin(words, token, preexec_fn=faults.hears_ctrl_c, **options)
    moment = 0.5 + most * drawn.random()
    faults.until(process, lambda: faults.burnt(token) >= moment)
    process.send_signal(what)
    return faults.ended(process)


@pytest.mark.parametrize("kills", KILLS)
def test_a_sweep_that_is_killed_measures_each_cell_as_often_as_one_that_is_not(tmp_path, kills):
    drawn, path = random.Random(kills), tmp_path / "cells.jsonl"
    words = [*SWEEP, "--output", path]
    for _ in range(kills):
        code, _, err = cut(words, path, drawn, signal.SIGKILL, 6)
        assert code in (0, -signal.SIGKILL), err
        assert faults.gone(path)
    code, _, err = faults.told(words, path)
    assert code == 0, err
    cells = records.read(path).cells()
    assert [one.round for one in cells] == [0, 1, 2, 3], "each round once"
    assert len({(one.documents, one.counts.target_tokens) for one in cells}) == 1, "the same work"


@pytest.mark.parametrize("kills", KILLS)
def test_a_search_that_is_killed_finds_what_fits(tmp_path, kills):
    """One row takes a quarter of a gigabyte, two take a half."""
    drawn, path = random.Random(kills), tmp_path / "tries.jsonl"
    words = [*FIT, "--output", path, "--json"]
    for _ in range(kills):
        cut(words, path, drawn, signal.SIGKILL, 5)
        assert faults.gone(path)
    code, out, err = faults.told(words, path)
    assert code == 0, err
    found = json.loads(out)
    assert (found["rows"], found["refused_rows"]) == (1, 2)


@pytest.mark.parametrize(
    ("verb", "seed"),
    [("doctor", 0), ("train", 0)]
    + [pytest.param(verb, seed, marks=pytest.mark.deep) for verb in LONG for seed in range(1, 20)],
)
def test_ctrl_c_leaves_no_process_and_no_half_file(tmp_path, verb, seed):
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    drawn, env = random.Random(f"{verb} {seed}"), {"TMPDIR": str(scratch)}
    code, _, err = cut(LONG[verb], here, drawn, signal.SIGINT, 8, cwd=here, env=env)
    assert code in (0, 130, -signal.SIGINT), err  # the last: before Python began to listen
    assert "Traceback" not in err
    assert faults.gone(here)
    ours = [one.name for one in scratch.iterdir() if not one.name.startswith("torch")]
    assert not ours, "torch keeps caches there"
    for path in here.rglob("*.jsonl"):
        assert path.read_bytes()[-1:] in (b"", b"\n"), f"{path} ends in a half line"
    assert not [*here.rglob("*.part")]
