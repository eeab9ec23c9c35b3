# ruff: noqa
"""Tries of a fresh student for lesson 16."""
from textwrap import dedent, indent


def cell(head, body):
    return head + "\n" + indent(dedent(body).strip("\n"), "    ") + "\n"


def subs(base, table):
    out = {}
    for why, pairs in table.items():
        text = base
        if isinstance(pairs, tuple):
            pairs = [pairs]
        for old, new in pairs:
            assert old in text, (why, old)
            text = text.replace(old, new)
        out[why] = text
    return out


WRONG, RIGHT = {}, {}

# ------------------------------------------------------------------ back-off
H = "def back_off(rows, accumulation):"
RIGHT["back-off"] = {
    "loop": cell(H, """
        total = rows * accumulation
        for r in range(rows - 1, 0, -1):
            if total % r == 0:
                return r, total // r
        raise ValueError("one row cannot shrink")
    """),
    "numpy": "import numpy as np\n" + cell(H, """
        if rows == 1:
            raise ValueError("no fewer rows than 1")
        total = rows * accumulation
        r = np.arange(1, rows)
        best = int(r[total % r == 0].max())
        return best, total // best
    """),
    "numpy ints returned": "import numpy as np\n" + cell(H, """
        if rows <= 1:
            raise ValueError("no fewer rows than 1")
        total = rows * accumulation
        r = np.arange(1, rows)
        best = r[total % r == 0].max()
        return best, total // best
    """),
    "torch": "import torch\n" + cell(H, """
        if rows < 2:
            raise ValueError("1 row")
        total = rows * accumulation
        r = torch.arange(1, rows)
        best = int(r[torch.remainder(torch.tensor(total), r) == 0].max())
        return (best, total // best)
    """),
    "max of a generator": cell(H, """
        n = rows * accumulation
        fewer = max((r for r in range(1, rows) if not n % r), default=0)
        if not fewer:
            raise ValueError(f"{rows} row cannot shrink")
        return fewer, n // fewer
    """),
}
BO = RIGHT["back-off"]["loop"]
WRONG["back-off"] = subs(BO, {
    "begins at rows itself": ("range(rows - 1", "range(rows"),
    "never tries 1 row": ("rows - 1, 0, -1", "rows - 1, 1, -1"),
    "fewest rows, from 1 up": ("range(rows - 1, 0, -1)", "range(1, rows)"),
    "swapped": ("return r, total // r", "return total // r, r"),
    "divisors of rows only": ("total % r == 0", "rows % r == 0"),
    "divisors of accumulation only": ("total % r == 0", "accumulation % r == 0"),
    "accumulation kept": ("total // r", "accumulation"),
    "returns (1, accumulation) at 1 row": ('raise ValueError("one row cannot shrink")', "return 1, accumulation"),
    "returns None at 1 row": ('raise ValueError("one row cannot shrink")', "return None"),
    "RuntimeError at 1 row": ("raise ValueError", "raise RuntimeError"),
    "returns the ValueError": ("raise ValueError", "return ValueError"),
    "open: accumulation as a float": ("total // r", "total / r"),
    "open: a list, not a tuple": ("return r, total // r", "return [r, total // r]"),
    "powers of two only": ("total % r == 0", "total % r == 0 and r & (r - 1) == 0"),
    "even rows only, or 1": ("total % r == 0", "total % r == 0 and (r % 2 == 0 or r == 1)"),
    "cached by rows": [("def back_off", "kept = {}\n\n\ndef back_off"), ("total = rows", "if rows in kept:\n        return kept[rows]\n    total = rows"),
                       ("return r, total // r", "kept[rows] = (r, total // r)\n            return kept[rows]")],
    "first of acceptable remainders: at most 1 sequence lost": ("total % r == 0", "total % r <= 1 and r > 1 or r == 1"),
    "refuses 2 rows too": ("total = rows * accumulation", "total = rows * accumulation\n    if rows <= 2:\n        raise ValueError('small')"),
    "refuses what only 1 row divides": ("            return r", "            if r == 1 and rows > 2:\n                raise ValueError('nothing divides')\n            return r"),
    "1 row and accumulation 1 alone refused": ('raise ValueError("one row cannot shrink")', "if accumulation == 1:\n        raise ValueError('one')\n    return 1, accumulation"),
}) | {
    "halves and doubles": cell(H, """
        if rows == 1:
            raise ValueError("1")
        return rows // 2, accumulation * 2
    """),
    "halves, accumulation by floor": cell(H, """
        if rows == 1:
            raise ValueError("1")
        n = rows * accumulation
        return rows // 2, n // (rows // 2)
    """),
    "rows x 0.9 until it divides, else 1": cell(H, """
        if rows == 1:
            raise ValueError("1")
        n, r = rows * accumulation, int(rows * 0.9)
        while r > 1 and n % r:
            r = int(r * 0.9)
        return max(r, 1), n // max(r, 1)
    """),
    "rows - 1, accumulation rounded up": cell(H, """
        if rows == 1:
            raise ValueError("1")
        return rows - 1, -(-rows * accumulation // (rows - 1))
    """),
    "accumulation by whole factors": cell(H, """
        if rows == 1:
            raise ValueError("1")
        for k in range(2, rows + 1):
            if rows % k == 0:
                return rows // k, accumulation * k
    """),
    "float product": cell(H, """
        n = float(rows) * accumulation / 1.0
        for r in range(rows - 1, 0, -1):
            if (n / r).is_integer():
                return r, int(n / r)
        raise ValueError("1")
    """),
    "float32 product": "import numpy as np\n" + cell(H, """
        n = int(np.float32(rows * accumulation))
        for r in range(rows - 1, 0, -1):
            if n % r == 0:
                return r, n // r
        raise ValueError("1")
    """),
    "ZeroDivisionError at 1 row": cell(H, """
        r = rows - 1
        while rows * accumulation % r:
            r -= 1
        return r, rows * accumulation // r
    """),
}

