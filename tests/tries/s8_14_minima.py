# ruff: noqa
WRONG, RIGHT = {}, {}


def sub(src, *pairs):
    for old, new in pairs:
        if old not in src:
            raise SystemExit(f"not found: {old!r} in\n{src}")
        src = src.replace(old, new)
    return src


# ---------------------------------------------------------------- updates
UP = '''import math

def updates(examples, epochs, small, large):
    a = -(-examples // small)
    b = -(-examples // large)
    return {"small": epochs * a, "large": epochs * b, "epochs": epochs * a / b}
'''
RIGHT["updates"] = {
    "negated floor": UP,
    "numpy divmod": '''import numpy as np

def updates(examples, epochs, small, large):
    q, r = np.divmod(examples, [small, large])
    s, l = (q + (r > 0)) * epochs
    return {"epochs": s / (l / epochs), "large": l, "small": s}
''',
    "torch int64": '''import torch

def updates(examples, epochs, small, large):
    per = torch.div(torch.tensor(examples) + torch.tensor([small, large]) - 1, torch.tensor([small, large]), rounding_mode="floor")
    return {"small": per[0] * epochs, "large": per[1] * epochs, "epochs": float(per[0] * epochs) / per[1].item()}
''',
    "range loop": '''def updates(examples, epochs, small, large):
    def one(batch):
        return len(range(0, examples, batch))
    steps = {k: sum(one(b) for _ in range(epochs)) for k, b in (("small", small), ("large", large))}
    return {**steps, "epochs": steps["small"] / one(large)}
''',
}
W = WRONG["updates"] = {
    "floor: the short batch is dropped": sub(UP, ("-(-examples // small)", "examples // small"), ("-(-examples // large)", "max(1, examples // large)")),
    "ceil after the epochs": sub(UP, ('epochs * a, "large": epochs * b', '-(-epochs * examples // small), "large": -(-epochs * examples // large)')),
    "no rounding at all": sub(UP, ("-(-examples // small)", "examples / small"), ("-(-examples // large)", "examples / large")),
    "rounded to nearest": sub(UP, ("-(-examples // small)", "max(1, round(examples / small))"), ("-(-examples // large)", "max(1, round(examples / large))")),
    "always one more": sub(UP, ("-(-examples // small)", "examples // small + 1"), ("-(-examples // large)", "examples // large + 1")),
    "epochs by ratio of the batches": sub(UP, ("epochs * a / b", "epochs * large / small")),
    "epochs upside down": sub(UP, ("epochs * a / b", "epochs * b / a")),
    "epochs without the given epochs": sub(UP, ("epochs * a / b", "a / b")),
    "epochs as rounded up int": sub(UP, ("epochs * a / b", "math.ceil(epochs * a / b)")),
    "epochs rounded up, float": sub(UP, ("epochs * a / b", "float(math.ceil(epochs * a / b))")),
    "epochs by floor division": sub(UP, ("epochs * a / b", "epochs * a // b")),
    "epochs rounded to two digits": sub(UP, ("epochs * a / b", "round(epochs * a / b, 2)")),
    "epochs from documents without rounding": sub(UP, ("epochs * a / b", "epochs * a * large / examples")),
    "small and large swapped": sub(UP, ('"small": epochs * a, "large": epochs * b', '"small": epochs * b, "large": epochs * a')),
    "counts are floats": sub(UP, ('"small": epochs * a, "large": epochs * b', '"small": float(epochs * a), "large": float(epochs * b)')),
    "steps of one epoch only": sub(UP, ('"small": epochs * a, "large": epochs * b', '"small": a, "large": b')),
    "large gets the small steps": sub(UP, ('"large": epochs * b', '"large": epochs * a')),
    "float32 ceil": "import numpy as np\n" + sub(UP, ("-(-examples // small)", "int(np.ceil(np.float32(examples) / np.float32(small)))"), ("-(-examples // large)", "int(np.ceil(np.float32(examples) / np.float32(large)))")),
    "a batch above the examples gives no step": sub(UP, ("    return", "    b = b if large <= examples else 0\n    return"), ("/ b}", "/ max(b, 1)}")),
    "remembers per epoch counts by batch": '''seen = {}

def updates(examples, epochs, small, large):
    for one in (small, large):
        seen.setdefault(one, -(-examples // one))
    a, b = seen[small], seen[large]
    return {"small": epochs * a, "large": epochs * b, "epochs": epochs * a / b}
''',
    "tuple instead of dict": sub(UP, ('{"small": epochs * a, "large": epochs * b, "epochs": epochs * a / b}', "epochs * a, epochs * b, epochs * a / b")),
    "key equal_epochs": sub(UP, ('"epochs": ', '"equal_epochs": ')),
    "remainders below a thousandth of a batch are lost": sub(UP, ("-(-examples // small)", "math.ceil(round(examples / small, 3))"), ("-(-examples // large)", "math.ceil(round(examples / large, 3))")),
    "remainders below a millionth of a batch are lost": sub(UP, ("-(-examples // small)", "math.ceil(round(examples / small, 6))"), ("-(-examples // large)", "math.ceil(round(examples / large, 6))")),
    "epochs never below the given epochs (large batch smaller is no case): max": sub(UP, ("epochs * a / b", "float(int(epochs * a / b))")),
    "short batch counted only once in all epochs, for large": sub(UP, ('"large": epochs * b', '"large": epochs * (examples // large) + (examples % large > 0)')),
}

