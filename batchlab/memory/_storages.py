"""Add up the storages that are alive while code runs, by what they are for.

    every tensor that an operation makes  ->  bytes alive by kind, the fullest moment of each phase

Under fake tensors this costs no memory: shapes and lifetimes are real, data there is none. Views
share a storage, so storages are counted and not tensors; a weak reference tells when one dies.

Words
    kind    parameters, gradients, optimizer, activations, logits, temporary
    phase   a stretch of the step that the caller enters by name
"""

import functools
import weakref
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

__all__ = ["KINDS", "Living"]

KINDS = ("parameters", "gradients", "optimizer", "activations", "logits", "temporary")
_BY_THEIR_MAKING = ("temporary", "activations", "logits")


class Living(TorchDispatchMode):
    """Counts while it is entered; after `forward`, `backward` begins by itself.

    A fake tensor holds no number: here its `.item()` returns 1, so `train_step` sees 1 target
    token and a finite loss, and goes on.
    """

    def __init__(
        self,
        vocabulary: int,
        *,
        forward: str,
        backward: str,
        block: int = 1,
        scratch: bool = False,
    ) -> None:
        """`block` bytes is what the allocator rounds a storage up to: 512 on CUDA.

        1 byte is that of the CPU, whose kernels take some for a moment; `scratch` says that a
        product in bf16 does.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self.alive = dict.fromkeys(KINDS, 0)
        self.peaks: dict[str, dict[str, int]] = {}
        self.phase = ""
        self._vocabulary, self._block, self._scratch = vocabulary, block, scratch
        self._forward, self._backward = forward, backward
        self._known: dict[int, tuple[Any, int, str]] = {}  # id -> weak storage, bytes, kind

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if function is torch.ops.aten._local_scalar_dense.default:
            return _one(args[0].dtype)
        if self.phase == self._forward and torch._C._current_graph_task_id() != -1:
            self.enter(self._backward)
        if function is torch.ops.aten.add.Tensor and not kwargs and _is_a_sum_of_gradients(*args):
            return args[0].add_(args[1])
        call = _grouped_product if function is _GROUPED else function
        result = call(*args, **(kwargs or {}))
        for value in tree_iter(result):
            if isinstance(value, Tensor):
                self._seen(value, self._kind_of(value))
        if self._block == 1:
            self._for_a_moment(_inside(function, args, result, self._scratch))
        return result

    def enter(self, phase: str) -> None:
        """A phase begins; entered again, it begins anew."""
        self.phase = phase
        self.peaks[phase] = dict(self.alive)

    def mark(self, tensors: Iterable[Any], kind: str) -> None:
        """These are of a kind that their making did not show."""
        for value in tensors:
            if isinstance(value, Tensor):
                self._seen(value, kind)

    def _kind_of(self, value: Tensor) -> str:
        if value.ndim >= 2 and value.shape[-1] == self._vocabulary:
            return "logits"
        return "activations" if self.phase == self._forward else "temporary"

    def _seen(self, value: Tensor, kind: str) -> None:
        storage = value.untyped_storage()
        key = storage._cdata
        known = self._known.get(key)
        if known is not None:
            reference, size, before = known
            if kind != before and kind not in _BY_THEIR_MAKING:
                self.alive[before] -= size
                self.alive[kind] += size
                self._known[key] = (reference, size, kind)
            return
        size = -(-storage.nbytes() // self._block) * self._block
        reference = weakref.ref(storage, functools.partial(self._freed, key))
        self._known[key] = (reference, size, kind)
        self.alive[kind] += size
        self._look()

    def _for_a_moment(self, size: int) -> None:
        """What a kernel takes and gives back before it returns."""
        self.alive["temporary"] += size
        self._look()
        self.alive["temporary"] -= size

    def _freed(self, key: int, _: Any) -> None:
        known = self._known.pop(key, None)
        if known:
            self.alive[known[2]] -= known[1]

    def _look(self) -> None:
        fullest = self.peaks.get(self.phase)
        if fullest is not None and sum(self.alive.values()) > sum(fullest.values()):
            self.peaks[self.phase] = dict(self.alive)


_PRODUCTS = (torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.bmm.default)
_SUMS = (
    torch.ops.aten.add.Tensor,
    torch.ops.aten.sub.Tensor,
    torch.ops.aten.mul.Tensor,
    torch.ops.aten.div.Tensor,
    torch.ops.aten.add_.Tensor,
    torch.ops.aten.mul_.Tensor,
)


def _inside(function: Any, args: Any, result: Any, scratch: bool) -> int:
    """Bytes that a kernel of the CPU takes inside: products in bf16, and sums of two dtypes.

    A sum of bf16 and float32 casts the whole bf16 operand first; on CUDA the kernel casts in
    passing. LoRA adds its float32 result to that of bf16 weights.
    """
    if function in _PRODUCTS and scratch and result.dtype == torch.bfloat16:
        rows, columns = result.shape[-2:]
        return 4 * int(rows) * int(columns)
    if function in _SUMS:
        operands = [one for one in args if isinstance(one, Tensor) and one.ndim]
        dtypes = (one.dtype for one in operands)
        common = functools.reduce(torch.promote_types, dtypes, torch.bool)
        cast = (one for one in operands if one.dtype != common)
        return sum(one.numel() * common.itemsize for one in cast)
    return 0


_HOLDERS = 4  # of a gradient that autograd alone has, while it is handed over (torch 2.13)


def _is_a_sum_of_gradients(old: Any, new: Any) -> bool:
    """Whether autograd adds a gradient into one that nobody else holds.

    It never does so for fake tensors. A scan over positions adds one of all its states at each.
    """
    if torch._C._current_graph_task_id() == -1 or not isinstance(old, Tensor):
        return False
    count = getattr(old, "_use_count", int)()  # not in every torch: then it is told as before
    held = count, torch._C._storage_Use_Count(old.untyped_storage()._cdata)
    alone = held == (_HOLDERS, 2)  # the second: by the tensor, and by the line above
    return alone and isinstance(new, Tensor) and (old.shape, old.dtype) == (new.shape, new.dtype)


_GROUPED = torch.ops.aten._grouped_mm.default if hasattr(torch.ops.aten, "_grouped_mm") else None


def _grouped_product(a: Tensor, b: Tensor, *args: Any, **options: Any) -> Tensor:
    """The products of a mixture of experts: their shape rule knows bf16 only, devices know more."""
    assert _GROUPED is not None
    half = (x.to(torch.bfloat16) for x in (a, b))
    return _GROUPED(*half, *args, **options).to(a.dtype)  # type: ignore[no-any-return]


def _one(dtype: torch.dtype) -> float:
    if dtype == torch.bool:
        return True
    return 1.0 if dtype.is_floating_point else 1
