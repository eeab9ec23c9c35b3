"""What a model is trained for: which class makes it of a config, and what its labels look like.

    model or config  ->  Task

A causal LM takes the step of the library, whose loss it knows. Every other model brings its own
loss: a classifier, one that fills gaps, an encoder with a decoder, or any with a batch of yours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["CAUSAL", "Batch", "Task", "own_step", "task_of"]

Batch = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """The class of transformers that makes it, and whether a label stands for a slot or a row."""

    name: str
    auto: str
    per_row: bool = False


CAUSAL = Task("causal LM", "AutoModelForCausalLM")
TASKS = {  # ends of the names of classes
    "ForSequenceClassification": Task("classifier", "AutoModelForSequenceClassification", True),
    "ForTokenClassification": Task("token classifier", "AutoModelForTokenClassification"),
    "ForMaskedLM": Task("masked LM", "AutoModelForMaskedLM"),
}
BOTH = Task("encoder with decoder", "AutoModelForSeq2SeqLM")


def task_of(source: Any) -> Task:
    """The task of a model by its class, of a config by the class that it names."""
    config, names = source, getattr(source, "architectures", None) or [""]
    if isinstance(source, nn.Module):
        base: Any = source
        base = base.get_base_model() if hasattr(base, "get_base_model") else base  # peft
        config, names = getattr(base, "config", None), [type(base).__name__]
    for end, task in TASKS.items():
        if names[0].endswith(end):
            return task
    return BOTH if getattr(config, "is_encoder_decoder", False) else CAUSAL


def labels_of(task: Task, ids: Tensor) -> Tensor:
    """One label a row, of class 0, or one a slot."""
    return ids.new_zeros(len(ids)) if task.per_row else ids % 2 if "token" in task.name else ids


def own_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: Sequence[Batch],
    *,
    autocast: torch.dtype | None,
    on_micro_batch: Callable[[int], None] | None = None,
) -> None:
    """A step of a model that brings its loss: each micro-batch counts alike, as in a Trainer."""
    kind = next(model.parameters()).device.type
    for number, batch in enumerate(micro_batches):
        with torch.autocast(kind, autocast or torch.bfloat16, enabled=autocast is not None):
            loss = model(**batch).loss / len(micro_batches)
        loss.backward()
        del loss
        if on_micro_batch:
            on_micro_batch(number)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
