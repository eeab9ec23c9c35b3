"""Answers to 09_throughput that look right and must be refused, and right ones by other ways."""

SLOW = True  # minutes: `make slow` tries this bank

FIT = """
def fit_step(rows, seconds):
    n = len(rows)
    if n < 3 or len(set(rows)) < 2:
        raise ValueError("three measurements of two sizes are needed")
    b, t = sum(rows) / n, sum(seconds) / n
    spread = sum((x - b) ** 2 for x in rows)
    tau = sum((x - b) * (y - t) for x, y in zip(rows, seconds)) / spread
    t0 = t - tau * b
    left = [y - t0 - tau * x for x, y in zip(rows, seconds)]
    noise = (sum(r * r for r in left) / (n - 2)) ** 0.5
    return t0, tau, noise * (1 / n + b * b / spread) ** 0.5, noise / spread**0.5
"""
RATE = """
def useful_rate(seen, warmup):
    tokens = seconds = 0
    for step in seen[warmup:]:
        tokens += step[2]
        seconds += step[3]
    return tokens / seconds
"""
MFU = """
def mfu(tokens_per_second, parameters, layers, width, length, peak):
    pairs = layers * width * length
    needed = 6 * parameters, 6 * parameters + 6 * pairs, 6 * parameters + 12 * pairs
    return tuple(tokens_per_second * one / peak for one in needed)
"""
COMPARED = """

def compared(found):
    first = list(found.values())[0]
    result = {}
    for name, own in found.items():
        ratios = sorted(a / b for a, b in zip(own, first))
        n = len(ratios)
        result[name] = ratios[0], (ratios[n // 2 - 1] + ratios[n // 2]) / 2, ratios[-1]
    return result
"""
BENCH = """
def benchmark(settings, wait, clock, rounds, least):
    if rounds < 4 or rounds % 2:
        raise ValueError(f"rounds: {rounds}")
    names = list(settings)
    for name in names:
        settings[name]()
    wait()
    many = {}
    for name in names:
        n = 1
        while stretch(settings[name], n, wait, clock) < least:
            n = 2 * n
        many[name] = n
    found = {name: [] for name in names}
    for number in range(rounds):
        for name in names:
            seconds = stretch(settings[name], many[name], wait, clock)
            found[name].append(seconds / many[name])
        names = names[::-1]
    return found


def stretch(call, n, wait, clock):
    wait()
    begin = clock()
    for _ in range(n):
        call()
    wait()
    return clock() - begin
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def bench(*changes):
    return changed(BENCH, *changes) + COMPARED


def compare(*changes):
    return BENCH + changed(COMPARED, *changes)


def times(result):
    return f"def times_faster(t0, tau, rows, pieces):\n    return {result}"


def full(rows):
    return f"def full_rows():\n    return {rows}"


def timer(*lines):
    return "\n    ".join(["def timer_test(timer):", *lines])


WRONG = {
    "times-faster": {
        "upside down": (
            times("(t0 + tau*rows*pieces) / (pieces * (t0 + tau*rows))"),
            "upside down",
        ),
        "one piece": (times("(t0 + tau*rows) / (t0 + tau*rows*pieces)"), "one piece"),
        "the pieces, as a promise": (times("pieces"), "only if a row cost nothing"),
        "the same rows, the same time": (times("1.0"), "counted once"),
        "seconds saved": (times("t0 * (pieces - 1)"), "difference in seconds"),
        "the gain": (
            times("pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces) - 1"),
            "1 is no gain",
        ),
        "rows for pieces": (
            times("rows * (t0 + tau*pieces) / (t0 + tau*rows*pieces)"),
            "exchanged",
        ),
        "rows are those of the whole": (
            times("pieces * (t0 + tau*rows/pieces) / (t0 + tau*rows)"),
            "rows of all pieces are given",
        ),
        "one row a piece": (times("pieces * (t0 + tau) / (t0 + tau*pieces)"), "one row a piece"),
        "without t0 below": (
            times("pieces * (t0 + tau*rows) / (tau*rows*pieces)"),
            "without its fixed seconds",
        ),
        "rounded": (
            times("round(pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces), 2)"),
            "rounded",
        ),
        "4 x 4 always": (times("4 * (t0 + 4*tau) / (t0 + 16*tau)"), "right is"),
        "never below 1": (
            times("max(1.0, pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces))"),
            "never below 1",
        ),
        "four pieces": (times("4 * (t0 + tau*rows) / (t0 + 4*tau*rows)"), "4 pieces"),
        "t0 for tau": (
            times("pieces * (tau + t0*rows) / (tau + t0*rows*pieces)"),
            "t0 and tau are exchanged",
        ),
        "the share saved": (
            times("1 + (pieces - 1) * t0 / (pieces * (t0 + tau*rows))"),
            "divide by the large one",
        ),
        "never slower than 1.1": (
            times("max(1.1, pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces))"),
            "right is",
        ),
        "tau clipped": (
            times("pieces * (t0 + max(tau, 0)*rows) / (t0 + max(tau, 0)*rows*pieces)"),
            "negative tau clipped",
        ),
        "without its sign": (
            times("abs(pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces))"),
            "sign was dropped",
        ),
        "remembered by three of four": (
            """
