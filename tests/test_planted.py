"""A learner's test must tell every planted bug from the right ones, by what they do alone."""

import pytest

from batchlab.classroom import check
from batchlab.classroom.planted import fresh
from tests.refusals import refusal


def right(rows):
    return max(rows) * len(rows)


BUGS = {"counts tokens": sum, "trusts the first row": lambda rows: rows[0] * len(rows)}


def good(slots):
    assert slots([5, 3]) == 10
    assert slots([3, 5]) == 10


def shallow(slots):
    assert slots([5, 3]) == 10


def strict(slots):
    assert slots([5, 3]) == 11, "eleven"


def blank(slots):
    raise NotImplementedError


def test_a_learners_test_must_stop_every_bug_and_no_right_answer():
    check.finds_bugs(good, right=[right], wrong=BUGS)
    check.finds_bugs(lambda slots: slots([3, 5]) == 10, right=[right], wrong=BUGS)
    through = refusal(check.finds_bugs, shallow, right=[right], wrong=BUGS)
    assert "1 of 2 bugs found; this one got through: trusts the first row" in through
    stopped = refusal(check.finds_bugs, strict, right=[right, right], wrong=BUGS)
    assert "right implementation 1 was stopped: AssertionError: eleven" in stopped
    assert "or a number in it is wrong" in stopped
    assert stopped.splitlines()[1].endswith('assert slots([5, 3]) == 11, "eleven"')
    assert "blank" in refusal(check.finds_bugs, blank, right=[right], wrong=BUGS)
    assert "a function is needed" in refusal(check.finds_bugs, 3, right=[right], wrong=BUGS)


def test_false_is_a_complaint_and_none_or_zero_is_none():
    import numpy as np
    import torch

    for no in (False, np.False_, np.array(False), torch.tensor(False)):
        said = refusal(check.finds_bugs, lambda f, no=no: no, right=[right], wrong=BUGS)
        assert "right implementation 1 was stopped: it returned False" in said
    for yes in (None, 0, True, "False", np.array([False, False])):
        said = refusal(check.finds_bugs, lambda f, yes=yes: yes, right=[right], wrong=BUGS)
        assert "the test never failed: 0 of 2 bugs found" in said
        assert "an assert that fails, another exception, or False returned: nothing else" in said


def test_a_learners_test_may_ask_for_a_refusal_with_pytest():
    def refuses_empty(slots):
        with pytest.raises(ValueError):
            slots([])

    empty = {"takes nothing for zero": lambda rows: max(rows) * len(rows) if rows else 0}
    check.finds_bugs(refuses_empty, right=[right], wrong=empty)


# Tests that look at anything but what the version does


seen = 0
kept: list[object] = []


def counts_with_a_global(slots):
    global seen
    seen += 1
    assert seen <= 1


def counts_in_a_list(slots):
    kept.append(slots)
    assert len(kept) <= 1


def counts_with_an_attribute(slots):
    counts_with_an_attribute.calls = getattr(counts_with_an_attribute, "calls", 0) + 1
    assert counts_with_an_attribute.calls <= 1


def counts_with_a_default(slots, calls=[]):  # noqa: B006
    calls.append(slots)
    assert len(calls) <= 1


def counts_with_a_named_default(slots, *, calls=[]):  # noqa: B006
    calls.append(slots)
    assert len(calls) <= 1


def count():
    kept.append(1)
    return len(kept)


def counts_in_a_helper(slots):
    assert count() <= 1


def counts_in_a_closure():
    calls = []

    def test(slots):
        calls.append(slots)
        assert len(calls) <= 1

    return test


@pytest.mark.parametrize(
    "test",
    [
        counts_with_a_global,
        counts_in_a_list,
        counts_with_an_attribute,
        counts_with_a_default,
        counts_with_a_named_default,
        counts_in_a_helper,
        counts_in_a_closure(),
    ],
    ids=lambda test: test.__name__,
)
def test_a_test_that_counts_its_calls_is_refused(test):
    """Versions once came in a fixed order, right ones first, and one state served for all."""
    assert "0 of 2 bugs found" in refusal(check.finds_bugs, test, right=[right], wrong=BUGS)
    assert seen == 0 and kept == [], "the notebook's own state is as it was"


def test_a_version_is_known_by_what_it_does_and_not_by_its_name():
    def reads_names(slots):
        assert getattr(slots, "__name__", "right") == "right"

    assert "right implementation 1 was stopped" in refusal(
        check.finds_bugs, reads_names, right=[right], wrong={"sum": lambda rows: sum(rows)}
    )


def test_the_order_of_the_versions_changes_from_try_to_try():
    """For a state that no copy reaches: the third call is not always a bug."""
    orders = set()

    class Recorder:
        def __init__(self):
            self.order = []

        def __call__(self, slots):
            self.order.append(slots)
            return slots([3, 5]) == 10

    for _ in range(12):
        recorder = Recorder()
        check.finds_bugs(recorder, right=[right], wrong=BUGS)
        orders.add(tuple(recorder.order))
    assert len(orders) > 2


def recursive(slots, depth=3):
    return recursive(slots, depth - 1) if depth else slots([3, 5]) == 10


def test_a_fresh_test_still_finds_itself_its_helpers_and_its_names():
    assert fresh(recursive)(right) is True
    assert fresh(counts_in_a_helper)(right) is None
    assert fresh(max) is max


def test_what_a_test_writes_to_stderr_costs_no_points(capfd):
    import sys
    import warnings

    def loud(slots):
        print("!", file=sys.stderr)
        warnings.warn("mind", stacklevel=1)
        return slots([3, 5]) == 10

    check.finds_bugs(loud, right=[right], wrong=BUGS)
    assert capfd.readouterr().err == ""
