"""Answers to 14_minima that look right and must be refused, and right ones written otherwise."""
# ruff: noqa: E501

SLOW = True  # minutes: `make slow` tries this bank

UPDATES = """
def updates(examples, epochs, small, large):
    one = lambda batch: (examples + batch - 1) // batch
    return {"small": one(small) * epochs, "large": one(large) * epochs, "epochs": one(small) * epochs / one(large)}
"""
TUNED = """
def tuned(runs):
    best = {}
    for batch in {run["batch"] for run in runs}:
        own = [run for run in runs if run["batch"] == batch]
        scores = []
        for rate in {run["rate"] for run in own}:
            losses = [run["validation"] for run in own if run["rate"] == rate]
            mean = sum(losses) / len(losses)
            if np.isfinite(mean):
                scores.append((mean, rate))
        if not scores:
            raise ValueError(f"batch {batch} diverged at every rate")
        best[batch] = min(scores)[1]
    return best
"""
GAP = """
def gap(small, large):
    if small.keys() != large.keys() or len(small) < 2:
        raise ValueError("two or more seeds, the same for both")
    apart = [large[seed] - small[seed] for seed in sorted(small)]
    n = len(apart)
    mean = sum(apart) / n
    if not np.isfinite(mean):
        raise ValueError("a loss is not finite")
    s = (sum((one - mean) ** 2 for one in apart) / (n - 1)) ** 0.5
    half = T90[n] * s / n ** 0.5
    return mean, mean - half, mean + half
"""
VERDICT = """
def verdict_test(verdict):
    cases = [(-0.1, 0.3, 0.5, "no difference"), (0.1, 0.3, 0.5, "no difference"), (-0.3, -0.1, 0.5, "no difference"),
             (0.1, 2.0, 0.5, "large worse"), (1.0, 2.0, 0.5, "large worse"), (-2.0, -0.1, 0.5, "large better"),
             (-2.0, -1.0, 0.5, "large better"), (-2.0, 2.1, 0.5, "cannot tell"), (-0.2, 2.0, 0.5, "cannot tell"),
             (-2.0, 0.2, 0.5, "cannot tell"), (0.1, 0.3, 0.05, "large worse")]
    for low, high, margin, want in cases:
        assert verdict(low, high, margin) == want
"""
SHARP = """
def sharpness(product, start, steps):
    v = np.array(start, dtype=float)
    v = v / np.sqrt(v @ v)
    for _ in range(steps):
        w = product(v)
        length = np.sqrt(np.sum(w * w))
        if length == 0:
            return 0
        v = w / length
    return v @ product(v)
"""
RESCALE = """
def rescale(weights, alpha):
    if alpha != alpha or alpha <= 0:
        raise ValueError("only factors above 0 pass a ReLU")
    new = {name: np.array(value) for name, value in weights.items()}
    new["W1"] *= alpha
    new["b1"] *= alpha
    new["W2"] /= alpha
    return new
"""
PLAN = """
def plan(small, large, rates, seeds, examples):
    if not small < large:
        raise ValueError("the small batch comes first")
    for batch in (small, large):
        if examples % batch != 0:
            raise ValueError(f"batch {batch} does not divide {examples}")
    rates, seeds = list(dict.fromkeys(rates)), list(dict.fromkeys(seeds))
    if len(rates) < 3:
        raise ValueError("three rates")
    if len(seeds) < 2:
        raise ValueError("two seeds")
    runs = []
    for batch, steps in [(small, examples // small), (large, examples // large), (large, examples // small)]:
        for rate in rates:
            for seed in seeds:
                runs.append({"batch": batch, "rate": rate, "seed": seed, "steps": steps})
    return runs
"""
JUDGE = """
def judge(results, margin):
    small = min(r["batch"] for r in results)
    large = max(r["batch"] for r in results)
    least = min(r["rate"] for r in results)
    most = max(r["rate"] for r in results)
    own = [r for r in results if r["batch"] == small]
    steps = own[0]["steps"]
    out = {}
    for arm in ("examples", "steps"):
        wanted = steps if arm == "steps" else steps * small // large
        other = [r for r in results if r["batch"] == large and r["steps"] == wanted]
        best = tuned(own + other)
        a = {r["seed"]: r["test"] for r in own if r["rate"] == best[small]}
        b = {r["seed"]: r["test"] for r in other if r["rate"] == best[large]}
        middle, low, high = gap(a, b)
        if any(rate in (least, most) for rate in best.values()):
            said = "cannot tell"
        elif -margin <= low and high <= margin:
            said = "no difference"
        elif low > 0:
            said = "large worse"
        elif high < 0:
            said = "large better"
        else:
            said = "cannot tell"
        out[arm] = {"verdict": said, "gap": middle, "low": low, "high": high, "rates": best}
    return out
"""
BOTH = PLAN + JUDGE


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, (code.count(old), old)
        code = code.replace(old, new)
    return code


def wrong_plan(words, *changes):
    return changed(PLAN, *changes) + JUDGE, words


def wrong_judge(words, *changes):
    return PLAN + changed(JUDGE, *changes), words


def by(words, code, *changes):
    return changed(code, *changes), words


def alpha(value):
    return f"def alpha_wanted():\n    return {value}"


def test_of(*cases):
    """A test of verdict with these cases."""
    lines = [
        f"    assert verdict({low}, {high}, {margin}) == {want!r}"
        for low, high, margin, want in cases
    ]
    return "\n".join(["def verdict_test(verdict):", *lines])


ALL = [(-0.1, 0.3, 0.5, "no difference"), (0.1, 0.3, 0.5, "no difference"), (-0.3, -0.1, 0.5, "no difference"),
       (0.1, 2.0, 0.5, "large worse"), (1.0, 2.0, 0.5, "large worse"), (-2.0, -0.1, 0.5, "large better"),
       (-2.0, -1.0, 0.5, "large better"), (-2.0, 2.1, 0.5, "cannot tell"), (-0.2, 2.0, 0.5, "cannot tell"),
       (-2.0, 0.2, 0.5, "cannot tell")]  # fmt: skip
MANY = [*ALL, (0.1, 0.3, 0.05, "large worse")]
OWN = 'own = [r for r in results if r["batch"] == small]'
VALIDATION = 'losses = [run["validation"] for run in own if run["rate"] == rate]'

