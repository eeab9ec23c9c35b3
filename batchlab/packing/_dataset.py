"""Pack a data set of `datasets`, or a table of Arrow: no token becomes an object of Python.

    documents, a row each  ->  packed rows, each with the lengths of its documents

Documents of one shard share rows and no others do. So shards need nothing from one another: they
may lie in processes (`num_proc`), on machines (`dataset.shard`, `split_dataset_by_node`), or in
time (a stream). What that costs in rows stands in the record `packing_shards`: less than 1 % from
8,192 documents a shard on, where a row takes several.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from batchlab.counts import IGNORE
from batchlab.packing._lists import Lists
from batchlab.packing._pack import Packing, pack
from batchlab.units import whole

__all__ = ["BOUNDARIES", "pack_dataset", "pack_table"]

SHARD = 16_384  # documents
MOST_TOKENS = 2**30  # of documents that are packed together: a list of Arrow ends at 2**31
BOUNDARIES = "seq_lengths"  # the column that says where documents end, as TRL calls it
MASKS = ("completion_mask", "assistant_masks")  # what TRL makes labels of


def pack_dataset(
    dataset: Any,
    row_length: int,
    *,
    columns: Sequence[str] = ("input_ids", "labels"),
    method: str = "best_fit_decreasing",
    too_long: str = "refuse",
    shard: int = SHARD,
    **options: Any,
) -> Any:
    """A data set of packed rows with at most `row_length` tokens each, made by its own `map`.

    dataset    a `datasets.Dataset`, or an `IterableDataset`, with a document a row
    columns    what is packed, where it is there: a value for each token. Other columns are left out
    method     as of `pack`
    too_long   as of `pack`: "refuse", "truncate", "split" or "drop"
    shard      documents that are packed together, and held by one process
    options    of `map`: num_proc, cache_file_name, desc and others, not for a stream

    A row has the columns that were packed, and `seq_lengths`: the tokens of each of its documents.
    `batches.collator("rows")` and TRL's padding-free collator read it. The first label of each
    document is ignored. The same data give the same rows in every process; a stream of rows is
    resumed by its own `state_dict`.
    """
    row_length, shard = whole(row_length, "row_length"), whole(shard, "shard")
    names, stream = _names(dataset), not hasattr(dataset, "__len__")
    _refuse(dataset, names, columns)
    if "batch_size" in options:
        raise ValueError("documents that are packed together are named by shard, not batch_size")
    if not stream:  # a stream counts rows where it should count documents
        options = {"desc": "packing", "with_indices": True, **options}
    rows = dataset.with_format("arrow").map(
        _rows,
        batched=True,
        batch_size=shard,
        fn_kwargs={
            "row_length": row_length,
            "columns": [name for name in columns if name in names],
            "method": method,
            "too_long": too_long,
        },
        **options,
    )
    return rows.with_format(None)


def pack_table(
    table: Any,
    row_length: int,
    *,
    columns: Sequence[str] = ("input_ids", "labels"),
    method: str = "best_fit_decreasing",
    too_long: str = "refuse",
) -> Any:
    """A `pyarrow.Table` of packed rows, of one with a document a row: a shard of `pack_dataset`.

    What hands tables to a function packs with it, as Ray Data does. ValueError names what cannot be
    packed. Example: `data.map_batches(packing.pack_table, batch_format="pyarrow", fn_args=(2048,))`
    """
    names = list(table.column_names) if hasattr(table, "combine_chunks") else []
    _refuse(table, names, columns)
    return _rows(
        table,
        row_length=whole(row_length, "row_length"),
        columns=[name for name in columns if name in names],
        method=method,
        too_long=too_long,
    )


def _names(dataset: Any) -> list[str]:
    """Columns of a data set; of a stream that knows none, those of its first document."""
    if not hasattr(dataset, "map") or isinstance(dataset, Mapping):
        return []
    names = dataset.column_names
    return list(next(iter(dataset.take(1)), {}) if names is None else names)


def _refuse(given: Any, names: list[str], columns: Sequence[str]) -> None:
    if isinstance(given, Mapping) and hasattr(given, "map"):
        splits = ", ".join(given)
        raise ValueError(
            f"one data set is packed at a time, got {type(given).__name__} of {splits}"
        )
    if isinstance(columns, str):
        raise ValueError(f"columns is a list of names, got {columns!r}: write [{columns!r}]")
    if "input_ids" not in names or "input_ids" not in columns:
        raise ValueError(
            f"documents with a column input_ids are needed, as datasets.Dataset or pyarrow.Table, "
            f"got {type(given).__name__} with {', '.join(names) or 'no columns'}; columns= names "
            f"it, too"
        )
    if unknown := [name for name in columns if name not in (*names, "labels")]:
        raise ValueError(f"there is no column {unknown[0]} to pack; there are {', '.join(names)}")
    if BOUNDARIES in names:
        raise ValueError(f"these rows have {BOUNDARIES}: they are packed already")
    lost = [name for name in MASKS if name in names and name not in columns]
    if lost and "labels" not in names:
        raise ValueError(
            f"{lost[0]} says which tokens are trained, and would be left out: make labels of it, "
            f"with {IGNORE} where it is 0, or name it in columns="
        )


def _rows(
    table: Any,
    numbers: Sequence[int] | None = None,
    *,
    row_length: int,
    columns: list[str],
    method: str,
    too_long: str,
) -> Any:
    """The rows of one shard, a table of Arrow."""
    import pyarrow as pa

    for name in columns:
        _refuse_kind(name, table.schema.field(name).type)
    _refuse_padding(table)
    made = []
    for part, begin in _parts(table):
        lists = {name: Lists(part, name) for name in columns}
        sizes = _sizes(lists, begin, numbers)
        if not sizes.size or (too_long == "drop" and sizes.min() > row_length):
            continue
        if too_long == "refuse" and sizes.max() > row_length and method != "split":
            at = int(np.argmax(sizes > row_length))
            raise ValueError(
                f"{_name(begin + at, numbers)} has {sizes[at]:,} tokens, a row has "
                f"{row_length:,}; choose too_long: truncate, split or drop"
            )
        made.append(_table(lists, pack(sizes, row_length, method=method, too_long=too_long)))
    if not made:
        nothing = Packing(row_length, np.zeros(0, np.int32), 0, np.zeros(0, np.int64))
        made = [_table(lists, nothing)]
    return pa.concat_tables(made)


def _sizes(lists: dict[str, "Lists"], begin: int, numbers: Sequence[int] | None) -> np.ndarray:
    """Tokens of each document, or the first that has none, or others in another column."""
    sizes: np.ndarray = lists["input_ids"].sizes
    for name, one in lists.items():
        odd = (one.sizes != sizes) | (sizes == 0)
        if odd.any():
            at = int(np.argmax(odd))
            has = f"{sizes[at]:,} tokens but {one.sizes[at]:,} {name}" if sizes[at] else "no tokens"
            raise ValueError(f"{_name(begin + at, numbers)} has {has}")
    return sizes


def _name(at: int, numbers: Sequence[int] | None) -> str:
    """What a document is called: its number in the data set, of a stream that in its shard."""
    return f"document {at:,} of a shard" if numbers is None else f"document {numbers[at]:,}"


def _refuse_kind(name: str, kind: Any) -> None:
    import pyarrow as pa

    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(fits(kind) for fits in lists) or not pa.types.is_primitive(kind.value_type):
        raise ValueError(f"{name} must hold a list of numbers a document, got {kind}")
    if name == "labels" and pa.types.is_unsigned_integer(kind.value_type):
        raise ValueError(f"labels must be able to hold {IGNORE}, got {kind}")


def _refuse_padding(table: Any) -> None:
    """Documents that were padded already would be packed with their padding."""
    import pyarrow.compute as pc

    if "attention_mask" not in table.column_names:
        return
    mask = pc.list_flatten(table["attention_mask"])
    if len(mask) and not pc.min(mask).as_py():
        raise ValueError(
            "some documents are padded (attention_mask has 0): tokenize without padding, then pack"
        )


def _parts(table: Any) -> Iterator[tuple[Any, int]]:
    """The table in pieces of at most MOST_TOKENS tokens, each with the place where it begins."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(table["input_ids"])
    if (pc.sum(lengths).as_py() or 0) <= MOST_TOKENS:
        yield table, 0
        return
    sizes = pc.fill_null(lengths, 0).to_numpy()
    parts = (np.cumsum(sizes, dtype=np.int64) - 1) // MOST_TOKENS
    begins = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)]
    for begin, end in pairwise(begins):
        yield table.slice(begin, end - begin), begin


def _table(lists: dict[str, Lists], packing: Packing) -> Any:
    import pyarrow as pa

    rows = packing.rows
    sizes = packing.piece_lengths[rows.pieces]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    bounds = pa.array(ends[rows.borders].astype(np.int32))
    arrays = {}
    for name, one in lists.items():
        values = one.taken(packing)
        if name == "labels":
            values[ends[:-1]] = IGNORE
        arrays[name] = pa.ListArray.from_arrays(bounds, pa.array(values))
    arrays[BOUNDARIES] = pa.ListArray.from_arrays(
        pa.array(rows.borders.astype(np.int32)), pa.array(sizes.astype(np.int32))
    )
    return pa.table(arrays)
