"""A loader by its rules: how long the loop waits for each micro-batch."""

from functools import cache

import numpy as np

from batchlab import lengths
from batchlab.exercises import Exercise

STEP_SECONDS, BUILDS = 0.040, 400  # of the page's picture
SECONDS_PER_TOKEN, ROWS, FULL = 1e-4, 8, 40  # so many micro-batches pass before waits are counted


def waits(builds, step, workers, prefetch):
    """Seconds that the loop waits for each micro-batch."""
    free, now = [0.0] * workers, 0.0
    taken, waited = [], []
    for number, seconds in enumerate(builds):
        before = number - workers * prefetch
        begun = max(free[number % workers], taken[before] if before >= 0 else 0.0)
        free[number % workers] = ready = begun + seconds
        waited.append(max(0.0, ready - now))
        now = max(now, ready)
        taken.append(now)
        now += step
    return waited


@cache
def build_seconds():
    """Of micro-batches of 8 random documents, at 0.1 ms a token."""
    rng = np.random.default_rng(10)
    tokens = lengths.embedded()
    order = rng.permutation(len(tokens))[: BUILDS * ROWS].reshape(BUILDS, ROWS)
    return tuple((SECONDS_PER_TOKEN * tokens[order].sum(axis=1)).tolist())


def share(yours, workers, prefetch):
    """Share of the time that the loop of the page waits, once the loader has filled up."""
    found = yours(list(build_seconds()), STEP_SECONDS, workers, prefetch)[FULL:]
    return sum(found) / (sum(found) + STEP_SECONDS * len(found))


def drawn(rng):
    for number in range(24):
        many = int(rng.integers(4, 14))
        builds = rng.integers(1, 12, many).astype(float).tolist()
        workers, prefetch = (int(one) for one in rng.integers(1, 5, 2))
        yield builds, float(rng.integers(1, 6)), workers, prefetch
    yield rng.uniform(0.1, 3, 2000).tolist(), 0.5, 3, 2


exercise = Exercise(
    waits,
    points=2,
    hints=(
        "keep three things: when each worker is free, when each micro-batch was taken, and the "
        "loop's clock",
        "begun = the later of: the worker is free; number - workers * prefetch was taken",
        "wait = max(0, ready - now); then now = max(now, ready), note it as taken, and add the step",
    ),
    asked=lambda builds, step, workers, prefetch: (
        f"waits for builds {builds if len(builds) < 9 else f'of {len(builds)} micro-batches'}, "
        f"step {step}, {workers} workers, prefetch {prefetch}"
    ),
    shown=[
        ([6.0, 4.0, 5.0, 7.0], 1.0, 2, 3),
        ([2.0, 9.0, 5.0, 1.0], 1.0, 1, 2),
        ([4.0, 6.0, 3.0, 7.0], 1.0, 2, 1),
        ([1.0, 1.0, 1.0, 1.0, 9.0], 2.0, 1, 1),
    ],
    drawn=drawn,
    passed="Right: prefetch evens out slow micro-batches; it replaces no worker that is missing.",
)
BEGUN, TAKEN = (
    "max(free[number % workers], taken[before] if before >= 0 else 0.0)",
    "        taken.append(now)\n",
)
WAIT, NOW, BEFORE = (
    "max(0.0, ready - now)",
    "        now = max(now, ready)\n",
    "number - workers * prefetch",
)
for _thought, *_changes in [
    ("nothing bounds the workers: a new micro-batch begins when an old one is taken", (BEGUN, "free[number % workers]")),
    ("a worker builds one after the other: it must be free as well", (BEGUN, "taken[before] if before >= 0 else 0.0")),
    ("a worker builds one after the other: it must be free as well", (BEGUN, "taken[before] if before >= 0 else free[number % workers]")),
    ("`prefetch` is of each worker: all hold workers * prefetch", (BEFORE, "number - prefetch")),
    ("one more than the bound is under way: the taken one makes room", (BEFORE, "number - workers * prefetch - 1")),
    ("the bound counts workers alone: each may be `prefetch` ahead", (BEFORE, "number - workers")),
    ("one worker builds all: they take turns, number % workers", ("free[number % workers] = ready", "free = [begun + seconds] * workers; ready"),),
    ("a loop that is late waits for nothing: no wait is below 0", (WAIT, "ready - now")),
    ("the clock stands still while it waits: it goes on when the micro-batch is ready", (NOW, "")),
    ("the step is forgotten: the loop works between two micro-batches", ("        now += step\n", "")),
    ("room is made when a micro-batch is taken, not when its step is over", (TAKEN, "        taken.append(now + step)\n")),
    ("the moments at which they are ready: asked is how long the loop waits", (WAIT, "ready")),
    ("the next free worker takes it: by the rules worker number % workers does", ("        before =", "        free.sort()\n        before ="), ("max(free[number % workers],", "max(free[0],"), ("free[number % workers] = ready", "free[0] = ready")),
    ("workers build ahead: they do not begin when the loop asks", (BEGUN, "max(free[number % workers], now)")),
    ("number // workers counts rounds: the worker is number % workers", (BEGUN, BEGUN.replace("%", "//")), ("free[number % workers] = ready", "free[number // workers] = ready")),
    ("a loop that is late waits for nothing, and its clock never goes back", (WAIT, "ready - now"), (NOW, "        now = ready\n")),
    ("before is negative for the first ones: nothing bounds them, and taken[-1] is another micro-batch", (BEGUN, BEGUN.replace(" if before >= 0 else 0.0", ""))),
    ("the loop asks for the first one at 0: a step follows a micro-batch", ("[0.0] * workers, 0.0", "[0.0] * workers, step")),
    ("the sum: asked is the wait for each", ("    return waited", "    return sum(waited)")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.style
def by_worker(builds, step, workers, prefetch):
    """ready times from both bounds, arrays"""
    ready, taken = np.zeros(len(builds)), np.zeros(len(builds))
    found, now = np.zeros(len(builds)), 0.0
    for i, seconds in enumerate(builds):
        own = ready[i - workers] if i >= workers else 0.0
        room = taken[i - workers * prefetch] if i >= workers * prefetch else 0.0
        ready[i] = max(own, room) + seconds
        taken[i] = max(now, ready[i])
        found[i] = taken[i] - now
        now = taken[i] + step
    return found


@exercise.mistake
def by_the_pace(builds, step, workers, prefetch):
    """build / workers - step is a mean over many: here each micro-batch waits by its own times"""
    return [max(0.0, build / workers - step) for build in builds]
