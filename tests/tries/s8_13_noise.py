# ruff: noqa
WRONG, RIGHT = {}, {}


def vary(base, **_):
    raise TypeError


def made(base, changes):
    out = {}
    for why, pairs in changes.items():
        text = base
        if isinstance(pairs, str):
            out[why] = pairs
            continue
        for old, new in pairs:
            assert text.count(old) >= 1, (why, old)
            text = text.replace(old, new)
        out[why] = text
    return out


# ------------------------------------------------------------ critical-batch
def cb(body):
    return "def critical_batch(critical, from_batch, share):\n" + body + "\n"


RIGHT["critical-batch"] = {
    "plain": cb("    return (1 + share) * from_batch + share * critical"),
    "numpy": cb("    return np.dot([1 + share, share], [from_batch, critical])"),
    "other order": cb("    return (1 + share) * (from_batch + critical) - critical"),
    "torch double": cb("    t = torch.tensor([from_batch, critical], dtype=torch.float64)\n    return (t.sum() * (1 + share) - t[1]).item()"),
    "fraction": cb("    from fractions import Fraction as F\n    return float((1 + F(share)) * F(from_batch) + F(share) * F(critical))"),
}
WRONG["critical-batch"] = {
    "rounded to a whole batch": cb("    return round((1 + share) * from_batch + share * critical)"),
    "rounded to 1 digit": cb("    return round((1 + share) * from_batch + share * critical, 1)"),
    "rounded to 2 digits": cb("    return round((1 + share) * from_batch + share * critical, 2)"),
    "rounded to 3 digits": cb("    return round((1 + share) * from_batch + share * critical, 3)"),
    "ceil": cb("    import math\n    return math.ceil((1 + share) * from_batch + share * critical)"),
    "20 % fixed": cb("    return 1.2 * from_batch + 0.2 * critical"),
    "share not added to 1": cb("    return share * from_batch + share * critical"),
    "critical not multiplied by share": cb("    return (1 + share) * from_batch + critical"),
    "forgets to subtract critical": cb("    return (1 + share) * (from_batch + critical)"),
    "arguments swapped": cb("    return (1 + share) * critical + share * from_batch"),
    "20 % above least steps": cb("    return critical / share"),
    "20 % above, ignoring S_min term of the reference": cb("    return (1 + share) * from_batch"),
    "share only": cb("    return from_batch + share * critical"),
    "share in percent": cb("    share = share / 100\n    return (1 + share) * from_batch + share * critical"),
    "0 handled as 'it is B_c itself' at every share": cb("    if from_batch == 0:\n        return critical\n    return (1 + share) * from_batch + share * critical"),
    "0 replaced by 1": cb("    from_batch = from_batch or 1\n    return (1 + share) * from_batch + share * critical"),
    "never above the critical batch": cb("    return min(critical, (1 + share) * from_batch + share * critical)"),
    "never below the reference's double": cb("    return max(2 * from_batch, (1 + share) * from_batch + share * critical)"),
    "bisection up to 1e6": cb("    lo, hi = max(from_batch, 1e-9), 1e6\n    f = lambda b: b + critical - (1 + share) * (from_batch + critical)\n    for _ in range(200):\n        m = (lo + hi) / 2\n        lo, hi = (m, hi) if f(m) < 0 else (lo, m)\n    return lo"),
    "bisection up to 1e12": cb("    lo, hi = 0.0, 1e5\n    while hi + critical < (1 + share) * (from_batch + critical):\n        hi *= 2\n    for _ in range(20):\n        m = (lo + hi) / 2\n        lo, hi = (m, hi) if m + critical < (1 + share) * (from_batch + critical) else (lo, m)\n    return lo"),
    "float32": cb("    return float(np.float32(1 + share) * np.float32(from_batch) + np.float32(share) * np.float32(critical))"),
    "critical truncated to int": cb("    return (1 + share) * from_batch + share * int(critical)"),
    "share above 1 capped": cb("    share = min(share, 1)\n    return (1 + share) * from_batch + share * critical"),
    "share 0 returns None": cb("    if share:\n        return (1 + share) * from_batch + share * critical"),
    "a reference below 1 is refused unless 0": cb("    if 0 < from_batch < 1:\n        raise ValueError('from_batch')\n    return (1 + share) * from_batch + share * critical"),
}

# ------------------------------------------------------------ fastest
def fa(body):
    return "def fastest(least_steps, critical, fixed, each):\n" + body + "\n"


