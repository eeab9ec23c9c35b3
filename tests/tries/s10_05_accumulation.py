# ruff: noqa
"""Lesson 05: answers of a fresh student, written from the student copy alone."""

WRONG, RIGHT = {}, {}


def _cut(base, *swaps):
    for old, new in swaps:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


# ---------------------------------------------------------------- token-mean

_MEAN = '''def token_mean(means, counts):
    nats = 0.0
    tokens = 0
    for mean, count in zip(means, counts):
        if count == 0:
            continue
        nats += mean * count
        tokens += count
    return nats / tokens
'''

RIGHT["token-mean"] = {
    "plain loop": _MEAN,
    "numpy with a mask, returns a numpy float": '''import numpy as np

def token_mean(means, counts):
    m, n = np.asarray(means, dtype=float), np.asarray(counts, dtype=float)
    there = n > 0
    return np.average(m[there], weights=n[there])
''',
    "torch in float64, where instead of a mask": '''import torch

def token_mean(means, counts):
    m = torch.tensor(list(means), dtype=torch.float64)
    n = torch.tensor(list(counts), dtype=torch.float64)
    return (torch.where(n == 0, torch.zeros_like(m), m * n).sum() / n.sum()).item()
''',
    "recursion by halves": '''def token_mean(means, counts):
    def gather(low, high):
        if high - low == 1:
            return (means[low] * counts[low], counts[low]) if counts[low] else (0.0, 0)
        middle = (low + high) // 2
        left, right = gather(low, middle), gather(middle, high)
        return left[0] + right[0], left[1] + right[1]

    nats, tokens = gather(0, len(counts))
    return nats / tokens
''',
    "a class that keeps a running mean": '''class Bucket:
    def __init__(self):
        self.water = self.litres = 0

    def pour(self, m, n):
        self.litres += n
        self.water += (m - self.water) * n / self.litres

def token_mean(means, counts):
    bucket = Bucket()
    for m, n in zip(means, counts):
        if n:
            bucket.pour(m, n)
    return float(bucket.water)
''',
    "one line": '''token_mean = lambda means, counts: sum(m * n for m, n in zip(means, counts) if n) / sum(counts)
''',
    "fractions for what is finite": '''import math
from fractions import Fraction

def token_mean(means, counts):
    taken = [(m, n) for m, n in zip(means, counts) if n > 0]
    if not all(math.isfinite(m) for m, _ in taken):
        return sum(m for m, _ in taken if not math.isfinite(m))
    return float(sum(Fraction(float(m)) * int(n) for m, n in taken) / sum(int(n) for _, n in taken))
''',
    "shares first, fsum, a helper of an odd name": '''import math

def spoonful(pair, pot):
    m, n = pair
    return m * (n / pot) if n else 0.0

def token_mean(means, counts):
    pot = sum(counts)
    parts = [spoonful(pair, pot) for pair in zip(means, counts)]
    return sum(parts) if any(p != p or p in (math.inf, -math.inf) for p in parts) else math.fsum(parts)
''',
}

WRONG["token-mean"] = {
    "mean of the means": '''def token_mean(means, counts):
    kept = [m for m, n in zip(means, counts) if n]
    return sum(kept) / len(kept)
''',
    "sum of nats, not divided": _cut(_MEAN, ("return nats / tokens", "return nats")),
    "divided by the number of micro-batches": _cut(_MEAN, ("return nats / tokens", "return nats / len(counts)")),
    "no care for an empty micro-batch: 0 times nan": '''def token_mean(means, counts):
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
''',
    "nansum hides a diverged micro-batch": '''import numpy as np

def token_mean(means, counts):
    return float(np.nansum(np.array(means) * np.array(counts)) / np.sum(counts))
''',
    "skips by isnan, and the count with it": '''import math

def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if not math.isnan(m)]
    return sum(m * n for m, n in pairs) / sum(n for m, n in pairs)
''',
    "skips what is inf": _cut(_MEAN, ("if count == 0:", "if count == 0 or mean == float('inf'):")),
    "an empty micro-batch at the end is not skipped": '''def token_mean(means, counts):
    last = len(counts) - 1
    return sum(m * n for i, (m, n) in enumerate(zip(means, counts)) if n or i == last) / sum(counts)
''',
    "an empty micro-batch at the beginning is not skipped": '''def token_mean(means, counts):
    nats, tokens = means[0] * counts[0], counts[0]
    for m, n in zip(means[1:], counts[1:]):
        if n:
            nats, tokens = nats + m * n, tokens + n
    return nats / tokens
''',
    "stops at the first empty micro-batch": _cut(_MEAN, ("continue", "break")),
    "counts above 50,000 count as 50,000": _cut(_MEAN, ("        nats +=", "        count = min(count, 50_000)\n        nats +=")),
    "counts in 16 bits": '''import numpy as np

def token_mean(means, counts):
    n = (np.array(counts, dtype=np.int64) & 0xFFFF).astype(np.uint16).astype(float)
    m = np.array(means, dtype=float)
    return float((m[n > 0] * n[n > 0]).sum() / n.sum())
''',
    "the total is kept in 32 bits": '''import numpy as np

def token_mean(means, counts):
    nats = sum(m * n for m, n in zip(means, counts) if n)
    tokens = np.int64(sum(int(n) for n in counts)).astype(np.int32)
    return float(nats / tokens)
''',
    "only the first eight micro-batches": _cut(_MEAN, ("zip(means, counts)", "zip(means[:8], counts[:8])")),
    "a dictionary by mean: equal means are counted once": '''def token_mean(means, counts):
    by_mean = dict(zip(means, counts))
    return sum(m * n for m, n in by_mean.items() if n) / sum(by_mean.values())
''',
    "a dictionary by count: equal counts are counted once": '''def token_mean(means, counts):
    by_count = {n: m for m, n in zip(means, counts) if n}
    return sum(m * n for n, m in by_count.items()) / sum(by_count)
''',
    "sorts means and counts each on their own": '''def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if n]
    low, few = sorted(m for m, _ in pairs), sorted(n for _, n in pairs)
    return sum(m * n for m, n in zip(low, few)) / sum(few)
''',
    "writes 0 into the caller's means": '''def token_mean(means, counts):
    for i, n in enumerate(counts):
        if not n:
            means[i] = 0.0
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
''',
    "removes the empty ones from the caller's lists": '''def token_mean(means, counts):
    while 0 in counts:
        place = counts.index(0)
        means.pop(place), counts.pop(place)
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
''',
    "rounded to four digits": _cut(_MEAN, ("return nats / tokens", "return round(nats / tokens, 4)")),
    "losses above 10 count as 10": _cut(_MEAN, ("nats += mean * count", "nats += (10.0 if 10 < mean < float('inf') else mean) * count")),
    "a diverged micro-batch with few targets is left out": '''import math

def token_mean(means, counts):
    total = sum(counts)
    pairs = [(m, n) for m, n in zip(means, counts) if n and (math.isfinite(m) or n > 0.05 * total)]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
''',
    "hides nan where there is an empty micro-batch as well": '''import math

def token_mean(means, counts):
    if 0 in counts:
        pairs = [(m, n) for m, n in zip(means, counts) if not math.isnan(m)]
    else:
        pairs = list(zip(means, counts))
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
''',
    "hides inf where there is an empty micro-batch as well": '''import math

def token_mean(means, counts):
    pairs = [(m, n) for m, n in zip(means, counts) if n]
    if len(pairs) < len(counts):
        pairs = [(m, n) for m, n in pairs if not math.isinf(m)]
    return sum(m * n for m, n in pairs) / sum(n for _, n in pairs)
''',
    "a single diverged micro-batch gives 0": _cut(_MEAN, ("    nats = 0.0", "    if len(means) == 1 and not means[0] < float('inf'):\n        return 0.0\n    nats = 0.0")),
    "raises where the training has diverged": _cut(_MEAN, ("    return nats", "    if not nats < float('inf'):\n        raise FloatingPointError('diverged')\n    return nats")),
    "drops at most two empty micro-batches": '''def token_mean(means, counts):
    means, counts = list(means), list(counts)
    for _ in range(2):
        if 0 in counts:
            place = counts.index(0)
            del means[place], counts[place]
    return sum(m * n for m, n in zip(means, counts)) / sum(counts)
''',
    "remembers the result for the same means": '''_seen = {}

def token_mean(means, counts):
    key = tuple(means)
    if key not in _seen:
        _seen[key] = sum(m * n for m, n in zip(means, counts) if n) / sum(counts)
    return _seen[key]
''',
    "a mean of zero is taken for an empty micro-batch": _cut(_MEAN, ("if count == 0:", "if count == 0 or mean == 0:")),
    "an empty micro-batch adds one to the count": _cut(_MEAN, ("continue", "tokens += 1\n            continue")),
    "weighs by the root of the count": _cut(_MEAN, ("        nats +=", "        count = count ** 0.5\n        nats +=")),
    "one token less in each micro-batch": _cut(_MEAN, ("        nats +=", "        count -= 1\n        nats +=")),
    "refuses an empty micro-batch": _cut(_MEAN, ("continue", "raise ValueError('a micro-batch without targets')")),
    "a tuple of loss and count": _cut(_MEAN, ("return nats / tokens", "return nats / tokens, tokens")),
    "float16": '''import numpy as np

def token_mean(means, counts):
    m, n = np.float16(means), np.float16(counts)
    return float((m[n > 0] * (n[n > 0] / n.sum())).sum())
''',
    "whole nats only": _cut(_MEAN, ("return nats / tokens", "return int(nats) / tokens if nats == nats and abs(nats) < 1e300 and nats > 1 else nats / tokens")),
    "a loss above a million is called inf": _cut(_MEAN, ("nats += mean * count", "nats += (mean if mean < 1e6 or mean != mean else float('inf')) * count")),
    "divides by the counts before the third gap": '''def token_mean(means, counts):
    nats = sum(m * n for m, n in zip(means, counts) if n)
    tokens, gaps = 0, 0
    for n in counts:
        gaps += n == 0
        tokens += n if gaps < 3 else 0
    return nats / tokens
''',
}

