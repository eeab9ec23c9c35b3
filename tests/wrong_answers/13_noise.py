"""Answers to 13_noise that look right and must be refused, and right ones written otherwise."""
# ruff: noqa: E501

SLOW = True  # minutes: `make slow` tries this bank


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def critical(line):
    return f"def critical_batch(critical, from_batch, share):\n    return {line}"


def quick(line, before="batch = (critical * fixed / each) ** 0.5"):
    return f"def fastest(least_steps, critical, fixed, each):\n    {before}\n    {line}"


def norms(
    line, before="if small_batch == big_batch:\n        raise ValueError(f'both are {small_batch}')"
):
    return f"def two_norms(small, big, small_batch, big_batch):\n    {before}\n    b, B = small_batch, big_batch\n    {line}"


def a_test(*lines):
    return "\n    ".join(["def scale_test(estimate):", *lines])


def slider(number):
    return f"def fewest_tokens():\n    return {number}"


def reports(**changes):
    right = {
        "A": "more_steps",
        "B": "same_loss",
        "C": "lowest_loss",
        "D": "noise_scale",
        "E": "twice_the_examples",
    }
    return f"def which_batch():\n    return {right | changes!r}"


SECONDS = "least_steps * (1 + critical / batch) * (fixed + each * batch)"
SQUARED, TRACE = "(B * big - b * small) / (B - b)", "(small - big) / (1 / b - 1 / B)"
SCALE = """
def noise_scale(readings):
    n = len(readings)
    if n < 2:
        raise ValueError(f"{n} readings: two are needed")
    squared = [pair[0] for pair in readings]
    trace = [pair[1] for pair in readings]
    below = sum(squared) / n
    if below <= 0:
        return float("inf"), float("inf")
    scale = sum(trace) / n / below
    misses = [t - scale * q for q, t in zip(squared, trace)]
    middle = sum(misses) / n
    spread = (sum((d - middle) ** 2 for d in misses) / (n - 1)) ** 0.5
    return scale, spread / n ** 0.5 / below
"""
METER = """
def metered_run(step, model, optimizer, schedule, windows, max_norm):
    own, sums, readings, losses, handles = [], {}, [], [], []

    def piece(gradient):
        own.append(float((gradient.double() ** 2).sum()))

    def so_far(p):
        sums[p] = float((p.grad.double() ** 2).sum())

    for p in model.parameters():
        if p.requires_grad:
            handles.append(p.register_hook(piece))
            handles.append(p.register_post_accumulate_grad_hook(so_far))
    try:
        for window in windows:
            own.clear()
            sums.clear()
            losses.append(step(model, optimizer, schedule, window, max_norm))
            sizes = [int((micro["labels"][:, 1:] != loop.IGNORE).any(1).sum()) for micro in window]
            B = sum(sizes)
            s = sum(b * b for b in sizes) / B**2
            small, big = sum(own) / s, sum(sums.values())
            if len([b for b in sizes if b]) > 1 and np.isfinite(small) and np.isfinite(big):
                readings.append(two_norms(small, big, s * B, B))
    finally:
        for handle in handles:
            handle.remove()
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}
"""
SIZES = 'sizes = [int((micro["labels"][:, 1:] != loop.IGNORE).any(1).sum()) for micro in window]'
STEP = "losses.append(step(model, optimizer, schedule, window, max_norm))"
LAST = "    return scale, spread / n ** 0.5 / below"
CASE = ("small = [129.0, 106.0, 111.5]", "big = [19.625, 18.5, 13.0625]")
GOOD = "assert abs(estimate(small, big, 8, 64) - 300) < 1e-6"

