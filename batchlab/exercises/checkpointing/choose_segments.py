"""Build: of all plans that fit a budget, one that computes the fewest FLOPs again."""

from batchlab.classroom import plain
from batchlab.exercises import Exercise
from batchlab.exercises.checkpointing.plan_costs import plan_costs, plans, some_pieces


def choose_segments(pieces, budget):
    """Segments (first, end) that fit the budget in bytes and compute the fewest FLOPs again."""
    from batchlab.exercises.checkpointing.plan_costs import plan_costs  # or your own

    def plans(at):
        """Every plan for the pieces from number `at` on."""
        if at == len(pieces):
            yield []
            return
        yield from plans(at + 1)  # this piece is kept
        for end in range(at + 1, len(pieces) + 1):
            for rest in plans(end):
                yield [(at, end), *rest]

    best, fewest, least = None, float("inf"), float("inf")
    for plan in plans(0):
        peak, again = plan_costs(pieces, plan)
        least = min(least, peak)
        if peak <= budget and again < fewest:
            best, fewest = plan, again
    if best is None:
        raise ValueError(f"{budget} bytes are too few: every plan needs at least {least}")
    return best


def costs(pieces):
    """Bytes and FLOPs of every plan."""
    return [(*plan_costs(pieces, plan), plan) for plan in plans(len(pieces))]


def judged(got, pieces, budget):
    """What came and the cause; two empty texts where the plan is one of the best."""
    try:
        plan = [tuple(one) for one in plain.nested(got)]
    except (plain.NotPlain, TypeError):
        return plain.shown(got), "asked is a list of pairs (first, end)"
    if any(len(one) != 2 or any(type(n) is not int for n in one) for one in plan):
        return f"{plan}", "asked is a list of pairs (first, end) of whole numbers"
    borders = [n for one in plan for n in one]
    if any(not 0 <= n <= len(pieces) for n in borders) or any(a >= b for a, b in plan):
        return f"{plan}", "a segment is a run (first, end) of pieces that exist, with first < end"
    if borders != sorted(borders):
        return f"{plan}", "segments stand in order, and share no piece"
    peak, flops = plan_costs(pieces, plan)
    if peak > budget:
        inside = {n for first, end in plan for n in range(first, end)}
        held = sum(pieces[first][0] for first, _ in plan)
        held += sum(kept for n, (_, kept, _) in enumerate(pieces) if n not in inside)
        why = "a segment comes back whole in its backward pass" if held <= budget else ""
        return f"{plan}, which needs {peak:g} bytes", why
    best = min(again for bytes_, again, _ in costs(pieces) if bytes_ <= budget)
    if flops <= best * (1 + 1e-9):
        return "", ""
    why = "another plan that fits computes less again: try all of them"
    return f"{plan}: {flops:g} FLOPs again, {best:g} are enough", why


def least(pieces, budget):
    """What the text of a refusal must name."""
    fewest = min(peak for peak, _, _ in costs(pieces))
    return (int(fewest) if fewest == int(fewest) else fewest,)


def drawn(rng):
    for _ in range(10):
        pieces = some_pieces(rng, int(rng.integers(1, 7)))
        fewest, full = least(pieces, 0)[0], sum(kept for _, kept, _ in pieces)
        yield from [(pieces, fewest), (pieces, int(rng.integers(fewest, full + 1)))]
        yield pieces, fewest - 1
    yield [(1, 6 + n, 9 - n) for n in range(9)], 40


