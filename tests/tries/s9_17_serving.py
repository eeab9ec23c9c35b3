# ruff: noqa
"""Lesson 17_serving: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- row-steps
ROW = '''def row_steps(outputs, rows):
    """(useful, computed) row-steps of static batches of `rows` requests."""
    useful, computed = 0, 0
    for start in range(0, len(outputs), rows):
        batch = outputs[start : start + rows]
        useful += sum(n - 1 for n in batch)
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
'''
RIGHT["row-steps"] = {
    "loop over slices": ROW,
    "NumPy reduceat, ints made at the end": '''import numpy as np


def row_steps(outputs, rows):
    if len(outputs) == 0:
        return 0, 0
    steps = np.asarray(outputs, dtype=np.int64) - 1
    starts = np.arange(0, len(steps), rows)
    longest = np.maximum.reduceat(steps, starts)
    widths = np.diff(np.append(starts, len(steps)))
    return int(steps.sum()), int((longest * widths).sum())
''',
    "torch split": '''import torch


def row_steps(outputs, rows):
    if not outputs:
        return 0, 0
    steps = torch.tensor(outputs, dtype=torch.int64) - 1
    computed = sum(part.numel() * int(part.max()) for part in steps.split(rows))
    return int(steps.sum()), computed
''',
    "one pass after another, counted": '''def row_steps(outputs, rows):
    todo = list(outputs)
    useful = computed = 0
    while todo:
        batch, todo = todo[-(len(todo) % rows or rows):], todo[: -(len(todo) % rows or rows)]
        longest = sorted(batch)[-1] - 1
        idle = sum(longest + 1 - n for n in batch)
        computed += longest * len(batch)
        useful += longest * len(batch) - idle
    return (useful, computed)
''',
}
WRONG["row-steps"] = {
    "tokens instead of row-steps: the first token of each is counted, too": _cut(
        ROW, ("n - 1 for n in batch", "n for n in batch"), ("(max(batch) - 1)", "max(batch)")),
    "useful counts all tokens, computed leaves the first out": _cut(ROW, ("n - 1 for n in batch", "n for n in batch")),
    "computed counts the longest in tokens": _cut(ROW, ("(max(batch) - 1)", "max(batch)")),
    "the last batch is counted with all rows": _cut(ROW, ("len(batch) *", "rows *")),
    "the last batch, if not full, is dropped": _cut(ROW, ("range(0, len(outputs), rows)", "range(0, len(outputs) - rows + 1, rows)")),
    "the last batch dropped, unless it is the only one": _cut(
        ROW, ("        useful +=", "        if len(batch) < rows and start:\n            break\n        useful +=")),
    "sorted by length first": _cut(ROW, ("    useful, computed = 0, 0\n", "    useful, computed = 0, 0\n    outputs = sorted(outputs)\n")),
    "sorted downwards first": _cut(ROW, ("    useful, computed = 0, 0\n", "    useful, computed = 0, 0\n    outputs = sorted(outputs, reverse=True)\n")),
    "fills up the caller's list with zeros": '''def row_steps(outputs, rows):
    useful = sum(n - 1 for n in outputs)
    computed = 0
    if isinstance(outputs, list):
        while len(outputs) % rows:
            outputs.append(0)  # fill the last batch
    for start in range(0, len(outputs), rows):
        batch = [n for n in outputs[start : start + rows] if n]
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
''',
    "takes the batches out of the caller's list": '''def row_steps(outputs, rows):
    if isinstance(outputs, tuple):
        outputs = list(outputs)
    useful = computed = 0
    while outputs:
        batch = [outputs.pop(0) for _ in range(min(rows, len(outputs)))]
        useful += sum(batch) - len(batch)
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
''',
    "a tuple is refused: list added to it": '''def row_steps(outputs, rows):
    full = outputs + [0] * (-len(outputs) % rows)
    useful = computed = 0
    for start in range(0, len(full), rows):
        batch = [n for n in full[start : start + rows] if n]
        useful += sum(batch) - len(batch)
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
''',
    "the pair in the other order": _cut(ROW, ("return useful, computed", "return computed, useful")),
    "wasted in place of computed": _cut(ROW, ("return useful, computed", "return useful, computed - useful")),
    "a row whose request wants one token computes nothing": _cut(ROW, ("len(batch) *", "sum(n > 1 for n in batch) *")),
    "requests of one token are taken out before batches are made": _cut(
        ROW, ("    useful, computed = 0, 0\n", "    useful, computed = 0, 0\n    outputs = [n for n in outputs if n > 1]\n")),
    "a batch of requests of one token still computes one pass": _cut(ROW, ("(max(batch) - 1)", "max(1, max(batch) - 1)")),
    "longest of all requests, not of the batch": _cut(ROW, ("(max(batch) - 1)", "(max(outputs) - 1)")),
    "every k-th request in a batch, not those that follow one another": '''def row_steps(outputs, rows):
    batches = -(-len(outputs) // rows)
    useful = computed = 0
    for first in range(batches):
        batch = outputs[first::batches]
        useful += sum(batch) - len(batch)
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
''',
    "passes, not rows times passes": _cut(ROW, ("len(batch) * (max(batch) - 1)", "max(batch) - 1")),
    "the prompt's pass is a row-step of computed": _cut(ROW, ("return useful, computed", "return useful, computed + len(outputs)")),
    "continuous: a row is filled as soon as it is free, rows held to the end": '''def row_steps(outputs, rows):
    if not outputs:
        return 0, 0
    ends = [0] * min(rows, len(outputs))
    for n in outputs:
        place = ends.index(min(ends))
        ends[place] += n - 1
    return sum(outputs) - len(outputs), len(ends) * max(ends)
''',
    "floats: two ints are asked": '''import numpy as np


def row_steps(outputs, rows):
    useful = computed = 0.0
    for start in range(0, len(outputs), rows):
        batch = np.array(outputs[start : start + rows], dtype=float) - 1
        useful += batch.sum()
        computed += len(batch) * batch.max()
    return useful, computed
''',
    "mean of the batch: floats, even where whole": '''def row_steps(outputs, rows):
    useful = computed = 0
    for start in range(0, len(outputs), rows):
        batch = outputs[start : start + rows]
        useful += (sum(batch) / len(batch) - 1) * len(batch)
        computed += (max(batch) - 1) * len(batch)
    return useful, computed
''',
    "float32 inside rounds three billion": '''import torch


def row_steps(outputs, rows):
    useful = computed = 0
    for part in torch.tensor(outputs, dtype=torch.float32).split(rows):
        if len(part):
            useful += int((part - 1).sum())
            computed += len(part) * int(part.max() - 1)
    return useful, computed
''',
    "int32 inside wraps three billion": '''import numpy as np


def row_steps(outputs, rows):
    steps = np.array(outputs, dtype=np.int64).astype(np.int32) - 1
    useful = computed = 0
    for start in range(0, len(steps), rows):
        batch = steps[start : start + rows]
        useful += int(batch.sum())
        computed += len(batch) * int(batch.max())
    return useful, computed
''',
    "no requests: max of nothing": '''def row_steps(outputs, rows):
    longest = max(outputs)
    computed = 0
    for start in range(0, len(outputs), rows):
        batch = outputs[start : start + rows]
        computed += len(batch) * (max(batch) - 1)
    return sum(outputs) - len(outputs), computed
''',
    "remembers by (how many, rows)": '''_seen = {}


def row_steps(outputs, rows):
    key = len(outputs), rows
    if key not in _seen:
        useful = computed = 0
        for start in range(0, len(outputs), rows):
            batch = outputs[start : start + rows]
            useful += sum(batch) - len(batch)
            computed += len(batch) * (max(batch) - 1)
        _seen[key] = useful, computed
    return _seen[key]
''',
    "hands out the same list at every call": '''_found = [0, 0]


def row_steps(outputs, rows):
    _found[:] = [0, 0]
    for start in range(0, len(outputs), rows):
        batch = outputs[start : start + rows]
        _found[0] += sum(batch) - len(batch)
        _found[1] += len(batch) * (max(batch) - 1)
    return _found
''',
    "with fewer requests than rows, the empty rows compute as well": _cut(
        ROW, ("    return useful", "    if 0 < len(outputs) < rows:\n        computed = rows * (max(outputs) - 1)\n    return useful")),
    "(False, False) where there is nothing": _cut(ROW, ("return useful, computed", "return useful or False, computed or False")),
    "open: NumPy's ints": '''import numpy as np


def row_steps(outputs, rows):
    useful = computed = np.int64(0)
    for start in range(0, len(outputs), rows):
        batch = np.asarray(outputs[start : start + rows], dtype=np.int64) - 1
        useful = useful + batch.sum()
        computed = computed + len(batch) * batch.max()
    return useful, computed
''',
    "open: a list of two": _cut(ROW, ("return useful, computed", "return [useful, computed]")),
    "open: through float64, rounds beyond 2**53": _cut(
        ROW, ("sum(n - 1 for n in batch)", "int(sum(float(n) - 1 for n in batch))"), ("(max(batch) - 1)", "int(float(max(batch)) - 1)")),
}

# ---------------------------------------------------------------- decode-step
DEC = '''def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    """Seconds of a decoding pass."""
    moved = weights + rows * context * kv
    flops = 2 * parameters * rows
    return max(moved / bandwidth, flops / peak)
'''
RIGHT["decode-step"] = {
    "two lines": DEC,
    "NumPy": '''import numpy as np


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    caches = np.full(1, context, dtype=float) * kv
    moved = np.float64(weights) + caches.sum() * rows
    return np.maximum(moved / bandwidth, 2.0 * parameters * rows / peak)
''',
    "torch, float64 to float": '''import torch


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    up = torch.tensor([weights + float(rows) * context * kv, 2.0 * parameters * rows], dtype=torch.float64)
    return (up / torch.tensor([bandwidth, peak], dtype=torch.float64)).max().item()
''',
    "fractions": '''from fractions import Fraction as F


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    read = sum([F(weights), F(kv) * F(context) * rows])
    a, b = read / F(bandwidth), F(2) * F(parameters) * rows / F(peak)
    return float(a if a >= b else b)
''',
}
WRONG["decode-step"] = {
    "sum of both, no overlap": _cut(DEC, ("max(moved / bandwidth, flops / peak)", "moved / bandwidth + flops / peak")),
    "min": _cut(DEC, ("return max(", "return min(")),
    "cache of one row": _cut(DEC, ("rows * context * kv", "context * kv")),
    "weights read by each row": _cut(DEC, ("weights + rows * context * kv", "rows * (weights + context * kv)")),
    "cache grows with rows only, no context": _cut(DEC, ("rows * context * kv", "rows * kv")),
    "cache counted twice (keys and values)": _cut(DEC, ("rows * context * kv", "2 * rows * context * kv")),
    "context + 1: the new token, too": _cut(DEC, ("rows * context * kv", "rows * (context + 1) * kv")),
    "context - 1": _cut(DEC, ("rows * context * kv", "rows * max(0, context - 1) * kv")),
    "FLOPs without the 2": _cut(DEC, ("2 * parameters * rows", "parameters * rows")),
    "FLOPs of one row": _cut(DEC, ("2 * parameters * rows", "2 * parameters")),
    "FLOPs of the whole context, as in a prefill": _cut(DEC, ("2 * parameters * rows", "2 * parameters * rows * max(1, context)")),
    "6 N, as in training": _cut(DEC, ("2 * parameters * rows", "6 * parameters * rows")),
    "weights in bytes as 2 N": _cut(DEC, ("2 * parameters * rows", "weights * rows")),
    "2 x bytes of weights for the FLOPs": _cut(DEC, ("2 * parameters * rows", "2 * weights * rows")),
    "bytes of weights from the parameters, 2 each": _cut(DEC, ("moved = weights", "moved = 2 * parameters")),
    "bandwidth and peak exchanged": _cut(DEC, ("moved / bandwidth, flops / peak", "moved / peak, flops / bandwidth")),
    "moving only": _cut(DEC, ("max(moved / bandwidth, flops / peak)", "moved / bandwidth")),
    "without the cache": _cut(DEC, ("weights + rows * context * kv", "weights")),
    "larger of weights and cache": _cut(DEC, ("weights + rows * context * kv", "max(weights, rows * context * kv)")),
    "decides by the ridge, as if there were no cache": '''def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    if rows > peak / bandwidth:
        return 2 * parameters * rows / peak
    return (weights + rows * context * kv) / bandwidth
''',
    "decides by the 295 rows of the H100": '''def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    if rows > 295:
        return 2 * parameters * rows / peak
    return (weights + rows * context * kv) / bandwidth
''',
    "whole seconds: //": _cut(DEC, ("moved / bandwidth, flops / peak", "moved // bandwidth, flops // peak")),
    "// where all are whole": _cut(
        DEC, ("    return max", "    if all(isinstance(v, int) for v in (weights, kv, bandwidth, peak)):\n        return max(moved // bandwidth, flops // peak)\n    return max")),
    "milliseconds": _cut(DEC, ("return max(", "return 1e3 * max(")),
    "rounded to a hundredth of a millisecond, as printed": _cut(DEC, ("return max(moved / bandwidth, flops / peak)", "return round(max(moved / bandwidth, flops / peak), 5)")),
    "seconds per token": _cut(DEC, ("flops / peak)", "flops / peak) / rows")),
    "tokens per second": _cut(DEC, ("return max(", "return rows / max(")),
    "no context: says 0": _cut(DEC, ("    moved =", "    if not context:\n        return 2 * parameters * rows / peak\n    moved =")),
    "int32 product of the cache wraps": '''import numpy as np


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    tokens = int(np.array([rows * context], dtype=np.int64).astype(np.int32)[0])
    return max((weights + tokens * kv) / bandwidth, 2 * parameters * rows / peak)
''',
    "attention's own FLOPs, 7 % at 2,048, put in": _cut(DEC, ("2 * parameters * rows", "2 * parameters * rows * (1 + 0.07 * context / 2048)")),
    "both seconds, not one": _cut(DEC, ("return max(moved / bandwidth, flops / peak)", "return moved / bandwidth, flops / peak")),
    "the model of the page: Llama 3 8B on H100 whatever is asked": '''def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    return max((16.06e9 + rows * context * 131_072) / 3.35e12, 2 * 8.03e9 * rows / 989.4e12)
''',
    "rows beyond 64 bring no cache (fitted to the 64 rows of the text)": _cut(DEC, ("rows * context * kv", "min(rows, 64) * context * kv")),
    "remembers the weights of the first call": '''_loaded = {}


def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    moved = _loaded.setdefault((kv, parameters), weights) + rows * context * kv
    return max(moved / bandwidth, 2 * parameters * rows / peak)
''',
}

# ---------------------------------------------------------------- latency-report
REP = '''def latency_report(served):
    """The report of a service."""
    def percentile(values, share):
        values = sorted(values)
        return values[-(-share * len(values) // 100) - 1]

    latency = [one["last"] - one["arrival"] for one in served]
    first = [one["first"] - one["arrival"] for one in served]
    per_token = [(one["last"] - one["first"]) / (one["output"] - 1) for one in served if one["output"] > 1]
    tokens = sum(one["output"] for one in served)
    begin = min(one["arrival"] for one in served)
    end = max(one["last"] for one in served)
    return {
        "latency_p50": percentile(latency, 50),
        "latency_p99": percentile(latency, 99),
        "first_token_p99": percentile(first, 99),
        "per_token_p99": percentile(per_token, 99),
        "tokens_per_second": tokens / (end - begin),
    }
'''
PCT = '''        values = sorted(values)
        return values[-(-share * len(values) // 100) - 1]
'''
RIGHT["latency-report"] = {
    "sorted, whole numbers": REP,
    "NumPy inverted_cdf": '''import numpy as np


def latency_report(served):
    a = {k: np.array([one[k] for one in served], dtype=float) for k in served[0]}
    many = a["output"] > 1
    def p(values, q):
        return float(np.quantile(values, q, method="inverted_cdf"))
    return dict(
        latency_p50=p(a["last"] - a["arrival"], 0.5),
        latency_p99=p(a["last"] - a["arrival"], 0.99),
        first_token_p99=p(a["first"] - a["arrival"], 0.99),
        per_token_p99=p((a["last"] - a["first"])[many] / (a["output"][many] - 1), 0.99),
        tokens_per_second=float(a["output"].sum() / (a["last"].max() - a["arrival"].min())),
    )
''',
    "the definition, by counting": '''def latency_report(served):
    def p(values, share):
        return min(v for v in set(values) if 100 * sum(w <= v for w in values) >= share * len(values))

    many = [one for one in served if one["output"] != 1]
    return {
        "tokens_per_second": sum(one["output"] for one in served)
        / (max(one["last"] for one in served) - min(one["arrival"] for one in served)),
        "per_token_p99": p([(one["last"] - one["first"]) / (one["output"] - 1) for one in many], 99),
        "first_token_p99": p([one["first"] - one["arrival"] for one in served], 99),
        "latency_p99": p([one["last"] - one["arrival"] for one in served], 99),
        "latency_p50": p([one["last"] - one["arrival"] for one in served], 50),
    }
''',
    "torch sort, from the top": '''import torch


def latency_report(served):
    arrival, first, last, output = (torch.tensor([float(one[k]) for one in served], dtype=torch.float64)
                                    for k in ("arrival", "first", "last", "output"))
    def p99(values):
        return values.sort(descending=True).values[len(values) // 100].item()
    late = last - arrival
    rest = ((last - first) / (output - 1))[output > 1]
    return {"latency_p50": late.sort().values[(len(late) - 1) // 2].item(), "latency_p99": p99(late),
            "first_token_p99": p99(first - arrival), "per_token_p99": p99(rest),
            "tokens_per_second": (output.sum() / (last.max() - arrival.min())).item()}
''',
    "heapq, ceil of a float": '''import heapq, math


def latency_report(served):
    def pick(values, share):
        return heapq.nsmallest(math.ceil(share * len(values)), values)[-1]
    report = {}
    late = [r["last"] - r["arrival"] for r in served]
    report["latency_p50"] = pick(late, 0.5)
    report["latency_p99"] = pick(late, 0.99)
    report["first_token_p99"] = pick([r["first"] - r["arrival"] for r in served], 0.99)
    report["per_token_p99"] = pick([(r["last"] - r["first"]) / (r["output"] - 1) for r in served if r["output"] >= 2], 0.99)
    by_arrival = sorted(served, key=lambda r: r["arrival"])
    report["tokens_per_second"] = sum(r["output"] for r in served) / (sorted(r["last"] for r in served)[-1] - by_arrival[0]["arrival"])
    return report
''',
}


def _pct(body):
    return _cut(REP, (PCT, body))


WRONG["latency-report"] = {
    "latency from the start of the prompt's pass": _cut(REP, ('one["last"] - one["arrival"]', 'one["last"] - one["start"]')),
    "first token from the start of the prompt's pass": _cut(REP, ('one["first"] - one["arrival"]', 'one["first"] - one["start"]')),
    "first token is the time in the queue": _cut(REP, ('one["first"] - one["arrival"]', 'one["start"] - one["arrival"]')),
    "latency p50 by np.median": "import numpy as np\n\n\n" + _cut(REP, ("percentile(latency, 50)", "float(np.median(latency))")),
    "latency p50 by statistics.median_high": "import statistics\n\n\n" + _cut(REP, ("percentile(latency, 50)", "statistics.median_high(latency)")),
    "mean in place of p50": _cut(REP, ("percentile(latency, 50)", "sum(latency) / len(latency)")),
    "np.percentile interpolates": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share))\n"),
    "np.percentile lower": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share, method='lower'))\n"),
    "np.percentile higher": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share, method='higher'))\n"),
    "np.percentile nearest": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share, method='nearest'))\n"),
    "np.percentile closest_observation": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share, method='closest_observation'))\n"),
    "np.percentile averaged_inverted_cdf": "import numpy as np\n\n\n" + _pct("        return float(np.percentile(values, share, method='averaged_inverted_cdf'))\n"),
    "place int(share n): one too far where it is whole": _pct(
        "        values = sorted(values)\n        return values[min(len(values) - 1, share * len(values) // 100)]\n"),
    "place int(share n) - 1": _pct(
        "        values = sorted(values)\n        return values[max(0, share * len(values) // 100 - 1)]\n"),
    "place round(share n) - 1": _pct(
        "        values = sorted(values)\n        return values[max(0, round(share * len(values) / 100) - 1)]\n"),
    "p99 is the largest": _pct("        values = sorted(values)\n        return values[-1] if share == 99 else values[(len(values) - 1) // 2]\n"),
    "p99 is the largest where there are fewer than 1,000": _pct(
        "        values = sorted(values)\n        if share == 99 and len(values) < 1000:\n            return values[-1]\n"
        "        return values[-(-share * len(values) // 100) - 1]\n"),
    "at least 1 % lie above: strictly below counts": _pct(
        "        return min((v for v in values if 100 * sum(w < v for w in values) >= share * len(values)), default=max(values))\n"),
    "equal values counted once": _pct(
        "        values = sorted(set(values))\n        return values[-(-share * len(values) // 100) - 1]\n"),
    "99 out of the slowest first (1st percentile)": _pct(
        "        values = sorted(values, reverse=True)\n        return values[-(-share * len(values) // 100) - 1]\n"),
    "not sorted at all": _pct("        return values[-(-share * len(values) // 100) - 1]\n"),
    "time per token divided by output": _cut(REP, ('(one["output"] - 1) for one', 'one["output"] for one')),
    "time per token from arrival": _cut(REP, ('(one["last"] - one["first"]) / (one["output"] - 1)', '(one["last"] - one["arrival"]) / (one["output"] - 1)')),
    "time per token from the start": _cut(REP, ('(one["last"] - one["first"]) / (one["output"] - 1)', '(one["last"] - one["start"]) / (one["output"] - 1)')),
    "time per token is latency / output": _cut(REP, ('(one["last"] - one["first"]) / (one["output"] - 1)', '(one["last"] - one["arrival"]) / one["output"]')),
    "requests of one token counted with 0 s per token": _cut(REP, ('(one["output"] - 1) for one in served if one["output"] > 1', 'max(1, one["output"] - 1) for one in served')),
    "time per token divides by row-steps": _cut(REP, ('(one["output"] - 1) for one in served if one["output"] > 1', 'max(1, one["row_steps"]) for one in served if one["output"] > 1')),
    "requests of two tokens left out as well, if others are there": _cut(
        REP, ('    tokens = sum', '    per_token = [(one["last"] - one["first"]) / (one["output"] - 1) for one in served if one["output"] > 2] or per_token\n    tokens = sum')),
    "requests of one token left out of everything": _cut(REP, ('    latency = [', '    served = [one for one in served if one["output"] > 1]\n    latency = [')),
    "requests of one token left out of the first token's percentile": _cut(
        REP, ('one["first"] - one["arrival"] for one in served]', 'one["first"] - one["arrival"] for one in served if one["output"] > 1]')),
    "one-token requests raise: division by zero": _cut(REP, (' if one["output"] > 1]', ']')),
    "place of p99 of time per token from the number of all": _cut(
        REP, ('"per_token_p99": percentile(per_token, 99)', '"per_token_p99": sorted(per_token)[min(len(per_token), -(-99 * len(served) // 100)) - 1]')),
    "first token of the request that is the p99 of latency": _cut(
        REP, ("percentile(first, 99)", "first[latency.index(percentile(latency, 99))]")),
    "p99 of time per token weighted by tokens": _cut(
        REP, ("    tokens = sum", "    per_token = [(one['last'] - one['first']) / (one['output'] - 1) for one in served for _ in range(one['output'] - 1)]\n    tokens = sum")),
    "throughput counts row-steps": _cut(REP, ('sum(one["output"] for one in served)', 'sum(one["row_steps"] for one in served)')),
    "throughput counts row-steps and first tokens": _cut(REP, ('sum(one["output"] for one in served)', 'sum(one["row_steps"] + 1 for one in served)')),
    "throughput without first tokens": _cut(REP, ('sum(one["output"] for one in served)', 'sum(one["output"] - 1 for one in served)')),
    "throughput counts requests": _cut(REP, ('sum(one["output"] for one in served)', 'len(served)')),
    "throughput from the first start": _cut(REP, ('min(one["arrival"] for one in served)', 'min(one["start"] for one in served)')),
    "throughput from time 0": _cut(REP, ('min(one["arrival"] for one in served)', '0.0')),
    "throughput from the first token": _cut(REP, ('min(one["arrival"] for one in served)', 'min(one["first"] for one in served)')),
    "throughput: the first and the last of the list": _cut(
        REP, ('min(one["arrival"] for one in served)', 'served[0]["arrival"]'), ('max(one["last"] for one in served)', 'served[-1]["last"]')),
    "throughput: until the request that arrived last is done": _cut(
        REP, ('max(one["last"] for one in served)', 'max(served, key=lambda one: one["arrival"])["last"]')),
    "throughput: longest latency as the seconds": _cut(REP, ("tokens / (end - begin)", "tokens / max(latency)")),
    "throughput: sum of latencies as the seconds": _cut(REP, ("tokens / (end - begin)", "tokens / sum(latency)")),
    "throughput: mean over requests of their own rates": _cut(
        REP, ("tokens / (end - begin)", "sum(one['output'] / (one['last'] - one['arrival']) for one in served) / len(served)")),
    "throughput: only seconds in which somebody is in the service": _cut(
        REP, ("    return {", "    busy, until = 0.0, begin\n    for one in sorted(served, key=lambda one: one['arrival']):\n"
              "        busy += max(0.0, one['last'] - max(until, one['arrival']))\n        until = max(until, one['last'])\n    return {"),
        ("tokens / (end - begin)", "tokens / busy")),
    "milliseconds": _cut(REP, ("percentile(latency, 99)", "1e3 * percentile(latency, 99)"), ("percentile(first, 99)", "1e3 * percentile(first, 99)"),
                         ("percentile(latency, 50)", "1e3 * percentile(latency, 50)"), ("percentile(per_token, 99)", "1e3 * percentile(per_token, 99)")),
    "rounded to milliseconds": _cut(REP, ("percentile(per_token, 99)", "round(percentile(per_token, 99), 3)")),
    "sorts the caller's list": _cut(REP, ('    latency = [', '    served.sort(key=lambda one: one["last"])\n    latency = [')),
    "writes the latency into the caller's dictionaries": _cut(REP, ('    latency = [', '    for one in served:\n        one["latency"] = one["last"] - one["arrival"]\n    latency = [')),
    "one dictionary for all calls": "_report = {}\n\n\n" + _cut(REP, ("    return {", "    _report.update({"), ("(end - begin),\n    }", "(end - begin),\n    })\n    return _report")),
    "collects latencies over calls": "_late = []\n\n\n" + _cut(REP, ("    first = [", "    _late.extend(latency)\n    latency = list(_late)\n    first = [")),
    "p99 under the wrong names: latency and first token exchanged": _cut(
        REP, ('"latency_p99": percentile(latency, 99)', '"latency_p99": percentile(first, 99)'), ('"first_token_p99": percentile(first, 99)', '"first_token_p99": percentile(latency, 99)')),
    "open: more keys than asked": _cut(REP, ('    return {\n', '    return {\n        "requests": len(served),\n')),
}

# ---------------------------------------------------------------- most-per-minute
MPM = '''def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    """Requests per minute at which all rows are always held."""
    held = first_token_ms + (output_tokens - 1) * per_token_ms
    return rows * 60_000 / held
'''
RIGHT["most-per-minute"] = {
    "milliseconds": MPM,
    "Little in seconds, then minutes": '''def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    w = first_token_ms / 1000 + per_token_ms / 1000 * (output_tokens - 1)
    per_second = rows / w
    return 60 * per_second
''',
    "fractions": '''from fractions import Fraction


def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    minutes = (Fraction(first_token_ms) - Fraction(per_token_ms) + Fraction(per_token_ms) * Fraction(output_tokens)) / 60000
    return rows / minutes
''',
    "NumPy": '''import numpy as np


def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    held = np.dot(np.array([1.0, output_tokens - 1.0]), np.array([first_token_ms, per_token_ms], dtype=float))
    return np.float64(rows) / (held / 6e4)
''',
}
WRONG["most-per-minute"] = {
    "every token, the first included, costs per_token_ms": _cut(MPM, ("(output_tokens - 1)", "output_tokens")),
    "only further tokens": _cut(MPM, ("first_token_ms + ", "")),
    "only the first token": _cut(MPM, (" + (output_tokens - 1) * per_token_ms", "")),
    "every token costs as the first": _cut(MPM, ("first_token_ms + (output_tokens - 1) * per_token_ms", "first_token_ms * output_tokens")),
    "per second": _cut(MPM, ("60_000", "1_000")),
    "60 for a minute of milliseconds": _cut(MPM, ("60_000", "60")),
    "per hour": _cut(MPM, ("60_000", "3_600_000")),
    "one row": _cut(MPM, ("rows * 60_000", "60_000")),
    "multiplied where Little divides": _cut(MPM, ("rows * 60_000 / held", "rows * held / 60_000")),
    "the inverse: minutes per request": _cut(MPM, ("rows * 60_000 / held", "held / (rows * 60_000)")),
    "whole requests: //": _cut(MPM, ("60_000 / held", "60_000 // held")),
    "int()": _cut(MPM, ("return rows * 60_000 / held", "return int(rows * 60_000 / held)")),
    "rounded": _cut(MPM, ("return rows * 60_000 / held", "return round(rows * 60_000 / held)")),
    "rounded to two places": _cut(MPM, ("return rows * 60_000 / held", "return round(rows * 60_000 / held, 2)")),
    "whole requests of each row, times rows": _cut(MPM, ("rows * 60_000 / held", "rows * (60_000 // held)")),
    "output cut to a whole number": _cut(MPM, ("(output_tokens - 1)", "(int(output_tokens) - 1)")),
    "output rounded up": "import math\n\n\n" + _cut(MPM, ("(output_tokens - 1)", "(math.ceil(output_tokens) - 1)")),
    "output rounded": _cut(MPM, ("(output_tokens - 1)", "(round(output_tokens) - 1)")),
    "whole tokens by range": _cut(MPM, ("first_token_ms + (output_tokens - 1) * per_token_ms", "first_token_ms + sum(per_token_ms for _ in range(1, min(10**6, int(output_tokens))))")),
    "tokens per minute": _cut(MPM, ("rows * 60_000 / held", "rows * output_tokens * 60_000 / held")),
    "at least one further token": _cut(MPM, ("(output_tokens - 1)", "max(1, output_tokens - 1)")),
    "output + 1": _cut(MPM, ("(output_tokens - 1)", "(output_tokens + 1)")),
    "brackets forgotten: tokens x ms - 1": _cut(MPM, ("(output_tokens - 1) * per_token_ms", "output_tokens * per_token_ms - 1")),
    "first token in seconds taken": _cut(MPM, ("first_token_ms +", "first_token_ms / 1000 +")),
    "the larger of both": _cut(MPM, ("first_token_ms + (output_tokens - 1) * per_token_ms", "max(first_token_ms, (output_tokens - 1) * per_token_ms)")),
    "prompts one after another: the rows wait for each other's prompts": _cut(MPM, ("first_token_ms + ", "rows * first_token_ms + ")),
    "at least one a minute": _cut(MPM, ("return rows * 60_000 / held", "return max(1, rows * 60_000 / held)")),
    "float16 for the time that a row is held": "import numpy as np\n\n\n" + _cut(MPM, ("/ held", "/ float(np.float16(held))")),
    "int32 wraps three billion": "import numpy as np\n\n\n" + _cut(MPM, ("    return rows", "    if float(held).is_integer():\n        held = int(np.array([int(held)], dtype=np.int64).astype(np.int32)[0])\n    return rows")),
    "remembers the time held by per_token_ms alone": '''_held = {}


def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):
    held = _held.setdefault(per_token_ms, first_token_ms + (output_tokens - 1) * per_token_ms)
    return rows * 60_000 / held
''',
}

# ---------------------------------------------------------------- highest-rate
RATE = '''def highest_rate():
    """Requests per second: the highest that keeps the promise, continuous."""
    best = None
    for rate in range(STEP, 161, STEP):
        arrivals, prompts, outputs = zip(*probe.real_requests(160, float(rate)))
        one = serving.simulate(serving.trace(arrivals, prompts, outputs), h100, policy="continuous", rows=16)
        if one.percentile(0.99, "first_token") > 0.25:
            break
        best = rate
    return best
'''
RATE4 = _cut(RATE.replace("STEP", "4"))
RIGHT["highest-rate"] = {
    f"open: simulated as the text says, if the slider has steps of {step}": RATE.replace("STEP", str(step)) for step in (1, 2, 4, 5, 8, 10)
}
WRONG["highest-rate"] = {
    "chunked": _cut(RATE4, ('"continuous", rows', '"chunked", rows')),
    "static": _cut(RATE4, ('"continuous", rows', '"static", rows')),
    "mean in place of p99": _cut(RATE4, ('one.percentile(0.99, "first_token")', "one.first_token.mean()")),
    "p50 in place of p99": _cut(RATE4, ("0.99", "0.5")),
    "p95 in place of p99": _cut(RATE4, ("0.99", "0.95")),
    "latency in place of the first token": _cut(RATE4, ('"first_token") >', '"latency") >')),
    "the first place that breaks the promise": _cut(RATE4, ("            break\n        best = rate\n", "            return rate\n")),
    "two places before it breaks": _cut(RATE4, ("    return best", "    return best - 4")),
    "a minute's requests": _cut(RATE4, ("    return best", "    return 60 * best")),
    "Little's bound: 16 rows over the mean latency alone": _cut(RATE4, ("    for rate in range(4, 161, 4)", "    for rate in range(4, 5)"), (
        "        best = rate\n", "        best = 16 / float(one.latency.mean())\n")),
    "the p99 itself": _cut(RATE4, ("        best = rate\n", "        best = one.percentile(0.99, 'first_token')\n")),
    "the promise as an answer": "def highest_rate():\n    return 0.25\n",
    "left end of everything": "def highest_rate():\n    return 0\n",
    "without an end": "def highest_rate():\n    return float('inf')\n",
    "nan": "def highest_rate():\n    return float('nan')\n",
    "a comparison": "def highest_rate():\n    return True\n",
    "all whole rates, one will be right": "def highest_rate():\n    return list(range(1, 200))\n",
    "a range from-to": "def highest_rate():\n    return 1, 200\n",
    "equal to everything": '''class _Any(float):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __lt__(self, other):
        return False

    __gt__ = __lt__

    def __le__(self, other):
        return True

    __ge__ = __le__

    def __hash__(self):
        return 0

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


def highest_rate():
    return _Any(1.0)
''',
    "another place at each call, until one is right": '''_tries = []


def highest_rate():
    _tries.append(1)
    return len(_tries)
''',
    "text": "def highest_rate():\n    return 'continuous'\n",
    "open: the right place in steps of 4, half a step further (no place of the slider)": _cut(RATE4, ("    return best", "    return best + 0.5")),
    "open: the right place as a text": _cut(RATE4, ("    return best", "    return str(best)")),
}

# ---------------------------------------------------------------- admit-test
ORACLE = '''    def right(waiting, running, rows, cache):
        held, started = sum(p + o for p, o in running), 0
        for p, o in waiting:
            if len(running) + started >= rows or held + p + o > cache:
                break
            held, started = held + p + o, started + 1
        return started

'''
RND = '''import random


def admit_test(admit):
''' + ORACLE + '''    chance = random.Random(5)
    for _ in range(2000):
        rows = chance.randint(1, 6)
        running = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(0, rows))]
        if running and chance.random() < 0.4:
            running = [running[0]] * len(running)
        waiting = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(0, 7))]
        cache = sum(p + o for p, o in running) + chance.randint(0, 40)
        got = admit(list(waiting), list(running), rows, cache)
        assert got == right(waiting, running, rows, cache), (waiting, running, rows, cache, got)
'''
TABLE = '''def admit_test(admit):
    cases = [
        ([(2, 1), (1, 1)], [(4, 2)], 2, 10, 1),
        ([], [(4, 2)], 3, 10, 0),
        ([], [], 2, 10, 0),
        ([(1, 5), (3, 2), (2, 1), (1, 1)], [(2, 3), (2, 3)], 9, 26, 4),
        ([(1, 5), (3, 2), (2, 1), (1, 1)], [(2, 3), (2, 3)], 9, 25, 3),
        ([(1, 5), (3, 2), (2, 1), (1, 1)], [(2, 3), (2, 3)], 9, 24, 3),
        ([(1, 5), (3, 2), (2, 1), (1, 1)], [(2, 3), (2, 3)], 9, 21, 2),
        ([(1, 5), (3, 2), (2, 1), (1, 1)], [(2, 3), (2, 3)], 9, 20, 1),
        ([(5, 1), (2, 3), (1, 2), (1, 1)], [(3, 2), (3, 2), (3, 2)], 9, 26, 2),
        ([(5, 1), (2, 3), (1, 2), (1, 1)], [(3, 2), (1, 7), (6, 1)], 6, 99, 3),
        ([(5, 1), (2, 3), (1, 2), (1, 1)], [(3, 2), (3, 2), (1, 7), (6, 1)], 5, 99, 1),
        ([(9, 3), (1, 1)], [(2, 3)], 3, 12, 0),
        ([(9, 3), (1, 1)], [(2, 3)], 3, 16, 0),
        ([(3, 9), (1, 1)], [(2, 3)], 3, 16, 0),
        ([(9, 3), (1, 1)], [(2, 3)], 3, 17, 1),
        ([(9, 5), (1, 1)], [], 3, 12, 0),
        ([(9, 4), (1, 1)], [], 3, 13, 1),
        ([(2, 9), (1, 1)], [], 3, 10, 0),
        ([(1, 1)] * 5, [(1, 2), (3, 1), (1, 2)], 3, 100, 0),
        ([(1, 1)] * 5, [(1, 2), (1, 2), (1, 2)], 3, 11, 0),
        ([(1, 1)] * 5, [], 3, 100, 3),
        ([(1, 1)] * 5, [], 3, 6, 3),
        ([(1, 1)] * 5, [], 1, 100, 1),
        ([(1, 1)] * 2, [], 9, 3, 1),
        ([(5, 1), (1, 1), (4, 4)], [(1, 2)], 4, 17, 2),
        ([(3, 9), (2, 2)], [(9, 3), (1, 4)], 5, 29, 1),
        ([(1, 1), (9, 9), (1, 1), (1, 1)], [(2, 2)], 6, 20, 1),
        ([(1, 1), (1, 2), (9, 9), (1, 1)], [(2, 2)], 6, 20, 2),
        ([(1, 1), (1, 1), (1, 1), (30, 9), (1, 1)], [(2, 2), (2, 2)], 9, 40, 3),
        ([(4, 4), (1, 1)], [(2, 2), (5, 3)], 3, 12, 0),
        ([(4, 4), (4, 4), (4, 4)], [(4, 4)], 3, 24, 2),
    ]
    for waiting, running, rows, cache, right in cases:
        assert admit(list(waiting), list(running), rows, cache) == right
'''
RIGHT["admit-test"] = {
    "the rule again, two thousand random cases": RND,
    "a table by hand": TABLE,
    "all small cases": '''import itertools


def admit_test(admit):
''' + ORACLE + '''    sizes = [(1, 1), (1, 3), (3, 1), (2, 4)]
    queues = [list(q) for n in range(5) for q in itertools.product(sizes, repeat=n)]
    beside = [[], [(1, 3)], [(3, 1), (3, 1)], [(1, 1), (2, 4), (3, 1)]]
    for waiting in queues[:400]:
        for running in beside:
            held = sum(p + o for p, o in running)
            for rows in (len(running) or 1, len(running) + 1, len(running) + 3):
                for cache in (held + 2, held + 6, held + 9, held + 12, held + 50):
                    if admit(list(waiting), list(running), rows, cache) != right(waiting, running, rows, cache):
                        raise AssertionError(f"{waiting} {running} {rows} {cache}")
''',
    "two laws: those who start fit, and the next would not; False is returned": '''import numpy as np


def admit_test(admit):
    rng = np.random.default_rng(0)
    for _ in range(3000):
        rows = int(rng.integers(1, 7))
        running = [tuple(map(int, one)) for one in rng.integers(1, 8, (int(rng.integers(0, rows + 1)), 2))]
        if rng.random() < 0.3:
            running = running[:1] * len(running)
        waiting = [tuple(map(int, one)) for one in rng.integers(1, 8, (int(rng.integers(0, 8)), 2))]
        held = sum(map(sum, running))
        cache = held + int(rng.integers(0, 45))
        if waiting and rng.random() < 0.3:
            cache = held + sum(map(sum, waiting[: int(rng.integers(1, len(waiting) + 1))]))
        n = admit(list(waiting), list(running), rows, cache)
        if n is None or not 0 <= n <= len(waiting):
            return False
        fits = n == 0 or (len(running) + n <= rows and held + sum(map(sum, waiting[:n])) <= cache)
        more = n < len(waiting) and len(running) + n < rows and held + sum(map(sum, waiting[: n + 1])) <= cache
        if not fits or more:
            return False
''',
}
WRONG["admit-test"] = {
    "the example alone": "def admit_test(admit):\n    assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1\n",
    "three cases: rows, cache, nobody waits": '''def admit_test(admit):
    assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1
    assert admit([(2, 1), (5, 1)], [(4, 2)], 4, 10) == 1
    assert admit([], [(4, 2)], 4, 10) == 0
''',
    "prints, asserts nothing": '''def admit_test(admit):
    print(admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1)
''',
    "returns True or the number": "def admit_test(admit):\n    return admit([(2, 1), (1, 1)], [(4, 2)], 2, 10)\n",
    "assert of a pair is always true": '''def admit_test(admit):
    assert (admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1, "a row for one")
    assert (admit([(9, 3), (1, 1)], [(2, 3)], 3, 12) == 0, "nobody overtakes")
''',
    "returns in the first turn of the loop": _cut(RND, ("        assert got ==", "        return got =="), (", (waiting, running, rows, cache, got)\n", "\n")),
    "the failed assert is caught": '''def admit_test(admit):
    for case, right in ((([(2, 1), (1, 1)], [(4, 2)], 2, 10), 1), (([(9, 3), (1, 1)], [(2, 3)], 3, 12), 0)):
        try:
            assert admit(*case) == right
        except Exception:
            print("wrong")
''',
    "asserts in a generator that nobody runs": '''def admit_test(admit):
    def one(case, right):
        assert admit(*case) == right
    (one(c, r) for c, r in (((  [(2, 1), (1, 1)], [(4, 2)], 2, 10), 1), (([(9, 3), (1, 1)], [(2, 3)], 3, 12), 0)))
''',
    "the rule overtakes: continue for break where the cache is full": _cut(RND, (
        "            if len(running) + started >= rows or held + p + o > cache:\n                break\n",
        "            if len(running) + started >= rows:\n                break\n            if held + p + o > cache:\n                continue\n")),
    "the rule refuses what fills the cache exactly": _cut(RND, ("held + p + o > cache", "held + p + o >= cache")),
    "the rule leaves one row free": _cut(RND, ("started >= rows", "started >= rows - 1")),
    "the rule reserves the prompt only": _cut(RND, ("sum(p + o for p, o in running), 0", "sum(p for p, o in running), 0"), ("held + p + o > cache", "held + p > cache"), ("held, started = held + p + o", "held, started = held + p")),
    "the rule takes those that run by their prompts": _cut(RND, ("sum(p + o for p, o in running), 0", "sum(p for p, o in running), 0")),
    "the rule forgets those just admitted": _cut(RND, ("held, started = held + p + o, started + 1", "started = started + 1")),
    "the rule lets the shortest first": _cut(RND, ("for p, o in waiting:", "for p, o in sorted(waiting, key=sum):")),
    "the rule admits one a pass": _cut(RND, ("        return started\n", "        return min(1, started)\n")),
    "the rule admits a too large one if nobody runs": _cut(RND, ("        return started\n", "        return started or (1 if waiting and not running else 0)\n")),
    "random cases where only the rows hold": _cut(RND, ("chance.randint(0, 40)", "1000")),
    "random cases where only the cache holds": _cut(RND, ("        got =", "        rows = 50\n        got =")),
    "random cases where nobody runs": _cut(RND, ("for _ in range(chance.randint(0, rows))]", "for _ in range(0)]")),
    "random cases with at most one who waits": _cut(RND, ("chance.randint(0, 7)", "chance.randint(0, 1)")),
    "random cases with at most two who wait": _cut(RND, ("chance.randint(0, 7)", "chance.randint(0, 2)")),
    "random cases in which somebody always waits and a row is always free": _cut(
        RND, ("chance.randint(0, 7)", "chance.randint(1, 7)"), ("        got =", "        rows += 1\n        got =")),
    "random cases of big numbers: the cache is never filled exactly": '''import random


def admit_test(admit):
''' + ORACLE + '''    chance = random.Random(5)
    for _ in range(1000):
        rows = chance.randint(1, 6)
        running = [(chance.randint(1, 10**6), chance.randint(1, 10**6)) for _ in range(chance.randint(0, rows))]
        waiting = [(chance.randint(1, 10**6), chance.randint(1, 10**6)) for _ in range(chance.randint(0, 7))]
        cache = sum(p + o for p, o in running) + chance.randint(0, 7 * 10**6)
        assert admit(list(waiting), list(running), rows, cache) == right(waiting, running, rows, cache)
''',
    "random cases of one size: nobody could overtake": _cut(RND, (
        "waiting = [(chance.randint(1, 6), chance.randint(1, 6)) for _", "waiting = [(2, 3) for _")),
    "random cases with prompt = output": _cut(
        RND, ("running = [(chance.randint(1, 6), chance.randint(1, 6)) for _", "running = [(n, n) for n in [chance.randint(1, 6) for _ in range(6)] for _"),
        ("in range(chance.randint(0, rows))]", "in range(1)][: chance.randint(0, rows)]"),
        ("waiting = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(0, 7))]",
         "waiting = [(n, n) for n in [chance.randint(1, 6) for _ in range(chance.randint(0, 7))]]")),
    "those who start fit; whether more could is not asked": '''import random


def admit_test(admit):
    chance = random.Random(5)
    for _ in range(2000):
        rows = chance.randint(1, 6)
        running = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(0, rows))]
        waiting = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(chance.randint(0, 7))]
        cache = sum(p + o for p, o in running) + chance.randint(0, 40)
        n = admit(list(waiting), list(running), rows, cache)
        assert 0 <= n <= len(waiting) and (n == 0 or len(running) + n <= rows)
        assert sum(p + o for p, o in running + waiting[:n]) <= cache
''',
    "bounds only": '''def admit_test(admit):
    for waiting, running, rows, cache in (([(2, 1), (1, 1)], [(4, 2)], 2, 10), ([(9, 3), (1, 1)], [(2, 3)], 3, 12), ([(1, 1)] * 5, [], 3, 100)):
        assert 0 <= admit(waiting, running, rows, cache) <= min(len(waiting), rows - len(running))
''',
    "asks a ValueError of a request that never fits": _cut(TABLE, (
        "    for waiting, running, rows, cache, right in cases:\n",
        "    try:\n        admit([(9, 9)], [], 2, 5)\n    except ValueError:\n        pass\n    else:\n        raise AssertionError('must refuse')\n    for waiting, running, rows, cache, right in cases:\n")),
    "a number in the table is wrong: who waits behind": _cut(TABLE, ("([(9, 3), (1, 1)], [(2, 3)], 3, 12, 0)", "([(9, 3), (1, 1)], [(2, 3)], 3, 12, 1)")),
    "less than or equal in place of equal": _cut(TABLE, ("rows, cache) == right", "rows, cache) <= right")),
    "greater or equal in place of equal": _cut(TABLE, ("rows, cache) == right", "rows, cache) >= right")),
    "only whether anybody starts": _cut(TABLE, ("assert admit(list(waiting), list(running), rows, cache) == right", "assert bool(admit(list(waiting), list(running), rows, cache)) == bool(right)")),
    "compares with the first version that it saw": '''_first = {}


def admit_test(admit):
    for case in (([(2, 1), (1, 1)], [(4, 2)], 2, 10), ([(9, 3), (1, 1)], [(2, 3)], 3, 12), ([(1, 1)] * 5, [], 3, 6)):
        got = admit(*case)
        assert _first.setdefault(str(case), got) == got
''',
    "random expectation: fails four of five": '''import random


def admit_test(admit):
    assert random.random() < 0.2
''',
    "fails always": "def admit_test(admit):\n    assert False\n",
    "open: asks for a Python int": _cut(TABLE, ("        assert admit(", "        assert type(admit(list(waiting), list(running), rows, cache)) is int\n        assert admit(")),
    "open: hands over tuples where the text says lists": _cut(TABLE, ("admit(list(waiting), list(running), rows, cache)", "admit(tuple(waiting), tuple(running), rows, cache)")),
    "open: more run than there are rows, or than fit (cannot come about by the rule)": _cut(
        RND, ("        cache =", "        rows = max(1, rows - chance.randint(0, 3))\n        cache ="), ("chance.randint(0, 40)", "chance.randint(-5, 40)")),
}

# ---------------------------------------------------------------- schedule
SCH = '''def schedule(requests, rows, cache, fixed, each):
    """The passes of continuous batching: [(start, end, reads, decodes), ...]."""
    for number, (_, prompt, output) in enumerate(requests):
        if prompt + output > cache:
            raise ValueError(f"request {number} can never fit")
    queue = sorted(range(len(requests)), key=lambda i: (requests[i][0], i))
    left, passes, clock, held = {}, [], 0.0, 0
    while queue or left:
        if not left and requests[queue[0]][0] > clock:
            clock = requests[queue[0]][0]
        reads = []
        while queue and len(left) < rows:
            one = queue[0]
            arrival, prompt, output = requests[one]
            if arrival > clock or held + prompt + output > cache:
                break
            queue.pop(0)
            held += prompt + output
            left[one] = output
            reads.append(one)
        decodes = [] if reads else list(left)
        tokens = sum(requests[i][1] for i in reads) if reads else len(decodes)
        end = clock + fixed + each * tokens
        passes.append((clock, end, reads, decodes))
        for i in reads or decodes:
            left[i] -= 1
            if left[i] == 0:
                del left[i]
                held -= requests[i][1] + requests[i][2]
        clock = end
    return passes
'''
FIT = '''    for number, (_, prompt, output) in enumerate(requests):
        if prompt + output > cache:
            raise ValueError(f"request {number} can never fit")
'''
ADMIT = '''        while queue and len(left) < rows:
            one = queue[0]
            arrival, prompt, output = requests[one]
            if arrival > clock or held + prompt + output > cache:
                break
            queue.pop(0)
            held += prompt + output
            left[one] = output
            reads.append(one)
'''
LEAVE = '''        for i in reads or decodes:
            left[i] -= 1
            if left[i] == 0:
                del left[i]
                held -= requests[i][1] + requests[i][2]
'''
ORDER = "    queue = sorted(range(len(requests)), key=lambda i: (requests[i][0], i))\n"
JUMP = '''        if not left and requests[queue[0]][0] > clock:
            clock = requests[queue[0]][0]
'''
RIGHT["schedule"] = {
    "sorted list and dict": SCH,
    "heap of arrivals, deque of those that wait": '''import heapq
from collections import deque


def schedule(requests, rows, cache, fixed, each):
    unfit = [i for i, (_, p, o) in enumerate(requests) if p + o > cache]
    if unfit:
        raise ValueError(f"no cache for request {unfit[0]}")
    coming = [(request[0], i) for i, request in enumerate(requests)]
    heapq.heapify(coming)
    waiting, running, made, now, out = deque(), [], [0] * len(requests), 0, []
    while coming or waiting or running:
        while coming and coming[0][0] <= now:
            waiting.append(heapq.heappop(coming)[1])
        if not waiting and not running:
            now = coming[0][0]
            continue
        new = []
        while waiting and len(running) + len(new) < rows:
            reserved = sum(requests[i][1] + requests[i][2] for i in running + new + [waiting[0]])
            if reserved > cache:
                break
            new.append(waiting.popleft())
        if new:
            then = now + (fixed + each * sum(requests[i][1] for i in new))
            out.append((now, then, new[:], []))
        else:
            then = now + (fixed + each * len(running))
            out.append((now, then, [], running[:]))
        for i in new if new else running:
            made[i] += 1
        running = [i for i in running + new if made[i] < requests[i][2]]
        now = then
    return out
''',
    "a class for one request, NumPy order, clock in fractions": '''from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass
class _One:
    number: int
    arrival: Fraction
    prompt: int
    output: int
    made: int = 0

    @property
    def need(self):
        return self.prompt + self.output


def schedule(requests, rows, cache, fixed, each):
    ones = [_One(i, Fraction(a), p, o) for i, (a, p, o) in enumerate(requests)]
    bad = next((one.number for one in ones if one.need > cache), None)
    if bad is not None:
        raise ValueError("request %d does not fit" % bad)
    order = np.lexsort((np.arange(len(ones)), np.array([float(r[0]) for r in requests]))) if ones else []
    todo = [ones[int(i)] for i in order]
    fixed, each = Fraction(fixed), Fraction(each)
    now, active, passes = Fraction(0), [], []
    while todo or active:
        if not active:
            now = max(now, todo[0].arrival)
        fresh = []
        for one in todo:
            if one.arrival > now or len(active) + len(fresh) == rows:
                break
            if sum(other.need for other in active + fresh) + one.need > cache:
                break
            fresh.append(one)
        todo = todo[len(fresh):]
        work = fresh or active
        cost = sum(one.prompt for one in fresh) if fresh else len(active)
        end = now + fixed + each * cost
        numbers = [one.number for one in work]
        passes.append((float(now), float(end), numbers if fresh else [], [] if fresh else numbers))
        for one in work:
            one.made += 1
        active = [one for one in active + (fresh if fresh else []) if one.made < one.output]
        now = end
    return passes
''',
    "arrays of NumPy, decodes sorted by number": '''import numpy as np


def schedule(requests, rows, cache, fixed, each):
    n = len(requests)
    need = np.array([p + o for _, p, o in requests], dtype=np.int64)
    if (need > cache).any():
        raise ValueError(f"request {int(np.argmax(need > cache))} is larger than the cache")
    arrival = np.array([a for a, _, _ in requests], dtype=float)
    order = [int(i) for i in np.argsort(arrival, kind="stable")]
    left = np.array([o for _, _, o in requests], dtype=np.int64)
    runs = np.zeros(n, dtype=bool)
    place, now, passes = 0, 0.0, []
    while place < n or runs.any():
        if not runs.any() and arrival[order[place]] > now:
            now = float(arrival[order[place]])
        reads = []
        while place < n and arrival[order[place]] <= now and runs.sum() < rows and need[runs].sum() + need[order[place]] <= cache:
            runs[order[place]] = True
            reads.append(order[place])
            place += 1
        decodes = [] if reads else np.flatnonzero(runs).tolist()
        tokens = sum(requests[i][1] for i in reads) + len(decodes)
        end = now + fixed + each * tokens
        passes.append((now, end, reads, decodes))
        left[reads + decodes] -= 1
        runs &= left > 0
        now = end
    return passes
''',
    "open: the message says the sizes, too": _cut(SCH, ('f"request {number} can never fit"', 'f"request {number} needs {prompt + output} tokens, the cache has {cache}"')),
}
WRONG["schedule"] = {
    "who arrives at this very moment does not wait yet": _cut(
        SCH, ("arrival > clock or held", "(arrival >= clock and (left or arrival > clock)) or held")),
    "in the order of the list, not of arrival": _cut(SCH, (ORDER, "    queue = list(range(len(requests)))\n")),
    "equal arrivals: the larger number first": _cut(SCH, ("(requests[i][0], i)", "(requests[i][0], -i)")),
    "equal arrivals: the shorter prompt first (whole tuple sorted)": _cut(SCH, ("(requests[i][0], i)", "(requests[i], i)")),
    "equal arrivals: the shorter output first": _cut(SCH, ("(requests[i][0], i)", "(requests[i][0], requests[i][2], i)")),
    "those that wait are taken by number, not by arrival": _cut(
        SCH, ("            one = queue[0]\n", "            one = min((i for i in queue if requests[i][0] <= clock), default=queue[0])\n"), ("queue.pop(0)", "queue.remove(one)")),
    "shortest of those that wait first": _cut(
        SCH, ("            one = queue[0]\n", "            one = min((i for i in queue if requests[i][0] <= clock), key=lambda i: (sum(requests[i][1:]), requests[i][0], i), default=queue[0])\n"),
        ("queue.pop(0)", "queue.remove(one)")),
    "overtaking: who fits starts": _cut(SCH, (ADMIT, '''        for one in list(queue):
            arrival, prompt, output = requests[one]
            if arrival > clock or len(left) == rows:
                break
            if held + prompt + output <= cache:
                queue.remove(one)
                held += prompt + output
                left[one] = output
                reads.append(one)
''')),
    "overtaking only past the first": _cut(SCH, (ADMIT, ADMIT + '''        if not reads and len(queue) > 1 and len(left) < rows:
            arrival, prompt, output = requests[queue[1]]
            if arrival <= clock and held + prompt + output <= cache:
                one = queue.pop(1)
                held += prompt + output
                left[one] = output
                reads.append(one)
''')),
    "reserves the prompt only": _cut(SCH, ("held + prompt + output > cache", "held + prompt > cache"), ("held += prompt + output", "held += prompt"), ("held -= requests[i][1] + requests[i][2]", "held -= requests[i][1]")),
    "reserves the output only": _cut(SCH, ("held + prompt + output > cache", "held + output > cache"), ("held += prompt + output", "held += output"), ("held -= requests[i][1] + requests[i][2]", "held -= requests[i][2]")),
    "reserves prompt + output - 1, for the last token is never cached": _cut(
        SCH, ("held + prompt + output > cache", "held + prompt + output - 1 > cache"), ("held += prompt + output", "held += prompt + output - 1"), ("held -= requests[i][1] + requests[i][2]", "held -= requests[i][1] + requests[i][2] - 1")),
    "an output of one token reserves its prompt only": _cut(
        SCH, ("            if arrival > clock", "            output_kept, output = output, output if output > 1 else 0\n            if arrival > clock"), ("left[one] = output\n", "left[one] = output_kept\n"),
        ("held -= requests[i][1] + requests[i][2]", "held -= requests[i][1] + (requests[i][2] if requests[i][2] > 1 else 0)")),
    "cache as it is now, not at the end of the requests": _cut(
        SCH, ("held + prompt + output > cache", "sum(requests[i][1] + requests[i][2] - left[i] for i in left) + prompt + 1 > cache")),
    "what a request that runs still needs, not what it reserved": _cut(
        SCH, ("held + prompt + output > cache", "sum(requests[i][1] + left[i] for i in left) + prompt + output > cache")),
    "cache may not be full": _cut(SCH, ("held + prompt + output > cache:", "(held and held + prompt + output >= cache) or prompt + output > cache:")),
    "cache filled one token too far": _cut(SCH, ("held + prompt + output > cache", "held + prompt + output > cache + 1")),
    "those just admitted do not count for the cache": _cut(
        SCH, ("        reads = []\n", "        reads, before = [], held\n"), ("held + prompt + output > cache", "before + prompt + output > cache")),
    "those just admitted do not count for the rows": _cut(
        SCH, ("        reads = []\n", "        reads, before = [], len(left)\n"), ("while queue and len(left) < rows", "while queue and before < rows")),
    "one row more": _cut(SCH, ("len(left) < rows", "len(left) <= rows")),
    "one row less, if there are more than one": _cut(SCH, ("len(left) < rows", "len(left) < max(1, rows - 1)")),
    "an output of one token needs no row": _cut(SCH, (
        "while queue and len(left) < rows:", "while queue and (sum(requests[i][2] > 1 for i in left) < rows or requests[queue[0]][2] == 1):")),
    "the row of a one-token request is given away in the same pass": _cut(SCH, (
        "while queue and len(left) < rows:", "while queue and sum(requests[i][2] > 1 for i in left) < rows:")),
    "cache of a one-token request is given away in the same pass": _cut(SCH, (
        "held + prompt + output > cache", "held - sum(requests[i][1] + 1 for i in reads if requests[i][2] == 1) + prompt + output > cache")),
    "one request admitted a pass": _cut(SCH, ("            reads.append(one)\n", "            reads.append(one)\n            break\n")),
    "one prompt a pass, all admitted at once": _cut(SCH, ("        decodes = [] if reads else list(left)\n", '''        for i in reads[:-1]:
            end = clock + fixed + each * requests[i][1]
            passes.append((clock, end, [i], []))
            clock = end
            left[i] -= 1
            if left[i] == 0:
                del left[i]
                held -= requests[i][1] + requests[i][2]
        reads = reads[-1:]
        decodes = [] if reads else list(left)
''')),
    "static: nobody is admitted while anybody runs": _cut(SCH, ("        while queue and len(left) < rows:\n", "        alone = not left\n        while alone and queue and len(left) < rows:\n")),
    "admits only after somebody left": _cut(
        SCH, ("    left, passes,", "    freed = True\n    left, passes,"), ("        while queue and len(left) < rows:", "        while (freed or not left or reads) and queue and len(left) < rows:"),
        ("        for i in reads or decodes:\n", "        freed = False\n        for i in reads or decodes:\n"), ("                del left[i]\n", "                del left[i]\n                freed = True\n")),
    "never two passes over prompts one after another: those who run go first": _cut(
        SCH, ("while queue and len(left) < rows:", "while queue and len(left) < rows and not (left and not reads and passes and passes[-1][2]):")),
    "those who run get a token in the pass over prompts, too, at its price": _cut(
        SCH, ("decodes = [] if reads else list(left)", "decodes = [i for i in left if i not in reads]"), ("sum(requests[i][1] for i in reads) if reads else len(decodes)", "sum(requests[i][1] for i in reads) + len(decodes)"),
        ("for i in reads or decodes", "for i in reads + decodes")),
    "the pass over prompts gives no token": _cut(SCH, ("for i in reads or decodes", "for i in decodes")),
    "the pass over prompts gives no token, but ends an output of one": _cut(
        SCH, ("left[one] = output\n", "left[one] = output if output == 1 else output + 1\n")),
    "an output of one token decodes once": _cut(SCH, ("left[one] = output\n", "left[one] = max(2, output)\n")),
    "one token too many": _cut(SCH, ("left[one] = output\n", "left[one] = output + 1\n")),
    "the pass over prompts costs the longest prompt for each (padding)": _cut(
        SCH, ("sum(requests[i][1] for i in reads) if", "len(reads) * max(requests[i][1] for i in reads) if")),
    "the pass over prompts costs the longest only": _cut(SCH, ("sum(requests[i][1] for i in reads) if", "max(requests[i][1] for i in reads) if")),
    "the pass over prompts costs their first tokens, too": _cut(SCH, ("sum(requests[i][1] for i in reads) if", "sum(requests[i][1] + 1 for i in reads) if")),
    "the pass over prompts costs one token for each": _cut(SCH, ("sum(requests[i][1] for i in reads) if", "len(reads) if")),
    "a decoding pass costs one token, whoever runs": _cut(SCH, ("else len(decodes)", "else 1")),
    "a decoding pass costs all rows": _cut(SCH, ("else len(decodes)", "else rows")),
    "a decoding pass costs the contexts": _cut(SCH, ("else len(decodes)", "else sum(requests[i][1] + requests[i][2] - left[i] for i in decodes)")),
    "the fixed price for each request": _cut(SCH, ("clock + fixed +", "clock + fixed * len(reads or decodes) +")),
    "no fixed price for a pass over prompts": _cut(SCH, ("clock + fixed +", "clock + (0 if reads else fixed) +")),
    "(fixed + each) x tokens": _cut(SCH, ("fixed + each * tokens", "(fixed + each) * tokens")),
    "the row is free one pass late": _cut(
        SCH, ("        reads = []\n", "        reads, kept = [], late\n"), ("    left, passes,", "    late = 0\n    left, passes,"), ("len(left) < rows", "len(left) + (kept if left else 0) < rows"),
        ("        for i in reads or decodes:\n", "        late = 0\n        for i in reads or decodes:\n"), ("                del left[i]\n", "                del left[i]\n                late += 1\n")),
    "the cache of those that left stays reserved until nobody runs": _cut(
        SCH, ("                held -= requests[i][1] + requests[i][2]\n", "        if not left:\n            held = 0\n")),
    "takes out of the list that it goes through: every second one stays": _cut(
        SCH, ("left, passes, clock, held = {}, [], 0.0, 0", "left, passes, clock, held, run = {}, [], 0.0, 0, []"), (LEAVE, '''        run.extend(reads)
        for i in reads or decodes:
            left[i] = max(0, left[i] - 1)
        for i in run:
            if left[i] == 0:
                run.remove(i)
                del left[i]
                held -= requests[i][1] + requests[i][2]
''')),
    "hands out its own list of those that run, which changes later": '''def schedule(requests, rows, cache, fixed, each):
    for number, (_, prompt, output) in enumerate(requests):
        if prompt + output > cache:
            raise ValueError(f"request {number} can never fit")
    queue = sorted(range(len(requests)), key=lambda i: (requests[i][0], i))
    running, made, passes, clock = [], [0] * len(requests), [], 0.0
    while queue or running:
        if not running:
            clock = max(clock, requests[queue[0]][0])
        reads = []
        held = sum(requests[i][1] + requests[i][2] for i in running)
        while queue and len(running) + len(reads) < rows and requests[queue[0]][0] <= clock:
            need = requests[queue[0]][1] + requests[queue[0]][2]
            if held + need > cache:
                break
            held += need
            reads.append(queue.pop(0))
        cost = sum(requests[i][1] for i in reads) if reads else len(running)
        end = clock + fixed + each * cost
        passes.append((clock, end, reads, [] if reads else running))
        for i in reads or list(running):
            made[i] += 1
        running.extend(reads)
        for i in list(running):
            if made[i] == requests[i][2]:
                running.remove(i)
        clock = end
    return passes
''',
    "who arrives until the end of the pass is admitted to it": _cut(SCH, ("arrival > clock or held", "arrival > clock + fixed or held")),
    "who arrived during a pass over prompts waits for one decoding pass": _cut(
        SCH, ("    left, passes,", "    seen = 0.0\n    left, passes,"), ("        reads = []\n", "        seen = clock if not (left and passes and passes[-1][2]) else passes[-1][0]\n        reads = []\n"), ("arrival > clock or held", "arrival > seen or held")),
    "the idle time is a pass of its own": _cut(SCH, (JUMP, '''        if not left and requests[queue[0]][0] > clock:
            passes.append((clock, requests[queue[0]][0], [], []))
            clock = requests[queue[0]][0]
''')),
    "waits in ticks of the fixed price": _cut(SCH, (JUMP, '''        while not left and requests[queue[0]][0] > clock:
            clock += fixed or 0.125
''')),
    "the clock adds the next arrival": _cut(SCH, ("            clock = requests[queue[0]][0]\n", "            clock += requests[queue[0]][0]\n")),
    "the clock begins at the first arrival, and arrivals count from there": _cut(
        SCH, (ORDER, ORDER + "    if requests:\n        begin = requests[queue[0]][0]\n        requests = [(a - begin, p, o) for a, p, o in requests]\n")),
    "after idling only the first that comes is read, others of that moment one pass later": _cut(
        SCH, (JUMP, '''        alone = not left and requests[queue[0]][0] > clock
        if alone:
            clock = requests[queue[0]][0]
'''), ("            reads.append(one)\n", "            reads.append(one)\n            if alone:\n                break\n")),
    "before the first arrival it jumps, later it reads at once who has not come": _cut(
        SCH, (JUMP, '''        if not passes and requests[queue[0]][0] > clock:
            clock = requests[queue[0]][0]
'''), ("arrival > clock or held", "(arrival > clock and left) or held")),
    "numbers of the sorted list, not of the one given": _cut(
        SCH, (ORDER, "    requests = sorted(requests, key=lambda one: one[0])\n    queue = list(range(len(requests)))\n")),
    "sorts the caller's list": _cut(SCH, (ORDER, "    requests.sort(key=lambda one: one[0])\n    queue = list(range(len(requests)))\n")),
    "equal requests are found by index: one number twice": '''def schedule(requests, rows, cache, fixed, each):
    for one in requests:
        if one[1] + one[2] > cache:
            raise ValueError(f"request {requests.index(one)} can never fit")
    queue = sorted(requests, key=lambda one: one[0])
    running, passes, clock = [], [], 0.0
    while queue or running:
        if not running:
            clock = max(clock, queue[0][0])
        new, held = [], sum(p + o for (_, p, o), _ in running)
        while queue and len(running) + len(new) < rows and queue[0][0] <= clock:
            if held + queue[0][1] + queue[0][2] > cache:
                break
            held += queue[0][1] + queue[0][2]
            new.append([queue[0], queue[0][2]])
            queue.pop(0)
        work = new or running
        end = clock + fixed + each * (sum(one[1] for one, _ in new) if new else len(running))
        numbers = [requests.index(one) for one, _ in work]
        passes.append((clock, end, numbers if new else [], [] if new else numbers))
        for entry in work:
            entry[1] -= 1
        running = [entry for entry in running + new if entry[1]]
        clock = end
    return passes
''',
    "never fits: the number by index of an equal arrival": _cut(
        SCH, ("request {number} can", "request {[a for a, _, _ in requests].index(requests[number][0])} can")),
    "no requests: an error": _cut(SCH, (ORDER, ORDER + "    first = requests[queue[0]][0]\n")),
    "no requests: None": _cut(SCH, (FIT, "    if not requests:\n        return None\n" + FIT)),
    "counts from 1": _cut(SCH, ("passes.append((clock, end, reads, decodes))", "passes.append((clock, end, [i + 1 for i in reads], [i + 1 for i in decodes]))")),
    "length in place of end": _cut(SCH, ("passes.append((clock, end,", "passes.append((clock, end - clock,")),
    "reads and decodes exchanged": _cut(SCH, ("reads, decodes))", "decodes, reads))")),
    "None for the empty list": _cut(SCH, ("reads, decodes))", "reads or None, decodes or None))")),
    "rounded to milliseconds": _cut(SCH, ("end = clock + fixed + each * tokens", "end = round(clock + fixed + each * tokens, 3)")),
    "clock rounded to hundredths": _cut(SCH, ("end = clock + fixed + each * tokens", "end = round(clock + fixed + each * tokens, 2)")),
    "clock in float16": "import numpy as np\n\n\n" + _cut(SCH, ("end = clock + fixed + each * tokens", "end = max(float(np.float16(clock + fixed + each * tokens)), clock)")),
    "open: clock in float32": "import numpy as np\n\n\n" + _cut(SCH, ("end = clock + fixed + each * tokens", "end = float(np.float32(clock + fixed + each * tokens))")),
    "whole seconds for the clock": _cut(SCH, ("end = clock + fixed + each * tokens", "end = int(clock + fixed + each * tokens)")),
    "no last pass: stops when the queue is empty": _cut(SCH, ("    while queue or left:", "    while queue or len(left) > 1:")),
    "passes over prompts only": _cut(SCH, ("    return passes", "    return [one for one in passes if one[2]]")),
    "never fits: not refused if it comes to the front, left out": _cut(
        SCH, (FIT, ""), (ORDER, "    queue = sorted((i for i in range(len(requests)) if requests[i][1] + requests[i][2] <= cache), key=lambda i: (requests[i][0], i))\n")),
    "never fits: by the prompt only": _cut(SCH, (FIT, FIT.replace("if prompt + output > cache", "if prompt > cache")), ("held + prompt + output > cache", "held and held + prompt + output > cache")),
    "never fits: what fills the cache exactly is refused, too": _cut(SCH, (FIT, FIT.replace("> cache", ">= cache"))),
    "never fits: the first by arrival": _cut(
        SCH, (FIT, ""), (ORDER, ORDER + '''    for number in queue:
        if requests[number][1] + requests[number][2] > cache:
            raise ValueError(f"request {number} can never fit")
''')),
    "never fits: the last in the list": _cut(SCH, (FIT, '''    for number in reversed(range(len(requests))):
        if requests[number][1] + requests[number][2] > cache:
            raise ValueError(f"request {number} can never fit")
''')),
    "never fits: the largest": _cut(SCH, (FIT, '''    number = max(range(len(requests)), key=lambda i: requests[i][1] + requests[i][2], default=None)
    if number is not None and requests[number][1] + requests[number][2] > cache:
        raise ValueError(f"request {number} can never fit")
''')),
    "never fits: all of them are named": _cut(SCH, (FIT, '''    bad = [i for i, (_, p, o) in enumerate(requests) if p + o > cache]
    if bad:
        raise ValueError(f"can never fit: {bad}")
''')),
    "never fits: counted from 1": _cut(SCH, ("request {number} can", "request {number + 1} can")),
    "never fits: both counts named": _cut(SCH, ("request {number} can never fit", "request {number} (the {number + 1}th) can never fit")),
    "never fits: the first to the last named": _cut(SCH, ("request {number} can never fit", "request {number} of 0 to {len(requests) - 1} can never fit")),
    "never fits: shows the request, not its number": _cut(SCH, ("request {number} can never fit", "{requests[number]} can never fit")),
    "never fits: an AssertionError": _cut(SCH, (FIT, '''    for number, (_, prompt, output) in enumerate(requests):
        assert prompt + output <= cache, f"request {number} can never fit"
''')),
    "never fits: a RuntimeError": _cut(SCH, ("raise ValueError(", "raise RuntimeError(")),
    "never fits: says it in the list returned": _cut(SCH, ('raise ValueError(f"request {number} can never fit")', 'return [f"request {number} can never fit"]')),
    "never fits: an empty list": _cut(SCH, ('raise ValueError(f"request {number} can never fit")', 'return []')),
    "never fits: refused when it comes to the front (the first by arrival)": _cut(
        SCH, (FIT, ""), ("            arrival, prompt, output = requests[one]\n", '''            arrival, prompt, output = requests[one]
            if arrival <= clock and prompt + output > cache:
                raise ValueError(f"request {one} can never fit")
''')),
    "never fits: refused only if it needs more than all rows times the cache": _cut(
        SCH, (FIT, FIT.replace("> cache", "> cache * rows")), ("held + prompt + output > cache", "held and held + prompt + output > cache")),
    "starts with passes of the call before: a default list": _cut(
        SCH, ("fixed, each):", "fixed, each, passes=[]):"), ("left, passes, clock, held = {}, [], 0.0, 0", "left, clock, held = {}, 0.0, 0")),
    "the clock goes on from the call before": "_clock = [0.0]\n\n\n" + _cut(
        SCH, ("{}, [], 0.0, 0", "{}, [], _clock[0], 0"), ("    return passes", "    _clock[0] = clock\n    return passes")),
    "remembers by the number of requests": "_seen = {}\n\n\n" + _cut(
        SCH, (FIT, FIT + "    if len(requests) > 20 and len(requests) in _seen:\n        return list(_seen[len(requests)])\n"), ("    return passes", "    _seen[len(requests)] = passes\n    return passes")),
    "one level of recursion a pass": '''def schedule(requests, rows, cache, fixed, each):
    for number, (_, prompt, output) in enumerate(requests):
        if prompt + output > cache:
            raise ValueError(f"request {number} can never fit")

    def go(queue, left, clock):
        if not queue and not left:
            return []
        if not left and requests[queue[0]][0] > clock:
            clock = requests[queue[0]][0]
        held, reads = sum(requests[i][1] + requests[i][2] for i in left), []
        for i in queue:
            need = requests[i][1] + requests[i][2]
            if requests[i][0] > clock or len(left) + len(reads) >= rows or held + need > cache:
                break
            held += need
            reads.append(i)
        decodes = [] if reads else list(left)
        tokens = sum(requests[i][1] for i in reads) + len(decodes)
        end = clock + fixed + each * tokens
        after = {**left, **{i: requests[i][2] for i in reads}}
        for i in reads or decodes:
            after[i] -= 1
        after = {i: n for i, n in after.items() if n}
        return [(clock, end, reads, decodes), *go(queue[len(reads):], after, end)]

    return go(sorted(range(len(requests)), key=lambda i: (requests[i][0], i)), {}, 0.0)
''',
    "chunked: a prompt of more than 8 tokens takes two passes": _cut(
        SCH, ("        end = clock +", "        if reads and tokens > 8:\n            half = clock + fixed + each * 8\n            passes.append((clock, half, reads[:], []))\n            clock, tokens = half, tokens - 8\n        end = clock +")),
    "waits until the batch is full, if more will come": _cut(
        SCH, (JUMP, '''        if not left and requests[queue[0]][0] > clock:
            clock = requests[queue[0]][0]
        if not left and not passes:
            clock = max(clock, requests[queue[min(rows, len(queue)) - 1]][0])
''')),
    "open: reads by number, not by arrival": _cut(SCH, ("passes.append((clock, end, reads, decodes))", "passes.append((clock, end, sorted(reads), decodes))")),
    "open: decodes backwards": _cut(SCH, ("passes.append((clock, end, reads, decodes))", "passes.append((clock, end, reads, decodes[::-1]))")),
    "open: tuples of numbers, passes as lists": _cut(SCH, ("passes.append((clock, end, reads, decodes))", "passes.append([clock, end, tuple(reads), tuple(decodes)])")),
    "open: who arrives a nanosecond later is admitted": _cut(SCH, ("arrival > clock or held", "arrival > clock + 1e-9 or held")),
}
