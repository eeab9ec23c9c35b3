"""What ten minutes on a GPU should measure, most valuable first, each line written at once.

    python benchmarks/gpu_run.py --output FOLDER [--seconds 380] [--small] [--only STAGE ...]

A stage that fails is recorded and the next one begins; no stage begins after the deadline. On the
CPU, or with --small, the same stages run in a small form: a rehearsal, whose numbers mean nothing.

What one call of 590 seconds holds, in seconds of an H200 as estimated before the first run:

    tests/gpu       145  the proofs, run first
    start            20  imports, the first model, the corpus
    device            3  products, copies, launches
    peaks            25  predicted against measured memory
    knee             15  seconds by the tokens of a micro-batch
    same_step        10  the same 16 documents, cut in several ways
    sweeps          208  rows x layout x checkpointing, two corpora, two rounds
    backends         10  attention, forward and backward
    new_shapes       15  the first step of a width
    launch_bound     10  a small model
    precisions       12  one flat row in each
    starvation        8  a slow builder, by workers
    limit            15  allocator retries near the limit of memory
    flops            60  eager and compiled; last, since compiling may take longer
"""

import argparse
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import gpu_records as replayed
import gpu_stages as stages
import torch
from gpu_stages import Bench

from batchlab.memory.limits import collect_memory

STAGES: dict[str, Callable[[Bench], None]] = {
    "device": stages.rates,
    "peaks": replayed.peaks,
    "knee": stages.knee,
    "same_step": stages.same_step,
    "sweeps": replayed.sweeps,
    "backends": stages.backends,
    "new_shapes": stages.new_shapes,
    "launch_bound": stages.launch_bound,
    "precisions": stages.precisions,
    "starvation": stages.starvation,
    "limit": stages.limit,
    "flops": stages.flops,
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    options.add_argument("--seconds", type=float, default=380, help="no stage begins later (380)")
    options.add_argument("--small", action="store_true", help="a rehearsal in small form")
    options.add_argument("--only", nargs="+", choices=STAGES, metavar="STAGE")
    chosen = options.parse_args()
    began = time.perf_counter()
    bench = Bench(chosen.output, small=chosen.small or not torch.cuda.is_available())
    failed = 0
    for name in chosen.only or STAGES:
        start = time.perf_counter()
        if start - began > chosen.seconds:
            bench.write("left_out", name=name)
            continue
        try:
            STAGES[name](bench)
            bench.write("done", name=name, seconds=time.perf_counter() - start)
        except Exception as error:  # the next stage must have its turn on a lent machine
            failed += 1
            traceback.print_exc()
            bench.write("failed", name=name, error=f"{type(error).__name__}: {error}"[:500])
            collect_memory(bench.place)
    return min(failed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
