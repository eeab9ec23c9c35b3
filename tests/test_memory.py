"""Bytes by category: worked numbers of the literature, and transformers as the judge of shapes."""

import pytest

from batchlab import memory, units
from batchlab.memory import STATES, ModelShape, estimate, rows_that_fit
from batchlab.memory._formula import layer_bytes_per_token
from batchlab.plan import Plan
from tests.test_batches import tiny

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
    assert found.logits / 1e9 == pytest.approx(24.893, abs=1e-3)
    assert estimate(QWEN_05B, plan, logits_copies_bytes=2).logits / 1e9 == pytest.approx(
        4.979, abs=1e-3
    )
    per_token = 24 * (layer_bytes_per_token(QWEN_05B, length=2048) - 4 * 14)
    assert 10 * 151_936 / per_token == pytest.approx(1.262, abs=1e-3)


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
        (lambda: ModelShape.from_config({"model_type": "tetris"}), "'tetris' is not understood"),
        (lambda: ModelShape.from_config({"model_type": "llama"}), "config key hidden_size is miss"),
    ],
)
def test_bad_input_is_refused_with_its_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
