WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- times-faster
def tf(body): return "def times_faster(t0, tau, rows, pieces):\n" + "".join("    " + l + "\n" for l in body.split("\n"))
RIGHT["times-faster"] = {
 "plain": tf("return pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)"),
 "loop": tf("small = 0.0\nfor _ in range(pieces):\n    small += t0\n    for _ in range(rows):\n        small += tau\nbig = t0 + tau * (rows * pieces)\nreturn small / big"),
 "torch": "import torch\n" + tf("small = torch.full((pieces,), t0 + tau * rows, dtype=torch.float64).sum()\nreturn (small / (t0 + tau * rows * pieces)).item()"),
}
WRONG["times-faster"] = {
 "upside down": tf("return (t0 + tau * rows * pieces) / (pieces * (t0 + tau * rows))"),
 "seconds saved, not a ratio": tf("return (pieces - 1) * t0"),
 "large micro-batch has only rows rows": tf("return pieces * (t0 + tau * rows) / (t0 + tau * rows)"),
 "pieces fixed at 4": tf("return 4 * (t0 + tau * rows) / (t0 + tau * rows * 4)"),
 "rows is taken as the rows of the whole step": tf("return pieces * (t0 + tau * rows / pieces) / (t0 + tau * rows)"),
 "integer division": tf("return pieces * (t0 + tau * rows) // (t0 + tau * rows * pieces)"),
 "rows and pieces swapped": tf("return rows * (t0 + tau * pieces) / (t0 + tau * rows * pieces)"),
 "gain over 1": tf("return pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces) - 1"),
 "t0 counted once in both": tf("return (t0 + pieces * tau * rows) / (t0 + tau * rows * pieces)"),
 "t0 and tau swapped": tf("return pieces * (tau + t0 * rows) / (tau + t0 * rows * pieces)"),
 "saved share only: 1 + (pieces-1) t0 / seconds of pieces": tf("return 1 + (pieces - 1) * t0 / (pieces * (t0 + tau * rows))"),
 "never below 1 (negative t0 of a fit is possible)": tf("return max(1.0, pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces))"),
}

