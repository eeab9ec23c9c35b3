"""Rates and knees: the worked numbers of the literature, conventions named."""

import pytest

from batchlab import roofline
from batchlab.memory import ModelShape
from batchlab.roofline import DEVICES

H100 = DEVICES["H100 SXM"]
LLAMA_8B = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)


def test_flops_per_token_by_convention():
    found = [
        roofline.flops_per_token(LLAMA_8B, 8192, convention=c) / 1e9 for c in roofline.CONVENTIONS
    ]
    assert found == pytest.approx([48.18, 48.18 + 6.44, 48.18 + 12.88], abs=0.01)


@pytest.mark.parametrize(
    ("tokens", "flops_per_byte"),
    [(1, 1.0), (16, 15.9), (64, 62.1), (256, 227.6), (512, 409.6), (4096, 1365.3)],
)
def test_a_linear_layer_of_4096_gains_intensity_with_tokens(tokens, flops_per_byte):
    assert roofline.intensity(tokens, 4096, 4096) == pytest.approx(flops_per_byte, abs=0.05)


def test_the_knee_of_an_h100():
    assert H100.ridge == pytest.approx(295.3, abs=0.05)
    knee = roofline.tokens_to_saturate(H100, 4096, 4096)
    assert knee == 346  # 345.1 tokens, whole ones
    assert roofline.intensity(knee, 4096, 4096) >= H100.ridge
    assert roofline.intensity(knee - 1, 4096, 4096) < H100.ridge


def test_utilisation_of_a_published_rate():
    # 7,000 tokens/s of Llama 8B at 8,192: 34.1 % by parameters, 43.2 % by PaLM's convention
    found = [roofline.mfu(7000, LLAMA_8B, 8192, H100, convention=c) for c in ("parameters", "palm")]
    assert found == pytest.approx([0.3409, 0.432], abs=1e-3)
    assert roofline.mfu(7245, LLAMA_8B, 8192, H100) == pytest.approx(0.40, abs=1e-3)
    hfu = roofline.mfu(7245, LLAMA_8B, 8192, H100, recomputed_share=1 / 3)
    assert hfu == pytest.approx(0.4 * 4 / 3, abs=1e-3)


def test_waves_of_tiles():
    sizes = ((2048, 4096), (4096, 4096), (4224, 4096), (8192, 4096))
    found = [roofline.wave_efficiency(r, c, H100) for r, c in sizes]
    assert found == pytest.approx([0.9697, 0.9697, 1.0, 0.9697], abs=1e-4)


def test_rows_for_nine_tenths_of_the_throughput():
    rows = roofline.rows_to_saturate(0.005, 0.025)
    assert rows == pytest.approx(9 * 0.005 / 0.025)
    throughput = rows / (0.005 + 0.025 * rows)
    assert throughput == pytest.approx(0.9 / 0.025)


DRAWN = roofline.Device("drawn", 100.0, 10.0, 1000, 6, "by hand")  # ridge 10
SMALL = ModelShape(8, 2, 2, 1, 4, 16, 10)


def test_data_sheets_are_those_of_the_makers():
    found = {
        name: (one.flops_per_second, one.bytes_per_second, one.memory_bytes, one.multiprocessors,
               one.watts)
        for name, one in DEVICES.items()
    }  # fmt: skip
    assert found == {
        "H100 SXM": (989.4e12, 3.35e12, 80e9, 132, 700),
        "H200 SXM": (989.4e12, 4.8e12, 141e9, 132, 700),
        "B200": (2250e12, 8e12, 192e9, 148, 1000),
        "GB200": (2500e12, 8e12, 192e9, 148, 1200),
        "A100 SXM 80GB": (312e12, 2.039e12, 80e9, 108, 400),
        "T4": (65e12, 320e9, 16e9, 40, 70),
    }
    assert all(name == one.name for name, one in DEVICES.items()) and DRAWN.ridge == 10
    assert roofline.Device("x", 1, 1, 1, 1, "").watts == 0, "where nobody prints them"
    with pytest.raises(ValueError, match="watts must be a whole number of at least 0, got -1"):
        roofline.Device("x", 1, 1, 1, 1, "", -1)


def test_flops_by_hand():
    parameters = 2 * (8 * (2 * 8 + 2 * 4) + 3 * 8 * 16 + 2 * 8) + 2 * 10 * 8 + 8
    assert SMALL.parameters == parameters == 1352
    pairs = 2 * 8 * 5  # layers x width x length
    for convention, each in (("parameters", 0), ("causal", 6), ("palm", 12)):
        found = roofline.flops_per_token(SMALL, 5, convention=convention)
        assert found == 6 * parameters + each * pairs
    assert roofline.flops_per_token(SMALL, 5) == 6 * parameters + 6 * pairs
    assert roofline.mfu(10.0, SMALL, 5, DRAWN) == 10 * (6 * parameters + 6 * pairs) / 100
    half = roofline.mfu(10, SMALL, 5, DRAWN, convention="parameters", recomputed_share=0.5)
    assert half == 10 * 6 * parameters * 1.5 / 100 and roofline.mfu(0, SMALL, 5, DRAWN) == 0


