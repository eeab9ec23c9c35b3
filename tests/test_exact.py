"""Loops that others wrote divide by the targets of the whole step: one line makes them."""

import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import torch
from torch import nn

from batchlab import batches, buckets, loop, model
from batchlab.loop import compare_splits

transformers = pytest.importorskip("transformers")

VOCABULARY = 32
DOCUMENTS = [
    {"input_ids": [1 + (7 * n + k) % 30 for k in range(length)], "label": n % 3}
    for n, length in enumerate((3, 17, 9, 5, 21, 2, 12, 7, 30, 4))
]
SHAPE = {"vocab_size": VOCABULARY, "hidden_size": 16, "intermediate_size": 32,
         "num_hidden_layers": 1, "num_attention_heads": 2}  # fmt: skip
collate = batches.collator("padded")


def tiny():
    return model.small(VOCABULARY, hidden=16, heads=2, layers=1)


def trainer_of(net, folder, accumulation=4, kind=transformers.Trainer, **options):
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), gradient_accumulation_steps=accumulation, use_cpu=True,
        report_to=[], disable_tqdm=True,
    )  # fmt: skip
    return kind(model=net, args=arguments, **{"data_collator": collate, **options})


def flagged():
    """A model that does not take the count, as `accepts_loss_kwargs = False` says."""
    net = tiny()
    net.accepts_loss_kwargs = False
    return net


class Plain(nn.Module):
    """A model of nobody's: a forward without further arguments, the mean loss."""

    def __init__(self):
        super().__init__()
        self.inner = tiny()

    def forward(self, input_ids, attention_mask, labels):
        logits = self.inner(input_ids=input_ids, attention_mask=attention_mask).logits
        return {"loss": loop.summed_loss(logits, labels) / (labels[:, 1:] != -100).sum()}


def masked():
    torch.manual_seed(0)
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return transformers.BertForMaskedLM(transformers.BertConfig(**SHAPE, **dropout))


def classifier():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**SHAPE, num_labels=3, pad_token_id=0)
    return transformers.LlamaForSequenceClassification(config)


def labelled(documents):
    batch = collate([one["input_ids"] for one in documents])
    return batch | {"labels": torch.tensor([one["label"] for one in documents])}


def own_mean(outputs, labels, num_items_in_batch=None):
    """A `compute_loss_func` that divides by what it is told."""
    return loop.summed_loss(outputs["logits"], labels) / num_items_in_batch


class OwnLoss(transformers.Trainer):
    """A common way: a `compute_loss` that gives a mean and ignores the count."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        found = model(**{name: inputs[name] for name in ("input_ids", "attention_mask", "labels")})
        return (found.loss, found) if return_outputs else found.loss


CASES = {  # what makes it, and what is wrong without the line
    "text": (tiny, {}, ()),
    "takes no count": (flagged, {}, ("mean of means",)),
    "plain module": (Plain, {}, ("mean of means",)),
    "masked": (masked, {}, ("no division",)),
    "classifier": (classifier, {"data_collator": labelled}, ("no division",)),
    "own compute_loss": (tiny, {"kind": OwnLoss}, ("no division",)),
    "compute_loss_func": (tiny, {"compute_loss_func": own_mean}, ()),
}


@pytest.mark.parametrize("name", CASES)
def test_a_trainer_is_exact_by_one_line(name, tmp_path):
    make, options, mistakes = CASES[name]
    trainer = trainer_of(make(), tmp_path, **options)
    assert compare_splits(trainer.training_step, DOCUMENTS).mistakes == mistakes
    found = compare_splits(loop.exact(trainer).training_step, DOCUMENTS)
    assert found.exact and found.difference < 2e-6, found
    if found.scale is not None:
        assert found.scale == pytest.approx(1, abs=1e-4)
    assert loop.exact(trainer) is trainer and trainer.args.gradient_accumulation_steps == 4


def test_accelerate_dividing_once_more_is_undone(tmp_path):
    """transformers 5.2.0 to 5.5.3 handed the accumulation to accelerate as well."""
    trainer = trainer_of(tiny(), tmp_path)
    trainer.accelerator.gradient_accumulation_steps = 4
    try:
        assert compare_splits(trainer.training_step, DOCUMENTS).mistakes == ("1/accumulation",)
        assert compare_splits(loop.exact(trainer).training_step, DOCUMENTS).exact
    finally:
        trainer.accelerator.gradient_accumulation_steps = 1  # its state is shared


class InOrder(transformers.Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def trained(make, documents, folder, exact=True):
    """Weights and logged losses of a run: two micro-batches of two rows a step, plain descent."""
    net = make()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=2, gradient_accumulation_steps=2,
        use_cpu=True, report_to=[], disable_tqdm=True, max_grad_norm=0, num_train_epochs=1,
        logging_steps=1, save_strategy="no", eval_strategy="epoch", logging_nan_inf_filter=False,
    )  # fmt: skip
    trainer = InOrder(
        model=net, args=arguments, data_collator=collate, train_dataset=documents,
        eval_dataset=documents[:2],
        optimizers=(optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)),
    )  # fmt: skip
    (loop.exact(trainer) if exact else trainer).train()
    return net.state_dict(), [one["loss"] for one in trainer.state.log_history if "loss" in one]


def by_hand(documents, sizes=(4, 4, 2)):
    """The same by the library's own step, all documents of a step in one micro-batch."""
    net, losses = tiny(), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for size in sizes:
        some, documents = documents[:size], documents[size:]
        batch = batches.padded(some, range(len(some)))
        losses.append(loop.train_step(net, optimizer, [batch]).loss)
    return net.state_dict(), losses


