"""Steps of an epoch: round up twice, and drop what drop_last drops."""

from math import ceil

import numpy as np

from batchlab.exercises import By, Exercise

NINE = np.array([3, 5, 2, 8, 4, 6, 7, 9, 10])  # 54 tokens


def steps(lengths, rows, accumulation=1, drop_last=False):
    """Steps of one epoch, the short one too; drop_last drops a short last micro-batch."""
    from math import ceil

    documents = len(lengths)
    micro_batches = documents // rows if drop_last else ceil(documents / rows)
    return ceil(micro_batches / accumulation)


def asked(lengths, rows, accumulation=1, drop_last=False):
    said = f"steps of {len(lengths):,} documents, {rows:,} row{'s' * (rows > 1)}"
    said += f", accumulation {accumulation:,}" if accumulation > 1 else ""
    return said + (", drop_last" if drop_last else "")


def drawn(rng):
    for at in range(40):
        many, rows, accumulation = (int(rng.integers(1, most)) for most in (60, 8, 5))
        yield rng.integers(1, 99, many), rows, accumulation, at % 2 == 1
    crowd = rng.integers(1, 5000, 70_001)
    yield from [(crowd, 10_000), (crowd[:60_001], 10_000), (crowd, 7, 1000), (crowd, 7, 1000, True)]
    yield from [(NINE, 1, 1, True), (NINE[:0], 4), (NINE[:0], 4, 2, True), (NINE, 2, 4)]


exercise = Exercise(
    steps,
    points=3,
    whole=False,
    asked=asked,
    drawn=drawn,
    hints=(
        "one micro-batch is `rows` documents: count those first, without steps",
        "round up twice: documents to micro-batches, micro-batches to steps",
        "drop_last rounds the number of micro-batches down, and nothing else",
    ),
    shown=[
        (NINE, 3),
        (NINE, 4),
        (np.array([0, 5, 1, 3, 3, 3, 3]), 1),
        (NINE, 2, 3),
        (NINE, 2, 2),
        By(NINE, 4, drop_last=True),
        (NINE, 2, 3, True),
        (NINE[:3], 4, 1, True),
        (NINE, 4, 2, True),
        (NINE, 3, 1, True),
        (NINE[:0], 4),
    ],
    passed="Right: a short micro-batch is still a micro-batch, and a short step still a step.",
)


def micro(lengths, rows, drop_last):
    return len(lengths) // rows if drop_last else ceil(len(lengths) / rows)


@exercise.mistake
def rounded_down(lengths, rows, accumulation=1, drop_last=False):
    """rounded down: the last documents are a step, too"""
    return len(lengths) // (rows * accumulation)


@exercise.mistake
def one_more(lengths, rows, accumulation=1, drop_last=False):
    """one more, always: where it divides there is no short step"""
    return len(lengths) // (rows * accumulation) + 1


@exercise.mistake
def a_share_of_a_step(lengths, rows, accumulation=1, drop_last=False):
    """a step happens or does not: round up"""
    return len(lengths) / (rows * accumulation)


@exercise.mistake
def tokens(lengths, rows, accumulation=1, drop_last=False):
    """tokens were counted, not documents"""
    return ceil(sum(lengths) / (rows * accumulation))


@exercise.mistake
def micro_batches(lengths, rows, accumulation=1, drop_last=False):
    """these are micro-batches: a step takes `accumulation` of them"""
    return micro(lengths, rows, drop_last)


@exercise.mistake
def documents(lengths, rows, accumulation=1, drop_last=False):
    """these are documents, not steps"""
    return len(lengths)


@exercise.mistake
def multiplied(lengths, rows, accumulation=1, drop_last=False):
    """multiplied by the accumulation: it makes steps fewer"""
    return micro(lengths, rows, drop_last) * accumulation


@exercise.mistake
def never_drops(lengths, rows, accumulation=1, drop_last=False):
    """drop_last is not used: the short micro-batch goes"""
    return ceil(len(lengths) / (rows * accumulation))


@exercise.mistake
def drops_only_alone(lengths, rows, accumulation=1, drop_last=False):
    """with accumulation drop_last drops a short micro-batch, too"""
    if drop_last and accumulation == 1:
        return len(lengths) // rows
    return ceil(len(lengths) / (rows * accumulation))


@exercise.mistake
def drops_the_step(lengths, rows, accumulation=1, drop_last=False):
    """drop_last drops a short micro-batch, not a short last step"""
    whole = len(lengths) / (rows * accumulation)
    return int(whole) if drop_last else ceil(whole)


@exercise.mistake
def drops_always_one(lengths, rows, accumulation=1, drop_last=False):
    """no micro-batch is short here: nothing is dropped"""
    return ceil((ceil(len(lengths) / rows) - drop_last) / accumulation)


@exercise.mistake
def one_at_least(lengths, rows, accumulation=1, drop_last=False):
    """the only micro-batch was short and is dropped: no step is left"""
    return max(1 if len(lengths) else 0, ceil(micro(lengths, rows, drop_last) / accumulation))


@exercise.mistake
def a_step_of_nothing(lengths, rows, accumulation=1, drop_last=False):
    """no document, no step"""
    found = len(lengths) // rows if drop_last else max(1, ceil(len(lengths) / rows))
    return ceil(found / accumulation)


@exercise.mistake
def to_the_nearest(lengths, rows, accumulation=1, drop_last=False):
    """rounded to the nearest: what is left is a step, too"""
    return max(min(1, len(lengths) // rows), round(micro(lengths, rows, drop_last) / accumulation))


@exercise.mistake
def empty_left_out(lengths, rows, accumulation=1, drop_last=False):
    """an empty document is a document, too: count them all"""
    kept = lengths[lengths > 0]
    return ceil(micro(kept, rows, drop_last) / accumulation)


@exercise.mistake
def no_targets_left_out(lengths, rows, accumulation=1, drop_last=False):
    """a document without target tokens is a document, too: count them all"""
    kept = lengths[lengths > 1]
    return ceil(micro(kept, rows, drop_last) / accumulation)


@exercise.mistake
def different_lengths(lengths, rows, accumulation=1, drop_last=False):
    """a document as long as another is a document, too"""
    return ceil(micro(np.unique(lengths), rows, drop_last) / accumulation)


@exercise.mistake(says="changed")
def sorts(lengths, rows, accumulation=1, drop_last=False):
    """sorts the lengths that it was given"""
    lengths.sort()
    return ceil(micro(lengths, rows, drop_last) / accumulation)


@exercise.style
def counted(lengths, rows, accumulation=1, drop_last=False):
    """counted in a loop"""
    found, waiting = 0, 0
    for first in range(0, len(lengths), rows):
        if drop_last and len(lengths) - first < rows:
            break
        waiting += 1
        if waiting == accumulation:
            found, waiting = found + 1, 0
    return found + (waiting > 0)


@exercise.style
def floats(lengths, rows, accumulation=1, drop_last=False):
    """NumPy's ceil, which gives a float"""
    found = lengths.size // rows if drop_last else np.ceil(lengths.size / rows)
    return np.ceil(found / accumulation)


@exercise.style
def whole_numbers(lengths, rows, accumulation=1, drop_last=False):
    """whole numbers only"""
    found = len(lengths) // rows if drop_last else -(-len(lengths) // rows)
    return -(-found // accumulation)
