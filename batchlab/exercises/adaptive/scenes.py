"""What the page of lesson 16 shows: published ramps, a controller on planted runs.

a controller  ->  what it does along planted runs, and what they cost
"""

import math

from batchlab import rates
from batchlab.exercises.adaptive import grown, of, reasons
from batchlab.exercises.adaptive.control import control as right
from batchlab.exercises.adaptive.live import compared, constant, ramped, trained
from batchlab.exercises.adaptive.planted import RUNS, sequences, walked

__all__ = [
    "PALM", "compared", "constant", "drawn", "ramped", "ramps", "steps_of", "taken", "trained",
    "worth",
]  # fmt: skip

PALM = [(one.from_tokens, one.tokens_per_step) for one in rates.PUBLISHED["palm-540b"].stages]


def ramps():
    """The published ramps as a table: first and last step, and whether the source was read."""
    lines = [f"{'run':<14}{'tokens/step':>14}{'at the end':>14}   reached at   source"]
    for name, ramp in rates.PUBLISHED.items():
        first, last = ramp.stages[0], ramp.last
        kind = "a straight line" if ramp.straight else f"{len(ramp.stages)} stages"
        read = "quoted by others" if ramp.second_hand else "its own report"
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
    return plots.lines(lines, title=f"Your controller: {name}", x="step", y="sequences", log_y=True)


def worth(sequences, base, noise_scale):
    """How many steps of `base` sequences one step of `sequences` is worth, by AdaScale's gain."""
    return (noise_scale / base + 1) / (noise_scale / sequences + 1)


def taken(controller, first, goal=3000):
    """(steps, sequences) until a planted run is as far as `goal` steps of 8 sequences.

    The noise scale grows from 10 to 2,000 with the way that is made, and is known exactly.
    """
    settings, state, made, steps, total = grown(of(4, 2), first), {}, 0.0, 0, 0
    while made < goal:
        low, now = 10 * 200 ** (made / goal), sequences(settings)
        made, steps, total = made + worth(now, 8, low), steps + 1, total + now
        reading = {"out_of_memory": False, "loss": 4.0, "low": low, "data": "web"}
        settings, state = controller(settings, state, reading, 256)
    return steps, total
