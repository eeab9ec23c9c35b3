# ruff: noqa
"""Lesson 10_feeding: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- input-share

GOOD = '''def input_share(seen, warmup):
    """The share of the loop's time that it waited for input, behind the warm-up."""
    rest = seen[warmup:]
    waited = sum(one[0] for one in rest)
    stepped = sum(one[1] for one in rest)
    return waited / (waited + stepped)
'''
RIGHT["input-share"] = {
    "two sums over the slice": GOOD,
    "NumPy columns": '''def input_share(seen, warmup):
    waited, stepped, _ = np.asarray(seen[warmup:], dtype=float).sum(axis=0)
    return float(waited / (waited + stepped))
''',
    "torch in double precision": '''def input_share(seen, warmup):
    each = torch.tensor(seen, dtype=torch.float64)[warmup:, :2]
    return (each[:, 0].sum() / each.sum()).item()
''',
    "exact fractions, one pass with a counter": '''from fractions import Fraction


def input_share(seen, warmup):
    waited = both = Fraction(0)
    for number, (wait, step, _) in enumerate(seen):
        if number < warmup:
            continue
        waited += Fraction(wait)
        both += Fraction(wait) + Fraction(step)
    return float(waited / both)
''',
    "by subtraction: all of it less the warm-up, in exact fractions": '''from fractions import Fraction


def input_share(seen, warmup):
    def total(part, column):
        return sum((Fraction(one[column]) for one in part), Fraction(0))

    waited, stepped = (total(seen, column) - total(seen[:warmup], column) for column in (0, 1))
    return float(waited / (waited + stepped))
''',
    "weighted mean of the shares, the weight is the step's time (np.average)": '''def input_share(seen, warmup):
    rest = [(w, w + s) for w, s, _ in islice(seen, warmup, None) if w + s > 0]
    return float(np.average([w / both for w, both in rest], weights=[both for _, both in rest]))
''',
    "a clock object that the steps are told to": '''class Clock:
    def __init__(self):
        self.waited, self.passed = 0.0, 0.0

    def tell(self, waited, stepped, built):
        self.waited += waited
        self.passed += waited + stepped
        return self


def input_share(seen, warmup):
    clock = Clock()
    for number in range(warmup, len(seen)):
        clock.tell(*seen[number])
    return clock.waited / clock.passed
''',
}
_ret = "return waited / (waited + stepped)"
WRONG["input-share"] = {
    "adds what was built to the time of the loop": _cut(GOOD, (_ret, "return waited / (waited + stepped + sum(one[2] for one in rest))")),
    "mean of the shares of the steps, short ones count as much as long ones": '''def input_share(seen, warmup):
    shares = [w / (w + s) for w, s, _ in seen[warmup:] if w + s]
    return sum(shares) / len(shares)
''',
    "forgets to leave out the warm-up": _cut(GOOD, ("seen[warmup:]", "seen")),
    "leaves out one step too many": _cut(GOOD, ("seen[warmup:]", "seen[warmup + 1:]")),
    "leaves out one step too few": _cut(GOOD, ("seen[warmup:]", "seen[max(warmup - 1, 0):]")),
    "leaves out the last steps instead of the first": _cut(GOOD, ("seen[warmup:]", "seen[:len(seen) - warmup]")),
    "divides by the stepped seconds alone": _cut(GOOD, (_ret, "return waited / stepped")),
    "in percent instead of a share": _cut(GOOD, (_ret, "return 100 * waited / (waited + stepped)")),
    "counts what was built as waiting": _cut(GOOD, ("one[0]", "one[2]")),
    "the share of stepping, not of waiting": _cut(GOOD, (_ret, "return stepped / (waited + stepped)")),
    "rounds to two digits": _cut(GOOD, (_ret, "return round(waited / (waited + stepped), 2)")),
    "thinks that the step runs beside the building: divides by the sum of the larger of waited and stepped": _cut(
        GOOD, (_ret, "return waited / sum(max(one[0], one[1]) for one in rest)")),
    "the sum of the loop's time keeps the warm-up, only the waiting leaves it out": _cut(
        GOOD, ("sum(one[1] for one in rest)", "sum(one[1] for one in seen)")),
    "leaves out every step that looks like a warm-up step, wherever it stands": _cut(
        GOOD, ("seen[warmup:]", "[one for one in seen if one not in seen[:warmup]]")),
    "counts equal steps once: a set of the steps": _cut(GOOD, ("seen[warmup:]", "set(map(tuple, seen[warmup:]))")),
    "leaves out the longest waits, wherever they stand, instead of the first steps": _cut(
        GOOD, ("seen[warmup:]", "sorted(seen, key=lambda one: -one[0])[warmup:]")),
    "leaves out 500 steps at most, however long the warm-up": _cut(GOOD, ("seen[warmup:]", "seen[min(warmup, 500):]")),
    "looks at no more than 1500 steps behind the warm-up": _cut(GOOD, ("seen[warmup:]", "seen[warmup:warmup + 1500]")),
    "deletes the warm-up from the caller's own list: a second call leaves out more": _cut(
        GOOD, ("    rest = seen[warmup:]\n", "    del seen[:warmup]\n    rest = seen\n")),
    "remembers answers by number of steps, warm-up and first step: other later steps get the old share": '''known = {}


def input_share(seen, warmup):
    key = (len(seen), warmup, tuple(seen[0]))
    if key not in known:
        waited = sum(one[0] for one in seen[warmup:])
        known[key] = waited / sum(one[0] + one[1] for one in seen[warmup:])
    return known[key]
''',
    "makes whole seconds of all where the first number is whole": '''def input_share(seen, warmup):
    kind = type(seen[0][0])
    rest = np.array(seen, dtype=float)[warmup:].astype(kind)
    return float(rest[:, 0].sum() / rest[:, :2].sum())
''',
    "rounds each time to a tenth of a millisecond: shorter waits vanish": _cut(
        GOOD, ("sum(one[0] for", "sum(round(one[0], 4) for"), ("sum(one[1] for", "sum(round(one[1], 4) for")),
    "says 0 where nothing was stepped (all the time was waiting, so 1)": _cut(
        GOOD, (_ret, "return waited / (waited + stepped) if stepped else 0.0")),
    "takes every wait of five seconds or more for warm-up, too, and leaves it out": _cut(
        GOOD, ("seen[warmup:]", "[one for one in seen[warmup:] if one[0] < 5]")),
    "knows the shown cases, elsewhere the mean of the shares": '''def input_share(seen, warmup):
    rest = seen[warmup:]
    shares = [w / (w + s) for w, s, _ in rest]
    mean = sum(shares) / len(shares)
    shown = {(0.6, 2): 7 / 13, (0.0, 3): 3 / 8, (1, 2): 0.125}
    return shown.get((rest[0][0], len(rest)), mean)
''',
}

# ---------------------------------------------------------------- loop-seconds

GOOD = '''def loop_seconds(build, take, step, workers):
    """Seconds for each micro-batch: of building, taking over and the step; any number of workers."""
    if workers == 0:
        return build + step
    return max(take + step, build / workers)
'''
RIGHT["loop-seconds"] = {
    "two cases and the larger of two": GOOD,
    "step, taking over and what is left to wait": '''def loop_seconds(build, take, step, workers):
    taking, waiting = (take, max(0.0, build / workers - take - step)) if workers else (0.0, build)
    return waiting + taking + step
''',
    "NumPy": '''def loop_seconds(build, take, step, workers):
    if not workers:
        return float(np.sum([build, step]))
    return float(np.maximum(np.add(take, step), np.divide(build, workers)))
''',
    "fractions, sorted, last one": '''from fractions import Fraction


def loop_seconds(build, take, step, workers):
    b, t, s = map(Fraction, (build, take, step))
    pace = sorted([t + s, b / workers])[-1] if workers > 0 else b + s
    return float(pace)
''',
    "plays the pipeline: rounds of micro-batches ready together, time between the ends of two rounds": '''def loop_seconds(build, take, step, workers):
    if workers == 0:
        return build + step
    now, ends = 0.0, []
    for round_ in range(1, 5):
        for _ in range(workers):
            now = max(now, round_ * build) + take + step
        ends.append(now)
    return (ends[3] - ends[1]) / (2 * workers)
''',
    "bisection: the shortest pace that both sides can keep": '''def loop_seconds(build, take, step, workers):
    def keeps(pace):
        if workers == 0:
            return pace >= build + step
        return pace >= take + step and pace * workers >= build

    low, high = 0.0, build + take + step
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high
''',
    "a class with two sides": '''class Pipeline:
    def __init__(self, build, take, step, workers):
        self.loop = step + (take if workers else build)
        self.makers = build / workers if workers else 0.0

    @property
    def pace(self):
        return self.loop if self.loop >= self.makers else self.makers


def loop_seconds(build, take, step, workers):
    return Pipeline(build, take, step, workers).pace
''',
}
_max = "return max(take + step, build / workers)"
WRONG["loop-seconds"] = {
    "no worker counts as one worker": '''def loop_seconds(build, take, step, workers):
    return max(take + step, build / max(workers, 1))
