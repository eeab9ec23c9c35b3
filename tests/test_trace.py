"""Predicted peaks against an independent counter: the profiler's memory events of a real step."""

import functools

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from batchlab import loop, model
from batchlab.memory import ModelShape, trace
from batchlab.memory import _counter as counter
from batchlab.memory._layers import depths_of, with_layers
from batchlab.memory._models import config_of, units_of
from batchlab.memory._shards import Unit

BF16, FP32 = torch.bfloat16, torch.float32
CASES = [  # family, layers, hidden, vocabulary, tied, rows, length, options
    ("llama", 2, 128, 1024, True, 2, 128, {}),
    ("qwen2", 7, 64, 512, True, 2, 96, {"checkpointing": True, "padded": True}),
    ("gpt2", 4, 64, 512, True, 2, 96, {"autocast": BF16}),
]
MORE = [
    ("qwen3", 6, 64, 512, True, 2, 96, {"dtype": BF16}),
    ("llama", 6, 64, 1024, False, 3, 96, {"accumulation": 3}),
    ("llama", 6, 128, 1024, True, 4, 256, {"checkpointing": True}),
    ("llama", 6, 128, 1024, True, 4, 256, {"dtype": BF16}),
    (
        "llama",
        6,
        128,
        1024,
        True,
        4,
        256,
        {"dtype": BF16, "accumulate_in": FP32, "accumulation": 2},
    ),
    ("llama", 6, 128, 1024, True, 4, 256, {"autocast": BF16}),
    ("llama", 6, 128, 1024, True, 4, 256, {"autocast": BF16, "checkpointing": True}),
    ("llama", 6, 128, 1024, True, 4, 256, {"padded": True}),
    ("llama", 6, 128, 1024, True, 4, 256, {"attention": "eager"}),
    ("llama", 6, 128, 1024, False, 4, 256, {}),
    ("llama", 20, 64, 2048, True, 2, 64, {"checkpointing": True}),
    ("llama", 28, 64, 512, True, 1, 512, {}),
    ("llama", 8, 64, 512, True, 1, 64, {}),
    ("llama", 3, 64, 8192, False, 2, 64, {"checkpointing": True}),
    ("qwen2", 7, 128, 1024, True, 2, 192, {}),
    ("qwen2", 12, 128, 1024, False, 2, 192, {"autocast": BF16}),
    ("qwen2", 6, 64, 4096, True, 8, 64, {"accumulation": 2}),
    ("qwen3", 10, 64, 512, True, 2, 192, {"padded": True}),
    ("qwen3", 10, 64, 512, False, 2, 192, {"checkpointing": True, "accumulation": 2}),
    ("mistral", 6, 64, 512, False, 3, 100, {}),
    ("mistral", 9, 64, 512, False, 3, 100, {"dtype": BF16, "checkpointing": True}),
    ("gpt2", 7, 96, 2048, True, 3, 100, {}),
    ("gpt2", 7, 96, 2048, True, 3, 100, {"checkpointing": True, "accumulation": 2}),
]


def config(layers, hidden, vocabulary, *, tied=True, family="llama"):
    import transformers

    if family == "gpt2":
        return transformers.GPT2Config(
            vocab_size=vocabulary, n_embd=hidden, n_layer=layers, n_head=4, n_positions=2048,
            bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
    kind = {
        "llama": transformers.LlamaConfig,
        "qwen2": transformers.Qwen2Config,
        "qwen3": transformers.Qwen3Config,
        "mistral": functools.partial(transformers.MistralConfig, sliding_window=None),
    }[family]
    wide = {"head_dim": hidden // 2} if family == "qwen3" else {}
    return kind(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=3 * hidden,
        num_hidden_layers=layers, num_attention_heads=4, num_key_value_heads=2,
        tie_word_embeddings=tied, max_position_embeddings=2048, **wide,
    )  # fmt: skip


def compared(case):
    family, layers, hidden, vocabulary, tied, rows, length, options = case
    shape = config(layers, hidden, vocabulary, tied=tied, family=family)
    found = trace.compare(shape, rows=rows, length=length, **options)
    print(f"{', '.join(map(str, case))}: {found}")  # the residual; pytest -rP shows it
    return found


@pytest.mark.parametrize(
    "case", [CASES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in CASES[1:])], ids=str
)
def test_the_prediction_is_within_3_per_cent_of_the_profiler(case):
    assert abs(compared(case).error) < 0.03


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, marks=pytest.mark.deep if at % 6 else pytest.mark.slow, id=str(one))
        for at, one in enumerate(MORE)
    ],
)
def test_and_over_twenty_more_configurations(case):
    assert abs(compared(case).error) < 0.03


