"""How much a submission may use, and who says that it was too much.

what a tree of processes uses, moment by moment  ->  a reason to end it, or none
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from batchlab.grading import _folder
from batchlab.grading._processes import Used, used

__all__ = ["Limits", "Watch"]

PROCESSES = 128


@dataclass(frozen=True)
class Limits:
    """What one question may use; a whole submission gets `times` as much."""

    cpu_seconds: float = 60.0
    wall_seconds: float = 300.0
    memory: int = 4 << 30
    idle_seconds: float = 20.0  # nobody computes: it waits for what never comes
    times: float = 3.0
    checker_seconds: float = 20.0  # CPU that the check of one question may use by itself
    written: int = 256 << 20  # bytes of files, where no level bounds them

    def worded(self) -> str:
        """The limit as a student reads it."""
        return f"{self.cpu_seconds:g} CPU seconds"


class Watch:
    """Looks at a student's processes and at the checker that asks them."""

    def __init__(self, limits: Limits, checker: int, folder: str) -> None:
        self.limits, self.folder = limits, Path(folder)
        self.free = _free(folder)
        self.keeper = 0
        self.spent = 0.0  # CPU seconds of students' processes that have ended
        self.latest = Used(0.0, 0, 0, True)
        self.base = 0  # bytes of one process at its start: a copy shares them
        self.began = self.phase_began = self.moved = time.monotonic()
        self.phase_spent = self.phase_checks = 0.0
        self.busy = 0.0
        self.checked(checker)

    @property
    def total(self) -> float:
        """CPU seconds of the whole submission so far, of the student's side."""
        return self.spent + self.latest.seconds

    def checked(self, checker: int) -> None:
        """A checker was started: what it has at its start is nobody's."""
        self.checker, self.checks = checker, used(checker)

    def started(self, keeper: int) -> None:
        """A student's process was started."""
        self.keeper, self.latest = keeper, used(keeper)
        self.base = self.latest.own_bytes // max(1, self.latest.processes)

    def phase(self) -> None:
        """A cell or a question begins: its own seconds are counted from here."""
        if self.keeper:
            self.latest = used(self.keeper)
        self.phase_checks = used(self.checker).seconds
        self.phase_began = self.moved = time.monotonic()
        self.phase_spent = self.total

    def ended(self, seconds: float | None) -> None:
        """The student's processes have ended, and used so much in all."""
        self.spent += max(self.latest.seconds, seconds or 0.0)
        self.keeper, self.latest = 0, Used(0.0, 0, 0, True)

    def checker_over(self) -> bool:
        """Whether the checker itself takes too much over what it was sent."""
        now, limits = used(self.checker), self.limits
        grown = now.own_bytes - self.checks.own_bytes
        return now.seconds - self.phase_checks > limits.checker_seconds or grown > limits.memory

    def reason(self) -> str:
        """Why the student's processes must end now; empty: they may go on."""
        if not self.keeper:
            return ""
        now, limits = time.monotonic(), self.limits
        self.latest = used(self.keeper)
        busy = self.total + used(self.checker).seconds
        if busy > self.busy or not self.latest.asleep:
            self.busy, self.moved = busy, now
        if self.latest.own_bytes - self.base * self.latest.processes > limits.memory:
            return "OOM"
        if self.latest.processes > PROCESSES:
            return "FORBIDDEN"
        if self.total - self.phase_spent > limits.cpu_seconds:
            return "TIMEOUT"
        if self.fills():
            return "OUTPUT"
        if self.over:  # by cells each of which takes less than it may
            return "TIMEOUT"
        if now - self.phase_began > limits.wall_seconds or now - self.moved > limits.idle_seconds:
            return "TIMEOUT"
        return ""

    def fills(self) -> bool:
        """Whether the submission fills the disk; its files are counted only where room is lost."""
        most, now = self.limits.written, _free(str(self.folder))
        if all(before - free <= most for before, free in zip(self.free, now, strict=True)):
            return False
        self.free = now  # not again before as much is lost once more
        return _folder.size(self.folder, most) > most

    @property
    def over(self) -> bool:
        """Whether the submission as a whole has used up what it may."""
        limits = self.limits
        late = time.monotonic() - self.began > limits.times * limits.wall_seconds
        return late or self.total > limits.times * limits.cpu_seconds


def _free(folder: str) -> tuple[int, int]:
    """What is free where a folder lies: bytes, and files as if each took a block of 4 KiB."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail << 12
