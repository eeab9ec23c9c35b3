"""Processes as the kernel counts them: seconds, bytes, and whether they sleep; and their end.

the first process of a tree  ->  what all of it uses  ->  nothing left of it
"""

import contextlib
import os
import signal
import time
from dataclasses import dataclass

__all__ = ["Used", "end", "used"]

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Used:
    """What a process and its descendants use at this moment."""

    seconds: float  # CPU, children that have ended included
    own_bytes: int  # resident, not shared with a file
    processes: int
    asleep: bool  # every one of them waits for something


def _read(path: str) -> str:
    """The text of a small file of /proc; this is done often, so it is done without pathlib."""
    door = os.open(path, os.O_RDONLY)
    try:
        return os.read(door, 1 << 16).decode(errors="replace")
    finally:
        os.close(door)


def used(first: int) -> Used:
    """What a tree of processes uses; nothing where it is gone."""
    seconds, size, count, asleep = 0.0, 0, 0, True
    for pid in _tree(first):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICK
            size += _own(_read(f"/proc/{pid}/status"))
            count += 1
            asleep &= fields[0] in "SZTt"
    return Used(seconds, size, count, asleep)


def end(first: int) -> None:
    """Kill a process and its descendants, the youngest too; it returns when they are gone."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        for pid in _tree(first)[1:]:
            _kill(pid)
        if len(_tree(first)) <= 1:
            break
        time.sleep(0.002)
    _kill(first)


def _own(status: str) -> int:
    """Bytes in memory that come from no file, as the kernel's status says."""
    lines = (line.split() for line in status.splitlines() if line.startswith(("RssAn", "RssSh")))
    return sum(int(line[1]) << 10 for line in lines)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _tree(first: int) -> list[int]:
    found: list[int] = []
    todo = [first]
    while todo and len(found) < 5000:
        pid = todo.pop()
        found.append(pid)
        for task in _tasks(pid):
            with contextlib.suppress(OSError, ValueError):
                text = _read(f"/proc/{pid}/task/{task}/children")
                todo += [int(one) for one in text.split()]
    return found if os.path.exists(f"/proc/{first}") else []  # noqa: PTH110


def _tasks(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    return []
