"""Watch a learner's checkpoint: what it computes, how often, what it holds, what it disturbs.

    checkpoint(layers, x, segments), a case  ->  gradients, counts and bytes beside a plain run

The plain run takes copies of the same layers, the same input and the same random state.

Words
    segment   (first, end): layers first to end - 1, whose activations are computed again
    plain     the layers one after another, everything kept
"""

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from batchlab.memory import trace

__all__ = ["Decoder", "in_order", "kept_bytes", "peak_of", "stack", "watched"]

WIDTH, WIDE, ROWS = 8, 128, 512
Checkpoint = Callable[..., Any]
Call = tuple[nn.Module, StorageWeakRef]  # who was run, and whether its input still lives


class Decoder(nn.Module):
    """A decoder layer of the small model as a function of hidden states alone."""

    def __init__(self, layer: nn.Module, positions: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.positions = positions

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)[None]
        rotary = self.positions(x, places)
        return self.layer(x, attention_mask=None, position_embeddings=rotary)  # type: ignore[no-any-return]


def stack(network: Any) -> list[nn.Module]:
    """The decoder layers of a Llama of transformers, each a function of hidden states."""
    return [Decoder(layer, network.model.rotary_emb) for layer in network.model.layers]


def in_order(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    """The output of the last layer, each layer run on the output of the one before."""
    for layer in layers:
        x = layer(x)
    return x


def kept_bytes(layer: nn.Module, x: Tensor) -> int:
    """Bytes that a layer keeps for its backward pass, its input included and its weights not."""
    own = {one.untyped_storage().data_ptr() for one in [*layer.parameters(), *layer.buffers()]}
    seen = {}

    def note(value: Tensor) -> Tensor:
        storage = value.untyped_storage()
        if storage.data_ptr() not in own:
            seen[storage.data_ptr()] = (
                storage.nbytes(),
                value,
            )  # alive, so that no two share a place
        return value

    with torch.autograd.graph.saved_tensors_hooks(note, lambda value: value):
        layer(x.detach().requires_grad_())
    return sum(size for size, _ in seen.values())


def peak_of(run: Callable[[], Tensor], layers: Sequence[nn.Module]) -> int:
    """Bytes at the fullest moment of `run` and of the backward pass of its mean square.

    Gradients are there before, as in every micro-batch of a step but the first, and do not count.
    """
    for weight in nn.ModuleList(layers).parameters():
        weight.grad = torch.zeros_like(weight)
    return trace.measure_peak(lambda: run().square().mean().backward())


class Noisy(nn.Module):
    """A residual block that keeps much more than its input, draws dropout, and notes its calls."""

    def __init__(
        self, dropout: float, draw: torch.Generator, dtype: torch.dtype, noted: list[Call]
    ) -> None:
        super().__init__()
        sizes = (WIDTH, WIDE), (WIDE, WIDTH)
        up, down = (
            torch.randn(size, generator=draw, dtype=torch.float64) / size[0] ** 0.5
            for size in sizes
        )
        self.up, self.down = nn.Parameter(up.to(dtype)), nn.Parameter(down.to(dtype))
        self.dropout = nn.Dropout(dropout)
        self.calls, self.noted = 0, noted

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.noted.append((self, StorageWeakRef(x.untyped_storage())))
        inner: Tensor = self.dropout(torch.tanh(x @ self.up))
        return x + inner @ self.down


def _made(
    layers: int, *, dropout: float, training: bool, frozen: Sequence[int], shared: Sequence[int],
    seed: int, dtype: torch.dtype,
) -> tuple[list[nn.Module], Tensor]:  # fmt: skip
    draw, noted = torch.Generator().manual_seed(seed), list[Call]()
    made: list[nn.Module] = [
        Noisy(dropout, draw, dtype, noted).train(training) for _ in range(layers)
    ]
    for number in frozen:
        made[number].requires_grad_(False)
    for number in shared:
        made[number] = made[0]
    return made, torch.randn(ROWS, WIDTH, generator=draw, dtype=torch.float64).to(dtype)


def watched(
    checkpoint: Checkpoint,
    segments: Sequence[tuple[int, int]],
    *,
    layers: int = 6,
    dropout: float = 0.0,
    training: bool = True,
    leaf: bool = True,
    frozen: Sequence[int] = (),
    shared: Sequence[int] = (),
    before: float = 0.0,
    seed: int = 8,
    dtype: torch.dtype = torch.float64,
    peak: bool = False,
) -> dict[str, Any]:
    """One forward and backward pass through the learner's function, and through the plain layers.

    output, gradients, x_gradient  pairs: the learner's, the plain one (None where there is none)
    calls        of each layer by the learner
    order        the layers that ran in the backward pass, one after another
    held         layers whose input was still there after the forward pass
    random       whether torch's random state is that of the plain run: (after forward, at the end)
    left         what else is otherwise than before, in words; empty: nothing
    borrowed     whether torch.utils.checkpoint was called
    peak_bytes   the fullest moment, if `peak`; and that of the plain run
    """
    setting: dict[str, Any] = {
        "dropout": dropout, "training": training, "frozen": frozen, "shared": shared,
        "seed": seed, "dtype": dtype,
    }  # fmt: skip
    runs = []
    found: dict[str, Any] = {"borrowed": False}
    kept = torch.get_rng_state()
    try:
        for run in (checkpoint, lambda some, x, _: in_order(some, x)):
            made, x = _made(layers, **setting)
            torch.manual_seed(seed)
            runs.append(_pass(run, made, x.requires_grad_(leaf), segments, before, found))
        if peak:
            found["peak_bytes"] = [
                _peak(run, _made(layers, **setting), segments)
                for run in (checkpoint, lambda some, x, _: in_order(some, x))
            ]
    finally:
        torch.set_rng_state(kept)
    yours, plain = runs
    for name in ("output", "gradients", "x_gradient"):
        found[name] = yours[name], plain[name]
    found["random"] = [
        bool(torch.equal(a, b)) for a, b in zip(yours["random"], plain["random"], strict=True)
    ]
    return {**found, **{name: yours[name] for name in ("calls", "order", "held", "left")}}


def _pass(
    run: Checkpoint, layers: list[nn.Module], x: Tensor, segments: Any, before: float, found: Any
) -> dict[str, Any]:
    """Forward, then backward of a weighted sum; what came of it."""
    weights = [one for one in nn.ModuleList(layers).parameters() if one.requires_grad]
    if before:
        for weight in weights:
            weight.grad = torch.full_like(weight, before)
    old = _states(layers, x)
    with _borrowing(found):
        y = run(list(layers), x, copy.deepcopy(segments))
        random = [torch.get_rng_state()]
        noted: Any = layers[0].noted
        forward = [*noted]
        held = {layers.index(one) for one, place in forward if not place.expired()}
        pull = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
        (y * pull).sum().backward()
    random.append(torch.get_rng_state())
    return {
        "output": y.detach().flatten().tolist()[:64],
        "gradients": [_flat(one.grad) for one in nn.ModuleList(layers).parameters()],
        "x_gradient": _flat(x.grad),
        "random": random,
        "calls": [layer.calls for layer in layers],
        "order": [layers.index(one) for one, _ in noted[len(forward) :]],
        "held": sorted(held),
        "left": _difference(old, _states(layers, x)),
    }


def _flat(gradient: Tensor | None) -> list[float] | None:
    """The sum and the first values: enough to tell, and little to send."""
    if gradient is None:
        return None
    values: list[float] = gradient.double().flatten().tolist()
    return [sum(values), *values[:24]]


def _states(layers: list[nn.Module], x: Tensor) -> dict[str, Any]:
    return {
        "train or eval mode": [one.training for one in nn.ModuleList(layers).modules()],
        "requires_grad of the weights": [
            one.requires_grad for one in nn.ModuleList(layers).parameters()
        ],
        "requires_grad of x": x.requires_grad,
        "the values of x": x.detach().clone().tolist(),
        "the weights": [
            one.detach().clone().tolist() for one in nn.ModuleList(layers).parameters()
        ],
    }


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    return ", ".join(name for name in old if old[name] != new[name])


def _peak(run: Checkpoint, made: tuple[list[nn.Module], Tensor], segments: Any) -> int:
    layers, x = made
    return peak_of(lambda: run(layers, x.requires_grad_(), segments), layers)


@contextlib.contextmanager
def _borrowing(found: dict[str, Any]) -> Iterator[None]:
    """Note whether PyTorch's own checkpoint runs, however its name was imported."""
    from torch.utils import checkpoint as module

    with contextlib.ExitStack() as stack:
        for name in ("_checkpoint_without_reentrant_generator", "CheckpointFunction"):
            if hasattr(module, name):
                stack.enter_context(mock.patch.object(module, name, _noting(module, name, found)))
        yield


def _noting(module: Any, name: str, found: dict[str, Any]) -> Any:
    real = getattr(module, name)
    if isinstance(real, type):

        class Noted(real):  # type: ignore[misc, valid-type]
            @classmethod
            def apply(cls, *given: Any, **options: Any) -> Any:
                found["borrowed"] = True
                return real.apply(*given, **options)

        return Noted

    def noted(*given: Any, **options: Any) -> Any:
        found["borrowed"] = True
        return real(*given, **options)

    return noted