# ---------------------------------------------------------------- ramp-steps
H = "def ramp_steps(stages, total_tokens):"
RIGHT["ramp-steps"] = {
    "walk": cell(H, """
        seen = steps = 0
        while seen < total_tokens:
            size = [s for start, s in stages if start <= seen][-1]
            seen += size
            steps += 1
        return steps
    """),
    "by stage, ceil": cell(H, """
        seen = steps = 0
        ends = [start for start, _ in stages[1:]] + [total_tokens]
        for (start, size), end in zip(stages, ends):
            end = min(end, total_tokens)
            if seen < end:
                n = -(-(end - seen) // size)
                seen += n * size
                steps += n
        return steps
    """),
    "numpy searchsorted": "import numpy as np\n" + cell(H, """
        starts = np.array([a for a, _ in stages]); sizes = np.array([b for _, b in stages])
        seen, steps = 0, 0
        while seen < total_tokens:
            seen += int(sizes[np.searchsorted(starts, seen, side="right") - 1])
            steps += 1
        return steps
    """),
    "bisect, index moved": "from bisect import bisect_right\n" + cell(H, """
        starts = [a for a, _ in stages]
        seen, n = 0, 0
        while seen < total_tokens:
            seen += stages[bisect_right(starts, seen) - 1][1]
            n += 1
        return n
    """),
    "torch scalar counted": "import torch\n" + cell(H, """
        starts = torch.tensor([a for a, _ in stages], dtype=torch.int64)
        seen = torch.tensor(0); n = 0
        while int(seen) < total_tokens:
            seen = seen + stages[int((starts <= seen).sum()) - 1][1]
            n += 1
        return n
    """),
}
RS = RIGHT["ramp-steps"]["walk"]
WRONG["ramp-steps"] = subs(RS, {
    "stage begins only after it is passed (<)": ("if start <= seen][-1]", "if start < seen or start == 0][-1]"),
    "one step more (seen <= total)": ("while seen < total_tokens", "while seen <= total_tokens"),
    "last step only if it fits": [("while seen < total_tokens", "while True"), ("        seen += size", "        if seen + size > total_tokens:\n            return steps\n        seen += size")],
    "stage looked up at the end of the step": ("seen += size", "size = [s for start, s in stages if start <= seen + size][-1]\n        seen += size"),
    "first size for ever": ("][-1]", "][0]"),
    "last size for ever": ("[s for start, s in stages if start <= seen][-1]", "stages[-1][1]"),
    "largest reached size": ("[s for start, s in stages if start <= seen][-1]", "max(s for start, s in stages if start <= seen)"),
    "returns tokens": ("return steps", "return seen"),
    "from_tokens taken for steps": ("start <= seen", "start <= steps"),
    "step cut at a stage": ("seen += size", "size = min([size] + [start - seen for start, _ in stages if start > seen])\n        seen += size"),
    "at least one step": ("return steps", "return max(1, steps)"),
    "always two numbers": ("return steps", "return steps, seen"),
    "one stage at a time": [("seen = steps = 0", "seen = steps = at = 0"), ("size = [s for start, s in stages if start <= seen][-1]",
                            "if at + 1 < len(stages) and stages[at + 1][0] <= seen:\n            at += 1\n        size = stages[at][1]")],
    "stages popped from the caller's list": ("size = [s for start, s in stages if start <= seen][-1]",
                            "while len(stages) > 1 and stages[1][0] <= seen:\n            stages.pop(0)\n        size = stages[0][1]"),
    "caller's list sorted by size": ("seen = steps = 0", "seen = steps = 0\n    stages.sort(key=lambda s: s[1])"),
    "int32": [("def ramp", "import numpy as np\n\n\ndef ramp"), ("seen += size", "seen = int(np.array(seen + size).astype(np.int32))\n        if seen <= 0:\n            return steps")],
    "cached by total_tokens": [("def ramp", "kept = {}\n\n\ndef ramp"), ("seen = steps", "if total_tokens in kept:\n        return kept[total_tokens]\n    seen = steps"), ("return steps\n", "kept[total_tokens] = steps\n    return steps\n")],
    "cached by number of stages": [("def ramp", "kept = {}\n\n\ndef ramp"), ("seen = steps", "if len(stages) in kept:\n        return kept[len(stages)]\n    seen = steps"), ("return steps\n", "kept[len(stages)] = steps\n    return steps\n")],
    "stage begins a step late": ("start <= seen", "start == 0 or start + s <= seen"),
    "last stage never ends: stops at the last from_tokens": ("while seen < total_tokens", "while seen < max(total_tokens, stages[-1][0])"),
    "open: a float": ("return steps", "return float(steps)"),
    "only two stages": ("][-1]", "][:2][-1]"),
}) | {
    "tokens of a stage / size, each rounded up, no overrun": cell(H, """
        ends = [a for a, _ in stages[1:]] + [total_tokens]
        return sum(-(-max(0, min(e, total_tokens) - a) // s) for (a, s), e in zip(stages, ends))
    """),
    "tokens of a stage // size": cell(H, """
        ends = [a for a, _ in stages[1:]] + [total_tokens]
        return sum(max(0, min(e, total_tokens) - a) // s for (a, s), e in zip(stages, ends))
    """),
    "fraction of steps summed, then rounded up": "import math\n" + cell(H, """
        ends = [a for a, _ in stages[1:]] + [total_tokens]
        return math.ceil(sum(max(0, min(e, total_tokens) - a) / s for (a, s), e in zip(stages, ends)))
    """),
    "by stage, without min(end, total)": cell(H, """
        seen = steps = 0
        ends = [a for a, _ in stages[1:]] + [total_tokens]
        for (_, size), end in zip(stages, ends):
            n = max(0, -(-(end - seen) // size))
            seen += n * size
            steps += n
        return steps
    """),
    "float ceil by stage": "import math\n" + cell(H, """
        seen = steps = 0
        ends = [a for a, _ in stages[1:]] + [total_tokens]
        for (_, size), end in zip(stages, ends):
            n = max(0, math.floor((min(end, total_tokens) - seen) / size) + 1)
            seen += n * size
            steps += n
        return steps
    """),
    "mean size": cell(H, """
        mean = sum(s for _, s in stages) / len(stages)
        return -(-total_tokens // int(mean))
    """),
}

# --------------------------------------------------------------------- grown
H = "def grown(settings, sequences):"
RIGHT["grown"] = {
    "dict or": cell(H, """
        each = settings["rows"] * settings["data_parallel"]
        if sequences <= 0 or sequences % each:
            raise ValueError(f"{sequences} is no positive multiple of {each}")
        k = sequences / (each * settings["accumulation"])
        return settings | {"accumulation": sequences // each, "rate": settings["rate"] * k ** 0.5, "beta2": settings["beta2"] ** k}
    """),
    "copy and math": "import math\n" + cell(H, """
        new = dict(settings)
        unit = new["rows"] * new["data_parallel"]
        acc, rest = divmod(sequences, unit)
        if rest or acc < 1:
            raise ValueError("need a multiple of %d" % unit)
        new["accumulation"] = acc
        k = acc / settings["accumulation"]
        new["rate"] *= math.sqrt(k)
        new["beta2"] = math.exp(k * math.log(new["beta2"]))
        return new
    """),
    "numpy": "import copy\nimport numpy as np\n" + cell(H, """
        out = copy.deepcopy(settings)
        each = out["rows"] * out["data_parallel"]
        if sequences < each or sequences % each != 0:
            raise ValueError(f"rows x replicas = {each}")
        k = np.float64(sequences) / (each * out["accumulation"])
        out["accumulation"] = int(sequences // each)
        out["rate"] = out["rate"] * np.sqrt(k)
        out["beta2"] = np.power(out["beta2"], k)
        return out
    """),
    "library rules": "from batchlab import rates\n" + cell(H, """
        each = settings["rows"] * settings["data_parallel"]
        if sequences <= 0 or sequences % each:
            raise ValueError(f"{each}")
        old = each * settings["accumulation"]
        return {**settings, "accumulation": sequences // each, "rate": settings["rate"] * (sequences / old) ** 0.5,
                "beta2": rates.beta2_for(settings["beta2"], old, sequences)}
    """),
    "torch, in doubles": "import torch\n" + cell(H, """
        each = settings["rows"] * settings["data_parallel"]
        if sequences <= 0 or sequences % each:
            raise ValueError(f"{each}")
        k = torch.tensor(sequences / (each * settings["accumulation"]), dtype=torch.float64)
        return {**settings, "accumulation": sequences // each, "rate": settings["rate"] * k.sqrt().item(), "beta2": (settings["beta2"] ** k).item()}
    """),
}
GR = RIGHT["grown"]["dict or"]
CHECK = 'if sequences <= 0 or sequences % each:\n        raise ValueError(f"{sequences} is no positive multiple of {each}")'
WRONG["grown"] = subs(GR, {
    "rate times k": ("k ** 0.5", "k"),
    "rate kept": (' * k ** 0.5', ""),
    "rate by the root of 1/k": ("k ** 0.5", "k ** -0.5"),
    "rate times k up, root down": ("k ** 0.5", "(k if k > 1 else k ** 0.5)"),
    "rate moves up only": ("k ** 0.5", "max(1, k) ** 0.5"),
    "beta2 kept": ('settings["beta2"] ** k', 'settings["beta2"]'),
    "beta2 by 1/k": ("** k}", "** (1 / k)}"),
    "beta2 by root k": ("** k}", "** k ** 0.5}"),
    "beta2 by the tangent": ('settings["beta2"] ** k', '1 - k * (1 - settings["beta2"])'),
    "beta2 moves up only": ("** k}", "** max(1, k)}"),
    "k in whole numbers": ("sequences / (each", "sequences // (each"),
    "k without replicas": ('k = sequences / (each * settings["accumulation"])', 'k = sequences / (settings["rows"] * settings["accumulation"])'),
    "k against rows x replicas": ('k = sequences / (each * settings["accumulation"])', 'k = sequences / each'),
    "accumulation without replicas": ("sequences // each,", 'sequences // settings["rows"],'),
    "product without replicas": ('settings["rows"] * settings["data_parallel"]', 'settings["rows"]'),
    "zero allowed": ("sequences <= 0 or ", ""),
    "negative allowed": ("sequences <= 0", "sequences == 0"),
    "floor instead of a ValueError": (CHECK, "if sequences < each:\n        raise ValueError(f'{each}')"),
    "at least 1 instead of a ValueError": [(CHECK, "pass"), ("sequences // each,", "max(1, sequences // each),")],
    "message names nothing": (' is no positive multiple of {each}', " cannot be"),
    "message names rows and replicas, not the product": ('{each}"', "{settings['rows']} x {settings['data_parallel']}\""),
    "message names rows x accumulation": ('{each}"', "{settings['rows'] * settings['accumulation']}\""),
    "message names accumulation x replicas": ('{each}"', "{settings['accumulation'] * settings['data_parallel']}\""),
    "message always says 16": ('{each}"', '16"'),
    "message is the whole settings and 160 others": ('{each}"', 'one of {list(range(99))}"'),
    "fewer sequences refused": ("sequences <= 0", 'sequences < each * settings["accumulation"]'),
    "only multiples of the step now": ("sequences % each:", 'sequences % (each * settings["accumulation"]):'),
    "multiple of rows x accumulation": ("sequences % each:", 'sequences % (settings["rows"] * settings["accumulation"]):'),
    "AssertionError": ("raise ValueError", "raise AssertionError"),
    "mutates settings": ("return settings |", "settings |="),
    "mutates and returns settings": [("return settings | {", "settings.update({"), ("** k}", "** k})\n    return settings")],
    "open: the same dict where nothing moves": ("k = sequences", "if sequences == each * settings['accumulation']:\n        return settings\n    k = sequences"),
    "drops other keys": ("return settings | {", 'return {key: settings[key] for key in ("rows", "data_parallel")} | {'),
    "adds a key": ("** k}", '** k, "sequences": sequences}'),
    "data_parallel moves instead": ('"accumulation": sequences // each', '"data_parallel": sequences // (settings["rows"] * settings["accumulation"])'),
    "rows move instead": ('"accumulation": sequences // each', '"rows": sequences // (settings["accumulation"] * settings["data_parallel"])'),
    "accumulation becomes 1 where rows fit": ("sequences // each", 'sequences // each if sequences > 9 else 1'),
    "open: accumulation as a float": ("sequences // each,", "sequences / each,"),
    "rate rounded to 6": ('settings["rate"] * k ** 0.5', 'round(settings["rate"] * k ** 0.5, 6)'),
    "beta2 rounded to 4": ('settings["beta2"] ** k', 'round(settings["beta2"] ** k, 4)'),
    "beta2 of 0.99 assumed": ('settings["beta2"] ** k', '0.99 ** k'),
    "rate of 0.001 assumed": ('settings["rate"] * k', '1e-3 * k'),
    "beta1 0.9 added": ("** k}", '** k, "beta1": 0.9 ** k}'),
    "length scales too": ("** k}", '** k} | ({"length": int(settings["length"] / k)} if "length" in settings else {})'),
    "beta2 never under 0.95": ('settings["beta2"] ** k', 'max(0.95, settings["beta2"] ** k)'),
    "k capped at 4": ("k = sequences / (each * settings[\"accumulation\"])", "k = min(4, sequences / (each * settings[\"accumulation\"]))"),
    "k capped at 2": ("k = sequences / (each * settings[\"accumulation\"])", "k = min(2, sequences / (each * settings[\"accumulation\"]))"),
    "k at least 1/2": ("k = sequences / (each * settings[\"accumulation\"])", "k = max(0.5, sequences / (each * settings[\"accumulation\"]))"),
    "weight decay moved too": ("** k}", '** k} | ({"weight_decay": settings["weight_decay"] * k ** 0.5} if "weight_decay" in settings else {})'),
})

