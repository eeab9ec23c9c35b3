"""The probe of lesson 09: a planted device, versions, the record of the page, what tools count."""

import inspect
import statistics
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from batchlab import model, records, roofline
from batchlab.classroom.probes import lesson_09 as probe
from batchlab.classroom.probes.device_09 import Device

CASES = {
    "times-faster": (60, 2, 3, 8),
    "fit-step": ([1, 2, 3, 4, 4], [0.7, 3.1, 4.2, 7.4, 6.8]),  # noise makes t0 negative
    "useful-rate": ([(4, 900, 500, 0.9), (4, 800, 310, 0.7), (3, 700, 640, 0.2),
                     (4, 1000, 520, 0.15), (5, 400, 390, 2.5), (2, 300, 0, 0.75),
                     (3, 500, 470, 1.25), (3, 500, 470, 1.25), (6, 1200, 330, 4.0)], 3),
    "mfu": (0.5, 10_000, 2, 64, 3000, 1e9),
}  # fmt: skip


def bench(settings, wait, clock, rounds, least):
    """A right benchmark whose settings run once a stretch."""
    for call in settings.values():
        call()
    return probe.in_turns(settings, wait, clock, rounds)


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


def test_a_coarse_clock_moves_in_steps_and_a_hot_device_is_slower():
    made = Device({"A": 1.0}, heat=0.5, grain=0.75)
    call = made.setting("A")
    call()
    call()
    made.wait()
    assert made.host == 5.0 + 1.0 + 1.5 and made.clock() == 7.5


def test_turns_in_reverse_cancel_a_drift_and_the_same_order_does_not():
    three = {"A": 0.04, "B": 0.1, "C": 0.06}
    seen = probe.benched(bench, three, 8, 0.01, heat=0.06)
    assert probe.ratios(seen["found"]) == pytest.approx({"A": 1, "B": 2.5, "C": 1.5}, rel=0.01)
    assert not probe.fault_of_order(seen["called"], list(three), 8)
    naive = probe.benched(_same_order, three, 8, 0.01, heat=0.06)
    assert probe.ratios(naive["found"])["C"] > 1.5 * 1.03
    assert "same order" in probe.fault_of_order(naive["called"], list(three), 8)


def _same_order(settings, wait, clock, rounds, least):
    found = {name: [] for name in settings}
    for name in list(settings) * 2:
        settings[name]()
    for name in list(settings) * rounds:
        wait()
        begin = clock()
        settings[name]()
        wait()
        found[name].append(clock() - begin)
    return found


RUNS = {"A": 8, "B": 4, "C": 8}  # calls of 0.04, 0.1 and 0.06 s that last 0.25 s


def log_of(*stretches):
    """Warm-up calls, then stretches such as "AAAA" between two readings of the clock."""
    return ["A", "B", "C", " ", *(event for one in stretches for event in ["", *one, " ", ""])]


def test_a_stretch_has_the_first_power_of_two_of_calls_that_is_enough():
    assert probe.needed({"A": 0.04, "B": 0.1, "C": 0.06}, 0.25) == RUNS
    assert probe.needed({"A": 0.25}, 1.0) == {"A": 4}, "exactly least is enough"
    turns = ["A" * 8, "B" * 4, "C" * 8, "C" * 8, "B" * 4, "A" * 8]
    assert not probe.fault_of_stretches(log_of("A", "AA", *turns, *turns), RUNS, 4)


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (["AAAA", "BB", "CCCC"], "last less than"),
        (["A" * 16, "B" * 8, "C" * 16], "as soon as"),
        (["A" * 8, "B" * 8, "C" * 8], "number of its own"),
        (["A" * 7, "B" * 3, "C" * 5], "power of two"),
        (["A", "A" * 8, "B", "B" * 4, "C", "C" * 8], "single call"),
        (["A", "AA", "A" * 4, "A" * 8, "B", "BB", "B" * 4, "C" * 8], "found once"),
    ],
)
def test_stretches_of_other_lengths_are_refused_by_name(turn, words):
    assert words in probe.fault_of_stretches(log_of(*turn * 4), RUNS, 4)


def test_a_number_found_while_the_first_call_is_in_the_queue_is_told_so():
    log = ["A", "", "A", " ", "", *log_of("A")[4:] * 4]
    assert "in the queue" in probe.fault_of_stretches(log, {"A": 4}, 4)


def test_a_clock_that_is_never_read_is_told_first():
    def blind(settings, wait, clock, rounds, least):
        while True:
            settings["A"]()

    with pytest.raises(RuntimeError, match="never read"):
        probe.benched(blind, {"A": 0.1}, 4, 1.0)


def test_known_mistakes_of_a_comparison_have_values_of_their_own():
    found = {"z": [1.5, 8.0, 2.5, 6.0], "A": [6.5, 2.5, 4.5, 2.0],
             "B": [9.5, 5.5, 2.0, 8.0], "C": [7.5, 2.5, 4.0, 1.5]}  # fmt: skip
    values = [one for one, _ in probe.wrong_ranges(found, "C")]
    for number, value in enumerate(values):
        assert not any(np.allclose(value, other, rtol=1e-4) for other in values[:number])


