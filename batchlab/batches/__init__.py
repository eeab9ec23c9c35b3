"""Tensors from documents: padded rows, packed rows, or one flat row without padding.

documents, document numbers  ->  MicroBatch, or what a Trainer takes
"""

from batchlab.batches._budgeted import budgeted
from batchlab.batches._collator import KINDS, Collator, collator
from batchlab.batches._tensors import IGNORE, MicroBatch, flattened, packed, padded

__all__ = [
    "IGNORE",
    "KINDS",
    "Collator",
    "MicroBatch",
    "budgeted",
    "collator",
    "flattened",
    "packed",
    "padded",
]
