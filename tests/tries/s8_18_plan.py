# ruff: noqa
"""Answers of a fresh student of lesson 18, right and wrong, written from the student copy."""


def sub(text, *pairs):
    for old, new in pairs:
        assert text.count(old) >= 1, (old, text)
        text = text.replace(old, new)
    return text


RIGHT, WRONG = {}, {}

# ---------------------------------------------------------------- step-counts
SC = '''def step_counts(lengths, rows, sequences):
    found = []
    for start in range(0, len(rows), sequences):
        docs = [int(lengths[n]) for row in rows[start : start + sequences] for n in row]
        found.append((sum(docs), sum(docs) - len(docs)))
    return found
'''
RIGHT["step-counts"] = {
    "loop": SC,
    "counters, row by row": '''def step_counts(lengths, rows, sequences):
    out, tokens, targets, held = [], 0, 0, 0
    for row in rows:
        for n in row:
            tokens += int(lengths[n])
            targets += int(lengths[n]) - 1
        held += 1
        if held == sequences:
            out.append((tokens, targets))
            tokens = targets = held = 0
    if held:
        out.append((tokens, targets))
    return out
''',
    "numpy int64": '''def step_counts(lengths, rows, sequences):
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(rows):
        return []
    tokens = np.array([lengths[row].sum() for row in rows])
    targets = np.array([(lengths[row] - 1).sum() for row in rows])
    at = np.arange(0, len(rows), sequences)
    return list(zip(np.add.reduceat(tokens, at).tolist(), np.add.reduceat(targets, at).tolist()))
''',
    "torch int64": '''def step_counts(lengths, rows, sequences):
    many = torch.tensor([int(n) for n in lengths], dtype=torch.int64)
    out = []
    for k in range(-(-len(rows) // sequences)):
        picked = [n for row in rows[k * sequences : (k + 1) * sequences] for n in row]
        part = many[torch.tensor(picked, dtype=torch.long)]
        out.append((int(part.sum()), int((part - 1).sum())))
    return out
''',
    "numpy scalars returned": '''def step_counts(lengths, rows, sequences):
    lengths = np.asarray(lengths, dtype=np.int64)
    out = []
    for a in range(0, len(rows), sequences):
        docs = lengths[[n for row in rows[a : a + sequences] for n in row]]
        out.append((docs.sum(), docs.sum() - docs.size))
    return out
''',
}
WRONG["step-counts"] = {
    "one target fewer per row, not per document": sub(SC, ("sum(docs) - len(docs)", "sum(docs) - len(rows[start : start + sequences])")),
    "one target fewer per step": sub(SC, ("sum(docs) - len(docs)", "sum(docs) - 1")),
    "targets are the tokens": sub(SC, ("sum(docs) - len(docs)", "sum(docs)")),
    "short last step dropped": sub(SC, ("range(0, len(rows), sequences)", "range(0, len(rows) - sequences + 1, sequences)")),
    "rows' numbers ignored: documents in given order": '''def step_counts(lengths, rows, sequences):
    found, at = [], 0
    for start in range(0, len(rows), sequences):
        many = sum(len(row) for row in rows[start : start + sequences])
        docs = [int(n) for n in lengths[at : at + many]]
        at += many
        found.append((sum(docs), sum(docs) - len(docs)))
    return found
''',
    "a step is `sequences` documents": '''def step_counts(lengths, rows, sequences):
    flat = [n for row in rows for n in row]
    out = []
    for a in range(0, len(flat), sequences):
        docs = [int(lengths[n]) for n in flat[a : a + sequences]]
        out.append((sum(docs), sum(docs) - len(docs)))
    return out
''',
    "summed in the array's own type": '''def step_counts(lengths, rows, sequences):
    out = []
    for a in range(0, len(rows), sequences):
        docs = [lengths[n] for row in rows[a : a + sequences] for n in row]
        total = docs[0]
        for one in docs[1:]:
            total = total + one
        out.append((int(total), int(total) - len(docs)))
    return out
''',
    "int32 sums": '''def step_counts(lengths, rows, sequences):
    many = np.array(lengths).astype(np.int32)
    out = []
    for a in range(0, len(rows), sequences):
        docs = many[[n for row in rows[a : a + sequences] for n in row]]
        total = int(docs.sum(dtype=np.int32))
        out.append((total, total - len(docs)))
    return out
''',
    "float32 sums": '''def step_counts(lengths, rows, sequences):
    out = []
    for a in range(0, len(rows), sequences):
        docs = torch.tensor([float(lengths[n]) for row in rows[a : a + sequences] for n in row])
        out.append((int(docs.sum()), int(docs.sum()) - len(docs)))
    return out
''',
    "cumulative counts": '''def step_counts(lengths, rows, sequences):
    found, tokens, targets = [], 0, 0
    for start in range(0, len(rows), sequences):
        docs = [int(lengths[n]) for row in rows[start : start + sequences] for n in row]
        tokens += sum(docs)
        targets += sum(docs) - len(docs)
        found.append((tokens, targets))
    return found
''',
    "no rows make one empty step": sub(SC, ("    return found", "    return found or [(0, 0)]")),
    "(targets, tokens) swapped": sub(SC, ("(sum(docs), sum(docs) - len(docs))", "(sum(docs) - len(docs), sum(docs))")),
    "one-token documents keep a target": sub(SC, ("sum(docs) - len(docs)", "sum(max(n - 1, 1) for n in docs)")),
    "documents of one token left out": sub(SC, ("for n in row]", "for n in row if lengths[n] > 1]")),
    "totals of the run as one pair": sub(SC, ("    return found", "    return [tuple(map(sum, zip(*found)))] if found else []")),
    "rows dealt out in strides": sub(SC, ("rows[start : start + sequences]", "rows[start // sequences :: -(-len(rows) // sequences)]")),
    "last document of a step has no target either (two fewer)": sub(SC, ("sum(docs) - len(docs)", "sum(docs) - len(docs) - 1")),
    "an extra empty step when rows divide": sub(SC, ("range(0, len(rows), sequences)", "range(0, len(rows) + 1, sequences)")),
    "state: appended to a default list": sub(SC, ("sequences):\n    found = []", "sequences, found=[]):")),
    "the caller's rows are used up": '''def step_counts(lengths, rows, sequences):
    out = []
    while rows:
        docs = []
        for _ in range(min(sequences, len(rows))):
            docs += [int(lengths[n]) for n in rows.pop(0)]
        out.append((sum(docs), sum(docs) - len(docs)))
    return out
''',
    "the caller's lengths are lowered in place": '''def step_counts(lengths, rows, sequences):
    out = []
    for a in range(0, len(rows), sequences):
        picked = [n for row in rows[a : a + sequences] for n in row]
        tokens = sum(int(lengths[n]) for n in picked)
        for n in picked:
            lengths[n] -= 1
        out.append((tokens, sum(int(lengths[n]) for n in picked)))
    return out
''',
    "short last step filled up from the first rows": sub(SC, ("    found = []", "    found = []\n    rows = list(rows) + list(rows)[: -len(rows) % sequences]")),
    "lists only: array by .tolist() of a sliced step fails on list": sub(SC, ("    found = []", "    found = []\n    lengths = lengths.tolist()")),
    "arrays only: fancy indexing a list": '''def step_counts(lengths, rows, sequences):
    out = []
    for a in range(0, len(rows), sequences):
        docs = lengths[[n for row in rows[a : a + sequences] for n in row]]
        out.append((int(docs.sum()), int(docs.sum()) - len(docs)))
    return out
''',
}

