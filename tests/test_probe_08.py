"""The probe of lesson 08: plans and their costs, a checkpoint under watch, a setting to find."""

import itertools

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from batchlab import memory, model
from batchlab.classroom.probes import lesson_08 as probe
from batchlab.memory._formula import layer_bytes_per_token

PIECES = [(3, 31, 8), (5, 47, 9), (2, 90, 1), (7, 29, 4), (4, 53, 6)]


def borrowed(layers, x, segments):
    at = 0
    for first, end in segments:
        x = probe.in_order(layers[at:first], x)
        x = checkpoint(probe.in_order, layers[first:end], x, use_reentrant=False)
        at = end
    return probe.in_order(layers[at:], x)


def everything_kept(layers, x, segments):
    return probe.in_order(layers, x)


def test_a_plan_by_hand():
    """First the two kept pieces beside the edge, then the segment with what is before it."""
    assert probe.plan_costs(PIECES, [(1, 3)]) == (31 + 47 + 90, 10)
    assert probe.plan_costs(PIECES, []) == (250, 0)


def brute_peak(pieces, segments):
    """The judge: every byte is put on a shelf and taken off, moment by moment."""
    starts, shelf, runs, at = dict(segments), {}, [], 0
    while at < len(pieces):
        end = starts.get(at, at + 1)
        runs.append((at, end))
        for n in range(at, end):
            shelf[n] = pieces[n][1] if at not in starts else pieces[n][0] * (n == at)
        at = end
    most = sum(shelf.values())
    for first, end in reversed(runs):
        for n in range(first, end):
            shelf[n] = pieces[n][1]
        most = max(most, sum(shelf.values()))
        for n in range(first, end):
            del shelf[n]
    return most


def test_the_costs_of_every_plan_are_those_of_a_shelf_that_is_filled_and_emptied():
    every = list(probe.plans(5))
    assert len(every) == 89
    assert len({tuple(plan) for plan in every}) == 89
    assert all(probe.plan_costs(PIECES, plan)[0] == brute_peak(PIECES, plan) for plan in every)


def test_equal_layers_cost_what_the_napkin_formula_says():
    (segment_bytes,) = probe.RIGHT["segment-bytes"]
    for layers, segments in itertools.combinations_with_replacement(range(1, 13), 2):
        n, k = max(layers, segments), min(layers, segments)
        plan = probe.even(n, k)
        assert len(plan) == k and max(b - a for a, b in plan) == plan[-1][1] - plan[-1][0]
        assert probe.plan_costs([(2, 30, 1)] * n, plan) == (segment_bytes(n, k, 2, 30), n)


@pytest.mark.parametrize("name", ["segment-bytes", "gain", "plan-costs", "step"])
def test_right_versions_agree_and_every_wrong_one_differs_somewhere(name):
    plans = list(probe.plans(5))
    cases = {
        "segment-bytes": [(14, 6, 700, 1000 + 1 / 3), (7, 3, 5, 40), (6, 3, 1, 9)],
        "gain": [(24, 1, 2, 6, 0.07), (60, 2, 4, 16, 1 / 3), (5, 25, 4, 16, 1 / 3)],
        "plan-costs": [([(e + 0.5, m + 0.5, f) for e, m, f in PIECES], plan) for plan in plans],
        "step": [([3, 5, 7], 2, plan, seed) for plan in probe.plans(3) for seed in range(4)],
    }[name]

    def outcome(version, case):
        values = version(*case)
        return np.hstack([np.ravel(value) for value in values]) if name in (
            "plan-costs", "step") else values  # fmt: skip

    first, *others = probe.RIGHT[name]
    for case in cases:
        for other in others:
            assert outcome(other, case) == pytest.approx(outcome(first, case))
    for thought, wrong in probe.WRONG[name].items():
        apart = [outcome(wrong, case) != pytest.approx(outcome(first, case)) for case in cases]
        assert any(apart), thought


def test_the_best_plan_fits_and_no_cheaper_one_does():
    flops, least = probe.best_plan(PIECES, 140)
    fits = [plan for plan in probe.plans(5) if brute_peak(PIECES, plan) <= 140]
    assert flops == min(probe.plan_costs(PIECES, plan)[1] for plan in fits)
    assert probe.best_plan(PIECES, least - 1)[0] is None


@pytest.mark.parametrize(
    ("plan", "budget", "words"),
    [
        ([(1, 3)], 168, "fewer would do"),
        ([(2, 3)], 168, ""),
        ([], 168, "the budget is 168"),
        ([(0, 5)], 168, "comes back whole"),
        ([(n, n + 1) for n in range(5)], 168, "every layer is recomputed"),
        ([(2, 2)], 168, "first < end"),
        ([(3, 4), (0, 1)], 168, "in order"),
        ([(0, 2), (1, 3)], 168, "share no layer"),
        ([(4, 6)], 168, "that exist"),
        ([3], 168, "pairs"),
        (None, 168, "pairs"),
    ],
)
def test_the_fault_of_a_plan_is_named(plan, budget, words):
    fault = probe.fault_of_plan(plan, PIECES, budget)
    assert words in fault and bool(fault) == bool(words)


def test_a_checkpoint_of_pytorch_is_seen_and_does_all_that_is_asked():
    seen = probe.watched(borrowed, [(0, 2), (3, 5)], dropout=0.5, leaf=False, frozen=[1])
    assert seen["borrowed"] and seen["random"] == [True, True] and not seen["left"]
    assert seen["calls"] == [2, 2, 1, 2, 2, 1]
    for got, right in zip(*seen["gradients"], strict=True):
        assert (got is None) == (right is None)
        assert got is None or got == pytest.approx(right, rel=1e-9)


