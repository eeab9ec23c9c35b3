"""What a Tracker costs: seconds of the same steps with and without it, and the bytes it keeps.

    python benchmarks/noise_tracker.py [--rows N] [--length N] [--pairs N]

The small model, steps of four micro-batches, in turns: one step tracked, one alone, one more alone
as control (A/A). Seconds are those of the process, so that other work on the machine counts little.
"""

import argparse
import time
from statistics import median

import torch

from batchlab import loop, model
from batchlab.noise.norms import Tracker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4, help="of a micro-batch (4)")
    parser.add_argument("--length", type=int, default=128, help="tokens of a row (128)")
    parser.add_argument("--pairs", type=int, default=15, help="of steps (15)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    net = model.small()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.0)
    draw = torch.Generator().manual_seed(0)
    shape = options.rows, options.length
    pieces = [
        {"input_ids": ids, "labels": ids}
        for ids in (torch.randint(0, 4096, shape, generator=draw) for _ in range(4))
    ]

    def step() -> float:
        begin = time.process_time()
        loop.train_step(net, optimizer, pieces, max_grad_norm=1.0)
        return time.process_time() - begin

    step(), step()
    tracked, control, alone = [], [], []
    kept = 0
    for _ in range(options.pairs):
        alone.append(step())
        with Tracker(net, optimizer) as tracker:
            step()
            tracked.append(step())
            kept = sum(p.numel() * p.element_size() for p in tracker._taps.probe)
        control.append(step())
    weights = sum(p.numel() * p.element_size() for p in net.parameters())
    print(
        f"{options.rows} x {options.length} tokens a micro-batch: step {1e3 * min(alone):.0f} ms, "
        f"tracked / alone {min(tracked) / min(alone):.3f}, alone / alone "
        f"{min(control) / min(alone):.3f} (fastest of {options.pairs}; medians "
        f"{median(tracked) / median(alone):.3f}, {median(control) / median(alone):.3f}); "
        f"kept: {kept:,} bytes beside gradients of {weights:,}"
    )


if __name__ == "__main__":
    main()
