"""Memory as people train: the model that is given, adapters, optimizers, shards, savers.

Real steps and the libraries themselves are the judges; all cases are in test_memory_errors.
"""

import copy

import pytest
import torch

from batchlab import batches, loop, model
from batchlab.memory import adapters, offload, optimizers, trace
from batchlab.memory._shards import Shard, Unit, sharded

DOCUMENTS = [list(range(1, n)) for n in (9, 40, 25, 33)]


def tiny(**shape):
    return model.small(512, hidden=32, heads=2, **shape)


def test_a_model_with_adapters_is_traced_as_it_is_and_put_back():
    made = adapters.lora(tiny(layers=1), 4)
    before = {name: one.data_ptr() for name, one in made.named_parameters()}
    found = trace.compare(made, rows=2, length=48)
    assert abs(found.error) < 0.001, str(found)
    trained = sum(p.nbytes for p in made.parameters() if p.requires_grad)
    after = found.predicted.by_phase["optimizer"]
    assert after["gradients"] == trained
    assert after["parameters"] == sum(p.nbytes for p in made.parameters())
    assert {name: one.data_ptr() for name, one in made.named_parameters()} == before
    assert all(p.grad is None for p in made.parameters())


@pytest.mark.slow
def test_the_mistake_beside_it_the_config_of_a_model_with_adapters_promises_full_training():
    made = adapters.lora(tiny(layers=6), 4)
    given, full = (trace.predict_peak(one, rows=1, length=8) for one in (made, made.config))
    assert given.traced_layers == full.traced_layers == (3, 5)
    assert given.total_bytes < 0.6 * full.total_bytes


@pytest.mark.slow
def test_a_given_model_and_its_config_are_predicted_alike():
    made = tiny(layers=6)
    how = {"rows": 2, "length": 32}
    given, told = (trace.predict_peak(one, **how) for one in (made, made.config))
    assert given == told


def test_layers_that_are_frozen_have_neither_gradients_nor_states():
    made = tiny(layers=6)
    for layer in made.model.layers[:4]:
        layer.requires_grad_(False)
    found = trace.predict_peak(made, rows=1, length=16)
    trained = sum(p.nbytes for p in made.parameters() if p.requires_grad)
    assert found.traced_layers == (6,), "no period: frozen layers are of another kind"
    assert found.by_phase["optimizer"]["gradients"] == trained
    assert found.by_phase["optimizer"]["optimizer"] == pytest.approx(2 * trained, rel=0.01)


