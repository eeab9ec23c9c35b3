"""Equal epochs, equal steps: the steps of two batches, and the epochs for equal steps."""

import numpy as np

from batchlab.exercises import Exercise


def updates(examples, epochs, small, large):
    """{"small": steps, "large": steps, "epochs": of the large batch for equal steps}."""
    each = -(-examples // large)
    steps = epochs * -(-examples // small)
    return {"small": steps, "large": epochs * each, "epochs": steps / each}


def asked(examples, epochs, small, large):
    return f"updates of {examples} examples, {epochs} epochs, batches of {small} and {large}"


def drawn(rng):
    for _ in range(20):
        small = int(rng.integers(1, 40))
        large = small * int(rng.integers(2, 20)) + int(rng.integers(0, 5))
        yield int(rng.integers(1, 10**6)), int(rng.integers(1, 30)), small, large
    yield 3_000_000_001, 2, 7, 1000
    yield 20_000_001, 2, 1000, 10_000_000
    yield int(rng.integers(2, 9)), 3, int(rng.integers(1, 9)), 64


exercise = Exercise(
    updates,
    asked=asked,
    hints=(
        "steps of one epoch: examples / batch, rounded up, in whole numbers",
        "times the epochs, after rounding",
        "epochs for equal steps: all steps of the small batch / steps of one epoch of the large one",
    ),
    shown=[(1100, 3, 16, 90), (256, 20, 8, 128)],
    drawn=drawn,
    passed="Right: 20 epochs are 640 updates for one batch, 40 for the other.",
)
EACH, STEPS = "-(-examples // large)", "epochs * -(-examples // small)"
SMALL, LARGE, RATIO = 'return {"small": steps', '"large": epochs * each', "steps / each"
for _thought, *_changes in [
    (
        "rounded down: the short batch at the end of an epoch is a step, too",
        (EACH, "examples // large"),
        (STEPS, "epochs * (examples // small)"),
    ),
    (
        "rounded to the nearest: the short batch at the end of an epoch is a step, too",
        (EACH, "round(examples / large)"),
        (STEPS, "epochs * round(examples / small)"),
    ),
    (
        "one step more in each epoch: where the batch divides the examples, none is short",
        (EACH, "examples // large + 1"),
        (STEPS, "epochs * (examples // small + 1)"),
    ),
    (
        "epochs run into each other: each ends with its own short batch",
        (STEPS, "-(-examples * epochs // small)"),
        (LARGE, '"large": -(-examples * epochs // large)'),
        (RATIO, "epochs * steps / -(-examples * epochs // large)"),
    ),
    (
        "the steps of one epoch: they are asked for all epochs",
        (STEPS, STEPS[9:]),
        (LARGE, '"large": each'),
    ),
    (
        "small and large are exchanged",
        (SMALL, 'return {"small": epochs * each'),
        (LARGE, '"large": steps'),
    ),
    (
        "the ratio of the batches: the last step of an epoch is short",
        (RATIO, "epochs * large / small"),
    ),
    ("how many times the steps, not in how many epochs", (RATIO, "steps / (epochs * each)")),
    ("rounded up: parts of an epoch count", (RATIO, "-(-steps // each)")),
    ("rounded down: parts of an epoch count", (RATIO, "steps // each")),
    (
        "upside down: the epochs of the small batch for the steps of the large one",
        (RATIO, "epochs * each / (steps / epochs)"),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit("a float is no count", [(SMALL, 'return {"small": float(steps)')], says="float")
exercise.edit(
    "a tuple",
    [
        (SMALL, "return (steps"),
        ('"large": epochs', "epochs"),
        ('"epochs": steps / each}', "steps / each)"),
    ],
    says="dict",
)
exercise.edit("no epochs", [(', "epochs": steps / each', "")], says="missing")


@exercise.style
def divided(examples, epochs, small, large):
    """divmod, and numbers of NumPy"""
    steps = {b: sum(divmod(examples, b)[:1]) + bool(examples % b) for b in (small, large)}
    equal = np.float64(steps[small] * epochs) / steps[large]
    return dict(epochs=equal, large=epochs * steps[large], small=np.int64(epochs * steps[small]))


@exercise.style
def ceiling(examples, epochs, small, large):
    """math.ceil"""
    import math

    one, other = math.ceil(examples / small) * epochs, math.ceil(examples / large)
    return {"small": one, "large": other * epochs, "epochs": one / other}
