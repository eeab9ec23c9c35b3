"""Hand the grades on: to Canvas, Moodle, a table, nbgrader's gradebook, Gradescope, or students.

Without --write only the difference is said. Canvas and Moodle take back the table that they gave:
--template names it (the exported gradebook, the grading worksheet). What an LMS marks as excused
stays, and so do points that a person gave in formgrader or in by_hand.csv. `feedback` is a zip of
what students read, under the names that Canvas and Moodle take back.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from batchlab import report
from batchlab.cli import options
from batchlab.cli._answer import Answer

NEEDS_TEMPLATE = ("canvas", "moodle")
SHOWN = 40  # lines of a difference


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer who takes the grades, and the table that it gave."""
    options.offer(parser, "to", "course", "lesson", "template", "write", to="csv", course=".")


def run(args: argparse.Namespace) -> Answer:
    """Say what would change, and write it where --write names a place."""
    from batchlab.grading import desk

    course = desk.opened(Path(args.course))
    if args.lesson:
        course.lesson(args.lesson)
    if (args.to in NEEDS_TEMPLATE) != bool(args.template):
        need = "needs" if args.to in NEEDS_TEMPLATE else "takes no"
        raise ValueError(f"--to {args.to} {need} --template, the table that the LMS gave")
    if args.to == "gradescope":
        return _gradescope(desk, course, args)
    every = desk.grades(course)
    grades = [one for one in every if args.lesson in (None, one.record.lesson)]
    lost = [one for one in desk.lost(course) if args.lesson in (None, one.parent.parent.name)]
    if not grades:
        raise ValueError(f"{course.graded}: no grades yet: batchlab course grade PATH")
    answer = _exported(desk, course, grades, args)
    told = [f"no grade, {path} is empty or cut off: batchlab course grade PATH" for path in lost]
    unplaced = desk.unplaced(course, every)
    told += [f"no grade of {who} in {lesson} for points of by_hand.csv" for lesson, who in unplaced]
    data = {**answer.data, "unplaced_by_hand": unplaced, "lost": [str(path) for path in lost]}
    return replace(answer, data=data, text="\n".join([answer.text, *told]))


def _exported(desk: Any, course: Any, grades: list[Any], args: argparse.Namespace) -> Answer:
    if args.to == "feedback":
        return _feedback(desk, grades, args)
    if args.to == "nbgrader":
        table = desk.gradebook(course, grades, args.write)
    else:
        table = _table(desk, course, grades, args)
        if args.write:
            desk.whole(args.write, table.text.encode("utf-8"))
    return Answer(_as_data(table, args), _text(desk, table, grades, args))


def _table(desk: Any, course: Any, grades: list[Any], args: argparse.Namespace) -> Any:
    if args.to == "canvas":
        return desk.canvas(course, grades, args.template)
    if args.to == "moodle":
        return desk.moodle(course, grades, args.template)
    return desk.plain(course, grades)


def _gradescope(desk: Any, course: Any, args: argparse.Namespace) -> Answer:
    if not args.lesson:
        raise ValueError("--to gradescope needs --lesson: an autograder is of one assignment")
    from batchlab.authoring import parcels

    files = desk.autograder(course, args.lesson)
    if args.write:
        desk.packed(args.write, files, parcels.wheel(course.root, args.write.resolve().parent))
    text = "\n".join([f"autograder of {args.lesson}:", *(f"  {name}" for name in files)])
    return Answer({"files": list(files), "written": str(args.write or "")}, f"{text}\n{_end(args)}")


def _feedback(desk: Any, grades: list[Any], args: argparse.Namespace) -> Answer:
    if not args.lesson:
        raise ValueError("--to feedback needs --lesson: a zip is of one assignment")
    files = desk.handed_back(grades)
    if args.write:
        desk.whole(args.write, desk.zipped(files))
    lines = [f"  {desk.shown(name, 90)}" for name in list(files)[:SHOWN]]
    lines += [f"and {len(files) - SHOWN} more"] if len(files) > SHOWN else []
    text = "\n".join([f"feedback for {len(files)} of {len(grades)}:", *lines, _end(args)])
    return Answer({"files": list(files), "written": str(args.write or "")}, text)


def _as_data(table: Any, args: argparse.Namespace) -> dict[str, Any]:
    return {
        "to": args.to,
        "changes": [vars(change) for change in table.changes],
        "unplaced": list(table.unplaced),
        "written": str(args.write or ""),
    }


def _text(desk: Any, table: Any, grades: list[Any], args: argparse.Namespace) -> str:
    called = {one.record.student: one.record.name for one in grades}
    rows = [
        [
            one.lesson,
            desk.shown(f"{one.student} {called.get(one.student, '')}".strip(), 32),
            one.before or "none",
            one.after,
        ]
        for one in table.changes[:SHOWN]
    ]
    lines = [report.table(["lesson", "student", "before", "after"], rows)] if rows else []
    more = len(table.changes) - len(rows)
    lines += [f"and {more} more"] if more else []
    without = sorted({one.record.student for one in grades if one.exported is None})
    lines += [f"{len(table.changes)} of {len(grades)} grades change"]
    if without:
        lines.append(f"no score, left as it is: {desk.shown(', '.join(without), 200)}")
    if table.unplaced:
        lines.append(f"graded, but no row there: {desk.shown(', '.join(table.unplaced), 200)}")
    return "\n".join([*lines, _end(args)])


def _end(args: argparse.Namespace) -> str:
    return f"written: {args.write}" if args.write else "nothing is written: --write PATH does it"
