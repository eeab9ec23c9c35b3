"""Versions of lesson 04's first fit, right and wrong, and what comes back read as rows.

    lengths, slots of a row  ->  lengths in each row, right or as a known mistake gives them

A wrong version gives what a known mistake would give; its name is the thought behind it.
"""

from collections.abc import Callable, Sequence

from batchlab.classroom import plain

__all__ = ["FITS", "first_fits", "rows_of"]

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


def _falling(lengths: Lengths) -> list[int]:
    return sorted(map(int, lengths), reverse=True)


def _filled(lengths: Lengths, row_length: int, choose: Choose) -> Rows:
    """Each length into the row that `choose` finds among (room of each row, length)."""
    rows: Rows = []
    for length in map(int, lengths):
        number = choose([row_length - sum(one) for one in rows], length)
        if number is None:
            rows.append([length])
        else:
            rows[number].append(length)
    return sorted(map(sorted, rows))


def _with_room(room: Sequence[int], length: int) -> list[int]:
    return [number for number, left in enumerate(room) if left >= length]


def _first(room: Sequence[int], length: int) -> int | None:
    return next(iter(_with_room(room, length)), None)


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


def _sums_of_16_bits(room: Sequence[int], length: int) -> int | None:
    """Rows of 32,000 slots: a sum above 32,767 is negative in 16 bits, and seems to fit."""
    used = [32_000 - left + length for left in room]
    return next((n for n, sum_ in enumerate(used) if sum_ <= 32_000 or sum_ > 32_767), None)


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
    "a sum left the range of the array's type: take int(...) before you add": _fit(
        _sums_of_16_bits
    ),
}
