"""What is taught and how it is graded: the lessons of a course folder and its course.toml.

solutions/, lessons/, course.toml (or none)  ->  Course

seed_file = "../seed.txt"        # the term's secret, one long phrase; relative to this file
isolation = "L2"                 # the least that a class is graded at: L3, L2 or L0
graded = "graded"                # records, feedback and tables go there
roster = "roster.csv"            # who is in the class: a column `student`
lessons = ["01_batch", "02_padding"]
[points]                         # what a lesson counts for in exports; else its own points
"02_padding" = 20
[columns]                        # how the LMS calls a lesson, where its name is another
"02_padding" = "Homework 2 (1234)"
"""

import csv
import hashlib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchlab import reading

__all__ = ["ISOLATIONS", "Course", "Lesson", "fingerprint", "opened", "seed"]

ISOLATIONS = ("L3", "L2", "L0")  # best first
KNOWN = {"seed_file": str, "isolation": str, "graded": str, "roster": str, "lessons": list,
         "points": dict, "columns": dict}  # fmt: skip
SHORTEST_SEED = 12
PUBLIC = "public"


@dataclass(frozen=True)
class Lesson:
    """One lesson as its teacher's notebook says it: the questions with their points."""

    name: str
    teacher: Path
    released: Path
    questions: tuple[tuple[str, float], ...]
    ids: frozenset[str]  # every grade_id, those of answers included

    @property
    def topic(self) -> str:
        return self.teacher.stem

    @property
    def of(self) -> float:
        return sum(points for _, points in self.questions)


@dataclass(frozen=True)
class Course:
    """A course folder with its settings; every path is whole."""

    root: Path
    lessons: tuple[Lesson, ...]
    graded: Path
    isolation: str = "L2"
    seed_file: Path | None = None
    roster: frozenset[str] = frozenset()
    points: dict[str, float] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    def lesson(self, name: str) -> Lesson:
        """The lesson of this name; `ValueError` with those that there are."""
        for one in self.lessons:
            if one.name == name:
                return one
        there = ", ".join(one.name for one in self.lessons)
        raise ValueError(f"no lesson {name!r} in {self.root}; there are {there}")


def seed(course: Course, *, public: bool = False) -> str | None:
    """The text of the seed's file; None where the public seed was asked for.

    `ValueError` without a file and without the wish, and where the text is no secret.
    """
    if public:
        return None
    path = course.seed_file
    if path is None:
        raise ValueError(
            "a class is graded with a seed of its own: write a long phrase into a file and "
            'seed_file = "its name" into course.toml; --public-seed does without'
        )
    text = reading.text_of(path).strip()
    if len(text) < SHORTEST_SEED:
        raise ValueError(
            f"{path}: a seed has at least {SHORTEST_SEED} letters, this one has {len(text)}: "
            "write a long phrase that only you know"
        )
    return text


def fingerprint(seed: str | None) -> str:
    """Twelve letters that stand for a seed in records; `public` for the public one.

    >>> fingerprint(None), fingerprint("a long phrase")
    ('public', '15bfe27a94c1')
    """
    if seed is None:
        return PUBLIC
    return hashlib.sha256(f"batchlab seed\n{seed}".encode()).hexdigest()[:12]


def opened(root: Path) -> Course:
    """The course in a folder; `ValueError` in one line where course.toml or a lesson is wrong."""
    root = root.resolve()
    path = root / "course.toml"
    said = _said(path) if path.is_file() else {}
    lessons = tuple(_lesson(one) for one in sorted(root.glob("solutions/*/*.ipynb")))
    if not lessons:
        raise ValueError(
            f"{root}: none of solutions/NN_topic/topic.ipynb (make lessons writes them)"
        )
    isolation = said.get("isolation", "L2")
    if isolation not in ISOLATIONS:
        raise ValueError(f"{path}: isolation is one of {', '.join(ISOLATIONS)}, not {isolation!r}")
    course = Course(
        root=root,
        lessons=lessons,
        graded=root / said.get("graded", "graded"),
        isolation=isolation,
        seed_file=root / said["seed_file"] if said.get("seed_file") else None,
        roster=_roster(root / said["roster"]) if said.get("roster") else frozenset(),
        points=_points(path, said.get("points", {})),
        columns={name: str(column) for name, column in said.get("columns", {}).items()},
    )
    for name in {**course.points, **course.columns}:
        course.lesson(name)
    if chosen := said.get("lessons"):
        kept = tuple(course.lesson(name) for name in chosen)
        return Course(**{**vars(course), "lessons": kept})
    return course


def _said(path: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(reading.text_of(path))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    for name, value in said.items():
        kind = KNOWN.get(name)
        if kind is None:
            raise ValueError(f"{path}: no setting {name!r}; there are {', '.join(KNOWN)}")
        if not isinstance(value, kind):
            raise ValueError(f"{path}: {name} is a {kind.__name__}, not {reading.shown(value)}")
    if not all(isinstance(name, str) for name in said.get("lessons", [])):
        raise ValueError(f"{path}: lessons is a list of names")
    return said


def _points(path: Path, points: dict[str, Any]) -> dict[str, float]:
    for name, value in points.items():
        if type(value) not in (int, float) or not 0 < value <= 1e6:
            raise ValueError(f"{path}: points of {name} are a number above 0, not {value!r}")
    return {name: float(value) for name, value in points.items()}


def _roster(path: Path) -> frozenset[str]:
    rows = list(csv.DictReader(reading.text_of(path).splitlines()))
    if not rows or "student" not in rows[0]:
        raise ValueError(f"{path}: a roster has a column `student` and a line for each")
    return frozenset(row["student"].strip() for row in rows if (row["student"] or "").strip())


def _lesson(teacher: Path) -> Lesson:
    """The questions of a teacher's notebook; `ValueError` where its ids or points are wrong."""
    _, book = reading.json_of(teacher)
    try:
        found = [cell["metadata"].get("nbgrader", {}) for cell in book["cells"]]
        asked = [(one["grade_id"], float(one["points"])) for one in found if one.get("grade")]
        ids = [one["grade_id"] for one in found if "grade_id" in one]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{teacher}: no notebook of a lesson ({error!r})") from None
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise ValueError(f"{teacher}: the id {twice[0]} stands twice")
    name = teacher.parent.name
    released = teacher.parents[2] / "lessons" / name / teacher.name
    return Lesson(name, teacher, released, tuple(asked), frozenset(ids))
