"""What a killed engine left is swept; what another owns, or another user made, is not touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchlab.grading import Engine, _folder
from tests.torture_lesson import written

pytestmark = pytest.mark.skipif(os.name != "posix", reason="engines and their locks need it")
OWNER = """
import sys
from batchlab.grading._folder import Folder
print(Folder().path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(_folder.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(_folder.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def owner(here):
    return subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(here)},
    )  # fmt: skip


def test_a_folder_lives_as_long_as_its_owner_and_is_swept_after_a_kill(here):
    with owner(here) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().decode().strip())
        (path / "work-1").mkdir()
        (path / "work-1" / "left").write_text("x")
        assert path.parent == here
        assert _folder.sweep() == 0 and path.is_dir(), "its owner lives"
        process.kill()
    assert path.is_dir(), "a kill leaves it"
    mine = _folder.Folder()
    assert not path.exists() and mine.path.is_dir(), "the next one sweeps, and keeps its own"
    assert _folder.sweep() == 0
    mine.remove()
    assert list(here.iterdir()) == []


def test_a_folder_without_a_lock_is_swept_when_it_is_no_longer_young(here):
    path = here / f"{_folder.PREFIX}old"
    path.mkdir()
    assert _folder.sweep() == 0, "its owner may be about to take it"
    os.utime(path, (1e9, 1e9))
    assert _folder.sweep() == 1 and not path.exists()


def test_links_files_other_names_and_other_users_are_left_alone(here, monkeypatch):
    target = here / "course"
    target.mkdir()
    (here / f"{_folder.PREFIX}link").symlink_to(target)
    (here / f"{_folder.PREFIX}file").write_text("x")
    for path in here.iterdir():
        os.utime(path, (1e9, 1e9), follow_symlinks=False)
    assert _folder.sweep() == 0 and len(list(here.iterdir())) == 3
    (here / f"{_folder.PREFIX}theirs").mkdir()
    os.utime(here / f"{_folder.PREFIX}theirs", (1e9, 1e9))
    with monkeypatch.context() as patched:
        patched.setattr(_folder.os, "geteuid", lambda: os.getuid() + 1)
        assert _folder.sweep() == 0
    assert _folder.sweep() == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from batchlab.grading import Engine
engine = Engine(Path(sys.argv[1]), seed=None)
engine.__enter__()
print(engine._home.path, engine._zygote.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
def test_what_a_killed_engine_left_is_swept_by_the_next_engine(here):
    teacher = written(here / "course")
    command = [sys.executable, "-c", KILLED, str(teacher)]
    there = {**os.environ, "TMPDIR": str(here)}
    done = subprocess.run(command, capture_output=True, env=there)
    path, zygote = done.stdout.decode().split()
    assert Path(path).is_dir(), "a kill leaves it"
    with Engine(teacher, seed=None):
        assert not Path(path).exists()
    state = Path(f"/proc/{zygote}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
