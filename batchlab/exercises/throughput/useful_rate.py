"""Useful tokens per second: sums first, the warm-up in neither."""

from statistics import median  # noqa: F401  # for a version below

from batchlab.exercises import Exercise


def useful_rate(seen, warmup):
    """Real tokens per second over all steps behind the warm-up."""
    counted = seen[warmup:]
    return sum(real for _, _, real, _ in counted) / sum(seconds for *_, seconds in counted)


def drawn(rng):
    for many in [*rng.integers(6, 30, 20).tolist(), 3000]:
        seen = []
        for slots in rng.integers(40, 90_000, many).tolist():
            row = int(rng.integers(1, 9)), slots, int(rng.integers(0, slots + 1))
            seen.append((*row, float(rng.uniform(0.1, 5))))
        seen.append((2, 64, 64, 0.5))
        yield from ((seen, 0), (seen, int(rng.integers(1, 6))))
        yield [*seen[:-1], (2, 64, 64, 0.75)], 0


NINE = [
    (4, 900, 500, 0.9), (4, 800, 310, 0.7), (3, 700, 640, 0.2), (4, 1000, 520, 0.15),
    (5, 400, 390, 2.5), (2, 300, 280, 0.75), (6, 1200, 330, 4.0), (3, 500, 470, 1.25),
    (2, 200, 80, 0.5),
]  # fmt: skip
exercise = Exercise(
    useful_rate,
    hints=(
        "drop the first `warmup` steps, then add tokens and seconds apart",
        "the third number of each step is real tokens, the fourth is seconds",
        "sum of the real tokens / sum of the seconds: one division",
    ),
    asked=lambda seen, warmup: (
        f"useful tokens per second of {seen if len(seen) < 6 else f'{len(seen)} steps'}, "
        f"warm-up {warmup}"
    ),
    shown=[
        (NINE, 3),
        (NINE, 2),
        ([(2, 100, 90, 0.25), (2, 100, 60, 0.5), (2, 100, 60, 0.5)], 0),
        ([(3, 640, 233, 2.0), (1, 64, 0, 0.25), (2, 64, 41, 0.5)], 0),
        ([(2, 64, 64, 0.5), (4, 64, 40, 0.25), (8, 80, 80, 0.5)], 0),
    ],
    drawn=drawn,
    passed="Right: add tokens and seconds first, and leave the warm-up out of both.",
)
right = useful_rate
REAL, SECONDS = "sum(real for _, _, real, _ in counted)", "sum(seconds for *_, seconds in counted)"
WHOLE, KEPT = f"{REAL} / {SECONDS}", "seen[warmup:]"
RATES = "[real / seconds for _, _, real, seconds in counted]"
for _thought, _old, _new in [
    ("slots per second: padding is no work", REAL, "sum(one[1] for one in counted)"),
    ("documents per second: their lengths differ", REAL, "sum(one[0] for one in counted)"),
    ("padding per second", REAL, "sum(one[1] - one[2] for one in counted)"),
    ("the mean of the rates: add first, divide once", WHOLE, f"sum({RATES}) / len(counted)"),
    ("the median of the rates: add first, divide once", WHOLE, f"median({RATES})"),
    ("the best step: asked are all", WHOLE, f"max({RATES})"),
    ("the last step alone", WHOLE, f"{RATES}[-1]"),
    ("the warm-up is counted", KEPT, "seen"),
    ("the warm-up alone", KEPT, "seen[: warmup or None]"),
    ("the warm-up's tokens are counted, its seconds are not", REAL, "sum(one[2] for one in seen)"),
    (
        "the warm-up's seconds are counted, its tokens are not",
        SECONDS,
        "sum(one[3] for one in seen)",
    ),
    ("one too few dropped as warm-up", KEPT, "seen[max(0, warmup - 1) :]"),
    ("one too many dropped as warm-up", KEPT, "seen[warmup + 1 :]"),
    ("only the first is dropped: the warm-up may be longer", KEPT, "seen[1:]"),
    ("the last are dropped: the warm-up comes first", KEPT, "seen[: len(seen) - warmup]"),
    ("the last `warmup` steps alone: drop the first ones", KEPT, "seen[-warmup:]"),
    ("three dropped as warm-up: their number is given", KEPT, "seen[3:]"),
    ("upside down: tokens over seconds", WHOLE, f"{SECONDS} / {REAL}"),
    ("divided by the steps, too", WHOLE, f"{WHOLE} / len(counted)"),
    ("the tokens alone", WHOLE, REAL),
    ("rounded: give all digits", WHOLE, f"round({WHOLE}, 1)"),
    (
        "the seconds of each step were rounded",
        SECONDS,
        "sum(round(one[3]) or 1 for one in counted)",
    ),
    ("equal steps counted once: two equal steps are two", KEPT, "set(seen[warmup:])"),
    (
        "steps without real tokens left out: their seconds count",
        KEPT,
        "[one for one in seen[warmup:] if one[2]]",
    ),
    (
        "steps without padding left out: every step counts",
        KEPT,
        "[one for one in seen[warmup:] if one[2] < one[1]]",
    ),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.mistake
def as_seconds(seen, warmup):
    """warm-up taken as seconds: it is a number of steps"""
    kept, passed = [], 0.0
    for step in seen:
        if passed >= warmup:
            kept.append(step)
        passed += step[3]
    return sum(s[2] for s in kept or seen) / sum(s[3] for s in kept or seen)


@exercise.mistake(says="takes from the list")
def popped(seen, warmup):
    """takes the warm-up from the list that it was given"""
    for _ in range(warmup):
        seen.pop(0)
    return sum(s[2] for s in seen) / sum(s[3] for s in seen)


@exercise.style
def a_loop(seen, warmup):
    """a loop"""
    tokens = seconds = 0
    for step in seen[warmup:]:
        tokens += step[2]
        seconds += step[3]
    return tokens / seconds


@exercise.style
def numpy(seen, warmup):
    """NumPy"""
    import numpy as np

    _, _, real, seconds = np.array(seen[warmup:]).sum(axis=0)
    return real / seconds
