"""Move blocks of equal documents onto blocks of equal rows: the engines behind `packing`.

    lengths, row length  ->  (row number of each document, number of rows)

A fit rule prefers rows in some order; the preferred row takes documents of one length until its
room is too small, and then the next row is preferred. So a block of n documents of length l uses
whole rows in order of preference, room // l documents each, and only the last row partly. A range
of consecutive rows with equal room is handled at once.

Words
    range    consecutive row numbers with equal room: (first row, how many)
"""

import bisect

import numpy as np

__all__ = ["best_fit", "first_fit", "next_fit", "sorted_order"]


def sorted_order(values: np.ndarray) -> np.ndarray:
    """Stable argsort of non-negative integers, one counting pass per 16 bits."""
    order = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable")
    if int(values.max(initial=0)) >> 16:
        high = (values >> 16).astype(np.uint16 if int(values.max()) < 2**32 else np.int64)
        order = order[np.argsort(high[order], kind="stable")]
    return order


def _scatter(tokens: np.ndarray, row_of_sorted: np.ndarray) -> np.ndarray:
    """Give the rows, found in ascending order of length, back to the documents."""
    row_of = np.empty(len(tokens), dtype=np.int32)
    row_of[sorted_order(tokens)] = row_of_sorted
    return row_of


def _blocks(tokens: np.ndarray) -> list[tuple[int, int, int]]:
    """(length, how many, where the block ends in ascending order), longest first."""
    counts = np.bincount(tokens)
    values = np.flatnonzero(counts)[::-1]
    ends = np.cumsum(counts)[values]
    return list(zip(values.tolist(), counts[values].tolist(), ends.tolist(), strict=True))


def best_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Best-fit decreasing: each document into the fullest row that still has room for it."""
    placed = np.empty(len(tokens), dtype=np.int32)
    ranges: list[list[tuple[int, int]]] = [[] for _ in range(row_length + 1)]  # by room
    open_rows = np.zeros(row_length + 1, dtype=bool)  # is there a row with this room
    row_count = 0
    for length, left, end in _blocks(tokens):
        for room in (np.flatnonzero(open_rows[length:]) + length).tolist():
            at_once, group = room // length, ranges[room]
            while group and left:
                first, many = group.pop()
                whole = min(many, left // at_once)
                if whole:
                    end = _place(placed, end, first, whole, at_once)
                    left -= whole * at_once
                    _open(ranges, open_rows, room - at_once * length, first, whole)
                if whole < many and left:  # the last row takes what is left
                    end = _place(placed, end, first + whole, 1, left)
                    _open(ranges, open_rows, room - left * length, first + whole, 1)
                    whole, left = whole + 1, 0
                if whole < many:
                    group.append((first + whole, many - whole))
            open_rows[room] = bool(group)
            if not left:
                break
        at_once = row_length // length
        whole, rest = divmod(left, at_once)
        if whole:
            end = _place(placed, end, row_count, whole, at_once)
            _open(ranges, open_rows, row_length - at_once * length, row_count, whole)
        if rest:
            end = _place(placed, end, row_count + whole, 1, rest)
            _open(ranges, open_rows, row_length - rest * length, row_count + whole, 1)
        row_count += whole + bool(rest)
    return _scatter(tokens, placed), row_count


def _place(placed: np.ndarray, end: int, first: int, rows: int, at_once: int) -> int:
    """Give `at_once` documents to each of `rows` rows; returns the new end of the block."""
    start = end - rows * at_once
    numbers = np.arange(first, first + rows, dtype=np.int32)
    placed[start:end].reshape(rows, at_once)[:] = numbers[:, None]
    return start


def _open(
    ranges: list[list[tuple[int, int]]], open_rows: np.ndarray, room: int, first: int, many: int
) -> None:
    if room:
        ranges[room].append((first, many))
        open_rows[room] = True


def first_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """First-fit decreasing: each document into the first row that still has room for it."""
    placed = np.empty(len(tokens), dtype=np.int32)
    firsts = np.zeros(0, dtype=np.int64)  # ranges in order of their rows
    rows = np.zeros(0, dtype=np.int64)
    rooms = np.zeros(0, dtype=np.int64)
    row_count = 0
    for length, left, end in _blocks(tokens):
        new = -(-left // (row_length // length))  # enough new rows, if no old one has room
        firsts, rows = np.append(firsts, row_count), np.append(rows, new)
        rooms = np.append(rooms, row_length)
        at_once = rooms // length
        upto = np.cumsum(at_once * rows)
        last = int(np.searchsorted(upto, left))  # the range in which the block ends
        used = np.flatnonzero(at_once[:last])
        for i in used.tolist():
            end = _place(placed, end, int(firsts[i]), int(rows[i]), int(at_once[i]))
        left -= int(upto[last - 1]) if last else 0
        whole, rest = divmod(left, int(at_once[last]))
        first = int(firsts[last])
        if whole:
            end = _place(placed, end, first, whole, int(at_once[last]))
        if rest:
            _place(placed, end, first + whole, 1, rest)
        parts = [
            (first, whole, int(rooms[last] % length)),
            (first + whole, int(rest > 0), int(rooms[last]) - rest * length),
            (first + whole + (rest > 0), int(rows[last]) - whole - (rest > 0), int(rooms[last])),
        ]
        if last == len(rows) - 1:
            parts.pop()  # new rows that nobody needed
        rooms[used] %= length
        row_count = max(row_count, first + whole + (rest > 0))
        tail = slice(last + 1, -1) if last < len(rows) - 1 else slice(0, 0)
        kept = np.array([part for part in parts if part[1]], dtype=np.int64).reshape(-1, 3)
        firsts = np.concatenate([firsts[:last], kept[:, 0], firsts[tail]])
        rows = np.concatenate([rows[:last], kept[:, 1], rows[tail]])
        rooms = np.concatenate([rooms[:last], kept[:, 2], rooms[tail]])
        useful = rooms > 0
        firsts, rows, rooms = firsts[useful], rows[useful], rooms[useful]
    return _scatter(tokens, placed), row_count


def next_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Next fit: in the order of the data, closing a row as soon as a document does not fit."""
    ends = np.cumsum(tokens).tolist()
    borders, start, used = [0], 0, 0
    while start < len(ends):
        start = bisect.bisect_right(ends, used + row_length, start)
        used = ends[start - 1]
        borders.append(start)
    sizes = np.diff(borders)
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), len(sizes)
