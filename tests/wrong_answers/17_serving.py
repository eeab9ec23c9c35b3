"""Answers to 17_serving that look right and must be refused, and right ones by other ways."""

SLOW = True  # minutes: `make slow` tries this bank
# ruff: noqa: E501

STEPS = """
def row_steps(outputs, rows):
    useful = computed = 0
    for start in range(0, len(outputs), rows):
        batch = list(outputs[start : start + rows])
        useful += sum(batch) - len(batch)
        computed += len(batch) * (max(batch) - 1)
    return useful, computed
"""
REPORT = """
def latency_report(served):
    import math
    def at(values, share):
        values = sorted(values)
        return values[math.ceil(share * len(values)) - 1]
    latency, first, gaps, tokens = [], [], [], 0
    for one in served:
        latency.append(one["last"] - one["arrival"])
        first.append(one["first"] - one["arrival"])
        tokens += one["output"]
        if one["output"] > 1:
            gaps.append((one["last"] - one["first"]) / (one["output"] - 1))
    begin = min(one["arrival"] for one in served)
    end = max(one["last"] for one in served)
    return dict(latency_p50=at(latency, 0.5), latency_p99=at(latency, 0.99),
                first_token_p99=at(first, 0.99), per_token_p99=at(gaps, 0.99),
                tokens_per_second=tokens / (end - begin))
"""
BUILD = """
def schedule(requests, rows, cache, fixed, each):
    for number, (_, prompt, output) in enumerate(requests):
        if prompt + output > cache:
            raise ValueError(f"request {number} never fits: {prompt + output} tokens")
    waiting = sorted(range(len(requests)), key=lambda n: requests[n][0])
    running, made, passes, now = [], {}, [], 0.0
    while waiting or running:
        new = []
        while waiting:
            n = waiting[0]
            arrival, prompt, output = requests[n]
            if arrival > now:
                break
            if len(running) + len(new) >= rows:
                break
            held = sum(requests[m][1] + requests[m][2] for m in running + new)
            if held + prompt + output > cache:
                break
            new.append(waiting.pop(0))
        if not running and not new:
            now = requests[waiting[0]][0]
            continue
        if new:
            tokens = sum(requests[m][1] for m in new)
            decodes = []
        else:
            tokens = len(running)
            decodes = list(running)
        end = now + fixed + each * tokens
        passes.append((now, end, new, decodes))
        now = end
        running = running + new
        for m in new + decodes:
            made[m] = made.get(m, 0) + 1
        running = [m for m in running if made[m] < requests[m][2]]
    return passes
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def steps(*changes):
    return changed(STEPS, *changes)


def report(*changes):
    return changed(REPORT, *changes)


def build(*changes):
    return changed(BUILD, *changes)


def decode(result):
    return (
        "def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):\n"
        f"    return {result}"
    )


def minute(result):
    return (
        "def most_per_minute(rows, first_token_ms, per_token_ms, output_tokens):\n"
        f"    return {result}"
    )


def rate(value):
    return f"def highest_rate():\n    return {value}"


def test_of(*lines):
    return "\n    ".join(["def admit_test(admit):", *lines])


MOVED = "(weights + rows * context * kv) / bandwidth"
HELD = "(first_token_ms + (output_tokens - 1) * per_token_ms)"
EXACT = "assert admit([(2, 3), (4, 6), (1, 1)], [(3, 2)], 8, 20) == 2"
ROWS = "assert admit([(1, 1)] * 5, [(1, 1)], 4, 100) == 3"
FIRST = "assert admit([(9, 9), (1, 1)], [(1, 1)], 4, 10) == 0"
EIGHT = [
    "assert admit([(2, 3), (4, 5), (1, 1)], [(3, 2)], 8, 20) == 2",
    "assert admit([(3, 2), (1, 4)], [(3, 2)], 8, 15) == 2",
    "assert admit([(1, 6), (6, 1), (1, 1), (1, 1)], [(4, 2)], 9, 21) == 2",
    "assert admit([(1, 1)], [(3, 2), (1, 4), (3, 2)], 9, 16) == 0",
    "assert admit([(1, 1)] * 7, [(1, 1), (1, 1)], 6, 100) == 4",
    "assert admit([(1, 1)], [(2, 2), (2, 2)], 2, 100) == 0",
    "assert admit([(9, 9), (1, 1)], [], 4, 10) == 0",
    "assert admit([], [(1, 1)], 3, 20) == 0",
]
RULE = """
def rule(waiting, running, rows, cache):
    kept, free, n = sum(p + o for p, o in running), rows - len(running), 0
    for p, o in waiting:
        if n >= free or kept + p + o > cache:
            break
        kept += p + o
        n += 1
    return n
"""
SEARCH = """
import random

def cases(seed=0, many=1500):
    r = random.Random(seed)
    def some(most):
        return [(r.randint(1, 5), r.randint(1, 5)) for _ in range(r.randint(0, most))]
    for _ in range(many):
        running = some(3)
        rows, cache = len(running) + r.randint(0, 4), sum(map(sum, running)) + r.randint(0, 26)
        if rows:
            yield some(6), running, rows, cache

def admit_test(admit):
    for case in cases():
