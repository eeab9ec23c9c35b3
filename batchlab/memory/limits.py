"""Where memory ends: tell an out-of-memory from other errors, and give cached blocks back.

an error  ->  whether memory ended
"""

import gc

import torch

__all__ = ["collect_memory", "out_of_memory"]


def out_of_memory(error: Exception) -> bool:
    """Whether a device, or the allocator of the CPU, had no memory left.

    The allocator of the CPU says so in its own words on each system: "can't allocate memory" on
    Linux, "not enough memory" on Windows and macOS. Near the wall of a GPU, cuBLAS and cuDNN fail
    to make their handles, and name no memory at all.
    """
    text = str(error).lower()
    words = ("out of memory", "not enough memory", "allocate memory", "std::bad_alloc",
             "cublas_status_alloc_failed", "cudnn_status_alloc_failed")  # fmt: skip
    kinds = (
        MemoryError,
        *((torch.OutOfMemoryError,) if hasattr(torch, "OutOfMemoryError") else ()),
    )
    return isinstance(error, kinds) or any(one in text for one in words)


def collect_memory(device: str) -> None:
    """Give cached blocks back, so that one setting leaves nothing to the next."""
    gc.collect()
    if torch.device(device).type == "cuda":
        torch.cuda.empty_cache()