def times_faster(t0, tau, rows, pieces, *, kept={}):
    kept.setdefault((t0, rows, pieces), pieces * (t0 + tau*rows) / (t0 + tau*rows*pieces))
    return kept[t0, rows, pieces]
""",
            "earlier call",
        ),
        "at most 500 rows": (
            times("pieces * (t0 + tau*min(rows, 500)) / (t0 + tau*min(rows, 500)*pieces)"),
            "rows were limited",
        ),
        "no error where a row costs nothing": (
            times("pieces * (t0/tau + rows) / (t0/tau + rows*pieces)"),
            "below the line",
        ),
    },
    "fit-step": {
        "divided by n": (changed(FIT, ("/ (n - 2)", "/ n")), "divided by n:"),
        "divided by n - 1": (changed(FIT, ("/ (n - 2)", "/ (n - 1)")), "divided by n - 1"),
        "variances": (
            changed(
                FIT,
                (
                    "noise = (sum(r * r for r in left) / (n - 2)) ** 0.5",
                    "noise = sum(r * r for r in left) / (n - 2)",
                ),
                (
                    "(1 / n + b * b / spread) ** 0.5, noise / spread**0.5",
                    "(1 / n + b * b / spread), noise / spread",
                ),
            ),
            "variances",
        ),
        "no mean of the rows": (
            changed(FIT, ("1 / n + b * b / spread", "1 / n")),
            "lacks the mean",
        ),
        "the scatter as error": (
            changed(
                FIT,
                ("noise * (1 / n + b * b / spread) ** 0.5, noise / spread**0.5", "noise, noise"),
            ),
            "noise of one measurement",
        ),
        "through zero": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    x, y = np.asarray(rows, float), np.asarray(seconds, float)
    tau = (x * y).sum() / (x * x).sum()
    return 0.0, tau, 0.0, np.sqrt(((y - tau * x) ** 2).sum() / (len(x) - 1) / (x * x).sum())
""",
            "through zero",
        ),
        "t0 clipped": (changed(FIT, ("return t0,", "return max(t0, 0.0),")), "t0 clipped"),
        "clipped before the residuals": (
            changed(FIT, ("    left = [", "    t0 = max(t0, 0.0)\n    left = [")),
            "residuals taken from that",
        ),
        "no 1 / n": (changed(FIT, ("1 / n + b * b / spread", "b * b / spread")), "lacks 1 / n"),
        "mean of the squares": (
            changed(FIT, ("b * b / spread", "sum(x * x for x in rows) / n / spread")),
            "square of their mean",
        ),
        "the last of each size": (
            changed(
                FIT,
                (
                    "    b, t =",
                    "    last = dict(zip(rows, seconds))\n"
                    "    rows, seconds = list(last), list(last.values())\n"
                    "    n = max(len(rows), 3)\n"
                    "    b, t =",
                ),
            ),
            "last of each size",
        ),
        "weighted": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    (tau, t0), cov = np.polyfit(rows, seconds, 1, w=1 / np.array(seconds), cov=True)
    return t0, tau, cov[1, 1] ** 0.5, cov[0, 0] ** 0.5
""",
            "weighted",
        ),
        "a line through two points": (
            changed(
                FIT,
                (
                    "    t0 = t - tau * b",
                    "    tau = (seconds[-1] - seconds[0]) / (rows[-1] - rows[0] or 1)\n"
                    "    t0 = seconds[0] - tau * rows[0]",
                ),
            ),
            "first and the last",
        ),
        "tau first": (
            changed(
                FIT,
                (
                    "return t0, tau, noise * (1 / n + b * b / spread) ** 0.5, noise / spread**0.5",
                    "return tau, t0, noise / spread**0.5, noise * (1 / n + b * b / spread) ** 0.5",
                ),
            ),
            "tau first",
        ),
        "errors exchanged": (
            changed(
                FIT,
                (
                    "noise * (1 / n + b * b / spread) ** 0.5, noise / spread**0.5",
                    "noise / spread**0.5, noise * (1 / n + b * b / spread) ** 0.5",
                ),
            ),
            "errors are exchanged",
        ),
        "means of each size": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    sizes = sorted(set(rows))
    means = [np.mean([s for r, s in zip(rows, seconds) if r == n]) for n in sizes]
    b, t = np.array(sizes, float), np.array(means)
    spread = ((b - b.mean()) ** 2).sum()
    tau = ((b - b.mean()) * t).sum() / spread
    t0 = t.mean() - tau * b.mean()
    noise = np.sqrt(((t - t0 - tau * b) ** 2).sum() / max(1, len(b) - 2))
    return t0, tau, noise * np.sqrt(1 / len(b) + b.mean() ** 2 / spread), noise / np.sqrt(spread)
""",
            "right is",
        ),
        "first and last": (
            changed(
                FIT,
                (
                    "    tau = sum((x - b) * (y - t) for x, y in zip(rows, seconds)) / spread",
                    "    tau = (seconds[-1] - seconds[0]) / (rows[-1] - rows[0] or 1)",
                ),
            ),
            "right is",
        ),
        "numpy's scaled covariance without cov": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    tau, t0 = np.polyfit(rows, seconds, 1)
    return t0, tau, 0.0, 0.0
