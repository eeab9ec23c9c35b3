"""Attention over documents of different lengths, without padding between them.

    q, k, v of all documents, where each begins  ->  output, through the best backend present

Every document attends to itself only, causally. Backends, best first:

    flash   the package flash-attn: CUDA, fp16 or bf16
    torch   torch.nn.attention.varlen (torch >= 2.10): CUDA of capability 8.0 or newer, fp16 or bf16
    sdpa    one call per document: any device and dtype, and what a T4 or a CPU has

`register()` makes it an attention of transformers. A registered attention receives no mask, so it
separates the documents itself: by `cu_seq_lens_q` where given, else it takes each row as one
document (right padding comes after every real token, and causal attention never looks ahead).

Shapes, by suffix, in this file
    N  tokens of all documents    H  heads    D  size of a head    B  rows    T  slots of a row
"""

import importlib.util
import itertools
import weakref
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from batchlab.families import require_packable

__all__ = ["BACKENDS", "NAME", "available", "prepare", "register", "varlen"]

BACKENDS = ("flash", "torch", "sdpa")
NAME = "batchlab_varlen"


def varlen(
    q_NHD: Tensor,
    k_NHD: Tensor,
    v_NHD: Tensor,
    cu_seqlens: Tensor,
    *,
    backend: str = "auto",
    scale: float | None = None,
    max_length: int | None = None,
) -> Tensor:
    """Causal attention inside each document; returns (N, H, D) like `q`.

    `cu_seqlens` holds where documents begin, from 0 to N: (documents + 1,) int32. Keys and values
    may have fewer heads than queries, if they divide them (grouped-query attention).
    """
    _check(q_NHD, k_NHD, v_NHD, cu_seqlens)
    if backend == "auto":
        backend = next(name for name in BACKENDS if not _missing(name, q_NHD))
    elif backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; there are {', '.join(BACKENDS)}")
    reason = _missing(backend, q_NHD)
    if reason:
        raise ValueError(f"backend {backend} cannot run here: {reason}")
    if backend == "sdpa":
        return _one_call_per_document(q_NHD, k_NHD, v_NHD, borders(cu_seqlens), scale)
    longest = max_length or max(_lengths(borders(cu_seqlens)))
    run = _flash if backend == "flash" else _torch
    return run(q_NHD, k_NHD, v_NHD, cu_seqlens.to(q_NHD.device, torch.int32), longest, scale)


def available(device: str | torch.device, dtype: torch.dtype) -> dict[str, str]:
    """For each backend, why it cannot run on this device with this dtype; "" if it can."""
    probe = torch.empty(0, 1, 64, device=device, dtype=dtype)
    return {name: _missing(name, probe) for name in BACKENDS}


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
    if attention_mask is not None and attention_mask.device.type == "cpu":
        starts = attention_mask[:, 0] if attention_mask.ndim == 2 else torch.ones(1)
        if not bool(starts.all()):
            raise ValueError("left padding is refused by batchlab_varlen: pad rows on the right")


def _as_transformers_calls_it(
    module: nn.Module,
    query_BHTD: Tensor,
    key_BHTD: Tensor,
    value_BHTD: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    cu_seq_lens_q: Tensor | None = None,
    max_length_q: int | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """The signature of an attention function of transformers."""
    if dropout:
        raise ValueError(f"batchlab_varlen has no dropout, the model asks for {dropout}")
    rows, heads, slots, size = query_BHTD.shape
    if key_BHTD.shape[2] != slots:
        raise ValueError("batchlab_varlen trains, it does not generate: call with use_cache=False")
    q, k, v = (x.transpose(1, 2).flatten(0, 1) for x in (query_BHTD, key_BHTD, value_BHTD))
    if cu_seq_lens_q is None:
        cu_seq_lens_q = torch.arange(0, rows * slots + 1, slots, dtype=torch.int32)
        max_length_q = slots
    out_NHD = varlen(q, k, v, cu_seq_lens_q, scale=scaling, max_length=max_length_q)
    return out_NHD.view(rows, slots, heads, size), None


def _one_call_per_document(
    q_NHD: Tensor, k_NHD: Tensor, v_NHD: Tensor, at: list[int], scale: float | None
) -> Tensor:
    grouped = q_NHD.shape[1] != k_NHD.shape[1]
    parts = []
    for length, q, k, v in zip(
        _lengths(at), *(x.split(_lengths(at)) for x in (q_NHD, k_NHD, v_NHD)), strict=True
    ):
        if length:
            q, k, v = (x.transpose(0, 1)[None] for x in (q, k, v))
            out = F.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=scale, enable_gqa=grouped
            )
            parts.append(out[0].transpose(0, 1))
    return torch.cat(parts)


