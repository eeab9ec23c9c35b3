"""Who of the processes of a run is still there, as seen by those that are.

    a file each, touched twice a second  ->  which processes are silent, and for how long
    asked.json, read as often            ->  whether the folder still belongs to this launch

A process that is stopped (SIGSTOP, a debugger, a laptop that swaps) says nothing and dies of
nothing: the others wait in a collective until the group's time-out. Whoever is left then reads
here whose file is old, names it and ends it, and torchrun starts all anew or gives up.

Words
    beat  a thread touches the file of its process
    life  from one start of all processes to the next; each has files of its own
    launch  one start by a person or a script; it may take several lives
"""

import contextlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from batchlab.cluster._pointer import checksum, replace

__all__ = ["ASKED", "ask", "asked", "beat", "end", "silent"]

EVERY = 0.5  # seconds between two beats
ASKED = "asked.json"


def ask(folder: Path, told: dict[str, Any]) -> None:
    """Write down what the folder is asked for, with a checksum."""
    replace(folder / ASKED, json.dumps(told | {"checksum": checksum(told)}).encode())


def asked(folder: Path) -> dict[str, Any]:
    """What the folder was last asked for: settings, steps, timeout, launcher, launch."""
    told = json.loads((folder / ASKED).read_bytes())
    if not isinstance(told, dict) or told.pop("checksum", None) != checksum(told):
        raise ValueError(f"{folder / ASKED} is damaged")
    return told


def beat(folder: Path, rank: int, launcher: int, launch: str) -> None:
    """Say twice a second that this process is there; end it when its launcher is gone.

    launcher  process number of whoever started the run: without it nobody would read the curve,
              and a killed notebook would leave processes behind
    launch    that this process belongs to: when the folder names another, it leaves, and without
              a fault, so that torchrun does not start it anew
    """
    path = _path(folder, rank)
    path.write_text(str(os.getpid()))

    def go_on() -> None:
        while True:
            if os.name == "posix" and not _is_there(launcher):
                os._exit(1)
            with contextlib.suppress(Exception):  # the folder is gone, or what it asks is damaged
                if asked(folder)["launch"] != launch:
                    os._exit(0)
                os.utime(path)
            time.sleep(EVERY)

    threading.Thread(target=go_on, daemon=True).start()


def silent(folder: Path, rank: int, ranks: int, patience: float) -> dict[int, float | None]:
    """Seconds since the last beat of each process that missed its beats for `patience` seconds.

    None stands for a process that never came. Times are those of the folder, as `rank` wrote its
    own there, so that no clock has to agree with another.
    """
    now = _path(folder, rank).stat().st_mtime
    found: dict[int, float | None] = {}
    for other in range(ranks):
        try:
            quiet = now - _path(folder, other).stat().st_mtime
        except FileNotFoundError:
            found[other] = None
        else:
            found |= {other: quiet} if quiet > patience else {}
    return found


def end(folder: Path, rank: int | None = None) -> None:
    """Kill a process that stands still, or all: torchrun would wait 30 more seconds for it."""
    for path in folder.glob("alive_*") if rank is None else [_path(folder, rank)]:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(path.read_text()), signal.SIGKILL)


def _path(folder: Path, rank: int) -> Path:
    life = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return folder / f"alive_{rank}_life_{life}"


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
