"""A real run whose step grows with its measured noise, beside one whose step stays.

    python benchmarks/adaptive_run.py --output FILE [--tokens N]

A one-layer Llama on the embedded corpus in rows of 64 tokens, AdamW, square-root coupling. Every
move stands in the record with its reason, one record a run. Under a minute on one core.
"""

import argparse
import time
from pathlib import Path

import torch
from rate_curves import HELD_OUT, LENGTH, rows_of_text

from batchlab import adapt, data, loop, model, rates, records
from batchlab.noise.norms import Tracker
from batchlab.plan import Plan

START, RATE = Plan(rows=2, accumulation=2, data_parallel=1, length=LENGTH), 2e-3


def run(text: torch.Tensor, tokens: int, controller: adapt.Controller) -> dict[str, object]:
    net = model.small(data.embedded().vocabulary, layers=1, hidden=64, heads=2, seed=0)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=0.0)
    train, held = text[HELD_OUT:], text[:HELD_OUT]
    plan, rate, seen, step, sizes = START, RATE, 0, 0, []
    began = time.process_time()
    with Tracker(net, optimizer, window=40) as tracker:
        while seen < tokens:
            at = seen // LENGTH
            ids = train[at : at + plan.sequences_per_step]
            pieces = [{"input_ids": one, "labels": one} for one in ids.split(plan.rows)]
            took = loop.train_step(net, optimizer, pieces, max_grad_norm=1.0)
            seen, step = seen + plan.slots_per_step, step + 1
            noise = tracker.estimate() if step >= 20 else None
            signals = adapt.Signals(step, seen, plan, rate, loss=took.loss, noise=noise)
            made = controller.decide(signals)
            plan, rate = made.plan, made.rate
            for group in optimizer.param_groups:
                group["lr"] = rate
            sizes.append(plan.sequences_per_step)
        last = tracker.estimate()
    return {
        "steps": step, "tokens": seen, "loss": round(
            loop.evaluate(net, [{"input_ids": held, "labels": held}]), 5),
        "moves": controller.log, "last_sequences_per_step": sizes[-1],
        "noise_scale": last.scale, "noise_low": last.low,
        "noise_high": last.high if last.enough else None,
        "cpu_seconds": round(time.process_time() - began, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=40_960)
    options = parser.parse_args()
    torch.set_num_threads(1)
    text = rows_of_text()

    def square_root(rate: float, first: int, last: int) -> float:
        return rates.square_root(rate, first, last)

    for name, most in (("noise-guided", 32), ("constant", 4)):
        found = run(text, options.tokens, adapt.NoiseGuided(most=most, couple=square_root))
        records.append(options.output, {"run": name, **found, **records.environment()})
        print(name, found, flush=True)


if __name__ == "__main__":
    main()