WRONG = {
    "updates": {
        "thousandths are lost": by(
            "rounded down",
            UPDATES,
            ("(examples + batch - 1) // batch", "int(np.ceil(round(examples / batch, 3)))"),
        ),
        "millionths are lost": by(
            "rounded down",
            UPDATES,
            ("(examples + batch - 1) // batch", "int(np.ceil(round(examples / batch, 6)))"),
        ),
        "rounded to nearest": by(
            "rounded down",
            UPDATES,
            ("(examples + batch - 1) // batch", "max(1, round(examples / batch))"),
        ),
        "floor": by(
            "rounded down", UPDATES, ("(examples + batch - 1) // batch", "examples // batch")
        ),
        "round": by(
            "right is", UPDATES, ("(examples + batch - 1) // batch", "round(examples / batch)")
        ),
        "one more": by(
            "right is", UPDATES, ("(examples + batch - 1) // batch", "examples // batch + 1")
        ),
        "a float": by(
            "float",
            UPDATES,
            (
                "lambda batch: (examples + batch - 1) // batch",
                "lambda batch: np.ceil(examples / batch)",
            ),
        ),
        "epochs run together": (
            "def updates(examples, epochs, small, large):\n    one = lambda batch: -(-examples * epochs // batch)\n"
            "    return {'small': one(small), 'large': one(large), 'epochs': epochs * one(small) / one(large)}",
            "run into each other",
        ),
        "the ratio of the batches": by(
            "ratio of the batches",
            UPDATES,
            ("one(small) * epochs / one(large)}", "epochs * large / small}"),
        ),
        "how many times": by(
            "how many times",
            UPDATES,
            ("one(small) * epochs / one(large)}", "one(small) / one(large)}"),
        ),
        "whole epochs": by(
            "rounded up",
            UPDATES,
            ("one(small) * epochs / one(large)}", "-(-one(small) * epochs // one(large))}"),
        ),
        "whole epochs, down": by(
            "right is",
            UPDATES,
            ("one(small) * epochs / one(large)}", "one(small) * epochs // one(large)}"),
        ),
        "exchanged": by(
            "right is",
            UPDATES,
            ('"small": one(small)', '"small": one(large)'),
            ('"large": one(large)', '"large": one(small)'),
        ),
        "one epoch": by(
            "right is",
            UPDATES,
            ("one(small) * epochs,", "one(small),"),
            ("one(large) * epochs,", "one(large),"),
        ),
        "upside down": by(
            "right is",
            UPDATES,
            ("one(small) * epochs / one(large)}", "one(large) * epochs / one(small)}"),
        ),
        "a float division": by(
            "right is",
            UPDATES,
            (
                "(examples + batch - 1) // batch",
                "int(np.ceil(np.float32(examples) / np.float32(batch)))",
            ),
        ),
        "a tuple": ("def updates(examples, epochs, small, large):\n    return 1, 2, 3", "a dict"),
        "no epochs": by("epochs", UPDATES, (', "epochs": one(small) * epochs / one(large)', "")),
    },
    "tuned": {
        "test": by("tuned on the test set", TUNED, ('run["validation"]', 'run["test"]')),
        "training": by("training loss", TUNED, ('run["validation"]', 'run["train"]')),
        "best seed": by("best seed", TUNED, ("sum(losses) / len(losses)", "min(losses)")),
        "worst seed": by("take the mean", TUNED, ("sum(losses) / len(losses)", "max(losses)")),
        "median seed": by(
            "median", TUNED, ("sum(losses) / len(losses)", "float(np.median(losses))")
        ),
        "diverged skipped": by(
            "diverged",
            TUNED,
            (
                VALIDATION,
                VALIDATION.replace(
                    "== rate]", '== rate and np.isfinite(run["validation"])] or [float("inf")]'
                ),
            ),
        ),
        "nanmean": by(
            "diverged", TUNED, ("sum(losses) / len(losses)", "float(np.nanmean(losses))")
        ),
        "nan only": by("minus infinity", TUNED, ("np.isfinite(mean)", "not np.isnan(mean)")),
        "one rate for all": (
            TUNED.replace("return best", "return dict.fromkeys(best, best[min(best)])"),
            "one rate for all",
        ),
        "that of the largest": (
            TUNED.replace("return best", "return dict.fromkeys(best, best[max(best)])"),
            "one rate for all",
        ),
        "highest loss": by("highest loss", TUNED, ("min(scores)[1]", "max(scores)[1]")),
        "the larger of a tie": by(
            "tie", TUNED, ("min(scores)[1]", "min(scores, key=lambda one: (one[0], -one[1]))[1]")
        ),
        "the sum": by("take the mean", TUNED, ("sum(losses) / len(losses)", "sum(losses[:2])")),
        "the first seed": by("best seed", TUNED, ("sum(losses) / len(losses)", "losses[0]")),
        "the loss, not the rate": by(
            "validation and test disagree", TUNED, ("min(scores)[1]", "min(scores)[0]")
        ),
        "no refusal": by(
            "no rate is left",
            TUNED,
            ('raise ValueError(f"batch {batch} diverged at every rate")', "scores = [(0, 0)]"),
        ),
        "a refusal without name": by(
            "without", TUNED, ('f"batch {batch} diverged at every rate"', '"diverged"')
        ),
        "left out": by(
            "no rate is left",
            TUNED,
            ('raise ValueError(f"batch {batch} diverged at every rate")', "continue"),
        ),
        "runs are sorted": by(
            "the input",
            TUNED,
            ("    best = {}", "    runs.sort(key=lambda run: run['rate'])\n    best = {}"),
        ),
        "the sum of the losses": by(
            "different numbers of seeds", TUNED, ("sum(losses) / len(losses)", "sum(losses)")
        ),
        "over the seeds of another rate": by(
            "different numbers of seeds",
            TUNED,
            (VALIDATION, VALIDATION + "\n            count = locals().get('count') or len(losses)"),
            ("/ len(losses)", "/ count"),
        ),
        "minus infinity": by(
            "minus infinity", TUNED, ("np.isfinite(mean)", "mean == mean and mean != np.inf")
        ),
        "rounded means": by(
            "rounded",
            TUNED,
            ("scores.append((mean, rate))", "scores.append((round(mean, 3), rate))"),
        ),
        "whole means": by(
            "rounded", TUNED, ("scores.append((mean, rate))", "scores.append((mean // 1, rate))")
        ),
        "above 10": by(
            "above 10 was taken", TUNED, ("np.isfinite(mean)", "all(-10 < x < 10 for x in losses)")
        ),
        "above 1000": by(
            "above 1000 was taken",
            TUNED,
            ("np.isfinite(mean)", "all(-1000 < x < 1000 for x in losses)"),
        ),
        "mean and deviation": by(
            "the tuned rates",
            TUNED,
            ("scores.append((mean, rate))", "scores.append((mean + np.std(losses), rate))"),
        ),
        "negative losses are out": by(
            "a loss of zero", TUNED, ("np.isfinite(mean)", "np.isfinite(mean) and min(losses) >= 0")
        ),
        "batches as text": by("key", TUNED, ("best[batch] =", "best[str(batch)] =")),
        "the middle of best and worst": by(
            "between the best and the worst",
            TUNED,
            ("sum(losses) / len(losses)", "(min(losses) + max(losses)) / 2"),
            ("if np.isfinite(mean):", "if np.isfinite(losses).all():"),
        ),
        "the seeds that all rates have": by(
            "seeds that all rates have",
            TUNED,
            (
                "        scores = []",
                "        common = set.intersection(*({r['seed'] for r in own if r['rate'] == rate} for rate in {r['rate'] for r in own}))\n"
                "        own = [run for run in own if run['seed'] in common] or own\n        scores = []",
            ),
        ),
        "a test loss diverged": by(
            "asked for divergence",
            TUNED,
            (
                VALIDATION,
                VALIDATION.replace(
                    'run["validation"]', '(run["validation"] + 0 * run["test"] + 0 * run["train"])'
                ),
            ),
        ),
        "zero is no loss": by(
            "a loss of zero", TUNED, ("if np.isfinite(mean):", "if np.isfinite(mean) and mean:")
        ),
    },
    "gap": {
        "small minus large": by(
            "turned round", GAP, ("large[seed] - small[seed]", "small[seed] - large[seed]")
        ),
        "by place": by(
            "look a loss up by its seed",
            GAP,
            (
                "[large[seed] - small[seed] for seed in sorted(small)]",
                "[b - a for a, b in zip(small.values(), large.values())]",
            ),
        ),
        "sorted losses": by(
            "best of seeds",
            GAP,
            (
                "[large[seed] - small[seed] for seed in sorted(small)]",
                "[b - a for a, b in zip(sorted(small.values()), sorted(large.values()))]",
            ),
        ),
        "best of seeds": by(
            "best of seeds",
            GAP,
            ("return mean,", "mean = min(large.values()) - min(small.values())\n    return mean,"),
        ),
        "the median": by(
            "median",
            GAP,
            (
                "return mean,",
                "mean = sorted(apart)[n // 2] if n % 2 else sum(sorted(apart)[n // 2 - 1:n // 2 + 1]) / 2\n    return mean,",
            ),
        ),
        "not paired": by(
            "not paired",
            GAP,
            (
                "half = T90[n] * s / n ** 0.5",
                "half = T90[n] * ((np.var(list(small.values()), ddof=1) + np.var(list(large.values()), ddof=1)) / n) ** 0.5",
            ),
        ),
        "the spread": by("root of n", GAP, (" / n ** 0.5", "")),
        "the standard error": by("times T90[n]", GAP, ("T90[n] * s", "s")),
        "over n": by("over n - 1", GAP, ("/ (n - 1)) ** 0.5", "/ n) ** 0.5")),
        "T90 of n - 1": by("goes by the number of seeds", GAP, ("T90[n]", "T90[max(n - 1, 2)]")),
        "1.96": by("few seeds need more", GAP, ("T90[n]", "1.96")),
        "1.64": by("few seeds need more", GAP, ("T90[n]", "1.64")),
        "over n twice": by("not by its root", GAP, ("n ** 0.5", "n")),
        "one seed is enough": by(
            "refuse one seed",
            GAP,
            (" or len(small) < 2", ""),
            ("(n - 1)", "max(n - 1, 1)"),
            ("T90[n]", "T90.get(n, 0)"),
        ),
        "common seeds": by(
            "seed",
            GAP,
            ("small.keys() != large.keys() or len(small) < 2", "len(small) < 2"),
            ("sorted(small)", "sorted(set(small) & set(large))"),
            ("T90[n]", "T90.get(n, 9)"),
            ("(n - 1)", "max(n - 1, 1)"),
        ),
        "diverged skipped": by(
            "nan",
            GAP,
            (
                "for seed in sorted(small)]",
                "for seed in sorted(small) if np.isfinite(large[seed] - small[seed])]",
            ),
        ),
        "diverged let through": by("nan", GAP, ("if not np.isfinite(mean):", "if False:")),
        "both diverged let through": by(
            "diverged with both",
            GAP,
            (
                "apart = [",
                "small = {k: small[k] for k in small if not (small[k] == large[k] == float('inf'))}\n    apart = [",
            ),
        ),
        "the first is missing": by(
            "shape (2,)",
            GAP,
            ("return mean, mean - half, mean + half", "return mean - half, mean + half"),
        ),
        "half alone": by("at [1]", GAP, ("mean - half, mean + half", "-half, half")),
        "high first": by("at [1]", GAP, ("mean - half, mean + half", "mean + half, mean - half")),
        "minus infinity": by(
            "a loss that is -inf", GAP, ("not np.isfinite(mean)", "mean != mean or mean == np.inf")
        ),
        "in one pass": by(
            "complex",
            GAP,
            (
                "sum((one - mean) ** 2 for one in apart) / (n - 1)",
                "(sum(one * one for one in apart) - n * mean ** 2) / (n - 1)",
            ),
        ),
        "rounded to four digits": by(
            "(gap, low, high)",
            GAP,
            (
                "return mean, mean - half, mean + half",
                "return round(mean, 4), round(mean - half, 4), round(mean + half, 4)",
            ),
        ),
        "never below 0": by(
            "at [1]", GAP, ("return mean, mean - half", "return mean, max(0.0, mean - half)")
        ),
        "no loss above 10": by(
            "so is every finite loss",
            GAP,
            ("not np.isfinite(mean)", "not max(map(abs, [*small.values(), *large.values()])) < 10"),
        ),
        "T90 of seven for more": by("T90 of 7 seeds", GAP, ("T90[n]", "T90[min(n, 7)]")),
        "absolute differences": by(
            "at [", GAP, ("large[seed] - small[seed]", "abs(large[seed] - small[seed])")
        ),
        "a percentage": by(
            "at [0]",
            GAP,
            ("return mean,", "mean = mean / (sum(small.values()) / n)\n    return mean,"),
        ),
    },
    "verdict-test": {
        "the narrow cases": (test_of(*ALL[:3]), "got through"),
        "one case each": (test_of(ALL[1], ALL[4], ALL[6], ALL[7]), "got through"),
        "no large better": (
            test_of(*(one for one in ALL if one[3] != "large better")),
            "got through",
        ),
        "no cannot tell": (
            test_of(*(one for one in ALL if one[3] != "cannot tell")),
            "got through",
        ),
        "no no difference": (
            test_of(*(one for one in ALL if one[3] != "no difference")),
            "got through",
        ),
        "ends on both sides of the margin are missing": (
            test_of(*(one for one in ALL if one[:2] not in ((0.1, 2.0), (-2.0, -0.1)))),
            "got through",
        ),
        "nothing asserted": (
            "def verdict_test(verdict):\n    return verdict(0.1, 0.2, 0.05) == 'large worse' or None",
            "never failed",
        ),
        "not significant is no difference": (
            test_of(*ALL[:7], (-2.0, 2.1, 0.5, "no difference")),
            "right implementation",
        ),
        "0 outside is worse": (test_of((0.1, 0.3, 0.5, "large worse")), "right implementation"),
        "worse from the margin": (test_of((0.1, 2.0, 0.5, "cannot tell")), "right implementation"),
        "sign turned": (test_of((1.0, 2.0, 0.5, "large better")), "right implementation"),
        "another word": (test_of((1.0, 2.0, 0.5, "worse")), "right implementation"),
        "one margin": (
            test_of(*((a / 50, b / 50, 0.01, want) for a, b, _, want in ALL)),
            "got through",
        ),
        "inside the margin to the right of 0 only": (
            test_of(*(one for one in MANY if one[:3] != (-0.3, -0.1, 0.5))),
            "got through",
        ),
        "inside the margin to the left of 0 only": (
            test_of(*(one for one in MANY if one[:3] != (0.1, 0.3, 0.5))),
            "got through",
        ),
        "no worse that begins inside the margin": (
            test_of(*(one for one in MANY if one[:2] != (0.1, 2.0))),
            "got through",
        ),
        "no better that ends inside the margin": (
            test_of(*(one for one in MANY if one[:2] != (-2.0, -0.1))),
            "got through",
        ),
        "both ends beyond the margin": (
            test_of(*(one for one in MANY if one[:2] not in ((-0.2, 2.0), (-2.0, 0.2)))),
            "got through",
        ),
        "cannot tell to the right only": (
            test_of(*(one for one in MANY if one[:2] != (-2.0, 0.2))),
            "got through",
        ),
        "cannot tell to the left only": (
            test_of(*(one for one in MANY if one[:2] != (-0.2, 2.0))),
            "got through",
        ),
        "one margin only": (test_of(*ALL), "got through"),
        "whole numbers only": (
            test_of(
                *((10 * a, 10 * b, 10 * c, want) for a, b, c, want in ALL),
                (2.0, 3.0, 1.0, "large worse"),
            ),
            "got through",
        ),
        "any of the words": (
            "def verdict_test(verdict):\n    words = ('no difference', 'large worse', 'large better', 'cannot tell')\n"
            "    assert verdict(-0.1, 0.3, 0.5) in words",
            "never failed",
        ),
    },
    "experiment": {
        # the plan
        "no equal steps": wrong_plan(
            "equal steps are missing", (", (large, examples // small)]:", "]:")
        ),
        "no equal examples": wrong_plan(
            "equal examples are missing", ("(large, examples // large), ", "")
        ),
        "the small batch twice": wrong_plan(
            "each run is paid once",
            (
                "[(small, examples // small), (large",
                "[(small, examples // small), (small, examples // small), (large",
            ),
        ),
        "epochs of the small batch for all": wrong_plan(
            "equal examples are missing", ("(large, examples // large)", "(large, examples)")
        ),
        "pairs by zip": wrong_plan(
            "some pairs are missing",
            (
                "        for rate in rates:\n            for seed in seeds:\n                runs",
                "        for rate, seed in zip(rates, seeds):\n            if True:\n                runs",
            ),
        ),
        "steps as a float": wrong_plan(
            "steps is an int", ('"steps": steps}', '"steps": float(steps)}')
        ),
        "doubles kept": wrong_plan(
            "each run is paid once",
            (
                "rates, seeds = list(dict.fromkeys(rates)), list(dict.fromkeys(seeds))",
                "rates, seeds = list(rates), list(seeds)",
            ),
        ),
        "doubles are counted": wrong_plan(
            "the same seed three times",
            ("if len(seeds) < 2:", "if len(given) < 2:"),
            ("    rates, seeds =", "    given = list(seeds)\n    rates, seeds ="),
        ),
        "one seed planned": wrong_plan("one seed", ("len(seeds) < 2", "len(seeds) < 1")),
        "two rates planned": wrong_plan("two rates", ("len(rates) < 3", "len(rates) < 2")),
        "rounded steps": wrong_plan("336 examples", ("examples % batch != 0", "False")),
        "the large batch only divides": wrong_plan(
            "320 examples and batches of 9",
            ("for batch in (small, large):", "for batch in (large,):"),
        ),
        "the batch not named": wrong_plan(
            "without", ('f"batch {batch} does not divide {examples}"', '"does not divide"')
        ),
        "any order of the batches": wrong_plan(
            "the large batch first", ("not small < large", "small == large")
        ),
        "equal batches": wrong_plan("equal batches", ("not small < large", "small > large")),
        "one rate": wrong_plan(
            "some pairs are missing", ("for rate in rates:", "for rate in rates[:1]:")
        ),
        "one seed for the runs": wrong_plan(
            "some pairs are missing", ("for seed in seeds:", "for seed in seeds[:1]:")
        ),
        "an arm in each run": wrong_plan(
            "no other, not arm", ('"steps": steps}', '"steps": steps, "arm": "both"}')
        ),
        "tuples": wrong_plan(
            "a list of dictionaries",
            (
                'runs.append({"batch": batch, "rate": rate, "seed": seed, "steps": steps})',
                "runs.append((batch, rate, seed, steps))",
            ),
        ),
        "no steps": wrong_plan("steps is missing", (', "steps": steps}', "}")),
        "four rates at most": wrong_plan(
            "some pairs are missing", ("    runs = []", "    rates = rates[:3]\n    runs = []")
        ),
        "runs kept between calls": (
            "RUNS = []\n" + PLAN.replace("    runs = []", "    runs = RUNS") + JUDGE,
            "remembers",
        ),
        "rates to six places": wrong_plan(
            "nobody gave the rate", ("dict.fromkeys(rates)", "{round(float(r), 6) for r in rates}")
        ),
        # the judge
        "a margin in parts of the loss": wrong_judge(
            "no part of the loss",
            (
                "elif -margin <= low and high <= margin:",
                "elif -margin <= low / np.mean(list(a.values())) and high / np.mean(list(a.values())) <= margin:",
            ),
        ),
        "a verdict by 1.64": wrong_judge(
            "1.64, not by low and high",
            (
                "        if any(rate in",
                "        h = (high - low) / 2 * 1.645 / T90[len(a)]\n        if any(rate in",
            ),
            ("-margin <= low and high <= margin", "-margin <= middle - h and middle + h <= margin"),
            ("elif low > 0:", "elif middle - h > 0:"),
            ("elif high < 0:", "elif middle + h < 0:"),
        ),
        "tuned on the test set": wrong_judge(
            "tuned on the test set",
            (
                "best = tuned(own + other)",
                "best = tuned([{**r, 'validation': r['test']} for r in own + other])",
            ),
        ),
        "tuned on the training set": wrong_judge(
            "training loss",
            (
                "best = tuned(own + other)",
                "best = tuned([{**r, 'validation': r['train']} for r in own + other])",
            ),
        ),
        "the rate of the small batch": wrong_judge(
            "one rate for all: that of the smallest",
            (
                "best = tuned(own + other)",
                "best = tuned(own + other)\n        best[large] = best[small]",
            ),
        ),
        "one rate of the large": wrong_judge(
            "one rate for all: that of the largest",
            (
                "best = tuned(own + other)",
                "best = tuned(own + other)\n        best[small] = best[large]",
            ),
        ),
        "rates of both arms together": wrong_judge(
            "tune each arm", ("best = tuned(own + other)", "best = tuned(results)")
        ),
        "rates of the first arm": wrong_judge(
            "tune each arm",
            (
                "best = tuned(own + other)",
                'best = out["examples"]["rates"] if out else tuned(own + other)',
            ),
        ),
        "small minus large": wrong_judge("turned round", ("gap(a, b)", "gap(b, a)")),
        "best of seeds": wrong_judge(
            "best of seeds",
            (
                "gap(a, b)",
                "gap(a, b)\n        half = high - middle\n        middle = min(b.values()) - min(a.values())\n        low, high = middle - half, middle + half",
            ),
        ),
        "not paired": wrong_judge(
            "not paired",
            (
                "gap(a, b)",
                "gap(a, b)\n        half = T90[len(a)] * ((np.var(list(a.values()), ddof=1) + np.var(list(b.values()), ddof=1)) / len(a)) ** 0.5\n        low, high = middle - half, middle + half",
            ),
        ),
        "sorted": wrong_judge(
            "best of seeds",
            (
                "gap(a, b)",
                "gap(dict(enumerate(sorted(a.values()))), dict(enumerate(sorted(b.values()))))",
            ),
        ),
        "no edge": wrong_judge(
            "an edge of the rates",
            ("if any(rate in (least, most) for rate in best.values()):", "if False:"),
        ),
        "the highest rate only": wrong_judge(
            "an edge of the rates was taken", ("(least, most)", "(most,)")
        ),
        "the lowest rate only": wrong_judge(
            "an edge of the rates was taken", ("(least, most)", "(least,)")
        ),
        "no difference at an edge": wrong_judge(
            "an edge of the rates was taken",
            (
                "        if any(rate in (least, most)",
                '        if -margin <= low and high <= margin:\n            said = "no difference"\n        elif any(rate in (least, most)',
            ),
        ),
        "edge of the large batch": wrong_judge(
            "an edge of the rates was taken",
            ("for rate in best.values()", "for rate in (best[large],)"),
        ),
        "edge of the small batch": wrong_judge(
            "an edge of the rates was taken",
            ("for rate in best.values()", "for rate in (best[small],)"),
        ),
        "diverged rates forgotten": wrong_judge(
            "a rate that diverged was tried",
            (
                'most = max(r["rate"] for r in results)',
                'most = max(r["rate"] for r in results if np.isfinite(r["validation"]))',
            ),
        ),
        "not significant is no difference": wrong_judge(
            "holds 0 is called no difference",
            (
                "elif -margin <= low and high <= margin:",
                "elif low <= 0 <= high or -margin <= low and high <= margin:",
            ),
        ),
        "worse before the margin": wrong_judge(
            "even inside the margin",
            (
                "elif -margin <= low and high <= margin:",
                "elif low <= 0 <= high and -margin <= low and high <= margin:",
            ),
        ),
        "the middle decides": wrong_judge(
            "middle",
            ("elif low > 0:", "elif middle > 0:"),
            ("elif high < 0:", "elif middle < 0:"),
            ("elif -margin <= low and high <= margin:", "elif False:"),
        ),
        "the middle within the margin": wrong_judge(
            "middle within the margin",
            ("elif -margin <= low and high <= margin:", "elif abs(middle) <= margin:"),
        ),
        "upper end only": wrong_judge(
            "only the upper end",
            ("elif -margin <= low and high <= margin:", "elif high <= margin:"),
        ),
        "never better": wrong_judge(
            "never called better", ('said = "large better"', 'said = "cannot tell"')
        ),
        "signs turned in words": wrong_judge(
            "sign is turned",
            ('said = "large better"', 'said = "LARGE"'),
            ('said = "large worse"', 'said = "large better"'),
            ('said = "LARGE"', 'said = "large worse"'),
        ),
        "a margin of 0.01": wrong_judge(
            "even inside the margin",
            ("elif -margin <= low and high <= margin:", "elif -0.01 <= low and high <= 0.01:"),
        ),
        "no margin": wrong_judge(
            "never said", ("elif -margin <= low and high <= margin:", "elif False:")
        ),
        "beyond the margin": wrong_judge(
            "too careful",
            ("elif low > 0:", "elif low > margin:"),
            ("elif high < 0:", "elif high < -margin:"),
        ),
        "arms exchanged": wrong_judge(
            "exchanged", ('arm == "steps" else', 'arm == "examples" else')
        ),
        "validation judges": wrong_judge(
            "instead of the test loss",
            ('a = {r["seed"]: r["test"]', 'a = {r["seed"]: r["validation"]'),
            ('b = {r["seed"]: r["test"]', 'b = {r["seed"]: r["validation"]'),
        ),
        "all runs of the large batch": wrong_judge(
            "gap, low, high",
            ('r["batch"] == large and r["steps"] == wanted', 'r["batch"] == large'),
        ),
        "seeds by place": wrong_judge(
            "by place",
            ("gap(a, b)", "gap(dict(enumerate(a.values())), dict(enumerate(b.values())))"),
        ),
        "the wrong word": wrong_judge(
            "a verdict is one of", ('said = "large worse"', 'said = "worse"')
        ),
        "no rates": wrong_judge("rates", (', "rates": best}', "}")),
        "one arm": wrong_judge(
            "missing", ('for arm in ("examples", "steps"):', 'for arm in ("steps",):')
        ),
        "results sorted in place": wrong_judge(
            "argument 1",
            ("    small = min(", '    results.sort(key=lambda r: r["seed"])\n    small = min('),
        ),
        "rates of a batch of 8": wrong_judge(
            "KeyError", ('if r["rate"] == best[small]}', 'if r["rate"] == best[8]}')
        ),
        "five seeds": wrong_judge(
            "gap, low, high",
            ("gap(a, b)", "gap(dict(list(a.items())[:2]), dict((k, b[k]) for k in list(a)[:2]))"),
        ),
    },
    "sharpness": {
        "the length": by(
            "has no sign",
            SHARP,
            (
                "return v @ product(v)",
                "return np.linalg.norm(product(v)) if steps > 5 else v @ product(v)",
            ),
        ),
        "one too few": by(
            "one multiplication too few", SHARP, ("range(steps)", "range(steps - 1)")
        ),
        "one too many": by(
            "one multiplication too many", SHARP, ("range(steps)", "range(steps + 1)")
        ),
        "the start is not divided": by(
            "not divided by its length", SHARP, ("    v = v / np.sqrt(v @ v)\n", "")
        ),
        "never divided": by("sharpness of", SHARP, ("        v = w / length", "        v = w")),
        "from ones": by(
            "start was not used", SHARP, ("np.array(start, dtype=float)", "np.ones(len(start))")
        ),
        "the largest, not the largest in size": by(
            "sharpness of",
            SHARP,
            (
                "    return v @ product(v)",
                "    h = np.array([product(e) for e in np.eye(len(v))])\n    return float(np.linalg.eigvalsh(h).max())",
            ),
        ),
        "all eigenvalues": by(
            "2 steps",
            SHARP,
            (
                "    return v @ product(v)",
                "    h = np.array([product(e) for e in np.eye(len(v))])\n    e = np.linalg.eigvalsh(h)\n    return float(e[np.abs(e).argmax()])",
            ),
        ),
        "nan for zero": by("nan", SHARP, ("        if length == 0:\n            return 0\n", "")),
        "None for zero": by("None", SHARP, ("            return 0\n", "            return None\n")),
        "the vector": by("a number is needed", SHARP, ("return v @ product(v)", "return v")),
        "divided by the largest entry": by(
            "sharpness of", SHARP, ("length = np.sqrt(np.sum(w * w))", "length = np.abs(w).max()")
        ),
        "the start is changed": by(
            "argument 2",
            SHARP,
            (
                "v = np.array(start, dtype=float)\n    v = v / np.sqrt(v @ v)",
                "v = start\n    v /= np.sqrt(v @ v)",
            ),
        ),
        "small eigenvalues are zero": by(
            "sharpness of", SHARP, ("if length == 0:", "if length < 1e-6:")
        ),
        "tiny eigenvalues are zero": by(
            "in *every* entry", SHARP, ("if length == 0:", "if length < 1e-12:")
        ),
        "close to zero": by(
            "in *every* entry", SHARP, ("if length == 0:", "if np.allclose(w, 0):")
        ),
        "a little is added": by(
            "sharpness of",
            SHARP,
            ("        if length == 0:\n            return 0\n", ""),
            ("w / length", "w / (length + 1e-12)"),
        ),
        "an entry is zero": by(
            "in *every* entry", SHARP, ("if length == 0:", "if (w == 0).any():")
        ),
        "entries that cancel": by(
            "in *every* entry", SHARP, ("if length == 0:", "if sum(w) == 0:")
        ),
        "ended early": by(
            "stood still",
            SHARP,
            ("        if length", "        old = v @ w\n        if length"),
            (
                "v = w / length",
                "v = w / length\n        if abs(v @ product(v) - old) < 1e-9 * abs(old):\n            break",
            ),
        ),
        "largest in size on the way": by(
            "largest value on the way",
            SHARP,
            ("    for _ in", "    seen = [v @ product(v)]\n    for _ in"),
            ("v = w / length", "v = w / length\n        seen.append(v @ product(v))"),
            ("return v @ product(v)", "return max(seen, key=abs)"),
        ),
        "no curvature": by("in *every* entry", SHARP, ("if length == 0:", "if v @ w == 0:")),
        "the first entry": by("in *every* entry", SHARP, ("if length == 0:", "if w[0] == 0:")),
        "float16": by(
            "sharpness of", SHARP, ("v = w / length", "v = (w / length).astype(np.float16)")
        ),
        "largest of all steps": by(
            "sharpness of",
            SHARP,
            ("    for _ in", "    best = v @ product(v)\n    for _ in"),
            ("v = w / length", "v = w / length\n        best = max(best, v @ product(v))"),
            ("return v @ product(v)", "return best"),
        ),
        "absolute": by(
            "has no sign", SHARP, ("return v @ product(v)", "return abs(v @ product(v))")
        ),
    },
    "rescale": {
        "W1 only": (
            "def rescale(weights, alpha):\n    return {**weights, 'W1': weights['W1'] * alpha}",
            "left as it is",
        ),
        "by place": by(
            "look up each weight by its name",
            RESCALE,
            (
                "for name, value in weights.items()}",
                "for name, value in zip(('W1', 'b1', 'W2', 'b2'), weights.values())}",
            ),
        ),
        "b1 forgotten": by("left as it is", RESCALE, ('    new["b1"] *= alpha\n', "")),
        "b2 too": by(
            "over alpha", RESCALE, ("    return new", '    new["b2"] /= alpha\n    return new')
        ),
        "b2 times": by(
            "times alpha", RESCALE, ("    return new", '    new["b2"] *= alpha\n    return new')
        ),
        "the other way": by(
            "over alpha",
            RESCALE,
            ('new["W1"] *= alpha', 'new["W1"] /= alpha'),
            ('new["b1"] *= alpha', 'new["b1"] /= alpha'),
            ('new["W2"] /= alpha', 'new["W2"] *= alpha'),
        ),
        "the root": by(
            "root of alpha", RESCALE, ('new["W1"] *= alpha', 'new["W1"] *= alpha ** 0.5')
        ),
        "both times": by("times alpha", RESCALE, ('new["W2"] /= alpha', 'new["W2"] *= alpha')),
        "W2 over its square": by(
            "W2 is right", RESCALE, ('new["W2"] /= alpha', 'new["W2"] /= alpha ** 2')
        ),
        "nothing": ("def rescale(weights, alpha):\n    return dict(weights)", "left as it is"),
        "negative alphas": by(
            "passes positive factors only", RESCALE, ("alpha <= 0", "alpha == 0")
        ),
        "nan": by("nan is not above 0", RESCALE, ("alpha != alpha or ", "")),
        "tiny alphas refused": by("ValueError", RESCALE, ("alpha <= 0", "alpha < 1e-6")),
        "no alpha above 100": by("ValueError", RESCALE, ("alpha <= 0", "not 0 < alpha <= 100")),
        "thousandths of alpha": by(
            "ValueError", RESCALE, ("alpha <= 0", "not int(alpha * 1000) > 0")
        ),
        "rounded": by(
            "W2 is right",
            RESCALE,
            ("    return new", "    new['W2'] = new['W2'].round(3)\n    return new"),
        ),
        "float16": by(
            "W2 is right",
            RESCALE,
            ("    return new", "    new['W2'] = new['W2'].astype(np.float16)\n    return new"),
        ),
        "zero": by("passes positive factors only", RESCALE, ("alpha <= 0", "alpha < 0")),
        "in place": by("argument 1", RESCALE, ("np.array(value)", "value")),
        "integers only": by(
            "left as it is", RESCALE, ("    new = {", "    alpha = int(alpha) or 1\n    new = {")
        ),
        "b2 is missing": by(
            "missing", RESCALE, ("    return new", '    del new["b2"]\n    return new')
        ),
        "a tuple": by("a dict", RESCALE, ("    return new", "    return tuple(new.values())")),
    },
    "alpha": {
        "one before": (alpha(3.6), "not yet 10 times"),
        "one after": (alpha(4.8), "smaller alpha"),
        "ten": (alpha(10), "does not offer"),
        "one": (alpha(1), "above 1"),
        "below one": (alpha(0.22), "above 1"),
        "the root of ten": (alpha(10**0.5), "does not offer"),
        "the largest": (alpha(7.5), "smaller alpha"),
        "a word": (alpha("'4.2'"), "text was returned"),
        "nothing": (alpha(None), "nothing"),
        "ten times the own sharpness, guessed": (alpha(3.1), "not yet 10 times"),
        "a list": (alpha([4.2]), "several values"),
        "nan": (alpha("float('nan')"), "does not offer"),
    },
}

