"""Predict the peak memory of a training step by running it without memory, and measure it.

    model config, rows, length  ->  bytes at the fullest moment, by what they are for

The real step of the real model runs on fake tensors: shapes and lifetimes without data, so no GPU
and hardly any memory is needed. A light dispatch mode adds up the storages that are alive. Each
phase is affine in the number of equal layers, so two shallow models give every depth; the peak is
the largest of the phases, which the peaks alone would not give. The backward pass is several
phases: activations fall layer by layer while gradients rise, so it is fullest at one of its ends.

Words
    phase   forward, backward (head, top, next, bottom layer) or optimizer of the second step, when
            optimizer states exist
    kind    parameters, gradients, optimizer, activations, logits, temporary
"""

import copy
import functools
import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from batchlab.loop import logits_of, summed_loss

__all__ = ["KINDS", "Peak", "measure_peak", "predict_peak"]

KINDS = ("parameters", "gradients", "optimizer", "activations", "logits", "temporary")
BACKWARD = tuple(f"backward, {part}" for part in ("head", "top", "next", "bottom"))
PHASES = ("forward", *BACKWARD, "optimizer")
SHALLOW = 3, 5  # layers traced; deeper models are extrapolated

MakeOptimizer = Callable[[Any], torch.optim.Optimizer]


@dataclass(frozen=True)
class Peak:
    """Bytes at the fullest moment of a step, and at the fullest moment of each phase."""

    by_phase: dict[str, dict[str, int]]  # phase -> kind -> bytes
    traced_layers: tuple[int, ...]

    @property
    def phase(self) -> str:
        """The phase in which the step is fullest."""
        return max(self.by_phase, key=lambda phase: sum(self.by_phase[phase].values()))

    @property
    def by_kind(self) -> dict[str, int]:
        return self.by_phase[self.phase]

    @property
    def total_bytes(self) -> int:
        return sum(self.by_kind.values())


def predict_peak(
    config: Any,
    *,
    rows: int,
    length: int,
    checkpointing: bool = False,
    dtype: torch.dtype = torch.float32,
    autocast: torch.dtype | None = None,
    attention: str = "sdpa",
    make_optimizer: MakeOptimizer | None = None,
) -> Peak:
    """Bytes that one device needs for a step of `rows` x `length` slots; nothing is allocated.

    `config` is that of a transformers causal LM. The optimizer is AdamW unless `make_optimizer`
    gives another for the parameters.
    """
    if rows < 1 or length < 2:
        raise ValueError(f"rows >= 1 and length >= 2 needed, got {rows} and {length}")
    layers = int(config.num_hidden_layers)
    depths = SHALLOW if layers > SHALLOW[1] else (layers,)
    options = (rows, length, checkpointing, dtype, autocast, attention, make_optimizer or _adamw)
    traced = [_trace(_with_layers(config, depth), *options) for depth in depths]
    if len(traced) == 1:
        return Peak(traced[0], depths)
    return Peak(_extrapolated(traced, layers), depths)


def measure_peak(step: Callable[[], Any], device: str | torch.device = "cpu") -> int:
    """Peak bytes while `step()` runs, counted independently of the prediction.

    On a GPU the allocator's own counter; on the CPU the profiler's memory events, on top of what
    is alive before (which the caller knows: parameters, and optimizer states after a first step).
    """
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        step()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated()
    activity = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activity, profile_memory=True) as profiler:
        step()
    alive = most = 0
    events = profiler.profiler.kineto_results.events()
    for event in sorted(events, key=lambda one: one.start_ns()):
        if event.name() == "[memory]":
            alive += event.nbytes()
            most = max(most, alive)
    return most


