"""The predicted peak against the allocator of CUDA, and a search that meets its wall."""

import pytest
import torch

from batchlab import model
from batchlab.memory import _counter, fit, trace
from tests.devices import require_dtype

pytestmark = pytest.mark.gpu

SHAPE = {"vocabulary": 8192, "hidden": 256, "heads": 4, "layers": 4}
DOCUMENTS = [list(range(1, 513))] * 4096


@pytest.mark.parametrize("rows", [1, 4, 16])
@pytest.mark.parametrize("length", [256, 1024])
@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_prediction_is_within_five_per_cent_of_the_allocator(
    cuda, rows, length, checkpointing, dtype
):
    require_dtype(cuda, dtype)
    config = model.small(**SHAPE).config
    how = {"checkpointing": checkpointing, "dtype": dtype}
    found = trace.compare(config, rows=rows, length=length, device="cuda", **how)
    assert abs(found.error) <= 0.05, str(found)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_fewer_key_heads_than_query_heads_are_predicted_as_well(cuda, dtype):
    """In float32 no fused kernel takes them: all L x L scores are stored, and predicted."""
    require_dtype(cuda, dtype)
    config = model.small(**SHAPE, kv_heads=2).config
    found = trace.compare(config, rows=4, length=512, device="cuda", dtype=dtype)
    assert abs(found.error) <= 0.05, str(found)


def test_workspaces_of_cublas_are_told_apart_from_the_step(cuda):
    config = model.small(**SHAPE).config
    found = trace.compare(config, rows=1, length=256, device="cuda")
    assert found.workspace_bytes >= 2**20
    assert found.measured_bytes < torch.cuda.max_memory_allocated()


def test_a_search_survives_the_end_of_real_memory(cuda):
    """The allocator itself refuses; afterwards the device holds what it held before."""
    made = model.small(**SHAPE).to(cuda)
    _counter.workspace_bytes(cuda)  # cuBLAS makes its workspaces now, and keeps them
    before = torch.cuda.memory_allocated()
    total = torch.cuda.get_device_properties(cuda).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, 3 * 2**30 / total))
    try:
        found = fit.largest_rows(made, DOCUMENTS, most_rows=4096, budget_bytes=total)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert 1 <= found.rows < 4096
    assert any(one.peak_bytes is None for one in found.tries), "the device itself said no"
    assert torch.cuda.memory_allocated() == before
