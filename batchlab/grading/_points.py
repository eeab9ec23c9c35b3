"""The grade that counts: what the checks gave, or what a person gave instead.

    records, by_hand.csv  ->  Grade, ...

`by_hand.csv` beside course.toml is the teacher's own file; grading reads it and never writes it:

    lesson,student,question,points,reason
    02_padding,ada,check-waste,2,"appeal of 3 May: her formula is right, ours was unclear"
"""

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from batchlab import reading
from batchlab.grading import _record as record
from batchlab.grading._course import Course
from batchlab.grading._record import Record

__all__ = ["BY_HAND", "Grade", "by_hand", "grades", "lost", "number", "unplaced"]

BY_HAND = "by_hand.csv"
COLUMNS = ["lesson", "student", "question", "points", "reason"]
Given = dict[tuple[str, str, str], tuple[float, str]]


@dataclass(frozen=True)
class Grade:
    """The current record of one student and lesson, with the points that a person gave."""

    record: Record
    given: dict[str, tuple[float, str]]  # by question: points and the reason
    scale: float = 1.0  # what a point of the lesson counts in exports

    @property
    def score(self) -> float | None:
        """Points in the lesson's own scale; None where there is no score."""
        if not self.given:
            return self.record.score
        open_ones = [one for one in self.record.questions if one.question not in self.given]
        if any(one.verdict == "INFRA" for one in open_ones):
            return None
        return float(sum(one.points for one in open_ones) + sum(p for p, _ in self.given.values()))

    @property
    def exported(self) -> float | None:
        return None if self.score is None else self.score * self.scale

    @property
    def of(self) -> float:
        return self.record.of * self.scale


def number(points: float) -> str:
    """Points as a table shows them.

    >>> number(10.0), number(7.5), number(20 / 3)
    ('10', '7.5', '6.667')
    """
    return f"{points:.3f}".rstrip("0").rstrip(".")


def grades(course: Course) -> list[Grade]:
    """The grades that count, by lesson and student; read from the records, nothing is graded."""
    given = by_hand(course)
    found = []
    for one in record.all_current(course.graded, [lesson.name for lesson in course.lessons]):
        lesson = course.lesson(one.lesson)
        scale = course.points.get(one.lesson, lesson.of) / lesson.of if lesson.of else 1.0
        mine = {
            question: said
            for (name, student, question), said in given.items()
            if (name, student) == (one.lesson, one.student)
        }
        found.append(Grade(one, mine, scale))
    return found


def lost(course: Course) -> list[Path]:
    """Newest records that are empty or cut off; their students have no grade until graded again."""
    return record.lost(course.graded, [lesson.name for lesson in course.lessons])


def unplaced(course: Course, grades: list[Grade]) -> list[tuple[str, str]]:
    """Lesson and student to whom a person gave points, and who have no grade there to hold them."""
    there = {(one.record.lesson, one.record.student) for one in grades}
    return sorted({name[:2] for name in by_hand(course)} - there)


def by_hand(course: Course) -> Given:
    """Points that a person gave; `ValueError` with the line that names no question, no points or
    what a line above it names."""
    path = course.root / BY_HAND
    if not path.is_file():
        return {}
    rows = csv.reader(reading.text_of(path).splitlines(keepends=True))
    if next(rows, None) != COLUMNS:
        raise ValueError(f"{path}, line 1: the columns are {','.join(COLUMNS)}")
    found: Given = {}
    for row in rows:
        if any(row):
            name, points = _line(path, rows.line_num, row, course)
            if name in found:
                raise ValueError(
                    f"{path}, line {rows.line_num}: {name[2]} of {name[1]} has points above already"
                )
            found[name] = points
    return found


def _line(
    path: Path, line: int, row: list[str], course: Course
) -> tuple[tuple[str, str, str], tuple[float, str]]:
    where = f"{path}, line {line}"
    if len(row) != len(COLUMNS):
        raise ValueError(f"{where}: {len(row)} columns; there are {','.join(COLUMNS)}")
    lesson, student, question, text, reason = (one.strip() for one in row)
    of = dict(course.lesson(lesson).questions).get(question)
    if of is None:
        there = ", ".join(name for name, _ in course.lesson(lesson).questions)
        raise ValueError(f"{where}: no question {question!r} in {lesson}; there are {there}")
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not 0 <= points <= of:
        raise ValueError(f"{where}: points of {question} lie between 0 and {number(of)}")
    return (lesson, student, question), (points, reason)
