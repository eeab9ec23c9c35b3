"""What watching a loop costs: seconds of the same steps alone, watched, and under torch's profiler.

    python benchmarks/monitor.py [--steps N] [--blocks N] [--hidden N] [--compile] [--empty]

A small model on the embedded corpus, eight rows of at most 64 tokens, in turns: a block of steps
watched, one alone, one profiled, in an order that moves on with each turn. Seconds are those of the
process, so that other work on the machine does not count but for the caches that it takes, from the
first step to the last: a run begins and ends once. A block is longer than a record, so that writing
is in it. The ratio is the median of the turns, between the turns that nine medians in ten lie in.
With --compile every row has 64 slots. With --empty the model does nothing with its rows: what is
left is what watching costs in itself, which a noisy machine cannot hide.
"""

import argparse
import contextlib
import tempfile
import time
from math import comb
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import torch

from batchlab import batches, data, model, monitor

LONGEST = 64
KINDS = ("alone", "watched", "profiled")


def around(kind: str, net: Any, optimizer: torch.optim.Optimizer, folder: Path) -> Any:
    if kind == "watched":
        return monitor.watch(net, optimizer, folder / "run.jsonl")
    if kind == "profiled":
        return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    return contextlib.nullcontext()


def block(
    kind: str, net: Any, optimizer: torch.optim.Optimizer, inputs: Any, folder: Path
) -> float:
    """Process seconds of one pass over `inputs`."""
    with around(kind, net, optimizer, folder) as watch:
        begin = time.process_time()
        for batch in watch(inputs) if kind == "watched" else inputs:
            net(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60, help="of one block (60)")
    parser.add_argument("--blocks", type=int, default=15, help="of each kind (15)")
    parser.add_argument("--hidden", type=int, default=64, help="width of the model (64)")
    parser.add_argument("--compile", action="store_true", help="one static shape, compiled")
    parser.add_argument("--empty", action="store_true", help="a model without work")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.embedded().at_most(LONGEST)
    net = Empty() if options.empty else model.small(corpus.vocabulary, hidden=options.hidden)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    names = ("input_ids", "labels", "attention_mask")
    inputs = []
    for step in range(options.steps):
        rows = [(8 * step + row) % len(corpus) for row in range(8)]
        made = batches.padded(corpus, rows, round_to=LONGEST if options.compile else 1)
        inputs.append({name: made[name] for name in names})
    if options.compile:
        net.compile()
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.blocks + 1):
            first = turn % len(KINDS)
            for kind in KINDS[first:] + KINDS[:first]:
                seconds = block(kind, net, optimizer, inputs, Path(folder))
                if turn:  # the first warms up, and a compiler works in it
                    took[kind].append(seconds)
    step = median(took["alone"]) / options.steps
    print(f"step {1e3 * step:.1f} ms; medians of {options.blocks} turns, beside the loop alone:")
    for kind in KINDS[1:]:
        ratios = sorted(w / a for w, a in zip(took[kind], took["alone"], strict=True))
        ratio, away = median(ratios), outermost(len(ratios))
        span = f"{ratios[away]:.4f} to {ratios[-1 - away]:.4f}"
        print(f"  {kind}: {ratio:.4f} times ({span}), {1e6 * (ratio - 1) * step:+.0f} us a step")


class Empty(torch.nn.Module):
    """A causal model to who watches it, and one product to who runs it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, **_: torch.Tensor) -> Any:
        return SimpleNamespace(loss=self.weight * 2)


def outermost(number: int) -> int:
    """How many of so many sorted values lie below an interval that holds the median in 90 %.

    >>> outermost(15), outermost(5)
    (3, 0)
    """
    below, tail = 0, 0.5**number
    while tail <= 0.05:
        below += 1
        tail += comb(number, below) * 0.5**number
    return max(0, below - 1)


if __name__ == "__main__":
    main()
