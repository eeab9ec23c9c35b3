"""A model small enough to be judged to its last digits, and one that says what it holds.

    target tokens of each micro-batch  ->  micro-batches, a bigram table that counts

Words
    window     the micro-batches of one optimizer step
    live       a micro-batch whose saved activations have not been freed
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab.counts import IGNORE
from batchlab.exercises.accumulation.passes import Passes

__all__ = [
    "IGNORE",
    "Counting",
    "Layered",
    "handed_over",
    "left_behind",
    "lone",
    "made",
    "micro_batch",
    "planted",
    "weights_of",
    "windows_of",
]

VOCABULARY, WIDTH, RATE = 12, 6, 0.5


class Counting(nn.Module):
    """A bigram model that notes each forward pass and what it keeps for the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        draw = functools.partial(torch.randn, generator=torch.Generator().manual_seed(5))
        self.embedding = nn.Parameter(draw(VOCABULARY, WIDTH).double())
        self.head = nn.Parameter(draw(VOCABULARY, WIDTH).double())
        self.calls: Counter[str] = Counter()
        self.order: list[str] = []
        self.held: Counter[int] = Counter()  # bytes kept, by number of the forward pass
        self.events: list[tuple[str, dict[str, float]]] = []

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        number = self.calls["forward"]
        self.calls["forward"] += 1

        def keep(value: Tensor) -> "_Held":
            own = all(value.data_ptr() != p.data_ptr() for p in self.parameters())
            # a clone: the value itself may hold the graph that holds it
            return _Held(self.held, number, value.clone(), value.nbytes if own else 0)

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept.value):
            logits = self.scores(input_ids)
        self.note("forward")
        return logits

    def scores(self, input_ids: Tensor) -> Tensor:
        return torch.tanh(F.embedding(input_ids, self.embedding)) @ self.head.T

    def diverge(self, how: str, lone: int | None = None) -> None:
        """Set weights that make the loss of token 3 "nan" or "inf"; an empty text sets none.

        With `lone`, a token of one micro-batch, the loss of the others stays a number.
        """
        with torch.no_grad():
            if how == "inf":  # positive activations times -inf: the token has no probability
                self.embedding.abs_()
                self.head[3 if lone is None else lone, 0] = -torch.inf
            elif how and lone is not None:
                self.embedding[lone] = torch.nan
            elif how:
                self.head[3, 0] = torch.nan

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.calls["zero_grad"] += 1
        super().zero_grad(set_to_none)

    def note(self, event: str) -> None:
        grads = sum(p.grad.nbytes for p in self.parameters() if p.grad is not None)
        held = {"activations": sum(self.held.values()) / 1024, "gradients": grads / 1024}
        self.events.append((event, held))


class _Part(nn.Module):
    """Two more weights, and a weight of the model under a second name."""

    def __init__(self, tied: nn.Parameter) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.linspace(0.5, 1.5, WIDTH).double())
        self.bias = nn.Parameter(torch.linspace(-1.0, 1.0, VOCABULARY).double())
        self.tied = tied


class Layered(Counting):
    """In parts, with passes of the check: one weight has two names, one part is in eval mode."""

    def __init__(self, loud: float = 1.0, passes: Any = None) -> None:
        super().__init__()
        self.part, self.passes = _Part(self.embedding), passes or Passes()
        self.freed: list[int] = []  # passes that autograd let go since the last one
        with torch.no_grad():
            self.head.mul_(loud)  # `loud` makes losses and gradients long

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        def keep(number: Tensor) -> "_Kept":
            return _Kept(self.freed, number.clone())

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept.number):
            weights = self.embedding, self.head, self.part.gain, self.part.bias
            logits: Tensor = _Pass.apply(self, input_ids, torch.is_grad_enabled(), *weights)
        return logits

    def handed(self, training: bool) -> "Layered":
        """The model as a caller hands it over: in this mode, but for one part in eval mode."""
        self.train(training)
        self.part.eval()
        return self


class _Held:
    """A saved tensor that is taken off the list when autograd lets go of it."""

    def __init__(self, held: Counter[int], number: int, value: Tensor, size: int) -> None:
        self.held, self.number, self.value, self.size = held, number, value, size
        held[number] += size

    def __del__(self) -> None:
        self.held[self.number] -= self.size


class _Kept:
    """The number of a pass, which is listed when autograd lets go of it."""

    def __init__(self, freed: list[int], number: Tensor) -> None:
        self.freed, self.number = freed, number

    def __del__(self) -> None:
        self.freed.append(int(self.number))


