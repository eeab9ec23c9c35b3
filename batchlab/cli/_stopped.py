"""A training that is asked to end: Ctrl-C, a scheduler's SIGTERM, a terminal that is closed.

signals  ->  Stopped, while a run goes on;  the folder of a run  ->  what is kept, in one line
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Stopped", "told"]

ASKS = ("SIGTERM", "SIGHUP")  # Ctrl-C is Python's own


class Stopped(KeyboardInterrupt):
    """Somebody asked for the end; `code` is the exit code that shells expect of that signal."""

    def __init__(self, said: str = "", code: int = 128 + signal.SIGINT) -> None:
        super().__init__(said)
        self.code = code


@contextlib.contextmanager
def told(run: Path, steps: int) -> Iterator[None]:
    """Raise `Stopped` with what the folder keeps, whichever signal ends what runs inside.

    A signal that somebody ignores on purpose (`nohup`) stays ignored.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        known = [getattr(signal, name) for name in ASKS if hasattr(signal, name)]
        free = [one for one in known if signal.getsignal(one) is signal.SIG_DFL]
        before = {one: signal.signal(one, _raise) for one in free}
    try:
        yield
    except KeyboardInterrupt as stop:
        code = getattr(stop, "code", 128 + signal.SIGINT)
        raise Stopped(_kept(run, steps), code) from None
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _raise(number: int, _: Any) -> None:
    raise Stopped(code=128 + number)


def _kept(run: Path, steps: int) -> str:
    """Where the same command begins."""
    from batchlab.cluster import training

    kept = training.kept(run)
    if not kept:
        return f"stopped before the first checkpoint; the same command begins {run} anew"
    return f"stopped; {kept:,} of {steps:,} steps are kept in {run}: the same command goes on there"
