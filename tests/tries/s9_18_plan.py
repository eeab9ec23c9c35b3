# ruff: noqa
"""Lesson 18_plan: answers of a second fresh student, written from the student copy alone."""

WRONG, RIGHT = {}, {}


def put(base, *pairs):
    for old, new in pairs:
        assert base.count(old) >= 1, (old, base)
        base = base.replace(old, new)
    return base


# ------------------------------------------------------------------------------------------------ step-counts
SC = '''def step_counts(lengths, rows, sequences):
    made = []
    for start in range(0, len(rows), sequences):
        tokens = targets = 0
        for row in rows[start : start + sequences]:
            for n in row:
                tokens += int(lengths[n])
                targets += int(lengths[n]) - 1
        made.append((tokens, targets))
    return made
'''
RIGHT["step-counts"] = {
    "loop": SC,
    "numpy int64, prefix sums over rows": '''def step_counts(lengths, rows, sequences):
    if len(rows) == 0:
        return []
    size = np.asarray(lengths).astype(np.int64)
    tokens = np.array([size[list(row)].sum() for row in rows], dtype=np.int64)
    documents = np.array([len(row) for row in rows], dtype=np.int64)
    starts = np.arange(0, len(rows), sequences)
    a, d = np.add.reduceat(tokens, starts), np.add.reduceat(documents, starts)
    return [(int(t), int(t - n)) for t, n in zip(a, d)]
''',
    "torch int64, index_add": '''def step_counts(lengths, rows, sequences):
    steps = -(-len(rows) // sequences)
    step = torch.tensor([at // sequences for at, row in enumerate(rows) for _ in row], dtype=torch.int64)
    size = torch.tensor([int(lengths[n]) for row in rows for n in row], dtype=torch.int64)
    tokens = torch.zeros(steps, dtype=torch.int64).index_add_(0, step, size)
    targets = torch.zeros(steps, dtype=torch.int64).index_add_(0, step, size - 1)
    return list(zip(tokens.tolist(), targets.tolist()))
''',
    "recursion, last document first": '''def step_counts(lengths, rows, sequences):
    if not rows:
        return []
    sizes = [int(lengths[n]) for row in reversed(rows[:sequences]) for n in reversed(row)]
    return [(sum(sizes), sum(sizes) - len(sizes))] + step_counts(lengths, rows[sequences:], sequences)
''',
}
WRONG["step-counts"] = {
    "one target lost for each row, not each document": put(SC, ("            for n in row:\n                tokens += int(lengths[n])\n                targets += int(lengths[n]) - 1\n", "            here = sum(int(lengths[n]) for n in row)\n            tokens += here\n            targets += here - 1\n")),
    "one target lost for each step": put(SC, (" - 1\n", "\n"), ("(tokens, targets))", "(tokens, targets - 1))")),
    "targets are the tokens": put(SC, (" - 1\n", "\n")),
    "a step is one row, sequences ignored": put(SC, ("range(0, len(rows), sequences)", "range(len(rows))"), ("start + sequences", "start + 1")),
    "the last short step is dropped": put(SC, ("range(0, len(rows), sequences)", "range(0, len(rows) - sequences + 1, sequences)")),
    "the short step is dropped, unless it is the only one": put(SC, ("range(0, len(rows), sequences)", "range(0, max(1, len(rows) // sequences) * sequences if rows else 0, sequences)")),
    "the last short step is filled from the first rows": put(SC, ("rows[start : start + sequences]", "[rows[k % len(rows)] for k in range(start, start + sequences)]")),
    "rows are spread evenly over the steps": '''def step_counts(lengths, rows, sequences):
    if not rows:
        return []
    steps = -(-len(rows) // sequences)
    parts = [[rows[k] for k in part] for part in np.array_split(np.arange(len(rows)), steps)]
    made = []
    for part in parts:
        size = [int(lengths[n]) for row in part for n in row]
        made.append((sum(size), sum(size) - len(size)))
    return made
''',
    "sums in the int16 of the array": put(SC, ("int(lengths[n])", "lengths[n]"), ("(tokens, targets)", "(int(tokens), int(targets))")),
    "the tokens are summed in int64, the targets in int16": put(SC, ("targets += int(lengths[n]) - 1", "targets += lengths[n] - 1"), ("(tokens, targets)", "(tokens, int(targets))")),
    "sums in int32": put(SC, ("        made.append((tokens, targets))", "        made.append((int(np.array(tokens).astype(np.int32)), int(np.array(targets).astype(np.int32))))")),
    "sums in float32": '''def step_counts(lengths, rows, sequences):
    made = []
    size = torch.tensor([int(n) for n in lengths], dtype=torch.float32)
    for start in range(0, len(rows), sequences):
        ids = [n for row in rows[start : start + sequences] for n in row]
        tokens = size[ids].sum()
        made.append((int(tokens), int(tokens - len(ids))))
    return made
''',
    "documents are taken in their order, not by their numbers in the rows": '''def step_counts(lengths, rows, sequences):
    made, at = [], 0
    for start in range(0, len(rows), sequences):
        many = sum(len(row) for row in rows[start : start + sequences])
        size = [int(n) for n in lengths[at : at + many]]
        at += many
        made.append((sum(size), sum(size) - len(size)))
    return made
''',
    "a step has so many documents, not rows": '''def step_counts(lengths, rows, sequences):
    ids = [n for row in rows for n in row]
    parts = [ids[at : at + sequences] for at in range(0, len(ids), sequences)]
    return [(sum(int(lengths[n]) for n in part), sum(int(lengths[n]) - 1 for n in part)) for part in parts]
''',
    "no rows make one empty step": put(SC, ("    return made", "    return made or [(0, 0)]")),
    "a document of one token has a target": put(SC, ("targets += int(lengths[n]) - 1", "targets += max(1, int(lengths[n]) - 1)")),
    "equal lengths in one step are counted once (a set)": put(SC, ("        tokens = targets = 0\n        for row in rows[start : start + sequences]:\n            for n in row:\n                tokens += int(lengths[n])\n                targets += int(lengths[n]) - 1\n", "        size = {int(lengths[n]) for row in rows[start : start + sequences] for n in row}\n        tokens, targets = sum(size), sum(size) - len(size)\n")),
    "targets first, tokens second": put(SC, ("(tokens, targets)", "(targets, tokens)")),
    "the list of the last call is kept (a default argument)": put(SC, ("rows, sequences):\n    made = []", "rows, sequences, made=[]):"),),
    "the running sum is not reset at a step": put(SC, ("        tokens = targets = 0\n", ""), ("    made = []\n", "    made = []\n    tokens = targets = 0\n")),
    "the first document of each row alone loses its target, the others keep theirs over the border": put(SC, ("            for n in row:", "            for k, n in enumerate(row):"), ("int(lengths[n]) - 1", "int(lengths[n]) - (k == 0)")),
    "the last token of the step and the first of each document are lost": put(SC, ("(tokens, targets))", "(tokens, max(0, targets - 1)))")),
    "the caller's rows are used up (pop): a second call with them has no steps": '''def step_counts(lengths, rows, sequences):
    made = []
    while rows:
        size = [int(lengths[n]) for _ in range(min(sequences, len(rows))) for n in rows.pop(0)]
        made.append((sum(size), sum(size) - len(size)))
    return made
''',
    "open: floats (50009.0) in place of whole numbers": put(SC, ("(tokens, targets)", "(float(tokens), float(targets))")),
    "open: lists in place of pairs": put(SC, ("append((tokens, targets))", "append([tokens, targets])")),
}

