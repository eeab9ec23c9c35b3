"""Lists of Arrow in another order, in pieces.

    a column of lists, a Packing  ->  the values of all rows, one after another

Each token is copied once, from the chunk where it lies to its row: pieces are views of Arrow, 16
bytes that say where the bytes of a list lie, and Arrow lays views one after another.
"""

from typing import Any

import numpy as np

from batchlab.packing._pack import Packing

__all__ = ["Lists"]

FEW = 64  # documents of a chunk, on average, from which on chunks are not put together first
VIEW = np.dtype([("size", "i4"), ("first", "i4"), ("buffer", "i4"), ("begin", "i4")])
HELD = 12  # bytes of a view that hold a short piece
REACH = 30  # bits of a place in a buffer: behind 1 GiB the next part of it is named


class Lists:
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
            self._buffers += [one.view(np.uint8)[at:] for at in range(0, one.nbytes, 1 << REACH)]
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
        begins = later * self._kind.itemsize
        begins += views["begin"]
        views["buffer"] += begins >> REACH
        views["begin"] = begins & ((1 << REACH) - 1)

    def _hold_short(self, views: np.ndarray) -> None:
        """Pieces of at most 12 bytes lie in their views, which Arrow wants so."""
        short = np.flatnonzero(views["size"] <= HELD)
        of, places = views["buffer"][short], np.arange(HELD)
        for number in np.unique(of).tolist():
            these, buffer = short[of == number], self._buffers[number]
            at = np.minimum(views["begin"][these, None] + places, len(buffer) - 1)
            inside = places < views["size"][these, None]
            views.view(np.uint8).reshape(-1, VIEW.itemsize)[these, -HELD:] = buffer[at] * inside