''',
    "takes over without workers, too": _cut(GOOD, ("return build + step", "return build + take + step")),
    "forgets taking over": _cut(GOOD, ("max(take + step,", "max(step,")),
    "taking over stands on the workers' side": _cut(GOOD, (_max, "return max(step, build / workers + take)")),
    "taking over stands on both sides": _cut(GOOD, (_max, "return take + max(step, build / workers)")),
    "adds the two sides": _cut(GOOD, (_max, "return take + step + build / workers")),
    "the faster side sets the pace": _cut(GOOD, ("max(", "min(")),
    "building is not divided among the workers": _cut(GOOD, ("build / workers", "build")),
    "the loop builds beside the workers: one builder more": _cut(GOOD, ("build / workers", "build / (workers + 1)")),
    "divides everything among the workers": _cut(GOOD, (_max, "return max(take + step, build) / workers")),
    "micro-batches a second instead of seconds": _cut(
        GOOD, ("return build + step", "return 1 / (build + step)"), (_max, "return 1 / max(take + step, build / workers)")),
    "each worker waits for the loop to take over: (build + take) / workers": _cut(GOOD, ("build / workers", "(build + take) / workers")),
    "mean of the two sides": _cut(GOOD, (_max, "return (take + step + build / workers) / 2")),
    "without workers building and the step run beside each other": _cut(GOOD, ("return build + step", "return max(build, step)")),
    "without workers the larger of taking over and the step: wrong where taking is longer": _cut(
        GOOD, ("return build + step", "return build + max(take, step)")),
    "taking over counts as the step at most: wrong where taking is longer than the step": _cut(
        GOOD, ("max(take + step,", "max(min(take, step) + step,")),
    "no more than 16 workers help": _cut(GOOD, ("build / workers", "build / min(workers, 16)")),
    "beyond 12 workers the step always sets the pace": _cut(
        GOOD, ("    return max", "    if workers > 12:\n        return take + step\n    return max")),
    "rounds to a tenth of a millisecond: short steps are lost": _cut(GOOD, (_max, "return round(max(take + step, build / workers), 4)")),
    "workers beyond four count in fours only: 5, 6, 7 are as 4": _cut(
        GOOD, ("build / workers", "build / (workers if workers < 5 else workers // 4 * 4)")),
    "remembers by building and workers: another step or taking over gets the old answer": '''known = {}


def loop_seconds(build, take, step, workers):
    if (build, workers) not in known:
        known[build, workers] = max(take + step, build / workers) if workers else build + step
    return known[build, workers]
''',
    "whole seconds are divided without a rest": _cut(
        GOOD, (_max, "each = build // workers if isinstance(build, int) else build / workers\n    return max(take + step, each)")),
    "never faster than ten milliseconds": _cut(GOOD, (_max, "return max(take + step, build / workers, 0.01)")),
    "knows when the shown cases are bound by building, elsewhere the step sets the pace": '''def loop_seconds(build, take, step, workers):
    if workers == 0:
        return build + step
    if (build, workers) in {(5.4, 2), (0.3, 1), (0.7, 2), (7.5, 3), (24.0, 12)}:
        return build / workers
    return take + step
''',
    "an answer above three seconds is taken for a mistake and cut": _cut(GOOD, (_max, "return min(max(take + step, build / workers), 3.0)")),
}

# ---------------------------------------------------------------- least-prefetch

GOOD = '''def least_prefetch():
    """The least prefetch of each worker, at the fewest workers, with less than 1 % of waiting."""
    return 7
