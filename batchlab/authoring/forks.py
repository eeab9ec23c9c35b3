"""Do work in a copy of this process, so that nothing it breaks stays broken.

a function that returns plain data  ->  the same data, from another process
"""

import faulthandler
import json
import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["LIMIT_SECONDS", "Ended", "copied", "errors_written", "quiet"]

LIMIT_SECONDS = 240
_errors: Path | None = None


class Ended(RuntimeError):
    """The copied process was ended before it could say anything."""


def copied(work: Callable[[], Any], limit: int = LIMIT_SECONDS) -> Any:
    """What `work` returns in a copy of this process, as JSON knows it; an error there is one here.

    `Ended` where the copy was killed, ran for more than `limit` seconds, or left by itself.

    >>> copied(lambda: [1, {"a": None}])
    [1, {'a': None}]
    """
    if not hasattr(os, "fork"):
        raise OSError("trying a lesson needs os.fork: Linux or macOS")
    with tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as report:
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads: OMP_NUM_THREADS is 1
            child = os.fork()
        if child == 0:
            faulthandler.disable()  # how it ended is said here, and in one line
            signal.alarm(limit)
            try:
                results = {"found": work()}
            except BaseException:
                results = {"error": traceback.format_exc()}
            Path(report.name).write_text(json.dumps(results), encoding="utf-8")
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = report.read()
    if not text:
        raise Ended(_end(code, limit))
    told = json.loads(text)
    if "error" in told:
        raise RuntimeError(told["error"])
    return told["found"]


def _end(code: int, limit: int) -> str:
    if code == -signal.SIGALRM:
        return f"it ran for more than {limit} s"
    if code >= 0:
        return f"it left its process with code {code}"
    reason = ": it may have asked for too much memory" if code == -signal.SIGKILL else ""
    return f"its process was ended by {signal.Signals(-code).name}{reason}"


def errors_written() -> str:
    """All that was written to stderr within `quiet`."""
    sys.stderr.flush()
    return _errors.read_text(encoding="utf-8", errors="replace") if _errors else ""


@contextmanager
def quiet() -> Iterator[None]:
    """Send both streams away at the level of file descriptors, so that C code is heard as well."""
    global _errors
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with (
        tempfile.TemporaryDirectory() as folder,
        (Path(folder) / "stderr").open("w") as away,
        Path(os.devnull).open("w") as nowhere,
    ):
        os.dup2(nowhere.fileno(), 1)
        os.dup2(away.fileno(), 2)
        _errors = Path(folder) / "stderr"
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            _errors = None
            for descriptor in kept:
                os.close(descriptor)
