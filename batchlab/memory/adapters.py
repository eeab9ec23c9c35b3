"""Change a model before it is traced or tried: LoRA adapters, and 4-bit weights under them.

    model  ->  the same model with adapters, its own weights frozen

LoRA is that of peft, on every linear layer but the head, as its authors' later practice has it.
The 4-bit weights hold the bytes of bitsandbytes' NF4 and are unpacked for each product, forward
and backward, as there; what they unpack to is of no use, so they are for measuring memory.

Words
    nf4         half a byte a weight, and a float32 scale for every 64
    nf4-double  the same with the scales in 8 bits, and a float32 scale for every 256 of them
"""

import warnings
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["QUANTISED", "lora", "quantised"]

QUANTISED = ("nf4", "nf4-double")
BLOCK, OUTER = 64, 256  # weights a scale, scales a scale of theirs (Dettmers et al. 2023)


def lora(model: Any, rank: int) -> Any:
    """The model with LoRA adapters of this rank on every linear layer; its own weights frozen.

    Adapters of 16-bit weights are in float32, as peft makes them.
    """
    try:
        import peft
    except ImportError:
        raise ValueError("LoRA needs peft: pip install peft") from None
    config = peft.LoraConfig(r=rank, target_modules="all-linear", task_type="CAUSAL_LM")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`")  # an older name
        warnings.filterwarnings("ignore", "fan_in_fan_out is set to")  # GPT-2: peft sets it right
        try:
            return peft.get_peft_model(model, config)
        except ValueError as error:
            raise ValueError(f"LoRA: {str(error).splitlines()[0][:200]}") from None


def quantised(model: Any, kind: str = "nf4") -> Any:
    """The model with every frozen linear layer in 4 bits; embedding, head and norms stay.

    Weights that are trained cannot be in 4 bits: give the model its adapters first.
    """
    if kind not in QUANTISED:
        raise ValueError(f"unknown weights {kind!r}; there are {', '.join(QUANTISED)}")
    head = model.get_output_embeddings()
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear and child is not head and not child.weight.requires_grad
    ]
    if not found:
        raise ValueError(
            f"{kind}: no linear layer but the head is frozen, and 4-bit weights are not trained: "
            "add adapters first"
        )
    for parent, name, child in found:
        setattr(parent, name, FourBits(child, double=kind.endswith("double")))
    return model


class FourBits(nn.Module):
    """A linear layer whose weights take the bytes of NF4, unpacked for each product."""

    def __init__(self, linear: nn.Linear, *, double: bool) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bias, self.dtype = linear.bias, linear.weight.dtype
        scales = -(-linear.weight.numel() // BLOCK)
        parts = {"packed": (-(-linear.weight.numel() // 2), torch.uint8)}
        parts |= {"scales": (scales, torch.uint8 if double else torch.float32)}
        if double:
            parts |= {"outer": (-(-scales // OUTER), torch.float32)}
        for name, (count, dtype) in parts.items():
            zeros = torch.zeros(count, dtype=dtype, device=linear.weight.device)
            self.register_parameter(name, nn.Parameter(zeros, requires_grad=False))

    def forward(self, values: Tensor) -> Tensor:
        shape = (self.out_features, self.in_features)
        inner = values.to(self.dtype)
        product: Tensor = _Product.apply(inner, self.packed, self.bias, shape)  # type: ignore[no-untyped-call]
        return product.to(values.dtype)


class _Product(torch.autograd.Function):
    """Keeps the packed weights for the backward pass, never the unpacked ones."""

    @staticmethod
    def forward(
        context: Any, values: Tensor, packed: Tensor, bias: Tensor | None, shape: tuple[int, int]
    ) -> Tensor:
        context.save_for_backward(packed)
        context.shape = shape
        return functional.linear(values, _unpacked(packed, shape, values.dtype), bias)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (packed,) = context.saved_tensors
        (gradient,) = gradients
        return gradient @ _unpacked(packed, context.shape, gradient.dtype), None, None, None


def _unpacked(packed: Tensor, shape: tuple[int, int], dtype: torch.dtype) -> Tensor:
    return torch.zeros(shape, dtype=dtype, device=packed.device)
