"""Documents of any number, a block at a time: what does not fit into memory is never held whole.

    a source, part of how many  ->  Corpus of some documents, the next one, ...

Each of several processes reads its own part: together they see every document once.

Words
    part   every n-th document of the source, or every n-th of its shards
    block  documents of a part that are read, turned into tokens and let go together
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from batchlab.data._columns import Columns
from batchlab.data._corpus import Corpus
from batchlab.data._load import CHUNK, Rows, fields_of, filled, rows_of
from batchlab.data._tokens import Encoder
from batchlab.units import whole

__all__ = ["blocks"]


def blocks(
    source: Any,
    *,
    part: int = 0,
    parts: int = 1,
    skip: int = 0,
    size: int = CHUNK,
    field: str | Sequence[str] | None = None,
    prompt_field: str | Sequence[str] | None = None,
    answer_field: str | Sequence[str] | None = None,
    answers_only: bool = False,
    tokenizer: Any = None,
    split: str | None = None,
    document: str | None = None,
) -> Iterator[Corpus]:
    """Corpora of `size` documents each, in the order of the source; the last may have fewer.

    source       as `load` takes it; a hub name is streamed, nothing is downloaded whole
    part, parts  only part 0, 1, ... of `parts`: every document lies in one of them. A file gives
                 every `parts`-th row; a `datasets.IterableDataset` is split by
                 `split_dataset_by_node`, by shards where their number divides
    skip         documents of this part that are passed over; they are read, not turned into tokens

    The other options are those of `load`. An empty source or part gives no block. What cannot be
    read is a `ValueError` with its place, when the block is reached.

    >>> [len(one) for one in blocks([{"input_ids": [7]}] * 5, part=1, parts=2, size=1)]
    [1, 1]
    """
    parts, size = whole(parts, "parts"), whole(size, "size")
    part, skip = whole(part, "part", least=0), whole(skip, "skip", least=0, most=None)
    if part >= parts:
        raise ValueError(f"part must lie between 0 and {parts - 1}, got {part}")
    fields = fields_of(field, prompt_field, answer_field, answers_only)
    name, rows = _part(source, part, parts, split, document)
    encoder = Encoder(tokenizer)
    rest = itertools.islice(rows, skip, None)
    for columns in filled(rest, fields, encoder, name, into=Columns, size=size):
        yield columns.corpus(name, vocabulary=encoder.vocabulary, tokenizer=encoder.used)


def _part(
    source: Any, part: int, parts: int, split: str | None, document: str | None
) -> tuple[str, Rows]:
    """Name and rows of one part."""
    if isinstance(source, str) and not Path(source).suffix and not Path(source).exists():
        source, split = _streamed(source, split), None
    if hasattr(source, "n_shards") and hasattr(source, "load_state_dict"):
        from datasets.distributed import split_dataset_by_node

        return rows_of(split_dataset_by_node(source, rank=part, world_size=parts), split=split)
    name, rows = rows_of(source, split=split, document=document)
    return name, itertools.islice(rows, part, None, parts)


def _streamed(name: str, split: str | None) -> Any:
    """A data set of a hub, not downloaded; `rows_of` says what is wrong with the name."""
    try:
        from datasets import load_dataset

        return load_dataset(name, split=split or "train", streaming=True)
    except (ImportError, OSError, ValueError):
        return name