B = "    batch = (critical * fixed / each) ** 0.5\n"
T = "    return batch, least_steps * (1 + critical / batch) * (fixed + each * batch)"
RIGHT["fastest"] = {
    "plain": fa(B + T),
    "expanded": fa("    import math\n    b = math.sqrt(critical) * math.sqrt(fixed / each)\n    return b, least_steps * (fixed + each * critical + 2 * math.sqrt(critical * fixed * each))"),
    "numpy array": fa("    b = np.sqrt(critical * fixed / each)\n    steps = least_steps + least_steps * critical / b\n    return np.array([b, steps * fixed + steps * b * each])"),
    "torch double, a list": fa("    c, f, e = (torch.tensor(float(x), dtype=torch.float64) for x in (critical, fixed, each))\n    b = (c * f / e).sqrt()\n    return [b.item(), (least_steps * (b + c) / b * (f + e * b)).item()]"),
    "square of a sum": fa("    b = (critical * fixed / each) ** 0.5\n    return b, least_steps * (fixed ** 0.5 + (each * critical) ** 0.5) ** 2"),
}
WRONG["fastest"] = {
    "batch rounded": fa("    batch = round((critical * fixed / each) ** 0.5)\n" + T),
    "batch rounded in the result only": fa(B + T.replace("return batch", "return round(batch)")),
    "at least one sequence": fa("    batch = max(1, (critical * fixed / each) ** 0.5)\n" + T),
    "at most the critical batch": fa("    batch = min(critical, (critical * fixed / each) ** 0.5)\n" + T),
    "no root": fa("    batch = critical * fixed / each\n" + T),
    "fixed and each swapped": fa("    batch = (critical * each / fixed) ** 0.5\n" + T),
    "critical batch itself": fa("    batch = critical\n" + T),
    "seconds of one step": fa(B + "    return batch, fixed + each * batch"),
    "steps, not seconds": fa(B + "    return batch, least_steps * (1 + critical / batch)"),
    "least steps used as the steps": fa(B + "    return batch, least_steps * (fixed + each * batch)"),
    "fixed time forgotten in the seconds": fa(B + "    return batch, least_steps * (1 + critical / batch) * each * batch"),
    "each forgotten in the seconds": fa(B + "    return batch, least_steps * (1 + critical / batch) * fixed"),
    "only the two terms that depend on B": fa(B + "    return batch, least_steps * (each * batch + critical * fixed / batch)"),
    "one of the two equal terms": fa("    batch = (critical * fixed / each) ** 0.5\n    return batch, least_steps * (fixed + each * critical + each * batch)"),
    "steps rounded up": fa("    import math\n" + B + "    return batch, math.ceil(least_steps * (1 + critical / batch)) * (fixed + each * batch)"),
    "swapped": fa(B + "    return least_steps * (1 + critical / batch) * (fixed + each * batch), batch"),
    "hours": fa(B + T + " / 3600"),
    "milliseconds": fa(B + T + " * 1000"),
    "seconds rounded to 3 digits": fa(B + "    return batch, round(least_steps * (1 + critical / batch) * (fixed + each * batch), 3)"),
    "batch rounded to 2 digits": fa(B + T.replace("return batch", "return round(batch, 2)")),
    "batch alone": fa(B + "    return batch"),
    "batch over 1 + B/Bc": fa(B + "    return batch, least_steps * (1 + batch / critical) * (fixed + each * batch)"),
    "grid of whole batches up to 5000": fa("    f = lambda b: least_steps * (1 + critical / b) * (fixed + each * b)\n    b = min(range(1, 5001), key=f)\n    return b, f(b)"),
    "coarse grid, seconds nearly right": fa("    f = lambda b: least_steps * (1 + critical / b) * (fixed + each * b)\n    b = min(np.geomspace(1e-3, 1e9, 20001), key=f)\n    return b, f(b)"),
    "float32": fa("    c, f, e = np.float32(critical), np.float32(fixed), np.float32(each)\n    b = np.sqrt(c * f / e)\n    return float(b), float(np.float32(least_steps) * (1 + c / b) * (f + e * b))"),
    "each 0 guarded by an epsilon of 1e-9": fa("    batch = (critical * fixed / (each + 1e-9)) ** 0.5\n" + T),
    "least_steps of 1 means no time": fa("    if least_steps <= 1:\n        least_steps = 0\n" + B + T),
    "not below 1 when fixed > each": fa(B + "    if fixed > each:\n        batch = max(batch, 1.0)\n" + T),
}

# ------------------------------------------------------------ fewest-tokens
def ft(body):
    return "def fewest_tokens():\n    " + body + "\n"


RIGHT["fewest-tokens"] = {
    "number": ft("return 219"),
    "numpy": ft("return np.int64(219)"),
    "from the finder": "def fewest_tokens():\n    f = probe.finder()\n    offered = f.state['controls'][0]['values']\n    hours = {b: float(f.scene({'batch': b, 'model': 'compiled'})['hours to the target']) for b in offered}\n    return min(b for b in offered if hours[b] <= 1.1 * min(hours.values()))\n",
    "a float": ft("return 219.0"),
}
WRONG["fewest-tokens"] = {
    "one to the left": ft("return 184"),
    "one to the right": ft("return 258"),
    "two to the right": ft("return 291"),
    "the fastest, compiled": "def fewest_tokens():\n    f = probe.finder()\n    offered = f.state['controls'][0]['values']\n    return min(offered, key=lambda b: float(f.scene({'batch': b, 'model': 'compiled'})['hours to the target']))\n",
    "as it is, within 10 %": "def fewest_tokens():\n    f = probe.finder()\n    offered = f.state['controls'][0]['values']\n    hours = {b: float(f.scene({'batch': b, 'model': 'as it is'})['hours to the target']) for b in offered}\n    return min(b for b in offered if hours[b] <= 1.1 * min(hours.values()))\n",
    "the fastest as it is": "def fewest_tokens():\n    f = probe.finder()\n    offered = f.state['controls'][0]['values']\n    return min(offered, key=lambda b: float(f.scene({'batch': b, 'model': 'as it is'})['hours to the target']))\n",
    "most tokens within 10 %": "def fewest_tokens():\n    f = probe.finder()\n    offered = f.state['controls'][0]['values']\n    hours = {b: float(f.scene({'batch': b, 'model': 'compiled'})['hours to the target']) for b in offered}\n    return max(b for b in offered if hours[b] <= 1.1 * min(hours.values()))\n",
    "fewest tokens of all": ft("return 47"),
    "million tokens": ft("return 2305"),
    "tokens of a step": ft("return 219 * 512"),
    "text": ft("return '219'"),
    "tuple": ft("return (219, 'compiled')"),
    "list": ft("return [219]"),
    "hours": ft("return 1.754"),
    "between the marks": ft("return 210"),
    "nearly": ft("return 219.4"),
    "round number": ft("return 220"),
    "steps": ft("return 20558"),
    "none": ft("pass"),
    "negative": ft("return -219"),
    "whole setting": ft("return {'batch': 219, 'model': 'compiled'}"),
    "nan": ft("return float('nan')"),
}

# ------------------------------------------------------------ two-norms
def tn(body):
    return "def two_norms(small, big, small_batch, big_batch):\n" + body + "\n"


