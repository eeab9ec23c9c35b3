"""What watching a loop costs: seconds of the same steps alone, watched, and under torch's profiler.

    python benchmarks/monitor.py [--steps N] [--blocks N] [--hidden N] [--compile]
                                 [--empty | --tiny] [--output FILE]

A small model on the embedded corpus, eight rows of at most 64 tokens, in turns: a block of steps
watched and one alone, in an order that changes; then the same with the profiler. Seconds are those
of the process, so that other work on the machine does not count but for the caches that it takes,
from the first step to the last of a second pass: a run begins once, with a look at the machine that
takes as long as hundreds of steps. A block is longer than a record, so that writing is in it. The
ratio is the median of the turns, between the turns that nine medians in ten lie in. With --compile
every row has 64 slots. With --empty the model does nothing with its rows: what is left is what
watching costs in itself, which a noisy machine cannot hide. With --tiny it is one layer, 16
wide, of 64 words: its steps take about 3 ms.
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

from batchlab import batches, data, model, monitor, records

LONGEST = 64
KINDS = ("watched", "profiled")
TINY = {"vocabulary": 64, "layers": 1, "hidden": 16}


def around(kind: str, net: Any, optimizer: torch.optim.Optimizer, folder: Path) -> Any:
    if kind == "watched":
        return monitor.watch(net, optimizer, folder / "run.jsonl")
    if kind == "profiled":
        return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    return contextlib.nullcontext()


def block(
    kind: str, net: Any, optimizer: torch.optim.Optimizer, inputs: Any, folder: Path
) -> float:
    """Process seconds of the second of two passes over `inputs`."""
    with around(kind, net, optimizer, folder) as watch:
        for _ in range(2):
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
    parser.add_argument("--output", type=Path, help="file of records")
    parser.add_argument("--tiny", action="store_true", help="one layer, steps of about 3 ms")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.embedded().at_most(LONGEST)
    words = TINY["vocabulary"] if options.tiny else corpus.vocabulary
    if options.empty:
        net, named = Empty(), "empty"
    elif options.tiny:
        net, named = model.small(**TINY), "tiny"
    else:
        net, named = model.small(words, hidden=options.hidden), f"{options.hidden} wide"
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    names = ("input_ids", "labels", "attention_mask")
    inputs = []
    for step in range(options.steps):
        rows = [(8 * step + row) % len(corpus) for row in range(8)]
        made = batches.padded(corpus, rows, round_to=LONGEST if options.compile else 1)
        inputs.append({name: made[name] for name in names})
        for name in ("input_ids", "labels") if options.tiny else ():  # other words, as many
            inputs[-1][name] = torch.where(made[name] < 0, made[name], made[name] % words)
    if options.compile:
        net.compile()
    took: dict[str, list[float]] = {}
    began = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:  # one after the other: once the profiler was there, watching costs more
            ratios = took[kind] = []
            for turn in range(options.blocks + 1):
                pair = {}
                for one in (kind, "alone") if turn % 2 else ("alone", kind):
                    pair[one] = block(one, net, optimizer, inputs, Path(folder))
                if turn:  # the first warms up, and a compiler works in it
                    ratios.append(pair[kind] / pair["alone"])
                    took.setdefault("alone", []).append(pair["alone"])
    core = (time.process_time() - began[1]) / (time.perf_counter() - began[0])
    step = median(took["alone"]) / options.steps
    line = {"kind": "monitor_cost", "model": named}
    line |= {"step_seconds": step, "turns": options.blocks, "core": round(core, 2)}
    print(f"step {1e3 * step:.1f} ms; medians of {options.blocks} turns, beside the loop alone:")
    for kind in KINDS:
        ratios = sorted(took[kind])
        ratio, away = median(ratios), outermost(len(ratios))
        line |= {kind: ratio, f"{kind}_low": ratios[away], f"{kind}_high": ratios[-1 - away]}
        span = f"{ratios[away]:.4f} to {ratios[-1 - away]:.4f}"
        print(f"  {kind}: {ratio:.4f} times ({span}), {1e6 * (ratio - 1) * step:+.0f} us a step")
    if options.output:
        records.append(options.output, line | {"environment": records.environment()})


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