# ------------------------------------------------------------------------------------------------ rollout
RO = '''def rollout(rows, accumulation, replicas, generations, steps):
    made = rows * steps * replicas
    if made % generations:
        below = made // generations * generations
        near = [n for n in (below, below + generations) if n > 0]
        raise ValueError("nearest: " + " or ".join(str(n) for n in near))
    return {"completions": rows * accumulation * replicas, "prompts": made // generations,
            "updates": steps / accumulation}
'''
NEAR = '        near = [n for n in (below, below + generations) if n > 0]\n'
SAY = '        raise ValueError("nearest: " + " or ".join(str(n) for n in near))\n'
RIGHT["rollout"] = {
    "plain": RO,
    "fractions.Fraction updates, message that tells the own numbers": '''from fractions import Fraction

def rollout(rows, accumulation, replicas, generations, steps):
    micro = rows * replicas
    prompts = Fraction(micro * steps, generations)
    if prompts.denominator != 1:
        low = int(prompts) * generations
        named = f"{low} or {low + generations}" if low else f"{generations}"
        raise ValueError(f"a rollout of {micro * steps} completions is no multiple of {generations}; take {named}")
    return {"prompts": int(prompts), "updates": Fraction(steps, accumulation), "completions": micro * accumulation}
''',
    "divmod, thousands with commas": '''def rollout(rows, accumulation, replicas, generations, steps):
    prompts, over = divmod(rows * replicas * steps, generations)
    if over:
        offers = [f"{n * generations:,}" for n in (prompts, prompts + 1) if n]
        raise ValueError(f"not whole prompts; completions near: {', '.join(offers)}")
    whole = steps % accumulation == 0
    return dict(completions=replicas * accumulation * rows, prompts=prompts,
                updates=steps // accumulation if whole else steps / accumulation)
''',
    "numpy int64": '''def rollout(rows, accumulation, replicas, generations, steps):
    micro = np.array([accumulation, steps], dtype=np.int64) * rows * replicas
    one, all_of_it = micro
    if all_of_it % generations != 0:
        below = int(all_of_it - all_of_it % generations)
        raise ValueError(f"nearest multiples: {[below, below + generations] if below else [generations]}")
    return {"completions": one, "prompts": all_of_it // generations, "updates": np.divide(steps, accumulation)}
''',
}
WRONG["rollout"] = {
    "completions of the rollout, not of an optimizer step": put(RO, ('"completions": rows * accumulation * replicas', '"completions": made')),
    "prompts of one optimizer step": put(RO, ('"prompts": made // generations', '"prompts": rows * accumulation * replicas // generations')),
    "updates upside down": put(RO, ("steps / accumulation", "accumulation / steps")),
    "updates rounded down": put(RO, ("steps / accumulation", "steps // accumulation")),
    "updates rounded up": put(RO, ("steps / accumulation", "-(-steps // accumulation)")),
    "updates rounded to two digits": put(RO, ("steps / accumulation", "round(steps / accumulation, 2)")),
    "at least one update": put(RO, ("steps / accumulation", "max(1, steps / accumulation)")),
    "rows count prompts: completions times generations": put(RO, ("rows * accumulation * replicas", "rows * accumulation * replicas * generations")),
    "replicas forgotten in the completions": put(RO, ("rows * accumulation * replicas", "rows * accumulation")),
    "replicas forgotten in the rollout": put(RO, ("rows * steps * replicas", "rows * steps")),
    "replicas forgotten in the refusal only": put(RO, ("if made % generations:", "if rows * steps % generations:")),
    "the optimizer step must divide, not the rollout": put(RO, ("if made % generations:", "if rows * accumulation * replicas % generations:")),
    "both must divide": put(RO, ("if made % generations:", "if made % generations or rows * accumulation * replicas % generations:")),
    "each micro-batch must divide": put(RO, ("if made % generations:", "if rows * replicas % generations:")),
    "no whole number of updates is refused too": put(RO, ("if made % generations:", "if made % generations or steps % accumulation:")),
    "never refused: prompts rounded down": put(RO, ("if made % generations:", "if False:")),
    "never refused: prompts a fraction": put(RO, ("if made % generations:", "if False:"), ("made // generations,", "made / generations,")),
    "prompts a float (32.0)": put(RO, ('"prompts": made // generations', '"prompts": made / generations')),
    "the refusal offers 0": put(RO, (" if n > 0]", "]")),
    "the refusal names only the one below": put(RO, (NEAR, "        near = [below]\n")),
    "the refusal names only the one above": put(RO, (NEAR, "        near = [below + generations]\n")),
    "the refusal names only the closer one": put(RO, (NEAR, "        near = [min((n for n in (below, below + generations) if n), key=lambda n: abs(n - made))]\n")),
    "the refusal names one farther on each side as well": put(RO, (NEAR, "        near = [n for n in range(below - generations, below + 3 * generations, generations) if n > 0]\n")),
    "around the rounded one: one of the two is too far": put(RO, (NEAR, "        mid = round(made / generations) * generations\n        near = [n for n in (mid - generations, mid, mid + generations) if n > 0]\n")),
    "made - generations and made + generations, no multiples": put(RO, (NEAR, "        near = [made - generations, made + generations]\n")),
    "names numbers of prompts": put(RO, (NEAR, "        near = [made // generations, made // generations + 1]\n")),
    "names generations that would divide": put(RO, (NEAR, "        near = [g for g in range(1, made + 1) if made % g == 0]\n")),
    "names numbers that these rows and replicas can reach: not the nearest multiples": put(RO, (NEAR, "        unit = int(np.lcm(generations, rows * replicas))\n        near = [n for n in (made // unit * unit, made // unit * unit + unit) if n > 0]\n")),
    "a rollout smaller than one prompt is 0 prompts": put(RO, ("if made % generations:", "if made > generations and made % generations:")),
    "an AssertionError in place of a ValueError": put(RO, ("raise ValueError", "raise AssertionError")),
    "the message is returned, not raised": put(RO, ("raise ValueError(", "return (")),
    "a ValueError without the numbers": put(RO, (SAY, '        raise ValueError("completions must be a multiple of the generations")\n')),
    "open: the numbers as floats (20.0 or 25.0)": put(RO, ("str(n) for n", "str(float(n)) for n")),
    "open: divides in float: beyond 2**53 completions the remainder is lost": put(RO, ("if made % generations:", "if made / generations != round(made / generations):")),
}

