"""What the page of lesson 16 shows: published ramps, a controller on planted runs.

a controller  ->  what it does along planted runs, beside the library
"""

import math

from batchlab import adapt, rates
from batchlab.exercises.adaptive import reasons
from batchlab.exercises.adaptive.control import control as right
from batchlab.exercises.adaptive.live import compared, constant, ramped, trained
from batchlab.exercises.adaptive.planted import RUNS, sequences, walked
from batchlab.noise import NoiseScale
from batchlab.plan import Plan

__all__ = [
    "PALM", "compared", "constant", "contest", "drawn", "library", "ramped", "ramps", "steps_of",
    "trained", "worth",
]  # fmt: skip

PALM = [(one.from_tokens, one.tokens_per_step) for one in rates.PUBLISHED["palm-540b"].stages]


def ramps():
    """The published ramps as a table: first and last step, and whether the source was read."""
    lines = [f"{'run':<14}{'from':>14}{'to':>14}   reached at   source"]
    for name, ramp in rates.PUBLISHED.items():
        first, last = ramp.stages[0], ramp.last
        kind = "straight line" if ramp.straight else f"{len(ramp.stages)} stages"
        read = "quoted by others" if ramp.second_hand else "read"
        lines.append(
            f"{name:<14}{first.tokens_per_step:>14,}{last.tokens_per_step:>14,}"
            f"{last.from_tokens / 1e9:>10,.1f} B   {read}; {kind}"
        )
    return "\n".join(lines)


def steps_of(name):
    """Settings, reading and the settings after it along a planted run; and its maximum."""
    run = RUNS[name]
    _, start, most, lows = run.arguments
    return walked(right, start, most, lows, **run.options), most


def library(name):
    """Rows and accumulation by the library's controllers along the same steps."""
    steps, most = steps_of(name)
    asked = [adapt.NoiseGuided(most=most, readings=2), adapt.BackOff()]
    found = []
    for number, (settings, reading, _) in enumerate(steps):
        low = reading["low"]
        measured = low is not None and low == low
        noise = NoiseScale(low, 1.0, 0.0, 0.0, 0.0, 40, 0) if measured else None  # of no width
        plan = Plan(settings["rows"], settings["accumulation"], settings["data_parallel"], 64)
        made = adapt.in_turn(asked, adapt.Signals(
            number, number, plan, settings["rate"], loss=reading["loss"], noise=noise,
            out_of_memory=reading["out_of_memory"],
        ))  # fmt: skip
        found.append((made.plan.rows, made.plan.accumulation))
    return found


def _driven(controller, steps, most):
    found = reasons.driven(controller, steps, most)
    if isinstance(found[-1], str):
        raise ValueError(found[-1])
    return found


def drawn(controller, name):
    """Readings along a planted run, and the sequences of the next step by a controller."""
    from batchlab import plots

    steps, most = steps_of(name)
    sizes = [sequences(one) for one in _driven(controller, steps, most)]
    lows = [math.nan if one[1]["low"] is None else one[1]["low"] for one in steps]
    places = range(1, len(sizes) + 1)
    lines = {"lower end of the noise scale": (places, lows), "your next step": (places, sizes)}
    return plots.lines(lines, title=f"Your controller: {name}", x="step", y="sequences")


def contest(controller):
    """Print where a controller and the library's part, run by run."""
    print(f"{'planted run':<42} {'yours ends at':>13} {'the library at':>14}   differs in")
    for name in RUNS:
        steps, most = steps_of(name)
        if steps[-1][-1] is None:
            continue  # refused by both
        yours = [(one["rows"], one["accumulation"]) for one in _driven(controller, steps, most)]
        theirs = library(name)
        apart = sum(a != b for a, b in zip(yours, theirs))
        first, second = (f"{one[-1][0]} x {one[-1][1]}" for one in (yours, theirs))
        print(f"{name:<42} {first:>13} {second:>14}   {apart} of {len(yours)} steps")


def worth(sequences, base, noise_scale):
    """How many steps of `base` sequences one step of `sequences` is worth, by AdaScale's gain."""
    return (noise_scale / base + 1) / (noise_scale / sequences + 1)
