"""What public runs reached of a peak, and what that leads to expect: told with its error."""

import re

import numpy as np
import pytest

from batchlab import records
from batchlab.memory import ModelShape
from batchlab.roofline import DEVICES, flops_per_token, utilisation


def of(system, benchmark):
    found = records.public_runs(benchmark=benchmark).submissions
    return utilisation.of(next(one for one in found if one.system == system))


def test_utilisation_is_flops_over_the_peak_by_hand():
    (one,) = [
        each
        for each in records.public_runs(benchmark="llama31_8b", device="B200").submissions
        if each.system == "hpg.dgxb200x8.n32"
    ]
    by_hand = one.samples_per_second * 421.6e12 / (256 * 2250e12)
    assert utilisation.of(one) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(
    ("system", "benchmark", "share"),
    [
        ("hpg.dgxb200x8.n1", "llama31_8b", 0.69),
        ("hpg.dgxb200x8.n4", "llama31_8b", 0.485),
        ("hpg.dgxb200x8.n8", "llama31_8b", 0.49),
        ("hpg.dgxb200x8.n16", "llama31_8b", 0.48),
        ("hpg.dgxb200x8.n32", "llama31_8b", 0.42),
        ("tyche_ngpu512_ngc25.09_nemo", "llama31_8b", 0.23),
    ],
)
def test_the_ladder_of_8b_is_that_of_the_sources(system, benchmark, share):
    assert of(system, benchmark) == pytest.approx(share, abs=0.006)


def test_accumulation_costs_what_the_sources_say():
    """405B, one layout, 112 micro-batches down to 32: 743 to 694 tokens a second and device."""
    speeds = [
        one.samples_per_second * 8192 / one.devices
        for one in records.public_runs(benchmark="llama31_405b", round="5.0").submissions
        if one.accumulation in (112, 32) and one.device == "GB200"
    ]
    assert max(speeds) == pytest.approx(743, abs=6) and min(speeds) == pytest.approx(694, abs=1)


def test_a_device_without_a_sourced_peak_has_no_utilisation():
    for device in ("TPU-TPU-v5p", "MI355X", "A100", "GB300"):
        one = records.public_runs(device=device).submissions[0]
        with pytest.raises(ValueError, match=f"{device}: its peak has no source here"):
            utilisation.of(one)


def test_the_error_where_the_fit_has_not_been_is_the_one_that_is_told():
    """The numbers of the docstring, counted."""
    told = " ".join(utilisation.__doc__.split())
    half, most, model, one, again = map(int, re.findall(r"(\d+) %", told)[:5])
    alone, by_model = utilisation.left_out(), utilisation.left_out(by="model")
    assert (half, most) == (round(100 * alone["half"]), round(100 * alone["nine in ten"]))
    assert model == again == round(100 * by_model["nine in ten"])
    assert one == round(100 * by_model["one number"])
    assert f"half of the {utilisation._fit().configurations} " in told
    assert alone["nine in ten"] < by_model["nine in ten"] < 0.6 * by_model["one number"]
    with pytest.raises(ValueError, match='left out by "configuration"'):
        utilisation.left_out(by="run")


def test_nine_in_ten_configurations_of_an_unseen_model_lie_inside_the_range():
    lines, logs, keys = utilisation._table()
    misses = utilisation._misses(lines, logs, [key[0] for key in keys])
    inside = np.mean(np.abs(misses) <= utilisation._fit().miss)
    assert 0.88 <= inside <= 0.92


def test_a_configuration_counts_once_however_often_it_was_submitted():
    _, logs, keys = utilisation._table()
    submissions = [one for one in records.public_runs().submissions
                   if one.device in utilisation.NAMES and one.precision]  # fmt: skip
    assert len(set(keys)) == len(keys) == len(logs) == 73 < len(submissions)


def test_more_devices_for_one_step_reach_less_of_each():
    h100 = DEVICES["H100 SXM"]
    shares = [utilisation.expected(64 * 421.6e12, n, h100).middle for n in (16, 64, 256)]
    assert shares[0] > shares[1] > shares[2]
    four = utilisation.expected(64 * 421.6e12, 64, DEVICES["B200"], precision="fp4")
    eight = utilisation.expected(64 * 421.6e12, 64, DEVICES["B200"])
    assert four.middle > eight.middle
    assert four.shares[1] < eight.shares[1], "of a peak that is twice as high"
    assert eight.device.flops_per_second == 4500e12 and eight.device.name == "B200 in fp8"
    assert eight.shares[0] == pytest.approx(eight.least / 2)


