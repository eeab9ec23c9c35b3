"""Models that bring their own loss, and one device of several that share a layer or its experts."""

import pytest
import torch
import transformers

from batchlab.memory import trace
from batchlab.memory._spread import rank_of
from batchlab.memory._tasks import CAUSAL, task_of

SMALL = {"vocab_size": 500, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
         "num_attention_heads": 4}  # fmt: skip
KEYS = SMALL | {"num_key_value_heads": 2}
TWO = {"rows": 2, "length": 16}


def bert(name, **more):
    return transformers.BertConfig(**SMALL, architectures=[name], **more)


def t5(**more):
    return transformers.T5Config(
        vocab_size=512, d_model=32, d_ff=64, num_layers=2, num_heads=4, d_kv=8,
        decoder_start_token_id=0, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "task"),
    [
        (bert("BertForSequenceClassification"), "classifier"),
        (bert("BertForTokenClassification"), "token classifier"),
        (bert("BertForMaskedLM"), "masked LM"),
        (t5(), "encoder with decoder"),
        (transformers.LlamaConfig(**KEYS, architectures=["LlamaForCausalLM"]), "causal LM"),
        (transformers.LlamaConfig(**KEYS), "causal LM"),
    ],
)
def test_the_task_of_a_model_is_read_from_its_class(config, task):
    assert task_of(config).name == task
    with torch.device("meta"):
        model = getattr(transformers, task_of(config).auto).from_config(config)
    assert task_of(model).name == task


@pytest.mark.slow
def test_a_classifier_has_no_logits_of_every_word():
    """As a causal LM, BERT would hold 2 x 16 rows of 500 logits and a head that is not there."""
    one = trace.predict_peak(bert("BertForSequenceClassification"), **TWO)
    assert one.by_phase["forward"]["logits"] == 0
    gaps = trace.predict_peak(bert("BertForMaskedLM"), **TWO)
    assert gaps.by_phase["backward, head"]["logits"] >= 2 * 16 * 500 * 4
    assert gaps.total_bytes > one.total_bytes


@pytest.mark.slow
def test_a_scan_adds_its_gradients_into_one_buffer():
    """One more of all its states was told: 7 % of this step."""
    shape = {"vocab_size": 512, "hidden_size": 64, "state_size": 16, "num_hidden_layers": 2}
    found = trace.compare(transformers.MambaConfig(**shape), rows=2, length=12)
    assert abs(found.error) < 0.001


@pytest.mark.slow
def test_a_batch_of_yours_stands_for_rows_and_length():
    with torch.device("meta"):
        model = transformers.BertForSequenceClassification(bert("BertForSequenceClassification"))
    ids = torch.ones(2, 16, dtype=torch.long)
    yours = trace.predict_peak(model, batch={"input_ids": ids, "labels": ids[:, 0]}, device="cpu")
    same = trace.predict_peak(model, **TWO, device="cpu")
    assert yours.total_bytes == pytest.approx(same.total_bytes, abs=512), "all but its own ids"
    longer = {"input_ids": ids.repeat(1, 4), "labels": ids[:, 0]}
    more = trace.predict_peak(model, batch=longer, device="cpu")
    assert more.by_phase["forward"]["activations"] > 2 * yours.by_phase["forward"]["activations"]


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        (t5(), {"loss_chunk": 8}, "loss_chunk is of a causal LM: encoder with decoder brings its"),
        (t5(), {"offload": True}, "offload is of a causal LM"),
        (t5(), {"autocast": torch.float16}, "a scaler is of a causal LM"),
        (bert("BertForMaskedLM", max_position_embeddings=8), {}, "bert has 8 positions"),
        (transformers.LlamaConfig(**KEYS), {"experts": 2}, "this model has none"),
        (
            transformers.LlamaConfig(**KEYS),
            {"tensor": 3},
            "num_attention_heads 4 is not a multiple",
        ),
        (transformers.MambaConfig(vocab_size=512), {"tensor": 2}, "mamba: how its layers divide"),
    ],
)
def test_what_is_not_known_is_refused(config, options, message):
    with pytest.raises(ValueError, match=message):
        trace.predict_peak(config, **TWO, **options)


@pytest.mark.slow
def test_a_rank_of_tensor_parallel_holds_its_part_and_whole_norms():
    """By hand: q 32 x 32, k and v 32 x 16, o 32 x 32, three of an MLP 32 x 64, and two tables."""
    config = transformers.LlamaConfig(**KEYS, tie_word_embeddings=False)
    layer, norms, tables = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 64, 2 * 32, 2 * 500 * 32
    for degree in (1, 2):
        held = trace.predict_peak(config, **TWO, tensor=degree).by_phase["optimizer"]
        wanted = (2 * layer + tables) // degree + 2 * norms + 32
        assert held["parameters"] == pytest.approx(4 * wanted, abs=64)  # and rotary tables
    four = rank_of(config, 4)
    assert (four.num_key_value_heads, four.head_dim, four.vocab_size) == (1, 8, 125), "k held twice"
    assert config.num_attention_heads == 4, "what was given is as it was"
    one, two = (trace.predict_peak(config, **TWO, tensor=n).by_phase["forward"] for n in (1, 2))
    assert one["activations"] / 2 < two["activations"] < one["activations"], "the stream is whole"


def mixture(middle=32):
    return transformers.Qwen3MoeConfig(
        **KEYS, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=middle, head_dim=8
    )


@pytest.mark.slow
def test_a_device_keeps_its_share_of_the_experts():
    """4 experts of 3 x 32 x 32 in each of 2 layers: 24,576 weights, of which a quarter stays."""
    one, four = (trace.predict_peak(mixture(), **TWO, experts=n).by_phase for n in (1, 4))
    gone = 4 * 2 * 4 * 3 * 32 * 32 * 3 // 4
    for kind, copies in (("parameters", 1), ("gradients", 1), ("optimizer", 2)):
        left = one["optimizer"][kind] - four["optimizer"][kind]
        assert left == pytest.approx(copies * gone, rel=0.01)
    assert one["forward"]["activations"] == four["forward"]["activations"], "as many tokens"


@pytest.mark.slow
def test_zero_3_has_shared_the_experts_already():
    """What is left to spread is what is gathered: a layer with a share of its experts."""
    shard = trace.Shard(3, 4)
    one, four = (
        trace.predict_peak(mixture(256), **TWO, shard=shard, experts=n).by_phase for n in (1, 4)
    )
    assert one["optimizer"]["optimizer"] == four["optimizer"]["optimizer"]
    assert one["forward"]["parameters"] > four["forward"]["parameters"]


@pytest.mark.slow
def test_a_published_run_of_eight_devices_needed_what_is_told():
    """torchtitan, December 2024, Table 2: Llama 3.1 8B, FSDP over 8 H100, a row of 32,768, full
    recomputation: 83.9 GiB reserved, compiled and in float8. Told are tensors, in bf16."""
    config = transformers.LlamaConfig(
        vocab_size=128_256, hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=131_072,
    )  # fmt: skip
    found = trace.predict_peak(
        config, rows=1, length=32_768, device="cuda", autocast=torch.bfloat16, checkpointing=True,
        shard=trace.Shard(3, 8),
    )  # fmt: skip
    assert found.total_bytes / 2**30 == pytest.approx(83.9, rel=0.05)


def test_one_device_cannot_measure_what_several_share():
    with pytest.raises(ValueError, match="one device cannot measure them"):
        trace.compare(transformers.LlamaConfig(**KEYS), **TWO, tensor=2)
    assert task_of(None) is CAUSAL
