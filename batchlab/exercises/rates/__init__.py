"""Rates: the batch changed. The exercises in the order of the page."""

ORDER = ("adam-rule", "which-rule", "growth-loss", "token-schedule")
PARTS = ("lr", "betas", "eps", "weight_decay")  # what a group of AdamW is told


def told(lr, beta1, beta2, eps, decay):
    """What a group of AdamW is told, under torch's names."""
    return {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": decay}
