"""How long to wait before a growth of the batch is judged; and growths on a noisy quadratic.

Words
    never   losses of the run without growth, one an evaluation
    grown   {evaluation at which the batch grew: losses of that run}
    look    one evaluation after the growth: is the loss lower than without it?
"""

import numpy as np

from batchlab.exercises import Exercise

EXAMPLES, EVERY, SMALL, TIMES, RATE = 15_360, 320, 4, 8, 0.1  # of the page
CURVES = 1 / np.arange(1, 201)


def long_enough(never, grown):
    """Evaluations to wait after a growth, so that this look and all later ones agree with the end."""
    wait = 1
    for at, losses in grown.items():
        ends_lower = losses[-1] < never[-1]
        for n in range(at + 1, len(never)):
            if (losses[n] < never[n]) != ends_lower:
                wait = max(wait, n - at + 1)
    return wait


def growth_losses(at=EXAMPLES):
    """Mean loss at each evaluation, if from `at` examples on a step has 8 times as many."""
    state, seen, found = np.ones(len(CURVES)), 0, []
    while True:
        if seen % EVERY == 0:
            found.append(float((CURVES * state).sum() / 2))
        if seen >= EXAMPLES:
            return found
        size = SMALL * (TIMES if seen >= at else 1)
        state = (1 - RATE * CURVES) ** 2 * state + RATE**2 * CURVES / size
        seen += size


def asked(never, grown):
    if len(never) > 9:
        return f"the wait for growths at {sorted(grown)}, {len(never)} evaluations"
    said = "; ".join(f"grown at {at}: {losses}" for at, losses in grown.items())
    return f"the wait; never {never}; {said}"


def drawn(rng):
    for number in range(30):
        many, grown = int(rng.integers(4, 40)), {}
        never = rng.uniform(1, 9, many).round(2)
        for at in rng.permutation(many - 1)[: int(rng.integers(1, 5))].tolist():
            apart = rng.choice([-0.5, -0.1, 0.0, 0.3], many)
            if number % 3 == 0:
                apart = np.where(np.arange(many) < rng.integers(many), -0.25, apart[-1])
            grown[at] = [*never[: at + 1].tolist(), *(never + apart)[at + 1 :].tolist()]
        yield never.tolist(), grown


exercise = Exercise(
    long_enough,
    points=3,
    asked=asked,
    hints=(
        "a look compares two losses of the same evaluation: with the growth, and without",
        "for each growth: which look after it is the last one that disagrees with the end?",
        "the answer is one more than the largest distance of such a look from its growth; at least 1",
    ),
    shown=[
        ([10, 9, 8, 7, 9, 6, 5, 4, 3], {3: [10, 9, 8, 7, 8, 5, 4, 5, 4]}),
        ([9, 7, 5, 4, 3], {1: [9, 7, 2, 5, 4]}),
        ([9, 7, 5, 4, 3, 2], {0: [9, 6, 6, 3, 4, 3]}),
        ([9, 7, 5, 4, 3, 2], {1: [9, 7, 6, 3, 2, 1]}),
        ([9, 7, 5, 4, 3], {3: [9, 7, 5, 4, 2]}),
        ([9, 7, 5, 4, 3, 2], {1: [9, 7, 4, 3, 3, 2]}),
        (
            [9, 7, 5, 4, 3, 2],
            {1: [9, 7, 4, 3, 4, 3], 4: [9, 7, 5, 4, 3, 1], 3: [9, 7, 5, 4, 2, 3]},
        ),
    ],
    drawn=drawn,
    passed="Right: an early look is not the end; near the turning point one must wait long.",
)  # fmt: skip
ENDS, LOOK, FAR = "losses[-1] < never[-1]", "losses[n] < never[n]", "n - at + 1"
START, LONGEST = "    wait = 1\n", "wait = max(wait, n - at + 1)"
for _thought, *_changes in [
    ("compared with its own loss before the growth: every loss falls while it trains",
     (ENDS, "losses[-1] < losses[at]"), (LOOK, "losses[n] < losses[at]")),
    ("a look compares with the run without growth, not with the loss before it",
     (LOOK, "losses[n] < losses[at]")),
    ("every lower look was counted: counted are looks that disagree with the end",
     ("(losses[n] < never[n]) != ends_lower", "losses[n] < never[n]")),
    ("the end decides, not the lowest loss on the way", (ENDS, "min(losses) < min(never)")),
    ("counted from the beginning of the run: count from the growth", (FAR, "n + 1")),
    ("the last look that disagrees: wait one more", (FAR, "n - at")),
    ("one too many: from the look after the last disagreement on, all agree", (FAR, "n - at + 2")),
    ("the look that comes last, not the longest: the growths have no order",
     (LONGEST, "wait = n - at + 1")),
    ("at least 1: before a growth there is nothing to see", (START, "    wait = 0\n")),
    ("equal losses are not lower", (ENDS, "losses[-1] <= never[-1]"), (LOOK, "losses[n] <= never[n]")),
    ("growths that end higher only: one that ends lower may look bad at first",
     ("if (losses[n] < never[n]) != ends_lower", "if losses[n] < never[n] and not ends_lower")),
    ("growths that end lower only: one that ends higher may look good at first",
     ("if (losses[n] < never[n]) != ends_lower", "if losses[n] >= never[n] and ends_lower")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.mistake
def first_that_agrees(never, grown):
    """the first look that agrees with the end: a later one may disagree again"""
    waits = [1]
    for at, losses in grown.items():
        looks = [a < b for a, b in zip(losses[at + 1 :], never[at + 1 :])]
        waits.append(looks.index(looks[-1]) + 1)
    return max(waits)


@exercise.mistake
def least_of_all(never, grown):
    """the shortest wait of a growth: the number must do for all of them"""
    waits = []
    for at, losses in grown.items():
        looks = [a < b for a, b in zip(losses[at + 1 :], never[at + 1 :])]
        wrong = [n for n, one in enumerate(looks, 1) if one != looks[-1]]
        waits.append(max(wrong, default=0) + 1)
    return min(waits)


@exercise.mistake
def how_many(never, grown):
    """the number of wrong looks: the last of them counts"""
    many = [1]
    for at, losses in grown.items():
        looks = [a < b for a, b in zip(losses[at + 1 :], never[at + 1 :])]
        many.append(sum(one != looks[-1] for one in looks) + 1)
    return max(many)


@exercise.style
def backwards(never, grown):
    """from the end back"""
    longest = 1
    for at in grown:
        lower = np.asarray(grown[at]) < np.asarray(never)
        n = len(never) - 1
        while n > at + 1 and lower[n - 1] == lower[-1]:
            n -= 1
        longest = max(longest, n - at)
    return longest


@exercise.style
def wait_by_wait(never, grown):
    """one wait after the other is tried"""

    def agrees(wait):
        return all(
            (losses[n] < never[n]) == (losses[-1] < never[-1])
            for at, losses in grown.items()
            for n in range(min(at + wait, len(never) - 1), len(never))
        )

    return next(wait for wait in range(1, len(never) + 1) if agrees(wait))
