"""Measured rates are those of the device: each law beside the mistake that flatters."""

import dataclasses

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from batchlab import records, roofline
from batchlab.memory import ModelShape
from batchlab.roofline import device
from batchlab.timing import Timing

ENVIRONMENT = {"date": "2026-11-21", "processor": "an abacus", "device": "an abacus",
               "versions": {"torch": "2"}}  # fmt: skip


def test_the_flops_of_a_product_are_those_that_torch_counts():
    left, right = torch.ones(3, 5), torch.ones(5, 7)
    with FlopCounterMode(display=False) as counter:
        left @ right
    assert device.product_flops(3, 5, 7) == counter.get_total_flops() == 210
    assert counter.get_total_flops() != 3 * 5 * 7, "the mistake: a multiply without its add"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(device.SIDES, "cpu", (32, 64))
    monkeypatch.setitem(device.COPY_BYTES, "cpu", 4096)


def test_the_cpu_is_measured(small, tmp_path):
    found = device.measure("cpu", seconds=0.05)
    assert found.device_type == "cpu" and found.dtype == "float32"
    assert [one.amount for one in found.products] == [2 * 32**3, 2 * 64**3]
    assert found.product.per_second == max(one.per_second for one in found.products)
    assert found.launch.median_seconds > 0 and found.queued_launch is None
    assert found.load is None or found.load >= 0
    assert found.multiprocessors == torch.get_num_threads()
    records.append(tmp_path / "device.jsonl", found.record())
    (read,) = records.read(tmp_path / "device.jsonl")
    assert read["flops_per_second"] == found.product.per_second
    assert set(read["flops_per_second_by_size"]) == {one.what for one in found.products}


def test_a_copy_reads_and_writes(small):
    """The mistake beside the law: counting one direction halves the bandwidth."""
    found = device.measure("cpu", seconds=0.02).copy
    source, target = torch.ones(4096, dtype=torch.uint8), torch.ones(4096, dtype=torch.uint8)
    assert found.amount == source.nbytes + target.nbytes != source.nbytes
    assert "read and write counted" in found.what


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_another_dtype_is_measured_as_asked(small, dtype):
    assert f"torch.{device.measure('cpu', dtype=dtype, seconds=0.02).dtype}" == str(dtype)


def test_a_size_that_would_take_too_long_is_left_out(monkeypatch):
    def planted(call, *, what, amount, seconds, wait):
        return Timing(what, amount, (amount / 1e9,), 1)

    monkeypatch.setattr(device, "timed", planted)
    found = device._products(torch.device("cpu"), torch.float32, 1.0, lambda: None)
    assert [one.amount for one in found] == [2 * 256**3]  # 512: six calls of 0.27 s
    slower = device._products(torch.device("cpu"), torch.float32, 1e-9, lambda: None)
    assert len(slower) == 1, "one size is always measured"


def figures(**changes):
    products = (Timing("p256", 100, (2.0, 1.0, 4.0), 1), Timing("p512", 800, (8.0, 9.0, 8.0), 1))
    made = device.Figures(
        "cpu", "float32", products, Timing("copy", 40, (2.0, 2.0, 2.5), 1),
        Timing("launch", 1, (0.5,), 1), None, 10**9, 2, 0.1, ENVIRONMENT,
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def test_roofline_takes_the_measured_device():
    found = figures()
    made = found.for_roofline()
    assert (made.name, made.flops_per_second, made.bytes_per_second) == ("an abacus", 100, 20)
    assert made.ridge == 5
    assert made.source == "measured 2026-11-21, torch 2, float32, p512; copy"
    assert found.spread == 0.25, "of the size that counts, not of the one that was too small"
    shape = ModelShape(64, 2, 4, 4, 16, 256, 1000)
    per_token = roofline.flops_per_token(shape, 128)
    assert roofline.mfu(1.0, shape, 128, made) == pytest.approx(per_token / 100)
    tokens = roofline.tokens_to_saturate(made, 64, 64)
    assert roofline.intensity(tokens, 64, 64) >= made.ridge
    assert roofline.intensity(tokens - 1, 64, 64) < made.ridge


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": "meta"}, "device 'meta' cannot be measured; there are cpu and cuda"),
        ({"dtype": torch.int64}, "int64 is no floating-point dtype"),
        ({"dtype": torch.float8_e4m3fn}, "float8_e4m3fn products do not run on cpu here"),
        ({"seconds": 0}, "seconds must be above 0, got 0"),
        ({"seconds": float("nan")}, "seconds must be above 0, got nan"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as refused:
        device.measure(**({"device": "cpu"} | arguments))
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_said():
    with pytest.raises(ValueError, match=r"'cuda': torch .* sees no GPU here"):
        device.measure("cuda")
