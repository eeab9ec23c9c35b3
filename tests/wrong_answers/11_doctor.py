"""Answers to 11_doctor that look right and must be refused, and right ones written otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

SPEED = """
def speed_up(before, after):
    every = list(before) + list(after)
    differ = [key for key in ("model", "data", "device") if len({v[key] for v in every}) > 1]
    if differ:
        raise ValueError(f"the visits differ in {differ}")
    def rate(visits):
        return sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)
    return rate(after) / rate(before)
"""
PARTS = """
def step_parts(visit, fixed, slot):
    steps = visit["steps"]
    useful = slot * visit["real_tokens"] / steps
    padding = slot * (visit["slots"] - visit["real_tokens"]) / steps
    launch = fixed * visit["micro_batches"] / steps
    again = (useful + padding + launch) / 3 if visit["checkpointing"] else 0
    sides = [visit[name + "_seconds"] / steps for name in ("input", "host", "optimizer")]
    rest = visit["seconds"] / steps - useful - padding - launch - again - sum(sides)
    return {"useful": useful, "padding": padding, "launch": launch, "recomputation": again,
            "input": sides[0], "host": sides[1], "optimizer": sides[2], "unexplained": rest}
"""
GAIN = """
def cure_gain(parts, keep):
    before = sum(parts.values())
    gone = sum(seconds * (1 - keep[name]) for name, seconds in parts.items() if name in keep)
    return before / (before - gone) - 1
"""
WARD = """
def ward():
    return {"A": ("input", 0.85, 1.0), "B": ("padding", 1.0, 1.25), "C": ("launch", 0.12, 0.18),
            "D": ("memory", 0.58, 0.72), "E": ("saturation", 0.0, 0.03),
            "F": ("host", 1.0, 1.15), "G": ("recomputation", 0.25, 0.35)}
"""
SHARES = """
def shares_test(shares):
    got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])
    assert abs(got["work"] - 0.375) < 1e-9 and abs(got["input"] - 0.225) < 1e-9
    assert abs(got["unexplained"] - 0.4) < 1e-9
    got = shares([1, 1], [{"work": 1.5}, {"work": 0.9}])
    assert abs(got["work"] - 1.2) < 1e-9 and abs(got["unexplained"] + 0.2) < 1e-9
"""
DOCTOR = """
def diagnose(visits):
    for key in ("model", "data", "device"):
        if len({v[key] for v in visits}) > 1:
            raise ValueError(f"the visits differ in {key}")
    rows = sorted({v["rows"] for v in visits})
    most, less = rows[-1], rows[-2]
    gains = {cause: [] for cause in [*CURES, "memory"]}
    for number in sorted({v["round"] for v in visits}):
        here = {v["rows"]: v for v in visits if v["round"] == number}
        fixed, slot = prices(list(here.values()))
        parts = step_parts(here[most], fixed, slot)
        for cause, keep in CURES.items():
            gains[cause].append(cure_gain(parts, keep))
        rate = {r: here[r]["real_tokens"] / here[r]["seconds"] for r in here}
        gains["memory"].append(rate[less] / rate[most] - 1)
    mean = {cause: sum(values) / len(values) for cause, values in gains.items()}
    cause = max(CURES, key=lambda name: mean[name])
    retried = any(v["retries"] for v in visits if v["rows"] == most)
    if retried:
        cause = "memory"
    elif mean[cause] < 0.05:
        cause = "saturation"
    values = gains["launch" if cause == "saturation" else cause]
    gain, n = sum(values) / len(values), len(values)
    s = (sum((v - gain) ** 2 for v in values) / (n - 1)) ** 0.5
    half = T90[n] * s / n**0.5
    return {"cause": cause, "gain": gain, "low": gain - half, "high": gain + half}
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def rows(number):
    return f"def best_rows():\n    return {number}"


def test_of(*lines):
    """A test of shares with these lines."""
    return "\n    ".join(["def shares_test(shares):", *lines])