def test_the_counter_counts_what_a_step_allocates_and_nothing_else():
    held = torch.ones(1000)

    def step():
        first = torch.ones(5000)
        del first
        second, third = torch.ones(2000), torch.ones(2000)  # noqa: F841

    assert counter.measure_peak(step, held=[held, held[:10], "no tensor"]) == 4 * 6000


def test_a_model_and_its_optimizer_are_held_with_gradients_and_states():
    net = torch.nn.BatchNorm1d(100)  # two weights, two buffers of 100 and a count in 8 bytes
    optimizer = torch.optim.Adam(net.parameters())  # two states of 100 a weight, a step in 4 bytes
    net(torch.ones(2, 100)).sum().backward()
    optimizer.step()
    held = 4 * (2 + 2) * 100 + 8, 4 * 2 * 100, 2 * (4 * 2 * 100 + 4)
    assert counter.bytes_held([net]) == held[0] + held[1]
    assert counter.bytes_held([optimizer]) == 4 * 2 * 100 + held[2]
    assert counter.bytes_held([net, optimizer]) == sum(held), "shared weights count once"
    assert counter.measure_peak(lambda: None, held=(net, optimizer)) == sum(held)


def test_profiling_leaves_the_standard_error_alone(capfd):
    counter.measure_peak(lambda: torch.ones(10))
    assert capfd.readouterr().err == ""


def test_a_device_without_a_counter_is_refused():
    with pytest.raises(ValueError, match="device 'meta' has no memory counter"):
        counter.measure_peak(lambda: None, "meta")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"checkpointing": True, "accumulation": 2}], ids=str)
def test_phases_extrapolate_to_the_byte(options, monkeypatch):
    deep = config(12, 64, 2048)
    predicted = trace.predict_peak(deep, rows=2, length=64, **options)
    monkeypatch.setattr(trace, "depths", lambda one, _: (config_of(one).num_hidden_layers,))
    traced = trace.predict_peak(deep, rows=2, length=64, **options)
    assert (predicted.traced_layers, traced.traced_layers) == ((3, 5), (12,))
    assert predicted.by_kind == traced.by_kind and predicted.phase == traced.phase


@pytest.mark.slow
def test_the_peak_alone_would_not_have_extrapolated():
    """The mistake beside the law: the fullest moment moves from one phase to another."""
    how = {"rows": 2, "length": 64, "checkpointing": True}
    peaks = [trace.predict_peak(config(n, 64, 2048), **how) for n in (3, 5, 25)]
    assert peaks[0].phase != peaks[2].phase
    straight = peaks[0].total_bytes + 11 * (peaks[1].total_bytes - peaks[0].total_bytes)
    assert straight < 0.97 * peaks[2].total_bytes


@pytest.mark.slow
def test_kinds_are_what_they_should_be():
    shape = config(4, 64, 1024)
    found = trace.predict_peak(shape, rows=2, length=128)
    parameters = 4 * ModelShape.from_config(shape).parameters
    assert found.by_kind["parameters"] == parameters
    assert found.by_kind["optimizer"] == pytest.approx(2 * parameters, rel=0.001)
    after = found.by_phase["optimizer"]
    assert after["gradients"] == parameters and after["logits"] == 0
    one_copy = 2 * 128 * 1024 * 4
    assert found.by_phase["forward"]["logits"] == 2 * one_copy  # logits and their log-softmax
    assert found.by_phase["backward, head"]["logits"] == 3 * one_copy
    more = trace.predict_peak(shape, rows=4, length=128)
    assert more.by_kind["activations"] == pytest.approx(2 * found.by_kind["activations"], rel=0.02)


