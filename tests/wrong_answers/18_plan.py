"""Answers to 18_plan that look right and must be refused, and right ones written otherwise."""

# ruff: noqa: E501

SLOW = True  # minutes: `make slow` tries this bank

STEPS = """
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(rows), sequences):
        tokens = targets = 0
        for row in rows[at : at + sequences]:
            for number in row:
                tokens += int(lengths[number])
                targets += int(lengths[number]) - 1
        found.append((tokens, targets))
    return found
"""
ROLLOUT = """
def rollout(rows, accumulation, replicas, generations, steps):
    made = rows * replicas * steps
    left = made % generations
    if left:
        near = [n for n in (made - left, made - left + generations) if n]
        raise ValueError(f"{made} completions in groups of {generations}: {near}")
    completions = rows * replicas * accumulation
    prompts = made // generations
    return {"completions": completions, "prompts": prompts, "updates": made / completions}
"""
BYTES = """
def run_bytes(sheet, tuning, slots):
    linear, other = sheet["linear"], sheet["other"]
    if tuning["kind"] == "full":
        trained, weight, gradient, optimizer, base = linear + other, 2, 2, 12, 0
    else:
        trained, weight, gradient, optimizer = tuning["rank"] * sheet["adapter"], 4, 4, 8
        base = 2 * other + (2 if tuning["kind"] == "lora" else 0.5625) * linear
    return {"weights": base + weight * trained, "gradients": gradient * trained,
            "optimizer": optimizer * trained,
            "activations": slots * sheet["layers"] * sheet["kept"],
            "logits": 10 * slots * sheet["vocabulary"]}
"""
BILL = """
def bill(slots, flops, device, utilisation):
    low, high = utilisation
    seconds = [slots * flops / device["count"] / device["peak"] / share for share in (high, low)]
    hours = tuple(one / 3600 for one in seconds)
    money = tuple(one * device["count"] * device["price"] for one in hours)
    return {"hours": hours, "money": money}
"""
TEST = """
def foretold_test(foretold):
    trial = [(50, 4), (10, 3), (20, 9), (70, 8)]
    assert abs(foretold(trial, 250) - 50) < 1e-9
    assert abs(foretold(trial, 1) - 0.2) < 1e-9
"""
CALIBRATION = """
import math
def calibration(pairs):
    ratios = [guess / truth for guess, truth in pairs if (guess > 0 < truth) or (guess < 0 > truth)]
    if not ratios:
        raise ValueError("nothing to compare")
    factors = sorted(max(one, 1 / one) for one in ratios)
    middle = factors[(len(factors) - 1) // 2] * factors[len(factors) // 2]
    return {"typical": math.sqrt(middle), "bias": math.exp(sum(map(math.log, ratios)) / len(ratios)),
            "within_two": sum(one < 2 for one in factors) / len(factors)}
"""
BOTH = " if (guess > 0 < truth) or (guess < 0 > truth)]"
PLAN = """
import math
def plan_run(lengths, sheet, device, wish):
    row, count, each = wish["row"], device["count"], wish.get("generations")
    def total(rows, kind):
        tuning = {"kind": kind, "rank": wish["rank"]}
        return sum(run_bytes(sheet, tuning, rows * row).values())
    if max(lengths) > row:
        raise ValueError(f"document of {max(lengths)} tokens")
    unit = row * math.lcm(count, each or 1)
    left = wish["slots"] % unit
    if left:
        near = [n for n in (wish["slots"] - left, wish["slots"] - left + unit) if n]
        raise ValueError(f"nearest: {near}")
    if total(1, wish["kind"]) > device["bytes"]:
        kinds = ("full", "lora", "4-bit")
        fit = [kind for kind in kinds if total(1, kind) <= device["bytes"]]
        if fit:
            raise ValueError(f"these kinds would fit: {', '.join(fit)}")
        longest = 0
        for kind in kinds:
            states, one = total(0, kind), (total(1, kind) - total(0, kind)) / row
            longest = max(longest, math.floor((device["bytes"] - states) / one))
        raise ValueError(f"rows of {longest} slots at most")
    sequences = wish["slots"] // row
    share = sequences // count
    rows = 0
    for n in range(1, share + 1):
        if share % n == 0 and total(n, wish["kind"]) <= device["bytes"]:
            rows = n
    made = len(lengths) * each if each else len(pack_rows(lengths, row))
    slots = made * row * wish["epochs"]
    tokens = sum(lengths) * wish["epochs"] * (each or 1)
    steps = math.ceil(made / sequences) * wish["epochs"]
    found = {"rows": rows, "accumulation": share // rows, "steps": steps, "tokens": tokens,
             "slots": slots, "bytes": total(rows, wish["kind"])}
    found.update(bill(slots, sheet["flops"], device, wish["utilisation"]))
    if each:
        found["prompts"] = sequences // each
    return found
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, (code.count(old), old)
        code = code.replace(old, new)
    return code


def rows(number):
    return f"def fitting_rows():\n    return {number}"


def test_of(*lines):
    """A test of foretold with these lines."""
    return "\n    ".join(["def foretold_test(foretold):", *lines])


WRONG = {
    "step-counts": {
        "the last step is dropped": (
            changed(
                STEPS,
                (
                    "range(0, len(rows), sequences)",
                    "range(0, len(rows) - sequences + 1, sequences)",
                ),
            ),
            "last, shorter step",
        ),
        "targets are tokens": (
            changed(STEPS, ("int(lengths[number]) - 1", "int(lengths[number])")),
            "first token of every document",
        ),
        "one target less in a row": (
            changed(
                STEPS,
                (
                    "            for number in row:\n",
                    "            targets -= 1\n            for number in row:\n",
                ),
                ("int(lengths[number]) - 1", "int(lengths[number])"),
            ),
            "each document has a first token",
        ),
        "one target less in a step": (
            changed(
                STEPS,
                ("int(lengths[number]) - 1", "int(lengths[number])"),
                ("(tokens, targets)", "(tokens, targets - 1)"),
            ),
            "right is",
        ),
        "documents are counted": (
            changed(
                STEPS,
                ("tokens += int(lengths[number])", "tokens += 1"),
                ("int(lengths[number]) - 1", "0"),
            ),
            "not their tokens",
        ),
        "slots of the fullest row": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    width = max((sum(int(lengths[n]) for n in row) for row in rows), default=0)
    for at in range(0, len(rows), sequences):
        part = rows[at : at + sequences]
        pad = width * len(part) - sum(int(lengths[n]) for row in part for n in row)
        found.append((width * len(part), width * len(part) - pad - sum(map(len, part))))
    return found
""",
            "padding is counted",
        ),
        "sums in float32": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(rows), sequences):
        part = torch.tensor([float(lengths[n]) for row in rows[at : at + sequences] for n in row])
        found.append((int(part.sum()), int(part.sum()) - len(part)))
    return found
