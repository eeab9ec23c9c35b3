"""What betas and rates do when the batch changes: the record behind two rules, on this machine.

    python benchmarks/rate_curves.py --output FILE [--only half-life|square-root] [--seeds N]

A one-layer Llama on the embedded corpus, cut into rows of 64 tokens; every run sees the same rows
in the same order, so that only the batch and what the optimizer is told differ. Runs that FILE
holds already are not repeated. About half an hour on one core.

half-life     batches of 1, 4 and 16 rows, beta2 0.95 as it is or by half-life, three rates each
square-root   batches of 2 to 16 rows, three ways to change what Adam is told, one rate to start
"""

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from batchlab import data, loop, model, rates, records

LENGTH, HELD_OUT = 64, 256  # tokens of a row; rows that are never trained on
CHECKS = 16  # evaluations of a run, equally far apart in tokens


def rows_of_text() -> torch.Tensor:
    """The corpus as rows of equal length, shuffled once by a fixed seed: (rows, LENGTH)."""
    tokens = torch.from_numpy(data.embedded().tokens.astype("int64"))
    rows = tokens[: len(tokens) // LENGTH * LENGTH].view(-1, LENGTH)
    return rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]


def run(text: torch.Tensor, *, seed: int, batch: int, tokens: int, warmup: float, shape: str,
        told: rates.Hyperparameters) -> dict[str, Any]:  # fmt: skip
    """One training run; returns the loss on held-out rows along the tokens."""
    net = model.small(data.embedded().vocabulary, layers=1, hidden=64, heads=2, seed=seed)
    optimizer = torch.optim.AdamW(
        net.parameters(), lr=told.rate, betas=(told.beta1, told.beta2), eps=told.epsilon,
        weight_decay=0.0, fused=True,
    )  # fmt: skip
    order = torch.randperm(
        len(text) - HELD_OUT, generator=torch.Generator().manual_seed(1000 + seed)
    )
    train, held = text[HELD_OUT:][order], text[:HELD_OUT]
    curve = rates.Curve(total_tokens=tokens, warmup_tokens=round(warmup * tokens), shape=shape)
    steps, every = tokens // (batch * LENGTH), tokens // (batch * LENGTH) // CHECKS
    began, losses = time.process_time(), []
    for step in range(steps):
        ids = train[step * batch : (step + 1) * batch]
        factor = curve.factor(step * batch * LENGTH)
        for group in optimizer.param_groups:
            group["lr"] = told.rate * factor
        loop.train_step(net, optimizer, [{"input_ids": ids, "labels": ids}])
        if (step + 1) % every == 0:
            losses.append(loop.evaluate(net, [{"input_ids": held, "labels": held}]))
    return {"losses": [round(one, 5) for one in losses],
            "cpu_seconds": round(time.process_time() - began, 1)}  # fmt: skip


def half_life(seeds: int) -> Iterator[dict[str, Any]]:
    """beta2 0.95 as it is, or by its half-life at 16 rows; the rate is tuned for each."""
    for seed, (batch, grid) in itertools.product(range(seeds), GRIDS.items()):
        for rule, rate in itertools.product(("as is", "half-life"), grid):
            beta2 = rates.beta2_for(0.95, 16, batch) if rule == "half-life" else 0.95
            if (rule, batch) != ("half-life", 16):  # the same run
                told = rates.Hyperparameters(rate, 0.9, beta2, 1e-8)
                yield {"seed": seed, "batch": batch, "rule": rule, "told": told, "warmup": 0.1,
                       "tokens": 16 * LENGTH * 160, "shape": "cosine"}  # fmt: skip


GRIDS = {
    4: (2e-3, 4e-3, 8e-3),
    1: (0.5e-3, 1e-3, 2e-3),
    16: (4e-3, 8e-3, 16e-3),
}


def square_root(seeds: int) -> Iterator[dict[str, Any]]:
    """From 2 rows: the full rule, the linear rate with the same betas, and nothing changed."""
    start = rates.Hyperparameters(5e-4, 0.9, 0.99, 1e-8)
    for seed, batch in itertools.product(range(seeds), (2, 4, 8, 16)):
        full = rates.adam_square_root(start, 2, batch)
        linear = rates.Hyperparameters(start.rate * batch / 2, start.beta1, start.beta2, 1e-8)
        ways = {"adam square root": full, "linear": linear, "unchanged": start}
        for rule, told in ways.items():
            if batch == 2 and rule != "unchanged":
                continue  # the same run
            yield {"seed": seed, "batch": batch, "rule": rule, "told": told, "warmup": 0.0,
                   "tokens": 16 * LENGTH * 96, "shape": "constant"}  # fmt: skip


STUDIES = {"half-life": half_life, "square-root": square_root}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", choices=STUDIES)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = rows_of_text()
    there = records.read(options.output) if options.output.exists() else []
    names = ("study", "seed", "batch", "rule", "rate")
    done = {tuple(one[name] for name in names) for one in there}
    for study in [options.only] if options.only else STUDIES:
        for one in STUDIES[study](options.seeds):
            told = one.pop("told")
            key = {"study": study, **one, "rate": told.rate, "beta1": told.beta1,
                   "beta2": told.beta2, "epsilon": told.epsilon}  # fmt: skip
            if tuple(key[name] for name in names) in done:
                continue
            rule = one.pop("rule")
            found = run(text, told=told, **one)
            records.append(options.output, {**key, **found, **records.environment()})
            print(study, one["seed"], one["batch"], rule, f"{told.rate:g}", found["losses"][-1],
                  f"{found['cpu_seconds']} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
