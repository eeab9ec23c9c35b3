"""How often a call is repeated, pauses, spans and one timed step: by hand, on clocks of our own."""

import gc

import pytest
import torch

from batchlab import stopwatch, timing
from batchlab.timing import Pauses, Spans, Timing
from tests.clock import Clock, batch
from tests.test_timing import Machine


def test_rate_and_spread_of_three_repeats_are_of_their_median():
    found = Timing("call", 12, (4.0, 1.0, 2.0), 1)
    assert (found.median_seconds, found.per_second, found.spread) == (2.0, 6.0, 1.5)


@pytest.mark.parametrize(
    ("seconds", "repeats", "calls"),
    [
        (100.0, 9, 5),  # 100 / 9 / 2
        (36.0, 9, 2),
        (35.9, 9, 1),
        (20.0, 9, 1),  # ten calls would fit
        (18.0, 9, 1),
        (17.9, 8, 1),
        (8.0, 4, 1),
        (6.0, 3, 1),
        (1.0, 3, 1),
    ],
)
def test_nine_repeats_are_filled_with_calls_and_three_are_the_least(seconds, repeats, calls):
    machine = Machine(handed=0.0, works=2.0)
    found = machine.time(seconds=seconds)
    assert (len(found.seconds), found.calls) == (repeats, calls)
    assert machine.calls == 1 + 2 + repeats * calls, "a warm-up, two trials, then these"
    assert found.seconds == (2.0,) * repeats


@pytest.mark.parametrize("trial", [1, 2])
def test_a_pause_in_one_of_the_two_trials_is_not_taken_for_the_call(trial):
    paused = Machine(handed=0.0, works=2.0, pauses={trial: 1000.0}).time(seconds=100.0)
    assert (len(paused.seconds), paused.calls) == (9, 5)


def test_a_clock_too_coarse_for_a_call_ends_in_calls_of_a_nanosecond():
    found = timing.timed(
        lambda: None, what="call", amount=1, seconds=1e-6, wait=lambda: None, clock=lambda: 7.0
    )
    assert (len(found.seconds), found.calls) == (9, 111), "1,000 ns / 9"


class Ticking(Clock):
    """A second passes whenever somebody looks."""

    def perf_counter(self):
        self.wall += 1.0
        return self.wall


def test_a_pause_is_from_the_start_of_a_collection_to_its_stop(monkeypatch):
    monkeypatch.setattr(timing, "time", Ticking())
    monkeypatch.setattr(gc, "callbacks", heard := [])
    pauses = Pauses()
    (told,) = heard
    for phase in ("start", "stop", "start", "stop"):
        told(phase, {})
    assert pauses.take() == 2.0 and pauses.take() == 0.0
    told("start", {}), told("stop", {})
    assert pauses.take() == 1.0, "and not those that were taken"
    pauses.close()
    assert heard == []


def test_a_span_whose_step_failed_is_left_out_and_what_was_taken_is_gone(monkeypatch):
    monkeypatch.setattr(timing, "time", clock := Clock())
    spans = Spans(cuda=False)
    for seconds in (0.5, 0.25):
        clock.sleep(3.0)
        spans.begin()
        clock.sleep(seconds)
        spans.end()
    spans.begin()
    assert spans.take() == [0.5, 0.25]
    assert spans.take() == []


class Event:
    """An event as torch has it: milliseconds, and only where it was told to keep the time."""

    clock = Clock()

    def __init__(self, enable_timing=False):
        self.timed, self.at = enable_timing, None

    def record(self):
        self.at = self.clock.wall

    def elapsed_time(self, end):
        assert self.timed and end.timed, "what torch refuses"
        return 1000 * (end.at - self.at)


def test_spans_of_a_gpu_are_seconds_of_its_events(monkeypatch):
    monkeypatch.setattr(torch.cuda, "Event", Event)
    spans = Spans(cuda=True)
    for seconds in (0.5, 0.25):
        spans.begin()
        Event.clock.sleep(seconds)
        spans.end()
    assert spans.take() == [0.5, 0.25] and spans.take() == []


# one step ------------------------------------------------------------------------------------

SETTING = {"rows": 2, "layout": "padded", "checkpointing": False, "precision": "float32"}


@pytest.fixture
def clock(monkeypatch):
    """A step works 1 s, is away for 0.25 s, and its optimizer waits 0.125 s."""
    clock = Clock()
    for module in (stopwatch, timing):
        monkeypatch.setattr(module, "time", clock)

    def train_step(model, optimizer, micro_batches, **options):
        clock.work(1.0)
        clock.sleep(0.25)
        optimizer.step()

    monkeypatch.setattr(stopwatch.loop, "train_step", train_step)
    return clock


