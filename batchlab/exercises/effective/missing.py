"""The one of four that a launch file leaves out: whole = rows x accumulation x replicas."""

from batchlab.exercises import Exercise
from batchlab.exercises.effective import near, offers_none


def missing(rows, accumulation, replicas, whole):
    """Return the one that is None, as an int, or a ValueError that names the nearest wholes."""
    known = 1
    for one in (rows, accumulation, replicas):
        known *= one or 1
    if whole is None:
        return known
    if whole % known:
        below = whole // known * known
        raise ValueError(f"{whole} sequences: try {below or ''} {below + known}")
    return whole // known


def drawn(rng):
    for _ in range(16):
        rows, accumulation, replicas = (int(one) for one in rng.integers(2, 30, 3))
        full = [rows, accumulation, replicas, rows * accumulation * replicas]
        for place in range(4):
            yield tuple(None if place == n else one for n, one in enumerate(full))
        off = int(rng.integers(1, rows * replicas))
        yield rows, None, replicas, full[3] + off
        yield None, accumulation, replicas, int(rng.integers(1, accumulation * replicas))
    yield 90_001, None, 70_001, 90_001 * 70_001 * 80_021


def misnamed(said, rows, accumulation, replicas, whole):
    part = (rows or 1) * (accumulation or 1) * (replicas or 1)
    return (
        "a whole of 0 trains nothing: 0 is no offer"
        if offers_none(said, near(whole, part)[-1])
        else ""
    )


exercise = Exercise(
    missing,
    points=2,
    hints=(
        "multiply those of rows, accumulation and replicas that are known",
        "the whole is that product; or the product divides the whole, if nothing is left",
        "below = whole // known * known, above = below + known; 0 is no offer",
    ),
    asked=lambda rows, accumulation, replicas, whole: (
        f"rows {rows}, accumulation {accumulation}, replicas {replicas}, whole {whole}"
    ),
    mentions=lambda rows, accumulation, replicas, whole: near(
        whole, (rows or 1) * (accumulation or 1) * (replicas or 1)
    ),
    misnamed=misnamed,
    shown=[
        (4, None, 8, 256),
        (4, 3, 8, None),
        (None, 4, 16, 512),
        (2, 8, None, 96),
        (4, None, 6, 64),
        (None, 8, 4, 20),
    ],
    drawn=drawn,
    passed="Right: three of the four decide the fourth, or nobody can train that step.",
)
START, END = "    known = 1\n", "    return whole // known"
REFUSE, SAID = "    if whole % known:\n", "{whole} sequences: try {below or ''} {below + known}"
for _thought, _says, *_changes in [
    ("a silent floor: refuse what does not divide", "", (REFUSE, "    if False:\n")),
    (
        "rounded to the nearest: refuse what does not divide",
        "",
        (REFUSE, "    if False:\n"),
        (END, "    return round(whole / known)"),
    ),
    (
        "the replicas are forgotten: each of them takes its own rows",
        "",
        ("(rows, accumulation, replicas):", "(rows, accumulation):"),
    ),
    (
        "the accumulation is forgotten: it multiplies, too",
        "",
        ("(rows, accumulation, replicas):", "(rows, replicas):"),
    ),
    (
        "added: the three multiply",
        "",
        ("known *= one or 1", "known += one or 0"),
        (START, "    known = 0\n"),
    ),
    (
        "an accumulation of 1 is right only where nothing decides it: here the whole does",
        "",
        (START, "    if accumulation is None:\n        return 1\n" + START),
    ),
    (
        "what one replica sees is rows x accumulation: divide by the accumulation, too",
        "",
        (START, "    if rows is None:\n        return whole // replicas\n" + START),
    ),
    (
        "one replica is a guess: here the others decide how many there are",
        "",
        (START, "    if replicas is None:\n        return 1\n" + START),
    ),
    (
        "any of the four may be left out, the replicas, too",
        "",
        (START, "    if replicas is None:\n        raise ValueError('replicas?')\n" + START),
    ),
    (
        "upside down: the whole is divided by the known ones",
        "",
        (REFUSE, "    if False:\n"),
        (END, "    return known // whole"),
    ),
    ("floats: a count is an int", "a count is an int", (END, "    return whole / known")),
    ("refuses, and does not say what would do", "without 48", (SAID, "it does not divide")),
    ("a whole of 0 trains nothing: 0 is no offer", "0 is no offer", ("below or ''", "below")),
    ("below is one round too low", "", ("{below or ''}", "{below - known}")),
    (
        "too small a whole has no split: refuse it, too",
        "",
        (REFUSE, "    if whole % known and whole > known:\n"),
        (END, "    return max(1, whole // known)"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def case_by_case(rows, accumulation, replicas, whole):
    """case by case"""
    if whole is None:
        return rows * accumulation * replicas
    if rows is None:
        part = accumulation * replicas
    elif accumulation is None:
        part = rows * replicas
    else:
        part = rows * accumulation
    found, left = divmod(whole, part)
    if left:
        offers = [f"{n * part:,}" for n in (found, found + 1) if n]
        raise ValueError(" or ".join(offers) + " would divide")
    return found


@exercise.style
def with_prod(rows, accumulation, replicas, whole):
    """math.prod"""
    from math import prod

    part = prod(one for one in (rows, accumulation, replicas) if one is not None)
    if whole is None:
        return part
    if whole % part == 0:
        return whole // part
    raise ValueError([n for n in (whole - whole % part, whole - whole % part + part) if n])
