"""One lesson, opened once, that grades notebook after notebook.

the teacher's notebook, the seed's text  ->  Engine  ->  a notebook's bytes  ->  Judged, ...
"""

import contextlib
import os
import select
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from batchlab.classroom.afar import Gone
from batchlab.grading import _ingest, _judge, _lesson, _probe, _revision
from batchlab.grading._folder import Folder, remove
from batchlab.grading._jail import LEVELS, Order
from batchlab.grading._limits import Limits
from batchlab.grading._supervisor import Broken, Found, Started, supervised
from batchlab.grading._verdict import Judged
from batchlab.grading._wire import Channel

__all__ = ["Engine"]

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH")
ALWAYS = {"BATCHLAB_GRADING": "1", "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1",
          "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}  # fmt: skip
WARM_AFTER = 2  # notebooks: one or two are graded sooner without what warming up takes
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")


class Engine:
    """A lesson that grades; a context manager. The public cells run once, in `__enter__`.

    lesson       the teacher's notebook, solutions/NN_topic/topic.ipynb; its released copy is
                 lessons/NN_topic/topic.ipynb of the same course folder, or `released`
    seed         the text of the seed's file; None for the public seed
    level        "best", or one of LEVELS: ValueError where that does not stand here
    cpu_seconds  that one question may use; wall_seconds: that it may take
    memory       bytes that a submission may have beside what the lesson itself loads
    """

    level: str  # in force, found by probing from inside
    checks: str  # fingerprint of cells, library and revision: part of a record's key

    def __init__(
        self,
        lesson: Path,
        *,
        seed: str | None,
        level: str = "best",
        cpu_seconds: float = 60.0,
        wall_seconds: float = 300.0,
        memory: int = 4 << 30,
        released: Path | None = None,
    ) -> None:
        if level != "best" and level not in LEVELS:
            raise ValueError(f"level {level!r}; there are best, {', '.join(LEVELS)}")
        self.lesson, self.seed, self.wanted = _lesson.opened(lesson, released), seed, level
        self.limits = Limits(cpu_seconds, wall_seconds, memory)
        self.checks = _revision.checks(self.lesson)
        self.level = ""
        self.refused: dict[str, dict[str, str]] = {}  # by level: what came of each attempt
        self.public_errors: dict[str, str] = {}
        self._zygote: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._court: socket.socket | None = None
        self._home: Folder | None = None
        self._count = self._graded = 0

    def __enter__(self) -> "Engine":
        self._home = Folder()
        try:
            self._start()
            self.level = self._level()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def grade(self, notebook: bytes, *, only: tuple[str, ...] | None = None) -> tuple[Judged, ...]:
        """One `Judged` a question, in the teacher's order; raises for nothing a student can do."""
        try:
            sent = _ingest.read(notebook, self.lesson)
        except _ingest.Refused as reason:
            return _judge.rejected(self.lesson, str(reason))
        questions = [one for one in self.lesson.questions if only is None or one.name in only]
        self._graded += 1
        try:
            if self._graded == WARM_AFTER + 1:
                self._dense()
            found = self._supervised(self._asked(sent, questions))
        except Broken as fault:
            return _judge.uniform(self.lesson, "INFRA", f"got     {fault}")
        return tuple(self._judged(one, found, sent) for one in questions)

    def _asked(self, sent: _ingest.Submission, questions: Any) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "cells": [{"name": name, "source": source} for name, source in sent.cells],
            "checks": [asdict(one) | asdict(sent.moments[one.name]) for one in questions],
        }

    def _dense(self) -> None:
        """Let both take large pages; one that has ended is started again later."""
        for what in ("student", "checker"):
            with contextlib.suppress(Broken, Gone, ValueError):
                self._channel(what).send({"as": "dense"}, [])
                self._channel(what).receive()

    def _judged(self, question: Any, found: Found, sent: Any) -> Judged:
        outcome = found.outcomes.get(question.name, {"verdict": "INFRA"})
        outcome = {**outcome, "seconds": found.seconds.get(question.name, 0.0)}
        answers = {question.name, *question.answers}
        notes = [note for name, note in sent.notes if name in answers]
        if found.printed > 1 << 20:
            notes.append("OUTPUT")
        if found.opened:
            notes.append("REFERENCE")
        if found.left:
            notes.append("LEFTOVERS")
        for name in question.answers:
            blank = outcome["verdict"] == "MISSING" or outcome.get("kind") == "blank"
            if blank and name in found.errors:
                outcome |= {"verdict": "ERROR", "message": _raised(name, found.errors[name])}
                outcome |= {"kind": "raised", "knows": found.errors[name].get("knows")}
        return _judge.judged(question, outcome, dict.fromkeys(notes), self.limits.worded())

    def _supervised(self, asked: dict[str, Any]) -> Found:
        """The outcomes; the zygote is started again, once, if it has ended."""
        for attempt in (1, 2):
            self._count += 1
            order = self._order(self.level)
            try:
                return supervised(self._fork, order, self.limits, asked)
            except Broken:
                if attempt == 2:
                    raise
                self._end_zygote()
                self._start()
                if self._graded > WARM_AFTER:
                    self._dense()
            finally:
                for one in (order.work, f"{order.work}-checks"):
                    remove(Path(one))
        raise AssertionError

    def _order(self, level: str) -> Order:
        folder = self._home.path if self._home else Path()
        work = folder / f"work-{self._count}"
        work.mkdir(exist_ok=True)
        work.chmod(0o711)  # each process has a folder in it, which nobody else may enter
        cpu = int(self.limits.cpu_seconds * self.limits.times) + 60
        return Order(level, str(folder / "root"), str(work), self.limits.memory, cpu)

    def _start(self) -> None:
        """Start the zygote, and let it run the public cells."""
        folder = self._home.path if self._home else Path()
        for name in ("root", "home"):
            (folder / name).mkdir(exist_ok=True)
        here, there = socket.socketpair()
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        kept |= ALWAYS | {f"{one}_NUM_THREADS": "1" for one in THREADS}
        with there, (folder / "zygote.log").open("wb") as log:
            self._zygote = subprocess.Popen(
                [sys.executable, "-P", "-m", "batchlab.grading._zygote", str(there.fileno())],
                pass_fds=[there.fileno()], env=kept, cwd=folder / "home",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        self._line = here
        try:
            self._channel().send({"cells": list(self.lesson.cells)}, [])
            self.public_errors = self._channel().receive()[0]["errors"]
        except (Gone, ValueError):
            why = (folder / "zygote.log").read_text(errors="replace").strip()[-400:]
            raise RuntimeError(f"the lesson's public cells do not run here: {why}") from None
        court = self._fork("court", None)
        os.close(court.status)
        self._court = court.line
        sources = [one.source for one in self.lesson.questions]
        self._channel("checker").send({"seed": self.seed, "checks": sources}, [])

    def _at(self, what: str) -> socket.socket:
        """The line to the process that is copied for this."""
        line = self._court if what == "checker" else self._line
        if line is None:
            raise Broken("the engine is closed")
        return line

    def _channel(self, what: str = "student") -> Channel:
        number = self._at(what).fileno()
        return Channel(number, number)

    def _fork(self, what: str, order: Order | None, asked: dict[str, Any] | None = None) -> Started:
        """A copy of the zygote as the court, a student or a probe; of the court as a checker."""
        here, there = socket.socketpair()
        status, told = os.pipe()
        try:
            said = {"as": what, "order": asdict(order) if order else None, "asked": asked}
            self._channel(what).send(said, [])
            socket.send_fds(self._at(what), [b"f"], [there.fileno(), told])
            pid = self._channel(what).receive()[0]["pid"]
        except (Gone, OSError, ValueError):
            here.close()
            os.close(status)
            raise Broken("the lesson's process has ended") from None
        finally:
            there.close()
            os.close(told)
        return Started(pid, here, status)

    def _level(self) -> str:
        """The best level that holds, or the wanted one; ValueError where that does not."""
        for level in LEVELS if self.wanted == "best" else (self.wanted,):
            self.refused[level] = came = self._probed(level)
            if all(came.get(one) == "refused" for one in _probe.MUST_REFUSE[level]) and came:
                return level
        came = {k: v for k, v in self.refused[self.wanted].items() if v != "refused"}
        why = ", ".join(f"{name}: {how}" for name, how in came.items()) or "it could not be tried"
        raise ValueError(f"level {self.wanted} does not stand on this machine ({why})")

    def _probed(self, level: str) -> dict[str, str]:
        folder = self._home.path if self._home else Path()
        secret = folder / "secret"
        secret.write_text("canary")
        name = f"batchlab-{os.urandom(8).hex()}"
        with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
            tcp.bind(("127.0.0.1", 0))
            tcp.listen()
            unix.bind("\0" + name)
            unix.listen()
            zygote = self._zygote.pid if self._zygote else 0
            asked = {"secret": str(secret), "folder": str(folder), "socket": name,
                     "port": tcp.getsockname()[1], "pid": zygote,
                     "names": list(_probe.MUST_REFUSE[level])}  # fmt: skip
            order = self._order(level)
            one = self._fork("probe", order, asked)
            try:
                if not select.select([one.line], [], [], 30)[0]:
                    raise Gone("no word from inside")
                came: dict[str, str] = Channel(one.line.fileno(), one.line.fileno()).receive()[0]
            except (Gone, ValueError):
                came = {"start": str(one.fate().get("failed", "its process ended"))}
            one.close()
            remove(Path(order.work))
        return came

    def _end_zygote(self) -> None:
        for line in (self._line, self._court):
            if line is not None:
                line.close()
        self._line = self._court = None
        if self._zygote is not None:
            self._zygote.kill()
            self._zygote.wait()
            self._zygote = None

    def _close(self) -> None:
        self._end_zygote()
        if self._home is not None:
            self._home.remove()
            self._home = None


def _raised(name: str, error: Any) -> str:
    told = error.get("complaint") if isinstance(error, dict) else ""
    return f"asked   the cell {name} runs\ngot     {told}"
