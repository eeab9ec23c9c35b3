"""Documents from the embedded corpus, from files, from `datasets`, or from a hub.

nothing, a path, a datasets object or a hub name  ->  Corpus
"""

from batchlab.data._blocks import blocks
from batchlab.data._corpus import DEFAULT_LONGEST
from batchlab.data._load import (
    Corpus,
    embedded,
    load,
    require_vocabulary,
    rows_of,
    tokenizer_from,
)

__all__ = [
    "DEFAULT_LONGEST",
    "Corpus",
    "blocks",
    "embedded",
    "load",
    "require_vocabulary",
    "rows_of",
    "tokenizer_from",
]
