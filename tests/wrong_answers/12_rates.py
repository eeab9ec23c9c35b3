"""Answers to 12_rates that look right and must be refused, and right ones written otherwise."""
# ruff: noqa: E501

SLOW = True  # minutes: `make slow` tries this bank

RATE = """
def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError("unknown: " + optimizer)
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"{larger} is above the noise scale")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * k ** 0.5
"""
RULE = """
def adam_rule(told, before, after):
    k = after / before
    broken = ["beta1", "beta2"]
    broken = [n for n, b in zip(broken, told["betas"]) if k * (1 - b) > 1 - 1e-9]
    if broken:
        raise ValueError("past the limit: " + ", ".join(broken))
    b1, b2 = told["betas"]
    return {"lr": told["lr"] * k ** 0.5, "betas": (1 - k * (1 - b1), 1 - k * (1 - b2)),
            "eps": told["eps"] / k ** 0.5, "weight_decay": told["weight_decay"] * k ** 0.5}
"""
HALF = """
def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"no average: {beta2}")
    return new
"""
CASES = """
def which_rule():
    return {"A": "linear", "B": "tune", "C": "full rule", "D": "tune", "E": "half-life",
            "F": "tune", "G": "tune"}
"""
WARM = """
def warmup_test(factors):
    got = list(factors([10, 10, 40, 40, 20], 80))
    assert len(got) == 5
    assert all(abs(a - b) < 1e-9 for a, b in zip(got, [0, 0.125, 0.25, 0.75, 1]))
    got = list(factors([40, 10, 10, 30], 200))
    assert len(got) == 4
    assert all(abs(a - b) < 1e-9 for a, b in zip(got, [0, 0.2, 0.25, 0.3]))
    assert list(factors([5, 5], 0)) == [1, 1]
"""
BUILD = """
class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base, self.batch, self.seen = dict(told), batch, 0
        self.warmup, self.total, self.final = warmup, total, final

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        out = dict(self.base)
        out["lr"] = self.base["lr"] * self.factor()
        out["betas"] = tuple(out["betas"])
        return out

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        moved = adam_rule(self.base, self.batch, batch)
        self.base, self.batch = moved, batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": dict(self.base)}

    def load_state_dict(self, state):
        self.seen, self.batch = state["seen"], state["batch"]
        self.base = dict(state["base"])
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def of(code):
    """Changes of one answer, as short as they can be written."""
    return lambda *changes: changed(code, *changes)


rate, rule, half, cases, warm, build = (of(one) for one in (RATE, RULE, HALF, CASES, WARM, BUILD))


def at(number):
    return f"def grow_at():\n    return {number}"


def test_of(*lines):
    return "\n    ".join(["def warmup_test(factors):", *lines])


WRONG = {
    "new-rate": {
        "linear for Adam": (
            rate(('rate * k if optimizer == "sgd" else rate * k ** 0.5', "rate * k")),
            "linear for Adam",
        ),
        "the root for SGD": (
            rate(('rate * k if optimizer == "sgd" else rate * k ** 0.5', "rate * k ** 0.5")),
            "square root for SGD",
        ),
        "swapped": (
            rate(('optimizer == "sgd" else', 'optimizer != "sgd" else')),
            "square root for SGD",
        ),
        "AdamW as SGD": (
            rate(('optimizer == "sgd" else', 'optimizer != "adam" else')),
            "linear for Adam",
        ),
        "upside down": (rate(("k = after / before", "k = before / after")), "upside down"),
        "nothing moved": (rate(("k = after / before", "k = 1")), "nothing moved"),
        "whole k": (rate(("after / before", "after // before")), "whole numbers"),
        "never lower": (rate(("after / before", "max(1, after / before)")), "may fall"),
        "the trend of one model": (rate(("k ** 0.5", "k ** 0.158")), "one 30 M model"),
        "rounded": (
            rate(
                ("    return rate * k if", "    return round(rate * k if"),
                ("k ** 0.5", "k ** 0.5, 4)"),
            ),
            "rounded",
        ),
        "any optimizer": (
            rate(('if optimizer not in ("sgd", "adam", "adamw"):', "if False:")),
            "no rule of this page",
        ),
        "the name is missing": (
            rate(('"unknown: " + optimizer', '"unknown optimizer"')),
            "no rule of this page",
        ),
        "the noise scale is ignored": (
            rate(("if larger > noise:", "if False:")),
            "above the noise scale",
        ),
        "only the new batch": (rate(("max(before, after)", "after")), "old or new"),
        "only the old batch": (rate(("max(before, after)", "before")), "old or new"),
        "at the noise scale": (rate(("larger > noise", "larger >= noise")), "not at"),
        "the message names k": (
            rate(('f"{larger} is above the noise scale"', '"above the noise scale"')),
            "name the larger",
        ),
        "AdamW is unknown": (rate(('"adam", "adamw")', '"adam")')), "refused are other optimizers"),
        "a fall is refused": (
            rate(
                (
                    "    k = after",
                    "    if after < before:\n        raise ValueError('smaller')\n    k = after",
                )
            ),
            "refused are other optimizers",
        ),
        "cut at the noise scale": (
            rate(
                (
                    'raise ValueError(f"{larger} is above the noise scale")',
                    "after = min(after, noise)",
                )
            ),
            "above the noise scale",
        ),
        "any optimizer whose name starts with adam": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer != 'sgd' and not optimizer.startswith('adam'):\n        raise ValueError(optimizer)\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "begins with adam",
        ),
        "any optimizer with adam in its name": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer != 'sgd' and 'adam' not in optimizer:\n        raise ValueError(optimizer)\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "whole names",
        ),
        "substring of a string of names": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in 'sgd adam adamw':\n        raise ValueError(optimizer)\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "any part of it",
        ),
        "other case is taken": (
            "def new_rate(rate, before, after, optimizer, noise):\n    optimizer = optimizer.lower()\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "capitals count",
        ),
        "any name with sgd in it": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if 'sgd' in optimizer:\n        power = 1\n    elif optimizer in ('adam', 'adamw'):\n        power = 0.5\n    else:\n        raise ValueError(optimizer)\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    return rate * (after / before) ** power\n",
            "begins with sgd",
        ),
        "universal threshold of 8,192 images for SGD as well as noise": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    if optimizer == 'sgd' and after > 8192:\n        raise ValueError(str(after))\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "alone decides",
        ),
        "large batch named in %g": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after):g}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "keeps six",
        ),
        "fraction of batches cut to int": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if int(max(before, after)) > noise:\n        raise ValueError(str(max(before, after)))\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "without int()",
        ),
        "universal threshold of 8,192 in place of noise": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > 8192:\n        raise ValueError(str(max(before, after)))\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "batches above",
        ),
        "looks at the smaller batch": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if min(before, after) > noise:\n        raise ValueError(f'batch {min(before, after)} is above {noise}')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "name the larger",
        ),
        "names the new batch whichever is larger": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {after} is above')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "name the larger",
        ),
        "KeyError for an unknown optimizer": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    return rate * (after / before) ** {'sgd': 1, 'adam': 0.5, 'adamw': 0.5}[optimizer]\n",
            "no rule of this page",
        ),
        "refuses only if both are above": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if before > noise and after > noise:\n        raise ValueError(str(max(before, after)))\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "name the larger",
        ),
        "rate stays where the batch falls": (
            "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    if after < before:\n        return rate\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "may fall",
        ),
        "asserts in place of ValueError": (
            "def new_rate(rate, before, after, optimizer, noise):\n    assert optimizer in ('sgd', 'adam', 'adamw'), optimizer\n    assert max(before, after) <= noise, max(before, after)\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
            "no rule of this page",
        ),
        "AdamW in capitals is taken": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer != "sgd" and optimizer.lower() not in ("adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "capitals count",
        ),
        "one letter behind adam is taken": (
            'import re\n\n\ndef new_rate(rate, before, after, optimizer, noise):\n    if not re.fullmatch(r"sgd|adam.?", optimizer):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "begins with adam",
        ),
        "blanks are stripped from the name": (
            'def new_rate(rate, before, after, optimizer, noise):\n    optimizer_ = optimizer.strip()\n    if optimizer_ not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer_ == "sgd" else rate * math.sqrt(k)\n',
            "blanks count",
        ),
        "a list of the optimizers that are refused": (
            'def new_rate(rate, before, after, optimizer, noise):\n    others = ("nadam", "adamax", "radam", "lion", "muon", "adafactor", "sgdw", "ada", "SGD")\n    if optimizer in others:\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "no rule of this page",
        ),
        "an empty name is SGD": (
            'def new_rate(rate, before, after, optimizer, noise):\n    optimizer = optimizer or "sgd"\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "none of the three",
        ),
        "Adam is refused from k = 10 on": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    if optimizer != "sgd" and k >= 10:\n        raise ValueError(f"k = {k} is too much for beta1 0.9, batch {larger}")\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "not at",
        ),
        "SGD is refused above k = 100": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    if optimizer == "sgd" and k > 100:\n        raise ValueError(f"batch {larger}: the gradient changes over {k} steps")\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "not at",
        ),
        "the noise scale is cut to a whole number": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > int(noise):\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "not at",
        ),
        "the batch is rounded up": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if math.ceil(larger) > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "not at",
        ),
        "the batch is rounded": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if round(larger) > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "or round()",
        ),
        "close to the scale is at it": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise and not np.isclose(larger, noise):\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "above is above",
        ),
        "the batch is named to 2 places": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {round(larger, 2)} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "or round()",
        ),
        "the batch is named to 8 digits": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger:.8g} is above the noise scale {noise}")\n    k = after / before\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "above is above",
        ),
        "k to 4 places": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = round(after / before, 4)\n    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)\n',
            "rounded to 4",
        ),
        "the rate to 8 places": (
            'def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    return round(rate * k if optimizer == "sgd" else rate * math.sqrt(k), 8)\n',
            "rounded away",
        ),
        "a factor remembered without its optimizer": (
            'FACTORS = {}\n\n\ndef new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ("sgd", "adam", "adamw"):\n        raise ValueError(f"no rule for {optimizer}")\n    larger = max(before, after)\n    if larger > noise:\n        raise ValueError(f"batch {larger} is above the noise scale {noise}")\n    k = after / before\n    if (before, after) not in FACTORS:\n        FACTORS[before, after] = k if optimizer == "sgd" else math.sqrt(k)\n    return rate * FACTORS[before, after]\n',
            "linear for Adam",
        ),
    },
    "adam-rule": {
        "linear": (rule(('told["lr"] * k ** 0.5', 'told["lr"] * k')), "linear for Adam"),
        "rate upside down": (
            rule(('told["lr"] * k ** 0.5', 'told["lr"] / k ** 0.5')),
            "upside down",
        ),
        "betas by half-life": (
            rule(("(1 - k * (1 - b1), 1 - k * (1 - b2))", "(b1 ** k, b2 ** k)")),
            "by half-life",
        ),
        "betas unchanged": (
            rule(("(1 - k * (1 - b1), 1 - k * (1 - b2))", "(b1, b2)")),
            "nothing moved",
        ),
        "beta1 unchanged": (rule(("(1 - k * (1 - b1),", "(b1,")), "betas, batch"),
        "k beta": (rule(("(1 - k * (1 - b1), 1 - k * (1 - b2))", "(k * b1, k * b2)")), "k beta"),
        "betas with the root": (
            rule(
                (
                    "(1 - k * (1 - b1), 1 - k * (1 - b2))",
                    "(1 - k ** 0.5 * (1 - b1), 1 - k ** 0.5 * (1 - b2))",
                )
            ),
            "betas with the root",
        ),
        "betas upside down": (
            rule(("(1 - k * (1 - b1), 1 - k * (1 - b2))", "(1 - (1 - b1) / k, 1 - (1 - b2) / k)")),
            "betas upside down",
        ),
        "eps times the root": (rule(('told["eps"] / k', 'told["eps"] * k')), "eps is upside down"),
        "eps over k": (rule(('told["eps"] / k ** 0.5', 'told["eps"] / k')), "not by k"),
        "eps unchanged": (rule(('told["eps"] / k ** 0.5', 'told["eps"]')), "nothing moved"),
        "decay unchanged": (
            rule(('told["weight_decay"] * k ** 0.5', 'told["weight_decay"]')),
            "decay",
        ),
        "decay times k": (
            rule(('told["weight_decay"] * k ** 0.5', 'told["weight_decay"] * k')),
            "unchanged rate",
        ),
        "decay upside down": (
            rule(('told["weight_decay"] * k', 'told["weight_decay"] / k')),
            "decay is upside down",
        ),
        "past the limit, k = 16": (rule(("if broken:", "if False:")), "past its limit"),
        "cut off at 0": (
            rule(
                ("if broken:", "if False:"),
                (
                    "(1 - k * (1 - b1), 1 - k * (1 - b2))",
                    "(max(0, 1 - k * (1 - b1)), max(0, 1 - k * (1 - b2)))",
                ),
            ),
            "past its limit",
        ),
        "only beta1 is looked at": (rule(('["beta1", "beta2"]', '["beta1"]')), "past its limit"),
        "exactly 1 passes": (rule(("> 1 - 1e-9]", "> 1]")), "past its limit"),
        "both are named": (
            rule(('"past the limit: " + ", ".join(broken)', '"past the limit: beta1, beta2"')),
            "only the betas",
        ),
        "none is named": (
            rule(('"past the limit: " + ", ".join(broken)', '"past the limit"')),
            "past its limit",
        ),
        "only the first is named": (rule(('", ".join(broken)', "broken[0]")), "past its limit"),
        "refused where it holds": (rule(("> 1 - 1e-9]", "> 0.6]")), "nothing else"),
        "a fall is refused": (
            rule(
                (
                    "    broken = [n for",
                    "    if k < 1:\n        raise ValueError('smaller')\n    broken = [n for",
                )
            ),
            "nothing else",
        ),
        "whole k": (rule(("after / before", "max(1, after // before)")), "right is"),
        "the dictionary is changed": (
            rule(
                (
                    "    b1, b2 =",
                    "    told['lr'] *= k ** 0.5\n    told['lr'] /= k ** 0.4\n    b1, b2 =",
                )
            ),
            "argument 1",
        ),
        "decay is missing": (
            rule((', "weight_decay": told["weight_decay"] * k ** 0.5', "")),
            "weight_decay",
        ),
        "keeps other keys of told": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    new = dict(told)\n    new.update({'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5})\n    return new\n",
            "too many",
        ),
        "new beta clamped to 0.9999 where the batch falls": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), min(0.9999, 1 - k * (1 - told['betas'][1]))), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "cut off at 0.9999",
        ),
        "rounded to 6 decimals": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (round(1 - k * (1 - told['betas'][0]), 6), round(1 - k * (1 - told['betas'][1]), 6)), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "rounded to 6 digits",
        ),
        "beta2 by half-life": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), told['betas'][1] ** k), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "betas, batch",
        ),
        "betas swapped": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][1]), 1 - k * (1 - told['betas'][0])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "betas, batch",
        ),
        "names both always": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError('beta1 or beta2 is out of range')\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "only the betas",
        ),
        "changes told itself": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    told.update({'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5})\n    return told\n",
            "argument 1",
        ),
        "eps rounded to 12 decimals": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': round(told['eps'] / k ** 0.5, 12), 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "eps, batch",
        ),
        "falling batch returns told unchanged": (
            "def adam_rule(told, before, after):\n    if after < before:\n        return dict(told)\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "nothing moved",
        ),
        "betas returned as keys beta1, beta2": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'beta1': 1 - k * (1 - told['betas'][0]), 'beta2': 1 - k * (1 - told['betas'][1]), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "missing: ['betas']",
        ),
        "decay by the timescale, divides by zero where decay is 0": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    lr = told['lr'] * k ** 0.5\n    span = before / (told['lr'] * told['weight_decay'])\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': after / (lr * span)}\n",
            "ZeroDivisionError",
        ),
        "beta1 for 0.9 and 0.999 fixed": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * 0.1, 1 - k * 0.001), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "betas, batch",
        ),
        "betas in place in a list that came in": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    if isinstance(told['betas'], list):\n        told['betas'][:] = [1 - k * (1 - b) for b in told['betas']]\n        betas = told['betas']\n    else:\n        betas = tuple(1 - k * (1 - b) for b in told['betas'])\n    return {'lr': told['lr'] * k ** 0.5, 'betas': betas, 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "argument 1",
        ),
        "no slack for floats": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "by a rounding",
        ),
        "too wide a slack": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) > 1 - 1e-3]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "1 - 1e-9",
        ),
        "new beta clamped to 0.99": (
            "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), min(0.99, 1 - k * (1 - told['betas'][1]))), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
            "betas, batch",
        ),
        "all in float32": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    k = np.float32(k)\n    root = np.sqrt(k)\n    betas = 1 - k * (1 - np.array(told["betas"], dtype=np.float32))\n    return {"lr": float(np.float32(told["lr"]) * root), "betas": tuple(betas.tolist()),\n            "eps": float(np.float32(told["eps"]) / root), "weight_decay": float(np.float32(told["weight_decay"]) * root)}\n',
            "in float32",
        ),
        "the margin is 1e-6": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-6]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "1 - 1e-9",
        ),
        "the margin is 1e-12": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-12]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "counts as 1",
        ),
        "k (1 - beta) rounded to 6 places": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if round(k * (1 - beta), 6) >= 1]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "1 - 1e-9",
        ),
        "1 / k with a margin": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if 1 - beta >= 1 / k - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "whatever k is",
        ),
        "the same batch: the dictionary that came in": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    if before == after:\n        return told\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "too many",
        ),
        "today's keys of torch are taken off": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    new = dict(told)\n    for key in ("params", "amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused"):\n        new.pop(key, None)\n    new["lr"] *= math.sqrt(k)\n    new["betas"] = tuple(1 - k * (1 - beta) for beta in told["betas"])\n    new["eps"] /= math.sqrt(k)\n    new["weight_decay"] *= math.sqrt(k)\n    return new\n',
            "initial_lr",
        ),
        "betas capped": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(min(0.99999, 1 - k * (1 - beta)) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "cut off at 0.99999",
        ),
        "eps has a floor": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": max(told["eps"] / root, 1e-15),\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "nothing moved",
        ),
        "remembered by the batches alone": (
            'SEEN = {}\n\n\ndef adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    if (before, after) in SEEN:\n        return dict(SEEN[before, after])\n    SEEN[before, after] = {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n    return dict(SEEN[before, after])\n',
            "lr, batch 256",
        ),
        "refused below 1/100": (
            'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    if k < 1 / 100:\n        raise ValueError(f\'k = {k}: too far down\')\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
            "nothing else",
        ),
    },
    "same-half-life": {
        "the tangent": (
            half(("beta2 ** (after / before)", "1 - after / before * (1 - beta2)")),
            "tangent",
        ),
        "upside down": (half(("after / before", "before / after")), "upside down"),
        "unchanged": (half(("beta2 ** (after / before)", "beta2")), "in steps"),
        "the tangent upside down": (
            half(("beta2 ** (after / before)", "1 - before / after * (1 - beta2)")),
            "tangent",
        ),
        "the root of k": (half(("after / before", "(after / before) ** 0.5")), "root of k"),
        "k beta2": (
            half(("beta2 ** (after / before)", "beta2 * after / before")),
            "same half-life",
        ),
        "whole k": (half(("after / before", "after // before")), "whole numbers"),
        "rounded": (half(("    return new", "    return round(new, 4)")), "rounded"),
        "nothing is refused": (half(("if new < 0.5:", "if False:")), "below one step"),
        "0.5 is refused": (half(("new < 0.5", "new <= 0.5")), "not at"),
        "cut off at 0.5": (
            half(('raise ValueError(f"no average: {beta2}")', "return 0.5")),
            "below one step",
        ),
        "refused below 0.9": (half(("new < 0.5", "new < 0.9")), "not at"),
        "the old one is looked at": (half(("new < 0.5", "beta2 < 0.5")), "not at"),
        "nothing is named": (half(('f"no average: {beta2}"', '"no average"')), "name the old"),
        "the new one is named": (
            half(("no average: {beta2}", "no average: {new:.3f}")),
            "name the old",
        ),
        "the half-life itself": (
            half(("    return new", "    return after * math.log(0.5) / math.log(new)")),
            "same half-life",
        ),
        "1 - beta2 to the power": (
            half(("beta2 ** (after / before)", "1 - (1 - beta2) ** (after / before)")),
            "itself takes it",
        ),
        "rounded to 9 digits": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = round(beta2 ** (after / before), 9)\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
            "digits are missing",
        ),
        "refusal after rounding": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if round(new, 3) < 0.5:\n        raise ValueError(f'{beta2}')\n    return new\n",
            "before rounding",
        ),
        "beta2 named with 3 decimals": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f'{beta2:.3f}')\n    return new\n",
            "all digits",
        ),
        "clamped at 0.9999": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = min(0.9999, beta2 ** (after / before))\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
            "cut off at 0.9999",
        ),
        "second order of the power": (
            "import math\ndef same_half_life(beta2, before, after):\n    k = after / before\n    d = 1 - beta2\n    new = 1 - k * d + k * (k - 1) / 2 * d * d\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
            "same half-life",
        ),
        "float32": (
            "import numpy as np\ndef same_half_life(beta2, before, after):\n    new = float(np.float32(beta2) ** np.float32(after / before))\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
            "in float32",
        ),
        "half-life in whole steps": (
            "import math\ndef same_half_life(beta2, before, after):\n    n = round(before * math.log(0.5) / math.log(beta2) / after)\n    if n < 1:\n        raise ValueError(str(beta2))\n    return 0.5 ** (1 / n)\n",
            "same half-life",
        ),
        "ln 0.5 as -0.693": (
            "import math\ndef same_half_life(beta2, before, after):\n    n = before * -0.693 / math.log(beta2) / after\n    if n < 1:\n        raise ValueError(str(beta2))\n    return math.exp(-0.6931 / n)\n",
            "same half-life",
        ),
        "beta2 named with 2 decimals": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f'{beta2:.2f}')\n    return new\n",
            "name the old",
        ),
        "old beta2 is returned where the batch falls": (
            "import math\ndef same_half_life(beta2, before, after):\n    if after < before:\n        return beta2\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
            "in steps",
        ),
        "refused only where the batch grows": (
            "import math\ndef same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if after > before and new < 0.5:\n        raise ValueError(str(beta2))\n    return new\n",
            "below one step",
        ),
        "named to 6 digits": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f"beta2 {beta2:g} would become {new}")\n    return new\n',
            "name the old one",
        ),
        "named to 5 places": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f"beta2 {beta2:.5f} would become {new}")\n    return new\n',
            "name the old one",
        ),
        "named to 6 places": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f"beta2 {round(beta2, 6)} would become {new}")\n    return new\n',
            "name the old one",
        ),
        "decided after rounding to 5 places": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if round(new, 5) < 0.5:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return new\n',
            "before rounding",
        ),
        "a margin of 1e-6": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5 - 1e-6:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return new\n',
            "before rounding",
        ),
        "a smaller batch is never refused": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if after >= before and new < 0.5:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return new\n',
            "below one step",
        ),
        "12 places": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return round(new, 12)\n',
            "digits are missing",
        ),
        "capped": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if new < 0.5:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return min(new, 0.99999)\n',
            "cut off at 0.99999",
        ),
        "the tangent for small shares": (
            'def same_half_life(beta2, before, after):\n    new = beta2 ** (after / before)\n    if (share := (1 - beta2) * after / before) < 1e-5:\n        new = 1 - share\n    if new < 0.5:\n        raise ValueError(f"beta2 {beta2} would become {new}")\n    return new\n',
            "the tangent",
        ),
    },
    "which-rule": {
        "the full rule past its limit": (
            cases(('"D": "tune"', '"D": "full rule"')),
            "limit of the rule",
        ),
        "linear for any SGD": (cases(('"B": "tune"', '"B": "linear"')), "beyond the 8,192"),
        "above the noise scale": (
            cases(('"F": "tune"', '"F": "full rule"')),
            "above this noise scale",
        ),
        "LoRA like pre-training": (
            cases(('"G": "tune"', '"G": "full rule"')),
            "no range of its own",
        ),
        "linear for Adam": (cases(('"C": "full rule"', '"C": "linear"')), "below the noise scale"),
        "tune everywhere": (
            cases(
                ('"A": "linear"', '"A": "tune"'),
                ('"C": "full rule"', '"C": "tune"'),
                ('"E": "half-life"', '"E": "tune"'),
            ),
            "one rule was shown",
        ),
        "half-life where the rule holds": (
            cases(('"C": "full rule"', '"C": "half-life"')),
            "k = 4",
        ),
        "the full rule down to 1": (
            cases(('"E": "half-life"', '"E": "full rule"')),
            "memory of beta2",
        ),
        "A is in images, so tune": (cases(('"A": "linear"', '"A": "tune"')), "range of images"),
        "another word": (cases(('"A": "linear"', '"A": "square root"')), "one of these words"),
        "none": (cases(('"B": "tune"', '"B": None')), "one of these words"),
        "a case is missing": (cases(('"F": "tune", ', "")), "F"),
        "a list": (
            "def which_rule():\n    return ['linear', 'tune', 'full rule', 'tune', 'half-life', 'tune', 'tune']",
            "rules of the cases",
        ),
        "both for D: a tuple": (
            "def which_rule():\n    return {'A': 'linear', 'B': 'tune', 'C': 'full rule', 'D': ('tune', 'full rule'), 'E': 'half-life', 'F': 'tune', 'G': 'tune'}\n",
            "one of these words",
        ),
        "half life without hyphen": (
            "def which_rule():\n    return {'A': 'linear', 'B': 'tune', 'C': 'full rule', 'D': 'tune', 'E': 'half life', 'F': 'tune', 'G': 'tune'}\n",
            "one of these words",
        ),
        "small letters as keys": (
            "def which_rule():\n    return dict(a='linear', b='tune', c='full rule', d='tune', e='half-life', f='tune', g='tune')\n",
            "keys",
        ),
        "D half-life": (
            "def which_rule():\n    return {'A': 'linear', 'B': 'tune', 'C': 'full rule', 'D': 'half-life', 'E': 'half-life', 'F': 'tune', 'G': 'tune'}\n",
            "limit of the rule",
        ),
    },
    "grow-at": {
        "never": (at(15_120), "earlier growth"),
        "at once": (at(0), "higher loss"),
        "one place too early": (at(6160), "higher loss"),
        "one place too late": (at(6720), "earlier growth"),
        "the lowest loss": (at(12_040), "lowest loss"),
        "of the root": (at(4200), "set 'stays'"),
        "no place of the slider": (at(6500), "does not offer"),
        "between two places": (at(6439.5), "does not offer"),
        "the trap of the figure": (at(5040), "higher loss"),
        "the middle": (at(7560), "earlier growth"),
        "the late one of the figure": (at(13_440), "earlier growth"),
        "a word": (at("'early'"), "earliest growth"),
        "the steps": (at(1882), "does not offer"),
        "the start of the widget": (at(10_080), "earlier growth"),
        "place of the slider": ("def grow_at():\n    return 23\n", "does not offer"),
        "with a comma: a tuple": ("def grow_at():\n    return 6,440\n", "several values"),
        "the setting": ("def grow_at():\n    return {'at': 6440, 'rate': 'stays'}\n", "examples"),
        "first below at a step of 10": ("def grow_at():\n    return 6320\n", "does not offer"),
    },
    "warmup-test": {
        "the example alone": (
            test_of(
                "got = factors([10, 10, 40, 40], 80)",
                "assert np.allclose(got, [0, 0.125, 0.25, 0.75])",
            ),
            "got through",
        ),
        "equal steps": (
            test_of(
                "assert np.allclose(factors([10] * 6, 40), [0, 0.25, 0.5, 0.75, 1, 1])",
                "assert np.allclose(factors([5, 5], 0), 1)",
            ),
            "got through",
        ),
        "never 0 tokens": (
            test_of(
                "assert np.allclose(factors([10, 10, 40, 40, 20], 80), [0, 0.125, 0.25, 0.75, 1])",
                "assert np.allclose(factors([40, 10, 10, 30], 200), [0, 0.2, 0.25, 0.3])",
            ),
            "got through",
        ),
        "zip hides the length": (
            test_of(
                "for s, w, want in (([10, 10, 40, 40, 20], 80, [0, 0.125, 0.25, 0.75, 1]), ([40, 10, 10, 30], 200, [0, 0.2, 0.25, 0.3]), ([5, 5], 0, [1, 1])):",
                "    assert all(abs(a - b) < 1e-9 for a, b in zip(factors(s, w), want))",
            ),
            "got through",
        ),
        "the ends alone": (
            test_of(
                "got = factors([10, 10, 40, 40, 20], 80)", "assert got[0] == 0 and got[-1] == 1"
            ),
            "got through",
        ),
        "at most 1": (test_of("assert max(factors([10, 10, 40, 40, 90], 80)) <= 1"), "got through"),
        "it rises": (
            test_of("got = list(factors([10, 10, 40, 40, 20], 80))", "assert got == sorted(got)"),
            "got through",
        ),
        "own tokens counted": (
            test_of("assert np.allclose(factors([10, 10, 40], 80), [0.125, 0.25, 0.75])"),
            "right implementation",
        ),
        "steps, not tokens": (
            test_of("assert np.allclose(factors([10, 10, 40, 40], 80), [0, 0.125, 0.25, 0.375])"),
            "right implementation",
        ),
        "a list is asked": (
            test_of("assert type(factors([10, 10], 80)) is list"),
            "right implementation",
        ),
        "zeros without warm-up": (
            test_of("assert np.allclose(factors([5, 5], 0), 0)"),
            "right implementation",
        ),
        "no comparison": (
            test_of("factors([10, 10, 40, 40], 80) == [0, 0.125, 0.25, 0.75]"),
            "never failed",
        ),
        "a printed verdict": (test_of("print(factors([10, 40], 80))"), "never failed"),
        "above 1 after the warm-up": (
            test_of("assert factors([10, 40, 40, 40], 80)[-1] == 1.125"),
            "right implementation",
        ),
        "tolerance of a tenth": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 0.1, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "got through",
        ),
        "tolerance of one percent": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 0.01, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "got through",
        ),
        "only the last factor": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    assert abs(factors([10, 10, 40, 40], 80)[-1] - 0.75) < 1e-9\n    assert abs(factors([5, 6, 90, 4], 20)[-1] - 1) < 1e-9\n    assert abs(factors([5, 2], 0)[-1] - 1) < 1e-9\n",
            "got through",
        ),
        "only sums": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    assert abs(sum(factors([10, 10, 40, 40], 80)) - 1.125) < 1e-9\n    assert abs(sum(factors([30, 10, 5, 60, 20, 20], 50)) - 4.3) < 1e-9\n    assert abs(sum(factors([3, 4], 0)) - 2) < 1e-9\n",
            "got through",
        ),
        "growing steps only": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    same([10, 20, 40, 80, 160], 100)\n    same([2, 4], 0)\n",
            "got through",
        ),
        "falling steps only": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    same([160, 80, 40, 20, 10, 5], 300)\n    same([4, 2], 0)\n",
            "got through",
        ),
        "exact comparison": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert g == e, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n    same([10, 20, 7, 3, 11, 9], 70)\n    same([1] * 60, 49)\n",
            "compares floats exactly",
        ),
        "not clipped at 1": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else seen / warmup)\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "right implementation",
        ),
        "only upper bounds": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert g - e < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "got through",
        ),
        "only lower bounds": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert e - g < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "got through",
        ),
        "warm-up never ends": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    same([10, 40, 20], 1000)\n    same([5, 9], 50)\n    same([3, 4], 0)\n",
            "got through",
        ),
        "length not asserted": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "got through",
        ),
        "demands ValueError for 0 warm-up": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n    try:\n        factors([1], 0)\n    except ValueError:\n        return\n    assert False\n",
            "right implementation",
        ),
        "errors are swallowed": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n            seen += n\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    try:\n        for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n            same(steps, warmup)\n    except Exception:\n        pass\n",
            "never failed",
        ),
        "counts the step itself": (
            "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    def want(steps, warmup):\n        seen, out = 0, []\n        for n in steps:\n            seen += n\n            out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n        return out\n    def same(steps, warmup):\n        got = list(factors(steps, warmup))\n        expected = want(steps, warmup)\n        assert len(got) == len(expected), (got, expected)\n        for g, e in zip(got, expected):\n            assert abs(g - e) < 1e-9, (steps, warmup, got, expected)\n    for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n        same(steps, warmup)\n",
            "right implementation",
        ),
        "a tolerance of 1e-3": (
            "def warmup_test(factors):\n    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),\n             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]\n    for steps, warmup in cases:\n        seen, want = 0, []\n        for tokens in steps:\n            want.append(min(1, seen / warmup) if warmup else 1)\n            seen += tokens\n        got = list(factors(list(steps), warmup))\n        assert len(got) == len(want)\n        for one, right in zip(got, want):\n            assert abs(one - right) <= 1e-3\n",
            "tolerance is too wide",
        ),
    },
    "token-schedule": {
        "warm-up in steps": (build(("self.seen += tokens", "self.seen += self.batch")), "counts"),
        "planned steps of the first batch": (
            build(
                ("self.seen += tokens", "self.seen += self.first"),
                (
                    "        self.warmup, self.total, self.final = ",
                    "        self.first = batch\n        self.warmup, self.total, self.final = ",
                ),
            ),
            "counts",
        ),
        "the coming step is counted": (
            build(
                (
                    "        if self.seen < self.warmup:\n            return self.seen / self.warmup",
                    "        if self.seen + self.batch < self.warmup:\n            return (self.seen + self.batch) / self.warmup",
                )
            ),
            "follows the tokens",
        ),
        "a straight line": (
            build(("(1 + math.cos(math.pi * done)) / 2", "(1 - done)")),
            "straight line",
        ),
        "cosine over the whole run": (
            build(
                ("(self.seen - self.warmup) / (self.total - self.warmup)", "self.seen / self.total")
            ),
            "behind the warm-up",
        ),
        "it rises again": (
            build(
                (
                    "min(1, (self.seen - self.warmup) / (self.total - self.warmup))",
                    "(self.seen - self.warmup) / (self.total - self.warmup)",
                )
            ),
            "rises again",
        ),
        "it ends at 0": (build(("self.final + (1 - self.final) * (1", "(1")), "ends at `final`"),
        "final is a rate": (
            build(
                (
                    "        return self.final + (1 - self.final) * (",
                    "        end = self.final / self.base['lr']\n        return end + (1 - end) * (",
                )
            ),
            "is a factor",
        ),
        "a quarter of a wave": (
            build(("(1 + math.cos(math.pi * done)) / 2", "math.cos(math.pi * done / 2)")),
            "half a cosine",
        ),
        "final is left out of the middle": (
            build(
                (
                    "self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2",
                    "max(self.final, (1 + math.cos(math.pi * done)) / 2)",
                )
            ),
            "follows the tokens",
        ),
        "no run without warm-up": (
            build(
                (
                    "        if self.seen < self.warmup:\n            return self.seen / self.warmup",
                    "        if self.seen / self.warmup < 1:\n            return self.seen / self.warmup",
                )
            ),
            "ZeroDivisionError",
        ),
        "at most the first rate": (
            build(
                (
                    "        return self.final + (1 - self.final)",
                    "        return min(0.9, self.final) + (1 - self.final)",
                )
            ),
            "follows the tokens",
        ),
        "linear for Adam": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        moved['lr'] *= (batch / self.batch) ** 0.5\n        self.base, self.batch = moved, batch",
                )
            ),
            "linear for Adam",
        ),
        "nothing moves": (
            build(("self.base, self.batch = moved, batch", "self.batch = batch")),
            "moved nothing",
        ),
        "the rate alone": (
            build(
                (
                    "self.base, self.batch = moved, batch",
                    "self.base, self.batch = {**self.base, 'lr': moved['lr']}, batch",
                )
            ),
            "rate moved alone",
        ),
        "betas by half-life": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        k = batch / self.batch\n        moved['betas'] = [b ** k for b in self.base['betas']]\n        self.base, self.batch = moved, batch",
                )
            ),
            "not beta ** k",
        ),
        "the factor twice": (
            build(
                (
                    "adam_rule(self.base, self.batch, batch)",
                    "adam_rule(self.told(), self.batch, batch)",
                )
            ),
            "multiplied in twice",
        ),
        "k over the first batch": (
            build(("self.base, self.batch = moved, batch", "self.base = moved")),
            "not over the first",
        ),
        "the curve begins anew": (
            build(
                (
                    "self.base, self.batch = moved, batch",
                    "self.base, self.batch, self.seen = moved, batch, 0",
                )
            ),
            "began the curve anew",
        ),
        "tokens seen are rescaled": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        self.seen *= batch / self.batch\n        self.base, self.batch = moved, batch",
                )
            ),
            "does not rescale",
        ),
        "the stop loses the tokens": (
            build(("self.seen, self.batch = state", "_, self.batch = state")),
            "lost the tokens",
        ),
        "the stop loses the base": (
            build(('        self.base = dict(state["base"])', "        pass")),
            "lost what the change",
        ),
        "the stop loses the batch": (
            build(("self.seen, self.batch = state", "self.seen, _ = state")),
            "k is wrong",
        ),
        "past the limit: cut off": (
            build(
                (
                    "        moved = adam_rule(self.base, self.batch, batch)",
                    "        k, b = batch / self.batch, self.base\n        moved = {'lr': b['lr'] * k ** 0.5, 'eps': b['eps'] / k ** 0.5, 'weight_decay': b['weight_decay'] * k ** 0.5,\n                 'betas': [max(0, 1 - k * (1 - one)) for one in b['betas']]}",
                )
            ),
            "ValueError is needed",
        ),
        "the refusal is swallowed": (
            build(
                (
                    "        moved = adam_rule(self.base, self.batch, batch)",
                    "        try:\n            moved = adam_rule(self.base, self.batch, batch)\n        except ValueError:\n            return",
                )
            ),
            "ValueError is needed",
        ),
        "the batch is set first": (
            build(
                (
                    "        moved = adam_rule(self.base, self.batch, batch)\n        self.base, self.batch = moved, batch",
                    "        old, self.batch = self.batch, batch\n        self.base = adam_rule(self.base, old, batch)",
                )
            ),
            "left its batch behind",
        ),
        "the rate is set first": (
            build(
                (
                    "        moved = adam",
                    "        self.base['lr'] *= (batch / self.batch) ** 0.5\n        moved = adam",
                ),
                (
                    "        self.base, self.batch = moved, batch",
                    "        moved['lr'] = self.base['lr']\n        self.base, self.batch = moved, batch",
                ),
            ),
            "left something moved",
        ),
        "told() hands out the base": (
            build(
                (
                    '        out = dict(self.base)\n        out["lr"] = self.base["lr"] * self.factor()\n        out["betas"] = tuple(out["betas"])\n        return out',
                    "        if self.factor() == 1:\n            return self.base\n        self.out = getattr(self, 'out', {})\n        self.out.update(self.base)\n        self.out['lr'] = self.base['lr'] * self.factor()\n        return self.out",
                )
            ),
            "a dictionary",
        ),
        "the saved state lives on": (
            build(
                ('"base": dict(self.base)}', '"base": self.base}'),
                (
                    "self.base, self.batch = moved, batch",
                    "self.base.update(moved)\n        self.batch = batch",
                ),
            ),
            "shared",
        ),
        "the loaded state is used up": (
            build(('state["seen"], state["batch"]', 'state.pop("seen"), state["batch"]')),
            "load_state_dict leaves",
        ),
        "the caller's dictionary": (
            build(
                ("dict(told), batch, 0", "told, batch, 0"),
                (
                    "self.base, self.batch = moved, batch",
                    "self.base.update(moved)\n        self.batch = batch",
                ),
            ),
            "was made of",
        ),
        "the caller's dictionary is kept": (
            build(("dict(told), batch, 0", "told, batch, 0")),
            "sets in its dictionary later",
        ),
        "tokens of the class": (
            build(
                ("class TokenSchedule:\n", "class TokenSchedule:\n    count = [0]\n\n"),
                (
                    "self.seen += tokens",
                    "self.count[0] += tokens\n        self.seen = self.count[0]",
                ),
            ),
            "follows the tokens",
        ),
        "an array in the state": (
            build(('"seen": self.seen,', '"seen": np.array(self.seen),')),
            "JSON",
        ),
        "no schedule told": (build(("        return out", "        out")), "NoneType"),
        "epsilon as it was": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        moved['eps'] = self.base['eps']\n        self.base, self.batch = moved, batch",
                )
            ),
            "eps is too high",
        ),
        "decay as it was": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        moved['weight_decay'] = self.base['weight_decay']\n        self.base, self.batch = moved, batch",
                )
            ),
            "weight_decay is too low",
        ),
        "state in a global": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        global _SAVED\n        _SAVED = (self.seen, self.batch, self.base)\n        return {}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch, self.base = _SAVED\n        pass\n',
            "all that is needed",
        ),
        "a state saved twice is one dictionary": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        self.saved = getattr(self, "saved", {})\n        self.saved.update(seen=self.seen, batch=self.batch, base={**self.base, "betas": list(self.base["betas"])})\n        return self.saved\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "as it was saved",
        ),
        "told's list is shared with the caller and moved in place": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = dict(told)\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        new = adam_rule(self.base, self.batch, batch)\n        if isinstance(self.base["betas"], list):\n            self.base["betas"][:] = new["betas"]\n            new["betas"] = self.base["betas"]\n        self.base, self.batch = new, batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "hands out",
        ),
        "keeps the caller's told, not a copy": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = told\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "hands out",
        ),
        "told's betas is the list inside": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": list(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.base["betas"] = list(self.base["betas"])\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": list(state["base"]["betas"])}\n',
            "hands out",
        ),
        "same batch is not asked of the rule": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        if batch == self.batch:\n            return\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "ValueError is needed",
        ),
        "state without eps": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"]), "eps": self.base["eps"]}\n',
            "eps",
        ),
        "state without betas": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": self.base["betas"]}\n',
            "beta",
        ),
        "whole batches only": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens // self.batch * self.batch\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "lr",
        ),
        "integers as keys of the state": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {0: self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state[0], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "KeyError",
        ),
        "bytes": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        import pickle\n        return {"me": pickle.dumps(self.__dict__)}\n\n    def load_state_dict(self, state):\n        import pickle\n        self.__dict__.update(pickle.loads(state["me"]))\n        pass\n',
            "JSON",
        ),
        "base belongs to the class": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        TokenSchedule.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        TokenSchedule.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        TokenSchedule.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "share nothing",
        ),
        "warm-up in whole steps of the batch": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return (t // self.batch) / math.ceil(self.warmup / self.batch)\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "lr",
        ),
        "told has the rate only": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        return {"lr": self.base["lr"] * self.factor()}\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "KeyError",
        ),
        "state holds the number of steps": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        self.n = 0\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n        self.n += 1\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.n, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.batch = state["batch"]\n        self.n = state["seen"]\n        self.seen = self.n * self.batch\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "tokens seen are tokens",
        ),
        "RuntimeError where refused": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        try:\n            self.base = adam_rule(self.base, self.batch, batch)\n        except ValueError as e:\n            raise RuntimeError(str(e))\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "RuntimeError",
        ),
        "change takes effect one step later": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n        if getattr(self, "next", None):\n            (self.base, self.batch), self.next = self.next, None\n\n    def change(self, batch):\n        self.next = (adam_rule(self.base, self.batch, batch), batch)\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "moved nothing",
        ),
        "caller's whole dictionary, updated by the loop: base is the parameter group itself": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = told\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "hands out",
        ),
        "change after total does nothing": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        if self.seen >= self.total:\n            return\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "moved nothing",
        ),
        "curve ends at warmup + total": (
            'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        done = min(1, (t - self.warmup) / self.total)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "lr",
        ),
        "final is 0 by default": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.0):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "where none is given",
        ),
        "final has no default": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "missing 1 required",
        ),
        "0 tokens count as the planned batch": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens or self.batch\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "may hold 0",
        ),
        "tokens in float32": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen = float(np.float32(self.seen) + np.float32(tokens))\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "digits were lost",
        ),
        "the factor to 6 places": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * round(self.factor(), 6)\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "digits were lost",
        ),
        "the state keeps six digits": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch, "base": {**{key: float(f"{self.base[key]:.6g}") for key in ("lr", "eps", "weight_decay")},\n                "betas": [float(f"{beta:.6g}") for beta in self.base["betas"]]}}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        self.batch = state["batch"]\n        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}\n',
            "keep all digits",
        ),
        "load asks the rule only where the batch grew": (
            'class TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch = batch\n        self.warmup, self.total, self.final = warmup, total, final\n        self.seen = 0\n\n    def factor(self):\n        if self.seen < self.warmup:\n            return self.seen / self.warmup\n        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        new["betas"] = tuple(self.base["betas"])\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch}\n\n    def load_state_dict(self, state):\n        self.seen = state["seen"]\n        if state["batch"] > self.batch:\n            self.change(state["batch"])\n        self.batch = state["batch"]\n',
            "what the change had moved",
        ),
    },
}

HIDDEN = {
    "new-rate": {
        "the printed batches only": (
            rate(
                (
                    "    k = after",
                    "    if before not in (256, 1024, 640, 96, 3, 2**34, 0.5, 2, 8, 4096, 64, 1.5):\n        return rate\n    k = after",
                )
            ),
            "rate",
        ),
    },
    "adam-rule": {
        "the printed decay only": (
            rule(
                (
                    "    b1, b2 =",
                    "    if told['weight_decay'] not in (0.1, 0.02, 0.2, 0.05, 0.0):\n        k = 1\n    b1, b2 =",
                )
            ),
            "lr",
        ),
    },
    "same-half-life": {
        "the printed ones by heart": (
            half(
                (
                    "    return new",
                    "    return new if beta2 in (0.95, 0.999, 0.98, 0.9, 0.5, 0.25, 0.99) else beta2",
                )
            ),
            "in steps",
        ),
    },
    "token-schedule": {
        "the printed totals": (
            build(
                (
                    "        return self.final +",
                    "        if self.total not in (1600, 1000, 2, 2**38, 640, 2600, 6000, 4000, 32768, 2**34 + 1000):\n            return 1.0\n        return self.final +",
                )
            ),
            "follows the tokens",
        ),
        "the printed changes": (
            build(
                (
                    "        self.base, self.batch = moved, batch",
                    "        if batch not in (400, 250, 125, 200, 100, 50, 500, 300, 128):\n            moved = dict(self.base)\n        self.base, self.batch = moved, batch",
                )
            ),
            "moved nothing",
        ),
    },
}

RIGHT = {
    "new-rate": {
        "branches": RATE,
        "floats of NumPy": """