def test_a_wrapped_model_is_the_model_inside():
    class Wrapper(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.module = inner

    made = tiny()
    found = [trace.predict_peak(one, rows=1, length=8) for one in (made, Wrapper(made))]
    assert found[0] == found[1]


def test_a_trace_that_fails_leaves_the_model_as_it_was():
    made = tiny(layers=6)
    made.model.layers[0].register_forward_hook(lambda *_: 1 / 0)
    weight = made.lm_head.weight
    with pytest.raises(ZeroDivisionError):
        trace.predict_peak(made, rows=1, length=8)
    assert made.lm_head.weight is weight and made.model.embed_tokens.weight is weight
    assert len(made.model.layers) == 6


class Packed(torch.nn.Parameter):
    """Stands for the weights of a quantisation library."""


def strange(made):
    made.lm_head.weight = Packed(torch.zeros(512, 32))


@pytest.mark.parametrize(
    ("spoil", "options", "message"),
    [
        (lambda made: made.requires_grad_(False), {}, "nothing would be trained"),
        (strange, {}, "Linear.weight is a Packed, which cannot be traced: give the model before"),
        (lambda made: None, {"dtype": torch.bfloat16}, "dtype is for a config: a given model is"),
        (lambda made: None, {"attention": "eager"}, "attention is for a config"),
    ],
)
def test_what_cannot_be_traced_is_refused(spoil, options, message):
    made = tiny()
    spoil(made)
    with pytest.raises(ValueError, match=message):
        trace.predict_peak(made, rows=1, length=8, **options)


def test_shards_cannot_be_measured_on_one_device():
    with pytest.raises(ValueError, match="shards are predicted: one device cannot measure them"):
        trace.compare(tiny(), rows=1, length=8, shard=trace.Shard(1, 2))
    with pytest.raises(
        ValueError, match="a stage of 1, 2 or 3 and at least 2 devices, got stage 3"
    ):
        trace.Shard(3, 1)


SHAPES = [(300, 256), (4095,), (4096,), (64, 65)]
# AdamW8bit of bitsandbytes 0.50.2 on a CPU: bytes of state1, state2, absmax1 and absmax2 after a
# step; its two tables of 1,024 bytes belong to the optimizer
BITSANDBYTES = {(300, 256): 2 * 76800 + 2 * 1200, (4095,): 2 * 16380, (4096,): 2 * 4096 + 2 * 64,
                (64, 65): 2 * 4160 + 2 * 68}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_eight_bit_states_are_those_of_bitsandbytes(shape):
    weight = torch.nn.Parameter(torch.zeros(shape))
    weight.grad = torch.zeros(shape)
    made = optimizers.maker("adamw8bit", vocabulary=9)([weight])
    made.step()
    assert sum(one.nbytes for one in made.state[weight].values()) == BITSANDBYTES[shape]


def test_a_trainer_leaves_the_embedding_in_32_bits_and_its_head_in_8():
    table, hidden, head = (torch.nn.Parameter(torch.zeros(n, 256)) for n in (300, 80, 300))
    for one in (table, hidden, head):
        one.grad = torch.zeros_like(one)
    made = optimizers.maker("adamw8bit-trainer", vocabulary=300)([table, hidden, head])
    made.step()
    bytes_of = [sum(one.nbytes for one in made.state[p].values()) for p in (table, hidden, head)]
    assert bytes_of == [8 * 300 * 256, 2 * 80 * 256 + 2 * 4 * 80, BITSANDBYTES[300, 256]]


def test_the_states_of_qwen_under_a_trainer_are_the_1_8_gb_that_were_measured():
    """Qwen2.5-0.5B: 136 M of 494 M weights are its embedding; 1.0 GB if all were in 8 bits."""
    from transformers import Qwen2Config

    config = Qwen2Config(
        vocab_size=151_936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
        num_attention_heads=14, num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    found = {}
    for name in ("adamw8bit", "adamw8bit-trainer"):
        make = optimizers.maker(name, vocabulary=config.vocab_size)
        found[name] = trace.predict_states(config, dtype=torch.bfloat16, make_optimizer=make)
    gigabytes = [round(one.optimizer / 1e9, 1) for one in found.values()]
    assert gigabytes == [1.0, 1.8]


def test_states_by_hand_and_from_the_real_optimizers():
    """A hidden matrix of 6 x 4 and an embedding of 10 x 4, in float32."""
    values = {}
    there = set(optimizers.OPTIMIZERS) - (set() if hasattr(torch.optim, "Muon") else {"muon"})
    for name in there:
        hidden, embedding = (torch.nn.Parameter(torch.ones(n, 4)) for n in (6, 10))
        for one in (hidden, embedding):
            one.grad = torch.ones_like(one)
        made = optimizers.maker(name, vocabulary=10)([hidden, embedding])
        made.step()
        values[name] = [
            sum(one.numel() for one in made.state[p].values() if one.ndim)
            for p in (hidden, embedding)
        ]
    assert values == {name: held for name, held in {
        "adamw": [48, 80], "adam": [48, 80], "adamw8bit": [48, 80],
        "adamw8bit-trainer": [48, 80], "adafactor": [10, 14],
        "sgd": [0, 0], "lion": [24, 40], "muon": [24, 80],
    }.items() if name in there}  # fmt: skip


def test_lion_moves_by_the_sign_of_a_mix_of_moment_and_gradient():
    """Chen et al. 2023, Algorithm 2, by hand: a moment of 0.02, then a gradient turns round."""
    weight = torch.nn.Parameter(torch.tensor([1.0, -1.0]))
    made = optimizers.Lion([weight], lr=0.1)
    for gradient in ([2.0, -3.0], [-0.3, 0.0]):
        weight.grad = torch.tensor(gradient)
        made.step()
    assert torch.allclose(weight, torch.tensor([1.0, -0.8]))
    assert torch.allclose(made.state[weight]["moment"], torch.tensor([0.0168, -0.0297]))


def test_an_optimizer_that_is_not_there_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="unknown optimizer 'sophia'; there are adamw, adam,"):
        optimizers.maker("sophia", vocabulary=9)
    monkeypatch.delattr(torch.optim, "Muon", raising=False)
    with pytest.raises(ValueError, match=r"muon needs torch 2\.9 or newer, this is"):
        optimizers.maker("muon", vocabulary=9)


def llama_3_8b():
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=128_256, hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, tie_word_embeddings=False,
    )  # fmt: skip


