"""Simulated against measured serving: the same passes, and seconds that calibration foretells.

    python benchmarks/serving.py [--rounds 5] [--output FILE]

A round serves two sets of requests at once, pass by pass in turns, so that a machine that slows
down slows both: one set calibrates the cost of a pass, the other is foretold. Every round draws its
own requests; all policies get the same ones. Seconds are of the thread, torch on one thread.
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from batchlab import model, records, report, serving
from batchlab.serving import generate

POLICIES = ("static", "continuous", "chunked")
ROWS = (4, 8)
REQUESTS = 20
CHUNK = 32  # tokens of a pass under chunked: the longest prompts take two


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    small = model.small(4096, layers=4, hidden=256, heads=4).eval()
    in_turns(small, drawn(998), drawn(999), policy="continuous", rows=ROWS[0])  # warm up
    found = [case(small, policy, rows, args.rounds) for policy in POLICIES for rows in ROWS]
    lines = [
        [one["policy"], one["rows"], f"{statistics.median(one['measured_seconds']):.3f}",
         f"{statistics.median(one['foretold_seconds']):.3f}", f"{one['miss']:+.1%}"]
        for one in found
    ]  # fmt: skip
    print(report.table(["policy", "rows", "measured s", "foretold s", "median miss"], lines))
    if args.output:
        for one in found:
            records.append(args.output, {**one, "environment": records.environment()})


def case(small: Any, policy: str, rows: int, rounds: int) -> dict[str, Any]:
    """Seconds of requests that the calibration never saw, measured and foretold, round by round."""
    passes, measured, foretold = [], [], []
    for number in range(rounds):
        known, new = in_turns(
            small, drawn(2 * number), drawn(2 * number + 1), policy=policy, rows=rows
        )
        cost = serving.calibrate(known.passes)
        played = serving.simulate(new.served.trace, cost, policy=policy, rows=rows, chunk=CHUNK)
        if (played.passes, played.row_steps) != (new.served.passes, new.served.row_steps):
            raise RuntimeError(f"{policy}, {rows} rows: other passes than simulated")
        passes.append(played.passes)
        measured.append(new.served.busy_seconds)
        foretold.append(played.busy_seconds)
    misses = [told / real - 1 for told, real in zip(foretold, measured, strict=True)]
    return {"kind": "serving", "policy": policy, "rows": rows, "requests": REQUESTS,
            "passes": passes, "measured_seconds": measured, "foretold_seconds": foretold,
            "miss": statistics.median(misses)}  # fmt: skip


def in_turns(
    small: Any, *sets: tuple[list[list[int]], list[int]], policy: str, rows: int
) -> list[generate.Generated]:
    """Serve each set in a thread of its own; at every time one of them runs, for one pass."""
    turns = [threading.Semaphore(at == 0) for at in range(len(sets))]
    left = list(range(len(sets)))
    served: dict[int, generate.Generated] = {}

    def hand_over(at: int) -> None:
        turns[left[(left.index(at) + 1) % len(left)]].release()

    def clock_of(at: int) -> Callable[[], float]:
        calls = 0

        def clock() -> float:
            nonlocal calls
            calls += 1
            if calls > 1 and calls % 2:  # a pass begins: the other one first
                hand_over(at)
                turns[at].acquire()
            return time.thread_time()

        return clock

    def serve(at: int) -> None:
        turns[at].acquire()
        try:
            served[at] = generate.run(
                small, *sets[at], policy=policy, rows=rows, chunk=CHUNK, clock=clock_of(at)
            )
        finally:
            following = left[(left.index(at) + 1) % len(left)]
            left.remove(at)
            turns[following].release()

    threads = [threading.Thread(target=serve, args=(at,)) for at in range(len(sets))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return [served[at] for at in range(len(sets))]


def drawn(seed: int) -> tuple[list[list[int]], list[int]]:
    """Prompts of 4 to 63 random tokens; outputs with a long tail."""
    random = np.random.default_rng(seed)
    sizes = random.integers(4, 64, REQUESTS)
    prompts = [random.integers(0, 4096, size).tolist() for size in sizes]
    return prompts, (random.lognormal(3, 0.8, REQUESTS).astype(int) + 1).tolist()


if __name__ == "__main__":
    main()
