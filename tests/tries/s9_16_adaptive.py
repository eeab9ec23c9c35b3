# ruff: noqa
"""Lesson 16_adaptive: answers of a second fresh student, written from the student copy alone."""

WRONG, RIGHT = {}, {}


def swap(cell, *pairs):
    """The cell with each (old, new) replaced, once; refuses where old does not stand there once."""
    for old, new in pairs:
        assert cell.count(old) == 1, (cell.count(old), old)
        cell = cell.replace(old, new)
    return cell


# ================================================================ back-off
RIGHT["back-off"] = {
"loop down": '''
def back_off(rows, accumulation):
    total = rows * accumulation
    for r in range(rows - 1, 0, -1):
        if total % r == 0:
            return r, total // r
    raise ValueError("1 row cannot shrink")
''',
"divisors up to the root, both of each pair": '''
def back_off(rows, accumulation):
    if rows <= 1:
        raise ValueError(f"{rows} row: nothing can shrink")
    total = rows * accumulation
    best = 1
    for d in range(1, min(rows - 1, math.isqrt(total)) + 1):
        if total % d == 0:
            for r in (d, total // d):
                if best < r < rows:
                    best = r
    return best, total // best
''',
"max over a comprehension": '''
def back_off(rows, accumulation):
    fits = [r for r in range(1, rows) if rows * accumulation % r == 0]
    if not fits:
        raise ValueError("no fewer rows")
    return max(fits), rows * accumulation // max(fits)
''',
"numpy": '''
def back_off(rows, accumulation):
    total = rows * accumulation
    fewer = np.arange(1, rows, dtype=np.int64)
    fits = fewer[total % fewer == 0]
    if fits.size == 0:
        raise ValueError("1 row does not fit: shorten the sequences")
    r = int(fits[-1])
    return r, total // r
''',
"torch": '''
import torch
def back_off(rows, accumulation):
    if rows == 1:
        raise ValueError("one row left")
    fewer = torch.arange(1, rows)
    left = torch.remainder(torch.full_like(fewer, rows * accumulation), fewer)
    r = int(fewer[left == 0].max())
    return r, rows * accumulation // r
''',
"while and divmod": '''
def back_off(rows, accumulation):
    if rows < 2:
        raise ValueError("nothing below 1 row")
    total, r, rest = rows * accumulation, rows, 1
    while rest:
        r -= 1
        acc, rest = divmod(total, r)
    return r, acc
''',
}
_BO = RIGHT["back-off"]["loop down"]
WRONG["back-off"] = {
"halves the rows, doubles accumulation": '''
def back_off(rows, accumulation):
    if rows == 1:
        raise ValueError("1 row")
    return rows // 2, accumulation * 2
''',
"halves, rounds accumulation up so that nothing is lost": '''
def back_off(rows, accumulation):
    if rows == 1:
        raise ValueError("1 row")
    r = rows // 2
    return r, -(-rows * accumulation // r)
''',
"new rows must divide the old rows": '''
def back_off(rows, accumulation):
    for r in range(rows - 1, 0, -1):
        if rows % r == 0:
            return r, rows * accumulation // r
    raise ValueError("1 row")
''',
"the helper's 0.9, then on down: 20 x 19 becomes 10 x 38 and not 19 x 20": swap(_BO, ("range(rows - 1, 0, -1)", "range(int(0.9 * rows), 0, -1)")),
"begins at three quarters of the rows: 10 x 9 becomes 6 x 15, not 9 x 10": swap(_BO, ("range(rows - 1, 0, -1)", "range(max(1, rows * 3 // 4) if rows > 1 else 0, 0, -1)")),
"begins at two thirds of the rows (as 12 -> 8): 4 x 3 becomes 2 x 6, not 3 x 4": swap(_BO, ("range(rows - 1, 0, -1)", "range(rows * 2 // 3, 0, -1)")),
"includes rows itself: nothing shrinks": swap(_BO, ("range(rows - 1, 0, -1)", "range(rows, 0, -1)")),
"at 1 row the same row again": swap(_BO, ('raise ValueError("1 row cannot shrink")', "return rows, accumulation")),
"at 1 row 0 rows": swap(_BO, ('raise ValueError("1 row cannot shrink")', "return 0, accumulation")),
"at 1 row an AssertionError": swap(_BO, ("    total = rows", "    assert rows > 1, 'cannot shrink'\n    total = rows")),
"at 1 row a RuntimeError": swap(_BO, ("ValueError", "RuntimeError")),
"never down to 1 row": swap(_BO, ("range(rows - 1, 0, -1)", "range(rows - 1, 1, -1)")),
"swapped: accumulation, rows": swap(_BO, ("return r, total // r", "return total // r, r")),
"accumulation is a float by /": swap(_BO, ("total // r", "total / r")),
"int of a float quotient: off for large accumulations": swap(_BO, ("total // r", "int(total / r)")),
"smallest rows, first divisor upward": swap(_BO, ("range(rows - 1, 0, -1)", "range(1, rows)")),
"tests with a float remainder: off for large products": swap(_BO, ("total % r == 0", "(total / r).is_integer()")),
"only one step of accumulation is tried, else 1 row": '''
def back_off(rows, accumulation):
    if rows == 1:
        raise ValueError("1 row")
    total = rows * accumulation
    if total % (accumulation + 1) == 0:
        return total // (accumulation + 1), accumulation + 1
    return 1, total
''',
"only rows of factors 2, 3 and 5, as 'efficient' sizes: 14 x 1 becomes 2 x 7, not 7 x 2": '''
def back_off(rows, accumulation):
    total = rows * accumulation
    for r in range(rows - 1, 0, -1):
        left = r
        for p in (2, 3, 5):
            while left % p == 0:
                left //= p
        if left == 1 and total % r == 0:
            return r, total // r
    raise ValueError("1 row")
''',
"most rows below, rest cut: rows - 1 and floor": '''
def back_off(rows, accumulation):
    if rows == 1:
        raise ValueError("1 row")
    return rows - 1, rows * accumulation // (rows - 1)
''',
"at 1 row refused only where accumulation is 1, too": swap(_BO, ('raise ValueError("1 row cannot shrink")', "if accumulation == 1:\n        raise ValueError('1 row')\n    return 1, accumulation")),
"open: a list in place of a tuple": swap(_BO, ("return r, total // r", "return [r, total // r]")),
"open: NumPy ints": swap(_BO, ("return r, total // r", "return np.int64(r), np.int64(total // r)")),
}