# --------------------------------------------------------------------- worth
H = "def worth(sequences, base, noise_scale):"
RIGHT["worth"] = {
    "formula": cell(H, "return (noise_scale / base + 1) / (noise_scale / sequences + 1)"),
    "efficiency times S": cell(H, """
        s = sequences / base
        return s * (noise_scale + base) / (noise_scale + sequences)
    """),
    "numpy": "import numpy as np\n" + cell(H, """
        s2, mu2 = np.float64(noise_scale) / base, 1.0
        return (s2 + mu2) / (s2 / (sequences / base) + mu2)
    """),
    "fractions": "from fractions import Fraction as F\n" + cell(H, """
        return float((F(noise_scale) / base + 1) / (F(noise_scale) / sequences + 1))
    """),
    "torch double": "import torch\n" + cell(H, """
        p = torch.tensor(float(noise_scale), dtype=torch.float64)
        return ((p / base + 1) / (p / sequences + 1)).item()
    """),
}
WRONG["worth"] = {why: cell(H, body) for why, body in {
    "S": "return sequences / base",
    "inverse": "return (noise_scale / sequences + 1) / (noise_scale / base + 1)",
    "efficiency": "return (noise_scale + base) / (noise_scale + sequences)",
    "noise scale taken for sigma^2 / mu^2": "S = sequences / base\nreturn (noise_scale + 1) / (noise_scale / S + 1)",
    "base and sequences swapped": "return (noise_scale / sequences + 1) / (noise_scale / base + 1) if base else 1",
    "S in whole numbers": "S = max(1, sequences // base)\nr = noise_scale / base\nreturn (r + 1) / (r / S + 1)",
    "noise scale 0 -> S": "if noise_scale == 0:\n    return sequences / base\nreturn (noise_scale / base + 1) / (noise_scale / sequences + 1)",
    "noise scale 0 -> 0": "if not noise_scale:\n    return 0\nreturn (noise_scale / base + 1) / (noise_scale / sequences + 1)",
    "noise scale 0 -> error": "return (1 / base + 1 / noise_scale) / (1 / sequences + 1 / noise_scale)",
    "never below 1": "return max(1, (noise_scale / base + 1) / (noise_scale / sequences + 1))",
    "rounded to 2": "return round((noise_scale / base + 1) / (noise_scale / sequences + 1), 2)",
    "rounded to 4": "return round((noise_scale / base + 1) / (noise_scale / sequences + 1), 4)",
    "whole": "return int((noise_scale / base + 1) / (noise_scale / sequences + 1))",
    "ratio phi // base": "r = noise_scale // base\nreturn (r + 1) / (r / (sequences / base) + 1)",
    "min of S and phi / base": "return min(sequences / base, max(1, noise_scale / base))",
    "root of S": "return (sequences / base) ** 0.5",
    "variance not divided by S": "r = noise_scale / base\nreturn (r + 1) / (r + 1)",
    "variance divided by S squared": "r = noise_scale / base\nreturn (r + 1) / (r / (sequences / base) ** 2 + 1)",
    "divided by sequences and not S": "r = noise_scale / base\nreturn (r + 1) / (r / sequences + 1)",
    "phi x base": "r = noise_scale * base\nreturn (r + 1) / (r / (sequences / base) + 1)",
    "mu^2 forgotten in the numerator": "return (noise_scale / base) / (noise_scale / sequences + 1)",
    "mu^2 forgotten below": "return (noise_scale / base + 1) / (noise_scale / sequences) if noise_scale else 1",
    "gain minus 1": "return (noise_scale / base + 1) / (noise_scale / sequences + 1) - 1",
    "steps of base 8 always": "return (noise_scale / 8 + 1) / (noise_scale / sequences + 1)",
    "by hand: phi / base = 10": "return 11 / (10 / (sequences / base) + 1)",
    "saturates at 1 + phi / base wrongly": "return 1 + noise_scale / base * (1 - base / sequences)",
    "phi over the noise scale of the large step": "return (1 + noise_scale / base) / (1 + noise_scale / (sequences * base))",
    "capped at S for whole S only": "S = round(sequences / base)\nr = noise_scale / base\nreturn (r + 1) / (r / S + 1) if S else 0",
    "S = 1 when equal phi (float32)": "import numpy as np\nf = np.float32\nreturn float((f(noise_scale) / f(base) + f(1)) / (f(noise_scale) / f(sequences) + f(1))) + 1e-3",
    "open: float16": "import numpy as np\nf = np.float16\nreturn float((f(noise_scale / base) + f(1)) / (f(noise_scale / sequences) + f(1)))",
    "prints, returns None": "print((noise_scale / base + 1) / (noise_scale / sequences + 1))",
}.items()}

