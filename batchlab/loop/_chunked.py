"""The loss without all of its logits: those of some slots at a time, and again in the backward.

    model, inputs, labels  ->  the summed loss, exact, with one chunk of logits alive

Over 152,000 words, a bf16 logit with its float32 copy and gradient comes to 1.52 MB a slot; all 24
layers of a 0.5 B model keep 1.20 MB. Only the head runs in chunks: one more product with it.

Shapes, by suffix, in this file
    B  rows of a micro-batch    T  positions in a row    N = B * T slots    D  hidden size
"""

import contextlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from batchlab.loop._forward import carried, run, shifted, summed_loss, summed_over

__all__ = ["loss_of"]

# configs that say that logits are more than head(hidden): Gemma 2, Granite, Cohere, Falcon-H1
_CHANGED_LATER = (
    "final_logit_softcapping",
    "logits_scaling",
    "logit_scale",
    "lm_head_multiplier",
)


def loss_of(
    model: nn.Module,
    inputs: Mapping[str, Any],
    labels_BT: Tensor,
    slots: int | None,
    *,
    autocast: torch.dtype | None = None,
) -> Tensor:
    """Cross-entropy in nats, summed over the target tokens; `slots` logits are alive at a time.

    Without `slots` all of them are. `inputs` are what `prepare` gave. A model whose logits are not
    `head(hidden)` is refused.
    """
    if slots is None:
        return summed_loss(run(model, inputs, autocast=autocast), labels_BT)
    if slots < 1:
        raise ValueError(f"loss_chunk must be at least 1 slot, got {slots}")
    body, head = _apart(model)
    device = labels_BT.device
    context = torch.autocast(device.type, autocast) if autocast else contextlib.nullcontext()
    with context:
        hidden_BTD = body(**carried(inputs, device), use_cache=False).last_hidden_state
        chunks = zip(
            hidden_BTD.flatten(0, 1).split(slots), shifted(labels_BT).split(slots), strict=True
        )
        losses = [
            checkpoint(_one, head, *chunk, use_reentrant=False, preserve_rng_state=False)
            for chunk in chunks
        ]
    return torch.stack(losses).sum()


def _one(head: nn.Module, hidden_ND: Tensor, targets_N: Tensor) -> Tensor:
    return summed_over(head(hidden_ND), targets_N)


def _apart(model: nn.Module) -> tuple[nn.Module, nn.Module]:
    """What makes hidden states, and the head that makes logits of them."""
    if isinstance(model, nn.parallel.DistributedDataParallel):
        raise ValueError("loss_chunk needs the model itself: DistributedDataParallel is passed by")
    peft: Any = model
    base = peft.get_base_model() if hasattr(model, "get_base_model") else peft
    body, find = getattr(base, "base_model", None), getattr(base, "get_output_embeddings", None)
    head = find() if find else None
    if not isinstance(body, nn.Module) or body is base or not isinstance(head, nn.Module):
        raise ValueError(
            f"loss_chunk needs a causal LM of transformers, with a body and a head; "
            f"{type(base).__name__} does not say which they are"
        )
    for name in _CHANGED_LATER:
        if getattr(base.config, name, None):
            raise ValueError(f"loss_chunk is refused: logits of this model go through {name}")
    return body, head
