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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: roofline.flops_per_token(LLAMA_8B, 1, convention="mine"), "unknown convention"),
        (lambda: roofline.tokens_to_saturate(H100, 256, 256), "never exceeds 128 FLOPs per byte"),
        (lambda: roofline.rows_to_saturate(1.0, 0.0), "row_seconds must be above 0, got 0.0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
