"""How fast and how full is packing, at every size: against three peers and a sort.

    python benchmarks/packing.py [--largest 10000000] [--output records.jsonl]

CPU seconds on one core, medians of at least five rounds in which all of them take turns. All get
the same array and give back the row of each document as an array.

    C       best-fit decreasing as compiled packers do it: counting sort, a tree over all capacities
            (`best_fit.c`, compiled here; left out where there is no compiler)
    lists   the same, as a package gives it: rows as lists of document numbers
    bisect  best-fit decreasing over single documents, rooms in a sorted list
    scan    first-fit decreasing as trainers' samplers write it: every open row is looked at until
            one has room; compiled if numba is installed, else with NumPy
    sort    numpy's stable sort of the same array
"""

import argparse
import bisect
import ctypes
import json
import shutil
import subprocess
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from interleaved import medians

from batchlab import lengths as ln
from batchlab import packing

PEERS = ("C", "lists", "bisect", "scan")
LARGEST_BISECT, LARGEST_SCAN = 10**6, 10**4  # documents; more take minutes


Packer = Callable[[np.ndarray, int], tuple[np.ndarray, int]]


def compiled() -> Packer | None:
    """`best_fit.c`, or None where there is no C compiler."""
    if (compiler := shutil.which("cc") or shutil.which("gcc")) is None:
        return None
    source = Path(__file__).with_name("best_fit.c")
    with tempfile.TemporaryDirectory() as home:
        made = Path(home, "best_fit.so")
        subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", made, source], check=True)
        found = ctypes.CDLL(str(made)).best_fit
    found.restype = ctypes.c_int64
    found.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]

    def by_compiler(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
        row_of = np.empty(len(tokens), dtype=np.int32)
        rows = found(tokens.ctypes.data, len(tokens), row_length, row_of.ctypes.data)
        return row_of, rows

    return by_compiler


def as_lists(pack: Packer, tokens: np.ndarray, row_length: int) -> list[list[int]]:
    row_of, count = pack(tokens, row_length)
    rows: list[list[int]] = [[] for _ in range(count)]
    for document, row in enumerate(row_of.tolist()):
        rows[row].append(document)
    return rows


def by_bisect(tokens: np.ndarray, row_length: int) -> tuple[np.ndarray, int]:
    """Best-fit decreasing with a sorted list of (room, row)."""
    lengths = tokens.tolist()
    row_of = [0] * len(lengths)
    rooms: list[tuple[int, int]] = []
    rows = 0
    for document in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        length = lengths[document]
        at = bisect.bisect_left(rooms, (length, -1))
        if at == len(rooms):
            room, row = row_length, rows
            rows += 1
        else:
            room, row = rooms.pop(at)
        row_of[document] = row
        if room > length:
            bisect.insort(rooms, (room - length, row))
    return np.array(row_of, dtype=np.int32), rows


def _scan(lengths: np.ndarray, rooms: np.ndarray, row_of: np.ndarray) -> int:
    rows = 0
    for document in range(len(lengths)):
        row = 0
        while rooms[row] < lengths[document]:
            row += 1
        rooms[row] -= lengths[document]
        row_of[document] = row
        rows = max(rows, row + 1)
    return rows


def _scan_with_numpy(lengths: np.ndarray, rooms: np.ndarray, row_of: np.ndarray) -> int:
    rows = 0
    for document, length in enumerate(lengths.tolist()):
        row = int(np.argmax(rooms[: rows + 1] >= length))
        rooms[row] -= length
        row_of[document] = row
        rows = max(rows, row + 1)
    return rows


def scanner() -> tuple[str, Callable[..., int]]:
    try:
        import numba
    except ImportError:
        return "NumPy", _scan_with_numpy
    return f"numba {numba.__version__}", numba.njit(_scan)


def by_scan(scan: Callable[..., int], tokens: np.ndarray, row_length: int) -> Any:
    order = np.argsort(-tokens, kind="stable")
    found = np.empty(len(tokens), dtype=np.int32)
    rows = scan(tokens[order], np.full(len(tokens) + 1, row_length), found)
    row_of = np.empty(len(tokens), dtype=np.int32)
    row_of[order] = found
    return row_of, rows


def measured(
    name: str, tokens: np.ndarray, row: int, scan: Callable[..., int], judge: Packer | None
) -> dict[str, Any]:
    """One line of the table; ours must take as few rows as the textbook's best fit."""
    found = packing.pack(tokens, row)
    calls: dict[str, Callable[[], object]] = {
        "pack": lambda: packing.pack(tokens, row),
        "sort": lambda: np.sort(tokens, kind="stable"),
    }
    if judge is not None:
        calls["C"] = lambda: judge(tokens, row)
        calls["lists"] = lambda: as_lists(judge, tokens, row)
        if (wanted := judge(tokens, row)[1]) != found.row_count:
            raise SystemExit(f"{name}, {len(tokens):,}: {found.row_count:,} rows, C {wanted:,}")
    if len(tokens) <= LARGEST_BISECT:
        calls["bisect"] = lambda: by_bisect(tokens, row)
        if (wanted := by_bisect(tokens, row)[1]) != found.row_count:
            raise SystemExit(f"{name}, {len(tokens):,}: {found.row_count:,} rows, not {wanted:,}")
    if len(tokens) <= LARGEST_SCAN:
        calls["scan"] = lambda: by_scan(scan, tokens, row)
    seconds = medians(calls, rounds=9 if len(tokens) <= 10**4 else 5)
    tracemalloc.start()
    packing.pack(tokens, row)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "benchmark": "packing",
        "lengths": name,
        "documents": len(tokens),
        "row_length": row,
        "rows": found.row_count,
        "lower_bound_rows": found.lower_bound,
        "fill": found.fill,
        **{f"{peer}_seconds": value for peer, value in seconds.items()},
        "peak_bytes_per_document": peak / len(tokens),
    }


