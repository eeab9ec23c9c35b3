"""One start at a time in a folder, and none beside processes that an earlier one left behind.

    folder  ->  a lock for the run's life, or a refusal that names who holds it

Locks are the system's (flock): they end with their process, however it dies. Where a system or a
network file system knows none, the launch that the folder names is the second wall (`_alive`).
"""

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from batchlab.cluster._pointer import named

__all__ = ["alone", "held", "require_free", "stay"]

PATIENCE = 30.0  # seconds for the processes of an earlier start to leave


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder; ValueError names the process that has it already."""
    with (folder / "lock").open("a+") as file:
        if not _take(file.fileno()):
            raise ValueError(_in_use(folder))
        began = time.strftime("%Y-%m-%d %H:%M:%S")
        who = f"process {os.getpid()} on {socket.gethostname()}, since {began}"
        with named(folder / "lock"):
            os.truncate(file.fileno(), 0)
            os.write(file.fileno(), who.encode())
        yield


def require_free(folder: Path) -> None:
    """ValueError if a run holds the folder."""
    with contextlib.suppress(FileNotFoundError), (folder / "lock").open() as file:
        if not _take(file.fileno(), shared=True):
            raise ValueError(_in_use(folder))


def stay(folder: Path) -> None:
    """Be counted among the processes of a run until this process ends."""
    _take(os.open(folder / "lives", os.O_RDWR | os.O_CREAT, 0o666), shared=True)


def alone(folder: Path, patience: float = PATIENCE) -> None:
    """Wait until no process that called `stay` is left; ValueError after `patience` seconds."""
    end = time.monotonic() + patience
    with (folder / "lives").open("a+") as file:
        while not _take(file.fileno()):
            if time.monotonic() > end:
                left = sorted({path.read_text() for path in folder.glob("alive_*")})
                raise ValueError(
                    f"{folder}: processes of an earlier start do not leave: end them "
                    f"({', '.join(left)}), and start again"
                )
            time.sleep(0.1)


def _in_use(folder: Path) -> str:
    who = (folder / "lock").read_text() or "another process"
    return f"{folder} is in use by {who}: one start at a time, or another folder"


def _take(file: int, *, shared: bool = False) -> bool:
    """Whether the lock is ours; always, where there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems know no locks
        return True
    return True
