"""How fast and how lean documents are read: `data.load` against json and NumPy by hand.

    python benchmarks/data.py [--documents 100000] [--rounds 7] [--output records.jsonl]

CPU seconds of this process, both ways in turn, medians of the rounds. Memory is the peak of a fresh
process, less what it holds before it begins to read. By hand, each row becomes an array of 32 bits
as it is parsed, and all are concatenated: what a careful script does.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from batchlab import data
from batchlab import lengths as ln

ROW, VOCABULARY = 2048, 50_000


def write(folder: Path, documents: int) -> tuple[Path, Path]:
    """The same token ids as JSON lines and as Parquet."""
    import pyarrow
    from pyarrow import parquet

    sizes = ln.lognormal(documents, median=80, sigma=1, longest=ROW)
    ids = np.random.default_rng(0).integers(2, VOCABULARY, int(sizes.sum()))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    lines, table = folder / "ids.jsonl", folder / "ids.parquet"
    with lines.open("w") as file:
        for begin, end in itertools.pairwise(starts.tolist()):
            file.write(json.dumps({"input_ids": ids[begin:end].tolist()}) + "\n")
    column = pyarrow.LargeListArray.from_arrays(starts, ids.astype(np.int32))
    parquet.write_table(pyarrow.table({"input_ids": column}), table)
    return lines, table


def by_hand(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Flat token ids and where each document begins, with json and NumPy alone."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        column = parquet.read_table(path)["input_ids"].combine_chunks()
        return column.flatten().to_numpy(), column.offsets.to_numpy()
    rows = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            rows.append(np.array(json.loads(line)["input_ids"], dtype=np.int32))
    return np.concatenate(rows), np.concatenate([[0], np.cumsum([len(row) for row in rows])])


def ours(path: Path) -> tuple[np.ndarray, np.ndarray]:
    found = data.load(path)
    return found.tokens, found.starts


WAYS = {"by_hand": by_hand, "ours": ours}


def peak_bytes(way: str, path: Path) -> int:
    """What one reading adds to the peak of a process of its own."""
    code = (
        "import re, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import data, pyarrow.parquet, tqdm\n"
        "status = Path('/proc/self/status')  # getrusage would begin with the parent's peak\n"
        "peak = lambda: 1024 * int(re.search(r'VmHWM:\\s+(\\d+)', status.read_text())[1])\n"
        "before = peak(); found = data.WAYS[sys.argv[2]](Path(sys.argv[3])); print(peak() - before)"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent), way, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout)


def measured(path: Path, documents: int, rounds: int) -> dict:
    """Both ways in turn, and that they read the same."""
    for one, other in zip(by_hand(path), ours(path), strict=True):
        assert (one == other).all()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, read in WAYS.items():
            start = time.process_time()
            read(path)
            seconds[way].append(time.process_time() - start)
    record = {"benchmark": "data", "format": path.suffix, "documents": documents, "rounds": rounds}
    for way in WAYS:
        record[f"{way}_seconds"] = statistics.median(seconds[way])
        record[f"{way}_peak_bytes"] = peak_bytes(way, path)
    return record


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--output", type=Path)
    chosen = options.parse_args()
    print(f"{'file':<10}{'documents':>11}{'CPU s':>9}{'x by hand':>11}{'MiB':>9}{'x by hand':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for path in write(Path(folder), chosen.documents):
            r = measured(path, chosen.documents, chosen.rounds)
            print(
                f"{r['format']:<10}{r['documents']:>11,}{r['ours_seconds']:>9.3f}"
                f"{r['ours_seconds'] / r['by_hand_seconds']:>11.2f}"
                f"{r['ours_peak_bytes'] / 2**20:>9.0f}"
                f"{r['ours_peak_bytes'] / r['by_hand_peak_bytes']:>11.2f}",
                flush=True,
            )
            if chosen.output:
                with chosen.output.open("a") as file:
                    file.write(json.dumps(r) + "\n")


if __name__ == "__main__":
    main()
