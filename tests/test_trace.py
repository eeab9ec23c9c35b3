"""Predicted peaks against an independent counter: the profiler's memory events of a real step."""

import gc

import pytest
import torch

from batchlab import loop, model, trace

CASES = [  # layers, hidden, vocabulary, rows, length, options
    (2, 128, 1024, 2, 128, {}),
    (6, 128, 1024, 4, 256, {}),
    (6, 128, 1024, 4, 256, {"checkpointing": True}),
    (8, 64, 512, 1, 64, {}),
    (20, 64, 2048, 2, 64, {"checkpointing": True}),
    (6, 128, 1024, 4, 256, {"dtype": torch.bfloat16}),
    (6, 128, 1024, 4, 256, {"autocast": torch.bfloat16}),
]
MORE = [
    (layers, hidden, vocabulary, rows, length, options)
    for layers, hidden, vocabulary in ((3, 64, 4096), (7, 128, 512), (10, 96, 1024))
    for rows, length in ((1, 256), (4, 64), (2, 192))
    for options in ({}, {"checkpointing": True})
]


def config(layers, hidden, vocabulary, *, tied=True, family="llama"):
    import transformers

    kind = {"llama": transformers.LlamaConfig, "qwen2": transformers.Qwen2Config}[family]
    return kind(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=3 * hidden,
        num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
        tie_word_embeddings=tied, max_position_embeddings=2048,
    )  # fmt: skip


def measured(
    shape, rows, length, *, checkpointing=False, dtype=torch.float32, autocast=None, device="cpu"
):
    """Peak bytes of the second real step: what is alive before it, and the profiler's count."""
    from transformers import AutoModelForCausalLM

    real = AutoModelForCausalLM.from_config(shape, dtype=dtype, attn_implementation="sdpa").train()
    real.to(device)
    if checkpointing:
        model.set_checkpointing(real, True)
    optimizer = torch.optim.AdamW(real.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        batch = {"input_ids": torch.zeros(rows, length, dtype=torch.long)}
        labels = torch.zeros(rows, length, dtype=torch.long, device=device)
        logits = loop.logits_of(real, batch, autocast=autocast)
        loss = loop.summed_loss(logits, labels) / labels.numel()
        del logits
        loss.backward()
        del loss
        optimizer.step()

    step()
    optimizer.zero_grad(set_to_none=True)
    gc.collect()
    if device != "cpu":
        return trace.measure_peak(step, device)  # the allocator counts what was alive before too
    states = [v for state in optimizer.state.values() for v in state.values()]
    before = sum(t.numel() * t.element_size() for t in [*real.parameters(), *states])
    return before + trace.measure_peak(step)


def error(case):
    layers, hidden, vocabulary, rows, length, options = case
    shape = config(layers, hidden, vocabulary)
    predicted = trace.predict_peak(shape, rows=rows, length=length, **options)
    return predicted.total_bytes / measured(shape, rows, length, **options) - 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_prediction_is_within_3_per_cent_of_the_profiler(case):
    assert abs(error(case)) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE, ids=str)
def test_and_over_eighteen_more_configurations(case):
    assert abs(error(case)) < 0.03


@pytest.mark.parametrize(("tied", "family"), [(False, "llama"), (True, "qwen2")])
def test_untied_embeddings_and_another_family(tied, family):
    shape = config(5, 64, 2048, tied=tied, family=family)
    predicted = trace.predict_peak(shape, rows=2, length=96).total_bytes
    assert predicted == pytest.approx(measured(shape, 2, 96), rel=0.03)


@pytest.mark.parametrize("checkpointing", [False, True])
def test_phases_extrapolate_exactly(checkpointing):
    shape, how = (2, 64), (torch.float32, None, "sdpa", trace._adamw)
    small, large, deep = (
        trace._trace(config(n, 64, 2048), *shape, checkpointing, *how) for n in (*trace.SHALLOW, 12)
    )
    predicted = trace.Peak(trace._extrapolated([small, large], 12), trace.SHALLOW)
    assert predicted.total_bytes == trace.Peak(deep, (12,)).total_bytes


def test_the_peak_alone_would_not_have_extrapolated():
    """The mistake beside the law: the fullest moment moves from one phase to another."""
    shape, how = (2, 64), (True, torch.float32, None, "sdpa", trace._adamw)
    peaks = [trace.Peak(trace._trace(config(n, 64, 2048), *shape, *how), (n,)) for n in (3, 5, 25)]
    assert peaks[0].phase != peaks[2].phase
    straight = peaks[0].total_bytes + 11 * (peaks[1].total_bytes - peaks[0].total_bytes)
    assert straight < 0.97 * peaks[2].total_bytes


def test_a_deep_model_is_predicted_from_two_shallow_ones():
    deep = trace.predict_peak(config(28, 64, 512), rows=1, length=64)
    assert deep.traced_layers == trace.SHALLOW
    shallow = trace.predict_peak(config(3, 64, 512), rows=1, length=64)
    assert shallow.traced_layers == (3,)


def test_kinds_are_what_they_should_be():
    shape = config(4, 64, 1024)
    found = trace.predict_peak(shape, rows=2, length=128)
    parameters = 4 * sum(p.numel() for p in model.small(1024, hidden=64, layers=1).parameters())
    assert found.by_kind["parameters"] > parameters / 2
    assert found.by_kind["optimizer"] == pytest.approx(2 * found.by_kind["parameters"], rel=0.01)
    after = found.by_phase["optimizer"]
    assert after["gradients"] == after["parameters"] and after["logits"] == 0
    assert found.by_phase["forward"]["logits"] >= 2 * 128 * 1024 * 4
    more = trace.predict_peak(shape, rows=4, length=128)
    assert more.by_kind["activations"] == pytest.approx(2 * found.by_kind["activations"], rel=0.02)


def test_checkpointing_keeps_less_and_another_optimizer_is_taken():
    shape = config(8, 64, 512)
    plain = trace.predict_peak(shape, rows=4, length=128)
    kept = trace.predict_peak(shape, rows=4, length=128, checkpointing=True)
    assert kept.by_phase["forward"]["activations"] < plain.by_phase["forward"]["activations"] / 3
    sgd = trace.predict_peak(
        shape, rows=4, length=128, make_optimizer=lambda p: torch.optim.SGD(p, lr=0.1)
    )
    assert sgd.by_kind["optimizer"] == 0


def test_the_global_model_code_is_left_as_it_was():
    from transformers import masking_utils

    before = masking_utils.find_packed_sequence_indices
    trace.predict_peak(config(2, 32, 64), rows=1, length=8)
    assert masking_utils.find_packed_sequence_indices is before


def test_a_step_without_rows_is_refused():
    with pytest.raises(ValueError, match="rows >= 1 and length >= 2 needed, got 0 and 8"):
        trace.predict_peak(config(2, 32, 64), rows=0, length=8)
