"""Published steps to a target, and the power law that their critical batches follow.

evidence  ->  {parameters: {batch: steps}};  sizes, values  ->  PowerLaw
"""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from batchlab.units import real

__all__ = ["PowerLaw", "fit_power", "zhang2025"]


def zhang2025() -> dict[int, dict[int, int]]:
    """Return {millions of parameters: {batch: steps}}: sequences of 512 tokens, one target loss.

    Source: Zhang et al., "How Does Critical Batch Size Scale in Pre-training?", ICLR 2025, official
    notebook (MIT licence): five models, nine batches.

    >>> zhang2025()[85][256]
    13282
    """
    text = (files("batchlab") / "evidence/zhang2025_steps_to_target.csv").read_text("utf-8")
    found: dict[int, dict[int, int]] = {}
    for line in csv.DictReader(text.splitlines()):
        size = int(line.pop("parameters_millions"))
        found[size] = {int(name.removeprefix("batch_")): int(n) for name, n in line.items()}
    return found


@dataclass(frozen=True)
class PowerLaw:
    """value = coefficient x size ** exponent, and the standard error of the exponent.

    >>> round(PowerLaw(93.2, 0.468)(302))
    1349
    """

    coefficient: float
    exponent: float
    exponent_error: float = math.nan

    def __call__(self, size: float) -> float:
        return self.coefficient * math.pow(real(size, "size", above=0), self.exponent)


def fit_power(values: Mapping[float, float]) -> PowerLaw:
    """Return the line through the logarithms of {size: value}; two sizes give no error.

    >>> law = fit_power({1: 3, 100: 30})
    >>> round(law.coefficient, 9), round(law.exponent, 9)
    (3.0, 0.5)
    """
    if len(values) < 2:
        raise ValueError(f"2 sizes or more are needed for a power law, got {len(values)}")
    x = np.log([real(size, "size", above=0) for size in values])
    y = np.log([real(value, "value", above=0) for value in values.values()])
    away = x - x.mean()
    if not away.any():
        raise ValueError("a power law needs different sizes")
    exponent = float(away @ y / (away @ away))
    left = y - y.mean() - exponent * away
    spare = len(values) - 2
    error = math.sqrt(left @ left / spare / (away @ away)) if spare else math.nan
    return PowerLaw(math.exp(float(y.mean()) - exponent * float(x.mean())), exponent, error)