# ----------------------------------------------------------------- best-step
H = "def best_step():"
RIGHT["best-step"] = {
    "read off": cell(H, "return 88"),
    "numpy int": "import numpy as np\n" + cell(H, "return np.int64(88)"),
    "computed on the slider's values": cell(H, """
        sizes = [*range(8, 129, 8), *range(144, 257, 16), 320, 384, 512]
        fixed, each, phi = 0.3316, 0.011, 260
        speed = lambda m: m / (fixed + each * m)
        return max(sizes, key=lambda m: speed(m) * (phi + 8) / (phi + m))
    """),
}
WRONG["best-step"] = {why: cell(H, f"return {body}") for why, body in {
    "one too small": "80", "one too large": "96", "one device": "24", "noise scale 40": "32", "noise scale 2000": "240",
    "fastest": "512", "smallest: best efficiency": "8", "the noise scale": "260", "nearest below the noise scale": "256",
    "goodput": "54301", "efficiency": "0.77", "root, not on the slider": "88.5", "between": "85", "text": "'88'",
    "nothing": "None", "pair": "(88, 54301)", "list": "[88]", "true": "True", "open: float": "88.0", "default of two": "(80, 88, 96)",
    "half": "44", "128": "128", "negative": "-88", "nan": "float('nan')",
}.items()}
WRONG["best-step"]["all true: a set of guesses"] = cell(H, "return {80, 88, 96}")

# --------------------------------------------------------------- growth-test
H = "def growth_test(next_step):"
REF = '''
def rule(lows, sequences, most):
    last = lows[-3:]
    if len(last) == 3 and all(low >= 2 * sequences for low in last) and 2 * sequences <= most:
        return 2 * sequences
    return sequences


'''
TABLE = """
    for lows, most, want in (
        ([20, 20, 20], 100, 20), ([19, 20, 20], 100, 10), ([20, 19, 20], 100, 10), ([20, 20, 19], 100, 10),
        ([], 100, 10), ([50], 100, 10), ([50, 50], 100, 10), ([1, 1, 50, 50, 50], 100, 20), ([50, 50, 50, 1, 1], 100, 10),
        ([50, 50, 1, 50, 50], 100, 10), ([1, 50, 50, 50, 50], 100, 20), ([50, 50, 50, 50, 1], 100, 10), ([50, 50, 50, 1, 50], 100, 10),
        ([50, 1, 50, 50, 1, 50], 100, 10), ([50, 50, 1, 50, 50, 50], 100, 20), ([50, 50, 50], 20, 20), ([50, 50, 50], 19, 10),
        ([50, 50, 50], 21, 20), ([50, 50, 50], 10, 10), ([15, 15, 15], 100, 10), ([10, 10, 10], 100, 10), ([30, 25, 20], 100, 20), ([20, 25, 30], 100, 20),
        ([900, 900, 15], 1000, 10), ([15, 900, 900], 1000, 10), ([80, 80, 80], 1000, 20), ([1, 20, 20, 20], 1000, 20), ([1, 1, 1, 1, 20, 20, 20], 1000, 20),
        ([19.9, 20, 20], 100, 10), ([20.5, 20.5, 20.5], 100, 20), ([50, 50, 50], 5, 10), ([15, 50, 50, 50, 50, 50], 100, 20),
        ([50, 50, 50, 50, 50, 15], 100, 10), ([50] * 9, 100, 20), ([1] * 9, 100, 10), ([5, 5, 5], 100, 10), ([1, 900, 1], 1000, 10)):
        got = next_step(list(lows), 10, most)
        assert got == want, (lows, most, got)
    assert next_step([6, 6, 6], 3, 6) == 6
    assert next_step([128, 128, 128], 64, 500) == 128
    assert next_step([127, 128, 128], 64, 500) == 64
    assert next_step([2, 2, 2], 1, 2) == 2
    kept = [50, 50, 50, 50]
    next_step(kept, 10, 100)
    assert kept == [50, 50, 50, 50]
"""
RIGHT["growth-test"] = {
    "table": H + TABLE,
    "random against my own rule": "import random\n" + REF + cell(H, """
        r = random.Random(0)
        for _ in range(4000):
            m = r.choice([1, 3, 8, 10, 32])
            lows = [r.choice([0.5, 1, 1.5, 2, 2, 2, 2.5, 3, 4, 40]) * m for _ in range(r.randrange(8))]
            if r.random() < 0.3:
                lows = lows[:3]
            most = r.choice([m, 2 * m - 1, 2 * m, 2 * m + 1, 3 * m, 4 * m, 100 * m])
            kept = list(lows)
            assert next_step(lows, m, most) == rule(kept, m, most), (kept, m, most)
    """),
    "product of edges": "import itertools\n" + REF + cell(H, """
        for n in range(6):
            for lows in itertools.product((9, 10, 19, 20, 21, 900), repeat=n):
                if n > 3 and hash(lows) % 7:
                    continue
                for most in ((100,) if n > 3 else (10, 19, 20, 21, 100)):
                    assert next_step(list(lows), 10, most) == rule(lows, 10, most)
        assert next_step([16, 16, 16], 8, 16) == 16
    """),
    "few cases by the hint": cell(H, """
        f = next_step
        assert f([20, 20, 20], 10, 99) == 20
        assert f([19, 20, 20], 10, 99) == f([20, 19, 20], 10, 99) == f([20, 20, 19], 10, 99) == 10
        assert f([5, 5, 40, 40, 40], 10, 99) == 20
        assert f([40, 40, 40, 5, 5], 10, 99) == 10
        assert f([40, 40, 5, 40, 40], 10, 99) == 10
        assert f([5, 40, 40, 40, 5], 10, 99) == 10
        assert f([40, 5, 40, 40, 40], 10, 99) == 20
        assert f([40, 40, 40], 10, 20) == 20
        assert f([40, 40, 40], 10, 19) == 10
        assert f([40, 40], 10, 99) == f([40], 10, 99) == f([], 10, 99) == 10
        assert f([900, 900, 19, 900, 19], 10, 9999) == 10
        assert f([900, 900, 900], 10, 9999) == 20
    """),
}
WRONG["growth-test"] = {why: H + "\n" + indent(dedent(body).strip("\n"), "    ") + "\n" for why, body in {
    "empty": "pass",
    "always fails": "assert False",
    "grows only": "assert next_step([20, 20, 20], 10, 100) == 20",
    "holds only": "assert next_step([1, 1, 1], 10, 100) == 10",
    "clear cases, no edges": """
        assert next_step([90, 90, 90], 10, 100) == 20
        assert next_step([1, 90, 90], 10, 100) == 10
        assert next_step([90, 1, 90], 10, 100) == 10
        assert next_step([90, 90, 1], 10, 100) == 10
        assert next_step([90, 90, 90], 10, 15) == 10
        assert next_step([90, 90], 10, 100) == 10
        assert next_step([], 10, 100) == 10
    """,
    "returns a verdict, no assert": "return next_step([20, 20, 20], 10, 100) == 20 and next_step([19, 20, 20], 10, 100) == 10",
    "prints": "print(next_step([20, 20, 20], 10, 100))",
    "fewer than three asked to raise": """
        try:
            next_step([50], 10, 100)
        except ValueError:
            return
        assert False
    """,
    "edge taken as exceeding (most = twice holds)": "assert next_step([50, 50, 50], 10, 20) == 10",
    "low of exactly twice must hold": "assert next_step([20, 20, 20], 10, 100) == 10",
    "mean is enough": "assert next_step([5, 100, 100], 10, 100) == 20",
    "any is enough": "assert next_step([5, 5, 100], 10, 100) == 20",
    "two readings are enough": "assert next_step([50, 50], 10, 100) == 20",
    "demands four times": "assert next_step([100, 100, 100], 10, 100) == 40",
    "demands min with most": "assert next_step([50, 50, 50], 10, 15) == 15",
    "newest first": """
        assert next_step([50, 50, 50, 1, 1], 10, 100) == 20
        assert next_step([1, 1, 50, 50, 50], 10, 100) == 10
    """,
    "only that the answer is one of two": "assert next_step([50, 50, 50], 10, 100) in (10, 20)",
    "never above most": "assert next_step([50, 50, 50], 10, 15) <= 15",
    "type must be int and a None for few": "assert next_step([], 10, 100) is None",
    "three readings only, edges": """
        for lows, most, want in (([20, 20, 20], 99, 20), ([19, 20, 20], 99, 10), ([20, 19, 20], 99, 10), ([20, 20, 19], 99, 10),
                                 ([20, 20, 20], 20, 20), ([20, 20, 20], 19, 10)):
            assert next_step(lows, 10, most) == want
    """,
    "no few readings": """
        for lows, most, want in (([20, 20, 20], 99, 20), ([19, 20, 20], 99, 10), ([20, 19, 20], 99, 10), ([20, 20, 19], 99, 10),
                                 ([1, 1, 50, 50, 50], 99, 20), ([50, 50, 50, 1, 1], 99, 10), ([50, 50, 50, 1, 50], 99, 10),
                                 ([50, 50, 50], 20, 20), ([50, 50, 50], 19, 10)):
            assert next_step(lows, 10, most) == want
    """,
    "no maximum": """
        for lows, want in (([20, 20, 20], 20), ([19, 20, 20], 10), ([20, 19, 20], 10), ([20, 20, 19], 10), ([], 10), ([50], 10), ([50, 50], 10),
                           ([1, 1, 50, 50, 50], 20), ([50, 50, 50, 1, 1], 10), ([50, 50, 50, 1, 50], 10)):
            assert next_step(lows, 10, 9999) == want
    """,
    "no middle": """
        for lows, most, want in (([20, 20, 20], 99, 20), ([19, 20, 20], 99, 10), ([20, 20, 19], 99, 10), ([], 99, 10), ([50], 99, 10), ([50, 50], 99, 10),
                           ([1, 1, 50, 50, 50], 99, 20), ([50, 50, 50, 1, 1], 99, 10), ([50, 50, 50], 20, 20), ([50, 50, 50], 19, 10)):
            assert next_step(lows, 10, most) == want
    """,
    "swallows its own failure": """
        try:
            assert next_step([20, 20, 20], 10, 100) == 20
        except AssertionError:
            pass
    """,
    "demands an error for a bad most": """
        try:
            next_step([50, 50, 50], 10, 0)
        except ValueError:
            return
        raise AssertionError
    """,
    "demands an unchanged step type of float": "assert isinstance(next_step([1, 1, 1], 10, 100), float)",
    "demands nan to raise": """
        try:
            next_step([float('nan')] * 3, 10, 100)
        except ValueError:
            return
        raise AssertionError
    """,
}.items()}
WRONG["growth-test"] |= {
    "cheat: the first two pass, the rest fail": "met = []\n\n\n" + cell(H, """
        met.append(next_step)
        assert len(met) <= 2
    """),
    "cheat: the first three pass, the rest fail": "met = []\n\n\n" + cell(H, """
        met.append(next_step)
        assert len(met) <= 3
    """),
    "cheat: by the name": cell(H, "assert 'right' in next_step.__name__ or 'correct' in next_step.__name__"),
    "cheat: by the source": "import inspect\n" + cell(H, """
        text = inspect.getsource(next_step)
        assert 'all(' in text and '>=' in text and '[-3:]' in text
    """),
    "open: every failure is a ValueError, not an assert": H + TABLE.replace("assert got == want, (lows, most, got)", "if got != want:\n            raise ValueError"),
}

