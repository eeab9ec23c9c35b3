"""Take a step up to its update, see the gradient that the optimizer would use, change nothing.

    model, step, micro-batches  ->  one gradient per parameter, on the CPU

The update of a torch optimizer begins with a hook: there the gradient is copied and taken away,
and an optimizer passes over a parameter without one. A step without an optimizer leaves its
gradient on the model. Weights, buffers, gradients, modes and random numbers are put back.

Words
    shrunk  every gradient is multiplied by a small power of 2 on its way, which is exact: then no
            clipping binds, and the gradient is linear in its micro-batches
"""

import random
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from batchlab.counts import MicroBatch

__all__ = ["Gradient", "Observed", "Step", "distance", "products"]

Gradient: TypeAlias = dict[str, Tensor]  # by the name of the parameter
Step: TypeAlias = Callable[[Sequence[MicroBatch]], object]

CHUNK = 2**20  # values that are held in float64 at a time
SHRINK = 2.0**-20  # a norm below a million is then below 1


class Observed:
    """A model whose steps are observed; as a context, it is left as it was."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.names = {p: name for name, p in model.named_parameters() if p.requires_grad}
        if not self.names:
            raise ValueError(f"{type(model).__name__} has no parameter that is trained")
        if any(parameter.dtype == torch.float16 for parameter in self.names):
            raise ValueError(
                "float16 weights are refused: their small gradients vanish in any sum; load the "
                "model in float32 or bfloat16"
            )
        self._seen: Gradient = {}

    def __enter__(self) -> "Observed":
        kept = [*self.model.parameters(), *self.model.buffers()]
        self._values = [(one, one.detach().clone()) for one in kept]
        self._gradients = [(p, p.grad) for p in self.names]
        self._modes = [(module, module.training) for module in self.model.modules()]
        self._random = _random_state()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()
        for parameter, gradient in self._gradients:
            parameter.grad = gradient
        for module, training in self._modes:
            module.training = training

    def gradient(
        self,
        step: Step,
        micro_batches: Sequence[MicroBatch],
        *,
        shrunk: bool = False,
        same_random: bool = True,
    ) -> Gradient:
        """The gradient at the update; with `same_random`, from the random state at the beginning.

        A step that updates more than once is refused, and so is one that leaves no gradient.
        """
        if same_random:
            self._restore()
        self._seen = {}
        for parameter in self.names:
            parameter.grad = None
        hooks = [register_optimizer_step_pre_hook(self._before_update)]
        if shrunk:
            hooks += [parameter.register_hook(_shrunk) for parameter in self.names]
        try:
            step(micro_batches)
            if not self._seen:
                self._take(list(self.names))
        finally:
            for hook in hooks:
                hook.remove()
            for parameter in self.names:
                parameter.grad = None
        if not self._seen:
            raise ValueError(
                "no gradient seen: the step must leave it on the parameters of the model, "
                "or update them with a torch optimizer"
            )
        return self._seen

    def random_moved(self) -> bool:
        """Whether random numbers were drawn since the beginning of the last step."""
        pairs = zip(_random_state()[1:], self._random[1:], strict=False)  # torch's own
        return not all(torch.equal(now, then) for now, then in pairs)

    def _before_update(self, optimizer: Any, *_: object) -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._take([p for p in parameters if p in self.names])
        for parameter in parameters:
            parameter.grad = None  # then nothing is updated

    def _take(self, parameters: Sequence[nn.Parameter]) -> None:
        for parameter in parameters:
            if parameter.grad is None:
                continue
            name = self.names[parameter]
            if name in self._seen:
                raise ValueError(
                    "the step updates the weights more than once: it takes small steps instead of "
                    "accumulating; give a step that updates once, after its last micro-batch"
                )
            self._seen[name] = parameter.grad.detach().to("cpu", copy=True)

    def _restore(self) -> None:
        with torch.no_grad():
            for one, value in self._values:
                if not torch.equal(one, value):
                    one.copy_(value)
        _set_random_state(self._random)


def _shrunk(gradient: Tensor) -> Tensor:
    return gradient * SHRINK


def products(gradients: Sequence[Gradient]) -> np.ndarray:
    """The inner products of all pairs, (n, n) float64; a gradient that is missing is 0."""
    names = list(dict.fromkeys(name for one in gradients for name in one))
    total = torch.zeros(len(gradients), len(gradients), dtype=torch.float64)
    for name in names:
        shape = next(one[name] for one in gradients if name in one)
        rows = [one.get(name, torch.zeros_like(shape)).flatten() for one in gradients]
        for parts in zip(*(row.split(CHUNK) for row in rows), strict=True):
            stacked = torch.stack([part.double() for part in parts])
            total += stacked @ stacked.T
    found: np.ndarray = total.numpy()
    return found


def distance(one: Gradient, other: Gradient) -> float:
    """The norm of the difference over the norm of `other`."""
    squares = np.zeros(2)
    for name in {**one, **other}:
        shape = one[name] if name in one else other[name]
        first, second = (g.get(name, torch.zeros_like(shape)).double() for g in (one, other))
        squares += float((first - second).square().sum()), float(second.square().sum())
    if squares[1] == 0:
        raise ValueError("the gradient of all documents in one piece is 0: nothing to compare")
    return float(np.sqrt(squares[0] / squares[1]))


def _random_state() -> list[Any]:
    """Of Python and NumPy first, then of torch on each device in use."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    legacy = np.random.get_state()  # noqa: NPY002 (what a step draws from, not what we do)
    return [(random.getstate(), legacy), torch.get_rng_state(), *cuda]


def _set_random_state(state: list[Any]) -> None:
    python, numpy_state = state[0]
    random.setstate(python)
    np.random.set_state(numpy_state)  # noqa: NPY002
    torch.set_rng_state(state[1])
    if cuda := state[2:]:
        torch.cuda.set_rng_state_all(cuda)
