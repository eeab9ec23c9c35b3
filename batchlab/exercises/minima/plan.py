"""A plan of runs that could come out either way: two arms, every rate, every seed."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from batchlab.exercises import Exercise

KEYS = ("batch", "rate", "seed", "steps")


def plan(small, large, rates, seeds, examples):
    """The runs: dictionaries with batch, rate, seed, steps."""
    for batch in (small, large):
        if examples % batch:
            raise ValueError(f"{examples} examples do not divide into batches of {batch}")
    shapes = {(small, examples // small), (large, examples // large), (large, examples // small)}
    return [
        {"batch": batch, "rate": rate, "seed": seed, "steps": steps}
        for batch, steps in sorted(shapes)
        for rate in rates
        for seed in seeds
    ]


right = plan


def fault(got, *case):
    """What is wrong with a list of runs; empty if each run is there once, in any order."""
    if not isinstance(got, list | tuple):
        return f"a {type(got).__name__}, no list"
    if not all(isinstance(one, Mapping) for one in got):
        return "no list of dictionaries, one for each run"
    for one in got:
        if lacking := [name for name in KEYS if name not in one]:
            return f"a run without {lacking[0]}"
        if extra := [name for name in one if name not in KEYS]:
            return f"a run with the key {extra[0]}: the runs of the small batch serve both arms"
    if any(isinstance(one["steps"], float) for one in got):
        return "steps as a float: divide with //"
    have, need = (
        Counter(tuple(float(one[name]) for name in KEYS) for one in runs)
        for runs in (got, right(*case))
    )
    return "" if have == need else _shapes(have, need) or _runs(have, need)


def _shapes(have, need):
    """Which pair of batch and steps is missing, or too many; empty if none is."""
    mine, right = ({(run[0], run[3]) for run in runs} for runs in (have, need))
    if right - mine:
        batch, steps = min(right - mine)
        if batch == min(right)[0]:
            return f"no run of batch {batch:.10g} with {steps:.10g} steps: both arms need it"
        arm = "steps" if steps == max(s for _, s in right) else "examples"
        return f"no run of batch {batch:.10g} with equal {arm}, {steps:.10g} steps"
    if mine - right:
        batch, steps = min(mine - right)
        return f"runs of batch {batch:.10g} with {steps:.10g} steps: no arm compares them"
    return ""


def _runs(have, need):
    """Which run is missing or stands there twice."""
    for place, what in ((1, "rate"), (2, "seed")):
        if strange := {run[place] for run in have} - {run[place] for run in need}:
            return f"the {what} {min(strange):.10g}, which nobody gave"
    run = min((need - have) or (have - need))
    said = f"batch {run[0]:.10g}, rate {run[1]:g}, seed {run[2]:.10g}, {run[3]:.10g} steps"
    if need - have:
        return f"no run of {said}: each rate meets each seed"
    return f"{said} stands there {have[run]} times: each run is paid once"


def named(small, large, rates, seeds, examples):
    """The batch that does not divide."""
    off = [batch for batch in (small, large) if examples % batch]
    return (off[0],) if off else ()


def drawn(rng):
    for _ in range(8):
        small, ratio = int(rng.integers(1, 20)), int(rng.integers(2, 9))
        rates = rng.uniform(0, 1, 5).round(3).tolist()
        seeds = rng.choice(99, 3, replace=False).tolist()
        yield small, small * ratio, rates, seeds, small * ratio * int(rng.integers(1, 50))
    yield 4, 6, [2e-9, 3.21e-5, 1.234567e-5, 0.5, 70.0], [3 * 10**9, 2**31], 12 * 357_913_943
    yield 6, 48, (0.4, 0.01, 0.1, 0.02), (7, 3, 5), 4 * 48
    yield 1, 3, np.array([0.5, 1, 2.0]), range(4), 3


exercise = Exercise(
    plan,
    points=2,
    fault=fault,
    mentions=named,
    hints=(
        "three shapes (batch, steps): the small batch; the large one with as many examples; the large one with as many steps",
        "a set of the three pairs, then three loops: shapes, rates, seeds",
        "refuse before you list: examples % batch, for both",
    ),
    shown=[
        (8, 32, [0.1, 0.2, 0.4, 0.8], [0, 1], 320),
        (8, 32, [1, 2, 3], [0, 1], 336),
        (9, 16, [1, 2, 3], [0, 1], 320),
    ],
    drawn=drawn,
    passed="Right: two arms, every rate, every seed, and no run paid twice.",
)
BY_EXAMPLES, BY_STEPS = "(large, examples // large), ", ", (large, examples // small)}"
BOTH, DIVIDES = "for batch in (small, large):", "if examples % batch:"
PAIRS, RUN = "        for rate in rates\n        for seed in seeds\n", ', "steps": steps}'
for _thought, *_changes in [
    (
        "with equal steps the large batch takes as many as the small one: that arm is missing",
        (BY_STEPS, "}"),
    ),
    (
        "with equal examples the large batch takes examples / batch steps: that arm is missing",
        (BY_EXAMPLES, ""),
    ),
    (
        "the small batch, too, is run: both arms compare with it",
        ("{(small, examples // small), ", "{"),
    ),
    (
        "the small batch was given the steps of the large one, too: no arm compares that",
        (BY_STEPS, BY_STEPS[:-1] + ", (small, examples // large)}"),
    ),
    (
        "the runs of the small batch were listed once for each arm: they serve both",
        ("sorted(shapes)", "[*sorted(shapes), min(shapes)]"),
    ),
    (
        "each rate meets each seed, not one rate one seed",
        (PAIRS, "        for rate, seed in zip(rates, seeds)\n"),
    ),
    ("steps are counted in whole numbers", (RUN, ', "steps": float(steps)}')),
    (
        "each run has an arm of its own: the runs of the small batch serve both",
        (RUN, ', "steps": steps, "arm": "steps"}'),
    ),
    ("a run without its steps: the arms differ in them", (RUN, "}")),
    (
        "tuples in place of dictionaries",
        (
            '{"batch": batch, "rate": rate, "seed": seed, "steps": steps}',
            "(batch, rate, seed, steps)",
        ),
    ),
    (
        "the large batch does not divide the examples: refuse, and name it",
        (BOTH, "for batch in (small,):"),
    ),
    (
        "the large batch does not divide the examples: refuse, and name it",
        (DIVIDES, "if False:"),
    ),
    (
        "the small batch does not divide the examples: refuse, and name it",
        (BOTH, "for batch in (large,):"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("the refusal does not name the batch", "without", (" into batches of {batch}", "")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def in_loops(small, large, rates, seeds, examples):
    """loops, a tuple of runs, the order as given"""
    for batch in (small, large):
        if examples % batch != 0:
            raise ValueError(f"batch {batch} does not divide {examples}")
    runs = []
    for batch, steps in [
        (small, examples // small),
        (large, examples // large),
        (large, examples // small),
    ]:
        for rate in rates:
            for seed in seeds:
                runs.append({"batch": batch, "rate": rate, "seed": seed, "steps": np.int64(steps)})
    return tuple(runs)
