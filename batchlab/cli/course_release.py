"""Release lessons: a zip for each, once its solution, its blank and its checks have been tried.

Refused is a lesson whose solution fails, whose blank passes, whose ids collide, or whose check
refuses the solution on any seed. Without --write nothing is written.
"""

import argparse
from pathlib import Path
from typing import Any

from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.cli._progress import bar

SEEDS, SECONDS = 300, 300.0  # of one check: a heavy one gets as many seeds as that allows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the course, the seeds, and where the zips go."""
    options.offer(
        parser, "course", "lesson", "isolation", "seeds", "write", course=".", seeds=SEEDS
    )


def run(args: argparse.Namespace) -> Answer:
    """Try each lesson; write the zips only if every one is good."""
    from batchlab.authoring import parcels, seeds
    from batchlab.grading import desk

    course = desk.opened(Path(args.course))
    lessons = [course.lesson(args.lesson)] if args.lesson else list(course.lessons)
    faults: list[str] = []
    tried: list[str] = []
    with bar() as told:
        for done, lesson in enumerate(lessons):
            told(done, len(lessons), f"{lesson.name}: solution and blank")
            if not lesson.released.is_file():
                raise ValueError(f"{lesson.released}: not made yet: make lessons")
            level = args.isolation or course.isolation
            faults += desk.rehearsed(course, lesson, seed=None, isolation=level).faults
            told(done, len(lessons), f"{lesson.name}: {args.seeds} seeds")
            limits = {"seeds": args.seeds, "seconds": SECONDS}
            outcomes = seeds.try_seeds(course.root, lesson.name, **limits)
            faults += [f"{lesson.name}: {line}" for line in seeds.faults(outcomes)]
            tried.append(seeds.summary(lesson.name, outcomes))
    written: list[str] = []
    if args.write and not faults:
        args.write.mkdir(parents=True, exist_ok=True)
        library = parcels.wheel(course.root, args.write)
        names = {lesson.name for lesson in lessons}
        written = [str(path) for path in parcels.parcels(course.root, args.write, library, names)]
    return Answer(
        {"tried": tried, "faults": faults, "written": written},
        _text(tried, faults, written),
        code=int(bool(faults)),
    )


def _text(tried: list[str], faults: list[str], written: list[Any]) -> str:
    if faults:
        return "\n".join([*tried, "", *faults, "nothing is released"])
    end = [f"written: {path}" for path in written] or ["good; --write FOLDER makes the zips"]
    return "\n".join([*tried, "", *end])
