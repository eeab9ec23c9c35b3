"""Grade a class: a folder, nbgrader's submitted/, or the zip that Canvas or Moodle gives.

What has a grade already is left alone, so a run that was stopped goes on where it was. At the end
stands a table, and who needs a look and why; feedback lies under graded/feedback. Settings stand in
course.toml (lessons, points, seed_file, isolation); without one, defaults and --public-seed.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from batchlab import report
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.cli._progress import bar

MOST_WORKERS = 8


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer what was handed in, the course, and how much runs side by side."""
    parser.add_argument(
        "submissions", type=Path, metavar="PATH", help="a folder, a zip or a notebook"
    )
    options.offer(
        parser,
        "course",
        "lesson",
        "student",
        "workers",
        "again",
        "isolation",
        "public_seed",
        course=".",
    )


def run(args: argparse.Namespace) -> Answer:
    """Grade, write feedback, and say who needs a look."""
    from batchlab.grading import desk

    course = desk.opened(Path(args.course))
    seed = desk.seed(course, public=args.public_seed)
    found = desk.received(args.submissions, course, args.lesson or "")
    if not found:
        raise ValueError(f"{args.submissions}: nothing was handed in there")
    if args.student:
        found = _of(args.student, found, args.submissions)
    lost = desk.lost(course)
    workers = args.workers or min(os.cpu_count() or 1, MOST_WORKERS)
    try:
        with bar() as told:
            done = desk.grade(
                course, found, seed=seed, workers=workers, again=args.again,
                isolation=args.isolation or "", report=told,
            )  # fmt: skip
    except KeyboardInterrupt:
        print("batchlab: stopped; the same command goes on where it was", file=sys.stderr)
        raise
    every = desk.grades(course)
    grades = [one for one in every if (one.record.lesson, one.record.student) in done.touched]
    for one in grades:
        desk.feedback(course.graded, one)
    looks = _lost(lost, desk.lost(course)) + _looks(desk, course, grades, done)
    looks += [
        (who, lesson, "by_hand.csv gives points, and there is no grade to hold them")
        for lesson, who in desk.unplaced(course, every)
    ]
    return Answer(
        {
            "graded": done.graded,
            "kept": done.kept,
            "seconds": done.seconds,
            "levels": done.levels,
            "seed": desk.fingerprint(seed),
            "grades": [_as_data(one) for one in grades],
            "look": [{"student": who, "lesson": lesson, "why": why} for who, lesson, why in looks],
        },
        _text(desk, course, grades, looks, done, seed),
    )


def _of(student: str, found: list[Any], path: Path) -> list[Any]:
    """What one student handed in; `ValueError` where that is nothing."""
    mine = [one for one in found if one.student == student]
    if not mine:
        raise ValueError(f"{path}: nothing of {student!r}; ids there are like {found[0].student!r}")
    return mine


def _looks(desk: Any, course: Any, grades: list[Any], done: Any) -> list[tuple[str, str, str]]:
    """Who needs a look and why: student, lesson, reason."""
    found = [
        (one.record.student, one.record.lesson, why)
        for one in grades
        for why in one.record.needs_a_look
    ]
    found += [(one.student, "?", f"{one.file}: {one.fault}".lstrip(": ")) for one in done.strays]
    found += [(", ".join(who), lesson, why) for who, lesson, why in desk.twins(course, grades)]
    for group in desk.alike({one.record.student for one in grades}):
        found.append((", ".join(group), "", "these ids look the same: one student, or several?"))
    return found


def _lost(before: list[Path], now: list[Path]) -> list[tuple[str, str, str]]:
    """What became of records that were empty or cut off: student, lesson, what is to be done."""
    return [
        (
            path.parent.name,
            path.parent.parent.name,
            f"{path.name} is empty or cut off: "
            + ("no grade until its notebook is graded again" if path in now else "graded again"),
        )
        for path in before
    ]


def _as_data(grade: Any) -> dict[str, Any]:
    one = grade.record
    return {
        "student": one.student,
        "name": one.name,
        "lesson": one.lesson,
        "score": grade.score,
        "of": one.of,
        "verdicts": {question.question: question.verdict for question in one.questions},
        "level": one.level,
    }


def _text(
    desk: Any, course: Any, grades: list[Any], looks: list[Any], done: Any, seed: str | None
) -> str:
    shown, number = desk.shown, desk.number
    rows = []
    for grade in grades:
        one = grade.record
        lost = [
            f"{q.question} {q.verdict}{', by hand' if q.question in grade.given else ''}"
            for q in one.questions
            if q.verdict != "PASS"
        ]
        score = "none" if grade.score is None else number(grade.score)
        why = one.questions[0].verdict if len({q.verdict for q in one.questions}) == 1 else ""
        said = f"all {why}" if why and lost and not grade.given else shown("; ".join(lost), 70)
        who = shown(f"{one.student} {one.name}".strip(), 32)
        rows.append([one.lesson, who, score, number(one.of), said])
    lines = (
        [report.table(["lesson", "student", "points", "of", "not passed"], rows)] if rows else []
    )
    levels = ", ".join(sorted(set(done.levels.values()))) or "none"
    lines += [
        "",
        f"{done.graded} graded, {done.kept} had a grade already; {done.seconds:.0f} s, "
        f"isolation {levels}, seed {desk.fingerprint(seed)}",
        f"records and feedback: {course.graded}",
    ]
    if looks:
        table = [[shown(who, 32), lesson, shown(why, 90)] for who, lesson, why in looks]
        lines += ["", "needs a look", report.table(["student", "lesson", "why"], table)]
    else:
        lines += ["", "Nobody needs a look."]
    return "\n".join(lines)
