"""One submission from its first process to its last: starts them, watches them, ends them.

    cells, questions, a zygote  ->  an outcome for each question

The supervisor reads nothing that a student's process writes. The checker says what it needs.
"""

import contextlib
import json
import os
import select
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from batchlab.classroom.afar import Gone
from batchlab.grading import _folder, _processes
from batchlab.grading._jail import Order
from batchlab.grading._limits import Limits, Watch
from batchlab.grading._wire import Channel

__all__ = ["Broken", "Found", "Started", "supervised"]

LOOK = 0.05  # seconds between two looks at a running process
STARTS = 60  # processes of one submission, each behind the end of the one before


class Broken(RuntimeError):
    """The grader's own machinery failed: no student is to blame."""


@dataclass
class Started:
    """A process that the zygote forked, and how it tells its fate."""

    pid: int  # of the first process of its tree
    line: socket.socket
    status: int = -1

    def fate(self, wait: float = 5.0) -> dict[str, Any]:
        """What its keeper said at the end: how it ended, what was left, seconds."""
        said, text = {}, b""
        until = time.monotonic() + wait
        while time.monotonic() < until:
            if select.select([self.status], [], [], 0.2)[0]:
                part = os.read(self.status, 65536)
                if not part:
                    break
                text += part
        for row in text.splitlines():
            with contextlib.suppress(ValueError):
                said.update(json.loads(row))
        return said

    def close(self) -> None:
        """Let go of it here."""
        self.line.close()
        if self.status >= 0:
            os.close(self.status)
            self.status = -1


@dataclass
class Found:
    """What came out: an outcome by question, CPU seconds of each, and signs of the rest."""

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, Any] = field(default_factory=dict)
    printed: int = 0
    opened: bool = False  # a cell loaded the course's own exercises
    left: int = 0  # processes that were still there at the end


@dataclass
class _Run:
    """The state of one submission under way."""

    start: Callable[..., Started]
    order: Order
    watch: Watch
    checker: Started
    student: Started | None = None
    phase: str = ""  # the cell or the question that is under way
    reason: str = ""
    found: Found = field(default_factory=Found)
    starts: int = 0

    @property
    def work(self) -> Path:
        """The folder of the student's latest process."""
        return Path(self.order.work, str(self.starts))


def supervised(
    start: Callable[..., Started], order: Order, limits: Limits, asked: Mapping[str, Any]
) -> Found:
    """The outcomes of a submission; `start(what, order)` forks a process, or raises Broken."""
    checker = start("checker", order)
    run = _Run(start, order, Watch(limits, checker.pid, order.work), checker)
    asked = {**asked, "skipped": {}}
    try:
        while not _judged(run, asked):
            if not _without(run, asked):
                return run.found
            run.checker = start("checker", order)
            run.watch.checked(run.checker.pid)
        return run.found
    finally:
        _end(run)


def _judged(run: _Run, asked: dict[str, Any]) -> bool:
    """Let the checker judge; False where it took too much over what it was sent, and was ended."""
    channel, looked = Channel(run.checker.line.fileno(), run.checker.line.fileno()), 0.0
    try:
        channel.send(asked, [])
        while True:
            if select.select([run.checker.line], [], [], LOOK)[0]:
                said = channel.receive()[0]
                if _heard(run, channel, said):
                    if run.student is not None:  # nobody asks any more: it leaves by itself
                        select.select([run.student.status], [], [], 1.0)
                    return True
                if time.monotonic() - looked < LOOK:
                    continue
            looked = time.monotonic()
            if run.watch.checker_over():
                _end(run)
                return False
            if reason := run.watch.reason():
                _stop(run, reason)
    except (Gone, ValueError) as end:
        raise Broken(f"the checker ended: {end}") from None


def _without(run: _Run, asked: dict[str, Any]) -> bool:
    """Leave out what the checker was ended over; False where nothing is left to judge."""
    names = [one["name"] for one in asked["checks"]]
    if run.phase in names:
        run.found.outcomes[run.phase] = {"verdict": "OUTPUT"}
    else:
        asked["skipped"][run.phase] = "OUTPUT"
    if run.watch.over:
        for name in names:
            run.found.outcomes.setdefault(name, {"verdict": "TIMEOUT"})
    asked["checks"] = [one for one in asked["checks"] if one["name"] not in run.found.outcomes]
    return bool(asked["checks"])


def _end(run: _Run) -> None:
    """End the processes of both sides."""
    _stop(run, "OVER")
    _processes.end(run.checker.pid)
    run.checker.close()


def _heard(run: _Run, channel: Channel, said: dict[str, Any]) -> bool:
    """Do what the checker needs; True when it is done."""
    if said.get("need") == "student":
        run.student = _student(run)
        socket.send_fds(run.checker.line, [b"s"], [run.student.line.fileno()])
        run.student.line.close()
        run.watch.started(run.student.pid)
    elif "phase" in said:
        run.phase = said["phase"]
        run.watch.phase()
    elif "lost" in said and "done" not in said:
        channel.send({"why": _why(run, said["lost"])}, [])
    elif "judged" in said:
        name = said.pop("judged")
        run.found.outcomes[name] = said
        left = _left(run)
        spent = run.watch.total - run.watch.phase_spent
        before = run.found.seconds.get(name, 0.0)
        run.found.seconds[name] = before + said.get("seconds", 0.0) + max(0.0, spent)
        if left:
            run.found.left += left
            _stop(run, "LEFT")
        channel.send({"fresh": bool(left)}, [])
    elif said.get("done"):
        run.found.errors, run.found.printed = said["errors"], said["printed"]
        run.found.opened = said["opened"]
        return True
    return False


def _left(run: _Run) -> int:
    """Processes that a question left behind beside the student's own and its keeper."""
    own = 3 if run.order.level == "L3" else 2  # one more stands outside the namespaces
    for _ in range(3):
        run.watch.reason()
        if run.watch.latest.processes <= own:
            return 0
        time.sleep(0.01)
    return run.watch.latest.processes - own


def _student(run: _Run) -> Started:
    """A process for the answers, in a folder that no earlier one could write."""
    run.starts += 1
    run.reason = ""
    run.work.mkdir(mode=0o700)
    return run.start("student", replace(run.order, work=str(run.work)))


def _stop(run: _Run, reason: str) -> None:
    """End the student's processes, remove what they wrote, and remember why."""
    if run.student is None:
        return
    run.reason = run.reason or reason
    _processes.end(run.student.pid)
    fate = run.student.fate()
    run.student.close()
    run.student = None
    run.found.left += int(fate.get("left", 0))
    run.watch.ended(fate.get("seconds"))
    _folder.remove(run.work)  # or the next question would pay for it where others fill the disk


def _why(run: _Run, said: str) -> str:
    """Why the checker lost its student."""
    if run.student is not None:
        fate = run.student.fate(1.0) if not said else {}
        if "failed" in fate:
            raise Broken(f"no process at level {run.order.level}: {fate['failed']}")
        run.reason = said or run.reason or "CRASH"
        _stop(run, run.reason)
    over = run.watch.over or run.starts >= STARTS
    return "OVER" if over else run.reason or said or "CRASH"
