"""Record the training that you already have, so that `doctor` can read it.

a loop of your own, or a transformers Trainer  ->  cell records
"""

from batchlab.monitor._watch import callback, watch

__all__ = ["callback", "watch"]