# ================================================================ ramp-steps
RIGHT["ramp-steps"] = {
"a walk": '''
def ramp_steps(stages, total_tokens):
    seen = steps = 0
    while seen < total_tokens:
        for start, size in stages:
            if start <= seen:
                now = size
        seen += now
        steps += 1
    return steps
''',
"whole stages at once, in integers": '''
def ramp_steps(stages, total_tokens):
    seen = steps = 0
    for i, (start, size) in enumerate(stages):
        end = total_tokens
        if i + 1 < len(stages):
            end = min(end, stages[i + 1][0])
        if seen < end:
            n = (end - seen + size - 1) // size
            steps += n
            seen += n * size
    return steps
''',
"bisect on the starts": '''
from bisect import bisect_right
def ramp_steps(stages, total_tokens):
    starts = [s for s, _ in stages]
    seen, steps = 0, 0
    while seen < total_tokens:
        seen += stages[bisect_right(starts, seen) - 1][1]
        steps += 1
    return steps
''',
"numpy searchsorted": '''
def ramp_steps(stages, total_tokens):
    starts = np.array([s for s, _ in stages], dtype=np.int64)
    seen, steps = 0, 0
    while seen < total_tokens:
        at = int(np.searchsorted(starts, seen, side="right")) - 1
        seen += stages[at][1]
        steps += 1
    return steps
''',
"a pointer that only goes on": '''
def ramp_steps(stages, total_tokens):
    at, seen, steps = 0, 0, 0
    while seen < total_tokens:
        while at + 1 < len(stages) and stages[at + 1][0] <= seen:
            at += 1
        seen += stages[at][1]
        steps += 1
    return steps
''',
}
_RS = RIGHT["ramp-steps"]["a walk"]
_RB = RIGHT["ramp-steps"]["whole stages at once, in integers"]
_RP = RIGHT["ramp-steps"]["a pointer that only goes on"]
WRONG["ramp-steps"] = {
"a stage begins only beyond from_tokens": swap(_RS, ("start <= seen", "start < seen or start == 0")),
"looks the stage up after the step": swap(_RS, ("if start <= seen:", "if start <= seen + stages[0][1]:")),
"the last step is not taken: whole steps only": swap(_RS, ("while seen < total_tokens:", "while seen + stages[0][1] <= total_tokens:")),
"one step too many where the tokens are reached exactly": swap(_RS, ("seen < total_tokens", "seen <= total_tokens")),
"a step is cut at the start of the next stage": '''
def ramp_steps(stages, total_tokens):
    steps = 0
    ends = [s for s, _ in stages[1:]] + [total_tokens]
    for (start, size), end in zip(stages, ends):
        end = min(end, total_tokens)
        if end > start:
            steps += -(-(end - start) // size)
    return steps
''',
"floor division per stage": '''
def ramp_steps(stages, total_tokens):
    steps = 0
    ends = [s for s, _ in stages[1:]] + [total_tokens]
    for (start, size), end in zip(stages, ends):
        steps += max(0, min(end, total_tokens) - start) // size
    return steps
''',
"tokens / size per stage, rounded once at the end": '''
def ramp_steps(stages, total_tokens):
    steps = 0.0
    ends = [s for s, _ in stages[1:]] + [total_tokens]
    for (start, size), end in zip(stages, ends):
        steps += max(0, min(end, total_tokens) - start) / size
    return math.ceil(steps)
''',
"the largest size reached, not that of the last stage": swap(_RS, ("        for start, size in stages:\n            if start <= seen:\n                now = size\n", "        now = max(size for start, size in stages if start <= seen)\n")),
"max of the tuples' sizes: steps can never shrink again": swap(_RP, ("seen += stages[at][1]", "seen += max(size for _, size in stages[: at + 1])")),
"goes on by one stage a step at most": swap(_RP, ("while at + 1", "if at + 1")),
"total 0 takes one step": '''
def ramp_steps(stages, total_tokens):
    seen = steps = 0
    while True:
        for start, size in stages:
            if start <= seen:
                now = size
        seen += now
        steps += 1
        if seen >= total_tokens:
            return steps
''',
"a float": swap(_RS, ("return steps", "return float(steps)")),
"negative counts where a stage is run over": swap(_RB, ("        if seen < end:\n            n = (end - seen + size - 1) // size\n            steps += n\n            seen += n * size\n", "        n = math.ceil((end - seen) / size)\n        steps += n\n        seen += n * size\n")),
"all stages are walked through, though the total is reached before": swap(_RB, ("end = min(end, stages[i + 1][0])", "end = stages[i + 1][0]")),
"remembers answers by the total alone": '''
_known = {}
def ramp_steps(stages, total_tokens):
    if total_tokens not in _known:
        seen = steps = 0
        while seen < total_tokens:
            seen += [size for start, size in stages if start <= seen][-1]
            steps += 1
        _known[total_tokens] = steps
    return _known[total_tokens]
''',
"pops the stages that are done": '''
def ramp_steps(stages, total_tokens):
    seen = steps = 0
    while seen < total_tokens:
        while len(stages) > 1 and stages[1][0] <= seen:
            stages.pop(0)
        seen += stages[0][1]
        steps += 1
    return steps
''',
"fitted to PaLM: three stages at most": swap(_RP, ("at + 1 < len(stages)", "at + 1 < min(len(stages), 3)")),
"from_tokens is counted from the beginning of the stage before": '''
def ramp_steps(stages, total_tokens):
    seen = steps = at = since = 0
    while seen < total_tokens:
        if at + 1 < len(stages) and since >= stages[at + 1][0]:
            at, since = at + 1, 0
        seen += stages[at][1]
        since += stages[at][1]
        steps += 1
    return steps
''',
"from_tokens is taken for steps": swap(_RS, ("start <= seen", "start <= steps")),
"second number taken for sequences of 2,048 tokens": swap(_RS, ("seen += now", "seen += now * 2048")),
"the size that the middle of the step has reached": swap(_RS, ("if start <= seen:", "if start <= seen + size // 2:")),
"open: float ceil, off from 2**53 tokens on": swap(_RB, ("(end - seen + size - 1) // size", "math.ceil((end - seen) / size)")),
"open: of two stages from the same tokens the first": swap(_RS, ("            if start <= seen:\n                now = size\n", "            if start <= seen and (start, size) == next(s for s in stages if s[0] == start):\n                now = size\n")),
"open: looked up by the largest start, the list may be in any order": swap(_RS, ("        for start, size in stages:\n            if start <= seen:\n                now = size\n", "        now = max((s for s in stages if s[0] <= seen), key=lambda s: s[0])[1]\n")),
}

# ================================================================ grown
RIGHT["grown"] = {
"dict union": '''
def grown(settings, sequences):
    each = settings["rows"] * settings["data_parallel"]
    if sequences < each or sequences % each:
        raise ValueError(f"{sequences} sequences are no positive multiple of {each}")
    k = sequences / (each * settings["accumulation"])
    return settings | {"accumulation": sequences // each, "rate": settings["rate"] * k**0.5,
                       "beta2": settings["beta2"] ** k}
''',
"copy and assign, k by the accumulations": '''
def grown(settings, sequences):
    new = dict(settings)
    replicas = new["data_parallel"]
    acc, rest = divmod(sequences, new["rows"] * replicas)
    if rest != 0 or acc <= 0:
        raise ValueError("sequences must be a multiple of rows x replicas = {:,}".format(new["rows"] * replicas))
    k = acc / new["accumulation"]
    new["accumulation"] = acc
    new["rate"] *= math.sqrt(k)
    new["beta2"] = math.exp(k * math.log(new["beta2"]))
    return new
''',
"numpy, its own floats": '''
def grown(settings, sequences):
    per = settings["rows"] * settings["data_parallel"]
    if sequences <= 0 or sequences % per != 0:
        raise ValueError(per)
    k = np.float64(sequences) / (per * settings["accumulation"])
    return {**settings, "accumulation": int(sequences // per), "rate": settings["rate"] * np.sqrt(k),
            "beta2": np.power(settings["beta2"], k)}
''',
"beta2 from the half-life in sequences, rate from the library": '''
def grown(settings, sequences):
    each = settings["rows"] * settings["data_parallel"]
    if sequences not in range(each, sequences + 1, each):
        raise ValueError(f"not a multiple of {each} sequences")
    before = each * settings["accumulation"]
    half = before * math.log(0.5) / math.log(settings["beta2"])
    return dict(settings, accumulation=sequences // each, beta2=0.5 ** (sequences / half),
                rate=rates.square_root(settings["rate"], before, sequences))
''',
"deepcopy and torch": '''
import copy
import torch
def grown(settings, sequences):
    out = copy.deepcopy(settings)
    each = out["rows"] * out["data_parallel"]
    if sequences < 1 or sequences % each:
        raise ValueError(f"need a multiple of {each}, got {sequences}")
    k = torch.tensor(sequences / (each * out["accumulation"]), dtype=torch.float64)
    out["accumulation"] = sequences // each
    out["rate"] = (out["rate"] * k.sqrt()).item()
    out["beta2"] = torch.pow(torch.tensor(out["beta2"], dtype=torch.float64), k).item()
    return out
''',
}
_GR = RIGHT["grown"]["dict union"]
WRONG["grown"] = {
"rate times k": swap(_GR, ("k**0.5", "k")),
"rate over the root": swap(_GR, ('["rate"] * k**0.5', '["rate"] / k**0.5')),
"rate stays": swap(_GR, (' * k**0.5', "")),
"beta2 stays": swap(_GR, (' ** k}', "}")),
"beta2 to the power 1/k": swap(_GR, (' ** k}', " ** (1 / k)}")),
"beta2 to the power of the root of k": swap(_GR, (' ** k}', " ** k**0.5}")),
"beta2 by its tangent 1 - k (1 - beta2)": swap(_GR, ('settings["beta2"] ** k}', '1 - k * (1 - settings["beta2"])}')),
"k in whole numbers": swap(_GR, ("sequences / (each", "sequences // (each")),
"k only ever grows the rate": swap(_GR, ("    return settings", "    k = max(k, 1)\n    return settings")),
"k without the replicas": swap(_GR, ('sequences / (each * settings["accumulation"])', 'sequences / (settings["rows"] * settings["accumulation"])')),
"accumulation without the replicas": swap(_GR, ("sequences // each", 'sequences // settings["rows"]')),
"names rows x accumulation x replicas, and asks for a multiple of that": swap(_GR, ('each = settings["rows"] * settings["data_parallel"]', 'each = settings["rows"] * settings["data_parallel"]\n    now = each * settings["accumulation"]'), ("if sequences < each or sequences % each:", "if sequences < now or sequences % now:"), ("multiple of {each}", "multiple of {now}")),
"names the factors, not the product": swap(_GR, ("multiple of {each}", "multiple of {settings['rows']} x {settings['data_parallel']}")),
"0 and negative multiples pass": swap(_GR, ("sequences < each or ", "")),
"0 passes": swap(_GR, ("sequences < each or sequences % each", "sequences < 0 or sequences % each")),
"refuses fewer than now": swap(_GR, ("if sequences < each or", 'if sequences < each * settings["accumulation"] or')),
"rounds up to the next multiple": swap(_GR, ('        raise ValueError(f"{sequences} sequences are no positive multiple of {each}")\n', '        sequences = max(1, -(-sequences // each)) * each\n')),
"further settings are dropped": swap(_GR, ("return settings | {", 'return {"rows": settings["rows"], "data_parallel": settings["data_parallel"], ')),
"writes into the settings": swap(_GR, ("return settings | {", "settings |= {"), ('** k}\n', '** k}\n    return settings\n')),
"adds a key sequences": swap(_GR, ("return settings | {", 'return settings | {"sequences": sequences, ')),
"accumulation is a float": swap(_GR, ("sequences // each", "sequences / each")),
"the rows grow, not the accumulation": swap(_GR, ('"accumulation": sequences // each', '"rows": int(settings["rows"] * k)')),
"factors of doubling only: k rounded to a power of two": swap(_GR, ("    return settings", "    k = 2.0 ** round(math.log2(k))\n    return settings")),
"rate tidied to four digits behind the point": swap(_GR, ('settings["rate"] * k**0.5', 'round(settings["rate"] * k**0.5, 4)')),
"beta1 moves, too": swap(_GR, ("    return settings", '    if "beta1" in settings:\n        settings = {**settings, "beta1": settings["beta1"] ** k}\n    return settings')),
"betas in a pair move, too, both of them": swap(_GR, ("    return settings", '    if "betas" in settings:\n        settings = {**settings, "betas": [b**k for b in settings["betas"]]}\n    return settings')),
"a schedule in steps is shortened, though all else stays": swap(_GR, ("    return settings", '    if "steps" in settings:\n        settings = {**settings, "steps": round(settings["steps"] / k)}\n    return settings')),
"beta2 stays where the step shrinks": swap(_GR, ('settings["beta2"] ** k}', 'settings["beta2"] ** max(1, k)}')),
"warm-up in steps is shortened, though all else stays": swap(_GR, ("    return settings", '    if "warmup" in settings:\n        settings = {**settings, "warmup": int(settings["warmup"] / k)}\n    return settings')),
"weight decay moves with the rate": swap(_GR, ("    return settings", '    if "weight_decay" in settings:\n        settings = {**settings, "weight_decay": settings["weight_decay"] * math.sqrt(k)}\n    return settings')),
"epsilon moves, too (the full Adam rule)": swap(_GR, ("    return settings", '    if "epsilon" in settings:\n        settings = {**settings, "epsilon": settings["epsilon"] / math.sqrt(k)}\n    return settings')),
"beta2 never below 0.9": swap(_GR, ('settings["beta2"] ** k}', 'max(0.9, settings["beta2"] ** k)}')),
"rate never above 0.05": swap(_GR, ('settings["rate"] * k**0.5', 'min(0.05, settings["rate"] * k**0.5)')),
"k never above 16, to be safe": swap(_GR, ("    return settings", "    k = min(k, 16)\n    return settings")),
"k never below a quarter": swap(_GR, ("    return settings", "    k = max(k, 0.25)\n    return settings")),
"an assert in place of the ValueError": swap(_GR, ("        raise ValueError(f\"{sequences} sequences are no positive multiple of {each}\")\n", "        assert False, each\n")),
"open: the library's beta2_for, which refuses a half-life below one step": swap(_GR, ('settings["beta2"] ** k}', 'rates.beta2_for(settings["beta2"], each * settings["accumulation"], sequences)}')),
"open: the same dict again where the size is what it was": swap(_GR, ("    return settings", "    if k == 1:\n        return settings\n    return settings")),
}

