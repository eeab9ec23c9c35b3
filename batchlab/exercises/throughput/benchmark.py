"""Build: a benchmark that a reviewer would believe, tried on a device with planted faults."""

from batchlab.exercises import Exercise
from batchlab.exercises.throughput.benched import judged, scene


def benchmark(settings, wait, clock, rounds, least):
    """Seconds of one call, round by round, and their ratios to the first setting: two dicts."""
    from statistics import median

    if rounds < 4 or rounds % 2:
        raise ValueError(f"rounds must be even and at least 4, got {rounds}")

    def stretch(call, calls):
        wait()
        begin = clock()
        for _ in range(calls):
            call()
        wait()
        return clock() - begin

    calls = {}
    for name, call in settings.items():
        call()  # warm-up
        calls[name] = 1
        while stretch(call, calls[name]) < least:
            calls[name] *= 2
    found = {name: [] for name in settings}
    for number in range(rounds):
        for name in list(settings)[:: -1 if number % 2 else 1]:
            found[name].append(stretch(settings[name], calls[name]) / calls[name])
    first, ratios = next(iter(found.values())), {}
    for name, own in found.items():
        each = [a / b for a, b in zip(own, first)]
        ratios[name] = min(each), median(each), max(each)
    return found, ratios


def asked(seconds, rounds, least, faults):
    said = f"{rounds} rounds of {seconds} s, least {least}"
    return said + "".join(f", {name} {value}" for name, value in faults.items())


def drawn(rng):
    for _ in range(8):
        names = [f"{n}" for n in rng.permutation(9)[: rng.integers(2, 6)]]
        own = {name: round(rng.uniform(0.01, 0.2), 3) for name in names}
        rounds, least = 2 * int(rng.integers(2, 6)), round(rng.uniform(0.3, 3), 2)
        yield own, rounds, least, {"first": 7.0, "launch": 0.003}
        yield own, rounds, 0.001, {"heat": 0.06, "launch": 0.0001}
        yield own, rounds, 0.001, {"jitter": tuple(rng.uniform(0.5, 2, 7).round(2).tolist())}
    yield own, rounds + 2, least / 3, {"launch": 0.003}
    yield {"A": 1234.5, "B": 70_000.0}, 30, 1.0, {}
    yield from (({"A": 0.1}, wrong, 0.1, {}) for wrong in (0, 3, -4))


