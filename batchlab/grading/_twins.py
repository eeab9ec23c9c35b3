"""Answers that are the same but for names, comments and blanks: a line for a person, no deduction.

    records, what was handed in  ->  who shares which answers, and how much of them is their own

Short answers are alike by themselves, and what was released is everybody's. So an answer counts by
the parts of its syntax tree beyond the stub, and a group is named only for many of them.
"""

import ast
import builtins
import hashlib
from collections import defaultdict
from collections.abc import Iterable

from batchlab.grading import _cells, _ingest
from batchlab.grading import _lesson as lessons
from batchlab.grading import _record as record
from batchlab.grading._course import Course
from batchlab.grading._points import Grade

__all__ = ["twins"]

MANY = 120  # parts beyond the stubs that a group shares: some twelve lines
PYTHONS = {*dir(builtins)}


def twins(course: Course, grades: Iterable[Grade]) -> list[tuple[tuple[str, ...], str, str]]:
    """Groups of students that share answers: ids, lesson, what they share."""
    found = []
    by_lesson: dict[str, list[Grade]] = defaultdict(list)
    for one in grades:
        by_lesson[one.record.lesson].append(one)
    for name, some in by_lesson.items():
        if len(some) > 1:
            known = course.lesson(name)
            lesson = lessons.opened(known.teacher, known.released)
            for who, shared in _groups(course, lesson, some).items():
                said = ", ".join(one for one, _, _ in shared)
                own = any(own for _, _, own in shared)
                most = " (among them the course's own solution)" if own else ""
                found.append((who, name, f"the same answers but for names: {said}{most}"))
    return found


def _groups(
    course: Course, lesson: lessons.Lesson, grades: list[Grade]
) -> dict[tuple[str, ...], list[tuple[str, int, bool]]]:
    """By group of students: answers that they share, their size, whether it is the solution's."""
    solved = {name: marked(one.solution)[0] for name, one in lesson.answers.items()}
    given: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for grade in grades:
        for name, source in _answers(record.kept(course.graded, grade.record.submission), lesson):
            mark, size = marked(source)
            more = size - marked(lesson.answers[name].stub)[1]
            if mark and more > 0:
                given[name, mark][grade.record.student] = more
    groups: dict[tuple[str, ...], list[tuple[str, int, bool]]] = defaultdict(list)
    for (name, mark), sizes in given.items():
        if len(sizes) > 1:
            own = mark == solved[name]
            groups[tuple(sorted(sizes))].append((name, min(sizes.values()), own))
    return {who: some for who, some in groups.items() if sum(size for _, size, _ in some) >= MANY}


def _answers(notebook: bytes, lesson: lessons.Lesson) -> list[tuple[str, str]]:
    try:
        cells = _ingest.read(notebook, lesson).cells
    except _ingest.Refused:
        return []
    return [(name, source) for name, source in cells if name in lesson.answers and source]


def marked(source: str) -> tuple[str, int]:
    """What tells a cell from another whatever its own names are, and how many parts it has.

    >>> marked("def f(x): return x + 1") == marked("def g(y):\\n    return y + 1  # so")
    True
    """
    try:
        tree = _cells.parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", 0
    parts: list[str] = []
    todo: list[ast.AST] = [tree]
    names: dict[str, str] = {}
    while todo:
        node = todo.pop()
        parts.append(_part(node, names))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, False):
            node.body = node.body[1:]
        todo += reversed([*ast.iter_child_nodes(node)])
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest(), len(parts)


def _part(node: ast.AST, names: dict[str, str]) -> str:
    """The kind of a node and what it holds itself; a name is the number of its first use."""
    held = []
    for field, value in ast.iter_fields(node):
        if isinstance(value, str) and field in ("id", "name", "arg") and value not in PYTHONS:
            value = names.setdefault(value, str(len(names)))
        if not isinstance(value, ast.AST | list):
            said = hex if type(value) is int else repr  # in decimals a huge number is refused
            held.append(said(value)[:200])
        elif isinstance(value, list):
            held.append(str(len(value)))
    return f"{type(node).__name__} {' '.join(held)}"
