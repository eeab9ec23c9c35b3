"""Grades in nbgrader's gradebook, so that formgrader opens them and points by hand survive.

    grades  ->  gradebook.db, autograded/STUDENT/LESSON/topic.ipynb, feedback/STUDENT/LESSON/

Only automatic scores are written: what a person gave in formgrader stands in a column of its own
and wins there. The notebook that formgrader shows is the released one with the student's answers
and our verdicts in it: no output and no markup of the student's.
"""

import contextlib
import json
import os
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from batchlab import reading
from batchlab.grading import _feedback as feedback
from batchlab.grading import _names as names
from batchlab.grading._course import Course, Lesson
from batchlab.grading._items import Unreadable, plain_bytes
from batchlab.grading._points import Grade, number
from batchlab.grading._record import kept, whole
from batchlab.grading._tables import Change, Table

__all__ = ["gradebook", "home"]

BESIDE = ("timestamp.txt", "submission_secret.txt")  # `release_feedback` finds the student by them
SHARED = 0o644  # `release_feedback` hands files on as they are, and students read them
WAIT_SECONDS = 90.0  # formgrader holds the gradebook for less than one


def gradebook(course: Course, grades: list[Grade], write: Path | None) -> Table:
    """What differs from a gradebook; written into it, and its notebooks beside it, if `write`."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # a grammar: seconds
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    path = (write or course.root / "gradebook.db").resolve()
    if not write and not path.is_file():
        changes = [Change(g.record.lesson, g.record.student, "", number(g.record.score))
                   for g in grades if g.record.score is not None]  # fmt: skip
        return Table("", tuple(changes), ())
    _require_free(path)
    changes = []
    try:
        with warnings.catch_warnings(), _alembic(), Gradebook(f"sqlite:///{path}") as book:
            warnings.simplefilter("ignore")  # nbgrader's own, of SQLAlchemy
            if write:
                for name in sorted({one.record.lesson for one in grades}):
                    _lesson(book, course.lesson(name))
            for grade in grades:
                if grade.record.score is not None:
                    lesson = course.lesson(grade.record.lesson)
                    changes += _entered(book, lesson, grade, bool(write))
    except SQLAlchemyError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())[:200]}") from None
    if write:
        for grade in grades:
            _shown(course, grade, path.parent)
    return Table("", tuple(changes), ())


@contextlib.contextmanager
def _alembic() -> Iterator[None]:
    """nbgrader calls `alembic` by name: find it beside this Python, also where none is active."""
    before = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _require_free(path: Path) -> None:
    """Wait for whoever writes into the gradebook; refuse what is no gradebook at all."""
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as book:
            book.execute("BEGIN IMMEDIATE")
            book.execute("SELECT count(*) FROM sqlite_master").fetchone()
            book.rollback()
    except sqlite3.Error as error:
        raise ValueError(f"{path}: {error}; nothing was written") from None


def home(student: str) -> str:
    """The id of a student in the gradebook, which is a folder's name as well."""
    plain = student.isprintable() and len(student.encode()) < 200
    return student if plain and not set('/\\:*?"<>|') & set(student) and student[:1] != "." \
        else names.folder(student)  # fmt: skip


def _lesson(book: Any, lesson: Lesson) -> None:
    """Enter a lesson as `nbgrader generate_assignment` does."""
    book.update_or_create_assignment(lesson.name)
    book.update_or_create_notebook(lesson.topic, lesson.name)
    there = (lesson.topic, lesson.name)
    for question, of in lesson.questions:
        book.update_or_create_grade_cell(question, *there, max_score=of, cell_type="code")
    for name in sorted(lesson.ids - {question for question, _ in lesson.questions}):
        book.update_or_create_solution_cell(name, *there)


def _entered(book: Any, lesson: Lesson, grade: Grade, write: bool) -> list[Change]:
    """Enter one grade, or only say how its automatic points differ."""
    from nbgrader.api import MissingEntry

    one, who = grade.record, home(grade.record.student)
    if write:
        book.update_or_create_student(who, last_name=names.cell(one.name) if one.name else None)
        when = datetime.fromisoformat(one.received).replace(tzinfo=None) if one.received else None
        book.update_or_create_submission(lesson.name, who, timestamp=when)
    before = after = 0.0
    new = False
    for asked in one.questions:
        try:
            found = book.find_grade(asked.question, lesson.topic, lesson.name, who)
        except MissingEntry:
            new = True
            after += asked.points
            continue
        new = new or found.auto_score is None
        before, after = before + (found.auto_score or 0.0), after + asked.points
        if write:
            found.auto_score, found.needs_manual_grade = asked.points, False
            given = grade.given.get(asked.question)
            if given and found.manual_score is None:
                found.manual_score = given[0]
    if write:
        book.db.commit()
    if not new and before == after:
        return []
    return [Change(lesson.name, one.student, "" if new else number(before), number(after))]


def _shown(course: Course, grade: Grade, root: Path) -> None:
    """The notebook that formgrader opens, and the page that `release_feedback` takes."""
    one, lesson = grade.record, course.lesson(grade.record.lesson)
    below = Path(home(one.student)) / lesson.name
    _, book = reading.json_of(lesson.released)
    said = {asked.question: asked for asked in one.questions}
    answers = _answers(kept(course.graded, one.submission), lesson)
    for cell in book["cells"]:
        own = cell["metadata"].get("nbgrader", {})
        if own.get("solution") and own.get("grade_id") in answers:
            cell["source"] = answers[own["grade_id"]]
        if asked := said.get(own.get("grade_id", "")):
            text = f"{asked.verdict}: {number(asked.points)} of {number(asked.of)}\n{asked.message}"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    content = json.dumps(book, indent=1, ensure_ascii=True).encode()
    whole(root / "autograded" / below / f"{lesson.topic}.ipynb", content, SHARED)
    page = feedback.page(grade).encode("utf-8", "replace")
    whole(root / "feedback" / below / f"{lesson.topic}.html", page, SHARED)
    for name in BESIDE:
        collected = course.root / "submitted" / one.student / lesson.name / name
        with contextlib.suppress(Unreadable, ValueError):
            content = plain_bytes(collected)
            for top in ("autograded", "feedback"):
                whole(root / top / below / name, content)


def _answers(notebook: bytes, lesson: Lesson) -> dict[str, str]:
    """The sources of a student's answers by grade_id; none where they cannot be read."""
    try:
        cells = list(json.loads(notebook.decode("utf-8-sig"))["cells"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    found = {}
    for cell in cells:
        try:
            name, source = cell["metadata"]["nbgrader"]["grade_id"], cell["source"]
            if name in lesson.ids:
                found[name] = source if isinstance(source, str) else "".join(source)
        except (KeyError, TypeError, AttributeError):
            continue
    return found
