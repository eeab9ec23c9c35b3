"""Squared norms of gradients, taken while a backward pass makes them: nothing is copied.

    hooks on parameters  ->  one small tensor a step, still on its device

A hook sees the gradient of its own micro-batch, before it is added to those of the others. The norm
of their sum is read when the optimizer steps; by then it may have been clipped, unscaled or
averaged over processes. A few small parameters (the probe) keep their own sum, and tell by which
one factor the gradient was changed since; a change that is no single factor voids the reading.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import counts

__all__ = ["Taps", "sequences_of", "smallest", "wide", "widest"]

PROBE_VALUES = 512  # at least so many values are kept, from the smallest parameters up


class Taps:
    """The hooks of one model, and what they saw since the last `take`."""

    def __init__(self, model: nn.Module, groups: Callable[[str], str]) -> None:
        found = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
        if not found:
            raise ValueError("no parameter of this model requires a gradient")
        self.group_of = {p: groups(n) for n, p in found}
        self.parameters = list(self.group_of)
        self.groups = tuple(sorted(set(self.group_of.values())))
        self.probe = smallest([p for _, p in found])
        self.active = True
        self._hooks = [p.register_hook(self._tap(p)) for _, p in found]
        self.clear()

    def _tap(self, parameter: nn.Parameter) -> Callable[[Tensor], None]:
        group, probed = self.group_of[parameter], parameter in set(self.probe)

        def seen(gradient: Tensor) -> None:
            if not self.active:
                return
            here = gradient.detach()
            self._norms[group].append(torch.linalg.vector_norm(here, dtype=wide(here)))
            self._fired[parameter] += 1
            if probed:
                kept = self._sums.get(parameter)
                self._sums[parameter] = here.to(wide(here), copy=True) if kept is None else (
                    kept.add_(here)
                )  # fmt: skip

        return seen

    @property
    def pieces(self) -> int:
        """Backward passes since the last `take`: of a parameter that took part in all of them."""
        return max(self._fired.values(), default=0)

    def clear(self) -> None:
        """Forget what was seen."""
        self._norms: dict[str, list[Tensor]] = defaultdict(list)
        self._fired: dict[nn.Parameter, int] = defaultdict(int)
        self._sums: dict[nn.Parameter, Tensor] = {}

    def small(self) -> Tensor:
        """Summed squared norms of the micro-batches by group, then the probe's own sum."""
        device, dtype = self.probe[0].device, widest(self.probe[0].device)
        zero = torch.zeros((), device=device, dtype=dtype)
        norms = [
            torch.stack(self._norms[g]).to(device, dtype).square().sum() if self._norms[g] else zero
            for g in self.groups
        ]
        sums = [
            self._sums[p].to(device, dtype).flatten()
            if p in self._sums
            else torch.zeros(p.numel(), device=device, dtype=dtype)
            for p in self.probe
        ]
        return torch.cat([torch.stack(norms), *sums])

    def big(self) -> tuple[Tensor, Tensor]:
        """Squared norms of `.grad` by group, and the `.grad` of the probe."""
        device, dtype = self.probe[0].device, widest(self.probe[0].device)
        norms: Mapping[str, list[Tensor]] = {g: [] for g in self.groups}
        for parameter, group in self.group_of.items():
            if parameter.grad is not None:
                one = torch.linalg.vector_norm(parameter.grad, dtype=wide(parameter.grad))
                norms[group].append(one.to(device, dtype))
        zero = torch.zeros((), device=device, dtype=dtype)
        squares = [torch.stack(n).square().sum() if n else zero for n in norms.values()]
        now = [
            (torch.zeros_like(p) if p.grad is None else p.grad.detach()).to(device, dtype).flatten()
            for p in self.probe
        ]
        return torch.stack(squares), torch.cat(now)

    def read(
        self, counted: Tensor, summed: Callable[[Tensor], Tensor] | None
    ) -> tuple[Tensor, ...]:
        """Small and big squared norms by group in units of the summed gradient, the miss, counts.

        The miss is the share of the probe's gradient that no single factor explains.
        """
        small, (big, now) = self.small(), self.big()
        together = torch.cat([counted, small])
        if summed is not None:
            together = summed(together)
        first, last = len(counted), len(counted) + len(self.groups)
        kept = together[last:]
        factor = now @ kept / (kept @ kept)
        miss = ((now - factor * kept).square().sum() / now.square().sum()).sqrt()
        return together[first:last], big / factor.square(), miss, together[:first]

    def close(self) -> None:
        """Take the hooks off."""
        for hook in self._hooks:
            hook.remove()
        self.clear()


def widest(device: torch.device) -> torch.dtype:
    """float64, where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def wide(tensor: Tensor) -> torch.dtype:
    """The dtype that a norm is computed in: float32 at least."""
    return torch.promote_types(tensor.dtype, torch.float32)


def smallest(parameters: list[nn.Parameter]) -> list[nn.Parameter]:
    """The smallest parameters that hold `PROBE_VALUES` together; at least one."""
    chosen: list[nn.Parameter] = []
    for parameter in sorted(parameters, key=lambda p: p.numel()):
        if chosen and sum(p.numel() for p in chosen) >= PROBE_VALUES:
            break
        chosen.append(parameter)
    return chosen


def sequences_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | int:
    """Documents of the micro-batch behind a forward pass: shown by its loop, else as called."""
    given = {**({"input_ids": args[0]} if args else {}), **kwargs}
    batch = counts.shown() or {
        name: given[name]
        for name in ("input_ids", "position_ids", "attention_mask")
        if isinstance(given.get(name), Tensor)
    }
    ids = batch.get("input_ids")
    if ids is None or ids.ndim != 2 or ids.is_floating_point():
        raise ValueError(
            "the sequences of this forward pass cannot be counted: it has no input_ids of (rows, "
            "slots); say how many a micro-batch holds with Tracker(..., sequences=N)"
        )
    documents: Tensor | int = counts.take(batch).sums[0]
    return documents
