"""Sweeps of lesson 11 without noise: only the waits differ from round to round.

    a seed  ->  Exact sweeps, in each of which one rule of the doctor decides

Any good prices are the same here, so gain and interval are those of the lesson's formulas.

Words
    wait   input and host seconds of one step, one of each a round
    scale  how many times longer a visit lasts than another: more steps, or more in each step
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from batchlab.classroom.probes.lesson_11_doctors import diagnosis

__all__ = ["Exact", "exact_panel"]

TOKENS, DOCUMENTS = 32_768, 64  # of one step, before it is scaled


@dataclass(frozen=True)
class Exact:
    """A sweep without noise: its visits, and what they decide."""

    decides: str
    cause: str
    visits: tuple[dict[str, Any], ...]

    @property
    def grid(self) -> tuple[int, ...]:
        """Its numbers of rows."""
        return tuple(sorted({one["rows"] for one in self.visits}))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The numbers of its rounds."""
        return tuple(sorted({one["round"] for one in self.visits}))

    @property
    def checkpointing(self) -> bool:
        """Whether its steps recompute."""
        return bool(self.visits[0]["checkpointing"])

    @property
    def gain(self) -> float:
        """The mean gain over its rounds, by the lesson's formulas."""
        return float(self.diagnosis()["gain"])

    def sweep(self) -> list[dict[str, Any]]:
        """The visits, new dictionaries at every call."""
        return [dict(one) for one in self.visits]

    def diagnosis(self) -> dict[str, Any]:
        """Cause, gain and interval by the lesson's formulas."""
        return diagnosis(self.visits)


def _sweep(
    rng: np.random.Generator,
    decides: str,
    cause: str,
    *,
    grid: Sequence[int],
    input: Sequence[float],
    host: Sequence[float] = (0.01,) * 6,
    fixed: float = 4e-3,
    waste: float = 0.0,
    checkpointing: bool = False,
    slower: Sequence[float] = (1.0,) * 6,
    retries: Sequence[int] = (0,) * 6,
    retrying: int = -1,
    scale: int = 1,
    unit: float = 1.0,
) -> Exact:
    """A sweep: waits, slowness and retries by round; `grid[retrying]` is the one that retried.

    Every visit is `scale` times as long, and every second is multiplied by `unit`.
    """
    first, visits = int(rng.integers(2, 9)), []
    stretch = float(rng.uniform(0.98, 1.02))
    for number in range(len(input)):
        for rows in grid:
            own = rows == grid[-1]
            slots = int(TOKENS * (1 + waste * np.log2(rows)))
            work = (fixed * DOCUMENTS / rows + 2e-5 * slots) * (4 / 3 if checkpointing else 1)
            work *= slower[number] if own else 1
            sides = [stretch * input[number], stretch * host[number], 0.02]
            steps, more = (int(n) for n in rng.integers(2, 7, 2))
            more, times = scale * more, unit * steps * scale * more
            visits.append({
                "model": "planted", "data": f"corpus {first}", "device": "planted",
                "round": first + number, "rows": rows, "checkpointing": checkpointing,
                "steps": steps, "micro_batches": steps * more * (DOCUMENTS // rows),
                "documents": steps * more * DOCUMENTS, "real_tokens": steps * more * TOKENS,
                "slots": steps * more * slots, "seconds": times * (work + sum(sides)),
                "input_seconds": times * sides[0], "host_seconds": times * sides[1],
                "optimizer_seconds": times * sides[2],
                "retries": retries[number] if rows == grid[retrying] else 0, "busy": 0.97,
            })  # fmt: skip
    return Exact(decides, cause, tuple(visits[n] for n in rng.permutation(len(visits))))


def _but(run: Exact, decides: str, cause: str, *, longer: float = 0.0, retries: int = 0) -> Exact:
    """The same sweep, but the subject's visit in the second round waited `longer` a step."""
    changed, (_, number, *_) = [], run.rounds
    for one in run.sweep():
        if (one["round"], one["rows"]) == (number, run.grid[-1]):
            more = longer * one["micro_batches"] * one["rows"] / DOCUMENTS
            one["seconds"] += more
            one["input_seconds"] += more
            one["retries"] = retries
        changed.append(one)
    return replace(run, decides=decides, cause=cause, visits=tuple(changed))


def exact_panel(seed: int) -> list[Exact]:
    """The sweeps; a seed turns their numbers a little, never what they decide."""
    rng = np.random.default_rng([seed, 11])
    runs = [
        _sweep(rng, "one round of the subject retried, so it is memory", "memory",
               grid=(1, 2, 4, 16), fixed=5e-4, input=(0.30, 0.02, 0.02), waste=0.06,
               slower=(1.3, 1.45, 1.25), retries=(0, 7, 0)),
        _sweep(rng, "only smaller rows retried: that is not the subject's memory", "input",
               grid=(1, 2, 4, 8, 16), input=(0.20, 0.45, 0.50, 0.40), retries=(5, 4, 6, 3),
               retrying=1),
        _sweep(rng, "one round is far from the others: the mean gain decides", "host",
               grid=(2, 4, 16), input=(0.50, 0.05, 0.05, 0.05), host=(0.30,) * 4),
        _sweep(rng, "one round gains little: the mean is compared with 0.05", "input",
               grid=(4, 8, 16), input=(0.30, 0.02, 0.22, 0.20, 0.18, 0.21)),
        _sweep(rng, "one round gains more than 0.05, the mean does not", "saturation",
               grid=(2, 8, 16), input=(0.012, 0.012, 0.072)),
        _sweep(rng, "launches are a third of forward and backward", "launch",
               grid=(1, 4, 8), input=(0.25, 0.01, 0.02), fixed=0.05),
        _sweep(rng, "recomputation beside waits that change", "recomputation",
               grid=(2, 4, 8), input=(0.25, 0.02, 0.03, 0.01, 0.02), checkpointing=True),
        _sweep(rng, "padding at rows that do not double", "padding",
               grid=(1, 2, 16), input=(0.35, 0.01, 0.02), waste=0.15),
        _sweep(rng, "a single retry, and fewer rows are slower: memory, its gain below 0", "memory",
               grid=(2, 4, 8), input=(0.05, 0.6, 0.1), fixed=0.03, checkpointing=True,
               retries=(0, 0, 1)),
        _sweep(rng, "checkpointing is on, and stalls are longer than what it repeats", "host",
               grid=(1, 2, 4, 8, 16, 32, 64), input=(0.02,) * 4, host=(0.9, 0.5, 0.7, 0.8),
               checkpointing=True, scale=10**6),
        _sweep(rng, "another wait is longer in most rounds, the mean decides", "input",
               grid=(2, 4, 16), input=(0.02, 0.05, 0.2), host=(0.07,) * 3, unit=1e-6),
    ]  # fmt: skip
    return [
        *runs,
        _but(runs[-1], "the sweep before, but one wait is longer", "input", longer=1.5e-7),
        _but(runs[7], "sweep 8 again, but one visit retried, so it is memory", "memory", retries=1),
    ]