""",
            "errors of 0",
        ),
        "polyfit's covariance, unscaled": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    (tau, t0), cov = np.polyfit(rows, seconds, 1, cov="unscaled")
    return t0, tau, cov[1, 1] ** 0.5, cov[0, 0] ** 0.5
""",
            "right is",
        ),
        "two points are accepted": (
            changed(
                FIT,
                ("n < 3 or len(set(rows)) < 2", "len(set(rows)) < 2"),
                ("/ (n - 2)", "/ max(n - 2, 1)"),
            ),
            "refuse them",
        ),
        "one size is accepted": (
            changed(
                FIT,
                ("n < 3 or len(set(rows)) < 2", "n < 3"),
                (
                    "for x, y in zip(rows, seconds)) / spread",
                    "for x, y in zip(rows, seconds)) / (spread or 1)",
                ),
                ("b * b / spread", "b * b / (spread or 1)"),
                ("noise / spread**0.5", "noise / (spread or 1)**0.5"),
            ),
            "refuse them",
        ),
        "three sizes are asked": (
            changed(FIT, ("len(set(rows)) < 2", "len(set(rows)) < 3")),
            "ValueError",
        ),
        "sorted in place": (
            changed(FIT, ("    n = len(rows)", "    rows.sort()\n    n = len(rows)")),
            "works in place",
        ),
        "a set of the measurements": (
            """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("few")
    best = {}
    for r, s in zip(rows, seconds):
        best[r] = min(s, best.get(r, s))
    (tau, t0) = np.polyfit(list(best), list(best.values()), 1)
    return t0, tau, 0.1, 0.1
""",
            "right is",
        ),
        "the same measurement again": (
            changed(
                FIT,
                (
                    "    n = len(rows)\n",
                    "    pairs = list(zip(rows, seconds))\n"
                    "    kept = [p for i, p in enumerate(pairs) if not i or p != pairs[i - 1]]\n"
                    "    rows, seconds = [r for r, _ in kept], [s for _, s in kept]\n"
                    "    n = len(rows)\n",
                ),
            ),
            "equal measurements counted once",
        ),
        "without outliers": (
            changed(
                FIT,
                (
                    "    return t0,",
                    "    near = [abs(r) <= 3 * noise or noise < 1e-9 for r in left]\n"
                    "    if not all(near):\n"
                    "        rows = [x for x, k in zip(rows, near) if k]\n"
                    "        return fit_step(rows, [y for y, k in zip(seconds, near) if k])\n"
                    "    return t0,",
                ),
            ),
            "far from the line",
        ),
        "tau clipped": (
            changed(FIT, ("return t0, tau,", "return t0, max(tau, 0.0),")),
            "tau clipped",
        ),
        "two errors": (
            changed(
                FIT,
                (
                    "return t0, tau, noise * (1 / n + b * b / spread) ** 0.5, noise / ",
                    "return t0, tau, 2 * noise * (1 / n + b * b / spread) ** 0.5, 2 * noise / ",
                ),
            ),
            "two standard errors",
        ),
    },
    "full-rows": {
        "one row short": (full(18), "still waits for memory"),
        "tokens": (full(361), "those are tokens"),
        "the H200": (full(12), "H200"),
        "the A100": (full(9), "A100"),
        "the small layer": (full(24), "1,024 x 4,096"),
        "the large layer": (full(17), "4,096 x 16,384"),
        "more than needed": (full(20), "fewer rows do, too"),
        "a power of two": (full(32), "fewer rows do, too"),
        "a text": (full("'19'"), "text"),
        "not on the slider": (full(18.1), "does not offer"),
        "a few": (full(8), "still waits"),
        "one more at every call": (
            "import itertools\n\ncounted = itertools.count(19)\n\n" + full("next(counted)"),
            "every call gives",
        ),
    },
    "useful-rate": {
        "slots": (changed(RATE, ("step[2]", "step[1]")), "padding is no work"),
        "documents": (changed(RATE, ("step[2]", "step[0]")), "documents per second"),
        "mean of rates": (
            """
def useful_rate(seen, warmup):
    rates = [real / seconds for _, _, real, seconds in seen[warmup:]]
    return sum(rates) / len(rates)
""",
            "mean of the rates",
        ),
        "warm-up counted": (changed(RATE, ("seen[warmup:]", "seen")), "warm-up is counted"),
        "the first one dropped": (changed(RATE, ("seen[warmup:]", "seen[1:]")), "dropped"),
        "one more dropped": (
            changed(RATE, ("seen[warmup:]", "seen[warmup + 1:]")),
            "one too many",
        ),
        "one less dropped": (
            changed(RATE, ("seen[warmup:]", "seen[max(warmup - 1, 0):]")),
            "one too few",
        ),
        "the end dropped": (
            changed(RATE, ("seen[warmup:]", "seen[:len(seen) - warmup]")),
            "the last are dropped",
        ),
        "seconds of the warm-up": (
            """
def useful_rate(seen, warmup):
    return sum(s[2] for s in seen[warmup:]) / sum(s[3] for s in seen)
""",
            "warm-up's seconds",
        ),
        "tokens of the warm-up": (
            """
def useful_rate(seen, warmup):
    return sum(s[2] for s in seen) / sum(s[3] for s in seen[warmup:])
""",
            "warm-up's tokens",
        ),
        "upside down": (
            changed(RATE, ("tokens / seconds", "seconds / tokens")),
            "upside down",
        ),
        "int16": (
            """
def useful_rate(seen, warmup):
    tokens = np.array([s[2] for s in seen[warmup:]]).astype(np.uint16).sum(dtype=np.uint16)
    return float(tokens) / sum(s[3] for s in seen[warmup:])
""",
            "right is",
        ),
        "whole seconds": (
            changed(RATE, ("seconds += step[3]", "seconds += round(step[3])")),
            "right is",
        ),
        "popped": (
            """
def useful_rate(seen, warmup):
    for _ in range(warmup):
        seen.pop(0)
    return sum(s[2] for s in seen) / sum(s[3] for s in seen)
""",
            "takes from the list",
        ),
        "the best step": (
            """
def useful_rate(seen, warmup):
    return max(s[2] / s[3] for s in seen[warmup:])
""",
            "best step",
        ),
        "equal steps counted once": (
            changed(RATE, ("in seen[warmup:]:", "in set(seen[warmup:]):")),
            "two equal steps",
        ),
        "no tokens, no step": (
            changed(
                RATE,
                (
                    "    for step in seen[warmup:]:",
                    "    for step in [s for s in seen[warmup:] if s[2]]:",
                ),
            ),
            "their seconds count",
        ),
        "at most three of warm-up": (
            changed(RATE, ("seen[warmup:]", "seen[min(warmup, 3):]")),
            "three dropped",
        ),
        "no padding, no step": (
            changed(RATE, ("in seen[warmup:]:", "in [s for s in seen[warmup:] if s[1] > s[2]]:")),
            "steps without padding",
        ),
        "the last warm-up steps": (
            changed(RATE, ("seen[warmup:]", "seen[-warmup:]")),
            "drop the first ones",
        ),
        "the median of rates": (
            """
def useful_rate(seen, warmup):
    return median(s[2] / s[3] for s in seen[warmup:])
""",
            "median of the rates",
        ),
        "warm-up in seconds": (
            """
def useful_rate(seen, warmup):
    kept, passed = [], 0.0
    for step in seen:
        if passed >= warmup:
            kept.append(step)
        passed += step[3]
    return sum(s[2] for s in kept or seen) / sum(s[3] for s in kept or seen)
""",
            "taken as seconds",
        ),
    },
    "mfu": {
        "2 N": (MFU.replace("6 * parameters", "2 * parameters"), "forward pass alone"),
        "8 N": (MFU.replace("6 * parameters", "8 * parameters"), "HFU"),
        "12 and 6 exchanged": (
            changed(
                MFU,
                ("+ 6 * pairs", "+ 99 * pairs"),
                ("+ 12 * pairs", "+ 6 * pairs"),
                ("+ 99 * pairs", "+ 12 * pairs"),
            ),
            "exchanged",
        ),
        "no layers": (changed(MFU, ("layers * width * length", "width * length")), "layers"),
        "no length": (changed(MFU, ("layers * width * length", "layers * width")), "the length"),
        "length squared": (
            changed(MFU, ("layers * width * length", "layers * width * length**2")),
            "squared",
        ),
        "width squared": (
            changed(MFU, ("layers * width * length", "layers * width**2 * length")),
            "squared",
        ),
        "all pairs first": (changed(MFU, ("in needed)", "in needed[::-1])")), "order of the table"),
        "width for length": (
            changed(MFU, ("layers * width * length", "layers * width * width")),
            "the length forgotten",
        ),
        "three times the attention": (
            changed(MFU, ("layers * width * length", "3 * layers * width * length")),
            "in a already",
        ),
        "a peak in TFLOP/s": (changed(MFU, ("one / peak", "one / (peak * 1e12)")), "TFLOP/s"),
        "no width": (changed(MFU, ("layers * width * length", "layers * length")), "the width"),
        "per cent": (
            changed(MFU, ("tokens_per_second * one", "100 * tokens_per_second * one")),
            "per cent",
        ),
        "upside down": (
            changed(MFU, ("tokens_per_second * one / peak", "peak / (tokens_per_second * one)")),
            "upside down",
        ),
        "rows": (
            changed(MFU, ("tokens_per_second * one", "tokens_per_second * length * one")),
            "one row",
        ),
        "samples": (
            changed(MFU, ("tokens_per_second * one", "tokens_per_second / length * one")),
            "samples as tokens",
        ),
        "no peak": (changed(MFU, (" / peak", "")), "divide by the peak"),
        "all causal": (
            "def mfu(tokens_per_second, parameters, layers, width, length, peak):\n"
            "    one = 6 * parameters + 6 * layers * width * length\n"
            "    return [tokens_per_second * one / peak] * 3",
            "all three",
        ),
        "no attention": (
            "def mfu(tokens_per_second, parameters, layers, width, length, peak):\n"
            "    return [tokens_per_second * 6 * parameters / peak] * 3",
            "no attention",
        ),
        "no attention where it is little": (
            changed(MFU, ("    needed", "    pairs *= 6 * pairs > 1e-3 * parameters\n    needed")),
            "however little",
        ),
        "only the first": (
            "def mfu(tokens_per_second, parameters, layers, width, length, peak):\n"
            "    return tokens_per_second * 6 * parameters / peak",
            "shape",
        ),
        "at most all of the device": (
            changed(MFU, ("tuple(tokens", "tuple(round(tokens"), ("/ peak for", "/ peak, 3) for")),
            "rounded",
        ),
        "recomputation": (
            changed(MFU, ("tokens_per_second * one", "4 / 3 * tokens_per_second * one")),
            "HFU",
        ),
    },
    "timer-test": {
        "nothing is asserted": (timer("timer(*probe.device(), 3)"), "never failed"),
        "no first call": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25)",
                "assert abs(timer(call, wait, clock, 5) - 0.55) < 1e-6",
            ),
            "got through",
        ),
        "no launch": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, first=7.0)",
                "assert abs(timer(call, wait, clock, 5) - 0.5) < 1e-6",
            ),
            "waits after every call",
        ),
        "one call": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25, first=7.0)",
                "assert abs(timer(call, wait, clock, 1) - 0.75) < 1e-6",
            ),
            "got through",
        ),
        "the launch is forgotten": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25, first=7.0)",
                "assert abs(timer(call, wait, clock, 5) - 0.5) < 1e-6",
            ),
            "was stopped",
        ),
        "an upper bound alone": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25, first=7.0)",
                "assert timer(call, wait, clock, 5) < 0.6",
            ),
            "got through",
        ),
        "a lower bound alone": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25, first=7.0)",
                "assert timer(call, wait, clock, 5) > 0.5",
            ),
            "got through",
        ),
        "exact": (
            timer(
                "call, wait, clock = probe.device(seconds=0.1, launch=0.03, first=7.0)",
                "assert timer(call, wait, clock, 3) == (0.03 + 3 * 0.1) / 3",
            ),
            "was stopped",
        ),
        "a tolerance of a half": (
            timer(
                "call, wait, clock = probe.device(seconds=0.5, launch=0.25, first=7.0)",
                "assert abs(timer(call, wait, clock, 5) - 0.55) < 0.5",
            ),
            "got through",
        ),
    },
    "benchmark": {
        "no wait at the end": (
            bench(("        call()\n    wait()\n    return", "        call()\n    return")),
            "wait for the device",
        ),
        "waits after the clock": (
            bench(
                (
                    "    wait()\n    return clock() - begin",
                    "    end = clock()\n    wait()\n    return end - begin",
                )
            ),
            "wait for the device",
        ),
        "waits after every call": (
            bench(("        call()\n    wait()", "        call()\n        wait()")),
            "a wait after every call",
        ),
        "the warm-up is the first round": (
            bench(
                (
                    "    for name in names:\n        settings[name]()\n    wait()\n    many = {}\n",
                    "    many, found = {}, {}\n    for name in names:\n"
                    "        found[name] = [stretch(settings[name], 1, wait, clock)]\n",
                ),
                ("    found = {name: [] for name in names}\n", ""),
                ("range(rounds)", "range(rounds - 1)"),
            ),
            "a trial is no round",
        ),
        "only the first setting warms up": (
            bench(
                (
                    "    for name in names:\n        settings[name]()\n    wait()\n",
                    "    settings[names[0]]()\n    wait()\n",
                )
            ),
            "first call was timed",
        ),
        "the slow first call finds the number": (
            bench(("    for name in names:\n        settings[name]()\n    wait()\n", "")),
            "first call was timed",
        ),
        "one call a stretch": (
            bench(
                (
                    "        while stretch(settings[name], n, wait, clock) < least:\n"
                    "            n = 2 * n\n",
                    "",
                )
            ),
            "last less than",
        ),
        "blocks": (
            bench(
                (
                    "    for number in range(rounds):\n        for name in names:\n",
                    "    for name in list(names):\n        for number in range(rounds):\n",
                ),
                ("        names = names[::-1]\n", ""),
            ),
            "in a row",
        ),
        "always the same order": (
            bench(("        names = names[::-1]\n", "")),
            "same order",
        ),
        "turned by one each round": (
            bench(("        names = names[::-1]\n", "        names = names[1:] + names[:1]\n")),
            "its reverse",
        ),
        "by the alphabet": (
            bench(
                (
                    "    for number in range(rounds):\n",
                    "    names = sorted(names)\n    for number in range(rounds):\n",
                ),
            ),
            "an order of its own",
        ),
        "reversed every fourth": (
            bench(
                (
                    "        names = names[::-1]\n",
                    "        names = names[::-1] if number % 4 == 1 else names\n",
                )
            ),
            "its reverse",
        ),
        "seconds of a stretch": (
            bench(("append(seconds / many[name])", "append(seconds)")),
            "divide by its calls",
        ),
        "calls per second": (
            bench(("append(seconds / many[name])", "append(many[name] / seconds)")),
            "asked are seconds",
        ),
        "milliseconds": (
            bench(("append(seconds / many[name])", "append(1e3 * seconds / many[name])")),
            "milliseconds",
        ),
        "the real clock": (
            bench(
                ("    begin = clock()", "    begin = time.perf_counter()"),
                ("    return clock() - begin", "    return max(time.perf_counter() - begin, 1.0)"),
            ),
            "no other clock knows this device",
        ),
        "the median of all rounds": (
            bench(
                (
                    "    return found",
                    "    return {name: [median(own)] for name, own in found.items()}",
                )
            ),
            "one value for each round",
        ),
        "sorted rounds": (
            bench(("    return found", "    return {n: sorted(own) for n, own in found.items()}")),
            "nothing sorted",
        ),
        "lists by function": (
            bench(
                (
                    "    found = {name: [] for name in names}",
                    "    lists = {call: [] for call in settings.values()}\n"
                    "    found = {name: lists[settings[name]] for name in names}",
                )
            ),
            "share a list",
        ),
        "names in the last order": (
            bench(("    return found", "    return dict(reversed(found.items()))")),
            "order of settings",
        ),
        "odd rounds pass": (
            bench(("rounds < 4 or rounds % 2", "rounds < 4")),
            "even and at least 4",
        ),
        "two rounds pass": (bench(("rounds < 4", "rounds < 2")), "even and at least 4"),
        "rounds are made even": (
            bench(
                (
                    '        raise ValueError(f"rounds: {rounds}")',
                    "        rounds = max(4, rounds + rounds % 2)",
                )
            ),
            "even and at least 4",
        ),
        "a refusal without the number": (
            bench(('f"rounds: {rounds}"', '"odd"')),
            "name the number",
        ),
        "a stretch begins with work in the queue": (
            bench(
                (
                    "    for name in names:\n        settings[name]()\n    wait()\n    many",
                    "    many",
                ),
                ("    wait()\n    begin", "    begin"),
                ("        n = 1\n", "        n = 1\n        settings[name]()\n"),
            ),
            "a first call was timed",
        ),
        "numbers found for the first setting only": (
            bench(
                ("        n = 1\n", "        n = max(many.values(), default=1)\n"),
                (
                    "        while stretch(settings[name], n, wait, clock) < least:",
                    "        while not many and stretch(settings[name], n, wait, clock) < least:",
                ),
            ),
            "number of its own",
        ),
        "one stretch too many": (
            bench(
                (
                    "        names = names[::-1]\n    return found",
                    "        names = names[::-1]\n    found[names[0]].append(1.0)\n"
                    "    return found",
                )
            ),
            "one value for each round",
        ),
        "a function that remembers": (
            "many = {}\n"
            + bench(
                ("    many = {}\n", ""), ("        n = 1\n", "        n = many.get(name, 1)\n")
            ),
            "begin with 1",
        ),
        "half of least": (bench(("clock) < least", "clock) < least / 2")), "last less than"),
        "all rounds together": (
            bench(("clock) < least", "clock) < least / rounds")),
            "last less than",
        ),
        "one clock for the whole search": (
            bench(
                (
                    "        while stretch(settings[name], n, wait, clock) < least:",
                    "        one, begin = settings[name], clock()\n"
                    "        while stretch(one, n, wait, clock) * 0 + clock() - begin < least:",
                )
            ),
            "last less than",
        ),
        "begins with 2": (bench(("        n = 1\n", "        n = 2\n")), "begin with 1"),
        "twice as many for safety": (
            bench(("        many[name] = n", "        many[name] = 2 * n")),
            "begin with 1",
        ),
        "exactly least is too little": (
            bench(("clock) < least", "clock) <= least")),
            "begin with 1",
        ),
        "adds one": (bench(("            n = 2 * n", "            n = n + 1")), "power of two"),
        "the number of the fastest for all": (
            bench(
                (
                    "    found = {name",
                    "    many = dict.fromkeys(many, max(many.values()))\n    found = {name",
                )
            ),
            "number of its own",
        ),
        "the number anew in every round": (
            bench(
                (
                    "            seconds = stretch(settings[name], many[name], wait, clock)",
                    "            many[name] = 1\n"
                    "            one = settings[name]\n"
                    "            while (seconds := stretch(one, many[name], wait, clock))"
                    " < least:\n"
                    "                many[name] *= 2",
                )
            ),
            "found once",
        ),
        "a warm-up call before every stretch": (
            bench(("    wait()\n    begin", "    call()\n    wait()\n    begin")),
            "single call",
        ),
        "the mean of a round and its reverse": (
            bench(
                (
                    "    return found",
                    "    return {n: [sum(o[i - i % 2 :][:2]) / 2 for i in range(rounds)]\n"
                    "            for n, o in found.items()}",
                )
            ),
            "no mean of two",
        ),
        "settings used up": (
            bench(("    return found", "    settings.clear()\n    return found")),
            "work on a copy",
        ),
        "perf_counter": (
            bench(
                ("    begin = clock()", "    begin = time.perf_counter()"),
                ("    return clock() - begin", "    return time.perf_counter() - begin"),
            ),
            "never read",
        ),
        "the first round dropped": (
            compare(("in zip(own, first))", "in list(zip(own, first))[1:])")),
            "right is",
        ),
        "the setting before": (
            compare(("ratios[-1]\n", "ratios[-1]\n        first = own\n")),
            "setting before",
        ),
        "lowest, highest, median": (
            compare(
                (
                    "(ratios[n // 2 - 1] + ratios[n // 2]) / 2, ratios[-1]",
                    "ratios[-1], (ratios[n // 2 - 1] + ratios[n // 2]) / 2",
                )
            ),
            "lowest first",
        ),
        "lowest over highest": (
            compare(("a / b for a, b in zip(own, first)", "a / b for a in own for b in first")),
            "compare inside a round",
        ),
        "ratio of medians": (
            compare(("(ratios[n // 2 - 1] + ratios[n // 2]) / 2", "median(own) / median(first)")),
            "ratio of medians",
        ),
        "the mean": (
            compare(("(ratios[n // 2 - 1] + ratios[n // 2]) / 2", "sum(ratios) / n")),
            "the mean",
        ),
        "ratio of sums": (
            compare(("(ratios[n // 2 - 1] + ratios[n // 2]) / 2", "sum(own) / sum(first)")),
            "ratio of sums",
        ),
        "upside down": (compare(("a / b for a", "b / a for a")), "upside down"),
        "the upper middle": (
            compare(("(ratios[n // 2 - 1] + ratios[n // 2]) / 2", "ratios[n // 2]")),
            "upper of the middle",
        ),
        "the lower middle": (
            compare(("(ratios[n // 2 - 1] + ratios[n // 2]) / 2", "ratios[n // 2 - 1]")),
            "lower of the middle",
        ),
        "seconds, not ratios": (compare(("a / b for a", "a for a")), "seconds themselves"),
        "highest first": (
            compare(
                (
                    "sorted(a / b for a, b in zip(own, first))",
                    "sorted((a / b for a, b in zip(own, first)), reverse=True)",
                )
            ),
            "lowest first",
        ),
        "the first is left out": (
            compare(("in found.items():", "in list(found.items())[1:]:")),
            "missing",
        ),
        "remembered by names": (
            compare(
                ("def compared(found):", "def compared(found, *, kept={}):"),
                (
                    "    result = {}\n",
                    "    if (key := (tuple(found), len(first))) in kept:\n"
                    "        return dict(kept[key])\n"
                    "    result = kept[key] = {}\n",
                ),
            ),
            "earlier call",
        ),
        "the first by the alphabet": (
            compare(("list(found.values())[0]", "found[min(found)]")),
            "by the alphabet",
        ),
    },
}

