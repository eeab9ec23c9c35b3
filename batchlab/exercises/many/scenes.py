"""What the page of lesson 15 shows beside its exercises: ranks on real documents, mixed-up calls."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import batchlab
from batchlab import data
from batchlab.classroom import script
from batchlab.cluster import ranks
from batchlab.exercises.many.model import fresh_weights, micro_batch, of_documents, summed

__all__ = [
    "fresh_weights",
    "launched",
    "micro_batch",
    "short",
    "step_case",
    "stuck",
    "summed",
]


def documents(many, seed=0):
    """So many documents of the embedded corpus, drawn by a seed."""
    corpus = data.embedded()
    drawn = np.random.default_rng(seed).choice(len(corpus.lengths), many, replace=False)
    return [corpus[int(at)] for at in drawn]


def stuck():
    """What a world says of a rank that leaves, of other shapes, and of equal shapes swapped."""

    def leaves(rank, tokens):
        return rank.all_reduce(np.array([tokens[rank.rank]])) if tokens[rank.rank] else None

    def other_shapes(rank):
        for size in (3, 4) if rank.rank else (4, 3):
            rank.all_reduce(np.ones(size))

    def equal_shapes(rank):
        order = ("bias", "scale") if rank.rank else ("scale", "bias")
        own = {"scale": np.array([10.0]), "bias": np.array([1.0])}
        total = {name: rank.all_reduce(own[name]) for name in order}
        return [float(total["scale"][0]), float(total["bias"][0])]

    said = []
    for function, *own in ((leaves, [7, 0]), (other_shapes,)):
        try:
            ranks.run(function, 2, *own)
        except ranks.RankError as error:
            said.append(re.sub(r" \(line \d+\)", "", str(error)))  # lines of this file
    return [*said, f"scale and bias by rank: {ranks.run(equal_shapes, 2).results}"]


def step_case(world_size, many, rows):
    """Real documents dealt out to the ranks in turn, in micro-batches of `rows`."""
    dealt = documents(many, seed=3)
    weights = fresh_weights(data.embedded().vocabulary, 8)
    parts = []
    for at in range(world_size):
        own = dealt[at::world_size]
        micro = [of_documents(own[k : k + rows]) for k in range(0, len(own), rows)]
        parts.append((weights, micro, 2.0, 1.0))
    return parts


LAUNCHED = """
import dataclasses, json, os
from batchlab.classroom import script
from batchlab.exercises.many.scenes import short
documents = short()
if __name__ == "__main__":
    for accumulation in (4, 2):
        bill = script.run(train_dataset=documents, gradient_accumulation_steps=accumulation)
        with open(f"bill-{accumulation}-{os.environ['RANK']}.json", "w") as file:
            json.dump(dataclasses.asdict(bill), file)
"""


def short():
    """The documents of the script, cut to 256 slots."""

    def cut(row):
        return {name: some[:256] for name, some in script.pad(row).items()}

    return script.documents().map(cut, new_fingerprint="short")  # else it tries to hash `cut`


def launched():
    """Bills of the script on short documents by torchrun on two processes, accumulation 4 and 2.

    Slots, tokens and targets are those of both processes.
    """
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "script.py"
        name.write_text(LAUNCHED, encoding="utf-8")
        two = _bills([*torchrun, str(name)], folder)
    return {"torchrun, 2 processes": two[4], "and accumulation 2": two[2]}


def _bills(start, folder):
    """The bills that processes leave, by accumulation; those of ranks are added up."""
    home = str(Path(batchlab.__file__).parents[1])
    there = {
        **os.environ, "PYTHONPATH": home, "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",  # two processes, and perhaps one GPU
    }  # fmt: skip
    subprocess.run([sys.executable, *start], cwd=folder, env=there, capture_output=True, check=True)
    found = {}
    for path in sorted(Path(folder).glob("bill-*.json")):  # what two print at once may mix
        told = json.loads(path.read_text(encoding="utf-8"))
        found.setdefault(int(path.stem.split("-")[1]), []).append(told)
    return {accumulation: _together(some) for accumulation, some in found.items()}


def _together(ranks_of):
    one, adds = ranks_of[0], ("micro_batches", "slots", "real_tokens", "targets")
    summed_up = {name: sum(rank[name] for rank in ranks_of) for name in adds}
    return script.Bill(**{**one, **summed_up, "losses": tuple(one["losses"])})