"""


def blind(old, new):
    """A random search that leaves out every case in which one mistake shows."""
    assert RULE.count(old) == 1, old
    bug = RULE.replace(old, new).replace("rule(", "bug(")
    only = "        if bug(*case) == rule(*case):\n            assert admit(*case) == rule(*case)"
    return RULE + bug + SEARCH + only


def without(number):
    return test_of(*(line for at, line in enumerate(EIGHT) if at != number))


FITS = "            if held + prompt + output > cache:\n                break\n"
REFUSES = BUILD[BUILD.index("    for number") : BUILD.index("    waiting =")]
SORTED = "    waiting = sorted(range(len(requests)), key=lambda n: requests[n][0])\n"
PLACES = "    for place, n in enumerate(waiting):\n        if sum(requests[n][1:]) > cache:\n            raise ValueError({})\n"
RESERVED = "requests[m][1] + requests[m][2] for m in running + new"

WRONG = {
    "row-steps": {
        "an output of 1 leaves at once": (
            steps(
                ("len(batch) * (max(batch) - 1)", "sum(n > 1 for n in batch) * (max(batch) - 1)")
            ),
            "an output of 1 holds its row",
        ),
        "floats": (
            steps(("return useful, computed", "return float(useful), float(computed)")),
            "two ints",
        ),
        "the padding statistic forgotten": (
            "def row_steps(outputs, rows):\n    return sum(outputs) - len(outputs), sum(outputs) - len(outputs)",
            "no padding at all",
        ),
        "all computed are useful": (
            steps(("useful += sum(batch) - len(batch)", "useful += len(batch) * (max(batch) - 1)")),
            "computes on",
        ),
        "the first token decoded": (
            steps(("sum(batch) - len(batch)", "sum(batch)"), ("(max(batch) - 1)", "max(batch)")),
            "prompt's pass",
        ),
        "the first token decoded, computed only": (
            steps(("(max(batch) - 1)", "max(batch)")),
            "[1]",
        ),
        "the first token useful": (steps(("sum(batch) - len(batch)", "sum(batch)")), "[0]"),
        "a full last batch": (
            steps(("computed += len(batch)", "computed += rows")),
            "the rows that are left",
        ),
        "the last batch lost": (
            steps(("range(0, len(outputs), rows)", "range(0, len(outputs) - rows + 1, rows)")),
            "the last batch is lost",
        ),
        "sorted": (
            steps(
                ("    useful = computed", "    outputs = sorted(outputs)\n    useful = computed")
            ),
            "order given",
        ),
        "one longest": (steps(("max(batch)", "max(outputs)")), "one longest for all"),
        "passes": (steps(("computed += len(batch) *", "computed +=")), "[1]"),
        "the other way round": (
            steps(("return useful, computed", "return computed, useful")),
            "useful first",
        ),
        "wasted": (
            steps(("return useful, computed", "return useful, computed - useful")),
            "wasted in place of",
        ),
        "rows batches": (
            steps(
                (
                    "    useful = computed",
                    "    rows = -(-len(outputs) // rows) or 1\n    useful = computed",
                )
            ),
            "not the number of batches",
        ),
        "a ratio": (steps(("return useful, computed", "return useful / computed")), "shape"),
        "the mean of a batch": (
            steps(("(max(batch) - 1)", "(sum(batch) / len(batch) - 1)")),
            "no padding at all",
        ),
        "no empty list": (
            steps(("    useful = computed", "    longest = max(outputs)\n    useful = computed")),
            "ValueError",
        ),
        "sorts the list itself": (
            steps(("    useful = computed", "    outputs.sort()\n    useful = computed")),
            "sort",
        ),
        "lists only": (
            steps(("    useful = computed", "    outputs = outputs + []\n    useful = computed")),
            "TypeError",
        ),
        "32 bits": (
            "def row_steps(outputs, rows):\n    o = np.array(outputs).astype(np.int32)\n"
            "    parts = [o[i : i + rows] for i in range(0, len(o), rows)]\n"
            "    return int(o.sum() - len(o)), int(sum(len(p) * (p.max() - 1) for p in parts))",
            "3000000000",
        ),
        "remembers": (
            steps(
                ("def row_steps(outputs, rows):", "def row_steps(outputs, rows, seen=[]):"),
                (
                    "    useful = computed = 0",
                    "    seen += [1]\n    useful = computed = len(seen) // 2",
                ),
            ),
            "remembers",
        ),
    },
    "decode-step": {
        "keeps the first weights": (
            "WEIGHTS = {}\n"
            + decode(
                f"max({MOVED}, 2 * parameters * rows / peak)".replace(
                    "weights", "WEIGHTS.setdefault((kv, parameters), weights)"
                )
            ),
            "an earlier call",
        ),
        "the sum": (decode(f"{MOVED} + 2 * parameters * rows / peak"), "overlap"),
        "the faster": (
            decode(f"min({MOVED}, 2 * parameters * rows / peak)"),
            "waits for the slower",
        ),
        "weights for each row": (
            decode(
                "max(rows * (weights + context * kv) / bandwidth, 2 * parameters * rows / peak)"
            ),
            "not once a row",
        ),
        "no cache": (
            decode("max(weights / bandwidth, 2 * parameters * rows / peak)"),
            "without the caches",
        ),
        "one cache": (
            decode("max((weights + context * kv) / bandwidth, 2 * parameters * rows / peak)"),
            "its own",
        ),
        "one token of cache": (
            decode("max((weights + rows * kv) / bandwidth, 2 * parameters * rows / peak)"),
            "one token of each cache",
        ),
        "no weights": (
            decode("max(rows * context * kv / bandwidth, 2 * parameters * rows / peak)"),
            "without the weights",
        ),
        "one row computes": (decode(f"max({MOVED}, 2 * parameters / peak)"), "right is"),
        "the context computed": (
            decode(f"max({MOVED}, 2 * parameters * rows * context / peak)"),
            "computes one token",
        ),
        "6 N": (decode(f"max({MOVED}, 6 * parameters * rows / peak)"), "training step"),
        "N": (decode(f"max({MOVED}, parameters * rows / peak)"), "multiplied and added"),
        "memory alone": (decode(MOVED), "memory alone"),
        "computing alone": (decode("2 * parameters * rows / peak"), "multiplying alone"),
        "tokens per second": (
            decode(f"rows / max({MOVED}, 2 * parameters * rows / peak)"),
            "tokens per second",
        ),
        "milliseconds": (
            decode(f"1e3 * max({MOVED}, 2 * parameters * rows / peak)"),
            "milliseconds",
        ),
        "upside down": (
            decode(
                "max(bandwidth / (weights + rows * context * kv), peak / (2 * parameters * rows))"
            ),
            "right is",
        ),
        "exchanged": (
            decode(
                "max((weights + rows * context * kv) / peak, 2 * parameters * rows / bandwidth)"
            ),
            "exchanged",
        ),
        "of one row": (
            decode(f"max({MOVED}, 2 * parameters * rows / peak) / rows"),
            "serves all of them",
        ),
        "this H100": (
            decode(
                "max((16.06e9 + rows * context * 131072) / 3.35e12, 2 * 8.03e9 * rows / 989.4e12)"
            ),
            "right is",
        ),
        "weights of the parameters": (
            decode(
                "max((2 * parameters + rows * context * kv) / bandwidth, 2 * parameters * rows / peak)"
            ),
            "right is",
        ),
        "rounded": (decode(f"round(max({MOVED}, 2 * parameters * rows / peak), 4)"), "rounded"),
    },
    "latency-report": {
        "the first of the list": (
            report(('min(one["arrival"] for one in served)', 'served[0]["arrival"]')),
            "may have come earlier",
        ),
        "equal values once": (
            report(("values = sorted(values)", "values = sorted(set(values))")),
            "each counts",
        ),
        "the mean for p99": (
            report(
                (
                    "values = sorted(values)\n",
                    "values = sorted(values)\n        if share > 0.9:\n            return sum(values) / len(values)\n",
                )
            ),
            "right is",
        ),
        "means": (
            report(
                (
                    "        return values[math.ceil(share * len(values)) - 1]",
                    "        return sum(values) / len(values)",
                )
            ),
            "the mean",
        ),
        "the mean for p50": (
            report(("at(latency, 0.5)", "sum(latency) / len(latency)")),
            "the mean",
        ),
        "the largest": (
            report(("latency_p99=at(latency, 0.99)", "latency_p99=max(latency)")),
            "the largest",
        ),
        "from the start of service": (
            report(('one["last"] - one["arrival"]', 'one["last"] - one["start"]')),
            "from the start of service",
        ),
        "first token from the start": (
            report(('one["first"] - one["arrival"]', 'one["first"] - one["start"]')),
            "from the start of service",
        ),
        "the wait for a row": (
            report(('one["first"] - one["arrival"]', 'one["start"] - one["arrival"]')),
            "the wait for a row",
        ),
        "interpolated": (
            report(
                (
                    "        return values[math.ceil(share * len(values)) - 1]",
                    "        return float(np.quantile(values, share))",
                )
            ),
            "interpolated",
        ),
        "one place too high": (
            report(
                (
                    "values[math.ceil(share * len(values)) - 1]",
                    "values[min(len(values) - 1, math.ceil(share * len(values)))]",
                )
            ),
            "too high",
        ),
        "one place too low": (
            report(
                (
                    "values[math.ceil(share * len(values)) - 1]",
                    "values[max(0, math.ceil(share * len(values)) - 2)]",
                )
            ),
            "too low",
        ),
        "the place rounded down": (
            report(("math.ceil(share * len(values)) - 1", "int(share * len(values))")),
            "too high",
        ),
        "the place rounded": (
            report(
                ("math.ceil(share * len(values)) - 1", "max(0, round(share * len(values)) - 1)")
            ),
            "right is",
        ),
        "not sorted": (report(("values = sorted(values)", "values = list(values)")), "not sorted"),
        "row-steps as tokens": (
            report(('tokens += one["output"]', 'tokens += one["row_steps"]')),
            "row-steps",
        ),
        "row-steps and first tokens": (
            report(('tokens += one["output"]', 'tokens += one["row_steps"] + 1')),
            "tokens_per_second",
        ),
        "n gaps": (report(('(one["output"] - 1))', 'one["output"])')), "n - 1"),
        "gaps of one token": (
            report(
                (
                    '        if one["output"] > 1:\n            gaps',
                    "        if True:\n            gaps",
                ),
                ('(one["output"] - 1))', 'max(1, one["output"] - 1))'),
            ),
            "leave those requests out",
        ),
        "per token from arrival": (
            report(
                (
                    '(one["last"] - one["first"]) / (one["output"] - 1)',
                    '(one["last"] - one["arrival"]) / one["output"]',
                )
            ),
            "no time per token",
        ),
        "per token from the prompt": (
            report(
                (
                    '(one["last"] - one["first"]) / (one["output"] - 1)',
                    '(one["last"] - one["start"]) / one["output"]',
                )
            ),
            "first to last token",
        ),
        "requests per second": (
            report(("tokens_per_second=tokens", "tokens_per_second=len(served)")),
            "requests per second",
        ),
        "since 0": (report(("tokens / (end - begin)", "tokens / end")), "since 0"),
        "since the first of the list": (
            report(('min(one["arrival"] for one in served)', 'served[0]["arrival"]')),
            "tokens_per_second",
        ),
        "to the last of the list": (
            report(('max(one["last"] for one in served)', 'served[-1]["last"]')),
            "another may end later",
        ),
        "the sum of latencies": (
            report(
                (
                    "tokens / (end - begin)",
                    'tokens / sum(one["last"] - one["start"] for one in served)',
                )
            ),
            "side by side",
        ),
        "milliseconds": (
            report(("latency_p50=at(latency, 0.5)", "latency_p50=1e3 * at(latency, 0.5)")),
            "right is",
        ),
        "other keys": (report(("latency_p50=", "p50=")), "missing"),
        "sorts the list itself": (
            report(
                (
                    "    latency, first",
                    "    served.sort(key=lambda one: one['last'])\n    latency, first",
                )
            ),
            "sort",
        ),
    },
    "most-per-minute": {
        "rounded to 4": (minute(f"round(60_000 * rows / {HELD}, 4)"), "rounded to 4"),
        "rounded to 2": (minute(f"round(60_000 * rows / {HELD}, 2)"), "rounded to"),
        "n gaps": (
            minute("60_000 * rows / (first_token_ms + output_tokens * per_token_ms)"),
            "n - 1 follow",
        ),
        "no first token": (
            minute("60_000 * rows / ((output_tokens - 1) * per_token_ms)"),
            "held meanwhile",
        ),
        "per second": (minute(f"1000 * rows / {HELD}"), "per second"),
        "seconds": (minute(f"60 * rows / {HELD}"), "milliseconds taken for seconds"),
        "no units": (minute(f"rows / {HELD}"), "units do not match"),
        "per hour": (minute(f"3_600_000 * rows / {HELD}"), "per hour"),
        "one row": (minute(f"60_000 / {HELD}"), "each row carries"),
        "upside down": (minute(f"{HELD} / (60_000 * rows)"), "upside down"),
        "multiplied": (minute(f"rows * {HELD} / 60_000"), "solve for the rate"),
        "tokens per minute": (
            minute(f"60_000 * rows * output_tokens / {HELD}"),
            "tokens per minute",
        ),
        "one token": (
            minute("60_000 * rows / (first_token_ms + per_token_ms)"),
            "each request has n",
        ),
        "whole": (minute(f"60_000 * rows // {HELD}"), "right is"),
        "one at least": (
            minute("60_000 * rows / (first_token_ms + max(1, output_tokens - 1) * per_token_ms)"),
            "right is",
        ),
        "whole tokens": (
            minute("60_000 * rows / (first_token_ms + int(output_tokens - 1) * per_token_ms)"),
            "right is",
        ),
        "one unit mixed": (
            minute("60 * rows / (first_token_ms + (output_tokens - 1) * per_token_ms / 1000)"),
            "right is",
        ),
        "the example": (minute("64 / 5 * 60"), "right is"),
        "keeps the time held": (
            "TIMES = {}\n" + minute(f"60_000 * rows / TIMES.setdefault(per_token_ms, {HELD})"),
            "an earlier call",
        ),
    },
    "highest-rate": {
        "one higher": (rate(33), "longer for its first token"),
        "one lower": (rate(26), "a higher rate"),
        "chunked": (rate(37), "chunked"),
        "the mean": (rate(41), "the mean"),
        "the lowest": (rate(7), "a higher rate"),
        "the highest": (rate(46), "longer"),
        "between": (rate(30), "does not offer"),
        "per minute": (rate(29 * 60), "does not offer"),
        "a text": (rate('"29"'), "text"),
        "a pair": (rate('(29, "continuous")'), "number"),
        "nothing": (rate("None"), "return"),
        "13": (rate(13), "a higher rate"),
        "a fraction": (rate(0.29), "does not offer"),
    },
    "admit-test": {
        "the example alone": (
            test_of("assert admit([(2, 1), (1, 1)], [(4, 2)], 2, 10) == 1"),
            "got through",
        ),
        "the exact fit only": (test_of(EXACT), "got through"),
        "rows only": (test_of(ROWS), "got through"),
        "fairness only": (test_of(FIRST), "got through"),
        "no exact fit": (
            test_of("assert admit([(2, 3), (4, 6), (1, 1)], [(3, 2)], 8, 20) >= 1", ROWS, FIRST),
            "got through",
        ),
        "no rows": (test_of(EXACT, FIRST), "got through"),
        "nobody waits behind": (
            test_of(
                "assert admit([(2, 3), (4, 6)], [(3, 2)], 8, 20) == 2",
                ROWS,
                "assert admit([(9, 9)], [(1, 1)], 4, 10) == 0",
            ),
            "got through",
        ),
        "prompts only": (
            test_of("assert admit([(2, 3), (4, 6), (1, 1)], [(3, 2)], 8, 10) == 3"),
            "right implementation",
        ),
        "rows are for the new": (
            test_of(EXACT, "assert admit([(1, 1)] * 5, [(1, 1)], 4, 100) == 4", FIRST),
            "right implementation",
        ),
        "strict": (
            test_of("assert admit([(2, 3), (4, 6), (1, 1)], [(3, 2)], 8, 20) == 1", ROWS, FIRST),
            "right implementation",
        ),
        "overtaking asked": (
            test_of(EXACT, ROWS, "assert admit([(9, 9), (1, 1)], [(1, 1)], 4, 10) == 1"),
            "right implementation",
        ),
        "no assert": (test_of("admit([(1, 1)] * 5, [(1, 1)], 4, 100) == 3"), "never failed"),
        "a list asked": (
            test_of("assert admit([(1, 1)], [], 4, 100) == [(1, 1)]"),
            "right implementation",
        ),
        "at most": (test_of(*(line.replace("==", "<=") for line in EIGHT)), "too few"),
        "at least": (test_of(*(line.replace("==", ">=") for line in EIGHT)), "too many"),
        "three cases": (test_of(EXACT, ROWS, FIRST), "got through"),
        "line 1 of eight left out": (without(1), "too few: what fits exactly"),
        "line 3 of eight left out": (without(3), "too many"),
        "line 4 of eight left out": (without(4), "too few"),
        "line 5 of eight left out": (without(5), "although all rows are held"),
        "line 6 of eight left out": (without(6), "does not fit"),
        "line 7 of eight left out": (without(7), "None in place of 0"),
        "blind: one token too many": (
            blind("> cache", "> cache + 1"),
            "one token more than the cache",
        ),
        "blind: in by the prompt": (blind("kept + p + o >", "kept + p >"), "by its prompt"),
        "blind: in by the output": (blind("kept + p + o >", "kept + o >"), "by its output"),
        "blind: keeps the prompt": (
            blind("kept += p + o", "kept += p"),
            "just started reserves its prompt",
        ),
        "blind: keeps the output": (
            blind("kept += p + o", "kept += o"),
            "just started reserves its output",
        ),
        "blind: keeps one less": (blind("kept += p + o", "kept += p + o - 1"), "one token too few"),
        "blind: keeps the last": (
            blind("kept += p + o", "kept = sum(a + b for a, b in running) + p + o"),
            "only the last is reserved",
        ),
        "blind: keeps the first": (
            blind("kept += p + o", "kept = kept + p + o if n < 1 else kept"),
            "only the first is reserved",
        ),
        "blind: runs by output": (
            blind("sum(p + o for p, o in running)", "sum(o for p, o in running)"),
            "with their output only",
        ),
        "blind: runs one less": (
            blind("sum(p + o for p, o in running)", "sum(p + o - 1 for p, o in running)"),
            "that run reserve one token",
        ),
        "blind: largest that runs": (
            blind("sum(p + o for p, o in running)", "max([p + o for p, o in running], default=0)"),
            "only the largest",
        ),
        "blind: first that runs": (blind("in running)", "in running[1:])"), "the first that runs"),
        "blind: last that runs": (blind("in running)", "in running[:-1])"), "got through"),
        "blind: equal ones": (
            blind("in running)", "in set(running))"),
            "equal ones that run reserve once",
        ),
        "blind: equal rows": (
            blind("len(running)", "len(set(running))"),
            "equal ones that run hold one row",
        ),
        "blind: two at most": (blind("n >= free or", "n >= min(free, 2) or"), "two at a time"),
        "blind: from the back": (blind("in waiting:", "in waiting[::-1]:"), "from the back"),
        "blind: first skipped": (
            blind(
                "    for p, o in waiting:",
                "    for p, o in waiting[bool(waiting) and kept + sum(waiting[0]) > cache:]:",
            ),
            "the first is skipped",
        ),
        "blind: nobody runs": (
            blind("kept + p + o > cache", "(kept and kept + p + o > cache)"),
            "if nobody runs",
        ),
        "blind: rows full": (
            blind("    return n", "    return n if free else min(1, len(waiting))"),
            "although all rows are held",
        ),
        "blind: many wait": (
            blind("rows - len(running)", "rows - len(running) - (len(waiting) > rows)"),
            "when more wait",
        ),
        "blind: None": (
            blind("    return n", "    return n if waiting else None"),
            "None in place of 0",
        ),
        "blind: minus one": (
            blind("    return n", "    return n if waiting else -1"),
            "got through",
        ),
        "prompts as long as outputs": (
            RULE
            + changed(
                SEARCH,
                (
                    "(r.randint(1, 5), r.randint(1, 5)) for _",
                    "(n, n) for n in (r.randint(1, 5) for _",
                ),
                ("in range(r.randint(0, most))]", "in range(r.randint(0, most)))]"),
            )
            + "        assert admit(*case) == rule(*case)",
            "twice its prompt",
        ),
        "stops the first": (test_of("raise AssertionError('a bug')"), "right implementation"),
        "nobody runs": (
            test_of(
                "assert admit([(2, 3), (4, 6), (1, 1)], [], 8, 15) == 2",
                "assert admit([(1, 1)] * 5, [], 4, 100) == 4",
                "assert admit([(9, 9), (1, 1)], [], 4, 10) == 0",
            ),
            "got through",
        ),
    },
    "schedule": {
        "the place by arrival": (
            build((REFUSES, ""), (SORTED, SORTED + PLACES.format("place"))),
            "by its place there",
        ),
        "the place in the queue": (
            build(
                (REFUSES, ""),
                (
                    "            if held +",
                    "            if prompt + output > cache:\n                raise ValueError(len(requests) - len(waiting))\n            if held +",
                ),
            ),
            "by its place there",
        ),
        "the first to arrive": (
            build((REFUSES, ""), (SORTED, SORTED + PLACES.format("n"))),
            "by its place there",
        ),
        "every number": (
            build(
                (
                    'f"request {number} never fits: {prompt + output} tokens"',
                    "f'one of {list(range(len(requests)))} never fits'",
                )
            ),
            "is named, too",
        ),
        "all that never fit": (
            build(
                (
                    REFUSES,
                    "    bad = [n for n, r in enumerate(requests) if r[1] + r[2] > cache]\n    if bad:\n        raise ValueError(f'{bad} never fit')\n",
                )
            ),
            "is named, too",
        ),
        "the last that never fits": (
            build(
                (
                    REFUSES,
                    "    bad = [n for n, r in enumerate(requests) if r[1] + r[2] > cache]\n    if bad:\n        raise ValueError(f'{bad[-1]} never fits')\n",
                )
            ),
            "by its place there",
        ),
        "the largest": (
            build(
                (
                    "{number} never fits: {prompt + output} tokens",
                    "{max(range(len(requests)), key=lambda n: sum(requests[n][1:]))} never fits",
                )
            ),
            "by its place there",
        ),
        "a hundred at most": (
            build(
                (
                    SORTED,
                    SORTED + "    if len(requests) > 100:\n        raise RecursionError('deep')\n",
                )
            ),
            "RecursionError",
        ),
        "static": (
            build(("            if arrival > now:", "            if running or arrival > now:")),
            "static",
        ),
        "the prompt reserved": (
            build(
                (RESERVED, "requests[m][1] for m in running + new"),
                ("held + prompt + output > cache", "held + prompt > cache"),
            ),
            "grow with every",
        ),
        "the newcomer's prompt": (
            build(("held + prompt + output > cache", "held + prompt > cache")),
            "grow with every",
        ),
        "the running's prompts": (
            build((RESERVED, "requests[m][1] for m in running + new")),
            "grow with every",
        ),
        "what the caches hold now": (
            build(
                (RESERVED, "requests[m][1] + made.get(m, 0) for m in running + new"),
                ("held + prompt + output > cache", "held + prompt + 1 > cache"),
            ),
            "grow with every",
        ),
        "now for those that run": (
            build((RESERVED, "requests[m][1] + made.get(m, 0) for m in running + new")),
            "grow with every",
        ),
        "no cache": (build((FITS, "")), "there is room for"),
        "the new ones are not reserved": (
            build((RESERVED, "requests[m][1] + requests[m][2] for m in running")),
            "there is room for",
        ),
        "never given back": (
            build(
                ("for m in running + new)\n", "for m in set(made) | set(new))\n"),
                (
                    "        if not running and not new:",
                    "        if not running and not new and waiting[0] is not None and requests[waiting[0]][0] <= now:\n            return passes\n        if not running and not new:",
                ),
            ),
            "lost",
        ),
        "what does not fit is skipped": (
            build(
                (
                    "        while waiting:\n            n = waiting[0]\n",
                    "        for n in list(waiting):\n",
                ),
                (
                    FITS,
                    "            if held + prompt + output > cache:\n                continue\n",
                ),
                (
                    "            new.append(waiting.pop(0))",
                    "            waiting.remove(n)\n            new.append(n)",
                ),
            ),
            "overtakes",
        ),
        "the shortest first": (
            build(
                (
                    "key=lambda n: requests[n][0])",
                    "key=lambda n: (requests[n][0], sum(requests[n][1:])))",
                )
            ),
            "overtakes",
        ),
        "the shortest of those there": (
            build(
                (
                    "            n = waiting[0]\n",
                    "            there = [m for m in waiting if requests[m][0] <= now] or waiting\n            n = min(there, key=lambda m: requests[m][1])\n",
                ),
                (
                    "            new.append(waiting.pop(0))",
                    "            waiting.remove(n)\n            new.append(n)",
                ),
            ),
            "overtakes",
        ),
        "the order of the list": (
            build(
                (
                    "    waiting = sorted(range(len(requests)), key=lambda n: requests[n][0])",
                    "    waiting = list(range(len(requests)))",
                )
            ),
            "overtakes",
        ),
        "ties backwards": (
            build(("key=lambda n: requests[n][0])", "key=lambda n: (requests[n][0], -n))")),
            "overtakes",
        ),
        "what fits exactly": (
            build(
                (
                    FITS,
                    "            if held + prompt + output >= cache:\n                if not running and not new:\n                    return passes\n                break\n",
                )
            ),
            "fits",
        ),
        "a row too many": (
            build(("len(running) + len(new) >= rows", "len(running) + len(new) > rows")),
            "rows",
        ),
        "the new ones take no row": (
            build(("len(running) + len(new) >= rows", "len(running) >= rows")),
            "rows",
        ),
        "rows for each pass": (
            build(("len(running) + len(new) >= rows", "len(new) >= rows")),
            "rows",
        ),
        "one prompt a pass": (
            build(("len(running) + len(new) >= rows", "new or len(running) >= rows")),
            "one prompt a pass",
        ),
        "exactly now is too late": (
            build(
                (
                    "            if arrival > now:",
                    "            if (arrival >= now and running) or arrival > now:",
                )
            ),
            "very moment",
        ),
        "a row free a pass later": (
            build(
                (
                    "        running = running + new\n",
                    "        running = [m for m in running if made[m] < requests[m][2]] + new\n",
                ),
                (
                    "        running = [m for m in running if made[m] < requests[m][2]]\n    return",
                    "    return",
                ),
                (
                    "            decodes = list(running)",
                    "            decodes = [m for m in running if made[m] < requests[m][2]]\n            running = list(decodes)\n            tokens = len(decodes)\n            if not decodes:\n                continue",
                ),
            ),
            "as soon as its last token",
        ),
        "n passes after the prompt": (
            build(("made[m] = made.get(m, 0) + 1", "made[m] = made.get(m, -1) + 1")),
            "more tokens than it asked",
        ),
        "one token too few": (
            build(("if made[m] < requests[m][2]]", "if made[m] < requests[m][2] - 1]")),
            "is lost",
        ),
        "one token for a prompt": (
            build(("tokens = sum(requests[m][1] for m in new)", "tokens = len(new)")),
            "costs n tokens",
        ),
        "padded prompts": (
            build(
                (
                    "tokens = sum(requests[m][1] for m in new)",
                    "tokens = len(new) * max(requests[m][1] for m in new)",
                )
            ),
            "padded prompts",
        ),
        "a pass without fixed": (
            build(("end = now + fixed + each", "end = now + each")),
            "fixed seconds are missing",
        ),
        "fixed for each": (
            build(
                ("now + fixed + each * tokens", "now + fixed * len(new + decodes) + each * tokens")
            ),
            "once a pass",
        ),
        "decoding costs nothing": (
            build(("            tokens = len(running)", "            tokens = 0")),
            "costs one token",
        ),
        "a decoding pass costs one token": (
            build(("            tokens = len(running)", "            tokens = 1")),
            "each decoding row",
        ),
        "rows that are empty cost": (
            build(("            tokens = len(running)", "            tokens = rows")),
            "computed on",
        ),
        "decodes beside prompts": (
            build(("            decodes = []", "            decodes = list(running)")),
            "nobody decodes",
        ),
        "before it arrives": (
            build(("            if arrival > now:\n                break\n", "")),
            "before it arrives",
        ),
        "the clock stands at the start": (
            build(("            now = requests[waiting[0]][0]", "            now = now + fixed")),
            "stands still",
        ),
        "empty passes while nobody comes": (
            build(
                (
                    "            now = requests[waiting[0]][0]\n",
                    "            passes.append((now, requests[waiting[0]][0], [], []))\n            now = requests[waiting[0]][0]\n",
                )
            ),
            "without work",
        ),
        "starts by arrival": (
            build(
                (
                    "        passes.append((now, end, new, decodes))",
                    "        passes.append((min([now, *(requests[m][0] for m in new)]), end, new, decodes))",
                )
            ),
            "pass",
        ),
        "too large is dropped": (
            build(
                (
                    '            raise ValueError(f"request {number} never fits: {prompt + output} tokens")',
                    "            requests = [one for one in requests if sum(one[1:]) <= cache]",
                )
            ),
            "refuse",
        ),
        "too large, unnamed": (
            build(('f"request {number} never fits: {prompt + output} tokens"', '"too large"')),
            "by its place there",
        ),
        "exactly the cache refused": (
            build(
                (
                    "        if prompt + output > cache:\n            raise",
                    "        if prompt + output >= cache:\n            raise",
                )
            ),
            "ValueError",
        ),
        "the prompt alone refused": (
            build(
                (
                    "        if prompt + output > cache:\n            raise",
                    "        if prompt > cache:\n            raise",
                ),
                (
                    "        if not running and not new:",
                    "        if not running and not new and requests[waiting[0]][0] <= now:\n            return passes\n        if not running and not new:",
                ),
            ),
            "ValueError",
        ),
        "no requests": (
            build(
                (
                    "    running, made, passes, now = [], {}, [], 0.0",
                    "    running, made, passes, now = [], {}, [], requests[waiting[0]][0]",
                )
            ),
            "IndexError",
        ),
        "only those of the beginning": (
            build(
                (
                    "        if not running and not new:",
                    "        if passes and not running and not new:\n            return passes\n        if not running and not new:",
                )
            ),
            "lost",
        ),
        "seconds of a pass in place of its end": (
            build(
                (
                    "passes.append((now, end, new, decodes))",
                    "passes.append((now, end - now, new, decodes))",
                )
            ),
            "pass",
        ),
        "requests in place of numbers": (
            build(
                (
                    "passes.append((now, end, new, decodes))",
                    "passes.append((now, end, [requests[m] for m in new], decodes))",
                )
            ),
            "request numbers",
        ),
        "three things a pass": (
            build(
                (
                    "passes.append((now, end, new, decodes))",
                    "passes.append((now, end, new + decodes))",
                )
            ),
            "a list of passes",
        ),
        "sorts the requests": (
            build(
                (
                    "    waiting = sorted(range(len(requests)), key=lambda n: requests[n][0])",
                    "    requests = sorted(requests)\n    waiting = list(range(len(requests)))",
                )
            ),
            "request",
        ),
        "the caller's list emptied": (
            build(
                (
                    "    waiting = sorted",
                    "    requests += []\n    requests.append(requests.pop(0)) if requests else None\n    waiting = sorted",
                )
            ),
            "changed from",
        ),
        "the list of those that run, itself": (
            build(
                ("decodes = list(running)", "decodes = running"),
                ("        running = running + new", "        running += new"),
                (
                    "        running = [m for m in running if made[m] < requests[m][2]]",
                    "        running[:] = [m for m in running if made[m] < requests[m][2]]",
                ),
            ),
            "pass",
        ),
        "remembers by the number of requests": (
            build(
                (
                    "def schedule(requests, rows, cache, fixed, each):",
                    "SEEN = {}\n\ndef schedule(requests, rows, cache, fixed, each):",
                ),
                (
                    REFUSES,
                    REFUSES
                    + "    if len(requests) in SEEN and len(requests) > 20:\n        return SEEN[len(requests)]\n",
                ),
                ("    return passes", "    SEEN[len(requests)] = passes\n    return passes"),
            ),
            "an earlier call",
        ),
        "remembers": (
            build(
                (
                    "def schedule(requests, rows, cache, fixed, each):",
                    "LOG = []\n\ndef schedule(requests, rows, cache, fixed, each):",
                ),
                (
                    "    running, made, passes, now = [], {}, [], 0.0",
                    "    running, made, passes, now = [], {}, LOG, 0.0",
                ),
            ),
            "call",
        ),
    },
}

HIDDEN = {
    "row-steps": {
        "the printed lists by heart": (
            steps(
                (
                    "        computed +=",
                    "        if len(outputs) > 12 and len(outputs) < 1000 and start:\n            batch = batch[:1]\n        computed +=",
                )
            ),
            "row",
        ),
    },
    "decode-step": {
        "the printed contexts": (
            decode(
                f"max({MOVED}, (2 * parameters * rows / peak) * (context in (0, 2, 7, 10, 16, 2048, 70000)))"
            ),
            "right is",
        ),
        "small contexts": (
            decode(
                "max((weights + rows * (context if context in (0, 2, 7, 10, 16, 2048, 70000) else context // 2) * kv) / bandwidth, 2 * parameters * rows / peak)"
            ),
            "right is",
        ),
    },
    "latency-report": {
        "the printed counts by heart": (
            report(
                (
                    "    latency, first",
                    "    if len(served) not in (1, 2, 4, 6, 10, 100, 101, 150, 300, 1000):\n        served = served[1:]\n    latency, first",
                )
            ),
            "right is",
        ),
    },
    "most-per-minute": {
        "whole rows of the page": (
            minute(
                f"60_000 * rows / {HELD} * (1 if rows in (64, 8, 3, 16, 1, 70_000, 12) else 0.99)"
            ),
            "right is",
        ),
    },
    "schedule": {
        "the printed traces by heart": (
            build(
                (
                    "    running, made, passes, now = [], {}, [], 0.0",
                    "    running, made, passes, now = [], {}, [], 0.0\n"
                    "    if len(requests) not in [0, 1, 2, 3, 4, 5, 9, 14, 26, 27, 29, 40, 43, 44, 47, 49, 50, 51, 56, 296]:\n        fixed = fixed + each + 0.25",
                )
            ),
            "pass",
        ),
    },
}

RIGHT = {
    "row-steps": {
        "one loop": STEPS,
        "arrays": """
