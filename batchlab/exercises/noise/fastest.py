"""The fastest batch to the target, and its seconds."""

import numpy as np

from batchlab.exercises import Exercise


def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    batch = (critical * fixed / each) ** 0.5
    return batch, least_steps * (1 + critical / batch) * (fixed + each * batch)


def asked(least_steps, critical, fixed, each):
    return (
        f"{least_steps:g} least steps, critical batch {critical:g}, "
        f"{fixed:g} s a step and {each:g} s a sequence"
    )


def drawn(rng):
    for _ in range(8):
        least, critical = int(rng.integers(100, 9000)), round(float(rng.uniform(20, 9000)), 1)
        yield least, critical, float(rng.uniform(1e-3, 2)), float(rng.uniform(1e-5, 1e-2))
    yield from [(640, 90, 0.03, 0.002), (640, 90, 0.05, 0.002), (640, 70, 0.03, 0.002)]
    yield from [(500, 90, 0.03, 0.002), (3_000_000_000, 11_000, 1.5, 6e-6)]


exercise = Exercise(
    fastest,
    asked=asked,
    drawn=drawn,
    parts=("batch", "seconds"),
    whole=False,
    hints=(
        "the root of critical x fixed / each",
        "steps at this batch, times the seconds of one such step",
        "least_steps * (1 + critical / batch) * (fixed + each * batch)",
    ),
    shown=[(1000, 250, 5e-3, 2e-4), (5, 40.5, 2e-6, 2e-4)],
    passed="Right: a step with a high fixed cost wants a larger batch.",
)
ROOT = "(critical * fixed / each) ** 0.5"
SECONDS = "least_steps * (1 + critical / batch) * (fixed + each * batch)"
for _thought, _old, _new in [
    ("the root is missing", ROOT, "critical * fixed / each"),
    (
        "upside down: a higher fixed cost asks for a larger batch",
        ROOT,
        "(critical * each / fixed) ** 0.5",
    ),
    ("the critical batch, whatever a step costs", ROOT, "critical"),
    ("where both parts of a step take equally long: steps count, too", ROOT, "fixed / each"),
    ("the root of the prices alone", ROOT, "(fixed / each) ** 0.5"),
    ("the critical batch belongs under the root", ROOT, "critical * (fixed / each) ** 0.5"),
    ("the mean of both: their product under the root", ROOT, "(critical + fixed / each) / 2"),
    ("the steps are in the batch: they cancel", ROOT, "(least_steps * fixed / each) ** 0.5"),
    ("raised to 1: the formula may give a batch below 1", ROOT, f"max(1.0, {ROOT})"),
    ("rounded: the batch is given as it is", ROOT, f"round({ROOT}) or 1"),
    ("the seconds of one step: times the steps", SECONDS, "fixed + each * batch"),
    (
        "least steps, or fixed time alone: this batch takes more of both",
        SECONDS,
        "least_steps * (fixed + each * batch)",
    ),
    (
        "the steps: times the seconds of one",
        SECONDS,
        "least_steps * (1 + critical / batch)",
    ),
    (
        "perfect scaling, or no fixed time: least steps and fixed both count",
        SECONDS,
        "least_steps * critical / batch * (fixed + each * batch)",
    ),
    (
        "upside down: steps fall with the batch",
        SECONDS,
        "least_steps * (1 + batch / critical) * (fixed + each * batch)",
    ),
    (
        "one sequence for a step: each x batch",
        SECONDS,
        "least_steps * (1 + critical / batch) * (fixed + each)",
    ),
    (
        "the two terms with the batch alone: multiplied out, there are two more",
        SECONDS,
        "least_steps * (each * batch + critical * fixed / batch)",
    ),
    ("the seconds were rounded: give all digits", SECONDS, f"round({SECONDS}, 3)"),
    ("milliseconds: seconds are asked", SECONDS, f"1000 * {SECONDS}"),
    ("minutes: seconds are asked", SECONDS, f"{SECONDS} / 60"),
    (
        "the steps were made whole: the curve's are not",
        SECONDS,
        "-(-least_steps * (1 + critical / batch) // 1) * (fixed + each * batch)",
    ),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "exchanged: the batch comes first", [(f"return batch, {SECONDS}", f"return {SECONDS}, batch")]
)
exercise.edit(
    "the batch alone",
    [(f"return batch, {SECONDS}", "return batch")],
    says="2 things are needed",
)


@exercise.style
def closed_form(least_steps, critical, fixed, each):
    """a closed form, as an array"""
    seconds = least_steps * (fixed**0.5 + (each * critical) ** 0.5) ** 2
    return np.array([(critical * fixed / each) ** 0.5, seconds])


@exercise.style
def single(least_steps, critical, fixed, each):
    """float32, as a list"""
    batch = np.sqrt(np.float32(critical) / np.float32(each) * np.float32(fixed))
    return [batch, least_steps * (1 + critical / batch) * (fixed + each * batch)]
