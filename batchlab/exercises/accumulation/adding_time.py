"""A napkin formula: the time to add one gradient to the sum."""

from batchlab.exercises import Exercise


def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    """Milliseconds to add one gradient to the sum: bytes per value of both, bandwidth in bytes/s."""
    return 1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth


def drawn(rng):
    for _ in range(10):
        parameters, speed = float(rng.uniform(1e8, 1e11)), float(rng.uniform(1e10, 8e12))
        yield parameters, int(rng.choice([2, 4, 8])), int(rng.choice([1, 2, 4])), speed
    yield parameters, 4, 2, 2 * speed
    yield parameters, 2, 8, 2 * speed


exercise = Exercise(
    adding_time,
    hints=(
        "count the bytes of one parameter: two reads and one write",
        "sum_bytes twice, new_bytes once",
        "1000 * parameters * bytes / bandwidth",
    ),
    asked=lambda *case: (
        "ms for {:g} parameters, sum of {} bytes, gradient of {}, at {:g} bytes/s".format(*case)
    ),
    shown=[(1e9, 4, 1, 1e12), (1.1345678e6, 4, 2, 2e12), (6e9, 1, 4, 2e12)],
    abs=1e-12,
    drawn=drawn,
    passed="Right: a float32 sum costs two thirds more time than a bf16 sum.",
)
RIGHT = "1e3 * parameters * (2 * sum_bytes + new_bytes) / bandwidth"
for _thought, _value in {
    "moved once: the sum is read and written, too": "1e3 * parameters * new_bytes / bandwidth",
    "the sum is read as well as written": "1e3 * parameters * (sum_bytes + new_bytes) / bandwidth",
    "the new gradient has its own bytes": "3e3 * parameters * sum_bytes / bandwidth",
    "the sum has its own bytes": "3e3 * parameters * new_bytes / bandwidth",
    "the two are exchanged: the sum moves twice": "1e3 * parameters * (sum_bytes + 2 * new_bytes) / bandwidth",
    "the sum is read and written, and the new gradient is read": "2e3 * parameters * sum_bytes / bandwidth",
    "the sum and the gradient are both written: only the sum is": "2e3 * parameters * (sum_bytes + new_bytes) / bandwidth",
    "bits: both are given in bytes": f"8 * {RIGHT}",
    "gibibytes: the bandwidth is in bytes per second": f"{RIGHT} * 1e9 / 2**30",
    "seconds: a thousand milliseconds each": "parameters * (2 * sum_bytes + new_bytes) / bandwidth",
    "microseconds: a thousandth of a millisecond each": f"1e3 * {RIGHT}",
    "turned over: bytes / (bytes per second) are seconds": "bandwidth / (parameters * (2 * sum_bytes + new_bytes))",
    "the numbers of the H100: take those that are handed over": "1e3 * 8.03e9 * 6 / 3.35e12",
    "whole: keep all digits": "1e3 * parameters * (2 * sum_bytes + new_bytes) // bandwidth",
    "rounded to 2 digits: keep them all": f"round({RIGHT}, 2)",
    "rounded to 5 digits: keep them all": f"round({RIGHT}, 5)",
    "the wider moves twice: it is the sum that is read and written": "1e3 * parameters * (2 * max(sum_bytes, new_bytes) + min(sum_bytes, new_bytes)) / bandwidth",
}.items():
    exercise.edit(_thought, [(RIGHT, _value)])


@exercise.style
def three_moves(parameters, sum_bytes, new_bytes, bandwidth):
    """three moves"""
    moved = parameters * sum_bytes + parameters * new_bytes + parameters * sum_bytes
    return moved / bandwidth * 1000


@exercise.style
def single(parameters, sum_bytes, new_bytes, bandwidth):
    """float32"""
    import numpy as np

    per_second = np.float32(parameters) / np.float32(bandwidth)
    return np.float32(1000) * per_second * (sum_bytes + sum_bytes + new_bytes)