# ================================================================ worth
RIGHT["worth"] = {
"the ratio": '''
def worth(sequences, base, noise_scale):
    return (noise_scale / base + 1) / (noise_scale / sequences + 1)
''',
"multiplied out": '''
def worth(sequences, base, noise_scale):
    return sequences * (noise_scale + base) / (base * (noise_scale + sequences))
''',
"sigma and mu, mu is 1": '''
def worth(sequences, base, noise_scale):
    mu2 = 1.0
    sigma2 = noise_scale / base * mu2
    S = sequences / base
    return (sigma2 + mu2) / (sigma2 / S + mu2)
''',
"fractions": '''
from fractions import Fraction
def worth(sequences, base, noise_scale):
    phi = Fraction(noise_scale)
    return float((phi / base + 1) / (phi / sequences + 1))
''',
"numpy float32": '''
def worth(sequences, base, noise_scale):
    m, b, phi = np.array([sequences, base, noise_scale], dtype=np.float32)
    return (phi / b + 1) / (phi / m + 1)
''',
"torch": '''
import torch
def worth(sequences, base, noise_scale):
    m, b, phi = torch.tensor([sequences, base, noise_scale], dtype=torch.float64)
    return torch.div(phi / b + 1, phi / m + 1)
''',
"S times the library's efficiency": '''
from batchlab import adapt
def worth(sequences, base, noise_scale):
    return adapt.goodput(sequences / base, sequences, noise_scale=noise_scale, base=base)
''',
}
def _w(line):
    return f"\ndef worth(sequences, base, noise_scale):\n    {line}\n"
WRONG["worth"] = {
"Pollux' efficiency, per sequence": _w("return (noise_scale + base) / (noise_scale + sequences)"),
"upside down": _w("return (noise_scale / sequences + 1) / (noise_scale / base + 1)"),
"sigma^2 / mu^2 is the noise scale itself": _w("S = sequences / base\n    return (noise_scale + 1) / (noise_scale / S + 1)"),
"S in whole numbers": _w("S = sequences // base\n    return (noise_scale / base + 1) / (noise_scale / base / max(S, 1) + 1)"),
"phi / base in whole numbers": _w("return (noise_scale // base + 1) / (noise_scale / sequences + 1)"),
"sequences per step, not steps of base": _w("return base * (noise_scale / base + 1) / (noise_scale / sequences + 1)"),
"a step is never worth less than one": _w("return max(1.0, (noise_scale / base + 1) / (noise_scale / sequences + 1))"),
"no noise scale gives S": _w("if noise_scale == 0:\n        return sequences / base\n    return (noise_scale / base + 1) / (noise_scale / sequences + 1)"),
"no noise scale gives 0": _w("if not noise_scale:\n        return 0.0\n    return (noise_scale / base + 1) / (noise_scale / sequences + 1)"),
"refuses no noise scale": _w("if noise_scale <= 0:\n        raise ValueError('noise scale')\n    return (noise_scale / base + 1) / (noise_scale / sequences + 1)"),
"divides by the noise scale": _w("return (1 / base + 1 / noise_scale) / (1 / sequences + 1 / noise_scale)"),
"S below the noise scale, 1 above": _w("return min(sequences, max(noise_scale, base)) / base"),
"the asymptote: (phi / base + 1) for any step": _w("return noise_scale / base + 1"),
"base step taken as 1 sequence": _w("return (noise_scale + 1) / (noise_scale / sequences + 1)"),
"rounded to two digits": _w("return round((noise_scale / base + 1) / (noise_scale / sequences + 1), 2)"),
"root of S": _w("return math.sqrt(sequences / base)"),
"S itself": _w("return sequences / base"),
"noise scale of the large step: phi / sequences on both sides": _w("S = sequences / base\n    q = noise_scale / sequences\n    return (q + 1) / (q / S + 1)"),
"the saturating part without the base: S / (1 + sequences / phi)": _w("return sequences / base / (1 + sequences / (noise_scale or 1e-12))"),
"an int where it comes out near one": _w("r = (noise_scale / base + 1) / (noise_scale / sequences + 1)\n    return int(r) if abs(r - round(r)) < 0.05 else r"),
"NumPy int32 overflows": _w("m, b, phi = (np.int32(min(x, 2**31 - 1)) for x in (sequences, base, noise_scale))\n    return float(m * (phi + b) / (b * (phi + m)))"),
"fractions of a sequence of noise are no noise": _w("phi = int(noise_scale)\n    return (phi / base + 1) / (phi / sequences + 1)"),
"larger of the two is always the step": _w("m, b = max(sequences, base), min(sequences, base)\n    return (noise_scale / b + 1) / (noise_scale / m + 1)"),
}

# ================================================================ best-step
def _b(line):
    return f"\ndef best_step():\n    {line}\n"
_READ = '''
def best_step():
    shown = probe.finder()
    controls = shown.state["controls"]
    step = next(i for i, c in enumerate(controls) if "step" in (c["name"] + c["label"]).lower() or "sequences per" in c["label"].lower())
    for key, scene in shown.state["table"].items():
        places = [int(p) for p in key.split("|")]
        if scene["found"]:
            return controls[step]["values"][places[step]]
'''
RIGHT["best-step"] = {
"guess: read off the finder's own table, where it says found": _READ,
"guess: the same, by a comprehension over settings": '''
import itertools
def best_step():
    shown = probe.finder()
    controls = shown.state["controls"]
    name = next(c["name"] for c in controls if "step" in (c["name"] + c["label"]).lower())
    offered = itertools.product(*(c["values"] for c in controls))
    settings = [dict(zip([c["name"] for c in controls], values)) for values in offered]
    return int([one for one in settings if shown.scene(one)["found"]][0][name])
''',
}
WRONG["best-step"] = {
"open: the noise scale (if it is no slider value, surely wrong)": _b("return 260"),
"one sequence": _b("return 1"),
"a million": _b("return 1_000_000"),
"zero": _b("return 0"),
"no return": _b("128"),
"minus": _b("return -128"),
"text": _b("return 'slow network, 260'"),
"a text of a number": _b("return '256'"),
"a list of all": _b("return [2**n for n in range(20)]"),
"two candidates in a tuple": _b("return 128, 256"),
"a range around it": _b("return range(64, 1024)"),
"a float between sliders": _b("return 217.3"),
"the best goodput, not the step: a fraction": _b("return 3.34"),
"infinite": _b("return float('inf')"),
"nan": _b("return float('nan')"),
"True": _b("return True"),
"the root with a fixed time of 0.1 s: no slider value": _b("return math.sqrt(260 * 100 / 11)"),
"a number that claims to equal everything": '''
class Any(int):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 1
def best_step():
    return Any(3)
''',
}
for _n in (8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096):
    WRONG["best-step"][f"open: {_n} (of all these constants at most one may pass)"] = _b(f"return {_n}")

