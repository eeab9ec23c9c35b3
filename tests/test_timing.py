"""A call takes what the device takes: each law beside the mistake that flatters."""

import pytest

from batchlab import timing
from tests.clock import Clock


class Machine:
    """A planted device: it takes a call in `handed` seconds and works on it for `works`."""

    def __init__(self, handed=1.0, works=50.0, first=0.0, pauses=()):
        self.now = self.free_at = 0.0
        self.handed, self.works, self.extra = handed, works, first
        self.pauses = dict(pauses)  # number of the call: seconds that something else takes
        self.calls = 0

    def call(self):
        self.now += self.handed
        work = self.works + self.extra + self.pauses.get(self.calls, 0.0)
        self.free_at = max(self.now, self.free_at) + work
        self.extra = 0.0
        self.calls += 1

    def wait(self):
        self.now = max(self.now, self.free_at)

    def time(self, *, wait=None, seconds=100_000.0):
        return timing.timed(
            self.call, what="call", amount=100, seconds=seconds, wait=wait or self.wait,
            clock=lambda: self.now,
        )  # fmt: skip


def test_a_rate_is_the_work_of_a_call_over_its_seconds():
    found = Machine().time()
    assert found.median_seconds == pytest.approx(50, rel=1e-3)  # calls overlap: 1 s in all
    assert found.per_second == pytest.approx(2.0, rel=1e-3)


def test_without_waiting_for_the_device_only_the_hand_over_is_seen():
    """The mistake beside the law: a product that would be fifty times too fast."""
    found = Machine().time(wait=lambda: None)
    assert found.median_seconds == pytest.approx(1.0)


def test_the_first_call_warms_up_and_does_not_count():
    found = Machine(first=1e6).time()
    assert max(found.seconds) == pytest.approx(50, rel=1e-3)


def test_one_pause_moves_the_spread_and_not_the_rate():
    calm = Machine().time()
    pauses = {4 + calm.calls: 30_000.0}  # a warm-up and two trials, then the repeats
    found = Machine(pauses=pauses).time()
    assert found.median_seconds == calm.median_seconds
    assert calm.spread == 0 and found.spread > 2
    mean = sum(found.seconds) / len(found.seconds)
    assert mean > 1.2 * found.median_seconds, "the mistake: a mean counts the pause"


def test_a_slow_call_is_still_repeated():
    found = Machine(works=1e6).time(seconds=1.0)
    assert len(found.seconds) == timing.LEAST_REPEATS and found.calls == 1


def test_away_is_wall_time_without_process_time_and_without_what_was_excused(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    away = timing.Away()
    clock.sleep(5.0)
    away.begin()
    clock.work(1.0)
    clock.sleep(0.25)
    away.pause()
    clock.sleep(2.0)
    away.resume()
    clock.sleep(0.5)
    assert away.seconds() == pytest.approx(0.75), "the mistakes: 2.75, or 7.75"
    clock.process += 9.0  # several threads: their times add up
    assert away.seconds() == 0.0
