"""One optimizer step, taken over as many micro-batches as memory needs.

    model, micro-batches  ->  StepReport

The gradient of a batch is a sum over its target tokens, divided by how many there are. A sum can
be collected in pieces and so can a count, therefore

    gradient  =  sum of micro-batch gradients / target tokens of the whole step

is exact however the batch is split. Averaging the means of the micro-batches is not: a token in a
nearly empty micro-batch would outweigh one in a full micro-batch.

How the model is called stands in `_forward`, in what dtype gradients are summed in `_gradients`.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from batchlab import counts
from batchlab.counts import IGNORE, MicroBatch
from batchlab.loop._chunked import loss_of
from batchlab.loop._forward import logits_of, prepare, summed_loss
from batchlab.loop._gradients import Gradients
from batchlab.loop._world import StepWorld, filler, the_world

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


@dataclass(frozen=True)
class StepReport:
    """What one optimizer step did, as totals over the step (and over processes, if any)."""

    loss_sum: float  # nats
    target_tokens: int
    grad_norm: float  # before clipping
    micro_batches: int
    slots: int
    real_tokens: int  # slots that hold no padding
    skipped: bool = False  # loss or gradient was not finite, so the weights were left alone

    @property
    def loss(self) -> float:
        """Nats per target token."""
        return self.loss_sum / self.target_tokens

    @property
    def waste(self) -> float:
        """Padding slots / slots."""
        return 1 - self.real_tokens / self.slots

    @property
    def target_share(self) -> float:
        """Target tokens / real tokens: what is neither a prompt nor a first token."""
        return self.target_tokens / self.real_tokens


def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: Iterable[MicroBatch],
    *,
    max_grad_norm: float = math.inf,
    autocast: torch.dtype | None = None,
    scaler: torch.amp.GradScaler | None = None,
    accumulate_in: torch.dtype | None = None,
    loss_chunk: int | None = None,
    non_finite: Literal["skip", "refuse"] = "skip",
    sum_over_processes: Callable[[Tensor], Tensor] | None = None,
    world: StepWorld | None = None,
    on_micro_batch: Callable[[int], None] | None = None,
) -> StepReport:
    """Add up the gradients of `micro_batches`, then update the weights once.

    autocast            runs the forward pass in this dtype (torch.bfloat16, torch.float16)
    scaler              scales an fp16 loss, so that small gradients do not vanish
    accumulate_in       adds gradients in this dtype, wider than that of the weights: 512 equal bf16
                        gradients add up to 256 of them in bf16, and to 512 in float32
    loss_chunk          slots whose logits are alive at a time: the same loss in less memory, for
                        one more product with the head
    non_finite          a loss or gradient that is not finite leaves the weights alone: "skip"
                        reports it, "refuse" raises FloatingPointError
    sum_over_processes  sums a tensor over processes; called once for the counts, once per
                        gradient and once for the loss: exact, however rows are spread
    world               the same for a model under DistributedDataParallel or FSDP2, and faster for
                        a plain one: `cluster.distributed.world(model)`
    on_micro_batch      is called with the number of each finished micro-batch

    The targets of every micro-batch are counted before the first backward pass, so all of them are
    held at once: keep them on the CPU. Nothing waits for the device until all are enqueued.
    """
    batches, around = list(micro_batches), the_world(model, world, sum_over_processes)
    _refuse(micro_batches, max_grad_norm, scaler, accumulate_in, non_finite, around)
    if not batches and not around.several:
        raise ValueError("a step needs at least 1 micro-batch, got none")
    device = next(model.parameters()).device
    totals = _totals(batches, device, around)
    own, needed = len(batches), around.micro_batches(len(batches))
    batches += [filler(next(iter(batches), None))] * (needed - own)
    inputs = [prepare(model, batch) for batch in batches]

    def run(batch: MicroBatch, given: dict[str, Any], filling: bool) -> Tensor:
        labels = counts.carry(batch["labels"], device)
        with contextlib.nullcontext() if filling else counts.show(batch):
            loss = loss_of(model, given, labels, loss_chunk, autocast=autocast)
        scaled = loss * around.loss_factor / totals[0]
        (scaler.scale(scaled) if scaler else scaled).backward()
        return loss.detach()

    optimizer.zero_grad(set_to_none=True)
    step_loss = torch.zeros((), device=device, dtype=_widest(device))
    with Gradients(model, accumulate_in) as gradients:
        for number, (batch, given) in enumerate(zip(batches, inputs, strict=True)):
            with around.piece(number == needed - 1):
                step_loss += run(batch, given, number >= own)  # stays on the device: no waiting
            if on_micro_batch and number < own:
                on_micro_batch(number)
    gradients.total(around)
    if scaler:
        gradients.hand_over()
        scaler.unscale_(optimizer)
    loss_sum, grad_norm, *counted = _read(device, around.sum(step_loss), gradients.norm(), totals)
    targets, pieces, slots, real_tokens = map(int, counted)
    _require_targets(targets)
    finite = math.isfinite(loss_sum) and math.isfinite(grad_norm)
    if finite:
        gradients.scale_by(min(1.0, max_grad_norm / (grad_norm + 1e-6)))
        gradients.hand_over()
        scaler.step(optimizer) if scaler else optimizer.step()
    elif non_finite == "refuse":
        raise FloatingPointError(_what_is_not_finite(loss_sum, gradients))
    if scaler:
        scaler.update()
    return StepReport(loss_sum, targets, grad_norm, pieces, slots, real_tokens, not finite)


def _refuse(
    micro_batches: Iterable[MicroBatch],
    max_grad_norm: float,
    scaler: torch.amp.GradScaler | None,
    accumulate_in: torch.dtype | None,
    non_finite: str,
    around: StepWorld,
) -> None:
    if isinstance(micro_batches, Mapping):
        raise ValueError("the micro-batches of a step are a list, got one batch: write [batch]")
    if not max_grad_norm > 0:  # nan as well: it would leave every gradient as it is
        raise ValueError(f"max_grad_norm must be above 0 (inf never clips), got {max_grad_norm}")
    if scaler and (accumulate_in or non_finite == "refuse"):
        what = "accumulate_in is for bf16 weights" if accumulate_in else 'non_finite="refuse"'
        raise ValueError(f"{what}: a scaler needs fp32 weights, and finds its scale by skipping")
    if accumulate_in and not around.wide:
        raise ValueError("accumulate_in is for gradients that no wrapper sums: leave it out")


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
    optimizer step, never per micro-batch, and afterwards the learning rate is what it was before.
    `evaluation` is called with the number of finished steps, every `evaluate_every` steps. Further
    options go to `train_step`.
    """
    base = [group["lr"] for group in optimizer.param_groups]
    reports = []
    try:
        for number, micro_batches in enumerate(steps):
            _set_rates(optimizer, base, schedule(number) if schedule else None)
            reports.append(train_step(model, optimizer, micro_batches, **options))
            if evaluation and evaluate_every and len(reports) % evaluate_every == 0:
                evaluation(len(reports))
    finally:
        _set_rates(optimizer, base, 1.0 if schedule else None)
    return reports


