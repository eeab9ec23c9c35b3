"""The probe of lesson 17: wrong versions are wrong, the schedules are the library's, the finder."""

import inspect
import math

import numpy as np
import pytest

from batchlab import padding, serving
from batchlab.classroom.probes import lesson_17 as probe
from batchlab.classroom.probes import lesson_17_finder as place

CASES = {
    "row-steps": ([9, 1, 30, 4, 17, 8, 5, 21, 6, 3], 3),
    "decode-step": (3, 10, 600.0, 4.0, 50.0, 90.0, 1000.0),
    "most-per-minute": (3, 90.5, 11.25, 7.4),
}
OUTSIDE = {  # wrong only in another case of the page
    "memory alone: with enough rows, multiplying takes longer",
    "one row multiplied: every row computes a token",
    "6 N is a training step: a forward pass takes 2 N FLOPs a token",
    "N FLOPs: a weight is multiplied and added, 2 N",
    "the whole context multiplied: a decoding row computes one token",
}


@pytest.mark.parametrize("name", CASES)
def test_every_wrong_version_is_wrong(name):
    right = np.atleast_1d(probe.RIGHT[name][0](*CASES[name]))
    for thought, version in probe.WRONG[name].items():
        case = (40, 2, 600.0, 3.0, 70.0, 400.0, 900.0) if thought in OUTSIDE else CASES[name]
        right = np.atleast_1d(probe.RIGHT[name][0](*case))
        value = np.atleast_1d(version(*case))
        assert value.shape != right.shape or not np.allclose(value, right, rtol=1e-4), thought


def test_row_steps_are_those_of_the_simulation_and_follow_the_padding_statistic():
    tick = serving.Affine(1.0, 0.0, 0.0)
    outputs = probe.long_tail(500, 3)
    served = serving.simulate(serving.at_once([1] * 500, outputs), tick, policy="static", rows=7)
    assert probe.RIGHT["row-steps"][0](outputs, 7) == (served.useful_row_steps, served.row_steps)
    printed = {4: 2.2, 8: 3.1, 16: 4.1, 32: 5.3}
    for rows, said in printed.items():
        pairs = [probe.RIGHT["row-steps"][0](probe.long_tail(2048, s), rows) for s in range(5)]
        ratio = np.mean([computed / useful for useful, computed in pairs])
        many = np.array(probe.long_tail(10_240, 9))
        law = (padding.expected_longest(many, rows) - 1) / (many.mean() - 1)
        assert ratio == pytest.approx(law, rel=0.05) and ratio == pytest.approx(said, rel=0.06)


def test_a_decoding_pass_is_the_library_s_by_data_sheet():
    shape, cost = probe.LLAMA, probe.h100()
    for rows in (1, 8, 64, 223, 900):
        mine = probe.RIGHT["decode-step"][0](
            rows, 2048, cost.weights_bytes, cost.kv_bytes, shape.parameters,
            cost.bytes_per_second, cost.flops_per_second,
        )  # fmt: skip
        assert mine == pytest.approx(cost.seconds(rows, [2048] * rows))
    assert cost.weights_bytes / cost.bytes_per_second == pytest.approx(4.79e-3, abs=5e-6)
    ridge = cost.flops_per_second / cost.bytes_per_second
    assert math.floor(ridge) == 295, "16 bit: 2 N FLOPs over 2 N bytes"
    assert probe.RIGHT["most-per-minute"][0](64, 5000, 0, 1) == pytest.approx(12.8 * 60)


def test_the_report_is_that_of_served():
    requests = probe.real_requests(150, 20.0)
    found = probe.ends(requests, probe.right(requests, 8, 9000, 5e-3, 2e-5))
    said = probe.RIGHT["report"][0](found)
    served = serving.simulate(
        serving.trace(*zip(*requests, strict=True)), serving.Affine(5e-3, 2e-5, 0.0), rows=8,
        cache=9000,
    )  # fmt: skip
    assert said["latency_p99"] == pytest.approx(served.percentile(0.99))
    assert said["latency_p50"] == pytest.approx(served.percentile(0.5))
    assert said["first_token_p99"] == pytest.approx(served.percentile(0.99, "first_token"))
    assert said["tokens_per_second"] == pytest.approx(served.tokens_per_second)


