"""All that AdamW is told: rate, betas, eps and decay move together, until a beta would be none."""

import copy

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.rates import PARTS
from batchlab.exercises.rates import told as of


def adam_rule(told, before, after):
    """What AdamW is told after the batch changed from `before` to `after`."""
    k = after / before
    broken = [f"beta{n}" for n, beta in enumerate(told["betas"], 1) if k * (1 - beta) > 1 - 1e-9]
    if broken:
        raise ValueError(f"k = {k:g} is past the limit of the rule for {' and '.join(broken)}")
    root = k**0.5
    betas = tuple(1 - k * (1 - beta) for beta in told["betas"])
    return {
        "lr": told["lr"] * root,
        "betas": betas,
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }


def scene(adam_rule, told, before, after):
    """What a rule tells, each beta by its name, and what it changes of `told`."""
    came = told
    told = copy.deepcopy(came)
    got = adam_rule(told, before, after)
    if not isinstance(got, dict):
        raise TypeError(f"a dictionary of {', '.join(PARTS)} is needed, not {got!r:.60}")
    keys = {
        "missing keys": [one for one in PARTS if one not in got],
        "keys too many": [str(one) for one in got if one not in PARTS],
        "what changed in `told`": [one for one in came if came[one] != told.get(one)],
    }
    beta1, beta2 = got.get("betas", (0.0, 0.0))
    return {
        **keys,
        "lr": got.get("lr", 0.0),
        "beta1": beta1,
        "beta2": beta2,
        "eps": got.get("eps", 0.0),
        "weight_decay": got.get("weight_decay", 0.0),
    }


def broken(told, before, after):
    """The betas that the rule does not reach."""
    limit = (1 - 1e-9) * before / after
    return [f"beta{n}" for n, beta in enumerate(told["betas"], 1) if 1 - beta > limit]


def misnamed(text, told, before, after):
    """What a message says of a beta that the rule does reach."""
    others = {"beta1", "beta2"} - set(broken(told, before, after))
    wrong = sorted(one for one in others if one in text)
    return f"{wrong[0]} still has a rule here: name only the betas that break it" if wrong else ""


def asked(told, before, after):
    return f"batch {before:,} -> {after:,} of {told}"


def drawn(rng):
    for _ in range(12):
        betas, eps = rng.uniform(0.9, 0.999, 2).tolist(), float(10 ** rng.uniform(-12, -6))
        given = of(float(rng.uniform(1e-5, 1e-2)), *betas, eps, float(rng.uniform(0, 0.3)))
        before, after = int(rng.integers(100, 900)), int(rng.integers(20, 900))
        yield given, before, after
        yield {**given, "weight_decay": 0.25}, before, after
    yield given | {"betas": [0.9, 0.95], "params": [], "initial_lr": 1e-3}, 4, 8
    yield of(5e-4, 0.9, 0.95, 1e-15, 0.1), 2**33, 2**33 + 2**32
    yield from [(of(1e-3, 0.9, 0.999, 1e-8, 0.1), 4096, after) for after in (8, 60, 4096)]
    yield of(1e-3, 0.9, 0.999, 1e-8, 0.1), 10_000, 99_999
    yield of(3e-4, 0.5, 0.999, 1e-8, 0.1), 10**9, 2 * 10**9 - 1
    yield of(3e-4, 0.0, 0.999, 1e-8, 0.1), 16, 16
    yield given, 100, 10**6


