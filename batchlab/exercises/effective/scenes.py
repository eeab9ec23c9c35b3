"""What the page of lesson 06 counts: steps of the script, and a packing to go on with."""

from batchlab import counts, packing
from batchlab.classroom import script


def seen_by_steps(**replaced):
    """Slots, real tokens and target tokens of each step of the script's epoch; nothing trains."""
    ready = script.trainer(**replaced)
    parts = [counts.take(one).read() for one in ready.get_train_dataloader()]
    size = ready.args.gradient_accumulation_steps
    return [
        tuple(
            sum(getattr(one, what) for one in parts[first : first + size])
            for what in ("slots", "real_tokens", "target_tokens")
        )
        for first in range(0, len(parts), size)
    ]


def pack_rows(lengths, row_length):
    """Document numbers of each row, first fit decreasing: the library's way of lesson 04."""
    found = packing.pack(lengths, row_length, method="first_fit_decreasing")
    return [[int(number) for number in row] for row in found.rows]


def packs(yours):
    """Whether a learner's packing of lesson 04 holds every document once, in rows that fit."""
    lengths = [7, 1, 4, 5, 8, 2, 1]
    rows = [[int(number) for number in row] for row in yours(lengths, 10)]
    once = sorted(number for row in rows for number in row) == list(range(len(lengths)))
    return once and len(rows) == 3 and all(sum(lengths[n] for n in row) <= 10 for row in rows)
