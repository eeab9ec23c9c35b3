"""Stacks that strangers train with: none dies, and each record says what happened.

Two documented lines, or one callback, around trainers of transformers, TRL and Lightning, around
several ranks, encoders with a decoder, classifiers; models are made in place, tiny.
"""

import subprocess
import sys
import textwrap
import time

import pytest
import torch

from batchlab import cli, counts, doctor, monitor, records, report
from batchlab.monitor import _clock
from tests.clock import Clock
from tests.test_stacks import DOCUMENTS, SETTINGS, padding_collator, tiny, tokenizer

QUIET = pytest.mark.filterwarnings("ignore:.*gradient_checkpointing` is deprecated")  # TRL, PEFT


def cells_of(path):
    return records.read(path).cells()


def bert(kind, **options):
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=64, **options,
    )  # fmt: skip
    return getattr(transformers, f"BertFor{kind}")(config)


def t5():
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    config = T5Config(
        vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
        decoder_start_token_id=0,
    )  # fmt: skip
    return T5ForConditionalGeneration(config)


def trained(net, folder, rows, collate, **options):
    from datasets import Dataset
    from transformers import Trainer, TrainingArguments

    arguments = TrainingArguments(output_dir=str(folder), **SETTINGS | options)
    path = folder / "run.jsonl"
    Trainer(
        model=net, args=arguments, train_dataset=Dataset.from_list(rows), data_collator=collate,
        eval_dataset=Dataset.from_list(rows), callbacks=[monitor.callback(path)],
    ).train()  # fmt: skip
    (cell,) = cells_of(path)
    return cell


def classes(items):
    width = max(len(item["input_ids"]) for item in items)
    ids = torch.zeros(len(items), width, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, item in enumerate(items):
        ids[row, : len(item["input_ids"])] = torch.tensor(item["input_ids"])
        mask[row, : len(item["input_ids"])] = 1
    labels = torch.tensor([item["labels"] for item in items])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


@pytest.mark.parametrize(
    ("label", "options", "targets"),
    [(1, {}, 2), (0.5, {"num_labels": 1}, 2), ([1.0, 0.0, 1.0], {"num_labels": 3}, None)],
)
def test_a_classifier_of_a_trainer_lives_and_a_row_is_a_target(tmp_path, label, options, targets):
    rows = [{"input_ids": one, "labels": label} for one in DOCUMENTS]
    cell = trained(bert("SequenceClassification", **options), tmp_path, rows, classes)
    assert (cell.steps, cell.rows, cell.accumulation) == (3, 2, 2)
    told = cell.counts.target_tokens
    assert told == (None if targets is None else targets * cell.micro_batches)


@pytest.mark.parametrize("kind", ["TokenClassification", "MaskedLM", "causal"])
def test_labels_count_where_the_loss_of_the_model_looks(tmp_path, kind):
    """The judge is the mean loss: it divides by the labels that count."""
    net = tiny() if kind == "causal" else bert(kind)
    labels = torch.tensor([[1, 0, 1, counts.IGNORE], [0, counts.IGNORE, 1, 1]])
    ids = torch.tensor([[5, 6, 7, 8], [9, 8, 7, 6]])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    net.train()
    with monitor.watch(net, optimizer, tmp_path / "run.jsonl"):
        for _ in range(2):
            found = net(input_ids=ids, labels=labels)
            optimizer.step()
    (cell,) = cells_of(tmp_path / "run.jsonl")
    logits, wanted = found.logits, labels
    if kind == "causal":
        logits, wanted = logits[:, :-1], labels[:, 1:]
    summed = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), reduction="sum"
    )
    judged = round((summed / found.loss).item()) if kind != "MaskedLM" else 6
    assert cell.counts.target_tokens == judged == (4 if kind == "causal" else 6)


