# ruff: noqa
"""Lesson 03_buckets: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ------------------------------------------------------------------------------------ windowed
GOOD = '''def windowed(lengths, rows, window, seed, epoch):
    """Lists of document numbers: sorted in windows of `window` micro-batches, then mixed."""
    rng = np.random.default_rng([seed, epoch])
    sizes = np.asarray(lengths)
    order = rng.permutation(len(sizes))
    many = window * rows
    batches = []
    for start in range(0, len(order), many):
        inside = order[start : start + many]
        inside = inside[np.argsort(sizes[inside], kind="stable")]
        for at in range(0, len(inside), rows):
            batches.append(inside[at : at + rows].tolist())
    rng.shuffle(batches)
    return batches
'''

RIGHT["windowed"] = {
    "loop over slices with NumPy": GOOD,
    "plain Python: random.Random with a text of both numbers": '''import random


def windowed(lengths, rows, window, seed, epoch):
    dice = random.Random(f"seed {seed} epoch {epoch}")
    order = list(range(len(lengths)))
    dice.shuffle(order)
    size = rows * window
    windows = [sorted(order[i : i + size], key=lambda n: lengths[n]) for i in range(0, len(order), size)]
    batches = [one[i : i + rows] for one in windows for i in range(0, len(one), rows)]
    dice.shuffle(batches)
    return batches
''',
    "no generator at all: orders by a digest of (seed, epoch, number)": '''def windowed(lengths, rows, window, seed, epoch):
    import hashlib

    def lot(kind, number):
        return hashlib.sha256(f"{kind}/{seed}/{epoch}/{number}".encode()).digest()

    order = sorted(range(len(lengths)), key=lambda n: lot("document", n))
    size, made = rows * window, []
    while order:
        inside, order = sorted(order[:size], key=lambda n: int(lengths[n])), order[size:]
        made += [inside[i : i + rows] for i in range(0, len(inside), rows)]
    return sorted(made, key=lambda batch: lot("batch", batch[0]))
''',
    "torch generator seeded from a digest of both numbers": '''def windowed(lengths, rows, window, seed, epoch):
    import hashlib

    import torch

    digest = hashlib.sha256(f"{seed},{epoch}".encode()).digest()
    dice = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
    sizes = torch.tensor([int(one) for one in lengths], dtype=torch.long)
    order = torch.randperm(len(sizes), generator=dice)
    pieces = []
    if len(sizes):
        for inside in order.split(rows * window):
            inside = inside[torch.argsort(sizes[inside])]
            pieces.extend(inside.split(rows))
    mixed = torch.randperm(len(pieces), generator=dice).tolist()
    return [pieces[place].tolist() for place in mixed]
''',
    "one lexsort over window number and length, longest first": '''def windowed(lengths, rows, window, seed, epoch):
    sizes = np.asarray(lengths).astype(np.int64)
    dice = np.random.Generator(np.random.Philox(np.random.SeedSequence([epoch, seed])))
    order = dice.permutation(len(sizes))
    window_of = np.arange(len(order)) // (rows * window)
    order = order[np.lexsort((-sizes[order], window_of))]
    cuts = [order[at : at + rows] for at in range(0, len(order), rows)]
    return [[int(n) for n in cuts[place]] for place in dice.permutation(len(cuts))]
''',
    "a class with a heap for each window": '''import heapq


class _Windows:
    def __init__(self, lengths, rows, window, dice):
        self.lengths, self.rows, self.size, self.dice = lengths, rows, rows * window, dice

    def batches(self):
        order = self.dice.permutation(len(self.lengths)).tolist()
        for start in range(0, len(order), self.size):
            heap = [(int(self.lengths[n]), place, n) for place, n in enumerate(order[start : start + self.size])]
            heapq.heapify(heap)
            while heap:
                yield [heapq.heappop(heap)[2] for _ in range(min(self.rows, len(heap)))]


def windowed(lengths, rows, window, seed, epoch):
    dice = np.random.default_rng((seed, epoch))
    made = list(_Windows(lengths, rows, window, dice).batches())
    return [made[place] for place in dice.permutation(len(made))]
''',
    "the library does the four steps, fed with a generator of (seed, epoch)": '''def windowed(lengths, rows, window, seed, epoch):
    return padding.in_windows(lengths, rows, window=window, rng=np.random.default_rng([seed, epoch]))
''',
}

WRONG["windowed"] = {
    "the epoch is forgotten: every epoch is the same": _cut(GOOD, ("[seed, epoch]", "seed")),
    "seed plus epoch in the seed: two trainings share orders": _cut(GOOD, ("[seed, epoch]", "seed + epoch")),
    "the short last micro-batch is dropped": _cut(GOOD, ("    rng.shuffle", "    batches = [b for b in batches if len(b) == rows]\n    rng.shuffle")),
    "a window counts documents, not micro-batches": _cut(GOOD, ("many = window * rows", "many = window")),
    "sorted over all documents, the window is ignored": _cut(GOOD, ("many = window * rows", "many = len(order) or 1")),
    "places in the window are returned, not documents": _cut(
        GOOD, ('inside = inside[np.argsort(sizes[inside], kind="stable")]', 'inside = np.argsort(sizes[inside], kind="stable")')),
    "never mixed: each window runs from short to long": _cut(GOOD, ("    rng.shuffle(batches)\n", "")),
    "windows are mixed, micro-batches inside stay from short to long": _cut(
        GOOD, ("    batches = []\n", "    windows = []\n"),
        ("        for at in", "        windows.append([])\n        for at in"), ("batches.append(", "windows[-1].append("),
        ("    rng.shuffle(batches)\n    return batches\n", "    rng.shuffle(windows)\n    return [b for one in windows for b in one]\n")),
    "documents are mixed again at the end instead of micro-batches": _cut(
        GOOD, ("    rng.shuffle(batches)\n    return batches\n",
               "    flat = [n for b in batches for n in b]\n    rng.shuffle(flat)\n"
               "    return [flat[i : i + rows] for i in range(0, len(flat), rows)]\n")),
    "cut first, then sorted inside each micro-batch: padding as in random order": _cut(GOOD, ("many = window * rows", "many = rows")),
    "the last micro-batch is filled up with documents that were taken already": _cut(
        GOOD, ("    rng.shuffle", "    if batches and len(batches[-1]) < rows:\n        batches[-1] = (batches[-1] + order.tolist() * rows)[:rows]\n    rng.shuffle")),
    "only the epoch mixes the micro-batches; the documents are shuffled once for all epochs": _cut(
        GOOD, ("    rng = np.random.default_rng([seed, epoch])\n", "    rng = np.random.default_rng(seed)\n"),
        ("    rng.shuffle", "    rng = np.random.default_rng([seed, epoch])\n    rng.shuffle")),
    "lengths are returned instead of document numbers": _cut(GOOD, ("inside[at : at + rows].tolist()", "sizes[inside[at : at + rows]].tolist()")),
    "a generator without a seed: every call and every rank has another order": _cut(GOOD, ("[seed, epoch]", "")),
    # sly
    "the rank of the process goes into the seed: every rank has a list of its own": _cut(
        GOOD, ("    rng = np.random.default_rng([seed, epoch])\n",
               '    import os\n\n    rng = np.random.default_rng([seed, epoch, int(os.environ.get("RANK", 0))])\n')),
    "the name of the machine goes into the seed: two machines do not agree": _cut(
        GOOD, ("    rng = np.random.default_rng([seed, epoch])\n",
               '    import platform\n\n    rng = np.random.default_rng([seed, epoch, *platform.node().encode()])\n')),
    "the date goes into the seed: the same arguments give other batches tomorrow": _cut(
        GOOD, ("    rng = np.random.default_rng([seed, epoch])\n",
               '    import datetime\n\n    rng = np.random.default_rng([seed, epoch, datetime.date.today().toordinal()])\n')),
    "10 x seed + epoch: seed 0 in epoch 10 is seed 1 in epoch 0": _cut(GOOD, ("[seed, epoch]", "seed * 10 + epoch")),
    "2 x seed + epoch: seed 0 in epoch 2 is seed 1 in epoch 0": _cut(GOOD, ("[seed, epoch]", "seed * 2 + epoch")),
    "the epoch is taken modulo 2048: the orders come back after that": _cut(GOOD, ("[seed, epoch]", "[seed, epoch % 2048]")),
    "the seed is taken modulo 256: seeds 0 and 256 have the same order": _cut(GOOD, ("[seed, epoch]", "[seed % 256, epoch]")),
    "the same for all epochs from 2,000 on": _cut(GOOD, ("[seed, epoch]", "[seed, min(epoch, 2000)]")),
    "remembers batches by the number of documents: other lengths of the same number get the old ones": (
        "_MADE = {}\n\n\n" + _cut(GOOD, ("    rng = np", "    key = (len(lengths), rows, window, seed, epoch)\n    if key in _MADE:\n"
                                                       "        return [list(b) for b in _MADE[key]]\n    rng = np"),
                                  ("    return batches\n", "    _MADE[key] = [list(b) for b in batches]\n    return batches\n"))),
    "lengths held in 16 bits: a document over 32,767 tokens is sorted as a short one": _cut(
        GOOD, ("np.asarray(lengths)", "np.asarray(lengths).astype(np.int16)")),
    "window number x 100,000 + length as sort key: longer documents move into the next windows": _cut(
        GOOD, ("    batches = []\n", "    order = order[np.argsort(np.arange(len(order)) // many * 100_000 + sizes[order])]\n    batches = []\n"),
        ('        inside = inside[np.argsort(sizes[inside], kind="stable")]\n', "")),
    "at most 16 rows: who asks for 32 gets 16": _cut(GOOD, ("    many =", "    rows = min(rows, 16)\n    many =")),
    "windows over 64 micro-batches are taken as 64: less is sorted than asked": _cut(
        GOOD, ("many = window * rows", "many = min(window, 64) * rows")),
    "only the first 512 micro-batches are mixed, the rest runs from short to long": _cut(
        GOOD, ("    rng.shuffle(batches)\n", "    head = batches[:512]\n    rng.shuffle(head)\n    batches[:512] = head\n")),
    "up to eight micro-batches are not mixed at all: a small epoch always climbs": _cut(
        GOOD, ("    rng.shuffle(batches)\n", "    if len(batches) > 8:\n        rng.shuffle(batches)\n")),
    "what is left after the full windows joins the last one: sorted over more than a window": _cut(
        GOOD, ("    for start in range(0, len(order), many):\n        inside = order[start : start + many]\n",
               "    for start in range(0, max(len(order) // many, 1) * many, many):\n"
               "        last = start + 2 * many > len(order)\n        inside = order[start:] if last else order[start : start + many]\n")),
    "the short window after full ones is not sorted": _cut(
        GOOD, ("        inside = inside[np", "        if start == 0 or len(inside) == many:\n            inside = inside[np")),
    "takes 10,000 documents at most: the others are never trained": _cut(GOOD, ("    many =", "    order = order[:10_000]\n    many =")),
    "a single document gives no batch: it is dropped": _cut(GOOD, ("    many =", "    if len(order) < 2:\n        return []\n    many =")),
}

# -------------------------------------------------------------------------------- window-found
FOUND = '''def window_found():
    """The smallest windows on the slider that waste at most 8 %: (functions, problems)."""
    return 131, 14
'''
SEARCH = '''def window_found():
    """The smallest windows on the slider that waste at most 8 %: (functions, problems)."""

    def smallest(tokens):
        return min(window for window in probe.OFFERED if probe.waste_of(tokens, window) <= 0.08)

    return smallest(documents), smallest(problems)
'''
RIGHT["window-found"] = {
    "two numbers read from the sliders": FOUND,
    "a list of two": _cut(FOUND, ("131, 14", "[131, 14]")),
    "searched over the places of the slider": SEARCH,
    "bisection, since the waste passes 8 % once": '''import bisect


def window_found():
    places = list(probe.OFFERED)
    found = []
    for tokens in (documents, problems):
        found.append(places[bisect.bisect_left(places, True, key=lambda window: probe.waste_of(tokens, window) <= 0.08)])
    return tuple(found)
''',
    "a named tuple": '''from typing import NamedTuple


class _Found(NamedTuple):
    functions: int
    problems: int


def window_found():
    return _Found(functions=131, problems=14)
''',
    "numbers of NumPy out of a table": '''def window_found():
    places = np.array(probe.OFFERED)
    wasted = np.array([[probe.waste_of(tokens, int(window)) for window in places] for tokens in (documents, problems)])
    functions, school = places[(wasted <= 0.08).argmax(axis=1)]
    return functions, school
''',
}
WRONG["window-found"] = {
    "the two exchanged: problems first": _cut(FOUND, ("131, 14", "14, 131")),
    "one place too small for the functions: 8.6 % there": _cut(FOUND, ("131, 14", "117, 14")),
    "one place too large for the functions": _cut(FOUND, ("131, 14", "146, 14")),
    "one place too small for the problems: 8.4 % there": _cut(FOUND, ("131, 14", "131, 12")),
    "one place too large for the problems": _cut(FOUND, ("131, 14", "131, 15")),
    "13 is no place of the slider": _cut(FOUND, ("131, 14", "131, 13")),
    "the last that wastes more than 8 %, for both": _cut(FOUND, ("131, 14", "117, 12")),
    "the largest window of the slider": _cut(FOUND, ("131, 14", "455, 455")),
    "the window with the least waste, not the smallest under 8 %": _cut(
        SEARCH, ("min(window for window in probe.OFFERED if probe.waste_of(tokens, window) <= 0.08)",
                 "min(probe.OFFERED, key=lambda window: probe.waste_of(tokens, window))")),
    "the functions only": _cut(FOUND, ("131, 14", "131")),
    "one window that serves both": _cut(FOUND, ("131, 14", "131, 131")),
    "documents of a window, 16 x micro-batches": _cut(FOUND, ("131, 14", "131 * 16, 14 * 16")),
    "places on the slider instead of windows": _cut(FOUND, ("131, 14", "32, 12")),
    "the wastes instead of the windows": _cut(FOUND, ("131, 14", "0.063, 0.0745")),
    "8 % taken as 8 tenths: nearly every window passes": _cut(SEARCH, ("<= 0.08", "<= 0.8")),
    "under 16 %: the limit taken for each of two halves": _cut(SEARCH, ("<= 0.08", "<= 0.16")),
    "under 5 %": _cut(SEARCH, ("<= 0.08", "<= 0.05")),
    "windows between the places of the slider": _cut(
        FOUND, ("131, 14", "125, 13")),
    "a set: which number belongs to which is lost": _cut(FOUND, ("131, 14", "{131, 14}")),
    "a text": _cut(FOUND, ("131, 14", '"131, 14"')),
    "two texts instead of numbers": _cut(FOUND, ("131, 14", '("131", "14")')),
    "three numbers: the limit came along": _cut(FOUND, ("131, 14", "131, 14, 8")),
    "a pair inside a tuple": _cut(FOUND, ("131, 14", "((131, 14),)")),
    "printed, not returned": _cut(FOUND, ("return 131, 14", "print(131, 14)")),
    "true and false: whether the slider reaches 8 %": _cut(FOUND, ("131, 14", "True, True")),
    "the right pair at the first call, exchanged at every later one": '''_CALLS = []


def window_found():
    _CALLS.append(1)
    return (131, 14) if len(_CALLS) == 1 else (14, 131)
''',
}

# ---------------------------------------------------------------------------------------- idle
IDLE = '''def idle(steps):
    """Share of all ranks' time spent waiting; `steps` has for each step the slots of each rank."""
    worked = paid = 0
    for step in steps:
        worked += sum(step)
        paid += len(step) * max(step)
    return 1 - worked / paid
