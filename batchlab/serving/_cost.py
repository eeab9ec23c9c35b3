"""Seconds of one forward pass while serving: by the data sheet, or as calibrated by measurement.

    tokens computed, tokens read from the cache  ->  seconds

Words
    read      key-value entries that the pass reads: one per token of context and request
    kv bytes  2 x layers x key-value heads x head size x bytes per value, for one token
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from batchlab.memory import ModelShape
from batchlab.roofline import Device
from batchlab.units import real, whole

__all__ = ["Affine", "Cost", "Pass", "Roofline", "calibrate", "kv_bytes_per_token", "roofline"]


@dataclass(frozen=True)
class Pass:
    """One measured forward pass: what it computed and read, and how long it took."""

    tokens: int
    rows: int
    longest: int
    seconds: float

    @property
    def read(self) -> int:
        """Cache entries of the rectangle that it read."""
        return self.rows * self.longest


class Cost(Protocol):
    """What the simulation asks of a device."""

    def seconds(self, tokens: int, contexts: Sequence[int]) -> float:
        """Seconds of a pass that computes `tokens` and reads the caches of these lengths."""


@dataclass(frozen=True)
class Roofline:
    """A pass takes as long as its slower half: moving bytes, or multiplying.

    weights_bytes       read once a pass, whatever the batch
    kv_bytes            read for every token of context
    looked_up_bytes     held beside the weights: an embedding of which a token reads its own line
    """

    weights_bytes: float
    kv_bytes: float
    flops_per_token: float
    flops_per_second: float
    bytes_per_second: float
    looked_up_bytes: float = 0.0

    def seconds(self, tokens: int, contexts: Sequence[int]) -> float:
        moved = self.weights_bytes + self.kv_bytes * sum(contexts)
        computed = self.flops_per_token * tokens
        return max(moved / self.bytes_per_second, computed / self.flops_per_second)

    def stretch(self, growing: Sequence[int], resting: Sequence[int], passes: int) -> np.ndarray:
        """Seconds of each of so many decoding passes, between which contexts grow by 1."""
        read = sum(growing) + sum(resting) + len(growing) * np.arange(passes)
        moved = self.weights_bytes + self.kv_bytes * read
        computed = self.flops_per_token * (len(growing) + len(resting))
        computing = computed / self.flops_per_second
        return np.asarray(np.maximum(moved / self.bytes_per_second, computing))

    def most_tokens_per_second(self, context: float) -> float:
        """What decoding approaches with ever more requests of this context: a bound of bandwidth.

        >>> shape = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
        >>> from batchlab.roofline import DEVICES
        >>> round(roofline(shape, DEVICES["H100 SXM"]).most_tokens_per_second(2048))
        12480
        """
        by_memory = self.bytes_per_second / (real(context, "context", above=0) * self.kv_bytes)
        return min(by_memory, self.flops_per_second / self.flops_per_token)

    def most_requests(self, context: int, memory_bytes: float) -> int:
        """Requests of this context whose caches fit beside the weights."""
        held = self.weights_bytes + self.looked_up_bytes
        left = real(memory_bytes, "memory_bytes", above=0) - held
        if left < 0:
            raise ValueError(f"the weights take {held:,.0f} bytes, more than {memory_bytes:,.0f}")
        return math.floor(left / (whole(context, "context") * self.kv_bytes))


@dataclass(frozen=True)
class Affine:
    """a + b x tokens + c x read, as measured; `read` is of a rectangle: requests x longest."""

    fixed_seconds: float
    token_seconds: float
    read_seconds: float

    def seconds(self, tokens: int, contexts: Sequence[int]) -> float:
        rectangle = len(contexts) * max(contexts, default=0)
        return self.fixed_seconds + self.token_seconds * tokens + self.read_seconds * rectangle

    def stretch(self, growing: Sequence[int], resting: Sequence[int], passes: int) -> np.ndarray:
        """Seconds of each of so many decoding passes, between which contexts grow by 1."""
        rows = len(growing) + len(resting)
        longest = np.maximum(max(growing) + np.arange(passes), max(resting, default=0))
        return self.fixed_seconds + self.token_seconds * rows + self.read_seconds * (rows * longest)


def calibrate(passes: Iterable[Pass]) -> Affine:
    """The cost a + b x tokens + c x read with a, b, c >= 0 that comes nearest to measured passes.

    Calibrate on requests that the prediction will not see. Least squares alone would make a price
    negative where tokens and read grow together; so every choice of prices that are 0 is tried,
    and the nearest of those without a negative one is taken.
    """
    rows = [(1.0, one.tokens, one.read, one.seconds) for one in passes]
    if len(rows) < 4:
        raise ValueError(f"three prices need at least 4 measured passes, got {len(rows)}")
    table = np.array(rows, dtype=float)
    inputs, seconds = table[:, :3], table[:, 3]
    best, least = np.zeros(3), float(np.sum(seconds**2))
    for used in itertools.product((False, True), repeat=3):
        columns = np.flatnonzero(used)
        prices = np.zeros(3)
        prices[columns] = np.linalg.lstsq(inputs[:, columns], seconds, rcond=None)[0]
        missed = float(np.sum((inputs @ prices - seconds) ** 2))
        if prices.min() >= 0 and missed < least:
            best, least = prices, missed
    return Affine(*(float(price) for price in best))


def kv_bytes_per_token(shape: ModelShape, *, bytes_per_value: int = 2) -> int:
    """Bytes that one token leaves in the cache.

    >>> kv_bytes_per_token(ModelShape(4096, 32, 32, 8, 128, 14336, 128_256))
    131072
    """
    bytes_per_value = whole(bytes_per_value, "bytes_per_value")
    return 2 * shape.layers * shape.kv_heads * shape.head_size * bytes_per_value


def roofline(shape: ModelShape, device: Device, *, bytes_per_value: int = 2) -> Roofline:
    """The cost of a pass by data sheet; attention's own FLOPs are left out: decoding has few.

    An input embedding is looked up, neither read as a whole nor multiplied; one that is tied to the
    head is both.
    """
    looked_up = 0 if shape.tied else shape.vocabulary * shape.hidden
    multiplied = shape.parameters - looked_up
    return Roofline(
        multiplied * bytes_per_value,
        kv_bytes_per_token(shape, bytes_per_value=bytes_per_value),
        2 * multiplied,
        device.flops_per_second,
        device.bytes_per_second,
        looked_up * bytes_per_value,
    )
