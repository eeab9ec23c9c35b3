"""What a collective sends and how long it takes, in a ring.

    payload bytes, ranks, link  ->  bytes that every rank sends, seconds

A ring cuts the payload into one piece per rank and passes each piece on, rank to rank. That is the
least traffic that is possible per rank, and what NCCL and gloo use for large payloads.

Words
    payload   bytes of the whole tensor, before it is cut
    pass      each piece travels once around the ring: ranks - 1 messages from every rank
    link      one device's way out: bytes per second in one direction, seconds per message
"""

import math
from dataclasses import dataclass

from batchlab.roofline import Device
from batchlab.units import real, whole

__all__ = ["LINKS", "Collective", "Link", "all_gather", "all_reduce", "reduce_scatter",
           "tokens_to_hide"]  # fmt: skip


@dataclass(frozen=True)
class Link:
    """One device's way to the others: data-sheet rate in one direction, and latency of a message.

    The latency is 0 unless you measured yours: no data sheet prints it.
    """

    name: str
    bytes_per_second: float
    source: str
    latency_seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "bytes_per_second", real(self.bytes_per_second, "bytes_per_second", above=0)
        )
        object.__setattr__(
            self, "latency_seconds", real(self.latency_seconds, "latency_seconds", least=0)
        )


LINKS = {
    one.name: one
    for one in (
        Link("NVLink 4", 450e9, "NVIDIA H100 data sheet: 900 GB/s, both directions together"),
        Link("NVLink 3", 300e9, "NVIDIA A100 data sheet: 600 GB/s, both directions together"),
        Link("PCIe 5 x16", 64e9, "NVIDIA H100 data sheet: 128 GB/s, both directions together"),
        Link("400 Gb/s", 50e9, "InfiniBand NDR or 400 Gb Ethernet: 400e9 / 8"),
        Link("100 Gb/s", 12.5e9, "InfiniBand EDR or 100 Gb Ethernet: 100e9 / 8"),
    )
}


@dataclass(frozen=True)
class Collective:
    """One collective over a ring: counted over all ranks first, divided last.

    >>> all_reduce(14_000_000_000, 64).rank_bytes
    27562500000.0
    """

    name: str
    payload_bytes: int
    ranks: int
    passes: int

    @property
    def total_bytes(self) -> int:
        """Bytes that all ranks send together: exact, also where the pieces are unequal."""
        return self.passes * (self.ranks - 1) * self.payload_bytes

    @property
    def rank_bytes(self) -> float:
        """Bytes that one rank sends, on average over the ranks."""
        return self.total_bytes / self.ranks

    @property
    def messages(self) -> int:
        """Messages that one rank sends, one after the other."""
        return self.passes * (self.ranks - 1)

    def seconds(self, link: Link) -> float:
        """Time over `link`, if every rank has such a link and nobody else uses it.

        >>> round(all_reduce(14_000_000_000, 8).seconds(LINKS["NVLink 4"]), 4)
        0.0544
        """
        return self.messages * link.latency_seconds + self.rank_bytes / link.bytes_per_second


def all_reduce(payload_bytes: int, ranks: int) -> Collective:
    """Every rank ends with the sum: a reduce-scatter, then an all-gather. 2(n-1)/n x payload."""
    return _collective("all_reduce", payload_bytes, ranks, passes=2)


def reduce_scatter(payload_bytes: int, ranks: int) -> Collective:
    """Every rank ends with its piece of the sum. (n-1)/n x payload, which is the *whole* tensor."""
    return _collective("reduce_scatter", payload_bytes, ranks, passes=1)


def all_gather(payload_bytes: int, ranks: int) -> Collective:
    """Every rank ends with all pieces. (n-1)/n x payload, which is the *gathered* tensor."""
    return _collective("all_gather", payload_bytes, ranks, passes=1)


def tokens_to_hide(
    device: Device,
    link: Link,
    ranks: int,
    *,
    gradient_bytes: int = 2,
    mfu: float = 0.4,
    backward_only: bool = False,
) -> int:
    """Tokens per device and synchronisation at which computing takes as long as the all-reduce.

    The model's size cancels: its parameters cost 6 FLOPs each per token and `gradient_bytes` each
    per synchronisation. With fewer tokens the devices wait for the link, whatever the overlap.

    mfu            share of the device's peak that the step reaches without communication
    backward_only  the all-reduce may hide behind the backward pass (4 of 6 FLOPs) alone

    >>> from batchlab.roofline import DEVICES
    >>> tokens_to_hide(DEVICES["H100 SXM"], LINKS["400 Gb/s"], 64)
    5195
    """
    mfu = real(mfu, "mfu", above=0, most=1)
    per_parameter = all_reduce(whole(gradient_bytes, "gradient_bytes"), ranks)
    flops = 4 if backward_only else 6
    seconds = per_parameter.rank_bytes / link.bytes_per_second
    return math.ceil(seconds * mfu * device.flops_per_second / flops)


def _collective(name: str, payload_bytes: int, ranks: int, passes: int) -> Collective:
    payload_bytes = whole(payload_bytes, "payload_bytes", least=0)
    return Collective(name, payload_bytes, whole(ranks, "ranks"), passes)
