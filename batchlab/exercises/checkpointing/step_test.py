"""Catch the bug: one test for eleven wrong steps of a network that fits on a napkin."""

import random

from batchlab.exercises import Exercise


def step(weights, x, segments, seed):
    """[y, derivatives by each weight, the generator's next random()]."""
    draw = random.Random(seed)
    coins = [draw.choice((1, 2)) for _ in weights]
    after, n = draw.random(), len(weights)
    inputs, used, times, through = [x], [*coins], [1] * n, [1] * n
    for weight, coin in zip(weights, coins):
        inputs.append(inputs[-1] * weight * coin)
    for first, end in segments:  # the layers run again, from the input of the first
        start = inputs[first]
        used[first:end] = coins[first:end]
        for i in range(first, end):
            inputs[i], start = start, start * weights[i] * used[i]
    gradient, found = 1, [0] * n
    for i in reversed(range(n)):
        found[i] = gradient * inputs[i] * used[i] * times[i]
        gradient *= weights[i] * used[i] * through[i]
    return [inputs[n], found, after]


of = Exercise(step)
AGAIN, BACK = "used[first:end] = coins[first:end]", "    return [inputs[n], found, after]"
for _thought, _old, _new in [
    (
        "other coins in the recomputation",
        AGAIN,
        "used[first:end] = [3 - c for c in coins[first:end]]",
    ),
    (
        "no noise in the recomputation, as in eval mode",
        AGAIN,
        "used[first:end] = [1] * (end - first)",
    ),
    (
        "the generator stays where the recomputation left it",
        BACK,
        "    if segments:\n        draw = random.Random(seed)\n"
        "        [draw.choice((1, 2)) for _ in range(segments[0][1])]\n"
        "        after = draw.random()\n" + BACK,
    ),
    (
        "weights of a first segment get no gradient",
        AGAIN,
        f"{AGAIN}\n        times[first:end] = [first > 0] * (end - first)",
    ),
    (
        "weights of a segment get their gradient twice",
        AGAIN,
        f"{AGAIN}\n        times[first:end] = [2] * (end - first)",
    ),
    (
        "derivatives of a segment are 1 % too large",
        AGAIN,
        f"{AGAIN}\n        times[first:end] = [1.01] * (end - first)",
    ),
    ("no gradient passes through a segment", AGAIN, f"{AGAIN}\n        through[first] = 0"),
    ("every segment starts from the first input", "start = inputs[first]", "start = x"),
    (
        "all gradients are doubled, with segments and without",
        "[1] * n, [1] * n",
        "[2] * n, [1] * n",
    ),
    (
        "the second segment gets the coins of the first",
        AGAIN,
        "own = segments[0][0]\n        used[first:end] = coins[own : own + end - first]",
    ),
    ("the derivatives stand in reversed order", BACK, BACK.replace("found", "found[::-1]")),
]:
    of.edit(_thought, [(_old, _new)])


@of.style
def straight(weights, x, segments, seed):
    """straight"""
    draw, y = random.Random(seed), x
    for weight in weights:
        y *= weight * draw.choice((1, 2))
    return [y, [y / weight for weight in weights], draw.random()]


def step_test(step):
    """Fail (assert) for every wrong step(weights, x, segments, seed) -> [y, gradients, random]."""
    weights = [3, 5, 7, 11, 13]
    for seed in range(6):
        y, slopes, after = step(weights, 2, [], seed)
        assert all(abs(w * slope / y - 1) < 1e-9 for w, slope in zip(weights, slopes))
        for segments in ([(0, 2)], [(1, 3)], [(0, 2), (3, 4)]):
            again = step(weights, 2, segments, seed)
            assert abs(again[0] / y - 1) < 1e-9 and again[2] == after
            assert all(abs(a / b - 1) < 1e-9 for a, b in zip(again[1], slopes))


DOUBLED = "both runs may be wrong: compute y and a derivative by hand, too"
exercise = Exercise(
    step_test,
    explain=lambda got: DOUBLED if "all gradients are doubled" in got else "",
    hints=(
        "compare a run with segments and one without: output, derivatives, random number",
        "segments at the start, in the middle, two of them; not only one that reaches the end",
        "weight times derivative is y, for every weight: that needs no second run",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), tuple(of.styles)),
    passed="Right: eleven wrong versions found, both right ones passed.",
)
PLANS = "([(0, 2)], [(1, 3)], [(0, 2), (3, 4)])"
SLOPES = "            assert all(abs(a / b - 1) < 1e-9 for a, b in zip(again[1], slopes))\n"
PLAIN = "        assert all(abs(w * slope / y - 1) < 1e-9 for w, slope in zip(weights, slopes))\n"
for _thought, _says, *_changes in [
    ("nothing is run", "never failed", ("range(6)", "range(0)")),
    ("the output alone", "got through", (SLOPES, ""), (" and again[2] == after", "")),
    ("no look at the generator", "generator stays", (" and again[2] == after", "")),
    ("one segment from end to end", "got through", (PLANS, "([(0, 5)],)")),
    ("segments at the start only", "got through", (PLANS, "([(0, 2)],)")),
    ("one segment at most", "the second segment", ("[(0, 2), (3, 4)]", "[(2, 5)]")),
    ("no run without segments is judged", "a derivative by hand", (PLAIN, "")),
    ("a wide tolerance", "1 % too large", ("a / b - 1) < 1e-9", "a / b - 1) < 0.02")),
    ("asks for other coins", "right implementation", ("2, [], seed)", "2, [], seed + 1)")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.mistake(says="right implementation")
def exact(step):
    """compares floats exactly"""
    assert step([0.1, 0.7, 0.3], 0.3, [], 1)[1] == [0.252, 0.036, 0.084]


@exercise.style
def by_hand(step):
    """by hand, from the coins"""
    import random

    weights, x = [2, 3, 5, 7], 11
    for seed in range(8):
        draw, y = random.Random(seed), x
        for weight in weights:
            y *= weight * draw.choice((1, 2))
        after = draw.random()
        for segments in ([], [(1, 2)], [(0, 1), (2, 3)], [(0, 3)]):
            got = step(weights, x, segments, seed)
            assert abs(got[0] - y) < 1e-6 and abs(got[2] - after) < 1e-12
            assert max(abs(g - y / w) for g, w in zip(got[1], weights)) < 1e-6


@exercise.style
def verdict(step):
    """returns a verdict"""
    import numpy as np

    weights = [2.5, 0.3, 7.0, 1.1]
    for seed in range(5):
        plain = step(weights, 1.7, [], seed)
        if not np.allclose(np.array(plain[1]) * weights, [plain[0]] * 4, rtol=1e-9):
            return False
        for plan in ([(0, 1), (1, 3)], [(2, 3)]):
            got = step(weights, 1.7, plan, seed)
            if not np.allclose(np.hstack(got), np.hstack(plain), rtol=1e-9):
                return False
    return True
