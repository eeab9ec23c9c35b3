"""A time limit around a call: a loop that never ends is refused, not waited for.

a call  ->  its result, or a refusal after some seconds of CPU or when memory runs away
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from batchlab.classroom import verdict
from batchlab.classroom.afar import lives_afar

__all__ = ["limited"]

WALL_SECONDS, GROWN_BYTES, TICK = 120.0, 3 << 30, 0.2
ENDLESS = "a loop that does not end: bound it"
ASLEEP = "it waits for something that never comes"
GREEDY = "a list that grows without end: bound the loop that fills it"


class _TooMuch(BaseException):
    """No `except Exception` of an answer catches it."""


@contextmanager
def limited(answer: Any, asked: str, seconds: float = 20.0) -> Iterator[None]:
    """Stop what takes too long, by a timer in the main thread of Unix; elsewhere it does nothing.

    A page ends its worker, and a grader has limits of its own for answers in another process.
    """
    here = threading.current_thread() is threading.main_thread()
    if not (here and hasattr(signal, "setitimer")) or lives_afar(answer):
        yield
        return
    cpu, wall, memory = time.process_time(), time.monotonic(), _resident()
    seen: list[tuple[str, str]] = []

    def tick(*_: Any) -> None:
        used = time.process_time() - cpu
        grown = _resident() - memory
        if used > seconds:
            seen.append((f"no result after {seconds:g} seconds of CPU", ENDLESS))
        elif grown > GROWN_BYTES:
            seen.append((f"no result, and {grown / 2**30:.1f} GiB more memory", GREEDY))
        elif time.monotonic() - wall > WALL_SECONDS:
            seen.append((f"no result after {WALL_SECONDS:g} seconds", ASLEEP))
        if seen:
            raise _TooMuch

    before = signal.signal(signal.SIGALRM, tick)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)  # again: a bare `except:` is left as well
    try:
        yield
    except BaseException:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not seen:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if seen:  # a bare `except:` may have caught the first
        verdict.refuse(asked, *seen[0], kind="slow")


def _resident() -> int:
    """Bytes of this process in memory, as far as the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, ValueError, IndexError):
        if sys.platform == "win32":
            return 0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