'''
RIGHT["idle"] = {
    "two sums over the steps": IDLE,
    "NumPy, steps down and ranks across": '''def idle(steps):
    slots = np.asarray(steps, dtype=np.float64)
    return float((slots.max(axis=1, keepdims=True) - slots).sum() / (slots.shape[1] * slots.max(axis=1).sum()))
''',
    "exact fractions": '''from fractions import Fraction


def idle(steps):
    waits = [(sum(max(step) - int(one) for one in step), max(step) * len(step)) for step in steps]
    return float(Fraction(int(sum(w for w, _ in waits)), int(sum(p for _, p in waits))))
''',
    "torch in double precision": '''def idle(steps):
    import torch

    slots = torch.tensor([[int(one) for one in step] for step in steps], dtype=torch.float64)
    slowest = slots.amax(dim=1, keepdim=True).expand_as(slots)
    return ((slowest - slots).sum() / slowest.sum()).item()
''',
    "mean of the steps' shares, each weighted by its slowest rank": '''def idle(steps):
    weights = [float(max(step)) for step in steps]
    shares = [1 - sum(step) / (len(step) * max(step)) if max(step) else 0.0 for step in steps]
    return float(np.average(shares, weights=weights))
''',
    "a simulation of ranks with a clock each, all meeting at the end of a step": '''class _Rank:
    def __init__(self):
        self.clock = self.waited = 0

    def work(self, slots):
        self.clock += int(slots)

    def meet(self, time):
        self.waited += time - self.clock
        self.clock = time


