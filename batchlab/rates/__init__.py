"""What a changed batch asks of the learning rate: rules with their range, ramps, curves in tokens.

    from_batch, to_batch  ->  rate, betas, epsilon, weight decay; or a refusal that says why
    tokens                ->  tokens of the next step (Ramp), factor of the rate (Curve)

`rates.schedule` makes torch schedulers of them.
"""

from batchlab.rates._compare import Outcome, compare
from batchlab.rates._curve import Curve
from batchlab.rates._ramps import PUBLISHED, Ramp, Stage, Trade, doubling, linear_ramp, seesaw
from batchlab.rates._range import RULES, Hyperparameters, Rule
from batchlab.rates._rules import (
    adam_square_root,
    beta2_for,
    beta2_of,
    half_life,
    linear,
    saturating,
    small_batch_power,
    square_root,
    surge,
    weight_decay_for,
)

__all__ = [
    "PUBLISHED",
    "RULES",
    "Curve",
    "Hyperparameters",
    "Outcome",
    "Ramp",
    "Rule",
    "Stage",
    "Trade",
    "adam_square_root",
    "beta2_for",
    "beta2_of",
    "compare",
    "doubling",
    "half_life",
    "linear",
    "linear_ramp",
    "saturating",
    "seesaw",
    "small_batch_power",
    "square_root",
    "surge",
    "weight_decay_for",
]
