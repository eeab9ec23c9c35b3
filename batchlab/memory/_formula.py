"""Where the bytes of training go: parameters, gradients, optimizer, activations, logits.

    model shape, plan, precision, checkpointing  ->  Memory, bytes by category

Arithmetic only: no model is built and no device is asked. What a real step takes is predicted by
`trace`, which runs it without memory; the difference between the two is the cost of eager kernels,
and a lesson is about it.

Words
    states       parameters, gradients and optimizer: bytes per parameter, whatever the batch
    activations  what the forward pass keeps for the backward pass: bytes per token and layer
    GiB is 2**30 bytes, GB is 1e9
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from batchlab import units
from batchlab.plan import Plan

__all__ = ["STATES", "Memory", "ModelShape", "States", "estimate", "rows_that_fit"]


@dataclass(frozen=True)
class States:
    """Bytes per parameter of what lives through the whole training."""

    parameters: float
    gradients: float
    optimizer: float  # master weights included

    @property
    def total(self) -> float:
        return self.parameters + self.gradients + self.optimizer


# Rajbhandari et al. 2020 (K = 12) for mixed; Megatron and Bekman's "18" for fp32 gradients;
# Dettmers et al. 2022 for 8-bit Adam.
STATES = {
    "fp32": States(4, 4, 8),
    "mixed": States(2, 2, 12),
    "mixed_fp32_gradients": States(2, 4, 12),
    "bf16": States(2, 2, 4),
    "bf16_fp32_adam": States(2, 2, 8),
    "mixed_adam8bit": States(2, 2, 6),
    "fp32_sgd": States(4, 4, 0),
    "fp32_sgd_momentum": States(4, 4, 4),
}

_FAMILIES = ("llama", "qwen2", "qwen3", "mistral", "gpt2")


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a decoder that decide its memory and its FLOPs."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    intermediate: int
    vocabulary: int
    tied: bool = False
    gated: bool = True  # SwiGLU: three matrices; else two
    biases: int = 0  # per layer
    norms: int = 2  # weights per layer, in units of hidden
    positions: int = 0  # learned absolute positions

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "heads", "kv_heads", "head_size", "vocabulary"):
            object.__setattr__(self, name, units.whole(getattr(self, name), name))
        for name in ("intermediate", "biases", "norms", "positions"):
            object.__setattr__(self, name, units.whole(getattr(self, name), name, least=0))

    @property
    def layer_parameters(self) -> int:
        """One block: attention, MLP, norms, biases."""
        q, kv = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = self.hidden * (2 * q + 2 * kv)
        mlp = (3 if self.gated else 2) * self.hidden * self.intermediate
        return attention + mlp + self.norms * self.hidden + self.biases

    @property
    def parameters(self) -> int:
        tables = (1 if self.tied else 2) * self.vocabulary * self.hidden
        final = self.norms // 2 * self.hidden
        return self.layers * self.layer_parameters + tables + final + self.positions * self.hidden

    @classmethod
    def from_config(cls, config: Any) -> "ModelShape":
        """Read a transformers config, or its mapping; a key that is missing is named."""
        get = _getter(config)
        family = get("model_type", None)
        if family not in _FAMILIES:
            raise ValueError(
                f"model_type {family!r} is not understood; there are {', '.join(_FAMILIES)}"
            )
        return _gpt2(get) if family == "gpt2" else _llama_like(get, family)


@dataclass(frozen=True)
class Memory:
    """Bytes on one device while it trains, by what they are for."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    logits: int

    @property
    def states_bytes(self) -> int:
        return self.parameters + self.gradients + self.optimizer

    @property
    def total_bytes(self) -> int:
        return self.states_bytes + self.activations + self.logits


def estimate(
    shape: ModelShape,
    plan: Plan,
    *,
    states: str | States = "mixed",
    checkpointing: str = "none",
    flash: bool = True,
    bytes_per_value: int = 2,
    logits_copies_bytes: int = 12,
    zero_stage: int = 0,
    trainable_share: float = 1.0,
) -> Memory:
    """Bytes of one device at its fullest.

    checkpointing        none, selective (attention scores recomputed) or full (layer inputs kept)
    flash                attention scores are never stored
    logits_copies_bytes  bytes per logit, as measured: three fp32 tensors at the fullest moment, the
                         log-softmax, its gradient and that of the fp32 copy; 10 in the forward pass
    zero_stage           0 to 3: optimizer, gradients, parameters sharded over data_parallel
    trainable_share      below 1 for adapters: only that share has gradients and optimizer
    """
    one = _states(states)
    _check(checkpointing, zero_stage)
    trainable_share = units.real(trainable_share, "trainable_share", above=0, most=1)
    bytes_per_value = units.whole(bytes_per_value, "bytes_per_value")
    logits_copies_bytes = units.whole(logits_copies_bytes, "logits_copies_bytes", least=0)
    shards = plan.data_parallel
    parameters = shape.parameters
    trained = parameters * trainable_share
    tokens = plan.rows * plan.length
    return Memory(
        parameters=math.ceil(parameters * one.parameters / (shards if zero_stage >= 3 else 1)),
        gradients=math.ceil(trained * one.gradients / (shards if zero_stage >= 2 else 1)),
        optimizer=math.ceil(trained * one.optimizer / (shards if zero_stage >= 1 else 1)),
        activations=_activations(shape, plan, checkpointing, flash, bytes_per_value),
        logits=tokens * shape.vocabulary * logits_copies_bytes,
    )


