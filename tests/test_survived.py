"""What is done in a copy of the process ends there, and stays there."""

import faulthandler
import os
import sys

import pytest

from batchlab.authoring import forks, trial

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "win32", reason="forks")


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
