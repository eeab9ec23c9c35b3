"""The measured rates of a GPU, beside its data sheet."""

import pytest
import torch

from batchlab import roofline, timing
from batchlab.roofline import device

pytestmark = pytest.mark.gpu


def test_a_gpu_is_measured_within_its_data_sheet(cuda):
    found = device.measure("cuda", seconds=4.0)
    sheet = next(
        (one for one in roofline.DEVICES.values() if one.name.split()[0] in found.name), None
    )
    if sheet is None:
        pytest.skip(f"LOUDLY: no data sheet of {found.name} in roofline.DEVICES")
    if found.dtype == ("float16" if "fp16" in sheet.source else "bfloat16"):
        assert found.product.per_second < 1.02 * sheet.flops_per_second, "nobody waited"
    assert found.queued_launch.median_seconds < found.launch.median_seconds


def test_a_clock_without_waiting_is_too_fast(cuda):
    left = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    how = {"what": "product", "amount": device.product_flops(4096, 4096, 4096), "seconds": 0.05}
    right = timing.timed(lambda: left @ left, wait=torch.cuda.synchronize, **how)
    torch.cuda.synchronize()
    wrong = timing.timed(lambda: left @ left, wait=lambda: None, **how)
    torch.cuda.synchronize()
    assert min(wrong.seconds) < right.median_seconds
