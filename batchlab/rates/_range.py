"""Where each rule was shown: for which optimizers, which scale of the loss, in which regime.

name of a rule, batches, optimizer  ->  k = to_batch / from_batch; a refusal, or a warning

The noise scale is where the linear rule of SGD ends, and a batch above it is refused. For Adam it
is no such end: it sums over directions that Adam scales one by one, and Merrill et al. (2025)
trained with the square root up to 4,096 documents, far above it. There a rule warns.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from batchlab.units import real

__all__ = ["RULES", "Hyperparameters", "Rule", "ratio", "ratio_within", "require"]

SGD, ADAM = ("sgd",), ("adam", "adamw")


@dataclass(frozen=True)
class Rule:
    """Where a rule was shown: outside, it is refused."""

    name: str
    formula: str
    optimizers: tuple[str, ...]
    regime: str
    source: str  # key of the bibliography
    any_loss_scale: bool = False  # else it was shown for a mean loss


RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("linear", "rate x k", SGD, "batches well below the noise scale, with warm-up; "
             "images up to 8,192", "goyal2017accurate"),
        Rule("square root", "rate x sqrt(k)", (*SGD, *ADAM), "SGD: batches below the noise "
             "scale; Adam: above it, too", "krizhevsky2014one"),
        Rule("adam square root", "rate x sqrt(k), beta -> 1 - k (1 - beta), epsilon / sqrt(k); "
             "AdamW's decay x sqrt(k)", ADAM, "derived where noise dominates; k (1 - beta) < 1",
             "malladi2022sdes", True),
        Rule("beta2 half-life", "beta2 ** k", ADAM, "batches of 1 to 4,096 sequences; half-life "
             "of a step or more", "marek2025small", True),
        Rule("small-batch power", "rate x k ** 0.158", ADAM, "1 to 1,024 sequences, 30 M "
             "parameters, beta2 by half-life", "marek2025small", True),
        Rule("saturating", "rate x (1 + N / from) / (1 + N / to)", SGD,
             "quadratic loss, noise scale N known", "mccandlish2018empirical"),
        Rule("surge", "rate x g(to) / g(from), g = 2 / (sqrt(N / B) + sqrt(B / N))", ADAM,
             "a hypothesis: sign-like updates, noise scale N known", "li2024surge", True),
        Rule("weight decay", "weight decay x k / (new rate / rate)", ("adamw",), "fixed model size "
             "and tokens", "bergsma2025power", True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Hyperparameters:
    """What an optimizer is told; None where it has no such number."""

    rate: float
    beta1: float | None = None
    beta2: float | None = None
    epsilon: float | None = None
    weight_decay: float | None = None

    def __post_init__(self) -> None:
        real(self.rate, "rate", above=0)
        for name in ("beta1", "beta2"):
            if (beta := getattr(self, name)) is not None:
                real(beta, name, least=0, below=1)
        for name in ("epsilon", "weight_decay"):
            if (value := getattr(self, name)) is not None:
                real(value, name, least=0)


def ratio(from_batch: float, to_batch: float) -> float:
    return real(to_batch, "to_batch", above=0) / real(from_batch, "from_batch", above=0)


def ratio_within(
    name: str,
    from_batch: float,
    to_batch: float,
    optimizer: str,
    loss: str = "mean",
    noise_scale: float | None = None,
) -> float:
    """k, once optimizer and loss scale lie where the rule was shown.

    A batch above the noise scale is refused for SGD; for Adam it is a warning.
    """
    rule, k = RULES[name], ratio(from_batch, to_batch)
    require(rule, optimizer)
    if loss not in ("mean", "sum"):
        raise ValueError(f"loss must be mean or sum, got {loss!r}")
    if loss == "sum" and not rule.any_loss_scale and "sgd" in rule.optimizers:
        raise ValueError(
            f"{name} was shown for a mean loss: the gradient of a summed loss already grows "
            f"{k:g} times with the batch"
        )
    if noise_scale is not None:
        largest = max(from_batch, to_batch)
        if largest > real(noise_scale, "noise_scale", above=0):
            said = f"a batch of {largest:,g} is above the noise scale {noise_scale:,.4g}"
            if optimizer in SGD:
                raise ValueError(f"{name} holds where noise dominates: {said}")
            warnings.warn(
                f"{name}: {said}. For Adam that is no limit, and no promise: compare at equal "
                "tokens",
                stacklevel=3,
            )
    return k


def require(rule: Rule, optimizer: str) -> None:
    """Refuse an optimizer for which the rule was not shown."""
    if optimizer not in rule.optimizers:
        shown = ", ".join(rule.optimizers)
        raise ValueError(f"{rule.name} was shown for {shown}, not for {optimizer}")