# ---------------------------------------------------------------- tuned
TU = '''import math

def tuned(runs):
    losses = {}
    for one in runs:
        losses.setdefault(one["batch"], {}).setdefault(one["rate"], []).append(one["validation"])
    best = {}
    for batch, by_rate in losses.items():
        left = {rate: sum(some) / len(some) for rate, some in by_rate.items() if all(map(math.isfinite, some))}
        if not left:
            raise ValueError(f"no rate of batch {batch} is left")
        best[batch] = min(sorted(left), key=left.get)
    return best
'''
RIGHT["tuned"] = {
    "dict": TU,
    "numpy arrays": '''import numpy as np

def tuned(runs):
    b = np.array([r["batch"] for r in runs]); q = np.array([r["rate"] for r in runs], float)
    v = np.array([r["validation"] for r in runs], float)
    out = {}
    for batch in np.unique(b):
        cand = []
        for rate in np.unique(q[b == batch]):
            some = v[(b == batch) & (q == rate)]
            if np.isfinite(some).all():
                cand.append((np.mean(some), rate))
        if not cand:
            raise ValueError("every rate diverged for batch %d" % batch)
        out[batch.item()] = float(min(cand)[1])
    return out
''',
    "fsum, sorted tuples": '''import math, statistics

def tuned(runs):
    answer = {}
    for batch in sorted({r["batch"] for r in runs}):
        scores = []
        for rate in sorted({r["rate"] for r in runs if r["batch"] == batch}):
            some = [r["validation"] for r in runs if (r["batch"], r["rate"]) == (batch, rate)]
            if not any(math.isnan(x) or math.isinf(x) for x in some):
                scores.append((statistics.fmean(some), rate))
        if not scores:
            raise ValueError(f"batch {batch}: all rates diverged")
        answer[batch] = min(scores)[1]
    return answer
''',
    "torch": '''import torch
from collections import defaultdict

def tuned(runs):
    groups = defaultdict(lambda: defaultdict(list))
    for r in runs:
        groups[r["batch"]][r["rate"]].append(r["validation"])
    out = {}
    for batch, group in groups.items():
        rates = sorted(group)
        mean = torch.stack([torch.tensor(group[q], dtype=torch.float64).mean() for q in rates])
        mean[~torch.isfinite(mean)] = float("inf")
        if torch.isinf(mean).all():
            raise ValueError(f"{batch} diverged")
        out[batch] = rates[int(torch.argmin(mean))]
    return out
''',
}
WRONG["tuned"] = {
    "chosen on the test loss": sub(TU, ('one["validation"]', 'one["test"]')),
    "chosen on mean of validation and test": sub(TU, ('one["validation"]', '(one["validation"] + one["test"]) / 2')),
    "the best single run": sub(TU, ("sum(some) / len(some)", "min(some)")),
    "the worst run of each rate": sub(TU, ("sum(some) / len(some)", "max(some)")),
    "median": "import statistics\n" + sub(TU, ("sum(some) / len(some)", "statistics.median(some)")),
    "sum, not mean (seeds per rate may differ)": sub(TU, ("sum(some) / len(some)", "sum(some)")),
    "mean divided by the seeds of the first rate": sub(TU, ("sum(some) / len(some)", "sum(some) / len(next(iter(by_rate.values())))")),
    "diverged runs averaged away": sub(TU, ("sum(some) / len(some)", "sum(filter(math.isfinite, some)) / max(1, sum(map(math.isfinite, some)))"), ("all(map(math.isfinite, some))", "any(map(math.isfinite, some))")),
    "only nan is out": sub(TU, ("all(map(math.isfinite, some))", "not any(map(math.isnan, some))")),
    "only inf is out": sub(TU, ("all(map(math.isfinite, some))", "not any(map(math.isinf, some))")),
    "minus inf is kept": sub(TU, ("all(map(math.isfinite, some))", "not any(x != x or x == math.inf for x in some)")),
    "nothing is out": sub(TU, ("if all(map(math.isfinite, some))", "")),
    "tie: larger rate": sub(TU, ("min(sorted(left)", "min(sorted(left, reverse=True)")),
    "tie: first seen": sub(TU, ("min(sorted(left)", "min(left")),
    "tie: last seen": sub(TU, ("min(sorted(left)", "min(reversed(list(left))")),
    "diverged rate is out for every batch": '''import math

def tuned(runs):
    out = {r["rate"] for r in runs if not math.isfinite(r["validation"])}
    losses = {}
    for one in runs:
        losses.setdefault(one["batch"], {}).setdefault(one["rate"], []).append(one["validation"])
    best = {}
    for batch, by_rate in losses.items():
        left = {rate: sum(some) / len(some) for rate, some in by_rate.items() if rate not in out}
        if not left:
            raise ValueError(f"no rate of batch {batch} is left")
        best[batch] = min(sorted(left), key=left.get)
    return best
''',
    "None for a batch without rate": sub(TU, ('raise ValueError(f"no rate of batch {batch} is left")', "best[batch] = None\n            continue")),
    "batch without rate left out": sub(TU, ('raise ValueError(f"no rate of batch {batch} is left")', "continue")),
    "message without the batch": sub(TU, ('f"no rate of batch {batch} is left"', '"no rate is left"')),
    "KeyError": sub(TU, ("raise ValueError", "raise KeyError")),
    "names all batches but means one": sub(TU, ('f"no rate of batch {batch} is left"', 'f"no rate of batch {next(iter(losses))} is left"')),
    "one rate for all batches": sub(TU, ("    return best", "    first = best[min(best)]\n    return {b: first for b in best}")),
    "highest loss": sub(TU, ("= min(sorted", "= max(sorted")),
    "loss of zero is missing": sub(TU, ("all(map(math.isfinite, some))", "all(x and math.isfinite(x) for x in some)")),
    "negative losses are out": sub(TU, ("all(map(math.isfinite, some))", "all(x >= 0 and math.isfinite(x) for x in some)")),
    "last seed wins": sub(TU, ("sum(some) / len(some)", "some[-1]")),
    "runs sorted in place": sub(TU, ("    losses = {}\n", '    losses = {}\n    runs.sort(key=lambda r: r["rate"])\n')),
    "means rounded to three decimals": sub(TU, ("sum(some) / len(some) for", "round(sum(some) / len(some), 3) for")),
    "means rounded to six decimals": sub(TU, ("sum(some) / len(some) for", "round(sum(some) / len(some), 6) for")),
    "means as int": sub(TU, ("sum(some) / len(some) for", "sum(some) // len(some) for")),
    "a loss above 10 counts as diverged": sub(TU, ("all(map(math.isfinite, some))", "all(x < 10 for x in some)")),
    "a loss above 1000 counts as diverged": sub(TU, ("all(map(math.isfinite, some))", "all(x < 1000 for x in some)")),
    "raises at the first diverged run": sub(TU, ("    for one in runs:\n", '    for one in runs:\n        if not math.isfinite(one["validation"]):\n            raise ValueError(one["batch"])\n')),
    "remembers losses between calls": sub(TU, ("def tuned(runs):\n    losses = {}", "losses = {}\n\ndef tuned(runs):")),
    "rate and loss": sub(TU, ("min(sorted(left), key=left.get)", "(min(sorted(left), key=left.get), min(left.values()))")),
    "batch as text": sub(TU, ("best[batch] =", "best[str(batch)] =")),
    "variance penalised: mean + sd": "import statistics\n" + sub(TU, ("sum(some) / len(some)", "sum(some) / len(some) + statistics.pstdev(some)")),
    "diverged run is dropped where others of its seed are finite: nan counts as 0": sub(TU, ("sum(some) / len(some) for", "sum(x if math.isfinite(x) else 0 for x in some) / len(some) for"), ("all(map(math.isfinite, some))", "any(map(math.isfinite, some))")),
    "a diverged test loss does not matter, but train is used in ties (text: smaller rate)": sub(TU, ("    losses = {}\n", '    losses = {}\n    train = {(r["batch"], r["rate"]): r.get("test", 0) for r in runs}\n'), ("key=left.get", "key=lambda q: (left[q], train[batch, q])")),
    "diverged test loss ignored [TEXT OPEN: 'a loss is not finite']": TU.replace("all(map(math.isfinite, some))", "all(map(math.isfinite, some))  # only validation"),
}
del WRONG["tuned"]["diverged test loss ignored [TEXT OPEN: 'a loss is not finite']"]

