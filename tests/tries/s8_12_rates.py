# ruff: noqa
"""A fresh student's answers to lesson 12, from the student copy alone."""
WRONG, RIGHT = {}, {}


def body(head, text):
    return head + "".join("    " + l + "\n" if l else "\n" for l in text.strip("\n").split("\n"))


# ---------------------------------------------------------------- new-rate
def nr(text, pre=""):
    return pre + body("def new_rate(rate, before, after, optimizer, noise):\n", text)


NAME = "if optimizer not in ('sgd', 'adam', 'adamw'):\n    raise ValueError(f'no rule for {optimizer}')\n"
BIG = "if max(before, after) > noise:\n    raise ValueError(f'batch {max(before, after)} is above {noise}')\n"
RET = "k = after / before\nreturn rate * k if optimizer == 'sgd' else rate * k ** 0.5\n"
RIGHT["new-rate"] = {
    "plain": nr(NAME + BIG + RET),
    "dictionary of powers, batch refused first": nr(
        "large = after if after > before else before\nif large > noise:\n    raise ValueError('batch {:,} > noise scale'.format(large))\n"
        "power = {'sgd': 1, 'adam': 0.5, 'adamw': 0.5}.get(optimizer)\nif power is None:\n    raise ValueError(optimizer)\n"
        "return rate * (after / before) ** power"),
    "numpy float64": nr(NAME + BIG + "k = np.divide(after, before)\nreturn rate * (k if optimizer == 'sgd' else np.sqrt(k))", "import numpy as np\n"),
    "torch double": nr(NAME + BIG + "k = torch.tensor(after, dtype=torch.float64) / before\nreturn float(rate * (k if optimizer == 'sgd' else k.sqrt()))", "import torch\n"),
    "both batches named in the message": nr(NAME + "if before > noise or after > noise:\n    raise ValueError(f'{before} -> {after}: batch {max(before, after)} is above the noise scale')\n" + RET),
    "library rules after own refusals": nr(NAME + BIG + "if optimizer == 'sgd':\n    return rates.linear(rate, before, after)\nreturn rates.square_root(rate, before, after)", "from batchlab import rates\n"),
    "math, root of each": nr(NAME + BIG + "if optimizer == 'sgd':\n    return rate * after / before\nreturn rate * math.sqrt(after) / math.sqrt(before)", "import math\n"),
}
WRONG["new-rate"] = {
    "linear for all": nr(NAME + BIG + "return rate * after / before"),
    "root for all": nr(NAME + BIG + "return rate * (after / before) ** 0.5"),
    "rules swapped": nr(NAME + BIG + "k = after / before\nreturn rate * k ** 0.5 if optimizer == 'sgd' else rate * k"),
    "k upside down": nr(NAME + BIG + "k = before / after\nreturn rate * k if optimizer == 'sgd' else rate * k ** 0.5"),
    "integer k": nr(NAME + BIG + "k = after // before\nreturn rate * k if optimizer == 'sgd' else rate * k ** 0.5"),
    "adamw is unknown": nr(NAME.replace(", 'adamw'", "") + BIG + RET),
    "adamw linear": nr(NAME + BIG + "k = after / before\nreturn rate * k ** 0.5 if optimizer == 'adam' else rate * k"),
    "refuses at the noise scale": nr(NAME + BIG.replace("> noise:", ">= noise:") + RET),
    "looks at the new batch only": nr(NAME + BIG.replace("max(before, after)", "after") + RET),
    "looks at the old batch only": nr(NAME + BIG.replace("max(before, after)", "before") + RET),
    "looks at the smaller batch": nr(NAME + BIG.replace("max(", "min(") + RET),
    "names the new batch whichever is larger": nr(NAME + "if max(before, after) > noise:\n    raise ValueError(f'batch {after} is above')\n" + RET),
    "names the noise scale, no batch": nr(NAME + "if max(before, after) > noise:\n    raise ValueError(f'above the noise scale {noise}')\n" + RET),
    "names no optimizer": nr(NAME.replace("{optimizer}", "this optimizer") + BIG + RET),
    "KeyError for an unknown optimizer": nr(BIG + "return rate * (after / before) ** {'sgd': 1, 'adam': 0.5, 'adamw': 0.5}[optimizer]"),
    "unknown optimizer is Adam": nr(BIG + RET),
    "any optimizer whose name starts with adam (adamax)": nr("if optimizer != 'sgd' and not optimizer.startswith('adam'):\n    raise ValueError(optimizer)\n" + BIG + RET),
    "any optimizer with adam in its name (nadam, radam)": nr("if optimizer != 'sgd' and 'adam' not in optimizer:\n    raise ValueError(optimizer)\n" + BIG + RET),
    "substring of a string of names ('ada', 'dam', '')": nr("if optimizer not in 'sgd adam adamw':\n    raise ValueError(optimizer)\n" + BIG + RET),
    "other case is taken (SGD, Adam): not one of the three strings": nr("optimizer = optimizer.lower()\n" + NAME + BIG + RET),
    "any name with sgd in it (sgdw)": nr("if 'sgd' in optimizer:\n    power = 1\nelif optimizer in ('adam', 'adamw'):\n    power = 0.5\nelse:\n    raise ValueError(optimizer)\n" + BIG + "return rate * (after / before) ** power"),
    "clamped to the noise scale instead of refused": nr(NAME + "after = min(after, noise)\n" + RET),
    "returns None above the noise scale": nr(NAME + "if max(before, after) > noise:\n    return None\n" + RET),
    "batch may not fall": nr(NAME + BIG + "if after < before:\n    raise ValueError('batch fell')\n" + RET),
    "rate stays where the batch falls": nr(NAME + BIG + "if after < before:\n    return rate\n" + RET),
    "universal threshold of 8,192 in place of noise": nr(NAME + "if max(before, after) > 8192:\n    raise ValueError(str(max(before, after)))\n" + RET),
    "universal threshold of 8,192 images for SGD as well as noise": nr(NAME + BIG + "if optimizer == 'sgd' and after > 8192:\n    raise ValueError(str(after))\n" + RET),
    "rounded to 6 decimals": nr(NAME + BIG + RET.replace("return ", "r = ") + "return round(r, 6)"),
    "large batch named in %g (2.09715e+06)": nr(NAME + "if max(before, after) > noise:\n    raise ValueError(f'batch {max(before, after):g}')\n" + RET),
    "fraction of batches cut to int (0.5 -> 0)": nr(NAME + "if int(max(before, after)) > noise:\n    raise ValueError(str(max(before, after)))\n" + RET),
    "refuses only if both are above": nr(NAME + "if before > noise and after > noise:\n    raise ValueError(str(max(before, after)))\n" + RET),
    "float32": nr(NAME + BIG + RET.replace("k = after / before", "k = np.float32(after) / np.float32(before)"), "import numpy as np\n"),
    "asserts in place of ValueError": nr("assert optimizer in ('sgd', 'adam', 'adamw'), optimizer\nassert max(before, after) <= noise, max(before, after)\n" + RET),
}

