"""Bytes of PyTorch's own data parallelism, counted at the collectives, against the formula."""

import numpy as np
import pytest

from batchlab import cluster
from batchlab.cluster import distributed

pytestmark = pytest.mark.slow

WIDTH, LAYERS = 32, 4


def sent(rank, form, accumulation):
    """Passes of the parameters' bytes that torch's collectives moved in one optimizer step."""
    import torch
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils._python_dispatch import TorchDispatchMode

    torch.manual_seed(0)
    layers = [torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)]
    model = torch.nn.Sequential(*layers)
    whole = sum(one.numel() for one in model.parameters()) * 4
    moved = []

    class Meter(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            name = str(function)
            if "c10d" in name and ("all" in name or "reduce" in name):
                flat = torch.utils._pytree.tree_leaves((args, kwargs))
                sizes = [one.nbytes for one in flat if isinstance(one, torch.Tensor)]
                moved.append((2 if "allreduce" in name else 1) * max(sizes))
            return function(*args, **(kwargs or {}))

    if form.startswith("ddp"):
        model = DistributedDataParallel(model)
    else:
        keep = form in ("fsdp2_keep", "fsdp2_zero2", "fsdp2_zero1")
        for layer in layers:
            fully_shard(layer, reshard_after_forward=not keep)
        fully_shard(model, reshard_after_forward=not keep)
        if form in ("fsdp2_zero2", "fsdp2_zero1"):
            model.set_reshard_after_backward(False)
    with Meter():
        for number in range(accumulation):
            last = number == accumulation - 1
            if form == "ddp":
                model.require_backward_grad_sync = last
            if form in ("fsdp2_no_sync", "fsdp2_zero1"):
                model.set_requires_gradient_sync(last)
            model(torch.ones(2, WIDTH)).sum().backward()
    return sum(moved) / whole


MEASURED = ("ddp", "ddp_each", "zero3", "fsdp2_no_sync", "fsdp2_keep", "fsdp2_zero2", "fsdp2_zero1")


@pytest.mark.parametrize("accumulation", [1, 4])
@pytest.mark.parametrize("form", MEASURED)
def test_torch_moves_what_the_formula_says(form, accumulation):
    found = distributed.run(sent, 2, form, accumulation, timeout=600).results
    one = cluster.traffic(form, 10**6, 2, accumulation, parameter_bytes=1, gradient_bytes=1)
    wanted = (one.gathered_bytes + one.reduced_bytes) / 10**6
    assert found == pytest.approx([wanted] * 2), "the largest tensor of each collective, in passes"
    assert np.isfinite(found).all()
