"""The share of input: a ratio of sums, behind the warm-up."""

from batchlab.exercises import Exercise


def input_share(seen, warmup):
    """The share of the loop's time that it waited for input, behind the warm-up."""
    waited = sum(wait for wait, step, built in seen[warmup:])
    stepped = sum(step for wait, step, built in seen[warmup:])
    return waited / (waited + stepped)


def drawn(rng):
    for _ in range(20):
        some = [tuple(one) for one in rng.uniform(0.01, 2, (int(rng.integers(4, 9)), 3)).tolist()]
        yield some, 0
        yield some, int(rng.integers(1, 4))
        yield some[::-1], 1
    yield [tuple(one) for one in (10 ** rng.uniform(-6, 6, (3000, 3))).tolist()], 1000


exercise = Exercise(
    input_share,
    hints=(
        "which seconds pass for the loop, and which pass beside it?",
        "two sums over seen[warmup:]: waited and stepped; what was built stands in neither",
    ),
    asked=lambda seen, warmup: (
        f"share of {seen if len(seen) < 6 else f'{len(seen):,} steps'}, warm-up {warmup}"
    ),
    shown=[
        ([(3.0, 1.0, 3.2), (0.6, 0.2, 1.0), (0.1, 0.4, 0.9), (0.2, 0.4, 0.5)], 1),
        ([(2.0, 1.0, 2.5), (0.7, 0.3, 0.5), (0.0, 0.25, 0.1), (0.3, 0.2, 0.7), (0, 0.05, 0.2)], 2),
        ([(0.00013, 0.25, 0.1), (0.00022, 0.06, 0.1)], 0),
        ([(0.4, 0.1, 0.3)] * 2 + [(0.1, 0.3, 0.2)], 0),
    ],
    drawn=drawn,
    share="the share of the step: asked is that of the waiting",
    passed="Right: what is built beside the step is no time of the loop.",
)
WAITED, STEPPED = (
    "wait for wait, step, built in seen[warmup:]",
    "step for wait, step, built in seen[warmup:]",
)
TOTAL, FIRST = "waited / (waited + stepped)", "    waited = "
BUILT = "sum(built for wait, step, built in seen[warmup:])"
for _thought, *_changes in [
    (
        "the workers' seconds stand in it: they build beside the step",
        (TOTAL, f"{BUILT} / ({BUILT} + stepped)"),
    ),
    (
        "the workers' seconds are added to the time: they pass beside the step",
        (TOTAL, f"waited / (waited + stepped + {BUILT})"),
    ),
    ("waiting per second of step: asked is its share of both", (TOTAL, "waited / stepped")),
    (
        "the share of the building that was waited for: asked is the share of the loop's time",
        (TOTAL, f"waited / {BUILT}"),
    ),
    (
        "the warm-up is counted: the workers' start is no part of a running step",
        (WAITED, WAITED.replace("[warmup:]", "")),
        (STEPPED, STEPPED.replace("[warmup:]", "")),
    ),
    (
        "the warm-up is left out of the waiting alone: leave it out of both sums",
        (STEPPED, STEPPED.replace("[warmup:]", "")),
    ),
    (
        "only one step is left out: `warmup` of them are",
        (FIRST, "    warmup = min(warmup, 1)\n" + FIRST),
    ),
    ("one step too many is left out", (FIRST, "    warmup += 1\n" + FIRST)),
    (
        "the last steps are left out: warm-up are the first",
        (FIRST, "    seen, warmup = seen[: len(seen) - warmup], 0\n" + FIRST),
    ),
    (
        "only the last steps: all but the first `warmup` count",
        (FIRST, "    seen, warmup = seen[-warmup:], 0\n" + FIRST),
    ),
    (
        "equal steps are counted once: each step counts",
        (FIRST, "    seen, warmup = list(set(seen[warmup:])), 0\n" + FIRST),
    ),
    (
        "a step that did not wait is left out: it counts, too",
        (FIRST, "    seen, warmup = [one for one in seen[warmup:] if one[0]], 0\n" + FIRST),
    ),
]:
    exercise.edit(_thought, _changes)


@exercise.mistake
def mean_of_shares(seen, warmup):
    """the mean of the steps' own shares: add first, divide once"""
    each = [wait / (wait + step) for wait, step, built in seen[warmup:]]
    return sum(each) / len(each)


@exercise.style
def with_numpy(seen, warmup):
    """with arrays"""
    import numpy as np

    waited, stepped, _ = np.asarray(seen)[warmup:].sum(axis=0)
    return waited / (waited + stepped)


@exercise.style
def one_pass(seen, warmup):
    """one pass"""
    waited = total = 0.0
    for number, (wait, step, _) in enumerate(seen):
        if number >= warmup:
            waited, total = waited + wait, total + wait + step
    return waited / total
