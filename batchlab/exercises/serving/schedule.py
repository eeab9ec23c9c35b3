"""Build: a scheduler that fills rows before every pass."""

from batchlab.exercises import Exercise
from batchlab.exercises.serving import laws


def schedule(requests, rows, cache, fixed, per_token):
    """The passes of continuous batching: [(start, end, reads, decodes), ...]."""
    need = [prompt + output for _, prompt, output in requests]
    coming = sorted(range(len(requests)), key=lambda number: requests[number][0])
    now, left, passes = 0.0, {}, []  # left: tokens still to come, of each request that runs
    while coming or left:
        reads = []
        while coming and requests[coming[0]][0] <= now and len(left) < rows:
            held = sum(need[number] for number in left)
            if held + need[coming[0]] > cache:
                break
            reads.append(coming.pop(0))
            left[reads[-1]] = requests[reads[-1]][2]
        if not left:
            now = requests[coming[0]][0]
            continue
        decodes = [] if reads else list(left)
        tokens = sum(requests[number][1] for number in reads) + len(decodes)
        passes.append((now, now + fixed + per_token * tokens, reads, decodes))
        now = passes[-1][1]
        for number in reads + decodes:
            left[number] -= 1
            if not left[number]:
                del left[number]
    return passes


right = schedule


def ends(requests, log):
    """What became of each request, one dictionary a request, in seconds."""
    found = [{"arrival": arrival, "first": 0.0, "last": 0.0} for arrival, _, _ in requests]
    for _, end, reads, decodes in log:
        for n in reads:
            found[n]["first"] = end
        for n in [*reads, *decodes]:
            found[n]["last"] = end
    return found


def fault(got, *case):
    """Where passes are not those of the rules."""
    said, where = laws.fault_of_schedule(case, got, right(*case))
    return said if where in ("", "the end") else where


def explain(got, *case):
    """The law that passes break."""
    said, where = laws.fault_of_schedule(case, got, right(*case))
    return "" if where == "the end" else said


FREED = "who is done gives its cache back"


def endless(*case):
    """Why passes never end."""
    if any(prompt + output == case[2] for _, prompt, output in case[0]):
        return f"what fits exactly, fits, and {FREED}: else it waits for ever"
    return "the clock stands still: who arrives at this very moment is there, and may start"


def asked(requests, rows, cache, fixed, per_token):
    many = requests if len(requests) < 8 else f"{len(requests)} requests"
    return f"passes of {many}, rows {rows}, cache {cache}, {fixed:g} s + {per_token:g} s a token"


def fresh_case(random, most=24):
    """A trace that nobody has seen, in sixteenths of a second."""
    count = int(random.integers(2, most))
    arrivals = random.integers(0, 12 * count, count) / 16
    prompts, outputs = random.integers(1, 30, count), random.integers(1, 16, count)
    requests = [(float(a), int(p), int(o)) for a, p, o in zip(arrivals, prompts, outputs)]
    cache = max(p + o for _, p, o in requests) + int(random.integers(0, 60))
    fixed, per_token = int(random.integers(1, 16)) / 16, int(random.integers(0, 8)) / 64
    return requests, int(random.integers(1, 7)), cache, fixed, per_token


def drawn(rng):
    for _ in range(15):
        yield fresh_case(rng)
    many, rows, *others = fresh_case(rng, 60)
    yield many, rows, *others
    yield many, rows + 1, *others
    yield many[::-1], rows, *others
    yield fresh_case(rng, 300)
    yield [(0.0, 6, 2), (0.25, 16, 4), *((0.5 + n / 4, 2, 2) for n in range(12))], 3, 24, *PRICES
    yield [(1.0, 4, 4)] * 5, 2, 16, *PRICES
    yield [(0.0, 1, 8), (0.0, 1, 1), (0.5, 3, 6), (0.5, 7, 2), (0.5, 1, 3)], 2, 17, 0.25, 0.0
    yield [], 2, 30, 0.5, 0.125
    yield [(0.0, 3_000_000_000, 2), (0.0, 5, 2), (1.0, 4, 2)], 3, 3_000_000_010, 1.0, 2.0**-20