@pytest.mark.parametrize("thought", probe.WRONG["report"])
def test_every_wrong_report_differs_in_a_field_of_a_case_of_the_page(thought):
    names = ("arrival", "start", "first", "last", "output", "row_steps")
    hand = [dict(zip(names, one, strict=True))
            for one in ((2.0, 2.5, 4.5, 9.0, 4, 7), (1.0, 3.0, 4.5, 6.0, 2, 7),
                        (5.5, 9.5, 10.0, 10.0, 1, 0), (1.5, 9.5, 10.0, 12.0, 3, 2))]  # fmt: skip
    twice = [(1.0, 1.5, 2.0, 3.0, 3, 2)] * 6
    twice += [(2.0, 2.5, 3.0, last, 3, 2) for last in (9.0, 5.0, 7.0, 12.0)]
    duplicates = [dict(zip(names, one, strict=True)) for one in twice]
    served = [
        hand,
        duplicates,
        probe.served(150, 1),
        probe.served(1000, 4, busy=20.0),
        probe.served(300, 5, short=0.7),
    ]
    wrong = probe.WRONG["report"][thought]
    assert any(
        not np.allclose(
            list(wrong(one).values()), list(probe.RIGHT["report"][0](one).values()), rtol=1e-4
        )
        for one in served
    )


