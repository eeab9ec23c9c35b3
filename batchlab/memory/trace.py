"""Predict the peak memory of a training step by running it without memory, and measure it.

    model config, rows, length  ->  bytes at the fullest moment, by what they are for

`loop.train_step` itself runs on the real model under fake tensors: shapes and lifetimes without
data, so no GPU and hardly any memory is needed. Each phase is affine in the number of equal layers,
so two shallow models give every depth; the peak is the largest of the phases, which the peaks alone
would not give. The backward pass is several phases: activations fall layer by layer while gradients
rise, so it is fullest at one of its ends.

Words
    phase   forward, backward (head, top, next, bottom layer) or optimizer of a step that has
            optimizer states from the steps before; of its last micro-batch, which finds the
            gradients of the others
    kind    parameters, gradients, optimizer, activations, logits, temporary
"""

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from batchlab import units
from batchlab.memory._counter import (
    CUDA_BLOCK,
    has_product_scratch,
    measure_peak,
    workspace_bytes,
)
from batchlab.memory._layers import ByPhase, extrapolated
from batchlab.memory._models import (
    body_of,
    config_of,
    depths,
    layer_of,
    made,
    model_of,
    require_positions,
    units_of,
    unwrapped,
    without_memory,
)
from batchlab.memory._rehearsal import Rehearsal
from batchlab.memory._shards import Shard, sharded
from batchlab.memory._spread import expert_share, of_experts, rank_of
from batchlab.memory._states import Held, predict_states
from batchlab.memory._step import OF_A_CONFIG, Setting, make_states, states_of
from batchlab.memory._storages import KINDS, Living
from batchlab.memory._tasks import task_of

__all__ = [
    "KINDS",
    "Comparison",
    "Held",
    "Peak",
    "Setting",
    "Shard",
    "compare",
    "measure_peak",
    "predict_peak",
    "predict_states",
]

BACKWARD = tuple(f"backward, {part}" for part in ("head", "top", "next", "bottom"))


@dataclass(frozen=True)
class Peak:
    """Bytes at the fullest moment of a step, and at the fullest moment of each phase."""

    by_phase: ByPhase  # phase -> kind -> bytes
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


@dataclass(frozen=True)
class Comparison:
    """A prediction beside what was measured; the difference is shown, never hidden."""

    predicted: Peak
    measured_bytes: int
    workspace_bytes: int = 0  # of cuBLAS, beside both

    @property
    def residual_bytes(self) -> int:
        return self.measured_bytes - self.predicted.total_bytes

    @property
    def error(self) -> float:
        """Predicted / measured - 1."""
        return self.predicted.total_bytes / self.measured_bytes - 1

    def __str__(self) -> str:
        return (
            f"predicted {units.size(self.predicted.total_bytes)}, "
            f"measured {units.size(self.measured_bytes)}, unexplained "
            f"{units.size(self.residual_bytes)} ({100 * self.error:+.2f} %)"
        )


def predict_peak(
    source: Any, *, rows: int = 1, length: int = 2, device: str | None = None, **options: Any
) -> Peak:
    """Bytes that a step of `rows` x `length` slots needs on one device; nothing is allocated.

    `source` is a causal LM of transformers, traced as it is with its adapters and frozen weights,
    or the config of one. The options are the other fields of `Setting`; those that make a model
    (`dtype`, `attention`, `checkpointing`, `adapt`) are for a config. `device` says whose
    allocator is meant, by default that of the given model, else "cpu"; "cuda" needs none here.

    A classifier, a masked LM and an encoder with a decoder are known by their class, or by the
    `architectures` of their config, and bring their own loss; targets are as long as rows.
    `batch` is a micro-batch of yours in place of rows and length, for any given model whose output
    has a loss: with images, for one. `tensor` devices share each layer, `experts` keep a share of
    the experts: the peak is that of one of them.
    """
    source = _checked(source, options)
    setting = Setting(rows=rows, length=length, task=task_of(source), **options)
    source = rank_of(source, setting.tensor)
    require_positions(config_of(source), length)
    cuda = torch.device(device or _device_of(source)).type == "cuda"
    traced_layers = depths(source, setting)
    traced = [_trace(source, depth, setting, cuda) for depth in traced_layers]
    found = traced[0]
    if len(traced) > 1:
        layers = int(config_of(source).num_hidden_layers)
        found = extrapolated(traced, traced_layers, layers)
    if setting.experts > 1:
        found = of_experts(found, _share(source, setting), setting.experts, setting.shard)
    if setting.shard:
        units = units_of(model_of(source, setting, traced_layers[0]), setting.experts)
        found = sharded(found, setting.shard, units)
    return Peak(found, traced_layers)


