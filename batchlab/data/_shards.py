"""Pack a data set that no machine holds at once: every shard on its own, several at a time.

    a tokenized `datasets.Dataset`  ->  a `datasets.Dataset` of packed rows, on disk as it was

Documents of one shard share rows and no others do, so shards need nothing from one another: they
may lie in processes (`num_proc`), on machines (`dataset.shard`, `split_dataset_by_node`), or in
time. What that costs in rows stands in the record `packing_shards`: less than 1 % from 8,192
documents a shard on, where a row takes several.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from batchlab.data._corpus import IGNORE
from batchlab.packing import pack
from batchlab.units import whole

__all__ = ["packed"]

SHARD = 16_384  # documents


def packed(
    dataset: Any,
    row_length: int,
    *,
    shard: int = SHARD,
    num_proc: int | None = None,
    drop_longer: bool = False,
) -> Any:
    """A data set of packed rows: whole documents, none twice, at most `row_length` tokens each.

    dataset      a `datasets.Dataset` with input_ids and perhaps labels, a document a row; mapped
                 from disk, so that its size is no matter
    shard        documents that are packed together, and held by one process
    num_proc     processes; each takes its own stretch of the data set. None: this one
    drop_longer  leave out documents longer than a row; else they are a `ValueError` with number

    Columns: input_ids; labels, ignored at the first token of every document; position_ids, which
    begin at 0 with every document, so that transformers keeps the documents of a row apart (no
    attention mask, use_cache=False). Rows are as long as their documents: a collator pads them.
    """
    row_length, shard = whole(row_length, "row_length"), whole(shard, "shard")
    names = getattr(dataset, "column_names", None) or []
    if "input_ids" not in names or not hasattr(dataset, "map"):
        raise ValueError(
            f"a datasets.Dataset with a column input_ids is needed, got {type(dataset).__name__} "
            f"with {', '.join(names) or 'no columns'}"
        )
    return dataset.map(
        _rows,
        batched=True,
        batch_size=shard,
        with_indices=True,
        num_proc=None if num_proc is None else whole(num_proc, "num_proc"),
        remove_columns=names,
        fn_kwargs={"row_length": row_length, "drop_longer": drop_longer},
        desc="packing",
    )


def _rows(
    batch: dict[str, list[Any]], numbers: Sequence[int], *, row_length: int, drop_longer: bool
) -> dict[str, list[Any]]:
    """The rows of one shard."""
    sizes = np.array([len(ids) for ids in batch["input_ids"]], dtype=np.int64)
    if not sizes.all():
        raise ValueError(f"document {numbers[int(np.argmin(sizes))]:,} has no tokens")
    fits = np.flatnonzero(sizes <= row_length)
    if len(fits) < len(sizes) and not drop_longer:
        at = int(np.argmax(sizes > row_length))
        raise ValueError(
            f"document {numbers[at]:,} has {sizes[at]:,} tokens, a row has {row_length:,}: split "
            "such documents, or leave them out (drop_longer=True)"
        )
    made: dict[str, list[Any]] = {"input_ids": [], "labels": [], "position_ids": []}
    if not len(fits):
        return made
    labels = batch.get("labels") or batch["input_ids"]
    for row in pack(sizes[fits], row_length).rows:
        documents = fits[row].tolist()
        made["input_ids"].append([one for at in documents for one in batch["input_ids"][at]])
        made["labels"].append([one for at in documents for one in (IGNORE, *labels[at][1:])])
        made["position_ids"].append([one for at in documents for one in range(sizes[at])])
    return made
