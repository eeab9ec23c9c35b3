"""The fewest sequences among the batches that are nearly fastest to a target."""

from batchlab.exercises import Exercise


def thrifty(reached, fixed, each, slower):
    """The batch with the fewest sequences among those within `slower` times the least time."""
    seconds = {batch: steps * (fixed + each * batch) for batch, steps in reached.items()}
    limit = slower * min(seconds.values())
    allowed = [batch for batch in reached if seconds[batch] <= limit]
    return min(allowed, key=lambda batch: batch * reached[batch])


def drawn(rng):
    """Runs near a curve, with some luck in their steps; a limit lies beside no run."""
    made = 0
    while made < 24:
        least, critical = float(rng.uniform(50, 5000)), float(rng.uniform(10, 3000))
        batches = sorted({int(b) for b in 2 ** rng.uniform(0, 13, int(rng.integers(3, 12)))})
        luck = rng.uniform(0.85, 1.15, len(batches))
        reached = {
            b: round(least * (1 + critical / b) * k) for b, k in zip(batches, luck, strict=True)
        }
        fixed, each = float(rng.uniform(1e-3, 2)), float(rng.uniform(1e-5, 1e-2))
        slower = float(rng.uniform(1.02, 1.6))
        seconds = [steps * (fixed + each * b) for b, steps in reached.items()]
        apart = min(abs(one / (slower * min(seconds)) - 1) for one in seconds)
        used = [b * steps for b, steps in reached.items()]
        if apart > 1e-6 and len({*used}) == len(used):
            made += 1
            yield reached, fixed, each, slower


def explain(got, reached, fixed, each, slower):
    """What the wished run takes, or that no batch came back."""
    if got not in reached:
        return "return a batch, one of the keys of `reached`"
    seconds = {batch: steps * (fixed + each * batch) for batch, steps in reached.items()}
    if seconds[got] > slower * min(seconds.values()):
        return (
            f"its run takes {seconds[got]:.6g} s, the fastest {min(seconds.values()):.6g} s: "
            f"more than {slower:g} times as long"
        )
    return "it is fast enough; another one is, too, with fewer sequences"


def asked(reached, fixed, each, slower):
    some = dict(list(reached.items())[:7])
    more = f" and {len(reached) - 7} more" if len(reached) > 7 else ""
    return f"thrifty({some}{more}, {fixed:g}, {each:g}, {slower:g})"


LUCKY = {1: 31000, 2: 17000, 4: 12000, 8: 4400, 32: 1600, 64: 680, 256: 390, 512: 790, 1024: 770}
PAGE = {16: 1000, 64: 400, 256: 200}
exercise = Exercise(
    thrifty,
    points=3,
    whole=False,
    explain=explain,
    asked=asked,
    hints=(
        "seconds of each run first, in a dictionary: steps * (fixed + each * batch)",
        "then a list: the batches whose seconds are at most slower * min(seconds.values())",
        "min(that list, key=lambda batch: batch * reached[batch])",
    ),
    shown=[
        ({1: 36000, 2: 25000, 8: 3800, 16: 2800, 32: 2400, 128: 1100, 256: 890}, 0.2, 0.01, 1.25),
        ({1: 24000, 4: 6200, 8: 2900, 32: 950, 64: 990, 256: 530}, 0.5, 0.1, 2.0),
        (LUCKY, 0.2, 0.1, 1.1),
        ({4: 5300, 32: 1100, 128: 260, 256: 160, 512: 150, 1024: 82}, 2.0, 0.005, 2.0),
        (PAGE, 1.5, 0.01, 1.0),
    ],
    drawn=drawn,
    passed="Right: near the fastest batch the time is flat, and the sequences are not.",
)
SECONDS, COST = "steps * (fixed + each * batch)", "batch * reached[batch]"
LIMIT, END = (
    "slower * min(seconds.values())",
    "    return min(allowed, key=lambda batch: batch * reached[batch])",
)
RUN = "a step takes fixed + each * batch seconds, and a run takes steps times as long"
for _thought, _old, _new in [
    ("that is the fastest batch: which one is nearly as fast, with fewer sequences?", COST, "seconds[batch]"),
    ("the batch with most sequences a second: its epoch is short, its run is long", END, "    return max(reached, key=lambda batch: batch / (fixed + each * batch))"),
    ("the fewest sequences of all, however long it takes: only runs within the limit count", END, "    return min(reached, key=lambda batch: batch * reached[batch])"),
    ("the fewest steps: fewest sequences are asked, batch x steps", COST, "reached[batch]"),
    ("the smallest batch that is fast enough: with luck in its steps it may take more sequences", END, "    return min(allowed)"),
    (RUN, SECONDS, "fixed + each * batch"),
    (RUN, SECONDS, "steps * fixed"),
    (RUN, SECONDS, "steps * (fixed + each)"),
    (RUN, SECONDS, "steps * (fixed * batch + each)"),
    (RUN, SECONDS, "steps * fixed + each * batch"),
    ("a factor, not a share that is added: slower times the least", LIMIT, "(1 + slower) * min(seconds.values())"),
    ("return the batch itself, not its sequences", END, END.replace("return ", "return (lambda b: b * reached[b])(") + ")"),
]:  # fmt: skip
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "turned round: `slower` bounds the seconds, and the fewest sequences are asked",
    [
        ("seconds[batch] <= limit", f"{COST} <= slower * min(b * s for b, s in reached.items())"),
        (END, END.replace(COST, "seconds[batch]")),
    ],
)
exercise.edit(
    "`slower` may be 1: at most means <=, so that the fastest itself counts",
    [("seconds[batch] <= limit", "seconds[batch] < limit")],
    says="at most means <=",
)


@exercise.style
def one_loop(reached, fixed, each, slower):
    """one loop over sorted candidates"""
    least = min(s * (fixed + each * b) for b, s in reached.items())
    for used, batch in sorted((b * s, b) for b, s in reached.items()):
        if used / batch * (fixed + each * batch) <= slower * least * (1 + 1e-12):
            return batch


@exercise.style
def arrays(reached, fixed, each, slower):
    """arrays"""
    import numpy as np

    batch, steps = np.array(list(reached.items()), dtype=float).T
    time = steps * (fixed + each * batch)
    used = np.where(time <= slower * time.min(), batch * steps, np.inf)
    return int(batch[used.argmin()])
