"""Models from nothing, a folder, a config, or a name; what cannot be loaded is named."""

import json

import pytest
import torch

from batchlab import data, model
from batchlab.cli import main


def test_the_small_model_follows_its_seed_and_leaves_the_global_one_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (model.small(64, hidden=16, heads=2, layers=1, seed=s) for s in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    weights = [m.lm_head.weight for m in (one, same, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
    assert one.config.model_type == "llama" and one.dtype == torch.float32


def test_a_saved_folder_gives_the_same_model_back(tmp_path):
    one = model.small(64, hidden=16, heads=2, layers=1)
    one.save_pretrained(tmp_path)
    back = model.load(tmp_path)
    assert torch.equal(back.lm_head.weight, one.lm_head.weight)
    assert model.load(tmp_path, dtype=torch.bfloat16).dtype == torch.bfloat16


def test_a_config_alone_gives_its_architecture_with_random_weights(tmp_path):
    one = model.small(64, hidden=16, heads=2, layers=1)
    one.config.save_pretrained(tmp_path)
    for source in (tmp_path, tmp_path / "config.json"):
        back = model.load(source, seed=3)
        assert sum(p.numel() for p in back.parameters()) == sum(p.numel() for p in one.parameters())
        assert torch.equal(back.lm_head.weight, model.load(source, seed=3).lm_head.weight)


def test_checkpointing_is_switched_and_seen():
    one = model.small(64, hidden=16, heads=2, layers=1)
    assert not model.recomputes(one)
    model.set_checkpointing(one, True)
    assert model.recomputes(one)
    model.set_checkpointing(one, False)
    assert not model.recomputes(one)


def test_folders_that_hold_no_model_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"no config\.json in this folder"):
        model.load(tmp_path)
    with pytest.raises(ValueError, match="no such folder"):
        model.load(tmp_path / "missing")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "tetris"}))
    with pytest.raises(ValueError, match="not a model config") as caught:
        model.load(tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="does not divide over 3 heads"):
        model.small(64, hidden=16, heads=3)


def test_a_folder_brings_its_own_tokenizer(tmp_path, capsys):
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    assert model.tokenizer_name(None) is None and model.tokenizer_name("some/name") == "some/name"
    assert model.tokenizer_name(tmp_path / "missing") is None  # `load` says what is missing
    model.small(64, hidden=16, heads=2, layers=1).save_pretrained(tmp_path)
    assert model.tokenizer_name(tmp_path) is None
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"text": "one two"}\n{"text": "two"}\n')
    words = ["fit", "--model", str(tmp_path), "--data", str(documents), "--budget", "0.01"]
    assert main(words) == 1  # the mistake: the embedded tokenizer counts 4,096 entries
    assert "use the tokenizer that belongs to the model" in capsys.readouterr().err

    inner = Tokenizer(models.WordLevel({"one two": 7, "two": 8, "<eos>": 0}, unk_token="<eos>"))
    PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<eos>").save_pretrained(tmp_path)
    for source in (tmp_path, tmp_path / "config.json"):
        assert model.tokenizer_name(source) == str(tmp_path)
    own = data.load(documents, tokenizer=model.tokenizer_name(tmp_path))
    assert own.tokens.max() == 8
    data.require_vocabulary(own, model.load(tmp_path))


def test_other_heads_are_another_model_and_another_seed_or_dtype_is_the_same():
    """The fault: tries with 1 head were taken for those with 16: both have as many weights."""
    one = model.small(64, layers=1, hidden=32, heads=4)
    same = model.small(64, layers=1, hidden=32, heads=4, seed=1).to(torch.bfloat16)
    assert model.fingerprint(one) == model.fingerprint(same)
    other = model.small(64, layers=1, hidden=32, heads=2)
    assert model.fingerprint(one) != model.fingerprint(other)
    assert model.fingerprint(one) != model.fingerprint(torch.nn.Linear(1, 1))
