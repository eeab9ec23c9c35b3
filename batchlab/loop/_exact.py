"""A step that divides by all its target tokens, inside a loop that somebody else wrote.

    a Trainer  ->  the same Trainer, exact
    micro-batches of one step, an Accelerator  ->  each with what its loss is multiplied by

Such loops take the mean loss of each micro-batch, and DistributedDataParallel the mean over ranks.
The step over all of them is

    sum of (mean loss * targets of its micro-batch) / targets of the step, over all ranks

so that each mean is multiplied by  its targets * ranks / targets of the step.  A micro-batch
without a target has no mean: one label is made up for it, and its loss multiplied by 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from batchlab.counts import IGNORE, carry

__all__ = ["exact", "shares"]

SHIFTING = ("ForCausalLM", "ForConditionalGeneration")  # as transformers calls such losses
SIZES = ("get_tp_size", "get_cp_size", "get_sp_size")  # ranks that share one batch


def exact(trainer: Any, *, mean: bool | None = None, shifted: bool | None = None) -> Any:
    """Make a `Trainer` of transformers or TRL divide by the target tokens of the whole step.

    trainer  is changed in place and given back: `loop.exact(trainer).train()`
    mean     whether its loss is the mean over the targets of a micro-batch where nobody gives it
             num_items_in_batch, as that of models is; by default unless it has a
             `compute_loss_func`, which is given the count of the whole step and divides by it
    shifted  whether its loss compares labels[:, 1:]; models of transformers say it themselves

    All micro-batches and all ranks are counted, whatever `average_tokens_across_devices` says. The
    loss that is logged is that of the step. `loop.compare_splits(trainer.training_step, documents)`
    proves it. Refused: DeepSpeed, DataParallel, ranks that share a batch, batches without labels.
    """
    if hasattr(trainer, "_exact"):
        return trainer
    _refuse(trainer)
    trainer._exact = _Exact(trainer, mean, shifted)
    return trainer


def shares(
    micro_batches: Sequence[Mapping[str, Any]], accelerator: Any, *, shifted: bool = True
) -> Iterator[tuple[dict[str, Any], Tensor]]:
    """The micro-batches of one step, each with what its mean loss is to be multiplied by.

    In a loop of accelerate, `accelerator.backward(model(**batch).loss * share)` is then exact over
    micro-batches and ranks; that it divides by gradient_accumulation_steps is accounted for. Every
    rank must come here for each step. `shifted`: the loss compares labels[:, 1:].
    """
    if isinstance(micro_batches, Mapping):
        raise ValueError("the micro-batches of a step are a list, got one batch: write [batch]")
    own = [_targets(one, shifted) for one in micro_batches]
    total = _summed(own, accelerator)
    factor = accelerator.num_processes * accelerator.gradient_accumulation_steps
    for one, targets in zip(micro_batches, own, strict=True):
        batch = one if int(targets) else _with_a_label(one)
        yield dict(batch), carry(targets, total.device) * factor / total


class _Exact:
    """Stands between a Trainer and its micro-batches, its loss and its backward pass."""

    def __init__(self, trainer: Any, mean: bool | None, shifted: bool | None) -> None:
        self.trainer = trainer
        self.mean = trainer.compute_loss_func is None if mean is None else mean
        self.shifted = _shifts(trainer) if shifted is None else shifted
        self.total: Tensor | None = None
        self._samples, self._loss = trainer.get_batch_samples, trainer.compute_loss
        self._backward = trainer.accelerator.backward
        trainer.get_batch_samples, trainer.compute_loss = self.samples, self.loss
        trainer.accelerator.backward = self.backward
        trainer.args.average_tokens_across_devices = True

    def samples(self, *given: Any, **named: Any) -> tuple[list[Any], Tensor]:
        """The micro-batches of one step, and its targets over all ranks."""
        taken, _ = self._samples(*given, **named)
        own = [self._count(one) for one in taken]
        self.total = _summed(own, self.trainer.accelerator)
        return taken, self.total

    def loss(self, model: Any, inputs: dict[str, Any], *given: Any, **named: Any) -> Any:
        """What the Trainer computes, with the share of this micro-batch in the step."""
        if self.total is None or not model.training:
            return self._loss(model, inputs, *given, **named)
        if not self.mean:
            return self._loss(model, inputs, *given, **named | {"num_items_in_batch": self.total})
        targets = self._count(inputs)
        inputs = inputs if int(targets) else _with_a_label(inputs)
        found = self._loss(model, inputs, *given, **named | {"num_items_in_batch": None})
        share = targets * self.trainer.accelerator.num_processes / self.total
        share = share * self._divisor()
        return (found[0] * share, *found[1:]) if isinstance(found, tuple) else found * share

    def backward(self, loss: Tensor, **named: Any) -> Any:
        """Undo what accelerate divides by: transformers 5.2.0 to 5.5.3 told it the accumulation."""
        steps = self.trainer.accelerator.gradient_accumulation_steps
        return self._backward(loss * steps if steps > 1 else loss, **named)

    def _divisor(self) -> int:
        """What `training_step` divides a loss by that it takes for a mean."""
        trainer = self.trainer
        scaled = getattr(trainer, "loss_is_scaled_for_ga", None)
        if scaled is None:
            scaled = trainer.model_accepts_loss_kwargs or trainer.compute_loss_func is not None
        return 1 if scaled else int(trainer.current_gradient_accumulation_steps)

    def _count(self, batch: Mapping[str, Any]) -> Tensor:
        shifted = self.shifted
        labels = batch.get("labels")
        if shifted is None and labels is not None:
            shifted = labels.ndim == 2 and labels.shape == batch["input_ids"].shape
            if shifted and bool((labels[:, 0] != IGNORE).any()):
                raise ValueError(
                    f"{type(self.trainer.model).__name__} does not say whether its loss shifts "
                    "labels, and first labels are trained here: give shifted=True or False"
                )
        return _targets(batch, bool(shifted))


def _refuse(trainer: Any) -> None:
    if not hasattr(trainer, "get_batch_samples") or not hasattr(trainer, "accelerator"):
        raise ValueError(
            f"a Trainer of transformers or TRL is needed, got {type(trainer).__name__}"
        )
    if str(trainer.accelerator.distributed_type).endswith("DEEPSPEED"):
        raise ValueError("under DeepSpeed this was not tried: compare_splits says what it does")
    if trainer.args.n_gpu > 1:
        raise ValueError("DataParallel splits a micro-batch behind the loss: start with torchrun")
    shared = [one for one in SIZES if getattr(trainer, one, lambda: 1)() > 1]
    if shared:
        raise ValueError(f"ranks that share a batch are not counted here ({', '.join(shared)} > 1)")


def _shifts(trainer: Any) -> bool | None:
    """Whether the model's own loss shifts labels; None where it does not say."""
    known = getattr(trainer.model, "loss_type", None)
    if known is None:
        return None
    if getattr(trainer.model.config, "is_encoder_decoder", False):
        return False
    return bool(getattr(trainer, "_loss_shifts_labels", known in SHIFTING))


