"""Which rank of how many this process is, and how long it was ready and had no core.

torch.distributed, else the launcher's environment  ->  rank, world size
"""

import os
from typing import Any

import torch
from torch import nn

__all__ = ["Cores", "rank_and_world", "replicas"]

SHARDED = ("FSDPModule", "FullyShardedDataParallel", "DistributedDataParallel")


def rank_and_world() -> tuple[int, int]:
    """(rank, world size); (0, 1) where nothing says otherwise."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    world = int(os.environ.get("WORLD_SIZE") or 1)
    return (int(os.environ.get("RANK") or 0), world) if world > 1 else (0, 1)


def replicas(model: nn.Module, world_size: int) -> int | None:
    """How many ranks share a step by data; None where tensors or stages may be split as well."""
    if world_size == 1:
        return 1
    inside = model._modules.get("_orig_mod")  # behind torch.compile
    names = {one.__name__ for each in (model, inside) for one in type(each).__mro__}
    return world_size if names & set(SHARDED) else None


class Cores:
    """Seconds for which this thread was ready to run and others had the cores, as Linux counts."""

    def __init__(self) -> None:
        self._file: Any = None
        try:
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:  # another system: nobody counts
            return

    def lacked(self) -> float:
        """So far; 0 where nobody counts. Only differences mean something."""
        if self._file is None:
            return 0.0
        return int(os.pread(self._file, 100, 0).split()[1]) / 1e9

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
