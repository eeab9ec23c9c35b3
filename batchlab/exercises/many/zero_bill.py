"""A napkin formula: what a rank keeps and sends under ZeRO."""

from batchlab.exercises import Exercise


def zero_bill(parameters, ranks, stage, accumulation):
    """(bytes kept, bytes sent in one optimizer step) by one rank under ZeRO stage 0 to 3."""
    cut = [ranks if stage >= first else 1 for first in (3, 2, 1)]
    kept = parameters * (2 / cut[0] + 2 / cut[1] + 12 / cut[2])
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    return kept, passes * 2 * parameters * (ranks - 1) / ranks


def drawn(rng):
    for stage in (0, 1, 2, 3) * 4:
        case = int(rng.integers(10**5, 10**11)), int(rng.integers(2, 2000)), stage
        yield *case, int(rng.integers(1, 60))
        yield *case, int(rng.integers(60, 90))
    yield 70, 1, 3, 3
    yield 8_000_000, 2, 2, 1


exercise = Exercise(
    zero_bill,
    points=2,
    hints=(
        "kept: 2, 2 and 12 bytes, each divided by the ranks from its stage on",
        "count passes: once a step, or once a micro-batch? An all-reduce is two",
        "sent: passes x 2 x parameters x (ranks - 1) / ranks",
    ),
    asked=lambda p, n, stage, a: (
        f"{p:,} parameters, {n} ranks, ZeRO stage {stage}, {a} micro-batches"
    ),
    parts=("bytes kept", "bytes sent"),
    rel=1e-6,
    shown=[
        (7_500_000_000, 64, 0, 8),
        (7_500_000_000, 64, 1, 8),
        (7_500_000_000, 64, 2, 8),
        (7_500_000_000, 64, 3, 8),
        (73, 7, 1, 2),
    ],
    drawn=drawn,
    passed="Right: stage 3 keeps a 64th, and sends for every micro-batch.",
)
KEPT = "parameters * (2 / cut[0] + 2 / cut[1] + 12 / cut[2])"
PASSES = "(2, 2, accumulation + 1, 3 * accumulation)[stage]"
SENT = "passes * 2 * parameters * (ranks - 1) / ranks"
CUT = "first in (3, 2, 1)"
for _thought, _old, _new in [
    (
        "every rank keeps everything: from which stage on is which state cut?",
        KEPT,
        "parameters * 16",
    ),
    ("before stage 3 the parameters stay whole", CUT, "first in (1, 1, 1)"),
    (
        "stage 1 cuts the optimizer's 12 bytes, not the other 4: 4 + 12 / ranks",
        CUT,
        "first in ((3, 2, 1) if stage != 1 else (1, 1, 2))",
    ),
    ("everything is cut in every stage: stage 0 cuts nothing", CUT, "first in (0, 0, 0)"),
    ("the gradients are sharded one stage too early", CUT, "first in (3, 1, 1)"),
    ("the gradients are sharded from stage 2 on", CUT, "first in (3, 3, 1)"),
    ("the parameters are sharded from stage 3 on, not before", CUT, "first in (2, 2, 1)"),
    ("the order is optimizer, gradients, parameters", CUT, "first in (1, 2, 3)"),
    ("the optimizer's 12 bytes are missing", " + 12 / cut[2]", ""),
    ("8 bytes for the optimizer: the 32-bit master copy is 4 more", "12 / cut[2]", "8 / cut[2]"),
    ("the gradients are missing", "2 / cut[1] + ", ""),
    (
        "states in 32 bits: here parameters and gradients have 2 bytes each",
        KEPT,
        "parameters * (4 / cut[0] + 4 / cut[1] + 8 / cut[2])",
    ),
    ("of all ranks together: asked is one rank", "return kept, ", "return kept * ranks, "),
    ("in GB: asked are bytes", "return kept, ", "return kept / 1e9, "),
    ("in GiB: asked are bytes", "return kept, ", "return kept / 2**30, "),
    (
        "whole bytes, rounded down: fractions are meant, it is an average",
        "return kept, ",
        "return int(kept), ",
    ),
    (
        "whole bytes, rounded up: fractions are meant, it is an average",
        "return kept, ",
        "return -int(-kept // 1), ",
    ),
    (
        "whole bytes: fractions are meant, it is an average",
        "(ranks - 1) / ranks",
        "(ranks - 1) // ranks",
    ),
    ("rounded to a tenth of a byte: keep all digits", "return kept, ", "return round(kept, 1), "),
    (
        "no_sync forgotten: stages 0 and 1 wait for the last micro-batch",
        PASSES,
        "(2 * accumulation, accumulation + 1, accumulation + 1, 3 * accumulation)[stage]",
    ),
    (
        "no_sync forgotten: stages 0 and 1 wait for the last micro-batch",
        PASSES,
        "(2, accumulation + 1, accumulation + 1, 3 * accumulation)[stage]",
    ),
    (
        "accumulation saves traffic for stages 0 and 1 only",
        PASSES,
        "(2, 2, 2, 3 * accumulation)[stage]",
    ),
    (
        "accumulation saves traffic for stages 0 and 1 only",
        PASSES,
        "(2, 2, accumulation + 1, 3)[stage]",
    ),
    (
        "stage 2 gathers the weights once a step: it keeps them whole meanwhile",
        PASSES,
        "(2, 2, 2 * accumulation, 3 * accumulation)[stage]",
    ),
    (
        "stage 3 gathers for backward as well: what forward gathered is gone",
        PASSES,
        "(2, 2, accumulation + 1, 2 * accumulation)[stage]",
    ),
    (
        "stage 3 reduces for every micro-batch, too",
        PASSES,
        "(2, 2, accumulation + 1, 2 * accumulation + 1)[stage]",
    ),
    (
        "stage 3 gathers for every micro-batch",
        PASSES,
        "(2, 2, accumulation + 1, accumulation + 2)[stage]",
    ),
    (
        "half of it: an all-reduce is two passes, and a number has 2 bytes",
        PASSES,
        "(1, 2, accumulation + 1, 3 * accumulation)[stage]",
    ),
    (
        "stage 1 gathers the new weights: two passes",
        PASSES,
        "(2, 1, accumulation + 1, 3 * accumulation)[stage]",
    ),
    (
        "each reduce counts as an all-reduce: a piece needs one pass",
        PASSES,
        "(2, 3, 2 * accumulation + 1, 4 * accumulation)[stage]",
    ),
    ("the ring leaves out one rank's own part: (n-1)/n", SENT, "passes * 2 * parameters"),
    (
        "(n-1)/n of the bytes, not n/(n-1)",
        SENT,
        "passes * 2 * parameters * ranks / max(1, ranks - 1)",
    ),
    ("n - 1 messages, each of a piece of 1/n", SENT, "passes * 2 * parameters * (ranks - 1)"),
    ("a piece is sent n - 1 times", SENT, "passes * 2 * parameters / ranks"),
    (
        "half of it: an all-reduce is two passes, and a number has 2 bytes",
        SENT,
        "passes * parameters * (ranks - 1) / ranks",
    ),
    ("a number has 2 bytes here, not 4", SENT, "passes * 4 * parameters * (ranks - 1) / ranks"),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit("the kept bytes alone", [(", " + SENT, "")], says="2 things are needed")


@exercise.style
def step_by_step(parameters, ranks, stage, accumulation):
    """a list, step by step"""
    p, g, o = 2.0 * parameters, 2.0 * parameters, 12.0 * parameters
    if stage >= 1:
        o /= ranks
    if stage >= 2:
        g /= ranks
    if stage == 3:
        p /= ranks
    gathers = [1, 1, 1, 2 * accumulation][stage]
    reduces = [1, 1, accumulation, accumulation][stage]
    return [p + g + o, (gathers + reduces) * 2 * parameters * (1 - 1 / ranks)]


@exercise.style
def library(parameters, ranks, stage, accumulation):
    """the library, an array"""
    import numpy as np

    from batchlab import cluster

    form = ("ddp", "zero1", "zero2", "zero3")[stage]
    kept = cluster.zero(parameters, ranks, stage).total
    return np.array([kept, cluster.traffic(form, parameters, ranks, accumulation).rank_bytes])
