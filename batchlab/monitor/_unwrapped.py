"""What stands behind the wrappers that people train through.

    a wrapped model or optimizer  ->  the model that computes, the optimizer that updates

accelerate, DistributedDataParallel, FSDP, torch.compile and PEFT put an object of their own around
a model or an optimizer. Calls go to the wrapper; what a model *is*, its inside says.
"""

import contextlib
import sys
from typing import Any

import torch
from torch import nn

from batchlab.model import VARLEN, recomputes

__all__ = [
    "autocast_of",
    "called_inside",
    "inner_model",
    "inner_optimizer",
    "mixes_documents",
    "stack_of",
]

WRAPPED = ("module", "_fsdp_wrapped_module", "_orig_mod")  # by DDP, FSDP and torch.compile


def inner_model(model: nn.Module) -> nn.Module:
    """The model without its wrappers; adapters of PEFT stay inside its layers."""
    for name in WRAPPED:
        inside = model._modules.get(name)
        if inside is not None and len(model._modules) == 1:
            return inner_model(inside)
    base = getattr(model, "get_base_model", None)
    found: nn.Module = base() if base else model
    return found


def called_inside(model: nn.Module) -> list[nn.Module]:
    """The model, and what stands in it and may be called past it: DDP and PEFT generate so.

    What torch.compile has is left alone: hooks would break its graph.
    """
    inside = inner_model(model)
    compiled = any(hasattr(one, "_orig_mod") for one in (model, getattr(model, "module", None)))
    return [model] if compiled or inside is model else [model, inside]


def stack_of(model: Any) -> str:
    """What a model is wrapped in, for a line that its user reads: "DDP around BertModel"."""
    inside = model
    with contextlib.suppress(Exception):  # a name for a line: whatever the object is
        inside = inner_model(model)
    names = [type(one).__name__ for one in ([model] if inside is model else [model, inside])]
    return " around ".join(names)


def inner_optimizer(optimizer: Any) -> torch.optim.Optimizer:
    """The optimizer whose `step` updates: that of accelerate has no hooks of its own."""
    while isinstance(inside := getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        optimizer = inside
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ValueError(
            f"{type(optimizer).__name__} is no torch optimizer and holds none as .optimizer: give "
            "the one that updates the weights"
        )
    return optimizer


def autocast_of(model: nn.Module) -> torch.dtype | None:
    """The dtype of the autocast region that accelerate put inside the forward pass, if any."""
    state = sys.modules.get("accelerate.state")
    if state is None or not hasattr(inner_model(model), "_original_forward"):
        return None
    names = {"bf16": torch.bfloat16, "fp16": torch.float16}
    return names.get(str(state.AcceleratorState().mixed_precision))


def mixes_documents(model: nn.Module, given: dict[str, Any]) -> bool:
    """Whether the documents of a packed row would attend to each other in this call.

    transformers draws borders between them only without an attention mask and, in the kernels that
    take a mask, without a cache. Of other models nothing is known, and nothing is said.
    """
    inside = inner_model(model)
    config = getattr(inside, "config", None)
    attention = getattr(config, "_attn_implementation", None)
    if attention in (None, VARLEN):
        return False
    mask = given.get("attention_mask")
    if isinstance(mask, torch.Tensor) and mask.ndim == 2:
        return True
    asked = given.get("use_cache")
    cache = getattr(config, "use_cache", False) if asked is None else asked
    return bool(cache) and "flash" not in attention and not recomputes(inside)