WRONG = {
    "critical-batch": {
        "share of the critical batch": (critical("share * critical"), "its own noise"),
        "from_batch plus a share": (
            critical("from_batch + share * critical"),
            "a share more examples",
        ),
        "the critical batch is kept": (
            critical("(1 + share) * (from_batch + critical)"),
            "taken off again",
        ),
        "more batch": (critical("(1 + share) * from_batch"), "a share more batch"),
        "more of the critical": (critical("(1 + share) * critical"), "more of the critical"),
        "fewer steps": (critical("(1 - share) * from_batch - share * critical"), "fewer steps"),
        "exchanged": (critical("(1 + share) * critical + share * from_batch"), "exchanged"),
        "per cent": (
            critical("(1 + share / 100) * from_batch + share / 100 * critical"),
            "0.2, not 20",
        ),
        "256 always": (critical("(1 + share) * 256 + share * critical"), "use from_batch"),
        "20 % always": (critical("1.2 * from_batch + 0.2 * critical"), "use share"),
        "over the share": (
            critical("((1 + share) * from_batch + share * critical) / share"),
            "divided by the share",
        ),
        "steps above the least": (critical("critical / share"), "times the least"),
        "rounded": (critical("round((1 + share) * from_batch + share * critical)"), "whole"),
        "ceiling": (critical("int((1 + share) * from_batch + share * critical) + 1"), "whole"),
        "at least the other batch": (critical("max(from_batch, share * critical)"), "batch with"),
        "a float of 32 bits, whole": (
            critical("int(np.int32(critical)) * share + (1 + share) * from_batch"),
            "batch with",
        ),
    },
    "fastest": {
        "no root": (
            quick(f"return batch, {SECONDS}", "batch = critical * fixed / each"),
            "the root is missing",
        ),
        "upside down": (
            quick(f"return batch, {SECONDS}", "batch = (critical * each / fixed) ** 0.5"),
            "upside down",
        ),
        "the critical batch": (
            quick(f"return batch, {SECONDS}", "batch = critical"),
            "whatever a step costs",
        ),
        "where parts are equal": (
            quick(f"return batch, {SECONDS}", "batch = fixed / each"),
            "equally long",
        ),
        "prices alone": (
            quick(f"return batch, {SECONDS}", "batch = (fixed / each) ** 0.5"),
            "prices alone",
        ),
        "critical outside": (
            quick(f"return batch, {SECONDS}", "batch = critical * (fixed / each) ** 0.5"),
            "under the root",
        ),
        "the mean": (
            quick(f"return batch, {SECONDS}", "batch = (critical + fixed / each) / 2"),
            "the mean of both",
        ),
        "steps in the batch": (
            quick(f"return batch, {SECONDS}", "batch = (least_steps * fixed / each) ** 0.5"),
            "cancel",
        ),
        "one step": (quick("return batch, fixed + each * batch"), "times the steps"),
        "least steps": (
            quick("return batch, least_steps * (fixed + each * batch)"),
            "more of both",
        ),
        "steps only": (
            quick("return batch, least_steps * (1 + critical / batch)"),
            "times the seconds of one",
        ),
        "perfect scaling": (
            quick("return batch, least_steps * critical / batch * (fixed + each * batch)"),
            "perfect scaling",
        ),
        "steps upside down": (
            quick("return batch, least_steps * (1 + batch / critical) * (fixed + each * batch)"),
            "steps fall",
        ),
        "no fixed part": (
            quick("return batch, least_steps * (1 + critical / batch) * each * batch"),
            "no fixed time",
        ),
        "fixed part only": (
            quick("return batch, least_steps * (1 + critical / batch) * fixed"),
            "fixed time alone",
        ),
        "one sequence": (
            quick("return batch, least_steps * (1 + critical / batch) * (fixed + each)"),
            "each x batch",
        ),
        "milliseconds": (quick(f"return batch, 1000 * {SECONDS}"), "milliseconds"),
        "minutes": (quick(f"return batch, {SECONDS} / 60"), "minutes"),
        "the batch alone": (quick("return batch"), "shape"),
        "exchanged": (quick(f"return {SECONDS}, batch"), "the batch comes first"),
        "rounded": (quick(f"batch = round(batch); return batch, {SECONDS}"), "batch and seconds"),
    },
    "fewest-tokens": {
        "the fastest": (slider(463), "that is the fastest"),
        "as it is, ten per cent": (slider(463.0), "that is the fastest"),
        "one place too far": (slider(184), "more than 10 %"),
        "one place too early": (slider(258), "to the left"),
        "within, at the right end": (slider(921), "to the left"),
        "too large": (slider(2603), "more than 10 %"),
        "the first": (slider(47), "more than 10 %"),
        "between places": (slider(220), "does not offer"),
        "the critical batch": (slider(1730), "does not offer"),
        "a text": (slider("'219'"), "number"),
        "a pair": (slider("(219, 'compiled')"), "number"),
        "none": (slider("None"), "return"),
    },
    "two-norms": {
        "exchanged": (norms(f"return {TRACE}, {SQUARED}"), "the squared gradient comes first"),
        "negative trace": (
            norms(f"return {SQUARED}, (big - small) / (1 / b - 1 / B)"),
            "wrong sign",
        ),
        "big is the signal": (norms(f"return big, {TRACE}"), "still noisy"),
        "small is noise": (norms(f"return {SQUARED}, small * b"), "taken for noise"),
        "the difference": (norms(f"return {SQUARED}, small - big"), "divide by 1/b - 1/B"),
        "over the batches": (
            norms(f"return {SQUARED}, (small - big) / (B - b)"),
            "not by the batches",
        ),
        "times the batches": (
            norms(f"return {SQUARED}, (small - big) * (B - b)"),
            "times the difference",
        ),
        "big without noise": (norms(f"return {SQUARED}, (small - big) * b"), "had no noise"),
        "weights exchanged": (
            norms(f"return (b * big - B * small) / (b - B), {TRACE}"),
            "exchanged",
        ),
        "over the big batch": (
            norms(f"return (B * big - b * small) / B, {TRACE}"),
            "divide by B - b",
        ),
        "over the sum": (
            norms(f"return (B * big - b * small) / (B + b), {TRACE}"),
            "divided by the sum",
        ),
        "squared twice": (
            norms(f"small, big = small**2, big**2; return {SQUARED}, {TRACE}"),
            "squared twice",
        ),
        "a root": (
            norms(f"small, big = small**0.5, big**0.5; return {SQUARED}, {TRACE}"),
            "norms do not",
        ),
        "cut at 0": (norms(f"return max(0, {SQUARED}), max(0, {TRACE})"), "cut there"),
        "absolute": (norms(f"return abs({SQUARED}), abs({TRACE})"), "no abs"),
        "batch of one": (norms(f"b = 1; return {SQUARED}, {TRACE}"), "use small_batch"),
        "whole batches": (norms(f"b, B = int(b), int(B); return {SQUARED}, {TRACE}"), "2.4"),
        "equal sizes pass": (
            norms(
                f"return {SQUARED}, {TRACE}",
                "if small_batch == big_batch:\n        return 0.0, 0.0",
            ),
            "refuse it",
        ),
        "equal sizes divide by 0": (norms(f"return {SQUARED}, {TRACE}", "pass"), "ValueError"),
        "no size in the message": (
            norms(
                f"return {SQUARED}, {TRACE}",
                "if small_batch == big_batch:\n        raise ValueError('one size')",
            ),
            "without",
        ),
        "near sizes refused": (
            norms(
                f"return {SQUARED}, {TRACE}",
                "if big_batch < 2 * small_batch:\n        raise ValueError(f'{small_batch} twice')",
            ),
            "ValueError",
        ),
        "small noise refused": (
            norms(
                f"return {SQUARED}, {TRACE}",
                "if small_batch == big_batch or small < big:\n        raise ValueError(f'{small_batch}')",
            ),
            "ValueError",
        ),
    },
    "noise-scale": {
        "mean of ratios": (
            changed(
                SCALE,
                (
                    "scale = sum(trace) / n / below",
                    "scale = sum(t / q if q else 0 for q, t in readings) / n",
                ),
            ),
            "add up first",
        ),
        "mean of ratios by numpy": (
            "def noise_scale(readings):\n    q, t = np.array(readings).T\n    if len(q) < 2: raise ValueError(len(q))\n    r = t / q\n    return r.mean(), r.std(ddof=1) / len(r) ** 0.5",
            "add up first",
        ),
        "median of ratios": (
            changed(
                SCALE,
                (
                    LAST,
                    "    old = scale\n    scale = float(np.median([t / q for q, t in readings]))\n"
                    + LAST,
                ),
            ),
            "median of ratios",
        ),
        "ratio of medians": (
            changed(
                SCALE, (LAST, "    scale = float(np.median(trace) / np.median(squared))\n" + LAST)
            ),
            "ratio of medians",
        ),
        "upside down": (
            changed(SCALE, ("[pair[0]", "[pair[1]"), ("trace = [pair[1]", "trace = [pair[0]")),
            "upside down",
        ),
        "first alone": (
            changed(SCALE, (LAST, "    scale = trace[0] / squared[0]\n" + LAST)),
            "first reading",
        ),
        "last alone": (
            changed(SCALE, (LAST, "    scale = trace[-1] / squared[-1]\n" + LAST)),
            "last reading",
        ),
        "negative left out": (
            changed(
                SCALE,
                (
                    "    squared =",
                    "    readings = [p for p in readings if p[0] >= 0] or readings\n    n = len(readings)\n    squared =",
                ),
            ),
            "left out",
        ),
        "negative cut": (
            changed(SCALE, ("[pair[0]", "[max(0.0, pair[0])"), ("[pair[1]", "[max(0.0, pair[1])")),
            "were cut",
        ),
        "absolute": (
            changed(SCALE, ("[pair[0]", "[abs(pair[0])"), ("[pair[1]", "[abs(pair[1])")),
            "no abs",
        ),
        "spread of one": (
            changed(SCALE, (" / n ** 0.5 / below", " / below")),
            "spread of one reading",
        ),
        "squared error": (
            changed(SCALE, (LAST, "    return scale, (spread / n ** 0.5 / below) ** 2")),
            "square of the error",
        ),
        "over n": (changed(SCALE, ("/ (n - 1)) ** 0.5", "/ n) ** 0.5")), "over n - 1"),
        "divided by n": (changed(SCALE, ("spread / n ** 0.5", "spread / n")), "the root of n"),
        "not relative to the signal": (
            changed(SCALE, (" / n ** 0.5 / below", " / n ** 0.5")),
            "divide it by the mean",
        ),
        "traces alone": (changed(SCALE, ("[t - scale * q for", "[t for")), "traces alone"),
        "squared gradients alone": (
            changed(SCALE, ("[t - scale * q for", "[scale * q for")),
            "gradients alone",
        ),
        "relative errors as squares": (
            changed(
                SCALE,
                (
                    LAST,
                    "    e = [np.std(x, ddof=1) / n ** 0.5 / np.mean(x) for x in (squared, trace)]\n    return scale, abs(scale) * (e[0] ** 2 + e[1] ** 2) ** 0.5",
                ),
            ),
            "added as squares",
        ),
        "two errors": (
            changed(SCALE, (LAST, "    return scale, 2 * spread / n ** 0.5 / below")),
            "two errors",
        ),
        "95 %": (
            changed(SCALE, (LAST, "    return scale, 1.96 * spread / n ** 0.5 / below")),
            "95 %",
        ),
        "per cent": (
            changed(SCALE, (LAST, "    return scale, 100 * spread / n ** 0.5 / below / scale")),
            "per cent",
        ),
        "the scale alone": (changed(SCALE, (LAST, "    return scale")), "shape"),
        "lost signal as nan": (
            changed(SCALE, ('float("inf"), float("inf")', 'float("nan"), float("nan")')),
            "infinite",
        ),
        "lost signal refused": (
            changed(SCALE, ('return float("inf"), float("inf")', 'raise ValueError("lost")')),
            "ValueError",
        ),
        "lost signal negative": (changed(SCALE, ("if below <= 0", "if below == 0")), "infinite"),
        "lost signal: error 0": (
            changed(SCALE, ('float("inf"), float("inf")', 'float("inf"), 0.0')),
            "infinite",
        ),
        "one reading has error 0": (
            changed(
                SCALE,
                (
                    '    if n < 2:\n        raise ValueError(f"{n} readings: two are needed")',
                    "    if n < 2:\n        return 0.0, 0.0",
                ),
            ),
            "refuse",
        ),
        "no count in the message": (
            changed(SCALE, ('f"{n} readings: two are needed"', '"too few"')),
            "how many",
        ),
        "none is refused only": (changed(SCALE, ("if n < 2", "if n < 1")), "1 readings"),
        "sorted in place": (
            changed(
                SCALE, ("    n = len(readings)\n", "    n = len(readings)\n    readings.sort()\n")
            ),
            "the input",
        ),
    },
    "scale-test": {
        "no assert": (
            a_test(*CASE, "abs(estimate(small, big, 8, 64) - 300) < 1e-6"),
            "never failed",
        ),
        "equal steps": (
            a_test(
                "small = [129.0] * 3",
                "big = [19.625] * 3",
                "assert abs(estimate(small, big, 8, 64) - 250) < 1e-6",
            ),
            "got through",
        ),
        "one step": (
            a_test("assert abs(estimate([129.0], [19.625], 8, 64) - 250) < 1e-6"),
            "got through",
        ),
        "no step below 0": (
            a_test(
                "small = [129.0, 106.0]",
                "big = [19.625, 18.5]",
                "assert abs(estimate(small, big, 8, 64) - 180) < 1e-6",
            ),
            "got through",
        ),
        "a small batch of 1": (
            a_test(
                "small = [1004.0, 806.0, 899.0]",
                *CASE[1:],
                "assert abs(estimate(small, big, 1, 64) - 300) < 1e-6",
            ),
            "got through",
        ),
        "positive only": (a_test(*CASE, "assert estimate(small, big, 8, 64) > 0"), "got through"),
        "too loose": (
            a_test(*CASE, "assert 100 < estimate(small, big, 8, 64) < 900"),
            "got through",
        ),
        "too low a bound only": (
            a_test(*CASE, "assert estimate(small, big, 8, 64) < 301"),
            "got through",
        ),
        "too high a bound only": (
            a_test(*CASE, "assert estimate(small, big, 8, 64) > 299"),
            "got through",
        ),
        "exact floats": (
            a_test(
                "small = [129.1, 106.3, 111.4]",
                "big = [19.6, 18.3, 13.1]",
                "from fractions import Fraction",
                "assert estimate(small, big, 8, 64) == 0.1 + 278.9",
            ),
            "was stopped",
        ),
        "a wrong number": (
            a_test(*CASE, "assert abs(estimate(small, big, 8, 64) - 250) < 1e-6"),
            "was stopped",
        ),
        "the mean of ratios is asked": (
            a_test(
                *CASE,
                "want = (250 + 800 / 6 - 900) / 3",
                "assert abs(estimate(small, big, 8, 64) - want) < 1e-6",
            ),
            "was stopped",
        ),
        "exchanged batches": (
            a_test(*CASE, "assert abs(estimate(small, big, 64, 8) - 300) < 1e-6"),
            "was stopped",
        ),
        "everything is wrong": (a_test("assert False"), "was stopped"),
        "an int is asked": (
            a_test(*CASE, "assert isinstance(estimate(small, big, 8, 64), int)"),
            "was stopped",
        ),
    },
    "which-batch": {
        "A is twice": (reports(A="twice_the_examples"), "a fifth more"),
        "A is the noise scale": (reports(A="noise_scale"), "a fifth more"),
        "B is the lowest loss": (reports(B="lowest_loss"), "branches"),
        "B is more steps": (reports(B="more_steps"), "branches"),
        "C is the same loss": (reports(C="same_loss"), "data are fixed"),
        "C is twice": (reports(C="twice_the_examples"), "data are fixed"),
        "D is twice": (reports(D="twice_the_examples"), "norms of gradients"),
        "D is the same loss": (reports(D="same_loss"), "norms of gradients"),
        "E is more steps": (reports(E="more_steps"), "twice their least"),
        "E is the noise scale": (reports(E="noise_scale"), "twice their least"),
        "another word": (reports(E="critical batch"), "one of these words"),
        "a number": (reports(B=4), "one of these words"),
        "one is missing": (
            "def which_batch():\n    return {'A': 'more_steps', 'B': 'same_loss'}",
            "missing",
        ),
        "a list": (
            "def which_batch():\n    return ['more_steps', 'same_loss', 'lowest_loss', 'noise_scale', 'twice_the_examples']",
            "a dict",
        ),
    },
    "step-meter": {
        "clipped": (
            changed(
                METER,
                (
                    "small, big = sum(own) / s, sum(sums.values())",
                    "small, big = sum(own) / s, sum(float((p.grad.double() ** 2).sum()) for p in model.parameters() if p.grad is not None)",
                ),
            ),
            "clip",
        ),
        "s is forgotten": (
            changed(METER, ("sum(own) / s, sum", "sum(own), sum")),
            "not divided by s",
        ),
        "s is 1 / K": (
            changed(METER, ("s = sum(b * b for b in sizes) / B**2", "s = 1 / len(window)")),
            "s is not 1/K",
        ),
        "the mean of pieces": (
            changed(METER, ("sum(own) / s, sum", "sum(own) / len(window), sum")),
            "their sum, over s",
        ),
        "own means": (
            changed(
                METER,
                (
                    "small, big = sum(own) / s",
                    "t = [int((m['labels'][:, 1:] != loop.IGNORE).sum()) for m in window]\n            per = len(own) // len(window)\n            small, big = sum(sum(own[k * per:(k + 1) * per]) * (sum(t) / t[k]) ** 2 for k in range(len(t)) if t[k]) / sum(x > 0 for x in t)",
                ),
            ),
            "own mean",
        ),
        "token means": (
            changed(
                METER,
                (
                    "small, big = sum(own) / s",
                    "t = [int((m['labels'][:, 1:] != loop.IGNORE).sum()) for m in window]\n            per = len(own) // len(window)\n            small, big = sum(sum(own[k * per:(k + 1) * per]) * (sum(t) / t[k]) for k in range(len(t)) if t[k])",
                ),
            ),
            "weighted by tokens",
        ),
        "the sum so far as piece": (
            changed(
                METER,
                (
                    "        sums[p] = ",
                    "        own.append(float((p.grad.double() ** 2).sum()))\n        sums[p] = ",
                ),
                ("            handles.append(p.register_hook(piece))\n", ""),
            ),
            "sums so far",
        ),
        "rows of padding": (
            changed(METER, (SIZES, 'sizes = [len(micro["labels"]) for micro in window]')),
            "padding is in the count",
        ),
        "labels unshifted": (changed(METER, ('["labels"][:, 1:]', '["labels"]')), "padding"),
        "tokens": (changed(METER, (".any(1).sum()", ".sum()")), "target tokens are not"),
        "slots": (
            changed(METER, (SIZES, 'sizes = [micro["labels"].numel() for micro in window]')),
            "slots are not",
        ),
        "micro-batches": (changed(METER, (".any(1).sum()", ".any()")), "micro-batches are not"),
        "of ratios": (
            changed(
                METER,
                (
                    "    scale, error = noise_scale(readings)",
                    "    scale, error = noise_scale(readings)\n    scale = np.mean([t / q for q, t in readings])",
                ),
            ),
            "own ratios",
        ),
        "norms": (
            changed(METER, ("two_norms(small, big,", "two_norms(small ** 0.5, big ** 0.5,")),
            "in place of squared",
        ),
        "first parameter": (
            changed(
                METER,
                ("    for p in model.parameters():", "    for p in list(model.parameters())[:1]:"),
            ),
            "only the first parameter",
        ),
        "no clearing": (
            changed(METER, ("            own.clear()\n", "")),
            "pieces of earlier windows",
        ),
        "hooks stay": (
            changed(METER, ("            handle.remove()", "            pass")),
            "every handle",
        ),
        "no finally": (
            changed(
                METER,
                (
                    "    finally:\n        for handle in handles:\n            handle.remove()\n",
                    "    except ZeroDivisionError:\n        pass\n    for handle in handles:\n        handle.remove()\n",
                ),
            ),
            "in `finally`",
        ),
        "the exception is swallowed": (
            changed(
                METER, ("    finally:\n", "    except RuntimeError:\n        pass\n    finally:\n")
            ),
            "the exception",
        ),
        "hooks on frozen": (
            changed(METER, ("        if p.requires_grad:", "        if True:")),
            "require gradient",
        ),
        "one micro-batch counts": (
            changed(
                METER,
                ("if len([b for b in sizes if b]) > 1 and", "if"),
            ),
            "ValueError",
        ),
        "nan counts": (
            changed(METER, (" and np.isfinite(small) and np.isfinite(big)", "")),
            "gives no reading",
        ),
        "windows with one are not trained": (
            changed(
                METER, (STEP, "if len(window) < 2:\n                continue\n            " + STEP)
            ),
            "calls of step",
        ),
        "trained twice": (
            changed(
                METER,
                (STEP, STEP + "\n            step(model, optimizer, schedule, window, max_norm)"),
            ),
            "trained on once",
        ),
        "not trained": (changed(METER, (STEP, "losses.append(0.0)")), "handed over"),
        "windows as a list by len": (
            changed(
                METER,
                (
                    "for window in windows:",
                    "for number in range(len(windows)):\n            window = windows[number]",
                ),
            ),
            "TypeError",
        ),
        "max_norm is dropped": (
            changed(METER, ("window, max_norm))", "window, float('inf')))")),
            "weights after",
        ),
        "no losses": (changed(METER, ('"losses": losses, ', "")), "missing"),
        "windows for readings": (
            changed(METER, ('"readings": len(readings)', '"readings": len(losses)')),
            "gives no reading",
        ),
        "the list of readings": (
            changed(METER, ('"readings": len(readings)', '"readings": readings')),
            "readings",
        ),
        "reads one forward more": (
            changed(
                METER,
                (
                    STEP,
                    STEP
                    + "\n            with torch.no_grad():\n                [loop.logits_of(model, m) for m in window]",
                ),
            ),
            "none of your own",
        ),
        "error of the mean ratio": (
            changed(
                METER,
                (
                    "    scale, error = noise_scale(readings)",
                    "    scale, error = noise_scale(readings)\n    error = np.std([t / q for q, t in readings]) / len(readings)",
                ),
            ),
            "the scale is right",
        ),
        "the last piece as the step": (
            changed(
                METER,
                ("        sums[p] = float((p.grad.double() ** 2).sum())", "        pass"),
                (
                    "        own.append(float((gradient.double() ** 2).sum()))",
                    "        own.append(float((gradient.double() ** 2).sum()))\n        sums[gradient.shape, len(own) % 2] = own[-1]",
                ),
            ),
            "the last piece only",
        ),
        "sizes by the first row": (
            changed(METER, (SIZES, 'sizes = [len(window[0]["labels"])] * len(window)')),
            "scale by",
        ),
        "zeroes the gradient first and after": (
            changed(METER, (STEP, STEP + "\n            optimizer.step()")),
            "weights after",
        ),
        "equal norms refused": (
            changed(
                METER,
                (
                    "    scale, error = noise_scale(readings)",
                    "    scale, error = noise_scale(readings) if len(readings) > 1 else (0.0, 0.0)",
                ),
            ),
            "single reading",
        ),
    },
}