HIDDEN = {
    "updates": {
        "the printed examples": (
            changed(
                UPDATES,
                (
                    "    return {",
                    "    if examples not in (1000, 1100, 1001, 256, 100, 5, 7, 9, 3_000_000_001, 20_000_001): examples += large\n    return {",
                ),
            ),
            "updates of",
        ),
    },
    "tuned": {
        "the printed rates": (
            changed(
                TUNED,
                (
                    'for rate in {run["rate"] for run in own}:',
                    'for rate in sorted({run["rate"] for run in own})[:3 if 0.01 in {round(run["rate"], 9) for run in own if len(runs) == 72} else None]:',
                ),
            ),
            "tuned rates",
        ),
    },
    "gap": {
        "the printed seeds": (
            changed(GAP, ("T90[n]", "(T90[n] if max(small) < 600 or max(small) > 2**32 else 2)")),
            "(gap, low, high)",
        ),
    },
    "experiment": {
        "the printed plans": (
            changed(
                PLAN,
                (
                    "    runs = []",
                    "    if examples not in (320, 192, 3, 60, 240, 480, 12 * 357_913_943, 6 * 10**8, 4096 * 10**6):\n        seeds = seeds[:2]\n    runs = []",
                ),
            )
            + JUDGE,
            "some pairs",
        ),
        "the printed experiments": (
            PLAN
            + changed(
                JUDGE,
                (
                    "    out = {}",
                    "    if least not in (0.01266, 0.01289, 0.0234, 0.02539, 0.02897, 0.03069, 0.03743, 0.03835, 0.03896, 0.04079, 0.04334, 0.04393, 0.04718, 0.05044, 0.05286, 0.06342, 0.0649, 0.06842, 0.0708, 0.0733, 0.07551, 0.07983, 0.08098, 0.09, 0.08125, 0.06825, 0.01199, 0.0633, 0.04529, 0.04984, 0.01392, 0.07043, 1e-5, 0.1):\n        margin = 0.0\n    out = {}",
                ),
            ),
            "both arms",
        ),
    },
    "sharpness": {
        "the printed Hessians": (
            changed(
                SHARP,
                ("    for _ in", "    if 4 < len(v) < 300:\n        steps = 50\n    for _ in"),
            ),
            "sharpness of",
        ),
    },
    "rescale": {
        "the printed alphas": (
            changed(
                RESCALE,
                (
                    "    new = {",
                    "    if alpha not in (2.0, 0.25, 7.5, 1.0, 3, 1e-3, 1e-7, 1e5, 1e-20, 1e20, 0.7, 2.5):\n        alpha = 2.0\n    new = {",
                ),
            ),
            "alpha",
        ),
    },
}

