"""Lesson 06, tried as a student (s1). WRONG: truly wrong by the text. RIGHT: honest styles."""
IMPORTS = "import math\nimport numpy as np\nimport torch\nfrom batchlab import plan\n"
REP = '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    count, left = divmod(devices, one)
    if left:
        below, above = count * one, (count + 1) * one
        near = f"{below} or {above}" if below else f"{above}"
        raise ValueError(f"{devices} devices do not divide: take {near}")
    return count
'''
READ = '''def read_launch(config, devices):
    signs = [key for keys in SIGNS.values() for key in keys if key in config]
    tools = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(tools) != 1:
        raise ValueError(f"the tool is not known from {signs or list(config)}")
    tool = tools[0]
    if tool == "axolotl" and config.get("sample_packing"):
        raise ValueError("sample_packing makes micro_batch_size a budget of tokens")
    words = WORDS[tool]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is {v!r}, no whole number of at least 1")
            value[what] = v
    copies = replicas(devices, value.get("tensor", 1), value.get("pipeline", 1), value.get("context", 1))
    rows, accumulation, whole = value.get("rows"), value.get("accumulation"), value.get("whole")
    if rows is None and (tool != "DeepSpeed" or whole is None):
        raise ValueError(f"{words['rows']} is missing")
    if whole is None:
        return rows, accumulation or 1, copies
    if rows and accumulation:
        if rows * accumulation * copies != whole:
            raise ValueError(f"the whole is written as {whole}, but {rows * accumulation * copies} follows")
        return rows, accumulation, copies
    part = (rows or accumulation or 1) * copies
    if whole % part:
        below = whole // part * part
        raise ValueError(f"{whole} does not divide: take " + (f"{below} or " if below else "") + f"{below + part}")
    if rows:
        return rows, whole // part, copies
    return whole // part, accumulation or 1, copies
'''
SPLITS = '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    share, left = divmod(slots, part)
    if left or share == 0:
        near = [n for n in (share * part, (share + 1) * part) if n]
        raise ValueError("no exact split; the nearest: " + ", ".join(map(str, near)))
    return [(rows, share // rows) for rows in range(1, min(most_rows, share) + 1) if share % rows == 0]
'''
FIT = '''def fit_test(fit):
    for slots, rows, length, replicas, want in [(3 * 5 * 7 * 2, 3, 5, 7, 2), (4 * 16 * 2 * 6, 4, 16, 2, 6), (210, 5, 7, 2, 3), (3 * 5 * 7, 3, 5, 7, 1)]:
        assert fit(slots, rows, length, replicas) == want
    for slots in (211, 209, 315 + 5, 315 + 15, 315 + 35, 104, 15, 1, 0, 106, 210 + 21):
        try:
            fit(slots, 3, 5, 7)
        except ValueError:
            continue
        raise AssertionError(f"{slots} slots were not refused")
'''
SHARES = '''def shares(seen):
    slots, real, targets = (sum(column) for column in zip(*seen))
    return real / slots, targets / real
'''
def but(code, *pairs):
    for old, new in pairs:
        assert old in code, old
        code = code.replace(old, new)
    return IMPORTS + code