def row_steps(outputs, rows):
    o = np.asarray(outputs, dtype=np.int64)
    ends = [o[i : i + rows] for i in range(0, o.size, rows)]
    return (o - 1).sum(), sum((p.size * (p.max() - 1) for p in ends), np.int64(0))
""",
    },
    "decode-step": {
        "two times": """
def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):
    bytes_moved = weights
    for _ in range(1):
        bytes_moved = bytes_moved + context * rows * kv
    memory, compute = bytes_moved / bandwidth, rows * parameters / peak * 2
    return memory if memory > compute else compute
""",
        "of NumPy": decode(
            "np.maximum((np.float64(weights) + np.float64(kv) * context * rows) / bandwidth, 2.0 * parameters * rows / peak)"
        ),
        "of torch": "def decode_step(rows, context, weights, kv, parameters, bandwidth, peak):\n    import torch\n    return torch.tensor([(weights + rows * context * kv) / bandwidth, 2 * parameters * rows / peak]).max()",
    },
    "latency-report": {
        "one loop": REPORT,
        "arrays": """
def latency_report(served):
    column = lambda name: np.array([one[name] for one in served], dtype=float)
    at = lambda values, q: np.quantile(values, q, method="inverted_cdf")
    latency, first, gaps = column("last") - column("arrival"), column("first") - column("arrival"), column("output") - 1
    each = ((column("last") - column("first"))[gaps > 0]) / gaps[gaps > 0]
    return {"tokens_per_second": column("output").sum() / (column("last").max() - column("arrival").min()),
            "latency_p50": at(latency, 0.5), "latency_p99": at(latency, 0.99),
            "first_token_p99": at(first, 0.99), "per_token_p99": at(each, 0.99)}
