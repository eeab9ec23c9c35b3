"""Catch the bug: one test for fifteen wrong warm-ups in tokens."""

import itertools

import numpy as np

from batchlab.exercises import Exercise


def factors(steps, warmup):
    """The factor of the rate in each step, from the tokens of the steps before it."""
    found, seen = [], 0
    for tokens in steps:
        found.append(min(1.0, seen / warmup) if warmup else 1.0)
        seen += tokens
    return found


warmup_exercise = Exercise(factors)  # of the page: no blank of its own


@warmup_exercise.style
def by_array(steps, warmup):
    """an array"""
    seen = np.concatenate([[0], np.cumsum(steps)[:-1]]) if len(steps) else np.zeros(0)
    return np.minimum(1.0, seen / warmup) if warmup else np.ones(len(steps))


@warmup_exercise.style
def by_iteration(steps, warmup):
    """a tuple"""
    seen = itertools.accumulate(steps, initial=0)
    return tuple(1.0 if one >= warmup else one / warmup for one, _ in zip(seen, steps))


@warmup_exercise.style
def by_shares(steps, warmup):
    """shares of the warm-up are added: the last digits differ"""
    if not warmup:
        return [1.0] * len(steps)
    return [min(1.0, sum(one / warmup for one in steps[:i])) for i in range(len(steps))]


RIGHT = tuple(warmup_exercise.styles)
SEEN, WHOLE = "        seen += tokens\n", "min(1.0, seen / warmup) if warmup else 1.0"
for _thought, *_changes in [
    ("the warm-up counts steps of the first size", ("seen += tokens", "seen += steps[0]")),
    (
        "the warm-up counts steps of the mean size",
        ("seen += tokens", "seen += sum(steps) / len(steps)"),
    ),
    (
        "each step's own size, times the steps before it",
        ("        found.append", "        seen = len(found) * tokens\n        found.append"),
        (SEEN, ""),
    ),
    (
        "the step's own tokens are counted before it was taken",
        ("min(1.0, seen / warmup)", "min(1.0, (seen + tokens) / warmup)"),
    ),
    (
        "the last step before it is not counted yet",
        ("found, seen = [], 0", "found, seen, last = [], 0, 0"),
        (SEEN, "        seen, last = seen + last, tokens\n"),
    ),
    ("the factor goes on above 1", ("min(1.0, seen / warmup)", "seen / warmup")),
    (
        "a change of the batch begins the warm-up anew",
        ("found, seen = [], 0", "found, seen, last = [], 0, steps[0]"),
        (
            "        found.append",
            "        seen, last = (seen if tokens == last else 0), tokens\n        found.append",
        ),
    ),
    (
        "whole numbers: no factor between 0 and 1",
        ("min(1.0, seen / warmup)", "min(1.0, seen // warmup)"),
    ),
    ("without warm-up nothing is learned: the factors stay 0", ("else 1.0", "else 0.0")),
    ("the last step has no factor", ("return found", "return found[:-1]")),
    (
        "the largest step so far stands for all before",
        (
            "        found.append",
            "        seen = len(found) * max(steps[: len(found) + 1])\n        found.append",
        ),
        (SEEN, ""),
    ),
    (
        "two factors in the middle change places: look at each one",
        ("return found", "return [*found[:1], *found[2:3], *found[1:2], *found[3:]]"),
    ),
    (
        "the smallest steps are counted first: let some steps shrink",
        ("seen += tokens", "seen = sum(sorted(steps)[: len(found)])"),
    ),
    (
        "the largest steps are counted first: let some steps grow",
        ("seen += tokens", "seen = sum(sorted(steps, reverse=True)[: len(found)])"),
    ),
    (
        "each factor is 0.002 % too low: the tolerance is too wide",
        ("return found", "return [0.99998 * one for one in found]"),
    ),
]:
    warmup_exercise.edit(_thought, _changes)


def warmup_test(factors):
    """Fail (assert) for every wrong factors(steps, warmup) -> factor of each step."""
    cases = [
        ([10, 10, 40, 40, 20], 80, [0, 0.125, 0.25, 0.75, 1]),
        ([40, 10, 10, 30], 200, [0, 0.2, 0.25, 0.3]),
        ([5, 5], 0, [1, 1]),
    ]
    for steps, warmup, want in cases:
        got = list(factors(steps, warmup))
        assert len(got) == len(want)
        assert all(abs(a - b) < 1e-9 for a, b in zip(got, want))