# ---------------------------------------------------------------- fit-step
HEAD = "import numpy as np\n\ndef fit_step(rows, seconds):\n"
def fs(body): return HEAD + "".join("    " + l + "\n" for l in body.split("\n"))
CHECK = "if len(rows) < 3 or len(set(rows)) < 2:\n    raise ValueError('too few')\n"
CORE = "b, t = np.asarray(rows, float), np.asarray(seconds, float)\n"
FIT = "n = len(b)\nS = ((b - b.mean())**2).sum()\ntau = ((b - b.mean()) * (t - t.mean())).sum() / S\nt0 = t.mean() - tau * b.mean()\n"
ERR = "s = np.sqrt(((t - t0 - tau * b)**2).sum() / (n - 2))\n"
RET = "return t0, tau, s * np.sqrt(1 / n + b.mean()**2 / S), s / np.sqrt(S)"
RIGHT["fit-step"] = {
 "numpy": fs(CHECK + CORE + FIT + ERR + RET),
 "polyfit with covariance": fs(CHECK + CORE + "(tau, t0), cov = np.polyfit(b, t, 1, cov=True)\nreturn [t0, tau, cov[1, 1]**0.5, cov[0, 0]**0.5]"),
 "loops": """import math

def fit_step(rows, seconds):
    pairs = list(zip(rows, seconds))
    n = len(pairs)
    if n < 3:
        raise ValueError(f"{n} measurements are too few")
    mb = sum(b for b, _ in pairs) / n
    mt = sum(t for _, t in pairs) / n
    S = 0.0
    cross = 0.0
    for b, t in pairs:
        S += (b - mb) ** 2
        cross += (b - mb) * (t - mt)
    if S == 0:
        raise ValueError("one size only")
    tau = cross / S
    t0 = mt - tau * mb
    rest = sum((t - t0 - tau * b) ** 2 for b, t in pairs)
    s = math.sqrt(rest / (n - 2))
    return t0, tau, s * math.sqrt(1 / n + mb * mb / S), s / math.sqrt(S)
""",
 "torch lstsq, a tensor": """import torch

def fit_step(rows, seconds):
    b = torch.tensor(rows, dtype=torch.float64)
    t = torch.tensor(seconds, dtype=torch.float64)
    if b.numel() < 3 or b.unique().numel() < 2:
        raise ValueError("three measurements of two sizes at least")
    A = torch.stack([torch.ones_like(b), b], 1)
    x = torch.linalg.lstsq(A, t[:, None]).solution[:, 0]
    s2 = ((t - A @ x) ** 2).sum() / (len(b) - 2)
    e = (s2 * torch.linalg.inv(A.T @ A).diagonal()).sqrt()
    return torch.cat([x, e])
""",
}
WRONG["fit-step"] = {
 "one measurement a size: the last": fs(CHECK + "d = dict(zip(rows, seconds))\nrows, seconds = list(d), list(d.values())\n" + CORE + FIT + "n = max(n, 3)\n" + ERR + RET),
 "mean of each size first": fs(CHECK + "d = {}\nfor x, y in zip(rows, seconds):\n    d.setdefault(x, []).append(y)\nrows, seconds = list(d), [sum(v) / len(v) for v in d.values()]\n" + CORE + FIT + "n = max(n, 3)\n" + ERR + RET),
 "n - 1": fs(CHECK + CORE + FIT + ERR.replace("n - 2", "n - 1") + RET),
 "n": fs(CHECK + CORE + FIT + ERR.replace("(n - 2)", "n") + RET),
 "t0 clipped at 0": fs(CHECK + CORE + FIT + ERR + RET.replace("return t0", "return max(t0, 0.0)")),
 "t0 clipped before the residuals": fs(CHECK + CORE + FIT + "t0 = max(t0, 0)\n" + ERR + RET),
 "order of polyfit: tau, t0": fs(CHECK + CORE + FIT + ERR + "return tau, t0, s / np.sqrt(S), s * np.sqrt(1 / n + b.mean()**2 / S)"),
 "errors in the other order": fs(CHECK + CORE + FIT + ERR + "return t0, tau, s / np.sqrt(S), s * np.sqrt(1 / n + b.mean()**2 / S)"),
 "e_t0 = s / sqrt(n)": fs(CHECK + CORE + FIT + ERR + "return t0, tau, s / np.sqrt(n), s / np.sqrt(S)"),
 "e_t0 without 1 / n": fs(CHECK + CORE + FIT + ERR + "return t0, tau, s * b.mean() / np.sqrt(S), s / np.sqrt(S)"),
 "e_t0 with mean(b^2) for mean(b)^2": fs(CHECK + CORE + FIT + ERR + "return t0, tau, s * np.sqrt(1 / n + (b**2).mean() / S), s / np.sqrt(S)"),
 "variances, no root": fs(CHECK + CORE + FIT + ERR + "return t0, tau, s**2 * (1 / n + b.mean()**2 / S), s**2 / S"),
 "two points pass": fs("if len(set(rows)) < 2:\n    raise ValueError('x')\n" + CORE + FIT + ERR.replace("(n - 2)", "max(n - 2, 1)") + RET),
 "one size gives nan": fs("if len(rows) < 3:\n    raise ValueError('x')\n" + CORE + FIT + ERR + RET),
 "three sizes are demanded": fs("if len(set(rows)) < 3:\n    raise ValueError('x')\n" + CORE + FIT + ERR + RET),
 "more than three are demanded": fs("if len(rows) <= 3 or len(set(rows)) < 2:\n    raise ValueError('x')\n" + CORE + FIT + ERR + RET),
 "assert in place of ValueError": fs("assert len(rows) >= 3 and len(set(rows)) > 1\n" + CORE + FIT + ERR + RET),
 "rows and seconds sorted apart": fs(CHECK + "rows, seconds = sorted(rows), sorted(seconds)\n" + CORE + FIT + ERR + RET),
 "line through first and last": fs(CHECK + CORE + FIT + "tau = (t[-1] - t[0]) / ((b[-1] - b[0]) or 1)\nt0 = t[0] - tau * b[0]\n" + ERR + RET),
 "relative least squares (weight 1 / t)": fs(CHECK + CORE + "n = len(b)\n(tau, t0), cov = np.polyfit(b, t, 1, w=1 / t, cov=True)\nreturn t0, tau, cov[1, 1]**0.5, cov[0, 0]**0.5"),
 "two standard errors": fs(CHECK + CORE + FIT + ERR + "return t0, tau, 2 * s * np.sqrt(1 / n + b.mean()**2 / S), 2 * s / np.sqrt(S)"),
 "inputs sorted in place (as pairs)": fs(CHECK + "pairs = sorted(zip(rows, seconds))\nrows[:] = [p[0] for p in pairs]\nseconds[:] = [p[1] for p in pairs]\n" + CORE + FIT + ERR + RET),
}

