"""Documents from the embedded corpus, from files, from `datasets`, or from a hub.

nothing, a path, a datasets object or a hub name  ->  Corpus, or a Stream of packed rows
"""

from batchlab.data._corpus import DEFAULT_LONGEST
from batchlab.data._load import (
    Corpus,
    embedded,
    load,
    require_vocabulary,
    rows_of,
    tokenizer_from,
)
from batchlab.data._stream import Batch, Standing, Stream

__all__ = [
    "DEFAULT_LONGEST",
    "Batch",
    "Corpus",
    "Standing",
    "Stream",
    "embedded",
    "load",
    "require_vocabulary",
    "rows_of",
    "tokenizer_from",
]