# ------------------------------------------------------------------------------------------------ run-bytes
RB = '''def run_bytes(sheet, tuning, slots):
    kind = tuning["kind"]
    adapters = 0 if kind == "full" else tuning["rank"] * sheet["adapter"]
    linear = 0.5 + 4 / 64 if kind == "4-bit" else 2
    trained = sheet["linear"] + sheet["other"] if kind == "full" else adapters
    return {"weights": linear * sheet["linear"] + 2 * sheet["other"] + 4 * adapters,
            "gradients": trained * (2 if kind == "full" else 4),
            "optimizer": trained * (12 if kind == "full" else 8),
            "activations": slots * sheet["layers"] * sheet["kept"],
            "logits": slots * 10 * sheet["vocabulary"]}
'''
RIGHT["run-bytes"] = {
    "plain": RB,
    "numpy, the table as a matrix": '''TABLE = np.array([[2, 2, 0.5625], [2, 2, 2], [0, 4, 4]])

def run_bytes(sheet, tuning, slots):
    at = ("full", "lora", "4-bit").index(tuning["kind"])
    sizes = np.array([sheet["linear"], sheet["other"], tuning["rank"] * sheet["adapter"]], dtype=np.float64)
    trained = sizes[:2].sum() if at == 0 else sizes[2]
    gradient, states = ((2, 12), (4, 8), (4, 8))[at]
    return {"weights": sizes @ TABLE[:, at], "gradients": trained * gradient, "optimizer": trained * states,
            "activations": np.int64(slots) * sheet["kept"] * sheet["layers"],
            "logits": np.int64(slots) * sheet["vocabulary"] * 10}
''',
    "whole numbers: ninths of a half byte, three branches": '''def run_bytes(sheet, tuning, slots):
    n, other, a = sheet["linear"], sheet["other"], sheet["adapter"] * tuning["rank"]
    made = {"activations": sheet["kept"] * slots * sheet["layers"], "logits": sheet["vocabulary"] * slots * 10}
    if tuning["kind"] == "full":
        return {**made, "weights": 2 * (n + other), "gradients": 2 * (n + other), "optimizer": 12 * (n + other)}
    frozen = 2 * n if tuning["kind"] == "lora" else n * 9 / 16
    return {**made, "weights": frozen + 2 * other + 4 * a, "gradients": 4 * a, "optimizer": 8 * a}
''',
    "torch float64": '''def run_bytes(sheet, tuning, slots):
    full = tuning["kind"] == "full"
    sizes = torch.tensor([sheet["linear"], sheet["other"], 0 if full else tuning["rank"] * sheet["adapter"]], dtype=torch.float64)
    each = torch.tensor([0.5 + 4 / 64 if tuning["kind"] == "4-bit" else 2.0, 2.0, 4.0], dtype=torch.float64)
    trained = sizes[:2].sum() if full else sizes[2]
    return {"weights": (sizes * each).sum().item(), "gradients": (trained * (2 if full else 4)).item(),
            "optimizer": (trained * (12 if full else 8)).item(),
            "activations": float(slots * sheet["layers"] * sheet["kept"]),
            "logits": float(10 * slots * sheet["vocabulary"])}
''',
}
WRONG["run-bytes"] = {
    "4 bits without the scales": put(RB, ("0.5 + 4 / 64", "0.5")),
    "the scales as 4/64 of the half byte": put(RB, ("0.5 + 4 / 64", "0.5 * (1 + 4 / 64)")),
    "4 bits are 4 bytes/8 plus a scale of 4 bytes a weight": put(RB, ("0.5 + 4 / 64", "0.5 + 4")),
    "the rest is in 4 bits too": put(RB, ("2 * sheet", "linear * sheet")),
    "adapters forgotten among the weights": put(RB, (" + 4 * adapters", "")),
    "adapters in 16 bit": put(RB, ("4 * adapters", "2 * adapters")),
    "full tuning has adapters too": put(RB, ('0 if kind == "full" else ', "")),
    "full tuning trains its adapters too": put(RB, ('0 if kind == "full" else ', ""), (' + sheet["other"] if kind', ' + sheet["other"] + adapters if kind')),
    "frozen weights have gradients": put(RB, ('"gradients": trained * (2 if kind == "full" else 4)', '"gradients": 2 * (sheet["linear"] + sheet["other"]) + 4 * adapters')),
    "adapters: a gradient of 2 bytes": put(RB, ('(2 if kind == "full" else 4)', "2")),
    "adapters: an optimizer of 12 bytes": put(RB, ('(12 if kind == "full" else 8)', "12")),
    "full: an optimizer of 8 bytes": put(RB, ('(12 if kind == "full" else 8)', "8")),
    "full: only the layers' products are trained": put(RB, ('sheet["linear"] + sheet["other"] if', 'sheet["linear"] if')),
    "the rank is ignored": put(RB, ('tuning["rank"] * sheet', "sheet")),
    "the rank counts for the weights alone": put(RB, (' else adapters\n', ' else sheet["adapter"]\n')),
    "the rank counts twice, for both factors": put(RB, ('tuning["rank"] * sheet', 'tuning["rank"] ** 2 * sheet')),
    "the adapters once for each layer": put(RB, ('tuning["rank"] * sheet["adapter"]', 'tuning["rank"] * sheet["adapter"] * sheet["layers"]')),
    "frozen layers keep no activations": put(RB, ('slots * sheet["layers"] * sheet["kept"]', '(slots * sheet["layers"] * sheet["kept"] if kind == "full" else 0)')),
    "activations of the trained share": put(RB, ('slots * sheet["layers"] * sheet["kept"]', 'slots * sheet["layers"] * sheet["kept"] * trained / (sheet["linear"] + sheet["other"])')),
    "activations of a 4-bit model are in 4 bits": put(RB, ('slots * sheet["layers"] * sheet["kept"]', 'slots * sheet["layers"] * sheet["kept"] * (0.25 if kind == "4-bit" else 1)')),
    "activations of one layer": put(RB, ('slots * sheet["layers"] * sheet["kept"]', 'slots * sheet["kept"]')),
    "logits of each layer": put(RB, ('slots * 10 *', 'slots * sheet["layers"] * 10 *')),
    "logits once, not for each slot": put(RB, ("slots * 10 *", "10 *")),
    "logits in 2 bytes": put(RB, ("slots * 10 *", "slots * 2 *")),
    "no slots count as one": put(RB, ('    kind = tuning["kind"]\n', '    kind, slots = tuning["kind"], slots or 1\n')),
    "changes the caller's sheet: adapters grow with every call": put(RB, ('tuning["rank"] * sheet["adapter"]\n', 'sheet.update(adapter=tuning["rank"] * sheet["adapter"]) or sheet["adapter"]\n')),
    "remembers the answer by kind and slots: another rank or sheet gets the old one": put(RB, ("def run_bytes(", "SEEN = {}\n\ndef run_bytes("), ('    kind = tuning["kind"]\n', '    kind = tuning["kind"]\n    if (kind, slots) in SEEN:\n        return SEEN[kind, slots]\n'), ("    return {", "    made = SEEN[kind, slots] = {"), ('sheet["vocabulary"]}\n', 'sheet["vocabulary"]}\n    return made\n')),
    "gigabytes": put(RB, ("    return {", "    made = {"), ('sheet["vocabulary"]}\n', 'sheet["vocabulary"]}\n    return {name: n / 1e9 for name, n in made.items()}\n')),
    "a total beside the five (a key too many: sums of the values are twice as large)": put(RB, ("    return {", "    made = {"), ('sheet["vocabulary"]}\n', 'sheet["vocabulary"]}\n    return {**made, "total": sum(made.values())}\n')),
    "open: linear is rounded down to whole blocks of 64": put(RB, ('linear * sheet["linear"]', '(sheet["linear"] // 64 * 36 if kind == "4-bit" else 2 * sheet["linear"])')),
}

# ------------------------------------------------------------------------------------------------ fitting-rows
def fixed(value):
    return f"def fitting_rows():\n    return {value}\n"


RIGHT["fitting-rows"] = {
    "read off": fixed("17"),
    "computed from the sheet": '''def fitting_rows():
    kept_input = 2 * 4096
    states = 0.5625 * sheet["linear"] + 2 * sheet["other"] + 16 * 64 * sheet["adapter"]
    slot = sheet["layers"] * kept_input + sheet["kept"] + 10 * sheet["vocabulary"]
    return int((24e9 - states) // (512 * slot))
''',
    "a loop, numpy int": '''def fitting_rows():
    states = np.dot([0.5 + 4 / 64, 2, 64 * (4 + 4 + 8)], [sheet["linear"], sheet["other"], sheet["adapter"]])
    slot = 32 * 2 * 4096 + sheet["kept"] + 10 * sheet["vocabulary"]
    rows = np.int64(0)
    while states + (rows + 1) * 512 * slot <= 24e9:
        rows += 1
    return rows
''',
}
WRONG["fitting-rows"] = {
    "without recomputation": fixed("4"),
    "lora in place of 4-bit": fixed("5"),
    "rank 16": fixed("19"),
    "the first that does not fit": fixed("18"),
    "one too few": fixed("16"),
    "24 GiB in place of 24 GB": '''def fitting_rows():
    states = 0.5625 * sheet["linear"] + 2 * sheet["other"] + 16 * 64 * sheet["adapter"]
    return int((24 * 2**30 - states) // (512 * (32 * 8192 + sheet["kept"] + 10 * sheet["vocabulary"])))
''',
    "slots, not rows": fixed("17 * 512"),
    "logits forgotten": fixed("69"),
    "rows of 640 slots": fixed("13"),
    "rows of 1,024 slots": fixed("8"),
    "rows of 256 slots": fixed("34"),
    "a fraction of a row": fixed("17.43"),
    "full tuning: none": fixed("0"),
    "a text": fixed('"17"'),
    "a list of all that fit": fixed("list(range(1, 18))"),
    "a range around it": fixed("(16, 18)"),
    "nan": fixed('float("nan")'),
    "True": fixed("True"),
    "nothing returned": "def fitting_rows():\n    rows = 17\n",
    "open: 17.0": fixed("17.0"),
}

