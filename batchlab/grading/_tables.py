"""Grades in the table that an LMS takes back, with the difference said before anything is written.

    grades, the LMS's own table  ->  Table: the new text, and every cell that changes

A cell is written only where there is a score; `EX` (excused) stays, rows and columns of others stay
as the LMS wrote them. Numbers that the LMS counts differently are refused, not scaled in silence.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from batchlab import reading
from batchlab.grading import _names as names
from batchlab.grading._course import Course
from batchlab.grading._points import Grade, number

__all__ = ["Change", "Table", "canvas", "moodle", "plain"]

CANVAS_KEYS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
EXCUSED = "EX"
Rows = list[list[str]]


@dataclass(frozen=True)
class Change:
    """One cell that would change."""

    lesson: str
    student: str
    before: str
    after: str


@dataclass(frozen=True)
class Table:
    """A table ready to be written, and what is new in it."""

    text: str
    changes: tuple[Change, ...]
    unplaced: tuple[str, ...]  # graded, but with no row in the table of the LMS


def plain(course: Course, grades: Iterable[Grade]) -> Table:
    """A table of our own: a line for each student, a column for each lesson and the total."""
    lessons = [one.name for one in course.lessons]
    by_student: dict[str, dict[str, Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.record.student, {})[grade.record.lesson] = grade
    rows = [["student", "name", *lessons, "total"]]
    changes = []
    for student, mine in sorted(by_student.items()):
        scores = {name: mine[name].exported if name in mine else None for name in lessons}
        called = next((one.record.name for one in mine.values() if one.record.name), "")
        total = sum(score for score in scores.values() if score is not None)
        cells = ["" if score is None else number(score) for score in scores.values()]
        rows.append([names.cell(student), names.cell(called), *cells, number(total)])
        changes += [Change(n, student, "", number(s)) for n, s in scores.items() if s is not None]
    return Table(_text(rows), tuple(changes), ())


def canvas(course: Course, grades: Iterable[Grade], template: Path) -> Table:
    """The gradebook that Canvas exported, with our columns filled; other columns are left out.

    Rows are found by Canvas's own number, which stands in the names of its zip, else by login.
    """
    rows = _rows(template)
    head = rows[0] if rows else []
    missing = [name for name in ("Student", "ID") if name not in head]
    if missing:
        raise ValueError(f"{template}: no column {missing[0]}: export the gradebook from Canvas")
    grades = list(grades)
    lessons = sorted({grade.record.lesson for grade in grades})
    places = {name: _column(course, name, head, template) for name in lessons}
    first = 1
    for row in rows[1:3]:  # one line may say how grades are posted, the next how many points
        if row and (row[0].strip() == "Points Possible" or not row[0].strip()):
            first += 1
            for name, place in places.items():
                _require_points(course, name, row[place].strip(), template)
    keys = [head.index(name) for name in ("ID", "SIS Login ID", "SIS User ID") if name in head]
    changes, unplaced = _filled(rows[first:], keys, places, grades)
    kept = [head.index(name) for name in CANVAS_KEYS if name in head] + list(places.values())
    shown = {head.index(name) for name in ("Student", "Section") if name in head}
    out = [
        [names.cell(row[n]) if n in shown and line >= first else row[n] for n in kept]
        for line, row in enumerate(rows)
    ]
    return Table(_text(out), changes, unplaced)


def moodle(course: Course, grades: Iterable[Grade], template: Path) -> Table:
    """The grading worksheet that Moodle gave, with the column Grade filled; all else as it was."""
    rows = _rows(template)
    head = rows[0] if rows else []
    missing = [name for name in ("Identifier", "Grade") if name not in head]
    if missing:
        raise ValueError(f"{template}: no column {missing[0]}: download the grading worksheet")
    grades = list(grades)
    lessons = {grade.record.lesson for grade in grades}
    if len(lessons) > 1:
        raise ValueError(f"{template}: a worksheet is of one assignment: say which with --lesson")
    if lessons and "Maximum Grade" in head:
        most = {row[head.index("Maximum Grade")].strip() for row in rows[1:]}
        for one in most:
            _require_points(course, next(iter(lessons)), one, template)
    places = dict.fromkeys(lessons, head.index("Grade"))
    keys = [head.index("Identifier")]
    changes, unplaced = _filled(rows[1:], keys, places, grades, lambda key: key.split(" ")[-1])
    called = head.index("Full name") if "Full name" in head else -1
    out = [head] + [
        [names.cell(cell) if n == called else cell for n, cell in enumerate(row)]
        for row in rows[1:]
    ]
    return Table(_text(out), changes, unplaced)


def _filled(
    rows: Rows,
    keys: list[int],
    places: dict[str, int],
    grades: list[Grade],
    spelled: Callable[[str], str] = lambda key: key,
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Write scores into rows; what changed, and who has no row."""
    by_key: dict[str, list[str]] = {}
    for key in reversed(keys):  # the first of the keys wins
        by_key |= {spelled(row[key].strip()): row for row in rows if row[key].strip()}
    changes, unplaced = [], []
    for grade in grades:
        one = grade.record
        row = by_key.get(one.student)
        if row is None:
            unplaced.append(one.student)
        elif grade.exported is not None:
            place, after = places[one.lesson], number(grade.exported)
            before = row[place].strip()
            if before.upper() != EXCUSED and _value(before) != _value(after):
                changes.append(Change(one.lesson, one.student, before, after))
                row[place] = after
    return tuple(changes), tuple(sorted(set(unplaced)))


def _value(text: str) -> float | None:
    """The number of a cell, also with a decimal comma; rounded as we write numbers."""
    try:
        return float(number(float(text.replace(",", "."))))
    except ValueError:
        return None


def _column(course: Course, lesson: str, head: list[str], template: Path) -> int:
    """Where the column of a lesson stands: named in course.toml, else by its own name."""
    if named := course.columns.get(lesson):
        if named not in head:
            raise ValueError(f"{template}: no column {named!r} for {lesson} (course.toml)")
        return head.index(named)

    def letters(text: str) -> str:
        return re.sub(r"[^a-z0-9]+", "", re.sub(r"\(\d+\)$", "", text.strip()).lower())

    found = [n for n, text in enumerate(head) if letters(lesson) in letters(text)]
    if len(found) != 1:
        raise ValueError(
            f"{template}: {len(found) or 'no'} columns look like {lesson}: name one in "
            f'course.toml, under [columns]: "{lesson}" = "its name"'
        )
    return found[0]


def _require_points(course: Course, lesson: str, said: str, template: Path) -> None:
    """Refuse where the LMS counts other points than we would write."""
    ours, theirs = course.points.get(lesson, course.lesson(lesson).of), _value(said)
    if theirs is not None and theirs != ours:
        raise ValueError(
            f"{template}: {lesson} counts {number(theirs)} points there and {number(ours)} here: "
            f'in course.toml, under [points]: "{lesson}" = {number(theirs)}'
        )


def _rows(path: Path) -> Rows:
    """The table of an LMS; `ValueError` with the line that has another number of cells."""
    reader = csv.reader(io.StringIO(reading.text_of(path), newline=""), strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: no CSV ({error})") from None
    for count, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path}: row {count} has {len(row)} cells, the head {len(rows[0])}")
    return rows


def _text(rows: Rows) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()
