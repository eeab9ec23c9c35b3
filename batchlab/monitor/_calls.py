"""What a call of a watched model is: a micro-batch, generation, scoring or evaluation.

    arguments, mode of the model, gradients  ->  kind of pass;  arguments  ->  MicroBatch

Words
    pass        one call of a watched model from outside; what it calls of itself is inside it
    training    with gradients, in training mode: a micro-batch
    suspect     with gradients, in evaluation mode: a micro-batch if its backward pass runs
    generation  without gradients, inside `generate` or with a cache: tokens are written
    scoring     without gradients, in training mode: a reference's or an old policy's numbers
    evaluation  without gradients, in evaluation mode
"""

import contextlib
import itertools
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import counts
from batchlab.counts import IGNORE, MicroBatch
from batchlab.monitor._unwrapped import inner_model

__all__ = ["EVALUATION", "GENERATION", "SCORING", "SUSPECT", "TRAINING", "Hook",
           "before_backward", "decodes", "given", "kind_of", "micro_batch", "shifts"]  # fmt: skip

TRAINING, SUSPECT, GENERATION = "forward", "suspect", "generation"
SCORING, EVALUATION = "scoring", "evaluation"

IDS = ("input_ids", "tokens", "idx", "inputs", "input")  # what models call their first argument
TAKEN = ("position_ids", "attention_mask", "labels", "decoder_input_ids", "decoder_attention_mask")
UNSHIFTED = ("ForMaskedLM", "ForTokenClassification")  # losses of transformers, label by label
DEEPEST, WIDEST, MOST = 3, 16, 2  # of an output: levels, entries of each, tensors to find
FRAMES = 60  # of the stack, to look at


class Hook:
    """A hook of a model that a compiler leaves alone and that no copy of the model keeps.

    A copy, deep or pickled, carries one that does nothing: it is another model, and it may be
    loaded where this library is not.
    """

    def __init__(self, model: nn.Module, heard: Any) -> None:
        self._model, self._heard = model, heard
        if "__call__" not in vars(Hook):  # asking for the compiler loads it
            setattr(Hook, "__call__", torch.compiler.disable(_called))  # noqa: B010

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return getattr, (contextlib.nullcontext(), "__exit__")


def _called(hook: Hook, module: nn.Module, *found: Any) -> None:
    if module is hook._model:
        hook._heard(module, *found)


def kind_of(module: nn.Module, kwargs: Mapping[str, Any]) -> str:
    """The kind of the pass that begins now."""
    if torch.is_grad_enabled():
        return TRAINING if module.training else SUSPECT
    if kwargs.get("past_key_values") is not None or kwargs.get("use_cache") or _generates():
        return GENERATION
    return SCORING if module.training else EVALUATION


def _generates() -> bool:
    """Whether a function called `generate` waits for this call."""
    frame = sys._getframe(1)
    for _ in range(FRAMES):
        if frame.f_back is None:
            return False
        frame = frame.f_back
        if frame.f_code.co_name == "generate":
            return True
    return False


def given(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name; the first plain one is taken for token ids, or for a batch."""
    if args and isinstance(args[0], Mapping):
        return {**args[0], **kwargs}
    return {**({"input_ids": args[0]} if args else {}), **kwargs}


def micro_batch(named: Mapping[str, Any], *, decodes: bool) -> MicroBatch | None:
    """The micro-batch behind a call of the model: shown by its loop, else its own arguments.

    A model that `decodes` has a decoder beside its encoder. None where no token ids (rows, slots)
    are among the arguments, nor their embeddings.
    """
    ids = next((named[name] for name in IDS if _are_ids(named.get(name))), None)
    embedded = named.get("inputs_embeds")
    if ids is None and isinstance(embedded, Tensor) and embedded.ndim == 3:
        ids = embedded.detach()[..., 0]
    if ids is None:
        return None
    if (shown := counts.shown()) is not None:
        return shown
    found = {name: named[name] for name in TAKEN if isinstance(named.get(name), Tensor)}
    if isinstance(ends := named.get("cu_seq_lens_q"), Tensor):  # as flash attention calls them
        found["cu_seqlens"] = ends
    found["input_ids"] = ids
    if decodes:
        _complete_decoder(found)
    return found


def _are_ids(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 2 and not value.is_floating_point()


def _complete_decoder(found: dict[str, Tensor]) -> None:
    """What a model gives its decoder where nobody does: the labels, else the encoder's tokens."""
    labels, ids = found.get("labels"), found["input_ids"]
    by_label = labels is not None and labels.ndim == 2 and labels.shape[1] > 1
    decoded = found.setdefault("decoder_input_ids", labels if by_label else ids)  # type: ignore[arg-type]
    if by_label and labels is not None and labels.shape == decoded.shape:
        found.setdefault("decoder_attention_mask", labels != IGNORE)
    elif decoded is ids and "attention_mask" in found:
        found["decoder_attention_mask"] = found["attention_mask"]


def decodes(model: nn.Module) -> bool:
    """Whether the model says that it has a decoder beside its encoder."""
    config = getattr(inner_model(model), "config", None)
    return getattr(config, "is_encoder_decoder", False) is True


def shifts(model: nn.Module) -> bool:
    """Whether the loss compares `labels[:, 1:]`, as far as the model says which loss it has."""
    return getattr(inner_model(model), "loss_type", None) not in UNSHIFTED


def before_backward(output: Any, call: Any) -> None:
    """Call this when a backward pass enters the output, before hooks that were there earlier.

    FSDP gathers weights in such a hook, and waits there for the other ranks.
    """
    found = {id(tensor): tensor for tensor in _tensors(output, DEEPEST)[:MOST]}
    for tensor in found.values():
        handle = tensor.register_hook(call)
        hooks: dict[int, Any] = tensor._backward_hooks  # type: ignore[assignment]
        for key in [key for key in hooks if key != handle.id]:
            hooks[key] = hooks.pop(key)  # after it


def _tensors(output: Any, levels: int) -> list[Tensor]:
    """Tensors with gradients in a tuple, a list, a dict, a dataclass or any object.

    Those of the nearest level that has some: a cache of keys and values is not searched.
    """
    level = [output]
    for _ in range(levels + 1):
        found = [one for one in level if isinstance(one, Tensor) and one.grad_fn is not None]
        if found:
            return found
        level = [inside for one in level for inside in _inside(one)]
    return []


def _inside(one: Any) -> Iterable[Any]:
    if one is None or isinstance(one, Tensor | str | bytes | int | float | type):
        return ()
    if isinstance(one, Mapping):
        return itertools.islice(one.values(), WIDEST)
    if isinstance(one, list | tuple):
        return one[:WIDEST]
    return itertools.islice(getattr(one, "__dict__", {}).values(), WIDEST)