# ---------------------------------------------------------------- full-rows
def fr(v): return f"def full_rows():\n    return {v}\n"
RIGHT["full-rows"] = {
 "number": fr("19"),
 "counted up": """def full_rows():
    rows = 1
    while True:
        T, K, N = 20 * rows, 2048, 8192
        if T * K * N / (T * K + K * N + T * N) >= 989.4e12 / 3.35e12:
            return rows
        rows += 1
""",
 "closed form": """import math

def full_rows():
    tokens = 1 / (3.35 / 989.4 - 1 / 2048 - 1 / 8192)
    return math.ceil(tokens / 20)
""",
 "numpy": """import numpy as np

def full_rows():
    rows = np.arange(1, 49)
    T = 20.0 * rows
    return rows[1 / (1 / T + 1 / 2048 + 1 / 8192) >= 989.4 / 3.35][0]
""",
}
WRONG["full-rows"] = {
 "one too few: 360 tokens are not yet there": fr("18"),
 "tokens, not rows": fr("380"),
 "tokens to the ridge": fr("361"),
 "ridge taken as tokens: 295 / 20": fr("15"),
 "of the 4,096 example: 345 / 20": fr("18 if 345 / 20 > 17 else 17"),
 "one too many": fr("20"),
 "layer 1,024 x 4,096": fr("24"),
 "layer 4,096 x 16,384": fr("17"),
 "device A100": fr("9"),
 "not rounded up": fr("1 / (3.35 / 989.4 - 1 / 2048 - 1 / 8192) / 20"),
 "the slider as it opens": fr("25"),
 "first row of the rest: a range": fr("[19, 48]"),
}