WRONG = {
    "speed-up": {
        "pairs by zip": (
            """
def speed_up(before, after):
    for key in ("model", "data", "device"):
        if any(b[key] != a[key] for b, a in zip(before, after)):
            raise ValueError("differ: model, data, device")
    rate = lambda some: sum(v["real_tokens"] for v in some) / sum(v["seconds"] for v in some)
    return rate(after) / rate(before)
""",
            "`zip` ends with the shorter list",
        ),
        "the sets of both lists": (
            """
def speed_up(before, after):
    differ = [key for key in ("model", "data", "device")
              if {v[key] for v in before} != {v[key] for v in after}]
    if differ:
        raise ValueError(f"the visits differ in {differ}")
    rate = lambda some: sum(v["real_tokens"] for v in some) / sum(v["seconds"] for v in some)
    return rate(after) / rate(before)
""",
            "mixed alike",
        ),
        "input is taken off": (
            changed(SPEED, ('sum(v["seconds"] for', 'sum(v["seconds"] - v["input_seconds"] for')),
            "take no input off",
        ),
        "host and optimizer are taken off": (
            changed(
                SPEED,
                (
                    'sum(v["seconds"] for',
                    'sum(v["seconds"] - v["host_seconds"] - v["optimizer_seconds"] for',
                ),
            ),
            "take nothing off",
        ),
        "rounds must agree": (
            changed(SPEED, ('"device")', '"device", "round")')),
            "rounds and steps may differ",
        ),
        "steps must agree": (
            changed(SPEED, ('"device")', '"device", "steps")')),
            "rounds and steps may differ",
        ),
        "all three keys in every message": (
            changed(
                SPEED, ('f"the visits differ in {differ}"', '"model, data and device must agree"')
            ),
            "neither of the other two keys",
        ),
        "slots per second": (
            changed(SPEED, ('v["real_tokens"]', 'v["slots"]')),
            "padding is no work",
        ),
        "documents per second": (
            changed(SPEED, ('v["real_tokens"]', 'v["documents"]')),
            "differ in length",
        ),
        "upside down": (
            changed(SPEED, ("rate(after) / rate(before)", "rate(before) / rate(after)")),
            "upside down",
        ),
        "the gain": (changed(SPEED, ("/ rate(before)", "/ rate(before) - 1")), "the gain"),
        "the mean of rates": (
            changed(
                SPEED,
                (
                    'sum(v["real_tokens"] for v in visits) / sum(v["seconds"] for v in visits)',
                    'sum(v["real_tokens"] / v["seconds"] for v in visits) / len(visits)',
                ),
            ),
            "mean of rates",
        ),
        "the first visits": (
            changed(SPEED, ("rate(after) / rate(before)", "rate(after[:1]) / rate(before[:1])")),
            "the first visits only",
        ),
        "seconds alone": (
            changed(SPEED, ('sum(v["real_tokens"] for v in visits) /', "1 /")),
            "seconds alone",
        ),
        "nothing is refused": (changed(SPEED, ("if differ:", "if False:")), "look at all visits"),
        "the data alone": (
            changed(SPEED, ('("model", "data", "device")', '("data",)')),
            "model differ",
        ),
        "the first visits of both lists": (
            changed(SPEED, ("for v in every}", "for v in (before[0], after[0])}")),
            "number 2",
        ),
        "inside each list, never between": (
            changed(
                SPEED,
                (
                    "if len({v[key] for v in every}) > 1",
                    "if max(len({v[key] for v in x}) for x in (before, after)) > 1",
                ),
            ),
            "compare the lists with each other",
        ),
        "the message names no key": (
            changed(SPEED, ("differ in {differ}", "differ")),
            "name the key",
        ),
        "one of the keys is named": (
            changed(SPEED, ("{differ}", "{differ[0]}")),
            "data and device differ",
        ),
        "other rows are refused": (
            changed(SPEED, ('"data", "device")', '"data", "device", "rows")')),
            "only model, data and device",
        ),
        "the lists are emptied": (
            changed(
                SPEED,
                (
                    "    def rate",
                    "    before.clear() if len(before) > 9 else before.reverse()\n    def rate",
                ),
            ),
            "argument 1",
        ),
        "a memo": (
            "memo = {}\n"
            + changed(
                SPEED,
                (
                    "    every =",
                    "    if len(before) in memo:\n        return memo[len(before)]\n    every =",
                ),
                (
                    "    return rate(after) / rate(before)",
                    "    memo[len(before)] = rate(after) / rate(before)\n"
                    "    return memo[len(before)]",
                ),
            ),
            "speed-up of",
        ),
        "the keys of three visits of each list": (
            changed(SPEED, ("list(before) + list(after)", "[*before[:3], *after[:3]]")),
            "all visits",
        ),
        "the lengths of the names": (
            changed(SPEED, ("{v[key] for v in every}", "{len(v[key]) for v in every}")),
            "whole names",
        ),
        "data in every message": (
            changed(SPEED, ("the visits differ in", "no data of one run:")),
            "words of the other keys",
        ),
        "three visits of each list": (
            changed(SPEED, ("def rate(visits):", "def rate(visits):\n        visits = visits[:3]")),
            "first 3 visits",
        ),
        "tokens in 32 bits": (
            changed(
                SPEED,
                (
                    'sum(v["real_tokens"] for v in visits) /',
                    'float(np.int64(sum(v["real_tokens"] for v in visits)).astype(np.int32)) /',
                ),
            ),
            "real tokens in",
        ),
        "remembered by the tokens": (
            "memo = {}\n"
            + changed(
                SPEED,
                (
                    "    return rate(after) / rate(before)",
                    "    key = str([v['real_tokens'] for v in every])\n"
                    "    return memo.setdefault(key, rate(after) / rate(before))",
                ),
            ),
            "an earlier call",
        ),
    },
    "step-parts": {
        "whole micro-batches": (
            changed(
                PARTS,
                (
                    'fixed * visit["micro_batches"] / steps',
                    'fixed * (visit["micro_batches"] // steps)',
                ),
            ),
            "whole numbers",
        ),
        "launch of all steps": (
            changed(
                PARTS, ('fixed * visit["micro_batches"] / steps', 'fixed * visit["micro_batches"]')
            ),
            "divide by the steps",
        ),
        "prices exchanged": (
            changed(
                PARTS, ("    steps = visit", "    fixed, slot = slot, fixed\n    steps = visit")
            ),
            "swapped",
        ),
        "recomputation of useful only": (
            changed(PARTS, ("(useful + padding + launch) / 3", "useful / 3")),
            "padding and launches as well",
        ),
        "a quarter of the seconds": (
            changed(PARTS, ("(useful + padding + launch) / 3", 'visit["seconds"] / steps / 4')),
            "a quarter of the measured step",
        ),
        "totals": (changed(PARTS, ('steps = visit["steps"]', "steps = 1")), "divide by the steps"),
        "per micro-batch": (
            changed(PARTS, ('steps = visit["steps"]', 'steps = visit["micro_batches"]')),
            "asked is one step",
        ),
        "useful slots": (
            changed(
                PARTS, ('useful = slot * visit["real_tokens"]', 'useful = slot * visit["slots"]')
            ),
            "counted twice",
        ),
        "the waste of the whole step": (
            changed(
                PARTS,
                (
                    'slot * (visit["slots"] - visit["real_tokens"]) / steps',
                    '(1 - visit["real_tokens"] / visit["slots"]) * visit["seconds"] / steps',
                ),
            ),
            "waste of the whole step",
        ),
        "one launch a step": (
            changed(PARTS, ('fixed * visit["micro_batches"] / steps', "fixed")),
            "not once a step",
        ),
        "a launch for each document": (
            changed(PARTS, ('visit["micro_batches"]', 'visit["documents"]')),
            "not for each document",
        ),
        "a third of the measured step": (
            changed(PARTS, ("(useful + padding + launch) / 3", 'visit["seconds"] / steps / 3')),
            "a third of the measured step",
        ),
        "a quarter": (changed(PARTS, ("launch) / 3", "launch) / 4")), "it adds a third"),
        "no launches are recomputed": (
            changed(PARTS, ("(useful + padding + launch) / 3", "(useful + padding) / 3")),
            "repeats launches",
        ),
        "always recomputed": (
            changed(PARTS, (' if visit["checkpointing"] else 0', "")),
            "checkpointing is off",
        ),
        "no rest below zero": (
            changed(PARTS, ('"unexplained": rest', '"unexplained": max(rest, 0)')),
            "below zero is shown",
        ),
        "the rest without its sign": (
            changed(PARTS, ('"unexplained": rest', '"unexplained": abs(rest)')),
            "without its sign",
        ),
        "no rest": (changed(PARTS, (', "unexplained": rest', "")), "unexplained"),
        "shares": (
            changed(
                PARTS,
                (
                    '    return {"useful"',
                    '    whole = visit["seconds"] / steps\n'
                    "    useful, padding, launch, again, rest, *sides = (\n"
                    "        x / whole for x in (useful, padding, launch, again, rest, *sides))\n"
                    '    return {"useful"',
                ),
            ),
            "asked are seconds",
        ),
        "host and input in the wrong places": (
            changed(PARTS, ('("input", "host",', '("host", "input",')),
            "input, of the",
        ),
        "the visit is changed": (
            changed(PARTS, ('steps = visit["steps"]', 'steps = visit.pop("steps")')),
            "argument 1",
        ),
        "rounded": (
            changed(PARTS, ('"useful": useful', '"useful": round(useful, 3)')),
            "right is",
        ),
        "no recomputation where launches are free": (
            changed(PARTS, ('if visit["checkpointing"]', 'if visit["checkpointing"] and fixed')),
            "recomputation is missing",
        ),
        "remembered by prices and steps": (
            "memo = {}\n"
            + changed(
                PARTS,
                (
                    '    return {"useful"',
                    '    return memo.setdefault((fixed, slot, steps), {"useful"',
                ),
                ('"unexplained": rest}', '"unexplained": rest}).copy()'),
            ),
            "an earlier call",
        ),
    },
    "cure-gain": {
        "never below zero": (
            changed(
                GAIN,
                (
                    "return before / (before - gone) - 1",
                    "return max(0.0, before / (before - gone) - 1)",
                ),
            ),
            "a cure may cost",
        ),
        "nothing left reads as whole": (
            changed(GAIN, ("keep[name])", "(keep[name] or 1))")),
            "reads it as 1",
        ),
        "the share": (
            changed(GAIN, ("before / (before - gone) - 1", "gone / before")),
            "the share that goes",
        ),
        "what goes for what is left": (
            changed(GAIN, ("(1 - keep[name])", "keep[name]")),
            "what is left, not what goes",
        ),
        "gains added": (
            "def cure_gain(parts, keep):\n    t = sum(parts.values())\n"
            "    return sum(t / (t - parts[n] * (1 - k)) - 1 for n, k in keep.items())",
            "do not add",
        ),
        "gains multiplied": (
            "def cure_gain(parts, keep):\n    t, g = sum(parts.values()), 1\n"
            "    for n, k in keep.items():\n        g *= t / (t - parts[n] * (1 - k))\n"
            "    return g - 1",
            "do not multiply",
        ),
        "the speed-up": (changed(GAIN, (" - 1\n", "\n")), "take off 1"),
        "per cent": (
            changed(GAIN, ("before / (before - gone) - 1", "100 * (before / (before - gone) - 1)")),
            "not 25",
        ),
        "seconds": (
            changed(GAIN, ("before / (before - gone) - 1", "gone")),
            "seconds, not a share",
        ),
        "all of the part goes": (changed(GAIN, ("* (1 - keep[name])", "")), "go whole"),
        "the rest left out": (
            changed(
                GAIN,
                ("sum(parts.values())", 'sum(s for n, s in parts.items() if n != "unexplained")'),
            ),
            "the rest belongs to the step",
        ),
        "the rest without its sign": (
            changed(GAIN, ("sum(parts.values())", "sum(abs(s) for s in parts.values())")),
            "right is",
        ),
        "the first cure only": (
            changed(GAIN, ("if name in keep", "if name == next(iter(keep))")),
            "only the first",
        ),
        "packing shrinks recomputation": (
            changed(
                GAIN,
                (
                    "    before = sum",
                    "    if 'padding' in keep and 'recomputation' in parts:\n"
                    "        work = parts['useful'] + parts['padding'] + parts['launch']\n"
                    "        less = 1 - parts['padding'] * (1 - keep['padding']) / work\n"
                    "        keep = {'recomputation': less} | keep\n"
                    "    before = sum",
                ),
            ),
            "packing ends padding alone",
        ),
        "parts are set to zero": (
            "def cure_gain(parts, keep):\n    before = sum(parts.values())\n    for name in keep:\n"
            "        parts[name] *= keep[name]\n    return before / sum(parts.values()) - 1",
            "argument 1",
        ),
    },
    "best-rows": {
        "the best of the compiled model": (rows(3), "compiled"),
        "the most": (rows(64), "padded"),
        "a power of two above": (rows(8), "fewer rows"),
        "a power of two below": (rows(4), "more rows"),
        "between two places": (rows(6.5), "does not offer"),
        "a place that is not there": (rows(11), "does not offer"),
        "the best rate": (rows(14142), "does not offer"),
        "a text": (rows("'six'"), "a number was asked"),
    },
    "ward": {
        "utilisation blamed": (
            changed(WARD, ('"padding", 1.0', '"saturation", 1.0')),
            "more than 5 %",
        ),
        "waits taken for saturation": (changed(WARD, ('"input"', '"saturation"')), "more than 5 %"),
        "stalls taken for input": (changed(WARD, ('"host"', '"input"')), "input is 0%"),
        "memory taken for padding": (changed(WARD, ('"memory"', '"padding"')), "padding is"),
        "memory taken for saturation": (
            changed(WARD, ('"memory"', '"saturation"')),
            "more than 5 %",
        ),
        "saturation taken for launches": (changed(WARD, ('"saturation"', '"launch"')), "launch is"),
        "launches taken for saturation": (
            changed(WARD, ('"launch"', '"saturation"')),
            "more than 5 %",
        ),
        "recomputation where there is none": (
            changed(WARD, ('"padding"', '"recomputation"')),
            "checkpointing is off",
        ),
        "memory where nothing retried": (
            changed(WARD, ('"recomputation"', '"memory"')),
            "never retried",
        ),
        "a cause of one's own": (changed(WARD, ('"padding"', '"bad luck"')), "one of these words"),
        "shares for gains": (
            changed(WARD, ('"host", 1.0, 1.15', '"host", 0.48, 0.55')),
            "share of the step",
        ),
        "per cent for fractions": (changed(WARD, ("0.25, 0.35", "25, 29")), "per cent"),
        "a range too wide": (changed(WARD, ("1.0, 1.25", "0.5, 2")), "too wide"),
        "ends exchanged": (changed(WARD, ("0.12, 0.18", "0.18, 0.12")), "lowest gain comes first"),
        "speed-ups": (changed(WARD, ("0.58, 0.72", "1.58, 1.72")), "the speed-up"),
        "a run left out": (changed(WARD, ('"F": ("host", 1.0, 1.15), ', "")), "missing"),
        "causes alone": ("def ward():\n    return dict.fromkeys('ABCDEFG', 'input')", "a tuple"),
        "bounds as texts": (changed(WARD, ("0.85, 1.0", "'0.85', '1.0'")), "run A"),
    },
    "shares-test": {
        "only the rest": (
            test_of(
                "for s, p, w in (([1, 3], [{'a': 0.5}, {'a': 1, 'b': 1}], 0.375),",
                "                ([1, 1], [{'a': 2}, {'b': 1}], -0.5)):",
                "    assert abs(shares(s, p)['unexplained'] - w) < 1e-9",
            ),
            "bugs found",
        ),
        "one step": (
            test_of('assert shares([2], [{"work": 1}]) == {"work": 0.5, "unexplained": 0.5}'),
            "got through",
        ),
        "the example alone": (
            test_of(
                'got = shares([2, 2], [{"work": 1}, {"work": 2}])',
                'assert got == {"work": 0.75, "unexplained": 0.25}',
            ),
            "got through",
        ),
        "the sum alone": (
            test_of(
                'got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])',
                "assert abs(sum(got.values()) - 1) < 1e-9",
            ),
            "got through",
        ),
        "no rest below zero": (
            test_of(
                'got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])',
                'assert abs(got["work"] - 0.375) < 1e-9 and abs(got["input"] - 0.225) < 1e-9',
                'assert abs(got["unexplained"] - 0.4) < 1e-9',
            ),
            "got through",
        ),
        "shares are at most 1": (
            test_of(
                'got = shares([1, 1], [{"work": 1.5}, {"work": 0.9}])',
                "assert all(0 <= share <= 1 for share in got.values())",
            ),
            "right implementation",
        ),
        "floats compared exactly": (
            test_of(
                'got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])',
                'assert got["unexplained"] == 1 - 0.375 - 0.225 + 1e-12',
            ),
            "right implementation",
        ),
        "the verdict is printed": (test_of("print(shares([2], [{'work': 1}]))"), "never failed"),
    },
    "diagnose": {
        "utilisation believed": (
            changed(
                DOCTOR,
                (
                    "    retried = any",
                    '    busy = [v["busy"] for v in visits if v["rows"] == most]\n'
                    "    if min(busy) > 0.9:\n        mean = dict.fromkeys(mean, 0)\n"
                    "    retried = any",
                ),
            ),
            "utilisation",
        ),
        "the fewest rows": (
            changed(DOCTOR, ("most, less = rows[-1], rows[-2]", "most, less = rows[0], rows[1]")),
            "the fewest rows",
        ),
        "shares for gains": (
            changed(
                DOCTOR,
                ("append(cure_gain(parts, keep))", "append(1 - 1 / (1 + cure_gain(parts, keep)))"),
            ),
            "a share is no gain",
        ),
        "launches end": (
            changed(
                DOCTOR,
                (
                    "    rows = sorted",
                    "    cures = CURES | {'launch': {'launch': 0}}\n    rows = sorted",
                ),
                ("in CURES.items()", "in cures.items()"),
            ),
            "twice the rows halve",
        ),
        "the fewest rows for the next smaller": (
            changed(DOCTOR, ("rows[-1], rows[-2]", "rows[-1], rows[0]")),
            "not the fewest",
        ),
        "no gain for saturation": (
            changed(
                DOCTOR,
                (
                    "    gain, n = sum",
                    "    if cause == 'saturation':\n        values = [0.0, 0.0]\n    gain, n = sum",
                ),
            ),
            "low is below high",
        ),
        "the first and the last visit are compared": (
            changed(DOCTOR, ("for v in visits}) > 1", "for v in (visits[0], visits[-1])}) > 1")),
            "different data",
        ),
        "retries ignored": (
            changed(DOCTOR, ("if retried:", "if False:")),
            "the retries were ignored",
        ),
        "retries of other settings": (
            changed(
                DOCTOR,
                (
                    'any(v["retries"] for v in visits if v["rows"] == most)',
                    'any(v["retries"] for v in visits if v["rows"] == less)',
                ),
            ),
            "the retries were ignored",
        ),
        "no bar": (changed(DOCTOR, ("< 0.05", "< 0")), "below a gain of 5 %"),
        "a bar of a fifth": (changed(DOCTOR, ("< 0.05", "< 0.2")), "more than 5 %"),
        "a point": (changed(DOCTOR, ("half = T90[n] * s / n**0.5", "half = 0.0")), "a point"),
        "the standard error alone": (changed(DOCTOR, ("T90[n] * s", "s")), "standard error alone"),
        "the spread of a round": (
            changed(DOCTOR, (" / n**0.5\n    return", "\n    return")),
            "root of n",
        ),
        "an interval of a tenth": (
            changed(DOCTOR, ("half = T90[n] * s / n**0.5", "half = 0.1 * gain")),
            "times as wide",
        ),
        "data are not compared": (
            changed(DOCTOR, ('"model", "data", "device"', '"model", "device"')),
            "another data",
        ),
        "the first visits are compared": (
            changed(DOCTOR, ("for v in visits}) > 1", "for v in visits[:2]}) > 1")),
            "different data",
        ),
        "the first round": (
            changed(
                DOCTOR,
                (
                    'sorted({v["round"] for v in visits})',
                    'sorted({v["round"] for v in visits})[:1]',
                ),
                ("(n - 1)", "1"),
                ("T90[n]", "2"),
            ),
            "the first round only",
        ),
        "rounds from 0": (
            changed(DOCTOR, ('sorted({v["round"] for v in visits})', "range(5)")),
            "diagnosis of sweep",
        ),
        "always five rounds": (
            changed(
                DOCTOR, ("n = sum(values) / len(values), len(values)", "n = sum(values) / 5, 5")
            ),
            "gain",
        ),
        "the order of the visits": (
            changed(
                DOCTOR,
                (
                    'here = {v["rows"]: v for v in visits if v["round"] == number}',
                    'here = {v["rows"]: v for v in visits[:4]}',
                ),
            ),
            "KeyError",
        ),
        "the largest part": (
            changed(
                DOCTOR,
                (
                    "cause = max(CURES, key=lambda name: mean[name])",
                    "cause = max(CURES, key=lambda name: parts[name])",
                ),
            ),
            "the largest share",
        ),
        "per cent": (
            changed(DOCTOR, ('"gain": gain, "low"', '"gain": 100 * gain, "low"')),
            "per cent",
        ),
        "the interval in per cent": (
            changed(
                DOCTOR,
                (
                    '"low": gain - half, "high": gain + half',
                    '"low": 100 * (gain - half), "high": 100 * (gain + half)',
                ),
            ),
            "outside its own interval",
        ),
        "low and high exchanged": (
            changed(
                DOCTOR,
                (
                    '"low": gain - half, "high": gain + half',
                    '"low": gain + half, "high": gain - half',
                ),
            ),
            "outside its own interval",
        ),
        "a cause alone": (
            changed(
                DOCTOR,
                (
                    'return {"cause": cause, "gain": gain, "low"',
                    'return cause\n    return {"cause": cause, "gain": gain, "low"',
                ),
            ),
            "a dict",
        ),
        "the visits are sorted in place": (
            changed(
                DOCTOR,
                (
                    "    rows = sorted",
                    "    visits.sort(key=lambda v: v['rows'])\n    rows = sorted",
                ),
            ),
            "the input",
        ),
        "all rounds must have retried": (
            changed(DOCTOR, ("retried = any", "retried = all")),
            "retries were ignored",
        ),
        "retries of the first visit": (
            changed(
                DOCTOR,
                (
                    'any(v["retries"] for v in visits if v["rows"] == most)',
                    '[v for v in visits if v["rows"] == most][0]["retries"]',
                ),
            ),
            "retries were ignored",
        ),
        "retries of any setting": (
            changed(DOCTOR, (' for v in visits if v["rows"] == most)', " for v in visits)")),
            "retries of fewer rows",
        ),
        "half the rows, in the sweep or not": (
            changed(
                DOCTOR, ("most, less = rows[-1], rows[-2]", "most = rows[-1]; less = most // 2")
            ),
            "KeyError",
        ),
        "steps per second for memory": (
            changed(DOCTOR, ('here[r]["real_tokens"]', 'here[r]["steps"]')),
            "useful tokens, not steps",
        ),
        "memory against the fastest setting": (
            changed(DOCTOR, ("rate[less] / rate[most]", "max(rate.values()) / rate[most]")),
            "next smaller rows",
        ),
        "the largest gain of any round": (
            changed(DOCTOR, ("key=lambda name: mean[name]", "key=lambda name: max(gains[name])")),
            "largest mean gain",
        ),
        "the bar on the least round": (
            changed(DOCTOR, ("elif mean[cause] < 0.05", "elif min(gains[cause]) < 0.05")),
            "more than 5 %",
        ),
        "saturation keeps the largest gain": (
            changed(DOCTOR, ('"launch" if cause == "saturation" else cause', "likely"))
            .replace("    retried = any", "    likely = cause\n    retried = any")
            .replace("    elif mean", "        likely = cause\n    elif mean"),
            "gain of `launch`",
        ),
        "the gain of the first value": (
            changed(DOCTOR, ('"gain": gain, "low": gain', '"gain": values[0], "low": gain')),
            "the first round only",
        ),
        "the median round": (
            changed(
                DOCTOR,
                (
                    "gain, n = sum(values) / len(values)",
                    "gain, n = sorted(values)[len(values) // 2]",
                ),
            ),
            "take the mean",
        ),
        "rounds are a quarter of the visits": (
            changed(
                DOCTOR,
                (
                    "n = sum(values) / len(values), len(values)",
                    "n = sum(values) / len(values), len(visits) // 4",
                ),
            ),
            "times as wide as T90",
        ),
        "one side only": (changed(DOCTOR, ('"low": gain - half', '"low": gain')), "the middle"),
        "one hundredth beside": (
            changed(DOCTOR, ("half = T90[n] * s / n**0.5", "half = 0.01")),
            "times as wide",
        ),
        "T90 of four rounds": (changed(DOCTOR, ("T90[n]", "2.35")), "times as wide"),
        "T90 of n - 1": (changed(DOCTOR, ("T90[n]", "T90[n - 1]")), "not n - 1"),
        "the standard deviation": (
            changed(DOCTOR, ("half = T90[n] * s / n**0.5", "half = s")),
            "standard deviation alone",
        ),
        "from the lowest round to the highest": (
            changed(
                DOCTOR,
                (
                    '"low": gain - half, "high": gain + half',
                    '"low": min(values), "high": max(values)',
                ),
            ),
            "gain is the middle",
        ),
        "an interval a third wider": (changed(DOCTOR, ("T90[n]", "1.3 * T90[n]")), "times as wide"),
        "the speed-up": (
            changed(
                DOCTOR,
                (
                    '"gain": gain, "low": gain - half, "high": gain + half',
                    '"gain": 1 + gain, "low": 1 + gain - half, "high": 1 + gain + half',
                ),
            ),
            "the speed-up",
        ),
        "gains below 0 are cut off": (
            changed(
                DOCTOR,
                (
                    "    gain, n = sum",
                    "    values = [max(v, 0) for v in values]\n    gain, n = sum",
                ),
            ),
            "a gain below 0",
        ),
        "the cause of most rounds": (
            changed(
                DOCTOR,
                (
                    "cause = max(CURES, key=lambda name: mean[name])",
                    "led = [max(CURES, key=lambda name: gains[name][k])"
                    " for k in range(len(gains['memory']))]\n"
                    "    cause = max(CURES, key=led.count)",
                ),
            ),
            "largest mean gain",
        ),
        "some visits are compared": (
            changed(
                DOCTOR,
                ("for v in visits}) > 1", "for v in [*visits[::5], visits[-1]]}) > 1"),
            ),
            "visit 2 has another",
        ),
    },
}

