"""One optimizer step, taken over as many micro-batches as memory needs.

    model, micro-batches  ->  StepReport

The gradient of a batch is a sum over its target tokens, divided by how many there are. A sum can
be collected in pieces and so can a count, therefore

    gradient  =  sum of micro-batch gradients / target tokens of the whole step

is exact however the batch is split. Averaging the means of the micro-batches is not: a token in a
nearly empty micro-batch would outweigh one in a full micro-batch.

Shapes, by suffix, in this file
    B  rows of a micro-batch    T  positions in a row    V  vocabulary entries
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab.families import require_packable

__all__ = [
    "IGNORE",
    "MicroBatch",
    "StepReport",
    "evaluate",
    "logits_of",
    "summed_loss",
    "train",
    "train_step",
]

IGNORE = -100  # the label of a position that is not trained; PyTorch's default

MicroBatch = Mapping[str, Tensor]  # see batchlab.batches


@dataclass(frozen=True)
class StepReport:
    """What one optimizer step did, as totals over the step (and over processes, if any)."""

    loss_sum: float  # nats
    target_tokens: int
    grad_norm: float  # before clipping
    micro_batches: int  # of this process
    slots: int  # of this process
    skipped: bool = False  # the gradient was not finite, so the weights were left alone

    @property
    def loss(self) -> float:
        """Nats per target token."""
        return self.loss_sum / self.target_tokens


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: Iterable[MicroBatch],
    *,
    max_grad_norm: float = math.inf,
    autocast: torch.dtype | None = None,
    scaler: torch.amp.GradScaler | None = None,
    accumulate_in: torch.dtype | None = None,
    sum_over_processes: Callable[[Tensor], Tensor] | None = None,
    on_micro_batch: Callable[[int], None] | None = None,
) -> StepReport:
    """Add up the gradients of `micro_batches`, then update the weights once.

    autocast            runs the forward pass in this dtype (torch.bfloat16, torch.float16)
    scaler              scales an fp16 loss, so that small gradients do not vanish
    accumulate_in       collects gradients in this dtype outside `.grad`: 512 equal bf16 gradients
                        add up to 256 of them in bf16, and to 512 in float32
    sum_over_processes  sums a tensor over processes; called once for the count, once per gradient
                        and once for the loss, so that the step is exact however rows are spread
    on_micro_batch      is called with the number of each finished micro-batch

    The targets of every micro-batch are counted before the first backward pass, so all of them are
    held at once: keep them on the CPU. Nothing waits for the device until all are enqueued. A step
    whose gradient is not finite leaves the weights alone and says so.
    """
    if scaler and accumulate_in:
        raise ValueError("accumulate_in is for bf16 weights; an fp16 scaler needs fp32 weights")
    batches = list(micro_batches)
    device = next(model.parameters()).device
    total = sum_over_processes or _unchanged
    target_tokens = int(total(_count_targets(batches, device)).item())
    if target_tokens == 0:
        raise ValueError("nothing to learn: every label of this step is IGNORE")

    gradients = _Gradients(model, accumulate_in)
    optimizer.zero_grad(set_to_none=True)
    step_loss = torch.zeros((), device=device)
    for number, batch in enumerate(batches):
        loss = summed_loss(logits_of(model, batch, autocast=autocast), batch["labels"].to(device))
        scaled = loss / target_tokens
        (scaler.scale(scaled) if scaler else scaled).backward()
        gradients.collect()
        step_loss += loss.detach()  # stays on the device: no waiting inside the loop
        if on_micro_batch:
            on_micro_batch(number)

    grads = gradients.total(total)
    if scaler:
        gradients.hand_over()
        scaler.unscale_(optimizer)
    norm = nn.utils.get_total_norm(grads)
    loss_sum, grad_norm = torch.stack([total(step_loss).double(), norm.double()]).tolist()
    finite = math.isfinite(grad_norm)
    if finite:
        gradients.scale_by(min(1.0, max_grad_norm / (grad_norm + 1e-6)))
        gradients.hand_over()
        scaler.step(optimizer) if scaler else optimizer.step()
    if scaler:
        scaler.update()
    slots = sum(batch["input_ids"].numel() for batch in batches)
    return StepReport(loss_sum, target_tokens, grad_norm, len(batches), slots, not finite)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    steps: Iterable[Iterable[MicroBatch]],
    *,
    schedule: Callable[[int], float] | None = None,
    evaluation: Callable[[int], None] | None = None,
    evaluate_every: int = 0,
    **options: Any,
) -> list[StepReport]:
    """Take one optimizer step for each group of micro-batches in `steps`.

    `schedule` gives a factor of the learning rate for each step number, from 0; it advances per
    optimizer step, never per micro-batch. `evaluation` is called with the number of finished
    steps, every `evaluate_every` steps. Further options go to `train_step`.
    """
    base = [group["lr"] for group in optimizer.param_groups]
    reports = []
    for number, micro_batches in enumerate(steps):
        if schedule:
            for group, rate in zip(optimizer.param_groups, base, strict=True):
                group["lr"] = rate * schedule(number)
        reports.append(train_step(model, optimizer, micro_batches, **options))
        if evaluation and evaluate_every and len(reports) % evaluate_every == 0:
            evaluation(len(reports))
    return reports


@torch.no_grad()
def evaluate(
    model: nn.Module, micro_batches: Iterable[MicroBatch], *, autocast: torch.dtype | None = None
) -> float:
    """Loss in nats per target token over all `micro_batches`; dropout is off."""
    was_training = model.training
    model.eval()
    device = next(model.parameters()).device
    loss, targets = torch.zeros((), device=device), 0
    try:
        for batch in micro_batches:
            labels = batch["labels"].to(device)
            loss += summed_loss(logits_of(model, batch, autocast=autocast), labels)
            targets += int(_count_targets([batch], device).item())
    finally:
        model.train(was_training)
    if targets == 0:
        raise ValueError("nothing to evaluate: every label is IGNORE")
    return loss.item() / targets


def logits_of(
    model: nn.Module, batch: MicroBatch, *, autocast: torch.dtype | None = None
) -> Tensor:
    """Call the model on one micro-batch, in the one way that keeps packed documents apart.

    No cache and no attention mask beside packed rows: with either, transformers lets the documents
    of a row attend to each other without a word.
    """
    device = next(model.parameters()).device
    inputs = {name: value.to(device, non_blocking=True) for name, value in batch.items()}
    inputs.pop("labels", None)
    cu_seqlens, longest = inputs.pop("cu_seqlens", None), inputs.pop("max_length", None)
    if cu_seqlens is not None:
        require_packable(model)
        if "attention_mask" in inputs:
            raise ValueError(
                "a packed micro-batch must not carry an attention_mask: the model would let its "
                "documents attend to each other; batches.packed gives none"
            )
        if _takes_lengths(model):
            inputs |= {"cu_seq_lens_q": cu_seqlens, "cu_seq_lens_k": cu_seqlens}
            length = int(batch["max_length"]) if longest is not None else None
            inputs |= {"max_length_q": length, "max_length_k": length}  # type: ignore[dict-item]
    context = torch.autocast(device.type, autocast) if autocast else contextlib.nullcontext()
    with context:
        output = model(**inputs, use_cache=False)
    return getattr(output, "logits", output)


def summed_loss(logits_BTV: Tensor, labels_BT: Tensor) -> Tensor:
    """Cross-entropy in nats, summed (not averaged) over the target tokens."""
    logits = logits_BTV[:, :-1].flatten(0, 1)
    if logits.dtype in (torch.bfloat16, torch.float16):
        logits = logits.float()
    targets = labels_BT[:, 1:].flatten()
    return F.cross_entropy(logits, targets, ignore_index=IGNORE, reduction="sum")


def _takes_lengths(model: nn.Module) -> bool:
    """Attention that separates documents by cumulative lengths, and builds no mask."""
    name = getattr(getattr(model, "config", None), "_attn_implementation", None) or ""
    return name == "batchlab_varlen" or name.startswith("flash_attention")


def _count_targets(batches: list[MicroBatch], device: torch.device) -> Tensor:
    counts = [(batch["labels"][:, 1:] != IGNORE).sum() for batch in batches]
    if not counts:
        raise ValueError("a step needs at least 1 micro-batch, got none")
    return torch.stack(counts).sum().to(device)


def _unchanged(value: Tensor) -> Tensor:
    return value


class _Gradients:
    """The gradients of one step, in `.grad` or in buffers of another dtype."""

    def __init__(self, model: nn.Module, dtype: torch.dtype | None) -> None:
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.dtype = dtype
        self.buffers: dict[nn.Parameter, Tensor] = {}

    def collect(self) -> None:
        """After a backward pass: move what it left in `.grad` into the buffers."""
        if self.dtype is None:
            return
        for parameter in self.parameters:
            if parameter.grad is not None:
                held = self.buffers.get(parameter)
                if held is None:
                    self.buffers[parameter] = parameter.grad.to(self.dtype, copy=True)
                else:
                    held += parameter.grad
                parameter.grad = None

    def total(self, sum_over_processes: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """The gradients of the step, summed over processes; one that is missing counts as 0."""
        for parameter in self.parameters:
            if self.dtype is None and parameter.grad is not None:
                self.buffers[parameter] = parameter.grad
            elif parameter not in self.buffers and sum_over_processes is not _unchanged:
                self.buffers[parameter] = torch.zeros_like(parameter)
        for parameter, held in self.buffers.items():
            self.buffers[parameter] = sum_over_processes(held)
        return list(self.buffers.values())

    def scale_by(self, factor: float) -> None:
        if factor != 1:
            torch._foreach_mul_(list(self.buffers.values()), factor)

    def hand_over(self) -> None:
        """Give the optimizer what it reads: `.grad` in the dtype of the parameter."""
        for parameter, held in self.buffers.items():
            parameter.grad = held.to(parameter.dtype)
