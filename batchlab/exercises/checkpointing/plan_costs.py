"""The bill of a plan: bytes at the fullest moment, FLOPs that are computed again."""

from batchlab.exercises import Exercise


def plan_costs(pieces, segments):
    """(most bytes, FLOPs computed again) for pieces (edge, kept, flops), segments (first, end)."""
    ends, at, before, peak, again = dict(segments), 0, 0.0, 0.0, 0.0
    while at < len(pieces):
        end = ends.get(at, at + 1)
        whole = sum(kept for _, kept, _ in pieces[at:end])
        peak = max(peak, before + whole)
        before += pieces[at][0] if at in ends else whole
        again += sum(flops for *_, flops in pieces[at:end]) if at in ends else 0
        at = end
    return peak, again


def plans(count, first=0):
    """Every way to recompute some runs of pieces and to keep the others.

    >>> sorted(plans(2))
    [[], [(0, 1)], [(0, 1), (1, 2)], [(0, 2)], [(1, 2)]]
    """
    if first == count:
        yield []
        return
    yield from plans(count, first + 1)
    for end in range(first + 1, count + 1):
        yield from ([(first, end), *rest] for rest in plans(count, end))


def some_pieces(rng, count):
    return [(int(e), int(e + m), int(f)) for e, m, f in rng.integers(1, 60, (count, 3))]


def drawn(rng):
    for _ in range(15):
        pieces = some_pieces(rng, int(rng.integers(1, 7)))
        every = list(plans(len(pieces)))
        for n in rng.integers(len(every), size=2):
            yield pieces, every[int(n)]
    yield some_pieces(rng, 400), [(n, n + 3) for n in range(0, 390, 5)]
    yield [(6, 70, 2)], [(0, 1)]


SIX = [(7, 56, 13), (9, 37, 19), (2, 44, 18), (4, 53, 19), (5, 47, 3), (9, 43, 19)]
exercise = Exercise(
    plan_costs,
    points=2,
    parts=("most bytes", "FLOPs again"),
    hints=(
        "walk from the first piece to the last, and note what is held before each",
        "fullest of all: what earlier ones hold, plus everything the piece or segment keeps",
        "then add to what is held: all of a kept piece, only the first edge of a segment",
    ),
    asked=lambda pieces, segments: (
        f"costs of pieces {pieces if len(pieces) < 9 else f'({len(pieces)} of them)'} with plan "
        f"{segments if len(segments) < 9 else f'of {len(segments)} segments'}"
    ),
    shown=[
        (SIX, [(1, 3), (3, 5)]),
        ([(1, 10, 5), (2, 20, 7), (1, 10, 5)], []),
        ([(0.5, 3.25, 2), (1.5, 4.75, 1)], [(0, 1)]),
    ],
    drawn=drawn,
    passed="Right: earlier pieces hold, the segment comes back, later ones are gone.",
)
HELD, PEAK, BACK = "pieces[at][0] if at in ends else whole", "before + whole)", "return peak, again"
END = "the first moment of the backward pass alone: an earlier segment comes back whole later"
ALL = "sum(p[2] for p in pieces)"
for _thought, *_changes in [
    (
        END,
        (BACK, "return before, again"),
    ),
    ("the largest piece alone: what earlier pieces hold is there, too", (PEAK, "whole)")),
    (
        END,
        ("max(peak, before + whole)", "before + whole"),
    ),
    ("nothing is freed: the recomputed pieces hold their inputs alone", (HELD, "whole")),
    (
        "a segment holds the input of its first piece, not those of all",
        (HELD, "sum(p[0] for p in pieces[at:end]) if at in ends else whole"),
    ),
    (
        "the input is a part of what a layer keeps: it is counted twice",
        (PEAK, "before + whole + (pieces[at][0] if at in ends else 0))"),
    ),
    (
        "the input of a kept piece is a part of what it keeps",
        ("        peak =", "        whole += 0 if at in ends else pieces[at][0]\n        peak ="),
    ),
    (
        "the edge of a segment is the input of its first piece, not of its last",
        ("pieces[at][0] if", "pieces[end - 1][0] if"),
    ),
    ("an earlier kept piece holds all that it keeps, not its edge alone", (HELD, "pieces[at][0]")),
    (
        "all pieces of a segment come back, not the largest alone",
        ("whole = sum(kept for", "whole = max(kept for"),
    ),
    (
        "kept pieces have a backward pass, too: it may be the fullest moment",
        (PEAK, "before + whole * (at in ends))"),
    ),
    (
        "inside a segment its pieces are no units of their own: go on at its end",
        ("        at = end", "        at += 1"),
    ),
    (
        "without any segment the kept pieces need their bytes, too",
        (BACK, "return (peak if segments else 0), again"),
    ),
    (
        "`end` is the first piece behind the segment",
        ("ends.get(at, at + 1)", "ends.get(at, at) + 1"),
    ),
    (
        "the backward pass is not run again: only the forward pass is",
        (BACK, "return peak, 3 * again"),
    ),
    ("cost doubled: one more forward pass, not two", (BACK, "return peak, 2 * again")),
    (
        "all FLOPs: only those of segments are computed again",
        (" if at in ends else 0\n        at", "\n        at"),
    ),
    (
        "the FLOPs of the kept pieces: asked are those of segments",
        ("if at in ends else 0\n", "if at not in ends else 0\n"),
    ),
    (
        "the last piece of a segment is run again, too",
        ("sum(flops for *_, flops in pieces[at:end])", "sum(p[2] for p in pieces[at : end - 1])"),
    ),
    ("a share: asked are FLOPs", (BACK, f"return peak, again / {ALL}")),
    ("a share of a step: asked are FLOPs", (BACK, f"return peak, again / {ALL} / 3")),
    (
        "the last segment alone: add up the FLOPs of all",
        ("again += sum(flops", "again = sum(flops"),
        ("ends else 0\n", "ends else again\n"),
    ),
    (
        "a number of pieces: asked are FLOPs",
        ("sum(flops for *_, flops in pieces[at:end])", "end - at"),
    ),
    ("whole bytes: sizes may be fractions", (BACK, "return int(peak), again")),
    ("the two numbers are exchanged: bytes first, then FLOPs", (BACK, "return again, peak")),
]:
    exercise.edit(_thought, _changes)
