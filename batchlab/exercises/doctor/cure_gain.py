"""A napkin formula: what a cure gains."""

import numpy as np

from batchlab.exercises import Exercise

PARTS = ("useful", "padding", "launch", "recomputation", "input", "host", "optimizer", "unexplained")  # fmt: skip


def cure_gain(parts, keep):
    """Gain in useful tokens per second if of each part in `keep` so much is left."""
    left = sum(seconds * keep.get(name, 1) for name, seconds in parts.items())
    return sum(parts.values()) / left - 1


def drawn(rng):
    for n in range(20):
        some = dict(zip(PARTS, rng.uniform(0.1, 2, 8).round(3).tolist()))
        some["unexplained"] -= 1
        names = rng.permutation(PARTS[1:7])[: int(rng.integers(1, 4))].tolist()
        keep = {name: round(float(rng.uniform(0, 0.9)), 2) for name in names}
        if n % 4 == 0:
            keep[names[0]] = (0, 1.7)[n % 8 // 4]
        yield some, keep
    yield {"useful": 2.0, "input": 0.0}, {"input": 0}
    yield {"useful": 0.5, "input": 4000.0, "optimizer": 0.1}, {"input": 0}


exercise = Exercise(
    cure_gain,
    hints=(
        "the same tokens in less time: time before / time after",
        "time after = each part times what is left of it",
        "sum(parts) / that - 1",
    ),
    asked=lambda parts, keep: f"gain of {parts} if there is left {keep}",
    shown=[
        ({"useful": 0.6, "padding": 0.3, "input": 0.1, "host": 0.2},
         {"padding": 0.25, "input": 0, "host": 0.5}),
        ({"useful": 0.5, "launch": 0.8, "host": 0.3, "unexplained": -0.1},
         {"launch": 0.5, "host": 0.2}),
        ({"useful": 0.5, "padding": 0.3, "launch": 0.4, "recomputation": 0.4}, {"padding": 0}),
        ({"useful": 2.0, "input": 0.5}, {"input": 1.5}),
    ],
    drawn=drawn,
    passed="Right: a part of half the step, removed, doubles the speed: shares are no gains.",
)  # fmt: skip
LEFT, TIMES, GAIN = (
    "sum(seconds * keep.get(name, 1) for name, seconds in parts.items())",
    "keep.get(name, 1)",
    "sum(parts.values()) / left - 1",
)
RECOMPUTED = """\
    work = sum(parts.get(name, 0) for name in ("useful", "padding", "launch"))
    less = 1 - parts.get("padding", 0) * (1 - keep.get("padding", 1)) / work
    keep = {"recomputation": less} | keep
"""
for _thought, *_changes in [
    (
        "the share that goes: what is left is faster by more than that",
        (GAIN, "1 - left / sum(parts.values())"),
    ),
    ("`keep` says what is left, not what goes", (TIMES, "(1 - keep.get(name, 0))")),
    (
        "gains do not add: remove all parts, divide once",
        (LEFT, "sum(parts.values())"),
        (GAIN, "sum(left / (left - parts[name] * (1 - k)) - 1 for name, k in keep.items())"),
    ),
    (
        "gains do not multiply: remove all parts, divide once",
        (LEFT, "sum(parts.values())"),
        (
            GAIN,
            "float(np.prod([left / (left - parts[name] * (1 - k)) for name, k in keep.items()])) - 1",
        ),
    ),
    ("the speed-up: take off 1", (" - 1", "")),
    (
        "upside down: time before over time after",
        (GAIN, "left / sum(parts.values()) - 1"),
    ),
    ("in per cent: 0.25 is asked, not 25", (GAIN, f"100 * ({GAIN})")),
    ("seconds, not a share", (GAIN, "sum(parts.values()) - left")),
    ("the parts go whole: `keep` leaves some of them", (TIMES, "(name not in keep)")),
    (
        "0 is left of a part: `keep.get(name) or 1` reads it as 1",
        (TIMES, "(keep.get(name) or 1)"),
    ),
    ("what `keep` does not name stays whole", (TIMES, "keep.get(name, 0)"), (" / left", " / (left or 1)")),
    (
        "what `keep` does not name stays whole, only the useful part did",
        (TIMES, 'keep.get(name, name == "useful")'),
    ),
    ("only the first of the parts in `keep`", (TIMES, "(keep[name] if name == next(iter(keep)) else 1)")),
    ("only the last of the parts in `keep`", (TIMES, "(keep[name] if name == [*keep][-1] else 1)")),
    (
        "the rest belongs to the step: the unexplained stays, it does not vanish",
        ("    left =", '    parts = {name: s for name, s in parts.items() if name != "unexplained"}\n    left ='),
    ),
    (
        "the unexplained without its sign",
        ("    left =", "    parts = {name: abs(s) for name, s in parts.items()}\n    left ="),
    ),
    (
        "the unexplained without its sign in the time before",
        ("sum(parts.values()) /", "sum(abs(s) for s in parts.values()) /"),
    ),
    (
        "packing ends padding alone: recomputation stays, `keep` does not name it",
        ("    left =", RECOMPUTED + "    left ="),
    ),
    ("a cure may cost: a gain below zero is one, too", (GAIN, f"max(0.0, {GAIN})")),
    ("rounded: give all digits", (GAIN, f"round({GAIN}, 3)")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)


@exercise.mistake(says="changed")
def in_place(parts, keep):
    """parts are set in place"""
    before = sum(parts.values())
    for name in keep:
        parts[name] *= keep[name]
    return before / sum(parts.values()) - 1


@exercise.style
def what_goes(parts, keep):
    """what goes"""
    before = sum(parts.values())
    gone = sum(seconds * (1 - keep[name]) for name, seconds in parts.items() if name in keep)
    return before / (before - gone) - 1


@exercise.style
def fractions(parts, keep):
    """fractions"""
    from fractions import Fraction

    after = sum(Fraction(s) * Fraction(keep.get(n, 1)) for n, s in parts.items())
    return float(sum(map(Fraction, parts.values())) / after - 1)


@exercise.style
def arrays(parts, keep):
    """arrays"""
    left = np.array([keep.get(name, 1.0) for name in parts])
    seconds = np.array(list(parts.values()))
    return seconds.sum() / (seconds @ left) - 1
