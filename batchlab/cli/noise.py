"""Measure the noise of a training run: the batch, in sequences, at which noise equals signal.

A short run of AdamW on your documents; the norms of each step and of its micro-batches give the
noise scale with its interval. Early in training it is small, and it grows: measure where you train.
It is no critical batch: under Adam larger batches were found to be worth their tokens.
"""

import argparse
import math
from typing import Any

from batchlab import noise, report
from batchlab.cli import _progress as progress
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.cli._answer import Answer

__all__ = ["arguments", "run"]

STRETCHES = 6  # windows of equal length, one line each
LONGEST = 128  # tokens; longer documents are left out, so that steps stay short
RATE = 1e-3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer model, documents and the size of the run."""
    options.offer(
        parser, "model", "data", "field", "rows", "accumulation", "steps", "length", "figure",
        rows=2, accumulation=8, steps=120, length=LONGEST,
    )  # fmt: skip


def run(args: argparse.Namespace) -> Answer:
    """Train for a while, and estimate in stretches."""
    if args.accumulation < 2:
        raise ValueError(
            "--accumulation 1: a step of one micro-batch has one norm, and noise needs two"
        )
    if args.steps < 2 * STRETCHES:
        raise ValueError(
            f"--steps {args.steps}: {STRETCHES} stretches need at least {2 * STRETCHES} steps"
        )
    found, losses = _measured(args)
    sequences = args.rows * args.accumulation
    rows = [
        [f"{at:,}", f"{losses[at]:.3f}", f"{one.scale:,.4g}", f"{one.low:,.4g}",
         f"{one.high:,.4g}" if one.enough else "no upper end", one.readings]
        for at, one in found.items()
    ]  # fmt: skip
    headers = ["after steps", "loss", "noise scale", "from", "to (95 %)", "readings"]
    text = "\n".join(
        [
            f"{args.model or 'small Llama'}: noise scale in sequences of up to {args.length:,} "
            f"tokens, steps of {sequences} ({args.rows} rows x {args.accumulation})",
            "",
            report.table(headers, rows, align="rrrrrr"),
            "",
            _reading(list(found.values())[-1], sequences),
        ]
    )
    data = {
        "model": str(args.model or "small"), "sequences_per_step": sequences,
        "length": args.length, "stretches": [_plain(at, losses[at], one)
                                             for at, one in found.items()],
    }  # fmt: skip

    def figure() -> Any:
        from batchlab import plots

        return plots.noise_along(found, batch=sequences)

    return Answer(data, text, figure)


def _measured(
    args: argparse.Namespace,
) -> tuple[dict[int, noise.NoiseScale], dict[int, float]]:
    """The run itself: {steps: estimate of the stretch that ends there}, and its mean loss."""
    import torch

    from batchlab import batches, data, loop, model
    from batchlab.noise import norms

    corpus = source.corpus_of(args).at_most(args.length)
    net = model.load(args.model)
    data.require_vocabulary(corpus, net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE)
    draw = torch.Generator().manual_seed(0)
    per_stretch = args.steps // STRETCHES
    found, losses, total, targets = {}, {}, 0.0, 0
    with norms.Tracker(net, optimizer) as tracker, progress.bar() as shown:
        for step in range(1, per_stretch * STRETCHES + 1):
            size = args.rows, args.accumulation
            drawn = torch.randint(len(corpus), (math.prod(size),), generator=draw).tolist()
            pieces = [
                batches.padded(corpus, drawn[i : i + size[0]])
                for i in range(0, len(drawn), size[0])
            ]
            took = loop.train_step(net, optimizer, pieces, max_grad_norm=1.0)
            total, targets = total + took.loss_sum, targets + took.target_tokens
            shown(step, args.steps, f"loss {took.loss:.3f}")
            if step % per_stretch == 0:
                found[step], losses[step] = tracker.estimate(), total / targets
                tracker.clear()
                total, targets = 0.0, 0
    return found, losses


def _reading(last: noise.NoiseScale, sequences: int) -> str:
    """What the last stretch says about the batch of this run."""
    if not last.enough:
        return f"The last stretch has {last}. More steps, or more micro-batches, tell more."
    if sequences < last.low:
        return (
            f"Noise dominates a step of {sequences}: the noise scale is {last.low:,.0f} sequences "
            "or more."
        )
    if sequences > last.high:
        return (
            f"In a step of {sequences} signal dominates: the noise scale is {last.high:,.0f} at "
            "most. Under Adam more sequences may be worth their tokens: compare runs."
        )
    return f"A step of {sequences} sequences lies within the interval of the noise scale."


def _plain(at: int, loss: float, one: noise.NoiseScale) -> dict[str, float | int | None]:
    return {
        "steps": at, "loss": loss, "noise_scale": one.scale if math.isfinite(one.scale) else None,
        "low": one.low, "high": one.high if one.enough else None, "trace": one.trace,
        "squared_gradient": one.squared_gradient, "readings": one.readings, "skipped": one.skipped,
    }  # fmt: skip
