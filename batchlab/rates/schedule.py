"""A torch scheduler that counts tokens: the same curve after a resume and with another batch.

    optimizer, Curve, tokens of each step  ->  learning rates

`step()` is called after each optimizer step, as for any scheduler of torch. What it has seen are
tokens, so a run that changes its batch, or is resumed with another one, stays on its curve.
`rescale` moves what the optimizer is told when the batch changes, by a rule of `rates`.
"""

from collections.abc import Callable
from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from batchlab.rates._curve import Curve
from batchlab.rates._range import Hyperparameters
from batchlab.units import whole

__all__ = ["InTokens", "tell", "told"]


class InTokens(LRScheduler):
    """Set each group's rate to its base rate times `curve.factor(tokens seen)`.

    `tokens_per_step` is what a step counts where `step()` is not told, as by a Trainer. Make it
    before `load_state_dict` of the optimizer, then load both states: it continues where it was,
    with the base rates, curve position and tokens per step that were saved.
    """

    def __init__(
        self, optimizer: Optimizer, curve: Curve, *, tokens_per_step: int | None = None
    ) -> None:
        self.curve = curve
        self.tokens_per_step = (
            None if tokens_per_step is None else whole(tokens_per_step, "tokens_per_step")
        )
        self.tokens = 0
        self._starting = True
        super().__init__(optimizer)
        self._starting = False

    def step(self, epoch: int | None = None, *, tokens: int | None = None) -> None:
        """Count the tokens of the step that was taken, and set the rates of the next."""
        if epoch is not None:
            raise ValueError("this scheduler counts tokens: step(tokens=...), not epochs")
        if not self._starting:
            taken = self.tokens_per_step if tokens is None else whole(tokens, "tokens")
            if taken is None:
                raise ValueError(
                    "how many tokens did this step see? step(tokens=...), or tokens_per_step once"
                )
            self.tokens += taken
        super().step()

    def get_lr(self) -> list[Any]:
        """The rates for the step that comes next."""
        factor = self.curve.factor(self.tokens)
        return [base * factor for base in self.base_lrs]

    def rescale(
        self,
        rule: Callable[[Hyperparameters], Hyperparameters],
        *,
        tokens_per_step: int | None = None,
    ) -> None:
        """Apply a rule to every group: base rate, and betas, epsilon and decay where it has any.

        >>> import torch
        >>> from batchlab import rates
        >>> optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))], lr=3e-4)
        >>> schedule = InTokens(optimizer, Curve(shape="constant"), tokens_per_step=256)
        >>> schedule.rescale(lambda told: rates.adam_square_root(told, 256, 1024))
        >>> [round(one, 4) for one in optimizer.param_groups[0]["betas"]], schedule.base_lrs
        ([0.6, 0.996], [0.0006])
        """
        asked = [
            rule(told(group, rate=float(base)))  # all of them first: a refusal changes nothing
            for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True)
        ]
        if tokens_per_step is not None:
            self.tokens_per_step = whole(tokens_per_step, "tokens_per_step")
        factor = self.curve.factor(self.tokens)
        for group, after in zip(self.optimizer.param_groups, asked, strict=True):
            tell(group, after, factor=factor)
            group["initial_lr"] = after.rate
        self.base_lrs = [after.rate for after in asked]
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Plain data: tokens seen, base rates, and the curve that they belong to."""
        names = ("tokens", "tokens_per_step", "base_lrs", "last_epoch", "_step_count")
        return {name: getattr(self, name) for name in names} | {"curve": _plain(self.curve)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where the state was saved; the state of another curve is refused."""
        if state_dict.get("curve") != _plain(self.curve):
            raise ValueError(
                f"this is the state of another schedule: saved {state_dict.get('curve')}, "
                f"here {_plain(self.curve)}"
            )
        if len(state_dict["base_lrs"]) != len(self.optimizer.param_groups):
            raise ValueError(
                f"this is the state of another run: {len(state_dict['base_lrs'])} parameter "
                f"groups, here {len(self.optimizer.param_groups)}"
            )
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "curve"})
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


def told(group: dict[str, Any], *, rate: float | None = None) -> Hyperparameters:
    """Return what one parameter group of a torch optimizer is told."""
    beta1, beta2 = group.get("betas", (None, None))
    return Hyperparameters(
        float(group["lr"]) if rate is None else rate, beta1, beta2, group.get("eps"),
        group.get("weight_decay"),
    )  # fmt: skip


def tell(group: dict[str, Any], after: Hyperparameters, *, factor: float = 1.0) -> None:
    """Write hyperparameters into one parameter group; its rate times `factor`."""
    group["lr"] = after.rate * factor
    if "betas" in group:
        group["betas"] = (after.beta1, after.beta2)
    for name, value in (("eps", after.epsilon), ("weight_decay", after.weight_decay)):
        if name in group and value is not None:
            group[name] = value


def _plain(curve: Curve) -> list[Any]:
    return [curve.total_tokens, curve.warmup_tokens, curve.shape, curve.final]
