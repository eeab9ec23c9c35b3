"""Versions of lesson 04's first fit, right and wrong, and what comes back read as rows.

    lengths, slots of a row  ->  lengths in each row, right or as a known mistake gives them

A wrong version gives what a known mistake would give; its name is the thought behind it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from batchlab.classroom import plain

__all__ = ["FITS", "first_fits", "numbered", "rows_of"]

Lengths = Sequence[int]
Rows = list[list[int]]
Choose = Callable[[Sequence[int], int], int | None]


def rows_of(returned: object) -> Rows | None:
    """What a learner returned as lists of numbers; None where it is no list of lists of those."""
    try:
        rows = plain.nested(returned)
    except plain.NotPlain:
        return None
    fits = isinstance(rows, list) and all(
        isinstance(row, list) and all(type(number) is int for number in row) for row in rows
    )
    return rows if fits else None


def first_fits(lengths: Lengths, row_length: int) -> Rows:
    """First fit decreasing as lengths in each row, sorted.

    >>> first_fits([4, 7, 3, 6], 10)
    [[3, 7], [4, 6]]
    """
    return _filled(_falling(lengths), row_length, _first)


def numbered(lengths: Lengths, row_length: int) -> Rows:
    """First fit decreasing as document numbers in each row.

    >>> numbered([4, 7, 3, 6], 10)
    [[1, 2], [3, 0]]
    """
    rows: Rows = []
    room: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda one: -int(lengths[one])):
        length = int(lengths[number])
        place = _first(room, length)
        if place is None:
            place = len(rows)
            rows.append([])
            room.append(row_length)
        rows[place].append(number)
        room[place] -= length
    return rows


def _falling(lengths: Lengths) -> list[int]:
    return sorted(map(int, lengths), reverse=True)


def _filled(lengths: Lengths, row_length: int, choose: Choose) -> Rows:
    """Each length into the row that `choose` finds among (room of each row, length)."""
    rows: Rows = []
    room: list[int] = []
    for length in map(int, lengths):
        number = choose(room, length)
        if number is None:
            number = len(rows)
            rows.append([])
            room.append(row_length)
        rows[number].append(length)
        room[number] -= length
    return sorted(map(sorted, rows))


def _with_room(room: Sequence[int], length: int) -> list[int]:
    return [number for number, left in enumerate(room) if left >= length]


def _first(room: Sequence[int], length: int) -> int | None:
    return next((number for number, left in enumerate(room) if left >= length), None)


def _last(room: Sequence[int], length: int) -> int | None:
    return next(reversed(_with_room(room, length)), None)


def _next(room: Sequence[int], length: int) -> int | None:
    return len(room) - 1 if room and room[-1] >= length else None


def _fullest(room: Sequence[int], length: int) -> int | None:
    return min(_with_room(room, length), key=lambda number: room[number], default=None)


def _emptiest(room: Sequence[int], length: int) -> int | None:
    return max(_with_room(room, length), key=lambda number: room[number], default=None)


def _not_to_the_brim(room: Sequence[int], length: int) -> int | None:
    return next((n for n, left in enumerate(room) if left > length), None)


def _narrow_sums(lengths: Any, row_length: int) -> Rows:
    """Sums in the type of the array, 16 bits for a list: what leaves its range seems to fit."""
    kind = lengths.dtype if isinstance(lengths, np.ndarray) else np.dtype(np.int16)
    least, span = int(np.iinfo(kind).min), 2 ** (8 * kind.itemsize)

    def choose(room: Sequence[int], length: int) -> int | None:
        used = ((row_length - left + length - least) % span + least for left in room)
        return next((number for number, sum_ in enumerate(used) if sum_ <= row_length), None)

    return _filled(_falling(lengths), row_length, choose)


def _no_two_halves(lengths: Lengths, row_length: int) -> Rows:
    """A document of exactly half a row always opens one."""
    rows: Rows = []
    for length in _falling(lengths):
        fits = (one for one in rows if sum(one) + length <= row_length)
        place = None if 2 * length == row_length else next(fits, None)
        if place is None:
            rows.append([length])
        else:
            place.append(length)
    return sorted(map(sorted, rows))


def _fit(choose: Choose, order: Callable[[Lengths], Lengths] = _falling) -> Callable[..., Rows]:
    return lambda lengths, row_length: _filled(order(lengths), row_length, choose)


FITS: dict[str, Callable[..., Rows]] = {
    "in the order of the data: sort, longest first": _fit(_first, list),
    "shortest first: the long documents find no gap any more": _fit(_first, sorted),
    "next fit: look at every open row, not at the last only": _fit(_next),
    "next fit, unsorted: sort, and look at every open row": _fit(_next, list),
    "the last row with room; asked is the first": _fit(_last),
    "best fit: the fullest row with room; asked is the first": _fit(_fullest),
    "worst fit: the emptiest row; asked is the first with room": _fit(_emptiest),
    "a document that fills a row exactly fits, too": _fit(_not_to_the_brim),
    "a row for each document": _fit(lambda room, length: None),
    "a sum left the range of the array's type: take int(...) before you add": _narrow_sums,
    "two documents of half a row share one": _no_two_halves,
}