# ================================================================ growth-test
_REF = '''
def _rule(lows, sequences, most):
    last = lows[-3:]
    if len(last) == 3 and all(low >= 2 * sequences for low in last) and 2 * sequences <= most:
        return 2 * sequences
    return sequences
'''
RIGHT["growth-test"] = {
"all short lists of five values, against the rule": '''
import itertools
''' + _REF + '''
def growth_test(next_step):
    for n in range(6):
        for lows in itertools.product([4, 19, 20, 21, 500], repeat=n):
            for most in (9, 10, 19, 20, 21, 40, 1000):
                assert next_step(list(lows), 10, most) == _rule(lows, 10, most)
    for lows in itertools.product([1, 13, 14, 15, 29, 99], repeat=4):
        for most in (7, 13, 14, 28, 99):
            assert next_step(list(lows), 7, most) == _rule(lows, 7, most)
''',
"a table by hand": '''
def growth_test(next_step):
    cases = [
        ([20, 20, 20], 10, 20, 20), ([20, 20, 20], 10, 19, 10), ([20, 20, 20], 10, 21, 20),
        ([20, 20, 20], 10, 1000, 20), ([900, 900, 900], 10, 1000, 20), ([900, 900, 900], 10, 15, 10),
        ([900, 900, 900], 10, 10, 10), ([900, 900, 900], 10, 5, 10),
        ([19, 20, 20], 10, 100, 10), ([20, 19, 20], 10, 100, 10), ([20, 20, 19], 10, 100, 10),
        ([19.9, 20, 20], 10, 100, 10), ([20, 19.9, 20], 10, 100, 10), ([20, 20, 19.9], 10, 100, 10),
        ([19, 900, 900], 10, 100, 10), ([900, 19, 900], 10, 100, 10), ([900, 900, 19], 10, 100, 10),
        ([15, 15, 15], 10, 100, 10), ([10, 10, 10], 10, 100, 10), ([11, 11, 11], 10, 100, 10),
        ([1, 1, 1], 10, 100, 10), ([1, 1, 1, 1, 1, 1], 10, 100, 10), ([0, 0, 0], 10, 100, 10), ([4, 4, 4], 10, 4, 10),
        ([], 10, 100, 10), ([900], 10, 100, 10), ([900, 900], 10, 100, 10), ([20, 20], 10, 20, 10),
        ([1, 1, 20, 20, 20], 10, 100, 20), ([1, 20, 20, 20], 10, 100, 20), ([20, 1, 20, 20, 20], 10, 100, 20),
        ([20, 20, 20, 1, 20, 20, 20], 10, 100, 20), ([1, 1, 1, 1, 1, 20, 20, 20], 10, 100, 20),
        ([20, 20, 20, 1], 10, 100, 10), ([20, 20, 20, 20, 1, 20], 10, 100, 10), ([20, 20, 20, 1, 20, 20], 10, 100, 10),
        ([900, 900, 900, 1, 1], 10, 100, 10), ([900, 900, 900, 1, 1, 1], 10, 100, 10), ([20, 1, 20, 1, 20], 10, 100, 10),
        ([900, 1, 900, 900], 10, 100, 10), ([1, 900, 900, 900, 900, 900], 10, 100, 20),
        ([20, 20, 20, 20], 10, 100, 20), ([20, 25, 30, 35, 40], 10, 100, 20), ([40, 35, 30, 25, 20], 10, 100, 20),
        ([39, 39, 39], 20, 100, 20), ([40, 40, 40], 20, 100, 40), ([40, 40, 40], 20, 39, 20), ([2, 2, 2], 1, 2, 2),
        ([6, 6, 6], 3, 6, 6), ([6, 6, 6], 3, 5, 3), ([5, 6, 7], 3, 60, 3), ([100, 100, 100], 3, 60, 6),
    ]
    for lows, sequences, most, want in cases:
        got = next_step(list(lows), sequences, most)
        assert got == want, (lows, sequences, most, got, want)
''',
"random runs, False in place of an assert": '''
def growth_test(next_step):
    rng = np.random.default_rng(16)
    for _ in range(6000):
        now = int(rng.integers(1, 40))
        near = [2 * now - 1, 2 * now, 2 * now + 1, now, now // 2, 10 * now, 2 * now - 0.5]
        lows = [near[i] for i in rng.choice(7, size=int(rng.integers(0, 8)), p=[0.07, 0.4, 0.25, 0.05, 0.05, 0.13, 0.05])]
        most = [2 * now - 1, 2 * now, 2 * now + 1, now, now // 2, 100 * now, 4 * now][int(rng.integers(7))]
        grows = len(lows) >= 3 and min(lows[-3:]) >= 2 * now and 2 * now <= most
        if next_step([*lows], now, most) != (2 * now if grows else now):
            return False
''',
"laws, each in words": '''
import itertools
def growth_test(next_step):
    for now in (1, 3, 10, 64):
        twice = 2 * now
        for before in ([], [0.0], [now], [twice], [9 * twice, 0.0], [0.0] * 5, [twice] * 4):
            for last in itertools.product((twice - 1, twice, twice + 3, 50 * twice, now / 2), repeat=3):
                for most in (now // 2, now, twice - 1, twice, twice + 1, 3 * twice):
                    got = next_step(before + list(last), now, most)
                    if most < twice or any(low < twice for low in last):
                        assert got == now, "must hold"
                    else:
                        assert got == twice, "must double"
        for few in ([], [99 * twice], [99 * twice, 99 * twice], [twice, twice]):
            assert next_step(few, now, 99 * twice) == now, "too few readings"
''',
}
_G5 = '''
def growth_test(next_step):
    assert next_step([20, 20, 20], 10, 100) == 20
'''
_GX = '''
def growth_test(next_step):
    def ask(lows, sequences, most, want):
        got = next_step(list(lows), sequences, most)
        assert got == want, (lows, sequences, most, got)
    for most, want in MOSTS:
        ask([20, 20, 20], 10, most, want)
        ask([1, 1, 20, 21, 22], 10, most, want)
    for good in GOODS:
        ask(good, 10, 100, 20)
    for bad in BADS:
        ask(bad, 10, 100, 10)
'''
_MOSTS = "((20, 20), (19, 10), (21, 20), (1000, 20), (15, 10), (10, 10), (5, 10))"
_GOODS = "([20, 20, 20], [1, 20, 20, 20], [1, 1, 1, 1, 20, 20, 20], [20, 1, 20, 20, 20], [900, 900, 900], [40, 30, 20], [20, 20, 20, 20, 20])"
_BADS = "([19, 20, 20], [20, 19, 20], [20, 20, 19], [19, 900, 900], [900, 19, 900], [900, 900, 19], [900, 900, 900, 1, 1], [900, 900, 900, 1], [20, 20, 20, 1, 20, 20], [20, 20, 20, 20, 1, 20], [900, 1, 900, 900], [], [900], [900, 900], [1, 1, 1], [1] * 6, [15] * 3, [10] * 3, [20, 1, 20, 1, 20])"
def _g(mosts=_MOSTS, goods=_GOODS, bads=_BADS):
    return _GX.replace("MOSTS", mosts).replace("GOODS", goods).replace("BADS", bads)
