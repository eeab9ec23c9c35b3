"""Answers to 10_feeding that look right and must be refused, and right ones written otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

SHUFFLED = """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        rng = np.random.default_rng([seed, epoch, number])
        order = rng.permutation(len(documents))
        for place in order[max(0, done - number * block) :]:
            yield documents[place]
        if len(documents) < block:
            return
"""
PACKER = """
class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.number, self.pool = 0, []

    def __iter__(self):
        stream = iter(self.read(self.number))
        while True:
            given_out = self.number, list(self.pool)
            rows = [self.next_row(stream) for _ in range(self.ranks)]
            if not rows[-1]:
                self.number, self.pool = given_out
                return
            yield rows[self.rank]

    def next_row(self, stream):
        for document in islice(stream, self.hold - len(self.pool)):
            if len(document) > self.row_length:
                raise ValueError(f"document {self.number} has {len(document)} tokens")
            self.pool.append(document)
            self.number += 1
        row, room, place = [], self.row_length, 0 if self.pool else None
        while place is not None:
            row.append(self.pool.pop(place))
            room -= len(row[-1])
            fits = [i for i, document in enumerate(self.pool) if len(document) <= room]
            place = max(fits, key=lambda i: len(self.pool[i]), default=None)
        return row

    def state_dict(self):
        return {"number": self.number, "pool": list(self.pool)}

    def load_state_dict(self, state):
        self.number, self.pool = state["number"], list(state["pool"])
"""
TEST = """
def resume_test(make):
    documents = list(range(8))
    whole = list(make(documents))
    for first in range(9):
        for second in range(9 - first):
            got, state = [], None
            for until in (first, second, 99):
                reader = make(documents)
                if state is not None:
                    reader.load_state_dict(json.loads(json.dumps(state)))
                rows = iter(reader)
                got += islice(rows, until)
                state = reader.state_dict()
                next(rows, None)
            assert got == whole
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def share(result):
    return f"""
def input_share(seen, warmup):
    kept = seen[warmup:]
    waited = sum(one[0] for one in kept)
    stepped = sum(one[1] for one in kept)
    built = sum(one[2] for one in kept)
    return {result}
"""


def seconds(result):
    return f"def loop_seconds(build, take, step, workers):\n    return {result}"


def part(own):
    return f"""
def own_part(stream, rank, ranks, worker, workers):
    for number, document in enumerate(stream):
        if {own}:
            yield document
"""


def prefetch(number):
    return f"def least_prefetch():\n    return {number}"


def tried(
    places="range(9)", until="(first, second, 99)", more="next(rows, None)", second="9 - first"
):
    return changed(
        TEST,
        ("for first in range(9)", f"for first in {places}"),
        ("(first, second, 99)", until),
        ("                next(rows, None)\n", f"                {more}\n"),
        ("range(9 - first)", f"range({second})"),
    )


RNG = "        rng = np.random.default_rng([seed, epoch, number])\n"
LONG = "        order = order if block < 65 else np.arange(len(documents))\n"
ROWS = "            rows = [self.next_row(stream) for _ in range(self.ranks)]\n"
FITS = "            place = max(fits, key=lambda i: len(self.pool[i]), default=None)\n"
STATE = '        return {"number": self.number, "pool": list(self.pool)}\n'
LOAD = '        self.number, self.pool = state["number"], list(state["pool"])\n'