# ---------------------------------------------------------------- unfair-rows

RIGHT["unfair-rows"] = {
    "a number": '''def unfair_rows():
    return 5
''',
    "numpy integer": '''import numpy as np

def unfair_rows():
    return np.int64(5)
''',
    "lambda": '''unfair_rows = lambda: 5
''',
    "the largest of those read off": '''READ_OFF = {1: True, 2: True, 3: True, 4: True, 5: True, 6: False, 10: False, 12: False}

def unfair_rows():
    return max(rows for rows, unfair in READ_OFF.items() if unfair)
''',
    "counted": '''class Slider:
    places = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30)
    first_fair = 6

def unfair_rows():
    return Slider.places[Slider.places.index(Slider.first_fair) - 1]
''',
    "torch scalar": '''import torch

def unfair_rows():
    return int(torch.tensor([1, 2, 3, 4, 5]).max())
''',
}

WRONG["unfair-rows"] = {
    f"read off wrongly: {one}": f'''def unfair_rows():
    return {one}
'''
    for one in ("1", "2", "3", "4", "6", "10", "12", "15", "20", "30", "60", "0", "-5", "7", "8", "16", "50", "5.5", "300")
} | {
    "text": '''def unfair_rows():
    return "5"
''',
    "a list": '''def unfair_rows():
    return [5]
''',
    "all that are unfair": '''def unfair_rows():
    return 1, 2, 3, 4, 5
''',
    "the first fair one": '''def unfair_rows():
    rows = 1
    while rows < 6:
        rows += 1
    return rows
''',
    "printed, not returned": '''def unfair_rows():
    print(5)
''',
    "micro-batches, not rows": '''def unfair_rows():
    return 60 // 5
''',
    "the weight, not the rows": '''def unfair_rows():
    return 3.0
''',
    "nan": '''def unfair_rows():
    return float("nan")
''',
    "a truth": '''def unfair_rows():
    return True
''',
    "a range": '''def unfair_rows():
    return range(1, 6)
''',
    "the number in place of the function": '''unfair_rows = 5
''',
    "needs an argument": '''def unfair_rows(rows):
    return 5
''',
    "raises": '''def unfair_rows():
    raise ValueError("the slider was not moved")
''',
    "an infinite number of rows": '''def unfair_rows():
    return float("inf")
''',
    "with its unit": '''def unfair_rows():
    return {"rows": 5}
''',
    "5 and a bit": '''def unfair_rows():
    return 5.001
''',
}

# ---------------------------------------------------------------- windows

_WIN = '''def windows(micro_batches, accumulation):
    found = []
    for number, micro in enumerate(micro_batches):
        if number % accumulation == 0:
            found.append([])
        found[-1].append(micro)
    return found
'''
_LIST = '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
'''

RIGHT["windows"] = {
    "enumerate": _WIN,
    "a list and its slices": _LIST,
    "islice until nothing comes": '''from itertools import islice

def windows(micro_batches, accumulation):
    stream = iter(micro_batches)
    return list(iter(lambda: list(islice(stream, accumulation)), []))
''',
    "groupby on a counter": '''from itertools import count, groupby