def test_who_keeps_everything_is_told_by_calls_and_bytes():
    """The mistake beside the law: the same numbers, and nothing recomputed."""
    plan = [(0, 2), (2, 4), (4, 6)]
    kept = probe.watched(everything_kept, plan, peak=True)
    assert not kept["borrowed"] and kept["calls"] == [1] * 6
    assert kept["peak_bytes"][0] == kept["peak_bytes"][1]
    less = probe.watched(borrowed, plan, peak=True)["peak_bytes"]
    assert less[0] < 0.65 * less[1]


def test_a_second_run_with_other_dropout_has_other_gradients_and_moves_the_random_state():
    def careless(layers, x, segments):
        return checkpoint(probe.in_order, layers, x, use_reentrant=False, preserve_rng_state=False)

    seen = probe.watched(careless, [(0, 6)], dropout=0.5)
    assert seen["random"] == [True, False]
    assert seen["gradients"][0][0] != pytest.approx(seen["gradients"][1][0])


def test_segments_come_back_one_after_another_and_keep_only_their_first_input():
    seen = probe.watched(borrowed, [(0, 3), (3, 6)])
    assert seen["order"] == [3, 4, 5, 0, 1, 2] and seen["held"] == [0, 3]
    alone = probe.watched(borrowed, [(n, n + 1) for n in range(6)])
    assert alone["order"] == [5, 4, 3, 2, 1, 0] and alone["held"] == list(range(6))


@pytest.mark.parametrize(
    ("said", "budget", "words"),
    [("10.5", 10, ""), ("at least 10.50 bytes", 10, ""), ("10 bytes", 10, "do not round"),
     ("11 bytes", 10, "do not round"), ("0.5 missing", 10, "what is missing"),
     ("no plan", 10, "naming the fewest"), ("110.5", 10, "naming the fewest")],
)  # fmt: skip
def test_an_error_names_the_fewest_bytes_as_a_number_in_any_form(said, budget, words):
    fault = probe.fault_of_refusal(said, [(1, 10.5, 2)], budget)
    assert words in fault and bool(fault) == bool(words)


def test_the_last_segment_of_a_sequential_checkpoint_is_kept():
    calls = []

    class Called(torch.nn.Linear):
        def forward(self, x):
            calls.append(self)
            return super().forward(x)

    layers = torch.nn.Sequential(*(Called(4, 4) for _ in range(4)))
    x = torch.ones(2, 4)
    checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()
    assert [calls.count(layer) for layer in layers] == [2, 2, 1, 1]


def test_watching_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    probe.watched(everything_kept, [], dropout=0.5)
    assert torch.equal(before, torch.get_rng_state())


def test_a_decoder_layer_keeps_about_what_the_formula_of_the_library_says():
    """Eager kernels keep a little more: the cost of norms and rotary positions, 10 % here."""
    network = model.small(64, layers=2, hidden=64)
    layer, x = probe.stack(network)[0], torch.randn(2, 32, 64)
    shape = memory.ModelShape.from_config(network.config)
    formula = layer_bytes_per_token(shape, length=32, bytes_per_value=4) * 64
    assert 1.0 < probe.kept_bytes(layer, x) / formula < 1.15
    plain = network.model(inputs_embeds=x, use_cache=False).last_hidden_state
    through = network.model.norm(probe.in_order(probe.stack(network), x))
    assert torch.allclose(through, plain, atol=1e-5)


def test_the_pieces_of_gpt3_are_those_of_korthikanti():
    """34 s b h and 5 a s s b: 114 bytes a token and unit of width, 80 of them scores."""
    rest, core = probe.gpt3_pieces(1)
    assert rest[1] + core[1] == 34 + 80
    assert core[2] / (rest[2] + core[2]) == pytest.approx(2048 / (6 * 12288 + 2048))


@pytest.mark.parametrize(
    ("answer", "words"),
    [(31, ""), (31.0, ""), (30, "still does"), (32, "slower"), (15, "alike"),
     (39, "four times"), (0, "place of the slider"), (31.5, "place of the slider"),
     ("31", "number")],
)  # fmt: skip
def test_the_fault_of_a_setting_is_named(answer, words):
    fault = probe.fault_of_rows(answer)
    assert words in fault and bool(fault) == bool(words)


def test_the_setting_stands_in_the_finder_and_opens_elsewhere():
    made = probe.finder()
    right = {"rows": 31, "times": 4, "share": "every layer: a third"}
    assert made.scene(right)["found"] and made.setting != right
    assert not made.scene({**right, "rows": 32})["found"]


def test_runs_take_turns():
    order = []
    probe.interleaved({name: lambda name=name: order.append(name) for name in "ab"}, rounds=2)
    assert order == list("ababab")


def test_the_table_of_tools_is_that_of_the_installed_code():
    import inspect

    from transformers import PreTrainedModel, TrainingArguments

    signature = inspect.signature(PreTrainedModel.activation_checkpointing_enable)
    assert signature.parameters["every_n_layers"].default == 1
    assert TrainingArguments(output_dir="unused").gradient_checkpointing is False
    peft = pytest.importorskip("peft")
    asked = inspect.signature(peft.prepare_model_for_kbit_training).parameters
    assert asked["use_gradient_checkpointing"].default is True
    trl = pytest.importorskip("trl")
    (field,) = [
        one for one in trl.SFTConfig.__dataclass_fields__.values()
        if one.name == "gradient_checkpointing"
    ]  # fmt: skip
    assert field.default is True