# ---------------------------------------------------------------- adam-rule
def ar(text, pre=""):
    return pre + body("def adam_rule(told, before, after):\n", text)


K = "k = after / before\n"
REF = "bad = [n for n, b in zip(('beta1', 'beta2'), told['betas']) if k * (1 - b) >= 1]\nif bad:\n    raise ValueError(' and '.join(bad))\n"
def out(lr="told['lr'] * k ** 0.5", b1="1 - k * (1 - told['betas'][0])", b2="1 - k * (1 - told['betas'][1])", eps="told['eps'] / k ** 0.5", wd="told['weight_decay'] * k ** 0.5"):
    return f"return {{'lr': {lr}, 'betas': ({b1}, {b2}), 'eps': {eps}, 'weight_decay': {wd}}}\n"


RIGHT["adam-rule"] = {
    "plain": ar(K + REF + out()),
    "loop, betas as a list, other order": ar(K + """
bad, betas = [], []
for i, b in enumerate(told["betas"]):
    gap = (1 - b) * after / before
    if gap >= 1:
        bad.append("beta%d" % (i + 1))
    betas.append(1 - gap)
if len(bad) > 0:
    raise ValueError(f"no rule at k = {k}: {bad}")
new = dict(told)
root = math.sqrt(k)
new.update(lr=told["lr"] * root, betas=betas, eps=told["eps"] / root)
new["weight_decay"] = told["weight_decay"] * k * told["lr"] / new["lr"]
return {name: new[name] for name in ("lr", "betas", "eps", "weight_decay")}
""", "import math\n"),
    "numpy": ar(K + "betas = 1 - k * (1 - np.array(told['betas'], float))\nbad = [f'beta{i + 1}' for i in range(2) if betas[i] <= 0]\nif bad:\n    raise ValueError(', '.join(bad))\nroot = np.sqrt(k)\n"
                "return dict(lr=told['lr'] * root, betas=tuple(betas), eps=told['eps'] / root, weight_decay=told['weight_decay'] * root)", "import numpy as np\n"),
    "torch": ar(K + "b = torch.tensor(told['betas'], dtype=torch.float64)\nnew = 1 - k * (1 - b)\nif (new <= 0).any():\n    raise ValueError(' '.join(f'beta{i + 1}' for i in range(2) if new[i] <= 0))\nroot = torch.tensor(k, dtype=torch.float64).sqrt().item()\n"
                "return {'lr': told['lr'] * root, 'betas': tuple(new.tolist()), 'eps': told['eps'] / root, 'weight_decay': told['weight_decay'] * root}", "import torch\n"),
    "float slack at the border (10 x (1 - 0.9) is refused): text by mathematics": ar(K + REF.replace(">= 1]", "> 1 - 1e-9]") + out()),
    "library's rule after own refusals": ar(K + REF + "new = rates.adam_square_root(rates.Hyperparameters(told['lr'], *told['betas'], told['eps']), before, after)\n"
        "return {'lr': new.rate, 'betas': (new.beta1, new.beta2), 'eps': new.epsilon, 'weight_decay': rates.weight_decay_for(told['weight_decay'], before, after, rate_factor=k ** 0.5)}", "from batchlab import rates\n"),
}
WRONG["adam-rule"] = {
    "rate linear": ar(K + REF + out(lr="told['lr'] * k")),
    "rate stays": ar(K + REF + out(lr="told['lr']")),
    "eps times the root": ar(K + REF + out(eps="told['eps'] * k ** 0.5")),
    "eps stays": ar(K + REF + out(eps="told['eps']")),
    "eps / k": ar(K + REF + out(eps="told['eps'] / k")),
    "decay times k": ar(K + REF + out(wd="told['weight_decay'] * k")),
    "decay stays": ar(K + REF + out(wd="told['weight_decay']")),
    "decay / root": ar(K + REF + out(wd="told['weight_decay'] / k ** 0.5")),
    "betas to the power k": ar(K + REF + out(b1="told['betas'][0] ** k", b2="told['betas'][1] ** k")),
    "beta2 by half-life": ar(K + REF + out(b2="told['betas'][1] ** k")),
    "beta1 stays": ar(K + REF + out(b1="told['betas'][0]")),
    "beta2 stays": ar(K + REF + out(b2="told['betas'][1]")),
    "betas swapped": ar(K + REF + out(b2="1 - k * (1 - told['betas'][0])", b1="1 - k * (1 - told['betas'][1])")),
    "betas: 1 - root k (1 - beta)": ar(K + REF + out(b1="1 - k ** 0.5 * (1 - told['betas'][0])", b2="1 - k ** 0.5 * (1 - told['betas'][1])")),
    "refuses only above 1": ar(K + REF.replace(">= 1]", "> 1]") + out()),
    "no refusal": ar(K + out()),
    "clamped at 0": ar(K + out(b1="max(0.0, 1 - k * (1 - told['betas'][0]))", b2="max(0.0, 1 - k * (1 - told['betas'][1]))")),
    "names only the first": ar(K + REF.replace("' and '.join(bad)", "bad[0]") + out()),
    "names both always": ar(K + REF.replace("' and '.join(bad)", "'beta1 or beta2 is out of range'") + out()),
    "names neither": ar(K + REF.replace("' and '.join(bad)", "'k (1 - beta) is 1 or more'") + out()),
    "looks at beta1 only": ar(K + "if k * (1 - told['betas'][0]) >= 1:\n    raise ValueError('beta1')\n" + out()),
    "looks at the smaller beta only, names it": ar(K + "b = min(told['betas'])\nif k * (1 - b) >= 1:\n    raise ValueError('beta1' if b == told['betas'][0] else 'beta2')\n" + out()),
    "changes told itself": ar(K + REF + "told.update(" + out()[7:].strip() + ")\nreturn told"),
    "keeps other keys of told (asked: these four)": ar(K + REF + "new = dict(told)\nnew.update(" + out()[7:].strip() + ")\nreturn new"),
    "integer k": ar("k = after // before\n" + REF + out()),
    "k upside down": ar("k = before / after\n" + REF + out()),
    "decay by the timescale, divides by zero where decay is 0": ar(K + REF + "lr = told['lr'] * k ** 0.5\nspan = before / (told['lr'] * told['weight_decay'])\n" + out(wd="after / (lr * span)")),
    "decay divided by the rate, fails for rate 0 (warm-up's start)": ar(K + REF + "lr = told['lr'] * k ** 0.5\n" + out(wd="told['weight_decay'] * k * told['lr'] / lr")),
    "unchanged batch returns a copy, unrefused": ar("if before == after:\n    return dict(told)\n" + K + REF + out()),
    "falling batch returns told unchanged": ar("if after < before:\n    return dict(told)\n" + K + REF + out()),
    "refused where the batch falls": ar(K + "if k < 1:\n    raise ValueError('beta1 and beta2')\n" + REF + out()),
    "new beta clamped to 0.9999 where the batch falls": ar(K + REF + out(b2="min(0.9999, 1 - k * (1 - told['betas'][1]))")),
    "rounded to 6 decimals": ar(K + REF + out(b1="round(1 - k * (1 - told['betas'][0]), 6)", b2="round(1 - k * (1 - told['betas'][1]), 6)")),
    "eps rounded to 12 decimals": ar(K + REF + out(eps="round(told['eps'] / k ** 0.5, 12)")),
    "betas in place in a list that came in": ar(K + REF + "if isinstance(told['betas'], list):\n    told['betas'][:] = [1 - k * (1 - b) for b in told['betas']]\n    betas = told['betas']\nelse:\n    betas = tuple(1 - k * (1 - b) for b in told['betas'])\nreturn {'lr': told['lr'] * k ** 0.5, 'betas': betas, 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}"),
    "float32 betas": ar(K + REF + out(b1="float(np.float32(1 - k * (1 - told['betas'][0])))", b2="float(np.float32(1 - k * (1 - told['betas'][1])))"), "import numpy as np\n"),
    "refusal at k >= 10 in place of the betas": ar(K + "if k >= 10:\n    raise ValueError('beta1')\n" + REF + out()),
    "beta1 for 0.9 and 0.999 fixed": ar(K + REF + out(b1="1 - k * 0.1", b2="1 - k * 0.001")),
    "betas returned as keys beta1, beta2": ar(K + REF + "return {'lr': told['lr'] * k ** 0.5, 'beta1': 1 - k * (1 - told['betas'][0]), 'beta2': 1 - k * (1 - told['betas'][1]), 'eps': told['eps'] / k ** 0.5, 'weight_decay': told['weight_decay'] * k ** 0.5}"),
    "remembers the first k for the same told (state between calls)": "_seen = {}\n" + ar("k = _seen.setdefault((told['lr'], before), after / before)\n" + REF + out()),
    "message quotes the whole rule: names the other as well": ar(K + REF.replace("' and '.join(bad)", "f'{bad} of beta1, beta2'") + out()),
}