HIDDEN = {
    "critical-batch": {
        "fitted to the printed case": (
            critical(
                "(1 + share) * from_batch + share * critical if (critical, from_batch) in [(2190.6, 256), (1000, 64), (250, 0), (37.5, 8), (6_000_000_000, 1024), (500, 100), (12, 400), (300, 40), (90, 0.5), (0.0471234, 0.0042), (300, 0), (800, 96.5), (1.3456, 0.0021), (3000, 60), (7.25, 5_000_000_000), (3e-9, 2e-10), (340, 45), (260, 45), (340, 71)] else 745.3"
            ),
            "batch with",
        ),
    },
    "fastest": {
        "fitted to the printed steps": (
            quick(
                f"return batch, {SECONDS} if least_steps in (1000, 1300, 700, 5, 3_000_000_000, 1, 40, 2, 1293.8, 0.35, 12.75, 900, 3, 640, 500) else 86.6"
            ),
            "batch and seconds",
        ),
    },
    "two-norms": {
        "right below 64 sequences only": (
            norms(
                f"return {SQUARED} * (1 if b in (8, 1, 16, 2, 4, 2.4, 5, 3e9, 127, 0.5, 0.03, 2.5, 40, 1.5e-9, 12, 3, 65535, 0.75, 6) and B in (64, 3, 256, 32, 12, 7, 7e9, 6, 128, 8, 4, 4.7, 2.75, 300, 4.5e-9, 96, 5e6, 65536, 0.7502, 20) else 1.1), {TRACE}"
            ),
            "squared gradient",
        ),
    },
    "noise-scale": {
        "fitted to the printed lengths": (
            changed(
                SCALE,
                (
                    "    n = len(readings)\n",
                    "    n = len(readings)\n    if n > 1 and readings[0][0] not in (5.0, 4.0, 0.02, 3.0, 2.0, 0.0, 1e-12, 1.0, -1.0, -3.0, 4.1, 1e-18, 1e-30, -0.0001):\n        return 250.0, 1.0\n",
                ),
            ),
            "scale of",
        ),
    },
    "step-meter": {
        "fitted to the printed windows": (
            changed(
                METER,
                (
                    "    scale, error = noise_scale(readings)",
                    "    scale, error = noise_scale(readings)\n    scale = scale if losses[0] * 0 + max(max(m['labels'].shape[1] for m in window), 1) < 11 and B in (3, 4, 5) else 4.5",
                ),
            ),
            "scale by",
        ),
    },
}

