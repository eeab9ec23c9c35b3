"""A napkin formula: the slower side sets the pace."""

from batchlab.exercises import Exercise


def loop_seconds(build, take, step, workers):
    """Seconds for each micro-batch: of building, taking over and the step; any number of workers."""
    if workers == 0:
        return build + step
    return max(take + step, build / workers)


def drawn(rng):
    for workers in (0, 1, 1, 2, 2, 3, 5, 8, 24, 100):
        build, take, step = (float(one) for one in rng.uniform(0.01, 1, 3) * [3, 0.1, 1])
        yield build * max(workers, 1), take, step, workers
        yield build, take, step, workers
        yield build, take + step, step, workers


exercise = Exercise(
    loop_seconds,
    hints=(
        "two things run side by side: which of them is slower?",
        "the loop needs take + step, the workers together build / workers; 0 is another case",
    ),
    asked=lambda build, take, step, workers: (
        f"seconds a micro-batch: build {build:g}, take {take:g}, step {step:g}, {workers} workers"
    ),
    shown=[
        (5.4, 0.25, 0.5, 2),
        (3.2, 0.4, 1.0, 4),
        (0.3, 0.1, 0.4, 0),
        (0.14, 0.04, 0.1, 1),
    ],
    drawn=drawn,
    passed="Right: workers shorten the waiting until the step sets the pace, and no further.",
)
PACE, ALONE = "max(take + step, build / workers)", "        return build + step"
for _thought, *_changes in [
    ("the sum: workers build while the step runs", (PACE, "take + step + build / workers")),
    ("the sum, as if nothing ran side by side", (PACE, "take + step + build")),
    (
        "without workers nothing is handed over: no `take`",
        (ALONE, "        return build + take + step"),
    ),
    (
        "no worker is not one: without workers the loop builds, and then steps",
        (ALONE, "        return max(take + step, build)"),
    ),
    (
        "`take` is forgotten: the loop itself takes each micro-batch over",
        (PACE, "max(step, build / workers)"),
    ),
    ("`take` belongs to the loop, not to the workers", (PACE, "max(step, take + build / workers)")),
    ("the workers do not help: divide the building by them", (PACE, "max(take + step, build)")),
    (
        "the smaller of the two: the slower side sets the pace",
        (PACE, "min(take + step, build / workers)"),
    ),
    ("workers do not share the step", (PACE, "max(take + step, build) / workers")),
    (
        "the seconds of waiting alone: asked is the time of a micro-batch",
        (PACE, "max(0.0, build / workers - take - step)"),
    ),
    (
        "the loop builds nothing where there are workers: divide by them alone",
        (PACE, "max(take + step, build / (workers + 1))"),
    ),
    (
        "one worker builds beside the step, too: only without any the loop builds",
        ("workers == 0", "workers <= 1"),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit("divided by no workers", [("workers == 0", "workers < 0")], says="ZeroDivisionError")


@exercise.style
def with_if(build, take, step, workers):
    """with if"""
    if not workers:
        return step + build
    ready = build / workers
    return ready if ready > step + take else step + take


@exercise.style
def with_numpy(build, take, step, workers):
    """with NumPy"""
    import numpy as np

    return np.maximum(take + step, build / workers) if workers else np.float64(build + step)
