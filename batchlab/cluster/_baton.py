"""Threads that take turns: the engine of a simulated world.

    ranks  ->  one awake at a time; switched where it waits; woken when its message has arrived

Words
    turn     from where a rank is woken to where it waits again, or returns
    posted   half of a message, a send or a receive, that waits for the other half
"""

import ctypes
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from batchlab.cluster._collectives import Link
from batchlab.cluster._simulated import Baton, Ended, Event, Posted, RankError, Simulated, line_of

__all__ = ["Switch"]


class Switch:
    """The world: gives turns, matches halves of messages, and ends everybody at a failure."""

    def __init__(self, world_size: int, link: Link, patience: float) -> None:
        self.ranks = [Simulated(self, rank, world_size) for rank in range(world_size)]
        self.link, self.patience = link, patience
        self.timeline: list[Event] = []
        self.results: list[Any] = [None] * world_size
        self.called: list[tuple[int, str, tuple[int, ...], np.dtype, int | None]] = []
        self.failure: tuple[str, BaseException | None] | None = None
        self.back = Baton()
        self.base_bytes = 0
        self.ending = False

    def run(self, function: Callable[[Simulated], Any]) -> list[Any]:
        """Give turns until every rank has returned; a failure of one ends all."""
        while self.failure is None:
            ready = [rank for rank in self.ranks if rank.state in ("new", "awake")]
            if not ready:
                if all(rank.state == "returned" for rank in self.ranks):
                    return self.results
                self.failure = self._deadlock(), None
            for rank in ready:
                if self.failure is None:
                    self._turn(rank, function)
            if self.failure is None:
                self._match()
        self._end_all()
        text, cause = self.failure
        raise RankError(text) from cause

    def hand_over(self, rank: Simulated) -> None:
        """Called in a rank's own thread, which waits: the world goes on with the others."""
        rank.state = "waiting"
        self._meter(rank)
        self.back.give()
        rank.go.take()
        if self.failure:
            raise Ended
        self._start_meter()

    def compare(
        self, number: int, rank: int, name: str, array: np.ndarray, line: int | None
    ) -> None:
        """Refuse a collective that is not the one that the first rank here called."""
        if number == len(self.called):
            self.called.append((rank, name, array.shape, array.dtype, line))
            return
        first, wanted, shape, dtype, at = self.called[number]
        if (wanted, shape, dtype) != (name, array.shape, array.dtype):
            raise RankError(
                f"collective {number} differs: rank {first} calls {wanted} of {shape} {dtype} "
                f"(line {at}), rank {rank} calls {name} of {array.shape} {array.dtype} "
                f"(line {line})"
            )

    def _turn(self, rank: Simulated, function: Callable[[Simulated], Any]) -> None:
        if rank.state == "new":
            rank.thread = threading.Thread(target=self._live, args=(rank, function), daemon=True)
            rank.thread.start()
        rank.state = "running"
        rank.go.give()
        if self.back.take(self.patience):
            return
        self.ending = True
        self.failure = (
            f"rank {rank.rank} ran {self.patience:g} s without communicating "
            "(an endless loop, or real work: then give more patience)",
            None,
        )
        _interrupt(rank.thread)

    def _live(self, rank: Simulated, function: Callable[[Simulated], Any]) -> None:
        """A rank's whole life, in its own thread."""
        rank.go.take()
        self._start_meter()
        try:
            self.results[rank.rank] = function(rank)
            rank.state = "returned"
        except Ended:
            rank.state = "ended"
        except RankError as error:
            rank.state, self.failure = "failed", self.failure or (str(error), None)
        except BaseException as error:
            line = line_of(error.__traceback__)
            what = f"{type(error).__name__} in line {line}: {error}".rstrip(": ")
            rank.state = "failed"
            self.failure = self.failure or (f"rank {rank.rank} raised {what}", error)
        self._meter(rank)
        if not self.ending:
            self.back.give()

    def _match(self) -> None:
        """Complete every message of which both halves are posted; wake ranks that wait no more."""
        for rank in self.ranks:
            for kind, sent in rank.waiting:
                if kind == "send" and not sent.done:
                    for other, wanted in self.ranks[sent.peer].waiting:
                        if other == "receive" and wanted.peer == sent.rank and not wanted.done:
                            self._deliver(sent, wanted)
                            break
            if self.failure:
                return
        for rank in self.ranks:
            if rank.state == "waiting" and all(half.done for _, half in rank.waiting):
                rank.waiting.clear()
                rank.state = "awake"

    def _deliver(self, sent: Posted, wanted: Posted) -> None:
        data, into = sent.array, wanted.array
        if (data.shape, data.dtype) != (into.shape, into.dtype):
            self.failure = (
                f"rank {sent.rank} sends {data.shape} {data.dtype} (line {sent.line}), "
                f"rank {wanted.rank} waits for {into.shape} {into.dtype} (line {wanted.line})",
                None,
            )
            return
        into[...] = data
        start = max(sent.since, wanted.since)
        end = start + self.link.latency_seconds + data.nbytes / self.link.bytes_per_second
        for half, kind, peer in ((sent, "send", wanted.rank), (wanted, "receive", sent.rank)):
            rank = self.ranks[half.rank]
            half.done, rank.clock = True, max(rank.clock, end)
            self.timeline.append(
                Event(half.rank, kind, start, end, data.nbytes, peer, line=half.line)
            )
        self.ranks[sent.rank].sent_bytes += data.nbytes
        self.ranks[sent.rank].held_bytes -= data.nbytes  # the copy in transit
        sent.array = into[:0]

    def _deadlock(self) -> str:
        parts = []
        for rank in self.ranks:
            halves = [
                f"waits to {kind} {'to' if kind == 'send' else 'from'} {half.peer} "
                f"(line {half.line})"
                for kind, half in rank.waiting
                if not half.done
            ]
            parts.append(f"rank {rank.rank} {' and '.join(halves) or 'has returned'}")
        more = f"; and {len(parts) - 6} more ranks" if len(parts) > 6 else ""
        return f"deadlock: {'; '.join(parts[:6])}{more}"

    def _end_all(self) -> None:
        """Throw `Ended` into every rank that still waits; none is left behind."""
        self.ending = True
        for rank in self.ranks:
            if rank.state in ("waiting", "awake"):
                rank.go.give()
        until = time.monotonic() + max(self.patience, 5.0)  # a busy machine is late
        for rank in self.ranks:
            while rank.thread and rank.thread.is_alive() and time.monotonic() < until:
                rank.thread.join(timeout=0.5)
                if rank.state == "running":
                    _interrupt(rank.thread)

    def _start_meter(self) -> None:
        tracemalloc.reset_peak()
        self.base_bytes = tracemalloc.get_traced_memory()[0]

    def _meter(self, rank: Simulated) -> None:
        """Book what the turn that ends here allocated on this rank."""
        now, peak = tracemalloc.get_traced_memory()
        rank.peak_bytes = max(rank.peak_bytes, rank.held_bytes + peak - self.base_bytes)
        rank.held_bytes += now - self.base_bytes


def _interrupt(thread: threading.Thread | None) -> None:
    """End a thread that runs Python code; one inside a long call of C ends after it.

    Once may not be enough: where it hits a callback of the collector, Python prints and forgets it.
    """
    if thread is not None and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Ended)
        )