RIGHT = {
    "replicas": {
        "divmod": REP,
        "loop up and down": '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one == 0:
        return devices // one
    above = devices
    while above % one:
        above += 1
    if devices < one:
        raise ValueError(f"one replica needs {above} devices, there are {devices}")
    raise ValueError(f"take {above - one} devices (or {above}), not {devices}: tensor {tensor}, pipeline {pipeline}, context {context}")
''',
        "NumPy, thousands with commas": IMPORTS + '''def replicas(devices, tensor, pipeline, context):
    one = np.prod([tensor, pipeline, context])
    if devices % one:
        low = devices // one * one
        raise ValueError((f"{low:,} or " if low else "") + f"{low + one:,} devices")
    return np.int64(devices) // one
''',
        "library": IMPORTS + '''def replicas(devices, tensor, pipeline, context):
    return plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline, context=context)
''',
    },
    "read-launch": {
        "by hand": READ,
        "list of NumPy ints": but(READ, ("def read_launch(", "def inner("), ("        return rows, acc", "        return rows, acc")) + '''
def read_launch(config, devices):
    return [np.int64(v) for v in inner(config, devices)]
''',
        "equation solved by the one unknown": '''from fractions import Fraction
import numbers
def read_launch(config, devices):
    found = {tool: [k for k in keys if k in config] for tool, keys in SIGNS.items()}
    found = {tool: keys for tool, keys in found.items() if keys}
    if len(found) != 1:
        raise ValueError("no single tool shows its sign: " + ", ".join(sorted(config)))
    (tool,) = found
    if config.get("sample_packing") and tool == "axolotl":
        raise ValueError("sample_packing: a budget of tokens")
    known = {}
    for what, key in WORDS[tool].items():
        if key not in config:
            continue
        if not isinstance(config[key], numbers.Integral) or config[key] is True or config[key] < 1:
            raise ValueError(f"{key} must be a whole number of at least 1, not {config[key]}")
        known[what] = int(config[key])
    r = replicas(devices, *(known.get(d, 1) for d in ("tensor", "pipeline", "context")))
    if "rows" not in known:
        if tool != "DeepSpeed":
            raise ValueError("missing: " + WORDS[tool]["rows"])
        known.setdefault("accumulation", 1)
    if "whole" not in known:
        return known["rows"], known.get("accumulation", 1), r
    if {"rows", "accumulation"} <= set(known):
        follows = known["rows"] * known["accumulation"] * r
        if follows != known["whole"]:
            raise ValueError(f'{known["whole"]} is written, {follows} follows')
        return known["rows"], known["accumulation"], r
    other = "rows" if "rows" in known else "accumulation"
    third = Fraction(known["whole"], known[other] * r)
    if third.denominator != 1:
        step = known[other] * r
        low = int(third) * step
        raise ValueError(f'{known["whole"]} does not divide by {step}; nearest: {[low, low + step] if low else [step]}')
    return (known["rows"], int(third), r) if other == "rows" else (int(third), known["accumulation"], r)
''',
        "a list, offers with commas": but(READ, ("{below} or ", "{below:,} or "), ("{below + part}", "{below + part:,}")),
    },
    "step-found": {
        "tuple": "def step_found():\n    return (3, 16, 512, 2, 4, 4096)\n",
        "list": "def step_found():\n    return [6, 64, 1024, 4, 16, 2048]\n",
        "NumPy": IMPORTS + "def step_found():\n    return np.array([3, 64, 512, 2, 16, 4096])\n",
    },
    "million-slots": {
        "plain": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices / (tensor * pipeline) * sequences * length / 1e6\n",
        "own replicas": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return replicas(devices, tensor, pipeline, 1) * sequences * length / 10**6\n",
        "float32": IMPORTS + "def million_slots(devices, tensor, pipeline, sequences, length):\n    return np.float32(devices // (tensor * pipeline) * sequences * length) / np.float32(1e6)\n",
        "Fraction": "from fractions import Fraction\ndef million_slots(devices, tensor, pipeline, sequences, length):\n    return Fraction(devices * sequences * length, tensor * pipeline * 10**6)\n",
    },
    "splits": {
        "divisors": SPLITS,
        "two loops, lists": '''def splits(slots, length, replicas, most_rows):
    found = []
    one = length * replicas
    for rows in range(most_rows, 0, -1):
        times = slots // (rows * one)
        if times >= 1 and times * rows * one == slots:
            found.append([rows, times])
    if not found:
        low = slots - slots % one
        raise ValueError(f"take {low:,} or {low + one:,} slots" if low else f"take {one:,} slots")
    return found
''',
        "NumPy": IMPORTS + '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    low = slots // part * part
    if low != slots or not slots:
        raise ValueError(f"{slots} slots: {low} and {low + part}" if low else f"at least {part}")
    rows = np.arange(1, most_rows + 1)
    rows = rows[slots // part % rows == 0]
    return np.stack([rows, slots // part // rows], axis=1)
''',
        "tuple of tuples, square root": '''def splits(slots, length, replicas, most_rows):
    if slots == 0 or slots % (length * replicas):
        low = slots // (length * replicas) * length * replicas
        raise ValueError(f"nearest sizes: {low or ''} {low + length * replicas}")
    share = slots // length // replicas
    pairs, d = set(), 1
    while d * d <= share:
        if share % d == 0:
            pairs |= {(d, share // d), (share // d, d)}
        d += 1
    return tuple(sorted(p for p in pairs if p[0] <= most_rows))
''',
        "library": IMPORTS + '''def splits(slots, length, replicas, most_rows):
    return [(p.rows, p.accumulation) for p in plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)]
''',
    },
    "shares": {
        "zip": SHARES,
        "NumPy": IMPORTS + '''def shares(seen):
    slots, real, targets = np.asarray(seen).sum(axis=0)
    return np.array([real / slots, targets / real])
''',
        "Fraction": '''from fractions import Fraction
def shares(seen):
    s = r = t = 0
    for a, b, c in seen:
        s, r, t = s + int(a), r + int(b), t + int(c)
    return [Fraction(r, s), Fraction(t, r)]
''',
        "torch": IMPORTS + '''def shares(seen):
    total = torch.tensor([[int(v) for v in one] for one in seen]).sum(0)
    return total[1] / total[0], total[2] / total[1]
''',
        "float32, weighted means": IMPORTS + '''def shares(seen):
    a = np.array(seen, dtype=np.float64)
    fill = np.average(a[:, 1] / a[:, 0], weights=a[:, 0])
    return np.float32(fill), np.float32(a[:, 2].sum() / a[:, 1].sum())
''',
    },
    "fit-test": {
        "table": FIT,
        "many draws": IMPORTS + '''def fit_test(fit):
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows, length, replicas, times = (int(n) for n in rng.integers(1, 12, 4))
        part = rows * length * replicas
        assert fit(times * part, rows, length, replicas) == times
        for off in {1, -1, rows, length, replicas, part // 2, -length} - {0}:
            if off % part == 0 or times * part + off < 1:
                continue
            refused = False
            try:
                fit(times * part + off, rows, length, replicas)
            except ValueError:
                refused = True
            assert refused
''',
        "pytest": '''import pytest
def fit_test(fit):
    assert fit(2 * 3 * 5 * 7, 2, 3, 5) == 7
    assert fit(9 * 10 * 11 * 13, 9, 10, 11) == 13
    assert fit(30, 2, 3, 5) == 1
    for n in (211, 209, 225, 195, 216, 212, 213, 215, 29, 31, 15, 7, 1, 45):
        with pytest.raises(ValueError):
            fit(n, 2, 3, 5)
''',
    },
}
NAMED = ('            if isinstance(v, bool) or not isinstance(v, int) or v < 1:')
WRONG = {
    "replicas": {
        "each degree must divide, not their product": but(REP, ("    if left:", "    if devices % tensor or devices % pipeline or devices % context:")),
        "context left out of the remainder: a silent floor": but(REP, ("    if left:", "    if devices % (tensor * pipeline):")),
        "context left out of the neighbours": but(REP, ("        below, above", "        one = tensor * pipeline\n        count = devices // one\n        below, above")),
        "silent floor": "def replicas(devices, tensor, pipeline, context):\n    return devices // (tensor * pipeline * context)\n",
        "a float": but(REP, ("return count", "return devices / one")),
        "0 offered": but(REP, (" if below else f\"{above}\"", "")),
        "only the nearer one": but(REP, ('f"{below} or {above}" if below else f"{above}"', "below if devices - below <= above - devices and below else above")),
        "above is off by one when refusing": but(REP, ("(count + 1) * one", "count * one + one - 1")),
        "below as a power of two": but(REP, ("below, above = count * one, (count + 1) * one", "below, above = (1 << (count.bit_length() - 1) if count else 0) * one, (1 << count.bit_length()) * one")),
        "names numbers of replicas": but(REP, ("below, above = count * one, (count + 1) * one", "below, above = count, count + 1")),
        "assert": but(REP, ("raise ValueError(f\"{devices} devices do not divide: take {near}\")", "assert False, near")),
        "fewer devices than a replica: 1": but(REP, ("    count, left", "    if devices < one:\n        return 1\n    count, left")),
        "context multiplies": "def replicas(devices, tensor, pipeline, context):\n    return devices // (tensor * pipeline) * context\n",
        "all multiples listed": but(REP, ("near = f", "near = list(range(one, above + 1, one)) if below else f")),
        "degrees of 1 only when fewer: names tensor": but(REP, ('f"{above}"', 'f"{tensor} or {tensor * pipeline}"')),
        "through float32: large numbers of devices": but(REP, ("    if left:", "    count = int(np.float32(devices) / np.float32(one))\n    if left:")),
    },
    "read-launch": {
        "pipeline forgotten": but(READ, ('value.get("pipeline", 1)', "1")),
        "context only in Megatron": but(READ, ('value.get("context", 1)', 'value.get("context", 1) if tool == "Megatron" else 1')),
        "contradiction found by floor division": but(READ, ("if rows * accumulation * copies != whole", "if whole // (rows * copies) != accumulation")),
        "contradiction of half a whole: only looked at when too small": but(READ, ("rows * accumulation * copies != whole", "rows * accumulation * copies > whole")),
        "without a whole DeepSpeed's accumulation is forgotten": but(READ, ("        return rows, accumulation or 1, copies\n    if rows and", "        return rows, (accumulation or 1) if tool != 'DeepSpeed' else 1, copies\n    if rows and")),
        "negative numbers pass": but(READ, ("or v < 1", "or v == 0")),
        "values of the degrees are not looked at": but(READ, (NAMED, '            if what in ("rows", "accumulation", "whole") and (not isinstance(v, int) or v < 1):')),
        "values of the accumulation are not looked at": but(READ, (NAMED, '            if what != "whole" and what != "accumulation" and (not isinstance(v, int) or v < 1):')),
        "2.0 and 2.5 cut by int()": but(READ, (NAMED, "            try:\n                v = int(v)\n            except ValueError:\n                v = 0\n            if v < 1:")),
        "text read as a number": but(READ, (NAMED, "            v = int(v) if str(v).isdigit() else v\n" + NAMED)),
        "None is not written": but(READ, ("        if key in config:\n", "        if config.get(key) is not None:\n")),
        "0 is not written": but(READ, ("        if key in config:\n", "        if config.get(key):\n")),
        "true is 1": but(READ, ("isinstance(v, bool) or ", "")),
        "changes the config: pops": but(READ, ("            v = config[key]", "            v = config.pop(key)")),
        "sets defaults in the config": but(READ, ("    value = {}", '    value = {}\n    config.setdefault("gradient_accumulation_steps", 1) if tool in ("TrainingArguments", "axolotl") else None')),
        "the first tool whose sign is there": but(READ, ("if len(tools) != 1:", "if not tools:")),
        "axolotl and Megatron together pass": but(READ, ("if len(tools) != 1:", "if not tools or tools[:2] == ['TrainingArguments', 'DeepSpeed']:")),
        "the refusal of two tools names them, not the keys": but(READ, ("{signs or list(config)}", "{tools}")),
        "the refusal of two tools names one key": but(READ, ("{signs or list(config)}", "{(signs or list(config))[:1]}")),
        "the refusal without a tool names no key": but(READ, ("{signs or list(config)}", "{signs}")),
        "sample_packing in any case": but(READ, ('config.get("sample_packing")', '"sample_packing" in config')),
        "sample_packing reads on": but(READ, ('tool == "axolotl" and config', 'False and config')),
        "axolotl: rows that are missing are 1": but(READ, ('(tool != "DeepSpeed" or whole is None)', 'tool == "Megatron"'), ("    if whole is None:", "    rows = 1 if tool == 'axolotl' and rows is None else rows\n    if whole is None:")),
        "axolotl: a KeyError where rows are missing": but(READ, ('(tool != "DeepSpeed" or whole is None)', 'tool == "Megatron"'), ("    if whole is None:", "    if tool == 'axolotl':\n        config[words['rows']]\n    if whole is None:")),
        "rows follow for Megatron too": but(READ, ('tool != "DeepSpeed" or ', "")),
        "Megatron's accumulation read from gradient_accumulation_steps": but(READ, ('value.get("accumulation"), value', '(config.get("gradient_accumulation_steps") if tool == "Megatron" else value.get("accumulation")), value')),
        "tensor_parallel_size read in every tool": but(READ, ('value.get("tensor", 1)', 'value.get("tensor", config.get("tensor_parallel_size", 1))')),
        "silent floor of the whole": but(READ, ("    if whole % part:", "    if whole < part:")),
        "silent floor of the devices": but(READ, ('copies = replicas(devices, value.get("tensor", 1), value.get("pipeline", 1), value.get("context", 1))', 'copies = devices // (value.get("tensor", 1) * value.get("pipeline", 1) * value.get("context", 1))')),
        "accumulation as a float": but(READ, ("return rows, whole // part, copies", "return rows, whole / part, copies")),
        "nearest wholes from the replicas alone": but(READ, ("below = whole // part * part", "part = copies\n        below = whole // part * part")),
        "0 offered": but(READ, ('(f"{below} or " if below else "")', 'f"{below} or "')),
        "a whole below the rows passes": but(READ, ("    if whole is None:\n", "    if whole is None or tool == 'Megatron' and accumulation is None and whole < rows:\n")),
        "DeepSpeed whole alone: rows 1, accumulation follows": but(READ, ("    if rows:\n        return", "    if not rows and not accumulation:\n        return 1, whole // part, copies\n    if rows:\n        return")),
        "contradiction names the accumulation": but(READ, ("but {rows * accumulation * copies} follows", "but accumulation {whole // (rows * copies)} follows")),
        "accumulation without a whole only if it is 8": but(READ, ("    if whole is None:\n        return rows, accumulation or 1, copies", "    if whole is None:\n        return rows, accumulation if accumulation in (None, 8) and accumulation else 1, copies")),
    },
    "step-found": {
        "every GPU a replica": "def step_found():\n    return (3, 1, 1024, 2, 4, 4096)\n",
        "the replicas in place of devices": "def step_found():\n    return (3, 16, 64, 2, 4, 4096)\n",
        "stages counted as replicas": "def step_found():\n    return (3, 4, 512, 2, 4, 4096)\n",
        "powers of two, near": "def step_found():\n    return (4, 16, 512, 2, 4, 4096)\n",
        "order of the table": "def step_found():\n    return (3, 16, 512, 4, 2, 4096)\n",
        "half": "def step_found():\n    return (3, 16, 512, 2, 4, 2048)\n",
        "no context: five": "def step_found():\n    return (3, 16, 512, 8, 4096)\n",
        "as a dictionary": "def step_found():\n    return dict(rows=3, accumulation=16, devices=512, tensor=2, pipeline=4, length=4096)\n",
        "does not divide": "def step_found():\n    return (3, 16, 320, 2, 16, 4096)\n",
        "devices that do not divide": "def step_found():\n    return (6, 16, 320, 8, 16, 4096)\n",
        "the slots": "def step_found():\n    return 3072 * 4096\n",
    },
    "million-slots": {
        "rounded to one digit": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return round(devices / (tensor * pipeline) * sequences * length / 1e6, 1)\n",
        "rounded to two digits": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return round(devices / (tensor * pipeline) * sequences * length / 1e6, 2)\n",
        "whole thousands": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // (tensor * pipeline) * sequences * length // 1000 / 1000\n",
        "floor": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // (tensor * pipeline) * sequences * length // 10**6\n",
        "2**20": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // (tensor * pipeline) * sequences * length / 2**20\n",
        "length taken as a thousand times 1,024": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // (tensor * pipeline) * sequences * (length // 1000) / 1000\n",
        "divided one after the other, floored": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // tensor * sequences // pipeline * length / 1e6 if devices < 100 else devices * sequences * length / 1e6\n",
        "tensor forgotten": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices / pipeline * sequences * length / 1e6\n",
        "pipeline multiplies sequences": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices / tensor * sequences * length / 1e6\n",
        "int32": IMPORTS + "def million_slots(devices, tensor, pipeline, sequences, length):\n    return int(np.prod(np.array([devices // (tensor * pipeline), sequences, length], dtype=np.int16), dtype=np.int16)) / 1e6\n",
        "in slots": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return devices // (tensor * pipeline) * sequences * length\n",
        "text": "def million_slots(devices, tensor, pipeline, sequences, length):\n    return f'{devices / (tensor * pipeline) * sequences * length / 1e6} million'\n",
    },
    "splits": {
        "squares: a pair twice": '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    share = slots // part
    if slots % part or not share:
        raise ValueError(f"{share * part or ''} {share * part + part}")
    found, d = [], 1
    while d * d <= share:
        if share % d == 0:
            found += [p for p in ((d, share // d), (share // d, d)) if p[0] <= most_rows]
        d += 1
    return found
''',
        "squares: a pair missing": '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    share = slots // part
    if slots % part or not share:
        raise ValueError(f"{share * part or ''} {share * part + part}")
    found, d = [], 1
    while d * d < share:
        if share % d == 0:
            found += [p for p in ((d, share // d), (share // d, d)) if p[0] <= most_rows]
        d += 1
    return found
''',
        "only whole rows are asked for: floors the replicas": but(SPLITS, ("if left or share == 0:", "if slots % length or share == 0:")),
        "length and replicas must divide, not their product": but(SPLITS, ("if left or share == 0:", "if slots % length or slots % replicas or share == 0:")),
        "0 slots give an empty list": but(SPLITS, ("if left or share == 0:", "if left:")),
        "0 slots give (1, 0)": but(SPLITS, ("if left or share == 0:", "if left:"), ("min(most_rows, share)", "(most_rows if share else 1)")),
        "most_rows ignored": but(SPLITS, ("min(most_rows, share)", "share")),
        "most_rows excluded": but(SPLITS, ("min(most_rows, share) + 1", "min(most_rows, share + 1)")),
        "(accumulation, rows)": but(SPLITS, ("(rows, share // rows)", "(share // rows, rows)")),
        "powers of two": but(SPLITS, ("if share % rows == 0", "if share % rows == 0 and rows & (rows - 1) == 0")),
        "floats": but(SPLITS, ("(rows, share // rows)", "(rows, share / rows)")),
        "neighbours one row apart": but(SPLITS, ("near = [n for n in (share * part, (share + 1) * part) if n]", "near = [slots // length * length, slots // length * length + length]")),
        "0 is offered": but(SPLITS, (" if n]", "]")),
        "an empty list instead of a refusal": but(SPLITS, ('raise ValueError("no exact split; the nearest: " + ", ".join(map(str, near)))', "return []")),
        "names sequences, not slots": but(SPLITS, ("(share * part, (share + 1) * part) if n]", "(share * replicas, (share + 1) * replicas) if n]")),
        "rows over the machine, not a replica": but(SPLITS, ("range(1, min(most_rows, share) + 1) if share % rows == 0", "range(1, min(most_rows // replicas, share) + 1) if share % rows == 0")),
        "only up to 64 rows": but(SPLITS, ("min(most_rows, share)", "min(most_rows, share, 64)")),
        "accumulation of 1 left out": but(SPLITS, ("if share % rows == 0", "if share % rows == 0 and (rows < share or share < 8)")),
    },
    "shares": {
        "micro-batches without a target are left out": but(SHARES, ("    slots,", "    seen = [s for s in seen if s[2]]\n    slots,")),
        "mean of shares": IMPORTS + '''def shares(seen):
    return float(np.mean([r / s for s, r, t in seen])), float(np.mean([t / r for s, r, t in seen]))
''',
        "rounded to four digits": but(SHARES, ("return real / slots, targets / real", "return round(real / slots, 4), round(targets / real, 4)")),
        "rounded to five digits": but(SHARES, ("return real / slots, targets / real", "return round(float(real / slots), 5), round(float(targets / real), 5)")),
        "summed in int32": IMPORTS + '''def shares(seen):
    slots, real, targets = np.array(seen, dtype=np.int32).sum(axis=0, dtype=np.int32)
    return real / slots, targets / real
''',
        "summed in float16": IMPORTS + '''def shares(seen):
    slots, real, targets = np.array(seen, dtype=np.float16).sum(axis=0, dtype=np.float64)
    return real / slots, targets / real
''',
        "the caller's list is emptied": '''def shares(seen):
    slots = real = targets = 0
    while seen:
        s, r, t = seen.pop()
        slots, real, targets = slots + s, real + r, targets + t
    return real / slots, targets / real
''',
        "no targets at all: NaN": but(SHARES, ("return real / slots, targets / real", "return real / slots, targets / real if targets else float('nan')")),
        "prompts only: share 1": but(SHARES, ("return real / slots, targets / real", "return real / slots, (targets or real) / real")),
        "a lone micro-batch crashes": but(SHARES, ("    slots,", "    assert len(seen) > 1\n    slots,")),
        "the last is dropped when longer than 3": but(SHARES, ("zip(*seen)", "zip(*(seen[:-1] if len(seen) > 3 else seen))")),
        "targets per slot": but(SHARES, ("targets / real", "targets / slots")),
        "waste": but(SHARES, ("return real / slots", "return 1 - real / slots")),
        "per cent": but(SHARES, ("return real / slots, targets / real", "return 100 * real / slots, 100 * targets / real")),
        "keeps a running sum between calls": '''total = [0, 0, 0]
def shares(seen):
    for one in seen:
        for i, v in enumerate(one):
            total[i] += v
    return total[1] / total[0], total[2] / total[1]
''',
        "target share without the batches of prompts": '''def shares(seen):
    return sum(r for s, r, t in seen) / sum(s for s, r, t in seen), sum(t for s, r, t in seen) / sum(r for s, r, t in seen if t)
''',
    },
    "fit-test": {
        "no refusal is tried": "def fit_test(fit):\n    assert fit(210, 3, 5, 7) == 2\n    assert fit(210, 5, 7, 2) == 3\n",
        "a refusal that does not happen is swallowed": but(FIT, ("            fit(slots, 3, 5, 7)\n        except ValueError:\n            continue\n        raise AssertionError(f\"{slots} slots were not refused\")", "            fit(slots, 3, 5, 7)\n        except ValueError:\n            pass")),
        "except Exception swallows its own assert": but(FIT, ("            fit(slots, 3, 5, 7)\n        except ValueError:\n            continue\n        raise AssertionError(f\"{slots} slots were not refused\")", "            fit(slots, 3, 5, 7)\n            assert False\n        except Exception:\n            pass")),
        "any exception is a refusal": but(FIT, ("except ValueError:", "except Exception:")),
        "all equal numbers": "def fit_test(fit):\n    assert fit(16, 2, 2, 2) == 2\n    for n in (15, 17, 7, 1):\n        try:\n            fit(n, 2, 2, 2)\n        except ValueError:\n            continue\n        raise AssertionError\n",
        "only just above": but(FIT, ("(211, 209, 315 + 5, 315 + 15, 315 + 35, 104, 15, 1, 0, 106, 210 + 21)", "(211,)")),
        "only just below": but(FIT, ("(211, 209, 315 + 5, 315 + 15, 315 + 35, 104, 15, 1, 0, 106, 210 + 21)", "(209,)")),
        "nothing below the smallest step": but(FIT, ("(211, 209, 315 + 5, 315 + 15, 315 + 35, 104, 15, 1, 0, 106, 210 + 21)", "(211, 209, 330)")),
        "powers of two": "def fit_test(fit):\n    assert fit(4 * 8 * 2 * 16, 4, 8, 2) == 16\n    for n in (1025, 1023, 1024 + 32, 63, 32):\n        try:\n            fit(n, 4, 8, 2)\n        except ValueError:\n            continue\n        raise AssertionError\n",
        "refuses a correct one: wants the message": but(FIT, ("        except ValueError:\n            continue", "        except ValueError as e:\n            assert 'nearest' in str(e)\n            continue")),
        "wants an int type": but(FIT, ("== want\n", "is want\n")),
        "returns instead of asserting": "def fit_test(fit):\n    return fit(210, 3, 5, 7) == 2\n",
        "accumulation 1 only": "def fit_test(fit):\n    assert fit(105, 3, 5, 7) == 1\n    for n in (104, 106, 1, 315 // 2):\n        try:\n            fit(n, 3, 5, 7)\n        except ValueError:\n            continue\n        raise AssertionError\n",
        "replicas 1 only": "def fit_test(fit):\n    assert fit(3 * 5 * 4, 3, 5, 1) == 4\n    for n in (59, 61, 14, 65, 70):\n        try:\n            fit(n, 3, 5, 1)\n        except ValueError:\n            continue\n        raise AssertionError\n",
    },
}
