"""From a large file to micro-batches: `data.Stream` beside the streams of others.

    pip install mosaicml-streaming torchdata datasets     # peers that are not there are left out
    python benchmarks/streams.py [--megabytes 256] [--rounds 3] [--output records.jsonl]

Every measurement is a process of its own, all ways in turn; CPU seconds count it and what it
started, from the first line of the way on (imports are not counted). Rows of 2,048 slots, 8 a
micro-batch, as int64 tensors. Ours packs whole documents; the others' are concatenated and cut,
which is less work. Mosaic reads its own format: what making it costs is told beside it.
"""

import argparse
import importlib
import importlib.util
import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import lengths, records

LENGTH, ROWS, VOCABULARY = 2048, 8, 50_000
DOCUMENTS = 20_000  # that are written once; a file is many copies of them
TASKS = ("pass", "first", "resume")  # all of it; to the first micro-batch; to that at 90 %


def write(path: Path, megabytes: int) -> None:
    """Token ids as JSON lines."""
    sizes = lengths.lognormal(DOCUMENTS, median=300, sigma=1, longest=LENGTH)
    ids = np.random.default_rng(0).integers(2, VOCABULARY, int(sizes.sum()))
    ends = np.cumsum(sizes)
    rows = (ids[end - size : end].tolist() for end, size in zip(ends, sizes, strict=True))
    some = "".join(json.dumps({"input_ids": row}) + "\n" for row in rows).encode()
    with path.open("wb") as file:
        copies = max(1, round(megabytes * 1e6 / len(some)))
        for _ in range(copies):
            file.write(some)
    Path(f"{path}.tokens").write_text(str(copies * len(ids)))


def chopped(documents: Iterable[Any]) -> Iterator[Any]:
    """Documents one after another, cut into micro-batches."""
    import torch

    held, size = [], 0
    for one in documents:
        held.append(np.asarray(one, dtype=np.int64))
        size += len(held[-1])
        if size >= LENGTH * ROWS:
            flat = np.concatenate(held)
            yield {"input_ids": torch.from_numpy(flat[: LENGTH * ROWS].reshape(ROWS, LENGTH))}
            held, size = [flat[LENGTH * ROWS :]], size - LENGTH * ROWS


class Ours:
    """`data.Stream` as tensors; its workers are processes of its own."""

    def __init__(self, path: Path, rank: int, ranks: int, workers: int) -> None:
        from batchlab import data, loader

        self.stream = loader.Streamed(
            data.Stream(path, LENGTH, rows=ROWS, rank=rank, ranks=ranks, workers=workers)
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.stream)

    def state(self) -> Any:
        return self.stream.state_dict()

    def resume(self, state: Any) -> None:
        self.stream.load_state_dict(state)


class Datasets:
    """`datasets` streaming under torchdata's StatefulDataLoader."""

    def __init__(self, path: Path, rank: int, ranks: int, workers: int) -> None:
        from datasets import load_dataset
        from datasets.distributed import split_dataset_by_node
        from torchdata.stateful_dataloader import StatefulDataLoader

        rows = load_dataset("json", data_files=str(path), streaming=True, split="train")
        rows = split_dataset_by_node(rows, rank=rank, world_size=ranks)
        self.loader = StatefulDataLoader(rows, batch_size=None, num_workers=workers)

    def __iter__(self) -> Iterator[Any]:
        return chopped(row["input_ids"] for row in self.loader)

    def state(self) -> Any:
        return self.loader.state_dict()

    def resume(self, state: Any) -> None:
        self.loader.load_state_dict(state)


class Mosaic:
    """MosaicML streaming, from its own shards of the same token ids."""

    def __init__(self, path: Path, rank: int, ranks: int, workers: int) -> None:
        from streaming import StreamingDataLoader, StreamingDataset

        made = StreamingDataset(local=f"{path}.mds", shuffle=True, batch_size=1)
        self.loader = StreamingDataLoader(made, batch_size=1, num_workers=workers, collate_fn=list)

    def __iter__(self) -> Iterator[Any]:
        return chopped(row["input_ids"] for (row,) in self.loader)

    def state(self) -> Any:
        return self.loader.state_dict()

    def resume(self, state: Any) -> None:
        self.loader.load_state_dict(state)

    @staticmethod
    def prepare(path: Path) -> None:
        from streaming import MDSWriter

        with MDSWriter(out=f"{path}.mds", columns={"input_ids": "ndarray:int32"}) as out:
            for line in path.open():
                ids = np.array(json.loads(line)["input_ids"], np.int32)
                out.write({"input_ids": ids})