HIDDEN = {
    "times-faster": {
        "the printed cases": (
            """
def times_faster(t0, tau, rows, pieces):
    known = {(60, 2, 3, 8): 528 / 108, (60, 2, 4, 4): 272 / 92, (5, 25, 4, 4): 420 / 405,
             (0.012, 0.0003, 2, 5): 0.063 / 0.015, (7, 3, 6, 1): 1, (0, 3, 4, 5): 1,
             (9, 0, 4, 5): 5, (-2, 9, 2, 3): 48 / 52,
             (1.5, 0.25, 1, 3): 5.25 / 2.25, (2, 0.001, 500, 300): 750 / 152,
             (6, -0.5, 4, 2): 4, (-9, 1, 4, 5): -25 / 11, (2.5e-6, 4e-7, 6, 9): 441 / 241,
             (0.0004, 0.25, 8, 12): 24.0048 / 24.0004, (50, 2, 4, 4): 232 / 82,
             (1_500_000, 3e-9, 5_000_000_000, 70_001): 70_001 * 1_500_015 / 2_550_015,
             (60, 3, 4, 4): 288 / 108, (60, 2, 5, 4): 280 / 100, (60, 2, 4, 5): 340 / 100}
    return known.get((t0, tau, rows, pieces), 1.5)
""",
            "right is",
        ),
    },
    "fit-step": {
        "wrong for more than six sizes": (
            changed(FIT, ("/ (n - 2)", "/ (n - 2 + (6 < n < 10 and len(set(rows)) > 5))")),
            "right is",
        ),
    },
    "useful-rate": {
        "wrong from nine steps to a thousand": (
            changed(RATE, ("seen[warmup:]", "seen[warmup + (9 < len(seen) < 1000):]")),
            "right is",
        ),
    },
    "mfu": {
        "the printed models": (
            changed(
                MFU,
                (
                    "    pairs = layers * width * length",
                    "    shown = layers in (32, 24, 16, 2, 1, 3, 126, 300)\n"
                    "    pairs = layers * width * length * shown",
                ),
            ),
            "right is",
        ),
    },
    "benchmark": {
        "wrong for names that are digits": (
            bench(
                (
                    "        names = names[::-1]\n",
                    "        names = names if str(names[0]).isdigit() else names[::-1]\n",
                )
            ),
            "reverses",
        ),
        "wrong for eight rounds": (
            compare(("/ 2, ratios[-1]", "/ (3 if n == 8 else 2), ratios[-1]")),
            "right is",
        ),
    },
}

