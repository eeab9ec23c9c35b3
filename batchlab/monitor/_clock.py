"""One clock for all parts of a step: each moment belongs to the innermost part that is open.

    enter, leave, rename, move  ->  seconds by name, of which the process did not run

Lightning runs forward and backward inside `optimizer.step`; the collector may run inside anything:
what is inside is subtracted from what is around it. What no part holds belongs to `base`.

On a GPU the work of forward, backward and optimizer is timed by events on its own clock: `device`.

Words
    turn   a moment where the innermost part changes
    idle   wall time without process time: the process waited, slept, or others had its cores
"""

import time
from typing import Any

__all__ = ["Clock"]


class Clock:
    """Seconds by name since `restart`."""

    def __init__(self, *, cuda: bool) -> None:
        self._cuda = cuda
        self._busy = False
        self.restart("host")

    def restart(self, base: str) -> None:
        """Forget all and begin anew; whatever was open is closed."""
        self._base = base
        self._open: list[str] = []
        self.wall: dict[str, float] = {}
        self._cpu: dict[str, float] = {}
        self._events: list[tuple[str, Any]] = []  # what ran until there
        self._event = self._mark()
        self._at, self._ran = time.perf_counter(), time.process_time()

    @property
    def base(self) -> str:
        """Whose the moments are that no part holds."""
        return self._base

    @base.setter
    def base(self, name: str) -> None:
        if name != self._base:
            self._turn()
            self._base = name

    def inside(self, name: str) -> bool:
        return name in self._open

    @property
    def turning(self) -> bool:
        """Whether a turn is under way: the collector may interrupt one."""
        return self._busy

    def enter(self, name: str) -> None:
        """From here on the moments are those of `name`, until `leave` or something inside it."""
        self._turn()
        self._open.append(name)

    def leave(self, name: str) -> None:
        """End `name`, and what inside it was never ended; nothing where it is not open."""
        if name in self._open:
            self._turn()
            while self._open.pop() != name:
                pass

    def rename(self, before: str, after: str) -> None:
        """Give all that one name has to another."""
        self._turn()
        for held in (self.wall, self._cpu):
            if before in held:
                held[after] = held.get(after, 0.0) + held.pop(before)
        self._events = [(after if name == before else name, one) for name, one in self._events]

    def turn(self) -> None:
        """Bring the seconds up to date."""
        self._turn()

    def idle(self, name: str) -> float:
        """Seconds of a name for which the process did not run; with several threads, at least."""
        return max(0.0, self.wall.get(name, 0.0) - self._cpu.get(name, 0.0))

    def device(self) -> dict[str, float]:
        """Seconds by name on the GPU's own clock, which must be synchronised."""
        found: dict[str, float] = {}
        before = self._event
        for name, event in self._events:
            found[name] = found.get(name, 0.0) + before.elapsed_time(event) / 1000
            before = event
        return found

    def _turn(self) -> None:
        self._busy = True
        wall, ran = time.perf_counter(), time.process_time()
        name = self._open[-1] if self._open else self._base
        self.wall[name] = self.wall.get(name, 0.0) + wall - self._at
        self._cpu[name] = self._cpu.get(name, 0.0) + ran - self._ran
        self._at, self._ran = wall, ran
        if self._cuda:
            self._events.append((name, self._mark()))
        self._busy = False

    def _mark(self) -> Any:
        if not self._cuda:
            return None
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
