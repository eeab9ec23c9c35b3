"""A napkin formula: the share of all ranks' time that is spent waiting."""

import numpy as np

from batchlab.exercises import Exercise


def idle(steps):
    """Share of all ranks' time spent waiting; `steps` has for each step the slots of each rank."""
    paid = sum(len(slots) * max(slots) for slots in steps)
    return 1 - sum(sum(slots) for slots in steps) / paid


def drawn(rng):
    for _ in range(15):
        steps = rng.integers(0, 900, (int(rng.integers(1, 9)), int(rng.integers(2, 9))))
        steps[:, 0] += 1
        yield (steps.tolist(),)
        yield (steps[:, ::-1].tolist() + [[7] + [0] * (steps.shape[1] - 1)],)
    yield ([[7]],)
    yield ([[5, 5, 5], [8, 8, 8]],)
    yield (rng.integers(1, 10**9, (700, 3)).tolist(),)


def asked(steps):
    many = f"{len(steps)} steps of {len(steps[0])} ranks"
    return f"share of the time spent waiting, slots {steps if len(str(steps)) < 80 else many}"


exercise = Exercise(
    idle,
    hints=(
        "how long does every rank of a step take part, working or waiting? As long as the slowest",
        "1 less worked over paid; paid is ranks x slowest of each step",
        "add up over the steps before you divide",
    ),
    asked=asked,
    shown=[
        ([[1600, 2240, 1920, 10240]],),
        ([[100, 90], [10, 30], [40, 20]],),
        ([[4, 0], [2, 2]],),
        ([[6, 2], [6, 2], [9, 0], [5, 3]],),
        ([[4, 0], [2, 0]],),
        ([[2993, 2992, 2993]],),
    ],
    drawn=drawn,
    share="the share that works: the rest is waiting",
    passed="Right: 60.9 % of the four devices' time, in the case of the text.",
)
PAID, WORKED = "len(slots) * max(slots) for slots in steps", "sum(slots) for slots in steps"
for _thought, *_changes in [
    (
        "per busy slot: divide by the time of all ranks",
        ("1 - sum(sum(slots) for slots in steps) / paid", f"paid / sum({WORKED}) - 1"),
    ),
    (
        "the slowest rank works, too: it belongs to the sum and to the ranks",
        (PAID, "(len(slots) - 1 or 1) * max(slots) for slots in steps"),
        (WORKED, "sum(slots) - max(slots) for slots in steps"),
    ),
    (
        "in slots: a share is asked",
        ("1 - sum(sum(slots) for slots in steps) / paid", f"paid - sum({WORKED})"),
    ),
    ("the first step only", ("    paid", "    steps = steps[:1]\n    paid")),
    (
        "equal steps are counted once: each takes its time",
        ("    paid", "    steps = set(map(tuple, steps))\n    paid"),
    ),
    (
        "the longest of all steps: every step waits for its own slowest",
        ("max(slots) for", "max(map(max, steps)) for"),
    ),
    (
        "ranks added up over steps: they wait in each step, not at the end",
        ("    paid", "    steps = [[sum(rank) for rank in zip(*steps)]]\n    paid"),
    ),
    (
        "a rank without work waits, too: it is one of the ranks",
        (PAID, "sum(one > 0 for one in slots) * max(slots) for slots in steps"),
    ),
    (
        "a rank that never works waits all the time: it is one of the ranks",
        (
            "    paid",
            "    steps = list(zip(*[rank for rank in zip(*steps) if any(rank)]))\n    paid",
        ),
    ),
    (
        "steps and ranks are exchanged: each inner list is one step",
        ("    paid", "    steps = list(zip(*steps)) if len(steps) > 1 else steps\n    paid"),
    ),
    (
        "times the steps: every rank of a step waits for its slowest",
        (PAID, "len(steps) * max(slots) for slots in steps"),
    ),
    ("the last step is left out", ("    paid", "    steps = steps[:-1] or steps\n    paid")),
]:
    exercise.edit(_thought, _changes)


@exercise.mistake
def mean_of_shares(steps):
    """the mean of the steps' shares: a long step weighs more; add up, divide once"""
    return sum(1 - sum(s) / (len(s) * max(s)) for s in steps) / len(steps)


@exercise.mistake
def slowest_less_fastest(steps):
    """slowest less fastest, of all ranks' time: add up what each rank waits"""
    return sum(max(s) - min(s) for s in steps) / sum(len(s) * max(s) for s in steps)


@exercise.mistake
def fastest_only(steps):
    """only the fastest rank: add up all"""
    return 1 - min(steps[0]) / max(steps[0])


@exercise.mistake
def ranks_that_wait(steps):
    """three of four ranks wait, but not all the time"""
    return sum(1 - 1 / len(s) for s in steps) / len(steps)


@exercise.mistake(says="changed")
def empties(steps):
    """empties the steps that it was given"""
    worked = paid = 0
    while steps:
        slots = steps.pop()
        worked, paid = worked + sum(slots), paid + len(slots) * max(slots)
    return 1 - worked / paid


@exercise.style
def loop(steps):
    """a loop"""
    paid = waits = 0
    for s in steps:
        for one in s:
            waits += max(s) - one
            paid += max(s)
    return waits / paid


@exercise.style
def float32(steps):
    """arrays of float32"""
    s = np.asarray(steps, dtype=np.float32)
    top = s.max(axis=1, keepdims=True)
    return (top - s).sum() / (top * np.ones_like(s)).sum()


@exercise.style
def fractions(steps):
    """a fraction"""
    from fractions import Fraction

    waiting = sum(max(slots) - one for slots in steps for one in slots)
    return Fraction(waiting, sum(len(slots) * max(slots) for slots in steps))
