"""A device that is not there: its times are planted, so what a benchmark says of it can be judged.

    seconds of each setting, faults of the device  ->  calls, a wait, a clock; what was called

Nothing here reads a real clock. Host and device each have a time of their own: a call takes the
host `launch` seconds and hands the work to a queue, the device works it off, `wait` brings the
host to its end.

Words
    first   extra seconds of the first call of a setting: kernels load, graphs are compiled
    heat    how much longer a call takes for every call before it, as a share of its seconds
    grain   the clock moves in steps of so many seconds; 0: it does not
    run     calls of one setting between two readings of the clock
"""

import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = [
    "Device",
    "benched",
    "device",
    "fault_of_order",
    "fault_of_stretches",
    "needed",
    "ratios",
]

Call = Callable[[], None]
MOST_CALLS = 20_000  # what doubles while the clock stands still would never end


class Device:
    """Settings with known seconds on a device with planted faults."""

    def __init__(
        self,
        seconds: Mapping[str, float],
        *,
        launch: float = 0.0,
        first: float = 0.0,
        heat: float = 0.0,
        grain: float = 0.0,
    ) -> None:
        self.seconds = dict(seconds)
        self.launch, self.first, self.heat, self.grain = launch, first, heat, grain
        self.host = self.done = 5.0  # no clock begins at 0
        self.called: list[str] = []
        self.log: list[str] = []  # names of called settings, "" for the clock, " " for a wait
        self.reads = self.waits = 0

    def setting(self, name: str) -> Call:
        """The function that hands one call of a setting to the queue."""

        def call() -> None:
            if len(self.called) >= MOST_CALLS:
                raise RuntimeError(self._never_ends())
            own = self.seconds[name] * (1 + self.heat * len(self.called))
            if name not in self.called:
                own += self.first
            self.called.append(name)
            self.log.append(name)
            self.host += self.launch
            self.done = max(self.done, self.host) + own

        return call

    def _never_ends(self) -> str:
        if not self.reads:
            return "clock() is never read: time.time() and the like know nothing of this device"
        return (
            f"{MOST_CALLS:,} calls, and the stretch seems too short still: wait for the "
            "device before the clock is read, and double no further than needed"
        )

    def wait(self) -> None:
        """Come back when the queue is empty."""
        self.waits += 1
        self.log.append(" ")
        self.host = max(self.host, self.done)

    def clock(self) -> float:
        """Seconds of the host, in steps of the grain."""
        self.reads += 1
        self.log.append("")
        return self.host // self.grain * self.grain if self.grain else self.host


def device(
    seconds: float = 0.1, launch: float = 0.0, first: float = 0.0
) -> tuple[Call, Call, Callable[[], float]]:
    """(call, wait, clock) of a device with one setting; the first call takes `first` longer.

    >>> call, wait, clock = device(seconds=0.5, launch=0.25)
    >>> begin = clock()
    >>> call()
    >>> clock() - begin
    0.25
    >>> wait()
    >>> clock() - begin
    0.75
    """
    made = Device({"one": seconds}, launch=launch, first=first)
    return made.setting("one"), made.wait, made.clock


def benched(
    benchmark: Callable[..., Any], seconds: Mapping[str, float], rounds: int, least: float,
    **faults: float,
) -> dict[str, Any]:  # fmt: skip
    """What a benchmark says of a planted device, and in which order it called the settings."""
    made = Device(seconds, **faults)
    settings = {name: made.setting(name) for name in seconds}
    found = benchmark(settings, made.wait, made.clock, rounds, least)
    return {"found": found, "called": made.called, "log": made.log, "reads": made.reads,
            "left": list(settings)}  # fmt: skip


