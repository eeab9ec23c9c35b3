"""The model whose step is traced, without its memory: made of a config, or the one that is given.

    config or model, depth  ->  the same modules over fake weights, as deep as asked

A given model is traced as it is: its adapters, its frozen weights, its hooks, its mode. For the
time of the trace its weights are replaced by fake ones; then the real ones are put back.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from batchlab.memory._layers import depths_of, lists_of, with_layers
from batchlab.memory._shards import Unit
from batchlab.memory._step import Setting

__all__ = [
    "body_of",
    "config_of",
    "depths",
    "layer_of",
    "made",
    "model_of",
    "require_positions",
    "units_of",
    "unwrapped",
    "without_memory",
]

LEARNED_POSITIONS = (
    "gpt2",
    "opt",
    "gpt_neo",
    "gpt_bigcode",
    "bert",
    "distilbert",
    "electra",
)  # a table that ends
STACKS = ("layers", "h")  # what transformers call the list of equal layers
PLAIN = (Tensor, nn.Parameter, nn.Buffer)


def unwrapped(model: nn.Module) -> nn.Module:
    """The model behind `torch.compile` and DistributedDataParallel."""
    for wrapper in ("_orig_mod", "module"):
        model = getattr(model, wrapper, model)
    return model


def config_of(source: Any) -> Any:
    """The config that says how many words, layers and heads there are: that of the text."""
    config = getattr(source, "config", None) if isinstance(source, nn.Module) else source
    text = getattr(config, "get_text_config", None)
    config = text() if text else config
    if getattr(config, "vocab_size", None) is None:
        raise ValueError(
            f"{type(source).__name__} has no config.vocab_size, so it is no causal LM to trace"
        )
    return config


def body_of(model: Any) -> nn.Module:
    """What makes the hidden states: what is called, whether or not the head is called with it."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model  # peft
    body = getattr(base, "base_model", None)
    return body if isinstance(body, nn.Module) else base


def depths(source: Any, setting: Setting) -> tuple[int, ...]:
    """The depths to trace: two shallow ones where layers repeat, else that of the model."""
    config = config_of(source)
    layers = int(config.num_hidden_layers)
    given = isinstance(source, nn.Module)
    kinds = _kinds(source if given else made(config, setting, "meta"), config, layers)
    found = depths_of(kinds) if kinds else (layers,)
    if setting.own_loss:
        return (layers,)
    if given or found == (layers,):
        return found
    for depth in found:  # a rule may count from the end
        shallow = with_layers(config, depth)
        if _kinds(made(shallow, setting, "meta"), shallow, depth) != kinds[:depth]:
            return (layers,)
    return found


def _kinds(model: nn.Module, config: Any, layers: int) -> list[Any]:
    """One entry a layer, equal for those that cost the same; none where no list holds them all."""
    stack = _stack(model, layers)
    if stack is None:
        return []
    return list(zip(map(_kind, stack[2]), lists_of(config, layers), strict=True))


def require_positions(config: Any, length: int) -> None:
    """Refuse rows that are longer than a learned table of positions."""
    longest = getattr(config, "max_position_embeddings", None)
    learned = config.model_type in LEARNED_POSITIONS
    if learned and longest and length > longest:
        raise ValueError(f"rows of {length:,} slots: {config.model_type} has {longest:,} positions")


def layer_of(name: str) -> int | None:
    """The layer that a parameter belongs to: model.layers.3.mlp.up_proj.weight is of layer 3."""
    found = re.search(rf"\.(?:{'|'.join(STACKS)})\.(\d+)\.", name)
    return int(found[1]) if found else None


def model_of(source: Any, setting: Setting, depth: int) -> Any:
    """The given model, or one of this config: shallow, and on no device."""
    if isinstance(source, nn.Module):
        return source
    return made(with_layers(source, depth), setting, "meta")


@contextlib.contextmanager
def without_memory(model: nn.Module, depth: int) -> Iterator[None]:
    """`depth` layers of the model over fake weights; to be entered under a fake tensor mode."""
    stack, kept = _stack(model, int(config_of(model).num_hidden_layers)), []
    try:
        if stack:
            parent, name, layers = stack
            setattr(parent, name, nn.ModuleList(list(layers)[:depth]))
        kept = _replace(model)
        yield
    finally:
        for store, key, value in kept:
            store[key] = value
        if stack:
            setattr(parent, name, layers)