exercise = Exercise(
    warmup_test,
    hints=(
        "let the steps differ, up and down, and compute the factors by hand",
        "let the warm-up end before the last step; try one of 0 tokens",
        "assert the length, and each factor with a tolerance of 1e-5 or less",
    ),
    tests=(warmup_exercise, tuple(one.thought for one in warmup_exercise.mistakes), RIGHT),
    passed="Right: fifteen wrong versions found, all four right ones passed.",
)
UP, DOWN, NONE = (
    "        ([10, 10, 40, 40, 20], 80, [0, 0.125, 0.25, 0.75, 1]),\n",
    "        ([40, 10, 10, 30], 200, [0, 0.2, 0.25, 0.3]),\n",
    "        ([5, 5], 0, [1, 1]),\n",
)
LENGTH, NEAR = "        assert len(got) == len(want)\n", "abs(a - b) < 1e-9"
for _thought, _says, *_changes in [
    (
        "the example alone",
        "got through",
        (UP, "        ([10, 10, 40, 40], 80, [0, 0.125, 0.25, 0.75]),\n"),
        (DOWN, ""),
        (NONE, ""),
    ),
    ("equal steps", "got through", (UP, "        ([10] * 4, 20, [0, 0.5, 1, 1]),\n"), (DOWN, "")),
    ("never 0 tokens", "without warm-up", (NONE, "")),
    (
        "growing steps only",
        "got through",
        (UP, "        ([10, 20, 30, 40, 90], 100, [0, 0.1, 0.3, 0.6, 1]),\n"),
        (DOWN, ""),
    ),
    (
        "falling steps only",
        "got through",
        (UP, "        ([90, 40, 30, 20, 5], 180, [0, 0.5, 13 / 18, 16 / 18, 1]),\n"),
        (DOWN, ""),
    ),
    (
        "the warm-up never ends",
        "goes on above 1",
        (UP, "        ([10, 40, 20], 1000, [0, 0.01, 0.05]),\n"),
    ),
    ("zip hides the length", "has no factor", (LENGTH, "")),
    ("a tolerance of one per cent", "0.002 % too low", (NEAR, "abs(a - b) < 0.01")),
    ("upper bounds only", "got through", (NEAR, "a - b < 1e-9")),
    ("lower bounds only", "got through", (NEAR, "b - a < 1e-9")),
    (
        "compares floats exactly",
        "floats exactly",
        (NEAR, "a == b"),
        (DOWN, "        ([40, 10, 10, 30], 70, [0, 40 / 70, 50 / 70, 60 / 70]),\n"),
    ),
    (
        "own tokens counted",
        "right implementation",
        ("[0, 0.2, 0.25, 0.3]", "[0.2, 0.25, 0.3, 0.45]"),
    ),
    ("counts steps", "right implementation", ("[0, 0.2, 0.25, 0.3]", "[0, 0.2, 0.4, 0.6]")),
    ("above 1 after the warm-up", "right implementation", ("0.75, 1]", "0.75, 1.25]")),
    ("zeros without warm-up", "right implementation", ("[1, 1]", "[0, 0]")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="got through")
def the_ends(factors):
    """the ends alone"""
    got = factors([10, 10, 40, 40, 20], 80)
    assert got[0] == 0 and got[-1] == 1


@exercise.mistake(says="never failed")
def no_comparison(factors):
    """compares, and asserts nothing"""
    factors([10, 10, 40, 40], 80) == [0, 0.125, 0.25, 0.75]


@exercise.mistake(says="right implementation")
def a_list(factors):
    """asks for a list"""
    assert type(factors([10, 10], 80)) is list


@exercise.style
def a_verdict(factors):
    """returns a verdict"""

    def right(steps, warmup):
        seen, want = 0, []
        for one in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += one
        got = list(factors(steps, warmup))
        return len(got) == len(want) and np.allclose(got, want)

    return right([7, 7, 30, 2, 50, 9], 60) and right([50, 3, 20, 9], 300) and right([4, 8, 3], 0)


@exercise.style
def a_tolerance_of_1e_5(factors):
    """a tolerance of 1e-5"""
    for steps, warmup in [([10, 10, 40, 40, 20], 80), ([40, 10, 10, 30], 200), ([10, 20, 5], 0)]:
        seen = np.cumsum([0, *steps[:-1]])
        want = np.minimum(1, seen / warmup) if warmup else np.ones(len(steps))
        got = np.asarray(factors(steps, warmup), dtype=float)
        assert got.shape == want.shape and np.abs(got - want).max() <= 1e-5
