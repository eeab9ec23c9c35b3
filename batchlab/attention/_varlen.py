"""Attention over documents of different lengths, without padding between them.

    q, k, v of all documents, where each begins  ->  output, through the best backend present

Every document attends to itself only. Which backends there are, and which of them run here, is
the subject of `backends`; `register()` makes the function an attention of transformers.

A registered attention receives no mask, so it separates the documents itself: by `cu_seq_lens_q`
where given (`loop` gives it), else by positions that restart. Rows are padded on the right: that
comes after every real token, and causal attention never looks ahead.

Shapes, by suffix, in this file
    N  tokens of all documents    H  heads    D  size of a head    B  rows    T  slots of a row
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from batchlab import counts
from batchlab.attention._backends import BACKENDS, Borders, missing
from batchlab.model import VARLEN, require_packable

__all__ = ["NAME", "backends", "borders", "prepare", "register", "varlen"]

NAME = VARLEN


def varlen(
    q_NHD: Tensor,
    k_NHD: Tensor,
    v_NHD: Tensor,
    cu_seqlens: Tensor | Sequence[int],
    *,
    backend: str = "auto",
    causal: bool = True,
    scale: float | None = None,
) -> Tensor:
    """Attention inside each document; returns (N, H, D) like `q`.

    `cu_seqlens` holds where documents begin, from 0 to N: documents + 1 integers. As a tensor on a
    GPU it is read once, however many layers ask; as integers or on the CPU nothing waits. Keys and
    values may have fewer heads than queries, if they divide them (grouped-query attention).

    >>> q = k = v = torch.ones(5, 2, 8)
    >>> varlen(q, k, v, [0, 3, 5]).shape
    torch.Size([5, 2, 8])
    """
    at = borders(cu_seqlens) if isinstance(cu_seqlens, Tensor) else tuple(map(int, cu_seqlens))
    _check(q_NHD, k_NHD, v_NHD, at)
    if backend != "auto" and backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; there are {', '.join(BACKENDS)}")
    if backend == "auto":
        backend = next(name for name in BACKENDS if not missing(name, q_NHD))
    elif reason := missing(backend, q_NHD):
        raise ValueError(f"backend {backend} cannot run here: {reason}")
    return BACKENDS[backend](q_NHD, k_NHD, v_NHD, Borders(at), causal=causal, scale=scale)


def backends(
    device: str | torch.device | None = None, dtype: torch.dtype | None = None, *, size: int = 64
) -> dict[str, str]:
    """For each backend, best first, why it cannot run here; "" if it can.

    `size` is that of a head. By default the device is the GPU if there is one, with bf16.

    >>> backends("cpu")["sdpa"], backends("cpu")["torch"]
    ('', 'it needs CUDA, the tensors are on cpu')
    """
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    half = torch.bfloat16 if place.type == "cuda" else torch.float32
    probe = torch.empty(0, 1, size, device=place, dtype=dtype or half)
    return {name: missing(name, probe) for name in BACKENDS}


def register() -> str:
    """Make `varlen` known to transformers; returns the name for `attn_implementation`."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(NAME, _as_transformers_calls_it)
    AttentionMaskInterface.register(NAME, _no_mask)
    return NAME


def prepare(model: nn.Module) -> nn.Module:
    """Switch a model to this attention; families that are not supported are refused."""
    require_packable(model)
    model.set_attn_implementation(register())  # type: ignore[operator]
    return model


def _no_mask(*_: Any, attention_mask: Tensor | None = None, **__: Any) -> None:
    """transformers asks for a mask; documents are separated without one."""
    if attention_mask is not None and attention_mask.ndim == 2:
        right = attention_mask.bool()
        if not bool(right[:, 0].all() & (right[:, 1:] <= right[:, :-1]).all()):
            raise ValueError(f"left padding is refused by {NAME}: pad rows on the right")


_ELSEWHERE = ("sliding_window", "softcap", "s_aux", "position_bias")