def rows_that_fit(
    shape: ModelShape, budget_bytes: int, *, length: int, data_parallel: int = 1, **how: Any
) -> int:
    """The most rows whose estimate fits; a budget below the states is refused, saying by how much.

    Activations and logits grow in proportion to rows. Two rows take a whole number of bytes, where
    one may be rounded up.
    """
    budget_bytes = units.whole(budget_bytes, "budget_bytes", least=0)
    one = estimate(shape, Plan(1, 1, data_parallel, length), **how)
    if one.total_bytes > budget_bytes:
        short = one.total_bytes - budget_bytes
        what = "the states alone" if one.states_bytes > budget_bytes else "the states and one row"
        raise ValueError(
            f"{what} need {units.size(short)} more than the budget of {units.size(budget_bytes)}"
        )
    two = estimate(shape, Plan(2, 1, data_parallel, length), **how)
    return 2 * (budget_bytes - two.states_bytes) // (two.total_bytes - two.states_bytes)


def layer_bytes_per_token(
    shape: ModelShape, *, length: int, flash: bool = True, bytes_per_value: int = 2
) -> float:
    """Saved activations of one layer per token.

    A gated block with RMSNorm and rotary positions keeps, in values of `bytes_per_value`: both
    norms' inputs and outputs 4h, q and the attention output 2 q, k and v 2 kv, gate, up, their
    product and silu 4f; and 4 bytes per head of log-sum-exp. The older block (GELU, dropout) keeps
    34 h bytes in 16 bit (Korthikanti et al. 2023, Eq. 1), and without flash attention 5 a s more.
    """
    h, b = shape.hidden, units.whole(bytes_per_value, "bytes_per_value")
    length = units.whole(length, "length")
    if not shape.gated:
        scores = 0.0 if flash else 5 * shape.heads * length
        return 34 * h * b / 2 + scores * b / 2
    q, kv = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    scores = 4 * shape.heads if flash else 2 * b * shape.heads * length
    return b * (4 * h + 2 * q + 2 * kv + 4 * shape.intermediate) + scores


def _activations(
    shape: ModelShape, plan: Plan, checkpointing: str, flash: bool, bytes_per_value: int
) -> int:
    tokens = plan.rows * plan.length
    flash = flash or checkpointing == "selective"
    layer = layer_bytes_per_token(
        shape, length=plan.length, flash=flash, bytes_per_value=bytes_per_value
    )
    if checkpointing != "full":
        return math.ceil(tokens * shape.layers * layer)
    kept = bytes_per_value * shape.hidden  # the input of each layer
    return math.ceil(tokens * (shape.layers * kept + layer))  # and one layer's working set


def _states(states: str | States) -> States:
    if isinstance(states, States):
        return states
    if states not in STATES:
        raise ValueError(f"unknown states {states!r}; there are {', '.join(STATES)}")
    return STATES[states]


def _check(checkpointing: str, zero_stage: int) -> None:
    if checkpointing not in ("none", "selective", "full"):
        raise ValueError(f"checkpointing must be none, selective or full, got {checkpointing!r}")
    if units.whole(zero_stage, "zero_stage", least=0) > 3:
        raise ValueError(f"zero_stage must be 0 to 3, got {zero_stage!r}")


def _getter(config: Any) -> Any:
    def get(key: str, *default: Any) -> Any:
        value = config.get(key) if isinstance(config, Mapping) else getattr(config, key, None)
        if value is None:
            if not default:
                raise ValueError(f"config key {key} is missing")
            (value,) = default
        return value

    return get


def _count(get: Any, key: str, *default: int) -> int:
    return units.whole(get(key, *default), key)


def _llama_like(get: Any, family: str) -> ModelShape:
    hidden, heads = _count(get, "hidden_size"), _count(get, "num_attention_heads")
    kv_heads = _count(get, "num_key_value_heads", heads)
    head_size = _count(get, "head_dim", hidden // heads)
    bias = (heads + 2 * kv_heads) * head_size if family == "qwen2" else 0
    return ModelShape(
        hidden=hidden,
        layers=get("num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        intermediate=get("intermediate_size"),
        vocabulary=get("vocab_size"),
        tied=bool(get("tie_word_embeddings", False)),
        biases=bias + (2 * head_size if family == "qwen3" else 0),  # qwen3 norms q and k
    )


def _gpt2(get: Any) -> ModelShape:
    hidden, heads = _count(get, "n_embd"), _count(get, "n_head")
    intermediate = _count(get, "n_inner", 4 * hidden)
    return ModelShape(
        hidden=hidden,
        layers=get("n_layer"),
        heads=heads,
        kv_heads=heads,
        head_size=hidden // heads,
        intermediate=intermediate,
        vocabulary=get("vocab_size"),
        tied=True,
        gated=False,
        biases=3 * hidden + hidden + intermediate + hidden,
        norms=4,  # LayerNorm has a weight and a bias
        positions=get("n_positions"),
    )
