"""What a changed batch asks of the learning rate, one function a rule.

    rate, from_batch, to_batch  ->  rate, betas, epsilon, weight decay; or a refusal that says why

Every rule was shown for some optimizers, a loss of one scale and a regime; outside it is refused
with the number that makes it so. A noise scale ends the rules of SGD; those of Adam warn. Batches
are counted in one unit throughout (sequences, or target tokens); only their ratio k = to_batch /
from_batch matters, and a noise scale is in the same unit.

Words
    k            to_batch / from_batch
    noise scale  batch at which noise and signal of the gradient are equal (`noise`)
    half-life    target tokens after which a squared gradient counts half in Adam's average
"""

import math
from dataclasses import replace

from batchlab.rates._range import Hyperparameters, ratio, ratio_within
from batchlab.units import real

__all__ = [
    "adam_square_root",
    "beta2_for",
    "beta2_of",
    "half_life",
    "linear",
    "saturating",
    "small_batch_power",
    "square_root",
    "surge",
    "weight_decay_for",
]

POWER = math.log(3) / math.log(1024)  # rate x 3 for batch x 1,024: Marek et al. 2025, Fig. 4
POWER_MOST = 1024  # sequences; the largest batch of that figure


def linear(
    rate: float,
    from_batch: float,
    to_batch: float,
    *,
    optimizer: str = "sgd",
    loss: str = "mean",
    noise_scale: float | None = None,
) -> float:
    """Return rate x k: for SGD far below the noise scale (Goyal et al. 2017).

    >>> linear(0.1, 256, 8192)
    3.2
    """
    k = ratio_within("linear", from_batch, to_batch, optimizer, loss, noise_scale)
    return real(rate, "rate", above=0) * k


def square_root(
    rate: float,
    from_batch: float,
    to_batch: float,
    *,
    optimizer: str = "adamw",
    loss: str = "mean",
    noise_scale: float | None = None,
) -> float:
    """Return rate x sqrt(k): keeps the covariance of an SGD update, and the drift of Adam's.

    Sources: Krizhevsky 2014 for SGD; Malladi et al. 2022 for Adam, whose full rule
    (`adam_square_root`) moves betas and epsilon too. With the rate of AdamW goes its decay, x
    sqrt(k): `weight_decay_for`.

    >>> round(square_root(0.1, 256, 8192, optimizer="sgd"), 4)
    0.5657
    """
    k = ratio_within("square root", from_batch, to_batch, optimizer, loss, noise_scale)
    return real(rate, "rate", above=0) * math.sqrt(k)


def adam_square_root(
    before: Hyperparameters,
    from_batch: float,
    to_batch: float,
    *,
    optimizer: str = "adamw",
    noise_scale: float | None = None,
) -> Hyperparameters:
    """Return Adam's full rule: rate x sqrt(k), beta -> 1 - k (1 - beta), epsilon / sqrt(k).

    It is refused from k (1 - beta) = 1 on, where an average over steps would be of less than one.
    AdamW's weight decay grows by sqrt(k), which keeps batch / (rate x decay); that of plain Adam is
    a part of the gradient and stays. Sources: Malladi et al. 2022; `weight_decay_for`.

    >>> after = adam_square_root(Hyperparameters(3e-4, 0.9, 0.999, 1e-8, 0.1), 256, 1024)
    >>> round(after.rate, 9), round(after.beta1, 9), round(after.beta2, 9), after.epsilon
    (0.0006, 0.6, 0.996, 5e-09)
    >>> after.weight_decay
    0.2
    """
    k = ratio_within("adam square root", from_batch, to_batch, optimizer, "mean", noise_scale)
    if before.beta1 is None or before.beta2 is None or before.epsilon is None:
        raise ValueError("adam square root moves beta1, beta2 and epsilon: give all three")
    betas = []
    for name, beta in (("beta1", before.beta1), ("beta2", before.beta2)):
        after = 1 - k * (1 - beta)
        if after < 1e-9:  # 10 (1 - 0.9) is 0.9999999999999998 in floats
            raise ValueError(
                f"adam square root: k = {k:g} makes {name} 1 - {k:g} x (1 - {beta:g}) = "
                f"{after:.3g}; with {name} = {beta:g} the rule holds for k below "
                f"{1 / (1 - beta):.4g}"
            )
        betas.append(after)
    root, decay = math.sqrt(k), before.weight_decay
    if optimizer == "adamw" and decay is not None:
        decay = weight_decay_for(decay, from_batch, to_batch, rate_factor=root)
    return replace(
        before, rate=before.rate * root, beta1=betas[0], beta2=betas[1],
        epsilon=before.epsilon / root, weight_decay=decay,
    )  # fmt: skip


