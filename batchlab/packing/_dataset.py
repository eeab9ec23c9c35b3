"""Pack a data set of `datasets`, or a table of Arrow: no token becomes an object of Python.

    documents, a row each  ->  packed rows, each with the lengths of its documents

Documents of one shard share rows and no others do. So shards need nothing from one another: they
may lie in processes (`num_proc`), on machines (`dataset.shard`, `split_dataset_by_node`), or in
time (a stream). What that costs in rows stands in the record `packing_shards`: less than 1 % from
8,192 documents a shard on, where a row takes several.

Each token is copied once, from the chunk where it lies to its row: pieces are views of Arrow, 16
bytes that say where the bytes of a list lie, and Arrow lays views one after another.
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
FEW = 64  # documents of a chunk, on average, from which on chunks are not put together first
VIEW = np.dtype([("size", "i4"), ("first", "i4"), ("buffer", "i4"), ("begin", "i4")])
HELD = 12  # bytes of a view that hold a short piece
REACH = 2**30  # bytes of a buffer, after which the next part of it is named
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

    if len(pc.list_flatten(table["input_ids"])) <= MOST_TOKENS:
        yield table, 0
        return
    sizes = pc.fill_null(pc.list_value_length(table["input_ids"]), 0).to_numpy()
    parts = (np.cumsum(sizes, dtype=np.int64) - 1) // MOST_TOKENS
    begins = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes)]
    for begin, end in pairwise(begins):
        yield table.slice(begin, end - begin), begin


class _List:
    """A column of lists as it lies in memory: its buffers, and a view of each document."""

    def __init__(self, table: Any, name: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = table[name]
        if len(column) <= FEW * column.num_chunks:  # of a shuffled data set each row is a chunk
            column = pa.chunked_array([column.combine_chunks()])
        flat = [chunk.flatten() for chunk in column.chunks]
        if column.null_count or any(values.null_count for values in flat):
            raise ValueError(f"{name} has nulls: each document needs its numbers")
        held = [values.to_numpy(zero_copy_only=False) for values in flat]
        held = [one.astype(np.int8) if one.dtype == bool else one for one in held]
        self._kind, self._buffers, numbers = held[0].dtype, list[np.ndarray](), list[int]()
        for one in held:
            numbers.append(len(self._buffers))
            self._buffers += [one.view(np.uint8)[at:] for at in range(0, one.nbytes, REACH)]
        self.sizes = pc.list_value_length(column).to_numpy().astype(np.int64)
        counts, before = list(map(len, column.chunks)), np.cumsum([0, *map(len, held[:-1])])
        begins = np.cumsum(self.sizes) - self.sizes - np.repeat(before, counts)
        self._views = np.zeros(len(column), VIEW)
        self._views["size"] = self.sizes * self._kind.itemsize
        self._views["buffer"] = np.repeat(numbers, counts)
        self._begin(self._views, begins)

    def taken(self, packing: Packing) -> np.ndarray:
        """The values of all rows, one after another."""
        import pyarrow as pa

        order, documents = packing.rows.pieces, packing.piece_documents
        views = self._views[order if documents is None else documents[order]]
        if documents is not None or packing.document_lengths is not None:
            views["size"] = packing.piece_lengths[order] * self._kind.itemsize
        if packing.piece_starts is not None:
            self._begin(views, packing.piece_starts[order])
        self._hold_short(views)
        parts = [None, *map(pa.py_buffer, [views, *self._buffers])]
        pieces = pa.Array.from_buffers(pa.binary_view(), len(order), parts)
        found = pieces.cast(pa.large_binary()).buffers()[2]
        values: np.ndarray = np.frombuffer(found, self._kind)
        return values

    def _begin(self, views: np.ndarray, later: np.ndarray) -> None:
        """Let views begin so many values later."""
        begins = views["begin"] + later * self._kind.itemsize
        views["buffer"] += begins // REACH
        views["begin"] = begins % REACH

    def _hold_short(self, views: np.ndarray) -> None:
        """Pieces of at most 12 bytes lie in their views, which Arrow wants so."""
        short = np.flatnonzero(views["size"] <= HELD)
        of, places = views["buffer"][short], np.arange(HELD)
        for number in np.unique(of).tolist():
            these, buffer = short[of == number], self._buffers[number]
            at = np.minimum(views["begin"][these, None] + places, len(buffer) - 1)
            inside = places < views["size"][these, None]
            views.view(np.uint8).reshape(-1, VIEW.itemsize)[these, -HELD:] = buffer[at] * inside


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
            values[ends[:-1]] = IGNORE
        arrays[name] = pa.ListArray.from_arrays(bounds, pa.array(values))
    arrays[BOUNDARIES] = pa.ListArray.from_arrays(
        pa.array(rows.borders.astype(np.int32)), pa.array(sizes.astype(np.int32))
    )
    return pa.table(arrays)
