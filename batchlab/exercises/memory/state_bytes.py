"""The states: bytes that live through the whole training."""

from batchlab.exercises import Exercise


def state_bytes(parts):
    """Bytes of all states: parts of (weights, trained, weight, gradient, optimizer bytes)."""
    total = 0
    for weights, trained, weight, gradient, optimizer in parts:
        total += weights * (weight + (gradient + optimizer if trained else 0))
    return total


def drawn(rng):
    for many in [*rng.integers(1, 6, 12).tolist(), 2000]:
        parts = [
            (int(n), bool(rng.integers(2)), *rng.choice([0.5625, 1.0, 2.0, 4.0, 8.0], 3).tolist())
            for n in rng.integers(1, 10**10, many)
        ]
        yield (parts,)
        yield ([(*parts[0][:4], parts[0][4] + 1), *parts[1:]],)


exercise = Exercise(
    state_bytes,
    rel=1e-6,
    hints=(
        "which of the three does a frozen part have?",
        "weights x (bytes of a weight + the other two, if trained)",
        "add that up over the parts, beginning at 0",
    ),
    asked=lambda parts: (
        f"bytes of states of {parts if len(parts) < 7 else f'{len(parts):,} parts'}"
    ),
    shown=[
        (
            [
                (40_000_000, False, 1.5625, 2, 4),
                (10_000_000, True, 2, 3, 6),
                (10_000_000, True, 2, 3, 6),
            ],
        )
    ],
    drawn=drawn,
    passed="Right: with Adam, mixed precision takes 16 bytes a weight, as float32 does.",
)
LINE = "weights * (weight + (gradient + optimizer if trained else 0))"
for _thought, _old, _new in [
    ("the optimizer's states are forgotten", "gradient + optimizer", "gradient"),
    ("the gradients are forgotten", "gradient + optimizer", "optimizer"),
    ("the weights themselves are forgotten", "(weight + (", "(0 + ("),
    (
        "frozen weights have no gradient and no optimizer states",
        LINE,
        "weights * (weight + gradient + optimizer)",
    ),
    (
        "frozen weights have no gradient",
        LINE,
        "weights * (weight + gradient + (optimizer if trained else 0))",
    ),
    (
        "frozen weights are forgotten: they take memory, too",
        LINE,
        "weights * (weight + gradient + optimizer) if trained else 0",
    ),
    (
        "the optimizer counts two values: its bytes are given in all",
        "gradient + optimizer",
        "gradient + 2 * optimizer",
    ),
    ("gigabytes: bytes are asked", "return total", "return total / 1e9"),
    ("gibibytes: bytes are asked", "return total", "return total / 2**30"),
    ("bits: bytes are asked", "return total", "return 8 * total"),
    (
        "whether it is trained belongs to each part: ask every one",
        "if trained",
        "if parts[0][1]",
    ),
    ("equal parts are two parts: a set counts them once", "in parts:", "in set(parts):"),
    (
        "bytes a weight are whole numbers no longer: 0.5625 is what 4 bits take",
        "(weight + (",
        "(int(weight) + (",
    ),
    ("the last part only", "total += ", "total = "),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def a_sum(parts):
    """a sum"""
    return sum(n * (w + (g + o) * t) for n, t, w, g, o in parts)


@exercise.style
def numpy(parts):
    """NumPy"""
    import numpy as np

    n, trained, weight, gradient, optimizer = np.array(parts, dtype=float).reshape(-1, 5).T
    return (n * (weight + trained * (gradient + optimizer))).sum()