def beta2_for(beta2: float, from_batch: float, to_batch: float) -> float:
    """Return beta2 ** k, which keeps the half-life of Adam's second moment in tokens.

    1 - k (1 - beta2) is its tangent and differs for large k. Refused where the half-life would
    fall below one step. Source: Marek et al. 2025.

    >>> round(beta2_for(0.95, 512, 1), 4), round(beta2_for(0.95, 512, 4096), 4)
    (0.9999, 0.6634)
    """
    k = ratio(from_batch, to_batch)
    after = math.pow(real(beta2, "beta2", above=0, below=1), k)
    if after < 0.5:
        raise ValueError(
            f"beta2 half-life: k = {k:g} makes beta2 {beta2} ** {k:g} = {after:.3g}, a half-life "
            f"of {math.log(0.5) / math.log(after) if after else 0:.2g} steps; the rule needs one "
            f"step or more: k up to {math.log(0.5) / math.log(beta2):.4g}"
        )
    return min(after, math.nextafter(1, 0))


def half_life(beta2: float, tokens_per_step: float) -> float:
    """Return the tokens after which a squared gradient counts half.

    >>> round(half_life(0.95, 512 * 1024))
    7084917
    """
    beta2 = real(beta2, "beta2", above=0, below=1)
    return real(tokens_per_step, "tokens_per_step", above=0) * math.log(0.5) / math.log(beta2)


def beta2_of(half_life_tokens: float, tokens_per_step: float) -> float:
    """Return the beta2 that has this half-life in tokens.

    >>> round(beta2_of(7_084_917, 1024), 6)
    0.9999
    """
    steps = real(half_life_tokens, "half_life_tokens", above=0) / real(
        tokens_per_step, "tokens_per_step", above=0
    )
    if steps < 1:
        raise ValueError(
            f"a half-life of {half_life_tokens:,.0f} tokens is less than one step of "
            f"{tokens_per_step:,.0f}: no average over steps has it"
        )
    return math.pow(0.5, 1 / steps)


def small_batch_power(
    rate: float, from_batch: float, to_batch: float, *, optimizer: str = "adamw"
) -> float:
    """Return rate x k ** 0.158, the trend of tuned rates of a 30 M model with fixed half-life.

    Batches are sequences, 1 to 1,024. Source: Marek et al. 2025, Fig. 4 (x 3 over x 1,024).

    >>> round(small_batch_power(1e-3, 1, 1024), 6)
    0.003
    """
    k = ratio_within("small-batch power", from_batch, to_batch, optimizer)
    for name, batch in (("from_batch", from_batch), ("to_batch", to_batch)):
        if not 1 <= batch <= POWER_MOST:
            raise ValueError(
                f"small-batch power: {name} {batch:,} lies outside the 1 to {POWER_MOST:,} "
                "sequences of its figure"
            )
    return real(rate, "rate", above=0) * math.pow(k, POWER)


def saturating(
    rate: float,
    from_batch: float,
    to_batch: float,
    *,
    noise_scale: float,
    optimizer: str = "sgd",
    loss: str = "mean",
) -> float:
    """Return the rate that is best for one SGD step, which stops growing at the noise scale.

    The best rate is proportional to 1 / (1 + noise_scale / batch). Source: McCandlish et al. 2018.

    >>> round(saturating(0.2, 250, 1000, noise_scale=250), 6)
    0.32
    """
    ratio_within("saturating", from_batch, to_batch, optimizer, loss)
    noise_scale = real(noise_scale, "noise_scale", above=0)
    factor = (1 + noise_scale / from_batch) / (1 + noise_scale / to_batch)
    return real(rate, "rate", above=0) * factor


def surge(
    rate: float, from_batch: float, to_batch: float, *, noise_scale: float, optimizer: str = "adamw"
) -> float:
    """Return the rate along g = 2 / (sqrt(N / B) + sqrt(B / N)), which peaks at the noise scale N.

    A hypothesis for sign-like updates: beyond N the best rate falls again. Source: Li et al. 2024,
    Eq. 2.

    >>> round(surge(1.0, 100, 1600, noise_scale=100), 4)
    0.4706
    """
    ratio_within("surge", from_batch, to_batch, optimizer)
    noise_scale = real(noise_scale, "noise_scale", above=0)

    def of_peak(batch: float) -> float:
        root = math.sqrt(batch / noise_scale)
        return 2 / (root + 1 / root)

    return real(rate, "rate", above=0) * of_peak(to_batch) / of_peak(from_batch)


def weight_decay_for(
    weight_decay: float,
    from_batch: float,
    to_batch: float,
    *,
    rate_factor: float = 1.0,
    optimizer: str = "adamw",
) -> float:
    """Return the weight decay that keeps AdamW's timescale batch / (rate x decay) in tokens.

    `rate_factor` is the new rate over the old one: a rate x sqrt(k) goes with a decay x sqrt(k).
    Found at a fixed model size and fixed tokens. Source: Bergsma et al. 2025.

    >>> round(weight_decay_for(0.1, 256, 1024, rate_factor=2), 6)
    0.2
    """
    k = ratio_within("weight decay", from_batch, to_batch, optimizer)
    return (
        real(weight_decay, "weight_decay", least=0) * k / real(rate_factor, "rate_factor", above=0)
    )