@pytest.mark.slow
def test_rank_16_on_every_linear_layer_of_llama_3_8b_is_42_million_values():
    held = trace.predict_states(
        llama_3_8b(), dtype=torch.bfloat16, adapt=lambda m: adapters.lora(m, 16)
    )
    assert held.gradients == 41_943_040 * 4, "adapters of bf16 weights are in float32"
    assert held.parameters == 8_030_261_248 * 2 + 41_943_040 * 4
    assert held.optimizer == pytest.approx(2 * held.gradients, rel=1e-4)


def test_only_the_linear_layers_of_the_blocks_are_in_four_bits():
    """5.70 GB and not 8 x 0.5: embedding and head stay in bf16 (QLoRA)."""

    def change(made):
        return adapters.quantised(made.requires_grad_(False), "nf4-double")

    held = trace.predict_states(llama_3_8b(), dtype=torch.bfloat16, adapt=change)
    assert held.parameters == pytest.approx(5.70e9, rel=0.001)
    assert (held.gradients, held.optimizer) == (0, 0)


@pytest.mark.parametrize(("kind", "measured"), [("nf4", 9_437_248), ("nf4-double", 8_655_940)])
def test_four_bit_weights_take_the_bytes_of_bitsandbytes(kind, measured):
    """Measured there for 4,096 x 4,096; its tables of codes are the 64 and 1,092 bytes between."""
    with torch.device("meta"):
        layer = torch.nn.Linear(4096, 4096, bias=False)
    found = adapters.FourBits(layer, double=kind == "nf4-double")
    tables = {"nf4": 16 * 4, "nf4-double": 16 * 4 + 256 * 4 + 4}[kind]
    assert sum(one.nbytes for one in found.parameters()) == measured - tables


def test_four_bit_weights_are_not_trained():
    with pytest.raises(ValueError, match="nf4: no linear layer but the head is frozen, and 4-bit"):
        adapters.quantised(tiny(), "nf4")
    with pytest.raises(ValueError, match="unknown weights 'int4'; there are nf4, nf4-double"):
        adapters.quantised(tiny(), "int4")


def test_adapters_over_four_bits_get_a_gradient_through_them():
    made = adapters.quantised(adapters.lora(tiny(), 4), "nf4")
    kinds = [type(one).__name__ for one in made.modules()]
    assert kinds.count("FourBits") == 14, "7 in each of 2 layers, and not the head"
    loss = loop.summed_loss(made(**batches.padded(DOCUMENTS, [0])).logits, torch.ones(1, 8).long())
    loss.backward()
    assert all((p.grad is not None) == p.requires_grad for p in made.parameters())


def test_shards_by_hand():
    kinds = {
        "parameters": 100,
        "gradients": 80,
        "optimizer": 200,
        "activations": 9,
        "temporary": 40,
    }
    phases, units = {"backward, top": kinds, "optimizer": kinds}, [Unit(10, 8), Unit(20, 16)]
    found = {n: sharded(phases, Shard(n, 4), units) for n in (1, 2, 3)}
    assert found[1]["backward, top"] == kinds | {"optimizer": 50}
    assert found[2]["backward, top"] == kinds | {"optimizer": 50, "gradients": 20 + 16}
    whole = {"parameters": 25 + 2 * 20, "gradients": 36, "optimizer": 50}
    assert found[3]["backward, top"] == kinds | whole
    after = {"parameters": 25, "gradients": 20, "optimizer": 50, "temporary": 10}
    assert found[3]["optimizer"] == kinds | after