def _trace(
    config: Any,
    rows: int,
    length: int,
    checkpointing: bool,
    dtype: torch.dtype,
    autocast: torch.dtype | None,
    attention: str,
    make_optimizer: MakeOptimizer,
) -> dict[str, dict[str, int]]:
    """Two steps on fake tensors; the phases of the second."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from transformers import AutoModelForCausalLM

    from batchlab.model import set_checkpointing

    with FakeTensorMode(), _masks_as_in_a_real_run(), _Living(config.vocab_size) as living:
        model = AutoModelForCausalLM.from_config(
            config, dtype=dtype, attn_implementation=attention
        ).train()
        if checkpointing:
            set_checkpointing(model, True)
        living.mark(model.parameters(), "parameters")
        optimizer = make_optimizer(model.parameters())
        with living.gradients_of(model, config.num_hidden_layers):
            for _ in range(2):
                _step(model, optimizer, living, rows, length, autocast)
        return living.peaks


def _step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    living: "_Living",
    rows: int,
    length: int,
    autocast: torch.dtype | None,
) -> None:
    """One step as `loop.train_step` takes it, phase by phase, with nothing read back."""
    optimizer.zero_grad(set_to_none=True)
    living.enter("forward")
    batch = {"input_ids": torch.zeros(rows, length, dtype=torch.long)}
    labels = torch.zeros(rows, length, dtype=torch.long)
    loss = summed_loss(logits_of(model, batch, autocast=autocast), labels) / labels.numel()
    living.enter(BACKWARD[0])
    loss.backward()
    del loss
    living.enter("optimizer")
    optimizer.step()
    living.mark(
        (value for state in optimizer.state.values() for value in state.values()), "optimizer"
    )


class _Living(TorchDispatchMode):
    """Adds up the storages that are alive, by kind, and keeps the fullest moment of each phase."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.alive = dict.fromkeys(KINDS, 0)
        self.peaks: dict[str, dict[str, int]] = {}
        self.phase = ""
        self._known: dict[int, tuple[Any, int, str]] = {}  # id -> weak storage, bytes, kind

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        for value in tree_iter(result):
            if isinstance(value, Tensor):
                self._seen(value, self._kind_of(value))
        return result

    def enter(self, phase: str) -> None:
        self.phase = phase
        self.peaks[phase] = dict(self.alive)

    def mark(self, tensors: Any, kind: str) -> None:
        """These are of a kind that their making did not show."""
        for value in tensors:
            if isinstance(value, Tensor):
                self._seen(value, kind)

    @contextmanager
    def gradients_of(self, model: nn.Module, layers: int) -> Iterator[None]:
        """Mark gradients as they arrive; the first of a layer begins the next phase."""
        phases = {0: BACKWARD[3], 1: BACKWARD[2], layers - 1: BACKWARD[1]}

        def arrived(parameter: Tensor, layer: int | None) -> None:
            self.mark([parameter.grad], "gradients")
            phase = self.phase if layer is None else phases.get(layer, "backward, middle")
            if phase != self.phase:
                self.enter(phase)

        hooks = [
            p.register_post_accumulate_grad_hook(functools.partial(arrived, layer=_layer_of(name)))
            for name, p in model.named_parameters()
        ]
        yield
        for hook in hooks:
            hook.remove()

    def _kind_of(self, value: Tensor) -> str:
        if self.phase == "forward":
            wide = value.ndim >= 2 and value.shape[-1] == self.vocabulary
            return "logits" if wide else "activations"
        return "temporary"

    def _seen(self, value: Tensor, kind: str) -> None:
        storage = value.untyped_storage()
        key = storage._cdata
        known = self._known.get(key)
        if known is not None:
            _, size, before = known
            if kind != before and kind not in ("temporary", "activations", "logits"):
                self.alive[before] -= size
                self.alive[kind] += size
                self._known[key] = (known[0], size, kind)
            return
        size = storage.nbytes()
        reference = weakref.ref(storage, functools.partial(self._freed, key))
        self._known[key] = (reference, size, kind)
        self.alive[kind] += size
        self._look()

    def _freed(self, key: int, _: Any) -> None:
        known = self._known.pop(key, None)
        if known:
            self.alive[known[2]] -= known[1]

    def _look(self) -> None:
        fullest = self.peaks.get(self.phase)
        if fullest is not None and sum(self.alive.values()) > sum(fullest.values()):
            self.peaks[self.phase] = dict(self.alive)


def _nothing_packed(*_: Any, **__: Any) -> None:
    return None


@contextmanager
def _masks_as_in_a_real_run() -> Iterator[None]:
    """Whole rows need no mask; only with data can transformers see that nothing is packed."""
    from transformers import masking_utils

    name = "find_packed_sequence_indices"
    kept = getattr(masking_utils, name, None)
    if kept is None:  # an older or newer transformers: the residual of `measure_peak` will show it
        yield
        return
    try:
        setattr(masking_utils, name, _nothing_packed)
        yield
    finally:
        setattr(masking_utils, name, kept)


def _layer_of(name: str) -> int | None:
    """The layer that a parameter belongs to: model.layers.3.mlp.up_proj.weight is of layer 3."""
    found = re.search(r"\.(?:layers|h)\.(\d+)\.", name)
    return int(found[1]) if found else None


def _with_layers(config: Any, layers: int) -> Any:
    shallow = copy.deepcopy(config)
    shallow.num_hidden_layers = layers
    kinds = getattr(shallow, "layer_types", None)
    if kinds is not None:
        shallow.layer_types = kinds[:layers]
    return shallow


def _extrapolated(
    traced: list[dict[str, dict[str, int]]], layers: int
) -> dict[str, dict[str, int]]:
    """Each kind in each phase is affine in the number of layers."""
    (small, large), (fewer, more) = traced, SHALLOW
    return {
        phase: {
            kind: small[phase][kind]
            + (large[phase][kind] - small[phase][kind]) * (layers - fewer) // (more - fewer)
            for kind in KINDS
        }
        for phase in PHASES
    }


def _adamw(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-4)