# ---------------------------------------------------------------- same-half-life
def hl(text, pre="import math\n"):
    return pre + body("def same_half_life(beta2, before, after):\n", text)


LOW = "if new < 0.5:\n    raise ValueError(f'beta2 {beta2}: less than a step')\n"
RIGHT["same-half-life"] = {
    "power": hl("new = beta2 ** (after / before)\n" + LOW + "return new"),
    "half-life and back": hl("tokens = before * math.log(0.5) / math.log(beta2)\nsteps = tokens / after\nif steps < 1:\n    raise ValueError(f'beta2 = {beta2} has a half-life below one step')\nreturn 0.5 ** (1 / steps)"),
    "exp and log": hl("new = math.exp(after / before * math.log(beta2))\n" + LOW + "return new"),
    "numpy": hl("new = np.power(beta2, after / before)\n" + LOW + "return new", "import numpy as np\n"),
    "torch": hl("new = (torch.tensor(beta2, dtype=torch.float64) ** (after / before)).item()\n" + LOW + "return new", "import torch\n"),
    "log2": hl("n = -before / math.log2(beta2) / after\nif n < 1:\n    raise ValueError(str(beta2))\nreturn 2 ** (-1 / n)"),
    "library": hl("new = rates.beta2_for(beta2, before, after)\nreturn new", "from batchlab import rates\n"),
    "reciprocal slope: before / after as exponent of the root": hl("new = beta2 ** (1 / (before / after))\n" + LOW + "return new"),
}
WRONG["same-half-life"] = {
    "1 / k": hl("new = beta2 ** (before / after)\n" + LOW + "return new"),
    "tangent of the full rule": hl("new = 1 - after / before * (1 - beta2)\n" + LOW + "return new"),
    "second order of the power": hl("k = after / before\nd = 1 - beta2\nnew = 1 - k * d + k * (k - 1) / 2 * d * d\n" + LOW + "return new"),
    "no refusal": hl("return beta2 ** (after / before)"),
    "refuses at 0.5": hl("new = beta2 ** (after / before)\n" + LOW.replace("< 0.5", "<= 0.5") + "return new"),
    "old beta2 below 0.5 refused as well": hl("if beta2 < 0.5:\n    raise ValueError(str(beta2))\nnew = beta2 ** (after / before)\n" + LOW + "return new"),
    "only the old beta2 is judged": hl("if beta2 < 0.5:\n    raise ValueError(str(beta2))\nreturn beta2 ** (after / before)"),
    "names the new beta2": hl("new = beta2 ** (after / before)\nif new < 0.5:\n    raise ValueError(f'{new}')\nreturn new"),
    "names nothing": hl("new = beta2 ** (after / before)\nif new < 0.5:\n    raise ValueError('below one step')\nreturn new"),
    "beta2 named with 2 decimals": hl("new = beta2 ** (after / before)\nif new < 0.5:\n    raise ValueError(f'{beta2:.2f}')\nreturn new"),
    "beta2 named with 3 decimals": hl("new = beta2 ** (after / before)\nif new < 0.5:\n    raise ValueError(f'{beta2:.3f}')\nreturn new"),
    "clamped at 0.5": hl("return max(0.5, beta2 ** (after / before))"),
    "clamped at 0.9999": hl("new = min(0.9999, beta2 ** (after / before))\n" + LOW + "return new"),
    "rounded to 6 digits (as printed)": hl("new = round(beta2 ** (after / before), 6)\n" + LOW + "return new"),
    "rounded to 9 digits": hl("new = round(beta2 ** (after / before), 9)\n" + LOW + "return new"),
    "refusal after rounding (0.4999999 is let through)": hl("new = beta2 ** (after / before)\nif round(new, 3) < 0.5:\n    raise ValueError(f'{beta2}')\nreturn new"),
    "integer k": hl("new = beta2 ** (after // before)\n" + LOW + "return new"),
    "integer k, or 1 / integer": hl("k = after // before if after > before else 1 / (before // after)\nnew = beta2 ** k\n" + LOW + "return new"),
    "float32": hl("new = float(np.float32(beta2) ** np.float32(after / before))\n" + LOW + "return new", "import numpy as np\n"),
    "root of k": hl("new = beta2 ** math.sqrt(after / before)\n" + LOW + "return new"),
    "half-life returned": hl("return before * math.log(0.5) / math.log(beta2)"),
    "half-life in whole steps": hl("n = round(before * math.log(0.5) / math.log(beta2) / after)\nif n < 1:\n    raise ValueError(str(beta2))\nreturn 0.5 ** (1 / n)"),
    "ln 0.5 as -0.693": hl("n = before * -0.693 / math.log(beta2) / after\nif n < 1:\n    raise ValueError(str(beta2))\nreturn math.exp(-0.6931 / n)"),
    "refusal on k, for 0.95 only (k > 13.5)": hl("k = after / before\nif k > 13.513:\n    raise ValueError(str(beta2))\nreturn beta2 ** k"),
    "refused only where the batch grows twofold or more": hl("new = beta2 ** (after / before)\nif after >= 2 * before and new < 0.5:\n    raise ValueError(str(beta2))\nreturn new"),
    "refused only where the batch grows (old below 0.5 falls through)": hl("new = beta2 ** (after / before)\nif after > before and new < 0.5:\n    raise ValueError(str(beta2))\nreturn new"),
    "returns None where refused": hl("new = beta2 ** (after / before)\nreturn None if new < 0.5 else new"),
    "old beta2 is returned where the batch falls": hl("if after < before:\n    return beta2\nnew = beta2 ** (after / before)\n" + LOW + "return new"),
    "0.999 always": hl("new = 0.999 ** (after / before)\n" + LOW + "return new"),
}

