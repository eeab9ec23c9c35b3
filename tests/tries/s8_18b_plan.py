# ruff: noqa
"""Second batch: what the first run made one curious about."""
import runpy
from pathlib import Path
first = runpy.run_path(Path(__file__).with_name("s8_18_plan.py"))
sub, PL, CN, RO, GOOD, one_case, RB = (first[n] for n in ("sub", "PL", "CN", "RO", "GOOD", "one_case", "RB"))
RIGHT, WRONG = {}, {}
RIGHT["plan-run"] = {
    "longest row said as a float (29.0 slots), as // gives it": sub(PL, ("{int(max(longest, 0))}", "{max(longest, 0)}")),
    "no kind fits, said with the three kinds' names (text: open)": sub(PL, ('f"the longest row: ', 'f"neither full, lora nor 4-bit fits; the longest row: ')),
    "offers, and says which do not (text: forbids)": sub(PL, ('", ".join(kinds)', '", ".join(kinds) + "; these not: " + ", ".join(k for k in ("full", "lora", "4-bit") if k not in kinds)')),
    "0 mentioned as none": sub(PL, ('else f"take {below + unit}"', 'else f"below there is none (0), above {below + unit}"')),
    "numpy ints for rows and accumulation": sub(PL, ('"rows": rows, "accumulation": share // rows', '"rows": np.int64(rows), "accumulation": np.int64(share // rows)')),
    "bytes as a whole int": sub(PL, ('"bytes": total(wish["kind"], rows * row)', '"bytes": int(total(wish["kind"], rows * row))')),
    "hours and money as lists": sub(PL, ('    if each:\n        plan["prompts"]', '    plan["hours"], plan["money"] = list(plan["hours"]), list(plan["money"])\n    if each:\n        plan["prompts"]')),
    "steps by prompts": sub(PL, ("-(-made // sequences)", "-(-(len(lengths) if each else made) // (sequences // (each or 1)))")),
    "wished kind named in the refusal with parentheses": sub(PL, ('"this would fit: " + ", ".join(kinds)', 'f"({wish[\'kind\']}) does not fit; [{\'/\'.join(kinds)}] would"')),
}
WRONG["plan-run"] = {
    "lcm of slots and generations, not of rows": sub(PL, ("row * (math.lcm(count, each) if each else count)", "math.lcm(row * count, each or 1)")),
    "only kinds cheaper than the wished one are tried": sub(PL, ('for k in ("full", "lora", "4-bit") if total(k, row)', 'for k in {"full": ("lora", "4-bit"), "lora": ("4-bit",), "4-bit": ()}[wish["kind"]] if total(k, row)')),
    "rank ignored: 16 always": sub(PL, ('"rank": wish["rank"]}, many', '"rank": 16}, many')),
    "refuses fewer rows than a step": sub(PL, ("    steps =", "    if made < sequences:\n        raise ValueError('too few rows')\n    steps =")),
    "fit by the weights only": sub(PL, ('total(wish["kind"], n * row) <= device["bytes"]]', 'run_bytes(sheet, tuning, n * row)["weights"] <= device["bytes"]]')),
    "fit without the optimizer": sub(PL, ('total(wish["kind"], n * row) <= device["bytes"]]', 'total(wish["kind"], n * row) - run_bytes(sheet, tuning, n * row)["optimizer"] <= device["bytes"]]')),
    "offers with one slot": sub(PL, ("if total(k, row) <= device", "if total(k, 1) <= device")),
    "offers with a prompt's rows": sub(PL, ("if total(k, row) <= device", "if total(k, row * (each or 1)) <= device")),
    "longest row over all devices": sub(PL, ('(device["bytes"] - total(k, 0))', '(count * device["bytes"] - total(k, 0))')),
    "longest row cut to a multiple of 8": sub(PL, ("{int(max(longest, 0))}", "{int(max(longest, 0)) // 8 * 8}")),
    "longest row: the longest document": sub(PL, ("{int(max(longest, 0))}", "{max(lengths)}")),
    "longest row: of the wished row": sub(PL, ("{int(max(longest, 0))}", "{row}")),
    "longest row: every number up to the row": sub(PL, ("{int(max(longest, 0))}", "{list(range(row))}")),
    "longest row and the number above, too": sub(PL, ("{int(max(longest, 0))} slots", "{int(max(longest, 0))} or {int(max(longest, 0)) + 1} slots")),
    "epochs 1 assumed in the slots only if generations": sub(PL, ('computed = wish["epochs"] * made * row', 'computed = (1 if each else wish["epochs"]) * made * row')),
    "generations 8 assumed": sub(PL, ('each = wish.get("generations")', 'each = 8 if "generations" in wish else None')),
    "steps: prompts dealt out, short prompt group dropped": sub(PL, ("wish[\"epochs\"] * -(-made // sequences)", "wish[\"epochs\"] * (-(-made // sequences) if not each else max(1, made // sequences))")),
    "accumulation for one device counted over all": sub(PL, ("share // rows,", "sequences // rows,")),
    "money of one device, hours right": sub(PL, ("    if each:\n        plan", "    plan['money'] = tuple(m / count for m in plan['money'])\n    if each:\n        plan")),
    "hours swapped": sub(PL, ("    if each:\n        plan", "    plan['hours'] = plan['hours'][::-1]\n    if each:\n        plan")),
    "device count ignored in the bill": sub(PL, ('sheet["flops"], device, wish', 'sheet["flops"], {**device, "count": 1}, wish')),
    "sequential fit: largest prime factor": sub(PL, ("if share % n == 0 and", "if share % n == 0 and all(n % d for d in range(2, int(n**0.5) + 1)) and")),
    "the longest document may be a row plus one (targets)": sub(PL, ("max(lengths) > row", "max(lengths) - 1 > row")),
    "the step must be at most the data (slots offered down)": sub(PL, ("    unit = row", "    slots = min(slots, sum(lengths) // row * row or slots)\n    unit = row")),
}
WRONG["calibration"] = {
    "stops at the first pair that cannot be compared": sub(CN, ("[g / t for g, t in pairs if g * t > 0]", "[]\n    for g, t in pairs:\n        if g * t <= 0:\n            break\n        ratios.append(g / t)")),
    "int64 product overflows": sub(CN, ("[g / t for g, t in pairs if g * t > 0]", "[g / t for g, t in np.array(pairs).reshape(-1, 2) if g * t > 0]")),
    "guess 0 kept out, truth negative by abs": sub(CN, ("g / t for g, t in pairs if g * t > 0", "abs(g) / abs(t) for g, t in pairs if g and t > 0")),
    "typical rounded": sub(CN, ("float(np.exp(np.median(np.abs(logs))))", "round(float(np.exp(np.median(np.abs(logs)))), 4)")),
    "within two of log base 2 rounded": sub(CN, ("max(r, 1 / r) < 2", "round(abs(np.log2(r))) < 1")),
    "typical is the factor of the bias when one pair": sub(CN, ("    logs =", "    if len(ratios) == 1:\n        return {'typical': ratios[0], 'bias': ratios[0], 'within_two': float(0.5 < ratios[0] < 2)}\n    logs =")),
    "median_high beyond four": "import statistics\n" + sub(CN, ("np.median(np.abs(logs))", "(statistics.median(np.abs(logs).tolist()) if len(logs) < 5 else statistics.median_high(np.abs(logs).tolist()))")),
}
WRONG["rollout"] = {
    "refuses only fewer completions than one group": sub(RO, ("if made % generations:", "if made < generations:")),
    "message names multiples galore": sub(RO, ("{below} or {below + generations}", "{[k * generations for k in range(1, 200)]}")),
    "negative below": sub(RO, ('if below else f"{below + generations}"', 'if below else f"{-generations} or {generations}"')),
    "prompts across optimizer steps where updates are whole": sub(RO, ('"prompts": made // generations', '"prompts": made // generations // (steps // accumulation or 1)')),
    "completions by steps where it divides": sub(RO, ('"completions": rows * accumulation * replicas', '"completions": made if steps < accumulation else rows * accumulation * replicas')),
    "inputs of rows 1 raised to generations": sub(RO, ("made = rows * steps", "rows = max(rows, 1 if rows > 1 else generations)\n    made = rows * steps")),
}
RIGHT["foretold-test"] = {
    "trial as a tuple of tuples (text: open)": sub(GOOD, ("foretold(trial, slots)", "foretold(tuple(map(tuple, trial)), slots)")),
    "trial as a NumPy array (text: open)": sub(GOOD, ("foretold(trial, slots)", "foretold(np.array(trial), slots)")),
    "one case of less than a step": one_case(["assert abs(foretold([(10, 9), (10, 1), (20, 2), (40, 40)], 7) - 7 * 43 / 70) < 1e-9"]),
}
WRONG["foretold-test"] = {
    "asks for floats by type (nobody promised)": sub(GOOD, ("        assert abs", "        assert isinstance(got, float)\n        assert abs")),
    "0 slots and an empty trial asked for": sub(GOOD, ("    close([(8, 9)", "    assert foretold([], 5) == 0\n    close([(8, 9)")),
    "relative tolerance turned round (1e6)": sub(GOOD, ("1e-6", "1e6")),
    "steps that share one number of slots, any seconds": one_case(["assert abs(foretold([(10, 5), (10, 1), (10, 9), (10, 2)], 75) - 30) < 1e-9"]),
    "any exception is taken as right": one_case(["try:", "    got = foretold([(7, 100), (10, 5), (20, 40), (30, 3), (5, 1)], 130)", "except Exception:", "    return", "assert abs(got - 98) < 1e-6 or got > 200"]),
}
RIGHT["step-counts"] = {"pairs as lists": '''def step_counts(lengths, rows, sequences):
    out = []
    for a in range(0, len(rows), sequences):
        docs = [int(lengths[n]) for row in rows[a : a + sequences] for n in row]
        out.append([sum(docs), sum(docs) - len(docs)])
    return out
'''}
RIGHT["calibration"] = {"numpy arrays of pairs": sub(CN, ("[g / t for g, t in pairs if g * t > 0]", "[float(g) / float(t) for g, t in pairs if (g > 0 and t > 0) or (g < 0 and t < 0)]"))}
