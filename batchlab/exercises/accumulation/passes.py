"""The passes of a model, made and held by the check: who is watched counts nothing himself.

    tokens, weights  ->  logits; their gradient  ->  those of the weights

What the backward pass needs stays here until it is let go, so what is counted and held is known
here. One factor of the model is known here alone: no other way leads to its gradient.

Words
    held   passes whose activations were not let go
"""

import hashlib
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from batchlab.classroom import term

__all__ = ["Passes"]

OWN = 0.2  # the factor lies so near to 1


class Passes:
    """Forward and backward passes of one model: how many, and the most that were held at once.

    What another process is given of it are its public methods, and none of them counts back.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[list[Tensor], Tensor]] = {}
        self.count = self.most_held = 0
        drawn = hashlib.sha256(f"{term.seed()}\npasses".encode()).digest()[:7]
        draw = torch.Generator().manual_seed(int.from_bytes(drawn, "big"))
        self._factor = 1 + OWN * (2 * torch.rand(64, generator=draw).double() - 1)

    def __deepcopy__(self, memo: dict[int, object]) -> "Passes":
        return self  # it is not the learner's to copy

    def forward(
        self, tokens: Tensor, weights: Sequence[Tensor], keeps: bool, freed: Sequence[int]
    ) -> tuple[int, Tensor]:
        """Number and logits of a pass; `freed` are the numbers of passes that were let go."""
        for one in freed:
            self._held.pop(one, None)
        own = [weight.detach().requires_grad_() for weight in weights]
        embedding, head, gain, bias = own
        apart = torch.autograd.graph.saved_tensors_hooks(Tensor.detach, Tensor.detach)
        with torch.enable_grad(), apart:  # hooks around the model are none of this side's
            activations = torch.tanh(F.embedding(tokens, embedding)) * gain
            logits = activations * self._factor[: len(gain)] @ head.T + bias
        self.count += 1
        if keeps:
            self._held[self.count] = own, logits
            self.most_held = max(self.most_held, len(self._held))
        return self.count, logits.detach()

    def backward(self, number: int, gradient: Tensor) -> list[Tensor]:
        """Gradients of the weights of a pass that is held."""
        own, logits = self._held[number]
        return [*torch.autograd.grad(logits, own, gradient, retain_graph=True)]
