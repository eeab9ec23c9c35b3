"""The step whose memory is predicted and measured: what is set, and how it is taken.

setting, model  ->  optimizer with its states, micro-batches, one step of the library
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from batchlab import loop
from batchlab.memory._shards import Shard
from batchlab.memory._tasks import CAUSAL, Batch, Task, labels_of, own_step
from batchlab.memory.offload import to_host
from batchlab.memory.optimizers import MakeOptimizer

__all__ = ["OF_A_CONFIG", "How", "Setting", "make_states", "states_of"]


@dataclass(frozen=True, kw_only=True)
class How:
    """How a step is taken, whatever its rows: AdamW, unless `make_optimizer` makes another."""

    autocast: torch.dtype | None = None  # float16 comes with a scaler
    accumulate_in: torch.dtype | None = None
    make_optimizer: MakeOptimizer | None = None  # takes the parameters that are trained
    loss_chunk: int | None = None  # slots whose logits are alive at a time; all, if not given
    offload: bool = False  # activations wait on the host
    task: Task = CAUSAL  # found by the model
    batch: Batch | None = None  # a micro-batch of yours; the model brings its own loss

    @property
    def own_loss(self) -> bool:
        """Whether the model brings its loss."""
        return self.batch is not None or self.task is not CAUSAL

    def optimizer(self, model: nn.Module, *, together: bool) -> torch.optim.Optimizer:
        """One that moves no weight; `together` updates all at once, as CUDA does by default."""
        trained = [one for one in model.parameters() if one.requires_grad]
        if not trained:
            raise ValueError("no parameter requires a gradient: nothing would be trained")
        if self.make_optimizer:
            made = self.make_optimizer(trained)
        else:
            made = torch.optim.AdamW(trained, foreach=together)
        for group in made.param_groups:
            group.update({name: 0.0 for name in ("lr", "weight_decay") if name in group})
        return made

    def take(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        micro_batches: Sequence[loop.MicroBatch],
        on_micro_batch: Callable[[int], None] | None = None,
        *,
        scaler: torch.amp.GradScaler | None = None,
    ) -> None:
        """The step of the library; one that is skipped has no states, and is refused."""
        if self.own_loss:
            own_step(
                model, optimizer, micro_batches, autocast=self.autocast,
                on_micro_batch=on_micro_batch,
            )  # fmt: skip
            return
        with to_host(model) if self.offload else contextlib.nullcontext():
            loop.train_step(
                model,
                optimizer,
                micro_batches,
                autocast=self.autocast,
                scaler=scaler,
                accumulate_in=self.accumulate_in,
                loss_chunk=self.loss_chunk,
                non_finite="skip" if scaler else "refuse",
                on_micro_batch=on_micro_batch,
            )


@dataclass(frozen=True, kw_only=True)
class Setting(How):
    """The step to predict; what makes a model is for a config, a given model brings its own."""

    rows: int
    length: int
    accumulation: int = 1  # micro-batches: from the second on, gradients are there in the forward
    padded: bool = False  # rows of unequal length need a mask
    checkpointing: bool = False
    dtype: torch.dtype = torch.float32
    attention: str = "sdpa"
    shard: Shard | None = None  # states over devices; predicted by arithmetic, never measured
    adapt: Callable[[Any], Any] | None = None  # model -> model: adapters, other weights
    tensor: int = 1  # devices that share each layer; the config is cut, and then traced
    experts: int = 1  # devices that each keep a share of the experts; by arithmetic

    def __post_init__(self) -> None:
        if self.rows < 1 or self.length < 2 or self.accumulation < 1:
            raise ValueError(
                "rows >= 1, length >= 2 and accumulation >= 1 needed, got "
                f"{self.rows}, {self.length} and {self.accumulation}"
            )
        of_the_library = ("accumulate_in", "loss_chunk", "offload")
        if self.own_loss and (told := [name for name in of_the_library if getattr(self, name)]):
            raise ValueError(f"{told[0]} is of a causal LM: {self.task.name} brings its own loss")
        if self.own_loss and self.autocast == torch.float16:
            raise ValueError(f"a scaler is of a causal LM: {self.task.name} brings its own loss")

    def micro_batches(self, vocabulary: int) -> list[loop.MicroBatch]:
        """At most two: the third finds what the second found.

        Token 0 is left out: where it is padding its embedding is 0, and norms of zeros give
        gradients that are not finite.
        """
        ids = torch.arange(self.rows * self.length).view(self.rows, -1) % (vocabulary - 1) + 1
        if self.batch is not None:
            return [dict(self.batch)] * min(self.accumulation, 2)
        batch = {"input_ids": ids, "labels": labels_of(self.task, ids).clone()}
        if self.padded:
            batch["attention_mask"] = torch.ones_like(ids)
            batch["attention_mask"][:, -1] = 0
        return [batch] * min(self.accumulation, 2)


OF_A_CONFIG = (
    "checkpointing",
    "dtype",
    "attention",
    "adapt",
    "tensor",
)  # a given model has its own


def make_states(optimizer: torch.optim.Optimizer) -> None:
    """Let the optimizer make its states, as in the steps before: from gradients of 0."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def states_of(optimizer: torch.optim.Optimizer) -> list[Any]:
    """Everything that it keeps for its parameters."""
    return [value for state in optimizer.state.values() for value in state.values()]