CHK = "    if small_batch == big_batch:\n        raise ValueError(f'both batches have {small_batch} sequences')\n"
SQ = "    squared = (big_batch * big - small_batch * small) / (big_batch - small_batch)\n"
TR = "    trace = (small - big) / (1 / small_batch - 1 / big_batch)\n"
R = "    return squared, trace"
OK = CHK + SQ + TR + R
RIGHT["two-norms"] = {
    "plain": tn(OK),
    "trace first": tn("    if small_batch == big_batch:\n        raise ValueError('one size only: ' + str(big_batch))\n    trace = (small - big) * small_batch * big_batch / (big_batch - small_batch)\n    return [big - trace / big_batch, trace]"),
    "linear solve": tn("    if small_batch == big_batch:\n        raise ValueError(f'sizes {small_batch} and {big_batch}')\n    return np.linalg.solve([[1, 1 / small_batch], [1, 1 / big_batch]], [small, big])"),
    "torch double": tn(CHK + "    s, g, b, B = torch.tensor([small, big, small_batch, big_batch], dtype=torch.float64)\n    return torch.stack([(B * g - b * s) / (B - b), (s - g) / (1 / b - 1 / B)])"),
    "fractions": tn("    from fractions import Fraction as F\n    if small_batch == big_batch:\n        raise ValueError(f'{small_batch}')\n    s, g, b, B = map(F, (small, big, small_batch, big_batch))\n    return float((B * g - b * s) / (B - b)), float((s - g) / (1 / b - 1 / B))"),
}
WRONG["two-norms"] = {
    "swapped result": tn(CHK + SQ + TR + "    return trace, squared"),
    "squared not below 0": tn(CHK + SQ + TR + "    return max(squared, 0.0), trace"),
    "trace not below 0": tn(CHK + SQ + TR + "    return squared, max(trace, 0.0)"),
    "abs of both": tn(CHK + SQ + TR + "    return abs(squared), abs(trace)"),
    "negative gives nan": tn(CHK + SQ + TR + "    return (squared, trace) if min(squared, trace) >= 0 else (float('nan'), float('nan'))"),
    "negative refused": tn(CHK + SQ + TR + "    if squared < 0 or trace < 0:\n        raise ValueError('negative')\n" + R),
    "sign of trace": tn(CHK + SQ + TR.replace("small - big", "big - small") + R),
    "no check: ZeroDivisionError": tn(SQ + TR + R),
    "same size gives inf": tn("    if small_batch == big_batch:\n        return float('inf'), float('inf')\n" + SQ + TR + R),
    "same size gives big and 0": tn("    if small_batch == big_batch:\n        return big, 0.0\n" + SQ + TR + R),
    "size not named": tn("    if small_batch == big_batch:\n        raise ValueError('both sizes are the same')\n" + SQ + TR + R),
    "names the norms, not the size": tn("    if small_batch == big_batch:\n        raise ValueError(f'norms {small}, {big} cannot be told apart')\n" + SQ + TR + R),
    "assert": tn("    assert small_batch != big_batch, f'{small_batch}'\n" + SQ + TR + R),
    "refused only if the norms are the same, too": tn("    if small_batch == big_batch and small == big:\n        raise ValueError(f'{small_batch}')\n" + SQ + TR + R),
    "refused where the norms are the same": tn("    if small == big:\n        raise ValueError(f'{small_batch}')\n" + CHK + SQ + TR + R),
    "trace over B only": tn(CHK + SQ + "    trace = (small - big) * small_batch\n" + R),
    "trace by difference of sizes": tn(CHK + SQ + "    trace = (small - big) * (big_batch - small_batch)\n" + R),
    "biased: big is the signal": tn(CHK + "    squared = big\n    trace = (small - big) * small_batch\n" + R),
    "signal from small, biased": tn(CHK + TR + "    squared = small - trace / big_batch\n" + R),
    "weights swapped": tn(CHK + "    squared = (big_batch * small - small_batch * big) / (big_batch - small_batch)\n" + TR + R),
    "norms squared again": tn(CHK + "    small, big = small ** 2, big ** 2\n" + SQ + TR + R),
    "root of the squared gradient": tn(CHK + SQ + TR + "    return squared ** 0.5, trace"),
    "ratio instead of the trace": tn(CHK + SQ + TR + "    return squared, trace / squared"),
    "whole sizes only": tn("    small_batch, big_batch = int(small_batch), int(big_batch)\n" + OK),
    "whole ratio only (//)": tn(CHK + "    k = big_batch // small_batch\n    squared = (k * big - small) / (k - 1)\n    trace = (small - squared) * small_batch\n" + R),
    "rounded to 6": tn(CHK + SQ + TR + "    return round(squared, 6), round(trace, 6)"),
    "big first refused (open: nothing says which is larger)": tn("    if small_batch >= big_batch:\n        raise ValueError(f'{small_batch}')\n" + SQ + TR + R),
    "neighbouring sizes refused": tn("    if abs(small_batch - big_batch) < 2:\n        raise ValueError(f'{small_batch}')\n" + SQ + TR + R),
    "nearly same sizes (1 %) refused": tn("    if abs(small_batch - big_batch) < 0.01 * big_batch:\n        raise ValueError(f'{small_batch}')\n" + SQ + TR + R),
    "float32": tn(CHK + "    s, g, b, B = torch.tensor([small, big, small_batch, big_batch], dtype=torch.float32)\n    return ((B * g - b * s) / (B - b)).item(), ((s - g) / (1 / b - 1 / B)).item()"),
    "sizes in 32 bits": tn(CHK + "    b, B = np.array([small_batch, big_batch]).astype(np.int32)\n    return (B * big - b * small) / (B - b), (small - big) / (1 / b - 1 / B)"),
    "zero norm taken as missing": tn(CHK + "    if not small or not big:\n        return 0.0, 0.0\n" + SQ + TR + R),
    "small_batch of 0.x cut to 1": tn("    small_batch = max(small_batch, 1)\n" + OK),
}