exercise.edit("the peak alone", [(BACK, "return peak")], says="2 things are needed")


@exercise.mistake
def later_hold(pieces, segments):
    """later pieces are gone by then: their backward pass is over"""
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    held += sum(pieces[a][0] for a, b in segments)
    back = max([sum(p[1] for p in pieces[a:b]) - pieces[a][0] for a, b in segments], default=0)
    return held + back, sum(pieces[n][2] for n in inside)


@exercise.mistake
def at_once(pieces, segments):
    """what comes later is freed: walk in order"""
    inside = {n for a, b in segments for n in range(a, b)}
    held = sum(p[1] for n, p in enumerate(pieces) if n not in inside)
    held += sum(pieces[a][0] for a, b in segments)
    back = max([sum(p[1] for p in pieces[a:b]) for a, b in segments], default=0)
    return held + back, sum(pieces[n][2] for n in inside)


@exercise.mistake
def backwards(pieces, segments):
    """later pieces are free by then: walk from the first piece to the last"""
    firsts, end, held, peak, again = {b: a for a, b in segments}, len(pieces), 0, 0, 0
    while end:
        first = firsts.get(end, end - 1)
        whole = sum(p[1] for p in pieces[first:end])
        peak = max(peak, held + whole)
        held += pieces[first][0] if end in firsts else whole
        again += sum(p[2] for p in pieces[first:end]) if end in firsts else 0
        end = first
    return peak, again


@exercise.style
def moments(pieces, segments):
    """one list of moments"""
    inside = {n: (a, b) for a, b in segments for n in range(a, b)}
    moments, held = [0], 0
    for n, (edge, kept, _) in enumerate(pieces):
        a, b = inside.get(n, (n, n + 1))
        if n == a:
            moments.append(held + sum(p[1] for p in pieces[a:b]))
            held += edge if n in inside else kept
    return [max(moments), sum(pieces[n][2] for n in inside)]


@exercise.style
def earlier(pieces, segments):
    """what is earlier, run by run"""
    covered = {n for a, b in segments for n in range(a, b)}
    runs = [*map(tuple, segments)] + [(n, n + 1) for n in range(len(pieces)) if n not in covered]
    peak = 0
    for a, b in runs:
        earlier = sum(pieces[c][0] for c, d in segments if c < a)
        earlier += sum(pieces[n][1] for n in range(a) if n not in covered)
        peak = max(peak, earlier + sum(p[1] for p in pieces[a:b]))
    return peak, sum(pieces[n][2] for n in covered)
