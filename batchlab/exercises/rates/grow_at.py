"""Find the setting: the earliest growth of the batch that costs no loss.

Words
    growth   examples seen when the batch of a noisy quadratic model grows
"""

from functools import cache

import numpy as np

from batchlab.exercises import Exercise

EXAMPLES, SMALL, TIMES, RATE = 15_120, 4, 8, 0.1
GROWTHS = tuple(range(0, EXAMPLES + 1, 280))
POWERS = {"stays": 0.0, "x root of k": 0.5, "x k": 1.0}


@cache
def growth(at, rate):
    """Final loss, steps, and the loss along the examples, if the batch grows 8 times at `at`.

    A noisy quadratic (Zhang et al. 2019): 200 directions of curvature 1 / i, gradients whose
    variance is the curvature. What SGD does to each direction on average is known exactly.
    """
    curve = 1 / np.arange(1, 201)
    state, seen, steps, along = np.ones(200), 0, 0, []
    while seen < EXAMPLES:
        batch = SMALL * (TIMES if seen >= at else 1)
        each = RATE * (TIMES ** POWERS[rate] if seen >= at else 1)
        state = (1 - each * curve) ** 2 * state + each**2 * curve / batch
        if seen * 60 // EXAMPLES < (seen + batch) * 60 // EXAMPLES:
            along.append(float((curve * state).sum() / 2))
        seen, steps = seen + batch, steps + 1
    return float((curve * state).sum() / 2), steps, tuple(along)


def ratio(at, rate):
    """The final loss, of that without growth."""
    return growth(at, rate)[0] / growth(EXAMPLES, "stays")[0]


def earliest(rate):
    return min(at for at in GROWTHS if ratio(at, rate) <= 1)


def grow_at():
    """Examples seen at the earliest growth that costs no loss, where the rate stays."""
    return 6440


def why(got):
    """What is wrong with any answer."""
    at = float(got)
    if at not in GROWTHS:
        return "the slider does not offer it: asked is a place of the slider, in examples"
    if at == earliest("x root of k"):
        return "that is the earliest of the rate that takes the root of k: set 'stays'"
    if at == min(GROWTHS, key=lambda one: ratio(one, "stays")):
        return "that is the growth with the lowest loss: asked is the earliest without a loss"
    late = at > earliest("stays")
    return "an earlier growth costs nothing either" if late else "this one ends at a higher loss"


def growths(rate):
    """The loss of an early, a middle and a late growth, over that of the run without any."""
    from batchlab import plots

    without = np.array(growth(EXAMPLES, "stays")[2])
    lines = {"never": ([0, EXAMPLES], [1.0, 1.0])}
    for at in (1680, 5040, 13_440):
        first = at * 60 // EXAMPLES - 1
        along = (np.array(growth(at, rate)[2]) / without)[first:]
        lines[f"at {at:,}"] = ([EXAMPLES * (n + 1) / 60 for n in range(first, 60)], along.tolist())
    title, y = f"Batch x {TIMES}; the rate {rate}", "held-out loss, of that without growth"
    return plots.lines(lines, title=title, x="examples", y=y)


def scene(at, rate):
    """What the finder shows beside its sliders."""
    steps = growth(at, rate)[1]
    return {
        "facts": {
            "final loss, of that without growth": f"{ratio(at, rate):.3f}",
            "steps": f"{steps:,}",
            "steps saved": f"{1 - steps / growth(EXAMPLES, 'stays')[1]:.0%}",
        }
    }


def finder():
    from batchlab import widgets

    at = ("examples seen at the growth", list(GROWTHS))
    return widgets.finder(
        "A batch that grows",
        {"at": at, "rate": ("the rate then", list(POWERS))},
        scene,
        goal="The rate stays: the earliest growth that ends no higher than without.",
        start={"at": 10_080, "rate": "x k"},
        where=lambda at, rate: (at, rate) == (earliest("stays"), "stays"),
    )


exercise = Exercise(
    grow_at,
    hints=(
        "set 'stays', and move the growth earlier while the final loss is at most 1.000 of that "
        "without",
    ),
    asked=lambda: "the earliest growth that ends no higher, where the rate stays",
    explain=why,
    shown=[()],
    secret=True,
    whole=False,
    passed="Right: half of the steps saved, at no loss; later growths even win.",
)
for _said, _value in {
    "an earlier growth costs nothing either": "6720",
    "this one ends at a higher loss": "5040",
    "asked is the earliest without a loss": "12_040",
    "set 'stays'": "4200",
    "the slider does not offer it": "23",
    "text was returned": "'6440'",
}.items():
    exercise.edit(_said, [("6440", _value)])


@exercise.style
def a_float():
    """as a float"""
    return 6440.0


@exercise.style
def of_numpy():
    """an integer of NumPy"""
    return np.int64(6440)
