"""How many workers: the fewest with which the loop never waits, once it runs evenly."""

from batchlab.exercises import Exercise


def workers_needed(build, take, step):
    """The fewest workers that build as fast as the loop takes over and steps."""
    import math

    return math.ceil(build / (take + step))


def drawn(rng):
    """Seconds of all sizes, far enough from a whole number of workers that rounding decides nothing."""
    for _ in range(40):
        build, take, step = (float(one) for one in rng.uniform(0.01, 1, 3) * [3, 0.1, 1])
        workers = build / (take + step)
        if abs(workers - round(workers)) > 1e-3:
            yield build, take, step


exercise = Exercise(
    workers_needed,
    hints=(
        "the loop asks for a micro-batch every take + step seconds; how often does one worker deliver?",
        "w workers deliver one every build / w seconds: that must be at most take + step",
    ),
    asked="the fewest workers: build {:g}, take {:g}, step {:g}".format,
    shown=[(12.9, 0.2, 1.0), (0.31, 0.01, 0.09), (0.05, 0.02, 0.4)],
    drawn=drawn,
    passed="Right: workers shorten the waiting until the step sets the pace, and no further.",
)
VALUE = "math.ceil(build / (take + step))"
for _thought, _value in {
    "rounded down: the loop still waits": "math.floor(build / (take + step))",
    "rounded to the nearest: the loop must not wait": "round(build / (take + step))",
    "`take` is forgotten: the loop itself takes each micro-batch over": "math.ceil(build / step)",
    "`take` belongs to the loop: workers go on building meanwhile": "math.ceil((build + take) / step)",
    "one worker too many: these already keep up": "math.ceil(build / (take + step)) + 1",
    "upside down: slow building asks for more workers": "math.ceil((take + step) / build)",
    "two at least: one worker may keep up": "max(2, math.ceil(build / (take + step)))",
    "not whole: workers are": "build / (take + step)",
}.items():
    exercise.edit(_thought, [(VALUE, _value)])


@exercise.style
def one_by_one(build, take, step):
    """one worker more until they keep up"""
    workers = 1
    while build / workers > take + step:
        workers += 1
    return workers


@exercise.style
def negative_floor(build, take, step):
    """a floor of the negative"""
    return int(-(-build // (take + step)))
