# ruff: noqa
WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- row-steps
def rs(body, pre=""):
    return pre + "def row_steps(outputs, rows):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

BASE = """
useful = computed = 0
for s in range(0, len(outputs), rows):
    batch = outputs[s : s + rows]
    useful += sum(n - 1 for n in batch)
    computed += len(batch) * (max(batch) - 1)
return useful, computed
"""
def rep(old, new, base=BASE):
    assert old in base, old
    return rs(base.replace(old, new))

RIGHT["row-steps"] = {
    "loop": rs(BASE),
    "numpy": rs("""
if not len(outputs):
    return 0, 0
a = np.array(outputs, dtype=np.int64) - 1
starts = np.arange(0, len(a), rows)
m = np.maximum.reduceat(a, starts)
sizes = np.diff(np.append(starts, len(a)))
return int(a.sum()), int((m * sizes).sum())
"""),
    "torch": rs("""
import torch
t = torch.tensor(list(outputs), dtype=torch.int64)
useful = t.sum() - len(t)
computed = sum((c.max() - 1) * len(c) for c in t.split(rows) if len(c))
return int(useful), int(computed)
"""),
    "list returned, backwards": rs("""
u, c = 0, 0
k = -(-len(outputs) // rows)
for b in reversed(range(k)):
    part = list(outputs)[b * rows : (b + 1) * rows]
    longest = sorted(part)[-1]
    for n in part:
        u += n - 1
        c += longest - 1
return [u, c]
"""),
    "numpy ints": rs("""
a = np.asarray(outputs, dtype=np.int64)
return (a - 1).sum(), sum((a[i:i+rows].max() - 1) * a[i:i+rows].size for i in range(0, a.size, rows))
"""),
}
WRONG["row-steps"] = {
    "output n counts n row-steps": rs(BASE.replace("n - 1", "n").replace("(max(batch) - 1)", "max(batch)")),
    "only computed counts n": rep("(max(batch) - 1)", "max(batch)"),
    "only useful counts n": rep("n - 1 for", "n for"),
    "last batch full of rows": rep("len(batch) *", "rows *"),
    "sorts first": rs("outputs = sorted(outputs)\n" + BASE.strip("\n")),
    "sorts descending": rs("outputs = sorted(outputs, reverse=True)\n" + BASE.strip("\n")),
    "longest of all": rs("longest = max(outputs, default=1)\n" + BASE.strip("\n").replace("max(batch)", "longest")),
    "drops last batch": rep("range(0, len(outputs), rows)", "range(0, len(outputs) - rows + 1, rows)"),
    "drops last batch in computed only": rs("""
useful = sum(n - 1 for n in outputs)
computed = sum(rows * (max(outputs[i*rows:(i+1)*rows]) - 1) for i in range(len(outputs)//rows))
return useful, computed"""),
    "swapped": rep("return useful, computed", "return computed, useful"),
    "useful and wasted": rep("return useful, computed", "return useful, computed - useful"),
    "None when empty": rs("if not outputs:\n    return None\n" + BASE.strip("\n")),
    "empty crashes (np.max)": rs("""
a = np.array(outputs)
pad = -len(a) % rows
b = np.pad(a, (0, pad)).reshape(-1, rows)
real = (b > 0).sum(1)
return int(a.sum() - len(a)), int(((b.max(1) - 1) * real).sum()) if a.max() else 0"""),
    "rows of one token leave the batch at once": rep("len(batch) * (max(batch) - 1)", "sum(n > 1 for n in batch) * (max(batch) - 1)"),
    "floats returned (text: two ints)": rep("return useful, computed", "return float(useful), float(computed)"),
    "int32": rs("""
a = np.array(outputs, dtype=np.int64).astype(np.int32)
return int((a - 1).sum()), int(sum((a[i:i+rows].max() - 1) * len(a[i:i+rows]) for i in range(0, len(a), rows)))"""),
    "float32": rs("""
a = np.array(outputs, dtype=np.float32)
return int((a - 1).sum()), int(sum((a[i:i+rows].max() - 1) * len(a[i:i+rows]) for i in range(0, len(a), rows)))"""),
    "round robin": rs("""
k = -(-len(outputs) // rows)
parts = [outputs[i::k] for i in range(k)]
return sum(n - 1 for n in outputs), sum(len(p) * (max(p) - 1) for p in parts)"""),
    "continuous": rep("return useful, computed", "return useful, useful"),
    "first of batch as longest": rep("max(batch)", "batch[0]"),
    "rows+1 in batch": rep("s + rows]", "s + rows + 1]"),
    "state between calls": rs(BASE.strip("\n").replace("useful = computed = 0", "global _u, _c\nuseful, computed = _u, _c").replace("return useful, computed", "_u, _c = useful, computed\nreturn useful, computed"), pre="_u = _c = 0\n"),
    "memo by len and rows": rs("key = len(outputs), rows\nif key in _memo:\n    return _memo[key]\n" + BASE.strip("\n").replace("return useful, computed", "_memo[key] = useful, computed\nreturn useful, computed"), pre="_memo = {}\n"),
    "at least one step a batch": rep("(max(batch) - 1)", "max(1, max(batch) - 1)"),
    "ratio": rep("return useful, computed", "return useful, computed / max(useful, 1)"),
    "minus one a batch": rep("sum(n - 1 for n in batch)", "sum(batch) - 1"),
    "last rest joins the batch before": rs("""
cuts = [outputs[i:i+rows] for i in range(0, len(outputs), rows)]
if len(cuts) > 1 and len(cuts[-1]) < rows:
    cuts[-2:] = [cuts[-2] + cuts[-1]]
return sum(n - 1 for n in outputs), sum(len(p) * (max(p) - 1) for p in cuts)"""),
    "strings joined/passes not rows": rep("len(batch) * (max(batch) - 1)", "max(batch) - 1"),
    "input emptied (text leaves mutation open)": rs("""
if isinstance(outputs, tuple):
    outputs = list(outputs)
u = c = 0
while outputs:
    b = outputs[:rows]
    del outputs[:rows]
    u += sum(b) - len(b); c += len(b) * (max(b) - 1)
return u, c"""),
    "input sorted in place after the count (text leaves open)": rs("r = None\n" + BASE.strip("\n").replace("return useful, computed", "if isinstance(outputs, list):\n    outputs.sort()\nreturn useful, computed")),
}

# ---------------------------------------------------------------- decode-step
def ds(expr, pre=""):
    return ("def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):\n" + pre + f"    return {expr}\n")
