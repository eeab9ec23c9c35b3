"""Show what every rule makes of a changed batch: learning rate, betas, epsilon, weight decay.

Each rule stands with the range in which it was shown, and is refused outside. Batches are
sequences of an optimizer step; so is the noise scale, which `batchlab noise` measures. Above it
the rules of SGD are refused; those of Adam stand, with a remark.
"""

import argparse
from typing import Any

from batchlab import rates, report
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

EPSILON, WEIGHT_DECAY = 1e-8, 0.1
ADAM = ("adam", "adamw")
DECAY = "Where the rate moves, the decay keeps batch / (rate x decay): x sqrt(k) with x sqrt(k)."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the two batches and what the optimizer was told."""
    options.offer(
        parser, "from_batch", "to_batch", "optimizer", "rate", "betas", "warmup", "noise_scale",
        "figure", several=["betas"], from_batch=256, to_batch=2048, optimizer="adamw", rate=3e-4,
        betas=[0.9, 0.95], warmup=2000,
    )  # fmt: skip


def run(args: argparse.Namespace) -> Answer:
    """Apply every rule to the change."""
    first, last = args.from_batch, args.to_batch
    before = _before(args)
    found = rates.compare(
        before, first, last, optimizer=args.optimizer, noise_scale=args.noise_scale
    )
    rows = [["before", *_told(before), ""]]
    rows += [[o.rule.name, *_told(o.after), o.rule.regime] for o in found if o.after]
    headers = ["rule", "rate", "beta1", "beta2", "epsilon", "weight decay", "shown for"]
    refused = [f"  {_once(o.rule.name, o.refused)}" for o in found if not o.after]
    remarks = [f"  {o.remark}" for o in found if o.remark]
    text = "\n".join(
        [
            f"{args.optimizer}, from {first:,} to {last:,} sequences a step (k = {last / first:g})",
            "",
            report.table(headers, rows, align="lrrrrrl"),
            "",
            f"Warm-up in tokens stays: {args.warmup:,} steps of {first:,} sequences are "
            f"{args.warmup * first / last:,.6g} of {last:,}.",
            *([DECAY] if before.weight_decay is not None else []),
            *(["", "Beyond what was shown:", *remarks] if remarks else []),
            *(["", "Refused here:", *refused] if refused else []),
        ]
    )
    data = {
        "from_batch": first, "to_batch": last, "optimizer": args.optimizer,
        "before": _plain(before), "warmup_steps": args.warmup * first / last,
        "rules": [
            {"rule": o.rule.name, "after": _plain(o.after), "refused": o.refused,
             "remark": o.remark,
             "formula": o.rule.formula, "shown_for": o.rule.regime, "source": o.rule.source}
            for o in found
        ],
    }  # fmt: skip

    def figure() -> Any:
        from batchlab import plots

        lines = _lines(args, before)
        nowhere = [o.rule.name for o in found if o.rule.name not in lines and _moves_rate(o.rule)]
        return plots.rules(lines, refused=nowhere)

    return Answer(data, text, figure)


def _before(args: argparse.Namespace) -> rates.Hyperparameters:
    if args.optimizer not in ADAM:
        return rates.Hyperparameters(args.rate)
    if len(args.betas) != 2:
        raise ValueError(f"--betas takes two numbers, got {len(args.betas)}")
    decay = WEIGHT_DECAY if args.optimizer == "adamw" else None
    beta1, beta2 = args.betas
    return rates.Hyperparameters(args.rate, beta1, beta2, EPSILON, decay)


def _once(name: str, refused: str) -> str:
    """The reason, with the name of the rule in front, once."""
    return refused if refused.startswith(name) else f"{name}: {refused}"


def _moves_rate(rule: rates.Rule) -> bool:
    return rule.formula.startswith("rate")


def _lines(
    args: argparse.Namespace, before: rates.Hyperparameters
) -> dict[str, dict[float, float]]:
    """Rates of every rule between the two batches, as far as it holds."""
    k, points = args.to_batch / args.from_batch, 32
    lines: dict[str, dict[float, float]] = {}
    for batch in [args.from_batch * k ** (n / points) for n in range(points + 1)]:
        for one in rates.compare(
            before, args.from_batch, batch, optimizer=args.optimizer, noise_scale=args.noise_scale
        ):
            if one.after and _moves_rate(one.rule):
                lines.setdefault(one.rule.name, {})[batch] = one.after.rate
    return lines


def _told(one: rates.Hyperparameters | None) -> list[str]:
    values = () if one is None else (one.rate, one.beta1, one.beta2, one.epsilon, one.weight_decay)
    return ["" if value is None else f"{value:.4g}" for value in values]


def _plain(one: rates.Hyperparameters | None) -> dict[str, float | None] | None:
    if one is None:
        return None
    names = ("rate", "beta1", "beta2", "epsilon", "weight_decay")
    return {name: getattr(one, name) for name in names}
