"""Verbs of the command line in processes of their own, and what may happen to them."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "BATCHLAB_CHAOS"
TICKS = os.sysconf("SC_CLK_TCK")
LONG = 900  # seconds until a verb hangs, on a machine with much else to do
JUMPS = """
import random, time
real = time.time
time.time = lambda: real() + random.choice([-86400, 0, 86400])
"""


def begin(words, token, *, env=None, **options):
    """A verb in a process of its own; whatever it starts carries the token."""
    return subprocess.Popen(
        [sys.executable, "-m", "batchlab", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {MARK: str(token), "OMP_NUM_THREADS": "1"} | (env or {}), **options,
    )  # fmt: skip


def ended(process):
    out, err = process.communicate(timeout=LONG)
    return process.returncode, out, err


def told(words, token, **options):
    """Exit code, standard output and standard error of a verb."""
    return ended(begin(words, token, **options))


def killed(process):
    """It is no more, and its pipes are read to their end: who inherited them is gone as well."""
    process.kill()
    process.communicate(timeout=LONG)


def left(token):
    """Processes that carry the token."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            held = (path / "environ").read_bytes().split(b"\0")
            zombie = (path / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if f"{MARK}={token}".encode() in held and not zombie:
            found.append(int(path.name))
    return found


def gone(token, within=60):
    """Whether no process with the token is left after so many seconds at most."""
    end = time.monotonic() + within
    while left(token) and time.monotonic() < end:
        time.sleep(0.1)
    return not left(token)


def burnt(token):
    """Seconds of CPU that the processes with the token have had: a clock that load cannot stop."""
    found = 0
    for process in left(token):
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            found += int(stat[11]) + int(stat[12])
    return found / TICKS


def until(process, holds):
    """Wait until something holds, or the process has ended."""
    while process.poll() is None and not holds():
        time.sleep(0.02)


def everybody(token, what):
    """The same signal to all processes with the token."""
    for process in left(token):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, what)


def frozen(token, drawn):
    """One of the processes stands still for a while."""
    process = drawn.choice(left(token) or [0])
    with contextlib.suppress(ProcessLookupError):
        if process:
            os.kill(process, signal.SIGSTOP)
            time.sleep(0.5 + drawn.random())
            os.kill(process, signal.SIGCONT)


def hears_ctrl_c():
    """As in a terminal: what a shell starts in the background ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def small_files():
    """No file may be larger than this: a full disk, where none can be mounted."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def flip(path):
    """One bit, in the middle."""
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1 << random.randrange(8)
    path.write_bytes(held)


DAMAGES = {
    "flip": flip,
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
}
