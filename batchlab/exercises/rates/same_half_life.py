"""A napkin formula: the beta2 of the same half-life in tokens."""

from batchlab.exercises import Exercise


def same_half_life(beta2, before, after):
    """The beta2 of the same half-life in tokens, after the batch changed."""
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new:.3g}: half of it is gone in one step")
    return new


def drawn(rng):
    for _ in range(12):
        beta2, before = float(rng.uniform(0.96, 0.999)), int(rng.integers(100, 900))
        yield beta2, before, int(rng.integers(1, 1200))
        yield beta2, before, 3 * before
    yield from [(0.99, 2**31, 2**36), (0.999, 4096, 32), (0.9, 64, 64)]
    yield from [(0.4, 32, 32), (0.9999875, 1, 131_072)]


exercise = Exercise(
    same_half_life,
    drawn=drawn,
    rel=1e-13,
    abs=0.0,
    mentions=lambda beta2, before, after: (str(beta2),),
    hints=(
        "B ln(0.5) / ln(beta2) before = the same after: solve for the new beta2",
        "ln(new) = ln(beta2) * after / before",
        "beta2 ** (after / before); below 0.5 refuse",
    ),
    asked=lambda beta2, before, after: (
        f"beta2 {beta2} at {before:,}, the same half-life at {after:,}"
    ),
    shown=[
        (0.95, 512, 300),
        (0.5, 64, 64),
        (0.25, 64, 32),
        (0.95, 512, 8192),
        (0.25, 64, 40),
        (0.7071066, 32, 64),
    ],
    passed="Right: k in the exponent; 1 - k (1 - beta2) is its tangent, good for small k (1 - beta2).",
)
NEW, BELOW, RETURN = "beta2 ** (after / before)", "if new < 0.5", "return new"
GONE = "a half-life below one step is no average over steps: refuse, and name the old beta2"
for _thought, *_change in [
    (
        "the tangent 1 - k (1 - beta2): the half-life itself is asked",
        NEW,
        "1 - after / before * (1 - beta2)",
    ),
    ("upside down: more tokens a step, fewer steps remembered", NEW, "beta2 ** (before / after)"),
    ("unchanged: that keeps the half-life in steps", NEW, "beta2"),
    (
        "the root of k: a half-life is in proportion to the batch",
        NEW,
        "beta2 ** ((after / before) ** 0.5)",
    ),
    (
        "1 - beta2 to the power k: beta2 itself takes it",
        NEW,
        "1 - (1 - beta2) ** (after / before)",
    ),
    ("the tangent, upside down", NEW, "1 - before / after * (1 - beta2)"),
    ("whole numbers by //: divide with /", NEW, "beta2 ** (after // before)"),
    ("rounded: keep all digits", RETURN, "return round(new, 4)"),
    ("refused is a new beta2 below 0.5, not at it", BELOW, "if new <= 0.5"),
    ("the new beta2 decides, not the old one", BELOW, "if beta2 < 0.5"),
    (GONE, BELOW, "if False"),
    ("a smaller batch is refused as well", BELOW, "if after > before and new < 0.5"),
    ("decide before rounding: it is 0.49999974", BELOW, "if round(new, 3) < 0.5"),
]:
    exercise.edit(_thought, [tuple(_change)])
exercise.edit("names the new one", [("{beta2} would become ", "")], says="without '0.95'")
exercise.edit("names three digits", [("{beta2}", "{beta2:.3f}")], says="without '0.7071066'")


@exercise.style
def through_the_half_life(beta2, before, after):
    """through the half-life"""
    import math

    steps = math.log(0.5) / math.log(beta2) * before / after
    if steps < 1 - 1e-12:
        raise ValueError(f"beta2 {beta2}: a half-life of {steps} steps")
    return 0.5 ** (1 / steps)


@exercise.style
def tensor(beta2, before, after):
    """a tensor of float64"""
    import torch

    new = torch.tensor(beta2, dtype=torch.float64) ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2}: less than a step")
    return new
