"""Kills and Ctrl-C at random moments of every verb that takes long: no process, no half file.

`course grade` is killed at ten moments in `test_grading_class`.
"""

import collections
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
SWEEP = ["sweep", "--device", "cpu", "--rows", "1", "2", "--layout", "packed"]
FIT = ["fit", "--device", "cpu", "--budget", "0.4"]
LONG = {
    "sweep": [*SWEEP, "--output", "cells.jsonl"],
    "fit": [*FIT, "--output", "tries.jsonl"],
    "doctor": ["doctor", "--device", "cpu", "--verify", "--rows", "1", "2"],
    "train": ["train", "run", "--steps", "60", "--rows", "1", "--length", "64", "--nproc", "2"],
    "noise": ["noise"],
}


def cut(words, token, drawn, what, most, **options):
    """The verb at a random moment of its life, ended by a signal; its code and what it said."""
    process = faults.begin(words, token, **options)
    moment = 0.5 + most * drawn.random()
    faults.until(process, lambda: faults.burnt(token) >= moment)
    process.send_signal(what)
    return faults.ended(process)


def test_a_sweep_that_is_killed_measures_each_cell_as_often_as_one_that_is_not(tmp_path):
    drawn, path = random.Random(1), tmp_path / "cells.jsonl"
    words = [*SWEEP, "--output", path]
    for _ in range(2):
        code, _, err = cut(words, path, drawn, signal.SIGKILL, 6)
        assert code in (0, -signal.SIGKILL), err
        assert faults.gone(path)
    code, _, err = faults.told(words, path)
    assert code == 0, err
    cells = records.read(path).cells()
    assert collections.Counter(one.rows for one in cells) == {1: 4, 2: 4}, "four rounds"
    assert len({(one.documents, one.counts.target_tokens) for one in cells}) == 1, "the same work"


def test_a_search_that_is_killed_finds_what_one_finds_that_is_not(tmp_path):
    drawn, path = random.Random(2), tmp_path / "tries.jsonl"
    words = [*FIT, "--output", path]
    for _ in range(2):
        cut(words, path, drawn, signal.SIGKILL, 5)
        assert faults.gone(path)
    code, out, err = faults.told(words, path)
    assert code == 0, err
    calm = faults.told([*FIT, "--output", tmp_path / "calm.jsonl"], tmp_path)[1]
    assert out.splitlines()[0] == calm.splitlines()[0]


@pytest.mark.parametrize(
    ("verb", "seed"),
    [(verb, 0) for verb in LONG]
    + [pytest.param(verb, seed, marks=pytest.mark.deep) for verb in LONG for seed in range(1, 20)],
)
def test_ctrl_c_leaves_no_process_and_no_half_file(tmp_path, verb, seed):
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    drawn, env = random.Random(f"{verb} {seed}"), {"TMPDIR": str(scratch)}
    code, _, err = cut(LONG[verb], here, drawn, signal.SIGINT, 8, cwd=here, env=env)
    assert code in (0, 130), err
    assert "Traceback" not in err
    assert faults.gone(here)
    ours = [one.name for one in scratch.iterdir() if not one.name.startswith("torch")]
    assert not ours, "torch keeps caches there"
    for path in here.rglob("*.jsonl"):
        assert path.read_bytes()[-1:] in (b"", b"\n"), f"{path} ends in a half line"
    assert not [*here.rglob("*.part")]
