"""Try the checks of a lesson on many seeds: what a class would meet in as many terms.

    solution and bank of a lesson, 300 seeds  ->  right ones refused, wrong ones accepted: none

Every answer runs once, in a copy of the process; its check cells then run once for each seed, as
a grader with that seed would run them. A check that has not drawn when it decides is run once. A
heavy check gets as many seeds as its seconds allow, and the result says how many.

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

    @property
    def passed(self) -> list[int]:
        return [seed for seed in self.tried if seed not in self.refused]


def try_seeds(
    root: Path,
    lesson: str,
    *,
    seeds: int = SEEDS,
    seconds: float = SECONDS,
    bank: bool = True,
    every: int = 1,
) -> list[Outcome]:
    """One outcome for each answer: the solution, RIGHT, WRONG and HIDDEN of the bank.

    `seconds` is the CPU time that the seeds of one check cell may take, for one answer;
    `bank=False` tries the solution alone; `every=3` tries every third of the wrong answers.
    """
    work = partial(_outcomes, root, lesson, seeds, seconds, every if bank else 0)
    return trial.in_a_copy(work, limit=ALL_SECONDS)


def faults(outcomes: list[Outcome]) -> list[str]:
    """A line for each right answer that a seed refused, and for each wrong one that it accepted."""
    return [
        f"{one.answer}: {one.thought}: {'refused' if one.kind == 'right' else 'accepted'} on seed "
        f"{one.seed} of {one.seeds}: {' '.join((one.crash or one.message).split())}"
        for one in outcomes
        if one.seed is not None
    ]


def summary(lesson: str, outcomes: list[Outcome]) -> str:
    """One line: answers, seeds and seconds."""
    counts = sorted({one.seeds for one in outcomes})
    spent = sum(one.seconds for one in outcomes)
    tried = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{lesson}: {len(outcomes)} answers on {tried} seeds in {spent:.0f} s"


def _outcomes(
    root: Path, lesson: str, seeds: int, seconds: float, every: int
) -> list[dict[str, Any]]:
    """`every`: of the wrong answers of the bank; 0 leaves the bank out."""
    one, space = trial.opened(root, lesson), trial.namespace()
    found = []
    for cell in one.book:
        if cell.solution:
            solution = (Outcome("right", cell.name, "the solution"), cell.source)
            rest = one.after(cell.name)
            trial.warm(cell, rest, space)
            planned = list(one.planned(cell.name)) if every else []
            right = [answer for answer in planned if answer[0].kind == "right"]
            wrong = [answer for answer in planned if answer[0].kind != "right"]
            for tried, code in [solution, *right, *wrong[:: every or 1]]:
                work = partial(_over_seeds, tried, code, rest, space, range(seeds), seconds)
                died = replace(tried, seed=0)  # told only if it does
                found.append(trial.survived(died, work, limit=0))
        trial.judged(Outcome("solution", cell.name), [cell], space)
    return found


def _over_seeds(
    one: Outcome,
    code: str,
    rest: list[Cell],
    space: dict[str, Any],
    seeds: Sequence[int],
    seconds: float,
) -> dict[str, Any]:
    """Run an answer, then each of its check cells on every seed."""
    begun = time.perf_counter()
    crashed = trial.judged(one, [Cell(one.answer, code, True, 0)], space)
    if crashed.error:
        return asdict(replace(one, crash=f"{crashed.error}: {crashed.message}", seed=0))
    for cell in rest:
        if not cell.points:
            trial.judged(one, [cell], space)
            continue
        runs = _on_each(cell, space, seeds, seconds)
        one = replace(one, seeds=min(one.seeds or len(runs.tried), len(runs.tried)))
        if one.kind != "right":
            seeds = runs.passed  # a later check need not see what is refused already
        elif runs.refused and one.seed is None:
            seed = min(runs.refused)
            error, message = runs.refused[seed]
            one = replace(one, seed=seed, caught_by=cell.name, error=error, message=message)
        if not seeds:
            break
    if one.kind != "right" and seeds:
        one = replace(one, seed=seeds[0])
    return asdict(replace(one, seconds=time.perf_counter() - begun))


def _on_each(cell: Cell, space: dict[str, Any], seeds: Sequence[int], seconds: float) -> _Runs:
    """One check cell on some seeds; on the first alone where it does not draw."""
    tried: list[int] = []
    refused: dict[int, tuple[str, str]] = {}
    draws, begun = _counted_draws(), _worked()
    for seed in seeds:
        os.environ[SEED] = f"seed {seed}"
        before = len(draws)
        verdict = trial.judged(Outcome("right", cell.name), [cell], space)
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
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a check and an answer")
    parser.add_argument(
        "--every", type=int, default=1, help="of the wrong answers: 3 is each third"
    )
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    names = options.lessons or sorted(p.parent.name for p in root.glob("solutions/*/*.ipynb"))
    wrong = 0
    for name in names:
        limits = {"seeds": options.seeds, "seconds": options.seconds, "every": options.every}
        outcomes = try_seeds(root, name, **limits)
        print("\n".join([summary(name, outcomes), *faults(outcomes)]), flush=True)
        wrong += len(faults(outcomes))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