def _share(source: Any, setting: Setting) -> float:
    """Of all weights, those of experts; refused where there are none to spread."""
    model = source if isinstance(source, nn.Module) else made(source, setting, "meta")
    share = expert_share(model.named_parameters())
    if not share:
        raise ValueError("experts are to be spread, and this model has none")
    return share


def compare(
    source: Any, *, rows: int = 1, length: int = 2, device: str | None = None, **options: Any
) -> Comparison:
    """Predict the peak, then take the step for real and measure it; no weight moves.

    Takes what `predict_peak` takes; a given model stays on its device.
    """
    source = _checked(source, options)
    setting = Setting(rows=rows, length=length, task=task_of(source), **options)
    if setting.shard or setting.tensor > 1 or setting.experts > 1:
        raise ValueError("shards are predicted: one device cannot measure them")
    place = device or _device_of(source)
    predicted = predict_peak(source, rows=rows, length=length, device=place, **options)
    model = source if isinstance(source, nn.Module) else made(source, setting, place)
    batches = setting.micro_batches(config_of(source).vocab_size)
    measured, said = Rehearsal(model, setting).peak(batches)
    if measured is None:
        raise MemoryError(f"the step did not fit, so nothing is compared: {said}")
    return Comparison(predicted, measured, workspace_bytes(place))


def _checked(source: Any, options: Any) -> Any:
    """The model behind its wrappers; what only a config can be told is refused beside a model."""
    if not isinstance(source, nn.Module):
        return source
    for name in OF_A_CONFIG:
        if name in options:
            raise ValueError(f"{name} is for a config: a given model is traced as it is")
    return unwrapped(source)


def _device_of(source: Any) -> str:
    return next(source.parameters()).device.type if isinstance(source, nn.Module) else "cpu"


def _trace(source: Any, depth: int, setting: Setting, cuda: bool) -> ByPhase:
    """One step on fake tensors, phase by phase."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    model, vocabulary = model_of(source, setting, depth), config_of(source).vocab_size
    block = CUDA_BLOCK if cuda else 1
    scratch = not cuda and has_product_scratch()
    living = Living(
        vocabulary, forward="forward", backward=BACKWARD[0], block=block, scratch=scratch
    )
    with (
        FakeTensorMode(allow_non_fake_inputs=True),
        _masks_as_in_a_real_run(),
        _kernels(model, setting, cuda),
        living,
        without_memory(model, depth),
    ):
        living.mark(model.parameters(), "parameters")
        optimizer = setting.optimizer(model, together=cuda)
        make_states(optimizer)
        living.mark(states_of(optimizer), "optimizer")
        micro_batches = setting.micro_batches(vocabulary)
        last = len(micro_batches) - 1

        def taken(number: int) -> None:
            if number == last:
                living.enter("optimizer")

        with _phases(living, model, 0 if setting.own_loss else depth):
            setting.take(model, optimizer, micro_batches, taken)
        return living.peaks


def _kernels(
    model: nn.Module, setting: Setting, cuda: bool
) -> contextlib.AbstractContextManager[None]:
    """What attention stores: on CUDA no fused kernel takes fewer key heads in float32 (torch 2.11),
    and all L x L scores are kept."""
    config = config_of(model)
    heads = getattr(config, "num_attention_heads", 1)
    grouped = (getattr(config, "num_key_value_heads", None) or heads) < heads
    wide = next(model.parameters()).dtype == torch.float32 and setting.autocast is None
    if cuda and grouped and wide and (config._attn_implementation or "sdpa") == "sdpa":
        return sdpa_kernel(SDPBackend.MATH)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _phases(living: Living, model: nn.Module, layers: int) -> Iterator[None]:
    """Enter the phases as the step goes; the first gradient of a layer begins the next.

    Of 0 layers the backward pass is one phase: what is traced as deep as it is needs no more.
    """
    phases = {0: BACKWARD[3], 1: BACKWARD[2], layers - 1: BACKWARD[1]}

    def arrived(parameter: Tensor, layer: int | None) -> None:
        living.mark([parameter.grad], "gradients")
        phase = living.phase if layer is None else phases.get(layer, "backward, middle")
        if phase != living.phase:
            living.enter(phase)

    hooks: list[Any] = [
        body_of(model).register_forward_pre_hook(lambda *_: living.enter("forward"))
    ]
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            hook = functools.partial(arrived, layer=layer_of(name) if layers else None)
            hooks.append(parameter.register_post_accumulate_grad_hook(hook))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def _masks_as_in_a_real_run() -> Iterator[None]:
    """Whole rows need no mask; only with data can transformers see that nothing is packed."""
    from transformers import masking_utils

    name = "find_packed_sequence_indices"
    kept = getattr(masking_utils, name, None)
    if kept is None:  # an older or newer transformers: `compare` will show the residual
        yield
        return
    try:
        setattr(masking_utils, name, lambda *_, **__: None)
        yield
    finally:
        setattr(masking_utils, name, kept)