# ---------------------------------------------------------------- useful-rate
def ur(body): return "import numpy as np\nimport statistics\n\ndef useful_rate(seen, warmup):\n" + "".join("    " + l + "\n" for l in body.split("\n"))
RIGHT["useful-rate"] = {
 "zip": ur("kept = seen[warmup:]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "loop": ur("tokens = seconds = 0\nfor number, (docs, slots, real, took) in enumerate(seen):\n    if number < warmup:\n        continue\n    tokens += real\n    seconds += took\nreturn tokens / seconds"),
 "numpy": ur("a = np.array(seen, dtype=float)[warmup:]\nreturn a[:, 2].sum() / a[:, 3].sum()"),
 "torch": "import torch\n" + ur("a = torch.tensor(seen, dtype=torch.float64)[warmup:].sum(0)\nreturn a[2] / a[3]"),
}
WRONG["useful-rate"] = {
 "slots": ur("kept = seen[warmup:]\nreturn sum(s[1] for s in kept) / sum(s[3] for s in kept)"),
 "documents": ur("kept = seen[warmup:]\nreturn sum(s[0] for s in kept) / sum(s[3] for s in kept)"),
 "mean of rates": ur("kept = seen[warmup:]\nreturn sum(s[2] / s[3] for s in kept) / len(kept)"),
 "median of rates": ur("return statistics.median(s[2] / s[3] for s in seen[warmup:])"),
 "harmonic mean of rates, zero steps left out": ur("return statistics.harmonic_mean([s[2] / s[3] for s in seen[warmup:] if s[2]])"),
 "warm-up seconds counted": ur("return sum(s[2] for s in seen[warmup:]) / sum(s[3] for s in seen)"),
 "warm-up tokens counted": ur("return sum(s[2] for s in seen) / sum(s[3] for s in seen[warmup:])"),
 "warm-up forgotten": ur("return sum(s[2] for s in seen) / sum(s[3] for s in seen)"),
 "one too many dropped": ur("kept = seen[warmup + 1:] or seen[-1:]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "one too few dropped": ur("kept = seen[max(warmup - 1, 0):]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "warm-up cut from the end": ur("kept = seen[:len(seen) - warmup]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "kept by seen[-k:]": ur("kept = seen[-warmup:]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "equal steps counted once": ur("kept = set(seen[warmup:])\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "steps without real tokens skipped": ur("kept = [s for s in seen[warmup:] if s[2]]\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "list is emptied in place": ur("del seen[:warmup]\nreturn sum(s[2] for s in seen) / sum(s[3] for s in seen)"),
 "whole number": ur("kept = seen[warmup:]\nreturn sum(s[2] for s in kept) // sum(s[3] for s in kept)"),
 "int array cuts the seconds": ur("a = np.array(seen[warmup:]).astype(int)\nreturn a[:, 2].sum() / max(a[:, 3].sum(), 1)"),
 "half precision": ur("a = np.array(seen[warmup:], dtype=np.float16).sum(0)\nreturn float(a[2]) / float(a[3])"),
 "seconds of warm-up: skipped until that many seconds": ur("kept, passed = [], 0.0\nfor s in seen:\n    if passed >= warmup:\n        kept.append(s)\n    passed += s[3]\nkept = kept or seen\nreturn sum(s[2] for s in kept) / sum(s[3] for s in kept)"),
 "state between calls": "total = [0, 0.0]\n" + ur("for s in seen[warmup:]:\n    total[0] += s[2]\n    total[1] += s[3]\nreturn total[0] / total[1]"),
}

# ---------------------------------------------------------------- mfu
def mf(body): return "import numpy as np\n\ndef mfu(tokens_per_second, parameters, layers, width, length, peak):\n" + "".join("    " + l + "\n" for l in body.split("\n"))
RIGHT["mfu"] = {
 "tuple": mf("return tuple(tokens_per_second * (6 * parameters + a * layers * width * length) / peak for a in (0, 6, 12))"),
 "loop": mf("found = []\nfor a in [0, 6, 12]:\n    per_token = 6 * parameters\n    for _ in range(layers):\n        per_token += a * width * length\n    found.append(per_token * tokens_per_second / peak)\nreturn found"),
 "numpy": mf("return tokens_per_second / peak * (6.0 * parameters + np.array([0, 6, 12]) * layers * width * length)"),
 "torch": "import torch\n" + mf("a = torch.tensor([0, 6, 12], dtype=torch.float64)\nreturn tokens_per_second * (6 * parameters + a * layers * width * length) / peak"),
}
def many(a, front="6 * parameters", att="a * layers * width * length", after="tokens_per_second / peak"):
    return mf(f"return [({front} + {att}) * {after} for a in {a}]")
WRONG["mfu"] = {
 "order turned": many("(12, 6, 0)"),
 "causal and all pairs swapped": many("(0, 12, 6)"),
 "forward only": many("(0, 6, 12)", "2 * parameters"),
 "8 N: recomputation counted": many("(0, 6, 12)", "8 * parameters"),
 "in percent": many("(0, 6, 12)", after="100 * tokens_per_second / peak"),
 "length forgotten": many("(0, 6, 12)", att="a * layers * width"),
 "length squared (a row, not a token)": many("(0, 6, 12)", att="a * layers * width * length**2"),
 "layers forgotten": many("(0, 6, 12)", att="a * width * length"),
 "width squared": many("(0, 6, 12)", att="a * layers * width**2"),
 "attention times 3 again": many("(0, 6, 12)", att="3 * a * layers * width * length"),
 "peak in TFLOP/s": many("(0, 6, 12)", after="tokens_per_second / (peak * 1e12)"),
 "steps in place of tokens: times length": many("(0, 6, 12)", after="tokens_per_second * length / peak"),
 "causal with the diagonal: length + 1": mf("N = 6 * parameters\nd = layers * width\nreturn [x * tokens_per_second / peak for x in (N, N + 6 * d * (length + 1), N + 12 * d * length)]"),
 "attention only, without 6 N": many("(0, 6, 12)", "0"),
 "two of three": many("(6, 12)"),
 "rounded to a percent": mf("return [round((6 * parameters + a * layers * width * length) * tokens_per_second / peak, 2) for a in (0, 6, 12)]"),
 "percentage over shown: never more than 1": mf("return [min(1.0, (6 * parameters + a * layers * width * length) * tokens_per_second / peak) for a in (0, 6, 12)]"),
 "one row fewer: length - 1 predictions": many("(0, 6, 12)", att="a * layers * width * (length - 1)"),
}

# ---------------------------------------------------------------- timer-test
def tt(cases, close="abs(got - want) < 1e-6 * want", extra="", want="(launch + calls * seconds) / calls"):
    return f"""def timer_test(timer):
    for seconds, launch, first, calls in {cases}:
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=first)
        got = timer(call, wait, clock, calls)
        want = {want}
        assert {close}, (got, want){extra}
"""
RIGHT["timer-test"] = {
 "loop of devices": tt("((0.5, 0.1, 9.0, 4), (0.5, 0.001, 3.0, 1), (0.02, 0.01, 0.0, 64), (2.0, 0.5, 20.0, 7))"),
 "numpy isclose, exhaustive": """import itertools
import numpy as np

def timer_test(timer):
    for seconds, share, first, calls in itertools.product((0.01, 0.3, 2.0), (0.05, 0.6), (0.0, 0.4, 50.0), (1, 2, 5, 16)):
        launch = share * seconds
        device = probe.device(seconds=seconds, launch=launch, first=first)
        assert np.isclose(timer(*device, calls), (launch + calls * seconds) / calls, rtol=1e-6)
""",
 "counts the calls and waits as well": """def timer_test(timer):
    for seconds, launch, first, calls in ((0.4, 0.3, 7.0, 5), (0.1, 0.02, 2.0, 3), (0.4, 0.3, 7.0, 1)):
        call, wait, clock = probe.device(seconds, launch, first)
        made = []

        def counted():
            made.append(1)
            return call()
        got = timer(counted, wait, clock, calls)
        assert calls + 1 <= len(made) <= calls + 2
        assert abs(got - (launch + calls * seconds) / calls) <= 1e-4 * got
""",
}
WRONG["timer-test"] = {
 "no launch: a wait after every call passes": tt("((0.5, 0.0, 9.0, 4), (0.2, 0.0, 3.0, 7))"),
 "no slow first call": tt("((0.5, 0.1, 0.0, 4), (0.2, 0.1, 0.0, 7))"),
 "one call only": tt("((0.5, 0.1, 9.0, 1),)"),
 "tolerance of 10 %": tt("((0.5, 0.01, 9.0, 10),)", close="abs(got - want) < 0.1 * want"),
 "equality of floats": tt("((0.5, 0.1, 9.0, 3), (0.1, 0.03, 9.0, 7))", close="got == want"),
 "wants the work alone": tt("((0.5, 0.1, 9.0, 4),)", close="abs(got - seconds) < 1e-6"),
 "wants launch + seconds of each call": tt("((0.5, 0.1, 9.0, 4),)", want="launch + seconds"),
 "only too short is refused": tt("((0.5, 0.1, 9.0, 4), (0.2, 0.05, 1.0, 8))", close="got >= want * 0.999"),
 "only too long is refused": tt("((0.5, 0.1, 9.0, 4), (0.2, 0.05, 1.0, 8))", close="got <= want * 1.001"),
 "only that it is positive and not above one call": tt("((0.5, 0.1, 9.0, 4),)", close="0 < got <= seconds + launch"),
 "returns the truth, no assert": "def timer_test(timer):\n    call, wait, clock = probe.device(0.5, 0.1, 9.0)\n    return abs(timer(call, wait, clock, 4) - 2.1 / 4) < 1e-6\n",
 "real time.sleep as device": "import time\n\ndef timer_test(timer):\n    got = timer(lambda: time.sleep(0.01), lambda: None, time.perf_counter, 4)\n    assert 0.009 < got < 0.02\n",
 "the device is warmed by the test": """def timer_test(timer):
    call, wait, clock = probe.device(0.5, 0.1, 9.0)
    call()
    wait()
    got = timer(call, wait, clock, 4)
    assert abs(got - 2.1 / 4) < 1e-6
""",
 "a second measurement on a warm device only": """def timer_test(timer):
    call, wait, clock = probe.device(0.5, 0.1, 9.0)
    timer(call, wait, clock, 4)
    got = timer(call, wait, clock, 4)
    assert abs(got - 2.1 / 4) < 1e-6
""",
 "no exactly one warm-up: two warm-ups are refused": """def timer_test(timer):
    call, wait, clock = probe.device(0.5, 0.1, 9.0)
    made = []
    got = timer(lambda: (made.append(1), call()), wait, clock, 4)
    assert abs(got - 2.1 / 4) < 1e-6
    assert len(made) == 5
""",
}

# ---------------------------------------------------------------- benchmark
COMP = """

def compared(found):
    first = next(iter(found.values()))
    result = {}
    for name, own in found.items():
        ratios = sorted(a / b for a, b in zip(own, first))
        half = len(ratios) // 2
        middle = (ratios[half - 1] + ratios[half]) / 2 if len(ratios) % 2 == 0 else ratios[half]
        result[name] = ratios[0], middle, ratios[-1]
    return result
"""
BASE = '''import time
from statistics import median


def stretch(call, calls, wait, clock):
    wait()
    begin = clock()
    for _ in range(calls):
        call()
    wait()
    return clock() - begin


def benchmark(settings, wait, clock, rounds, least):
    if rounds < 4 or rounds % 2:
        raise ValueError(f"rounds must be even and at least 4, not {rounds}")
    counts = {}
    for name, call in settings.items():
        call()
        calls = 1
        while stretch(call, calls, wait, clock) < least:
            calls *= 2
        counts[name] = calls
    found = {name: [] for name in settings}
    order = list(settings)
    for _ in range(rounds):
        for name in order:
            found[name].append(stretch(settings[name], counts[name], wait, clock) / counts[name])
        order = order[::-1]
    return found
'''
def change(*pairs, comp=COMP, base=BASE):
    code = base
    for old, new in pairs:
        assert old in code, old
        code = code.replace(old, new)
    return code + comp
NUMPY = '''import numpy as np


def benchmark(settings, wait, clock, rounds, least):
    if rounds not in range(4, 10**6, 2):
        raise ValueError("bad number of rounds: %s" % rounds)
    names = list(settings)

    def timed(name, calls):
        wait(); start = clock()
        [settings[name]() for _ in range(calls)]
        wait(); return clock() - start

    for name in names:
        settings[name]()
        wait()
    calls = np.ones(len(names), dtype=int)
    for i, name in enumerate(names):
        while timed(name, calls[i]) < least:
            calls[i] *= 2
    table = np.zeros((rounds, len(names)))
    for r in range(rounds):
        for i in (reversed(range(len(names))) if r % 2 == 0 else range(len(names))):
            table[r, i] = timed(names[i], calls[i]) / calls[i]
    return {name: table[:, i].tolist() for i, name in enumerate(names)}


def compared(found):
    table = np.array(list(found.values()))
    ratios = table / table[0]
    return {name: (r.min(), np.median(r), r.max()) for name, r in zip(found, ratios)}
'''
CLASS = '''import statistics
import torch


class Stretch:
    def __init__(self, call, wait, clock):
        self.call, self.wait, self.clock, self.calls = call, wait, clock, 1

    def run(self):
        self.wait()
        begin = self.clock()
        for _ in range(self.calls):
            self.call()
        self.wait()
        return self.clock() - begin


def benchmark(settings, wait, clock, rounds, least):
    if rounds % 2 == 1 or rounds < 4:
        raise ValueError(rounds)
    all_of = {name: Stretch(call, wait, clock) for name, call in settings.items()}
    for one in all_of.values():
        one.call()
    for one in all_of.values():
        while one.run() < least:
            one.calls *= 2
    table = {name: torch.zeros(rounds, dtype=torch.float64) for name in settings}
    for pair in range(rounds // 2):
        for number, order in enumerate((list(all_of), list(all_of)[::-1])):
            for name in order:
                table[name][2 * pair + number] = all_of[name].run() / all_of[name].calls
    return {name: own.tolist() for name, own in table.items()}


def compared(found):
    names = list(found)
    result = {}
    for name in names:
        ratios = [found[name][i] / found[names[0]][i] for i in range(len(found[name]))]
        result[name] = [min(ratios), statistics.median(ratios), max(ratios)]
    return result
'''
RIGHT["benchmark"] = {"plain": BASE + COMP, "numpy, reverse first": NUMPY, "class, torch, lists": CLASS}
LOOP = "        for name in order:\n            found[name].append(stretch(settings[name], counts[name], wait, clock) / counts[name])\n        order = order[::-1]\n"
ST = "    wait()\n    begin = clock()\n    for _ in range(calls):\n        call()\n    wait()\n    return clock() - begin\n"
FIND = "        call()\n        calls = 1\n        while stretch(call, calls, wait, clock) < least:\n            calls *= 2\n        counts[name] = calls\n"
def comp(ratios="a / b for a, b in zip(own, first)", ret="ratios[0], median(ratios), ratios[-1]", first="next(iter(found.values()))", pre="", items="found.items()"):
    return f"\n\ndef compared(found):\n    first = {first}\n    result = {{}}\n    for name, own in {items}:\n{pre}        ratios = sorted({ratios})\n        result[name] = {ret}\n    return result\n"
WRONG["benchmark"] = {
 "no wait before the clock": change((ST, ST[len("    wait()\n"):])),
 "clock read before the first wait": change((ST, ST.replace("    wait()\n    begin = clock()\n", "    begin = clock()\n    wait()\n", 1))),
 "no wait at the end": change((ST, ST.replace("    wait()\n    return", "    return"))),
 "wait after the end clock": change((ST, ST.replace("    wait()\n    return clock() - begin", "    end = clock()\n    wait()\n    return end - begin"))),
 "a wait after every call": change(("        call()\n    wait()\n", "        call()\n        wait()\n")),
 "order is never reversed": change(("        order = order[::-1]\n", "")),
 "blocks: all rounds of one setting": change(("    for _ in range(rounds):\n        for name in order:\n", "    for name in order:\n        for _ in range(rounds):\n"), ("        order = order[::-1]\n", "")),
 "order rotates": change(("order = order[::-1]", "order = order[1:] + order[:1]")),
 "shuffled order": change(("        order = order[::-1]\n", "        random.shuffle(order)\n"), base="import random\n" + BASE),
 "reversed after two rounds": change(("    for _ in range(rounds):\n        for name", "    for number in range(rounds):\n        for name"), ("        order = order[::-1]", "        if number % 2:\n            order = order[::-1]")),
 "reverse by sorted names": change(("order = order[::-1]", "order = sorted(order, reverse=order[0] != max(order))")),
 "the number of the first setting for all": change(("        calls = 1\n        while stretch(call, calls, wait, clock) < least:\n            calls *= 2\n", "        calls = next(iter(counts.values()), 1)\n        while not counts and stretch(call, calls, wait, clock) < least:\n            calls *= 2\n")),
 "the number is found anew in every round": change(("            found[name].append(stretch(settings[name], counts[name], wait, clock) / counts[name])", "            calls = 1\n            while (took := stretch(settings[name], calls, wait, clock)) < least:\n                calls *= 2\n            found[name].append(took / calls)")),
 "warm-up is the first trial": change(("        call()\n        calls = 1\n", "        calls = 1\n")),
 "only the first setting is warmed": change(("        call()\n        calls = 1\n", "        if not counts:\n            call()\n        calls = 1\n")),
 "warm-up in every round counts as call": change((ST, ST.replace("    begin = clock()\n", "    call()\n    begin = clock()\n"))),
 "perf_counter": change(("begin = clock()", "begin = time.perf_counter()"), ("clock() - begin", "time.perf_counter() - begin")),
 "seconds of the stretch": change((" / counts[name])", ")")),
 "calls per second": change(("stretch(settings[name], counts[name], wait, clock) / counts[name]", "counts[name] / stretch(settings[name], counts[name], wait, clock)")),
 "number from one timed call by division": change(("        while stretch(call, calls, wait, clock) < least:\n            calls *= 2\n", "        one = stretch(call, 1, wait, clock)\n        calls = max(1, int(np.ceil(least / one))) if one else 1\n"), base="import numpy as np\n" + BASE),
 "begins with 2 calls": change(("calls = 1\n", "calls = 2\n")),
 "adds one, does not double": change(("calls *= 2", "calls += 1")),
 "doubles while equal to least": change(("wait, clock) < least", "wait, clock) <= least")),
 "stops at half of least": change(("wait, clock) < least", "wait, clock) < least / 2")),
 "doubles once more for safety": change(("counts[name] = calls\n", "counts[name] = 2 * calls\n")),
 "odd rounds pass": change(("rounds < 4 or rounds % 2", "rounds < 4")),
 "two rounds pass": change(("rounds < 4 or rounds % 2", "rounds < 2 or rounds % 2")),
 "zero rounds pass": change(("rounds < 4 or rounds % 2", "rounds % 2 or 0 < rounds < 4")),
 "the number is not named": change(('f"rounds must be even and at least 4, not {rounds}"', '"rounds must be even and at least 4"')),
 "numbers kept between calls": change(("    counts = {}\n", ""), ("        call()\n        calls = 1\n", "        if name in counts:\n            continue\n        call()\n        calls = 1\n"), ("def benchmark(", "counts = {}\n\n\ndef benchmark(")),
 "the trial is the first round": change(("    for _ in range(rounds):\n        for name", "    for name, call in settings.items():\n        found[name].append(trial[name])\n    order = order[::-1]\n    for _ in range(rounds - 1):\n        for name"), ("        while stretch(call, calls, wait, clock) < least:", "        while (took := stretch(call, calls, wait, clock)) < least:"), ("        counts[name] = calls\n", "        counts[name] = calls\n        trial[name] = took / calls\n"), ("    counts = {}\n", "    counts, trial = {}, {}\n")),
 "best of the rounds so far": change(("    return found\n", "    return {name: [min(own)] * rounds for name, own in found.items()}\n")),
 "one number for all: that of the slowest": change(("    found = {name", "    counts = dict.fromkeys(counts, min(counts.values()))\n    found = {name")),
 "one number for all: that of the fastest": change(("    found = {name", "    counts = dict.fromkeys(counts, max(counts.values()))\n    found = {name")),
 "compared: upside down": change(comp=comp("b / a for a, b in zip(own, first)")),
 "compared: ratio of medians": change(comp=comp(ret="ratios[0], median(own) / median(first), ratios[-1]")),
 "compared: upper middle": change(comp=comp(ret="ratios[0], ratios[len(ratios) // 2], ratios[-1]")),
 "compared: first by alphabet": change(comp=comp(first="found[min(found)]")),
 "compared: to the fastest setting": change(comp=comp(first="min(found.values(), key=median)")),
 "compared: lists sorted before": change(comp=comp("a / b for a, b in zip(sorted(own), sorted(first))")),
 "compared: lists sorted in place": change(comp=comp(pre="        own.sort()\n")),
 "compared: the first setting is left out": change(comp=comp(items="list(found.items())[1:]")),
 "compared: lowest, highest, median": change(comp=comp(ret="ratios[0], ratios[-1], median(ratios)")),
 "compared: to the setting before": change(comp=comp().replace("    return result", "        first = own\n    return result").replace("        first = own\n    return", "        first = own\n    return")),
 "compared: first round dropped": change(comp=comp("a / b for a, b in list(zip(own, first))[1:]")),
 "compared: one setting gives nothing": change(comp=comp().replace("    result = {}\n", "    result = {}\n    if len(found) < 2:\n        return {}\n")),
}