USUAL = of(3e-4, 0.9, 0.999, 1e-8, 0.1)
exercise = Exercise(
    adam_rule,
    points=2,
    scene=scene,
    asked=asked,
    drawn=drawn,
    rel=6e-7,
    abs=0.0,
    mentions=lambda *case: tuple(broken(*case)),
    misnamed=misnamed,
    hints=(
        "k = after / before; the rate and eps take its root, the betas 1 - k (1 - beta)",
        "decay: batch / (rate x decay) stays, and the rate has grown by the root of k",
        "collect the names of the betas with k * (1 - beta) > 1 - 1e-9 before anything is computed",
    ),
    shown=[
        (USUAL, 256, 1024),
        (of(1e-3, 0.8, 0.96, 1e-8, 0.2) | {"amsgrad": False}, 512, 64),
        (of(1e-3, 0.0, 0.5, 1e-8, 0.0), 3, 2),
        (of(1e-3, 0.9995, 1 - 2**-10, 1e-8, 0.1), 10_000_000, 10_239_996_928),
        (USUAL, 256, 4096),
        (of(3e-4, 0.75, 0.999, 1e-8, 0.1), 64, 256),
        (of(3e-4, 0.9, 0.5, 1e-8, 0.1), 64, 256),
        (USUAL, 64, 640),
        (of(3e-4, 0.9, 0.95, 1e-8, 0.1), 16, 4096),
    ],
    passed="Right: rate, betas, eps and decay move together, until a beta would be none.",
)
RATE, EPS, DECAY = 'told["lr"] * root', 'told["eps"] / root', 'told["weight_decay"] * root'
BETAS, LIMIT, K = "1 - k * (1 - beta) for", "> 1 - 1e-9", "k = after / before\n"
CHECKED, RETURN = "    if broken:", "    return {\n"
SHORT = "in floats k * (1 - beta) falls short of 1 by a rounding: compare with 1 - 1e-9"
PAST = "past its limit, from k (1 - beta) = 1 on, the rule gives no beta: refuse, and name it"
WIDE = "k (1 - beta) falls short of 1 by 3e-7: refuse from 1 - 1e-9 on, whatever k is"
for _thought, *_changes in [
    ("linear for Adam: the rate takes the root of k", (RATE, 'told["lr"] * k')),
    ("upside down: rate and k grow with the batch", (RATE, 'told["lr"] / root')),
    ("nothing moved: k is the new batch over the old", (K, "k = 1.0\n")),
    ("upside down: rate and k grow with the batch", (K, "k = before / after\n")),
    ("betas by half-life: this rule is 1 - k (1 - beta)", (BETAS, "beta**k for")),
    ("betas unchanged: both move with the rate", (BETAS, "beta for")),
    ("k beta: it is 1 - beta that grows k times", (BETAS, "k * beta for")),
    (
        "betas with the root of k: only rate, eps and decay take it",
        (BETAS, BETAS.replace("k", "root")),
    ),
    ("betas upside down: a larger batch remembers fewer steps", (BETAS, "1 - (1 - beta) / k for")),
    (
        "betas unchanged: both move with the rate",
        (
            '= tuple(1 - k * (1 - beta) for beta in told["betas"])',
            '= (told["betas"][0], 1 - k * (1 - told["betas"][1]))',
        ),
    ),
    (
        "the rule holds for both betas: beta2 is left as it was",
        (
            '= tuple(1 - k * (1 - beta) for beta in told["betas"])',
            '= (1 - k * (1 - told["betas"][0]), told["betas"][1])',
        ),
    ),
    (
        "beta2 by half-life: this rule is 1 - k (1 - beta) for both",
        (
            '= tuple(1 - k * (1 - beta) for beta in told["betas"])',
            '= (1 - k * (1 - told["betas"][0]), told["betas"][1] ** k)',
        ),
    ),
    ("the betas changed places", (RETURN, "    betas = betas[::-1]\n" + RETURN)),
    ("eps is upside down: it falls by the root", (EPS, 'told["eps"] * root')),
    ("eps falls by the root of k, not by k", (EPS, 'told["eps"] / k')),
    ("eps unchanged: it falls by the root of k", (EPS, 'told["eps"]')),
    (
        "decay times k is the rule at an unchanged rate: the rate grew, too",
        (DECAY, 'told["weight_decay"] * k'),
    ),
    ("decay is upside down: batch / (rate x decay) stays", (DECAY, 'told["weight_decay"] / root')),
    ("decay unchanged, although k over the root of k is left", (DECAY, 'told["weight_decay"]')),
    ("whole numbers by //: divide with /", (K, "k = after // before\n")),
    ("the batch falls: then k is below 1, and all move back", (K, "k = max(1, after / before)\n")),
    (
        "a fall is in range: betas rise where the batch falls",
        (CHECKED, '    if k < 1:\n        broken = ["beta1"]\n' + CHECKED),
    ),
    ("rounded to 6 digits: keep seven", (BETAS, "round(1 - k * (1 - beta), 6) for")),
    (
        "in float32: 1 - beta has too few digits",
        (BETAS, "float(1 - np.float32(k) * (1 - np.float32(beta))) for"),
    ),
    (
        "the decay may be 0: multiply by the root, do not divide by it",
        (DECAY, 'after / (told["lr"] * root * (before / (told["lr"] * told["weight_decay"])))'),
    ),
    (WIDE, (LIMIT, "> 1 - 1e-6")),
    (WIDE, ("k * (1 - beta) > 1 - 1e-9", "round(k * (1 - beta), 6) >= 1")),
    ("refused where the rule holds: the limit is k (1 - beta) = 1", (LIMIT, "> 0.35")),
    (PAST, (CHECKED, "    if False:")),
    (
        "cut off at 0: past the limit the rule gives no beta, refuse",
        (CHECKED, "    if False:"),
        (BETAS, f"max(0.0, {BETAS[:-4]}) for"),
    ),
    ("only beta1 was looked at", ('told["betas"], 1) if', 'told["betas"][:1], 1) if')),
    ("exactly 1 is past the limit, too", (LIMIT, "> 1")),
    (SHORT, (LIMIT, ">= 1")),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("keeps the other keys", "keys too many", (RETURN, "    return told | {\n")),
    ("decay is missing", "missing keys", (f'        "weight_decay": {DECAY},\n', "")),
    (
        "beta1, beta2 for betas",
        "missing keys",
        ('"betas": betas', '"beta1": betas[0], "beta2": betas[1]'),
    ),
    (
        "changes what came in",
        "what changed in `told`",
        (RETURN, '    told["betas"] = betas\n' + RETURN),
    ),
    (
        "name only the betas that break the rule: the other one still does",
        "name only",
        ("{' and '.join(broken)}", "beta1 or beta2"),
    ),
    ("none is named", "without 'beta1'", ("{' and '.join(broken)}", "a beta")),
    ("only the first is named", "without 'beta2'", ("{' and '.join(broken)}", "{broken[0]}")),
]:
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def arrays(told, before, after):
    """arrays"""
    k = np.float64(after) / before
    betas = 1 - k * (1 - np.asarray(told["betas"], dtype=float))
    wrong = [name for name, beta in zip(("beta1", "beta2"), betas) if beta < 1e-9]
    if wrong:
        raise ValueError(" and ".join(wrong))
    out = {"betas": betas, "lr": told["lr"] * np.sqrt(k), "eps": told["eps"] / np.sqrt(k)}
    out["weight_decay"] = told["weight_decay"] * k / np.sqrt(k)
    return out


@exercise.style
def seven_digits(told, before, after):
    """all to seven digits, betas in a list"""
    import math

    k = after / before
    bad = [n for n, b in zip(("beta1", "beta2"), told["betas"]) if k * (1 - b) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"no rule for {bad}")
    root = math.sqrt(k)
    new = {"lr": told["lr"] * root, "eps": told["eps"] / root}
    new["weight_decay"] = told["weight_decay"] * root
    new = {key: float(f"{value:.7g}") for key, value in new.items()}
    return new | {"betas": [round(1 - k * (1 - b), 7) for b in told["betas"]]}


@exercise.style
def betas_in_float32(told, before, after):
    """betas come in float32 at the end"""
    k = after / before
    bad = [n for n, b in zip(("beta1", "beta2"), told["betas"]) if k * (1 - b) >= 1 - 1e-9]
    if bad:
        raise ValueError(", ".join(bad))
    return {
        "lr": told["lr"] * k**0.5,
        "betas": tuple(float(np.float32(1 - k * (1 - b))) for b in told["betas"]),
        "eps": told["eps"] * k**-0.5,
        "weight_decay": told["weight_decay"] * k**0.5,
    }