PRICES = 0.5, 0.125
exercise = Exercise(
    schedule,
    points=6,
    hints=(
        "a list of those that have not started, sorted by arrival; a dict of those that run, with the tokens still to come",
        "in one loop: admit from the front, else let the clock go on; then one pass; then take out who is done",
        "reserved: sum of prompt + output of all that run, those just admitted included",
    ),
    asked=asked,
    fault=fault,
    explain=explain,
    endless=endless,
    seconds=5.0,
    shown=[
        ([(0.0, 2, 3)], 1, 6, 1.0, 0.5),
        ([(0.0, 7, 1), (2.75, 7, 4), (0.0, 8, 2), (0.0, 5, 6)], 2, 60, 0.5, 0.125),
        ([(1.0, 4, 4)], 2, 60, 0.75, 0.25),
        ([(1.0, 2, 3), (1.0, 6, 1), (0.0, 5, 7), (2.25, 4, 6)], 3, 12, 0.75, 0.25),
        ([(2.25, 6, 6), (1.25, 2, 7)], 2, 60, 0.5, 0.25),
        ([(0.0, 7, 7), (0.0, 5, 2)], 2, 14, 0.5, 0.125),
        ([(2.75, 7, 3), (1.25, 1, 1)], 3, 10, 0.75, 0.125),
        ([(0.0, 1, 6), (2.75, 7, 7), (3.0, 1, 5)], 2, 17, 0.5, 0.125),
        ([], 2, 30, *PRICES),
    ],
    drawn=drawn,
    passed="Right: nothing lost, nothing early, both limits kept, nobody overtaken.",
)
COMING = "    coming = sorted(range(len(requests)), key=lambda number: requests[number][0])\n"
ADMIT = "while coming and requests[coming[0]][0] <= now and len(left) < rows:"
HELD, LOOK, BREAK = (
    "sum(need[number] for number in left)",
    "held + need[coming[0]] > cache",
    "                break\n",
)
INNER = exercise.text[
    exercise.text.index("        while coming and req") : exercise.text.index(
        "        if not left:\n"
    )
]
IDLE = "        if not left:\n            now = requests[coming[0]][0]\n"
STUCK = "        if not left and requests[coming[0]][0] <= now:\n            return passes\n"  # else for ever
TOKENS = "sum(requests[number][1] for number in reads) + len(decodes)"
PASS = "(now, now + fixed + per_token * tokens, reads, decodes)"
DONE = "            if not left[number]:\n                del left[number]\n"
DECODES = "decodes = [] if reads else list(left)"
ORDER = "key=lambda number: requests[number][0])"
LEFT = "left[reads[-1]] = requests[reads[-1]][2]"
PROMPTS = "sum(requests[number][1] for number in left)"
for _thought, *_changes in [
    (
        "static: the next requests wait until the whole batch is empty",
        (
            ADMIT,
            "while coming and len(left) == len(reads) and requests[coming[0]][0] <= now and len(left) < rows:",
        ),
    ),
    (
        "a request reserves its prompt only: prompt + output is asked",
        (HELD, PROMPTS),
        (LOOK, "held + requests[coming[0]][1] > cache"),
    ),
    (
        "a request reserves its output only: prompt + output is asked",
        (HELD, "sum(requests[number][2] for number in left)"),
        (LOOK, "held + requests[coming[0]][2] > cache"),
    ),
    (
        "whoever waits is let in by its prompt: prompt + output is asked",
        (LOOK, "held + requests[coming[0]][1] > cache"),
    ),
    ("who runs is counted with its prompt only: prompt + output is asked", (HELD, PROMPTS)),
    (
        "who runs is counted with what its cache holds now, not with prompt + output",
        (HELD, "sum(need[number] - left[number] for number in left)"),
    ),
    ("the cache is not looked at", (f"            if {LOOK}:\n{BREAK}", "")),
    (
        "those just admitted reserve their cache, too",
        (HELD, "sum(need[number] for number in left if number not in reads)"),
    ),
    (
        "what does not fit is skipped: nobody behind it may start first",
        (
            INNER,
            "        for number in list(coming):\n"
            "            if requests[number][0] > now or len(left) >= rows:\n                break\n"
            "            if sum(need[one] for one in left) + need[number] > cache:\n                continue\n"
            "            coming.remove(number)\n            reads.append(number)\n            left[number] = requests[number][2]\n",
        ),
    ),
    (
        "the shortest first: the order is that of arrival",
        (ORDER, "key=lambda number: need[number])"),
    ),
    (
        "the shortest prompt first: the order is that of arrival",
        (ORDER, "key=lambda number: requests[number][1])"),
    ),
    (
        "of equal arrivals the shortest first: the smaller number is first",
        (ORDER, "key=lambda number: (requests[number][0], need[number]))"),
    ),
    (
        "of equal arrivals the last first: the smaller number is first",
        (ORDER, "key=lambda number: (requests[number][0], -number))"),
    ),
    (
        "the order of the list: the order is that of arrival",
        (COMING, "    coming = list(range(len(requests)))\n"),
    ),
    (
        "numbers are places in the list that was handed over, not in the order of arrival",
        (
            COMING,
            "    requests = sorted(requests, key=lambda one: one[0])\n    need = [prompt + output for _, prompt, output in requests]\n"
            + COMING,
        ),
    ),
    ("what fits exactly, fits", (LOOK, "held + need[coming[0]] >= cache"), (IDLE, STUCK + IDLE)),
    (
        FREED,
        ("now, left, passes = 0.0, {}, []", "now, left, passes, held = 0.0, {}, [], 0"),
        (f"            held = {HELD}\n", ""),
        (
            "            reads.append(coming.pop(0))\n",
            "            held += need[coming[0]]\n            reads.append(coming.pop(0))\n",
        ),
        (IDLE, STUCK + IDLE),
    ),
    ("one row too many", ("len(left) < rows", "len(left) <= rows")),
    ("those just admitted hold a row, too", ("len(left) < rows", "len(left) - len(reads) < rows")),
    ("those that run hold a row, too", ("len(left) < rows", "len(reads) < rows")),
    ("one row is never used", ("len(left) < rows", "len(left) < max(1, rows - 1)")),
    (
        "one prompt a pass: all that may start are read together",
        ("len(left) < rows", "len(left) < rows and not reads"),
    ),
    (
        "who arrives at the very moment when a pass starts is there",
        (
            "requests[coming[0]][0] <= now",
            "requests[coming[0]][0] <= now and (requests[coming[0]][0] < now or len(left) == len(reads) == 0)",
        ),
    ),
    (
        "who arrives at the very moment when a pass starts is there",
        (
            "requests[coming[0]][0] <= now",
            "requests[coming[0]][0] <= now and (requests[coming[0]][0] < now or len(left) == len(reads))",
        ),
    ),
    (
        "the shortest of those that wait: the order is that of arrival",
        (
            f"        {ADMIT}\n",
            f"        coming.sort(key=lambda n: requests[n][1] if requests[n][0] <= now else 10**9 + requests[n][0])\n        {ADMIT}\n",
        ),
    ),
    (
        "who runs is counted with what its cache holds now, not with prompt + output",
        (HELD, "sum(need[number] - left[number] for number in left)"),
        (LOOK, "held + requests[coming[0]][1] + 1 > cache"),
    ),
    (
        "a row is free as soon as its last token is out: the next pass fills it",
        (DONE, ""),
        (
            IDLE,
            "        left = {number: more for number, more in left.items() if more > 0}\n        if not left and not coming:\n            break\n        if not left:\n            now = max(now, requests[coming[0]][0])\n",
        ),
    ),
    ("the prompt's pass gives the first token: n - 1 passes follow", (LEFT, LEFT + " + 1")),
    (
        "one token too few: the prompt's pass gives the first, n - 1 follow",
        (LEFT, "left[reads[-1]] = max(1, requests[reads[-1]][2] - 1)"),
    ),
    (
        laws.BESIDE,
        (TOKENS, "sum(requests[number][1] + 1 for number in reads) + len(decodes)"),
    ),
    (laws.BESIDE, (TOKENS, TOKENS.replace("decodes", "left"))),
    (laws.BESIDE, (TOKENS, TOKENS.replace("len(decodes)", "len(left) - len(reads)"))),
    (
        "while prompts are read, rows that run are counted down: they get no token then",
        ("for number in reads + decodes:", "for number in list(left):"),
    ),
    ("a prompt of n tokens costs n tokens, not one", (TOKENS, "len(reads) + len(decodes)")),
    (
        "padded prompts: a pass costs the prompts' own tokens",
        (
            TOKENS,
            "max([requests[number][1] for number in reads], default=0) * len(reads) + len(decodes)",
        ),
    ),
    (
        "the fixed seconds are missing",
        ("now + fixed + per_token * tokens", "now + per_token * tokens"),
    ),
    (
        "the fixed seconds count once a pass",
        (
            "now + fixed + per_token * tokens",
            "now + fixed * len(reads + decodes) + per_token * tokens",
        ),
    ),
    ("a decoding row costs one token", (" + len(decodes)\n", "\n")),
    ("each decoding row costs a token", (" + len(decodes)\n", " + bool(decodes)\n")),
    (
        laws.IDLE,
        (" + len(decodes)\n", " + rows * bool(decodes)\n"),
    ),
    (
        "prompts are read once: a decoding row costs one token",
        (TOKENS, "sum(requests[number][1] for number in reads + decodes)"),
    ),
    (
        "prompts and decoding in one pass: while prompts are read, nobody decodes",
        (DECODES, "decodes = [number for number in left if number not in reads]"),
    ),
    ("a request is served before it arrives", (" and requests[coming[0]][0] <= now", "")),
    (
        "the device stands still although somebody could be served",
        (IDLE, "        if not left:\n            now = now + fixed\n"),
    ),
    (
        "a pass without work: let the clock go on to the next arrival",
        (
            IDLE,
            "        if not left:\n            passes.append((now, requests[coming[0]][0], [], []))\n            now = requests[coming[0]][0]\n",
        ),
    ),
    (
        "the clock begins at 0 s, and goes on to each arrival: later requests are lost",
        (IDLE, "        if not left and passes:\n            return passes\n" + IDLE),
    ),
    (
        "the seconds of a pass in place of its end",
        (PASS, "(now, fixed + per_token * tokens, reads, decodes)"),
        ("now = passes[-1][1]", "now += passes[-1][1]"),
    ),
    (
        "a list of passes (start, end, reads, decodes): two numbers, two lists of request numbers",
        (PASS, "(now, now + fixed + per_token * tokens, reads + decodes)"),
    ),
    (
        "a list of passes (start, end, reads, decodes): two numbers, two lists of request numbers",
        (
            PASS,
            "(now, now + fixed + per_token * tokens, [requests[one] for one in reads], decodes)",
        ),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    laws.CHANGED,
    [
        ("now, left, passes = 0.0, {}, []", "now, left, passes, running = 0.0, {}, [], []"),
        (DECODES, "running[:] = left\n        decodes = [] if reads else running"),
        (DONE, DONE + "        running[:] = left\n"),
    ],
)
for _says, _thought, *_changes in [
    (
        "changed",
        "numbers are places in the list that was handed over, not in the order of arrival",
        (COMING, "    requests.sort()\n" + COMING),
    ),
    (
        "IndexError",
        "no requests give no passes",
        ("now, left, passes = 0.0, {}, []", "now, left, passes = min(0.0, requests[0][0]), {}, []"),
    ),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def counted_along(requests, rows, cache, fixed, per_token):
    """what is held is counted along, lists and tuples"""
    from collections import deque

    size = [p + o for _, p, o in requests]
    queue = deque(sorted(range(len(requests)), key=lambda n: (requests[n][0], n)))
    free_rows, free, now, log, left = rows, cache, 0.0, [], {}
    while queue or left:
        reads = []
        while queue and free_rows and requests[queue[0]][0] <= now and size[queue[0]] <= free:
            n = queue.popleft()
            free_rows, free = free_rows - 1, free - size[n]
            reads.append(n)
            left[n] = requests[n][2]
        if not left:
            now = max(now, requests[queue[0]][0])
            continue
        busy = reads or sorted(left)
        cost = sum(requests[n][1] for n in reads) if reads else len(busy)
        end = now + (fixed + cost * per_token)
        log.append([now, end, tuple(reads), () if reads else tuple(busy)])
        now = end
        for n in busy:
            left[n] -= 1
            if left[n] == 0:
                del left[n]
                free_rows, free = free_rows + 1, free + size[n]
    return log


@exercise.style
def arrays(requests, rows, cache, fixed, per_token):
    """arrays of NumPy"""
    import numpy as np

    if not requests:
        return []
    arrival = np.array([r[0] for r in requests], dtype=float)
    prompt, output = (np.array([r[k] for r in requests], dtype=np.int64) for k in (1, 2))
    order = list(np.argsort(arrival, kind="stable"))
    made, runs, log, now = (
        np.zeros(len(requests), dtype=np.int64),
        np.zeros(len(requests), dtype=bool),
        [],
        np.float64(0),
    )
    while order or runs.any():
        reads = []
        while (
            order
            and arrival[order[0]] <= now
            and runs.sum() < rows
            and (prompt + output)[runs].sum() + prompt[order[0]] + output[order[0]] <= cache
        ):
            runs[order[0]] = True
            reads.append(order.pop(0))
        if not runs.any():
            now = arrival[order[0]]
            continue
        decodes = np.array([], dtype=int) if reads else np.flatnonzero(runs)
        end = now + fixed + per_token * (prompt[reads].sum() if reads else len(decodes))
        log.append((now, end, np.array(reads, dtype=int), decodes))
        now = end
        made[reads if reads else decodes] += 1
        runs &= made < output
    return log


@exercise.style
def from_the_library(requests, rows, cache, fixed, per_token):
    """the library's scheduler"""
    from batchlab import serving

    order = sorted(range(len(requests)), key=lambda n: requests[n][0])
    scheduler = serving.Scheduler("continuous", rows, cache, cache + rows)
    now, came, log = 0.0, 0, []
    while True:
        while came < len(order) and requests[order[came]][0] <= now:
            _, prompt, output = requests[order[came]]
            scheduler.arrive(order[came], prompt, output)
            came += 1
        step = scheduler.next()
        if step is None:
            if came == len(order):
                return log
            now = requests[order[came]][0]
            continue
        end = now + fixed + per_token * step.tokens
        log.append(
            (
                now,
                end,
                [one.running.request for one in step.chunks],
                [one.request for one in step.decoding],
            )
        )
        scheduler.done(step)
        now = end