# ---------------------------------------------------------------- gap
GA = '''import math, statistics

def gap(small, large):
    if set(small) != set(large):
        raise ValueError("other seeds")
    n = len(small)
    if n < 2:
        raise ValueError("too few seeds")
    if not all(map(math.isfinite, [*small.values(), *large.values()])):
        raise ValueError("diverged")
    apart = [large[seed] - small[seed] for seed in small]
    mean = statistics.fmean(apart)
    half = T90[n] * statistics.stdev(apart) / n**0.5
    return mean, mean - half, mean + half
'''
RIGHT["gap"] = {
    "statistics": GA,
    "numpy": '''import numpy as np

def gap(small, large):
    if sorted(small) != sorted(large) or len(small) < 2:
        raise ValueError(f"seeds {list(small)} and {list(large)}")
    d = np.array([large[s] - small[s] for s in sorted(small)])
    if not np.isfinite(d).all():
        raise ValueError("a run diverged")
    half = T90[d.size] * d.std(ddof=1) / np.sqrt(d.size)
    return np.array([d.mean(), d.mean() - half, d.mean() + half])
''',
    "torch": '''import torch

def gap(small, large):
    if small.keys() ^ large.keys() or len(large) < 2:
        raise ValueError("seeds")
    seeds = list(large)
    d = torch.tensor([large[s] for s in seeds], dtype=torch.float64) - torch.tensor([small[s] for s in seeds], dtype=torch.float64)
    if not torch.isfinite(d).all():
        raise ValueError("not finite")
    half = T90[len(seeds)] * d.std() / len(seeds) ** 0.5
    return d.mean(), d.mean() - half, d.mean() + half
''',
    "loops, list": '''def gap(small, large):
    n = 0
    total = 0.0
    for seed in large:
        if seed not in small:
            raise ValueError(f"seed {seed}")
    for seed, loss in small.items():
        if seed not in large:
            raise ValueError(f"seed {seed}")
        for one in (loss, large[seed]):
            if one != one or one in (float("inf"), -float("inf")):
                raise ValueError("diverged")
        n += 1
        total += large[seed] - loss
    if n < 2:
        raise ValueError("too few")
    mean, square = total / n, 0.0
    for seed in small:
        square += (large[seed] - small[seed] - mean) ** 2
    half = T90[n] * (square / (n - 1) / n) ** 0.5
    return [mean, mean - half, mean + half]
''',
}
WRONG["gap"] = {
    "small minus large": sub(GA, ("large[seed] - small[seed]", "small[seed] - large[seed]")),
    "absolute differences": sub(GA, ("large[seed] - small[seed]", "abs(large[seed] - small[seed])")),
    "relative differences": sub(GA, ("large[seed] - small[seed]", "(large[seed] - small[seed]) / (small[seed] or 1)")),
    "deviation over n": sub(GA, ("statistics.stdev", "statistics.pstdev")),
    "variance": sub(GA, ("statistics.stdev", "statistics.variance")),
    "no root of n": sub(GA, ("n**0.5", "1")),
    "divided by n": sub(GA, ("n**0.5", "n")),
    "root of n - 1": sub(GA, ("n**0.5", "(n - 1)**0.5")),
    "T90 at n - 1": sub(GA, ("T90[n]", "T90[max(2, n - 1)]")),
    "T90 at n + 1": sub(GA, ("T90[n]", "T90[min(12, n + 1)]")),
    "T90 of 3 always": sub(GA, ("T90[n]", "2.92")),
    "normal quantile": sub(GA, ("T90[n]", "1.645")),
    "two standard errors": sub(GA, ("T90[n]", "2")),
    "unpaired interval": sub(GA, ("statistics.stdev(apart)", "(statistics.variance(small.values()) + statistics.variance(large.values()))**0.5")),
    "paired by place, not by seed": sub(GA, ("[large[seed] - small[seed] for seed in small]", "[b - a for a, b in zip(small.values(), large.values())]")),
    "paired by rank of loss": sub(GA, ("[large[seed] - small[seed] for seed in small]", "[b - a for a, b in zip(sorted(small.values()), sorted(large.values()))]")),
    "median": sub(GA, ("statistics.fmean(apart)", "statistics.median(apart)")),
    "low, gap, high": sub(GA, ("return mean, mean - half, mean + half", "return mean - half, mean, mean + half")),
    "gap, high, low": sub(GA, ("return mean, mean - half, mean + half", "return mean, mean + half, mean - half")),
    "gap and half width": sub(GA, ("return mean, mean - half, mean + half", "return mean, half")),
    "only seeds of both": sub(GA, ("    if set(small) != set(large):\n        raise ValueError(\"other seeds\")\n    n = len(small)", "    small = {s: small[s] for s in small if s in large}\n    n = len(small)"), ("*large.values()", "*(large[s] for s in small)")),
    "only the number of seeds is compared": sub(GA, ("set(small) != set(large)", "len(small) != len(large)"), ("[large[seed] - small[seed] for seed in small]", "[b - a for a, b in zip((v for _, v in sorted(small.items())), (v for _, v in sorted(large.items())))]")),
    "extra seed of the large batch is ignored": sub(GA, ("set(small) != set(large)", "set(small) - set(large)"), ("*large.values()", "*(large[s] for s in small)")),
    "extra seed of the small batch is ignored": sub(GA, ("set(small) != set(large)", "set(large) - set(small)"), ("n = len(small)", "n = len(large)"), ("for seed in small]", "for seed in large]")),
    "diverged run is averaged away": sub(GA, ("    if not all(map(math.isfinite, [*small.values(), *large.values()])):\n        raise ValueError(\"diverged\")\n", ""), ("for seed in small]", "for seed in small if math.isfinite(large[seed] - small[seed])]"), ("T90[n]", "T90[len(apart)]"), ("n**0.5", "len(apart)**0.5")),
    "nan passes through": "import numpy as np\n" + sub(GA, ("not all(map(math.isfinite, [*small.values(), *large.values()]))", "any(map(math.isinf, [*small.values(), *large.values()]))"), ("statistics.stdev(apart)", "np.std(apart, ddof=1)")),
    "only the large batch is looked at for divergence": "import numpy as np\n" + sub(GA, ("[*small.values(), *large.values()]", "large.values()"), ("statistics.stdev(apart)", "np.std(apart, ddof=1)")),
    "only nan is refused": "import numpy as np\n" + sub(GA, ("not all(map(math.isfinite, [*small.values(), *large.values()]))", "any(map(math.isnan, [*small.values(), *large.values()]))"), ("statistics.stdev(apart)", "np.std(apart, ddof=1)")),
    "minus inf is not refused": "import numpy as np\n" + sub(GA, ("not all(map(math.isfinite, [*small.values(), *large.values()]))", "any(x != x or x == math.inf for x in [*small.values(), *large.values()])"), ("statistics.stdev(apart)", "np.std(apart, ddof=1)")),
    "one seed gives a point": sub(GA, ("    if n < 2:\n        raise ValueError(\"too few seeds\")\n", "    if n == 1:\n        d = next(iter(large.values())) - next(iter(small.values()))\n        return d, d, d\n    if not n:\n        raise ValueError('no seed')\n")),
    "no seed gives zeros": sub(GA, ("    if n < 2:\n", "    if n == 0:\n        return 0.0, 0.0, 0.0\n    if n < 2:\n")),
    "two seeds are refused, too": sub(GA, ("n < 2", "n < 3")),
    "twelve seeds are refused": sub(GA, ("n < 2", "not 2 <= n < 12")),
    "AssertionError": sub(GA, ("    if set(small) != set(large):\n        raise ValueError(\"other seeds\")\n", "    assert set(small) == set(large)\n")),
    "KeyError for other seeds": sub(GA, ("set(small) != set(large)", "len(small) != len(large)")),
    "rounded to four digits": sub(GA, ("return mean, mean - half, mean + half", "return round(mean, 4), round(mean - half, 4), round(mean + half, 4)")),
    "low not below zero": sub(GA, ("return mean, mean - half, mean + half", "return mean, max(0.0, mean - half), mean + half")),
    "one-pass deviation (no number where the differences are equal)": sub(GA, ("statistics.stdev(apart)", "((sum(x * x for x in apart) - n * mean**2) / (n - 1))**0.5")),
    "small emptied on the way": sub(GA, ("[large[seed] - small[seed] for seed in small]", "[large[seed] - small.pop(seed) for seed in list(small)]")),
    "zero loss counts as missing": sub(GA, ("[large[seed] - small[seed] for seed in small]", "[large[seed] - small[seed] for seed in small if small[seed] and large[seed]]")),
    "float32 differences": "import numpy as np\n" + sub(GA, ("[large[seed] - small[seed] for seed in small]", "[float(np.float16(large[seed]) - np.float16(small[seed])) for seed in small]")),
    "seeds are taken as 0 .. n-1": sub(GA, ("for seed in small]", "for seed in range(n)]")),
    "equal differences refused (no spread)": sub(GA, ("    mean = ", "    if len(set(apart)) == 1:\n        raise ValueError('no spread')\n    mean = ")),
    "standard errors of the two added": sub(GA, ("statistics.stdev(apart)", "(statistics.stdev(small.values()) + statistics.stdev(large.values()))")),
    "95 % table": sub(GA, ("T90[n]", "{2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26, 11: 2.23, 12: 2.20}[n]")),
}

# ---------------------------------------------------------------- verdict-test
VT = '''CASES = [
    (-0.01, 0.02, 0.1, "no difference"), (0.02, 0.05, 0.1, "no difference"), (-0.05, -0.02, 0.1, "no difference"),
    (-0.09, 0.08, 0.1, "no difference"), (0.2, 0.4, 0.1, "large worse"), (0.05, 0.3, 0.1, "large worse"),
    (-0.4, -0.2, 0.1, "large better"), (-0.3, -0.05, 0.1, "large better"), (-0.3, 0.4, 0.1, "cannot tell"),
    (-0.05, 0.4, 0.1, "cannot tell"), (-0.4, 0.05, 0.1, "cannot tell"), (-0.2, 0.04, 0.1, "cannot tell"),
    (0.2, 0.4, 0.5, "no difference"), (-0.4, -0.2, 0.5, "no difference"), (0.02, 0.05, 0.03, "large worse"),
    (-0.05, -0.02, 0.03, "large better"), (-0.01, 0.02, 0.005, "cannot tell"), (-3.0, 4.0, 5.0, "no difference"),
    (6.0, 8.0, 5.0, "large worse"), (-8.0, -6.0, 5.0, "large better"), (-6.0, 4.0, 5.0, "cannot tell"),
    (2.0, 300.0, 5.0, "large worse"), (-300.0, -2.0, 5.0, "large better"), (-0.001, 300.0, 5.0, "cannot tell"), (-300.0, 0.001, 5.0, "cannot tell"),
]

def verdict_test(verdict):
    for low, high, margin, right in CASES:
        assert verdict(low, high, margin) == right, (low, high, margin)
'''
REF = '''import random

def _ref(low, high, margin):
    if -margin < low and high < margin:
        return "no difference"
    if low > 0:
        return "large worse"
    return "large better" if high < 0 else "cannot tell"

def verdict_test(verdict):
    rng = random.Random(1)
    for _ in range(2000):
        margin = 10 ** rng.uniform(-3, 1)
        low, high = sorted(margin * rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 2) for _ in range(2))
        if low < high:
            assert verdict(low, high, margin) == _ref(low, high, margin)
'''
RIGHT["verdict-test"] = {
    "table": VT,
    "random against a reference": REF,
    "returns False": sub(VT, ("        assert verdict(low, high, margin) == right, (low, high, margin)\n", "        if verdict(low, high, margin) != right:\n            return False\n    return True\n")),
    "keywords": sub(VT, ("verdict(low, high, margin) ==", "verdict(low=low, high=high, margin=margin) ==")),
    "numpy grid": '''import numpy as np

def verdict_test(verdict):
    ends = [-30.0, -2.5, -1.5, -0.7, -0.2, 0.3, 0.6, 1.3, 2.7, 40.0]
    for scale in (1.0, 0.01, 20.0):
        for margin in (0.1, 1.0, 2.0, 10.0):
            for low in ends:
                for high in ends:
                    if low < high:
                        said = verdict(np.float64(low * scale), np.float64(high * scale), margin * scale)
                        if low > -margin and high < margin:
                            want = "no difference"
                        elif low > 0 or high < 0:
                            want = "large worse" if low > 0 else "large better"
                        else:
                            want = "cannot tell"
                        if said != want:
                            raise AssertionError(f"{low} {high} {margin}: {said}")
''',
}


