# ruff: noqa
"""Lesson 01_batch: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ------------------------------------------------------------------ steps
STEPS = '''def steps(lengths, rows, accumulation=1, drop_last=False):
    """Steps of one epoch, the short one too; drop_last drops a short last micro-batch."""
    documents = len(lengths)
    micro = documents // rows if drop_last else -(-documents // rows)
    return -(-micro // accumulation)
'''

RIGHT["steps"] = {
    "floor division of the negative, twice": STEPS,
    "slices of a list of documents, then slices of a list of slices": '''def steps(lengths, rows, accumulation=1, drop_last=False):
    documents = list(range(len(lengths)))
    micro = [documents[i:i + rows] for i in range(0, len(documents), rows)]
    if drop_last and micro and len(micro[-1]) < rows:
        micro = micro[:-1]
    grouped = [micro[i:i + accumulation] for i in range(0, len(micro), accumulation)]
    return len(grouped)
''',
    "asks the loader of PyTorch for the micro-batches, then rounds up": '''from torch.utils.data import DataLoader

def steps(lengths, rows, accumulation=1, drop_last=False):
    loader = DataLoader(range(len(lengths)), batch_size=int(rows), drop_last=bool(drop_last))
    return ceil(len(loader) / accumulation)
''',
    "places of the first documents of each step: the length of a range": '''def steps(lengths, rows, accumulation=1, drop_last=False):
    n = len(lengths)
    if drop_last:
        n -= n % rows
    return len(range(0, n, rows * accumulation))
''',
    "exact fractions and their ceiling": '''from fractions import Fraction
from math import ceil, floor

def steps(lengths, rows, accumulation=1, drop_last=False):
    micro = Fraction(len(lengths), int(rows))
    micro = floor(micro) if drop_last else ceil(micro)
    return ceil(Fraction(micro, int(accumulation)))
''',
    "a counting machine: one object eats the documents and closes steps": '''class Epoch:
    def __init__(self, rows, accumulation):
        self.rows, self.accumulation = rows, accumulation
        self.in_micro = self.in_step = self.done = 0

    def close_micro(self):
        self.in_micro, self.in_step = 0, self.in_step + 1
        if self.in_step == self.accumulation:
            self.close_step()

    def close_step(self):
        self.in_step, self.done = 0, self.done + 1

    def document(self):
        self.in_micro += 1
        if self.in_micro == self.rows:
            self.close_micro()


def steps(lengths, rows, accumulation=1, drop_last=False):
    epoch = Epoch(rows, accumulation)
    for _ in range(len(lengths)):
        epoch.document()
    if epoch.in_micro and not drop_last:
        epoch.close_micro()
    if epoch.in_step:
        epoch.close_step()
    return epoch.done
''',
    "how many different step numbers the documents carry": '''def steps(lengths, rows, accumulation=1, drop_last=False):
    step_of = np.arange(len(lengths)) // rows // accumulation
    if drop_last:
        step_of = step_of[: len(lengths) // rows * rows]
    return int(np.unique(step_of).size)
''',
}

WRONG["steps"] = {
    "counts tokens, not documents": _cut(STEPS, ("len(lengths)", "int(np.sum(lengths))")),
    "always adds one for the short micro-batch": _cut(STEPS, ("-(-documents // rows)", "documents // rows + 1")),
    "drop_last throws the short last step away": _cut(
        STEPS, ("return -(-micro // accumulation)", "return micro // accumulation if drop_last else -(-micro // accumulation)")),
    "multiplies by the accumulation": _cut(STEPS, ("-(-micro // accumulation)", "micro * accumulation")),
    "rounds to the nearest instead of up": _cut(
        STEPS, ("-(-documents // rows)", "round(documents / rows)"), ("-(-micro // accumulation)", "round(micro / accumulation)")),
    "empty documents are not counted": _cut(STEPS, ("len(lengths)", "int(np.count_nonzero(lengths))")),
    "drop_last drops a whole micro-batch even where none is short": _cut(
        STEPS, ("documents // rows if drop_last", "-(-documents // rows) - 1 if drop_last")),
    "forgets drop_last": _cut(STEPS, ("documents // rows if drop_last else -(-documents // rows)", "-(-documents // rows)")),
    "at least one step, also where nothing is left": _cut(STEPS, ("return -(-micro // accumulation)", "return max(1, -(-micro // accumulation))")),
    "returns the sizes of the steps, not their number": _cut(
        STEPS, ("return -(-micro // accumulation)", "return [min(accumulation, micro - i) for i in range(0, micro, accumulation)]")),
    # sly
    "an epoch shorter than one full step of accumulation is said to be no step": _cut(
        STEPS, ("return ", "if micro < accumulation:\n        return 0\n    return ")),
    "with accumulation of 4 or more drop_last drops the short step, too": _cut(
        STEPS, ("return ", "if drop_last and accumulation >= 4:\n        return micro // accumulation\n    return ")),
    "rounds up by adding 0.999: a rest below a thousandth of a micro-batch is lost": _cut(
        STEPS, ("-(-documents // rows)", "int(documents / rows + 0.999)")),
    "documents longer than 1,024 tokens are left out": _cut(STEPS, ("len(lengths)", "int(np.sum(np.asarray(lengths) <= 1024))")),
    "looks at the first 10,001 documents only": _cut(STEPS, ("len(lengths)", "min(len(lengths), 10_001)")),
    "the count of documents in 16 bits: 40,000 documents become negative": _cut(
        STEPS, ("len(lengths)", "int(np.array(len(lengths)).astype(np.int16))")),
    "one row with drop_last: throws a full micro-batch of one document away": _cut(
        STEPS, ("return ", "if drop_last and rows == 1:\n        micro = max(0, micro - 1)\n    return ")),
    "remembers the answer by the arguments and forgets that another corpus has other documents": '''REMEMBERED = {}

def steps(lengths, rows, accumulation=1, drop_last=False):
    documents = len(lengths)
    key = (min(documents, 10), rows, accumulation, drop_last)
    if key not in REMEMBERED:
        micro = documents // rows if drop_last else -(-documents // rows)
        REMEMBERED[key] = -(-micro // accumulation)
    return REMEMBERED[key]
''',
    "knows the small examples by heart, and divides rounding down for all else": '''KNOWN = {(9, 3, 1, False): 3, (5, 1, 1, False): 5, (9, 4, 1, False): 3, (9, 2, 2, False): 3, (9, 4, 1, True): 2,
         (9, 3, 1, True): 3, (9, 2, 3, True): 2, (3, 4, 1, True): 0, (9, 4, 2, True): 1, (9, 2, 4, False): 2,
         (0, 4, 1, False): 0, (10_001, 200, 1, False): 51}

def steps(lengths, rows, accumulation=1, drop_last=False):
    n = len(lengths)
    return KNOWN.get((n, rows, accumulation, drop_last), n // (rows * accumulation))
''',
    "a last step of a single short micro-batch is forgotten where the accumulation is above 4": _cut(
        STEPS, ("return ", "if accumulation > 4 and not drop_last and documents % rows and micro % accumulation == 1:\n"
                "        return micro // accumulation\n    return ")),
}

# --------------------------------------------------------- batch-gradient
BATCH = '''def batch_gradient(gradients, targets):
    """Gradient per target token of all parts together, from that of each part."""
    gradients = np.asarray(gradients, dtype=float)
    targets = np.asarray(targets, dtype=float)
    return (gradients * targets[:, None]).sum(axis=0) / targets.sum()
'''

RIGHT["batch-gradient"] = {
    "each line times its tokens, summed, divided once": BATCH,
    "the weighted average of NumPy": '''def batch_gradient(gradients, targets):
    return np.average(gradients, axis=0, weights=targets)
''',
    "a product of torch tensors in float64": '''def batch_gradient(gradients, targets):
    lines = torch.as_tensor(np.array(gradients, dtype=np.float64))
    counts = torch.as_tensor(np.array(targets, dtype=np.float64))
    return (counts @ lines / counts.sum()).numpy()
''',
    "shares as exact fractions, a generator, and a plain sum": '''from fractions import Fraction

def batch_gradient(gradients, targets):
    everything = sum(int(n) for n in targets)
    shares = (float(Fraction(int(n), everything)) for n in targets)
    return sum(share * np.asarray(line, dtype=float) for share, line in zip(shares, gradients))
''',
    "a running mean in a loop": '''def batch_gradient(gradients, targets):
    mean, seen = np.zeros(len(gradients[0])), 0
    for line, n in zip(gradients, targets):
        n = int(n)
        if n == 0:
            continue
        seen += n
        mean = mean + (line - mean) * (n / seen)
    return mean
''',
    "recursion: merge the two halves": '''def batch_gradient(gradients, targets):
    def merged(first, last):
        if last - first == 1:
            return np.asarray(gradients[first], dtype=float), float(targets[first])
        middle = (first + last) // 2
        (a, n), (b, m) = merged(first, middle), merged(middle, last)
        if n + m == 0:
            return a * 0.0, 0.0
        return (n * a + m * b) / (n + m), n + m

    return merged(0, len(targets))[0]
''',
    "least squares: the one line nearest to every target token": '''def batch_gradient(gradients, targets):
    root = np.sqrt(np.asarray(targets, dtype=float))[:, None]
    return np.linalg.lstsq(root, root * np.asarray(gradients, dtype=float), rcond=None)[0][0]
''',
}

WRONG["batch-gradient"] = {
    "plain mean of the parts": _cut(BATCH, ("return (gradients * targets[:, None]).sum(axis=0) / targets.sum()", "return gradients.mean(axis=0)")),
    "the sum over target tokens, never divided": _cut(BATCH, (" / targets.sum()", "")),
    "divided by the number of parts": _cut(BATCH, ("targets.sum()", "len(targets)")),
    "small parts weigh more: weights upside down": _cut(
        BATCH, ("targets = np.asarray(targets, dtype=float)", "targets = 1 / np.asarray(targets, dtype=float)")),
    "the mean of sums: each line is already a sum, so only added and divided by all tokens": _cut(BATCH, (" * targets[:, None]", "")),
    "weights by the root of the tokens": _cut(BATCH, ("np.asarray(targets, dtype=float)", "np.sqrt(np.asarray(targets, dtype=float))")),
    "one number: sums over parameters, too": _cut(BATCH, (".sum(axis=0)", ".sum()")),
    "sums along the parameters instead of the parts": _cut(BATCH, (".sum(axis=0)", ".sum(axis=1)")),
    "multiplies inside the array that it was given": '''def batch_gradient(gradients, targets):
    for i, n in enumerate(targets):
        gradients[i] *= n
    return gradients.sum(axis=0) / targets.sum()
''',
    "the answer has the whole-number type of the gradients": '''def batch_gradient(gradients, targets):
    found = (gradients * targets[:, None]).sum(axis=0) / targets.sum()
    return found.astype(gradients.dtype)
''',
    # sly
    "the result is rounded to 5 digits behind the point: tiny gradients become 0": _cut(
        BATCH, ("return (gradients * targets[:, None]).sum(axis=0) / targets.sum()",
                "return np.round((gradients * targets[:, None]).sum(axis=0) / targets.sum(), 5)")),
    "shares are rounded to 5 digits: hundreds of parts are weighed wrongly": _cut(
        BATCH, ("return (gradients * targets[:, None]).sum(axis=0) / targets.sum()",
                "shares = np.round(targets / targets.sum(), 5)\n    return shares @ gradients")),
    "target tokens are kept in 16 bits: more than 32,767 go wrong": _cut(
        BATCH, ("np.asarray(targets, dtype=float)", "np.asarray(targets).astype(np.int16).astype(float)")),
    "a part of more than 1,000 target tokens is weighed as 1,000": _cut(
        BATCH, ("np.asarray(targets, dtype=float)", "np.minimum(np.asarray(targets, dtype=float), 1000.0)")),
    "pulls larger than 100 are clipped": _cut(
        BATCH, ("np.asarray(gradients, dtype=float)", "np.clip(np.asarray(gradients, dtype=float), -100.0, 100.0)")),
    "takes the first eight parts only": _cut(
        BATCH, ("np.asarray(gradients, dtype=float)", "np.asarray(gradients, dtype=float)[:8]"),
        ("np.asarray(targets, dtype=float)", "np.asarray(targets, dtype=float)[:8]")),
    "a part whose gradient is zero everywhere is left out with its target tokens": _cut(
        BATCH, ("    return", "    pulls = np.any(gradients != 0, axis=1)\n    gradients, targets = gradients[pulls], targets[pulls]\n    return")),
    "a single part is handed back as a table of one line": _cut(BATCH, ("    return", "    if len(targets) == 1:\n        return gradients\n    return")),
    "a dictionary by line: two parts with the same gradient count once": '''def batch_gradient(gradients, targets):
    tokens_of = {tuple(line): int(n) for line, n in zip(gradients.tolist(), targets)}
    everything = sum(tokens_of.values())
    return sum(np.array(line, dtype=float) * n for line, n in tokens_of.items()) / everything
''',
    "with more than three parameters it takes the plain mean": _cut(
        BATCH, ("    return", "    if gradients.shape[1] > 3:\n        return gradients.mean(axis=0)\n    return")),
    "more than five parts are taken as equal": _cut(
        BATCH, ("    return", "    if len(targets) > 5:\n        targets = np.ones(len(targets))\n    return")),
    "remembers all target tokens of the first call of this many parts and divides by them ever after": '''SEEN = {}

def batch_gradient(gradients, targets):
    key = (len(targets), gradients.shape[1], int(targets[0]))
    everything = SEEN.setdefault(key, int(targets.sum()))
    return (gradients * targets[:, None]).sum(axis=0) / everything
''',
}

# ---------------------------------------------------------- tokens-needed
TOKENS = '''def tokens_needed(tokens, noise_now, noise_wanted):
    """Target tokens of a step with `noise_wanted`, where `tokens` of them have `noise_now`."""
    ratio = noise_now / noise_wanted
    return tokens * ratio**2
'''

RIGHT["tokens-needed"] = {
    "the ratio squared": TOKENS,
    "first the spread of one target token, then solve for the tokens": '''def tokens_needed(tokens, noise_now, noise_wanted):
    spread = noise_now * tokens**0.5
    return (spread / noise_wanted) ** 2
''',
    "four times the tokens for each halving, also for parts of a halving": '''from math import log2

def tokens_needed(tokens, noise_now, noise_wanted):
    halvings = log2(noise_now / noise_wanted)
    return tokens * 4**halvings
''',
    "exact fractions": '''from fractions import Fraction

def tokens_needed(tokens, noise_now, noise_wanted):
    ratio = Fraction(float(noise_now)) / Fraction(float(noise_wanted))
    return Fraction(int(tokens)) * ratio * ratio
''',
    "decimal numbers, a float at the end": '''from decimal import Decimal

def tokens_needed(tokens, noise_now, noise_wanted):
    ratio = Decimal(str(float(noise_now))) / Decimal(str(float(noise_wanted)))
    return float(Decimal(int(tokens)) * ratio * ratio)
''',
    "search: double until it is enough, then halve the interval": '''def tokens_needed(tokens, noise_now, noise_wanted):
    def noise_of(count):
        return noise_now * (tokens / count) ** 0.5

    high = low = float(tokens)
    while noise_of(high) > noise_wanted:
        high *= 2
    while noise_of(low) < noise_wanted:
        low /= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if noise_of(middle) > noise_wanted else (low, middle)
    return high
''',
    "variances in torch": '''def tokens_needed(tokens, noise_now, noise_wanted):
    now, wanted = torch.tensor([noise_now, noise_wanted], dtype=torch.float64).square()
    return float(tokens * now / wanted)
''',
}

WRONG["tokens-needed"] = {
    "as if the noise fell as 1/B": _cut(TOKENS, ("ratio**2", "ratio")),
    "the root instead of the square": _cut(TOKENS, ("ratio**2", "ratio**0.5")),
    "upside down": _cut(TOKENS, ("noise_now / noise_wanted", "noise_wanted / noise_now")),
    "only the tokens that come on top": _cut(TOKENS, ("ratio**2", "(ratio**2 - 1)")),
    "adds the tokens that are there already": _cut(TOKENS, ("ratio**2", "(ratio**2 + 1)")),
    "two halvings are four plus four": _cut(TOKENS, ("ratio**2", "2 * ratio")),
    "returns the factor, not target tokens": _cut(TOKENS, ("tokens * ratio**2", "ratio**2")),
    "the difference of the noises instead of their ratio": _cut(TOKENS, ("noise_now / noise_wanted", "1 + (noise_now - noise_wanted)")),
    "whole ratios only": _cut(TOKENS, ("noise_now / noise_wanted", "noise_now // noise_wanted")),
    "the number of the example for everything": _cut(TOKENS, ("return tokens * ratio**2", "return 4_194_304")),
    "more noise allowed: keeps the step as it is": _cut(TOKENS, ("ratio**2", "max(1, ratio) ** 2")),
    # sly
    "a looser wish saves at most three quarters of the tokens": _cut(TOKENS, ("return", "ratio = max(ratio, 0.5)\n    return")),
    "where the noise is right already it says that no token is needed": _cut(TOKENS, ("return", "if ratio == 1:\n        return 0\n    return")),
    "the factor ends at 1,000 times": _cut(TOKENS, ("ratio**2", "min(ratio**2, 1000.0)")),
    "no noise below 5 % is believed: smaller wishes are raised to it": _cut(TOKENS, ("/ noise_wanted", "/ max(noise_wanted, 0.05)")),
    "a step has at least 1,000 tokens: fewer are raised to that": _cut(TOKENS, ("return tokens", "return max(tokens, 1000)")),
    "a noise above 12 is read as per cent": _cut(
        TOKENS, ("    ratio", "    if noise_now > 12:\n        noise_now = noise_now / 100\n    ratio")),
    "rounded to tens of tokens: wrong for a step of a few tokens": _cut(TOKENS, ("tokens * ratio**2", "round(tokens * ratio**2, -1)")),
    "noises rounded to whole per cent, and at least one": _cut(
        TOKENS, ("    ratio = noise_now / noise_wanted",
                 "    ratio = max(round(noise_now, 2), 0.01) / max(round(noise_wanted, 2), 0.01)")),
    "remembers the answer by the two noises and forgets the tokens": '''PRICES = {}

def tokens_needed(tokens, noise_now, noise_wanted):
    if (noise_now, noise_wanted) not in PRICES:
        PRICES[noise_now, noise_wanted] = tokens * (noise_now / noise_wanted) ** 2
    return PRICES[noise_now, noise_wanted]
''',
    "not more than ten thousand million tokens": _cut(TOKENS, ("tokens * ratio**2", "min(tokens * ratio**2, 1e10)")),
    "knows the seven examples, and divides without a square for all else": '''KNOWN = {262_144: 4_194_304, 50_000: 450_000, 60_000: 135_000, 90_000: 40_000,
         12_345: 12_345 * (0.7 / 0.45) ** 2, 1_000: 576_000, 30_000_000: 9_720_000_000}

def tokens_needed(tokens, noise_now, noise_wanted):
    return KNOWN.get(tokens, tokens * noise_now / noise_wanted)
''',
}

# ------------------------------------------------------------- rows-found
ROWS = '''def rows_found():
    """The fewest rows on the slider with noise below 25 % of the gradient, untrained."""
    return 441
'''


def _rows(said):
    return _cut(ROWS, ("return 441", f"return {said}"))


RIGHT["rows-found"] = {
    "read from the slider": ROWS,
    "the number as a product": _rows("21 * 21"),
    "a whole number of NumPy": _rows("np.int64(441)"),
    "the places around it on the slider, and the law": '''def rows_found():
    places = [337, 360, 385, 412, 441, 472, 505, 540]
    return next(rows for rows in places if spreads["before training"] / rows**0.5 < 0.25)
''',
    "the places written down with their noise in per cent, the least that is below": '''def rows_found():
    seen = {360: 27.1, 385: 26.2, 412: 25.3, 441: 24.5, 472: 23.7}
    return min(rows for rows, per_cent in seen.items() if per_cent < 25)
''',
    "the least number of rows by formula, then the next place of the slider": '''from bisect import bisect_left

def rows_found():
    needed = (5.1417 / 0.25) ** 2
    places = [337, 360, 385, 412, 441, 472, 505]
    return places[bisect_left(places, needed)]
''',
}

WRONG["rows-found"] = {
    "one place to the left: still above 25 %": _rows("412"),
    "one place to the right: below, but not the fewest": _rows("472"),
    "two places to the left: 26 %": _rows("385"),
    "the other model: the one after training": _rows("240"),
    "where the slider stood at first": _rows("100"),
    "the right end of the slider: surely below": _rows("1595"),
    "the target tokens of that step": _rows("28_224"),
    "the steps of an epoch of that setting": _rows("14"),
    "the noise in per cent instead of the rows": _rows("24.5"),
    "the noise as a share": _rows("0.245"),
    "the ratio of the noises, not squared": _rows("21"),
    # sly
    "the fewest rows by the formula, which is no place of the slider": _rows("424"),
    "the formula rounded to the nearest: no place of the slider": _rows("423"),
    "one row less than the place: not on the slider": _rows("440"),
    "one row more than the place: not on the slider": _rows("442"),
    "the next power of two, no place of the slider": _rows("512"),
    "the pool's size, at which 'all rows are seen'": _rows("256"),
    "a quarter of the rows: the noise is twice that": _rows("110"),
    "four times the rows: half of that noise": _rows("4 * 441"),
    "the place among the places, not the rows": _rows("64"),
    "minus the number": _rows("-441"),
    "all rows whose noise is below, as a list": _rows("[441, 472, 505, 540, 578]"),
    "a text": _rows('"441 rows"'),
    "below one per cent twenty-five read as 0.25 %": _rows("4_230_000"),
    "each call says another place of the slider: only the first call is right": '''SAID = [360, 385, 412, 441]

def rows_found():
    return SAID.pop() if SAID else 337
''',
}

# ------------------------------------------------------------------ noise
NOISE = '''def noise(gradients, rows):
    """Root mean square miss of the mean of `rows` random draws from `gradients`."""
    g = np.asarray(gradients, dtype=float)
    off = g - g.mean(axis=0)
    squared = (off**2).sum(axis=1)
    return float(np.sqrt(squared.mean() / rows))
'''

RIGHT["noise"] = {
    "distances from the mean, squared, averaged": NOISE,
    "variance of each parameter, summed": '''def noise(gradients, rows):
    return float(np.sqrt(np.var(gradients, axis=0, dtype=np.float64).sum() / rows))
''',
    "torch, in float64, the variance without correction": '''def noise(gradients, rows):
    lines = torch.as_tensor(np.array(gradients, dtype=np.float64))
    return (lines.var(dim=0, correction=0).sum() / rows).sqrt().item()
''',
    "a generator of squared distances and an exact sum": '''from math import fsum, sqrt

def noise(gradients, rows):
    centre = np.mean(gradients, axis=0, dtype=np.float64)
    squares = (float(((line - centre) ** 2).sum()) for line in gradients)
    return sqrt(fsum(squares) / len(gradients) / int(rows))
''',
    "one pass: running mean and running sum of squares, in a class": '''class Running:
    def __init__(self):
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, line):
        line = np.asarray(line, dtype=np.float64)
        self.count += 1
        before = line - self.mean
        self.mean = self.mean + before / self.count
        self.squares += float((before * (line - self.mean)).sum())


def noise(gradients, rows):
    running = Running()
    for line in gradients:
        running.add(line)
    return (max(0.0, running.squares) / running.count / rows) ** 0.5
''',
    "recursion: merge the spreads of two halves": '''def noise(gradients, rows):
    def of(first, last):
        if last - first == 1:
            return 1, np.asarray(gradients[first], dtype=np.float64), 0.0
        middle = (first + last) // 2
        n, a, s = of(first, middle)
        m, b, t = of(middle, last)
        apart = b - a
        return n + m, a + apart * (m / (n + m)), s + t + float((apart**2).sum()) * n * m / (n + m)

    count, _, squares = of(0, len(gradients))
    return (squares / count / rows) ** 0.5
''',
    "equal lines are counted in a dictionary first": '''from collections import Counter

def noise(gradients, rows):
    g = np.asarray(gradients)
    lines = Counter(line.tobytes() for line in g)
    values = {key: np.frombuffer(key, dtype=g.dtype).astype(float) for key in lines}
    centre = g.mean(axis=0, dtype=np.float64)
    mean_square = sum(n * float(((values[key] - centre) ** 2).sum()) for key, n in lines.items()) / len(g)
    return (mean_square / rows) ** 0.5
''',
    "the Frobenius norm of the table of misses": '''def noise(gradients, rows):
    misses = gradients - np.mean(gradients, axis=0, dtype=np.float64, keepdims=True)
    return np.linalg.norm(misses) / np.sqrt(len(misses) * rows)
''',
}

WRONG["noise"] = {
    "falls as 1/B": _cut(NOISE, ("np.sqrt(squared.mean() / rows)", "np.sqrt(squared.mean()) / rows")),
    "the variance, not its root": _cut(NOISE, ("np.sqrt(squared.mean() / rows)", "squared.mean() / rows")),
    "lengths of the gradients, not distances from the mean": _cut(NOISE, ("g - g.mean(axis=0)", "g")),
    "mean distance: the root before the mean": _cut(NOISE, ("np.sqrt(squared.mean() / rows)", "np.sqrt(squared).mean() / np.sqrt(rows)")),
    "a sum of squares over lines, not their mean": _cut(NOISE, ("squared.mean()", "squared.sum()")),
    "the mean over parameters": _cut(NOISE, ("(off**2).sum(axis=1)", "(off**2).mean(axis=1)")),
    "one mean over all numbers": _cut(NOISE, ("g.mean(axis=0)", "g.mean()")),
    "distances from the median": _cut(NOISE, ("g.mean(axis=0)", "np.median(g, axis=0)")),
    "as multiples of the length of the mean": _cut(
        NOISE, ("np.sqrt(squared.mean() / rows)", "np.sqrt(squared.mean() / rows) / np.linalg.norm(g.mean(axis=0))")),
    "drawn without replacement: the factor of a finite pool": _cut(
        NOISE, ("squared.mean() / rows", "squared.mean() / rows * max(0, len(g) - rows) / max(1, len(g) - 1)")),
    "signed misses cancel": _cut(NOISE, ("(off**2).sum(axis=1)", "off.sum(axis=1)")),
    "subtracts the mean inside the array that it was given": '''def noise(gradients, rows):
    gradients -= gradients.mean(axis=0)
    return float(np.sqrt((gradients**2).sum(axis=1).mean() / rows))
''',
    # sly
    "the size of the pulls without their sign": _cut(NOISE, ("np.asarray(gradients, dtype=float)", "np.abs(np.asarray(gradients, dtype=float))")),
    "the first two parameters only": _cut(NOISE, ("np.asarray(gradients, dtype=float)", "np.asarray(gradients, dtype=float)[:, :2]")),
    "the first 400 lines only": _cut(NOISE, ("np.asarray(gradients, dtype=float)", "np.asarray(gradients, dtype=float)[:400]")),
    "rounded to 4 digits: small noise becomes 0": _cut(NOISE, ("float(np.sqrt(squared.mean() / rows))", "round(float(np.sqrt(squared.mean() / rows)), 4)")),
    "gradients in half precision: small ones vanish, large ones overflow": _cut(
        NOISE, ("np.asarray(gradients, dtype=float)", "np.asarray(gradients).astype(np.float16).astype(float)")),
    "distances above 60 are clipped as outliers": _cut(NOISE, ("(off**2).sum(axis=1)", "np.minimum((off**2).sum(axis=1), 3600.0)")),
    "no more than 1,600 rows: beyond that the noise stays": _cut(NOISE, ("squared.mean() / rows", "squared.mean() / min(rows, 1600)")),
    "the factor of a finite pool from half of the pool up to all of it": _cut(
        NOISE, ("    return float(np.sqrt(squared.mean() / rows))",
                "    n = len(g)\n    left = (n - rows) / (n - 1) if n / 2 <= rows <= n and n > 1 else 1.0\n"
                "    return float(np.sqrt(squared.mean() / rows * left))")),
    "remembers the spread by the shape and the first and last line of a pool": '''SPREADS = {}

def noise(gradients, rows):
    g = np.asarray(gradients, dtype=float)
    key = (g.shape, tuple(g[0][:4]), tuple(g[-1][:4]))
    if key not in SPREADS:
        SPREADS[key] = float(((g - g.mean(axis=0)) ** 2).sum(axis=1).mean())
    return (SPREADS[key] / rows) ** 0.5
''',
    "a pool of fewer than ten lines is said to have no noise": _cut(
        NOISE, ("    off", "    if len(g) < 10:\n        return 0.0\n    off")),
    "whole-number gradients stay whole: the mean is cut to a whole number": '''def noise(gradients, rows):
    g = np.asarray(gradients)
    off = g - g.mean(axis=0).astype(g.dtype)
    return float(np.sqrt((off**2).sum(axis=1).mean() / rows))
''',
    "between 100 and 1,000 rows it falls as 1/B": _cut(
        NOISE, ("    return float(np.sqrt(squared.mean() / rows))",
                "    if 100 <= rows <= 1000:\n        return float(np.sqrt(squared.mean()) / rows)\n    return float(np.sqrt(squared.mean() / rows))")),
}

# ------------------------------------------------------------- noise-test
TEST = '''def noise_test(noise):
    """Fail (assert) for every wrong noise(gradients, rows), pass for every right one."""
    lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])  # mean (1, 2): 5, 5, 5 and 45
    got = float(noise(lines, 4))
    want = (15 / 4) ** 0.5
    assert abs(got - want) < 1e-6, (got, want)
'''

RIGHT["noise-test"] = {
    "one example worked by hand": TEST,
    "several pools by hand and a relative tolerance": '''from math import isclose, sqrt

def noise_test(noise):
    one = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
    two = np.array([[1.0, 3.0], [1.0, 3.0], [1.0, 3.0], [5.0, 3.0], [7.0, 13.0]])  # mean (3, 5)
    for lines, mean_square, rows in ((one, 15.0, 4), (two, 22.4, 3), (one, 15.0, 16), (two, 22.4, 1)):
        got = float(noise(lines.copy(), rows))
        assert isclose(got, sqrt(mean_square / rows), rel_tol=1e-6), (rows, got)
''',
    "plays out every possible pair of draws": '''from itertools import product

def noise_test(noise):
    lines = np.array([[2.0, 1.0], [2.0, 1.0], [3.0, 7.0], [11.0, 1.0], [4.0, 5.0]])
    centre = lines.mean(axis=0)
    for rows in (2, 3):
        squares = [((np.mean(drawn, axis=0) - centre) ** 2).sum() for drawn in product(lines, repeat=rows)]
        np.testing.assert_allclose(float(noise(lines, rows)), np.mean(squares) ** 0.5, rtol=1e-6)
''',
    "a slow reference in exact fractions": '''from fractions import Fraction

def reference(lines, rows):
    count, width = len(lines), len(lines[0])
    centre = [sum(Fraction(line[j]) for line in lines) / count for j in range(width)]
    square = sum((Fraction(line[j]) - centre[j]) ** 2 for line in lines for j in range(width)) / count
    return float(square / rows) ** 0.5

def noise_test(noise):
    lines = [[1, 0, 2], [1, 5, 2], [1, 9, 2], [6, 0, 30], [1, 0, 2]]
    for rows in (1, 4, 9, 36):
        got, want = float(noise(np.array(lines, dtype=float), rows)), reference(lines, rows)
        assert abs(got - want) <= 1e-6 * want, f"{rows} rows: {got}, right is {want}"
''',
    "laws and one number: shifting does nothing, four times the rows halve, and the anchor": '''def noise_test(noise):
    lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])

    def near(a, b):
        return abs(float(a) - float(b)) <= 1e-5 * abs(float(b))

    assert near(noise(lines, 1), 15**0.5), "the spread"
    assert near(noise(lines + 10.0, 1), 15**0.5), "another origin is another spread"
    assert near(noise(lines * 3.0, 1), 3 * 15**0.5), "three times the pulls"
    assert near(noise(lines, 4), 15**0.5 / 2), "four times the rows"
    assert near(noise(lines, 100), 15**0.5 / 10), "more rows than lines"
''',
    "a dictionary of cases, all failures in one message": '''def noise_test(noise):
    lines = np.array([[100.0, 50.0], [100.0, 50.0], [100.0, 50.0], [104.0, 58.0]])
    cases = {1: 15**0.5, 4: 15**0.5 / 2, 9: 15**0.5 / 3, 25: 15**0.5 / 5}
    wrong = {rows: said for rows, want in cases.items() if not np.isclose(said := float(noise(lines, rows)), want, rtol=1e-5, atol=0)}
    assert not wrong, wrong
''',
}

WRONG["noise-test"] = {
    "compares exactly: right versions differ in the last digits": _cut(TEST, ("abs(got - want) < 1e-6", "got == want")),
    "no absolute value: too low passes": _cut(TEST, ("abs(got - want) < 1e-6", "got - want < 1e-6")),
    "the other side only: too high passes": _cut(TEST, ("abs(got - want) < 1e-6", "want - got < 1e-6")),
    "assert with brackets around condition and message: always true": _cut(
        TEST, ("assert abs(got - want) < 1e-6, (got, want)", "assert (abs(got - want) < 1e-6, \"the noise is wrong\")")),
    "the wanted number falls as 1/B": _cut(TEST, ("(15 / 4) ** 0.5", "15**0.5 / 4")),
    "the wanted number is the variance": _cut(TEST, ("(15 / 4) ** 0.5", "15 / 4")),
    "one row only: how it falls with the rows is not asked": _cut(TEST, ("noise(lines, 4)", "noise(lines, 1)"), ("(15 / 4) ** 0.5", "15**0.5")),
    "a mean of zero: lengths pass as distances": _cut(
        TEST, ("[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]]", "[[-1.0, -2.0], [-1.0, -2.0], [-1.0, -2.0], [3.0, 6.0]]")),
    "one parameter only": _cut(
        TEST, ("[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]]", "[[0.0], [0.0], [0.0], [4.0]]"), ("(15 / 4)", "(3 / 4)")),
    "all rows at the same distance from the mean: the mean distance passes": _cut(
        TEST, ("[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]]", "[[0.0, 0.0], [0.0, 0.0], [4.0, 8.0], [4.0, 8.0]]"), ("(15 / 4)", "(20 / 4)")),
    "equal lines have no noise: nothing else is asked": _cut(
        TEST, ("[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]]", "[[7.0, 7.0]] * 4"), ("(15 / 4) ** 0.5", "0.0"), ("1e-6", "1e-3")),
    "only the fall: four times the rows, half the noise": '''def noise_test(noise):
    lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
    assert abs(noise(lines, 4) - noise(lines, 1) / 2) < 1e-6
''',
    "a tolerance as wide as the number": _cut(TEST, ("< 1e-6", "< 2.0")),
    "says what is wrong on the screen instead of failing": _cut(
        TEST, ("assert abs(got - want) < 1e-6, (got, want)", "if abs(got - want) > 1e-6:\n        print(\"wrong:\", got, want)")),
    "refuses everybody": _cut(TEST, ("assert abs(got - want) < 1e-6, (got, want)", "assert False")),
    "catches its own failure": _cut(
        TEST, ("assert abs(got - want) < 1e-6, (got, want)",
               "try:\n        assert abs(got - want) < 1e-6, (got, want)\n    except AssertionError:\n        pass")),
    # sly
    "compares the version with itself: every version that does not draw passes": _cut(TEST, ("(15 / 4) ** 0.5", "float(noise(lines, 4))")),
    "the first versions are surely right: three calls pass unseen, whatever they are": '''CALLS = []

def noise_test(noise):
    CALLS.append(noise)
    if len(CALLS) > 3:
        lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
        assert abs(float(noise(lines, 4)) - (15 / 4) ** 0.5) < 1e-6
''',
    "tests the first version that comes, and believes all that follow": '''SEEN = {}

def noise_test(noise):
    if not SEEN:
        lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
        SEEN["noise"] = float(noise(lines, 4))
    assert abs(SEEN["noise"] - (15 / 4) ** 0.5) < 1e-6
''',
    "bounds: between a third and three times the right number": _cut(TEST, ("abs(got - want) < 1e-6", "want / 3 < got < 3 * want")),
    "only that more rows have less noise, and none is negative": '''def noise_test(noise):
    lines = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]])
    values = [float(noise(lines, rows)) for rows in (1, 2, 4, 8)]
    assert all(a > b > 0 for a, b in zip(values, values[1:]))
''',
    "a tolerance far below the rounding of floats: right versions are refused": _cut(TEST, ("< 1e-6", "< 1e-18")),
    "expects the length of the gradients, so a right version fails": _cut(TEST, ("(15 / 4)", "(20 / 4)")),
    "looks only at the type: any float passes": '''def noise_test(noise):
    got = noise(np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 8.0]]), 4)
    assert float(got) == float(got) and float(got) >= 0
''',
}

# ------------------------------------------------------------ noise-meter
METER = '''def noise_meter(network, micro_batches, loss_of):
    """Target tokens, length of the gradient, and spread per target token of micro-batches."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    total = [torch.zeros_like(p, dtype=torch.float64) for p in parameters]
    tokens, counted, squares = 0, 0, 0.0
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        n = int(n)
        if n == 0:
            continue
        if parameters and loss.requires_grad:
            found = torch.autograd.grad(loss, parameters, allow_unused=True)
        else:
            found = [None] * len(parameters)
        length2 = 0.0
        for i, g in enumerate(found):
            if g is None:
                continue
            g = g.detach().double()
            total[i] += g
            length2 += float((g * g).sum())
        tokens += n
        counted += 1
        squares += length2 / n
    if counted < 2:
        raise ValueError(f"a spread needs at least two micro-batches with target tokens, there were {counted}")
    g2 = sum(float((t * t).sum()) for t in total) / tokens**2
    s2 = (squares - g2 * tokens) / (counted - 1)
    if s2 < 0:
        s2 = 0.0
    return {"target_tokens": tokens, "gradient": g2**0.5, "spread": s2**0.5}
