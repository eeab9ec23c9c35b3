"""Record the training that you already have, so that `doctor` can read it.

a loop of your own, a Trainer of transformers or TRL, Lightning  ->  cell records

What watches a training never ends it: a fault of the recorder is told in one line, and the training
goes on bit for bit as it would alone.
"""

from batchlab.monitor._lightning import lightning
from batchlab.monitor._metrics import metrics
from batchlab.monitor._trainer import callback
from batchlab.monitor._watch import watch

__all__ = ["callback", "lightning", "metrics", "watch"]