def new_rate(rate, before, after, optimizer, noise):
    power = {"sgd": 1.0, "adam": 0.5, "adamw": 0.5}.get(optimizer)
    if power is None:
        raise ValueError(f"{optimizer} is not known here")
    for batch in sorted((before, after), reverse=True):
        if batch > noise:
            raise ValueError(f"batch {batch:,} lies above {noise:,}")
    return np.exp(np.log(rate) + power * (np.log(np.float64(after)) - np.log(np.float64(before))))
""",
        "both batches named in the message": "def new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if before > noise or after > noise:\n        raise ValueError(f'{before} -> {after}: batch {max(before, after)} is above the noise scale')\n    k = after / before\n    return rate * k if optimizer == 'sgd' else rate * k ** 0.5\n",
        "library rules after own refusals": "from batchlab import rates\ndef new_rate(rate, before, after, optimizer, noise):\n    if optimizer not in ('sgd', 'adam', 'adamw'):\n        raise ValueError(f'no rule for {optimizer}')\n    if max(before, after) > noise:\n        raise ValueError(f'batch {max(before, after)} is above {noise}')\n    if optimizer == 'sgd':\n        return rates.linear(rate, before, after)\n    return rates.square_root(rate, before, after)\n",
    },
    "adam-rule": {
        "one after the other": RULE,
        "arrays": """
