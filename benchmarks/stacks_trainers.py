"""Trainers that people use, watched by one callback: transformers, TRL, PEFT, Lightning.

Way, a file for the record  ->  Timed
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import torch

from batchlab import model, monitor
from benchmarks import stacks_plants as plants
from benchmarks.stacks_loops import small, together
from benchmarks.stacks_plants import EACH, VOCABULARY, Plant, Timed, Update, Way, documents

__all__ = ["TRAINERS"]

COMMON = {
    "max_steps": plants.STEPS, "report_to": [], "use_cpu": True, "bf16": False,
    "logging_strategy": "no", "train_sampling_strategy": "sequential", "save_total_limit": 1,
    "remove_unused_columns": False, "disable_tqdm": True, "max_grad_norm": 0.0,
}  # fmt: skip


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": 0, "<eos>": 1} | {f"w{n}": n for n in range(2, VOCABULARY)}
    made = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")


def text(ids: list[int]) -> str:
    return " ".join(f"w{one}" for one in ids)


def settings(way: Way, folder: Path) -> dict[str, Any]:
    """What all trainers are told of a way."""
    found = COMMON | {
        "output_dir": str(folder), "per_device_train_batch_size": way.rows,
        "gradient_accumulation_steps": way.accumulation,
        "gradient_checkpointing": way.checkpointing, "per_device_eval_batch_size": EACH,
        "eval_strategy": "steps" if way.plant == "evaluation" else "no",
        "save_strategy": "steps" if way.plant == "saving" else "no",
        "eval_steps": plants.BETWEEN, "save_steps": plants.BETWEEN,
    }  # fmt: skip
    if way.checkpointing:
        found["gradient_checkpointing_kwargs"] = {"use_reentrant": False}
    if way.plant == "host":
        found |= {"logging_strategy": "steps", "logging_steps": 1}
    return found


def site(plant: Plant) -> Any:
    """A callback of a user: a slow logger, and texts that are written to look at."""
    from transformers import TrainerCallback

    class Site(TrainerCallback):
        def on_log(self, *_: Any, **__: Any) -> None:
            plant.work("host")

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if plant.way.plant == "generation":
                with plant.timed("generation"):
                    prompt = torch.arange(4, 36).repeat(2, 1)
                    kwargs["model"].generate(prompt, max_new_tokens=3, pad_token_id=0)

    return Site()


def trained(trainer: Any, plant: Plant, path: Path, embedding: Any) -> Timed:
    """Train as planted, watched."""
    collate = trainer.data_collator

    def fed(items: Any) -> Any:
        plant.sleep("input")
        return collate(items)

    def slow(*_: Any) -> None:
        if torch.is_grad_enabled():
            plant.sleep("away")

    trainer.data_collator = fed
    for name, verb in (("evaluation", "evaluate"), ("saving", "_save_checkpoint")):
        setattr(trainer, verb, plant.timed(name)(getattr(trainer, verb)))
    trainer.add_callback(monitor.callback(path, every=plants.BETWEEN, probe=plant.way.probe))
    trainer.add_callback(site(plant))
    hook = embedding.register_forward_hook(slow)
    try:
        trainer.train()
    finally:
        hook.remove()
    return plant.window()


def updates(net: Any, plant: Plant) -> tuple[Any, Any]:
    """The optimizer, and a rate that stays."""
    optimizer = Update([one for one in net.parameters() if one.requires_grad], plant)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)


class HF:
    """The Trainer of transformers, a small Llama."""

    multiple = 1

    def __init__(self) -> None:
        self.net = self.made()

    def made(self) -> Any:
        return small()

    def items(self, way: Way) -> list[dict[str, Any]]:
        return [{"input_ids": one} for one in documents(way, self.multiple)]

    def collate(self, items: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return together([one["input_ids"] for one in items])

    def trainer(self, way: Way, folder: Path, **more: Any) -> Any:
        from transformers import Trainer, TrainingArguments

        arguments = TrainingArguments(**settings(way, folder))
        return Trainer(args=arguments, data_collator=self.collate, **more)

    def __call__(self, way: Way, path: Path) -> Timed:
        from datasets import Dataset

        plant, items = Plant(way), self.items(way)
        trainer = self.trainer(
            way, path.with_suffix(""), model=self.net, train_dataset=Dataset.from_list(items),
            eval_dataset=Dataset.from_list(items[: 2 * EACH]), optimizers=updates(self.net, plant),
        )  # fmt: skip
        model.set_checkpointing(self.net, way.checkpointing)
        if answers := self.answers(plant):
            self.net.generate = answers
        try:
            return trained(trainer, plant, path, self.embedding())
        finally:
            vars(self.net).pop("generate", None)

    def embedding(self) -> Any:
        """The part of the model that each forward pass calls first."""
        return self.net.get_input_embeddings()

    def answers(self, plant: Plant) -> Any:
        """How this stack generates; None for a model that does not."""
        return getattr(self.net, "generate", None)


class PEFT(HF):
    """The same with adapters: LoRA on all linear layers."""

    def made(self) -> Any:
        from peft import LoraConfig, get_peft_model

        return get_peft_model(small(), LoraConfig(target_modules="all-linear"))


class EncoderDecoder(HF):
    """The same with a small T5 that reads a document and writes half of it."""

    def made(self) -> Any:
        from transformers import T5Config, T5ForConditionalGeneration

        torch.manual_seed(0)
        shape = {"d_model": 64, "d_kv": 16, "d_ff": 256, "num_layers": 2, "num_heads": 4}
        config = T5Config(vocab_size=VOCABULARY, decoder_start_token_id=0, **shape)
        return T5ForConditionalGeneration(config).train()

    def embedding(self) -> Any:
        return self.net.encoder.embed_tokens  # a T5 has one of each half beside the shared one

    def collate(self, items: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        read = together([one["input_ids"] for one in items])
        wanted = together([one["input_ids"][: len(one["input_ids"]) // 2] for one in items])
        return read | {"labels": wanted["labels"]}


class Classifier(HF):
    """The same with a small BERT and a label a row."""

    def made(self) -> Any:
        from transformers import BertConfig, BertForSequenceClassification

        torch.manual_seed(0)
        shape = {"hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2}
        config = BertConfig(vocab_size=VOCABULARY, num_attention_heads=4, **shape)
        return BertForSequenceClassification(config).train()

    def collate(self, items: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        labels = torch.tensor([one["input_ids"][0] % 2 for one in items])
        return super().collate(items) | {"labels": labels}


class SFT(HF):
    """TRL's SFTTrainer: padded, or without padding in one row, or packed before the run."""

    style: ClassVar[dict[str, Any]] = {}

    def trainer(self, way: Way, folder: Path, **more: Any) -> Any:
        from trl import SFTConfig, SFTTrainer

        how = {"max_length": max(plants.LENGTHS), **self.style}
        arguments = SFTConfig(**settings(way, folder) | how)
        return SFTTrainer(args=arguments, processing_class=tokenizer(), **more)