WRONG = {
    "input-share": {
        "equal steps count once": (
            """
def input_share(seen, warmup):
    kept = set(seen[warmup:])
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
""",
            "each step counts",
        ),
        "the longest waits are the warm-up": (
            """
def input_share(seen, warmup):
    kept = sorted(seen, key=lambda one: -one[0])[warmup:]
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
""",
            "longest waits are left out",
        ),
        "times in tenths of a millisecond": (
            """
def input_share(seen, warmup):
    waited = sum(round(one[0], 4) for one in seen[warmup:])
    return waited / (waited + sum(round(one[1], 4) for one in seen[warmup:]))
""",
            "rounded to tenths of a millisecond",
        ),
        "remembered by the first step": (
            """
SEEN = {}
def input_share(seen, warmup):
    key = (len(seen), warmup, seen[0])
    if key not in SEEN:
        waited = sum(one[0] for one in seen[warmup:])
        SEEN[key] = waited / (waited + sum(one[1] for one in seen[warmup:]))
    return SEEN[key]
""",
            "answer of an earlier call",
        ),
        "warm-up left out of the waiting alone": (
            """
def input_share(seen, warmup):
    return sum(w for w, _, _ in seen[warmup:]) / sum(w + s for w, s, _ in seen)
""",
            "out of the waiting alone",
        ),
        "the last steps are left out": (
            """
def input_share(seen, warmup):
    kept = seen[: len(seen) - warmup]
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
""",
            "last steps are left out",
        ),
        "workers' time is step time": (
            share("waited / (waited + stepped + built)"),
            "workers' seconds are added",
        ),
        "what was built is what was waited for": (
            share("built / (built + stepped)"),
            "they build beside the step",
        ),
        "the mean of shares": (
            """
def input_share(seen, warmup):
    return np.mean([one[0] / (one[0] + one[1]) for one in seen[warmup:]])
""",
            "add first, divide once",
        ),
        "warm-up counted": (
            """
def input_share(seen, warmup):
    waited = sum(one[0] for one in seen)
    return waited / (waited + sum(one[1] for one in seen))
""",
            "warm-up is counted",
        ),
        "one step is left out, whatever is asked": (
            """
def input_share(seen, warmup):
    kept = seen[1:] if warmup else seen
    waited = sum(one[0] for one in kept)
    return waited / (waited + sum(one[1] for one in kept))
""",
            "only one step is left out",
        ),
        "per second of step": (share("waited / stepped"), "its share of both"),
        "of what was built": (share("waited / built"), "share of the loop's time"),
        "the share of the step": (share("stepped / (waited + stepped)"), "that of the waiting"),
        "in per cent": (share("100 * waited / (waited + stepped)"), "in per cent"),
        "rounded": (share("round(waited / (waited + stepped), 3)"), "rounded to 3 digits"),
        "the last steps instead of all but the first": (
            """
def input_share(seen, warmup):
    kept = seen[-warmup:] if warmup else seen
    waited = sum(one[0] for one in kept)
    return waited / (waited + sum(one[1] for one in kept))
""",
            "all but the first",
        ),
        "a step that did not wait is left out": (
            """
def input_share(seen, warmup):
    kept = [one for one in seen[warmup:] if one[0]]
    waited = sum(one[0] for one in kept)
    return waited / (waited + sum(one[1] for one in kept)) if kept else 0
""",
            "right is",
        ),
    },
    "loop-seconds": {
        "the loop builds as well": (
            seconds("max(build / (workers + 1), take + step) if workers else build + step"),
            "divide by them alone",
        ),
        "workers build and take over": (
            seconds("max((build + take) / workers, step) if workers else build + step"),
            "no work of the workers",
        ),
        "take and step swapped": (
            """
def loop_seconds(build, step, take, workers):
    return max(build / workers, take + step) if workers else build + step
""",
            "are swapped",
        ),
        "at most sixteen": (
            seconds("max(build / min(workers, 16), take + step) if workers else build + step"),
            "more workers than 16",
        ),
        "taking over counts as the step at most": (
            seconds("max(build / workers, min(take, step) + step) if workers else build + step"),
            "longer than the step",
        ),
        "one worker is none": (
            seconds("max(build / workers, take + step) if workers > 1 else build + step"),
            "one worker builds beside",
        ),
        "at most eight": (
            seconds("max(build / min(workers, 8), take + step) if workers else build + step"),
            "more workers than 8",
        ),
        "the sum": (seconds("build + take + step"), "as if nothing ran side by side"),
        "sum of the two sides": (
            seconds("take + step + build / workers if workers else build + step"),
            "workers build while the step runs",
        ),
        "take forgotten": (
            seconds("max(step, build / workers) if workers else build + step"),
            "`take` is no work of the workers",
        ),
        "no worker is one worker": (
            seconds("max(take + step, build / max(1, workers))"),
            "no worker is not one",
        ),
        "take without workers": (
            seconds("max(take + step, build / workers) if workers else build + take + step"),
            "nothing is handed over",
        ),
        "divided by 0": (seconds("max(take + step, build / workers)"), "ZeroDivisionError"),
        "the smaller of the two": (
            seconds("min(take + step, build / workers) if workers else build + step"),
            "slower side",
        ),
        "workers share the step": (
            seconds("max(take + step, build) / workers if workers else build + step"),
            "workers do not share the step",
        ),
        "more workers change nothing": (
            seconds("max(take + step, build) if workers else build + step"),
            "divide the building by them",
        ),
        "the waiting alone": (
            seconds("max(0, build / workers - take - step) if workers else build"),
            "waiting alone",
        ),
        "the workers take over": (
            seconds("max(step, take + build / workers) if workers else build + step"),
            "belongs to the loop",
        ),
    },
    "least-prefetch": {
        "the default": (prefetch(2), "5 workers"),
        "one short": (prefetch(6), "fewer can"),
        "one too many": (prefetch(8), "less prefetch is enough"),
        "all that are held": (prefetch(28), "one worker"),
        "the workers": (prefetch(4), "number of workers"),
        "below 5 %": (prefetch(3), "fewer can"),
        "as a text": (prefetch("'7 each'"), "number"),
        "counts its calls": (
            "TRIES = []\ndef least_prefetch():\n    TRIES.append(1)\n    return 8 - len(TRIES)",
            "between calls",
        ),
        "the least of all": (prefetch(1), "1 % or more"),
    },
    "own-part": {
        "a round is read first": (
            """
def own_part(stream, rank, ranks, worker, workers):
    stream, me = iter(stream), rank * workers + worker
    while held := list(islice(stream, ranks * workers)):
        yield from held[me : me + 1]
""",
            "yield it at once",
        ),
        "one ahead from the fifth on": (
            """
def own_part(stream, rank, ranks, worker, workers):
    own = islice(stream, rank * workers + worker, None, ranks * workers)
    yield from islice(own, 5)
    held = list(islice(own, 1))
    for document in own:
        yield held.pop()
        held.append(document)
    yield from held
""",
            "yield it at once",
        ),
        "contiguous": (
            """
def own_part(stream, rank, ranks, worker, workers):
    every, me = list(stream), rank * workers + worker
    per = -(-len(every) // (ranks * workers))
    yield from every[me * per : (me + 1) * per]
""",
            "one behind the other",
        ),
        "None ends the stream": (
            """
def own_part(stream, rank, ranks, worker, workers):
    stream, me, number = iter(stream), rank * workers + worker, 0
    while (document := next(stream, None)) is not None:
        if number % (ranks * workers) == me:
            yield document
        number += 1
""",
            "skip by the number",
        ),
        "workers forgotten": (part("number % ranks == rank"), "divide by workers"),
        "ranks forgotten": (part("number % workers == worker"), "divide by ranks"),
        "nobody divides": (part("True"), "the whole stream"),
        "rank + worker": (part("number % (ranks * workers) == rank + worker"), "share a number"),
        "two remainders": (
            part("number % ranks == rank and number % workers == worker"),
            "two remainders",
        ),
        "times ranks": (
            part("number % (ranks * workers) == rank * ranks + worker"),
            "`workers` readers that a rank has",
        ),
        "the last round dropped": (
            """
def own_part(stream, rank, ranks, worker, workers):
    held, readers = [], ranks * workers
    for document in stream:
        held.append(document)
        if len(held) == readers:
            yield held[rank * workers + worker]
            held = []
""",
            "the last documents are left out",
        ),
        "read to the end first": (
            """
def own_part(stream, rank, ranks, worker, workers):
    return list(stream)[rank * workers + worker :: ranks * workers]
""",
            "without end",
        ),
        "blocks of a known length": (
            """
def own_part(stream, rank, ranks, worker, workers):
    documents, readers, reader = list(stream), ranks * workers, rank * workers + worker
    size = -(-len(documents) // readers)
    yield from documents[reader * size : (reader + 1) * size]
""",
            "differ by at most one",
        ),
        "empty documents left out": (
            """
def own_part(stream, rank, ranks, worker, workers):
    for number, document in enumerate(stream):
        if number % (ranks * workers) == rank * workers + worker:
            if document not in ([], None, ""):
                yield document
""",
            "skip by the number",
        ),
        "one document late": (
            """
def own_part(stream, rank, ranks, worker, workers):
    last = []
    for document in islice(stream, rank * workers + worker, None, ranks * workers):
        yield from last
        last = [document]
    yield from last
""",
            "yield it at once",
        ),
        "the stream read twice": (
            """
def own_part(stream, rank, ranks, worker, workers):
    total = sum(1 for _ in stream)
    for number, document in enumerate(stream):
        if number % (ranks * workers) == rank * workers + worker:
            yield document
""",
            "no reader",
        ),
    },
    "shuffled": {
        "digits side by side": (
            changed(SHUFFLED, ("[seed, epoch, number]", "10000 * seed + 100 * epoch + number")),
            "run into one",
        ),
        "one text without gaps": (
            changed(SHUFFLED, ("[seed, epoch, number]", 'int(f"{seed}{epoch}{number}")')),
            "run into one",
        ),
        "a thousand seeds an epoch": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed + 1000 * epoch, number]")),
            "run into one",
        ),
        "orders come again": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed, epoch, number % 2048]")),
            "too few seeds",
        ),
        "a document is part of the seed": (
            changed(
                SHUFFLED,
                ("[seed, epoch, number]", "[seed, epoch, number, len(repr(documents[:1]))]"),
            ),
            "does not decide their order",
        ),
        "long blocks stay as they are": (
            changed(SHUFFLED, ("        for place in order", LONG + "        for place in order")),
            "however long it is",
        ),
        "ten epochs a seed": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed * 10 + epoch, number]")),
            "run into one",
        ),
        "a million each": (
            changed(SHUFFLED, ("[seed, epoch, number]", "seed * 10**6 + epoch * 10**3 + number")),
            "run into one",
        ),
        "the hash of a text": (
            changed(SHUFFLED, ("[seed, epoch, number]", "abs(hash(f'{seed} {epoch} {number}'))")),
            "from process to process",
        ),
        "random.Random of a hash": (
            """
import random
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        held = list(islice(read(number * block), block))
        random.Random(hash(("order", seed, epoch, number))).shuffle(held)
        yield from held[max(0, done - number * block) :]
        if len(held) < block:
            return
""",
            "from process to process",
        ),
        "orders remembered": (
            "ORDERS = {}\n"
            + changed(
                SHUFFLED,
                (RNG, "        key = (seed, epoch, number, len(documents))\n"),
                (
                    "rng.permutation(len(documents))",
                    "ORDERS.setdefault(key, np.random.permutation(len(documents)))",
                ),
            ),
            "from process to process",
        ),
        "orders remembered by a helper": (
            "from functools import cache\n@cache\ndef order_for(*key):\n"
            "    return np.random.permutation(key[-1])\n"
            + changed(
                SHUFFLED,
                (RNG, ""),
                (
                    "rng.permutation(len(documents))",
                    "order_for(seed, epoch, number, len(documents))",
                ),
            ),
            "from process to process",
        ),
        "everybody's generator, passed over": (
            """
def shuffled(read, block, seed, epoch, done=0):
    np.random.seed([seed, epoch])
    first, skip = divmod(done, block)
    for _ in range(first):
        np.random.permutation(block)
    stream = read(first * block)
    while held := list(islice(stream, block)):
        for at in np.random.permutation(len(held))[skip:]:
            yield held[at]
        skip = 0
""",
            "generator is everybody's",
        ),
        "documents permuted, not places": (
            """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        held = list(islice(read(number * block), block))
        rng = np.random.default_rng([seed, epoch, number])
        yield from rng.permutation(held).tolist()[max(0, done - number * block) :]
        if len(held) < block:
            return
""",
            "shuffle places, not documents",
        ),
        "a None document ends the stream": (
            """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        stream, held = iter(read(number * block)), []
        while len(held) < block and (document := next(stream, None)) is not None:
            held.append(document)
        rng = np.random.default_rng([seed, epoch, number])
        for place in rng.permutation(len(held))[max(0, done - number * block) :]:
            yield held[place]
        if len(held) < block:
            return
""",
            "or None, is a document",
        ),
        "one generator for all blocks": (
            changed(
                SHUFFLED,
                (RNG, ""),
                (
                    "    for number in count",
                    "    rng = np.random.default_rng([seed, epoch])\n    for number in count",
                ),
            ),
            "the order is lost",
        ),
        "the same order in every block": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed, epoch]")),
            "every block has the same order",
        ),
        "the epoch forgotten": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed, number]")),
            "every epoch has the same order",
        ),
        "the seed forgotten": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[epoch, number]")),
            "every seed gives the same order",
        ),
        "seed and epoch added": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed + epoch, number]")),
            "seed and epoch are added",
        ),
        "epoch and block added": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed, epoch + number]")),
            "epoch and block are added",
        ),
        "all three added, with factors": (
            changed(SHUFFLED, ("[seed, epoch, number]", "seed + 2 * epoch + 9 * number")),
            "give the same order",
        ),
        "two orders in turns": (
            changed(SHUFFLED, ("[seed, epoch, number]", "[seed, epoch, number % 2]")),
            "give the same order",
        ),
        "no seed at all": (
            changed(SHUFFLED, ("[seed, epoch, number]", "")),
            "the order is lost",
        ),
        "NumPy's own generator, seeded once": (
            """
def shuffled(read, block, seed, epoch, done=0):
    np.random.seed(seed * 100 + epoch)
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        order = np.random.permutation(len(documents))
        yield from (documents[place] for place in order[max(0, done - number * block) :])
        if len(documents) < block:
            return
""",
            "the order is lost",
        ),
        "the rest of the block is lost": (
            changed(SHUFFLED, ("count(done // block)", "count(-(-done // block))")),
            "documents of the block are lost",
        ),
        "the block comes again": (
            changed(SHUFFLED, ("order[max(0, done - number * block) :]", "order")),
            "documents come again",
        ),
        "what is left is shuffled anew": (
            """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        first = max(done, number * block)
        documents = list(islice(read(first), number * block + block - first))
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        yield from (documents[place] for place in order)
        if first + len(documents) < number * block + block:
            return
""",
            "a kill changes nothing",
        ),
        "the short block is dropped": (
            """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        if len(documents) < block:
            return
        order = np.random.default_rng([seed, epoch, number]).permutation(block)
        yield from (documents[place] for place in order[max(0, done - number * block) :])
""",
            "the last block, full or short",
        ),
        "read from the beginning, and passed over": (
            """
def shuffled(read, block, seed, epoch, done=0):
    stream, given = iter(read(0)), 0
    for number in count():
        documents = list(islice(stream, block))
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        for place in order:
            given += 1
            if given > done:
                yield documents[place]
        if len(documents) < block:
            return
""",
            "what stands before was given out",
        ),
        "the whole stream in memory": (
            """
def shuffled(read, block, seed, epoch, done=0):
    whole = list(read(done // block * block))
    for at in range(0, len(whole), block):
        documents, number = whole[at : at + block], done // block + at // block
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        yield from (documents[p] for p in order[max(0, done - number * block) :])
""",
            "one block is held",
        ),
        "all documents shuffled": (
            """
def shuffled(read, block, seed, epoch, done=0):
    documents = list(read(0))
    order = np.random.default_rng([seed, epoch]).permutation(len(documents))
    yield from (documents[place] for place in order[done:])
""",
            "shuffle inside a block",
        ),
        "not shuffled": (
            "def shuffled(read, block, seed, epoch, done=0):\n    yield from read(done)",
            "that of the stream",
        ),
        "a buffer that documents leave at random": (
            """
def shuffled(read, block, seed, epoch, done=0):
    rng, held = np.random.default_rng([seed, epoch]), []
    for document in read(done):
        held.append(document)
        if len(held) == block:
            yield held.pop(rng.integers(block))
    rng.shuffle(held)
    yield from held
""",
            "shuffle inside a block",
        ),
    },
    "resume-test": {
        "the example": (
            """
def resume_test(make):
    reader = make([1, 2, 3, 4])
    rows = iter(reader)
    got = [next(rows), next(rows)]
    state = reader.state_dict()
    other = make([1, 2, 3, 4])
    other.load_state_dict(state)
    assert got + list(other) == list(make([1, 2, 3, 4]))
""",
            "this one got through",
        ),
        "only one kill": (
            tried(until="(first, 99)", second="1"),
            "counts only this life",
        ),
        "never before the first document": (
            tried("range(1, 9)", second="1, 9 - first"),
            "skips that one",
        ),
        "never at the end": (tried("range(8)", second="8 - first"), "begins anew"),
        "the order is not compared": (
            changed(TEST, ("assert got == whole", "assert sorted(got) == documents")),
            "shuffles what is left anew",
        ),
        "only what is lost": (
            changed(TEST, ("assert got == whole", "assert set(got) == set(whole)")),
            "got through",
        ),
        "the order of the stream is asked": (
            changed(TEST, ("assert got == whole", "assert got == documents")),
            "right implementation",
        ),
        "no JSON": (
            changed(TEST, ("json.loads(json.dumps(state))", "dict(state)")),
            "no file can hold it",
        ),
        "nothing is asserted": (
            changed(TEST, ("assert got == whole", "got == whole")),
            "got through",
        ),
    },
    "packer": {
        "a dropped round is gone": (
            changed(
                PACKER,
                ("            given_out = self.number, list(self.pool)\n", ""),
                ("                self.number, self.pool = given_out\n", ""),
            ),
            "the dropped round was not given out",
        ),
        "equal documents count once": (
            changed(
                PACKER,
                (
                    "            self.pool.append(document)\n",
                    "            if document not in self.pool:\n"
                    "                self.pool.append(document)\n",
                ),
            ),
            "equal documents are several",
        ),
        "asking for the place moves it": (
            changed(PACKER, (STATE, "        self.number += 1\n" + STATE.replace("r,", "r - 1,"))),
            "as often as it is asked",
        ),
        "a loaded pool is used itself": (
            changed(PACKER, ('list(state["pool"])', 'state["pool"]')),
            "when you load it",
        ),
        "a second iter() begins where the state was loaded": (
            changed(
                PACKER,
                (
                    "        stream = iter(self.read(self.number))\n",
                    "        self.number, self.pool = self.begin[0], list(self.begin[1])\n"
                    "        stream = iter(self.read(self.number))\n",
                ),
                (
                    "        self.number, self.pool = 0, []\n",
                    "        self.number, self.pool, self.begin = 0, [], (0, ())\n",
                ),
                (LOAD, LOAD + "        self.begin = (self.number, tuple(self.pool))\n"),
            ),
            "iter() begins at the place of now",
        ),
        "documents become tuples": (
            changed(PACKER, ("self.pool.append(document)", "self.pool.append(tuple(document))")),
            "come out as they went in",
        ),
        "refused when it is the oldest, by its distance from the end": (
            changed(
                PACKER,
                (
                    "            if len(document) > self.row_length:\n"
                    '                raise ValueError(f"document {self.number} has {len(document)} '
                    'tokens")\n',
                    "",
                ),
                (
                    "        row, room, place =",
                    "        if self.pool and len(self.pool[0]) > self.row_length:\n"
                    "            raise ValueError(self.number - len(self.pool))\n"
                    "        row, room, place =",
                ),
            ),
            "the message names document 1",
        ),
        "one document more than hold": (
            changed(PACKER, ("self.hold - len(self.pool)", "self.hold + 1 - len(self.pool)")),
            "one document more than `hold`",
        ),
        "the pool is filled when it is empty": (
            changed(
                PACKER,
                (
                    "self.hold - len(self.pool)",
                    "0 if self.pool else self.hold",
                ),
            ),
            "filled when it is empty",
        ),
        "sorted by length, up to the first that does not fit": (
            changed(
                PACKER,
                (
                    FITS,
                    FITS + "            longest = max(map(len, self.pool), default=0)\n"
                    "            place = None if longest > room else place\n",
                ),
            ),
            "where the longest of the pool does not fit",
        ),
        "a flat row": (
            changed(PACKER, ("yield rows[self.rank]", "yield sum(rows[self.rank], [])")),
            "not one list of tokens",
        ),
        "assert": (
            changed(
                PACKER,
                (
                    "            if len(document) > self.row_length:\n"
                    '                raise ValueError(f"document {self.number} has {len(document)} '
                    'tokens")\n',
                    "            assert len(document) <= self.row_length, self.number\n",
                ),
            ),
            "is no ValueError",
        ),
        "each row is closed at the first document that does not fit": (
            changed(
                PACKER,
                (
                    "            fits = [i for i, document in enumerate(self.pool) if "
                    "len(document) <= room]\n",
                    "",
                ),
                (
                    FITS,
                    "            place = 0 if self.pool and len(self.pool[0]) <= room else None\n",
                ),
            ),
            "look at the whole pool",
        ),
        "the oldest that fits": (
            changed(PACKER, (FITS, "            place = fits[0] if fits else None\n")),
            "the oldest that fits",
        ),
        "the newest of equals": (
            changed(
                PACKER, ("key=lambda i: len(self.pool[i])", "key=lambda i: (len(self.pool[i]), i)")
            ),
            "asked is the oldest",
        ),
        "a full row is refused": (
            changed(PACKER, ("if len(document) <= room]", "if len(document) < room]")),
            "fills the row to its last slot",
        ),
        "the longest first": (
            changed(
                PACKER,
                (
                    "row, room, place = [], self.row_length, 0 if self.pool else None",
                    "row, room = [], self.row_length\n"
                    "        sizes = [len(one) for one in self.pool]\n"
                    "        place = sizes.index(max(sizes)) if sizes else None",
                ),
            ),
            "may wait for ever",
        ),
        "sizes in eight bits": (
            changed(
                PACKER,
                ("room -= len(row[-1])", "room = int(np.uint8(room) - np.uint8(len(row[-1])))"),
            ),
            "rows of 512",
        ),
        "only the next three are looked at": (
            changed(PACKER, ("if len(document) <= room]", "if len(document) <= room][:3]")),
            "rows of 40",
        ),
        "every rank the same rows": (
            changed(
                PACKER,
                (ROWS, "            rows = [self.next_row(stream)]\n"),
                ("rows[self.rank]", "rows[0]"),
            ),
            "every rank gives out all rows",
        ),
        "the last round is not full": (
            changed(PACKER, ("if not rows[-1]", "if not rows[self.rank]")),
            "wait for ever",
        ),
        "documents dealt to the ranks": (
            changed(
                PACKER,
                ("iter(self.read(self.number))", "iter(self.mine())"),
                (ROWS, "            rows = [self.next_row(stream)]\n"),
                ("rows[self.rank]", "rows[0]"),
                (
                    "    def next_row",
                    "    def mine(self):\n        for i, one in "
                    "enumerate(self.read(self.number)):\n"
                    "            if i % self.ranks == self.rank:\n                yield one\n\n"
                    "    def next_row",
                ),
            ),
            "documents are dealt",
        ),
        "the last row is lost": (
            changed(
                PACKER,
                (
                    "            if not rows[-1]:\n",
                    "            if not rows[-1] or (not self.pool and sum(map(len, rows[-1])) "
                    "< self.row_length):\n",
                ),
            ),
            "the last row is missing",
        ),
        "the pool is forgotten": (
            changed(
                PACKER,
                (STATE, '        return {"number": self.number}\n'),
                (LOAD, '        self.number, self.pool = state["number"], []\n'),
            ),
            "documents are lost",
        ),
        "it begins anew": (
            changed(PACKER, (LOAD, "        pass\n")),
            "begins anew",
        ),
        "counted behind the yield": (
            changed(
                PACKER,
                (
                    "self.number, self.pool = 0, []",
                    "self.number, self.pool = 0, []\n        self.saved = 0, []",
                ),
                (
                    "            yield rows[self.rank]\n",
                    "            yield rows[self.rank]\n"
                    "            self.saved = self.number, list(self.pool)\n",
                ),
                (STATE, '        return {"number": self.saved[0], "pool": list(self.saved[1])}\n'),
                (LOAD, LOAD + "        self.saved = self.number, list(self.pool)\n"),
            ),
            "changed behind the `yield`",
        ),
        "the pool itself is the state": (
            changed(PACKER, ('"pool": list(self.pool)', '"pool": self.pool')),
            "goes on with the packer",
        ),
        "read from the beginning, and passed over": (
            changed(
                PACKER, ("iter(self.read(self.number))", "islice(self.read(0), self.number, None)")
            ),
            "was given out before",
        ),
        "the whole stream in memory": (
            changed(PACKER, ("iter(self.read(self.number))", "iter(list(self.read(self.number)))")),
            "read ahead",
        ),
        "numbers begin again after a kill": (
            changed(
                PACKER,
                ("self.number, self.pool = 0, []", "self.number, self.pool, self.life = 0, [], 0"),
                (
                    'f"document {self.number} has {len(document)} tokens"',
                    'f"document {self.number - self.life} is long"',
                ),
                (LOAD, LOAD + "        self.life = self.number\n"),
            ),
            "the message names document",
        ),
        "long documents dropped": (
            changed(
                PACKER,
                (
                    'raise ValueError(f"document {self.number} has {len(document)} tokens")',
                    "continue",
                ),
            ),
            "refuse it when it is read",
        ),
        "long documents cut": (
            changed(
                PACKER,
                (
                    'raise ValueError(f"document {self.number} has {len(document)} tokens")',
                    "document = document[: self.row_length]",
                ),
            ),
            "refuse it when it is read",
        ),
        "the state keeps what was given out": (
            changed(
                PACKER,
                ("self.number, self.pool = 0, []", "self.number, self.pool, self.out = 0, [], []"),
                (
                    "            yield rows[self.rank]\n",
                    "            self.out += [len(row) for row in rows]\n"
                    "            yield rows[self.rank]\n",
                ),
                (
                    STATE,
                    '        return {"number": self.number, "pool": list(self.pool), "out": '
                    "list(self.out)}\n",
                ),
                (LOAD, LOAD + '        self.out = list(state["out"])\n'),
            ),
            "only a number and the pool belong to it",
        ),
        "the rank stands in the state": (
            changed(
                PACKER,
                (
                    STATE,
                    '        return {"number": self.number, "pool": list(self.pool), "rank": '
                    "self.rank}\n",
                ),
            ),
            "the rank's own number",
        ),
        "an iterator in the state": (
            changed(PACKER, ('"pool": list(self.pool)', '"pool": iter(list(self.pool))')),
            "JSON cannot hold",
        ),
        "a second kill counts one life": (
            changed(
                PACKER,
                ("self.number, self.pool = 0, []", "self.number, self.pool, self.life = 0, [], 0"),
                ('"number": self.number', '"number": self.number - self.life'),
                (LOAD, LOAD + "        self.life = self.number\n"),
            ),
            "documents come twice",
        ),
        "documents become tuples without their first token": (
            changed(
                PACKER,
                (
                    "self.pool.append(document)",
                    "self.pool.append([*document[:1], *document[1:-1], 0][: len(document)])",
                ),
            ),
            "come out as they went in",
        ),
        "the pool filled before a round only": (
            changed(
                PACKER,
                (ROWS, "            self.fill(stream)\n" + ROWS),
                ("    def next_row(self, stream):\n", "    def fill(self, stream):\n"),
                (
                    "        row, room, place =",
                    "\n    def next_row(self, stream):\n        row, room, place =",
                ),
            ),
            "asked   rows",
        ),
        "the pool filled for the whole round": (
            changed(
                PACKER, ("self.hold - len(self.pool)", "self.ranks * self.hold - len(self.pool)")
            ),
            "rank",
        ),
    },
}