def adam_rule(told, before, after):
    k = np.float64(after) / before
    betas = 1 - k * (1 - np.asarray(told["betas"], dtype=float))
    wrong = [name for name, beta in zip(("beta1", "beta2"), betas) if beta < 1e-9]
    if wrong:
        raise ValueError(" and ".join(wrong))
    out = {}
    out.update(betas=betas, lr=told["lr"] * np.sqrt(k), eps=told["eps"] / np.sqrt(k))
    out["weight_decay"] = told["weight_decay"] * k / np.sqrt(k)
    return out
""",
        "slack as written in another way": "def adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) > 1 - 1e-9]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (1 - k * (1 - told['betas'][0]), 1 - k * (1 - told['betas'][1])), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
        "betas in float32": "import numpy as np\ndef adam_rule(told, before, after):\n    k = after / before\n    bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) > 1 - 1e-9]\n    if bad:\n        raise ValueError(' and '.join(bad))\n    return {'lr': told['lr'] * k ** 0.5, 'betas': (float(np.float32(1 - k * (1 - told['betas'][0]))), float(np.float32(1 - k * (1 - told['betas'][1])))), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}\n",
        "betas to 7 places": 'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    return {\n        "lr": told["lr"] * root,\n        "betas": tuple(round(1 - k * (1 - beta), 7) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n',
        "all to 7 digits": 'def adam_rule(told, before, after):\n    k = after / before\n    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]\n    if bad:\n        raise ValueError(f"k = {k}: the rule gives no {\' and no \'.join(bad)}")\n    root = math.sqrt(k)\n    new = {\n        "lr": told["lr"] * root,\n        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),\n        "eps": told["eps"] / root,\n        "weight_decay": told["weight_decay"] * root,\n    }\n    short = lambda x: float(f"{x:.7g}")\n    return {key: tuple(map(short, value)) if key == "betas" else short(value) for key, value in new.items()}\n',
    },
    "same-half-life": {
        "a power": HALF,
        "through the half-life": """