def cases(largest: int) -> Iterator[tuple[str, np.ndarray, int]]:
    for row in (2048, 131_072):
        for n in (8, 64, 1000, 10**4, 10**5, 10**6, 10**7):
            if n <= (largest if row == 2048 else min(largest, 10**6)):
                rng = np.random.default_rng(0)
                yield "lognormal", ln.lognormal(n, median=row / 5.5, sigma=1, longest=row), row
                if row == 131_072:
                    yield "median 16,000", ln.lognormal(n, median=16_000, sigma=1, longest=row), row
                yield "uniform", rng.integers(1, row + 1, n), row
                if row == 2048:
                    yield "gsm8k, drawn", rng.choice(ln.gsm8k(), n), row
    yield "gsm8k", ln.gsm8k(), 2048


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--largest", type=int, default=10**7)
    options.add_argument("--output", type=Path)
    chosen = options.parse_args()
    how, scan = scanner()
    judge = compiled()
    print(f"scan: {how}; x: CPU time of pack / that of the peer\n")
    print(f"{'lengths':<14}{'row':>8}{'documents':>11}{'rows':>10}{'fill':>9}{'us/doc':>8}", end="")
    print(f"{'x C':>7}{'x lists':>8}{'x bisect':>9}{'x scan':>8}{'x sort':>8}{'B/doc':>7}")
    for name, tokens, row in cases(chosen.largest):
        r = measured(name, tokens, row, scan, judge)
        x = [r["pack_seconds"] / r.get(f"{peer}_seconds", np.nan) for peer in PEERS]
        print(
            f"{name:<14}{row:>8,}{r['documents']:>11,}{r['rows']:>10,}{r['fill']:>9.3%}"
            f"{1e6 * r['pack_seconds'] / len(tokens):>8.3f}{x[0]:>7.2f}{x[1]:>8.2f}"
            f"{x[2]:>9.2f}{x[3]:>8.2f}"
            f"{r['pack_seconds'] / r['sort_seconds']:>8.2f}{r['peak_bytes_per_document']:>7.0f}",
            flush=True,
        )
        if chosen.output:
            with chosen.output.open("a") as file:
                file.write(json.dumps(r) + "\n")


if __name__ == "__main__":
    main()
