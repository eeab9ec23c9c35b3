"""Packing through `datasets`, against what its `map` needs to copy the tokens, and against TRL.

    python benchmarks/packing_datasets.py [--documents 1000000] [--folder /dev/shm] [--output FILE]

CPU seconds of one process, medians of rounds in which all take turns. Every call writes a file,
which is removed after its time was taken. Give a folder in memory: a disk is another measurement.

    pack   packing.pack_dataset, 16,384 documents a shard
    copy   the same map in the same format with a function that gives back what it gets
    trl    trl.pack_dataset as it stands: best fit inside 1,000 documents

Tokens are 32-bit ids; `with masks`, an attention mask of bytes lies beside them, as a tokenizer
leaves it: `copy` and `trl` carry it along, `pack` looks whether it hides padding and leaves it out.
"""

import argparse
import gc
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa

from batchlab import lengths as ln
from batchlab import packing, records, report

ROW = 2048
CHUNK = 100_000  # documents that are made at a time


def made(tokens: np.ndarray, folder: Path, masks: bool) -> Any:
    """A data set on disk with so many tokens in each document."""
    tables, rng = [], np.random.default_rng(0)
    for begin in range(0, len(tokens), CHUNK):
        ends = np.concatenate([[0], np.cumsum(tokens[begin : begin + CHUNK])]).astype(np.int32)
        columns = {"input_ids": rng.integers(0, 32_000, ends[-1], dtype=np.int32)}
        if masks:
            columns["attention_mask"] = np.ones(ends[-1], np.int8)
        lists = {name: pa.ListArray.from_arrays(ends, one) for name, one in columns.items()}
        tables.append(pa.table(lists))
    datasets.Dataset(pa.concat_tables(tables)).save_to_disk(folder / "data")
    return datasets.load_from_disk(folder / "data")


def same(table: Any) -> Any:
    return table


def ways(data: Any, path: Path) -> dict[str, Callable[[], Any]]:
    """Each makes a data set in the file."""
    from trl import pack_dataset

    to = {"cache_file_name": str(path), "load_from_cache_file": False}
    return {
        "pack": lambda: packing.pack_dataset(data, ROW, **to),
        "copy": lambda: data.with_format("arrow").map(same, batched=True, batch_size=16_384, **to),
        "trl": lambda: pack_dataset(data, ROW, map_kwargs=to),
    }


def measured(tokens: np.ndarray, masks: bool, folder: Path, rounds: int) -> dict[str, Any]:
    path = folder / "made.arrow"
    calls = ways(made(tokens, folder, masks), path)
    rows: dict[str, int] = {}
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            gc.collect()
            start = time.process_time()
            found = call()
            seconds = time.process_time() - start
            rows[name] = len(found)
            del found
            path.unlink()
            if number:  # the first call also imports
                taken[name].append(seconds)
    return {
        "kind": "packing_datasets",
        "documents": len(tokens),
        "tokens": int(tokens.sum()),
        "row_length": ROW,
        "masks": masks,
        "rows": rows["pack"],
        "trl_rows": rows["trl"],
        **{f"{name}_seconds": statistics.median(one) for name, one in taken.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    datasets.disable_progress_bars()
    rng, many = np.random.default_rng(0), chosen.documents
    kinds = {
        "gsm8k, drawn": rng.choice(ln.gsm8k(), many),
        "lognormal": ln.lognormal(many, median=ROW / 5.5, sigma=1, longest=ROW),
    }
    rows = []
    for (name, tokens), masks in itertools.product(kinds.items(), (False, True)):
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            one = measured(tokens, masks, Path(folder), chosen.rounds)
        name += ", with masks" if masks else ""
        ours = one["pack_seconds"]
        rows.append(
            [name, f"{many:,}", f"{ours:.2f}", f"{ours / one['copy_seconds']:.2f}",
             f"{ours / one['trl_seconds']:.3f}", f"{one['rows']:,}", f"{one['trl_rows']:,}"]
        )  # fmt: skip
        if chosen.output:
            line = {"lengths": name, **one, "environment": records.environment()}
            records.append(chosen.output, line)
    heads = ["lengths", "documents", "pack, s", "of copy", "of TRL", "rows", "TRL's rows"]
    print(report.table(heads, rows))


if __name__ == "__main__":
    main()
