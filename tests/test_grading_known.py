"""What is noted for a run is what would have been computed, and nothing that could differ."""

import json
import random
import sys

import numpy as np
import pytest
import torch

from batchlab.grading import Engine
from batchlab.grading import _known as known
from batchlab.grading._engine import WARM_AFTER
from batchlab.grading._known import Known
from tests.torture_lesson import right_but, sent, written

calls: list[object] = []


@pytest.fixture(autouse=True)
def everything_is_worth_it(monkeypatch):
    monkeypatch.setattr(known, "WORTH_SECONDS", -1.0)
    calls.clear()


def helper(*case, times=2):
    calls.append(case)
    return [(np.asarray(case[0]) * times, "doubled"), {1.5: None, float("inf"): (True, "x")}]


def draws(*case):
    return random.random()


def draws_again(*case):
    random.random()
    return 1


def counts(*case):
    calls.append(case)
    return len(calls)


def changes(some):
    some.append(1)
    return 2


def far(*case):
    return lambda: 1


def raises(*case):
    raise ValueError("no")


def learned(one, *arguments, **options):
    book = Known(learns=True)
    book.called(one, arguments, options)
    return book.found


def test_a_result_is_looked_up_and_is_fresh_each_time():
    found = learned(helper, [1, 2], times=3)
    calls.clear()
    book = Known(json.loads(json.dumps(found)))
    first = book.called(helper, ([1, 2],), {"times": 3})
    first[0][0][:] = 0
    second = book.called(helper, ([1, 2],), {"times": 3})
    assert calls == [] and second[0][0].tolist() == [3, 6]
    right = helper([1, 2], times=3)
    assert second[0][0].dtype == right[0][0].dtype and second[1:] == right[1:]
    assert type(second[0]) is tuple


@pytest.mark.parametrize("case", [([1, 2.0],), ([1, True],), ([1, 3],), ((1, 2),)])
def test_another_argument_is_another_call(case):
    book = Known(learned(helper, [1, 2]))
    calls.clear()
    book.called(helper, case, {})
    assert calls == [case]


@pytest.mark.parametrize("one", [draws, draws_again, counts, far])
def test_what_could_differ_is_not_noted(one):
    assert learned(one, 1) == {}


def test_what_changes_its_argument_or_raises_is_not_noted():
    assert learned(changes, []) == {}
    book = Known(learns=True)
    with pytest.raises(ValueError, match="no"):
        book.called(raises, (1,), {})
    assert book.found == {}


def test_arguments_that_are_no_plain_data_are_not_looked_up():
    assert learned(far, np.random.default_rng(0).integers) == {}
    assert learned(len, [1]) != {} == learned(len, {1: len})
    assert learned(lambda some: 1, lambda: 2) == {}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (torch.ones(2, 3), True),
        (torch.ones(2, 3).T, False),
        (torch.ones(2, requires_grad=True), False),
        (np.ones((2, 3)), True),
        (np.ones((2, 3)).T, False),
        (np.float32(1), True),
        ({"a": [1, (2, None)]}, True),
        ({1, 2}, False),
        (type("L", (list,), {})(), False),
    ],
)
def test_plain_is_what_a_copy_equals_in_type_and_layout(value, plain):
    assert known._is_plain(value) is plain


@pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
def test_a_warm_engine_says_what_a_cold_one_said(tmp_path):
    some = [
        sent(),
        sent({}),
        right_but(total="def total(lengths):\n    return lengths[9]"),
        right_but(total_test="def total_test(total):\n    pass"),
    ]
    raw = [json.dumps(one).encode() for one in some]
    assert len(raw) > WARM_AFTER
    said = []
    with Engine(written(tmp_path), seed="of this term") as engine:
        for _ in range(2):
            said.append(
                [[(q.verdict, q.points, q.message, q.detail) for q in engine.grade(r)] for r in raw]
            )
        assert engine._graded == 2 * len(raw)
    assert said[0] == said[1]
