"""Catch the bug: one test for six wrong loops over an epoch."""

from batchlab.exercises import Exercise


def epoch_test(epoch):
    """Fail (assert) for every wrong epoch(micro_batches, accumulation) -> [w after each step].

    A right one returns a list of floats; no micro-batch is empty.
    """
    w = epoch([[1, 1], [4], [5], [9, 9, 9], [7]], 2)
    assert len(w) == 3
    assert all(abs(a - b) < 1e-9 for a, b in zip(w, [2, 8, 7]))


def epoch(micro_batches, accumulation):
    """The weight after each step: the mean of its window's numbers."""
    path = []
    for first in range(0, len(micro_batches), accumulation):
        numbers = [x for micro in micro_batches[first : first + accumulation] for x in micro]
        path.append(sum(numbers) / len(numbers))
    return path


of = Exercise(epoch)
right = epoch
NUMBERS = "[x for micro in micro_batches[first : first + accumulation] for x in micro]"
MEAN = "path.append(sum(numbers) / len(numbers))"
BUGS = {
    "mean of the micro-batches' means": (
        NUMBERS,
        "[sum(micro) / len(micro) for micro in micro_batches[first : first + accumulation]]",
    ),
    "forgets the tail": (
        "range(0, len(micro_batches), accumulation)",
        "range(0, len(micro_batches) // accumulation * accumulation, accumulation)",
    ),
    "divides the tail as if it were full": (
        MEAN,
        "w, full = (path or [0.0])[-1], len(micro_batches[first : first + accumulation]) / accumulation\n"
        "        path.append(w - (w - sum(numbers) / len(numbers)) * full)",
    ),
    "zero_grad inside the loop": (
        MEAN,
        "w, last = (path or [0.0])[-1], micro_batches[first : first + accumulation][-1]\n"
        "        path.append(w - sum(w - x for x in last) / len(numbers))",
    ),
    "steps at every micro-batch": (
        "accumulation):\n        numbers",
        "1):\n        accumulation = 1\n        numbers",
    ),
    "the tail joins the step before it": (
        "    return path",
        "    if len(path) > 1 and len(micro_batches) % accumulation:\n"
        "        first -= accumulation\n"
        "        numbers = [x for micro in micro_batches[first:] for x in micro]\n"
        "        path[-2:] = [sum(numbers) / len(numbers)]\n    return path",
    ),
}
for _bug, _change in BUGS.items():
    of.edit(_bug, [_change])


@of.style
def walking(micro_batches, accumulation):
    """step by step, a gradient at a time"""
    w, path = 0.0, []
    for first in range(0, len(micro_batches), accumulation):
        pulls = [w - x for micro in micro_batches[first : first + accumulation] for x in micro]
        w -= sum(pulls) / len(pulls)
        path.append(float(w))
    return path


@of.style
def rounding(micro_batches, accumulation):
    """another order of rounding"""
    return [w * (1 + 1e-14) for w in right(micro_batches, accumulation)]


def explain(got):
    """Why a right implementation was stopped that differs from another one in rounding alone."""
    rounding = "right implementation 2" in got or "right implementation 3" in got
    return "compares floats exactly: another order of the additions rounds otherwise" * rounding


exercise = Exercise(
    epoch_test,
    explain=explain,
    points=2,
    hints=(
        "compute the means of a small epoch by hand, and assert them all",
        "unequal micro-batches in one window, and a last window that is short",
        "assert the number of steps as well",
    ),
    tests=(of, tuple(BUGS), ("step by step, a gradient at a time", "another order of rounding")),
    passed="Right: six wrong loops found, all right ones passed.",
)
CASE = """\
    w = epoch([[1, 1], [4], [5], [9, 9, 9], [7]], 2)
    assert len(w) == 3
    assert all(abs(a - b) < 1e-9 for a, b in zip(w, [2, 8, 7]))
"""
for _thought, _says, _body in [
    (
        "compares floats exactly",
        "compares floats exactly",
        "assert epoch([[0.1, 0.2, 0.3], [0.7], [0.1, 0.6], [0.9]], 3) == [1.9 / 6, 0.9]",
    ),
    (
        "equal micro-batches",
        "mean of the micro-batches",
        "assert abs(epoch([[1], [3], [6], [8], [20]], 2)[-1] - 20) < 1e-9 and len(epoch([[1], [3], [6], [8], [20]], 2)) == 3",
    ),
    ("no tail", "tail", "assert abs(epoch([[1, 1], [4]], 2)[0] - 2) < 1e-9"),
    (
        "the example of the task",
        "2 of 6",
        "w = epoch([[1], [3], [6], [8]], 2)\n    assert len(w) == 2 and abs(w[0] - 2) + abs(w[1] - 7) < 1e-9",
    ),
    ("a wrong expectation", "right implementation", "assert epoch([[1, 1], [4]], 2) == [2.5]"),
    ("the number of steps only", "got through", "assert len(epoch([[1, 1], [4], [5]], 2)) == 2"),
]:
    exercise.edit(_thought, [(CASE, f"    {_body}\n")], says=_says)
exercise.edit("too high only", [("abs(a - b)", "a - b")], says="got through")
exercise.edit(
    "zip hides a missing step", [("    assert len(w) == 3\n", "")], says="forgets the tail"
)
exercise.edit("too coarse", [("1e-9", "1.5")], says="mean of the micro-batches")


@exercise.style
def by_definition(epoch):
    """random, by definition"""
    import numpy as np

    rng = np.random.default_rng(0)
    for count, k in ((4, 2), (5, 2), (7, 3), (3, 5), (1, 1)):
        micros = [rng.normal(size=rng.integers(1, 5)).tolist() for _ in range(count)]
        want = [np.mean(sum(micros[i : i + k], [])) for i in range(0, count, k)]
        got = epoch(micros, k)
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert abs(a - b) < 1e-6


@exercise.style
def truth_value(epoch):
    """a truth value"""
    got = epoch([[2, 4], [9], [6], [1, 1, 1], [7]], 2)
    return len(got) == 3 and max(abs(a - b) for a, b in zip(got, [5, 2.25, 7])) < 1e-6
