"""A sweep of a small model on the machine at hand: padded rows, and the cure beside them.

nothing  ->  cells: padded micro-batches of 2 to 16 rows, packed ones of 16, in three rounds
"""

import tempfile
from pathlib import Path
from typing import Any

from batchlab import attention, data, model, sweep
from batchlab.records import Cell, Identity, Model

__all__ = ["live_sweep"]

LONGEST, ROUNDS, STEPS = 256, 3, 2


def live_sweep(device: str = "cpu") -> list[Cell]:
    """The visits, measured now on one thread; every cell trains on the same documents."""
    import torch

    corpus = data.embedded().at_most(LONGEST)

    def make(precision: str, layout: str) -> Any:
        return attention.prepare(model.small(corpus.vocabulary, layers=1, hidden=32, heads=2))

    points = [*sweep.grid((2, 4, 8, 16)), sweep.Point(16, "packed")]
    named = Identity(Model("small"), "lesson-11", corpus.name, corpus.fingerprint)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # steadier on a busy machine, and what others take is then known
    try:
        with tempfile.TemporaryDirectory() as folder:
            return sweep.run(
                corpus, make, points, path=Path(folder) / "live.jsonl", identity=named,
                documents_per_step=16, steps=STEPS, rounds=ROUNDS, device=device,
            )  # fmt: skip
    finally:
        torch.set_num_threads(threads)