def _flash(q: Tensor, k: Tensor, v: Tensor, cu: Tensor, longest: int, scale: Any) -> Tensor:
    from flash_attn import flash_attn_varlen_func

    out: Tensor = flash_attn_varlen_func(
        q, k, v, cu, cu, longest, longest, softmax_scale=scale, causal=True
    )
    return out


def _torch(q: Tensor, k: Tensor, v: Tensor, cu: Tensor, longest: int, scale: Any) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    groups = q.shape[1] // k.shape[1]
    if groups > 1:  # its own grouped-query option came later than 2.10
        k, v = (x.repeat_interleave(groups, dim=1) for x in (k, v))
    if scale is not None:  # the default scale is 1 / sqrt(D) in every version
        q = q * (scale * q.shape[2] ** 0.5)
    out = varlen_attn(q, k, v, cu, cu, longest, longest, **_causal())
    return out if isinstance(out, Tensor) else out[0]


def _causal() -> dict[str, Any]:
    """How this version of torch says that attention looks back only."""
    import inspect

    from torch.nn.attention.varlen import varlen_attn

    if "is_causal" in inspect.signature(varlen_attn).parameters:
        return {"is_causal": True}
    return {"window_size": (-1, 0)}


_last: tuple[Any, int, list[int]] | None = None


def borders(cu_seqlens: Tensor) -> list[int]:
    """`cu_seqlens` on the host, read once per micro-batch and not once per layer."""
    global _last
    if _last and _last[0]() is cu_seqlens and _last[1] == cu_seqlens._version:
        return _last[2]
    found: list[int] = cu_seqlens.tolist()
    _last = weakref.ref(cu_seqlens), cu_seqlens._version, found
    return found


def _lengths(at: list[int]) -> list[int]:
    return [end - start for start, end in itertools.pairwise(at)]


def _missing(backend: str, q: Tensor) -> str:
    """Why a backend cannot take this tensor; "" if it can."""
    if backend == "sdpa":
        return ""
    if not q.is_cuda:
        return f"it needs CUDA, the tensors are on {q.device.type}"
    if q.dtype not in (torch.float16, torch.bfloat16):
        return f"it needs float16 or bfloat16, got {q.dtype}"
    if torch.cuda.get_device_capability(q.device) < (8, 0):
        return f"it needs compute capability 8.0, {torch.cuda.get_device_name(q.device)} has less"
    module = "flash_attn" if backend == "flash" else "torch.nn.attention.varlen"
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    return "" if found else f"{module} is not installed"


def _check(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor) -> None:
    if q.ndim != 3 or k.shape != v.shape or q.shape[::2] != k.shape[::2]:
        raise ValueError(
            f"q, k, v must be (tokens, heads, head size), got {tuple(q.shape)}, "
            f"{tuple(k.shape)}, {tuple(v.shape)}"
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} query heads do not divide over {k.shape[1]} key heads")
    at = borders(cu_seqlens)
    if at[:1] != [0] or at[-1] != q.shape[0] or min(_lengths(at), default=-1) < 0:
        shown = f"{at[:3]} .. {at[-1:]}"
        raise ValueError(
            f"cu_seqlens must rise from 0 to the {q.shape[0]} tokens without a step back, "
            f"got {shown}"
        )
