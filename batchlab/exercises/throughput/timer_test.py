"""Catch the bug: one test for seven timers that no reviewer would believe."""

from batchlab.exercises import Exercise
from batchlab.exercises.throughput.scenes import (
    planted,  # for the versions below: an answer imports its own
)


def timer(call, wait, clock, calls):
    """Seconds of one call."""
    call()
    wait()
    begin = clock()
    for _ in range(calls):
        call()
    wait()
    return (clock() - begin) / calls


of = Exercise(timer)
BEGIN, END = "    call()\n    wait()\n    begin", "    wait()\n    return (clock() - begin) / calls"
for _thought, _change in {
    "reads the clock without waiting for the queue": (END, END.replace("    wait()\n", "")),
    "waits, but after it has read the clock": (
        END,
        "    end = clock()\n    wait()\n    return (end - begin) / calls",
    ),
    "counts the first call": (BEGIN, "    wait()\n    begin"),
    "begins while the first call is still in the queue": (BEGIN, "    call()\n    begin"),
    "waits after every call": ("        call()\n", "        call()\n        wait()\n"),
    "gives the seconds of all calls": (" / calls", ""),
    "divides by the calls and the first one": (" / calls", " / (calls + 1)"),
}.items():
    of.edit(_thought, [_change])


@of.style
def two_calls(call, wait, clock, calls):
    """warms up with two calls"""
    call(), call(), wait()
    begin = clock()
    [call() for _ in range(calls)]
    wait()
    seconds = clock() - begin
    return seconds / calls


def timer_test(timer):
    """Fail (assert) for every wrong timer(call, wait, clock, calls) -> seconds of one call."""
    from batchlab.exercises.throughput.scenes import planted

    call, wait, clock = planted(seconds=0.5, launch=0.25, first=7.0)
    assert abs(timer(call, wait, clock, 5) - (0.25 + 5 * 0.5) / 5) < 1e-6


exercise = Exercise(
    timer_test,
    points=2,
    hints=(
        "plant a device with a slow first call, and compare with the formula",
        "a launch that is long enough to notice shows who waits after every call",
        "several calls, and a tolerance that forgives rounding only",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    asserts=True,
    passed="Right: seven timers that no reviewer would believe are found, two right ones pass.",
)
DEVICE, CLAIM = (
    "seconds=0.5, launch=0.25, first=7.0",
    "abs(timer(call, wait, clock, 5) - (0.25 + 5 * 0.5) / 5) < 1e-6",
)
for _thought, _says, *_changes in [
    ("nothing is asserted", "never failed", ("assert abs(", "abs(")),
    ("no slow first call", "got through", (", first=7.0", "")),
    (
        "no launch",
        "waits after every call",
        (" launch=0.25,", ""),
        ("(0.25 + 5 * 0.5) / 5", "0.5"),
    ),
    ("one call", "got through", (CLAIM, "abs(timer(call, wait, clock, 1) - 0.75) < 1e-6")),
    ("the launch is forgotten", "was stopped", ("(0.25 + 5 * 0.5) / 5", "0.5")),
    ("an upper bound alone", "got through", (CLAIM, "timer(call, wait, clock, 5) < 0.6")),
    ("a lower bound alone", "got through", (CLAIM, "timer(call, wait, clock, 5) > 0.5")),
    ("a tolerance of a half", "got through", ("1e-6", "0.5")),
    (
        "compares floats exactly",
        "was stopped",
        (DEVICE, "seconds=0.1, launch=0.03, first=7.0"),
        (CLAIM, "timer(call, wait, clock, 3) == (0.03 + 3 * 0.1) / 3"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="only an assert is a test")
def truth_value(timer):
    """only an assert is a test: pytest does not look at what is returned"""
    call, wait, clock = planted(0.4, 0.1, 3.0)
    return abs(timer(call, wait, clock, 8) - (0.1 + 8 * 0.4) / 8) < 0.01


@exercise.style
def own_device(timer):
    """a device of its own"""
    log, at = [], [0.0, 0.0]

    def call():
        at[0] += 0.25
        at[1] = max(at) + (0.5 if log else 7.5)
        log.append(1)

    def wait():
        at[0] = max(at)

    assert abs(timer(call, wait, lambda: at[0], 4) - (0.25 + 4 * 0.5) / 4) < 1e-6
