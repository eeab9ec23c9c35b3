"""Measure real training steps over a grid of settings, on the same documents.

    grid, documents, model  ->  cell records, one JSON line each

Every cell trains on the same groups of documents, so every cell does the same useful work per step
and differs only in how it is cut and laid out. Visits are interleaved: each round goes through
all cells once, so that a machine which warms up or slows down does not favour one of them. A visit
is written as soon as it ends; a sweep that was killed goes on with the visits that are missing.

Words
    point   one setting of the grid: rows, layout, checkpointing, precision
    visit   one point in one round, a `records.Cell`; `doctor.prices.merge` adds those of a point
    layout  padded (documents in order), bucketed (sorted inside the step), packed (padding-free)
"""

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from batchlab import batches, counts, lengths, records
from batchlab.memory.limits import collect_memory, out_of_memory
from batchlab.model import set_checkpointing
from batchlab.records import LAYOUTS, Cell, Identity
from batchlab.stopwatch import Stopwatch

__all__ = ["LAYOUTS", "Point", "grid", "micro_batches_of", "run", "step_groups"]

PRECISIONS = ("float32", "bfloat16", "autocast-bfloat16", "autocast-float16")


@dataclass(frozen=True)
class Point:
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
) -> list[Point]:
    """Every combination of the settings."""
    return [Point(*one) for one in itertools.product(rows, layouts, checkpointing, precisions)]


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
    documents: Sequence[Any], group: Sequence[int], point: Point
) -> list[counts.MicroBatch]:
    """The micro-batches of one step in the layout of `point`."""
    numbers = list(group)
    if point.layout == "bucketed":
        numbers.sort(key=lambda number: lengths.of(documents[number]))
    cuts = [numbers[i : i + point.rows] for i in range(0, len(numbers), point.rows)]
    if point.layout == "packed":
        return [batches.flattened(documents, cut) for cut in cuts]
    return [batches.padded(documents, cut) for cut in cuts]


def run(
    documents: Sequence[Any],
    make_model: Callable[[str, str], Any],
    points: Sequence[Point],
    *,
    path: str | Path,
    identity: Identity,
    documents_per_step: int = 16,
    steps: int = 2,
    rounds: int = 3,
    seed: int = 0,
    device: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Cell]:
    """Visit every point in every round and return the cells of all visits, old and new.

    `make_model(precision, layout)` gives a fresh model; `identity` names model and data. A visit
    that runs out of memory is recorded as such, and the sweep goes on. `progress` hears, before
    each visit, how many are done, of how many, and what is next.
    """
    import torch

    for point in points:
        if documents_per_step % point.rows:
            raise ValueError(
                f"{documents_per_step} documents per step do not divide into rows of {point.rows}"
            )
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    groups = step_groups(len(documents), documents_per_step, steps + 1, seed=seed)
    done = records.begun(path).cells()
    same = {"documents_per_step": documents_per_step, "seed": seed, "device_type": place}
    _require_same_run(path, done, identity, same | {"steps": steps})
    finished = {_visit_key(cell) for cell in done}
    visits = [(number, point) for number in range(rounds) for point in points]
    models: dict[tuple[str, str], Any] = {}
    for at, (number, point) in enumerate(_interleaved(visits, seed), start=1):
        setting = {**dataclasses.asdict(point), "round": number}
        if tuple(setting.values()) in finished:
            continue
        if progress:
            progress(at - 1, len(visits), f"rows {point.rows}, {point.layout}")
        model = _model_for(point, models, make_model, place)
        setting |= {**same, "accumulation": documents_per_step // point.rows, "source": "sweep"}
        setting |= {"identity": identity, "environment": _environment(model), "warmup_steps": 1}
        cell = _visit(model, documents, groups, point, place, setting)
        records.append(path, cell)
        done.append(cell)
    return done


def _visit(
    model: Any,
    documents: Sequence[Any],
    groups: Sequence[Sequence[int]],
    point: Point,
    device: str,
    setting: dict[str, Any],
) -> Cell:
    """Warm up on one group, then time all but the first; nothing is left behind."""
    import torch

    model.train()
    set_checkpointing(model, point.checkpointing)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    scaler = torch.amp.GradScaler(device) if point.precision == "autocast-float16" else None
    watch = Stopwatch(model, optimizer, device)
    try:
        warm_up = _largest(documents, groups, point) if watch.cuda else groups[0]
        for number, group in enumerate([warm_up, *groups[1:]]):
            if number == 1:
                watch.start()
            with watch.input():
                micro_batches = micro_batches_of(documents, group, point)
            watch.step(micro_batches, autocast=_autocast(point.precision), scaler=scaler)
        return watch.cell(**setting)
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        return Cell(**setting, status="out_of_memory", error=str(error).splitlines()[0])
    finally:
        watch.close()
        optimizer.zero_grad(set_to_none=True)
        del optimizer
        collect_memory(device)


def _largest(
    documents: Sequence[Any], groups: Sequence[Sequence[int]], point: Point
) -> Sequence[int]:
    """The group with the largest micro-batch: after it the allocator of a GPU asks for no more."""

    def slots(group: Sequence[int]) -> int:
        return max(b["input_ids"].numel() for b in micro_batches_of(documents, group, point))

    return max(groups, key=slots)


def _model_for(
    point: Point,
    models: dict[tuple[str, str], Any],
    make_model: Callable[[str, str], Any],
    device: str,
) -> Any:
    """The model of a point, alone on the device: peaks would count any other as its own."""
    kind = "packed" if point.layout == "packed" else "padded"
    key = point.precision, kind
    for other in models.keys() - {key}:
        models[other].to("cpu")
    if key not in models:
        models[key] = make_model(point.precision, kind)
    return models[key].to(device)


def _environment(model: Any) -> dict[str, records.Json]:
    config = getattr(model, "config", None)
    return records.environment(attention=getattr(config, "_attn_implementation", None))


def _autocast(precision: str) -> Any:
    import torch

    names = {"autocast-bfloat16": torch.bfloat16, "autocast-float16": torch.float16}
    return names.get(precision)


def _interleaved(visits: list[tuple[int, Point]], seed: int) -> Iterator[tuple[int, Point]]:
    """Rounds one after another; the points of each round in an order of its own."""
    for number, inside in itertools.groupby(visits, key=lambda visit: visit[0]):
        order = list(inside)
        random.Random(seed + number).shuffle(order)
        yield from order


def _visit_key(cell: Cell) -> tuple[object, ...]:
    return cell.rows, cell.layout, cell.checkpointing, cell.precision, cell.round


def _require_same_run(
    path: str | Path, done: Sequence[Cell], identity: Identity, same: dict[str, Any]
) -> None:
    prints = ("model_fingerprint", "data_fingerprint")
    wanted = {name: getattr(identity, name) for name in prints} | same
    here = records.environment()["device"] if done else None
    for cell in done:
        found = vars(cell.identity) | vars(cell)
        if not cell.finished:
            found["steps"] = same["steps"]  # one that ran out of memory took none
        for name, value in (wanted | {"device": here}).items():
            known = cell.environment.get(name, here) if name == "device" else found[name]
            if known != value:
                raise ValueError(
                    f"{path}: the records to resume have {name} = {known}, this sweep has {value}: "
                    "choose another file (--output), or the settings of that sweep"
                )
