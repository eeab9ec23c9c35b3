"""The checker's side: runs the teacher's check cells against far answers.

    check cells, a seed, a line to the student's process  ->  one outcome a question

The cells are run as they stand. Names of the student's answers are stand-ins; a probe that is given
one runs beside it, in the student's process, and everything else is judged here.

Words
    public   what the lesson's own cells gave a name, up to this check
    lost     the student's process ended, or said what cannot be read; the supervisor knows why
"""

import contextlib
import io
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from batchlab.classroom import term
from batchlab.classroom.afar import Gone
from batchlab.classroom.showing import worded
from batchlab.classroom.verdict import CheckFailed
from batchlab.grading import _far
from batchlab.grading._cells import run
from batchlab.grading._values import Garbage
from batchlab.grading._wire import Channel, Flood, Peer

__all__ = ["serve"]


@dataclass
class _Student:
    """The line to a student's process whose cells have run."""

    peer: Peer
    errors: dict[str, dict[str, Any]] = field(default_factory=dict)
    printed: int = 0


class Checker:
    """Runs a submission's cells over there, and the checks here; tells the supervisor."""

    def __init__(self, line: socket.socket, names: dict[str, Any], public: Any) -> None:
        self.line, self.names, self.public = line, names, public
        self.supervisor = Channel(line.fileno(), line.fileno())
        self.student: _Student | None = None
        self.skipped: dict[str, str] = {}  # cells that ended the process, and how

    def tell(self, **said: Any) -> None:
        self.supervisor.send(said, [])

    def told(self) -> Any:
        return self.supervisor.receive()[0]

    def connected(self, cells: list[dict[str, Any]]) -> _Student:
        """A student's process in which all cells ran but those that end it."""
        while self.student is None:
            self.tell(need="student")
            channel = Channel(*[int(one) for one in self.line_to_student()])
            offered, introduce = _far.answers(quiet=False, guarded=True)
            peer = Peer(channel, offered, _far.stand_in, strict=True)
            introduce(peer)
            student, at = _Student(peer), ""
            try:
                for cell in cells:
                    at = cell["name"]
                    if at not in self.skipped:
                        self.ran(student, cell)
                self.student = student
            except (Gone, Garbage) as end:
                peer.channel.close()
                self.skipped[at] = self.why(end)
                if self.skipped[at] == "OVER":
                    raise
        return self.student

    def line_to_student(self) -> tuple[int, int]:
        _, found, _, _ = socket.recv_fds(self.line, 1, 1)
        return found[0], found[0]

    def ran(self, student: _Student, cell: dict[str, Any]) -> None:
        self.tell(phase=cell["name"])
        if cell.get("source") is None:
            student.peer.ask("taken", name=cell["name"])
            return
        reply = student.peer.ask("cell", name=cell["name"], source=cell["source"])
        if type(reply.get("error")) is dict:
            student.errors[cell["name"]] = reply["error"]
        student.printed = _count(reply.get("printed"))

    def why(self, end: BaseException) -> str:
        """How the student's process ended; it is ended if it has not."""
        said = "OUTPUT" if isinstance(end, Flood) else "ERROR" if isinstance(end, Garbage) else ""
        self.student = None
        self.tell(lost=said)
        return str(self.told()["why"])

    def judge(self, check: dict[str, Any], cells: list[dict[str, Any]]) -> dict[str, Any]:
        """The outcome of one question."""
        began = time.process_time()
        self.names.update(self.public.get(check["name"], {}))
        try:
            student = self.connected(cells)
            self.tell(phase=check["name"])
            if dead := [self.skipped[one] for one in check["answers"] if one in self.skipped]:
                return {"verdict": dead[0], "seconds": 0.0}
            student.peer.codec.pretended = False
            found = student.peer.ask("named", names=check["names"])
            student.printed = _count(found.get("printed"))
            self.bind(check["names"], found.get("found"))
            outcome = self.outcome(check, student)
        except (Gone, Garbage) as end:
            why = self.why(end)
            if why != "OVER":
                self.skipped.update(dict.fromkeys(check["answers"], why))
            outcome = {"verdict": why}
        return outcome | {"seconds": time.process_time() - began}

    def judged(self, name: str, outcome: dict[str, Any]) -> None:
        """Tell an outcome; the next question may need a fresh process."""
        self.tell(judged=name, **outcome)
        if self.told()["fresh"] and self.student is not None:
            self.student.peer.channel.close()
            self.student = None

    def bind(self, names: list[str], found: Any) -> None:
        """Give the answers' names their stand-ins."""
        if type(found) is not dict:
            raise Garbage("no names")
        for name in names:
            self.names.pop(name, None)
            if name in found:
                self.names[name] = found[name]

    def outcome(self, check: dict[str, Any], student: _Student) -> dict[str, Any]:
        """Run the check cell, and say how it ended."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                value = run(check["name"], check["source"], self.names)
            except (Gone, Garbage):
                raise
            except BaseException as error:
                return self.refusal(check, error, student)
        if type(value) in (int, float, bool):
            return {"verdict": "PARTIAL", "value": float(value)}
        return {"verdict": "PASS"}

    def refusal(
        self, check: dict[str, Any], error: BaseException, student: _Student
    ) -> dict[str, Any]:
        message, verdict = str(error) or type(error).__name__, "FAIL"
        kind = error.kind if isinstance(error, CheckFailed) else ""
        if isinstance(error, CheckFailed | AssertionError):
            verdict = "ERROR" if kind == "raised" else "FAIL"
            verdict = "FORBIDDEN" if student.peer.codec.pretended and not kind else verdict
        else:
            message, verdict, kind = f"{type(error).__name__}: {worded(error)}", "ERROR", "crash"
            missing = isinstance(error, NameError) and error.name in check["names"]
            verdict = "MISSING" if missing else verdict
        if kind == "raised" and "MemoryError" in message.partition("\n")[2].partition("\n")[0]:
            verdict = "OOM"
        where = {"verdict": verdict, "message": message, "kind": kind, "type": type(error).__name__}
        return where | {"line": _line(error, f"<{check['name']}>")}


def serve(line: socket.socket, names: dict[str, Any], public: Mapping[str, Any]) -> None:
    """Judge one submission: the first message says what is asked."""
    sys.stdout = sys.stderr = io.StringIO()
    checker = Checker(line, names, public)
    asked = checker.told()
    term.use(asked["seed"])
    over = False
    for check in asked["checks"]:
        checker.tell(phase=check["name"])
        outcome = {"verdict": "TIMEOUT"} if over else checker.judge(check, asked["cells"])
        if outcome["verdict"] == "OVER":
            over, outcome = True, outcome | {"verdict": "TIMEOUT"}
        checker.judged(check["name"], outcome)
    student = checker.student
    errors = student.errors if student else {}
    checker.tell(
        done=True, errors=errors, printed=student.printed if student else 0,
        lost=checker.skipped,
    )  # fmt: skip
    os._exit(0)


def _line(error: BaseException, file: str) -> int:
    """The line of the cell itself that led to the error; 0 where none did."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 60 else 0
