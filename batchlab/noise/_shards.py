"""Squared norms under FSDP2, where a hook on a parameter sees no gradient of one micro-batch.

    the reduce-scatter of each backward pass  ->  norms of what it is given, before it is reduced

FSDP2 offers `set_custom_reduce_scatter`; the default one stands on a private path of torch, which
a test pins. Gradients are averaged over the ranks of the mesh, the default of FSDP2.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from batchlab.noise._taps import smallest, wide, widest

__all__ = ["ShardTaps", "is_sharded"]


def is_sharded(model: nn.Module) -> bool:
    """Whether `fully_shard` has been here."""
    return any(hasattr(p, "placements") for p in model.parameters())


class ShardTaps:
    """The same as `Taps`, for sharded parameters; one group, the total."""

    groups = ("total",)

    def __init__(self, model: nn.Module) -> None:
        from torch.distributed.fsdp import FSDPModule

        if not hasattr(FSDPModule, "set_custom_reduce_scatter"):
            raise ValueError(
                f"torch {torch.__version__} lets nobody look at the gradients that FSDP2 reduces: "
                "a newer one is needed"
            )
        self._modules = [m for m in model.modules() if isinstance(m, FSDPModule)]
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        mesh = next(p.device_mesh for p in self.parameters if hasattr(p, "device_mesh"))
        if not self._modules or not all(hasattr(p, "placements") for p in self.parameters):
            raise ValueError("parameters are sharded in part only: norms of both kinds differ")
        if mesh.ndim != 1:
            raise ValueError(f"a mesh of 1 dimension is needed, this one has {mesh.ndim}")
        self.world = mesh.size()
        self.process_group = mesh.get_group()
        self.probe = smallest(self.parameters)
        self.active = True
        self.clear()
        self._hooks = [p.register_post_accumulate_grad_hook(self._keep) for p in self.probe]
        for number, module in enumerate(self._modules):
            module.set_custom_reduce_scatter(_tapped(self, number))

    def _keep(self, parameter: Tensor) -> None:
        """The probe's own shard of the sum so far: small, and written over each time."""
        if self.active and parameter.grad is not None:
            self._kept[parameter] = _local(parameter.grad).clone()

    def seen(self, number: int, flat: Tensor, how: Any) -> None:
        """One module is about to reduce the gradient of one micro-batch."""
        if not self.active:
            return
        if how != torch.distributed.ReduceOp.AVG and self.world > 1:
            raise ValueError(
                f"FSDP reduces {flat.dtype} gradients by {how} here, and only its default mean in "
                "float32 or bfloat16 can be read: other forms divide before they reduce"
            )
        self._norms.append(torch.linalg.vector_norm(flat, dtype=wide(flat)))
        self._fired[number] = self._fired.get(number, 0) + 1

    @property
    def pieces(self) -> int:
        """Backward passes since the last `clear`, as reductions tell them."""
        return max(self._fired.values(), default=0)

    def clear(self) -> None:
        """Forget what was seen."""
        self._norms: list[Tensor] = []
        self._fired: dict[int, int] = {}
        self._kept: dict[Tensor, Tensor] = {}

    def read(
        self, counted: Tensor, summed: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, ...]:
        """Small and big squared norms in units of the summed gradient, the miss, the counts."""
        device, dtype = counted.device, widest(counted.device)
        squares = torch.stack(self._norms).to(device, dtype).square().sum()
        now = [_local(p.grad).to(device, dtype) for p in self.parameters if p.grad is not None]
        big = torch.stack([one.square().sum() for one in now]).sum()
        pairs = [
            (_local(p.grad).to(device, dtype), kept.to(device, dtype))
            for p, kept in self._kept.items()
            if p.grad is not None
        ]
        dots = [
            sum((torch.sum(a * b) for a, b in chosen), torch.zeros((), device=device, dtype=dtype))
            for chosen in (pairs, [(b, b) for _, b in pairs], [(a, a) for a, _ in pairs])
        ]
        together = torch.cat([torch.stack([squares, big, *dots]), counted])
        if summed is not None:
            together = summed(together)
        squares, big, both, kept, held = together[:5]
        factor = both / kept
        miss = ((held - both * factor).clamp(min=0) / held).sqrt()
        return squares[None], (big / factor.square())[None] * self.world**2, miss, together[5:]

    def close(self) -> None:
        """Give the modules back their own reduce-scatter."""
        for hook in self._hooks:
            hook.remove()
        for module in self._modules:
            module.set_custom_reduce_scatter(_default()())
        self.clear()


def _local(tensor: Any) -> Tensor:
    local: Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return local.detach()


def _default() -> Any:
    from torch.distributed.fsdp._fully_shard._fsdp_collectives import DefaultReduceScatter

    return DefaultReduceScatter


def _tapped(taps: ShardTaps, number: int) -> Any:
    class Tapped(_default()):  # type: ignore[misc]
        """The default, which shows its input first."""

        def __call__(
            self,
            output_tensor: Tensor,
            input_tensor: Tensor,
            group: Any,
            op: Any,
            *more: Any,
            **options: Any,
        ) -> Any:
            taps.seen(number, input_tensor, op)
            return super().__call__(output_tensor, input_tensor, group, op, *more, **options)

    return Tapped()