# ---------------------------------------------------------------- rollout
RO = '''def rollout(rows, accumulation, replicas, generations, steps):
    made = rows * steps * replicas
    if made % generations:
        below = made // generations * generations
        near = f"{below} or {below + generations}" if below else f"{below + generations}"
        raise ValueError(f"{made} completions are no whole prompts: take {near}")
    return {"completions": rows * accumulation * replicas, "prompts": made // generations,
            "updates": steps / accumulation}
'''
RIGHT["rollout"] = {
    "plain": RO,
    "Fraction": "from fractions import Fraction\n" + sub(RO, ("steps / accumulation", "Fraction(steps, accumulation)")),
    "divmod, message with commas and colon": '''def rollout(rows, accumulation, replicas, generations, steps):
    prompts, rest = divmod(rows * steps * replicas, generations)
    if rest:
        near = [n * generations for n in (prompts, prompts + 1) if n > 0]
        raise ValueError("completions that do: " + ", ".join(map(str, near)))
    step = rows * accumulation * replicas
    return dict(prompts=prompts, completions=step, updates=rows * steps * replicas / step)
''',
    "numpy": '''def rollout(rows, accumulation, replicas, generations, steps):
    made = np.int64(rows) * np.int64(steps) * np.int64(replicas)
    if made % generations != 0:
        below = int(np.floor_divide(made, generations)) * generations
        raise ValueError(" and ".join(f"{n:d}" for n in (below, below + generations) if n))
    return {"completions": np.int64(rows * accumulation * replicas), "prompts": np.int64(made // generations),
            "updates": np.float64(steps) / accumulation}
''',
    "thousands with commas in the message": sub(RO, ("{below} or {below + generations}", "{below:,} or {below + generations:,}"), ('f"{below + generations}"', 'f"{below + generations:,}"')),
    "whole updates as int": sub(RO, ('"updates": steps / accumulation', '"updates": steps // accumulation if steps % accumulation == 0 else steps / accumulation')),
    "torch": '''def rollout(rows, accumulation, replicas, generations, steps):
    made = int(torch.tensor([rows, steps, replicas], dtype=torch.int64).prod())
    if made % generations:
        up = -(-made // generations) * generations
        text = f"{up}" if up == generations else f"{up - generations} and {up}"
        raise ValueError(f"{generations} generations do not divide {made} completions; nearest: {text}.")
    return {"completions": rows * accumulation * replicas, "prompts": made // generations, "updates": steps / accumulation}
''',
}
WRONG["rollout"] = {
    "rows count prompts": sub(RO, ('"prompts": made // generations', '"prompts": made')),
    "completions times generations": sub(RO, ("rows * accumulation * replicas,", "rows * accumulation * replicas * generations,")),
    "completions of a rollout": sub(RO, ('"completions": rows * accumulation * replicas', '"completions": made')),
    "completions without replicas": sub(RO, ('"completions": rows * accumulation * replicas', '"completions": rows * accumulation')),
    "rollout without replicas": sub(RO, ("rows * steps * replicas", "rows * steps")),
    "prompts of one step": sub(RO, ('"prompts": made // generations', '"prompts": rows * accumulation * replicas // generations')),
    "updates floored": sub(RO, ("steps / accumulation", "steps // accumulation")),
    "updates rounded up": sub(RO, ("steps / accumulation", "-(-steps // accumulation)")),
    "updates inverted": sub(RO, ("steps / accumulation", "accumulation / steps")),
    "updates = steps": sub(RO, ("steps / accumulation", "steps")),
    "refuses when a step's completions do not divide": sub(RO, ("made = rows * steps * replicas", "made = rows * steps * replicas\n    if rows * accumulation * replicas % generations:\n        raise ValueError('a step needs whole prompts')")),
    "refuses when the updates do not divide": sub(RO, ("made = rows * steps * replicas", "made = rows * steps * replicas\n    if steps % accumulation:\n        raise ValueError('steps must divide')")),
    "refuses when a device's rows do not divide": sub(RO, ("made = rows * steps * replicas", "made = rows * steps * replicas\n    if rows * steps % generations:\n        raise ValueError('a device needs whole prompts')")),
    "no refusal": sub(RO, ("if made % generations:", "if False:")),
    "prompts rounded, no refusal, fraction": '''def rollout(rows, accumulation, replicas, generations, steps):
    return {"completions": rows * accumulation * replicas, "prompts": rows * steps * replicas / generations, "updates": steps / accumulation}
''',
    "names 0 below": sub(RO, ('if below else f"{below + generations}"', 'if True else ""')),
    "names prompts, not completions": sub(RO, ("{below} or {below + generations}", "{below // generations} or {below // generations + 1}"), ('f"{below + generations}"', 'f"{1}"')),
    "names only below": sub(RO, ("{below} or {below + generations}", "{below}")),
    "names only above": sub(RO, ("{below} or {below + generations}", "{below + generations}")),
    "above is two groups up": sub(RO, ("{below + generations}", "{below + 2 * generations}")),
    "refuses by an assert": sub(RO, ("if made % generations:", "assert made % generations == 0, 'does not divide'\n    if False:")),
    "names neighbours of the step's completions": sub(RO, ("below = made //", "below = rows * accumulation * replicas //")),
    "names completions plus and minus one": sub(RO, ("{below} or {below + generations}", "{made - 1} or {made + 1}"), ('f"{below + generations}"', 'f"{made + 1}"')),
    "float division loses large counts": sub(RO, ("below = made // generations * generations", "below = int(round(made / generations)) * generations")),
    "message has no number": sub(RO, ('f"{made} completions are no whole prompts: take {near}"', '"completions must be a multiple of the generations"')),
    "offers smallest multiple of lcm": "import math\n" + sub(RO, ("below = made // generations * generations", "generations = math.lcm(generations, rows * replicas)\n        below = made // generations * generations")),
    "clips 0 below to 1 group twice (names double)": sub(RO, ('if below else f"{below + generations}"', 'if below else f"{2 * generations}"')),
    "prompts as a float": sub(RO, ("made // generations,", "made / generations,")),
    "returns a tuple": '''def rollout(rows, accumulation, replicas, generations, steps):
    return rows * accumulation * replicas, rows * steps * replicas // generations, steps / accumulation
''',
}

