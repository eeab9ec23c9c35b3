"""Every block of the page *In your stack*, run as it stands in the framework that it names."""

import os
import re
import subprocess
import sys
from collections import Counter
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from batchlab import batches, buckets, lengths, loop, model
from tests.test_stacks import tokenizer

datasets = pytest.importorskip("datasets")
transformers = pytest.importorskip("transformers")

PAGE = (Path(__file__).parent.parent / "book/your_stack.md").read_text()
SIZES = np.random.default_rng(0).integers(2, 40, 60)
IDS = [[1 + (7 * n + k) % 30 for k in range(size)] for n, size in enumerate(SIZES.tolist())]
EVERY = Counter(chain(*IDS))
DATASET = datasets.Dataset.from_dict({"input_ids": IDS})
ROW, SLOTS = 64, 160  # instead of the page's, for small documents


def ran(heading, number=0, **names):
    """The names after a block of the page was run; its tests need smaller rows than it tells."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    block = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[number]
    block = block.replace("2048", str(ROW)).replace("4096", str(SLOTS))
    exec(compile(block, "your_stack.md", "exec"), names)
    return names


def watched():
    """A model, and a list of the token ids of each batch that it is given."""
    net, seen = model.small(32, hidden=16, heads=2, layers=1), []

    def look(_, __, given):
        ids, mask = given["input_ids"], given.get("attention_mask")
        seen.append((ids if mask is None else ids[mask != 0]).flatten().tolist())

    net.register_forward_pre_hook(look, with_kwargs=True)
    return net, seen


def arguments(folder, kind=transformers.TrainingArguments, **options):
    return kind(
        output_dir=str(folder), use_cpu=True, report_to=[], disable_tqdm=True, save_strategy="no",
        num_train_epochs=1, logging_strategy="no", **options,
    )  # fmt: skip


def in_batches(epoch=0):
    """Tokens of each batch under the budget, sorted."""
    wanted = buckets.by_token_budget(SIZES, SLOTS, epoch=epoch)
    return [sorted(chain(*(IDS[number] for number in batch))) for batch in wanted]


def test_a_data_set_and_a_stream_are_packed():
    rows = ran("Pack a data set", dataset=DATASET)["rows"]
    assert Counter(chain(*rows["input_ids"])) == EVERY and max(map(len, rows["input_ids"])) <= ROW
    stream = ran("Pack a data set", 1, dataset=DATASET)["rows"]
    assert Counter(chain(*(row["input_ids"] for row in stream))) == EVERY


def test_a_file_is_streamed_by_two_ranks(tmp_path):
    path, steps = tmp_path / "documents.jsonl", []
    path.write_text("".join(f'{{"input_ids": {ids}}}\n' for ids in IDS))
    for rank in range(2):
        names = {"documents": path, "rank": rank, "ranks": 2, "train_step": steps.append}
        made = ran("A file that no memory holds", **names)
        assert made["stream"].standing.epoch == 1 and len(made["states"]) == 1
    tokens = torch.cat([step["input_ids"][step["input_ids"] > 0] for step in steps])
    assert Counter(tokens.tolist()) == EVERY


WORKER = """
import sys
import datasets
from tests.test_your_stack import ran
datasets.disable_progress_bars()
given = {"dataset": datasets.load_from_disk("data"), "rank": int(sys.argv[1]), "world_size": 2}
ran("Data that no machine holds", **given)
"""


@pytest.mark.slow
def test_two_processes_pack_what_neither_holds(tmp_path):
    DATASET.save_to_disk(tmp_path / "data")
    around = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    words = [sys.executable, "-c", WORKER]
    both = [subprocess.Popen([*words, rank], cwd=tmp_path, env=around) for rank in "01"]
    assert [one.wait() for one in both] == [0, 0]
    parts = [datasets.load_from_disk(tmp_path / "packed" / f"0000{rank}") for rank in (0, 1)]
    found = [Counter(chain(*part["input_ids"])) for part in parts]
    assert found[0] + found[1] == EVERY and all(found), "each document once, both took some"
    assert max(len(row) for part in parts for row in part["input_ids"]) <= ROW


def test_ray_hands_tables_over():
    """A stand-in with the signature of ray 2.60, which was tried by hand."""
    written = []

    class Documents:
        def map_batches(self, function, *, batch_size, batch_format, fn_args):
            assert (batch_size, batch_format) == (16_384, "pyarrow")
            tables = [
                DATASET.select(part).with_format("arrow")[:] for part in (range(30), range(30, 60))
            ]
            made = [function(table, *fn_args) for table in tables]
            return SimpleNamespace(write_parquet=lambda folder: written.extend(made))

    ran("Data that no machine holds", 1, documents=Documents())
    rows = [row for table in written for row in table["input_ids"].to_pylist()]
    assert Counter(chain(*rows)) == EVERY and max(map(len, rows)) <= ROW


def test_trainer_trains_packed_rows(tmp_path, capsys):
    net, seen = watched()
    settings = arguments(tmp_path, per_device_train_batch_size=2)
    given = {"dataset": DATASET, "Trainer": transformers.Trainer}
    made = ran("Trainer: rows without padding", model=net, arguments=settings, **given)
    made["trainer"].train()
    assert Counter(chain(*seen)) == EVERY and len(seen) == -(-len(made["rows"]) // 2)
    settings.remove_unused_columns = True
    with pytest.raises(ValueError, match="remove_unused_columns=False"):
        made["trainer"].train()
    capsys.readouterr()


def test_trainer_reads_a_packed_stream(tmp_path, capsys):
    stream = ran("Pack a data set", 1, dataset=DATASET)["rows"]
    net, seen = watched()
    settings = arguments(tmp_path, remove_unused_columns=False, max_steps=30)
    collate = batches.collator("rows", row_length=ROW)
    transformers.Trainer(net, settings, train_dataset=stream, data_collator=collate).train()
    assert set(EVERY) <= set(chain(*seen)) and {len(one) % ROW for one in seen} == {0}
    capsys.readouterr()


def test_trainer_takes_batches_under_a_budget_and_exact_steps(tmp_path, capsys):
    net, seen = watched()
    given = {"dataset": DATASET, "Trainer": transformers.Trainer}
    settings = arguments(tmp_path, gradient_accumulation_steps=2, data_seed=0)
    made = ran("Trainer: batches under a budget", model=net, arguments=settings, **given)
    ran("Trainer: exact steps", trainer=made["trainer"])
    assert [sorted(one) for one in seen] == in_batches()
    capsys.readouterr()


def budgeted(folder, documents=DATASET, **options):
    """A Trainer under a budget with what a stranger brings, and what its model saw."""
    net, seen = watched()
    settings = arguments(folder, data_seed=0, **options)
    theirs = transformers.DataCollatorWithPadding(tokenizer(), return_tensors="pt")
    trainer = transformers.Trainer(
        net, settings, train_dataset=documents, data_collator=lambda rows: labelled(theirs(rows))
    )
    return batches.budgeted(trainer, SLOTS), seen


def labelled(batch):
    return batch | {"labels": batch["input_ids"].where(batch["attention_mask"] == 1, -100)}


def test_a_trainer_under_a_budget_keeps_its_collator_columns_and_workers(tmp_path, capsys):
    with_texts = DATASET.add_column("text", [f"no tensor {n}" for n in range(len(IDS))])
    trainer, seen = budgeted(tmp_path, with_texts, dataloader_num_workers=1)
    trainer.train()
    trainer.train()  # from its beginning again
    assert [sorted(one) for one in seen] == in_batches() * 2
    capsys.readouterr()


def test_a_trainer_under_a_budget_goes_on_where_it_was_saved(tmp_path, capsys):
    one, seen = budgeted(tmp_path, max_steps=4, save_steps=4)
    one.args.save_strategy = "steps"
    one.train()
    other, rest = budgeted(tmp_path)
    other.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    assert [sorted(one) for one in seen + rest] == in_batches()
    capsys.readouterr()


def test_what_cannot_be_budgeted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a Trainer of transformers or TRL is needed, got Linear"):
        batches.budgeted(torch.nn.Linear(1, 1), SLOTS)
    with pytest.raises(ValueError, match="split_batches of accelerate cuts batches"):
        budgeted(tmp_path, accelerator_config={"split_batches": True})
    with pytest.raises(ValueError, match="need all lengths: a stream has none"):
        budgeted(tmp_path, DATASET.to_iterable_dataset(), max_steps=1)
    with pytest.raises(ValueError, match="has 400 tokens"):
        budgeted(tmp_path, datasets.Dataset.from_dict({"input_ids": [[1] * 400]}))


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing` is deprecated")  # by TRL
@pytest.mark.parametrize("collate", ["its own", "ours"])
def test_trl_trains_packed_rows(collate, tmp_path, capsys):
    trl = pytest.importorskip("trl")
    net, seen = watched()
    more = {"processing_class": tokenizer()}

    def trainer(model, settings, **named):
        if collate == "ours":  # it refuses another collator where it makes flat rows itself
            settings.padding_free = False
            more["data_collator"] = batches.collator("rows")
        return trl.SFTTrainer(model, settings, **named, **more)

    config = partial(arguments, tmp_path, trl.SFTConfig, bf16=False)
    given = {"dataset": DATASET, "SFTTrainer": trainer, "SFTConfig": config}
    loop.exact(ran("TRL", model=net, **given)["trainer"]).train()
    assert Counter(chain(*seen)) == EVERY
    capsys.readouterr()


def test_accelerate_deals_the_batches_of_a_step_to_its_ranks():
    """Two ranks of a world that is only said to be one: each gets its side of every step."""
    from accelerate.data_loader import prepare_data_loader

    sampler = buckets.sampler(SIZES, SLOTS, ranks=2)
    for rank in (0, 1):
        loader = DataLoader(DATASET, batch_sampler=sampler, collate_fn=batches.collator("padded"))
        dealt = prepare_data_loader(
            loader, num_processes=2, process_index=rank, put_on_device=False, even_batches=False
        )
        dealt.set_epoch(1)
        wanted = buckets.sampler(SIZES, SLOTS, ranks=2, rank=rank)
        wanted.set_epoch(1)
        assert list(dealt.batch_sampler) == list(wanted)


def test_a_loop_of_accelerate_takes_the_whole_step():
    from accelerate import Accelerator
    from accelerate.state import GradientState

    GradientState._reset_state()  # a Trainer that ended leaves its loader there, at its end
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    (net, _), (other, _) = watched(), watched()
    collate = batches.collator("padded")
    pieces = [collate([{"input_ids": IDS[0]}]), collate([{"input_ids": one} for one in IDS[1:4]])]
    try:
        made = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.5))
        given = {"micro_batches": pieces, "accelerator": accelerator}
        ran("accelerate", model=made[0], optimizer=made[1], **given)
    finally:
        accelerator.gradient_accumulation_steps = 1  # its state is shared
    loop.train_step(other, torch.optim.SGD(other.parameters(), lr=0.5), pieces)
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)


def test_a_loop_of_ones_own():
    net, seen = watched()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    given = {"dataset": DATASET, "DataLoader": DataLoader}
    made = ran("A loop of your own", model=net, optimizer=optimizer, **given)
    assert [sorted(one) for one in seen] == in_batches()
    assert made["sampler"].state_dict()["epoch"] == 1
    assert lengths.of_dataset(DATASET).tolist() == SIZES.tolist()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # Lightning's own
def test_lightning_takes_both_epoch_after_epoch(tmp_path):
    lightning = pytest.importorskip("lightning")
    net, seen = watched()

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net

        def training_step(self, batch):
            return self.net(**batch).loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    class Quiet:
        @staticmethod
        def Trainer(**options):
            return lightning.Trainer(
                accelerator="cpu", logger=False, enable_checkpointing=False,
                enable_progress_bar=False, enable_model_summary=False,
                default_root_dir=tmp_path, **options,
            )  # fmt: skip

    given = {"dataset": DATASET, "DataLoader": DataLoader, "lightning": Quiet}
    ran("Lightning", module=Module(), **given)
    assert [sorted(one) for one in seen] == in_batches(0) + in_batches(1)
