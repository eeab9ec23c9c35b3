"""One rank of a simulated world: its clock, its meters, and what it waits for.

verbs of a rank function  ->  halves of messages, posted to the world, which wakes it again
"""

import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Protocol

import numpy as np

from batchlab.cluster._ring import Rank
from batchlab.units import real

__all__ = ["Baton", "Ended", "Event", "Posted", "RankError", "Simulated", "line_of"]

HERE = str(Path(__file__).parent)


class RankError(RuntimeError):
    """What a rank function did wrong, with its ranks and lines."""


class Ended(BaseException):
    """Thrown into ranks that must stop because another one failed."""


@dataclass(frozen=True)
class Event:
    """A stretch of one rank's clock: it computed, or it sent or received bytes."""

    rank: int
    kind: str  # compute, send or receive
    start: float
    end: float
    bytes: int = 0
    peer: int | None = None
    line: int | None = None


@dataclass
class Posted:
    """Half of a message."""

    rank: int
    peer: int
    array: np.ndarray
    since: float
    line: int | None
    done: bool = False


class Baton:
    """Taken by whoever waits for it, given once by somebody else: a lock that starts locked.

    `threading.Semaphore` does the same through a condition, and takes five times as long.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def take(self, seconds: float = -1) -> bool:
        """Wait until it is given, or for so many seconds; say whether it was given."""
        return self._lock.acquire(timeout=seconds)

    def give(self) -> None:
        """Let the one that waits for it go on."""
        self._lock.release()


class World(Protocol):
    """What a rank needs of its world."""

    timeline: list[Event]

    def hand_over(self, rank: "Simulated") -> None:
        """Wait until every half that the rank posted has found its other half."""

    def compare(
        self, number: int, rank: int, name: str, array: np.ndarray, line: int | None
    ) -> None:
        """Refuse a collective that differs from the other ranks'."""


@dataclass(repr=False)
class Simulated(Rank):
    """A rank in a thread of its own."""

    world: World
    rank: int
    world_size: int
    clock: float = 0.0
    sent_bytes: int = 0
    held_bytes: int = 0
    peak_bytes: int = 0
    collectives: int = 0
    waiting: list[tuple[str, Posted]] = field(default_factory=list)
    state: str = "new"  # then running, waiting, awake; returned, failed or ended
    thread: threading.Thread | None = None
    go: Baton = field(default_factory=Baton)

    def exchange(self, to: int, data: np.ndarray, frm: int, into: np.ndarray) -> np.ndarray:
        self._post(("send", to, data), ("receive", frm, into))
        return into

    def send(self, to: int, data: np.ndarray) -> None:
        self._post(("send", to, data))

    def receive(self, frm: int, into: np.ndarray) -> np.ndarray:
        self._post(("receive", frm, into))
        return into

    def compute(self, seconds: float) -> None:
        start = self.clock
        self.clock += real(seconds, "seconds", least=0)
        line = _caller()
        self.world.timeline.append(Event(self.rank, "compute", start, self.clock, line=line))

    def _enter(self, name: str, array: np.ndarray) -> None:
        self.world.compare(self.collectives, self.rank, name, array, _caller())
        self.collectives += 1

    def _post(self, *halves: tuple[str, int, np.ndarray]) -> None:
        for kind, peer, array in halves:
            if not 0 <= peer < self.world_size or peer == self.rank:
                way = "to" if kind == "send" else "from"
                raise ValueError(
                    f"rank {self.rank} of {self.world_size} cannot {kind} {way} rank {peer}"
                )
            kept = np.array(array) if kind == "send" else array  # a process would copy it as well
            self.waiting.append((kind, Posted(self.rank, peer, kept, self.clock, _caller())))
        self.world.hand_over(self)

    def __repr__(self) -> str:
        return f"rank {self.rank} of {self.world_size}"


def line_of(traceback: TracebackType | None) -> int | None:
    """The last line of the user's own code in a traceback."""
    line = None
    while traceback is not None:
        if not _ours(traceback.tb_frame):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _caller() -> int | None:
    """The line of the user's code that is being run."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame):
        frame = frame.f_back
    return frame.f_lineno if frame else None


def _ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(HERE)
