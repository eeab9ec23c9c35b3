# ruff: noqa
"""Lesson 14_minima: answers of a second fresh student, written from the student copy alone."""

WRONG = {}
RIGHT = {}

# ---------------------------------------------------------------------------------------- updates

RIGHT["updates"] = {
    "whole numbers, double minus": '''
def updates(examples, epochs, small, large):
    a, b = (epochs * -(-examples // batch) for batch in (small, large))
    return {"small": a, "large": b, "epochs": a / (b // epochs)}
''',
    "divmod loop": '''
def updates(examples, epochs, small, large):
    steps = {}
    for name, batch in (("large", large), ("small", small)):
        full, rest = divmod(examples, batch)
        steps[name] = full + (1 if rest else 0)
    out = {name: one * epochs for name, one in steps.items()}
    out["epochs"] = float(out["small"]) / steps["large"]
    return out
''',
    "NumPy int64": '''
def updates(examples, epochs, small, large):
    batches = np.array([small, large], dtype=np.int64)
    each = (examples + batches - 1) // batches
    total = each * epochs
    return {"small": total[0], "large": total[1], "epochs": total[0] / each[1]}
''',
    "fractions": '''
from fractions import Fraction
from math import ceil

def updates(examples, epochs, small, large):
    one = ceil(Fraction(examples, large))
    all_small = ceil(Fraction(examples, small)) * epochs
    return dict(small=all_small, large=one * epochs, epochs=float(Fraction(all_small, one)))
''',
    "torch": '''
import torch

def updates(examples, epochs, small, large):
    n = torch.tensor(examples, dtype=torch.int64)
    a = -torch.div(-n, small, rounding_mode="floor") * epochs
    b = -torch.div(-n, large, rounding_mode="floor")
    return {"small": a, "large": b * epochs, "epochs": a.double() / b.double()}
''',
}