""",
            "float32",
        ),
        "documents in their own order": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(lengths), sequences):
        part = [int(n) for n in lengths[at : at + sequences]]
        found.append((sum(part), sum(part) - len(part)))
    return found
""",
            "look up the numbers",
        ),
        "sums in int16": (
            changed(
                STEPS,
                ("tokens = targets = 0", "tokens = targets = lengths[0] - lengths[0]"),
                ("tokens += int(lengths[number])", "tokens = tokens + lengths[number]"),
                ("targets += int(lengths[number]) - 1", "targets = targets + lengths[number] - 1"),
            ),
            "int16",
        ),
        "sums in int32": (
            """
import numpy as np
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(rows), sequences):
        part = np.array([lengths[n] for row in rows[at : at + sequences] for n in row], dtype=np.int32)
        found.append((int(part.sum(dtype=np.int32)), int((part - 1).sum(dtype=np.int32))))
    return found
""",
            "right is",
        ),
        "remembers the steps": (
            changed(STEPS, ("sequences):\n    found = []", "sequences, found=[]):")),
            "remembers earlier calls",
        ),
        "fails without rows": (
            changed(STEPS, ("    found = []\n", "    found = []\n    rows[0]\n")),
            "IndexError",
        ),
        "prints": (changed(STEPS, ("return found", "print(found)")), "nothing (None)"),
        "the longest document of a step": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(rows), sequences):
        part = [int(lengths[n]) for row in rows[at : at + sequences] for n in row]
        found.append((max(part), max(part) - len(part)))
    return found
