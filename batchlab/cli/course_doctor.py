"""Say whether a class can be graded here: isolation, seed, and every lesson's own solution.

Each lesson's solution and its blank are graded at the level in force, because a sandbox can change
numbers: the solution must get every point, the blank none.
"""

import argparse
from pathlib import Path
from typing import Any

from batchlab import report
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.cli._progress import bar


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the course and the isolation that is wanted."""
    options.offer(parser, "course", "lesson", "isolation", "public_seed", course=".")


def run(args: argparse.Namespace) -> Answer:
    """Grade every solution and every blank; 1 where one of them is not as it must be."""
    from batchlab.grading import desk

    course = desk.opened(Path(args.course))
    lessons = [course.lesson(args.lesson)] if args.lesson else list(course.lessons)
    try:
        seed, said = desk.seed(course, public=args.public_seed), ""
    except ValueError as error:
        seed, said = None, str(error)
    found = []
    with bar() as told:
        for done, lesson in enumerate(lessons):
            told(done, len(lessons), lesson.name)
            found.append(
                desk.rehearsed(course, lesson, seed=seed, isolation=options.ISOLATIONS[-1])
            )
    wanted = args.isolation or course.isolation
    if options.ISOLATIONS.index(found[0].level) > options.ISOLATIONS.index(wanted):
        said = f"{said}\n" if said else ""
        said += f"isolation {wanted} is wanted and {found[0].level} stands here"
    faults = [line for one in found for line in one.faults] + ([said] if said else [])
    return Answer(
        {
            "isolation": found[0].level,
            "wanted": wanted,
            "lacking": list(found[0].lacking),
            "seed": desk.fingerprint(seed),
            "lessons": {one.lesson: one.solution.score for one in found},
            "faults": faults,
        },
        _text(desk, found, faults, wanted, desk.fingerprint(seed)),
        code=int(bool(faults)),
    )


def _text(desk: Any, found: list[Any], faults: list[str], wanted: str, seed: str) -> str:
    rows = [
        [one.lesson, desk.number(one.solution.score or 0.0), desk.number(one.solution.of),
         desk.number(one.blank.score or 0.0), f"{_seconds(one.solution):.1f} s"]
        for one in found
    ]  # fmt: skip
    versions = found[0].solution.environment
    return "\n".join(
        [
            f"isolation  {found[0].level} stands here, {wanted} is wanted",
            *(f"           {line}" for line in found[0].lacking),
            f"seed       {seed}",
            f"versions   {', '.join(f'{name} {v}' for name, v in versions.items() if v)}",
            "",
            report.table(["lesson", "its solution", "of", "the blank", "CPU"], rows),
            "",
            *(faults or ["A class can be graded here."]),
        ]
    )


def _seconds(one: Any) -> float:
    return float(sum(question.seconds for question in one.questions))
