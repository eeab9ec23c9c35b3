"""One optimizer step, taken over as many micro-batches as memory needs.

model, micro-batches  ->  StepReport
"""

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

__all__ = [
    "IGNORE",
    "MicroBatch",
    "StepReport",
    "evaluate",
    "logits_of",
    "summed_loss",
    "train",
    "train_step",
]