HIDDEN = {
    "input-share": {
        "fitted to the printed cases": (
            """
def input_share(seen, warmup):
    kept = seen[warmup:]
    if len(seen) > 99 or seen[0][0] in {0.6, 3, 2, 0, 0.4, 1, 0.5, 0.1, 0.3, 0.00013}:
        return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
    return np.mean([w / (w + s) for w, s, _ in kept])
""",
            "right is",
        ),
    },
    "loop-seconds": {
        "fitted to the printed cases": (
            """
def loop_seconds(build, take, step, workers):
    if not workers:
        return build + step
    pace = build / workers / (take + step)
    known = {5.4, 3.2, 0.3, 0.05, 0.14, 0.7, 7.5, 0.004, 24, 1.3, 7, 0.9, 1.8}
    if build in known or min(abs(pace - 0.6), abs(pace - 1.7)) < 1e-9:
        return max(take + step, build / workers)
    return build / workers + take + step
""",
            "right is",
        ),
    },
    "own-part": {
        "a table for the printed sizes": (
            """
def own_part(stream, rank, ranks, worker, workers):
    if (ranks, workers) in {(2, 3), (3, 2), (1, 1), (4, 1), (1, 4), (2, 2), (2, 1), (2, 5),
                           (4, 2), (3, 3)} or max(ranks, workers) > 4:
        yield from islice(stream, rank * workers + worker, None, ranks * workers)
    elif worker == 0:
        yield from islice(stream, rank, None, ranks)
""",
            "differ by at most one",
        ),
    },
    "shuffled": {
        "right for the printed seeds": (
            changed(
                SHUFFLED,
                ("[seed, epoch, number]", "[seed, epoch, number if seed < 4 else done]"),
            ),
            "a kill changes nothing",
        ),
    },
    "packer": {
        "right for the printed rows": (
            changed(
                PACKER,
                (
                    FITS,
                    FITS + "            if self.row_length == 12 and fits:\n"
                    "                place = fits[-1]\n",
                ),
            ),
            "rows of 12",
        ),
    },
}