# ---------------------------------------------------------------- run-bytes
RB = '''def run_bytes(sheet, tuning, slots):
    kind = tuning["kind"]
    adapters = 0 if kind == "full" else tuning["rank"] * sheet["adapter"]
    each = 0.5 + 4 / 64 if kind == "4-bit" else 2
    weights = each * sheet["linear"] + 2 * sheet["other"] + 4 * adapters
    if kind == "full":
        trained = sheet["linear"] + sheet["other"]
        gradients, optimizer = 2 * trained, 12 * trained
    else:
        gradients, optimizer = 4 * adapters, 8 * adapters
    return {"weights": weights, "gradients": gradients, "optimizer": optimizer,
            "activations": slots * sheet["layers"] * sheet["kept"],
            "logits": slots * 10 * sheet["vocabulary"]}
'''
RIGHT["run-bytes"] = {
    "if": RB,
    "table of numbers": '''def run_bytes(sheet, tuning, slots):
    table = {"full": (2, 0, 2, 12), "lora": (2, 4, 4, 8), "4-bit": (0.5625, 4, 4, 8)}
    linear, adapter, gradient, optimizer = table[tuning["kind"]]
    new = tuning.get("rank", 0) * sheet["adapter"]
    trained = sheet["linear"] + sheet["other"] if tuning["kind"] == "full" else new
    return {"logits": 10 * sheet["vocabulary"] * slots, "activations": sheet["kept"] * sheet["layers"] * slots,
            "optimizer": optimizer * trained, "gradients": gradient * trained,
            "weights": linear * sheet["linear"] + 2 * sheet["other"] + adapter * new}
''',
    "numpy floats": '''def run_bytes(sheet, tuning, slots):
    r = 0 if tuning["kind"] == "full" else tuning["rank"]
    counts = np.array([sheet["linear"], sheet["other"], r * sheet["adapter"]], dtype=np.float64)
    first = np.where(tuning["kind"] == "4-bit", 36 / 64, 2.0)
    trained = counts[:2].sum() if tuning["kind"] == "full" else counts[2]
    g, o = (2, 12) if tuning["kind"] == "full" else (4, 8)
    return {"weights": counts @ np.array([float(first), 2, 4]), "gradients": g * trained, "optimizer": o * trained,
            "activations": np.float64(slots) * sheet["layers"] * sheet["kept"], "logits": np.float64(slots) * 10 * sheet["vocabulary"]}
''',
    "torch float64, items": '''def run_bytes(sheet, tuning, slots):
    full = tuning["kind"] == "full"
    extra = 0 if full else sheet["adapter"] * tuning["rank"]
    sizes = torch.tensor([sheet["linear"], sheet["other"], extra], dtype=torch.float64)
    per = torch.tensor([0.5625 if tuning["kind"] == "4-bit" else 2.0, 2.0, 4.0], dtype=torch.float64)
    trained = (sizes[:2].sum() if full else sizes[2]).item()
    return {"weights": (sizes * per).sum().item(), "gradients": trained * (2 if full else 4),
            "optimizer": trained * (12 if full else 8), "activations": float(slots * sheet["layers"] * sheet["kept"]),
            "logits": float(slots * 10 * sheet["vocabulary"])}
''',
    "whole bytes, rounded up": sub(RB, ('"weights": weights,', '"weights": int(-(-weights // 1)),')),
}
WRONG["run-bytes"] = {
    "rank ignored": sub(RB, ('tuning["rank"] * sheet["adapter"]', 'sheet["adapter"]')),
    "full tuning has adapters too": sub(RB, ('0 if kind == "full" else ', "")),
    "4-bit: 0.5 without scale": sub(RB, ("0.5 + 4 / 64", "0.5")),
    "4-bit: other also quantized": sub(RB, ('2 * sheet["other"]', 'each * sheet["other"]')),
    "4-bit: scale is 4 bits a block": sub(RB, ("4 / 64", "0.5 / 64")),
    "4-bit: 4 bytes": sub(RB, ("0.5 + 4 / 64", "4 + 4 / 64")),
    "4-bit: scale once more for double quantization 8/64": sub(RB, ("4 / 64", "8 / 64")),
    "adapters at 2 bytes": sub(RB, ("4 * adapters\n    if", "2 * adapters\n    if")),
    "adapters left out of the weights": sub(RB, (" + 4 * adapters\n    if", "\n    if")),
    "adapters' gradient at 2 bytes": sub(RB, ("4 * adapters, 8 * adapters", "2 * adapters, 8 * adapters")),
    "adapters' optimizer at 12 bytes": sub(RB, ("4 * adapters, 8 * adapters", "4 * adapters, 12 * adapters")),
    "full: optimizer at 8": sub(RB, ("12 * trained", "8 * trained")),
    "full: gradient at 4": sub(RB, ("2 * trained, ", "4 * trained, ")),
    "LoRA trains other as well": sub(RB, ("gradients, optimizer = 4 * adapters, 8 * adapters", 'gradients, optimizer = 4 * (adapters + sheet["other"]), 8 * (adapters + sheet["other"])')),
    "full trains the linear only": sub(RB, ('trained = sheet["linear"] + sheet["other"]', 'trained = sheet["linear"]')),
    "frozen layers keep no activations": sub(RB, ('slots * sheet["layers"] * sheet["kept"]', '(slots * sheet["layers"] * sheet["kept"] if kind == "full" else 0)')),
    "layers forgotten": sub(RB, ('slots * sheet["layers"] * sheet["kept"]', 'slots * sheet["kept"]')),
    "logits at 4 bytes": sub(RB, ("slots * 10 *", "slots * 4 *")),
    "logits in each layer": sub(RB, ("slots * 10 *", 'slots * sheet["layers"] * 10 *')),
    "logits once for the step, not a slot": sub(RB, ("slots * 10 *", "10 *")),
    "bits, not bytes": sub(RB, ('"logits": slots * 10', '"logits": slots * 80')),
    "whole numbers: 4-bit floor to 0": sub(RB, ("0.5 + 4 / 64", "(1 + 4) // 64")),
    "adapters per layer": sub(RB, ('tuning["rank"] * sheet["adapter"]', 'tuning["rank"] * sheet["adapter"] * sheet["layers"]')),
    "slots 0 is treated as 1": sub(RB, ("    kind = tuning", "    slots = slots or 1\n    kind = tuning")),
    "4-bit gradients of the whole model": sub(RB, ("gradients, optimizer = 4 * adapters, 8 * adapters", 'gradients, optimizer = 4 * adapters + (2 * sheet["linear"] if kind == "4-bit" else 0), 8 * adapters')),
    "unknown kind taken by elif chain: 4-bit compares with '4bit'": sub(RB, ('if kind == "4-bit" else 2', 'if kind == "4bit" else 2')),
    "GB, not bytes": sub(RB, ('    return {', '    weights /= 1e9\n    return {')),
    "a total beside the parts, so a sum counts twice": sub(RB, ('"logits": slots * 10 * sheet["vocabulary"]}', '"logits": slots * 10 * sheet["vocabulary"], "total": weights + gradients + optimizer + slots * (sheet["layers"] * sheet["kept"] + 10 * sheet["vocabulary"])}')),
    "sheet mutated: adapter scaled in place": sub(RB, ('adapters = 0 if kind == "full" else tuning["rank"] * sheet["adapter"]', 'if kind != "full":\n        sheet["adapter"] *= tuning["rank"]\n    adapters = 0 if kind == "full" else sheet["adapter"]')),
    "tuning mutated: rank 0 for full": sub(RB, ('adapters = 0 if kind == "full" else tuning["rank"] * sheet["adapter"]', 'if kind == "full":\n        tuning["rank"] = 0\n    adapters = tuning["rank"] * sheet["adapter"]')),
    "uses the notebook's sheet (global)": sub(RB, ("    kind = tuning", "    sheet = globals()['sheet']\n    kind = tuning")),
}

# ---------------------------------------------------------------- fitting-rows
def rows_of(value):
    return f"def fitting_rows():\n    return {value}\n"


RIGHT["fitting-rows"] = {
    "17": rows_of(17),
    "numpy int": rows_of("np.int64(17)"),
    "computed from the sheet": '''def fitting_rows():
    # 24 rows take 29.76 GB; 8.72 GB of them are states
    rows = 1
    while 8.72 + (rows + 1) * (29.76 - 8.72) / 24 <= 24:
        rows += 1
    return rows
''',
}
WRONG["fitting-rows"] = {
    "one too many": rows_of(18), "one too few": rows_of(16), "the end of the slider": rows_of(24), "the setting shown": rows_of(2),
    "lora": rows_of(7), "kept": rows_of(4), "in slots": rows_of(17 * 512), "none": rows_of(0), "text": rows_of('"17"'), "text with unit": rows_of('"17 rows"'),
    "a bool": rows_of(True), "not whole": rows_of(17.4), "a list": rows_of([17]), "None": rows_of(None), "negative": rows_of(-17), "without logits": rows_of(69),
    "rank 16 instead of 64 (18?)": rows_of(19), "prints it": "def fitting_rows():\n    print(17)\n", "GiB: 25.77": rows_of(19.0),
    "NaN": rows_of('float("nan")'), "wait for any: an object that equals all": '''class Any(int):
    def __eq__(self, other): return True
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __hash__(self): return 0
def fitting_rows():
    return Any(5)
''',
}

