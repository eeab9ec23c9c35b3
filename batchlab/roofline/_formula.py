"""FLOPs, bytes and the knee: what a step should cost on a device, before it is measured.

    model shape, tokens, device  ->  FLOPs, arithmetic intensity, saturation, MFU

Conventions are named because published figures differ by them: `palm` counts all attention pairs
(12 L H s per token), `causal` half of them, `parameters` none (6 N). MFU leaves recomputation out,
HFU counts it.

Words
    intensity   FLOPs per byte moved
    ridge       intensity above which a device computes and does not wait for its memory
"""

import math
from dataclasses import dataclass

from batchlab.memory import ModelShape
from batchlab.units import real, whole

__all__ = ["CONVENTIONS", "DEVICES", "Device", "flops_per_token", "intensity", "mfu",
           "rows_to_saturate", "tokens_to_saturate", "wave_efficiency"]  # fmt: skip

CONVENTIONS = ("parameters", "causal", "palm")


@dataclass(frozen=True)
class Device:
    """Peak rates of a device, dense, in the named number type, with where they are printed."""

    name: str
    flops_per_second: float
    bytes_per_second: float
    memory_bytes: int
    multiprocessors: int
    source: str
    watts: int = 0  # thermal design power; 0 where nobody prints one

    def __post_init__(self) -> None:
        for name in ("flops_per_second", "bytes_per_second"):
            object.__setattr__(self, name, real(getattr(self, name), name, above=0))
        for name in ("memory_bytes", "multiprocessors", "watts"):
            object.__setattr__(self, name, whole(getattr(self, name), name, least=0))

    @property
    def ridge(self) -> float:
        """FLOPs per byte at which compute and memory take equally long."""
        return self.flops_per_second / self.bytes_per_second


BLACKWELL = "bf16 dense: glennklockwood.com/garden/processors/B200; SMs: hmc-tech.com"
DEVICES = {
    one.name: one
    for one in (
        Device(
            "H100 SXM",
            989.4e12,
            3.35e12,
            80 * 10**9,
            132,
            "NVIDIA H100 data sheet, bf16 dense",
            700,
        ),
        Device(
            "H200 SXM",
            989.4e12,
            4.8e12,
            141 * 10**9,
            132,
            "NVIDIA H200 data sheet, bf16 dense",
            700,
        ),
        Device(
            "A100 SXM 80GB", 312e12, 2.039e12, 80 * 10**9, 108, "NVIDIA A100 data sheet, bf16", 400
        ),
        Device("B200", 2250e12, 8e12, 192 * 10**9, 148, BLACKWELL, 1000),
        Device("GB200", 2500e12, 8e12, 192 * 10**9, 148, BLACKWELL, 1200),  # one GPU of it
        Device("T4", 65e12, 320e9, 16 * 10**9, 40, "NVIDIA T4 data sheet, fp16", 70),
    )
}


def flops_per_token(shape: ModelShape, length: int, *, convention: str = "causal") -> float:
    """FLOPs of forward and backward for one token of a row of `length`."""
    if convention not in CONVENTIONS:
        raise ValueError(f"unknown convention {convention!r}; there are {', '.join(CONVENTIONS)}")
    length, width = whole(length, "length"), shape.heads * shape.head_size
    attention = {"parameters": 0, "causal": 6, "palm": 12}[convention]
    return 6 * shape.parameters + attention * shape.layers * width * length


def intensity(tokens: int, inputs: int, outputs: int, *, bytes_per_value: int = 2) -> float:
    """FLOPs per byte of one linear layer over `tokens`: it reads weights and inputs once.

    >>> round(intensity(256, 4096, 4096), 1)
    227.6
    """
    tokens, inputs, outputs = whole(tokens, "tokens"), *_layer(inputs, outputs)
    bytes_per_value = whole(bytes_per_value, "bytes_per_value")
    moved = tokens * inputs + inputs * outputs + tokens * outputs
    return 2 * tokens * inputs * outputs / (bytes_per_value * moved)


def tokens_to_saturate(
    device: Device, inputs: int, outputs: int, *, bytes_per_value: int = 2
) -> int:
    """Tokens of a micro-batch from which on a linear layer is bound by compute.

    More tokens than this only take longer. A layer too small to reach the ridge is refused.
    """
    inputs, outputs = _layer(inputs, outputs)
    bytes_per_value = whole(bytes_per_value, "bytes_per_value")
    limit = 2 * inputs * outputs / (bytes_per_value * (inputs + outputs))
    if limit <= device.ridge:
        raise ValueError(
            f"a layer of {inputs} x {outputs} never exceeds {limit:.0f} FLOPs per byte; "
            f"the ridge of {device.name} is {device.ridge:.0f}"
        )
    weights = bytes_per_value * inputs * outputs * device.ridge
    per_token = 2 * inputs * outputs - bytes_per_value * (inputs + outputs) * device.ridge
    return math.ceil(weights / per_token)


def rows_to_saturate(fixed_seconds: float, row_seconds: float, share: float = 0.9) -> float:
    """Rows at which a step of fixed + row * rows reaches `share` of its best throughput.

    >>> round(rows_to_saturate(0.060, 0.002))
    270
    """
    fixed_seconds = real(fixed_seconds, "fixed_seconds", least=0)
    row_seconds = real(row_seconds, "row_seconds", above=0)
    share = real(share, "share", above=0, below=1)
    return share / (1 - share) * fixed_seconds / row_seconds


def mfu(
    tokens_per_second: float,
    shape: ModelShape,
    length: int,
    device: Device,
    *,
    convention: str = "causal",
    recomputed_share: float = 0.0,
) -> float:
    """Model FLOPs utilisation; with `recomputed_share` (1/3: one more forward) it is HFU.

    Count useful tokens: padding flatters.
    """
    tokens_per_second = real(tokens_per_second, "tokens_per_second", least=0)
    recomputed_share = real(recomputed_share, "recomputed_share", least=0)
    flops = flops_per_token(shape, length, convention=convention) * (1 + recomputed_share)
    return tokens_per_second * flops / device.flops_per_second


def wave_efficiency(
    rows: int, columns: int, device: Device, *, tile: tuple[int, int] = (128, 256)
) -> float:
    """Share of the multiprocessors' tile slots that a product of this size fills.

    >>> round(wave_efficiency(4096, 4096, DEVICES["H100 SXM"]), 4)
    0.9697
    """
    rows, columns = whole(rows, "rows"), whole(columns, "columns")
    high, wide = (whole(size, "a side of the tile") for size in tile)
    tiles = -(-rows // high) * -(-columns // wide)
    processors = whole(device.multiprocessors, f"multiprocessors of {device.name}")
    waves = -(-tiles // processors)
    return rows * columns / (waves * processors * high * wide)


def _layer(inputs: int, outputs: int) -> tuple[int, int]:
    return whole(inputs, "inputs"), whole(outputs, "outputs")