def weak(*cases, margin=0.1):
    rows = "".join(f"    assert verdict({low}, {high}, {m[0] if m else margin}) == {word!r}\n" for low, high, word, *m in cases)
    return "def verdict_test(verdict):\n" + rows


N, P, M, C = "no difference", "large worse", "large better", "cannot tell"
WRONG["verdict-test"] = {
    "one case for each verdict": weak((-0.05, 0.05, N), (0.2, 0.4, P), (-0.4, -0.2, M), (-0.3, 0.4, C)),
    "two cases for each verdict, one margin": weak((-0.05, 0.05, N), (-0.02, 0.08, N), (0.2, 0.4, P), (0.15, 3, P), (-0.4, -0.2, M), (-3, -0.15, M), (-0.3, 0.4, C), (-3, 4, C)),
    "no interval beside 0 inside the margin": "\n".join(l for l in VT.split("\n")).replace('(0.02, 0.05, 0.1, "no difference"), (-0.05, -0.02, 0.1, "no difference"),', "").replace('(0.2, 0.4, 0.5, "no difference"), (-0.4, -0.2, 0.5, "no difference"), ', ""),
    "beside 0 inside the margin on the right only": sub(VT, ('(-0.05, -0.02, 0.1, "no difference"),', ""), ('(-0.4, -0.2, 0.5, "no difference"), ', "")),
    "beside 0 inside the margin on the left only": sub(VT, ('(0.02, 0.05, 0.1, "no difference"),', ""), ('(0.2, 0.4, 0.5, "no difference"), ', "")),
    "no worse interval that begins inside the margin": sub(VT, ('(0.05, 0.3, 0.1, "large worse"),', ""), ('(0.02, 0.05, 0.03, "large worse"),', ""), ('(2.0, 300.0, 5.0, "large worse"), ', "")),
    "no better interval that ends inside the margin": sub(VT, ('(-0.3, -0.05, 0.1, "large better"),', ""), ('(-0.05, -0.02, 0.03, "large better"), ', ""), ('(-300.0, -2.0, 5.0, "large better"), ', "")),
    "cannot tell only with both ends outside the margin": weak((-0.05, 0.05, N), (0.02, 0.05, N), (-0.05, -0.02, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.4, -0.2, M), (-0.4, -0.05, M), (-0.3, 0.4, C), (-4, 3, C), (0.2, 0.4, N, 0.5), (-0.4, -0.2, N, 0.5)),
    "cannot tell only to the right": weak((-0.05, 0.05, N), (0.02, 0.05, N), (-0.05, -0.02, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.4, -0.2, M), (-0.4, -0.05, M), (-0.05, 0.4, C), (-0.3, 0.4, C), (0.2, 0.4, N, 0.5), (-0.4, -0.2, N, 0.5)),
    "cannot tell only to the left": weak((-0.05, 0.05, N), (0.02, 0.05, N), (-0.05, -0.02, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.4, -0.2, M), (-0.4, -0.05, M), (-0.4, 0.05, C), (-0.3, 0.4, C), (0.2, 0.4, N, 0.5), (-0.4, -0.2, N, 0.5)),
    "one margin only": weak((-0.05, 0.05, N), (-0.09, 0.08, N), (0.02, 0.05, N), (-0.05, -0.02, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.4, -0.2, M), (-0.4, -0.05, M), (-0.05, 0.4, C), (-0.4, 0.05, C), (-0.3, 0.4, C)),
    "every gap is 0 or beyond the margin": weak((-0.05, 0.05, N), (-0.09, 0.09, N), (-0.5, 0.5, C), (-5, 5, C), (0.1, 0.5, P), (-0.5, -0.1, M), (-0.5, 0.5, N, 0.6)),
    "right half only": weak((-0.05, 0.05, N), (0.02, 0.05, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.05, 0.4, C), (-0.3, 0.4, C), (0.2, 0.4, N, 0.5), (0.02, 0.05, P, 0.03)),
    "no wide interval: all below 1 nat wide and margin 0.1 or 0.5": weak((-0.05, 0.05, N), (0.02, 0.05, N), (-0.05, -0.02, N), (0.2, 0.4, P), (0.05, 0.4, P), (-0.4, -0.2, M), (-0.4, -0.05, M), (-0.05, 0.4, C), (-0.4, 0.05, C), (-0.3, 0.4, C), (0.2, 0.4, N, 0.5), (-0.4, -0.2, N, 0.5), (-0.4, 0.3, N, 0.5)),
    "only whole numbers": weak((-5, 5, N), (2, 5, N), (-5, -2, N), (20, 40, P), (5, 40, P), (-40, -20, M), (-40, -5, M), (-5, 40, C), (-40, 5, C), (-30, 40, C), (20, 40, N, 50), (-40, -20, N, 50), margin=10),
    "ends on the margin and on 0": sub(VT, ("CASES = [", 'CASES = [(-0.1, 0.1, 0.1, "no difference"), (0.0, 0.3, 0.1, "large worse"),')),
    "significance first: stops the right ones": sub(VT, ('(0.02, 0.05, 0.1, "no difference"), (-0.05, -0.02, 0.1, "no difference"),', '(0.02, 0.05, 0.1, "large worse"), (-0.05, -0.02, 0.1, "large better"),')),
    "worse and better swapped": VT.replace("large worse", "#").replace("large better", "large worse").replace("#", "large better"),
    "not significant is no difference": sub(VT, ('"cannot tell"', '"no difference"')),
    "only prints": sub(VT, ("        assert verdict(low, high, margin) == right, (low, high, margin)\n", "        print(verdict(low, high, margin) == right)\n")),
    "returns the number of failures": sub(VT, ("    for low, high, margin, right in CASES:\n        assert verdict(low, high, margin) == right, (low, high, margin)\n", "    return sum(verdict(a, b, m) != w for a, b, m, w in CASES)\n")),
    "swallows its own assert": sub(VT, ("        assert verdict(low, high, margin) == right, (low, high, margin)\n", "        try:\n            assert verdict(low, high, margin) == right\n        except AssertionError:\n            print('bug')\n")),
    "asks only for one of the four words": sub(VT, ("verdict(low, high, margin) == right,", "verdict(low, high, margin) in {c[3] for c in CASES},")),
    "only the mirror law": sub(VT, ("verdict(low, high, margin) == right,", "{verdict(low, high, margin), verdict(-high, -low, margin)} in ({'large worse', 'large better'}, {'no difference'}, {'cannot tell'}),")),
    "truthy verdict": sub(VT, ("verdict(low, high, margin) == right,", "verdict(low, high, margin),")),
    "margin swapped with high in the call": sub(VT, ("verdict(low, high, margin) ==", "verdict(low, margin, high) ==")),
    "asks for upper case": sub(VT, ("== right,", "== right.upper(),")),
    "never calls it": "def verdict_test(verdict):\n    assert callable(verdict)\n",
    "five random cases": sub(REF, ("range(2000)", "range(5)"), ("random.Random(1)", "random.Random(3)")),
    "reference without the margin": sub(REF, ("    if -margin < low and high < margin:\n        return \"no difference\"\n", "")),
    "one scale, narrow only": weak((-0.001, 0.001, N), (0.001, 0.002, N), (-0.002, -0.001, N), (0.2, 0.201, P), (-0.201, -0.2, M), (0.0999, 0.1001, P), (-0.1001, -0.0999, M), (-0.0001, 0.1001, C), (-0.1001, 0.0001, C)),
    "counts the distinct words only": sub(VT, ("    for low, high, margin, right in CASES:\n        assert verdict(low, high, margin) == right, (low, high, margin)\n", "    from collections import Counter\n    assert Counter(verdict(a, b, m) for a, b, m, _ in CASES) == Counter(w for *_, w in CASES)\n")),
    "midpoint inside the margin only with 0 inside": weak((-0.05, 0.05, N), (0.2, 0.4, P), (-0.4, -0.2, M), (-0.3, 0.4, C), (-0.08, 0.3, C), (-0.3, 0.08, C), (0.2, 0.4, N, 0.5), (-0.4, -0.2, N, 0.5), (-0.3, 0.4, N, 0.5)),
}