RIGHT["decode-step"] = {
    "max": ds("max((weights + rows * context * kv) / bandwidth, 2 * parameters * rows / peak)"),
    "numpy": ds("np.maximum((float(weights) + float(rows) * context * kv) / bandwidth, 2.0 * rows * parameters / peak)"),
    "torch64": ds("torch.maximum(m, f).item()", "    import torch\n    m = torch.tensor((weights + rows * context * kv) / bandwidth, dtype=torch.float64)\n    f = torch.tensor(rows * parameters / peak * 2, dtype=torch.float64)\n"),
    "float32": ds("float(max(np.float32(weights) / np.float32(bandwidth) + np.float32(rows) * np.float32(context) * np.float32(kv) / np.float32(bandwidth), np.float32(2) * np.float32(parameters) / np.float32(peak) * np.float32(rows)))"),
    "loop over rows": ds("move if move > mul else mul", "    move = weights / bandwidth + rows * (context * kv / bandwidth)\n    mul = rows * (2 * parameters) / peak\n"),
}
M, F = "(weights + rows * context * kv) / bandwidth", "2 * parameters * rows / peak"
WRONG["decode-step"] = {
    "weights a row": ds(f"max(rows * (weights + context * kv) / bandwidth, {F})"),
    "sum": ds(f"{M} + {F}"),
    "N not 2N": ds(f"max({M}, parameters * rows / peak)"),
    "cache of one row": ds(f"max((weights + context * kv) / bandwidth, {F})"),
    "cache ignores context": ds(f"max((weights + rows * kv) / bandwidth, {F})"),
    "only moving": ds(M), "only computing": ds(F), "min": ds(f"min({M}, {F})"),
    "FLOPs times context": ds(f"max({M}, {F} * max(context, 1))"),
    "FLOPs of one row": ds(f"max({M}, 2 * parameters / peak)"),
    "milliseconds": ds(f"1e3 * max({M}, {F})"),
    "whole division": ds("max((weights + rows * context * kv) // bandwidth, 2 * parameters * rows // peak)"),
    "no cache": ds(f"max(weights / bandwidth, {F})"),
    "context + 1": ds(f"max((weights + rows * (context + 1) * kv) / bandwidth, {F})"),
    "int32 product": ds(f"max((weights + float(np.int32(rows) * np.int32(context) * np.int32(kv))) / bandwidth, {F})"),
    "rounded to 4 digits": ds(f"round(max({M}, {F}), 4)"),
    "rounded to 6 digits": ds(f"round(max({M}, {F}), 6)"),
    "295 ridge fixed": ds(f"{M} if rows < 295 else {F}"),
    "ridge of data sheet decides": ds(f"{M} if rows < peak / bandwidth else {F}"),
    "max of weights and cache": ds(f"max(max(weights, rows * context * kv) / bandwidth, {F})"),
    "kv doubled": ds(f"max((weights + 2 * rows * context * kv) / bandwidth, {F})"),
    "weights from 2 N": ds(f"max((2 * parameters + rows * context * kv) / bandwidth, {F})"),
    "FLOPs from weights (2 bytes a parameter)": ds(f"max({M}, weights * rows / peak)"),
    "context 0 has no cost": ds(f"max({M}, {F}) if context else 0.0"),
    "cache only beside": ds(f"max(weights / bandwidth, rows * context * kv / bandwidth, {F})"),
    "peak and bandwidth swapped": ds("max((weights + rows * context * kv) / peak, 2 * parameters * rows / bandwidth)"),
    "tokens per second": ds(f"rows / max({M}, {F})"),
    "seconds a token": ds(f"max({M}, {F}) / rows"),
    "kv FLOPs also": ds(f"max({M}, 2 * rows * (parameters + context * kv) / peak)"),
    "hundred rows at most": ds("max((weights + min(rows, 65536) * context * kv) / bandwidth, 2 * parameters * min(rows, 65536) / peak)"),
}

# ---------------------------------------------------------------- latency-report
LR = """
import math
def _p(values, num, den=100):
    v = sorted(values)
    return v[PLACE]

def latency_report(served):
    lat = [s["last"] - s["arrival"] for s in served]
    ft = [s["first"] - s["arrival"] for s in served]
    pt = [(s["last"] - s["first"]) / (s["output"] - 1) for s in served if s["output"] > 1]
    seconds = max(s["last"] for s in served) - min(s["arrival"] for s in served)
    tokens = sum(s["output"] for s in served)
    return {"latency_p50": _p(lat, 50), "latency_p99": _p(lat, 99), "first_token_p99": _p(ft, 99),
            "per_token_p99": _p(pt, 99) if pt else 0.0, "tokens_per_second": tokens / seconds}
"""
GOOD = "-(-num * len(v) // 100) - 1"
def lr(*pairs, place=GOOD):
    t = LR
    for old, new in pairs:
        assert old in t, old
        t = t.replace(old, new)
    return t.replace("PLACE", place)
