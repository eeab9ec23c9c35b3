"""Processes that grade side by side, each with the engine of one lesson.

    lesson, seed, how many  ->  Crew  ->  Told: a greeting, grades, or an end

The parent starts them from one thread, sends a notebook at a time to each, and hears them through
one queue. A worker that dies is told as `ended`, with what it was working on.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from batchlab.grading import _lesson, _revision
from batchlab.grading._course import Lesson

__all__ = ["ENGINE", "Crew", "Told", "Worker"]

ENGINE = "batchlab.grading._engine:Engine"
LEAVE_SECONDS = 10.0  # a worker may take this long to close its engine


@dataclass(frozen=True)
class Told:
    """What one worker said; `message` is None where it ended."""

    worker: "Worker"
    message: dict[str, Any] | None


@dataclass(eq=False)
class Worker:
    """One process and what it works on."""

    process: subprocess.Popen[bytes]
    ready: bool = False
    task: Any = None
    since: float = field(default_factory=time.monotonic)

    @property
    def idle(self) -> bool:
        return self.ready and self.task is None

    def send(self, notebook: bytes, task: Any) -> None:
        """Hand over a notebook; a broken pipe is told by the queue, as the worker's end."""
        self.task, self.since = task, time.monotonic()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps({"bytes": len(notebook)}).encode() + b"\n")
            self.process.stdin.write(notebook)
            self.process.stdin.flush()


class Crew:
    """The workers of one lesson; a context manager that leaves none behind."""

    def __init__(
        self,
        lesson: Lesson,
        *,
        seed: str | None,
        level: str = "best",
        engine: str = "",
        limits: Mapping[str, float] | None = None,
    ) -> None:
        self.setting = {
            "lesson": str(lesson.teacher),
            "released": str(lesson.released),
            "seed": seed,
            "level": level,
            "engine": engine or ENGINE,
            "parent": os.getpid(),
            **(limits or {}),
        }
        self._lesson = lesson
        self.workers: list[Worker] = []
        self._told: queue.Queue[Told] = queue.Queue()

    def foreseen(self) -> dict[str, Any] | None:
        """What a greeting will say but the level, without a process; None for another engine."""
        if self.setting["engine"] != ENGINE:
            return None
        lesson = _lesson.opened(self._lesson.teacher, self._lesson.released)
        return {"checks": _revision.checks(lesson), "environment": _revision.environment()}

    def start(self) -> Worker:
        """Add a worker; its greeting comes through `heard`."""
        alone = ["-P"] * (self.setting["engine"] == ENGINE)  # a json.py of a student lies here
        process = subprocess.Popen(
            [sys.executable, *alone, "-m", "batchlab.grading._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("BATCHLAB_GRADING_LOG") else subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        worker = Worker(process)
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(self.setting).encode() + b"\n")
            process.stdin.flush()
        self.workers.append(worker)
        threading.Thread(target=self._listen, args=[worker], daemon=True).start()
        return worker

    def _listen(self, worker: Worker) -> None:
        assert worker.process.stdout is not None
        with worker.process.stdout as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # it was killed while it spoke
                self._told.put(Told(worker, json.loads(line)))
        self._told.put(Told(worker, None))

    def heard(self, seconds: float) -> Told | None:
        """The next thing that a worker said, or None after so many seconds."""
        try:
            return self._told.get(timeout=seconds)
        except queue.Empty:
            return None

    def remove(self, worker: Worker) -> None:
        """End a worker that is stuck or gone, now."""
        worker.process.kill()
        worker.process.wait()
        with contextlib.suppress(OSError):
            assert worker.process.stdin is not None
            worker.process.stdin.close()
        self.workers.remove(worker)

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.workers:
            with contextlib.suppress(OSError):
                assert worker.process.stdin is not None
                worker.process.stdin.close()  # its loop ends, and its engine closes
        until = time.monotonic() + (LEAVE_SECONDS if kind is None else 1.0)
        for worker in list(self.workers):
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, until - time.monotonic()))
            self.remove(worker)