def _as_transformers_calls_it(
    module: nn.Module,
    query_BHTD: Tensor,
    key_BHTD: Tensor,
    value_BHTD: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    cu_seq_lens_q: Tensor | Sequence[int] | None = None,
    position_ids: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """The signature of an attention function of transformers."""
    require_packable(module)
    rows, heads, slots, size = query_BHTD.shape
    if dropout:
        raise ValueError(f"{NAME} has no dropout, the model asks for {dropout}")
    if key_BHTD.shape[2] != slots or not getattr(module, "is_causal", True):
        raise ValueError(f"{NAME} is causal and trains only: call with use_cache=False")
    if attention_mask is not None and attention_mask.numel():
        raise ValueError(f"{NAME} reads no mask, got one of {tuple(attention_mask.shape)}")
    if asked := [name for name in _ELSEWHERE if others.get(name) is not None]:
        raise ValueError(f"{NAME} has no {', '.join(asked)}, which the model asks for")
    dtype = _kernel_dtype(value_BHTD)
    q, k, v = (
        x.to(dtype).transpose(1, 2).flatten(0, 1) for x in (query_BHTD, key_BHTD, value_BHTD)
    )
    if cu_seq_lens_q is None:
        if position_ids is None:  # an old GPT-2 keeps both to itself: its documents would mix
            raise ValueError(
                f"{NAME} is told of no borders: {type(module).__name__} of this transformers hands "
                "neither position_ids nor cu_seq_lens_q to its attention; use a newer one"
            )
        cu_seq_lens_q = _restarts(position_ids, rows, slots)
    out_NHD = varlen(q, k, v, cu_seq_lens_q, scale=scaling)
    return out_NHD.view(rows, slots, heads, size), None


def _kernel_dtype(value: Tensor) -> torch.dtype:
    """One for q, k and v: under autocast, or after norms in float32, q and k are wider than v."""
    device = value.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return value.dtype


def _restarts(position_ids: Tensor, rows: int, slots: int) -> tuple[int, ...]:
    """Borders from positions that do not count on."""
    whole_rows = range(0, rows * slots, slots)
    inside = _jumps(position_ids)  # flat, in one row if all rows share their positions
    if position_ids.shape[0] == 1:
        inside = tuple(row + jump for row in whole_rows for jump in inside)
    return (*sorted({*whole_rows, *inside}), rows * slots)


class _ReadOnce:
    """Reads a tensor on the host once, however many layers ask: each read waits for the device.

    On the CPU nothing waits, and a tensor there may change behind PyTorch's back (a shared array),
    so it is read each time; so is an inference tensor, which does not count its changes.
    """

    def __init__(self, read: Callable[[Tensor], list[int]]) -> None:
        self.read = read
        self.last: tuple[weakref.ref[Tensor], int, tuple[int, ...]] | None = None

    def __call__(self, tensor: Tensor) -> tuple[int, ...]:
        if tensor.is_inference() or not _waits(tensor):
            return tuple(self.read(tensor))
        last, version = self.last, tensor._version  # one look: another thread may write
        if last and last[0]() is tensor and last[1] == version:
            return last[2]
        found = tuple(self.read(tensor))
        self.last = weakref.ref(tensor), version, found
        return found


def _waits(tensor: Tensor) -> bool:
    return tensor.device.type != "cpu"


def _find_jumps(positions: Tensor) -> list[int]:
    found: list[int] = counts.starts(positions).flatten().nonzero().flatten().tolist()
    return found


borders = _ReadOnce(lambda cu_seqlens: cu_seqlens.tolist())
_jumps = _ReadOnce(_find_jumps)


def _check(q: Tensor, k: Tensor, v: Tensor, at: tuple[int, ...]) -> None:
    if q.ndim != 3 or k.shape != v.shape or q.shape[::2] != k.shape[::2]:
        raise ValueError(
            f"q, k, v must be (tokens, heads, head size), got {tuple(q.shape)}, "
            f"{tuple(k.shape)}, {tuple(v.shape)}"
        )
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(f"q, k, v must share a dtype, got {q.dtype}, {k.dtype}, {v.dtype}")
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} query heads do not divide over {k.shape[1]} key heads")
    if len(at) < 2 or at[0] or at[-1] != len(q) or any(b < a for a, b in itertools.pairwise(at)):
        raise ValueError(
            f"cu_seqlens must rise from 0 to the {len(q)} tokens without a step back, "
            f"got {list(at[:3])} .. {list(at[-1:])}"
        )