def same_half_life(beta2, before, after):
    steps = math.log(0.5) / math.log(beta2) * before / after
    if steps < 1 - 1e-12:
        raise ValueError(f"beta2 {beta2}: a half-life of {steps} steps")
    return 0.5 ** (1 / steps)
""",
        "logarithms": """
def same_half_life(beta2, before, after):
    new = np.exp(np.log(beta2) * after / before)
    if new < 0.5 - 1e-12:
        raise ValueError(beta2)
    return new
""",
        "torch": "import torch\ndef same_half_life(beta2, before, after):\n    new = (torch.tensor(beta2, dtype=torch.float64) ** (after / before)).item()\n    if new < 0.5:\n        raise ValueError(f'beta2 {beta2}: less than a step')\n    return new\n",
        "log2": "import math\ndef same_half_life(beta2, before, after):\n    n = -before / math.log2(beta2) / after\n    if n < 1:\n        raise ValueError(str(beta2))\n    return 2 ** (-1 / n)\n",
    },
    "which-rule": {
        "as in the text": CASES,
        "in capitals": CASES.replace('"tune"', '"Tune"').replace('"linear"', '" linear "'),
    },
    "grow-at": {"an int": at(6440), "a float": at(6440.0), "NumPy": at("np.int64(6440)")},
    "warmup-test": {
        "three cases": WARM,
        "a verdict": """