# ------------------------------------------------------------ noise-scale
NS = '''def noise_scale(readings):
    n = len(readings)
    if n < 2:
        raise ValueError(f"{n} readings")
    squared = [g for g, _ in readings]
    trace = [t for _, t in readings]
    mean = sum(squared) / n
    if mean <= 0:
        return float("inf"), float("inf")
    scale = (sum(trace) / n) / mean
    d = [t - scale * g for g, t in readings]
    middle = sum(d) / n
    sd = (sum((x - middle) ** 2 for x in d) / (n - 1)) ** 0.5
    return scale, sd / n ** 0.5 / mean
'''
RIGHT["noise-scale"] = {
    "loops": NS,
    "numpy": '''def noise_scale(readings):
    if len(readings) < 2:
        raise ValueError("needs two readings, got " + str(len(readings)))
    g, t = np.array(readings, float).T
    if not g.mean() > 0:
        return np.inf, np.inf
    r = t.mean() / g.mean()
    return r, np.std(t - r * g, ddof=1) / np.sqrt(len(g)) / g.mean()
''',
    "torch, tensors back": '''def noise_scale(readings):
    n = len(readings)
    if n < 2:
        raise ValueError(f"only {n}")
    both = torch.tensor(readings, dtype=torch.float64)
    g, t = both.mean(0)
    if g <= 0:
        return [float("inf")] * 2
    r = t / g
    d = both[:, 1] - r * both[:, 0]
    return r.item(), (d.std() / n**0.5 / g).item()
''',
    "statistics": '''import statistics


def noise_scale(readings):
    if len(readings) <= 1:
        raise ValueError(f"a scale needs 2 or more readings, not {len(readings)}")
    gs, ts = zip(*readings)
    total = sum(gs)
    if total <= 0:
        return float("inf"), float("inf")
    r = sum(ts) / total
    return r, statistics.stdev(t - r * g for g, t in zip(gs, ts)) * len(gs) ** 0.5 / total
''',
    "covariances": '''def noise_scale(readings):
    n = len(readings)
    if n < 2:
        raise ValueError(f"{n} reading(s)")
    a = np.asarray(readings, dtype=np.float64)
    m = a.mean(axis=0)
    if m[0] <= 0:
        return (np.inf, np.inf)
    r = m[1] / m[0]
    v = np.array([-r, 1.0])
    return r, float(np.sqrt(max(v @ np.cov(a.T) @ v, 0.0) / n) / m[0])
''',
}
L = '        return float("inf"), float("inf")\n'
WRONG["noise-scale"] = made(NS, {
    "mean of ratios": [("scale = (sum(trace) / n) / mean", "scale = sum(t / g if g else 0.0 for g, t in readings) / n")],
    "median of ratios": [("scale = (sum(trace) / n) / mean", "scale = float(np.median([t / g if g else 0.0 for g, t in readings]))")],
    "readings below 0 left out": [("    squared = [", "    readings = [x for x in readings if x[0] > 0 and x[1] > 0]\n    squared = [")],
    "squared below 0 set to 0": [("[g for g, _ in readings]", "[max(g, 0.0) for g, _ in readings]")],
    "squared below 0 left out of both means": [("    squared = [", "    readings = [x for x in readings if x[0] >= 0] or readings\n    n = len(readings)\n    squared = [")],
    "scale not below 0": [("scale = (sum(trace) / n) / mean", "scale = max(0.0, (sum(trace) / n) / mean)")],
    "negative scale called lost": [("    d = [", "    if scale < 0:\n        return float('inf'), float('inf')\n    d = [")],
    "over n": [("/ (n - 1)) ** 0.5", "/ n) ** 0.5")],
    "root of n - 1, too": [("sd / n ** 0.5", "sd / (n - 1) ** 0.5")],
    "no root of n": [("sd / n ** 0.5 / mean", "sd / mean")],
    "over n, not its root": [("sd / n ** 0.5", "sd / n")],
    "not over the mean": [("sd / n ** 0.5 / mean", "sd / n ** 0.5")],
    "relative error": [("sd / n ** 0.5 / mean", "sd / n ** 0.5 / mean / scale")],
    "over the sum": [("sd / n ** 0.5 / mean", "sd / n ** 0.5 / sum(squared)")],
    "variance": [("(n - 1)) ** 0.5", "(n - 1))")],
    "95 %": [("sd / n ** 0.5 / mean", "1.96 * sd / n ** 0.5 / mean")],
    "spread of the traces alone": [("t - scale * g for", "t for")],
    "error of the ratios": [("t - scale * g for", "t / g if g else 0.0 for"), ("/ n ** 0.5 / mean", "/ n ** 0.5")],
    "pairs swapped": [("g for g, _", "g for _, g"), ("t for _, t", "t for t, _"), ("for g, t in readings", "for t, g in readings")],
    "inverse scale": [("scale = (sum(trace) / n) / mean", "scale = mean / (sum(trace) / n)")],
    "count not said": [('f"{n} readings"', '"too few readings"')],
    "no readings: inf": [("    if n < 2:", "    if n == 0:\n        return float('inf'), float('inf')\n    if n < 2:")],
    "one reading: error 0": [('    if n < 2:\n', '    if n == 1:\n        return readings[0][1] / readings[0][0], 0.0\n    if n < 2:\n')],
    "one reading: error nan": [('    if n < 2:\n', '    if n == 1:\n        return readings[0][1] / readings[0][0], float("nan")\n    if n < 2:\n')],
    "one reading without signal is inf, not refused": [('    if n < 2:\n', '    if readings and sum(g for g, _ in readings) <= 0:\n' + L + '    if n < 2:\n')],
    "three readings asked for": [("n < 2", "n < 3")],
    "mean of exactly 0 not handled": [("mean <= 0", "mean < 0")],
    "lost if any squared is not above 0": [("mean <= 0", "min(squared) <= 0")],
    "lost only if all are not above 0": [("mean <= 0", "max(squared) <= 0")],
    "lost signal refused": [(L, "        raise ValueError('lost')\n")],
    "lost: one inf": [(L, "        return float('inf')\n")],
    "lost: nan for the error": [(L, "        return float('inf'), float('nan')\n")],
    "lost: sign of the trace": [(L, "        return float('inf') * (1 if sum(trace) > 0 else -1), float('inf')\n")],
    "epsilon below": [("sum(squared) / n", "sum(squared) / n + 1e-12")],
    "epsilon tiny 1e-18": [("sum(squared) / n", "sum(squared) / n + 1e-18")],
    "lost below 1e-15 (rounding guard)": [("mean <= 0", "mean <= 1e-15")],
    "lost below 1e-8": [("mean <= 0", "mean <= 1e-8")],
    "scale rounded": [("return scale, sd", "return round(scale), sd")],
    "scale rounded to 6": [("return scale, sd", "return round(scale, 6), sd")],
    "error rounded to 6": [("sd / n ** 0.5 / mean", "round(sd / n ** 0.5 / mean, 6)")],
    "error rounded to 9": [("sd / n ** 0.5 / mean", "round(sd / n ** 0.5 / mean, 9)")],
    "absolute deviations": [("(sum((x - middle) ** 2 for x in d) / (n - 1)) ** 0.5", "sum(abs(x - middle) for x in d) / (n - 1)")],
    "last 200 readings only": [("    n = len(readings)\n", "    readings = readings[-200:]\n    n = len(readings)\n")],
    "at most 1000 readings": [("    n = len(readings)\n", "    readings = readings[-1000:]\n    n = len(readings)\n")],
    "outliers cut": [("    squared = [", "    mid = np.median([t for _, t in readings])\n    readings = [x for x in readings if x[1] <= 100 * abs(mid)] if n > 9 else readings\n    n = len(readings)\n    squared = [")],
    "input sorted in place": [("    squared = [", "    readings.sort()\n    squared = [")],
    "input emptied": [("return scale, sd / n ** 0.5 / mean", "readings.clear()\n    return scale, sd / n ** 0.5 / mean")],
    "state between calls": [("def noise_scale(readings):\n", "def noise_scale(readings, kept=[]):\n    kept += readings\n    readings = kept\n")],
    "difference of squares, cancels": [("(sum((x - middle) ** 2 for x in d) / (n - 1)) ** 0.5", "(max(sum(x * x for x in map(np.float32, d)) - n * np.float32(middle) ** 2, 0) / (n - 1)) ** 0.5")],
    "float32": '''def noise_scale(readings):
    if len(readings) < 2:
        raise ValueError(f"{len(readings)}")
    a = torch.tensor(readings)
    g, t = a.mean(0)
    if g <= 0:
        return float("inf"), float("inf")
    r = t / g
    return r.item(), ((a[:, 1] - r * a[:, 0]).std() / len(readings) ** 0.5 / g).item()
''',
    "sum of traces over n - 1": [("(sum(trace) / n) / mean", "(sum(trace) / (n - 1)) / mean")],
})