THREE, JITTER = {"A": 0.04, "B": 0.1, "C": 0.06}, (1.0, 1.7, 0.6, 2.5, 1.1, 0.9, 1.45)
exercise = Exercise(
    benchmark,
    points=5,
    hints=(
        "a helper stretch(call, calls): wait, clock, the calls, wait, clock",
        "warm up and double for each setting first; only then the rounds",
        "list(settings)[::-1] in every other round; zip two lists for the ratios of each round",
    ),
    asked=asked,
    scene=scene,
    fault=lambda got, *case: judged(got, *case)[0],
    explain=lambda got, *case: judged(got, *case)[1],
    mentions=lambda seconds, rounds, least, faults: (rounds,),
    shown=[
        ({"B": 0.2, "A": 0.152, "C": 0.043}, 4, 0.32, {"launch": 0.01}),
        ({"A": 0.25, "B": 0.5, "C": 0.125}, 4, 1.0, {}),
        ({"A": 0.04, "B": 0.1}, 4, 0.3, {"first": 9.0}),
        ({"C": 0.4, "B": 0.5, "A": 0.3}, 4, 0.01, {"jitter": JITTER}),
        ({"A": 0.3, "again": "A", "B": 0.7}, 4, 0.5, {}),
        (THREE, 5, 0.01, {}),
        (THREE, 2, 0.01, {}),
    ],
    drawn=drawn,
    passed="Right: warm, waited for, in turns, with a clock that can see it.",
)
BEGIN, WARM = "        wait()\n        begin = clock()", "        call()  # warm-up\n"
END, MANY = "        wait()\n        return clock() - begin", "            calls[name] *= 2\n"
TRIAL, FOUND = "stretch(call, calls[name]) < least", "    found = {name: [] for name in settings}\n"
VALUE = "stretch(settings[name], calls[name]) / calls[name]"
TURNS = "    for number in range(rounds):\n        for name in list(settings)[:: -1 if number % 2 else 1]:\n"
RATIO, THREE_OF = "a / b for a, b in zip(own, first)", "min(each), median(each), max(each)"
REFUSED, FIRST = "rounds < 4 or rounds % 2", "    first, ratios ="
ROUNDS = "refuse rounds that are odd or fewer than 4: make nothing even"
RAISE = 'raise ValueError(f"rounds must be even and at least 4, got {rounds}")'
QUEUE = "the clock is read before the device is done: wait for it at the end of a stretch"
for _thought, *_changes in [
    (QUEUE, (END, "        return clock() - begin")),
    (QUEUE, (END, "        end = clock()\n        wait()\n        return end - begin")),
    (
        "a wait after every call: launches no longer hide behind the work",
        ("            call()\n", "            call()\n            wait()\n"),
    ),
    (
        "the number of calls was reckoned from one call: try 1, 2, 4 ... and time each",
        ("import median\n", "import median\n    import math\n"),
        (
            f"        while {TRIAL}:\n{MANY}",
            "        one = stretch(call, 1)\n        calls[name] = 2 ** max(0, math.ceil(math.log2(least / one)))\n",
        ),
    ),
    (
        "work is in the queue when the stretch begins: wait, then read the clock",
        (BEGIN, "        begin = clock()"),
    ),
    (
        "the seconds of a whole stretch: divide by its calls",
        (VALUE, VALUE[: -len(" / calls[name]")]),
    ),
    (
        "calls per second: asked are seconds",
        (VALUE, "calls[name] / stretch(settings[name], calls[name])"),
    ),
    (
        "one call a stretch: the clock may not see it, double up to `least`",
        (f"        while {TRIAL}:\n{MANY}", ""),
    ),
    ("half of `least` is less than `least`", (TRIAL, f"{TRIAL} / 2")),
    (
        "all rounds together last `least`: one stretch alone must",
        (TRIAL, f"{TRIAL} / rounds"),
    ),
    ("begins with 2 calls: begin with 1", ("calls[name] = 1", "calls[name] = 2")),
    (
        "twice as many for safety: stop as soon as `least` is reached",
        (FOUND, "    calls = {name: 2 * n for name, n in calls.items()}\n" + FOUND),
    ),
    ("adds one: no power of two, double", ("calls[name] *= 2", "calls[name] += 1")),
    (
        "one number for all: each setting has a number of its own",
        (FOUND, "    calls = dict.fromkeys(calls, max(calls.values()))\n" + FOUND),
    ),
    (
        "the number of the first for all: each setting has its own",
        (FOUND, "    calls = dict.fromkeys(calls, next(iter(calls.values())))\n" + FOUND),
    ),
    (
        "one clock for the whole search: each trial is timed alone",
        (
            f"        while {TRIAL}",
            "        wait()\n        begin = clock()\n        while stretch(call, calls[name]) * 0 + clock() - begin < least",
        ),
    ),
    (
        "the number is sought anew in every round: find it once",
        (
            f"            found[name].append({VALUE})\n",
            "            n = 1\n            while (took := stretch(settings[name], n)) < least:\n"
            "                n *= 2\n            found[name].append(took / n)\n",
        ),
    ),
    (
        "a warm-up before every stretch: it is over when the rounds begin",
        (BEGIN, "        call()\n" + BEGIN),
    ),
    ("exactly `least` is enough", (TRIAL, TRIAL.replace("<", "<="))),
    ("no warm-up: a first call was timed, and found the number", (WARM, "")),
    (
        "only the first setting warms up: each has a slow first call",
        (WARM, "        if not calls:\n            call()\n"),
    ),
    (
        "all rounds of one setting in a row: the last one meets the hottest device",
        (TURNS, "    for name in settings:\n        for _ in range(rounds):\n"),
    ),
    (
        "every round has the same order: what comes later is always on the warmer device",
        ("[:: -1 if number % 2 else 1]", ""),
    ),
    (
        "the order is turned by one: asked is its reverse, then the drift cancels",
        (
            "list(settings)[:: -1 if number % 2 else 1]",
            "(list(settings) * rounds)[number : number + len(settings)]",
        ),
    ),
    (
        "by the alphabet: the order of settings is asked",
        ("list(settings)[::", "sorted(settings)[::"),
    ),
    (
        "the first trial counts as a round: a trial is no round",
        (
            "        calls[name] = 1\n",
            "        calls[name] = 1\n        start[name] = [stretch(call, 1)]\n",
        ),
        ("    calls = {}\n", "    calls, start = {}, {}\n"),
        (FOUND, "    found = start\n"),
        ("range(rounds)", "range(1, rounds)"),
    ),
    (
        "the median of all rounds: asked is every round",
        (FIRST, "    found = {name: [median(own)] for name, own in found.items()}\n" + FIRST),
    ),
    (
        "the mean of a round and its reverse: asked is each round by itself",
        (
            FIRST,
            "    found = {n: [sum(own[i - i % 2 :][:2]) / 2 for i in range(rounds)] for n, own in "
            "found.items()}\n" + FIRST,
        ),
    ),
    (
        "sorted rounds: asked are the rounds in their order",
        (FIRST, "    found = {name: sorted(own) for name, own in found.items()}\n" + FIRST),
    ),
    (
        "two names that share a function share a list: keep one for each name",
        (
            FOUND,
            "    lists = {call: [] for call in settings.values()}\n"
            "    found = {name: lists[settings[name]] for name in settings}\n",
        ),
    ),
    (
        "names sorted: asked is the order of settings",
        (
            "    return found, ratios",
            "    return {name: found[name] for name in sorted(found)}, ratios",
        ),
    ),
    (
        "names in the reverse order: asked is the order of settings",
        ("    return found, ratios", "    return dict(reversed(found.items())), ratios"),
    ),
    (
        "settings are used up: work on a copy",
        ("    return found", "    settings.clear()\n    return found"),
    ),
    (ROUNDS, (REFUSED, "rounds < 4")),
    (ROUNDS, (RAISE, "rounds = max(4, rounds + rounds % 2)")),
    (ROUNDS, (REFUSED, "rounds < 2 or rounds % 2")),
    ("lowest over highest: compare inside a round", (RATIO, "a / b for a in own for b in first")),
    (
        "ratios of the minima, medians, maxima: compare inside a round",
        (THREE_OF, "[f(own) / f(first) for f in (min, median, max)]"),
    ),
    (
        "the ratio of medians: asked is the median of ratios",
        ("median(each)", "median(own) / median(first)"),
    ),
    ("the mean: one disturbed round moves it", ("median(each)", "sum(each) / len(each)")),
    ("the ratio of sums: one slow round decides it", ("median(each)", "sum(own) / sum(first)")),
    (
        "upside down: the first setting goes below the line",
        (RATIO, RATIO.replace("a / b", "b / a")),
    ),
    (
        "the first round was left out: every round counts",
        (RATIO, "a / b for a, b in [*zip(own, first)][1:]"),
    ),
    ("the upper of the middle two: take their mean", ("median(each)", "sorted(each)[rounds // 2]")),
    (
        "the lower of the middle two: take their mean",
        ("median(each)", "sorted(each)[rounds // 2 - 1]"),
    ),
    ("the seconds themselves: asked are ratios", (RATIO, "a for a in own")),
    (
        "the first by the alphabet: asked is the first of settings",
        ("next(iter(found.values()))", "found[min(found)]"),
    ),
    (
        "the ratio to the fastest setting: asked is the first of settings",
        ("next(iter(found.values()))", "min(found.values(), key=median)"),
    ),
    (
        "the ratio to the median of the first setting: a round is compared with itself",
        (RATIO, "a / median(first) for a in own"),
    ),
    (
        "the median alone: lowest, median and highest are asked",
        (f"ratios[name] = {THREE_OF}", "ratios[name] = median(each)"),
    ),
    (
        "lowest and highest alone: the median stands between them",
        (THREE_OF, "min(each), max(each)"),
    ),
    (
        "ratios to the setting before: asked is the first one",
        ("max(each)\n", "max(each)\n        first = own\n"),
    ),
    (
        "sorted before the division: rounds are mixed",
        ("zip(own, first)", "zip(sorted(own), sorted(first))"),
    ),
    (
        "highest first: lowest, median, highest are asked",
        (THREE_OF, "max(each), median(each), min(each)"),
    ),
    (
        "the median last: lowest, median, highest are asked",
        (THREE_OF, "min(each), max(each), median(each)"),
    ),
    ("the first is left out: its ratio is 1", ("in found.items():", "in list(found.items())[1:]:")),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "time.perf_counter: another clock",
        "never read",
        ("begin = clock()", "import time; begin = time.perf_counter()"),
        ("return clock()", "return time.perf_counter()"),
    ),
    ("a refusal without the number", "a refusal without the number", (", got {rounds}", "")),
    ("the seconds alone", "two dicts", ("return found, ratios", "return found")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def two_warm_up_calls(settings, wait, clock, rounds, least):
    """two warm-up calls, rounds in pairs, arrays"""
    import numpy as np

    if rounds % 2 or rounds < 4:
        raise ValueError(f"{rounds} rounds: an even number from 4 on is needed")
    calls, found = dict.fromkeys(settings, 1), {name: [] for name in settings}

    def one(name):
        wait()
        begin = clock()
        for _ in range(calls[name]):
            settings[name]()
        wait()
        return clock() - begin

    for name in settings:
        settings[name](), settings[name]()
        while one(name) < least:
            calls[name] *= 2
    there = list(settings)
    for _ in range(rounds // 2):
        for name in there + there[::-1]:
            found[name].append(one(name) / calls[name])
    found = {name: np.array(own) for name, own in found.items()}
    table = {name: own / found[there[0]] for name, own in found.items()}
    return found, {name: [r.min(), np.median(r), r.max()] for name, r in table.items()}


@exercise.style
def reverse_first(settings, wait, clock, rounds, least):
    """the reverse first, all warm-ups before the search, a warm-up that is timed"""
    if rounds < 4 or rounds % 2:
        raise ValueError(f"rounds: {rounds}")
    names, many = list(settings), {}

    def stretch(name, n):
        wait()
        begin = clock()
        [settings[name]() for _ in range(n)]
        wait()
        return clock() - begin

    for name in names:
        stretch(name, 1)
    for name in names:
        many[name] = next(n for n in (2**k for k in range(99)) if stretch(name, n) >= least)
    found = {name: [] for name in names}
    for _ in range(rounds):
        names = names[::-1]
        for name in names:
            found[name].append(stretch(name, many[name]) / many[name])
    each = {n: sorted(a / b for a, b in zip(own, found[names[0]])) for n, own in found.items()}
    half = rounds // 2
    return found, {n: (r[0], (r[half - 1] + r[half]) / 2, r[-1]) for n, r in each.items()}