def _targets(batch: Mapping[str, Any], shifted: bool) -> Tensor:
    """How many labels the loss of this micro-batch is a mean of, () int64."""
    if batch.get("shift_labels") is not None:
        return _counted(batch["shift_labels"])
    labels = batch.get("labels")
    if labels is None:
        raise ValueError("the targets of a step are counted by its labels: this batch has none")
    return _counted(labels[..., 1:] if shifted and labels.ndim > 1 else labels)


def _counted(labels: Tensor) -> Tensor:
    return (labels != IGNORE).sum()


def _summed(own: Sequence[Tensor], accelerator: Any) -> Tensor:
    """The targets of all micro-batches of all ranks; at least 1, for a step without any."""
    mine = torch.zeros((), dtype=torch.int64, device=accelerator.device)
    for one in own:
        mine += carry(one, mine.device)
    total: Tensor = accelerator.reduce(mine, reduction="sum")
    return total.clamp(min=1)


def _with_a_label(batch: Mapping[str, Any]) -> dict[str, Any]:
    """The batch with a label at its end, whose loss will count 0 times.

    In rows of one slot nothing would be compared with it: they get a second slot.
    """
    name = "labels" if batch.get("shift_labels") is None else "shift_labels"
    shape, made = batch[name].shape, dict(batch)
    if len(shape) > 1 and shape[-1] == 1:
        same = [one for one in made if getattr(made[one], "shape", None) == shape]
        made |= {one: torch.cat([made[one], made[one]], dim=-1) for one in same}
    made[name] = made[name].clone()
    made[name][..., -1] = 0
    return made