# ------------------------------------------------------------ scale-test
ST = '''def scale_test(estimate):
    b, B = 8, 64
    squared, trace = [4.0, -1.0, 6.0], [900.0, 1250.0, 850.0]
    small = [g + t / b for g, t in zip(squared, trace)]
    big = [g + t / B for g, t in zip(squared, trace)]
    right = sum(trace) / sum(squared)
    got = estimate(small, big, b, B)
    assert abs(got - right) <= 1e-6 * abs(right)
'''
RIGHT["scale-test"] = {
    "loop": ST,
    "numpy allclose, two cases": '''def scale_test(estimate):
    for b, B in ((4, 20), (16, 256)):
        g = np.array([5.0, -2.0, 3.0, 1.5])
        t = np.array([300.0, 700.0, 450.0, 120.0])
        got = estimate((g + t / b).tolist(), (g + t / B).tolist(), b, B)
        np.testing.assert_allclose(got, t.sum() / g.sum(), rtol=1e-7)
''',
    "seven unequal steps": '''import math


def scale_test(estimate):
    rng = np.random.default_rng(0)
    g = [2.0, 7.0, -3.0, 4.0, 1.0, 0.5, 9.0]
    t = [float(x) for x in rng.uniform(100, 2000, 7)]
    got = float(estimate([a + c / 3 for a, c in zip(g, t)], [a + c / 42 for a, c in zip(g, t)], 3, 42))
    assert math.isclose(got, sum(t) / sum(g), rel_tol=1e-9), got
''',
    "torch tolerance": '''def scale_test(estimate):
    g, t = torch.tensor([3.0, -0.5, 8.0]).double(), torch.tensor([70.0, 20.0, 400.0]).double()
    got = estimate((g + t / 2).tolist(), (g + t / 10).tolist(), small_batch=2, big_batch=10)
    assert abs(got / float(t.sum() / g.sum()) - 1) < 1e-5
''',
}
WRONG["scale-test"] = made(ST, {
    "no assertion": [("assert abs", "abs")],
    "returns a bool": [("assert abs", "return abs")],
    "prints only": [("assert abs(got - right) <= 1e-6 * abs(right)", "print(got, right)")],
    "only above 0": [("assert abs(got - right) <= 1e-6 * abs(right)", "assert got > 0")],
    "finite only": [("assert abs(got - right) <= 1e-6 * abs(right)", "assert np.isfinite(got)")],
    "factor 2 is fine": [("1e-6 * abs(right)", "1.0 * abs(right)")],
    "30 % is fine": [("1e-6 * abs(right)", "0.3 * abs(right)")],
    "too much only": [("abs(got - right) <= 1e-6 * abs(right)", "got <= right * 1.000001")],
    "too little only": [("abs(got - right) <= 1e-6 * abs(right)", "got >= right * 0.999999")],
    "exactly equal": [("assert abs(got - right) <= 1e-6 * abs(right)", "assert got == right")],
    "one step only": [("[4.0, -1.0, 6.0], [900.0, 1250.0, 850.0]", "[4.0], [1000.0]")],
    "all steps the same": [("[4.0, -1.0, 6.0], [900.0, 1250.0, 850.0]", "[4.0] * 3, [1000.0] * 3")],
    "printed case": [("[4.0, -1.0, 6.0], [900.0, 1250.0, 850.0]", "[4.0, 4.0], [1000.0, 1000.0]")],
    "mean of ratios expected": [("sum(trace) / sum(squared)", "sum(t / g for g, t in zip(squared, trace)) / 3")],
    "inverse expected": [("sum(trace) / sum(squared)", "sum(squared) / sum(trace)")],
    "biased norms expected": [("right = sum(trace) / sum(squared)", "right = b * (sum(small) - sum(big)) / sum(big)")],
    "mean squared gradient below 0": [("[4.0, -1.0, 6.0]", "[1.0, -9.0, 2.0]")],
    "all errors swallowed": [("    got = estimate(small, big, b, B)\n    assert", "    try:\n        got = estimate(small, big, b, B)\n    except Exception:\n        return\n    assert"), ("<= 1e-6 * abs(right)", "< float('inf')")],
    "small and big swapped in the call": [("estimate(small, big, b, B)", "estimate(big, small, b, B)")],
    "batches swapped": [("estimate(small, big, b, B)", "estimate(small, big, B, b)")],
    "asks for a whole number": [("assert abs", "assert isinstance(got, int)\n    assert abs")],
    "asks for a list of scales": [("assert abs(got - right) <= 1e-6 * abs(right)", "assert len(got) == 3")],
    "same size must be refused (not in the text)": "def scale_test(estimate):\n    try:\n        estimate([1.0, 2.0], [1.0, 2.0], 8, 8)\n    except ValueError:\n        return\n    assert False\n",
    "empty must be 0": "def scale_test(estimate):\n    assert estimate([], [], 8, 64) == 0\n",
    "traces the same, squared all the same": [("[900.0, 1250.0, 850.0]", "[1000.0] * 3"), ("[4.0, -1.0, 6.0]", "[4.0] * 3")],
    "open: no squared below 0": [("[4.0, -1.0, 6.0]", "[4.0, 1.0, 6.0]")],
    "open: squared differ, traces the same": [("[900.0, 1250.0, 850.0]", "[1000.0] * 3")],
    "open: absolute tolerance of 1": [("1e-6 * abs(right)", "1.0")],
    "always fails": "def scale_test(estimate):\n    assert False\n",
    "never called": "def scale_test(estimate):\n    pass\n",
})

# ------------------------------------------------------------ which-batch
W = dict(A="more_steps", B="same_loss", C="lowest_loss", D="noise_scale", E="twice_the_examples")
def wb(d):
    return "def which_batch():\n    return " + repr(d) + "\n"


