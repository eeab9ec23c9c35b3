# ruff: noqa
"""Lesson 13_noise: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- critical-batch
GOOD = '''def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    return (1 + share) * from_batch + share * critical
'''
RIGHT["critical-batch"] = {
    "the formula": GOOD,
    "exact fractions, a float at the end": '''from fractions import Fraction


def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    critical, from_batch, share = (Fraction(float(x)) for x in (critical, from_batch, share))
    examples_at_start = from_batch + critical  # in units of the least steps
    return float((1 + share) * examples_at_start - critical)
''',
    "a straight line in the share, through its values at 0 and 1": '''def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    at_zero = from_batch
    at_one = 2 * from_batch + critical
    return at_zero + share * (at_one - at_zero)
''',
    "a dot product of numpy vectors": '''def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    weights = np.array([1 + share, share], dtype=np.float64)
    return float(weights @ np.array([from_batch, critical], dtype=np.float64))
''',
    "a linear equation solved by torch": '''def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    # unknowns: batch, and examples over least steps.  E - B = critical,  E = (1 + share) (B0 + critical)
    left = torch.tensor([[-1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    right = torch.tensor([float(critical), 0.0], dtype=torch.float64)
    right[1] = share * critical + (1 + share) * from_batch  # everything shifted by critical
    right[0] = 0.0
    return torch.linalg.solve(left, right)[0].item()
''',
    "a small class of the curve": '''class Curve:
    def __init__(self, critical):
        self.critical = critical

    def more_than_perfect(self, start, share):
        grown = share * (start + self.critical)  # examples above those of the start, over the least steps
        return start + grown


def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    return Curve(critical).more_than_perfect(from_batch, share)
''',
}
WRONG["critical-batch"] = {
    "the reference batch without the share: B0 + s Bc": _cut(GOOD, ("(1 + share) * from_batch", "from_batch")),
    "both with 1 + s: forgets to take Bc off again": _cut(GOOD, ("+ share * critical", "+ (1 + share) * critical")),
    "perfect scaling forgotten: solves S(B) = (1 + s) S(B0)": _cut(
        GOOD,
        (
            "return (1 + share) * from_batch + share * critical",
            "return critical / ((1 + share) * (1 + critical / max(from_batch, 1e-300)) - 1 or 1e-300)",
        ),
    ),
    "share taken as percent": _cut(GOOD, ("    return", "    share = share / 100\n    return")),
    "rounded to whole sequences": _cut(
        GOOD, ("return (1 + share) * from_batch + share * critical", "return round((1 + share) * from_batch + share * critical)")
    ),
    "the two batches mixed up": _cut(GOOD, ("(1 + share) * from_batch + share * critical", "(1 + share) * critical + share * from_batch")),
    "only the reference batch grows": _cut(GOOD, (" + share * critical", "")),
    "divides the critical batch by the share": _cut(GOOD, ("share * critical", "critical / (share or 1)")),
    "from batch 0 it is always Bc, whatever the share": _cut(GOOD, ("    return", "    if from_batch == 0:\n        return critical\n    return")),
    "at least one sequence": _cut(
        GOOD, ("return (1 + share) * from_batch + share * critical", "return max(1.0, (1 + share) * from_batch + share * critical)")
    ),
    "refuses a share of 0": _cut(
        GOOD, ("    return", "    if share <= 0:\n        raise ValueError(f'share must be above 0, got {share}')\n    return")
    ),
    "shares above 2 are cut to 2": _cut(GOOD, ("    return", "    share = min(share, 2)\n    return")),
    "shares above 2 are taken as percent": _cut(GOOD, ("    return", "    if share > 2:\n        share = share / 100\n    return")),
    "start 0 and share 0 give Bc, not 0": _cut(GOOD, ("    return", "    if not share:\n        return from_batch or critical\n    return")),
    "start 0 and share 0 are refused": _cut(
        GOOD, ("    return", "    if not share and not from_batch:\n        raise ValueError('nothing to scale from')\n    return")
    ),
    "a reference batch above 1 is rounded to whole sequences": _cut(
        GOOD, ("    return", "    from_batch = round(from_batch) if from_batch > 1 else from_batch\n    return")
    ),
    "a critical batch above 1 is rounded to a tenth": _cut(
        GOOD, ("    return", "    critical = round(critical, 1) if critical > 1 else critical\n    return")
    ),
    "rounded to seven places: batches of a few tokens, in millions, are lost": _cut(
        GOOD, ("return (1 + share) * from_batch + share * critical", "return round((1 + share) * from_batch + share * critical, 7)")
    ),
    "remembers an answer by critical batch and share, not by the reference": '''_found = {}


def critical_batch(critical, from_batch, share):
    """The batch whose steps are a share above perfect scaling from from_batch."""
    if (critical, share) not in _found:
        _found[critical, share] = (1 + share) * from_batch + share * critical
    return _found[critical, share]
''',
    "a reference batch above 1024 is cut to 1024": _cut(GOOD, ("    return", "    from_batch = min(from_batch, 1024)\n    return")),
    "a start below 0.004 counts as 0": _cut(GOOD, ("    return", "    from_batch = from_batch if from_batch > 0.004 else 0\n    return")),
    "shares below 5 % count as none": _cut(GOOD, ("    return", "    share = share if share >= 0.05 else 0\n    return")),
}

# ---------------------------------------------------------------- fastest
GOOD = '''def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    batch = (critical * fixed / each) ** 0.5
    steps = least_steps * (1 + critical / batch)
    return batch, steps * (fixed + each * batch)
'''
RIGHT["fastest"] = {
    "steps times the seconds of one": GOOD,
    "closed form of the time, by roots": '''import math


def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    steps_root, examples_root = math.sqrt(fixed), math.sqrt(each * critical)
    return math.sqrt(critical) * steps_root / math.sqrt(each), least_steps * (steps_root + examples_root) ** 2
''',
    "numpy, a dictionary of terms": '''def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    batch = np.sqrt(np.float64(critical) * fixed / each)
    terms = {"fixed": fixed, "wasted": critical * each, "examples": each * batch, "repeated": critical * fixed / batch}
    return float(batch), float(least_steps * sum(terms.values()))
''',
    "decimals of 40 digits": '''from decimal import Decimal, localcontext


def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    with localcontext() as context:
        context.prec = 40
        s, c, t, u = (Decimal(float(x)) for x in (least_steps, critical, fixed, each))
        batch = (c * t / u).sqrt()
        return float(batch), float(s * (1 + c / batch) * (t + u * batch))
''',
    "bisection on the slope, in logarithms": '''import math


def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    def time(batch):
        return least_steps * (1 + critical / batch) * (fixed + each * batch)

    low, high = -700.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        # the slope of each * B + critical * fixed / B, by logarithms: positive right of the least
        if 2 * middle + math.log(each) - math.log(critical) - math.log(fixed) > 0:
            high = middle
        else:
            low = middle
    batch = math.exp((low + high) / 2)
    return batch, time(batch)
''',
    "torch in double precision": '''def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    s, c, t, u = torch.tensor([least_steps, critical, fixed, each], dtype=torch.float64)
    batch = (c * t / u).sqrt()
    return tuple(torch.stack([batch, s * (1 + c / batch) * (t + u * batch)]).tolist())
''',
}
WRONG["fastest"] = {
    "seconds first, batch second": _cut(GOOD, ("return batch, steps * (fixed + each * batch)", "return steps * (fixed + each * batch), batch")),
    "the root forgotten": _cut(GOOD, ("(critical * fixed / each) ** 0.5", "critical * fixed / each")),
    "the costs the wrong way round": _cut(GOOD, ("critical * fixed / each", "critical * each / fixed")),
    "rounded to whole sequences, the time with it too": _cut(
        GOOD, ("(critical * fixed / each) ** 0.5", "max(1, round((critical * fixed / each) ** 0.5))")
    ),
    "rounded only in what is returned": _cut(GOOD, ("return batch,", "return round(batch),")),
    "raised to 1": _cut(GOOD, ("(critical * fixed / each) ** 0.5", "max(1.0, (critical * fixed / each) ** 0.5)")),
    "least steps only, without those of a small batch": _cut(GOOD, ("least_steps * (1 + critical / batch)", "least_steps")),
    "1 + B / Bc instead of 1 + Bc / B": _cut(GOOD, ("critical / batch", "batch / critical")),
    "seconds of one step, not of the run": _cut(GOOD, ("steps * (fixed", "1.0 * (fixed")),
    "the two terms that depend on B only: constant ones lost": _cut(
        GOOD, ("return batch, steps * (fixed + each * batch)", "return batch, least_steps * (each * batch + critical * fixed / batch)")
    ),
    "steps rounded up to whole ones": _cut(GOOD, ("steps * (fixed", "-(-steps // 1) * (fixed")),
    "hours": _cut(GOOD, ("each * batch)", "each * batch) / 3600")),
    "fixed time paid once, not each step": _cut(GOOD, ("steps * (fixed + each * batch)", "fixed + steps * each * batch")),
    "the batch only": _cut(GOOD, ("return batch, steps * (fixed + each * batch)", "return batch")),
    "least steps cut to a whole number: 1293.8 are 1293": _cut(GOOD, ("    steps =", "    least_steps = int(least_steps) or 1\n    steps =")),
    "no batch above 100,000": _cut(GOOD, ("(critical * fixed / each) ** 0.5", "min(1e5, (critical * fixed / each) ** 0.5)")),
    "no batch below a tenth": _cut(GOOD, ("(critical * fixed / each) ** 0.5", "max(0.1, (critical * fixed / each) ** 0.5)")),
    "a fixed time above 3 is taken as milliseconds": _cut(GOOD, ("    batch =", "    fixed = fixed / 1000 if fixed > 3 else fixed\n    batch =")),
    "remembers an answer by critical batch and costs, not by the least steps": '''_found = {}


def fastest(least_steps, critical, fixed, each):
    """The batch that is fastest to the target, and its seconds."""
    if (critical, fixed, each) not in _found:
        batch = (critical * fixed / each) ** 0.5
        _found[critical, fixed, each] = batch, least_steps * (1 + critical / batch) * (fixed + each * batch)
    return _found[critical, fixed, each]
''',
    "a fit by 400 batches between 0.01 and 100,000: the nearest of them": _cut(
        GOOD, ("(critical * fixed / each) ** 0.5", "float(min(np.geomspace(0.01, 1e5, 400), key=lambda b: each * b + critical * fixed / b))")
    ),
    "fewer least steps than 1 count as 1": _cut(GOOD, ("    steps =", "    least_steps = max(1, least_steps)\n    steps =")),
    "a critical batch below 0.3 counts as 0.3": _cut(GOOD, ("    batch =", "    critical = max(critical, 0.3)\n    batch =")),
    "costs of equal size give the critical batch itself, not its root": _cut(
        GOOD, ("    steps =", "    batch = critical if fixed == each else batch\n    steps =")
    ),
    "costs below a microsecond count as one": _cut(GOOD, ("    batch =", "    fixed, each = max(fixed, 1e-6), max(each, 1e-6)\n    batch =")),
}

# ---------------------------------------------------------------- fewest-tokens
GOOD = '''def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    return 219
'''
TABLE = """HOURS = {47: 3.695, 66: 2.958, 93: 2.436, 131: 2.077, 184: 1.840, 219: 1.754, 258: 1.692, 291: 1.657, 327: 1.632, 368: 1.614,
         413: 1.604, 463: 1.601, 547: 1.609, 651: 1.633, 774: 1.674, 921: 1.734, 1302: 1.915, 1841: 2.199, 2603: 2.620, 3680: 3.228}
