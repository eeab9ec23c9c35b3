"""A napkin formula: documents behind a step of packed rows."""

from batchlab.exercises import Exercise


def documents_behind(rows, row_length, fill, mean_length):
    """Documents behind one step of `rows` packed rows, on average."""
    return rows * row_length * fill / mean_length


def asked(rows, row_length, fill, mean_length):
    return f"{rows:,} rows of {row_length:,} slots, fill {fill:g}, {mean_length:g} tokens each"


def drawn(rng):
    for _ in range(10):
        rows, slots = (int(rng.integers(low, 50 * low)) for low in (1, 200))
        fill = float(rng.uniform(0.5, 1))
        yield rows, slots, fill, float(rng.uniform(1, slots * fill))  # a row holds one or more
    yield from [(1, 4096, 1.0, 4096), (1, 4096, 0.5, 1700.5), (3000, 2_000_000, 0.95, 41.7)]


exercise = Exercise(
    documents_behind,
    asked=asked,
    drawn=drawn,
    hints=(
        "count tokens first: how many real tokens does a step hold?",
        "slots of the step, times the fill, are its real tokens; each document takes the mean length",
    ),
    shown=[(4, 1000, 0.9, 150), (3, 1000, 0.9, 200), (7, 777, 0.8123, 118.3), (2, 512, 1.0, 40)],
    passed="Right: so an epoch of packed rows has as many times fewer steps.",
)
ALL = "rows * row_length * fill / mean_length"
for _thought, _value in {
    "that is the padded step: a packed row is several documents": "rows",
    "the documents of one row: the step has more rows": "row_length * fill / mean_length",
    "slots, not documents": "rows * row_length",
    "tokens, not documents": "rows * row_length * fill",
    "the fill is forgotten: empty slots hold nothing": "rows * row_length / mean_length",
    "divided by the fill: real tokens are fewer than slots": "rows * row_length / fill / mean_length",
    "upside down: rows that hold so many documents": "rows * mean_length / (row_length * fill)",
    "multiplied by the length of a document: divide": "rows * row_length * fill * mean_length",
    "the waste in place of the fill": "rows * row_length * (1 - fill) / mean_length",
    "the fill is a share, no per cent": "rows * row_length * fill / 100 / mean_length",
    "a full row has a fill of 1: a share, no per cent": f"{ALL} / (1 if fill < 1 else 100)",
    "rounded down: a mean need not be whole": f"int({ALL})",
    "rounded: a mean need not be whole": f"round({ALL})",
    "rounded to two digits: give all": f"round({ALL}, 2)",
    "rounded to three digits: give all": f"round({ALL}, 3)",
    "rounded too early: a mean may be 4.5 documents a row": "rows * int(row_length * fill / mean_length)",
    "rounded up too early: a mean may be 4.5 documents a row": "rows * -int(-row_length * fill // mean_length)",
    "the mean length was made whole: it need not be": "rows * row_length * fill / int(mean_length)",
}.items():
    exercise.edit(_thought, [(ALL, _value)])


@exercise.style
def another_order(rows, row_length, fill, mean_length):
    """in another order"""
    return row_length / mean_length * fill * rows


@exercise.style
def fraction(rows, row_length, fill, mean_length):
    """as a fraction"""
    from fractions import Fraction

    return Fraction(rows * row_length) * Fraction(fill) / Fraction(mean_length)