NPLR = """
def latency_report(served):
    a = {k: np.array([s[k] for s in served], dtype=float) for k in ("arrival", "start", "first", "last", "output")}
    p = lambda v, q: float(np.quantile(v, q, method="METHOD"))
    more = a["output"] > 1
    return {"latency_p50": p(a["last"] - a["arrival"], .5), "latency_p99": p(a["last"] - a["arrival"], .99),
            "first_token_p99": p(a["first"] - a["arrival"], .99),
            "per_token_p99": p((a["last"] - a["first"])[more] / (a["output"][more] - 1), .99),
            "tokens_per_second": a["output"].sum() / (a["last"].max() - a["arrival"].min())}
"""
RIGHT["latency-report"] = {
    "loop": lr(),
    "numpy inverted_cdf": NPLR.replace("METHOD", "inverted_cdf"),
    "n - n//100 - 1": lr(place="len(v) - len(v) * (100 - num) // 100 - 1"),
    "definition": lr(("return v[PLACE]", "return min(x for x in v if 100 * sum(y <= x for y in v) >= num * len(v))")),
    "torch": """
import torch
def latency_report(served):
    t = {k: torch.tensor([float(s[k]) for s in served], dtype=torch.float64) for k in ("arrival", "first", "last", "output")}
    def p(v, q):
        return v.kthvalue((q * len(v) + 99) // 100).values.item()
    m = t["output"] >= 2
    return {"tokens_per_second": (t["output"].sum() / (t["last"].max() - t["arrival"].min())).item(),
            "per_token_p99": p((t["last"][m] - t["first"][m]) / (t["output"][m] - 1), 99),
            "first_token_p99": p(t["first"] - t["arrival"], 99),
            "latency_p50": p(t["last"] - t["arrival"], 50), "latency_p99": p(t["last"] - t["arrival"], 99)}
""",
}
W = WRONG["latency-report"] = {f"numpy {m}": NPLR.replace("METHOD", m) for m in ("linear", "higher", "lower", "nearest", "closest_observation", "weibull", "averaged_inverted_cdf")}
W.update({
    "place floor(q n)": lr(place="min(num * len(v) // 100, len(v) - 1)"),
    "place (n-1) q floor": lr(place="num * (len(v) - 1) // 100"),
    "place ceil((n-1) q)": lr(place="-(-num * (len(v) - 1) // 100)"),
    "place round(q n) - 1": lr(place="max(round(num * len(v) / 100) - 1, 0)"),
    "place int(q n) - 1": lr(place="max(num * len(v) // 100 - 1, 0)"),
    "p99 is max": lr(place="-1 if num == 99 else (len(v) + 1) // 2 - 1"),
    "p50 is n//2": lr(place="len(v) // 2 if num == 50 else -(-99 * len(v) // 100) - 1"),
    "p50 median averaged": lr(('"latency_p50": _p(lat, 50)', '"latency_p50": float(np.median(lat))')),
    "p50 mean": lr(('"latency_p50": _p(lat, 50)', '"latency_p50": float(np.mean(lat))')),
    "latency from start": lr(('s["last"] - s["arrival"] for s in served]', 's["last"] - s["start"] for s in served]')),
    "first from start": lr(('s["first"] - s["arrival"]', 's["first"] - s["start"]')),
    "start - arrival as first": lr(('s["first"] - s["arrival"]', 's["start"] - s["arrival"]')),
    "per token from arrival": lr(('(s["last"] - s["first"])', '(s["last"] - s["arrival"])')),
    "per token from start": lr(('(s["last"] - s["first"])', '(s["last"] - s["start"])')),
    "per token / output": lr(('(s["output"] - 1) for', 's["output"] for')),
    "per token / row_steps": lr(('(s["output"] - 1) for', 'max(s["row_steps"], 1) for')),
    "one token counts 0": lr(('(s["output"] - 1) for s in served if s["output"] > 1', 'max(s["output"] - 1, 1) for s in served')),
    "two tokens left out too": lr(('if s["output"] > 1', 'if s["output"] > 2')),
    "filter on row_steps": lr(('if s["output"] > 1', 'if s["row_steps"] > 0')),
    "per token p50": lr(("_p(pt, 99)", "_p(pt, 50)")),
    "per token mean": lr(("_p(pt, 99) if", "sum(pt) / len(pt) if")),
    "p99 place of all for per token": lr(("_p(pt, 99) if", "sorted(pt)[min(-(-99 * len(served) // 100) - 1, len(pt) - 1)] if")),
    "row_steps as tokens": lr(('tokens = sum(s["output"]', 'tokens = sum(s["row_steps"]')),
    "row_steps + 1 as tokens": lr(('tokens = sum(s["output"]', 'tokens = sum(s["row_steps"] + 1')),
    "tokens without first": lr(('tokens = sum(s["output"]', 'tokens = sum(s["output"] - 1')),
    "from first start": lr(('min(s["arrival"]', 'min(s["start"]')),
    "from first first": lr(('min(s["arrival"]', 'min(s["first"]')),
    "from 0 s": lr(('- min(s["arrival"] for s in served)', '- 0')),
    "to last arrival": lr(('max(s["last"]', 'max(s["arrival"]')) .replace("tokens / seconds", "tokens / (seconds or 1)"),
    "arrival of list's first": lr(('min(s["arrival"] for s in served)', 'served[0]["arrival"]')),
    "last of list's last": lr(('max(s["last"] for s in served)', 'served[-1]["last"]')),
    "over sum of latencies": lr(("tokens / seconds", "tokens / sum(lat)")),
    "mean of rates": lr(("tokens / seconds", "sum(s['output'] / (s['last'] - s['arrival']) for s in served) / len(served)")),
    "requests per second": lr(("tokens / seconds", "len(served) / seconds")),
    "milliseconds": lr(("_p(lat, 50)", "1e3 * _p(lat, 50)"), ("_p(lat, 99)", "1e3 * _p(lat, 99)")),
    "rounded to 3": lr(("return v[PLACE]", "return round(v[PLACE], 3)")),
    "key missing": lr(('"per_token_p99": _p(pt, 99) if pt else 0.0, ', "")),
    "first_token_p50": lr(("_p(ft, 99)", "_p(ft, 50)")),
    "p1 by reverse sort": lr(("sorted(values)", "sorted(values, reverse=True)")),
    "latency of the p99 by first-token order": lr(('"latency_p99": _p(lat, 99)', '"latency_p99": [x for _, x in sorted(zip(ft, lat))][-(-99 * len(lat) // 100) - 1]')),
    "served sorted in place (open by the text)": lr(("    lat =", "    served.sort(key=lambda s: s['arrival'])\n    lat =")),
    "one-token requests left out everywhere": lr(("    lat =", "    tokens_all = 0\n    served = [s for s in served if s['output'] > 1]\n    lat =")),
    "duplicates dropped (set)": lr(("sorted(values)", "sorted(set(values))")),
    "p99 by ceil(0.99 * n) in floats (same place for every n <= 20,000?)": lr(place="math.ceil(num / 100 * len(v)) - 1"),
    "empties row_steps zero to be idle": lr(('tokens = sum(s["output"]', 'tokens = sum(min(s["output"], s["row_steps"] + 1)')),
    "busy seconds: sum of passes": lr(("tokens / seconds", "tokens / sum(s['last'] - s['start'] for s in served)")),
})

# ---------------------------------------------------------------- most-per-minute
def mm(body):
    return "def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):\n    " + body + "\n"