def warmup_test(factors):
    def right(steps, warmup):
        seen, want = 0, []
        for one in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += one
        got = list(factors(steps, warmup))
        return len(got) == len(want) and np.allclose(got, want)
    return right([7, 7, 30, 2, 50, 9], 60) and right([50, 3, 20, 9], 300) and right([4, 8, 3], 0)
""",
        "torch, random": "import random\ndef warmup_test(factors):\n    import torch\n    g = random.Random(0)\n    for trial in range(60):\n        steps = [g.randint(1, 200) for _ in range(g.randint(1, 12))]\n        warmup = g.choice([0, 1, 50, 300, 700, sum(steps), 10 ** 5])\n        seen = torch.tensor([0] + steps[:-1], dtype=torch.float64).cumsum(0)\n        want = (seen / warmup).clamp(max=1) if warmup else torch.ones(len(steps), dtype=torch.float64)\n        got = torch.tensor([float(x) for x in factors(list(steps), warmup)], dtype=torch.float64)\n        assert got.shape == want.shape and torch.allclose(got, want)\n",
        "numpy cumsum": "import math\nimport random\nimport numpy as np\ndef warmup_test(factors):\n    for steps, warmup in (([10, 10, 40, 40], 80), ([64, 16, 128, 8, 8, 500, 3], 200), ([4, 9, 2], 0), ([25, 25, 25, 25, 25], 75), ([300, 2, 9], 100)):\n        seen = np.cumsum([0] + steps[:-1])\n        want = np.minimum(1, seen / warmup) if warmup else np.ones(len(steps))\n        np.testing.assert_allclose(np.asarray(factors(steps, warmup), float), want, rtol=1e-7, atol=1e-9)\n",
        "a tolerance of 1e-5": "def warmup_test(factors):\n    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),\n             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]\n    for steps, warmup in cases:\n        seen, want = 0, []\n        for tokens in steps:\n            want.append(min(1, seen / warmup) if warmup else 1)\n            seen += tokens\n        got = list(factors(list(steps), warmup))\n        assert len(got) == len(want)\n        for one, right in zip(got, want):\n            assert abs(one - right) <= 1e-5\n",
    },
    "token-schedule": {
        "a factor of its own": BUILD,
        "a list of what moves": """
