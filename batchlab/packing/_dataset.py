"""Pack a data set of `datasets`, or a table of Arrow: no token becomes an object of Python.

    documents, a row each  ->  packed rows, each with the lengths of its documents

Documents of one shard share rows and no others do. So shards need nothing from one another: they
may lie in processes (`num_proc`), on machines (`dataset.shard`, `split_dataset_by_node`), or in
time (a stream). What that costs in rows stands in the record `packing_shards`: less than 1 % from
8,192 documents a shard on, where a row takes several.

Arrow copies many lists faster as text of their bytes than as lists: here they go that way.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from batchlab.counts import IGNORE
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
    names = list(getattr(dataset, "column_names", None) or [])
    _refuse(dataset, names if hasattr(dataset, "map") else [], columns)
    stream = not hasattr(dataset, "__len__")
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
    names = list(getattr(table, "column_names", None) or [])
    _refuse(table, names if hasattr(table, "combine_chunks") else [], columns)
    return _rows(
        table,
        row_length=whole(row_length, "row_length"),
        columns=[name for name in columns if name in names],
        method=method,
        too_long=too_long,
    )


def _refuse(given: Any, names: list[str], columns: Sequence[str]) -> None:
    if "input_ids" not in names or "input_ids" not in columns:
        raise ValueError(
            f"documents with a column input_ids are needed, as datasets.Dataset or pyarrow.Table, "
            f"got {type(given).__name__} with {', '.join(names) or 'no columns'}; columns= names "
            f"it, too"
        )
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
        lists = {name: _List(part, name) for name in columns}
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


def _sizes(lists: dict[str, "_List"], begin: int, numbers: Sequence[int] | None) -> np.ndarray:
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

    sizes = pc.fill_null(pc.list_value_length(table["input_ids"]), 0).to_numpy()
    parts = (np.cumsum(sizes, dtype=np.int64) - 1) // MOST_TOKENS
    begins = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)]
    for begin, end in pairwise(begins):
        yield table.slice(begin, end - begin), begin


class _List:
    """A column of lists as it lies in memory: where each begins, and all their values."""

    def __init__(self, table: Any, name: str) -> None:
        import pyarrow as pa

        column = table[name].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
        kind = column.type
        if pa.types.is_fixed_size_list(kind):
            column = column.cast(pa.list_(kind.value_type))
        if column.null_count or column.values.null_count:
            raise ValueError(f"{name} has nulls: each document needs its numbers")
        self.offsets = column.offsets.to_numpy().astype(np.int64, copy=False)
        self.values = column.values.to_numpy(zero_copy_only=False)
        if self.values.dtype == bool:
            self.values = self.values.astype(np.int8)
        self.sizes = np.diff(self.offsets)

    def taken(self, packing: Packing) -> np.ndarray:
        """The values of all rows, one after another."""
        import pyarrow as pa

        bounds, order = self._bounds(packing)
        width = self.values.dtype.itemsize
        parts = [None, pa.py_buffer(bounds * width), pa.py_buffer(self.values)]
        pieces = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(bounds) - 1, parts)
        found = pieces.take(pa.array(order)).buffers()[2]
        total = int(packing.piece_lengths[packing.rows.pieces].sum())
        values: np.ndarray = np.frombuffer(found, self.values.dtype, total)
        return values

    def _bounds(self, packing: Packing) -> tuple[np.ndarray, np.ndarray]:
        """Where pieces begin and end, and which of them follow one another in rows."""
        order = packing.rows.pieces
        if packing.piece_documents is None and packing.document_lengths is None:
            return self.offsets, order
        documents, starts = packing.piece_documents, packing.piece_starts
        begins = self.offsets[:-1] if documents is None else self.offsets[documents]
        begins = begins if starts is None else begins + starts
        bounds = np.stack([begins, begins + packing.piece_lengths], 1).ravel()
        return np.append(bounds, bounds[-1]), 2 * order  # between two pieces lies what is left out


def _table(lists: dict[str, _List], packing: Packing) -> Any:
    import pyarrow as pa

    rows = packing.rows
    sizes = packing.piece_lengths[rows.pieces]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    bounds = pa.array(ends[rows.borders].astype(np.int32))
    arrays = {}
    for name, one in lists.items():
        values = one.taken(packing)
        if name == "labels":
            values = values.copy()
            values[ends[:-1]] = IGNORE
        arrays[name] = pa.ListArray.from_arrays(bounds, pa.array(values))
    arrays[BOUNDARIES] = pa.ListArray.from_arrays(
        pa.array(rows.borders.astype(np.int32)), pa.array(sizes.astype(np.int32))
    )
    return pa.table(arrays)