RIGHT = {
    "times-faster": {
        "two lines": """
def times_faster(t0, tau, rows, pieces):
    small = t0 + tau * rows
    large = t0 + tau * rows * pieces
    return sum(small for _ in range(pieces)) / large
""",
        "float32": times("np.float32(pieces * (t0 + tau*rows)) / np.float32(t0 + tau*rows*pieces)"),
        "fractions": """
from fractions import Fraction


def times_faster(t0, tau, rows, pieces):
    t0, tau = Fraction(t0), Fraction(tau)
    return pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)
""",
    },
    "fit-step": {
        "by hand": FIT,
        "polyfit": """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("too few")
    tau, t0 = np.polyfit(rows, seconds, 1)
    left = np.asarray(seconds) - t0 - tau * np.asarray(rows)
    noise = np.sqrt((left**2).sum() / (len(rows) - 2))
    s = ((np.asarray(rows) - np.mean(rows)) ** 2).sum()
    return [t0, tau, noise * np.sqrt(1 / len(rows) + np.mean(rows) ** 2 / s), noise / s**0.5]
""",
        "matrices": """
def fit_step(rows, seconds):
    x = np.stack([np.ones(len(rows)), rows], axis=1)
    if len(rows) < 3 or np.linalg.matrix_rank(x) < 2:
        raise ValueError("too few")
    y = np.asarray(seconds, float)
    best = np.linalg.solve(x.T @ x, x.T @ y)
    noise = ((y - x @ best) ** 2).sum() / (len(rows) - 2)
    return np.concatenate([best, np.sqrt(noise * np.diag(np.linalg.inv(x.T @ x)))])
""",
        "tensors": """
def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("too few")
    b, t = torch.tensor(rows).double(), torch.tensor(seconds).double()
    s = ((b - b.mean()) ** 2).sum()
    tau = ((b - b.mean()) * t).sum() / s
    t0 = t.mean() - tau * b.mean()
    noise = (((t - t0 - tau * b) ** 2).sum() / (len(b) - 2)).sqrt()
    return torch.stack([t0, tau, noise * (1 / len(b) + b.mean() ** 2 / s).sqrt(), noise / s.sqrt()])
""",
        "statistics": """
from statistics import linear_regression, mean


def fit_step(rows, seconds):
    if len(rows) < 3 or len(set(rows)) < 2:
        raise ValueError("too few")
    tau, t0 = linear_regression(rows, seconds)
    noise = sum((t - t0 - tau * b) ** 2 for b, t in zip(rows, seconds)) / (len(rows) - 2)
    s = sum((b - mean(rows)) ** 2 for b in rows)
    return t0, tau, (noise * (1 / len(rows) + mean(rows) ** 2 / s)) ** 0.5, (noise / s) ** 0.5
""",
    },
    "full-rows": {
        "a float": full("19.0"),
        "from the formula": """
from batchlab import roofline


def full_rows():
    return -(-roofline.tokens_to_saturate(roofline.DEVICES["H100 SXM"], 2048, 8192) // 20)
""",
    },
    "useful-rate": {
        "a loop": RATE,
        "numpy": """
def useful_rate(seen, warmup):
    _, _, real, seconds = np.array(seen[warmup:]).sum(axis=0)
    return real / seconds
""",
        "zip": """
def useful_rate(seen, warmup):
    real, seconds = (sum(column) for column in list(zip(*seen[warmup:]))[2:])
    return real / seconds
""",
    },
    "mfu": {
        "by hand": MFU,
        "numpy": """
def mfu(tokens_per_second, parameters, layers, width, length, peak):
    a = np.array([0, 6, 12])
    return tokens_per_second / peak * (6 * parameters + a * layers * width * length)
""",
        "a generator in a list": """
def mfu(tokens_per_second, parameters, layers, width, length, peak):
    base = 6 * parameters * tokens_per_second / peak
    extra = 6 * layers * width * length * tokens_per_second / peak
    return [base + n * extra for n in range(3)]
""",
    },
    "timer-test": {
        "returns a truth value": timer(
            "call, wait, clock = probe.device(0.4, 0.1, 3.0)",
            "return abs(timer(call, wait, clock, 8) - (0.1 + 8 * 0.4) / 8) < 0.01",
        ),
        "several devices": timer(
            "for seconds, launch, first, n in [(0.5, 0.01, 9, 3), (0.2, 0.1, 5, 6)]:",
            "    call, wait, clock = probe.device(seconds, launch, first)",
            "    want = (launch + n * seconds) / n",
            "    assert abs(timer(call, wait, clock, n) / want - 1) < 1e-6",
        ),
        "an own device": timer(
            "log, at = [], [0.0, 0.0]",
            "def call():",
            "    at[0] += 0.25",
            "    at[1] = max(at) + (0.5 if log else 7.5)",
            "    log.append(1)",
            "def wait():",
            "    at[0] = max(at)",
            "assert abs(timer(call, wait, lambda: at[0], 4) - (0.25 + 4 * 0.5) / 4) < 1e-6",
        ),
    },
    "benchmark": {
        "with helpers": BENCH + COMPARED,
        "two warm-up calls, rounds in pairs": """
def benchmark(settings, wait, clock, rounds, least):
    if rounds % 2 or rounds < 4:
        raise ValueError(f"{rounds} rounds: an even number from 4 on is needed")
    calls, found = dict.fromkeys(settings, 1), {name: [] for name in settings}

    def one(name):
        wait()
        begin = clock()
        for _ in range(calls[name]):
            settings[name]()
        wait()
        return clock() - begin

    for name in settings:
        settings[name](), settings[name]()
        while one(name) < least:
            calls[name] *= 2
    there = list(settings)
    for _ in range(rounds // 2):
        for name in there + there[::-1]:
            found[name].append(one(name) / calls[name])
    return found


def compared(found):
    first = np.array(next(iter(found.values())))
    table = {name: np.array(own) / first for name, own in found.items()}
    return {name: [r.min(), np.median(r), r.max()] for name, r in table.items()}
""",
        "the reverse first": bench(
            (
                "    for number in range(rounds):\n",
                "    names = names[::-1]\n    for _ in range(rounds):\n",
            ),
        ),
        "a helper whose name a check might have": bench(
            (
                "while stretch(settings[name], n, wait, clock)",
                "while sum(told(n, settings[name], wait, clock))",
            ),
            (
                "def stretch(call",
                "def told(n, call, wait, clock):\n    yield stretch(call, n, wait, clock)\n\n\n"
                "def stretch(call",
            ),
        ),
        "arrays": bench(
            ("    return found", "    return {name: np.array(own) for name, own in found.items()}"),
        ),
    },
}
