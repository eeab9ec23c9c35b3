# ruff: noqa
"""Lesson 12_rates: answers of a second fresh student, written from the student copy alone."""

WRONG = {
    'new-rate': {
        'accepts Adam and AdamW in capitals (lower() for the Adams only)': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer != "sgd" and optimizer.lower() not in ("adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'accepts any one letter after adam: adamp, adams (pattern adam.?)': '''import re


def new_rate(rate, before, after, optimizer, noise):
    if not re.fullmatch(r"sgd|adam.?", optimizer):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        "accepts blanks around the name: ' adam' (strip)": '''def new_rate(rate, before, after, optimizer, noise):
    optimizer_ = optimizer.strip()
    if optimizer_ not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer_ == "sgd" else rate * math.sqrt(k)
''',
        "a black list of other optimizers: rmsprop, adagrad, '' get the root": '''def new_rate(rate, before, after, optimizer, noise):
    others = ("nadam", "adamax", "radam", "lion", "muon", "adafactor", "sgdw", "ada", "SGD")
    if optimizer in others:
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        "an empty name is taken for SGD ('' or 'sgd')": '''def new_rate(rate, before, after, optimizer, noise):
    optimizer = optimizer or "sgd"
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'refuses Adam from k = 10 on, where beta1 0.9 of the full rule ends: refuse nothing else': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    if optimizer != "sgd" and k >= 10:
        raise ValueError(f"k = {k} is too much for beta1 0.9, batch {larger}")
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'refuses SGD above k = 100: refuse nothing else': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    if optimizer == "sgd" and k > 100:
        raise ValueError(f"batch {larger}: the gradient changes over {k} steps")
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'refuses a rate of 0 (start of a warm-up): refuse nothing else': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    if rate <= 0:
        raise ValueError(f"rate {rate} must be positive")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'noise scale cut to a whole number: 3.25 at a scale of 3.5 is refused, inf crashes': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > int(noise):
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'larger batch rounded up before it is compared: 3.4 at 3.5 is refused': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if math.ceil(larger) > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'larger batch rounded before it is compared: 4.4 at 4.2 is answered': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if round(larger) > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'np.isclose counts as at the scale: 100,001 at 100,000 is answered': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise and not np.isclose(larger, noise):
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'compares the ratio in floats: 2**60 + 1 at 2**60 is answered': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger / noise > 1:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'the batch in the message rounded to 2 places: 3.125 is named 3.12': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {round(larger, 2)} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'the batch in the message with 8 digits (:.8g): 1,234,567,891 is cut': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger:.8g} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'k rounded to 4 places: 1/4096 becomes 0.0002': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = round(after / before, 4)
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'rate rounded to 8 places: 1.5e-9 becomes 0': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return round(rate * k if optimizer == "sgd" else rate * math.sqrt(k), 8)
''',
        'the factor is remembered by (before, after) and forgets the optimizer': '''FACTORS = {}


def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    if (before, after) not in FACTORS:
        FACTORS[before, after] = k if optimizer == "sgd" else math.sqrt(k)
    return rate * FACTORS[before, after]
''',
        'linear for all three': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k
''',
        'only the new batch is compared with the noise scale': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = after
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'open: with another optimizer and a batch above the scale, only the batch is named': '''def new_rate(rate, before, after, optimizer, noise):
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    powers = {"sgd": 1.0, "adam": 0.5, "adamw": 0.5}
    if optimizer not in powers:
        raise ValueError(f"no rule for {optimizer}")
    return rate * (after / before) ** powers[optimizer]
''',
        'open: names both batches and the scale, does not say which is meant': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"one of {before} and {after} is above {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
    },
    'adam-rule': {
        'betas rounded to 7 places: not all digits': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(round(1 - k * (1 - beta), 7) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'all rounded to 7 digits (:.7g): not all digits': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    new = {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
    short = lambda x: float(f"{x:.7g}")
    return {key: tuple(map(short, value)) if key == "betas" else short(value) for key, value in new.items()}
''',
        'computed in float32: not all digits': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    k = np.float32(k)
    root = np.sqrt(k)
    betas = 1 - k * (1 - np.array(told["betas"], dtype=np.float32))
    return {"lr": float(np.float32(told["lr"]) * root), "betas": tuple(betas.tolist()),
            "eps": float(np.float32(told["eps"]) / root), "weight_decay": float(np.float32(told["weight_decay"]) * root)}
''',
        'counts as 1 from 1 - 1e-6 on: 0.9999995 is refused': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-6]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'counts as 1 from 1 - 1e-12 on: 1 - 5e-10 is answered': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-12]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'k (1 - beta) rounded to 6 places before it is compared: 0.9999996 is refused': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if round(k * (1 - beta), 6) >= 1]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'same batch: hands the very dictionary back, with all its other keys': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    if before == after:
        return told
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'takes off the keys that torch has today: initial_lr, decoupled_weight_decay stay in it': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    new = dict(told)
    for key in ("params", "amsgrad", "maximize", "foreach", "capturable", "differentiable", "fused"):
        new.pop(key, None)
    new["lr"] *= math.sqrt(k)
    new["betas"] = tuple(1 - k * (1 - beta) for beta in told["betas"])
    new["eps"] /= math.sqrt(k)
    new["weight_decay"] *= math.sqrt(k)
    return new
''',
        'decay from the timescale itself: a rate of 0 divides by zero': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    span = before / (told["lr"] * told["weight_decay"]) if told["weight_decay"] else math.inf
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": after / (told["lr"] * root * span),
    }
''',
        'betas capped at 0.99999': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(min(0.99999, 1 - k * (1 - beta)) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'eps never below 1e-15 (a guard that nobody asked for)': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": max(told["eps"] / root, 1e-15),
        "weight_decay": told["weight_decay"] * root,
    }
''',
        "the answer is remembered by (before, after): the second group gets the first one's": '''SEEN = {}


def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    if (before, after) in SEEN:
        return dict(SEEN[before, after])
    SEEN[before, after] = {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
    return dict(SEEN[before, after])
''',
        'decay times k: forgets that the rate grew too': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * k,
    }
''',
        'names only the first beta that breaks it': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {bad[0]}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'beta2 by its half-life, beta1 by the rule': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": (1 - k * (1 - told["betas"][0]), told["betas"][1] ** k),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'refuses k below 1/100: the rule gives an answer there': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    if k < 1 / 100:
        raise ValueError(f'k = {k}: too far down')
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'the limit is beta <= 0 in floats: k = 10 at 0.9 is answered': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if 1 - k * (1 - beta) <= 0]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'compares 1 / k with 1 - beta within 1e-9: at k = 1000 the margin is a thousand times too wide': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if 1 - beta >= 1 / k - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        "open: at an unchanged batch the caller's own list of betas is in the new dictionary": '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    if before == after:
        return {key: told[key] for key in ('lr', 'betas', 'eps', 'weight_decay')}
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'open: betas come back as a NumPy array, no pair that torch or JSON takes': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": 1 - k * (1 - np.array(told["betas"])),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
    },
    'same-half-life': {
        'names the old beta2 with :g, six digits: 0.9999875 becomes 0.999988': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2:g} would become {new}")
    return new