# -------------------------------------------------------------------- status
H = "def status(step):"
RIGHT["status"] = {
    "statistics": "import statistics\n" + cell(H, """
        *before, now = step["norms"]
        return {"sequences": sum(len(m) for m in step["micro_batches"]), "targets": sum(sum(m) for m in step["micro_batches"]),
                "norm": now / statistics.median(before) if before else 1,
                "slowest": max(step["seconds"], key=step["seconds"].get)}
    """),
    "numpy": "import numpy as np\n" + cell(H, """
        flat = [t for m in step["micro_batches"] for t in m]
        norms = np.array(step["norms"])
        norm = float(norms[-1] / np.median(norms[:-1])) if len(norms) > 1 else 1.0
        names, values = zip(*step["seconds"].items())
        return dict(sequences=len(flat), targets=int(np.sum(flat, dtype=np.int64)), norm=norm, slowest=names[int(np.argmax(values))])
    """),
    "loop, sorted": cell(H, """
        n = t = 0
        for micro in step["micro_batches"]:
            for tokens in micro:
                n += 1
                t += tokens
        before = sorted(step["norms"][:-1])
        h = len(before)
        mid = (before[h // 2] + before[(h - 1) // 2]) / 2 if h else step["norms"][-1]
        return {"slowest": sorted(step["seconds"].items(), key=lambda p: -p[1])[0][0], "norm": step["norms"][-1] / mid,
                "targets": t, "sequences": n}
    """),
    "torch quantile": "import torch\n" + cell(H, """
        flat = torch.tensor([t for m in step["micro_batches"] for t in m], dtype=torch.int64)
        norms = torch.tensor(step["norms"], dtype=torch.float64)
        norm = (norms[-1] / norms[:-1].quantile(0.5)).item() if len(norms) > 1 else 1.0
        return {"sequences": flat.numel(), "targets": flat.sum().item(), "norm": norm, "slowest": max(step["seconds"].items(), key=lambda x: x[1])[0]}
    """),
}
ST = RIGHT["status"]["statistics"]
SEQ, TGT = 'sum(len(m) for m in step["micro_batches"])', 'sum(sum(m) for m in step["micro_batches"])'
WRONG["status"] = subs(ST, {
    "sequences: micro-batches": (SEQ, 'len(step["micro_batches"])'),
    "sequences: without those of 0 targets": (SEQ, 'sum(1 for m in step["micro_batches"] for t in m if t)'),
    "sequences: first micro-batch x count": (SEQ, 'len(step["micro_batches"][0]) * len(step["micro_batches"])'),
    "sequences: last micro-batch x count": (SEQ, 'len(step["micro_batches"][-1]) * len(step["micro_batches"])'),
    "sequences: an empty micro-batch counts 1": (SEQ, 'sum(max(1, len(m)) for m in step["micro_batches"])'),
    "sequences: distinct lengths": (SEQ, 'len({t for m in step["micro_batches"] for t in m})'),
    "targets: padded": (TGT, 'sum(max(m) * len(m) for m in step["micro_batches"] if m)'),
    "targets: of the last micro-batch": (TGT, 'sum(step["micro_batches"][-1])'),
    "targets: mean a sequence": (TGT, TGT + " / " + SEQ),
    "targets: mean a micro-batch": (TGT, TGT + ' / len(step["micro_batches"])'),
    "targets: as many as sequences": (TGT, SEQ),
    "targets: int32": [("import statistics", "import statistics\nimport numpy as np"), (TGT, 'int(np.array(sum(sum(m) for m in step["micro_batches"])).astype(np.int32))')],
    "targets: less one a sequence": (TGT, TGT + " - " + SEQ),
    "norm: median with this step": ("median(before)", "median(before + [now])"),
    "norm: mean": ("statistics.median", "statistics.mean"),
    "norm: upper median": ("statistics.median(", "statistics.median_high("),
    "norm: lower median": ("statistics.median(", "statistics.median_low("),
    "norm: inverse": ("now / statistics.median(before)", "statistics.median(before) / now"),
    "norm: the norm itself in a first step": ("if before else 1", "if before else now"),
    "norm: 0 in a first step": ("if before else 1", "if before else 0"),
    "norm: None in a first step": ("if before else 1", "if before else None"),
    "norm: error in a first step": (" if before else 1", ""),
    "norm: newest first": ("*before, now", "now, *before"),
    "norm: against the step before": ("statistics.median(before)", "before[-1]"),
    "norm: against the least": ("statistics.median(before)", "min(before)"),
    "norm: median of the last 5": ("median(before)", "median(before[-5:])"),
    "norm: median of the last 3": ("median(before)", "median(before[-3:])"),
    "norm: median without sorting": ("statistics.median(before)", "before[len(before) // 2]"),
    "norm: 1 below three readings": ("if before else 1", "if len(before) > 1 else 1"),
    "norm: difference": ("now / ", "now - "),
    "norm: rounded to 1": ("now / statistics.median(before)", "round(now / statistics.median(before), 1)"),
    "norm: never below 1": ("now / statistics.median(before)", "max(1, now / statistics.median(before))"),
    "norm: per cent": ("now / statistics", "100 * now / statistics"),
    "norm: median of all but the first": ("median(before)", "median(before[1:] or before)"),
    "slowest: its seconds": ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"].values())'),
    "slowest: the least": ("max(step", "min(step"),
    "slowest: by the alphabet": (', key=step["seconds"].get', ""),
    "slowest: the first": ('max(step["seconds"], key=step["seconds"].get)', 'list(step["seconds"])[0]'),
    "slowest: the last": ('max(step["seconds"], key=step["seconds"].get)', 'list(step["seconds"])[-1]'),
    "slowest: among three known names": ('max(step["seconds"], key=step["seconds"].get)', 'max(("training", "input", "optimizer"), key=lambda k: step["seconds"].get(k, 0))'),
    "slowest: the pair": ('max(step["seconds"], key=step["seconds"].get)', 'max(step["seconds"].items(), key=lambda p: p[1])'),
    "mutates: pops the norm": ('*before, now = step["norms"]', 'before = step["norms"]\n    now = before.pop()'),
    "mutates: sorts the norms": ('*before, now = step["norms"]', '*before, now = step["norms"]\n    step["norms"].sort()'),
    "mutates: the line is written into step": ("    return {", "    step['slowest'] = None\n    return {"),
    "mutates: empty micro-batches removed": ("    return {", "    step['micro_batches'][:] = [m for m in step['micro_batches'] if m]\n    return {"),
    "an extra key": ("return {", 'return {"seconds": 1, '),
    "a key missing": (',\n            "slowest": max(step["seconds"], key=step["seconds"].get)', ""),
    "a text": [("return {", "return str({"), ("seconds\"].get)}", "seconds\"].get)})")],
    "norms of earlier calls remembered": [("def status", "seen = []\n\n\ndef status"), ('*before, now = step["norms"]', 'now = step["norms"][-1]\n    before = list(seen) or step["norms"][:-1]\n    seen.append(now)')],
    "empty micro-batch refused": ("    return {", "    if not all(step['micro_batches']):\n        raise ValueError\n    return {"),
})