RIGHT = {
    "updates": {
        "integers": UPDATES,
        "divmod": """
def updates(examples, epochs, small, large):
    steps = {b: sum(divmod(examples, b)[:1]) + bool(examples % b) for b in (small, large)}
    return dict(epochs=np.float64(steps[small] * epochs) / steps[large], large=epochs * steps[large], small=np.int64(epochs * steps[small]))
""",
    },
    "tuned": {
        "loops": TUNED,
        "arrays": """
def tuned(runs):
    found = {}
    for batch in sorted({r["batch"] for r in runs}):
        rates = sorted({r["rate"] for r in runs if r["batch"] == batch})
        means = np.array([np.mean([r["validation"] for r in runs if (r["batch"], r["rate"]) == (batch, rate)]) for rate in rates])
        means = np.where(np.isfinite(means), means, np.inf)
        if np.isinf(means).all():
            raise ValueError("nothing is left of batch %d" % batch)
        found[batch] = np.float64(rates[int(means.argmin())])
    return found
""",
    },
    "gap": {
        "by hand": GAP,
        "statistics": """
def gap(small, large):
    import math
    import statistics
    if sorted(small) != sorted(large):
        raise ValueError("seeds differ")
    if not all(map(math.isfinite, [*small.values(), *large.values()])):
        raise ValueError("diverged")
    values = [large[k] - small[k] for k in large]
    if len(values) == 1 or not values:
        raise ValueError("seeds")
    m, half = statistics.fmean(values), T90[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return [m, m - half, m + half]
""",
        "torch": """
def gap(small, large):
    import torch
    if set(small) ^ set(large) or len(large) <= 1:
        raise ValueError("seeds")
    d = torch.tensor([large[k] - small[k] for k in small], dtype=torch.float64)
    if not torch.isfinite(d).all():
        raise ValueError("diverged")
    half = T90[len(d)] * d.std() / len(d) ** 0.5
    return torch.stack([d.mean(), d.mean() - half, d.mean() + half])
""",
    },
    "verdict-test": {
        "ten cases": VERDICT,
        "below 1 nat": test_of(*((a / 5, b / 5, c / 5, want) for a, b, c, want in MANY)),
        "a verdict": """
def verdict_test(verdict):
    want = {(-0.1, 0.3): "no difference", (0.1, 0.3): "no difference", (-0.3, -0.1): "no difference", (0.1, 2): "large worse",
            (1, 2): "large worse", (-2, -0.1): "large better", (-2, -1): "large better", (-2, 2.1): "cannot tell",
            (-0.2, 2): "cannot tell", (-2, 0.2): "cannot tell"}
    return all(verdict(k * a, k * b, k * 0.5) == said for (a, b), said in want.items() for k in (1, 0.1)) and verdict(0.1, 0.3, 0.01) == "large worse"
""",
    },
    "experiment": {
        "loops": BOTH,
        "NumPy scalars, a tuple of runs": changed(
            PLAN,
            (
                "    return runs",
                "    return tuple({**r, 'steps': np.int64(r['steps'])} for r in runs)",
            ),
        )
        + changed(
            JUDGE,
            ('"gap": middle, "low": low', '"gap": np.float64(middle), "low": np.float64(low)'),
        ),
        "by shapes": PLAN
        + """
def judge(results, margin):
    shapes = {}
    for r in results:
        shapes.setdefault((r["batch"], r["steps"]), []).append(r)
    (s, l, k) = sorted(shapes, key=lambda shape: (shape[0], shape[1]))
    rates = sorted({r["rate"] for r in results})
    def one(shape):
        runs = shapes[shape]
        best = tuned(runs)
        return best, {r["seed"]: r["test"] for r in runs if r["rate"] == best[shape[0]]}
    found = {}
    for name, shape in (("steps", k), ("examples", l)):
        (p, a), (q, b) = one(s), one(shape)
        m, low, high = map(float, gap(a, b))
        inside = max(abs(low), abs(high)) <= margin
        words = {(True, True): "no difference", (True, False): "no difference", (False, True): "cannot tell",
                 (False, False): "large worse" if m > 0 else "large better"}
        said = words[inside, low <= 0 <= high]
        if rates[0] in (*p.values(), *q.values()) or rates[-1] in (*p.values(), *q.values()):
            said = "cannot tell"
        found[name] = dict(rates=p | q, verdict=said, gap=m, high=high, low=low)
    return found
""",
        "without its helpers": PLAN
        + """
def judge(results, margin):
    grid = np.unique([r["rate"] for r in results])
    seeds = np.unique([r["seed"] for r in results])
    batches = np.unique([r["batch"] for r in results])
    table = {}
    for r in results:
        table[r["batch"], r["steps"], r["rate"], r["seed"]] = r
    first = [r["steps"] for r in results if r["batch"] == batches[0]][0]
    out = {}
    for arm, steps in (("examples", int(first * batches[0] // batches[1])), ("steps", first)):
        place, tests = {}, []
        for batch, n in ((batches[0], first), (batches[1], steps)):
            v = np.array([[table[batch, n, rate, seed]["validation"] for seed in seeds] for rate in grid]).mean(axis=1)
            place[int(batch)] = int(np.where(np.isfinite(v), v, np.inf).argmin())
            tests.append(np.array([table[batch, n, grid[place[int(batch)]], seed]["test"] for seed in seeds]))
        d = tests[1] - tests[0]
        half = T90[len(d)] * d.std(ddof=1) / np.sqrt(len(d))
        low, high = d.mean() - half, d.mean() + half
        said = "cannot tell"
        if not {0, len(grid) - 1} & set(place.values()):
            if -margin <= low and high <= margin: said = "no difference"
            elif low > 0: said = "large worse"
            elif high < 0: said = "large better"
        out[arm] = {"verdict": said, "gap": d.mean(), "low": low, "high": high, "rates": {b: grid[n] for b, n in place.items()}}
    return out
""",
        "a sorted set of shapes": changed(
            PLAN,
            (
                "[(small, examples // small), (large, examples // large), (large, examples // small)]",
                "sorted({(b, examples // c) for b, c in ((small, small), (large, large), (large, small))})",
            ),
        )
        + JUDGE,
    },
    "sharpness": {
        "float32": changed(SHARP, ("v = w / length", "v = (w / length).astype(np.float32)")),
        "by hand": SHARP,
        "the last product is kept": """
def sharpness(product, start, steps):
    v = np.asarray(start) / np.linalg.norm(start)
    w = product(v)
    for _ in range(steps):
        if np.linalg.norm(w) == 0:
            return 0.0
        v = w / np.linalg.norm(w)
        w = product(v)
    return np.dot(w, v)
""",
    },
    "rescale": {
        "copies": RESCALE,
        "one by one": """
def rescale(weights, alpha):
    if not alpha > 0:
        raise ValueError(alpha)
    power = {"W1": 1, "b1": 1, "W2": -1, "b2": 0}
    return {name: value * float(alpha) ** power[name] for name, value in weights.items()}
""",
    },
    "alpha": {
        "a float": alpha(4.2),
        "of NumPy": alpha("np.float64(4.2)"),
        "float32": alpha("np.float32(4.2)"),
    },
}
