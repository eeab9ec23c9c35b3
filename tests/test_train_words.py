"""What a run may have besides: a schedule in tokens, adapters, a compiler, a folder for others."""

import json
from dataclasses import asdict, replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist
from torch import nn

from batchlab import batches, cli, data, loop, model, rates
from batchlab.cli import train
from batchlab.cluster import _checkpoints as checkpoints
from batchlab.cluster import _made, _own, _process, training
from batchlab.cluster import _pointer as pointer
from batchlab.cluster._process import EVALUATED, _Rows, factor
from batchlab.cluster._streamed import Streamed

SMALL = {"rows": 1, "length": 64}
TOKENS = {"schedule": "linear", "tokens": 1000, "warmup_tokens": 100}


@pytest.fixture
def alone():
    """A world of this process."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def curve_of(settings):
    return rates.Curve(settings.tokens, settings.warmup_tokens or 0, settings.schedule)


def test_the_rate_follows_tokens_and_without_a_word_ten_steps_warm_up():
    plain, told = training.Settings(), training.Settings(**TOKENS)
    steps = [factor(plain, curve_of(plain), step, 10**6) for step in (0, 4, 9, 50)]
    assert steps == [0.1, 0.5, 1.0, 1.0]
    seen = [factor(told, curve_of(told), 7, tokens) for tokens in (0, 50, 100, 550, 1000, 2000)]
    assert seen == [0.0, 0.5, 1.0, 0.5, 0.0, 0.0], "whatever the number of the step"


def test_adapters_alone_are_trained_and_the_layers_are_compiled_in_their_place(monkeypatch):
    compiled = []
    monkeypatch.setattr(nn.Module, "compile", lambda one: compiled.append(type(one).__name__))
    corpus, plain = data.embedded(), training.Settings(form="plain")
    net, optimizer = _made.made(
        training.Settings(form="plain", lora=4, compile=True), corpus, "cpu"
    )
    trained = [name for name, one in net.named_parameters() if one.requires_grad]
    assert trained and all("lora" in name for name in trained)
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(trained)
    assert compiled == ["LlamaDecoderLayer"] * 2, "a model around another would rename its weights"
    names = [name.split("base_model.model.")[1].replace(".base_layer", "") for name, one
             in net.named_parameters() if "lora" not in name]  # fmt: skip
    whole, _ = _made.made(plain, corpus, "cpu")
    assert names == [name for name, _ in whole.named_parameters()]


def test_a_model_with_a_tokenizer_is_not_trained_on_the_words_of_another(tmp_path):
    """The mistake: text was cut by the embedded tokenizer, and every id was one of the model's."""
    model.small(16, layers=1, hidden=16, heads=2).save_pretrained(tmp_path)
    assert _made.tokenizer_of(training.Settings(model=str(tmp_path))) is None
    data.embedded().tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"has a tokenizer of its own, .* give --data"):
        _made.tokenizer_of(training.Settings(model=str(tmp_path)))
    settings = training.Settings(documents="a.jsonl", model=str(tmp_path))
    assert _made.tokenizer_of(settings) == str(tmp_path)


def test_the_model_of_a_run_can_be_trained_on_by_another(tmp_path, alone):
    """The fault: its tokenizer had no end-of-sequence token, and texts were refused."""
    corpus = data.embedded()
    net = model.small(corpus.vocabulary, layers=1, hidden=16, heads=2)
    _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": 1}, "a run")
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()}
    assert len(modes) == 1, "safetensors hides its file from everybody else"
    texts = tmp_path / "some.txt"
    texts.write_text("a word and more")
    settings = training.Settings(documents=str(texts), model=str(tmp_path / "model"))
    read = data.load(texts, tokenizer=_made.tokenizer_of(settings))
    assert read.tokens.tolist() == data.load(texts).tokens.tolist()
    net = model.load(settings.model)
    assert net.config.eos_token_id == read.tokenizer.eos_token_id == 0
    assert net.generation_config.eos_token_id == 0