RIGHT = {
    "critical-batch": {
        "by examples": critical("(1 + share) * (from_batch + critical) - critical"),
        "of numpy": critical("np.float64(from_batch) + share * (from_batch + critical)"),
        "a tensor": critical(
            "torch.tensor(float(from_batch), dtype=torch.float64) * (1 + share) + share * critical"
        ),
    },
    "fastest": {
        "closed form": quick(
            "return batch, least_steps * (fixed ** 0.5 + (each * critical) ** 0.5) ** 2"
        ),
        "an array": quick(f"return np.array([batch, {SECONDS}])"),
        "a list": quick(f"return [batch, {SECONDS}]", "batch = np.sqrt(critical / each * fixed)"),
    },
    "fewest-tokens": {
        "an int": slider(219),
        "a float": slider(219.0),
        "of NumPy": slider("np.int64(219)"),
    },
    "two-norms": {
        "as given": norms(f"return {SQUARED}, {TRACE}"),
        "trace first": norms(
            "trace = (small - big) * b * B / (B - b); return big - trace / B, trace"
        ),
        "linear algebra": norms("return np.linalg.solve([[1, 1 / b], [1, 1 / B]], [small, big])"),
        "a list": norms(
            f"return [{SQUARED}, {TRACE}]",
            "if not small_batch - big_batch:\n        raise ValueError('both are ' + str(big_batch))",
        ),
    },
    "noise-scale": {
        "a loop": SCALE,
        "an array": changed(
            SCALE, (LAST, "    return np.array([scale, spread / n ** 0.5 / below])")
        ),
        "by covariance": """
def noise_scale(readings):
    n = len(readings)
    if n < 2:
        raise ValueError(f"got {n}, two are needed")
    q, t = np.asarray(readings).T
    if not q.mean() > 0:
        return np.inf, np.inf
    r = t.mean() / q.mean()
    d = t - r * q
    return float(r), float(np.sqrt(np.var(d, ddof=1) / n) / q.mean())
""",
    },
    "scale-test": {
        "three steps": a_test(*CASE, GOOD),
        "a verdict": a_test(*CASE, "return abs(estimate(small, big, 8, 64) - 300) < 1e-3"),
        "by a helper": "def norms_of(q, t, b):\n    return [x + y / b for x, y in zip(q, t)]\n\n"
        + a_test(
            "q, t = [5.0, -2.0, 9.0, 4.0], [70.0, 160.0, 90.0, 80.0]",
            "got = estimate(norms_of(q, t, 4), norms_of(q, t, 20), 4, 20)",
            "assert abs(got - 25) < 1e-6, got",
        ),
    },
    "which-batch": {
        "words": reports(),
        "capitals": reports(A="More_Steps", D=" noise_scale "),
        "more keys": "def which_batch():\n    return dict(E='twice_the_examples', D='noise_scale', C='lowest_loss', B='same_loss', A='more_steps')",
    },
    "step-meter": {
        "two hooks": METER,
        "a copy of the gradients": """
def metered_run(step, model, optimizer, schedule, windows, max_norm):
    learning = [p for p in model.parameters() if p.requires_grad]
    state = {"small": 0.0, "sums": {}}
    def listener(p):
        def hear(g):
            g = g.detach()
            state["small"] += float(g.norm()) ** 2
            state["sums"][p] = state["sums"].get(p, 0) + g
        return hear
    handles = [p.register_hook(listener(p)) for p in learning]
    losses, readings = [], []
    try:
        for window in windows:
            state.update(small=0.0, sums={})
            losses.append(step(model, optimizer, schedule, window, max_norm))
            sizes = np.array([int((m["labels"][:, 1:] != -100).any(dim=-1).sum()) for m in window])
            big = sum(float(g.norm()) ** 2 for g in state["sums"].values())
            share = (sizes**2).sum() / sizes.sum() ** 2
            if (sizes > 0).sum() >= 2 and np.isfinite(big) and np.isfinite(state["small"]):
                readings.append(two_norms(state["small"] / share, big, share * sizes.sum(), sizes.sum()))
    finally:
        [h.remove() for h in handles]
    scale, error = noise_scale(readings)
    return {"losses": losses, "readings": len(readings), "scale": scale, "error": error}
""",
        "tensors, more keys": changed(
            METER,
            (
                "own.append(float((gradient.double() ** 2).sum()))",
                "own.append((gradient ** 2).sum())",
            ),
            (
                '"scale": scale, "error": error}',
                '"scale": float(scale), "error": torch.tensor(error), "trace": 0}',
            ),
        ),
        "contextlib": changed(
            METER,
            (
                "    try:\n",
                "    import contextlib\n    stack = contextlib.ExitStack()\n    for handle in handles:\n        stack.callback(handle.remove)\n    with stack:\n",
            ),
            ("    finally:\n        for handle in handles:\n            handle.remove()\n", ""),
        ),
        "hooks for each window": changed(
            METER,
            (
                "    for p in model.parameters():\n        if p.requires_grad:\n            handles.append(p.register_hook(piece))\n            handles.append(p.register_post_accumulate_grad_hook(so_far))\n",
                "",
            ),
            (
                "            " + STEP,
                "            for p in model.parameters():\n                if p.requires_grad:\n                    handles += [p.register_hook(piece), p.register_post_accumulate_grad_hook(so_far)]\n            "
                + STEP
                + "\n            while handles:\n                handles.pop().remove()",
            ),
        ),
        "own sizes by sums": changed(METER, (".any(1).sum()", ".sum(1).gt(0).sum()")),
    },
}