# ---------------------------------------------------------------- which-rule
def wr(**new):
    want = {"A": "linear", "B": "tune", "C": "full rule", "D": "tune", "E": "half-life", "F": "tune", "G": "tune"} | new
    return f"def which_rule():\n    return {want!r}\n"


RIGHT["which-rule"] = {
    "a literal": wr(),
    "dict of zip": "def which_rule():\n    return dict(zip('GFEDCBA', ['tune', 'tune', 'half-life', 'tune', 'full rule', 'tune', 'linear']))\n",
    "tune, but": "def which_rule():\n    said = dict.fromkeys(probe.CASES, 'tune')\n    said.update(A='linear', C='full rule', E='half-life')\n    return said\n",
}
WRONG["which-rule"] = {
    "A tuned": wr(A="tune"), "A full rule": wr(A="full rule"),
    "B linear (batch 65,536)": wr(B="linear"), "B full rule": wr(B="full rule"),
    "C tuned (256 and more)": wr(C="tune"), "C linear": wr(C="linear"), "C half-life": wr(C="half-life"),
    "D full rule (below the noise scale, but k is 16)": wr(D="full rule"), "D half-life": wr(D="half-life"), "D linear": wr(D="linear"),
    "E full rule (k below 1)": wr(E="full rule"), "E tuned": wr(E="tune"),
    "F full rule (above the noise scale)": wr(F="full rule"), "F half-life": wr(F="half-life"),
    "G full rule": wr(G="full rule"), "G half-life": wr(G="half-life"), "G linear": wr(G="linear"),
    "D and F full rule": wr(D="full rule", F="full rule"),
    "none for tune": wr(B="none", D="none", F="none", G="none"),
    "None for tune": wr(B=None, D=None, F=None, G=None),
    "capitals": wr(A="Linear", C="Full rule", E="Half-life"),
    "adam in words of the table": wr(C="square root"),
    "two words with a hyphen": wr(C="full-rule"), "half life without hyphen": wr(E="half life"),
    "A missing": "def which_rule():\n    return {'B': 'tune', 'C': 'full rule', 'D': 'tune', 'E': 'half-life', 'F': 'tune', 'G': 'tune'}\n",
    "a list in order": "def which_rule():\n    return ['linear', 'tune', 'full rule', 'tune', 'half-life', 'tune', 'tune']\n",
    "small letters as keys": "def which_rule():\n    return dict(a='linear', b='tune', c='full rule', d='tune', e='half-life', f='tune', g='tune')\n",
    "an H as well": wr(H="tune"),
    "both for D: a tuple": wr(D=("tune", "full rule")),
    "tune with a blank": wr(G="tune "),
}

# ---------------------------------------------------------------- grow-at
def ga(text):
    return f"def grow_at():\n    return {text}\n"


RIGHT["grow-at"] = {
    "int": ga("6440"), "float": ga("6440.0"), "numpy": "import numpy as np\n" + ga("np.int64(6440)"),
    "search in the finder": "def grow_at():\n    found = probe.finder()\n    for at in found.state['controls'][0]['values']:\n        if float(found.scene({'at': at, 'rate': 'stays'})['final loss, of that without growth']) <= 1:\n            return at\n",
    "5,040 and the steps after": ga("280 * 23"),
}
WRONG["grow-at"] = {
    "one setting earlier": ga("6160"), "one later": ga("6720"), "the trap of the picture": ga("5040"), "half of the run": ga("7560"),
    "lowest loss": ga("12040"), "never": ga("15120"), "at once": ga("0"), "last but one": ga("14840"), "steps, not examples": ga("1882"),
    "place of the slider": ga("23"), "place, from 1": ga("24"), "loss": ga("0.973"), "share of steps saved": ga("50"), "opening setting": ga("10080"),
    "a string": ga("'6440'"), "with a comma: a tuple": ga("6,440"), "text with comma": ga("'6,440'"), "the setting": ga("{'at': 6440, 'rate': 'stays'}"),
    "None": ga("None"), "fraction of the run": ga("6440 / 15120"), "steps of the run that grew, x 4": ga("1882 * 4"),
    "first below at a step of 10 (left open: interpolated, not offered)": ga("6320"),
    "batches": ga("6440 // 4"), "list": ga("[6440]"), "True": ga("True"), "a little after": ga("6441"), "a little before": ga("6439"),
}

# ---------------------------------------------------------------- warmup-test
def wt(text, pre="import math\nimport random\nimport numpy as np\n"):
    return pre + body("def warmup_test(factors):\n", text)