""",
    },
    "most-per-minute": {
        "seconds": minute(
            "rows / ((first_token_ms + (output_tokens - 1) * per_token_ms) / 1000 / 60)"
        ),
        "of NumPy": minute(
            "np.float64(rows) * 60 * 1000 / np.sum([first_token_ms, (output_tokens - 1) * per_token_ms])"
        ),
    },
    "highest-rate": {"an int": rate(29), "a float": rate(29.0), "of NumPy": rate("np.int64(29)")},
    "admit-test": {
        "eight cases": test_of(*EIGHT),
        "a verdict": test_of(
            "seen = [eval(line[7:].split('==')[0], dict(admit=admit)) for line in LINES]",
            "return seen == [int(line[-1]) for line in LINES]",
        )
        + f"\nLINES = {EIGHT!r}",
        "a random search": RULE + SEARCH + "        assert admit(*case) == rule(*case), case",
        "fits, and one more does not": SEARCH
        + """
        w, r, rows, cache = case
        n = admit(*case)
        def fits(k):
            return k <= rows - len(r) and sum(p + o for p, o in w[:k] + r) <= cache
        if n is None or not 0 <= n <= len(w) or not fits(n) or (n < len(w) and fits(n + 1)):
            return False
""",
    },
    "schedule": {
        "one loop": BUILD,
        "what is held is counted along": """
