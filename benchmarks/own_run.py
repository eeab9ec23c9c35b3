"""A Trainer script as people have it, watched by one line: what the README diagnoses.

    python benchmarks/own_run.py [run.jsonl]     then: batchlab doctor run.jsonl

A small Llama, the embedded documents padded to 256 slots, four rows, two micro-batches a step.
"""

import sys
import tempfile

import torch
from transformers import Trainer, TrainingArguments

from batchlab import data, model, monitor

LENGTH, ROWS, ACCUMULATION, STEPS = 256, 4, 2, 24


def padded(documents):
    """One micro-batch, every row padded to the same length."""
    batch = {"input_ids": [], "labels": [], "attention_mask": []}
    for one in documents:
        empty = LENGTH - len(one["input_ids"])
        batch["input_ids"].append([*one["input_ids"], *[0] * empty])
        batch["labels"].append([*one["labels"], *[-100] * empty])
        batch["attention_mask"].append([1] * (LENGTH - empty) + [0] * empty)
    return {name: torch.tensor(rows) for name, rows in batch.items()}


def main() -> None:
    path = sys.argv[1] if len(sys.argv) > 1 else "run.jsonl"
    documents = data.embedded().at_most(LENGTH)
    with tempfile.TemporaryDirectory() as folder:
        Trainer(
            model=model.small(documents.vocabulary),
            args=TrainingArguments(
                folder, max_steps=STEPS, per_device_train_batch_size=ROWS,
                gradient_accumulation_steps=ACCUMULATION, report_to="none", save_strategy="no",
                use_cpu=not torch.cuda.is_available(), remove_unused_columns=False,
            ),
            train_dataset=documents.as_dataset(),
            data_collator=padded,
            callbacks=[monitor.callback(path, probe=True)],
        ).train()  # fmt: skip


if __name__ == "__main__":
    main()