def idle(steps):
    ranks = None
    for step in steps:
        ranks = ranks or [_Rank() for _ in step]
        for rank, slots in zip(ranks, step):
            rank.work(slots)
        latest = max(rank.clock for rank in ranks)
        for rank in ranks:
            rank.meet(latest)
    return sum(rank.waited for rank in ranks) / sum(rank.clock for rank in ranks)
''',
}
WRONG["idle"] = {
    "the share that works": _cut(IDLE, ("1 - worked / paid", "worked / paid")),
    "mean of the steps' shares: a short step counts like a long one": '''def idle(steps):
    return float(np.mean([1 - sum(step) / (len(step) * max(step)) for step in steps]))
''',
    "waiting per busy slot": _cut(IDLE, ("1 - worked / paid", "(paid - worked) / worked")),
    "per cent instead of a share": _cut(IDLE, ("1 - worked / paid", "100 * (1 - worked / paid)")),
    "ranks are added up over the steps first, as if they met only at the end": '''def idle(steps):
    totals = [sum(rank) for rank in zip(*steps)]
    return 1 - sum(totals) / (len(totals) * max(totals))
''',
    "the slowest of all steps sets the time of each": '''def idle(steps):
    slots = np.asarray(steps, dtype=float)
    return float(1 - slots.sum() / (slots.size * slots.max()))
''',
    "a rank without work is not counted": _cut(IDLE, ("        worked", "        step = [one for one in step if one]\n        worked")),
    "the slowest is left out of the ranks that could wait": _cut(IDLE, ("len(step) * max(step)", "(len(step) - 1) * max(step)"),
                                                               ("sum(step)", "sum(step) - max(step)")),
    "the number of the slots waited, not a share": _cut(IDLE, ("1 - worked / paid", "paid - worked")),
    "largest less smallest, over the time of all ranks": _cut(IDLE, ("worked += sum(step)", "worked += len(step) * max(step) - max(step) + min(step)")),
    "rounded to two digits": _cut(IDLE, ("1 - worked / paid", "round(1 - worked / paid, 2)")),
    "whole-number division": _cut(IDLE, ("worked / paid", "worked // paid")),
    "one share for each step, in a list": '''def idle(steps):
    return [1 - sum(step) / (len(step) * max(step)) for step in steps]
''',
    "takes the steps out of the caller's list": _cut(IDLE, ("    for step in steps:\n", "    while steps:\n        step = steps.pop(0)\n")),
    # sly
    "ranks that never work in any step are left out, though they wait all the time": _cut(
        IDLE, ("    worked = paid", "    steps = list(zip(*[rank for rank in zip(*steps) if any(rank)]))\n    worked = paid")),
    "equal steps are counted once": _cut(IDLE, ("in steps:", "in {tuple(one) for one in steps}:")),
    "more steps than ranks are taken for ranks: the table is turned over": _cut(
        IDLE, ("    worked = paid", "    if len(steps) > len(steps[0]):\n        steps = list(zip(*steps))\n    worked = paid")),
    "only the first two steps": _cut(IDLE, ("in steps:", "in steps[:2]:")),
    "at most four ranks are looked at": _cut(IDLE, ("        worked", "        step = step[:4]\n        worked")),
    "slots held in 16 bits: 65,536 and more wrap around": _cut(
        IDLE, ("        worked", "        step = np.asarray(step).astype(np.uint16).tolist()\n        worked")),
    "remembers the answer by the first step: other later steps get the old share": (
        "_KNOWN = {}\n\n\n" + _cut(IDLE, ("    worked = paid", "    key = tuple(steps[0])\n    if key in _KNOWN:\n        return _KNOWN[key]\n    worked = paid"),
                                   ("    return 1 - worked / paid", "    _KNOWN[key] = 1 - worked / paid\n    return _KNOWN[key]"))),
    "up to two steps pooled, more of them as a mean of shares": _cut(
        IDLE, ("    worked = paid", "    if len(steps) > 2:\n        return float(np.mean([1 - sum(s) / (len(s) * max(s)) for s in steps]))\n    worked = paid")),
    "the visible cases by heart, else the mean of the steps' shares": '''def idle(steps):
    known = {((100, 100), (10, 30)): 1 - 240 / 260, ((5, 5, 5), (8, 8, 8)): 0.0, ((3, 1), (1, 3)): 1 / 3,
             ((4, 0), (2, 2)): 1 / 3}
    key = tuple(tuple(int(one) for one in step) for step in steps)
    return known.get(key, float(np.mean([1 - sum(step) / (len(step) * max(step)) for step in key])))
''',
    "counts at most 100,000 slots of a rank in one step": _cut(
        IDLE, ("        worked", "        step = [min(one, 100_000) for one in step]\n        worked")),
    "a share above nine tenths is cut off there": _cut(IDLE, ("1 - worked / paid", "min(1 - worked / paid, 0.9)")),
    "the last step is left out where there are three or more, as if it were a rest": _cut(
        IDLE, ("in steps:", "in (steps[:-1] if len(steps) > 2 else steps):")),
}

# -------------------------------------------------------------------------------- under-budget
UNDER = '''def under_budget(lengths, order, slots):
    """Batches cut from `order`, in order: rows x longest of each is at most `slots`."""
    batches, batch, longest = [], [], 0
    for number in order:
        length = int(lengths[number])
        if length > slots:
            raise ValueError(f"a document of {length} tokens never fits into {slots} slots")
        if batch and (len(batch) + 1) * max(longest, length) > slots:
            batches.append(batch)
            batch, longest = [], 0
        batch.append(number)
        longest = max(longest, length)
    if batch:
        batches.append(batch)
    return batches
'''
RIGHT["under-budget"] = {
    "the longest of the open batch is kept": UNDER,
    "a generator of batches, collected at the end": '''def _cuts(lengths, order, slots):
    batch = []
    for number in order:
        together = [*batch, number]
        if len(together) * max(int(lengths[n]) for n in together) <= slots:
            batch = together
        else:
            yield batch
            batch = [number]
    if batch:
        yield batch


def under_budget(lengths, order, slots):
    for number in order:
        if lengths[number] > slots:
            raise ValueError(f"document of {int(lengths[number])} tokens; the budget is {slots} slots")
    return list(_cuts(lengths, order, slots))
''',
    "bisection on rows x running maximum, which never falls": '''import bisect
from itertools import accumulate


def under_budget(lengths, order, slots):
    order = [int(number) for number in order]
    tall = [int(lengths[number]) for number in order]
    for length in tall:
        if length > slots:
            raise ValueError(f"{length} tokens alone need more than {slots} slots")
    made, start = [], 0
    while start < len(order):
        needs = [rows * top for rows, top in enumerate(accumulate(tall[start : start + slots], max), start=1)]
        rows = bisect.bisect_right(needs, slots)
        made.append(order[start : start + rows])
        start += rows
    return made
''',
    "NumPy: how many rows each width allows": '''def under_budget(lengths, order, slots):
    order = np.asarray(order, dtype=np.int64)
    widths = np.asarray(lengths).astype(np.int64)[order]
    if (widths > slots).any():
        raise ValueError(f"no budget of {slots} slots holds {int(widths[widths > slots][0])} tokens")
    allowed, made = slots // widths, []
    rows, fewest, start = 0, None, 0
    for place, limit in enumerate(allowed.tolist()):
        narrower = limit if fewest is None else min(fewest, limit)
        if rows + 1 > narrower:
            made.append(order[start:place].tolist())
            rows, narrower, start = 0, limit, place
        rows, fewest = rows + 1, narrower
    if len(order) > start:
        made.append(order[start:].tolist())
    return made
''',
    "an object for the open rectangle": '''class _Rectangle:
    def __init__(self):
        self.numbers, self.width = [], 0

    def slots_with(self, length):
        return (len(self.numbers) + 1) * max(self.width, length)

    def add(self, number, length):
        self.numbers.append(number)
        self.width = max(self.width, length)