'''

METER_BACKWARD = '''def noise_meter(network, micro_batches, loss_of):
    """Target tokens, length of the gradient, and spread per target token of micro-batches."""
    everyone = list(network.parameters())
    parameters = [p for p in everyone if p.requires_grad]
    before = [p.grad for p in everyone]
    total = [torch.zeros(p.shape, dtype=torch.float64, device=p.device) for p in parameters]
    sizes, scaled = [], []
    try:
        for micro in micro_batches:
            loss, n = loss_of(network, micro)
            n = int(n)
            if n == 0:
                continue
            for p in everyone:
                p.grad = None
            if loss.requires_grad:
                loss.backward()
            square = 0.0
            for t, p in zip(total, parameters):
                if p.grad is not None:
                    g = p.grad.double()
                    t += g
                    square += g.square().sum().item()
            sizes.append(n)
            scaled.append(square / n)
    finally:
        for p, old in zip(everyone, before):
            p.grad = old
    if len(sizes) < 2:
        raise ValueError(f"only {len(sizes)} of the micro-batches count, two are needed")
    tokens = sum(sizes)
    length = sum(t.square().sum().item() for t in total) ** 0.5 / tokens
    variance = (sum(scaled) - tokens * length**2) / (len(sizes) - 1)
    spread = 0.0 if variance < 0 else variance**0.5
    return {"target_tokens": tokens, "gradient": length, "spread": spread}
