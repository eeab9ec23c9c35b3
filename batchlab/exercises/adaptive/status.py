"""The line of a monitor: what the step held, whether its gradient is usual, where time went."""

import statistics

import numpy as np

from batchlab.exercises import Exercise


def status(step):
    """{"sequences", "targets", "norm", "slowest"} of one optimizer step."""
    *before, now = step["norms"]
    return {
        "sequences": sum(len(piece) for piece in step["micro_batches"]),
        "targets": sum(sum(piece) for piece in step["micro_batches"]),
        "norm": now / statistics.median(before) if before else 1.0,
        "slowest": max(step["seconds"], key=step["seconds"].get),
    }


def of(micro_batches, norms, **seconds):
    return ({"micro_batches": micro_batches, "norms": norms, "seconds": seconds},)


def asked(step):
    long = len(step["norms"]) > 20
    shown = step | {"norms": f"{len(step['norms'])} norms"} if long else step
    return f"status of {shown}"


def drawn(rng):
    for _ in range(10):
        pieces = [
            rng.integers(0, 900, rng.integers(1, 6)).tolist()
            for _ in range(int(rng.integers(1, 7)))
        ]
        norms = rng.uniform(0.5, 4, rng.integers(1, 9)).round(3).tolist()
        parts = zip(("input", "training", "optimizer"), rng.permutation(9)[:3].tolist())
        yield of(pieces, norms, **dict(parts))
    yield of([[4, 4], [], [3]], [2.0, 2.5], wait=0.25, training=0.125)
    yield of([[2**31, 2**31], [1]], [5.0, 1.0, 1.5, 2.5, 1.5, 3.0, 12.0], x=1, y=2, z=1.5)
    yield of([[6]], [3.0] * 150 + [2.0] * 139 + [0.5, 6.0], training=0.5)


exercise = Exercise(
    status,
    given=("statistics",),
    asked=asked,
    explain=lambda got, step: (
        "another part takes more seconds" if got["slowest"] in step["seconds"] else ""
    ),
    drawn=drawn,
    hints=(
        "sequences are the lengths of the inner lists, targets their sums",
        "*before, now = step['norms'] takes the last one off; statistics.median takes the rest",
        "max(seconds, key=seconds.get) is the name with the most seconds",
    ),
    shown=[
        of(
            [[5, 3], [0, 4], [9]],
            [1.5, 9.0, 2.5, 3.0, 5.0, 2.0],
            input=0.2,
            training=0.5,
            control=0.1,
        ),
        of([[6], [2, 7]], [5.0, 3.0, 4.0, 1.0, 2.0], training=0.5, input=0.8),
        of([[6]], [0.7], training=0.5),
        of([[6]], [1.0] * 30 + [3.0] * 25 + [6.0], training=0.5),
    ],
    passed="Right: what the step held, whether its gradient is usual, and where its time went.",
)
COUNT, TARGETS, MEDIAN, NORM, SLOWEST = (
    'sum(len(piece) for piece in step["micro_batches"])',
    'sum(sum(piece) for piece in step["micro_batches"])',
    "statistics.median(before)",
    "now / statistics.median(before) if before else 1.0",
    'max(step["seconds"], key=step["seconds"].get)',
)
PIECES = 'step["micro_batches"]'
for _thought, _old, _new in [
    ("micro-batches counted, not sequences", COUNT, f"len({PIECES})"),
    (
        "the first micro-batch times their number: they may hold different sequences",
        COUNT,
        f"len({PIECES}) * len({PIECES}[0])",
    ),
    ("sequences of the first micro-batch only", COUNT, f"len({PIECES}[0])"),
    ("sequences of the last micro-batch only", COUNT, f"len({PIECES}[-1])"),
    (
        "sequences without targets are sequences, too",
        COUNT,
        f"sum(n > 0 for piece in {PIECES} for n in piece)",
    ),
    ("targets of the first micro-batch only", TARGETS, f"sum({PIECES}[0])"),
    ("targets of the last micro-batch only", TARGETS, f"sum({PIECES}[-1])"),
    (
        "slots, not targets: the longest sequence for all",
        TARGETS,
        f"sum(len(piece) * max(piece, default=0) for piece in {PIECES})",
    ),
    (
        "the norm over the mean: one spike of the past hides the next",
        MEDIAN,
        "statistics.mean(before)",
    ),
    (
        "the norm over the last one before: two spikes in a row look calm",
        MEDIAN,
        "before[-1]",
    ),
    ("the norm over the largest before", MEDIAN, "max(before)"),
    ("the norm over the smallest before", MEDIAN, "min(before)"),
    (
        "the lower median: of an even number take the mean of the middle two",
        MEDIAN,
        "sorted(before)[(len(before) - 1) // 2]",
    ),
    (
        "the upper median: of an even number take the mean of the middle two",
        MEDIAN,
        "sorted(before)[len(before) // 2]",
    ),
    (
        "the median with this step's own norm in it",
        MEDIAN,
        'statistics.median(step["norms"])',
    ),
    (
        "norms are in order of steps: the middle of them is not the median",
        MEDIAN,
        "before[len(before) // 2]",
    ),
    ("a window of the last norms: all before count", MEDIAN, "statistics.median(before[-10:])"),
    ("the norm itself, over nothing", NORM, "now"),
    (
        "upside down: this step's norm over the median",
        NORM,
        "statistics.median(before) / now if before else 1.0",
    ),
    (
        "a norm below the usual is told as it is, not as 1",
        NORM,
        "max(1.0, now / statistics.median(before)) if before else 1.0",
    ),
    ("a first step is as usual: 1", NORM, "now / statistics.median(before or [1])"),
    ("a first step is as usual: 1", NORM, "now / statistics.median(before) if before else 0.0"),
    ("the part with the fewest seconds", SLOWEST, 'min(step["seconds"], key=step["seconds"].get)'),
    ("the last name of all: the seconds decide", SLOWEST, 'max(step["seconds"])'),
]:
    exercise.edit(_thought, [(_old, _new)])
for _thought, _says, _old, _new in [
    ("no first step", "StatisticsError", " if before else 1.0", ""),
    ("its seconds", "seconds", SLOWEST, 'max(step["seconds"].values())'),
    ("other keys", "keys", '"norm": now', '"grad_norm": now'),
    (
        "takes the norm off the list",
        "changed",
        "*before, now = step",
        "now = step['norms'].pop()\n    before = step",
    ),
]:
    exercise.edit(_thought, [(_old, _new)], says=_says)
exercise.edit("targets are a count, so an int", [(TARGETS, f"float({TARGETS})")])


@exercise.style
def one_after_another(step):
    """one after the other"""
    before, now = step["norms"][:-1], step["norms"][-1]
    counts = [n for piece in step["micro_batches"] for n in piece]
    usual = statistics.median(before) if before else now
    slowest = max(step["seconds"], key=lambda part: step["seconds"][part])
    return {
        "sequences": len(counts),
        "targets": sum(counts),
        "norm": now / usual,
        "slowest": slowest,
    }


@exercise.style
def arrays(step):
    """arrays"""
    norms = np.array(step["norms"])
    seconds = sorted(step["seconds"].items(), key=lambda pair: -pair[1])
    pieces = [np.array(piece, dtype=np.int64) for piece in step["micro_batches"]]
    return {
        "slowest": seconds[0][0],
        "norm": norms[-1] / np.median(norms[:-1]) if len(norms) > 1 else 1,
        "targets": np.concatenate(pieces).sum(),
        "sequences": sum(map(len, pieces)),
    }
