"""Try from inside what a level must refuse; only what was refused counts as refused.

    secrets and services that exist  ->  for each attempt: refused, or what came of it

An attempt that is granted must do no harm: the machine around it is somebody's. So a byte is asked
for where none can be, a file system is opened and mounted nowhere, and a level that refuses nothing
is not tried at all.
"""

import contextlib
import ctypes
import errno
import os
import platform
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["MUST_REFUSE", "attempts"]

MUST_REFUSE = {  # level: what has to be refused for it to be in force
    "L3": ("read", "write", "tcp", "unix", "signal", "peek", "mount", "listed", "namespace"),
    "L2": ("read", "write", "tcp", "unix", "signal", "peek", "mount", "namespace"),
    "L0": (),
}


def attempts(asked: dict[str, Any]) -> dict[str, str]:
    """What came of each attempt: "refused", or how it went."""
    tries: dict[str, Callable[[], object]] = {
        "read": lambda: Path(asked["secret"]).read_text(),
        "write": lambda: Path(asked["folder"], "written").write_text("x"),
        "tcp": lambda: socket.create_connection(("127.0.0.1", asked["port"]), 2),
        "unix": lambda: _unix(asked["socket"]),
        "signal": lambda: os.kill(asked["pid"], 0),
        "peek": lambda: _peek(asked["pid"]),
        "mount": _mount,
        "listed": lambda: _listed(asked["pid"]),
        "namespace": _namespace,
    }
    tries = {name: tries[name] for name in asked["names"]}
    found = {"start": "refused"} if not tries else {}
    signal.alarm(20)
    for name, attempt in tries.items():
        try:
            attempt()
        except OSError as error:
            found[name] = "refused" if error.errno else str(error)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
        else:
            found[name] = "done"
    signal.alarm(0)
    return found


def _unix(name: str) -> None:
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
        one.connect("\0" + name)


def _peek(pid: int) -> None:
    """Ask for a byte at address 0: whoever may read gets a fault, whoever may not is refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = ctypes.create_string_buffer(1)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(here), 1)
    remote = (ctypes.c_size_t * 2)(0, 1)
    if libc.process_vm_readv(pid, local, 1, remote, 1, 0) < 0:
        code = ctypes.get_errno()
        if code != errno.EFAULT:
            raise OSError(code, "process_vm_readv")


def _mount() -> None:
    """Ask for a file system that is mounted nowhere: a descriptor, and no harm if it is granted."""
    number = {"x86_64": 430, "aarch64": 430}[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    opened = libc.syscall(ctypes.c_long(number), b"tmpfs", 0)
    if opened < 0:
        raise OSError(ctypes.get_errno(), "fsopen")
    os.close(opened)


def _listed(pid: int) -> None:
    if not Path(f"/proc/{pid}/stat").exists():
        raise OSError(2, "no such process")


def _namespace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