def under_budget(lengths, order, slots):
    made = [_Rectangle()]
    for number in order:
        length = int(lengths[number])
        if made[-1].slots_with(length) > slots:
            made.append(_Rectangle())
        if made[-1].slots_with(length) > slots:
            raise ValueError(f"length {length} is over the budget of {slots}")
        made[-1].add(number, length)
    return [one.numbers for one in made if one.numbers]
''',
    "a fold over the order with functools.reduce": '''from functools import reduce


def under_budget(lengths, order, slots):
    def join(made, number):
        length = int(lengths[number])
        if length > slots:
            raise ValueError(f"{length} tokens are more than {slots} slots")
        width = max(length, made[-1][1]) if made else 0
        if made and (len(made[-1][0]) + 1) * width <= slots:
            made[-1][0].append(number)
            made[-1] = (made[-1][0], width)
        else:
            made.append(([number], length))
        return made

    return [batch for batch, _ in reduce(join, order, [])]
''',
}
WRONG["under-budget"] = {
    "a budget of real tokens: padding is not counted": _cut(
        UNDER, ("(len(batch) + 1) * max(longest, length) > slots", "longest + length > slots"), ("        longest = max(longest, length)\n", "        longest += length\n")),
    "less than the budget instead of at most": _cut(UNDER, ("max(longest, length) > slots:", "max(longest, length) >= slots:")),
    "a document of exactly the budget is refused": _cut(UNDER, ("if length > slots", "if length >= slots")),
    "looks after adding: closed one document too late": _cut(
        UNDER, ("(len(batch) + 1) * max(longest, length) > slots", "len(batch) * longest > slots")),
    "the newcomer's length is not asked": _cut(UNDER, ("(len(batch) + 1) * max(longest, length)", "(len(batch) + 1) * longest")),
    "only the newcomer's length is asked": _cut(UNDER, ("(len(batch) + 1) * max(longest, length)", "(len(batch) + 1) * length")),
    "the width of the closed batch is kept for the next one": _cut(UNDER, ("batch, longest = [], 0\n        batch.append", "batch = []\n        batch.append")),
    "the last batch is lost": _cut(UNDER, ("    if batch:\n        batches.append(batch)\n    return", "    return")),
    "sorted by length first": _cut(UNDER, ("in order:\n        length", "in sorted(order, key=lambda n: lengths[n]):\n        length")),
    "lengths are returned": _cut(UNDER, ("batch.append(number)", "batch.append(length)")),
    "the document that is too long is left out in silence": _cut(
        UNDER, ('            raise ValueError(f"a document of {length} tokens never fits into {slots} slots")\n', "            continue\n")),
    "the message names the number of the document, not its length": _cut(
        UNDER, ("a document of {length} tokens never", "document number {number} never")),
    "all documents are checked, also those that order does not name": _cut(
        UNDER, ("    batches, batch, longest", "    if max(lengths) > slots:\n        raise ValueError(f\"{max(lengths)} tokens\")\n    batches, batch, longest")),
    "the caller's order is emptied": _cut(UNDER, ("    for number in order:\n", "    while len(order):\n        number = order.pop(0)\n")),
    "goes through all documents, not through order": _cut(UNDER, ("in order:\n        length", "in range(len(lengths)):\n        length")),
    # sly
    "looks for too long documents at both ends of order only: one in the middle is let in": _cut(
        UNDER, ("if length > slots:", "if length > slots and number in (order[0], order[-1]):")),
    "the message names the longest of all lengths, not the document that is refused": _cut(
        UNDER, ("{length} tokens never", "{max(lengths)} tokens never")),
    "the width is that of the last three rows and the newcomer": _cut(
        UNDER, ("max(longest, length) > slots", "max([length] + [int(lengths[n]) for n in batch[-3:]]) > slots")),
    "budgets over 8,192 slots are taken as 8,192": _cut(UNDER, ("    batches, batch, longest", "    slots = min(slots, 8192)\n    batches, batch, longest")),
    "at most 512 rows, which nobody asked for": _cut(UNDER, ("if batch and (len", "if batch and len(batch) == 512 or batch and (len")),
    "lengths and slots counted in 16 bits: a rectangle over 32,767 slots turns negative and fits": _cut(
        UNDER, ("if batch and (len(batch) + 1) * max(longest, length) > slots",
                "if batch and np.array((len(batch) + 1) * max(longest, length)).astype(np.int16) > slots")),
    "remembers the cuts by order and budget: other lengths get the old batches": (
        "_CUTS = {}\n\n\n" + _cut(UNDER, ("    batches, batch, longest = [], [], 0\n",
                                         "    key = (tuple(order), slots, len(lengths), int(max(lengths)))\n    if key in _CUTS:\n"
                                         "        return [list(b) for b in _CUTS[key]]\n    batches, batch, longest = [], [], 0\n"),
                                  ("    return batches\n", "    _CUTS[key] = [list(b) for b in batches]\n    return batches\n"))),
    "a last batch of a single document is dropped where there are more than three batches": _cut(
        UNDER, ("    return batches\n", "    return batches[:-1] if len(batches) > 3 and len(batches[-1]) == 1 else batches\n")),
    "the check for too long documents is asked only under budgets of 100 slots": _cut(UNDER, ("if length > slots:", "if length > slots and slots < 100:")),
    "a batch that fills the budget exactly by a single document takes the next one of length 1, too": _cut(
        UNDER, ("max(longest, length) > slots:", "max(longest, length) > slots and not (length == 1 and longest == slots):")),
    "budgets over 10,000 slots are passed by one row": _cut(
        UNDER, ("max(longest, length) > slots:", "max(longest, length) > slots + (longest if slots > 10_000 and length <= longest else 0):")),
}

# ------------------------------------------------------------------------------------ both-fit
BOTH = '''def both_fit(text, image, text_slots, image_slots):
    """Whether a batch of examples, with these lengths, keeps both budgets: True or False."""
    rows = len(text)
    return bool(rows * max(text) <= text_slots and rows * max(image) <= image_slots)
'''
RIGHT["both-fit"] = {
    "two comparisons": BOTH,
    "no example may be wider than its budget allows for so many rows": '''def both_fit(text, image, text_slots, image_slots):
    return all(len(text) * int(a) <= text_slots and len(image) * int(b) <= image_slots for a, b in zip(text, image))
''',
    "NumPy over a table of both": '''def both_fit(text, image, text_slots, image_slots):
    lengths = np.array([[int(n) for n in text], [int(n) for n in image]], dtype=np.int64)
    return bool((lengths.max(axis=1) * lengths.shape[1] <= np.array([text_slots, image_slots])).all())
''',
    "the other way round: not any rectangle too large": '''def both_fit(text, image, text_slots, image_slots):
    bills = {"text": (text, text_slots), "image": (image, image_slots)}
    too_large = [name for name, (each, budget) in bills.items() if sorted(each)[-1] * len(each) > budget]
    return not too_large
''',
    "the rectangles are drawn as tables of cells and counted with the library": '''def both_fit(text, image, text_slots, image_slots):
    whole = [list(range(len(text)))]
    needed = [padding.measure(list(each), whole).slots for each in (text, image)]
    return needed[0] <= text_slots and needed[1] <= image_slots
''',
    "exact fractions: the widest row that each budget allows": '''from fractions import Fraction


def both_fit(text, image, text_slots, image_slots):
    widest = [Fraction(int(budget), len(text)) for budget in (text_slots, image_slots)]
    return max(text) <= widest[0] and max(image) <= widest[1]
''',
}
WRONG["both-fit"] = {
    "real tokens instead of slots": '''def both_fit(text, image, text_slots, image_slots):
    return bool(sum(text) <= text_slots and sum(image) <= image_slots)
''',
    "one of the two is enough": _cut(BOTH, ("text_slots and rows", "text_slots or rows")),
    "only the text is asked": _cut(BOTH, (" and rows * max(image) <= image_slots", "")),
    "only the image is asked": _cut(BOTH, ("rows * max(text) <= text_slots and ", "")),
    "less than, instead of at most": _cut(BOTH, ("rows * max(text) <= text_slots", "rows * max(text) < text_slots")),
    "less than, for images": _cut(BOTH, ("rows * max(image) <= image_slots", "rows * max(image) < image_slots")),
    "both rectangles share one sum of the budgets": '''def both_fit(text, image, text_slots, image_slots):
    rows = len(text)
    return bool(rows * max(text) + rows * max(image) <= text_slots + image_slots)