''',
        'names the old beta2 with five places: 0.9999875 becomes 0.99999': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2:.5f} would become {new}")
    return new
''',
        'names the old beta2 rounded to 6 places': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {round(beta2, 6)} would become {new}")
    return new
''',
        'decides after rounding to 5 places: 0.499998 is answered': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if round(new, 5) < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'refuses from 0.5 - 1e-6 down only: 0.4999995 is answered': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5 - 1e-6:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'refuses only where the batch did not fall: 0.25 from 64 to 40 is 0.42 and answered': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if after >= before and new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'rounded to 12 places: not all digits of float64': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return round(new, 12)
''',
        'capped at 0.99999': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return min(new, 0.99999)
''',
        'the tangent where k (1 - beta2) is below 1e-5: not all digits': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if (share := (1 - beta2) * after / before) < 1e-5:
        new = 1 - share
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'by logarithms: a beta2 of 0 gets a math domain error that does not name it': '''def same_half_life(beta2, before, after):
    new = math.exp(math.log(beta2) * after / before)
    if math.log(0.5) / math.log(beta2) * before < after:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'refuses a new beta2 of exactly 0.5 too': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new <= 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'upside down: before / after': '''def same_half_life(beta2, before, after):
    new = beta2 ** (before / after)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'the tangent 1 - k (1 - beta2)': '''def same_half_life(beta2, before, after):
    new = 1 - (1 - beta2) * after / before
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'float32': '''def same_half_life(beta2, before, after):
    new = float(np.float32(beta2) ** np.float32(after / before))
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'names the new beta2 only': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"a beta2 of {new:.3f} is below 0.5")
    return new
''',
        'root of k in the exponent, as for the rate': '''def same_half_life(beta2, before, after):
    new = beta2 ** math.sqrt(after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'refuses too if the old half-life was below a step: 0.25 from 64 to 32 is 0.5': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5 or beta2 < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'refuses only if the half-life falls short of the OLD batch': '''def same_half_life(beta2, before, after):
    tokens = before * math.log(0.5) / math.log(beta2)
    if tokens < before:
        raise ValueError(f"beta2 {beta2}: {tokens} tokens")
    return 0.5 ** (after / tokens)