EQUAL = [(1, 10, 5)] * 4
VALLEY = [(3, 31, 8), (5, 47, 9), (2, 90, 1), (7, 29, 4), (4, 53, 6)]
TAIL = [(9, 20, 3), (1, 60, 50), (8, 30, 2), (8, 9, 40)]
exercise = Exercise(
    choose_segments,
    points=5,
    hints=(
        "write all plans of the pieces from number `at` on: keep it, or a segment to each end",
        "of the plans with plan_costs(pieces, plan)[0] <= budget, the one with the fewest FLOPs",
        "where none fits: ValueError, with the smallest first cost of all plans in its text",
    ),
    asked=lambda pieces, budget: f"plan for pieces {pieces} in {budget} bytes",
    fault=lambda got, *case: judged(got, *case)[0],
    explain=lambda got, *case: judged(got, *case)[1],
    mentions=least,
    shown=[
        (EQUAL, 31),
        (VALLEY, 168),
        (VALLEY, 125),
        (TAIL, 107),
        ([(1, 12, 3), (9, 12, 3), (9, 12, 3), (1, 40, 1)], 41),
        ([(1, 10, 5), (9, 10, 5), (9, 10, 5), (9, 10, 5), (9, 40, 50)], 41),
        ([(2.5, 20.25, 3_000_100), (2.5, 20.25, 3_000_500), (1.5, 30.75, 2_000_000)], 54),
        ([(1, 10.125, 2)], 9),
    ],
    drawn=drawn,
    passed="Right: no plan that fits computes less again.",
)
TAKEN, ENDS = "if peak <= budget and again < fewest:", "range(at + 1, len(pieces) + 1)"
BEST, BACK = "best, fewest = plan, again", "    return best"
RAISED = 'raise ValueError(f"{budget} bytes are too few: every plan needs at least {least}")'
ROUNDED = "the fewest bytes are not rounded: name them with all digits"
for _thought, *_changes in [
    (
        "nothing recomputed, whatever the budget",
        ("    return best", "    return []"),
        (RAISED, "pass"),
    ),
    (
        "the least memory: the budget has room for less recomputing",
        (TAKEN, "if peak <= budget and peak < fewest:"),
        (BEST, "best, fewest = plan, peak"),
    ),
    (
        "the fewest segments: asked are the fewest FLOPs again",
        (TAKEN, "if peak <= budget and len(plan) < fewest:"),
        (BEST, "best, fewest = plan, len(plan)"),
    ),
    (
        "every layer is recomputed: keep what the budget has room for",
        ("for plan in plans(0):", "for plan in [[(n, n + 1) for n in range(len(pieces))]]:"),
    ),
    (
        "even segments only: try all plans",
        (
            "for plan in plans(0):",
            "cuts = [[len(pieces) * n // k for n in range(k + 1)] for k in range(1, len(pieces) + 1)]\n"
            "    for plan in [[], *([*zip(c, c[1:])] for c in cuts)]:",
        ),
    ),
    (
        "from the front until it fits: other plans may compute less",
        (
            "for plan in plans(0):",
            "for plan in ([(n, n + 1) for n in range(k)] for k in range(len(pieces) + 1)):",
        ),
    ),
    (
        "the largest first, until it fits: other plans may compute less",
        (
            "for plan in plans(0):",
            "order = sorted(range(len(pieces)), key=lambda n: pieces[n][0] - pieces[n][1])\n"
            "    for plan in (sorted((n, n + 1) for n in order[:k]) for k in range(len(pieces) + 1)):",
        ),
    ),
    (
        "the cheapest byte first, until it fits: other plans may compute less",
        (
            "for plan in plans(0):",
            "order = sorted(range(len(pieces)), key=lambda n: pieces[n][2] / pieces[n][1])\n"
            "    for plan in (sorted((n, n + 1) for n in order[:k]) for k in range(len(pieces) + 1)):",
        ),
    ),
    ("exactly the budget is enough", (TAKEN, TAKEN.replace("<=", "<"))),
    ("segments of one piece alone: try segments of several, too", (ENDS, "[at + 1]")),
    (
        "segments of at most two pieces: try longer ones",
        (ENDS, "range(at + 1, min(at + 3, len(pieces) + 1))"),
    ),
    (
        "segments of at most three pieces: try longer ones",
        (ENDS, "range(at + 1, min(at + 4, len(pieces) + 1))"),
    ),
    (
        "the end of the forward pass fits: a segment comes back whole in its backward pass",
        (
            "peak, again = plan_costs(pieces, plan)\n",
            "again = plan_costs(pieces, plan)[1]\n"
            "        inside = {n for a, b in plan for n in range(a, b)}\n"
            "        peak = sum(pieces[a][0] for a, b in plan)\n"
            "        peak += sum(p[1] for n, p in enumerate(pieces) if n not in inside)\n",
        ),
    ),
    (
        "FLOPs as a rounded share: compare them as they are",
        (
            "peak, again = plan_costs(pieces, plan)\n",
            "peak, again = plan_costs(pieces, plan)\n"
            "        again = round(again / sum(piece[2] for piece in pieces), 3)\n",
        ),
    ),
    ("an empty segment at the end: first < end", (BACK, BACK + " + [(len(pieces), len(pieces))]")),
    ("in the wrong order: segments stand in order", (BACK, BACK + "[::-1]")),
    (
        "silence where no plan fits: refuse, with the fewest bytes",
        (RAISED, "return [(0, len(pieces))]"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("None where none fits: raise a ValueError", "ValueError is needed", (RAISED, "return None")),
    (
        "refuses without the least bytes",
        "without the least bytes",
        (": every plan needs at least {least}", ""),
    ),
    ("an assertion", "AssertionError", (RAISED, 'assert best is not None, f"at least {least}"')),
    (ROUNDED, "not rounded", ("{least}", "{least:.0f}")),
    (ROUNDED, "not rounded", (RAISED, 'raise ValueError(f"at least {least:.0f}")')),
    (ROUNDED, "not rounded", (RAISED, 'raise ValueError(f"at least {least:.1f}")')),
    (
        "names what is missing",
        "names what is missing",
        ("at least {least}", "{least - budget} more"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def border_by_border(pieces, budget):
    """border by border, lists for pairs"""
    states, done = {(): (0, 0, 0)}, []  # plan so far -> (pieces done, bytes held, most bytes)
    while states:
        plan, (at, held, peak) = states.popitem()
        if at == len(pieces):
            done.append((sum(p[2] for a, b in plan for p in pieces[a:b]), peak, plan))
            continue
        own = pieces[at][1]
        states[plan + ((at, at),)] = at + 1, held + own, max(peak, held + own)
        for end in range(at + 1, len(pieces) + 1):
            whole = sum(p[1] for p in pieces[at:end])
            states[plan + ((at, end),)] = end, held + pieces[at][0], max(peak, held + whole)
    fits = [one for one in done if one[1] <= budget]
    if not fits:
        raise ValueError(f"too few bytes: at least {min(one[1] for one in done)}")
    return [[a, b] for a, b in min(fits)[2] if b > a]


@exercise.style
def last_is_kept(pieces, budget):
    """the last piece is always kept: that is free; the last of equal plans, the bytes as a float"""

    def plans(at):
        if at == len(pieces):
            return [[]]
        after = [[(at, end), *rest] for end in range(at + 1, len(pieces)) for rest in plans(end)]
        return plans(at + 1) + after

    found = [(*plan_costs(pieces, plan), plan) for plan in plans(0)]
    fits = [(again, plan) for peak, again, plan in found if peak <= budget]
    if not fits:
        raise ValueError(f"at least {float(min(peak for peak, *_ in found))} bytes")
    return min(reversed(fits), key=lambda one: one[0])[1]