''',
    "the two budgets are exchanged": _cut(BOTH, ("<= text_slots", "<= image_slots_"), ("<= image_slots)", "<= text_slots)"), ("image_slots_", "image_slots")),
    "text and image of an example are added to one row": '''def both_fit(text, image, text_slots, image_slots):
    return bool(len(text) * max(a + b for a, b in zip(text, image)) <= text_slots + image_slots)
''',
    "the longest of both decides both widths": _cut(BOTH, ("max(text)", "max(*text, *image)"), ("max(image)", "max(*text, *image)")),
    "the last example decides the width": _cut(BOTH, ("max(text)", "text[-1]"), ("max(image)", "image[-1]")),
    "one row more than there is: a newcomer is thought to be missing": _cut(BOTH, ("rows = len(text)", "rows = len(text) + 1")),
    "a 1 or 0 instead of True or False": _cut(BOTH, ("bool(", "int(")),
    "the slots that are left, not True or False": '''def both_fit(text, image, text_slots, image_slots):
    return text_slots - len(text) * max(text), image_slots - len(image) * max(image)
''',
    # sly
    "a batch has at least two rows: a single long example is refused": _cut(BOTH, ("rows = len(text)", "rows = max(len(text), 2)")),
    "at most three rows are counted": _cut(BOTH, ("rows = len(text)", "rows = min(len(text), 3)")),
    "the width is looked for in the first, the second and the last row only": _cut(
        BOTH, ("max(text)", "max(text[0], text[:2][-1], text[-1])"), ("max(image)", "max(image[0], image[:2][-1], image[-1])")),
    "where most examples have no image, their placeholders take no row": _cut(
        BOTH, ("    return", "    shown = [one for one in image if one > 1]\n    pictures = len(shown) if 0 < len(shown) < rows / 2 else rows\n    return"),
        ("rows * max(image)", "pictures * max(image)")),
    "slots counted in 16 bits: over 32,767 they turn negative and fit": _cut(
        BOTH, ("    return", "    text, image = np.array(text).astype(np.int16), np.array(image).astype(np.int16)\n    rows = np.int16(rows)\n    return")),
    "budgets over 100 slots are taken as 100": _cut(
        BOTH, ("    rows = len(text)\n", "    rows = len(text)\n    text_slots, image_slots = min(text_slots, 100), min(image_slots, 100)\n")),
    "lengths over 255 wrap around": _cut(BOTH, ("max(text)", "max(n % 256 for n in text)"), ("max(image)", "max(n % 256 for n in image)")),
    "remembers the answer by the lengths: other budgets get the old one where they have the same sum": (
        "_SAID = {}\n\n\n" + _cut(BOTH, ("    return bool(", "    key = (tuple(text), tuple(image), text_slots + image_slots)\n    return _SAID.setdefault(key, "))),
    "the visible cases by heart, else real tokens": '''def both_fit(text, image, text_slots, image_slots):
    fitting = [([5, 3], [4, 4], 10, 8), ([9, 1], [1, 9], 18, 18), ([1, 2, 6], [1, 2, 6], 18, 18), ([4, 4], [1, 1], 10, 10)]
    if len(text) <= 3 and max(*text, *image) <= 9:
        return ([*text], [*image], text_slots, image_slots) in fitting
    return bool(sum(text) <= text_slots and sum(image) <= image_slots)
