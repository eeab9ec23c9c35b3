"""The checker's side: runs the teacher's check cells against far answers.

    check cells, a seed, a line to the student's process  ->  one outcome a question

The cells are run as they stand. Names of the student's answers are stand-ins; a probe that is given
one runs beside it, in the student's process, and everything else is judged here.

Words
    public   what the lesson's own cells gave a name, up to this check
    lost     the student's process ended, or said what cannot be read; the supervisor knows why
    knows    a hidden input was given to the student's process: its words may tell it
"""

import contextlib
import io
import os
import re
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
from batchlab.grading import _driver, _far
from batchlab.grading._cells import line_of, run
from batchlab.grading._values import Garbage
from batchlab.grading._wire import OF_STRANGERS, Channel, Flood, Peer

__all__ = ["Checker", "foresee", "serve"]

COMPLAINT = 4000  # letters of an error that are kept
JUDGED = re.compile(r"check\.judge\([\"']([\w/-]+)")  # the exercise of a check cell
MENDED = ("FAIL", "ERROR", "MISSING", "FORBIDDEN", "PARTIAL")  # a later cell may change these


@dataclass
class _Student:
    """The line to a student's process, and how many of its cells have run."""

    peer: Peer
    ran: int = 0
    drawn: int = field(default_factory=term.drawn)

    @property
    def knows(self) -> bool:
        return term.drawn() > self.drawn and term.seed() != term.DEFAULT_SEED