def watched(clock, device):
    """A warm-up, then a step with input and two micro-batches, and one of one without input."""

    class SGD(torch.optim.SGD):
        def step(self, closure=None):
            clock.sleep(0.125)

    net = torch.nn.Linear(1, 1)
    watch = stopwatch.Stopwatch(net, SGD(net.parameters(), lr=0.1), device)
    with watch.input():
        clock.sleep(9.0)
    watch.step([batch(2, 9)])
    watch.start()
    with watch.input():
        clock.sleep(0.5)
    watch.step([batch(2, 3), batch(2, 4, [4, 1])])
    watch.step([batch(1, 5)])
    return watch


def test_a_step_is_its_input_and_its_work_and_the_warm_up_is_forgotten(clock):
    watch = watched(clock, "cpu")
    cell = watch.cell(**SETTING)
    watch.close()
    assert cell.step_seconds == (1.875, 1.375) and cell.seconds == 3.25
    assert (cell.steps, cell.micro_batches, cell.documents) == (2, 3, 5)
    assert cell.step_slots == (6 + 8, 5) and cell.step_slot_pairs == (2 * 9 + 2 * 16, 25)
    assert cell.slots == 19 and cell.real_tokens == 16
    assert cell.step_parts == {
        "input": (0.5, 0.0), "host": (0.0, 0.0), "away": (0.25, 0.25), "optimizer": (0.125, 0.125),
    }  # fmt: skip
    assert dict(cell.parts.items()) == {
        "input": 0.5, "host": 0.0, "away": 0.5, "optimizer": 0.25, "communication": 0.0,
        "generation": 0.0, "scoring": 0.0, "waiting": 0.0,
    }  # fmt: skip
    assert cell.parts.communication_seconds is None, "nobody timed it"
    assert cell.peak_bytes is None and cell.allocator_retries is None


def test_after_close_a_stopwatch_hears_nothing(clock):
    heard = len(gc.callbacks)
    watch = watched(clock, "cpu")
    assert len(gc.callbacks) == heard + 1
    watch.close()
    assert len(gc.callbacks) == heard
    watch.optimizer.step()
    assert watch.cell(**SETTING).step_parts["optimizer"] == (0.125, 0.125)


@pytest.mark.parametrize(
    ("stats", "retries"),
    [([{"num_alloc_retries": n} for n in (1, 3, 7)], 4), ([{}, {}, {}], 0)],
)
def test_on_a_gpu_peak_and_retries_are_those_since_the_start(clock, monkeypatch, stats, retries):
    told = iter(stats)  # made, started, asked
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(Event, "clock", clock)
    resets = []
    for name, answer in {
        "synchronize": lambda: None,
        "reset_peak_memory_stats": lambda: resets.append(clock.wall),
        "memory_stats": lambda: next(told),
        "max_memory_allocated": lambda: 2**30,
    }.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    watch = watched(clock, "cuda")
    cell = watch.cell(**SETTING)
    watch.close()
    assert resets == [0.0, 9.0 + 1.375], "when it was made, and after the warm-up"
    assert (cell.peak_bytes, cell.allocator_retries) == (2**30, retries)
    assert set(cell.step_parts) == {"input", "optimizer"}, "the host may hide behind the queue"
    assert cell.parts.optimizer_seconds == 0.25
    assert cell.parts.host_seconds is None and cell.parts.away_seconds is None


def test_the_clock_of_a_gpu_is_read_once_it_has_done_all(clock, monkeypatch):
    """The mistake beside the law: the work that is left in the queue would be free."""
    left = {"seconds": 0.0}

    def synchronize():
        clock.sleep(left["seconds"])
        left["seconds"] = 0.0

    def train_step(*_, **__):
        left["seconds"] = 8.0

    monkeypatch.setattr(stopwatch.loop, "train_step", train_step)
    for name in ("reset_peak_memory_stats", "memory_stats"):
        monkeypatch.setattr(torch.cuda, name, dict)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    net = torch.nn.Linear(1, 1)
    watch = stopwatch.Stopwatch(net, torch.optim.SGD(net.parameters(), lr=0.1), "cuda")
    watch.step([batch(1, 2)])
    watch.close()
    assert watch.step_seconds == [8.0]