# ------------------------------------------------------------------- control
H = "def control(settings, state, reading, most):"
RIGHT["control"] = {
    "straight": "import math\n" + cell(H, """
        new = state.get("data") != reading["data"]
        best = None if new else state.get("best")
        row = 0 if new else state.get("row", 0)
        data = reading["data"]
        if reading["out_of_memory"]:
            rows, accumulation = back_off(settings["rows"], settings["accumulation"])
            return {**settings, "rows": rows, "accumulation": accumulation}, {"data": data, "best": best, "row": 0}
        loss, low = reading["loss"], reading["low"]
        calm = False
        if math.isfinite(loss):
            best = loss if best is None else min(best, loss)
            calm = loss <= best + 0.5
        now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
        asks = calm and low is not None and low >= 2 * now
        row = row + 1 if asks else 0
        if row >= 3:
            row = 0
            if 2 * now <= most:
                settings = grown(settings, 2 * now)
        return settings, {"data": data, "best": best, "row": row}
    """),
    "history of readings in the state": "import math\n" + cell(H, """
        old = state.get("readings", [])
        if old and old[-1]["data"] != reading["data"]:
            old = []
        kept = old + [dict(reading, asks=False)]
        if reading["out_of_memory"]:
            r, a = back_off(settings["rows"], settings["accumulation"])
            return settings | {"rows": r, "accumulation": a}, {"readings": kept}
        m = math.prod(settings[k] for k in ("rows", "accumulation", "data_parallel"))
        losses = [x["loss"] for x in kept if x["loss"] is not None and math.isfinite(x["loss"])]
        calm = bool(losses) and math.isfinite(reading["loss"]) and reading["loss"] - min(losses) <= 0.5
        low = float("nan") if reading["low"] is None else reading["low"]
        kept[-1]["asks"] = bool(calm and low >= 2 * m)
        if len(kept) >= 3 and all(x["asks"] for x in kept[-3:]):
            for x in kept:
                x["asks"] = False
            if 2 * m <= most:
                settings = grown(settings, 2 * m)
        return settings, {"readings": kept}
    """),
    "numpy, state copied and mutated": "import numpy as np\n" + cell(H, """
        s = dict(state)
        if "data" not in s or s["data"] != reading["data"]:
            s = {"data": reading["data"], "row": 0}
        settings = dict(settings)
        if reading["out_of_memory"]:
            settings["rows"], settings["accumulation"] = back_off(settings["rows"], settings["accumulation"])
            s["row"] = 0
            return settings, s
        now = int(np.prod([settings["rows"], settings["accumulation"], settings["data_parallel"]]))
        loss = float(reading["loss"])
        low = np.nan if reading["low"] is None else reading["low"]
        if np.isfinite(loss):
            s["best"] = min(loss, s.get("best", loss))
        asks = bool(np.isfinite(loss)) and loss - s["best"] <= 0.5 and bool(low >= 2 * now)
        s["row"] = s["row"] + 1 if asks else 0
        if s["row"] == 3:
            s["row"] = 0
            if 2 * now <= most:
                return grown(settings, 2 * now), s
        return settings, s
    """),
    "state mutated in place": "import math\n" + cell(H, """
        if state.get("data") != reading["data"]:
            state.update(data=reading["data"], best=None, row=0)
        if reading["out_of_memory"]:
            state["row"] = 0
            r, a = back_off(settings["rows"], settings["accumulation"])
            return settings | {"rows": r, "accumulation": a}, state
        now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
        loss, low = reading["loss"], reading["low"]
        fine = math.isfinite(loss)
        if fine and (state["best"] is None or loss < state["best"]):
            state["best"] = loss
        if fine and loss - state["best"] <= 0.5 and low is not None and low >= 2 * now:
            state["row"] += 1
        else:
            state["row"] = 0
        if state["row"] == 3:
            state["row"] = 0
            if 2 * now <= most:
                settings = grown(settings, 2 * now)
        return settings, state
    """),
    "blocked by most: the row stays (open)": "import math\n" + cell(H, """
        new = state.get("data") != reading["data"]
        best, row = (None, 0) if new else (state["best"], state["row"])
        if reading["out_of_memory"]:
            r, a = back_off(settings["rows"], settings["accumulation"])
            return {**settings, "rows": r, "accumulation": a}, {"data": reading["data"], "best": best, "row": 0}
        loss, low = reading["loss"], reading["low"]
        if math.isfinite(loss) and (best is None or loss < best):
            best = loss
        now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
        asks = math.isfinite(loss) and loss <= best + 0.5 and low is not None and low >= 2 * now
        row = row + 1 if asks else 0
        if row >= 3 and 2 * now <= most:
            row = 0
            settings = grown(settings, 2 * now)
        return settings, {"data": reading["data"], "best": best, "row": row}
    """),
    "math.inf as the first best (open: Infinity in JSON)": "import math\n" + cell(H, """
        if state.get("data") != reading["data"]:
            state = {"data": reading["data"], "best": math.inf, "row": 0}
        best, row = state["best"], state["row"]
        if reading["out_of_memory"]:
            r, a = back_off(settings["rows"], settings["accumulation"])
            return {**settings, "rows": r, "accumulation": a}, {**state, "row": 0}
        loss, low = reading["loss"], reading["low"]
        if math.isfinite(loss):
            best = min(best, loss)
        now = settings["rows"] * settings["accumulation"] * settings["data_parallel"]
        asks = math.isfinite(loss) and loss <= best + 0.5 and low is not None and low >= 2 * now
        row = row + 1 if asks else 0
        if row == 3:
            row = 0
            if 2 * now <= most:
                settings = grown(settings, 2 * now)
        return settings, {"data": reading["data"], "best": best, "row": row}
    """),
}
CO = RIGHT["control"]["straight"]
MOVE = "        row = 0\n        if 2 * now <= most:\n            settings = grown(settings, 2 * now)"
OOM = 'if reading["out_of_memory"]:'
BACK = 'rows, accumulation = back_off(settings["rows"], settings["accumulation"])'
WRONG["control"] = subs(CO, {
    "low above twice, not at least": ("low >= 2 * now", "low > 2 * now"),
    "low at least the step": ("low >= 2 * now", "low >= now"),
    "low at least four times": ("low >= 2 * now", "low >= 4 * now"),
    "low against rows x accumulation": ('low >= 2 * now', 'low >= 2 * settings["rows"] * settings["accumulation"]'),
    "step without replicas": (' * settings["data_parallel"]', ""),
    "not calm needed, only finite": ("calm = loss <= best + 0.5", "calm = True"),
    "calm strictly below 0.5": ("loss <= best + 0.5", "loss < best + 0.5"),
    "calm within 1 nat": ("best + 0.5", "best + 1"),
    "calm at no rise at all": ("best + 0.5", "best"),
    "calm at 0.6": ("best + 0.5", "best + 0.6"),
    "calm at 0.4": ("best + 0.5", "best + 0.4"),
    "calm by half the best": ("best + 0.5", "best * 1.5"),
    "calm on both sides": [("best = loss if best is None else min(best, loss)\n        calm = loss <= best + 0.5",
                            "calm = best is None or abs(loss - best) <= 0.5\n        best = loss if best is None else min(best, loss)")],
    "best is the loss before": ("min(best, loss)\n        calm = loss <= best + 0.5", "best\n        calm = loss <= best + 0.5\n        best = loss"),
    "best is the first loss": ("min(best, loss)", "best"),
    "best is the worst": ("min(best, loss)", "max(best, loss)"),
    "best only of readings that ask": [("        best = loss if best is None else min(best, loss)\n", "        old, best = best, loss if best is None else min(best, loss)\n"),
                                       ("row = row + 1 if asks else 0", "row = row + 1 if asks else 0\n    if not asks and calm:\n        best = old")],
    "best only where low was measured": ("if math.isfinite(loss):", "if math.isfinite(loss) and low is not None and low == low:"),
    "best only where low is not None": ("if math.isfinite(loss):", "if math.isfinite(loss) and low is not None:"),
    "best not kept where low is nan": ("if math.isfinite(loss):", "if math.isfinite(loss) and not (low is not None and low != low):"),
    "first reading is never calm": ("        best = loss if best is None", "        first = best is None\n        best = loss if best is None") ,
    "nan goes into the best": ("if math.isfinite(loss):", "if True:"),
    "nan loss taken as calm": ("calm = False", "calm = math.isnan(loss)"),
    "inf loss allowed": ("math.isfinite(loss)", "not math.isnan(loss)"),
    "inf and nan hold the row": ("row = row + 1 if asks else 0", "row = row + 1 if asks else row if not math.isfinite(loss) else 0"),
    "nan loss holds the row": ("row = row + 1 if asks else 0", "row = row + 1 if asks else row if math.isnan(loss) else 0"),
    "unmeasured None holds the row": ("row = row + 1 if asks else 0", "row = row + 1 if asks else row if low is None else 0"),
    "unmeasured nan holds the row": ("row = row + 1 if asks else 0", "row = row + 1 if asks else row if low is not None and math.isnan(low) else 0"),
    "a loss that is not calm holds the row": ("row = row + 1 if asks else 0", "row = row + 1 if asks else row if not calm else 0"),
    "a row only shrinks by one": ("if asks else 0", "if asks else max(0, row - 1)"),
    "not in a row: counts for ever": ("if asks else 0", "if asks else row"),
    "two readings": ("row >= 3", "row >= 2"),
    "four readings": ("row >= 3", "row >= 4"),
    "one reading": ("row >= 3", "row >= 1"),
    "row goes on after growth": ("        row = 0\n        if 2", "        if 2"),
    "row restarts at 1 after growth": (MOVE, MOVE.replace("row = 0", "row = 1")),
    "best begins again after growth": ("settings = grown(settings, 2 * now)", "settings, best = grown(settings, 2 * now), None"),
    "all state lost at growth": ("            settings = grown(settings, 2 * now)", "            return grown(settings, 2 * now), {}"),
    "data lost at growth": ("            settings = grown(settings, 2 * now)", "            return grown(settings, 2 * now), {'best': best, 'row': 0}"),
    "most must be above": ("2 * now <= most", "2 * now < most"),
    "most ignored": ("if 2 * now <= most", "if True"),
    "most against the step now": ("2 * now <= most", "now <= most"),
    "most against the step now, strictly": ("2 * now <= most", "now < most"),
    "grows to most": ("        if 2 * now <= most:\n            settings = grown(settings, 2 * now)",
                      "        each = settings['rows'] * settings['data_parallel']\n        settings = grown(settings, max(now, min(2 * now, most // each * each)))"),
    "grows by one accumulation": ("grown(settings, 2 * now)", "grown(settings, now + settings['rows'] * settings['data_parallel'])"),
    "grows to the lower end": ("grown(settings, 2 * now)", "grown(settings, int(low) // now * now)"),
    "most in sequences of one replica": ("2 * now <= most", "2 * now <= most * settings['data_parallel']"),
    "grows, rate and beta2 as they are": ("settings = grown(settings, 2 * now)", "settings = {**settings, 'accumulation': 2 * settings['accumulation']}"),
    "grows, rate x 2": ("settings = grown(settings, 2 * now)", "settings = grown(settings, 2 * now) | {'rate': 2 * settings['rate']}"),
    "grows, beta2 as it is": ("settings = grown(settings, 2 * now)", "settings = grown(settings, 2 * now) | {'beta2': settings['beta2']}"),
    "grows by rows": ("settings = grown(settings, 2 * now)", "settings = grown(settings, 2 * now) | {'rows': 2 * settings['rows'], 'accumulation': settings['accumulation']}"),
    "out of memory: row goes on": ('"best": best, "row": 0}', '"best": best, "row": row}'),
    "out of memory: best begins again": ('"best": best, "row": 0}', '"best": None, "row": 0}'),
    "out of memory: state lost": ('{"data": data, "best": best, "row": 0}', "{}"),
    "out of memory: state as before": ('{"data": data, "best": best, "row": 0}', "state"),
    "out of memory: state kept as it was, row 0": ('{"data": data, "best": best, "row": 0}', "{**state, 'row': 0}"),
    "out of memory: rows halved": (BACK, "rows, accumulation = settings['rows'] // 2, settings['accumulation'] * 2"),
    "out of memory: accumulation as it is": ('"rows": rows, "accumulation": accumulation}', '"rows": rows}'),
    "out of memory: rate by the root": ('"accumulation": accumulation}', '"accumulation": accumulation, "rate": settings["rate"] * (rows / settings["rows"]) ** 0.5}'),
    "out of memory: beta2 moved": ('"accumulation": accumulation}', '"accumulation": accumulation, "beta2": settings["beta2"] ** (rows / settings["rows"])}'),
    "out of memory: most rows dividing the rows": (BACK, "rows = max(r for r in range(1, settings['rows']) if settings['rows'] % r == 0)\n        accumulation = settings['rows'] * settings['accumulation'] // rows"),
    "out of memory: ignored": (OOM, "if False:"),
    "out of memory: only the second time": [("rows, accumulation = back", "if not state.get('oom'):\n            return settings, {'data': data, 'best': best, 'row': 0, 'oom': 1}\n        rows, accumulation = back")],
    "out of memory at 1 row: goes on": (OOM, "if reading['out_of_memory'] and settings['rows'] == 1:\n        return settings, {'data': data, 'best': best, 'row': 0}\n    " + OOM),
    "out of memory at 1 row: RuntimeError": (OOM, "if reading['out_of_memory'] and settings['rows'] == 1:\n        raise RuntimeError\n    " + OOM),
    "out of memory: step halved": (BACK, "return grown(settings, max(1, settings['accumulation'] // 2) * settings['rows'] * settings['data_parallel']), {'data': data, 'best': best, 'row': 0}"),
    "new data: row goes on": ("row = 0 if new else state", "row = state"),
    "new data: best stays": ("best = None if new else state", "best = state"),
    "new data: neither": [("row = 0 if new else state", "row = state"), ("best = None if new else state", "best = state")],
    "new data: its first reading does not count": ("row = row + 1 if asks else 0", "row = row + 1 if asks and not (new and state) else 0"),
    "the very first reading does not count": ("row = row + 1 if asks else 0", "row = row + 1 if asks and state else 0"),
    "new data: its first loss is not taken": ('return settings, {"data": data, "best": best, "row": row}', 'return settings, {"data": data, "best": None if new else best, "row": row}'),
    "new data: missed while out of memory": (OOM, "if reading['out_of_memory'] and new and state:\n        rows, accumulation = back_off(settings['rows'], settings['accumulation'])\n        return {**settings, 'rows': rows, 'accumulation': accumulation}, {**state, 'row': 0}\n    " + OOM),
    "new data: first data only, later changes missed": ('state.get("data") != reading["data"]', '"data" not in state'),
    "new data: missed where the loss is not finite": ('data = reading["data"]', 'data = reading["data"] if reading["loss"] is not None and math.isfinite(reading["loss"]) else state.get("data")'),
    "new data: settings of the beginning": ('data = reading["data"]', 'data = reading["data"]\n    if new and state:\n        settings = grown(settings, max(1, settings["accumulation"] // 2) * settings["rows"] * settings["data_parallel"])'),
    "best of each data is remembered": [('best = None if new else state.get("best")', 'bests = dict(state.get("bests", {}))\n    best = bests.get(reading["data"])'),
                                        ('{"data": data, "best": best, "row": 0}', '{"data": data, "bests": {**bests, data: best}, "row": 0}'),
                                        ('{"data": data, "best": best, "row": row}', '{"data": data, "bests": {**bests, data: best}, "row": row}')],
    "row of each data is remembered": [('row = 0 if new else state.get("row", 0)', 'rowsof = dict(state.get("rowsof", {}))\n    row = rowsof.get(reading["data"], 0)'),
                                       ('{"data": data, "best": best, "row": 0}', '{"data": data, "best": best, "rowsof": {}}'),
                                       ('{"data": data, "best": best, "row": row}', '{"data": data, "best": best, "rowsof": {**rowsof, data: row}}')],
    "new data only if the loss jumps": ('state.get("data") != reading["data"]', 'state.get("data") != reading["data"] and (reading["loss"] or 0) > (state.get("best") or 0)'),
    "remembers in a global": [("def control", "MEMORY = {}\n\n\ndef control"), ('    new = state', '    if state == {}:\n        MEMORY.clear()\n    state = MEMORY\n    new = state'),
                              ('return settings, {"data": data, "best": best, "row": row}', 'MEMORY.update(data=data, best=best, row=row)\n    return settings, {"n": 1}'),
                              ('"rows": rows, "accumulation": accumulation}, {"data": data, "best": best, "row": 0}', '"rows": rows, "accumulation": accumulation}, MEMORY.update(data=data, best=best, row=0) or {"n": 1}')],
    "best in a global": [("def control", "BEST = {}\n\n\ndef control"), ('None if new else state.get("best")', 'None if new else BEST.get("best")'),
                         ('return settings, {"data": data', 'BEST["best"] = best\n    return settings, {"data": data'), ('"row": row}', '"row": row}')],
    "row on the function": [('state.get("row", 0)', 'getattr(control, "row", 0)'), ('return settings, {"data": data', 'control.row = row\n    return settings, {"data": data')],
    "remembers in the settings": [('state.get("row", 0)', 'settings.get("row", 0)'), ('return settings, {"data": data', 'return {**settings, "row": row}, {"data": data')],
    "state with whole-number keys": [('state.get("row", 0)', 'state.get(1, 0)'), ('"row": row}', "1: row}")],
    "state with a set": ('"row": row}', '"row": row, "seen": {data}}'),
    "state is a tuple": ('{"data": data, "best": best, "row": row}', "(data, best, row)"),
    "state with the function in it": ('"row": row}', '"row": row, "f": grown}'),
    "state holds nan": ('"row": row}', '"row": row, "last": float("nan")}'),
    "state holds a tuple compared later": [('state.get("data") != reading["data"]', 'state.get("data") != (reading["data"],)'), ('data = reading["data"]', 'data = (reading["data"],)')],
    "best rounded in the state": ('"best": best, "row": row}', '"best": None if best is None else round(best), "row": row}'),
    "best rounded to 1 digit in the state": ('"best": best, "row": row}', '"best": None if best is None else round(best, 1), "row": row}'),
    "returns settings only": ('return settings, {"data": data, "best": best, "row": row}', "return settings"),
    "swapped": ('return settings, {"data": data, "best": best, "row": row}', 'return {"data": data, "best": best, "row": row}, settings'),
    "open: mutates the settings": [("settings = grown(settings, 2 * now)", "settings.update(grown(settings, 2 * now))"),
                              ('return {**settings, "rows": rows, "accumulation": accumulation}, ', 'settings.update(rows=rows, accumulation=accumulation)\n        return settings, ')],
    "mean of the last three lows": [("row = row + 1 if asks else 0", "lows = (state.get('lows', []) if not new else []) + ([low] if low is not None and low == low else [])\n    row = 3 if calm and len(lows) >= 3 and sum(lows[-3:]) / 3 >= 2 * now else 0"),
                                    ('"row": row}', '"row": row, "lows": [] if settings["accumulation"] * settings["rows"] * settings["data_parallel"] != now else lows}')],
    "lows against the step of each, calm only now": [("row = row + 1 if asks else 0", "row = row + 1 if low is not None and low >= 2 * now else 0"), ("if row >= 3:", "if row >= 3 and calm:")],
    "three lows first, calm at the third; not calm keeps row": [("asks = calm and low is not None", "asks = low is not None"), ("    if row >= 3:", "    if not calm and row >= 3:\n        row = 2\n    if row >= 3:")],
    "rows raised again after three": ("settings = grown(settings, 2 * now)", "settings = grown(settings, 2 * now)\n            if settings['accumulation'] % 2 == 0:\n                settings = {**settings, 'rows': settings['rows'] * 2, 'accumulation': settings['accumulation'] // 2}"),
    "blocked by most: row kept, grows next time by three more": ("        row = 0\n        if 2 * now <= most:", "        row = -99\n        if 2 * now <= most:\n            row = 0"),
    "best of 0.0 forgotten (or)": ("best = loss if best is None else min(best, loss)", "best = min(best or loss, loss)"),
    "negative infinity into the best": ("math.isfinite(loss)", "(loss == loss and loss < math.inf)"),
    "low of inf does not ask": ("low >= 2 * now", "2 * now <= low < math.inf"),
    "low None crashes": ("low is not None and ", ""),
    "low nan asks": ("low >= 2 * now", "not low < 2 * now"),
    "low None asks": ("low is not None and low >=", "(math.inf if low is None else low) >="),
    "shrinks the step where low is below half": ("        return settings, {\"data\"", "        return settings, {\"data\"") if False else ("    if row >= 3:", "    if low is not None and low < now / 2 and settings['accumulation'] % 2 == 0:\n        settings = grown(settings, now // 2)\n    if row >= 3:"),
    "drops other settings": ("settings = grown(settings, 2 * now)", "settings = {k: v for k, v in grown(settings, 2 * now).items() if k in ('rows', 'accumulation', 'data_parallel', 'rate', 'beta2')}"),
    "out of memory: drops other settings": ('{**settings, "rows": rows, "accumulation": accumulation}', '{"rows": rows, "accumulation": accumulation, "data_parallel": settings["data_parallel"], "rate": settings["rate"], "beta2": settings["beta2"]}'),
    "grows once only": [("if 2 * now <= most", "if 2 * now <= most and not state.get('did')"), ('"row": row}', '"row": row, "did": state.get("did") or row == 0 and asks}')],
    "best kept in a window of the last 4 losses": [("best = loss if best is None else min(best, loss)", "past = ([] if new else state.get('past', []))[-3:] + [loss]\n        best = min(past)"),
                                                   ('"row": row}', '"row": row, "past": past if math.isfinite(loss) else ([] if new else state.get("past", []))}'),
                                                   ('"best": best, "row": 0}', '"best": best, "row": 0, "past": [] if new else state.get("past", [])}')],
    "low compared with the step at the row's first reading": [("low >= 2 * now", "low >= 2 * (state.get('m') or now)"), ('"row": row}', '"row": row, "m": now}')],
    "the loss of 0.5 above the mean": [("calm = loss <= best + 0.5", "mean = loss if new or state.get('mean') is None else 0.5 * state['mean'] + 0.5 * loss\n        calm = loss <= mean + 0.5"), ('"row": row}', '"row": row, "mean": mean if math.isfinite(loss) else state.get("mean")}')],
})
w = WRONG["control"]
w["first reading is never calm"] = w["first reading is never calm"].replace("calm = loss <= best + 0.5", "calm = not first and loss <= best + 0.5")
for name, tries in {**WRONG}.items():
    for why, text in tries.items():
        compile(text, why, "exec")
        if text in RIGHT[name].values():
            raise AssertionError((name, why))
for tries in RIGHT.values():
    for text in tries.values():
        compile(text, "right", "exec")