# ---------------------------------------------------------------- experiment
PL = '''def plan(small, large, rates, seeds, examples):
    if not small < large:
        raise ValueError(f"batch {small} is not below {large}")
    for batch in (small, large):
        if examples % batch:
            raise ValueError(f"batch {batch} does not divide {examples} examples")
    rates, seeds = sorted(set(rates)), sorted(set(seeds))
    if len(rates) < 3:
        raise ValueError("fewer than three rates")
    if len(seeds) < 2:
        raise ValueError("fewer than two seeds")
    shapes = [(small, examples // small), (large, examples // large), (large, examples // small)]
    return [{"batch": batch, "rate": rate, "seed": seed, "steps": steps}
            for batch, steps in shapes for rate in rates for seed in seeds]

'''
JU = '''def judge(results, margin):
    small = min(one["batch"] for one in results)
    large = max(one["batch"] for one in results)
    steps = next(one["steps"] for one in results if one["batch"] == small)
    tried = {one["rate"] for one in results}
    said = {}
    for arm, wanted in (("examples", steps * small // large), ("steps", steps)):
        runs = [one for one in results if one["batch"] == small or one["steps"] == wanted]
        rates = tuned(runs)
        losses = {b: {one["seed"]: one["test"] for one in runs if one["batch"] == b and one["rate"] == rates[b]} for b in rates}
        middle, low, high = gap(losses[small], losses[large])
        if any(rate in (min(tried), max(tried)) for rate in rates.values()):
            word = "cannot tell"
        elif -margin <= low and high <= margin:
            word = "no difference"
        elif low > 0:
            word = "large worse"
        elif high < 0:
            word = "large better"
        else:
            word = "cannot tell"
        said[arm] = {"verdict": word, "gap": middle, "low": low, "high": high, "rates": rates}
    return said
'''
EX = PL + JU
RIGHT["experiment"] = {
    "plain": EX,
    "itertools, min steps": '''import itertools

def plan(small, large, rates, seeds, examples):
    rates, seeds = {float(r) for r in rates}, set(seeds)
    if small >= large:
        raise ValueError("small is not below large")
    bad = [b for b in (small, large) if examples % b != 0]
    if bad:
        raise ValueError(f"{examples} examples are not a multiple of {bad[0]}")
    if len(rates) < 3 or len(seeds) < 2:
        raise ValueError(f"{len(rates)} rates, {len(seeds)} seeds")
    per = {b: divmod(examples, b)[0] for b in (small, large)}
    runs = []
    for (batch, steps), rate, seed in itertools.product({(small, per[small]), (large, per[large]), (large, per[small])}, rates, seeds):
        runs.append(dict(seed=seed, steps=steps, batch=batch, rate=rate))
    return runs

def judge(results, margin):
    batches = sorted({r["batch"] for r in results})
    few, many = sorted({r["steps"] for r in results if r["batch"] == batches[1]})
    grid = sorted({r["rate"] for r in results})
    def one(wanted):
        arm = [r for r in results if (r["batch"], r["steps"]) in {(batches[0], many), (batches[1], wanted)}]
        best = tuned(arm)
        side = [{r["seed"]: r["test"] for r in arm if (r["batch"], r["rate"]) == (b, best[b])} for b in batches]
        g, lo, hi = gap(*side)
        if {grid[0], grid[-1]} & set(best.values()):
            v = "cannot tell"
        elif max(abs(lo), abs(hi)) < margin:
            v = "no difference"
        else:
            v = "large worse" if lo > 0 else "large better" if hi < 0 else "cannot tell"
        return dict(verdict=v, gap=g, low=lo, high=hi, rates=best)
    return {"examples": one(few), "steps": one(many)}
''',
    "self-contained, numpy": '''import numpy as np

def plan(small, large, rates, seeds, examples):
    rates = np.unique(np.asarray(list(rates), float)).tolist()
    seeds = list(dict.fromkeys(seeds))
    if large <= small:
        raise ValueError("order")
    if examples % small:
        raise ValueError(f"{small}")
    if examples % large:
        raise ValueError(f"{large}")
    if len(rates) <= 2:
        raise ValueError("rates")
    if len(seeds) <= 1:
        raise ValueError("seeds")
    runs = []
    for seed in seeds:
        for rate in rates:
            runs.append({"batch": small, "rate": rate, "seed": seed, "steps": examples // small})
            runs.append({"batch": large, "rate": rate, "seed": seed, "steps": examples // large})
            runs.append({"batch": large, "rate": rate, "seed": seed, "steps": examples // small})
    return runs

def judge(results, margin):
    b = np.array([r["batch"] for r in results]); s = np.array([r["steps"] for r in results])
    q = np.array([r["rate"] for r in results], float); seed = np.array([r["seed"] for r in results])
    v = np.array([r["validation"] for r in results], float); t = np.array([r["test"] for r in results], float)
    small, large = b.min().item(), b.max().item()
    out = {}
    for arm, steps in (("examples", s[b == large].min()), ("steps", s[b == large].max())):
        rates, side = {}, []
        for batch in (small, large):
            mine = (b == batch) & ((s == steps) if batch == large else True)
            best = None
            for rate in np.unique(q[mine]):
                some = v[mine & (q == rate)]
                if np.isfinite(some).all() and (best is None or some.mean() < best[0]):
                    best = some.mean(), rate
            if best is None:
                raise ValueError(f"batch {batch} diverged")
            rates[batch] = float(best[1])
            at = np.flatnonzero(mine & (q == best[1]))
            side.append(t[at[np.argsort(seed[at])]])
        d = side[1] - side[0]
        half = T90[len(d)] * d.std(ddof=1) / len(d) ** 0.5
        lo, hi = d.mean() - half, d.mean() + half
        word = "cannot tell"
        if not {q.min(), q.max()} & set(rates.values()):
            if lo > -margin and hi < margin:
                word = "no difference"
            elif lo > 0:
                word = "large worse"
            elif hi < 0:
                word = "large better"
        out[arm] = {"verdict": word, "gap": d.mean(), "low": lo, "high": hi, "rates": rates}
    return out
''',
}


def p(*pairs):
    return sub(PL, *pairs) + JU


def j(*pairs):
    return PL + sub(JU, *pairs)


