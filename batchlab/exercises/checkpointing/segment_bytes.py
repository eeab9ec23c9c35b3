"""A napkin formula: the activations of equal layers at the fullest moment."""

from batchlab.exercises import Exercise


def segment_bytes(layers, segments, edge, kept):
    """Most bytes of activations of `layers` equal layers in `segments` recomputed segments."""
    longest = -(-layers // segments)
    return (segments - 1) * edge + longest * kept


def drawn(rng):
    for _ in range(15):
        n, edge = int(rng.integers(2, 2000)), float(rng.integers(1, 50)) + 0.5
        k, kept = int(rng.integers(1, n + 1)), edge * int(rng.integers(2, 30))
        yield from [(n, k, edge, kept), (n, k, edge, kept + 1), (n + 1, k, edge, kept)]
    yield 17, 6, 67_108_864.0, 1_375_731_713.0


exercise = Exercise(
    segment_bytes,
    hints=(
        "how many layers has the longest segment?",
        "before the last segment stand segments - 1 others, each with one edge",
        "(segments - 1) * edge + ceil(layers / segments) * kept",
    ),
    asked="bytes of {} layers in {} segments, edge {}, kept {}".format,
    shown=[(14, 6, 2.25, 2.5), (12, 4, 4.0, 30.0), (13, 6, 2.25, 2.5)],
    drawn=drawn,
    passed="Right: edges stay, one segment comes back whole.",
)
LONGEST, VALUE = "-(-layers // segments)", "(segments - 1) * edge + longest * kept"
for _thought, _old, _new in [
    ("memory divided by the segments: their inputs stay, too", VALUE, "layers * kept / segments"),
    (
        "layers divide by segments as a fraction: the longest segment counts whole",
        LONGEST,
        "layers / segments",
    ),
    ("the longest segment is rounded down", LONGEST, "layers // segments"),
    (
        "one spare layer is ignored: the longest segment has it",
        LONGEST,
        "(layers + segments - 2) // segments",
    ),
    ("the inputs of the segments are forgotten", VALUE, "longest * kept"),
    (
        "the input of the segment itself is counted twice: it is a part of what it keeps",
        "(segments - 1) * edge",
        "segments * edge",
    ),
    (
        "recomputing counted as memory: what was freed is not added",
        "longest * kept",
        "layers * kept",
    ),
    ("no second copy: what is computed again is held once", "longest * kept", "2 * longest * kept"),
    ("one layer comes back: its whole segment does", "longest * kept", "kept"),
    (
        "every layer's input stays: only that of each segment does",
        "(segments - 1) * edge",
        "(layers - 1) * edge",
    ),
    ("the two sizes are exchanged", VALUE, "(segments - 1) * kept + longest * edge"),
    (
        "the input of a layer is a part of what it keeps: take nothing off",
        "longest * kept",
        "longest * (kept - edge)",
    ),
    (
        "the edges and the segment are there at the same time: add them",
        VALUE,
        "max((segments - 1) * edge, longest * kept)",
    ),
    (
        "all spare layers in one segment: segments are as even as they can be",
        LONGEST,
        "layers // segments + layers % segments",
    ),
    (
        "one more than the whole division: nothing is added where it leaves no rest",
        LONGEST,
        "layers // segments + 1",
    ),
    (
        "full segments and a shorter rest are fewer than asked: make them even",
        "(segments - 1)",
        "(-(-layers // longest) - 1)",
    ),
    (
        "inside the segment the inputs are a part of what layers keep",
        "(segments - 1)",
        "(segments + longest - 2)",
    ),
    ("whole bytes: sizes may be fractions", VALUE, f"int({VALUE})"),
    ("gigabytes: bytes are asked", VALUE, f"({VALUE}) / 1e9"),
]:
    exercise.edit(_thought, [(_old, _new)])


@exercise.style
def walking(layers, segments, edge, kept):
    """by walking through the segments"""
    cuts = [layers * n // segments for n in range(segments + 1)]
    return max(n * edge + (b - a) * kept for n, (a, b) in enumerate(zip(cuts, cuts[1:])))


@exercise.style
def numpy(layers, segments, edge, kept):
    """NumPy"""
    import numpy as np

    return np.float64(segments - 1) * edge + np.ceil(layers / segments) * kept