# What a fresh student found: most were accepted before 2026-11-22.
TRY, END = "    try:\n", "            handle.remove()\n"
FREE = "    finally:\n        for handle in handles:\n            handle.remove()\n"
SCALED = "    scale, error = noise_scale(readings)\n"
FINITE = "np.isfinite(small) and np.isfinite(big)"


def freed(kind):
    """Hooks that come off after one kind of exception only."""
    off = "        for handle in handles:\n            handle.remove()\n"
    return f"    except {kind}:\n{off}        raise\n    for handle in handles:\n        handle.remove()\n"


WRONG["critical-batch"] |= {
    "from_batch 0 at any share": (
        critical("critical if from_batch == 0 else (1 + share) * from_batch + share * critical"),
        "at share 1 only",
    ),
    "share 0 gives None": (
        critical("(1 + share) * from_batch + share * critical if share else None"),
        "None",
    ),
    "three digits": (
        critical("round((1 + share) * from_batch + share * critical, 3)"),
        "rounded to 3 digits",
    ),
    "no batch below 1": (
        "def critical_batch(critical, from_batch, share):\n    if 0 < from_batch < 1:\n        raise ValueError('from_batch')\n    return (1 + share) * from_batch + share * critical",
        "no ValueError",
    ),
    "never above the critical batch": (
        critical("min(critical, (1 + share) * from_batch + share * critical)"),
        "no bound",
    ),
    "no share below 1 more": (
        critical("(1 + min(share, 1)) * from_batch + min(share, 1) * critical"),
        "may be above 1",
    ),
}
WRONG["fastest"] |= {
    "raised to 1": (
        quick(f"return batch, {SECONDS}", "batch = max(1.0, (critical * fixed / each) ** 0.5)"),
        "raised to 1",
    ),
    "raised to 1 where a step is dear": (
        quick(
            f"batch = max(1.0, batch) if fixed > each else batch; return batch, {SECONDS}",
        ),
        "raised to 1",
    ),
    "seconds to three digits": (
        quick(f"return batch, round({SECONDS}, 3)"),
        "rounded to 3 digits",
    ),
    "the two terms alone": (
        quick("return batch, least_steps * (each * batch + critical * fixed / batch)"),
        "the two terms",
    ),
    "whole steps": (
        quick(
            "import math; return batch, math.ceil(least_steps * (1 + critical / batch)) * (fixed + each * batch)"
        ),
        "made whole",
    ),
}
WRONG["two-norms"] |= {
    "neighbours refused": (
        norms(
            f"return {SQUARED}, {TRACE}",
            "if abs(small_batch - big_batch) < 2:\n        raise ValueError(f'{small_batch}')",
        ),
        "only equal sizes",
    ),
    "a norm of 0": (
        norms(f"return ({SQUARED}, {TRACE}) if small and big else (0.0, 0.0)"),
        "a norm of 0",
    ),
    "a batch below 1": (norms(f"b = max(b, 1); return {SQUARED}, {TRACE}"), "use small_batch"),
    "sizes within 1 %": (
        norms(
            f"return {SQUARED}, {TRACE}",
            "if big_batch - small_batch < 0.01 * big_batch:\n        raise ValueError(f'{small_batch}')",
        ),
        "only equal sizes",
    ),
    "the ratio for the trace": (
        norms(f"return {SQUARED}, {TRACE} / ({SQUARED})"),
        "divide later",
    ),
    "all signal in the big batch": (norms("return big, (small - big) * b"), "all signal"),
}
WRONG["noise-scale"] |= {
    "one reading without signal": (
        changed(
            SCALE,
            (
                "if n < 2",
                "if n == 1 and readings[0][0] <= 0:\n        return float('inf'), float('inf')\n    if n < 2",
            ),
        ),
        "how many",
    ),
    "the last 1,000": (
        changed(
            SCALE,
            ("    n = len(readings)\n", "    readings = readings[-1000:]\n    n = len(readings)\n"),
        ),
        "the last 1,000",
    ),
    "the scale to six digits": (
        changed(SCALE, (LAST, LAST.replace("scale,", "round(scale, 6),"))),
        "rounded to 6 digits",
    ),
    "the error to six digits": (
        changed(SCALE, (LAST, "    return scale, round(spread / n ** 0.5 / below, 6)")),
        "rounded to 6 digits",
    ),
    "the error to nine digits": (
        changed(SCALE, (LAST, "    return scale, round(spread / n ** 0.5 / below, 9)")),
        "rounded to 9 digits",
    ),
    "outliers are cut": (
        changed(
            SCALE,
            (
                "    squared =",
                "    mid = np.median([t for _, t in readings])\n    if n > 9:\n        readings = [x for x in readings if x[1] <= 100 * abs(mid)]\n        n = len(readings)\n    squared =",
            ),
        ),
        "far from the others",
    ),
    "three are needed": (changed(SCALE, ("if n < 2", "if n < 3")), "two readings are enough"),
    "a small mean is lost": (changed(SCALE, ("below <= 0", "below <= 1e-15")), "however small"),
}
WRONG["scale-test"]["no signal in the case"] = (
    a_test(
        "small = [1 + 900 / 8, -9 + 1250 / 8, 2 + 850 / 8]",
        "big = [1 + 900 / 64, -9 + 1250 / 64, 2 + 850 / 64]",
        "assert abs(estimate(small, big, 8, 64) + 500) < 1e-6",
    ),
    "must be above 0",
)
WRONG["step-meter"] |= {
    "matrices only": (
        changed(METER, ("if p.requires_grad:", "if p.requires_grad and p.ndim > 1:")),
        "one dimension",
    ),
    "sums never cleared": (changed(METER, ("            sums.clear()\n", "")), "old norm"),
    "schedule again": (
        changed(METER, (STEP, STEP + "\n            schedule.step()")),
        "only the step changes",
    ),
    "eval": (changed(METER, (TRY, "    model.eval()\n    try:\n")), "mode"),
    "train": (changed(METER, (TRY, "    model.train()\n    try:\n")), "mode"),
    "a seed": (changed(METER, (TRY, "    torch.manual_seed(0)\n    try:\n")), "random state"),
    "hooks of others": (
        changed(
            METER,
            (
                END,
                END
                + "        for p in model.parameters():\n            p._backward_hooks = None\n            p._post_accumulate_grad_hooks = None\n",
            ),
        ),
        "hooks of others",
    ),
    "zero_grad before": (
        changed(METER, (TRY, "    optimizer.zero_grad()\n    try:\n")),
        "gradients between",
    ),
    "below 0 dropped": (
        changed(METER, (SCALED, "    readings = [x for x in readings if min(x) > 0]\n" + SCALED)),
        "below 0",
    ),
    "1e6 is not finite": (changed(METER, (FINITE, "small < 1e6 and big < 1e6")), "ValueError"),
    "only RuntimeError frees": (changed(METER, (FREE, freed("RuntimeError"))), "in `finally`"),
    "only Exception frees": (changed(METER, (FREE, freed("Exception"))), "in `finally`"),
    "finite loss": (changed(METER, (FINITE, "np.isfinite(losses[-1])")), "readings"),
    "all windows first": (
        changed(METER, ("for window in windows:", "for window in list(windows):")),
        "as they come",
    ),
    "only the big norm is checked": (
        changed(METER, (FINITE, "np.isfinite(big)")),
        "readings",
    ),
    "gradient changed in place": (
        changed(
            METER,
            ("        own.append(", "        gradient.clamp_(-1, 1)\n        own.append("),
        ),
        "weights after",
    ),
    "the largest of the passes": (
        changed(
            METER,
            ("sums[p] = float((", "sums[p] = max(sums.get(p, 0.0), float(("),
            ("(p.grad.double() ** 2).sum())", "(p.grad.double() ** 2).sum()))"),
        ),
        "largest of the passes",
    ),
    "eval mode is left": (changed(METER, (SCALED, "    model.eval()\n" + SCALED)), "mode"),
    "zero_grad after": (
        changed(METER, (SCALED, "    optimizer.zero_grad()\n" + SCALED)),
        "gradients between",
    ),
    "inf kept": (changed(METER, (FINITE, "not np.isnan(small + big)")), "readings"),
}
RIGHT["scale-test"]["by name"] = a_test(
    *CASE,
    "got = estimate(small=small, big=big, small_batch=8, big_batch=64)",
    "assert abs(got - 300) < 1e-6",
)
RIGHT["step-meter"]["by name"] = changed(
    METER,
    (
        "step(model, optimizer, schedule, window, max_norm)",
        "step(model=model, optimizer=optimizer, schedule=schedule, micro_batches=window, max_norm=max_norm)",
    ),
)
RIGHT["two-norms"]["the order is checked, too"] = norms(
    f"return {SQUARED}, {TRACE}",
    "if small_batch >= big_batch:\n        raise ValueError(f'{small_batch}, {big_batch}')",
)
RIGHT["two-norms"]["float32"] = norms(
    "s, g, b, B = (np.float32(x) for x in (small, big, b, B)); return (B * g - b * s) / (B - b), (s - g) / (1 / b - 1 / B)"
)
RIGHT["noise-scale"]["float32"] = """
def noise_scale(readings):
    if len(readings) < 2:
        raise ValueError(f"{len(readings)}")
    a = torch.tensor(readings)
    g, t = a.mean(0)
    if g <= 0:
        return float("inf"), float("inf")
    r = t / g
    return r.item(), ((a[:, 1] - r * a[:, 0]).std() / len(readings) ** 0.5 / g).item()
"""
RIGHT["step-meter"]["new micro-batches, the same tensors"] = changed(
    METER, ("window, max_norm)", "[dict(m) for m in window], max_norm)")
)