RIGHT["growth-test"]["three lists, of maxima, of growing and of holding readings"] = _g()
WRONG["growth-test"] = {
"only that it grows once": _G5,
"prints, never fails": '''
def growth_test(next_step):
    for lows, want in (([20, 20, 20], 20), ([19, 20, 20], 10), ([900], 10)):
        if next_step(lows, 10, 100) != want:
            print("wrong:", lows)
''',
"asserts a tuple, which is always true": _g().replace("assert got == want, (lows, sequences, most, got)", "assert (got == want, lows)"),
"a generator: nothing runs": _g() + "    yield True\n",
"swallows its own AssertionError": '''
def growth_test(next_step):
    try:
        assert next_step([20, 20, 20], 10, 100) == 20
        assert next_step([20, 19, 20], 10, 100) == 10
        assert next_step([20, 20], 10, 100) == 10
    except AssertionError:
        return "found a bug"
''',
"compares in a helper whose result is dropped": _g().replace("assert got == want, (lows, sequences, most, got)", "return got != want"),
"counts the bugs and returns the number": '''
def growth_test(next_step):
    bugs = 0
    for lows, most, want in (([20, 20, 20], 20, 20), ([20, 20, 20], 19, 10), ([19, 20, 20], 99, 10), ([20, 19, 20], 99, 10), ([20, 20, 19], 99, 10), ([20, 20], 99, 10)):
        bugs += next_step(lows, 10, most) != want
    return bugs
''',
"only lists of exactly three": _g(goods="([20, 20, 20], [900, 900, 900], [40, 30, 20])", bads="([19, 20, 20], [20, 19, 20], [20, 20, 19], [19, 900, 900], [900, 19, 900], [900, 900, 19], [1, 1, 1], [15] * 3, [10] * 3)").replace("        ask([1, 1, 20, 21, 22], 10, most, want)\n", ""),
"never fewer than three readings": _g(bads=_BADS.replace("[], [900], [900, 900], ", "")),
"never a maximum of exactly twice the step": _g(mosts="((19, 10), (21, 20), (1000, 20), (15, 10), (10, 10), (5, 10))"),
"only a huge maximum": _g(mosts="((100, 20), (1000, 20))"),
"never lows of exactly twice the step": _g(goods="([21, 21, 21], [1, 21, 21, 21], [900, 900, 900])").replace("ask([20, 20, 20], 10, most", "ask([30, 30, 30], 10, most").replace("[1, 1, 20, 21, 22]", "[1, 1, 25, 21, 22]"),
"bad lows are far below, never just below": _g(bads="([1, 20, 20], [20, 1, 20], [20, 20, 1], [900, 900, 900, 1, 1], [], [900], [900, 900], [1, 1, 1])"),
"the bad low stands always last": _g(bads="([20, 20, 19], [900, 900, 19], [900, 900, 900, 1], [20, 20, 20, 20, 1], [], [900], [900, 900], [1, 1, 1])"),
"open: the bad low stands always first": _g(bads="([19, 20, 20], [19, 900, 900], [], [900], [900, 900], [1, 1, 1], [900, 900, 900, 1, 1, 1])"),
"only growth is asserted": _g(mosts="((20, 20), (1000, 20))", bads="()"),
"only holding is asserted": _g(mosts="((19, 10), (10, 10))", goods="()"),
"at least what is asked: what grows too easily gets through": _g().replace("assert got == want", "assert got >= want"),
"open: only whether it moved, not to what (the text names no version that moves to a wrong size)": _g().replace("assert got == want", "assert (got != sequences) == (want != sequences)"),
"refuses right: exactly twice must hold": _g().replace("for bad in BADS", "for bad in BADS").replace("    for bad in", "    ask([20, 20, 20], 10, 100, 10)\n    for bad in"),
"refuses right: a maximum of exactly twice must hold": _g(mosts="((20, 10), (19, 10), (21, 20))"),
"refuses right: fewer than three must raise": '''
def growth_test(next_step):
    try:
        next_step([900, 900], 10, 100)
    except ValueError:
        pass
    else:
        assert False, "too few readings"
    assert next_step([20, 20, 20], 10, 100) == 20
''',
"refuses right: the newest reading stands first": _g() + "    ask([20, 20, 20, 1], 10, 100, 20)\n",
"refuses right: grows as far as the maximum": _g(mosts="((20, 20), (19, 19), (15, 15))"),
"refuses right: two readings are enough": _g() + "    ask([900, 900], 10, 100, 20)\n",
"refuses right: grows to the lowest of the three": _g() + "    ask([40, 50, 60], 10, 100, 40)\n",
"refuses right: halves the step when lows lie below it": _g(bads="([19, 20, 20],)") + "    ask([1, 1, 1], 10, 100, 5)\n",
"open: never a low below the step: what shrinks for low readings is not seen": _g(bads="([19, 20, 20], [20, 19, 20], [20, 20, 19], [19, 900, 900], [900, 19, 900], [900, 900, 19], [], [900], [900, 900], [15] * 3, [900, 900, 900, 19, 19])", goods="([20, 20, 20], [19, 20, 20, 20], [19, 19, 19, 19, 20, 20, 20], [900, 900, 900])"),
"fails by chance: a coin": '''
def growth_test(next_step):
    import random
    assert random.random() < 0.1
''',
"fitted to the hints: 20 and 19, last and first": '''
def growth_test(next_step):
    assert next_step([19, 19, 20, 20, 20], 10, 20) == 20
    assert next_step([20, 20, 20, 19, 19], 10, 20) == 10
    assert next_step([20, 20, 20], 10, 19) == 10
''',
"open: every case has a step of 2, where twice is its square": '''
import itertools
def growth_test(next_step):
    for n in range(6):
        for lows in itertools.product((1, 3, 4, 5, 90), repeat=n):
            for most in (1, 2, 3, 4, 5, 99):
                grows = n >= 3 and min(lows[-3:]) >= 4 and most >= 4
                assert next_step(list(lows), 2, most) == (4 if grows else 2)
''',
"open: every case has a step of 1": '''
import itertools
def growth_test(next_step):
    for n in range(6):
        for lows in itertools.product((0, 1, 1.9, 2, 3, 90), repeat=n):
            for most in (0, 1, 1.9, 2, 3, 99):
                grows = n >= 3 and min(lows[-3:]) >= 2 and most >= 2
                assert next_step(list(lows), 1, most) == (2 if grows else 1)
''',
"open: asks for a nan reading to hold": _g() + "    ask([float('nan'), 900, 900], 10, 100, 10)\n    ask([900, float('nan'), 900], 10, 100, 10)\n",
"open: hands over a tuple": _g().replace("next_step(list(lows), ", "next_step(tuple(lows), "),
"open: calls by the names of the text": _g().replace("next_step(list(lows), sequences, most)", "next_step(lows=list(lows), sequences=sequences, most=most)"),
}