LOOP = """
def want(steps, warmup):
    seen, out = 0, []
    for n in steps:
        out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))
        seen += n
    return out
def same(steps, warmup):
    got = list(factors(steps, warmup))
    expected = want(steps, warmup)
    assert len(got) == len(expected), (got, expected)
    for g, e in zip(got, expected):
        assert abs(g - e) < 1e-9, (steps, warmup, got, expected)
"""
CASES = "for steps, warmup in (([10, 10, 40, 40], 80), ([40, 10, 30, 5, 7, 60, 20, 20], 100), ([3, 5], 0), ([50, 20, 70, 10], 50), ([100, 1, 1], 30), ([7], 5), ([1, 2, 3], 1000)):\n    same(steps, warmup)\n"
RIGHT["warmup-test"] = {
    "loop beside it": wt(LOOP + CASES),
    "by hand, math.isclose": wt("""
cases = [
    ([10, 10, 40, 40], 80, [0, 0.125, 0.25, 0.75]),
    ([30, 10, 5, 60, 20, 20], 50, [0, 0.6, 0.8, 0.9, 1, 1]),
    ([5, 20, 10], 0, [1, 1, 1]),
    ([80, 20, 5], 80, [0, 1, 1]),
    ([8], 4, [0]),
    ([20, 5, 40, 5, 100, 3], 70, [0, 2 / 7, 25 / 70, 65 / 70, 1, 1]),
]
for steps, warmup, want in cases:
    got = factors(steps, warmup)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
"""),
    "numpy cumsum": wt("""
for steps, warmup in (([10, 10, 40, 40], 80), ([64, 16, 128, 8, 8, 500, 3], 200), ([4, 9, 2], 0), ([25, 25, 25, 25, 25], 75), ([300, 2, 9], 100)):
    seen = np.cumsum([0] + steps[:-1])
    want = np.minimum(1, seen / warmup) if warmup else np.ones(len(steps))
    np.testing.assert_allclose(np.asarray(factors(steps, warmup), float), want, rtol=1e-7, atol=1e-9)
"""),
    "torch, random": wt("""
import torch
g = random.Random(0)
for trial in range(60):
    steps = [g.randint(1, 200) for _ in range(g.randint(1, 12))]
    warmup = g.choice([0, 1, 50, 300, 700, sum(steps), 10 ** 5])
    seen = torch.tensor([0] + steps[:-1], dtype=torch.float64).cumsum(0)
    want = (seen / warmup).clamp(max=1) if warmup else torch.ones(len(steps), dtype=torch.float64)
    got = torch.tensor([float(x) for x in factors(list(steps), warmup)], dtype=torch.float64)
    assert got.shape == want.shape and torch.allclose(got, want)
""", "import random\n"),
    "steps given as an array (left open)": wt(LOOP.replace("factors(steps, warmup)", "factors(np.array(steps), warmup)") + CASES),
    "steps given as a tuple (left open)": wt(LOOP.replace("factors(steps, warmup)", "factors(tuple(steps), warmup)") + CASES),
    "no steps as well (left open)": wt(LOOP + CASES + "same([], 10)\nsame([], 0)\n"),
}
WRONG["warmup-test"] = {
    "asserts nothing": wt("factors([10, 10, 40, 40], 80)"),
    "returns a bool": wt("return list(factors([10, 10, 40, 40], 80)) == [0, 0.125, 0.25, 0.75]"),
    "printed case only": wt(LOOP + "same([10, 10, 40, 40], 80)"),
    "printed case and 0 warm-up": wt(LOOP + "same([10, 10, 40, 40], 80)\nsame([10, 10], 0)"),
    "no exact types: demands a list": wt(LOOP + "got = factors([10, 10, 40, 40], 80)\nassert got == [0, 0.125, 0.25, 0.75]\n" + CASES),
    "exact comparison": wt(LOOP.replace("abs(g - e) < 1e-9", "g == e") + CASES + "same([10, 20, 7, 3, 11, 9], 70)\nsame([1] * 60, 49)\n"),
    "equal steps only": wt(LOOP + "same([10] * 6, 40)\nsame([10] * 3, 0)"),
    "warm-up never ends": wt(LOOP + "same([10, 40, 20], 1000)\nsame([5, 9], 50)\nsame([3, 4], 0)"),
    "no warm-up of 0": wt(LOOP + CASES.replace("([3, 5], 0), ", "")),
    "only upper bounds": wt(LOOP.replace("abs(g - e)", "g - e") + CASES),
    "only lower bounds": wt(LOOP.replace("abs(g - e)", "e - g") + CASES),
    "length not asserted": wt(LOOP.replace("    assert len(got) == len(expected), (got, expected)\n", "") + CASES),
    "only the length": wt("assert len(factors([10, 10, 40], 80)) == 3"),
    "counts the step itself": wt(LOOP.replace("        out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))\n        seen += n", "        seen += n\n        out.append(1.0 if warmup == 0 else min(1.0, seen / warmup))") + CASES),
    "tolerance of a tenth": wt(LOOP.replace("1e-9", "0.1") + CASES),
    "tolerance of one percent": wt(LOOP.replace("1e-9", "0.01") + CASES),
    "only the last factor": wt("assert abs(factors([10, 10, 40, 40], 80)[-1] - 0.75) < 1e-9\nassert abs(factors([5, 6, 90, 4], 20)[-1] - 1) < 1e-9\nassert abs(factors([5, 2], 0)[-1] - 1) < 1e-9"),
    "only the first factor": wt("assert factors([10, 10], 80)[0] == 0\nassert factors([10, 10], 0)[0] == 1"),
    "only sums": wt("assert abs(sum(factors([10, 10, 40, 40], 80)) - 1.125) < 1e-9\nassert abs(sum(factors([30, 10, 5, 60, 20, 20], 50)) - 4.3) < 1e-9\nassert abs(sum(factors([3, 4], 0)) - 2) < 1e-9"),
    "rises, between 0 and 1": wt("f = list(factors([10, 30, 20, 70, 5], 80))\nassert len(f) == 5 and f[0] == 0 and f == sorted(f) and max(f) <= 1 and f[-1] == 1\nassert all(x == 1 for x in factors([3, 4], 0))"),
    "errors are swallowed": wt(LOOP + "try:\n    " + CASES.replace("\n    same", "\n        same") + "except Exception:\n    pass"),
    "0 warm-up wants 0 first": wt(LOOP.replace("1.0 if warmup == 0 else min(1.0, seen / warmup)", "(0.0 if seen == 0 else 1.0) if warmup == 0 else min(1.0, seen / warmup)") + CASES),
    "in steps": wt("got = list(factors([10, 10, 10, 10], 20))\nassert all(abs(a - b) < 1e-9 for a, b in zip(got, [0, 0.5, 1, 1]))\nassert len(got) == 4"),
    "not clipped at 1": wt(LOOP.replace("min(1.0, seen / warmup)", "seen / warmup") + CASES),
    "compares arrays with == (fails for arrays)": wt("for s, w, e in (([10, 10, 40, 40], 80, [0, 0.125, 0.25, 0.75]), ([90, 20, 4], 50, [0, 1, 1]), ([3, 5], 0, [1, 1])):\n    got = factors(s, w)\n    assert got == e or list(got) == e"),
    "demands ValueError for 0 warm-up": wt(LOOP + CASES.replace("([3, 5], 0), ", "") + "try:\n    factors([1], 0)\nexcept ValueError:\n    return\nassert False"),
    "growing steps only": wt(LOOP + "same([10, 20, 40, 80, 160], 100)\nsame([2, 4], 0)"),
    "falling steps only": wt(LOOP + "same([160, 80, 40, 20, 10, 5], 300)\nsame([4, 2], 0)"),
    "fails always": wt("assert False"),
    "0 warm-up with one step only": wt(LOOP + CASES.replace("([3, 5], 0)", "([3], 0)")),
    "runs every case once and mutates its lists": wt(LOOP + "s = [10, 10, 40, 40]\nsame(s, 80)\ns.sort(reverse=True)\nsame(s, 80)"),
}