def close(one, other):
    return all(torch.allclose(one[name], other[name], atol=1e-6) for name in other)


@pytest.mark.parametrize("make", [tiny, flagged])
def test_a_whole_run_is_that_of_the_library_and_so_is_its_log(make, tmp_path, capsys):
    """The last step has fewer documents, and one micro-batch of the first has no target."""
    documents = [{"input_ids": [3]}, {"input_ids": [9]}, *DOCUMENTS[2:]]
    weights, losses = by_hand(documents)
    found, logged = trained(make, documents, tmp_path)
    assert close(found, weights)
    assert logged == pytest.approx(losses, abs=2e-4)
    capsys.readouterr()  # what Trainer prints


def test_a_run_without_the_line_is_another(tmp_path, capsys):
    weights, _ = by_hand(DOCUMENTS)
    assert not close(trained(flagged, DOCUMENTS, tmp_path, exact=False)[0], weights)
    capsys.readouterr()


def test_one_batch_is_no_list_of_micro_batches():
    one = {"input_ids": torch.ones(1, 3, dtype=torch.long)}
    for call in (lambda: list(loop.shares(one, None)), lambda: loop.train_step(None, None, one)):
        with pytest.raises(ValueError, match=r"are a list, got one batch: write \[batch\]"):
            call()


def test_shares_make_a_loop_of_accelerate_exact():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    net = tiny()
    net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))

    def step(micro_batches):
        for batch, share in loop.shares(micro_batches, accelerator):
            with accelerator.accumulate(net):
                accelerator.backward(net(**batch, use_cache=False).loss * share)
        optimizer.step()
        optimizer.zero_grad()

    try:
        ids = [one["input_ids"] for one in DOCUMENTS]
        assert compare_splits(step, ids, model=net).exact
        assert compare_splits(step, [[3], *ids], model=net, pieces=4).exact, "one has no target"
    finally:
        accelerator.gradient_accumulation_steps = 1


def test_what_cannot_be_counted_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="a Trainer of transformers or TRL is needed, got int"):
        loop.exact(3)

    def first(some):
        """Nothing is ignored but padding."""
        batch = collate(some)
        return batch | {
            "labels": batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        }

    def bare(some):
        return {name: collate(some)[name] for name in ("input_ids", "attention_mask")}

    trainer = loop.exact(trainer_of(Plain(), tmp_path, data_collator=first))
    with pytest.raises(ValueError, match="Plain does not say whether its loss shifts labels"):
        compare_splits(trainer.training_step, DOCUMENTS)
    trainer = loop.exact(trainer_of(Plain(), tmp_path, data_collator=first), shifted=True)
    assert compare_splits(trainer.training_step, DOCUMENTS).exact
    trainer = loop.exact(trainer_of(tiny(), tmp_path, data_collator=bare))
    with pytest.raises(ValueError, match="counted by its labels: this batch has none"):
        compare_splits(trainer.training_step, DOCUMENTS)
    trainer = trainer_of(tiny(), tmp_path)
    monkeypatch.setattr(trainer.args, "_n_gpu", 2)
    with pytest.raises(ValueError, match="DataParallel splits a micro-batch"):
        loop.exact(trainer)
    monkeypatch.undo()
    monkeypatch.setattr(trainer, "get_tp_size", lambda: 2, raising=False)
    with pytest.raises(ValueError, match=r"ranks that share a batch .*get_tp_size > 1"):
        loop.exact(trainer)


def under_a_budget(rank):
    """Tokens of each batch of a rank, in two epochs of `Trainer`, whose seed is 42."""
    from tests.exact_ranks import IDS, LENGTHS, SLOTS

    sampler = buckets.sampler(LENGTHS, SLOTS, ranks=2, rank=rank, seed=42)
    made = [batch for _ in range(2) for batch in sampler]
    return [sorted(chain(*(IDS[number] for number in batch))) for batch in made]


@pytest.mark.slow
def test_two_ranks_take_the_step_of_one(tmp_path):
    """Two processes under torchrun: unequal targets on the ranks, a micro-batch without any."""
    script = Path(__file__).with_name("exact_ranks.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    at = os.environ | {"PYTHONPATH": str(script.parent.parent)}
    subprocess.run([*command, script, tmp_path], check=True, capture_output=True, env=at)
    weights, losses = by_hand([{"input_ids": [3]}, *DOCUMENTS[1:8]], sizes=(4, 4))
    found = torch.load(tmp_path / "found.pt")
    assert found.pop("budget") == [under_a_budget(rank) for rank in (0, 1)]
    assert not close(found.pop("without")[0], weights), "without the line it is another step"
    for name, (theirs, logged) in found.items():
        assert close(theirs, weights), name
        assert logged == pytest.approx(losses, abs=2e-4), name
