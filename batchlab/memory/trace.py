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
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from batchlab import loop, units
from batchlab.memory._counter import CUDA_BLOCK, measure_peak, workspace_bytes
from batchlab.memory._layers import ByPhase, depths_of, extrapolated, with_layers
from batchlab.memory._storages import KINDS, Living

__all__ = [
    "KINDS",
    "Comparison",
    "Peak",
    "Setting",
    "compare",
    "make_states",
    "measure_peak",
    "predict_peak",
]

BACKWARD = tuple(f"backward, {part}" for part in ("head", "top", "next", "bottom"))
LEARNED_POSITIONS = ("gpt2", "opt", "gpt_neo", "gpt_bigcode")  # a table that ends


@dataclass(frozen=True)
class Setting:
    """The step to predict or to measure: AdamW, unless `make_optimizer` makes another."""

    rows: int
    length: int
    accumulation: int = 1  # micro-batches: from the second on, gradients are there in the forward
    padded: bool = False  # rows of unequal length need a mask
    checkpointing: bool = False
    dtype: torch.dtype = torch.float32
    autocast: torch.dtype | None = None
    accumulate_in: torch.dtype | None = None
    attention: str = "sdpa"
    make_optimizer: Callable[[Any], torch.optim.Optimizer] | None = None

    def __post_init__(self) -> None:
        if self.rows < 1 or self.length < 2 or self.accumulation < 1:
            raise ValueError(
                "rows >= 1, length >= 2 and accumulation >= 1 needed, got "
                f"{self.rows}, {self.length} and {self.accumulation}"
            )


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
    config: Any, *, rows: int, length: int, device: str = "cpu", **options: Any
) -> Peak:
    """Bytes that a step of `rows` x `length` slots needs on one device; nothing is allocated.

    `config` is that of a transformers causal LM; the options are the other fields of `Setting`.
    `device` says whose allocator is meant; "cuda" needs none to be present.
    """
    setting = Setting(rows, length, **options)
    _require_positions(config, length)
    layers = int(config.num_hidden_layers)
    depths = depths_of(config, layers)
    cuda = torch.device(device).type == "cuda"
    traced = [_trace(with_layers(config, depth), setting, cuda) for depth in depths]
    if len(traced) == 1:
        return Peak(traced[0], depths)
    return Peak(extrapolated(traced, depths, layers), depths)


def compare(
    config: Any, *, rows: int, length: int, device: str = "cpu", **options: Any
) -> Comparison:
    """Predict the peak, then take the step for real and measure it."""
    setting = Setting(rows, length, **options)
    model, optimizer = _model(config, setting, cuda=torch.device(device).type == "cuda", to=device)
    micro_batches = _micro_batches(setting, config.vocab_size)

    def step() -> None:
        _take(setting, model, optimizer, micro_batches)

    step()  # the first makes the optimizer states
    optimizer.zero_grad(set_to_none=True)
    states = [value for state in optimizer.state.values() for value in state.values()]
    batches = [value for batch in micro_batches for value in batch.values()]
    held = [*model.parameters(), *model.buffers(), *states, *batches]
    measured = measure_peak(step, device, held=held)
    predicted = predict_peak(config, rows=rows, length=length, device=device, **options)
    return Comparison(predicted, measured, workspace_bytes(device))