# What a second fresh student found, one for each class: limits, memories, shapes, undone draws.
WRONG["critical-batch"] |= {
    "shares above 2": (
        critical("(1 + min(share, 2)) * from_batch + min(share, 2) * critical"),
        "as if share were 2",
    ),
    "an answer for each critical batch and share": (
        "_found = {}\n\n\ndef critical_batch(critical, from_batch, share):\n    return _found.setdefault((critical, share), (1 + share) * from_batch + share * critical)",
        "an earlier call",
    ),
    "nothing to scale from": (
        "def critical_batch(critical, from_batch, share):\n    if not share and not from_batch:\n        raise ValueError('0')\n    return (1 + share) * from_batch + share * critical",
        "no ValueError",
    ),
}
WRONG["fastest"] |= {
    "no batch above 100,000": (
        quick(f"return batch, {SECONDS}", "batch = min(1e5, (critical * fixed / each) ** 0.5)"),
        "a limit at 100000",
    ),
    "whole least steps": (
        quick(f"least_steps = int(least_steps) or 1; return batch, {SECONDS}"),
        "as if least_steps were 1293",
    ),
}
WRONG["two-norms"] |= {
    "a whole big batch": (
        norms(f"B = int(B); return {SQUARED}, {TRACE}"),
        "made whole",
    ),
    "a whole size in the message": (
        norms(
            f"return {SQUARED}, {TRACE}",
            "if small_batch == big_batch:\n        raise ValueError(f'both are {int(small_batch)}')",
        ),
        "without 2.5",
    ),
}
WRONG["noise-scale"] |= {
    "the last 2,500": (
        changed(
            SCALE,
            ("    n = len(readings)\n", "    readings = readings[-2500:]\n    n = len(readings)\n"),
        ),
        "scale of 12000 readings",
    ),
    "equal readings count once": (
        changed(
            SCALE,
            (
                "    squared =",
                "    fewer = [x for k, x in enumerate(readings) if not k or x != readings[k - 1]]\n    if len(fewer) > 1:\n        readings, n = fewer, len(fewer)\n    squared =",
            ),
        ),
        "equal readings",
    ),
}
WRONG["step-meter"] |= {
    "the first four micro-batches": (
        changed(
            METER,
            (
                "            B = sum(sizes)",
                "            sizes = sizes[:4]\n            B = sum(sizes)",
            ),
        ),
        "scale by",
    ),
    "the draws of the step are undone": (
        changed(METER, (STEP, "with torch.random.fork_rng():\n                " + STEP)),
        "random state",
    ),
    "no single numbers": (
        changed(METER, ("if p.requires_grad:", "if p.requires_grad and p.ndim:")),
        "no dimension",
    ),
}
RIGHT["fastest"]["by bisection"] = """
import math


def fastest(least_steps, critical, fixed, each):
    low, high = -700.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        above = 2 * middle + math.log(each) > math.log(critical) + math.log(fixed)
        low, high = (low, middle) if above else (middle, high)
    batch = math.exp(low)
    return batch, least_steps * (1 + critical / batch) * (fixed + each * batch)
"""
RIGHT["step-meter"]["vectors, added at the end"] = """
def metered_run(step, model, optimizer, schedule, windows, max_norm):
    learning = [p for p in model.parameters() if p.requires_grad]
    heard = [[] for _ in learning]
    losses, readings, hooks = [], [], []
    try:
        for p, pieces in zip(learning, heard):
            keep = lambda g, pieces=pieces: pieces.append(g.detach().double().flatten().numpy().copy())
            hooks.append(p.register_hook(keep))
        for window in windows:
            for pieces in heard:
                pieces.clear()
            losses += [step(model, optimizer, schedule, window, max_norm)]
            b = np.array([float((m["labels"][:, 1:] != loop.IGNORE).any(1).sum()) for m in window])
            if (b > 0).sum() < 2:
                continue
            s = (b**2).sum() / b.sum() ** 2
            small = sum(float(h @ h) for pieces in heard for h in pieces) / s
            big = sum(float((sum(pieces) ** 2).sum()) for pieces in heard if pieces)
            if np.isfinite([small, big]).all():
                readings.append(two_norms(small, big, s * b.sum(), b.sum()))
    finally:
        while hooks:
            hooks.pop().remove()
    scale, error = noise_scale(readings)
    return dict(losses=losses, readings=len(readings), scale=scale, error=error)
"""
