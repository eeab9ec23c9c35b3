"""Catch the bug: one test for eight wrong reports of a step with a sharded optimizer."""

import numpy as np

from batchlab.exercises import Exercise


def report_test(report):
    """Fail (assert) for every wrong report(parts) -> [{"mean", "sent", "kept"} by rank]."""
    parts = [[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]]
    told = report(parts)
    assert len(told) == 3
    for one in told:
        assert len(one["mean"]) == 5
        assert all(abs(a - b) < 1e-6 for a, b in zip(one["mean"], [1, 0.5, 0.5, 0.75, 0.25]))
    assert abs(sum(one["sent"] for one in told) - 2 * 2 * 5) < 1e-6
    kept = [one["kept"] for one in told]
    assert sum(kept) == 5 and max(kept) - min(kept) <= 1


def mean_of(own, size):
    """The token mean of some micro-batches; zeros where there are none."""
    total = np.array([gradient for gradient, _ in own], float).reshape(-1, size).sum(axis=0)
    return total / max(1, sum(tokens for _, tokens in own))


def report(parts):
    """For each rank the mean gradient, the numbers it sends and those it keeps."""
    n, size = len(parts), next(len(gradient) for own in parts for gradient, _ in own)
    every = [one for own in parts for one in own]
    pieces = [len(one) for one in np.array_split(np.arange(size), n)]
    told = []
    for at, own in enumerate(parts):
        mean = mean_of(every, size)
        sent = 2 * size - pieces[at] - pieces[(at + 1) % n]
        kept = pieces[at]
        told.append({"mean": [float(x) for x in mean], "sent": sent, "kept": kept})
    return told


of = Exercise(report)
MEAN, SENT = "mean = mean_of(every, size)", "sent = 2 * size - pieces[at] - pieces[(at + 1) % n]"
KEPT, TOLD, EVEN = "kept = pieces[at]\n", "        told.append({", "2 * (n - 1) * size / n"
BUGS = {
    "the mean over ranks of their own means": (
        MEAN,
        "mean = sum(mean_of(one, size) for one in parts) / n",
    ),
    "each rank keeps the mean of its own tokens": (MEAN, "mean = mean_of(own, size)"),
    "a rank without micro-batches has zeros for the mean": (
        MEAN,
        "mean = mean_of(every if own else [], size)",
    ),
    "a rank without micro-batches is left out": (
        TOLD,
        "        if not own:\n            continue\n" + TOLD,
    ),
    "the gradients are reduced for every micro-batch": (
        SENT,
        f"sent = {EVEN} * max(map(len, parts))",
    ),
    "only the reduce is counted, the weights are never gathered": (SENT, f"sent = {EVEN} / 2"),
    "every rank keeps everything": (KEPT, "kept = size\n"),
    "what is left of the division is kept by nobody": (KEPT, "kept = size // n\n"),
}
for _bug, _change in BUGS.items():
    of.edit(_bug, [_change])
right = report


@of.style
def evenly(parts):
    """sent evenly, the last ranks keep more"""
    told = right(parts)
    size, kept = len(told[0]["mean"]), [one["kept"] for one in told][::-1]
    sent = 2 * (len(parts) - 1) * size / len(parts)
    return [{**one, "sent": sent, "kept": k} for one, k in zip(told, kept)]


@of.style
def rounding(parts):
    """another order of rounding"""
    return [{**one, "mean": [x * (1 + 1e-12) for x in one["mean"]]} for one in right(parts)]


exercise = Exercise(
    report_test,
    hints=(
        "unequal tokens, one rank with two micro-batches and one with none: compute the mean by hand",
        "assert the sums of `sent` and `kept` over the ranks, and how many ranks there are",
        "let P leave a remainder of 2 when it is divided by the ranks",
    ),
    tests=(of, tuple(BUGS), ("sent evenly, the last ranks keep more", "another order of rounding")),
    passed="Right: eight wrong reports found, three right ones passed.",
)
PARTS = "[[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]]"
WANT, SUM = "[1, 0.5, 0.5, 0.75, 0.25]", 'abs(sum(one["sent"] for one in told) - 2 * 2 * 5) < 1e-6'
NEAR = f'all(abs(a - b) < 1e-6 for a, b in zip(one["mean"], {WANT}))'
for _says, _thought, _old, _new in [
    ("got through", "a tolerance of one", "1e-6 for a", "1.0 for a"),
    (
        "got through",
        "no idle rank",
        PARTS,
        "[[([6, 0, 1, 2, 3], 1)], [([4, 2, 9, 8, 1], 9)], [([10, 8, 0, 5, 1], 10)]]",
    ),
    ("got through", "kept is never counted", "sum(kept) == 5 and ", ""),
    ("got through", "sent is at most", SUM, 'sum(one["sent"] for one in told) <= 20.1'),
    (
        "right implementation",
        "each rank sends the same",
        SUM,
        'len({one["sent"] for one in told}) == 1',
    ),
    (
        "right implementation",
        "the first rank keeps more",
        "sum(kept) == 5 and max(kept) - min(kept) <= 1",
        "kept == [2, 2, 1]",
    ),
    ("right implementation", "floats compared exactly", NEAR, f'one["mean"] == {WANT}'),
    (
        "right implementation",
        "the mean over ranks is wanted",
        WANT,
        "[2 / 3, 1 / 3, 1 / 3, 0.5, 1 / 6]",
    ),
]:
    exercise.edit(_thought, [(_old, _new)], says=_says)


@exercise.style
def verdict(report):
    """a verdict"""
    import numpy as np

    parts = [
        [([1.0, 2.0, 0.0, 4.0, 5.0, 6.0, 7.0, 1.0], 2)],
        [
            ([3.0, 0.0, 1.0, 0.0, 5.0, 2.0, 3.0, 9.0], 1),
            ([4.0, 6.0, 7.0, 4.0, 6.0, 8.0, 6.0, 6.0], 13),
        ],
        [],
    ]
    told = report(parts)
    mean = np.array([8, 8, 8, 8, 16, 16, 16, 16]) / 16
    good = len(told) == 3 and all(np.abs(np.array(t["mean"]) - mean).max() < 1e-6 for t in told)
    kept = sorted(t["kept"] for t in told)
    return good and abs(sum(t["sent"] for t in told) - 32) < 1e-6 and kept == [2, 3, 3]
