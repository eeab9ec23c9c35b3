"""Fill and target share: two ratios of sums."""

import numpy as np

from batchlab.exercises import Exercise


def shares(seen):
    """(fill, target share) over all measured micro-batches together."""
    slots, tokens, targets = (sum(column) for column in zip(*seen))
    return tokens / slots, targets / tokens


def drawn(rng):
    """Lists of a few micro-batches, without targets and without tokens, too; then large counts."""
    for _ in range(20):
        some = [(int(rng.integers(5, 90)), 4, 0)]
        for _ in range(int(rng.integers(1, 6))):
            slots = int(rng.integers(2, 90))
            tokens = int(rng.integers(1, slots + 1))
            some.append((slots, tokens, int(rng.integers(0, tokens + 1))))
        some += [some[-1], (int(rng.integers(1, 90)), 0, 0)]
        yield (some,)
        yield (some[::-1],)
        yield ([(slots + 7, tokens, targets) for slots, tokens, targets in some],)
    yield ([(10, 4, 0)],)
    yield ([(10**10 + 3, 7 * 10**9, 2 * 10**9 + 1), (12, 5, 3), (6 * 10**9, 10**9, 10**6)],)
    yield ([(1000 + 7 * k, 400 + 3 * k, 90 + k) for k in range(3000)],)


exercise = Exercise(
    shares,
    hints=(
        "add first, divide last",
        "three sums over the list: slots, real tokens, targets; then two quotients",
    ),
    asked=lambda seen: f"{seen if len(seen) < 8 else f'{len(seen):,} micro-batches'}",
    parts=("fill", "target share"),
    shown=[
        ([(100, 80, 20), (300, 20, 18)],),
        ([(100, 80, 20), (60, 0, 0), (300, 20, 18), (100, 80, 0)],),
        ([(60, 0, 0), (100, 80, 20), (300, 20, 18)],),
        ([(100, 80, 20), (100, 80, 20), (300, 20, 18)],),
        ([(10, 4, 0)],),
        ([(10**7, 1234, 567)],),
    ],
    drawn=drawn,
    passed="Right: both are ratios of sums, over all micro-batches together.",
)
FILL, TARGET = "tokens / slots", "targets / tokens"
SUMS = "    slots, tokens, targets = (sum(column) for column in zip(*seen))\n"
for _thought, _says, *_changes in [
    ("targets per slot: the share is of the real tokens", "", (TARGET, "targets / slots")),
    ("the waste: fill is what is real", "", (FILL, "1 - tokens / slots")),
    ("fill comes first", "", (f"{FILL}, {TARGET}", f"{TARGET}, {FILL}")),
    (
        "upside down: a share is the part over the whole",
        "",
        (f"{FILL}, {TARGET}", "slots / tokens, tokens / max(targets, 1)"),
    ),
    ("in per cent: a share lies between 0 and 1", "", (FILL, "100 * tokens / slots")),
    ("targets are not the fill: prompts are real, too", "", (FILL, "targets / slots")),
    ("padding counted as tokens: slots are not tokens", "", (FILL, "slots / slots")),
    ("`//` rounds down: divide with `/`", "", (FILL, "tokens // slots")),
    (
        "targets per slot: return both shares, not their product",
        "2 things",
        (f"{FILL}, {TARGET}", f"{FILL} * ({TARGET})"),
    ),
    (
        "first tokens are no targets already: take nothing off",
        "",
        (TARGET, "(targets - len(seen)) / tokens"),
    ),
    (
        "a micro-batch without targets takes its slots all the same",
        "",
        (SUMS, "    seen = [one for one in seen if one[2]] or seen\n" + SUMS),
    ),
    (
        "padding alone: it counts all the same, at any place",
        "",
        (SUMS, "    seen = [one for one in seen if one[1]]\n" + SUMS),
    ),
    (
        "padding alone counts at the start as well",
        "",
        (SUMS, "    while not seen[0][1]:\n        seen = seen[1:]\n" + SUMS),
    ),
    (
        "a micro-batch without targets has real tokens all the same",
        "",
        (TARGET, "targets / (sum(n for _, n, goals in seen if goals) or tokens)"),
    ),
    (
        "two equal micro-batches are two: a set counts them once",
        "",
        (SUMS, "    seen = set(seen)\n" + SUMS),
    ),
    ("no target at all: the target share is 0", "", (TARGET, "(targets or tokens) / tokens")),
    ("the first micro-batch only", "", (SUMS, "    seen = seen[:1]\n" + SUMS)),
    ("sorts the list that it was given", "changed", (SUMS, "    seen.sort()\n" + SUMS)),
]:
    exercise.edit(_thought, _changes, says=_says)
for _digits in (2, 6):
    exercise.edit(
        "rounded: return the quotients themselves",
        [(FILL, f"round({FILL}, {_digits})"), (TARGET, f"round({TARGET}, {_digits})")],
    )


@exercise.mistake
def means(seen):
    """the means of the shares: a small micro-batch counts as much as a large one"""
    fills = [tokens / slots for slots, tokens, _ in seen]
    some = [targets / tokens for _, tokens, targets in seen if tokens]
    return sum(fills) / len(fills), sum(some) / len(some)


@exercise.mistake
def mean_of_target_shares(seen):
    """the target share is the mean of several: add the tokens first"""
    some = [targets / tokens for _, tokens, targets in seen if tokens]
    return sum(n for _, n, _ in seen) / sum(s for s, _, _ in seen), sum(some) / len(some)


@exercise.style
def with_numpy(seen):
    """with arrays"""
    slots, tokens, targets = np.asarray(seen).sum(axis=0)
    return np.array([tokens / slots, targets / tokens])


@exercise.style
def a_loop(seen):
    """a loop, as a list"""
    slots = tokens = targets = 0
    for one in seen:
        slots, tokens, targets = slots + one[0], tokens + one[1], targets + one[2]
    return [tokens / slots, targets / tokens]
