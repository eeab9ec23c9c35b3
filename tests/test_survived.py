"""An answer whose process ends is a crash; by SIGSEGV, if it ends so twice."""

import faulthandler
import os
import signal
import sys

import pytest

from batchlab.authoring import forks, trial
from batchlab.authoring.trial import Outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "win32", reason="forks")
ONE = Outcome("wrong", "total", "ends its process")


def ending(path, by, times):
    """Work that ends its process the first `times` times; each try leaves a letter."""

    def work():
        with path.open("a") as file:
            file.write("x")
        if len(path.read_text()) <= times:
            os.kill(os.getpid(), by)
        return {"kind": "told"}

    return work


def test_sigsegv_once_is_tried_again_and_twice_is_a_crash(tmp_path):
    once, always = tmp_path / "once", tmp_path / "always"
    assert trial.survived(ONE, ending(once, signal.SIGSEGV, 1)) == {"kind": "told"}
    assert "SIGSEGV" in trial.survived(ONE, ending(always, signal.SIGSEGV, 9))["crash"]
    assert len(once.read_text()) == len(always.read_text()) == 2


def test_another_end_is_a_crash_at_once(tmp_path):
    path = tmp_path / "killed"
    assert "SIGKILL" in trial.survived(ONE, ending(path, signal.SIGKILL, 1))["crash"]
    assert path.read_text() == "x", "the mistake: any crash gets a second try"


def test_a_copy_that_dies_writes_no_traceback_of_c_into_the_terminal():
    """The one who asked says by which signal it ended; pytest's own handler would print a page."""
    assert faulthandler.is_enabled(), "pytest asks for it"
    assert forks.copied(faulthandler.is_enabled) is False and faulthandler.is_enabled()


def test_the_environment_of_a_grader_stays_in_its_copy(monkeypatch):
    """The mistake: one thread for all that is started later, which adds floats in another order."""
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("BATCHLAB_GRADING", raising=False)
    names = ("OMP_NUM_THREADS", "BATCHLAB_GRADING")

    def told():
        return [{"kind": "solution", "answer": f"{[os.environ.get(name) for name in names]}"}]

    (inside,) = trial.in_a_copy(told, limit=20)
    assert inside.answer == "['1', '1']"
    assert [os.environ.get(name) for name in names] == ["3", None]
