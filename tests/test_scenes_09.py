"""Lesson 09: the planted device, the record of the page, what tools count."""

import inspect
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from batchlab import model, records, roofline
from batchlab.doctor import throughput
from batchlab.exercises.throughput import scenes
from batchlab.exercises.throughput.benched import needed
from batchlab.exercises.throughput.enough_rows import enough_rows
from batchlab.exercises.throughput.scenes import Device


def test_the_knee_of_padded_steps_and_that_of_the_readme_are_both_told():
    """One record, two fits: padded steps alone, and all three layouts."""
    cells = list(records.read("cpu_sweep").cells())
    padded = throughput.summarize(one for one in cells if one.layout == "padded").knee_rows
    every = throughput.summarize(cells).knee_rows
    assert (round(padded, 1), round(every, 1)) == (8.0, 5.2)
    root = Path(__file__).parent.parent
    page = (root / "solutions/09_throughput/throughput.md").read_text()
    front = (root / "README.md").read_text()
    assert "a knee of 8.0 rows" in page and "says 5.2 rows (README)" in page
    assert "The knee lies at 5.2 rows." in front and "padded steps alone say 8.0" in front


def test_a_call_returns_at_launch_and_a_wait_at_its_end():
    made = Device({"A": 3.0}, launch=0.5)
    call, begin = made.setting("A"), made.clock()
    call()
    call()
    assert made.clock() - begin == 1.0
    made.wait()
    assert made.clock() - begin == 6.5, "launches hide behind the work of the first"


def test_a_first_call_is_slow_for_each_setting_and_later_ones_are_not():
    made = Device({"A": 1.0, "B": 2.0}, first=9.0)
    seconds = []
    for name in "ABAB":
        begin = made.clock()
        made.setting(name)()
        made.wait()
        seconds.append(made.clock() - begin)
    assert seconds == [10.0, 11.0, 1.0, 2.0]


def test_a_hot_device_is_slower_with_each_call_and_a_jitter_goes_in_turns():
    made = Device({"A": 1.0}, heat=0.5)
    call = made.setting("A")
    call()
    call()
    made.wait()
    assert made.host == 5.0 + 1.0 + 1.5
    made = Device({"A": 1.0}, jitter=(1.0, 3.0))
    found = scenes.in_turns({"A": made.setting("A")}, made.wait, made.clock, 4)
    assert found == {"A": [1.0, 3.0, 1.0, 3.0]}


def test_a_stretch_has_the_first_power_of_two_of_calls_that_is_enough():
    assert needed({"A": 0.04, "B": 0.1, "C": 0.06}, 0.25, 0.0) == {"A": 8, "B": 4, "C": 8}
    assert needed({"A": 0.25}, 1.0, 0.0) == {"A": 4}, "exactly least is enough"


@pytest.mark.parametrize(("reads", "words"), [(False, "never read"), (True, "wait for the device")])
def test_a_stretch_that_never_grows_ends_with_words(reads, words):
    made = Device({"A": 0.1})
    call = made.setting("A")
    with pytest.raises(RuntimeError, match=words):
        while True:
            call()
            if reads:
                made.clock()


def test_the_knee_of_the_library():
    assert enough_rows(1, 1, 0.9) == 9, "0.9 / (1 - 0.9) is a little more in floats"
    assert enough_rows(61, 7, 0.9) == int(roofline.rows_to_saturate(61, 7)) + 1
    assert roofline.rows_to_saturate(0.06, 0.002) == pytest.approx(9 * 0.06 / 0.002)


def test_the_record_says_what_the_page_says():
    """`compile_knee`: written by `python benchmarks/compile_knee.py --only short`."""
    lines = records.read("compile_knee")
    assert all(len(one["process_seconds"]) == 12 for one in lines)
    by = {}
    for one in lines:
        seconds = statistics.median(one["process_seconds"])
        by.setdefault(one["mode"], {})[one["rows"]] = seconds
    fit = {mode: _fit(list(own), list(own.values())) for mode, own in by.items()}
    (t0, tau, knee, error), (compiled_t0, compiled_tau, *fewer) = fit["eager"], fit["compiled"]
    assert compiled_t0 < t0 / 2 and compiled_tau / tau == pytest.approx(5 / 6, abs=0.03)
    assert (knee, error) == pytest.approx((419, 43), abs=0.5)
    assert fewer == pytest.approx([226, 14], abs=0.5)
    assert max(by["eager"]) == 32
    own = [one["first_seconds"] for one in lines if one["mode"] == "compiled"]
    assert len(own) == 6 and sum(own) == pytest.approx(330, abs=5)


def _fit(rows, seconds):
    """t0, tau, 9 t0 / tau and its standard error, from the whole covariance of NumPy's fit."""
    (tau, t0), cov = np.polyfit(rows, seconds, 1, cov=True)
    slope = np.array([-9 * t0 / tau**2, 9 / tau])
    return t0, tau, 9 * t0 / tau, float(np.sqrt(slope @ cov @ slope))


def test_slots_rise_and_useful_tokens_fall_in_the_sweep():
    cells = [c for c in records.read("cpu_sweep").cells() if c.layout == "padded"]
    slots, useful = {}, {}
    for rows in (1, 4, 8, 16):
        own = [c for c in cells if c.rows == rows]
        slots[rows] = sum(c.slots for c in own) / sum(c.seconds for c in own)
        useful[rows] = sum(c.real_tokens for c in own) / sum(c.seconds for c in own)
    pairs = {}
    for rows in (1, 16):
        own = [c.counts for c in cells if c.rows == rows]
        pairs[rows] = sum(c.slot_pairs for c in own) / sum(c.slots for c in own)
    assert pairs == pytest.approx({1: 288, 16: 553}, abs=0.5)
    assert slots[8] < slots[4] > slots[16]
    assert slots[4] / slots[1] == pytest.approx(1.5, abs=0.05) and useful[4] < useful[1]


def test_the_trainer_counts_slots_in_flops_and_tokens_unless_told():
    from transformers import Trainer

    net = model.small(64, layers=1, hidden=16, heads=2)
    inputs = {"input_ids": torch.ones(2, 5, dtype=torch.int64),
              "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])}  # fmt: skip
    flops = Trainer.floating_point_ops(SimpleNamespace(model=net), inputs)
    assert flops == 6 * 10 * net.num_parameters(exclude_embeddings=True)
    for told, want in (("all", 10), ("non_padding", 7)):
        trainer = SimpleNamespace(
            args=SimpleNamespace(include_num_input_tokens_seen=told, device="cpu"), model=net,
            state=SimpleNamespace(num_input_tokens_seen=0),
            accelerator=SimpleNamespace(gather=lambda value: value),
        )  # fmt: skip
        Trainer._track_num_input_tokens(trainer, inputs)
        assert trainer.state.num_input_tokens_seen == want


def test_trl_counts_the_attention_mask_where_there_is_one():
    trainer = pytest.importorskip("trl").SFTTrainer
    source = inspect.getsource(trainer)
    assert 'inputs["attention_mask"].sum()' in source and '["num_tokens"]' in source


def test_settings_take_turns_in_reverse_order():
    made = Device({"A": 1.0, "B": 2.0})
    settings = {name: made.setting(name) for name in "AB"}
    found = scenes.in_turns(settings, made.wait, made.clock, 4)
    assert "".join(made.called[4:]) == "ABBAABBA"
    assert statistics.median(found["B"]) == 2.0