# ------------------------------------------------------------------------------------------------ bill
BI = '''def bill(slots, flops, device, utilisation):
    count, peak, price = device["count"], device["peak"], device["price"]
    low, high = utilisation
    best = slots * flops / (count * peak) / 3600
    hours = (best / high, best / low)
    return {"hours": hours, "money": tuple(h * count * price for h in hours)}
'''
RIGHT["bill"] = {
    "plain": BI,
    "numpy float64, arrays": '''def bill(slots, flops, device, utilisation):
    share = np.array(utilisation, dtype=np.float64)[::-1]
    hours = float(slots) * float(flops) / (float(device["count"]) * float(device["peak"]) * share) / 3600.0
    return {"hours": hours, "money": hours * device["count"] * device["price"]}
''',
    "Fractions, device hours first": '''from fractions import Fraction

def bill(slots, flops, device, utilisation):
    paid = [Fraction(slots) * Fraction(flops) / Fraction(device["peak"]) / Fraction(share) / 3600 for share in utilisation]
    paid.sort()
    return {"money": [float(h * Fraction(device["price"])) for h in paid],
            "hours": [float(h / device["count"]) for h in paid]}
''',
    "torch float64, logarithms": '''def bill(slots, flops, device, utilisation):
    logs = torch.tensor([float(slots), float(flops), 1 / device["peak"], 1 / device["count"], 1 / 3600], dtype=torch.float64).log().sum()
    most, least = (logs.exp() / torch.tensor(utilisation, dtype=torch.float64)).tolist()
    rate = device["price"] * device["count"]
    return {"hours": (least, most), "money": (least * rate, most * rate)}
''',
}
WRONG["bill"] = {
    "least hours from the least share": put(BI, ("(best / high, best / low)", "(best / low, best / high)")),
    "hours of all devices, not on the clock": put(BI, ("(count * peak)", "peak"), ("h * count * price", "h * price")),
    "hours of all devices, and these paid for every device again": put(BI, ("(count * peak)", "peak")),
    "one device is paid": put(BI, ("h * count * price", "h * price")),
    "seconds": put(BI, (" / 3600", "")),
    "minutes": put(BI, (" / 3600", " / 60")),
    "days": put(BI, (" / 3600", " / 86400")),
    "hours, but money by the second": put(BI, ("h * count * price", "h * 3600 * count * price")),
    "the share multiplies": put(BI, ("(best / high, best / low)", "(best * low, best * high)")),
    "the peak is reached": put(BI, ("(best / high, best / low)", "(best, best)")),
    "the mean share for both ends": put(BI, ("(best / high, best / low)", "(best / ((low + high) / 2),) * 2")),
    "only the most: one number": put(BI, ("(best / high, best / low)", "(best / low,)")),
    "one number where both shares are equal": put(BI, ("    return", "    if low == high:\n        return {\"hours\": hours[0], \"money\": hours[0] * count * price}\n    return")),
    "money as one number, the mean": put(BI, ("tuple(h * count * price for h in hours)", "sum(hours) / 2 * count * price")),
    "money of the least for both ends": put(BI, ("tuple(h * count * price for h in hours)", "(hours[0] * count * price, hours[0] * count * price)")),
    "money with its ends swapped": put(BI, ("for h in hours", "for h in hours[::-1]")),
    "whole hours, rounded down": put(BI, ("(count * peak) / 3600", "(count * peak) // 3600")),
    "rounded to two digits": put(BI, ("    return", "    hours = tuple(round(h, 2) for h in hours)\n    return")),
    "a price of 0 counts as 1": put(BI, ("h * count * price", "h * count * (price or 1)")),
    "three times the FLOPs: forward and backward again": put(BI, ("slots * flops /", "3 * slots * flops /")),
    "the product in int64 overflows": put(BI, ("slots * flops /", "int(np.array(slots).astype(np.int64) * np.array(flops).astype(np.int64)) /")),
    "a share above 0.56 is cut": put(BI, ("    low, high = utilisation\n", "    low, high = (min(share, 0.56) for share in utilisation)\n")),
    "the utilisation of the library, not the one given": put(BI, ("    low, high = utilisation\n", "    low, high = cluster.UTILISATION\n")),
    "the peak of the H100, not the one given": put(BI, ('device["peak"]', "h100.flops_per_second")),
    "each device more costs 1 % of utilisation": put(BI, ("    best = slots", "    low, high = low * 0.99 ** (count - 1), high * 0.99 ** (count - 1)\n    best = slots")),
    "changes the caller's device: a second bill of the same device is too small": put(BI, ('    best = slots * flops / (count * peak) / 3600', '    device["peak"] *= count\n    best = slots * flops / device["peak"] / 3600')),
    "remembers the bill by slots and FLOPs: another price or share gets the old one": put(BI, ("def bill(", "PAID = {}\n\ndef bill("), ("    return {", "    return PAID.setdefault((slots, flops), {"), ("for h in hours)}", "for h in hours)})")),
    "open: every started hour is paid whole": put(BI, ("h * count * price", "-(-h // 1) * count * price")),
}

