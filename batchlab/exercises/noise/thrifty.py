"""The fewest tokens among the batches that are nearly fastest."""

from batchlab.exercises import Exercise


def thrifty(critical, fixed, each, slower):
    """The smallest batch that takes at most `slower` times the least time to the target."""

    def time(batch):
        return (1 + critical / batch) * (fixed + each * batch)

    high = (critical * fixed / each) ** 0.5
    limit, low = slower * time(high), 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if time(middle or 1e-300) <= limit else (middle, high)
    return high


def drawn(rng):
    for _ in range(30):
        critical, fixed = float(rng.uniform(20, 9000)), float(rng.uniform(1e-3, 2))
        yield critical, fixed, float(rng.uniform(1e-5, 1e-2)), float(rng.uniform(1.02, 1.6))
    yield 90.0, 0.03, 0.002, 1.0001


def explain(got, critical, fixed, each, slower):
    """What a number says by itself: no batch, or one of a grid."""
    if not got > 0:
        return "no batch is below 0: look at the signs, and at the brackets around 2 * each"
    near = abs(got / thrifty(critical, fixed, each, slower) - 1) < 2e-3
    return (
        "nearly: batches of a grid were tried; solve for it, or halve an interval" if near else ""
    )


exercise = Exercise(
    thrifty,
    points=3,
    rel=1e-5,
    whole=False,
    explain=explain,
    asked="the smallest nearly fastest batch: critical {:g}, fixed {:g} s, each {:g} s, slower {:g}".format,
    hints=(
        "the least time lies at B* = (critical * fixed / each) ** 0.5; the steps' factor cancels",
        "below B* the time only falls: halve the interval from 0 to B* until it is small",
        "or solve each B**2 - (slower T* - fixed - critical each) B + critical fixed = 0: its smaller root",
    ),
    shown=[(250, 5e-3, 2e-4, 1.1)],
    drawn=drawn,
    passed="Right: near the fastest batch the time is flat, and the tokens are not.",
)
HIGH, LIMIT, TIME = (
    "(critical * fixed / each) ** 0.5",
    "slower * time(high)",
    "(1 + critical / batch) * (fixed + each * batch)",
)
END = "    return high"
for _thought, *_changes in [
    ("that is the fastest batch: which smaller one is nearly as fast?", (END, f"    return {HIGH}")),
    ("the larger batch that is as slow: it takes more tokens", (END, "    return critical * fixed / each / high")),
    ("the batch falls by that factor, but the time rises less: it is flat there", (END, f"    return {HIGH} / slower")),
    ("the critical batch is of steps and tokens: what a step costs is missing", (END, "    return critical")),
    ("the share that is lost, not the factor", (LIMIT, "(1 + slower) * time(high)")),
    ("a step costs each * batch as well: only the fixed seconds were counted", (TIME, "(1 + critical / batch) * fixed + each * batch")),
    ("the steps fall with the batch: (1 + critical / batch) of the least", (TIME, "critical / batch * (fixed + each * batch)")),
    ("`slower` bounds the time, steps x seconds: not the steps alone", (END, "    return critical / (slower * (1 + critical / high) - 1)")),
    ("multiplied out, T has four terms: `slower` times all four, also the two that do not depend on the batch", (END, f"    return {HIGH} * (slower - (slower**2 - 1) ** 0.5)")),
    ("exchanged: fixed is paid once a step, each for every sequence", (HIGH, "(critical * each / fixed) ** 0.5"), (TIME, "(1 + critical / batch) * (each + fixed * batch)")),
    ("each * critical is missing: T has four terms", (LIMIT, "slower * time(high) + each * critical")),
    ("fixed is missing: T has four terms", (LIMIT, "slower * time(high) + fixed")),
    ("`slower` times one step's seconds: the time of the whole run is asked", (END, "    return max((slower * (fixed + each * high) - fixed) / each, 0)")),
    ("rounded: keep all digits", (END, "    return round(high)")),
    ("tokens per step and steps: E(B) alone, without the seconds", (END, "    return (slower - 1) * critical")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.mistake
def whole_batches(critical, fixed, each, slower):
    """only whole batches, or those of a grid, were tried: solve for it, or halve an interval"""

    def time(batch):
        return (1 + critical / batch) * (fixed + each * batch)

    limit = slower * time((critical * fixed / each) ** 0.5)
    return next(batch for batch in range(1, 10**6) if time(batch) <= limit)


@exercise.style
def smaller_root(critical, fixed, each, slower):
    """the smaller root of a quadratic"""
    least = (fixed**0.5 + (critical * each) ** 0.5) ** 2
    b = slower * least - fixed - critical * each
    root = (b * b - 4 * each * critical * fixed) ** 0.5
    return 2 * critical * fixed / (b + root)


@exercise.style
def newton(critical, fixed, each, slower):
    """Newton's steps from the left, where the time is convex"""
    best = (critical * fixed / each) ** 0.5
    limit = slower * (1 + critical / best) * (fixed + each * best)
    batch = best / 1e4
    for _ in range(100):
        gap = (1 + critical / batch) * (fixed + each * batch) - limit
        batch -= gap / (each - critical * fixed / batch**2)
    return batch