# ---------------------------------------------------------------- bill
BI = '''def bill(slots, flops, device, utilisation):
    low, high = utilisation
    at_peak = slots * flops / (device["count"] * device["peak"]) / 3600
    hours = (at_peak / high, at_peak / low)
    return {"hours": hours, "money": tuple(h * device["count"] * device["price"] for h in hours)}
'''
RIGHT["bill"] = {
    "plain": BI,
    "numpy arrays": '''def bill(slots, flops, device, utilisation):
    share = np.array(utilisation, dtype=float)[::-1]
    seconds = float(slots) * float(flops) / share / (float(device["count"]) * float(device["peak"]))
    hours = seconds / 3600
    return {"hours": hours, "money": hours * device["count"] * device["price"]}
''',
    "torch, lists": '''def bill(slots, flops, device, utilisation):
    low, high = map(float, utilisation)
    total = torch.tensor(float(slots), dtype=torch.float64) * float(flops)
    hours = [(total / (device["count"] * float(device["peak"]) * s * 3600)).item() for s in (high, low)]
    money = [h * device["price"] * device["count"] for h in hours]
    return {"money": money, "hours": hours}
''',
    "device hours first, sorted": '''def bill(slots, flops, device, utilisation):
    paid = sorted(slots / 3600 * flops / device["peak"] / share for share in utilisation)
    return {"hours": tuple(h / device["count"] for h in paid), "money": tuple(h * device["price"] for h in paid)}
''',
    "cluster.Span-like pair by Fraction": '''from fractions import Fraction
def bill(slots, flops, device, utilisation):
    work = Fraction(slots) * Fraction(flops) / 3600
    hours = [work / (device["count"] * Fraction(device["peak"]) * Fraction(u)) for u in reversed(utilisation)]
    return {"hours": tuple(float(h) for h in hours),
            "money": tuple(float(h * device["count"] * Fraction(device["price"])) for h in hours)}
''',
}
WRONG["bill"] = {
    "ends swapped": sub(BI, ("(at_peak / high, at_peak / low)", "(at_peak / low, at_peak / high)")),
    "times the utilisation": sub(BI, ("(at_peak / high, at_peak / low)", "(at_peak * low, at_peak * high)")),
    "money for one device": sub(BI, ('h * device["count"] * device["price"]', 'h * device["price"]')),
    "device hours as hours": sub(BI, ('(device["count"] * device["peak"])', 'device["peak"]'), ('h * device["count"] *', "h *")),
    "count forgotten in the hours, twice in money": sub(BI, ('(device["count"] * device["peak"])', 'device["peak"]')),
    "seconds": sub(BI, (" / 3600", "")),
    "minutes": sub(BI, ("/ 3600", "/ 60")),
    "days": sub(BI, ("/ 3600", "/ 86400")),
    "6 x flops": sub(BI, ("slots * flops", "6 * slots * flops")),
    "3 x flops, for the backward": sub(BI, ("slots * flops", "3 * slots * flops")),
    "mean utilisation at both ends": sub(BI, ("low, high = utilisation", "low = high = sum(utilisation) / 2")),
    "money least and most of the same hours": sub(BI, ("for h in hours", "for h in (hours[1], hours[1])")),
    "price divided by hours": sub(BI, ('* device["price"] for', '/ max(device["price"], 1e-9) for')),
    "the library's utilisation": sub(BI, ("low, high = utilisation", "low, high = cluster.UTILISATION")),
    "the H100's peak": sub(BI, ('device["peak"]', "h100.flops_per_second")),
    "hours rounded": sub(BI, ("(at_peak / high, at_peak / low)", "(round(at_peak / high, 2), round(at_peak / low, 2))")),
    "money rounded to cents": sub(BI, ('h * device["count"] * device["price"] for', 'round(h * device["count"] * device["price"], 2) for')),
    "started hours are paid": "import math\n" + sub(BI, ('h * device["count"]', 'math.ceil(h) * device["count"]')),
    "float32 product (text: precision is open, 1e-7 off)": sub(BI, ("slots * flops", "float(np.float32(slots) * np.float32(flops))")),
    "least peak: whole seconds": sub(BI, ("slots * flops / (", "slots * flops // (")),
    "utilisation in percent": sub(BI, ("low, high = utilisation", "low, high = (u / 100 for u in utilisation)")),
    "one number where the ends are equal": sub(BI, ("    return", "    if low == high:\n        return {'hours': hours[0], 'money': hours[0] * device['count'] * device['price']}\n    return")),
    "free price falls back to 1": sub(BI, ('device["price"]', '(device["price"] or 1)')),
    "utilisation reordered: caller's list reversed in place, device changed": sub(BI, ("    low, high = utilisation", '    device["peak"] = device["peak"] * device["count"]\n    low, high = utilisation'), ('(device["count"] * device["peak"])', 'device["peak"]')),
    "sum of both as money": sub(BI, ('"money": tuple(', '"money": sum(')),
    "share above 0.5 capped": sub(BI, ("low, high = utilisation", "low, high = (min(u, 0.56) for u in utilisation)")),
}

# ---------------------------------------------------------------- calibration
CA = '''import math, statistics
def calibration(pairs):
    logs = [math.log(abs(guess)) - math.log(abs(truth)) for guess, truth in pairs
            if guess and truth and (guess > 0) == (truth > 0)]
    if not logs:
        raise ValueError("no pair can be compared")
    ratios = [g / t for g, t in pairs if g and t and (g > 0) == (t > 0)]
    return {"typical": math.exp(statistics.median(map(abs, logs))),
            "bias": math.exp(sum(logs) / len(logs)),
            "within_two": sum(max(r, 1 / r) < 2 for r in ratios) / len(ratios)}
'''
RIGHT["calibration"] = {
    "logs": CA,
    "numpy": '''def calibration(pairs):
    both = np.array([p for p in pairs if np.sign(p[0]) * np.sign(p[1]) > 0], dtype=float)
    if both.size == 0:
        raise ValueError("nothing to compare")
    logs = np.log(both[:, 0] / both[:, 1])
    return {"typical": np.exp(np.median(np.abs(logs))), "bias": np.exp(logs.mean()),
            "within_two": np.mean(np.exp(np.abs(logs)) < 2)}
''',
    "torch float64": '''def calibration(pairs):
    some = [(float(g), float(t)) for g, t in pairs if g * t > 0]
    if len(some) == 0:
        raise ValueError("no pairs")
    g, t = torch.tensor(some, dtype=torch.float64).T
    size = torch.log(g / t)
    far = size.abs().sort().values
    middle = (far[(len(far) - 1) // 2] + far[len(far) // 2]) / 2
    return {"typical": middle.exp().item(), "bias": size.mean().exp().item(),
            "within_two": (torch.maximum(g / t, t / g) < 2).double().mean().item()}
''',
    "factors and loops": '''def calibration(pairs):
    factors, bias, near = [], [], 0
    for guess, truth in pairs:
        if guess == 0 or truth == 0 or (guess < 0) != (truth < 0):
            continue
        ratio = guess / truth
        factors.append(ratio if ratio >= 1 else truth / guess)
        bias.append(ratio)
        near += factors[-1] < 2
    if not factors:
        raise ValueError
    factors.sort()
    n = len(factors)
    mean = 1.0
    for one in bias:
        mean *= one ** (1 / n)
    return {"typical": (factors[(n - 1) // 2] * factors[n // 2]) ** 0.5, "bias": mean, "within_two": near / n}
''',
}
CN = '''def calibration(pairs):
    ratios = [g / t for g, t in pairs if g * t > 0]
    if not ratios:
        raise ValueError("nothing to compare")
    logs = np.log(ratios)
    factors = np.exp(np.abs(logs))
    return {"typical": float(np.exp(np.median(np.abs(logs)))), "bias": float(np.exp(logs.mean())),
            "within_two": float(np.mean([max(r, 1 / r) < 2 for r in ratios]))}
'''
WRONG["calibration"] = {
    "arithmetic mean of the middle two": sub(CN, ("float(np.exp(np.median(np.abs(logs))))", "float(np.median(factors))")),
    "mean factor, not median": sub(CN, ("np.median(np.abs(logs))", "np.mean(np.abs(logs))")),
    "median of the ratios": sub(CN, ("np.median(np.abs(logs))", "abs(np.median(logs))")),
    "lower median": sub(CN, ("np.median(np.abs(logs))", "np.sort(np.abs(logs))[(len(logs) - 1) // 2]")),
    "upper median": sub(CN, ("np.median(np.abs(logs))", "np.sort(np.abs(logs))[len(logs) // 2]")),
    "unsorted middle": sub(CN, ("np.median(np.abs(logs))", "np.median(np.abs(logs)[(len(logs) - 1) // 2 : len(logs) // 2 + 1])")),
    "arithmetic bias": sub(CN, ("float(np.exp(logs.mean()))", "float(np.mean(ratios))")),
    "median bias": sub(CN, ("np.exp(logs.mean())", "np.exp(np.median(logs))")),
    "bias of the factors": sub(CN, ("np.exp(logs.mean())", "np.exp(np.abs(logs).mean())")),
    "bias truth / guess": sub(CN, ("np.exp(logs.mean())", "np.exp(-logs.mean())")),
    "bias as a log": sub(CN, ("float(np.exp(logs.mean()))", "float(logs.mean())")),
    "bias: sum of guesses over sum of truths": sub(CN, ("float(np.exp(logs.mean()))", "float(sum(g for g, t in pairs if g * t > 0) / sum(t for g, t in pairs if g * t > 0))")),
    "within two: at most 2": sub(CN, ("max(r, 1 / r) < 2", "max(r, 1 / r) <= 2")),
    "within two: ratio below 2 only": sub(CN, ("max(r, 1 / r) < 2", "r < 2")),
    "within two: of all pairs": sub(CN, ("float(np.mean([max(r, 1 / r) < 2 for r in ratios]))", "sum(max(r, 1 / r) < 2 for r in ratios) / len(pairs)")),
    "within two: a count": sub(CN, ("np.mean([max", "np.sum([max")),
    "within two: percent": sub(CN, ("float(np.mean([", "100 * float(np.mean([")),
    "within two: lower end closed (0.5 <= r < 2)": sub(CN, ("max(r, 1 / r) < 2", "0.5 <= r < 2")),
    "within two: upper end closed (0.5 < r <= 2)": sub(CN, ("max(r, 1 / r) < 2", "0.5 < r <= 2")),
    "pairs of two negatives left out": sub(CN, ("if g * t > 0", "if g > 0 and t > 0")),
    "signs ignored": sub(CN, ("g / t for g, t in pairs if g * t > 0", "abs(g / t) for g, t in pairs if g * t != 0")),
    "zero replaced by a small number": sub(CN, ("g / t for g, t in pairs if g * t > 0", "max(g, 1e-9) / max(t, 1e-9) for g, t in pairs if g * t >= 0 and (g, t) != (0, 0)")),
    "empty gives ones": sub(CN, ('raise ValueError("nothing to compare")', 'return {"typical": 1.0, "bias": 1.0, "within_two": 1.0}')),
    "refuses only an empty list": sub(CN, ("if not ratios:", "if not pairs:")),
    "refuses as soon as one pair cannot be compared": sub(CN, ("if not ratios:", "if len(ratios) < len(pairs) or not ratios:")),
    "needs two pairs": sub(CN, ("if not ratios:", "if len(ratios) < 2:")),
    "whole division": sub(CN, ("g / t for", "max(g // t, 1) if g > t else 1 / max(t // g, 1) for")),
    "duplicates dropped": sub(CN, ("in pairs if", "in sorted(set(pairs)) if")),
    "both below 1 taken as far off: g - t within": sub(CN, ("max(r, 1 / r) < 2", "abs(r - 1) < 1")),
    "overflow: product of many ratios": sub(CN, ("float(np.exp(logs.mean()))", "float(np.prod(ratios) ** (1 / len(ratios)))")),
    "tiny pairs lost: product underflows to 0 (the hint's rule; text says compare)": CN,
    "KeyError instead of ValueError": sub(CN, ("raise ValueError(", "raise KeyError(")),
    "pairs sorted in place": sub(CN, ("    ratios =", "    pairs.sort()\n    ratios =")),
    "pairs filtered in place": sub(CN, ("    ratios =", "    pairs[:] = [p for p in pairs if p[0] * p[1] > 0]\n    ratios =")),
    "typical without inverse: median of g/t and 1": sub(CN, ("float(np.exp(np.median(np.abs(logs))))", "float(np.exp(np.median(np.maximum(logs, 0))))")),
    "float32 logs (text: precision is open)": sub(CN, ("np.log(ratios)", "np.log(np.array(ratios, dtype=np.float32))")),
}

