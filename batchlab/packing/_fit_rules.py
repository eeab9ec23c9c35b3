"""Fit rules: which row takes the next document. The engines behind `packing`.

    lengths, row length  ->  (row number of each document, number of rows)

Documents come longest first, equals in the order of the data. So a room that is long enough now is
long enough for all that follow: a row waits, in order of its room, until the documents are short
enough for it, and is ready from then on. Best fit takes the ready row that came last, which has the
least room; first fit the one with the smallest number. The work follows the documents: nothing here
is as large as a row is long.

Few documents move one at a time, and best fit then looks for the row among all in order of their
room. Where many have the same length, all of them move at once: a block of n documents onto a range
of rows with equal room, `room // length` into each.

Words
    ready    a row with room for a document of the current length
    waiting  a row with less room than that, but enough for the shortest document
    range    consecutive rows with equal room, known by the number of the first
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

__all__ = ["best_fit", "distinct", "first_fit", "next_fit", "sorted_order"]

Push = Callable[[list[int], int], None]
Pop = Callable[[list[int]], int]

# Up to FEW documents nothing is worth an array. Above, best fit moves blocks from EQUALS documents
# a length on, and first fit from MANY documents on, or where a length has two. There both ways cost
# about as much (benchmarks/packing.py).
FEW, EQUALS, MANY = 512, 12, 16_384
DRAWER = 64  # documents in each drawer of waiting rows, on average
INT32 = np.dtype(np.int32)


def best_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Best-fit decreasing: each document into the fullest row that still has room for it.

    Of equally full rows the one with the smallest number.
    """
    n = len(tokens)
    if n <= FEW or row_length.bit_length() + n.bit_length() > 62:
        return _best_of_few(tokens, row_length)
    if int(tokens.max()) <= n and (blocks := _blocks(tokens, n // EQUALS)):
        return _in_blocks(tokens, blocks, row_length, list.append, list.pop)
    return _from_drawers(tokens, row_length)


def _best_of_few(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """The row that took the last document stays open: it is the fullest with room for the next one,
    unless another row has room as well. Then both lie among the others, in order of their room.
    """
    n, rows, lengths = len(tokens), 0, tokens.tolist()
    order = sorted(range(n), key=lengths.__getitem__, reverse=True)
    least = lengths[order[-1]] * n
    row_of = [0] * n
    others = [0]  # room * n + row, the largest room last; the 0 is never reached
    open_row = 0  # the same, of the one row
    for document in order:
        need = lengths[document] * n
        if others[-1] >= need:
            if open_row >= least:
                insort(others, open_row)
            open_row = others.pop(bisect_left(others, need))
        elif open_row < need:  # a new row, which has the largest room
            row_of[document] = rows
            others.append(row_length * n - need + rows)
            rows += 1
            continue
        row_of[document] = open_row % n
        open_row -= need
    return np.fromiter(row_of, INT32, n), rows


def _from_drawers(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Waiting rows lie in drawers by their room; one is sorted when documents get that short.

    A row is one number, room << bits | row. Documents over half a row take a new one each.
    """
    n, bits = len(tokens), len(tokens).bit_length()
    order = sorted_order(int(tokens.max()) - tokens)
    ranked = tokens[order]
    needs, ascending = ranked << bits, ranked[::-1]
    longest = int(needs[0])
    shift = max(bits, longest.bit_length() - (n // DRAWER).bit_length())
    floors = np.arange((longest >> shift) + 2) << shift  # of the drawers, and above them
    ends = (n - np.searchsorted(ascending, floors >> bits)).tolist()
    rows = begin = n - int(np.searchsorted(ascending, row_length // 2, side="right"))
    halves = ((row_length - ranked[:rows]) << bits) + np.arange(rows)
    cuts = np.searchsorted(halves, floors).tolist()
    drawers = [[0, *halves[a:b].tolist()] for a, b in pairwise(cuts)]  # the 0 is never reached
    documents, new = needs.tolist(), row_length << bits
    waiting, ready, row = [0], list[int](), 0  # row: the last of the ready ones, or 0
    taken = list[int]()
    for number in range(len(drawers) - 1, -1, -1):
        if len(waiting) > 1:  # all of them have room for what is shorter than their drawer
            ready += [row, *waiting[:0:-1]]
            row = ready.pop()
        waiting, floor = drawers[number], number << shift
        waiting.sort()
        for need in documents[begin : ends[number]]:
            while waiting[-1] >= need:
                ready.append(row)
                row = waiting.pop()
            if not row:
                row = new + rows
                rows += 1
                ready.append(0)
            taken.append(row)
            row -= need
            if row < need:
                if row < floor:
                    drawers[row >> shift].append(row)
                else:
                    insort(waiting, row)
                row = ready.pop()
        begin = max(begin, ends[number])
    row_of = np.empty(n, dtype=np.int32)
    alone = n - len(taken)
    row_of[order[:alone]] = np.arange(alone)
    row_of[order[alone:]] = np.fromiter(taken, np.int64, len(taken)) & ((1 << bits) - 1)
    return row_of, rows


def first_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """First-fit decreasing: each document into the first row that still has room for it."""
    n = len(tokens)
    if n > FEW and (blocks := _blocks(tokens, n if n >= MANY else n // 2)):
        return _in_blocks(tokens, blocks, row_length, heappush, heappop)
    lengths = tokens.tolist()
    order = sorted(range(n), key=lengths.__getitem__, reverse=True)
    shortest = lengths[order[-1]]
    row_of = [0] * n
    rooms: list[int] = []  # of each row
    ready: list[int] = []
    waiting = [0]  # room * n + row, the largest room last; the 0 is never reached
    for document in order:
        length = lengths[document]
        while waiting[-1] >= length * n:
            heappush(ready, waiting.pop() % n)
        if ready:
            row = heappop(ready)
        else:
            row = len(rooms)
            rooms.append(row_length)
        row_of[document] = row
        rooms[row] = room = rooms[row] - length
        if room >= length:
            heappush(ready, row)
        elif room >= shortest:
            insort(waiting, room * n + row)
    return np.fromiter(row_of, INT32, n), len(rooms)


def next_fit(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Next fit: in the order of the data, closing a row as soon as a document does not fit."""
    n = len(tokens)
    if n <= FEW:
        room, starts = 0, list[int]()
        for document, length in enumerate(tokens.tolist()):
            room -= length
            if room < 0:
                starts.append(document)
                room = row_length - length
        begins = np.array(starts)
    else:
        ends = np.cumsum(tokens)
        limit = ends - tokens
        limit += min(row_length, int(ends[-1]))
        following = np.append(np.searchsorted(ends, limit, side="right"), n)  # of a row from here
        over_two, begin, evens = memoryview(following[following]), 0, list[int]()
        while begin < n:
            evens.append(begin)
            begin = over_two[begin]
        both = np.stack([evens, following[evens]], axis=1).ravel()
        begins = both[: len(both) - int(both[-1] == n)]
    sizes = np.diff(begins, append=n)
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), len(sizes)


def sorted_order(values: np.ndarray) -> np.ndarray:
    """Stable argsort of non-negative integers: value and position are sorted as one number."""
    bits = len(values).bit_length()
    if int(values.max(initial=0)).bit_length() + bits > 63:
        return np.argsort(values, kind="stable")
    keys = values.astype(np.int64) << bits
    keys |= np.arange(len(values))
    keys.sort()
    keys &= (1 << bits) - 1
    return keys


def distinct(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different lengths in ascending order, and how many documents have each."""
    if int(tokens.max()) > len(tokens):
        return np.unique(tokens, return_counts=True)
    counts = np.bincount(tokens)
    values = np.flatnonzero(counts)
    return values, counts[values]


def _blocks(tokens: np.ndarray, most: int) -> Iterable[tuple[int, int]] | None:
    """Blocks of (length, how many), longest first; None where there are more than `most`."""
    values, counts = distinct(tokens)
    if len(values) > most:
        return None
    return zip(values[::-1].tolist(), counts[::-1].tolist(), strict=True)


def _in_blocks(
    tokens: np.ndarray, blocks: Iterable[tuple[int, int]], row_length: int, push: Push, pop: Pop
) -> tuple[np.ndarray, int]:
    """Each block into the rows that `pop` takes from the ready ones.

    What was taken, in that order, is a flat list of (range, rows, documents in each row).
    """
    n, shortest = len(tokens), int(tokens.min())
    rooms: dict[int, int] = {}  # of each row in a range that is ready or waiting
    sizes: dict[int, int] = {}  # rows in it
    ready: list[int] = []
    waiting = [0]  # -(room * n + range), the largest room on top; the 0 is never reached
    taken: list[int] = []
    row_count = 0

    def keep(first: int, size: int, room: int) -> None:
        if size and room >= shortest:
            rooms[first], sizes[first] = room, size
            if room >= length:
                push(ready, first)
            else:
                heappush(waiting, -(room * n + first))

    for length, left in blocks:
        while waiting[0] <= -length * n:
            push(ready, -heappop(waiting) % n)
        while left:
            if ready:
                first = pop(ready)
                room, size = rooms[first], sizes[first]
            else:
                first, room = row_count, row_length
                size = -(-left // (room // length))
                row_count += size
            each = room // length
            full, rest = (size, 0) if left >= size * each else divmod(left, each)
            taken += first, full, each
            left -= full * each
            keep(first, full, room - each * length)
            if full < size:  # the block ends in this range: one row takes the rest, others none
                taken += first + full, 1, rest
                keep(first + full + 1, size - full - 1, room)
                keep(first + full, 1, room - rest * length)
                break
    return _scattered(tokens, taken), row_count


def _scattered(tokens: np.ndarray, taken: list[int]) -> np.ndarray:
    """Give the rows, found in descending order of length, back to the documents."""
    first, rows, documents = np.array(taken, dtype=np.intp).reshape(-1, 3).T
    begin = np.cumsum(rows) - rows
    numbers = np.arange(rows.sum(), dtype=np.int32)
    numbers += np.repeat((first - begin).astype(np.int32), rows)
    row_of = np.empty(len(tokens), dtype=np.int32)
    order = sorted_order(int(tokens.max()) - tokens)
    row_of[order] = np.repeat(numbers, np.repeat(documents, rows))
    return row_of