def made(config: Any, setting: Setting, device: str) -> Any:
    """A model of this config, made where it will be: to fill 0.5 B weights on a CPU takes 30 s."""
    from batchlab.model import set_checkpointing

    try:
        model = _of_class(config, setting, device)
    except ValueError as error:
        first = str(error).splitlines()[0].split(". ")[0]
        raise ValueError(f"{config.model_type} cannot be traced: {first[:200]}") from None
    except (TypeError, AttributeError, KeyError) as error:  # a number that the model needs is none
        first = f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.160}"
        raise ValueError(
            f"{config.model_type} cannot be traced: transformers makes no model of this config "
            f"({first})"
        ) from None
    model.tie_weights()  # transformers 5.0 leaves that out where no weight is filled
    set_checkpointing(model, setting.checkpointing)
    return (setting.adapt(model) if setting.adapt else model).train()


def _of_class(config: Any, setting: Setting, device: str) -> Any:
    """The model of its task; one without attention has no implementation of it."""
    import transformers

    make = getattr(transformers, setting.task.auto).from_config
    with torch.device(device):
        try:
            return make(config, dtype=setting.dtype, attn_implementation=setting.attention)
        except ValueError as error:
            if "scaled_dot_product_attention" not in str(error):
                raise
            return make(config, dtype=setting.dtype, attn_implementation="eager")


def units_of(model: nn.Module, experts: int = 1) -> list[Unit]:
    """What ZeRO gathers at once: each layer, and each module with weights outside of them.

    Of experts that are spread over devices, each gathers its share.
    """
    share = {id(p): experts for name, p in model.named_parameters() if ".experts." in name}
    stack = _stack(model, int(config_of(model).num_hidden_layers))
    layers = list(stack[2]) if stack else []
    inside = {id(one) for layer in layers for one in layer.parameters()}
    others = ([p for p in one.parameters(False) if id(p) not in inside] for one in model.modules())
    groups = [*(list(one.parameters()) for one in layers), *others]
    return [
        Unit(
            sum(p.nbytes // share.get(id(p), 1) for p in group),
            sum(p.nbytes // share.get(id(p), 1) for p in group if p.requires_grad),
        )
        for group in groups
        if group
    ]


def _stack(model: nn.Module, layers: int) -> tuple[nn.Module, str, nn.ModuleList] | None:
    """The one list of the model's layers, and where it stands."""
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if name in STACKS and isinstance(child, nn.ModuleList) and len(child) == layers
    ]
    return found[0] if len(found) == 1 else None


def _kind(layer: nn.Module) -> tuple[Any, ...]:
    """Equal for layers that cost the same: a frozen layer is of another kind than a trained one."""
    held = ((name, tuple(one.shape), one.dtype, one.requires_grad)
            for name, one in layer.named_parameters())  # fmt: skip
    return *held, *(type(one).__name__ for one in layer.modules())


def _replace(model: nn.Module) -> list[tuple[dict[str, Any], str, Any]]:
    """Put fake tensors in the place of all tensors; returns what stood where."""
    fakes: dict[int, Tensor] = {}
    kept: list[tuple[dict[str, Any], str, Any]] = []
    for module in model.modules():
        stores: tuple[dict[str, Any], ...] = (module._parameters, module._buffers, vars(module))
        for store in stores:
            for name, value in store.items():
                if isinstance(value, Tensor):
                    if id(value) not in fakes:  # tied weights stay tied
                        fakes[id(value)] = _fake(value, f"{type(module).__name__}.{name}")
                    kept.append((store, name, value))
    for store, name, value in kept:
        store[name] = fakes[id(value)]
    return kept


def _fake(value: Tensor, name: str) -> Tensor:
    if type(value) not in PLAIN:
        raise ValueError(
            f"{name} is a {type(value).__name__}, which cannot be traced: give the model before "
            "its weights were quantised or sharded"
        )
    empty = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return nn.Parameter(empty, value.requires_grad) if isinstance(value, nn.Parameter) else empty