def test_intensity_by_hand():
    #  2 x 3 x 4 x 5 FLOPs for 3 x 4 + 4 x 5 + 3 x 5 values
    assert roofline.intensity(3, 4, 5) == 120 / (2 * 47)
    assert roofline.intensity(3, 4, 5, bytes_per_value=4) == 120 / (4 * 47)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize(("inputs", "outputs"), [(48, 64), (60, 33), (400, 400)])
def test_a_layer_is_bound_by_compute_from_the_first_token_count_that_reaches_the_ridge(
    inputs, outputs, width
):
    tokens = next(
        n
        for n in range(1, 5000)
        if roofline.intensity(n, inputs, outputs, bytes_per_value=width) >= DRAWN.ridge
    )
    found = roofline.tokens_to_saturate(DRAWN, inputs, outputs, bytes_per_value=width)
    assert found == tokens
    assert width != 2 or roofline.tokens_to_saturate(DRAWN, inputs, outputs) == tokens


def test_a_layer_at_the_ridge_never_leaves_it():
    with pytest.raises(
        ValueError, match=r"20 x 20 never exceeds 10 FLOPs per byte; .* drawn is 10"
    ):
        roofline.tokens_to_saturate(DRAWN, 20, 20)
    assert roofline.tokens_to_saturate(DRAWN, 20, 21) > 20


def test_waves_by_hand():
    #  2 x 3 tiles fill 6 processors once; one more row of the matrix needs a second wave
    assert roofline.wave_efficiency(4, 9, DRAWN, tile=(2, 3)) == 1
    assert roofline.wave_efficiency(5, 9, DRAWN, tile=(2, 3)) == 45 / (2 * 36)
    assert roofline.wave_efficiency(4, 10, DRAWN, tile=(2, 3)) == 40 / (2 * 36)
    #  half a tile, or a third of one, is a whole one: 2 x 4 and 4 x 2 tiles
    assert roofline.wave_efficiency(3, 12, DRAWN, tile=(2, 3)) == 36 / (2 * 36)
    assert roofline.wave_efficiency(8, 4, DRAWN, tile=(2, 3)) == 32 / (2 * 36)
    assert roofline.wave_efficiency(1, 1, DRAWN) == 1 / (6 * 128 * 256)
    none = roofline.Device("CPU", 1e9, 1e9, 1, 0, "by hand")
    with pytest.raises(ValueError, match=r"multiprocessors of CPU must be .* at least 1, got 0"):
        roofline.wave_efficiency(1, 1, none)


def test_rows_to_saturate_by_hand():
    assert roofline.rows_to_saturate(6.0, 2.0, 0.5) == 3.0
    assert roofline.rows_to_saturate(6.0, 2.0, 0.75) == 9.0
    assert roofline.rows_to_saturate(0, 2.0) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roofline.rows_to_saturate(-1.0, 1.0), "fixed_seconds must be at least 0"),
        (lambda: roofline.rows_to_saturate(1.0, 1.0, 0.0), "share must be above 0 and below 1"),
        (lambda: roofline.rows_to_saturate(1.0, 1.0, 1.0), "share must be above 0 and below 1"),
        (lambda: roofline.mfu(-1, SMALL, 5, DRAWN), "tokens_per_second must be at least 0"),
        (
            lambda: roofline.mfu(1, SMALL, 5, DRAWN, recomputed_share=-0.1),
            "recomputed_share must be at least 0",
        ),
        (lambda: roofline.flops_per_token(SMALL, 0), "length must be a whole number"),
        (lambda: roofline.intensity(0, 4, 5), "tokens must be a whole number"),
        (lambda: roofline.intensity(3, 0, 5), "inputs must be a whole number"),
        (lambda: roofline.intensity(3, 4, 0), "outputs must be a whole number"),
        (lambda: roofline.intensity(3, 4, 5, bytes_per_value=0), "bytes_per_value must be"),
        (
            lambda: roofline.tokens_to_saturate(DRAWN, 48, 64, bytes_per_value=0),
            "bytes_per_value must be",
        ),
        (lambda: roofline.wave_efficiency(4, 9, DRAWN, tile=(0, 1)), "a side of the tile must be"),
        (lambda: roofline.Device("x", 0, 1, 1, 1, ""), "flops_per_second must be above 0"),
        (lambda: roofline.Device("x", 1, 0, 1, 1, ""), "bytes_per_second must be above 0"),
        (lambda: roofline.Device("x", 1, 1, -1, 1, ""), "memory_bytes must be a whole number"),
        (lambda: roofline.Device("x", 1, 1, 1, 1.5, ""), "multiprocessors must be a whole number"),
        (lambda: roofline.flops_per_token(LLAMA_8B, 1, convention="mine"), "unknown convention"),
        (lambda: roofline.tokens_to_saturate(H100, 256, 256), "never exceeds 128 FLOPs per byte"),
        (lambda: roofline.rows_to_saturate(1.0, 0.0), "row_seconds must be above 0, got 0.0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
