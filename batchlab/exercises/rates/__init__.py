"""Rates: the batch changed. The exercises in the order of the page."""

ORDER = ("which-rule", "long-enough", "token-schedule")
PARTS = ("lr", "betas", "eps", "weight_decay")  # what a group of AdamW is told


def told(lr, beta1, beta2, eps, decay):
    """What a group of AdamW is told, under torch's names."""
    return {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": decay}


def adam_rule(settings, before, after):
    """What AdamW is told after the batch changed from `before` to `after`, as on the page."""
    k = after / before
    broken = [
        f"beta{n}" for n, beta in enumerate(settings["betas"], 1) if k * (1 - beta) > 1 - 1e-9
    ]
    if broken:
        raise ValueError(f"k = {k:g} is past the limit of the rule for {' and '.join(broken)}")
    return {
        "lr": settings["lr"] * k**0.5,
        "betas": tuple(1 - k * (1 - beta) for beta in settings["betas"]),
        "eps": settings["eps"] / k**0.5,
        "weight_decay": settings["weight_decay"] * k**0.5,
    }