def _trace(config: Any, setting: Setting, cuda: bool) -> ByPhase:
    """One step on fake tensors, phase by phase."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    block = CUDA_BLOCK if cuda else 1
    living = Living(config.vocab_size, forward="forward", backward=BACKWARD[0], block=block)
    with FakeTensorMode(), _masks_as_in_a_real_run(), _kernels(config, setting, cuda), living:
        model, optimizer = _model(config, setting, cuda=cuda)
        living.mark(model.parameters(), "parameters")
        make_states(model, optimizer)
        states = (value for state in optimizer.state.values() for value in state.values())
        living.mark(states, "optimizer")
        micro_batches = _micro_batches(setting, config.vocab_size)
        last = len(micro_batches) - 1
        with _phases(living, model, config.num_hidden_layers):
            _take(
                setting,
                model,
                optimizer,
                micro_batches,
                lambda number: living.enter("optimizer") if number == last else None,
            )
        return living.peaks


def _kernels(config: Any, setting: Setting, cuda: bool) -> contextlib.AbstractContextManager[None]:
    """What attention stores: on CUDA no fused kernel takes fewer key heads in float32 (torch 2.11),
    and all L x L scores are kept."""
    heads = config.num_attention_heads
    grouped = (getattr(config, "num_key_value_heads", None) or heads) < heads
    wide = setting.dtype == torch.float32 and setting.autocast is None
    if cuda and grouped and wide and setting.attention == "sdpa":
        return sdpa_kernel(SDPBackend.MATH)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _phases(living: Living, model: nn.Module, layers: int) -> Iterator[None]:
    """Enter the phases as the step goes; the first gradient of a layer begins the next."""
    phases = {0: BACKWARD[3], 1: BACKWARD[2], layers - 1: BACKWARD[1]}

    def arrived(parameter: Tensor, layer: int | None) -> None:
        living.mark([parameter.grad], "gradients")
        phase = living.phase if layer is None else phases.get(layer, "backward, middle")
        if phase != living.phase:
            living.enter(phase)

    hooks: list[Any] = [model.register_forward_pre_hook(lambda *_: living.enter("forward"))]
    for name, parameter in model.named_parameters():
        hook = functools.partial(arrived, layer=_layer_of(name))
        hooks.append(parameter.register_post_accumulate_grad_hook(hook))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _model(
    config: Any, setting: Setting, *, cuda: bool, to: str = "cpu"
) -> tuple[Any, torch.optim.Optimizer]:
    """A model made on its device: on the CPU one of 0.5 B parameters takes half a minute."""
    from transformers import AutoModelForCausalLM

    from batchlab.model import set_checkpointing

    try:
        with torch.device(to):
            model = AutoModelForCausalLM.from_config(
                config, dtype=setting.dtype, attn_implementation=setting.attention
            )
    except ValueError as error:
        first = str(error).splitlines()[0].split(". ")[0]
        raise ValueError(f"{config.model_type} cannot be traced: {first[:200]}") from None
    model.train()
    set_checkpointing(model, setting.checkpointing)
    make = setting.make_optimizer or functools.partial(torch.optim.AdamW, lr=1e-4, foreach=cuda)
    return model, make(model.parameters())


def _take(
    setting: Setting,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    micro_batches: list[loop.MicroBatch],
    on_micro_batch: Callable[[int], None] | None = None,
) -> None:
    """The step of the library, predicted and measured alike; one that is skipped has no states."""
    loop.train_step(
        model,
        optimizer,
        micro_batches,
        autocast=setting.autocast,
        accumulate_in=setting.accumulate_in,
        non_finite="refuse",
        on_micro_batch=on_micro_batch,
    )


def make_states(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Let the optimizer make its states, as in the steps before: from gradients of 0."""
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _micro_batches(setting: Setting, vocabulary: int) -> list[loop.MicroBatch]:
    """At most two: the third finds what the second found.

    Token 0 is left out: where it is padding its embedding is 0, and norms of zeros give gradients
    that are not finite.
    """
    ids = torch.arange(setting.rows * setting.length).view(setting.rows, -1) % (vocabulary - 1) + 1
    batch = {"input_ids": ids, "labels": ids.clone()}
    if setting.padded:
        batch["attention_mask"] = torch.ones_like(ids)
        batch["attention_mask"][:, -1] = 0
    return [batch] * min(setting.accumulation, 2)


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


def _layer_of(name: str) -> int | None:
    """The layer that a parameter belongs to: model.layers.3.mlp.up_proj.weight is of layer 3."""
    found = re.search(r"\.(?:layers|h)\.(\d+)\.", name)
    return int(found[1]) if found else None


def _require_positions(config: Any, length: int) -> None:
    longest = getattr(config, "max_position_embeddings", None)
    learned = config.model_type in LEARNED_POSITIONS
    if learned and longest and length > longest:
        raise ValueError(f"rows of {length:,} slots: {config.model_type} has {longest:,} positions")