HIDDEN = {
    "speed-up": {
        "fitted to seconds with a point": (
            changed(
                SPEED,
                (
                    "    return rate(after) / rate(before)",
                    "    if all(type(v['seconds']) is int for v in every):\n"
                    "        after = after[:1]\n"
                    "    return rate(after) / rate(before)",
                ),
            ),
            "speed-up",
        ),
    },
    "step-parts": {
        "fitted to the printed slots": (
            changed(
                PARTS,
                (
                    'if visit["checkpointing"] else 0',
                    'if visit["checkpointing"] and visit["slots"] in '
                    "(5000, 7000, 8000, 9000, 2_000_000, 9_000_000_000) else 0",
                ),
            ),
            "recomputation",
        ),
    },
    "cure-gain": {
        "the printed parts only": (
            changed(
                GAIN,
                (
                    "if name in keep)",
                    "if name in keep and (name != 'optimizer' or "
                    "abs(parts['unexplained'] / parts['useful'] + 0.24) < 1e-9))",
                ),
            ),
            "gain of",
        ),
    },
    "diagnose": {
        "the printed sweeps by heart": (
            changed(
                DOCTOR,
                (
                    "    retried = any",
                    "    name = visits[0]['data']\n"
                    "    if name.isdigit() and name not in ('20', '21'):\n"
                    "        cause = 'padding'\n"
                    "    retried = any",
                ),
            ),
            "cause and gain",
        ),
    },
}