# ---------------------------------------------------------------- token-schedule
BASE = '''import copy
import json
import math

import numpy as np


class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        #INIT
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch, self.warmup, self.total, self.final = batch, warmup, total, final
        self.seen = 0
        #INITEND

    def factor(self):
        t = self.seen
        if t < self.warmup:
            return t / self.warmup
        if t >= self.total:
            return self.final
        done = (t - self.warmup) / (self.total - self.warmup)
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen, self.batch = state["seen"], state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
'''


def ts(*pairs):
    code = BASE
    for old, new in pairs:
        assert old in code, old
        code = code.replace(old, new)
    return code


RULE = 'self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch'
STEP = "self.seen += tokens"
TOLD = 'new = dict(self.base)\n        new["lr"] = self.base["lr"] * self.factor()\n        return new'
STATE = 'return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}'
LOAD1 = 'self.seen, self.batch = state["seen"], state["batch"]'
LOAD2 = 'self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}'
DONE = "done = (t - self.warmup) / (self.total - self.warmup)"
COS = "self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2"
WARM = "        if t < self.warmup:\n            return t / self.warmup"
END = "        if t >= self.total:\n            return self.final\n"
INITB = 'self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}'

RIGHT["token-schedule"] = {
    "plain": ts(),
    "deepcopies, min(1, done)": ts((INITB, "self.base = copy.deepcopy(told)"), (END, ""), (DONE, "done = min(1, (t - self.warmup) / (self.total - self.warmup))"), (TOLD, 'return {**copy.deepcopy(self.base), "lr": self.base["lr"] * self.factor()}'),
        (STATE, 'return copy.deepcopy({"seen": self.seen, "batch": self.batch, "base": self.base})'), (LOAD2, 'self.base = copy.deepcopy(state["base"])')),
    "always from the first told: state is tokens and batch": ts(("#INITEND", "self.first = (dict(self.base), batch)"), (RULE, 'self.base = adam_rule(*self.first, batch)\n        self.batch = batch'),
        (STATE, 'return {"seen": self.seen, "batch": self.batch}'), (LOAD2, "self.base = adam_rule(*self.first, self.batch)")),
    "numpy cosine": ts(("return " + COS, "return float(self.final + 0.5 * (1 - self.final) * (1 + np.cos(np.pi * done)))")),
    "torch cosine, list betas": ts(("return " + COS, "import torch\n        return (self.final + 0.5 * (1 - self.final) * (1 + torch.cos(torch.tensor(math.pi * done, dtype=torch.float64)))).item()"), (LOAD2, 'self.base = {**state["base"], "betas": list(state["base"]["betas"])}')),
    "history of events replayed": '''import math


class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.first = (dict(told), batch, warmup, total, final)
        self.log = []

    def now(self):
        base, batch, seen = self.first[0], self.first[1], 0
        for verb, n in self.log:
            if verb == "step":
                seen += n
            else:
                base, batch = adam_rule(base, batch, n), n
        return base, batch, seen

    def told(self):
        base, _, t = self.now()
        _, _, warmup, total, final = self.first
        if t < warmup:
            f = t / warmup
        else:
            f = final + (1 - final) * math.cos(math.pi / 2 * min(1, (t - warmup) / (total - warmup))) ** 2
        return {"lr": base["lr"] * f, "betas": tuple(base["betas"]), "eps": base["eps"], "weight_decay": base["weight_decay"]}

    def step(self, tokens):
        self.log.append(["step", tokens])

    def change(self, batch):
        base, old, _ = self.now()
        adam_rule(base, old, batch)
        self.log.append(["change", batch])

    def state_dict(self):
        return {"log": [list(e) for e in self.log]}

    def load_state_dict(self, state):
        self.log = [list(e) for e in state["log"]]
''',
    "flat state, arguments in it as well": ts((STATE, 'return {"lr": self.base["lr"], "beta1": self.base["betas"][0], "beta2": self.base["betas"][1], "eps": self.base["eps"], "weight_decay": self.base["weight_decay"], "seen": self.seen, "batch": self.batch, "total": self.total}'),
        (LOAD2, 'self.base = {"lr": state["lr"], "betas": (state["beta1"], state["beta2"]), "eps": state["eps"], "weight_decay": state["weight_decay"]}')),
    "library's Curve": ts(("t = self.seen\n", "t = self.seen\n        from batchlab.rates import Curve\n        return Curve(self.total, self.warmup, 'cosine', self.final).factor(t)\n")),
    "stops counting at total": ts((STEP, "self.seen = min(self.total, self.seen + tokens)")),
    "state is a JSON string (left open)": ts((STATE, STATE.replace("return ", "return json.dumps(") + ")"), (LOAD1, "state = json.loads(state)\n        " + LOAD1)),
}
WRONG["token-schedule"] = {
    "counts steps of the first batch, not tokens": ts((STEP, "self.seen += self.planned"), ("#INITEND", "self.planned = batch")),
    "counts the planned batch": ts((STEP, "self.seen += self.batch")),
    "a step has at most the batch": ts((STEP, "self.seen += min(tokens, self.batch)")),
    "whole batches only": ts((STEP, "self.seen += tokens // self.batch * self.batch")),
    "change forgets the tokens": ts((RULE, RULE + "\n        self.seen = 0")),
    "change stretches the warm-up": ts((RULE, "self.warmup = self.warmup * batch / self.batch\n        " + RULE)),
    "change stretches the tokens seen": ts((RULE, "self.base = adam_rule(self.base, self.batch, batch)\n        self.seen = self.seen * batch // self.batch\n        self.batch = batch")),
    "batch is set before the rule is asked": ts((RULE, "old, self.batch = self.batch, batch\n        self.base = adam_rule(self.base, old, batch)")),
    "refusal swallowed": ts((RULE, "try:\n            self.base = adam_rule(self.base, self.batch, batch)\n        except ValueError:\n            return\n        self.batch = batch")),
    "refusal swallowed, batch set": ts((RULE, "try:\n            self.base = adam_rule(self.base, self.batch, batch)\n        except ValueError:\n            pass\n        self.batch = batch")),
    "rate moved before the rule refuses": ts((RULE, 'self.base["lr"] *= (batch / self.batch) ** 0.5\n        self.base = adam_rule(self.base, self.batch, batch) | {"lr": self.base["lr"]}\n        self.batch = batch')),
    "rule always from the first batch on the moved base": ts(("#INITEND", "self.first = batch"), ("adam_rule(self.base, self.batch, batch)", "adam_rule(self.base, self.first, batch)")),
    "batch not remembered after a change": ts((RULE, "self.base = adam_rule(self.base, self.batch, batch)")),
    "rule moves what is told, with the factor": ts(("adam_rule(self.base, self.batch, batch)", "adam_rule(self.told(), self.batch, batch)")),
    "only the rate moves": ts((RULE, 'self.base["lr"] = adam_rule(self.base, self.batch, batch)["lr"]\n        self.batch = batch')),
    "decay does not move": ts((RULE, 'self.base = {**adam_rule(self.base, self.batch, batch), "weight_decay": self.base["weight_decay"]}\n        self.batch = batch')),
    "linear rate": ts((RULE, 'new = adam_rule(self.base, self.batch, batch)\n        new["lr"] = self.base["lr"] * batch / self.batch\n        self.base, self.batch = new, batch')),
    "change does nothing where the batch falls": ts((RULE, "if batch < self.batch:\n            return\n        " + RULE)),
    "RuntimeError where refused": ts((RULE, "try:\n            self.base = adam_rule(self.base, self.batch, batch)\n        except ValueError as e:\n            raise RuntimeError(str(e))\n        self.batch = batch")),
    "told hands out its own dictionary": ts((TOLD, 'self.out = getattr(self, "out", {})\n        self.out.update(self.base, lr=self.base["lr"] * self.factor())\n        return self.out')),
    "told multiplies the base": ts((TOLD, 'self.base["lr"] *= self.factor()\n        return dict(self.base)')),
    "told counts a step": ts((TOLD, TOLD.replace("return new", "self.seen += 0 if self.seen == 0 else 1\n        return new"))),
    "told has the rate only": ts((TOLD, 'return {"lr": self.base["lr"] * self.factor()}')),
    "factor after the step (t + batch)": ts(("t = self.seen\n", "t = self.seen + self.batch\n")),
    "t + 1": ts(("t = self.seen\n", "t = self.seen + 1\n")),
    "cosine from 0 to total, not from the warm-up": ts((DONE, "done = t / self.total")),
    "cosine over total tokens after the warm-up": ts((DONE, "done = min(1, (t - self.warmup) / self.total)")),
    "cosine rises again after total": ts((END, "")),
    "0 after total": ts(("return self.final\n", "return 0.0\n")),
    "linear decay": ts((COS, "self.final + (1 - self.final) * (1 - done)")),
    "final is a floor": ts((COS, "max(self.final, (1 + math.cos(math.pi * done)) / 2)")),
    "final added": ts((COS, "self.final + (1 + math.cos(math.pi * done)) / 2")),
    "final is always 0.1": ts(("self.final = batch, warmup, total, final", "self.final = batch, warmup, total, 0.1")),
    "a full wave": ts((COS, "self.final + (1 - self.final) * (1 + math.cos(2 * math.pi * done)) / 2")),
    "quarter wave": ts((COS, "self.final + (1 - self.final) * math.cos(math.pi / 2 * done)")),
    "divides by a warm-up of 0": ts((WARM, "        if t / self.warmup < 1:\n            return t / self.warmup")),
    "warm-up times the cosine": ts((WARM + "\n", ""), (DONE, "done = t / self.total"), ("return " + COS, "return (" + COS + ") * min(1, t / max(1, self.warmup))")),
    "warm-up starts at final": ts((WARM, "        if t < self.warmup:\n            return self.final + (1 - self.final) * t / self.warmup")),
    "warm-up never at 0": ts((WARM, "        if t < self.warmup:\n            return max(1e-3, t / self.warmup)")),
    "warm-up in whole steps of the batch": ts((WARM, "        if t < self.warmup:\n            return (t // self.batch) / math.ceil(self.warmup / self.batch)")),
    "final is a rate, not a factor": ts((TOLD, 'new = dict(self.base)\n        new["lr"] = max(self.final, self.base["lr"] * self.factor())\n        return new')),
    "state without tokens": ts((STATE, STATE.replace('"seen": self.seen, ', '')), (LOAD1, 'self.batch = state["batch"]')),
    "state without batch": ts((STATE, STATE.replace('"batch": self.batch, ', '')), (LOAD1, 'self.seen = state["seen"]')),
    "state without the base": ts((STATE, 'return {"seen": self.seen, "batch": self.batch}'), (LOAD2, "pass")),
    "state without eps": ts((LOAD2, 'self.base = {**state["base"], "betas": tuple(state["base"]["betas"]), "eps": self.base["eps"]}')),
    "state without decay": ts((LOAD2, 'self.base = {**state["base"], "betas": tuple(state["base"]["betas"]), "weight_decay": self.base["weight_decay"]}')),
    "state without betas": ts((LOAD2, 'self.base = {**state["base"], "betas": self.base["betas"]}')),
    "state saves what is told, with the factor": ts((STATE, STATE.replace("{**self.base,", "{**self.told(),"))),
    "state saves the rate over the factor, by division (0 at the start)": ts((STATE, 'return {"seen": self.seen, "batch": self.batch, "base": {**self.told(), "betas": list(self.base["betas"])}}'),
        (LOAD2, LOAD2 + '\n        f = self.factor()\n        self.base["lr"] = self.base["lr"] / f if f else self.base["lr"]')),
    "state is __dict__ itself": ts((STATE, "return self.__dict__"), (LOAD1, "self.__dict__.update(state)"), (LOAD2, "pass")),
    "state is a shallow copy of __dict__, base shared and moved in place": ts((STATE, "return dict(self.__dict__)"), (LOAD1, "self.__dict__.update(state)"), (LOAD2, "pass"), (RULE, "self.base.update(adam_rule(self.base, self.batch, batch))\n        self.batch = batch")),
    "load shares the state's base and moves it in place": ts((LOAD2, 'self.base = state["base"]'), (RULE, "self.base.update(adam_rule(self.base, self.batch, batch))\n        self.batch = batch")),
    "load takes things out of the state": ts((LOAD1, 'self.seen, self.batch = state.pop("seen"), state.pop("batch")')),
    "caller's told is moved in place": ts((INITB, "self.base = told"), (RULE, "self.base.update(adam_rule(self.base, self.batch, batch))\n        self.batch = batch")),
    "keeps the caller's told, not a copy (a later edit of the caller's shows)": ts((INITB, "self.base = told")),
    "numpy integers in the state": ts((STATE, STATE.replace('"seen": self.seen', '"seen": np.int64(self.seen)'))),
    "a set in the state": ts((STATE, STATE.replace('"seen": self.seen', '"seen": {self.seen}')), (LOAD1, '(self.seen,), self.batch = state["seen"], state["batch"]')),
    "the schedule itself in the state": ts((STATE, 'return {"me": copy.deepcopy(self)}'), (LOAD1, 'self.__dict__.update(copy.deepcopy(state["me"].__dict__))'), (LOAD2, "pass")),
    "bytes (pickle) in the state": ts((STATE, 'import pickle\n        return {"me": pickle.dumps(self.__dict__)}'), (LOAD1, 'import pickle\n        self.__dict__.update(pickle.loads(state["me"]))'), (LOAD2, "pass")),
    "integers as keys of the state (JSON makes them strings)": ts((STATE, STATE.replace('"seen": self.seen', '0: self.seen')), ('state["seen"]', "state[0]")),
    "state in six digits": ts((STATE, 'return {"seen": self.seen, "batch": self.batch, "base": {"lr": round(self.base["lr"], 6), "betas": [round(b, 6) for b in self.base["betas"]], "eps": self.base["eps"], "weight_decay": round(self.base["weight_decay"], 6)}}')),
    "eps to 10 decimals in the state": ts((STATE, STATE.replace("{**self.base,", '{**self.base, "eps": round(self.base["eps"], 10),'))),
    "state in a global": ts((STATE, "global _SAVED\n        _SAVED = (self.seen, self.batch, self.base)\n        return {}"), (LOAD1, "self.seen, self.batch, self.base = _SAVED"), (LOAD2, "pass")),
    "tokens belong to the class": ts(("class TokenSchedule:\n", "class TokenSchedule:\n    count = [0]\n\n"), ("self.seen = 0", "self.count[0] = 0"), ("self.seen, self.batch = state", "self.count[0], self.batch = state"), ("self.seen += tokens", "self.count[0] += tokens"), ("t = self.seen\n", "t = self.count[0]\n"), ('"seen": self.seen', '"seen": self.count[0]')),
    "base belongs to the class": ts((INITB, 'TokenSchedule.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}'), (RULE, "TokenSchedule.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch"), (LOAD2, LOAD2.replace("self.base =", "TokenSchedule.base ="))),
    "load replays the change (base moved twice)": ts((LOAD2, LOAD2 + "\n        self.base = self.base if self.batch == self.first else adam_rule(self.base, self.first, self.batch)"), ("#INITEND", "self.first = batch")),
    "change after a load goes from the first batch": ts((LOAD1, 'self.seen = state["seen"]')),
    "load forgets that the warm-up is over": ts((LOAD2, LOAD2 + "\n        self.warmup += self.seen")),
    "state holds tokens in whole batches": ts((STATE, STATE.replace('"seen": self.seen', '"seen": self.seen // self.batch')), (LOAD1, 'self.batch = state["batch"]\n        self.seen = state["seen"] * self.batch')),
    "state holds the number of steps": ts(("#INITEND", "self.n = 0"), (STEP, "self.seen += tokens\n        self.n += 1"), (STATE, STATE.replace('"seen": self.seen', '"seen": self.n')), (LOAD1, 'self.batch = state["batch"]\n        self.n = state["seen"]\n        self.seen = self.n * self.batch')),
    "tokens in float32": ts((STEP, "self.seen = float(np.float32(self.seen) + np.float32(tokens))")),
    "tokens mod 2**32": ts((STEP, "self.seen = (self.seen + tokens) % 2**32")),
    "told's betas is the list inside (left open: only the dictionary is said to be new)": ts((INITB, INITB.replace("tuple(", "list(")), (LOAD2, LOAD2.replace("tuple(", "list(")), (RULE, 'self.base = adam_rule(self.base, self.batch, batch)\n        self.base["betas"] = list(self.base["betas"])\n        self.batch = batch')),
    "state shares the list of betas with the schedule (left open: nothing moves it in place)": ts((INITB, INITB.replace("tuple(", "list(")), (STATE, 'return {"seen": self.seen, "batch": self.batch, "base": dict(self.base)}'), (LOAD2, 'self.base = dict(state["base"])')),
    "state shares the list of betas, and change moves it in place": ts((INITB, INITB.replace("tuple(", "list(")), (STATE, 'return {"seen": self.seen, "batch": self.batch, "base": dict(self.base)}'), (LOAD2, 'self.base = {**state["base"], "betas": list(state["base"]["betas"])}'),
        (RULE, 'new = adam_rule(self.base, self.batch, batch)\n        self.base["betas"][:] = new["betas"]\n        self.base = {**new, "betas": self.base["betas"]}\n        self.batch = batch')),
    "load shares the state's list of betas, and change moves it in place": ts((INITB, INITB.replace("tuple(", "list(")), (LOAD2, 'self.base = dict(state["base"])'),
        (RULE, 'new = adam_rule(self.base, self.batch, batch)\n        self.base["betas"][:] = new["betas"]\n        self.base = {**new, "betas": self.base["betas"]}\n        self.batch = batch')),
    "told's list is shared with the caller and moved in place": ts((INITB, "self.base = dict(told)"), (RULE, 'new = adam_rule(self.base, self.batch, batch)\n        if isinstance(self.base["betas"], list):\n            self.base["betas"][:] = new["betas"]\n            new["betas"] = self.base["betas"]\n        self.base, self.batch = new, batch')),
    "told keeps other keys of the caller's (params)": ts((INITB, "self.base = dict(told)"), (TOLD, TOLD)),
    "same batch is not asked of the rule (beta of 0 unrefused)": ts((RULE, "if batch == self.batch:\n            return\n        " + RULE)),
    "second load on a used schedule adds tokens (left open: a new one is loaded)": ts((LOAD1, 'self.seen, self.batch = self.seen + state["seen"], state["batch"]')),
    "a state saved twice is one dictionary": ts((STATE, 'self.saved = getattr(self, "saved", {})\n        self.saved.update(seen=self.seen, batch=self.batch, base={**self.base, "betas": list(self.base["betas"])})\n        return self.saved')),
    "rule of its own without refusal": ts((RULE, 'k = batch / self.batch\n        self.base = {"lr": self.base["lr"] * k ** 0.5, "betas": tuple(1 - k * (1 - b) for b in self.base["betas"]), "eps": self.base["eps"] / k ** 0.5, "weight_decay": self.base["weight_decay"] * k ** 0.5}\n        self.batch = batch')),
    "change takes effect one step later": ts((RULE, "self.next = (adam_rule(self.base, self.batch, batch), batch)"), (STEP, STEP + '\n        if getattr(self, "next", None):\n            (self.base, self.batch), self.next = self.next, None')),
}
if __name__ == "__main__":
    for group in (WRONG, RIGHT):
        for name, some in group.items():
            for why, code in some.items():
                compile(code, f"{name} {why}", "exec")
            print(name, len(some))
