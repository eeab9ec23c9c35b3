"""Measure real training steps over a grid of settings, on the same documents.

    grid, documents, model  ->  cell records, one JSON line each

Every cell trains on the same groups of documents, so every cell does the same useful work per step
and differs only in how it is cut and laid out. Visits are interleaved: each round goes through
all cells once, so that a machine which warms up or slows down does not favour one of them. A visit
is written as soon as it ends; a sweep that was killed goes on with the visits that are missing.

Words
    cell    one setting: rows, layout, checkpointing, precision
    visit   one cell in one round; `doctor.prices.merge` adds the visits of a cell together
    layout  padded (documents in order), bucketed (sorted inside the step), packed (padding-free)
"""

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import batches, counts, lengths, records
from batchlab.memory.limits import collect_memory, out_of_memory
from batchlab.model import set_checkpointing
from batchlab.stopwatch import Stopwatch

__all__ = ["LAYOUTS", "Cell", "grid", "micro_batches_of", "run", "step_groups"]

LAYOUTS = ("padded", "bucketed", "packed")
PRECISIONS = ("float32", "bfloat16", "autocast-bfloat16", "autocast-float16")


@dataclass(frozen=True)
class Cell:
    """One setting of the sweep."""

    rows: int
    layout: str = "padded"
    checkpointing: bool = False
    precision: str = "float32"

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"rows must be at least 1, got {self.rows}")
        if self.layout not in LAYOUTS:
            raise ValueError(f"unknown layout {self.layout!r}; there are {', '.join(LAYOUTS)}")
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"unknown precision {self.precision!r}; there are {', '.join(PRECISIONS)}"
            )


def grid(
    rows: Sequence[int],
    layouts: Sequence[str] = ("padded",),
    checkpointing: Sequence[bool] = (False,),
    precisions: Sequence[str] = ("float32",),
) -> list[Cell]:
    """Every combination of the settings."""
    return [Cell(*one) for one in itertools.product(rows, layouts, checkpointing, precisions)]


def step_groups(
    documents: int, documents_per_step: int, steps: int, *, seed: int = 0
) -> list[list[int]]:
    """Document numbers of each step, drawn without repetition."""
    wanted = documents_per_step * steps
    if wanted > documents:
        raise ValueError(
            f"{steps} steps of {documents_per_step} documents need {wanted:,}, "
            f"the data has {documents:,}"
        )
    order = np.random.default_rng(seed).permutation(documents)[:wanted]
    return order.reshape(steps, documents_per_step).tolist()


def micro_batches_of(
    documents: Sequence[Any], group: Sequence[int], cell: Cell
) -> list[counts.MicroBatch]:
    """The micro-batches of one step in the layout of `cell`."""
    numbers = list(group)
    if cell.layout == "bucketed":
        numbers.sort(key=lambda number: lengths.of(documents[number]))
    cuts = [numbers[i : i + cell.rows] for i in range(0, len(numbers), cell.rows)]
    if cell.layout == "packed":
        return [batches.flattened(documents, cut) for cut in cuts]
    return [batches.padded(documents, cut) for cut in cuts]


def run(
    documents: Sequence[Any],
    make_model: Callable[[str, str], Any],
    cells: Sequence[Cell],
    *,
    path: str | Path,
    identity: Mapping[str, Any],
    documents_per_step: int = 16,
    steps: int = 2,
    rounds: int = 3,
    seed: int = 0,
    device: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[dict[str, Any]]:
    """Visit every cell in every round and return all visit records, old and new.

    `make_model(precision, layout)` gives a fresh model; `identity` names model and data (the
    schema's model, model_fingerprint, data and data_fingerprint) and is written into each record.
    A cell that runs out of memory is recorded as such, and the sweep goes on. `progress` hears,
    before each visit, how many are done, of how many, and what is next.
    """
    import torch

    for cell in cells:
        if documents_per_step % cell.rows:
            raise ValueError(
                f"{documents_per_step} documents per step do not divide into rows of {cell.rows}"
            )
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    groups = step_groups(len(documents), documents_per_step, steps + 1, seed=seed)
    settings = {"documents_per_step": documents_per_step, "seed": seed, "device_type": place}
    done = [r for r in _known(path) if r.get("kind") == "cell"]
    finished = {_visit_key(r) for r in done}
    _require_same_run(path, done, identity, settings)
    visits = [(number, cell) for number in range(rounds) for cell in cells]
    models: dict[tuple[str, str], Any] = {}
    for at, (number, cell) in enumerate(_interleaved(visits, seed), start=1):
        base = {**dataclasses.asdict(cell), "round": number}
        if _visit_key(base) in finished:
            continue
        if progress:
            progress(at - 1, len(visits), f"rows {cell.rows}, {cell.layout}")
        model = _model_for(cell, models, make_model, place)
        measured = _visit(model, documents, groups, cell, place)
        record = {
            "kind": "cell",
            "source": "sweep",
            "status": "ok",
            "error": None,
            "accumulation": documents_per_step // cell.rows,
            "data_parallel": 1,
            **identity,
            **settings,
            **base,
            **measured,
            "environment": records.environment(),
        }
        records.append(path, record)
        done.append(record)
    return done


def _visit(
    model: Any, documents: Sequence[Any], groups: Sequence[Sequence[int]], cell: Cell, device: str
) -> dict[str, Any]:
    """Warm up on the first group, then time the others; nothing is left behind."""
    import torch

    model.train()
    set_checkpointing(model, cell.checkpointing)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    watch = Stopwatch(model, optimizer, device)
    try:
        for number, group in enumerate(groups):
            if number == 1:
                watch.start()
            with watch.input():
                micro_batches = micro_batches_of(documents, group, cell)
            watch.step(micro_batches, autocast=_autocast(cell.precision))
        return watch.totals(len(groups) - 1, warmup_steps=1)
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        return watch.nothing(str(error).splitlines()[0])
    finally:
        watch.close()
        optimizer.zero_grad(set_to_none=True)
        del optimizer
        collect_memory(device)


def _model_for(
    cell: Cell,
    models: dict[tuple[str, str], Any],
    make_model: Callable[[str, str], Any],
    device: str,
) -> Any:
    kind = "packed" if cell.layout == "packed" else "padded"
    key = cell.precision, kind
    if key not in models:
        models[key] = make_model(cell.precision, kind).to(device)
    return models[key]


def _autocast(precision: str) -> Any:
    import torch

    names = {"autocast-bfloat16": torch.bfloat16, "autocast-float16": torch.float16}
    return names.get(precision)


def _interleaved(visits: list[tuple[int, Cell]], seed: int) -> Iterator[tuple[int, Cell]]:
    """Rounds one after another; the cells of each round in an order of its own."""
    for number, inside in itertools.groupby(visits, key=lambda visit: visit[0]):
        order = list(inside)
        random.Random(seed + number).shuffle(order)
        yield from order


def _known(path: str | Path) -> list[dict[str, Any]]:
    return list(records.read(path)) if Path(path).exists() else []


def _visit_key(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("rows", "layout", "checkpointing", "precision", "round"))


def _require_same_run(
    path: str | Path,
    done: Sequence[Mapping[str, Any]],
    identity: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> None:
    for record in done:
        for key in ("model_fingerprint", "data_fingerprint", *settings):
            wanted = {**identity, **settings}.get(key)
            if record.get(key) != wanted:
                raise ValueError(
                    f"{path}: the records to resume have {key} = {record.get(key)}, this sweep has "
                    f"{wanted}: choose another file (--output), or the settings of that sweep"
                )