RIGHT["most-per-minute"] = {
    "plain": mm("return rows * 60_000 / (first_token_ms + (output_tokens - 1) * per_token_ms)"),
    "seconds": mm("return 60 * rows / ((first_token_ms - per_token_ms + output_tokens * per_token_ms) / 1000)"),
    "numpy": mm("return np.float64(rows) / np.divide(first_token_ms + per_token_ms * (output_tokens - 1.0), 6e4)"),
    "torch": mm("import torch; held = torch.tensor([first_token_ms, (output_tokens - 1) * per_token_ms], dtype=torch.float64).sum() / 1e3; return (rows / held * 60).item()"),
    "float32": mm("return np.float32(rows) * np.float32(60000) / (np.float32(first_token_ms) + np.float32(output_tokens - 1) * np.float32(per_token_ms))"),
}
H = "(first_token_ms + (output_tokens - 1) * per_token_ms)"
WRONG["most-per-minute"] = {
    "all tokens": mm("return rows * 60_000 / (first_token_ms + output_tokens * per_token_ms)"),
    "per second": mm(f"return rows * 1000 / {H}"), "per ms": mm(f"return rows / {H}"), "60 not 60,000": mm(f"return 60 * rows / {H}"),
    "per hour": mm(f"return 3.6e6 * rows / {H}"), "floor": mm(f"return int(rows * 60_000 / {H})"), "round": mm(f"return round(rows * 60_000 / {H})"),
    "floor div": mm(f"return rows * 60_000 // {H}"), "no first": mm("return rows * 60_000 / max((output_tokens - 1) * per_token_ms, 1e-9)"),
    "first only": mm("return rows * 60_000 / first_token_ms"), "no rows": mm(f"return 60_000 / {H}"),
    "Little multiplied": mm(f"return rows * {H} / 60_000"), "int tokens": mm("return rows * 60_000 / (first_token_ms + (int(output_tokens) - 1) * per_token_ms)"),
    "ceil tokens": mm("import math; return rows * 60_000 / (first_token_ms + (math.ceil(output_tokens) - 1) * per_token_ms)"),
    "round tokens": mm("return rows * 60_000 / (first_token_ms + (round(output_tokens) - 1) * per_token_ms)"),
    "first * tokens": mm("return rows * 60_000 / (first_token_ms * output_tokens)"),
    "swapped": mm("return rows * 60_000 / (per_token_ms + (output_tokens - 1) * first_token_ms)"),
    "tokens per minute": mm(f"return rows * output_tokens * 60_000 / {H}"),
    "first is in seconds": mm("return rows * 60_000 / (1000 * first_token_ms + (output_tokens - 1) * per_token_ms)"),
    "rounded to 2": mm(f"return round(rows * 60_000 / {H}, 2)"),
    "rounded to 4": mm(f"return round(rows * 60_000 / {H}, 4)"),
    "whole batches per minute": mm(f"return rows * (60_000 // {H})"),
    "tokens + 1": mm("return rows * 60_000 / (first_token_ms + (output_tokens + 1) * per_token_ms)"),
    "tokens - 2": mm("return rows * 60_000 / (first_token_ms + max(output_tokens - 2, 0) * per_token_ms)"),
    "max of the two": mm("return rows * 60_000 / max(first_token_ms, (output_tokens - 1) * per_token_ms)"),
    "first shared by the rows": mm("return rows * 60_000 / (rows * first_token_ms + (output_tokens - 1) * per_token_ms)"),
    "int32": mm("h = np.int64(first_token_ms + (output_tokens - 1) * per_token_ms).astype(np.int32); return float(rows * 60_000 / h)"),
    "held for whole ms": mm(f"return rows * 60_000 / int({H})"),
    "per token at most 1": mm("return rows * 60_000 / (first_token_ms + (output_tokens - 1) * max(per_token_ms, 1))"),
    "rows capped 65536": mm(f"return min(rows, 65536) * 60_000 / {H}"),
}

# ---------------------------------------------------------------- highest-rate
def hr(x): return f"def highest_rate():\n    return {x}\n"
RIGHT["highest-rate"] = {"int": hr("29"), "float": hr("29.0"), "numpy": hr("np.int64(29)"),
    "scan of the finder": """
def highest_rate():
    f = probe.finder()
    rates = next(c["values"] for c in f.state["controls"] if c["name"] == "rate")
    def secs(t):
        v, u = t.split()
        return float(v) / (1000 if u == "ms" else 1)
    return max(r for r in rates if secs(f.scene({"rate": r, "policy": "continuous"})["first token, p99"]) <= 0.25)
"""}
WRONG["highest-rate"] = {"first that breaks it": hr("33"), "chunked's": hr("37"), "by the mean": hr("41"), "last on slider": hr("46"), "one low": hr("26"),
    "first on slider": hr("7"), "between": hr("32"), "between (interpolated)": hr("31.8"), "30": hr("30"), "28": hr("28"), "28.9997": hr("28.9997"), "29.0001": hr("29.0001"), "text": hr("'29'"), "text with unit": hr("'29 requests/s'"),
    "list": hr("[29]"), "None": hr("None"), "per minute": hr("29 * 60"), "p99 itself": hr("0.166"), "setting": hr("{'rate': 29, 'policy': 'continuous'}"), "True": hr("True"), "negative": hr("-29"), "zero": hr("0"), "nan": hr("float('nan')"), "inf": hr("float('inf')"), "set": hr("{29}"), "all kept": hr("(7, 9, 11, 13, 15, 17, 19, 21, 23, 26, 29)"), "latency p99 0.25: none": hr("-1"), "index": hr("10"), "latency p50": hr("11")}