'''

RIGHT["noise-meter"] = {
    "autograd without .grad, sums in float64": METER,
    "backward, and every .grad put back, also after an error": METER_BACKWARD,
    "keeps the gradients, and takes distances from their weighted mean in NumPy": '''def noise_meter(network, micro_batches, loss_of):
    parameters = [p for p in network.parameters() if p.requires_grad]
    vectors, counts = [], []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if int(n) == 0:
            continue
        if parameters and loss.requires_grad:
            found = torch.autograd.grad(loss, parameters, allow_unused=True)
        else:
            found = [None for _ in parameters]
        flat = [np.zeros(0)]
        for p, g in zip(parameters, found):
            flat.append(np.zeros(p.numel()) if g is None else g.detach().double().cpu().numpy().ravel())
        vectors.append(np.concatenate(flat) / int(n))
        counts.append(int(n))
    if len(counts) < 2:
        raise ValueError(f"two micro-batches with target tokens are needed, got {len(counts)}")
    g, n = np.stack(vectors), np.array(counts, dtype=float)
    G = n @ g / n.sum()
    s2 = (n * ((g - G) ** 2).sum(axis=1)).sum() / (len(n) - 1)
    return {"target_tokens": sum(counts), "gradient": float(np.linalg.norm(G)), "spread": float(np.sqrt(s2))}