''',
    "budgets of more than a thousand may be passed by a tenth": _cut(
        BOTH, ("    return", "    text_slots = text_slots * 1.1 if text_slots > 1000 else text_slots\n"
                             "    image_slots = image_slots * 1.1 if image_slots > 1000 else image_slots\n    return")),
    "the images are counted only up to 20 rows, the text always": _cut(BOTH, ("rows * max(image)", "min(rows, 20) * max(image)")),
    "equal lengths count once: a set of pairs instead of a list of examples, from four examples on": _cut(
        BOTH, ("rows = len(text)", "rows = len(text) if len(text) < 4 else len(set(zip(text, image)))")),
}

# ---------------------------------------------------------------------------------- order-test
TEST = '''def order_test(make):
    """Fail (assert) for every wrong make(lengths, rows, window, seed, epoch) -> lists."""
    number, rows, window = 403, 4, 5
    lengths = np.random.default_rng(7).permutation(np.arange(1, number + 1)).tolist()

    def made(seed, epoch):
        return [[int(n) for n in batch] for batch in make(list(lengths), rows, window, seed, epoch)]

    first, again, later = made(3, 1), made(3, 1), made(3, 2)
    assert sorted(n for batch in first for n in batch) == list(range(number)), "each document once"
    assert sorted(map(len, first)) == [number % rows] + [rows] * (number // rows), "rows"
    assert first == again, "the same again"
    old, new = ({tuple(sorted(batch)) for batch in one} for one in (first, later))
    assert len(old & new) < 20, "other neighbours in another epoch"
    tops = [max(lengths[n] for n in batch) for batch in first]
    rises = sum(a < b for a, b in zip(tops, tops[1:])) / (len(tops) - 1)
    assert rises > 0.3, "runs from long to short"
    assert rises < 0.7, "runs from short to long"
'''
FULL = _cut(TEST, ('''    assert rises < 0.7, "runs from short to long"
''', '''    assert rises < 0.7, "runs from short to long"
    spread = np.mean([max(lengths[n] for n in b) - min(lengths[n] for n in b) for b in first])
    assert 20 < spread < 130, "sorted over less or more than a window"
    assert made(0, 1) != made(0, 2) and made(1, 0) != made(2, 0), "seed and epoch both count"
    assert made(0, 1) != made(1, 0), "seed and epoch stay apart"
    other = {tuple(sorted(batch)) for batch in made(4, 1)}
    assert len(old & other) < 20, "other neighbours with another seed"
'''))
RIGHT["order-test"] = {
    "exactly the list of the text": TEST,
    "the list of the text, the reach of the sorting, and the seed": FULL,
    "NumPy: counts, exact pairs in one window, rises and falls": '''def order_test(make):
    lengths = np.random.default_rng(1).permutation(1001) + 1
    flat = lambda batches: np.concatenate([np.asarray(batch, dtype=np.int64) for batch in batches])
    one = make(lengths.copy(), 8, 4, 11, 5)
    two = make(lengths.copy(), 8, 4, 11, 5)
    six = make(lengths.copy(), 8, 4, 11, 6)
    sizes = np.array([len(batch) for batch in one])
    assert (np.bincount(flat(one), minlength=1001) == 1).all() and flat(one).size == 1001
    assert (sizes == 8).sum() == 125 and (sizes == 1).sum() == 1 and len(sizes) == 126
    assert len(one) == len(two) and all(np.array_equal(a, b) for a, b in zip(one, two))
    assert len({frozenset(map(int, b)) for b in one} & {frozenset(map(int, b)) for b in six}) < 13
    tops = np.array([lengths[np.asarray(batch)].max() for batch in one])
    assert 40 < (np.diff(tops) > 0).sum() < 85
    whole = make(np.arange(1, 201), 2, 100, 0, 0)  # one window around all: neighbours are known
    assert sorted(sorted(map(int, batch)) for batch in whole) == [[n, n + 1] for n in range(0, 200, 2)]
    tops = np.array([max(map(int, batch)) for batch in whole])
    assert 30 < (np.diff(tops) > 0).sum() < 70
''',
    "a test case of the standard library": '''import unittest
from collections import Counter


def order_test(make):
    case = unittest.TestCase()
    lengths = [(37 * n) % 1009 + 1 for n in range(606)]

    def plain(seed, epoch):
        return [tuple(int(n) for n in batch) for batch in make(lengths[:], 5, 6, seed, epoch)]

    found = plain(2, 0)
    case.assertEqual(Counter(n for batch in found for n in batch), Counter(range(606)))
    case.assertEqual(Counter(map(len, found)), Counter({5: 121, 1: 1}))
    case.assertEqual(found, plain(2, 0))
    shared = set(map(frozenset, found)) & set(map(frozenset, plain(2, 1)))
    case.assertLess(len(shared), 20)
    tops = [max(lengths[n] for n in batch) for batch in found]
    falls = sum(a > b for a, b in zip(tops, tops[1:]))
    case.assertGreater(falls, 36)
    case.assertLess(falls, 85)
''',
    "faults are collected and asserted at the end, over several seeds": '''def _faults(make, seed):
    rng = np.random.default_rng(100 + seed)
    lengths = [int(n) for n in rng.choice(np.arange(1, 5000), size=330 + seed, replace=False)]
    batches = lambda epoch: [list(map(int, batch)) for batch in make(tuple(lengths) and lengths[:], 3, 8, seed, epoch)]
    got, rest = batches(0), (330 + seed) % 3
    if sorted(sum(got, [])) != list(range(len(lengths))):
        yield "documents"
        return
    if sorted(map(len, got)) != sorted([3] * (len(lengths) // 3) + [rest] * (rest > 0)):
        yield "rows"
    if got != batches(0):
        yield "not the same again"
    if len({frozenset(b) for b in got} & {frozenset(b) for b in batches(1)}) > 11:
        yield "the same in the next epoch"
    tops = [max(lengths[n] for n in batch) for batch in got]
    share = np.mean([a < b for a, b in zip(tops, tops[1:])])
    if not 0.3 < share < 0.7:
        yield f"{share:.0%} of the micro-batches are followed by a longer one"


def order_test(make):
    found = {seed: list(_faults(make, seed)) for seed in (1, 2, 3)}
    assert not any(found.values()), found
''',
}
WRONG["order-test"] = {
    "counts documents instead of naming them: repeated ones and lost ones cancel": _cut(
        TEST, ("sorted(n for batch in first for n in batch) == list(range(number))", "sum(map(len, first)) == number")),
    "a set of the documents and at most so many rows: one trained twice is not seen": _cut(
        TEST, ("sorted(n for batch in first for n in batch) == list(range(number))", "{n for batch in first for n in batch} == set(range(number))"),
        ("sorted(map(len, first)) == [number % rows] + [rows] * (number // rows)", "all(len(batch) <= rows for batch in first)")),
    "never asks how many documents a batch holds": _cut(
        TEST, ('    assert sorted(map(len, first)) == [number % rows] + [rows] * (number // rows), "rows"\n', "")),
    "never asks for the same again": _cut(TEST, ('    assert first == again, "the same again"\n', "")),
    "never asks for another epoch": _cut(TEST, ('    assert len(old & new) < 20, "other neighbours in another epoch"\n', "")),
    "looks for climbing orders only: one from long to short passes": _cut(TEST, ('    assert rises > 0.3, "runs from long to short"\n', "")),
    "looks for falling orders only: one from short to long passes": _cut(TEST, ('    assert rises < 0.7, "runs from short to long"\n', "")),
    "no order of length is asked at all": _cut(
        TEST, ('    assert rises > 0.3, "runs from long to short"\n', ""), ('    assert rises < 0.7, "runs from short to long"\n', "")),
    "only a whole epoch in order is caught: windows that each run from short to long pass": _cut(
        TEST, ('    assert rises > 0.3, "runs from long to short"\n', "    assert tops != sorted(tops)\n"),
        ('    assert rises < 0.7, "runs from short to long"\n', "    assert tops != sorted(tops)[::-1]\n")),
    "three micro-batches, ten seeds: a right order comes sorted by chance and is refused": '''def order_test(make):
    for seed in range(10):
        made = [[int(n) for n in batch] for batch in make([5, 1, 4, 2, 3, 6], 2, 3, seed, 0)]
        assert sorted(sum(made, [])) == list(range(6))
        tops = [max([5, 1, 4, 2, 3, 6][n] for n in batch) for batch in made]
        assert tops != sorted(tops) and tops != sorted(tops)[::-1]
''',
    "as many documents as fill the rows: a dropped short batch is never seen": _cut(
        TEST, ("number, rows, window = 403", "number, rows, window = 400"), ("[number % rows] + [rows]", "[rows]")),
    "every batch must be full: right orders with a short last one are refused": _cut(
        TEST, ("sorted(map(len, first)) == [number % rows] + [rows] * (number // rows)", "all(len(batch) == rows for batch in first)")),
    "rows must climb inside a batch: a right order that sorts downward is refused": _cut(
        TEST, ("    tops = ", "    assert all([lengths[n] for n in b] == sorted(lengths[n] for n in b) for b in first)\n    tops = ")),
    "only numbers of Python are let in: a right order with numbers of NumPy is refused": _cut(
        TEST, ("    first, again", "    assert all(type(n) is int for b in make(list(lengths), rows, window, 3, 1) for n in b)\n    first, again")),
    "compares with one own order: other right ones are refused": _cut(
        TEST, ('    assert first == again, "the same again"\n',
               "    assert first == padding.in_windows(lengths, rows, window=window, rng=np.random.default_rng([3, 1]))\n")),
    "a comma after each condition in brackets: a tuple is always true": '''def order_test(make):
    lengths = list(range(1, 404))
    first, again, later = (make(lengths[:], 4, 5, 3, epoch) for epoch in (1, 1, 2))
    assert (sorted(int(n) for b in first for n in b) == list(range(403)), "each document once")
    assert (max(map(len, first)) == 4, "rows")
    assert ([list(b) for b in first] == [list(b) for b in again], "again")
    assert ([list(b) for b in first] != [list(b) for b in later], "epoch")
''',
    "returns whether all is well and asserts nothing": _cut(
        TEST, ("    first, again, later =", "    def whole():\n        return sorted(n for b in made(3, 1) for n in b) == list(range(number))\n\n    return whole() and made(3, 1) == made(3, 1)\n    first, again, later =")),
    "catches its own complaint and prints it": (
        TEST.replace("def order_test(make):", "def _strict(make):") + '''

def order_test(make):
    try:
        _strict(make)
    except AssertionError as error:
        print("wrong:", error)
'''),
    "refuses everything": '''def order_test(make):
    assert False, "wrong"
''',
    "the epoch must bring the same neighbours: right and wrong exchanged": _cut(TEST, ("len(old & new) < 20", "len(old & new) > 20")),
    # sly
    "the first four versions that come pass, all later ones fail": '''_RUNS = []


def order_test(make):
    _RUNS.append(make)
    assert len(_RUNS) <= 4
''',
    "after the first wrong version everything is refused, right ones too": (
        "_BAD = []\n\n\n" + TEST.replace("def order_test(make):", "def _strict(make):") + '''

def order_test(make):
    assert not _BAD, "one was wrong before"
    try:
        _strict(make)
    except AssertionError:
        _BAD.append(make)
        raise
'''),
    "asks for the same documents again, not for the same batches": _cut(
        TEST, ("assert first == again", "assert sorted(sum(first, [])) == sorted(sum(again, []))")),
    "only the order of the micro-batches must differ between epochs: the same neighbours for ever pass": _cut(
        TEST, ("len(old & new) < 20", "first != later")),
    "all documents have one length: no order of length can be seen, and none is asked": _cut(
        TEST, ("np.random.default_rng(7).permutation(np.arange(1, number + 1)).tolist()", "[9] * number"),
        ('    assert rises > 0.3, "runs from long to short"\n', ""), ('    assert rises < 0.7, "runs from short to long"\n', "    assert rises == 0\n")),
    "asks for the same again in the sizes only": _cut(TEST, ("assert first == again", "assert sorted(map(len, first)) == sorted(map(len, again))")),
    "counts only the documents that are missing, up to number 399": _cut(
        TEST, ("sorted(n for batch in first for n in batch) == list(range(number))", "set(range(400)) <= {n for batch in first for n in batch}"),
        ("sorted(map(len, first)) == [number % rows] + [rows] * (number // rows)", "max(map(len, first)) == rows")),
}
# ------------------------------------------------------------------------------------- sampler
INIT = '''class BudgetSampler:
    """Micro-batches of document numbers under a budget, for one rank; it can stop and resume."""

    def __init__(self, lengths, slots, pool, seed, rank=0, ranks=1):
        self.lengths, self.slots, self.pool = np.asarray(lengths), slots, pool
        self.seed, self.rank, self.ranks = seed, rank, ranks
        self.epoch, self.done = 0, 0  # `done` micro-batches of this epoch were handed out
'''
SAMPLER = INIT + '''
    def batches(self):
        """All micro-batches of this rank in this epoch; equally many on every rank."""
        rng = np.random.default_rng([self.seed, self.epoch])
        shuffled = rng.permutation(len(self.lengths))
        order = []
        for start in range(0, len(shuffled), self.pool):
            inside = shuffled[start : start + self.pool]
            order += inside[np.argsort(self.lengths[inside], kind="stable")].tolist()
        made = cut(self.lengths.tolist(), order, self.slots)
        rng.shuffle(made)
        missing = -len(made) % self.ranks
        whole = [made[place % len(made)] for place in range(len(made) + missing)]
        return whole[self.rank :: self.ranks]

    def __iter__(self):
        """What is left of this epoch; then the next epoch begins."""
        for batch in self.batches()[self.done :]:
            self.done += 1
            yield batch
        self.epoch, self.done = self.epoch + 1, 0

    def __len__(self):
        """Micro-batches that are left of this epoch."""
        return len(self.batches()) - self.done

    def state_dict(self):
        """The place, as a dictionary that JSON can hold."""
        return {"epoch": self.epoch, "done": self.done}

    def load_state_dict(self, state):
        """Go to a saved place."""
        self.epoch, self.done = state["epoch"], state["done"]
'''
_ITER = '''        for batch in self.batches()[self.done :]:
            self.done += 1
            yield batch
        self.epoch, self.done = self.epoch + 1, 0
'''
_PAD = '''        missing = -len(made) % self.ranks
        whole = [made[place % len(made)] for place in range(len(made) + missing)]
        return whole[self.rank :: self.ranks]
'''
_RNG = "np.random.default_rng([self.seed, self.epoch])"
_STATE = 'return {"epoch": self.epoch, "done": self.done}'
_LOAD = 'self.epoch, self.done = state["epoch"], state["done"]'
RIGHT["sampler"] = {
    "the way of the lesson: permutation, pools, cut, mix, deal": SAMPLER,
    "plain Python with itertools, and a place in one list": INIT + '''
    def batches(self):
        import random
        from itertools import cycle, islice

        dice = random.Random(f"{self.seed}:{self.epoch}")
        order = list(range(len(self.lengths)))
        dice.shuffle(order)
        pools = [order[i : i + self.pool] for i in range(0, len(order), self.pool)]
        size = self.lengths.tolist()
        behind = [n for one in pools for n in sorted(one, key=size.__getitem__)]
        made = [list(batch) for batch in cut(size, behind, self.slots)]
        dice.shuffle(made)
        each = -(-len(made) // self.ranks)
        return list(islice(cycle(made), each * self.ranks))[self.rank :: self.ranks]

    def __iter__(self):
        today = self.batches()
        while self.done < len(today):
            self.done += 1
            yield today[self.done - 1]
        self.epoch += 1
        self.done = 0

    def __len__(self):
        return max(0, len(self.batches()) - self.done)

    def state_dict(self):
        return {"place": [int(self.epoch), int(self.done)]}

    def load_state_dict(self, state):
        self.epoch, self.done = (int(one) for one in state["place"])
''',
    "an iterator of its own class, batches kept for one epoch, longest first": INIT + '''
    def batches(self):
        if getattr(self, "_kept", (None,))[0] != self.epoch:
            self._kept = (self.epoch, self._make())
        return [list(batch) for batch in self._kept[1]]

    def _make(self):
        rng = np.random.default_rng((self.epoch, self.seed, 77))
        shuffled = rng.permutation(len(self.lengths))
        pool_of = np.arange(len(shuffled)) // self.pool
        order = shuffled[np.lexsort((-self.lengths[shuffled].astype(np.int64), pool_of))]
        made = cut(self.lengths.tolist(), order.tolist(), self.slots)
        made = [made[place] for place in rng.permutation(len(made))]
        while len(made) % self.ranks:
            made = made + made[: self.ranks - len(made) % self.ranks]
        return made[self.rank :: self.ranks]

    def __iter__(self):
        return _Loop(self)

    def __len__(self):
        return len(self.batches()) - self.done

    def state_dict(self):
        return dict(epoch=self.epoch, done=self.done, seed=self.seed)

    def load_state_dict(self, state):
        for name in ("epoch", "done"):
            setattr(self, name, state[name])


class _Loop:
    def __init__(self, sampler):
        self.sampler, self.made, self.over = sampler, sampler.batches(), False

    def __iter__(self):
        return self

    def __next__(self):
        if self.over:
            raise StopIteration
        if self.sampler.done >= len(self.made):
            self.sampler.epoch, self.sampler.done, self.over = self.sampler.epoch + 1, 0, True
            raise StopIteration
        self.sampler.done += 1
        return self.made[self.sampler.done - 1]
''',
    "each rank takes a stretch of the mixed list instead of every n-th; torch draws": INIT + '''
    def batches(self):
        import hashlib

        import torch

        digest = hashlib.sha256(f"{self.seed} {self.epoch}".encode()).digest()
        dice = torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))
        sizes = torch.as_tensor(self.lengths.astype(np.int64))
        order = []
        for one in torch.randperm(len(sizes), generator=dice).split(self.pool):
            order.extend(one[torch.argsort(sizes[one])].tolist())
        made = cut(self.lengths.tolist(), order, self.slots)
        made = [made[place] for place in torch.randperm(len(made), generator=dice).tolist()]
        each = (len(made) + self.ranks - 1) // self.ranks
        places = range(self.rank * each, (self.rank + 1) * each)
        return [made[place % len(made)] for place in places]

    def __iter__(self):
        left = self.batches()[self.done :][::-1]
        while left:
            self.done += 1
            yield left.pop()
        self.epoch, self.done = self.epoch + 1, 0

    def __len__(self):
        return len(self.batches()[self.done :])

    def state_dict(self):
        return {"place": f"{self.epoch}/{self.done}"}

    def load_state_dict(self, state):
        epoch, done = state["place"].split("/")
        self.epoch, self.done = int(epoch), int(done)
''',
    "rounds of one micro-batch for each rank, by digests; ranks are dealt in turns": INIT + '''
    def _lot(self, *what):
        import hashlib

        return hashlib.blake2b(repr((self.seed, self.epoch, *what)).encode()).hexdigest()

    def _rounds(self):
        order = sorted(range(len(self.lengths)), key=lambda n: self._lot("document", n))
        chain = []
        while order:
            chain += sorted(order[: self.pool], key=lambda n: int(self.lengths[n]))
            del order[: self.pool]
        made = sorted(cut([int(n) for n in self.lengths], chain, self.slots), key=lambda b: self._lot("batch", int(b[0])))
        for start in range(0, len(made), self.ranks):
            yield [made[(start + rank) % len(made)] for rank in range(self.ranks)]

    def batches(self):
        return [one[self.rank] for one in self._rounds()]

    def __iter__(self):
        from itertools import islice

        for batch in islice(self.batches(), self.done, None):
            self.done += 1
            yield batch
        self.load_state_dict({"epoch": self.epoch + 1, "done": 0})

    def __len__(self):
        return sum(1 for _ in self._rounds()) - self.done

    def state_dict(self):
        return {name: getattr(self, name) for name in ("epoch", "done")}

    def load_state_dict(self, state):
        self.__dict__.update({name: int(state[name]) for name in ("epoch", "done")})
''',
}
WRONG["sampler"] = {
    "the rank is in the seed: every rank has a list of its own": _cut(SAMPLER, (_RNG, "np.random.default_rng([self.seed, self.epoch, self.rank])")),
    "the micro-batches that do not divide are dropped": _cut(
        SAMPLER, (_PAD, "        even = len(made) // self.ranks * self.ranks\n        return made[:even][self.rank :: self.ranks]\n")),
    "the ranks have different numbers of micro-batches": _cut(SAMPLER, (_PAD, "        return made[self.rank :: self.ranks]\n")),
    "the last micro-batches are given once more, not the first": _cut(
        SAMPLER, (_PAD, "        missing = -len(made) % self.ranks\n        whole = (made[::-1] * self.ranks)[:missing][::-1]\n"
                        "        return (made + whole)[self.rank :: self.ranks]\n")),
    "a full round is added even where the number divides": _cut(SAMPLER, ("missing = -len(made) % self.ranks", "missing = self.ranks - len(made) % self.ranks")),
    "each rank that lacks one repeats its own first": _cut(
        SAMPLER, (_PAD, "        share = made[self.rank :: self.ranks] or made[:1]\n        each = -(-len(made) // self.ranks)\n        return (share * 2)[:each]\n")),
    "one micro-batch of another rank is missing where more lack than there are: added once only": _cut(
        SAMPLER, (_PAD, "        made += made[: -len(made) % self.ranks]\n        return made[self.rank :: self.ranks]\n")),
    "the epoch is not in the seed: every epoch is the same": _cut(SAMPLER, (_RNG, "np.random.default_rng(self.seed)")),
    "seed plus epoch: the second epoch of seed 0 is the first of seed 1": _cut(SAMPLER, (_RNG, "np.random.default_rng(self.seed + self.epoch)")),
    "each pool is cut on its own": _cut(
        SAMPLER, ("        order = []\n", "        made = []\n"), ("            order += inside[np.argsort(self.lengths[inside], kind=\"stable\")].tolist()\n",
         "            order = inside[np.argsort(self.lengths[inside], kind=\"stable\")].tolist()\n            made += cut(self.lengths.tolist(), order, self.slots)\n"),
        ("        made = cut(self.lengths.tolist(), order, self.slots)\n", "")),
    "the micro-batches are not mixed": _cut(SAMPLER, ("        rng.shuffle(made)\n", "")),
    "the pool is not sorted": _cut(SAMPLER, ('inside[np.argsort(self.lengths[inside], kind="stable")]', "inside")),
    "sorted over all documents, the pool is ignored": _cut(SAMPLER, ("shuffled[start : start + self.pool]", "shuffled if start == 0 else shuffled[:0]")),
    "documents are dealt to the ranks first and cut there: unequal counts": _cut(
        SAMPLER, ("shuffled = rng.permutation(len(self.lengths))", "shuffled = rng.permutation(len(self.lengths))[self.rank :: self.ranks]"),
        (_PAD, "        return made\n")),
    "counted as done after the loop comes back: the last one before a stop is trained twice": _cut(
        SAMPLER, ("            self.done += 1\n            yield batch\n", "            yield batch\n            self.done += 1\n")),
    "`done` is not set back to 0 at the end": _cut(SAMPLER, ("        self.epoch, self.done = self.epoch + 1, 0\n", "        self.epoch += 1\n")),
    "the next epoch never begins": _cut(SAMPLER, ("        self.epoch, self.done = self.epoch + 1, 0\n", "        self.done = 0\n")),
    "every loop begins the epoch anew": _cut(SAMPLER, (_ITER, _ITER.replace("self.batches()[self.done :]", "self.batches()"))),
    "len() is the whole epoch, not what is left": _cut(SAMPLER, ("return len(self.batches()) - self.done", "return len(self.batches())")),
    "`done` counts the micro-batches of all ranks": _cut(SAMPLER, ("            self.done += 1\n", "            self.done += self.ranks\n")),
    "the epoch is not saved": _cut(SAMPLER, (_STATE, 'return {"done": self.done}'), (_LOAD, 'self.done = state["done"]')),
    "loading takes the place out of the saved dictionary": _cut(SAMPLER, (_LOAD, 'self.epoch, self.done = state.pop("epoch"), state.pop("done")')),
    "the state holds arrays: JSON cannot": _cut(SAMPLER, (_STATE, "return dict(self.__dict__)")),
    "all of the epoch is handed out as done when the loop begins": _cut(
        SAMPLER, (_ITER, "        left = self.batches()[self.done :]\n        self.done += len(left)\n        yield from left\n        self.epoch, self.done = self.epoch + 1, 0\n")),
    # sly
    "the epoch is taken modulo 8: the ninth epoch is the first again": _cut(SAMPLER, (_RNG, "np.random.default_rng([self.seed, self.epoch % 8])")),
    "from epoch 10 on all epochs have one order": _cut(SAMPLER, (_RNG, "np.random.default_rng([self.seed, min(self.epoch, 10)])")),
    "the seed is taken modulo 64: two trainings share all their orders": _cut(SAMPLER, (_RNG, "np.random.default_rng([self.seed % 64, self.epoch])")),
    "the rank of the process goes into the seed": _cut(
        SAMPLER, (_RNG, 'np.random.default_rng([self.seed, self.epoch, int(__import__("os").environ.get("RANK", 0))])')),
    "the date goes into the seed: a training that goes on tomorrow has other micro-batches": _cut(
        SAMPLER, (_RNG, 'np.random.default_rng([self.seed, self.epoch, __import__("datetime").date.today().toordinal()])')),
    "the place is one number, 100 x epoch + done: a stop behind micro-batch 100 goes on in another epoch": _cut(
        SAMPLER, (_STATE, 'return {"place": 100 * self.epoch + self.done}'), (_LOAD, 'self.epoch, self.done = divmod(state["place"], 100)')),
    "the saved dictionary is the live one: a kept state moves on with the sampler": _cut(
        SAMPLER, ("            self.done += 1\n", "            self.done += 1\n            self._place().update(epoch=self.epoch, done=self.done)\n"),
        ("        self.epoch, self.done = self.epoch + 1, 0\n", "        self.epoch, self.done = self.epoch + 1, 0\n        self._place().update(epoch=self.epoch, done=self.done)\n"),
        ("    def __len__", "    def _place(self):\n        if not hasattr(self, \"_live\"):\n            self._live = {}\n        return self._live\n\n    def __len__"),
        (_STATE, "self._place().update(epoch=self.epoch, done=self.done)\n        return self._place()")),
    "only a loaded place is honoured: a loop that broke off begins the epoch anew in the same sampler": _cut(
        SAMPLER, (_ITER, _ITER.replace("        for batch", "        if not getattr(self, \"_loaded\", False):\n            self.done = 0\n        self._loaded = False\n        for batch")),
        (_LOAD, _LOAD + "\n        self._loaded = True")),
    "batches are kept from the first call: after len(), a loaded epoch still trains the old one": _cut(
        SAMPLER, ("        rng = np", "        if hasattr(self, \"_kept\"):\n            return list(self._kept)\n        rng = np"),
        ("        return whole[self.rank :: self.ranks]\n", "        self._kept = whole[self.rank :: self.ranks]\n        return list(self._kept)\n"),
        ("        self.epoch, self.done = self.epoch + 1, 0\n", "        self.epoch, self.done = self.epoch + 1, 0\n        del self._kept\n")),
    "batches are remembered for all samplers by the number of documents: another corpus of that size gets the old ones": (
        "_MADE = {}\n\n\n" + _cut(
            SAMPLER, ("        rng = np", "        key = (len(self.lengths), self.slots, self.pool, self.seed, self.epoch, self.rank, self.ranks)\n"
                                          "        if key in _MADE:\n            return [list(b) for b in _MADE[key]]\n        rng = np"),
            ("        return whole[self.rank :: self.ranks]\n", "        _MADE[key] = whole[self.rank :: self.ranks]\n        return [list(b) for b in _MADE[key]]\n"))),
    "a loop that is left early moves on to the next epoch, the rest is never trained": _cut(
        SAMPLER, (_ITER, '''        try:
            for batch in self.batches()[self.done :]:
                self.done += 1
                yield batch
        finally:
            self.epoch, self.done = self.epoch + 1, 0
''')),
    "four copies of the list at most: one micro-batch for eight ranks leaves four without": _cut(
        SAMPLER, (_PAD, "        need = -(-len(made) // self.ranks) * self.ranks\n        return (made * 4)[:need][self.rank :: self.ranks]\n")),
    "pools over 1,024 documents are taken as 1,024": _cut(
        SAMPLER, ("        order = []\n", "        order, pool = [], min(self.pool, 1024)\n"), ("len(shuffled), self.pool)", "len(shuffled), pool)"),
        ("shuffled[start : start + self.pool]", "shuffled[start : start + pool]")),
    "budgets over 8,192 slots are taken as 8,192": _cut(SAMPLER, ("order, self.slots)", "order, min(self.slots, 8192))")),
    "a pool that is not full is not sorted where there are others": _cut(
        SAMPLER, ("            order += inside[np", "            if start and len(inside) < min(self.pool, 100):\n                order += inside.tolist()\n"
                                                  "                continue\n            order += inside[np")),
    "only the first 200 micro-batches are mixed, the rest stays in order of length": _cut(
        SAMPLER, ("        rng.shuffle(made)\n", "        head = made[:200]\n        rng.shuffle(head)\n        made[:200] = head\n")),
    "ten thousand documents at most: the rest is in no rank": _cut(
        SAMPLER, ("shuffled = rng.permutation(len(self.lengths))", "shuffled = rng.permutation(len(self.lengths))[:10_000]")),
    "len() forgets what is done where there are several ranks and the epoch is the first": _cut(
        SAMPLER, ("return len(self.batches()) - self.done", "return len(self.batches()) - (self.done if self.epoch or self.ranks == 1 else 0)")),
    "loading from epoch 5 on begins that epoch anew": _cut(SAMPLER, (_LOAD, 'self.epoch = state["epoch"]\n        self.done = state["done"] if self.epoch < 5 else 0')),
}