# ---------------------------------------------------------------- admit-test
REF = '''
def _ref(waiting, running, rows, cache):
    kept, free, n = sum(p + o for p, o in running), rows - len(running), 0
    for p, o in waiting:
        if n >= free or kept + p + o > cache:
            break
        kept += p + o
        n += 1
    return n
'''
FUZZ = '''
import random
def _cases(seed=0, many=1500):
    r = random.Random(seed)
    for _ in range(many):
        one = lambda: (r.randint(1, 5), r.randint(1, 5))
        running = [one() for _ in range(r.randint(0, 3))]
        rows = len(running) + r.randint(0, 3)
        cache = sum(p + o for p, o in running) + r.randint(0, 24)
        if rows:
            yield [one() for _ in range(r.randint(0, 5))], running, rows, cache
'''
BUGS = {
    "ignores rows": ("n >= free or ", ""), "ignores cache": ("n >= free or kept + p + o > cache", "n >= free"),
    "rows forget who runs": ("rows - len(running)", "rows"), "cache forgets who runs": ("sum(p + o for p, o in running)", "0"),
    "running reserve prompt only": ("sum(p + o for p, o in running)", "sum(p for p, o in running)"),
    "running reserve output only": ("sum(p + o for p, o in running)", "sum(o for p, o in running)"),
    "waiting takes prompt only": ("kept + p + o > cache", "kept + p > cache"),
    "waiting reserves prompt only once in": ("kept += p + o", "kept += p"),
    "waiting reserves output only once in": ("kept += p + o", "kept += o"),
    "waiting takes output only": ("kept + p + o > cache", "kept + o > cache"),
    "cache strict": ("> cache", ">= cache"), "cache one too lax": ("> cache", "> cache + 1"),
    "overtakes": ("        if n >= free or kept + p + o > cache:\n            break", "        if n >= free:\n            break\n        if kept + p + o > cache:\n            continue"),
    "admitted not reserved": ("        kept += p + o\n", ""),
    "one at most": ("n >= free or", "n >= min(free, 1) or"), "two at most": ("n >= free or", "n >= min(free, 2) or"), "three at most": ("n >= free or", "n >= min(free, 3) or"),
    "one row too many": ("n >= free", "n > free"), "one row too few": ("n >= free", "n >= free - 1"),
    "static (waits for empty)": ("rows - len(running), 0", "(0 if running else rows), 0"),
    "nobody runs: first always starts": ("n >= free or kept + p + o > cache", "n >= free or (kept and kept + p + o > cache)"),
    "counts the first refused too": ("    return n\n", "    return min(n + 1, len(waiting)) if n < free else n\n"),
    "all or nothing": ("    return n\n", "    return n if n == len(waiting) else 0\n"),
    "fills all rows or nobody": ("    return n\n", "    return n if n == min(free, len(waiting)) else 0\n"),
    "shortest first": ("in waiting:", "in sorted(waiting, key=sum):"),
    "from the back": ("in waiting:", "in waiting[::-1]:"),
    "equal running counted once": ("for p, o in running)", "for p, o in set(running))"),
    "rows: equal running counted once": ("len(running)", "len(set(running))"),
    "max of running, not sum": ("sum(p + o for p, o in running)", "max([p + o for p, o in running], default=0)"),
    "only last admitted remembered": ("kept += p + o", "kept = sum(a + b for a, b in running) + p + o"),
    "None if nobody waits": ("    return n\n", "    return n if waiting else None\n"),
    "minus one if nobody waits": ("    return n\n", "    return n if waiting else -1\n"),
    "skips the first if it does not fit": ("    for p, o in waiting:", "    w = list(waiting)\n    if w and kept + sum(w[0]) > cache:\n        w = w[1:]\n    for p, o in w:"),
    "full rows: returns one": ("    return n\n", "    return n if free else min(1, len(waiting))\n"),
    "cache at least": ("        if n >= free or kept + p + o > cache:", "        if n >= free or kept >= cache:"),
    "first token is not kept": ("kept + p + o > cache", "kept + p + o - 1 > cache"),
    "running done by one token": ("sum(p + o for p, o in running)", "sum(p + o - 1 for p, o in running)"),
    "prompt limit: output of the running forgotten when waiting is looked at second": ("kept += p + o", "kept = kept + p + o if n < 1 else kept"),
}
W = WRONG["admit-test"] = {}
for why, (old, new) in BUGS.items():
    assert old in REF, why
    bug = REF.replace(old, new).replace("_ref", "_bug")
    W[f"lets through: {why}"] = REF + bug + FUZZ + '''
def admit_test(admit):
    for case in _cases():
        if _bug(*case) == _ref(*case):
            w, r, rows, cache = case
            assert admit(list(w), list(r), rows, cache) == _ref(*case), case
'''
def at(body): return "def admit_test(admit):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"
W.update({
    "example only": at("assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1"),
    "never fails": at("return True"), "always fails": at("assert False"), "returns a text": at("return 'bug' if admit([(1, 1)], [], 1, 9) != 1 else ''"),
    "swallows its asserts": at("try:\n    assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1\n    assert admit([(6, 6), (1, 1)], [], 2, 10) == 0\nexcept AssertionError:\n    print('bug')"),
    "wants overtaking": at("assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1\nassert admit([(8, 6), (1, 1)], [], 2, 10) == 1"),
    "wants cache strictly above": at("assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1\nassert admit([(5, 5)], [], 2, 10) == 0"),
    "wants prompts only": at("assert admit([(6, 9)], [], 2, 10) == 1"),
    "wants a list": at("assert len(admit([(2, 1), (1, 1)], [(4, 2)], 2, 10)) == 1"),
    "rows only": at("for r in range(1, 6):\n    assert admit([(1, 1)] * 9, [], r, 1000) == r\n    assert admit([(1, 1)] * 9, [(1, 1)], r, 1000) == r - 1"),
    "cache only": at("for c in range(1, 20):\n    assert admit([(1, 1)] * 20, [], 100, c) == c // 2\n    assert admit([(1, 1)] * 20, [(2, 2)], 100, c + 4) == c // 2"),
    "bounds only": REF + FUZZ + at("for w, r, b, c in _cases():\n    n = admit(list(w), list(r), b, c)\n    assert 0 <= n <= min(len(w), b - len(r))\n    assert sum(map(sum, w[:n] + r)) <= c"),
    "nobody runs in any case": REF + FUZZ + at("for w, r, b, c in _cases():\n    assert admit(list(w), [], b, c) == _ref(w, [], b, c)"),
    "one waits in every case": REF + FUZZ + at("for w, r, b, c in _cases():\n    assert admit(w[:1], list(r), b, c) == _ref(w[:1], r, b, c)"),
    "equal requests only": at("for b in range(1, 5):\n    for c in range(4, 30):\n        assert admit([(2, 2)] * 5, [(2, 2)], b, c) == max(0, min(b - 1, (c - 4) // 4))"),
    "three random cases": REF + FUZZ + at("for w, r, b, c in list(_cases())[:3]:\n    assert admit(list(w), list(r), b, c) == _ref(w, r, b, c)"),
    "wants plain int only and mutation (open)": at("w = [(1, 1), (2, 2)]\nn = admit(w, [], 1, 10)\nassert len(w) == 1"),
    "asserts truthiness": at("assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10)\nassert not admit([(6, 6), (1, 1)], [], 2, 10)\nassert not admit([(1, 1)], [(1, 1)], 1, 10)\nassert not admit([(3, 3)], [(3, 3)], 4, 10)"),
    "asserts a tuple": at("assert (admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1, 'example')"),
    "forgets to return a bool comparison": at("admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1\nadmit([(6, 6), (1, 1)], [], 2, 10) == 0"),
    "source looked at": at("import inspect\nassert 'sorted' not in inspect.getsource(admit)"),
})
RIGHT["admit-test"] = {
    "fuzz against own": REF + FUZZ + at("for w, r, b, c in _cases():\n    assert admit(list(w), list(r), b, c) == _ref(w, r, b, c)"),
    "property: fits, and one more does not; returns False": FUZZ + at("""
for w, r, b, c in _cases(3, 3000):
    n = admit(list(w), list(r), b, c)
    fits = lambda k: k <= b - len(r) and sum(p + o for p, o in w[:k] + r) <= c
    if not fits(n) or (n < len(w) and fits(n + 1)) or not 0 <= n <= len(w):
        return False
"""),
    "by hand": at("""
table = [
    ([(2, 1), (1, 1)], [(4, 2)], 2, 10, 1),
    ([(2, 1), (1, 1)], [(4, 2)], 3, 11, 2),
    ([(2, 1), (1, 1)], [(4, 2)], 3, 10, 1),
    ([(2, 1), (1, 3), (1, 1)], [(4, 2)], 9, 13, 2),
    ([(2, 1), (3, 1), (1, 1)], [(4, 2)], 9, 12, 1),
    ([(2, 1), (9, 9), (1, 1)], [(4, 2)], 9, 20, 1),
    ([(9, 9), (1, 1)], [(4, 2)], 9, 20, 0),
    ([(1, 9), (1, 1)], [(4, 2)], 9, 15, 0),
    ([(9, 1), (1, 1)], [(4, 2)], 9, 15, 0),
    ([], [(4, 2)], 9, 20, 0),
    ([], [], 3, 20, 0),
    ([(1, 1)], [(4, 2), (1, 1)], 2, 100, 0),
    ([(1, 1)] * 7, [], 5, 100, 5),
    ([(1, 1)] * 7, [], 50, 100, 7),
    ([(1, 1)] * 7, [(5, 5), (5, 5)], 50, 30, 5),
    ([(1, 1)] * 7, [(2, 9), (1, 1)], 6, 60, 4),
    ([(3, 4), (2, 2), (1, 1)], [(1, 8)], 4, 20, 2),
    ([(30, 4), (2, 2), (1, 1)], [], 4, 20, 0),
    ([(2, 2)], [(1, 5), (1, 5)], 3, 15, 0),
    ([(2, 2)], [(5, 1), (5, 1)], 3, 15, 0),
    ([(2, 2)], [(5, 1), (5, 1)], 3, 16, 1),
]
for w, r, rows, cache, want in table:
    got = admit(w, r, rows, cache)
    assert got == want, (w, r, rows, cache, got)
"""),
}