def test_a_model_that_cannot_be_removed_is_put_aside_as_a_whole(tmp_path, alone, monkeypatch):
    """The fault: half of it was removed, and the new one could not take its place."""
    corpus = data.embedded()
    net = model.small(corpus.vocabulary, layers=1, hidden=16, heads=2)
    monkeypatch.setattr(_made.shutil, "rmtree", lambda *_, **__: None)
    for step in (1, 2):
        _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": step}, "a run")
    (old,) = tmp_path.glob("model.old_*")
    held = [json.loads((path / "whole.json").read_text()) for path in (old, tmp_path / "model")]
    assert [one["steps"] for one in held] == [1, 2] and not _own.others(tmp_path)


def test_what_somebody_laid_into_the_model_while_it_trained_stays(tmp_path, alone):
    """The fault: it was removed with the old model, without a word."""
    corpus = data.embedded()
    net = model.small(corpus.vocabulary, layers=1, hidden=16, heads=2)
    for step in (1, 2, 3):
        _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": step}, "a run")
        if step == 1:
            (tmp_path / "model" / "eval.json").write_text("mine")
    (old,) = tmp_path.glob("model.old_*")
    assert [(path.name, path.read_text()) for path in old.iterdir()] == [("eval.json", "mine")]
    assert training.notes(tmp_path) == [f"{old} keeps eval.json, which no run wrote"]
    assert _own.others(tmp_path) == [old.name]
    (tmp_path / "model" / "whole.json").unlink()  # a folder of this name that no run made
    _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": 4}, "a run")
    assert training.notes(tmp_path)[1].endswith("model, which no run wrote")
    assert len(_own.others(tmp_path)) == 2


def test_what_somebody_edited_in_the_model_stays(tmp_path, alone):
    """The fault: a card, or a chat template, was written over by the next end of the run."""
    corpus = data.embedded()
    net = model.small(corpus.vocabulary, layers=1, hidden=16, heads=2)
    _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": 1}, "a run")
    config = tmp_path / "model" / "generation_config.json"
    config.write_text('{"temperature": 0.6}')
    _made.write_folder(tmp_path, net, corpus.tokenizer, {"step": 2}, "a run")
    (old,) = tmp_path.glob("model.old_*")
    assert [path.name for path in old.iterdir()] == [
        config.name
    ] and "0.6" not in config.read_text()
    assert training.notes(tmp_path) == [f"{old} keeps {config.name}, which no run wrote"]


def test_the_field_of_documents_is_a_word_of_the_run(tmp_path):
    """The fault: what stands in another field than text could not be trained at all."""
    path = tmp_path / "some.jsonl"
    path.write_text('{"title": "a", "content": "of some words"}\n' * 40)
    settings = training.Settings(documents=str(path), field="title,content", **SMALL)
    corpus = data.load(path, field=["title", "content"])
    assert _Rows(settings).fingerprint == _made.fingerprint(corpus)
    assert "field title,content" in settings.named()
    streamed = Streamed(replace(settings, stream=True))
    assert streamed.corpus.tokens.tolist() == corpus.tokens.tolist()