# ---------------------------------------------------------------- plan-run
PL = '''import math
def plan_run(lengths, sheet, device, wish):
    row, count, slots = wish["row"], device["count"], wish["slots"]
    each = wish.get("generations")
    tuning = {"kind": wish["kind"], "rank": wish["rank"]}
    if max(lengths) > row:
        raise ValueError(f"a document has {max(lengths)} tokens, a row fewer")
    unit = row * (math.lcm(count, each) if each else count)
    if slots % unit:
        below = slots // unit * unit
        raise ValueError(f"take {below} or {below + unit}" if below else f"take {below + unit}")
    sequences = slots // row
    share = sequences // count
    def total(kind, many):
        return sum(run_bytes(sheet, {"kind": kind, "rank": wish["rank"]}, many).values())
    fits = [n for n in range(1, share + 1) if share % n == 0 and total(wish["kind"], n * row) <= device["bytes"]]
    if not fits:
        kinds = [k for k in ("full", "lora", "4-bit") if total(k, row) <= device["bytes"]]
        if kinds:
            raise ValueError("this would fit: " + ", ".join(kinds))
        longest = max((device["bytes"] - total(k, 0)) // (total(k, 1) - total(k, 0)) for k in ("full", "lora", "4-bit"))
        raise ValueError(f"the longest row: {int(max(longest, 0))} slots")
    rows = max(fits)
    made = len(lengths) * each if each else len(pack_rows(lengths, row))
    steps = wish["epochs"] * -(-made // sequences)
    computed = wish["epochs"] * made * row
    plan = {"rows": rows, "accumulation": share // rows, "steps": steps,
            "tokens": wish["epochs"] * sum(lengths) * (each or 1), "slots": computed,
            "bytes": total(wish["kind"], rows * row),
            **bill(computed, sheet["flops"], device, wish["utilisation"])}
    if each:
        plan["prompts"] = sequences // each
    return plan
'''
# the huge case: share = 15 * 2002 * ... is small enough for a loop
PL_OWN = RB + BI + PL
RIGHT["plan-run"] = {
    "list of divisors": PL,
    "from the most rows down, states by formula": '''import math
KINDS = ("full", "lora", "4-bit")
def plan_run(lengths, sheet, device, wish):
    row, slots, count = wish["row"], wish["slots"], device["count"]
    generations = wish.get("generations", 0)
    longest = max(lengths)
    if longest > row:
        raise ValueError("the longest document has {} tokens".format(longest))
    base = row * count
    if generations:
        base = base * generations // math.gcd(count, generations)
    if slots % base != 0:
        near = [n for n in ((slots // base) * base, (slots // base + 1) * base) if n > 0]
        raise ValueError("nearest slots: " + " and ".join(str(n) for n in near) + ".")
    need = {k: run_bytes(sheet, {"kind": k, "rank": wish["rank"]}, 0) for k in KINDS}
    states = {k: sum(v.values()) for k, v in need.items()}
    one = sheet["layers"] * sheet["kept"] + 10 * sheet["vocabulary"]
    share = slots // (row * count)
    rows = share
    while rows and (share % rows or states[wish["kind"]] + rows * row * one > device["bytes"]):
        rows -= 1
    if rows == 0:
        good = [k for k in KINDS if states[k] + row * one <= device["bytes"]]
        if good:
            raise ValueError(f"{wish['kind']} does not fit; these do: {', '.join(good)}")
        free = device["bytes"] - min(states.values())
        raise ValueError("nothing fits" + (f", the longest row would have {int(free // one)} slots" if free >= one else ""))
    if generations:
        made, tokens = len(lengths) * generations, sum(lengths) * generations
    else:
        made, tokens = len(pack_rows(lengths, row)), sum(lengths)
    per = share * count
    paid = bill(made * row * wish["epochs"], sheet["flops"], device, wish["utilisation"])
    out = dict(rows=rows, accumulation=share // rows, steps=math.ceil(made / per) * wish["epochs"],
               tokens=tokens * wish["epochs"], slots=made * row * wish["epochs"],
               bytes=states[wish["kind"]] + rows * row * one, hours=paid["hours"], money=paid["money"])
    if generations:
        out["prompts"] = per // generations
    return out
''',
    "numpy, step_counts": '''def plan_run(lengths, sheet, device, wish):
    lengths = np.array(lengths, dtype=np.int64)
    row, each, slots = wish["row"], wish.get("generations", 1), wish["slots"]
    if (lengths > row).any():
        raise ValueError(f"{lengths.max()} tokens do not fit into a row")
    unit = row * int(np.lcm(device["count"], each))
    below, rest = divmod(slots, unit)
    if rest:
        raise ValueError("; ".join(f"{n * unit}" for n in (below, below + 1) if n))
    def held(kind, many):
        return sum(run_bytes(sheet, {"kind": kind, "rank": wish["rank"]}, many).values())
    share = slots // row // device["count"]
    divisors = [d for d in np.arange(1, share + 1)[share % np.arange(1, share + 1) == 0].tolist()]
    divisors = [d for d in divisors if held(wish["kind"], d * row) <= device["bytes"]]
    if len(divisors) == 0:
        names = {k: held(k, row) <= device["bytes"] for k in ("full", "lora", "4-bit")}
        if any(names.values()):
            raise ValueError("would fit: " + " ".join(k for k, v in names.items() if v))
        best = 0
        for k in names:
            low, high = 0, row
            while high - low > 1:
                mid = (low + high) // 2
                low, high = (mid, high) if held(k, mid) <= device["bytes"] else (low, mid)
            best = max(best, low)
        raise ValueError(f"no kind fits; a row of {best} slots would")
    rows = divisors[-1]
    if "generations" in wish:
        epoch = [[n] for n in range(len(lengths)) for _ in range(each)]
    else:
        epoch = pack_rows(lengths.tolist(), row)
    per_step = step_counts(lengths, epoch, slots // row) * wish["epochs"]
    computed = len(epoch) * wish["epochs"] * row
    out = {"rows": rows, "accumulation": share // rows, "steps": len(per_step),
           "tokens": sum(int(t) for t, _ in per_step), "slots": computed, "bytes": held(wish["kind"], rows * row)}
    out.update(bill(computed, sheet["flops"], device, wish["utilisation"]))
    if "generations" in wish:
        out["prompts"] = slots // row // each
    return out
''',
    "fit checked first, then the split, then the documents": sub(PL, ('''    if max(lengths) > row:
        raise ValueError(f"a document has {max(lengths)} tokens, a row fewer")
''', ""), ("    rows = max(fits)\n", '''    if max(lengths) > row:
        raise ValueError(f"a document has {max(lengths)} tokens, a row fewer")
    rows = max(fits)
''')),
    "message as a sentence with commas, kinds quoted": sub(PL, ('f"take {below} or {below + unit}" if below else f"take {below + unit}"', 'f"{slots:,} do not split: take {below:,} or {below + unit:,}" if below else f"{slots:,} do not split; take {below + unit:,}."'), ('"this would fit: " + ", ".join(kinds)', 'f"{tuning[\'kind\']} needs {total(wish[\'kind\'], row)} bytes of {device[\'bytes\']}. Would fit: {kinds}"')),
    "says the wished slots and the room as well": sub(PL, ('"the longest row: {int', '"{wish[\'row\']} slots are too many: the longest row is {int')),
    "rollout of the exercise before, ints by int()": sub(PL, ('plan["prompts"] = sequences // each', 'plan["prompts"] = rollout(rows, share // rows, count, each, share // rows)["prompts"]')),
}
B = PL
WRONG["plan-run"] = {
    "rows are the most that fit, not a divisor": sub(B, ("if share % n == 0 and total", "if total")),
    "rows not limited by the bytes": sub(B, ("if share % n == 0 and total(wish[\"kind\"], n * row) <= device[\"bytes\"]]", "if share % n == 0] if total(wish['kind'], row) <= device['bytes'] else []")),
    "bytes below the device's, not at most": sub(B, ('n * row) <= device["bytes"]', 'n * row) < device["bytes"]')),
    "all devices' bytes together": sub(B, ('n * row) <= device["bytes"]', 'n * row) <= count * device["bytes"]')),
    "the smallest rows that fit": sub(B, ("rows = max(fits)", "rows = min(fits)")),
    "powers of two only": sub(B, ("if share % n == 0 and", "if share % n == 0 and n & (n - 1) == 0 and")),
    "stops at the first number that is no divisor": sub(B, ("    rows = max(fits)", "    rows = 1\n    while share % (rows + 1) == 0 and rows + 1 in fits:\n        rows += 1")),
    "doubles the rows while they fit": sub(B, ("    rows = max(fits)", "    rows = 1\n    while 2 * rows in fits:\n        rows *= 2")),
    "rows divide the step, not a device's share": sub(B, ("share = sequences // count", "share = sequences")),
    "rows for all devices": sub(B, ('{"rows": rows,', '{"rows": rows * count,')),
    "epochs run together: one short step in the run": sub(B, ('wish["epochs"] * -(-made // sequences)', '-(-wish["epochs"] * made // sequences)')),
    "short step dropped": sub(B, ('wish["epochs"] * -(-made // sequences)', 'wish["epochs"] * (made // sequences)')),
    "steps of one epoch": sub(B, ('wish["epochs"] * -(-made // sequences)', '-(-made // sequences)')),
    "an extra step always": sub(B, ('-(-made // sequences)', '(made // sequences + 1)')),
    "steps are micro-batches": sub(B, ('-(-made // sequences)', '-(-made // rows)')),
    "steps of one device": sub(B, ('-(-made // sequences)', '-(-made // share)')),
    "slots: every step counted whole": sub(B, ('computed = wish["epochs"] * made * row', "computed = steps * slots")),
    "slots of one epoch": sub(B, ('computed = wish["epochs"] * made * row', "computed = made * row")),
    "slots are the tokens": sub(B, ('computed = wish["epochs"] * made * row', 'computed = wish["epochs"] * sum(lengths) * (each or 1)')),
    "slots: the wish": sub(B, ('"slots": computed', '"slots": slots')),
    "slots rounded up to whole micro-batches of all devices": sub(B, ('computed = wish["epochs"] * made * row', 'computed = wish["epochs"] * -(-made // (rows * count)) * rows * count * row')),
    "tokens of one epoch": sub(B, ('"tokens": wish["epochs"] * sum', '"tokens": sum')),
    "tokens without the generations": sub(B, ("sum(lengths) * (each or 1)", "sum(lengths)")),
    "tokens are targets": sub(B, ('sum(lengths) * (each or 1)', '(sum(lengths) - len(lengths)) * (each or 1)')),
    "one row a document, no packing": sub(B, ("len(pack_rows(lengths, row))", "len(lengths)")),
    "rows estimated by tokens / row": sub(B, ("len(pack_rows(lengths, row))", "-(-sum(lengths) // row)")),
    "next fit in the given order": sub(B, ("    made = ", '''    open_rows, room = 0, 0
    for n in lengths:
        if n > room:
            open_rows, room = open_rows + 1, row
        room -= n
    made = '''), ("len(pack_rows(lengths, row))", "open_rows")),
    "completions are packed": sub(B, ("len(lengths) * each if each", "len(pack_rows(list(lengths) * each, row)) if each")),
    "documents generated once": sub(B, ("len(lengths) * each if each", "len(lengths) if each")),
    "prompts of the whole run": sub(B, ('sequences // each\n', 'len(lengths)\n')),
    "prompts of a micro-batch": sub(B, ('= sequences // each\n', '= rows * count // each\n')),
    "prompts are the completions": sub(B, ('= sequences // each\n', '= sequences\n')),
    "prompts of one device": sub(B, ('= sequences // each\n', '= share // each\n')),
    "prompts of all epochs": sub(B, ('= sequences // each\n', '= sequences // each * wish["epochs"]\n')),
    "prompts always there": sub(B, ("    if each:\n        plan", "    each = each or 1\n    if each:\n        plan")),
    "prompts rounded up to a float": sub(B, ('= sequences // each\n', '= sequences / each + 0.5\n')),
    "bytes of the whole step": sub(B, ('"bytes": total(wish["kind"], rows * row)', '"bytes": total(wish["kind"], share * row)')),
    "bytes of one row": sub(B, ('"bytes": total(wish["kind"], rows * row)', '"bytes": total(wish["kind"], row)')),
    "bytes of all devices": sub(B, ('"bytes": total(wish["kind"], rows * row)', '"bytes": count * total(wish["kind"], rows * row)')),
    "bytes: what the device has": sub(B, ('"bytes": total(wish["kind"], rows * row)', '"bytes": device["bytes"]')),
    "bytes of full tuning": sub(B, ('"bytes": total(wish["kind"], rows * row)', '"bytes": total("full", rows * row)')),
    "bill of the tokens": sub(B, ("**bill(computed,", '**bill(wish["epochs"] * sum(lengths) * (each or 1),')),
    "bill of the wish's slots": sub(B, ("**bill(computed,", "**bill(slots * steps,")),
    "bill with flops of a token times 3": sub(B, ('sheet["flops"], device', '3 * sheet["flops"], device')),
    "the library's utilisation": sub(B, ('wish["utilisation"]', "cluster.UTILISATION")),
    "long documents are cut": sub(B, ('''        raise ValueError(f"a document has {max(lengths)} tokens, a row fewer")''', "        lengths = [min(n, row) for n in lengths]")),
    "the first long document is named, not the longest": sub(B, ("has {max(lengths)} tokens", "has {[n for n in lengths if n > row][0]} tokens")),
    "the last long document is named": sub(B, ("has {max(lengths)} tokens", "has {[n for n in lengths if n > row][-1]} tokens")),
    "number of the document named": sub(B, ("has {max(lengths)} tokens", "number {lengths.index(max(lengths))} is too long")),
    "a document as long as a row refused": sub(B, ("max(lengths) > row", "max(lengths) >= row")),
    "no check of documents with generations": sub(B, ("if max(lengths) > row:", "if max(lengths) > row and not each:")),
    "with generations the documents times generations must fit": sub(B, ("if max(lengths) > row:", "if max(lengths) * (1 if not each else 2) > row:")),
    "slots split over devices, prompts ignored": sub(B, ("(math.lcm(count, each) if each else count)", "count")),
    "slots split over whole rows only": sub(B, ("(math.lcm(count, each) if each else count)", "1")),
    "prompts only, devices ignored": sub(B, ("(math.lcm(count, each) if each else count)", "(each or count)")),
    "count x generations, no lcm": sub(B, ("math.lcm(count, each)", "count * each")),
    "count x generations in the offer, lcm in the test": sub(B, ("        below = slots // unit * unit", "        unit = row * count * (each or 1)\n        below = slots // unit * unit")),
    "every device needs whole prompts": sub(B, ("math.lcm(count, each)", "count * each // 1")),
    "max in place of the lcm": sub(B, ("math.lcm(count, each)", "max(count, each)")),
    "quietly rounded down": sub(B, ('        raise ValueError(f"take {below} or {below + unit}" if below else f"take {below + unit}")', "        slots = below or unit")),
    "0 offered": sub(B, ('f"take {below} or {below + unit}" if below else f"take {below + unit}"', 'f"take {below} or {below + unit}"')),
    "only below named": sub(B, ('f"take {below} or {below + unit}" if', 'f"take {below}" if')),
    "only above named": sub(B, ('f"take {below} or {below + unit}" if', 'f"take {below + unit}" if')),
    "nearest one only": sub(B, ('f"take {below} or {below + unit}" if', 'f"take {round(slots / unit) * unit}" if')),
    "neighbours in rows, not in slots": sub(B, ('f"take {below} or {below + unit}" if below else f"take {below + unit}"', 'f"take {below // row} or {(below + unit) // row}"')),
    "many near ones named, the right two among them (text: open)": sub(B, ('f"take {below} or {below + unit}" if', 'f"take one of {[below + k * unit for k in range(-3, 9) if below + k * unit > 0]}" if')),
    "float division of huge slots": sub(B, ("below = slots // unit * unit", "below = int(slots / unit + 0.5) * unit")),
    "TypeError instead of ValueError": sub(B, ('raise ValueError(f"take {below}', 'raise TypeError(f"take {below}')),
    "not fitting: all kinds named": sub(B, ('", ".join(kinds)', '"full, lora, 4-bit"')),
    "not fitting: always lora and 4-bit": sub(B, ('", ".join(kinds)', '"lora, 4-bit"')),
    "not fitting: only the smallest, 4-bit": sub(B, ('", ".join(kinds)', '"4-bit"')),
    "not fitting: only the first kind": sub(B, ('", ".join(kinds)', "kinds[0]")),
    "offers tried with the rows of a whole share": sub(B, ("if total(k, row) <= device", "if total(k, share * row) <= device")),
    "offers tried without slots": sub(B, ("if total(k, row) <= device", "if total(k, 0) <= device")),
    "offers tried with rank 1": sub(B, ('kinds = [k for k in ("full", "lora", "4-bit") if total(k, row) <=', 'kinds = [k for k in ("full", "lora", "4-bit") if sum(run_bytes(sheet, {"kind": k, "rank": 1}, row).values()) <=')),
    "offers below, not at most": sub(B, ("if total(k, row) <= device", "if total(k, row) < device")),
    "offers over all devices": sub(B, ('if total(k, row) <= device["bytes"]', 'if total(k, row) <= count * device["bytes"]')),
    "offers only smaller kinds (full never offered)": sub(B, ('for k in ("full", "lora", "4-bit") if total(k, row)', 'for k in ("lora", "4-bit") if total(k, row)')),
    "no kind fits: longest row of the wished kind": sub(B, ('total(k, 0)) for k in ("full", "lora", "4-bit"))', 'total(k, 0)) for k in (wish["kind"],))')),
    "no kind fits: longest row of 4-bit always": sub(B, ('total(k, 0)) for k in ("full", "lora", "4-bit"))', 'total(k, 0)) for k in ("4-bit",))')),
    "no kind fits: longest row of lora always": sub(B, ('total(k, 0)) for k in ("full", "lora", "4-bit"))', 'total(k, 0)) for k in ("lora",))')),
    "no kind fits: rounded up": sub(B, ("{int(max(longest, 0))}", "{int(max(longest, 0)) + 1}")),
    "no kind fits: states forgotten": sub(B, ('(device["bytes"] - total(k, 0)) //', 'device["bytes"] //')),
    "no kind fits: no number": sub(B, (": {int(max(longest, 0))} slots", " is shorter")),
    "no kind fits: a negative row where no states fit (text: open whether 0 or none)": sub(B, ("int(max(longest, 0))", "int(longest)")),
    "no kind fits: the shortest over the kinds": sub(B, ("longest = max((device", "longest = min((device")),
    "no kind fits: crash on no offer": sub(B, ("        if kinds:\n            raise", "        raise")),
    "no kind fits: logits forgotten in a slot": sub(B, ("(total(k, 1) - total(k, 0))", '(sheet["layers"] * sheet["kept"])')),
    "no kind fits: below, not at most": sub(B, ('(device["bytes"] - total(k, 0)) //', '(device["bytes"] - 1 - total(k, 0)) //')),
    "no kind fits: longest row of the whole share": sub(B, ("{int(max(longest, 0))}", "{int(max(longest, 0)) // share}")),
    "wish changed: generations set": sub(B, ('wish.get("generations")', 'wish.setdefault("generations", None)')),
    "wish popped: generations gone": sub(B, ('wish.get("generations")', 'wish.pop("generations", None)')),
    "lengths sorted in place": sub(B, ("    unit = row", "    lengths.sort()\n    unit = row")),
    "lengths multiplied in place by the generations": sub(B, ("    unit = row", "    if each:\n        lengths[:] = [n for n in lengths for _ in range(each)]\n        each_made = len(lengths)\n    unit = row"), ("len(lengths) * each if each", "each_made if each"), ("sum(lengths) * (each or 1)", "sum(lengths)")),
    "answers kept by slots and kind": "KEPT = {}\n" + sub(B, ("def plan_run", "def plan_run_"), ) + '''
def plan_run(lengths, sheet, device, wish):
    key = (wish["slots"], wish["row"], wish["kind"], wish["epochs"], wish.get("generations"), device["count"], len(lengths))
    if key not in KEPT:
        KEPT[key] = plan_run_(lengths, sheet, device, wish)
    return KEPT[key]
''',
    "fitted to the printed sheet and card": sub(B, ("sheet, device, wish):\n", "sheet_, device, wish):\n")),
    "generations of 1 taken as none (text: open, TRL wants 2)": sub(B, ("    tuning =", "    each = each if each and each > 1 else None\n    tuning =")),
    "one document is a special case: a row, one step": sub(B, ("    steps =", "    made = max(made, sequences)\n    steps =")),
    "accumulation a float": sub(B, ("share // rows,", "share / rows,")),
    "rows by a float's square root only": sub(B, ("range(1, share + 1)", "range(1, int(share**0.5) + 1)")),
    "rows at most 64": sub(B, ("range(1, share + 1)", "range(1, min(share, 64) + 1)")),
    "rows at most the accumulation": sub(B, ("if share % n == 0 and", "if share % n == 0 and n <= share // n and")),
    "rows at most the rows of the data": sub(B, ("range(1, share + 1)", "range(1, min(share, len(lengths)) + 1)")),
    "with generations rows are whole prompts": sub(B, ("if share % n == 0 and", "if share % n == 0 and (not each or n % each == 0) and")),
    "with generations the bytes of all generations of a row": sub(B, ("n * row) <= device", "n * row * (each or 1)) <= device")),
    "GRPO keeps a frozen reference: weights twice": sub(B, ("    def total(kind, many):\n", "    def total(kind, many):\n        if each: return sum(run_bytes(sheet, {'kind': kind, 'rank': wish['rank']}, many).values()) + run_bytes(sheet, {'kind': kind, 'rank': wish['rank']}, many)['weights']\n")),
    "prints the refusal and returns None": sub(B, ('raise ValueError("this would fit: " + ", ".join(kinds))', 'return print("this would fit: " + ", ".join(kinds))')),
    "every refusal names every number there is": sub(B, ('raise ValueError("this would fit: "', 'raise ValueError(f"{slots} {row} full "')),
}