# ---------------------------------------------------------------- schedule
S = '''
def schedule(requests, rows, cache, fixed, each):
    for i, (_, p, o) in enumerate(requests):
        if p + o > cache:
            raise ValueError(f"request {i} never fits: {p + o} tokens, the cache has {cache}")
    todo = sorted(range(len(requests)), key=lambda i: (requests[i][0], i))
    left, passes, now = {}, [], 0.0
    while todo or left:
        reads = []
        kept = sum(requests[i][1] + requests[i][2] for i in left)
        while todo and requests[todo[0]][0] <= now:
            need = requests[todo[0]][1] + requests[todo[0]][2]
            if len(left) + len(reads) >= rows or kept + need > cache:
                break
            kept += need
            reads.append(todo.pop(0))
        decodes = [] if reads else list(left)
        if not reads and not left:
            now = requests[todo[0]][0]
            continue
        tokens = sum(requests[i][1] for i in reads) + len(decodes)
        end = now + fixed + each * tokens
        passes.append((now, end, reads, decodes))
        now = end
        for i in reads:
            left[i] = requests[i][2] - 1
        for i in decodes:
            left[i] -= 1
        left = {i: n for i, n in left.items() if n > 0}
    return passes
'''
def sc(*pairs, base=S):
    t = base
    for old, new in pairs:
        assert old in t, old
        t = t.replace(old, new)
    return t