# ------------------------------------------------------------------------------------------------ plan-run
PL = '''import math

def plan_run(lengths, sheet, device, wish):
    row, count, each, kind = wish["row"], device["count"], wish.get("generations"), wish["kind"]
    longest = max(lengths)
    if longest > row:
        raise ValueError(f"the longest document has {longest} tokens")
    unit = row * (count if each is None else math.lcm(count, each))
    if wish["slots"] % unit:
        below = wish["slots"] // unit * unit
        near = [n for n in (below, below + unit) if n > 0]
        raise ValueError("slots do not split, nearest: " + " or ".join(map(str, near)))

    def total(of, slots):
        return sum(run_bytes(sheet, {"kind": of, "rank": wish["rank"]}, slots).values())

    room = device["bytes"]
    if total(kind, row) > room:
        good = [of for of in ("full", "lora", "4-bit") if total(of, row) <= room]
        if good:
            raise ValueError("no row fits; this would: " + ", ".join(good))
        slot = total("full", 1) - total("full", 0)
        most = max(0, max(int((room - total(of, 0)) // slot) for of in ("full", "lora", "4-bit")))
        raise ValueError(f"no row fits; the longest that does: {most}")
    sequences = wish["slots"] // row
    share = sequences // count
    rows = next(n for n in range(share, 0, -1) if share % n == 0 and total(kind, n * row) <= room)
    made = len(pack_rows(lengths, row)) if each is None else len(lengths) * each
    slots = wish["epochs"] * made * row
    tokens = wish["epochs"] * sum(lengths) * (1 if each is None else each)
    steps = wish["epochs"] * -(-made // sequences)
    plan = {"rows": rows, "accumulation": share // rows, "steps": steps, "tokens": tokens, "slots": slots,
            "bytes": total(kind, rows * row)}
    plan.update(bill(slots, sheet["flops"], device, wish["utilisation"]))
    if each is not None:
        plan["prompts"] = sequences // each
    return plan
'''
CHATTY = '''from math import ceil, lcm

KINDS = ("full", "lora", "4-bit")

def plan_run(lengths, sheet, device, wish):
    grouped = "generations" in wish
    each, row, count = wish.get("generations", 1), wish["row"], device["count"]
    if any(n > row for n in lengths):
        raise ValueError(f"a document of {max(lengths)} tokens is longer than the row of {row} slots")
    unit = lcm(count, each) * row if grouped else count * row
    times, over = divmod(wish["slots"], unit)
    if over:
        offers = [str(n * unit) for n in (times, times + 1) if n]
        raise ValueError(f"{wish['slots']} slots are no multiple of {unit}; nearest: {' and '.join(offers)}")
    need = {kind: sum(run_bytes(sheet, dict(kind=kind, rank=wish["rank"]), row).values()) for kind in KINDS}
    if need[wish["kind"]] > device["bytes"]:
        fits = [kind for kind in KINDS if need[kind] <= device["bytes"]]
        if fits:
            raise ValueError(f"{wish['kind']} does not fit, but {' and '.join(fits)} would")
        longest = 0
        for kind in KINDS:
            states = sum(run_bytes(sheet, dict(kind=kind, rank=wish["rank"]), 0).values())
            each_slot = (need[kind] - states) / row
            longest = max(longest, int((device["bytes"] - states) // each_slot))
        raise ValueError(TOLD)
    sequences = [[n] for n in range(len(lengths)) for _ in range(each)] if grouped else pack_rows(list(lengths), row)
    step = wish["slots"] // row
    steps = tokens = slots = 0
    for _ in range(wish["epochs"]):
        for start in range(0, len(sequences), step):
            part = sequences[start : start + step]
            steps, slots = steps + 1, slots + len(part) * row
            tokens += sum(lengths[n] for one in part for n in one)
    rows = 0
    for n in range(1, step // count + 1):
        if step // count % n == 0:
            total = sum(run_bytes(sheet, dict(kind=wish["kind"], rank=wish["rank"]), n * row).values())
            if total <= device["bytes"]:
                rows, best = n, total
    found = {"rows": rows, "accumulation": step // count // rows, "steps": steps, "tokens": int(tokens), "slots": slots,
             "bytes": best, **bill(slots, sheet["flops"], device, wish["utilisation"])}
    return {**found, "prompts": step // each} if grouped else found
'''
RIGHT["plan-run"] = {
    "plain": PL,
    "chatty: tells the wish's own numbers, counts step by step": CHATTY.replace("TOLD", 'f"nothing fits: the longest row is {longest}"'),
    "open: tells the wished row where none fits": CHATTY.replace("TOLD", 'f"no row of {row} slots fits; the longest that could is {longest}"'),
    "numpy, standing alone (own formulas, own first-fit decreasing), torch sums": '''def plan_run(lengths, sheet, device, wish):
    row, count, room = wish["row"], device["count"], device["bytes"]
    group = wish.get("generations", 0)
    if np.max(lengths) > row:
        raise ValueError("too long: " + str(int(np.max(lengths))))
    unit = row * (int(np.lcm(count, group)) if group else count)
    below = wish["slots"] - wish["slots"] % unit
    if below < wish["slots"]:
        raise ValueError(f"nearest slots: {below} or {below + unit}" if below else f"nearest slots: {unit}")
    a = wish["rank"] * sheet["adapter"]
    n, o = sheet["linear"], sheet["other"]
    states = {"full": 16 * (n + o), "lora": 2 * n + 2 * o + 16 * a, "4-bit": 9 * n / 16 + 2 * o + 16 * a}
    slot = sheet["layers"] * sheet["kept"] + 10 * sheet["vocabulary"]
    longest = {kind: max(0, int((room - size) // slot)) for kind, size in states.items()}
    if longest[wish["kind"]] < row:
        good = [kind for kind in longest if longest[kind] >= row]
        raise ValueError(f"would fit: {good}" if good else f"longest row: {max(longest.values())}")
    share = wish["slots"] // row // count
    divisors = np.arange(1, share + 1)
    divisors = divisors[share % divisors == 0]
    rows = int(divisors[divisors * row <= longest[wish["kind"]]].max())
    if group:
        made = len(lengths) * group
    else:
        free = []
        for size in sorted(lengths, reverse=True):
            at = next((k for k, left in enumerate(free) if left >= size), None)
            if at is None:
                free.append(row - size)
            else:
                free[at] -= size
        made = len(free)
    epochs = wish["epochs"]
    slots = epochs * made * row
    hours = [slots * sheet["flops"] / (count * device["peak"] * share_) / 3600 for share_ in wish["utilisation"][::-1]]
    found = {"rows": rows, "accumulation": share // rows,
             "steps": epochs * ((made + share * count - 1) // (share * count)),
             "tokens": epochs * int(torch.tensor(lengths, dtype=torch.int64).sum()) * (group or 1), "slots": slots,
             "bytes": states[wish["kind"]] + rows * row * slot,
             "hours": tuple(hours), "money": tuple(h * count * device["price"] for h in hours)}
    if group:
        found["prompts"] = share * count // group
    return found
''',
}
ROWS = "    rows = next(n for n in range(share, 0, -1) if share % n == 0 and total(kind, n * row) <= room)\n"
NEARS = "        near = [n for n in (below, below + unit) if n > 0]\n"
MOST = '        most = max(0, max(int((room - total(of, 0)) // slot) for of in ("full", "lora", "4-bit")))\n'
GOOD = '        good = [of for of in ("full", "lora", "4-bit") if total(of, row) <= room]\n'
UNIT = "    unit = row * (count if each is None else math.lcm(count, each))\n"
MADE = "    made = len(pack_rows(lengths, row)) if each is None else len(lengths) * each\n"
WRONG["plan-run"] = {
    "accumulation forgets the devices": put(PL, ('"accumulation": share // rows', '"accumulation": sequences // rows')),
    "rows and accumulation forget the devices: the whole step on each": put(PL, ("    share = sequences // count\n", "    share = sequences\n")),
    "the most rows that fit, accumulation rounded up: another step than wished": put(PL, ("if share % n == 0 and total", "if total"), ("share // rows", "-(-share // rows)")),
    "bytes must be below the device's": put(PL, ("n * row) <= room", "n * row) < room"), ("total(kind, row) > room", "total(kind, row) >= room")),
    "bytes must be below the device's, but for one row": put(PL, ("n * row) <= room)", "n * row) < room or n == 1)")),
    "rows by halving the share only": put(PL, (ROWS, "    rows = share\n    while total(kind, rows * row) > room and rows % 2 == 0:\n        rows //= 2\n    if total(kind, rows * row) > room:\n        rows = 1\n")),
    "rows are powers of two only": put(PL, ("if share % n == 0 and", "if share % n == 0 and n & (n - 1) == 0 and")),
    "the fewest rows: always 1": put(PL, (ROWS, "    rows = 1\n")),
    "searching upwards, stops at the first number that does not divide": put(PL, (ROWS, "    rows = 1\n    while share % (rows + 1) == 0 and total(kind, (rows + 1) * row) <= room:\n        rows += 1\n")),
    "the memory of all devices holds one micro-batch": put(PL, ('room = device["bytes"]', 'room = device["bytes"] * count')),
    "a micro-batch must hold whole prompts": put(PL, ("if share % n == 0 and", "if share % n == 0 and (each is None or n % each == 0 or n == 1) and")),
    "refused where the whole step does not fit at once": put(PL, ("    if total(kind, row) > room:", "    if total(kind, wish[\"slots\"] // count) > room:")),
    "epochs are joined: one short step at the end": put(PL, ('wish["epochs"] * -(-made // sequences)', '-(-wish["epochs"] * made // sequences)')),
    "the short step of an epoch is dropped": put(PL, ('wish["epochs"] * -(-made // sequences)', 'wish["epochs"] * (made // sequences)')),
    "the short step is dropped, its slots and all": put(PL, ('    slots = wish["epochs"] * made * row\n', '    made = made // sequences * sequences or made\n    slots = wish["epochs"] * made * row\n')),
    "one epoch of steps": put(PL, ('wish["epochs"] * -(-made', '-(-made')),
    "slots: every step is full": put(PL, ('    plan = {"rows"', '    slots = steps * wish["slots"]\n    plan = {"rows"')),
    "slots: a short step gets whole rows on every device": put(PL, ('    slots = wish["epochs"] * made * row\n', '    slots = wish["epochs"] * -(-made // count) * count * row\n')),
    "slots: a short step gets whole micro-batches": put(PL, ('    slots = wish["epochs"] * made * row\n', '    slots = wish["epochs"] * -(-made // (rows * count)) * rows * count * row\n')),
    "slots of one epoch": put(PL, ('    slots = wish["epochs"] * made * row', '    slots = made * row')),
    "tokens of one epoch": put(PL, ('tokens = wish["epochs"] * sum', 'tokens = sum')),
    "tokens: targets counted": put(PL, ("sum(lengths) *", "(sum(lengths) - len(lengths)) *")),
    "tokens: padding counted": put(PL, ('"tokens": tokens', '"tokens": slots')),
    "tokens: generations forgotten": put(PL, (" * (1 if each is None else each)\n", "\n")),
    "the bill is for real tokens": put(PL, ("bill(slots, ", "bill(tokens, ")),
    "the bill is for full steps": put(PL, ("bill(slots, ", 'bill(steps * wish["slots"], ')),
    "the bill is for one epoch": put(PL, ("bill(slots, ", "bill(made * row, ")),
    "the bill of one device": put(PL, ('bill(slots, sheet["flops"], device,', 'bill(slots, sheet["flops"], {**device, "count": 1},')),
    "the bill has the library's utilisation": put(PL, ('wish["utilisation"]', "cluster.UTILISATION")),
    "bytes of one row": put(PL, ('"bytes": total(kind, rows * row)', '"bytes": total(kind, row)')),
    "bytes of the whole share of a step": put(PL, ('"bytes": total(kind, rows * row)', '"bytes": total(kind, share * row)')),
    "bytes of all devices": put(PL, ('"bytes": total(kind, rows * row)', '"bytes": count * total(kind, rows * row)')),
    "bytes: the dict of the parts": put(PL, ('"bytes": total(kind, rows * row)', '"bytes": run_bytes(sheet, {"kind": kind, "rank": wish["rank"]}, rows * row)')),
    "generations of 1 are packed like documents": put(PL, ('each, kind = wish["row"], device["count"], wish.get("generations"), wish["kind"]', 'each, kind = wish["row"], device["count"], wish.get("generations"), wish["kind"]\n    grouped, each = each, None if each == 1 else each') , ("    if each is not None:\n        plan[", "    if grouped is not None:\n        plan["), ("sequences // each\n", "sequences // grouped\n")),
    "generations are packed into rows": put(PL, (MADE, "    made = len(pack_rows(lengths * (each or 1), row))\n")),
    "generations: one row for each document": put(PL, (MADE, "    made = len(pack_rows(lengths, row)) if each is None else len(lengths)\n")),
    "prompts of the run": put(PL, ('plan["prompts"] = sequences // each', 'plan["prompts"] = len(lengths)')),
    "prompts of one device": put(PL, ('plan["prompts"] = sequences // each', 'plan["prompts"] = share // each')),
    "prompts are the completions": put(PL, ('plan["prompts"] = sequences // each', 'plan["prompts"] = sequences')),
    "prompts a fraction (15.0)": put(PL, ('plan["prompts"] = sequences // each', 'plan["prompts"] = sequences / each')),
    "prompts without generations too": put(PL, ('    if each is not None:\n        plan["prompts"] = sequences // each', '    plan["prompts"] = sequences // (each or 1)')),
    "generations are asked of every wish (KeyError)": put(PL, ('wish.get("generations")', 'wish["generations"]')),
    "pack_rows in the order of the documents: next fit": put(PL, (MADE, '''    if each is None:
        made, used = 0, row
        for size in lengths:
            if used + size > row:
                made, used = made + 1, 0
            used += size
    else:
        made = len(lengths) * each
''')),
    "rows made by tokens / row, rounded up": put(PL, ("len(pack_rows(lengths, row)) if", "-(-sum(lengths) // row) if")),
    "one document a row, without packing": put(PL, ("len(pack_rows(lengths, row)) if", "len(lengths) if")),
    "first fit without sorting": put(PL, (MADE, '''    if each is None:
        free = []
        for size in lengths:
            for at, left in enumerate(free):
                if left >= size:
                    free[at] -= size
                    break
            else:
                free.append(row - size)
        made = len(free)
    else:
        made = len(lengths) * each
''')),
    "a document as long as the row is refused": put(PL, ("longest > row", "longest >= row")),
    "the first document that is too long is named, not the longest": put(PL, ("{longest} tokens", "{next(n for n in lengths if n > row)} tokens")),
    "the longest document is named by its number": put(PL, ("{longest} tokens", "{lengths.index(longest)} as its number")),
    "too long documents are cut": put(PL, ("    if longest > row:\n        raise ValueError(f\"the longest document has {longest} tokens\")\n", "    lengths = [min(n, row) for n in lengths]\n")),
    "with generations a document may be longer than a row": put(PL, ("longest > row", "longest > row and each is None")),
    "slots rounded down to what splits": put(PL, ("    if wish[\"slots\"] % unit:\n", "    wish = {**wish, \"slots\": max(unit, wish[\"slots\"] // unit * unit)}\n    if wish[\"slots\"] % unit:\n")),
    "whole rows only: the devices are forgotten": put(PL, (UNIT, "    unit = row * (each or 1)\n"), ("    share = sequences // count\n", "    share = max(1, sequences // count)\n")),
    "whole prompts are forgotten": put(PL, (UNIT, "    unit = row * count\n")),
    "count x generations in place of their least common multiple": put(PL, ("math.lcm(count, each)", "count * each")),
    "the larger of count and generations": put(PL, ("math.lcm(count, each)", "max(count, each)")),
    "the refusal offers 0": put(PL, (" if n > 0]", "]")),
    "the refusal names only the closer neighbour": put(PL, (NEARS, '        near = [min((n for n in (below, below + unit) if n), key=lambda n: abs(n - wish["slots"]))]\n')),
    "the refusal names only the one below": put(PL, (NEARS, "        near = [below]\n")),
    "the refusal names two on each side": put(PL, (NEARS, "        near = [n for n in range(below - unit, below + 3 * unit, unit) if n > 0]\n")),
    "the refusal names whole rows near, that do not split over devices": put(PL, (NEARS, '        near = [wish["slots"] // row * row, wish["slots"] // row * row + row]\n')),
    "the refusal names numbers of rows, not slots": put(PL, (NEARS, "        near = [n // row for n in (below, below + unit) if n > 0]\n")),
    "the remainder in float32: one slot too many of 8 billion is not seen": put(PL, ('if wish["slots"] % unit:', 'if np.float32(wish["slots"]) % np.float32(unit):')),
    "every other kind is named, fit or not": put(PL, (GOOD, '        good = [of for of in ("full", "lora", "4-bit") if of != kind]\n')),
    "the first kind that fits is named alone": put(PL, ('", ".join(good)', "good[0]")),
    "only the smallest is named: 4-bit": put(PL, ('", ".join(good)', "good[-1]")),
    "only kinds of fewer bytes are tried: from lora never full": put(PL, (GOOD, '        kinds = ("full", "lora", "4-bit")\n        good = [of for of in kinds[kinds.index(kind) + 1 :] if total(of, row) <= room]\n')),
    "kinds are tried without their row: the states alone": put(PL, (GOOD, '        good = [of for of in ("full", "lora", "4-bit") if total(of, 0) <= room]\n')),
    "kinds are tried with rank 16": put(PL, (GOOD, '        good = [of for of in ("full", "lora", "4-bit") if sum(run_bytes(sheet, {"kind": of, "rank": 16}, row).values()) <= room]\n')),
    "kinds must be below the device's bytes": put(PL, (GOOD, '        good = [of for of in ("full", "lora", "4-bit") if total(of, row) < room]\n')),
    "4-bit is named qlora": put(PL, ('", ".join(good)', '", ".join(good).replace("4-bit", "qlora")')),
    "the longest row of the wished kind": put(PL, (MOST, "        most = max(0, int((room - total(kind, 0)) // slot))\n")),
    "the longest row of 4-bit, though another may hold more": put(PL, (MOST, '        most = max(0, int((room - total("4-bit", 0)) // slot))\n')),
    "the longest row below 0": put(PL, (MOST, '        most = max(int((room - total(of, 0)) // slot) for of in ("full", "lora", "4-bit"))\n')),
    "the longest row at least 1": put(PL, ("most = max(0,", "most = max(1,")),
    "the longest row rounded up": put(PL, ("int((room - total(of, 0)) // slot)", "math.ceil((room - total(of, 0)) / slot)")),
    "the longest row one too short (bytes below, not at most)": put(PL, ("int((room - total(of, 0)) // slot)", "math.ceil((room - total(of, 0)) / slot) - 1")),
    "the longest row without logits": put(PL, ("        slot = total(\"full\", 1) - total(\"full\", 0)\n", "        slot = sheet[\"layers\"] * sheet[\"kept\"]\n")),
    "the longest row of each kind is named": put(PL, (MOST, ""), ("{most}", "{[max(0, int((room - total(of, 0)) // slot)) for of in ('full', 'lora', '4-bit')]}")),
    "rows of 0 in place of a refusal": put(PL, ("    if total(kind, row) > room:", "    if False:"), ("<= room)\n    made", "<= room) if total(kind, row) <= room else 0\n    made"), ("share // rows", "share // max(1, rows)")),
    "another kind is taken where the wished does not fit": put(PL, ('            raise ValueError("no row fits; this would: " + ", ".join(good))\n        slot', '            return plan_run(lengths, sheet, device, {**wish, "kind": good[0]})\n        slot')),
    "RuntimeError in place of ValueError where nothing fits": put(PL, ('raise ValueError(f"no row fits; the longest', 'raise RuntimeError(f"no row fits; the longest')),
    "bytes remembered by kind and slots: another sheet or rank gets the old ones": put(PL, ("def plan_run(", "BYTES = {}\n\ndef plan_run("), ('        return sum(run_bytes', '        if (of, slots) not in BYTES:\n            BYTES[of, slots] = sum(run_bytes'), ("slots).values())\n", "slots).values())\n        return BYTES[of, slots]\n")),
    "changes the caller's wish: generations are taken out, a second plan has none": put(PL, ('wish.get("generations")', 'wish.pop("generations", None)')),
    "changes the caller's lengths: repeated for the epochs": put(PL, ("    made = len(pack", '    lengths *= wish["epochs"]\n    made = len(pack'), ("len(lengths) * each\n", 'len(lengths) * each // wish["epochs"]\n'), ("len(pack_rows(lengths, row))", 'len(pack_rows(lengths[: len(lengths) // wish["epochs"]], row))'), ('wish["epochs"] * sum(lengths)', "sum(lengths)")),
    "the most rows that fit is held against 64 at most": put(PL, ("range(share, 0, -1)", "range(min(share, 64), 0, -1)")),
    "accumulation a float": put(PL, ('"accumulation": share // rows', '"accumulation": share / rows')),
    "hours only, money forgotten": put(PL, ('    plan.update(bill(slots, sheet["flops"], device, wish["utilisation"]))', '    plan["hours"] = bill(slots, sheet["flops"], device, wish["utilisation"])["hours"]')),
    "epochs packed together: rows mix epochs": put(PL, (MADE, '    made = (len(pack_rows(lengths * wish["epochs"], row)) / wish["epochs"]) if each is None else len(lengths) * each\n'), ('wish["epochs"] * -(-made // sequences)', 'wish["epochs"] * math.ceil(made / sequences)'), ('wish["epochs"] * made * row', 'round(wish["epochs"] * made) * row')),
    "open: where none fits, says 'none of full, lora, 4-bit', then the longest row": put(PL, ('no row fits; the longest that does', 'none of full, lora, 4-bit fits; the longest row that does')),
    "open: tells the bytes that are missing beside the longest row": put(PL, ("that does: {most}", "that does: {most}; {int(total(kind, row) - room)} bytes are missing")),
}

