"""What the rows can carry: Little's law, in one unit of time."""

from batchlab.exercises import Exercise


def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    """Requests per minute at which all rows are always held."""
    held_ms = first_token_ms + (output_tokens - 1) * per_token_ms
    return rows / held_ms * 60_000


def drawn(rng):
    for _ in range(15):
        case = rng.uniform([20, 2, 3], [2000, 90, 900]).round(2).tolist()
        yield int(rng.integers(2, 300)), *case
        yield int(rng.integers(2, 300)), *case
    yield 16, 1200, 9, 1
    yield 1, 45, 30, 2.5
    yield 70_000, 3_000_000_000, 5, 4_000
    yield 1, 7_000_000, 900, 4_000


exercise = Exercise(
    most_per_minute,
    hints=(
        "how many milliseconds is a row held by one request?",
        "first_token_ms + (output_tokens - 1) * per_token_ms",
        "a minute has 60,000 ms: L = rate x W, solved for the rate",
    ),
    asked=lambda *case: (
        "requests per minute: rows {}, first token {} ms, {} ms a token, {} tokens".format(*case)
    ),
    shown=[(64, 200, 40, 121), (3, 90.5, 11.25, 7.4), (1, 7_000_000, 900, 1.5)],
    drawn=drawn,
    passed="Right: rows over the time that a request holds one, in one unit.",
)
HELD, END = "first_token_ms + (output_tokens - 1) * per_token_ms", "rows / held_ms * 60_000"
for _thought, _old, _new in [
    (
        "n tokens: the first is in first_token_ms, n - 1 follow",
        HELD,
        "first_token_ms + output_tokens * per_token_ms",
    ),
    (
        "without the first token: its row is held meanwhile",
        HELD,
        "(output_tokens - 1) * per_token_ms",
    ),
    ("per second: asked are requests per minute", END, "rows / held_ms * 1000"),
    ("milliseconds taken for seconds", END, "rows / held_ms * 60"),
    ("per millisecond: the units do not match", END, "rows / held_ms"),
    ("per hour: asked are requests per minute", END, "rows / held_ms * 3_600_000"),
    ("one row: each row carries as many", END, "60_000 / held_ms"),
    ("upside down: rows over the seconds of a request", END, "held_ms / (rows * 60_000)"),
    ("tokens per minute: asked are requests", END, "rows / held_ms * 60_000 * output_tokens"),
    ("one token: each request has n of them", HELD, "first_token_ms + per_token_ms"),
    ("requests in flight at one a minute: solve for the rate", END, "rows * held_ms / 60_000"),
    ("whole requests: a rate need not be whole", END, "rows * 60_000 // held_ms"),
    (
        "whole tokens: the output is a mean, and need not be whole",
        HELD,
        "first_token_ms + int(output_tokens - 1) * per_token_ms",
    ),
    (
        "a mean of 1.5 tokens leaves half a token after the first, not one",
        HELD,
        "first_token_ms + max(1, output_tokens - 1) * per_token_ms",
    ),
    (
        "one unit mixed: both times are milliseconds",
        END,
        "60 * rows / (first_token_ms + (output_tokens - 1) * per_token_ms / 1000)",
    ),
    ("rounded to 4 digits: keep them all", END, "round(rows / held_ms * 60_000, 4)"),
    ("rounded to 2 digits: keep them all", END, "round(rows / held_ms * 60_000, 2)"),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def seconds(rows, first_token_ms, per_token_ms, output_tokens):
    """in seconds and minutes"""
    return rows / ((first_token_ms + (output_tokens - 1) * per_token_ms) / 1000 / 60)


@exercise.style
def of_numpy(rows, first_token_ms, per_token_ms, output_tokens):
    """of NumPy"""
    import numpy as np

    return (
        np.float64(rows) * 60 * 1000 / np.sum([first_token_ms, (output_tokens - 1) * per_token_ms])
    )
