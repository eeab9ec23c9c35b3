"""Say whether a step is the same in one piece and in several, by its gradient before the update.

The same documents go through the loop of this library and through `Trainer` of the transformers
that is installed here, each in one micro-batch and in several unequal ones. No weight moves. What
differs is called by its name: mean of means, no division, 1/accumulation and others. A model whose
config names a sequence classifier is fed with labels made up here, through `Trainer` only.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchlab import model as models
from batchlab import reading
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

if TYPE_CHECKING:
    from batchlab.loop import Comparison

__all__ = ["arguments", "run"]

LONGEST = 256  # tokens of a document, where there are such: the test needs no long ones
PER_PIECE = 3  # documents, on average
OURS, THEIRS = "loop.train_step", "transformers Trainer"
CLASSIFIER = "ForSequenceClassification"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the model, the data and the number of pieces."""
    options.offer(parser, "model", "data", "field", "accumulation", "device", accumulation=4)


def run(args: argparse.Namespace) -> Answer:
    """Compare both ways on the same documents."""
    import torch

    from batchlab import data, model

    device = options.place(args.device)
    corpus = source.corpus_of(args)
    chosen = _chosen(corpus, PER_PIECE * args.accumulation)
    classifies = _is_classifier(args.model)
    made = _classifier(args.model) if classifies else model.load(args.model, dtype=torch.float32)
    data.require_vocabulary(corpus, made)
    made.to(device)
    found = {} if classifies else {OURS: _through_loop(made, chosen, args.accumulation)}
    found[THEIRS] = _through_trainer(made, chosen, args.accumulation, device, classifies)
    name = f"{args.model or 'small'} on {device}, float32, documents of {corpus.name}"
    return Answer(_as_data(found), _text(found, name))


def _chosen(corpus: Any, count: int) -> list[Any]:
    """Documents from all over the data, not too long where there are enough of them."""
    short = [number for number, length in enumerate(corpus.lengths) if length <= LONGEST]
    numbers = short if len(short) >= count else range(len(corpus))
    if len(numbers) < count:
        raise ValueError(f"{count} documents are needed for so many pieces, got {len(corpus)}")
    return [corpus[numbers[len(numbers) * at // count]] for at in range(count)]


def _through_loop(made: Any, documents: list[Any], pieces: int) -> "Comparison":
    import torch

    from batchlab import loop

    optimizer = torch.optim.SGD(made.parameters(), lr=0.0)

    def step(micro_batches: Sequence[Any]) -> None:
        loop.train_step(made, optimizer, micro_batches)

    return loop.compare_splits(step, documents, model=made, pieces=pieces)


def _through_trainer(
    made: Any, documents: list[Any], pieces: int, device: str, classifies: bool
) -> "Comparison":
    from transformers import Trainer, TrainingArguments

    from batchlab import batches, loop

    def collate(some: Sequence[Any]) -> Any:
        if not classifies:
            return batches.padded(some, range(len(some)))
        made_of = batches.padded([one["input_ids"] for one in some], range(len(some)))
        inputs = {name: made_of[name] for name in ("input_ids", "attention_mask")}
        return inputs | {"labels": _labels(some, made.config.num_labels)}

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            gradient_accumulation_steps=pieces,
            use_cpu=device == "cpu",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(model=made, args=arguments, data_collator=collate)
        return loop.compare_splits(trainer.training_step, documents)


def _labels(documents: Sequence[Any], classes: int) -> Any:
    """A label for each document, made of its length: the gradient is what counts here."""
    import torch

    return torch.tensor([len(one["input_ids"]) % classes for one in documents])


def _is_classifier(name: str | None) -> bool:
    """Whether the config of a folder, or the config itself, names a sequence classifier."""
    path = Path(name or "")
    path = path if path.suffix == ".json" else path / "config.json"
    if name is None or not path.is_file():
        return False
    _, config = reading.json_of(path)
    named = config.get("architectures") if isinstance(config, dict) else None
    return str((named or [""])[0]).endswith(CLASSIFIER)


def _classifier(name: str) -> Any:
    """A classifier with the shape of this config and random weights."""
    import torch
    from transformers import AutoModelForSequenceClassification

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = models.config_of(name)
        if config.pad_token_id is None:
            config.pad_token_id = 0  # what `batches.padded` fills up with
        return AutoModelForSequenceClassification.from_config(config)


def _as_data(found: dict[str, "Comparison"]) -> dict[str, Any]:
    return {
        "steps": [
            {
                "step": name,
                "exact": one.exact,
                "mistakes": list(one.mistakes),
                "verdict": one.verdict,
                "difference": one.difference,
                "length": one.length,
                "documents": list(one.documents),
                "target_tokens": one.target_tokens and list(one.target_tokens),
            }
            for name, one in found.items()
        ]
    }


def _text(found: dict[str, "Comparison"], name: str) -> str:
    return "\n\n".join([name, *(f"{step}\n{one}" for step, one in found.items())])
