"""Every rule side by side: what each makes of the same change, or why it is refused.

hyperparameters, from_batch, to_batch, optimizer  ->  one Outcome a rule
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from batchlab.rates import _rules
from batchlab.rates._range import RULES, Hyperparameters, Rule, require

__all__ = ["Outcome", "compare"]


@dataclass(frozen=True)
class Outcome:
    """One rule: what the optimizer is told afterwards, or why the rule does not apply.

    `remark` says where a rule that applies leaves what it was shown for.
    """

    rule: Rule
    after: Hyperparameters | None
    refused: str = ""
    remark: str = ""


def compare(
    before: Hyperparameters,
    from_batch: float,
    to_batch: float,
    *,
    optimizer: str = "adamw",
    noise_scale: float | None = None,
) -> tuple[Outcome, ...]:
    """Return what every rule makes of the change, in the order of `RULES`.

    Where AdamW's rate moves, its decay moves with it by `weight_decay_for`, which has no row of its
    own. Without a `noise_scale`, rules that need one are refused and the others cannot be checked
    against it.

    >>> [one.rule.name for one in compare(Hyperparameters(0.1), 256, 512, optimizer="sgd")
    ...  if one.after]
    ['linear', 'square root']
    """
    batches, told = (from_batch, to_batch), {"optimizer": optimizer}
    both = {"optimizer": optimizer, "noise_scale": noise_scale}

    def rate(rule: Callable[..., float], how: Mapping[str, Any]) -> Hyperparameters:
        after = rule(before.rate, *batches, **how)
        decay, factor = before.weight_decay, after / before.rate
        if optimizer == "adamw" and decay is not None:
            decay = _rules.weight_decay_for(decay, *batches, rate_factor=factor)
        return replace(before, rate=after, weight_decay=decay)

    def at_noise(rule: Callable[..., float]) -> Hyperparameters:
        require(RULES[_NAMES[rule]], optimizer)
        if noise_scale is None:
            raise ValueError(
                f"{_NAMES[rule]} needs the noise scale: measure it with batchlab noise"
            )
        return rate(rule, both)

    def half_life() -> Hyperparameters:
        require(RULES["beta2 half-life"], optimizer)
        return replace(before, beta2=_rules.beta2_for(_given(before.beta2, "beta2"), *batches))

    ways: dict[str, Callable[[], Hyperparameters]] = {
        "linear": lambda: rate(_rules.linear, both),
        "square root": lambda: rate(_rules.square_root, both),
        "adam square root": lambda: _rules.adam_square_root(
            before, *batches, optimizer=optimizer, noise_scale=noise_scale
        ),
        "beta2 half-life": half_life,
        "small-batch power": lambda: rate(_rules.small_batch_power, told),
        "saturating": lambda: at_noise(_rules.saturating),
        "surge": lambda: at_noise(_rules.surge),
    }
    return tuple(_outcome(RULES[name], way) for name, way in ways.items())


_NAMES: dict[Callable[..., float], str] = {_rules.saturating: "saturating", _rules.surge: "surge"}


def _outcome(rule: Rule, way: Callable[[], Hyperparameters]) -> Outcome:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            after = way()
        except ValueError as error:
            return Outcome(rule, None, str(error))
    return Outcome(rule, after, remark=str(told[0].message) if told else "")


def _given(value: float | None, name: str) -> float:
    if value is None:
        raise ValueError(f"{name} is needed, and was not given")
    return value
