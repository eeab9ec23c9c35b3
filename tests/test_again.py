"""A function that remembers is refused, and what must differ or cannot be repeated is left alone.

The rest of `check.call` is tried in test_behaviour; what happens when a copy of the process ends
stands at the end.
"""

import random

import numpy as np
import pytest
import torch

from batchlab.authoring import forks
from batchlab.classroom import again, check
from tests.refusals import lines, refusal


def appends(row, seen=[]):  # noqa: B006  (the mistake)
    seen.append(row)
    return list(seen)


def fails_later(row, seen=[]):  # noqa: B006  (the mistake)
    seen.append(row)
    return row[len(seen)]


def test_a_function_that_remembers_its_earlier_call_is_refused():
    said = lines(appends, [1], asked="rows of [1]")
    assert said["got"].startswith("at a second call with the same input: the result changed from")
    assert said["likely"].startswith("the function remembers earlier calls")
    assert "IndexError" in lines(fails_later, [1, 2], asked="x")["got"]


def buffers(make):
    """A function that hands out one buffer, filled anew at every call."""
    kept = make()

    def fill(value):
        kept[0] = value
        return kept

    return fill


@pytest.mark.parametrize(
    "make", [lambda: [0], lambda: {}, lambda: np.zeros(1), lambda: torch.zeros(1)]
)
def test_a_result_that_a_later_call_writes_over_is_refused(make):
    fill = buffers(make)
    check.call(fill, 3, asked="filled with 3")
    said = lines(fill, 4, asked="filled with 4")
    assert "the result of the call before changed at this call" in said["got"]
    assert "make a new one each time" in said["likely"]
    check.call(lambda value: [value], 3, asked="x")
    check.call(fill, 5, asked="another function stood between")


def test_what_may_differ_is_spared_on_request():
    draw = random.Random(0)
    assert "remembers" in refusal(check.call, lambda rows: draw.random(), [1], asked="a draw")
    check.call(lambda rows: draw.random(), [1], asked="a draw", twice=False)


def test_a_generator_handed_over_gives_the_same_draws_to_both_calls():
    for one in (np.random.default_rng(0), random.Random(0), np.random.RandomState(0)):
        check.call(lambda rng: rng.random(), one, asked="a draw")
    nothing = float("nan")
    check.call(lambda x: [x, nothing, np.array([nothing])], 1.0, asked="NaN is NaN again")


def counted(calls):
    def count(*given):
        calls.append(given)
        return len(calls)

    return count


class Meter:
    def __init__(self, start=0):
        self.now = start

    def next(self, by):
        self.now += by
        return self.now


@pytest.mark.parametrize(
    "given",
    [(), (iter([1]),), ([iter([1])],), (len,), ({"a": len},), (torch.nn.Linear(1, 1),)],
)
def test_what_cannot_be_handed_over_twice_is_asked_once(given):
    calls = []
    assert check.call(counted(calls), *given, asked="x") == 1


def test_classes_and_methods_may_have_a_state():
    meter = Meter()
    assert check.call(meter.next, 2, asked="x") == 2
    assert check.call(Meter, 3, asked="x").now == 3


def test_what_a_function_prints_is_printed_once(capsys):
    check.call(lambda x: print("seen", x) or x, 3, asked="x")
    assert capsys.readouterr().out == "seen 3\n"


# An answer that ends its process


def test_the_end_of_a_copied_process_is_told_in_words():
    ends = {
        "os.kill(os.getpid(), signal.SIGKILL)": "ended by SIGKILL: it may have asked for too much",
        "os._exit(3)": "left its process with code 3",
        "time.sleep(9)": "ran for more than 1 s",
    }
    import os
    import signal
    import time

    for work, said in ends.items():
        names = {"os": os, "signal": signal, "time": time}
        with pytest.raises(forks.Ended, match=said):
            forks.copied(lambda work=work, names=names: eval(work, names), limit=1)


def test_last_bits_that_differ_are_no_memory():
    """Least squares of torch give other last bits where memory lies otherwise."""
    bits = iter((1.0, 1.0 + 2e-16))
    asked = "half of 2"
    assert check.call(lambda x: [0 * x + next(bits)], 2, asked=asked) == [1.0]


def test_a_second_result_that_is_off_by_more_than_rounding_is_refused():
    parts = iter((1.0, 1.00001))
    with pytest.raises(check.CheckFailed, match="second call"):
        check.call(lambda x: [0 * x + next(parts)], 2, asked="half of 2")


def test_results_of_other_shapes_kinds_or_keys_are_not_alike():
    tensor = torch.tensor([1.0, 2.0])
    assert again.alike(tensor, tensor * (1 + 1e-7)) and not again.alike(tensor, tensor[:1])
    assert not again.alike([1.0], (1.0,)) and not again.alike({"a": 1.0}, {"b": 1.0})
    assert again.alike(float("nan"), float("nan")) and not again.alike([1.0], [float("nan")])
