"""Try the checks of a lesson on many seeds: what a class would meet in as many terms.

    the solution of a lesson, 300 seeds  ->  on which a check refuses it: none

Each check cell runs once for each seed, as a grader with that seed would run it. A check that has
not drawn when it decides is run once. A heavy check gets as many seeds as its seconds allow, and
the result says how many.

    python -m batchlab.authoring.seeds 02_padding --seeds 300
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from batchlab.authoring import trial
from batchlab.authoring.trial import Cell, Outcome

__all__ = ["faults", "main", "summary", "try_seeds"]

SEEDS, SECONDS, LEAST = 300, 15.0, 3  # 300 seeds of a check that takes 50 ms are 15 seconds
ALL_SECONDS = 3 * 3600
SEED = "BATCHLAB_GRADING_SEED"


@dataclass(frozen=True)
class _Runs:
    """What one check cell did on some seeds: error and message of each refusal."""

    tried: list[int]
    refused: dict[int, tuple[str, str]]


def try_seeds(
    root: Path, lesson: str, *, seeds: int = SEEDS, seconds: float = SECONDS
) -> list[Outcome]:
    """One outcome for each check; `seconds` is the CPU time that the seeds of one may take."""
    work = partial(_outcomes, root, lesson, seeds, seconds)
    return trial.in_a_copy(work, limit=ALL_SECONDS)


def faults(outcomes: list[Outcome]) -> list[str]:
    """A line for each check that refused the solution on a seed."""
    return [
        f"{one.answer}: the solution is refused on seed {one.seed} of {one.seeds}: "
        f"{' '.join(one.message.split())}"
        for one in outcomes
        if one.seed is not None
    ]


def summary(lesson: str, outcomes: list[Outcome]) -> str:
    """One line: checks, seeds and seconds."""
    counts = sorted({one.seeds for one in outcomes})
    spent = sum(one.seconds for one in outcomes)
    tried = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{lesson}: {len(outcomes)} checks on {tried} seeds in {spent:.0f} s"


def _outcomes(root: Path, lesson: str, seeds: int, seconds: float) -> list[dict[str, Any]]:
    one, space = trial.opened(root, lesson), trial.namespace()
    found = []
    for cell in one.book:
        if cell.points:
            found.append(asdict(_over_seeds(cell, space, range(seeds), seconds)))
        else:
            done = trial.judged(Outcome("solution", cell.name), cell, space)
            if done.error:
                message = f"{done.error}: {done.message}"
                found.append(asdict(replace(done, seeds=1, seed=0, message=message)))
    return found


def _over_seeds(cell: Cell, space: dict[str, Any], seeds: Sequence[int], seconds: float) -> Outcome:
    begun, one = time.perf_counter(), Outcome("solution", cell.name)
    runs = _on_each(cell, space, seeds, seconds)
    if runs.refused:
        seed = min(runs.refused)
        error, message = runs.refused[seed]
        one = replace(one, seed=seed, caught_by=cell.name, error=error, message=message)
    return replace(one, seeds=len(runs.tried), seconds=time.perf_counter() - begun)


def _on_each(cell: Cell, space: dict[str, Any], seeds: Sequence[int], seconds: float) -> _Runs:
    """One check cell on some seeds; on the first alone where it does not draw."""
    tried: list[int] = []
    refused: dict[int, tuple[str, str]] = {}
    draws, begun = _counted_draws(), _worked()
    for seed in seeds:
        os.environ[SEED] = f"seed {seed}"
        before = len(draws)
        verdict = trial.judged(Outcome("solution", cell.name), cell, space)
        tried.append(seed)
        if verdict.error:
            refused[seed] = (verdict.error, verdict.message)
        if len(draws) == before:
            return _Runs(list(seeds), dict.fromkeys(seeds, refused[seed]) if refused else {})
        spent = _worked() - begun
        if len(tried) >= LEAST and spent * (len(tried) + 1) / len(tried) >= seconds:
            break
    return _Runs(tried, refused)


def _worked() -> float:
    """Seconds of CPU so far, those of ended children included: a busy machine counts no less."""
    return sum(os.times()[:4])


def _counted_draws() -> list[str]:
    """The ids that checks draw for from now on in this process."""
    from batchlab.classroom import check

    draws: list[str] = []
    draw = check.rng

    def rng(grade_id: str) -> Any:
        draws.append(grade_id)
        return draw(grade_id)

    check.rng = rng
    return draws


def main(arguments: list[str] | None = None) -> int:
    """Try some lessons, or all; print a line for each and one for each fault."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.seeds")
    parser.add_argument("lessons", nargs="*", help="such as 02_padding; none means all")
    parser.add_argument("--root", type=Path, default=Path(), help="folder that holds solutions/")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU, for a check")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    names = options.lessons or sorted(p.parent.name for p in root.glob("solutions/*/*.ipynb"))
    wrong = 0
    for name in names:
        outcomes = try_seeds(root, name, seeds=options.seeds, seconds=options.seconds)
        print("\n".join([summary(name, outcomes), *faults(outcomes)]), flush=True)
        wrong += len(faults(outcomes))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
