"""The kernels behind `attention.varlen`, and why each can or cannot run here.

    q, k, v, borders of the documents  ->  output of one backend

    flash   the package flash-attn: CUDA, fp16 or bf16
    torch   torch.nn.attention.varlen (torch >= 2.10): CUDA of capability 8.0 or newer, fp16 or bf16
    sdpa    one call per document: any device and dtype, and what a T4 or a CPU has

The order of sums in the backward pass of the first two varies from run to run on long documents;
`torch.use_deterministic_algorithms(True)` fixes it for every backend.
"""

import contextlib
import functools
import importlib
import inspect
import itertools
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

__all__ = ["BACKENDS", "Borders", "missing"]


class Borders(NamedTuple):
    """Where documents begin, from 0 to the number of tokens."""

    at: tuple[int, ...]

    @property
    def lengths(self) -> list[int]:
        return [end - start for start, end in itertools.pairwise(self.at)]

    def on(self, device: torch.device) -> Tensor:
        return _on_device(self.at, device)


class Backend(Protocol):
    """What every backend looks like; shapes are checked before."""

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, borders: Borders, *, causal: bool, scale: Any
    ) -> Tensor: ...


def _flash(
    q: Tensor, k: Tensor, v: Tensor, borders: Borders, *, causal: bool, scale: float | None
) -> Tensor:
    from flash_attn import flash_attn_varlen_func

    cu, longest = borders.on(q.device), max(borders.lengths)
    out: Tensor = flash_attn_varlen_func(
        q, k, v, cu, cu, longest, longest, softmax_scale=scale, causal=causal,
        deterministic=torch.are_deterministic_algorithms_enabled(),
    )  # fmt: skip
    return out


def _torch(
    q: Tensor, k: Tensor, v: Tensor, borders: Borders, *, causal: bool, scale: float | None
) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn

    knows = inspect.signature(varlen_attn).parameters  # it grew from one version to the next
    how: dict[str, Any] = {"is_causal": causal}
    if "window_size" in knows:
        how = {"window_size": (-1, 0) if causal else (-1, -1)}
    if q.shape[1] != k.shape[1]:
        if "enable_gqa" in knows:
            how["enable_gqa"] = True
        else:
            k, v = _for_each_query_head(q, k, v)
    if scale is not None:
        if "scale" in knows:
            how["scale"] = scale
        else:  # 1 / sqrt(D) is fixed there
            q = q * (scale * q.shape[2] ** 0.5)
    cu, longest = borders.on(q.device), max(borders.lengths)
    out = varlen_attn(q, k, v, cu, cu, longest, longest, **how)
    assert isinstance(out, Tensor), "a tuple comes only where more was asked for"
    return out


def _sdpa(
    q: Tensor, k: Tensor, v: Tensor, borders: Borders, *, causal: bool, scale: float | None
) -> Tensor:
    """One call per document: sum of L * L pairs, where one masked call has (sum of L) squared."""
    grouped = q.shape[1] != k.shape[1]
    if grouped and q.is_cuda:  # else PyTorch falls back to a kernel that stores all L * L scores
        (k, v), grouped = _for_each_query_head(q, k, v), False
    call = functools.partial(
        F.scaled_dot_product_attention, is_causal=causal, scale=scale, enable_gqa=grouped
    )
    lengths = [length for length in borders.lengths if length]
    with sdpa_kernel(_NO_PLANS) if q.is_cuda else contextlib.nullcontext():
        if len(set(lengths)) == 1:  # padded rows, for example: one call for all of them
            rows = (x.unflatten(0, (len(lengths), lengths[0])).transpose(1, 2) for x in (q, k, v))
            return call(*rows).transpose(1, 2).flatten(0, 1)
        documents = zip(*(x.transpose(0, 1).split(lengths, dim=1) for x in (q, k, v)), strict=True)
        parts = [call(*(x_HLD[None] for x_HLD in one))[0] for one in documents]
    return torch.cat(parts, dim=1).transpose(0, 1)


# cuDNN comes first on an H100 and builds a plan for every shape it has not seen: 0.4 s forward and
# 0.5 s backward on a B200 (modelscope/FunASR#3704), for each new document length
_NO_PLANS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


BACKENDS: dict[str, Backend] = {"flash": _flash, "torch": _torch, "sdpa": _sdpa}  # best first


def missing(backend: str, q: Tensor) -> str:
    """Why a backend cannot take this tensor; "" if it can."""
    if backend == "sdpa":
        return ""
    if not q.is_cuda:
        return f"it needs CUDA, the tensors are on {q.device.type}"
    if q.dtype not in (torch.float16, torch.bfloat16):
        return f"it needs float16 or bfloat16, got {q.dtype}"
    if q.shape[-1] > 256 or q.shape[-1] % 8:
        return f"it needs heads of a multiple of 8 up to 256, got {q.shape[-1]}"
    if torch.cuda.get_device_capability(q.device) < (8, 0):
        return f"it needs compute capability 8.0, {torch.cuda.get_device_name(q.device)} has less"
    return _why_not_imported(*_FUNCTIONS[backend])


_FUNCTIONS = {
    "flash": ("flash_attn", "flash_attn_varlen_func"),
    "torch": ("torch.nn.attention.varlen", "varlen_attn"),
}


@functools.cache
def _why_not_imported(module: str, function: str) -> str:
    """ "" if the function can be imported: a binary built for another torch is there and fails."""
    try:
        getattr(importlib.import_module(module), function)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except (ImportError, AttributeError, OSError, RuntimeError) as error:
        return f"{module} cannot be imported ({' '.join(str(error).split())[:120]})"
    return ""


def _for_each_query_head(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    groups = q.shape[1] // k.shape[1]
    return k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)


@functools.lru_cache(maxsize=4)
def _on_device(at: tuple[int, ...], device: torch.device) -> Tensor:
    """The same tensor for all layers; the copy does not wait for the device."""
    with torch.inference_mode(False):  # else autograd could not keep it
        return torch.tensor(at, dtype=torch.int32).to(device, non_blocking=True)