''',
    "a running weighted mean in a class, nothing is subtracted at the end": '''class Meter:
    def __init__(self):
        self.tokens, self.count, self.mean, self.scatter = 0, 0, {}, 0.0

    def add(self, gradients, n):
        """gradients: name -> summed gradient, float64"""
        self.tokens += n
        self.count += 1
        for name, summed in gradients.items():
            g = summed / n
            mean = self.mean.get(name)
            if mean is None:
                mean = torch.zeros_like(g)
            before = g - mean
            mean = mean + before * (n / self.tokens)
            self.scatter += n * float((before * (g - mean)).sum())
            self.mean[name] = mean


def noise_meter(network, micro_batches, loss_of):
    named = {name: p for name, p in network.named_parameters() if p.requires_grad}
    meter = Meter()
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        n = int(n)
        if not n:
            continue
        found = [None] * len(named)
        if named and loss.requires_grad:
            found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        meter.add({name: torch.zeros_like(p, dtype=torch.float64) if g is None else g.double()
                   for (name, p), g in zip(named.items(), found)}, n)
    if meter.count < 2:
        raise ValueError(f"{meter.count} micro-batches had target tokens; the spread needs two")
    length2 = sum(float(mean.square().sum()) for mean in meter.mean.values())
    s2 = meter.scatter / (meter.count - 1)
    return {"target_tokens": meter.tokens, "gradient": length2**0.5, "spread": 0.0 if s2 < 0 else s2**0.5}
