"""What each of two ranks runs in `test_exact`: one row a micro-batch, two of them a step."""

import os
import sys
from pathlib import Path

import torch
import transformers

from batchlab import loop
from tests.test_exact import DOCUMENTS, InOrder, collate, flagged, tiny

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
    if os.environ["RANK"] == "0":
        torch.save(found, Path(folder) / "found.pt")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    main(*sys.argv[1:])
