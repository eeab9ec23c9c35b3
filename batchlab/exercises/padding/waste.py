"""Count the waste: a ratio of sums."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.padding import drawn, several


def waste(batches):
    """Share of the slots that holds padding, over all micro-batches together."""
    tokens = sum(sum(batch) for batch in batches)
    slots = sum(max(batch) * len(batch) for batch in batches)
    return (slots - tokens) / slots


exercise = Exercise(
    waste,
    points=2,
    hints=(
        "count the real tokens and the slots over all micro-batches first",
        "the slots of a micro-batch are len(batch) * max(batch)",
        "(sum of slots - sum of tokens) / sum of slots, divided once at the end",
    ),
    asked=lambda batches: f"waste of {several(batches)}",
    shown=[([[5, 3], [4, 4], [6, 1, 6]],), ([[2, 3, 1], [7], [5, 4]],), ([[1000, 999], [401]],)],
    drawn=drawn,
    share="the share that is real: the rest is waste",
    passed="Right: waste is a ratio of sums.",
)


@exercise.mistake
def mean_of_shares(batches):
    """the mean of the micro-batches' own shares: a tiny one counts like a large one"""
    return sum(1 - sum(b) / (len(b) * max(b)) for b in batches) / len(batches)


@exercise.mistake
def one_rectangle(batches):
    """one rectangle around all the data: each micro-batch has a width of its own"""
    longest = max(max(b) for b in batches)
    return 1 - sum(map(sum, batches)) / (longest * sum(map(len, batches)))


@exercise.mistake
def per_token(batches):
    """padding per real token: divide by the slots"""
    tokens = sum(map(sum, batches))
    return (sum(max(b) * len(b) for b in batches) - tokens) / tokens


@exercise.mistake
def slots_only(batches):
    """padding slots, not a share: divide by all slots"""
    return sum(max(b) * len(b) - sum(b) for b in batches)


@exercise.mistake
def rows_are_batches(batches):
    """the rows of a micro-batch are its documents, len(batch), not the number of micro-batches"""
    return 1 - sum(map(sum, batches)) / sum(len(batches) * max(b) for b in batches)


@exercise.mistake
def first_row(batches):
    """a micro-batch is as wide as its longest row, not as its first"""
    return 1 - sum(map(sum, batches)) / sum(b[0] * len(b) for b in batches)


@exercise.mistake
def last_row(batches):
    """a micro-batch is as wide as its longest row, not as its last"""
    return 1 - sum(map(sum, batches)) / sum(b[-1] * len(b) for b in batches)


@exercise.mistake
def single_rows_skipped(batches):
    """micro-batches of one row are left out: they waste nothing, but their slots count"""
    kept = [b for b in batches if len(b) > 1] or batches
    return 1 - sum(map(sum, kept)) / sum(max(b) * len(b) for b in kept)


@exercise.mistake
def last_forgotten(batches):
    """the last micro-batch is forgotten"""
    kept = batches[:-1]
    return 1 - sum(map(sum, kept)) / sum(max(b) * len(b) for b in kept)


@exercise.mistake
def last_alone(batches):
    """only the last micro-batch is counted: each turn of the loop must add"""
    b = batches[-1]
    return 1 - sum(b) / (len(b) * max(b))


@exercise.mistake
def sum_of_shares(batches):
    """the sum of the micro-batches' own shares: shares do not add"""
    return sum(1 - sum(b) / (len(b) * max(b)) for b in batches)


@exercise.mistake
def weighted_by_rows(batches):
    """the shares are weighted by rows: cost is paid in slots"""
    each = [(len(b), 1 - sum(b) / (len(b) * max(b))) for b in batches]
    return sum(n * share for n, share in each) / sum(n for n, _ in each)


@exercise.mistake
def mean_longest(batches):
    """1 - mean length / mean longest: right only if all micro-batches have equally many rows"""
    lengths = [n for b in batches for n in b]
    return 1 - (sum(lengths) / len(lengths)) / (sum(map(max, batches)) / len(batches))


@exercise.mistake
def width_of_the_script(batches):
    """512 slots for each row: here a micro-batch is as wide as its longest row"""
    return 1 - sum(map(sum, batches)) / (512 * sum(map(len, batches)))


@exercise.mistake
def returns_inside(batches):
    """only the first micro-batch is counted: `return` stands inside the loop"""
    for b in batches:
        return (max(b) * len(b) - sum(b)) / (max(b) * len(b))


@exercise.mistake
def whole_division(batches):
    """a whole division: `//` drops what stands behind the point"""
    slots = sum(max(b) * len(b) for b in batches)
    return (slots - sum(map(sum, batches))) // slots


@exercise.mistake(says="changed")
def sorts_what_it_was_given(batches):
    """sorts the lists that it was given"""
    for b in batches:
        b.sort()
    return 1 - sum(map(sum, batches)) / sum(b[-1] * len(b) for b in batches)


@exercise.style
def vectorised(batches):
    """with arrays"""
    arrays = [np.asarray(b) for b in batches]
    slots = sum(a.size * a.max() for a in arrays)
    return 1 - sum(a.sum() for a in arrays) / slots


@exercise.style
def row_by_row(batches):
    """padding counted row by row"""
    pad = sum(max(b) - tokens for b in batches for tokens in b)
    return pad / sum(max(b) for b in batches for _ in b)


@exercise.style
def from_padding_per_token(batches):
    """from the padding per token: other last digits, and lists that are lists"""
    tokens = sum(sum(batches, []))
    per_token = sum(max(b) * len(b) for b in batches) / tokens - 1
    return per_token / (1 + per_token)


@exercise.style
def fraction(batches):
    """a fraction"""
    from fractions import Fraction

    slots = sum(max(b) * len(b) for b in batches)
    return Fraction(slots - sum(map(sum, batches)), slots)
