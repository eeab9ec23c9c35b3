# ruff: noqa
"""Lesson 11_doctor: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------------------------- speed-up
GOOD = '''def speed_up(before, after):
    """Useful tokens per second of the visits `after`, over those of the visits `before`."""
    every = [*before, *after]
    differ = [key for key in ("model", "data", "device") if len({v[key] for v in every}) > 1]
    if differ:
        raise ValueError("not one run: " + ", ".join(differ))

    def rate(visits):
        return sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)

    return rate(after) / rate(before)
'''

RIGHT["speed-up"] = {
    "sums of tokens and of seconds, sets of keys": GOOD,
    "exact fractions, one float at the end": '''from fractions import Fraction


def speed_up(before, after):
    kinds = {"model": set(), "data": set(), "device": set()}
    for v in list(before) + list(after):
        for key, seen in kinds.items():
            seen.add(v[key])
    wrong = sorted(key for key, seen in kinds.items() if len(seen) != 1)
    if wrong:
        raise ValueError(" and ".join(wrong) + " must be the same in all visits")
    tokens, seconds = [], []
    for some in (before, after):
        tokens.append(sum((Fraction(v["real_tokens"]) for v in some), Fraction(0)))
        seconds.append(sum((Fraction(v["seconds"]) for v in some), Fraction(0)))
    return float(tokens[1] * seconds[0] / (tokens[0] * seconds[1]))
''',
    "NumPy table of tokens and seconds, every visit against the first": '''def speed_up(before, after):
    visits = list(before) + list(after)
    first = visits[0]
    names = [k for k in ("model", "data", "device") if any(v[k] != first[k] for v in visits)]
    if len(names) > 0:
        raise ValueError(f"these differ: {names}")
    table = np.array([[v["real_tokens"], v["seconds"]] for v in visits], dtype=float)
    old, new = table[: len(before)].sum(axis=0), table[len(before):].sum(axis=0)
    return (new[0] / new[1]) / (old[0] / old[1])
''',
    "a small class that adds visits up and compares itself": '''class Total:
    def __init__(self, visits):
        self.tokens = self.seconds = 0
        self.kinds = {"model": set(), "data": set(), "device": set()}
        for v in visits:
            self.tokens += v["real_tokens"]
            self.seconds += v["seconds"]
            for key in self.kinds:
                self.kinds[key].add(v[key])

    def over(self, other):
        bad = [key for key in self.kinds if len(self.kinds[key] | other.kinds[key]) > 1]
        if bad:
            raise ValueError("/".join(bad))
        return self.tokens * other.seconds / (self.seconds * other.tokens)


def speed_up(before, after):
    return Total(after).over(Total(before))
''',
    "torch in double precision": '''import torch


def speed_up(before, after):
    together = [*before, *after]
    differing = []
    for key in ("model", "data", "device"):
        if together.count(together[0]) != len(together) and len({v[key] for v in together}) >= 2:
            differing.append(key)
    if differing:
        raise ValueError(f"cannot compare, other {' and '.join(differing)}")

    def useful(visits):
        both = torch.tensor([[v["real_tokens"], v["seconds"]] for v in visits], dtype=torch.float64).sum(0)
        return both[0] / both[1]

    return (useful(after) / useful(before)).item()
''',
    "recursion down the lists, keys asked pair by pair": '''def speed_up(before, after):
    def added(visits, at=0):
        if at == len(visits):
            return 0, 0.0
        tokens, seconds = added(visits, at + 1)
        return visits[at]["real_tokens"] + tokens, visits[at]["seconds"] + seconds

    chain = [*after, *before]
    odd = []
    for key in ("device", "data", "model"):
        for one, two in zip(chain, chain[1:]):
            if one[key] != two[key] and key not in odd:
                odd.append(key)
    if odd:
        raise ValueError(", ".join(odd))
    (t0, s0), (t1, s1) = added(before), added(after)
    return t1 / s1 / (t0 / s0)
''',
}

WRONG["speed-up"] = {
    "mean of the rates of the visits, so a short visit counts like a long one": _cut(GOOD, (
        'return sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)',
        'return sum(v["real_tokens"] / v["seconds"] for v in visits) / len(visits)')),
    "counts slots, so padding is useful work": _cut(GOOD, ('v["real_tokens"]', 'v["slots"]')),
    "documents per second instead of tokens": _cut(GOOD, ('v["real_tokens"]', 'v["documents"]')),
    "upside down: before over after": _cut(GOOD, ("rate(after) / rate(before)", "rate(before) / rate(after)")),
    "gain instead of ratio: subtracts 1": _cut(GOOD, ("rate(after) / rate(before)", "rate(after) / rate(before) - 1")),
    "takes the waits for input and host off the seconds": _cut(GOOD, (
        'sum(v["seconds"] for v in visits)',
        'sum(v["seconds"] - v["input_seconds"] - v["host_seconds"] for v in visits)')),
    "looks only at the first visit of each list": _cut(GOOD, ("every = [*before, *after]", "every = [before[0], after[0]]")),
    "pairs the lists, so the longer list is not read to its end": _cut(GOOD, (
        "if len({v[key] for v in every}) > 1", "if any(b[key] != a[key] for b, a in zip(before, after))")),
    "compares the two sets of values: lists that are mixed alike pass": _cut(GOOD, (
        "if len({v[key] for v in every}) > 1", "if {v[key] for v in before} != {v[key] for v in after}")),
    "refuses other rows and rounds too": _cut(GOOD, ('("model", "data", "device")', '("model", "data", "device", "rows", "round")')),
    "message always names all three keys": _cut(GOOD, (
        '"not one run: " + ", ".join(differ)', '"model, data and device must agree"')),
    "names only the first key that differs": _cut(GOOD, ('", ".join(differ)', "differ[0]")),
    "an assert instead of a ValueError": _cut(GOOD, (
        '''    if differ:
        raise ValueError("not one run: " + ", ".join(differ))''',
        '''    assert not differ, ", ".join(differ)''')),
    "adds the list after to the list before in place": _cut(GOOD, (
        "every = [*before, *after]", "n = len(before)\n    before += after\n    every = before"), (
        "rate(after) / rate(before)", "rate(after) / rate(before[:n])")),
    "tokens and seconds of one step each: steps weigh the visits": _cut(GOOD, (
        'sum(v["real_tokens"] for v in visits)', 'sum(v["real_tokens"] / v["steps"] for v in visits)')),
    "data are not compared at all": _cut(GOOD, ('("model", "data", "device")', '("model", "device")')),
    # sly ones
    "keys are compared only among the first three visits of each list": _cut(GOOD, (
        "every = [*before, *after]", "every = [*before[:3], *after[:3]]")),
    "adds at most the first three visits of a list": _cut(GOOD, (
        "    def rate(visits):\n", "    def rate(visits):\n        visits = visits[:3]\n")),
    "one visit against one visit is never refused": _cut(GOOD, ("if differ:", "if differ and len(every) > 2:")),
    "compares the lengths of the names, so two data sets with names of equal length pass": _cut(GOOD, (
        "len({v[key] for v in every}) > 1", "len({len(str(v[key])) for v in every}) > 1")),
    "refuses only the values seen in the examples": _cut(GOOD, (
        "len({v[key] for v in every}) > 1",
        'len({v[key] for v in every}) > 1 and {"another", "other", "m2", "d2"} & {v[key] for v in every}')),
    "the message always names data, also where only the model or the device differs": _cut(GOOD, (
        '"not one run: "', '"not the same data or run: "')),
    "rounds the seconds of each visit to tenths, so short visits take no time": _cut(GOOD, (
        'sum(v["seconds"] for v in visits)', '(sum(round(v["seconds"], 1) for v in visits) or 0.1)')),
    "tokens are summed in 32 bits and wrap beyond two thousand million": _cut(GOOD, (
        'sum(v["real_tokens"] for v in visits)',
        'float(np.array([v["real_tokens"] for v in visits], dtype=np.int64).astype(np.int32).sum(dtype=np.int32))')),
    "remembers the answer by the tokens of the two lists and forgets their seconds": _cut(GOOD, (
        "def speed_up(before, after):", "_seen = {}\n\n\ndef speed_up(before, after):"), (
        "    return rate(after) / rate(before)",
        '''    key = tuple(sum(v["real_tokens"] for v in some) for some in (before, after))
    if key not in _seen:
        _seen[key] = rate(after) / rate(before)
    return _seen[key]''')),
    "leaves out visits without checkpointing where some of the list have it and the list is longer than three": _cut(GOOD, (
        "    def rate(visits):\n",
        '''    def rate(visits):
        if len(visits) > 3 and any(v["checkpointing"] for v in visits):
            visits = [v for v in visits if v["checkpointing"]]
''')),
}

# ---------------------------------------------------------------------------------- step-parts
GOOD = '''def step_parts(visit, fixed, slot):
    """{part: seconds of one step}, at the prices of a micro-batch and of a slot."""
    steps = visit["steps"]
    parts = {
        "useful": slot * visit["real_tokens"] / steps,
        "padding": slot * (visit["slots"] - visit["real_tokens"]) / steps,
        "launch": fixed * visit["micro_batches"] / steps,
    }
    parts["recomputation"] = sum(parts.values()) / 3 if visit["checkpointing"] else 0.0
    for name in ("input", "host", "optimizer"):
        parts[name] = visit[name + "_seconds"] / steps
    parts["unexplained"] = visit["seconds"] / steps - sum(parts.values())
    return parts
'''

RIGHT["step-parts"] = {
    "one dictionary, filled part by part": GOOD,
    "totals first, then all divided by the steps": '''def step_parts(visit, fixed, slot):
    work = slot * visit["slots"] + fixed * visit["micro_batches"]
    again = work / 3 * bool(visit["checkpointing"])
    timed = visit["input_seconds"] + visit["host_seconds"] + visit["optimizer_seconds"]
    totals = dict(
        useful=slot * visit["real_tokens"],
        padding=slot * visit["slots"] - slot * visit["real_tokens"],
        launch=fixed * visit["micro_batches"],
        recomputation=again,
        input=visit["input_seconds"],
        host=visit["host_seconds"],
        optimizer=visit["optimizer_seconds"],
        unexplained=visit["seconds"] - work - again - timed,
    )
    return {part: seconds / visit["steps"] for part, seconds in totals.items()}
''',
    "exact fractions": '''from fractions import Fraction as F


def step_parts(visit, fixed, slot):
    v = {key: F(visit[key]) / visit["steps"] for key in (
        "slots", "real_tokens", "micro_batches", "seconds", "input_seconds", "host_seconds", "optimizer_seconds")}
    found = {"useful": F(slot) * v["real_tokens"], "padding": F(slot) * (v["slots"] - v["real_tokens"]),
             "launch": F(fixed) * v["micro_batches"]}
    third = F(1, 3) if visit["checkpointing"] else F(0)
    found["recomputation"] = third * sum(found.values())
    found.update({key: v[key + "_seconds"] for key in ("input", "host", "optimizer")})
    found["unexplained"] = v["seconds"] - sum(found.values())
    return {key: float(value) for key, value in found.items()}
''',
    "NumPy vector of seven parts, the eighth is the rest": '''def step_parts(visit, fixed, slot):
    names = ["useful", "padding", "launch", "recomputation", "input", "host", "optimizer"]
    real, slots, micro = visit["real_tokens"], visit["slots"], visit["micro_batches"]
    seven = np.zeros(7)
    seven[:3] = np.array([slot, slot, fixed]) * np.array([real, slots - real, micro], dtype=float)
    if visit["checkpointing"]:
        seven[3] = seven[:3].sum() / 3.0
    seven[4:] = [visit["input_seconds"], visit["host_seconds"], visit["optimizer_seconds"]]
    every = np.append(seven, visit["seconds"] - seven.sum()) / visit["steps"]
    return dict(zip(names + ["unexplained"], every.tolist()))
''',
    "a generator of pairs, the rest is what the clock has left": '''def step_parts(visit, fixed, slot):
    def pairs():
        left = visit["seconds"] / visit["steps"]
        work = 0.0
        for part, price, count in (("useful", slot, visit["real_tokens"]),
                                   ("padding", slot, visit["slots"] - visit["real_tokens"]),
                                   ("launch", fixed, visit["micro_batches"])):
            spent = price * count / visit["steps"]
            work += spent
            left -= spent
            yield part, spent
        spent = work / 3 if visit["checkpointing"] else 0.0
        left -= spent
        yield "recomputation", spent
        for part in ("input", "host", "optimizer"):
            spent = visit[f"{part}_seconds"] / visit["steps"]
            left -= spent
            yield part, spent
        yield "unexplained", left

    return dict(pairs())
''',
    "a class with one property for each part, in another order": '''class _Step:
    timed = ("optimizer", "host", "input")

    def __init__(self, visit, fixed, slot):
        self.v, self.n, self.fixed, self.slot = visit, visit["steps"], fixed, slot

    def __call__(self, part):
        v = self.v
        if part in self.timed:
            return v[part + "_seconds"] / self.n
        if part == "useful":
            return self.slot * v["real_tokens"] / self.n
        if part == "padding":
            return self.slot * v["slots"] / self.n - self("useful")
        if part == "launch":
            return self.fixed * v["micro_batches"] / self.n
        if part == "recomputation":
            return (self("useful") + self("padding") + self("launch")) / 3 if v["checkpointing"] else 0.0
        return v["seconds"] / self.n - sum(map(self, ("useful", "padding", "launch", "recomputation", *self.timed)))


def step_parts(visit, fixed, slot):
    step = _Step(visit, fixed, slot)
    names = "unexplained", "optimizer", "host", "input", "recomputation", "launch", "padding", "useful"
    return {name: step(name) for name in names}
''',
}

WRONG["step-parts"] = {
    "totals of the visit, never divided by its steps": _cut(GOOD, ('steps = visit["steps"]', "steps = 1")),
    "useful is all slots, padding counted a second time": _cut(GOOD, (
        'slot * visit["real_tokens"] / steps', 'slot * visit["slots"] / steps')),
    "padding is all slots, the real ones too": _cut(GOOD, ('(visit["slots"] - visit["real_tokens"])', 'visit["slots"]')),
    "one launch for each step instead of each micro-batch": _cut(GOOD, ('fixed * visit["micro_batches"] / steps', "fixed")),
    "micro-batches of the whole visit, not of one step": _cut(GOOD, (
        'fixed * visit["micro_batches"] / steps', 'fixed * visit["micro_batches"]')),
    "recomputation is a third of the slots' time only, without the launches": _cut(GOOD, (
        "sum(parts.values()) / 3", '(parts["useful"] + parts["padding"]) / 3')),
    "recomputation is a quarter of the three parts": _cut(GOOD, ("sum(parts.values()) / 3", "sum(parts.values()) / 4")),
    "recomputation is a third of the whole measured step": _cut(GOOD, (
        "sum(parts.values()) / 3", 'visit["seconds"] / steps / 3')),
    "recomputation is charged whether checkpointing is on or off": _cut(GOOD, (
        ' if visit["checkpointing"] else 0.0', "")),
    "a rest below zero is hidden as zero": _cut(GOOD, (
        'visit["seconds"] / steps - sum(parts.values())', 'max(visit["seconds"] / steps - sum(parts.values()), 0.0)')),
    "the rest without its sign": _cut(GOOD, (
        'visit["seconds"] / steps - sum(parts.values())', 'abs(visit["seconds"] / steps - sum(parts.values()))')),
    "recomputation is left inside the rest: counted twice": _cut(GOOD, (
        "- sum(parts.values())", '- sum(parts.values()) + parts["recomputation"]')),
    "shares of the step instead of seconds": _cut(GOOD, (
        "    return parts", '    return {k: s * steps / visit["seconds"] for k, s in parts.items()}')),
    "milliseconds instead of seconds": _cut(GOOD, ("    return parts", "    return {k: 1e3 * s for k, s in parts.items()}")),
    "the recomputed third is counted in useful, padding and launch as well": _cut(GOOD, (
        '    for name in ("input"',
        '''    if visit["checkpointing"]:
        for name in ("useful", "padding", "launch"):
            parts[name] *= 4 / 3
    for name in ("input"''')),
    "writes the parts into the visit and returns it": _cut(GOOD, (
        "    return parts", "    visit.update(parts)\n    return parts")),
    "leaves out parts of zero seconds: fewer than eight keys": _cut(GOOD, (
        "    return parts", "    return {k: s for k, s in parts.items() if s}")),
    # sly ones
    "micro-batches of one step rounded to tenths": _cut(GOOD, (
        'fixed * visit["micro_batches"] / steps', 'fixed * round(visit["micro_batches"] / steps, 1)')),
    "divides by at most five steps": _cut(GOOD, ('steps = visit["steps"]', 'steps = min(visit["steps"], 5)')),
    "no recomputation where the input never waited": _cut(GOOD, (
        'if visit["checkpointing"]', 'if visit["checkpointing"] and visit["input_seconds"]')),
    "no recomputation where launches are free": _cut(GOOD, (
        'if visit["checkpointing"]', 'if visit["checkpointing"] and fixed')),
    "the rest is never further below zero than half of the measured step": _cut(GOOD, (
        'visit["seconds"] / steps - sum(parts.values())',
        'max(visit["seconds"] / steps - sum(parts.values()), -0.5 * visit["seconds"] / steps)')),
    "real tokens and slots are kept in 16 bits: they wrap beyond 65,535": _cut(GOOD, (
        'slot * visit["real_tokens"] / steps', 'slot * float(np.asarray(visit["real_tokens"]).astype(np.uint16)) / steps'), (
        '(visit["slots"] - visit["real_tokens"])',
        'float(np.asarray(visit["slots"] - visit["real_tokens"]).astype(np.uint16))')),
    "remembers the parts by prices and steps: another visit at the same prices gets the old parts": _cut(GOOD, (
        "def step_parts(visit, fixed, slot):", "_known = {}\n\n\ndef step_parts(visit, fixed, slot):"), (
        "    return parts", '    return dict(_known.setdefault((fixed, slot, steps), parts))')),
    "with more than 30,000 slots in a step nothing counts as padding": _cut(GOOD, (
        '(visit["slots"] - visit["real_tokens"])',
        '(visit["slots"] - visit["real_tokens"] if visit["slots"] <= 30_000 * steps else 0)')),
    "a micro-batch is launched at most three times a step with no checkpointing": _cut(GOOD, (
        'fixed * visit["micro_batches"] / steps',
        'fixed * (visit["micro_batches"] / steps if visit["checkpointing"] else min(visit["micro_batches"] / steps, 3))')),
}

# ---------------------------------------------------------------------------------- cure-gain
GOOD = '''def cure_gain(parts, keep):
    """Gain in useful tokens per second if of each part in `keep` so much is left."""
    before = sum(parts.values())
    after = sum(seconds * keep.get(name, 1) for name, seconds in parts.items())
    return before / after - 1
'''

RIGHT["cure-gain"] = {
    "time before over time after, minus 1": GOOD,
    "what goes over what is left": '''def cure_gain(parts, keep):
    whole = sum(parts.values())
    gone = sum(parts[name] * (1 - keep[name]) for name in keep if name in parts)
    return gone / (whole - gone)
''',
    "exact fractions": '''from fractions import Fraction


def cure_gain(parts, keep):
    before = after = Fraction(0)
    for name, seconds in parts.items():
        before += Fraction(seconds)
        after += Fraction(seconds) * (Fraction(keep[name]) if name in keep else 1)
    return float(before / after - 1)
''',
    "NumPy: seconds times what is left of each": '''def cure_gain(parts, keep):
    seconds = np.array(list(parts.values()), dtype=float)
    left = np.array([keep.get(name, 1.0) for name in parts], dtype=float)
    return seconds.sum() / (seconds * left).sum() - 1
''',
    "torch, double precision": '''import torch


def cure_gain(parts, keep):
    old = torch.tensor([float(s) for s in parts.values()], dtype=torch.float64)
    new = old.clone()
    for place, name in enumerate(parts):
        if name in keep:
            new[place] *= keep[name]
    return float(old.sum() / new.sum()) - 1.0
''',
    "recursion through the parts, two rates at the end": '''def cure_gain(parts, keep):
    def both(items):
        if not items:
            return 0.0, 0.0
        (name, seconds), *others = items
        before, after = both(others)
        return before + seconds, after + (seconds * keep[name] if name in keep else seconds)

    before, after = both(list(parts.items()))
    tokens = 1000.0
    return (tokens / after) / (tokens / before) - 1
''',
    "cured copy of the parts, exactly rounded sums": '''import math


def cure_gain(parts, keep):
    cured = dict(parts)
    for name, left in keep.items():
        if name in cured:
            cured[name] = cured[name] * left
    return math.fsum(parts.values()) / math.fsum(cured.values()) - 1
''',
}

WRONG["cure-gain"] = {
    "share of the time that goes, over the time before": _cut(GOOD, ("before / after - 1", "(before - after) / before")),
    "how many times as fast: no minus 1": _cut(GOOD, ("before / after - 1", "before / after")),
    "time after over time before": _cut(GOOD, ("before / after - 1", "after / before - 1")),
    "per cent instead of a fraction": _cut(GOOD, ("before / after - 1", "100 * (before / after - 1)")),
    "keep taken for what is removed": _cut(GOOD, ("keep.get(name, 1)", "(1 - keep.get(name, 0))")),
    "what keep does not name is gone": _cut(GOOD, ("keep.get(name, 1)", "keep.get(name, 0)")),
    "a kept 0 is falsy and taken for whole": _cut(GOOD, ("keep.get(name, 1)", "(keep.get(name) or 1)")),
    "the unexplained is left out of both times": _cut(GOOD, (
        "sum(parts.values())", 'sum(s for n, s in parts.items() if n != "unexplained")'), (
        "in parts.items())", 'in parts.items() if name != "unexplained")')),
    "an unexplained below zero counts as nothing": _cut(GOOD, (
        "    before =", "    parts = {n: max(s, 0) for n, s in parts.items()}\n    before =")),
    "gains of the single cures added": '''def cure_gain(parts, keep):
    before = sum(parts.values())
    return sum(before / (before - parts[name] * (1 - left)) - 1 for name, left in keep.items())
''',
    "gains of the single cures multiplied": '''def cure_gain(parts, keep):
    before, factor = sum(parts.values()), 1.0
    for name, left in keep.items():
        factor *= before / (before - parts[name] * (1 - left))
    return factor - 1
''',
    "a cure that costs gains nothing: below 0 is cut off": _cut(GOOD, (
        "return before / after - 1", "return max(before / after - 1, 0.0)")),
    "cures the parts that it was given": _cut(GOOD, (
        "    after = sum(seconds * keep.get(name, 1) for name, seconds in parts.items())",
        '''    for name in keep:
        parts[name] *= keep[name]
    after = sum(parts.values())''')),
    "only the first name of keep is cured": _cut(GOOD, (
        "    before =", "    keep = dict(list(keep.items())[:1])\n    before =")),
    # sly ones
    "packing shrinks the recomputation with it, though keep does not name it": _cut(GOOD, (
        "    before =",
        '''    if "padding" in keep and "recomputation" not in keep and "recomputation" in parts:
        work = sum(parts.get(n, 0) for n in ("useful", "padding", "launch"))
        keep = keep | {"recomputation": 1 - parts.get("padding", 0) * (1 - keep["padding"]) / work}
    before =''')),
    "only the first three names of keep are cured": _cut(GOOD, (
        "    before =", "    keep = dict(list(keep.items())[:3])\n    before =")),
    "what is left is rounded to two decimals": _cut(GOOD, ("keep.get(name, 1)", "round(keep.get(name, 1), 2)")),
    "a cure may cost at most twice its part: more is cut": _cut(GOOD, ("keep.get(name, 1)", "min(keep.get(name, 1), 2)")),
    "no cure gains more than 300 %": _cut(GOOD, ("return before / after - 1", "return min(before / after - 1, 3.0)")),
    "remembers the gain by keep alone: other parts with the same cure get the old gain": _cut(GOOD, (
        "def cure_gain(parts, keep):", "_gains = {}\n\n\ndef cure_gain(parts, keep):"), (
        "    return before / after - 1", "    return _gains.setdefault(tuple(sorted(keep.items())), before / after - 1)")),
    "recomputation stays whole even where keep names it": _cut(GOOD, (
        "keep.get(name, 1)", '(1 if name == "recomputation" else keep.get(name, 1))')),
    "optimizer is no cure's business: it stays whole even where keep names it": _cut(GOOD, (
        "keep.get(name, 1)", '(1 if name == "optimizer" else keep.get(name, 1))')),
    "a launch is either halved or not: any other remainder counts as half": _cut(GOOD, (
        "keep.get(name, 1)", '(0.5 if name == "launch" and name in keep else keep.get(name, 1))')),
    "the optimizer and the recomputation are left out of the time": _cut(GOOD, (
        "    before =",
        '    parts = {n: s for n, s in parts.items() if n not in ("optimizer", "recomputation")}\n    before =')),
}

# ---------------------------------------------------------------------------------- best-rows
GOOD = '''def best_rows():
    """Rows on the slider with the most useful tokens per second: eager, padded."""
    return 6
'''

RIGHT["best-rows"] = {
    "read off the slider": GOOD,
    "largest of a dictionary of rates read off the slider": '''def best_rows():
    read = {1: 7037, 2: 11015, 3: 12923, 4: 13767, 5: 14085, 6: 14142, 7: 14067, 8: 13928, 9: 13758, 10: 13576, 16: 12572, 64: 9854}
    return max(read, key=read.get)
''',
    "NumPy argmax, a NumPy whole number comes back": '''def best_rows():
    rows = np.array([3, 4, 5, 6, 7, 8])
    rate = np.array([12_923, 13_767, 14_085, 14_142, 14_067, 13_928])
    return rows[rate.argmax()]
''',
    "asks the sliders themselves for every setting": '''def best_rows():
    found = probe.finder()
    offered = next(c["values"] for c in found.state["controls"] if c["name"] == "rows")

    def rate(rows):
        scene = found.scene({"rows": rows, "launch": "eager", "layout": "padded"})
        return int(scene["useful tokens per second"].replace(",", ""))

    return max(offered, key=rate)
''',
    "climbs while the rate rises, by recursion": '''def best_rows(rates=(7037, 11015, 12923, 13767, 14085, 14142, 14067), at=0):
    if at + 1 == len(rates) or rates[at + 1] < rates[at]:
        return at + 1
    return best_rows(rates, at + 1)
''',
}

_rows = 'def best_rows():\n    """Rows on the slider with the most useful tokens per second: eager, padded."""\n    return {}\n'
WRONG["best-rows"] = {
    "3: the best of the compiled model, not of eager": _rows.format("3"),
    "64: the best of the packed rows": _rows.format("64"),
    "16: where the slider stood at the start": _rows.format("16"),
    "5: one step before the top": _rows.format("5"),
    "7: one step after the top": _rows.format("7"),
    "8: the best power of two": _rows.format("8"),
    "1: the least waste": _rows.format("1"),
    "2: where half of the launches are saved": _rows.format("2"),
    "4: nine tenths of the best are reached": _rows.format("4"),
    "14142: the rate instead of the rows": _rows.format("14_142"),
    "a pair of rows and rate": _rows.format("6, 14_142"),
    "a list of all good rows": _rows.format("[5, 6, 7]"),
    "a dictionary": _rows.format('{"rows": 6}'),
    "6.1: a curve laid through the points, no rows of the slider": _rows.format("6.1"),
    "everything near the top averaged: half a row": _rows.format("(4 + 5 + 6 + 7) / 4"),
    "the fewest useful tokens: minimum for maximum": _rows.format("min({1: 7037, 6: 14142, 64: 9854}.items(), key=lambda p: p[1])[0]"),
    "largest rate compared as text, so 9,854 wins": _rows.format('max({6: "14,142", 8: "13,928", 64: "9,854"}.items(), key=lambda p: p[1])[0]'),
    "a truth value instead of a number": _rows.format("14_142 > 14_085"),
    "infinity": _rows.format('float("inf")'),
    "nothing returned, only printed": 'def best_rows():\n    print(6)\n',
}

# ---------------------------------------------------------------------------------- ward
GOOD = '''def ward():
    """{run: (cause, lowest gain, highest gain)} for the runs A to G."""
    return {
        "A": ("input", 0.85, 0.99),
        "B": ("padding", 1.05, 1.22),
        "C": ("launch", 0.12, 0.18),
        "D": ("memory", 0.56, 0.72),
        "E": ("saturation", 0.0, 0.03),
        "F": ("host", 1.0, 1.13),
        "G": ("recomputation", 0.28, 0.34),
    }
'''

RIGHT["ward"] = {
    "read off the tables, a little beyond both rounds": GOOD,
    "middle and a half width, one list zipped": '''def ward():
    causes = "input padding launch memory saturation host recomputation".split()
    middles = [0.921, 1.133, 0.152, 0.645, 0.011, 1.07, 0.312]
    return {run: (cause, m - 0.06 * (1 + m), m + 0.06 * (1 + m)) for run, cause, m in zip("ABCDEFG", causes, middles)}
''',
    "exact fractions as gains": '''from fractions import Fraction


def ward():
    told = {"A": ("input", 86, 98), "B": ("padding", 104, 122), "C": ("launch", 11, 19), "D": ("memory", 57, 71),
            "E": ("saturation", 0, 3), "F": ("host", 101, 112), "G": ("recomputation", 29, 34)}
    return {run: (cause, Fraction(low, 100), Fraction(high, 100)) for run, (cause, low, high) in told.items()}
''',
    "computed from the visits of each run, three per cent of the rate beyond the rounds": '''def ward():
    found = {}
    for name, run in probe.ward().items():
        visits = run.sweep()
        rounds = gains_of(visits)
        mean = {cause: sum(g[cause] for g in rounds.values()) / len(rounds) for cause in CURES}
        if any(v["retries"] for v in visits if v["rows"] == 16):
            rates = {rows: [sum(v[k] for v in visits if v["rows"] == rows) for k in ("real_tokens", "seconds")]
                     for rows in (8, 16)}
            gain = rates[8][0] / rates[8][1] * rates[16][1] / rates[16][0] - 1
            found[name] = ("memory", gain - 0.1, gain + 0.1)
            continue
        cause = max(mean, key=mean.get)
        word, cause = (cause, cause) if mean[cause] >= 0.05 else ("saturation", "launch")
        values = [g[cause] for g in rounds.values()]
        low, high = 1 + min(values), 1 + max(values)
        found[name] = (word, low / 1.03 - 1, high * 1.03 - 1)
    return found
''',
    "factors from tables turned into gains, ranges of nearly 20 %": '''def ward():
    factor = dict(A=1.92, B=2.13, C=1.15, D=1.645, E=1.011, F=2.07, G=1.31)
    word = dict(A="input", B="padding", C="launch", D="memory", E="saturation", F="host", G="recomputation")
    answer = {}
    for run in reversed("ABCDEFG"):
        answer[run] = (word[run], factor[run] / 1.09 - 1, factor[run] * 1.09 - 1)
    return answer
''',
    "named tuples and NumPy numbers": '''from collections import namedtuple

Told = namedtuple("Told", "cause low high")


def ward():
    low = np.array([0.87, 1.06, 0.13, 0.57, 0.0, 1.02, 0.29])
    high = np.array([0.97, 1.20, 0.17, 0.71, 0.02, 1.12, 0.33])
    words = ["input", "padding", "launch", "memory", "saturation", "host", "recomputation"]
    return {run: Told(w, float(a), float(b)) for run, w, a, b in zip("ABCDEFG", words, low, high)}
''',
}

WRONG["ward"] = {
    "per cents instead of fractions": '''def ward():
    return {"A": ("input", 85, 99), "B": ("padding", 105, 122), "C": ("launch", 12, 18), "D": ("memory", 56, 72),
            "E": ("saturation", 0, 3), "F": ("host", 100, 113), "G": ("recomputation", 28, 34)}
''',
    "times as fast instead of gains": '''def ward():
    return {"A": ("input", 1.85, 1.99), "B": ("padding", 2.05, 2.22), "C": ("launch", 1.12, 1.18), "D": ("memory", 1.56, 1.72),
            "E": ("saturation", 1.0, 1.03), "F": ("host", 2.0, 2.13), "G": ("recomputation", 1.28, 1.34)}
''',
    "shares of the step instead of gains": '''def ward():
    return {"A": ("input", 0.45, 0.50), "B": ("padding", 0.50, 0.56), "C": ("launch", 0.24, 0.28), "D": ("memory", 0.36, 0.42),
            "E": ("saturation", 0.0, 0.03), "F": ("host", 0.49, 0.53), "G": ("recomputation", 0.22, 0.25)}
''',
    "the waits of A and F changed over": _cut(GOOD, ('"A": ("input"', '"A": ("host"'), ('"F": ("host"', '"F": ("input"')),
    "C and E changed over: the one where rows pay is called saturated": _cut(GOOD, (
        '"C": ("launch", 0.12, 0.18)', '"C": ("saturation", 0.12, 0.18)'), ('"E": ("saturation", 0.0', '"E": ("launch", 0.0')),
    "D called saturated, because its larger batch is slower": _cut(GOOD, (
        '"D": ("memory", 0.56, 0.72)', '"D": ("saturation", 0.0, 0.03)')),
    "D: 16 rows over 8 instead of 8 over 16": _cut(GOOD, ("0.56, 0.72", "-0.44, -0.36")),
    "D: 8 rows against 4 instead of 16": _cut(GOOD, ("0.56, 0.72", "0.05, 0.11")),
    "E: the largest gain of its row, the input's wait, instead of twice the rows": _cut(GOOD, (
        '"E": ("saturation", 0.0, 0.03)', '"E": ("input", 0.0, 0.03)')),
    "G called launch: checkpointing forgotten": _cut(GOOD, ('"recomputation", 0.28', '"launch", 0.28')),
    "B called launch, since its larger batch is slower and busy is high": _cut(GOOD, ('"padding", 1.05', '"launch", 1.05')),
    "ranges so wide that nothing can fail: 0 to 2": '''def ward():
    causes = "input padding launch memory saturation host recomputation".split()
    return {run: (cause, 0.0, 2.0) for run, cause in zip("ABCDEFG", causes)}
''',
    "ranges of no use in B and F: more than a fifth wide": _cut(GOOD, ("1.05, 1.22", "0.95, 1.40"), ("1.0, 1.13", "0.90, 1.30")),
    "highest before lowest": '''def ward():
    return {"A": ("input", 0.99, 0.85), "B": ("padding", 1.22, 1.05), "C": ("launch", 0.18, 0.12), "D": ("memory", 0.72, 0.56),
            "E": ("saturation", 0.03, 0.0), "F": ("host", 1.13, 1.0), "G": ("recomputation", 0.34, 0.28)}
''',
    "C: launches removed whole instead of halved": _cut(GOOD, ("0.12, 0.18", "0.33, 0.40")),
    "B: only the padding beyond 2 rows counted": _cut(GOOD, ("1.05, 1.22", "0.36, 0.46")),
    "run G forgotten": _cut(GOOD, ('        "G": ("recomputation", 0.28, 0.34),\n', "")),
    "one gain and a width instead of lowest and highest": _cut(GOOD, (
        "0.85, 0.99", "0.92, 0.07"), ("1.05, 1.22", "1.13, 0.08"), ("0.12, 0.18", "0.15, 0.03"), ("0.56, 0.72", "0.64, 0.08"),
        ("0.0, 0.03", "0.015, 0.015"), ("1.0, 1.13", "1.07, 0.06"), ("0.28, 0.34", "0.31, 0.03")),
    "gains without causes": '''def ward():
    return {"A": (0.85, 0.99), "B": (1.05, 1.22), "C": (0.12, 0.18), "D": (0.56, 0.72), "E": (0.0, 0.03), "F": (1.0, 1.13), "G": (0.28, 0.34)}
''',
    "G: a third of the time goes, so a half is gained": _cut(GOOD, ("0.28, 0.34", "0.45, 0.55")),
    "A: waits ended twice as fast at least: from 1.0 on": _cut(GOOD, ("0.85, 0.99", "1.0, 1.2")),
    "every run is saturated, for busy says 97 %": '''def ward():
    return {run: ("input" if run == "A" else "host" if run == "F" else "saturation", 0.0, 0.05) for run in "ABCDEFG"}
''',
}

# ---------------------------------------------------------------------------------- shares-test
GOOD = '''def shares_test(shares):
    """Fail (assert) for every wrong shares(seconds, parts) -> {part: share}."""
    cases = [
        ([2, 2], [{"work": 1}, {"work": 2}], {"work": 0.75, "unexplained": 0.25}),
        ([1, 3], [{"work": 1}, {"work": 1}], {"work": 0.5, "unexplained": 0.5}),
        ([1, 4], [{"a": 0.5, "b": 0.25}, {"a": 1}], {"a": 0.3, "b": 0.05, "unexplained": 0.65}),
        ([4, 1], [{"a": 1}, {"b": 0.25, "a": 0.5}], {"a": 0.3, "b": 0.05, "unexplained": 0.65}),
        ([2, 3, 5], [{"a": 1}, {"b": 2}, {"c": 4}], {"a": 0.1, "b": 0.2, "c": 0.4, "unexplained": 0.3}),
        ([2, 3], [{"a": 3}, {"a": 3, "b": 1}], {"a": 1.2, "b": 0.2, "unexplained": -0.4}),
        ([1, 4], [{"a": 2}, {"a": 1}], {"a": 0.6, "unexplained": 0.4}),
        ([8], [{"a": 2, "b": 6}], {"a": 0.25, "b": 0.75, "unexplained": 0.0}),
        ([5, 5], [{}, {"a": 2}], {"a": 0.2, "unexplained": 0.8}),
        ([5, 5], [{"a": 2}, {}], {"a": 0.2, "unexplained": 0.8}),
        ([0.5, 0.25, 0.25], [{"a": 0.5}, {"a": 0.25}, {"a": 0.25}], {"a": 1.0, "unexplained": 0.0}),
    ]
    for seconds, parts, want in cases:
        got = shares(list(seconds), [dict(one) for one in parts])
        assert set(got) == set(want), (got, want)
        for name in want:
            assert abs(got[name] - want[name]) < 1e-9, (name, got, want)
'''

RIGHT["shares-test"] = {
    "a table of cases worked out by hand": GOOD,
    "random steps against exact fractions": '''import random
from fractions import Fraction


def shares_test(shares):
    draw = random.Random(11)
    for number in range(60):
        steps = draw.randint(1, 5)
        names = ["a", "b", "c", "d"][: draw.randint(1, 4)]
        seconds = [draw.randint(1, 20) for _ in range(steps)]
        parts = [{n: draw.randint(1, 9) for n in names if draw.random() < 0.6} for _ in range(steps)]
        if number % 3 == 0:  # longer than the steps
            parts[-1] = {n: 2 * sum(seconds) for n in names}
        whole = sum(map(Fraction, seconds))
        want = {}
        for one in parts:
            for n, s in one.items():
                want[n] = want.get(n, 0) + Fraction(s) / whole
        want["unexplained"] = 1 - sum(want.values())
        got = shares(list(seconds), [dict(one) for one in parts])
        assert got.keys() == want.keys(), (seconds, parts, got)
        assert all(abs(got[n] - float(want[n])) < 1e-9 for n in want), (seconds, parts, got)
''',
    "NumPy: a matrix of steps and parts, column sums over the total": '''def shares_test(shares):
    names = ["work", "wait", "rest of it"]
    for lengths, table in [
        ([1.0, 9.0], [[0.5, 0.0, 0.25], [2.0, 3.0, 0.0]]),
        ([9.0, 1.0], [[2.0, 3.0, 0.0], [0.5, 0.0, 0.25]]),
        ([2.0, 5.0, 1.0], [[0.0, 1.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.5]]),
        ([1.0, 2.0], [[3.0, 1.0, 0.0], [0.0, 0.5, 4.0]]),
        ([4.0], [[1.0, 2.0, 0.5]]),
        ([2.0, 6.0], [[3.0, 0.5, 0.0], [1.0, 0.0, 1.0]]),
        ([3.0, 3.0, 3.0], [[1.0, 1.0, 1.0]] * 3),
    ]:
        table = np.array(table)
        want = table.sum(axis=0) / np.sum(lengths)
        parts = [{n: float(s) for n, s in zip(names, row) if s} for row in table]
        got = dict(shares(list(lengths), parts))
        assert "unexplained" in got
        rest = got.pop("unexplained")
        assert sorted(got) == sorted(names)
        np.testing.assert_allclose([got[n] for n in names], want, rtol=0, atol=1e-9)
        np.testing.assert_allclose(rest, 1 - want.sum(), rtol=0, atol=1e-9)
''',
    "unittest's assertAlmostEqual, one question after the other": '''import unittest


def shares_test(shares):
    t = unittest.TestCase()

    def ask(seconds, parts, **want):
        got = shares(seconds, parts)
        t.assertEqual(sorted(got), sorted(want))
        for name, share in want.items():
            t.assertAlmostEqual(got[name], share, places=9)
        t.assertAlmostEqual(sum(got.values()), 1.0, places=9)

    ask([2, 2], [{"work": 1}, {"work": 2}], work=0.75, unexplained=0.25)
    ask([10, 30], [{"x": 5}, {"x": 3, "y": 8}], x=0.2, y=0.2, unexplained=0.6)
    ask([30, 10], [{"x": 3, "y": 8}, {"x": 5}], x=0.2, y=0.2, unexplained=0.6)
    ask([10, 30, 60], [{"x": 5}, {"y": 10}, {"z": 20, "x": 1}], x=0.06, y=0.1, z=0.2, unexplained=0.64)
    ask([1, 3], [{"x": 3}, {"x": 3}], x=1.5, unexplained=-0.5)
    ask([1, 3], [{"x": 2}, {"y": 1}], x=0.5, y=0.25, unexplained=0.25)
    ask([2], [{"x": 0.5}], x=0.25, unexplained=0.75)
    ask([1, 7], [{"x": 1}, {"x": 7}], x=1.0, unexplained=0.0)
    ask([4, 4], [{}, {"x": 2, "y": 1}], x=0.25, y=0.125, unexplained=0.625)
''',
    "laws instead of numbers: the sum, the scale, the order of steps, and steps laid together": '''def shares_test(shares):
    def close(one, two):
        assert set(one) == set(two), (one, two)
        assert all(abs(one[n] - two[n]) < 1e-8 for n in two), (one, two)

    sets = [
        ([1.0, 4.0, 3.0], [{"a": 0.5}, {"a": 1.0, "b": 2.0}, {"c": 0.75}]),
        ([5.0, 1.0], [{"b": 1.0}, {"a": 0.5, "b": 0.25}]),
        ([1.0, 2.0], [{"a": 4.0}, {"a": 0.5, "b": 1.0}]),
        ([1.0, 6.0], [{"a": 2.0}, {"a": 1.0}]),
        ([2.0, 2.0], [{"a": 1.0}, {"b": 0.5}]),
    ]
    for seconds, parts in sets:
        got = shares(list(seconds), [dict(p) for p in parts])
        assert abs(sum(got.values()) - 1) < 1e-9
        close(shares(seconds[::-1], [dict(p) for p in parts[::-1]]), got)  # the order of steps
        close(shares([3 * s for s in seconds], [{n: 3 * s for n, s in p.items()} for p in parts]), got)
        whole = {n: sum(p.get(n, 0) for p in parts) for p in parts for n in p}
        close(shares([sum(seconds)], [whole]), got)  # one long step
        for n, s in whole.items():
            assert abs(got[n] * sum(seconds) - s) < 1e-8, (n, got)
        assert abs(got["unexplained"] - (1 - sum(whole.values()) / sum(seconds))) < 1e-9
''',
}

WRONG["shares-test"] = {
    "only the example of the text: steps of one length, one part": '''def shares_test(shares):
    got = shares([2, 2], [{"work": 1}, {"work": 2}])
    assert abs(got["work"] - 0.75) < 1e-9 and abs(got["unexplained"] - 0.25) < 1e-9
''',
    "only that the shares add up to 1": '''def shares_test(shares):
    for seconds, parts in ([2, 2], [{"work": 1}, {"work": 2}]), ([1, 4], [{"a": 2}, {"b": 1}]), ([2], [{"a": 3}]):
        assert abs(sum(shares(seconds, parts).values()) - 1) < 1e-9
''',
    "compares without assert: nothing can fail": GOOD.replace("assert ", "", 2).replace(", (got, want)", "").replace(", (name, got, want)", ""),
    "asserts a pair, which is always true": _cut(GOOD, (
        "assert set(got) == set(want), (got, want)", "assert (set(got) == set(want), (got, want))"), (
        "assert abs(got[name] - want[name]) < 1e-9, (name, got, want)", 'assert (abs(got[name] - want[name]) < 1e-9, "share")')),
    "all steps have one length: a mean of the shares is not found": '''def shares_test(shares):
    for seconds, parts, want in [
        ([2, 2], [{"work": 1}, {"work": 2}], {"work": 0.75, "unexplained": 0.25}),
        ([5, 5], [{"a": 1}, {"a": 2, "b": 2}], {"a": 0.3, "b": 0.2, "unexplained": 0.5}),
        ([2, 2], [{"a": 3}, {"b": 3}], {"a": 0.75, "b": 0.75, "unexplained": -0.5}),
    ]:
        got = shares(seconds, parts)
        assert set(got) == set(want) and all(abs(got[n] - want[n]) < 1e-9 for n in want)
''',
    "one step only in every case": '''def shares_test(shares):
    for seconds, parts, want in [
        ([2], [{"a": 1}], {"a": 0.5, "unexplained": 0.5}),
        ([4], [{"a": 1, "b": 2}], {"a": 0.25, "b": 0.5, "unexplained": 0.25}),
        ([2], [{"a": 3}], {"a": 1.5, "unexplained": -0.5}),
    ]:
        got = shares(seconds, parts)
        assert set(got) == set(want) and all(abs(got[n] - want[n]) < 1e-9 for n in want)
''',
    "never a part that one step lacks": '''def shares_test(shares):
    for seconds, parts, want in [
        ([1, 3], [{"a": 0.5, "b": 0.25}, {"a": 1.5, "b": 0.75}], {"a": 0.5, "b": 0.25, "unexplained": 0.25}),
        ([1, 4], [{"a": 1}, {"a": 1}], {"a": 0.4, "unexplained": 0.6}),
        ([1, 4], [{"a": 3}, {"a": 5}], {"a": 1.6, "unexplained": -0.6}),
    ]:
        got = shares(seconds, parts)
        assert set(got) == set(want) and all(abs(got[n] - want[n]) < 1e-9 for n in want)
''',
    "never parts longer than the steps: a rest cut off at 0 is not found": '''def shares_test(shares):
    for seconds, parts, want in [
        ([1, 4], [{"a": 0.5, "b": 0.25}, {"a": 1}], {"a": 0.3, "b": 0.05, "unexplained": 0.65}),
        ([4, 1], [{"a": 1}, {"a": 0.5, "b": 0.25}], {"a": 0.3, "b": 0.05, "unexplained": 0.65}),
    ]:
        got = shares(seconds, parts)
        assert set(got) == set(want) and all(abs(got[n] - want[n]) < 1e-9 for n in want)
''',
    "wants a rest of at least 0: refuses the right versions": _cut(GOOD, (
        '{"a": 1.2, "b": 0.2, "unexplained": -0.4}', '{"a": 1.2, "b": 0.2, "unexplained": 0.0}')),
    "wants the mean of the shares of the steps: refuses the right versions": '''def shares_test(shares):
    got = shares([1, 3], [{"work": 1}, {"work": 1}])
    assert abs(got["work"] - (1 / 1 + 1 / 3) / 2) < 1e-9
    assert abs(got["unexplained"] - 1 / 3) < 1e-9
''',
    "wants the shares of the parts among themselves, without the rest": '''def shares_test(shares):
    got = shares([2, 2], [{"work": 1}, {"work": 1, "wait": 1}])
    assert abs(got["work"] - 2 / 3) < 1e-9 and abs(got["wait"] - 1 / 3) < 1e-9
''',
    "a tolerance of a half lets everything pass": _cut(GOOD, ("< 1e-9", "< 0.5"), (
        "        assert set(got) == set(want), (got, want)\n", "")),
    "its own assertion is caught and only printed": '''def shares_test(shares):
    try:
        got = shares([1, 3], [{"a": 1}, {"a": 1, "b": 1}])
        assert abs(got["a"] - 0.5) < 1e-9 and abs(got["b"] - 0.25) < 1e-9 and abs(got["unexplained"] - 0.25) < 1e-9
    except Exception as error:
        print("wrong:", error)
''',
    "only the keys are compared": _cut(GOOD, (
        "            assert abs(got[name] - want[name]) < 1e-9, (name, got, want)", "            assert name in got")),
    "only the rest is compared, in steps of one length, and never the parts": '''def shares_test(shares):
    got = shares([2, 2], [{"work": 1}, {"work": 2, "wait": 0.5}])
    assert abs(got["unexplained"] - 0.125) < 1e-9
''',
    "only the timed parts are compared, the rest never": _cut(GOOD, (
        "        assert set(got) == set(want), (got, want)\n        for name in want:", '        for name in set(want) - {"unexplained"}:')),
    # sly ones
    "a yield makes a generator of the test: its asserts never run": GOOD + "            yield name\n",
    "each case returns at once: only the first one is looked at": _cut(GOOD, (
        "            assert abs(got[name] - want[name]) < 1e-9, (name, got, want)",
        "            assert abs(got[name] - want[name]) < 1e-9, (name, got, want)\n        return")),
    "returns the truth value instead of asserting it": '''def shares_test(shares):
    got = shares([1, 3], [{"a": 3}, {"a": 3, "b": 1}])
    return abs(got["a"] - 1.5) < 1e-9 and abs(got["b"] - 0.25) < 1e-9 and abs(got["unexplained"] + 0.75) < 1e-9 or None
''',
    "shares too small are let through: only too large ones fail, and the rest is not looked at": _cut(GOOD, (
        "        assert set(got) == set(want), (got, want)\n        for name in want:", '        for name in set(want) - {"unexplained"}:'), (
        "abs(got[name] - want[name]) < 1e-9", "got.get(name, 0) - want[name] < 1e-9")),
    "compares the function with itself": '''def shares_test(shares):
    for seconds, parts in ([1, 3], [{"a": 1}, {"b": 1}]), ([2], [{"a": 3}]):
        first, second = shares(seconds, parts), shares(seconds, parts)
        assert first.keys() == second.keys() and all(abs(first[n] - second[n]) < 1e-9 for n in first)
''',
    "asserts that every share lies between 0 and 1: refuses the right versions where the rest is below 0": _cut(GOOD, (
        "        for name in want:", "        assert all(0 <= share <= 1 for share in got.values())\n        for name in want:")),
    "the loop over the cases is empty": _cut(GOOD, ("for seconds, parts, want in cases:", "for seconds, parts, want in cases[len(cases):]:")),
}

# ---------------------------------------------------------------------------------- diagnose
GOOD = '''def diagnose(visits):
    """{"cause", "gain", "low", "high"}: why the setting with the most rows is not faster."""
    differ = [key for key in ("model", "data", "device") if len({v[key] for v in visits}) > 1]
    if differ:
        raise ValueError("visits differ in " + ", ".join(differ))
    rows = sorted({v["rows"] for v in visits})
    at = {(v["round"], v["rows"]): v for v in visits}
    rounds = sorted({v["round"] for v in visits})
    gains = gains_of(visits)

    def rate(v):
        return v["real_tokens"] / v["seconds"]

    def values_of(cause):
        return [gains[number][cause] for number in rounds]

    if any(at[number, rows[-1]]["retries"] for number in rounds):
        cause = "memory"
        values = [rate(at[number, rows[-2]]) / rate(at[number, rows[-1]]) - 1 for number in rounds]
    else:
        mean = {name: sum(values_of(name)) / len(rounds) for name in CURES}
        cause = max(mean, key=mean.get)
        values = values_of(cause)
        if mean[cause] < 0.05:
            cause, values = "saturation", values_of("launch")
    n = len(values)
    gain = sum(values) / n
    s = (sum((x - gain) ** 2 for x in values) / (n - 1)) ** 0.5
    half = T90[n] * s / n ** 0.5
    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}
'''

RIGHT["diagnose"] = {
    "the given gains of every round, plain sums": GOOD,
    "by the statistics module, round by round with its own parts": '''import statistics


def diagnose(visits):
    for key in ("model", "data", "device"):
        if any(v[key] != visits[0][key] for v in visits):
            raise ValueError(f"visits of more than one {key}")
    most = max(v["rows"] for v in visits)
    less = max(v["rows"] for v in visits if v["rows"] < most)
    pressed = any(v["retries"] > 0 for v in visits if v["rows"] == most)
    collected = {name: [] for name in [*CURES, "memory"]}
    for number in {v["round"] for v in visits}:
        here = {v["rows"]: v for v in visits if v["round"] == number}
        parts = step_parts(here[most], *prices(list(here.values())))
        for name, keep in CURES.items():
            collected[name].append(cure_gain(parts, keep))
        collected["memory"].append(speed_up([here[most]], [here[less]]) - 1)
    if pressed:
        name = told = "memory"
    else:
        told = name = max(CURES, key=lambda one: statistics.mean(collected[one]))
        if statistics.mean(collected[name]) < 0.05:
            told, name = "saturation", "launch"
    mean, spread = statistics.mean(collected[name]), statistics.stdev(collected[name])
    off = T90[len(collected[name])] * spread / len(collected[name]) ** 0.5
    return dict(cause=told, gain=mean, low=mean - off, high=mean + off)
''',
    "a NumPy table of rounds and cures": '''def diagnose(visits):
    bad = [k for k in ("model", "data", "device") if len(set(v[k] for v in visits)) != 1]
    if bad:
        raise ValueError(str(bad))
    numbers = np.unique([v["round"] for v in visits])
    grid = np.unique([v["rows"] for v in visits])
    names = list(CURES)
    table, memory, retried = [], [], 0
    for number in numbers:
        here = [v for v in visits if v["round"] == number]
        own = next(v for v in here if v["rows"] == grid[-1])
        next_ = next(v for v in here if v["rows"] == grid[-2])
        parts = step_parts(own, *prices(here))
        table.append([cure_gain(parts, CURES[name]) for name in names])
        memory.append(next_["real_tokens"] / next_["seconds"] * own["seconds"] / own["real_tokens"] - 1)
        retried += own["retries"]
    table = np.array(table)
    best = int(table.mean(axis=0).argmax())
    cause, values = names[best], table[:, best]
    if table.mean(axis=0)[best] < 0.05:
        cause, values = "saturation", table[:, names.index("launch")]
    if retried:
        cause, values = "memory", np.array(memory)
    gain, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    return {"cause": cause, "gain": gain, "low": gain - T90[len(values)] * error, "high": gain + T90[len(values)] * error}
''',
    "visits sorted and grouped, the gains are formulas of the time and not of the parts": '''from itertools import groupby
from statistics import fmean, stdev


def diagnose(visits):
    for key in ("model", "data", "device"):
        values = {v[key] for v in visits}
        if len(values) > 1:
            raise ValueError(key + " differs")
    ordered = sorted(visits, key=lambda v: (v["round"], v["rows"]))
    rounds = [list(group) for _, group in groupby(ordered, key=lambda v: v["round"])]

    def gains(here):
        own, n = here[-1], here[-1]["steps"]
        fixed, slot = prices(here)
        whole = own["seconds"]
        work = fixed * own["micro_batches"] + slot * own["slots"]
        goes = {"padding": slot * (own["slots"] - own["real_tokens"]), "recomputation": work / 3 if own["checkpointing"] else 0,
                "input": own["input_seconds"], "host": own["host_seconds"], "launch": fixed * own["micro_batches"] / 2}
        return {name: whole / (whole - gone) - 1 for name, gone in goes.items()}

    if any(here[-1]["retries"] for here in rounds):
        told, found = "memory", [here[-2]["real_tokens"] * here[-1]["seconds"] / (here[-2]["seconds"] * here[-1]["real_tokens"]) - 1
                                 for here in rounds]
    else:
        each = [gains(here) for here in rounds]
        told = max(each[0], key=lambda name: fmean(one[name] for one in each))
        found = [one[told] for one in each]
        if fmean(found) < 0.05:
            told, found = "saturation", [one["launch"] for one in each]
    half = T90[len(found)] * stdev(found) / len(found) ** 0.5
    return {"high": fmean(found) + half, "low": fmean(found) - half, "gain": fmean(found), "cause": told}
''',
    "a class, one method a question, torch for mean and deviation": '''import torch


class Doctor:
    def __init__(self, visits):
        self.visits = visits
        kinds = [key for key in ("model", "data", "device") for v in visits[1:] if v[key] != visits[0][key]]
        if kinds:
            raise ValueError(" ".join(sorted(set(kinds))))
        self.rows = sorted({v["rows"] for v in visits}, reverse=True)
        self.rounds = {}
        for v in visits:
            self.rounds.setdefault(v["round"], {})[v["rows"]] = v

    def memory(self):
        return any(here[self.rows[0]]["retries"] for here in self.rounds.values())

    def fewer(self):
        return [speed_up([here[self.rows[0]]], [here[self.rows[1]]]) - 1 for here in self.rounds.values()]

    def cured(self, name):
        return [cure_gain(step_parts(here[self.rows[0]], *prices(list(here.values()))), CURES[name])
                for here in self.rounds.values()]

    def verdict(self):
        if self.memory():
            return "memory", self.fewer()
        name, values = max(((one, self.cured(one)) for one in CURES), key=lambda pair: sum(pair[1]))
        return (name, values) if sum(values) / len(values) >= 0.05 else ("saturation", self.cured("launch"))


def diagnose(visits):
    cause, values = Doctor(visits).verdict()
    x = torch.tensor(values, dtype=torch.float64)
    gain, error = x.mean().item(), x.std(unbiased=True).item() / len(x) ** 0.5
    return {"cause": cause, "gain": gain, "low": gain - T90[len(x)] * error, "high": gain + T90[len(x)] * error}
''',
    "recursion over the rounds": '''def diagnose(visits):
    different = sorted({k for v in visits for w in visits[:1] for k in ("model", "data", "device") if v[k] != w[k]})
    if different:
        raise ValueError("mixed: " + ", ".join(different))
    numbers = sorted({v["round"] for v in visits})
    most, second = sorted({v["rows"] for v in visits})[::-1][:2]

    def collect(left):
        if not left:
            return []
        here = [v for v in visits if v["round"] == left[0]]
        (own,), (other,) = ([v for v in here if v["rows"] == r] for r in (most, second))
        fixed, slot = prices(here)
        parts = step_parts(own, fixed, slot)
        row = {name: cure_gain(parts, keep) for name, keep in CURES.items()}
        row["memory"] = speed_up([own], [other]) - 1
        row["retries"] = own["retries"]
        return [row, *collect(left[1:])]

    rows = collect(numbers)
    n = len(rows)

    def summed(name):
        values = [row[name] for row in rows]
        mean = sum(values) / n
        variance = (sum(x * x for x in (v - mean for v in values))) / (n - 1)
        return mean, T90[n] * (variance / n) ** 0.5

    if max(row["retries"] for row in rows) > 0:
        cause = key = "memory"
    else:
        cause = key = sorted(CURES, key=lambda name: summed(name)[0])[-1]
        if summed(key)[0] < 0.05:
            cause, key = "saturation", "launch"
    gain, half = summed(key)
    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}
''',
}

WRONG["diagnose"] = {
    "no root of n: the spread of the rounds, not of their mean": _cut(GOOD, ("T90[n] * s / n ** 0.5", "T90[n] * s")),
    "divides by n instead of its root": _cut(GOOD, ("T90[n] * s / n ** 0.5", "T90[n] * s / n")),
    "1.645 of the normal law instead of T90: too narrow with few rounds": _cut(GOOD, ("T90[n] *", "1.645 *")),
    "one row too low in the table: T90[n - 1]": _cut(GOOD, ("T90[n] *", "T90[n - 1] *")),
    "standard deviation over n: too narrow with three rounds": _cut(GOOD, ("/ (n - 1)) ** 0.5", "/ n) ** 0.5")),
    "variance instead of the standard deviation": _cut(GOOD, ("/ (n - 1)) ** 0.5", "/ (n - 1))")),
    "lowest and highest round instead of an interval of the mean": _cut(GOOD, (
        '"low": gain - half, "high": gain + half', '"low": min(values), "high": max(values)')),
    "half of the interval on each side": _cut(GOOD, ("half = T90[n] * s", "half = 0.5 * T90[n] * s")),
    "low and high changed over": _cut(GOOD, ('"low": gain - half, "high": gain + half', '"low": gain + half, "high": gain - half')),
    "all rounds are thrown together: one gain, an interval of its own width": _cut(GOOD, (
        "    n = len(values)\n    gain = sum(values) / n\n", "    n = len(values)\n    gain = sum(values) / n\n    values = [gain] * n\n")),
    "memory compares with half of the rows, whether they were swept or not": _cut(GOOD, (
        "rate(at[number, rows[-2]])", "rate(at[number, rows[-1] // 2])")),
    "memory compares with the fewest rows": _cut(GOOD, ("at[number, rows[-2]]", "at[number, rows[0]]")),
    "memory compares with the fastest of all fewer rows": _cut(GOOD, (
        "rate(at[number, rows[-2]])", "max(rate(at[number, r]) for r in rows[:-1])")),
    "memory compares seconds: visits with other steps and tokens mislead": _cut(GOOD, (
        "rate(at[number, rows[-2]]) / rate(at[number, rows[-1]])",
        'at[number, rows[-1]]["seconds"] / at[number, rows[-2]]["seconds"]')),
    "memory compares slots per second, padding with them": _cut(GOOD, ('return v["real_tokens"]', 'return v["slots"]')),
    "retries of fewer rows count, too": _cut(GOOD, (
        'any(at[number, rows[-1]]["retries"] for number in rounds)', 'any(v["retries"] for v in visits)')),
    "retries must show in every round": _cut(GOOD, ('any(at[number', 'all(at[number')),
    "retries are ignored": _cut(GOOD, ('any(at[number, rows[-1]]["retries"] for number in rounds)', "False")),
    "no bar: the largest gain is the cause, however small": _cut(GOOD, ("if mean[cause] < 0.05:", "if mean[cause] < 0:")),
    "the bar is 0.5": _cut(GOOD, ("mean[cause] < 0.05", "mean[cause] < 0.5")),
    "a saturated run gains 0 by definition": _cut(GOOD, (
        'cause, values = "saturation", values_of("launch")', 'cause, values = "saturation", [0.0] * len(rounds)')),
    "saturation keeps the largest gain instead of that of launch": _cut(GOOD, (
        'cause, values = "saturation", values_of("launch")', 'cause = "saturation"')),
    "launches removed whole instead of halved": _cut(GOOD, (
        "    def rate(v):",
        '''    for number, found in gains.items():
        here = [v for v in visits if v["round"] == number]
        found["launch"] = cure_gain(step_parts(at[number, rows[-1]], *prices(here)), {"launch": 0})

    def rate(v):''')),
    "the largest part is the cause, not the largest gain": _cut(GOOD, (
        "cause = max(mean, key=mean.get)",
        '''size = {name: 0.0 for name in CURES}
        for number in rounds:
            split = step_parts(at[number, rows[-1]], *prices([v for v in visits if v["round"] == number]))
            for name in CURES:
                size[name] += split[name]
        cause = max(size, key=size.get)''')),
    "the subject is the slowest setting instead of that with the most rows": _cut(GOOD, (
        '    gains = gains_of(visits)\n',
        '''    total = {r: sum(v["real_tokens"] for v in visits if v["rows"] == r) / sum(v["seconds"] for v in visits if v["rows"] == r) for r in rows}
    rows = [r for r in rows if r <= min(total, key=total.get)]
    rows = rows if len(rows) > 1 else sorted(total)[:2]
    gains = gains_of([v for v in visits if v["rows"] in rows])
''')),
    "rounds are taken to be numbered from 0": _cut(GOOD, (
        'rounds = sorted({v["round"] for v in visits})', 'rounds = list(range(len({v["round"] for v in visits})))')),
    "busy of 95 % and more is called saturation": _cut(GOOD, (
        "if mean[cause] < 0.05:", 'if mean[cause] < 0.05 or min(at[k, rows[-1]]["busy"] for k in rounds) >= 0.95:')),
    "visits of other devices are not refused": _cut(GOOD, ('("model", "data", "device")', '("model", "data")')),
    "the refusal does not name the key": _cut(GOOD, ('"visits differ in " + ", ".join(differ)', '"two runs in one sweep"')),
    "gain in per cent": _cut(GOOD, ('"gain": gain, "low": gain - half, "high": gain + half',
                                    '"gain": 100 * gain, "low": 100 * (gain - half), "high": 100 * (gain + half)')),
    "times as fast instead of gain": _cut(GOOD, ('"gain": gain, "low": gain - half, "high": gain + half',
                                                 '"gain": 1 + gain, "low": 1 + gain - half, "high": 1 + gain + half')),
    "sorts the caller's list in place": _cut(GOOD, (
        '    rows = sorted({v["rows"] for v in visits})', '    visits.sort(key=lambda v: (v["round"], v["rows"]))\n    rows = sorted({v["rows"] for v in visits})')),
    # sly ones
    "memory only if fewer rows were faster: retries without a gain are passed over": _cut(GOOD, (
        'if any(at[number, rows[-1]]["retries"] for number in rounds):',
        'if any(at[k, rows[-1]]["retries"] for k in rounds) and sum(rate(at[k, rows[-2]]) / rate(at[k, rows[-1]]) - 1 for k in rounds) > 0:')),
    "a single retry is taken for chance": _cut(GOOD, (
        'any(at[number, rows[-1]]["retries"] for number in rounds)', 'sum(at[number, rows[-1]]["retries"] for number in rounds) > 1')),
    "retries are read in the first round only": _cut(GOOD, (
        'any(at[number, rows[-1]]["retries"] for number in rounds)', 'at[rounds[0], rows[-1]]["retries"]')),
    "wherever checkpointing is on, recomputation is the cause": _cut(GOOD, (
        "cause = max(mean, key=mean.get)",
        'cause = "recomputation" if visits[0]["checkpointing"] else max(mean, key=mean.get)')),
    "low never goes below 0": _cut(GOOD, ('"low": gain - half', '"low": max(gain - half, 0.0)')),
    "gain and interval below 0 are cut off at 0": _cut(GOOD, (
        "    n = len(values)\n", "    values = [max(x, 0.0) for x in values]\n    n = len(values)\n")),
    "the middle round stands for the mean: one odd round is not seen": _cut(GOOD, (
        "    s = (", "    middle = sorted(values)\n    middle = (middle[(n - 1) // 2] + middle[n // 2]) / 2\n    s = ("), (
        '"gain": gain, "low": gain - half, "high": gain + half', '"gain": middle, "low": middle - half, "high": middle + half')),
    "the cause is the one that leads in most rounds, not that of the largest mean": _cut(GOOD, (
        "cause = max(mean, key=mean.get)",
        '''led = [max(gains[number], key=gains[number].get) for number in rounds]
        cause = max(CURES, key=led.count)''')),
    "the cause is the largest gain in any one round, not the largest mean": _cut(GOOD, (
        "cause = max(mean, key=mean.get)", "cause = max(CURES, key=lambda name: max(values_of(name)))")),
    "the bar is asked of the best round: one round above 0.05 is enough": _cut(GOOD, (
        "if mean[cause] < 0.05:", "if max(values) < 0.05:")),
    "the bar is asked of every round: one round below 0.05 is saturation": _cut(GOOD, (
        "if mean[cause] < 0.05:", "if min(values) < 0.05:")),
    "at most five rounds are read, the sixth is dropped": _cut(GOOD, (
        'rounds = sorted({v["round"] for v in visits})', 'rounds = sorted({v["round"] for v in visits})[:5]')),
    "only the mixed value of the examples is refused": _cut(GOOD, (
        "if len({v[key] for v in visits}) > 1", 'if any(v[key] == "another" for v in visits)')),
    "only the first, the last and the sixth visit are asked for their keys": _cut(GOOD, (
        "if len({v[key] for v in visits}) > 1", "if len({visits[k][key] for k in (0, 5, 6, -1, -2)}) > 1")),
    "remembers the diagnosis by model, data, device and size of the sweep: a second sweep of the same data gets the first answer": _cut(GOOD, (
        "def diagnose(visits):", "_files = {}\n\n\ndef diagnose(visits):"), (
        '    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}',
        '''    key = (visits[0]["model"], visits[0]["data"], visits[0]["device"], len(visits), rows[-1])
    return dict(_files.setdefault(key, {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}))''')),
    "host stalls are counted to the input: host is never the cause": _cut(GOOD, (
        "mean = {name: sum(values_of(name)) / len(rounds) for name in CURES}",
        'mean = {name: sum(values_of(name)) / len(rounds) for name in CURES if name != "host"}')),
    "intervals are widened to at least five per cent of the rate on each side": _cut(GOOD, (
        "half = T90[n] * s / n ** 0.5", "half = max(T90[n] * s / n ** 0.5, 0.05 * (1 + gain))")),
}