WRONG["updates"] = {
    "floor: the short batch is dropped": '''
def updates(examples, epochs, small, large):
    a, b = examples // small, examples // large
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "rounds up once, over all epochs": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples * epochs // small), -(-examples * epochs // large)
    return {"small": a, "large": b, "epochs": a / -(-examples // large)}
''',
    "the steps right, epochs from all examples: small steps x large / examples": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small) * epochs, -(-examples // large) * epochs
    return {"small": a, "large": b, "epochs": a * large / examples}
''',
    "epochs by the ratio of the batches (right only where both divide)": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small) * epochs, -(-examples // large) * epochs
    return {"small": a, "large": b, "epochs": epochs * large / small}
''',
    "one short batch in all: the last epoch only": '''
def updates(examples, epochs, small, large):
    def steps(batch):
        return epochs * (examples // batch) + (examples % batch > 0)
    a, b = steps(small), steps(large)
    return {"small": int(a), "large": int(b), "epochs": a / -(-examples // large)}
''',
    "rounds to the nearest whole step": '''
def updates(examples, epochs, small, large):
    a, b = max(1, round(examples / small)), max(1, round(examples / large))
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "one step more, always": '''
def updates(examples, epochs, small, large):
    a, b = examples // small + 1, examples // large + 1
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "floor, but at least one step": '''
def updates(examples, epochs, small, large):
    a, b = max(1, examples // small), max(1, examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "epochs upside down": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": epochs * b / a}
''',
    "epochs: only the factor, not times the epochs": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": a / b}
''',
    "epochs rounded up to a whole one": '''
import math
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": float(math.ceil(a * epochs / b))}
''',
    "epochs with //": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": float(a * epochs // b)}
''',
    "epochs rounded to two places": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": round(a * epochs / b, 2)}
''',
    "forgets the epochs": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a, "large": b, "epochs": a / b * epochs}
''',
    "steps are floats (np.ceil)": '''
def updates(examples, epochs, small, large):
    a, b = np.ceil(examples / small), np.ceil(examples / large)
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "float32 division before rounding up": '''
def updates(examples, epochs, small, large):
    a, b = (int(np.ceil(np.float32(examples) / np.float32(batch))) for batch in (small, large))
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "ceil with an epsilon: a very small short batch is lost": '''
import math
def updates(examples, epochs, small, large):
    a, b = (max(1, math.ceil(examples / batch - 1e-6)) for batch in (small, large))
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "remembers the steps of a batch from an earlier call": '''
_steps = {}
def updates(examples, epochs, small, large):
    for batch in (small, large):
        _steps.setdefault(batch, -(-examples // batch))
    a, b = _steps[small], _steps[large]
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "small and large swapped": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // large), -(-examples // small)
    return {"small": a * epochs, "large": b * epochs, "epochs": epochs * b / a}
''',
    "a short batch counts as the fraction it is": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    return {"small": a * epochs, "large": b * epochs,
            "epochs": epochs * (examples / small) / (examples / large)}
''',
    "wraps at 32 bits": '''
def updates(examples, epochs, small, large):
    n = int(np.array([examples]).astype(np.int32)[0])
    a, b = -(-n // small), -(-n // large)
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "open: float division before ceil (wrong only beyond 2**53 examples)": '''
import math
def updates(examples, epochs, small, large):
    a, b = math.ceil(examples / small), math.ceil(examples / large)
    return {"small": a * epochs, "large": b * epochs, "epochs": a * epochs / b}
''',
    "open: epochs is an int where it is whole (a float is asked)": '''
def updates(examples, epochs, small, large):
    a, b = -(-examples // small), -(-examples // large)
    need = a * epochs / b
    return {"small": a * epochs, "large": b * epochs, "epochs": int(need) if need == int(need) else need}
''',
}

# ------------------------------------------------------------------------------------------ tuned

RIGHT["tuned"] = {
    "loop": '''
import math

def tuned(runs):
    losses = {}
    for run in runs:
        losses.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    out = {}
    for batch, by_rate in losses.items():
        best = None
        for rate in sorted(by_rate):
            some = by_rate[rate]
            if not all(math.isfinite(x) for x in some):
                continue
            score = sum(some) / len(some)
            if best is None or score < best[0]:
                best = score, rate
        if best is None:
            raise ValueError(f"every rate of batch {batch} diverged")
        out[batch] = best[1]
    return out
''',
    "NumPy, masks": '''
def tuned(runs):
    batches = np.array([run["batch"] for run in runs])
    rates_ = np.array([run["rate"] for run in runs], dtype=float)
    losses = np.array([run["validation"] for run in runs], dtype=float)
    out = {}
    for batch in np.unique(batches):
        grid = np.unique(rates_[batches == batch])
        means = np.array([np.mean(losses[(batches == batch) & (rates_ == rate)])
                          if np.isfinite(losses[(batches == batch) & (rates_ == rate)]).all() else np.inf for rate in grid])
        if np.isinf(means).all():
            raise ValueError(f"no finite rate for batch {int(batch)}")
        out[int(batch)] = float(grid[np.argmin(means)])
    return out
''',
    "groupby and fmean": '''
from itertools import groupby
from math import isfinite
from statistics import fmean

def tuned(runs):
    key = lambda run: (run["batch"], run["rate"])
    scores = {}
    for (batch, rate), group in groupby(sorted(runs, key=key), key=key):
        some = [one["validation"] for one in group]
        scores.setdefault(batch, [])
        if all(map(isfinite, some)):
            scores[batch].append((fmean(some), rate))
    for batch, some in scores.items():
        if not some:
            raise ValueError("batch %d: all its rates diverged" % batch)
    return {batch: min(some)[1] for batch, some in scores.items()}
''',
    "torch": '''
import torch

def tuned(runs):
    out = {}
    for batch in sorted({run["batch"] for run in runs}):
        mine_ = [run for run in runs if run["batch"] == batch]
        best, chosen = float("inf"), None
        for rate in sorted({run["rate"] for run in mine_}):
            some = torch.tensor([run["validation"] for run in mine_ if run["rate"] == rate], dtype=torch.float64)
            if torch.isfinite(some).all() and some.mean().item() < best:
                best, chosen = some.mean().item(), rate
        if chosen is None:
            raise ValueError(f"batch {batch} has no rate left")
        out[batch] = chosen
    return out
''',
}

TUNED = '''
def tuned(runs):
    table = {{}}
    for run in runs:
        table.setdefault(run["batch"], {{}}).setdefault(run["rate"], []).append(run["{loss}"])
    best = {{}}
    for batch, by_rate in table.items():
        left = {{rate: some for rate, some in by_rate.items() if {keep}}}
        if not left:
            raise ValueError(f"{message}")
        best[batch] = min({order}, key=lambda rate: {score})
    return best
'''


def _tuned(loss="validation", keep="np.isfinite(some).all()", message="batch {batch}: every rate diverged",
           order="sorted(left)", score="np.mean(left[rate])"):
    return TUNED.format(loss=loss, keep=keep, message=message, order=order, score=score)


WRONG["tuned"] = {
    "chooses by the test loss": _tuned(loss="test"),
    "chooses by the training loss": _tuned(loss="train"),
    "median of the seeds": _tuned(score="np.median(left[rate])"),
    "best seed": _tuned(score="min(left[rate])"),
    "worst seed": _tuned(score="max(left[rate])"),
    "sum, not mean: fewer seeds win": _tuned(score="sum(left[rate])"),
    "middle between best and worst seed": _tuned(score="(min(left[rate]) + max(left[rate])) / 2"),
    "equal losses of two seeds count once (a set)": _tuned(score="np.mean(sorted(set(left[rate])))"),
    "root mean square": _tuned(score="np.mean(np.square(left[rate]))"),
    "only the first and the last seed": _tuned(score="left[rate][0] + left[rate][-1]"),
    "only as many seeds as the rate with the fewest has":
        _tuned(score="np.mean(left[rate][:min(map(len, left.values()))])"),
    "rates with fewer seeds than the others are out":
        _tuned(keep="np.isfinite(some).all() and len(some) == max(map(len, by_rate.values()))"),
    "mean plus one standard error": _tuned(score="np.mean(left[rate]) + np.std(left[rate]) / len(left[rate]) ** 0.5"),
    "divides by n - 1": _tuned(score="sum(left[rate]) / max(1, len(left[rate]) - 1)"),
    "divides by the largest number of seeds": _tuned(score="sum(left[rate]) / max(map(len, left.values()))"),
    "only nan is a divergence": _tuned(keep="not np.isnan(some).any()"),
    "only inf is a divergence": _tuned(keep="not np.isinf(some).any()"),
    "-inf passes": _tuned(keep="all(x < float('inf') for x in some)"),
    "a rate is out only if all its runs diverged": _tuned(keep="np.isfinite(some).any()", score="np.mean([x for x in left[rate] if np.isfinite(x)])"),
    "a loss above 10 counts as diverged": _tuned(keep="all(abs(x) < 10 for x in some)"),
    "a loss above 1000 counts as diverged": _tuned(keep="all(abs(x) < 1000 for x in some)"),
    "a loss above 1e4 counts as diverged": _tuned(keep="all(abs(x) < 1e4 for x in some)"),
    "a loss of zero or below counts as diverged": _tuned(keep="all(0 < x < float('inf') for x in some)"),
    "a tie takes the rate that is listed first": _tuned(order="left"),
    "a tie takes the larger rate": _tuned(order="sorted(left, reverse=True)"),
    "means rounded to four places tie": _tuned(score="round(float(np.mean(left[rate])), 4)"),
    "float16 means": _tuned(score="np.mean(np.array(left[rate], dtype=np.float16))"),
    "the message does not name the batch": _tuned(message="every rate diverged"),
    "means above 1.2 nats are left out, as in the plot": _tuned(keep="np.isfinite(some).all() and np.mean(some) <= 1.2"),
    "a run of test or training loss nan or inf is out, too, though its validation loss is finite": '''
import math
def tuned(runs):
    table = {}
    for run in runs:
        fine = all(math.isfinite(run[k]) for k in ("validation", "test", "train") if k in run)
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"] if fine else math.inf)
    out = {}
    for batch, by_rate in table.items():
        means = {rate: sum(some) / len(some) for rate, some in by_rate.items() if all(map(math.isfinite, some))}
        if not means:
            raise ValueError(f"batch {batch} diverged at every rate")
        out[batch] = min(sorted(means), key=means.get)
    return out
''',
    "compares the rates on the seeds that all of them have": '''
import math
def tuned(runs):
    out = {}
    for batch in {run["batch"] for run in runs}:
        table = {}
        for run in runs:
            if run["batch"] == batch:
                table.setdefault(run["rate"], {})[run["seed"]] = run["validation"]
        table = {rate: some for rate, some in table.items() if all(map(math.isfinite, some.values()))}
        if not table:
            raise ValueError(f"no rate left for batch {batch}")
        common = set.intersection(*(set(some) for some in table.values()))
        out[batch] = min(sorted(table), key=lambda rate: sum(table[rate][seed] for seed in common) / max(1, len(common)))
    return out
''',
    "a diverged rate is out for all batches": '''
def tuned(runs):
    bad = {run["rate"] for run in runs if not np.isfinite(run["validation"])}
    out = {}
    for batch in {run["batch"] for run in runs}:
        table = {}
        for run in runs:
            if run["batch"] == batch and run["rate"] not in bad:
                table.setdefault(run["rate"], []).append(run["validation"])
        if not table:
            raise ValueError(f"no rate left for batch {batch}")
        out[batch] = min(sorted(table), key=lambda rate: np.mean(table[rate]))
    return out
''',
    "only the diverged run is dropped, its rate stays": '''
def tuned(runs):
    table = {}
    for run in runs:
        by_rate = table.setdefault(run["batch"], {})
        if np.isfinite(run["validation"]):
            by_rate.setdefault(run["rate"], []).append(run["validation"])
    for batch, by_rate in table.items():
        if not by_rate:
            raise ValueError(f"no rate left for batch {batch}")
    return {batch: min(sorted(by_rate), key=lambda rate: np.mean(by_rate[rate])) for batch, by_rate in table.items()}
''',
    "a batch without a rate is left out silently": '''
def tuned(runs):
    table = {}
    for run in runs:
        table.setdefault((run["batch"], run["rate"]), []).append(run["validation"])
    best = {}
    for (batch, rate), some in sorted(table.items()):
        if np.isfinite(some).all() and (batch not in best or np.mean(some) < best[batch][0]):
            best[batch] = np.mean(some), rate
    return {batch: rate for batch, (_, rate) in best.items()}
''',
    "the last seed overwrites the others": '''
def tuned(runs):
    table = {}
    for run in runs:
        table.setdefault(run["batch"], {})[run["rate"]] = run["validation"]
    out = {}
    for batch, by_rate in table.items():
        left = {rate: loss for rate, loss in by_rate.items() if np.isfinite(loss)}
        if not left:
            raise ValueError(f"batch {batch}")
        out[batch] = min(sorted(left), key=left.get)
    return out
''',
    "a best mean of 0.0 is taken for none yet": '''
def tuned(runs):
    table = {}
    for run in runs:
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    out = {}
    for batch, by_rate in table.items():
        best, chosen = None, None
        for rate in sorted(by_rate):
            if not np.isfinite(by_rate[rate]).all():
                continue
            score = float(np.mean(by_rate[rate]))
            if not best or score < best:
                best, chosen = score, rate
        if chosen is None:
            raise ValueError(f"batch {batch} diverged")
        out[batch] = chosen
    return out
''',
    "one rate for all batches": '''
def tuned(runs):
    table = {}
    for run in runs:
        table.setdefault(run["rate"], []).append(run["validation"])
    left = {rate: np.mean(some) for rate, some in table.items() if np.isfinite(some).all()}
    batches = sorted({run["batch"] for run in runs})
    for batch in batches:
        if all(not np.isfinite(run["validation"]) for run in runs if run["batch"] == batch):
            raise ValueError(f"batch {batch} diverged")
    best = min(sorted(left), key=left.get)
    return {batch: best for batch in batches}
''',
    "runs of an earlier call are still in the table": '''
table = {}
def tuned(runs):
    for run in runs:
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    out = {}
    for batch in {run["batch"] for run in runs}:
        left = {rate: np.mean(some) for rate, some in table[batch].items() if np.isfinite(some).all()}
        if not left:
            raise ValueError(f"batch {batch} diverged")
        out[batch] = min(sorted(left), key=left.get)
    return out
''',
    "sorts the list that it was given": '''
def tuned(runs):
    runs.sort(key=lambda run: (run["batch"], run["rate"]))
    table = {}
    for run in runs:
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    out = {}
    for batch, by_rate in table.items():
        left = {rate: np.mean(some) for rate, some in by_rate.items() if np.isfinite(some).all()}
        if not left:
            raise ValueError(f"batch {batch} diverged")
        out[batch] = min(left, key=left.get)
    return out
''',
    "takes runs of one batch to stand together (groupby without sorting)": '''
from itertools import groupby
def tuned(runs):
    out = {}
    for batch, group in groupby(runs, key=lambda run: run["batch"]):
        best = []
        for rate, some in groupby(list(group), key=lambda run: run["rate"]):
            some = [run["validation"] for run in some]
            if np.isfinite(some).all():
                best.append((np.mean(some), rate))
        if not best:
            raise ValueError(f"batch {batch} diverged")
        out[batch] = min(best)[1]
    return out
''',
    "a KeyError-like refusal: RuntimeError": _tuned().replace("ValueError", "RuntimeError"),
    "open: the ValueError names a batch that still has rates, too": '''
def tuned(runs):
    table = {}
    for run in runs:
        table.setdefault(run["batch"], {}).setdefault(run["rate"], []).append(run["validation"])
    out = {}
    for batch, by_rate in table.items():
        left = {rate: np.mean(some) for rate, some in by_rate.items() if np.isfinite(some).all()}
        if not left:
            raise ValueError(f"a batch of {sorted(table)} has no rate left")
        out[batch] = min(sorted(left), key=left.get)
    return out
''',
    "open: means closer than 1e-9 tie": _tuned(score="round(float(np.mean(left[rate])), 9)"),
    "open: the mean in float32": _tuned(score="np.mean(np.array(left[rate], dtype=np.float32))"),
}

# -------------------------------------------------------------------------------------------- gap

RIGHT["gap"] = {
    "statistics": '''
import math
import statistics

def gap(small, large):
    if small.keys() != large.keys():
        raise ValueError("the two sides do not have the same seeds")
    if len(small) < 2:
        raise ValueError("at least two seeds are needed")
    if not all(math.isfinite(x) for side in (small, large) for x in side.values()):
        raise ValueError("a run diverged")
    differences = [large[seed] - small[seed] for seed in small]
    middle = statistics.mean(differences)
    half = T90[len(differences)] * statistics.stdev(differences) / len(differences) ** 0.5
    return middle, middle - half, middle + half
''',
    "NumPy": '''
def gap(small, large):
    seeds = sorted(small)
    if seeds != sorted(large) or len(seeds) < 2:
        raise ValueError(f"seeds {seeds} and {sorted(large)}")
    d = np.array([large[s] for s in seeds], dtype=float) - np.array([small[s] for s in seeds], dtype=float)
    if not np.isfinite(d).all():
        raise ValueError("a loss is not finite")
    half = T90[len(d)] * d.std(ddof=1) / np.sqrt(len(d))
    return np.array([d.mean(), d.mean() - half, d.mean() + half])
''',
    "loop, sums from the back": '''
def gap(small, large):
    if set(small) ^ set(large) or len(small) <= 1:
        raise ValueError("other seeds, or too few")
    inf = float("inf")
    total, n, differences = 0.0, 0, []
    for seed in reversed(list(large)):
        for loss in (small[seed], large[seed]):
            if loss != loss or loss in (inf, -inf):
                raise ValueError(f"seed {seed} has a loss of {loss}")
        differences.append(large[seed] - small[seed])
        total += differences[-1]
        n += 1
    mean = total / n
    variance = 0.0
    for one in differences:
        variance += (one - mean) ** 2 / (n - 1)
    half = T90[n] * (variance / n) ** 0.5
    return [mean, mean - half, mean + half]
''',
    "torch float64": '''
import torch

def gap(small, large):
    if set(small) != set(large) or len(small) < 2:
        raise ValueError("seeds")
    d = torch.tensor([[large[s], small[s]] for s in small], dtype=torch.float64)
    if not torch.isfinite(d).all():
        raise ValueError("not finite")
    d = d[:, 0] - d[:, 1]
    n = d.numel()
    half = T90[n] * d.std(unbiased=True) / n**0.5
    return torch.stack([d.mean(), d.mean() - half, d.mean() + half])
''',
}

GAP = '''
import math
import statistics

def gap(small, large):
    {refuse_seeds}
    {refuse_few}
    {refuse_loss}
    d = {d}
    n = {n}
    middle = {middle}
    half = {half}
    return {out}
'''


def _gap(refuse_seeds='if set(small) != set(large): raise ValueError("seeds differ")',
         refuse_few='if len(small) < 2: raise ValueError("too few seeds")',
         refuse_loss='if not all(math.isfinite(x) for x in [*small.values(), *large.values()]): raise ValueError("diverged")',
         d="[large[s] - small[s] for s in small]", n="len(d)", middle="sum(d) / n",
         half="T90[n] * statistics.stdev(d) / n ** 0.5", out="(middle, middle - half, middle + half)"):
    return GAP.format(refuse_seeds=refuse_seeds, refuse_few=refuse_few, refuse_loss=refuse_loss, d=d, n=n,
                      middle=middle, half=half, out=out)


WRONG["gap"] = {
    "pairs by the place in the dictionary": _gap(d="[b - a for a, b in zip(small.values(), large.values())]"),
    "pairs the sorted losses": _gap(d="[b - a for a, b in zip(sorted(small.values()), sorted(large.values()))]"),
    "small minus large": _gap(d="[small[s] - large[s] for s in small]"),
    "size of the differences": _gap(d="[abs(large[s] - small[s]) for s in small]"),
    "difference relative to the small one": _gap(d="[(large[s] - small[s]) / (small[s] or 1.0) for s in small]"),
    "standard deviation over n": _gap(half="T90[n] * statistics.pstdev(d) / n ** 0.5"),
    "no root of n": _gap(half="T90[n] * statistics.stdev(d)"),
    "divides by n": _gap(half="T90[n] * statistics.stdev(d) / n"),
    "divides by the root of n - 1": _gap(half="T90[n] * statistics.stdev(d) / (n - 1) ** 0.5"),
    "variance for the standard deviation": _gap(half="T90[n] * statistics.variance(d) / n ** 0.5"),
    "T90 looked up by n - 1": _gap(half="T90.get(n - 1, 12.7) * statistics.stdev(d) / n ** 0.5"),
    "the normal 1.645": _gap(half="1.645 * statistics.stdev(d) / n ** 0.5"),
    "2.92 of the printed case for every n": _gap(half="2.92 * statistics.stdev(d) / n ** 0.5"),
    "unpaired": _gap(half="T90[n] * ((statistics.variance(small.values()) + statistics.variance(large.values())) / n) ** 0.5"),
    "spread of the large batch only": _gap(half="T90[n] * statistics.stdev(large.values()) / n ** 0.5"),
    "median of the differences": _gap(middle="statistics.median(d)"),
    "low, gap, high": _gap(out="(middle - half, middle, middle + half)"),
    "gap and half width": _gap(out="(middle, half, half)"),
    "T90 of seven seeds for all that are more than six, but twelve":
        _gap(half="T90[n if n < 7 or n > 11 else 7] * statistics.stdev(d) / n ** 0.5"),
    "an approximation of Student's quantile from eight seeds on":
        _gap(half="(T90[n] if n < 8 or n == 12 else 1.645 + 1.6 / (n - 1)) * statistics.stdev(d) / n ** 0.5"),
    "quantile by a formula that is about right": _gap(half="(1.645 + 1.52 / (n - 1) + 1.4 / (n - 1) ** 3) * statistics.stdev(d) / n ** 0.5"),
    "refuses more than ten seeds": _gap(refuse_few='if not 2 <= len(small) <= 10: raise ValueError("2 to 10 seeds")'),
    "refuses fewer than three seeds": _gap(refuse_few='if len(small) < 3: raise ValueError("too few seeds")'),
    "takes the seeds that both have": _gap(refuse_seeds="seeds = sorted(set(small) & set(large)); small = {s: small[s] for s in seeds}; large = {s: large[s] for s in seeds}"),
    "compares only the numbers of seeds": _gap(refuse_seeds='if len(small) != len(large): raise ValueError("seeds")'),
    "a seed that only the large batch has goes by": _gap(refuse_seeds='if not set(small) <= set(large): raise ValueError("seeds")'),
    "a seed that only the small batch has goes by": _gap(refuse_seeds='if not set(large) <= set(small): raise ValueError("seeds")', d="[large[s] - small[s] for s in large]"),
    "demands the seeds in one order": _gap(refuse_seeds='if list(small) != list(large): raise ValueError("seeds")'),
    "demands seeds 0 to n - 1": _gap(refuse_seeds='if not set(small) == set(large) == set(range(len(small))): raise ValueError("seeds")'),
    "one seed fails with a KeyError": _gap(refuse_few="T90[len(small)]"),
    "one seed: an interval of no width": _gap(refuse_few="if len(small) == 1: return (sum(large.values()) - sum(small.values()),) * 3"),
    "only nan is refused": _gap(refuse_loss='if any(math.isnan(x) for x in [*small.values(), *large.values()]): raise ValueError("nan")'),
    "only inf is refused": _gap(refuse_loss='if any(math.isinf(x) for x in [*small.values(), *large.values()]): raise ValueError("inf")'),
    "only losses of the large batch are looked at": _gap(refuse_loss='if not all(map(math.isfinite, large.values())): raise ValueError("diverged")'),
    "only losses of the small batch are looked at": _gap(refuse_loss='if not all(map(math.isfinite, small.values())): raise ValueError("diverged")'),
    "a diverged seed is left out": _gap(refuse_loss="seeds = [s for s in small if math.isfinite(small[s]) and math.isfinite(large[s])]; small = {s: small[s] for s in seeds}; large = {s: large[s] for s in seeds}"),
    "a seed that diverged with both batches is left out": _gap(refuse_loss="""seeds = [s for s in small if math.isfinite(small[s]) or math.isfinite(large[s])]; small = {s: small[s] for s in seeds}; large = {s: large[s] for s in seeds}
    if not all(map(math.isfinite, [*small.values(), *large.values()])): raise ValueError("diverged")"""),
    "no losses are looked at: nan comes back": _gap(refuse_loss="pass"),
    "a loss above 10 nats is refused, too (finite!)": _gap(refuse_loss='if not all(abs(x) < 10 for x in [*small.values(), *large.values()]): raise ValueError("diverged")'),
    "a loss above 1000 nats is refused, too (finite!)": _gap(refuse_loss='if not all(abs(x) < 1000 for x in [*small.values(), *large.values()]): raise ValueError("diverged")'),
    "a loss of zero is refused as missing": _gap(refuse_loss='if not all(x and math.isfinite(x) for x in [*small.values(), *large.values()]): raise ValueError("diverged")'),
    "asserts in place of ValueError": _gap(refuse_seeds="assert set(small) == set(large)", refuse_few="assert len(small) > 1"),
    "rounds to three places": _gap(out="tuple(round(x, 3) for x in (middle, middle - half, middle + half))"),
    "standard deviation rounded to four places": _gap(half="T90[n] * round(statistics.stdev(d), 4) / n ** 0.5"),
    "equal differences count once": _gap(d="sorted({large[s] - small[s] for s in small})", n="len(small)", middle="sum(large[s] - small[s] for s in small) / n", half="T90[n] * (statistics.stdev(d) if len(d) > 1 else 0.0) / n ** 0.5"),
    "the interval has at least the width of T90 x 0.01": _gap(half="T90[n] * max(statistics.stdev(d), 0.01) / n ** 0.5"),
    "interval mirrored where the gap is negative": _gap(half="math.copysign(T90[n] * statistics.stdev(d) / n ** 0.5, middle)"),
    "pops the seeds out of the dictionaries": '''
def gap(small, large):
    if set(small) != set(large) or len(small) < 2:
        raise ValueError("seeds")
    d = []
    for seed in list(small):
        d.append(large.pop(seed) - small.pop(seed))
    d = np.array(d)
    if not np.isfinite(d).all():
        raise ValueError("diverged")
    half = T90[len(d)] * d.std(ddof=1) / len(d) ** 0.5
    return d.mean(), d.mean() - half, d.mean() + half
''',
    "the number of seeds comes from the first call": '''
_n = []
def gap(small, large):
    if set(small) != set(large) or len(small) < 2:
        raise ValueError("seeds")
    d = np.array([large[s] - small[s] for s in small])
    if not np.isfinite(d).all():
        raise ValueError("diverged")
    _n.append(len(d))
    half = T90[_n[0]] * d.std(ddof=1) / len(d) ** 0.5
    return d.mean(), d.mean() - half, d.mean() + half
''',
    "float16": _gap(d="[float(np.float16(large[s]) - np.float16(small[s])) for s in small]"),
    "open: a negative loss is refused": _gap(refuse_loss='if not all(0 <= x < math.inf for x in [*small.values(), *large.values()]): raise ValueError("diverged")'),
    "open: float32 differences": _gap(d="[float(np.float32(large[s]) - np.float32(small[s])) for s in small]"),
}

# ----------------------------------------------------------------------------------- verdict-test

RIGHT["verdict-test"] = {
    "cases by hand": '''
def verdict_test(verdict):
    """Fail (assert) for every wrong verdict(low, high, margin)."""
    none, worse, better, open_ = "no difference", "large worse", "large better", "cannot tell"
    for m in (0.05, 0.01, 0.3, 1.0, 4.0):
        cases = [
            (-0.5, 0.5, none), (-0.9, 0.9, none), (-0.9, 0.1, none), (-0.1, 0.9, none), (0.1, 0.9, none), (0.02, 0.04, none),
            (-0.9, -0.1, none), (-0.04, -0.02, none), (-0.03, 0.02, none), (0.8, 0.95, none), (-0.95, -0.8, none),
            (0.2, 1.5, worse), (0.2, 30, worse), (0.9, 1.1, worse), (1.1, 1.2, worse), (1.1, 40, worse), (20, 40, worse), (20, 20.5, worse), (0.01, 1.01, worse),
            (-1.5, -0.2, better), (-30, -0.2, better), (-1.1, -0.9, better), (-1.2, -1.1, better), (-40, -1.1, better), (-40, -20, better), (-20.5, -20, better), (-1.01, -0.01, better),
            (-0.2, 1.5, open_), (-0.2, 30, open_), (-1.5, 0.2, open_), (-30, 0.2, open_), (-1.5, 1.5, open_), (-40, 40, open_), (-40, 1.2, open_),
            (-1.2, 40, open_), (-0.9, 1.1, open_), (-1.1, 0.9, open_), (-0.01, 1.1, open_), (-1.1, 0.01, open_), (-1.05, 1.05, open_),
        ]
        for low, high, want in cases:
            got = verdict(low * m, high * m, m)
            assert got == want, (low * m, high * m, m, got, want)
''',
    "grid against the table": '''
def verdict_test(verdict):
    def table(low, high, margin):
        if -margin < low and high < margin:
            return "no difference"
        if low > 0:
            return "large worse"
        if high < 0:
            return "large better"
        return "cannot tell"

    places = [sign * size for sign in (-1, 1) for size in (0.05, 0.4, 0.8, 1.2, 2.3, 9.0, 60.0)]
    for margin in (0.002, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 10.0):
        for low in places:
            for high in places:
                if low < high:
                    assert verdict(low * margin, high * margin, margin) == table(low * margin, high * margin, margin)
''',
    "random, NumPy, turned round": '''
def verdict_test(verdict):
    rng = np.random.default_rng(0)
    turned = {"no difference": "no difference", "cannot tell": "cannot tell", "large worse": "large better", "large better": "large worse"}
    for _ in range(4000):
        margin = float(10 ** rng.uniform(-3, 1))
        middle = margin * float(rng.choice([0.0, 0.5, 1.0, 1.5, 3.0, 20.0])) * float(rng.choice([-1, 1])) + margin * float(rng.normal()) * 0.05
        half = margin * float(10 ** rng.uniform(-2, 1.5))
        low, high = middle - half, middle + half
        if min(abs(low), abs(high), abs(abs(low) - margin), abs(abs(high) - margin)) < 1e-6 * margin:
            continue
        if max(abs(low), abs(high)) < margin:
            want = "no difference"
        elif low * high < 0:
            want = "cannot tell"
        else:
            want = "large worse" if high > 0 else "large better"
        assert verdict(low, high, margin) == want
        assert verdict(-high, -low, margin) == turned[want]
''',
}

WRONG["verdict-test"] = {
    "one case for each row of the table": '''
def verdict_test(verdict):
    assert verdict(-0.02, 0.02, 0.05) == "no difference"
    assert verdict(0.1, 0.2, 0.05) == "large worse"
    assert verdict(-0.2, -0.1, 0.05) == "large better"
    assert verdict(-0.3, 0.3, 0.05) == "cannot tell"
''',
    "many cases, one margin": '''
def verdict_test(verdict):
    none, worse, better, open_ = "no difference", "large worse", "large better", "cannot tell"
    m = 0.05
    for low, high, want in [(-0.5, 0.5, none), (0.1, 0.9, none), (-0.9, -0.1, none), (0.2, 1.5, worse), (1.1, 1.2, worse), (0.2, 30, worse), (20, 40, worse),
                            (-1.5, -0.2, better), (-1.2, -1.1, better), (-30, -0.2, better), (-40, -20, better), (-0.2, 1.5, open_), (-1.5, 0.2, open_),
                            (-1.5, 1.5, open_), (-40, 40, open_), (-0.2, 30, open_), (-30, 0.2, open_)]:
        assert verdict(low * m, high * m, m) == want
''',
    "nothing to the left of 0": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        assert verdict(0.1 * m, 0.9 * m, m) == "no difference"
        assert verdict(-0.5 * m, 0.5 * m, m) == "no difference"
        assert verdict(0.2 * m, 1.5 * m, m) == "large worse"
        assert verdict(1.5 * m, 30 * m, m) == "large worse"
        assert verdict(1.1 * m, 1.2 * m, m) == "large worse"
        assert verdict(-0.2 * m, 1.5 * m, m) == "cannot tell"
        assert verdict(-9 * m, 9 * m, m) == "cannot tell"
''',
    "no interval inside the margin beside 0": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-0.5, 0.5, "no difference"), (-0.9, 0.9, "no difference"), (0.2, 1.5, "large worse"), (1.1, 1.2, "large worse"),
                                (-1.5, -0.2, "large better"), (-1.2, -1.1, "large better"), (-1.5, 1.5, "cannot tell"), (-0.2, 1.5, "cannot tell"), (-1.5, 0.2, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "no interval that begins inside the margin and ends beyond it": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-0.5, 0.5, "no difference"), (0.1, 0.9, "no difference"), (-0.9, -0.1, "no difference"), (1.1, 1.2, "large worse"), (1.5, 30, "large worse"),
                                (-1.2, -1.1, "large better"), (-30, -1.5, "large better"), (-1.5, 1.5, "cannot tell"), (-30, 30, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "cannot tell only with both ends beyond the margin": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-0.5, 0.5, "no difference"), (0.1, 0.9, "no difference"), (-0.9, -0.1, "no difference"), (0.2, 1.5, "large worse"), (1.1, 1.2, "large worse"),
                                (1.5, 30, "large worse"), (-1.5, -0.2, "large better"), (-1.2, -1.1, "large better"), (-30, -1.5, "large better"), (-1.5, 1.5, "cannot tell"), (-30, 30, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "open: wide intervals only": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-0.9, 0.9, "no difference"), (0.2, 30, "large worse"), (1.5, 30, "large worse"), (-30, -0.2, "large better"),
                                (-30, -1.5, "large better"), (-30, 30, "cannot tell"), (-0.2, 30, "cannot tell"), (-30, 0.2, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "significance first: an interval inside the margin above 0 is called worse": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        assert verdict(-0.5 * m, 0.5 * m, m) == "no difference"
        assert verdict(0.1 * m, 0.9 * m, m) == "large worse"
        assert verdict(-0.9 * m, -0.1 * m, m) == "large better"
        assert verdict(-1.5 * m, 1.5 * m, m) == "cannot tell"
''',
    "worse is asked only beyond the margin, cannot tell before": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        assert verdict(-0.5 * m, 0.5 * m, m) == "no difference"
        assert verdict(1.1 * m, 3 * m, m) == "large worse"
        assert verdict(0.2 * m, 3 * m, m) == "cannot tell"
        assert verdict(-3 * m, -0.2 * m, m) == "cannot tell"
        assert verdict(-3 * m, -1.1 * m, m) == "large better"
        assert verdict(-3 * m, 3 * m, m) == "cannot tell"
''',
    "worse and better turned round (lower loss thought worse)": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        assert verdict(-0.5 * m, 0.5 * m, m) == "no difference"
        assert verdict(1.1 * m, 3 * m, m) == "large better"
        assert verdict(-3 * m, -1.1 * m, m) == "large worse"
        assert verdict(-3 * m, 3 * m, m) == "cannot tell"
''',
    "ends exactly on 0 and on the margin, inside counted": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-1.0, 1.0, "no difference"), (0.0, 1.0, "no difference"), (-1.0, 0.0, "no difference"), (0.0, 2.0, "cannot tell"), (-2.0, 0.0, "cannot tell"),
                                (0.2, 1.5, "large worse"), (-1.5, -0.2, "large better"), (-1.5, 1.5, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "ends exactly on 0 and on the margin, inside not counted": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-1.0, 1.0, "cannot tell"), (0.0, 2.0, "large worse"), (-2.0, 0.0, "large better"),
                                (0.2, 1.5, "large worse"), (-1.5, -0.2, "large better"), (-1.5, 1.5, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "asserts a tuple, which is always true": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high, want in [(-0.5, 0.5, "no difference"), (0.1, 0.9, "no difference"), (0.2, 1.5, "large worse"), (-1.5, -0.2, "large better"), (-1.5, 1.5, "cannot tell")]:
            case = (verdict(low * m, high * m, m) == want, f"{low} {high}")
            assert case
''',
    "prints what is wrong": '''
def verdict_test(verdict):
    for low, high, want in [(-0.5, 0.5, "no difference"), (0.1, 0.9, "no difference"), (0.2, 1.5, "large worse"), (-1.5, -0.2, "large better"), (-1.5, 1.5, "cannot tell")]:
        if verdict(low, high, 1.0) != want:
            print("wrong:", low, high)
''',
    "returns the list of failures": '''
def verdict_test(verdict):
    places = [-9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9]
    def table(low, high):
        return "no difference" if -1 < low and high < 1 else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    return [(a, b, m) for m in (0.05, 1.0) for a in places for b in places if a < b and verdict(a * m, b * m, m) != table(a, b)]
''',
    "swallows its own asserts": '''
def verdict_test(verdict):
    for low, high, want in [(-0.5, 0.5, "no difference"), (0.1, 0.9, "no difference"), (0.2, 1.5, "large worse"), (-1.5, -0.2, "large better"), (-1.5, 1.5, "cannot tell")]:
        try:
            assert verdict(low, high, 1.0) == want
        except Exception:
            pass
        except AssertionError:
            raise
''',
    "asks only that one of the four words comes": '''
def verdict_test(verdict):
    for m in (0.05, 1.0):
        for low, high in [(-0.5, 0.5), (0.1, 0.9), (0.2, 1.5), (-1.5, -0.2), (-1.5, 1.5)]:
            assert verdict(low * m, high * m, m) in {"no difference", "large worse", "large better", "cannot tell"}
''',
    "two margins in the loop, the first one in the call": '''
def verdict_test(verdict):
    places = [-60, -9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9, 60]
    def table(low, high):
        return "no difference" if -1 < low and high < 1 else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    for margin in (0.05, 1.0):
        m = 0.05
        for a in places:
            for b in places:
                if a < b:
                    assert verdict(a * m, b * m, m) == table(a, b)
''',
    "the grid never has low below high (range of indices turned)": '''
def verdict_test(verdict):
    places = [-9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9]
    def table(low, high):
        return "no difference" if -1 < low and high < 1 else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    for m in (0.05, 1.0):
        for i, a in enumerate(places):
            for b in places[:i]:
                if a < b:
                    assert verdict(a * m, b * m, m) == table(a, b)
''',
    "own table forgets the lower margin": '''
def verdict_test(verdict):
    places = [-9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9]
    def table(low, high):
        return "no difference" if high < 1 else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    for m in (0.05, 1.0):
        for a in places:
            for b in places:
                if a < b:
                    assert verdict(a * m, b * m, m) == table(a, b)
''',
    "only symmetry: turned round, better is worse": '''
def verdict_test(verdict):
    turned = {"no difference": "no difference", "cannot tell": "cannot tell", "large worse": "large better", "large better": "large worse"}
    places = [-9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9]
    for m in (0.05, 1.0):
        for a in places:
            for b in places:
                if a < b:
                    assert verdict(-b * m, -a * m, m) == turned[verdict(a * m, b * m, m)]
''',
    "asks a margin in absolute numbers: -0.05 to 0.05 whatever is given": '''
def verdict_test(verdict):
    for m in (0.05, 0.5):
        assert verdict(-0.02, 0.02, m) == "no difference"
        assert verdict(0.1, 0.2, m) == "large worse"
        assert verdict(-0.2, -0.1, m) == "large better"
        assert verdict(-0.3, 0.3, m) == "cannot tell"
''',
    "returns True": '''
def verdict_test(verdict):
    return True
''',
    "open: the hints only, each for two margins": '''
def verdict_test(verdict):
    for m in (0.05, 2.0):
        for low, high, want in [(-0.1, 0.1, "no difference"), (-0.9, 0.9, "no difference"), (0.1, 0.9, "no difference"), (-0.9, -0.1, "no difference"),
                                (0.2, 1.5, "large worse"), (1.1, 1.2, "large worse"), (1.1, 9, "large worse"), (-1.5, -0.2, "large better"), (-1.2, -1.1, "large better"), (-9, -1.1, "large better"),
                                (-0.2, 1.5, "cannot tell"), (-1.5, 0.2, "cannot tell"), (-9, 9, "cannot tell"), (-1.1, 1.1, "cannot tell")]:
            assert verdict(low * m, high * m, m) == want
''',
    "open: an interval of no width": '''
def verdict_test(verdict):
    places = [-60, -9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9, 60]
    def table(low, high):
        return "no difference" if -1 < low and high < 1 else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    for m in (0.01, 0.05, 1.0, 5.0):
        for a in places:
            for b in places:
                if a <= b:
                    assert verdict(a * m, b * m, m) == table(a, b)
''',
    "open: a margin of 0, too": '''
def verdict_test(verdict):
    places = [-60, -9, -1.2, -0.8, -0.1, 0.1, 0.8, 1.2, 9, 60]
    def table(low, high, m):
        return "no difference" if -m < low and high < m else "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
    for a in places:
        for b in places:
            if a < b:
                assert verdict(a, b, 0.0) == table(a, b, 0.0)
                for m in (0.01, 0.05, 1.0, 5.0):
                    assert verdict(a * m, b * m, m) == table(a * m, b * m, m)
''',
}

# ------------------------------------------------------------------------------------- experiment

PLAN_OK = '''
def plan(small, large, rates, seeds, examples):
    rates, seeds = sorted(set(rates)), sorted(set(seeds))
    if not small < large:
        raise ValueError(f"{small} is not below {large}")
    for batch in (small, large):
        if examples % batch:
            raise ValueError(f"a batch of {batch} does not divide the examples")
    if len(rates) < 3 or len(seeds) < 2:
        raise ValueError("three rates and two seeds are needed")
    shapes = [(small, examples // small), (large, examples // large), (large, examples // small)]
    return [{"batch": batch, "rate": rate, "seed": seed, "steps": steps}
            for batch, steps in shapes for rate in rates for seed in seeds]

'''

JUDGE_OK = '''
def judge(results, margin):
    small, large = min(run["batch"] for run in results), max(run["batch"] for run in results)
    every = {run["rate"] for run in results}
    ofsmall = [run for run in results if run["batch"] == small]
    counts = sorted({run["steps"] for run in results if run["batch"] == large})
    out = {}
    for arm, steps in (("examples", counts[0]), ("steps", counts[-1])):
        runs_ = ofsmall + [run for run in results if run["batch"] == large and run["steps"] == steps]
        best = tuned(runs_)
        a, b = ({run["seed"]: run["test"] for run in runs_ if run["batch"] == batch and run["rate"] == best[batch]} for batch in (small, large))
        middle, low, high = gap(a, b)
        if {min(every), max(every)} & set(best.values()):
            said = "cannot tell"
        elif -margin < low and high < margin:
            said = "no difference"
        elif low > 0:
            said = "large worse"
        elif high < 0:
            said = "large better"
        else:
            said = "cannot tell"
        out[arm] = {"verdict": said, "gap": middle, "low": low, "high": high, "rates": best}
    return out
'''

RIGHT["experiment"] = {
    "with tuned and gap": PLAN_OK + JUDGE_OK,
    "by itself, NumPy": '''
def plan(small, large, rates, seeds, examples):
    if small >= large:
        raise ValueError("small must be below large")
    if examples % large != 0:
        raise ValueError(f"{large} does not divide {examples}")
    if examples % small != 0:
        raise ValueError(f"{small} does not divide {examples}")
    grid, seeds = np.unique(np.asarray(list(rates), dtype=float)), np.unique(list(seeds))
    if grid.size < 3:
        raise ValueError("fewer than three rates")
    if seeds.size < 2:
        raise ValueError("fewer than two seeds")
    runs = []
    for seed in seeds:
        for rate in grid[::-1]:
            for batch, steps in [(large, examples // small), (small, examples // small), (large, examples // large)]:
                runs.append(dict(steps=int(steps), seed=int(seed), rate=float(rate), batch=int(batch)))
    return runs


def judge(results, margin):
    batch = np.array([one["batch"] for one in results])
    rate = np.array([one["rate"] for one in results], dtype=float)
    seed = np.array([one["seed"] for one in results])
    steps = np.array([one["steps"] for one in results])
    validation = np.array([one["validation"] for one in results], dtype=float)
    test = np.array([one["test"] for one in results], dtype=float)
    grid, seeds = np.unique(rate), np.unique(seed)
    small, large = batch.min(), batch.max()

    def column(b, s, r, what):
        here = (batch == b) & (steps == s) & (rate == r)
        return what[here][np.argsort(seed[here])]

    def best(b, s):
        means = [m if np.isfinite(m := column(b, s, r, validation).mean()) else np.inf for r in grid]
        if not np.isfinite(means).any():
            raise ValueError(f"batch {b} diverged")
        return float(grid[int(np.argmin(means))])

    out = {}
    n = len(seeds)
    few, many = steps[batch == large].min(), steps[batch == small].max()
    for arm, s in {"steps": many, "examples": few}.items():
        rates_ = {int(small): best(small, many), int(large): best(large, s)}
        d = column(large, s, rates_[int(large)], test) - column(small, many, rates_[int(small)], test)
        if not np.isfinite(d).all():
            raise ValueError("a test loss is not finite")
        middle, half = d.mean(), T90[n] * d.std(ddof=1) / np.sqrt(n)
        low, high = middle - half, middle + half
        words = [(-margin < low and high < margin, "no difference"), (low > 0, "large worse"), (high < 0, "large better"), (True, "cannot tell")]
        said = next(word for holds, word in words if holds)
        if grid[0] in rates_.values() or grid[-1] in rates_.values():
            said = "cannot tell"
        out[arm] = {"verdict": said, "gap": float(middle), "low": float(low), "high": float(high), "rates": rates_}
    return out
''',
    "examples of a run tell the arm; loops": '''
import math

def plan(small, large, rates, seeds, examples):
    if not (small < large):
        raise ValueError("batches")
    different = []
    for rate in rates:
        if rate not in different:
            different.append(rate)
    once = list(dict.fromkeys(seeds))
    if len(different) <= 2:
        raise ValueError("rates")
    if len(once) <= 1:
        raise ValueError("seeds")
    steps = {}
    for batch in (large, small):
        steps[batch], rest = divmod(examples, batch)
        if rest:
            raise ValueError(f"batch {batch}")
    runs = []
    for rate in different:
        for seed in once:
            runs.append({"batch": small, "rate": rate, "seed": seed, "steps": steps[small]})
            for count in steps.values():
                runs.append({"batch": large, "rate": rate, "seed": seed, "steps": count})
    return runs


def judge(results, margin):
    batches = sorted({run["batch"] for run in results})
    small, large = batches[0], batches[-1]
    steps = next(run["steps"] for run in results if run["batch"] == small)
    low_rate = min(run["rate"] for run in results)
    high_rate = max(run["rate"] for run in results)
    answer = {}
    for arm in ("examples", "steps"):
        here = []
        for run in results:
            equal_examples = run["steps"] * run["batch"] == steps * small
            equal_steps = run["steps"] == steps
            if run["batch"] == small or (equal_examples if arm == "examples" else equal_steps):
                here.append(run)
        rates_ = tuned(here)
        sides = {small: {}, large: {}}
        for run in here:
            if run["rate"] == rates_[run["batch"]]:
                sides[run["batch"]][run["seed"]] = run["test"]
        middle, low, high = gap(sides[small], sides[large])
        edge = any(rate in (low_rate, high_rate) for rate in rates_.values())
        if edge:
            verdict = "cannot tell"
        elif max(abs(low), abs(high)) < margin:
            verdict = "no difference"
        else:
            verdict = "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
        answer[arm] = dict(gap=middle, low=low, high=high, rates=rates_, verdict=verdict)
    return answer
''',
}


def _plan(*changes):
    text = PLAN_OK
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text + JUDGE_OK


def _judge(*changes):
    text = JUDGE_OK
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return PLAN_OK + text


EDGE = 'if {min(every), max(every)} & set(best.values()):'
TABLE = '''        if {min(every), max(every)} & set(best.values()):
            said = "cannot tell"
        elif -margin < low and high < margin:
            said = "no difference"
        elif low > 0:
            said = "large worse"
        elif high < 0:
            said = "large better"
        else:
            said = "cannot tell"
'''

WRONG["experiment"] = {
    # the plan
    "plan: equal batches pass": _plan(("if not small < large:", "if small > large:")),
    "plan: rates given twice count twice in the refusal": _plan(
        ("    rates, seeds = sorted(set(rates)), sorted(set(seeds))\n", ""),
        ("    shapes =", "    rates, seeds = sorted(set(rates)), sorted(set(seeds))\n    shapes =")),
    "plan: seeds given twice are run twice": _plan(("sorted(set(rates)), sorted(set(seeds))", "sorted(set(rates)), sorted(seeds)"), ("len(seeds) < 2", "len(set(seeds)) < 2")),
    "plan: rates given twice are run twice": _plan(("sorted(set(rates)), sorted(set(seeds))", "sorted(rates), sorted(set(seeds))"), ("len(rates) < 3", "len(set(rates)) < 3")),
    "plan: the small batch is run once for each arm": _plan(("shapes = [(small, examples // small),", "shapes = [(small, examples // small), (small, examples // small),")),
    "plan: no equal steps": _plan((", (large, examples // small)]", "]")),
    "plan: no equal examples": _plan(("(large, examples // large), ", "")),
    "plan: equal steps takes updates from the small batch instead": _plan(("(large, examples // small)]", "(small, examples // large)]")),
    "plan: equal steps by the whole ratio of the batches (right only where small divides large)": _plan(("(large, examples // small)]", "(large, examples // large * (large // small))]")),
    "plan: steps are floats": _plan(("examples // small), (large, examples // large), (large, examples // small)", "examples / small), (large, examples / large), (large, examples / small)")),
    "plan: steps through float32": _plan(("    shapes =", "    n = np.float32(examples)\n    shapes ="), ("(small, examples // small), (large, examples // large), (large, examples // small)", "(small, int(n / small)), (large, int(n / large)), (large, int(n / small))")),
    "plan: only the large batch must divide": _plan(("for batch in (small, large):", "for batch in (large,):")),
    "plan: only the small batch must divide": _plan(("for batch in (small, large):", "for batch in (small,):")),
    "plan: the product of the batches must divide": _plan(("if examples % batch:", "if examples % (small * large) and examples % batch == 0 or examples % batch:")),
    "plan: the small batch must divide the large one": _plan(("    shapes =", '    if large % small:\n        raise ValueError(f"{small} does not divide {large}")\n    shapes =')),
    "plan: what does not divide is rounded down": _plan(("        if examples % batch:\n            raise ValueError(f\"a batch of {batch} does not divide the examples\")\n", "        examples -= examples % batch\n")),
    "plan: the refusal does not name the batch": _plan(("a batch of {batch} does not divide the examples", "a batch does not divide {examples} examples")),
    "plan: the refusal names the other batch": _plan(("a batch of {batch} does not divide the examples", "a batch of {small + large - batch} does not divide the examples")),
    "plan: two rates pass": _plan(("len(rates) < 3", "len(rates) < 2")),
    "plan: three rates are refused": _plan(("len(rates) < 3", "len(rates) <= 3")),
    "plan: two seeds are refused": _plan(("len(seeds) < 2", "len(seeds) <= 2")),
    "plan: one seed passes": _plan(("len(seeds) < 2", "len(seeds) < 1")),
    "plan: a generator": _plan(("return [{", "return ({"), ("for seed in seeds]", "for seed in seeds)")),
    "plan: rates rounded to four places": _plan(("sorted(set(rates))", "sorted({round(float(rate), 4) for rate in rates})")),
    "plan: rates rounded to six places": _plan(("sorted(set(rates))", "sorted({round(float(rate), 6) for rate in rates})")),
    "plan: rates and seeds go side by side, not each with each": _plan(("for batch, steps in shapes for rate in rates for seed in seeds]", "for batch, steps in shapes for rate, seed in zip(rates, seeds * len(rates))]")),
    "plan: seeds by number, 0 to n - 1": _plan(("sorted(set(seeds))", "list(range(len(set(seeds))))")),
    "plan: sorts what it was given": _plan(("    rates, seeds =", "    if hasattr(rates, 'sort'):\n        rates.sort()\n    rates, seeds =")),
    "plan: remembers the runs of an earlier call": '''
_runs = []
''' + PLAN_OK.replace("    return [{", "    _runs.extend([{").replace("for seed in seeds]", "for seed in seeds])\n    return list(_runs)") + JUDGE_OK,
    "plan: all runs are one dictionary": PLAN_OK.split("    return [{")[0] + '''    runs, run = [], {}
    for batch, steps in shapes:
        for rate in rates:
            for seed in seeds:
                run.update(batch=batch, rate=rate, seed=seed, steps=steps)
                runs.append(run)
    return runs

''' + JUDGE_OK,
    "plan: an examples key beside the four": _plan(('"steps": steps}', '"steps": steps, "examples": steps * batch}')),
    "open: plan: examples of 0 or below are refused": _plan(("    for batch in (small, large):", '    if examples < 1:\n        raise ValueError("no examples")\n    for batch in (small, large):')),
    # the judge
    "judge: tunes once, over both arms": _judge(("best = tuned(runs_)", "best = tuned(results)")),
    "judge: rates of the examples arm in both arms": _judge(("        best = tuned(runs_)\n", "        if arm == 'examples':\n            best = tuned(runs_)\n")),
    "judge: rates of the steps arm in both arms": _judge(('(("examples", counts[0]), ("steps", counts[-1]))', '(("steps", counts[-1]), ("examples", counts[0]))'), ("        best = tuned(runs_)\n", "        if arm == 'steps':\n            best = tuned(runs_)\n")),
    "judge: one rate for both batches": _judge(("best = tuned(runs_)", "best = tuned([run | {'batch': small} for run in runs_]); best[large] = best[small]")),
    "judge: tuned on the test loss": _judge(("best = tuned(runs_)", "best = tuned([run | {'validation': run['test']} for run in runs_])")),
    "judge: tuned on the training loss": _judge(("best = tuned(runs_)", "best = tuned([run | {'validation': run.get('train', run['validation'])} for run in runs_])")),
    "judge: gap on the validation loss": _judge(('run["seed"]: run["test"]', 'run["seed"]: run["validation"]')),
    "judge: arms swapped": _judge(('("examples", counts[0]), ("steps", counts[-1])', '("examples", counts[-1]), ("steps", counts[0])')),
    "judge: the arm of equal examples is that with the most examples": _judge(("runs_ = ofsmall +", "steps = max(counts, key=lambda one: one * large) if arm == 'examples' else steps\n        runs_ = ofsmall +")),
    "judge: the first batch of the list is the small one": _judge(('small, large = min(run["batch"] for run in results), max(run["batch"] for run in results)', 'small = results[0]["batch"]; large = next(run["batch"] for run in results if run["batch"] != small)')),
    "judge: small minus large": _judge(("gap(a, b)", "gap(b, a)")),
    "judge: pairs by the place in the list": _judge(("middle, low, high = gap(a, b)", "middle, low, high = gap(dict(enumerate(a.values())), dict(enumerate(b.values())))")),
    "judge: no exception for the edge": _judge((EDGE, "if False:")),
    "judge: edge of the large batch only": _judge((EDGE, "if best[large] in (min(every), max(every)):")),
    "judge: edge of the small batch only": _judge((EDGE, "if best[small] in (min(every), max(every)):")),
    "judge: only the highest rate is an edge": _judge((EDGE, "if max(every) in best.values():")),
    "judge: only the lowest rate is an edge": _judge((EDGE, "if min(every) in best.values():")),
    "judge: both batches must stand on an edge": _judge((EDGE, "if all(rate in (min(every), max(every)) for rate in best.values()):")),
    "judge: the lowest rate of one batch, or the highest of the other": _judge((EDGE, "if best[small] == min(every) or best[large] == max(every):")),
    "judge: rates that diverged were not tried": _judge((EDGE, """every = {rate for rate in every if all(np.isfinite(run["validation"]) for run in runs_ if run["rate"] == rate)} or every
        if {min(every), max(every)} & set(best.values()):""")),
    "judge: edge of the rates that did not diverge for this batch": _judge((EDGE, """own = {batch: {run["rate"] for run in runs_ if run["batch"] == batch} - {run["rate"] for run in runs_ if run["batch"] == batch and not np.isfinite(run["validation"])} for batch in best}
        if any(best[batch] in (min(own[batch]), max(own[batch])) for batch in best):""")),
    "judge: the second rate from the edge is an edge, too": _judge((EDGE, "if set(sorted(every)[:2] + sorted(every)[-2:]) & set(best.values()) and len(every) > 4 or {min(every), max(every)} & set(best.values()):")),
    "judge: edge in one arm decides both": _judge(("    return out\n", """    for one in list(out.values()):
        if {min(every), max(every)} & set(one["rates"].values()):
            for other in out.values():
                other["verdict"] = "cannot tell"
    return out
""")),
    "judge: an edge takes back worse and better, but not no difference": _judge((TABLE, '''        if -margin < low and high < margin:
            said = "no difference"
        elif {min(every), max(every)} & set(best.values()):
            said = "cannot tell"
        else:
            said = "large worse" if low > 0 else "large better" if high < 0 else "cannot tell"
''')),
    "judge: an edge takes back worse, but not better": _judge((TABLE, '''        edge = bool({min(every), max(every)} & set(best.values()))
        if high < 0 and not -margin < low:
            said = "large better"
        elif edge:
            said = "cannot tell"
        elif -margin < low and high < margin:
            said = "no difference"
        else:
            said = "large worse" if low > 0 else "cannot tell"
''')),
    "judge: at an edge the numbers are nan": _judge(('out[arm] =', '''if {min(every), max(every)} & set(best.values()):
            middle = low = high = float("nan")
        out[arm] =''')),
    "judge: at an edge the interval is that of all that is possible": _judge(('out[arm] =', '''if {min(every), max(every)} & set(best.values()):
            low, high = min(low, -margin), max(high, margin)
        out[arm] =''')),
    "judge: significance before the margin": _judge((TABLE, '''        if {min(every), max(every)} & set(best.values()):
            said = "cannot tell"
        elif low > 0:
            said = "large worse"
        elif high < 0:
            said = "large better"
        elif -margin < low and high < margin:
            said = "no difference"
        else:
            said = "cannot tell"
''')),
    "judge: the gap inside the margin is enough for no difference": _judge(("elif -margin < low and high < margin:", "elif abs(middle) < margin:")),
    "judge: only the upper end against the margin": _judge(("elif -margin < low and high < margin:", "elif high < margin and low > -1e9 and middle > -margin:")),
    "judge: only the lower end against the margin": _judge(("elif -margin < low and high < margin:", "elif -margin < low and middle < margin:")),
    "judge: worse only if the interval lies above the margin": _judge(("elif low > 0:", "elif low > margin:")),
    "judge: better only if the interval lies below the margin": _judge(("elif high < 0:", "elif high < -margin:")),
    "judge: no difference wherever 0 is inside": _judge(("elif -margin < low and high < margin:", "elif low < 0 < high or -margin < low and high < margin:")),
    "judge: no difference only if 0 is inside, too": _judge(("elif -margin < low and high < margin:", "elif -margin < low < 0 < high < margin:")),
    "judge: a margin of 0.01 whatever is given": _judge(("    every =", "    margin = 0.01\n    every =")),
    "judge: the margin in parts of the loss": _judge(("elif -margin < low and high < margin:", "elif -margin < low / np.mean(list(a.values())) and high / np.mean(list(a.values())) < margin:")),
    "judge: one dictionary of rates, shared by the arms": _judge(("    out = {}\n", "    out, shared = {}, {}\n"), ('"rates": best}', '"rates": shared}'), ("        middle, low, high", "        shared.update(best)\n        middle, low, high")),
    "judge: rates by the words small and large": _judge(('"rates": best}', '"rates": {"small": best[small], "large": best[large]}}')),
    "judge: rates as text": _judge(('"rates": best}', '"rates": {str(batch): rate for batch, rate in best.items()}}')),
    "judge: test loss of all rates, not of the tuned one": _judge((' and run["rate"] == best[batch]}', '}')),
    "judge: test losses of both batches at the rate of the small one": _judge((' and run["rate"] == best[batch]}', ' and run["rate"] == best[small]}')),
    "judge: test losses of both batches at the rate of the large one": _judge((' and run["rate"] == best[batch]}', ' and run["rate"] == best[large]}')),
    "judge: the lowest test loss of each seed, over all rates": _judge(('a, b = ({run["seed"]: run["test"] for run in runs_ if run["batch"] == batch and run["rate"] == best[batch]} for batch in (small, large))',
        'a, b = ({seed: min(run["test"] for run in runs_ if run["batch"] == batch and run["seed"] == seed) for seed in {run["seed"] for run in runs_}} for batch in (small, large))')),
    "judge: each seed its own rate": _judge(('a, b = ({run["seed"]: run["test"] for run in runs_ if run["batch"] == batch and run["rate"] == best[batch]} for batch in (small, large))',
        'a, b = ({seed: min((run["validation"], run["test"]) for run in runs_ if run["batch"] == batch and run["seed"] == seed and np.isfinite(run["validation"]))[1] for seed in {run["seed"] for run in runs_}} for batch in (small, large))')),
    "judge: a 95 % interval": _judge(("        if {min(every)", "        half = (high - low) / 2 * 1.28\n        low, high = middle - half, middle + half\n        if {min(every)")),
    "judge: the verdict by the normal interval, beside the right numbers": _judge((TABLE, '''        half = (high - low) / 2 / T90[len(a)] * 1.645
        lo, hi = middle - half, middle + half
        if {min(every), max(every)} & set(best.values()):
            said = "cannot tell"
        elif -margin < lo and hi < margin:
            said = "no difference"
        else:
            said = "large worse" if lo > 0 else "large better" if hi < 0 else "cannot tell"
''')),
    "judge: rounds gap and interval to three places": _judge(('"gap": middle, "low": low, "high": high', '"gap": round(middle, 3), "low": round(low, 3), "high": round(high, 3)')),
    "judge: sorts the results that it was given": _judge(("    small, large =", '    results.sort(key=lambda run: (run["batch"], run["rate"], run["seed"], run["steps"]))\n    small, large =')),
    "judge: the tuned rates of an earlier call": '''
_known = {}
''' + PLAN_OK + JUDGE_OK.replace("best = tuned(runs_)", "best = _known.setdefault((arm, small, large), tuned(runs_))"),
    "judge: only the diverged runs are left out, not their rate": _judge(("best = tuned(runs_)", 'best = tuned([run for run in runs_ if np.isfinite(run["validation"])])')),
    "judge: a rate that diverged in one arm is out in both": _judge(("best = tuned(runs_)", '''bad = {(run["batch"], run["rate"]) for run in results if not np.isfinite(run["validation"])}
        best = tuned([run for run in runs_ if (run["batch"], run["rate"]) not in bad])''')),
    "judge: a rate that diverged with one batch is out for both": _judge(("best = tuned(runs_)", '''bad = {run["rate"] for run in runs_ if not np.isfinite(run["validation"])}
        best = tuned([run for run in runs_ if run["rate"] not in bad])''')),
    "judge: runs whose test or training loss is not finite are diverged in the tuning, too": _judge(("best = tuned(runs_)", '''best = tuned([run | {"validation": run["validation"] if np.isfinite(run["test"]) and np.isfinite(run.get("train", 0.0)) else float("inf")} for run in runs_])''')),
    "judge: refuses as soon as any run has diverged": _judge(("    every =", '    if not all(np.isfinite(run["validation"]) for run in results):\n        raise ValueError("a run diverged")\n    every =')),
    "judge: large worse and better swapped": _judge(('said = "large worse"', 'said = "large_"'), ('said = "large better"', 'said = "large worse"'), ('said = "large_"', 'said = "large better"')),
    "judge: in the arm of equal steps all runs of the large batch are taken": _judge(('ofsmall = [run for run in results if run["batch"] == small]', 'ofsmall = [run for run in results if run["batch"] == small]'),
        ('run["batch"] == large and run["steps"] == steps]', 'run["batch"] == large and (run["steps"] == steps or arm == "steps")]')),
    "open: judge: ends on the margin belong inside": _judge(("-margin < low and high < margin", "-margin <= low and high <= margin")),
    "open: judge: an unfinished test loss at the tuned rate gives cannot tell, not a ValueError": _judge(("        middle, low, high = gap(a, b)\n", '''        try:
            middle, low, high = gap(a, b)
        except ValueError:
            out[arm] = {"verdict": "cannot tell", "gap": float("nan"), "low": float("nan"), "high": float("nan"), "rates": best}
            continue
''')),
}

# -------------------------------------------------------------------------------------- sharpness

RIGHT["sharpness"] = {
    "loop": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    for _ in range(steps):
        v = product(v)
        if not v.any():
            return 0.0
        v = v / np.linalg.norm(v)
    return float(v @ product(v))
''',
    "one product ahead, plain sums": '''
def sharpness(product, start, steps):
    def length(v):
        return sum(float(x) * float(x) for x in v) ** 0.5

    v = np.array(start, dtype=float) / length(start)
    w = product(v)
    while steps:
        if all(x == 0 for x in w):
            return 0
        v = w / length(w)
        w = product(v)
        steps -= 1
    return sum(float(a) * float(b) for a, b in zip(v, w))
''',
    "recursion, np.vdot": '''
def sharpness(product, start, steps):
    unit = np.asarray(start, dtype=np.float64)
    unit = unit / np.sqrt(np.square(unit).sum())
    image = product(unit)
    if np.count_nonzero(image) == 0:
        return 0.0
    return np.vdot(unit, image) if steps == 0 else sharpness(product, image, steps - 1)
''',
    "torch inside": '''
import torch

def sharpness(product, start, steps):
    v = torch.tensor(np.asarray(start, dtype=float))
    v = v / v.norm()
    for _ in range(steps):
        w = torch.as_tensor(product(v.numpy()))
        if torch.count_nonzero(w) == 0:
            return 0.0
        v = w / torch.linalg.vector_norm(w)
    return torch.dot(v, torch.as_tensor(product(v.numpy()))).item()
''',
}

SHARP = '''
def sharpness(product, start, steps):
    v = {first}
    for _ in range({count}):
        w = product(v)
        if {zero}:
            return 0.0
        v = {unit}
    return {end}
'''


def _sharp(first="start / np.linalg.norm(start)", count="steps", zero="not w.any()", unit="w / np.linalg.norm(w)",
           end="float(v @ product(v))"):
    return SHARP.format(first=first, count=count, zero=zero, unit=unit, end=end)


WRONG["sharpness"] = {
    "start is not divided by its length": _sharp(first="start"),
    "one step too many": _sharp(count="steps + 1"),
    "one step too few": _sharp(count="steps - 1"),
    "at least one step": _sharp(count="max(1, steps)"),
    "length of Hv: no sign": _sharp(end="float(np.linalg.norm(product(v)))"),
    "size of v Hv: no sign": _sharp(end="abs(float(v @ product(v)))"),
    "length of Hv with the sign of v Hv": _sharp(end="float(np.linalg.norm(product(v)) * np.sign(v @ product(v)))"),
    "largest entry of Hv over that of v": _sharp(end="float(product(v)[np.argmax(abs(v))] / v[np.argmax(abs(v))])"),
    "mean of Hv over v": _sharp(end="float(np.mean(product(v)[v != 0] / v[v != 0]))"),
    "sum of Hv over sum of v": _sharp(end="float(product(v).sum() / v.sum())"),
    "divides by the largest entry": _sharp(unit="w / np.abs(w).max()"),
    "divides by the sum of sizes": _sharp(unit="w / np.abs(w).sum()"),
    "divides by the mean square": _sharp(unit="w / np.mean(w * w) ** 0.5"),
    "no division in the loop": _sharp(unit="w", end="float(v @ product(v) / (v @ v))"),
    "a small length counts as zero (1e-12)": _sharp(zero="np.linalg.norm(w) < 1e-12"),
    "a small length counts as zero (1e-15)": _sharp(zero="np.linalg.norm(w) < 1e-15"),
    "np.allclose to zero": _sharp(zero="np.allclose(w, 0)"),
    "one zero entry counts as zero": _sharp(zero="not w.all()"),
    "first entry zero counts as zero": _sharp(zero="w[0] == 0"),
    "last entry zero counts as zero": _sharp(zero="w[-1] == 0"),
    "a sum of zero counts as zero (entries that cancel)": _sharp(zero="w.sum() == 0"),
    "a largest entry of zero counts as zero (negative entries)": _sharp(zero="w.max() == 0"),
    "no entry above zero counts as zero": _sharp(zero="w.max() <= 0"),
    "a smallest entry of zero counts as zero (positive entries)": _sharp(zero="w.min() == 0"),
    "v w of zero counts as zero (Hv at a right angle to v)": _sharp(zero="v @ w == 0"),
    "no look at zero: nan": _sharp(zero="False"),
    "zero gives nan back": _sharp().replace("return 0.0", 'return float("nan")'),
    "zero ends the loop with the old v's length": _sharp().replace("return 0.0", "return float(np.linalg.norm(v))"),
    "an epsilon under the line": _sharp(unit="w / (np.linalg.norm(w) + 1e-8)"),
    "an epsilon under the line, 1e-12": _sharp(unit="w / (np.linalg.norm(w) + 1e-12)"),
    "the value before the last step": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    value = float(v @ product(v))
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        value = float(v @ w)
        v = w / np.linalg.norm(w)
    return value
''',
    "new v with the old product": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    w = product(v)
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
    return float(v @ w)
''',
    "stops when the value changes by less than 1e-9 of itself": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    w = product(v)
    value = float(v @ w)
    for _ in range(steps):
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
        w = product(v)
        old, value = value, float(v @ w)
        if abs(value - old) <= 1e-9 * abs(value):
            break
    return value
''',
    "stops when the value changes by less than 1e-3 of itself": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    w = product(v)
    value = float(v @ w)
    for _ in range(steps):
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
        w = product(v)
        old, value = value, float(v @ w)
        if abs(value - old) <= 1e-3 * abs(value):
            break
    return value
''',
    "largest value seen on the way": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    seen = []
    for _ in range(steps + 1):
        w = product(v)
        if not w.any():
            return 0.0
        seen.append(float(v @ w))
        v = w / np.linalg.norm(w)
    return max(seen, key=abs)
''',
    "builds H and takes its eigenvalues": '''
def sharpness(product, start, steps):
    n = len(start)
    h = np.array([product(np.eye(n)[i]) for i in range(n)])
    values = np.linalg.eigvalsh((h + h.T) / 2)
    return float(values[np.argmax(abs(values))])
''',
    "largest eigenvalue, not the largest in size": '''
def sharpness(product, start, steps):
    n = len(start)
    h = np.array([product(np.eye(n)[i]) for i in range(n)])
    return float(np.linalg.eigvalsh(h).max())
''',
    "a random start": '''
def sharpness(product, start, steps):
    v = np.random.default_rng(0).normal(size=len(start))
    v = v / np.linalg.norm(v)
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
    return float(v @ product(v))
''',
    "a little noise on the start, to leave right angles": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    v = v + 1e-6 * np.ones_like(v)
    v = v / np.linalg.norm(v)
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
    return float(v @ product(v))
''',
    "divides start in place": '''
def sharpness(product, start, steps):
    v = start
    if v.dtype.kind == "i":
        v = v.astype(float)
    v /= np.linalg.norm(v)
    for _ in range(steps):
        v = product(v)
        if not v.any():
            return 0.0
        v /= np.linalg.norm(v)
    return float(v @ product(v))
''',
    "two products in a step": _sharp(unit="product(w) / np.linalg.norm(product(w))"),
    "float16 vectors": _sharp(first="(start / np.linalg.norm(start)).astype(np.float16)", unit="(w / np.linalg.norm(w)).astype(np.float16)"),
    "goes on from the vector of the last call": '''
_last = {}
def sharpness(product, start, steps):
    v = _last.get(len(start), start / np.linalg.norm(start))
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        v = w / np.linalg.norm(w)
    _last[len(start)] = v
    return float(v @ product(v))
''',
    "open: float32 vectors": _sharp(first="(start / np.linalg.norm(start)).astype(np.float32)", unit="(w / np.linalg.norm(w)).astype(np.float32)"),
    "open: an exact 0 of the length, not of the entries (products below 1e-160)": _sharp(zero="np.linalg.norm(w) == 0"),
    "open: stops when v stays exactly as it is": '''
def sharpness(product, start, steps):
    v = start / np.linalg.norm(start)
    for _ in range(steps):
        w = product(v)
        if not w.any():
            return 0.0
        w = w / np.linalg.norm(w)
        if (w == v).all():
            break
        v = w
    return float(v @ product(v))
''',
}

# ---------------------------------------------------------------------------------------- rescale

RIGHT["rescale"] = {
    "dictionary": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError(f"alpha must be above 0, not {alpha}")
    return {"W1": weights["W1"] * alpha, "b1": weights["b1"] * alpha, "W2": weights["W2"] / alpha, "b2": weights["b2"].copy()}
''',
    "copies, in place": '''
def rescale(weights, alpha):
    if alpha > 0:
        new = {name: np.array(value, dtype=float) for name, value in weights.items()}
        new["W1"] *= alpha
        new["b1"] *= alpha
        new["W2"] /= alpha
        return new
    raise ValueError("alpha")
''',
    "loop over factors, lists": '''
import math

def rescale(weights, alpha):
    if math.isnan(alpha) or alpha <= 0:
        raise ValueError(alpha)
    factors = {"b2": 1.0, "W2": 1 / alpha, "b1": alpha, "W1": alpha}
    return {name: (np.asarray(weights[name]) * factor).tolist() for name, factor in factors.items()}
''',
    "torch": '''
import torch

def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha must be positive")
    t = {name: torch.tensor(np.asarray(value), dtype=torch.float64) for name, value in weights.items()}
    return {"W1": t["W1"].mul(alpha), "b1": t["b1"].mul(alpha), "W2": t["W2"].div(alpha), "b2": t["b2"].clone()}
''',
}

RESCALE = '''
def rescale(weights, alpha):
    {refuse}
    return {{"W1": {W1}, "b1": {b1}, "W2": {W2}, "b2": {b2}}}
'''


def _rescale(refuse='if not alpha > 0: raise ValueError("alpha must be above 0")', W1='weights["W1"] * alpha',
             b1='weights["b1"] * alpha', W2='weights["W2"] / alpha', b2='weights["b2"].copy()'):
    return RESCALE.format(refuse=refuse, W1=W1, b1=b1, W2=W2, b2=b2)


WRONG["rescale"] = {
    "b1 stays": _rescale(b1='weights["b1"].copy()'),
    "b1 divided": _rescale(b1='weights["b1"] / alpha'),
    "b2 divided, too": _rescale(b2='weights["b2"] / alpha'),
    "b2 multiplied, too": _rescale(b2='weights["b2"] * alpha'),
    "W2 multiplied": _rescale(W2='weights["W2"] * alpha'),
    "W2 stays": _rescale(W2='weights["W2"].copy()'),
    "W2 divided twice": _rescale(W2='weights["W2"] / alpha ** 2'),
    "the layers swapped": _rescale(W1='weights["W1"] / alpha', b1='weights["b1"] / alpha', W2='weights["W2"] * alpha'),
    "root of alpha on each layer": _rescale(W1='weights["W1"] * alpha ** 0.5', b1='weights["b1"] * alpha ** 0.5', W2='weights["W2"] / alpha ** 0.5'),
    "nothing changes": _rescale(W1='weights["W1"].copy()', b1='weights["b1"].copy()', W2='weights["W2"].copy()'),
    "only the columns of the first hidden unit": _rescale(W1='np.hstack([weights["W1"][:, :1] * alpha, weights["W1"][:, 1:]])', b1='np.hstack([weights["b1"][:1] * alpha, weights["b1"][1:]])', W2='np.vstack([weights["W2"][:1] / alpha, weights["W2"][1:]])'),
    "nan passes (alpha <= 0)": _rescale(refuse='if alpha <= 0: raise ValueError("alpha")'),
    "0 passes": _rescale(refuse='if alpha < 0 or alpha != alpha: raise ValueError("alpha")'),
    "negatives pass": _rescale(refuse='if alpha == 0 or alpha != alpha: raise ValueError("alpha")'),
    "size of alpha": _rescale(refuse="alpha = abs(alpha)"),
    "no refusal": _rescale(refuse="pass"),
    "assert": _rescale(refuse="assert alpha > 0"),
    "small alpha refused (1e-6)": _rescale(refuse='if not alpha > 1e-6: raise ValueError("alpha")'),
    "small alpha refused (1e-9)": _rescale(refuse='if not alpha > 1e-9: raise ValueError("alpha")'),
    "small alpha refused (1e-12)": _rescale(refuse='if not alpha > 1e-12: raise ValueError("alpha")'),
    "large alpha refused (1000)": _rescale(refuse='if not 0 < alpha < 1000: raise ValueError("alpha")'),
    "large alpha refused (1e6)": _rescale(refuse='if not 0 < alpha < 1e6: raise ValueError("alpha")'),
    "alpha below 1 refused": _rescale(refuse='if not alpha >= 1: raise ValueError("alpha")'),
    "alpha of 1 refused": _rescale(refuse='if not alpha > 0 or alpha == 1: raise ValueError("alpha")'),
    "a whole alpha refused": _rescale(refuse='if not isinstance(alpha, float) or not alpha > 0: raise ValueError("alpha")'),
    "TypeError for a bad alpha": _rescale(refuse='if not alpha > 0: raise TypeError("alpha")'),
    "an epsilon under the line": _rescale(W2='weights["W2"] / (alpha + 1e-8)'),
    "an epsilon under the line, 1e-12": _rescale(W2='weights["W2"] / (alpha + 1e-12)'),
    "rounded to four places": _rescale(W1='(weights["W1"] * alpha).round(4)', W2='(weights["W2"] / alpha).round(4)'),
    "float16 weights": _rescale(W1='(weights["W1"] * alpha).astype(np.float16)'),
    "b2 left out": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    return {"W1": weights["W1"] * alpha, "b1": weights["b1"] * alpha, "W2": weights["W2"] / alpha}
''',
    "a tuple": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    return weights["W1"] * alpha, weights["b1"] * alpha, weights["W2"] / alpha, weights["b2"]
''',
    "writes into the arrays that it was given": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    new = dict(weights)
    new["W1"] *= alpha
    new["b1"] *= alpha
    new["W2"] /= alpha
    return new
''',
    "writes into the dictionary that it was given": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    weights["W1"] = weights["W1"] * alpha
    weights["b1"] = weights["b1"] * alpha
    weights["W2"] = weights["W2"] / alpha
    return weights
''',
    "takes the weights by their place in the dictionary, not by name": '''
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    W1, b1, W2, b2 = weights.values()
    return {"W1": W1 * alpha, "b1": b1 * alpha, "W2": W2 / alpha, "b2": b2.copy()}
''',
    "alphas of earlier calls go on": '''
_alphas = [1.0]
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError("alpha")
    _alphas.append(_alphas[-1] * alpha)
    a = _alphas[-1]
    return {"W1": weights["W1"] * a, "b1": weights["b1"] * a, "W2": weights["W2"] / a, "b2": weights["b2"].copy()}
''',
    "open: b2 is the array that was given (new weights are asked)": _rescale(b2='weights["b2"]'),
    "open: inf is refused, too": _rescale(refuse='if not 0 < alpha < float("inf"): raise ValueError("alpha")'),
    "open: float32 weights": _rescale(W1='(weights["W1"] * alpha).astype(np.float32)', b1='(weights["b1"] * alpha).astype(np.float32)', W2='(weights["W2"] / alpha).astype(np.float32)'),
}

# ------------------------------------------------------------------------------------------ alpha
# The slider was not seen, so the right value was not read off. Candidates: computed, on three grids.

MEASURED = '''
def _sharp(batch, a):
    weights = probe.trained("noisy", batch, 640, 0.1, 0)
    scaled = {{"W1": weights["W1"] * a, "b1": weights["b1"] * a, "W2": weights["W2"] / a, "b2": weights["b2"]}}
    product = probe.product(scaled, "noisy", 0)
    v = np.random.default_rng(0).normal(size=195)
    v = v / np.linalg.norm(v)
    for _ in range(200):
        w = product(v)
        v = w / np.linalg.norm(w)
    return abs(float(v @ product(v)))


def alpha_wanted():
    wanted = {factor} * _sharp({reference}, 1.0)
    for a in {grid}:
        if _sharp({batch}, a) > wanted:
            return a
    return {grid}[-1]
'''


def _alpha(grid="[1 + n / 2 for n in range(1, 39)]", factor="10", reference="128", batch="8"):
    return MEASURED.format(grid=grid, factor=factor, reference=reference, batch=batch)


RIGHT["alpha"] = {
    "candidate: computed, whole numbers": _alpha(grid="list(range(2, 33))"),
    "candidate: computed, steps of a half": _alpha(),
    "candidate: computed, powers of two": _alpha(grid="[2, 4, 8, 16, 32, 64]"),
    "candidate: computed, steps of a quarter": _alpha(grid="[1 + n / 4 for n in range(1, 77)]"),
    "candidate: computed, steps of a tenth": _alpha(grid="[round(1 + n / 10, 1) for n in range(1, 191)]"),
    "candidate: computed, roots of two": _alpha(grid="[2 ** (n / 2) for n in range(1, 14)]"),
}

CONSTANT = '''
def alpha_wanted():
    return {}
'''

WRONG["alpha"] = {
    "1: the setting itself": CONSTANT.format("1"),
    "10: the factor of the sharpness, not the alpha": CONSTANT.format("10"),
    "100": CONSTANT.format("100"),
    "the root of ten, from the formula, not on a slider": CONSTANT.format("10 ** 0.5"),
    "0.1: below 1": CONSTANT.format("0.1"),
    "0.25: below 1": CONSTANT.format("0.25"),
    "0.5: below 1": CONSTANT.format("0.5"),
    "0": CONSTANT.format("0"),
    "negative": CONSTANT.format("-4"),
    "nan": CONSTANT.format('float("nan")'),
    "inf": CONSTANT.format('float("inf")'),
    "text": CONSTANT.format('"4"'),
    "text with the sign": CONSTANT.format('"alpha = 4"'),
    "a list of two": CONSTANT.format("[3, 4]"),
    "every alpha of a slider": CONSTANT.format("list(range(1, 20))"),
    "a truth value": CONSTANT.format("True"),
    "1.0001: just above 1": CONSTANT.format("1.0001"),
    "1e9: surely sharp enough": CONSTANT.format("1e9"),
    "a random one": '''
import random
def alpha_wanted():
    return random.choice([1.5, 2, 3, 4, 5, 6, 8])
''',
    "counts up at each call": '''
_n = [1]
def alpha_wanted():
    _n[0] += 1
    return _n[0]
''',
    "open: a constant 1.25": CONSTANT.format("1.25"),
    "open: a constant 1.5": CONSTANT.format("1.5"),
    "open: a constant 2": CONSTANT.format("2"),
    "open: a constant 2.5": CONSTANT.format("2.5"),
    "open: a constant 3": CONSTANT.format("3"),
    "open: a constant 3.5": CONSTANT.format("3.5"),
    "open: a constant 4": CONSTANT.format("4"),
    "open: a constant 4.5": CONSTANT.format("4.5"),
    "open: a constant 5": CONSTANT.format("5"),
    "open: a constant 6": CONSTANT.format("6"),
    "open: a constant 7": CONSTANT.format("7"),
    "open: a constant 8": CONSTANT.format("8"),
    "open: a constant 16": CONSTANT.format("16"),
    "open: ten times its own sharpness at 1 (may fall on the same mark)": _alpha(reference="8"),
    "open: more than the sharpness, not ten times (may fall on the same mark)": _alpha(factor="1"),
    "open: the batches swapped (may fall on the same mark)": _alpha(reference="8", batch="128"),
    "open: batch 128 at this alpha (may fall on the same mark)": _alpha(batch="128"),
}