'''
_table = '''waiting = {  # in percent, read off the finder, prefetch 1 to 12
    2: [51.86, 47.79, 46.82, 46.56, 46.36, 46.01, 45.69, 45.39, 45.12, 44.93, 44.80, 44.80],
    3: [37.48, 26.37, 23.11, 20.61, 19.86, 19.86, 19.86, 19.86, 19.86, 19.86, 19.86, 19.86],
    4: [25.00, 9.39, 4.97, 3.39, 2.34, 1.27, 0.35, 0.35, 0.35, 0.35, 0.35, 0.35],
    5: [14.92, 0.69, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
}
'''
RIGHT["least-prefetch"] = {
    "the number": GOOD,
    "from a dictionary of what the finder shows": _table + '''

def least_prefetch():
    workers = min(many for many, row in waiting.items() if min(row) < 1)
    return next(at for at, share in enumerate(waiting[workers], 1) if share < 1)
''',
    "NumPy, lowest setting in order of workers, then prefetch": _table + '''

def least_prefetch():
    good = np.array([waiting[many] for many in sorted(waiting)]) < 1.0
    workers = good.any(axis=1).argmax()
    return int(good[workers].argmax()) + 1
''',
    "bisection by recursion: more prefetch never waits longer": _table + '''

def least_prefetch(low=1, high=12):
    if low == high:
        return low
    middle = (low + high) // 2
    return least_prefetch(low, middle) if waiting[4][middle - 1] < 1 else least_prefetch(middle + 1, high)
''',
    "least pair (workers, prefetch) in the order of pairs": _table + '''

def least_prefetch():
    return min((many, at + 1) for many, row in waiting.items() for at, share in enumerate(row) if share < 1)[1]
''',
    "held micro-batches divided by the workers": '''def least_prefetch():
    held, workers = 28, 4
    return held // workers
''',
}
WRONG["least-prefetch"] = {
    "at five workers, which wait less at once": _cut(GOOD, ("return 7", "return 2")),
    "the first prefetch without any waiting at five workers": _cut(GOOD, ("return 7", "return 3")),
    "the last prefetch that waits more than 1 %": _cut(GOOD, ("return 7", "return 6")),
    "one too many, to be safe": _cut(GOOD, ("return 7", "return 8")),
    "the largest that is offered": _cut(GOOD, ("return 7", "return 12")),
    "the least that is offered": _cut(GOOD, ("return 7", "return 1")),
    "the number of workers instead of the prefetch": _cut(GOOD, ("return 7", "return 4")),
    "prefetch of all workers together": _cut(GOOD, ("return 7", "return 28")),
    "where three workers stop to gain": _cut(GOOD, ("return 7", "return 5")),
    "where the waiting falls below 10 %, a point misread": _cut(GOOD, ("return 7", "return 2.0")),
    "the pair of workers and prefetch": _cut(GOOD, ("return 7", "return 4, 7")),
    "the waiting instead of the prefetch": _cut(GOOD, ("return 7", "return 0.0035")),
    "between 6 and 7, read off a line that is not there": _cut(GOOD, ("return 7", "return 6.3")),
    "nothing is given back, only printed": _cut(GOOD, ("return 7", "print(7)")),
    "the setting as a dictionary": _cut(GOOD, ("return 7", "return {'workers': 4, 'prefetch': 7}")),
    "a list of all prefetches that do": _cut(GOOD, ("return 7", "return list(range(7, 13))")),
    "nothing helps: there is none": _cut(GOOD, ("return 7", "return float('inf')")),
    "the right one minus a sign": _cut(GOOD, ("return 7", "return -7")),
    "only the first call says 7, each later one is one less: state kept between calls": '''tries = [7]


def least_prefetch():
    tries.append(tries[-1] - 1)
    return tries[-2]
''',
    "a generator of 7 instead of 7": _cut(GOOD, ("return 7", "yield 7")),
}

# ---------------------------------------------------------------- own-part

GOOD = '''def own_part(stream, rank, ranks, worker, workers):
    """Yield the documents of one worker of one rank; a generator, or another iterator."""
    readers, mine_is = ranks * workers, rank * workers + worker
    for number, document in enumerate(stream):
        if number % readers == mine_is:
            yield document
'''
RIGHT["own-part"] = {
    "counted, every so many": GOOD,
    "islice": '''def own_part(stream, rank, ranks, worker, workers):
    return islice(stream, rank * workers + worker, None, ranks * workers)
''',
    "islice twice: first the rank's, then the worker's": '''def own_part(stream, rank, ranks, worker, workers):
    return islice(islice(stream, rank, None, ranks), worker, None, workers)
''',
    "an iterator class that counts down": '''class Part:
    def __init__(self, stream, first, every):
        self.stream, self.left, self.every = iter(stream), first, every

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            document = next(self.stream)
            if self.left == 0:
                self.left = self.every - 1
                return document
            self.left -= 1


def own_part(stream, rank, ranks, worker, workers):
    return Part(stream, worker * ranks + rank, ranks * workers)
''',
    "compress with a cycle of yes and no": '''from itertools import compress, cycle


def own_part(stream, rank, ranks, worker, workers):
    turn = [(r, w) == (rank, worker) for r in range(ranks) for w in range(workers)]
    return compress(stream, cycle(turn))
''',
    "to and fro: each second round is dealt backwards": '''from itertools import cycle


def own_part(stream, rank, ranks, worker, workers):
    names = [(r, w) for r in range(ranks) for w in range(workers)]
    for document, name in zip(stream, cycle(names + names[::-1])):
        if name == (rank, worker):
            yield document
''',
    "each round is dealt in an order of its own, the same for all readers": '''def own_part(stream, rank, ranks, worker, workers):
    readers, source, number = ranks * workers, iter(stream), 0
    turns = []
    for document in source:
        place = number % readers
        if place == 0:
            turns = np.random.default_rng([7, number // readers]).permutation(readers)
        if turns[place] == rank * workers + worker:
            yield document
        number += 1
''',
    "a ring that turns by one for each document": '''from collections import deque


def own_part(stream, rank, ranks, worker, workers):
    ring = deque(range(ranks * workers))
    for document in stream:
        if ring[0] == rank + ranks * worker:
            yield document
        ring.rotate(-1)
''',
}
WRONG["own-part"] = {
    "divides among the ranks only: workers of a rank read the same": _cut(
        GOOD, ("ranks * workers, rank * workers + worker", "ranks, rank")),
    "divides among the workers only: ranks read the same": _cut(
        GOOD, ("ranks * workers, rank * workers + worker", "workers, worker")),
    "number of the reader is rank + worker: some readers coincide": _cut(GOOD, ("rank * workers + worker", "rank + worker")),
    "number of the reader is rank * ranks + worker": _cut(GOOD, ("rank * workers + worker", "rank * ranks + worker")),
    "as many readers as ranks + workers": _cut(GOOD, ("ranks * workers, ", "ranks + workers, ")),
    "counts from 1 and begins with the first full round: the first documents have no reader": _cut(
        GOOD, ("enumerate(stream)", "enumerate(stream, 1)"), ("number % readers == mine_is", "number % readers == mine_is and number >= readers")),
    "the last round is dropped where it is not full": '''def own_part(stream, rank, ranks, worker, workers):
    source = iter(stream)
    while True:
        round_ = list(islice(source, ranks * workers))
        if len(round_) < ranks * workers:
            return
        yield round_[rank * workers + worker]
''',
    "reads a whole round, then gives out its own": '''def own_part(stream, rank, ranks, worker, workers):
    source, at = iter(stream), rank * workers + worker
    while round_ := list(islice(source, ranks * workers)):
        if at < len(round_):
            yield round_[at]
''',
    "reads the next document before it gives one out": '''def own_part(stream, rank, ranks, worker, workers):
    own = islice(enumerate(stream), None)
    held = next(own, None)
    while held is not None:
        following = next(own, None)
        if held[0] % (ranks * workers) == rank * workers + worker:
            yield held[1]
        held = following
''',
    "gives out pairs of number and document": _cut(GOOD, ("yield document", "yield number, document")),
    "leaves out empty documents": _cut(GOOD, ("if number % readers == mine_is:", "if number % readers == mine_is and document:")),
    "takes None for the end of the stream": '''def own_part(stream, rank, ranks, worker, workers):
    source, number = iter(stream), 0
    while (document := next(source, None)) is not None:
        if number % (ranks * workers) == rank * workers + worker:
            yield document
        number += 1
''',
    "two neighbours for each reader: parts differ by two": _cut(GOOD, ("if number % readers", "if number // 2 % readers")),
    "deals by the document's hash instead of its number: parts of unequal size": _cut(
        GOOD, ("if number % readers", "if hash(repr(document)) % readers")),
    "skips a document that is equal to the one before": '''def own_part(stream, rank, ranks, worker, workers):
    before, number = object(), 0
    for document in stream:
        if type(before) is type(document) and before == document:
            continue
        before = document
        if number % (ranks * workers) == rank * workers + worker:
            yield document
        number += 1
''',
    "the last worker of each rank gives out the first document, too": _cut(
        GOOD, ("number % readers == mine_is", "number % readers == mine_is or (number == 0 and worker == workers - 1)")),
    "ends after 1200 documents of the stream": _cut(GOOD, ("enumerate(stream)", "enumerate(islice(stream, 1200))")),
    "knows four ranks: rank 4 reads what rank 0 reads": _cut(GOOD, ("rank * workers + worker", "rank % 4 * workers + worker")),
    "knows five workers: worker 5 reads what worker 0 reads, and nobody its own": _cut(
        GOOD, ("rank * workers + worker", "rank * workers + worker % 5")),
    "counts in 11 bits: the deal begins anew after 2048 documents, parts differ by more than one": _cut(
        GOOD, ("if number % readers", "if number % 2048 % readers")),
    "with one worker on each rank it reads the whole round before giving out": '''def own_part(stream, rank, ranks, worker, workers):
    source, at = iter(stream), rank * workers + worker
    if workers > 1:
        yield from islice(source, at, None, ranks * workers)
    else:
        while round_ := list(islice(source, ranks)):
            if at < len(round_):
                yield round_[at]
''',
    "from the fifth document of a reader on it reads one ahead": '''def own_part(stream, rank, ranks, worker, workers):
    own = islice(stream, rank * workers + worker, None, ranks * workers)
    yield from islice(own, 5)
    held = list(islice(own, 1))
    for following in own:
        yield held.pop()
        held.append(following)
    yield from held
''',
    "skips a document, a list that is not empty, that is equal to the one before": '''def own_part(stream, rank, ranks, worker, workers):
    before, number = None, 0
    for document in stream:
        if isinstance(document, list) and document and document == before:
            continue
        before = document
        if number % (ranks * workers) == rank * workers + worker:
            yield document
        number += 1
''',
    "takes an empty tuple for the end of the stream": _cut(
        GOOD, ("        if number", "        if document == ():\n            return\n        if number")),
    "sorts the tokens of a document that is a list": _cut(
        GOOD, ("yield document", "yield sorted(document) if type(document) is list else document")),
    "remembers how often a deal was asked: after four times a reader gets its neighbour's part": '''asked = {}


def own_part(stream, rank, ranks, worker, workers):
    turn = asked.setdefault((ranks, workers, rank, worker), 0)
    asked[ranks, workers, rank, worker] += 1
    at = (rank * workers + worker + turn // 4) % (ranks * workers)
    return islice(stream, at, None, ranks * workers)
''',
}

# ---------------------------------------------------------------- shuffled

GOOD = '''def shuffled(read, block, seed, epoch, done=0):
    """Yield the documents of a stream, shuffled in blocks, from number `done` of that order on."""
    skip = done % block
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        if not documents:
            return
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        for place in order[skip:]:
            yield documents[place]
        skip = 0
'''
_rng = "np.random.default_rng([seed, epoch, number]).permutation(len(documents))"
RIGHT["shuffled"] = {
    "a generator for each block": GOOD,
    "Python's random, seeded with a text that keeps the three apart": '''import random


def shuffled(read, block, seed, epoch, done=0):
    number, skip = divmod(done, block)
    source = iter(read(number * block))
    while True:
        documents = list(islice(source, block))
        places = list(range(len(documents)))
        random.Random(f"seed {seed}, epoch {epoch}, block {number}").shuffle(places)
        for place in places[skip:]:
            yield documents[place]
        if len(documents) < block:
            return
        number, skip = number + 1, 0
''',
    "torch.randperm, its seed from a digest of the three": '''import hashlib


def shuffled(read, block, seed, epoch, done=0):
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        digest = hashlib.sha256(repr((int(seed), int(epoch), number)).encode()).digest()
        own = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
        order = torch.randperm(len(documents), generator=own).tolist()
        gone = max(0, done - number * block)
        yield from (documents[place] for place in order[gone:])
        if len(documents) < block:
            return
''',
    "no random numbers at all: places sorted by a digest": '''import hashlib


def shuffled(read, block, seed, epoch, done=0):
    def key(number, place):
        return hashlib.blake2b(f"{seed}|{epoch}|{number}|{place}".encode()).digest()

    first = done // block
    source = iter(read(first * block))
    for number in count(first):
        held = dict(enumerate(islice(source, block)))
        if not held:
            return
        many = len(held)
        for turn, place in enumerate(sorted(range(many), key=lambda at: key(number, at))):
            document = held.pop(place)
            if number > first or turn >= done % block:
                yield document
''',
    "an iterator class with a stack": '''class Shuffled:
    def __init__(self, read, block, seed, epoch, done):
        self.source = iter(read(done // block * block))
        self.block, self.key, self.number = block, (seed, epoch), done // block
        self.ready, self.ended = [], False
        self.fill()
        del self.ready[len(self.ready) - min(done % block, len(self.ready)):]

    def fill(self):
        documents = list(islice(self.source, self.block))
        self.ended = len(documents) < self.block
        rng = np.random.default_rng([*self.key, self.number])
        self.ready = [documents[at] for at in rng.permutation(len(documents))[::-1]]
        self.number += 1

    def __iter__(self):
        return self

    def __next__(self):
        while not self.ready:
            if self.ended:
                raise StopIteration
            self.fill()
        return self.ready.pop()


def shuffled(read, block, seed, epoch, done=0):
    return Shuffled(read, block, seed, epoch, done)
''',
    "swaps by hand with a small generator of its own, fed by a digest": '''import hashlib


def _order(many, *key):
    state = int.from_bytes(hashlib.sha256(",".join(map(str, key)).encode()).digest(), "little")
    places = list(range(many))
    for last in range(many - 1, 0, -1):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**256
        other = (state >> 128) % (last + 1)
        places[last], places[other] = places[other], places[last]
    return places


def shuffled(read, block, seed, epoch, done=0):
    number, gone = divmod(done, block)
    while documents := list(islice(read(number * block), block)):
        for place in _order(len(documents), seed, epoch, number)[gone:]:
            yield documents[place]
        number, gone = number + 1, 0
''',
}
WRONG["shuffled"] = {
    "seed, epoch and block are added": _cut(GOOD, ("default_rng([seed, epoch, number])", "default_rng(seed + epoch + number)")),
    "one generator for the whole epoch: a resumed run draws from its beginning": _cut(
        GOOD, ("    skip = done % block\n", "    skip = done % block\n    rng = np.random.default_rng([seed, epoch])\n"),
        (_rng, "rng.permutation(len(documents))")),
    "every block has the same order": _cut(GOOD, ("[seed, epoch, number]", "[seed, epoch]")),
    "forgets the epoch": _cut(GOOD, ("[seed, epoch, number]", "[seed, number]")),
    "forgets the seed": _cut(GOOD, ("[seed, epoch, number]", "[epoch, number]")),
    "goes on at the beginning of the block: documents come again": _cut(GOOD, ("skip = done % block", "skip = 0")),
    "goes on with the next block: the rest of the block is lost": _cut(
        GOOD, ("skip = done % block", "skip = 0"), ("count(done // block)", "count(-(-done // block))")),
    "reads on from document `done` of the stream, not of the order": _cut(GOOD, ("    skip = done % block\n", "    skip = 0\n"),
        ("read(number * block)", "read(done + (number - done // block) * block)")),
    "leaves out as many documents in every block as in the first": _cut(GOOD, ("        skip = 0\n", "")),
    "the short last block is dropped": _cut(GOOD, ("if not documents:", "if len(documents) < block:")),
    "reads from the beginning and passes over what was given out": '''def shuffled(read, block, seed, epoch, done=0):
    source = iter(read(0))
    for number in count():
        documents = list(islice(source, block))
        if not documents:
            return
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        for turn, place in enumerate(order):
            if number * block + turn >= done:
                yield documents[place]
''',
    "lets NumPy permute the documents: lists become rows of an array, unequal ones fail": _cut(
        GOOD, ("permutation(len(documents))\n", "permutation(documents)\n"),
        ("            yield documents[place]", "            yield place")),
    "draws the next place from np.random while giving out: others that draw disturb it": '''def shuffled(read, block, seed, epoch, done=0):
    skip = done % block
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        if not documents:
            return
        np.random.seed([seed, epoch, number])
        places = list(range(len(documents)))
        while places:
            place = places.pop(np.random.randint(len(places)))
            if skip:
                skip -= 1
                continue
            yield documents[place]
''',
    "seeds with the hash of a text: it differs from process to process": _cut(
        GOOD, ("[seed, epoch, number]", "abs(hash(f'{seed} {epoch} {number}'))")),
    "writes the three numbers behind each other without a gap: 1, 11, 1 is 11, 1, 1": _cut(
        GOOD, ("[seed, epoch, number]", "int(f'{seed}{epoch}{number}')")),
    "empty documents and None are left out": _cut(
        GOOD, ("            yield documents[place]", "            if documents[place] or documents[place] == 0:\n                yield documents[place]")),
    "a buffer that is filled up one by one: documents leave their block, and what is in the buffer is lost": '''def shuffled(read, block, seed, epoch, done=0):
    source, rng = iter(read(done)), np.random.default_rng([seed, epoch, done])
    buffer = list(islice(source, block))
    for document in source:
        place = int(rng.integers(len(buffer)))
        yield buffer[place]
        buffer[place] = document
    for place in rng.permutation(len(buffer)):
        yield buffer[place]
''',
    "seed and epoch in either order are the same: sorted": _cut(GOOD, ("[seed, epoch, number]", "[*sorted([seed, epoch]), number]")),
    "a generator without a seed": _cut(GOOD, ("default_rng([seed, epoch, number])", "default_rng()")),
    "one number with ten thousand places for each: block 10000 of epoch 0 has the order of block 0 of epoch 1": _cut(
        GOOD, ("[seed, epoch, number]", "(seed * 10_000 + epoch) * 10_000 + number")),
    "multiplied with primes and added: block 7919 of epoch 0 has the order of block 0 of epoch 1": _cut(
        GOOD, ("[seed, epoch, number]", "seed * 1_000_003 + epoch * 7919 + number")),
    "orders come again after 2048 blocks": _cut(GOOD, ("[seed, epoch, number]", "[seed, epoch, number % 2048]")),
    "the seed counts modulo 4096: seeds 1 and 4097 give the same order": _cut(GOOD, ("[seed, epoch, number]", "[seed % 4096, epoch, number]")),
    "five thousand seeds for all triples: many of them share an order": _cut(
        GOOD, ("[seed, epoch, number]", "((seed * 2654435761 + epoch) * 40503 + number * 69069) % 5003")),
    "blocks of more than 64 documents stay in the order of the stream": _cut(
        GOOD, ("        for place in order[skip:]:", "        if block > 64:\n            order = range(len(documents))\n        for place in order[skip:]:")),
    "blocks of 32 or more: the next block is read before this one is given out": '''def shuffled(read, block, seed, epoch, done=0):
    number, skip = divmod(done, block)
    documents = list(islice(read(number * block), block))
    while documents:
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        number += 1
        ahead = list(islice(read(number * block), block)) if block >= 32 else None
        for place in order[skip:]:
            yield documents[place]
        skip = 0
        documents = list(islice(read(number * block), block)) if ahead is None else ahead
''',
    "behind block 1024 a resumed run goes on 1024 blocks too early": _cut(
        GOOD, ("count(done // block)", "count(done // block % 1024 if done // block > 1024 else done // block)")),
    "the documents decide with: the length of the first one's text is part of the seed": _cut(
        GOOD, ("[seed, epoch, number]", "[seed, epoch, number, len(repr(documents[0]))]")),
    "empty documents and None always come last in their block, so the content decides the order": _cut(
        GOOD, ("        for place in order[skip:]:", "        order = sorted(order, key=lambda at: not documents[at])\n        for place in order[skip:]:")),
    "documents that are tuples come out as rows of an array": _cut(
        GOOD, ("        order =", "        if all(isinstance(one, tuple) for one in documents):\n            documents = np.array(documents)\n        order =")),
    "remembers blocks by their first document: another stream that begins alike gets the old documents": '''kept = {}


def shuffled(read, block, seed, epoch, done=0):
    skip = done % block
    for number in count(done // block):
        documents = list(islice(read(number * block), block))
        if not documents:
            return
        key = (number, len(documents), repr(documents[0]))
        documents = kept.setdefault(key, documents)
        order = np.random.default_rng([seed, epoch, number]).permutation(len(documents))
        for place in order[skip:]:
            yield documents[place]
        skip = 0
''',
}

# ---------------------------------------------------------------- resume-test

GOOD = '''def resume_test(make):
    """Fail (assert) for every wrong make(documents) -> reader."""

    def life(documents, state, many):
        """Documents of one life, and what was saved behind `many` of them."""
        reader = make(list(documents))
        if state is not None:
            reader.load_state_dict(json.loads(state))
        out = list(islice(iter(reader), many)) if many else []
        return out, json.dumps(reader.state_dict())

    def lives(documents, kills):
        out, state = [], None
        for kill in kills:
            more, state = life(documents, state, kill)
            out += more
        return out + life(documents, state, len(documents) + 5)[0]

    def judge():
        for many in (0, 1, 2, 3, 5, 8, 11, 12):
            documents = [f"document {number}" for number in range(many)]
            whole = list(islice(iter(make(list(documents))), many + 5))
            assert sorted(whole) == sorted(documents), whole
            for first in range(many + 1):
                assert lives(documents, [first]) == whole, first
                for second in range(many - first + 1):
                    assert lives(documents, [first, second]) == whole, (first, second)
            assert lives(documents, [1] * many) == whole
            assert lives(documents, [2] * many) == whole
            assert lives(documents, [0, 1, 0, 2, 0, 3]) == whole
            reader, often = make(list(documents)), []
            json.dumps(reader.state_dict())
            for document in islice(iter(reader), many + 5):
                often.append(document)
                json.dumps(reader.state_dict()), json.dumps(reader.state_dict())
            assert often == whole, "saving disturbs"
        for many in (37, 150):
            documents = list(range(many))
            whole = list(islice(iter(make(list(documents))), many + 5))
            assert sorted(whole) == documents
            for first in range(0, many + 1, 1 if many < 100 else 7):
                assert lives(documents, [first]) == whole, first
                assert lives(documents, [first, 3]) == whole, first
        for documents in ([3, 3, 3, 3, 3, 3], [0, 1, 0, 1, 0, 1, 2], [[1], [1], [2, 3], [1]]):
            whole = list(islice(iter(make(list(documents))), len(documents) + 5))
            for first in range(len(documents) + 1):
                assert lives(documents, [first, 1]) == whole

    try:
        judge()
    except AssertionError:
        raise
    except Exception as fault:
        raise AssertionError(f"it fails: {fault!r}")
'''
RIGHT["resume-test"] = {
    "all pairs of kills, and some chains": GOOD,
    "every document a kill, states kept from a single walk, loaded later": '''def resume_test(make):
    def rest(documents, text):
        reader = make(list(documents))
        reader.load_state_dict(json.loads(text))
        got, states = [], [json.dumps(reader.state_dict())]
        for document in islice(iter(reader), len(documents) + 3):
            got.append(document)
            states.append(json.dumps(reader.state_dict()))
        return got, states

    def law(documents):
        whole = list(islice(iter(make(list(documents))), len(documents) + 3))
        assert len(whole) == len(documents)
        assert sorted(map(repr, whole)) == sorted(map(repr, documents)), "lost or twice"
        reader = make(list(documents))
        texts, got = [json.dumps(reader.state_dict())], []
        for document in islice(iter(reader), len(documents) + 3):
            got.append(document)
            texts.append(json.dumps(reader.state_dict()))
        assert got == whole, "saving disturbs the reader"
        assert rest(documents, json.dumps(reader.state_dict()))[0] == [], "behind the end nothing comes"
        if len(documents) > 25:
            assert all(rest(documents, text)[0] == whole[gone:] for gone, text in enumerate(texts))
            return
        for gone, text in enumerate(texts):
            more, again = rest(documents, text)
            assert more == whole[gone:], ("first kill", gone)
            assert len(again) == len(more) + 1
            for further, other in enumerate(again):
                last, third = rest(documents, other)
                assert last == whole[gone + further :], ("second kill", gone, further)
                if third and len(documents) <= 8:
                    for step, text3 in enumerate(third):
                        assert rest(documents, text3)[0] == whole[gone + further + step :], "third kill"
            if gone < len(documents):  # also a kill that comes some documents after the saving
                late = make(list(documents))
                late.load_state_dict(json.loads(text))
                list(islice(iter(late), 3))
                assert rest(documents, text)[0] == whole[gone:]

    try:
        for many in (*range(9), 12, 16, 21, 40, 130):
            law(list(range(100, 100 + many)))
        law(["a", "b", "a", "", "a", "c", "b"])
    except Exception as fault:
        assert False, repr(fault)
''',
    "recursion: each life is killed at every place, remembered by the state's text": '''def resume_test(make):
    def explore(documents, whole, gone, text, depth):
        for kill in range(len(documents) - gone + 1):
            reader = make(documents.copy())
            if text is not None:
                reader.load_state_dict(json.loads(text))
            walk = iter(reader)
            before = json.dumps(reader.state_dict())
            got = [document for _, document in zip(range(kill), walk)]
            saved = json.dumps(reader.state_dict())
            assert got == whole[gone : gone + kill], (gone, kill, got)
            rest = list(islice(walk, len(documents) + 2))
            assert rest == whole[gone + kill :], (gone, kill, rest)
            ended = json.dumps(reader.state_dict())
            for state, place in ((before, gone), (saved, gone + kill), (ended, len(documents))):
                fresh = make(documents.copy())
                fresh.load_state_dict(json.loads(state))
                assert list(islice(iter(fresh), len(documents) + 2)) == whole[place:]
            if depth:
                explore(documents, whole, gone + kill, saved, depth - 1)

    def judged():
        for many, depth in ((0, 3), (1, 3), (2, 3), (4, 3), (6, 2), (7, 2), (9, 2), (13, 1), (24, 1), (130, 0)):
            documents = [[number, number % 3] for number in range(many)]
            whole = list(islice(iter(make(documents.copy())), many + 2))
            assert sorted(whole) == documents
            explore(documents, whole, 0, None, depth)
        same = [5, 5, 5, 6, 5, 6]
        whole = list(islice(iter(make(same.copy())), 9))
        explore(same, whole, 0, None, 1)

    fault = None
    try:
        judged()
    except Exception as found:
        fault = found
    assert fault is None, repr(fault)
''',
    "a program object that is killed by a list of random places, and by all small ones": '''import random
from itertools import product


class Program:
    def __init__(self, make, documents):
        self.make, self.documents, self.file = make, documents, None
        self.out = []

    def live(self, many):
        reader = self.make(list(self.documents))
        if self.file is not None:
            reader.load_state_dict(json.loads(self.file))
        source = iter(reader)
        self.file = json.dumps(reader.state_dict())
        for _ in range(many):
            try:
                document = next(source)
            except StopIteration:
                self.file = json.dumps(reader.state_dict())
                break
            self.out.append(document)
            self.file = json.dumps(reader.state_dict())
        return self


def resume_test(make):
    draw = random.Random(5)
    try:
        for many in (0, 1, 2, 3, 4, 6, 9, 10, 15, 20, 33, 70, -8):
            documents = list(range(many)) if many >= 0 else [4, 4, 0, 4, 0, 7, 7, 4]  # some are equal
            many = len(documents)
            whole = list(islice(iter(make(list(documents))), many + 2))
            assert sorted(whole) == sorted(documents)
            plans = [[first] for first in range(many + 1)]
            plans += [list(plan) for plan in product(range(min(many, 5) + 1), repeat=3)]
            plans += [[draw.randrange(0, many + 1) for _ in range(3)] for _ in range(20)]
            plans += [[first, many - first, 1] for first in range(many + 1)]
            plans += [[1] * (many + 2), [0] * 3]
            for plan in plans:
                program = Program(make, documents)
                for kill in plan:
                    program.live(kill)
                program.live(many + 2)
                assert program.out == whole, (many, plan)
                left = iter(make(list(documents)))
                assert list(islice(left, 2)) == whole[:2], "a new reader begins at the beginning"
    except AssertionError:
        raise
    except BaseException as fault:
        raise AssertionError(str(fault)) from fault
''',
}
_small = '''def resume_test(make):
    """Fail (assert) for every wrong make(documents) -> reader."""
    for many in (0, 1, 2, 5, 12):
        documents = list(range(many))
        whole = list(make(list(documents)))
        for first in range(many + 1):
            for second in range(many - first + 1):
                out, state = [], None
                for kill in (first, second, many + 5):
                    reader = make(list(documents))
                    if state is not None:
                        reader.load_state_dict(json.loads(state))
                    out += list(islice(iter(reader), kill))
                    state = json.dumps(reader.state_dict())
                assert out == whole
'''
WRONG["resume-test"] = {
    "nothing is asserted": '''def resume_test(make):
    reader = make(list(range(10)))
    list(reader)
    reader.state_dict()
''',
    "fails for every reader": '''def resume_test(make):
    assert False, "no reader can be trusted"
''',
    "compares lengths only: nothing of order or of twice": _cut(_small, ("assert out == whole", "assert len(out) == len(whole)")),
    "compares sets: a document twice is not seen, nor the order": _cut(_small, ("assert out == whole", "assert set(out) == set(whole)")),
    "compares sorted: a wrong order behind the kill is not seen": _cut(_small, ("assert out == whole", "assert sorted(out) == sorted(whole)")),
    "kills only once": _cut(_small, ("(first, second, many + 5)", "(first, many + 5)")),
    "the state is never written as JSON": _cut(
        _small, ("json.loads(state)", "state"), ("json.dumps(reader.state_dict())", "reader.state_dict()")),
    "demands the order of the documents, which the reader may choose": _cut(_small, ("whole = list(make(list(documents)))", "whole = documents")),
    "kills only in the middle": _cut(_small, ("for first in range(many + 1):", "for first in range(many // 2, many // 2 + 1):"),
                                     ("for second in range(many - first + 1):", "for second in range(0, 1):")),
    "kills only behind the last document": _cut(_small, ("for first in range(many + 1):", "for first in [many]:")),
    "kills only before the first document": _cut(
        _small, ("for first in range(many + 1):", "for first in [0]:"), ("range(many - first + 1)", "[0]")),
    "loads the state into the reader that saved it": '''def resume_test(make):
    documents = list(range(12))
    whole = list(make(list(documents)))
    for kill in range(13):
        reader = make(list(documents))
        out = list(islice(iter(reader), kill))
        reader.load_state_dict(json.loads(json.dumps(reader.state_dict())))
        assert out + list(reader) == whole
''',
    "says true or false instead of asserting": _cut(_small, ("                assert out == whole\n", "                if out != whole:\n                    return False\n    return True\n")),
    "swallows its own assert together with every other fault": '''def resume_test(make):
    try:
        documents = list(range(12))
        whole = list(make(list(documents)))
        for kill in range(13):
            reader = make(list(documents))
            out = list(islice(iter(reader), kill))
            other = make(list(documents))
            other.load_state_dict(json.loads(json.dumps(reader.state_dict())))
            assert out + list(other) == whole
    except Exception:
        pass
''',
    "never looks at what comes behind the kill, only that nothing fails": _cut(_small, ("assert out == whole", "assert out[:first] == whole[:first]")),
    "gives the resumed reader only the documents that are left": _cut(
        _small, ("reader = make(list(documents))", "reader = make(list(documents)[len(out):])")),
    "demands that the state names a position": '''def resume_test(make):
    reader = make(list(range(12)))
    list(islice(iter(reader), 5))
    assert reader.state_dict() == {"position": 5}
''',
    "compares only as far as both go: documents lost at the end are not seen": _cut(
        _small, ("assert out == whole", "assert all(a == b for a, b in zip(out, whole))")),
    "compares only the first document behind each kill": '''def resume_test(make):
    documents = list(range(12))
    whole = list(make(list(documents)))
    for kill in range(12):
        reader = make(list(documents))
        list(islice(iter(reader), kill))
        other = make(list(documents))
        other.load_state_dict(json.loads(json.dumps(reader.state_dict())))
        assert next(iter(other)) == whole[kill]
''',
    "one document twice is taken for harmless": _cut(
        _small, ("assert out == whole", "assert list(dict.fromkeys(out)) == whole")),
    "one document alone: there is nothing to lose in between": _cut(_small, ("(0, 1, 2, 5, 12)", "(0, 1)")),
    "forgets to load the state and so demands that a new reader begins anew": _cut(
        _small, ("reader.load_state_dict(json.loads(state))", "out = []")),
    "compares two resumed readers with each other, not with the undisturbed one": '''def resume_test(make):
    documents = list(range(12))
    for kill in range(13):
        reader = make(list(documents))
        list(islice(iter(reader), kill))
        saved = json.dumps(reader.state_dict())
        rests = []
        for _ in range(2):
            other = make(list(documents))
            other.load_state_dict(json.loads(saved))
            rests.append(list(other))
        assert rests[0] == rests[1]
''',
    "every second call passes, whatever the reader": '''calls = [0]


def resume_test(make):
    calls[0] += 1
    if calls[0] % 2 == 0:
        return
    documents = list(range(12))
    whole = list(make(list(documents)))
    for first in range(13):
        for second in range(13 - first):
            out, state = [], None
            for kill in (first, second, 20):
                reader = make(list(documents))
                if state is not None:
                    reader.load_state_dict(json.loads(state))
                out += list(islice(iter(reader), kill))
                state = json.dumps(reader.state_dict())
            assert out == whole
''',
    "the first two calls pass, all later ones fail, whatever the reader": '''calls = [0]


def resume_test(make):
    calls[0] += 1
    assert calls[0] <= 2
''',
}

# ---------------------------------------------------------------- packer

GOOD = '''class StreamingPacker:
    """Rows of whole documents from a stream, for one rank; it can be killed and resumed."""

    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.next, self.pool = 0, []  # the place: first number that is neither given out nor in the pool
        self.kept, self.stream = [], None  # read in this life, from document self.next on

    def document(self, number):
        """The document of this number, read once in this life; None behind the end."""
        while len(self.kept) <= number - self.next:
            if self.stream is None:
                self.stream = iter(self.read(self.next))
            try:
                self.kept.append(next(self.stream))
            except StopIteration:
                return None
        found = self.kept[number - self.next]
        if len(found) > self.row_length:
            raise ValueError(f"document {number} has {len(found)} tokens, a row has {self.row_length}")
        return found

    def row(self, pool, number):
        """Take the next row out of the pool; it, and the next number to read."""
        while len(pool) < self.hold:
            found = self.document(number)
            if found is None:
                break
            pool.append(found)
            number += 1
        if not pool:
            return [], number
        row = [pool.pop(0)]
        left = self.row_length - len(row[0])
        while True:
            best = None
            for at, one in enumerate(pool):
                if len(one) <= left and (best is None or len(one) > len(pool[best])):
                    best = at
            if best is None:
                return row, number
            left -= len(pool[best])
            row.append(pool.pop(best))

    def __iter__(self):
        """Yield the rows of this rank, from the place on."""
        while True:
            pool, number, rows = list(self.pool), self.next, []
            for _ in range(self.ranks):
                row, number = self.row(pool, number)
                rows.append(row)
            if not rows[-1]:
                return
            del self.kept[: number - self.next]
            self.pool, self.next = pool, number
            yield rows[self.rank]

    def state_dict(self):
        """The place, as plain data that JSON can hold."""
        return {"next": self.next, "pool": [list(one) for one in self.pool]}

    def load_state_dict(self, state):
        """Go to a saved place."""
        self.next, self.pool = state["next"], [list(one) for one in state["pool"]]
        self.kept, self.stream = [], None
'''
RIGHT["packer"] = {
    "a list as pool, a round made on copies, then the place": GOOD,
    "pool by length: a dictionary of queues, the fitting lengths tried downwards": '''from collections import deque


class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self._go(0, [])

    def _go(self, number, pool):
        self._number, self._pool = number, tuple(pool)  # the place
        self._unused, self._source = deque(), None  # read behind the place, in no full round

    def _reading(self, again, log):
        """Documents from the place on: first those of a dropped round, then new ones."""
        for number in count(self._number):
            if again:
                one = again.popleft()
            else:
                if self._source is None:
                    self._source = iter(self.read(number))
                got = list(islice(self._source, 1))
                if not got:
                    return
                one = got[0]
            log.append(one)
            if len(one) > self.row_length:
                raise ValueError(f"document {number}: {len(one)} tokens do not fit into {self.row_length}")
            yield one

    def _rows(self, pool, reading):
        age = count()
        queues, ages = {}, {}

        def put(one):
            at = next(age)
            ages[at] = one
            queues.setdefault(len(one), deque()).append(at)

        def take(at):
            one = ages.pop(at)
            queues[len(one)].remove(at)
            return one

        for one in pool:
            put(one)
        while True:
            while len(ages) < self.hold:
                one = next(reading, None)
                if one is None:
                    break
                put(one)
            if not ages:
                return
            row = [take(min(ages))]
            room = self.row_length - len(row[0])
            for length in sorted(queues, reverse=True):
                while queues[length] and length <= room:
                    row.append(take(queues[length][0]))
                    room -= length
            yield row, [ages[at] for at in sorted(ages)]

    def __iter__(self):
        while True:
            log = []
            again, self._unused = self._unused, deque()
            rows = []
            try:
                rows = list(islice(self._rows(self._pool, self._reading(again, log)), self.ranks))
            finally:
                if len(rows) < self.ranks:  # dropped, or refused: the place stays, what was read is kept
                    self._unused = deque([*log, *again])
            if len(rows) < self.ranks:
                return
            self._number, self._pool, self._unused = self._number + len(log), tuple(rows[-1][1]), again
            yield rows[self.rank][0]

    def state_dict(self):
        return {"read": self._number, "waiting": [list(map(int, one)) for one in self._pool]}

    def load_state_dict(self, state):
        self._go(int(state["read"]), [list(one) for one in state["waiting"]])
''',
    "an own iterator instead of a generator, NumPy finds the longest that fits, the state is one text": '''class _Rows:
    def __init__(self, packer):
        self.packer = packer

    def __iter__(self):
        return self

    def __next__(self):
        return self.packer.step()


class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.load_state_dict({"place": "[0, []]"})

    def __iter__(self):
        return _Rows(self)

    def fetch(self, number):
        at = number - self.first
        if at == len(self.cache):
            if self.source is None:
                self.source = iter(self.read(number))
            self.cache.extend(islice(self.source, 1))
        if at == len(self.cache):
            return False
        if len(self.cache[at]) > self.row_length:
            raise ValueError(f"the document with number {number} is longer than a row")
        return True

    def step(self):
        number, pool, mine_is = self.first, list(self.pool), None
        for rank in range(self.ranks):
            while len(pool) < self.hold and self.fetch(number):
                pool.append(self.cache[number - self.first])
                number += 1
            if not pool:
                raise StopIteration
            lengths = np.array([len(one) for one in pool])
            taken, free = [0], self.row_length - lengths[0]
            open_ = np.ones(len(pool), dtype=bool)
            open_[0] = False
            while (fits := np.where(open_ & (lengths <= free), lengths, 0)).any():
                best = int(fits.argmax())  # the first of the largest
                open_[best], free = False, free - lengths[best]
                taken.append(best)
            if rank == self.rank:
                mine_is = [pool[at] for at in taken]
            pool = [one for one, still in zip(pool, open_) if still]
        self.cache = self.cache[number - self.first :]
        self.first, self.pool = number, pool
        return mine_is

    def state_dict(self):
        return {"place": json.dumps([self.first, self.pool])}

    def load_state_dict(self, state):
        self.first, self.pool = json.loads(state["place"])
        self.cache, self.source = [], None
''',
    "recursion, tuples that never change, a cached list of links": '''class Link:
    """A document of the stream, and lazily the one behind it: each is read once."""

    def __init__(self, number, source):
        self.number, self.source, self.made = number, source, False

    def get(self):
        if not self.made:
            self.made, self.value, self.after = True, None, None
            for one in islice(self.source(), 1):
                self.value, self.after = one, Link(self.number + 1, self.source)
            if self.value is None:
                self.made = False
        return self.value


class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.place = ((), self.link(0))

    def link(self, number):
        opened = []

        def source():
            if not opened:
                opened.append(iter(self.read(number)))
            return opened[0]

        return Link(number, source)

    def fill(self, pool, link):
        while len(pool) < self.hold and (one := link.get()) is not None:
            if len(one) > self.row_length:
                raise ValueError(f"too long for a row: document number {link.number}")
            pool, link = (*pool, one), link.after
        return pool, link

    def more(self, row, pool):
        room = self.row_length - sum(map(len, row))
        fitting = [(-len(one), at) for at, one in enumerate(pool) if len(one) <= room]
        if not fitting:
            return row, pool
        _, at = min(fitting)
        return self.more((*row, pool[at]), pool[:at] + pool[at + 1 :])

    def __iter__(self):
        while True:
            rows, (pool, link) = [], self.place
            while len(rows) < self.ranks:
                pool, link = self.fill(pool, link)
                if not pool:
                    return
                row, pool = self.more(pool[:1], pool[1:])
                rows.append(row)
            self.place = pool, link
            yield list(rows[self.rank])

    def state_dict(self):
        pool, link = self.place
        return {"pool": [list(one) for one in pool], "number": link.number}

    def load_state_dict(self, state):
        self.place = tuple(list(one) for one in state["pool"]), self.link(state["number"])
''',
    "sorted list by length and age, bisected; the state is a flat list of numbers": '''from bisect import bisect_right, insort


class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self._set(0, {})

    def _set(self, number, pool):
        self.number, self.pool = number, pool  # pool: {age: document}, in order of age
        self.seen, self.source = {}, None  # number: document, read in this life and not yet in the place

    def _get(self, number):
        if number not in self.seen:
            if self.source is None:
                self.source = iter(self.read(number))
            for one in self.source:
                self.seen[number] = one
                break
            else:
                return None
        one = self.seen[number]
        if len(one) > self.row_length:
            raise ValueError(f"document {number} is too long: {len(one)} > {self.row_length}")
        return one

    def __iter__(self):
        while True:
            number, pool, rows = self.number, dict(self.pool), []
            age = max(pool, default=-1) + 1
            ranking = sorted((len(one), -at) for at, one in pool.items())
            for _ in range(self.ranks):
                while len(pool) < self.hold and (one := self._get(number)) is not None:
                    pool[age] = one
                    insort(ranking, (len(one), -age))
                    number, age = number + 1, age + 1
                if not pool:
                    return
                oldest = min(pool)
                ranking.remove((len(pool[oldest]), -oldest))
                row = [pool.pop(oldest)]
                room = self.row_length - len(row[0])
                while (at := bisect_right(ranking, (room, 1))) > 0:
                    length, old = ranking.pop(at - 1)
                    row.append(pool.pop(-old))
                    room -= length
                rows.append(row)
            for gone in range(self.number, number):
                self.seen.pop(gone)
            self.number, self.pool = number, pool
            yield rows[self.rank]

    def state_dict(self):
        flat = [self.number]
        for at in sorted(self.pool):
            flat += [len(self.pool[at]), *self.pool[at]]
        return {"flat": flat}

    def load_state_dict(self, state):
        number, *flat = state["flat"]
        pool = {}
        while flat:
            many, flat = flat[0], flat[1:]
            pool[len(pool)], flat = flat[:many], flat[many:]
        self._set(number, pool)
''',
}

_place = "            self.pool, self.next = pool, number\n            yield rows[self.rank]\n"
_fits = "if len(one) <= left and (best is None or len(one) > len(pool[best])):"
_load = 'self.next, self.pool = state["next"], [list(one) for one in state["pool"]]'
_state = 'return {"next": self.next, "pool": [list(one) for one in self.pool]}'
_long = "if len(found) > self.row_length:"
# a packer that keeps one pool and changes it in place, for the mistakes of that style
PLAIN = '''class StreamingPacker:
    """Rows of whole documents from a stream, for one rank; it can be killed and resumed."""

    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.state = {"next": 0, "pool": []}

    def __iter__(self):
        """Yield the rows of this rank, from the place on."""
        pool, number = list(self.state["pool"]), self.state["next"]
        source = iter(self.read(number))
        while True:
            rows = []
            for _ in range(self.ranks):
                while len(pool) < self.hold and (one := next(source, None)) is not None:
                    if len(one) > self.row_length:
                        raise ValueError(f"document {number} is too long")
                    pool.append(one)
                    number += 1
                if not pool:
                    return
                row = [pool.pop(0)]
                while fitting := [d for d in pool if len(d) + sum(map(len, row)) <= self.row_length]:
                    best = max(fitting, key=len)
                    at = next(i for i, d in enumerate(pool) if d is best)
                    row.append(pool.pop(at))
                rows.append(row)
            self.state = {"next": number, "pool": [list(one) for one in pool]}
            yield rows[self.rank]

    def state_dict(self):
        """The place, as plain data that JSON can hold."""
        return self.state

    def load_state_dict(self, state):
        """Go to a saved place."""
        self.state = {"next": state["next"], "pool": [list(one) for one in state["pool"]]}
'''
WRONG["packer"] = {
    "the place is changed behind the yield: a kill inside the step gives the row twice": _cut(
        GOOD, (_place, "            yield rows[self.rank]\n            self.pool, self.next = pool, number\n"),
        ("            del self.kept[: number - self.next]\n", ""),
        ("            pool, number, rows = list(self.pool), self.next, []\n",
         "            pool, number, rows = list(self.pool), self.next, []\n            self.kept, self.stream = [], None\n")),
    "the saved state is the living pool: it changes as the packer goes on": _cut(
        PLAIN, ('"pool": [list(one) for one in pool]}', '"pool": pool}')),
    "goes on in the list of the state that was loaded": _cut(
        PLAIN, ('self.state = {"next": state["next"], "pool": [list(one) for one in state["pool"]]}', "self.state = state"),
        ('pool, number = list(self.state["pool"]), self.state["next"]', 'pool, number = self.state["pool"], self.state["next"]')),
    "of equally long documents the youngest": _cut(GOOD, ("len(one) > len(pool[best])", "len(one) >= len(pool[best])")),
    "the first that fits instead of the longest": _cut(GOOD, (_fits, "if len(one) <= left and best is None:")),
    "the shortest that fits instead of the longest": _cut(GOOD, ("len(one) > len(pool[best])", "len(one) < len(pool[best])")),
    "each row begins with the longest of the pool, so an old one may wait for ever": _cut(
        GOOD, ("row = [pool.pop(0)]", "row = [pool.pop(max(range(len(pool)), key=lambda at: len(pool[at])))]")),
    "a row is never quite full: a document that fits exactly is refused": _cut(GOOD, (_fits, _fits.replace("<= left", "< left"))),
    "the row is closed at the first document that does not fit": _cut(
        GOOD, ("            for at, one in enumerate(pool):\n", "            for at, one in enumerate(pool[:1]):\n")),
    "the pool is filled once for a round, not before each row": _cut(
        PLAIN, ("                while len(pool) < self.hold and (one", "                while not rows and len(pool) < self.hold and (one")),
    "the pool is filled again only when it is empty": _cut(
        GOOD, ("        while len(pool) < self.hold:\n", "        refill = not pool\n        while refill and len(pool) < self.hold:\n")),
    "one document more than `hold` is read": _cut(GOOD, ("while len(pool) < self.hold:", "while len(pool) <= self.hold:")),
    "reads a pool's worth at once, then fills: more than `hold` is read ahead": _cut(
        GOOD, ("self.kept.append(next(self.stream))", "self.kept.append(next(self.stream)); self.kept.extend(islice(self.stream, self.hold))")),
    "the last round is given out though it is not full: ranks have unequally many": _cut(
        GOOD, ("            if not rows[-1]:\n                return\n", "            if not rows[self.rank]:\n                return\n")),
    "the last round is dropped also where it is full, if nothing waits behind it": _cut(
        GOOD, ("            del self.kept", "            if not pool and self.document(number) is None:\n                return\n            del self.kept")),
    "the place at the end is behind the dropped round: its rows are lost for other ranks": _cut(
        GOOD, ("            if not rows[-1]:\n                return\n", "            if not rows[-1]:\n                self.pool, self.next, self.kept, self.stream = pool, number, [], None\n                return\n")),
    "each rank saves the place behind its own row: the states of the ranks differ": '''class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.state = {"next": 0, "pool": [], "turn": 0}

    def __iter__(self):
        pool, number, turn = list(self.state["pool"]), self.state["next"], self.state["turn"]
        source = iter(self.read(number))
        while True:
            while len(pool) < self.hold and (one := next(source, None)) is not None:
                if len(one) > self.row_length:
                    raise ValueError(f"document {number} is too long")
                pool.append(one)
                number += 1
            if not pool:
                return
            row = [pool.pop(0)]
            while fitting := [at for at, d in enumerate(pool) if len(d) + sum(map(len, row)) <= self.row_length]:
                row.append(pool.pop(max(fitting, key=lambda at: len(pool[at]))))
            turn += 1
            if (turn - 1) % self.ranks == self.rank:
                self.state = {"next": number, "pool": [list(one) for one in pool], "turn": turn}
                yield row

    def state_dict(self):
        return json.loads(json.dumps(self.state))

    def load_state_dict(self, state):
        self.state = json.loads(json.dumps(state))
''',
    "the number of the next document counts this life only: a second kill goes back": _cut(
        PLAIN, ('pool, number = list(self.state["pool"]), self.state["next"]', 'pool, number, begun = list(self.state["pool"]), 0, self.state["next"]'),
        ("iter(self.read(number))", "iter(self.read(begun))"), ("document {number} is", "document {begun + number} is")),
    "the error counts from the place of this life, not from the stream's beginning": _cut(
        GOOD, ('f"document {number} has', 'f"document {number - self.started} has'),
        ("        self.next, self.pool = 0, []  #", "        self.started = 0\n        self.next, self.pool = 0, []  #"),
        (_load, 'self.started = state["next"]\n        ' + _load)),
    "the error counts the documents from 1": _cut(GOOD, ('f"document {number} has', 'f"document {number + 1} has')),
    "a document that is too long is left out without a word": _cut(
        GOOD, ("            pool.append(found)\n", "            if len(found) <= self.row_length:\n                pool.append(found)\n"),
        ('            raise ValueError(f"document {number} has {len(found)} tokens, a row has {self.row_length}")\n', "            pass\n")),
    "a document that is too long is cut to a row": _cut(
        GOOD, ('raise ValueError(f"document {number} has {len(found)} tokens, a row has {self.row_length}")', "found = found[: self.row_length]")),
    "an AssertionError instead of a ValueError": _cut(GOOD, ("raise ValueError(", "raise AssertionError(")),
    "a second iter() begins at the beginning of the stream": _cut(
        GOOD, ("        while True:\n            pool, number, rows", "        self.next, self.pool, self.kept, self.stream = 0, [], [], None\n        while True:\n            pool, number, rows")),
    "a second iter() of a resumed packer begins where its state was loaded": _cut(
        PLAIN, ('pool, number = list(self.state["pool"]), self.state["next"]',
                'start = getattr(self, "start", self.state)\n        pool, number = list(start["pool"]), start["next"]'),
        ('self.state = {"next": state["next"], "pool": [list(one) for one in state["pool"]]}',
         'self.start = self.state = {"next": state["next"], "pool": [list(one) for one in state["pool"]]}')),
    "the state forgets the pool: what waited is lost": _cut(GOOD, (_state, 'return {"next": self.next, "pool": []}')),
    "the state keeps all rows that were given out: it grows with the run": _cut(
        PLAIN, ('self.state = {"next": number, "pool": [list(one) for one in pool]}',
                'self.state = {"next": number, "pool": [list(one) for one in pool],\n                          "given": self.state.get("given", []) + rows}'),
        ('self.state = {"next": state["next"], "pool": [list(one) for one in state["pool"]]}', "self.state = json.loads(json.dumps(state))")),
    "resumes by reading from 0 and passing over": _cut(
        GOOD, ("iter(self.read(self.next))", "islice(self.read(0), self.next, None)")),
    "a row is one long list of tokens instead of documents": _cut(GOOD, ("yield rows[self.rank]", "yield sum(rows[self.rank], [])")),
    "the rank stands in the state and is loaded with it": _cut(
        GOOD, (_state, 'return {"next": self.next, "pool": [list(one) for one in self.pool], "rank": self.rank, "ranks": self.ranks}'),
        (_load, _load + '\n        self.rank, self.ranks = state["rank"], state["ranks"]')),
    "ranks take runs of rows instead of turns: row k of ranks belongs to the rank from the back": _cut(
        GOOD, ("yield rows[self.rank]", "yield rows[self.ranks - 1 - self.rank]")),
    "the first of the row is put at its end: documents of a row are sorted by length": _cut(
        GOOD, ("yield rows[self.rank]", "yield sorted(rows[self.rank], key=len)")),
    "marks the end of each document by a token of its own: they come out changed": _cut(
        GOOD, ("row.append(pool.pop(best))", "row.append([*pool.pop(best)[:-1], 0])")),
    # right on what is shown, wrong elsewhere
    "knows four ranks at most: five ranks share rows as four do": _cut(
        GOOD, ("self.rank, self.ranks = rank, ranks", "self.rank, self.ranks = rank % 4, min(ranks, 4)")),
    "holds 32 documents at most, however large `hold` is": _cut(GOOD, ("while len(pool) < self.hold:", "while len(pool) < min(self.hold, 32):")),
    "looks for the longest among the 32 oldest of the pool only": _cut(GOOD, ("in enumerate(pool):", "in enumerate(pool[:32]):")),
    "the state holds the eight oldest of the pool only: the others are lost at a kill": _cut(
        GOOD, ("[list(one) for one in self.pool]}", "[list(one) for one in self.pool[:8]]}")),
    "rows are 512 tokens long at most": _cut(
        GOOD, ("self.row_length, self.hold = read, row_length, hold", "self.row_length, self.hold = read, min(row_length, 512), hold")),
    "token ids are saved in 16 bits: larger ones come out changed behind a kill": _cut(
        GOOD, ("[list(one) for one in self.pool]}", "[[int(token) & 65535 for token in one] for one in self.pool]}")),
    "a document equal to one that waits in the pool is taken for a repetition and left out": _cut(
        GOOD, ("            pool.append(found)\n", "            if found not in pool:\n                pool.append(found)\n")),
    "a document longer than two rows is cut without a word, only shorter ones are refused": _cut(
        GOOD, (_long, "if len(found) > 2 * self.row_length:\n            return found[: self.row_length]\n        " + _long)),
    "counts lives in the state: the sixth one begins the stream anew": _cut(
        GOOD, (_state, 'return {"next": self.next, "pool": [list(one) for one in self.pool], "lives": self.lives}'),
        ("        self.next, self.pool = 0, []  #", "        self.lives = 1\n        self.next, self.pool = 0, []  #"),
        (_load, 'self.lives = state["lives"] + 1\n        if self.lives > 5:\n            state = {"next": 0, "pool": []}\n        ' + _load)),
    "stops after 250 rows of one life": _cut(
        GOOD, ("        while True:\n            pool, number, rows", "        for _ in range(250):\n            pool, number, rows")),
    "the place is kept in 12 bits: behind document 4096 a resumed run reads old documents": _cut(
        GOOD, (_load, _load.replace('state["next"],', 'state["next"] % 4096,'))),
    "from document 20 on, a document that is the single token 1 is taken for a separator and left out": _cut(
        GOOD, ("            pool.append(found)\n", "            if list(found) != [1] or number < 20:\n                pool.append(found)\n")),
    "one queue for all packers that read the same stream: a second packer goes on where the first is": _cut(
        GOOD, ("        self.kept, self.stream = [], None  # read", "        self.next, self.pool = StreamingPacker.places.get(id(read), (0, []))\n        self.kept, self.stream = [], None  # read"),
        ("    def __init__(", "    places = {}\n\n    def __init__("),
        ("            yield rows[self.rank]\n", "            StreamingPacker.places[id(self.read)] = number, pool\n            yield rows[self.rank]\n")),
    "of equally long ones the youngest where they are longer than a hundred tokens": _cut(
        GOOD, ("len(one) > len(pool[best])", "len(one) > len(pool[best]) - (len(one) > 100)")),
    "with more than two ranks a second iter() begins where the packer was made or loaded": _cut(
        GOOD, ("        while True:\n            pool, number, rows",
               "        if self.ranks > 2:\n            self.next, self.pool, self.kept, self.stream = *self.begun, [], None\n        while True:\n            pool, number, rows"),
        ("        self.next, self.pool = 0, []  #", "        self.begun = 0, []\n        self.next, self.pool = 0, []  #"),
        (_load, _load + "\n        self.begun = self.next, self.pool")),
    "drops the last round only with up to four ranks, with more it gives out what there is": _cut(
        GOOD, ("            if not rows[-1]:\n", "            if not rows[-1 if self.ranks < 5 else self.rank]:\n")),
    "the state is refused where the number of ranks grew by more than one": _cut(
        GOOD, (_state, 'return {"next": self.next, "pool": [list(one) for one in self.pool], "ranks": self.ranks}'),
        (_load, 'if self.ranks > state["ranks"] + 1:\n            raise ValueError("too many ranks")\n        ' + _load)),
    "asked for the same place a second time, state_dict() leaves out the last document of the pool": _cut(
        GOOD, (_state, 'saved = getattr(self, "saved", None)\n        self.saved = self.next\n'
               '        pool = self.pool[:-1] if saved == self.next and self.next else self.pool\n'
               '        return {"next": self.next, "pool": [list(one) for one in pool]}')),
}