def ratios(seconds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The median, over the rounds, of each setting's ratio to the first one."""
    base = next(iter(seconds.values()))
    return {
        name: statistics.median(a / b for a, b in zip(own, base, strict=True))
        for name, own in seconds.items()
    }


def needed(seconds: Mapping[str, float], least: float, launch: float = 0.0) -> dict[str, int]:
    """The first power of two of calls that lasts `least` seconds, for each setting.

    >>> needed({"A": 0.25, "B": 0.1}, 1.0)
    {'A': 4, 'B': 16}
    """
    found = {}
    for name, own in seconds.items():
        found[name] = 1
        while launch + found[name] * own < least:
            found[name] *= 2
    return found


def runs(log: Sequence[str]) -> list[tuple[str, int]]:
    """(setting, calls) between two readings of the clock, in order."""
    found, part = [], 0
    named = []
    for event in log:
        part += event == ""
        if event.strip():
            named.append((part, event))
    for (_, name), calls in itertools.groupby(named):
        found.append((name, len(list(calls))))
    return found


def fault_of_stretches(log: Sequence[str], numbers: Mapping[str, int], rounds: int) -> str:
    """What is wrong with the stretches of the rounds; empty if each has the calls it should.

    >>> fault_of_stretches(["A", " ", *["", "A", "A", " ", ""] * 4], {"A": 2}, 4)
    ''
    >>> fault_of_stretches(["A", " ", *["", "A", " ", ""] * 4], {"A": 2}, 4)
    'A: 1 in place of 2 calls last less than `least`: one trial alone must last so long'
    """
    tail = runs(log)[-rounds * len(numbers) :]
    found = {name: {calls for one, calls in tail if one == name} for name in numbers}
    if all(found[name] == {numbers[name]} for name in numbers):
        return ""
    if all(1 in own and len(own) == 2 for own in found.values()):
        return "a single call before each stretch: the warm-up is over when the rounds begin"
    if any(len(own) != 1 for own in found.values()):
        return (
            "the last stretches differ in their calls: the number is found once, before the "
            "rounds, and a trial is no round"
        )
    calls = {name: own.pop() for name, own in found.items()}
    name = next(name for name in numbers if calls[name] != numbers[name])
    told = f"{name}: {calls[name]} in place of {numbers[name]} calls"
    if calls[name] & (calls[name] - 1):
        return f"{told} are no power of two: begin with 1 and double"
    if len(set(calls.values())) == 1 and any(calls[one] == numbers[one] for one in numbers):
        return f"{told}: each setting has a number of its own"
    if calls[name] > numbers[name]:
        return f"{told}: begin with 1, and stop as soon as `least` is reached"
    return told + _too_early(log, name)


def _too_early(log: Sequence[str], name: str) -> str:
    """Why the number of a setting is too small: the first call of it tells."""
    at = list(log).index(name)
    if at and log[at - 1] == "":
        return ": a first call was timed: warm up each setting, then find its number"
    after = [event for event in log[at + 1 :] if not event.strip()]
    if len(after) > 1 and after[0] == "" and " " in after:
        return ": a first call was in the queue when the trial began: wait, then read the clock"
    return " last less than `least`: one trial alone must last so long"


def fault_of_order(called: Sequence[str], names: Sequence[str], rounds: int) -> str:
    """What is wrong with the order of the last rounds, one call a stretch; empty if nothing is.

    >>> fault_of_order("ABBAABBA", "AB", 4)
    ''
    >>> fault_of_order("ABABABAB", "AB", 4)
    'every round has the same order: what comes later is always on the warmer device'
    """
    tail = list(called)[-rounds * len(names) :]
    taken = [tail[at : at + len(names)] for at in range(0, len(tail), len(names))]
    if len(taken) < rounds:
        return "fewer calls than one for each setting in each round"
    if any(sorted(one) != sorted(names) for one in taken):
        blocks = [name for name, _ in itertools.groupby(tail)]
        if len(blocks) == len(names):
            return "all rounds of one setting in a row: the last setting meets the hottest device"
        return "some round does not run every setting once"
    if all(one == taken[0] for one in taken):
        return "every round has the same order: what comes later is always on the warmer device"
    if taken[0] not in (list(names), list(names)[::-1]):
        return "the first round has an order of its own: asked is that of settings, or its reverse"
    if any(a != b[::-1] for a, b in itertools.pairwise(taken)):
        return "asked is one order and its reverse, in turn: then the drift cancels"
    return ""