""",
            "longest document alone",
        ),
        "the rows are emptied": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    while rows:
        part = [int(lengths[n]) for _ in range(min(sequences, len(rows))) for n in rows.pop(0)]
        found.append((sum(part), sum(part) - len(part)))
    return found
""",
            "argument 2",
        ),
    },
    "rollout": {
        "rows are prompts": (
            changed(
                ROLLOUT,
                ("rows * replicas * accumulation", "rows * replicas * accumulation * generations"),
                ("made / completions", "steps / accumulation"),
            ),
            "counts completions already",
        ),
        "prompts are completions": (
            changed(ROLLOUT, ("made // generations", "made")),
            "divide by the generations",
        ),
        "completions of the rollout": (
            changed(
                ROLLOUT,
                ("rows * replicas * accumulation", "made"),
                ("made / completions", "steps / accumulation"),
            ),
            "one optimizer step",
        ),
        "no replicas": (
            changed(
                ROLLOUT,
                ("made = rows * replicas * steps", "made = rows * steps"),
                ("rows * replicas * accumulation", "rows * accumulation"),
            ),
            "completions",
        ),
        "prompts of a step": (
            changed(ROLLOUT, ("made // generations", "completions // generations")),
            "a rollout has `steps` micro-batches",
        ),
        "whole updates": (
            changed(ROLLOUT, ("made / completions", "steps // accumulation")),
            "fraction",
        ),
        "one update": (changed(ROLLOUT, ("made / completions", "1")), "only where all"),
        "upside down": (
            changed(ROLLOUT, ("made / completions", "accumulation / steps")),
            "upside down",
        ),
        "steps are updates": (
            changed(ROLLOUT, ("made / completions", "steps")),
            "micro-batches taken for updates",
        ),
        "silent floor": (changed(ROLLOUT, ("if left:", "if False:")), "ValueError is needed"),
        "only the number below": (
            changed(ROLLOUT, ("(made - left, made - left + generations)", "(made - left,)")),
            "nearest",
        ),
        "a negative number is offered": (
            changed(
                ROLLOUT,
                (
                    "made - left + generations) if n]",
                    "made - left + generations, -generations)]",
                ),
            ),
            "below 0",
        ),
        "many are offered": (
            changed(
                ROLLOUT,
                (
                    "(made - left, made - left + generations)",
                    "range(made - left, made + 9 * generations, generations)",
                ),
            ),
            "farther ones",
        ),
        "0 is offered": (changed(ROLLOUT, (" if n]", "]")), "only the number above"),
        "refuses what an update does not divide": (
            changed(
                ROLLOUT,
                (
                    "    if left:",
                    "    if steps % accumulation:\n        raise ValueError('steps')\n    if left:",
                ),
            ),
            "only the completions of a whole rollout",
        ),
        "refuses a step that holds half a group": (
            changed(ROLLOUT, ("left = made %", "left = rows * replicas * accumulation %")),
            "whole rollout",
        ),
        "an assert": (
            changed(
                ROLLOUT,
                (
                    'raise ValueError(f"{made} completions in groups of {generations}: {near}")',
                    "assert False, near",
                ),
            ),
            "a ValueError is needed",
        ),
        "prompts as a float": (
            changed(ROLLOUT, ("made // generations", "made / generations")),
            "float",
        ),
        "a tuple": (
            changed(
                ROLLOUT,
                (
                    'return {"completions": completions, "prompts": prompts, "updates": made / completions}',
                    "return completions, prompts, made / completions",
                ),
            ),
            "a dict",
        ),
    },
    "run-bytes": {
        "remembers by kind and slots": (
            changed(
                BYTES,
                ("def run_bytes(", "SEEN = {}\n\ndef run_bytes("),
                (
                    "    linear, other",
                    '    at = tuning["kind"], slots\n    if at in SEEN:\n        return SEEN[at]\n    linear, other',
                ),
                ("    return {", "    SEEN[at] = {"),
                ('sheet["vocabulary"]}', 'sheet["vocabulary"]}\n    return SEEN[at]'),
            ),
            "an earlier call",
        ),
        "frozen weights have optimizer states": (
            changed(
                BYTES,
                (
                    '"optimizer": optimizer * trained',
                    '"optimizer": 12 * (linear + other) + 8 * trained * (base > 0)',
                ),
            ),
            "no optimizer states",
        ),
        "frozen weights have gradients": (
            changed(
                BYTES,
                (
                    '"gradients": gradient * trained',
                    '"gradients": 2 * (linear + other) + 4 * trained * (base > 0)',
                ),
            ),
            "no gradients",
        ),
        "logits are forgotten": (
            changed(BYTES, ('10 * slots * sheet["vocabulary"]', "0")),
            "logits are forgotten",
        ),
        "2 bytes a logit": (changed(BYTES, ("10 * slots", "2 * slots")), "make 10"),
        "4 bytes a logit": (changed(BYTES, ("10 * slots", "4 * slots")), "2 + 4 + 4"),
        "logits in each layer": (
            changed(BYTES, ("10 * slots", '10 * sheet["layers"] * slots')),
            "once",
        ),
        "no scales": (changed(BYTES, ("0.5625", "0.5")), "scales are forgotten"),
        "all in 4 bits": (
            changed(
                BYTES,
                (
                    '2 * other + (2 if tuning["kind"] == "lora" else 0.5625) * linear',
                    '(2 if tuning["kind"] == "lora" else 0.5625) * (linear + other)',
                ),
            ),
            "stay in 16 bits",
        ),
        "4 bytes": (changed(BYTES, ("0.5625", "4")), "half a byte"),
        "the rank is forgotten": (
            changed(BYTES, ('tuning["rank"] * sheet["adapter"]', 'sheet["adapter"]')),
            "rank is forgotten",
        ),
        "adapters in 16 bits": (
            changed(BYTES, ('sheet["adapter"], 4, 4, 8', 'sheet["adapter"], 2, 4, 8')),
            "adapters of 2 bytes",
        ),
        "adapters' gradients in 16 bits": (
            changed(BYTES, ('sheet["adapter"], 4, 4, 8', 'sheet["adapter"], 4, 2, 8')),
            "float32, 4",
        ),
        "adapters with a copy": (
            changed(BYTES, ('sheet["adapter"], 4, 4, 8', 'sheet["adapter"], 4, 4, 12')),
            "so 8",
        ),
        "no float32 copy": (changed(BYTES, ("2, 2, 12, 0", "2, 2, 8, 0")), "12 bytes"),
        "the base is gone": (
            changed(BYTES, ('"weights": base + weight', '"weights": weight')),
            "base is gone",
        ),
        "adapters of full tuning": (
            changed(
                BYTES,
                (
                    '"weights": base + weight * trained',
                    '"weights": base + weight * trained + 4 * tuning["rank"] * sheet["adapter"] * (base == 0)',
                ),
            ),
            "lora and 4-bit alone",
        ),
        "activations of one layer": (
            changed(BYTES, ('slots * sheet["layers"] * sheet["kept"]', 'slots * sheet["kept"]')),
            "every layer",
        ),
        "frozen layers keep nothing": (
            changed(
                BYTES,
                (
                    'slots * sheet["layers"] * sheet["kept"]',
                    'slots * sheet["layers"] * sheet["kept"] * (base == 0)',
                ),
            ),
            "passes through",
        ),
        "of one slot": (
            changed(
                BYTES,
                ('slots * sheet["layers"] * sheet["kept"]', 'sheet["layers"] * sheet["kept"]'),
            ),
            "of one slot",
        ),
        "with a total": (
            changed(BYTES, ('return {"weights"', 'return {"total": 0, "weights"')),
            "too many",
        ),
    },
    "fitting-rows": {
        "lora": (rows(5), "set '4-bit'"),
        "rank 16": (rows(19), "set 64"),
        "kept": (rows(4), "set 'recomputed'"),
        "one more": (rows(18), "do not fit"),
        "one less": (rows(16), "more rows fit"),
        "the last": (rows(24), "do not fit"),
        "beyond": (rows(40), "does not offer"),
        "half": (rows(17.5), "does not offer"),
        "slots": (rows(17 * 512), "does not offer"),
        "none": (rows(0), "does not offer"),
        "text": (rows("'17'"), "text"),
        "a list": (rows([17]), "one number"),
        "one": (rows(1), "more rows fit"),
    },
    "bill": {
        "the peak": (changed(BILL, ("/ share for", "for")), "no run reaches it"),
        "utilisation multiplies": (
            changed(BILL, ("/ share for share in (high, low)", "* share for share in (low, high)")),
            "multiplies",
        ),
        "reversed": (changed(BILL, ("in (high, low)", "in (low, high)")), "least comes first"),
        "the mean": (
            changed(
                BILL,
                (
                    "/ share for share in (high, low)",
                    "/ ((low + high) / 2) for share in (high, low)",
                ),
            ),
            "hides the range",
        ),
        "seconds": (changed(BILL, ("one / 3600", "one")), "seconds"),
        "minutes": (changed(BILL, ("one / 3600", "one / 60")), "minutes"),
        "days": (changed(BILL, ("one / 3600", "one / 86400")), "days"),
        "one device": (
            changed(BILL, ('slots * flops / device["count"]', "slots * flops")),
            "several share",
        ),
        "money of one device": (
            changed(BILL, ('one * device["count"] * device["price"]', 'one * device["price"]')),
            "all of them are paid",
        ),
        "money squared": (
            changed(
                BILL,
                (
                    'one * device["count"] * device["price"]',
                    'one * device["count"] ** 2 * device["price"]',
                ),
            ),
            "squared",
        ),
        "no price": (changed(BILL, (' * device["price"]', "")), "without the price"),
        "six times": (
            changed(BILL, ("slots * flops /", "6 * slots * flops /")),
            "forward and backward already",
        ),
        "whole money": (
            changed(
                BILL,
                (
                    'one * device["count"] * device["price"] for',
                    'one * device["count"] * device["price"] // 1 for',
                ),
            ),
            "keep the digits",
        ),
        "int32": (
            changed(
                BILL, ("slots * flops /", "float((int(slots * flops) + 2**31) % 2**32 - 2**31) /")
            ),
            "beyond 32 bits",
        ),
        "int64": (
            changed(
                BILL, ("slots * flops /", "float((int(slots * flops) + 2**63) % 2**64 - 2**63) /")
            ),
            "beyond 64 bits",
        ),
        "a point": (
            changed(
                BILL,
                (
                    'return {"hours": hours, "money": money}',
                    'return {"hours": hours[0], "money": money[0]}',
                ),
            ),
            "a pair",
        ),
        "money as one number": (changed(BILL, ('"money": money', '"money": money[1]')), "a pair"),
    },
    "foretold-test": {
        "the example": (
            test_of("assert abs(foretold([(8, 9), (10, 1), (30, 3)], 20) - 2) < 1e-9"),
            "got through",
        ),
        "a float": (
            test_of(
                "for slots in (250, 1, 33):",
                "    got = foretold([(50, 4), (10, 3), (20, 9), (70, 8)], slots)",
                "    assert isinstance(got, float) and abs(got - slots / 5) < 1e-9",
            ),
            "was stopped",
        ),
        "nothing": (test_of("foretold([(8, 9), (10, 1)], 20)"), "never failed"),
        "a comparison": (
            test_of("abs(foretold([(8, 9), (10, 1)], 20) - 2) < 1e-9"),
            "never failed",
        ),
        "equal slots": (
            test_of("assert abs(foretold([(10, 9), (10, 1), (10, 3), (10, 2)], 25) - 5) < 1e-9"),
            "got through",
        ),
        "equal rates": (
            test_of("assert abs(foretold([(10, 9), (20, 2), (30, 3), (10, 1)], 45) - 4.5) < 1e-9"),
            "got through",
        ),
        "warm-up counts": (
            test_of("assert abs(foretold([(50, 4), (10, 3), (20, 9)], 80) - 16) < 1e-9"),
            "was stopped",
        ),
        "the slowest comes first": (
            test_of(
                "trial = [(50, 400), (10, 3), (20, 9), (70, 8)]",
                "assert abs(foretold(trial, 250) - 50) < 1e-9",
                "assert abs(foretold(trial, 1) - 0.2) < 1e-9",
            ),
            "got through",
        ),
        "two steps": (
            test_of("assert abs(foretold([(50, 4), (10, 3)], 35) - 10.5) < 1e-9"),
            "got through",
        ),
        "too tight": (
            test_of("assert foretold([(1, 1), (3, 0.1), (7, 0.2)], 13) == 0.39"),
            "was stopped",
        ),
        "a range": (
            test_of("assert 0 < foretold([(50, 4), (10, 3), (20, 9), (70, 8)], 250) < 1000"),
            "got through",
        ),
        "not above": (
            test_of("assert foretold([(50, 4), (10, 3), (20, 9), (70, 8)], 250) < 50.1"),
            "got through",
        ),
        "not below": (
            test_of("assert foretold([(50, 4), (10, 3), (20, 9), (70, 8)], 250) > 49.9"),
            "got through",
        ),
        "whole mean steps": (
            test_of("assert abs(foretold([(50, 4), (10, 3), (20, 9), (60, 6)], 60) - 12) < 1e-9"),
            "got through",
        ),
    },
    "calibration": {
        "wild guesses left out": (
            changed(
                CALIBRATION,
                (
                    "in pairs" + BOTH,
                    "in pairs if guess and truth and 0.001 <= guess / truth <= 1000]",
                ),
            ),
            "a guess that is far off counts",
        ),
        "all multiplied": (
            changed(
                CALIBRATION,
                (
                    "math.exp(sum(map(math.log, ratios)) / len(ratios))",
                    "math.prod(ratios) ** (1 / len(ratios))",
                ),
            ),
            "add their logarithms",
        ),
        "the sign of the product": (
            changed(CALIBRATION, (BOTH, " if guess * truth > 0]")),
            "compare the two signs",
        ),
        "the sign of an int64 product": (
            "import numpy as np\n"
            + changed(
                CALIBRATION,
                ("in pairs" + BOTH, "in np.array(pairs).reshape(-1, 2) if guess * truth > 0]"),
            ),
            "compare the two signs",
        ),
        "at most 2": (changed(CALIBRATION, ("one < 2", "one <= 2")), "exactly 2"),
        "at least a half": (
            changed(
                CALIBRATION,
                ("sum(one < 2 for one in factors)", "sum(0.5 <= one < 2 for one in ratios)"),
            ),
            "exactly 2",
        ),
        "above a half, at most 2": (
            changed(
                CALIBRATION,
                ("sum(one < 2 for one in factors)", "sum(0.5 < one <= 2 for one in ratios)"),
            ),
            "exactly 2",
        ),
        "upper middle of more than four": (
            changed(
                CALIBRATION,
                (
                    "factors[(len(factors) - 1) // 2]",
                    "factors[len(factors) // 2 - (len(factors) == 4)]",
                ),
            ),
            "larger of two",
        ),
        "stops at a pair that cannot be compared": (
            changed(
                CALIBRATION,
                (
                    "    ratios = [",
                    "    ends = [n for n, (g, t) in enumerate(pairs) if g * t <= 0 and len(pairs) > 5]\n    pairs = pairs[: ends[0]] if ends and ends[0] else pairs\n    ratios = [",
                ),
            ),
            "right is",
        ),
        "mean of factors": (
            changed(CALIBRATION, ("math.sqrt(middle)", "sum(factors) / len(factors)")),
            "wild guess",
        ),
        "upper middle": (
            changed(
                CALIBRATION,
                (
                    "factors[(len(factors) - 1) // 2] * factors[len(factors) // 2]",
                    "factors[len(factors) // 2] ** 2",
                ),
            ),
            "larger of two",
        ),
        "lower middle": (
            changed(
                CALIBRATION,
                (
                    "factors[(len(factors) - 1) // 2] * factors[len(factors) // 2]",
                    "factors[(len(factors) - 1) // 2] ** 2",
                ),
            ),
            "smaller of two",
        ),
        "arithmetic middle": (
            changed(
                CALIBRATION,
                (
                    "factors[(len(factors) - 1) // 2] * factors[len(factors) // 2]",
                    "((factors[(len(factors) - 1) // 2] + factors[len(factors) // 2]) / 2) ** 2",
                ),
            ),
            "factors multiply",
        ),
        "one side": (
            changed(CALIBRATION, ("sorted(max(one, 1 / one) for one in ratios)", "sorted(ratios)")),
            "2 too low must count",
        ),
        "bias upside down": (
            changed(CALIBRATION, ("ratios)) / len(ratios)", "ratios)) / -len(ratios)")),
            "guesses too high",
        ),
        "arithmetic bias": (
            changed(
                CALIBRATION,
                ("math.exp(sum(map(math.log, ratios)) / len(ratios))", "sum(ratios) / len(ratios)"),
            ),
            "would not cancel",
        ),
        "bias without side": (
            changed(CALIBRATION, ("math.log, ratios", "math.log, factors")),
            "have none",
        ),
        "a count": (changed(CALIBRATION, (") / len(factors)}", ")}")), "asked is a share"),
        "of all pairs": (
            changed(CALIBRATION, (") / len(factors)}", ") / len(pairs)}")),
            "not of all",
        ),
        "too low is within": (
            changed(
                CALIBRATION, ("sum(one < 2 for one in factors)", "sum(one < 2 for one in ratios)")
            ),
            "too low counts",
        ),
        "zeros": (changed(CALIBRATION, (BOTH, "]")), "ZeroDivisionError"),
        "only zeros left out": (
            changed(CALIBRATION, (BOTH, " if guess * truth]")),
            "leave out single pairs",
        ),
        "negatives left out": (
            changed(CALIBRATION, (BOTH, " if guess > 0 and truth > 0]")),
            "right is",
        ),
        "nothing is 1": (
            changed(
                CALIBRATION,
                (
                    'raise ValueError("nothing to compare")',
                    'return {"typical": 1, "bias": 1, "within_two": 1}',
                ),
            ),
            "ValueError is needed",
        ),
        "refuses a zero": (
            changed(CALIBRATION, ("    if not ratios:", "    if len(ratios) < len(pairs):")),
            "leave out single pairs",
        ),
        "logarithm": (
            changed(CALIBRATION, ("math.sqrt(middle)", "math.log(middle) / 2")),
            "asked is the factor",
        ),
        "outside": (
            changed(
                CALIBRATION, ("sum(one < 2 for one in factors)", "sum(one >= 2 for one in factors)")
            ),
            "one within",
        ),
    },
    "plan-run": {
        "rows need not divide": (
            changed(PLAN, ("share % n == 0 and total(n", "total(n")),
            "do not divide the step",
        ),
        "powers of two": (
            changed(PLAN, ("share % n == 0 and", "share % n == 0 and n & (n - 1) == 0 and")),
            "power of two",
        ),
        "one row": (
            changed(PLAN, ("            rows = n", "            rows = rows or n")),
            "more fit",
        ),
        "below, not at most": (
            changed(PLAN, ('total(n, wish["kind"]) <=', 'total(n, wish["kind"]) <')),
            "`total == bytes` fits",
        ),
        "logits forgotten": (
            changed(
                PLAN,
                (
                    "run_bytes(sheet, tuning, rows * row)",
                    'run_bytes({**sheet, "vocabulary": 0}, tuning, rows * row)',
                ),
            ),
            "the logits are forgotten",
        ),
        "memory of all devices": (
            changed(
                PLAN,
                (
                    'total(n, wish["kind"]) <= device["bytes"]',
                    'total(n, wish["kind"]) <= count * device["bytes"]',
                ),
            ),
            "each holds its own copy",
        ),
        "frozen weights with optimizer": (
            changed(PLAN, ('"bytes": total(rows, wish["kind"])', '"bytes": total(rows, "full")')),
            "frozen weights",
        ),
        "bytes of the step": (
            changed(
                PLAN, ('"bytes": total(rows, wish["kind"])', '"bytes": total(share, wish["kind"])')
            ),
            "one micro-batch",
        ),
        "bytes of one row": (
            changed(
                PLAN, ('"bytes": total(rows, wish["kind"])', '"bytes": total(1, wish["kind"])')
            ),
            "of one row",
        ),
        "bytes of the device": (
            changed(PLAN, ('"bytes": total(rows, wish["kind"])', '"bytes": device["bytes"]')),
            "of the device",
        ),
        "devices forgotten": (
            changed(PLAN, ("share = sequences // count", "share = sequences")),
            "accumulation",
        ),
        "slots are tokens": (
            changed(PLAN, ('"tokens": tokens', '"tokens": slots')),
            "padding is counted",
        ),
        "tokens of one epoch": (
            changed(PLAN, ('sum(lengths) * wish["epochs"]', "sum(lengths)")),
            "epochs are forgotten",
        ),
        "last step dropped": (
            changed(PLAN, ("math.ceil(made / sequences)", "made // sequences")),
            "shorter step",
        ),
        "rounded over all epochs": (
            changed(
                PLAN,
                (
                    'math.ceil(made / sequences) * wish["epochs"]',
                    'math.ceil(made * wish["epochs"] / sequences)',
                ),
            ),
            "then times the epochs",
        ),
        "documents a step": (
            changed(
                PLAN,
                (
                    "math.ceil(made / sequences)",
                    "math.ceil(len(lengths) * (each or 1) / sequences)",
                ),
            ),
            "hold several",
        ),
        "steps of a micro-batch": (
            changed(PLAN, ("math.ceil(made / sequences)", "math.ceil(made / rows)")),
            "steps of one micro-batch",
        ),
        "slots of full steps": (
            changed(
                PLAN,
                (
                    'slots = made * row * wish["epochs"]',
                    'slots = -(-made // sequences) * wish["slots"] * wish["epochs"]',
                ),
            ),
            "full steps",
        ),
        "slots are tokens, too": (
            changed(PLAN, ('"slots": slots', '"slots": tokens')),
            "a row is computed whole",
        ),
        "hours of tokens": (
            changed(PLAN, ("bill(slots, ", "bill(tokens, ")),
            "hours of the real tokens",
        ),
        "hours at the peak": (
            changed(PLAN, ('wish["utilisation"])', "(1, 1))")),
            "hours at the peak",
        ),
        "hours of a step": (
            changed(PLAN, ("bill(slots, ", 'bill(wish["slots"], ')),
            "hours of one step",
        ),
        "hours of an epoch": (
            changed(PLAN, ("bill(slots, ", 'bill(slots / wish["epochs"], ')),
            "one epoch",
        ),
        "steps as floats": (
            changed(PLAN, ('* wish["epochs"]\n    found', '* float(wish["epochs"])\n    found')),
            "a count is an int",
        ),
        "long documents are cut": (
            changed(
                PLAN,
                (
                    "if max(lengths) > row:",
                    "lengths = [min(n, row) for n in lengths]\n    if False:",
                ),
            ),
            "longer than a row",
        ),
        "the first document is named": (
            changed(PLAN, ("document of {max(lengths)} tokens", "document of {lengths[0]} tokens")),
            "11",
        ),
        "silent rounding of the step": (
            changed(
                PLAN,
                (
                    "    if left:\n",
                    '    wish = {**wish, "slots": wish["slots"] - left or unit}\n    if False:\n',
                ),
            ),
            "do not split evenly",
        ),
        "only one neighbour": (
            changed(
                PLAN,
                (
                    '(wish["slots"] - left, wish["slots"] - left + unit)',
                    '(wish["slots"] - left + unit,)',
                ),
            ),
            "both neighbours",
        ),
        "0 slots are offered": (changed(PLAN, ("unit) if n]", "unit)]")), "number above"),
        "the product of devices and generations": (
            changed(PLAN, ("math.lcm(count, each or 1)", "count * (each or 1)")),
            "can be had",
        ),
        "generations need not divide": (
            changed(PLAN, ("math.lcm(count, each or 1)", "count")),
            "do not split evenly",
        ),
        "devices need not divide": (
            changed(PLAN, ("math.lcm(count, each or 1)", "(each or 1)")),
            "do not split evenly",
        ),
        "prompts are completions": (
            changed(PLAN, ("sequences // each", "sequences")),
            "completions taken for prompts",
        ),
        "prompts times generations": (
            changed(PLAN, ("sequences // each", "sequences * each")),
            "divide, do not multiply",
        ),
        "prompts of one device": (
            changed(PLAN, ("sequences // each", "sequences // each // count")),
            "of one device",
        ),
        "tokens without generations": (
            changed(PLAN, ("* (each or 1)\n    steps", "\n    steps")),
            "generations are forgotten",
        ),
        "completions are packed": (
            changed(PLAN, ("made = len(lengths) * each if each else", "made =")),
            "of the plan",
        ),
        "prompts always": (
            changed(PLAN, ("    if each:\n", "    each = each or 1\n    if each:\n")),
            "too many",
        ),
        "generations of 1 are none": (
            changed(
                PLAN,
                (
                    'wish.get("generations")',
                    '(wish.get("generations", 1) - 1 and wish["generations"])',
                ),
            ),
            "keys",
        ),
        "many near ones": (
            changed(
                PLAN,
                (
                    '(wish["slots"] - left, wish["slots"] - left + unit)',
                    'range(wish["slots"] - left - 2 * unit, wish["slots"] + 9 * unit, unit)',
                ),
                ("if n]\n        raise", "if n > 0]\n        raise"),
            ),
            "farther ones",
        ),
        "offers below, not at most": (
            changed(PLAN, ("if total(1, kind) <= device", "if total(1, kind) < device")),
            "at most, not below",
        ),
        "full is never offered": (
            changed(
                PLAN, ("[kind for kind in kinds if total", "[kind for kind in kinds[1:] if total")
            ),
            "would fit as full",
        ),
        "only kinds with less are offered": (
            changed(
                PLAN,
                (
                    "[kind for kind in kinds if total",
                    "[kind for kind in kinds[kinds.index(wish['kind']) :] if total",
                ),
            ),
            "would fit as",
        ),
        "a negative row": (
            changed(PLAN, ("longest = 0\n", "longest = -9\n")),
            "longest row is 0",
        ),
        "the longest row below, not at most": (
            changed(
                PLAN, ('(device["bytes"] - states) / one', '(device["bytes"] - 1 - states) / one')
            ),
            "one slot more fits",
        ),
        "every row up to the wished one": (
            changed(PLAN, ("rows of {longest} slots at most", "rows of {list(range(row))}")),
            "does not fit",
        ),
        "the longest row and one more": (
            changed(PLAN, ("rows of {longest} slots at most", "{longest} or {longest + 1} slots")),
            "does not fit",
        ),
        "the longest document is a row and one": (
            changed(PLAN, ("if max(lengths) > row:", "if max(lengths) - 1 > row:")),
            "longer than a row",
        ),
        "offers tried without slots": (
            changed(PLAN, ("if total(1, kind) <= device", "if total(0, kind) <= device")),
            "would not fit either",
        ),
        "offers over all devices": (
            changed(
                PLAN,
                (
                    'if total(1, kind) <= device["bytes"]',
                    'if total(1, kind) <= count * device["bytes"]',
                ),
            ),
            "would not fit either",
        ),
        "offers what does not fit as well": (
            changed(
                PLAN,
                (
                    "these kinds would fit: {', '.join(fit)}",
                    "fit: {fit}; do not: {[kind for kind in kinds if kind not in fit]}",
                ),
            ),
            "name only what would",
        ),
        "rows at most the documents": (
            changed(
                PLAN,
                (
                    "for n in range(1, share + 1):",
                    "for n in range(1, min(share, len(lengths)) + 1):",
                ),
            ),
            "plan",
        ),
        "completions of a prompt stay together": (
            changed(
                PLAN,
                (
                    "if share % n == 0 and",
                    "if share % n == 0 and (not each or n % each == 0 or n == 1) and",
                ),
            ),
            "plan",
        ),
        "no kind is offered": (
            changed(PLAN, ("these kinds would fit: {', '.join(fit)}", "does not fit")),
            "name every kind",
        ),
        "all kinds are offered": (
            changed(PLAN, ("{', '.join(fit)}", "{', '.join(kinds)}")),
            "would not fit either",
        ),
        "only the first kind": (changed(PLAN, ("{', '.join(fit)}", "{fit[0]}")), "name every kind"),
        "no longest row": (
            changed(PLAN, ("rows of {longest} slots at most", "nothing fits")),
            "longest row",
        ),
        "longest row of the wished kind": (
            changed(
                PLAN,
                (
                    "        for kind in kinds:\n            states",
                    '        for kind in [wish["kind"]]:\n            states',
                ),
            ),
            "longest row",
        ),
        "does not see that nothing fits": (
            changed(
                PLAN,
                ('if total(1, wish["kind"]) > device["bytes"]:', "if False:"),
                ("rows = 0", "rows = 1"),
            ),
            "one row takes more bytes",
        ),
        "remembers the rows": (
            changed(
                PLAN,
                (
                    "(lengths, sheet, device, wish):\n    row",
                    "(lengths, sheet, device, wish, seen=[]):\n    seen.append(1)\n    row",
                ),
                ('"steps": steps', '"steps": steps + len(seen) - 1'),
            ),
            "remembers",
        ),
        "the wish is changed": (
            changed(PLAN, ("    if each:\n", '    wish["slots"] = slots\n    if each:\n')),
            "argument 4",
        ),
    },
}
HIDDEN = {
    "step-counts": {
        "the printed cases": (
            """
def step_counts(lengths, rows, sequences):
    found = []
    for at in range(0, len(rows), sequences):
        part = [int(lengths[n]) for row in rows[at : at + sequences] for n in row]
        more = len(rows) > 3 and sequences not in (1, 2, 4)
        found.append((sum(part) + more, sum(part) - len(part)))
    return found
""",
            "right is",
        ),
    },
    "rollout": {
        "the printed cases": (
            changed(
                ROLLOUT,
                (
                    '"prompts": prompts',
                    '"prompts": prompts + (replicas > 4 and accumulation != 4 and replicas < 99 and (rows, accumulation) != (5, 6))',
                ),
            ),
            "prompts",
        ),
    },
    "run-bytes": {
        "the printed ranks": (
            changed(
                BYTES,
                (
                    'tuning["rank"] * sheet["adapter"]',
                    '(tuning["rank"] if tuning["rank"] in (1, 3, 4, 5, 9, 16, 64) else 16) * sheet["adapter"]',
                ),
            ),
            "right is",
        ),
    },
    "bill": {
        "the printed devices": (
            changed(
                BILL,
                (
                    'one * device["count"] * device["price"]',
                    'one * (device["count"] if device["count"] in (1, 3, 4, 256, 16384) else 8) * device["price"]',
                ),
            ),
            "money",
        ),
    },
    "calibration": {
        "the printed lists": (
            changed(
                CALIBRATION, ("math.sqrt(middle)", "math.sqrt(middle) + (6 < len(factors) < 99)")
            ),
            "typical",
        ),
    },
    "plan-run": {
        "the printed rows": (
            changed(PLAN, ('"tokens": tokens', '"tokens": tokens if row in (10, 640) else slots')),
            "tokens",
        ),
        "the printed rows, with generations": (
            changed(
                PLAN,
                (
                    'found["prompts"] = sequences // each',
                    'found["prompts"] = sequences // (each if row == 10 else each + 1)',
                ),
            ),
            "prompts",
        ),
    },
}
RIGHT = {
    "step-counts": {
        "loops": STEPS,
        "NumPy": """
import numpy as np
def step_counts(lengths, rows, sequences):
    tokens = [sum(int(lengths[n]) for n in row) for row in rows]
    targets = [t - len(row) for t, row in zip(tokens, rows)]
    cut = range(0, len(rows), sequences)
    return [np.array([sum(tokens[i : i + sequences]), sum(targets[i : i + sequences])]) for i in cut]
""",
        "lists in place of tuples": changed(STEPS, ("(tokens, targets)", "[tokens, targets]")),
    },
    "rollout": {
        "near by a list": ROLLOUT,
        "0 is said to be none": changed(ROLLOUT, ("{near}", "{near}; 0 is none")),
        "NumPy": changed(
            ROLLOUT,
            ("def rollout", "import numpy as np\ndef rollout"),
            ('"prompts": prompts', '"prompts": np.int64(prompts)'),
        ),
        "a fraction": changed(
            ROLLOUT,
            ("def rollout", "from fractions import Fraction\ndef rollout"),
            ("made / completions", "Fraction(steps, accumulation)"),
        ),
    },
    "run-bytes": {
        "one formula": BYTES,
        "floats": changed(BYTES, ("linear, other =", "slots = float(slots)\n    linear, other =")),
        "NumPy": changed(
            BYTES,
            ("def run_bytes", "import numpy as np\ndef run_bytes"),
            ('slots * sheet["layers"]', 'np.int64(slots) * sheet["layers"]'),
        ),
    },
    "fitting-rows": {
        "an int": rows(17),
        "NumPy": "import numpy as np\ndef fitting_rows():\n    return np.int64(17)",
    },
    "bill": {
        "a loop": BILL,
        "lists": changed(
            BILL,
            (
                "hours = tuple(one / 3600 for one in seconds)",
                "hours = [one / 3600 for one in seconds]",
            ),
        ),
        "NumPy": """
import numpy as np
def bill(slots, flops, device, utilisation):
    shares = np.array(utilisation)[::-1]
    hours = slots * flops / device["peak"] / device["count"] / 3600 / shares
    return {"hours": hours, "money": hours * device["price"] * device["count"]}
""",
    },
    "foretold-test": {
        "by hand": TEST,
        "one slot": test_of(
            "assert abs(foretold([(50, 4), (10, 3), (20, 9), (70, 8)], 1) - 0.2) < 1e-9"
        ),
        "less than a step": test_of(
            "assert abs(foretold([(10, 9), (10, 1), (20, 2), (40, 40)], 7) - 4.3) < 1e-9"
        ),
        "relative": test_of(
            "import math",
            "trial = [(50, 4), (10, 3), (20, 9), (70, 8)]",
            "for slots in (250, 1, 33):",
            "    assert math.isclose(foretold(trial, slots), 0.2 * slots, rel_tol=1e-6)",
        ),
        "returns": test_of(
            "trial = [(40, 4), (10, 3), (20, 9), (70, 8)]",
            "return all(abs(foretold(trial, n) - n / 5) < 1e-6 for n in (251, 3))",
        ),
    },
    "calibration": {
        "products": CALIBRATION,
        "NumPy": """
import numpy as np
def calibration(pairs):
    logs = np.array([np.log(g / t) for g, t in pairs if np.sign(g) * np.sign(t) > 0])
    if logs.size == 0:
        raise ValueError("none")
    return {"typical": np.exp(np.median(abs(logs))), "bias": np.exp(logs.mean()),
            "within_two": np.mean(np.exp(abs(logs)) < 2)}
""",
        "statistics": """
import math, statistics
def calibration(pairs):
    logs = [math.log(g / t) for g, t in pairs if g != 0 and t != 0 and (g > 0) == (t > 0)]
    if not logs:
        raise ValueError("none")
    off = [abs(x) for x in logs]
    return {"typical": math.exp(statistics.median(off)), "bias": math.exp(sum(logs) / len(logs)),
            "within_two": len([x for x in off if math.exp(x) < 2]) / len(off)}
""",
    },
    "plan-run": {
        "math.lcm and a loop": PLAN,
        "money and hours as lists": changed(
            PLAN, ("    if each:\n", '    found["hours"] = list(found["hours"])\n    if each:\n')
        ),
        "divisors from the most down": changed(
            PLAN,
            (
                "    rows = 0\n    for n in range(1, share + 1):",
                "    rows = 0\n    for n in range(share, 0, -1):",
            ),
            (
                'device["bytes"]:\n            rows = n',
                'device["bytes"]:\n            rows = n\n            break',
            ),
        ),
        "rows by arithmetic": changed(
            PLAN,
            (
                '    for n in range(1, share + 1):\n        if share % n == 0 and total(n, wish["kind"]) <= device["bytes"]:\n            rows = n\n',
                '    states = total(0, wish["kind"])\n    most = (device["bytes"] - states) // (total(1, wish["kind"]) - states)\n    rows = max(n for n in range(1, min(share, int(most)) + 1) if share % n == 0)\n',
            ),
        ),
        "accumulation upwards": changed(
            PLAN,
            (
                '    for n in range(1, share + 1):\n        if share % n == 0 and total(n, wish["kind"]) <= device["bytes"]:\n            rows = n\n',
                '    for more in range(1, share + 1):\n        if share % more == 0 and total(share // more, wish["kind"]) <= device["bytes"]:\n            rows = share // more\n            break\n',
            ),
        ),
        "two ifs for the unit": changed(
            PLAN,
            (
                "unit = row * math.lcm(count, each or 1)",
                "unit = row * count\n    while each and unit // row % each:\n        unit += row * count",
            ),
        ),
        "0 is said to be none": changed(
            PLAN,
            (
                'f"nearest: {near}"',
                'f"nearest: {near}, below {near[0]} is none (0)" if len(near) == 1 else f"nearest: {near}"',
            ),
        ),
        "the unit is named, and a row in floats": changed(
            PLAN,
            ('f"nearest: {near}"', 'f"no multiple of {unit}; nearest: {near}"'),
            (
                "rows of {longest} slots",
                "neither full, lora nor 4-bit; rows of {float(longest)} slots",
            ),
        ),
        "messages in words": changed(
            PLAN,
            (
                "these kinds would fit: {', '.join(fit)}",
                "one row as {wish['kind']} does not fit. Try: {fit}",
            ),
        ),
    },
}
