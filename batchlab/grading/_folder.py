"""The folder that an engine works in: gone at its end, or swept by the next engine after a kill.

    nothing  ->  /tmp/batchlab-grading-xxxxxxxx, and a lock that ends with its owner

Whether an owner still lives is told by its lock and by nothing else: a number of a process may be
another's by now, or belong to another container that shares the folder.
"""

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from pathlib import Path

__all__ = ["Folder", "remove", "size", "sweep"]

PREFIX = "batchlab-grading-"
YOUNG_SECONDS = 60.0  # a folder without a lock may be one whose owner is about to take it


class Folder:
    """A temporary folder of one engine."""

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.path.chmod(0o755)
        self._lock = os.open(self.path / "owner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _locked(self._lock)

    def remove(self) -> None:
        """Remove it, and let go of the lock."""
        remove(self.path)
        with contextlib.suppress(OSError):
            os.close(self._lock)


def remove(path: Path) -> None:
    """Remove a folder, however deep a stranger made it, and whatever it forbids."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            with contextlib.suppress(OSError):
                subprocess.run([*command, "--", str(path)], check=False, capture_output=True)


def size(path: Path, most: int) -> int:
    """Bytes that the files of a folder take, or more than `most`; so, too, where it hides some."""
    found, todo = 0, [str(path)]
    while todo and found <= most:
        try:
            with os.scandir(todo.pop()) as entries:
                for one in entries:
                    told = one.stat(follow_symlinks=False)
                    found += 512 * (told.st_blocks + 8)  # and its entry: empty files take room
                    if stat.S_ISDIR(told.st_mode):
                        todo.append(one.path)
        except FileNotFoundError:
            continue
        except OSError:
            return most + 1
    return found


def sweep() -> int:
    """Remove what killed engines of this user left behind; how many folders."""
    if os.name != "posix":
        return 0
    removed = 0
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and _left(path, found):
                remove(path)
                removed += 1
    return removed


def _left(path: Path, found: os.stat_result) -> bool:
    """Whether nobody owns a folder any more."""
    try:
        door = os.open(path / "owner", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - found.st_mtime > YOUNG_SECONDS
    try:
        return _locked(door)
    finally:
        os.close(door)


def _locked(door: int) -> bool:
    """Take the lock of a folder, if nobody has it."""
    import fcntl  # Windows has none, and no engine

    try:
        fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
