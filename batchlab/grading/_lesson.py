"""A lesson as the grader needs it: public cells, answers, checks, and what hangs on what.

    the teacher's notebook, its released copy  ->  cells in order, questions with their points

Words
    answer     a cell that the student fills in
    question   a check cell; it asks for the answers whose names it reads
    hidden     lines of a check cell that the student never sees
"""

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchlab.grading import _cells

__all__ = ["Answer", "Lesson", "Question", "opened", "visible"]

BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"


@dataclass(frozen=True)
class Answer:
    """A cell that the student fills in."""

    name: str  # its grade_id
    stub: str  # what was released
    solution: str
    names: frozenset[str]  # what the teacher's version defines


@dataclass(frozen=True)
class Question:
    """A check cell."""

    name: str
    source: str
    points: float
    answers: tuple[str, ...]  # ids of the answers that it reads
    names: tuple[str, ...]  # all names that answers define, for the stand-ins

    @property
    def hidden(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each hidden part."""
        found: list[tuple[int, int]] = []
        begun = 0
        for number, line in enumerate(self.source.splitlines(), 1):
            begun = number if BEGIN in line else begun
            if END in line:
                found.append((begun, number))
        return tuple(found)


@dataclass(frozen=True)
class Lesson:
    """A lesson's cells, by kind and in order."""

    cells: tuple[dict[str, str], ...]  # name, kind (public, answer, check), source as released
    answers: dict[str, Answer]
    questions: tuple[Question, ...]
    released: str  # fingerprint of the checks and the public cells

    @functools.cached_property
    def public(self) -> dict[str, str]:
        """Names of the public cells, by their text and by what Python reads of it."""
        return _known((c["source"], c["name"]) for c in self.cells if c["kind"] == "public")

    @functools.cached_property
    def checks(self) -> dict[str, str]:
        """Names of the check cells, by their text and by what Python reads of it, both editions."""
        both = [(text, q.name) for q in self.questions for text in (q.source, visible(q.source))]
        return _known(both)

    @functools.cached_property
    def opens(self) -> set[str]:
        """Lines of the lesson's own cells and solutions that name files of the exercises."""
        own = [one["source"] for one in self.cells] + [a.solution for a in self.answers.values()]
        return set().union(*map(_cells.opens_exercises, own))


def opened(teacher: Path, released: Path | None = None) -> Lesson:
    """Read a lesson; ValueError where one of its two notebooks is missing or they disagree."""
    if released is None:
        home = teacher.parent
        released = home.parent.parent / "lessons" / home.name / teacher.name
    for path in (teacher, released):
        if not path.is_file():
            raise ValueError(f"{path} is missing: a lesson is graded by its solution and its copy")
    full, blank = _code(teacher), {name: source for name, source, _ in _code(released)}
    if lacking := [name for name, _, _ in full if name not in blank]:
        raise ValueError(f"{released} lacks the cell {lacking[0]!r} of {teacher}: release it again")
    cells, answers, checks = [], {}, []
    for name, source, own in full:
        kind = "check" if own.get("grade") else "answer" if own.get("solution") else "public"
        cells.append({"name": name, "kind": kind, "source": "" if kind == "check" else blank[name]})
        if kind == "answer":
            names = frozenset(_cells.binds(source))
            answers[name] = Answer(name, blank[name], source, names)
        elif kind == "check":
            checks.append((name, source, float(own.get("points") or 0)))
    every = tuple(sorted(frozenset().union(*(one.names for one in answers.values()))))
    reader: dict[str, set[str]] = {}
    questions = []
    for name, source, points in checks:
        used = _cells.reads(source) - _cells.binds(source) | _cells.functions(source)
        read = used.union(*(reader[one] for one in used if one in reader)) & set(every)
        reader.update(dict.fromkeys(_cells.functions(source), read))
        mine = tuple(one.name for one in answers.values() if one.names & read)
        questions.append(Question(name, source, points, mine, every))
    text = json.dumps([cells, [(one.name, one.source, one.points) for one in questions]])
    mark = hashlib.sha256(text.encode()).hexdigest()
    return Lesson(tuple(cells), answers, tuple(questions), mark)


def visible(source: str) -> str:
    """A check cell as the student sees it."""
    kept, hidden = [], False
    for line in source.splitlines():
        hidden = hidden or BEGIN in line
        if not hidden:
            kept.append(line)
        hidden = hidden and END not in line
    return "\n".join(kept)


def _known(cells: Iterable[tuple[str, str]]) -> dict[str, str]:
    found = {}
    for source, name in cells:
        found[source.strip()] = found[_cells.fingerprint(source)] = name
    return found


def _code(path: Path) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, source and nbgrader's word on each code cell."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            own = cell["metadata"].get("nbgrader") or {}
            name = own.get("grade_id") or cell.get("id") or f"cell-{len(found)}"
            found.append((str(name), "".join(cell["source"]), own))
    return found