@pytest.mark.slow
def test_accumulation_holds_gradients_in_the_forward_pass():
    shape = config(4, 64, 1024)
    one, two, many = (
        trace.predict_peak(shape, rows=2, length=128, accumulation=n) for n in (1, 2, 9)
    )
    assert one.by_phase["forward"]["gradients"] == 0
    assert two.by_phase["forward"]["gradients"] == two.by_kind["parameters"]
    assert many.by_phase == two.by_phase, "the third micro-batch finds what the second found"


@pytest.mark.slow
def test_checkpointing_keeps_less_and_another_optimizer_is_taken():
    shape = config(8, 64, 512)
    plain = trace.predict_peak(shape, rows=4, length=128)
    kept = trace.predict_peak(shape, rows=4, length=128, checkpointing=True)
    assert kept.by_phase["forward"]["activations"] < plain.by_phase["forward"]["activations"] / 3
    sgd = trace.predict_peak(
        shape, rows=4, length=128, make_optimizer=lambda p: torch.optim.SGD(p, lr=0.1)
    )
    assert sgd.by_kind["optimizer"] == 0


@pytest.mark.slow
def test_a_gpu_that_is_not_here_updates_all_weights_at_once():
    shape = config(4, 64, 1024)
    here, there = (trace.predict_peak(shape, rows=1, length=8, device=d) for d in ("cpu", "cuda"))
    together = there.by_phase["optimizer"]["temporary"] - here.by_phase["optimizer"]["temporary"]
    assert together > 0.5 * here.by_kind["parameters"], "foreach makes one root per weight"


def test_the_step_that_is_traced_is_the_step_of_the_library(monkeypatch):
    taken = []
    real = loop.train_step
    monkeypatch.setattr(
        loop, "train_step", lambda *a, **k: taken.append((len(a[2]), k)) or real(*a, **k)
    )
    wider = {"dtype": BF16, "accumulate_in": FP32}
    trace.predict_peak(config(2, 32, 64), rows=1, length=8, accumulation=4, **wider)
    ((parts, how),) = taken
    assert (parts, how["accumulate_in"], how["scaler"]) == (2, FP32, None)


def test_what_is_gathered_at_once_is_a_layer_or_a_module_outside_of_them():
    net = model.small(32, hidden=16, heads=2, layers=2)
    net.model.layers[1].requires_grad_(requires_grad=False)
    layer = sum(one.nbytes for one in net.model.layers[0].parameters())
    units = units_of(net)
    assert units[:2] == [Unit(layer, layer), Unit(layer, 0)]
    assert max(one.parameters for one in units[2:]) == net.lm_head.weight.nbytes < layer


def test_no_model_of_this_size_is_ever_made():
    """70 GB of weights, predicted on a laptop; the memory of this process is the witness."""
    import resource

    shape = config(4, 16384, 128_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = trace.predict_peak(shape, rows=1, length=4096)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert found.by_kind["parameters"] > 40e9
    assert grown < 0.5e9


def test_the_global_model_code_is_left_as_it_was():
    from transformers import masking_utils

    before = masking_utils.find_packed_sequence_indices
    trace.predict_peak(config(2, 32, 64), rows=1, length=8)
    assert masking_utils.find_packed_sequence_indices is before
    assert model.small(64, hidden=32, layers=1).lm_head.weight.sum().isfinite()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows >= 1, length >= 2 and accumulation >= 1 needed, got 0, 8 and 1"),
        ({"length": 1}, "got 1, 1 and 1"),
        ({"accumulation": 0}, "got 1, 8 and 0"),
    ],
)
def test_a_step_without_content_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        trace.predict_peak(config(2, 32, 64), **{"rows": 1, "length": 8, **options})


def moe(kind, **more):
    import transformers

    shape = {
        "vocab_size": 512, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
    }  # fmt: skip
    return getattr(transformers, f"{kind}Config")(**shape | more)


