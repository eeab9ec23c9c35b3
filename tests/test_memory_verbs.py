"""What `memory` and `fit` say: sentences only where they are true, and who says which number."""

import argparse
import json

import pytest

from batchlab import cli
from batchlab.cli import _measuring, options
from batchlab.cli import _training as training
from batchlab.memory import trace

KINDS = dict.fromkeys(trace.KINDS, 0)
PLAIN = {
    "accumulation": 1, "optimizer": "adamw", "lora": None, "quantised": None, "attention": "sdpa",
    "loss": "full", "offload": False, "shard": None, "devices": None, "checkpointing": False,
}  # fmt: skip


def words(**changed):
    return argparse.Namespace(**PLAIN | changed)


def peak(phase="backward, head", **kinds):
    after = KINDS | {"gradients": 7 * 2**20}
    return trace.Peak(
        {phase: KINDS | {n: v * 2**20 for n, v in kinds.items()}, "optimizer": after}, (2,)
    )


LOGITS = "At 8 rows the logits and their loss take 30.00 MiB, more than all activations (20.00 MiB)"
FREED = "No gradient is in this peak: those of the step before are freed, and the 7.00 MiB of this"
STATES = "At 8 rows 80 % of the peak are parameters, gradients and optimizer"


@pytest.mark.parametrize(
    ("found", "sentences"),
    [
        (peak(logits=30, activations=20), [LOGITS, FREED]),
        (peak(logits=20, activations=30), [FREED]),
        (peak(logits=20, activations=30, gradients=1), []),
        (peak(optimizer=80, activations=20, gradients=0), [FREED, STATES]),
        (peak("forward", activations=30), []),
    ],
)  # fmt: skip
def test_a_sentence_stands_only_where_it_is_true(found, sentences):
    said = training.insights(words(), 8, found)
    assert len(said) == len(sentences)
    assert all(one.startswith(start) for one, start in zip(said, sentences, strict=True))


def test_advice_that_was_taken_is_not_given_again():
    found = peak(logits=30, activations=20)
    assert "--loss chunked" in training.insights(words(), 8, found)[0]
    assert "--loss chunked" not in training.insights(words(loss="chunked"), 8, found)[0]
    assert "2 micro-batches" in training.insights(words(), 8, found)[1]
    assert "2 micro-batches" not in training.insights(words(accumulation=2), 8, found)[1]


def test_each_line_says_whether_it_is_traced_or_arithmetic():
    assert [one.split()[0] for one in training.told(words())] == ["traced"]
    many = words(optimizer="adamw8bit", lora=8, quantised="nf4", shard="zero3", devices=4)
    said = training.told(many)
    assert [one.split()[0] for one in said] == ["traced", *["arithmetic"] * 3]
    assert "AdamW" not in said[0] and "LoRA" in said[0]
    assert "0.5625 bytes each" in said[2] and "parameters / 4" in said[3]


def test_a_trainers_embedding_has_a_line_of_its_own():
    said = training.told(words(optimizer="adamw8bit-trainer"))
    assert "embedding: 8 bytes a weight" in said[2] and "AdamW" not in said[0]


def test_four_bits_take_what_the_authors_say():
    """QLoRA: 0.5 + 0.127 bits a weight for its scales, 4.127 bits in all (Dettmers et al. 2023)."""
    (line,) = training.told(words(lora=8, quantised="nf4-double"))[1:]
    assert "0.5159 bytes each" in line and pytest.approx(4.127, abs=0.001) == 8 * 0.5159


@pytest.mark.slow
def test_memory_takes_the_words_of_training(capsys):
    call = ["memory", "--rows", "2", "--length", "32", "--device", "cpu", "--json"]
    found = {}
    for name, more in {
        "full": [],
        "adapters": ["--lora", "4", "--quantised", "nf4", "--precision", "bfloat16"],
        "shared": ["--shard", "zero3", "--devices", "8", "--loss", "chunked", "--offload"],
    }.items():
        assert cli.main([*call, *more]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    after = {name: one["states"] for name, one in found.items()}
    assert after["full"]["float32"]["optimizer"] > 5 * after["adapters"]["float32"]["optimizer"] > 0
    assert after["adapters"]["nf4"]["gradients"] > 0 == after["full"]["nf4"]["gradients"]
    whole, shared = (found[name]["rows"][0] for name in ("full", "shared"))
    assert shared["optimizer"] < whole["optimizer"] / 7
    assert found["shared"]["devices"] == 8 and found["full"]["devices"] is None


@pytest.mark.slow
def test_fit_finds_rows_of_adapters_in_a_budget_too_small_for_full_training(capsys, tmp_path):
    path = tmp_path / "short.jsonl"
    path.write_text("".join(json.dumps({"input_ids": [5] * n}) + "\n" for n in (8, 16, 12, 16)))
    call = ["fit", "--device", "cpu", "--data", str(path), "--budget", "0.014"]
    assert cli.main(call) == 1
    assert "parameters, gradients and optimizer alone need" in capsys.readouterr().err
    assert cli.main([*call, "--lora", "2"]) == 0
    said = capsys.readouterr().out
    assert "LoRA of rank 2" in said and "fit into 14.34 MiB" in said
    assert cli.main([*call, "--shard", "zero3", "--devices", "8"]) == 0
    assert "predicted, not tried, since shards need their devices" in capsys.readouterr().out


def test_a_sweep_takes_the_attention_that_is_named():
    given = {"model": None, "data": None, "field": None, "rows": [1]}
    plain, eager = (
        _measuring.prepare(argparse.Namespace(**given, attention=one)) for one in (None, "eager")
    )
    assert eager.make("float32", "padded").config._attn_implementation == "eager"
    assert plain.make("float32", "padded").config._attn_implementation not in options.ATTENTIONS
    assert plain.identity != eager.identity, "records of both are not mixed"
    assert plain.identity.model.name == "small"