class _Pass(torch.autograd.Function):
    """A pass of `Layered` that others make: autograd keeps its number alone."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, model: Layered, tokens: Tensor, keeps: bool, *weights: Tensor
    ) -> Tensor:
        freed, model.freed[:] = [*model.freed], []
        own = [weight.detach() for weight in weights]
        number, logits = model.passes.forward(tokens, own, keeps, freed)
        ctx.passes = model.passes
        ctx.save_for_backward(torch.tensor(number))
        found: Tensor = logits
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:  # type: ignore[override]
        (number,) = ctx.saved_tensors
        return None, None, None, *ctx.passes.backward(int(number), gradient)


def micro_batch(targets: int, seed: int, *, rows: int = 2) -> dict[str, Tensor]:
    """Rows of random tokens with exactly `targets` target tokens, in random places.

    >>> int((micro_batch(7, seed=0)["labels"][:, 1:] != IGNORE).sum())
    7
    """
    draw = torch.Generator().manual_seed(1000 + seed)
    length = 1 + max(4, -(-targets // rows))
    input_ids = torch.randint(VOCABULARY, (rows, length), generator=draw)
    labels = input_ids.clone()  # the first label of a row is never read, and here it is no IGNORE
    flat = labels[:, 1:].reshape(-1)
    flat[torch.randperm(len(flat), generator=draw)[targets:]] = IGNORE
    labels[:, 1:] = flat.view(rows, length - 1)
    return {"input_ids": input_ids, "labels": labels}


def windows_of(windows: Sequence[Sequence[int]]) -> list[list[dict[str, Tensor]]]:
    """Micro-batches for windows that are given as target tokens of each micro-batch."""
    return [
        [micro_batch(int(count), 100 * w + k) for k, count in enumerate(window)]
        for w, window in enumerate(windows)
    ]


def lone(window: Sequence[dict[str, Tensor]], number: int, how: str) -> int:
    """A token that makes one micro-batch of a window diverge, and no other."""
    name = "labels" if how == "inf" else "input_ids"

    def read(one: dict[str, Tensor]) -> set[int]:
        counted = one["labels"][:, 1:] != IGNORE
        return set(
            (one["labels"][:, 1:] if name == "labels" else one[name][:, :-1])[counted].tolist()
        )

    others = [one for k, one in enumerate(window) if k != number]
    met = set().union(*(set(one[name].flatten().tolist()) for one in others))
    return min(read(window[number]) - met)


def made(
    model: Counting | None = None, *, momentum: float = 0.0, decay: float = 1.0
) -> tuple[Counting, torch.optim.Optimizer, Any]:
    """A model, gradient descent in two groups, and a schedule: times `decay` at each step."""
    model = model or Counting()
    first, *others = model.parameters()
    groups = [{"params": [first]}, {"params": others}]
    optimizer = torch.optim.SGD(groups, lr=RATE, momentum=momentum)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: decay**step)


def planted(optimizer: torch.optim.Optimizer) -> None:
    """Give the optimizer a state of its own for every weight, such as Adam's averages."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            optimizer.state[parameter]["seen"] = 1


def handed_over(model: nn.Module) -> dict[str, Any]:
    """What of a model a step leaves as it is: the mode of each part, dtypes, hooks."""
    return {
        "mode": {name: part.training for name, part in model.named_modules()},
        "dtype": [parameter.dtype for parameter in model.parameters()],
        "hooks": [len(parameter._backward_hooks or ()) for parameter in model.parameters()],
    }


def left_behind(
    model: nn.Module, optimizer: torch.optim.Optimizer, before: dict[str, Any]
) -> list[str]:
    """What a step changed besides the weights: `handed_over`, frozen weights, what is `planted`."""
    left, now = [], handed_over(model)
    for name, training in before["mode"].items():
        if now["mode"][name] != training:
            what = f"the model's {name}" if name else "the model"
            left.append(f"{what} is in {'eval' if training else 'train'} mode")
    if now["dtype"] != before["dtype"]:
        left.append(f"the weights are {now['dtype'][0]}, and were {before['dtype'][0]}")
    if now["hooks"] != before["hooks"]:
        left.append("a hook stays on a weight")
    if not all(parameter.requires_grad for parameter in model.parameters()):
        left.append("weights are frozen")
    if any("seen" not in optimizer.state[parameter] for parameter in model.parameters()):
        left.append("the optimizer's state is lost")
    return left


def weights_of(model: nn.Module) -> list[float]:
    """All weights in one list."""
    flat: list[float] = nn.utils.parameters_to_vector(model.parameters()).tolist()
    return flat