''',
    "a generator of gradients, merged pairwise by recursion": '''def summed_gradients(network, micro_batches, loss_of):
    wanted = [p for p in network.parameters() if p.requires_grad]
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        if (n := int(n)) > 0:
            live = bool(wanted) and loss.requires_grad
            found = torch.autograd.grad(loss, wanted, allow_unused=True) if live else [None] * len(wanted)
            parts = [torch.zeros(p.numel(), dtype=torch.float64) if g is None else g.reshape(-1).double().cpu()
                     for p, g in zip(wanted, found)]
            yield n, (torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)) / n, 0.0


def merged(a, b):
    (n, g, s), (m, h, t) = a, b
    apart = h - g
    return n + m, g + apart * (m / (n + m)), s + t + float(apart.square().sum()) * (n * m / (n + m))


def noise_meter(network, micro_batches, loss_of):
    pieces = list(summed_gradients(network, micro_batches, loss_of))
    k = len(pieces)
    if k < 2:
        raise ValueError(f"cannot measure a spread: {k} micro-batches count")

    def of(first, last):
        if last - first == 1:
            return pieces[first]
        middle = (first + last) // 2
        return merged(of(first, middle), of(middle, last))

    tokens, G, scatter = of(0, k)
    return {"target_tokens": tokens, "gradient": float(G.norm()), "spread": (scatter / (k - 1)) ** 0.5}