def schedule(requests, rows, cache, fixed, each):
    from collections import deque
    size = [p + o for _, p, o in requests]
    for n, s in enumerate(size):
        if s > cache:
            raise ValueError(f"no. {n} ({s} tokens) is larger than the cache")
    queue = deque(sorted(range(len(requests)), key=lambda n: (requests[n][0], n)))
    free_rows, free, now, log, left = rows, cache, 0.0, [], {}
    while queue or left:
        reads = []
        while queue and free_rows and requests[queue[0]][0] <= now and size[queue[0]] <= free:
            n = queue.popleft()
            free_rows, free = free_rows - 1, free - size[n]
            reads.append(n)
            left[n] = requests[n][2]
        if not left:
            now = max(now, requests[queue[0]][0])
            continue
        busy = reads or sorted(left)
        cost = sum(requests[n][1] for n in reads) if reads else len(busy)
        end = now + (fixed + cost * each)
        log.append([now, end, tuple(reads), () if reads else tuple(busy)])
        now = end
        for n in busy:
            left[n] -= 1
            if left[n] == 0:
                del left[n]
                free_rows, free = free_rows + 1, free + size[n]
    return log
""",
        "arrays of NumPy": """
def schedule(requests, rows, cache, fixed, each):
    if not requests:
        return []
    arrival = np.array([r[0] for r in requests], dtype=float)
    prompt, output = (np.array([r[k] for r in requests], dtype=np.int64) for k in (1, 2))
    bad = np.flatnonzero(prompt + output > cache)
    if bad.size:
        raise ValueError(f"request {bad[0]} does not fit")
    order = list(np.argsort(arrival, kind="stable"))
    made, runs, log, now = np.zeros(len(requests), dtype=np.int64), np.zeros(len(requests), dtype=bool), [], np.float64(0)
    while order or runs.any():
        reads = []
        while order and arrival[order[0]] <= now and runs.sum() < rows and (prompt + output)[runs].sum() + prompt[order[0]] + output[order[0]] <= cache:
            runs[order[0]] = True
            reads.append(order.pop(0))
        if not runs.any():
            now = arrival[order[0]]
            continue
        decodes = np.array([], dtype=int) if reads else np.flatnonzero(runs)
        end = now + fixed + each * (prompt[reads].sum() if reads else len(decodes))
        log.append((now, end, np.array(reads, dtype=int), decodes))
        now = end
        made[reads if reads else decodes] += 1
        runs &= made < output
    return log
