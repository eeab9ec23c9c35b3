"""Catch the bug: one test for eight wrong rules of who may start."""

from batchlab.exercises import Exercise


def admit_test(admit):
    """Fail (assert) for every wrong admit(waiting, running, rows, cache) -> number."""
    assert admit([(2, 3), (4, 5), (1, 1)], [(3, 2)], 8, 20) == 2  # a token too many for the third
    assert admit([(3, 2), (1, 4)], [(3, 2)], 8, 15) == 2  # fits exactly
    assert admit([(1, 6), (6, 1), (1, 1), (1, 1)], [(4, 2)], 9, 21) == 2  # both parts count
    assert admit([(1, 1)], [(3, 2), (1, 4), (3, 2)], 9, 16) == 0  # all that run count
    assert admit([(1, 1)] * 7, [(1, 1), (1, 1)], 6, 100) == 4  # rows
    assert admit([(1, 1)], [(2, 2), (2, 2)], 2, 100) == 0  # no row is free
    assert admit([(9, 9), (1, 1)], [], 4, 10) == 0  # nobody overtakes
    assert admit([], [(1, 1)], 3, 20) == 0


def admit(waiting, running, rows, cache):
    """How many of those that wait may start."""
    held, taken = sum(p + o for p, o in running), 0
    for p, o in waiting:
        if taken + len(running) >= rows or held + p + o > cache:
            break
        held, taken = held + p + o, taken + 1
    return taken


of = Exercise(admit)
right = admit
HELD, ROWS, LOOK, KEEP = (
    "sum(p + o for p, o in running)",
    "taken + len(running) >= rows",
    "held + p + o > cache",
    "held + p + o, taken + 1",
)
EACH, BREAK, END = "    for p, o in waiting:\n", "            break\n", "    return taken"
FIRST = "    held, taken = "
BUGS = {
    "too many; the cache grows with the output, and overflows later": [
        (HELD, "sum(p for p, o in running)"),
        (LOOK, "held + p > cache"),
        (KEEP, "held + p, taken + 1"),
    ],
    "too many; one token more than the cache": [(LOOK, "held + p + o > cache + 1")],
    "too many; those that run hold cache, too": [(HELD, "0")],
    "too many; those that run hold rows, too": [(ROWS, "taken >= rows")],
    "too many; each is compared with what is free now, as if it came alone": [
        (KEEP, "held, taken + 1")
    ],
    "unfair; what does not fit is skipped, and waits as long as shorter ones come": [
        (ROWS + " or " + LOOK, ROWS),
        (BREAK, BREAK + f"        if {LOOK}:\n            continue\n"),
    ],
    "too few; what fits exactly, fits": [(LOOK, "held + p + o >= cache")],
    "too few; nobody while others run, as in a static batch": [
        (END, "    return 0 if running else taken")
    ],
}
for _bug, _changes in BUGS.items():
    of.edit(_bug, _changes)


@of.style
def by_sums(waiting, running, rows, cache):
    """by sums"""
    import itertools

    free = cache - sum(map(sum, running))
    totals = itertools.accumulate(map(sum, waiting))
    fitting = len(list(itertools.takewhile(lambda total: total <= free, totals)))
    return max(0, min(fitting, rows - len(running)))


@of.style
def by_trying(waiting, running, rows, cache):
    """by trying"""
    for count in range(len(waiting), 0, -1):
        some = [*running, *waiting[:count]]
        if len(some) <= rows and sum(a + b for a, b in some) <= cache:
            return count
    return 0


exercise = Exercise(
    admit_test,
    points=2,
    hints=(
        "let the cache be the limit in one case, the rows in another, with somebody running in both",
        "let prompt + output of the second that waits fill the cache exactly, and a third wait behind it",
        "let the first not fit, and a short one wait behind it: 0",
        "write the rule a second time inside your test, and compare with it in a thousand small random cases",
    ),
    tests=(of, tuple(BUGS), ("by sums", "by trying")),
    passed="Right: eight wrong versions found, three right ones passed.",
)
LINES = [line for line in exercise.text.splitlines(keepends=True) if line.startswith("    assert")]
for _says, _number in {
    "what fits exactly, fits": 1,
    "what does not fit is skipped": 6,
}.items():
    exercise.edit(f"line {_number + 1} of eight left out", [(LINES[_number], "")], says=_says)
for _says, _thought, _body in [
    ("got through", "the example alone", "assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1"),
    (
        "right implementation",
        "rows are for the new",
        "assert admit([(1, 1)] * 5, [(1, 1)], 4, 100) == 4",
    ),
    (
        "right implementation",
        "prompts only",
        "assert admit([(2, 3), (4, 6), (1, 1)], [(3, 2)], 8, 10) == 3",
    ),
    (
        "right implementation",
        "overtaking asked",
        "assert admit([(9, 9), (1, 1)], [(1, 1)], 4, 10) == 1",
    ),
    ("right implementation", "a list asked", "assert admit([(1, 1)], [], 4, 100) == [(1, 1)]"),
    ("never failed", "no assert", "admit([(1, 1)] * 5, [(1, 1)], 4, 100) == 3"),
]:
    exercise.edit(_thought, [("".join(LINES), f"    {_body}\n")], says=_says)
for _says, _thought, _sign in [("too few", "at most", "<="), ("too many", "at least", ">=")]:
    exercise.edit(_thought, [("".join(LINES), "".join(LINES).replace("==", _sign))], says=_says)


@exercise.style
def random_search(admit):
    """a random search"""
    import random

    r = random.Random(0)
    for _ in range(1500):
        waiting, running = (
            [(r.randint(1, 5), r.randint(1, 5)) for _ in range(r.randint(0, most))]
            for most in (6, 3)
        )
        rows, cache = len(running) + r.randint(0, 4), sum(map(sum, running)) + r.randint(0, 26)
        held, taken = sum(map(sum, running)), 0
        for one in waiting:
            if taken + len(running) >= rows or held + sum(one) > cache:
                break
            held, taken = held + sum(one), taken + 1
        if rows:
            assert admit(waiting, running, rows, cache) == taken
