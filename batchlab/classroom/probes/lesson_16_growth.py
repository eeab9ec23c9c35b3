"""Right and wrong versions of `next_step`, for a learner's test of it.

    lower ends of the last noise scales, sequences now, most  ->  sequences of the next step

Words
    low  lower end of the interval of a noise scale, in sequences
    row  readings one after the other, the newest last
"""

import statistics
from collections.abc import Callable, Mapping, Sequence

__all__ = ["PATIENCE", "RIGHT", "WRONG"]

PATIENCE = 3
Lows = Sequence[float]
Version = Callable[[Lows, int, int], int]


def _next_step(lows: Lows, sequences: int, most: int) -> int:
    twice = 2 * sequences
    row = lows[-PATIENCE:]
    sure = len(row) == PATIENCE and all(low >= twice for low in row)
    return twice if sure and twice <= most else sequences


def _counted(lows: Lows, sequences: int, most: int) -> int:
    if 2 * sequences > most:
        return sequences
    row = 0
    for low in lows:
        row = row + 1 if low >= 2 * sequences else 0
    return sequences * (2 if row >= PATIENCE else 1)


def _if(sure: Callable[[Lows, float], bool]) -> Version:
    """Doubles where `sure(lows, twice)`, up to the maximum."""

    def version(lows: Lows, sequences: int, most: int) -> int:
        twice = 2 * sequences
        return twice if twice <= most and sure(lows, twice) else sequences

    return version


def _row_of(number: int) -> Version:
    return _if(lambda lows, twice: len(lows) >= number and min(lows[-number:]) >= twice)


def _mean(lows: Lows, twice: float) -> bool:
    return len(lows) >= PATIENCE and statistics.fmean(lows[-PATIENCE:]) >= twice


def _median(lows: Lows, twice: float) -> bool:
    return len(lows) >= PATIENCE and statistics.median(lows[-PATIENCE:]) >= twice


def _past_most(lows: Lows, sequences: int, most: int) -> int:
    return _next_step(lows, sequences, 2**60)


def _cut_at_most(lows: Lows, sequences: int, most: int) -> int:
    return min(_next_step(lows, sequences, 2**60), most)


def _below_most(lows: Lows, sequences: int, most: int) -> int:
    return _next_step(lows, sequences, most - 1)


def _leaps(lows: Lows, sequences: int, most: int) -> int:
    """Doubles on while the readings allow it: several doublings at once."""
    while _next_step(lows, sequences, most) > sequences:
        sequences *= 2
    return sequences


def _to_low(lows: Lows, sequences: int, most: int) -> int:
    grown = _next_step(lows, sequences, most)
    return min(int(min(lows[-PATIENCE:])), most) if grown > sequences else sequences


def _shrinks(lows: Lows, sequences: int, most: int) -> int:
    if lows and min(lows[-PATIENCE:]) < sequences:
        return max(1, sequences // 2)
    return _next_step(lows, sequences, most)


def _one_more(lows: Lows, sequences: int, most: int) -> int:
    return sequences + (_next_step(lows, sequences, most) > sequences)


RIGHT: tuple[Version, ...] = (_next_step, _counted)
WRONG: Mapping[str, Version] = {
    "one reading is enough for it": _row_of(1),
    "two readings are enough for it": _row_of(2),
    "four readings are needed": _row_of(4),
    "the mean of three: one noisy reading moves it": _if(_mean),
    "the median of three: two readings move it": _if(_median),
    "any three readings, not the last three": _if(
        lambda lows, twice: sum(low >= twice for low in lows) >= PATIENCE
    ),
    "the first three readings, not the last": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows[:PATIENCE]) >= twice
    ),
    "every reading there ever was must agree": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows) >= twice
    ),
    "where there are fewer than three readings, those are enough for it": _if(
        lambda lows, twice: all(low >= twice for low in lows[-PATIENCE:])
    ),
    "of the last three readings it looks at the newer two": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows[-2:]) >= twice
    ),
    "of the last three readings it looks at the older two": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows[-PATIENCE:-1]) >= twice
    ),
    "it grows past the maximum": _past_most,
    "it is cut at the maximum: that is no doubling": _cut_at_most,
    "it stays below the maximum, which it may reach": _below_most,
    "a reading above the step of today is enough for it": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows[-PATIENCE:]) >= twice / 2
    ),
    "a reading of exactly twice the step does not count": _if(
        lambda lows, twice: len(lows) >= PATIENCE and min(lows[-PATIENCE:]) > twice
    ),
    "several doublings at once": _leaps,
    "it jumps to the reading": _to_low,
    "it grows by one sequence": _one_more,
    "it shrinks when readings are low": _shrinks,
    "it never grows": lambda lows, sequences, most: sequences,
    "it always grows": lambda lows, sequences, most: min(2 * sequences, most),
}
