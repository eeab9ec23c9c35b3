"""The right mean: nats over target tokens of the whole step."""

from batchlab.exercises import Exercise


def token_mean(means, counts):
    """Loss per target token of a step, from each micro-batch's mean loss and target tokens."""
    total = sum(mean * count for mean, count in zip(means, counts) if count)
    return total / sum(counts)


NAN, INF = float("nan"), float("inf")


def drawn(rng):
    for _ in range(20):
        many = int(rng.integers(1, 7))
        means, counts = rng.uniform(0.01, 9, many).tolist(), rng.integers(1, 90, many).tolist()
        yield means, counts
        yield [*means, NAN, 2.0], [*counts, 0, 3]
        yield [NAN, *means, NAN], [0, *counts, 0]
        at = int(rng.integers(0, many + 1))
        yield [*means[:at], NAN, *means[at:]], [*counts[:at], 5, *counts[at:]]
    yield means, counts[::-1]
    yield [2.0, INF], [900, 1]
    yield [2.5, 2.5, 7.0], [3, 5, 3]
    sizes = rng.integers(1, 200_000, 500).tolist()
    yield rng.uniform(0.1, 12, 500).tolist(), sizes


def asked(means, counts):
    if len(means) > 8:
        return f"{len(means)} means, and counts of {sum(counts):,} tokens in all"
    zero = " (0: it changes nothing)" * (0 in counts)
    return f"means {[round(one, 3) for one in means]} of {counts} tokens{zero}"


exercise = Exercise(
    token_mean,
    diverges=True,
    hints=(
        "how many nats are in each micro-batch, and how many in all?",
        "mean * count, added over the micro-batches that have targets",
        "divide that sum by sum(counts); skip by the count, not by looking for nan",
    ),
    asked=asked,
    shown=[
        ([2.0, 1.0], [10, 100]),
        ([3.0, NAN, 1.0], [6, 0, 2]),
        ([0.0, 0.0234567], [40, 31]),
        ([2.0, 1.0, NAN], [40, 50, 10]),
        ([2.0, INF, 1.0], [40, 10, 50]),
    ],
    drawn=drawn,
    points=2,
    passed="Right: 120 nats over 110 tokens are 1.0909 nats each.",
)


@exercise.mistake
def mean_of_means(means, counts):
    """the mean of the means: a token of a short micro-batch weighs too much"""
    return sum(means) / len(means)


@exercise.mistake
def nansum(means, counts):
    """nansum or a test for nan hides a training that has diverged: skip by the count"""
    import numpy as np

    return float(np.nansum(np.asarray(means) * counts) / sum(counts))


@exercise.mistake
def no_inf(means, counts):
    """what is inf is left out: a training that has diverged must show"""
    total = sum(m * n for m, n in zip(means, counts) if n and abs(m) != float("inf"))
    return total / sum(counts)


@exercise.mistake
def stops(means, counts):
    """it stops at a micro-batch without targets: others may follow"""
    total = tokens = 0
    for m, n in zip(means, counts):
        if n == 0:
            break
        total, tokens = total + m * n, tokens + n
    return total / tokens


@exercise.mistake
def no_zero(means, counts):
    """a loss of 0 is a loss: skip by the count, not by the mean"""
    pairs = [(m, n) for m, n in zip(means, counts) if m and n]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)


@exercise.mistake
def half(means, counts):
    """in half precision: use float32 or wider"""
    import torch

    m, n = torch.tensor(means, dtype=torch.bfloat16), torch.tensor(counts)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum())


TOTAL = "sum(mean * count for mean, count in zip(means, counts) if count)"
END = "total / sum(counts)"
for _thought, *_changes in [
    (
        "the counts are exchanged",
        (TOTAL, TOTAL.replace("counts) if count", "counts[::-1]) if count")),
    ),
    ("the sum: divide by the target tokens", (END, "total")),
    ("divided by the micro-batches: divide by the target tokens", (END, "total / len(counts)")),
    ("a mean is divided already: multiply each by its count first", (TOTAL, "sum(means)")),
    ("divided by the tokens and by the micro-batches", (END, "total / sum(counts) / len(counts)")),
    ("the means of the means, divided by the tokens", (TOTAL, "sum(means) / len(means)")),
    ("nothing times nan is nan: leave out what has no targets", (" if count)", ")")),
    (
        "one token less each: target tokens are counted already",
        (END, "total / (sum(counts) - len(counts))"),
    ),
    (
        "a micro-batch without targets counts as a token: it changes nothing",
        (END, "total / sum(max(n, 1) for n in counts)"),
    ),
    ("rounded to 4 digits: keep them all", (END, "round(total / sum(counts), 4)")),
    ("rounded to 2 digits: keep them all", (END, "round(total / sum(counts), 2)")),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "writes zeros into the means",
    [
        (
            TOTAL,
            "0.0\n    for k, n in enumerate(counts):\n        means[k] = means[k] if n else 0.0\n        total += means[k] * n",
        )
    ],
    says="changed",
)


@exercise.style
def loop(means, counts):
    """a loop"""
    nats = tokens = 0
    for m, n in zip(means, counts):
        if n == 0:
            continue
        nats += m * n
        tokens += n
    return nats / tokens


@exercise.style
def tensor(means, counts):
    """torch, a tensor without dimensions"""
    import torch

    m, n = torch.tensor(means), torch.tensor(counts)
    return (torch.where(n > 0, m, 0.0) * n).sum() / n.sum()


@exercise.style
def masked(means, counts):
    """NumPy with a mask"""
    import numpy as np

    means, counts = np.asarray(means), np.asarray(counts)
    return (means * counts)[counts > 0].sum() / counts.sum()


@exercise.style
def single(means, counts):
    """float32"""
    import numpy as np

    total = sum(np.float32(m) * n for m, n in zip(means, counts) if n > 0)
    return np.float32(total) / np.float32(sum(counts))