# ------------------------------------------------------------------------------------------------ foretold-test
RIGHT["foretold-test"] = {
    "cases by hand": '''def foretold_test(foretold):
    def near(got, want):
        assert abs(got - want) <= 1e-6 * max(1.0, abs(want)), (got, want)
    near(foretold([(8, 9), (10, 1), (30, 3)], 20), 2)
    near(foretold([(8, 9), (10, 2), (30, 1), (20, 7), (40, 5)], 20), 3)
    near(foretold([(8, 9), (10, 2), (30, 1), (20, 7), (40, 5)], 250), 37.5)
    near(foretold([(8, 9), (10, 2), (30, 1), (20, 7), (40, 5)], 7), 1.05)
    near(foretold([(80, 0.01), (5, 4), (25, 1.5), (10, 0.5), (15, 2.25)], 33), 33 * 8.25 / 55)
    near(foretold([(1, 100), (64, 0.5)], 96), 0.75)
    near(foretold([(50, 5), (50, 5), (50, 6), (50, 4), (50, 5), (50, 8), (50, 2)], 1), 0.1)
    near(foretold([(9, 9), (100, 3), (100, 1), (1, 1), (60, 5)], 1000), 1000 * 10 / 261)
''',
    "random trials against the formula (numpy)": '''def foretold_test(foretold):
    rng = np.random.default_rng(3)
    for many in (2, 3, 4, 5, 6, 9, 14):
        for _ in range(6):
            slots = rng.integers(1, 500, many)
            seconds = rng.uniform(0.05, 9.0, many)
            seconds[0] = rng.choice([0.001, 200.0])
            trial = [(int(n), float(s)) for n, s in zip(slots, seconds)]
            for more in (1, 37, 211, 5003):
                want = more * seconds[1:].sum() / slots[1:].sum()
                np.testing.assert_allclose(foretold(list(trial), more), want, rtol=1e-6)
''',
    "pytest.approx and Fractions": '''from fractions import Fraction

def foretold_test(foretold):
    import math
    trials = [
        [(3, 30), (7, 2), (11, 1), (2, 5), (13, 3)],
        [(300, 1), (7, 2), (11, 6), (2, 5), (13, 3), (4, 1)],
        [(5, 1), (40, 1), (10, 4), (20, 2)],
        [(5, 8), (40, 9), (10, 4), (20, 2), (30, 6)],
    ]
    for trial in trials:
        pace = Fraction(sum(s for _, s in trial[1:]), sum(n for n, _ in trial[1:]))
        for slots in (1, 10, 47, 1001):
            got = foretold(trial, slots)
            assert math.isclose(got, float(pace * slots), rel_tol=1e-5), (trial, slots, got)
''',
    "returns False, torch": '''def foretold_test(foretold):
    good = True
    for seed in range(12):
        make = torch.Generator().manual_seed(seed)
        slots = torch.randint(3, 90, (seed % 5 + 3,), generator=make)
        seconds = torch.rand(len(slots), generator=make, dtype=torch.float64) * 5 + 0.1
        seconds[0] = 0.01 if seed % 2 else 99.0
        trial = list(zip(slots.tolist(), seconds.tolist()))
        for more in (13, 145, 1999):
            want = float(seconds[1:].sum() * more / slots[1:].sum())
            good = good and abs(foretold(trial, more) / want - 1) < 1e-6
    return bool(good)
''',
}
FT = '''def foretold_test(foretold):
    trials = [[(3, 30), (7, 2), (11, 1), (2, 5), (13, 3)], [(300, 1), (7, 2), (11, 6), (2, 5), (13, 3), (4, 1)],
              [(5, 1), (40, 1), (10, 4), (20, 2)], [(5, 8), (40, 9), (10, 4), (20, 2), (30, 6)]]
    for trial in trials:
        for slots in (1, 10, 47, 1001):
            want = slots * sum(s for _, s in trial[1:]) / sum(n for n, _ in trial[1:])
            got = foretold(trial, slots)
            assert abs(got - want) < 1e-6 * want
'''
WRONG["foretold-test"] = {
    "the printed case alone": '''def foretold_test(foretold):
    assert abs(foretold([(8, 9), (10, 1), (30, 3)], 20) - 2) < 1e-9
''',
    "finds only what is too high": put(FT, ("abs(got - want) < 1e-6 * want", "got - want < 1e-6 * want")),
    "finds only what is too low": put(FT, ("abs(got - want) < 1e-6 * want", "want - got < 1e-6 * want")),
    "open: a tolerance of half": put(FT, ("1e-6 * want", "0.5 * want")),
    "a tolerance of 10 seconds": put(FT, ("1e-6 * want", "10")),
    "compares floats exactly (sums in another order are stopped)": '''def foretold_test(foretold):
    for trial in ([(3, 9), (7, 0.1), (11, 0.2), (2, 0.7), (13, 0.3)], [(3, 0.01), (17, 0.1), (31, 1.7), (2, 5.3), (13, 0.3)]):
        for slots in (1, 3, 10, 47, 49, 101, 1001, 7777):
            assert foretold(trial, slots) == slots * sum(s for _, s in trial[1:]) / sum(n for n, _ in trial[1:])
''',
    "all steps have one pace: 0.1 s a slot": '''def foretold_test(foretold):
    for slots in (5, 20, 333):
        assert abs(foretold([(8, 9), (10, 1), (30, 3), (20, 2)], slots) - slots / 10) < 1e-6
''',
    "all steps have the same slots": '''def foretold_test(foretold):
    for slots in (5, 20, 333):
        assert abs(foretold([(10, 9), (10, 1), (10, 5), (10, 3)], slots) - slots * 0.3) < 1e-6
''',
    "the warm-up is as fast as the rest": '''def foretold_test(foretold):
    for slots in (5, 21, 333):
        assert abs(foretold([(20, 4), (10, 1), (30, 9), (20, 2)], slots) - slots * 0.2) < 1e-6
''',
    "only one step after the warm-up": '''def foretold_test(foretold):
    for slots in (5, 21, 333):
        assert abs(foretold([(20, 90), (10, 1)], slots) - slots * 0.1) < 1e-6
''',
    "whole mean steps are asked only": '''def foretold_test(foretold):
    trial = [(8, 90), (10, 3), (30, 1), (20, 8)]
    for steps in (1, 2, 3, 10):
        assert abs(foretold(trial, 20 * steps) - 4 * steps) < 1e-6
''',
    "the slowest step is the first counted, the fastest the last; one number of slots": '''def foretold_test(foretold):
    assert abs(foretold([(8, 90), (10, 8), (30, 3), (20, 1)], 60) - 12) < 1e-6
''',
    "open: fewer slots than a step are asked only": put(FT, ("(1, 10, 47, 1001)", "(1,)"), ("1e-6 * want", "1e-2")),
    "open: two steps after the warm-up at most": '''def foretold_test(foretold):
    for trial in ([(8, 9), (10, 4), (30, 3)], [(80, 1), (30, 2), (10, 9)]):
        for slots in (1, 7, 20, 333):
            want = slots * (trial[1][1] + trial[2][1]) / (trial[1][0] + trial[2][0])
            assert abs(foretold(trial, slots) - want) < 1e-6 * want
''',
    "the warm-up counts": put(FT, ("trial[1:]", "trial")),
    "the warm-up's slots count, its seconds do not": put(FT, ("n for n, _ in trial[1:]", "n for n, _ in trial")),
    "wants the mean of the paces": put(FT, ("slots * sum(s for _, s in trial[1:]) / sum(n for n, _ in trial[1:])", "slots * sum(s / n for n, s in trial[1:]) / (len(trial) - 1)")),
    "wants the median pace": put(FT, ("slots * sum(s for _, s in trial[1:]) / sum(n for n, _ in trial[1:])", "slots * float(np.median([s / n for n, s in trial[1:]]))")),
    "never fails: an assert of a pair": put(FT, ("assert abs(got - want) < 1e-6 * want", 'assert (abs(got - want) < 1e-6 * want, "far")')),
    "never fails: the assertion is caught": '''def foretold_test(foretold):
    try:
        assert abs(foretold([(8, 9), (10, 2), (30, 1), (20, 7)], 21) - 3.5) < 1e-6
    except AssertionError:
        print("wrong")
''',
    "returns the truth of the last case only": put(FT, ("            assert abs(got - want) < 1e-6 * want\n", "            good = abs(got - want) < 1e-6 * want\n    return bool(good)\n"), ("              [(5, 1), (40, 1), (10, 4), (20, 2)], [(5, 8), (40, 9), (10, 4), (20, 2), (30, 6)]]", "              [(5, 8), (10, 1), (30, 3)]]")),
    "returns what it should not: False for right ones": put(FT, ("            assert abs(got - want) < 1e-6 * want\n", "            if abs(got - want) > 1e-6 * want:\n                return True\n    return False\n")),
    "asks for an int": put(FT, ("            assert abs", "            assert isinstance(got, int)\n            assert abs")),
    "open: asks for more than the text: a trial of a warm-up alone must raise": FT + '''    try:
        foretold([(8, 9)], 20)
    except ValueError:
        return
    assert False, "a trial without steps was not refused"
''',
    "open: asks for more than the text: no trial gives 0": FT + '''    assert foretold([], 20) == 0
''',
    "asks for whole seconds, rounded up": put(FT, ("            got =", "            want = -(-want // 1)\n            got =")),
    "fails always": "def foretold_test(foretold):\n    assert False\n",
    "open: calls by keyword": put(FT, ("foretold(trial, slots)", "foretold(trial=trial, slots=slots)")),
    "open: trial as a NumPy array": put(FT, ("foretold(trial, slots)", "foretold(np.array(trial), slots)")),
    "open: no further slots take 0 seconds": FT + "    assert foretold(trial, 0) == 0\n",
}