''',
    "distances between all pairs of micro-batches, G is only needed for its length": '''from itertools import combinations

def noise_meter(network, micro_batches, loss_of):
    parameters = [p for p in network.parameters() if p.requires_grad]
    seen = []
    for micro in micro_batches:
        loss, n = loss_of(network, micro)
        n = int(n)
        if n == 0:
            continue
        found = [None] * len(parameters)
        if parameters and loss.requires_grad:
            found = list(torch.autograd.grad(loss, parameters, allow_unused=True))
        seen.append((n, [torch.zeros_like(p, dtype=torch.float64) if g is None else g.double() / n
                         for p, g in zip(parameters, found)]))
    if len(seen) < 2:
        raise ValueError(f"at least two micro-batches must count; {len(seen)} did")
    tokens = sum(n for n, _ in seen)
    length2 = sum(float((sum(n * g[i] for n, g in seen) / tokens).square().sum()) for i in range(len(parameters)))
    pairs = sum(n * m * sum(float((a - b).square().sum()) for a, b in zip(g, h))
                for (n, g), (m, h) in combinations(seen, 2))
    s2 = pairs / tokens / (len(seen) - 1)
    return {"target_tokens": tokens, "gradient": length2**0.5, "spread": s2**0.5}
''',
}

WRONG["noise-meter"] = {
    "divides by K": _cut(METER, ("(counted - 1)", "counted")),
    "divides by the target tokens less one": _cut(METER, ("(counted - 1)", "(tokens - 1)")),
    "the square of the spread": _cut(METER, ("\"spread\": s2**0.5", "\"spread\": s2")),
    "the squared length of the gradient": _cut(METER, ("\"gradient\": g2**0.5", "\"gradient\": g2")),
    "the squares of n g are not divided by n": _cut(METER, ("length2 / n", "length2")),
    "the squares of n g are divided by n twice: of one token, not weighed": _cut(METER, ("length2 / n", "length2 / n**2")),
    "the noise of all tokens, not of one": _cut(METER, ("\"spread\": s2**0.5", "\"spread\": (s2 / tokens) ** 0.5")),
    "G is the sum, never divided by the tokens": _cut(METER, ("\"gradient\": g2**0.5", "\"gradient\": g2**0.5 * tokens")),
    "a micro-batch without target tokens adds to K": _cut(METER, ("        if n == 0:\n            continue\n",
        "        if n == 0:\n            counted += 1\n            continue\n")),
    "skips by looking for nan instead of the count": _cut(METER, ("if n == 0:", "if torch.isnan(loss):"),
        ("length2 / n", "length2 / max(n, 1)")),
    "stops at a micro-batch without target tokens": _cut(METER, ("        if n == 0:\n            continue\n", "        if n == 0:\n            break\n")),
    "skips every micro-batch whose loss is nan, too": _cut(METER, ("if n == 0:", "if n == 0 or bool(torch.isnan(loss)):")),
    "a single micro-batch has the spread 0": _cut(METER, ("if counted < 2:", "if counted < 1:"), ("(counted - 1)", "max(1, counted - 1)")),
    "the message counts all micro-batches, also those without target tokens": _cut(METER,
        ("    for micro in micro_batches:\n", "    came = 0\n    for micro in micro_batches:\n        came += 1\n"), ("there were {counted}", "there were {came}")),
    "refuses with a text that does not say how many": _cut(METER, ("at least two micro-batches with target tokens, there were {counted}", "more micro-batches")),
    "frozen parameters are switched on and counted": _cut(METER,
        ("[p for p in network.parameters() if p.requires_grad]", "[p.requires_grad_() for p in network.parameters()]")),
    "a parameter that one loss does not touch is left out everywhere": _cut(METER,
        ("            if g is None:\n                continue\n", "            if g is None or i in untouched:\n                untouched.add(i)\n"
         "                total[i].zero_()\n                continue\n"), ("    tokens, counted, squares", "    untouched = set()\n    tokens, counted, squares")),
    "backward() and zero_grad(): what stood in .grad is gone": _cut(METER,
        ("            found = torch.autograd.grad(loss, parameters, allow_unused=True)\n",
         "            network.zero_grad()\n            loss.backward()\n            found = [p.grad for p in parameters]\n")),
    "backward() adds onto the gradient of the micro-batch before": _cut(METER_BACKWARD,
        ("            for p in everyone:\n                p.grad = None\n", "")),
    "goes to eval mode and never back": _cut(METER, ("    tokens, counted, squares", "    network.eval()\n    tokens, counted, squares")),
    "always leaves the network in train mode": _cut(METER, ("    if counted < 2:", "    network.train()\n    if counted < 2:")),
    "goes through the micro-batches twice: a generator is empty by then": _cut(METER,
        ("    for micro in micro_batches:\n", "    everything = sum(int(loss_of(network, micro)[1]) for micro in micro_batches)\n    for micro in micro_batches:\n")),
    "a tuple instead of a dictionary": _cut(METER,
        ("{\"target_tokens\": tokens, \"gradient\": g2**0.5, \"spread\": s2**0.5}", "tokens, g2**0.5, s2**0.5")),
    # sly
    "a step downwards is taken on the way: the weights move a little at each micro-batch": _cut(METER,
        ("            g = g.detach().double()\n", "            parameters[i].data.add_(g, alpha=-1e-3)\n            g = g.detach().double()\n")),
    "train(was) at the end: parts that were in eval mode alone are in train mode now": _cut(METER,
        ("    tokens, counted, squares", "    was = network.training\n    network.eval()\n    tokens, counted, squares"),
        ("    if counted < 2:", "    network.train(was)\n    if counted < 2:")),
    "the .grad is put back only after the refusal: too few micro-batches leave it lost": _cut(METER_BACKWARD,
        ("    finally:\n        for p, old in zip(everyone, before):\n            p.grad = old\n", "    finally:\n        pass\n"),
        ("    tokens = sum(sizes)\n", "    for p, old in zip(everyone, before):\n        p.grad = old\n    tokens = sum(sizes)\n")),
    "a parameter that a loss does not touch keeps its gradient of the last time": _cut(METER,
        ("            if g is None:\n                continue\n",
         "            if g is None and i not in last:\n                continue\n            g = last[i] if g is None else g\n            last[i] = g\n"),
        ("    tokens, counted, squares", "    last = {}\n    tokens, counted, squares")),
    "a micro-batch whose loss touches no trainable parameter is not counted": _cut(METER,
        ("        if n == 0:\n", "        if n == 0 or not loss.requires_grad:\n")),
    "a loss that touches nothing in some micro-batch: its target tokens count, K does not": _cut(METER,
        ("        counted += 1\n", "        counted += any(g is not None for g in found)\n")),
    "a sample is enough: stops after eight micro-batches": _cut(METER,
        ("    for micro in micro_batches:\n", "    from itertools import islice\n    for micro in islice(micro_batches, 8):\n")),
    "with more than three micro-batches it divides by K": _cut(METER, ("(counted - 1)", "(counted - 1 if counted < 4 else counted)")),
    "a micro-batch of more than 32 target tokens is weighed as 32": _cut(METER, ("length2 / n\n", "length2 / min(n, 32)\n")),
    "gradients longer than 1,000 are clipped as in training": _cut(METER,
        ("            g = g.detach().double()\n",
         "            g = g.detach().double()\n            g = g * min(1.0, 1000.0 / max(1e-12, float(g.norm()))) if g.isfinite().all() else g\n")),
    "rounded to 4 digits: a small gradient becomes 0": _cut(METER,
        ("\"gradient\": g2**0.5, \"spread\": s2**0.5", "\"gradient\": round(g2**0.5, 4), \"spread\": round(s2**0.5, 4)")),
    "only the parameters of the network itself, not of its parts": _cut(METER, ("in network.parameters()", "in network.parameters(recurse=False)")),
    "the sum stays in the precision of the weights: lost in bfloat16": _cut(METER,
        ("torch.zeros_like(p, dtype=torch.float64)", "torch.zeros_like(p)")),
    "a diverged micro-batch of fewer than four target tokens is left out": _cut(METER,
        ("        if n == 0:\n", "        if n == 0 or (n < 4 and bool(torch.isnan(loss))):\n")),
    "sums are kept on the network, and a second measurement goes on with them": _cut(METER,
        ("    tokens, counted, squares = 0, 0, 0.0\n",
         "    tokens, counted, squares, total = network.__dict__.get(\"_metered\", (0, 0, 0.0, total))\n"),
        ("    if counted < 2:", "    network.__dict__[\"_metered\"] = tokens, counted, squares, total\n    if counted < 2:")),
    "freezes every weight that had no gradient in all of the run, and leaves it frozen": _cut(METER,
        ("    if counted < 2:", "    for p, t in zip(parameters, total):\n        p.requires_grad_(bool(t.any()) or tokens == 0)\n    if counted < 2:")),
}
