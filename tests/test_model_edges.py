"""Models at their edges: sizes, what is asked of transformers, names and folders."""

from types import SimpleNamespace
from unittest import mock

import pytest
import torch

from batchlab import model


def small(**options):
    return model.small(64, hidden=16, heads=2, layers=1, **options)


def test_the_small_model_has_these_sizes():
    config = model.small().config
    assert (config.vocab_size, config.num_hidden_layers, config.hidden_size) == (4096, 2, 128)
    assert (config.num_attention_heads, config.num_key_value_heads) == (4, 4)
    assert (config.intermediate_size, config.max_position_embeddings) == (512, 8192)
    grouped = small(kv_heads=1, intermediate=24, longest=32).config
    assert (grouped.num_key_value_heads, grouped.intermediate_size) == (1, 24)
    assert grouped.max_position_embeddings == 32
    made = small()
    assert made.lm_head.weight is made.model.embed_tokens.weight
    assert torch.equal(made.lm_head.weight, small(seed=0).lm_head.weight)


class Noting:
    """An old or a new model of transformers, which notes how it is called."""

    def __init__(self, word):
        self.calls = []
        for name in ("enable", "disable"):
            setattr(self, f"{word}_checkpointing_{name}", self.noting(name))

    def noting(self, name):
        return lambda *given: self.calls.append((name, *given))


@pytest.mark.parametrize("word", ["activation", "gradient"])
def test_checkpointing_is_asked_for_without_reentrance(word):
    made = Noting(word)
    model.set_checkpointing(made, True)
    model.set_checkpointing(made, False)
    assert made.calls == [("enable", {"use_reentrant": False}), ("disable",)]
    assert not model.recomputes(made), "it does not say so"
    for name in ("is_activation_checkpointing", "is_gradient_checkpointing"):
        for value in (True, False):
            assert model.recomputes(type("Saying", (), {name: value})()) is value


def loaded(name_or_path, **options):
    """What transformers is asked to load."""
    from transformers import AutoModelForCausalLM

    with mock.patch.object(AutoModelForCausalLM, "from_pretrained") as asked:
        model.load(name_or_path, **options)
    (call,) = asked.call_args_list
    return call.args[0], call.kwargs


def test_a_name_is_loaded_in_the_dtype_that_it_was_saved_in():
    assert loaded("some/name") == ("some/name", {"dtype": "auto", "attn_implementation": "sdpa"})
    how = {"dtype": torch.bfloat16, "attention": "eager"}
    assert loaded("name", **how) == (
        "name",
        {"dtype": torch.bfloat16, "attn_implementation": "eager"},
    )


@pytest.mark.parametrize("weights", ["model.safetensors", "pytorch_model.bin"])
def test_a_folder_with_weights_of_either_kind_is_loaded(tmp_path, weights):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / weights).write_text("")
    assert loaded(tmp_path)[0] == str(tmp_path)


def test_without_a_name_the_small_model_comes_in_the_dtype_that_is_asked_for():
    made = small()
    with mock.patch.object(model, "small", lambda **given: made):
        assert model.load().dtype == torch.float32
        assert model.load(dtype=torch.bfloat16).dtype == torch.bfloat16


def test_a_config_gives_float32_whatever_it_says_and_leaves_the_random_state_alone(tmp_path):
    made = small()
    made.config.dtype = torch.bfloat16
    made.config.save_pretrained(tmp_path)
    before = torch.random.get_rng_state()
    found = [model.load(tmp_path, seed=seed).lm_head.weight for seed in (0, 1)]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert found[0].dtype == torch.float32 and not torch.equal(*found)
    assert torch.equal(model.load(tmp_path).lm_head.weight, found[0])
    assert model.load(tmp_path, dtype=torch.bfloat16).dtype == torch.bfloat16
    for kernel in ("eager", "sdpa"):
        assert model.load(tmp_path, attention=kernel).config._attn_implementation == kernel


def test_an_error_is_told_by_its_first_line(tmp_path):
    from transformers import AutoConfig, AutoModelForCausalLM

    error = OSError("\nthe reason\nwhat to do\nand more")
    failing = mock.patch.object(AutoModelForCausalLM, "from_pretrained", side_effect=error)
    message = r"^a/b: cannot be loaded as a causal LM \(the reason\)$"
    with failing, pytest.raises(ValueError, match=message):
        model.load("a/b")
    (tmp_path / "config.json").write_text("{}")
    failing = mock.patch.object(AutoConfig, "from_pretrained", side_effect=error)
    with failing, pytest.raises(ValueError, match=r": not a model config \(the reason\)$"):
        model.load(tmp_path)


@pytest.mark.parametrize("name", ["./missing", "../missing/one", "/missing"])
def test_a_path_that_is_not_there_is_no_name(name):
    with pytest.raises(ValueError, match="no such folder"):
        model.load(name)
    assert model.tokenizer_name(name) is None


def test_a_tokenizer_is_where_any_of_its_files_is(tmp_path):
    assert model.tokenizer_name("missing.json") is None and model.tokenizer_name("a/b") == "a/b"
    assert model.tokenizer_name(tmp_path) is None
    (tmp_path / "vocab.json").write_text("{}")
    assert model.tokenizer_name(tmp_path) == str(tmp_path)


def of(**config):
    return SimpleNamespace(config=SimpleNamespace(**config))


def test_what_keeps_packed_documents_apart_must_say_so():
    with pytest.raises(ValueError, match=r"Linear has no config\.model_type, so nothing says"):
        model.require_packable(torch.nn.Linear(1, 1))
    own = torch.nn.Linear(1, 1)
    own.packs_documents = True
    model.require_packable(own)
    model.require_packable(of(model_type="llama"))
    model.require_packable(of(model_type="mistral", sliding_window=None))
    with pytest.raises(ValueError, match="sliding_window=8: the window is"):
        model.require_packable(of(model_type="qwen2", sliding_window=8, use_sliding_window=True))


@pytest.mark.parametrize(
    ("attention", "inside"),
    [(model.VARLEN, True), ("flash_attention_2", True), ("sdpa", False), (None, False)],
)
def test_only_varlen_and_flash_attention_compute_pairs_inside_documents(attention, inside):
    assert model.has_varlen(of(_attn_implementation=attention)) is inside
    assert not model.has_varlen(torch.nn.Linear(1, 1))
