"""Hand what is recorded to the tools that people watch: TensorBoard, W&B, MLflow, trackio.

    names of tools, or functions  ->  Logs;  metrics of a record  ->  each tool, in its own thread

A tool that fails is told once and left alone; one that is slow makes nobody wait: what it cannot
take in time is dropped.
"""

import contextlib
import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from batchlab.monitor._guard import guarded
from batchlab.monitor._tools import TOOLS, Function, Log, Metrics, Send

__all__ = ["Logs", "To", "asked"]

To: TypeAlias = Iterable[str | Send] | Send
WAITING = 100  # records that a slow tool may be behind
PATIENCE = 10.0  # seconds at the end, for what is still to be sent


def asked(to: To) -> "list[str | Send]":
    """The tools that are meant; a name that is none is refused before the training begins."""
    found: list[str | Send] = [to] if isinstance(to, str) or callable(to) else list(to)
    for one in found:
        if not callable(one) and one not in TOOLS:
            raise ValueError(f"no log called {one!r}; there are {', '.join(TOOLS)}, or a function")
    return found


class Logs:
    """All logs of a recorder."""

    def __init__(self, to: Iterable[str | Send], path: Path, run: str, stack: str) -> None:
        self._feeds = [_Feed(one, path, run, stack) for one in to]

    def send(self, metrics: Metrics, step: int) -> None:
        """Leave the metrics of a step to all tools; nobody waits for one."""
        for one in self._feeds:
            one.put((metrics, step))

    def close(self) -> None:
        """Let all tools end; one that hangs is left behind."""
        for one in self._feeds:
            one.put(None)
        for one in self._feeds:
            one.thread.join(PATIENCE)


class _Feed:
    """One tool: opened where the training is, fed from a thread."""

    def __init__(self, one: "str | Send", path: Path, run: str, stack: str) -> None:
        self.stack, self.lost = stack, dict[str, str]()
        name = one if isinstance(one, str) else getattr(one, "__name__", "a function")
        self._safe = guarded(f"the log to {name}")
        self._queue: queue.Queue[tuple[Metrics, int] | None] = queue.Queue(WAITING)
        self._log: Log | None = None
        self._safe(_Feed._open)(self, one, path, run)
        self.thread = threading.Thread(target=self._feed, daemon=True, name=f"batchlab to {name}")
        self.thread.start()

    def _open(self, one: "str | Send", path: Path, run: str) -> None:
        self._log = TOOLS[one](path, run) if isinstance(one, str) else Function(one)

    def put(self, what: tuple[Metrics, int] | None) -> None:
        with contextlib.suppress(queue.Full, queue.Empty):
            if what is None and self._queue.full():
                self._queue.get_nowait()  # the end finds room
            self._queue.put_nowait(what)

    def _feed(self) -> None:
        while (what := self._queue.get()) is not None:
            self._safe(_Feed._send)(self, *what)
        self._safe(_Feed._close)(self)

    def _send(self, metrics: Metrics, step: int) -> None:
        if self._log:
            self._log.send(metrics, step)

    def _close(self) -> None:
        if self._log:
            self._log.close()
