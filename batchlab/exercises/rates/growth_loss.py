"""A batch that grows, on a noisy quadratic: the mean loss of SGD, known exactly."""

import numpy as np

from batchlab.exercises import Exercise

EXAMPLES, SMALL, TIMES, RATE = 15_120, 4, 8, 0.1  # of the page


def growth_loss(curves, rate, batch, times, at, examples):
    """The loss at the end, if from `at` examples on a step has `times` as many as `batch`."""
    state, seen = np.ones(len(curves)), 0
    while seen < examples:
        size = batch * (times if seen >= at else 1)
        state = (1 - rate * curves) ** 2 * state + rate**2 * curves / size
        seen += size
    return float((curves * state).sum() / 2)


def along(yours, at):
    """(examples, loss over that without growth) for the quadratic of the page, from the growth on."""
    curves, found = 1 / np.arange(1, 201), {}
    for seen in range(max(at, 280), EXAMPLES + 1, 280):
        never = yours(curves, RATE, SMALL, 1, 0, seen)
        found[seen] = float(yours(curves, RATE, SMALL, TIMES, at, seen)) / float(never)
    return list(found), list(found.values())


def drawn(rng):
    for number in range(16):
        curves = rng.uniform(0.05, 1.2, int(rng.integers(1, 6)))
        batch, times = int(rng.integers(1, 9)), int(rng.integers(2, 9))
        examples = int(rng.integers(30, 200))
        at = int(rng.integers(0, examples)) if number % 4 else examples
        yield curves, float(rng.uniform(0.02, 0.9)), batch, times, at, examples


exercise = Exercise(
    growth_loss,
    points=2,
    given=("np",),
    hints=(
        "a loop while examples are left: the size of this step, the new state, the examples seen",
        "state = (1 - rate * curves) ** 2 * state + rate ** 2 * curves / size",
        "at the end (curves * state).sum() / 2",
    ),
    asked=lambda curves, rate, batch, times, at, examples: (
        f"loss after {examples} examples, curves {np.round(curves, 3).tolist()}, rate {rate:.3g}, "
        f"batch {batch}, {times} times from {at} on"
    ),
    shown=[
        (np.array([1.0, 0.25]), 0.5, 2, 4, 6, 20),
        (np.array([1.0, 0.5]), 0.5, 3, 5, 40, 21),
        (np.array([0.8, 0.4]), 0.3, 2, 3, 5, 19),
        (np.array([1.0, 0.5]), 0.4, 2, 3, 0, 12),
    ],
    drawn=drawn,
    passed="Right: early growth loses steps, late growth loses noise.",
)
SIZE, STATE = (
    "batch * (times if seen >= at else 1)",
    "(1 - rate * curves) ** 2 * state + rate**2 * curves / size",
)
END, SEEN, LOOP = "float((curves * state).sum() / 2)", "seen += size", "while seen < examples"
for _thought, *_changes in [
    ("the noise is left out: its variance is the curvature over the batch", (STATE, "(1 - rate * curves) ** 2 * state")),
    ("the state is a mean square: the factor of a step is squared", (STATE, STATE.replace(") ** 2", ")"))),
    ("the noise takes the rate squared, as the state is a square", (STATE, STATE.replace("rate**2", "rate"))),
    ("the noise of a mean falls with the batch, not with its root", (STATE, STATE.replace("/ size", "/ size**0.5"))),
    ("the noise of the first batch stays: it falls when the batch grows", (STATE, STATE.replace("/ size", "/ batch"))),
    ("the rate stays: it does not grow with the batch", (STATE, STATE.replace("rate", "rate * size / batch"))),
    ("a step more examples, not one: the larger step sees more", (SEEN, "seen += batch")),
    ("it never grows", (SIZE, "batch")),
    ("it has grown from the beginning: only from `at` on", (SIZE, "batch * times")),
    ("from exactly `at` on it has grown, too", (SIZE, SIZE.replace(">=", ">"))),
    ("before `at` it is large, behind it small: the other way round", (SIZE, SIZE.replace(">=", "<"))),
    ("half is missing: the loss is half of curvature times square", (END, END.replace(" / 2", ""))),
    ("the squares without their curvatures", (END, "float(state.sum() / 2)")),
    ("the mean of the directions: add them", (END, "float((curves * state).mean() / 2)")),
    ("one step too many: it ends when the examples are seen", (LOOP, "while seen <= examples")),
    ("the last step is not taken if it is not full: it is", (LOOP, "while seen + batch <= examples")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.mistake
def after_the_step(curves, rate, batch, times, at, examples):
    """with `at` = 0 the first step is large already: choose its size before it"""
    state, seen, size = np.ones(len(curves)), 0, batch
    while seen < examples:
        state = (1 - rate * curves) ** 2 * state + rate**2 * curves / size
        seen += size
        size = batch * (times if seen >= at else 1)
    return float((curves * state).sum() / 2)


@exercise.style
def by_steps(curves, rate, batch, times, at, examples):
    """direction by direction"""
    sizes, seen = [], 0
    while seen < examples:
        sizes.append(batch if seen < at else batch * times)
        seen += sizes[-1]
    loss = 0.0
    for h in curves:
        s = 1.0
        for size in sizes:
            s = (1 - rate * h) ** 2 * s + rate * rate * h / size
        loss += h * s / 2
    return loss