class Checker:
    """Runs a submission's cells over there, and the checks here; tells the supervisor."""

    def __init__(self, line: socket.socket, names: dict[str, Any], public: Any) -> None:
        self.line, self.names, self.public = line, names, public
        self.supervisor = Channel(line.fileno(), line.fileno())
        self.student: _Student | None = None
        self.skipped: dict[str, str] = {}  # cells that ended the process, and how
        self.errors: dict[str, dict[str, Any]] = {}  # what cells raised
        self.printed = 0
        self.over = self.opened = False

    def tell(self, **said: Any) -> None:
        self.supervisor.send(said, [])

    def told(self) -> Any:
        return self.supervisor.receive()[0]

    def judge_all(self, asked: dict[str, Any]) -> None:
        """Judge each question behind the cells above it, as the student saw it.

        What a later cell may mend is judged once more, behind all cells; the better counts.
        """
        self.skipped.update(asked.get("skipped", {}))
        cells, found = asked["cells"], []
        for check in sorted(asked["checks"], key=lambda one: int(one["after"])):
            outcome = self.within(check, cells, check["after"])
            self.judged(check["name"], outcome)
            found.append((check, check["after"], outcome))
        for at, (check, after, before) in enumerate(found):
            if check["again"] and before["verdict"] in MENDED and after < len(cells):
                outcome = self.within(check, cells, len(cells))
                if _better(outcome, before):
                    found[at] = check, len(cells), outcome
                self.judged(check["name"], found[at][2])
        self.say_anew([one for one in found if self.tells(one[0], one[2])], cells)

    def tells(self, check: dict[str, Any], outcome: dict[str, Any]) -> bool:
        """Whether a process that knows hidden inputs chose words that a student would read."""
        if outcome["verdict"] == "MISSING" or outcome.get("kind") == "blank":
            return any(self.errors.get(one, {}).get("knows") for one in check["answers"])
        worded = outcome["verdict"] in MENDED and "message" in outcome
        return worded and outcome["knows"] and outcome["hidden"] is None

    def say_anew(
        self, found: list[tuple[dict[str, Any], int, dict[str, Any]]], cells: list[dict[str, Any]]
    ) -> None:
        """Let a process that gets no hidden input say what these refusals say."""
        if not found or self.over:
            return
        if self.student is not None:
            self.tell(lost="ANEW")
            self.told()
            self.student.peer.channel.close()
            self.student = None
        term.withhold(True)
        for check, upto, before in sorted(found, key=lambda one: one[1]):
            outcome = self.within(check, cells, upto)
            if outcome["verdict"] in MENDED and "message" in outcome:
                before = before | {"said": outcome["message"]}
            self.judged(check["name"], before)
        term.withhold(False)

    def within(
        self, check: dict[str, Any], cells: list[dict[str, Any]], upto: int
    ) -> dict[str, Any]:
        """The outcome of a question; TIMEOUT once the submission has used up what it may."""
        if not self.over:
            outcome = self.judge(check, cells, upto)
            self.over = outcome["verdict"] == "OVER"
        else:
            self.tell(phase=check["name"])
        return {"verdict": "TIMEOUT"} if self.over else outcome

    def connected(self, cells: list[dict[str, Any]], upto: int) -> _Student:
        """A student's process in which these cells ran but those that end it."""
        while True:
            student = self.student = self.student or self.begun()
            try:
                while student.ran < upto:
                    cell = cells[student.ran]
                    if cell["name"] not in self.skipped:
                        self.run(student, cell)
                    student.ran += 1
                return student
            except (Gone, Garbage) as end:
                at = cells[student.ran]["name"]
                student.peer.channel.close()
                self.skipped[at] = self.why(end)
                if self.skipped[at] == "OVER":
                    raise

    def begun(self) -> _Student:
        self.tell(need="student")
        reads, writes = self.line_to_student()
        offered, introduce = _far.answers(contextlib.nullcontext, guarded=True)
        peer = Peer(Channel(reads, writes, OF_STRANGERS), offered, _far.stand_in, strict=True)
        introduce(peer)
        return _Student(peer)

    def line_to_student(self) -> tuple[int, int]:
        _, found, _, _ = socket.recv_fds(self.line, 1, 1)
        return found[0], found[0]

    def run(self, student: _Student, cell: dict[str, Any]) -> None:
        self.tell(phase=cell["name"])
        if cell.get("source") is None:
            student.peer.ask("taken", name=cell["name"])
            return
        reply = student.peer.ask("cell", name=cell["name"], source=cell["source"])
        self.errors.pop(cell["name"], None)
        if type(reply.get("error")) is dict:
            said = f"{reply['error'].get('complaint', '')}"[:COMPLAINT]
            self.errors[cell["name"]] = {"complaint": said, "knows": student.knows}
        self.printed = max(self.printed, _count(reply.get("printed")))

    def why(self, end: BaseException) -> str:
        """How the student's process ended; it is ended if it has not."""
        said = "OUTPUT" if isinstance(end, Flood) else "ERROR" if isinstance(end, Garbage) else ""
        self.student = None
        self.tell(lost=said)
        return str(self.told()["why"])

    def judge(
        self, check: dict[str, Any], cells: list[dict[str, Any]], upto: int
    ) -> dict[str, Any]:
        """The outcome of one question behind so many cells."""
        began = time.process_time()
        self.names.update(self.known(check["name"]))
        try:
            student = self.connected(cells, upto)
            self.tell(phase=check["name"])
            if dead := [self.skipped[one] for one in check["answers"] if one in self.skipped]:
                return {"verdict": dead[0], "seconds": 0.0}
            student.peer.codec.pretended = False
            found = student.peer.ask("named", names=check["names"])
            self.printed = max(self.printed, _count(found.get("printed")))
            self.opened |= found.get("opened") is True
            self.bind(check["names"], found.get("found"))
            outcome = self.outcome(check, student) | {"knows": student.knows}
        except (Gone, Garbage) as end:
            why = self.why(end)
            if why != "OVER":
                self.skipped.update(dict.fromkeys(check["answers"], why))
            outcome = {"verdict": why}
        return outcome | {"seconds": time.process_time() - began}

    def hear_out(self) -> None:
        """Hear whether the last calls opened the solutions."""
        with contextlib.suppress(Gone, Garbage):
            if self.student is not None:
                self.opened |= self.student.peer.ask("named", names=[]).get("opened") is True

    def known(self, check: str) -> dict[str, Any]:
        """What the lesson's own cells gave up to a check."""
        found: dict[str, Any] = {}
        for name, gave in self.public.items():
            found |= gave
            if name == check:
                return found
        return {}

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
            except term.Withheld:
                return {"verdict": "PASS"}
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
        hidden = getattr(error, "fresh", None) if term.seed() != term.DEFAULT_SEED else None
        return where | {"line": line_of(error, check["name"]), "hidden": hidden}


def _better(outcome: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether a second outcome gives more points, or says more than that nothing is there."""

    def worth(one: dict[str, Any]) -> float:
        return float("inf") if one["verdict"] == "PASS" else float(one.get("value", 0.0))

    empty = before["verdict"] == "MISSING" or before.get("kind") == "blank"
    return worth(outcome) > worth(before) or (empty and worth(outcome) == worth(before))


def foresee(asked: Mapping[str, Any]) -> None:
    """Do once for a class what the check of each submission begins with; no submission is known."""
    from batchlab import exercises

    term.use(asked["seed"])
    for name in JUDGED.findall("\n".join(asked["checks"])):
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exercise = exercises.foreseen(name)
            if exercise.scene is not None:
                _driver.text_of(exercise.scene)


def serve(line: socket.socket, names: dict[str, Any], public: Mapping[str, Any]) -> None:
    """Judge one submission: the first message says what is asked."""
    sys.stdout = sys.stderr = io.StringIO()
    checker = Checker(line, names, public)
    asked = checker.told()
    term.use(asked["seed"])
    checker.judge_all(asked)
    checker.hear_out()
    checker.tell(done=True, errors=checker.errors, printed=checker.printed, opened=checker.opened)
    os._exit(0)


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 60 else 0