def test_a_base_with_an_adapter_beside_it_is_refused(tmp_path):
    """The fault: it was left out under --lora; without, torch found nothing to train."""
    model.small(16, layers=1, hidden=16, heads=2).save_pretrained(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    for rank in (None, 4):
        with pytest.raises(ValueError, match=r"adapter_config.json lies beside a model: merge the"):
            _made.made(training.Settings(model=str(tmp_path), lora=rank), data.embedded(), "cpu")


@pytest.mark.parametrize(("rows", "ranks"), [(1, 2), (5, 4), (32, 2), (40, 3)])
def test_all_processes_evaluate_equally_often_and_each_row_once(rows, ranks):
    """The fault: two processes waited nine minutes for each other, with one held-out row."""
    some = data.embedded().fitted(64, "drop")
    held = partial(batches.packed, some, row_length=64)
    these = SimpleNamespace(held_out=[[at] for at in range(rows)], held=held)
    shares = [_process.evaluated(these, rank, ranks) for rank in range(ranks)]
    assert len({len(one) for one in shares}) == 1
    alone = _process.evaluated(these, 0, 1)
    assert len(alone) == min(rows, 32)
    counted = [
        sum(int((part["labels"] != loop.IGNORE).sum()) for part in parts)
        for parts in (alone, [part for one in shares for part in one])
    ]
    assert counted[0] == counted[1] > 0


def test_what_is_laid_into_a_checkpoint_while_it_is_written_is_none_of_its_files(
    tmp_path, alone, monkeypatch
):
    """The fault: it was recorded as the run's, and went with the checkpoint, without a word."""
    settings, write = training.Settings(form="plain", **SMALL), checkpoints.write
    asked = {"steps": 1, "run": settings.named(), "launch": "this", "report_to": []}
    asked |= {"settings": asdict(settings)}
    at = tmp_path / "checkpoints" / checkpoints.name(1)

    def quicker(*given):
        write(*given)
        (at / "mine.txt").write_text("mine")

    monkeypatch.setattr(checkpoints, "write", quicker)
    _process._train(tmp_path, settings, asked, "cpu")
    (last,) = pointer.checkpoints(tmp_path / "checkpoints")
    assert pointer.strangers(at) == ["mine.txt"]
    assert not pointer.damage(at, last.files) and {"curve.jsonl", ".metadata"} < {*last.files}


def test_a_config_alone_is_filled_from_the_seed(tmp_path):
    corpus = data.embedded()
    small = model.small(corpus.vocabulary, layers=1, hidden=16, heads=2)
    small.config.save_pretrained(tmp_path)
    one, again, other = (
        next(_made.made(training.Settings(model=str(tmp_path), form="plain", seed=seed),
                        corpus, "cpu")[0].parameters()) for seed in (1, 1, 2)
    )  # fmt: skip
    assert torch.equal(one, again) and not torch.equal(one, other)


def test_a_life_does_not_train_another_model_than_the_run_is_named_by(tmp_path, alone):
    """The fault: a rank died after the config was edited, and the next life was of that config."""
    small = model.small(data.embedded().vocabulary, layers=1, hidden=16, heads=2)
    small.config.save_pretrained(tmp_path / "net")
    settings = training.Settings(model=str(tmp_path / "net"), form="plain", **SMALL)
    asked = {"steps": 1, "run": settings.named(), "launch": "this", "report_to": []}
    asked |= {"settings": asdict(settings)}
    small.config.rms_norm_eps = 0.01
    small.config.save_pretrained(tmp_path / "net")
    with pytest.raises(ValueError, match=r"net was written to after the run began: bring it back"):
        _process._train(tmp_path, settings, asked, "cpu")
    assert not (tmp_path / "curve.jsonl").exists()
    _process._train(tmp_path, settings, asked | {"run": settings.named()}, "cpu")
    assert training.curve(tmp_path)[0]["step"] == 1


def test_a_folder_of_texts_is_read_by_files_and_told(tmp_path):
    """The mistake: documents longer than a row were left out without a word."""
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("a word\n\n" * (2 + 40 * number))
    asked = {"documents": str(tmp_path), "model": None, **SMALL}
    rows = _Rows(training.Settings(**asked))
    assert len(rows.corpus) == 1
    told = (
        rf"^3 documents of {tmp_path.name}, [\d,]+ tokens; 2 longer than a row of 64: left out \("
    )
    with pytest.raises(ValueError, match=rf"{told}.*--too-long split.*\); 0 rows to train on"):
        rows.of_step(0, 0, 1)
    cut = _Rows(training.Settings(**asked, too_long="split"))
    assert cut.corpus.lengths.max() <= 64 and cut.read.endswith("of 64: split")
    assert cut.corpus.tokens.tolist() == data.load(tmp_path).tokens.tolist(), "not a token is lost"
    lines = _Rows(training.Settings(**asked, document="paragraph"))
    assert len(lines.corpus) == 2 + 42 + 82 and "longer" not in lines.read
    (tmp_path / "0.txt").unlink()
    with pytest.raises(ValueError, match="so that none is left: a larger --length, or --too-long"):
        _Rows(training.Settings(**asked))
    (tmp_path / "3.txt").write_text("")
    with pytest.raises(ValueError, match=r"3\.txt, line 1: field 'text' must be a non-empty text"):
        _Rows(training.Settings(**asked))


def loss_of_held_out(settings, net):
    rows = _Rows(settings)
    return loop.evaluate(net, [rows.held([one]) for one in rows.held_out[:EVALUATED]])


@pytest.mark.slow
def test_a_run_under_fsdp_leaves_a_folder_that_transformers_loads(tmp_path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    settings = training.Settings(form="fsdp", **SMALL, **TOKENS)
    last = training.launch(tmp_path, settings, steps=3, processes=2)[-1]
    net = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert loss_of_held_out(settings, net) == pytest.approx(last["held_out"], rel=1e-5)
    assert loss_of_held_out(settings, model.small(net.config.vocab_size)) > last["held_out"]
    words = "batch size"
    ids = AutoTokenizer.from_pretrained(tmp_path / "model")(words)["input_ids"]
    assert ids == data.embedded().tokenizer.encode(words).ids


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")  # peft asks by an older name
def test_adapters_go_on_after_a_stop_and_the_doctor_and_tensorboard_hear(tmp_path, capsys):
    import peft

    words = ["train", str(tmp_path / "run"), "--rows", "1", "--length", "64", "--lora", "4",
             "--report-to", "tensorboard", "--doctor", "--json", "--steps"]  # fmt: skip
    assert cli.main([*words, "3"]) == cli.main([*words, "5"]) == 0
    said = capsys.readouterr().out
    told = json.loads(said[said.index("{", 1 + said.rindex("\n}\n{")) :])
    assert [one["step"] for one in told["curve"]] == [1, 2, 3, 4, 5] and told["doctor"]["parts"]
    base = model.small(data.embedded().vocabulary)
    net = peft.PeftModel.from_pretrained(base, tmp_path / "run" / "model")
    settings = training.Settings(**SMALL)
    wanted = pytest.approx(told["curve"][-1]["held_out"], rel=1e-5)
    assert loss_of_held_out(settings, net) == wanted
    bytes_of = sum(one.stat().st_size for one in (tmp_path / "run/checkpoints").rglob("__*"))
    assert bytes_of < sum(one.nbytes for one in base.parameters()), (
        "adapters and their states alone"
    )
    events = list((tmp_path / "run/tensorboard").rglob("events*"))
    assert len(events) == 2 and all(one.stat().st_size > 500 for one in events)


@pytest.mark.slow
def test_steps_that_change_nothing_are_told_and_end_the_run_where_all_are(tmp_path, capsys):
    """The faults: with gradients that are no numbers a run went on to its end and was praised, and
    --json said "Out of range float values".
    """
    small = ["--rows", "1", "--length", "64", "--json"]
    words = ["train", str(tmp_path / "wild"), *small, "--rate", "1e30"]
    assert cli.main([*words, "--steps", "4"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one.get("skipped", False) for one in told["curve"]] == [False, True, True, True]
    assert told["curve"][-1]["grad_norm"] is None
    assert told["notes"] == [
        "loss or gradient was not finite in 3 of 4 steps, the first of them step 2: they left the "
        "weights as they were"
    ]
    assert cli.main([*words, "--steps", "40"]) == 1
    assert "not finite in 10 steps up to step 14, which left the" in capsys.readouterr().err


def test_steps_behind_the_end_of_a_schedule_are_told():
    """The fault: they were trained at a rate of 0, and nobody heard of it."""
    lines = [{"step": step, "tokens": 100 * step} for step in (1, 2, 3, 4, 5)]
    assert train._in_vain(lines, rates.Curve(300, 0, "linear")) == [
        "the rate was 0 in 2 of 5 steps, the first of them step 4: --tokens 300 were trained "
        "before it"
    ]
    for silent in (rates.Curve(500, 0, "cosine"), rates.Curve(300, 0, "constant")):
        assert train._in_vain(lines, silent) == []
