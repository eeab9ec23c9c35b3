"""Lesson 17: its schedule against the library's, what the page shows, the finder."""

import inspect

import numpy as np
import pytest

from batchlab import exercises, padding, serving
from batchlab.exercises.serving import laws, live, scenes
from batchlab.exercises.serving.row_steps import row_steps
from batchlab.exercises.serving.rows_needed import rows_needed
from batchlab.exercises.serving.schedule import ends, exercise, fresh_case, schedule


def test_row_steps_are_those_of_the_simulation_and_follow_the_padding_statistic():
    tick = serving.Affine(1.0, 0.0, 0.0)
    outputs = scenes.long_tail(500, 3)
    served = serving.simulate(serving.at_once([1] * 500, outputs), tick, policy="static", rows=7)
    assert row_steps(outputs, 7) == (served.useful_row_steps, served.row_steps)
    printed = {4: 2.2, 8: 3.1, 16: 4.1, 32: 5.3}
    for rows, said in printed.items():
        pairs = [row_steps(scenes.long_tail(2048, s), rows) for s in range(5)]
        ratio = np.mean([computed / useful for useful, computed in pairs])
        many = np.array(scenes.long_tail(10_240, 9))
        law = (padding.expected_longest(many, rows) - 1) / (many.mean() - 1)
        assert ratio == pytest.approx(law, rel=0.05) and ratio == pytest.approx(said, rel=0.06)


def test_the_live_requests_have_the_row_steps_that_the_page_says():
    assert row_steps(live._requests(2)[1], 8) == (369, 916)


def test_the_rows_of_a_load_are_those_at_which_the_service_keeps_up():
    cost = scenes.h100()
    assert cost.weights_bytes / cost.bytes_per_second == pytest.approx(4.48e-3, abs=5e-6)
    assert cost.flops_per_second / cost.bytes_per_second == pytest.approx(295.3, abs=0.1)
    fixed = cost.weights_bytes / cost.bytes_per_second
    each = 2048 * cost.kv_bytes / cost.bytes_per_second
    assert 1 / each == pytest.approx(cost.most_tokens_per_second(2048))
    few = rows_needed(30, 200, fixed, each)
    for rows, keeps_up in ((few, True), (few - 1, False)):
        carried = rows / (200 * cost.seconds(rows, [2048] * rows))
        assert (carried >= 30) == keeps_up


def test_prompts_padded_on_the_right_are_answered_otherwise():
    alone, _ = scenes.answers(1, tokens=6)
    right, _ = scenes.answers(8, "right", tokens=6)
    left, _ = scenes.answers(8, tokens=6)
    assert alone == left
    assert sum(a != b for a, b in zip(alone, right, strict=True)) > 8


@pytest.mark.parametrize(("policy", "by"), [("static", scenes.static), ("continuous", schedule)])
def test_waits_of_a_schedule_are_those_that_the_page_prints(policy, by):
    trace = serving.trace(*zip(*scenes.real_requests(200, 16.0), strict=True))
    cost = serving.Affine(5e-3, 20e-6, 0.0)
    served = serving.simulate(trace, cost, policy=policy, rows=16, cache=20_000)
    assert scenes.first_token_p99(by, 16.0) == pytest.approx(served.percentile(0.99, "first_token"))


def test_times_of_the_schedule_are_those_of_simulate():
    case = fresh_case(np.random.default_rng(5), 60)
    requests, rows, cache, fixed, each = case
    found = ends(requests, schedule(*case))
    order = sorted(range(len(requests)), key=lambda n: requests[n][0])
    trace = serving.trace(*zip(*requests, strict=True))
    served = serving.simulate(trace, serving.Affine(fixed, each, 0.0), rows=rows, cache=cache)
    for place_, n in enumerate(order):
        assert found[n]["last"] - found[n]["arrival"] == served.latency[place_]
        assert found[n]["first"] - found[n]["arrival"] == served.first_token[place_]


def test_a_schedule_of_another_form_is_told_so():
    case = [(0.0, 3, 2), (0.0, 5, 4), (0.0, 2, 2)], 2, 100, 0.5, 0.125
    want = schedule(*case)
    for got in (3, [(0.0, 1.0, [0])], [(0.0, 1.0, [0.5], [])], [(0.0, float("nan"), [0], [])]):
        assert "a list of passes" in laws.fault_of_schedule(case, got, want)[0]
    assert laws.fault_of_schedule(case, [], want)[0] == "no request was served"
    assert laws.fault_of_schedule(([], 2, 9, 1.0, 1.0), [], []) == ("", "")
    assert "no request 7" in laws.fault_of_schedule(case, [(0.0, 1.0, [7], [])], want)[0]


@pytest.mark.parametrize(("right", "wrong", "cause"), [
    ("requests[coming[0]][0] <= now", "requests[coming[0]][0] < now", "this very moment"),
    ("+ need[coming[0]] > cache", "+ need[coming[0]] >= cache", "what fits exactly, fits"),
])  # fmt: skip
def test_a_clock_that_stands_still_is_told_why(right, wrong, cause, monkeypatch):
    monkeypatch.setattr(exercise, "seconds", 0.2)
    assert exercise.text.count(right) == 1
    assert cause in exercises.refusal("serving/schedule", exercise.text.replace(right, wrong))


def test_numbers_of_the_sorted_list_are_told_before_any_law():
    case = [(2.0, 4, 2), (0.0, 2, 6), (1.0, 3, 3)], 2, 60, 0.5, 0.125
    sorted_case = sorted(case[0]), *case[1:]
    said, _ = laws.fault_of_schedule(case, schedule(*sorted_case), schedule(*case))
    assert said == laws.NUMBERS


def test_a_small_trace_is_drawn_by_hand():
    case = [(0.0, 3, 2), (0.0, 5, 4), (0.0, 2, 2)], 2, 100, 0.5, 0.125
    assert scenes.drawn(case[0], schedule(*case)).splitlines() == [
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
