"""One optimizer step, taken over as many micro-batches as memory needs.

model, micro-batches  ->  StepReport
"""

from batchlab.loop._compare import compare_splits
from batchlab.loop._comparison import Comparison
from batchlab.loop._exact import exact, shares
from batchlab.loop._step import (
    IGNORE,
    MicroBatch,
    StepReport,
    evaluate,
    logits_of,
    summed_loss,
    train,
    train_step,
)
from batchlab.loop._world import StepWorld

__all__ = [
    "IGNORE",
    "Comparison",
    "MicroBatch",
    "StepReport",
    "StepWorld",
    "compare_splits",
    "evaluate",
    "exact",
    "logits_of",
    "shares",
    "summed_loss",
    "train",
    "train_step",
]