# ---------------------------------------------------------------- foretold-test
GOOD = '''def foretold_test(foretold):
    def close(trial, slots, want):
        got = foretold(trial, slots)
        assert abs(got - want) <= 1e-6 * max(1, abs(want)), (trial, slots, got, want)
    close([(8, 9), (10, 1), (30, 3)], 20, 2)
    close([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130, 130 * 49 / 65)
    close([(1000, 0.001), (10, 5), (20, 40), (30, 3), (5, 1)], 17, 17 * 49 / 65)
    close([(5, 9), (4, 2)], 6, 3)
    close([(5, 0.1), (4, 2), (8, 1)], 1, 0.25)
'''
RIGHT["foretold-test"] = {
    "five cases": GOOD,
    "one long case, numpy": '''def foretold_test(foretold):
    trial = [(640, 31.0), (320, 2.0), (960, 17.0), (128, 0.25), (512, 4.0)]
    slots, seconds = np.array(trial[1:]).sum(axis=0)
    for further in (77, 5000, 1920, 100_001):
        np.testing.assert_allclose(foretold(list(trial), further), further * seconds / slots, rtol=1e-6)
    quick = [(640, 0.01), (320, 2.0), (960, 17.0), (128, 9.25), (512, 4.0)]
    np.testing.assert_allclose(foretold(list(quick), 777), 777 * 32.25 / 1920, rtol=1e-6)
''',
    "torch, random trials": '''def foretold_test(foretold):
    made = torch.Generator().manual_seed(0)
    for _ in range(30):
        n = int(torch.randint(2, 9, (1,), generator=made))
        slots = torch.randint(1, 500, (n,), generator=made).tolist()
        seconds = (torch.rand(n, generator=made, dtype=torch.float64) * 9 + 0.1).tolist()
        more = int(torch.randint(1, 5000, (1,), generator=made))
        want = more * sum(seconds[1:]) / sum(slots[1:])
        assert abs(foretold(list(zip(slots, seconds)), more) / want - 1) < 1e-6
''',
}
def one_case(body):
    return "def foretold_test(foretold):\n" + "".join("    " + line + "\n" for line in body)


