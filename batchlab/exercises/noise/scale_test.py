"""Catch the bug: one test for eleven wrong noise scales."""

import numpy as np

from batchlab.exercises import Exercise


def estimate(small, big, small_batch, big_batch):
    """The noise scale of all steps together."""
    small, big = np.array(small, dtype=float), np.array(big, dtype=float)
    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    trace = (small - big) / (1 / small_batch - 1 / big_batch)
    if squared.mean() <= 0:
        said = f"the mean squared gradient of this case is {squared.mean():.4g}"
        raise ValueError(f"{said}: it must be above 0")
    return float(trace.mean() / squared.mean())


of = Exercise(estimate)
START = "    squared = (big"
LAST = "    return float(trace.mean() / squared.mean())"
for _thought, _old, _new in [
    ("the mean of the steps' own ratios", LAST, "    return float((trace / squared).mean())"),
    ("the median of the steps' own ratios", LAST, "    return float(np.median(trace / squared))"),
    (
        "steps with a squared gradient below 0 are left out",
        LAST,
        "    return float(trace[squared > 0].sum() / squared[squared > 0].sum())",
    ),
    (
        "a squared gradient below 0 is cut",
        LAST,
        "    return float(trace.mean() / squared.clip(min=0).mean())",
    ),
    ("the first step alone", LAST, "    return float(trace[0] / squared[0])"),
    (
        "the norm of the big batch is taken for the signal",
        LAST,
        "    return float(trace.mean() / big.mean())",
    ),
    (
        "all of the small norm is taken for noise",
        LAST,
        "    return float(small_batch * small.mean() / squared.mean())",
    ),
    ("upside down", LAST, "    return float(squared.mean() / trace.mean())"),
    (
        "batches of 1 and B: the small batch is forgotten",
        LAST,
        "    squared = (big_batch * big - small) / (big_batch - 1)\n"
        "    return float((small - big).mean() / (1 - 1 / big_batch) / squared.mean())",
    ),
    (
        "norms are squared again",
        LAST,
        "    few, many = small_batch, big_batch\n"
        "    squared = (many * big**2 - few * small**2) / (many - few)\n"
        "    return float((small**2 - big**2).mean() / (1 / few - 1 / many) / squared.mean())",
    ),
    ("the batch of the step in place of the scale", LAST, "    return float(big_batch)"),
]:
    of.edit(_thought, [(_old, _new)])


@of.style
def of_means(small, big, small_batch, big_batch):
    """means of the norms first"""
    s, b, few, many = np.mean(small), np.mean(big), small_batch, big_batch
    if many * b <= few * s:
        raise ValueError("the mean squared gradient of this case must be above 0")
    return (s - b) * few * many / (many * b - few * s)


@of.style
def other_digits(small, big, small_batch, big_batch):
    """a sum in another order: its last digits differ"""
    readings = []
    for s, b in zip(list(small)[::-1], list(big)[::-1]):
        squared = (big_batch * b - small_batch * s) / (big_batch - small_batch)
        readings.append((squared, (b - squared) * big_batch))
    below = sum(squared for squared, _ in readings)
    if below <= 0:
        raise ValueError("the mean squared gradient of this case must be above 0")
    return sum(trace for _, trace in readings) / below * (1 + 1e-13)


def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    # squared gradients 4, 6, -1 and traces 1000, 800, 900: 900 / 3 = 300
    small = [4 + 1000 / 8, 6 + 800 / 8, -1 + 900 / 8]
    big = [4 + 1000 / 64, 6 + 800 / 64, -1 + 900 / 64]
    assert abs(estimate(small, big, 8, 64) - 300) < 1e-6


exercise = Exercise(
    scale_test,
    hints=(
        "choose squared gradients and traces of three steps, and compute norms from them",
        "let the steps differ, and let one squared gradient be below 0",
        "small = squared + trace / b, big = squared + trace / B; the answer is sum of traces / "
        "sum of squared gradients",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: eleven wrong versions found, three right ones passed.",
)
CLAIM = "abs(estimate(small, big, 8, 64) - 300) < 1e-6"
SMALL, BIG = (
    "[4 + 1000 / 8, 6 + 800 / 8, -1 + 900 / 8]",
    "[4 + 1000 / 64, 6 + 800 / 64, -1 + 900 / 64]",
)
for _thought, _says, *_changes in [
    ("nothing is asserted", "never failed", ("assert abs", "abs")),
    (
        "equal steps",
        "got through",
        (SMALL, "[129.0] * 3"),
        (BIG, "[19.625] * 3"),
        ("- 300", "- 250"),
    ),
    ("one step", "got through", (SMALL, "[129.0]"), (BIG, "[19.625]"), ("- 300", "- 250")),
    (
        "no step below 0",
        "got through",
        (SMALL, "[129.0, 106.0]"),
        (BIG, "[19.625, 18.5]"),
        ("- 300", "- 180"),
    ),
    (
        "a small batch of 1",
        "got through",
        (SMALL, "[1004.0, 806.0, 899.0]"),
        (CLAIM, "abs(estimate(small, big, 1, 64) - 300) < 1e-6"),
    ),
    ("only the sign", "got through", (CLAIM, "estimate(small, big, 8, 64) > 0")),
    ("too loose", "got through", (CLAIM, "100 < estimate(small, big, 8, 64) < 900")),
    ("an upper bound alone", "got through", (CLAIM, "estimate(small, big, 8, 64) < 301")),
    ("a lower bound alone", "got through", (CLAIM, "estimate(small, big, 8, 64) > 299")),
    ("the number of one step", "was stopped", ("- 300", "- 250")),
    ("the mean of ratios is asked", "was stopped", ("- 300", "- (250 + 800 / 6 - 900) / 3")),
    ("exchanged batches", "was stopped", ("big, 8, 64", "big, 64, 8")),
    (
        "compares floats exactly",
        "was stopped",
        (SMALL, "[129.1, 106.3, 111.4]"),
        (BIG, "[19.6, 18.3, 13.1]"),
        (CLAIM, "estimate(small, big, 8, 64) == 0.1 + 278.9"),
    ),
    (
        "no signal in the case",
        "must be above 0",
        (SMALL, "[1 + 900 / 8, -9 + 1250 / 8, 2 + 850 / 8]"),
        (BIG, "[1 + 900 / 64, -9 + 1250 / 64, 2 + 850 / 64]"),
        ("- 300", "+ 500"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def truth_value(estimate):
    """returns a truth value, hands over by name"""
    small, big = [129.0, 106.0, 111.5], [19.625, 18.5, 13.0625]
    got = estimate(small=small, big=big, small_batch=8, big_batch=64)
    return abs(got - 300) < 1e-3


@exercise.style
def other_steps(estimate):
    """four steps, by a helper"""

    def norms_of(q, t, b):
        return [x + y / b for x, y in zip(q, t)]

    q, t = [5.0, -2.0, 9.0, 4.0], [70.0, 160.0, 90.0, 80.0]
    got = estimate(norms_of(q, t, 4), norms_of(q, t, 20), 4, 20)
    assert abs(got - 25) < 1e-6, got
