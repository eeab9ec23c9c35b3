"""Collect the gradients of one step, in the dtype that the sum needs.

    backward passes  ->  one gradient per parameter, summed over micro-batches and processes

A sum of many small parts needs more digits than its parts: 512 equal bf16 gradients add up to 256
of them in bf16, where 256 + 1 is 256 again, and to 512 in float32. PyTorch from 2.10 on can let
`.grad` itself have a wider dtype (`grad_dtype`); before that, each gradient is moved into a buffer
as soon as it is ready, so that only one is held twice.
"""

from types import TracebackType

import torch
from torch import Tensor, nn

from batchlab.loop._world import StepWorld

__all__ = ["Gradients"]


class Gradients:
    """The gradients of one step; used as a context around its backward passes."""

    def __init__(
        self, model: nn.Module, dtype: torch.dtype | None = None, *, native: bool | None = None
    ) -> None:
        """Without `dtype`, gradients stay as autograd leaves them.

        `native` says whether `grad_dtype` is used; by default wherever this PyTorch has it.
        """
        self.names = {p: name for name, p in model.named_parameters() if p.requires_grad}
        self.parameters = list(self.names)
        self.dtype = dtype
        self.native = hasattr(torch.Tensor, "grad_dtype") if native is None else native
        self.held: dict[nn.Parameter, Tensor] = {}
        self._before: dict[nn.Parameter, torch.dtype | None] = {}
        self._hooks: list[torch.utils.hooks.RemovableHandle] = []
        for parameter in self.parameters:
            if dtype and torch.promote_types(parameter.dtype, dtype) != dtype:
                raise ValueError(
                    f"accumulate_in {dtype} is narrower than {self.names[parameter]} in "
                    f"{parameter.dtype}; give a wider dtype or none"
                )

    def __enter__(self) -> "Gradients":
        self.held = {}
        for parameter in self.parameters:
            parameter.grad = None
            if self.dtype and self.native:
                self._before[parameter] = parameter.grad_dtype
                parameter.grad_dtype = self.dtype
            elif self.dtype:
                hook = parameter.register_post_accumulate_grad_hook(self._move)
                self._hooks.append(hook)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for hook in self._hooks:
            hook.remove()
        for parameter in self.parameters:
            if parameter.grad is not None:
                self.held[parameter] = parameter.grad
                parameter.grad = None  # only without a gradient may grad_dtype change
        for parameter, dtype in self._before.items():
            parameter.grad_dtype = dtype

    def _move(self, parameter: Tensor) -> None:
        assert isinstance(parameter, nn.Parameter) and parameter.grad is not None
        if parameter in self.held:
            self.held[parameter] += parameter.grad
        else:
            self.held[parameter] = parameter.grad.to(self.dtype, copy=True)
        parameter.grad = None

    def total(self, world: StepWorld) -> None:
        """Sum over processes, which must all ask for the same parameters in the same order.

        A gradient that is missing here counts as 0, since another process may have it.
        """
        ordered = {}
        for parameter in self.parameters:
            gradient = self.held.pop(parameter, None)
            if gradient is None and world.several:
                gradient = torch.zeros_like(parameter, dtype=self.dtype or parameter.dtype)
            if gradient is not None:
                ordered[parameter] = gradient
        summed = world.gradients(list(ordered.values()))
        self.held = dict(zip(ordered, summed, strict=True))

    def norm(self) -> Tensor:
        """The 2-norm of all gradients together, still on their device."""
        found = nn.utils.get_total_norm(list(self.held.values()))
        whole: Tensor = found.full_tensor() if hasattr(found, "full_tensor") else found
        return whole  # of gradients that FSDP2 keeps in parts: over all of them

    def scale_by(self, factor: float) -> None:
        """Multiply all gradients, in place."""
        if factor != 1:
            torch._foreach_mul_(list(self.held.values()), factor)

    def hand_over(self) -> None:
        """Give the optimizer what it reads: `.grad` in the dtype of the parameter."""
        for parameter, gradient in list(self.held.items()):
            parameter.grad = gradient.to(parameter.dtype)
            if parameter.grad is not gradient:
                del self.held[parameter]  # the wide one is done: give its memory back

    def not_finite(self) -> list[str]:
        """Names of the parameters whose gradient holds an infinity or a NaN."""
        return [self.names[p] for p, held in self.held.items() if not bool(held.isfinite().all())]
