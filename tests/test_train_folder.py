"""The folder of `batchlab train`: one start at a time, and what is damaged is named."""

import subprocess
import sys

import pytest

from batchlab import cli
from batchlab.cluster import _lock as lock
from batchlab.cluster import training

HOLD = """
import sys, time
from pathlib import Path
from batchlab.cluster import _lock as lock
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


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
