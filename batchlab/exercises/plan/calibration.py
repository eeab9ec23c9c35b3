"""How good guesses are: a typical factor, and the side on which they err."""

import numpy as np

from batchlab.exercises import Exercise


def calibration(pairs):
    """{"typical", "bias", "within_two"} of (guess, truth) pairs."""
    logs = [np.log(g / t) for g, t in pairs if (g > 0 < t) or (g < 0 > t)]
    if not logs:
        raise ValueError("no guess can be compared")
    off = np.abs(logs)
    return {
        "typical": float(np.exp(np.median(off))),
        "bias": float(np.exp(np.mean(logs))),
        "within_two": float(np.mean(off < np.log(2))),
    }


def drawn(rng):
    for number in range(15):
        truths = rng.uniform(0.1, 90, int(rng.integers(2, 12)))
        some = [(float(t * np.exp(rng.normal())), float(t)) for t in truths]
        yield (some + [(0.0, 2.0), (-3.0, 2.0), (-5.0, -4.0)][: number % 4],)
    yield ([(7 * 10**9, 10**3), (5, 4), (9, 1)],)
    yield ([(10**3, 7 * 10**9), (5, 4), (9, 1)],)
    yield ([(10, 50), (10, 61)] * 300,)
    yield ([(0, 4), (5, 0)],)


def explain(got, pairs):
    """What a bias that is no number above 0 means."""
    if np.isfinite(got["bias"]) and got["bias"] > 0:
        return ""
    return MULTIPLIED if len(pairs) > 99 else "pairs that cannot be compared were not left out"


MULTIPLIED = "it becomes 0 or infinite: do not multiply many ratios, add their logarithms"
exercise = Exercise(
    calibration,
    hints=(
        "log(guess / truth) has a side; its absolute value is how far off",
        "median of |log|, mean of log, both back through exp",
        "only pairs with both above 0, or both below",
    ),
    asked=lambda pairs: f"calibration of {pairs if len(pairs) < 9 else f'{len(pairs)} pairs'}",
    explain=explain,
    abs=1e-9,
    shown=[
        ([(30, 10), (5, 8), (100, 900), (11, 10), (9, 10)],),
        ([(3.3, 1), (1, 5.3), (12, 10), (70, 10)],),
        ([(2, 1), (9, 10), (5, 1), (7, 1)],),
        ([(1, 2), (9, 10), (1, 5), (7, 1), (8, 1)],),
        ([(8, 2), (0, 5), (1, 3), (5, 4)],),
        ([(-6, -2), (5, 4), (1, 6)],),
        ([(8, 2), (-2, 5), (4, -3)],),
        ([(50, 10), (61, 10)] * 300,),
        ([(-1, 2)],),
    ],
    drawn=drawn,
    passed="Right: a typical factor, and the side you err on.",
)
KEPT, TYPICAL = " if (g > 0 < t) or (g < 0 > t)]", "np.exp(np.median(off))"
BIAS, WITHIN = "np.exp(np.mean(logs))", "np.mean(off < np.log(2))"
ONE = "(np.sort(off)[{}])"
for _thought, _old, _new in [
    ("a factor of exactly 2 is not below 2", WITHIN, "np.mean(off <= np.log(2))"),
    (
        "a factor of exactly 2 is not below 2, on either side",
        WITHIN,
        "np.mean([-np.log(2) <= one < np.log(2) for one in logs])",
    ),
    ("the mean of the factors: one wild guess moves it", TYPICAL, "np.mean(np.exp(off))"),
    ("the geometric mean: asked is the median", TYPICAL, "np.exp(np.mean(off))"),
    (
        "2 too low must count as 2: take the factor that is at least 1",
        TYPICAL,
        "np.median(np.exp(logs))",
    ),
    (
        "of two in the middle the geometric mean: factors multiply",
        TYPICAL,
        "np.median(np.exp(off))",
    ),
    ("the larger of two in the middle", TYPICAL, "np.exp(np.sort(off)[len(off) // 2])"),
    ("the smaller of two in the middle", TYPICAL, "np.exp(np.sort(off)[(len(off) - 1) // 2])"),
    ("in logarithms: asked is the factor", TYPICAL, "np.median(off)"),
    ("the mean of guess / truth: 2 and 1/2 would not cancel", BIAS, "np.mean(np.exp(logs))"),
    (
        "truth / guess: a bias above 1 means guesses too high",
        BIAS,
        "np.exp(-np.mean(logs))",
    ),
    (
        "the bias has a side: the factors that are at least 1 have none",
        BIAS,
        "np.exp(np.mean(off))",
    ),
    (
        "a share of the guesses that can be compared, not of all",
        WITHIN,
        "np.sum(off < np.log(2)) / len(pairs)",
    ),
    (
        "too low counts, too: guess / truth below 2 is not enough",
        WITHIN,
        "np.mean(np.array(logs) < np.log(2))",
    ),
    ("a number of guesses: asked is a share", WITHIN, "np.sum(off < np.log(2))"),
    ("the share outside: asked is the one within", WITHIN, "np.mean(off >= np.log(2))"),
    (
        "pairs that cannot be compared were not left out: 0 has no factor",
        KEPT,
        "]",
    ),
    (
        "leave out pairs of unlike signs, too: they have no factor",
        KEPT,
        " if g * t]",
    ),
    (
        "two negative numbers can be compared: their signs are the same",
        KEPT,
        " if g > 0 and t > 0]",
    ),
    (
        MULTIPLIED,
        BIAS,
        "np.prod([g / t for g, t in pairs" + KEPT + ") ** (1 / len(logs))",
    ),
    (
        "nothing can be compared: refuse",
        'raise ValueError("no guess can be compared")',
        'return {"typical": 1, "bias": 1, "within_two": 1}',
    ),
    ("leave out single pairs: the others stand", "if not logs:", "if len(logs) < len(pairs):"),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit(
    "leave out pairs of unlike signs, too: they have no factor",
    [("    logs = [np.log(g", "    import math\n\n    logs = [math.log(g"), (KEPT, " if g * t]")],
)


@exercise.style
def products(pairs):
    """products, the sign of guess x truth"""
    import math

    ratios = [guess / truth for guess, truth in pairs if guess * truth > 0]
    if not ratios:
        raise ValueError("nothing to compare")
    factors = sorted(max(one, 1 / one) for one in ratios)
    middle = factors[(len(factors) - 1) // 2] * factors[len(factors) // 2]
    return {
        "typical": math.sqrt(middle),
        "bias": math.exp(sum(map(math.log, ratios)) / len(ratios)),
        "within_two": sum(one < 2 for one in factors) / len(factors),
    }


@exercise.style
def statistics(pairs):
    """statistics, NumPy's sign"""
    import statistics

    logs = [np.log(g / t) for g, t in pairs if np.sign(g) * np.sign(t) > 0]
    if len(logs) == 0:
        raise ValueError("none")
    return {
        "typical": np.exp(statistics.median(map(abs, logs))),
        "bias": statistics.geometric_mean(np.exp(logs)),
        "within_two": len([x for x in logs if np.exp(abs(x)) < 2]) / len(logs),
    }
