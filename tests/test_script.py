"""The reader's script runs as it stands, and each replaced line does what it says."""

import ast

import pytest
import torch

from batchlab.classroom import script


@pytest.fixture(scope="module")
def few():
    return script.documents(many=16)


def test_the_text_and_what_runs_are_the_same_script():
    """By its numbers: arguments, model and documents are those that `run` takes."""
    calls = [one for one in ast.walk(ast.parse(script.TEXT)) if isinstance(one, ast.Call)]
    named = {word.arg: ast.literal_eval(word.value) for one in calls for word in one.keywords
             if isinstance(word.value, ast.Constant)}  # fmt: skip
    config = script.network().config
    for name, value in named.items():
        if name in script.ARGUMENTS:
            assert script.ARGUMENTS[name] == value, name
        elif hasattr(config, name):
            assert getattr(config, name) == value, name
    assert f"range({script.DOCUMENTS})" in script.TEXT and f"[:{script.LENGTH}]" in script.TEXT
    assert len(script.TEXT.splitlines()) <= 21


def test_a_bill_counts_what_the_model_saw(few):
    one = script.run(train_dataset=few.map(script.pad))
    long = [min(len(ids), script.LENGTH) for ids in few["input_ids"]]
    targets = sum(label != -100 for labels in few["labels"] for label in labels[1 : script.LENGTH])
    assert (one.updates, one.micro_batches) == (1, 2)
    assert (one.slots, one.real_tokens, one.targets) == (16 * script.LENGTH, sum(long), targets)
    assert len(one.losses) == 1 and one.waste == 1 - sum(long) / one.slots


def test_a_replaced_line_is_replaced(few):
    def collate(rows):
        seen.append(len(rows))
        names = ("input_ids", "labels")
        return {name: torch.tensor([row[name][:8] for row in rows]) for name in names}

    def loss(outputs, labels, num_items_in_batch=None):
        return outputs.logits.sum() * 0 + 2.0

    seen = []
    one = script.run(
        train_dataset=few.filter(lambda row: len(row["labels"]) >= 8), data_collator=collate,
        compute_loss_func=loss, per_device_train_batch_size=2, gradient_accumulation_steps=1,
        max_steps=3,
    )  # fmt: skip
    assert seen[:3] == [2, 2, 2] and one.losses == (2.0,) * 3 and one.slots == 3 * 16
    assert one.targets > 0, "the model sees no labels where the loss is one's own"


@pytest.mark.slow
def test_the_same_lines_give_the_same_losses(few):
    padded = few.map(script.pad)
    first, second = (script.run(train_dataset=padded, max_steps=1) for _ in range(2))
    assert first.losses == pytest.approx(second.losses, rel=1e-6)
