"""Rows that packing takes when every shard is packed on its own, against packing all at once.

    python benchmarks/packing_shards.py [--output FILE]

Counts only: the same on every machine.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import lengths as ln
from batchlab import packing, records, report

ROW = 2048
DOCUMENTS = 2**18
SHARDS = (64, 1024, 8192, 65_536)  # documents


def lengths() -> dict[str, np.ndarray]:
    """Kinds of documents, many of each; no two shards hold the same ones."""
    random = np.random.default_rng(0)
    short = ln.embedded()
    return {
        "gsm8k, drawn": random.choice(ln.gsm8k(), DOCUMENTS),
        "standard library, drawn": random.choice(short[short <= ROW], DOCUMENTS),
        "lognormal": ln.lognormal(DOCUMENTS, median=ROW / 5.5, sigma=1, longest=ROW),
        "uniform": random.integers(1, ROW + 1, DOCUMENTS),
    }


def lines() -> Iterator[dict[str, Any]]:
    """For each kind and size of a shard: rows, fill, and rows over those of packing it whole."""
    for kind, tokens in lengths().items():
        whole = packing.pack(tokens, ROW).row_count
        for shard in (*SHARDS, DOCUMENTS):
            rows = in_shards(tokens, shard)
            yield {"kind": "packing_shards", "lengths": kind, "documents": DOCUMENTS,
                   "row_length": ROW, "shard_documents": shard, "rows": rows,
                   "fill": int(tokens.sum()) / (rows * ROW),
                   "more_rows": rows / whole - 1}  # fmt: skip


def in_shards(tokens: np.ndarray, shard: int) -> int:
    """Rows, with every `shard` documents packed on their own."""
    starts = range(0, len(tokens), shard)
    return sum(packing.pack(tokens[at : at + shard], ROW).row_count for at in starts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    found = list(lines())
    rows = [
        [one["lengths"], f"{one['shard_documents']:,}", f"{one['rows']:,}", f"{one['fill']:.2%}",
         f"{one['more_rows']:.2%}"]
        for one in found
    ]  # fmt: skip
    print(report.table(["lengths", "documents a shard", "rows", "fill", "more rows"], rows))
    if args.output:
        for one in found:
            records.append(args.output, {**one, "environment": records.environment()})


if __name__ == "__main__":
    main()