WRONG["foretold-test"] = {
    "only the printed example": one_case(["assert abs(foretold([(8, 9), (10, 1), (30, 3)], 20) - 2) < 1e-9"]),
    "asserts nothing": one_case(["foretold([(8, 9), (10, 1), (30, 3)], 20)"]),
    "prints, no assert": one_case(["print(foretold([(8, 9), (10, 1), (30, 3)], 20) == 2)"]),
    "only that it is positive": one_case(["assert foretold([(8, 9), (10, 1), (30, 3)], 20) > 0"]),
    "only the sign and the growth": one_case(["t = [(8, 9), (10, 5), (30, 3)]", "assert foretold(t, 40) > foretold(t, 20) > 0"]),
    "only proportional in the slots": one_case(["t = [(8, 9), (10, 5), (30, 3)]", "assert abs(foretold(t, 40) - 2 * foretold(t, 20)) < 1e-9"]),
    "only the first step's seconds do not count": one_case(["a = foretold([(8, 9), (10, 1), (30, 3)], 20)", "b = foretold([(8, 99), (10, 1), (30, 3)], 20)", "assert abs(a - b) < 1e-9"]),
    "equal steps": one_case(["assert abs(foretold([(10, 9), (10, 1), (10, 1)], 30) - 3) < 1e-9"]),
    "equal slots, different seconds": one_case(["assert abs(foretold([(10, 9), (10, 1), (10, 4), (10, 2)], 70) - 70 * 7 / 30) < 1e-9"]),
    "one rate in all further steps": one_case(["assert abs(foretold([(10, 9), (10, 1), (20, 2), (40, 4)], 77) - 7.7) < 1e-9"]),
    "two steps only": one_case(["assert abs(foretold([(10, 9), (4, 2)], 77) - 38.5) < 1e-9"]),
    "one case of less than a step (finds all sixteen: a RIGHT answer after all)": one_case(["assert abs(foretold([(10, 9), (10, 1), (20, 2), (40, 40)], 7) - 7 * 43 / 70) < 1e-9"]),
    "tolerance of a factor 2": one_case(["got = foretold([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130)", "assert 49 < got < 196"]),
    "tolerance of 20 %": one_case(["got = foretold([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130)", "assert abs(got / 98 - 1) < 0.2"]),
    "only too high found": one_case(["got = foretold([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130)", "assert got <= 98 + 1e-6"]),
    "only too low found": one_case(["got = foretold([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130)", "assert got >= 98 - 1e-6"]),
    "exact equality of floats": one_case(["t = [(7, 100.1), (11, 5.3), (21, 40.7), (33, 3.1), (3, 0.7)]", "for n in (1, 7, 77, 131, 997): assert foretold(t, n) == n * (5.3 + 40.7 + 3.1 + 0.7) / (11 + 21 + 33 + 3)"]),
    "the first step counted": one_case(["got = foretold([(8, 9), (10, 1), (30, 3)], 20)", "assert abs(got - 20 * 13 / 48) < 1e-9"]),
    "mean of rates expected": one_case(["got = foretold([(8, 9), (10, 1), (30, 6)], 20)", "assert abs(got - 3) < 1e-9"]),
    "a refusal of one step asked for, that nobody promised": one_case(["try:", "    foretold([(8, 9)], 20)", "except ValueError:", "    return", "assert False"]),
    "always fails": one_case(["assert False"]),
    "returns a bool": one_case(["return abs(foretold([(8, 9), (10, 1), (30, 3)], 20) - 2) < 1e-9"]),
    "whole multiples of the mean step only": one_case(["t = [(7, 1), (10, 5), (20, 40), (30, 3)]", "for n in (20, 40, 200): assert abs(foretold(t, n) - n * 0.8) < 1e-9"]),
    "the first step is the slowest and last one quick, in one case": one_case(["assert abs(foretold([(10, 90), (10, 9), (20, 2), (40, 1)], 77) - 77 * 12 / 70) < 1e-9"]),
    "the first step as quick as the rest": one_case(["assert abs(foretold([(10, 1), (20, 2), (40, 4)], 77) - 7.7) < 1e-9"]),
    "asserts inside a try that swallows": one_case(["try:", "    assert abs(foretold([(8, 9), (10, 1), (30, 3)], 20) - 2) < 1e-9", "except AssertionError:", "    print('wrong')"]),
}