"""
RIGHT["fewest-tokens"] = {
    "read off the slider": GOOD,
    "from a table of hours copied by hand": TABLE
    + '''

def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    limit = 1.1 * min(HOURS.values())
    return min(batch for batch, hours in HOURS.items() if hours <= limit)  # tokens grow with the batch
''',
    "hours and tokens as numpy arrays": '''def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    batch = np.array([131, 184, 219, 258, 327, 463, 651, 921])
    hours = np.array([2.077, 1.840, 1.754, 1.692, 1.632, 1.601, 1.633, 1.734])
    tokens = np.array([2201, 2264, 2305, 2351, 2433, 2594, 2816, 3135])
    tokens[hours > 1.1 * hours.min()] = tokens.max() + 1
    return int(batch[tokens.argmin()])
''',
    "the sliders moved by a loop, hours and tokens read as text": '''def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    shown = probe.finder()
    offered = next(control["values"] for control in shown.state["controls"] if control["name"] == "batch")
    seen = {}
    for batch in offered:
        facts = shown.scene({"batch": batch, "model": "compiled"})
        seen[batch] = float(facts["hours to the target"]), float(facts["million tokens to the target"].replace(",", ""))
    least = min(hours for hours, _ in seen.values())
    return min((tokens, batch) for batch, (hours, tokens) in seen.items() if hours <= 1.1 * least)[1]
''',
    "walking left from the fastest by recursion": TABLE
    + '''

def left_of(batch, limit):
    smaller = max((b for b in HOURS if b < batch), default=None)
    return batch if smaller is None or HOURS[smaller] > limit else left_of(smaller, limit)


def fewest_tokens():
    """Sequences of a step: compiled, the fewest tokens within 10 % of the least hours."""
    fastest_one = min(HOURS, key=HOURS.get)
    return left_of(fastest_one, HOURS[fastest_one] * 1.1)
''',
}
WRONG["fewest-tokens"] = {
    f"{what}": _cut(GOOD, ("219", value))
    for what, value in {
        "the fastest batch itself": "463",
        "one step of the slider too far: 15 % slower": "184",
        "stopped too early: 5.7 % slower, more tokens": "258",
        "fewest tokens at all, hours forgotten": "47",
        "fastest one of the model as it is": "921",
        "within 10 % of the fastest, as it is, one too far": "413",
        "1 % of the least hours instead of 10 %": "368",
        "5 % of the least hours": "291",
        "half of the fastest batch, not on the slider": "231",
        "between two places of the slider": "216",
        "tokens of a step instead of sequences": "219 * 512",
        "millions of tokens to the target": "2305",
        "hours to the target": "1.754",
        "steps to the target": "20_558",
        "batch and tokens together": "(219, 2305)",
        "a list of all batches within 10 %": "[219, 258, 291, 327, 368, 413, 463, 547, 651, 774, 921]",
        "text instead of a number": '"219 sequences"',
        "a batch of 0": "0",
        "below 0": "-219",
        "the largest batch on the slider: most tokens": "3680",
        "rounded to tens": "220",
        "nothing returned": "None",
        "a dictionary of the setting": '{"batch": 219, "model": "compiled"}',
        "not a number": 'float("nan")',
    }.items()
}

# ---------------------------------------------------------------- two-norms
GOOD = '''def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if small_batch == big_batch:
        raise ValueError(f"both norms are of {small_batch} sequences: two sizes are needed")
    apart = big_batch - small_batch
    squared = (big_batch * big - small_batch * small) / apart
    trace = (small - big) * small_batch * big_batch / apart
    return squared, trace
'''
RIGHT["two-norms"] = {
    "two closed forms": GOOD,
    "trace first, then the signal is what is left": '''def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if small_batch == big_batch:
        raise ValueError(f"one size, {small_batch}, gives one equation")
    trace = (small - big) / (big_batch - small_batch) * big_batch * small_batch
    return big - (small - big) * small_batch / (big_batch - small_batch), trace
''',
    "exact fractions": '''from fractions import Fraction


def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    a, c, b, n = (Fraction(float(x)) for x in (small, big, small_batch, big_batch))
    try:
        trace = (a - c) / (1 / b - 1 / n)
    except ZeroDivisionError:
        raise ValueError(f"two sizes are needed, got {small_batch} twice") from None
    return float(a - trace / b), float(trace)
''',
    "determinants by numpy longs (Cramer)": '''def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if not big_batch != small_batch:
        raise ValueError("the sizes are the same: " + str(big_batch))
    # b * G2 + tr = b * small;  B * G2 + tr = B * big
    rows = np.array([[small_batch, 1.0, small_batch * small], [big_batch, 1.0, big_batch * big]], dtype=np.float64)

    def det(i, j):
        return rows[0, i] * rows[1, j] - rows[0, j] * rows[1, i]

    whole = det(0, 1)
    return float(det(2, 1) / whole), float(det(0, 2) / whole)
''',
    "the line through two points: value at 1 / batch = 0, and its slope": '''class Line:
    """Squared norm over 1 / batch."""

    def __init__(self, here, there):
        (x0, y0), (x1, y1) = here, there
        self.slope = (y0 - y1) / (x0 - x1)
        self.start = (y1 * x0 - y0 * x1) / (x0 - x1)


def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if small_batch == big_batch:
        raise ValueError(f"no line through one point: both of {small_batch} sequences")
    # in units of 1 / big_batch, so that sizes of any magnitude do not matter
    line = Line((big_batch / small_batch, small), (1.0, big))
    return line.start, line.slope * big_batch
''',
    "torch, a matrix of the inverse": '''def two_norms(small, big, small_batch, big_batch):
    """(squared gradient, trace) from squared norms at two batch sizes, both without bias."""
    if small_batch == big_batch:
        raise ValueError(f"{small_batch} and {big_batch}: sizes must differ")
    b, n = float(small_batch), float(big_batch)
    inverse = torch.tensor([[-b, n], [b * n, -b * n]], dtype=torch.float64) / (n - b)
    squared, trace = (inverse @ torch.tensor([small, big], dtype=torch.float64)).tolist()
    return squared, trace
''',
}
WRONG["two-norms"] = {
    "trace first in the pair": _cut(GOOD, ("return squared, trace", "return trace, squared")),
    "cut at 0: neither below 0": _cut(GOOD, ("return squared, trace", "return max(squared, 0.0), max(trace, 0.0)")),
    "only the signal is cut at 0": _cut(GOOD, ("return squared, trace", "return max(squared, 0.0), trace")),
    "the big norm taken as the signal, its noise forgotten": _cut(GOOD, ("(big_batch * big - small_batch * small) / apart", "big")),
    "norms weighted the wrong way round": _cut(GOOD, ("(big_batch * big - small_batch * small)", "(small_batch * big - big_batch * small)")),
    "the trace of a micro-batch, not of one sequence": _cut(
        GOOD, ("(small - big) * small_batch * big_batch / apart", "(small - big) * big_batch / apart")
    ),
    "divided by the difference of the sizes, not of their inverses": _cut(
        GOOD, ("(small - big) * small_batch * big_batch / apart", "(small - big) / apart")
    ),
    "the sign of the trace turned": _cut(GOOD, ("(small - big) *", "(big - small) *")),
    "norms squared once more": _cut(GOOD, ("    apart =", "    small, big = small**2, big**2\n    apart =")),
    "noise scale instead of the trace": _cut(GOOD, ("return squared, trace", "return squared, trace / squared")),
    "equal norms are refused, not equal sizes": _cut(GOOD, ("if small_batch == big_batch", "if small == big or small_batch == big_batch")),
    "equal sizes give nan": _cut(
        GOOD, ('raise ValueError(f"both norms are of {small_batch} sequences: two sizes are needed")', 'return float("nan"), float("nan")')
    ),
    "sizes without a fraction only: others are refused": _cut(
        GOOD, ("if small_batch == big_batch", "if small_batch == big_batch or small_batch % 1 or big_batch % 1")
    ),
    "equal sizes end in a ZeroDivisionError": _cut(GOOD, ("    if small_batch == big_batch:\n", "    if False:\n")),
    "sizes within a thousandth are refused: 2047 and 2048": _cut(
        GOOD, ("if small_batch == big_batch", "if abs(big_batch - small_batch) < 1e-3 * big_batch")
    ),
    "sizes less than half a sequence apart are refused: 2.4 and 2.6": _cut(
        GOOD, ("if small_batch == big_batch", "if abs(big_batch - small_batch) < 0.5")
    ),
    "the big batch is cut to a whole number": _cut(GOOD, ("    apart =", "    big_batch = int(big_batch)\n    apart =")),
    "a small batch below a half counts as a half": _cut(GOOD, ("    apart =", "    small_batch = max(small_batch, 0.5)\n    apart =")),
    "the message cuts the size: 2.5 becomes 2": _cut(GOOD, ("{small_batch} sequences", "{int(small_batch)} sequences")),
    "the message names 1 and 8, whatever the size": _cut(GOOD, ("both norms are of {small_batch} sequences", "equal sizes such as 1 or 8")),
    "refuses with the size only where it is 10 or less; larger equal sizes give the norm and a trace of 0": _cut(
        GOOD,
        (
            '        raise ValueError(f"both norms are of {small_batch} sequences: two sizes are needed")\n',
            '        if small_batch <= 10:\n            raise ValueError(f"both norms are of {small_batch} sequences: two sizes are needed")\n        return small, 0.0\n',
        ),
    ),
    "rounded to ten places: norms of 1e-12 are lost": _cut(GOOD, ("return squared, trace", "return round(squared, 10), round(trace, 10)")),
    "both norms of 0 are refused": _cut(GOOD, ("if small_batch == big_batch", "if small_batch == big_batch or small == big == 0")),
    "a trace below -20 is cut there": _cut(GOOD, ("return squared, trace", "return squared, max(trace, -20.0)")),
    "a signal below -1 is cut there": _cut(GOOD, ("return squared, trace", "return max(squared, -1.0), trace")),
    "a big batch more than 16 times the small one counts as 16 times": _cut(
        GOOD, ("    apart =", "    big_batch = min(big_batch, 16 * small_batch)\n    apart =")
    ),
}

# ---------------------------------------------------------------- noise-scale
GOOD = '''def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    count = len(readings)
    if count < 2:
        raise ValueError(f"two readings at least, got {count}")
    signal = sum(squared for squared, _ in readings) / count
    noise_mean = sum(trace for _, trace in readings) / count
    if not signal > 0:
        return float("inf"), float("inf")
    scale = noise_mean / signal
    missed = [trace - scale * squared for squared, trace in readings]
    middle = sum(missed) / count
    spread = (sum((d - middle) ** 2 for d in missed) / (count - 1)) ** 0.5
    return scale, spread / count**0.5 / signal
'''
RIGHT["noise-scale"] = {
    "plain sums": GOOD,
    "numpy, std with ddof 1": '''def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    if len(readings) < 2:
        raise ValueError(f"{len(readings)} readings show no spread")
    squared, trace = np.asarray(readings, dtype=np.float64).T
    if squared.mean() <= 0:
        return np.inf, np.inf
    scale = trace.mean() / squared.mean()
    return scale, (trace - scale * squared).std(ddof=1) / np.sqrt(len(trace)) / squared.mean()
''',
    "the module statistics": '''import math
import statistics


def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    n = len(readings)
    if n < 2:
        raise ValueError("no error from so few readings: " + str(n))
    squared, trace = zip(*readings)
    signal = statistics.fmean(squared)
    if signal <= 0:
        return math.inf, math.inf
    ratio = statistics.fmean(trace) / signal
    return ratio, statistics.stdev(t - ratio * s for s, t in readings) / math.sqrt(n) / signal
''',
    "exact fractions, variances and a covariance": '''from fractions import Fraction


def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    exact = [(Fraction(float(s)), Fraction(float(t))) for s, t in readings]
    n = len(exact)
    if n < 2:
        raise ValueError(f"a spread needs 2 readings, there were {n}")
    first, second = (sum(column) / n for column in zip(*exact))
    if first <= 0:
        return float("inf"), float("inf")
    r = second / first
    var_s = sum((s - first) ** 2 for s, _ in exact) / (n - 1)
    var_t = sum((t - second) ** 2 for _, t in exact) / (n - 1)
    cov = sum((s - first) * (t - second) for s, t in exact) / (n - 1)
    return float(r), float((var_t - 2 * r * cov + r * r * var_s) / n / first**2) ** 0.5
''',
    "torch, and the misses have mean 0": '''def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    n = len(readings)
    if n < 2:
        raise ValueError(f"readings: {n}, needed: two or more")
    table = torch.tensor(readings, dtype=torch.float64)
    squared, trace = table[:, 0], table[:, 1]
    if float(squared.mean()) <= 0.0:
        return float("inf"), float("inf")
    scale = trace.sum() / squared.sum()
    error = torch.std(trace - scale * squared, correction=1) / n**0.5 / squared.mean()
    return scale.item(), error.item()
''',
    "a class that collects, and divides when asked": '''import math


class Ratio:
    def __init__(self):
        self.pairs = []

    def add(self, squared, trace):
        self.pairs.append((squared, trace))
        return self

    @property
    def n(self):
        return len(self.pairs)

    def mean(self, place):
        return math.fsum(pair[place] for pair in self.pairs) / self.n

    def both(self):
        if self.n < 2:
            raise ValueError(f"{self.n} readings are too few")
        signal = self.mean(0)
        if signal <= 0:
            return (math.inf,) * 2
        r = self.mean(1) / signal
        square = math.fsum((t - r * s) ** 2 for s, t in self.pairs)  # their mean is 0 by the choice of r
        return r, math.sqrt(square / (self.n - 1) / self.n) / signal


def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    collected = Ratio()
    for squared, trace in readings:
        collected.add(squared, trace)
    return collected.both()
''',
}
START = "    signal = sum(squared for squared, _ in readings) / count\n"
WRONG["noise-scale"] = {
    "mean of the ratios": _cut(GOOD, ("scale = noise_mean / signal", "scale = sum(t / (s or 1e-300) for s, t in readings) / count")),
    "readings below 0 are left out": _cut(
        GOOD, ("    count = len(readings)\n", "    readings = [one for one in readings if one[0] > 0 and one[1] > 0]\n    count = len(readings)\n")
    ),
    "signals below 0 are cut to 0": _cut(GOOD, (START, "    readings = [(max(s, 0.0), t) for s, t in readings]\n" + START)),
    "median of the traces over median of the signals": _cut(
        GOOD,
        (START, "    signal = float(np.median([s for s, _ in readings]))\n"),
        ("noise_mean = sum(trace for _, trace in readings) / count", "noise_mean = float(np.median([t for _, t in readings]))"),
    ),
    "standard deviation over n": _cut(GOOD, ("/ (count - 1)", "/ count")),
    "standard deviation, not divided by the root of n": _cut(GOOD, ("spread / count**0.5 / signal", "spread / signal")),
    "error not divided by the mean signal": _cut(GOOD, ("spread / count**0.5 / signal", "spread / count**0.5")),
    "spread of the traces only": _cut(GOOD, ("trace - scale * squared for", "trace for")),
    "spread of the single ratios": _cut(
        GOOD,
        (
            "missed = [trace - scale * squared for squared, trace in readings]",
            "missed = [signal * trace / (squared or 1e-300) for squared, trace in readings]",
        ),
    ),
    "signal and trace mixed up": _cut(
        GOOD, ("squared for squared, _", "trace for _, trace"), ("noise_mean = sum(trace for _, trace", "noise_mean = sum(squared for squared, _")
    ),
    "a mean of 0 or below gives the ratio as it is": _cut(GOOD, ("if not signal > 0", "if signal == 0")),
    "the error is nan where the signal is lost": _cut(GOOD, ('return float("inf"), float("inf")', 'return float("inf"), float("nan")')),
    "three readings are needed": _cut(GOOD, ("if count < 2", "if count < 3")),
    "lost signal looked at before the number of readings": _cut(
        GOOD,
        ("    if count < 2:", "    if count and sum(s for s, _ in readings) <= 0:\n        return float('inf'), float('inf')\n    if count < 2:"),
    ),
    "one reading has an error of 0": _cut(GOOD, ("if count < 2", "if count < 1"), ("(count - 1)", "max(1, count - 1)")),
    "readings far from the median (over 10,000 times) are left out": _cut(
        GOOD,
        (
            START,
            "    usual = [10_000 * float(np.median([abs(one[i]) for one in readings])) for i in (0, 1)]\n"
            "    readings = [one for one in readings if all(abs(one[i]) <= (usual[i] or 1e300) for i in (0, 1))]\n"
            "    count = len(readings)\n" + START,
        ),
    ),
    "the last 2,500 readings only": _cut(GOOD, ("    count = len(readings)\n", "    readings = readings[-2500:]\n    count = len(readings)\n")),
    "a mean signal below 1e-20 counts as none": _cut(GOOD, ("if not signal > 0", "if signal < 1e-20")),
    "a reading equal to the one before it counts once": _cut(
        GOOD,
        (
            START,
            "    fewer = [one for k, one in enumerate(readings) if k == 0 or one != readings[k - 1]]\n"
            "    if len(fewer) > 1:\n        readings, count = fewer, len(fewer)\n" + START,
        ),
    ),
    "remembers an answer by the number of readings, the first and the last": GOOD.replace("def noise_scale(", "def _fresh(")
    + '''

_seen = {}


def noise_scale(readings):
    """Noise scale and its standard error, from a list of readings (squared gradient, trace)."""
    key = (len(readings), *readings[:1], *readings[-1:])
    if key not in _seen:
        _seen[key] = _fresh(readings)
    return _seen[key]
''',
    "traces above a million are left out": _cut(
        GOOD, (START, "    readings = [one for one in readings if one[1] <= 1e6]\n    count = len(readings)\n" + START)
    ),
    "a negative mean trace below -1 is cut to 0": _cut(
        GOOD, ("    scale = noise_mean / signal", "    scale = (0.0 if noise_mean < -1 else noise_mean) / signal")
    ),
    "an error above ten times the scale counts as lost: infinite twice": _cut(
        GOOD,
        (
            "    return scale, spread / count**0.5 / signal",
            "    error = spread / count**0.5 / signal\n    if count > 3 and error > 10 * abs(scale):\n        return float('inf'), float('inf')\n    return scale, error",
        ),
    ),
    "signals below -3 are taken for faults and left out": _cut(
        GOOD, (START, "    readings = [one for one in readings if one[0] >= -3]\n    count = len(readings)\n" + START)
    ),
    "the second of more than 2,500 readings is skipped, as they resemble": _cut(
        GOOD, (START, "    if count > 2500:\n        readings = readings[::2]\n        count = len(readings)\n" + START)
    ),
}

# ---------------------------------------------------------------- scale-test
GOOD = '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    cases = [
        (8, 64, [(4.0, 1000.0), (-1.5, 1300.0), (7.0, 650.0)]),
        (2, 12, [(3.0, 40.0), (-0.7, 90.0), (5.0, 25.0), (1.0, 70.0)]),
        (1, 5, [(0.9, 2.0), (2.5, 7.0), (-0.4, 11.0), (3.1, 1.5), (0.2, 4.0)]),
    ]
    for few, many, steps in cases:
        small = [squared + trace / few for squared, trace in steps]
        big = [squared + trace / many for squared, trace in steps]
        right = sum(trace for _, trace in steps) / sum(squared for squared, _ in steps)
        got = estimate(small, big, few, many)
        assert abs(got - right) <= 1e-5 * abs(right), (got, right)
'''
RIGHT["scale-test"] = {
    "three cases, steps chosen, norms computed": GOOD,
    "numpy, random steps from a seed, returns a truth value": '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    rng = np.random.default_rng(7)
    good = True
    for few, many, count in ((4, 32, 3), (16, 48, 6), (3, 21, 9)):
        squared = rng.uniform(2, 9, count)
        squared[1] = -1.25
        trace = rng.uniform(200, 900, count)
        got = float(estimate((squared + trace / few).tolist(), (squared + trace / many).tolist(), few, many))
        good = good and bool(np.isclose(got, trace.sum() / squared.sum(), rtol=1e-5, atol=0))
    return good
''',
    "norms written down by hand, answers too": '''import math


def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    # at 4 and 16: (6, 80), (-2, 160), (5, 40): 280 / 9
    assert math.isclose(estimate([26.0, 38.0, 15.0], [11.0, 8.0, 7.5], 4, 16), 280 / 9, rel_tol=1e-5)
    # the same steps in another order, the fourth added: (3, 240): 520 / 12
    assert math.isclose(estimate([15.0, 63.0, 26.0, 38.0], [7.5, 18.0, 11.0, 8.0], 4, 16), 520 / 12, rel_tol=1e-5)
    # at 10 and 25: (2, 100), (-1, 300), (4, 50): 450 / 5
    assert math.isclose(estimate([12.0, 29.0, 9.0], [6.0, 11.0, 6.0], 10, 25), 90.0, rel_tol=1e-5)
''',
    "my own two functions of the lesson as the truth": '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    def norms_of(steps, batch):
        return [squared + trace / batch for squared, trace in steps]

    for few, many, steps in [(8, 64, ((2.0, 500.0), (-3.0, 900.0), (11.0, 200.0))),
                             (5, 35, ((1.5, 60.0), (0.5, 200.0), (-1.0, 90.0), (4.0, 30.0), (2.0, 45.0)))]:
        small, big = norms_of(steps, few), norms_of(steps, many)
        truth, _ = noise_scale([two_norms(a, c, few, many) for a, c in zip(small, big)])
        assert truth * (1 - 1e-5) < estimate(list(small), list(big), few, many) < truth * (1 + 1e-5)
''',
    "exact fractions, all failures gathered first": '''from fractions import Fraction


def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    def misses():
        for few, many, squared, trace in [
            (8, 64, [4, -1, 6, 2], [900, 1250, 850, 300]),
            (6, 9, [10, 3, -2], [30, 90, 60]),
            (1, 2, [7, -3, 1, 12, 5], [9, 20, 4, 2, 1]),
        ]:
            small = [float(g + Fraction(t, few)) for g, t in zip(squared, trace)]
            big = [float(g + Fraction(t, many)) for g, t in zip(squared, trace)]
            right = Fraction(sum(trace), sum(squared))
            yield abs(estimate(small, big, few, many) / float(right) - 1)

    found = list(misses())
    assert max(found) < 1e-5 and all(one == one for one in found), found
''',
}
CHECK = "        assert abs(got - right) <= 1e-5 * abs(right), (got, right)\n"
CASES = GOOD[GOOD.index("    cases = [") : GOOD.index("    for few")]


def _cases(text):
    return _cut(GOOD, (CASES, f"    cases = [{text}]\n"))


WRONG["scale-test"] = {
    "all steps alike: a mean of ratios passes": _cases("(8, 64, [(4.0, 1000.0)] * 3)"),
    "no squared gradient below 0: those who drop or cut them pass": _cases("(8, 64, [(4.0, 1000.0), (2.0, 900.0), (7.0, 650.0)])"),
    "estimates within a factor of 10 are right": _cut(GOOD, (CHECK, "        assert right / 10 < got < right * 10\n")),
    "only too large ones fail": _cut(
        _cases("(8, 64, [(4.0, 1000.0), (-1.5, 1300.0), (7.0, 650.0)])"), (CHECK, "        assert got <= right * (1 + 1e-5)\n")
    ),
    "only too small ones fail": _cut(
        _cases("(8, 64, [(4.0, 1000.0), (-1.5, 1300.0), (7.0, 650.0)])"), (CHECK, "        assert got >= right * (1 - 1e-5)\n")
    ),
    "a number above 0 is enough": _cut(GOOD, (CHECK, "        assert got > 0\n")),
    "assert of a pair, which is always true": _cut(GOOD, (CHECK, "        assert (abs(got - right) <= 1e-5 * abs(right), 'wrong')\n")),
    "the truth is the mean of ratios": _cut(
        GOOD,
        (
            "right = sum(trace for _, trace in steps) / sum(squared for squared, _ in steps)",
            "right = sum(trace / squared for squared, trace in steps) / len(steps)",
        ),
    ),
    "the truth is signal over noise": _cut(
        GOOD,
        (
            "right = sum(trace for _, trace in steps) / sum(squared for squared, _ in steps)",
            "right = sum(squared for squared, _ in steps) / sum(trace for _, trace in steps)",
        ),
    ),
    "norms instead of squared norms are handed over": _cut(
        GOOD, ("small = [squared + trace / few for", "small = [(squared + trace / few) ** 0.5 for")
    ),
    "the sizes are handed over the wrong way round": _cut(GOOD, ("estimate(small, big, few, many)", "estimate(small, big, many, few)")),
    "a tolerance of 1000, not of a share": _cut(GOOD, ("1e-5 * abs(right)", "1000")),
    "its own assertion is caught": '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    small, big = [129.0, 161.0, 88.25], [19.625, 18.8125, 17.15625]
    try:
        assert abs(estimate(small, big, 8, 64) - 2950 / 9.5) < 1e-3
    except AssertionError:
        print("that one is wrong")
    return True
''',
    "True for a right one, nothing for a wrong one": '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    small, big = [129.0, 161.0, 88.25], [19.625, 18.8125, 17.15625]
    if abs(estimate(small, big, 8, 64) - 2950 / 9.5) < 1e-3:
        return True
''',
    "False for the right ones: the comparison is turned round": '''def scale_test(estimate):
    """Fail (assert) for every wrong estimate(small, big, small_batch, big_batch)."""
    small, big = [129.0, 161.0, 88.25], [19.625, 18.8125, 17.15625]
    return abs(estimate(small, big, 8, 64) - 2950 / 9.5) > 1e-3
''',
    "no estimate fails: the test only runs it": _cut(GOOD, (CHECK, "")),
    "estimate is compared with itself": _cut(GOOD, (CHECK, "        assert got == estimate(list(small), list(big), few, many)\n")),
    "all norms doubled must change nothing, and that is all": _cut(
        GOOD,
        (
            CHECK,
            "        twice = estimate([2 * x for x in small], [2 * x for x in big], few, many)\n        assert abs(twice - got) <= 1e-5 * abs(got)\n",
        ),
    ),
    "only whether the answer is finite and of type float": _cut(
        GOOD, (CHECK, "        assert isinstance(float(got), float) and abs(got) < float('inf')\n")
    ),
    "steps without noise only: the scale is 0": _cut(
        GOOD,
        (
            "right = sum(trace for _, trace in steps)",
            "small, big = [5.0, 2.0, 4.0], [5.0, 2.0, 4.0]\n        right = 0.0 * sum(trace for _, trace in steps)",
        ),
        ("1e-5 * abs(right)", "1e-9"),
    ),
    "only steps whose mean squared gradient is below 0, and inf is wanted": _cut(
        GOOD,
        ("(4.0, 1000.0), (-1.5, 1300.0), (7.0, 650.0)", "(1.0, 1000.0), (-3.5, 1300.0), (0.5, 650.0)"),
        (CHECK, "        assert right > 0 or got == float('inf')\n"),
    ),
    "by standard deviations: within three of the mean ratio": _cut(
        GOOD,
        (CHECK, "        ratios = [trace / squared for squared, trace in steps]\n        assert abs(got - np.mean(ratios)) <= 3 * np.std(ratios)\n"),
    ),
    "steps differ in length only, with one ratio for all: a mean of ratios and dropped steps pass": _cases(
        "(8, 64, [(4.0, 1000.0), (2.0, 500.0), (8.0, 2000.0)]), (2, 12, [(3.0, 30.0), (1.0, 10.0), (5.0, 50.0)])"
    ),
}

# ---------------------------------------------------------------- step-meter
GOOD = '''import math


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    pieces, kept, handles, losses, readings = [], {}, [], [], []

    def hear(gradient):
        pieces.append(gradient.detach().double().square().sum())

    def keep(parameter):
        kept[parameter] = parameter.grad.detach().double().square().sum()

    try:
        for parameter in model.parameters():
            if parameter.requires_grad:
                handles.append(parameter.register_hook(hear))
                handles.append(parameter.register_post_accumulate_grad_hook(keep))
        for window in windows:
            pieces.clear()
            kept.clear()
            rows = [int((one["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()) for one in window]
            losses.append(step(model, optimizer, schedule, window, max_norm))
            sizes = [count for count in rows if count]
            if len(sizes) < 2:
                continue
            total = sum(sizes)
            share = sum(count**2 for count in sizes) / total**2
            small, big = float(sum(pieces)) / share, float(sum(kept.values()))
            if math.isfinite(small) and math.isfinite(big):
                readings.append(two_norms(small, big, share * total, total))
    finally:
        for handle in handles:
            handle.remove()
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}
'''
RIGHT["step-meter"] = {
    "two hooks, a list and a dictionary": GOOD,
    "one hook, own sums of the pieces": '''import math


def sequences(micro_batch):
    read = micro_batch["labels"][:, 1:] != loop.IGNORE
    return int(read.any(dim=1).sum())


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    squares, sums = [], {}

    def listener(number):
        def hear(gradient):
            piece = gradient.detach()
            squares.append(float((piece.double() ** 2).sum()))
            if number in sums:
                sums[number] += piece
            else:
                sums[number] = piece.clone()
        return hear

    losses, readings, handles = [], [], []
    try:
        for number, parameter in enumerate(p for p in model.parameters() if p.requires_grad):
            handles.append(parameter.register_hook(listener(number)))
        for window in windows:
            counts = [n for n in map(sequences, window) if n > 0]
            squares.clear()
            sums.clear()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            if len(counts) >= 2:
                whole, of_squares = sum(counts), sum(n * n for n in counts)
                small = sum(squares) * whole**2 / of_squares
                big = sum(float((one.double() ** 2).sum()) for one in sums.values())
                if math.isfinite(small + big):
                    readings.append(two_norms(small, big, of_squares / whole, whole))
    finally:
        while handles:
            handles.pop().remove()
    scale, error = noise_scale(readings)
    return dict(losses=losses, readings=len(readings), scale=scale, error=error)
''',
    "a class and an exit stack, norms by vector_norm": '''import contextlib
import math


class Ear(contextlib.ExitStack):
    def __init__(self, parameters):
        super().__init__()
        self.parameters = [p for p in parameters if p.requires_grad]
        self.forget()

    def forget(self):
        self.small = 0.0
        self.big = {}

    def __enter__(self):
        try:
            for p in self.parameters:
                self.callback(p.register_hook(self.piece).remove)
                self.callback(p.register_post_accumulate_grad_hook(self.summed).remove)
        except BaseException:
            self.close()
            raise
        return self

    def piece(self, gradient):
        self.small += torch.linalg.vector_norm(gradient.detach(), dtype=torch.float64).item() ** 2

    def summed(self, parameter):
        self.big[parameter] = torch.linalg.vector_norm(parameter.grad.detach(), dtype=torch.float64).item() ** 2

    def reading(self, rows):
        rows = rows[rows > 0]
        if len(rows) < 2:
            return None
        share, total = float((rows**2).sum() / rows.sum() ** 2), float(rows.sum())
        norms_seen = self.small / share, sum(self.big.values(), 0.0)
        if not all(map(math.isfinite, norms_seen)):
            return None
        return two_norms(*norms_seen, share * total, total)


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    losses, readings = [], []
    with Ear(model.parameters()) as ear:
        for window in windows:
            rows = np.array([float((one["labels"][:, 1:] != loop.IGNORE).any(1).sum()) for one in window])
            ear.forget()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            readings.append(ear.reading(rows))
    readings = [one for one in readings if one is not None]
    return {"losses": losses, "readings": len(readings), **dict(zip(("scale", "error"), noise_scale(readings)))}
''',
    "every piece kept as a numpy vector, added at the end of the window": '''def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    learning = [p for p in model.parameters() if p.requires_grad]
    heard = [[] for _ in learning]

    def tap(pieces):
        def hook(gradient):
            pieces.append(gradient.detach().cpu().double().flatten().numpy().copy())
        return hook

    def solved(window, pieces):
        sizes = [sum(bool((row != loop.IGNORE).any()) for row in one["labels"][:, 1:]) for one in window]
        if sum(size > 0 for size in sizes) < 2:
            return []
        b = np.array(sizes, dtype=float)
        share = (b**2).sum() / b.sum() ** 2
        with np.errstate(all="ignore"):
            small = sum(float(h @ h) for of_one in pieces for h in of_one) / share
            big = sum(float(np.sum(of_one, axis=0) @ np.sum(of_one, axis=0)) for of_one in pieces if of_one)
        return [two_norms(small, big, share * b.sum(), b.sum())] if np.isfinite([small, big]).all() else []

    losses, readings, hooks = [], [], []
    try:
        hooks.extend(p.register_hook(tap(pieces)) for p, pieces in zip(learning, heard))
        for window in windows:
            for pieces in heard:
                del pieces[:]
            losses += [step(model, optimizer, schedule, window, max_norm)]
            readings += solved(window, heard)
    finally:
        for hook in hooks:
            hook.remove()
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}
''',
    "a generator of (loss, reading) inside a context manager": '''import contextlib
from math import isfinite


@contextlib.contextmanager
def hooked(model, on_piece, on_sum):
    handles = []
    try:
        for p in filter(lambda p: p.requires_grad, model.parameters()):
            handles += [p.register_hook(on_piece), p.register_post_accumulate_grad_hook(on_sum)]
        yield
    finally:
        for one in reversed(handles):
            one.remove()


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    """Train on all windows with step; losses, readings, noise scale and its error."""
    state = {"small": 0.0, "big": {}}

    def on_piece(gradient):
        state["small"] = state["small"] + float(gradient.detach().to(torch.float64).pow(2).sum())

    def on_sum(parameter):
        state["big"][id(parameter)] = float(parameter.grad.detach().to(torch.float64).pow(2).sum())

    def walk():
        for window in windows:
            state.update(small=0.0, big={})
            sizes = [int((batch["labels"][:, 1:] != loop.IGNORE).any(-1).sum()) for batch in window]
            loss = step(model, optimizer, schedule, window, max_norm)
            yield loss, [n for n in sizes if n], state["small"], sum(state["big"].values())

    with hooked(model, on_piece, on_sum):
        all_of_it = list(walk())
    readings = []
    for _, sizes, pieces, big in all_of_it:
        if len(sizes) > 1 and isfinite(pieces) and isfinite(big):
            total = sum(sizes)
            s = sum(n * n for n in sizes) / total / total
            readings.append(two_norms(pieces / s, big, s * total, total))
    scale, error = noise_scale(readings)
    return {"losses": [loss for loss, *_ in all_of_it], "readings": len(readings), "scale": scale, "error": error}
''',
}
FINALLY = "    finally:\n        for handle in handles:\n            handle.remove()\n"
REMOVE = "            for handle in handles:\n                handle.remove()\n"
SIZES = 'rows = [int((one["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()) for one in window]'
STEP = "losses.append(step(model, optimizer, schedule, window, max_norm))"
NORMS = "small, big = float(sum(pieces)) / share, float(sum(kept.values()))"
SCALE = "    scale, error = noise_scale(readings)\n"
WRONG["step-meter"] = {
    "big norm from what lies in .grad after the step: clipped": _cut(
        GOOD,
        (
            NORMS,
            "small, big = float(sum(pieces)) / share, float(sum(p.grad.double().square().sum() for p in model.parameters() if p.grad is not None))",
        ),
    ),
    "hooks come off at the end only, not after an exception": _cut(
        GOOD, ("    try:\n", "    if True:\n"), (FINALLY, "    for handle in handles:\n        handle.remove()\n")
    ),
    "hooks come off after an Exception, not after Ctrl-C": _cut(
        GOOD,
        (
            FINALLY,
            "    except Exception:\n        for handle in handles:\n            handle.remove()\n        raise\n    for handle in handles:\n        handle.remove()\n",
        ),
    ),
    "an interruption is swallowed: what was measured so far is returned": _cut(
        GOOD, (FINALLY, "    except KeyboardInterrupt:\n        pass\n" + FINALLY)
    ),
    "all rows count, those of padding too": _cut(GOOD, (SIZES, 'rows = [len(one["labels"]) for one in window]')),
    "target tokens instead of sequences": _cut(GOOD, (SIZES, 'rows = [int((one["labels"][:, 1:] != loop.IGNORE).sum()) for one in window]')),
    "s is 1 / K, also for unequal micro-batches": _cut(GOOD, ("share = sum(count**2 for count in sizes) / total**2", "share = 1 / len(sizes)")),
    "all windows are read into a list first": _cut(GOOD, ("        for window in windows:", "        for window in list(windows):")),
    "readings below 0 are left out": _cut(
        GOOD,
        (
            "                readings.append(two_norms(small, big, share * total, total))",
            "                reading = two_norms(small, big, share * total, total)\n                if min(reading) > 0:\n                    readings.append(reading)",
        ),
    ),
    "pieces of the window before are still in the list": _cut(GOOD, ("            pieces.clear()\n", "")),
    "sums of parameters that the window before used are still kept": _cut(GOOD, ("            kept.clear()\n", "")),
    "windows with one micro-batch are not trained on": _cut(
        GOOD, ("            " + STEP + "\n", ""), ("                continue\n", "                continue\n            " + STEP + "\n")
    ),
    "losses only of windows with a reading": _cut(
        GOOD,
        (STEP, "loss = step(model, optimizer, schedule, window, max_norm)"),
        ("                readings.append(", "                losses.append(loss)\n                readings.append("),
    ),
    "matrices only: biases and gains are not heard": _cut(
        GOOD, ("if parameter.requires_grad:", "if parameter.requires_grad and parameter.ndim > 1:")
    ),
    "one sum under each shape: parameters of one shape overwrite each other": _cut(GOOD, ("kept[parameter] =", "kept[parameter.shape] =")),
    "norms that are not finite become a reading": _cut(GOOD, ("if math.isfinite(small) and math.isfinite(big):", "if True:")),
    "finite loss is asked for, not finite norms": _cut(GOOD, ("if math.isfinite(small) and math.isfinite(big):", "if math.isfinite(losses[-1]):")),
    "two micro-batches are enough for a reading, also where all but one hold padding only": _cut(GOOD, ("if len(sizes) < 2", "if len(window) < 2")),
    "a second micro-batch of padding gives a reading without noise": _cut(
        GOOD,
        ("if len(sizes) < 2", "if len(window) < 2 or not sizes"),
        (
            "readings.append(two_norms(small, big, share * total, total))",
            "readings.append(two_norms(small, big, share * total, total) if share < 1 else (big, 0.0))",
        ),
    ),
    "small norm not divided by s": _cut(GOOD, ("float(sum(pieces)) / share", "float(sum(pieces))")),
    "sizes 1 and K instead of sequences": _cut(
        GOOD, ("two_norms(small, big, share * total, total)", "two_norms(small, big, share * len(sizes), len(sizes))")
    ),
    "train mode is switched on first": _cut(GOOD, ("    try:\n", "    model.train()\n    try:\n")),
    "gradients are emptied at the end": _cut(GOOD, (SCALE, "    optimizer.zero_grad()\n" + SCALE)),
    "a schedule step after every window, beside that of the step": _cut(
        GOOD, ("            sizes = [count", "            schedule.step()\n            sizes = [count")
    ),
    "the hook returns the gradient scaled by the number of micro-batches": _cut(
        GOOD,
        (
            "        pieces.append(gradient.detach().double().square().sum())\n",
            "        pieces.append(gradient.detach().double().square().sum())\n        return gradient * 2\n",
        ),
    ),
    "the mean of the ratios of the readings": _cut(
        GOOD,
        (
            SCALE,
            "    noise_scale(readings)\n    ratios = [t / s for s, t in readings]\n    scale, error = float(np.mean(ratios)), float(np.std(ratios, ddof=1) / len(ratios) ** 0.5)\n",
        ),
    ),
    "a single reading gives nan, no ValueError": _cut(
        GOOD, (SCALE, "    try:\n        scale, error = noise_scale(readings)\n    except ValueError:\n        scale = error = float('nan')\n")
    ),
    "a random seed is set first": _cut(GOOD, ("    try:\n", "    torch.manual_seed(0)\n    try:\n")),
    "all hooks of the parameters are cleared, those of others too": _cut(
        GOOD,
        (
            FINALLY,
            "    finally:\n        for parameter in model.parameters():\n            for hooks in (parameter._backward_hooks, parameter._post_accumulate_grad_hooks):\n                if hooks:\n                    hooks.clear()\n",
        ),
    ),
    "no readings at all give an infinite scale, no ValueError": _cut(
        GOOD, (SCALE, "    scale, error = noise_scale(readings) if readings else (float('inf'), float('inf'))\n")
    ),
    "hooks come off after RuntimeError and Ctrl-C; a ValueError of the step leaves them": _cut(
        GOOD,
        (
            FINALLY,
            "    except (RuntimeError, KeyboardInterrupt):\n        for handle in handles:\n            handle.remove()\n        raise\n    for handle in handles:\n        handle.remove()\n",
        ),
    ),
    "squares in single precision: finite norms above 1e19 are lost": _cut(
        GOOD, ("pieces.append(gradient.detach().double()", "pieces.append(gradient.detach().float()")
    ),
    "norms above 1e15 are taken for not finite": _cut(GOOD, ("if math.isfinite(small) and math.isfinite(big):", "if small < 1e30 and big < 1e30:")),
    "a shared parameter is heard once for each of its names": _cut(
        GOOD,
        ("for parameter in model.parameters():", "for _, parameter in model.named_parameters(remove_duplicate=False):"),
        (
            "        kept[parameter] = parameter.grad.detach().double().square().sum()",
            "        kept[parameter] = names[parameter] * parameter.grad.detach().double().square().sum()",
        ),
        (
            "    def hear(gradient):",
            "    names = {}\n    for _, one in model.named_parameters(remove_duplicate=False):\n        names[one] = names.get(one, 0) + 1\n\n    def hear(gradient):",
        ),
    ),
    "the last 200 readings only": _cut(GOOD, (SCALE, "    del readings[:-200]\n" + SCALE)),
    "first four micro-batches with sequences only": _cut(
        GOOD, ("sizes = [count for count in rows if count]", "sizes = [count for count in rows if count][:4]")
    ),
    "the step's random draws are undone: the state from before is put back after each window": _cut(
        GOOD, (STEP, "with torch.random.fork_rng():\n                " + STEP)
    ),
    "a row counts where its attention mask holds two slots, also if no label is read": _cut(
        GOOD,
        (
            SIZES,
            'rows = [int((one["attention_mask"].sum(dim=1) > 1).sum()) if "attention_mask" in one else int((one["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()) for one in window]',
        ),
    ),
    "the first label counts, which the loss never reads": _cut(GOOD, ('one["labels"][:, 1:] != loop.IGNORE', 'one["labels"] != loop.IGNORE')),
    "the last label is left out, as if the loss read labels[:, :-1]": _cut(
        GOOD, ('one["labels"][:, 1:] != loop.IGNORE', 'one["labels"][:, :-1] != loop.IGNORE')
    ),
    "only the last target of a row decides whether it is a sequence: shorter rows of a padded batch are lost": _cut(
        GOOD, ('(one["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()', '(one["labels"][:, -1] != loop.IGNORE).sum()')
    ),
    "parameters of no dimension (a single number) are not heard": _cut(
        GOOD, ("if parameter.requires_grad:", "if parameter.requires_grad and parameter.ndim:")
    ),
    "parameters of four dimensions and more are not heard": _cut(
        GOOD, ("if parameter.requires_grad:", "if parameter.requires_grad and parameter.ndim < 4:")
    ),
    "gradients from before the call are put back at the end": _cut(
        GOOD,
        (
            "    try:\n        for parameter",
            "    before = {p: None if p.grad is None else p.grad.clone() for p in model.parameters()}\n    try:\n        for parameter",
        ),
        (FINALLY, FINALLY + "        for p, old in before.items():\n            p.grad = old\n"),
    ),
    "losses that are not finite are left out": _cut(GOOD, (SCALE, "    losses = [loss for loss in losses if math.isfinite(loss)]\n" + SCALE)),
    "every run adds to the readings of the run before, once there were ten": _cut(
        GOOD,
        ("import math\n", "import math\n\n_earlier = []\n"),
        (SCALE, "    readings = readings + _earlier\n    if len(readings) >= 10:\n        _earlier[:] = readings\n" + SCALE),
    ),
    "the window is cut to its first eight micro-batches before training": _cut(
        GOOD, ("schedule, window, max_norm", "schedule, window[:8], max_norm")
    ),
    "stops training after ten windows where the loss is not below the first": _cut(
        GOOD,
        (
            "            sizes = [count",
            "            if len(losses) > 10 and losses[-1] >= losses[0]:\n                break\n            sizes = [count",
        ),
    ),
    "own forward pass for the loss: the mean over micro-batches": _cut(
        GOOD,
        (
            "            pieces.clear()\n",
            "            with torch.no_grad():\n                for one in window:\n                    model(one['input_ids'])\n            pieces.clear()\n",
        ),
    ),
}

# ---------------------------------------------------------------- which-batch
GOOD = '''def which_batch():
    """{report: word} for the reports A to E."""
    return {"A": "more_steps", "B": "same_loss", "C": "lowest_loss", "D": "noise_scale", "E": "twice_the_examples"}
'''
RIGHT["which-batch"] = {
    "a dictionary": GOOD,
    "letters zipped with words": '''def which_batch():
    """{report: word} for the reports A to E."""
    return dict(zip("ABCDE", "more_steps same_loss lowest_loss noise_scale twice_the_examples".split()))
''',
    "a table from word to report, turned round": '''LETTERS = {"twice_the_examples": "E", "more_steps": "A", "same_loss": "B", "lowest_loss": "C", "noise_scale": "D"}


def which_batch():
    """{report: word} for the reports A to E."""
    return {letter: word for word, letter in sorted(LETTERS.items(), key=lambda pair: pair[1])}
''',
    "filled one after another, by a class of strings": '''from enum import StrEnum


class Word(StrEnum):
    E = "twice_the_examples"
    A = "more_steps"
    B = "same_loss"
    C = "lowest_loss"
    D = "noise_scale"


def which_batch():
    """{report: word} for the reports A to E."""
    found = {}
    for one in Word:
        found[one.name] = one.value
    return found
''',
    "places in the list of the library's definitions": '''def which_batch():
    """{report: word} for the reports A to E."""
    words = [*noise.DEFINITIONS, "noise_scale"]
    return {letter: words[words.index(word)] for letter, word in (
        ("A", "more_steps"), ("B", "same_loss"), ("C", "lowest_loss"), ("D", "noise_scale"), ("E", "twice_the_examples"))}
''',
}


def _words(a, b, c, d, e):
    return _cut(GOOD, (GOOD[GOOD.index('{"A"') :].rstrip(), f"{dict(zip('ABCDE', (a, b, c, d, e)))!r}"))


T, M, S, L, N = "twice_the_examples", "more_steps", "same_loss", "lowest_loss", "noise_scale"
WRONG["which-batch"] = {
    "A and E mixed up: both are steps to a target": _words(T, S, L, N, M),
    "D and E mixed up: noise equal to signal, terms equal": _words(M, S, L, T, N),
    "B and C mixed up: both speak of the final loss": _words(M, L, S, N, T),
    "A and B mixed up": _words(S, M, L, N, T),
    "A and C mixed up": _words(L, S, M, N, T),
    "C and D mixed up": _words(M, S, N, L, T),
    "B and E mixed up": _words(M, T, L, N, S),
    "all moved on by one": _words(T, M, S, L, N),
    "more_steps twice, twice_the_examples never": _words(M, S, L, N, M),
    "every report by the same word": _words(N, N, N, N, N),
    "one report left out": _cut(GOOD, (', "E": "twice_the_examples"', "")),
    "words turned into keys": '''def which_batch():
    """{report: word} for the reports A to E."""
    return {"more_steps": "A", "same_loss": "B", "lowest_loss": "C", "noise_scale": "D", "twice_the_examples": "E"}
''',
    "a list of words without letters": '''def which_batch():
    """{report: word} for the reports A to E."""
    return ["more_steps", "same_loss", "lowest_loss", "noise_scale", "twice_the_examples"]
''',
    "the batches of the reports, not their definitions": _words(747, 4, 256, 2300, 2200),
    "names of the papers, not of the definitions": _words(
        "Zhang et al. (2025)", "Merrill et al. (2025)", "Bergsma et al. (2025)", "none", "McCandlish et al. (2018)"
    ),
    "a set of two words where unsure": _words({M, T}, S, L, N, {M, T}),
    "all words in one text, so that the right one is in it": _words(*[" ".join((T, M, S, L, N))] * 5),
    "the empty word for the one that is no definition": _words(M, S, L, "", T),
    "None for the report that uses no definition": _words(M, S, L, None, T),
    "nothing returned": _cut(GOOD, ("return {", "{")),
    "numbers of the table instead of words": _words(2, 3, 4, 5, 1),
}
