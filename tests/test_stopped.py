"""Whoever ends a training hears what is kept, and how it goes on."""

import os
import signal
import sys

import pytest

from batchlab.cli import _main
from batchlab.cli import _stopped as stopped
from tests.test_train_checkpoints import grow

ASKS = {name: getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")}
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def as_in_a_terminal():
    before = {one: signal.getsignal(one) for one in ASKS.values()}
    for one in ASKS.values():
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@posix
@pytest.mark.parametrize("name", ASKS)
def test_who_ends_a_training_hears_what_is_kept(
    tmp_path, capsys, monkeypatch, as_in_a_terminal, name
):
    """The faults: Ctrl-C said nothing, and SIGTERM left the processes to find out by themselves."""
    from batchlab.cluster import training

    def launched(*_, **__):
        os.kill(os.getpid(), ASKS[name])
        pytest.fail("it went on")

    monkeypatch.setattr(training, "launch", launched)
    words = ["train", str(tmp_path), "--steps", "40"]
    assert _main.main(words) == 128 + ASKS[name]
    anew = (
        f"batchlab: stopped before the first checkpoint; the same command begins {tmp_path} anew\n"
    )
    assert capsys.readouterr() == ("", anew)
    grow(tmp_path, 3)
    assert _main.main(words) == 128 + ASKS[name]
    said = (
        f"batchlab: stopped; 3 of 40 steps are kept in {tmp_path}: the same command goes on there\n"
    )
    assert capsys.readouterr() == ("", said)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "as it was before"


@posix
def test_a_signal_that_is_ignored_on_purpose_ends_nothing(tmp_path, as_in_a_terminal):
    """`nohup` does so."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stopped.told(tmp_path, 4):
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
