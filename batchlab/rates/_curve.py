"""The factor of a learning rate along the tokens of a run: warm-up, then a shape, then an end.

    target tokens seen  ->  factor between 0 and 1

In tokens, because steps change their length when the batch does: 2,000 warm-up steps of 256
sequences are 250 of 2,048.
"""

import math
from dataclasses import dataclass

from batchlab.units import real, whole

__all__ = ["SHAPES", "Curve"]

SHAPES = ("constant", "linear", "cosine")


@dataclass(frozen=True)
class Curve:
    """Warm up linearly, then stay or fall until `total_tokens`, and stay at `final` after them.

    The first step, at 0 tokens, of a curve with warm-up has factor 0: it warms up from nothing, so
    the step that follows `tokens` seen has `factor(tokens)`.

    >>> curve = Curve(total_tokens=1000, warmup_tokens=100, shape="linear")
    >>> [curve.factor(tokens) for tokens in (0, 50, 100, 550, 1000)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    total_tokens: int | None = None  # None: without end, which only "constant" may be
    warmup_tokens: int = 0
    shape: str = "cosine"
    final: float = 0.0  # factor at the end, of shapes that fall

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(SHAPES)}, got {self.shape!r}")
        object.__setattr__(self, "warmup_tokens", whole(self.warmup_tokens, "warmup_tokens", 0))
        real(self.final, "final", least=0, most=1)
        if self.total_tokens is None:
            if self.shape != "constant":
                raise ValueError(
                    f"a {self.shape} curve never ends without total_tokens: say after how many "
                    f"tokens it is {self.final:g}"
                )
            return
        object.__setattr__(self, "total_tokens", whole(self.total_tokens, "total_tokens"))
        if self.total_tokens <= self.warmup_tokens:
            raise ValueError(
                f"warm-up of {self.warmup_tokens:,} tokens never ends in a run of "
                f"{self.total_tokens:,}"
            )

    def factor(self, tokens: float) -> float:
        """Return the factor of the rate for the step that follows `tokens` seen."""
        tokens = real(tokens, "tokens", least=0)
        if tokens < self.warmup_tokens:
            return tokens / self.warmup_tokens
        if self.shape == "constant" or self.total_tokens is None:
            return 1.0
        done = min(1.0, (tokens - self.warmup_tokens) / (self.total_tokens - self.warmup_tokens))
        left = 1 - done if self.shape == "linear" else (1 + math.cos(math.pi * done)) / 2
        return self.final + (1 - self.final) * left