# ================================================================ status
RIGHT["status"] = {
"plain": '''
def status(step):
    *before, now = step["norms"]
    return {"sequences": sum(len(one) for one in step["micro_batches"]),
            "targets": sum(sum(one) for one in step["micro_batches"]),
            "norm": now / statistics.median(before) if before else 1,
            "slowest": max(step["seconds"], key=step["seconds"].get)}
''',
"loops and a median by hand": '''
def status(step):
    sequences = targets = 0
    for micro in step["micro_batches"]:
        for tokens in micro:
            sequences += 1
            targets += tokens
    old = sorted(step["norms"][:-1])
    n = len(old)
    if n == 0:
        norm = 1.0
    elif n % 2:
        norm = step["norms"][-1] / old[n // 2]
    else:
        norm = step["norms"][-1] / ((old[n // 2 - 1] + old[n // 2]) / 2)
    slowest, most = None, -1.0
    for name, taken in step["seconds"].items():
        if taken > most:
            slowest, most = name, taken
    return dict(sequences=sequences, targets=targets, norm=norm, slowest=slowest)
''',
"numpy": '''
def status(step):
    flat = np.concatenate([np.asarray(m, dtype=np.int64) for m in step["micro_batches"]])
    norms = np.array(step["norms"], dtype=float)
    norm = float(norms[-1] / np.median(norms[:-1])) if norms.size > 1 else 1.0
    names = list(step["seconds"])
    return {"sequences": int(flat.size), "targets": int(flat.sum()), "norm": norm,
            "slowest": names[int(np.argmax([step["seconds"][n] for n in names]))]}
''',
"torch": '''
import torch
def status(step):
    flat = torch.tensor([t for m in step["micro_batches"] for t in m], dtype=torch.int64)
    norms = torch.tensor(step["norms"], dtype=torch.float64)
    before = norms[:-1] if len(norms) > 1 else norms
    return {"sequences": flat.numel(), "targets": flat.sum().item(),
            "norm": (norms[-1] / torch.quantile(before, 0.5)).item(),
            "slowest": sorted(step["seconds"].items(), key=lambda kv: -kv[1])[0][0]}
''',
"itertools": '''
import itertools
def status(step):
    flat = list(itertools.chain.from_iterable(step["micro_batches"]))
    norms = step["norms"]
    usual = statistics.median(norms[:-1] or norms)
    return {"slowest": max(zip(step["seconds"].values(), step["seconds"]))[1], "norm": norms[-1] / usual,
            "targets": sum(flat), "sequences": len(flat)}
''',
}
_ST = RIGHT["status"]["plain"]
_STL = 'statistics.median(before) if before'
WRONG["status"] = {
"micro-batches counted, not sequences": swap(_ST, ('sum(len(one) for one in step["micro_batches"])', 'len(step["micro_batches"])')),
"first micro-batch times their number": swap(_ST, ('sum(len(one) for one in step["micro_batches"])', 'len(step["micro_batches"]) * len(step["micro_batches"][0])')),
"sequences without targets are not counted": swap(_ST, ('sum(len(one) for one in step["micro_batches"])', 'sum(t > 0 for one in step["micro_batches"] for t in one)')),
"targets of the last micro-batch alone": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'sum(step["micro_batches"][-1])')),
"targets are padded: longest times rows": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'sum(len(one) * max(one, default=0) for one in step["micro_batches"])')),
"targets per sequence": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'sum(sum(one) for one in step["micro_batches"]) / sum(len(one) for one in step["micro_batches"])')),
"open: targets as a float": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'sum(float(np.sum(one)) for one in step["micro_batches"])')),
"targets by float32, cast to int": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'int(sum(np.sum(np.array(one, dtype=np.float32), dtype=np.float32) for one in step["micro_batches"]))')),
"targets by int32": swap(_ST, ('sum(sum(one) for one in step["micro_batches"])', 'int(sum(np.array(one, dtype=np.int64).astype(np.int32).sum(dtype=np.int32) for one in step["micro_batches"]))')),
"median with this step in it": swap(_ST, (_STL, 'statistics.median(step["norms"]) if before')),
"mean of those before": swap(_ST, (_STL, "statistics.mean(before) if before")),
"the norm just before": swap(_ST, (_STL, "before[-1] if before")),
"median of the last three before": swap(_ST, (_STL, "statistics.median(before[-3:]) if before")),
"median of the last ten before: a long run has more": swap(_ST, (_STL, "statistics.median(before[-10:]) if before")),
"median of the last hundred before": swap(_ST, (_STL, "statistics.median(before[-100:]) if before")),
"the first step's norm is left out as warm-up, where there are more": swap(_ST, (_STL, "statistics.median(before[1:] or before) if before")),
"lower median": swap(_ST, (_STL, "statistics.median_low(before) if before")),
"upper median": swap(_ST, (_STL, "statistics.median_high(before) if before")),
"middle place of what is not sorted": swap(_ST, (_STL, "before[len(before) // 2] if before")),
"the norm itself in a first step": swap(_ST, ("if before else 1,", "if before else now,")),
"0 in a first step": swap(_ST, ("if before else 1,", "if before else 0,")),
"nan in a first step": swap(_ST, ("if before else 1,", 'if before else float("nan"),')),
"a first step is refused: median of nothing": swap(_ST, (" if before else 1,", ",")),
"1 also in the second step": swap(_ST, ("if before else 1,", "if len(before) > 1 else 1,")),
"upside down: median over norm": swap(_ST, ("now / statistics.median(before)", "statistics.median(before) / now")),
"difference to the median": swap(_ST, ("now / statistics.median(before)", "now - statistics.median(before) + 0.0")),
"the first of the list is this step's": swap(_ST, ("*before, now =", "now, *before =")),
"takes this step's norm off the list itself": swap(_ST, ('*before, now = step["norms"]', 'now = step["norms"].pop()\n    before = step["norms"]')),
"sorts the norms in place": swap(_ST, ('*before, now = step["norms"]', 'now = step["norms"][-1]\n    before = step["norms"]\n    before.sort()\n    before = before[:-1]')),
"seconds in place of the name": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"].values())')),
"last name of the alphabet": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"])')),
"the fastest part": swap(_ST, ('max(step["seconds"]', 'min(step["seconds"]')),
"training does not count, as it is the work": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max([n for n in step["seconds"] if n != "training"] or ["training"], key=step["seconds"].get)')),
"the name and its share in one text": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', '(lambda n: f"{n} {step[chr(115) + \'econds\'][n]:.2f} s")(max(step["seconds"], key=step["seconds"].get))')),
"another name than the part's: in capitals, for the log": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"], key=step["seconds"].get).upper()')),
"another name than the part's: padded to 12 places, for the log": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"], key=step["seconds"].get).ljust(12)')),
"norm with two digits": swap(_ST, ("now / statistics.median(before) if", "round(now / statistics.median(before), 2) if")),
"norm as text": swap(_ST, ("now / statistics.median(before) if", 'f"{now / statistics.median(before):.2f}" if')),
"one more key": swap(_ST, ('    return {"sequences"', '    return {"micro_batches": len(step["micro_batches"]), "sequences"')),
"a tuple of the four": '''
def status(step):
    *before, now = step["norms"]
    flat = [t for m in step["micro_batches"] for t in m]
    return (len(flat), sum(flat), now / statistics.median(before) if before else 1, max(step["seconds"], key=step["seconds"].get))
''',
"open: of parts of equal seconds the last": swap(_ST, ('max(step["seconds"], key=step["seconds"].get)', 'max(reversed(list(step["seconds"])), key=step["seconds"].get)')),
"open: 1 where the median is 0": swap(_ST, (_STL, "(statistics.median(before) or now or 1) if before")),
"1e-3 is added below the line": swap(_ST, ("statistics.median(before) if", "(statistics.median(before) + 1e-3) if")),
}

