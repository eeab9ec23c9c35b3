"""Optimizers by name, for what they keep: their states are real, and a step moves no weight.

    name  ->  parameters  ->  optimizer to predict or rehearse a step with

PyTorch's own where it has them. Two are written here: Lion, which PyTorch lacks, and the states of
8-bit AdamW, laid out as in bitsandbytes, whose kernels need no further memory.

Words
    hidden matrix   a weight of two dimensions that is neither embedding nor head: what Muon takes
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

__all__ = ["OPTIMIZERS", "MakeOptimizer", "maker"]

MakeOptimizer = Callable[[Any], torch.optim.Optimizer]
BLOCK, WHOLE = 256, 4096  # bitsandbytes 0.50 optim/optimizer.py: values a scale; fewer stay fp32


class Lion(torch.optim.Optimizer):
    """One moment, and an update of signs (Chen et al. 2023, Algorithm 2)."""

    def __init__(
        self, parameters: Any, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99)
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in (one for one in group["params"] if one.grad is not None):
                moment = self.state[weight].setdefault("moment", torch.zeros_like(weight))
                now, later = group["betas"]
                update = moment.lerp(weight.grad, 1 - now).sign_()
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update, alpha=-group["lr"])
                moment.lerp_(weight.grad, 1 - later)


class Adam8bit(torch.optim.Optimizer):
    """The states of bitsandbytes' AdamW8bit; `step` makes them and updates nothing.

    Two bytes a weight and two float32 scales a block of 256; a weight of fewer than 4,096 values
    keeps two float32 moments. Its kernels work in place. A `Trainer` (transformers 5.23) leaves
    the embedding in float32, a head of its own not: with `vocabulary`, so does this.
    """

    def __init__(self, parameters: Any, lr: float = 1e-4, vocabulary: int | None = None) -> None:
        given = list(parameters)
        tables = [one for one in given if one.ndim == 2 and one.shape[0] == vocabulary]
        self.table = tables[0] if tables else None  # parameters come in order: the input first
        super().__init__(given, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in (one for one in group["params"] if one.grad is not None):
                whole = weight is self.table
                self.state[weight] = self.state[weight] or _eight_bits(weight, whole)


def _eight_bits(weight: Tensor, whole: bool = False) -> dict[str, Tensor]:
    make = functools.partial(torch.zeros, device=weight.device)
    moments = ("1", "2")
    if whole or weight.numel() < WHOLE:
        return {f"state{n}": make(weight.shape, dtype=torch.float32) for n in moments}
    blocks = -(-weight.numel() // BLOCK)
    scales = {f"absmax{n}": make(blocks, dtype=torch.float32) for n in moments}
    return scales | {f"state{n}": make(weight.shape, dtype=torch.uint8) for n in moments}


class MuonWithAdamW(torch.optim.Optimizer):
    """Muon for hidden matrices, AdamW for all else, as its author advises (Jordan 2024)."""

    def __init__(self, parameters: Iterable[Tensor], vocabulary: int, *, together: bool) -> None:
        given = list(parameters)
        hidden = {id(p) for p in given if p.ndim == 2 and vocabulary not in p.shape}
        matrices = [p for p in given if id(p) in hidden]
        others = [p for p in given if id(p) not in hidden]
        self.parts: list[torch.optim.Optimizer] = []
        if matrices:
            self.parts.append(torch.optim.Muon(matrices, lr=0.0, weight_decay=0.0))
        if others:
            self.parts.append(torch.optim.AdamW(others, lr=0.0, weight_decay=0.0, foreach=together))
        super().__init__(given, {"lr": 0.0})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for part in self.parts:
            part.step()
            self.state.update(part.state)


OPTIMIZERS: Mapping[str, Callable[..., torch.optim.Optimizer]] = {
    "adamw": torch.optim.AdamW,
    "adam": torch.optim.Adam,
    "adamw8bit": Adam8bit,
    "adamw8bit-trainer": Adam8bit,
    "adafactor": torch.optim.Adafactor,
    "sgd": torch.optim.SGD,  # without momentum: it keeps nothing
    "lion": Lion,
    "muon": MuonWithAdamW,
}
OURS = ("adamw8bit", "lion")


def maker(name: str, *, vocabulary: int, device: str = "cpu") -> MakeOptimizer:
    """What makes the optimizer of this name from parameters, as on this device.

    `vocabulary` tells embeddings and heads from hidden matrices. On CUDA PyTorch's optimizers
    update all weights at once (`foreach`), which takes more memory for a moment.

    >>> maker("lion", vocabulary=100)([torch.nn.Parameter(torch.zeros(3))]).defaults["betas"]
    (0.9, 0.99)
    """
    if name not in OPTIMIZERS:
        raise ValueError(f"unknown optimizer {name!r}; there are {', '.join(OPTIMIZERS)}")
    if name == "muon" and not hasattr(torch.optim, "Muon"):
        raise ValueError(f"muon needs torch 2.9 or newer, this is {torch.__version__}")
    if name == "adamw8bit-trainer":
        return functools.partial(Adam8bit, vocabulary=vocabulary)
    together = torch.device(device).type == "cuda"
    if name == "muon":
        return functools.partial(MuonWithAdamW, vocabulary=vocabulary, together=together)
    return (
        OPTIMIZERS[name] if name in OURS else functools.partial(OPTIMIZERS[name], foreach=together)
    )
