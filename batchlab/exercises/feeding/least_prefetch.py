"""Find the setting: the least prefetch of the fewest workers."""

from functools import cache

import numpy as np

from batchlab import lengths
from batchlab.exercises import Exercise

STEP_SECONDS, BUILDS = 0.040, 400  # of the simulation
SECONDS_PER_TOKEN, ROWS, FULL = 1e-4, 8, 40  # so many micro-batches pass before waits are counted
WORKERS, PREFETCH, GOAL = tuple(range(1, 9)), tuple(range(1, 13)), 0.01


def least_prefetch():
    """The least prefetch of each worker, at the fewest workers, with less than 1 % of waiting."""
    return 7


def simulated(builds, step_seconds, workers, prefetch):
    """Seconds that the loop waits for each micro-batch, with the rules of torch's DataLoader.

    Micro-batch i is built by worker i % workers and handed out in order. At most `prefetch` of each
    worker are under way or ready; a new one is begun when one is taken.

    >>> simulated([3, 1, 1, 1], 1, workers=1, prefetch=2)
    [3.0, 0.0, 0.0, 0.0]
    """
    free, now = [0.0] * workers, 0.0
    taken = []
    waits = []
    for number, seconds in enumerate(builds):
        before = number - workers * prefetch
        begun = max(free[number % workers], taken[before] if before >= 0 else 0.0)
        free[number % workers] = ready = begun + seconds
        waits.append(max(0.0, ready - now))
        now = max(now, ready)
        taken.append(now)
        now += step_seconds
    return waits


@cache
def build_seconds():
    """Of micro-batches of 8 random documents, at 0.1 ms a token."""
    rng = np.random.default_rng(10)
    tokens = lengths.embedded()
    order = rng.permutation(len(tokens))[: BUILDS * ROWS].reshape(BUILDS, ROWS)
    return tuple((SECONDS_PER_TOKEN * tokens[order].sum(axis=1)).tolist())


@cache
def waiting(workers, prefetch):
    """Share of the time that the simulated loop waits, once the loader has filled up."""
    waits = simulated(build_seconds(), STEP_SECONDS, workers, prefetch)[FULL:]
    return sum(waits) / (sum(waits) + STEP_SECONDS * len(waits))


def fewest():
    """(workers, prefetch): the fewest workers that reach the goal, then the least prefetch."""
    return min((w, p) for w in WORKERS for p in PREFETCH if waiting(w, p) < GOAL)


def fault(got):
    """What is wrong with a prefetch as the setting that `finder` asks for; empty if right."""
    workers, least = fewest()
    try:
        given = float(got) if not isinstance(got, str) else None
    except (TypeError, ValueError):
        given = None
    if given is None:
        return f"{got!r}; one number is asked: the prefetch of a worker"
    if given == least:
        return ""
    if given == workers:
        return f"{got}, a number of workers, or too few micro-batches: asked is the prefetch"
    if given == workers * least:
        return f"{got}, all micro-batches held: asked is the prefetch of one worker"
    if given not in PREFETCH:
        return f"{got}, which the slider does not offer"
    if given > least:
        return f"{got}; less prefetch is enough with as many workers"
    fits = [w for w in WORKERS if waiting(w, int(given)) < GOAL]
    more = f"{got}; {fits[0]} workers reach it so, but fewer can, too" if fits else ""
    return more or f"{got}; the loop still waits 1 % or more of its time"


def finder():
    """Workers and prefetch against the share that the loop waits; the goal is the cheapest."""
    from batchlab import widgets

    def scene(workers, prefetch):
        share = waiting(workers, prefetch)
        facts = {
            "the loop waits": f"{100 * share:.2f} % of its time",
            "seconds a micro-batch": f"{STEP_SECONDS / (1 - share):.4f}",
            "held at most": f"{workers * prefetch} micro-batches",
        }
        step, wait = round(100 * (1 - share)), round(100 * share)
        alt = f"A bar of 100: {step} of step, {wait} of waiting."
        return {"facts": facts, "rows": [[(0, step), (-1, wait)]], "alt": alt, "extent": 100}

    controls = {
        "workers": ("workers", list(WORKERS)),
        "prefetch": ("prefetch of each worker", list(PREFETCH)),
    }
    return widgets.finder(
        "Steps of 40 ms, micro-batches of unequal building time",
        controls,
        scene,
        goal="The fewest workers with which the loop waits less than 1 %, then the least prefetch.",
        where=lambda workers, prefetch: (workers, prefetch) == fewest(),
        down=lambda bars: "1 step",
        across="{} % of its time".format,
    )


exercise = Exercise(
    least_prefetch,
    hints=(
        "first the workers: with how many does even the largest prefetch not help?",
        "leave the workers there, and lower the prefetch while the waiting stays below 1 %",
    ),
    asked=lambda: "the least prefetch with less than 1 % of waiting, at the fewest workers",
    shown=[()],
    fault=fault,
    passed="Right: prefetch evens out slow micro-batches; it replaces no worker that is missing.",
)
for _thought, _says, _value in (
    ("the default", "5 workers", "2"),
    ("one short", "fewer can", "6"),
    ("one too many", "less prefetch is enough", "8"),
    ("all that are held", "one worker", "28"),
    ("the workers", "number of workers", "4"),
    ("a text", "one number", "'7 each'"),
    ("the least of all", "1 % or more", "1"),
):
    exercise.edit(_thought, [("return 7", f"return {_value}")], says=_says)


@exercise.style
def a_float():
    """a float"""
    return 7.0


@exercise.style
def of_numpy():
    """an int of NumPy"""
    import numpy as np

    return np.int64(7)
