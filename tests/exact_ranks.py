"""What each of two ranks runs in `test_exact`: one row a micro-batch, two of them a step."""

import os
import sys
from pathlib import Path

import datasets
import torch
import transformers

from batchlab import batches, loop
from tests.test_exact import DOCUMENTS, InOrder, collate, flagged, tiny

LENGTHS = [2, 9, 4, 4, 11, 3, 7, 5, 2, 6]
SLOTS = 24
IDS = [[1 + (5 * n + k) % 30 for k in range(size)] for n, size in enumerate(LENGTHS)]
DATASET = datasets.Dataset.from_dict({"input_ids": IDS})
MINE = [{"input_ids": [3]}, *DOCUMENTS[1:8]]


def by_trainer(net, folder, exact):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    arguments = transformers.TrainingArguments(
        output_dir=folder, per_device_train_batch_size=1, gradient_accumulation_steps=2,
        use_cpu=True, report_to=[], disable_tqdm=True, max_grad_norm=0, num_train_epochs=1,
        logging_steps=1, save_strategy="no",
    )  # fmt: skip
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    trainer = InOrder(model=net, args=arguments, data_collator=collate, train_dataset=MINE,
                      optimizers=(optimizer, schedule))  # fmt: skip
    (loop.exact(trainer) if exact else trainer).train()
    return [one["loss"] for one in trainer.state.log_history if "loss" in one]


def by_accelerate(net):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    rank, losses = accelerator.process_index, []
    wrapped, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.5))
    for step in (MINE[:4], MINE[4:]):
        own = [collate([step[number]]) for number in (rank, 2 + rank)]
        total = torch.zeros(())
        for batch, share in loop.shares(own, accelerator):
            with accelerator.accumulate(wrapped):
                loss = wrapped(**batch, use_cache=False).loss * share
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            total += loss.detach() / accelerator.gradient_accumulation_steps
        losses.append(float(accelerator.reduce(total, reduction="mean")))
    return losses


def under_a_budget(folder):
    """What each rank was given, batch by batch."""
    net, seen = tiny(), []
    net.register_forward_pre_hook(
        lambda _, __, given: seen.append(given["input_ids"][given["attention_mask"] > 0].tolist()),
        with_kwargs=True,
    )
    arguments = transformers.TrainingArguments(
        output_dir=folder, use_cpu=True, report_to=[], disable_tqdm=True, num_train_epochs=2,
        save_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(
        net, arguments, train_dataset=DATASET, data_collator=batches.collator("padded")
    )
    batches.budgeted(trainer, SLOTS).train()
    both = [None, None]
    torch.distributed.all_gather_object(both, [sorted(one) for one in seen])
    return both


def main(folder):
    found = {}
    ways = {  # accelerate first: what a Trainer sets is shared with every Accelerator
        "accelerate": (tiny, by_accelerate),
        "takes no count": (flagged, lambda net: by_trainer(net, folder, exact=True)),
        "without": (flagged, lambda net: by_trainer(net, folder, exact=False)),
        "text": (tiny, lambda net: by_trainer(net, folder, exact=True)),
    }
    for name, (make, way) in ways.items():
        net = make()
        losses = way(net)
        found[name] = net.state_dict(), losses
    found["budget"] = under_a_budget(folder)
    if os.environ["RANK"] == "0":
        torch.save(found, Path(folder) / "found.pt")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    main(*sys.argv[1:])