''',
        'open: a margin of 1e-12 for floats below 0.5': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5 - 1e-12:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
    },
    'which-rule': {
        'linear for all seven': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "linear")
''',
        'full rule for all seven': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "full rule")
''',
        'half-life for all seven': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "half-life")
''',
        'tune for all seven': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "tune")
''',
        'case G forgotten': '''def which_rule():
    return dict.fromkeys("ABCDEF", "tune")
''',
        'small letters as keys': '''def which_rule():
    return dict.fromkeys("abcdefg", "tune")
''',
        "another word: 'square root' is not among the four": '''def which_rule():
    return dict.fromkeys("ABCDEFG", "square root")
''',
        'all the words in one text for each case': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "linear, full rule, half-life, tune")
''',
        'a set of words for each case': '''def which_rule():
    return {c: {"linear", "full rule", "half-life", "tune"} for c in "ABCDEFG"}
''',
        'a list of words for each case': '''def which_rule():
    return {c: ["tune", "full rule", "half-life", "linear"] for c in "ABCDEFG"}
''',
        'None where none was shown': '''def which_rule():
    return {c: None for c in "ABCDEFG"}
''',
        'seven words in a list, no dictionary': '''def which_rule():
    return ["linear", "full rule", "half-life", "tune", "tune", "tune", "tune"]
''',
        'one letter for each rule': '''def which_rule():
    return dict(zip("ABCDEFG", "lfhtttt"))
''',
        'a text that is equal to every text': '''class Any(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def which_rule():
    return {c: Any("tune") for c in "ABCDEFG"}
''',
        'underscores instead of blanks and hyphens, all one rule': '''def which_rule():
    return dict.fromkeys("ABCDEFG", "full_rule")
''',
        'open (cases not seen): linear, then full rule, then half-life, then tune four times': '''def which_rule():
    return dict(zip("ABCDEFG", ["linear", "full rule", "half-life", "tune", "tune", "tune", "tune"]))
''',
    },
    'grow-at': {
        '5,040: the trap of the text, it drops first and ends a third above': '''def grow_at():
    return 5040
''',
        '5,040 as a text': '''def grow_at():
    return "5040"
''',
        '0: grows from the start': '''def grow_at():
    return 0
''',
        '5,040 / 4: in steps of the old batch, not in examples': '''def grow_at():
    return 1260
''',
        '5,040 / 32: in steps of the new batch': '''def grow_at():
    return 157.5
''',
        'infinite: never': '''def grow_at():
    return math.inf
''',
        'NaN': '''def grow_at():
    return float('nan')
''',
        'negative': '''def grow_at():
    return -5040
''',
        'a truth value': '''def grow_at():
    return True
''',
        'several places in a list': '''def grow_at():
    return [0, 5040, 10_080, 20_160, 40_320]
''',
        'a share of the run, not examples': '''def grow_at():
    return 0.5
''',
        'a range': '''def grow_at():
    return range(0, 1_000_000)
''',
        'just above the trap: no place of the slider': '''def grow_at():
    return 5041
''',
        'huge: a growth after the end of any run costs nothing, and is not the earliest': '''def grow_at():
    return 10**12
''',
    },
    'warmup-test': {
        'np.allclose with its defaults: a relative tolerance of 1e-5, more than 1e-6': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        assert np.allclose(got, want)
''',
        'tolerance of 1e-5': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-5
''',
        'tolerance of 1e-3: 0.01 % is not seen': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-3
''',
        'exact comparison stops right versions': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert one == right
''',
        'asks for a list: stops a right tuple and a right array': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = factors(list(steps), warmup)
        assert isinstance(got, list)
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'zip without the length: a factor too few is not seen': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'never without warm-up': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'only the case of the text': '''def warmup_test(factors):
    got = list(factors([10, 10, 40, 40], 80))
    assert len(got) == 4
    for one, right in zip(got, [0, 0.125, 0.25, 0.75]):
        assert abs(one - right) < 1e-6
''',
        'only steps that grow': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([7] * 12, 50), ([1, 3, 100], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([5, 10, 20], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'only steps that shrink or stay': '''def warmup_test(factors):
    for steps, warmup in [([40, 30, 20, 10, 5, 5], 90), ([7] * 12, 50), ([100, 3, 1], 40), ([20, 10, 5], 0)]:
        seen = np.cumsum([0] + steps[:-1])
        want = np.minimum(1, seen / warmup) if warmup else np.ones(len(steps))
        got = np.array(factors(steps, warmup), dtype=float)
        assert got.shape == want.shape and np.abs(got - want).max() < 1e-6
''',
        'only equal steps': '''def warmup_test(factors):
    for steps, warmup in [([7] * 12, 50), ([100] * 5, 250), ([3] * 4, 0), ([1] * 3, 100)]:
        want = [min(1, i * steps[0] / warmup) if warmup else 1 for i in range(len(steps))]
        got = list(factors(steps, warmup))
        assert len(got) == len(want)
        assert all(abs(a - b) < 1e-6 for a, b in zip(got, want))
''',
        'one-sided: only too high is seen': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert one - right <= 1e-7
''',
        'one-sided the other way: only too low is seen': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert right - one <= 1e-7
''',
        'only the sum of the factors': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        assert abs(sum(got) - sum(want)) <= 1e-7
''',
        'the warm-up never ends before the last step': '''def warmup_test(factors):
    for steps, warmup in [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 900), ([7] * 5, 50), ([100, 3, 1], 400), ([9, 8, 7], 0)]:
        seen, want = 0, []
        for tokens in steps:
            want.append(seen / warmup if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        assert all(abs(a - b) <= 1e-6 for a, b in zip(got, want))
''',
        'assert with a tuple is always true': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert (abs(one - right) <= 1e-7, "wrong factor")
''',
        'only laws: from 0 to 1, never falls, first 0': '''def warmup_test(factors):
    for steps, warmup in [([10, 10, 40, 40], 80), ([40, 10, 25, 5], 60)]:
        got = list(factors(steps, warmup))
        assert len(got) == len(steps) and abs(got[0]) < 1e-6
        assert all(0 <= a <= 1 for a in got)
        assert all(a <= b for a, b in zip(got, got[1:]))
    assert all(abs(a - 1) < 1e-6 for a in factors([5, 6], 0))
''',
        'expects the tokens after the step: the wrong ones pass and the right ones are stopped': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            seen += tokens
            want.append(min(1, seen / warmup) if warmup else 1)
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'returns True for right and a text for wrong: no assert fails': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            if abs(one - right) > 1e-7:
                return "wrong factor"
    return True
''',
    },
    'token-schedule': {
        'final is 0 by default, the cell says 0.1': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.0):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'final has no default': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'a step of 0 tokens counts the planned batch (tokens or self.batch)': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens or self.batch

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'tokens counted in float32: small steps vanish after 2**34': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen = float(np.float32(self.seen) + np.float32(tokens))

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        "dict(told) is flat: a caller's list of betas that is set later reaches the schedule": '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = dict(told)
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'told() hands out its own list of betas, if a list came in': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": list(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
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
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'after load the list of betas from the state is handed out by told(), unbroken link to the state': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
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
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = dict(state["base"])
''',
        "state_dict: {'base': self.base}; load takes the very dictionary of the state, change() updates it: the state changes": '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base.update(adam_rule(self.base, self.batch, batch))
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = state["base"]
''',
        'state_dict hands out its inner dictionary, and change() updates it: what was saved changes': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base.update(adam_rule(self.base, self.batch, batch))
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": self.base}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the factor rounded to 6 places: a warm-up of 2e9 tokens starts at 0': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * round(self.factor(), 6)
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the state keeps six digits: does not go on as if nothing had happened': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**{key: float(f"{self.base[key]:.6g}") for key in ("lr", "eps", "weight_decay")},
                "betas": [float(f"{beta:.6g}") for beta in self.base["betas"]]}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the same batch is not asked of the rule: a beta of 0 is not refused': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        if batch == self.batch:
            return
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'change(): the batch is set before the rule may refuse': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        old, self.batch = self.batch, batch
        self.base = adam_rule(self.base, old, batch)

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'change() moves what told() says, with the factor in it': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.told(), self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'change() always from the batch of the beginning': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = self.first = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.first, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the tokens of the last step taken are the old batch of a change': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens
        self.batch = tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the state forgets the batch': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the state forgets eps and decay': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {"lr": self.base["lr"], "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**self.base, **state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'a refused change is swallowed: no ValueError': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        try:
            self.base = adam_rule(self.base, self.batch, batch)
        except ValueError:
            return
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the cosine goes over all tokens, not from the end of the warm-up': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, self.seen / self.total)
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'linear decay': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 - done)

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'no end at total: the cosine rises again': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = (self.seen - self.warmup) / (self.total - self.warmup)
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'step() counts the planned batch': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += self.batch

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the factor is kept from the last step: stale after load': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0
        self.now = self.factor()

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.now
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens
        self.now = self.factor()

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'load_state_dict pops out of the state': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state.pop("seen")
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'open: told() hands on every key of the group that came in (params, amsgrad); the text says the four come in': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {**told, "betas": tuple(told["betas"])}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'warm-up in steps of the first batch: irregular steps are off': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0
        self.steps = 0
        self.first = batch

    def factor(self):
        if self.seen < self.warmup:
            return min(1, self.steps * self.first / self.warmup)
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens
        self.steps += 1

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'tokens stop being counted in a change: the count starts anew': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch
        self.seen = 0

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'a class attribute holds the tokens: two schedules share them': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        TokenSchedule.count = 0

    count = 0

    @property
    def seen(self):
        return TokenSchedule.count

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        TokenSchedule.count += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        TokenSchedule.count = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the state holds tokens and batch alone, and load asks the rule only where the batch grew': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        if state["batch"] > self.batch:
            self.change(state["batch"])
        self.batch = state["batch"]
''',
        'the rule is asked for the rounded ratio of whole batches: 250 from 100 is 2': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, 1, max(1, batch // self.batch))
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'refuses a large change after total: nothing but the rule refuses': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        if self.seen > self.total and batch > 10 * self.batch / 4:
            raise ValueError(f"the run is over: {batch}")
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'a 0 in the state is taken for missing (or)': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"] or self.batch
        self.batch = state["batch"]
        old = self.base
        self.base = {key: state["base"][key] or old[key] for key in ("lr", "eps", "weight_decay")}
        self.base["betas"] = tuple(new or was for new, was in zip(state["base"]["betas"], old["betas"]))
''',
        'the rate of the first step of a schedule without warm-up is 0 (max(1, warmup))': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < max(1, self.warmup):
            return self.seen / max(1, self.warmup)
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'the count in the state is np.int64: JSON cannot hold it': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen = np.int64(self.seen + tokens)

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'open: a count of tokens that is a fraction is cut (int)': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += int(tokens)

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'open: state_dict shares its inner dictionary with the schedule (never changed in place by it)': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": self.base}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
    },
}

RIGHT = {
    'new-rate': {
        'plain, if and max': '''def new_rate(rate, before, after, optimizer, noise):
    if optimizer not in ("sgd", "adam", "adamw"):
        raise ValueError(f"no rule for {optimizer}")
    larger = max(before, after)
    if larger > noise:
        raise ValueError(f"batch {larger} is above the noise scale {noise}")
    k = after / before
    return rate * k if optimizer == "sgd" else rate * math.sqrt(k)
''',
        'dictionary of powers, KeyError turned into ValueError': '''POWERS = {"sgd": 1, "adam": 0.5, "adamw": 0.5}


def new_rate(rate, before, after, optimizer, noise):
    try:
        power = POWERS[optimizer]
    except KeyError:
        raise ValueError(f"{optimizer!r} is none of {sorted(POWERS)}") from None
    for batch in sorted((before, after), reverse=True):
        if batch > noise:
            raise ValueError(f"a batch of {batch:,} is above the noise scale of {noise:,}")
    return rate * after**power / before**power
''',
        'NumPy float64, root of each batch': '''class OutOfRange(ValueError):
    pass


def new_rate(rate, before, after, optimizer, noise):
    match optimizer:
        case "sgd":
            factor = np.float64(after) / np.float64(before)
        case "adam" | "adamw":
            factor = np.sqrt(np.float64(after)) / np.sqrt(np.float64(before))
        case _:
            raise OutOfRange("unknown optimizer " + str(optimizer))
    if before > noise or after > noise:
        raise OutOfRange("above the noise scale: " + str(before if before > after else after))
    return np.float64(rate) * factor
''',
        "torch float64, a 0-d tensor's item": '''def new_rate(rate, before, after, optimizer, noise):
    import torch

    if optimizer not in {"sgd", "adam", "adamw"}:
        raise ValueError("optimizer: %s" % optimizer)
    if (larger := max(before, after)) > noise:
        raise ValueError("batch: %s" % larger)
    k = torch.tensor(after, dtype=torch.float64) / torch.tensor(before, dtype=torch.float64)
    return (rate * (k if optimizer == "sgd" else k.sqrt())).item()
''',
    },
    'adam-rule': {
        'plain, comprehension': '''def adam_rule(told, before, after):
    k = after / before
    bad = [name for name, beta in zip(("beta1", "beta2"), told["betas"]) if k * (1 - beta) >= 1 - 1e-9]
    if bad:
        raise ValueError(f"k = {k}: the rule gives no {' and no '.join(bad)}")
    root = math.sqrt(k)
    return {
        "lr": told["lr"] * root,
        "betas": tuple(1 - k * (1 - beta) for beta in told["betas"]),
        "eps": told["eps"] / root,
        "weight_decay": told["weight_decay"] * root,
    }
''',
        'from the timescale, guarded; loop over the betas': '''def adam_rule(told, before, after):
    new, refused = {}, []
    k = after / before
    betas = []
    for number in (1, 2):
        gone = k * (1 - told["betas"][number - 1])
        if gone > 1 or math.isclose(gone, 1, rel_tol=0, abs_tol=1e-9):
            refused.append(f"beta{number}")
        betas.append(1.0 - gone)
    if refused:
        raise ValueError(", ".join(refused) + f" would be 0 or below at k = {k:g}")
    new["betas"] = betas
    new["lr"] = told["lr"] * k**0.5
    new["eps"] = told["eps"] * k**-0.5
    if told["lr"] and told["weight_decay"]:
        span = before / (told["lr"] * told["weight_decay"])
        new["weight_decay"] = after / (new["lr"] * span)
    else:
        new["weight_decay"] = told["weight_decay"] * k**0.5
    return new
''',
        'NumPy float64': '''def adam_rule(told, before, after):
    k = np.float64(after) / np.float64(before)
    shares = k * (1 - np.asarray(told["betas"], dtype=np.float64))
    over = np.flatnonzero(shares >= 1 - 1e-9)
    if over.size:
        raise ValueError("no average of less than a step: " + " ".join(f"beta{i + 1}" for i in over))
    beta1, beta2 = (1 - shares).tolist()
    root = float(np.sqrt(k))
    return dict(lr=told["lr"] * root, betas=(beta1, beta2), eps=told["eps"] / root, weight_decay=told["weight_decay"] * root)
''',
        'torch float64, k times decay over the growth of the rate': '''def adam_rule(told, before, after):
    import torch

    k = torch.tensor(after, dtype=torch.float64) / before
    gone = k * (1 - torch.tensor(list(told["betas"]), dtype=torch.float64))
    names = [name for name, one in zip(["beta1", "beta2"], gone.tolist()) if one >= 1 - 1e-9]
    if names:
        raise ValueError(str(names))
    lr = told["lr"] * k.sqrt()
    return {"weight_decay": (told["weight_decay"] * k / k.sqrt()).item(), "eps": (told["eps"] / k.sqrt()).item(),
            "betas": tuple((1 - gone).tolist()), "lr": lr.item()}
''',
    },
    'same-half-life': {
        'power': '''def same_half_life(beta2, before, after):
    new = beta2 ** (after / before)
    if new < 0.5:
        raise ValueError(f"beta2 {beta2} would become {new}")
    return new
''',
        'half-life in tokens': '''def same_half_life(beta2, before, after):
    if beta2 <= 0:
        raise ValueError(f"beta2 {beta2} has no half-life")
    steps = math.log(0.5) / math.log(beta2) * (before / after)
    if 0.5 ** (1 / steps) < 0.5:
        raise ValueError(f"beta2 {beta2}: half-life of {steps:.3f} steps")
    return 0.5 ** (1 / steps)
''',
        'torch float64': '''def same_half_life(beta2, before, after):
    import torch

    new = torch.tensor(beta2, dtype=torch.float64).pow(after / before).item()
    if not new >= 0.5:
        raise ValueError(f"{beta2} -> {new}")
    return new
''',
        'NumPy float64': '''def same_half_life(beta2, before, after):
    with np.errstate(divide="ignore"):
        new = np.float64(np.power(np.float64(beta2), np.float64(after) / np.float64(before)))
    if new < 0.5:
        raise ValueError("old beta2: " + repr(float(beta2)))
    return new
''',
    },
    'warmup-test': {
        'loop, nine cases': '''def warmup_test(factors):
    cases = [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([100, 3, 1], 40),
             ([64, 128, 256, 512, 1024], 700), ([30, 30, 30], 60), ([10, 20, 5], 0), ([5], 3), ([5, 9], 1000)]
    for steps, warmup in cases:
        seen, want = 0, []
        for tokens in steps:
            want.append(min(1, seen / warmup) if warmup else 1)
            seen += tokens
        got = list(factors(list(steps), warmup))
        assert len(got) == len(want)
        for one, right in zip(got, want):
            assert abs(one - right) <= 1e-7
''',
        'NumPy allclose with its own tolerances': '''def warmup_test(factors):
    rng = np.random.default_rng(3)
    cases = [([10, 10, 40, 40], 80), ([10, 20, 5], 0), ([64, 32, 16, 8, 8], 100), ([1, 2, 4, 8, 16, 32], 20), ([50, 50, 50], 50)]
    cases += [(rng.integers(1, 100, 12).tolist(), int(rng.integers(1, 700))) for _ in range(30)]
    for steps, warmup in cases:
        before = np.concatenate([[0], np.cumsum(steps)[:-1]])
        want = np.ones(len(steps)) if warmup == 0 else np.clip(before / warmup, 0, 1)
        got = np.asarray(factors(list(steps), warmup), dtype=np.float64)
        assert got.shape == want.shape, (steps, warmup)
        np.testing.assert_allclose(got, want, rtol=0, atol=5e-7)
''',
        'by hand, returns False': '''def warmup_test(factors):
    by_hand = {
        ((10, 10, 40, 40), 80): [0, 0.125, 0.25, 0.75],
        ((40, 40, 10, 10, 20), 100): [0, 0.4, 0.8, 0.9, 1],
        ((5, 5, 5, 5, 5), 20): [0, 0.25, 0.5, 0.75, 1],
        ((90, 1, 7), 50): [0, 1, 1],
        ((8, 16, 32, 64), 16): [0, 0.5, 1, 1],
        ((64, 32, 16, 16, 3), 128): [0, 0.5, 0.75, 0.875, 1],
        ((3, 9, 1), 0): [1, 1, 1],
        ((100, 300, 200), 1000): [0, 0.1, 0.4],
    }
    for (steps, warmup), want in by_hand.items():
        got = [float(one) for one in factors(list(steps), warmup)]
        if len(got) != len(want) or any(abs(a - b) > 1e-6 for a, b in zip(got, want)):
            return False
''',
        'torch.testing, tolerance 1e-9': '''def warmup_test(factors):
    import torch

    for steps, warmup in [([10, 10, 40, 40], 80), ([40, 10, 25, 5, 5, 60], 90), ([7] * 12, 50), ([64, 128, 256, 512], 300), ([4, 2, 1], 0)]:
        t = torch.tensor([0, *steps[:-1]], dtype=torch.float64).cumsum(0)
        want = (t / warmup).clamp(max=1) if warmup else torch.ones_like(t)
        got = torch.tensor([float(x) for x in factors(list(steps), warmup)], dtype=torch.float64)
        torch.testing.assert_close(got, want, rtol=0, atol=1e-9)
''',
    },
    'token-schedule': {
        'plain': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.base = {"lr": told["lr"], "betas": tuple(told["betas"]), "eps": told["eps"], "weight_decay": told["weight_decay"]}
        self.batch = batch
        self.warmup, self.total, self.final = warmup, total, final
        self.seen = 0

    def factor(self):
        if self.seen < self.warmup:
            return self.seen / self.warmup
        done = min(1, (self.seen - self.warmup) / (self.total - self.warmup))
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * done)) / 2

    def told(self):
        new = dict(self.base)
        new["lr"] = self.base["lr"] * self.factor()
        new["betas"] = tuple(self.base["betas"])
        return new

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self.base = adam_rule(self.base, self.batch, batch)
        self.batch = batch

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "base": {**self.base, "betas": list(self.base["betas"])}}

    def load_state_dict(self, state):
        self.seen = state["seen"]
        self.batch = state["batch"]
        self.base = {**state["base"], "betas": tuple(state["base"]["betas"])}
''',
        'deepcopy, torch cosine in float64': '''import copy


class TokenSchedule:
    NAMES = ("lr", "betas", "eps", "weight_decay")

    def __init__(self, told, batch, warmup, total, final=0.1):
        self.now = {name: copy.deepcopy(told[name]) for name in self.NAMES}
        self.batch, self.warmup, self.total, self.final, self.tokens = batch, warmup, total, final, 0

    def told(self):
        import torch

        t = self.tokens
        if t < self.warmup:
            factor = t / self.warmup
        elif t >= self.total:
            factor = self.final
        else:
            angle = torch.tensor(math.pi * (t - self.warmup) / (self.total - self.warmup), dtype=torch.float64)
            factor = self.final + (1 - self.final) * 0.5 * (1 + angle.cos().item())
        answer = copy.deepcopy(self.now)
        answer["lr"] *= factor
        return answer

    def step(self, tokens):
        self.tokens = self.tokens + tokens

    def change(self, batch):
        self.now, self.batch = adam_rule(copy.deepcopy(self.now), self.batch, batch), batch

    def state_dict(self):
        return copy.deepcopy({"now": self.now, "batch": self.batch, "tokens": self.tokens})

    def load_state_dict(self, state):
        state = copy.deepcopy(state)
        self.now, self.batch, self.tokens = state["now"], state["batch"], state["tokens"]
''',
        'from the first, always: the rule composes, so batch and tokens are all the state': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self.first = (told["lr"], tuple(told["betas"]), told["eps"], told["weight_decay"])
        self.first_batch = self.batch = batch
        self.changed = False
        self.curve = warmup, total, final
        self.seen = 0

    def _moved(self, batch, changed):
        lr, betas, eps, decay = self.first
        base = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": decay}
        return adam_rule(base, self.first_batch, batch) if changed else base

    def told(self):
        warmup, total, final = self.curve
        base = self._moved(self.batch, self.changed)
        if self.seen < warmup:
            factor = self.seen / warmup
        else:
            wave = np.cos(np.pi * min(1.0, (self.seen - warmup) / (total - warmup)))
            factor = float((1 + final) / 2 + (1 - final) / 2 * wave)
        return {"lr": base["lr"] * factor, "betas": tuple(base["betas"]), "eps": base["eps"], "weight_decay": base["weight_decay"]}

    def step(self, tokens):
        self.seen += tokens

    def change(self, batch):
        self._moved(batch, True)
        self.batch, self.changed = batch, True

    def state_dict(self):
        return {"seen": self.seen, "batch": self.batch, "changed": self.changed}

    def load_state_dict(self, state):
        self.seen, self.batch, self.changed = state["seen"], state["batch"], state["changed"]
''',
        'flat state, changes replayed at load': '''class TokenSchedule:
    def __init__(self, told, batch, warmup, total, final=0.1):
        self._told = {key: told[key] for key in ("lr", "eps", "weight_decay")}
        self._told["betas"] = list(told["betas"])
        self._batches = [batch]
        self._warmup, self._total, self._final = warmup, total, final
        self._steps = []

    def told(self):
        seen = sum(self._steps)
        if seen < self._warmup:
            factor = seen / self._warmup
        elif seen < self._total:
            done = (seen - self._warmup) / (self._total - self._warmup)
            factor = self._final + (1 - self._final) * math.cos(math.pi / 2 * done) ** 2
        else:
            factor = self._final
        return {"lr": self._told["lr"] * factor, "betas": [*self._told["betas"]],
                "eps": self._told["eps"], "weight_decay": self._told["weight_decay"]}

    def step(self, tokens):
        self._steps.append(tokens)

    def change(self, batch):
        after = adam_rule(self._told, self._batches[-1], batch)
        self._batches.append(batch)
        self._told = after

    def state_dict(self):
        return {"steps": self._steps[:], "batches": self._batches[1:]}

    def load_state_dict(self, state):
        for batch in state["batches"]:
            self.change(batch)
        self._steps = list(state["steps"])
''',
    },
}
