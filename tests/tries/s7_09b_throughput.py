import runpy
_p = runpy.run_path(str(__import__("pathlib").Path(__file__).with_name("s7_09_throughput.py")))
change, BASE, COMP, fs, CHECK, tt, comp, ST, ur, tf = (_p[k] for k in ("change", "BASE", "COMP", "fs", "CHECK", "tt", "comp", "ST", "ur", "tf"))
W = "while stretch(call, calls, wait, clock) < least"
WRONG = {"benchmark": {
 "stops at a tenth of least": change(("wait, clock) < least", "wait, clock) < least / 10")),
 "least is the time of all rounds together": change(("wait, clock) < least", "wait, clock) < least / rounds")),
 "trials add up: one clock for the whole search": change(("        calls = 1\n        while stretch(call, calls, wait, clock) < least:\n            calls *= 2\n",
   "        wait()\n        begin = clock()\n        calls = 1\n        while True:\n            for _ in range(calls):\n                call()\n            wait()\n            if clock() - begin >= least:\n                break\n            calls *= 2\n")),
 "calls until least has passed, counted anew each round": change(("            found[name].append(stretch(settings[name], counts[name], wait, clock) / counts[name])",
   "            wait()\n            begin = clock()\n            n = 0\n            while clock() - begin < least:\n                settings[name]()\n                n += 1\n            wait()\n            found[name].append((clock() - begin) / n)")),
 "a warm-up call, waited for, before every stretch": change((ST, "    call()\n" + ST)),
 "trial without a wait at its end": change(("        while stretch(call, calls, wait, clock) < least:\n", "        while launched(call, calls, wait, clock) < least:\n"), base=BASE.replace("def benchmark", "def launched(call, calls, wait, clock):\n    wait()\n    begin = clock()\n    for _ in range(calls):\n        call()\n    return clock() - begin\n\n\ndef benchmark")),
 "rounds are pairs": change(("        order = order[::-1]\n", "        for name in order[::-1]:\n            found[name].append(stretch(settings[name], counts[name], wait, clock) / counts[name])\n")),
 "mean of each round and its reverse": change(("    return found\n", "    return {n: [(o[i - i % 2] + o[i - i % 2 + 1]) / 2 for i in range(rounds)] for n, o in found.items()}\n")),
 "names in reverse order": change(("    found = {name: [] for name in settings}", "    found = {name: [] for name in reversed(list(settings))}")),
 "settings used up": change(("    return found\n", "    settings.clear()\n    return found\n")),
 "three to be enough": change(("rounds < 4 or rounds % 2", "rounds < 3")),
 "one number for all: doubled until the first lasts, then for the next": change(("        calls = 1\n        while", "        calls = max([1, *counts.values()])\n        while")),
 "median over rounds only": change(("    return found\n", "    return {name: [median(own)] for name, own in found.items()}\n")),
 "number found anew in every second round": change(("        order = order[::-1]\n", "        order = order[::-1]\n        for name, call in settings.items():\n            counts[name] = 1\n            while stretch(call, counts[name], wait, clock) < least:\n                counts[name] *= 2\n")),
 "compared: lower middle": change(comp=comp(ret="ratios[0], ratios[(len(ratios) - 1) // 2], ratios[-1]")),
 "compared: difference to the first": change(comp=comp("a - b for a, b in zip(own, first)")),
 "compared: mean of the ratios": change(comp=comp(ret="ratios[0], sum(ratios) / len(ratios), ratios[-1]")),
}, "timer-test": {
 "return in the loop: only the first case": tt("((0.5, 0.1, 0.0, 1), (0.5, 0.1, 9.0, 4))").rstrip("\n") + "\n        return\n",
 "launch longer than the work": tt("((0.1, 0.5, 9.0, 4),)"),
 "seconds and launch exchanged in the device": tt("((0.1, 0.5, 9.0, 4),)").replace("seconds=seconds, launch=launch", "seconds=launch, launch=seconds"),
 "want = launch / calls + seconds, but calls fixed at 2": tt("((0.5, 0.1, 9.0, 2),)", close="abs(got - want) < 0.06"),
 "tolerance 1 %": tt("((0.5, 0.1, 9.0, 4),)", close="abs(got - want) < 0.01 * want"),
 "tolerance 5 %, many calls": tt("((0.5, 0.02, 9.0, 32),)", close="abs(got - want) < 0.05 * want"),
 "the error is swallowed": "def timer_test(timer):\n    try:\n        got = timer(*probe.device(0.5, 0.1, 9.0), 4)\n        assert abs(got - 0.525) < 1e-6\n    except AssertionError:\n        print('wrong')\n",
 "prints": "def timer_test(timer):\n    got = timer(*probe.device(0.5, 0.1, 9.0), 4)\n    if abs(got - 0.525) > 1e-6:\n        print('wrong', got)\n",
}, "fit-step": {
 "refuses four and fewer sizes of one measurement": fs("if len(rows) - len(set(rows)) < 0 or len(rows) < 3 or len(set(rows)) < 2:\n    raise ValueError('x')\nimport statistics\nd = {}\nfor x, y in zip(rows, seconds):\n    d.setdefault(x, []).append(y)\nrows = list(d)\nseconds = [statistics.median(v) for v in d.values()]\n" + _p["CORE"] + _p["FIT"] + "n = max(n, 3)\n" + _p["ERR"] + _p["RET"]),
 "integer rows of 8 bits": fs(CHECK + "b, t = np.asarray(rows, np.uint8).astype(float), np.asarray(seconds, float)\n" + _p["FIT"] + _p["ERR"] + _p["RET"]),
 "float32": fs(CHECK + "b, t = np.asarray(rows, np.float32), np.asarray(seconds, np.float32)\n" + _p["FIT"] + _p["ERR"] + _p["RET"]),
 "half precision": fs(CHECK + "b, t = np.asarray(rows, np.float16), np.asarray(seconds, np.float16)\n" + _p["FIT"] + _p["ERR"] + _p["RET"]),
 "zero rows added as a measurement (0, 0)": fs(CHECK + "rows, seconds = [0, *rows], [0.0, *seconds]\n" + _p["CORE"] + _p["FIT"] + _p["ERR"] + _p["RET"]),
 "None in place of ValueError": fs("if len(rows) < 3 or len(set(rows)) < 2:\n    return None\n" + _p["CORE"] + _p["FIT"] + _p["ERR"] + _p["RET"]),
}}
RIGHT = {"fit-step": {
 "torch lstsq again, result as floats": """import torch

def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("three measurements of two sizes at least")
    b = torch.tensor(rows, dtype=torch.float64)
    t = torch.tensor(seconds, dtype=torch.float64)
    A = torch.stack([torch.ones_like(b), b], 1)
    x = torch.linalg.lstsq(A, t[:, None]).solution[:, 0]
    s2 = ((t - A @ x) ** 2).sum() / (len(b) - 2)
    e = (s2 * torch.linalg.inv(A.T @ A).diagonal()).sqrt()
    return torch.cat([x, e]).tolist()
""",
 "torch sums": """import torch

def fit_step(rows, seconds):
    b = torch.tensor(rows, dtype=torch.float64)
    t = torch.tensor(seconds, dtype=torch.float64)
    if len(b) < 3 or b.min() == b.max():
        raise ValueError("too few")
    S = ((b - b.mean()) ** 2).sum()
    tau = ((b - b.mean()) * (t - t.mean())).sum() / S
    t0 = t.mean() - tau * b.mean()
    s = (((t - t0 - tau * b) ** 2).sum() / (len(b) - 2)).sqrt()
    return t0, tau, s * (1 / len(b) + b.mean() ** 2 / S).sqrt(), s / S.sqrt()
""",
 "numpy lstsq": fs(CHECK + "b, t = np.array(rows, float), np.array(seconds, float)\nA = np.column_stack([np.ones_like(b), b])\nx = np.linalg.lstsq(A, t, rcond=None)[0]\ncov = np.linalg.inv(A.T @ A) * ((t - A @ x)**2).sum() / (len(b) - 2)\nreturn np.concatenate([x, np.sqrt(np.diag(cov))])"),
 "numpy pinv, matmul": fs(CHECK + "A = np.vander(np.array(rows, float), 2, increasing=True)\nt = np.array(seconds)\nx = np.linalg.pinv(A) @ t\nr = t - A @ x\ncov = np.linalg.pinv(A.T @ A) * (r @ r) / (len(t) - 2)\nreturn *x, *np.sqrt(np.diag(cov))"),
 "statistics": """import statistics as st

def fit_step(rows, seconds):
    if len(rows) < 3 or min(rows) == max(rows):
        raise ValueError("too few")
    tau, t0 = st.linear_regression(rows, seconds)
    n, m = len(rows), st.fmean(rows)
    S = sum((b - m) ** 2 for b in rows)
    s = (sum((t - t0 - tau * b) ** 2 for b, t in zip(rows, seconds)) / (n - 2)) ** 0.5
    return t0, tau, s * (1 / n + m * m / S) ** 0.5, s / S ** 0.5
""",
 "fractions": """from fractions import Fraction

def fit_step(rows, seconds):
    b, t = [Fraction(x) for x in rows], [Fraction(y) for y in seconds]
    n = len(b)
    if n < 3 or len(set(b)) == 1:
        raise ValueError(n)
    mb, mt = sum(b) / n, sum(t) / n
    S = sum((x - mb) ** 2 for x in b)
    tau = sum((x - mb) * (y - mt) for x, y in zip(b, t)) / S
    t0 = mt - tau * mb
    s2 = sum((y - t0 - tau * x) ** 2 for x, y in zip(b, t)) / (n - 2)
    return float(t0), float(tau), float(s2 * (Fraction(1, n) + mb**2 / S)) ** 0.5, float(s2 / S) ** 0.5
""",
}, "timer-test": {
 "assert_allclose default": "import numpy as np\n\ndef timer_test(timer):\n    for calls in (1, 3, 10):\n        np.testing.assert_allclose(timer(*probe.device(0.25, 0.125, 4.0), calls), (0.125 + 0.25 * calls) / calls)\n",
 "1e-9": tt("((0.4, 0.1, 5.0, 6), (0.4, 0.3, 2.0, 2))", close="abs(got - want) < 1e-9"),
 "raises AssertionError itself, math.isclose": "import math\n\ndef timer_test(timer):\n    for calls in range(1, 20):\n        got = timer(*probe.device(seconds=0.07, launch=0.03, first=1.0), calls)\n        if not math.isclose(got, 0.03 / calls + 0.07):\n            raise AssertionError(f'{calls} calls: {got}')\n",
 "long queue": tt("((1e-3, 5e-4, 60.0, 1000), (30.0, 20.0, 1.0, 3))", close="abs(got - want) <= 1e-5 * want"),
}, "benchmark": {
 "arrays and tensors come back": change(("    return found\n", "    return {name: np.array(own) for name, own in found.items()}\n"), comp="""

def compared(found):
    names = list(found)
    all_of = torch.tensor([list(map(float, found[name])) for name in names], dtype=torch.float64)
    ratios = all_of / all_of[0]
    return {name: torch.stack([r.min(), r.quantile(0.5), r.max()]) for name, r in zip(names, ratios)}
"""),
 "doubling of all in turns, warm-up waited for": '''import itertools
import statistics


def benchmark(settings, wait, clock, rounds, least):
    if rounds % 2 != 0 or rounds < 4:
        raise ValueError("rounds=%d: even and 4 at least" % rounds)

    def stretch(one, n):
        wait()
        start = clock()
        for _ in itertools.repeat(None, n):
            one()
        wait()
        return clock() - start

    def enough(one, n=1):
        return n if stretch(one, n) >= least else enough(one, 2 * n)

    for one in settings.values():
        one()
        wait()
    n = {name: enough(one) for name, one in settings.items()}
    names = tuple(settings)
    log = []
    for r in range(rounds):
        log.append({name: stretch(settings[name], n[name]) / n[name] for name in (names if r % 2 else names[::-1])})
    return {name: [one[name] for one in log] for name in names}


def compared(found):
    base = list(found.values())[0]
    return {name: (min(q), statistics.median(q), max(q)) for name, own in found.items()
            for q in [[x / y for x, y in zip(own, base)]]}
''',
}}
