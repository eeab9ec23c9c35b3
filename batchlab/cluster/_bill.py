"""What a training run takes: hours, money and energy, as ranges.

    tokens, FLOPs a token, devices, utilisation from-to  ->  Bill: from-to

A bill is as uncertain as the utilisation behind it, and that is known after the run, not before.
So it is a range, printed beside the utilisation that it assumes.

Words
    utilisation  MFU: FLOPs of the model per second over the peak of the data sheet
    device hours hours x devices: what is paid for
"""

from dataclasses import dataclass

from batchlab.roofline import Device
from batchlab.units import real, whole

__all__ = ["UTILISATION", "Bill", "Span", "bill", "reached"]

# Measured MFU of dense training, lowest and highest of Llama 3's Table 4 (38 to 43 %, 8,192 to
# 16,384 H100) widened by Korthikanti et al. 2023 (56 % on A100, 530 B): what a good run reaches.
# A first run on own data is often below it: give what `doctor` measured. By model, layout and
# devices `roofline.utilisation` tells what public runs lead to expect.
UTILISATION = (0.38, 0.56)


@dataclass(frozen=True)
class Span:
    """From the least to the most of a quantity."""

    least: float
    most: float

    def times(self, factor: float) -> "Span":
        """Both ends times `factor`, which is 0 or more."""
        return Span(self.least * factor, self.most * factor)


@dataclass(frozen=True)
class Bill:
    """One run: time, device hours, money and energy, each from-to."""

    tokens: int
    flops: float
    devices: int
    utilisation: Span
    hours: Span
    price_per_hour: float
    watts: float

    @property
    def device_hours(self) -> Span:
        return self.hours.times(self.devices)

    @property
    def money(self) -> Span:
        """In the currency of `price_per_hour`."""
        return self.device_hours.times(self.price_per_hour)

    @property
    def kilowatt_hours(self) -> Span:
        """Device hours at the printed power: without host, network and cooling."""
        return self.device_hours.times(self.watts / 1000)


def bill(
    tokens: float,
    flops_per_token: float,
    devices: int,
    device: Device,
    *,
    utilisation: tuple[float, float] = UTILISATION,
    price_per_hour: float = 0.0,
    watts: float | None = None,
) -> Bill:
    """The bill of training on `tokens` tokens.

    flops_per_token  forward and backward: `roofline.flops_per_token`; 6 x parameters at least
    utilisation      least and most MFU; equal ends if it was measured; else `shares` and `device`
                     of `roofline.utilisation.expected`
    price_per_hour   of one device, in any currency
    watts            of one device; by default what its data sheet prints

    >>> from batchlab.roofline import DEVICES
    >>> one = bill(1e12, 6 * 8.03e9, 256, DEVICES["H100 SXM"], utilisation=(0.4, 0.4))
    >>> round(one.hours.most), round(one.device_hours.most)
    (132, 33817)
    """
    least, most = (real(share, "utilisation", above=0, most=1) for share in utilisation)
    if least > most:
        raise ValueError(f"utilisation goes from the least to the most, got {least} to {most}")
    tokens = whole(int(real(tokens, "tokens", least=1)), "tokens", most=None)
    flops = tokens * real(flops_per_token, "flops_per_token", above=0)
    devices = whole(devices, "devices")
    at_peak = flops / (devices * device.flops_per_second) / 3600
    power = device.watts if watts is None else watts
    return Bill(
        tokens,
        flops,
        devices,
        Span(least, most),
        Span(at_peak / most, at_peak / least),
        real(price_per_hour, "price_per_hour", least=0),
        real(power, "watts", least=0),
    )


def reached(
    seconds: float, tokens: float, flops_per_token: float, devices: int, device: Device
) -> float:
    """The utilisation that a run of `seconds` over `tokens` tokens had, for the next bill."""
    seconds = real(seconds, "seconds", above=0)
    flops = real(tokens, "tokens", above=0) * real(flops_per_token, "flops_per_token", above=0)
    return flops / seconds / (whole(devices, "devices") * device.flops_per_second)