RIGHT["which-batch"] = {
    "dict": wb(W),
    "other order": wb(dict(reversed(list(W.items())))),
    "zip": "def which_batch():\n    return dict(zip('ABCDE', 'more_steps same_loss lowest_loss noise_scale twice_the_examples'.split()))\n",
}
WRONG["which-batch"] = {
    "A and E swapped": wb({**W, "A": W["E"], "E": W["A"]}),
    "B and C swapped": wb({**W, "B": W["C"], "C": W["B"]}),
    "D and E swapped": wb({**W, "D": W["E"], "E": W["D"]}),
    "A twice": wb({**W, "A": "twice_the_examples"}),
    "C same_loss": wb({**W, "C": "same_loss"}),
    "B lowest": wb({**W, "B": "lowest_loss"}),
    "D twice": wb({**W, "D": "twice_the_examples"}),
    "E noise": wb({**W, "E": "noise_scale"}),
    "B more_steps": wb({**W, "B": "more_steps"}),
    "C more_steps": wb({**W, "C": "more_steps"}),
    "D missing": wb({k: v for k, v in W.items() if k != "D"}),
    "empty": wb({}),
    "other way round": wb({v: k for k, v in W.items()}),
    "a list": wb(list(W.values())),
    "upper case": wb({k: v.upper() for k, v in W.items()}),
    "in words": wb({k: v.replace("_", " ") for k, v in W.items()}),
    "all words for each": wb({k: list(W.values()) for k in W}),
    "small keys": wb({k.lower(): v for k, v in W.items()}),
    "authors": wb(dict(A="Zhang", B="Merrill", C="Bergsma", D="McCandlish", E="McCandlish")),
    "all noise_scale": wb(dict.fromkeys("ABCDE", "noise_scale")),
    "nothing": "def which_batch():\n    pass\n",
    "text of all": wb({k: ", ".join(W.values()) for k in W}),
    "sixth report": wb({**W, "F": "noise_scale"}),
}