# ------------------------------------------------------------------------------------------------ calibration
CA = '''import math

def calibration(pairs):
    logs, close = [], 0
    for guess, truth in pairs:
        if guess > 0 < truth or guess < 0 > truth:
            g, t = abs(guess), abs(truth)
            logs.append(math.log(g) - math.log(t))
            close += g < 2 * t and t < 2 * g
    if not logs:
        raise ValueError("nothing to compare")
    far = sorted(map(abs, logs))
    n = len(far)
    middle = (far[(n - 1) // 2] + far[n // 2]) / 2
    return {"typical": math.exp(middle), "bias": math.exp(sum(logs) / n), "within_two": close / n}
'''
RIGHT["calibration"] = {
    "loop with logarithms": CA,
    "numpy": '''def calibration(pairs):
    both = np.array([p for p in pairs if np.sign(p[0]) * np.sign(p[1]) > 0], dtype=np.float64)
    if both.size == 0:
        raise ValueError("no pair can be compared")
    ratio = both[:, 0] / both[:, 1]
    factor = np.maximum(ratio, 1 / ratio)
    return {"typical": np.exp(np.median(np.log(factor))), "bias": np.exp(np.log(ratio).mean()),
            "within_two": (factor < 2).mean()}
''',
    "statistics": '''import statistics

def calibration(pairs):
    kept = [(abs(g), abs(t)) for g, t in pairs if g and t and (g > 0) == (t > 0)]
    if not kept:
        raise ValueError("none to compare")
    factors = sorted(max(g / t, t / g) for g, t in kept)
    low, high = statistics.median_low(factors), statistics.median_high(factors)
    return {"typical": (low * high) ** 0.5,
            "bias": statistics.geometric_mean([g / t for g, t in kept]),
            "within_two": sum(f < 2 for f in factors) / len(factors)}
''',
    "torch, sorted from the end": '''def calibration(pairs):
    kept = [p for p in pairs if (p[0] > 0 and p[1] > 0) or (p[0] < 0 and p[1] < 0)]
    if len(kept) == 0:
        raise ValueError("nothing")
    t = torch.tensor(kept, dtype=torch.float64).abs()
    side = (t[:, 0] / t[:, 1]).log()
    far = side.abs().sort(descending=True).values
    n = len(far)
    share = ((t[:, 0] < 2 * t[:, 1]) & (t[:, 1] < 2 * t[:, 0])).double().mean()
    return {"within_two": share.item(), "bias": side.mean().exp().item(),
            "typical": far[[n // 2, (n - 1) // 2]].mean().exp().item()}
''',
}
MID = "    middle = (far[(n - 1) // 2] + far[n // 2]) / 2\n"
WRONG["calibration"] = {
    "typical: the geometric mean of the factors": put(CA, (MID, "    middle = sum(far) / n\n")),
    "typical: the mean of the factors": put(CA, ("math.exp(middle)", "sum(map(math.exp, far)) / n")),
    "typical: the plain mean of the two in the middle": put(CA, ("math.exp(middle)", "(math.exp(far[(n - 1) // 2]) + math.exp(far[n // 2])) / 2")),
    "typical: the upper of the two in the middle": put(CA, (MID, "    middle = far[n // 2]\n")),
    "typical: the lower of the two in the middle": put(CA, (MID, "    middle = far[(n - 1) // 2]\n")),
    "typical: the median of guess / truth": put(CA, ("sorted(map(abs, logs))", "sorted(logs)")),
    "typical: the factor of the median guess / truth": put(CA, ("sorted(map(abs, logs))", "sorted(logs)"), ("math.exp(middle)", "math.exp(abs(middle))")),
    "typical: the median without sorting": put(CA, ("sorted(map(abs, logs))", "list(map(abs, logs))")),
    "typical: 1 + the median relative error": put(CA, ("math.exp(middle)", "1 + float(np.median([abs(g - t) / abs(t) for g, t in pairs if g > 0 < t or g < 0 > t]))")),
    "typical: the median of the logs, not brought back": put(CA, ("math.exp(middle)", "middle")),
    "logs to base 10, back by e": put(CA, ("math.log(g) - math.log(t)", "math.log10(g) - math.log10(t)")),
    "bias: the plain mean of guess / truth": put(CA, ("math.exp(sum(logs) / n)", "sum(map(math.exp, logs)) / n")),
    "bias: truth / guess": put(CA, ("math.exp(sum(logs) / n)", "math.exp(-sum(logs) / n)")),
    "bias: of the factors, never below 1": put(CA, ("math.exp(sum(logs) / n)", "math.exp(sum(far) / n)")),
    "bias: the median of guess / truth": put(CA, ("math.exp(sum(logs) / n)", "math.exp(float(np.median(logs)))")),
    "bias: sum of guesses / sum of truths": put(CA, ("math.exp(sum(logs) / n)", "sum(p[0] for p in pairs) / sum(p[1] for p in pairs)")),
    "bias: a product of ratios, 0 or infinite with many": put(CA, ("math.exp(sum(logs) / n)", "float(np.prod([math.exp(l) for l in logs])) ** (1 / n)")),
    "bias: a root of all pairs, the left out too": put(CA, ("math.exp(sum(logs) / n)", "math.exp(sum(logs) / len(pairs))")),
    "within_two: a factor of 2 counts": put(CA, ("g < 2 * t and t < 2 * g", "g <= 2 * t and t <= 2 * g")),
    "within_two: too low always counts": put(CA, ("g < 2 * t and t < 2 * g", "g < 2 * t")),
    "within_two: exactly half counts, exactly twice does not": put(CA, ("t < 2 * g", "t <= 2 * g")),
    "within_two: exactly twice counts, exactly half does not": put(CA, ("g < 2 * t and", "g <= 2 * t and")),
    "within_two: share of all pairs": put(CA, ("close / n", "close / len(pairs)")),
    "within_two: a count": put(CA, ("close / n", "close")),
    "within_two: percent": put(CA, ("close / n", "100 * close / n")),
    "within_two: rounded to two digits": put(CA, ("close / n", "round(close / n, 2)")),
    "within_two by the difference of logs: 6 for 3 (factor 2) counts": put(CA, ("close += g < 2 * t and t < 2 * g", "close += abs(logs[-1]) < math.log(2)")),
    "both negative left out": put(CA, ("guess > 0 < truth or guess < 0 > truth", "guess > 0 < truth")),
    "signs are ignored: -2 for 5 is compared": put(CA, ("guess > 0 < truth or guess < 0 > truth", "guess and truth")),
    "guess * truth > 0: tiny pairs vanish": put(CA, ("guess > 0 < truth or guess < 0 > truth", "guess * truth > 0")),
    "zeros become a tiny number": put(CA, ("    for guess, truth in pairs:\n", "    for guess, truth in pairs:\n        guess, truth = guess or 1e-9, truth or 1e-9\n")),
    "only a truth of 0 is left out": put(CA, ("guess > 0 < truth or guess < 0 > truth", "truth and guess >= 0 < truth or guess < 0 > truth"), ("math.log(g)", "math.log(g or 1e-12)")),
    "one bad pair refuses all": put(CA, ("            close += g < 2 * t and t < 2 * g\n", "            close += g < 2 * t and t < 2 * g\n        else:\n            raise ValueError('a pair cannot be compared')\n")),
    "nothing to compare gives nan": put(CA, ('raise ValueError("nothing to compare")', 'return {"typical": math.nan, "bias": math.nan, "within_two": math.nan}')),
    "only no pairs at all is refused, else 1": put(CA, ('        raise ValueError("nothing to compare")', '        if not pairs:\n            raise ValueError("nothing to compare")\n        return {"typical": 1.0, "bias": 1.0, "within_two": 0.0}')),
    "nothing to compare: ZeroDivisionError": put(CA, ('    if not logs:\n        raise ValueError("nothing to compare")\n', ""), ("    middle = (far", "    1 / n\n    middle = (far")),
    "equal pairs count once (a set)": put(CA, ("in pairs:", "in set(pairs):")),
    "the logs of the last call stay": put(CA, ("def calibration(pairs):\n    logs, close = [], 0\n", "def calibration(pairs, logs=[]):\n    close = 0\n")),
    "the ratio is formed first: 1e200 for 1e-200 is infinite": put(CA, ("math.log(g) - math.log(t)", "float(np.log(np.float64(g) / np.float64(t)))")),
    "guesses off by more than 1,000 are thrown away": put(CA, ("            logs.append", "            if not 1e-3 <= g / t <= 1e3:\n                continue\n            logs.append")),
    "the farthest guess is thrown away": put(CA, ("    far = sorted(map(abs, logs))\n", "    logs = sorted(logs, key=abs)[: max(1, len(logs) - 1)]\n    far = sorted(map(abs, logs))\n")),
    "whole numbers: guess // truth": put(CA, ("math.log(g) - math.log(t)", "math.log(max(1, g // t)) - math.log(max(1, t // g))")),
    "changes the caller's pairs: those left out are removed": put(CA, ("    logs, close = [], 0\n", "    logs, close = [], 0\n    for one in list(pairs):\n        if not (one[0] > 0 < one[1] or one[0] < 0 > one[1]):\n            pairs.remove(one)\n")),
}