def _set_rates(optimizer: torch.optim.Optimizer, base: list[float], factor: float | None) -> None:
    if factor is not None:
        for group, rate in zip(optimizer.param_groups, base, strict=True):
            group["lr"] = rate * factor


@torch.no_grad()
def evaluate(
    model: nn.Module,
    micro_batches: Iterable[MicroBatch],
    *,
    autocast: torch.dtype | None = None,
    sum_over_processes: Callable[[Tensor], Tensor] | None = None,
    world: StepWorld | None = None,
) -> float:
    """Loss in nats per target token over all `micro_batches`; dropout is off.

    With `world` each process gives its own; under FSDP2 all of them need equally many. Afterwards
    every module is in the mode that it was in: one that is frozen in eval stays there.
    """
    training = [module for module in model.modules() if module.training]
    model.eval()
    device = next(model.parameters()).device
    around = world or the_world(nn.Identity(), None, sum_over_processes)
    loss = torch.zeros((), device=device, dtype=_widest(device))
    targets = torch.zeros((), device=device, dtype=torch.int64)
    try:
        for batch in micro_batches:
            labels = counts.carry(batch["labels"], device)
            loss += summed_loss(logits_of(model, batch, autocast=autocast), labels)
            targets += counts.target_tokens(labels)
    finally:
        for module in training:
            module.training = True
    loss_sum, count = _read(device, around.sum(loss), around.sum(targets))
    if count == 0:
        raise ValueError("nothing to evaluate: every label is IGNORE")
    return loss_sum / count


def _totals(
    batches: list[MicroBatch],
    device: torch.device,
    around: StepWorld,
) -> Tensor:
    """Target tokens, micro-batches, slots and real tokens of the step, counted where they are.

    0 targets are refused at once where the CPU knows them, else at the end of the step, where
    they are read anyway.
    """
    totals = torch.zeros(4, dtype=torch.int64)
    for batch in batches:
        targets, slots = counts.target_tokens(batch["labels"]), batch["input_ids"].numel()
        each = [targets, torch.tensor(1), torch.tensor(slots), counts.real_tokens(batch)]
        where = targets.device
        stacked = torch.stack([counts.carry(one, where) for one in each])
        totals = counts.carry(totals, where) + stacked
    if around.several:
        totals = around.sum(counts.carry(totals, device))
    if totals.device.type == "cpu":
        _require_targets(int(totals[0]))
    return totals


def _require_targets(count: int) -> None:
    if count == 0:
        raise ValueError("nothing to learn: every label of this step is IGNORE")


def _widest(device: torch.device) -> torch.dtype:
    return torch.float32 if device.type == "mps" else torch.float64


def _read(device: torch.device, *values: Tensor) -> list[float]:
    """All values in one read: the only wait of a step."""
    flat = [value.flatten().to(device, _widest(device)) for value in values]
    found: list[float] = torch.cat(flat).tolist()
    return found


def _what_is_not_finite(loss_sum: float, gradients: Gradients) -> str:
    names = gradients.not_finite()
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    where = f"the gradient of {shown}" if names else "no single gradient"
    return f"the step was refused, weights untouched: loss {loss_sum}, not finite is {where}"