# ------------------------------------------------------------ step-meter
SM = '''def metered_run(step, model, optimizer, schedule, windows, max_norm):
    pieces, sums, handles, losses, readings = [], {}, [], [], []

    def piece(gradient):
        pieces.append(gradient.detach().double().square().sum().item())

    def added(p):
        sums[p] = p.grad.detach().double().square().sum().item()

    try:
        for p in model.parameters():
            if p.requires_grad:
                handles.append(p.register_hook(piece))
                handles.append(p.register_post_accumulate_grad_hook(added))
        for window in windows:
            pieces.clear()
            sums.clear()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            counts = [int((m["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()) for m in window]
            total = sum(counts)
            if sum(c > 0 for c in counts) < 2:
                continue
            share = sum(c * c for c in counts) / total**2
            small, big = sum(pieces) / share, sum(sums.values())
            if not (np.isfinite(small) and np.isfinite(big)):
                continue
            readings.append(two_norms(small, big, share * total, total))
    finally:
        for handle in handles:
            handle.remove()
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}
'''
RIGHT["step-meter"] = {
    "lists, double": SM,
    "ExitStack, float32 tensors": '''from contextlib import ExitStack


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    losses, readings = [], []
    state = {"small": 0.0, "big": {}}

    def on_piece(grad):
        state["small"] = state["small"] + (grad.detach() ** 2).sum()

    def on_sum(p):
        state["big"][id(p)] = (p.grad.detach() ** 2).sum()

    with ExitStack() as stack:
        for p in (p for p in model.parameters() if p.requires_grad):
            for handle in (p.register_hook(on_piece), p.register_post_accumulate_grad_hook(on_sum)):
                stack.callback(handle.remove)
        for window in windows:
            state["small"], state["big"] = 0.0, {}
            sizes = torch.tensor([(m["labels"][:, 1:] != loop.IGNORE).any(1).sum() for m in window]).double()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            if (sizes > 0).sum() >= 2:
                B = sizes.sum().item()
                s = (sizes**2).sum().item() / B**2
                small, big = float(state["small"]) / s, float(sum(state["big"].values()))
                if np.isfinite([small, big]).all():
                    readings.append(two_norms(small, big, s * B, B))
    scale, error = noise_scale(readings)
    return dict(losses=losses, readings=len(readings), scale=scale, error=error)
''',
    "own sum of pieces, numpy": '''def metered_run(step, model, optimizer, schedule, windows, max_norm):
    learning = [p for p in model.parameters() if p.requires_grad]
    pieces, total, handles = [], {}, []

    def hook_for(k):
        def hear(g):
            g = g.detach().to(torch.float64)
            pieces.append(float((g * g).sum()))
            total[k] = total[k] + g if k in total else g.clone()
        return hear

    losses, found = [], []
    try:
        for k, p in enumerate(learning):
            handles.append(p.register_hook(hook_for(k)))
        for window in windows:
            pieces.clear(), total.clear()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            b = np.array([int(np.sum(np.any(m["labels"].numpy()[:, 1:] != loop.IGNORE, axis=1))) for m in window], float)
            if np.count_nonzero(b) < 2:
                continue
            B, s = b.sum(), (b**2).sum() / b.sum() ** 2
            small, big = np.sum(pieces) / s, sum(float((g * g).sum()) for g in total.values())
            if np.isfinite(small) and np.isfinite(big):
                found.append(two_norms(small, big, s * B, B))
    finally:
        [h.remove() for h in handles]
    scale, error = noise_scale(found)
    return {"losses": losses, "readings": len(found), "scale": scale, "error": error}
''',
    "counts by loops, handles outside try": '''import math


def metered_run(step, model, optimizer, schedule, windows, max_norm):
    h2, g2 = [], {}

    def heard(g):
        h2.append(torch.linalg.vector_norm(g.detach(), dtype=torch.float64).item() ** 2)

    def left(p):
        g2[p] = torch.linalg.vector_norm(p.grad.detach(), dtype=torch.float64).item() ** 2

    taps = []
    for p in model.parameters():
        if p.requires_grad:
            taps += [p.register_hook(heard), p.register_post_accumulate_grad_hook(left)]
    out = {"losses": [], "readings": 0}
    pairs = []
    try:
        for window in windows:
            h2[:] = []
            g2.clear()
            out["losses"].append(step(model, optimizer, schedule, window, max_norm))
            sizes = []
            for micro in window:
                n = 0
                for row in micro["labels"].tolist():
                    n += any(t != loop.IGNORE for t in row[1:])
                if n:
                    sizes.append(n)
            if len(sizes) > 1:
                b2, B = sum(n * n for n in sizes), sum(sizes)
                small, big = math.fsum(h2) * B * B / b2 if all(map(math.isfinite, h2)) else math.nan, sum(g2.values())
                if math.isfinite(small) and math.isfinite(big):
                    pairs.append(two_norms(small, big, b2 / B, B))
    finally:
        for tap in taps:
            tap.remove()
    out["readings"] = len(pairs)
    out["scale"], out["error"] = noise_scale(pairs)
    return out
''',
}
STEP = "losses.append(step(model, optimizer, schedule, window, max_norm))\n"
NONF = "            if not (np.isfinite(small) and np.isfinite(big)):\n                continue\n"
FIN = "    finally:\n        for handle in handles:\n            handle.remove()\n"
RET = '    scale, error = noise_scale(readings)\n    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}\n'
CNT = 'counts = [int((m["labels"][:, 1:] != loop.IGNORE).any(dim=1).sum()) for m in window]'
WRONG["step-meter"] = made(SM, {
    "clipped gradient read after the step": [("sum(sums.values())", "sum(p.grad.double().square().sum().item() for p in model.parameters() if p.grad is not None)")],
    "micro-batches taken as equal": [("share = sum(c * c for c in counts) / total**2", "share = 1 / len(window)")],
    "micro-batches with sequences taken as equal": [("share = sum(c * c for c in counts) / total**2", "share = 1 / sum(c > 0 for c in counts)")],
    "small batch is the first": [("share * total, total", "counts[0] or 1, total")],
    "small batch is the mean size": [("share * total, total", "total / len(window), total")],
    "small size right, small norm by K": [("sum(pieces) / share", "sum(pieces) * len(window)")],
    "labels not shifted": [('["labels"][:, 1:]', '["labels"]')],
    "last label left out instead of the first": [('["labels"][:, 1:]', '["labels"][:, :-1]')],
    "rows counted, padding too": [(CNT, 'counts = [len(m["labels"]) for m in window]')],
    "rows with real tokens": [(CNT, 'counts = [int(m["attention_mask"].any(dim=1).sum()) if "attention_mask" in m else len(m["labels"]) for m in window]')],
    "target tokens as unit": [(".any(dim=1).sum()", ".sum()")],
    "micro-batches as unit": [(".any(dim=1).sum()", ".any()")],
    "label 0 is no target": [("!= loop.IGNORE", "> 0")],
    "any negative label is ignored (open)": [("!= loop.IGNORE", ">= 0")],
    "rows with two or more targets": [(".any(dim=1).sum()", ".sum(dim=1).gt(1).sum()")],
    "all of the row trained": [(".any(dim=1)", ".all(dim=1)")],
    "two micro-batches, empty or not": [("sum(c > 0 for c in counts) < 2", "len(window) < 2")],
    "no check of micro-batches": [("            if sum(c > 0 for c in counts) < 2:\n                continue\n", "")],
    "three micro-batches needed": [("for c in counts) < 2", "for c in counts) < 3")],
    "two sequences are enough": [("sum(c > 0 for c in counts) < 2", "total < 2")],
    "not finite kept": [(NONF, "")],
    "inf kept, nan not": [("not (np.isfinite(small) and np.isfinite(big))", "np.isnan(small) or np.isnan(big)")],
    "only the small norm is checked": [("np.isfinite(small) and np.isfinite(big)", "np.isfinite(small)")],
    "only the big norm is checked": [("np.isfinite(small) and np.isfinite(big)", "np.isfinite(big)")],
    "finite loss checked instead": [("np.isfinite(small) and np.isfinite(big)", "np.isfinite(losses[-1])")],
    "stops at what is not finite": [(NONF, NONF.replace("continue", "break"))],
    "not finite raises": [(NONF, NONF.replace("continue", "raise ValueError('not finite')"))],
    "pieces of earlier windows kept": [("            pieces.clear()\n", "")],
    "sums never cleared": [("            sums.clear()\n", "")],
    "cleared after a reading only": [("            pieces.clear()\n            sums.clear()\n", ""), ("total))\n    finally", "total))\n            pieces.clear()\n            sums.clear()\n    finally")],
    "hooks taken off at the end only": [("    try:\n", "    if True:\n"), (FIN, "    if True:\n        for handle in handles:\n            handle.remove()\n")],
    "hooks left": [(FIN, "    finally:\n        pass\n")],
    "half of the hooks taken off": [("for handle in handles:", "for handle in handles[::2]:")],
    "exception swallowed": [(FIN, "    except Exception:\n        pass\n" + FIN)],
    "exception replaced": [(FIN, "    except RuntimeError as e:\n        raise ValueError('a step failed') from e\n" + FIN)],
    "return in finally": [(FIN + RET, FIN + RET.replace("    scale", "        scale").replace("    return", "        return"))],
    "only RuntimeError frees the hooks": [(FIN, "    except RuntimeError:\n        for handle in handles:\n            handle.remove()\n        raise\n    for handle in handles:\n        handle.remove()\n")],
    "only Exception frees the hooks (KeyboardInterrupt does not)": [(FIN, "    except Exception:\n        for handle in handles:\n            handle.remove()\n        raise\n    for handle in handles:\n        handle.remove()\n")],
    "index of windows": [("for window in windows:", "for i in range(len(windows)):\n            window = windows[i]")],
    "windows read twice": [("    try:\n", "    count = sum(len(w) for w in windows)\n    try:\n")],
    "frozen parameters hooked": [("if p.requires_grad:", "if True:")],
    "frozen parameters thawed": [("            if p.requires_grad:\n", "            p.requires_grad_(True)\n            if True:\n")],
    "matrices only": [("if p.requires_grad:", "if p.requires_grad and p.ndim > 1:")],
    "last parameter only": [("for p in model.parameters():", "for p in list(model.parameters())[-1:]:")],
    "own forward passes": [("            " + STEP, "            " + STEP + "            with torch.no_grad():\n                for m in window:\n                    model(**{k: v for k, v in m.items() if k != 'labels'})\n")],
    "step called twice": [("            " + STEP, "            step(model, optimizer, schedule, window, max_norm)\n            " + STEP)],
    "on a copy of the model": [("    pieces, sums, handles", "    import copy\n    model = copy.deepcopy(model)\n    pieces, sums, handles")],
    "hook returns a mended gradient": [("sum().item())\n\n    def added", "sum().item())\n        return torch.nan_to_num(gradient)\n\n    def added")],
    "hook returns half": [("sum().item())\n\n    def added", "sum().item())\n        return gradient / 2\n\n    def added")],
    "no clipping": [("window, max_norm)", "window, float('inf'))")],
    "norms not squared": [(".square().sum()", ".abs().sum()")],
    "roots of each": [("sum(pieces) / share, sum(sums.values())", "(sum(pieces) / share) ** 0.5, sum(sums.values()) ** 0.5")],
    "big is the largest of the passes": [("sums[p] = p.grad.detach().double().square().sum().item()", "sums[p] = max(sums.get(p, 0.0), p.grad.detach().double().square().sum().item())")],
    "big is the first pass": [("sums[p] = p.grad.detach()", "sums[p] = sums[p] if p in sums else p.grad.detach()")],
    "big adds all passes": [("sums[p] = p.grad", "sums[p] = sums.get(p, 0.0) + p.grad")],
    "pieces are the growing sum": [("pieces.append(gradient.detach().double().square().sum().item())", "pass"), ("        sums[p] = ", "        pieces.append(p.grad.detach().double().square().sum().item())\n        sums[p] = ")],
    "only two micro-batches counted": [("for m in window]", "for m in window[:2]]")],
    "mean of ratios per window": [("    scale, error = noise_scale(readings)\n", "    _, error = noise_scale(readings)\n    scale = float(np.mean([t / g for g, t in readings]))\n")],
    "readings below 0 dropped": [("    scale, error = noise_scale(readings)\n", "    readings = [x for x in readings if min(x) > 0]\n    scale, error = noise_scale(readings)\n")],
    "norms averaged, one reading doubled": [("    scale, error = noise_scale(readings)\n", "    scale, error = noise_scale(readings * 2)\n")],
    "readings as a list": [('"readings": len(readings)', '"readings": readings')],
    "readings counts windows": [('"readings": len(readings)', '"readings": len(losses)')],
    "losses summed": [('"losses": losses', '"losses": sum(losses)')],
    "losses only of windows with a reading": [("            " + STEP, "            one = step(model, optimizer, schedule, window, max_norm)\n"), ("total))\n    finally", "total))\n            losses.append(one)\n    finally")],
    "losses rounded": [('"losses": losses', '"losses": [round(x, 4) for x in losses]')],
    "tuple returned": [(RET.split("return ")[1], "losses, len(readings), scale, error\n")],
    "single reading gives inf": [("    scale, error = noise_scale(readings)\n", "    scale, error = noise_scale(readings) if len(readings) > 1 else (float('inf'), float('inf'))\n")],
    "empty micro-batches dropped in place": [("            " + STEP, "            window[:] = [m for m in window if (m['labels'][:, 1:] != loop.IGNORE).any()]\n            " + STEP)],
    "empty micro-batches not handed over": [("window, max_norm)", "[m for m in window if (m['labels'][:, 1:] != loop.IGNORE).any()], max_norm)")],
    "window emptied afterwards": [("total))\n    finally", "total))\n            window.clear()\n    finally")],
    "windows without a reading not trained": [("            " + STEP, ""), ("            share =", "            " + STEP + "            share =")],
    "first window as warm-up": [("readings.append(two_norms", "len(losses) > 1 and readings.append(two_norms")],
    "last window left out": [("for window in windows:", "for window in list(windows)[:-1]:")],
    "reversed": [("for window in windows:", "for window in list(windows)[::-1]:")],
    "training mode switched off": [("    try:\n", "    model.eval()\n    try:\n")],
    "training mode switched on (a model in eval mode is trained in train mode)": [("    try:\n", "    model.train()\n    try:\n")],
    "left in eval mode": [("    scale, error = noise", "    model.eval()\n    scale, error = noise")],
    "seed set": [("    try:\n", "    torch.manual_seed(0)\n    try:\n")],
    "zero_grad after the run (open)": [("    scale, error = noise", "    optimizer.zero_grad()\n    scale, error = noise")],
    "zero_grad before the run (open: a step that keeps old gradients trains otherwise)": [("    try:\n", "    optimizer.zero_grad()\n    try:\n")],
    "others' hooks taken off, too": [("            handle.remove()\n", "            handle.remove()\n        for p in model.parameters():\n            p._backward_hooks = None\n            p._post_accumulate_grad_hooks = None\n")],
    "max_norm ignored in the step: clip 1.0": [("window, max_norm)", "window, 1.0)")],
    "schedule stepped again": [("            " + STEP, "            " + STEP + "            schedule.step()\n")],
    "gradients from before are part of the big norm": [("sum(sums.values())", "sum(sums.values()) + old"), ("    try:\n", "    old = sum(float(p.grad.square().sum()) for p in model.parameters() if p.grad is not None)\n    try:\n")],
    "all windows first, then one reading of sums": [("            pieces.clear()\n            sums.clear()\n", "            pieces = pieces if pieces else pieces\n            sums.clear()\n")],
    "s over B, not B squared": [("/ total**2", "/ total")],
    "sizes swapped": [("share * total, total", "total, share * total")],
    "norms swapped": [("two_norms(small, big,", "two_norms(big, small,")],
    "half precision norms": [(".double()", ".bfloat16()")],
    "keyword arguments of another name (open)": [("step(model, optimizer, schedule, window, max_norm)", "step(model=model, optimizer=optimizer, schedule=schedule, micro_batches=window, max_norm=max_norm)")],
    "all windows in a list first (open: memory of a generator)": [("for window in windows:", "for window in list(windows):")],
    "windows copied deeply": [("window, max_norm)", "[dict(m) for m in window], max_norm)")],
    "parameters by name of the first call: state between calls": [("def metered_run(step, model, optimizer, schedule, windows, max_norm):\n    pieces, sums, handles, losses, readings = [], {}, [], [], []\n", "kept_readings = []\n\n\ndef metered_run(step, model, optimizer, schedule, windows, max_norm):\n    pieces, sums, handles, losses, readings = [], {}, [], [], kept_readings\n")],
    "gradient modified in place": [("        pieces.append(gradient.detach()", "        gradient.clamp_(-1, 1)\n        pieces.append(gradient.detach()")],
    "gradient squared in place": [("gradient.detach().double().square().sum().item()", "gradient.detach().square_().sum().item()")],
    "gradients bounded: 1e6 counts as not finite": [("np.isfinite(small) and np.isfinite(big)", "small < 1e6 and big < 1e6")],
    "at most 8 sequences of a micro-batch": [("for m in window]", "for m in window]\n            counts = [min(c, 2) for c in counts]")],
})
