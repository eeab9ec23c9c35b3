"""What ten minutes on a GPU should measure, most valuable first, each line written at once.

    python benchmarks/gpu_run.py --output FOLDER [--seconds 300] [--small] [--only STAGE ...]

A stage that fails is recorded and the next one begins; no stage begins after the deadline. On the
CPU, or with --small, the same stages run in a small form: a rehearsal, whose numbers mean nothing.
The stages stand in `gpu_stages`.
"""

import argparse
import time
import traceback
from pathlib import Path

import torch
from gpu_stages import STAGES, Bench

from batchlab.memory.limits import collect_memory


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    options.add_argument("--seconds", type=float, default=300, help="no stage begins later (300)")
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