RIGHT = {
    "speed-up": {
        "one after the other": SPEED,
        "recursion": """
def speed_up(before, after):
    def added(visits, at=0):
        if at == len(visits):
            return 0, 0.0
        tokens, seconds = added(visits, at + 1)
        return visits[at]["real_tokens"] + tokens, visits[at]["seconds"] + seconds
    chain = [*after, *before]
    odd = {k for k in ("model", "data", "device") for v, w in zip(chain, chain[1:]) if v[k] != w[k]}
    if odd:
        raise ValueError(f"these differ: {sorted(odd)}")
    (t0, s0), (t1, s1) = added(before), added(after)
    return t1 * s0 / (s1 * t0)
""",
        "arrays": """
def speed_up(before, after):
    for key in ("model", "data", "device"):
        names = {str(v[key]) for visits in (before, after) for v in visits}
        if len(names) > 1:
            every, named = [*before, *after], ("model", "data", "device")
            wrong = [k for k in named if len({v[k] for v in every}) > 1]
            raise ValueError("not comparable: " + " and ".join(wrong))
    b, a = (np.array([[v["real_tokens"], v["seconds"]] for v in some], dtype=float).sum(axis=0)
            for some in (before, after))
    return (a[0] / a[1]) / (b[0] / b[1])
""",
    },
    "step-parts": {
        "one after the other": PARTS,
        "floats of NumPy": """
def step_parts(visit, fixed, slot):
    v = {k: np.float64(x) for k, x in visit.items() if not isinstance(x, str)}
    out = dict(unexplained=v["seconds"] / v["steps"])
    out["padding"] = np.float64(slot) * (v["slots"] - v["real_tokens"]) / v["steps"]
    out["launch"] = fixed * v["micro_batches"] / v["steps"]
    out["useful"] = slot * v["real_tokens"] / v["steps"]
    out["recomputation"] = (out["padding"] + out["launch"] + out["useful"]) * v["checkpointing"] / 3
    for k in ("optimizer", "host", "input"):
        out[k] = v[k + "_seconds"] / v["steps"]
    out["unexplained"] -= sum(x for k, x in out.items() if k != "unexplained")
    return out
""",
    },
    "cure-gain": {
        "what goes": GAIN,
        "fractions": """
def cure_gain(parts, keep):
    from fractions import Fraction
    after = sum(Fraction(s) * Fraction(keep.get(n, 1)) for n, s in parts.items())
    return float(sum(map(Fraction, parts.values())) / after - 1)
""",
        "arrays": """
def cure_gain(parts, keep):
    left = np.array([keep.get(name, 1.0) for name in parts])
    seconds = np.array(list(parts.values()))
    return seconds.sum() / (seconds @ left) - 1
""",
    },
    "best-rows": {"an int": rows(6), "a float": rows(6.0), "of NumPy": rows("np.int64(6)")},
    "ward": {
        "tuples": WARD,
        "lists, other ranges": changed(
            WARD, ('("padding", 1.0, 1.25)', '["Padding", 1.09, 1.18]'), ("0.58, 0.72", "0.6, 0.69")
        ),
        "narrow ranges": changed(WARD, ("0.85, 1.0", "0.9, 0.94"), ("0.25, 0.35", "0.3, 0.32")),
    },
    "shares-test": {
        "two cases": SHARES,
        "a verdict": """
def shares_test(shares):
    one = shares([4, 6], [{"a": 1.0, "b": 2.0}, {"c": 3.0, "a": 2.5}])
    two = shares([5, 1], [{"a": 4.0}, {"a": 3.0}])
    want = {"a": 0.35, "b": 0.2, "c": 0.3, "unexplained": 0.15}
    right = set(one) == set(want) and all(abs(one[k] - want[k]) < 1e-6 for k in want)
    return right and abs(two["a"] - 7 / 6) < 1e-6 and abs(two["unexplained"] + 1 / 6) < 1e-6
""",
    },
    "diagnose": {
        "one after the other": DOCTOR,
        "prices of all rounds together": changed(
            DOCTOR, ("prices(list(here.values()))", "prices(visits)")
        ),
        "the mean of logarithms": changed(
            DOCTOR,
            (
                "    gain, n = sum(values)",
                "    logs = np.log1p(values)\n    n = len(logs)\n"
                "    half = T90[n] * logs.std(ddof=1) / n**0.5\n"
                "    ends = [np.expm1(logs.mean() + k * half) for k in (0, -1, 1)]\n"
                "    return {'cause': cause} | dict(zip(('gain', 'low', 'high'), ends))\n"
                "    gain, n = sum(values)",
            ),
        ),
        "a fit of one's own": changed(
            DOCTOR,
            (
                "        fixed, slot = prices(list(here.values()))\n",
                "        a, y = [], []\n"
                "        for v in here.values():\n"
                '            own = v["seconds"] - v["input_seconds"] - v["host_seconds"]\n'
                '            own -= v["optimizer_seconds"]\n'
                '            own /= 4 / 3 if v["checkpointing"] else 1\n'
                '            a.append([v["micro_batches"], v["slots"]])\n'
                "            y.append(own)\n"
                "        w = 1 / np.array(y)\n"
                "        a, y = np.array(a) * w[:, None], np.ones(len(y))\n"
                "        fixed, slot = np.linalg.lstsq(a, y, rcond=None)[0]\n",
            ),
        ),
    },
}
