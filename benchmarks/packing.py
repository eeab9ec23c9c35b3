"""How fast, how full and how large: packing against a sort, and against one document at a time.

    python benchmarks/packing.py [--largest 10000000] [--output records.jsonl]

CPU seconds of this process on one core; `sort` is numpy's stable sort of the same array in the
same run. The peer is best-fit decreasing over single documents with a bisected list of rooms.
"""

import argparse
import bisect
import json
import time
import tracemalloc
from pathlib import Path

import numpy as np

from batchlab import lengths as ln
from batchlab import packing

ROW = 2048


def one_at_a_time(tokens: np.ndarray, row_length: int) -> int:
    """Best-fit decreasing with a sorted list of rooms; returns the number of rows."""
    rooms: list[int] = []
    rows = 0
    for length in np.sort(tokens)[::-1].tolist():
        at = bisect.bisect_left(rooms, length)
        if at == len(rooms):
            rows, room = rows + 1, row_length
        else:
            room = rooms.pop(at)
        bisect.insort(rooms, room - length)
    return rows


def cpu_seconds(call, repeats: int) -> float:
    """The least of `repeats` runs: what the work costs, without what disturbed it."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def measured(name: str, tokens: np.ndarray) -> dict:
    repeats = 5 if len(tokens) <= 10**6 else 2
    found = packing.pack(tokens, ROW)
    record = {
        "benchmark": "packing",
        "lengths": name,
        "documents": len(tokens),
        "row_length": ROW,
        "rows": found.row_count,
        "lower_bound_rows": found.lower_bound,
        "fill": found.fill,
        "pack_seconds": cpu_seconds(lambda: packing.pack(tokens, ROW), repeats),
        "sort_seconds": cpu_seconds(lambda: np.sort(tokens, kind="stable"), repeats),
    }
    if len(tokens) <= 10**5:
        record["peer_rows"] = one_at_a_time(tokens, ROW)
        record["peer_seconds"] = cpu_seconds(lambda: one_at_a_time(tokens, ROW), 1)
    tracemalloc.start()
    packing.pack(tokens, ROW)
    record["peak_bytes_per_document"] = tracemalloc.get_traced_memory()[1] / len(tokens)
    tracemalloc.stop()
    return record


def cases(largest: int):
    for exponent in range(4, 8):
        n = 10**exponent
        if n <= largest:
            rng = np.random.default_rng(0)
            yield "lognormal", ln.lognormal(n, median=370, sigma=1, longest=ROW)
            yield "uniform", rng.integers(1, ROW + 1, n)
            yield "gsm8k, drawn", rng.choice(ln.gsm8k(), n)
    yield "gsm8k", ln.gsm8k()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--largest", type=int, default=10**7)
    options.add_argument("--output", type=Path)
    chosen = options.parse_args()
    print(f"{'lengths':<14}{'documents':>11}{'rows':>10}{'bound':>10}{'fill':>9}", end="")
    print(f"{'CPU s':>9}{'x sort':>8}{'x peer':>8}{'B/doc':>7}")
    for name, tokens in cases(chosen.largest):
        r = measured(name, tokens)
        peer = r["peer_seconds"] / r["pack_seconds"] if "peer_seconds" in r else float("nan")
        print(
            f"{name:<14}{r['documents']:>11,}{r['rows']:>10,}{r['lower_bound_rows']:>10,}"
            f"{r['fill']:>9.4%}{r['pack_seconds']:>9.4f}"
            f"{r['pack_seconds'] / r['sort_seconds']:>8.2f}{peer:>8.0f}"
            f"{r['peak_bytes_per_document']:>7.0f}",
            flush=True,
        )
        if chosen.output:
            with chosen.output.open("a") as file:
                file.write(json.dumps(r) + "\n")


if __name__ == "__main__":
    main()
