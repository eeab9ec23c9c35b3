WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- speed-up
RIGHT["speed-up"] = {
"sums and sets": '''
def speed_up(before, after):
    bad = [k for k in ("model", "data", "device") if len({v[k] for v in [*before, *after]}) > 1]
    if bad:
        raise ValueError("not comparable: " + ", ".join(bad))
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
"loop": '''
def speed_up(before, after):
    first = before[0]
    differs = []
    for key in ("model", "data", "device"):
        for v in list(before) + list(after):
            if v[key] != first[key] and key not in differs:
                differs.append(key)
    if differs:
        raise ValueError(f"visits differ in {differs}")
    totals = []
    for group in (before, after):
        tokens = seconds = 0
        for v in group:
            tokens += v["real_tokens"]
            seconds += v["seconds"]
        totals.append((tokens, seconds))
    (t0, s0), (t1, s1) = totals
    return t1 * s0 / (t0 * s1)
''',
"numpy float64": '''
def speed_up(before, after):
    both = list(before) + list(after)
    bad = [k for k in ("model", "data", "device") if len(np.unique([v[k] for v in both])) != 1]
    if bad:
        raise ValueError(f"{bad} differ")
    b = np.array([[v["real_tokens"], v["seconds"]] for v in before], float).sum(0)
    a = np.array([[v["real_tokens"], v["seconds"]] for v in after], float).sum(0)
    return (a[0] / a[1]) / (b[0] / b[1])
''',
}
def su(check="both", keys='("model", "data", "device")', rate='sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)', ret="rate(after) / rate(before)"):
    return f'''
def speed_up(before, after):
    both = list(before) + list(after)
    bad = [k for k in {keys} if len({{v[k] for v in {check}}}) > 1]
    if bad:
        raise ValueError("differ: " + ", ".join(bad))
    def rate(vs):
        return {rate}
    return {ret}
'''
WRONG["speed-up"] = {
"slots are counted, padding as work": su(rate='sum(v["slots"] for v in vs) / sum(v["seconds"] for v in vs)'),
"documents per second": su(rate='sum(v["documents"] for v in vs) / sum(v["seconds"] for v in vs)'),
"steps per second": su(rate='sum(v["steps"] for v in vs) / sum(v["seconds"] for v in vs)'),
"mean of the visits' rates": su(rate='sum(v["real_tokens"] / v["seconds"] for v in vs) / len(vs)'),
"sum of the visits' rates": su(rate='sum(v["real_tokens"] / v["seconds"] for v in vs)'),
"before over after": su(ret="rate(before) / rate(after)"),
"gain, minus 1": su(ret="rate(after) / rate(before) - 1"),
"only time compared, tokens assumed equal": su(ret='sum(v["seconds"] for v in before) / sum(v["seconds"] for v in after)'),
"only the first visits are checked": su(check="(before[0], after[0])"),
"zip: the longer list is checked in part": '''
def speed_up(before, after):
    bad = [k for k in ("model", "data", "device") if any(b[k] != a[k] for b, a in zip(before, after))]
    if bad:
        raise ValueError("differ: " + ", ".join(bad))
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
"the two lists' sets are compared: mixed in both passes": '''
def speed_up(before, after):
    bad = [k for k in ("model", "data", "device") if {v[k] for v in before} != {v[k] for v in after}]
    if bad:
        raise ValueError("differ: " + ", ".join(bad))
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
"each list is checked alone, not against the other": '''
def speed_up(before, after):
    bad = [k for k in ("model", "data", "device") if any(len({v[k] for v in vs}) > 1 for vs in (before, after))]
    if bad:
        raise ValueError("differ: " + ", ".join(bad))
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
"stops at the first key that differs": '''
def speed_up(before, after):
    for k in ("model", "data", "device"):
        if len({v[k] for v in [*before, *after]}) > 1:
            raise ValueError(f"{k} differs")
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
"device is not compared": su(keys='("model", "data")'),
"rows and checkpointing must agree, too": su(keys='("model", "data", "device", "rows", "checkpointing")'),
"input wait is taken off the seconds": su(rate='sum(v["real_tokens"] for v in vs) / sum(v["seconds"] - v["input_seconds"] for v in vs)'),
"assert in place of ValueError": '''
def speed_up(before, after):
    for k in ("model", "data", "device"):
        assert len({v[k] for v in [*before, *after]}) == 1, k
    rate = lambda vs: sum(v["real_tokens"] for v in vs) / sum(v["seconds"] for v in vs)
    return rate(after) / rate(before)
''',
}

# ---------------------------------------------------------------- step-parts
def sp(useful='slot * v["real_tokens"] / n', padding='slot * (v["slots"] - v["real_tokens"]) / n', launch='fixed * v["micro_batches"] / n',
       rec='(useful + padding + launch) / 3 if v["checkpointing"] else 0.0', unexpl='v["seconds"] / n - sum(parts.values())', n='v["steps"]', pre="", post=""):
    return f'''
def step_parts(v, fixed, slot):
    n = {n}
    {pre}
    useful = {useful}
    padding = {padding}
    launch = {launch}
    parts = {{"useful": useful, "padding": padding, "launch": launch, "recomputation": {rec},
             "input": v["input_seconds"] / n, "host": v["host_seconds"] / n, "optimizer": v["optimizer_seconds"] / n}}
    parts["unexplained"] = {unexpl}
    {post}
    return parts
'''
RIGHT["step-parts"] = {
"plain": sp(),
"per-step visit first, numpy": '''
def step_parts(visit, fixed, slot):
    per = {k: np.float64(v) / visit["steps"] for k, v in visit.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    passes = np.array([slot * per["real_tokens"], slot * (per["slots"] - per["real_tokens"]), fixed * per["micro_batches"]])
    out = dict(zip(("useful", "padding", "launch"), passes))
    out["recomputation"] = passes.sum() / 3 * visit["checkpointing"]
    for name in ("input", "host", "optimizer"):
        out[name] = per[name + "_seconds"]
    out["unexplained"] = per["seconds"] - sum(out.values())
    return out
''',
"totals, divided at the end": '''
def step_parts(visit, fixed, slot):
    real, slots = visit["real_tokens"], visit["slots"]
    total = {
        "unexplained": 0.0, "optimizer": visit["optimizer_seconds"], "host": visit["host_seconds"],
        "input": visit["input_seconds"], "useful": slot * real, "padding": slot * slots - slot * real,
        "launch": fixed * visit["micro_batches"], "recomputation": 0}
    if visit["checkpointing"]:
        total["recomputation"] = (slot * slots + fixed * visit["micro_batches"]) / 3
    rest = visit["seconds"]
    for part in total.values():
        rest -= part
    total["unexplained"] = rest
    return {name: value / visit["steps"] for name, value in total.items()}
''',
}
WRONG["step-parts"] = {
"totals, not of one step": sp(n="1"),
"only the prices' parts are not divided by steps": sp(useful='slot * v["real_tokens"]', padding='slot * (v["slots"] - v["real_tokens"])', launch='fixed * v["micro_batches"]'),
"recomputation is a third of useful and padding, no launch": sp(rec='(useful + padding) / 3 if v["checkpointing"] else 0.0'),
"recomputation is a third of useful only": sp(rec='useful / 3 if v["checkpointing"] else 0.0'),
"recomputation without looking at checkpointing": sp(rec='(useful + padding + launch) / 3'),
"recomputation is a quarter": sp(rec='(useful + padding + launch) / 4 if v["checkpointing"] else 0.0'),
"padding is all slots: useful counted twice": sp(padding='slot * v["slots"] / n'),
"rest clipped at zero": sp(unexpl='max(0.0, v["seconds"] / n - sum(parts.values()))'),
"rest without its sign": sp(unexpl='abs(v["seconds"] / n - sum(parts.values()))'),
"rest forgets recomputation": sp(unexpl='v["seconds"] / n - sum(t for k, t in parts.items() if k != "recomputation")'),
"rest of the total, not of a step": sp(unexpl='v["seconds"] - sum(parts.values())'),
"launch once a step": sp(launch='fixed'),
"launch is not divided by steps": sp(launch='fixed * v["micro_batches"]'),
"whole micro-batches a step by //": sp(launch='fixed * (v["micro_batches"] // n)'),
"whole tokens a step by //": sp(useful='slot * (v["real_tokens"] // n)', padding='slot * ((v["slots"] - v["real_tokens"]) // n)'),
"prices swapped": sp(useful='fixed * v["real_tokens"] / n', padding='fixed * (v["slots"] - v["real_tokens"]) / n', launch='slot * v["micro_batches"] / n'),
"no recomputation key without checkpointing": sp(post='\n    if not v["checkpointing"]:\n        del parts["recomputation"]'),
"divided by micro-batches": sp(n='v["micro_batches"]'),
"subtracts in place from the visit": '''
def step_parts(v, fixed, slot):
    n = v["steps"]
    for k in ("seconds", "input_seconds", "host_seconds", "optimizer_seconds", "slots", "real_tokens", "micro_batches"):
        v[k] /= n
    p = {"useful": slot * v["real_tokens"], "padding": slot * (v["slots"] - v["real_tokens"]), "launch": fixed * v["micro_batches"]}
    p["recomputation"] = sum(p.values()) / 3 if v["checkpointing"] else 0.0
    for k in ("input", "host", "optimizer"):
        p[k] = v[k + "_seconds"]
    p["unexplained"] = v["seconds"] - sum(p.values())
    return p
''',
}

# ---------------------------------------------------------------- cure-gain
RIGHT["cure-gain"] = {
"plain": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum(t * keep.get(k, 1) for k, t in parts.items()) - 1
''',
"what goes": '''
def cure_gain(parts, keep):
    whole = sum(parts.values())
    gone = 0.0
    for name, left in keep.items():
        gone += parts[name] * (1 - left)
    return gone / (whole - gone)
''',
"numpy": '''
def cure_gain(parts, keep):
    t = np.array(list(parts.values()), dtype=np.float64)
    k = np.array([keep.get(n, 1.0) for n in parts])
    return t.sum() / (t @ k) - 1
''',
"copy and update": '''
def cure_gain(parts, keep):
    left = dict(parts)
    for name in keep:
        left[name] = parts[name] * keep[name]
    return (sum(parts.values()) - sum(left.values())) / sum(left.values())
''',
}
WRONG["cure-gain"] = {
"share of the time that goes": '''
def cure_gain(parts, keep):
    return sum(parts[k] * (1 - f) for k, f in keep.items()) / sum(parts.values())
''',
"gains added": '''
def cure_gain(parts, keep):
    s = sum(parts.values())
    return sum(s / (s - parts[k] * (1 - f)) - 1 for k, f in keep.items())
''',
"gains multiplied": '''
def cure_gain(parts, keep):
    s, g = sum(parts.values()), 1.0
    for k, f in keep.items():
        g *= s / (s - parts[k] * (1 - f))
    return g - 1
''',
"factor, 1 not taken off": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum(t * keep.get(k, 1) for k, t in parts.items())
''',
"keep read as what goes": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum(t * (1 - keep.get(k, 0)) for k, t in parts.items()) - 1
''',
"0 is falsy: a part with keep 0 stays": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum(t * (keep.get(k) or 1) for k, t in parts.items()) - 1
''',
"named parts are removed whole": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum(t for k, t in parts.items() if k not in keep) - 1
''',
"only the first name": '''
def cure_gain(parts, keep):
    name, left = next(iter(keep.items()))
    s = sum(parts.values())
    return s / (s - parts[name] * (1 - left)) - 1
''',
"unexplained left out": '''
def cure_gain(parts, keep):
    p = {k: t for k, t in parts.items() if k != "unexplained"}
    return sum(p.values()) / sum(t * keep.get(k, 1) for k, t in p.items()) - 1
''',
"negative rest clipped": '''
def cure_gain(parts, keep):
    p = {k: max(t, 0) for k, t in parts.items()}
    return sum(p.values()) / sum(t * keep.get(k, 1) for k, t in p.items()) - 1
''',
"never below zero": '''
def cure_gain(parts, keep):
    return max(0.0, sum(parts.values()) / sum(t * keep.get(k, 1) for k, t in parts.items()) - 1)
''',
"percent": '''
def cure_gain(parts, keep):
    return 100 * (sum(parts.values()) / sum(t * keep.get(k, 1) for k, t in parts.items()) - 1)
''',
"cures the parts in place": '''
def cure_gain(parts, keep):
    before = sum(parts.values())
    for k, f in keep.items():
        parts[k] *= f
    return before / sum(parts.values()) - 1
''',
"what is not named goes": '''
def cure_gain(parts, keep):
    return sum(parts.values()) / sum([t * keep.get(k, 0) for k, t in parts.items() if k != "useful"] + [parts["useful"]]) - 1
''',
"useful over the rest": '''
def cure_gain(parts, keep):
    useful = parts["useful"]
    before = useful / sum(parts.values())
    after = useful / sum(t * keep.get(k, 1) for k, t in parts.items())
    return after - before
''',
"before and after swapped": '''
def cure_gain(parts, keep):
    return sum(t * keep.get(k, 1) for k, t in parts.items()) / sum(parts.values()) - 1
''',
}

# ---------------------------------------------------------------- best-rows
def br(x):
    return f"\ndef best_rows():\n    return {x}\n"
RIGHT["best-rows"] = {"int": br("6"), "float": br("6.0"), "numpy": br("np.int64(6)"),
"argmax over what the slider shows": br("max({4: 13767, 5: 14085, 6: 14142, 7: 14067, 8: 13928}.items(), key=lambda kv: kv[1])[0]")}
WRONG["best-rows"] = {
"position of the slider, from 0": br("5"), "one more": br("7"), "habit: a power of two": br("8"), "left where it stood": br("10"),
"most launches saved": br("64"), "least waste": br("1"), "compiled and padded": br("3"), "the tokens, not the rows": br("14142"),
"rows and tokens": br("(6, 14142)"), "a string": br("'6'"), "as in the lesson: 16": br("16"), "nothing returned": "\ndef best_rows():\n    6\n"}

# ---------------------------------------------------------------- ward
BASE = {"A": ("input", 0.86, 0.98), "B": ("padding", 1.05, 1.22), "C": ("launch", 0.12, 0.19), "D": ("memory", 0.55, 0.73),
        "E": ("saturation", -0.01, 0.04), "F": ("host", 1.0, 1.15), "G": ("recomputation", 0.27, 0.36)}
def wd(**change):
    return f"\ndef ward():\n    return {BASE | change!r}\n"
RIGHT["ward"] = {
"literal": wd(),
"lists for tuples": f"\ndef ward():\n    return {({k: list(v) for k, v in BASE.items()})!r}\n",
"computed from gains_of": '''
def ward():
    out = {}
    for name, run in probe.ward().items():
        visits = run.sweep()
        rounds = list(gains_of(visits).values())
        most = max(v["rows"] for v in visits)
        if any(v["retries"] for v in visits):
            r = lambda rows: {v["round"]: v["real_tokens"] / v["seconds"] for v in visits if v["rows"] == rows}
            a, b = r(most), r(most // 2)
            cause, g = "memory", [b[k] / a[k] - 1 for k in a]
            g = [float(np.mean(g))]
        else:
            cause = max(CURES, key=lambda c: np.mean([x[c] for x in rounds]))
            g = [x[cause] for x in rounds]
            if np.mean(g) < 0.05:
                cause, g = "saturation", [x["launch"] for x in rounds]
        out[name] = (cause, (1 + min(g)) / 1.03 - 1, (1 + max(g)) * 1.03 - 1)
    return out
''',
"numpy numbers": f"\ndef ward():\n    return {{k: (c, np.float32(a), np.float32(b)) for k, (c, a, b) in {BASE!r}.items()}}\n",
}
WRONG["ward"] = {
"input and host swapped: both are half busy": wd(A=("host", 0.86, 0.98), F=("input", 1.0, 1.15)),
"B: more rows will help": wd(B=("launch", 0.0, 0.03)),
"C is busy, so saturated": wd(C=("saturation", 0.12, 0.19)),
"C: padding": wd(C=("padding", 0.0, 0.02)),
"D: saturated": wd(D=("saturation", 0.0, 0.02)),
"D: the loss, not the gain": wd(D=("memory", -0.42, -0.36)),
"E: launch, gain small": wd(E=("launch", 0.0, 0.03)),
"G: saturated, the meter is at 98 %": wd(G=("saturation", 0.01, 0.03)),
"shares of the time, not gains": wd(A=("input", 0.46, 0.5), B=("padding", 0.51, 0.55), F=("host", 0.5, 0.54), G=("recomputation", 0.22, 0.26)),
"percent": f"\ndef ward():\n    return {({k: (c, 100*a, 100*b) for k, (c, a, b) in BASE.items()})!r}\n",
"factors, 1 + gain": f"\ndef ward():\n    return {({k: (c, 1+a, 1+b) for k, (c, a, b) in BASE.items()})!r}\n",
"high before low": f"\ndef ward():\n    return {({k: (c, b, a) for k, (c, a, b) in BASE.items()})!r}\n",
"from nothing to all: ranges of no use": f"\ndef ward():\n    return {({k: (c, 0.0, 2.0) for k, (c, a, b) in BASE.items()})!r}\n",
"A: half as wide again as allowed": wd(A=("input", 0.7, 1.15)),
"C: all launches are removed": wd(C=("launch", 0.33, 0.42)),
"E: nothing, exactly": wd(E=("saturation", 0.0, 0.0)),
"B: what the cure of rows would do, 2 rows over 16": wd(B=("padding", 0.35, 0.45)),
"D: against the smallest rows": wd(D=("memory", 0.3, 0.4)),
"healthy E left out": f"\ndef ward():\n    return {({k: v for k, v in BASE.items() if k != 'E'})!r}\n",
"capital letters": f"\ndef ward():\n    return {({k: (c.title(), a, b) for k, (c, a, b) in BASE.items()})!r}\n",
"only the cause": f"\ndef ward():\n    return {({k: v[0] for k, v in BASE.items()})!r}\n",
"F: with the third of recomputation on top": wd(F=("host", 1.4, 1.6)),
}

# ---------------------------------------------------------------- shares-test
FULL = '''
def shares_test(shares):
    def close(got, want):
        assert set(got) == set(want), (got, want)
        for k in want:
            assert abs(got[k] - want[k]) < 1e-6, (k, got, want)
    close(shares([2, 2], [{"work": 1}, {"work": 2}]), {"work": 0.75, "unexplained": 0.25})
    close(shares([1, 9], [{"work": 1}, {"wait": 4.5}]), {"work": 0.1, "wait": 0.45, "unexplained": 0.45})
    close(shares([3, 1], [{"work": 3, "wait": 0.5}, {"wait": 1.5}]), {"work": 0.75, "wait": 0.5, "unexplained": -0.25})
    close(shares([4.0], [{"a": 1.0, "b": 3.0}]), {"a": 0.25, "b": 0.75, "unexplained": 0.0})
    close(shares([2, 3, 5], [{"a": 1, "b": 1}, {"b": 1, "c": 1}, {"c": 2, "a": 2}]), {"a": 0.3, "b": 0.2, "c": 0.3, "unexplained": 0.2})
    s, p = [1, 4], [{"x": 0.5}, {"x": 1, "y": 2}]
    want = {"x": 0.3, "y": 0.4, "unexplained": 0.3}
    close(shares(s, p), want)
    assert s == [1, 4] and p == [{"x": 0.5}, {"x": 1, "y": 2}]
    close(shares(s, p), want)
'''
RIGHT["shares-test"] = {
"examples by hand": FULL,
"own reference, random": '''
def shares_test(shares):
    rng = np.random.default_rng(0)
    for trial in range(60):
        n = int(rng.integers(1, 6))
        seconds = [float(s) for s in rng.uniform(0.1, 5.0, n)]
        parts = []
        for s in seconds:
            names = [k for k in ("input", "work", "wait", "host") if rng.random() < 0.6]
            scale = float(rng.choice([0.5, 1.0, 1.5]))
            parts.append({k: s * scale * float(rng.random()) / 2 for k in names})
        want = {}
        for one in parts:
            for k, t in one.items():
                want[k] = want.get(k, 0.0) + t
        want = {k: t / sum(seconds) for k, t in want.items()}
        want["unexplained"] = 1 - sum(want.values())
        got = shares(seconds, parts)
        assert got.keys() == want.keys()
        assert all(np.isclose(got[k], want[k], atol=1e-9) for k in want)
''',
"properties and one case": '''
def shares_test(shares):
    import math
    seconds, parts = [1.0, 3.0], [{"a": 0.5, "b": 0.25}, {"a": 0.9, "c": 1.2}]
    got = shares(list(seconds), [dict(p) for p in parts])
    assert sorted(got) == ["a", "b", "c", "unexplained"]
    assert math.isclose(got["a"], 0.35, rel_tol=1e-6)
    assert math.isclose(got["b"], 0.0625, rel_tol=1e-6)
    assert math.isclose(got["c"], 0.3, rel_tol=1e-6)
    assert math.isclose(sum(got.values()), 1.0, rel_tol=1e-6)
    over = shares([1.0, 1.0], [{"a": 1.5}, {"a": 1.0, "b": 0.5}])
    assert math.isclose(over["a"], 1.25) and math.isclose(over["b"], 0.25) and math.isclose(over["unexplained"], -0.5)
    turned = shares(seconds[::-1], parts[::-1])
    for k in got:
        assert math.isclose(turned[k], got[k], rel_tol=1e-6)
    late = shares([2, 4, 4], [{}, {"z": 1}, {"z": 1, "y": 2}])
    assert math.isclose(late["z"], 0.2) and math.isclose(late["y"], 0.2) and math.isclose(late["unexplained"], 0.6)
''',
}
def st(*lines):
    return "\ndef shares_test(shares):\n" + "".join(f"    {l}\n" for l in lines)
WRONG["shares-test"] = {
"the printed example only": st('got = shares([2, 2], [{"work": 1}, {"work": 2}])', 'assert abs(got["work"] - 0.75) < 1e-9 and abs(got["unexplained"] - 0.25) < 1e-9'),
"the sum only": st('for s, p in (([2, 2], [{"work": 1}, {"work": 2}]), ([1, 3], [{"a": 1}, {"b": 1}]), ([1], [{"a": 2}])):', '    assert abs(sum(shares(s, p).values()) - 1) < 1e-9'),
"exact equality": st('assert shares([1, 2], [{"a": 0.1, "b": 0.2}, {"a": 0.3}]) == {"a": 0.4 / 3, "b": 0.2 / 3, "unexplained": 2.4 / 3}', 'assert shares([0.1, 0.2], [{"a": 0.1}, {"b": 0.3}]) == {"a": 1 / 3, "b": 1.0, "unexplained": -1 / 3}'),
"believes in the mean of shares": st('got = shares([1, 3], [{"a": 1}, {"a": 1}])', 'assert abs(got["a"] - (1 + 1 / 3) / 2) < 1e-9'),
"the rest must not be negative": FULL + '    assert shares([1], [{"a": 2}])["unexplained"] >= 0\n',
"steps of equal length": st('got = shares([2, 2], [{"a": 1, "b": 0.5}, {"a": 1.5}])', 'assert abs(got["a"] - 0.625) < 1e-9 and abs(got["b"] - 0.125) < 1e-9 and abs(got["unexplained"] - 0.25) < 1e-9'),
"no part is ever missing": st('got = shares([1, 3], [{"a": 0.5, "b": 0.2}, {"a": 1, "b": 1}])', 'for k, w in {"a": 0.375, "b": 0.3, "unexplained": 0.325}.items():', '    assert abs(got[k] - w) < 1e-9', 'over = shares([1], [{"a": 2}])', 'assert abs(over["unexplained"] + 1) < 1e-9'),
"parts never longer than steps": st('got = shares([1, 3], [{"a": 0.5}, {"a": 1, "b": 1}])', 'for k, w in {"a": 0.375, "b": 0.25, "unexplained": 0.375}.items():', '    assert abs(got[k] - w) < 1e-9', 'assert abs(sum(got.values()) - 1) < 1e-9'),
"one step only": st('for t, p in ((2, {"a": 1, "b": 0.5}), (1, {"a": 2}), (4, {"a": 4})):', '    got = shares([t], [p])', '    for k in p:', '        assert abs(got[k] - p[k] / t) < 1e-9', '    assert abs(got["unexplained"] - 1 + sum(p.values()) / t) < 1e-9'),
"tolerance of a tenth": FULL.replace("1e-6", "0.1"),
"compares and does not assert": FULL.replace("assert set(got) == set(want), (got, want)", "set(got) == set(want)").replace("assert abs(got[k] - want[k]) < 1e-6, (k, got, want)", "abs(got[k] - want[k]) < 1e-6").replace("    assert s ==", "    s =="),
"swallows its own assertion": "\ndef shares_test(shares):\n    try:\n" + "".join("    " + l + "\n" for l in FULL.splitlines()[2:]) + "    except Exception as e:\n        print('wrong', e)\n",
"no tolerance for sign: unexplained key must be missing at zero": FULL + '    assert "unexplained" not in shares([1], [{"a": 1}])\n',
"order of the keys": FULL + '    assert list(shares([1, 3], [{"b": 0.5}, {"a": 1}])) == ["a", "b", "unexplained"]\n',
"a missing part must raise": FULL + '    try:\n        shares([1, 1], [{"a": 1}, {"b": 1}])\n    except KeyError:\n        return\n    assert False\n',
"only unexplained is looked at": st('for s, p, w in (([1, 3], [{"a": 0.5}, {"a": 1, "b": 1}], 0.375), ([1, 1], [{"a": 2}, {"b": 1}], -0.5)):', '    assert abs(shares(s, p)["unexplained"] - w) < 1e-9'),
}

# ---------------------------------------------------------------- diagnose
def dg(check='[k for k in ("model", "data", "device") if len({v[k] for v in visits}) > 1]', most='max(v["rows"] for v in visits)',
       retr='any(v["retries"] for v in visits if v["rows"] == most)', small='max(v["rows"] for v in visits if v["rows"] < most)',
       mem='rate[small, r] / rate[most, r] - 1', pick='max(CURES, key=lambda c: mean(g[c] for g in gains.values()))',
       healthy='mean(values) < 0.05', sat='[g["launch"] for g in gains.values()]', n='len(values)', half='T90[n] * stdev(values) / n ** 0.5',
       gains='gains_of(visits)', gain='mean(values)', low='gain - half', high='gain + half', pre='', rounds='sorted({v["round"] for v in visits})',
       rate='v["real_tokens"] / v["seconds"]', ret='{"cause": cause, "gain": gain, "low": low, "high": high}', head=''):
    return f'''
from statistics import mean, stdev
{head}
def diagnose(visits):
    {pre}
    bad = {check}
    if bad:
        raise ValueError("differ: " + ", ".join(bad))
    most = {most}
    gains = {gains}
    rate = {{(v["rows"], v["round"]): {rate} for v in visits}}
    if {retr}:
        small = {small}
        cause, values = "memory", [{mem} for r in {rounds}]
    else:
        cause = {pick}
        values = [g[cause] for g in gains.values()]
        if {healthy}:
            cause, values = "saturation", {sat}
    n = {n}
    gain = {gain}
    half = {half}
    low, high = {low}, {high}
    return {ret}
'''
RIGHT["diagnose"] = {
"with gains_of": dg(),
"from scratch, numpy": '''
def diagnose(visits):
    for key in ("model", "data", "device"):
        if len(set(v[key] for v in visits)) != 1:
            raise ValueError(f"the visits differ in {key}")
    numbers = sorted(set(v["round"] for v in visits))
    grid = sorted(set(v["rows"] for v in visits))
    table = {(v["round"], v["rows"]): v for v in visits}
    names = list(CURES)
    gains = np.zeros((len(numbers), len(names)))
    for i, r in enumerate(numbers):
        x, y = [], []
        for rows in grid:
            v = table[r, rows]
            own = v["seconds"] - v["input_seconds"] - v["host_seconds"] - v["optimizer_seconds"]
            own *= 0.75 if v["checkpointing"] else 1
            x.append([1.0, v["slots"] / v["micro_batches"]])
            y.append(own / v["micro_batches"])
        x, y = np.array(x), np.array(y)
        (fixed, slot), *_ = np.linalg.lstsq(x / y[:, None], np.ones(len(y)), rcond=None)
        parts = step_parts(table[r, grid[-1]], max(fixed, 0.0), slot)
        gains[i] = [cure_gain(parts, CURES[c]) for c in names]
    if any(table[r, grid[-1]]["retries"] > 0 for r in numbers):
        cause = "memory"
        values = np.array([speed_up([table[r, grid[-1]]], [table[r, grid[-2]]]) - 1 for r in numbers])
    else:
        best = int(gains.mean(0).argmax())
        cause, values = names[best], gains[:, best]
        if values.mean() < 0.05:
            cause, values = "saturation", gains[:, names.index("launch")]
    n = len(values)
    half = T90[n] * values.std(ddof=1) / np.sqrt(n)
    return {"cause": cause, "gain": values.mean(), "low": values.mean() - half, "high": values.mean() + half}
''',
"mean of logarithms": dg(head="import math", gain='math.exp(mean(math.log1p(v) for v in values)) - 1',
    half='T90[n] * stdev([math.log1p(v) for v in values]) / n ** 0.5', low='(1 + gain) * math.exp(-half) - 1', high='(1 + gain) * math.exp(half) - 1'),
"dictionaries of rounds, extra key": dg(gains='{r: gains_of([v for v in visits if v["round"] == r])[r] for r in sorted({v["round"] for v in visits})}',
    ret='{"cause": cause, "gain": gain, "low": low, "high": high, "rounds": n}'),
}
WRONG["diagnose"] = {
"no refusal of mixed visits": dg(check="[]"),
"only data is compared": dg(check='["data"] if len({v["data"] for v in visits}) > 1 else []'),
"only the subject's visits are compared": dg(check='[k for k in ("model", "data", "device") if len({v[k] for v in visits if v["rows"] == max(w["rows"] for w in visits)}) > 1]'),
"all rounds must have retried": dg(retr='all(v["retries"] for v in visits if v["rows"] == most)'),
"retries of the first visit of the subject only": dg(retr='[v for v in visits if v["rows"] == most][0]["retries"]'),
"retries are not looked at": dg(retr='False'),
"retries only where no cure helps": dg(retr='any(v["retries"] for v in visits if v["rows"] == most) and max(mean(g[c] for g in gains.values()) for c in CURES) < 0.01'),
"half the rows, by //": dg(small='most // 2'),
"the smallest rows": dg(small='min(v["rows"] for v in visits)'),
"memory: the subject over the smaller rows": dg(mem='rate[most, r] / rate[small, r] - 1'),
"memory: factor, not gain": dg(mem='rate[small, r] / rate[most, r]'),
"memory: steps a second": dg(rate='v["steps"] / v["seconds"]'),
"the largest gain of any round": dg(pick='max(CURES, key=lambda c: max(g[c] for g in gains.values()))'),
"no saturation": dg(healthy='False'),
"bar at 5, percent": dg(healthy='100 * mean(values) < 0.05'),
"bar at a half": dg(healthy='mean(values) < 0.5'),
"saturation gains nothing": dg(sat='[0.0 for g in gains.values()]'),
"saturation keeps the largest gain": dg(sat='values'),
"no root of n": dg(half='T90[n] * stdev(values)'),
"standard error without T90": dg(half='stdev(values) / n ** 0.5'),
"1.64 s / n": dg(half='1.64 * stdev(values) / n'),
"interval from zero": dg(low='0.0', high='2 * gain'),
"one side only": dg(low='gain', high='gain + half'),
"relative interval": dg(low='gain * (1 - half)', high='gain * (1 + half)'),
"percent": dg(ret='{"cause": cause, "gain": 100 * gain, "low": 100 * low, "high": 100 * high}'),
"rounds numbered from 1": dg(rounds='range(1, len(gains) + 1)', gains='{r: gains_of([v for v in visits if v["round"] == r])[r] for r in range(1, len({v["round"] for v in visits}) + 1)}'),
"T90 by the number of visits over 4": dg(n='len(visits) // 4'),
"subject is the last visit's setting": dg(most='visits[-1]["rows"]'),
"busy below 80 % is input": dg(pick='"input" if mean(v["busy"] for v in visits) < 0.8 else max(CURES, key=lambda c: mean(g[c] for g in gains.values()))'),
"shares, not gains": dg(gains='{r: {c: g / (1 + g) for c, g in gs.items()} for r, gs in gains_of(visits).items()}'),
"gains kept between calls by round number": dg(head='known = {}', gains='{r: known.setdefault(r, g) for r, g in gains_of(visits).items()}'),
"first round only, for the gain": dg(gain='values[0]'),
"low and high swapped": dg(low='gain + half', high='gain - half'),
"ward's answer, saturation unless retries: bar on launch": dg(healthy='mean(g["launch"] for g in gains.values()) < 0.05'),
"ends of the rounds are the interval of one": dg(half='T90[n] * stdev(values) * 1.5'),
}