class PaddingFree(SFT):
    """The documents of a micro-batch as one row."""

    style: ClassVar[dict[str, Any]] = {"padding_free": True, "max_length": None}


class Packed(SFT):
    """Documents in full rows."""

    style: ClassVar[dict[str, Any]] = {"packing": True}


class DPO(HF):
    """TRL's DPOTrainer: pairs of answers, beside a reference."""

    def __init__(self) -> None:
        super().__init__()
        self.reference = small()

    def items(self, way: Way) -> list[dict[str, Any]]:
        pairs = documents(way)
        halves = [(one[: len(one) // 2], one[len(one) // 2 :]) for one in pairs]
        return [
            {"prompt": text(asked), "chosen": text(given), "rejected": text(given[::-1])}
            for asked, given in halves
        ]

    def trainer(self, way: Way, folder: Path, **more: Any) -> Any:
        from trl import DPOConfig, DPOTrainer

        arguments = DPOConfig(**settings(way, folder) | {"max_length": None})
        return DPOTrainer(
            args=arguments, ref_model=self.reference, processing_class=tokenizer(), **more
        )


class GRPO(HF):
    """TRL's GRPOTrainer: two answers of eight tokens to each prompt.

    Its own generation is the planted one; the cure is an engine that has the answers already.
    """

    answer = 8
    ways: ClassVar[dict[str, tuple[Way, Way]]] = {"generation": (Way("answers"), Way("written"))}

    def items(self, way: Way) -> list[dict[str, Any]]:
        return [{"prompt": text(one)} for one in documents(way)[::2]]

    def trainer(self, way: Way, folder: Path, **more: Any) -> Any:
        from trl import GRPOConfig, GRPOTrainer

        arguments = GRPOConfig(
            **settings(way, folder), num_generations=2, max_completion_length=self.answer,
            shuffle_dataset=False,
        )  # fmt: skip
        return GRPOTrainer(
            args=arguments, reward_funcs=lambda completions, **_: [1.0] * len(completions),
            processing_class=tokenizer(), **more,
        )  # fmt: skip

    def answers(self, plant: Plant) -> Any:
        if plant.way.plant != "written":
            return plant.timed("answers")(self.net.generate)

        def written(input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
            found = torch.full((len(input_ids), self.answer), 5)
            return torch.cat([input_ids, found], dim=1)

        return written


TRAINERS: dict[str, Callable[[], Any]] = {
    "Trainer": HF,
    "TRL SFT, padded": SFT,
    "TRL SFT, padding-free": PaddingFree,
    "TRL SFT, packed": Packed,
    "TRL DPO": DPO,
    "TRL GRPO": GRPO,
    "PEFT": PEFT,
    "encoder-decoder": EncoderDecoder,
    "classifier": Classifier,
}
