"""The same checks where no process can be copied: one fresh process for the answers.

    a lesson, a notebook  ->  Judged, ..., on any machine, for a student's own notebook

The public cells run here for the checks and over there for the answers, so it takes twice as long
as the lesson opens. There is no sandbox: a student tries their own code. `python -m
batchlab.grading._alone` is the other process; it talks over its standard input and output.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from batchlab.classroom import term
from batchlab.grading import _ingest, _judge, _lesson, _student
from batchlab.grading._checker import Checker
from batchlab.grading._limits import Limits
from batchlab.grading._public import Public
from batchlab.grading._verdict import Judged
from batchlab.grading._wire import Channel

__all__ = ["Alone"]


class _Line(Checker):
    """A checker that starts its student's process itself, and ends it after a while."""

    def __init__(self, lesson: _lesson.Lesson, seconds: float) -> None:
        self.lesson, self.limit, self.reason = lesson, seconds, ""
        self.names, self.public = self._opened()
        self.student, self.skipped, self.errors, self.printed = None, {}, {}, 0
        self.over = self.opened = False
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.timer = threading.Timer(0, lambda: None)

    def _opened(self) -> tuple[dict[str, Any], Any]:
        main = sys.modules["__main__"]
        with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
            public = Public(list(self.lesson.cells))
        sys.modules["__main__"] = main
        return public.names, public.gave

    def tell(self, **said: Any) -> None:
        if "phase" in said:
            self.timer.cancel()
            self.timer = threading.Timer(self.limit, self._late)
            self.timer.daemon = True
            self.timer.start()
        elif "judged" in said:
            self.outcomes[said.pop("judged")] = said
        elif "lost" in said:
            self.reason = self.reason or said["lost"] or "CRASH"
            self.end()

    def told(self) -> Any:
        return {"why": self.reason, "fresh": False}

    def line_to_student(self) -> tuple[int, int]:
        self.reason = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "batchlab.grading._alone"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if self.process.stdin is None or self.process.stdout is None:
            raise OSError("no pipe to the other process")
        self.folder = tempfile.TemporaryDirectory(prefix="batchlab-")
        asked = {"cells": list(self.lesson.cells), "folder": self.folder.name}
        reads, writes = os.dup(self.process.stdout.fileno()), os.dup(self.process.stdin.fileno())
        Channel(reads, writes).send(asked, [])
        return reads, writes

    def _late(self) -> None:
        self.reason = "TIMEOUT"
        if self.process is not None:
            self.process.kill()

    def end(self) -> None:
        """End the other process, and let go of it."""
        self.timer.cancel()
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
            self.folder.cleanup()


class Alone:
    """Grades notebooks of one lesson on any machine, with the public seed and no sandbox."""

    def __init__(
        self, lesson: Path, *, released: Path | None = None, seconds: float = 60.0
    ) -> None:
        self.lesson, self.seconds = _lesson.opened(lesson, released), seconds

    def grade(self, notebook: bytes) -> tuple[Judged, ...]:
        """One `Judged` a question, in the teacher's order."""
        try:
            sent = _ingest.read(notebook, self.lesson)
        except _ingest.Refused as reason:
            return _judge.rejected(self.lesson, str(reason))
        term.use(term.DEFAULT_SEED)
        line = _Line(self.lesson, self.seconds)
        cells = [{"name": name, "source": source} for name, source in sent.cells]
        checks = [asdict(one) | asdict(sent.moments[one.name]) for one in self.lesson.questions]
        line.judge_all({"cells": cells, "checks": checks})
        found = []
        for one in self.lesson.questions:
            notes = [note for name, note in sent.notes if name in {one.name, *one.answers}]
            limit = Limits(cpu_seconds=self.seconds).worded().replace("CPU ", "")
            found.append(_judge.judged(one, line.outcomes[one.name], dict.fromkeys(notes), limit))
        if line.student is not None:
            line.student.peer.channel.close()
        line.end()
        term.use(None)
        return tuple(found)


def main() -> None:
    """Be the process of the answers: run the public cells, then do what is asked."""
    if sys.platform == "win32":
        import msvcrt

        for one in (0, 1):
            msvcrt.setmode(one, os.O_BINARY)
    channel = Channel(os.dup(0), os.dup(1))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for one in (0, 1, 2):
        os.dup2(nowhere, one)
    asked, _ = channel.receive()
    public = Public(asked["cells"])
    os.chdir(asked["folder"])  # what the notebook writes overwrites nothing
    _student.serve(channel, public.names, public.gave)
    os._exit(0)


if __name__ == "__main__":
    main()