def test_an_encoder_and_its_decoder_are_both_counted(tmp_path):
    """By hand: rows of 3 and 5 tokens to read, of 2 and 4 to write."""
    net, path = t5(), tmp_path / "run.jsonl"
    ids = torch.tensor([[5, 6, 7, 0, 0], [5, 6, 7, 8, 9]])
    labels = torch.tensor([[5, 1, -100, -100], [5, 6, 7, 1]])
    batch = {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with monitor.watch(net, optimizer, path):
        for _ in range(2):
            net(**batch).loss.backward()
            optimizer.step()
    (cell,) = cells_of(path)
    assert (cell.documents, cell.real_tokens, cell.slots) == (2, 3 + 5 + 2 + 4, 2 * (5 + 4))
    assert cell.counts.target_tokens == 6, "nothing is shifted: the model shifts its inputs"
    assert cell.slot_pairs == 2 * (25 + 16 + 20)
    assert cell.real_pairs == (9 + 4 + 6) + (25 + 16 + 20)
    assert counts.of(batch).slots == 10, "the mistake: the encoder alone"


def closure_loop(net, optimizer, path, batches):
    """Lightning's automatic optimization: forward and backward inside `optimizer.step`."""
    with monitor.watch(net, optimizer, path) as watch:
        for number, batch in enumerate(watch(batches)):

            def closure(batch=batch):
                optimizer.zero_grad()
                loss = net(**batch).loss
                loss.backward()
                return loss

            if number % 2:
                optimizer.step(closure)
            else:
                closure()
    (cell,) = cells_of(path)
    return cell


def test_forward_and_backward_inside_a_step_are_no_optimizer(tmp_path, monkeypatch):
    """On a clock of our own: 2 ms of fixed cost a micro-batch, 0.3 ms of update."""
    from tests.clock import Machine, batch

    machine = Machine(monkeypatch)
    work = [batch(4, 16)] * 12
    cell = closure_loop(machine.net, machine.optimizer, tmp_path / "run.jsonl", work)
    assert (cell.steps, cell.accumulation) == (5, 2)
    assert cell.parts.optimizer_seconds == pytest.approx(5 * 0.0003)
    assert cell.forward_seconds == pytest.approx(cell.seconds - 5 * 0.0003)
    found = doctor.diagnose([cell])
    assert found.of_cause("optimizer").share_of(found.step_seconds) < 0.07
    assert found.of_cause("optimizer").seconds < cell.mean_step_seconds / 2, "the mistake: 96 %"


def module(kind, net, rows):
    import lightning.pytorch as lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = net

        def training_step(self, batch, _):
            return self.model(**batch).loss

        def validation_step(self, batch, _):
            time.sleep(0.01)
            return self.model(**batch).loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

        def train_dataloader(self):
            batches = [classes_of_two(rows, at) for at in range(0, len(rows), 2)]
            return torch.utils.data.DataLoader(batches, batch_size=None)

        val_dataloader = train_dataloader

    return Module()


def classes_of_two(rows, at):
    batch = classes([{"input_ids": one, "labels": 0} for one in rows[at : at + 2]])
    return batch | {"labels": batch["input_ids"]}


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.filterwarnings(
    "ignore:.*(dataloader|litlogger|does not have many workers|exists and is not empty).*"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # its own
@pytest.mark.filterwarnings("ignore:Found .* in eval mode", "ignore:batchlab monitor on Lightning")
def test_a_lightning_trainer_with_its_callback(tmp_path, mode):
    lightning = pytest.importorskip("lightning.pytorch", reason="Lightning is not installed")
    net = tiny().train(mode == "train")
    trainer = lightning.Trainer(
        max_epochs=2, accumulate_grad_batches=2, logger=False, accelerator="cpu",
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        callbacks=[monitor.lightning(tmp_path / "run.jsonl")],
    )  # fmt: skip
    trainer.fit(module(mode, net, DOCUMENTS))
    trainer.save_checkpoint(tmp_path / "at.ckpt")
    (cell,) = cells_of(tmp_path / "run.jsonl")
    assert (cell.steps, cell.rows, cell.accumulation) == (7, 2, 2)
    assert cell.source == "lightning" and cell.forward_seconds > 0 and cell.backward_seconds > 0
    sides = cell.parts.optimizer_seconds + cell.forward_seconds + cell.backward_seconds
    assert sides < cell.seconds and cell.outside_seconds >= 0.08 and cell.saving_seconds > 0
    trainer.fit_loop.max_epochs = 4
    trainer.fit(module(mode, tiny(), DOCUMENTS), ckpt_path=tmp_path / "at.ckpt")
    assert cells_of(tmp_path / "run.jsonl")[1].more["step_before"] == trainer.global_step // 2


def test_a_model_that_trains_in_evaluation_mode_says_so_and_is_recorded(tmp_path, monkeypatch):
    net, path, ours = tiny(), tmp_path / "run.jsonl", Clock()
    monkeypatch.setattr(_clock, "time", ours)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([DOCUMENTS[5]] * 2)
    with (
        pytest.warns(UserWarning, match=r"trains in evaluation mode.*model\.train\(\)") as told,
        monitor.watch(net, optimizer, path),
    ):
        for number in range(4):
            net.train(number == 0)
            net(input_ids=ids, labels=ids).loss.backward()
            ours.sleep(1.0)
            optimizer.step()
    (cell,) = cells_of(path)
    assert (cell.steps, cell.micro_batches, len(told)) == (3, 3, 1)
    assert (cell.parts.host_seconds, cell.parts.away_seconds) == (0, 3), "asleep at its work"


def test_passes_in_evaluation_mode_that_forget_no_grad_are_no_training(tmp_path, monkeypatch):
    net, path, ours = tiny(), tmp_path / "run.jsonl", Clock()
    monkeypatch.setattr(_clock, "time", ours)
    net.get_input_embeddings().register_forward_hook(lambda *_: ours.work(0.001))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ids = torch.tensor([DOCUMENTS[5]] * 2)
    with monitor.watch(net, optimizer, path):
        for _ in range(4):
            net.train()
            net(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            net.eval()
            net(input_ids=ids)
            ours.work(0.02)
    (cell,) = cells_of(path)
    assert (cell.steps, cell.micro_batches) == (3, 3)
    assert cell.outside_seconds == pytest.approx(3 * 0.021) and cell.parts.host_seconds < 0.02


def test_generation_is_a_part_of_its_own_and_no_micro_batch(tmp_path, monkeypatch):
    net, path, ours = tiny(), tmp_path / "run.jsonl", Clock()
    monkeypatch.setattr(_clock, "time", ours)
    net.get_input_embeddings().register_forward_hook(lambda *_: ours.work(0.001))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    prompt = torch.tensor([DOCUMENTS[0]] * 2)

    def later(ids, scores, **_):
        ours.work(0.005)
        return scores

    with monitor.watch(net, optimizer, path):
        for _ in range(4):
            ids = net.generate(
                prompt, max_new_tokens=5, do_sample=False, pad_token_id=0, logits_processor=[later]
            )
            ours.work(0.01)
            with torch.no_grad():
                net(input_ids=ids)  # an old policy's numbers
            net(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
    (cell,) = cells_of(path)
    assert (cell.steps, cell.micro_batches, cell.slots) == (3, 3, 3 * 2 * 10)
    parts = dict(cell.parts.items())
    assert parts["generation"] >= 3 * 4 * 0.005, "what is between two passes is part of it"
    assert parts["scoring"] > 0 and 3 * 0.01 <= parts["host"] < cell.seconds - parts["generation"]
    found = doctor.diagnose([cell])
    assert "generation" in {cause.name for cause in found.causes}
    assert "generation" in report.diagnosis_text(found)


def reward(completions, **_):
    return [float(len(text)) for text in completions]


@QUIET
@pytest.mark.filterwarnings("ignore:The following generation flags:UserWarning")
def test_a_grpo_trainer_lives_and_its_generation_is_seen(tmp_path):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    prompts = Dataset.from_dict({"prompt": [f"w{n} w{n + 1}" for n in range(2, 18)]})
    arguments = GRPOConfig(
        output_dir=str(tmp_path), num_generations=2, max_completion_length=6, bf16=False,
        gradient_checkpointing=False,
        **SETTINGS | {"gradient_accumulation_steps": 1, "max_steps": 3},
    )  # fmt: skip
    path = tmp_path / "run.jsonl"
    GRPOTrainer(
        model=tiny(), args=arguments, reward_funcs=reward, train_dataset=prompts,
        processing_class=tokenizer(), callbacks=[monitor.callback(path)],
    ).train()  # fmt: skip
    (cell,) = cells_of(path)
    assert (cell.steps, cell.rows, cell.accumulation) == (2, 2, 1)
    assert cell.parts.generation_seconds > 0
    assert cell.slots <= 2 * 2 * (2 + 6 + 2), "the mistake: every decoded token a micro-batch"


@QUIET
def test_a_dpo_trainer_counts_both_sides_of_a_pair(tmp_path):
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    pairs = Dataset.from_list(
        [{"prompt": "w2 w3", "chosen": "w4 w5 w6", "rejected": "w7"} for _ in range(16)]
    )
    arguments = DPOConfig(
        output_dir=str(tmp_path), bf16=False, gradient_checkpointing=False, **SETTINGS
    )
    path = tmp_path / "run.jsonl"
    trainer = DPOTrainer(
        model=tiny(), ref_model=tiny(), args=arguments, train_dataset=pairs,
        processing_class=tokenizer(), callbacks=[monitor.callback(path)],
    )  # fmt: skip
    trainer.train()
    (cell,) = cells_of(path)
    assert (cell.steps, cell.rows, cell.accumulation) == (3, 4, 2)


def test_saving_is_no_evaluation(tmp_path):
    cell = trained(
        tiny(), tmp_path, [{"input_ids": one} for one in DOCUMENTS], padding_collator(),
        save_strategy="steps", save_steps=2, eval_strategy="steps", eval_steps=2,
    )  # fmt: skip
    assert 0 < cell.saving_seconds < cell.outside_seconds


RANKS = """
    import sys, time, torch
    import torch.distributed as dist
    from batchlab import model, monitor
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, kind, folder = dist.get_rank(), sys.argv[1], sys.argv[2]
    net = model.small(64, hidden=32, heads=2, layers=2)
    if kind == "ddp":
        net = torch.nn.parallel.DistributedDataParallel(net)
    else:
        from torch.distributed.fsdp import fully_shard
        for layer in net.model.layers:
            fully_shard(layer)
        fully_shard(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    ids = torch.randint(1, 64, (2, 16))
    with monitor.watch(net, optimizer, folder + "/run.jsonl") as watch:
        for step in range(13):
            loss = net(input_ids=ids, labels=ids).loss
            if rank == 1:
                end = time.process_time() + 0.08
                while time.process_time() < end:
                    pass  # its work is longer
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("ddp", marks=pytest.mark.deep), "fsdp"])
def test_two_ranks_write_two_files_and_the_last_one_is_named(tmp_path, kind, capsys):
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(RANKS))
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*launch, str(script), kind, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not (tmp_path / "run.jsonl").exists()
    files = records.files_of(tmp_path / "run.jsonl")
    assert [one.name for one in files] == ["run.rank0.jsonl", "run.rank1.jsonl"]
    visits = [cell for one in files for cell in cells_of(one)]
    assert {(cell.ranks, cell.world_size, cell.data_parallel) for cell in visits} == {
        ((0,), 2, 2), ((1,), 2, 2),
    }  # fmt: skip
    found = doctor.diagnose(visits)
    assert found.steps.number == 12, "the mistake: 24 steps, as if the ranks took turns"
    assert found.straggler.rank == 1 and found.straggler.share > 0.7
    assert "waiting" in {cause.name for cause in found.causes}
    seconds = sum(cell.seconds for cell in visits if cell.ranks == (0,))
    assert doctor.useful_rate(found.subject) == pytest.approx(2 * 12 * 32 / seconds, rel=0.2)
    assert cli.main(["doctor", str(tmp_path / "run.jsonl")]) == 0
    text = capsys.readouterr().out
    assert "2 ranks together" in text and "rank 1 comes last" in text
    assert cli.main(["doctor", *map(str, files), "--json"]) == 0
    assert '"straggler"' in capsys.readouterr().out
    assert cli.main(["doctor", str(files[0])]) == 0
    assert "rank 0 of 2 only" in capsys.readouterr().out