WORDS = '''        elif -margin <= low and high <= margin:
            word = "no difference"
        elif low > 0:
            word = "large worse"
        elif high < 0:
            word = "large better"
'''
EDGE = "any(rate in (min(tried), max(tried)) for rate in rates.values())"
RUNS = 'one["batch"] == small or one["steps"] == wanted'
SHAPES = "[(small, examples // small), (large, examples // large), (large, examples // small)]"
WRONG["experiment"] = {
    "plan: equal batches pass": p(("not small < large", "small > large")),
    "plan: large first passes": p(("not small < large", "small == large")),
    "plan: batches swapped instead of refused": p(('        raise ValueError(f"batch {small} is not below {large}")\n', "        small, large = large, small\n")),
    "plan: only the large batch must divide": p(("(small, large):", "(large,):")),
    "plan: only the small batch must divide": p(("(small, large):", "(small,):")),
    "plan: message without the batch": p(('f"batch {batch} does not divide {examples} examples"', '"does not divide"')),
    "plan: message names the other batch": p(('f"batch {batch} does not divide {examples} examples"', 'f"{small + large - batch} does not divide"')),
    "plan: short steps rounded up, nothing refused": p(("if examples % batch:", "if False:"), ("examples // small)", "-(-examples // small))"), ("examples // large)", "-(-examples // large))")),
    "plan: large must be a multiple of small": p(("    for batch in", '    if large % small:\n        raise ValueError(f"{large}")\n    for batch in')),
    "plan: rates given twice run twice": p(("sorted(set(rates))", "sorted(rates)"), ("len(rates)", "len(set(rates))")),
    "plan: seeds given twice run twice": p(("sorted(set(seeds))", "sorted(seeds)"), ("len(seeds)", "len(set(seeds))")),
    "plan: rates counted before doubles go": p(("    rates, seeds = ", "    given = len(rates)\n    rates, seeds = "), ("len(rates) < 3", "given < 3")),
    "plan: seeds counted before doubles go": p(("    rates, seeds = ", "    given = len(seeds)\n    rates, seeds = "), ("len(seeds) < 2", "given < 2")),
    "plan: two rates are enough": p(("len(rates) < 3", "len(rates) < 2")),
    "plan: four rates needed": p(("len(rates) < 3", "len(rates) < 4")),
    "plan: three seeds needed": p(("len(seeds) < 2", "len(seeds) < 3")),
    "plan: one seed is enough": p(("len(seeds) < 2", "not seeds")),
    "plan: small runs once for each arm": p((SHAPES, SHAPES[:-1] + ", (small, examples // small)]")),
    "plan: no equal-steps arm": p((SHAPES, "[(small, examples // small), (large, examples // large)]")),
    "plan: no equal-examples arm": p((SHAPES, "[(small, examples // small), (large, examples // small)]")),
    "plan: equal steps by cutting the small batch": p((SHAPES, "[(small, examples // small), (large, examples // large), (small, examples // large)]")),
    "plan: steps are floats": p((SHAPES, SHAPES.replace("//", "/"))),
    "plan: rate and seed zipped": p(("for rate in rates for seed in seeds]", "for rate, seed in zip(rates, seeds)]")),
    "plan: one dictionary repeated": p(("    return [{", "    one, out = {}, []\n    for batch, steps in shapes:\n        for rate in rates:\n            for seed in seeds:\n                one.update(batch=batch, rate=rate, seed=seed, steps=steps)\n                out.append(one)\n    return out\n    return [{")),
    "plan: rates rounded to four digits": p(("sorted(set(rates))", "sorted({round(float(r), 4) for r in rates})")),
    "plan: large rates scaled linearly": p(('"rate": rate,', '"rate": rate * batch / small,')),
    "plan: seeds renumbered": p(("sorted(set(seeds))", "list(range(len(set(seeds))))")),
    "plan: seed 0 dropped": p(("sorted(set(seeds))", "sorted({s for s in seeds if s} or set(seeds))")),
    "plan: extra key arm": p(('"steps": steps}', '"steps": steps, "arm": "steps" if batch == large else "both"}')),
    "plan: tuples": p(('{"batch": batch, "rate": rate, "seed": seed, "steps": steps}', "(batch, rate, seed, steps)")),
    "plan: asserts": p(('    if len(rates) < 3:\n        raise ValueError("fewer than three rates")\n', "    assert len(rates) >= 3\n")),
    "plan: rates sorted in place": p(("    rates, seeds = ", "    rates.sort() if hasattr(rates, 'sort') else None\n    rates, seeds = ")),
    "plan: list kept between calls": p(("seeds, examples):", "seeds, examples, out=[]):"), ("    return [{", "    out += [{"), ("for seed in seeds]", "for seed in seeds]\n    return out")),
    "plan: one epoch per step (steps = large // small)": p((SHAPES, "[(small, examples // small), (large, examples // large), (large, examples // large * large // small * 2)]")),
    "judge: tuned once over both arms": j(("rates = tuned(runs)", "rates = tuned(results)")),
    "judge: large tuned in the equal-examples arm only": j(("rates = tuned(runs)", 'rates = tuned([o for o in results if o["batch"] == small or o["steps"] == steps * small // large])')),
    "judge: large tuned in the equal-steps arm only": j(("rates = tuned(runs)", 'rates = tuned([o for o in results if o["steps"] == steps])')),
    "judge: both batches get the rate of the small": j(("rates = tuned(runs)", "rates = {b: tuned(runs)[small] for b in (small, large)}")),
    "judge: tuned on the test loss": j(("tuned(runs)", 'tuned([{**o, "validation": o["test"]} for o in runs])')),
    "judge: gap on the validation loss": j(('one["seed"]: one["test"]', 'one["seed"]: one["validation"]')),
    "judge: gap on the train loss": j(('one["seed"]: one["test"]', 'one["seed"]: one["train"]')),
    "judge: no edge rule": j((EDGE, "False")),
    "judge: edge rule for the large batch only": j((EDGE, "rates[large] in (min(tried), max(tried))")),
    "judge: edge rule for the small batch only": j((EDGE, "rates[small] in (min(tried), max(tried))")),
    "judge: only the highest rate is an edge": j((EDGE, "max(tried) in rates.values()")),
    "judge: only the lowest rate is an edge": j((EDGE, "min(tried) in rates.values()")),
    "judge: edge only if both batches are there": j((EDGE, "all(rate in (min(tried), max(tried)) for rate in rates.values())")),
    "judge: diverged rates were not tried": "import math\n" + j(('tried = {one["rate"] for one in results}', 'tried = {one["rate"] for one in results if math.isfinite(one["validation"])}')),
    "judge: a rate that diverged once was not tried": "import math\n" + j(('tried = {one["rate"] for one in results}', 'tried = {one["rate"] for one in results} - {one["rate"] for one in results if not math.isfinite(one["validation"])}')),
    "judge: edge of the rates that are finite for this batch and arm": "import math\n" + j((EDGE, 'any(rates[b] in (f(o["rate"] for o in runs if o["batch"] == b and math.isfinite(o["validation"])) for f in (min, max)) for b in rates)')),
    "judge: an edge in one arm silences both": j(("    return said\n", '    if any(set(o["rates"].values()) & {min(tried), max(tried)} for o in said.values()):\n        for o in said.values():\n            o["verdict"] = "cannot tell"\n    return said\n')),
    "judge: no difference is said at an edge, too": j(("        if " + EDGE + ':\n            word = "cannot tell"\n        elif -margin', "        if -margin"), ('            word = "no difference"\n', '            word = "no difference"\n        elif ' + EDGE + ':\n            word = "cannot tell"\n')),
    "judge: worse and better swapped": j(('"large worse"', '"#"'), ('"large better"', '"large worse"'), ('"#"', '"large better"')),
    "judge: beside 0 goes before the margin": j((WORDS, '        elif low > 0:\n            word = "large worse"\n        elif high < 0:\n            word = "large better"\n        elif -margin <= low and high <= margin:\n            word = "no difference"\n')),
    "judge: margin on the gap, not on the interval": j(("-margin <= low and high <= margin", "abs(middle) <= margin")),
    "judge: worse only beyond the margin": j(("elif low > 0:", "elif low > margin:"), ("elif high < 0:", "elif high < -margin:")),
    "judge: only the upper end meets the margin": j(("-margin <= low and high <= margin", "high <= margin and low <= margin")),
    "judge: margin is the width": j(("-margin <= low and high <= margin", "high - low <= margin")),
    "judge: margin 0.01 always": j(("-margin <= low and high <= margin", "-0.01 <= low and high <= 0.01")),
    "judge: not significant is no difference": j(('        else:\n            word = "cannot tell"', '        else:\n            word = "no difference"')),
    "judge: arms swapped": j(('("examples", steps * small // large), ("steps", steps)', '("steps", steps * small // large), ("examples", steps)')),
    "judge: low and high swapped": j(('"low": low, "high": high', '"low": high, "high": low')),
    "judge: small minus large": j(("gap(losses[small], losses[large])", "gap(losses[large], losses[small])")),
    "judge: first run is of the small batch": j(('min(one["batch"] for one in results)', 'results[0]["batch"]'), ('max(one["batch"] for one in results)', 'next(o["batch"] for o in results if o["batch"] != small)')),
    "judge: pairs by place": j(("gap(losses[small], losses[large])", "gap(dict(enumerate(losses[small].values())), dict(enumerate(losses[large].values())))")),
    "judge: best run of each batch": j(("gap(losses[small], losses[large])", "gap(losses[small], losses[large])\n        middle = min(losses[large].values()) - min(losses[small].values())")),
    "judge: rates of the large batch only": j(('"rates": rates', '"rates": {large: rates[large]}')),
    "judge: a single rate for rates": j(('"rates": rates', '"rates": rates[large]')),
    "judge: rates of one arm shown in both": j(("    return said\n", '    said["steps"]["rates"] = said["examples"]["rates"]\n    return said\n')),
    "judge: interval zeroed at an edge": j(('            word = "cannot tell"\n        elif -margin', '            word, low, high = "cannot tell", float("-1e9"), 1e9\n        elif -margin')),
    "judge: results sorted in place": j(("    small = min", '    results.sort(key=lambda o: o["batch"])\n    small = min')),
    "judge: diverged runs taken out first": "import math\n" + j(("    small = min", '    everything = results\n    results = [o for o in results if math.isfinite(o["validation"])]\n    small = min'), ('tried = {one["rate"] for one in results}', 'tried = {one["rate"] for one in everything}')),
    "judge: large runs of both arms make the gap": j((RUNS, "True"), ("rates = tuned(runs)", f"rates = tuned([one for one in runs if {RUNS}])")),
    "judge: verdict without the word large": j(('"large worse"', '"worse"'), ('"large better"', '"better"')),
    "judge: only one arm": j(('(("examples", steps * small // large), ("steps", steps))', '(("examples", steps * small // large),)')),
    "judge: edge within a factor of two": j((EDGE, "any(rate <= 2 * min(tried) or rate >= max(tried) / 2 for rate in rates.values())")),
    "judge: edges of the large batch at the top, of the small at the bottom": j((EDGE, "rates[large] == max(tried) or rates[small] == min(tried)")),
    "judge: edges of the large batch at the bottom, of the small at the top": j((EDGE, "rates[large] == min(tried) or rates[small] == max(tried)")),
    "judge: rounds to three digits": j(("gap(losses[small], losses[large])", "(round(x, 3) for x in gap(losses[small], losses[large]))")),
    "judge: margin doubled": j(("-margin <= low and high <= margin", "-2 * margin <= low and high <= 2 * margin")),
    "judge: tuned on validation of the first seed": j(("rates = tuned(runs)", 'rates = tuned([o for o in runs if o["seed"] == min(r["seed"] for r in runs)])')),
    "judge: steps by position (largest steps of results / 16)": j(("steps * small // large)", "steps // 16)")),
    "judge: normal quantile": j(("gap(losses[small], losses[large])", "gap(losses[small], losses[large])\n        half = (high - low) / 2 / T90[len(losses[small])] * 1.645\n        low, high = middle - half, middle + half")),
    "judge: answer kept from the call before": "last = {}\n\n" + j(("    small = min", "    if margin in last:\n        return last[margin]\n    small = min"), ("    return said\n", "    last[margin] = said\n    return said\n")),
}