def test_an_answer_that_starts_right_is_told_from_one_that_does_not():
    assert probe.same_start([1.0, 2.0, 9.0], [1.0, 2.0, 3.0], 2)
    for got in (None, 1.0, [1.0], "ab", [1.0, 2.1, 3.0]):
        assert not probe.same_start(got, [1.0, 2.0, 3.0], 2)


def test_a_stretch_that_never_grows_ends_with_words():
    def doubles(settings, wait, clock, rounds, least):
        calls = 1
        while clock() < 1e9:
            [settings["A"]() for _ in range(calls)]
            calls *= 2

    with pytest.raises(RuntimeError, match="wait for the device"):
        probe.benched(doubles, {"A": 0.1}, 4, 1.0)


@pytest.mark.parametrize("name", CASES)
def test_every_wrong_version_has_a_value_of_its_own(name):
    right = np.atleast_1d(probe.RIGHT[name][0](*CASES[name]))
    values = [np.atleast_1d(wrong(*CASES[name])) for wrong in probe.WRONG[name].values()]
    for number, value in enumerate(values):
        others = [right, *values[:number]]
        assert not any(v.shape == value.shape and np.allclose(v, value, rtol=1e-4) for v in others)


def test_the_right_versions_agree_with_numpy_and_with_the_library():
    rows, seconds = CASES["fit-step"]
    (tau, t0), cov = np.polyfit(rows, seconds, 1, cov=True)
    assert probe.RIGHT["fit-step"][0](rows, seconds) == pytest.approx(
        (t0, tau, cov[1, 1] ** 0.5, cov[0, 0] ** 0.5)
    )
    faster = probe.RIGHT["times-faster"][0]
    assert faster(16 * 0.01, 29 * 0.01, 4, 4) == pytest.approx(1.1), "t0 of 0.55 tau: a tenth"
    assert faster(60, 2, 4, 4) == 272 / 92 and faster(5, 25, 4, 4) == 420 / 405
    per_token = np.array(probe.RIGHT["mfu"][0](1, 8.03e9, 32, 4096, 8192, 1))
    assert per_token == pytest.approx([48.18e9, 54.62e9, 61.06e9], rel=1e-3)
    assert roofline.rows_to_saturate(0.06, 0.002) == pytest.approx(9 * 0.06 / 0.002)


@pytest.mark.parametrize("name", probe.WRONG["timer"])
def test_every_wrong_timer_is_found_by_one_device_and_the_right_ones_pass(name):
    def error(timer):
        return abs(timer(*probe.device(seconds=0.5, launch=0.25, first=7.0), 5) - 0.55)

    assert error(probe.WRONG["timer"][name]) > 0.01
    assert max(map(error, probe.RIGHT["timer"])) < 1e-6


def test_the_setting_to_find_is_the_first_at_the_ridge():
    h100 = roofline.DEVICES["H100 SXM"]
    (right,) = [rows for rows in range(1, 49) if not probe.fault_of_rows(rows)]
    assert roofline.intensity(20 * right, 2048, 8192) >= h100.ridge
    assert roofline.intensity(20 * (right - 1), 2048, 8192) < h100.ridge
    assert "tokens" in probe.fault_of_rows(361) and probe.fault_of_rows("19")


def test_the_record_says_what_the_page_says():
    """`compile_knee`: written by `python benchmarks/compile_knee.py --only short`."""
    lines = records.read("compile_knee")
    assert all(len(one["process_seconds"]) == 12 for one in lines)
    fit = {mode: probe.RIGHT["fit-step"][0](list(by), list(by.values()))
           for mode, by in probe.compiled().items()}  # fmt: skip
    (t0, tau, *_), (compiled_t0, compiled_tau, *_) = fit["eager"], fit["compiled"]
    assert compiled_t0 < t0 / 2 and compiled_tau / tau == pytest.approx(5 / 6, abs=0.03)
    knees = {mode: _knee(list(by), list(by.values())) for mode, by in probe.compiled().items()}
    assert knees["eager"] == pytest.approx((419, 43), abs=0.5)
    assert knees["compiled"] == pytest.approx((226, 14), abs=0.5)
    assert max(probe.compiled()["eager"]) == 32
    took = sum(one["first_seconds"] for one in lines if one["mode"] == "compiled")
    assert probe.compiling() == took == pytest.approx(330, abs=5)


def _knee(rows, seconds):
    """9 t0 / tau and its standard error, from the whole covariance of NumPy's fit."""
    (tau, t0), cov = np.polyfit(rows, seconds, 1, cov=True)
    slope = np.array([-9 * t0 / tau**2, 9 / tau])
    return 9 * t0 / tau, float(np.sqrt(slope @ cov @ slope))


def test_slots_rise_and_useful_tokens_fall_in_the_sweep():
    cells = [c for c in records.read("cpu_sweep").cells() if c.layout == "padded"]
    slots, useful = {}, {}
    for rows in (1, 4, 8, 16):
        own = [c for c in cells if c.rows == rows]
        slots[rows] = sum(c.slots for c in own) / sum(c.seconds for c in own)
        seen = [(c.documents, c.slots, c.real_tokens, c.seconds) for c in own]
        useful[rows] = probe.RIGHT["useful-rate"][0](seen, 0)
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
    found = probe.in_turns(settings, made.wait, made.clock, 4)
    assert "".join(made.called[4:]) == "ABBAABBA"
    assert statistics.median(found["B"]) == 2.0