def test_percentiles_by_three_ways_agree_for_every_count():
    """`ceil(0.99 * n)`, whole numbers and NumPy's inverted_cdf: no right way is refused."""
    for n in range(1, 1200):
        rank = -(-99 * n // 100)
        assert math.ceil(0.99 * n) == rank == math.ceil(n * 99 / 100)
        assert np.quantile(np.arange(n), 0.99, method="inverted_cdf") == rank - 1


@pytest.mark.parametrize("seed", range(20))
def test_the_schedule_in_one_loop_is_the_library_s(seed):
    random = np.random.default_rng(seed)
    for case in [*probe.cases(), *(probe.fresh_case(random) for _ in range(4))]:
        assert probe.fault_of_schedule(case, probe.mine(*case)) == ("", "")
        assert probe.fault_of_schedule(case, probe.right(*case)) == ("", "")


def test_times_of_the_schedule_are_those_of_simulate():
    case = probe.fresh_case(np.random.default_rng(5), 60)
    requests, rows, cache, fixed, each = case
    found = probe.ends(requests, probe.right(*case))
    order = sorted(range(len(requests)), key=lambda n: requests[n][0])
    trace = serving.trace(*zip(*requests, strict=True))
    served = serving.simulate(trace, serving.Affine(fixed, each, 0.0), rows=rows, cache=cache)
    for place_, n in enumerate(order):
        assert found[n]["last"] - found[n]["arrival"] == served.latency[place_]
        assert found[n]["first"] - found[n]["arrival"] == served.first_token[place_]


@pytest.mark.parametrize("thought", probe.MISTAKES)
def test_every_known_mistake_breaks_a_trace_of_the_page(thought):
    version = probe.MISTAKES[thought]
    faults = [probe.fault_of_schedule(case, version(*case))[0] for case in probe.cases()]
    assert any(faults)


def test_a_schedule_of_another_form_is_told_so():
    case = probe.cases()[1]
    for got in (3, [(0.0, 1.0, [0])], [(0.0, 1.0, [0.5], [])], [(0.0, float("nan"), [0], [])]):
        assert "a list of passes" in probe.fault_of_schedule(case, got)[0]
    assert probe.fault_of_schedule(case, [])[0] == "no request was served"
    assert probe.fault_of_schedule(([], 2, 9, 1.0, 1.0), []) == ("", "")
    assert "no request 7" in probe.fault_of_schedule(case, [(0.0, 1.0, [7], [])])[0]


@pytest.mark.parametrize("thought", probe.WRONG["admit"])
def test_every_wrong_admission_admits_another_number(thought):
    wrong = probe.WRONG["admit"][thought]
    cases = [
        ([(2, 3), (4, 5), (1, 1)], [(3, 2)], 8, 20),
        ([(3, 2), (1, 4)], [(3, 2)], 8, 15),
        ([(1, 6), (6, 1), (1, 1), (1, 1)], [(4, 2)], 9, 21),
        ([(1, 1)], [(3, 2), (1, 4), (3, 2)], 9, 16),
        ([(1, 1)] * 7, [(1, 1), (1, 1)], 6, 100),
        ([(1, 1)], [(2, 2), (2, 2)], 2, 100),
        ([(9, 9), (1, 1)], [], 4, 10),
        ([], [(1, 1)], 3, 20),
    ]
    for case in cases:
        assert len({version(*case) for version in probe.RIGHT["admit"]}) == 1
    assert any(wrong(*case) != probe.RIGHT["admit"][0](*case) for case in cases)


def test_right_admissions_agree_and_a_small_random_search_finds_every_wrong_one():
    random = np.random.default_rng(0)
    left = dict(probe.WRONG["admit"])
    for _ in range(1500):
        pairs = [[tuple(map(int, random.integers(1, 6, 2))) for _ in range(random.integers(0, top))]
                 for top in (7, 4)]  # fmt: skip
        held = sum(map(sum, pairs[1]))
        case = (*pairs, int(random.integers(1, 7)), held + int(random.integers(0, 30)))
        (want,) = {version(*case) for version in probe.RIGHT["admit"]}
        left = {thought: one for thought, one in left.items() if one(*case) == want}
    assert not left


def test_a_refusal_names_the_first_that_never_fits_alone():
    (requests, at), *_ = [(requests, at) for at, requests in probe.never_fit()]
    arrival, prompt, output = requests[at]
    for right in (
        f"request {at} never fits",
        f"Request no. {at}: {prompt} + {output} > 10",
        f"{at}",
        f"request {at} at {arrival} s needs {prompt + output} tokens of 10",
    ):
        assert not probe.fault_of_refusal(requests, at, right), right
    everybody = f"one of {list(range(len(requests)))} never fits"
    assert "alone" in probe.fault_of_refusal(requests, at, everybody)


def test_the_answer_of_an_earlier_call_is_known():
    (value, thought), *others = probe.kept_from("most-per-minute", (64, 200, 40, 121)).items()
    assert value == 64 * 60_000 / 5000 and "earlier call" in thought and not others
    assert probe.kept_from("decode-step", None) == {}


def test_a_pair_of_counts_holds_two_ints():
    for right in ((3, np.int64(4)), np.array([1, 2]), [3, 4]):
        assert not probe.fault_of_counts(right)
    for wrong in ((3.0, 4), np.array([1.0, 2.0])):
        assert "counted" in probe.fault_of_counts(wrong)


def test_the_setting_to_find_is_the_last_that_keeps_the_promise():
    (right,) = [rate for rate in place.RATES if not probe.fault_of_rate(rate)]
    late = [place._served(rate, "continuous").percentile(0.99, "first_token")
            for rate in place.RATES]  # fmt: skip
    at = place.RATES.index(right)
    assert max(late[: at + 1]) < 0.9 * probe.PROMISE, "one threshold"
    assert min(late[at + 1 :]) > 1.1 * probe.PROMISE
    assert "chunked" in probe.fault_of_rate(37) and "mean" in probe.fault_of_rate(41)
    assert probe.fault_of_rate("29") and probe.fault_of_rate(30) and probe.fault_of_rate(None)


def test_a_small_trace_is_drawn_by_hand():
    case = probe.cases()[1]
    assert probe.drawn(case[0], probe.right(*case)).splitlines() == [
        "  0  prompt   3, output   2  P#",
        "  1  prompt   5, output   4  P#.##",
        "  2  prompt   2, output   2  ..P#",
    ]


def test_what_the_page_says_of_transformers_and_trl():
    """transformers 5.23.0 and TRL 1.16.0, as read in "Am I affected?"."""
    from transformers import GenerationMixin
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    source = inspect.getsource(GenerationMixin._sample)
    assert (
        "next_tokens * unfinished_sequences + pad_token_id * (1 - unfinished_sequences)" in source
    )
    assert ContinuousBatchingConfig().scheduler_type == "fifo"
    trl = pytest.importorskip("trl")
    fields = trl.GRPOConfig.__dataclass_fields__
    assert fields["use_vllm"].default is False
    assert fields["use_transformers_continuous_batching"].default is False
