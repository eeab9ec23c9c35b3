"""What the prices are found from: of every measured step its size and its seconds.

    cells  ->  Steps: micro-batches, slots, pairs, seconds of forward and backward, block

Words
    side    seconds of a step that are neither forward nor backward: input, optimizer, host, ...
    doubt   of them, those that are known for the cell only: a step's own share is an average
    lone    a visit that no other visit of its setting repeats
    block   steps that may share their luck: a visit of a few steps, or neighbours in a long one
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batchlab.records import Cell

__all__ = ["PROBE", "Floats", "Steps", "blocks_of", "of", "side_seconds"]

Floats = NDArray[np.float64]

PROBE = "probe"  # the source of cells that `monitor` wrote of passes without an optimizer step
LONG_VISIT = 16  # steps; a longer visit is cut into blocks of neighbours


@dataclass(frozen=True)
class Steps:
    """One entry a step, over all cells; steps that took no time of their own are left out."""

    size: Floats  # (n, 3): micro-batches, slots, pairs
    seconds: Floats  # (n,) forward and backward
    doubt: Floats  # (n,)
    recomputed: NDArray[np.bool_]  # (n,)
    block: NDArray[np.int64]  # (n,) number of the block
    lone: NDArray[np.int64]  # (n,) number of the visit, -1 where it is not lone
    setting: NDArray[np.int64]  # (n,) number of the setting

    @property
    def sizes(self) -> int:
        """Micro-batches of how many sizes: more accumulation takes more of the same."""
        of_one = np.round(self.size[:, 1:] / self.size[:, :1], 6)
        return len(np.unique(of_one, axis=0))


def of(cells: Iterable[Cell]) -> Steps:
    """The steps of `cells`, which may be visits: those of one setting repeat each other."""
    cells = list(cells)
    visits: dict[object, int] = {}
    for cell in cells:
        visits[cell.setting] = visits.get(cell.setting, 0) + 1
    size, seconds, doubt, recomputed, block, lone, setting = [], [], [], [], [], [], []
    first = 0
    for visit, cell in enumerate(cells):
        numbers = blocks_of(cell.steps, alone=visits[cell.setting] == 1)
        # the sizes of a probe are measured in turns: they share their luck
        alone = visits[cell.setting] == 1 and cell.source != PROBE
        exact, average = side_seconds(cell)
        each = cell.step_seconds or [cell.seconds / cell.steps] * cell.steps
        micro = cell.micro_batches / cell.steps
        number = list(visits).index(cell.setting)
        for at, (slots, pairs) in enumerate(_sizes(cell)):
            size.append((micro, slots, pairs))
            seconds.append(each[at] - exact[at] - average)
            doubt.append(average)
            recomputed.append(cell.checkpointing)
            block.append(first + numbers[at])
            lone.append(visit if alone else -1)
            setting.append(number)
        first += max(numbers) + 1
    kept = np.maximum(seconds, doubt) > 0
    return Steps(
        np.array(size, dtype=float).reshape(-1, 3)[kept],
        np.array(seconds)[kept],
        np.array(doubt)[kept],
        np.array(recomputed, dtype=bool)[kept],
        np.array(block, dtype=int)[kept],
        np.array(lone, dtype=int)[kept],
        np.array(setting, dtype=int)[kept],
    )


def blocks_of(steps: int, *, alone: bool) -> list[int]:
    """The block of each step of one visit; a short visit that is not `alone` is one block.

    >>> blocks_of(3, alone=False), blocks_of(3, alone=True)
    ([0, 0, 0], [0, 1, 2])
    """
    if steps < LONG_VISIT:
        return list(range(steps)) if alone else [0] * steps
    length = math.isqrt(steps)
    return [step // length for step in range(steps)]


def side_seconds(cell: Cell) -> tuple[Sequence[float], float]:
    """What each step spent on sides that were timed step by step, and the mean of the others."""
    exact = [sum(each) for each in zip(*cell.step_parts.values(), strict=True)]
    others = sum(seconds for name, seconds in cell.parts.items() if name not in cell.step_parts)
    return exact or [0.0] * cell.steps, others / cell.steps


def _sizes(cell: Cell) -> Iterator[tuple[float, float]]:
    slots = cell.step_slots or [cell.slots / cell.steps] * cell.steps
    pairs = cell.step_slot_pairs or [cell.slot_pairs / cell.steps] * cell.steps
    return zip(slots, pairs, strict=True)
