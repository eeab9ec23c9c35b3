"""A lesson graded before a class is: its own solution, and the blank that students get.

lesson, isolation  ->  what the solution gets (all), what the blank gets (nothing)

A sandbox can change numbers, so this runs where and how the class will be graded.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from batchlab import reading
from batchlab.grading import _record as record
from batchlab.grading._class import grade
from batchlab.grading._course import Course, Lesson
from batchlab.grading._inbox import Submission
from batchlab.grading._record import Record

__all__ = ["Rehearsal", "reference", "rehearsed"]

SOLUTION, BLANK = "the solution", "the blank"


@dataclass(frozen=True)
class Rehearsal:
    """What became of the solution and of the blank."""

    lesson: str
    level: str
    lacking: tuple[str, ...]  # why no better level stands
    solution: Record
    blank: Record

    @property
    def faults(self) -> tuple[str, ...]:
        """A line for each thing that would be wrong with a class's grades; none for a good one."""
        one, found = self.solution, []
        for asked in one.questions:
            if asked.verdict != "PASS" or asked.points != asked.of:
                said = " ".join(asked.message.split())
                found.append(f"{self.lesson}: {asked.question} refuses the solution at "
                             f"{self.level}: {asked.verdict} {said}".rstrip())  # fmt: skip
        for asked in self.blank.questions:
            if asked.points or asked.verdict == "INFRA":
                found.append(f"{self.lesson}: {asked.question} gives the blank "
                             f"{asked.points:g} points ({asked.verdict})")  # fmt: skip
        return tuple(found)


def reference(lesson: Lesson) -> bytes:
    """The released notebook with the teacher's answers in it: a perfect, honest submission."""
    _, teacher = reading.json_of(lesson.teacher)
    _, released = reading.json_of(lesson.released)
    answers = {
        _own(cell).get("grade_id"): cell["source"]
        for cell in teacher["cells"]
        if _own(cell).get("solution")
    }
    for cell in released["cells"]:
        if (name := _own(cell).get("grade_id")) in answers:
            cell["source"] = answers[name]
    return json.dumps(released).encode()


def _own(cell: dict[str, dict[str, dict[str, str]]]) -> dict[str, str]:
    return cell["metadata"].get("nbgrader", {})


def rehearsed(
    course: Course,
    lesson: Lesson,
    *,
    seed: str | None,
    isolation: str = "",
    engine: str = "",
    limits: Mapping[str, float] | None = None,
) -> Rehearsal:
    """Grade solution and blank of one lesson in a temporary folder; nothing of it stays."""
    handed_in = [
        Submission(who, "", lesson.name, lesson.topic, "", read)
        for who, read in (
            (SOLUTION, lambda: reference(lesson)),
            (BLANK, lesson.released.read_bytes),
        )
    ]
    with tempfile.TemporaryDirectory() as folder:
        there = replace(course, graded=Path(folder), roster=frozenset())
        run = grade(there, handed_in, seed=seed, isolation=isolation, engine=engine, limits=limits)
        found = {one.student: one for one in record.all_current(there.graded, [lesson.name])}
    solution = found[SOLUTION]
    return Rehearsal(lesson.name, solution.level, run.lacking, solution, found[BLANK])
