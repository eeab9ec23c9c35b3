"""The probe of lesson 03 compares orders and nothing else; its record is what the lesson says."""

import numpy as np
import pytest

from batchlab import padding, records
from batchlab.classroom import probes
from batchlab.classroom.probes import orders_03

probe = probes.load("03_buckets")


@pytest.mark.parametrize("name", probe.ORDERS)
def test_every_order_holds_every_document_once(name):
    numbers = np.concatenate(probe.order(name, seed=1))
    assert sorted(numbers.tolist()) == list(range(len(probe.documents())))


@pytest.mark.parametrize("name", probe.ORDERS)
def test_steps_take_equal_target_tokens_to_one_document(name):
    targets = orders_03._corpus()["targets"]
    steps = orders_03._steps(np.concatenate(probe.order(name, seed=0)), targets)
    assert len(steps) == len(targets) // probe.ROWS
    fair = targets.sum() / len(steps)
    assert all(abs(targets[step].sum() - fair) <= targets.max() for step in steps)


def test_the_record_has_ten_seeds_of_every_order_in_one_order_of_seeds():
    runs = records.read("order_curves")
    for name in probe.ORDERS:
        mine = [run for run in runs if run["order"] == name]
        assert [run["seed"] for run in mine] == list(range(10))
        assert all(len(run["loss"]) == probe.POINTS for run in mine)


def test_the_record_says_what_the_lesson_says():
    runs = records.read("order_curves")
    end = {n: np.array([r["loss"][-1] for r in runs if r["order"] == n]) for n in probe.ORDERS}
    gap = {name: ends - end["shuffled"] for name, ends in end.items()}
    error = {name: each.std(ddof=1) / 10**0.5 for name, each in gap.items()}
    assert (gap["longest first"] > 0).all()
    assert 0.4 < gap["sorted, mixed"].mean() / gap["longest first"].mean() < 0.6
    for close in ("windows, mixed", "sorted in fours, mixed"):
        assert 0 < gap[close].mean() < 2 * error[close]
    assert abs(gap["shortest first"].mean()) < error["shortest first"]


def test_windows_compute_about_half_of_the_slots_of_shuffled():
    slots = {
        name: padding.measure(probe.documents(), probe.order(name, seed=0)).slots
        for name in ("shuffled", "windows, mixed")
    }
    assert 0.4 < slots["windows, mixed"] / slots["shuffled"] < 0.6
