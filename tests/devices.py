"""What a device can, and where it was last used: shared by the tests that need one."""

import pytest
import torch

RECORD = "the last record stands in batchlab/evidence/LOG.md"


def require_dtype(device, dtype):
    """Skip where the device has no bf16 of its own (a T4): emulated, it has no fused kernels."""
    if dtype == torch.bfloat16 and torch.cuda.get_device_capability(device) < (8, 0):
        pytest.skip(f"bfloat16 needs compute capability 8.0; {RECORD}")