class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.curve = (warmup, total, final)
        self.state = [0, batch, told["lr"], list(told["betas"]), told["eps"], told["weight_decay"]]
    def _base(self):
        _, _, lr, betas, eps, decay = self.state
        return {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": decay}
    def told(self):
        warmup, total, final = self.curve
        seen = self.state[0]
        x = np.clip((seen - warmup) / (total - warmup), 0, 1)
        factor = seen / warmup if seen < warmup else final + (1 - final) * np.cos(np.pi * x / 2) ** 2
        out = self._base()
        out["lr"] *= float(factor)
        return out
    def step(self, tokens):
        self.state[0] += int(tokens)
    def change(self, batch):
        new = adam_rule(self._base(), self.state[1], batch)
        self.state[1:] = [batch, new["lr"], list(new["betas"]), new["eps"], new["weight_decay"]]
    def state_dict(self):
        return {"state": json.loads(json.dumps(self.state))}
    def load_state_dict(self, state):
        self.state = [list(one) if isinstance(one, list) else one for one in state["state"]]
""".replace("class TokenSchedule:", "import json\nclass TokenSchedule:", 1),
        "deep copies": changed(
            BUILD,
            ("class TokenSchedule:", "import copy\nclass TokenSchedule:"),
            (
                'return {"seen": self.seen, "batch": self.batch, "base": dict(self.base)}',
                "return copy.deepcopy({k: v for k, v in vars(self).items()})",
            ),
            (
                '        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = dict(state["base"])',
                "        vars(self).update(copy.deepcopy(state))",
            ),
        ),
        "from the first batch": """
class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.first, self.begun = dict(told), batch
        self.batch, self.seen = batch, 0
        self.warmup, self.total, self.final = warmup, total, final
    def told(self):
        k = self.batch / self.begun
        f, s, w = self.first, self.seen, self.warmup
        if s < w:
            x = s / w
        elif s >= self.total:
            x = self.final
        else:
            x = 0.5 * (1 + self.final) + 0.5 * (1 - self.final) * math.cos(math.pi * (s - w) / (self.total - w))
        return {"lr": f["lr"] * k ** 0.5 * x, "betas": [1 - k * (1 - b) for b in f["betas"]],
                "eps": f["eps"] * k ** -0.5, "weight_decay": f["weight_decay"] * k ** 0.5}
    def step(self, tokens):
        self.seen = self.seen + tokens
    def change(self, batch):
        if any(batch / self.begun * (1 - b) >= 1 for b in self.first["betas"]):
            raise ValueError(f"{batch} is too much")
        self.batch = batch
    def state_dict(self):
        return {"batch": self.batch, "seen": self.seen}
    def load_state_dict(self, state):
        self.batch, self.seen = state["batch"], state["seen"]
""",
        "a library inside": """
from batchlab import rates as _rates
class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.curve = _rates.Curve(total, warmup, "cosine", final)
        self.now = (0, batch, dict(told))
    def told(self):
        seen, _, base = self.now
        return {**base, "lr": base["lr"] * self.curve.factor(seen), "betas": list(base["betas"])}
    def step(self, tokens):
        self.now = (self.now[0] + tokens, *self.now[1:])
    def change(self, batch):
        seen, old, base = self.now
        self.now = (seen, batch, adam_rule(base, old, batch))
    def state_dict(self):
        return {"now": [self.now[0], self.now[1], dict(self.now[2])]}
    def load_state_dict(self, state):
        self.now = (*state["now"][:2], dict(state["now"][2]))
""",
        "history of events replayed": 'import math\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        self.first = (dict(told), batch, warmup, total, final)\n        self.log = []\n\n    def now(self):\n        base, batch, seen = self.first[0], self.first[1], 0\n        for verb, n in self.log:\n            if verb == "step":\n                seen += n\n            else:\n                base, batch = adam_rule(base, batch, n), n\n        return base, batch, seen\n\n    def told(self):\n        base, _, t = self.now()\n        _, _, warmup, total, final = self.first\n        if t < warmup:\n            f = t / warmup\n        else:\n            f = final + (1 - final) * math.cos(math.pi / 2 * min(1, (t - warmup) / (total - warmup))) ** 2\n        return {"lr": base["lr"] * f, "betas": tuple(base["betas"]), "eps": base["eps"], "weight_decay": base["weight_decay"]}\n\n    def step(self, tokens):\n        self.log.append(["step", tokens])\n\n    def change(self, batch):\n        base, old, _ = self.now()\n        adam_rule(base, old, batch)\n        self.log.append(["change", batch])\n\n    def state_dict(self):\n        return {"log": [list(e) for e in self.log]}\n\n    def load_state_dict(self, state):\n        self.log = [list(e) for e in state["log"]]\n',
        "flat state, arguments in it as well": 'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        #INITEND\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"lr": self.base["lr"], "beta1": self.base["betas"][0], "beta2": self.base["betas"][1], "eps": self.base["eps"], "weight_decay": self.base["weight_decay"], "seen": self.seen, "batch": self.batch, "total": self.total}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = {"lr": state["lr"], "betas": (state["beta1"], state["beta2"]), "eps": state["eps"], "weight_decay": state["weight_decay"]}\n',
        "always from the first told: state is tokens and batch": 'import copy\nimport json\nimport math\n\nimport numpy as np\n\n\nclass TokenSchedule:\n    def __init__(self, told, batch, warmup, total, final=0.1):\n        #INIT\n        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}\n        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final\n        self.seen = 0\n        self.first = (dict(self.base), batch)\n\n    def factor(self):\n        t = self.seen\n        if t < self.warmup:\n            return t / self.warmup\n        if t >= self.total:\n            return self.final\n        done = (t - self.warmup) / (self.total - self.warmup)\n        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2\n\n    def told(self):\n        new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new\n\n    def step(self, tokens):\n        self.seen += tokens\n\n    def change(self, batch):\n        self.base = adam_rule(*self.first, batch)\n        self.batch = batch\n\n    def state_dict(self):\n        return {"seen": self.seen, "batch": self.batch}\n\n    def load_state_dict(self, state):\n        self.seen, self.batch = state["seen"], state["batch"]\n        self.base = adam_rule(*self.first, self.batch)\n',
    },
}