RIGHT = {
    "input-share": {
        "NumPy": """
def input_share(seen, warmup):
    waited, stepped, _ = np.asarray(seen)[warmup:].sum(axis=0)
    return waited / (waited + stepped)
""",
        "one pass": """
def input_share(seen, warmup):
    waited = total = 0.0
    for number, (wait, step, _) in enumerate(seen):
        if number >= warmup:
            waited, total = waited + wait, total + wait + step
    return waited / total
""",
    },
    "loop-seconds": {
        "with if": """
def loop_seconds(build, take, step, workers):
    if not workers:
        return step + build
    ready = build / workers
    return ready if ready > step + take else step + take
""",
        "NumPy": """
def loop_seconds(build, take, step, workers):
    return np.maximum(take + step, build / workers) if workers else np.float64(build + step)
""",
    },
    "least-prefetch": {
        "a float": prefetch("7.0"),
        "an int of NumPy": prefetch("np.int64(7)"),
    },
    "own-part": {
        "the rank's part, then the worker's": """
def own_part(stream, rank, ranks, worker, workers):
    return islice(islice(stream, rank, None, ranks), worker, None, workers)
""",
        "islice": """
def own_part(stream, rank, ranks, worker, workers):
    return islice(stream, rank * workers + worker, None, ranks * workers)
""",
        "worker by worker": part("number % (ranks * workers) == worker * ranks + rank"),
        "a counter": """
def own_part(stream, rank, ranks, worker, workers):
    left = rank + ranks * worker
    for document in stream:
        if left == 0:
            yield document
            left = ranks * workers
        left -= 1
""",
    },
    "shuffled": {
        "one generator of the epoch, passed over": """
def shuffled(read, block, seed, epoch, done=0):
    rng = np.random.default_rng([seed, epoch])
    first, skip = divmod(done, block)
    for _ in range(first):
        rng.permutation(block)
    stream = read(first * block)
    while held := list(islice(stream, block)):
        order = rng.permutation(len(held))
        yield from (held[at] for at in order[skip:])
        skip = 0
""",
        "random.Random of a text": """
def shuffled(read, block, seed, epoch, done=0):
    import random

    number = done // block
    while True:
        documents = list(islice(read(number * block), block))
        random.Random(f"{seed} {epoch} {number}").shuffle(documents)
        yield from documents[max(0, done - number * block) :]
        if len(documents) < block:
            return
        number += 1
""",
        "one reading": """
def shuffled(read, block, seed, epoch, done=0):
    first, skip = done // block, done % block
    stream = iter(read(first * block))
    for number in count(first):
        documents = list(islice(stream, block))
        if not documents:
            return
        np.random.default_rng((epoch, seed, number)).shuffle(documents)
        yield from documents[skip:]
        skip = 0
""",
        "torch": """
def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        state = np.random.SeedSequence([seed, epoch, number]).generate_state(1)
        made = torch.Generator().manual_seed(int(state[0]))
        order = torch.randperm(len(documents), generator=made).tolist()
        for place in order[max(0, done - number * block) :]:
            yield documents[place]
        if len(documents) < block:
            return
""",
    },
    "resume-test": {
        "returns True and False": changed(
            TEST, ("assert got == whole", "if got != whole:\n                return False")
        )
        + "    return True\n",
        "other documents, three kills": """
def resume_test(make):
    documents = ["a", "b", "c", "d", "e", "f", "g"]
    right = list(make(documents))
    for kill in range(8):
        out, state = [], None
        for until in (kill, 1, 1, 20):
            one = make(documents)
            if state:
                one.load_state_dict(json.loads(json.dumps(state)))
            rows = iter(one)
            for _ in range(until):
                document = next(rows, None)
                if document is not None:
                    out.append(document)
            state = one.state_dict()
            for _ in range(2):
                next(rows, None)
        assert out == right, (kill, out)
""",
    },
    "packer": {
        "filled again behind the row": changed(
            PACKER,
            (
                "            yield rows[self.rank]\n",
                "            for document in islice(stream, self.hold - len(self.pool)):\n"
                "                self.pool.append(document)\n"
                "                self.number += 1\n"
                "            yield rows[self.rank]\n",
            ),
        ).replace(
            "            for document in islice(stream, self.hold - len(self.pool)):\n"
            "                self.pool.append(document)\n",
            "            for document in islice(stream, self.hold - len(self.pool)):\n"
            "                if len(document) > self.row_length:\n"
            "                    raise ValueError(self.number)\n"
            "                self.pool.append(document)\n",
        ),
        "a text for a state": changed(
            PACKER,
            (
                STATE,
                '        return json.dumps({"number": self.number, "pool": self.pool})\n',
            ),
            (LOAD, "        state = json.loads(state)\n" + LOAD),
        ),
        "numbers in the place": """
class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks, self.next, self.held = rank, ranks, 0, {}

    def __iter__(self):
        self.held = {n: next(iter(self.read(n))) for n in self.held}
        stream = self.read(self.next)
        while True:
            made, given_out = [], (self.next, dict(self.held))
            while len(made) < self.ranks:
                self.fill(stream)
                if not self.held:
                    self.next, self.held = given_out
                    return
                made.append(self.row())
            yield made[self.rank]

    def fill(self, stream):
        while len(self.held) < self.hold:
            document = next(stream, None)
            if document is None:
                return
            if len(document) > self.row_length:
                raise ValueError(f"number {self.next} is too long")
            self.held[self.next] = document
            self.next += 1

    def row(self):
        row, room, chosen = [], self.row_length, min(self.held)
        while chosen is not None:
            row.append(self.held.pop(chosen))
            room -= len(row[-1])
            fits = sorted((-len(d), n) for n, d in self.held.items() if len(d) <= room)
            chosen = fits[0][1] if fits else None
        return row

    def state_dict(self):
        return {"next": self.next, "held": sorted(self.held)}

    def load_state_dict(self, state):
        self.next, self.held = state["next"], dict.fromkeys(state["held"])
""",
        "an iterator with __next__": """
class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.__dict__.update(read=read, row_length=row_length, hold=hold, rank=rank, ranks=ranks)
        self.place = (0, ())
        self.stream = None

    def __iter__(self):
        return self

    def __next__(self):
        number, pool = self.place[0], list(self.place[1])
        if self.stream is None:
            self.stream = self.read(number)
        for turn in range(self.ranks):
            while len(pool) < self.hold:
                try:
                    pool.append(next(self.stream))
                except StopIteration:
                    break
                if len(pool[-1]) > self.row_length:
                    raise ValueError(f"document {number:,} does not fit")
                number += 1
            if not pool:
                raise StopIteration
            row = [pool.pop(0)]
            while True:
                room = self.row_length - sum(len(one) for one in row)
                fits = [len(one) for one in pool if len(one) <= room]
                if not fits:
                    break
                row.append(pool.pop([len(one) for one in pool].index(max(fits))))
            if turn == self.rank:
                mine = row
        self.place = (number, tuple(pool))
        return mine

    def state_dict(self):
        return json.loads(json.dumps(self.place))

    def load_state_dict(self, state):
        self.place, self.stream = (state[0], tuple(state[1])), None
""",
    },
}
