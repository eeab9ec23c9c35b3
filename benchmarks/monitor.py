"""What watching a loop costs: seconds of the same steps with and without `monitor.watch`.

    python benchmarks/monitor.py [--steps N] [--blocks N] [--compile]

The small model on the embedded corpus, eight rows of at most 256 tokens, in turns: a block of steps
watched, a block alone, and so on. Seconds are those of the process, so that other work on the
machine does not count. With --compile the model is compiled and every row has 256 slots.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from batchlab import batches, data, model, monitor


def block(net, optimizer, inputs, watched: Path | None) -> float:
    """Process seconds of one pass over `inputs`."""
    around = monitor.watch(net, optimizer, watched) if watched else contextlib.nullcontext()
    begin = time.process_time()
    with around as watch:
        for batch in watch(inputs) if watch else inputs:
            net(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10, help="of one block (10)")
    parser.add_argument("--blocks", type=int, default=20, help="of each kind (20)")
    parser.add_argument("--compile", action="store_true", help="one static shape, compiled")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.embedded().at_most(256)
    net = model.small(corpus.vocabulary)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
    names = ("input_ids", "labels", "attention_mask")
    inputs = []
    for step in range(options.steps):
        rows = range(8 * step, 8 * step + 8)
        made = batches.padded(corpus, rows, round_to=256 if options.compile else 1)
        inputs.append({name: made[name] for name in names})
    if options.compile:
        net.compile()
    alone, watched = [], []
    with tempfile.TemporaryDirectory() as folder:
        block(net, optimizer, inputs, None)
        block(net, optimizer, inputs, Path(folder) / "first.jsonl")  # a compiler works here
        for number in range(options.blocks):
            watched.append(block(net, optimizer, inputs, Path(folder) / f"{number}.jsonl"))
            alone.append(block(net, optimizer, inputs, None))
    ratio = median(w / a for w, a in zip(watched, alone, strict=True))
    step = median(alone) / options.steps
    print(
        f"step {1e3 * step:.1f} ms; watched / alone: median of {options.blocks} pairs {ratio:.4f}"
    )


if __name__ == "__main__":
    main()
