"""The fine-tune that everybody has: a script of twenty lines, run with one of them replaced.

    lines replaced  ->  a bill: updates, slots, targets, seconds, losses

`TEXT` is the script as it stands in a file of the reader's. `run()` runs these lines and counts;
what is given to it replaces a line, under the name that the line has in `Trainer`.
"""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchlab import counts, data, report, units

__all__ = ["DOCUMENTS", "LENGTH", "TEXT", "Bill", "bills", "documents", "network", "pad", "run",
           "trainer"]  # fmt: skip

DOCUMENTS, LENGTH = 128, 512
ARGUMENTS: dict[str, Any] = {
    "per_device_train_batch_size": 8, "gradient_accumulation_steps": 4, "num_train_epochs": 1,
    "learning_rate": 3e-3, "logging_steps": 1, "save_strategy": "no", "report_to": "none",
    "disable_tqdm": True,
}  # fmt: skip
TEXT = """\
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

from batchlab import data

def pad(row):  # what padding="max_length", truncation=True make of a document
    ids, labels = row["input_ids"][:512], row["labels"][:512]
    empty = 512 - len(ids)
    return {"input_ids": ids + [0] * empty, "labels": labels + [-100] * empty,
            "attention_mask": [1] * len(ids) + [0] * empty}

set_seed(0)
documents = data.embedded().as_dataset().shuffle(seed=0).select(range(128)).map(pad)
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=4096, hidden_size=64, intermediate_size=256,
    num_hidden_layers=2, num_attention_heads=4))
arguments = TrainingArguments(
    "run", per_device_train_batch_size=8, gradient_accumulation_steps=4,
    num_train_epochs=1, learning_rate=3e-3, logging_steps=1)
trainer = Trainer(model, arguments, train_dataset=documents)
trainer.train()
"""


@dataclass(frozen=True)
class Bill:
    """What a run of the script cost: counted in what it trains on, micro-batch by micro-batch."""

    updates: int
    micro_batches: int
    slots: int
    real_tokens: int
    targets: int  # tokens that the loss looks at
    seconds: float  # of the processor while training; on a GPU, of the clock
    losses: tuple[float, ...]  # as the script logs them, one an update

    @property
    def waste(self) -> float:
        """Padding as a share of the slots."""
        return 1 - self.real_tokens / self.slots

    @property
    def tokens_per_second(self) -> float:
        """Real tokens a second."""
        return self.real_tokens / self.seconds


def pad(row: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return a document stretched, or cut, to `LENGTH` slots: ids, labels and mask."""
    ids, labels = row["input_ids"][:LENGTH], row["labels"][:LENGTH]
    empty = LENGTH - len(ids)
    mask = [1] * len(ids) + [0] * empty
    return {
        "input_ids": ids + [0] * empty, "labels": labels + [-100] * empty, "attention_mask": mask,
    }  # fmt: skip


def documents(source: Any = None, *, many: int = DOCUMENTS) -> Any:
    """Return `many` shuffled documents as a `datasets.Dataset` of input_ids and labels.

    `source` is whatever `data.load` takes, as a file of yours; None means the library's own.
    """
    import datasets

    datasets.disable_progress_bars()  # what stands on stderr costs points
    corpus = data.embedded() if source is None else data.load(source)
    found = corpus.as_dataset().shuffle(seed=0)
    return found.select(range(min(many, len(found))))


def network(name: str | None = None) -> Any:
    """Return the model of the script, freshly drawn; or a pretrained one of yours, by its name."""
    import transformers

    transformers.set_seed(0)
    if name is not None:
        return transformers.AutoModelForCausalLM.from_pretrained(name)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=4096, hidden_size=64, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=4 * LENGTH,
    ))  # fmt: skip


def trainer(
    *, model: Any = None, train_dataset: Any = None, kind: Any = None, **replaced: Any
) -> Any:
    """Return the script's `Trainer`, ready to train.

    What is given replaces a line: `model`, `train_dataset` (nothing else pads it then),
    `data_collator`, `compute_loss_func`, `callbacks`, `optimizers`, and every name of
    `TrainingArguments`. `kind` is a subclass of `Trainer`.
    """
    import torch
    import transformers

    names = ("data_collator", "compute_loss_func", "callbacks", "optimizers", "eval_dataset")
    parts = {name: replaced.pop(name) for name in names if name in replaced}
    on_gpu = torch.cuda.is_available()
    given: dict[str, Any] = (
        ARGUMENTS | {"use_cpu": not on_gpu, "dataloader_pin_memory": on_gpu} | replaced
    )
    made = (kind or transformers.Trainer)(
        model=network() if model is None else model,
        args=transformers.TrainingArguments(tempfile.mkdtemp(prefix="script-"), **given),
        train_dataset=documents().map(pad) if train_dataset is None else train_dataset,
        **parts,
    )
    made.remove_callback(transformers.PrinterCallback)
    return made


def run(**replaced: Any) -> Bill:
    """Train once and return the bill; what is given replaces lines, as in `trainer`.

    The same lines give the same losses to the last digits on the same machine.
    """
    import torch

    ready, seen = trainer(**replaced), []
    step = ready.training_step

    def counted(model: Any, inputs: Any, *more: Any) -> Any:
        seen.append(counts.take(inputs))  # the model sees no labels where the loss is one's own
        return step(model, inputs, *more)

    ready.training_step = counted
    clock = time.perf_counter if torch.cuda.is_available() else time.process_time
    began = clock()
    ready.train()
    seconds = clock() - began
    read = [one.read() for one in seen]
    logged = [one["loss"] for one in ready.state.log_history if "loss" in one]
    return Bill(
        updates=ready.state.global_step,
        micro_batches=len(read),
        slots=sum(one.slots or 0 for one in read),
        real_tokens=sum(one.real_tokens or 0 for one in read),
        targets=sum(one.target_tokens or 0 for one in read),
        seconds=seconds,
        losses=tuple(float(loss) for loss in logged),
    )


def bills(named: Mapping[str, Bill]) -> str:
    """Return the bills as a table, one line each.

    >>> before = Bill(4, 16, 65_536, 17_600, 9_000, 9.2, (8.3, 8.0))
    >>> print(bills({"as it is": before}))
              updates   slots  padding  targets  seconds  real tokens/s  last loss
    --------  -------  ------  -------  -------  -------  -------------  ---------
    as it is        4  65,536   73.1 %    9,000      9.2          1,913      8.000
    """
    names = ["", "updates", "slots", "padding", "targets", "seconds", "real tokens/s", "last loss"]
    rows = [
        [
            name, one.updates, f"{one.slots:,}", units.share(one.waste), f"{one.targets:,}",
            f"{one.seconds:.1f}", f"{one.tokens_per_second:,.0f}", f"{one.losses[-1]:.3f}",
        ]
        for name, one in named.items()
    ]  # fmt: skip
    return report.table(names, rows)