@pytest.mark.slow
def test_shards_leave_activations_and_share_the_rest():
    made = tiny()
    whole = trace.predict_peak(made, rows=2, length=64)
    parts = [trace.predict_peak(made, rows=2, length=64, shard=Shard(n, 8)) for n in (1, 2, 3)]
    assert all(
        one.by_phase["forward"]["logits"] == whole.by_phase["forward"]["logits"] for one in parts
    )
    after = [one.by_phase["optimizer"] for one in (whole, *parts)]
    share = {
        kind: [round(after[0][kind] / one[kind]) for one in after]
        for kind in ("optimizer", "gradients", "parameters")
    }
    assert share == {
        "optimizer": [1, 8, 8, 8],
        "gradients": [1, 1, 8, 8],
        "parameters": [1, 1, 1, 8],
    }


def gradients_of(made, step):
    made.zero_grad(set_to_none=True)
    step(made)
    return {name: p.grad.clone() for name, p in made.named_parameters() if p.grad is not None}


def taken(made, **how):
    still = torch.optim.SGD([p for p in made.parameters() if p.requires_grad], lr=0.0)
    cut = [batches.padded(DOCUMENTS, numbers) for numbers in ([0, 1], [2, 3])]
    return gradients_of(made, lambda one: loop.train_step(one, still, cut, **how))


def alike(one, other, **tolerance):
    return one.keys() == other.keys() and all(
        torch.allclose(one[name], other[name], **tolerance) for name in one
    )


@pytest.mark.parametrize("chunk", [1, 7, 10_000])
@pytest.mark.parametrize("adapted", [False, True])
def test_a_loss_in_chunks_is_the_same_step(chunk, adapted):
    made = adapters.lora(tiny(), 4) if adapted else tiny()
    whole, cut = taken(made), taken(made, loss_chunk=chunk)
    assert alike(whole, cut, rtol=1e-4, atol=1e-7)
    doubled = {name: 2 * one for name, one in cut.items()}
    assert not alike(whole, doubled, rtol=1e-4, atol=1e-7), "the mistake beside the law"


@pytest.mark.slow
def test_a_loss_in_chunks_holds_one_chunk_of_logits():
    shape = tiny().config
    how = {"rows": 2, "length": 128}
    whole, cut = (trace.predict_peak(shape, loss_chunk=n, **how) for n in (None, 16))
    one = 16 * 512 * 4
    assert one < max(kinds["logits"] for kinds in cut.by_phase.values()) <= 3 * one
    assert max(kinds["logits"] for kinds in whole.by_phase.values()) == 3 * one * 16


def test_logits_that_are_more_than_a_product_are_refused_in_chunks():
    soft = tiny()
    soft.config.final_logit_softcapping = 30.0
    with pytest.raises(ValueError, match="logits of this model go through final_logit_softcapping"):
        taken(soft, loss_chunk=8)
    with pytest.raises(ValueError, match="loss_chunk must be at least 1 slot, got 0"):
        taken(tiny(), loss_chunk=0)


def test_activations_that_wait_on_the_host_come_back_as_they_were():
    made = tiny()
    whole = taken(made)
    with offload.to_host(made):
        moved = taken(made)
    assert alike(whole, moved, rtol=0, atol=0)


def test_activations_on_the_host_are_not_on_the_device_and_weights_stay():
    made = tiny()
    plain, moved = (trace.predict_peak(made, rows=4, length=64, offload=o) for o in (False, True))
    at = "backward, head"
    assert moved.by_phase[at]["activations"] < 0.02 * plain.by_phase[at]["activations"]
    assert moved.by_phase[at]["parameters"] == plain.by_phase[at]["parameters"]


@pytest.mark.slow
def test_a_scaler_comes_with_fp16_and_takes_the_step():
    """A first scale of 65,536 might skip the step that is measured: here it is 1."""
    made = copy.deepcopy(tiny())
    found = trace.compare(made, rows=2, length=32, autocast=torch.float16)
    assert abs(found.error) < 0.01, str(found)
