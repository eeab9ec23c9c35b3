"""Several ranks of one run: who waited for whom.

    cells of all ranks  ->  the same, with the waits that were for another rank;  Straggler

Each rank notes how long it waited inside forward and backward. What even the last one waited was no
wait for a rank: their communication, which nothing hides. The rest was for the last one.

Words
    together   the cells of all ranks for the same steps: as many, in the same order
    straggler  the rank that the others wait for
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from batchlab.records import Cell, Parts

__all__ = ["Straggler", "averaged", "straggler", "together"]

LEAST_SPREAD = 0.02  # of a step: ranks that wait as long as each other have no last one


@dataclass(frozen=True)
class Straggler:
    """The rank that the others wait for."""

    rank: int
    share: float  # of the steps in which it waited least
    seconds: float  # of a step that the others waited longer than it did, on average


def together(visits: Iterable[Cell]) -> list[Cell]:
    """The cells, where those of several ranks stand side by side with waits for a rank only.

    Cells of one rank, and steps that not all ranks recorded, stay as they are.
    """
    visits = list(visits)
    found = {id(cell): cell for cell in visits}
    for group in _timed(_aligned(visits)):
        waits = [cell.step_parts["waiting"] for cell in group]
        common = tuple(min(each) for each in zip(*waits, strict=True))
        for cell in group:
            found[id(cell)] = _without(cell, common)
    return [found[id(cell)] for cell in visits]


def averaged(visits: Sequence[Cell]) -> list[Cell]:
    """The visits of a mean rank: each of its steps took what it took the ranks on average."""
    groups = _aligned(visits)
    inside = {id(cell) for group in groups for cell in group}
    return [_mean(group) for group in groups] + [one for one in visits if id(one) not in inside]


def straggler(visits: Iterable[Cell]) -> Straggler | None:
    """The rank that waits least, where the ranks differ; None where nobody can tell."""
    groups = _timed(_aligned(list(visits)))
    ranks = sorted({cell.ranks for group in groups for cell in group})
    waits = {rank: [one for group in groups for cell in group if cell.ranks == rank
                    for one in cell.step_parts["waiting"]] for rank in ranks}  # fmt: skip
    steps = [dict(zip(waits, each, strict=True)) for each in zip(*waits.values(), strict=True)]
    if not steps:
        return None
    mean = {rank: sum(waited) / len(waited) for rank, waited in waits.items()}
    last = min(mean, key=lambda rank: mean[rank])
    others = [mean[rank] - mean[last] for rank in ranks if rank != last]
    longer = sum(others) / len(others)
    total = sum(cell.seconds for group in groups for cell in group) / len(steps) / len(ranks)
    if longer < LEAST_SPREAD * total:
        return None
    first = sum(min(step, key=lambda rank: step[rank]) == last for step in steps)
    return Straggler(last[0], first / len(steps), longer)


def _aligned(visits: Sequence[Cell]) -> list[list[Cell]]:
    """Cells of the same steps, one of each rank; only where all ranks recorded them."""
    of_rank: dict[tuple[int, ...], list[Cell]] = {}
    for cell in visits:
        if cell.world_size > 1 and len(cell.ranks) == 1 and cell.step_seconds is not None:
            of_rank.setdefault(cell.ranks, []).append(cell)
    if len(of_rank) < 2:
        return []
    groups = [list(group) for group in zip(*of_rank.values(), strict=False)]
    return [group for group in groups if len({cell.steps for cell in group}) == 1]


def _timed(groups: list[list[Cell]]) -> list[list[Cell]]:
    """The groups whose ranks all timed how long they waited."""
    return [group for group in groups if all("waiting" in cell.step_parts for cell in group)]


def _mean(group: Sequence[Cell]) -> Cell:
    first = group[0]
    names = [name for name in first.step_parts if all(name in one.step_parts for one in group)]
    named = {name: _each(one.step_parts[name] for one in group) for name in names}
    sums = {f"{name}_seconds": sum(spent) for name, spent in named.items()}
    steps = _each(one.step_seconds or () for one in group)
    parts = Parts(**{**vars(first.parts), **sums})
    return replace(first, step_parts=named, parts=parts, step_seconds=steps, seconds=sum(steps))


def _each(lists: Iterable[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(step) / len(step) for step in zip(*lists, strict=True))


def _without(cell: Cell, common: Sequence[float]) -> Cell:
    """The cell, where the common part of its waits is communication."""
    waits, named = cell.step_parts["waiting"], dict(cell.step_parts)
    before = named.get("communication") or (0.0,) * cell.steps
    named["waiting"] = tuple(max(0.0, w - c) for w, c in zip(waits, common, strict=True))
    named["communication"] = tuple(b + c for b, c in zip(before, common, strict=True))
    sums = {f"{name}_seconds": sum(named[name]) for name in ("waiting", "communication")}
    parts = Parts(**{**vars(cell.parts), **sums})
    return replace(cell, step_parts=named, parts=parts)