def test_in_bf16_the_products_take_twice_the_time_and_the_rest_as_long():
    asked = 64 * 421.6e12, 64, DEVICES["H100 SXM"]
    eight = utilisation.expected(*asked).middle
    found = utilisation.expected(*asked, precision="bf16")
    products, rest = 1 / 2, 1 / eight - 1 / 2  # of a step, in units of its bf16 products
    assert found.most == pytest.approx(1 / (2 * products + rest)) and found.most < eight
    assert found.least == pytest.approx(0.6 * found.most) and found.least < found.middle
    assert found.device.name == "H100 SXM"
    assert found.shares == (found.least, found.most)


def test_the_run_that_is_most_like_has_the_model_then_the_device_then_the_number():
    gb200, h200 = DEVICES["GB200"], DEVICES["H200 SXM"]
    of_8b, of_405b = 421.6e12 / 8192, 20599e12 / 8192
    found = utilisation.like(of_8b, 60, gb200)
    assert (found.benchmark, found.device, found.devices) == ("llama31_8b", "GB200", 72)
    found = utilisation.like(of_405b, 4000, h200)
    assert (found.benchmark, found.device, found.devices) == ("llama31_405b", "H200", 1024)
    found = utilisation.like(of_8b, 60, h200)  # no 8B on H200: the same model elsewhere
    assert (found.benchmark, found.devices) == ("llama31_8b", 64)


LLAMA_8B = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
LLAMA_405B = ModelShape(16_384, 126, 128, 8, 128, 53_248, 128_256)
# All on H100, rows of 8,192. Llama 3, Table 4: shares, 16 M tokens a step. torchtitan, its file
# benchmarks/llama3_h100_202412_torchtitan.md: tokens/s of a device, without and with compilation.
PUBLISHED = [
    (LLAMA_405B, 8192, 2048, 8, 0.43), (LLAMA_405B, 16_384, 2048, 8, 0.41),
    (LLAMA_8B, 8, 16, 1, 5762), (LLAMA_8B, 8, 16, 1, 6667),
    (LLAMA_8B, 128, 256, 1, 5605), (LLAMA_8B, 128, 256, 1, 6514),
]  # fmt: skip


def of_the_most(shape, devices, rows, tensor, reached):
    h100, flops = DEVICES["H100 SXM"], flops_per_token(shape, 8192)
    found = utilisation.expected(
        flops * rows * 8192, devices, h100, precision="bf16", tensor_parallel=tensor
    )
    share = reached if reached < 1 else reached * flops / h100.flops_per_second
    assert found.least < share < found.most
    return share / found.most


def test_six_published_runs_in_bf16_lie_in_the_range():
    """The judge: the fit has seen none of them, and they lie where the docstring says."""
    found = [of_the_most(*one) for one in PUBLISHED]
    told = " ".join(utilisation.__doc__.split())
    assert f"lie at {100 * min(found):.0f} to {100 * max(found):.0f} % of it" in told


def test_an_open_trainer_in_fp8_stays_below_the_range_as_is_said():
    flops = flops_per_token(LLAMA_8B, 8192)
    found = utilisation.expected(flops * 256 * 8192, 128, DEVICES["H100 SXM"])
    reached = 8380 * flops / 989.4e12
    assert reached < found.least and round(100 * reached / found.middle) == 68


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ({"device": DEVICES["T4"]}, "no public run on T4 here; there are H100, H200, B200, GB200"),
        ({"precision": "int8"}, "no public run here computes in int8 on H100"),
        ({"precision": "fp4"}, "no public run here computes in fp4 on H100"),
        ({"devices": 100_000}, "FLOPs of a device and step: public runs have 5.27e"),
        ({"tensor_parallel": 16}, "tensor_parallel must be at most 8, got 16"),
        ({"devices": 0}, "devices must be a whole number of at least 1, got 0"),
    ],
)
def test_what_no_public_run_is_like_is_refused(ask, said):
    asked = {"devices": 64, "device": DEVICES["H100 SXM"]} | ask
    with pytest.raises(ValueError, match=said):
        utilisation.expected(64 * 421.6e12, **asked)
