"""Time a call on a device that works on while Python goes on.

    call, wait  ->  Timing: seconds of a call, repeat by repeat

A clock that is read without waiting for the device measures how fast work is handed over. Every
repeat here ends with such a wait, and the median of the repeats counts.

Words
    call     what is timed: one product, one copy, one tiny operation
    repeat   so many calls that the clock can tell, between two waits for the device
    spread   (longest - shortest) / median over the repeats
"""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["LEAST_REPEATS", "Away", "Pauses", "Spans", "Timing", "timed"]

Clock = Callable[[], float]

MOST_REPEATS, LEAST_REPEATS = 9, 3


@dataclass(frozen=True)
class Timing:
    """One kind of call: what it computes or moves, and the seconds of a call in each repeat."""

    what: str
    amount: int  # FLOPs, bytes or operations of one call
    seconds: tuple[float, ...]  # of one call, repeat by repeat
    calls: int  # in each repeat

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)

    @property
    def per_second(self) -> float:
        return self.amount / self.median_seconds

    @property
    def spread(self) -> float:
        return (max(self.seconds) - min(self.seconds)) / self.median_seconds


def timed(
    call: Callable[[], object],
    *,
    what: str,
    amount: int,
    seconds: float,
    wait: Callable[[], object],
    clock: Clock = time.perf_counter,
) -> Timing:
    """Time `call` for about `seconds`; `wait` returns when the device has done all it was given.

    The first call warms up (kernels are loaded, memory is touched) and does not count.
    """
    call()
    wait()
    once = max(min(_repeat(call, 1, wait, clock) for _ in range(2)), 1e-9)
    repeats = min(MOST_REPEATS, max(LEAST_REPEATS, int(seconds / once)))
    calls = max(1, int(seconds / repeats / once))
    found = tuple(_repeat(call, calls, wait, clock) / calls for _ in range(repeats))
    return Timing(what, amount, found, calls)


def _repeat(
    call: Callable[[], object], calls: int, wait: Callable[[], object], clock: Clock
) -> float:
    begin = clock()
    for _ in range(calls):
        call()
    wait()
    return clock() - begin


class Pauses:
    """Seconds for which Python's garbage collector held the process."""

    def __init__(self) -> None:
        self._seconds = self._began = 0.0
        gc.callbacks.append(self._heard)

    def _heard(self, phase: str, _: dict[str, int]) -> None:
        now = time.perf_counter()
        if phase == "start":
            self._began = now
        else:
            self._seconds += now - self._began

    def take(self) -> float:
        """Seconds since this was last asked."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def close(self) -> None:
        gc.callbacks.remove(self._heard)


class Away:
    """Seconds for which the process did not run, beside those that it is known to wait.

    Wall time without process time: others had the cores, or something slept. With several threads
    it is a lower bound, since their process times add up.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._began = self._paused = _idle()
        self._excused = 0.0

    def pause(self) -> None:
        """What the process waits for from here on has a name of its own, until `resume`."""
        self._paused = _idle()

    def resume(self) -> None:
        self._excused += _idle() - self._paused

    def seconds(self) -> float:
        """Since `begin`."""
        return max(0.0, _idle() - self._began - self._excused)


def _idle() -> float:
    return time.perf_counter() - time.process_time()


class Spans:
    """Seconds between `begin` and `end`, on the device's own clock, asked for at the end."""

    def __init__(self, *, cuda: bool) -> None:
        self.cuda = cuda
        self._begun: list[Any] = []
        self._ended: list[Any] = []

    def begin(self) -> None:
        self._begun.append(self._mark())

    def end(self) -> None:
        self._ended.append(self._mark())

    def take(self) -> list[float]:
        """Every span since this was last asked; on a GPU the device must be synchronised."""
        pairs = list(zip(self._begun, self._ended, strict=False))  # a step may have failed
        self._begun, self._ended = [], []
        if self.cuda:
            return [before.elapsed_time(after) / 1000 for before, after in pairs]
        return [after - before for before, after in pairs]

    def _mark(self) -> Any:
        if not self.cuda:
            return time.perf_counter()
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
