"""FLOPs, bytes and the knee: what a step should cost on a device, before it is measured.

    model shape, tokens, device  ->  FLOPs, arithmetic intensity, saturation, MFU

Doors inside
    roofline.device       the same rates, measured on this machine
    roofline.utilisation  the share of a peak that public runs reached, and what it leads to expect
"""

from batchlab.roofline._formula import (
    CONVENTIONS,
    DEVICES,
    Device,
    flops_per_token,
    intensity,
    mfu,
    rows_to_saturate,
    tokens_to_saturate,
    wave_efficiency,
)

__all__ = [
    "CONVENTIONS",
    "DEVICES",
    "Device",
    "flops_per_token",
    "intensity",
    "mfu",
    "rows_to_saturate",
    "tokens_to_saturate",
    "wave_efficiency",
]