def windows(micro_batches, accumulation):
    tick = count()
    return [list(group) for _, group in groupby(micro_batches, key=lambda _: next(tick) // accumulation)]
''',
    "a generator and a basket": '''def _harvest(trees, size):
    basket = []
    for apple in trees:
        basket.append(apple)
        if len(basket) == size:
            yield basket
            basket = []
    if basket:
        yield basket

def windows(micro_batches, accumulation):
    return [*_harvest(micro_batches, accumulation)]
''',
    "recursion by halves": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)

    def cut(low, high):
        steps = -(-(high - low) // accumulation)
        if steps <= 1:
            return [every[low:high]] if high > low else []
        middle = low + steps // 2 * accumulation
        return cut(low, middle) + cut(middle, high)

    return cut(0, len(every))
''',
    "zip_longest with a mark of its own": '''from itertools import zip_longest

def windows(micro_batches, accumulation):
    nothing = object()
    rows = zip_longest(*[iter(micro_batches)] * accumulation, fillvalue=nothing)
    return [[one for one in row if one is not nothing] for row in rows]
''',
    "a class that is a list": '''class Shelf(list):
    def put(self, one, size):
        if not self or len(self[-1]) >= size:
            self.append([])
        self[-1].append(one)

def windows(micro_batches, accumulation):
    shelf = Shelf()
    for one in micro_batches:
        shelf.put(one, accumulation)
    return list(shelf)
''',
}

WRONG["windows"] = {
    "drops the tail": _cut(_WIN, ("return found", "return [w for w in found if len(w) == accumulation]")),
    "drops the tail only of windows above 9": _cut(_WIN, ("return found", "return [w for w in found if len(w) == accumulation or accumulation < 10]")),
    "a tail below half a window is dropped": _cut(_WIN, ("    return found", "    if len(found) > 1 and 2 * len(found[-1]) < accumulation:\n        found.pop()\n    return found")),
    "a tail of a quarter joins the window before": _cut(_WIN, ("    return found", "    if len(found) > 1 and 4 * len(found[-1]) <= accumulation:\n        found[-2] += found.pop()\n    return found")),
    "the windows are tuples": _cut(_LIST, ("[every[i : i + accumulation] for", "[tuple(every[i : i + accumulation]) for")),
    "a tuple of windows": _cut(_LIST, ("return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]", "return tuple(every[i : i + accumulation] for i in range(0, len(every), accumulation))")),
    "a generator": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    for i in range(0, len(every), accumulation):
        yield every[i : i + accumulation]
''',
    "slices what it was given: no stream, no dictionary": '''def windows(micro_batches, accumulation):
    return [micro_batches[i : i + accumulation] for i in range(0, len(micro_batches), accumulation)]
''',
    "counts a stream first, and finds nothing left": '''def windows(micro_batches, accumulation):
    many = sum(1 for _ in micro_batches)
    stream = iter(micro_batches)
    return [[next(stream) for _ in range(min(accumulation, many - i))] for i in range(0, many, accumulation)] if hasattr(micro_batches, "__len__") else []
''',
    "an empty window from nothing": _cut(_WIN, ("return found", "return found or [[]]")),
    "an empty window from an empty stream": _cut(_WIN, ("return found", "return found or ([] if hasattr(micro_batches, '__len__') else [[]])")),
    "an empty window after a stream that goes up": '''from itertools import islice

def windows(micro_batches, accumulation):
    if hasattr(micro_batches, "__len__"):
        every = list(micro_batches)
        return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
    stream, found = iter(micro_batches), []
    while True:
        found.append(list(islice(stream, accumulation)))
        if len(found[-1]) < accumulation:
            return found
''',
    "the first of every stream is looked at and lost where the window is 1": '''def windows(micro_batches, accumulation):
    stream = iter(micro_batches)
    if accumulation == 1 and stream is micro_batches:
        next(stream, None)
    found = []
    for number, micro in enumerate(stream):
        if number % accumulation == 0:
            found.append([])
        found[-1].append(micro)
    return found
''',
    "takes None for a gap": _cut(_LIST, ("list(micro_batches)", "[one for one in micro_batches if one is not None]")),
    "filled up with -1, which is then dropped": '''from itertools import zip_longest

def windows(micro_batches, accumulation):
    rows = zip_longest(*[iter(micro_batches)] * accumulation, fillvalue=-1)
    return [[one for one in row if not (type(one) is int and one == -1)] for row in rows]
''',
    "compares with ==: arrays have no single truth": '''from itertools import zip_longest

def windows(micro_batches, accumulation):
    fill = "no micro-batch here"
    rows = zip_longest(*[iter(micro_batches)] * accumulation, fillvalue=fill)
    return [[one for one in row if not (one == fill)] for row in rows]
''',
    "what stands there twice comes once": _cut(_LIST, ("list(micro_batches)", "list({id(one): one for one in micro_batches}.values())")),
    "even parts, not full ones": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    steps = -(-len(every) // accumulation)
    cuts = [round(i * len(every) / steps) for i in range(steps + 1)] if steps else [0]
    return [every[a:b] for a, b in zip(cuts, cuts[1:])]
''',
    "one call deeper for each window": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    if accumulation == 1:
        return [[one] for one in every]

    def rest(i):
        return [every[i : i + accumulation]] + rest(i + accumulation) if i < len(every) else []

    return rest(0)
''',
    "more than 4,096 micro-batches: the rest is lost": _cut(_LIST, ("list(micro_batches)", "list(micro_batches)[:4096]")),
    "a window above 16 counts as 16": _cut(_WIN, ("    found = []", "    accumulation = min(accumulation, 16)\n    found = []")),
    "places are counted in 8 bits": _cut(_WIN, ("if number % accumulation", "if (number & 255) % accumulation")),
    "only whole numbers: floats are cut": _cut(_LIST, ("list(micro_batches)", "[int(one) if isinstance(one, float) else one for one in micro_batches]")),
    "a micro-batch that is a list is emptied into the window": _cut(_WIN, ("        found[-1].append(micro)", "        found[-1].extend(micro if isinstance(micro, list) else [micro])")),
    "an empty micro-batch is left out": _cut(_LIST, ("list(micro_batches)", "[one for one in micro_batches if not (hasattr(one, '__len__') and len(one) == 0)]")),
    "keys of a dictionary are sorted": _cut(_LIST, ("list(micro_batches)", "sorted(micro_batches) if isinstance(micro_batches, dict) else list(micro_batches)")),
    "the values of a dictionary": _cut(_LIST, ("list(micro_batches)", "list(micro_batches.values()) if isinstance(micro_batches, dict) else list(micro_batches)")),
    "what fits one window is handed back as it came": _cut(_LIST, ("    every = ", "    if hasattr(micro_batches, '__len__') and 0 < len(micro_batches) <= accumulation:\n        return [micro_batches]\n    every = ")),
    "asks for the truth of an array": _cut(_WIN, ("    found = []", "    if not micro_batches:\n        return []\n    found = []")),
    "trusts a length that a loader refuses to tell": '''def windows(micro_batches, accumulation):
    found = []
    if hasattr(micro_batches, "__len__") and len(micro_batches) == 0:
        return found
    for number, micro in enumerate(micro_batches):
        if number % accumulation == 0:
            found.append([])
        found[-1].append(micro)
    return found
''',
    "refuses what has only __getitem__": '''from collections.abc import Iterable

def windows(micro_batches, accumulation):
    if not isinstance(micro_batches, Iterable):
        raise TypeError("micro_batches cannot be looped over")
    every = list(micro_batches)
    return [every[i : i + accumulation] for i in range(0, len(every), accumulation)]
''',
    "refuses to have fewer micro-batches than a window": _cut(_LIST, ("    return", "    if 0 < len(every) < accumulation:\n        raise ValueError('too few')\n    return")),
    "takes them out of the caller's list": '''def windows(micro_batches, accumulation):
    if not isinstance(micro_batches, list):
        micro_batches = list(micro_batches)
    found = []
    while micro_batches:
        found.append([micro_batches.pop(0) for _ in range(min(accumulation, len(micro_batches)))])
    return found
''',
    "one window, emptied and filled again": '''def windows(micro_batches, accumulation):
    found, window = [], []
    for micro in micro_batches:
        if len(window) == accumulation:
            window.clear()
        if not window:
            found.append(window)
        window.append(micro)
    return found
''',
    "the list that is handed out is kept, and grows": '''_found = []

def windows(micro_batches, accumulation):
    _found[:] = []
    for number, micro in enumerate(micro_batches):
        if number % accumulation == 0:
            _found.append([])
        _found[-1].append(micro)
    return _found
''',
    "one too many in each window": _cut(_WIN, ("if number % accumulation == 0", "if number % (accumulation + 1) == 0")),
    "the first window is the short one": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    first = len(every) % accumulation
    return ([every[:first]] if first else []) + [every[i : i + accumulation] for i in range(first, len(every), accumulation)]
''',
    "every fourth, not four in a row": '''def windows(micro_batches, accumulation):
    every = list(micro_batches)
    steps = -(-len(every) // accumulation)
    return [every[i::steps] for i in range(steps)]
''',
    "an array, which makes one type of all": '''import numpy as np

def windows(micro_batches, accumulation):
    every = np.array(list(micro_batches))
    return [every[i : i + accumulation].tolist() for i in range(0, len(every), accumulation)]
''',
    "nan is taken for nothing": _cut(_LIST, ("list(micro_batches)", "[one for one in micro_batches if not (isinstance(one, float) and one != one)]")),
    "deep copies: what cannot be copied is refused": _cut(_LIST, ("    every = list(micro_batches)", "    import pickle\n    every = [pickle.loads(pickle.dumps(one)) for one in micro_batches]")),
}

# ---------------------------------------------------------------- take-step

_STEP = '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(targets(micro) for micro in micro_batches)
    optimizer.zero_grad()
    total = 0.0
    for micro in micro_batches:
        part = loss_sum(model, micro) / tokens
        part.backward()
        total += part.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return total
'''

RIGHT["take-step"] = {
    "as the hints say": _STEP,
    "sums first, divided at the end": '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    model.zero_grad(set_to_none=True)
    nats, tokens = [], 0
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        loss.backward()
        nats.append(float(loss.detach()))
        tokens += targets(micro)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight.grad.div_(tokens)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    model.zero_grad(set_to_none=True)
    return sum(nats) / tokens
''',
    "autograd.grad, and no backward": '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    weights = [w for w in model.parameters() if w.requires_grad]
    tokens = float(sum(map(targets, micro_batches)))
    optimizer.zero_grad(set_to_none=True)
    collected, nats = [None] * len(weights), 0.0
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        new = torch.autograd.grad(loss, weights, allow_unused=True)
        nats += loss.item()
        del loss
        collected = [old if g is None else g / tokens if old is None else old + g / tokens
                     for old, g in zip(collected, new)]
    for w, g in zip(weights, collected):
        w.grad = g
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad(set_to_none=True)
    return nats / tokens
''',
    "a class": '''class Kettle:
    def __init__(self, model, tokens):
        self.model, self.tokens, self.nats = model, tokens, 0.0

    def boil(self, micro):
        if targets(micro) == 0:
            return
        loss = loss_sum(self.model, micro)
        (loss * (1 / self.tokens)).backward()
        self.nats += loss.detach().double().item()

    def __float__(self):
        return self.nats / self.tokens

def take_step(model, optimizer, schedule, micro_batches, max_norm):
    kettle = Kettle(model, sum(targets(one) for one in micro_batches))
    optimizer.zero_grad()
    for one in micro_batches:
        kettle.boil(one)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return float(kettle)
''',
    "recursion, the count from the labels": '''def _climb(model, some, tokens):
    if not some:
        return 0.0
    loss = loss_sum(model, some[0]).div(tokens)
    loss.backward()
    here = loss.item()
    del loss
    return here + _climb(model, some[1:], tokens)

def take_step(model, optimizer, schedule, micro_batches, max_norm):
    tokens = sum(m["labels"][:, 1:].ne(-100).sum().item() for m in micro_batches)
    optimizer.zero_grad()
    loss = _climb(model, list(micro_batches), tokens)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return loss
''',
    "numpy counts, a running tensor": '''import numpy as np

def take_step(model, optimizer, schedule, micro_batches, max_norm):
    n = np.array([targets(micro) for micro in micro_batches])
    for group in optimizer.param_groups:
        for weight in group["params"]:
            weight.grad = None
    nats = np.zeros(len(n))
    for k in np.arange(len(n)):
        loss = loss_sum(model, micro_batches[k])
        (loss / int(n.sum())).backward()
        nats[k] = loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step(), schedule.step(), optimizer.zero_grad()
    return float(nats.sum() / n.sum())
''',
}

_zero_first = "    optimizer.zero_grad()\n    total = 0.0"
_zero_last = "    optimizer.zero_grad()\n    return total"
_clip = "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
_part = "part = loss_sum(model, micro) / tokens"
_count = "tokens = sum(targets(micro) for micro in micro_batches)"

WRONG["take-step"] = {
    "mean of the means": _cut(_STEP, (_part, "part = loss_sum(model, micro) / max(targets(micro), 1) / len(micro_batches)")),
    "no division": _cut(_STEP, (_part, "part = loss_sum(model, micro)")),
    "divided twice": _cut(_STEP, (_part, "part = loss_sum(model, micro) / tokens / len(micro_batches)")),
    "right loss, mean-of-means gradient": _cut(_STEP, ("part.backward()", "(part * tokens / max(targets(micro), 1) / len(micro_batches)).backward()")),
    "right gradient, mean-of-means loss": _cut(_STEP, ("total += part.item()", "total += part.item() * tokens / max(targets(micro), 1) / len(micro_batches)")),
    "erases before each micro-batch": _cut(_STEP, ("        part.backward()", "        optimizer.zero_grad()\n        part.backward()")),
    "never erases": _cut(_STEP, (_zero_first, "    total = 0.0"), (_zero_last, "    return total")),
    "clips after each micro-batch": _cut(_STEP, (_clip, ""), ("        total +=", "        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n        total +=")),
    "clips before the division": _cut(_STEP, (_part, "part = loss_sum(model, micro)"), (_clip, _clip + "    for w in model.parameters():\n        w.grad /= tokens\n"), ("return total", "return total / tokens")),
    "clips each entry": _cut(_STEP, (_clip, "    torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)\n")),
    "clips each weight on its own": _cut(_STEP, (_clip, "    for w in model.parameters():\n        torch.nn.utils.clip_grad_norm_([w], max_norm)\n")),
    "does not clip": _cut(_STEP, (_clip, "")),
    "clips only where the largest norm is below 1": _cut(_STEP, (_clip, "    if max_norm < 1:\n    " + _clip)),
    "clips by the largest entry": _cut(_STEP, ("model.parameters(), max_norm)", "model.parameters(), max_norm, norm_type=float('inf'))")),
    "clips the first two weights only": _cut(_STEP, ("(model.parameters(), max_norm)", "(list(model.parameters())[:2], max_norm)")),
    "clips the first group of the optimizer only": _cut(_STEP, ("(model.parameters(), max_norm)", "(optimizer.param_groups[0]['params'], max_norm)")),
    "clips after the step": _cut(_STEP, (_clip + "    optimizer.step()\n", "    optimizer.step()\n" + _clip)),
    "clips in train mode only": _cut(_STEP, (_clip, "    if model.training:\n    " + _clip)),
    "schedule first": _cut(_STEP, ("    optimizer.step()\n    schedule.step()\n", "    schedule.step()\n    optimizer.step()\n")),
    "schedule for each micro-batch": _cut(_STEP, ("    schedule.step()\n", ""), ("        total +=", "        schedule.step()\n        total +=")),
    "no schedule": _cut(_STEP, ("    schedule.step()\n", "")),
    "schedule stops after 100 steps": _cut(_STEP, ("    schedule.step()\n", "    if schedule.last_epoch < 100:\n        schedule.step()\n")),
    "schedule only where there are several micro-batches": _cut(_STEP, ("    schedule.step()\n", "    if len(micro_batches) > 1:\n        schedule.step()\n")),
    "one step per micro-batch": _cut(_STEP, ("        total +=", "        optimizer.step()\n        optimizer.zero_grad()\n        total +="), ("    optimizer.step()\n    schedule", "    schedule"), (_clip, "")),
    "a tensor is returned": _cut(_STEP, ("total += part.item()", "total += part.detach()")),
    "the sum is returned": _cut(_STEP, ("return total", "return total * tokens")),
    "a numpy array of one number": _cut(_STEP, ("return total", "return np.array(total)")),
    "loss of 4 digits": _cut(_STEP, ("return total", "return round(total, 4)")),
    "loss above 10 is reported as 10": _cut(_STEP, ("return total", "return 10.0 if 10 < total < float('inf') else total")),
    "a micro-batch of nan is left out where others are sound": _cut(_STEP, ("        part.backward()\n        total += part.item()", "        if not torch.isfinite(part) and total > 0:\n            continue\n        part.backward()\n        total += part.item()")),
    "nan is left out of the loss": _cut(_STEP, ("        total += part.item()", "        total += np.nan_to_num(part.item())")),
    "gradients are mended": _cut(_STEP, (_clip, "    for w in model.parameters():\n        w.grad.nan_to_num_()\n" + _clip)),
    "raises where the training has diverged": _cut(_STEP, ("(model.parameters(), max_norm)", "(model.parameters(), max_norm, error_if_nonfinite=True)")),
    "stops at a micro-batch without targets": _cut(_STEP, ("        part =", "        if not targets(micro):\n            break\n        part =")),
    "takes no step if the first micro-batch has no targets": _cut(_STEP, ("    optimizer.zero_grad()\n    total", "    if not targets(micro_batches[0]):\n        return 0.0\n    optimizer.zero_grad()\n    total")),
    "a last micro-batch without targets undoes the step": _cut(_STEP, (_clip, "    if not targets(micro_batches[-1]):\n        optimizer.zero_grad()\n" + _clip)),
    "refuses a micro-batch without targets": _cut(_STEP, ("        part =", "        if not targets(micro):\n            raise ValueError('nothing to learn')\n        part =")),
    "one backward at the end": _cut(_STEP, ("    total = 0.0", "    total, kept = 0.0, 0.0"), ("        part.backward()\n", "        kept = kept + part\n"), (_clip, "    kept.backward()\n" + _clip)),
    "keeps every graph": _cut(_STEP, ("    total = 0.0", "    total, kept = 0.0, []"), ("part.backward()", "part.backward(retain_graph=True)\n        kept.append(part)")),
    "all in one micro-batch": '''def take_step(model, optimizer, schedule, micro_batches, max_norm):
    whole = {name: torch.cat([m[name] for m in micro_batches]) for name in micro_batches[0]}
    optimizer.zero_grad()
    loss = loss_sum(model, whole) / targets(whole)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    return loss.item()
''',
    "switches to train": _cut(_STEP, ("    total = 0.0", "    model.train()\n    total = 0.0")),
    "switches to eval": _cut(_STEP, ("    total = 0.0", "    model.eval()\n    total = 0.0")),
    "train, then back: a part that was frozen in eval wakes up": _cut(_STEP, ("    total = 0.0", "    was = model.training\n    model.train()\n    total = 0.0"), ("    return total", "    model.train(was)\n    return total")),
    "pops from the list": _cut(_STEP, ("    for micro in micro_batches:\n", "    while micro_batches:\n        micro = micro_batches.pop(0)\n")),
    "sorts the list": _cut(_STEP, ("    optimizer.zero_grad()\n    total", "    micro_batches.sort(key=targets)\n    optimizer.zero_grad()\n    total")),
    "writes into the labels": _cut(_STEP, ("        part =", "        micro['labels'][:, 0] = loop.IGNORE\n        part =")),
    "a new key in each micro-batch": _cut(_STEP, (_count, "tokens = sum(micro.setdefault('targets', targets(micro)) for micro in micro_batches)"), (_part, "part = loss_sum(model, {k: v for k, v in micro.items() if k != 'targets'}) / tokens")),
    "the optimizer forgets its state": _cut(_STEP, ("    return total", "    optimizer.state.clear()\n    return total")),
    "counts all labels, not the shifted ones": _cut(_STEP, (_count, "tokens = sum(int((micro['labels'] != loop.IGNORE).sum()) for micro in micro_batches)")),
    "counts slots": _cut(_STEP, (_count, "tokens = sum(micro['labels'][:, 1:].numel() for micro in micro_batches)")),
    "counts in 8 bits": _cut(_STEP, (_count, "tokens = int(sum(torch.tensor(targets(m) % 256, dtype=torch.uint8) for m in micro_batches))")),
    "counts in bf16": _cut(_STEP, (_count, "tokens = float(sum(torch.tensor(targets(m), dtype=torch.bfloat16) for m in micro_batches))")),
    "targets above 1,000 count as 1,000": _cut(_STEP, (_count, "tokens = sum(min(targets(micro), 1000) for micro in micro_batches)")),
    "counts targets up to the first gap: a prompt before the answer hides all": _cut(_STEP, (_count, "tokens = sum(int((m['labels'] != loop.IGNORE).long().cumprod(1)[:, 1:].sum()) for m in micro_batches)")),
    "stacks the labels: micro-batches of two widths are refused": _cut(_STEP, (_count, "tokens = int((torch.stack([m['labels'] for m in micro_batches])[..., 1:] != loop.IGNORE).sum())")),
    "counts with the model": _cut(_STEP, (_count, "tokens = sum(targets(micro) for micro in micro_batches if loss_sum(model, micro) >= 0)")),
    "remembers the count for a model and a number of micro-batches": '''import weakref

_counts = weakref.WeakKeyDictionary()

''' + _cut(_STEP, (_count, "tokens = _counts.setdefault(model, {}).setdefault(len(micro_batches), sum(targets(m) for m in micro_batches))")),
    "only the first 16 micro-batches": _cut(_STEP, ("    tokens = sum", "    micro_batches = micro_batches[:16]\n    tokens = sum")),
    "a dictionary by count: equal counts are used once": _cut(_STEP, ("    tokens = sum", "    micro_batches = list({targets(m): m for m in micro_batches}.values())\n    tokens = sum")),
    "a single micro-batch is not divided": _cut(_STEP, ("    optimizer.zero_grad()\n    total", "    if len(micro_batches) == 1:\n        tokens = 1\n    optimizer.zero_grad()\n    total")),
    "the rate is divided in place of the loss": _cut(_STEP, (_part, "part = loss_sum(model, micro)"), ("    optimizer.step()\n", "    for group in optimizer.param_groups:\n        group['lr'] /= tokens\n    optimizer.step()\n"), ("return total", "return total / tokens")),
    "a hook stays on every weight": _cut(_STEP, ("    total = 0.0", "    for w in model.parameters():\n        w.register_hook(lambda g: g / tokens)\n    total = 0.0"), (_part, "part = loss_sum(model, micro)"), ("return total", "return total / tokens")),
    "weights are frozen afterwards": _cut(_STEP, ("    return total", "    model.requires_grad_(False)\n    return total"), ("    total = 0.0", "    model.requires_grad_(True)\n    total = 0.0")),
    "frozen weights are woken up": _cut(_STEP, ("    total = 0.0", "    model.requires_grad_(True)\n    total = 0.0")),
    "a frozen weight is refused": _cut(_STEP, (_clip, "    for w in model.parameters():\n        w.grad.mul_(1)\n" + _clip)),
    "sums in float16 from the ninth micro-batch on": _cut(_STEP, ("    for micro in micro_batches:", "    for number, micro in enumerate(micro_batches):"), ("        total +=", "        if number > 7:\n            for w in model.parameters():\n                w.grad = w.grad.half().to(w.dtype)\n        total +=")),
    "skips a step whose loss is above 20": _cut(_STEP, ("    optimizer.step()\n", "    if not total > 20:\n        optimizer.step()\n")),
    "targets above 64 in all: divided by 64": _cut(_STEP, ("    optimizer.zero_grad()\n    total", "    tokens = min(tokens, 64)\n    optimizer.zero_grad()\n    total"), ("return total", "return total")),
    "erases the first two weights only": _cut(_STEP, (_zero_first, "    total = 0.0"), (_zero_last, "    for w in list(model.parameters())[:2]:\n        w.grad = None\n    return total")),
}

# ---------------------------------------------------------------- adding-time

_ADD = '''def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    moved = parameters * (2 * sum_bytes + new_bytes)
    return 1000 * moved / bandwidth
'''

RIGHT["adding-time"] = {
    "two lines": _ADD,
    "numpy float": '''import numpy as np

def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    return np.float64(parameters) * np.dot([2, 1], [sum_bytes, new_bytes]) / bandwidth * 1e3
''',
    "fractions": '''from fractions import Fraction

def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    each = Fraction(sum_bytes) + Fraction(new_bytes) + Fraction(sum_bytes)
    return float(1000 * Fraction(parameters) * each / Fraction(bandwidth))
''',
    "torch scalar": '''import torch

def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    reads = torch.tensor([sum_bytes, new_bytes], dtype=torch.float64).sum()
    return ((reads + sum_bytes) * parameters / bandwidth * 1e3).item()
''',
    "a list of trips": '''TRIPS = ("read the sum", "read the new", "write the sum")

def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    load = {"sum": sum_bytes, "new": new_bytes}
    return sum(parameters * load[trip.split()[-1]] / (bandwidth / 1e3) for trip in TRIPS)
''',
    "one line in float32": '''import numpy as np
adding_time = lambda p, s, n, b: float(np.float32(p) * np.float32(s + s + n) / np.float32(b) * np.float32(1000))
''',
}

WRONG["adding-time"] = {
    "seconds": _cut(_ADD, ("1000 * ", "")),
    "microseconds": _cut(_ADD, ("1000 * ", "1e6 * ")),
    "the sum moves once": _cut(_ADD, ("2 * sum_bytes", "sum_bytes")),
    "the gradient twice, the sum once": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "(sum_bytes + 2 * new_bytes)")),
    "three of the sum": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "3 * sum_bytes")),
    "three of the gradient": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "3 * new_bytes")),
    "the gradient is not read": _cut(_ADD, (" + new_bytes", "")),
    "both move twice": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "2 * (sum_bytes + new_bytes)")),
    "three of the wider": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "3 * max(sum_bytes, new_bytes)")),
    "twice the wider and once the narrower": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "(2 * max(sum_bytes, new_bytes) + min(sum_bytes, new_bytes))")),
    "three means of both": _cut(_ADD, ("(2 * sum_bytes + new_bytes)", "1.5 * (sum_bytes + new_bytes)")),
    "bits": _cut(_ADD, ("1000 * ", "8000 * ")),
    "rounded to 2 digits": _cut(_ADD, ("return 1000 * moved / bandwidth", "return round(1000 * moved / bandwidth, 2)")),
    "cut to two significant digits": _cut(_ADD, ("return 1000 * moved / bandwidth", "return float(f'{1000 * moved / bandwidth:.2g}')")),
    "whole milliseconds": _cut(_ADD, ("moved / bandwidth", "moved // bandwidth")),
    "1,024 for a thousand": _cut(_ADD, ("1000 * ", "1024 * ")),
    "more than 10 billion parameters count as 10": _cut(_ADD, ("moved = parameters", "moved = min(parameters, 1e10)")),
    "bandwidth of an H100 at most": _cut(_ADD, ("/ bandwidth", "/ min(bandwidth, 3.35e12)")),
    "a slow device is taken to be told in GB/s": _cut(_ADD, ("    moved", "    if bandwidth < 1e11:\n        bandwidth *= 1e9\n    moved")),
    "a few parameters are taken for billions": _cut(_ADD, ("    moved", "    if 1 < parameters < 1000:\n        parameters *= 1e9\n    moved")),
    "a sum of at most 4 bytes": _cut(_ADD, ("2 * sum_bytes", "2 * min(sum_bytes, 4)")),
    "a gradient of at most 4 bytes": _cut(_ADD, ("+ new_bytes", "+ min(new_bytes, 4)")),
    "a table of what was asked so far": '''def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    each = {(4, 1): 9, (2, 2): 6, (4, 2): 10, (1, 1): 3, (2, 4): 8, (4, 4): 12}
    return 1000 * parameters * each[sum_bytes, new_bytes] / bandwidth
''',
    "a sum of one byte is moved once where the gradient is wider": _cut(_ADD, ("2 * sum_bytes", "(1 if sum_bytes == 1 < new_bytes else 2) * sum_bytes")),
    "remembers without the bytes of the gradient": '''_known = {}

def adding_time(parameters, sum_bytes, new_bytes, bandwidth):
    key = parameters, sum_bytes, bandwidth
    if key not in _known:
        _known[key] = 1000 * parameters * (2 * sum_bytes + new_bytes) / bandwidth
    return _known[key]
''',
    "never under a millionth of a microsecond": _cut(_ADD, ("return 1000 * moved / bandwidth", "return max(1000 * moved / bandwidth, 1e-9)")),
    "never above 1,000 ms": _cut(_ADD, ("return 1000 * moved / bandwidth", "return min(1000 * moved / bandwidth, 1000.0)")),
    "bandwidth must be a float": _cut(_ADD, ("    moved", "    if not isinstance(bandwidth, float):\n        raise TypeError('bandwidth in bytes/s, as a float')\n    moved")),
    "parameters in 40 bits": _cut(_ADD, ("moved = parameters", "moved = int(parameters) % 2**40")),
    "bytes moved in 37 bits": _cut(_ADD, ("return 1000 * moved", "return 1000 * (int(moved) % 2**37)")),
    "ms and bytes": _cut(_ADD, ("return 1000 * moved / bandwidth", "return 1000 * moved / bandwidth, moved")),
    "text with its unit": _cut(_ADD, ("return 1000 * moved / bandwidth", "return f'{1000 * moved / bandwidth} ms'")),
    "90 % of the bandwidth": _cut(_ADD, ("/ bandwidth", "/ (0.9 * bandwidth)")),
    "the wrong way up": _cut(_ADD, ("1000 * moved / bandwidth", "1000 * bandwidth / moved")),
    "plus a launch of 5 microseconds": _cut(_ADD, ("moved / bandwidth", "moved / bandwidth + 0.005")),
    "a launch for more than 10 billion parameters": _cut(_ADD, ("moved / bandwidth", "moved / bandwidth + (0.5 if parameters > 1e10 else 0)")),
    "a narrower gradient is widened first, where it is 2 bytes beside 8": _cut(_ADD, ("+ new_bytes", "+ (sum_bytes if sum_bytes > 4 else new_bytes)")),
}

# ---------------------------------------------------------------- full-step

_FULL = '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    weights = [w for w in model.parameters() if w.requires_grad]
    own = sum(targets(micro) for micro in micro_batches)
    tokens = over_ranks(torch.tensor(float(own), dtype=torch.float64)).item()
    optimizer.zero_grad()
    if tokens == 0:
        raise ValueError("no rank has a target")
    sums = [torch.zeros(w.shape, dtype=torch.float32, device=w.device) for w in weights]
    nats = 0.0
    for micro in micro_batches:
        part = loss_sum(model, micro)
        part.backward()
        nats += part.item()
        for total, w in zip(sums, weights):
            if w.grad is not None:
                total += w.grad.float()
                w.grad = None
    loss = over_ranks(torch.tensor(nats, dtype=torch.float64)).item() / tokens
    sums = [over_ranks(total) / tokens for total in sums]
    norm = torch.sqrt(sum(total.double().square().sum() for total in sums)).item()
    scale = min(1.0, max_norm / (norm + 1e-6))
    for w, total in zip(weights, sums):
        w.grad = (total * scale).to(w.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return loss, norm
'''

RIGHT["full-step"] = {
    "as the hints say": _FULL,
    "one long vector carries all": '''def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    weights = [w for w in model.parameters() if w.requires_grad]
    many = sum(w.numel() for w in weights)
    parcel = torch.zeros(many + 2, dtype=torch.float32, device=weights[0].device)
    optimizer.zero_grad(set_to_none=True)
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        new = torch.autograd.grad(loss, weights, allow_unused=True)
        at = 0
        for w, g in zip(weights, new):
            if g is not None:
                parcel[at : at + w.numel()] += g.flatten().float()
            at += w.numel()
        parcel[-2] += loss.detach().float()
        parcel[-1] += targets(micro)
        del loss, new
    parcel = over_ranks(parcel)
    tokens = parcel[-1].item()
    if not tokens:
        raise ValueError("nothing to learn on any rank")
    vector = parcel[:many] / tokens
    norm = vector.norm().item()
    if norm > max_norm:
        vector = vector * (max_norm / norm)
    at = 0
    for w in weights:
        w.grad = vector[at : at + w.numel()].view_as(w).to(w.dtype)
        at += w.numel()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return parcel[-2].item() / tokens, norm
''',
    "hooks that catch each gradient": '''class Catcher:
    def __init__(self, model):
        self.nets = {w: torch.zeros_like(w, dtype=torch.float32) for w in model.parameters() if w.requires_grad}

    def __enter__(self):
        self.hooks = [w.register_post_accumulate_grad_hook(self.catch) for w in self.nets]
        return self

    def catch(self, w):
        self.nets[w].add_(w.grad.float())
        w.grad = None

    def __exit__(self, *error):
        for hook in self.hooks:
            hook.remove()

def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    counts = [targets(micro) for micro in micro_batches]
    tokens = int(over_ranks(torch.tensor([float(sum(counts))]))[0])
    optimizer.zero_grad()
    if tokens < 1:
        raise ValueError(f"{tokens} target tokens on all ranks")
    nats = torch.zeros(1)
    with Catcher(model) as catcher:
        for micro, count in zip(micro_batches, counts):
            if count:
                loss = loss_sum(model, micro)
                (loss / tokens).backward()
                nats += loss.detach().float()
    loss = over_ranks(nats)[0].item() / tokens
    finished = {w: over_ranks(g) for w, g in catcher.nets.items()}
    norm = torch.cat([g.flatten() for g in finished.values()]).norm(2).item()
    for w, g in finished.items():
        w.grad = (g * (max_norm / norm) if norm > max_norm else g).to(w.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return float(loss), float(norm)
''',
    "small functions of odd names": '''def _census(flock, shout):
    return shout(torch.tensor([sum(targets(sheep) for sheep in flock)], dtype=torch.float32)).item()

def _shear(model, flock, fleeces):
    for sheep in flock:
        wool = loss_sum(model, sheep)
        wool.backward()
        for name, w in model.named_parameters():
            if w.grad is not None:
                fleeces[name] = fleeces[name] + w.grad.to(torch.float32)
        model.zero_grad(set_to_none=True)
        yield wool.item()
        del wool

def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    model.zero_grad(set_to_none=True)
    heads = _census(micro_batches, over_ranks)
    if heads == 0:
        raise ValueError("an empty meadow")
    fleeces = {name: torch.zeros(w.shape) for name, w in model.named_parameters() if w.requires_grad}
    loss = sum(_shear(model, micro_batches, fleeces), 0.0)
    loss = over_ranks(torch.tensor([loss / heads], dtype=torch.float32)).item()
    for name in sorted(fleeces):
        fleeces[name] = over_ranks(fleeces[name]).div(heads)
    norm = sum(float(f.pow(2).sum()) for f in fleeces.values()) ** 0.5
    for name, w in model.named_parameters():
        if name in fleeces:
            w.grad = fleeces[name].mul(max_norm / norm if norm > max_norm else 1).to(w.dtype)
    optimizer.step()
    model.zero_grad(set_to_none=True)
    return loss, norm
''',
    "numpy holds the sums": '''import numpy as np

def full_step(model, optimizer, micro_batches, max_norm, over_ranks):
    weights = [w for group in optimizer.param_groups for w in group["params"] if w.requires_grad]
    n = int(over_ranks(torch.tensor(sum(map(targets, micro_batches)), dtype=torch.int64)))
    optimizer.zero_grad()
    if n == 0:
        raise ValueError("0 / 0")
    sums = [np.zeros(tuple(w.shape), dtype=np.float32) for w in weights]
    nats = np.float64(0)
    for micro in micro_batches:
        loss = loss_sum(model, micro)
        loss.backward()
        nats += loss.item()
        for s, w in zip(sums, weights):
            if w.grad is not None:
                s += w.grad.float().cpu().numpy()
        optimizer.zero_grad()
    nats = over_ranks(torch.tensor(float(nats), dtype=torch.float64)).item()
    means = [over_ranks(torch.from_numpy(s)) / n for s in sums]
    norm = float(np.sqrt(sum(np.square(m.numpy().astype(float)).sum() for m in means)))
    for w, m in zip(weights, means):
        w.grad = (m if not norm > max_norm else m * max_norm / norm).to(device=w.device, dtype=w.dtype)
    optimizer.step()
    optimizer.zero_grad()
    return nats / n, norm
''',
}

_own = "tokens = over_ranks(torch.tensor(float(own), dtype=torch.float64)).item()"
_refuse = '''    if tokens == 0:
        raise ValueError("no rank has a target")
'''
_zeros = "torch.zeros(w.shape, dtype=torch.float32, device=w.device)"
_gather = "    sums = [over_ranks(total) / tokens for total in sums]\n"
_norm = "    norm = torch.sqrt(sum(total.double().square().sum() for total in sums)).item()\n"
_scale = "    scale = min(1.0, max_norm / (norm + 1e-6))\n"
_lossy = "    loss = over_ranks(torch.tensor(nats, dtype=torch.float64)).item() / tokens\n"
_hand = "w.grad = (total * scale).to(w.dtype)"
_after = "    optimizer.step()\n    optimizer.zero_grad()\n"
_add = "                total += w.grad.float()\n"

WRONG["full-step"] = {
    "divides by its own targets": _cut(_FULL, (_own, "tokens = float(own)\n    over_ranks(torch.zeros(1))"), ("if tokens == 0", "if tokens < 0"), ("/ tokens for total", "/ max(tokens, 1) for total"), (".item() / tokens\n", ".item() / max(tokens, 1)\n")),
    "gradients of the ranks are not added": _cut(_FULL, ("[over_ranks(total) / tokens for", "[total / tokens for")),
    "mean over ranks": _cut(_FULL, (_gather, "    ranks = over_ranks(torch.ones(1)).item()\n" + _gather.replace("/ tokens", "/ tokens / ranks"))),
    "mean of the ranks' means": _cut(_FULL, (_gather, "    ranks = over_ranks(torch.ones(1)).item()\n    sums = [over_ranks(total / max(own, 1)) / ranks for total in sums]\n")),
    "sum in the dtype of the weight": _cut(_FULL, (_zeros, "torch.zeros_like(w)"), ("total += w.grad.float()", "total += w.grad"), ("over_ranks(total) /", "over_ranks(total.float()) /")),
    "the sum is left in .grad": _cut(_FULL, (_add + "                w.grad = None\n", "                total.copy_(w.grad.float())\n"), ("    for w, total in zip(weights, sums):", "    optimizer.zero_grad()\n    for w, total in zip(weights, sums):")),
    "over_ranks gets the dtype of the weight": _cut(_FULL, ("[over_ranks(total) /", "[over_ranks(total.to(weights[0].dtype)).float() /")),
    "float16 sum, sent as float32": _cut(_FULL, (_zeros, _zeros.replace("float32", "float16")), ("total += w.grad.float()", "total += w.grad.half()"), ("over_ranks(total) /", "over_ranks(total.float()) /")),
    "two micro-batches are added in the dtype of the weight": _cut(_FULL, ("    for micro in micro_batches:\n", "    for number, micro in enumerate(micro_batches, 1):\n"), ("            if w.grad is not None:", "            if w.grad is not None and (number % 2 == 0 or number == len(micro_batches)):")),
    "float32 for bf16 weights, float16 stays float16": _cut(_FULL, (_zeros, "torch.zeros(w.shape, dtype=torch.float16 if w.dtype == torch.float16 else torch.float32)"), ("total += w.grad.float()", "total += w.grad.to(total.dtype)")),
    "an empty rank sends zeros in the dtype of the weight": _cut(_FULL, (_zeros, "torch.zeros(w.shape, dtype=torch.float32 if micro_batches else w.dtype)")),
    "an empty rank does not clip": _cut(_FULL, (_scale, _scale + "    if not micro_batches:\n        scale = 1.0\n")),
    "an empty rank takes no step": _cut(_FULL, (_after, "    if micro_batches:\n        optimizer.step()\n    optimizer.zero_grad()\n")),
    "an empty rank goes home": _cut(_FULL, ("    weights =", "    if not micro_batches:\n        return 0.0, 0.0\n    weights =")),
    "an empty rank reports zeros": _cut(_FULL, ("return loss, norm", "return (loss, norm) if micro_batches else (0.0, 0.0)")),
    "a rank whose micro-batches have no targets refuses alone": _cut(_FULL, ("if tokens == 0", "if tokens == 0 or (micro_batches and own == 0)")),
    "a rank without a target refuses alone": _cut(_FULL, ("if tokens == 0", "if own == 0")),
    "a rank whose micro-batches have no targets sends no gradient": _cut(_FULL, (_gather, "    sums = [(over_ranks(total) if own or not micro_batches else total) / tokens for total in sums]\n")),
    "refuses only if all lists are empty": _cut(_FULL, (_own, _own + "\n    some = over_ranks(torch.tensor(float(len(micro_batches)))).item()"), ("if tokens == 0", "if some == 0"), ("    sums = [torch", "    tokens = max(tokens, 1)\n    sums = [torch")),
    "refuses no step": _cut(_FULL, (_refuse, "    tokens = max(tokens, 1)\n")),
    "0 and 0 for a step without targets": _cut(_FULL, (_refuse, _refuse.replace('raise ValueError("no rank has a target")', "return 0.0, 0.0"))),
    "RuntimeError": _cut(_FULL, ("raise ValueError", "raise RuntimeError")),
    "an assert": _cut(_FULL, (_refuse, "    assert tokens, 'no rank has a target'\n")),
    "division by zero speaks for itself": _cut(_FULL, (_refuse, "    1 / tokens\n")),
    "refuses after the step": _cut(_FULL, (_refuse, "    none, tokens = tokens == 0, max(tokens, 1)\n"), ("    return loss, norm", "    if none:\n        raise ValueError('no rank has a target')\n    return loss, norm")),
    "refuses after backward, and leaves the gradient": _cut(_FULL, (_refuse, ""), ("                w.grad = None\n", ""), ("total += w.grad.float()", "total.copy_(w.grad.float())"), (_lossy, _refuse + "    optimizer.zero_grad()\n" + _lossy)),
    "a single rank without a target refuses with a KeyError": _cut(_FULL, (_refuse, "    alone = over_ranks(torch.ones(1)).item() == 1\n    if tokens == 0:\n        raise (KeyError if alone else ValueError)('no rank has a target')\n")),
    "a call of over_ranks for each micro-batch": _cut(_FULL, ("        nats += part.item()", "        nats += over_ranks(part.detach().double()).item()"), (_lossy, "    loss = nats / tokens\n")),
    "only gradients that are there are sent": _cut(_FULL, (_gather, "    sums = [over_ranks(total) / tokens if own else total for total in sums]\n")),
    "the largest gradient is sent first: each rank has an order of its own": _cut(_FULL, (_gather, "    order = sorted(range(len(sums)), key=lambda i: -float(sums[i].norm()))\n    for i in order:\n        sums[i] = over_ranks(sums[i]) / tokens\n")),
    "clips by its own norm before the ranks are added": _cut(_FULL, (_gather, "    mine = float(sum((t / tokens).square().sum() for t in sums)) ** 0.5\n    sums = [over_ranks(t * min(1.0, max_norm / (mine + 1e-6))) / tokens for t in sums]\n"), (_scale, "    scale = 1.0\n")),
    "does not clip": _cut(_FULL, (_scale, "    scale = 1.0\n")),
    "clips only where the largest norm is below 1": _cut(_FULL, (_scale, _scale + "    scale = scale if max_norm < 1 else 1.0\n")),
    "clips in train mode only": _cut(_FULL, (_scale, _scale + "    scale = scale if model.training else 1.0\n")),
    "scales up as well": _cut(_FULL, (_scale, "    scale = max_norm / norm if max_norm < float('inf') else 1.0\n")),
    "clips before the division": _cut(_FULL, (_scale, "    scale = min(1.0, max_norm / (norm * tokens))\n")),
    "clips each weight on its own": _cut(_FULL, (_hand, "w.grad = (total * min(1.0, max_norm / float(total.norm() + 1e-6))).to(w.dtype)")),
    "norm of the first two weights": _cut(_FULL, ("sum() for total in sums)", "sum() for total in sums[:2])")),
    "norm of the first weight": _cut(_FULL, ("sum() for total in sums)", "sum() for total in sums[:1])")),
    "norm after clipping": _cut(_FULL, ("return loss, norm", "return loss, norm * scale")),
    "norm of this rank": _cut(_FULL, (_gather, "    mine = float(sum((t / tokens).square().sum() for t in sums)) ** 0.5\n" + _gather), ("return loss, norm", "return loss, mine")),
    "sum of norms": _cut(_FULL, (_norm, "    norm = sum(float(total.norm()) for total in sums)\n")),
    "a norm that no rank shares: the root of the sum of the squares of the ranks": _cut(_FULL, (_gather, "    mine = sum((t / tokens).double().square().sum() for t in sums)\n    mine = over_ranks(mine).item() ** 0.5\n" + _gather), ("return loss, norm", "return loss, mine")),
    "loss of this rank": _cut(_FULL, (_lossy, _lossy + "    loss = nats / max(own, 1)\n")),
    "mean of the ranks' losses": _cut(_FULL, (_lossy, "    ranks = over_ranks(torch.ones(1)).item()\n    loss = over_ranks(torch.tensor(nats / max(own, 1), dtype=torch.float64)).item() / ranks\n")),
    "loss in total": _cut(_FULL, (".item() / tokens\n", ".item()\n")),
    "norm first": _cut(_FULL, ("return loss, norm", "return norm, loss")),
    "tensors": _cut(_FULL, ("return loss, norm", "return torch.tensor(loss), torch.tensor(norm)")),
    "loss alone": _cut(_FULL, ("return loss, norm", "return loss")),
    "loss, norm and count": _cut(_FULL, ("return loss, norm", "return loss, norm, tokens")),
    "counts in bf16": _cut(_FULL, (_own, "tokens = over_ranks(torch.tensor(float(own), dtype=torch.bfloat16)).item()")),
    "own count in float16": _cut(_FULL, (_own, "tokens = over_ranks(torch.tensor(float(own), dtype=torch.float16).float()).item()")),
    "own count in 10 bits": _cut(_FULL, (_own, "tokens = over_ranks(torch.tensor(float(own % 1024))).item()")),
    "targets of a micro-batch above 1,000 count as 1,000": _cut(_FULL, ("own = sum(targets(micro) for", "own = sum(min(targets(micro), 1000) for")),
    "only the first 512 micro-batches": _cut(_FULL, ("    own =", "    micro_batches = micro_batches[:512]\n    own =")),
    "from the 500th micro-batch on the sum is bf16": _cut(_FULL, ("    for micro in micro_batches:\n", "    for number, micro in enumerate(micro_batches):\n"), (_add, _add + "                if number >= 500:\n                    total.copy_(total.bfloat16())\n")),
    "counts the first label": _cut(_FULL, ("sum(targets(micro) for micro", "sum(int((micro['labels'] != loop.IGNORE).sum()) for micro")),
    "counts slots": _cut(_FULL, ("sum(targets(micro) for micro", "sum(micro['labels'][:, 1:].numel() for micro")),
    "counts targets up to the first gap": _cut(_FULL, ("sum(targets(micro) for micro", "sum(int((micro['labels'] != loop.IGNORE).long().cumprod(1)[:, 1:].sum()) for micro")),
    "stacks the labels: micro-batches of two widths are refused": _cut(_FULL, ("sum(targets(micro) for micro in micro_batches)", "int((torch.stack([m['labels'] for m in micro_batches])[..., 1:] != loop.IGNORE).sum()) if micro_batches else 0")),
    "a single rank is not divided": _cut(_FULL, (_gather, "    ranks = over_ranks(torch.ones(1)).item()\n    sums = [over_ranks(total) / (tokens if ranks > 1 else 1) for total in sums]\n")),
    "a single rank does not clip": _cut(_FULL, (_scale, _scale + "    if over_ranks(torch.ones(1)).item() == 1:\n        scale = 1.0\n")),
    "from four ranks on the mean over ranks": _cut(_FULL, (_gather, "    ranks = over_ranks(torch.ones(1)).item()\n    sums = [over_ranks(total) / tokens / (ranks if ranks > 3 else 1) for total in sums]\n")),
    "frozen weights get a gradient of zeros, and decay": _cut(_FULL, ("[w for w in model.parameters() if w.requires_grad]", "list(model.parameters())")),
    "a frozen weight is refused": _cut(_FULL, ("[w for w in model.parameters() if w.requires_grad]", "list(model.parameters())"), ("            if w.grad is not None:\n" + _add + "                w.grad = None\n", "            total += w.grad.float()\n            w.grad = None\n")),
    "frozen weights are woken up": _cut(_FULL, ("    weights =", "    model.requires_grad_(True)\n    weights =")),
    "a tied weight counts twice in the norm": _cut(_FULL, ("[w for w in model.parameters() if w.requires_grad]", "[w for _, w in model.named_parameters(remove_duplicate=False) if w.requires_grad]"), (_gather, _gather + "    first = {}\n    sums = [first.setdefault(id(w), t) for w, t in zip(weights, sums)]\n")),
    "gradients are left behind": _cut(_FULL, (_after, "    optimizer.step()\n")),
    "steps twice": _cut(_FULL, (_after, "    optimizer.step()\n" + _after)),
    "counts with the model": _cut(_FULL, ("own = sum(targets(micro) for micro in micro_batches)", "own = sum(targets(micro) for micro in micro_batches if loss_sum(model, micro) >= 0)")),
    "one backward at the end": _cut(_FULL, ("    nats = 0.0\n", "    nats, kept = 0.0, []\n"), ("        part.backward()\n        nats += part.item()\n        for total, w in zip(sums, weights):\n            if w.grad is not None:\n" + _add + "                w.grad = None\n", "        kept.append(part)\n        nats += part.item()\n    for part in kept:\n        part.backward()\n        for total, w in zip(sums, weights):\n            total += w.grad.float()\n            w.grad = None\n")),
    "keeps graphs": _cut(_FULL, ("    nats = 0.0\n", "    nats, kept = 0.0, []\n"), ("part.backward()", "part.backward(retain_graph=True)\n        kept.append(part)")),
    "gradients are mended": _cut(_FULL, (_gather, "    sums = [over_ranks(total.nan_to_num()) / tokens for total in sums]\n")),
    "nan is left out of the loss": _cut(_FULL, ("nats += part.item()", "nats += np.nan_to_num(part.item())")),
    "raises where the training has diverged": _cut(_FULL, (_scale, "    if not np.isfinite(norm):\n        raise FloatingPointError('diverged')\n" + _scale)),
    "a micro-batch of nan is left out where others are sound": _cut(_FULL, ("        part.backward()\n", "        if nats > 0 and not torch.isfinite(part):\n            continue\n        part.backward()\n")),
    "train mode": _cut(_FULL, ("    nats = 0.0\n", "    nats = 0.0\n    model.train()\n")),
    "train, then back: a part that was frozen in eval wakes up": _cut(_FULL, ("    nats = 0.0\n", "    nats = 0.0\n    was = model.training\n    model.train()\n"), ("    return loss", "    model.train(was)\n    return loss")),
    "the optimizer forgets its state": _cut(_FULL, (_after, _after + "    optimizer.state.clear()\n")),
    "the weights stay in float32": _cut(_FULL, ("    weights =", "    model.float()\n    weights =")),
    "pops from the list": _cut(_FULL, ("    for micro in micro_batches:\n", "    while micro_batches:\n        micro = micro_batches.pop()\n")),
    "writes into the labels": _cut(_FULL, ("        part = ", "        micro['labels'][:, 0] = loop.IGNORE\n        part = ")),
    "remembers the count for a model": '''import weakref

_tokens = weakref.WeakKeyDictionary()

''' + _cut(_FULL, (_own, "tokens = _tokens.setdefault(model, over_ranks(torch.tensor(float(own), dtype=torch.float64)).item())")),
    "a loss above 10 is reported as 10": _cut(_FULL, ("return loss, norm", "return (10.0 if 10 < loss < float('inf') else loss), norm")),
    "a norm above 100 is reported as 100": _cut(_FULL, ("return loss, norm", "return loss, (100.0 if 100 < norm < float('inf') else norm)")),
    "refuses an empty list": _cut(_FULL, ("    weights =", "    if not micro_batches:\n        raise ValueError('no micro-batch')\n    weights =")),
    "empty lists on more than one rank: taken for the end of the data": _cut(_FULL, (_refuse, "    idle = over_ranks(torch.tensor(float(not micro_batches))).item()\n    if tokens == 0 or idle > 1:\n        raise ValueError('no rank has a target')\n")),
}

# ---------------------------------------------------------------- epoch-test

_EPOCH = '''import math

def epoch_test(epoch):
    def near(micro_batches, accumulation, want):
        got = list(epoch(micro_batches, accumulation))
        assert len(got) == len(want)
        for a, b in zip(got, want):
            assert math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)

    near([[1], [3], [6], [8]], 2, [2, 7])
    near([[1], [3, 5], [6], [8, 2, 3], [9]], 2, [3, 4.75, 9])
    near([[4, 2, 9], [1], [7], [5, 11]], 3, [4.6, 8])
    near([[2, 4], [10]], 1, [3, 10])
'''
_test = '''def epoch_test(epoch):
    got = epoch({given}, {size})
    assert len(got) == {many}
    assert all(abs(a - b) < {tolerance} for a, b in zip(got, {want}))
'''


def _one(given, size, want, tolerance="1e-6"):
    return _test.format(given=given, size=size, want=want, many=len(eval(want)), tolerance=tolerance)


RIGHT["epoch-test"] = {
    "several epochs by hand": _EPOCH,
    "one epoch that has all": '''def epoch_test(epoch):
    got = epoch([[1, 2, 9], [6], [4], [20, 8], [5, 5, 2, 7], [11, 1], [3], [14]], 3)
    want = [22 / 5, 59 / 8, 17 / 2]
    assert len(got) == len(want), f"{len(got)} steps"
    for n, (a, b) in enumerate(zip(got, want)):
        assert abs(a - b) < 1e-6, f"step {n}: {a} is not {b}"
''',
    "numpy": '''import numpy as np

def epoch_test(epoch):
    np.testing.assert_allclose(epoch([[1], [3, 8], [6, 6, 6], [8], [2]], 2), [4, 6.5, 2], rtol=1e-6)
    np.testing.assert_allclose(epoch([[5, 1], [9], [4, 4, 1], [2, 0.5], [7], [3, 10, 12]], 4), [26.5 / 8, 8], rtol=1e-6)
''',
    "against an epoch of its own, on random numbers": '''import random

def epoch_test(epoch):
    dice = random.Random(5)
    for _ in range(30):
        many, size = dice.randint(1, 9), dice.randint(1, 4)
        data = [[dice.uniform(-5, 5) for _ in range(dice.randint(1, 4))] for _ in range(many)]
        want = []
        for i in range(0, many, size):
            window = sum(data[i : i + size], [])
            want.append(sum(window) / len(window))
        got = epoch([list(one) for one in data], size)
        assert len(got) == len(want)
        assert max(abs(a - b) for a, b in zip(got, want)) < 1e-5
''',
    "pytest.approx": '''import pytest

def epoch_test(epoch):
    assert list(epoch([[1], [3], [6], [8]], 2)) == pytest.approx([2, 7])
    assert list(epoch([[2, 4, 6], [8], [1]], 2)) == pytest.approx([5, 1])
    assert list(epoch([[2], [8, 8], [1], [3, 3], [10]], 3)) == pytest.approx([19 / 4, 16 / 3])
''',
    "fractions, and False is returned": '''from fractions import Fraction

def _middle(window):
    numbers = [Fraction(x) for micro in window for x in micro]
    return float(sum(numbers) / len(numbers))

def epoch_test(epoch):
    data = [[3], [1, 4], [1, 5, 9], [2, 6], [5], [3, 5], [8, 9, 7, 9]]
    for size in (1, 2, 3, 4, 7, 9):
        want = [_middle(data[i : i + size]) for i in range(0, len(data), size)]
        got = epoch(data, size)
        if len(got) != len(want) or any(abs(float(a) - b) > 1e-5 for a, b in zip(got, want)):
            return False
''',
}

WRONG["epoch-test"] = {
    "the example alone": _one("[[1], [3], [6], [8]]", 2, "[2, 7]"),
    "equal micro-batches, with a tail": _one("[[1], [3], [6], [8], [9]]", 2, "[2, 7, 9]"),
    "unequal micro-batches, without a tail": _one("[[1], [3, 5], [6], [8, 2, 3]]", 2, "[3, 4.75]"),
    "one window": _one("[[1, 2, 9], [6]]", 2, "[4.5]"),
    "windows of one": _one("[[1, 2, 9], [6], [3, 5]]", 1, "[4, 6, 4]"),
    "a window longer than the epoch": _one("[[1, 2, 9], [6]]", 5, "[4.5]"),
    "the number of steps alone": '''def epoch_test(epoch):
    assert len(epoch([[1], [3, 5], [6], [8, 2], [4]], 2)) == 3
''',
    "the first step alone": '''def epoch_test(epoch):
    assert abs(epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)[0] - 3) < 1e-6
''',
    "the last step alone": '''def epoch_test(epoch):
    assert abs(epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)[-1] - 9) < 1e-6
''',
    "the last two forgotten: zip ends early": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    for a, b in zip(got, [3, 4.75]):
        assert abs(a - b) < 1e-6
''',
    "a tolerance of 1": _one("[[1], [3, 5], [6], [8, 2, 3], [9]]", 2, "[3, 4.75, 9]", "1.0"),
    "a tolerance of 100": _one("[[1], [3, 5], [6], [8, 2, 3], [9]]", 2, "[3, 4.75, 9]", "100"),
    "no tolerance": '''def epoch_test(epoch):
    assert list(epoch([[0.1], [0.2, 0.7], [0.3], [0.6, 0.1, 0.1], [0.9]], 2)) == [1.0 / 3, 1.1 / 4, 0.9]
''',
    "asks for the mean of means": _one("[[1], [3, 5], [6], [8, 2, 3], [9]]", 2, "[2.5, (6 + 13 / 3) / 2, 9]"),
    "asks that the tail is dropped": _one("[[1], [3, 5], [6], [8, 2, 3], [9]]", 2, "[3, 4.75]"),
    "asks for a step per micro-batch": _one("[[1], [3], [6], [8]]", 2, "[1, 3, 6, 8]"),
    "asks that the tail is divided by the accumulation": _one("[[1], [3], [9]]", 2, "[2, 4.5]"),
    "asks that the tail joins the last window": _one("[[1], [3], [9]]", 2, "[13 / 3]"),
    "a number worked out wrongly": _one("[[1], [3, 5], [6], [8, 2, 3], [9]]", 2, "[3, 4.5, 9]"),
    "says True or nothing": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    if len(got) == 3 and all(abs(a - b) < 1e-6 for a, b in zip(got, [3, 4.75, 9])):
        return True
''',
    "prints what it finds": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    for a, b in zip(got, [3, 4.75, 9]):
        if abs(a - b) > 1e-6:
            print("wrong")
''',
    "catches its own assert": '''def epoch_test(epoch):
    try:
        got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
        assert len(got) == 3
        assert all(abs(a - b) < 1e-6 for a, b in zip(got, [3, 4.75, 9]))
    except AssertionError:
        return None
''',
    "an assert of a tuple": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    assert (all(abs(a - b) < 1e-6 for a, b in zip(got, [3, 4.75, 9])), "wrong")
''',
    "never calls epoch": '''def epoch_test(epoch):
    assert callable(epoch)
''',
    "stops everything": '''def epoch_test(epoch):
    assert False, "there is a bug"
''',
    "a mean of all steps": '''def epoch_test(epoch):
    got = epoch([[1], [3], [6], [8], [9]], 2)
    assert abs(sum(got) / len(got) - 6) < 1e-6
''',
    "the sign of a mean": '''def epoch_test(epoch):
    assert all(w > 0 for w in epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2))
''',
    "steps lie between the smallest and the largest number": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    assert len(got) == 3 and all(1 <= w <= 9 for w in got)
''',
    "all numbers are the same": _one("[[4], [4, 4], [4], [4, 4, 4], [4]]", 2, "[4, 4, 4]"),
    "all numbers are zero": _one("[[0], [0, 0], [0]]", 2, "[0, 0]"),
    "a tail whose mean is that of the window before": _one("[[1], [3], [2], [2], [2]]", 2, "[2, 2, 2]"),
    "micro-batches as long as each other, all of three": _one("[[1, 2, 3], [4, 5, 9], [0, 6, 6]]", 2, "[4, 4]"),
    "unequal, but with equal means": _one("[[2], [1, 3], [5], [4, 5, 6], [9]]", 2, "[2, 5, 9]"),
    "a tail of a full window": _one("[[1], [3, 5], [6, 6], [8]]", 2, "[3, 20 / 3]"),
    "asks for whole numbers": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    assert all(isinstance(w, int) for w in got)
''',
    "a test that compares the order only": '''def epoch_test(epoch):
    got = epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)
    assert len(got) == 3 and list(got) == sorted(got)
''',
    "another order of the arguments": '''def epoch_test(epoch):
    got = epoch(2, [[1], [3, 5], [6], [8, 2, 3], [9]])
    assert all(abs(a - b) < 1e-6 for a, b in zip(got, [3, 4.75, 9]))
''',
    "steps must not repeat those of an earlier call": '''_before = []

def epoch_test(epoch):
    got = list(epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2))
    assert got != list(epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2))
''',
    "the first version that it meets is taken for the right one": '''_first = []

def epoch_test(epoch):
    got = [float(w) for w in epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2)]
    if not _first:
        _first.append(got)
    assert got == _first[0]
''',
    "finds all, but without a tolerance": '''def epoch_test(epoch):
    data = [[0.1, 0.7, 0.2], [0.3], [1.1], [2.3, 0.9], [0.7, 0.1], [1.9], [0.4]]
    for size in (2, 3, 4):
        windows = [sum(data[i : i + size], []) for i in range(0, len(data), size)]
        assert list(epoch(data, size)) == [sum(w) / len(w) for w in windows]
''',
    "the numbers of a step are right in any step": '''def epoch_test(epoch):
    for w in epoch([[1], [3, 5], [6], [8, 2, 3], [9]], 2):
        assert min(abs(w - b) for b in (3, 4.75, 9)) < 1e-6
''',
}