# ================================================================ control
RIGHT["control"] = {
"plain": '''
def control(settings, state, reading, most):
    data, loss, low = reading["data"], reading["loss"], reading["low"]
    best, row = state.get("best"), state.get("row", 0)
    if data != state.get("data"):
        best, row = None, 0
    finite = loss is not None and math.isfinite(loss)
    if finite:
        best = loss if best is None else min(best, loss)
    now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
    calm = finite and loss <= best + 0.5
    asks = calm and low is not None and low >= 2 * now
    new = dict(settings)
    if reading["out_of_memory"]:
        new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])
        row = 0
    else:
        row = row + 1 if asks else 0
        if row == 3:
            if 2 * now <= most:
                new = grown(settings, 2 * now)
            row = 0
    return new, {"data": data, "best": best, "row": row}
''',
"best starts infinite, written as Infinity": '''
def control(settings, state, reading, most):
    now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
    memory = {"data": None, "best": math.inf, "row": 0, **state}
    if memory["data"] != reading["data"]:
        memory = {"data": reading["data"], "best": math.inf, "row": 0}
    if reading["out_of_memory"]:
        rows, accumulation = back_off(settings["rows"], settings["accumulation"])
        memory["row"] = 0
        return {**settings, "rows": rows, "accumulation": accumulation}, memory
    calm = math.isfinite(reading["loss"])
    if calm:
        memory["best"] = min(memory["best"], reading["loss"])
        calm = reading["loss"] <= memory["best"] + 0.5
    low = math.nan if reading["low"] is None else reading["low"]
    memory["row"] = memory["row"] + 1 if calm and low >= 2 * now else 0
    if memory["row"] < 3:
        return {**settings}, memory
    memory["row"] = 0
    return (grown(settings, 2 * now) if 2 * now <= most else {**settings}), memory
''',
"remembers every reading on these data, and reads the history anew": '''
import copy
def control(settings, state, reading, most):
    history = copy.deepcopy(state.get("history", []))
    if history and history[-1]["data"] != reading["data"]:
        history = []
    history.append(dict(reading, now=settings["rows"] * settings["accumulation"] * settings["data_parallel"]))
    best, row = None, 0
    for one in history:
        grows = False
        loss, low = one["loss"], one["low"]
        if one["out_of_memory"]:
            row = 0
            continue
        if loss is None or math.isnan(loss) or math.isinf(loss):
            row = 0
            continue
        best = loss if best is None or loss < best else best
        if low is None or not low >= 2 * one["now"] or loss > best + 0.5:
            row = 0
            continue
        row += 1
        if row == 3:
            row, grows = 0, 2 * one["now"] <= most
    new = copy.deepcopy(settings)
    if reading["out_of_memory"]:
        new["rows"], new["accumulation"] = back_off(new["rows"], new["accumulation"])
    elif grows:
        new = grown(new, 2 * history[-1]["now"])
    return new, {"history": history}
''',
"a class that is loaded and saved, state as one text": '''
import json
class _Watch:
    def __init__(self, saved):
        self.data, self.losses, self.asked = json.loads(saved) if saved else (None, [], [])
    def see(self, reading, now):
        if reading["data"] != self.data:
            self.data, self.losses, self.asked = reading["data"], [], []
        loss, low = reading["loss"], reading["low"]
        if loss is not None and abs(loss) < float("inf"):
            self.losses = [min(self.losses + [loss])]
            self.asked.append(loss - self.losses[0] <= 0.5 and low is not None and bool(low / now >= 2))
        else:
            self.asked.append(False)
        if reading["out_of_memory"]:
            self.asked = []
        self.asked = self.asked[-3:]
        if self.asked == [True] * 3:
            self.asked = []
            return True
        return False
def control(settings, state, reading, most):
    watch = _Watch(state.get("saved"))
    now = math.prod(settings[name] for name in ("rows", "accumulation", "data_parallel"))
    wants = watch.see(reading, now)
    after = settings.copy()
    if reading["out_of_memory"]:
        r, a = back_off(settings["rows"], settings["accumulation"])
        after = settings | {"rows": r, "accumulation": a}
    elif wants and not now * 2 > most:
        after = grown(settings, now * 2)
    return after, {"saved": json.dumps([watch.data, watch.losses, watch.asked])}
''',
"NumPy, the row counted down": '''
def control(settings, state, reading, most):
    now = int(np.prod([settings["rows"], settings["accumulation"], settings["data_parallel"]], dtype=np.int64))
    fresh = "data" not in state or state["data"] != reading["data"]
    losses = [] if fresh or state["best"] is None else [state["best"]]
    left = 3 if fresh else state["left"]
    loss = np.nan if reading["loss"] is None else float(reading["loss"])
    low = np.nan if reading["low"] is None else float(reading["low"])
    if np.isfinite(loss):
        losses.append(loss)
    best = float(np.min(losses)) if losses else None
    asks = np.isfinite(loss) and loss <= best + 0.5 and low >= 2 * now and not reading["out_of_memory"]
    left = left - 1 if asks else 3
    out = dict(settings)
    if reading["out_of_memory"]:
        r, a = back_off(settings["rows"], settings["accumulation"])
        out.update(rows=r, accumulation=a)
    if left == 0:
        left = 3
        if 2 * now <= most:
            out = grown(settings, 2 * now)
    return out, dict(data=reading["data"], best=best, left=left)
''',
}
_C = RIGHT["control"]["plain"]
_MOVE = '''            if 2 * now <= most:
                new = grown(settings, 2 * now)
            row = 0
'''
WRONG["control"] = {
"low must lie above twice the step, not at it": swap(_C, ("low >= 2 * now", "low > 2 * now")),
"low at least the step, not twice": swap(_C, ("low >= 2 * now", "low >= now")),
"sequences without the replicas": swap(_C, (' * settings["data_parallel"]', "")),
"low against the sequences without the replicas": swap(_C, ("low >= 2 * now", 'low >= 2 * settings["rows"] * settings["accumulation"]')),
"twice may not reach most": swap(_C, ("if 2 * now <= most", "if 2 * now < most")),
"grows while the step now does not exceed most": swap(_C, ("if 2 * now <= most", "if now <= most")),
"no maximum": swap(_C, (_MOVE, "            new = grown(settings, 2 * now)\n            row = 0\n")),
"grows to most where twice exceeds it": swap(_C, (_MOVE, "            each = settings['rows'] * settings['data_parallel']\n            new = grown(settings, max(now, min(2 * now, most // each * each)))\n            row = 0\n")),
"grows to what low says": swap(_C, ("new = grown(settings, 2 * now)", "new = grown(settings, min(most, int(min(low, 1e12))) // now * now)")),
"the row goes on after a move": swap(_C, (_MOVE, _MOVE.rsplit("            row = 0", 1)[0]), ("row == 3", "row >= 3")),
"the row keeps the last two readings after a move": swap(_C, (_MOVE, _MOVE.replace("row = 0", "row = 2"))),
"two readings are enough": swap(_C, ("row == 3", "row == 2")),
"four readings": swap(_C, ("row == 3", "row == 4")),
"three in all, not in a row": swap(_C, ("row + 1 if asks else 0", "row + 1 if asks else row")),
"a reading that does not ask takes one off the row": swap(_C, ("row + 1 if asks else 0", "row + 1 if asks else max(0, row - 1)")),
"nothing measured leaves the row as it is": swap(_C, ("row = row + 1 if asks else 0", "row = row + 1 if asks else (row if low is None else 0)")),
"nan measured leaves the row as it is": swap(_C, ("row = row + 1 if asks else 0", "row = row + 1 if asks else (row if low is not None and math.isnan(low) else 0)")),
"nan passes: not below twice": swap(_C, ("low >= 2 * now", "not low < 2 * now")),
"nothing measured asks: the last low is taken again": swap(_C, ("    data, loss, low =", "    if reading['low'] is None and 'low' in state:\n        reading = {**reading, 'low': state['low']}\n    data, loss, low ="), ('"row": row}', '"row": row, "low": low}')),
"a bad loss leaves the row as it is": swap(_C, ("row = row + 1 if asks else 0", "row = row + 1 if asks else (0 if calm else row)")),
"out of memory leaves the row as it is": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n')),
"out of memory forgets best and data, too": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        return new, {}\n')),
"out of memory forgets the best": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        row, best = 0, None\n')),
"out of memory returns early, and its data are not noted: A, out of memory on B, A keeps A's best": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        return new, {**state, "row": 0}\n')),
"a step out of memory is no reading: new data with it are noted, best is kept": swap(_C, ("        best, row = None, 0\n", "        best, row = (best if reading['out_of_memory'] else None), 0\n")),
"out of memory on the same data counts by its low": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        row = 1 if low is not None and low >= 2 * now else 0\n')),
"out of memory: half the rows, same accumulation": swap(_C, ('new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])', 'new["rows"] = back_off(settings["rows"], settings["accumulation"])[0]')),
"out of memory: the rate goes with the rows": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        new["rate"] *= math.sqrt(new["rows"] / settings["rows"])\n        row = 0\n')),
"out of memory only at the second time in a row": swap(_C, ('    if reading["out_of_memory"]:', '    if reading["out_of_memory"] and not state.get("oom"):\n        row = 0\n    elif reading["out_of_memory"]:'), ('"row": row}', '"row": row, "oom": reading["out_of_memory"]}')),
"at 1 row holds, the ValueError is swallowed": swap(_C, ('        new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])\n', '        try:\n            new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])\n        except ValueError:\n            pass\n')),
"out of memory at 1 row: the step is halved": swap(_C, ('        new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])\n', '        if settings["rows"] > 1:\n            new["rows"], new["accumulation"] = back_off(settings["rows"], settings["accumulation"])\n        else:\n            new = grown(settings, now // 2)\n')),
"rows are raised again after ten quiet readings": swap(_C, ('    return new, {"data"', '    quiet = 0 if reading["out_of_memory"] else state.get("quiet", 0) + 1\n    first = state.get("first", settings["rows"])\n    if quiet == 10 and new["rows"] < first and new["rows"] * new["accumulation"] % first == 0:\n        new = {**new, "accumulation": new["rows"] * new["accumulation"] // first, "rows": first}\n    return new, {"quiet": quiet, "first": first, "data"')),
"growth by rows": swap(_C, ("new = grown(settings, 2 * now)", 'moved = grown(settings, 2 * now)\n                new = {**moved, "rows": 2 * settings["rows"], "accumulation": settings["accumulation"]}')),
"growth leaves rate and beta2": swap(_C, ("new = grown(settings, 2 * now)", 'new["accumulation"] = 2 * settings["accumulation"]')),
"growth leaves beta2": swap(_C, ("new = grown(settings, 2 * now)", 'new = {**grown(settings, 2 * now), "beta2": settings["beta2"]}')),
"growth doubles the rate": swap(_C, ("new = grown(settings, 2 * now)", 'new = {**grown(settings, 2 * now), "rate": 2 * settings["rate"]}')),
"growth forgets the best": swap(_C, ("new = grown(settings, 2 * now)", "new, best = grown(settings, 2 * now), None")),
"growth by one accumulation": swap(_C, ("new = grown(settings, 2 * now)", 'new = grown(settings, now + now // settings["accumulation"])')),
"growth waits for the next reading": swap(_C, ("        row = row + 1 if asks else 0\n        if row == 3:", "        due, row = row == 3, (row + 1 if asks else 0)\n        if due:")),
"0.5 nats above is already too much": swap(_C, ("loss <= best + 0.5", "loss < best + 0.5")),
"half above the best, not 0.5 nats": swap(_C, ("loss <= best + 0.5", "loss <= best * 1.5")),
"the loss is not looked at": swap(_C, ("calm = finite and loss <= best + 0.5", "calm = not reading['out_of_memory']")),
"finite is enough": swap(_C, ("calm = finite and loss <= best + 0.5", "calm = finite")),
"calm is asked only at the third reading": swap(_C, ("asks = calm and", "asks = not reading['out_of_memory'] and"), ("if 2 * now <= most", "if calm and 2 * now <= most")),
"against the loss just before, not the best": swap(_C, ("best = loss if best is None else min(best, loss)", "best, was = loss, loss if best is None else best"), ("loss <= best + 0.5", "loss <= was + 0.5")),
"best of the readings that ask only": swap(_C, ("    if finite:\n        best = loss if best is None else min(best, loss)\n", ""), ("loss <= best + 0.5", "(best is None or loss <= best + 0.5)"), ("    new = dict(settings)\n", "    if asks:\n        best = loss if best is None else min(best, loss)\n    new = dict(settings)\n")),
"best of the readings with a noise scale only": swap(_C, ("    if finite:\n", "    if finite and low is not None:\n"), ("finite and loss <= best + 0.5", "finite and (best is None or loss <= best + 0.5)")),
"best of the last eight losses": swap(_C, ("best = loss if best is None else min(best, loss)", "recent = ([] if data != state.get('data') else state.get('recent', []))[-7:] + [loss]\n        best = min(recent)"), ('"row": row}', '"row": row, "recent": recent if finite else ([] if data != state.get("data") else state.get("recent", []))}')),
"best of the last fifty losses": swap(_C, ("best = loss if best is None else min(best, loss)", "recent = ([] if data != state.get('data') else state.get('recent', []))[-49:] + [loss]\n        best = min(recent)"), ('"row": row}', '"row": row, "recent": recent if finite else ([] if data != state.get("data") else state.get("recent", []))}')),
"minus infinity is the best loss ever": swap(_C, ("    if finite:\n        best = loss", "    if loss is not None and not math.isnan(loss):\n        best = loss")),
"nan gets into the best": swap(_C, ("    if finite:\n        best = loss if best is None else min(best, loss)", "    if loss is not None:\n        best = loss if best is None else min(loss, best)")),
"minus infinity is calm": swap(_C, ("calm = finite and loss <= best + 0.5", "calm = loss == -math.inf or (finite and loss <= best + 0.5)")),
"only nan is refused; a first infinite loss sets the best and is calm": swap(_C, ("finite = loss is not None and math.isfinite(loss)", "finite = loss is not None and not math.isnan(loss)")),
"a best of 0.0 is taken for none": swap(_C, ("loss if best is None else min(best, loss)", "min(best, loss) if best else loss")),
"the best starts at 10": swap(_C, ("loss if best is None else min(best, loss)", "min(10.0 if best is None else best, loss)")),
"the best starts at 3": swap(_C, ("loss if best is None else min(best, loss)", "min(3.0 if best is None else best, loss)")),
"the first reading of a run or of data never asks": swap(_C, ("calm = finite and loss <= best + 0.5", "calm = finite and loss <= best + 0.5 and data == state.get('data')")),
"the best is written with one digit": swap(_C, ('"best": best', '"best": best if best is None else round(best, 1)')),
"the best is written with three digits": swap(_C, ('"best": best', '"best": best if best is None else round(best, 3)')),
"new data: the best goes on": swap(_C, ("        best, row = None, 0\n", "        row = 0\n")),
"new data: the row goes on": swap(_C, ("        best, row = None, 0\n", "        best = None\n")),
"new data are not noticed": swap(_C, ("    if data != state.get(\"data\"):\n        best, row = None, 0\n", "")),
"new data: the best of each data set is kept under its name": swap(_C, ('best, row = state.get("best"), state.get("row", 0)', 'bests, row = dict(state.get("bests", {})), state.get("row", 0)\n    best = bests.get(data)'), ("        best, row = None, 0\n", "        row = 0\n"), ('{"data": data, "best": best, "row": row}', '{"data": data, "bests": {**bests, data: best}, "row": row}')),
"new data: compared with the first data of the run": swap(_C, ('{"data": data,', '{"data": state.get("data", data),')),
"new data: their first loss is not taken into the best": swap(_C, ("    if finite:\n        best = loss", "    if finite and (data == state.get('data') or not state):\n        best = loss"), ("finite and loss <= best + 0.5", "finite and (best is None or loss <= best + 0.5)")),
"new data: forgotten after the reading was counted": swap(_C, ("    if data != state.get(\"data\"):\n        best, row = None, 0\n", ""), ("    return new, {", "    if 'data' in state and data != state['data']:\n        best, row = None, 0\n    return new, {")),
"new data: any name that was seen before in the run is old": swap(_C, ('    if data != state.get("data"):\n        best, row = None, 0\n', '    known = state.get("known", [])\n    if data not in known:\n        best, row = None, 0\n'), ('"row": row}', '"row": row, "known": sorted({*known, data})}')),
"remembers in a name outside, not in state": swap(_C, ("\ndef control", "\n_memory = {}\ndef control"), ('    return new, {"data": data, "best": best, "row": row}', '    _memory.update(data=data, best=best, row=row)\n    return new, {}'), ("    data, loss, low =", "    state = _memory\n    data, loss, low =")),
"the row in an attribute of the function": swap(_C, ('state.get("row", 0)', 'getattr(control, "row", 0) if state else 0'), ('    return new, {"data": data, "best": best, "row": row}', '    control.row = row\n    return new, {"data": data, "best": best}')),
"writes into state": swap(_C, ('    return new, {"data": data, "best": best, "row": row}', '    state.update(data=data, best=best, row=row)\n    return new, state')),
"writes into settings when out of memory": swap(_C, ("    new = dict(settings)\n", "    new = settings\n")),
"not new: hands the same settings back when nothing moves": swap(_C, ("    new = dict(settings)\n", "    new = dict(settings) if reading['out_of_memory'] else settings\n")),
"state holds a NumPy number that JSON cannot write": swap(_C, ('"row": row}', '"row": np.int64(row)}')),
"state holds a set": swap(_C, ('"row": row}', '"row": row, "seen": {data}}')),
"state has ints as keys: they come back as text": swap(_C, ('state.get("row", 0)', 'state.get(1, 0)'), ('"row": row}', '1: row}')),
"state holds a tuple and asks for one: it comes back as a list": swap(_C, ('state.get("row", 0)', '(len(state["asked"]) if isinstance(state.get("asked"), tuple) else 0)'), ('"row": row}', '"asked": (True,) * row}')),
"state is a list": swap(_C, ('best, row = state.get("best"), state.get("row", 0)', 'state = dict(state)\n    best, row = state.get("best"), state.get("row", 0)'), ('{"data": data, "best": best, "row": row}', '[["data", data], ["best", best], ["row", row]]')),
"swapped: state, settings": swap(_C, ('return new, {"data": data, "best": best, "row": row}', 'return {"data": data, "best": best, "row": row}, new')),
"mean of three lows, in place of each": swap(_C, ("asks = calm and low is not None and low >= 2 * now", "lows = ([] if data != state.get('data') else state.get('lows', []))[-2:] + [0 if low is None or low != low else low]\n    asks = calm and sum(lows) / 3 >= 2 * now"), ("row == 3", "row >= 1 and asks"), ('"row": row}', '"row": row, "lows": lows}')),
"two of the last three readings ask": swap(_C, ("        row = row + 1 if asks else 0\n        if row == 3:", "        asked = ([] if data != state.get('data') else state.get('asked', []))[-2:] + [bool(asks)]\n        row = 0\n        if len(asked) == 3 and sum(asked) >= 2 and asks:\n            asked = []"), ('"row": row}', '"row": row, "asked": asked if not reading["out_of_memory"] else []}')),
"shrinks to half after three readings below half the step": swap(_C, ('"row": row}', '"row": row, "down": down % 3}'), ("    new = dict(settings)\n", "    new = dict(settings)\n    down = state.get('down', 0) + 1 if low is not None and low < now / 2 else 0\n    if down == 3 and not reading['out_of_memory'] and settings['accumulation'] % 2 == 0:\n        new = grown(settings, now // 2)\n")),
"a diverged loss shrinks the rate": swap(_C, ("    new = dict(settings)\n", "    new = dict(settings)\n    if not reading['out_of_memory'] and not finite:\n        new['rate'] /= 2\n")),
"the step is taken from the state, where the first one was noted": swap(_C, ('    now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]\n', '    now = state.get("now") or settings["rows"] * settings["accumulation"] * settings["data_parallel"]\n'), ('"row": row}', '"row": row, "now": now}')),
"never more than five moves in a run": swap(_C, ("if 2 * now <= most", "if 2 * now <= most and state.get('moves', 0) < 5"), ('"row": row}', '"row": row, "moves": state.get("moves", 0) + (new != settings)}')),
"not new: hands the same state back when out of memory has nothing to end": swap(_C, ('    return new, {"data": data, "best": best, "row": row}', '    after = {"data": data, "best": best, "row": row}\n    return new, (state if after == state else after)')),
"out of memory on new data leaves the row of the old data as it is": swap(_C, ('settings["accumulation"])\n        row = 0\n', 'settings["accumulation"])\n        row = state.get("row", 0) if data != state.get("data") else 0\n')),
"a reading after out of memory is the repeated step and is not counted": swap(_C, ("row = row + 1 if asks else 0", "row = (row + 1 if not state.get('oom') else row) if asks else 0"), ('"row": row}', '"row": row, "oom": reading["out_of_memory"]}')),
"a reading after a move is skipped, as the optimizer settles": swap(_C, ("row = row + 1 if asks else 0", "row = (row + 1 if not state.get('moved') else 0) if asks else 0"), ('"row": row}', '"row": row, "moved": new["accumulation"] * new["rows"] != settings["accumulation"] * settings["rows"]}')),
"after out of memory nothing grows any more": swap(_C, ("if 2 * now <= most", "if 2 * now <= most and not state.get('oom')"), ('"row": row}', '"row": row, "oom": bool(state.get("oom") or reading["out_of_memory"])}')),
"after a diverged loss nothing grows any more on these data": swap(_C, ("    if finite:\n", "    bad = data == state.get('data') and state.get('bad', False) or not (finite or reading['out_of_memory'])\n    if finite:\n"), ("asks = calm and", "asks = calm and not bad and"), ('"row": row}', '"row": row, "bad": bad}')),
"low is compared as a whole number, rounded": swap(_C, ("low >= 2 * now", "(low == low and (low == math.inf or round(low) >= 2 * now))")),
"open: a loss below zero (a bound, a shifted loss) is no loss": swap(_C, ("finite = loss is not None and math.isfinite(loss)", "finite = loss is not None and math.isfinite(loss) and loss >= 0")),
"settings beside the five are dropped": swap(_C, ("    new = dict(settings)\n", "    new = {name: settings[name] for name in ('rows', 'accumulation', 'data_parallel', 'rate', 'beta2')}\n"), ("new = grown(settings, 2 * now)", "new = grown(new, 2 * now)")),
"open: an infinite low counts as nothing measured": swap(_C, ("low >= 2 * now", "math.isfinite(low) and low >= 2 * now")),
"open: an empty name of data is no name": swap(_C, ('if data != state.get("data"):', 'if state.get("data") and data != state.get("data"):')),
"open: the row stays at three while the maximum is in the way": swap(_C, (_MOVE, "            if 2 * now <= most:\n                new = grown(settings, 2 * now)\n                row = 0\n            else:\n                row = 2\n")),
}
