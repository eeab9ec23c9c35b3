"""Catch the bug: one test for 23 wrong reports of a step with a sharded optimizer."""

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
LAST = "(at == n - 1)"
BUGS = {
    "the mean over ranks of their own means": (
        MEAN,
        "mean = sum(mean_of(one, size) for one in parts) / n",
    ),
    "the mean over micro-batches of their own means": (
        MEAN,
        "mean = np.mean([np.array(g) / k for g, k in every if k], axis=0)",
    ),
    "the sum over tokens, divided by the ranks as well": (MEAN, f"{MEAN} / n"),
    "each rank keeps the mean of its own tokens": (MEAN, "mean = mean_of(own, size)"),
    "a rank without micro-batches has zeros for the mean": (
        MEAN,
        "mean = mean_of(every if own else [], size)",
    ),
    "a rank without micro-batches is left out": (
        TOLD,
        "        if not own:\n            continue\n" + TOLD,
    ),
    "a rank is missing, and the others report its share": (
        "    return told",
        "    left = np.array_split(np.arange(size), max(1, n - 1))\n"
        '    return [{**told[0], "sent": 2 * (n - 1) * size / len(left), "kept": len(one)} for one in left]',
    ),
    "the first number of the mean is not divided": (
        MEAN,
        MEAN + "\n        mean[0] *= sum(k for _, k in every)",
    ),
    "the last number of the mean is not divided": (
        MEAN,
        MEAN + "\n        mean[-1] *= sum(k for _, k in every)",
    ),
    "the mean comes back to front": (MEAN, MEAN + "[::-1]"),
    "the mean is one part in 1,000 too large": (MEAN, MEAN.replace("= ", "= 1.001 * ")),
    "the last rank alone has the mean of its own tokens": (
        MEAN,
        f"mean = mean_of(own if {LAST} else every, size)",
    ),
    "the first rank alone has the mean of its own tokens": (
        MEAN,
        "mean = mean_of(every if at else own, size)",
    ),
    "the first rank's mean is too large, the last one's too small by as much": (
        MEAN,
        f"{MEAN} + ((at == 0) - {LAST})",
    ),
    "the mean is padded with zeros until the ranks divide it, so it has more than P numbers": (
        MEAN,
        "mean = [*mean_of(every, size), *[0.0] * (-size % n)]",
    ),
    "the last rank sends one number too many": (SENT, f"sent = {EVEN} + {LAST}"),
    "the gradients are reduced for every micro-batch": (
        SENT,
        f"sent = {EVEN} * max(map(len, parts))",
    ),
    "only the reduce is counted, the weights are never gathered": (SENT, f"sent = {EVEN} / 2"),
    "a rank's own piece is sent, too": (SENT, "sent = 2 * size"),
    "every rank keeps everything": (KEPT, "kept = size\n"),
    "what is left of the division is kept by nobody": (KEPT, "kept = size // n\n"),
    "what is left of the division is kept by every rank": (KEPT, "kept = -(-size // n)\n"),
    "the last rank keeps all that is left of the division": (
        KEPT,
        f"kept = size // n + size % n * {LAST}\n",
    ),
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
    passed="Right: 23 wrong reports found, three right ones passed.",
)
PARTS = "[[([6, 0, 1, 2, 3], 1), ([4, 2, 9, 8, 1], 9)], [], [([10, 8, 0, 5, 1], 10)]]"
WANT, SUM = "[1, 0.5, 0.5, 0.75, 0.25]", 'abs(sum(one["sent"] for one in told) - 2 * 2 * 5) < 1e-6'
NEAR = f'all(abs(a - b) < 1e-6 for a, b in zip(one["mean"], {WANT}))'
for _says, _thought, _old, _new in [
    (
        "the first rank alone",
        "the first rank is not looked at",
        "for one in told:",
        "for one in told[1:]:",
    ),
    (
        "the last rank alone",
        "the last rank is not looked at",
        "for one in told:",
        "for one in told[:-1]:",
    ),
    (
        "more than P numbers",
        "numbers in pairs, not counted",
        '        assert len(one["mean"]) == 5\n',
        "",
    ),
    ("got through", "how many ranks is free", "    assert len(told) == 3\n", ""),
    ("got through", "a tolerance of one", "1e-6 for a", "1.0 for a"),
    ("one part in 1,000", "a tolerance of 0.05", "1e-6 for a", "0.05 for a"),
    ("got through", "the first number alone", NEAR, 'abs(one["mean"][0] - 1) < 1e-6'),
    ("back to front", "the sum of the mean", NEAR, 'abs(sum(one["mean"]) - 3) < 1e-6'),
    ("one number too many", "sent to within two", "5) < 1e-6", "5) < 2"),
    (
        "got through",
        "no idle rank",
        PARTS,
        "[[([6, 0, 1, 2, 3], 1)], [([4, 2, 9, 8, 1], 9)], [([10, 8, 0, 5, 1], 10)]]",
    ),
    ("got through", "kept is never counted", "sum(kept) == 5 and ", ""),
    ("got through", "the spread of kept is free", " and max(kept) - min(kept) <= 1", ""),
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
