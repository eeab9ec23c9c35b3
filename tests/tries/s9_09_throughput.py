# ruff: noqa
"""Lesson 09_throughput: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------------------------- times-faster

FASTER = '''def times_faster(t0, tau, rows, pieces):
    """How many times as fast one micro-batch is as `pieces` micro-batches of `rows` rows."""
    one_after_another = pieces * (t0 + tau * rows)
    together = t0 + tau * rows * pieces
    return one_after_another / together
'''

RIGHT["times-faster"] = {
    "both times written down, one division": FASTER,
    "exact fractions, a float at the end": '''from fractions import Fraction


def times_faster(t0, tau, rows, pieces):
    t0, tau, rows, pieces = (Fraction(float(value)) for value in (t0, tau, rows, pieces))
    return float(pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces))
''',
    "one plus what is saved, over the time of the large one": '''def times_faster(t0, tau, rows, pieces):
    large = t0 + tau * pieces * rows
    saved = (pieces - 1) * t0
    return 1 + saved / large
''',
    "a class for the cost of a micro-batch, the pieces summed one by one": '''class Cost:
    def __init__(self, fixed, row):
        self.fixed, self.row = fixed, row

    def __call__(self, rows):
        return self.fixed + self.row * rows


def times_faster(t0, tau, rows, pieces):
    cost = Cost(float(t0), float(tau))
    return sum(cost(rows) for _ in range(pieces)) / cost(rows * pieces)
''',
    "product of two matrices: counts of micro-batches and rows, times the two costs": '''import numpy as np


def times_faster(t0, tau, rows, pieces):
    counts = np.array([[pieces, rows * pieces], [1, rows * pieces]], dtype=np.float64)
    small, large = counts @ np.array([t0, tau], dtype=np.float64)
    return float(small / large)
''',
    "torch in double precision": '''import torch


def times_faster(t0, tau, rows, pieces):
    t0, tau = torch.tensor(float(t0), dtype=torch.float64), torch.tensor(float(tau), dtype=torch.float64)
    return torch.mul(t0 + tau * rows, pieces).div(t0 + tau * rows * pieces).item()
''',
}

WRONG["times-faster"] = {
    "upside down: the large one over the pieces": _cut(FASTER, ("one_after_another / together", "together / one_after_another")),
    "the large micro-batch holds only the rows of one piece": _cut(FASTER, ("tau * rows * pieces", "tau * rows")),
    "always 16 rows together, as in the text": _cut(FASTER, ("tau * rows * pieces", "tau * 16")),
    "always four pieces, by the takeaway": '''def times_faster(t0, tau, rows, pieces):
    return 1 + 3 * t0 / (t0 + tau * rows * pieces)
''',
    "rows and pieces changed places": '''def times_faster(t0, tau, rows, pieces):
    rows, pieces = pieces, rows
    return pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)
''',
    "t0 is paid once by the pieces too, rows divided away": _cut(FASTER, ("pieces * (t0 + tau * rows)", "t0 + pieces * tau * rows")),
    "every piece saves its t0, the large one pays none": _cut(FASTER, ("t0 + tau * rows * pieces", "tau * rows * pieces")),
    "how much faster, one less than how many times as fast": _cut(FASTER, ("one_after_another / together", "one_after_another / together - 1")),
    "percent instead of times": _cut(FASTER, ("one_after_another / together", "100 * one_after_another / together")),
    "seconds saved instead of a ratio": _cut(FASTER, ("one_after_another / together", "one_after_another - together")),
    "whole times only, rounded down": _cut(FASTER, ("one_after_another / together", "one_after_another // together")),
    "rounded to two decimals": _cut(FASTER, ("return one_after_another / together", "return round(one_after_another / together, 2)")),
    "never below 1, clipped": _cut(FASTER, ("return one_after_another / together", "return max(1.0, one_after_another / together)")),
    "negative t0 set to 0": _cut(FASTER, ("    one_after_another =", "    t0 = max(t0, 0)\n    one_after_another =")),
    "returns both times instead of their ratio": _cut(FASTER, ("one_after_another / together", "one_after_another, together")),
    # sly
    "clips a negative tau to 0, although nothing is to be clipped": _cut(FASTER, ("    one_after_another =", "    tau = max(tau, 0)\n    one_after_another =")),
    "drops the sign of the ratio, where a very negative t0 makes it negative": _cut(
        FASTER, ("return one_after_another / together", "return abs(one_after_another / together)")),
    "counts at most 300 pieces": _cut(FASTER, ("    one_after_another =", "    pieces = min(pieces, 300)\n    one_after_another =")),
    "counts at most 500 rows in a piece": _cut(FASTER, ("    one_after_another =", "    rows = min(rows, 500)\n    one_after_another =")),
    "takes a t0 of 100 or more for another unit and divides it by 1000": _cut(
        FASTER, ("    one_after_another =", "    t0 = t0 / 1000 if t0 >= 100 else t0\n    one_after_another =")),
    "rounds tau to four decimals, so that a row of 0.04 ms in seconds costs nothing": _cut(
        FASTER, ("    one_after_another =", "    tau = round(tau, 4)\n    one_after_another =")),
    "remembers results by t0, rows and pieces, and forgets that tau may change": '''remembered = {}


def times_faster(t0, tau, rows, pieces):
    key = t0, rows, pieces
    if key not in remembered:
        remembered[key] = pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces)
    return remembered[key]
''',
    "keeps the largest ratio of all calls so far in a global": '''highest = 0.0


def times_faster(t0, tau, rows, pieces):
    global highest
    highest = max(highest, pieces * (t0 + tau * rows) / (t0 + tau * rows * pieces))
    return highest
''',
    "takes a t0 below a thousandth of the rows of a piece for none": _cut(
        FASTER, ("    one_after_another =", "    t0 = 0 if abs(t0) < abs(tau * rows) / 1000 else t0\n    one_after_another =")),
    "more than 300 pieces: returns the number of pieces, as if rows cost nothing": _cut(
        FASTER, ("return one_after_another / together", "return one_after_another / together if pieces <= 300 else float(pieces)")),
}

# -------------------------------------------------------------------------------------- fit-step

FIT = '''def fit_step(rows, seconds):
    """t0, tau and their standard errors, from rows and seconds of single micro-batches."""
    n = len(rows)
    if n < 3 or len(set(rows)) < 2:
        raise ValueError("at least three measurements of at least two sizes are needed")
    mean_b, mean_t = sum(rows) / n, sum(seconds) / n
    S = sum((b - mean_b) ** 2 for b in rows)
    tau = sum((b - mean_b) * (t - mean_t) for b, t in zip(rows, seconds)) / S
    t0 = mean_t - tau * mean_b
    left = sum((t - t0 - tau * b) ** 2 for b, t in zip(rows, seconds))
    s = (left / (n - 2)) ** 0.5
    e_tau = s / S**0.5
    e_t0 = s * (1 / n + mean_b**2 / S) ** 0.5
    return t0, tau, e_t0, e_tau
'''

RIGHT["fit-step"] = {
    "the sums of the text, in plain Python": FIT,
    "NumPy arrays": '''import numpy as np


def fit_step(rows, seconds):
    b, t = np.array(rows, dtype=float), np.array(seconds, dtype=float)
    if b.size < 3 or np.ptp(b) == 0:
        raise ValueError(f"{b.size} measurements, sizes {sorted(set(b.tolist()))}: no scatter can be known")
    d = b - b.mean()
    tau = d @ (t - t.mean()) / (d @ d)
    t0 = t.mean() - tau * b.mean()
    r = t - t0 - tau * b
    s = np.sqrt(r @ r / (b.size - 2))
    return np.array([t0, tau, s * np.sqrt(1 / b.size + b.mean() ** 2 / (d @ d)), s / np.sqrt(d @ d)])
''',
    "torch: least squares by an orthogonal and a triangular factor, errors from the inverse of the triangle": '''import torch


def fit_step(rows, seconds):
    b = torch.tensor([float(x) for x in rows], dtype=torch.float64)
    t = torch.tensor([float(x) for x in seconds], dtype=torch.float64)
    if len(b) < 3 or bool((b == b[0]).all()):
        raise ValueError("too few measurements, or all of one size")
    A = torch.stack([torch.ones_like(b), b], dim=1)
    Q, R = torch.linalg.qr(A)
    back = torch.linalg.inv(R)
    found = back @ (Q.T @ t)
    r = t - A @ found
    errors = ((r @ r) / (len(b) - 2)).sqrt() * back.norm(dim=1)
    return [*found.tolist(), *errors.tolist()]
''',
    "exact fractions, roots last": '''from fractions import Fraction
from math import sqrt


def fit_step(rows, seconds):
    b, t = [Fraction(float(x)) for x in rows], [Fraction(float(x)) for x in seconds]
    n = len(b)
    if n < 3 or min(b) == max(b):
        raise ValueError("nothing to fit a scatter with")
    mean_b, mean_t = sum(b) / n, sum(t) / n
    S = sum((x - mean_b) ** 2 for x in b)
    tau = sum((x - mean_b) * (y - mean_t) for x, y in zip(b, t)) / S
    t0 = mean_t - tau * mean_b
    s2 = sum((y - t0 - tau * x) ** 2 for x, y in zip(b, t)) / (n - 2)
    return float(t0), float(tau), sqrt(s2 * (Fraction(1, n) + mean_b**2 / S)), sqrt(s2 / S)
''',
    "the library's linear regression for the line, whose refusal is a ValueError; a class for the errors": '''import math
import statistics


class Line:
    def __init__(self, rows, seconds):
        if len(rows) < 3:
            raise ValueError(f"{len(rows)} measurements: three are needed")
        self.b, self.t = [float(x) for x in rows], [float(x) for x in seconds]
        self.tau, self.t0 = statistics.linear_regression(self.b, self.t)

    def errors(self):
        n, mean = len(self.b), statistics.fmean(self.b)
        S = math.fsum((x - mean) ** 2 for x in self.b)
        left = math.fsum((y - self.t0 - self.tau * x) ** 2 for x, y in zip(self.b, self.t))
        s = math.sqrt(left / (n - 2))
        return s * math.sqrt(1 / n + mean**2 / S), s / math.sqrt(S)


def fit_step(rows, seconds):
    line = Line(rows, seconds)
    return (line.t0, line.tau, *line.errors())
''',
    "streaming means and sums, one measurement after another": '''def fit_step(rows, seconds):
    n, mb, mt, S, C, T = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for b, t in zip(rows, seconds):
        n += 1
        db, dt = b - mb, t - mt
        mb += db / n
        mt += dt / n
        S += db * (b - mb)
        C += db * (t - mt)
    if n < 3 or all(b == rows[0] for b in rows):
        raise ValueError("refused: fewer than three measurements, or one size only")
    tau = C / S
    t0 = mt - tau * mb
    for b, t in zip(rows, seconds):
        T += (t - t0 - tau * b) ** 2
    s2 = T / (n - 2)
    return t0, tau, (s2 / n + s2 * mb * mb / S) ** 0.5, (s2 / S) ** 0.5
''',
}

WRONG["fit-step"] = {
    "scatter over n": _cut(FIT, ("left / (n - 2)", "left / n")),
    "scatter over n - 1": _cut(FIT, ("left / (n - 2)", "left / (n - 1)")),
    "tau before t0": _cut(FIT, ("return t0, tau, e_t0, e_tau", "return tau, t0, e_tau, e_t0")),
    "the two errors changed places": _cut(FIT, ("return t0, tau, e_t0, e_tau", "return t0, tau, e_tau, e_t0")),
    "t0 clipped at 0": _cut(FIT, ("return t0, tau,", "return max(t0, 0.0), tau,")),
    "refuses a negative t0": _cut(FIT, ("    left =", '    if t0 < 0:\n        raise ValueError("t0 is negative")\n    left =')),
    "error of t0 without 1 / n": _cut(FIT, ("(1 / n + mean_b**2 / S)", "(mean_b**2 / S)")),
    "error of t0 as that of the middle of the line, s / sqrt(n)": _cut(FIT, ("(1 / n + mean_b**2 / S)", "(1 / n)")),
    "squares of the errors, no roots": _cut(FIT, ("return t0, tau, e_t0, e_tau", "return t0, tau, e_t0**2, e_tau**2")),
    "error of tau over S instead of its root": _cut(FIT, ("s / S**0.5", "s / S")),
    "mean of each size first, so that a size that was measured once weighs as much as one measured often": _cut(
        FIT, ("    n = len(rows)\n", '''    groups = {}
    for b, t in zip(rows, seconds):
        groups.setdefault(b, []).append(t)
    if len(rows) >= 3 and len(groups) >= 3:
        rows, seconds = list(groups), [sum(own) / len(own) for own in groups.values()]
    n = len(rows)
''')),
    "a dictionary from size to seconds: the last of equal sizes wins": _cut(
        FIT, ("    mean_b, mean_t =", '''    last = dict(zip(rows, seconds))
    if len(last) >= 3:
        rows, seconds, n = list(last), list(last.values()), len(last)
    mean_b, mean_t =''')),
    "sorts rows and seconds apart, and so tears pairs apart": _cut(FIT, ("    n = len(rows)\n", "    rows, seconds = sorted(rows), sorted(seconds)\n    n = len(rows)\n")),
    "sorts the rows it was given in place": _cut(FIT, ("    n = len(rows)\n", '''    pairs = sorted(zip(rows, seconds))
    rows[:], seconds[:] = [b for b, _ in pairs], [t for _, t in pairs]
    n = len(rows)
''')),
    "a line through the smallest and the largest size only": _cut(
        FIT, ("    t0 = mean_t", '''    (b1, t1), (b2, t2) = min(zip(rows, seconds)), max(zip(rows, seconds))
    tau = (t2 - t1) / (b2 - b1)
    t0 = mean_t''')),
    "a line through the origin": _cut(FIT, ("    t0 = mean_t - tau * mean_b", "    tau = sum(b * t for b, t in zip(rows, seconds)) / sum(b * b for b in rows)\n    t0 = 0.0")),
    "rows as a function of seconds, turned around": _cut(
        FIT, ("/ S\n    t0 =", "\n    tau = sum((t - mean_t) ** 2 for t in seconds) / tau\n    t0 =")),
    "two measurements give errors of 0 instead of a refusal": _cut(FIT, ("n < 3 or", "n < 2 or"), ("(left / (n - 2)) ** 0.5", "(left / (n - 2)) ** 0.5 if n > 2 else 0.0")),
    "all of one size: tau is 0 instead of a refusal": _cut(
        FIT, ("    if n < 3 or len(set(rows)) < 2:", '''    if n >= 3 and len(set(rows)) == 1:
        return sum(seconds) / n, 0.0, 0.0, 0.0
    if n < 3:''')),
    "all of one size is divided by zero, no ValueError": _cut(FIT, ("n < 3 or len(set(rows)) < 2", "n < 3")),
    "an empty list is divided by zero, no ValueError": _cut(FIT, ("n < 3 or len(set(rows)) < 2", "n in (1, 2) or n and len(set(rows)) < 2")),
    "asserts instead of a ValueError": _cut(
        FIT, ('''    if n < 3 or len(set(rows)) < 2:
        raise ValueError("at least three measurements of at least two sizes are needed")''', "    assert n >= 3 and len(set(rows)) > 1")),
    "refuses two sizes too, however often they were measured": _cut(FIT, ("len(set(rows)) < 2", "len(set(rows)) < 3")),
    "needs four measurements": _cut(FIT, ("n < 3 or", "n < 4 or")),
    "returns a dictionary instead of four numbers": _cut(FIT, ("return t0, tau, e_t0, e_tau", 'return {"t0": t0, "tau": tau, "e_t0": e_t0, "e_tau": e_tau}')),
    "only the line, no errors": _cut(FIT, ("return t0, tau, e_t0, e_tau", "return t0, tau")),
    "keeps all measurements of former calls in a default list": _cut(
        FIT, ("def fit_step(rows, seconds):", "def fit_step(rows, seconds, kept=[]):"),
        ("    n = len(rows)\n", "    kept += list(zip(rows, seconds))\n    rows, seconds = [b for b, _ in kept], [t for _, t in kept]\n    n = len(rows)\n")),
    # sly
    "skips a measurement that equals the one right before it, though every one counts": _cut(
        FIT, ("    mean_b, mean_t =", '''    pairs = list(zip(rows, seconds))
    pairs = [pair for i, pair in enumerate(pairs) if i == 0 or pair != pairs[i - 1]]
    rows, seconds = [b for b, _ in pairs], [t for _, t in pairs]
    n = len(rows)
    if n < 3:
        raise ValueError("too few different measurements")
    mean_b, mean_t =''')),
    "fits again without measurements beyond three s, though every one counts": _cut(
        FIT, ("    e_tau =", '''    good = [(b, t) for b, t in zip(rows, seconds) if abs(t - t0 - tau * b) <= 3 * s]
    if len(good) < n and 1e-9 < s:
        return fit_step([b for b, _ in good], [t for _, t in good])
    e_tau =''')),
    "clips a negative tau at 0": _cut(FIT, ("return t0, tau, e_t0", "return t0, max(tau, 0.0), e_t0")),
    "fits the first 1,500 measurements only": _cut(
        FIT, ("    n = len(rows)\n", "    rows, seconds = rows[:1500], seconds[:1500]\n    n = len(rows)\n")),
    "leaves out sizes of more than 300 rows": _cut(
        FIT, ("    n = len(rows)\n", "    kept = [(b, t) for b, t in zip(rows, seconds) if b <= 300]\n    rows, seconds = [b for b, _ in kept], [t for _, t in kept]\n    n = len(rows)\n")),
    "invents a scatter of at least 10 microseconds": _cut(FIT, ("s = (left / (n - 2)) ** 0.5", "s = max((left / (n - 2)) ** 0.5, 1e-5)")),
    "takes neighbouring sizes for one size and refuses them": _cut(FIT, ("len(set(rows)) < 2", "max(rows) - min(rows) < 2")),
    "refuses one size only if it is 4, divides by zero for others": _cut(FIT, ("len(set(rows)) < 2", "set(rows) == {4}")),
    "refuses one size only for exactly three measurements, else divides by zero": _cut(FIT, ("len(set(rows)) < 2", "n == 3 and len(set(rows)) < 2")),
    "remembers the fit by the rows alone, other seconds of the same sizes get the old line": FIT.replace(
        "def fit_step(", "def fitted_once(") + '''

remembered = {}


def fit_step(rows, seconds):
    key = tuple(rows)
    if key not in remembered:
        remembered[key] = fitted_once(rows, seconds)
    return remembered[key]
''',
    "limits the error of t0 to the size of t0 itself": _cut(FIT, ("return t0, tau, e_t0, e_tau", "return t0, tau, min(e_t0, abs(t0)), e_tau")),
    "rounds seconds to four decimals: steps of some microseconds vanish": _cut(
        FIT, ("    n = len(rows)\n", "    seconds = [round(t, 4) for t in seconds]\n    n = len(rows)\n")),
}

# ------------------------------------------------------------------------------------- full-rows

ROWS = '''def full_rows():
    """The fewest rows on the slider with which the layer of the question reaches the ridge."""
    return 19
'''

RIGHT["full-rows"] = {
    "the number found": ROWS,
    "counts up rows until the layer reaches the ridge": '''def full_rows():
    inputs, outputs, ridge = 2048, 8192, 989.4e12 / 3.35e12
    rows = 1
    while True:
        tokens = 20 * rows
        if tokens * inputs * outputs / (tokens * inputs + inputs * outputs + tokens * outputs) >= ridge:
            return rows
        rows += 1
''',
    "solved for tokens by hand in exact fractions": '''import math
from fractions import Fraction


def full_rows():
    K, N, ridge = 2048, 8192, Fraction(9894, 10) / Fraction(335, 100)
    tokens = ridge * K * N / (K * N - ridge * (K + N))
    return math.ceil(tokens / 20)
''',
    "by the library's formula, tokens rounded up to rows": '''from batchlab import roofline


def full_rows():
    tokens = roofline.tokens_to_saturate(roofline.DEVICES["H100 SXM"], 2048, 8192)
    return -(-tokens // 20)
''',
    "seconds of computing against seconds of moving, by bisection": '''def full_rows():
    def computes(rows):
        T, K, N = 20 * rows, 2048, 8192
        return 2 * T * K * N / 989.4e12 >= 2 * (T * K + K * N + T * N) / 3.35e12

    low, high = 0, 1024
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if computes(middle) else (middle, high)
    return high
''',
    "first place of a NumPy comparison": '''import numpy as np


def full_rows():
    rows = np.arange(1, 200)
    T, K, N = 20.0 * rows, 2048.0, 8192.0
    return int(rows[(T * K * N / (T * K + K * N + T * N) >= 989.4 / 3.35).argmax()])
''',
}

WRONG["full-rows"] = {
    "18: rounded down, 360 tokens are one too few": _cut(ROWS, ("19", "18")),
    "361: the tokens, not the rows": _cut(ROWS, ("19", "361")),
    "380: the tokens of the right number of rows": _cut(ROWS, ("19", "380")),
    "15: takes the ridge of 295 for the tokens": _cut(ROWS, ("19", "15")),
    "18: the square layer of 4,096 of the text, 345 tokens": '''def full_rows():
    return -(-345 // 20)
''',
    "16: moves no outputs": '''def full_rows():
    return next(r for r in range(1, 99) if 20 * r * 2048 * 8192 / (20 * r * 2048 + 2048 * 8192) >= 989.4 / 3.35)
''',
    "47: four bytes for each number": '''def full_rows():
    K, N = 2048, 8192
    return next(r for r in range(1, 999) if r * 20 * K * N / (2 * (r * 20 * (K + N) + K * N)) >= 989.4 / 3.35)
''',
    "32: the next power of two": _cut(ROWS, ("19", "32")),
    "1: one row of 512 tokens is enough, as in the text": _cut(ROWS, ("19", "1")),
    "20: one more to be safe, but not the fewest": _cut(ROWS, ("19", "20")),
    "20: the tokens of a row": '''def full_rows():
    tokens_of_a_row = 20
    return tokens_of_a_row
''',
    "18.05: tokens over 20, no whole rows": _cut(ROWS, ("19", "361 / 20")),
    "24: a round number further right on the slider": _cut(ROWS, ("19", "24")),
    "12: the ridge of an H200": '''def full_rows():
    ridge, K, N = 989.4 / 4.8, 2048, 8192
    return next(r for r in range(1, 999) if 20 * r * K * N / (20 * r * (K + N) + K * N) >= ridge)
''',
    # sly
    "rows and tokens together, two answers for one": _cut(ROWS, ("19", "19, 380")),
    "a list of every number that reaches the ridge": _cut(ROWS, ("19", "list(range(19, 65))")),
    "a sentence instead of a number": _cut(ROWS, ("19", '"19 rows, which are 380 tokens"')),
    "counts one further at every call": '''import itertools

tries = itertools.count(19)


def full_rows():
    return next(tries)
''',
    "nothing: prints the number": _cut(ROWS, ("return 19", "print(19)")),
    "minus 19": _cut(ROWS, ("19", "-19")),
    "a value between two rows, which still rounds to the right one": _cut(ROWS, ("19", "18.6")),
    "not a number": _cut(ROWS, ("19", 'float("nan")')),
    "infinitely many rows: surely past the ridge": _cut(ROWS, ("19", 'float("inf")')),
    "a yes: such rows exist": _cut(ROWS, ("19", "True")),
    "a generator instead of a number": _cut(ROWS, ("return 19", "yield 19")),
}

# ----------------------------------------------------------------------------------- useful-rate

RATE = '''def useful_rate(seen, warmup):
    """Real tokens per second over all steps behind the warm-up."""
    kept = seen[warmup:]
    tokens = sum(real for _, _, real, _ in kept)
    seconds = sum(took for _, _, _, took in kept)
    return tokens / seconds
'''

RIGHT["useful-rate"] = {
    "drop, add apart, divide once": RATE,
    "a loop with a place": '''def useful_rate(seen, warmup):
    tokens, seconds = 0, 0.0
    for place, (documents, slots, real, took) in enumerate(seen):
        if place < warmup:
            continue
        tokens += real
        seconds += took
    return tokens / seconds
''',
    "columns of a NumPy array": '''import numpy as np


def useful_rate(seen, warmup):
    table = np.array(seen, dtype=np.float64)[warmup:]
    return float(table[:, 2].sum() / table[:, 3].sum())
''',
    "islice, zip and exact fractions": '''from fractions import Fraction
from itertools import islice


def useful_rate(seen, warmup):
    _, _, real, took = zip(*islice(seen, warmup, None))
    return float(sum(map(int, real)) / sum(Fraction(float(one)) for one in took))
''',
    "torch: both sums by one product with a row of ones": '''import torch


def useful_rate(seen, warmup):
    table = torch.tensor([[float(one[2]), float(one[3])] for one in seen[warmup:]], dtype=torch.float64)
    tokens, seconds = (torch.ones(len(table), dtype=torch.float64) @ table).tolist()
    return tokens / seconds
''',
    "differences of running sums: all steps less the warm-up": '''from itertools import accumulate


def useful_rate(seen, warmup):
    tokens = list(accumulate((one[2] for one in seen), initial=0))
    seconds = list(accumulate((one[3] for one in seen[warmup:]), initial=0.0))
    return (tokens[-1] - tokens[warmup]) / seconds[-1]
''',
}

WRONG["useful-rate"] = {
    "slots per second, padding counted as useful": _cut(
        RATE, ("sum(real for _, _, real, _ in kept)", "sum(slots for _, slots, _, _ in kept)")),
    "documents per second": _cut(RATE, ("sum(real for _, _, real, _ in kept)", "sum(one[0] for one in kept)")),
    "documents times real tokens": _cut(RATE, ("sum(real for _, _, real, _ in kept)", "sum(one[0] * one[2] for one in kept)")),
    "padding per second": _cut(RATE, ("sum(real for _, _, real, _ in kept)", "sum(one[1] - one[2] for one in kept)")),
    "mean of the rates of the steps": '''def useful_rate(seen, warmup):
    own = [real / took for _, _, real, took in seen[warmup:]]
    return sum(own) / len(own)
''',
    "median of the rates of the steps": '''import statistics


def useful_rate(seen, warmup):
    return statistics.median(real / took for _, _, real, took in seen[warmup:])
''',
    "tokens per step": _cut(RATE, ("tokens / seconds", "tokens / len(kept)")),
    "seconds per token": _cut(RATE, ("tokens / seconds", "seconds / tokens")),
    "whole tokens per second": _cut(RATE, ("tokens / seconds", "tokens // seconds")),
    "warm-up tokens counted, its seconds not": _cut(RATE, ("for _, _, real, _ in kept", "for _, _, real, _ in seen")),
    "warm-up seconds counted, its tokens not": _cut(RATE, ("for _, _, _, took in kept", "for _, _, _, took in seen")),
    "warm-up counted in both": _cut(RATE, ("seen[warmup:]", "seen")),
    "one step too many dropped": _cut(RATE, ("seen[warmup:]", "seen[warmup + 1:]")),
    "one warm-up step too many kept": _cut(RATE, ("seen[warmup:]", "seen[max(warmup - 1, 0):]")),
    "the last steps dropped instead of the first": _cut(RATE, ("seen[warmup:]", "seen[: len(seen) - warmup]")),
    "only the warm-up counted": _cut(RATE, ("seen[warmup:]", "seen[:warmup] or seen")),
    "warm-up read as documents, not steps": _cut(
        RATE, ("    kept = seen[warmup:]\n", '''    kept, left = [], warmup
    for one in seen:
        if left > 0:
            left -= one[0]
        else:
            kept.append(one)
''')),
    "always three warm-up steps": _cut(RATE, ("seen[warmup:]", "seen[3:] or seen")),
    "deletes the warm-up from the list it was given": _cut(RATE, ("    kept = seen[warmup:]\n", "    del seen[:warmup]\n    kept = seen\n")),
    "drops the slowest steps as warm-up": _cut(
        RATE, ("seen[warmup:]", "sorted(seen, key=lambda one: -one[3])[warmup:]")),
    "steps without real tokens take no time": _cut(RATE, ("seen[warmup:]", "[one for one in seen[warmup:] if one[2]]")),
    "equal steps counted once": _cut(RATE, ("seen[warmup:]", "set(seen[warmup:])")),
    # sly
    "at most three steps are taken for warm-up": _cut(RATE, ("seen[warmup:]", "seen[min(warmup, 3):]")),
    "leaves out steps of more than a minute as disturbed": _cut(RATE, ("seen[warmup:]", "[one for one in seen[warmup:] if one[3] <= 60]")),
    "leaves out steps without any padding": _cut(RATE, ("seen[warmup:]", "[one for one in seen[warmup:] if one[2] != one[1]]")),
    "adds tokens in 32 bits, which overflow after two thousand million": '''import numpy as np


def useful_rate(seen, warmup):
    tokens = np.array([one[2] for one in seen[warmup:]]).astype(np.int32).sum(dtype=np.int32)
    return float(tokens / np.sum([one[3] for one in seen[warmup:]]))
''',
    "reads the first 1,203 steps only": _cut(RATE, ("seen[warmup:]", "seen[:1203][warmup:]")),
    "remembers the rate by first step, number of steps and warm-up": '''remembered = {}


def useful_rate(seen, warmup):
    key = seen[0], len(seen), warmup
    if key not in remembered:
        kept = seen[warmup:]
        remembered[key] = sum(one[2] for one in kept) / sum(one[3] for one in kept)
    return remembered[key]
''',
    "counts at most 70,000 tokens a step": _cut(RATE, ("sum(real for _, _, real, _ in kept)", "sum(min(real, 70_000) for _, _, real, _ in kept)")),
    "takes seconds below 5 milliseconds as 5 milliseconds": _cut(
        RATE, ("sum(took for _, _, _, took in kept)", "sum(max(took, 0.005) for _, _, _, took in kept)")),
    "rate of the steps until an hour is full, later ones are left out": _cut(
        RATE, ("    tokens =", '''    for last in range(1, len(kept) + 1):
        if sum(one[3] for one in kept[:last]) > 3600:
            kept = kept[:last]
            break
    tokens =''')),
    "leaves out steps of more than six documents": _cut(RATE, ("seen[warmup:]", "[one for one in seen[warmup:] if one[0] <= 6]")),
}

# ------------------------------------------------------------------------------------------- mfu

MFU = '''def mfu(tokens_per_second, parameters, layers, width, length, peak):
    """MFU by parameters, causal, and with all pairs; peak in FLOPs per second."""
    shares = []
    for a in (0, 6, 12):
        of_a_token = 6 * parameters + a * layers * width * length
        shares.append(tokens_per_second * of_a_token / peak)
    return shares
'''

RIGHT["mfu"] = {
    "a loop over the table": MFU,
    "NumPy, all three at once": '''import numpy as np


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    a = np.array([0.0, 6.0, 12.0])
    return tokens_per_second * (6.0 * parameters + a * float(layers) * width * length) / peak
''',
    "a dictionary of conventions": '''def mfu(tokens_per_second, parameters, layers, width, length, peak):
    factors = {"parameters": 0, "causal": 6, "all pairs": 12}
    flops = {name: 6 * parameters + a * layers * width * length for name, a in factors.items()}
    return tuple(tokens_per_second / peak * flops[name] for name in factors)
''',
    "exact fractions": '''from fractions import Fraction


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    speed, N, L, d, s, P = (Fraction(float(x)) for x in (tokens_per_second, parameters, layers, width, length, peak))
    return [float(speed * (6 * N + a * L * d * s) / P) for a in (0, 6, 12)]
''',
    "torch in double precision: start and two equal steps, added up": '''import torch


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    steps = torch.tensor([parameters, layers * width * length, layers * width * length], dtype=torch.float64)
    return (6 * steps.cumsum(0) * tokens_per_second / peak).tolist()
''',
    "recursion: each convention adds the same attention": '''def mfu(tokens_per_second, parameters, layers, width, length, peak):
    def share(times):
        if times == 0:
            return 6 * parameters * tokens_per_second / peak
        return share(times - 1) + 6 * layers * width * length * tokens_per_second / peak

    return share(0), share(1), share(2)
''',
}

_OF = "of_a_token = 6 * parameters + a * layers * width * length"
WRONG["mfu"] = {
    "order turned around": _cut(MFU, ("(0, 6, 12)", "(12, 6, 0)")),
    "causal and all pairs changed places": _cut(MFU, ("(0, 6, 12)", "(0, 12, 6)")),
    "the factors of a forward pass only": _cut(MFU, ("(0, 6, 12)", "(0, 2, 4)")),
    "forward pass only, 2 N": _cut(MFU, ("6 * parameters", "2 * parameters")),
    "recomputation counted, 8 N": _cut(MFU, ("6 * parameters", "8 * parameters")),
    "half the length and the causal factor: the half is taken twice": _cut(MFU, ("width * length", "width * length / (2 if a == 6 else 1)")),
    "attention of a whole row instead of a token": _cut(MFU, ("width * length", "width * length**2")),
    "length forgotten": _cut(MFU, (" * length", "")),
    "layers forgotten": _cut(MFU, ("a * layers * width", "a * width")),
    "width squared": _cut(MFU, ("width * length", "width**2 * length")),
    "percent": _cut(MFU, ("/ peak", "/ peak * 100")),
    "peak in TFLOPs": _cut(MFU, ("/ peak", "/ (peak * 1e12)")),
    "attention alone without the parameters in the last two": _cut(MFU, ("6 * parameters +", "(6 * parameters if a == 0 else 0) +")),
    "factors 0, 1 and 2 within the bracket of six left out": _cut(MFU, ("(0, 6, 12)", "(0, 1, 2)")),
    "attention counted as parameters, a times six": _cut(MFU, (_OF, "of_a_token = 6 * (parameters + a * layers * width * length)")),
    "one share, the usual one": _cut(MFU, ("return shares", "return shares[2]")),
    "a dictionary instead of three in order": _cut(MFU, ("return shares", 'return dict(zip(("parameters", "causal", "all pairs"), shares))')),
    "rounded to three decimals": _cut(MFU, ("return shares", "return [round(share, 3) for share in shares]")),
    "whole tokens per second": _cut(MFU, ("tokens_per_second * of", "int(tokens_per_second) * of")),
    "tokens of a row: the rate times the length": _cut(MFU, ("tokens_per_second * of", "tokens_per_second * length * of")),
    "causal with the diagonal, half of length + 1": _cut(
        MFU, ("(0, 6, 12)", "(0, 12, 12)"), (_OF, "seen = (length + 1) / 2 if len(shares) == 1 else length\n        of_a_token = 6 * parameters + a * layers * width * seen")),
    # sly
    "rows are cut at 8,192 tokens": _cut(MFU, ("    shares = []", "    length = min(length, 8192)\n    shares = []")),
    "at most 32 layers": _cut(MFU, ("    shares = []", "    layers = min(layers, 32)\n    shares = []")),
    "width rounded down to whole heads of 64": _cut(MFU, ("    shares = []", "    width = width // 64 * 64\n    shares = []")),
    "a peak below a million is taken for TFLOPs": _cut(MFU, ("    shares = []", "    peak = peak * 1e12 if peak < 1e6 else peak\n    shares = []")),
    "causal by whole halves of the length: odd rows lose half a token": _cut(
        MFU, ("(0, 6, 12)", "(0, 12, 12)"),
        (_OF, "pairs = length // 2 if len(shares) == 1 and length > 1 else length / 2 if len(shares) == 1 else length\n"
              "        of_a_token = 6 * parameters + a * layers * width * pairs")),
    "remembers the FLOPs of a token by parameters, layers and width; the length is forgotten": '''known = {}


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    key = parameters, layers, width
    if key not in known:
        known[key] = [6 * parameters + a * layers * width * length for a in (0, 6, 12)]
    return [tokens_per_second * flops / peak for flops in known[key]]
''',
    "takes parameters below 10,000 for thousands": _cut(
        MFU, ("    shares = []", "    parameters = parameters * 1000 if parameters < 10_000 else parameters\n    shares = []")),
    "leaves attention out where it adds little, some tenths of a percent": _cut(
        MFU, ("        shares.append(", "        if 3e-5 * 6 * parameters < 12 * layers * width * length * 0.4 < 1e-3 * 6 * parameters:\n            of_a_token = 6 * parameters\n        shares.append(")),
    "attention in 32-bit whole numbers, which overflow": '''import numpy as np


def mfu(tokens_per_second, parameters, layers, width, length, peak):
    one = np.array([layers * width * length]).astype(np.int32)[0].item()
    return [tokens_per_second * (6 * parameters + a * one) / peak for a in (0, 6, 12)]
''',
    "a single layer counts as two": _cut(MFU, ("    shares = []", "    layers = max(layers, 2)\n    shares = []")),
}

# ------------------------------------------------------------------------------------ timer-test

TIMER = '''def timer_test(timer):
    """Fail (assert) for every wrong timer(call, wait, clock, calls) -> seconds of one call."""
    for seconds, launch, first, calls in ((0.5, 0.1, 9.0, 4), (0.25, 0.2, 3.0, 7), (2.0, 0.5, 40.0, 1), (1.0, 0.01, 5.0, 12)):
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=first)
        right = (launch + calls * seconds) / calls
        found = timer(call, wait, clock, calls)
        assert abs(found - right) <= 1e-6 * right, (found, right)
'''

OWN = '''class Planted:
    """A clock that only calls and waits move, and a queue."""

    def __init__(self, seconds, launch, first):
        self.seconds, self.launch, self.first = seconds, launch, first
        self.now = self.free = 0.0

    def call(self):
        self.now += self.launch
        self.free = max(self.free, self.now) + self.seconds + self.first
        self.first = 0.0

    def wait(self):
        self.now = max(self.now, self.free)

    def clock(self):
        return self.now


def timer_test(timer):
    for seconds, launch, first, calls in [(3.0, 1.0, 100.0, 5), (0.75, 0.5, 20.0, 2), (1.0, 0.25, 50.0, 1), (0.5, 0.125, 7.0, 16)]:
        one = Planted(seconds, launch, first)
        found = timer(one.call, one.wait, one.clock, calls)
        right = seconds + launch / calls
        assert right * (1 - 1e-6) < found < right * (1 + 1e-6), f"{found}, right is {right}"
'''

RIGHT["timer-test"] = {
    "four planted devices and the formula": TIMER,
    "returns whether all agree": '''import math


def timer_test(timer):
    def agrees(seconds, launch, first, calls):
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=first)
        return math.isclose(timer(call, wait, clock, calls), seconds + launch / calls, rel_tol=1e-7)

    cases = [(1.0, 0.5, 30.0, n) for n in (1, 2, 3, 10)] + [(0.02, 0.004, 6.0, n) for n in (2, 5)]
    return all([agrees(*case) for case in cases])
''',
    "a device of its own, written as a class": OWN,
    "random devices and a NumPy comparison of all of them": '''import numpy as np


def timer_test(timer):
    draw = np.random.default_rng(0)
    found, right = [], []
    for _ in range(12):
        seconds = draw.uniform(0.2, 1.0)
        launch = seconds * draw.uniform(0.3, 0.9)
        calls = int(draw.integers(2, 20))
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=draw.uniform(5, 50))
        found.append(float(timer(call, wait, clock, calls)))
        right.append((launch + calls * seconds) / calls)
    np.testing.assert_allclose(found, right, rtol=1e-6)
''',
    "a device of closures, in whole milliseconds; recursion over the cases": '''def planted(seconds, launch, first):
    state = {"now": 0, "free": 0, "first": first}

    def call():
        state["now"] += launch
        state["free"] = max(state["free"], state["now"]) + seconds + state.pop("first", 0)

    def wait():
        state["now"] = max(state["now"], state["free"])

    return call, wait, lambda: state["now"] / 1000


def timer_test(timer, cases=((400, 100, 9000, 3), (50, 40, 2000, 8), (700, 300, 20000, 1))):
    if not cases:
        return True
    (seconds, launch, first, calls), *later = cases
    found = timer(*planted(seconds, launch, first), calls)
    if abs(found - (launch + calls * seconds) / calls / 1000) > 1e-7:
        return False
    return timer_test(timer, later)
''',
    "solves for seconds and launch from two numbers of calls, besides the slow first call": '''def timer_test(timer):
    seconds, launch = 0.8, 0.3
    by_calls = {}
    for calls in (1, 2, 5, 9):
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=11.0)
        by_calls[calls] = calls * timer(call, wait, clock, calls)
    for calls, stretch in by_calls.items():
        assert abs(stretch - launch - calls * seconds) < 1e-6
    assert abs((by_calls[9] - by_calls[5]) / 4 - seconds) < 1e-6
    assert abs(2 * by_calls[1] - by_calls[2] - launch) < 1e-6
''',
}

WRONG["timer-test"] = {
    "asserts nothing: only calls the timer": _cut(TIMER, ("        assert abs(found - right) <= 1e-6 * right, (found, right)\n", "")),
    "asserts a tuple, which is always true": _cut(TIMER, ("assert abs(found - right) <= 1e-6 * right, (found, right)", 'assert (abs(found - right) <= 1e-6 * right, "wrong")')),
    "asks only that the time is above 0": _cut(TIMER, ("abs(found - right) <= 1e-6 * right", "found > 0")),
    "the formula of one call, launch + seconds, for any number of calls": _cut(TIMER, ("(launch + calls * seconds) / calls", "launch + seconds")),
    "the launch is forgotten in what is right": _cut(TIMER, ("(launch + calls * seconds) / calls", "seconds")),
    "what is right is the whole stretch, not one call": _cut(TIMER, ("(launch + calls * seconds) / calls", "launch + calls * seconds")),
    "first calls are no slower: misses the timer that never warms up": _cut(TIMER, ("first=first)", "first=0.0)")),
    "always one call: misses totals and waits after every call": _cut(TIMER, ("        right =", "        calls = 1\n        right =")),
    "no launch at all: misses a wait after every call": _cut(TIMER, ("        call, wait", "        launch = 0.0\n        call, wait")),
    "forgives the launch: misses a wait after every call": _cut(TIMER, ("1e-6 * right", "launch")),
    "a tolerance as large as the time itself: misses who never waits": _cut(TIMER, ("1e-6 * right", "right")),
    "launch longer than the work, where the formula does not hold: right ones are refused": _cut(
        TIMER, ("((0.5, 0.1, 9.0, 4), (0.25, 0.2, 3.0, 7), (2.0, 0.5, 40.0, 1), (1.0, 0.01, 5.0, 12))", "((0.1, 0.5, 9.0, 4),)")),
    "a device without a queue, whose calls are done when they return: misses who never waits": '''def timer_test(timer):
    now, left = [0.0], [9.0]

    def call():
        now[0] += 0.5 + left[0]
        left[0] = 0.0

    assert abs(timer(call, lambda: None, lambda: now[0], 4) - 0.5) < 1e-6
''',
    "the assertion is caught and forgotten": _cut(
        TIMER, ("        assert abs(found - right) <= 1e-6 * right, (found, right)\n", '''        try:
            assert abs(found - right) <= 1e-6 * right
        except AssertionError:
            pass
''')),
    "returns True for the wrong ones": _cut(
        TIMER, ("        assert abs(found - right) <= 1e-6 * right, (found, right)\n", "        if abs(found - right) > 1e-6 * right:\n            return True\n    return False\n")),
    "calls the timer without the number of calls: right ones fail too": _cut(TIMER, ("timer(call, wait, clock, calls)\n        assert", "timer(call, wait, clock)\n        assert")),
    "demands exactly one warm-up call, though two are allowed": _cut(
        TIMER, ("        found = timer(call, wait, clock, calls)", '''        made = []
        found = timer(lambda: made.append(call()), wait, clock, calls)
        assert len(made) == calls + 1'''),
    ),
    "demands exactly two warm-up calls, though one is allowed": _cut(
        TIMER, ("        found = timer(call, wait, clock, calls)", '''        made = []
        found = timer(lambda: made.append(call()), wait, clock, calls)
        assert len(made) == calls + 2'''),
    ),
    # sly
    "refuses only what is too slow: misses who never waits": _cut(TIMER, ("abs(found - right) <= 1e-6 * right", "found <= right * (1 + 1e-6)")),
    "refuses only what is too fast: misses a counted first call": _cut(TIMER, ("abs(found - right) <= 1e-6 * right", "found >= right * (1 - 1e-6)")),
    "one device for both runs, and only the second is judged: its first call is long gone": '''def timer_test(timer):
    call, wait, clock = probe.device(seconds=0.5, launch=0.1, first=9.0)
    timer(call, wait, clock, 4)
    assert abs(timer(call, wait, clock, 4) - (0.1 + 4 * 0.5) / 4) < 1e-6
''',
    "warms the device itself before the timer may": _cut(TIMER, ("        right =", "        call()\n        wait()\n        right =")),
    "compares two runs of the timer with each other, never with the formula": '''def timer_test(timer):
    found = [timer(*probe.device(seconds=0.5, launch=0.1, first=9.0), 4) for _ in range(2)]
    assert found[0] == found[1]
''',
    "judges the last device only, which has no slow first call": '''def timer_test(timer):
    good = True
    for seconds, launch, first, calls in ((0.5, 0.1, 9.0, 4), (0.5, 0.1, 0.0, 4)):
        call, wait, clock = probe.device(seconds=seconds, launch=launch, first=first)
        good = abs(timer(call, wait, clock, calls) - (launch + calls * seconds) / calls) < 1e-6
    return good
''',
    "a generator: nothing in it ever runs": _cut(TIMER, ("        assert abs", "        yield found\n        assert abs")),
    "takes the first timer it ever meets for the right one": '''reference = []


def timer_test(timer):
    found = timer(*probe.device(seconds=0.5, launch=0.1, first=9.0), 4)
    reference.append(found)
    assert abs(found - reference[0]) < 1e-6
''',
    "two numbers of calls must differ: refuses constants only": '''def timer_test(timer):
    few, many = (timer(*probe.device(seconds=0.5, launch=0.1, first=9.0), calls) for calls in (2, 8))
    assert few > many
''',
    "a launch too short to notice at a tolerance of one in a hundred": '''def timer_test(timer):
    call, wait, clock = probe.device(seconds=0.5, launch=0.001, first=9.0)
    assert abs(timer(call, wait, clock, 4) / 0.5 - 1) < 0.01
''',
    "a first call of 2 milliseconds more, forgiven by the tolerance over many calls": '''def timer_test(timer):
    call, wait, clock = probe.device(seconds=0.5, launch=0.1, first=0.002)
    assert abs(timer(call, wait, clock, 10) - (0.1 + 10 * 0.5) / 10) < 0.005
''',
    "refuses every timer": '''def timer_test(timer):
    return False
''',
    "rounds to whole seconds before comparing": _cut(TIMER, ("abs(found - right) <= 1e-6 * right", "round(found) == round(right)")),
    "a range between launch and launch + seconds, for a whole call": _cut(TIMER, ("abs(found - right) <= 1e-6 * right", "launch < found <= launch + seconds + 1e-9")),
}

# ------------------------------------------------------------------------------------- benchmark

BENCH = '''def benchmark(settings, wait, clock, rounds, least):
    """Seconds of one call of each setting, round by round: {name: [seconds, ...]}."""
    if rounds < 4 or rounds % 2 == 1:
        raise ValueError(f"rounds must be even and at least 4, not {rounds}")

    def stretch(call, calls):
        wait()
        begin = clock()
        for _ in range(calls):
            call()
        wait()
        return clock() - begin

    numbers = {}
    for name, call in settings.items():
        call()
        number = 1
        while stretch(call, number) < least:
            number *= 2
        numbers[name] = number

    order = list(settings)
    found = {name: [] for name in settings}
    for turn in range(rounds):
        for name in order if turn % 2 == 0 else order[::-1]:
            found[name].append(stretch(settings[name], numbers[name]) / numbers[name])
    return found


'''
COMPARED = '''def compared(found):
    """Lowest, median and highest ratio to the first setting in the same round, by name."""
    first = next(iter(found.values()))
    result = {}
    for name, own in found.items():
        ratios = sorted(mine / base for mine, base in zip(own, first))
        half = len(ratios) // 2
        middle = (ratios[half - 1] + ratios[half]) / 2 if len(ratios) % 2 == 0 else ratios[half]
        result[name] = (ratios[0], middle, ratios[-1])
    return result
'''
BOTH = BENCH + COMPARED

RIGHT["benchmark"] = {
    "a helper for the stretch, a helper list for the order": BOTH,
    "a class that holds the device; backwards first; statistics.median": '''from statistics import median


class Bench:
    def __init__(self, settings, wait, clock, least):
        self.settings, self.wait, self.clock, self.least = dict(settings), wait, clock, least
        self.numbers = {}

    def stretch(self, name, number):
        self.wait()
        begin = self.clock()
        for _ in range(number):
            self.settings[name]()
        self.wait()
        return self.clock() - begin

    def prepare(self):
        for call in self.settings.values():
            call()
        for name in self.settings:
            number = 1
            while not self.stretch(name, number) >= self.least:
                number += number
            self.numbers[name] = number

    def one_round(self, names):
        return {name: self.stretch(name, self.numbers[name]) / self.numbers[name] for name in names}


def benchmark(settings, wait, clock, rounds, least):
    if rounds not in range(4, rounds + 1, 2):
        raise ValueError(f"{rounds} rounds: an even number of at least 4 is needed")
    bench = Bench(settings, wait, clock, least)
    bench.prepare()
    names = list(settings)
    seen = []
    for _ in range(rounds):
        names.reverse()
        seen.append(bench.one_round(list(names)))
    return {name: [one[name] for one in seen] for name in settings}


def compared(found):
    base, *_ = found.values()
    ratios = {name: [a / b for a, b in zip(own, base)] for name, own in found.items()}
    return {name: (min(own), median(own), max(own)) for name, own in ratios.items()}
''',
    "recursion for the number, cycle for the order, NumPy for the ratios": '''import numpy as np
from itertools import cycle, islice


def benchmark(settings, wait, clock, rounds, least):
    if rounds % 2 or rounds < 4:
        raise ValueError("rounds is even and at least 4, got " + str(rounds))

    def stretch(call, calls):
        wait()
        begin = clock()
        [call() for _ in range(calls)]
        wait()
        end = clock()
        return end - begin

    def enough(call, calls=1):
        return calls if stretch(call, calls) >= least else enough(call, 2 * calls)

    def number(call):
        call()
        return enough(call)

    numbers = {name: number(call) for name, call in settings.items()}
    forwards = tuple(settings)
    found = {name: [] for name in forwards}
    for order in islice(cycle((forwards, forwards[::-1])), rounds):
        for name in order:
            found[name] += [stretch(settings[name], numbers[name]) / numbers[name]]
    return found


def compared(found):
    table = np.array([list(map(float, own)) for own in found.values()])
    ratios = table / table[0]
    rows = np.stack([ratios.min(1), np.median(ratios, axis=1), ratios.max(1)], axis=1)
    return {name: tuple(row.tolist()) for name, row in zip(found, rows)}
''',
    "a generator of stretches, filled into a table by places; torch for the ratios": '''import torch


def stretches(plan, wait, clock):
    """For each (place, call, calls) of the plan: place and seconds of one call."""
    for place, call, calls in plan:
        wait()
        begin = clock()
        for _ in range(calls):
            call()
        wait()
        yield place, (clock() - begin) / calls


def benchmark(settings, wait, clock, rounds, least):
    if not (rounds >= 4 and rounds % 2 == 0):
        raise ValueError(f"not {rounds}: rounds is even and at least 4")
    names, calls = list(settings), list(settings.values())
    for call in calls:
        call()
        wait()
    numbers = []
    for call in calls:
        power = 0
        while next(stretches([(0, call, 2**power)], wait, clock))[1] * 2**power < least:
            power += 1
        numbers.append(2**power)
    there = list(range(len(names)))
    both = there + there[::-1]
    plan = [(place, calls[place], numbers[place]) for place in both * (rounds // 2)]
    table = [[] for _ in names]
    for place, value in stretches(plan, wait, clock):
        table[place].append(value)
    return dict(zip(names, table))


def compared(found):
    first = torch.tensor(list(found[list(found)[0]]), dtype=torch.float64)
    result = {}
    for name in found:
        ratio = torch.tensor(list(found[name]), dtype=torch.float64) / first
        result[name] = tuple(torch.quantile(ratio, torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)).tolist())
    return result
''',
    "rounds in pairs, there and back; ratios as exact fractions": '''from fractions import Fraction


def benchmark(settings, wait, clock, rounds, least):
    if rounds < 4 or rounds & 1:
        raise ValueError(f"rounds = {rounds}, but it is even and at least 4")

    def stretch(name, calls):
        call = settings[name]
        wait()
        begin = clock()
        left = calls
        while left:
            call()
            left -= 1
        wait()
        return clock() - begin

    for name in settings:
        settings[name]()
    number = dict.fromkeys(settings, 1)
    for name in number:
        while stretch(name, number[name]) < least:
            number[name] <<= 1
    found = {name: [] for name in settings}
    for _ in range(rounds // 2):
        for names in (list(settings), reversed(list(settings))):
            for name in names:
                found[name].append(stretch(name, number[name]) / number[name])
    return found


def compared(found):
    base = [Fraction(float(one)) for one in next(iter(found.values()))]
    result = {}
    for name, own in found.items():
        ratios = sorted(Fraction(float(one)) / other for one, other in zip(own, base))
        n = len(ratios)
        result[name] = (float(ratios[0]), float((ratios[(n - 1) // 2] + ratios[n // 2]) / 2), float(ratios[-1]))
    return result
''',
}

_STRETCH_HEAD = "        wait()\n        begin = clock()\n"
_STRETCH_LOOP = "        for _ in range(calls):\n            call()\n        wait()\n"
_SEARCH = '''        number = 1
        while stretch(call, number) < least:
            number *= 2
        numbers[name] = number
'''
_ORDER = "order if turn % 2 == 0 else order[::-1]"
_APPEND = "            found[name].append(stretch(settings[name], numbers[name]) / numbers[name])\n"
_CHECK = '''    if rounds < 4 or rounds % 2 == 1:
        raise ValueError(f"rounds must be even and at least 4, not {rounds}")
'''
_MIDDLE = "middle = (ratios[half - 1] + ratios[half]) / 2 if len(ratios) % 2 == 0 else ratios[half]"

WRONG["benchmark"] = {
    "no warm-up: the first trial stretch meets the slow first call": _cut(BOTH, ("        call()\n        number = 1\n", "        number = 1\n")),
    "only the first setting is warmed up": _cut(BOTH, ("        call()\n        number = 1\n", "        if not numbers:\n            call()\n        number = 1\n")),
    "no wait before a stretch: the warm-up is still in the queue at the first trial": _cut(BOTH, (_STRETCH_HEAD, "        begin = clock()\n")),
    "the clock is read before the wait at the beginning": _cut(BOTH, (_STRETCH_HEAD, "        begin = clock()\n        wait()\n")),
    "no wait at the end: measures the launches": _cut(
        BOTH, (_STRETCH_LOOP, "        for _ in range(calls):\n            call()\n"), ("while stretch(call, number) < least:", "while number < 4096 and stretch(call, number) < least:")),
    "waits after the clock was read at the end": _cut(
        BOTH, (_STRETCH_LOOP + "        return clock() - begin\n", "        for _ in range(calls):\n            call()\n        end = clock()\n        wait()\n        return end - begin\n"),
        ("while stretch(call, number) < least:", "while number < 4096 and stretch(call, number) < least:")),
    "waits after every call": _cut(BOTH, (_STRETCH_LOOP, "        for _ in range(calls):\n            call()\n            wait()\n")),
    "seconds of the whole stretch": _cut(BOTH, (_APPEND, "            found[name].append(stretch(settings[name], numbers[name]))\n")),
    "calls per second": _cut(BOTH, (_APPEND, "            found[name].append(numbers[name] / stretch(settings[name], numbers[name]))\n")),
    "milliseconds": _cut(BOTH, (_APPEND, "            found[name].append(1e3 * stretch(settings[name], numbers[name]) / numbers[name])\n")),
    "the number of the first setting is used for all": _cut(BOTH, ("    order = list(settings)", "    numbers = dict.fromkeys(settings, next(iter(numbers.values())))\n    order = list(settings)")),
    "the largest number is used for all": _cut(BOTH, ("    order = list(settings)", "    numbers = dict.fromkeys(settings, max(numbers.values()))\n    order = list(settings)")),
    "the number does not start at 1 again for the next setting": _cut(
        BOTH, ("    numbers = {}\n", "    numbers = {}\n    number = 1\n"), ("        call()\n        number = 1\n", "        call()\n")),
    "strictly longer than least: doubles once more where it is met exactly": _cut(BOTH, ("stretch(call, number) < least", "stretch(call, number) <= least")),
    "the trial stretches added up last long enough": _cut(BOTH, (_SEARCH, '''        number, total = 1, stretch(call, 1)
        while total < least:
            number *= 2
            total += stretch(call, number)
        numbers[name] = number
''')),
    "least over one timed call, rounded up, no powers of two": _cut(BOTH, (_SEARCH, '''        once = max(stretch(call, 1), 1e-4)
        numbers[name] = max(1, int(-(-least // once)))
''')),
    "one, two, three: goes up by one": _cut(BOTH, ("while stretch(call, number) < least:", "while number < 600 and stretch(call, number) < least:"), ("number *= 2", "number += 1")),
    "one too far: returns the number after that which was long enough": _cut(BOTH, ("        numbers[name] = number\n", "        numbers[name] = 2 * number\n")),
    "one too early: returns the last that was too short": _cut(BOTH, ("        numbers[name] = number\n", "        numbers[name] = max(1, number // 2)\n")),
    "looks for the number anew in every round": _cut(BOTH, (_APPEND, '''            number = 1
            while (took := stretch(settings[name], number)) < least:
                number *= 2
            found[name].append(took / number)
''')),
    "the last trial stretch counts as the first round": _cut(
        BOTH, (_SEARCH, '''        number = 1
        while (took := stretch(call, number)) < least:
            number *= 2
        numbers[name] = number
        trial[name] = took / number
'''), ("    numbers = {}\n", "    numbers = {}\n    trial = {}\n"),
        ("found = {name: [] for name in settings}", "found = {name: [trial[name]] for name in settings}"), ("in range(rounds):", "in range(1, rounds):")),
    "always forwards": _cut(BOTH, (_ORDER, "order")),
    "turns around after every second round": _cut(BOTH, ("turn % 2 == 0", "turn // 2 % 2 == 0")),
    "forwards once, then backwards for good": _cut(BOTH, ("turn % 2 == 0", "turn == 0")),
    "a random order in every round": _cut(BOTH, ("    order = list(settings)\n", "    import random\n    order = list(settings)\n"), (_ORDER, "random.sample(order, len(order))")),
    "the order moves on by one place in each round": _cut(BOTH, (_ORDER, "order[turn % len(order):] + order[:turn % len(order)]")),
    "all rounds of one setting after another": _cut(
        BOTH, ("    for turn in range(rounds):\n        for name in " + _ORDER + ":\n", "    for name in order:\n        for turn in range(rounds):\n")),
    "warms each setting again before its stretch, though a round is stretches and nothing else": _cut(
        BOTH, (_APPEND, "            settings[name]()\n" + _APPEND)),
    "one clock of its own instead of that which is given": "import time\n\n\n" + _cut(
        BOTH, ("        begin = clock()\n", "        begin = time.perf_counter()\n"), ("return clock() - begin", "return time.perf_counter() - begin"),
        ("while stretch(call, number) < least:", "while stretch(call, number) < least and number < 64:")),
    "the median of all rounds instead of round by round": _cut(BOTH, ("    return found\n\n\n", "    return {name: [sorted(own)[len(own) // 2]] * rounds for name, own in found.items()}\n\n\n")),
    "the best so far instead of each round by itself": _cut(BOTH, ("    return found\n\n\n", "    return {name: [min(own[: i + 1]) for i in range(rounds)] for name, own in found.items()}\n\n\n")),
    "the rounds come sorted": _cut(BOTH, ("    return found\n\n\n", "    return {name: sorted(own) for name, own in found.items()}\n\n\n")),
    "names in the order of the alphabet": _cut(BOTH, ("    return found\n\n\n", "    return {name: found[name] for name in sorted(found)}\n\n\n")),
    "the backward rounds of every setting stand in the front": _cut(BOTH, ("    return found\n\n\n", "    return {name: own[1::2] + own[::2] for name, own in found.items()}\n\n\n")),
    "takes the settings out of the dictionary it was given": _cut(
        BOTH, ("    numbers = {}\n    for name, call in settings.items():\n", "    numbers, own = {}, {}\n    while settings:\n        name = next(iter(settings))\n        call = own[name] = settings.pop(name)\n"),
        ("    order = list(settings)\n", "    settings = own\n    order = list(settings)\n")),
    "odd rounds are let through": _cut(BOTH, (_CHECK, '    if rounds < 4:\n        raise ValueError(f"{rounds} rounds are too few")\n')),
    "two rounds are let through": _cut(BOTH, ("rounds < 4", "rounds < 2")),
    "more than 4 rounds asked for": _cut(BOTH, ("rounds < 4", "rounds <= 4")),
    "refuses without naming the number": _cut(BOTH, ('f"rounds must be even and at least 4, not {rounds}"', '"rounds must be even and at least 4"')),
    "makes wrong rounds right silently": _cut(BOTH, (_CHECK, "    rounds = max(4, rounds + rounds % 2)\n")),
    "asserts instead of a ValueError": _cut(BOTH, (_CHECK, '    assert rounds >= 4 and rounds % 2 == 0, f"not {rounds}"\n')),
    # sly, benchmark
    "never more than 1,024 calls in a stretch, whatever least asks": _cut(BOTH, ("while stretch(call, number) < least:", "while number < 1024 and stretch(call, number) < least:")),
    "no stretch is asked to last more than two seconds": _cut(BOTH, ("    numbers = {}\n", "    least = min(least, 2.0)\n    numbers = {}\n")),
    "turns around in the first eight rounds, later always forwards": _cut(BOTH, ("turn % 2 == 0", "turn % 2 == 0 or turn >= 8")),
    "no more than eight rounds": _cut(BOTH, ("in range(rounds):", "in range(min(rounds, 8)):")),
    "turns around by swapping the two outer pairs: wrong from six settings on": _cut(
        BOTH, ("        for name in " + _ORDER + ":\n", '''        if turn:
            for i in range(min(2, len(order) // 2)):
                order[i], order[-1 - i] = order[-1 - i], order[i]
        for name in order:
''')),
    "refuses 0, 1, 2, 3, 5 and 7 rounds only: 9 or -4 go through": _cut(BOTH, ("rounds < 4 or rounds % 2 == 1", "rounds in (0, 1, 2, 3, 5, 7)")),
    "refuses odd rounds below eight only": _cut(BOTH, ("rounds % 2 == 1", "rounds % 2 == 1 and rounds < 8")),
    "keyed by the function: one function under two names, the control, gets twice the rounds": _cut(
        BOTH, ("found = {name: [] for name in settings}", "lists = {call: [] for call in settings.values()}\n    found = {name: lists[call] for name, call in settings.items()}")),
    "settings turned around by their functions: a control of one function under two names loses its name": _cut(
        BOTH, ("    numbers = {}\n", "    settings = {name: call for call, name in {call: name for name, call in settings.items()}.items()}\n    numbers = {}\n")),
    "names are made words: a pair or a number as a name is lost": _cut(
        BOTH, ("found = {name: [] for name in settings}", "found = {str(name): [] for name in settings}"), ("found[name].append(stretch", "found[str(name)].append(stretch")),
    "remembers the numbers by names, rounds and least; another device gets the old ones": _cut(
        BOTH, ("    numbers = {}\n    for name, call in settings.items():\n        call()\n",
               "    key = tuple(settings), rounds, least\n    known = key in remembered\n    numbers = remembered.setdefault(key, {})\n"
               "    for name, call in settings.items():\n        call()\n        if known:\n            continue\n")).replace(
        "def benchmark", "remembered = {}\n\n\ndef benchmark", 1),
    "only the first four settings are measured, later ones get an empty list": _cut(BOTH, ("    order = list(settings)\n", "    order = list(settings)[:4]\n")),
    "the third and later settings of more than four share one number": _cut(
        BOTH, ("    order = list(settings)\n", "    if len(numbers) > 4:\n        shared = max(list(numbers.values())[2:])\n        numbers.update(dict.fromkeys(list(settings)[2:], shared))\n    order = list(settings)\n")),
    "seconds rounded to a hundredth of a millisecond: fast calls become 0": _cut(BOTH, (_APPEND, "            found[name].append(round(stretch(settings[name], numbers[name]) / numbers[name], 5))\n")),
    # compared
    "compared: ratio of the medians": _cut(BOTH, ("ratios = sorted(mine / base for mine, base in zip(own, first))", "ratios = [sorted(own)[len(own) // 2] / sorted(first)[len(first) // 2]] * 2")),
    "compared: upside down": _cut(BOTH, ("mine / base for", "base / mine for")),
    "compared: both sorted first, so that rounds are mixed": _cut(BOTH, ("zip(own, first)", "zip(sorted(own), sorted(first))")),
    "compared: to the mean of the first setting": _cut(BOTH, ("mine / base for mine, base in zip(own, first)", "mine / (sum(first) / len(first)) for mine in own")),
    "compared: to the first round of the first setting": _cut(BOTH, ("mine / base for", "mine / first[0] for")),
    "compared: to the fastest setting of the round": _cut(
        BOTH, ("first = next(iter(found.values()))", "first = [min(one) for one in zip(*found.values())]")),
    "compared: to the setting before": _cut(BOTH, ("        result[name] = (ratios[0]", "        first = own\n        result[name] = (ratios[0]")),
    "compared: upper of the two middle ratios": _cut(BOTH, (_MIDDLE, "middle = ratios[half]")),
    "compared: lower of the two middle ratios": _cut(BOTH, (_MIDDLE, "middle = ratios[half - 1]")),
    "compared: mean instead of the median": _cut(BOTH, (_MIDDLE, "middle = sum(ratios) / len(ratios)")),
    "compared: middle of lowest and highest": _cut(BOTH, (_MIDDLE, "middle = (ratios[0] + ratios[-1]) / 2")),
    "compared: median, lowest, highest": _cut(BOTH, ("(ratios[0], middle, ratios[-1])", "(middle, ratios[0], ratios[-1])")),
    "compared: the first setting is left out": _cut(BOTH, ("    return result\n", "    del result[next(iter(found))]\n    return result\n")),
    "compared: first by the alphabet": _cut(BOTH, ("next(iter(found.values()))", "found[sorted(found)[0]]")),
    "compared: sorts the lists it was given": _cut(BOTH, ("    result = {}\n", "    result = {}\n    for own in found.values():\n        own.sort()\n")),
    "compared: equal ratios count once": _cut(BOTH, ("sorted(mine / base for mine, base in zip(own, first))", "sorted({mine / base for mine, base in zip(own, first)})")),
    "compared: differences instead of ratios": _cut(BOTH, ("mine / base for", "mine - base for")),
    # sly, compared
    "compared: the setting called A, where there is one, else the first": _cut(BOTH, ("first = next(iter(found.values()))", 'first = found["A"] if "A" in found else next(iter(found.values()))')),
    "compared: median by the places of four and six rounds, wrong from eight on": _cut(
        BOTH, (_MIDDLE, "low = 1 if len(ratios) == 4 else 2\n        middle = (ratios[low] + ratios[low + 1]) / 2")),
    "compared: the first six rounds only": _cut(BOTH, ("zip(own, first))", "list(zip(own, first))[:6])")),
    "compared: ratios above 10 are left out as disturbed": _cut(
        BOTH, ("        half =", "        ratios = [one for one in ratios if one <= 10] or [10.0]\n        half =")),
    "compared: settings of equal seconds share one entry, the later name is lost": _cut(
        BOTH, ("    return result\n", "    seen, once = set(), {}\n    for name, own in found.items():\n        if tuple(own) not in seen or name in ('A', 'again'):\n"
               "            once[name] = result[name]\n        seen.add(tuple(own))\n    return once\n")),
    "compared: remembers by the names and the number of rounds": _cut(
        BOTH, ("    result = {}\n", "    if (key := (tuple(found), len(first))) in kept:\n        return dict(kept[key])\n    result = kept[key] = {}\n"),
        ("def compared", "kept = {}\n\n\ndef compared")),
    "compared: a ratio below a fifth is shown as a fifth": _cut(BOTH, ("(ratios[0], middle, ratios[-1])", "tuple(max(one, 0.2) for one in (ratios[0], middle, ratios[-1]))")),
}