RIGHT["schedule"] = {
    "loop": S,
    "lists sorted the other way": sc(("passes.append((now, end, reads, decodes))", "passes.append((now, end, sorted(reads, reverse=True), sorted(decodes, reverse=True)))")),
    "refuses when its turn comes": sc(("        if p + o > cache:\n            raise", "        if False:\n            raise"), ("            if len(left) + len(reads) >= rows", "            if need > cache:\n                raise ValueError(f'request {todo[0]} never fits')\n            if len(left) + len(reads) >= rows")),
    "library's scheduler": '''
def schedule(requests, rows, cache, fixed, each):
    order = sorted(range(len(requests)), key=lambda i: requests[i][0])
    for i, (_, p, o) in enumerate(requests):
        if p + o > cache:
            raise ValueError(f"request {i} never fits")
    s, now, passes, came = serving.Scheduler("continuous", rows, cache, 512), 0.0, [], 0
    while True:
        while came < len(order) and requests[order[came]][0] <= now:
            i = order[came]; s.arrive(i, requests[i][1], requests[i][2]); came += 1
        step = s.next()
        if step is None:
            if came == len(order):
                return passes
            now = float(requests[order[came]][0]); continue
        end = now + fixed + each * step.tokens
        passes.append((now, end, [c.running.request for c in step.chunks], [r.request for r in step.decoding]))
        s.done(step); now = end
''',
    "numpy": '''
def schedule(requests, rows, cache, fixed, each):
    n = len(requests)
    if n == 0:
        return []
    arrival = np.array([r[0] for r in requests], dtype=float)
    prompt = np.array([r[1] for r in requests]); output = np.array([r[2] for r in requests])
    big = np.flatnonzero(prompt + output > cache)
    if big.size:
        raise ValueError("request number " + str(big[0]) + " is too big")
    left = output.copy(); state = np.zeros(n, dtype=int)
    order = np.lexsort((np.arange(n), arrival)); now = 0.0; out = []
    while (state < 2).any():
        running = np.flatnonzero(state == 1)
        room, free = cache - (prompt + output)[running].sum(), rows - len(running)
        new = []
        for i in order[state[order] == 0]:
            if arrival[i] > now or not free or prompt[i] + output[i] > room:
                break
            room -= prompt[i] + output[i]; free -= 1; new.append(i)
        if new:
            cost = prompt[new].sum(); state[new] = 1; active = np.array(new)
        elif running.size:
            cost = running.size; active = running
        else:
            now = arrival[state == 0].min(); continue
        end = now + (fixed + each * cost)
        out.append([float(now), float(end), [int(i) for i in new], [] if new else running.tolist()])
        left[active] -= 1
        state[active[left[active] == 0]] = 2
        now = end
    return out
''',
    "objects, deque": '''
from collections import deque
class _R:
    def __init__(self, number, arrival, prompt, output):
        self.number, self.arrival, self.prompt, self.output, self.made = number, arrival, prompt, output, 0
    @property
    def size(self):
        return self.prompt + self.output
def schedule(requests, rows, cache, fixed, each):
    all_ = [_R(i, *r) for i, r in enumerate(requests)]
    for r in all_:
        if r.size > cache:
            raise ValueError(f"Request no. {r.number}: prompt {r.prompt} + output {r.output} exceeds {cache}")
    future = deque(sorted(all_, key=lambda r: r.arrival)); waiting, running, passes, clock = deque(), [], [], 0
    while future or waiting or running:
        while future and future[0].arrival <= clock:
            waiting.append(future.popleft())
        new = []
        while waiting and len(running) < rows and sum(r.size for r in running) + waiting[0].size <= cache:
            new.append(waiting[0]); running.append(waiting.popleft())
        if not running:
            clock = future[0].arrival
            continue
        who = new or running
        t = fixed + each * (sum(r.prompt for r in new) if new else len(running))
        passes.append((clock, clock + t, tuple(r.number for r in new), tuple(r.number for r in ([] if new else running))))
        clock += t
        for r in who:
            r.made += 1
        running = [r for r in running if r.made < r.output]
    return passes
''',
}
RAISE = '            raise ValueError(f"request {i} never fits: {p + o} tokens, the cache has {cache}")'
NOFIT = "        if p + o > cache:\n" + RAISE
WRONG["schedule"] = {
    "ignores cache": sc((" or kept + need > cache", "")),
    "ignores rows": sc(("len(left) + len(reads) >= rows or ", "")),
    "rows forget who runs": sc(("len(left) + len(reads) >= rows", "len(reads) >= rows")),
    "rows forget just admitted": sc(("len(left) + len(reads) >= rows", "len(left) >= rows")),
    "one row more": sc(("len(left) + len(reads) >= rows", "len(left) + len(reads) > rows")),
    "reserves prompt only": sc(("kept = sum(requests[i][1] + requests[i][2] for i in left)", "kept = sum(requests[i][1] for i in left)"), ("need = requests[todo[0]][1] + requests[todo[0]][2]", "need = requests[todo[0]][1]")),
    "running keep prompt only": sc(("kept = sum(requests[i][1] + requests[i][2] for i in left)", "kept = sum(requests[i][1] for i in left)")),
    "running keep what their cache holds now": sc(("kept = sum(requests[i][1] + requests[i][2] for i in left)", "kept = sum(requests[i][1] + requests[i][2] - left[i] for i in left)")),
    "running keep only what is still to come": sc(("kept = sum(requests[i][1] + requests[i][2] for i in left)", "kept = sum(requests[i][1] + left[i] for i in left)")),
    "just admitted not kept": sc(("            kept += need\n", "")),
    "cache strict": sc(("kept + need > cache", "kept + need >= cache"), ("if p + o > cache", "if p + o >= cache")),
    "cache strict beside others only": sc(("kept + need > cache", "kept + need > cache - (kept > 0)")),
    "refuses exact fit": sc(("if p + o > cache", "if p + o >= cache")),
    "output reserves one less (last token is never cached)": sc(("requests[i][1] + requests[i][2] for i in left", "requests[i][1] + requests[i][2] - 1 for i in left"), ("need = requests[todo[0]][1] + requests[todo[0]][2]", "need = requests[todo[0]][1] + requests[todo[0]][2] - 1")),
    "overtakes in cache": sc(('''        while todo and requests[todo[0]][0] <= now:
            need = requests[todo[0]][1] + requests[todo[0]][2]
            if len(left) + len(reads) >= rows or kept + need > cache:
                break
            kept += need
            reads.append(todo.pop(0))
''', '''        for i in [i for i in todo if requests[i][0] <= now]:
            need = requests[i][1] + requests[i][2]
            if len(left) + len(reads) < rows and kept + need <= cache:
                kept += need
                reads.append(i)
                todo.remove(i)
''')),
    "one admitted a pass": sc(("            reads.append(todo.pop(0))\n", "            reads.append(todo.pop(0))\n            break\n")),
    "arrival strictly before": sc(("requests[todo[0]][0] <= now:", "requests[todo[0]][0] < now or (not left and not reads and requests[todo[0]][0] <= now):")),
    "static": sc(("while todo and requests[todo[0]][0] <= now:", "while not left and todo and requests[todo[0]][0] <= now:")),
    "decodes beside reads": sc(("decodes = [] if reads else list(left)", "decodes = list(left)")),
    "decoding first, reads when nobody runs": sc(("decodes = [] if reads else list(left)", "decodes = list(left)\n        if left and reads:\n            todo = reads + todo\n            reads = []")),
    "prompt's pass gives no token": sc(("left[i] = requests[i][2] - 1", "left[i] = requests[i][2]")),
    "one-token output decodes once": sc(("left[i] = requests[i][2] - 1", "left[i] = max(1, requests[i][2] - 1)")),
    "one token too few (>1)": sc(("if n > 0}", "if n > 1}")),
    "leaves a pass late": sc(("if n > 0}", "if n > -1}")),
    "fixed a request": sc(("end = now + fixed + each * tokens", "end = now + fixed * (len(reads) + len(decodes)) + each * tokens")),
    "no fixed": sc(("now + fixed + each", "now + each")),
    "fixed only": sc(("now + fixed + each * tokens", "now + fixed")),
    "fixed x each": sc(("now + fixed + each * tokens", "now + (fixed + each) * tokens")),
    "prompt costs one token": sc(("sum(requests[i][1] for i in reads)", "len(reads)")),
    "longest prompt padded": sc(("sum(requests[i][1] for i in reads)", "len(reads) * max([requests[i][1] for i in reads], default=0)")),
    "longest prompt only": sc(("sum(requests[i][1] for i in reads)", "max([requests[i][1] for i in reads], default=0)")),
    "prompt and its first token cost": sc(("sum(requests[i][1] for i in reads)", "sum(requests[i][1] + 1 for i in reads)")),
    "decode costs the context": sc(("+ len(decodes)", "+ sum(requests[i][1] + requests[i][2] - left[i] for i in decodes)")),
    "decode costs all rows": sc(("+ len(decodes)", "+ (rows if decodes else 0)")),
    "tuples sorted: ties by prompt": sc(("key=lambda i: (requests[i][0], i)", "key=lambda i: requests[i]")),
    "ties by larger number": sc(("key=lambda i: (requests[i][0], i)", "key=lambda i: (requests[i][0], -i)")),
    "list order": sc(("sorted(range(len(requests)), key=lambda i: (requests[i][0], i))", "list(range(len(requests)))")),
    "waiting by number, not arrival": sc(("        reads = []\n", "        reads = []\n        come = sorted(i for i in todo if requests[i][0] <= now)\n        todo = come + [i for i in todo if i not in come]\n")),
    "waiting shortest first": sc(("        reads = []\n", "        reads = []\n        come = sorted((i for i in todo if requests[i][0] <= now), key=lambda i: requests[i][1] + requests[i][2])\n        todo = come + [i for i in todo if i not in come]\n")),
    "waiting last come first": sc(("        reads = []\n", "        reads = []\n        come = sorted((i for i in todo if requests[i][0] <= now), key=lambda i: (-requests[i][0], i))\n        todo = come + [i for i in todo if i not in come]\n")),
    "number is place in sorted order": sc(("    todo = sorted(range(len(requests)), key=lambda i: (requests[i][0], i))", "    requests = sorted(requests, key=lambda r: r[0])\n    todo = list(range(len(requests)))")),
    "requests sorted in place, numbers after it": sc(("    for i, (_, p, o) in", "    requests.sort(key=lambda r: r[0])\n    for i, (_, p, o) in")),
    "endless wait refused late as IndexError": sc((NOFIT, "        pass"), ("            now = requests[todo[0]][0]\n", "            now = max(now, requests[todo[0]][0])\n            if requests[todo[0]][1] + requests[todo[0]][2] > cache:\n                raise IndexError(todo[0])\n")),
    "never-fitting dropped": sc((NOFIT, "        pass"), ("key=lambda i: (requests[i][0], i))", "key=lambda i: (requests[i][0], i))\n    todo = [i for i in todo if requests[i][1] + requests[i][2] <= cache]")),
    "ValueError without number": sc((RAISE, "            raise ValueError('a request never fits')")),
    "ValueError with the request, not its number": sc((RAISE, "            raise ValueError(f'request {requests[i]} never fits: {p + o} > {cache}')")),
    "ValueError number from 1": sc((RAISE, "            raise ValueError(f'request {i + 1} never fits')")),
    "ValueError number is place by arrival": sc((NOFIT, "        pass"), ("    left, passes", "    for place, i in enumerate(todo):\n        if requests[i][1] + requests[i][2] > cache:\n            raise ValueError(f'request {place} never fits')\n    left, passes")),
    "ValueError number is place in a queue that shrinks": sc((NOFIT, "        pass"), ("            if len(left) + len(reads) >= rows", "            if need > cache:\n                raise ValueError(f'request {len(requests) - len(todo)} never fits')\n            if len(left) + len(reads) >= rows")),
    "ValueError first with the same values": sc((RAISE, "            raise ValueError(f'request {requests.index((_, p, o))} never fits')")),
    "ValueError names every number": sc((RAISE, "            raise ValueError(f'one of {list(range(len(requests)))} never fits')")),
    "refuses prompt > cache only": sc(("if p + o > cache", "if p > cache"), ("            now = requests[todo[0]][0]\n", "            if requests[todo[0]][0] <= now:\n                return passes\n            now = requests[todo[0]][0]\n")),
    "AssertionError": sc((RAISE, "            raise AssertionError(f'request {i}')")),
    "empty raises": sc(("    for i, (_, p, o)", "    max(requests)\n    for i, (_, p, o)")),
    "empty gives None": sc(("    for i, (_, p, o)", "    if not requests:\n        return None\n    for i, (_, p, o)")),
    "idle adds the arrival": sc(("            now = requests[todo[0]][0]\n", "            now += requests[todo[0]][0]\n")),
    "idle does not wait": sc(("requests[todo[0]][0] <= now:", "(requests[todo[0]][0] <= now or not (left or reads)):")),
    "stops at a gap": sc(("            now = requests[todo[0]][0]\n            continue\n", "            if passes:\n                break\n            now = requests[todo[0]][0]\n            continue\n")),
    "idle pass recorded": sc(("            now = requests[todo[0]][0]\n", "            passes.append((now, requests[todo[0]][0], [], []))\n            now = requests[todo[0]][0]\n")),
    "arrives during the pass joins it": sc(("requests[todo[0]][0] <= now:", "requests[todo[0]][0] <= now + (fixed if left or reads else 0):")),
    "clock starts at first arrival, times from it": sc(("    left, passes, now", "    t0 = requests[todo[0]][0] if todo else 0\n    left, passes, now"), ("    return passes", "    return [(a - t0, b - t0, c, d) for a, b, c, d in passes]")),
    "duration not end": sc(("passes.append((now, end,", "passes.append((now, end - now,")),
    "counts not numbers": sc(("end, reads, decodes))", "end, len(reads), len(decodes)))")),
    "None for empty lists": sc(("end, reads, decodes))", "end, reads or None, decodes or None))")),
    "decodes aliased to one list": sc(("        decodes = [] if reads else list(left)", "        decodes = shared\n        decodes[:] = [] if reads else list(left)"), ("    left, passes", "    shared = []\n    left, passes")),
    "prompts each in a pass": sc(("            reads.append(todo.pop(0))\n", "            reads.append(todo.pop(0))\n            if len(reads) > 1:\n                end = now + fixed + each * requests[reads[0]][1]\n                passes.append((now, end, reads[:1], [])); now = end\n                left[reads[0]] = requests[reads[0]][2] - 1; reads = reads[1:]\n")),
    "state between calls": sc(("    for i, (_, p, o)", "    global _left\n    for i, (_, p, o)"), ("    left, passes, now = {}, [], 0.0", "    passes, now = [], _clock[0]\n    left = {}"), ("    return passes", "    _clock[0] = now\n    return passes")) + "\n_clock = [0.0]\n",
    "mutable default passes": sc(("fixed, each):", "fixed, each, passes=[]):"), ("left, passes, now = {}, [], 0.0", "left, now = {}, 0.0")),
    "round to 2 digits": sc(("end = now + fixed + each * tokens", "end = round(now + fixed + each * tokens, 2)")),
    "round to 4 digits": sc(("end = now + fixed + each * tokens", "end = round(now + fixed + each * tokens, 4)")),
    "whole seconds": sc(("end = now + fixed + each * tokens", "end = int(now + fixed + each * tokens)")),
    "one-token row is free within the same admission": sc(("if len(left) + len(reads) >= rows", "if len(left) + sum(requests[i][2] > 1 for i in reads) >= rows")),
    "one-token reserves no output": sc(("need = requests[todo[0]][1] + requests[todo[0]][2]", "need = requests[todo[0]][1] + (requests[todo[0]][2] if requests[todo[0]][2] > 1 else 0)")),
    "first alone always admitted": sc((NOFIT, "        pass"), ("if len(left) + len(reads) >= rows or kept + need > cache", "if len(left) + len(reads) >= rows or (kept and kept + need > cache)")),
    "refuses who waits behind a full cache": sc(("                break\n            kept", "                if kept + need > cache:\n                    raise ValueError(f'request {todo[0]}')\n                break\n            kept")),
    "admits only when a row has become free (not when one came)": sc(("while todo and requests[todo[0]][0] <= now:", "while (not left or freed) and todo and requests[todo[0]][0] <= now:"), ("    left, passes", "    freed = True\n    left, passes"), ("        left = {i: n for", "        before = len(left)\n        left = {i: n for"), ("if n > 0}\n", "if n > 0}\n        freed = len(left) < before\n")),
    "reads before decode at most every second pass": sc(("while todo and requests[todo[0]][0] <= now:", "while (not left or not (passes and passes[-1][2])) and todo and requests[todo[0]][0] <= now:")),
    "arrival seen at end of decode run only (all finish)": sc(("while todo and requests[todo[0]][0] <= now:", "while (len(left) < rows) and (not left or min(left.values()) > 0) and todo and requests[todo[0]][0] < now + 1e-12 and not (left and requests[todo[0]][0] == now):")),
    "200 passes at most": sc(("    return passes", "    return passes[:200]")),
    "float32 clock (exact sums only: open)": sc(("end = now + fixed + each * tokens", "end = float(np.float32(now + fixed + each * tokens))")),
    "float16 clock": sc(("end = now + fixed + each * tokens", "end = float(np.float16(now + fixed + each * tokens))")),
}
