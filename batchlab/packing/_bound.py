"""How many rows every packing needs, whatever its method.

lengths, row length  ->  the better of two bounds

Both give documents weights of which no row can hold more than 1; the weights of all are the bound.
"""

import numpy as np
from numpy.typing import ArrayLike

from batchlab.lengths import checked
from batchlab.packing._fit_rules import distinct
from batchlab.units import whole

__all__ = ["lower_bound"]

FAMILY = 32  # so many documents a row are told apart by their number; more of them fill it anyway


def lower_bound(lengths: ArrayLike, row_length: int) -> int:
    """Rows that every packing needs: the better one of two bounds, never below tokens / row_length.

    L2 of Martello and Toth (1990) sees documents that are too long to stand beside each other; the
    dual-feasible functions of Fekete and Schepers (2001) see that only so many fit into a row.

    >>> lower_bound([7, 7, 7, 7, 7], 10)
    5
    >>> lower_bound(64 * [700], 2048)  # two a row, and not 2.9
    32
    """
    tokens, row_length = checked(lengths), whole(row_length, "row_length")
    values, counts = distinct(tokens)
    if int(values[-1]) > row_length:
        raise ValueError(f"a document has {int(values[-1]):,} tokens, a row {row_length:,}")
    if row_length >= int((counts * values).sum()):
        return 1  # and below, row_length * documents over half a row is less than twice all tokens
    return max(_by_room(values, counts, row_length), _by_number(values, counts, row_length))


def _by_room(values: np.ndarray, counts: np.ndarray, row_length: int) -> int:
    """L2: for each threshold a, documents over row_length - a stand alone, those over half a row
    need a row each, and the ones from a to half a row can only use the room that the latter leave.

    Only lengths that occur need to be tried as a; the shortest counts every token.
    """
    documents_below = np.append(0, np.cumsum(counts, dtype=np.int64))  # each value; and all
    tokens_below = np.concatenate([[0], np.cumsum(counts * values)])
    half = int(np.searchsorted(values, row_length // 2, side="right"))  # so many are at most half
    a = values[:half]
    beside = np.searchsorted(values, row_length - a, side="right")  # half < l <= row_length - a
    middle = documents_below[beside] - documents_below[half]
    room = middle * row_length - (tokens_below[beside] - tokens_below[half])
    small = tokens_below[half] - tokens_below[:half]  # a <= l <= half
    more = -((room - small) // row_length)
    large = int(documents_below[-1] - documents_below[half])
    return large + max(0, int(more.max(initial=0)))


def _by_number(values: np.ndarray, counts: np.ndarray, row_length: int) -> int:
    """Of documents longer than a (k + 1)th of a row at most k fit: each weighs a kth of a row.

    More exactly, one of x rows weighs floor((k + 1) x) / k, and x where that is no fraction.
    """
    best = 1
    for k in range(2, FAMILY + 1):
        parts, rest = np.divmod((k + 1) * values, row_length)
        even = rest == 0
        kths = int((parts * counts)[~even].sum()) * row_length + k * int(
            (values * counts)[even].sum()
        )
        best = max(best, -(-kths // (k * row_length)))
    return best