WAYS: dict[str, tuple[Any, list[str]]] = {
    "ours": (Ours, []),
    "datasets": (Datasets, ["datasets", "torchdata.stateful_dataloader"]),
    "mosaic": (Mosaic, ["streaming"]),
}


def cpu() -> float:
    """CPU seconds of this process and of those that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak() -> float:
    """MiB that this process held at most; getrusage would begin with its parent's peak."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def measure(way: str, task: str, path: Path, rank: int, ranks: int, workers: int) -> dict[str, Any]:
    """One task in this process."""
    import torch

    for name in ["batchlab.loader"] if way == "ours" else WAYS[way][1]:
        importlib.import_module(name)
    place = Path(f"{path}.{way}.state")
    begun, start = cpu(), time.perf_counter()
    if task == "prepare":
        Mosaic.prepare(path)
        return {"cpu": cpu() - begun}
    made = WAYS[way][0](path, rank, ranks, workers)
    if task == "resume":
        made.resume(torch.load(place, weights_only=False))
    tokens, batches, peak_at_half = 0, 0, 0.0
    total = int(Path(f"{path}.tokens").read_text())
    for batch in made:
        batches += 1
        tokens += int((batch["row_tokens"].sum()) if "row_tokens" in batch else LENGTH * ROWS)
        if task != "pass":
            break
        if not place.exists() and ranks == 1 and tokens > 0.9 * total:
            torch.save(made.state(), place)
        if not peak_at_half and tokens > 0.5 * total:
            peak_at_half = peak()
    seconds = time.perf_counter() - start
    found = {"cpu": cpu() - begun, "seconds": seconds, "tokens": tokens, "batches": batches}
    return found | {"mib": peak(), "mib_at_half": peak_at_half}


def apart(way: str, task: str, path: Path, *more: object) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", way, task, str(path), *map(str, more)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    if done.returncode:
        raise RuntimeError(f"{way} {task}: {done.stderr.strip()[-1500:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def compared(path: Path, ways: list[str], rounds: int) -> Iterator[dict[str, Any]]:
    """A record for each way, and for each number of ranks of those that deal a file."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _, task, way in itertools.product(range(rounds), TASKS, ways):
        one = apart(way, task, path, 0, 1, 0)
        found.setdefault((way, task), []).append(one)
        print(way, task, one, file=sys.stderr, flush=True)
    for way in ways:
        record: dict[str, Any] = {"what": "a file", "way": way, "rounds": rounds}
        record["megabytes"] = round(path.stat().st_size / 1e6)
        for task in TASKS:
            for name in ("cpu", "seconds", "mib", "mib_at_half"):
                values = [one[name] for one in found[way, task]]
                record[f"{task}_{name}"] = statistics.median(values)
        record["tokens"] = found[way, "pass"][0]["tokens"]
        yield record


def ranks_of(path: Path, way: str, ranks: int) -> dict[str, Any]:
    """CPU seconds of all ranks together, over those of one."""
    one = apart(way, "pass", path, 0, 1, 0)["cpu"]
    together = sum(apart(way, "pass", path, rank, ranks, 0)["cpu"] for rank in range(ranks))
    return {"what": "ranks", "way": way, "ranks": ranks, "ratio": together / one}


def keep(record: dict[str, Any], output: Path | None) -> None:
    print(json.dumps(record), flush=True)
    if output:
        line = {"kind": "streams", **record, "environment": records.environment()}
        records.append(output, line)


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--megabytes", type=int, default=256)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--ranks", type=int, nargs="*", default=[2, 4, 8])
    options.add_argument("--output", type=Path)
    options.add_argument("--one", nargs=6, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        way, task, path, *numbers = chosen.one
        print(json.dumps(measure(way, task, Path(path), *map(int, numbers))))
        return
    ways = [way for way, (_, needs) in WAYS.items() if all(map(_is_there, needs))]
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "ids.jsonl"
        write(path, chosen.megabytes)
        if "mosaic" in ways:
            made = apart("mosaic", "prepare", path, 0, 1, 0)
            keep({"what": "making shards", "way": "mosaic"} | made, chosen.output)
        for record in compared(path, ways, chosen.rounds):
            keep(record, chosen.output)
        fewer = folder / "fewer.jsonl"
        write(fewer, chosen.megabytes // 4)
        for ranks, way in itertools.product(chosen.ranks, [w for w in ways if w != "mosaic"]):
            keep(ranks_of(fewer, way, ranks), chosen.output)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
