"""How noisy a gradient is, and what a batch is worth: scale, critical batches, time to target.

    squared norms at two batch sizes     ->  NoiseScale with its interval
    {batch: steps to a target}           ->  StepsToTarget, critical batches, the fastest batch
    {batch: intervals of several seeds}  ->  CriticalFit, with its interval and what it cannot say

`noise.norms` gathers such norms from a running loop.
"""

from batchlab.noise._critical import (
    DEFINITIONS,
    StepsToTarget,
    TimeToTarget,
    fastest,
    fastest_batch,
    fit_steps,
    lowest_loss,
    more_steps,
    same_loss,
    twice_the_examples,
)
from batchlab.noise._formula import Exact, NoiseScale, exact, from_norms
from batchlab.noise._published import PowerLaw, fit_power, zhang2025
from batchlab.noise._seeds import CriticalFit, fit_critical

__all__ = [
    "DEFINITIONS",
    "CriticalFit",
    "Exact",
    "NoiseScale",
    "PowerLaw",
    "StepsToTarget",
    "TimeToTarget",
    "exact",
    "fastest",
    "fastest_batch",
    "fit_critical",
    "fit_power",
    "fit_steps",
    "from_norms",
    "lowest_loss",
    "more_steps",
    "same_loss",
    "twice_the_examples",
    "zhang2025",
]
