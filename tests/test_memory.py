"""Bytes by category: worked numbers of the literature, and transformers as the judge of shapes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from batchlab import memory, units
from batchlab.memory import STATES, ModelShape, estimate, rows_that_fit
from batchlab.memory._formula import layer_bytes_per_token
from batchlab.plan import Plan
from tests.packed_rows import tiny

LLAMA_8B = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
QWEN_05B = ModelShape(896, 24, 14, 2, 64, 4864, 151_936, tied=True, biases=18 * 64)
SMOLLM = ModelShape(960, 32, 15, 5, 64, 2560, 49_152, tied=True)
OLD_7B = ModelShape(4096, 32, 32, 32, 128, 16384, 50_000, gated=False)


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3", "mistral", "gpt2"])
def test_parameters_of_a_config_are_those_of_the_real_model(family):
    model = tiny(family)
    shape = ModelShape.from_config(model.config)
    assert shape.parameters == sum(p.numel() for p in model.parameters())
    assert ModelShape.from_config(model.config.to_dict()) == shape


def test_known_models_have_their_known_size():
    assert LLAMA_8B.parameters == 8_030_261_248
    assert QWEN_05B.parameters == 494_032_768


@pytest.mark.parametrize(
    ("scheme", "total"),
    [("fp32", 16), ("mixed", 16), ("mixed_fp32_gradients", 18), ("bf16", 8), ("bf16_fp32_adam", 12),
     ("mixed_adam8bit", 10), ("fp32_sgd", 8), ("fp32_sgd_momentum", 12)],
)  # fmt: skip
def test_a_billion_parameters_need_so_many_gigabytes(scheme, total):
    assert STATES[scheme].total == total
    if total == 16:
        assert units.size(total * 10**9) == "14.90 GiB", "16 GB are not 16 GiB"


def test_activations_of_the_published_7b_layer():
    # Korthikanti et al. 2023, Eq. 1: s b h (34 + 5 a s / h), s = 4096, b = 1
    layer = layer_bytes_per_token(OLD_7B, length=4096, flash=False) * 4096
    assert layer == 3_254_779_904
    plan = Plan(1, 1, 1, 4096)
    for how, gib in (("none", 97.0), ("selective", 17.0)):
        found = estimate(OLD_7B, plan, checkpointing=how, flash=False)
        assert found.activations / units.GIB == pytest.approx(gib, abs=0.05)
    full = estimate(OLD_7B, plan, checkpointing="full", flash=True)
    kept = full.activations - layer_bytes_per_token(OLD_7B, length=4096) * 4096
    assert kept / units.GIB == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("shape", "copies"),
    [(LLAMA_8B, 20.5), (SMOLLM, 17.33)],  # bytes per token and layer / (2 h), no log-sum-exp
)
def test_the_modern_block_keeps_so_many_copies_of_its_hidden_state(shape, copies):
    found = layer_bytes_per_token(shape, length=1) - 4 * shape.heads
    assert found / (2 * shape.hidden) == pytest.approx(copies, abs=0.01)


def test_llama_8b_at_8192_tokens():
    found = estimate(LLAMA_8B, Plan(1, 1, 1, 8192))
    flash_statistics = 4 * 32 * 8192 * 32
    assert (found.activations - flash_statistics) / units.GIB == pytest.approx(41.0, abs=0.01)


def test_logits_outweigh_all_layers_of_a_small_model_with_a_large_vocabulary():
    plan = Plan(8, 1, 1, 2048)
    found = estimate(QWEN_05B, plan)
    assert found.logits / 1e9 == pytest.approx(29.871, abs=1e-3)  # the 29.9 GB of lesson 7
    assert estimate(QWEN_05B, plan, logits_copies_bytes=2).logits / 1e9 == pytest.approx(
        4.979, abs=1e-3
    )
    per_token = 24 * (layer_bytes_per_token(QWEN_05B, length=2048) - 4 * 14)
    assert 12 * 151_936 / per_token == pytest.approx(1.514, abs=1e-3)


def test_sharding_divides_what_its_stage_says():
    # ZeRO, 7.5 B parameters on 64 devices: 120 -> 31.4 -> 16.6 -> 1.9 GB
    shape = ModelShape(1, 1, 1, 1, 1, 0, 3_750_000_000 - 4, norms=2)
    for stage, gigabytes in ((0, 120.0), (1, 31.406), (2, 16.641), (3, 1.875)):
        found = estimate(shape, Plan(1, 1, 64, 1), zero_stage=stage)
        assert found.states_bytes / 1e9 == pytest.approx(gigabytes, rel=1e-3)


def test_adapters_train_a_share():
    # LoRA r = 16 on all linear layers of Llama 3 8B: 41,943,040 parameters at 16 bytes
    share = 41_943_040 / LLAMA_8B.parameters
    found = estimate(
        LLAMA_8B, Plan(1, 1, 1, 1), states=memory.States(2, 4, 10), trainable_share=share
    )
    # the base in bf16, and 14 of the adapters' 16 bytes (their weights count among the base here)
    assert found.states_bytes / 1e9 == pytest.approx(16.06 + 41_943_040 * 14 / 1e9, abs=0.01)


# hidden 8, 2 layers, 2 heads and 1 for keys of 4, an MLP of 16, 10 words
SMALL = ModelShape(8, 2, 2, 1, 4, 16, 10)
OLD = ModelShape(8, 2, 2, 2, 4, 16, 10, tied=True, gated=False, biases=5, norms=4, positions=6)


def test_parameters_by_hand():
    attention = 8 * 8 + 2 * 8 * 4 + 8 * 8
    assert SMALL.layer_parameters == attention + 3 * 8 * 16 + 2 * 8 == 592
    assert SMALL.parameters == 2 * 592 + 2 * 10 * 8 + 8 == 1352
    assert OLD.layer_parameters == 4 * 8 * 8 + 2 * 8 * 16 + 4 * 8 + 5 == 549
    assert OLD.parameters == 2 * 549 + 10 * 8 + 2 * 8 + 6 * 8 == 1242
    defaults = ModelShape(8, 2, 2, 1, 4, 16, 10, False, True, 0, 2, 0)
    assert defaults == SMALL


def test_one_estimate_by_hand():
    found = estimate(SMALL, Plan(3, 7, 2, 5))  # accumulation takes no memory
    layer = 2 * (4 * 8 + 2 * 8 + 2 * 4 + 4 * 16) + 4 * 2
    assert layer_bytes_per_token(SMALL, length=5) == layer == 248
    assert vars(found) == {
        "parameters": 2 * 1352,
        "gradients": 2 * 1352,
        "optimizer": 12 * 1352,
        "activations": 3 * 5 * 2 * layer,
        "logits": 3 * 5 * 10 * 12,
    }
    assert found.states_bytes == 16 * 1352 and found.total_bytes == 16 * 1352 + 15 * 616
    wide = estimate(SMALL, Plan(3, 1, 1, 5), bytes_per_value=4, logits_copies_bytes=0)
    assert wide.activations == 15 * 2 * (2 * (layer - 8) + 8) and wide.logits == 0
    scores = estimate(SMALL, Plan(3, 1, 1, 5), flash=False)
    assert scores.activations == 15 * 2 * (layer - 8 + 2 * 2 * 2 * 5)
    again = estimate(SMALL, Plan(3, 1, 1, 5), flash=False, checkpointing="selective")
    assert again.activations == 15 * 2 * layer, "scores are recomputed: none is kept"
    both = layer_bytes_per_token(SMALL, length=5, flash=False, bytes_per_value=4)
    assert both == 2 * (layer - 8) + 2 * 4 * 2 * 5
    full = estimate(SMALL, Plan(3, 1, 1, 5), checkpointing="full")
    assert full.activations == 15 * (2 * 2 * 8 + layer)


def test_the_older_block_by_hand():
    assert layer_bytes_per_token(OLD, length=5) == 34 * 8
    assert layer_bytes_per_token(OLD, length=5, bytes_per_value=4) == 34 * 8 * 2
    assert layer_bytes_per_token(OLD, length=5, flash=False) == 34 * 8 + 5 * 2 * 5
    both = layer_bytes_per_token(OLD, length=5, flash=False, bytes_per_value=4)
    assert both == 2 * (34 * 8 + 5 * 2 * 5)


HALVES = {"flash": False, "bytes_per_value": 1, "logits_copies_bytes": 0}


@pytest.mark.parametrize("checkpointing", ["none", "full"])
def test_half_a_byte_is_rounded_up(checkpointing):
    """One head at one token keeps 2.5 bytes of scores beside 17 h; whole layers keep h."""
    one = ModelShape(8, 1, 1, 1, 4, 32, 10, gated=False)
    found = estimate(one, Plan(3, 1, 1, 1), checkpointing=checkpointing, **HALVES)
    assert found.activations == 3 * 17 * 8 + 8 + (3 * 8 if checkpointing == "full" else 0)


def test_rows_of_half_a_byte_are_those_of_trying_each():
    """The mistake beside the law: the second row added 138 bytes, and the third 139."""
    one = ModelShape(8, 1, 1, 1, 4, 32, 10, gated=False)
    totals = [estimate(one, Plan(n, 1, 1, 1), **HALVES).total_bytes for n in range(1, 9)]
    assert np.diff(totals[:4]).tolist() == [138, 139, 138]
    for budget in range(totals[0], totals[6]):
        wanted = sum(total <= budget for total in totals)
        assert rows_that_fit(one, budget, length=1, **HALVES) == wanted


def test_rows_fit_on_one_device_unless_more_are_named():
    budget = estimate(SMALL, Plan(3, 1, 1, 5), zero_stage=3).total_bytes
    assert rows_that_fit(SMALL, budget, length=5, zero_stage=3) == 3
    assert rows_that_fit(SMALL, budget, length=5, zero_stage=3, data_parallel=2) > 3


@pytest.mark.parametrize(
    ("stage", "divided"), [(0, (1, 1, 1)), (1, (1, 1, 3)), (2, (1, 3, 3)), (3, (3, 3, 3))]
)
def test_shards_and_shares_are_rounded_up(stage, divided):
    found = estimate(SMALL, Plan(1, 1, 3, 1), zero_stage=stage, trainable_share=0.3)
    wanted = [2 * 1352, 0.3 * 2 * 1352, 0.3 * 12 * 1352]
    got = (found.parameters, found.gradients, found.optimizer)
    assert got == tuple(math.ceil(n / by) for n, by in zip(wanted, divided, strict=True))
    assert all(type(n) is int for n in vars(found).values())


def test_every_scheme_says_what_it_keeps():
    found = {name: (s.parameters, s.gradients, s.optimizer) for name, s in STATES.items()}
    assert found == {
        "fp32": (4, 4, 8), "mixed": (2, 2, 12), "mixed_fp32_gradients": (2, 4, 12),
        "bf16": (2, 2, 4), "bf16_fp32_adam": (2, 2, 8), "mixed_adam8bit": (2, 2, 6),
        "fp32_sgd": (4, 4, 0), "fp32_sgd_momentum": (4, 4, 4),
    }  # fmt: skip


@pytest.mark.parametrize("how", [{}, {"checkpointing": "full"}, {"logits_copies_bytes": 0}])
def test_rows_that_fit_are_those_of_trying_each(how):
    def total(rows):
        return estimate(SMALL, Plan(rows, 1, 2, 5), **how).total_bytes

    for budget in {total(rows) + more for rows in range(1, 6) for more in (-1, 0, 1)} - {
        total(1) - 1
    }:
        wanted = max(rows for rows in range(1, 9) if total(rows) <= budget)
        assert rows_that_fit(SMALL, budget, length=5, data_parallel=2, **how) == wanted
    with pytest.raises(ValueError, match="the states and one row need 1 B more than the budget of"):
        rows_that_fit(SMALL, total(1) - 1, length=5, data_parallel=2, **how)
    states = estimate(SMALL, Plan(1, 1, 2, 5), **how).states_bytes
    with pytest.raises(ValueError, match="the states and one row need"):
        rows_that_fit(SMALL, states, length=5, data_parallel=2, **how)
    with pytest.raises(ValueError, match="the states alone need"):
        rows_that_fit(SMALL, states - 1, length=5, data_parallel=2, **how)


LLAMA = {
    "model_type": "llama", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 2,
    "intermediate_size": 16, "vocab_size": 10,
}  # fmt: skip


def test_a_config_by_hand():
    assert ModelShape.from_config(LLAMA | {"num_key_value_heads": 1}) == SMALL
    assert ModelShape.from_config(LLAMA) == replace(SMALL, kv_heads=2)
    more = {"head_dim": 6, "tie_word_embeddings": True, "num_key_value_heads": 1}
    assert ModelShape.from_config(LLAMA | more) == replace(SMALL, head_size=6, tied=True)
    one_key = {"num_key_value_heads": 1}
    qwen2 = ModelShape.from_config(LLAMA | one_key | {"model_type": "qwen2"})
    assert qwen2 == replace(SMALL, biases=(2 + 2 * 1) * 4)
    qwen3 = ModelShape.from_config(LLAMA | one_key | {"model_type": "qwen3"})
    assert qwen3 == replace(SMALL, biases=2 * 4)
    gpt2 = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 2, "vocab_size": 10,
            "n_positions": 6}  # fmt: skip
    wide = ModelShape(8, 2, 2, 2, 4, 32, 10, True, False, 5 * 8 + 32, 4, 6)
    assert ModelShape.from_config(gpt2) == wide
    narrow = replace(wide, intermediate=16, biases=5 * 8 + 16)
    assert ModelShape.from_config(gpt2 | {"n_inner": 16}) == narrow
    assert type(SMALL.parameters) is int and SMALL.parameters == 1352
    assert replace(SMALL, norms=3).parameters == 1352 + 2 * 8, "the last norm has no half"


@pytest.mark.parametrize("key", [key for key in LLAMA if key != "model_type"])
def test_a_size_that_is_missing_or_no_count_is_named(key):
    with pytest.raises(ValueError, match=f"config key {key} is missing"):
        ModelShape.from_config({name: value for name, value in LLAMA.items() if name != key})
    for odd in ("8", 8.0, -1):
        with pytest.raises(ValueError, match="must be a whole number of at least"):
            ModelShape.from_config(LLAMA | {key: odd})


@pytest.mark.parametrize(
    "name", ["hidden", "layers", "heads", "kv_heads", "head_size", "vocabulary", "intermediate",
             "biases", "norms", "positions"]
)  # fmt: skip
def test_sizes_of_a_shape_are_counts(name):
    least = 0 if name in ("intermediate", "biases", "norms", "positions") else 1
    for value in (least - 1, 1.0, True):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least {least}"):
            replace(SMALL, **{name: value})
    assert type(getattr(replace(SMALL, **{name: np.int16(1)}), name)) is int
    assert getattr(replace(SMALL, **{name: least}), name) == least


@pytest.mark.parametrize("checkpointing", ["none", "full"])
def test_the_rows_that_fit_and_one_more_does_not(checkpointing):
    how = {"states": "bf16", "checkpointing": checkpointing}
    budget = 40 * units.GIB
    rows = rows_that_fit(QWEN_05B, budget, length=2048, **how)
    assert estimate(QWEN_05B, Plan(rows, 1, 1, 2048), **how).total_bytes <= budget
    assert estimate(QWEN_05B, Plan(rows + 1, 1, 1, 2048), **how).total_bytes > budget


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rows_that_fit(LLAMA_8B, 80 * 10**9, length=1), "the states alone need 45.16 GiB"),
        (lambda: rows_that_fit(QWEN_05B, 9 * 10**9, length=8192), "the states and one row need"),
        (lambda: estimate(QWEN_05B, Plan(1, 1, 1, 1), states="fp8"), "unknown states 'fp8'"),
        (lambda: estimate(QWEN_05B, Plan(1, 1, 1, 1), checkpointing="some"), "got 'some'"),
        (lambda: estimate(QWEN_05B, Plan(1, 1, 1, 1), zero_stage=4), "0 to 3, got 4"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), zero_stage=True), "zero_stage must be a whole"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), zero_stage=-1), "zero_stage must be a whole"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), trainable_share=0), "trainable_share must be"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), trainable_share=1.1), "trainable_share must be"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), bytes_per_value=0), "bytes_per_value must be"),
        (lambda: estimate(SMALL, Plan(1, 1, 1, 1), logits_copies_bytes=-1), "logits_copies_bytes"),
        (lambda: layer_bytes_per_token(SMALL, length=0), "length must be a whole number"),
        (lambda: rows_that_fit(SMALL, -1, length=1), "budget_bytes must be a whole .* least 0"),
        (lambda: ModelShape.from_config({"model_type": "tetris"}), "'tetris' is not understood"),
        (lambda: ModelShape.from_config({"model_type": "llama"}), "config key hidden_size is miss"),
    ],
)
def test_bad_input_is_refused_with_its_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
