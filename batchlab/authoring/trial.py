"""Run the blank copy of a lesson as a grader does, cell by cell. (Its solution runs in the book.)

    solutions/02_padding, lessons/02_padding  ->  outcomes

Words
    outcome  what became of one cell or one answer: which check stopped it, and with what message
"""

import ast
import json
import linecache
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from batchlab.authoring.forks import LIMIT_SECONDS, copied, errors_written, quiet

__all__ = [
    "Cell",
    "Lesson",
    "Outcome",
    "cells",
    "execute",
    "in_a_copy",
    "judged",
    "namespace",
    "opened",
    "try_all",
]


@dataclass(frozen=True)
class Cell:
    """A code cell: its id, its source, and what nbgrader makes of it."""

    name: str
    source: str
    solution: bool
    points: float


@dataclass(frozen=True)
class Outcome:
    """What became of one cell, or of one answer to an exercise."""

    kind: str  # blank, torn, solution: cells of a lesson; wrong, right: answers to an exercise
    answer: str  # its id
    thought: str = ""
    words: str = ""  # what the message should say
    caught_by: str = ""  # id of the check cell; empty: nothing stopped it
    error: str = ""  # name of the exception
    message: str = ""
    stderr: str = ""
    seconds: float = 0.0
    seeds: int = 0  # how many seeds were tried; `seed` is the first that decided otherwise
    seed: int | None = None


def cells(notebook: Path) -> list[Cell]:
    """The code cells of a notebook, in order."""
    found = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            own = cell["metadata"].get("nbgrader", {})
            points = float(own.get("points", 0)) if own.get("grade") else 0.0
            source = "".join(cell["source"])
            found.append(Cell(cell.get("id", ""), source, bool(own.get("solution")), points))
    return found


@dataclass(frozen=True)
class Lesson:
    """Both notebooks of a lesson."""

    book: list[Cell]
    stubs: dict[str, str]  # source of the student's cells by id


def opened(root: Path, lesson: str) -> Lesson:
    """Read both notebooks of a lesson."""
    (teacher,) = (root / "solutions" / lesson).glob("*.ipynb")
    stubs = {c.name: c.source for c in cells(root / "lessons" / lesson / teacher.name)}
    return Lesson(cells(teacher), stubs)


def namespace() -> dict[str, Any]:
    """What a fresh kernel knows."""
    return {"__name__": "__main__", "display": lambda *things: None}


def _outcomes(root: Path, lesson: str) -> list[dict[str, Any]]:
    """The released notebook with the teacher's checks; each cell runs by itself, as in a grader.

    Every check is an outcome, and every other cell that fails: it is torn by a blank.
    """
    one, space = opened(root, lesson), namespace()
    found = []
    for cell in one.book:
        kind = "blank" if cell.points else "torn"
        source = cell.source if cell.points else one.stubs.get(cell.name, cell.source)
        done = judged(Outcome(kind, cell.name), replace(cell, source=source), space)
        if cell.points or done.error:
            found.append(asdict(done))
    return found


def judged(one: Outcome, cell: Cell, space: dict[str, Any]) -> Outcome:
    """Run a cell like nbgrader does; what it raises makes the outcome."""
    begun, told = time.perf_counter(), errors_written()
    first: dict[str, Any] = {}
    try:
        execute(cell, space)
    except BaseException as error:
        message = str(error) or traceback.format_exc(limit=-1)
        first = {"caught_by": cell.name, "error": type(error).__name__, "message": message}
    stderr, seconds = errors_written()[len(told) :], time.perf_counter() - begun
    return replace(one, **first, stderr=stderr, seconds=seconds)


def execute(cell: Cell, space: dict[str, Any]) -> None:
    """Run one cell; its last value is shown, and in a graded cell it would be read as points."""
    name = f"<{cell.name}>"
    lines = cell.source.splitlines(keepends=True)
    linecache.cache[name] = (len(cell.source), None, lines, name)  # as IPython keeps its cells
    tree = ast.parse(cell.source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), space)
        if value is not None and cell.points:
            raise TypeError(f"{cell.name} ends in a value, which nbgrader reads as points")
        if hasattr(value, "_repr_mimebundle_"):
            value._repr_mimebundle_(include=None, exclude=None)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def try_all(root: Path, lesson: str) -> list[Outcome]:
    """The outcomes of a blank lesson, found in a copy of this process; nothing is printed."""
    return in_a_copy(partial(_outcomes, root, lesson), limit=4 * LIMIT_SECONDS)


def in_a_copy(work: Callable[[], list[dict[str, Any]]], limit: int) -> list[Outcome]:
    """Outcomes of a whole lesson, run as a grader runs it; nothing is printed.

    Its environment is that of the copy alone: whoever asks goes on with the threads that it had.
    """
    with quiet():
        return [Outcome(**one) for one in copied(partial(_in_a_grader, work), limit)]


def _in_a_grader(work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    os.environ.setdefault("MPLBACKEND", "Agg")
    for library in ("OMP", "MKL", "OPENBLAS"):  # a copied process has none of the other threads
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["BATCHLAB_GRADING"] = "1"  # heavy cells and GPU boxes step aside
    return work()