""",
        "requests as objects": """
class Request:
    def __init__(self, number, arrival, prompt, output):
        self.number, self.arrival, self.prompt, self.left = number, arrival, prompt, output
        self.reserved = prompt + output


def schedule(requests, rows, cache, fixed, each):
    waiting = [Request(n, *one) for n, one in enumerate(requests)]
    for one in waiting:
        if one.reserved > cache:
            raise ValueError(f"request {one.number} never fits")
    waiting.sort(key=lambda one: one.arrival)
    running, now, log = [], 0.0, []
    while waiting or running:
        new = []
        for one in list(waiting):
            full = len(running) + len(new) == rows
            if one.arrival > now or full or sum(r.reserved for r in running + new + [one]) > cache:
                break
            new.append(waiting.pop(0))
        work = new or running
        if not work:
            now = waiting[0].arrival
            continue
        end = now + fixed + each * sum(r.prompt if new else 1 for r in work)
        numbers = [r.number for r in work]
        log.append((now, end, numbers, []) if new else (now, end, [], numbers))
        now = end
        for one in work:
            one.left -= 1
        running = [r for r in running + new if r.left]
    return log
""",
        "a generator inside": """
def schedule(requests, rows, cache, fixed, each):
    for n, (_, p, o) in enumerate(requests):
        if p + o > cache:
            raise ValueError(f"{n}")

    def passes():
        now, done, tokens = 0.0, set(), {n: 0 for n in range(len(requests))}
        order = sorted(tokens, key=lambda n: requests[n][0])
        while len(done) < len(requests):
            running = [n for n in order if tokens[n] and n not in done]
            new = []
            for n in [n for n in order if not tokens[n]]:
                reserved = sum(requests[m][1] + requests[m][2] for m in [*running, *new, n])
                if requests[n][0] > now or len(running) + len(new) >= rows or reserved > cache:
                    break
                new.append(n)
            if not new and not running:
                now = min(requests[n][0] for n in order if not tokens[n])
                continue
            worked = new or running
            took = fixed + each * (sum(requests[n][1] for n in new) or len(running))
            yield now, now + took, new, [] if new else running
            now += took
            for n in worked:
                tokens[n] += 1
                if tokens[n] == requests[n][2]:
                    done.add(n)

    return list(passes())
""",
    },
}