# ---------------------------------------------------------------- sharpness
SH = '''import numpy as np

def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    for _ in range(steps):
        Hv = product(v)
        length = np.linalg.norm(Hv)
        if length == 0:
            return 0.0
        v = Hv / length
    return float(v @ product(v))
'''
RIGHT["sharpness"] = {
    "numpy": SH,
    "carry the product": '''import numpy as np

def sharpness(product, start, steps):
    start = np.asarray(start, dtype=float)
    v = start / np.sqrt((start**2).sum())
    w = product(v)
    while steps > 0 and np.any(w):
        v = w / np.sqrt(w.dot(w))
        w = product(v)
        steps -= 1
    return np.dot(v, w)
''',
    "math, loops": '''import math, numpy as np

def sharpness(product, start, steps):
    unit = lambda some: np.array([x / math.hypot(*some) for x in some])
    v = unit([float(x) for x in start])
    for _ in range(steps):
        w = product(v)
        if all(x == 0 for x in w):
            return 0
        v = unit(w)
    return math.fsum(a * b for a, b in zip(v, product(v)))
''',
    "torch inside": '''import torch, numpy as np

def sharpness(product, start, steps):
    v = torch.tensor(np.array(start), dtype=torch.float64)
    v = torch.nn.functional.normalize(v, dim=0, eps=0.0)
    for _ in range(steps):
        w = torch.tensor(product(v.numpy()))
        if not w.any():
            return 0.0
        v = w / w.norm()
    return torch.dot(v, torch.tensor(product(v.numpy())))
''',
}


def s(*pairs):
    return sub(SH, *pairs)


WRONG["sharpness"] = {
    "length of the last product: no sign": s(("float(v @ product(v))", "float(np.linalg.norm(product(v)))")),
    "absolute value": s(("float(v @ product(v))", "abs(float(v @ product(v)))")),
    "last length inside the loop": s(("    for _", "    length = 0.0\n    for _"), ("float(v @ product(v))", "float(length)")),
    "one step too many": s(("range(steps)", "range(steps + 1)")),
    "one step too few": s(("range(steps)", "range(steps - 1)")),
    "always 100 steps": s(("range(steps)", "range(100)")),
    "start not divided": s(("start / np.linalg.norm(start)", "np.asarray(start, float)")),
    "never divided in the loop": s(("v = Hv / length", "v = Hv")),
    "divided by the largest entry": s(("length = np.linalg.norm(Hv)", "length = np.abs(Hv).max()")),
    "divided by the sum of sizes": s(("length = np.linalg.norm(Hv)", "length = np.abs(Hv).sum()")),
    "divided by the squared length": s(("length = np.linalg.norm(Hv)", "length = Hv @ Hv")),
    "zero product gives nan": s(("        if length == 0:\n            return 0.0\n", "")),
    "zero product raises": s(("            return 0.0\n", "            raise ValueError('zero')\n")),
    "zero product is skipped": s(("            return 0.0\n", "            break\n"), ("float(v @ product(v))", "float(v @ product(v)) or 1.0")),
    "small lengths count as zero, 1e-6": s(("length == 0", "length < 1e-6")),
    "small lengths count as zero, 1e-8": s(("length == 0", "length < 1e-8")),
    "small lengths count as zero, 1e-12": s(("length == 0", "length < 1e-12")),
    "allclose to zero": s(("length == 0", "np.allclose(Hv, 0)")),
    "length + 1e-8": s(("        if length == 0:\n            return 0.0\n", ""), ("Hv / length", "Hv / (length + 1e-8)")),
    "length + 1e-12": s(("        if length == 0:\n            return 0.0\n", ""), ("Hv / length", "Hv / (length + 1e-12)")),
    "zero if any entry of the product is zero": s(("length == 0", "(Hv == 0).any()")),
    "zero if the curvature v Hv is zero (the product is not)": s(("length == 0", "v @ Hv == 0")),
    "zero looked for in the first entry": s(("length == 0", "Hv[0] == 0")),
    "start changed in place": s(("start / np.linalg.norm(start)", "start.__itruediv__(np.linalg.norm(start)) if start.dtype.kind == 'f' else start / np.linalg.norm(start)")),
    "stops when it seems to have converged": s(("        v = Hv / length", "        if np.allclose(v, Hv / length, atol=0.3):\n            v = Hv / length\n            break\n        v = Hv / length")),
    "stops when it seems to have converged, 1e-3": s(("        v = Hv / length", "        if abs(abs(v @ Hv) - length) < 1e-3 * length:\n            v = Hv / length\n            break\n        v = Hv / length")),
    "own start": s(("start / np.linalg.norm(start)", "np.ones(len(start)) / len(start)**0.5")),
    "random start": s(("start / np.linalg.norm(start)", "np.random.default_rng(0).normal(size=len(start))"), ("    for _", "    v /= np.linalg.norm(v)\n    for _")),
    "largest over the steps": s(("    for _", "    best = v @ product(v)\n    for _"), ("        v = Hv / length", "        v = Hv / length\n        best = max(best, v @ product(v))"), ("float(v @ product(v))", "float(best)")),
    "before the last step": s(("    for _", "    value = v @ product(v)\n    for _"), ("        v = Hv / length", "        value = v @ Hv\n        v = Hv / length"), ("float(v @ product(v))", "float(value)")),
    "sign of the first entry": s(("float(v @ product(v))", "float(np.linalg.norm(product(v)) * np.sign(v[0] * product(v)[0]))")),
    "value and vector": s(("float(v @ product(v))", "float(v @ product(v)), v")),
    "divides by v.v twice (length of start)": s(("float(v @ product(v))", "float(v @ product(v) / np.linalg.norm(start))")),
    "float16": s(("v = Hv / length", "v = (Hv / length).astype(np.float16)")),
    "float32 vector": s(("v = Hv / length", "v = (Hv / length).astype(np.float32)")),
    "v.v of the product (largest squared)": s(("float(v @ product(v))", "float(product(v) @ product(v))")),
    "whole Hessian built and eigvalsh (not power iteration)": "import numpy as np\n\ndef sharpness(product, start, steps):\n    H = np.array([product(e) for e in np.eye(len(start))])\n    w = np.linalg.eigvalsh((H + H.T) / 2)\n    return float(w[np.abs(w).argmax()])\n",
    "largest eigenvalue, not largest in size (shift)": "import numpy as np\n\ndef sharpness(product, start, steps):\n    H = np.array([product(e) for e in np.eye(len(start))])\n    return float(np.linalg.eigvalsh((H + H.T) / 2)[-1])\n",
}

