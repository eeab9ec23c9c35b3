"""Lesson 08: plans by hand, a checkpoint under watch, what layers keep, the table of tools."""

import inspect

import pytest
import torch
from torch.utils.checkpoint import checkpoint_sequential

from batchlab import memory, model
from batchlab.exercises.checkpointing import scenes
from batchlab.exercises.checkpointing.checkpoint_segments import Segment, judged
from batchlab.exercises.checkpointing.choose_segments import choose_segments, costs
from batchlab.exercises.checkpointing.plan_costs import plan_costs, plans
from batchlab.exercises.checkpointing.watch import scene
from batchlab.memory._formula import layer_bytes_per_token


def test_a_plan_by_hand_and_equal_layers_as_the_napkin_says():
    pieces = [(1, 10, 5), (2, 20, 7), (1, 10, 5)]
    assert plan_costs(pieces, [(0, 2)]) == (30, 12) and plan_costs(pieces, []) == (40, 0)
    for k in (1, 2, 3, 4, 8):
        assert plan_costs([(1, 10, 5)] * 8, scenes.even(8, k))[0] == (k - 1) + -(-8 // k) * 10


def test_the_chosen_plan_fits_and_no_cheaper_one_does():
    pieces = [(3, 31, 8), (5, 47, 9), (2, 90, 1), (7, 29, 4), (4, 53, 6)]
    peak, again = plan_costs(pieces, choose_segments(pieces, 140))
    assert peak <= 140 and again == min(f for b, f, _ in costs(pieces) if b <= 140)
    assert len(list(plans(5))) == len({str(one) for one in plans(5)}) == 89


@pytest.mark.parametrize("how", [{"dropout": 0.5}, {"leaf": False}, {"peak": True}])
def test_a_checkpoint_is_seen_to_do_all_that_is_asked(how):
    segments, before = [(0, 2), (2, 4), (4, 6)], torch.get_rng_state()
    assert judged(scene(Segment, segments, how), segments, how) == ("", "")
    assert torch.equal(torch.get_rng_state(), before)


def test_runs_take_turns():
    taken, calls = [], {name: lambda name=name: taken.append(name) for name in "ab"}
    scenes.interleaved(calls, rounds=2)
    assert "".join(taken) == "ababab"


def test_recomputing_pays_below_the_rows_where_a_row_takes_as_long():
    """By the rule of the page, on its two devices: at the border both take the same time a row."""
    for fixed, per_row, border in ((60, 2, 60), (5, 25, 0.4)):
        assert fixed * (4 - 1 - 1 / 3) / (per_row * 4 / 3) == pytest.approx(border)
        plain, recomputed = (fixed / rows + per_row for rows in (border, 4 * border))
        assert plain == pytest.approx(4 / 3 * recomputed)


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


def test_a_decoder_layer_keeps_about_what_the_formula_of_the_library_says():
    """Eager kernels keep a little more: the cost of norms and rotary positions, 10 % here."""
    network = model.small(64, layers=2, hidden=64)
    layer, x = scenes.stack(network)[0], torch.randn(2, 32, 64)
    shape = memory.ModelShape.from_config(network.config)
    formula = layer_bytes_per_token(shape, length=32, bytes_per_value=4) * 64
    assert 1.0 < scenes.kept_bytes(layer, x) / formula < 1.15
    plain = network.model(inputs_embeds=x, use_cache=False).last_hidden_state
    through = network.model.norm(scenes.in_order(scenes.stack(network), x))
    assert torch.allclose(through, plain, atol=1e-5)


def test_the_pieces_of_gpt3_are_those_of_korthikanti():
    """34 s b h and 5 a s s b: 114 bytes a token and unit of width, 80 of them scores."""
    rest, core = scenes.gpt3_pieces(1)
    assert rest[1] + core[1] == 34 + 80
    assert core[2] / (rest[2] + core[2]) == pytest.approx(2048 / (6 * 12288 + 2048))


def test_the_table_of_tools_is_that_of_the_installed_code():

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