MIXED = {
    "mixtral": ("Mixtral", {"num_local_experts": 4, "sliding_window": None}),
    "qwen3_moe": ("Qwen3Moe", {"num_experts": 4, "num_experts_per_tok": 2, "head_dim": 16}),
    "olmoe": ("Olmoe", {"num_experts": 8, "num_experts_per_tok": 2, "eos_token_id": 0}),
    "gemma3": ("Gemma3Text", {"num_hidden_layers": 16, "head_dim": 16, "sliding_window": 32}),
    "phi3": ("Phi3", {"pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXED)
def test_mixtures_and_layers_of_several_kinds_are_predicted_to_the_third_digit(name):
    kind, more = MIXED[name]
    found = trace.compare(moe(kind, **more), rows=2, length=64)
    assert abs(found.error) <= 0.001, str(found)


def test_the_depths_differ_by_whole_periods_and_end_like_the_model():
    assert depths_of(("sssssf" * 5)[:26]) == (8, 14)
    assert depths_of("m" * 26) == (3, 5)
    assert depths_of("m" * 5) == (5,), "shallower than two traces: traced as it is"
    assert depths_of("dddd" + "m" * 56) == (6, 8), "what does not repeat is in both"
    assert depths_of("a" * 25 + "z") == (26,), "and what comes last cannot be left out"
    gemma = moe("Gemma3Text", num_hidden_layers=26, head_dim=16)
    assert with_layers(gemma, 8).layer_types[-3:] == gemma.layer_types[-3:]


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        pytest.param(
            "CLIPText",
            {},
            "clip_text_model cannot be traced: Unrecognized configuration",
            marks=pytest.mark.slow,
        ),
        ("Dots1", {"n_routed_experts": 4}, r"makes no model of this config \(TypeError"),
    ],
)
def test_a_family_that_cannot_be_traced_is_refused_in_one_line(kind, more, words):
    with pytest.raises(ValueError, match=words) as refused:
        trace.predict_peak(moe(kind, **more), rows=1, length=16)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_grouped_heads_in_float32_store_all_scores_on_a_gpu():
    """Judged by the same kernel on the CPU; the flash kernel would have stored a quarter less."""
    shape = config(2, 64, 64)
    told = trace.predict_peak(shape, rows=2, length=256, device="cuda").total_bytes
    with sdpa_kernel(SDPBackend.MATH):
        measured = trace.compare(shape, rows=2, length=256).measured_bytes
    assert told == pytest.approx(measured, rel=0.03)
    assert trace.predict_peak(shape, rows=2, length=256).total_bytes < 0.8 * told


def test_rows_longer_than_the_table_of_positions_are_refused():
    import transformers

    short = transformers.GPT2Config(vocab_size=64, n_embd=16, n_layer=1, n_head=2, n_positions=32)
    with pytest.raises(ValueError, match="rows of 64 slots: gpt2 has 32 positions"):
        trace.predict_peak(short, rows=1, length=64)


def test_what_kernels_of_the_cpu_take_for_a_moment_is_counted():
    """Judged by the profiler: a product in bf16, and a sum of two dtypes as LoRA takes it."""
    from batchlab.memory._storages import Living

    narrow, wide = torch.ones(32, 32, dtype=BF16), torch.ones(32, 64, dtype=BF16)
    added = torch.ones(32, 64)
    scratch = counter.has_product_scratch()
    native = torch.cpu._is_avx512_bf16_supported()  # then oneDNN packs the second operand in tiles
    packed = wide.nbytes + 6 * 1024 if native else 0
    for step, more in (
        (lambda: narrow @ wide, packed),
        (lambda: added + added.bfloat16(), 0),
        (lambda: added + added, 0),
    ):
        living = Living(9, forward="forward", backward="backward", scratch=scratch)
        with living:
            living.enter("forward")
            step()
        predicted = sum(living.peaks["forward"].values())
        assert 0 <= counter.measure_peak(step) - predicted <= 128 + more, "oneDNN aligns by 128"