# ---------------------------------------------------------------- rescale
RE = '''def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError(f"alpha {alpha} is not above 0")
    return {"W1": weights["W1"] * alpha, "b1": weights["b1"] * alpha, "W2": weights["W2"] / alpha, "b2": weights["b2"]}
'''
RIGHT["rescale"] = {
    "plain": RE,
    "copies, loop": '''import copy

def rescale(weights, alpha):
    if alpha <= 0 or alpha != alpha:
        raise ValueError("alpha")
    new = copy.deepcopy(weights)
    for name, power in {"W1": 1, "b1": 1, "W2": -1}.items():
        new[name] = new[name] * float(alpha) ** power
    return new
''',
    "torch": '''import torch

def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError(alpha)
    t = {k: torch.tensor(v) for k, v in weights.items()}
    return {"b2": t["b2"], "W2": t["W2"].div(alpha), "b1": t["b1"].mul(alpha), "W1": t["W1"].mul(alpha)}
''',
    "lists": '''def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError(alpha)
    def times(rows, by):
        return [times(r, by) for r in rows] if hasattr(rows, "__len__") else rows * by
    factor = {"W1": alpha, "b1": alpha, "W2": 1 / alpha, "b2": 1}
    return {k: times(v, factor[k]) for k, v in weights.items()}
''',
}


def r(*pairs):
    return sub(RE, *pairs)


WRONG["rescale"] = {
    "b1 stays": r(('weights["b1"] * alpha', 'weights["b1"]')),
    "b1 divided": r(('weights["b1"] * alpha', 'weights["b1"] / alpha')),
    "b1 twice": r(('weights["b1"] * alpha', 'weights["b1"] * alpha**2')),
    "b2 divided": r(('"b2": weights["b2"]', '"b2": weights["b2"] / alpha')),
    "b2 multiplied": r(('"b2": weights["b2"]', '"b2": weights["b2"] * alpha')),
    "b2 zeroed": r(('"b2": weights["b2"]', '"b2": weights["b2"] * 0')),
    "W2 stays": r(('weights["W2"] / alpha', 'weights["W2"]')),
    "W2 multiplied": r(('weights["W2"] / alpha', 'weights["W2"] * alpha')),
    "W2 divided twice": r(('weights["W2"] / alpha', 'weights["W2"] / alpha**2')),
    "W1 divided, W2 multiplied": r(('weights["W1"] * alpha', 'weights["W1"] / alpha'), ('weights["b1"] * alpha', 'weights["b1"] / alpha'), ('weights["W2"] / alpha', 'weights["W2"] * alpha')),
    "floor division": r(('weights["W2"] / alpha', 'weights["W2"] // alpha')),
    "root of alpha": r(("    return", "    alpha = alpha**0.5\n    return")),
    "nothing changed": r((' * alpha', ""), (" / alpha", "")),
    "in place": "def rescale(weights, alpha):\n    if not alpha > 0:\n        raise ValueError(alpha)\n    weights['W1'] *= alpha\n    weights['b1'] *= alpha\n    weights['W2'] /= alpha\n    return weights\n",
    "shallow copy, in place": "def rescale(weights, alpha):\n    if not alpha > 0:\n        raise ValueError(alpha)\n    new = dict(weights)\n    new['W1'] *= alpha\n    new['b1'] *= alpha\n    new['W2'] /= alpha\n    return new\n",
    "zero passes": r(("not alpha > 0", "alpha < 0")),
    "negative passes": r(("not alpha > 0", "alpha == 0")),
    "nan passes (it is not above 0)": r(("not alpha > 0", "alpha <= 0")),
    "below 1 refused": r(("not alpha > 0", "not alpha >= 1")),
    "below 1e-6 refused": r(("not alpha > 0", "not alpha > 1e-6")),
    "above 100 refused": r(("not alpha > 0", "not 0 < alpha <= 100")),
    "fractions refused by int()": r(("not alpha > 0", "not int(alpha * 1000) > 0")),
    "absolute alpha": r(('    if not alpha > 0:\n        raise ValueError(f"alpha {alpha} is not above 0")\n', "    alpha = abs(alpha) or 1.0\n")),
    "AssertionError": r(('    if not alpha > 0:\n        raise ValueError(f"alpha {alpha} is not above 0")\n', "    assert alpha > 0\n")),
    "TypeError": r(("raise ValueError", "raise TypeError")),
    "None for a bad alpha": r(('raise ValueError(f"alpha {alpha} is not above 0")', "return None")),
    "float16 weights": r(('weights["W2"] / alpha', '(weights["W2"] / alpha).astype("float16")')),
    "rounded to three digits": r(('weights["W2"] / alpha', '(weights["W2"] / alpha).round(3)')),
    "biases left out": r((', "b1": weights["b1"] * alpha', ""), (', "b2": weights["b2"]', "")),
    "tuple": r(('{"W1": weights["W1"] * alpha, "b1": weights["b1"] * alpha, "W2": weights["W2"] / alpha, "b2": weights["b2"]}', '(weights["W1"] * alpha, weights["b1"] * alpha, weights["W2"] / alpha, weights["b2"])')),
    "W1 transposed": r(('weights["W1"] * alpha', '(weights["W1"] * alpha).T')),
    "one column of the hidden layer only": r(("    return {", "    f = __import__('numpy').ones(weights['b1'].shape); f[0] = alpha\n    return {"), ('weights["W1"] * alpha', 'weights["W1"] * f'), ('weights["b1"] * alpha', 'weights["b1"] * f'), ('weights["W2"] / alpha', 'weights["W2"] / f[:, None]')),
}

# ---------------------------------------------------------------- alpha
def a(value):
    return f"import numpy as np\n\ndef alpha_wanted():\n    return {value}\n"


RIGHT["alpha"] = {
    "read off": a("4.2"),
    "numpy": a("np.float64(4.2)"),
    "torch tensor": "import torch\n\ndef alpha_wanted():\n    return torch.tensor(4.2)\n",
    "measured": '''def alpha_wanted():
    slider = [1.3, 1.6, 1.9, 2.3, 2.7, 3.1, 3.6, 4.2, 4.8, 5.5, 6.4, 7.5]
    start = np.random.default_rng(0).normal(size=195)
    def sharp(batch, alpha):
        weights = rescale(probe.trained("noisy", batch, 640, 0.1, 0), alpha)
        return sharpness(probe.product(weights, "noisy", 0), start, 100)
    wanted = 10 * sharp(128, 1.0)
    return next(one for one in slider if sharp(8, one) > wanted)
''',
}
WRONG["alpha"] = {
    "one notch too low (9 times)": a("3.6"),
    "one notch too high": a("4.8"),
    "two too high": a("5.5"),
    "the highest": a("7.5"),
    "below 1": a("0.22"),
    "1": a("1.0"),
    "ten times its own sharpness at 1 (also 3.6 is below)": a("3.6"),
    "half way between two notches": a("4.0"),
    "3.9, where the curve crosses": a("3.9"),
    "root of ten": a("10 ** 0.5"),
    "ten": a("10"),
    "the sharpness, not alpha": a("28.86"),
    "sharpness ratio": a("28.86 / 2.5"),
    "whole number": a("4"),
    "text": a("'4.2'"),
    "list": a("[4.2]"),
    "the notch's number": a("13"),
    "batch 128's own (31.2 / 2.5) at the same notch, as pair": a("(4.2, 'batch 8')"),
    "percent": a("420"),
    "negative": a("-4.2"),
    "nan": a("float('nan')"),
    "4.19": a("4.19"),
    "4.2004": a("4.2004"),
}
